"""calendar: what it computes of years and months."""


def isleap(year, /):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def leapdays(y1, y2, /):
    y1 = y1 - 1
    y2 = y2 - 1
    return (y2 // 4 - y1 // 4) - (y2 // 100 - y1 // 100) + (y2 // 400 - y1 // 400)


def weekday(year, month, day):
    if not isinstance(year, int) or not isinstance(month, int) or not isinstance(day, int):
        return _leave("what CPython says of such a date")
    if not 1 <= year <= 9999 or not 1 <= month <= 12 or not 1 <= day <= _month_days(year, month):
        return _leave("a weekday beyond datetime.date")
    # Zeller's congruence, from Monday on.
    moved = month + 12 if month < 3 else month
    of = year - 1 if month < 3 else year
    return (day + 13 * (moved + 1) // 5 + of + of // 4 - of // 100 + of // 400 + 5) % 7


def _month_days(year, month):
    if month == 2:
        return 29 if isleap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def monthrange(year, month):
    if not isinstance(year, int) or not isinstance(month, int):
        return _leave("what CPython says of such a month")
    if not 1 <= month <= 12:
        return _leave("calendar.IllegalMonthError")
    return (weekday(year, month, 1), _month_days(year, month))


class _localized:
    def __init__(self, names):
        self._names = names

    def __getitem__(self, index):
        if not isinstance(index, int):
            return _leave("names of the calendar by something else than an int")
        if not -9223372036854775808 <= index <= 9223372036854775807:
            return _leave("an index that is no index")
        if not -len(self._names) <= index < len(self._names):
            raise IndexError("list index out of range")
        return self._names[index]

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        return iter(self._names)


month_name = _localized(
    (
        "", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    )
)
month_abbr = _localized(("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
day_name = _localized(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
day_abbr = _localized(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))


def monthcalendar(year, month):
    first, days = monthrange(year, month)
    weeks = []
    day = 1 - first
    while day <= days:
        weeks.append([at if 1 <= at <= days else 0 for at in range(day, day + 7)])
        day += 7
    return weeks
