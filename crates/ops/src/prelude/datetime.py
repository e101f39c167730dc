"""The classes of datetime, and their class methods as functions: date_x is date.x."""

from typing import NamedTuple

# What the directives of strptime match in the C locale, longer names first (Lib/_strptime.py, TimeRE).
_MATCHED = {
    "Y": r"(\d\d\d\d)",
    "y": r"(\d\d)",
    "m": "(1[0-2]|0[1-9]|[1-9])",
    "d": r"(3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9])",
    "H": r"(2[0-3]|[0-1]\d|\d)",
    "I": "(1[0-2]|0[1-9]|[1-9])",
    "M": r"([0-5]\d|\d)",
    "S": r"(6[0-1]|[0-5]\d|\d)",
    "f": "([0-9]{1,6})",
    "j": r"(36[0-6]|3[0-5]\d|[1-2]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9])",
    "p": "(am|pm)",
    "z": r"([+-]\d\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,6})?)?|z)",
    "b": "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    "B": "(september|february|november|december|january|october|august|march|april|june|july|may)",
    "a": "(mon|tue|wed|thu|fri|sat|sun)",
    "A": "(wednesday|thursday|saturday|tuesday|monday|friday|sunday)",
}

_NAMES = {
    "b": ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    "B": (
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ),
    "a": ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    "A": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
}


def date(year, month, day):
    return _record("date", _operation("date.from_civil", _c_int(year), _c_int(month), _c_int(day)))


def _date_min():
    return date(1, 1, 1)


def _date_max():
    return date(9999, 12, 31)


def _datetime_min():
    return datetime(1, 1, 1)


def _datetime_max():
    return datetime(9999, 12, 31, 23, 59, 59, 999999)


def _time_min():
    return time(0, 0)


def _time_max():
    return time(23, 59, 59, 999999)


class IsoCalendarDate(NamedTuple):
    year: int
    week: int
    weekday: int

    def __repr__(self):
        return f"datetime.IsoCalendarDate(year={self.year}, week={self.week}, weekday={self.weekday})"


class struct_time(NamedTuple):
    tm_year: int
    tm_mon: int
    tm_mday: int
    tm_hour: int
    tm_min: int
    tm_sec: int
    tm_wday: int
    tm_yday: int
    tm_isdst: int

    def __repr__(self):
        return _refuse("the text of a time.struct_time")


def _time_tuple(days, micros):
    year = _operation("date.year", days)
    seconds = micros // 1000000
    return struct_time(
        year,
        _operation("date.month", days),
        _operation("date.day", days),
        seconds // 3600,
        seconds // 60 % 60,
        seconds % 60,
        (days + 3) % 7,
        days - _operation("date.from_civil", year, 1, 1) + 1,
        -1,
    )


def _iso_date(days):
    weekday = (days + 3) % 7
    # The week is of the year in which its Thursday is.
    thursday = days - weekday + 3
    year = _operation("date.year", thursday)
    week = (thursday - _operation("date.from_civil", year, 1, 1)) // 7 + 1
    return IsoCalendarDate(year, week, weekday + 1)


def date_fromordinal(ordinal, /):
    ordinal = _c_int(ordinal)
    if ordinal < -2147483648:
        return _leave("an ordinal that C's int cannot hold")
    if ordinal < 1:
        raise ValueError("ordinal must be >= 1")
    if ordinal > 3652059:
        return _leave("an ordinal beyond the year 9999")
    return _record("date", ordinal - 719163)


def date_fromisocalendar(year, week, day):
    year, week, day = _c_int(year), _c_int(week), _c_int(day)
    for part in (year, week, day):
        if not -2147483648 <= part <= 2147483647:
            return _leave("a part that C's int cannot hold")
    if not 1 <= year <= 9999:
        raise ValueError(f"Year is out of range: {year}")
    # The 28th of December is always in the last week, the 4th of January in the first.
    if not 1 <= week <= _iso_date(_operation("date.from_civil", year, 12, 28)).week:
        raise ValueError(f"Invalid week: {week}")
    if not 1 <= day <= 7:
        raise ValueError(f"Invalid day: {day} (range is [1, 7])")
    first = _operation("date.from_civil", year, 1, 4)
    days = first - (first + 3) % 7 + (week - 1) * 7 + day - 1
    if not -719162 <= days <= 2932896:
        return _leave("a date beyond the years of datetime.date")
    return _record("date", days)


