

# Functions of arrays of two dimensions along an axis, arrays put beside each other, and their parts.
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
    items, n = [], 0
    if _goes_across(axis):
        for i in range(a._n0):
            line = function(a._row(i))._kept()
            n = line._n
            for j in range(n):
                items.append(line._value(j))
        return _matrix(items, a._n0, n, code)
    for j in range(a._n1):
        line = function(a._column(j))._kept()
        n = line._n
        for i in range(n):
            items.append(line._value(i))
    return _matrix([_item(items, j * n + i) for i in range(n) for j in range(a._n1)], n, a._n1, code)


def _shape_of_two(a):
    """Its number of rows and of columns; of one dimension it is a row."""
    return (a._n0, a._n1) if isinstance(a, _Matrix) else (1, a._n)


# Arrays beside each other.


def _in_two(arrays, of_one):
    """Arrays whose number is known as arrays of two dimensions, and the type that their elements become; `of_one`
    makes one of an array of one dimension."""
    if not isinstance(arrays, tuple):
        return _refuse("arrays whose number is not known")
    made, code = (), 3
    for array in arrays:
        array = _no_series(_as_part(array))
        array = array if isinstance(array, _Matrix) else of_one(array)
        array._by_rows()
        code = array._code if code == 3 else _common(code, array._code)
        made = made + (array._kept(),)
    return (made, code) if code != 3 else _refuse("an array of nothing")


def _not_in_two(a):
    return _leave("arrays of one and of two dimensions")


def _some_in_two(arrays):
    found = False
    if isinstance(arrays, tuple):
        for array in arrays:
            found = found or isinstance(array, _Matrix)
    return found


def _below(arrays, code):
    """Arrays of two dimensions, one below the other."""
    n0, n1, items = 0, None, []
    for array in arrays:
        n0 = n0 + array._n0
        n1 = _common_length(n1, array._n1)
        for i in range(array._n0):
            for j in range(array._n1):
                items.append(_coded(array._value2(i, j), code))
    return _matrix(items, n0, n1, code)


def _beside(arrays, code):
    """Arrays of two dimensions, one beside the other."""
    n0, n1, items = None, 0, []
    for array in arrays:
        n0 = _common_length(n0, array._n0)
        n1 = n1 + array._n1
    for i in range(n0):
        for array in arrays:
            for j in range(array._n1):
                items.append(_coded(array._value2(i, j), code))
    return _matrix(items, n0, n1, code)


def concatenate(arrays, axis=0):
    if _some_in_two(arrays):
        made, code = _in_two(arrays, _not_in_two)
        return _beside(made, code) if _goes_across(axis) else _below(made, code)
    _one_axis(axis)
    made, code = _unified(arrays)
    return _fresh(_elements_of(made, code), code)


def _parts(arrays):
    """Arrays whose number is known, where a number is an array of one."""
    if not isinstance(arrays, tuple):
        return _refuse("arrays whose number is not known")
    made = ()
    for array in arrays:
        made = made + (_as_part(array),)
    return made


def hstack(tup):
    return concatenate(_parts(tup), 1 if _some_in_two(tup) else 0)


def vstack(tup):
    if not _some_in_two(tup):
        return _of_tuples(tup)
    made, code = _in_two(tup, _as_row)
    return _below(made, code)


def column_stack(tup):
    made, code = _in_two(tup, _as_column)
    return _beside(made, code)


def stack(arrays, axis=0):
    if _some_in_two(arrays):
        return _refuse("more than two dimensions")
    made = _of_tuples(arrays)
    return made.T._own() if _goes_across(axis) else made


class _Columns:
    """`numpy.c_`."""

    def __getitem__(self, key):
        return column_stack(key if isinstance(key, tuple) else (key,))


class _EndToEnd:
    """`numpy.r_`."""

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        return _refuse("r_ of two dimensions") if _some_in_two(key) else concatenate(_parts(key))


c_ = _Columns()
r_ = _EndToEnd()


def append(arr, values, axis=None):
    if axis is None:
        return concatenate((_flat_of(arr), _flat_of(_as_part(values))))
    return concatenate((arr, values), axis)


def _flat_of(a):
    a = _no_series(a)
    return a.ravel() if isinstance(a, _Matrix) else a


