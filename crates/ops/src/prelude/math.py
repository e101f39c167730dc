"""What of math takes containers."""


def _addend(item):
    if isinstance(item, float):
        return item
    if not isinstance(item, int) or not -(2**1000) <= item <= 2**1000:
        return _leave("the exact sum of such a value")
    return float(item)


def fsum(seq, /):
    return _operation("statistics.sum", [_addend(item) for item in seq])


def prod(iterable, /, *, start=1):
    total = start
    for item in iterable:
        total = total * item
    return total
