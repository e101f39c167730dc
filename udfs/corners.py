"""Functions of kinds that were once slower than they should be.

The benchmark `corners` runs them over random records, beside CPython's loop.
"""

import hashlib
import re
import zlib

PLACE = re.compile(r"^(\S+?)://(\S+?)(/\S*)?\s*(\?\S*)?$")
RATES = {"EUR": 100, "USD": 92, "GBP": 117, "CHF": 104, "JPY": 1, "SEK": 9}


# sql: sorted_letters(name TEXT) RETURNS TEXT STRICT
def sorted_letters(name):
    return "".join(sorted(name.lower()))


# sql: padded_income(income DOUBLE) RETURNS TEXT STRICT
def padded_income(income):
    return "%07d" % income


# sql: clock(income DOUBLE) RETURNS TEXT STRICT
def clock(income):
    minutes = int(income)
    return "{:02}:{:02}".format(minutes // 60 % 24, minutes % 60)


# sql: moved_word(title TEXT) RETURNS TEXT STRICT
def moved_word(title):
    words = title.split()
    if len(words) > 2:
        words.insert(0, words.pop(2))
    return " ".join(words)


# sql: region(currency TEXT) RETURNS BIGINT STRICT
def region(currency):
    if currency == "EUR" or currency == "CHF" or currency == "SEK":
        return 1
    elif currency == "USD":
        return 2
    elif currency == "JPY" or currency == "CNY":
        return 3
    return 0


# sql: shelf(name TEXT) RETURNS BIGINT STRICT
def shelf(name):
    if "A" <= name < "F":
        return 1
    elif "F" <= name < "M":
        return 2
    elif name < "T":
        return 3
    return 4


# sql: distance(lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE) RETURNS DOUBLE STRICT
def distance(lat1, lon1, lat2, lon2):
    return ((lat1 - lat2) ** 2 + (lon1 - lon2) ** 2) ** 0.5


# sql: place(url TEXT) RETURNS TEXT STRICT
def place(url):
    found = PLACE.match(url)
    if found is None:
        return ""
    return found.group(1) + " " + found.group(2) + " " + (found.group(3) or "")


# sql: share(income DOUBLE) RETURNS DOUBLE STRICT
def share(income):
    return int(income * 100) / 10**20 * 100


# sql: epoch_seconds(income DOUBLE) RETURNS DOUBLE STRICT
def epoch_seconds(income):
    nanoseconds = 1_700_000_000_000_000_000 + int(income * 1000)
    return nanoseconds / 1_000_000_000


# sql: rate_of(currency TEXT) RETURNS BIGINT STRICT
def rate_of(currency):
    for name, rate in RATES.items():
        if name == currency:
            return rate
    return 0


# sql: hash64(name TEXT) RETURNS BIGINT STRICT
def hash64(name):
    """Half of its steps have more than 64 bits."""
    value = 14695981039346656037
    for c in name:
        value = ((value ^ ord(c)) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return value % 1_000_003


# sql: pseudonym(name TEXT) RETURNS TEXT STRICT
def pseudonym(name):
    return hashlib.sha256(b"salt:" + name.strip().lower().encode("utf-8")).hexdigest()[:16]


# sql: bucket(name TEXT) RETURNS BIGINT STRICT
def bucket(name):
    return zlib.crc32(name.encode()) % 64


# sql: ascii_title(title TEXT) RETURNS TEXT STRICT
def ascii_title(title):
    return title.encode("ascii", "ignore").decode("ascii")


# sql: checksum(name TEXT) RETURNS BIGINT STRICT
def checksum(name):
    total = 0
    for byte in name.encode():
        total = (total * 31 + byte) % 65521
    return total


# sql: draw(income DOUBLE) RETURNS DOUBLE STRICT
def draw(income):
    """A generator of random numbers, whose state has 64 bits without sign."""
    state = int(income)
    for _ in range(4):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return state / 2**64


# sql: mixed(income DOUBLE) RETURNS BIGINT STRICT
def mixed(income):
    """Shifts and products of words, cut at 64 bits."""
    h = int(income) & 0xFFFFFFFFFFFFFFFF
    h ^= h >> 33
    h = (h * 0xFF51AFD7ED558CCD) & 0xFFFFFFFFFFFFFFFF
    h ^= h >> 33
    h = (h * 0xC4CEB9FE1A85EC53) & 0xFFFFFFFFFFFFFFFF
    return (h ^ (h >> 33)) % 1024


# sql: token(income DOUBLE) RETURNS TEXT STRICT
def token(income):
    return "%016x" % ((int(income) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF)


# sql: fingerprint(title TEXT) RETURNS BIGINT STRICT
def fingerprint(title):
    """Grows without bound; only the remainder is asked for."""
    value = 0
    for c in title:
        value = value * 131 + ord(c)
    return value % 1_000_000_007


# sql: digest_bucket(name TEXT) RETURNS BIGINT STRICT
def digest_bucket(name):
    return int(hashlib.md5(name.encode()).hexdigest(), 16) % 100


# sql: arrangements(income DOUBLE) RETURNS BIGINT STRICT
def arrangements(income):
    """Passes 64 bits on the way, as most rows show."""
    n, result = 40 + int(income) % 20, 1
    for i in range(20):
        result = result * (n - i) // (i + 1)
    return result % 1_000_003
