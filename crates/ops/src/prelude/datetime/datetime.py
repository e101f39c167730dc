"""datetime.datetime without a zone: the field is the number of microseconds since 1970-01-01."""

from datetime import _iso_date

_DAY = 86400000000
_FIRST = -62135596800000000
_LAST = 253402300799999999


def _of_sql(count, per_second):
    """Of a count of SQL, of so many a second."""
    if per_second > 1000000:
        if count % (per_second // 1000000) != 0:
            return _leave("a timestamp between two microseconds")
        micros = count // (per_second // 1000000)
    else:
        micros = count * (1000000 // per_second)
    if not _FIRST <= micros <= _LAST:
        return _leave("a timestamp beyond the years of datetime.datetime")
    return _record("datetime", micros)


def _to_sql(self, per_second):
    """The count of SQL, None where there is none."""
    micros = _micros(self)
    if per_second <= 1000000:
        if micros % (1000000 // per_second) != 0:
            return None
        return micros // (1000000 // per_second)
    if not -9223372036854775 <= micros <= 9223372036854775:
        return None
    return micros * (per_second // 1000000)


def _micros(self):
    return _field(self, 0)


def _days(self):
    return _micros(self) // _DAY


def _clock(self):
    return _micros(self) % _DAY


def _is_datetime(value):
    return _type_name(value) == "datetime.datetime"


def _micros_of(other):
    """What a datetime is compared with in order."""
    if _type_name(other) == "datetime.date":
        raise TypeError("can't compare datetime.datetime to datetime.date")
    if not _is_datetime(other):
        return _leave("a datetime compared with something else")
    return _micros(other)


def _moved(micros):
    if not _FIRST <= micros <= _LAST:
        raise OverflowError("date value out of range")
    return _record("datetime", micros)


def _span(delta):
    return (_field(delta, 0) * 86400 + _field(delta, 1)) * 1000000 + _field(delta, 2)


def __bool__(self):
    return True


def __str__(self):
    return _operation("datetime.text", _micros(self), " ", 5)


def __repr__(self):
    return _operation("datetime.repr", _micros(self))


def __format__(self, spec):
    if spec == "":
        return __str__(self)
    return strftime(self, spec)


def __eq__(self, other):
    if not _is_datetime(other):
        return False
    return _micros(self) == _micros(other)


def __ne__(self, other):
    return not __eq__(self, other)


def __lt__(self, other):
    return _micros(self) < _micros_of(other)


def __le__(self, other):
    return _micros(self) <= _micros_of(other)


def __gt__(self, other):
    return _micros(self) > _micros_of(other)


def __ge__(self, other):
    return _micros(self) >= _micros_of(other)


def __add__(self, other):
    if _type_name(other) != "datetime.timedelta":
        return _leave("a datetime and something else")
    return _moved(_micros(self) + _span(other))


def __sub__(self, other):
    if _is_datetime(other):
        micros = _micros(self) - _micros(other)
        return _record("timedelta", micros // _DAY, micros // 1000000 % 86400, micros % 1000000)
    if _type_name(other) != "datetime.timedelta":
        return _leave("a datetime and something else")
    return _moved(_micros(self) - _span(other))


def _get_year(self):
    return _operation("date.year", _days(self))


def _get_month(self):
    return _operation("date.month", _days(self))


def _get_day(self):
    return _operation("date.day", _days(self))


def _get_hour(self):
    return _micros(self) // 3600000000 % 24


def _get_minute(self):
    return _micros(self) // 60000000 % 60


def _get_second(self):
    return _micros(self) // 1000000 % 60


def _get_microsecond(self):
    return _micros(self) % 1000000


def _get_tzinfo(self):
    return None


def _get_fold(self):
    return 0


def utcoffset(self, /):
    return None


def dst(self, /):
    return None


def tzname(self, /):
    return None


def date(self, /):
    return _record("date", _days(self))


def time(self, /):
    return _record("time", _clock(self))


def weekday(self, /):
    # 1970-01-01 was a Thursday.
    return (_days(self) + 3) % 7


def isoweekday(self, /):
    return (_days(self) + 3) % 7 + 1


def isocalendar(self, /):
    return _iso_date(_days(self))


def toordinal(self, /):
    return _days(self) + 719163


def isoformat(self, sep="T", timespec="auto"):
    if not isinstance(sep, str) or len(sep) != 1:
        return _leave("a separator that is no character")
    return _operation("datetime.text", _micros(self), sep, _timespec(timespec))


def strftime(self, format):
    if not isinstance(format, str):
        return _leave("a format that is no text")
    return _operation("datetime.strftime", _micros(self), format)


def timestamp(self, /):
    return _refuse("the local time zone")


def replace(
    self,
    year=_missing,
    month=_missing,
    day=_missing,
    hour=_missing,
    minute=_missing,
    second=_missing,
    microsecond=_missing,
    tzinfo=None,
    *,
    fold=0,
):
    if tzinfo is not None or not isinstance(fold, int) or fold != 0:
        return _leave("a datetime with a zone")
    micros = _operation(
        "datetime.from_parts",
        _get_year(self) if _is_missing(year) else _c_int(year),
        _get_month(self) if _is_missing(month) else _c_int(month),
        _get_day(self) if _is_missing(day) else _c_int(day),
        _get_hour(self) if _is_missing(hour) else _c_int(hour),
        _get_minute(self) if _is_missing(minute) else _c_int(minute),
        _get_second(self) if _is_missing(second) else _c_int(second),
        _get_microsecond(self) if _is_missing(microsecond) else _c_int(microsecond),
    )
    return _record("datetime", micros)
