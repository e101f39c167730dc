

# Order, selection and statistics of arrays.


def _of_numbers(a):
    """An array of float64 or int64 of its own, of an array or a list."""
    a = _one_dimension(_no_series(a))
    return _refuse("a function of numbers of bools") if a._code == 2 else a._kept()


def _one_dimension(a):
    return _refuse("such a function of two dimensions") if isinstance(a, _Matrix) else a


def _floats_of(a):
    """Its elements as floats, where that loses nothing."""
    if a._code == 0:
        return a
    return _fresh([_exact_float(item) for item in a._list()], 0)


def _exact_float(item):
    item = int(item)
    if not -9007199254740992 <= item <= 9007199254740992:
        return _leave("an int beyond the floats")
    return _operation("int.to_float", item)


def _no_nan(items):
    for item in items:
        if item != item:
            return _leave("NaN in an order")
    return items


def _argsorted(a, kind):
    a = _of_numbers(a)
    items = a._compact()
    places = (
        _operation("list.order_float", items, False)
        if a._code == 0
        else _operation("list.order_int", items, False)
    )
    if kind not in ("stable", "mergesort"):
        for at in range(1, len(places)):
            if _item(items, places[at - 1]) == _item(items, places[at]):
                return _leave("ties in an order that is not stable")
    return _fresh(places, 1)


def _unique(a, return_index, return_inverse, return_counts):
    if return_index or not isinstance(return_inverse, bool) or not isinstance(return_counts, bool):
        return _refuse("unique with such arguments")
    if return_inverse:
        made = _unique(a, False, False, return_counts)
        found = made[0] if return_counts else made
        # Where equal ones begin among those of which there is one each.
        inverse = searchsorted(found, a)
        return (found, inverse, made[1]) if return_counts else (found, inverse)
    items = _sorted(_of_numbers(a))._items
    counts = []
    found = []
    for at in range(len(items)):
        if at == 0 or _is_other(_item(items, at), _item(items, at - 1)):
            found.append(_item(items, at))
            counts.append(1)
        else:
            counts[-1] += 1
    found = _fresh(found, _an_array(a)._code)
    return (found, _fresh(counts, 1)) if return_counts else found


def _is_other(item, before):
    """Whether one of two neighbours in order is another value; NaN is one."""
    return item != before and (item == item or before == before)


def _place(items, value, right):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if _item(items, middle) < value or right and _item(items, middle) == value:
            low = middle + 1
        else:
            high = middle
    return low


def _ordered(a):
    """The elements of an array that is in order, and has no NaN."""
    items = _no_nan(a._compact())
    for at in range(1, len(items)):
        if _item(items, at) < _item(items, at - 1):
            return _leave("an array that is not in order")
    return items


def searchsorted(a, v, side="left"):
    if side not in ("left", "right"):
        return _leave("such a side")
    a = _of_numbers(a)
    floats = _floats_of(a)
    items = _ordered(floats)
    if isinstance(v, (ndarray, list, tuple)):
        values = _no_nan(_floats_of(_of_numbers(v))._compact())
        return _fresh([_place(items, value, side == "right") for value in values], 1)
    value = _exact_float_of(v)
    if value != value:
        return _leave("NaN in an order")
    return _Number(_place(items, value, side == "right"))


def _exact_float_of(value):
    value = _scalar_of(value)
    return value if isinstance(value, float) else _exact_float(value)


def digitize(x, bins, right=False):
    if isinstance(right, bool):
        return searchsorted(bins, x, "left" if right else "right")
    return _refuse("digitize with such a side")


def _place_of(q, n):
    """Where a quantile lies among so many that are sorted."""
    if not 0.0 <= q <= 1.0:
        return _leave("a quantile that is none")
    return _operation("int.to_float", n - 1) * q


def _quantile_at(place, n, low, high):
    """The quantile of that place, between the one at or below it and the next."""
    if place >= _operation("int.to_float", n - 1):
        return _finite(low if n == 1 else low + 0.0)
    part = place - _operation("int.to_float", int(place))
    return _finite(high - (high - low) * (1.0 - part) if part >= 0.5 else low + (high - low) * part)


def _finite(value):
    """NumPy subtracts what is infinite."""
    return value if value - value == 0.0 else _leave("a quantile that is not finite")


