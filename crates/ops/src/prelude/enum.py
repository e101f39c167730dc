"""What the members of enumerations do (library reference, module enum). Each has `_name_` and `_value_`."""


class Enum:
    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def __repr__(self):
        return f"<{_type_name(self)}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        return f"{_type_name(self)}.{self._name_}"

    def __format__(self, spec):
        return format(str(self), spec)


class TextEnum(Enum):
    """The members are texts; operations that read a text read their values."""

    def __hash__(self):
        return _refuse("the hash of a text")

    def __bool__(self):
        return self._value_ != ""

    def __len__(self):
        return len(self._value_)

    def __iter__(self):
        return (char for char in self._value_)

    def __reversed__(self):
        return (char for char in self._value_[::-1])

    def __mod__(self, other):
        return _refuse("a member as a template")

    # With texts these are those of the values; the messages about others are those of str.
    def __add__(self, other):
        return _refuse("a member that is a text and something else")

    __radd__ = __add__
    __mul__ = __add__
    __rmul__ = __add__

    def __int__(self):
        return _refuse("the number of a member that is a text")

    __float__ = __int__

    def __eq__(self, other):
        return self._value_ == _text_of(other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other):
        return self._value_ != _text_of(other) if isinstance(other, str) else NotImplemented

    def __lt__(self, other):
        return self._value_ < _text_of(other) if isinstance(other, str) else NotImplemented

    def __le__(self, other):
        return self._value_ <= _text_of(other) if isinstance(other, str) else NotImplemented

    def __gt__(self, other):
        return self._value_ > _text_of(other) if isinstance(other, str) else NotImplemented

    def __ge__(self, other):
        return self._value_ >= _text_of(other) if isinstance(other, str) else NotImplemented


class StrEnum(TextEnum):
    def __str__(self):
        return self._value_

    def __format__(self, spec):
        return _plainly_formatted(self._value_, spec)


def _plainly_formatted(value, spec):
    try:
        return format(value, spec)
    except ValueError:
        # Its message names the class.
        return _leave("a member in such a format")


def _is_number(value):
    return isinstance(value, (int, float))


def _number(value):
    """An operand without its class: an int of a bool or a member."""
    return value if isinstance(value, float) else int(value)


class IntEnum(Enum):
    """The members are ints; what arithmetic makes of them is none of theirs."""

    def __str__(self):
        return str(self._value_)

    def __format__(self, spec):
        return _plainly_formatted(self._value_, spec)

    def __int__(self):
        return self._value_

    __index__ = __int__
    __trunc__ = __int__
    __floor__ = __int__
    __ceil__ = __int__
    __pos__ = __int__

    def __float__(self):
        return float(self._value_)

    def __round__(self, n=None):
        return self._value_ if n is None else round(self._value_, n)

    def __bool__(self):
        return self._value_ != 0

    def __hash__(self):
        return self._value_

    def __neg__(self):
        return -self._value_

    def __invert__(self):
        return ~self._value_

    def __abs__(self):
        return abs(self._value_)

    def __eq__(self, other):
        return self._value_ == _number(other) if _is_number(other) else NotImplemented

    def __ne__(self, other):
        return self._value_ != _number(other) if _is_number(other) else NotImplemented

    def __lt__(self, other):
        return self._value_ < _number(other) if _is_number(other) else NotImplemented

    def __le__(self, other):
        return self._value_ <= _number(other) if _is_number(other) else NotImplemented

    def __gt__(self, other):
        return self._value_ > _number(other) if _is_number(other) else NotImplemented

    def __ge__(self, other):
        return self._value_ >= _number(other) if _is_number(other) else NotImplemented

    def __add__(self, other):
        return self._value_ + _number(other) if _is_number(other) else NotImplemented

    def __radd__(self, other):
        return _number(other) + self._value_ if _is_number(other) else NotImplemented

    def __sub__(self, other):
        return self._value_ - _number(other) if _is_number(other) else NotImplemented

    def __rsub__(self, other):
        return _number(other) - self._value_ if _is_number(other) else NotImplemented

    def __mul__(self, other):
        return self._value_ * _number(other) if _is_number(other) else NotImplemented

    def __rmul__(self, other):
        return _number(other) * self._value_ if _is_number(other) else NotImplemented

    def __truediv__(self, other):
        return self._value_ / _number(other) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other):
        return _number(other) / self._value_ if _is_number(other) else NotImplemented

    def __floordiv__(self, other):
        return self._value_ // _number(other) if _is_number(other) else NotImplemented

    def __rfloordiv__(self, other):
        return _number(other) // self._value_ if _is_number(other) else NotImplemented

    def __mod__(self, other):
        return self._value_ % _number(other) if _is_number(other) else NotImplemented

    def __rmod__(self, other):
        return _number(other) % self._value_ if _is_number(other) else NotImplemented

    def __pow__(self, other, modulo=None):
        return _refuse("a power of a member")

    def __rpow__(self, other):
        return _refuse("a power of a member")

    def __and__(self, other):
        return self._value_ & int(other) if isinstance(other, int) else NotImplemented

    def __rand__(self, other):
        return int(other) & self._value_ if isinstance(other, int) else NotImplemented

    def __or__(self, other):
        return self._value_ | int(other) if isinstance(other, int) else NotImplemented

    def __ror__(self, other):
        return int(other) | self._value_ if isinstance(other, int) else NotImplemented

    def __xor__(self, other):
        return self._value_ ^ int(other) if isinstance(other, int) else NotImplemented

    def __rxor__(self, other):
        return int(other) ^ self._value_ if isinstance(other, int) else NotImplemented

    def __lshift__(self, other):
        return self._value_ << int(other) if isinstance(other, int) else NotImplemented

    def __rlshift__(self, other):
        return int(other) << self._value_ if isinstance(other, int) else NotImplemented

    def __rshift__(self, other):
        return self._value_ >> int(other) if isinstance(other, int) else NotImplemented

    def __rrshift__(self, other):
        return int(other) >> self._value_ if isinstance(other, int) else NotImplemented


