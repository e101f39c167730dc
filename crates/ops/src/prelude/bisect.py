"""bisect, of lists (Lib/bisect.py says what each gives)."""


def _bounds(a, lo, hi):
    if a is None or not isinstance(lo, int) or hi is not None and not isinstance(hi, int):
        return _leave("bisect within such bounds")
    if not -9223372036854775808 <= lo <= 9223372036854775807:
        return _leave("bisect within such bounds")
    if lo < 0:
        raise ValueError("lo must be non-negative")
    # In C -1 stands for no bound.
    if hi is None or hi == -1:
        return int(lo), len(a)
    if not -9223372036854775808 <= hi <= 9223372036854775807:
        return _leave("bisect within such bounds")
    return int(lo), int(hi)


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    lo, hi = _bounds(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        found = a[middle] if key is None else key(a[middle])
        if found < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    lo, hi = _bounds(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        found = a[middle] if key is None else key(a[middle])
        if x < found:
            hi = middle
        else:
            lo = middle + 1
    return lo


def bisect(a, x, lo=0, hi=None, *, key=None):
    return bisect_right(a, x, lo, hi, key=key)


def insort_left(a, x, lo=0, hi=None, *, key=None):
    at = bisect_left(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(at, x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    at = bisect_right(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(at, x)


def insort(a, x, lo=0, hi=None, *, key=None):
    insort_right(a, x, lo, hi, key=key)