def _quantiles(a, q, of_hundred):
    a = _of_numbers(a)
    if a._n == 0:
        return _leave("a quantile of nothing")
    items, n = _floats_of(a)._compact(), a._n
    is_missing = _operation("ufunc.count_present", items) != n
    if isinstance(q, (ndarray, list, tuple)):
        q = _of_numbers(q)
        if not of_hundred and q._code != 0:
            return _refuse("quantiles at ints")
        parts = _floats_of(q)._list()
        places = [_place_of(_div(part, 100.0) if of_hundred else part, n) for part in parts]
        if is_missing:
            return _fresh([_nan for place in places], 0)
        wanted = []
        for place in places:
            wanted.append(int(place))
            wanted.append(_next(int(place), n))
        found = _operation("list.select_float", items, wanted)
        return _fresh(
            [_quantile_at(_item(places, i), n, _item(found, 2 * i), _item(found, 2 * i + 1)) for i in range(q._n)], 0
        )
    if not of_hundred and not isinstance(_scalar_of(q), float):
        return _refuse("a quantile at an int")
    part = _exact_float_of(q)
    place = _place_of(_div(part, 100.0) if of_hundred else part, n)
    if is_missing:
        return _Number(_nan)
    found = _operation("list.select_float", items, [int(place), _next(int(place), n)])
    return _Number(_quantile_at(place, n, _item(found, 0), _item(found, 1)))


def _next(at, n):
    return at + 1 if at + 1 < n else at


def interp(x, xp, fp):
    xs, ys = _floats_of(_of_numbers(xp)), _floats_of(_of_numbers(fp))
    if xs._n != ys._n or xs._n == 0:
        return _leave("points of other lengths")
    points, values = _no_nan(xs._compact()), ys._compact()
    for at in range(1, len(points)):
        if _item(points, at) <= _item(points, at - 1):
            return _leave("points that do not rise")
    if isinstance(x, (ndarray, list, tuple)):
        return _fresh([_interpolated(item, points, values) for item in _floats_of(_of_numbers(x))._compact()], 0)
    return _Number(_interpolated(_exact_float_of(x), points, values))


def _interpolated(x, points, values):
    n = len(points)
    if n == 1:
        return _item(values, 0)
    if x != x:
        return x
    if x < _item(points, 0):
        return _item(values, 0)
    at = _place(points, x, True) - 1
    if at >= n - 1:
        return _item(values, n - 1)
    if _item(points, at) == x:
        return _item(values, at)
    low, high = _item(values, at), _item(values, at + 1)
    slope = _div(high - low, _item(points, at + 1) - _item(points, at))
    made = slope * (x - _item(points, at)) + low
    if made != made:
        made = slope * (x - _item(points, at + 1)) + high
        if made != made and low == high:
            made = low
    return made


# Without what is missing.


def _counted(a):
    """The array, and how many of it are not NaN: at least one."""
    a = _of_numbers(a)
    count = a._counted()
    return (a, count) if count > 0 else _leave("nothing but NaN")


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    _no_out(out)
    _only_floats(dtype)
    _one_axis(axis)
    a, count = _counted(_plain(a))
    if a._code == 1:
        return a.var(ddof=ddof, keepdims=keepdims)
    if _freedom(count, ddof) <= 0:
        return _leave("a variance of too few")
    return _in_dimension(_Number(_var_of(a, count, ddof)), keepdims)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return sqrt(nanvar(a, axis, dtype, out, ddof, keepdims))


def _without_nan(a):
    a = _counted(a)[0]
    return a if a._code == 1 else a._without_nan()


def nancumsum(a, axis=None):
    return _of_numbers(_plain(a))._filled(0.0).cumsum(axis)


def nancumprod(a, axis=None):
    return _of_numbers(_plain(a))._filled(1.0).cumprod(axis)


# Closeness.


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    rtol, atol = _exact_float_of(rtol), _exact_float_of(atol)
    if rtol - rtol != 0.0 or atol - atol != 0.0 or not isinstance(equal_nan, bool):
        return _leave("such a tolerance")
    return _is_close(_listed(a), _listed(b), rtol, atol, equal_nan)


def _is_close(a, b, rtol, atol, equal_nan):
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_is_close, a, b, rtol, atol, equal_nan)
    x, y = _float(_scalar_of(a)), _float(_scalar_of(b))
    distance = x - y
    distance = -distance if distance < 0.0 else distance
    size = -y if y < 0.0 else y
    close = distance <= atol + rtol * size and y - y == 0.0 or x == y
    return _lane(close or equal_nan and x != x and y != y, _most(_kind(a), _kind(b)))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    made = isclose(a, b, rtol, atol, equal_nan)
    return made.all().item() if isinstance(made, ndarray) else made.item()


# Selection.


