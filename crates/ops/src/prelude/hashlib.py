"""Digests of bytes: what was given is kept, and digested where the digest is asked for."""


class HASH:
    def __init__(self, name, data):
        self._name = name
        self._data = data

    def update(self, data, /):
        self._data = self._data + _data(data)

    def hexdigest(self):
        return _operation("bytes.digest", self._data, self._name)

    def digest(self):
        return _record("bytes", _operation("bytes.of_hex", self.hexdigest()))

    def copy(self):
        return HASH(self._name, self._data)


def _data(string):
    if isinstance(string, bytes):
        return _field(string, 0)
    return _leave("a digest of something else than bytes")


def md5(string=b"", *, usedforsecurity=True):
    return HASH("md5", _data(string))


def sha1(string=b"", *, usedforsecurity=True):
    return HASH("sha1", _data(string))


def sha224(string=b"", *, usedforsecurity=True):
    return HASH("sha224", _data(string))


def sha256(string=b"", *, usedforsecurity=True):
    return HASH("sha256", _data(string))


def sha384(string=b"", *, usedforsecurity=True):
    return HASH("sha384", _data(string))


def sha512(string=b"", *, usedforsecurity=True):
    return HASH("sha512", _data(string))


def new(name, data=b"", *, usedforsecurity=True):
    if name not in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
        return _leave("an algorithm of hashlib that CPython must run")
    return HASH(name, _data(data))
