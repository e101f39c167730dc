"""hmac: digests with a key (Lib/hmac.py)."""

import hashlib


def _name_of(digestmod):
    if isinstance(digestmod, str):
        return digestmod.lower()
    if _is_function(digestmod):
        return digestmod()._name
    return _leave("a digest that is neither a name nor a function of hashlib")


class HMAC:
    def __init__(self, key, msg=None, digestmod=""):
        if not isinstance(key, bytes):
            return _leave("a key that is not bytes")
        name = _name_of(digestmod)
        block = 128 if name in ("sha384", "sha512") else 64
        if len(key) > block:
            key = hashlib.new(name, key).digest()
        key = key + bytes(block - len(key))
        self._algorithm = name
        self._outer = bytes([byte ^ 92 for byte in key])
        self._data = bytes([byte ^ 54 for byte in key])
        if msg is not None:
            self.update(msg)

    def update(self, msg):
        if not isinstance(msg, bytes):
            return _leave("a digest of something else than bytes")
        self._data = self._data + msg

    @property
    def name(self):
        return "hmac-" + self._algorithm

    def _digested(self):
        inner = hashlib.new(self._algorithm, self._data).digest()
        return hashlib.new(self._algorithm, self._outer + inner)

    def digest(self):
        return self._digested().digest()

    def hexdigest(self):
        return self._digested().hexdigest()


def new(key, msg=None, digestmod=""):
    return HMAC(key, msg, digestmod)


def digest(key, msg, digest):
    return HMAC(key, msg, digest).digest()


def compare_digest(a, b, /):
    if isinstance(a, bytes) and isinstance(b, bytes):
        return a == b
    if isinstance(a, str) and isinstance(b, str) and a.isascii() and b.isascii():
        return a == b
    return _leave("texts that are not ASCII, compared as digests")
