"""Columns one value at a time: what elementwise functions of NumPy and methods of pandas' Series do.

A `_Lane` stands for a column in one row: `_v` is its value, a float (float64), an int (int64), a bool, a
text, or None for a missing text (of `str.split` a list); its class says whether it is a NumPy scalar, an
array, a Series or an array that cannot be written to. What looks at more than one row is not here, so that a function that needs it is not lifted.
"""


_nan = float("nan")
_inf = float("inf")
_radian = 3.141592653589793 / 180.0
_degree = 180.0 / 3.141592653589793


def _of_sql(value, kind, code):
    """Of a value of SQL, whose type says what NULL is: NaN in floats (code 0)."""
    if value is None:
        if code == 0:
            return _lane(_nan, kind)
        if code == 3:
            return _lane(None, kind)
        return _leave("NULL in a column that cannot hold it")
    return _lane(value, kind)


def _to_sql(lane, kind, code):
    """The value in SQL of DOUBLE (code 0), BIGINT (1), BOOLEAN (2) or TEXT (3)."""
    if isinstance(lane, _Lengths):
        if code > 1:
            return _refuse("lengths as a result of another type")
        if lane._of is None:
            return None
        return _operation("int.to_float", len(lane._of)) if code == 0 else len(lane._of)
    if not isinstance(lane, _Lane):
        return _leave("a result that is no column")
    if lane._kind == 0:
        return _leave("a result that is no column")
    value = lane._v
    if isinstance(value, float):
        if code == 1:
            if value != value:
                return None
            if not -9007199254740992.0 <= value <= 9007199254740992.0:
                return _leave("a float as an integer")
            whole = int(value)
            if float(whole) != value:
                return _leave("a float that is not whole as an integer")
            return whole
        if code != 0:
            return _refuse("a float as a result of another type")
        if lane._kind == 2 and value != value:
            return None
        return value
    if isinstance(value, bool):
        if code != 2:
            return _refuse("a bool as a result of another type")
        return value
    if isinstance(value, int):
        if code == 0:
            return _operation("int.to_float", value)
        if code != 1:
            return _refuse("an int as a result of another type")
        return value
    if (value is None or isinstance(value, str)) and code == 3:
        return value
    return _refuse("such a result of a column function")


def _held(value):
    """What a column or a scalar holds."""
    if isinstance(value, _Lane):
        return value._v if value._kind != 4 else _refuse("a column of texts of which all may be missing")
    if value is None:
        return _leave("None as a number")
    if isinstance(value, (float, int, str)):
        return value
    return _refuse("a column and what is neither a column nor a number")


def _kind(value):
    return value._beside if isinstance(value, _Lane) else 0


def _most(a, b):
    return a if a > b else b


