

# Whole columns as Series.


class Series(ndarray):
    """A column of float64, int64 or bool, whose rows are those of the call: NaN is what is missing."""

    _kind = 2

    def _own(self):
        return Series(self._list(), 0, 1, self._n, self._code)

    def copy(self, deep=True):
        if deep is not True:
            return _refuse("such a copy of a Series")
        return self._own()

    def _in_sql(self):
        if self._code != 0:
            return self._compact()
        return [_unless_nan(self._value(i)) for i in range(self._n)]

    def __bool__(self):
        return _leave("the truth of a Series")

    def __contains__(self, item):
        return _refuse("what is in a Series")

    def item(self, i=0):
        return _refuse("the item of a Series")

    def flatten(self):
        return _refuse("an array of a Series")

    def ravel(self):
        return _refuse("an array of a Series")

    def fill(self, value):
        return _refuse("fill of a Series")

    def sort(self):
        return _refuse("sort of a Series")

    def argmin(self, axis=None):
        return _refuse("the place of an extreme of a Series")

    def argmax(self, axis=None):
        return _refuse("the place of an extreme of a Series")

    # Rows keep their labels, which are their numbers: a part of a Series only for what needs none.

    def __getitem__(self, key):
        if isinstance(key, bool) or isinstance(key, _Number):
            return _refuse("such a part of a Series")
        if isinstance(key, int):
            if key < 0 or key >= self._n:
                return _leave("a label that a Series has not")
            return _Number(self._value(key))
        if isinstance(key, ndarray) and key._code == 2:
            return _Part(self._selected(key))
        return _refuse("such a part of a Series")

    def __getpart__(self, start, stop):
        return _refuse("a part of a Series")

    def __getslice__(self, start, stop, step):
        return _refuse("a part of a Series")

    def __setslice__(self, start, stop, step, value):
        return _refuse("a part of a Series")

    def __setitem__(self, key, value):
        self._changing()
        if not isinstance(key, ndarray) or key._code != 2 or isinstance(value, ndarray):
            return _refuse("such an assignment to a part of a Series")
        if value is None or isinstance(value, bool):
            return _refuse("such a value in a Series")
        value = self._as_item(value)
        key = key._kept()
        if key._n != self._n:
            return _leave("a mask of another length")
        for i in range(self._n):
            if key._value(i):
                self._store(i, value)

    @property
    def index(self):
        return _Labels()

    @property
    def iloc(self):
        return _Rows(self._kept())

    @property
    def values(self):
        return self.to_numpy()

    def to_numpy(self):
        kept = self._kept()
        made = _FixedArray(kept._items, kept._start, kept._step, kept._n, kept._code)
        made._whole = kept._whole
        return made

    # Elementwise methods.

    def abs(self):
        return absolute(self)

    def round(self, decimals=0):
        return round(self, decimals)

    def clip(self, lower=None, upper=None):
        return _each(_clip_series, self, lower, upper)

    def isna(self):
        return _each(_isna, self)

    def isnull(self):
        return _each(_isna, self)

    def notna(self):
        return _each(_not_na, self)

    def notnull(self):
        return _each(_not_na, self)

    def fillna(self, value):
        return _each(_filled, self, value)

    def where(self, cond, other=None):
        return _each(_chosen, self, cond, True, other)

    def mask(self, cond, other=None):
        return _each(_chosen, self, cond, False, other)

    def isin(self, values):
        if not isinstance(values, (list, tuple, set, frozenset)):
            return _refuse("isin of such a collection")
        return _each(_is_among, self, _Among([_scalar_of(value) for value in _unordered(values)]))

    def between(self, left, right, inclusive="both"):
        return _each(_between, self, left, right, inclusive)

    # Reductions and scans, which pass over what is missing.

    def count(self):
        return _Number(self._counted())

    def sum(self, axis=None):
        _one_axis(axis)
        return _Number(_sum_present(self) if self._code == 0 else _total(self))

    def mean(self, axis=None):
        _one_axis(axis)
        return _Number(_mean_of(self._kept(), self._counted()))

    def var(self, axis=None, ddof=1):
        _one_axis(axis)
        return _Number(_var_of(self._kept(), self._counted(), ddof))

    def std(self, axis=None, ddof=1):
        return sqrt(self.var(axis, ddof))

    def prod(self, axis=None):
        return (self._filled(1.0) if self._code == 0 else self.to_numpy()).prod(axis)

    def min(self, axis=None):
        _one_axis(axis)
        return _series_extreme(self._kept(), True)

    def max(self, axis=None):
        _one_axis(axis)
        return _series_extreme(self._kept(), False)

    def median(self, axis=None):
        _one_axis(axis)
        a = self._kept()
        if a._code != 0:
            return _leave("the median of such a Series")
        part = a._without_nan()
        return _Number(_nan) if part._n == 0 else median(part)

    def any(self, axis=None):
        if self._code == 0:
            return _leave("any of numbers")
        return self.to_numpy().any(axis)

    def all(self, axis=None):
        if self._code == 0:
            return _leave("all of numbers")
        return self.to_numpy().all(axis)

    def cumsum(self, axis=None):
        _one_axis(axis)
        return _series_scan(self._kept(), _add, 0.0)

    def cumprod(self, axis=None):
        _one_axis(axis)
        return _series_scan(self._kept(), _mul, 1.0)

    def cummax(self, axis=None):
        _one_axis(axis)
        return _series_extremes(self._kept(), _greater)

    def cummin(self, axis=None):
        _one_axis(axis)
        return _series_extremes(self._kept(), _less)

    def quantile(self, q=0.5):
        a = self._kept()
        if a._code != 0 or not isinstance(_scalar_of(q), (float, int)):
            return _refuse("such a quantile of a Series")
        part = a._without_nan()
        return _Number(_nan) if part._n == 0 else quantile(part, q)

    def shift(self, periods=1):
        if isinstance(periods, bool) or not isinstance(periods, int) or self._code != 0:
            return _refuse("such a shift")
        a = self._kept()
        n = a._n
        items = [a._value(i - periods) if 0 <= i - periods < n else _nan for i in range(n)]
        return Series(items, 0, 1, n, 0)

    def diff(self, periods=1):
        a = self._kept()
        return a - a.shift(periods)


