"""The queries of placement by Polars, with `map_elements` and in its own expressions. Each
is written in the order of its SQL."""

from functools import cached_property

import polars as pl
import rows
import sqltypes
import z1


def prepare_map_elements(what, tables):
    """The lazy query with the Python functions."""
    query = MAP_ELEMENTS[what](Scans(tables), lambda name, *columns: call(tables.functions[name], *columns))
    return lambda: query().collect()


def prepare_expressions(what, tables):
    """The lazy query rewritten by hand."""
    query = EXPRESSIONS[what](Scans(tables))
    return lambda: query().collect()


class Scans:
    """The tables as lazy frames."""

    def __init__(self, tables):
        self.tables = tables

    @cached_property
    def frame(self):
        """The listings in memory, made in the first run, which is not timed."""
        return pl.from_arrow(self.tables.memory)

    def parquet(self, name):
        """A table in a file."""
        return pl.scan_parquet(self.tables.parquet(name))

    def memory(self):
        """The listings."""
        return self.frame.lazy()

    def sums(self, condition):
        """The query over the wide table."""
        return self.parquet("wide").filter(condition).select(pl.sum("c0"), pl.sum("c17"))

    def in_states(self):
        """The listings of some states."""
        return self.memory().join(pl.LazyFrame({"state": ["MA", "ny", "Texas"]}), on="state")

    def of_bad_addresses(self, requests, anonymous):
        """The requests that are listed."""
        return requests.join(self.parquet("bad_addresses"), on="ip").select(
            "ip", "date", "method", anonymous.alias("endpoint"), "protocol", "response_code", "content_size"
        )


def call(function, *columns):
    """A Python function over columns or expressions."""
    to = sqltypes.polars(function.returns)
    if len(columns) > 1:
        guarded = function.guarded()
        packed = pl.struct(*columns)
        return packed.map_elements(lambda row: guarded(*row.values()), return_dtype=to, skip_nulls=False)
    (column,) = columns
    wrapped = function.guarded() if function.on_error_null else function.call
    expression = pl.col(column) if isinstance(column, str) else column
    return expression.map_elements(wrapped, return_dtype=to, skip_nulls=function.strict or function.on_error_null)


def deep(scans, call):
    length = call("length_of", call("head", call("spaced", call("lowered", call("trimmed", "title")))))
    return lambda: scans.memory().select(length.sum())


def logs(prefix, suffix):
    """The query over the log, with functions of these names."""

    def prepare(scans, call):
        def part(name):
            return call(f"{prefix}{name}{suffix}", "line").alias(name)

        def query():
            requests = scans.parquet("logs").with_columns(part("endpoint")).filter(pl.col("endpoint") != "")
            others = ("ip", "date", "method", "protocol", "response_code", "content_size")
            requests = requests.with_columns(*map(part, others))
            return scans.of_bad_addresses(requests, call("anonymous", "endpoint"))

        return query

    return prepare


def rooms_below(scans, bedrooms):
    """The sum of few bedrooms."""
    return lambda: scans.memory().select(bedrooms.alias("n")).filter(pl.col("n") < 4).sum()


def areas_above(scans, sqft):
    """How many large areas, and their sum."""
    return lambda: scans.in_states().select(sqft.alias("n")).filter(pl.col("n") > 900).select(pl.len(), pl.sum("n"))


MAP_ELEMENTS = {
    "predicate over Parquet": lambda scans, call: lambda: scans.sums(call("is_cheap", "price")),
    "arithmetic over Parquet": lambda scans, call: lambda: scans.sums(call("fee", "price") < 200),
    "cheap guard first": lambda scans, call: lambda: scans.sums(call("picked", "id", "note")),
    "five calls deep": deep,
    "call in SELECT and WHERE": lambda scans, call: rooms_below(scans, call("bedrooms", "facts_and_features")),
    "call above a join": lambda scans, call: areas_above(scans, call("sqft", "facts_and_features")),
    "logs by split": logs("", "_of"),
    "logs by find": logs("find_", ""),
    "logs by match": logs("match_", ""),
}


def guard_by_hand(scans):
    number = pl.col("note").str.slice(5).cast(pl.Int64)
    return lambda: scans.sums((pl.col("id") < 20000) & (number % 3 == 0))


def deep_by_hand(scans):
    title = pl.col("title").str.strip_chars().str.to_lowercase().str.replace_all("-", " ", literal=True)
    return lambda: scans.memory().select(title.str.splitn(" ", 2).struct.field("field_0").str.len_chars().sum())


def number(text):
    return text.cast(pl.Int64, strict=False).fill_null(-1)


def anonymous():
    endpoint = pl.col("endpoint")
    user = endpoint.str.extract(r"^/~([^/]*)")
    # Polars has no digest for text.
    name = user.hash().cast(pl.String).str.head(10)
    return pl.when(endpoint.str.starts_with("/~")).then(
        pl.concat_str(pl.lit("/~"), name, endpoint.str.slice(user.str.len_chars() + 2))
    ).otherwise(endpoint)


LINE = (
    r"^(?<ip>\S+) (\S+) (\S+) \[(?<date>[\w:/]+)\s[+\-]\d{4}\] "
    r'"(?<method>\S+) (?<endpoint>\S+)\s*(?<protocol>\S*)" (?<code>\d{3}) (?<size>\S+)$'
)


def logs_by_pattern(scans):
    size = pl.col("size")

    def query():
        requests = (
            scans.parquet("logs")
            .select(pl.col("line").str.extract_groups(LINE))
            .unnest("line")
            .filter(pl.col("endpoint") != "")
            .select(
                "ip",
                pl.col("date").str.replace(":", " ", literal=True),
                "method",
                "endpoint",
                "protocol",
                number(pl.col("code")).alias("response_code"),
                pl.when(size == "-").then(0).otherwise(number(size)).alias("content_size"),
            )
        )
        return scans.of_bad_addresses(requests, anonymous())

    return query


def logs_by_hand(scans):
    def part(index):
        return pl.col("parts").list.get(index, null_on_oob=True)

    endpoint = pl.col("endpoint")

    def query():
        requests = (
            scans.parquet("logs")
            .select(pl.col("line").str.split(" ").alias("parts"))
            .with_columns(part(6).str.strip_chars_end('"').alias("endpoint"))
            .filter(endpoint != "")
            .select(
                part(0).alias("ip"),
                part(3).str.slice(1).str.replace(":", " ", literal=True).alias("date"),
                part(5).str.slice(1).alias("method"),
                "endpoint",
                part(7).str.strip_chars_end('"').fill_null("").alias("protocol"),
                number(part(-2)).alias("response_code"),
                pl.when(part(-1) == "-").then(0).otherwise(number(part(-1))).alias("content_size"),
            )
        )
        return scans.of_bad_addresses(requests, anonymous())

    return query


EXPRESSIONS = {
    "predicate over Parquet": lambda scans: lambda: scans.sums(pl.col("price") < 200),
    "arithmetic over Parquet": lambda scans: lambda: scans.sums(pl.col("price") * 1.21 + 3 < 200),
    "cheap guard first": guard_by_hand,
    "five calls deep": deep_by_hand,
    "call in SELECT and WHERE": lambda scans: rooms_below(scans, z1.before(" bd")),
    "call above a join": lambda scans: areas_above(scans, z1.area()),
    "logs by split": logs_by_hand,
    "logs by find": logs_by_hand,
    "logs by match": logs_by_pattern,
}
