"""re.Pattern: what is found becomes a Match of (pattern, text, offsets, index of the first)."""


def _text(string):
    if not isinstance(string, str):
        if isinstance(string, bytes):
            raise TypeError("cannot use a string pattern on a bytes-like object")
        raise TypeError(f"expected string or bytes-like object, got '{_type_name(string)}'")
    return string


def _position(value, default):
    """An argument for a position, which C holds."""
    if _is_missing(value):
        return default
    if not isinstance(value, int):
        return _leave("a position that is no int")
    if not -9223372036854775808 <= value <= 9223372036854775807:
        return _leave("a position that C cannot hold")
    return max(int(value), 0)


def _first(self, string, how, pos, endpos):
    if _is_missing(pos) and _is_missing(endpos):
        offsets = _operation("re.find", self, _text(string), how)
    else:
        pos, endpos = _position(pos, 0), _position(endpos, 9223372036854775807)
        offsets = _operation("re.find_within", self, _text(string), how, pos, endpos)
    if _operation("match.found", offsets):
        return _record("Match", self, string, offsets, 0)
    return None


def search(self, string, pos=_missing, endpos=_missing):
    return _first(self, string, 0, pos, endpos)


def match(self, string, pos=_missing, endpos=_missing):
    return _first(self, string, 1, pos, endpos)


def fullmatch(self, string, pos=_missing, endpos=_missing):
    return _first(self, string, 2, pos, endpos)


def finditer(self, string, pos=_missing, endpos=_missing):
    size = 2 * (_operation("pattern.groups", self) + 1)
    if _is_missing(pos) and _is_missing(endpos):
        offsets = _operation("re.find_all", self, _text(string))
        return (_record("Match", self, string, offsets, at) for at in range(0, len(offsets), size))
    pos, endpos = _position(pos, 0), _position(endpos, 9223372036854775807)
    offsets = _operation("re.find_all_within", self, _text(string), pos, endpos)
    return (_record("Match", self, string, offsets, at) for at in range(0, len(offsets) - 1, size))


def findall(self, string, pos=_missing, endpos=_missing):
    groups = _operation("pattern.groups", self)
    if groups > 1:
        return [found.groups("") for found in finditer(self, string, pos, endpos)]
    if _is_missing(pos) and _is_missing(endpos):
        return _operation("re.texts", self, _text(string))
    # Of the only group, or of the whole match.
    return [_one(found, groups) for found in finditer(self, string, pos, endpos)]


def _one(found, group):
    text = found.group(group)
    return "" if text is None else text


def split(self, string, maxsplit=0):
    if _operation("pattern.groups", self) > 0:
        return _cut(self, string, maxsplit, lambda found: found.groups())[0]
    return _operation("re.split", self, _text(string), maxsplit)


def _cut(self, string, count, between):
    """The parts between the matches, what stands in the place of each, and how many there are."""
    parts = []
    at = 0
    n = 0
    for found in finditer(self, string):
        if count and n >= count:
            break
        parts.append(_operation("re.between", string, at, _offset(found, 0)))
        parts.extend(between(found))
        at = _offset(found, 1)
        n += 1
    parts.append(_operation("re.between", string, at, -1))
    return parts, n


def _replace(self, repl, string, count):
    return _cut(self, string, count, lambda found: (repl(found),))


def _offset(found, which):
    return _field(found, 2)[_field(found, 3) + which]


def _check(self, repl, count):
    """What CPython looks at before the text."""
    if not isinstance(count, int):
        return _leave("a count that is no int")
    if not -9223372036854775808 <= count <= 9223372036854775807:
        return _leave("a count that C cannot hold")
    if isinstance(repl, str):
        if not _operation("pattern.is_template", self, repl):
            return _leave("a template that CPython must read")
    elif not _is_function(repl):
        return _leave("a replacement that is neither a text nor a function")


def sub(self, repl, string, count=0):
    _check(self, repl, count)
    _text(string)
    if isinstance(repl, str):
        return _operation("re.sub", self, repl, string, count)
    return "".join(_replace(self, repl, string, count)[0])


def subn(self, repl, string, count=0):
    _check(self, repl, count)
    _text(string)
    if isinstance(repl, str):
        if "\\" in repl:
            offsets = _operation("re.find_all", self, string)
            n = len(offsets) // (2 * _operation("pattern.groups", self) + 2)
            return _operation("re.sub", self, repl, string, count), n if count == 0 else max(min(n, count), 0)
        parts, n = _replace(self, lambda found: repl, string, count)
    else:
        parts, n = _replace(self, repl, string, count)
    return "".join(parts), n


def _get_pattern(self):
    return _operation("pattern.source", self)


def _get_groups(self):
    return _operation("pattern.groups", self)


def _get_flags(self):
    return _operation("pattern.flags", self)
