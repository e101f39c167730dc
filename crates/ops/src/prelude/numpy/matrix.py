

# Arrays of two dimensions.


class _Matrix(ndarray):
    """Its items lie in one list: row i and column j at start + i * s0 + j * s1."""

    def __init__(self, items, start, steps, shape, code, function=None, args=None, one=(False, False)):
        self._items = items
        self._start = start
        self._s0, self._s1 = steps
        self._n0, self._n1 = shape
        self._code = code
        # Whether a dimension is one that is repeated beside others.
        self._one0, self._one1 = one
        # Whether the elements of a column may lie closer together than those of a row.
        self._turned = False
        # Of one without items that may be turned: whether its items will lie column after column.
        self._by_columns = False
        self._function = function
        self._args = args

    # What only knows one dimension.

    @property
    def _n(self):
        return _refuse("such a function of two dimensions")

    def _at(self, i):
        return _refuse("such a function of two dimensions")

    def _list(self):
        return _refuse("such a function of two dimensions")

    def _compact(self):
        return _refuse("such a function of two dimensions")

    def __contains__(self, item):
        return _refuse("such a function of two dimensions")

    # Elements.

    def _at2(self, i, j):
        if self._function is None:
            i = 0 if self._one0 else i
            j = 0 if self._one1 else j
            return _lane(_item(self._items, self._start + i * self._s0 + j * self._s1), 1)
        made = ()
        for arg in self._args:
            if isinstance(arg, _Matrix):
                made = made + (arg._at2(i, j),)
            else:
                made = made + (arg._at(j) if isinstance(arg, ndarray) else arg,)
        return self._function(*made)

    def _value2(self, i, j):
        return self._at2(i, j)._v

    def _flat(self):
        """Its elements, row after row."""
        return [self._value2(i, j) for i in range(self._n0) for j in range(self._n1)]

    def _kept(self):
        if self._function is not None:
            if self._turned and self._by_columns:
                items = [self._value2(i, j) for j in range(self._n1) for i in range(self._n0)]
                self._s0, self._s1 = 1, self._n0
            else:
                items = self._flat()
                self._s0, self._s1 = self._n1, 1
            self._items = items
            self._function = None
            self._args = None
        return self

    def _as_turned(self, turned):
        self._turned = turned
        return self

    def _own(self):
        return _matrix(self._flat(), self._n0, self._n1, self._code)

    def _in_sql(self):
        return [[self._value2(i, j) for j in range(self._n1)] for i in range(self._n0)]

    def _direction(self):
        """Whether its rows lie one after the other (1), its columns (-1), or both (0)."""
        if self._n0 == 1 or self._n1 == 1 or self._one0 or self._one1:
            return 0
        if not self._turned:
            return 1
        if self._function is not None:
            return -1 if self._by_columns else 1
        return -1 if _distance(self._s0) < _distance(self._s1) else 1

    def _by_rows(self):
        """Columns that lie one after the other stay so in results of NumPy's."""
        if self._turned and self._direction() < 0:
            return _leave("columns that lie one after the other")

    def _lies_together(self):
        """Whether its elements lie row after row, with nothing in between."""
        return (self._n1 == 1 or self._s1 == 1) and (self._n0 == 1 or self._s0 == self._n1)

    def _in_memory(self):
        """All elements in the order in which NumPy's reductions take them: as they lie."""
        kept = self._kept()
        n = kept._n0 * kept._n1
        if kept._lies_together() or kept._turned and kept._s0 == 1 and kept._s1 == kept._n0:
            return _strided(kept._items, kept._start, 1, n, kept._code)
        if kept._code == 0 and n > 8192:
            return _leave("a function of all elements of so large a part")
        # Those of a part with gaps go through NumPy's buffer, of 8,192 elements.
        if kept._turned and kept._direction() < 0:
            return _strided([kept._value2(i, j) for j in range(kept._n1) for i in range(kept._n0)], 0, 1, n, kept._code)
        return _strided(kept._flat(), 0, 1, n, kept._code)

    @property
    def shape(self):
        return (self._n0, self._n1)

    @property
    def size(self):
        return self._n0 * self._n1

    @property
    def ndim(self):
        return 2

    @property
    def T(self):
        kept = self._kept()
        made = _Matrix(kept._items, kept._start, (kept._s1, kept._s0), (kept._n1, kept._n0), kept._code)
        return made._as_turned(True)

    def transpose(self):
        return self.T

    def _view(self):
        kept = self._kept()
        made = _Matrix(kept._items, kept._start, (kept._s0, kept._s1), (kept._n0, kept._n1), kept._code)
        return made._as_turned(kept._turned)

    def __len__(self):
        return self._n0

    def __bool__(self):
        return _leave("the truth of an array")

    def __iter__(self):
        kept = self._kept()
        for i in range(kept._n0):
            yield kept._row(i)

    # Parts.

    def _row(self, i):
        kept = self._kept()
        start = kept._start + _within(i, kept._n0) * kept._s0
        return _strided(kept._items, start, kept._s1, kept._n1, kept._code)

    def _column(self, j):
        kept = self._kept()
        start = kept._start + _within(j, kept._n1) * kept._s1
        return _strided(kept._items, start, kept._s0, kept._n0, kept._code)

    def _rows(self, start, stop, step):
        kept = self._kept()
        start, step, n = _steps(start, stop, step, kept._n0)
        steps, shape = (step * kept._s0, kept._s1), (n, kept._n1)
        made = _Matrix(kept._items, kept._start + start * kept._s0, steps, shape, kept._code)
        return made._as_turned(kept._turned)

    def __getitem__(self, key):
        if isinstance(key, tuple):
            return self.__getparts__(_as_parts(key))
        if key is None or isinstance(key, bool):
            return _leave("such a part of two dimensions")
        if isinstance(key, (int, _Number)):
            return self._row(_index_of(key))
        key = _listed(key)
        if isinstance(key, _Matrix):
            return self._masked(key)
        if isinstance(key, ndarray):
            return self._chosen(key._kept())
        return _refuse("such a part of two dimensions")

    def _masked(self, key):
        if key._code != 2:
            return _refuse("rows at indices of two dimensions")
        kept, key = self._kept(), key._kept()
        if kept._n0 != key._n0 or kept._n1 != key._n1:
            return _leave("a mask of another shape")
        items = [kept._value2(i, j) for i in range(kept._n0) for j in range(kept._n1) if key._value2(i, j)]
        return _fresh(items, kept._code)

    def _chosen(self, key):
        kept = self._kept()
        rows = _places(key, kept._n0)
        return _matrix([kept._value2(i, j) for i in rows for j in range(kept._n1)], len(rows), kept._n1, kept._code)

    def __getpart__(self, start, stop):
        return self._rows(start, stop, None)

    def __getslice__(self, start, stop, step):
        return self._rows(start, stop, step)

    def __getparts__(self, parts):
        if len(parts) == 1:
            parts = parts + ((True, None, None, None),)
        if len(parts) != 2:
            return _leave("a part of more dimensions")
        rows, columns = parts
        if not rows[0] and isinstance(rows[1], (ndarray, list)):
            chosen = _no_series(rows[1])
            if columns[0]:
                return self._chosen(chosen).__getparts__(((True, None, None, None), columns))._own()
            return _chosen_pairs(self._kept(), chosen, _listed(columns[1]))
        if not columns[0] and isinstance(columns[1], (ndarray, list)):
            chosen = _no_series(columns[1])
            if not rows[0]:
                return _chosen_pairs(self._kept(), rows[1], chosen)
            return _chosen_columns(self._rows(rows[1], rows[2], rows[3]), _places(chosen, self._n1))
        made = self._rows(rows[1], rows[2], rows[3]) if rows[0] else self._row(_index_of(rows[1]))
        if not columns[0]:
            at = _index_of(columns[1])
            return made._column(at) if rows[0] else made[at]
        if not rows[0]:
            return made._part(columns[1], columns[2], columns[3])
        start, step, n = _steps(columns[1], columns[2], columns[3], made._n1)
        steps, shape = (made._s0, step * made._s1), (made._n0, n)
        part = _Matrix(made._items, made._start + start * made._s1, steps, shape, made._code)
        return part._as_turned(made._turned)

    def __setitem__(self, key, value):
        kept = self._changing()
        if isinstance(key, tuple):
            kept.__setparts__(_as_parts(key), value)
        elif isinstance(key, (int, _Number)) and not isinstance(key, bool):
            kept._row(_index_of(key))._take(value)
        elif isinstance(key, _Matrix) and key._code == 2 and not isinstance(value, ndarray):
            key = key._kept()
            if kept._n0 != key._n0 or kept._n1 != key._n1:
                return _leave("a mask of another shape")
            value = kept._as_item(value)
            for i in range(kept._n0):
                for j in range(kept._n1):
                    if key._value2(i, j):
                        kept._store2(i, j, value)
        else:
            return _refuse("an assignment to such a part of two dimensions")

    def __setslice__(self, start, stop, step, value):
        self._changing()._rows(start, stop, step)._take(value)

    def __setparts__(self, parts, value):
        kept = self._changing()
        for part in parts:
            if not part[0] and isinstance(part[1], (ndarray, list, tuple)):
                return _refuse("an assignment to such a part of two dimensions")
        if len(parts) == 2 and not parts[0][0] and not parts[1][0]:
            i, j = _within(_index_of(parts[0][1]), kept._n0), _within(_index_of(parts[1][1]), kept._n1)
            kept._store2(i, j, kept._as_item(value))
        else:
            kept.__getparts__(parts)._take(value)

    def _store2(self, i, j, value):
        self._items[self._start + i * self._s0 + j * self._s1] = value

    def _take(self, value):
        if isinstance(value, ndarray):
            if not self._can_take(value):
                return _refuse("values of another type in an array")
            # They may be views of this one.
            items = _each(_first_of, value, _shaped(self._n0, self._n1))._flat()
            at = 0
            for i in range(self._n0):
                for j in range(self._n1):
                    self._store2(i, j, self._as_item(_item(items, at)))
                    at += 1
        else:
            value = self._as_item(value)
            for i in range(self._n0):
                for j in range(self._n1):
                    self._store2(i, j, value)

    def fill(self, value):
        if isinstance(value, ndarray):
            return _refuse("fill of an array")
        self._changing()._take(value)

    def _becomes(self, made):
        if made._code != self._code:
            return _refuse("an operation in place that changes the type of an array")
        if made._n0 != self._n0 or made._n1 != self._n1:
            return _leave("arrays of different shapes")
        self._take(made)
        return self

    # Methods.

    def copy(self):
        return self._own()

    def flatten(self):
        return _fresh(self._flat(), self._code)

    def squeeze(self, axis=None):
        if axis is not None:
            return _refuse("an axis that is taken away")
        if _is_constant(self._n1) and self._n1 == 1:
            return self._column(0) if self._n0 != 1 else _leave("an array of no dimension")
        if _is_constant(self._n0) and self._n0 == 1:
            return self._row(0) if self._n1 != 1 else _leave("an array of no dimension")
        return self._view() if self._n0 != 1 and self._n1 != 1 else _leave("a dimension of one")

    def ravel(self):
        kept = self._kept()
        n = kept._n0 * kept._n1
        if kept._lies_together():
            return _strided(kept._items, kept._start, 1, n, kept._code)
        return _strided(kept._flat(), 0, 1, n, kept._code)

    def tolist(self):
        return self._in_sql()

    def item(self, i=0):
        return _refuse("item of two dimensions")

    def sort(self, axis=-1):
        self._changing()._take(sort(self, axis))

    def _reduced(self, axis, keepdims, function, function_apart=None, in_memory=True):
        """Over all elements in the order in which they lie, over each row, or over each column; another function
        where the elements of one lie further apart than its neighbours."""
        if not isinstance(keepdims, bool) or isinstance(axis, bool) or not (axis is None or isinstance(axis, int)):
            return _refuse("such an axis")
        if axis is None:
            made = function(self._in_memory() if in_memory else self.ravel())
            return _alone(made._v) if keepdims else made
        if self._n0 == 0 or self._n1 == 0:
            return _leave("an axis of an array without elements")
        if function_apart is None:
            function_apart = function
        # The loop of NumPy goes along the rows or the columns, whichever are closer together.
        if axis == 1 or axis == -1:
            kept = self._kept()
            apart = kept._n0 != 1 and _distance(kept._s1) > _distance(kept._s0)
            made = [_reduced_line(kept._row(i), apart, function, function_apart) for i in range(kept._n0)]
        elif axis == 0 or axis == -2:
            kept = self._kept()
            apart = kept._n1 != 1 and _distance(kept._s0) > _distance(kept._s1)
            made = [_reduced_line(kept._column(j), apart, function, function_apart) for j in range(kept._n1)]
        else:
            return _leave("an axis that an array has not")
        made = _fresh(made, _code_of(function(_fresh([_sample(self._code)], self._code))._v))
        if not keepdims:
            return made
        return _as_column(made) if axis == 1 or axis == -1 else _as_row(made)

    def sum(self, axis=None, keepdims=False):
        return self._reduced(axis, keepdims, lambda a: a.sum(), _sum_apart)

    def mean(self, axis=None, keepdims=False):
        if self._code != 0:
            return self._reduced(axis, keepdims, lambda a: a.mean())
        return self.sum(axis, keepdims) / _operation("int.to_float", self._count_along(axis))

    def _count_along(self, axis):
        """How many elements are added to one."""
        return self._n0 * self._n1 if axis is None else self._n0 if axis == 0 or axis == -2 else self._n1

    def diagonal(self, offset=0):
        _check_offset(offset)
        kept = self._kept()
        i, j = (0, offset) if offset >= 0 else (-offset, 0)
        n = _fewer(kept._n0 - i, kept._n1 - j)
        first = kept._start + i * kept._s0 + j * kept._s1
        return _fixed(_strided(kept._items, first, kept._s0 + kept._s1, n if n > 0 else 0, kept._code))

    def trace(self, offset=0):
        return self.diagonal(offset).sum()

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        _no_out(out)
        _only_floats(dtype)
        if axis is None and not keepdims and self._code != 0:
            return self._in_memory().var(ddof=ddof)
        n = _freedom(self._count_along(axis), ddof)
        kept = self._kept()
        distance = (kept - kept.mean(axis, True))._kept()
        return (distance * distance).sum(axis, keepdims) / _operation("int.to_float", n if n > 0 else 0)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        return sqrt(self.var(axis, dtype, out, ddof, keepdims))

    def prod(self, axis=None, keepdims=False):
        return self._reduced(axis, keepdims, lambda a: a.prod())

    def min(self, axis=None, keepdims=False, initial=_missing):
        return self._reduced(axis, keepdims, lambda a: a.min(initial=initial), None, False)

    def max(self, axis=None, keepdims=False, initial=_missing):
        return self._reduced(axis, keepdims, lambda a: a.max(initial=initial), None, False)

    def argmin(self, axis=None):
        return self._reduced(axis, False, lambda a: a.argmin(), None, False)

    def argmax(self, axis=None):
        return self._reduced(axis, False, lambda a: a.argmax(), None, False)

    def any(self, axis=None, keepdims=False):
        return self._reduced(axis, keepdims, lambda a: a.any(), None, False)

    def all(self, axis=None, keepdims=False):
        return self._reduced(axis, keepdims, lambda a: a.all(), None, False)

    def cumsum(self, axis=None):
        code = 1 if self._code == 2 else self._code
        return self.ravel().cumsum() if axis is None else _along(self, axis, code, lambda a: a.cumsum())

    def cumprod(self, axis=None):
        code = 1 if self._code == 2 else self._code
        return self.ravel().cumprod() if axis is None else _along(self, axis, code, lambda a: a.cumprod())

    def swapaxes(self, axis1, axis2):
        return swapaxes(self, axis1, axis2)


