"""Whole queries as pandas table functions: listings to clean, access logs to take apart.

`zillow_frame` gives what sql/zillow_z1.sql gives with the functions of udfs/zillow.py, and
`logs_frame`, `logs_find_frame` and `logs_match_frame` what sql/logs_split.sql, sql/logs_find.sql
and sql/logs_match.sql give with those of udfs/logs.py: the same rows in any order. Nothing is
shared with those files. Here a query is one function over DataFrames, as one writes it
in a notebook: columns are assigned, rows filtered in between, cells parsed by a function
through `apply` or by the `str` methods.

A cell that cannot be parsed is missing. Its row is dropped where the query asks for the cell,
else the cell is NULL.
"""

import numpy as np
import pandas as pd

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


def number_before(facts, unit):
    """`3 bds , 1 ba , 1,560 sqft` and " ba" -> 1"""
    head = facts.split(unit)[0]
    comma = head.rfind(",")
    try:
        return int(head if comma < 0 else head[comma + 2 :])
    except ValueError:
        return None


def area(facts):
    head = facts.split(" sqft")[0]
    try:
        return int(head[head.rfind("ba ,") + 5 :].replace(",", ""))
    except ValueError:
        return None


def dollars(price):
    """`$489,000` -> 489000"""
    try:
        return int(price[1:].replace(",", ""))
    except ValueError:
        return None


def postal(code):
    """1801.0 -> `01801`"""
    try:
        return f"{int(code):05d}"
    except (ValueError, OverflowError):
        return None


# sql: zillow_frame(listings TABLE) RETURNS TABLE (url TEXT, zipcode TEXT, address TEXT, city TEXT, state TEXT, bedrooms BIGINT, bathrooms BIGINT, sqft BIGINT, offer TEXT, type TEXT, price BIGINT)
def zillow_frame(listings):
    """Query Z1: houses for sale of fewer than ten bedrooms, between 100,000 and 20,000,000 dollars."""
    df = listings.dropna(subset=["title", "price", "facts_and_features"])
    df["bedrooms"] = df["facts_and_features"].apply(lambda facts: number_before(facts, " bd"))
    df = df[df["bedrooms"] < 10]

    title = df["title"].str.lower()
    df["type"] = "unknown"
    df.loc[title.str.contains("condo") | title.str.contains("apartment"), "type"] = "condo"
    df.loc[title.str.contains("house"), "type"] = "house"
    said = [title.str.contains(word) for word in ("sale", "rent", "sold", "foreclose")]
    df["offer"] = np.select(said, ["sale", "rent", "sold", "foreclosed"], default=title)
    df = df[(df["type"] == "house") & (df["offer"] == "sale")]

    df["price"] = df["price"].apply(dollars)
    df = df[(100_000 < df["price"]) & (df["price"] < 20_000_000)]

    df["bathrooms"] = df["facts_and_features"].apply(lambda facts: number_before(facts, " ba"))
    df["sqft"] = df["facts_and_features"].apply(area)
    df["zipcode"] = df["postal_code"].apply(postal)
    df["address"] = df["address"].str.split("#").str[0].str.split().str.join(" ")
    df["city"] = df["city"].str.strip().str.capitalize()
    state = df["state"].str.strip()
    df["state"] = np.where(state.str.len() == 2, state.str.upper(), state.str.lower().map(STATES))
    url = df["url"].str.split("?").str[0]
    df["url"] = url.str.replace("^http://", "https://", regex=True).str.rstrip("/")
    return df[
        ["url", "zipcode", "address", "city", "state", "bedrooms", "bathrooms", "sqft", "offer", "type", "price"]
    ]


def whole_number(text):
    """The number that a text is; -1 for what is none."""
    return int(text) if isinstance(text, str) and text.isdecimal() else -1


def size_in_bytes(text):
    return 0 if text == "-" else whole_number(text)


def anonymous(endpoint):
    """`/~bob/x` -> `/~` and ten capitals made of the name, `/x`."""
    if not endpoint.startswith("/~"):
        return endpoint
    user, slash, rest = endpoint[2:].partition("/")
    code = 5381
    for letter in user:
        code = (code * 33 + ord(letter)) % 2**32
    name = ""
    for _ in range(10):
        name += chr(65 + code % 26)
        code = (code * 1103515245 + 12345) % 2**32
    return f"/~{name}{slash}{rest}"


