

# Covariances, by sums of products.


def _variables(m, y, rowvar):
    """An array of floats of two dimensions whose rows are variables, and their means."""
    if not isinstance(rowvar, bool):
        return _refuse("such variables")
    if y is not None:
        if isinstance(_no_series(m), _Matrix) or isinstance(_no_series(y), _Matrix):
            return _refuse("variables of two dimensions beside others")
        m = _of_tuples((_floats_of(_of_numbers(m)), _floats_of(_of_numbers(y))))
    else:
        m = _no_series(m)
    if not isinstance(m, _Matrix) or m._code != 0:
        return _refuse("such variables")
    m = m._kept()
    if rowvar or y is not None:
        return m, m.mean(1)
    return m.T._own(), m.mean(0)


def _covariances(m, y, rowvar, bias, ddof):
    x, means = _variables(m, y, rowvar)
    if not isinstance(bias, bool):
        return _refuse("such a bias")
    n = x._n1 - _freedom(0 if bias else 1, 0) if ddof is None else _freedom(x._n1, ddof)
    if x._n0 < 2 or n <= 0:
        return _leave("a covariance of one")
    x = (x - _as_column(means))._kept()
    part = _div(1.0, _operation("int.to_float", n))
    return _matrix([_inner(x._row(i), x._row(j)) * part for i in range(x._n0) for j in range(x._n0)], x._n0, x._n0, 0)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    return _covariances(m, y, rowvar, bias, ddof)


def corrcoef(x, y=None, rowvar=True):
    made = _covariances(x, y, rowvar, False, None)
    n = made._n0
    deviations = sqrt(made.diagonal())._kept()
    items = [
        _within_one(_div(_div(made._value2(i, j), deviations._value(i)), deviations._value(j)))
        for i in range(n)
        for j in range(n)
    ]
    return _matrix(items, n, n, 0)


def _within_one(x):
    return -1.0 if x < -1.0 else 1.0 if x > 1.0 else x


def convolve(a, v, mode="full"):
    a, v = _of_numbers(a), _of_numbers(v)
    if mode not in ("full", "same", "valid"):
        return _refuse("convolve by such a mode")
    if a._code != v._code:
        a, v = _floats_of(a), _floats_of(v)
    if a._n == 0 or v._n == 0:
        return _leave("convolve of nothing")
    if v._n > a._n:
        return _convolved(v, a._list(), mode)
    return _convolved(a, v._list(), mode)


def _convolved(a, short, mode):
    n, m = a._n, len(short)
    turned = _fresh([_item(short, m - 1 - i) for i in range(m)], a._code)
    first, count = (0, n + m - 1) if mode == "full" else ((m - 1) // 2, n) if mode == "same" else (m - 1, n - m + 1)
    if a._code == 0:
        return _fresh(_operation("ufunc.slide", a._compact(), turned._items, first, count), 0)
    made = []
    for k in range(first, first + count):
        # Of those below, those of `a` from k - m + 1 on that there are.
        low, high = k - m + 1 if k - m + 1 > 0 else 0, k + 1 if k + 1 < n else n
        at = low - (k - m + 1)
        made.append(_inner(_strided(a._items, a._start + low * a._step, a._step, high - low, a._code), turned[at : at + high - low]))
    return _fresh(made, a._code)


# Counts of what lies between edges.


def histogram(a, bins=10, range=None, density=None, weights=None):
    if density is not None and not isinstance(density, bool) or weights is not None:
        return _refuse("a histogram of such a kind")
    a = _floats_of(_of_numbers(_flat_of(a)))
    counts, edges = (
        _counts_between(a, bins) if isinstance(bins, (ndarray, list, tuple)) else _counts_of_equal(a, bins, range)
    )
    if density is None or not density:
        return counts, edges
    return (counts / diff(_floats_of(edges)) / counts.sum())._kept(), edges


def _counts_between(a, bins):
    edges = _of_numbers(bins)
    n, at = edges._n, _ordered(_floats_of(edges))
    if n < 2:
        return _leave("a histogram of one edge")
    counts = [0 for _ in range(n - 1)]
    for value in a._list():
        if _item(at, 0) <= value <= _item(at, n - 1):
            counts[_fewer(_place(at, value, True) - 1, n - 2)] += 1
    return _fresh(counts, 1), edges


def _counts_of_equal(a, bins, ends):
    n = _size_of(bins)
    if ends is not None:
        if not isinstance(ends, tuple) or len(ends) != 2:
            return _refuse("such a range")
        first, last = _exact_float_of(ends[0]), _exact_float_of(ends[1])
    elif a._n == 0:
        first, last = 0.0, 1.0
    else:
        first, last = a.min()._v, a.max()._v
    if n < 1 or not first <= last or last - first - (last - first) != 0.0:
        return _leave("a histogram of such a range")
    if first == last:
        first, last = first - 0.5, last + 0.5
    edges = linspace(first, last, n + 1)
    at = edges._list()
    for i in range(n):
        if _item(at, i) >= _item(at, i + 1):
            return _leave("too many bins")
    width, parts = last - first, _operation("int.to_float", n)
    counts = [0 for _ in range(n)]
    for value in a._list():
        if first <= value <= last:
            i = int(_div(value - first, width) * parts)
            i = n - 1 if i == n else i
            if value < at[i]:
                i -= 1
            if value >= at[i + 1] and i != n - 1:
                i += 1
            counts[i] += 1
    return _fresh(counts, 1), edges


def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return power(_exact_float_of(base), linspace(start, stop, num, endpoint))


# Angles.


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    _one_axis(axis)
    p, period = _of_numbers(p), _exact_float_of(period)
    if p._code != 0:
        return _refuse("unwrap of ints")
    half = _div(period, 2.0)
    least = half if discont is None else _exact_float_of(discont)
    return _unwrapped(p, period, half, least)


def _unwrapped(p, period, half, least):
    total = 0.0
    made = []
    for i in range(p._n):
        if i == 0:
            made.append(p._value(0))
            continue
        step = p._value(i) - p._value(i - 1)
        within = _mod_float(step + half, period) - half
        within = half if within == -half and step > 0.0 else within
        change = 0.0 if _operation("float.abs", step) < least else within - step
        total = change if i == 1 else total + change
        made.append(p._value(i) + total)
    return _fresh(made, 0)
