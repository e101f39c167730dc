"""Functions of other kinds, as one writes them without thinking of how they will run.

The benchmark `more` runs them over random records and reports for each where it ran and
how fast, whatever that is. Nothing was tuned for them, and they for nothing.
"""

import datetime
import math
import re

ADDRESS = re.compile(r"([\w.+-]+)@((?:[\w-]+\.)+[a-z]{2,})", re.IGNORECASE)
RATES = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17, "CHF": 1.04, "JPY": 0.0061, "SEK": 0.088}
BANDS = [(11_000, 0.0), (17_000, 0.14), (66_000, 0.30), (277_000, 0.42)]


# sql: iban_ok(iban TEXT) RETURNS BOOLEAN STRICT
def iban_ok(iban):
    """The check of an IBAN, by one large number."""
    iban = iban.replace(" ", "").upper()
    if len(iban) < 15 or not iban.isalnum() or not iban.isascii():
        return False
    digits = ""
    for c in iban[4:] + iban[:4]:
        digits += c if c.isdigit() else str(ord(c) - ord("A") + 10)
    return int(digits) % 97 == 1


# sql: iban_ok_by_digit(iban TEXT) RETURNS BOOLEAN STRICT
def iban_ok_by_digit(iban):
    """The same a digit at a time."""
    rest = 0
    text = iban.replace(" ", "").upper()
    if len(text) < 15:
        return False
    for c in text[4:] + text[:4]:
        if "0" <= c <= "9":
            rest = (rest * 10 + int(c)) % 97
        elif "A" <= c <= "Z":
            rest = (rest * 100 + ord(c) - 55) % 97
        else:
            return False
    return rest == 1


# sql: edit_distance(name TEXT, other TEXT) RETURNS BIGINT STRICT
def edit_distance(name, other):
    previous = list(range(len(other) + 1))
    for i, a in enumerate(name):
        current = [i + 1]
        for j, b in enumerate(other):
            cost = 0 if a == b else 1
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost))
        previous = current
    return previous[-1]


# sql: luhn_ok(card TEXT) RETURNS BOOLEAN STRICT
def luhn_ok(card):
    total = 0
    digits = [int(c) for c in card if c.isdigit()]
    if len(digits) < 12:
        return False
    for i, d in enumerate(reversed(digits)):
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0


# sql: email_key(email TEXT) RETURNS TEXT OPTIONS (on_error 'null')
def email_key(email):
    """One spelling of an address: no tag, and no dots where the provider ignores them."""
    user, domain = email.strip().lower().split("@")
    if not user or "." not in domain:
        raise ValueError(f"no address: {email!r}")
    user = user.split("+")[0]
    if domain in ("gmail.com", "googlemail.com"):
        return user.replace(".", "") + "@gmail.com"
    return f"{user}@{domain}"


# sql: income_tax(income DOUBLE, children BIGINT) RETURNS DOUBLE STRICT
def income_tax(income, children):
    income = max(income - 2_500.0 * min(children, 6), 0.0)
    tax = 0.0
    lower = 0.0
    for upper, rate in BANDS:
        if income <= upper:
            return round(tax + (income - lower) * rate, 2)
        tax += (upper - lower) * rate
        lower = upper
    return round(tax + (income - lower) * 0.45, 2)


# sql: haversine_km(lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE) RETURNS DOUBLE STRICT
def haversine_km(lat1, lon1, lat2, lon2):
    p1, p2 = math.radians(lat1), math.radians(lat2)
    dp = p2 - p1
    dl = math.radians(lon2 - lon1)
    a = math.sin(dp / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(dl / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(a))


# sql: slug(title TEXT) RETURNS TEXT STRICT
def slug(title):
    words = "".join(c if c.isalnum() else " " for c in title.lower()).split()
    return "-".join(words)


# sql: url_host(url TEXT) RETURNS TEXT STRICT
def url_host(url):
    scheme, sep, rest = url.partition("://")
    if not sep:
        return None
    for end in "/?#":
        rest = rest.split(end, 1)[0]
    host = rest.rpartition("@")[2]
    if host.startswith("["):
        return host[1 : host.find("]")]
    return host.partition(":")[0].lower()


# sql: day_of_year(date TEXT) RETURNS BIGINT STRICT
def day_of_year(date):
    """2024-03-01 -> 61; -1 for what is no date."""
    try:
        year, month, day = [int(part) for part in date.split("-")]
    except ValueError:
        return -1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        return -1
    return sum(lengths[: month - 1]) + day


# sql: to_euro(amount TEXT, currency TEXT) RETURNS DOUBLE OPTIONS (on_error 'null')
def to_euro(amount, currency):
    """'1.234,50' and 'usd' -> 1135.74"""
    value = float(amount.strip().replace(".", "").replace(",", "."))
    return round(value * RATES[currency.upper()], 2)


# sql: mail_domain(email TEXT) RETURNS TEXT STRICT
def mail_domain(email):
    found = ADDRESS.fullmatch(email.strip())
    return found.group(2).lower() if found else None


# sql: numbers_of(title TEXT) RETURNS BIGINT STRICT
def numbers_of(title):
    """The sum of the numbers in a title."""
    return sum(int(number) for number in re.findall(r"\d{1,9}", title))


# sql: plain_title(title TEXT) RETURNS TEXT STRICT
def plain_title(title):
    """A title without punctuation, its words one space apart."""
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s]", "", title)).strip()


# sql: hidden_digits(card TEXT) RETURNS TEXT STRICT
def hidden_digits(card):
    """A card's number with all but the last four digits as crosses."""
    return re.sub(r"\d[ -]?(?:\d[ -]?)*(\d{4})\b", lambda found: "x" * 12 + found.group(1), card)


# sql: days_left(date TEXT) RETURNS BIGINT OPTIONS (on_error 'null')
def days_left(date):
    """How many days of its year follow a date."""
    day = datetime.date.fromisoformat(date)
    return (datetime.date(day.year, 12, 31) - day).days


# sql: similarity(name TEXT, other TEXT) RETURNS DOUBLE STRICT
def similarity(name, other):
    """The share of trigrams that two names have in common."""

    def grams(text):
        text = f"  {text.lower()} "
        return {text[i : i + 3] for i in range(len(text) - 2)}

    a, b = grams(name), grams(other)
    return len(a & b) / len(a | b)
