"""binascii: bytes as digits, and their checksum."""


def crc32(data, crc=0, /):
    if isinstance(data, bytes) and isinstance(crc, int):
        return _operation("bytes.crc32", _field(data, 0), crc)
    return _leave("a checksum of something else than bytes")


def hexlify(data, sep=_missing, bytes_per_sep=1):
    if not isinstance(data, bytes) or not _is_missing(sep):
        return _leave("digits of something else than bytes, or with separators")
    return _record("bytes", data.hex())


def b2a_hex(data, sep=_missing, bytes_per_sep=1):
    return hexlify(data, sep, bytes_per_sep)
