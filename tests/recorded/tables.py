"""Tables of the case files: from pandas to JSON and back by way of Arrow.

A column has an SQL type. A frame for a case is built as the SQL side hands it over: an Arrow
table of the declared types, then `to_pandas()`. Missing values (None, NaN, NaT, pd.NA) are
null in JSON. Floats are text, so that they are exact; timestamps and dates are ISO text.

What does not fit an SQL type raises `Unfit` with the reason that the report counts.
"""

import datetime
import math

import numpy as np
import pandas as pd
import pyarrow as pa

ARROW = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "TINYINT UNSIGNED": pa.uint8(),
    "SMALLINT UNSIGNED": pa.uint16(),
    "INTEGER UNSIGNED": pa.uint32(),
    "BIGINT UNSIGNED": pa.uint64(),
    "REAL": pa.float32(),
    "DOUBLE": pa.float64(),
    "TEXT": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP(9)": pa.timestamp("ns"),
}

NUMBERS = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "TINYINT UNSIGNED",
    "uint16": "SMALLINT UNSIGNED",
    "uint32": "INTEGER UNSIGNED",
    "uint64": "BIGINT UNSIGNED",
    "float32": "REAL",
    "float64": "DOUBLE",
}


class Unfit(Exception):
    """A value that a case cannot hold; its text is the reason."""


def missing(value):
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def float_text(value):
    return repr(float(value))


def texts(values):
    out = [None if missing(value) else value for value in values]
    for value in out:
        if value is not None:
            try:
                value.encode()
            except UnicodeEncodeError:
                raise Unfit("text with a lone surrogate") from None
    return out


def objects(values):
    """The type and values of an object column, which must be all text, bool or date."""
    kinds = {type(value) for value in values if not missing(value)}
    if kinds <= {str}:
        return "TEXT", texts(values)
    if kinds <= {bool, np.bool_}:
        return "BOOLEAN", [None if missing(value) else bool(value) for value in values]
    if kinds == {datetime.date}:
        return "DATE", [None if missing(value) else value.isoformat() for value in values]
    if len(kinds) == 1:
        raise Unfit(f"object column of {kinds.pop().__name__}")
    raise Unfit("object column of mixed types")


def timestamps(values, unit):
    """ISO texts of numpy datetimes; SQL and Python know the years 1 to 9999 only."""
    held = values[~np.isnat(values)].astype("datetime64[Y]")
    if len(held) and (held.min() < np.datetime64("0001") or held.max() > np.datetime64("9999")):
        raise Unfit("timestamp outside the years 1 to 9999")
    return [None if text == "NaT" else str(text) for text in np.datetime_as_string(values, unit=unit)]


