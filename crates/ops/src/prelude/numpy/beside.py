

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
    if isinstance(a, _Matrix):
        a._by_rows()
    reps = reps if isinstance(reps, tuple) else (reps,)
    if len(reps) == 0:
        return _leave("tile no times")
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