def _check_offset(k):
    """Of a diagonal."""
    if isinstance(k, bool) or not isinstance(k, int):
        return _refuse("such a diagonal")
    if not -2147483648 < k < 2147483648:
        return _leave("a diagonal so far away")


def _fewer(a, b):
    return a if a < b else b


def diagonal(a, offset=0):
    a = _no_series(a)
    return a.diagonal(offset) if isinstance(a, _Matrix) else _refuse("a diagonal of one dimension")


def trace(a, offset=0):
    a = _no_series(a)
    return a.trace(offset) if isinstance(a, _Matrix) else _refuse("a trace of one dimension")


def _distance(step):
    return -step if step < 0 else step


def _reduced_line(line, apart, function, function_apart):
    return function_apart(line)._v if apart else function(line)._v


def _sum_apart(a):
    """The sum of elements that are added one by one."""
    if a._code != 0:
        return a.sum()
    total = 0.0
    for i in range(a._n):
        total = total + a._value(i)
    return _Number(total)


def _first_of(a, b):
    return _lane(a._v, 1)


def _matrix(items, n0, n1, code):
    return _Matrix(items, 0, (n1, 1), (n0, n1), code)


def _matrix_by_columns(items, n0, n1, code):
    """One whose items lie column after column."""
    return _Matrix(items, 0, (1, n0), (n0, n1), code)._as_turned(True)


