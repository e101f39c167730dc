"""Functions with dicts, sets and objects of classes, as one writes them in Python.

The benchmark `objects` runs them over random records, beside CPython's loop.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass


# sql: letters(title TEXT) RETURNS TEXT STRICT
def letters(title):
    """How often each letter occurs, by a dict."""
    counts = {}
    for c in title.lower():
        counts[c] = counts.get(c, 0) + 1
    return " ".join([f"{c}{n}" for c, n in sorted(counts.items())])


# sql: common_word(title TEXT) RETURNS TEXT STRICT
def common_word(title):
    """The commonest word, by a Counter."""
    best = Counter(title.lower().split()).most_common(1)
    return f"{best[0][0]}:{best[0][1]}" if best else ""


# sql: by_initial(title TEXT) RETURNS TEXT STRICT
def by_initial(title):
    """Words by their first letter, in lists of a defaultdict."""
    groups = defaultdict(list)
    for word in title.split():
        groups[word[0]].append(word)
    return "; ".join([f"{k}: {', '.join(v)}" for k, v in groups.items()])


# sql: distinct_letters(name TEXT, other TEXT) RETURNS BIGINT STRICT
def distinct_letters(name, other):
    """Letters of one name that the other has not, by sets."""
    return len(set(name.lower()) - set(other.lower()))


class Scanner:
    """Reads a text from left to right."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def more(self):
        return self.at < len(self.text)

    def number(self):
        value = 0
        while self.more() and self.text[self.at].isdigit():
            value = value * 10 + int(self.text[self.at])
            self.at += 1
        return value

    def skip(self):
        while self.more() and not self.text[self.at].isdigit():
            self.at += 1


# sql: card_total(card TEXT) RETURNS BIGINT STRICT
def card_total(card):
    """The sum of the numbers in a text, by an object that keeps its place."""
    scanner = Scanner(card)
    total = 0
    scanner.skip()
    while scanner.more():
        total += scanner.number()
        scanner.skip()
    return total


@dataclass
class Point:
    lat: float
    lon: float

    def __sub__(self, other):
        return Point(self.lat - other.lat, self.lon - other.lon)

    def __abs__(self):
        return (self.lat * self.lat + self.lon * self.lon) ** 0.5


# sql: apart(lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE) RETURNS DOUBLE STRICT
def apart(lat1, lon1, lat2, lon2):
    """A distance, by operators of a dataclass."""
    return abs(Point(lat1, lon1) - Point(lat2, lon2))


class Rejected(ValueError):
    def __init__(self, reason, code):
        super().__init__(reason)
        self.code = code


def _checked(iban):
    if len(iban) < 15:
        raise Rejected("short", 1)
    if not iban[:2].isalpha():
        raise Rejected("no country", 2)
    if not iban[2:4].isdigit():
        raise Rejected("no digits", 3)
    return iban[:2]


# sql: country_or_code(iban TEXT) RETURNS TEXT STRICT
def country_or_code(iban):
    """A check that raises exceptions of its own."""
    try:
        return _checked(iban)
    except Rejected as e:
        return f"{e} ({e.code})"


@dataclass
class Word:
    text: str
    count: int = 0


# sql: longest_words(title TEXT) RETURNS TEXT STRICT
def longest_words(title):
    """The three longest words, by a sorted list of objects."""
    words = [Word(w.strip(",."), len(w)) for w in title.split()]
    words.sort(key=lambda w: (-w.count, w.text))
    return " ".join(w.text for w in words[:3])


# sql: word_kinds(title TEXT) RETURNS TEXT STRICT
def word_kinds(title):
    """Words by their kind, in a dict of dicts."""
    kinds = {}
    for word in title.split():
        kind = "number" if word.isdigit() else "name" if word[:1].isupper() else "other"
        group = kinds.setdefault(kind, {"count": 0, "letters": 0})
        group["count"] += 1
        group["letters"] += len(word)
    return ", ".join(f"{kind} {g['count']}/{g['letters']}" for kind, g in kinds.items())


class Token:
    def __init__(self, kind, text):
        self.kind = kind
        self.text = text


# sql: tokens(card TEXT) RETURNS TEXT STRICT
def tokens(card):
    """Runs of digits and of letters, in a list of objects of which the last one grows."""
    found = []
    for c in card:
        kind = "d" if c.isdigit() else "a" if c.isalpha() else "-"
        if found and found[-1].kind == kind:
            found[-1].text += c
        else:
            found.append(Token(kind, c))
    return " ".join(t.kind + t.text for t in found)