def bad_requests(requests, bad):
    """The requests that bad addresses made, without the names of users."""
    requests = requests.merge(bad, on="ip")
    requests["endpoint"] = requests["endpoint"].apply(anonymous)
    return requests[["ip", "date", "method", "endpoint", "protocol", "response_code", "content_size"]]


# sql: logs_frame(logs TABLE, bad TABLE) RETURNS TABLE (ip TEXT, date TEXT, method TEXT, endpoint TEXT, protocol TEXT, response_code BIGINT, content_size BIGINT)
def logs_frame(logs, bad):
    """Requests from bad addresses, the lines split at spaces."""
    parts = logs["line"].dropna().str.split(" ")
    df = pd.DataFrame({"parts": parts, "ip": parts.str[0], "endpoint": parts.str[6].str.rstrip('"')})
    df = df[df["endpoint"].fillna("") != ""]
    df["date"] = df["parts"].str[3].str[1:].str.replace(":", " ", n=1, regex=False)
    df["method"] = df["parts"].str[5].str[1:]
    count = df["parts"].str.len()
    df["protocol"] = df["parts"].str[7].str[:-1].where(count > 9, "")
    df["response_code"] = df["parts"].str[-2].apply(whole_number).where(count >= 9, -1)
    df["content_size"] = df["parts"].str[-1].apply(size_in_bytes).where(count >= 9, -1)
    return bad_requests(df, bad)


def found_parts(line):
    """The parts of a line by its brackets and quotes; what is missing is empty or -1."""
    ip = line.split(" ", 1)[0]
    date = ""
    if "[" in line:
        inside = line[line.find("[") + 1 :]
        if " " in inside:
            date = inside[: inside.find(" ")].replace(":", " ", 1)
    start, end = line.find('"'), line.rfind('"')
    request = line[start + 1 : end] if start < end else ""
    method, _, rest = request.partition(" ")
    endpoint, _, protocol = rest.partition(" ")
    code, _, size = line[line.rfind('" ') + 2 :].partition(" ") if '" ' in line else ("", "", "")
    return ip, date, method, endpoint, protocol, whole_number(code), size_in_bytes(size)


# sql: logs_find_frame(logs TABLE, bad TABLE) RETURNS TABLE (ip TEXT, date TEXT, method TEXT, endpoint TEXT, protocol TEXT, response_code BIGINT, content_size BIGINT)
def logs_find_frame(logs, bad):
    """Requests from bad addresses, the parts of lines found by brackets and quotes."""
    parts = logs["line"].dropna().apply(found_parts)
    names = ["ip", "date", "method", "endpoint", "protocol", "response_code", "content_size"]
    df = pd.DataFrame(parts.tolist(), columns=names)
    return bad_requests(df[df["endpoint"] != ""], bad)


WHOLE_LINE = (
    r"\A(?P<ip>\S+) (?P<client>\S+) (?P<user>\S+) \[(?P<date>[\w:/]+)\s[+\-]\d{4}\] "
    r'"(?P<method>\S+) (?P<endpoint>\S+)\s*(?P<protocol>\S*)" (?P<response_code>\d{3}) (?P<content_size>\S+)\Z'
)


# sql: logs_match_frame(logs TABLE, bad TABLE) RETURNS TABLE (ip TEXT, date TEXT, method TEXT, endpoint TEXT, protocol TEXT, response_code BIGINT, content_size BIGINT)
def logs_match_frame(logs, bad):
    """Requests from bad addresses, whole lines only, by one regular expression."""
    df = logs["line"].str.extract(WHOLE_LINE)
    df = df.dropna(subset=["endpoint"])
    df["date"] = df["date"].str.replace(":", " ", n=1, regex=False)
    df["response_code"] = df["response_code"].astype(int)
    df["content_size"] = df["content_size"].apply(size_in_bytes)
    return bad_requests(df, bad)
