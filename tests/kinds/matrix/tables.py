"""Tables of every SQL type through table functions.

    python tables.py [EXUVIA]

What a function sees is what `to_pandas()` makes of the file, and a table that is returned comes back as it was
(NaN being NULL): in order where the argument has an ORDER BY, and as a bag where its rows are shuffled. Beside the
tables of every type stands one of 500 columns.
"""

import sys

import pyarrow as pa

from harness import Query, few, main
from sqltypes import COLUMNS, TABLES, declared

# Frames hold NumPy's arrays of lists, dicts of whose numbers some are floats, and pandas' offsets for
# intervals, which are not what comes back.
RETURNED = [column for column in COLUMNS if not column.nested and column.sql != "INTERVAL"]

# All types in turn, as columns of one table.
WIDE = [(f"c {number}", RETURNED[number % len(RETURNED)]) for number in range(500)]


def wide():
    every = TABLES["every"]
    # Neighbours of a type have other values in a row.
    columns = {name: every.column(column.name).slice(number % 20, 8) for number, (name, column) in enumerate(WIDE)}
    return pa.table({"id": pa.array(range(8), pa.int64()), **columns})


FILES = {**TABLES, "wide": wide()}

FUNCTIONS = """
CREATE FUNCTION dtypes(t TABLE) RETURNS TABLE (said TEXT) LANGUAGE python AS $$
return [(f'{name}: {t[name].dtype}',) for name in t.columns]
$$;
CREATE FUNCTION shown(t TABLE) RETURNS TABLE (said TEXT) LANGUAGE python AS $$
return [(repr(row),) for row in t.itertuples(index=False, name=None)]
$$;
"""


def same(name, columns):
    declared = ", ".join(f'"{name}" {sql}'.replace('te"xt', 'te""xt') for name, sql in columns)
    return f"""
CREATE FUNCTION {name}(t TABLE) RETURNS TABLE (id BIGINT, {declared}) LANGUAGE python AS $$
import pandas as pd
def {name}(t):
    return t
$$;
"""


FUNCTIONS += same("same", [(column.name, column.sql) for column in RETURNED])
FUNCTIONS += same("same_wide", [(name, column.sql) for name, column in WIDE])


def plain(table):
    """With texts where a file has them dictionary-encoded, which does not show."""
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(position, field.name, table.column(position).cast(field.type.value_type))
    return table


def queries(name, table):
    frame = plain(table).to_pandas()
    yield Query(f"dtypes of {name}", f"SELECT * FROM dtypes((SELECT * FROM {name} ORDER BY id))",
                [(f"{label}: {frame[label].dtype}",) for label in frame.columns], ordered=True)
    yield Query(f"shown of {name}", f"SELECT * FROM shown((SELECT * FROM {name}_shuffled ORDER BY id))",
                [(repr(row),) for row in frame.itertuples(index=False, name=None)], ordered=True)
    columns = [table.column("id").to_pylist()]
    for label, column in WIDE if name == "wide" else [(column.name, column) for column in RETURNED]:
        values = declared(table.column(label), column).to_pylist()
        columns.append([None if value != value else value for value in values])
    function = "same_wide" if name == "wide" else "same"
    yield Query(f"same of {name}", f"SELECT * FROM {function}(TABLE {name}_shuffled)", list(zip(*columns)))


if __name__ == "__main__":
    every = [query for name in ("every", "wide") for query in queries(name, FILES[name])]
    others = [query for name in ("none", "one", "nulls") for query in few(queries(name, FILES[name]))]
    sys.exit(main(FUNCTIONS, every + others, FILES))
