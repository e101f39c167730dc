"""struct: ints in bytes, in an order of bytes that the format names (library reference, module struct)."""

_SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "l": 4, "L": 4, "q": 8, "Q": 8}


def _order(format):
    if not isinstance(format, str):
        return _refuse("a format of struct that is no text")
    if format[:1] not in ("<", ">", "!", "="):
        return _refuse("a format of struct without an order of bytes")
    if format[1:].strip("0123456789bBhHiIlLqQ") != "":
        return _refuse("a format of struct with something else than ints")
    return "little" if format[0] in "<=" else "big"


def _codes(format):
    # Each with how often it stands there.
    count = -1
    for code in format[1:]:
        if "0" <= code <= "9":
            count = max(count, 0) * 10 + ord(code) - 48
        else:
            yield code, 1 if count < 0 else count
            count = -1
    if count >= 0:
        return _leave("a format of struct that ends with a count")


def calcsize(format, /):
    _order(format)
    return sum(_SIZES[code] * count for code, count in _codes(format))


def _ints(format, buffer, at):
    order = _order(format)
    values = []
    for code, count in _codes(format):
        size = _SIZES[code]
        for _ in range(count):
            values.append(int.from_bytes(buffer[at : at + size], order, signed=code >= "a"))
            at += size
    return tuple(values)


def pack(format, /, *v):
    order = _order(format)
    packed = b""
    at = 0
    for code, count in _codes(format):
        size = _SIZES[code]
        for _ in range(count):
            if at >= len(v) or not isinstance(v[at], int):
                return _leave("what struct says of such values")
            least = -(1 << (8 * size - 1)) if code >= "a" else 0
            if not least <= v[at] < least + (1 << (8 * size)):
                return _leave("what struct says of a number that is out of range")
            packed += v[at].to_bytes(size, order, signed=code >= "a")
            at += 1
    if at != len(v):
        return _leave("what struct says of so many values")
    return packed


def unpack(format, buffer, /):
    if not isinstance(buffer, bytes) or len(buffer) != calcsize(format):
        return _leave("what struct says of a buffer of another size")
    return _ints(format, buffer, 0)


def unpack_from(format, /, buffer, offset=0):
    if not isinstance(buffer, bytes) or not isinstance(offset, int):
        return _leave("what struct says of such a buffer")
    if offset < 0:
        offset += len(buffer)
    if offset < 0 or len(buffer) - offset < calcsize(format):
        return _leave("what struct says of a buffer that is too small")
    return _ints(format, buffer, offset)


class Struct:
    def __init__(self, format):
        _order(format)
        if "0" <= format[-1] <= "9":
            return _refuse("a format of struct that ends with a count")
        self.format = format

    @property
    def size(self):
        return calcsize(self.format)

    def pack(self, /, *v):
        return pack(self.format, *v)

    def unpack(self, buffer, /):
        return unpack(self.format, buffer)

    def unpack_from(self, buffer, offset=0):
        return unpack_from(self.format, buffer, offset)
