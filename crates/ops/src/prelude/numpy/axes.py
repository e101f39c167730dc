

# Functions of arrays of two dimensions along an axis.
#
# NumPy makes what it makes of an array whose columns lie one after the other in the same order, which decides how
# its elements are added later: such rows leave (`_by_rows`).


def _goes_across(axis):
    """Whether an axis goes along the rows, from column to column."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        return _refuse("such an axis")
    if axis == 1 or axis == -1:
        return True
    return False if axis == 0 or axis == -2 else _leave("an axis that an array has not")


def _along(a, axis, code, function):
    """What a function makes of each row or of each column, of which it makes arrays of one length."""
    a._by_rows()
    a = a._kept()
    if a._n0 == 0 or a._n1 == 0:
        return _leave("an axis of an array without elements")
    n = 0
    if _goes_across(axis):
        items = []
        for i in range(a._n0):
            line = function(a._row(i))._kept()
            n = line._n
            for j in range(n):
                items.append(line._value(j))
        return _matrix(items, a._n0, n, code)
    items = []
    for j in range(a._n1):
        line = function(a._column(j))._kept()
        n = line._n
        for i in range(n):
            items.append(line._value(i))
    return _matrix([_item(items, j * n + i) for i in range(n) for j in range(a._n1)], n, a._n1, code)


def _shape_of_two(a):
    """Its number of rows and of columns; of one dimension it is a row."""
    return (a._n0, a._n1) if isinstance(a, _Matrix) else (1, a._n)


# Other orders of the same elements.


def flip(m, axis=None):
    m = _no_series(m)
    if not isinstance(m, _Matrix):
        _one_axis(axis)
        return m[::-1]
    if axis is None:
        return m[::-1, ::-1]
    return m[:, ::-1] if _goes_across(axis) else m[::-1]


def fliplr(m):
    m = _no_series(m)
    return m[:, ::-1] if isinstance(m, _Matrix) else _leave("fliplr of one dimension")


def flipud(m):
    return _no_series(m)[::-1]


def rot90(m, k=1):
    m = _no_series(m)
    if not isinstance(m, _Matrix) or isinstance(k, bool) or k != 1:
        return _refuse("such a rotation")
    return m[:, ::-1].T


def swapaxes(a, axis1, axis2):
    a = _no_series(a)
    if not isinstance(a, _Matrix):
        return _refuse("axes of one dimension")
    return a._view() if _goes_across(axis1) == _goes_across(axis2) else a.T


def _of_its_own(a):
    """An array of one dimension, which is no view that cannot be written to."""
    return _leave("more dimensions of what cannot be written to") if isinstance(a, _FixedArray) else a


def expand_dims(a, axis):
    a = _of_its_own(_one_dimension(_no_series(a)))
    return _as_column(a) if _goes_across(axis) else _as_row(a)


def atleast_1d(a):
    return _no_series(_as_part(a))


def atleast_2d(a):
    a = _no_series(_as_part(a))
    return a if isinstance(a, _Matrix) else _as_row(_of_its_own(a))


def roll(a, shift, axis=None):
    a = _no_series(a)
    if isinstance(shift, bool) or not isinstance(shift, int):
        return _refuse("roll by what is no int")
    if isinstance(a, _Matrix):
        return _rolled(a, shift, axis)
    _one_axis(axis)
    if a._n == 0:
        return a._own()
    items, n = a._list(), a._n
    return _fresh([_item(items, (i - shift) % n) for i in range(n)], a._code)


def _rolled(a, shift, axis):
    a._by_rows()
    a = a._kept()
    n0, n1 = a._n0, a._n1
    if n0 == 0 or n1 == 0:
        return _leave("an array without elements")
    if axis is None:
        return _matrix(roll(a.flatten(), shift)._list(), n0, n1, a._code)
    if _goes_across(axis):
        return _matrix([a._value2(i, (j - shift) % n1) for i in range(n0) for j in range(n1)], n0, n1, a._code)
    return _matrix([a._value2((i - shift) % n0, j) for i in range(n0) for j in range(n1)], n0, n1, a._code)


def sort(a, axis=-1):
    a = _no_series(a)
    if isinstance(a, _Matrix):
        return _sorted(a.flatten()) if axis is None else _along(a, axis, a._code, _sorted)
    _one_axis(axis)
    return _sorted(a)


def argsort(a, axis=-1, kind=None):
    a = _no_series(a)
    if isinstance(a, _Matrix):
        # NumPy's has its rows one after the other in any case, but as many leave as of the others.
        return _along(a, axis, 1, lambda line: _argsorted(line, kind))
    _one_axis(axis)
    return _argsorted(a, kind)


# What becomes of each row or column.


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    _no_out(out)
    a = _no_series(a)
    if isinstance(a, _Matrix):
        return _median(a.flatten()) if axis is None and not keepdims else a._reduced(axis, keepdims, _median)
    _one_axis(axis)
    return _in_dimension(_median(a), keepdims)


def quantile(a, q, axis=None, method="linear"):
    return _quantiles_along(a, q, axis, method, False)


def percentile(a, q, axis=None, method="linear"):
    return _quantiles_along(a, q, axis, method, True)


def _quantiles_along(a, q, axis, method, of_hundred):
    a = _no_series(a)
    if method != "linear":
        return _refuse("quantiles by such a method")
    if not isinstance(a, _Matrix):
        _one_axis(axis)
        return _quantiles(a, q, of_hundred)
    if axis is None:
        return _quantiles(a.flatten(), q, of_hundred)
    if not isinstance(q, (ndarray, list, tuple)):
        return a._reduced(axis, False, lambda line: _quantiles(line, q, of_hundred))
    made = _along(a, axis, 0, lambda line: _quantiles(line, q, of_hundred))
    return made.T._own() if _goes_across(axis) else made


def diff(a, n=1, axis=-1, prepend=_missing, append=_missing):
    a = _no_series(a)
    if isinstance(n, bool) or not isinstance(n, int):
        return _refuse("such a difference")
    if a._code == 2:
        return _refuse("the difference of bools")
    if isinstance(a, _Matrix):
        across = _goes_across(axis)
        if n != 1 or not _is_missing(prepend) or not _is_missing(append):
            return _refuse("such a difference of two dimensions")
        return a[:, 1:] - a[:, :-1] if across else a[1:] - a[:-1]
    _one_axis(axis)
    a = a._kept()
    if not _is_missing(prepend):
        a = concatenate((_as_part(prepend), a))
    if not _is_missing(append):
        a = concatenate((a, _as_part(append)))
    if n == 2:
        a = (a[1:] - a[:-1])._kept()
    elif n != 1:
        return _refuse("such a difference")
    return a[1:] - a[:-1]


def ediff1d(ary, to_end=None, to_begin=None):
    made = diff(_flat_of(ary))
    if to_begin is not None:
        made = concatenate((_fitting(to_begin, made), made))
    return made if to_end is None else concatenate((made, _fitting(to_end, made)))


def _fitting(given, made):
    """What is put beside others, of whose type it becomes."""
    given = _flat_of(_as_part(given))
    return given if made._can_take(given) else _leave("values of another type in an array")


def count_nonzero(a, axis=None):
    a = _no_series(a)
    if isinstance(a, _Matrix):
        return (a if a._code == 2 else a != 0).sum(axis)
    _one_axis(axis)
    count = 0
    for i in range(a._n):
        if a._value(i) != 0:
            count += 1
    return _Number(count)


def average(a, axis=None, weights=None):
    a = _no_series(a)
    if weights is None:
        return a.mean(axis)
    weights = _floats_of(_of_numbers(weights))
    total = _tree(weights)
    if total == 0.0:
        return _leave("weights of zero")
    if isinstance(a, _Matrix):
        if a._code != 0:
            return _refuse("an average of ints in two dimensions")
        across = _goes_across(axis)
        if weights._n != (a._n1 if across else a._n0):
            return _leave("arrays of different lengths")
        return (a * (_as_row(weights) if across else _as_column(weights))).sum(axis) / total
    _one_axis(axis)
    a = _floats_of(_of_numbers(a))
    if a._n != weights._n:
        return _leave("arrays of different lengths")
    return _Number(_div(_tree(a * weights), total))


def apply_along_axis(func1d, axis, arr):
    a = _no_series(arr)
    if not isinstance(a, _Matrix):
        return _refuse("a function along the axis of one dimension")
    across, a = _goes_across(axis), a._kept()
    if a._n0 == 0 or a._n1 == 0:
        return _leave("an axis of an array without elements")
    if across:
        made = [_scalar_of(func1d(a._row(i))) for i in range(a._n0)]
    else:
        made = [_scalar_of(func1d(a._column(j))) for j in range(a._n1)]
    return _of_values(made) if len(_element_types(made)) == 1 else _refuse("results of several types along an axis")


def _plain(a):
    """An array, of a Series too, which some functions of NumPy take for one."""
    return a.to_numpy() if isinstance(a, Series) else _an_array(a)


def _without_nan_along(a, axis, function, keepdims=False):
    """What a function makes of the elements that are not NaN; of each row or column, if there are two dimensions."""
    a = _plain(a)
    if isinstance(a, _Matrix):
        return function(a.flatten()) if axis is None and not keepdims else a._reduced(axis, keepdims, function)
    _one_axis(axis)
    return _in_dimension(function(a), keepdims)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False):
    _no_out(out)
    a = _typed(_plain(a), dtype)
    if isinstance(a, _Matrix):
        return sum(_each(_instead, a, 0.0) if a._code == 0 else a, axis, None, None, keepdims)
    _one_axis(axis)
    a = _of_numbers(a)
    return _in_dimension(_Number(_sum_present(a)) if a._code == 0 else a.sum(), keepdims)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    _no_out(out)
    _only_floats(dtype)
    a = _plain(a)
    if not isinstance(a, _Matrix):
        _one_axis(axis)
        a, count = _counted(a)
        return _in_dimension(_Number(_mean_of(a, count)), keepdims)
    if a._code != 0:
        return mean(a, axis, None, None, keepdims)
    a = a._kept()
    counts = sum(a == a, axis, None, None, keepdims)
    if count_nonzero(counts == 0).item() > 0 if isinstance(counts, ndarray) else counts.item() == 0:
        return _leave("nothing but NaN")
    return nansum(a, axis, None, None, keepdims) / counts


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False):
    a = _plain(a)
    return prod(_each(_instead, a, 1.0) if a._code == 0 else a, axis, dtype, out, keepdims)


def nanmax(a, axis=None, out=None, keepdims=False):
    _no_out(out)
    return _without_nan_along(a, axis, lambda line: _without_nan(line).max(), keepdims)


def nanmin(a, axis=None, out=None, keepdims=False):
    _no_out(out)
    return _without_nan_along(a, axis, lambda line: _without_nan(line).min(), keepdims)


def nanargmax(a, axis=None):
    return _without_nan_along(a, axis, lambda line: _counted(line)[0]._filled(-_inf).argmax())


def nanargmin(a, axis=None):
    return _without_nan_along(a, axis, lambda line: _counted(line)[0]._filled(_inf).argmin())


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    _no_out(out)
    if axis is None:
        return _without_nan_along(a, None, _present_median, keepdims)
    return _without_nan_along(a, axis, _halved_median, keepdims)


def _present_median(line):
    return _median(_floats_of(_without_nan(line)))


def _halved_median(line):
    """Along an axis NumPy halves a sum of two in any case, which may be too large."""
    made = _present_median(line)
    return made if -8e307 < made._v < 8e307 else _leave("a median of large floats")


def nanpercentile(a, q, axis=None, method="linear"):
    if isinstance(q, (ndarray, list, tuple)):
        return percentile(_one_line(a, axis), q, None, method)
    return _without_nan_along(a, axis, lambda line: percentile(_without_nan(line), q, None, method))


def nanquantile(a, q, axis=None, method="linear"):
    if isinstance(q, (ndarray, list, tuple)):
        return quantile(_one_line(a, axis), q, None, method)
    return _without_nan_along(a, axis, lambda line: quantile(_without_nan(line), q, None, method))


def _one_line(a, axis):
    """The elements that are not NaN of an array of one dimension."""
    a = _plain(a)
    if isinstance(a, _Matrix):
        return _refuse("several quantiles without NaN of two dimensions")
    _one_axis(axis)
    return _without_nan(a)
