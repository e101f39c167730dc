"""datetime.time without a zone: the field is the number of microseconds since midnight."""


def _of_sql(count, per_second):
    """Of a count of SQL, of so many a second."""
    if per_second > 1000000:
        if count % (per_second // 1000000) != 0:
            return _leave("a time between two microseconds")
        micros = count // (per_second // 1000000)
    else:
        micros = count * (1000000 // per_second)
    if not 0 <= micros < 86400000000:
        return _leave("a time beyond the day")
    return _record("time", micros)


def _to_sql(self, per_second):
    """The count of SQL, None where there is none."""
    micros = _micros(self)
    if per_second > 1000000:
        return micros * (per_second // 1000000)
    if micros % (1000000 // per_second) != 0:
        return None
    return micros // (1000000 // per_second)


def _micros(self):
    return _field(self, 0)


def _is_time(value):
    return _type_name(value) == "datetime.time"


def _micros_of(other):
    """What a time is compared with in order."""
    if not _is_time(other):
        return _leave("a time compared with something else")
    return _micros(other)


def __bool__(self):
    return True


def __str__(self):
    return _operation("time.text", _micros(self), 5)


def __repr__(self):
    return _operation("time.repr", _micros(self))


def __format__(self, spec):
    if spec == "":
        return __str__(self)
    return strftime(self, spec)


def __eq__(self, other):
    if not _is_time(other):
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


def _get_hour(self):
    return _micros(self) // 3600000000


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


def isoformat(self, timespec="auto"):
    return _operation("time.text", _micros(self), _timespec(timespec))


def strftime(self, format):
    if not isinstance(format, str):
        return _leave("a format that is no text")
    # The day is 1900-01-01.
    return _operation("datetime.strftime", _micros(self) - 2208988800000000, format)


def replace(self, hour=_missing, minute=_missing, second=_missing, microsecond=_missing, tzinfo=None, *, fold=0):
    if tzinfo is not None or not isinstance(fold, int) or fold != 0:
        return _leave("a time with a zone")
    micros = _operation(
        "time.from_parts",
        _get_hour(self) if _is_missing(hour) else _c_int(hour),
        _get_minute(self) if _is_missing(minute) else _c_int(minute),
        _get_second(self) if _is_missing(second) else _c_int(second),
        _get_microsecond(self) if _is_missing(microsecond) else _c_int(microsecond),
    )
    return _record("time", micros)