def _alone(value):
    """An array of two dimensions of one element."""
    return _Matrix([value], 0, (0, 0), (1, 1), _code_of(value), None, None, (True, True))


def _shaped(n0, n1):
    """One that only has a shape."""
    return _Matrix([0.0], 0, (0, 0), (n0, n1), 0)


def _as_column(a):
    a = a._kept()
    return _Matrix(a._items, a._start, (a._step, 0), (a._n, 1), a._code, None, None, (False, True))


def _as_row(a):
    a = a._kept()
    return _Matrix(a._items, a._start, (0, a._step), (1, a._n), a._code, None, None, (True, False))


def _index_of(key):
    if isinstance(key, _Number):
        return key.__index__()
    if isinstance(key, bool) or not isinstance(key, int):
        return _refuse("such a part of two dimensions")
    return key


def _as_parts(key):
    parts = ()
    for one in key:
        parts = parts + ((False, one),)
    return parts


def _each_of_two(function, args):
    """What an elementwise function makes of arrays of which one has two dimensions."""
    n0, n1 = None, None
    for arg in args:
        if isinstance(arg, _Matrix):
            if not arg._one0:
                n0 = _common_length(n0, arg._n0)
            if not arg._one1:
                n1 = _common_length(n1, arg._n1)
        elif isinstance(arg, ndarray):
            if arg._kind != 1:
                return _refuse("a Series and an array of two dimensions")
            n1 = _common_length(n1, arg._n)
        elif isinstance(arg, _Lane) and arg._kind != 0:
            return _refuse("an array and a column")
    shape, one = (1 if n0 is None else n0, 1 if n1 is None else n1), (n0 is None, n1 is None)
    made = _Matrix(None, 0, (shape[1], 1), shape, _code_made(function, args), function, args, one)
    if _may_be_turned(args):
        # NumPy has the result lie as the operands do, where they agree.
        rows, columns = False, False
        for arg in args:
            if isinstance(arg, _Matrix):
                direction = arg._direction()
                rows, columns = rows or direction > 0, columns or direction < 0
        if rows and columns:
            return _leave("rows that lie one after the other beside columns that do")
        made._turned = True
        made._by_columns = columns
    return made