def flatnonzero(a):
    a = _no_series(a)
    return _fresh([i for i in range(a._n) if a._value(i) != 0], 1)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    # How it is done changes nothing, but that tables are of ints.
    if not isinstance(invert, bool) or kind is not None and kind != "sort":
        return _refuse("isin with such arguments")
    among = _of_numbers(test_elements)
    element = _listed(element)
    if not isinstance(element, ndarray) or element._kind != 1 or element._code != among._code:
        return _refuse("isin of values of another type")
    among = among._compact()
    return _fresh([_is_in(item, among) != invert for item in element._list()], 2)


def intersect1d(ar1, ar2):
    a = unique(ar1)
    return a[isin(a, ar2)]


def setdiff1d(ar1, ar2):
    a = unique(ar1)
    return a[isin(a, ar2, False, True)]


def union1d(ar1, ar2):
    return unique(concatenate((_flat(ar1), _flat(ar2))))


def _flat(a):
    a = _no_series(a)
    return a.flatten() if isinstance(a, _Matrix) else a


def _is_in(value, items):
    for item in items:
        if item == value:
            return True
    return False


def insert(arr, obj, values, axis=None):
    _one_axis(axis)
    arr = _one_dimension(_no_series(arr))._kept()
    at, value = _scalar_of(obj), _scalar_of(values)
    if isinstance(at, bool) or not isinstance(at, int) or not isinstance(value, (float, int)):
        return _refuse("an insertion of such a kind")
    at += arr._n if at < 0 else 0
    if not 0 <= at <= arr._n:
        return _leave("an insertion outside of the array")
    return concatenate((arr[:at], _fresh([arr._as_item(value)], arr._code), arr[at:]))


def divmod(x, y, /):
    return floor_divide(x, y), remainder(x, y)


def linspace(start, stop, num=50, endpoint=True):
    num = _size_of(num)
    if not isinstance(endpoint, bool):
        return _refuse("linspace with such an end")
    start, stop = _exact_float_of(start), _exact_float_of(stop)
    parts = num - 1 if endpoint else num
    delta = stop - start
    if parts <= 0:
        return _fresh([_operation("int.to_float", i) * delta + start for i in range(num)], 0)
    parts = _operation("int.to_float", parts)
    step = _div(delta, parts)
    if step == 0.0:
        made = [_div(_operation("int.to_float", i), parts) * delta + start for i in range(num)]
    else:
        made = [_operation("int.to_float", i) * step + start for i in range(num)]
    if endpoint and num > 1:
        made[num - 1] = stop
    return _fresh(made, 0)


def gradient(f):
    f = _floats_of(_of_numbers(f))
    if f._n < 2:
        return _leave("a gradient of too few")
    items, n = f._list(), f._n
    made = [_item(items, 1) - _item(items, 0)]
    for i in range(1, n - 1):
        made.append(_div(_item(items, i + 1) - _item(items, i - 1), 2.0))
    made.append(_item(items, n - 1) - _item(items, n - 2))
    return _fresh(made, 0)


def trapezoid(y, x=None, dx=1.0):
    y = _floats_of(_of_numbers(y))
    steps = _exact_float_of(dx) if x is None else diff(_floats_of(_of_numbers(x)))
    return (steps * (y[1:] + y[:-1]) / 2.0).sum()


def bincount(x, weights=None, minlength=0):
    x = _of_numbers(x)
    if x._code != 1:
        return _leave("bincount of floats")
    most = _size_of(minlength) - 1
    for item in x._list():
        if item < 0:
            return _leave("bincount of a negative int")
        if item > most:
            most = item
    if weights is None:
        made = [0 for _ in range(most + 1)]
        for item in x._list():
            made[item] += 1
        return _fresh(made, 1)
    weights = _floats_of(_of_numbers(weights))
    if weights._n != x._n or x._n == 0:
        return _leave("arrays of different lengths, or none")
    sums = [0.0 for _ in range(most + 1)]
    for i in range(x._n):
        sums[x._value(i)] += weights._value(i)
    return _fresh(sums, 0)


def polyval(p, x):
    """The value of a polynomial, by Horner's rule in NumPy's order."""
    p, x = _floats_of(_of_numbers(p)), _listed(x)
    if isinstance(x, ndarray):
        if x._kind != 1 or x._code != 0:
            return _refuse("a polynomial of such an array")
        return _fresh([_polynomial(p, _float(item)) for item in x._list()], 0)
    if not isinstance(_scalar_of(x), float):
        return _refuse("a polynomial of an int")
    return _Number(_polynomial(p, _exact_float_of(x)))


def _polynomial(p, x):
    made = 0.0
    for i in range(p._n):
        made = made * x + p._value(i)
    return made