def tile(A, reps):
    a = _no_series(A)
    reps = reps if isinstance(reps, tuple) else (reps,)
    if len(reps) == 1 and not isinstance(a, _Matrix):
        items = a._list()
        return _fresh([item for _ in range(_size_of(reps[0])) for item in items], a._code)
    if len(reps) > 2:
        return _refuse("more than two dimensions")
    down, across = (1, _size_of(reps[0])) if len(reps) == 1 else (_size_of(reps[0]), _size_of(reps[1]))
    n0, n1 = _shape_of_two(a)
    a = a._kept() if isinstance(a, _Matrix) else _as_row(a)
    items = [a._value2(i, j) for _ in range(down) for i in range(n0) for _ in range(across) for j in range(n1)]
    return _matrix(items, down * n0, across * n1, a._code)


def repeat(a, repeats, axis=None):
    a = _no_series(a)
    if not isinstance(a, _Matrix):
        _one_axis(axis)
        return _fresh([item for item in a._list() for _ in range(_size_of(repeats))], a._code)
    n, a = _size_of(repeats), a._kept()
    if axis is None:
        return _fresh([item for item in a._flat() for _ in range(n)], a._code)
    if _goes_across(axis):
        items = [a._value2(i, j) for i in range(a._n0) for j in range(a._n1) for _ in range(n)]
        return _matrix(items, a._n0, a._n1 * n, a._code)
    items = [a._value2(i, j) for i in range(a._n0) for _ in range(n) for j in range(a._n1)]
    return _matrix(items, a._n0 * n, a._n1, a._code)


def meshgrid(x, y):
    x, y = _one_dimension(_no_series(x))._kept(), _one_dimension(_no_series(y))._kept()
    across = [x._value(j) for _ in range(y._n) for j in range(x._n)]
    down = [y._value(i) for i in range(y._n) for _ in range(x._n)]
    return _matrix(across, y._n, x._n, x._code), _matrix(down, y._n, x._n, y._code)


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


def expand_dims(a, axis):
    a = _one_dimension(_no_series(a))
    return _as_column(a) if _goes_across(axis) else _as_row(a)


def atleast_1d(a):
    return _no_series(_as_part(a))


def atleast_2d(a):
    a = _no_series(_as_part(a))
    return a if isinstance(a, _Matrix) else _as_row(a)


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
        return a._own()
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


def ediff1d(ary):
    return diff(_flat_of(ary))


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
    return a._reduced(axis, False, lambda line: _Number(_scalar_of(func1d(line))))


def _without_nan_along(a, axis, function):
    """What a function makes of the elements that are not NaN; of each row or column, if there are two dimensions."""
    a = _no_series(a)
    if isinstance(a, _Matrix):
        return function(a.flatten()) if axis is None else a._reduced(axis, False, function)
    _one_axis(axis)
    return function(a)


def nansum(a, axis=None):
    a = _no_series(a)
    if isinstance(a, _Matrix):
        return _each(_instead, a, 0.0).sum(axis) if a._code == 0 else a.sum(axis)
    _one_axis(axis)
    a = _of_numbers(a)
    return _Number(_sum_present(a)) if a._code == 0 else a.sum()


def nanmean(a, axis=None):
    a = _no_series(a)
    if not isinstance(a, _Matrix):
        _one_axis(axis)
        a, count = _counted(a)
        return _Number(_mean_of(a, count))
    if a._code != 0:
        return a.mean(axis)
    a = a._kept()
    counts = count_nonzero(a == a, axis)
    if count_nonzero(counts == 0).item() > 0 if isinstance(counts, ndarray) else counts.item() == 0:
        return _leave("nothing but NaN")
    return nansum(a, axis) / counts


def nanmax(a, axis=None):
    return _without_nan_along(a, axis, lambda line: _without_nan(line).max())


def nanmin(a, axis=None):
    return _without_nan_along(a, axis, lambda line: _without_nan(line).min())


def nanmedian(a, axis=None):
    return _without_nan_along(a, axis, lambda line: _median(_floats_of(_without_nan(line))))


def nanpercentile(a, q, axis=None, method="linear"):
    return _without_nan_along(a, axis, lambda line: percentile(_without_nan(line), _number_of(q), None, method))


def nanquantile(a, q, axis=None, method="linear"):
    return _without_nan_along(a, axis, lambda line: quantile(_without_nan(line), _number_of(q), None, method))


def _number_of(q):
    return _refuse("several quantiles without NaN") if isinstance(q, (ndarray, list, tuple)) else q


# Parts.


def _all_but(places, n):
    """The indices of so many that are not among those."""
    gone = [False for _ in range(n)]
    for at in places:
        gone[at] = True
    return [i for i in range(n) if not gone[i]]


