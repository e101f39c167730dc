

# Arrays of one row: one dimension of float64 (code 0), int64 (1) or bool (2).
#
# What an elementwise function makes of arrays is an array without items, which makes an element where it is
# read, so that an expression is one loop; it gets items where it gets a name, and before any array is
# changed (`_kept`). What is an error or a warning of NumPy's that somebody could catch is CPython's.


def _of_list(items, code, kind=1):
    """Of an array of SQL, where NULL is NaN in floats; codes from 10 on are those of arrays of arrays."""
    if code >= 10:
        return _of_rows(items, code - 10)
    made = _array_of(items, code)
    return made if kind == 1 else Series(made._items, 0, 1, made._n, code)


def _array_of(items, code):
    types = _element_types(items)
    if code == 0:
        if types == ("float",):
            return ndarray(items, 0, 1, len(items), 0)
        return _fresh([_nan if item is None else item for item in items], 0)
    if "NoneType" in types:
        return _fresh([_present(item) for item in items], code)
    return ndarray(items, 0, 1, len(items), code)


def _present(item):
    if item is None:
        return _leave("NULL in an array that cannot hold it")
    return item


def _fresh(items, code):
    return ndarray(items, 0, 1, len(items), code)


def _code_of(value):
    if isinstance(value, float):
        return 0
    if isinstance(value, bool):
        return 2
    if isinstance(value, int):
        return 1
    return _refuse("an array of such values")


def _sample(code):
    """A value of that type, to see what a function makes of it."""
    if code == 0:
        return 1.0
    if code == 1:
        return 1
    return True


def _has_array(*args):
    found = False
    for arg in args:
        found = found or isinstance(arg, _ARRAYS)
    return found


def _each(function, *given):
    """What an elementwise function makes of arrays, lists and scalars."""
    args = ()
    two, stretched, series = False, False, False
    for arg in given:
        arg = _listed(arg)
        if isinstance(arg, ndarray):
            two = two or isinstance(arg, _Matrix)
            series = series or arg._kind == 2
            stretched = stretched or not two and _is_stretched(arg)
        elif isinstance(arg, _Lane) and arg._kind != 0:
            return _refuse("an array and a column")
        args = args + (arg,)
    if two:
        return _each_of_two(function, args)
    if stretched:
        args = _stretched(args)
    n = None
    for arg in args:
        if isinstance(arg, ndarray):
            if n is None:
                n = arg._n
            elif n != arg._n:
                return _leave("arrays of different lengths")
    if series:
        return Series(None, 0, 1, n, _code_made(function, args), function, args)
    return _deferred(function, args, n)


def _code_made(function, args):
    """The code of what an elementwise function makes."""
    made = ()
    for arg in args:
        if isinstance(arg, ndarray):
            arg = _lane(_sample(arg._code), arg._kind)
        elif isinstance(arg, _Number):
            arg = _Number(_sample(_code_of(arg._v)))
        made = made + (arg,)
    return _code_of(_sampled(function, *made)._v)


def _is_stretched(arg):
    """Whether it is known to be an array of one element, as `keepdims` gives it: it goes with one of any length."""
    return isinstance(arg, ndarray) and arg._kind == 1 and _is_constant(arg._n) and arg._n == 1


def _stretched(args):
    """Operands of which those are elements that are stretched to the length of others."""
    stretched, longer = False, False
    for arg in args:
        if _is_stretched(arg):
            stretched = True
        elif isinstance(arg, ndarray):
            longer = True
    if not stretched or not longer:
        return args
    made = ()
    for arg in args:
        made = made + (_Number(arg._value(0)) if _is_stretched(arg) else arg,)
    return made


def _deferred(function, args, n):
    return ndarray(None, 0, 1, n, _code_made(function, args), function, args)


def _each_array(function, *args):
    """As `_each`, where the result is an array of whatever arguments."""
    for arg in args:
        if isinstance(arg, _Matrix):
            return _each(function, *args)
    made = _each(function, *args)
    return ndarray(None, 0, 1, made._n, made._code, function, made._args)


