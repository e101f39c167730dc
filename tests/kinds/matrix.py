"""Tables of every SQL type through table functions, under many settings of execution.

    python matrix.py [EXUVIA]

A table has a column of each type, with NULL, NaN, -0.0, infinities, the ends of the types' ranges, duplicates and
names that SQL must quote; beside it stand the same without rows, with one, and with NULLs only. What a function
sees is what `to_pandas()` makes of the file, and a table that is returned comes back as it was (NaN being NULL).
Every combination of 1, 2 and 8 partitions with batches of 1, 7 and 8192 rows must give the same: in order where
the argument has an ORDER BY, and as a bag where its rows are shuffled.
"""

import datetime as dt
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

UTC = dt.timezone.utc
STAMP = dt.datetime(2024, 2, 29, 12, 30, 15, 123456)

# A name, the type in Arrow and in SQL, and values; NULL is added to each.
COLUMNS = [
    ("tiny", pa.int8(), "TINYINT", [-128, 127, 0]),
    ("small int", pa.int16(), "SMALLINT", [-32768, 32767]),
    ("int", pa.int32(), "INT", [-(2**31), 2**31 - 1]),
    ("Big", pa.int64(), "BIGINT", [-(2**53), 2**53, 7, 7]),
    ("u8", pa.uint8(), "TINYINT UNSIGNED", [0, 255]),
    ("u16", pa.uint16(), "SMALLINT UNSIGNED", [0, 65535]),
    ("u32", pa.uint32(), "INT UNSIGNED", [0, 2**32 - 1]),
    ("u64", pa.uint64(), "BIGINT UNSIGNED", [0, 2**53]),
    ("real", pa.float32(), "REAL", [1.5, -0.0, float("inf"), float("nan")]),
    ("double", pa.float64(), "DOUBLE", [0.1, -0.0, float("-inf"), float("nan"), 5e-324]),
    ("bool", pa.bool_(), "BOOLEAN", [True, False]),
    ('te"xt', pa.string(), "TEXT", ["", "é", "日本語", "a\nb", "NULL"]),
    ("bytes", pa.binary(), "BYTEA", [b"", b"\x00\xff"]),
    ("date", pa.date32(), "DATE", [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2024, 2, 29)]),
    ("stamp", pa.timestamp("us"), "TIMESTAMP(6)", [STAMP, dt.datetime(1969, 12, 31, 23, 59, 59)]),
    ("nanos", pa.timestamp("ns"), "TIMESTAMP(9)", [STAMP]),
    ("zoned", pa.timestamp("us", tz="UTC"), "TIMESTAMP(6) WITH TIME ZONE", [STAMP.replace(tzinfo=UTC)]),
    ("time", pa.time64("us"), "TIME(6)", [dt.time(0, 0), dt.time(23, 59, 59, 999999)]),
    ("decimal", pa.decimal128(20, 4), "DECIMAL(20, 4)", [Decimal("-0.0001"), Decimal("1234567890123456.7890")]),
    ("ünï", pa.list_(pa.int64()), "BIGINT[]", [[], [1, None, 3]]),
    ("struct", pa.struct([("a", pa.int64()), ("b", pa.string())]), None, [{"a": 1, "b": None}]),
]

# The types of these come back only where a function declares them; lists and structs hold NumPy's arrays in frames.
RETURNED = [column for column in COLUMNS if column[2] and column[0] not in ("ünï", "time", "zoned")]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def table_of(rows, nulls_only=False):
    picks = random.Random(rows)
    columns = {"id": pa.array(range(rows), pa.int64())}
    for name, arrow, _, values in COLUMNS:
        pool = [None] if nulls_only else [None, *values]
        columns[name] = pa.array([pool[row] if row < len(pool) else picks.choice(pool) for row in range(rows)], arrow)
    return pa.table(columns)


TABLES = {"every": table_of(40), "none": table_of(0), "one": table_of(1), "nulls": table_of(5, True)}

