"""The SQL types of the benchmarks in the words of Arrow, Polars and DuckDB."""

import re

import polars as pl
import pyarrow as pa

SCALARS = {
    "TEXT": pa.string(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us"),
}


def parts(text):
    """What stands between commas that are in no brackets."""
    found = re.findall(r"(?:[^,(<]|\([^)]*\)|<[^>]*>)+", text)
    return [part.strip() for part in found if part.strip()]


def arrow(name):
    """The type in Arrow."""
    if name.endswith("[]"):
        return pa.list_(arrow(name[:-2]))
    if name.startswith("DECIMAL("):
        precision, scale = name[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    if name.startswith("STRUCT<"):
        fields = [part.split(" ", 1) for part in parts(name[7:-1])]
        return pa.struct([(field, arrow(ty)) for field, ty in fields])
    return SCALARS[name]


def polars(name):
    """The type in Polars."""
    return pl.from_arrow(pa.array([], type=arrow(name))).dtype


def duckdb(name):
    """The type in DuckDB's SQL."""
    return name.replace("TEXT", "VARCHAR").replace("<", "(").replace(">", ")")


def plain(ty):
    """An Arrow type with text in the layout that every engine knows."""
    if pa.types.is_string_view(ty):
        return pa.string()
    if pa.types.is_list(ty):
        return pa.list_(plain(ty.value_type))
    return ty