def _may_be_turned(args):
    turned = False
    for arg in args:
        turned = turned or isinstance(arg, _Matrix) and arg._turned
    return turned


def _common_length(n, other):
    if n is None or n == other:
        return other
    return _leave("arrays of different shapes")


def _of_rows(rows, code):
    """Of an array of arrays of SQL."""
    n0 = len(rows)
    if n0 == 0:
        return _leave("an array without rows")
    for row in rows:
        if row is None:
            return _leave("a row that is NULL")
    n1 = len(rows[0])
    for row in rows:
        if len(row) != n1:
            return _leave("rows of different lengths")
    items = [item for row in rows for item in row]
    if code == 0:
        return _matrix([_nan if item is None else item for item in items], n0, n1, 0)
    return _matrix([_coded(_present(item), code) for item in items], n0, n1, code)


def _of_tuples(rows):
    """Of rows whose number is known, each an array, a list or a tuple."""
    made, code = _unified(rows)
    n1 = None
    for row in made:
        n1 = _common_length(n1, row._n)
    return _matrix(_elements_of(made, code), len(made), n1, code)


def transpose(a):
    return a.T if isinstance(a, ndarray) else _refuse("transpose of what is no array")


def reshape(a, shape):
    return _reshaped(_no_series(a), shape)


def _reshaped(a, shape):
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, tuple):
        return _refuse("such a shape")
    if isinstance(a, _Matrix) and not a._kept()._lies_together():
        # It may be a view all the same.
        return _leave("reshape of such a part")
    flat = a.ravel()
    if len(shape) == 1:
        if shape[0] != -1 and shape[0] != flat._n:
            return _leave("another number of elements")
        return flat
    if len(shape) != 2:
        return _refuse("more than two dimensions")
    n0, n1 = shape
    if isinstance(n0, bool) or isinstance(n1, bool) or not isinstance(n0, int) or not isinstance(n1, int):
        return _refuse("such a shape")
    n0, n1 = _left_over(n0, n1, flat._n), _left_over(n1, n0, flat._n)
    if n0 < 0 or n1 < 0 or n0 * n1 != flat._n:
        return _leave("another number of elements")
    flat = flat._kept()
    return _Matrix(flat._items, flat._start, (n1, 1), (n0, n1), flat._code)


