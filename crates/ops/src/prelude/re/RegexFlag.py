"""re.RegexFlag: its bits. The number of a combination has no other use here than as flags."""


def _bits(flags):
    if _type_name(flags) == "RegexFlag":
        return _field(flags, 0)
    return flags


def __or__(self, other):
    return _record("RegexFlag", _bits(self) | _bits(other))
