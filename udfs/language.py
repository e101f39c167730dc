"""Functions in the manner of those that people keep in warehouses: containers, classes,
generators, times, arrays and structs.

The benchmark `language` runs them over random orders, beside CPython's loop and other engines.
"""

import math
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import Enum
from functools import lru_cache
from itertools import groupby


# sql: word_counts(note TEXT) RETURNS TEXT STRICT
def word_counts(note):
    """The three commonest words, counted in a dict."""
    counts = {}
    for word in note.lower().split():
        word = word.strip(",.!")
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{word}={count}" for word, count in ranked[:3])


# sql: alike(name TEXT, other TEXT) RETURNS DOUBLE STRICT
def alike(name, other):
    """Jaccard's similarity of the pairs of letters, by sets."""
    a = {name[i:i + 2].lower() for i in range(len(name) - 1)}
    b = {other[i:i + 2].lower() for i in range(len(other) - 1)}
    union = a | b
    return len(a & b) / len(union) if union else 0.0


@dataclass(frozen=True)
class Line:
    sku: str
    quantity: int
    price: float

    @property
    def total(self):
        return self.quantity * self.price

    @classmethod
    def parse(cls, text):
        sku, quantity, price = text.split(":")
        return cls(sku.strip(), int(quantity), float(price))


# sql: order_total(lines TEXT) RETURNS DOUBLE STRICT
def order_total(lines):
    """What an order costs, by objects of a dataclass."""
    parsed = [Line.parse(part) for part in lines.split(";") if part]
    total = sum(line.total for line in parsed)
    if len({line.sku for line in parsed}) >= 3:
        total *= 0.95
    return round(total, 2)


# sql: final_state(events TEXT) RETURNS TEXT STRICT
def final_state(events):
    """A state machine, by match."""
    state = "new"
    for event in events.split(","):
        match state, event:
            case "new", "pay":
                state = "paid"
            case "paid", "ship":
                state = "shipped"
            case "shipped", "deliver":
                state = "delivered"
            case ("new" | "paid"), "cancel":
                state = "cancelled"
            case _, "return" if state == "delivered":
                state = "returned"
            case _:
                pass
    return state


def _steps(values):
    last = None
    for value in values:
        if last is not None:
            yield value - last
        last = value


# sql: first_drop(readings DOUBLE[]) RETURNS DOUBLE STRICT
def first_drop(readings):
    """The first large step down, by a generator that is not read to its end."""
    return next((step for step in _steps(readings) if step < -20.0), 0.0)


# sql: deviation(readings DOUBLE[]) RETURNS DOUBLE STRICT
def deviation(readings):
    """The standard deviation of an array."""
    if len(readings) < 2:
        return None
    mean = sum(readings) / len(readings)
    return math.sqrt(sum((x - mean) ** 2 for x in readings) / (len(readings) - 1))


# sql: clipped(readings DOUBLE[], least DOUBLE, most DOUBLE) RETURNS DOUBLE[] STRICT
def clipped(readings, least, most):
    """An array with each element within bounds."""
    return [min(max(x, least), most) for x in readings]


# sql: covered(bounds BIGINT[]) RETURNS BIGINT STRICT
def covered(bounds):
    """What intervals cover together: they are sorted and merged."""
    spans = sorted(zip(bounds[::2], bounds[1::2]))
    merged = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return sum(end - start for start, end in merged)


# sql: area(xs DOUBLE[], ys DOUBLE[]) RETURNS DOUBLE STRICT
def area(xs, ys):
    """The area of a polygon."""
    points = list(zip(xs, ys))
    total = 0.0
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1]):
        total += x1 * y2 - x2 * y1
    return abs(total) / 2.0


# sql: working_hours(opened TIMESTAMP, closed TIMESTAMP) RETURNS DOUBLE STRICT
def working_hours(opened, closed):
    """The hours between two times that lie on working days between nine and five."""
    total = timedelta(0)
    day = opened.replace(hour=0, minute=0, second=0, microsecond=0)
    while day < closed:
        if day.weekday() < 5:
            start = max(opened, day + timedelta(hours=9))
            end = min(closed, day + timedelta(hours=17))
            if end > start:
                total += end - start
        day += timedelta(days=1)
    return total.total_seconds() / 3600


# sql: period(opened TIMESTAMP) RETURNS TEXT STRICT
def period(opened):
    """A label of the quarter and the week."""
    return f"{opened.year}-Q{(opened.month - 1) // 3 + 1} {opened.strftime('%a %d.%m. %H:%M')}"