def _left_over(n, other, size):
    """A dimension, where -1 stands for what the other leaves."""
    if n != -1:
        return n
    return size // other if other > 0 and size % other == 0 else _leave("another number of elements")


def eye(N):
    n = _size_of(N)
    return _matrix([1.0 if i == j else 0.0 for i in range(n) for j in range(n)], n, n, 0)


def identity(n):
    return eye(n)


def ravel(a):
    return _no_series(a).ravel()


def squeeze(a, axis=None):
    return _no_series(a).squeeze(axis)


def kron(a, b):
    a, b = _one_dimension(_no_series(a)), _one_dimension(_no_series(b))
    return outer(a, b).ravel()


def cross(a, b):
    """Of vectors in space."""
    a, b = _of_numbers(a), _of_numbers(b)
    if a._n != 3 or b._n != 3:
        return _leave("a cross product of other than vectors in space")
    if a._code != b._code:
        a, b = _floats_of(a), _floats_of(b)
    x, y, z = _Number(a._value(0)), _Number(a._value(1)), _Number(a._value(2))
    u, v, w = _Number(b._value(0)), _Number(b._value(1)), _Number(b._value(2))
    return _of_tuple((y * w - z * v, z * u - x * w, x * v - y * u))


def outer(a, b):
    return _as_column(_one_dimension(_no_series(a))) * _as_row(_one_dimension(_no_series(b)))