class ndarray(_Operators):
    _kind = 1

    def __init__(self, items, start, step, n, code, function=None, args=None):
        self._items = items
        self._start = start
        self._step = step
        self._n = n
        self._code = code
        # Whether these are all items of the list.
        self._whole = True
        # What makes the elements of those of others, where there are no items.
        self._function = function
        self._args = args

    def _at(self, i):
        if self._function is None:
            return _lane(_item(self._items, self._start + i * self._step), self._kind)
        made = ()
        for arg in self._args:
            made = made + (arg._at(i) if isinstance(arg, ndarray) else arg,)
        return self._function(*made)

    def _value(self, i):
        return self._at(i)._v

    def _list(self):
        return [self._value(i) for i in range(self._n)]

    def _compact(self):
        """Its elements as a list that is not changed."""
        if self._function is None and self._whole:
            return self._items
        return self._list()

    def _kept(self):
        """Itself, with items from now on."""
        if self._function is not None:
            self._items = self._list()
            self._whole = True
            self._function = None
            self._args = None
        return self

    def _view(self):
        kept = self._kept()
        made = ndarray(kept._items, kept._start, kept._step, kept._n, kept._code)
        made._whole = kept._whole
        return made

    def _own(self):
        """One that is no view of another and that nobody else has."""
        return _fresh(self._list(), self._code)

    def _in_sql(self):
        return self._compact()

    def _in_column(self):
        """Its elements as those of a whole column, and whether NaN is NULL among them."""
        return self._compact(), self._kind == 2

    # Without what is missing.

    def _counted(self):
        return self._n if self._code != 0 else _operation("ufunc.count_present", self._compact())

    def _filled(self, value):
        """With a value in place of NaN."""
        if self._code != 0:
            return self
        return _deferred(_instead, (self, value), self._n)

    def _without_nan(self):
        """Its floats that are not NaN."""
        return _fresh([item for item in self._compact() if item == item], 0)

    # What it looks like.

    @property
    def shape(self):
        return (self._n,)

    @property
    def size(self):
        return self._n

    @property
    def ndim(self):
        return 1

    @property
    def T(self):
        return self._view()

    def __len__(self):
        return self._n

    def __bool__(self):
        if self._n != 1:
            return _leave("the truth of an array")
        return bool(self._value(0))

    def __float__(self):
        return _refuse("the float of an array")

    def __int__(self):
        return _refuse("the int of an array")

    def __hash__(self):
        return _refuse("the hash of an array")

    def __str__(self):
        return _refuse("the text of an array")

    def __repr__(self):
        return _refuse("the text of an array")

    def __format__(self, spec):
        return _refuse("the text of an array")

    def __round__(self, n=None):
        return _refuse("round of an array")

    def __contains__(self, item):
        return (self == item).any()

    def __iter__(self):
        kept = self._kept()
        for i in range(kept._n):
            yield _Number(kept._value(i))

    # Parts.

    def _index(self, key):
        return _within(key, self._n)

    def __getparts__(self, parts):
        """Parts along several dimensions: each is whether it is a slice, then its bounds or the index."""
        if len(parts) == 1:
            one = parts[0]
            return self._kept()._part(one[1], one[2], one[3]) if one[0] else self[one[1]]
        if len(parts) == 2 and not parts[0][0] and parts[0][1] is None and parts[1][0]:
            return _as_row(self._kept()._part(parts[1][1], parts[1][2], parts[1][3]))
        if len(parts) == 2 and parts[0][0] and not parts[1][0] and parts[1][1] is None:
            return _as_column(self._kept()._part(parts[0][1], parts[0][2], parts[0][3]))
        return _leave("parts along more dimensions")

    def __setparts__(self, parts, value):
        return _refuse("an assignment to such a part of an array")

    def reshape(self, *shape):
        if len(shape) == 1:
            return _reshaped(self, shape[0])
        return _reshaped(self, shape)

    def transpose(self):
        return self.T

    def __getitem__(self, key):
        if key is None:
            return self[None, :] if self._kind == 1 else _leave("an axis more")
        if isinstance(key, tuple):
            return self.__getparts__(_as_parts(key))
        if isinstance(key, bool):
            return _refuse("such a part of an array")
        if isinstance(key, int):
            return _Number(self._value(self._index(key)))
        if isinstance(key, _Number):
            return self[key.__index__()]
        if isinstance(key, (list, ndarray)):
            return self._selected(_listed(key))
        return _refuse("such a part of an array")

    def _selected(self, key):
        kept = self._kept()
        if key._code == 2:
            if key._n != kept._n:
                return _leave("a mask of another length")
            return _fresh([kept._value(i) for i in range(kept._n) if key._value(i)], kept._code)
        if key._code == 1:
            return _fresh([kept._value(kept._index(key._value(i))) for i in range(key._n)], kept._code)
        return _refuse("such a part of an array")

    def __getpart__(self, start, stop):
        return self._kept()._part(start, stop, None)

    def __getslice__(self, start, stop, step):
        return self._kept()._part(start, stop, step)

    def _part(self, start, stop, step):
        first, step, n = _steps(start, stop, step, self._n)
        return _strided(self._items, self._start + first * self._step, step * self._step, n, self._code)

    def _store(self, i, value):
        self._items[self._start + i * self._step] = value

    def _can_take(self, array):
        """Whether elements of another array become some of this one without a loss."""
        return self._code == 0 or array._code == self._code or self._code == 1 and array._code == 2

    def _as_item(self, value):
        """As an element of this array; that of a lane."""
        value = _scalar_of(value)
        if self._code == 0:
            return _float(value)
        if self._code == 1 and isinstance(value, float):
            # Cut off, as astype does.
            return _astype(_Array(value), int64)._v
        if self._code == 1 and isinstance(value, bool):
            return 1 if value else 0
        if _code_of(value) != self._code:
            return _refuse("a value of another type in an array")
        return _int(value) if self._code == 1 else value

    def __setitem__(self, key, value):
        self._changing()
        key = _listed(key) if isinstance(key, list) else key
        if isinstance(key, bool):
            return _refuse("an assignment to such a part of an array")
        if isinstance(key, int):
            self._store(self._index(key), self._as_item(value))
        elif isinstance(key, _Number):
            self._store(self._index(key.__index__()), self._as_item(value))
        elif isinstance(key, ndarray):
            key = key._kept()
            if isinstance(value, ndarray):
                self._put(key, value)
                return
            value = self._as_item(value)
            if key._code == 2:
                if key._n != self._n:
                    return _leave("a mask of another length")
                for i in range(self._n):
                    if key._value(i):
                        self._store(i, value)
            elif key._code == 1:
                for i in range(key._n):
                    self._store(self._index(key._value(i)), value)
            else:
                return _refuse("an assignment to such a part of an array")
        else:
            return _refuse("an assignment to such a part of an array")

    def _put(self, key, value):
        """The elements that a mask or indices select become those of another array."""
        if not self._can_take(value):
            return _refuse("values of another type in an array")
        # They may be views of this one.
        items, places = value._list(), _places(key, self._n)
        if len(items) != len(places):
            return _leave("arrays of different lengths")
        for i in range(len(places)):
            self._store(_item(places, i), self._as_item(_item(items, i)))

    def __setslice__(self, start, stop, step, value):
        self._changing()._part(start, stop, step)._take(value)

    def fill(self, value):
        if isinstance(value, ndarray):
            return _refuse("fill of an array")
        self._changing()._take(value)

    def _take(self, value):
        """Its items become others'."""
        if isinstance(value, ndarray):
            if value._n != self._n:
                return _leave("arrays of different lengths")
            if not self._can_take(value):
                return _refuse("values of another type in an array")
            # They may be views of this one.
            items = value._list()
            for i in range(self._n):
                self._store(i, self._as_item(_item(items, i)))
        else:
            value = self._as_item(value)
            for i in range(self._n):
                self._store(i, value)

    def _changing(self):
        """Itself with items, once nothing that is put off can see it change."""
        _force()
        return self._kept()

    def _becomes(self, made):
        if made._code != self._code:
            return _refuse("an operation in place that changes the type of an array")
        if made._n != self._n:
            return _leave("arrays of different lengths")
        if _has_array_beside(made._args, self):
            self._take(made)
        else:
            for i in range(self._n):
                self._store(i, made._value(i))
        return self

    def __invert__(self):
        return _each(_inverted, self)

    # Methods.

    def copy(self):
        return self._own()

    def flatten(self):
        return self._own()

    def squeeze(self, axis=None):
        _one_axis(axis)
        return self._view() if self._n != 1 else _leave("an array of no dimension")

    def swapaxes(self, axis1, axis2):
        return swapaxes(self, axis1, axis2)

    def compress(self, condition, axis=None):
        return compress(condition, self, axis)

    def ravel(self):
        if not (isinstance(self._step, int) and self._step == 1):
            return _leave("ravel of a part of an array")
        return self._view()

    def tolist(self):
        return self._list()

    def item(self, i=_missing):
        if _is_missing(i):
            if self._n != 1:
                return _leave("item of an array of several")
            return self._value(0)
        return self._value(self._index(i))

    def clip(self, min=None, max=None):
        return clip(self, min, max)

    def round(self, decimals=0):
        return round(self, decimals)

    def astype(self, dtype):
        return _each(_astype, self, dtype)

    def argsort(self, axis=-1, kind=None):
        return argsort(self, axis, kind)

    def searchsorted(self, v, side="left"):
        return searchsorted(self, v, side)

    def dot(self, b):
        return dot(self, b)

    def nonzero(self):
        return nonzero(self)

    def take(self, indices, axis=None):
        return take(self, indices, axis)

    def repeat(self, repeats, axis=None):
        return repeat(self, repeats, axis)

    def sum(self, axis=None, *, dtype=None, keepdims=False):
        _one_axis(axis)
        a = _typed(self, dtype)
        return _in_dimension(_Number(_tree(a) if a._code == 0 else _total(a)), keepdims)

    def prod(self, axis=None):
        _one_axis(axis)
        if self._code == 0:
            made = 1.0
            for i in range(self._n):
                made *= self._value(i)
            return _Number(made)
        made = 1
        for i in range(self._n):
            made = _int(made * int(self._value(i)))
        return _Number(made)

    def mean(self, axis=None, *, keepdims=False):
        _one_axis(axis)
        return _in_dimension(_Number(_mean(self)), keepdims)

    def var(self, axis=None, dtype=None, out=None, ddof=0, *, keepdims=False):
        _no_out(out)
        _only_floats(dtype)
        _one_axis(axis)
        return _in_dimension(_Number(_var(self, ddof)), keepdims)

    def std(self, axis=None, dtype=None, out=None, ddof=0, *, keepdims=False):
        return sqrt(self.var(axis, dtype, out, ddof, keepdims=keepdims))

    def min(self, axis=None, *, keepdims=False, initial=_missing):
        _one_axis(axis)
        return _in_dimension(_extreme(self, True, initial), keepdims)

    def max(self, axis=None, *, keepdims=False, initial=_missing):
        _one_axis(axis)
        return _in_dimension(_extreme(self, False, initial), keepdims)

    def argmin(self, axis=None):
        _one_axis(axis)
        return _first(self, _lt, "ufunc.first_least")

    def argmax(self, axis=None):
        _one_axis(axis)
        return _first(self, _gt, "ufunc.first_greatest")

    def any(self, axis=None):
        _one_axis(axis)
        for i in range(self._n):
            if self._value(i) != 0:
                return _Number(True)
        return _Number(False)

    def all(self, axis=None):
        _one_axis(axis)
        for i in range(self._n):
            if self._value(i) == 0:
                return _Number(False)
        return _Number(True)

    def cumsum(self, axis=None):
        _one_axis(axis)
        return _scan(self, _add)

    def cumprod(self, axis=None):
        _one_axis(axis)
        return _scan(self, _mul)

    def sort(self, axis=-1):
        self._changing()._take(sort(self, axis))


