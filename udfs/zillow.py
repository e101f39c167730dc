"""Functions that clean a table of real-estate listings.

The listings are text as it was scraped: `3 bds , 1 ba , 1,560 sqft` is one of the better
cells. Each function cleans one thing. What cannot be parsed raises, and the function's
error policy makes it NULL.

Load the file with `exuvia --udfs udfs/zillow.py`: every function below whose definition
follows a line `# sql:` becomes an SQL function of that signature.
"""

STATES = {
    "arizona": "AZ",
    "california": "CA",
    "connecticut": "CT",
    "florida": "FL",
    "hawaii": "HI",
    "hawaiʻi": "HI",
    "maine": "ME",
    "massachusetts": "MA",
    "new hampshire": "NH",
    "new jersey": "NJ",
    "new mexico": "NM",
    "new york": "NY",
    "puerto rico": "PR",
    "rhode island": "RI",
    "texas": "TX",
    "vermont": "VT",
}


def whole_number(text):
    """'1,560' -> 1560"""
    return int(text.replace(",", ""))


# sql: bedrooms(facts TEXT) RETURNS BIGINT OPTIONS (on_error 'null')
def bedrooms(facts):
    end = facts.find(" bd")
    if end < 0:
        end = len(facts)
    head = facts[:end]
    comma = head.rfind(",")
    start = 0 if comma < 0 else comma + 2
    return int(head[start:])


# sql: bathrooms(facts TEXT) RETURNS BIGINT OPTIONS (on_error 'null')
def bathrooms(facts):
    end = facts.find(" ba")
    if end < 0:
        end = len(facts)
    head = facts[:end]
    comma = head.rfind(",")
    start = 0 if comma < 0 else comma + 2
    return int(head[start:])


# sql: sqft(facts TEXT) RETURNS BIGINT OPTIONS (on_error 'null')
def sqft(facts):
    end = facts.find(" sqft")
    if end < 0:
        end = len(facts)
    head = facts[:end]
    start = head.rfind("ba ,") + 5
    return whole_number(head[start:])


# sql: price_per_sqft(facts TEXT) RETURNS BIGINT STRICT
def price_per_sqft(facts):
    label = "Price/sqft: $"
    start = facts.find(label)
    if start < 0:
        return None
    start += len(label)
    end = facts.find(" ,", start)
    try:
        return whole_number(facts[start:end])
    except ValueError:
        return None


# sql: home_type(title TEXT) RETURNS TEXT STRICT
def home_type(title):
    title = title.lower()
    kind = "unknown"
    if "condo" in title or "apartment" in title:
        kind = "condo"
    if "house" in title:
        kind = "house"
    return kind


# sql: offer(title TEXT) RETURNS TEXT STRICT
def offer(title):
    title = title.lower()
    for word in ("sale", "rent", "sold"):
        if word in title:
            return word
    if "foreclose" in title:
        return "foreclosed"
    return title


# sql: list_price(price TEXT, offer TEXT, rate BIGINT, area BIGINT) RETURNS BIGINT OPTIONS (on_error 'null')
def list_price(price, offer, rate, area):
    if offer == "sold":
        if rate is None or area is None:
            return None
        return rate * area
    if offer == "rent":
        return whole_number(price[1 : price.rfind("/")])
    return whole_number(price[1:])


# sql: zipcode(postal_code DOUBLE) RETURNS TEXT OPTIONS (on_error 'null')
def zipcode(postal_code):
    return f"{int(postal_code):05d}"


# sql: city_name(city TEXT) RETURNS TEXT STRICT
def city_name(city):
    return city.strip().capitalize()


# sql: state_code(state TEXT) RETURNS TEXT STRICT
def state_code(state):
    state = state.strip()
    if len(state) == 2:
        return state.upper()
    name = state.lower()
    return STATES[name] if name in STATES else None


# sql: street(address TEXT) RETURNS TEXT STRICT
def street(address):
    unit = address.find("#")
    if unit >= 0:
        address = address[:unit]
    return " ".join(address.split())


# sql: clean_url(url TEXT) RETURNS TEXT STRICT
def clean_url(url):
    query = url.find("?")
    if query >= 0:
        url = url[:query]
    if url.startswith("http://"):
        url = "https://" + url[len("http://") :]
    return url.rstrip("/")