def column(series, result):
    """The SQL type and the JSON values of a column. A result may have dtypes that no input has."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind == "b":
            return "BOOLEAN", series.tolist()
        if dtype.kind in "iu":
            return NUMBERS[dtype.name], series.tolist()
        if dtype.name in ("float32", "float64"):
            values = [None if math.isnan(value) else float_text(value) for value in series.tolist()]
            return NUMBERS[dtype.name], values
        if dtype.kind == "M":
            unit = np.datetime_data(dtype)[0]
            kept = "ns" if unit == "ns" else "us"
            values = series.to_numpy()
            if unit != kept:
                wide = values.astype("datetime64[us]")
                if (wide.astype(values.dtype) != values)[~np.isnat(values)].any():
                    raise Unfit("timestamp outside the years 1 to 9999")
                values = wide
            return ("TIMESTAMP(9)" if unit == "ns" else "TIMESTAMP"), timestamps(values, kept)
        if dtype.kind == "O":
            return objects(series.tolist())
        raise Unfit(f"dtype {dtype.type.__name__}")
    if isinstance(dtype, pd.StringDtype) and (result or dtype.na_value is not pd.NA):
        return "TEXT", texts(series.tolist())
    if result and isinstance(dtype, pd.CategoricalDtype):
        kind, values = column(pd.Series(series.tolist(), dtype=object), result)
        if kind == "TEXT" and column(pd.Series(dtype.categories), result)[0] == "TEXT":
            return kind, values
        raise Unfit("category of other than text")
    if result and isinstance(dtype, pd.BooleanDtype):
        return "BOOLEAN", [None if missing(value) else value for value in series.tolist()]
    if result and str(dtype).lower() in NUMBERS:
        kind = NUMBERS[str(dtype).lower()]
        number = float_text if kind in ("REAL", "DOUBLE") else int
        return kind, [None if missing(value) else number(value) for value in series.tolist()]
    raise Unfit(f"dtype {type(dtype).__name__}")


def labels(names):
    names = list(names)
    if not names:
        raise Unfit("no columns")
    if not all(type(name) is str for name in names):
        raise Unfit("column label is not text")
    if len(set(names)) != len(names):
        raise Unfit("column labels are not unique")
    texts(names)
    return names


def rows(columns):
    return [list(row) for row in zip(*columns)]


def frame(table, limit):
    """A frame as an input: its columns `[name, type, has nulls]` and its rows."""
    if len(table) > limit:
        raise Unfit("more rows than the limit")
    index = table.index
    if type(index) is not pd.RangeIndex or index.start != 0 or index.step != 1 or index.name is not None:
        raise Unfit("index is not the default")
    names = labels(table.columns)
    read = [column(table.iloc[:, place], False) for place in range(len(names))]
    columns = [[name, kind, None in values] for name, (kind, values) in zip(names, read)]
    return {"columns": columns, "rows": rows([values for _, values in read])}


def arrow_column(kind, values):
    if kind in ("REAL", "DOUBLE"):
        values = [None if value is None else float(value) for value in values]
    elif kind == "DATE":
        values = [None if value is None else datetime.date.fromisoformat(value) for value in values]
    elif kind.startswith("TIMESTAMP"):
        unit = ARROW[kind].unit
        values = np.array(["NaT" if value is None else value for value in values], dtype=f"datetime64[{unit}]")
    return pa.array(values, type=ARROW[kind])


def build(table):
    """The frame of an input, as the SQL side hands it over."""
    columns = zip(*table["rows"]) if table["rows"] else [[] for _ in table["columns"]]
    arrays = [arrow_column(kind, list(values)) for (_, kind, _), values in zip(table["columns"], columns)]
    return pa.table(arrays, names=[name for name, _, _ in table["columns"]]).to_pandas()


def scalar(value):
    """The SQL type and JSON value of a result that is no table."""
    if isinstance(value, (bool, np.bool_)):
        return "BOOLEAN", bool(value)
    if type(value) is int:
        if not -(2**63) <= value < 2**63:
            raise Unfit("result is an int of more than 64 bits")
        return "BIGINT", value
    if isinstance(value, np.generic) and value.dtype.name in NUMBERS:
        kind, values = column(pd.Series(np.array([value])), True)
        return kind, values[0]
    if type(value) is float:
        return "DOUBLE", None if math.isnan(value) else float_text(value)
    if type(value) is str:
        return "TEXT", texts([value])[0]
    if value is pd.NaT:
        return "TIMESTAMP", None
    if isinstance(value, (datetime.datetime, np.datetime64)):
        kind, values = column(pd.Series([value]), True)
        return kind, values[0]
    if type(value) is datetime.date:
        return "DATE", value.isoformat()
    raise Unfit(f"result is a {type(value).__name__}")


def normal(value):
    """A result as a table: its columns, then the named index levels that clash with none."""
    if isinstance(value, pd.Series):
        name = "value" if value.name is None else value.name
        names = labels([name])
        read = [column(value, True)]
    elif isinstance(value, pd.DataFrame):
        names = labels(value.columns)
        read = [column(value.iloc[:, place], True) for place in range(len(names))]
        for place, name in enumerate(value.index.names):
            if name is None or name in names:
                continue
            names = labels([*names, name])
            read.append(column(value.index.get_level_values(place).to_series(), True))
    else:
        kind, value = scalar(value)
        return {"columns": [["value", kind]], "rows": [[value]]}
    columns = [[name, kind] for name, (kind, _) in zip(names, read)]
    return {"columns": columns, "rows": rows([values for _, values in read])}