# What makes an elementwise function one of arrays.
_ARRAYS = (ndarray, list, tuple)


def _has_array_beside(args, array):
    found = False
    for arg in args:
        found = found or isinstance(arg, ndarray) and not _same_object(arg, array)
    return found


def _inverted(lane):
    return ~lane


def _bound_of(bound):
    if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
        return _refuse("a bound of a slice that is no int")
    return bound


def _steps(start, stop, step, n):
    """Where a slice begins, its step and how many it has."""
    step = 1 if step is None else _bound_of(step)
    if step == 0:
        return _leave("a step of zero")
    first, count = _range_of(_bound_of(start), _bound_of(stop), step, n)
    return first, step, count


def _within(i, n):
    """An index of one of so many."""
    if i < 0:
        i = i + n
    if i < 0 or i >= n:
        return _leave("an index outside of an array")
    return i


def _places(key, n):
    """Those of so many that a mask or indices select."""
    if key._code == 2:
        if key._n != n:
            return _leave("a mask of another length")
        return [i for i in range(n) if key._value(i)]
    if key._code == 1:
        return [_within(key._value(i), n) for i in range(key._n)]
    return _refuse("such a part of an array")


def _strided(items, start, step, n, code):
    """A view of some items of a list."""
    made = ndarray(items, start, step, n, code)
    made._whole = False
    return made


