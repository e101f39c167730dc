"""Arrays of every element type in row functions.

    python arrays.py [EXUVIA]

A parameter T[] is a list, or an ndarray of the dtype of T where it is annotated as one, of rank 1 and 2. NULL in
integers and booleans and lists of different lengths are errors, whose message is NumPy's in the latter case.
"""

import sys

import numpy as np
import pyarrow as pa

import harness
from harness import Query
from sqltypes import COLUMNS, Column, values

# What there are no arrays of yet: TIMESTAMP WITH TIME ZONE[] loses its zone where it is declared.
NO_ARRAYS = {"TIMESTAMP(6) WITH TIME ZONE"}

# The types of elements. (Parquet takes no arrays of intervals.)
ELEMENTS = [column for column in COLUMNS if not column.nested and not pa.types.is_dictionary(column.stored)
            and column.sql != "INTERVAL" and column.sql not in NO_ARRAYS]


def dtype(column):
    """The dtype of an element's type, which is NumPy's where it has one that is exact."""
    if pa.types.is_date(column.stored):
        return "datetime64[D]"
    if pa.types.is_timestamp(column.stored) and column.stored.tz is None:
        return f"datetime64[{column.stored.unit}]"
    numeric = pa.types.is_integer(column.stored) or pa.types.is_floating(column.stored) or pa.types.is_boolean(column.stored)
    return column.stored.to_pandas_dtype() if numeric else object


def array_column(column, rank):
    """A column of arrays of a type: NULL, empty, with a NULL item, ragged, and regular."""
    first, last = column.values[0], column.values[-1]
    regular, holed = [first, last, first], [first, None]
    lists = [None, [], regular, holed, [last]]
    stored, declared = pa.list_(column.stored), column.as_declared and pa.list_(column.as_declared)
    if rank == 2:
        lists = [None, [], [[]], [regular, regular], [holed, holed], [regular, [last]], [[], []], [regular, None]]
        stored, declared = pa.list_(stored), declared and pa.list_(declared)
    return Column(f"{column.word}_{rank}", stored, column.sql + "[]" * rank, lists, declared)


ARRAYS = [(column, rank, array_column(column, rank)) for column in ELEMENTS for rank in (1, 2)]
ROWS = 16


def table_of(nulls_only=False, rows=ROWS):
    columns = {"id": pa.array(range(rows), pa.int64())}
    for _, _, array in ARRAYS:
        pool = [None] if nulls_only else array.values
        columns[array.name] = pa.array([pool[row % len(pool)] for row in range(rows)], array.stored)
    return pa.table(columns)


TABLES = {"every": table_of(), "none": table_of(rows=0), "nulls": table_of(True, 3)}

SAY = """
def said(x):
    return f'{x.dtype} {x.shape} {x.tolist()!r}' if hasattr(x, 'dtype') else repr(x)
"""
exec(SAY)


def functions():
    out = ""
    for _, _, array in ARRAYS:
        for form, annotation in [("ndarray", "np.ndarray"), ("list", "list")]:
            for what, returns, body in [("said", "TEXT", "None if x is None else said(x)"), ("same", array.sql, "x")]:
                out += (f"CREATE FUNCTION {what}_{form}_{array.name}(x {array.sql}) RETURNS {returns} LANGUAGE python "
                        f"OPTIONS (on_error 'null') AS $$\nimport numpy as np\n{SAY}\n"
                        f"def {what}_{form}_{array.name}(x: {annotation}):\n    return {body}\n$$;\n")
    return out


def holed(items):
    return any(item is None or isinstance(item, list) and holed(item) for item in items)


def array_of(items, column, rank):
    """What a function gets for a list, or an error."""
    if items is None:
        return None
    wanted = np.dtype(dtype(column))
    if rank == 2 and None in items:
        # The rank is the type's.
        raise ValueError("a row is NULL")
    if wanted.kind in "biu" and holed(items):
        raise ValueError("an item is NULL")
    if not items:
        return np.empty((0,) * rank, wanted)
    if wanted.kind == "O":
        np.array([[0] * len(item) for item in items if isinstance(item, list)])
    return np.array(items, wanted)


def row_values(table, column, array):
    """The lists of a column, their items as row functions have them."""
    flat = lambda items: items if items is None else [
        flat(item) if isinstance(item, list) else values(pa.array([item], column.declared), column)[0] for item in items]
    return [flat(items) for items in table.column(array.name).to_pylist()]


FAILED = object()


def attempt(call, *args):
    try:
        return call(*args)
    except ValueError:
        return FAILED


def said_of(items, column, rank):
    return None if items is None else said(array_of(items, column, rank))


def returned(items, column, rank):
    """An array as the list that it is in SQL: NaN stays, NaT is NULL."""
    if items is None:
        return None
    array = array_of(items, column, rank)
    as_list = lambda part: part.tolist() if part.dtype == object else pa.array(part).to_pylist()
    return as_list(array) if rank == 1 else [as_list(part) for part in array]


def cells_of(lists, column, rank, array, form):
    """What the functions say and give for lists: nothing where no array can be made of one, by on_error 'null'."""
    made = lambda items: form == "list" or attempt(array_of, items, column, rank) is not FAILED
    given = [items if made(items) else None for items in lists]
    if form == "list":
        said_, back = [None if items is None else repr(items) for items in given], given
    else:
        said_ = [said_of(items, column, rank) for items in given]
        back = [returned(items, column, rank) for items in given]
    return said_, pa.array(back, array.declared).to_pylist()


def query(name, table, form, wanted_rank):
    cells, calls = [table.column("id").to_pylist()], []
    for column, rank, array in ARRAYS:
        if rank != wanted_rank:
            continue
        said_, back = cells_of(row_values(table, column, array), column, rank, array, form)
        for what, out in [("said", said_), ("same", back)]:
            calls.append(f"{what}_{form}_{array.name}({array.name})")
            cells.append(out)
    selected = ", ".join(f"{call} AS c{number}" for number, call in enumerate(calls))
    return Query(f"{form} of rank {wanted_rank} of {name}", f"SELECT id, {selected} FROM {name}_shuffled", list(zip(*cells)))


def queries():
    of_table = lambda name: [query(name, TABLES[name], form, rank) for form in ("ndarray", "list") for rank in (1, 2)]
    return [*of_table("every"), *harness.few(of_table("none")), *harness.few(of_table("nulls"))]


def messages(binary):
    """Lists of different lengths fail with the words of NumPy, and NULL where an array has none."""
    wrong = []
    for items, text in [([[1, 2], [3]], "[[1, 2], [3]]"), ([[1], []], "[[1], []]"), ([[1, None]], "[[1, NULL]]")]:
        try:
            array_of(items, next(column for column in ELEMENTS if column.sql == "BIGINT"), 2)
        except ValueError as error:
            said = str(error)
        script = ("CREATE FUNCTION f(x BIGINT[][]) RETURNS BIGINT LANGUAGE python AS $$\nimport numpy as np\n"
                  f"def f(x: np.ndarray):\n    return x.size\n$$;\nSELECT f(x) FROM (VALUES ({text})) AS t(x);\n")
        done = harness.execute(binary, script)
        if done.returncode == 0 or said not in done.stderr:
            wrong.append(f"ragged lists: {done.stdout}{done.stderr}\n  expected {said}")
    return wrong


if __name__ == "__main__":
    wrong = messages((sys.argv[1:] or ["exuvia"])[0])
    print(*wrong, sep="\n")
    sys.exit(harness.main(functions(), list(queries()), TABLES) + len(wrong))
