"""Columns of every SQL type through aggregates.

    python aggregates.py [EXUVIA]

A class with `merge` and one without, and functions of lists, Series, ndarrays and Arrow arrays, see the values of each
group: with GROUP BY as a bag, with ORDER BY in its order, of no rows and of NULLs only, and over frames of
windows. The last value in an order comes back as it was.
"""

import sys

import pyarrow as pa

from columns import FORMS, IMPORTS, SAY, given, taken
from harness import Query, few, main
from sqltypes import COLUMNS, TABLES, declared, values

exec(SAY)

# What can be a result: Parquet takes no intervals.
RETURNED = [column for column in COLUMNS if column.sql != "INTERVAL"]


CLASS = """
class NAME:
    def __init__(self):
        self.rows = []

    def accumulate(self, *row):
        self.rows.append(row)
MERGE
    def finish(self):
        return RESULT
"""

MERGE = """
    def merge(self, other):
        self.rows += other.rows
"""

# What is said of a group: for each column its values, in their order or sorted where they have none.
SPEAK = """
def spoken(columns, ordered):
    return [('; '.join if ordered else lambda items: '; '.join(sorted(items)))(map(repr, column)) for column in columns]
"""
exec(SPEAK)


def create(name, columns, returns, body, options=""):
    parameters = ", ".join(f"c{index} {column.sql}" for index, column in enumerate(columns))
    return f"CREATE FUNCTION {name}({parameters}) RETURNS {returns} LANGUAGE python {options} AS $$\n{IMPORTS}{SAY}{SPEAK}{body}$$;\n"


def class_of(name, merge, result):
    return CLASS.replace("NAME", name).replace("MERGE", MERGE if merge else "").replace("RESULT", result)


def function_of(name, columns, annotation, result, returns):
    parameters = ", ".join(f"c{index}{annotation and ': '}{annotation}" for index in range(len(columns)))
    names = ", ".join(f"c{index}" for index in range(len(columns)))
    return f"\ndef {name}({parameters}){returns}:\n    columns = [{names}]\n    return {result}\n"


def functions():
    out = ""
    for ordered, word in ((False, "bag"), (True, "sequence")):
        for merge, form in ((True, "merged"), (False, "held")):
            result = f"spoken(zip(*self.rows) if self.rows else [[]] * {len(COLUMNS)}, {ordered})"
            out += create(f"{form}_{word}", COLUMNS, "TEXT[]", class_of(f"{form}_{word}", merge, result))
        result = f"spoken(columns, {ordered})"
        body = function_of(f"lists_{word}", COLUMNS, "", result, "")
        out += create(f"lists_{word}", COLUMNS, "TEXT[]", body, "OPTIONS (kind 'aggregate')")
        for form, annotation in FORMS.items():
            result = f"spoken(map(said, columns), {ordered})"
            body = function_of(f"{form}_{word}", taken(form), annotation, result, " -> list")
            out += create(f"{form}_{word}", taken(form), "TEXT[]", body, "OPTIONS (kind 'aggregate')")
    for column in RETURNED:
        out += create(f"last_held_{column.word}", [column], column.sql,
                      class_of(f"last_held_{column.word}", False, "self.rows[-1][0] if self.rows else None"))
        body = function_of(f"last_list_{column.word}", [column], "", "c0[-1] if c0 else None", "")
        out += create(f"last_list_{column.word}", [column], column.sql, body, "OPTIONS (kind 'aggregate')")
    return out


# Forms of functions, and what each gets of the columns of a group.
def group_of(table, form):
    if form in FORMS:
        return [said(given(table.column(column.name), column, form)) for column in taken(form)]
    return [values(declared(table.column(column.name), column), column) for column in COLUMNS]


ALL = ["merged", "held", "lists", *FORMS]


def call(form, word, inside=""):
    columns = taken(form) if form in FORMS else COLUMNS
    return f"{form}_{word}({', '.join(column.quoted for column in columns)}{inside})"


def picked(table, rows):
    return table.take(pa.array(rows, pa.int64()))


def groups(table):
    """The numbers of the rows of each group, by id."""
    out = {}
    for row, key in enumerate(table.column("g").to_pylist()):
        out.setdefault(key, []).append(row)
    return out


def of_table(name, table):
    grouped = groups(table)
    said_of = lambda rows, ordered: [spoken(group_of(picked(table, rows), form), ordered) for form in ALL]
    calls = lambda word, inside="", after="": ", ".join(f"{call(form, word, inside)} {after} AS {form}" for form in ALL)
    source = f"FROM {name}_shuffled"
    every = list(range(len(table)))
    yield Query(name, f"SELECT '', {calls('bag')} {source}", [("", *said_of(every, False))])
    yield Query(f"{name} in order", f"SELECT '', {calls('sequence', ' ORDER BY id')} {source}", [("", *said_of(every, True))])
    yield Query(f"groups of {name}", f"SELECT g, {calls('bag')} {source} GROUP BY g",
                [(key, *said_of(rows, False)) for key, rows in grouped.items()])
    yield Query(f"groups of {name} in order", f"SELECT g, {calls('sequence', ' ORDER BY id DESC')} {source} GROUP BY g",
                [(key, *said_of(rows[::-1], True)) for key, rows in grouped.items()])
    yield Query(f"groups of {name}, some rows", f"SELECT g, {calls('bag', '', 'FILTER (WHERE id % 3 = 0)')} {source} GROUP BY g",
                [(key, *said_of([row for row in rows if row % 3 == 0], False)) for key, rows in grouped.items()])
    over = "OVER (PARTITION BY g ORDER BY id ROWS 2 PRECEDING)"
    yield Query(f"{name} as a window", f"SELECT id, {calls('sequence', '', over)} {source}",
                [(row, *said_of(rows[max(0, at - 2) : at + 1], True)) for rows in grouped.values() for at, row in enumerate(rows)])
    last = [declared(table.column(c.name), c).to_pylist() for c in RETURNED for _ in range(2)]
    calls = ", ".join(f"last_{form}_{c.word}({c.quoted} ORDER BY id) AS {form}_{c.word}" for c in RETURNED for form in ("held", "list"))
    yield Query(f"last of {name}", f"SELECT g, {calls} FROM {name}_shuffled GROUP BY g",
                [(key, *(items[rows[-1]] for items in last)) for key, rows in grouped.items()])


def queries():
    yield from of_table("every", TABLES["every"])
    for name in ("none", "one", "nulls"):
        yield from few(of_table(name, TABLES[name]))


if __name__ == "__main__":
    sys.exit(main(functions(), list(queries()), TABLES))