class MixedInt(IntEnum):
    """Of `class C(int, Enum)`, which are ints and shown as members."""

    def __str__(self):
        return f"{_type_name(self)}.{self._name_}"

    def __format__(self, spec):
        return format(str(self), spec)


# Flags have nothing but their bits, `_value_`.


def _bits_of_same(flag, other):
    if type(other) is type(flag):
        return other._value_
    return _leave("a flag and something else")


class Flag:
    @property
    def value(self):
        return self._value_

    @property
    def name(self):
        value = self._value_
        if value in self._flag_names_:
            return self._flag_names_[value]
        if value == 0:
            return None
        return "|".join([name for bit, name in self._flag_bits_ if value & bit])

    def __repr__(self):
        name = self.name
        if name is None:
            return f"<{_type_name(self)}: {self._value_}>"
        return f"<{_type_name(self)}.{name}: {self._value_}>"

    def __str__(self):
        name = self.name
        if name is None:
            return f"{_type_name(self)}({self._value_})"
        return f"{_type_name(self)}.{name}"

    def __format__(self, spec):
        return format(str(self), spec)

    def __bool__(self):
        return self._value_ != 0

    def __len__(self):
        return self._value_.bit_count()

    def __iter__(self):
        value = self._value_
        for bit, _ in self._flag_bits_:
            if value & bit:
                yield type(self)(bit)

    def __contains__(self, other):
        bits = _bits_of_same(self, other)
        return self._value_ & bits == bits

    def __hash__(self):
        return _refuse("the hash of a flag")

    def __eq__(self, other):
        return type(other) is type(self) and self._value_ == other._value_

    def __ne__(self, other):
        return not (type(other) is type(self) and self._value_ == other._value_)

    def __or__(self, other):
        return type(self)(self._value_ | _bits_of_same(self, other))

    def __and__(self, other):
        return type(self)(self._value_ & _bits_of_same(self, other))

    def __xor__(self, other):
        return type(self)(self._value_ ^ _bits_of_same(self, other))

    def __invert__(self):
        mask = 0
        for bit, _ in self._flag_bits_:
            mask |= bit
        return type(self)(mask & ~self._value_)


class IntFlag(Flag):
    """Flags that are ints: beside an int they are their bits, which makes flags of both."""

    def _in_sql(self):
        return self._value_

    def __str__(self):
        return str(self._value_)

    def __format__(self, spec):
        return _plainly_formatted(self._value_, spec)

    def __int__(self):
        return self._value_

    __index__ = __int__

    def __eq__(self, other):
        return self._value_ == _bits_of(other)

    def __ne__(self, other):
        return self._value_ != _bits_of(other)

    def __lt__(self, other):
        return self._value_ < _bits_of(other)

    def __le__(self, other):
        return self._value_ <= _bits_of(other)

    def __gt__(self, other):
        return self._value_ > _bits_of(other)

    def __ge__(self, other):
        return self._value_ >= _bits_of(other)

    def __or__(self, other):
        return type(self)(self._value_ | _bits_of(other))

    __ror__ = __or__

    def __and__(self, other):
        return type(self)(self._value_ & _bits_of(other))

    __rand__ = __and__

    def __xor__(self, other):
        return type(self)(self._value_ ^ _bits_of(other))

    __rxor__ = __xor__

    def __add__(self, other):
        return self._value_ + _bits_of(other)

    __radd__ = __add__

    def __sub__(self, other):
        return self._value_ - _bits_of(other)

    def __rshift__(self, other):
        return self._value_ >> _bits_of(other)

    def __lshift__(self, other):
        return self._value_ << _bits_of(other)

    # Ints of these, which CPython makes.
    def __mul__(self, other):
        return _refuse("arithmetic with a flag")

    __rmul__ = __mul__
    __truediv__ = __mul__
    __rtruediv__ = __mul__
    __floordiv__ = __mul__
    __rfloordiv__ = __mul__
    __mod__ = __mul__
    __rmod__ = __mul__
    __pow__ = __mul__
    __rpow__ = __mul__
    __rsub__ = __mul__
    __rlshift__ = __mul__
    __rrshift__ = __mul__
    __divmod__ = __mul__
    __rdivmod__ = __mul__

    def __neg__(self):
        return _refuse("arithmetic with a flag")

    __pos__ = __neg__
    __abs__ = __neg__
    __float__ = __neg__
    __round__ = __neg__


def _bits_of(other):
    if isinstance(other, IntFlag):
        return other._value_
    if isinstance(other, int) and not isinstance(other, bool):
        return other
    return _leave("a flag that is an int, and something else")