def _float(value):
    """As float64."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            return _leave("an int beyond int64")
        return _operation("int.to_float", int(value))
    return _refuse("a number and a text in a column")


def _int(value):
    """As int64."""
    if not isinstance(value, int):
        return _refuse("an int of such a column")
    if not -(2**63) <= value < 2**63:
        return _leave("an int beyond int64")
    return int(value)


def _binary(a, b, of_floats, of_ints):
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_binary, a, b, of_floats, of_ints)
    x, y = _held(a), _held(b)
    kind = _most(_kind(a), _kind(b))
    if x is None or isinstance(x, str):
        return _joined(x, y, kind, of_floats)
    if isinstance(x, float) or isinstance(y, float):
        return _lane(of_floats(_float(x), _float(y)), kind)
    if isinstance(x, bool) and isinstance(y, bool):
        return _refuse("arithmetic of bools")
    return _lane(_int(of_ints(_int(x), _int(y))), kind)


def _joined(x, y, kind, function):
    """Texts of Series one after the other."""
    if kind != 2 or function is not _add:
        return _refuse("such an operation on texts")
    if x is None or y is None:
        return _lane(None, 2)
    if not isinstance(y, str):
        return _refuse("a text and a number in a column")
    return _lane(x + y, 2)


def _compared(a, b, function):
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_compared, a, b, function)
    x, y = _held(a), _held(b)
    kind = _most(_kind(a), _kind(b))
    if x is None or y is None:
        if kind != 2:
            return _refuse("a comparison of a missing text")
        return _compared_missing(function)
    if isinstance(x, str) or isinstance(y, str):
        if kind != 2 or not isinstance(x, str) or not isinstance(y, str):
            return _refuse("a comparison of a text")
        return _lane(function(x, y), kind)
    if isinstance(x, float) or isinstance(y, float):
        x, y = _float(x), _float(y)
        if kind == 0 and x != x and y != y:
            # In a container it would be looked at which objects they are.
            return _leave("NaN beside NaN")
        return _lane(function(x, y), kind)
    return _lane(function(int(x), int(y)), kind)


def _compared_missing(function):
    """What is missing differs from all others, and is in no order."""
    return _lane(function(0, 1) and function(1, 0), 2)


def _logical(a, b, function):
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_logical, a, b, function)
    x, y = _held(a), _held(b)
    if isinstance(x, bool) and isinstance(y, bool):
        return _lane(function(x, y), _most(_kind(a), _kind(b)))
    if not isinstance(x, int) or not isinstance(y, int) or isinstance(x, bool) or isinstance(y, bool):
        return _refuse("a logical operation on such numbers")
    return _lane(function(_int(x), _int(y)), _most(_kind(a), _kind(b)))


def _shifted(a, b, function):
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_shifted, a, b, function)
    x, y = _held(a), _held(b)
    kind = _most(_kind(a), _kind(b))
    if kind == 2 or not isinstance(x, int) or not isinstance(y, int) or isinstance(x, bool) or isinstance(y, bool):
        return _refuse("a shift of such numbers")
    return _lane(function(_int(x), _int(y)), kind)


def _left(x, y):
    return _operation("ufunc.left_shift", x, y)


def _right(x, y):
    return _operation("ufunc.right_shift", x, y)


def _add(x, y):
    return x + y


def _sub(x, y):
    return x - y


def _mul(x, y):
    return x * y


def _div(x, y):
    return _operation("ieee.div", x, y)


def _quotient(a, b):
    """`a / b`: float64 of whatever numbers."""
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_quotient, a, b)
    return _lane(_div(_float(_held(a)), _float(_held(b))), _most(_kind(a), _kind(b)))


def _floor_float(x, y):
    return _operation("ufunc.floor_divide", x, y)


def _mod_float(x, y):
    return _operation("ufunc.remainder", x, y)


def _floor_int(x, y):
    if y == 0:
        return _leave("an int divided by zero")
    return x // y


def _mod_int(x, y):
    if y == 0:
        return _leave("an int divided by zero")
    return x % y


def _power(a, b, of_scalars=False):
    """`a ** b`, where an exponent that is a scalar has its short form, but for a scalar, unless a function is called."""
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return _each(_power, a, b, of_scalars)
    x, y = _held(a), _held(b)
    kind = _most(_kind(a), _kind(b))
    scalar = _kind(b) == 0 and (of_scalars or kind != 0)
    if isinstance(x, float) or isinstance(y, float):
        x, y = _float(x), _float(y)
        if scalar:
            if y == 2.0:
                return _lane(x * x, kind)
            if y == 0.5:
                return _lane(_operation("ieee.sqrt", x), kind)
            if y == -1.0:
                return _lane(_div(1.0, x), kind)
            if y == 0.0:
                return _lane(1.0, kind)
            if y == 1.0:
                return _lane(x, kind)
        return _lane(_operation("ufunc.power", x, y), kind)
    if isinstance(x, bool) or isinstance(y, bool):
        return _refuse("a power of bools")
    if not scalar or y < 0 or y > 64:
        return _refuse("such a power of ints")
    return _lane(_int(_int(x) ** y), kind)


def _lane(value, kind):
    return _LANES[kind](value)


def _no_sequence(number, other):
    """An int of NumPy says how often a sequence is repeated."""
    if isinstance(number, _Number) and isinstance(other, (list, tuple, str)):
        return _refuse("a sequence times a scalar of NumPy")


class _Operators:
    """The operators of what elementwise functions take: lanes of columns, and arrays."""

    def __add__(self, other):
        return _binary(self, other, _add, _add)

    def __radd__(self, other):
        return _binary(other, self, _add, _add)

    def __sub__(self, other):
        return _binary(self, other, _sub, _sub)

    def __rsub__(self, other):
        return _binary(other, self, _sub, _sub)

    def __mul__(self, other):
        _no_sequence(self, other)
        return _binary(self, other, _mul, _mul)

    def __rmul__(self, other):
        _no_sequence(self, other)
        return _binary(other, self, _mul, _mul)

    def __truediv__(self, other):
        return _quotient(self, other)

    def __rtruediv__(self, other):
        return _quotient(other, self)

    def __floordiv__(self, other):
        return floor_divide(self, other)

    def __rfloordiv__(self, other):
        return floor_divide(other, self)

    def __mod__(self, other):
        return remainder(self, other)

    def __rmod__(self, other):
        return remainder(other, self)

    def __pow__(self, other):
        return _power(self, other)

    def __rpow__(self, other):
        return _power(other, self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __neg__(self):
        return negative(self)

    def __pos__(self):
        return positive(self)

    def __abs__(self):
        return absolute(self)

    def __and__(self, other):
        return _logical(self, other, _and)

    def __rand__(self, other):
        return _logical(other, self, _and)

    def __or__(self, other):
        return _logical(self, other, _or)

    def __ror__(self, other):
        return _logical(other, self, _or)

    def __xor__(self, other):
        return _logical(self, other, _xor)

    def __rxor__(self, other):
        return _logical(other, self, _xor)

    def __lshift__(self, other):
        return _shifted(self, other, _left)

    def __rlshift__(self, other):
        return _shifted(other, self, _left)

    def __rshift__(self, other):
        return _shifted(self, other, _right)

    def __rrshift__(self, other):
        return _shifted(other, self, _right)

    def __eq__(self, other):
        return _compared(self, other, _eq)

    def __ne__(self, other):
        return _compared(self, other, _ne)

    def __lt__(self, other):
        return _compared(self, other, _lt)

    def __le__(self, other):
        return _compared(self, other, _le)

    def __gt__(self, other):
        return _compared(self, other, _gt)

    def __ge__(self, other):
        return _compared(self, other, _ge)

    # In place: whoever holds it sees it.

    def __iadd__(self, other):
        return self._changing()._becomes(self + other)

    def __isub__(self, other):
        return self._changing()._becomes(self - other)

    def __imul__(self, other):
        return self._changing()._becomes(self * other)

    def __itruediv__(self, other):
        return self._changing()._becomes(self / other)

    def __ifloordiv__(self, other):
        return self._changing()._becomes(self // other)

    def __imod__(self, other):
        return self._changing()._becomes(self % other)

    def __ipow__(self, other):
        return self._changing()._becomes(self**other)

    def __divmod__(self, other):
        return divmod(self, other)

    def __rdivmod__(self, other):
        return divmod(other, self)

    def __iand__(self, other):
        return self._changing()._becomes(self & other)

    def __ior__(self, other):
        return self._changing()._becomes(self | other)


class _Lane(_Operators):
    def __init__(self, value):
        self._v = value
        # Whether a view of its memory was given away.
        self._shared = False

    def __bool__(self):
        if self._kind != 0:
            return _refuse("the truth of a column")
        return bool(self._v)

    def __float__(self):
        if self._kind != 0:
            return _refuse("the float of a column")
        return _float(self._v)

    def __int__(self):
        if self._kind != 0:
            return _refuse("the int of a column")
        return int(self._v)

    def __len__(self):
        return _refuse("the length of a column")

    def __iter__(self):
        return _refuse("the values of a column one after the other")

    def __contains__(self, item):
        return _refuse("what is in a column")

    def __call__(self, *args):
        return _refuse("a call of a column")

    def __hash__(self):
        return _refuse("the hash of a column")

    def __str__(self):
        if self._kind != 0 or not isinstance(self._v, (float, int)):
            return _refuse("the text of a column")
        return str(self._v)

    def __repr__(self):
        return _refuse("the text of a column")

    def __format__(self, spec):
        if self._kind != 0 or isinstance(self._v, bool):
            return _refuse("the text of a column")
        return format(self._v, spec)

    def __getitem__(self, key):
        return _refuse("a part of a column")

    def __invert__(self):
        if isinstance(self._v, bool):
            return _lane(not self._v, _kind(self))
        if not isinstance(self._v, int):
            return _refuse("the bits of a float")
        return _lane(~_int(self._v), _kind(self))

    def __round__(self, n=None):
        if self._kind != 0 or not isinstance(self._v, float):
            return _refuse("round of a column")
        return int(_operation("ieee.nearest", self._v)) if n is None else round(self, n)

    def _changing(self):
        return self

    def _becomes(self, made):
        if self._kind == 0:
            return made
        if self._kind == 3 or self._kind == 1 and made._kind != 1:
            return _refuse("an operation in place on such a column")
        if _type_name(made._v) != _type_name(self._v):
            return _refuse("an operation in place that changes the type of a column")
        self._v = made._v
        return self

    def __setitem__(self, key, value):
        if self._kind != 1 and self._kind != 2 or not isinstance(key, _Lane) or isinstance(value, _Lane):
            return _refuse("such an assignment to a part of a column")
        if self._shared:
            return _refuse("an assignment to a part of a column that an array shows")
        mask = key._v
        if not isinstance(mask, bool) or key._kind == 0 or key._kind == 2 and self._kind == 1:
            return _refuse("an assignment to a part of a column that no mask selects")
        if isinstance(self._v, float):
            if value is None and self._kind == 2:
                value = _nan
            if isinstance(value, bool):
                return _refuse("a bool among floats")
            value = _float(value)
        elif isinstance(self._v, bool) or isinstance(self._v, int):
            if _type_name(value) != _type_name(self._v):
                return _refuse("a value of another type in a column")
            if isinstance(value, int) and not isinstance(value, bool):
                value = _int(value)
        else:
            return _refuse("an assignment to a column of texts")
        self._v = value if mask else self._v

    # Methods of both.

    def clip(self, lower=None, upper=None):
        if self._kind == 2:
            return _clip_series(self, lower, upper)
        return clip(self, lower, upper)

    def round(self, decimals=0):
        return round(self, decimals)

    def copy(self, deep=True):
        if deep is not True:
            return _refuse("such a copy of a column")
        if self._kind == 0:
            return _refuse("a copy of a scalar")
        return _lane(self._v, _kind(self))

    def astype(self, dtype):
        return _astype(self, dtype)

    # Methods of Series.

    def _series(self):
        if self._kind != 2:
            return _refuse("a method of Series of something else")
        return self

    @property
    def index(self):
        self._series()
        return _Labels()

    @property
    def values(self):
        return self._series().to_numpy()

    @property
    def loc(self):
        return _Loc(self._series())

    def to_numpy(self):
        if self._series()._v is None or isinstance(self._v, str):
            return _refuse("an array of texts")
        self._shared = True
        return _lane(self._v, 3)

    def abs(self):
        return absolute(self._series())

    def isna(self):
        return _isna(self._series())

    def isnull(self):
        return _isna(self._series())

    def notna(self):
        return ~_isna(self._series())

    def notnull(self):
        return ~_isna(self._series())

    def fillna(self, value):
        self._series()
        if isinstance(self._v, float):
            if isinstance(value, bool):
                return _refuse("a bool among floats")
            filled = _float(_held(value))
            return _lane(filled if self._v != self._v else self._v, 2)
        if self._v is None or isinstance(self._v, str):
            if not isinstance(_held(value), str):
                return _refuse("a number among texts")
            return _lane(_held(value) if self._v is None else self._v, 2)
        return _lane(self._v, 2)

    def where(self, cond, other=None):
        return _chosen(self._series(), cond, True, other)

    def mask(self, cond, other=None):
        return _chosen(self._series(), cond, False, other)

    def between(self, left, right, inclusive="both"):
        self._series()
        if inclusive == "both":
            return (self >= left) & (self <= right)
        if inclusive == "left":
            return (self >= left) & (self < right)
        if inclusive == "right":
            return (self > left) & (self <= right)
        if inclusive == "neither":
            return (self > left) & (self < right)
        return _refuse("between with such a bound")

    def isin(self, values):
        self._series()
        if not isinstance(values, (list, tuple, set, frozenset)):
            return _refuse("isin of such a collection")
        if self._v is None:
            return _lane(False, 2)
        found = False
        for value in _unordered(values):
            if _type_name(value) != _type_name(self._v):
                return _refuse("isin of values of another type")
            found = found or self._v == value or self._v != self._v and value != value
        return _lane(found, 2)

    @property
    def str(self):
        if self._kind != 2 or not (self._v is None or isinstance(self._v, str)):
            return _refuse("the texts of such a column")
        return _Texts(self._v, 2)

    def map(self, arg, na_action=None):
        if na_action is not None:
            return _refuse("map with such an option")
        if _is_function(arg):
            return _applied(arg, self._series())
        return _mapped(self._series(), arg)

    def apply(self, func):
        return _applied(func, self._series())

    def add(self, other):
        return self._series() + other

    def radd(self, other):
        return other + self._series()

    def sub(self, other):
        return self._series() - other

    def subtract(self, other):
        return self._series() - other

    def rsub(self, other):
        return other - self._series()

    def mul(self, other):
        return self._series() * other

    def multiply(self, other):
        return self._series() * other

    def rmul(self, other):
        return other * self._series()

    def div(self, other):
        return self._series() / other

    def divide(self, other):
        return self._series() / other

    def truediv(self, other):
        return self._series() / other

    def rdiv(self, other):
        return other / self._series()

    def rtruediv(self, other):
        return other / self._series()

    def floordiv(self, other):
        return self._series() // other

    def mod(self, other):
        return self._series() % other

    def pow(self, other):
        return self._series() ** other

    def eq(self, other):
        return self._series() == other

    def ne(self, other):
        return self._series() != other

    def lt(self, other):
        return self._series() < other

    def le(self, other):
        return self._series() <= other

    def gt(self, other):
        return self._series() > other

    def ge(self, other):
        return self._series() >= other


class _Number(_Lane):
    _kind = 0
    # What the result of an operation with it is, if the other operand is less.
    _beside = 0

    def __index__(self):
        if isinstance(self._v, bool) or not isinstance(self._v, int):
            return _refuse("an index that is no int")
        return self._v

    def _in_sql(self):
        return self._v

    def item(self):
        return self._v


class _Array(_Lane):
    _kind = 1
    _beside = 1


class _Series(_Lane):
    _kind = 2
    _beside = 2


class _Fixed(_Lane):
    _kind = 3
    _beside = 1


class _Unsure(_Lane):
    """A Series of texts whose dtype another one would be if all were missing: it is only returned."""

    _kind = 4
    _beside = 4


# The classes of columns by their kinds.
_LANES = (_Number, _Array, _Series, _Fixed, _Unsure)


class _Labels:
    """The labels of the rows of a column, which are their numbers."""


class _Loc:
    """`series.loc`, for assignments by a mask."""

    def __init__(self, of):
        self._of = of

    def __setitem__(self, key, value):
        self._of[key] = value

    def __getitem__(self, key):
        return _refuse("a part of a column")


class _Texts:
    """`series.str`."""

    def __init__(self, of, kind):
        self._of = of
        self._kind = kind

    def _plain(self):
        # What has other characters pandas gives to Arrow, which has its own tables of Unicode.
        text = self._text()
        if not text.isascii():
            return _leave("a text that is not ASCII")
        return text

    def _same_case(self, made):
        # Arrow maps each character to one, by a later version of Unicode.
        text = self._text()
        if not text.isascii() and (len(made) != len(text) or not text.isprintable() or _has_other_case(text)):
            return _leave("a text whose case is another in Arrow")
        return made

    def _text(self):
        if not isinstance(self._of, str):
            return _refuse("a text of a list")
        return self._of

    def len(self):
        if not (self._of is None or isinstance(self._of, str)):
            return _refuse("the length of a list")
        return _Lengths(self._of)

    def lower(self):
        return _lane(None if self._of is None else self._same_case(self._text().lower()), 2)

    def upper(self):
        return _lane(None if self._of is None else self._same_case(self._text().upper()), 2)

    def title(self):
        return _lane(None if self._of is None else self._plain().title(), 2)

    def capitalize(self):
        return _lane(None if self._of is None else self._plain().capitalize(), 2)

    def swapcase(self):
        return _lane(None if self._of is None else self._plain().swapcase(), 2)

    def strip(self, to_strip=None):
        return _lane(None if self._of is None else self._text().strip(_characters(to_strip)), 2)

    def lstrip(self, to_strip=None):
        return _lane(None if self._of is None else self._text().lstrip(_characters(to_strip)), 2)

    def rstrip(self, to_strip=None):
        return _lane(None if self._of is None else self._text().rstrip(_characters(to_strip)), 2)

    def zfill(self, width):
        return _lane(None if self._of is None else self._plain().zfill(width), 2)

    def startswith(self, pat):
        _constant(pat)
        return _lane(False if self._of is None else self._text().startswith(pat), 2)

    def endswith(self, pat):
        _constant(pat)
        return _lane(False if self._of is None else self._text().endswith(pat), 2)

    def contains(self, pat, case=True, flags=0, na=_missing, regex=True):
        if not _is_missing(na) and na is not False or flags != 0 or case is not True:
            return _refuse("contains with such options")
        _constant(pat)
        if regex:
            _literal(pat)
        return _lane(False if self._of is None else pat in self._text(), 2)

    def replace(self, pat, repl, n=-1, case=None, flags=0, regex=False):
        if n != -1 or case is not None or flags != 0:
            return _refuse("replace with such options")
        _constant(pat)
        _constant(repl)
        if len(pat) == 0:
            return _refuse("replace of an empty text")
        if regex:
            _literal(pat)
            if "\\" in repl:
                return _refuse("replace by groups of a pattern")
        return _lane(None if self._of is None else self._text().replace(pat, repl), 2)

    def removeprefix(self, prefix):
        _constant(prefix)
        return _lane(None if self._of is None else self._text().removeprefix(prefix), 2)

    def removesuffix(self, suffix):
        _constant(suffix)
        if suffix == "":
            return _refuse("an empty suffix")
        return _lane(None if self._of is None else self._text().removesuffix(suffix), 2)

    def slice(self, start=None, stop=None, step=None):
        if step is not None:
            return _refuse("a slice with a step")
        return _lane(None if self._of is None else self._text()[start:stop], 2)

    def split(self, pat=None, *, n=-1, expand=False):
        if expand or n != -1:
            return _refuse("split with such options")
        if pat is not None:
            _constant(pat)
            if pat == "":
                return _refuse("split by an empty text")
            if len(pat) > 1:
                _literal(pat)
        return _Lists(None if self._of is None else self._text().split(pat))

    def get(self, i):
        return self[i]

    def __getitem__(self, key):
        if isinstance(key, bool) or not isinstance(key, int):
            return _refuse("such a part of texts")
        of = self._of
        if of is None:
            return _lane(None, self._kind)
        if key >= len(of) or key < -len(of):
            return _lane(None, self._kind)
        return _lane(of[key], self._kind)

    def __iter__(self):
        return _refuse("the texts of a column one after the other")


class _Lengths:
    """What `series.str.len` gives: ints, or floats where a text is missing, so that it is only compared."""

    def __init__(self, of):
        self._of = of

    def _compared(self, other, function):
        if isinstance(other, bool) or not isinstance(other, int):
            return _refuse("a length and what is no int")
        if self._of is None:
            return _compared_missing(function)
        return _lane(function(len(self._of), other), 2)

    def __bool__(self):
        return _refuse("the truth of a column")

    def __iter__(self):
        return _refuse("the values of a column one after the other")

    def __eq__(self, other):
        return self._compared(other, _eq)

    def __ne__(self, other):
        return self._compared(other, _ne)

    def __lt__(self, other):
        return self._compared(other, _lt)

    def __le__(self, other):
        return self._compared(other, _le)

    def __gt__(self, other):
        return self._compared(other, _gt)

    def __ge__(self, other):
        return self._compared(other, _ge)


class _Lists:
    """What `series.str.split` gives."""

    def __init__(self, of):
        self._of = of

    @property
    def str(self):
        return _Texts(self._of, 4)


def _has_other_case(text):
    """A final sigma, or what has had an upper case since Unicode 14."""
    return "Σ" in text or "ƛ" in text or "ɤ" in text or "ꟓ" in text or "ꟕ" in text


def _constant(text):
    if not isinstance(text, str):
        return _refuse("a pattern that is no text")
    return text


def _characters(text):
    return None if text is None else _constant(text)


def _literal(pattern):
    """Refuses a pattern that is not matched as it stands."""
    if not _is_literal(pattern):
        return _refuse("a pattern of a regular expression")


def _is_literal(p):
    return not (
        "\\" in p
        or "." in p
        or "^" in p
        or "$" in p
        or "*" in p
        or "+" in p
        or "?" in p
        or "{" in p
        or "[" in p
        or "|" in p
        or "(" in p
        or ")" in p
    )


def _applied(function, series):
    """What a function of Python makes of each value, which for a missing text is NaN."""
    if not _is_function(function):
        return _refuse("what is no function as one of each value")
    return _of_result(function(_nan) if series._v is None else function(series._v), 2)


def _of_result(made, kind):
    """A column of what a function of Python gives, of one type or texts and None."""
    if _takes("float.neg", made):
        return _lane(made, kind)
    if _takes("bool.not", made):
        return _lane(made, kind)
    if _takes("int.to_float", made):
        return _lane(_int(made), kind)
    if _takes("str.byte_len", made):
        # Arrays of texts end them before their last NULs.
        return _lane(made.rstrip("\0") if kind == 1 else made, kind)
    if kind == 2 and _takes("str.byte_len", "" if made is None else made):
        return _lane(made, 4)
    return _refuse("a column of such results of a function")


class vectorize:
    def __init__(self, pyfunc):
        if not _is_function(pyfunc):
            return _refuse("vectorize of what is no function")
        self._function = pyfunc

    def __call__(self, *args):
        values = ()
        most = 0
        for arg in args:
            values = values + (_held(arg),)
            most = _most(most, _kind(arg))
        if most == 0:
            return _refuse("vectorize over scalars")
        return _of_result(self._function(*values), 1)


class errstate:
    def __init__(self, *, all=None, divide=None, over=None, under=None, invalid=None):
        for what in (all, divide, over, under, invalid):
            if what is not None and what != "ignore" and what != "warn":
                return _refuse("errstate that raises")

    def __enter__(self):
        return None

    def __exit__(self, *args):
        return None


def _mapped(series, table):
    """`series.map` of a dict."""
    if _type_name(table) != "dict" or not (series._v is None or isinstance(series._v, str)):
        return _refuse("map of such a table")
    texts, floats = True, True
    for key in table:
        # None is found for what is missing.
        if not isinstance(key, str):
            return _refuse("map of a table with such keys")
    for value in table.values():
        texts = texts and isinstance(value, str)
        floats = floats and isinstance(value, float)
    if len(table) == 0 or not texts and not floats:
        return _refuse("map of a table of such values")
    if floats:
        return _lane(_nan if series._v is None else table.get(series._v, _nan), 2)
    return _lane(None if series._v is None else table.get(series._v), 4)


def _and(x, y):
    return x & y


def _or(x, y):
    return x | y


def _xor(x, y):
    return x ^ y


def _eq(x, y):
    return x == y


def _ne(x, y):
    return x != y


def _lt(x, y):
    return x < y


def _le(x, y):
    return x <= y


def _gt(x, y):
    return x > y


def _ge(x, y):
    return x >= y


def _isna(value):
    x = _held(value)
    if x is None:
        return _lane(True, _kind(value))
    return _lane(x != x if isinstance(x, float) else False, _kind(value))


def _astype(lane, dtype):
    if lane._kind == 0:
        return _refuse("astype of a scalar")
    kind = _kind(lane)
    value = lane._v
    name = _dtype_name(dtype)
    if value is None or isinstance(value, str):
        return _refuse("astype of texts")
    if name == "float64":
        return _lane(_float(value), kind)
    if name == "int64":
        if isinstance(value, float) and not -9.2e18 < value < 9.2e18:
            return _leave("a float beyond int64")
        return _lane(int(value), kind)
    if name == "bool":
        return _lane(value != 0, kind)
    return _refuse("astype of such a type")


def _dtype_name(dtype):
    if isinstance(dtype, str):
        if dtype in ("float", "float64", "f8", "d", "double"):
            return "float64"
        if dtype in ("int", "int64", "i8", "long"):
            return "int64"
        if dtype in ("bool", "?"):
            return "bool"
        return dtype
    if dtype is float or dtype is float64:
        return "float64"
    if dtype is int or dtype is int64:
        return "int64"
    if dtype is bool or dtype is bool_:
        return "bool"
    return ""


class float64:
    @staticmethod
    def _make(value=0.0):
        if isinstance(value, str):
            return _Number(float(value))
        return _Number(_float(_scalar_of(value)))


class int64:
    @staticmethod
    def _make(value=0):
        value = _scalar_of(value)
        if isinstance(value, float) and not -9.2e18 < value < 9.2e18:
            return _leave("a float beyond int64")
        return _Number(_int(int(value)))


class bool_:
    def __init__(self, value):
        return _refuse("a scalar of bool_")


def _scalar(value):
    if isinstance(value, (float, int)):
        return value
    return _refuse("a scalar of such a value")


def _chosen(lane, cond, when, other):
    """The value where the condition says so, and the other elsewhere."""
    if isinstance(cond, _Lane):
        c = cond._v
    else:
        return _refuse("a condition that is no column")
    if not isinstance(c, bool):
        return _refuse("a condition that is no column of bools")
    value = lane._v
    if isinstance(value, float):
        if isinstance(other, bool):
            return _refuse("a bool among floats")
        other = _nan if other is None else _float(_held(other))
    elif isinstance(value, bool) or isinstance(value, int):
        if other is None:
            return _refuse("a column that becomes one of floats")
        other = _held(other)
        if _type_name(other) != _type_name(value):
            return _refuse("a column that becomes one of another type")
    elif other is None:
        return _lane(value if c == when else None, 2)
    else:
        other = _held(other)
        if not (other is None or isinstance(other, str)):
            return _refuse("a number among texts")
    return _lane(value if c == when else other, 2)


def _clip_series(series, lower, upper):
    value = series._v
    lower, upper = _bound(lower), _bound(upper)
    if isinstance(value, float):
        if lower is not None and upper is not None and lower > upper:
            lower, upper = upper, lower
        if upper is not None:
            value = value if value != value or value <= upper else _float(upper)
        if lower is not None:
            value = value if value != value or value >= lower else _float(lower)
        return _lane(value, 2)
    if isinstance(value, bool) or not isinstance(value, int):
        return _refuse("clip of such a column")
    if lower is not None and upper is not None and lower > upper:
        lower, upper = upper, lower
    if upper is not None:
        value = value if value <= _int(upper) else _int(upper)
    if lower is not None:
        value = value if value >= _int(lower) else _int(lower)
    return _lane(value, 2)


def _bound(value):
    if value is None:
        return None
    if isinstance(value, _Number):
        return _bound(value._v)
    if isinstance(value, bool) or not isinstance(value, (float, int)):
        return _refuse("clip by a column")
    if value != value:
        return None
    return value


# Functions of the module.


def _array(x):
    """Arguments that are no columns are scalars of NumPy, whose results are."""
    if x is None:
        return _leave("None as a number")
    if isinstance(x, (_Lane, ndarray)):
        return x
    if isinstance(x, (float, int)):
        return _lane(x, 0)
    if isinstance(x, (list, tuple)):
        return _of_items(x)
    return _refuse("a function of NumPy of what is no column")


def _of_float(x, operation):
    if isinstance(x, _ARRAYS):
        return _each(_of_float, x, operation)
    x = _array(x)
    if isinstance(x._v, bool):
        return _refuse("a function of floats of bools")
    return _lane(_operation(operation, _float(x._v)), _kind(x))


def _of_floats(x, y, operation):
    if isinstance(x, _ARRAYS) or isinstance(y, _ARRAYS):
        return _each(_of_floats, x, y, operation)
    x, y = _array(x), _array(y)
    if isinstance(x._v, bool) or isinstance(y._v, bool):
        return _refuse("a function of floats of bools")
    return _lane(_operation(operation, _float(x._v), _float(y._v)), _most(_kind(x), _kind(y)))


def sqrt(x, /):
    return _of_float(x, "ieee.sqrt")


def exp(x, /):
    return _of_float(x, "ufunc.exp")


def exp2(x, /):
    return _of_float(x, "ufunc.exp2")


def expm1(x, /):
    return _of_float(x, "ufunc.expm1")


def log(x, /):
    return _of_float(x, "ufunc.log")


def log2(x, /):
    return _of_float(x, "ufunc.log2")


def log10(x, /):
    return _of_float(x, "ufunc.log10")


def log1p(x, /):
    return _of_float(x, "ufunc.log1p")


def sin(x, /):
    return _of_float(x, "ufunc.sin")


def cos(x, /):
    return _of_float(x, "ufunc.cos")


def tan(x, /):
    return _of_float(x, "ufunc.tan")


def arcsin(x, /):
    return _of_float(x, "ufunc.arcsin")


def arccos(x, /):
    return _of_float(x, "ufunc.arccos")


def arctan(x, /):
    return _of_float(x, "ufunc.arctan")


def sinh(x, /):
    return _of_float(x, "ufunc.sinh")


def cosh(x, /):
    return _of_float(x, "ufunc.cosh")


def tanh(x, /):
    return _of_float(x, "ufunc.tanh")


def arcsinh(x, /):
    return _of_float(x, "ufunc.arcsinh")


def arccosh(x, /):
    return _of_float(x, "ufunc.arccosh")


def arctanh(x, /):
    return _of_float(x, "ufunc.arctanh")


def cbrt(x, /):
    return _of_float(x, "ufunc.cbrt")


def _whole(x, operation):
    """Ints stay ints."""
    if isinstance(x, _ARRAYS):
        return _each(_whole, x, operation)
    x = _array(x)
    if isinstance(x._v, bool):
        return _refuse("a function of floats of bools")
    if isinstance(x._v, int):
        return _lane(_int(x._v), _kind(x))
    return _lane(_operation(operation, _float(x._v)), _kind(x))


def floor(x, /):
    return _whole(x, "ieee.floor")


def ceil(x, /):
    return _whole(x, "ieee.ceil")


def trunc(x, /):
    return _whole(x, "ieee.trunc")


def rint(x, /):
    return _of_float(x, "ieee.nearest")


def fix(x):
    return trunc(x)


def arctan2(y, x, /):
    return _of_floats(y, x, "ufunc.arctan2")


def hypot(x, y, /):
    return _of_floats(x, y, "ufunc.hypot")


def radians(x, /):
    if isinstance(x, _ARRAYS):
        return _each(radians, x)
    return _array(x) * _radian if _is_number(x) else _refuse("radians of such a value")


def deg2rad(x, /):
    return radians(x)


def degrees(x, /):
    if isinstance(x, _ARRAYS):
        return _each(degrees, x)
    return _array(x) * _degree if _is_number(x) else _refuse("degrees of such a value")


def rad2deg(x, /):
    return degrees(x)


def _is_number(x):
    return isinstance(_held(x), float) or isinstance(_held(x), int) and not isinstance(_held(x), bool)


def absolute(x, /):
    if isinstance(x, _ARRAYS):
        return _each(absolute, x)
    x = _array(x)
    if isinstance(x._v, bool):
        return _lane(x._v, _kind(x))
    if isinstance(x._v, float):
        return _lane(_operation("float.abs", x._v), _kind(x))
    return _lane(_int(_operation("int.abs", _int(x._v))), _kind(x))


def abs(x, /):
    return absolute(x)


def fabs(x, /):
    return _of_float(x, "float.abs")


def negative(x, /):
    if isinstance(x, _ARRAYS):
        return _each(negative, x)
    x = _array(x)
    if isinstance(x._v, float):
        return _lane(-x._v, _kind(x))
    if isinstance(x._v, bool):
        return _refuse("the negation of bools")
    return _lane(_int(-_int(x._v)), _kind(x))


def positive(x, /):
    if isinstance(x, _ARRAYS):
        return _each(positive, x)
    x = _array(x)
    if isinstance(x._v, bool) or isinstance(x._v, str):
        return _refuse("plus of bools")
    return _lane(x._v, _kind(x))


def square(x, /):
    x = _array(x)
    return x * x


def reciprocal(x, /):
    if isinstance(x, _ARRAYS):
        return _each(reciprocal, x)
    x = _array(x)
    if not isinstance(x._v, float):
        return _refuse("the reciprocal of ints")
    return 1.0 / x


def sign(x, /):
    if isinstance(x, _ARRAYS):
        return _each(sign, x)
    x = _array(x)
    value = x._v
    if isinstance(value, float):
        return _lane(1.0 if value > 0.0 else -1.0 if value < 0.0 else 0.0 if value == 0.0 else value, _kind(x))
    if isinstance(value, bool):
        return _refuse("the sign of bools")
    return _lane(1 if value > 0 else -1 if value < 0 else 0, _kind(x))


def add(x, y, /):
    return _array(x) + y


def subtract(x, y, /):
    return _array(x) - y


def multiply(x, y, /):
    return _array(x) * y


def divide(x, y, /):
    return _array(x) / y


def true_divide(x, y, /):
    return _array(x) / y


def floor_divide(x, y, /):
    return _binary(x, y, _floor_float, _floor_int)


def remainder(x, y, /):
    return _binary(x, y, _mod_float, _mod_int)


def mod(x, y, /):
    return remainder(x, y)


def fmod(x, y, /):
    if isinstance(x, _ARRAYS) or isinstance(y, _ARRAYS):
        return _each(fmod, x, y)
    x, y = _array(x), _array(y)
    if not isinstance(x._v, float) and not isinstance(y._v, float):
        return _refuse("fmod of ints")
    return _of_floats(x, y, "ufunc.fmod")


def power(x, y, /):
    return _power(_array(x), y, True)


def _greater(x, y):
    return x if x > y or x != x else y


def _less(x, y):
    return x if x < y or x != x else y


def _greater_int(x, y):
    return x if x > y else y


def _less_int(x, y):
    return x if x < y else y


def heaviside(x1, x2, /):
    return _binary(x1, x2, _step_at_zero, _no_step)


def _step_at_zero(x, at_zero):
    return x if x != x else at_zero if x == 0.0 else 0.0 if x < 0.0 else 1.0


def _no_step(x, at_zero):
    return _refuse("heaviside of ints")


def float_power(x1, x2, /):
    return _of_floats(x1, x2, "ufunc.power")


def logaddexp(x1, x2, /):
    if isinstance(x1, _ARRAYS) or isinstance(x2, _ARRAYS):
        return _each(logaddexp, x1, x2)
    x, y = _array(x1), _array(x2)
    if isinstance(x._v, bool) or isinstance(y._v, bool):
        return _refuse("a function of floats of bools")
    return _lane(_log_of_powers(_float(x._v), _float(y._v)), _most(_kind(x), _kind(y)))


def _log_of_powers(x, y):
    """The logarithm of the sum of e to two powers."""
    if x == y:
        return x + 0.6931471805599453
    larger = x - y
    if larger != larger:
        return larger
    most, down = (x, -larger) if larger > 0.0 else (y, larger)
    return most + _operation("ufunc.log1p", _operation("ufunc.exp", down))


def gcd(x1, x2, /):
    return _binary(x1, x2, _no_divisor, _divisor)


def lcm(x1, x2, /):
    return _binary(x1, x2, _no_divisor, _multiple)


def _no_divisor(x, y):
    return _refuse("a common divisor of floats")


def _divisor(x, y):
    return _operation("math.gcd", x, y)


def _multiple(x, y):
    divisor = _divisor(x, y)
    return 0 if divisor == 0 else _operation("int.abs", _int(x // divisor * y))


def sinc(x):
    if isinstance(x, _ARRAYS):
        return _each_array(sinc, x)
    x = 3.141592653589793 * _array(x)
    y = x._v if x._v != 0.0 else 2.220446049250313e-16
    # Of a Series it makes an array.
    return _lane(_div(_operation("ufunc.sin", y), y), 0 if _kind(x) == 0 else 1)


def maximum(x, y, /):
    return _binary(x, y, _greater, _greater_int)


def minimum(x, y, /):
    return _binary(x, y, _less, _less_int)


def _greater_number(x, y):
    return y if x != x else x if x > y or y != y else y


def _less_number(x, y):
    return y if x != x else x if x < y or y != y else y


def fmax(x, y, /):
    return _binary(x, y, _greater_number, _greater_int)


def fmin(x, y, /):
    return _binary(x, y, _less_number, _less_int)


def clip(a, a_min=_missing, a_max=_missing):
    if _is_missing(a_min) or _is_missing(a_max):
        return _leave("clip without one of its bounds")
    if _has_array(a, a_min, a_max):
        return _each(clip, a, a_min, a_max)
    a = _array(a)
    if a._kind == 2:
        return _clip_series(a, a_min, a_max)
    if isinstance(a_min, (float, int)) and isinstance(a_max, (float, int)) and isinstance(_held(a), float):
        value, lower, upper = _held(a), _float(a_min), _float(a_max)
        if lower != lower or upper != upper:
            return _leave("a bound that is NaN")
        value = lower if value < lower else value
        return _lane(upper if value > upper else value, _kind(a))
    made = a
    if a_min is not None:
        made = maximum(made, a_min)
    if a_max is not None:
        made = minimum(made, a_max)
    if not isinstance(made, _Lane) or made._kind == 2:
        return _refuse("clip of such values")
    return _lane(made._v, _kind(made))


def round(a, decimals=0):
    if isinstance(a, _ARRAYS):
        return _each(round, a, decimals)
    a = _array(a)
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        return _refuse("round to such a number of decimals")
    value = a._v
    if isinstance(value, bool) or isinstance(value, str):
        return _refuse("round of such a column")
    if not isinstance(value, float):
        if decimals < 0:
            return _refuse("round of ints")
        return _lane(value, _kind(a))
    if not -22 <= decimals <= 22:
        return _leave("round to so many decimals")
    if decimals == 0:
        return _lane(_operation("ieee.nearest", value), _kind(a))
    if decimals > 0:
        scale = 10.0**decimals
        return _lane(_div(_operation("ieee.nearest", value * scale), scale), _kind(a))
    scale = 10.0**-decimals
    return _lane(_operation("ieee.nearest", _div(value, scale)) * scale, _kind(a))


def around(a, decimals=0):
    return round(a, decimals)


def isnan(x, /):
    return _of_test(x, _is_nan)


def isinf(x, /):
    return _of_test(x, _is_inf)


def isfinite(x, /):
    return _of_test(x, _is_finite)


def signbit(x, /):
    return _of_test(x, _is_signed)


def _is_signed(x):
    # A NaN has a sign too, which ours does not keep.
    return _leave("the sign of NaN") if x != x else _operation("math.copysign", 1.0, x) < 0.0


def _of_test(x, function):
    if isinstance(x, _ARRAYS):
        return _each(_of_test, x, function)
    x = _array(x)
    if isinstance(x._v, str):
        return _refuse("a test of texts")
    return _lane(function(_float(x._v)), _kind(x))


def _is_nan(x):
    return x != x


def _is_finite(x):
    return x - x == 0.0


def _is_inf(x):
    return x == x and x - x != 0.0


def _truth(x):
    """Of a number whether it is not zero; of a bool itself."""
    if isinstance(x, _ARRAYS):
        x = _listed(x)
        return x if x._code == 2 else x != 0
    x = _array(x)
    return x if isinstance(_held(x), bool) else _compared(x, 0, _ne)


def logical_and(x, y, /):
    return _logical(_truth(x), _truth(y), _and)


def logical_or(x, y, /):
    return _logical(_truth(x), _truth(y), _or)


def logical_xor(x, y, /):
    return _logical(_truth(x), _truth(y), _xor)


def logical_not(x, /):
    return ~_truth(x)


def invert(x, /):
    return ~_array(x)


def bitwise_not(x, /):
    return invert(x)


def bitwise_invert(x, /):
    return invert(x)


def bitwise_and(x, y, /):
    return _logical(_array(x), y, _and)


def bitwise_or(x, y, /):
    return _logical(_array(x), y, _or)


def bitwise_xor(x, y, /):
    return _logical(_array(x), y, _xor)


def left_shift(x, y, /):
    return _shifted(_array(x), y, _left)


def right_shift(x, y, /):
    return _shifted(_array(x), y, _right)


def equal(x, y, /):
    return _compared(x, y, _eq)


def not_equal(x, y, /):
    return _compared(x, y, _ne)


def less(x, y, /):
    return _compared(x, y, _lt)


def less_equal(x, y, /):
    return _compared(x, y, _le)


def greater(x, y, /):
    return _compared(x, y, _gt)


def greater_equal(x, y, /):
    return _compared(x, y, _ge)


def copysign(x, y, /):
    return _of_floats(x, y, "math.copysign")


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if isinstance(x, _ARRAYS):
        return _each(nan_to_num, x, copy, nan, posinf, neginf)
    x = _array(x)
    if not isinstance(x._v, float) or x._kind == 2 or not copy:
        return _refuse("nan_to_num of such a column")
    most = 1.7976931348623157e308 if posinf is None else _float(_scalar(posinf))
    least = -1.7976931348623157e308 if neginf is None else _float(_scalar(neginf))
    value = x._v
    filled = _float(_scalar(nan)) if value != value else value
    filled = most if value > 1.7976931348623157e308 else filled
    return _lane(least if value < -1.7976931348623157e308 else filled, _kind(x))


def _united(a, b, c):
    """`a` where `c`, else `b`, of the type that both become."""
    if a is None or b is None:
        return _leave("a missing text in an array")
    if isinstance(a, str) or isinstance(b, str):
        if not isinstance(a, str) or not isinstance(b, str):
            return _refuse("texts beside numbers in a column")
        text = a if c else b
        if text.endswith("\0"):
            return _leave("a text of an array that ends in NUL")
        return text
    if isinstance(a, float) or isinstance(b, float):
        a, b = _float(a), _float(b)
        return a if c else b
    if isinstance(a, bool) and isinstance(b, bool):
        return a if c else b
    a, b = _int(a), _int(b)
    return a if c else b


def where(condition, x=_missing, y=_missing, /):
    if _is_missing(x) and _is_missing(y):
        return nonzero(condition)
    if _is_missing(x) or _is_missing(y):
        return _leave("where with one of two")
    if _has_array(condition, x, y):
        return _each_array(where, condition, x, y)
    if _most(_kind(x), _kind(y)) != 0 and isinstance(_held(condition), bool):
        # One condition for all elements of the others.
        return _lane(_united(_held(x), _held(y), _held(condition)), 1)
    if not isinstance(condition, _Lane) or condition._kind == 0 or not isinstance(condition._v, (int, float)):
        return _refuse("where of such a condition")
    chosen = condition._v if isinstance(condition._v, bool) else condition._v != 0
    return _lane(_united(_held(x), _held(y), chosen), 1)


def _is_condition(value):
    return isinstance(value, _Lane) and value._kind != 0 and isinstance(value._v, bool)


def _backwards(items):
    made = ()
    for item in items:
        made = (item,) + made
    return made


def _has_array_in(items):
    return isinstance(items, tuple) and _has_array(*items)


def select(condlist, choicelist, default=0):
    if _has_array_in(condlist):
        if not isinstance(choicelist, tuple) or len(condlist) != len(choicelist):
            return _refuse("select of such lists")
        for array in condlist + choicelist:
            if isinstance(array, _Matrix):
                # NumPy's result has its rows one after the other in any case.
                array._by_rows()
        rest = default if len(condlist) == 1 else select(condlist[1:], choicelist[1:], default)
        return where(condlist[0], choicelist[0], rest)
    made = _held(default)
    if isinstance(condlist, tuple) and isinstance(choicelist, tuple):
        if len(condlist) != len(choicelist) or len(condlist) == 0:
            return _refuse("select of such lists")
        for choice in choicelist:
            made = _united(made, _held(choice), True)
        for condition, choice in zip(_backwards(condlist), _backwards(choicelist)):
            if not _is_condition(condition):
                return _refuse("select by such a condition")
            made = _united(_held(choice), made, condition._v)
        return _lane(made, 1)
    if not isinstance(condlist, list) or not isinstance(choicelist, list):
        return _refuse("select of such lists")
    if len(condlist) != len(choicelist) or len(condlist) == 0:
        return _leave("select of such lists")
    made = _united(made, _held(choicelist[0]), True)
    for at in range(len(condlist)):
        condition, choice = condlist[at], choicelist[at]
        if not _is_condition(condition):
            return _refuse("select by such a condition")
        if _type_name(made) != _type_name(_united(made, _held(choice), True)):
            return _refuse("select of choices of several types")
        if condition._v:
            return _lane(_united(_held(choice), made, True), 1)
    return _lane(made, 1)


def asarray(a, dtype=None):
    if a is None:
        return _leave("None as an array")
    if isinstance(a, Series):
        return a.to_numpy() if dtype is None else _refuse("an array of another type")
    if isinstance(a, ndarray):
        if dtype is None or _dtype_name(dtype) == ("float64", "int64", "bool")[a._code]:
            return a._kept()
        return a.astype(dtype)
    if isinstance(a, (list, tuple)):
        return _of_items(a) if dtype is None else _of_items(a).astype(dtype)
    if dtype is not None:
        return _refuse("an array of another type")
    if not isinstance(a, _Lane):
        return _refuse("an array of what is no column")
    return a.to_numpy() if a._kind == 2 else a


def array(object, dtype=None):
    if object is None:
        return _leave("None as an array")
    if isinstance(object, (ndarray, list, tuple)):
        made = asarray(object, dtype)
        if isinstance(object, Series):
            return _fresh(made._list(), made._code)
        if isinstance(object, _Matrix):
            object._by_rows()
        return made._own() if isinstance(object, ndarray) else made
    if dtype is not None:
        return _refuse("an array of another type")
    if not isinstance(object, _Lane) or object._kind == 0:
        return _refuse("an array of what is no column")
    return _lane(object._v, 1)


def zeros_like(a):
    return _like(a, 0)


def ones_like(a):
    return _like(a, 1)


def _like(a, value):
    if isinstance(a, ndarray):
        return _each(_like, a, value)._kept()
    if not isinstance(a, _Lane) or a._kind == 0 or isinstance(a._v, str) or isinstance(a._v, bool):
        return _refuse("an array like such a value")
    return _lane(_float(value) if isinstance(a._v, float) else value, 2 if a._kind == 2 else 1)


def full_like(a, fill_value):
    if isinstance(a, ndarray) and not isinstance(fill_value, ndarray):
        return _each(full_like, a, fill_value)._kept()
    if not isinstance(a, _Lane) or a._kind == 0 or not isinstance(a._v, float) or isinstance(fill_value, (_Lane, bool)):
        return _refuse("an array like such a value")
    return _lane(_float(_held(fill_value)), 2 if a._kind == 2 else 1)


def _as_series(data, index):
    if index is not None and not isinstance(index, _Labels):
        return _refuse("a Series with such labels")
    if isinstance(data, list):
        if not data:
            return _leave("a Series of nothing")
        data = _of_items(data)
    if isinstance(data, _Matrix):
        return _refuse("a Series of a matrix")
    if isinstance(data, ndarray):
        return Series(data._list(), 0, 1, data._n, data._code)
    if not isinstance(data, _Lane) or data._kind == 0:
        return _refuse("a Series of what is no column")
    return _lane(data._v, 2)


def _as_numbers(data):
    if not isinstance(data, _Lane) or data._kind == 0 or data._v is None or isinstance(data._v, str):
        return _refuse("to_numeric of such a column")
    return _lane(data._v, _kind(data))
