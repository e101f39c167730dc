"""Operators and methods of tuple: lengths are known, so the loops unroll. That of a product is not.

CPython compares elements by identity before equality, which only shows for a NaN.
"""


def __contains__(item, self):
    for one in self:
        if _same(one, item):
            return True
    return False


def __eq__(self, other):
    if not isinstance(other, tuple):
        return False
    if len(self) != len(other):
        return False
    for a, b in zip(self, other):
        if not _same(a, b):
            return False
    return True


def __repr__(self):
    if len(self) == 1:
        return "(" + repr(self[0]) + ",)"
    return "(" + ", ".join([repr(item) for item in self]) + ")"


def __str__(self):
    return __repr__(self)


def __ne__(self, other):
    return not __eq__(self, other)


def __mul__(self, times):
    return tuple(list(self) * times)


def _less(self, other, strict):
    for a, b in zip(self, other):
        if not _same(a, b):
            return a < b if strict else a <= b
    if strict:
        return len(self) < len(other)
    return len(self) <= len(other)


def __lt__(self, other):
    if not isinstance(other, tuple):
        return _leave("comparison of a tuple with another type")
    return _less(self, other, True)


def __le__(self, other):
    if not isinstance(other, tuple):
        return _leave("comparison of a tuple with another type")
    return _less(self, other, False)


def _greater(self, other, strict):
    for a, b in zip(self, other):
        if not _same(a, b):
            return a > b if strict else a >= b
    if strict:
        return len(self) > len(other)
    return len(self) >= len(other)


def __gt__(self, other):
    if not isinstance(other, tuple):
        return _leave("comparison of a tuple with another type")
    return _greater(self, other, True)


def __ge__(self, other):
    if not isinstance(other, tuple):
        return _leave("comparison of a tuple with another type")
    return _greater(self, other, False)


def count(self, value, /):
    n = 0
    for item in self:
        if _same(item, value):
            n += 1
    return n


def index(self, value, /):
    i = 0
    for item in self:
        if _same(item, value):
            return i
        i += 1
    raise ValueError("tuple.index(x): x not in tuple")