ROMAN = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
         (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


# sql: roman(number BIGINT) RETURNS TEXT STRICT
def roman(number):
    """A number in Roman digits, by a table of tokens."""
    out = []
    for value, digits in ROMAN:
        count, number = divmod(number, value)
        out.append(digits * count)
    return "".join(out)


MORSE = {}
for _letter, _code in zip(
    "abcdefghijklmnopqrstuvwxyz",
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split(),
):
    MORSE[_letter] = _code


# sql: morse(name TEXT) RETURNS TEXT STRICT
def morse(name):
    """A text in Morse code, by a dict that a loop fills."""
    return " ".join(MORSE.get(letter, "/") for letter in name.lower())


@lru_cache(maxsize=None)
def _ways(amount, largest):
    if amount == 0:
        return 1
    if amount < 0 or largest == 0:
        return 0
    return _ways(amount - largest, largest) + _ways(amount, largest - 1)


# sql: partitions(number BIGINT) RETURNS BIGINT STRICT
def partitions(number):
    """In how many ways a number is a sum, by recursion that is remembered."""
    return _ways(number % 25, number % 25)


# sql: from_greenwich(place STRUCT<lat DOUBLE, lon DOUBLE>) RETURNS DOUBLE STRICT
def from_greenwich(place):
    """How far a place is from Greenwich, from a struct."""
    lat, lon = math.radians(place["lat"]), math.radians(place["lon"])
    a = math.sin(lat / 2) ** 2 + math.cos(lat) * math.sin(lon / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(a))


# sql: shifted(place STRUCT<lat DOUBLE, lon DOUBLE>, by DOUBLE) RETURNS STRUCT<lat DOUBLE, lon DOUBLE> STRICT
def shifted(place, by):
    """A struct out of a struct."""
    lon = (place["lon"] + by + 180.0) % 360.0 - 180.0
    return {"lat": max(-90.0, min(90.0, place["lat"])), "lon": lon}


# sql: setting(pairs TEXT) RETURNS BIGINT STRICT
def setting(pairs):
    """A number out of a text of pairs, by a dict."""
    options = dict(pair.split("=", 1) for pair in pairs.split(";") if "=" in pair)
    retries = int(options.get("retries", "3"))
    if options.get("mode") == "fast" and "timeout" in options:
        return retries * int(options["timeout"])
    return retries


# sql: tag_list(tags TEXT[]) RETURNS TEXT[] STRICT
def tag_list(tags):
    """The tags of an array, each once, in order."""
    return sorted({tag.strip().lower() for tag in tags if tag})


# sql: gross(price DECIMAL(12, 2), rate TEXT) RETURNS DECIMAL(12, 2) STRICT
def gross(price, rate):
    """A price with its tax, by Decimal."""
    return (price * (1 + Decimal(rate))).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


# sql: best_group(lines TEXT) RETURNS TEXT STRICT
def best_group(lines):
    """Which group of articles sold most, by lists in a defaultdict."""
    groups = defaultdict(list)
    for part in lines.split(";"):
        if part.count(":") == 2:
            sku, quantity, _ = part.split(":")
            groups[sku[0]].append(int(quantity))
    best = max(groups, key=lambda group: (sum(groups[group]), group), default="-")
    return f"{best}:{sum(groups[best])}"


class Level(Enum):
    BRONZE = 0
    SILVER = 100
    GOLD = 500

    @classmethod
    def of(cls, points):
        return max((level for level in cls if points >= level.value), key=lambda level: level.value)


# sql: level(number BIGINT) RETURNS TEXT STRICT
def level(number):
    """A level by points, by an enumeration."""
    return Level.of(number).name.title()


OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


# sql: computed(formula TEXT) RETURNS BIGINT STRICT
def computed(formula):
    """The value of a formula in reverse Polish notation, by a stack and a dict of functions."""
    stack = []
    for token in formula.split():
        if token in OPERATORS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATORS[token](a, b))
        else:
            stack.append(int(token))
    return stack[-1]


# sql: common_part(name TEXT, other TEXT) RETURNS BIGINT STRICT
def common_part(name, other):
    """The length of the longest common subsequence, by two rows of a table."""
    row = [0] * (len(other) + 1)
    for a in name:
        above = row[:]
        for i, b in enumerate(other, 1):
            row[i] = above[i - 1] + 1 if a == b else max(above[i], row[i - 1])
    return row[-1]


# sql: packed(signal TEXT) RETURNS TEXT STRICT
def packed(signal):
    """Run-length coding, by groupby."""
    return "".join(f"{letter}{len(list(run))}" for letter, run in groupby(signal))


LOG = re.compile(r"(?P<user>[\w.]+)@(?P<host>\S+) \[(?P<at>[^\]]+)\] (?P<code>\d{3})")


class Unreadable(ValueError):
    def __init__(self, line):
        super().__init__(f"unreadable: {line[:8]}")
        self.line = line


def _record(line):
    found = LOG.match(line)
    if found is None:
        raise Unreadable(line)
    return found.groupdict()


# sql: failed_at(access TEXT) RETURNS TEXT STRICT
def failed_at(access):
    """A field of a log line, by groups of a pattern and an exception of one's own."""
    try:
        record = _record(access)
    except Unreadable as e:
        return str(e)
    at = datetime.strptime(record["at"], "%Y-%m-%d %H:%M")
    return f"{record['user']} {at:%H}h" if record["code"][0] in "45" else ""
