"""datetime.date: the field is the number of days since 1970-01-01."""

from datetime import _iso_date, _time_tuple


def _of_sql(days):
    if not -719162 <= days <= 2932896:
        return _leave("a date beyond the years of datetime.date")
    return _record("date", days)


def _to_sql(self):
    return _days(self)


def _days(self):
    return _field(self, 0)


def _is_date(value):
    return _type_name(value) == "datetime.date"


def _days_of(other):
    """What a date is compared with in order."""
    if _type_name(other) == "datetime.datetime":
        raise TypeError("can't compare datetime.datetime to datetime.date")
    if not _is_date(other):
        return _leave("a date compared with something else")
    return _days(other)


def _moved(days):
    if not -719162 <= days <= 2932896:
        raise OverflowError("date value out of range")
    return _record("date", days)


def __bool__(self):
    return True


def __str__(self):
    return _operation("date.text", _days(self))


def __repr__(self):
    return _operation("date.repr", _days(self))


def __format__(self, spec):
    if spec == "":
        return __str__(self)
    return strftime(self, spec)


def __eq__(self, other):
    if not _is_date(other):
        return False
    return _days(self) == _days(other)


def __ne__(self, other):
    return not __eq__(self, other)


def __lt__(self, other):
    return _days(self) < _days_of(other)


def __le__(self, other):
    return _days(self) <= _days_of(other)


def __gt__(self, other):
    return _days(self) > _days_of(other)


def __ge__(self, other):
    return _days(self) >= _days_of(other)


def __add__(self, other):
    if _type_name(other) != "datetime.timedelta":
        return _leave("a date and something else")
    return _moved(_days(self) + _field(other, 0))


def __sub__(self, other):
    if _is_date(other):
        return _record("timedelta", _days(self) - _days(other), 0, 0)
    if _type_name(other) != "datetime.timedelta":
        return _leave("a date and something else")
    return _moved(_days(self) - _field(other, 0))


def _get_year(self):
    return _operation("date.year", _days(self))


def _get_month(self):
    return _operation("date.month", _days(self))


def _get_day(self):
    return _operation("date.day", _days(self))


def weekday(self, /):
    # 1970-01-01 was a Thursday.
    return (_days(self) + 3) % 7


def isoweekday(self, /):
    return (_days(self) + 3) % 7 + 1


def isocalendar(self, /):
    return _iso_date(_days(self))


def timetuple(self, /):
    return _time_tuple(_days(self), 0)


def toordinal(self, /):
    return _days(self) + 719163


def isoformat(self, /):
    return _operation("date.text", _days(self))


def strftime(self, format):
    if not isinstance(format, str):
        return _leave("a format that is no text")
    return _operation("datetime.strftime", _days(self) * 86400000000, format)


def ctime(self):
    return strftime(self, "%a %b ") + f"{_get_day(self):2} 00:00:00 {_get_year(self):04}"


def replace(self, year=_missing, month=_missing, day=_missing):
    days = _operation(
        "date.from_civil",
        _get_year(self) if _is_missing(year) else _c_int(year),
        _get_month(self) if _is_missing(month) else _c_int(month),
        _get_day(self) if _is_missing(day) else _c_int(day),
    )
    return _record("date", days)
