"""re.Match: the fields are the pattern, the text, a list of byte offsets, and where in the list
those of this match begin."""


def __bool__(self):
    return True


def _group(self, key):
    """Where in the list the offsets of a group stand, as twice its number."""
    pattern = _field(self, 0)
    if isinstance(key, str):
        number = _operation("pattern.group_index", pattern, key)
    elif isinstance(key, int):
        number = key
    else:
        number = -1
    if not 0 <= number <= _operation("pattern.groups", pattern):
        raise IndexError("no such group")
    return number


def _one(self, key, default):
    number = _group(self, key)
    at = _field(self, 3) + 2 * number
    if _operation("pattern.always", _field(self, 0), number) or _operation("match.took_part", _field(self, 2), at):
        return _operation("match.text", _field(self, 1), _field(self, 2), at)
    return default


def group(self, /, *keys):
    if len(keys) == 0:
        return _one(self, 0, None)
    if len(keys) == 1:
        return _one(self, keys[0], None)
    return tuple(_one(self, key, None) for key in keys)


def __getitem__(self, key, /):
    return _one(self, key, None)


def groups(self, default=None):
    return tuple(_one(self, number + 1, default) for number in range(_operation("pattern.groups", _field(self, 0))))


def groupdict(self, default=None):
    return _dict_of_pairs(tuple((name, _one(self, name, default)) for name in _group_names(_field(self, 0))))


def __eq__(self, other):
    if other is None:
        return False
    return _leave("a match compared with something else")


def __ne__(self, other):
    return not __eq__(self, other)


def _characters(self, group, which):
    offsets = _operation("match.offsets", _field(self, 1), _field(self, 2))
    return offsets[_field(self, 3) + 2 * _group(self, group) + which]


def start(self, group=0, /):
    return _characters(self, group, 0)


def end(self, group=0, /):
    return _characters(self, group, 1)


def span(self, group=0, /):
    return (start(self, group), end(self, group))


def _get_string(self):
    return _field(self, 1)


def _get_re(self):
    return _field(self, 0)


def _get_lastindex(self):
    number = _operation("match.last_index", _field(self, 0), _field(self, 2), _field(self, 3))
    return None if number == 0 else number


def _get_lastgroup(self):
    number = _operation("match.last_index", _field(self, 0), _field(self, 2), _field(self, 3))
    name = _operation("pattern.group_name", _field(self, 0), number)
    return None if name == "" else name


def _has_positions(self):
    # Offsets are in pairs.
    return len(_field(self, 2)) % 2 == 1


def _get_pos(self):
    return _leave("where a search began") if _has_positions(self) else 0


def _get_endpos(self):
    return _leave("where a search ended") if _has_positions(self) else len(_field(self, 1))


def expand(self, template):
    if not isinstance(template, str):
        return _leave("a template that is no text")
    parts = []
    start = 0
    at = template.find("\\")
    while at >= 0:
        parts.append(template[start:at])
        char = template[at + 1 : at + 2]
        start = at + 2
        if char == "g" and template[at + 2 : at + 3] == "<":
            end = template.find(">", at)
            name = template[at + 3 : end] if end >= 0 else ""
            if name.isidentifier() and name.isascii():
                found = _one(self, name, "") if _operation("pattern.group_index", _field(self, 0), name) >= 0 else None
            elif name.isascii() and name.isdigit() and len(name) < 3:
                found = _one(self, int(name), "") if int(name) <= _operation("pattern.groups", _field(self, 0)) else None
            else:
                found = None
            if found is None:
                return _leave("a template that CPython must read")
            parts.append(found)
            start = end + 1
        elif char != "" and char in "123456789":
            second = template[at + 2 : at + 3]
            number = int(char)
            if second != "" and second in "0123456789":
                if template[at + 3 : at + 4] in ("0", "1", "2", "3", "4", "5", "6", "7"):
                    return _leave("a template that CPython must read")
                number = number * 10 + int(second)
                start = at + 3
            if number > _operation("pattern.groups", _field(self, 0)):
                return _leave("a template that CPython must read")
            parts.append(_one(self, number, ""))
        elif char == "\\":
            parts.append("\\")
        elif char == "n":
            parts.append("\n")
        elif char == "t":
            parts.append("\t")
        else:
            return _leave("a template that CPython must read")
        at = template.find("\\", start)
    parts.append(template[start:])
    return "".join(parts)
