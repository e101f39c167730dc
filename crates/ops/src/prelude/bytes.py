"""bytes: the field is a text of the characters U+0000 to U+00FF, one for each byte.

So most methods are those of that text. CPython says what is wrong with other operands.
"""


def _of_sql(text):
    return _record("bytes", text)


def _to_sql(self):
    return _text(self)


def _text(self):
    return _field(self, 0)


def _bytes(text):
    return _record("bytes", text)


def _of(value):
    if isinstance(value, bytes):
        return _text(value)
    return _leave("bytes and something else")


def _char(byte):
    if not 0 <= byte <= 255:
        raise ValueError("byte must be in range(0, 256)")
    return chr(byte)


def _needle(value):
    if isinstance(value, int):
        return _char(value)
    return _of(value)


def __bool__(self):
    return _text(self) != ""


def __len__(self):
    return len(_text(self))


def __str__(self, encoding=_missing, errors=_missing):
    if _is_missing(encoding) and _is_missing(errors):
        return __repr__(self)
    return decode(
        self, "utf-8" if _is_missing(encoding) else encoding, "strict" if _is_missing(errors) else errors
    )


def __repr__(self):
    return _operation("bytes.repr", _text(self))


def __format__(self, spec):
    if spec == "":
        return __repr__(self)
    if not isinstance(spec, str):
        return _leave("a format that is no text")
    raise TypeError("unsupported format string passed to bytes.__format__")


def __eq__(self, other):
    return isinstance(other, bytes) and _text(self) == _text(other)


def __ne__(self, other):
    return not __eq__(self, other)


def __lt__(self, other):
    return _text(self) < _of(other)


def __le__(self, other):
    return _text(self) <= _of(other)


def __gt__(self, other):
    return _text(self) > _of(other)


def __ge__(self, other):
    return _text(self) >= _of(other)


def __add__(self, other):
    return _bytes(_text(self) + _of(other))


def __mul__(self, times):
    if not isinstance(times, int):
        return _leave("bytes times something else")
    return _bytes(_text(self) * times)


def __contains__(item, self):
    return _needle(item) in _text(self)


def __getitem__(self, index):
    if not isinstance(index, int):
        return _leave("an index of bytes that is no int")
    if not -(2**63) <= index < 2**63:
        raise IndexError("cannot fit 'int' into an index-sized integer")
    text = _text(self)
    if index < 0:
        index = index + len(text)
    if not 0 <= index < len(text):
        raise IndexError("index out of range")
    return ord(text[index])


def __getpart__(self, start, stop):
    return _bytes(_text(self)[start:stop])


def __getslice__(self, start, stop, step):
    return _bytes(_text(self)[start:stop:step])


def __iter__(self):
    return map(ord, _text(self))


def decode(self, encoding="utf-8", errors="strict"):
    text = _text(self)
    name = _encoding(encoding)
    mode = _errors(errors)
    if name == "utf-8":
        return _operation("bytes.decode", text, mode)
    if name == "latin-1":
        return text
    if _operation("bytes.is_ascii", text):
        return text
    return _leave("bytes that are not ASCII")


def hex(self, sep=_missing, bytes_per_sep=1):
    digits = _operation("bytes.hex", _text(self))
    if _is_missing(sep):
        return digits
    if not isinstance(sep, str) or not isinstance(bytes_per_sep, int) or len(sep) != 1 or not sep.isascii():
        return _leave("bytes in hexadecimal digits with such a separator")
    if abs(bytes_per_sep) >= 2147483648:
        return _leave("a number that C's int cannot hold")
    size = 2 * abs(bytes_per_sep)
    if size == 0 or len(digits) <= size:
        return digits
    # Groups are counted from the end, or from the start where the number is negative.
    first = size if bytes_per_sep < 0 else (len(digits) - 1) % size + 1
    return sep.join([digits[:first]] + [digits[at : at + size] for at in range(first, len(digits), size)])


def startswith(self, prefix, start=None, end=None, /):
    if isinstance(prefix, tuple):
        for one in prefix:
            if startswith(self, one, start, end):
                return True
        return False
    return _text(self).startswith(_of(prefix), start, end)


def endswith(self, suffix, start=None, end=None, /):
    if isinstance(suffix, tuple):
        for one in suffix:
            if endswith(self, one, start, end):
                return True
        return False
    return _text(self).endswith(_of(suffix), start, end)


def find(self, sub, start=None, end=None, /):
    return _text(self).find(_needle(sub), start, end)


def rfind(self, sub, start=None, end=None, /):
    return _text(self).rfind(_needle(sub), start, end)


def index(self, sub, start=None, end=None, /):
    at = find(self, sub, start, end)
    if at < 0:
        raise ValueError("subsection not found")
    return at


def rindex(self, sub, start=None, end=None, /):
    at = rfind(self, sub, start, end)
    if at < 0:
        raise ValueError("subsection not found")
    return at


def count(self, sub, start=None, end=None, /):
    return _text(self).count(_needle(sub), start, end)


def replace(self, old, new, count=-1, /):
    return _bytes(_text(self).replace(_of(old), _of(new), count))


def split(self, sep=None, maxsplit=-1):
    if sep is None:
        return _leave("bytes split at whitespace")
    if _of(sep) == "":
        raise ValueError("empty separator")
    return [_bytes(part) for part in _text(self).split(_of(sep), maxsplit)]


def _stripped(chars):
    return " \t\n\r\x0b\x0c" if chars is None else _of(chars)


def strip(self, bytes=None, /):
    return _bytes(_text(self).strip(_stripped(bytes)))


def lstrip(self, bytes=None, /):
    return _bytes(_text(self).lstrip(_stripped(bytes)))


def rstrip(self, bytes=None, /):
    return _bytes(_text(self).rstrip(_stripped(bytes)))


def removeprefix(self, prefix, /):
    return _bytes(_text(self).removeprefix(_of(prefix)))


def removesuffix(self, suffix, /):
    return _bytes(_text(self).removesuffix(_of(suffix)))


def join(self, iterable_of_bytes, /):
    if isinstance(iterable_of_bytes, (int, float)) or iterable_of_bytes is None:
        raise TypeError("can only join an iterable")
    return _bytes(_text(self).join([_of(part) for part in iterable_of_bytes]))


def partition(self, sep, /):
    before, between, after = _text(self).partition(_of(sep))
    return (_bytes(before), _bytes(between), _bytes(after))


def rpartition(self, sep, /):
    before, between, after = _text(self).rpartition(_of(sep))
    return (_bytes(before), _bytes(between), _bytes(after))


def lower(self, /):
    return _bytes(_operation("bytes.lower_ascii", _text(self)))


def upper(self, /):
    return _bytes(_operation("bytes.upper_ascii", _text(self)))


def isascii(self, /):
    return _operation("bytes.is_ascii", _text(self))


def isdigit(self, /):
    return _operation("bytes.is_ascii", _text(self)) and _text(self).isdigit()


def isalpha(self, /):
    return _operation("bytes.is_ascii", _text(self)) and _text(self).isalpha()


def isalnum(self, /):
    return _operation("bytes.is_ascii", _text(self)) and _text(self).isalnum()
