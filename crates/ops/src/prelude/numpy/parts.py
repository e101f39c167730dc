

# Parts of arrays, and arrays that others are part of.


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
        _one_axis(axis)
        a = _flat_of(a)._kept()
        return _fresh([a._value(i) for i in _deleted(obj, a._n)], a._code)
    a._by_rows()
    a = a._kept()
    if _goes_across(axis):
        if isinstance(obj, (list, tuple)) and len(obj) == 1:
            return delete(a, obj[0], axis)
        left = _deleted(obj, a._n1)
        if not isinstance(obj, (int, _Number)):
            if _listed(obj)._n == 1:
                return _leave("the deletion of one column by an array")
            # The columns then lie one after the other, as NumPy has them.
            return _chosen_columns(a, left)
        return _matrix([a._value2(i, j) for i in range(a._n0) for j in left], a._n0, len(left), a._code)
    left = _deleted(obj, a._n0)
    return _matrix([a._value2(i, j) for i in left for j in range(a._n1)], len(left), a._n1, a._code)


def extract(condition, arr):
    condition = _flat_of(condition)
    return _flat_of(arr)[condition if condition._code == 2 else condition != 0]


def compress(condition, a, axis=None):
    a = _no_series(a)
    if isinstance(a, _Matrix) and axis is not None:
        return _refuse("parts along an axis by a mask")
    _one_axis(axis)
    return extract(_one_dimension(_no_series(condition)), a)


def take(a, indices, axis=None):
    a = _no_series(a)
    if isinstance(a, _Matrix) and axis is not None:
        return _taken(a._kept(), indices, _goes_across(axis))
    _one_axis(axis)
    a = _flat_of(a)
    if isinstance(indices, (int, _Number)):
        return a[indices]
    key = _no_series(indices)
    return a[key] if key._code == 1 else _refuse("take by what is no int")


def _taken(a, indices, across):
    if isinstance(indices, (int, _Number)):
        at = _index_of(indices)
        return a._column(at)._own() if across else a._row(at)._own()
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


def _chosen_columns(a, columns):
    """Those columns, which then lie one after the other, as NumPy has them."""
    return _matrix_by_columns([a._value2(i, j) for j in columns for i in range(a._n0)], a._n0, len(columns), a._code)


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
    return _matrix_by_columns(rows._list() + columns._list(), rows._n, 2, 1)


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
    if not isinstance(m, _Matrix):
        return _refuse("a triangle of one dimension")
    _check_offset(k)
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
    _check_offset(k)
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
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        return _refuse("pad by such a mode")
    edge = mode != "constant"
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
            return _fresh([a._value(_inside(i, n, mode)) for i in rows], a._code)
        return _fresh([a._value(i) if 0 <= i < n else value for i in rows], a._code)
    two = isinstance(pad_width, tuple) and len(pad_width) == 2 and isinstance(pad_width[0], tuple)
    if two and not isinstance(pad_width[1], tuple):
        return _leave("such widths")
    above, below = _widths(pad_width[0] if two else pad_width)
    left, right = _widths(pad_width[1] if two else pad_width)
    a._by_rows()
    n0, n1 = a._n0, a._n1
    if n0 == 0 or n1 == 0:
        return _leave("an array without elements")
    rows, columns = range(-above, n0 + below), range(-left, n1 + right)
    if edge:
        items = [a._value2(_inside(i, n0, mode), _inside(j, n1, mode)) for i in rows for j in columns]
    else:
        items = [a._value2(i, j) if 0 <= i < n0 and 0 <= j < n1 else value for i in rows for j in columns]
    return _matrix(items, above + n0 + below, left + n1 + right, a._code)


def _inside(i, n, mode):
    """The index of so many whose element stands at that place: an edge's, that behind a mirror, or that of a round."""
    if 0 <= i < n:
        return i
    if mode == "edge":
        return 0 if i < 0 else n - 1
    if mode == "wrap":
        return i % n
    # A mirror stands on the last element, or behind it.
    rest = 0 if mode == "reflect" else 1
    round = 2 * n - 2 + 2 * rest
    if round == 0:
        return 0
    at = i % round
    return at if at < n else round - at - rest
