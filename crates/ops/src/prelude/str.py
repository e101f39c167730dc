"""Methods of str that no operation covers."""


def partition(self, sep, /):
    if not isinstance(sep, str):
        raise TypeError(f"must be str, not {_type_name(sep)}")
    if not sep:
        raise ValueError("empty separator")
    at = self.find(sep)
    if at < 0:
        return (self, "", "")
    return (self[:at], sep, self[at + len(sep):])


def rpartition(self, sep, /):
    if not isinstance(sep, str):
        raise TypeError(f"must be str, not {_type_name(sep)}")
    if not sep:
        raise ValueError("empty separator")
    at = self.rfind(sep)
    if at < 0:
        return ("", "", self)
    return (self[:at], sep, self[at + len(sep):])


def _as_bounds(start, end):
    for bound in (start, end):
        if bound is not None and not isinstance(bound, int):
            raise TypeError("slice indices must be integers or None or have an __index__ method")


def startswith(self, prefix, start=0, end=None, /):
    _as_bounds(start, end)
    if not isinstance(prefix, tuple):
        raise TypeError(f"startswith first arg must be str or a tuple of str, not {_type_name(prefix)}")
    for one in prefix:
        if not isinstance(one, str):
            raise TypeError(f"tuple for startswith must only contain str, not {_type_name(one)}")
        if self.startswith(one, start, end):
            return True
    return False


def endswith(self, suffix, start=0, end=None, /):
    _as_bounds(start, end)
    if not isinstance(suffix, tuple):
        raise TypeError(f"endswith first arg must be str or a tuple of str, not {_type_name(suffix)}")
    for one in suffix:
        if not isinstance(one, str):
            raise TypeError(f"tuple for endswith must only contain str, not {_type_name(one)}")
        if self.endswith(one, start, end):
            return True
    return False


def encode(self, encoding="utf-8", errors="strict"):
    name = _encoding(encoding)
    mode = _errors(errors)
    if name == "utf-8":
        return _record("bytes", _operation("bytes.of_text", self))
    return _record("bytes", _operation("bytes.of_text_below", self, 128 if name == "ascii" else 256, mode))


def join(self, items, /):
    if items is None or isinstance(items, (int, float)):
        raise TypeError("can only join an iterable")
    texts = []
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"sequence item {len(texts)}: expected str instance, {_type_name(item)} found")
        texts.append(_text_of(item))
    return _operation("str.join", self, texts)


def translate(self, table, /):
    if not isinstance(table, dict):
        return _leave("translate by something else than a dict")
    known = _translation(table)
    if known is not None:
        return _operation("str.translate", self, known[0], known[1])
    parts = []
    for c in self:
        if ord(c) in table:
            to = table[ord(c)]
            if isinstance(to, str):
                parts.append(to)
            elif isinstance(to, int):
                if not 0 <= to < 1114112:
                    raise ValueError("character mapping must be in range(0x110000)")
                parts.append(chr(to))
            elif to is not None:
                raise TypeError("character mapping must return integer, None or str")
        else:
            parts.append(c)
    return "".join(parts)


def maketrans(self, x, y=_missing, z=_missing, /):
    return str.maketrans(x) if _is_missing(y) else str.maketrans(x, y) if _is_missing(z) else str.maketrans(x, y, z)
