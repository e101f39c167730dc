"""Runs queries under every setting of execution, and compares with what plain Python gives.

Every combination of 1, 2 and 8 partitions with batches of 1, 7 and 8192 rows must give the same. Each
table is known by its name, and with its rows shuffled as `NAME_shuffled`.
"""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SETTINGS = [(partitions, size) for partitions in (1, 2, 8) for size in (1, 7, 8192)]

# Those for tables of so few rows that the others say nothing more.
FEW = [(1, 1), (2, 7), (8, 8192)]


@dataclass
class Query:
    name: str
    sql: str
    # The rows as tuples; or a function of the rows that were found, where several answers are right.
    expected: Any
    # Whether the rows are compared in order, else as a bag.
    ordered: bool = False
    # Whether it runs under FEW settings only.
    few: bool = False


def write(folder, tables):
    for name, table in tables.items():
        order = list(range(table.num_rows))
        random.Random(3).shuffle(order)
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=7)
        pq.write_table(table.take(pa.array(order, pa.int64())), folder / f"{name}_shuffled.parquet", row_group_size=7)


def tables_of(folder):
    """Their declarations in SQL."""
    files = sorted(folder.glob("*.parquet"))
    return "".join(f"CREATE EXTERNAL TABLE {f.stem} STORED AS PARQUET LOCATION '{f}';\n" for f in files)


def few(queries):
    """Queries over a table of few rows."""
    for query in queries:
        query.few = True
        yield query


def execute(binary, script, partitions=2, size=8192):
    """What the command says to a script."""
    settings = {
        "DATAFUSION_EXECUTION_TARGET_PARTITIONS": str(partitions),
        "DATAFUSION_EXECUTION_BATCH_SIZE": str(size),
    }
    return subprocess.run([binary, "-q", "-f", "/dev/stdin", "--format", "ndjson"], input=script, capture_output=True,
                          text=True, env={**os.environ, **settings})


def rows_of(path):
    table = pq.read_table(path)
    return list(zip(*(column.to_pylist() for column in table.columns))) if table.num_columns else []


def difference(found, query):
    """Where rows are not those that a query should give, by repr, which tells NaN, -0.0 and types; else None."""
    wanted = query.expected(found) if callable(query.expected) else query.expected
    # The items of a list that is all there is of a row stand alone, so that a message shows only those that differ.
    flat = lambda row: [item for cell in row for item in (cell if isinstance(cell, list) and len(row) == 2 else [cell])]
    found, wanted = ([tuple(map(repr, flat(row))) for row in rows] for rows in (found, wanted))
    if not query.ordered:
        found, wanted = sorted(found), sorted(wanted)
    if found == wanted:
        return None
    if len(found) != len(wanted):
        return f"{query.name}: {len(found)} rows, expected {len(wanted)}:\n  got      {found[:1]}\n  expected {wanted[:1]}"
    lines = [f"{query.name}:"]
    for number, pair in enumerate(zip(found, wanted)):
        cells = [(at, got, want) for at, (got, want) in enumerate(zip(*pair)) if got != want]
        lines += [f"  row {number}, column {at}:\n    got      {got}\n    expected {want}" for at, got, want in cells]
    return "\n".join(lines[:11])


def run(binary, folder, functions, queries, partitions, size):
    """The differences under some settings."""
    queries = [query for query in queries if not query.few or (partitions, size) in FEW]
    under = f"{partitions} partitions, batches of {size}"
    with tempfile.TemporaryDirectory() as out:
        script = functions + tables_of(folder)
        for index, query in enumerate(queries):
            script += f"COPY ({query.sql}) TO '{out}/{index}.parquet' STORED AS PARQUET;\n"
        done = execute(binary, script, partitions, size)
        if done.returncode:
            return [f"{under}: {done.stderr}"]
        differences = [difference(rows_of(f"{out}/{index}.parquet"), query) for index, query in enumerate(queries)]
    return [f"{under}: {text}" for text in differences if text]


def main(functions, queries, tables):
    """Prints the differences and how many settings gave what they should: one is right as a whole or not at all."""
    binary = (sys.argv[1:] or ["exuvia"])[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder, tables)
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda pair: run(binary, folder, functions, queries, *pair), SETTINGS))
    for lines in results:
        for line in lines:
            print(line)
    wrong = sum(map(bool, results))
    print(f"{len(results) - wrong} passed, {wrong} failed")
    return wrong
