"""Base64."""

import re


def _data(value):
    if isinstance(value, bytes):
        return _field(value, 0)
    return _leave("base64 of something else than bytes")


def _digits(value):
    if isinstance(value, str):
        if not value.isascii():
            raise ValueError("string argument should contain only ASCII characters")
        return value
    return _data(value)


def b64encode(s, altchars=None):
    if altchars is not None:
        return _leave("base64 with another alphabet")
    return _record("bytes", _operation("bytes.base64", _data(s), False))


def standard_b64encode(s):
    return b64encode(s)


def urlsafe_b64encode(s):
    return _record("bytes", _operation("bytes.base64", _data(s), True))


def b64decode(s, altchars=None, validate=False):
    if altchars is not None:
        return _leave("base64 with another alphabet")
    digits = _digits(s)
    if validate and re.fullmatch("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", digits) is None:
        return _leave("base64 that is not valid")
    return _record("bytes", _operation("bytes.of_base64", digits, False))


def standard_b64decode(s):
    return b64decode(s)


def urlsafe_b64decode(s):
    return _record("bytes", _operation("bytes.of_base64", _digits(s), True))


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def b32encode(s):
    data = _data(s)
    parts = []
    held = 0
    bits = 0
    for char in data:
        held = (held << 8 | ord(char)) & 4095
        bits += 8
        while bits >= 5:
            bits -= 5
            parts.append(_ALPHABET[held >> bits & 31])
    if bits > 0:
        parts.append(_ALPHABET[held << (5 - bits) & 31])
    while len(parts) % 8 != 0:
        parts.append("=")
    return _record("bytes", "".join(parts))


def b16encode(s):
    return _record("bytes", _record("bytes", _data(s)).hex().upper())