def _range_of(start, stop, step, n):
    """The first index of a slice and how many there are."""
    if step > 0:
        first = 0 if start is None else _clamped(start, n, 0, n)
        last = n if stop is None else _clamped(stop, n, 0, n)
        return first, (last - first + step - 1) // step if last > first else 0
    first = n - 1 if start is None else _clamped(start, n, -1, n - 1)
    last = -1 if stop is None else _clamped(stop, n, -1, n - 1)
    return first, (first - last - step - 1) // -step if first > last else 0


def _clamped(i, n, least, most):
    if i < 0:
        i = i + n
    return least if i < least else most if i > most else i


def _scalar_of(value):
    if value is None:
        return _leave("None in an array")
    if isinstance(value, _Lane):
        return value._v
    if isinstance(value, (float, int)):
        return value
    return _refuse("such a value in an array")


# Reductions.


def _one_axis(axis):
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int) or axis != 0 and axis != -1):
        return _leave("an axis that an array has not")


def _an_array(a):
    if a is None:
        return _leave("None as an array")
    if isinstance(a, ndarray):
        return a
    if isinstance(a, (list, tuple)):
        return _of_items(a)
    return _refuse("a function of arrays of something else")


def _listed(x):
    """A list as an array."""
    return _of_items(x) if isinstance(x, (list, tuple)) else x


