"""Tables with a column of each SQL type, and what the values of a row are in Python.

The columns have NULL, NaN, -0.0, infinities, the ends of the types' ranges, duplicates, empty and ragged lists,
and names that SQL must quote.
"""

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

UTC = dt.timezone.utc
STAMP = dt.datetime(2024, 2, 29, 12, 30, 15, 123456)


@dataclass(frozen=True)
class Column:
    """A column of a file: its type there, the type in SQL that functions declare for it, and
    values, to which NULL is added."""

    name: str
    stored: pa.DataType
    sql: str
    values: list
    # What Arrow calls the SQL type, where files have it otherwise.
    as_declared: pa.DataType | None = None

    @property
    def declared(self):
        return self.as_declared or self.stored

    @property
    def quoted(self):
        return '"' + self.name.replace('"', '""') + '"'

    @property
    def word(self):
        """The name as part of the names of functions."""
        return "".join(c if c.isascii() and c.isalnum() else "_" for c in self.name.lower())

    @property
    def nested(self):
        return pa.types.is_nested(self.stored)


COLUMNS = [
    Column("tiny", pa.int8(), "TINYINT", [-128, 127, 0]),
    Column("small int", pa.int16(), "SMALLINT", [-32768, 32767]),
    Column("int", pa.int32(), "INT", [-(2**31), 2**31 - 1]),
    Column("Big", pa.int64(), "BIGINT", [-(2**53), 2**53, 7, 7]),
    Column("u8", pa.uint8(), "TINYINT UNSIGNED", [0, 255]),
    Column("u16", pa.uint16(), "SMALLINT UNSIGNED", [0, 65535]),
    Column("u32", pa.uint32(), "INT UNSIGNED", [0, 2**32 - 1]),
    Column("u64", pa.uint64(), "BIGINT UNSIGNED", [0, 2**53]),
    Column("real", pa.float32(), "REAL", [1.5, -0.0, float("inf"), float("nan")]),
    Column("double", pa.float64(), "DOUBLE", [0.1, -0.0, float("-inf"), float("nan"), 5e-324]),
    Column("bool", pa.bool_(), "BOOLEAN", [True, False]),
    Column('te"xt', pa.string(), "TEXT", ["", "é", "日本語", "a\nb", "NULL"]),
    Column("dictionary", pa.dictionary(pa.int32(), pa.string()), "TEXT", ["x", "", "x"], pa.string()),
    Column("bytes", pa.binary(), "BYTEA", [b"", b"\x00\xff"]),
    Column("date", pa.date32(), "DATE", [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2024, 2, 29)]),
    Column("stamp", pa.timestamp("us"), "TIMESTAMP(6)", [STAMP, dt.datetime(1969, 12, 31, 23, 59, 59)]),
    Column("millis", pa.timestamp("ms"), "TIMESTAMP(3)", [STAMP.replace(microsecond=123000)]),
    Column("nanos", pa.timestamp("ns"), "TIMESTAMP", [STAMP]),
    Column("zoned", pa.timestamp("us", tz="UTC"), "TIMESTAMP(6) WITH TIME ZONE", [STAMP.replace(tzinfo=UTC)],
           pa.timestamp("us", tz="+00:00")),
    Column("time", pa.time64("us"), "TIME", [dt.time(0, 0), dt.time(23, 59, 59, 999999)], pa.time64("ns")),
    Column("decimal", pa.decimal128(20, 4), "DECIMAL(20, 4)", [Decimal("-0.0001"), Decimal("1234567890123456.7890")]),
    Column("wide", pa.decimal256(50, 2), "DECIMAL(50, 2)", [Decimal("-1e45"), Decimal("0.01")]),
    # Arrow's durations are what Parquet can hold of intervals.
    Column("span", pa.duration("us"), "INTERVAL", [dt.timedelta(days=-1, microseconds=5), dt.timedelta(0)],
           pa.month_day_nano_interval()),
    Column("ünï", pa.list_(pa.int64()), "BIGINT[]", [[], [1, None, 3]]),
    Column("lists", pa.list_(pa.list_(pa.string())), "TEXT[][]", [[], [[], None], [["a", None], [""]]]),
    Column("struct", pa.struct([("a", pa.int64()), ("b", pa.string())]), "STRUCT<a BIGINT, b TEXT>",
           [{"a": 1, "b": None}, {"a": None, "b": ""}]),
    Column("map", pa.map_(pa.string(), pa.int64()), "MAP(TEXT, BIGINT)", [[], [("k", 1), ("", None)]]),
]


def table_of(rows, nulls_only=False):
    """A table of all columns, and of `id`, which is unique, and `g`, by which rows are grouped."""
    picks = random.Random(rows)
    columns = {
        "id": pa.array(range(rows), pa.int64()),
        "g": pa.array([[None, "a", "", "a"][row % 4] for row in range(rows)], pa.string()),
    }
    for column in COLUMNS:
        pool = [None] if nulls_only else [None, *column.values]
        values = [pool[row] if row < len(pool) else picks.choice(pool) for row in range(rows)]
        columns[column.name] = pa.array(values, column.stored)
    return pa.table(columns)


TABLES = {"every": table_of(40), "none": table_of(0), "one": table_of(1), "nulls": table_of(5, True)}


def declared(array, column):
    """A column of a file as the type that functions declare."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if column.sql == "INTERVAL":
        items = [None if item is None else (0, 0, item // dt.timedelta(microseconds=1) * 1000) for item in array.to_pylist()]
        return pa.array(items, column.declared)
    if pa.types.is_struct(column.stored):
        # What a struct becomes depends on what its NULLs hold within, which is NULL in files.
        items = array.to_pylist()
        fields = [pa.array([item and item[field.name] for item in items], field.type) for field in column.stored]
        return pa.StructArray.from_arrays(fields, fields=list(column.stored), mask=array.is_null())
    return array.cast(column.declared)


def values(array, column):
    """The values of a column as row functions have them: plain Python's, which are exact to a microsecond."""
    out = []
    for item in array.to_pylist():
        if column.sql == "TIMESTAMP" and item is not None:
            item = item.to_pydatetime()
        if column.sql.endswith("ZONE") and item is not None:
            item = item.astimezone(UTC)
        if column.sql == "INTERVAL" and item is not None:
            item = dt.timedelta(days=item.days, microseconds=item.nanoseconds // 1000)
        if column.sql.startswith("MAP") and item is not None:
            item = dict(item)
        out.append(item)
    return out
