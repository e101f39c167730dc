"""The classes of datetime, and their class methods as functions: date_x is date.x."""


def _int(value):
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, int):
        return _leave("a part of a date that is no int")
    return value


def date(year, month, day):
    return _record("date", _operation("date.from_civil", _int(year), _int(month), _int(day)))


def date_fromordinal(ordinal, /):
    ordinal = _int(ordinal)
    if ordinal < -2147483648:
        return _leave("an ordinal that C's int cannot hold")
    if ordinal < 1:
        raise ValueError("ordinal must be >= 1")
    if ordinal > 3652059:
        return _leave("an ordinal beyond the year 9999")
    return _record("date", ordinal - 719163)


def date_fromisoformat(text, /):
    if not isinstance(text, str):
        raise TypeError("fromisoformat: argument must be str")
    return _record("date", _operation("date.parse", text))


def timedelta(days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
    micros = _int(microseconds) + _int(milliseconds) * 1000
    rest = _int(seconds) + _int(minutes) * 60 + _int(hours) * 3600 + micros // 1000000
    days = _int(days) + _int(weeks) * 7 + rest // 86400
    if not -999999999 <= days <= 999999999:
        return _leave("a timedelta beyond its limits")
    return _record("timedelta", days, rest % 86400, micros % 1000000)
