"""Compares results of the use cases.

    python compare.py A.parquet B.parquet    two results, as bags of rows, floats within 1e-9
    python compare.py EXUVIA                 every use case at a small scale, served by the binary and by plain pandas
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent


def rows_of(path):
    """The columns' names, and the rows in an order in which equal bags are equal but for floats."""
    table = pq.read_table(path).to_pydict()

    def key(row):
        return [("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)) for value in row]

    return list(table), sorted(zip(*table.values()), key=key)


def same(a, b):
    return a == b or isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def difference(ours, theirs):
    """How two results differ; nothing where they are equal."""
    (our_names, our_rows), (their_names, their_rows) = rows_of(ours), rows_of(theirs)
    if our_names != their_names:
        return f"columns {our_names}, expected {their_names}"
    if len(our_rows) != len(their_rows):
        return f"{len(our_rows)} rows, expected {len(their_rows)}"
    different = [(a, b) for a, b in zip(our_rows, their_rows) if not all(map(same, a, b))]
    return f"{len(different)} rows differ: {different[0]}" if different else None


def python(script, *arguments):
    subprocess.run([sys.executable, HERE / script, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def check(binary):
    queries = json.loads((HERE / "queries.json").read_text(encoding="utf-8"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        data, models, saved = (Path(folder) / name for name in ("data", "models", "saved"))
        models.mkdir()
        python("generate.py", "--sf", "0.01", data)
        python("train.py", data, models)
        python("serve.py", data, models, "--save", saved)
        known = [f"--model={name}={models / file}" for query in queries.values() for name, file in query["model"].items()]
        for uc, query in queries.items():
            result = Path(folder) / f"{uc}.parquet"
            script = "".join(
                f"CREATE EXTERNAL TABLE {table} STORED AS PARQUET LOCATION '{data / file}';\n"
                for table, file in query["tables"].items()
            )
            script += f"COPY ({query['sql']}) TO '{result}' STORED AS PARQUET;\n"
            command = [binary, "-q", *known, "--udfs", HERE / "functions.py", "-c", script]
            done = subprocess.run(command, capture_output=True, text=True)
            how = done.stderr if done.returncode else difference(result, saved / f"{uc}.parquet")
            failed += how is not None
            if how is not None:
                print(f"{uc}: {how}")
    print(f"{len(queries) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.exit(difference(sys.argv[1], sys.argv[2]))
    sys.exit(check(sys.argv[1]))
