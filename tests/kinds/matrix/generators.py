"""Values of every SQL type through functions that give rows.

    python generators.py [EXUVIA]

A function sees the values that row functions see, from the columns of a table within LATERAL and from
subqueries as arguments; what it yields as a value, in a tuple, in a dict or in a DataFrame comes back as it was.
"""

import sys

import pyarrow as pa

from harness import Query, few, main
from sqltypes import COLUMNS, TABLES, declared, values

# Parquet takes no intervals that come back; they are still seen.
RETURNED = [column for column in COLUMNS if column.sql != "INTERVAL"]

# Frames hold NumPy's arrays of lists and dicts of whose numbers some are floats.
FRAMED = [column for column in RETURNED if not column.nested]


def create(name, columns, returns, body):
    declared_ = ", ".join(f"c{index} {column.sql}" for index, column in enumerate(columns))
    names = ", ".join(f"c{index}" for index in range(len(columns)))
    return (f"CREATE FUNCTION {name}({declared_}) RETURNS {returns} LANGUAGE python AS $$\nimport pandas as pd\n"
            f"def {name}({names}):\n    row = ({names},)\n    {body}\n$$;\n")


def table_type(columns):
    return "TABLE (n BIGINT, " + ", ".join(f"{column.quoted} {column.sql}" for column in columns) + ")"


def functions():
    names = [column.name for column in RETURNED]
    out = create("said", COLUMNS, "SETOF TEXT", "return [repr(item) for item in row]")
    out += create("tuples", RETURNED, table_type(RETURNED), "yield (0, *row)\n    yield (1, *row)")
    out += create("dicts", RETURNED, table_type(RETURNED),
                  f"for n in range(2):\n        yield {{'more': 1, **dict(zip({names!r}, row)), 'n': n}}")
    names = [column.name for column in FRAMED]
    frame = f"pd.DataFrame({{'n': [0, 1], **{{name: pd.Series([item, item], dtype=object) for name, item in zip({names!r}, row)}}}})"
    out += create("frames", FRAMED, table_type(FRAMED), f"return {frame}")
    for column in RETURNED:
        out += create(f"set_{column.word}", [column], f"SETOF {column.sql}", "yield c0\n    yield c0")
    return out


def args(columns, table="t"):
    return ", ".join(f"{table}.{column.quoted}" for column in columns)


def of_table(name, table):
    ids = table.column("id").to_pylist()
    seen = list(zip(*(values(declared(table.column(c.name), c), c) for c in COLUMNS)))
    rows = list(zip(*(declared(table.column(c.name), c).to_pylist() for c in RETURNED)))
    source = f"{name}_shuffled t"
    yield Query(f"said of {name}", f"SELECT t.id, s.said FROM {source}, LATERAL said({args(COLUMNS)}) AS s",
                [(number, repr(item)) for number, row in zip(ids, seen) for item in row])
    for form in ("tuples", "dicts"):
        yield Query(f"{form} of {name}", f"SELECT t.id, s.* FROM {source}, LATERAL {form}({args(RETURNED)}) AS s",
                    [(number, n, *row) for number, row in zip(ids, rows) for n in range(2)])
    # NaN of a frame is NULL.
    framed = [[None if item != item else item for item, column in zip(row, RETURNED) if column in FRAMED] for row in rows]
    yield Query(f"frames of {name}", f"SELECT t.id, s.* FROM {source}, LATERAL frames({args(FRAMED)}) AS s",
                [(number, n, *row) for number, row in zip(ids, framed) for n in range(2)])


def of_types():
    every = TABLES["every"]
    ids = every.column("id").to_pylist()
    for column in RETURNED:
        items = declared(every.column(column.name), column).to_pylist()
        yield Query(f"set of {column.sql}", f"SELECT t.id, s.v FROM every_shuffled t, LATERAL set_{column.word}({args([column])}) AS s(v)",
                    [(number, item) for number, item in zip(ids, items) for _ in range(2)])
    for number in (0, 1, 3):
        row = [values(declared(every.column(c.name).slice(number, 1), c), c)[0] for c in COLUMNS]
        subqueries = ", ".join(f"(SELECT {c.quoted} FROM every_shuffled WHERE id = {number})" for c in COLUMNS)
        yield Query(f"said in FROM of {number}", f"SELECT * FROM said({subqueries})", [(repr(item),) for item in row], ordered=True)


def queries():
    yield from of_table("every", TABLES["every"])
    for name in ("none", "one", "nulls"):
        yield from few(of_table(name, TABLES[name]))
    yield from few(of_types())


if __name__ == "__main__":
    sys.exit(main(functions(), list(queries()), TABLES))
