"""uuid: identifiers of 128 bits, kept as 32 digits of base 16 (Lib/uuid.py)."""

import hashlib

RESERVED_NCS = "reserved for NCS compatibility"
RFC_4122 = "specified in RFC 4122"
RESERVED_MICROSOFT = "reserved for Microsoft compatibility"
RESERVED_FUTURE = "reserved for future definition"


class UUID:
    def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None, version=None):
        if not isinstance(hex, str) or not (bytes is None and bytes_le is None and fields is None and int is None):
            return _leave("an identifier of something else than a text")
        if version is not None:
            return _leave("an identifier of which the version is set")
        digits = hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
        if len(digits) != 32:
            raise ValueError("badly formed hexadecimal UUID string")
        lower = digits.lower()
        for digit in lower:
            if digit not in "0123456789abcdef":
                if digit.isdecimal() or digit.isspace() or digit in "+_x":
                    return _leave("an identifier with digits of another kind")
                raise ValueError(f"invalid literal for int() with base 16: {digits!r}")
        self._hex = lower

    @property
    def hex(self):
        return self._hex

    @property
    def bytes(self):
        return bytes.fromhex(self._hex)

    @property
    def urn(self):
        return "urn:uuid:" + str(self)

    @property
    def variant(self):
        digit = self._hex[16]
        if digit in "01234567":
            return RESERVED_NCS
        if digit in "89ab":
            return RFC_4122
        return RESERVED_MICROSOFT if digit in "cd" else RESERVED_FUTURE

    @property
    def version(self):
        return int(self._hex[12], 16) if self._hex[16] in "89ab" else None

    def __str__(self):
        digits = self._hex
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def __repr__(self):
        return f"UUID('{str(self)}')"

    def __format__(self, spec):
        if spec != "":
            return _leave("an identifier in a format")
        return str(self)

    def __eq__(self, other):
        return isinstance(other, UUID) and self._hex == other._hex

    def __hash__(self):
        return _leave("the hash of an identifier")

    def __lt__(self, other):
        if not isinstance(other, UUID):
            return _leave("an identifier beside something else")
        return self._hex < other._hex


def _of_digest(digits, version):
    variant = "89ab"[int(digits[16], 16) & 3]
    return UUID(digits[:12] + version + digits[13:16] + variant + digits[17:32])


def _named(namespace, name):
    if not isinstance(namespace, UUID) or not isinstance(name, str):
        return _leave("an identifier of something else than a namespace and a text")
    return namespace.bytes + name.encode("utf-8")


def uuid3(namespace, name):
    return _of_digest(hashlib.md5(_named(namespace, name)).hexdigest(), "3")


def uuid5(namespace, name):
    return _of_digest(hashlib.sha1(_named(namespace, name)).hexdigest(), "5")


NAMESPACE_DNS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_URL = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_OID = UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_X500 = UUID("6ba7b814-9dad-11d1-80b4-00c04fd430c8")
