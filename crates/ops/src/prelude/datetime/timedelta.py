"""datetime.timedelta: the fields are days, seconds of a day, and microseconds of a second."""


def _is_timedelta(value):
    return _type_name(value) == "datetime.timedelta"


def _of(days, seconds, micros):
    """Brought into the ranges of the fields."""
    seconds = seconds + micros // 1000000
    days = days + seconds // 86400
    if not -2147483648 <= days <= 2147483647:
        return _leave("a number of days that C's int cannot hold")
    if not -999999999 <= days <= 999999999:
        raise OverflowError(f"days={days}; must have magnitude <= 999999999")
    return _record("timedelta", days, seconds % 86400, micros % 1000000)


def _get_days(self):
    return _field(self, 0)


def _get_seconds(self):
    return _field(self, 1)


def _get_microseconds(self):
    return _field(self, 2)


def _order(self):
    return (_field(self, 0), _field(self, 1), _field(self, 2))


def _order_of(other):
    """What a timedelta is compared with in order."""
    if not _is_timedelta(other):
        return _leave("a timedelta compared with something else")
    return _order(other)


def _micros(self):
    return (_field(self, 0) * 86400 + _field(self, 1)) * 1000000 + _field(self, 2)


def total_seconds(self, /):
    return _micros(self) / 1000000


def __str__(self):
    return _operation("timedelta.text", _field(self, 0), _field(self, 1), _field(self, 2))


def __repr__(self):
    return _operation("timedelta.repr", _field(self, 0), _field(self, 1), _field(self, 2))


def __format__(self, spec):
    if spec == "":
        return __str__(self)
    if not isinstance(spec, str):
        return _leave("a format that is no text")
    raise TypeError("unsupported format string passed to datetime.timedelta.__format__")


def __bool__(self):
    return _order(self) != (0, 0, 0)


def __eq__(self, other):
    if not _is_timedelta(other):
        return False
    return _order(self) == _order(other)


def __ne__(self, other):
    return not __eq__(self, other)


def __lt__(self, other):
    return _order(self) < _order_of(other)


def __le__(self, other):
    return _order(self) <= _order_of(other)


def __gt__(self, other):
    return _order(self) > _order_of(other)


def __ge__(self, other):
    return _order(self) >= _order_of(other)


def __add__(self, other):
    if _type_name(other) in ("datetime.date", "datetime.datetime"):
        return other + self
    if not _is_timedelta(other):
        return _leave("a timedelta and something else")
    seconds = _field(self, 1) + _field(other, 1)
    return _of(_field(self, 0) + _field(other, 0), seconds, _field(self, 2) + _field(other, 2))


def __sub__(self, other):
    if not _is_timedelta(other):
        return _leave("a timedelta and something else")
    seconds = _field(self, 1) - _field(other, 1)
    return _of(_field(self, 0) - _field(other, 0), seconds, _field(self, 2) - _field(other, 2))


def __neg__(self):
    return _of(-_field(self, 0), -_field(self, 1), -_field(self, 2))


def __abs__(self):
    if _field(self, 0) < 0:
        return __neg__(self)
    return self


def _ratio(other):
    """A float as a quotient of two ints."""
    if other != other or other - other != 0.0:
        return _leave("a timedelta and what is no finite number")
    digits, power = _float_parts(other)
    if not -64 <= power <= 8:
        return _leave("a timedelta and such a float")
    return digits * (1 << max(power, 0)), 1 << max(-power, 0)


def __mul__(self, other):
    if isinstance(other, float):
        above, below = _ratio(other)
        return _of(0, 0, _nearest(_micros(self) * above, below))
    if isinstance(other, bool) or not isinstance(other, int):
        return _leave("a timedelta times something else")
    return _of(_field(self, 0) * other, _field(self, 1) * other, _field(self, 2) * other)


def __floordiv__(self, other):
    if _is_timedelta(other):
        return _quotient(_micros(self), _micros(other))
    if not isinstance(other, int):
        return _leave("a timedelta divided by something else")
    return _of(0, 0, _quotient(_micros(self), other))


def _quotient(micros, other):
    if other == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return micros // other


def __truediv__(self, other):
    if _is_timedelta(other):
        return _micros(self) / _micros(other)
    if isinstance(other, float):
        above, below = _ratio(other)
        return _of(0, 0, _nearest(_micros(self) * below, above))
    if not isinstance(other, int):
        return _leave("a timedelta divided by something else")
    return _of(0, 0, _nearest(_micros(self), other))


def _nearest(micros, other):
    """A quotient to the nearest microsecond, the even one of two."""
    near = _quotient(micros, other)
    rest = (micros - near * other) * 2
    above = rest > other if other > 0 else rest < other
    if above or rest == other and near % 2 == 1:
        near += 1
    return near


def __mod__(self, other):
    if not _is_timedelta(other):
        return _leave("the rest of a timedelta by something else")
    return _of(0, 0, _micros(self) % _micros(other))
