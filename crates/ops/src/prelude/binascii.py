"""binascii: bytes as digits, and their checksum."""

import zlib


def crc32(data, crc=0, /):
    return zlib.crc32(data, crc)


def hexlify(data, sep=_missing, bytes_per_sep=1):
    if not isinstance(data, bytes) or not _is_missing(sep):
        return _leave("digits of something else than bytes, or with separators")
    return _record("bytes", data.hex())


def b2a_hex(data, sep=_missing, bytes_per_sep=1):
    return hexlify(data, sep, bytes_per_sep)