def _no_series(a):
    if isinstance(a, Series):
        return _refuse("a function of arrays of a Series")
    return _an_array(a)


def _tree(a):
    """The sum of floats in NumPy's order."""
    return _operation("ufunc.sum", a._compact())


def _total(a):
    """The sum of ints."""
    total = 0
    for i in range(a._n):
        total = _int(total + int(a._value(i)))
    return total


def _keeps(a, keepdims):
    """Whether dimensions are kept, which only arrays of two have to."""
    if not isinstance(keepdims, bool) or keepdims and a._kind == 2:
        return _refuse("dimensions that are kept of such an array")
    return keepdims and isinstance(a, _Matrix)


def _typed(a, dtype):
    """As an array whose elements are added as those of another type."""
    if dtype is None:
        return a
    made = a.astype(dtype)
    if made._code == 2 or a._code == 0 and made._code != 0:
        return _refuse("numbers that are added as something else")
    return made


def _only_floats(dtype):
    """The type of a mean or a variance, where it is said."""
    return None if dtype is None or _dtype_name(dtype) == "float64" else _refuse("a mean or variance of another type")


def _no_out(out):
    return None if out is None else _refuse("a result that is written into an array")


def _in_dimension(made, keepdims):
    """A reduction of an array of one dimension, which may be kept."""
    if not keepdims:
        return made
    value = made._v
    return ndarray([value], 0, 1, 1, _code_of(value))


def sum(a, axis=None, dtype=None, out=None, keepdims=False):
    _no_out(out)
    a = _typed(_an_array(a), dtype)
    return a.sum(axis, True) if _keeps(a, keepdims) else _in_dimension(a.sum(axis), keepdims)


def _exact_total(a):
    """The sum of ints as a float, which is the same in any order if all sums are whole."""
    total, most = 0, 0
    for i in range(a._n):
        value = int(a._value(i))
        total += value
        most += -value if value < 0 else value
        if most > 9007199254740992:
            return _leave("a mean of large ints")
    return _operation("int.to_float", total)


def _mean(a):
    total = _tree(a) if a._code == 0 else _exact_total(a)
    return _div(total, _operation("int.to_float", a._n))


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    _no_out(out)
    a = _an_array(a)
    _only_floats(dtype)
    return a.mean(axis, True) if _keeps(a, keepdims) else _in_dimension(a.mean(axis), keepdims)


def _squared_distance(lane, middle):
    distance = lane - middle
    return distance * distance


def _squares(a, middle):
    if a._code == 0:
        return _operation("ufunc.squares", a._compact(), middle)
    return _tree(_each(_squared_distance, a, middle))


def _freedom(n, ddof):
    """The degrees of freedom of so many."""
    if isinstance(ddof, bool) or not isinstance(ddof, int):
        return _refuse("such degrees of freedom")
    return n - ddof


def _var(a, ddof):
    n = _freedom(a._n, ddof)
    a = a._kept()
    return _div(_squares(a, _mean(a)), _operation("int.to_float", n if n > 0 else 0))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return _spread(a, axis, dtype, out, ddof, keepdims)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return sqrt(_spread(a, axis, dtype, out, ddof, keepdims))


def _spread(a, axis, dtype, out, ddof, keepdims):
    """The variance, which NumPy has of a Series by pandas."""
    _no_out(out)
    _only_floats(dtype)
    a = _an_array(a)
    if _keeps(a, keepdims):
        return a.var(axis, None, None, ddof, True)
    return _in_dimension(a.var(axis, None, None, ddof) if a._kind == 1 else a.var(axis, ddof), keepdims)


def prod(a, axis=None, dtype=None, out=None, keepdims=False):
    _no_out(out)
    a = _typed(_an_array(a), dtype)
    return a.prod(axis, True) if _keeps(a, keepdims) else _in_dimension(a.prod(axis), keepdims)


