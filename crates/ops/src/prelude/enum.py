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


def _plain(other):
    """What a member that is an int or a str is compared with."""
    if isinstance(other, _Mixed):
        return other._value_
    return other


class _Mixed(Enum):
    """Those whose members are ints or texts besides."""

    def __bool__(self):
        return bool(self._value_)

    def __len__(self):
        return len(self._value_)

    def __contains__(self, other):
        return _plain(other) in self._value_

    def __eq__(self, other):
        return self._value_ == _plain(other)

    def __ne__(self, other):
        return self._value_ != _plain(other)

    def __lt__(self, other):
        return self._value_ < _plain(other)

    def __le__(self, other):
        return self._value_ <= _plain(other)

    def __gt__(self, other):
        return self._value_ > _plain(other)

    def __ge__(self, other):
        return self._value_ >= _plain(other)

    def __add__(self, other):
        return self._value_ + _plain(other)

    def __radd__(self, other):
        return other + self._value_

    def __sub__(self, other):
        return self._value_ - _plain(other)

    def __rsub__(self, other):
        return other - self._value_

    def __mul__(self, other):
        return self._value_ * _plain(other)

    def __rmul__(self, other):
        return other * self._value_

    def __truediv__(self, other):
        return self._value_ / _plain(other)

    def __rtruediv__(self, other):
        return other / self._value_

    def __floordiv__(self, other):
        return self._value_ // _plain(other)

    def __rfloordiv__(self, other):
        return other // self._value_

    def __mod__(self, other):
        return self._value_ % _plain(other)

    def __rmod__(self, other):
        return other % self._value_

    def __pow__(self, other):
        return self._value_ ** _plain(other)

    def __and__(self, other):
        return self._value_ & _plain(other)

    def __or__(self, other):
        return self._value_ | _plain(other)

    def __xor__(self, other):
        return self._value_ ^ _plain(other)

    def __neg__(self):
        return -self._value_

    def __abs__(self):
        return abs(self._value_)

    def __int__(self):
        return int(self._value_)

    def __float__(self):
        return float(self._value_)


class _Shown(_Mixed):
    """IntEnum and StrEnum: their text is that of the value."""

    def __str__(self):
        return str(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)


class IntEnum(_Shown):
    pass


class StrEnum(_Shown):
    pass