FUNCTIONS = """
CREATE FUNCTION dtypes(t TABLE) RETURNS TABLE (said TEXT) LANGUAGE python AS $$
return [(f'{name}: {t[name].dtype}',) for name in t.columns]
$$;
CREATE FUNCTION shown(t TABLE) RETURNS TABLE (said TEXT) LANGUAGE python AS $$
return [(repr(row),) for row in t.itertuples(index=False, name=None)]
$$;
""" + f"""
CREATE FUNCTION same(t TABLE) RETURNS TABLE (id BIGINT, {', '.join(f'{quoted(n)} {s}' for n, _, s, _ in RETURNED)})
LANGUAGE python AS $$
import pandas as pd
def same(t):
    return t
$$;
"""


def expected(table):
    """What `shown` and `dtypes` give, and the table as it comes back."""
    frame = table.to_pandas()
    dtypes = [f"{name}: {frame[name].dtype}" for name in frame.columns]
    shown = [repr(row) for row in frame.itertuples(index=False, name=None)]
    back = {"id": table.column("id").to_pylist()}
    for name, arrow, _, _ in RETURNED:
        values = table.column(name).to_pylist()
        back[name] = [None if pa.types.is_floating(arrow) and value != value else value for value in values]
    return dtypes, shown, back


def run(binary, folder, partitions, size):
    """The differences under some settings."""
    out = folder / f"{partitions}-{size}"
    out.mkdir()
    script = FUNCTIONS
    for name in TABLES:
        shuffled = folder / f"{name}-shuffled.parquet"
        script += f"CREATE EXTERNAL TABLE {name} STORED AS PARQUET LOCATION '{folder / name}.parquet';\n"
        script += f"CREATE EXTERNAL TABLE {name}_shuffled STORED AS PARQUET LOCATION '{shuffled}';\n"
        for what, source in [
            ("dtypes", f"(SELECT * FROM {name} ORDER BY id)"),
            ("shown", f"(SELECT * FROM {name}_shuffled ORDER BY id)"),
            ("same", f"TABLE {name}_shuffled"),
        ]:
            script += f"COPY (SELECT * FROM {what}({source})) TO '{out}/{what}-{name}.parquet' STORED AS PARQUET;\n"
    settings = {
        "DATAFUSION_EXECUTION_TARGET_PARTITIONS": str(partitions),
        "DATAFUSION_EXECUTION_BATCH_SIZE": str(size),
    }
    done = subprocess.run([binary, "-q", "-c", script], capture_output=True, text=True, env={**os.environ, **settings})
    if done.returncode:
        return [f"{partitions} partitions, batches of {size}: {done.stderr}"]
    different = []

    def check(what, name, found, wanted):
        if repr(found) != repr(wanted):
            at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if repr(a) != repr(b)), min(len(found), len(wanted)))
            different.append(f"{partitions} partitions, batches of {size}: {what} of {name}: {found[at:at + 1]}, "
                             f"expected {wanted[at:at + 1]}")

    for name in TABLES:
        # As the file has it: what a list becomes depends on how its NULLs are stored.
        dtypes, shown, back = expected(pq.read_table(folder / f"{name}.parquet"))
        read = lambda what: pq.read_table(out / f"{what}-{name}.parquet")
        check("dtypes", name, read("dtypes").column("said").to_pylist(), dtypes)
        check("shown", name, read("shown").column("said").to_pylist(), shown)
        same = read("same").to_pydict()
        order = sorted(range(len(same["id"])), key=same["id"].__getitem__)
        for column in back:
            check(f"same ({column})", name, [same[column][row] for row in order], back[column])
    return different


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    settings = [(partitions, size) for partitions in (1, 2, 8) for size in (1, 7, 8192)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, table in TABLES.items():
            order = list(range(table.num_rows))
            random.Random(3).shuffle(order)
            pq.write_table(table, folder / f"{name}.parquet", row_group_size=7)
            pq.write_table(table.take(pa.array(order, pa.int64())), folder / f"{name}-shuffled.parquet", row_group_size=7)
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda pair: run(binary, folder, *pair), settings))
    failed = [line for lines in results for line in lines]
    print("\n".join(failed))
    # A combination is right as a whole or not at all.
    wrong = sum(map(bool, results))
    print(f"{len(results) - wrong} passed, {wrong} failed")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
