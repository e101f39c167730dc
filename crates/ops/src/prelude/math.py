"""What of math takes containers."""


def _as_float(value):
    if isinstance(value, float):
        return value
    if not isinstance(value, int) or not -(2**1000) <= value <= 2**1000:
        return _leave("the float of such a value")
    return float(value)


def fsum(seq, /):
    return _operation("statistics.sum", [_as_float(item) for item in seq])


def _number(value):
    if not isinstance(value, (int, float)):
        raise TypeError(f"must be real number, not {_type_name(value)}")
    return float(value)


def modf(x, /):
    x = _number(x)
    if x != x:
        return x, x
    if x - x != 0.0:
        return _operation("math.copysign", 0.0, x), x
    part = _operation("math.fmod", x, 1.0)
    return part, _operation("math.copysign", x - part, x)


def frexp(x, /):
    x = _number(x)
    if x == 0.0 or x - x != 0.0:
        return x, 0
    power = _operation("float.exponent", x)
    return _operation("math.ldexp", x, -power), power


def hypot(*coordinates):
    return _operation("math.norm", [_as_float(part) for part in coordinates])


def dist(p, q, /):
    if not isinstance(p, (list, tuple)) or not isinstance(q, (list, tuple)):
        return _leave("a distance of other points than lists and tuples")
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return _operation("math.norm", [_as_float(a) - _as_float(b) for a, b in zip(p, q)])


def prod(iterable, /, *, start=1):
    total = start
    for item in iterable:
        total = total * item
    return total
