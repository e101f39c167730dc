"""The queries of `cargo xtask bench placement`, by engines other than DataFusion.

Their SQL is that of QUERIES in crates/bench/src/placement.rs. The loops in CPython are what
results are compared with; DuckDB and Polars run each query with the Python functions and
rewritten by hand without Python. `wide`, `logs` and `bad_addresses` are read from Parquet
in each run, `memory` is a table of the engine's own.
"""

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import placement_duckdb
import placement_loops
import placement_polars
import polars as pl
import pyarrow as pa
import rows
import signatures

PEERS = Path(__file__).resolve().parent
ROOT = PEERS.parents[1]

QUERIES = {
    "predicate over Parquet",
    "arithmetic over Parquet",
    "cheap guard first",
    "five calls deep",
    "call in SELECT and WHERE",
    "call above a join",
    "logs by split",
    "logs by find",
    "logs by match",
}

CONTENDERS = {
    "loop": placement_loops.prepare,
    "duckdb udf": placement_duckdb.prepare_udf,
    "duckdb sql": placement_duckdb.prepare_sql,
    "polars map_elements": placement_polars.prepare_map_elements,
    "polars expressions": placement_polars.prepare_expressions,
}


class Files:
    """The tables in files."""

    def __init__(self, folder):
        self.folder = folder

    def parquet(self, name):
        """The path of a table in a file."""
        return f"{self.folder}/{name}.parquet"


class Tables(Files):
    """The tables of the queries and the functions that they call."""

    def __init__(self, folder, listings):
        super().__init__(folder)
        columns = ["title", "state", "facts_and_features"]
        self.memory = pa.table({name: rows.plain(listings[name]) for name in columns})
        self.sql = ROOT / "sql"
        self.functions = {}
        for path in (ROOT / "udfs/zillow.py", ROOT / "udfs/logs.py", PEERS / "placement_functions.py"):
            self.functions |= signatures.load(path)


def values(result):
    """A result as rows of Python objects."""
    if isinstance(result, pl.DataFrame):
        return result.rows()
    if isinstance(result, list):
        return result
    # DuckDB's sums of integers are decimals.
    columns = [
        [int(value) if isinstance(value, Decimal) else value for value in column.to_pylist()]
        for column in result.itercolumns()
    ]
    return list(zip(*columns))


NAME = re.compile(r"^/~[^/]{10}(?=/|$)")


def without_name(row):
    """The row without the ten letters that stand for a user: written by hand they are
    another hash than the function's."""
    return tuple(NAME.sub("/~", value) if isinstance(value, str) else value for value in row)


def differ(expected, got):
    """How many rows differ, in any order, and an example."""
    expected, got = Counter(expected), Counter(got)
    count = max((expected - got).total(), (got - expected).total())
    if count == 0:
        return {"differ": 0, "example": None}
    bare, bare_got = (Counter(map(without_name, counter.elements())) for counter in (expected, got))
    missing, extra = bare - bare_got, bare_got - bare
    besides = max(missing.total(), extra.total())
    if besides == 0:
        return {"differ": count, "example": "only in the names that stand for users"}
    example = f"{next(iter(extra), None)!r}, not {next(iter(missing), None)!r}"
    if besides < count:
        example = f"{count - besides} only in the names that stand for users; {example}"
    return {"differ": count, "example": example}
