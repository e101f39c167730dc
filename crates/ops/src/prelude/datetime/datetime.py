"""datetime.datetime without a zone: the field is the number of microseconds since 1970-01-01. With a zone
it is an object of a class."""

from datetime import _count_of, _in_zone, _iso_date, _of_micros, _offset_name, _offset_shown, _offset_text, _time_tuple, timezone

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
    return _count_of(_micros(self), per_second)


def _micros(self):
    return _field(self, 0)


def _days(self):
    return _micros(self) // _DAY


def _clock(self):
    return _micros(self) % _DAY


def _is_datetime(value):
    return _is_of(value, "datetime.datetime")


def _is_zoned(value):
    # To `isinstance` both are one class.
    return isinstance(value, _zoned) and not _is_datetime(value)


def _micros_of(other):
    """What a datetime is compared with in order."""
    if _type_name(other) == "datetime.date":
        raise TypeError("can't compare datetime.datetime to datetime.date")
    if _is_zoned(other):
        raise TypeError("can't compare offset-naive and offset-aware datetimes")
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
        return _of_micros(micros)
    if _is_zoned(other):
        raise TypeError("can't subtract offset-naive and offset-aware datetimes")
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


def timetuple(self, /):
    return _time_tuple(_days(self), _micros(self) % _DAY)


def toordinal(self, /):
    return _days(self) + 719163


def isoformat(self, sep="T", timespec="auto"):
    if not isinstance(sep, str) or len(sep) != 1:
        return _leave("a separator that is no character")
    return _operation("datetime.text", _micros(self), sep, _timespec(timespec))


def astimezone(self, tz=None):
    return _refuse_or_leave("the local time zone")


def strftime(self, format):
    if not isinstance(format, str):
        return _leave("a format that is no text")
    return _operation("datetime.strftime", _micros(self), format)


def timestamp(self, /):
    return _refuse_or_leave("the local time zone")


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
    if not isinstance(fold, int) or fold != 0:
        return _leave("a datetime of a repeated hour")
    if not (tzinfo is None or isinstance(tzinfo, timezone)):
        return _refuse("a zone that is no datetime.timezone")
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
    if tzinfo is None:
        return _record("datetime", micros)
    return _zoned(micros, tzinfo._offset, tzinfo._name)


class datetime:
    """With a zone: the microseconds of its own clock since 1970-01-01, and the zone's offset and name."""

    def __init__(self, micros, offset, name):
        self._micros = micros
        self._offset = offset
        self._name = name

    def _naive(self):
        return _record("datetime", self._micros)

    def _utc(self):
        return self._micros - self._offset

    def _moved(self, micros):
        return _zoned(_micros(_moved(micros)), self._offset, self._name)

    def _order_of(self, other):
        """What it is compared with in order."""
        if _type_name(other) == "datetime.date":
            raise TypeError("can't compare datetime.datetime to datetime.date")
        if _is_zoned(other):
            return other._utc()
        if _is_datetime(other):
            raise TypeError("can't compare offset-naive and offset-aware datetimes")
        return _leave("a datetime compared with something else")

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        return f"{repr(self._naive())[:-1]}, tzinfo={_offset_shown(self._offset, self._name)})"

    def __format__(self, spec):
        if spec == "":
            return self.__str__()
        return self.strftime(spec)

    def __hash__(self):
        return _refuse("the hash of a datetime")

    def __eq__(self, other):
        if _is_zoned(other):
            return self._utc() == other._utc()
        return False

    def __lt__(self, other):
        return self._utc() < self._order_of(other)

    def __le__(self, other):
        return self._utc() <= self._order_of(other)

    def __gt__(self, other):
        return self._utc() > self._order_of(other)

    def __ge__(self, other):
        return self._utc() >= self._order_of(other)

    def __add__(self, other):
        if _type_name(other) != "datetime.timedelta":
            return NotImplemented
        return self._moved(self._micros + _span(other))

    def __radd__(self, other):
        return self.__add__(other)

    def __sub__(self, other):
        if _is_zoned(other):
            return _of_micros(self._utc() - other._utc())
        if _is_datetime(other):
            raise TypeError("can't subtract offset-naive and offset-aware datetimes")
        if _type_name(other) != "datetime.timedelta":
            return NotImplemented
        return self._moved(self._micros - _span(other))

    def __rsub__(self, other):
        if _is_datetime(other):
            raise TypeError("can't subtract offset-naive and offset-aware datetimes")
        return NotImplemented

    @property
    def year(self):
        return self._naive().year

    @property
    def month(self):
        return self._naive().month

    @property
    def day(self):
        return self._naive().day

    @property
    def hour(self):
        return self._naive().hour

    @property
    def minute(self):
        return self._naive().minute

    @property
    def second(self):
        return self._naive().second

    @property
    def microsecond(self):
        return self._naive().microsecond

    @property
    def fold(self):
        return 0

    @property
    def tzinfo(self):
        offset = _of_micros(self._offset)
        return timezone(offset) if self._name is None else timezone(offset, self._name)

    def utcoffset(self, /):
        return _of_micros(self._offset)

    def dst(self, /):
        return None

    def tzname(self, /):
        return _offset_name(self._offset, self._name)

    def date(self, /):
        return self._naive().date()

    def time(self, /):
        return self._naive().time()

    def weekday(self, /):
        return self._naive().weekday()

    def isoweekday(self, /):
        return self._naive().isoweekday()

    def isocalendar(self, /):
        return self._naive().isocalendar()

    def toordinal(self, /):
        return self._naive().toordinal()

    def timestamp(self, /):
        return self._utc() / 1000000

    def isoformat(self, sep="T", timespec="auto"):
        return self._naive().isoformat(sep, timespec) + _offset_text(self._offset, ":")

    def strftime(self, format):
        if not isinstance(format, str):
            return _leave("a format that is no text")
        if "%z" in format or "%Z" in format:
            if "%%" in format:
                return _leave("a format with a percent sign and a zone")
            name = _offset_name(self._offset, self._name).replace("%", "%%")
            format = format.replace("%z", _offset_text(self._offset, "")).replace("%Z", name)
        return self._naive().strftime(format)

    def astimezone(self, tz=None):
        if tz is None:
            return _refuse("the local time zone")
        if not isinstance(tz, timezone):
            return _refuse("a zone that is no datetime.timezone")
        utc = _micros(_moved(self._utc()))
        return _zoned(_micros(_moved(utc + tz._offset)), tz._offset, tz._name)

    def replace(
        self,
        year=_missing,
        month=_missing,
        day=_missing,
        hour=_missing,
        minute=_missing,
        second=_missing,
        microsecond=_missing,
        tzinfo=_missing,
        *,
        fold=0,
    ):
        found = replace(self._naive(), year, month, day, hour, minute, second, microsecond, fold=fold)
        if _is_missing(tzinfo):
            return _zoned(_micros(found), self._offset, self._name)
        return _in_zone(found, tzinfo)


_zoned = datetime