def _is_negative_zero(x):
    return x == 0.0 and _div(1.0, x) < 0.0


def _extreme(a, least, initial=_missing):
    if a._code == 2:
        return _refuse("the extreme of bools")
    if not _is_missing(initial):
        first = _scalar_of(initial)
        if isinstance(first, float) and a._code == 1:
            first = int(first) if first - first == 0.0 else _leave("an initial value that is no int")
        a = _fresh([_coded(first, a._code)] + a._list(), a._code)
    if a._n == 0:
        return _leave("an array without elements")
    if a._code == 0:
        return _Number(_operation("ufunc.least" if least else "ufunc.greatest", a._compact()))
    made = a._value(0)
    for i in range(1, a._n):
        made = _less_int(made, a._value(i)) if least else _greater_int(made, a._value(i))
    return _Number(made)


def max(a, axis=None, out=None, keepdims=False, initial=_missing):
    _no_out(out)
    a = _an_array(a)
    if _keeps(a, keepdims):
        return a.max(axis, True, initial)
    made = a.max(axis) if _is_missing(initial) else _no_series(a).max(axis, initial=initial)
    return _in_dimension(made, keepdims)


def min(a, axis=None, out=None, keepdims=False, initial=_missing):
    _no_out(out)
    a = _an_array(a)
    if _keeps(a, keepdims):
        return a.min(axis, True, initial)
    made = a.min(axis) if _is_missing(initial) else _no_series(a).min(axis, initial=initial)
    return _in_dimension(made, keepdims)


def amax(a, axis=None, out=None, keepdims=False, initial=_missing):
    return max(a, axis, out, keepdims, initial)


def amin(a, axis=None, out=None, keepdims=False, initial=_missing):
    return min(a, axis, out, keepdims, initial)


def ptp(a, axis=None, out=None, keepdims=False):
    a = _no_series(a)._kept()
    return max(a, axis, out, keepdims) - min(a, axis, out, keepdims)


def _first(a, function, of_floats):
    """The index of the first extreme; a NaN is one."""
    if a._n == 0:
        return _leave("an array without elements")
    if a._code == 0:
        return _Number(_operation(of_floats, a._compact()))
    best, at = a._value(0), 0
    for i in range(1, a._n):
        value = a._value(i)
        if function(value, best):
            best, at = value, i
    return _Number(at)


def argmax(a, axis=None):
    return _an_array(a).argmax(axis)


def argmin(a, axis=None):
    return _an_array(a).argmin(axis)


def any(a, axis=None, out=None, keepdims=False):
    _no_out(out)
    a = _an_array(a)
    return a.any(axis, True) if _keeps(a, keepdims) else _in_dimension(a.any(axis), keepdims)


def all(a, axis=None, out=None, keepdims=False):
    _no_out(out)
    a = _an_array(a)
    return a.all(axis, True) if _keeps(a, keepdims) else _in_dimension(a.all(axis), keepdims)


def cumsum(a, axis=None, dtype=None):
    return _typed(_an_array(a), dtype).cumsum(axis)


def cumprod(a, axis=None, dtype=None):
    return _typed(_an_array(a), dtype).cumprod(axis)


def _running(a, axis, function):
    """The extremes of the elements up to each."""
    a = _no_series(a)
    if isinstance(a, _Matrix):
        return _along(a, axis, a._code, lambda line: _extremes_up_to(line, function))
    _one_axis(axis)
    return _extremes_up_to(a._kept(), function)


def _extremes_up_to(a, function):
    if a._code == 2:
        return _refuse("the extreme of bools")
    made = []
    for item in a._list():
        if isinstance(item, float) and _is_negative_zero(item):
            return _leave("zeros of both signs")
        made.append(function(made[-1], item) if len(made) > 0 else item)
    return _fresh(made, a._code)


def maximum_accumulate(array, axis=0, dtype=None, out=None):
    return _written(_running(_typed(array, dtype), axis, _greater), out)


def minimum_accumulate(array, axis=0, dtype=None, out=None):
    return _written(_running(_typed(array, dtype), axis, _less), out)


def _written(made, out):
    """What was made, in the array for it if there is one."""
    if out is None:
        return made
    if not isinstance(out, ndarray) or isinstance(out, _Matrix) or out._kind != 1:
        return _refuse("a result that is written into such an array")
    out._changing()._take(made)
    return out


