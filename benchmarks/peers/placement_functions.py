"""The functions of the queries of placement besides those of `udfs`; the same as FUNCTIONS
in crates/bench/src/placement.rs."""


# sql: is_cheap(price DOUBLE) RETURNS BOOLEAN
def is_cheap(price):
    return price is not None and price < 200


# sql: fee(price DOUBLE) RETURNS DOUBLE STRICT
def fee(price):
    return price * 1.21 + 3


# sql: picked(id BIGINT, note TEXT) RETURNS BOOLEAN STRICT
def picked(id, note):
    if id >= 20000:
        return False
    return int(note[5:]) % 3 == 0


# sql: trimmed(s TEXT) RETURNS TEXT STRICT
def trimmed(s):
    return s.strip()


# sql: lowered(s TEXT) RETURNS TEXT STRICT
def lowered(s):
    return s.lower()


# sql: spaced(s TEXT) RETURNS TEXT STRICT
def spaced(s):
    return s.replace("-", " ")


# sql: head(s TEXT) RETURNS TEXT STRICT
def head(s):
    return s.partition(" ")[0]


# sql: length_of(s TEXT) RETURNS BIGINT STRICT
def length_of(s):
    return len(s)
