"""int: methods that are no operations (library reference, section Additional Methods on Integer Types)."""


def to_bytes(self, length=1, byteorder="big", *, signed=False):
    if not isinstance(length, int) or not isinstance(byteorder, str):
        return _leave("int.to_bytes of other arguments")
    if byteorder not in ("big", "little"):
        raise ValueError("byteorder must be either 'little' or 'big'")
    if length < 0:
        raise ValueError("length argument must be non-negative")
    if length > 65536:
        return _leave("int.to_bytes of so many bytes")
    return _record("bytes", _operation("bytes.of_int", int(self), length, byteorder == "big", bool(signed)))


def conjugate(self, /):
    return int(self)


def as_integer_ratio(self, /):
    return int(self), 1