def add_accumulate(array, axis=0):
    return cumsum(_no_series(array), axis) if axis is not None else _leave("no axis to accumulate along")


def multiply_accumulate(array, axis=0):
    return cumprod(_no_series(array), axis) if axis is not None else _leave("no axis to accumulate along")


def subtract_outer(a, b):
    return _as_column(_one_dimension(_no_series(a))) - _as_row(_one_dimension(_no_series(b)))


def add_outer(a, b):
    return _as_column(_one_dimension(_no_series(a))) + _as_row(_one_dimension(_no_series(b)))


def multiply_outer(a, b):
    return outer(a, b)


def add_reduce(array, axis=0):
    return _no_series(array).sum(axis)


def multiply_reduce(array, axis=0):
    return _no_series(array).prod(axis)


def maximum_reduce(array, axis=0):
    return _no_series(array).max(axis)


def minimum_reduce(array, axis=0):
    return _no_series(array).min(axis)


def _scan(a, function):
    if a._n == 0:
        return _leave("an array without elements")
    if a._code == 0:
        total = a._value(0)
        made = []
        made.append(total)
        for i in range(1, a._n):
            total = function(total, a._value(i))
            made.append(total)
        return _fresh(made, 0)
    total = int(a._value(0))
    made = []
    made.append(total)
    for i in range(1, a._n):
        total = _int(function(total, int(a._value(i))))
        made.append(total)
    return _fresh(made, 1)


def _as_part(x):
    """What is put beside an array: a number is an array of one."""
    return (_scalar_of(x),) if isinstance(x, (float, int, _Number)) else x


def _sorted(a):
    items = a._compact()
    if a._code == 0:
        return _fresh(_operation("list.sort_array", items), 0)
    if a._code == 1:
        return _fresh(_operation("list.sort_int", items, False), 1)
    count = 0
    for item in items:
        if item:
            count += 1
    return _fresh([i >= a._n - count for i in range(a._n)], 2)


def _median(a):
    if a._n == 0 or a._code != 0:
        return _leave("the median of such an array")
    items = a._compact()
    if _operation("ufunc.count_present", items) != a._n:
        return _Number(_nan)
    middle = a._n // 2
    if a._n % 2 == 1:
        return _Number(0.0 + _item(_operation("list.select_float", items, [middle]), 0))
    found = _operation("list.select_float", items, [middle - 1, middle])
    return _Number(_div(0.0 + _item(found, 0) + _item(found, 1), 2.0))


# New arrays.


def _size_of(shape):
    if isinstance(shape, bool) or not isinstance(shape, int):
        return _refuse("an array of such a shape")
    if shape < 0:
        return _leave("a negative length")
    return shape


def zeros(shape, dtype=float64):
    return full(shape, 0, dtype)


def ones(shape, dtype=float64):
    return full(shape, 1, dtype)


def empty(shape, dtype=float64):
    # Whatever was in the memory: zeros are as good.
    return zeros(shape, dtype)


def empty_like(prototype, dtype=None):
    return zeros_like(prototype) if dtype is None else zeros_like(prototype).astype(dtype)


def full(shape, fill_value, dtype=None):
    value = _scalar_of(fill_value)
    if dtype is not None:
        value = _astype(_Array(value), dtype)._v
    if isinstance(shape, tuple):
        if len(shape) == 1:
            shape = shape[0]
        elif len(shape) != 2:
            return _refuse("more than two dimensions")
        else:
            n0, n1 = _size_of(shape[0]), _size_of(shape[1])
            return _matrix([value for _ in range(n0 * n1)], n0, n1, _code_of(value))
    return _fresh([value for _ in range(_size_of(shape))], _code_of(value))


def _rising(start, stop, step):
    """`arange` of floats."""
    n = _div(stop - start, step)
    if n == 0.0:
        return _leave("arange of such a length")
    n = _operation("ieee.ceil", n)
    if not -1.0 < n < 1e9:
        return _leave("arange of such a length")
    delta = (start + step) - start
    return _fresh([start + _operation("int.to_float", i) * delta if i > 1 else start + step if i else start for i in range(int(n))], 0)


def arange(start, stop=None, step=1, dtype=None):
    if dtype is not None:
        made = arange(start, stop, step)
        if _dtype_name(dtype) == "float64":
            return made.astype(dtype)
        # Of floats it would be another step.
        if _dtype_name(dtype) != "int64" or made._code != 1:
            return _refuse("arange of such a type")
        return made
    if stop is None:
        start, stop = 0, start
    start, stop, step = _scalar_of(start), _scalar_of(stop), _scalar_of(step)
    if isinstance(start, bool) or isinstance(stop, bool) or isinstance(step, bool):
        return _refuse("arange of bools")
    if isinstance(start, float) or isinstance(stop, float) or isinstance(step, float):
        return _rising(_exact_float_of(start), _exact_float_of(stop), _exact_float_of(step))
    if step == 0:
        return _leave("a step of zero")
    return _fresh([_int(i) for i in range(start, stop, step)], 1)


