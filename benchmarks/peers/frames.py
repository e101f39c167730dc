"""What `cargo xtask bench tables` compares with: the same functions in plain pandas.

    python frames.py make FOLDER ROWS           writes numbers.parquet: ids, floats, texts
    python frames.py run NAME FOLDER ROUNDS     times one and prints seconds, rows and peak memory
    python frames.py save NAME FOLDER FILE      writes its result

Each run reads its Parquet files by pyarrow, makes DataFrames of them, calls the function and makes
an Arrow table of what it gives. Libraries are loaded before.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
TPCXAI = ROOT / "benchmarks/tpcxai"
sys.path[:0] = [str(ROOT / "udfs/tables"), str(TPCXAI)]
import frames
import functions

WORDS = ["alpha", "bêta", "gamma", "дельта", "epsilon", ""]


def make(folder, rows):
    random = np.random.default_rng(11)
    ids = pa.array(random.integers(0, 1 << 40, rows), mask=random.random(rows) < 0.02)
    floats = pa.array(random.normal(100.0, 15.0, rows))
    texts = pa.array(np.array(WORDS, dtype=object)[random.integers(0, len(WORDS), rows)], mask=random.random(rows) < 0.05)
    small = pa.array(np.arange(rows) % 5)
    table = pa.table({"id": ids, "x": floats, "s": texts, "n": small})
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "numbers.parquet")


def read(folder, *names):
    return [pq.read_table(folder / f"{name}.parquet").to_pandas() for name in names]


def identity(folder):
    (t,) = read(folder, "numbers")
    return pa.Table.from_pandas(t, preserve_index=False)


def zscore(x):
    return (x - x.mean()) / x.std()


def column(folder):
    x = pq.read_table(folder / "numbers.parquet", columns=["x"]).column("x").to_pandas()
    return pa.table({"z": pa.array(zscore(x), from_pandas=True)})


def below(n):
    for value in range(n):
        yield value, value * value


def lateral(folder):
    """A bare loop, which makes lists of columns."""
    numbers = pq.read_table(folder / "numbers.parquet", columns=["n"]).column("n").to_pylist()
    ns, values, squares = [], [], []
    for n in numbers:
        for value, square in below(n):
            ns.append(n)
            values.append(value)
            squares.append(square)
    return pa.table({"n": pa.array(ns, pa.int64()), "value": pa.array(values, pa.int64()), "square": pa.array(squares, pa.int64())})


def zillow(folder):
    return pa.Table.from_pandas(frames.zillow_frame(*read(folder, "listings")), preserve_index=False)


def logs(folder):
    return pa.Table.from_pandas(frames.logs_frame(*read(folder, "logs", "bad_addresses")), preserve_index=False)


def use_case(folder, name):
    """A use case of tpcxai. Its model is loaded in the first run."""
    query = json.loads((TPCXAI / "queries.json").read_text(encoding="utf-8"))[name]
    for model, file in query["model"].items():
        if not hasattr(functions, model):
            # A process that asks for no model has none of its libraries.
            import joblib

            setattr(functions, model, joblib.load(folder / "models" / file))
    tables = {table: pq.read_table(folder / file).to_pandas() for table, file in query["tables"].items()}
    return pa.Table.from_pandas(getattr(functions, name)(**tables), preserve_index=False)


def uc01(folder):
    return use_case(folder, "uc01")


def uc10(folder):
    return use_case(folder, "uc10")


def run(name, folder, rounds):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        rows = globals()[name](folder).num_rows
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "rows": rows, "peak_mib": round(peak, 1)}))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1] == "save":
        pq.write_table(globals()[sys.argv[2]](Path(sys.argv[3])), sys.argv[4])
    else:
        run(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