def date_fromisoformat(text, /):
    if not isinstance(text, str):
        raise TypeError("fromisoformat: argument must be str")
    return _record("date", _operation("date.parse", text))


def _whole(value):
    """The whole part of a number of units."""
    return int(value) if isinstance(value, float) else _c_int(value)


def _micros_of(value, unit, left):
    """The microseconds of what is no whole unit, and what is left of those (Modules/_datetimemodule.c,
    accum)."""
    if not isinstance(value, float):
        return 0, left
    part = (value - int(value)) * unit
    return int(part), left + (part - int(part))


def timedelta(days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
    micros = _whole(microseconds) + _whole(milliseconds) * 1000
    rest = _whole(seconds) + _whole(minutes) * 60 + _whole(hours) * 3600
    whole_days = _whole(days) + _whole(weeks) * 7
    left = 0.0
    for value, unit in (
        (microseconds, 1.0),
        (milliseconds, 1e3),
        (seconds, 1e6),
        (minutes, 6e7),
        (hours, 3.6e9),
        (days, 8.64e10),
        (weeks, 6.048e11),
    ):
        more, left = _micros_of(value, unit, left)
        micros += more
    if left != 0.0:
        # To the nearest, of two as near to the one that makes the sum even.
        odd = micros % 2
        near = _nearest(left)
        if abs(near - left) == 0.5:
            near = 2.0 * _nearest((left + odd) * 0.5) - odd
        micros += int(near)
    rest += micros // 1000000
    whole_days += rest // 86400
    if not -999999999 <= whole_days <= 999999999:
        return _leave("a timedelta beyond its limits")
    return _record("timedelta", whole_days, rest % 86400, micros % 1000000)


def _nearest(number):
    """C's round: halves away from zero."""
    whole = int(number)
    if abs(number - whole) >= 0.5:
        whole += 1 if number > 0.0 else -1
    return float(whole)


def _offset_parts(offset):
    """The sign and the clock of an offset in microseconds."""
    size = abs(offset)
    parts = (size // 3600000000, size // 60000000 % 60, size // 1000000 % 60, size % 1000000)
    return "-" if offset < 0 else "+", parts


def _offset_text(offset, separator):
    """An offset as `isoformat` writes it, or `strftime` without a separator."""
    sign, (hours, minutes, seconds, micros) = _offset_parts(offset)
    text = f"{sign}{hours:02}{separator}{minutes:02}"
    if seconds or micros:
        text += f"{separator}{seconds:02}"
    if micros:
        text += f".{micros:06}"
    return text


def _offset_name(offset, name):
    """What `tzname` gives."""
    if name is not None:
        return name
    return "UTC" if offset == 0 else "UTC" + _offset_text(offset, ":")


def _offset_shown(offset, name):
    """The `repr` of a zone."""
    if name is None and offset == 0:
        return "datetime.timezone.utc"
    shown = repr(_of_micros(offset))
    return f"datetime.timezone({shown})" if name is None else f"datetime.timezone({shown}, {name!r})"


def _of_micros(micros):
    """The timedelta of microseconds that are fewer than those of its last day."""
    return _record("timedelta", micros // 86400000000, micros // 1000000 % 86400, micros % 1000000)


class timezone:
    def __init__(self, offset, name=_missing):
        if _type_name(offset) != "datetime.timedelta":
            raise TypeError(f"timezone() argument 1 must be datetime.timedelta, not {_argument_name(offset)}")
        if not _is_missing(name) and not isinstance(name, str):
            raise TypeError(f"timezone() argument 2 must be str, not {_argument_name(name)}")
        micros = (_field(offset, 0) * 86400 + _field(offset, 1)) * 1000000 + _field(offset, 2)
        if not -86400000000 < micros < 86400000000:
            raise ValueError(
                "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), "
                f"not {offset!r}."
            )
        self._offset = micros
        self._name = None if _is_missing(name) else name

    def __str__(self):
        return _offset_name(self._offset, self._name)

    def __repr__(self):
        return _offset_shown(self._offset, self._name)

    def __eq__(self, other):
        if not isinstance(other, timezone):
            return NotImplemented
        return self._offset == other._offset

    def __hash__(self):
        return _refuse("the hash of a zone")

    def _check(self, dt, method):
        if dt is not None and _type_name(dt) != "datetime.datetime":
            message = f"{method}(dt) argument must be a datetime instance or None, not {_argument_name(dt)}"
            raise TypeError(message)

    def utcoffset(self, dt, /):
        self._check(dt, "utcoffset")
        return _of_micros(self._offset)

    def tzname(self, dt, /):
        self._check(dt, "tzname")
        return _offset_name(self._offset, self._name)

    def dst(self, dt, /):
        self._check(dt, "dst")
        return None


def _timezone_utc():
    return timezone(_of_micros(0))


def _of_sql(count, per_second):
    """Of a TIMESTAMP WITH TIME ZONE."""
    return _across("_of_sql", count, "datetime.datetime", per_second).replace(tzinfo=_timezone_utc())


def _to_sql(value, per_second):
    """The count of a TIMESTAMP WITH TIME ZONE, None where that is another value or lies between two counts."""
    if _type_name(value) != "datetime.datetime" or value.tzinfo is None:
        return None
    return _count_of(value._utc(), per_second)


def _count_of(micros, per_second):
    """The count of SQL, None where there is none."""
    if per_second <= 1000000:
        if micros % (1000000 // per_second) != 0:
            return None
        return micros // (1000000 // per_second)
    if not -9223372036854775 <= micros <= 9223372036854775:
        return None
    return micros * (per_second // 1000000)


def datetime(year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
    if fold != 0:
        return _refuse("a datetime of a repeated hour")
    return _in_zone(_datetime(year, month, day, hour, minute, second, microsecond), tzinfo)


def _in_zone(moment, tzinfo):
    """The same clock in a zone."""
    return moment if tzinfo is None else moment.replace(tzinfo=tzinfo)


def _datetime(year, month, day, hour, minute, second, microsecond):
    micros = _operation(
        "datetime.from_parts",
        _c_int(year),
        _c_int(month),
        _c_int(day),
        _c_int(hour),
        _c_int(minute),
        _c_int(second),
        _c_int(microsecond),
    )
    return _record("datetime", micros)


def datetime_combine(date, time, tzinfo=None):
    if _type_name(date) != "datetime.date" or _type_name(time) != "datetime.time":
        return _leave("other parts of a datetime than a date and a time")
    return _in_zone(_record("datetime", _field(date, 0) * 86400000000 + _field(time, 0)), tzinfo)


def datetime_fromordinal(ordinal, /):
    return _record("datetime", _field(date_fromordinal(ordinal), 0) * 86400000000)


def datetime_fromisoformat(text, /):
    if not isinstance(text, str):
        raise TypeError("fromisoformat: argument must be str")
    # Where nothing expects a zone one text that has it is CPython's, and all others have one class.
    clock, offset = _zone_apart(text) if _reads_zones() else (text, None)
    if offset is None:
        return _record("datetime", _operation("datetime.parse", text))
    try:
        found = _record("datetime", _operation("datetime.parse", clock))
    except ValueError:
        # Its message has the whole text.
        return _leave("a text of a datetime that CPython must read")
    return found.replace(tzinfo=timezone(_of_micros(offset)))


def _zone_apart(text):
    """A text that `isoformat` could have written without its zone, and the offset of that, None without one."""
    size = len(text)
    if size > 16 and text[-1] == "Z":
        return text[:-1], 0
    # A date and a time of hours and minutes at least, so that no dash is one of a date.
    if size > 21 and text[-6] in "+-" and text[-3] == ":":
        return text[:-6], _offset_of(text[-6:])
    if size > 20 and text[-5] in "+-" and text[-3] != ":":
        return text[:-5], _offset_of(text[-5:])
    return text, None


def datetime_utcfromtimestamp(timestamp, /):
    if isinstance(timestamp, float):
        # A day less at either end, so that no fraction leads beyond.
        if not -62135510400.0 <= timestamp <= 253402214400.0:
            return _leave("such a float as a timestamp")
        # The fraction is rounded by itself (Python/pytime.c, pytime_double_to_denominator).
        seconds = int(timestamp)
        return _record("datetime", seconds * 1000000 + round((timestamp - seconds) * 1e6))
    if not isinstance(timestamp, int):
        return _leave("a timestamp that is no number")
    if not -62135596800 <= timestamp <= 253402300799:
        return _leave("a timestamp beyond the years of datetime.datetime")
    return _record("datetime", timestamp * 1000000)


def datetime_fromtimestamp(timestamp, tz=None):
    if tz is None:
        return _refuse("the local time zone")
    utc = datetime_utcfromtimestamp(timestamp)
    return utc.replace(tzinfo=_timezone_utc()).astimezone(tz)


def _argument_name(value):
    """The class of an argument as C's conversion of arguments names it."""
    return "None" if value is None else _type_name(value)


def _pattern_of(format):
    """The pattern of a format and the letters of its groups, or why CPython must read it."""
    source = ""
    letters = ""
    directive = False
    spaced = False
    # A tuple of several types, so that the turns are taken while lifting.
    for char in (*format, None):
        if char is None:
            break
        if directive:
            directive = False
            if char == "%":
                source += "%"
            elif char not in _MATCHED or char in letters:
                return _refuse("a format that CPython must read")
            else:
                letters += char
                source += _MATCHED[char]
        elif char == "%":
            directive = True
            spaced = False
        elif char.isspace():
            if not spaced:
                source += r"\s+"
            spaced = True
        else:
            spaced = False
            source += "\\" + char if char in "\\.^$*+?(){}[]|" else char
    if directive:
        return _refuse("a format that CPython must read")
    for same in ("mb", "mB", "bB", "yY", "HI", "jm", "jb", "jB", "jd"):
        if same[0] in letters and same[1] in letters:
            return _refuse("a format that gives a part twice")
    return _compile(source, 2), letters


def datetime_strptime(text, format, /):
    if not isinstance(text, str):
        raise TypeError(f"strptime() argument 1 must be str, not {_argument_name(text)}")
    if not isinstance(format, str):
        raise TypeError(f"strptime() argument 2 must be str, not {_argument_name(format)}")
    pattern, letters = _pattern_of(format)
    found = pattern.match(text)
    if found is None:
        raise ValueError(f"time data {text!r} does not match format {format!r}")
    if found.end() != len(text):
        raise ValueError(f"unconverted data remains: {text[found.end():]}")
    year = 1900
    month = day = 1
    julian = 0
    hour = minute = second = micros = offset = 0
    half = ""
    at = 0
    for letter in (*letters, None):
        if letter is None:
            break
        at += 1
        part = found.group(at)
        if letter == "Y":
            year = int(part)
        elif letter == "y":
            year = int(part)
            year += 2000 if year <= 68 else 1900
        elif letter == "m":
            month = int(part)
        elif letter in _NAMES:
            # A pattern that ignores case matches more letters than these (a long s).
            if part.lower() not in _NAMES[letter]:
                return _leave("a name of other letters")
            if letter in "bB":
                month = _NAMES[letter].index(part.lower()) + 1
        elif letter == "d":
            day = int(part)
        elif letter == "j":
            julian = int(part)
        elif letter in "HI":
            hour = int(part)
        elif letter == "M":
            minute = int(part)
        elif letter == "S":
            second = int(part)
        elif letter == "f":
            micros = int(part + "000000"[len(part):])
        elif letter == "p":
            half = part.lower()
        elif letter == "z":
            offset = _offset_of(part)
    if "I" in letters:
        if half == "pm":
            if hour != 12:
                hour += 12
        elif hour == 12:
            hour = 0
    found = _datetime(year, month, day, hour, minute, second, micros)
    if "j" in letters:
        if year == 9999 and julian > 365:
            return _leave("a day beyond the last year")
        found += timedelta(days=julian - 1)
    return found.replace(tzinfo=timezone(_of_micros(offset))) if "z" in letters else found


def _offset_of(text):
    """The microseconds of an offset that a format has read (Lib/_strptime.py, _strptime)."""
    if text == "Z":
        return 0
    digits = text[1:3] + (text[4:] if text[3:4] == ":" else text[3:])
    if len(digits) != 4 or not digits.isascii() or not digits.isdigit() or digits[2] > "5":
        return _leave("an offset that CPython must read")
    micros = (int(digits[:2]) * 60 + int(digits[2:4])) * 60000000
    return -micros if text[0] == "-" else micros


def time(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
    if tzinfo is not None or fold != 0:
        return _refuse("a time with a zone")
    return _record("time", _operation("time.from_parts", _c_int(hour), _c_int(minute), _c_int(second), _c_int(microsecond)))


def time_fromisoformat(text, /):
    if not isinstance(text, str):
        raise TypeError("fromisoformat: argument must be str")
    return _record("time", _operation("time.parse", text))