def _deleted(obj, n):
    """The indices of so many that are left without some."""
    if isinstance(obj, (int, _Number)) and not isinstance(obj, bool):
        return _all_but([_within(_index_of(obj), n)], n)
    obj = _listed(obj)
    if not isinstance(obj, ndarray) or isinstance(obj, _Matrix):
        return _refuse("a deletion of such a kind")
    if obj._n == 0 and obj._code == 0:
        return _leave("a deletion of nothing")
    return _all_but(_places(obj._kept(), n), n)


def delete(arr, obj, axis=None):
    a = _no_series(arr)
    if not isinstance(a, _Matrix) or axis is None:
        a = _flat_of(a)._kept()
        return _fresh([a._value(i) for i in _deleted(obj, a._n)], a._code)
    a._by_rows()
    a = a._kept()
    if _goes_across(axis):
        left = _deleted(obj, a._n1)
        return _matrix([a._value2(i, j) for i in range(a._n0) for j in left], a._n0, len(left), a._code)
    left = _deleted(obj, a._n0)
    return _matrix([a._value2(i, j) for i in left for j in range(a._n1)], len(left), a._n1, a._code)


def take(a, indices, axis=None):
    a = _no_series(a)
    if isinstance(a, _Matrix) and axis is not None:
        return _taken(a._kept(), indices, _goes_across(axis))
    _one_axis(axis)
    a = _flat_of(a)
    return a[indices if isinstance(indices, (int, ndarray, _Number)) else _of_items(indices)]


def _taken(a, indices, across):
    if isinstance(indices, (int, _Number)):
        return a._column(_index_of(indices)) if across else a._row(_index_of(indices))
    key = _no_series(indices)
    if key._code == 2:
        return _refuse("take by bools")
    if across:
        columns = _places(key, a._n1)
        return _matrix([a._value2(i, j) for i in range(a._n0) for j in columns], a._n0, len(columns), a._code)
    return a._chosen(key)


def _chosen_pairs(a, rows, columns):
    """The elements at pairs of indices, or at those of one row or column."""
    if not isinstance(columns, ndarray):
        j = _within(_index_of(columns), a._n1)
        return _fresh([a._value2(i, j) for i in _places(rows, a._n0)], a._code)
    if not isinstance(rows, ndarray):
        i = _within(_index_of(rows), a._n0)
        return _fresh([a._value2(i, j) for j in _places(columns, a._n1)], a._code)
    if rows._code == 2 or columns._code == 2:
        return _refuse("a mask beside indices")
    rows, columns = _places(rows, a._n0), _places(columns, a._n1)
    if len(rows) != len(columns):
        return _leave("other numbers of rows and of columns")
    return _fresh([a._value2(_item(rows, at), _item(columns, at)) for at in range(len(rows))], a._code)


def _chosen_columns(a, key):
    """Columns at indices, which then lie one after the other, as NumPy has them."""
    columns = _places(key, a._n1)
    items = [a._value2(i, j) for j in columns for i in range(a._n0)]
    return _Matrix(items, 0, (1, a._n0), (a._n0, len(columns)), a._code)._as_turned(True)


def nonzero(a):
    a = _no_series(a)
    if not isinstance(a, _Matrix):
        return (flatnonzero(a),)
    a = a._kept()
    rows = [i for i in range(a._n0) for j in range(a._n1) if a._value2(i, j) != 0]
    columns = [j for i in range(a._n0) for j in range(a._n1) if a._value2(i, j) != 0]
    return (_fresh(rows, 1), _fresh(columns, 1))


def argwhere(a):
    found = nonzero(a)
    if len(found) == 1:
        return _as_column(found[0])
    rows, columns = found
    return _Matrix(rows._list() + columns._list(), 0, (1, rows._n), (rows._n, 2), 1)._as_turned(True)


def unique(a, return_index=False, return_inverse=False, return_counts=False):
    a = _no_series(a)
    if not isinstance(a, _Matrix):
        return _unique(a, return_index, return_inverse, return_counts)
    if return_inverse:
        return _refuse("unique with such arguments")
    return _unique(a.flatten(), return_index, False, return_counts)


def array_equal(a1, a2):
    a1, a2 = _no_series(a1), _no_series(a2)
    if isinstance(a1, _Matrix) != isinstance(a2, _Matrix) or len(a1) != len(a2):
        return False
    if isinstance(a1, _Matrix) and a1._n1 != a2._n1:
        return False
    return (a1 == a2).all().item()


