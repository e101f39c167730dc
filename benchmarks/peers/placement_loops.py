"""The queries of placement as loops in CPython: columns to Python objects, the calls in the
order in which the query says them."""

import pyarrow.parquet as pq


def prepare(what, tables):
    """The query, to be run."""
    f = {name: function.guarded() for name, function in tables.functions.items()}
    return lambda: QUERIES[what](f, tables)


def columns(tables, name, *names):
    """Columns of a Parquet file as lists."""
    table = pq.read_table(tables.parquet(name), columns=list(names), use_threads=False)
    return [table[name].to_pylist() for name in names]


def predicate(f, tables):
    is_cheap = f["is_cheap"]
    first = last = 0
    for price, c0, c17 in zip(*columns(tables, "wide", "price", "c0", "c17")):
        if is_cheap(price):
            first += c0
            last += c17
    return [(first, last)]


def arithmetic(f, tables):
    fee = f["fee"]
    first = last = 0
    for price, c0, c17 in zip(*columns(tables, "wide", "price", "c0", "c17")):
        total = fee(price)
        if total is not None and total < 200:
            first += c0
            last += c17
    return [(first, last)]


def guard(f, tables):
    picked = f["picked"]
    first = last = 0
    for id, note, c0, c17 in zip(*columns(tables, "wide", "id", "note", "c0", "c17")):
        if picked(id, note):
            first += c0
            last += c17
    return [(first, last)]


def deep(f, tables):
    length_of, head, spaced, lowered, trimmed = f["length_of"], f["head"], f["spaced"], f["lowered"], f["trimmed"]
    total = 0
    for title in tables.memory["title"].to_pylist():
        length = length_of(head(spaced(lowered(trimmed(title)))))
        if length is not None:
            total += length
    return [(total,)]


def twice(f, tables):
    bedrooms = f["bedrooms"]
    total = 0
    for facts in tables.memory["facts_and_features"].to_pylist():
        number = bedrooms(facts)
        if number is not None and number < 4:
            total += number
    return [(total,)]


def join(f, tables):
    sqft = f["sqft"]
    states = {"MA", "ny", "Texas"}
    count = total = 0
    for state, facts in zip(tables.memory["state"].to_pylist(), tables.memory["facts_and_features"].to_pylist()):
        if state not in states:
            continue
        area = sqft(facts)
        if area is not None and area > 900:
            count += 1
            total += area
    return [(count, total)]


def logs(prefix, suffix):
    """The query over the log, with functions of these names."""

    def run(f, tables):
        ip_of, date_of, method_of, endpoint_of, protocol_of, response_code_of, content_size_of = (
            f[f"{prefix}{part}{suffix}"]
            for part in ("ip", "date", "method", "endpoint", "protocol", "response_code", "content_size")
        )
        anonymous = f["anonymous"]
        (bad,) = columns(tables, "bad_addresses", "ip")
        bad = set(bad)
        out = []
        (lines,) = columns(tables, "logs", "line")
        for line in lines:
            endpoint = endpoint_of(line)
            if not endpoint:
                continue
            ip = ip_of(line)
            if ip in bad:
                out.append((ip, date_of(line), method_of(line), anonymous(endpoint), protocol_of(line),
                            response_code_of(line), content_size_of(line)))
        return out

    return run


QUERIES = {
    "predicate over Parquet": predicate,
    "arithmetic over Parquet": arithmetic,
    "cheap guard first": guard,
    "five calls deep": deep,
    "call in SELECT and WHERE": twice,
    "call above a join": join,
    "logs by split": logs("", "_of"),
    "logs by find": logs("find_", ""),
    "logs by match": logs("match_", ""),
}
