"""Serves the use cases in plain pandas: the baseline, a JSON line for each.

    python serve.py DATA MODELS [uc01 …] [--save DIR]

DATA is what generate.py wrote, MODELS what train.py wrote. `load_s` is the time to read the
Parquet files and to make DataFrames of them, `serve_s` that of the function alone; the model
is in memory before either. `peak_mib` is the most memory that the process has held so far,
libraries and model included: only with one use case a process is it that use case's.
`--save` writes the results with the types that the functions declare.

How many threads are used is decided from outside: with OMP_NUM_THREADS=1 and pinned to one
core (`taskset -c 0`) the figures are those of one thread.
"""

import argparse
import json
import re
import resource
import time
from pathlib import Path

import functions
import joblib
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
DECLARATION = re.compile(r"^# sql: (\w+)\(.*\) RETURNS TABLE \((.*?)\)", re.MULTILINE)
TYPES = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "TEXT": pa.string(), "DATE": pa.date32(), "BOOLEAN": pa.bool_()}


def schemas():
    """The declared results of the functions, by name."""
    declared = {}
    for name, columns in DECLARATION.findall((HERE / "functions.py").read_text(encoding="utf-8")):
        fields = [column.split() for column in columns.split(", ")]
        declared[name] = pa.schema([(label.strip('"'), TYPES[type_name]) for label, type_name in fields])
    return declared


def serve(name, query, data, models):
    """Runs one use case; what is to be told of it, and its result."""
    for model, file in query["model"].items():
        setattr(functions, model, joblib.load(models / file))
    start = time.perf_counter()
    tables = {table: pq.read_table(data / file).to_pandas() for table, file in query["tables"].items()}
    loaded = time.perf_counter()
    # The function may add columns to its tables, but keeps their rows.
    result = getattr(functions, name)(**tables)
    served = time.perf_counter()
    report = {
        "uc": name,
        "load_s": round(loaded - start, 4),
        "serve_s": round(served - loaded, 4),
        "rows_in": sum(len(table) for table in tables.values()),
        "rows_out": len(result),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    return report, result


def main():
    queries = json.loads((HERE / "queries.json").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Serves the use cases in plain pandas.")
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("models", type=Path, metavar="MODELS")
    parser.add_argument("names", nargs="*", metavar="UC", help="use cases, such as uc01; all of them if none is named")
    parser.add_argument("--only", metavar="UC", help="this use case and no other, for its memory")
    parser.add_argument("--save", type=Path, metavar="DIR", help="write the results as DIR/UC.parquet")
    arguments = parser.parse_args()
    declared = schemas()
    for name in [arguments.only] if arguments.only else arguments.names or queries:
        report, result = serve(name, queries[name], arguments.data, arguments.models)
        print(json.dumps(report), flush=True)
        if arguments.save:
            arguments.save.mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pandas(result, schema=declared[name], preserve_index=False)
            pq.write_table(table.replace_schema_metadata(None), arguments.save / f"{name}.parquet")


if __name__ == "__main__":
    main()