# Sums of products, whose last bits are others in NumPy (`ufunc.dot`, `ufunc.products`).


def _inner(a, b):
    """The sum of the products of two arrays of one dimension."""
    if a._n != b._n:
        return _leave("arrays of different lengths")
    if a._code != b._code or a._code == 2:
        return _refuse("products of arrays of different types")
    if a._code == 1:
        return _total(a * b)
    return _operation("ufunc.dot", a._compact(), b._compact())


def dot(a, b):
    if isinstance(a, (float, int, _Number)) or isinstance(b, (float, int, _Number)):
        return multiply(a, b)
    return matmul(a, b)


def matmul(x1, x2, /):
    a, b = _factor(x1), _factor(x2)
    if not isinstance(a, _Matrix) and not isinstance(b, _Matrix):
        return _Number(_inner(a, b))
    if a._code != b._code or a._code == 2:
        return _refuse("products of arrays of different types")
    rows, inner = (a._n0, a._n1) if isinstance(a, _Matrix) else (1, a._n)
    others, columns = (b._n0, b._n1) if isinstance(b, _Matrix) else (b._n, 1)
    if inner != others:
        return _leave("arrays of different shapes")
    if a._code == 0:
        items = _operation("ufunc.products", _row_by_row(a), _row_by_row(b), rows, inner, columns)
    else:
        items = [_total(_row_of(a, i) * _column_of(b, j)) for i in range(rows) for j in range(columns)]
    if isinstance(a, _Matrix) and isinstance(b, _Matrix):
        return _matrix(items, rows, columns, a._code)
    return _fresh(items, a._code)


def _row_of(a, i):
    return a._row(i) if isinstance(a, _Matrix) else a


def _column_of(a, j):
    return a._column(j) if isinstance(a, _Matrix) else a


def _row_by_row(a):
    """The elements of an array in the order of its rows, as a list that is not changed."""
    if not isinstance(a, _Matrix):
        return a._compact()
    if a._start == 0 and a._lies_together() and len(a._items) == a._n0 * a._n1:
        return a._items
    return a._flat()


def _factor(a):
    return _no_series(a)._kept()


def inner(a, b, /):
    a, b = _factor(a), _factor(b)
    if isinstance(a, _Matrix) or isinstance(b, _Matrix):
        return _refuse("inner products of two dimensions")
    return matmul(a, b)


def vdot(a, b, /):
    return inner(a, b)


def _linalg_norm(x, ord=None, axis=None, keepdims=False):
    """`numpy.linalg.norm`."""
    x = _factor(x)
    if ord is not None and ord != 2:
        return _norm_of(x, ord, axis, keepdims)
    if axis is not None:
        x = x if x._code == 0 else x.astype(float64)
        return sqrt((x * x).sum(axis=axis, keepdims=keepdims))
    if keepdims:
        return _refuse("dimensions that are kept of all elements")
    if isinstance(x, _Matrix):
        if ord is not None:
            return _refuse("such a norm of two dimensions")
        x = x.ravel()
    if x._code == 1:
        x = _floats_of(x)
    return sqrt(matmul(x, x))


def _norm_of(x, ord, axis, keepdims):
    """Those that are no root."""
    if isinstance(x, _Matrix) and (axis is None or x._code != 0):
        return _refuse("such a norm of two dimensions")
    x = x if isinstance(x, _Matrix) else _floats_of(x)
    if ord == 1:
        return sum(abs(x), axis, None, None, keepdims)
    if ord == _inf:
        return max(abs(x), axis, None, keepdims)
    return min(abs(x), axis, None, keepdims) if ord == -_inf else _refuse("such a norm")