def _series_extremes(a, function):
    """The extremes of the elements up to each, past what is missing."""
    if a._code == 2:
        return _refuse("the extremes of bools")
    made = []
    most = a._value(0) if a._n > 0 else _leave("a Series without elements")
    for item in a._list():
        if isinstance(item, float) and _is_negative_zero(item):
            return _leave("zeros of both signs")
        if most != most or item == item:
            most = item if most != most else function(most, item)
        made.append(item if item != item else most)
    return Series(made, 0, 1, a._n, a._code)


class _Among:
    """What `isin` looks for, which is no array."""

    def __init__(self, values):
        self._values = values


def _is_among(lane, among):
    return lane.isin(among._values)


class _FixedArray(ndarray):
    """An array that shows a Series or the diagonal of a matrix, which nobody may change through it."""

    def _store(self, i, value):
        return _leave("an assignment to an array that cannot be written to")

    def _changing(self):
        return _leave("a change of an array that cannot be written to")

    def _part(self, start, stop, step):
        return _fixed(super()._part(start, stop, step))

    def _view(self):
        return _fixed(super()._view())

    def __getparts__(self, parts):
        if len(parts) == 1:
            return super().__getparts__(parts)
        return _leave("more dimensions of an array that cannot be written to")


def _fixed(a):
    made = _FixedArray(a._items, a._start, a._step, a._n, a._code)
    made._whole = False
    return made


class _Rows:
    """`series.iloc`."""

    def __init__(self, of):
        self._of = of

    def __getitem__(self, key):
        if isinstance(key, bool) or not isinstance(key, int):
            return _refuse("such a part of a Series")
        return _Number(self._of._value(self._of._index(key)))


class _Part:
    """Some rows of a Series: what depends on none of their labels."""

    def __init__(self, of):
        self._of = Series(of._items, of._start, of._step, of._n, of._code)

    def __len__(self):
        return self._of._n

    @property
    def size(self):
        return self._of._n

    @property
    def empty(self):
        return self._of._n == 0

    def __bool__(self):
        return _refuse("the truth of a part of a Series")

    def __iter__(self):
        return _refuse("the values of a part of a Series")

    def count(self):
        return self._of.count()

    def sum(self):
        return self._of.sum()

    def mean(self):
        return self._of.mean()

    def var(self, ddof=1):
        return self._of.var(ddof=ddof)

    def std(self, ddof=1):
        return self._of.std(ddof=ddof)

    def min(self):
        return self._of.min()

    def max(self):
        return self._of.max()

    def median(self):
        return self._of.median()


def _unless_nan(value):
    return None if value != value else value


def _not_na(lane):
    return ~_isna(lane)


def _filled(lane, value):
    return lane.fillna(value)


def _between(lane, left, right, inclusive):
    return lane.between(left, right, inclusive)


def _instead(lane, value):
    return _Array(value if lane._v != lane._v else lane._v)


def _sum_present(a):
    """The sum of the floats that are not missing."""
    return _operation("ufunc.sum_present", a._compact())


def _mean_of(a, count):
    """The mean of what is not missing, of which there are so many."""
    total = _sum_present(a) if a._code == 0 else _exact_total(a)
    return _div(total, _operation("int.to_float", count)) if count > 0 else _nan


def _var_of(a, count, ddof):
    n = _freedom(count, ddof)
    if a._code != 0:
        return _leave("the deviation of ints")
    middle = _div(_sum_present(a), _operation("int.to_float", count))
    total = _operation("ufunc.squares_present", a._compact(), middle)
    return _div(total, _operation("int.to_float", n)) if n > 0 else _nan


def _series_extreme(a, least):
    if a._code != 0:
        return _extreme(a.to_numpy(), least)
    if a._counted() == 0:
        return _Number(_nan)
    return _Number(_operation("ufunc.least_present" if least else "ufunc.greatest_present", a._compact()))


def _series_scan(a, function, start):
    if a._code != 0:
        made = _scan(a, function)
        return Series(made._items, 0, 1, made._n, 1)
    total = start
    made = []
    first = True
    for i in range(a._n):
        value = a._value(i)
        counted = value if value == value else start
        total = counted if first else function(total, counted)
        first = False
        made.append(total if value == value else _nan)
    return Series(made, 0, 1, a._n, 0)
