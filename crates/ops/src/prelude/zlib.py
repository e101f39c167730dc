"""Checksums of bytes."""


def crc32(data, value=0, /):
    if isinstance(data, bytes) and isinstance(value, int):
        return _operation("bytes.crc32", _field(data, 0), value)
    return _leave("a checksum of something else than bytes")
