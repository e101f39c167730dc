"""Columns of every SQL type through column functions.

    python columns.py [EXUVIA]

A function sees what `to_pandas()` or NumPy make of the column in the declared type, as one column, as those of a
window's partitions in their order, and batch by batch; a column that is returned comes back as it was (NaN of a
Series being NULL).
"""

import sys

import numpy as np
import pyarrow as pa

from harness import Query, few, main
from sqltypes import COLUMNS, TABLES, declared

FORMS = {"series": "pd.Series", "ndarray": "np.ndarray", "arrow": "pa.Array"}

IMPORTS = "import numpy as np\nimport pandas as pd\nimport pyarrow as pa\n"

# What a handler says of a column: of each row its place, the dtype and the value.
SAY = """
def dtype(x):
    # Which of Arrow's layouts a text has is not promised.
    return x.dtype if hasattr(x, 'dtype') else str(x.type).replace('large_string', 'string').replace('string_view', 'string')

def said(x):
    items = x.to_pylist() if hasattr(x, 'to_pylist') else list(x)
    return [f'{dtype(x)} {item!r}' for item in items]

def together(columns):
    rows = list(zip(*map(said, columns)))
    return [[f'{place} of {len(rows)}', *row] for place, row in enumerate(rows)]
"""
exec(SAY)


def integral(column):
    """Whether an ndarray of the type has no word for NULL."""
    return pa.types.is_integer(column.stored) or pa.types.is_boolean(column.stored)


def comes_back(column, form):
    """Whether a column that a function returns as it got it is the same: frames' arrays, dicts and offsets are not.
    (Of intervals Parquet would not take the result.)"""
    return column.sql != "INTERVAL" and (form == "arrow" or not column.nested)


def taken(form):
    """The columns that a function of a form can take, where they have NULLs."""
    return [column for column in COLUMNS if form != "ndarray" or not integral(column)]


def create(name, params, returns, annotation, body, options="kind 'column'"):
    columns = ", ".join(f"c{index} {column.sql}" for index, column in enumerate(params))
    annotated = ", ".join(f"c{index}: {annotation}" for index in range(len(params)))
    return (f"CREATE FUNCTION {name}({columns}) RETURNS {returns} LANGUAGE python OPTIONS ({options}) AS $$\n"
            f"{IMPORTS}{SAY}\ndef {name}({annotated}):\n    return {body}\n$$;\n")


def functions():
    out = ""
    for form, annotation in FORMS.items():
        every = "[" + ", ".join(f"c{index}" for index in range(len(taken(form)))) + "]"
        out += create(f"said_{form}", taken(form), "TEXT[]", annotation, f"together({every})")
        out += create(f"batch_{form}", taken(form), "TEXT[]", annotation, f"together({every})", "kind 'column', scope 'batch'")
        for column in COLUMNS:
            if comes_back(column, form):
                out += create(f"same_{form}_{column.word}", [column], column.sql, annotation, "c0")
            if integral(column) and form == "ndarray":
                out += create(f"known_{column.word}", [column], "TEXT", annotation, "said(c0)")
    return out


def given(array, column, form):
    """What a function gets of a column of a file."""
    array = declared(array, column)
    if form == "series":
        return array.to_pandas()
    if form == "arrow":
        return array
    if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type) and array.type.tz is None:
        return array.to_numpy(zero_copy_only=False)
    if pa.types.is_floating(array.type) or integral(column):
        return array.to_numpy(zero_copy_only=False)
    objects = np.empty(len(array), dtype=object)
    objects[:] = array.to_pylist()
    return objects


def saw(table, form):
    return together([given(table.column(column.name), column, form) for column in taken(form)])


def whole(name, table, form):
    """A call on a column whose rows have any order: their places are not compared."""
    call = f"said_{form}({', '.join(column.quoted for column in taken(form))})"
    rows = [(number, row[1:]) for number, row in zip(table.column("id").to_pylist(), saw(table, form))]
    return Query(f"{form} of {name}", f"SELECT id, array_slice({call}, 2, 100) AS said FROM {name}_shuffled", rows)


def windows(name, table, form):
    """A call for each partition, in the order of the window."""
    rows = []
    groups = table.column("g").to_pylist()
    for group in dict.fromkeys(groups):
        part = table.take(pa.array([i for i, g in enumerate(groups) if g == group], pa.int64()))
        part = part.sort_by([("id", "descending")])
        rows += zip(part.column("id").to_pylist(), saw(part, form))
    call = f"said_{form}({', '.join(column.quoted for column in taken(form))})"
    sql = f"SELECT id, {call} OVER (PARTITION BY g ORDER BY id DESC) AS said FROM {name}_shuffled"
    return Query(f"{form} over partitions of {name}", sql, rows)


def batches(name, table, form):
    """A call for each batch. Which rows one has is not given, and so whether a NULL is beside a value."""
    rows = {number: [row] for number, row in zip(table.column("id").to_pylist(), saw(table, form))}
    for number in rows:
        rows[number] += saw(table.slice(number, 1), form)

    def expected(found):
        out = []
        for number, said in found:
            may = list(zip(*rows[number]))[1:]
            out.append((number, [said[0], *(cell if cell in cells else cells[0] for cell, cells in zip(said[1:], may))]))
        missing = rows.keys() - {number for number, _ in found}
        return out + [(number, rows[number][0]) for number in missing]

    call = f"batch_{form}({', '.join(column.quoted for column in taken(form))})"
    return Query(f"{form} by batch of {name}", f"SELECT id, {call} AS said FROM {name}_shuffled", expected)


def returned(name, table, form, over=""):
    columns = [column for column in COLUMNS if comes_back(column, form) and column in taken(form)]
    calls = ", ".join(f"same_{form}_{column.word}({column.quoted}) {over} AS c{n}" for n, column in enumerate(columns))
    cells = [table.column("id").to_pylist()]
    for column in columns:
        items = declared(table.column(column.name), column).to_pylist()
        if form == "ndarray" and pa.types.is_floating(column.stored):
            items = given(table.column(column.name), column, form).tolist()
        cells.append([None if form == "series" and item != item else item for item in items])
    sql = f"SELECT id, {calls} FROM {name}_shuffled"
    return Query(f"{form} returned of {name} {over}", sql, list(zip(*cells)))


def known(name, table):
    """Arrays of integers and booleans, which have no NULL."""
    for column in filter(integral, COLUMNS):
        some = table.filter(table.column(column.name).is_valid())
        array = some.column(column.name)
        rows = zip(some.column("id").to_pylist(), said(given(array, column, "ndarray")), array.to_pylist())
        calls = f"known_{column.word}({column.quoted}) AS s, same_ndarray_{column.word}({column.quoted}) AS x"
        sql = f"SELECT id, {calls} FROM {name}_shuffled WHERE {column.quoted} IS NOT NULL"
        yield Query(f"ndarray of {column.sql} of {name}", sql, list(rows))


def of_table(name, table):
    for form in FORMS:
        yield whole(name, table, form)
        yield windows(name, table, form)
        yield batches(name, table, form)
        yield returned(name, table, form)


def queries():
    every = TABLES["every"]
    yield from of_table("every", every)
    yield returned("every", every, "series", "OVER (PARTITION BY id % 4 ORDER BY id)")
    for name in ("none", "one", "nulls"):
        yield from few(of_table(name, TABLES[name]))
    yield from few(known("every", every))


if __name__ == "__main__":
    sys.exit(main(functions(), list(queries()), TABLES))