def _triangle(m, k, upper):
    m = _no_series(m)
    if not isinstance(m, _Matrix) or isinstance(k, bool) or not isinstance(k, int):
        return _refuse("such a triangle")
    m._by_rows()
    m = m._kept()
    zero = _zero_of(m)
    items = [
        m._value2(i, j) if (j - i >= k if upper else j - i <= k) else zero for i in range(m._n0) for j in range(m._n1)
    ]
    return _matrix(items, m._n0, m._n1, m._code)


def _zero_of(a):
    return False if a._code == 2 else a._as_item(0)


def triu(m, k=0):
    return _triangle(m, k, True)


def tril(m, k=0):
    return _triangle(m, k, False)


def fill_diagonal(a, val):
    if not isinstance(a, _Matrix) or isinstance(val, (ndarray, list, tuple)):
        return _refuse("such a diagonal")
    a = a._changing()
    value = a._as_item(val)
    for i in range(_fewer(a._n0, a._n1)):
        a._store2(i, i, value)


def diag(v, k=0):
    v = _no_series(v)
    if isinstance(v, _Matrix):
        # A view that cannot be written to, as `diagonal` gives.
        return v.diagonal(k)
    if isinstance(k, bool) or not isinstance(k, int):
        return _refuse("such a diagonal")
    v = v._kept()
    down, across = (0, k) if k >= 0 else (-k, 0)
    n, zero = v._n + down + across, _zero_of(v)
    items = [
        v._value(i - down) if i - down == j - across and 0 <= i - down < v._n else zero for i in range(n) for j in range(n)
    ]
    return _matrix(items, n, n, v._code)


def _widths(width):
    """How many are put before and behind."""
    if isinstance(width, tuple):
        if len(width) == 1:
            return _widths(width[0])
        return (_size_of(width[0]), _size_of(width[1])) if len(width) == 2 else _refuse("such widths")
    return (_size_of(width), _size_of(width))


def pad(array, pad_width, mode="constant", constant_values=_missing):
    a = _no_series(array)._kept()
    if mode != "constant" and mode != "edge":
        return _refuse("pad by such a mode")
    edge = mode == "edge"
    if edge and not _is_missing(constant_values):
        return _leave("pad with an edge and a constant")
    value = _zero_of(a) if _is_missing(constant_values) else a._as_item(constant_values)
    if not isinstance(a, _Matrix):
        before, behind = _widths(pad_width)
        n = a._n
        if edge and n == 0:
            return _leave("the edge of nothing")
        rows = range(-before, n + behind)
        if edge:
            return _fresh([a._value(_nearest(i, n)) for i in rows], a._code)
        return _fresh([a._value(i) if 0 <= i < n else value for i in rows], a._code)
    two = isinstance(pad_width, tuple) and len(pad_width) == 2 and isinstance(pad_width[0], tuple)
    above, below = _widths(pad_width[0] if two else pad_width)
    left, right = _widths(pad_width[1] if two else pad_width)
    a._by_rows()
    n0, n1 = a._n0, a._n1
    if n0 == 0 or n1 == 0:
        return _leave("an array without elements")
    rows, columns = range(-above, n0 + below), range(-left, n1 + right)
    if edge:
        items = [a._value2(_nearest(i, n0), _nearest(j, n1)) for i in rows for j in columns]
    else:
        items = [a._value2(i, j) if 0 <= i < n0 and 0 <= j < n1 else value for i in rows for j in columns]
    return _matrix(items, above + n0 + below, left + n1 + right, a._code)


def _nearest(i, n):
    return 0 if i < 0 else i if i < n else n - 1


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
    made = []
    for k in range(first, first + count):
        # Of those below, those of `a` from k - m + 1 on that there are.
        low, high = k - m + 1 if k - m + 1 > 0 else 0, k + 1 if k + 1 < n else n
        at = low - (k - m + 1)
        made.append(_inner(_strided(a._items, a._start + low * a._step, a._step, high - low, a._code), turned[at : at + high - low]))
    return _fresh(made, a._code)


# Counts of what lies between edges.


def histogram(a, bins=10, range=None, density=None, weights=None):
    if density is not None or weights is not None:
        return _refuse("a histogram of such a kind")
    a = _floats_of(_of_numbers(_flat_of(a)))
    return _counts_between(a, bins) if isinstance(bins, (ndarray, list, tuple)) else _counts_of_equal(a, bins, range)


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