def _of_items(items):
    """An array of the items of a list or a tuple."""
    if items is None:
        return _leave("None as an array")
    if isinstance(items, tuple):
        return _of_tuples(items) if _is_nested(items) else _of_tuple(items)
    if not isinstance(items, list):
        return _refuse("an array of what is no list")
    return _of_values(items)


def _of_values(items):
    """An array of the items of a list whose number is not known."""
    types = _element_types(items)
    if len(types) == 0:
        return _fresh([0.0 for _ in range(0)], 0)
    if "list" in types and "NoneType" in types:
        items = [_present(item) for item in items]
        types = _element_types(items)
    if types == ("list",):
        if len(items) == 0:
            return _leave("an array of nothing")
        if "NoneType" in _element_types(_item(items, 0)):
            items = [[_present(item) for item in row] for row in items]
        first = _element_types(_item(items, 0))
        if first != ("float",) and first != ("int",) and first != ("bool",):
            return _refuse("an array of such rows")
        return _of_rows(items, 0 if first == ("float",) else 1 if first == ("int",) else 2)
    if types == ("object",):
        if len(items) == 0:
            return _leave("an array of nothing")
        if isinstance(items[0], ndarray):
            return _of_lines(items, items[0]._code)
        return _of_values([_scalar_of(item) for item in items])
    for type in types:
        if type not in ("float", "int", "bool", "NoneType"):
            return _refuse("an array of such values")
    if "bool" in types and ("float" in types or "int" in types):
        return _refuse("an array of bools and numbers")
    if "NoneType" in types:
        items = [_present(item) for item in items]
    if "float" not in types:
        if len(items) == 0:
            return _leave("an array of nothing")
        if "bool" in types:
            return _fresh([item for item in items], 2)
        return _fresh([_int(item) for item in items], 1) if "int" in types else _leave("an array of None")
    if "int" in types:
        # A list whose items are ints in this row is one of int64.
        floats = False
        for item in items:
            if isinstance(item, float):
                floats = True
        if not floats:
            return _leave("an array of ints and floats without floats")
    return _fresh([_float(item) for item in items], 0)


def _of_lines(lines, code):
    """An array of arrays whose number is not known."""
    n, items = lines[0]._n, []
    for line in lines:
        if line._n != n:
            return _leave("rows of different lengths")
        for i in range(n):
            items.append(line._value(i))
    return _matrix(items, len(lines), n, code)


def _is_nested(items):
    nested = False
    for item in items:
        nested = nested or isinstance(item, (ndarray, list, tuple))
    return nested


def _of_tuple(items):
    """An array of items whose number is known."""
    code = 3
    for item in items:
        found = _code_of(_scalar_of(item))
        code = found if code == 3 else _common(code, found)
    if code == 3:
        return _fresh([0.0 for _ in range(0)], 0)
    return _fresh([_coded(_scalar_of(item), code) for item in items], code)


def _common(code, other):
    """The type that elements of two types become."""
    if code == other:
        return code
    return _refuse("bools beside numbers in an array") if code == 2 or other == 2 else 0


def _coded(value, code):
    return _float(value) if code == 0 else _int(value) if code == 1 else value


def _unified(arrays):
    """Arrays, lists and tuples, whose number is known, as arrays; and the type that their elements become."""
    if not isinstance(arrays, tuple):
        return _refuse("arrays whose number is not known")
    made, code = (), 3
    for array in arrays:
        if array is None:
            return _leave("None as an array")
        if isinstance(array, list):
            array = _of_values(array)
        elif isinstance(array, tuple):
            array = _of_tuple(array)
        if not isinstance(array, ndarray) or array._kind != 1 or isinstance(array, _Matrix):
            return _refuse("an array of one dimension beside another, or a Series")
        code = array._code if code == 3 else _common(code, array._code)
        made = made + (array,)
    return (made, code) if code != 3 else _refuse("an array of nothing")


def _elements_of(arrays, code):
    """The elements of one after those of the other."""
    items = []
    for array in arrays:
        for item in array._list():
            items.append(_coded(item, code))
    return items
