"""Runs each query of the .sql files beside this one by the binary, and compares with oracle.py.

    python compare.py [EXUVIA] [NAME …]

EXUVIA is `exuvia` unless given; NAMEs are of files (without .sql) or queries. EXUVIA_PYTHON and
EXUVIA_CPYTHON_LIBRARY are passed on. Each query runs in a process of its own, with the tables of its file
and the functions that it names. Rows are compared in order where the query ends in ORDER BY, else as a bag.
Floats must be equal to the last bit, but for the queries in CLOSE.
"""

import json
import math
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import oracle

# Within 1e-12, since BLAS and LAPACK may take another path by the alignment of the arrays. (Where these were last
# compared exactly, they were equal, too.)
CLOSE = {
    "trend_line_items": "np.polyfit",
    "trend_line_cast": "np.polyfit",
    "churn_known": "predict_proba",
    "fit_score_all": "LogisticRegression.fit",
}


def ran(binary, file, name):
    query = file.queries[name]
    setup = [
        text
        for kind, called, text in file.statements
        if kind == "table" or re.search(rf"\b{called}\b", query)
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("\n".join(setup) + "\n" + query + ";\n")
        script.flush()
        done = subprocess.run(
            [binary, "-q", "-f", script.name, "--format", "json"],
            cwd=oracle.HERE,
            capture_output=True,
            text=True,
            timeout=300,
        )
    if done.returncode:
        return None, done.stderr.strip().replace(script.name, "SCRIPT")
    # The oracle takes NaN for a missing value, as DataFrames do.
    rows = [[None if value == "NaN" else value for value in row.values()] for row in json.loads(done.stdout)]
    return rows, done.stderr.strip()


def same(a, b, close):
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y, close) for x, y in zip(a, b))
    if isinstance(a, float):
        return a == b or close and math.isclose(a, b, rel_tol=1e-12)
    return a == b


def by_any(row):
    """An order over rows of any values, in which floats that differ little are neighbours."""
    return [(str(type(v)), round(v, 6) if isinstance(v, float) else str(v)) for v in row]


def is_ordered(query):
    while (less := re.sub(r"\([^()]*\)", "", query)) != query:
        query = less
    return "ORDER BY" in query


def main():
    binary, names = (sys.argv[1:2] or ["exuvia"])[0], sys.argv[2:]
    oracle.write_models()
    work = []
    for path in sorted(oracle.HERE.glob("*.sql")):
        file = oracle.read(path)
        for name in file.queries:
            if not names or path.stem in names or name in names:
                work.append((path, file, name))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda w: ran(binary, w[1], w[2]), work))
    passed = failed = 0
    for (path, file, name), (actual, message) in zip(work, results):
        problems = []
        try:
            expected = oracle.expected(path, [name])[name]
        except Exception as error:
            expected = None
            problems.append(f"oracle: {type(error).__name__}: {error}")
        if actual is None:
            problems.append(message)
        elif expected is not None:
            if not is_ordered(file.queries[name]):
                actual, expected = sorted(actual, key=by_any), sorted(expected, key=by_any)
            if len(actual) != len(expected):
                problems.append(f"{len(actual)} rows, expected {len(expected)}")
            pairs = list(zip(actual, expected))
            differing = [(a, e) for a, e in pairs if not same(a, e, name in CLOSE)]
            for a, e in differing[:5]:
                problems.append(f"  got      {json.dumps(a, ensure_ascii=False)}\n  expected {json.dumps(e, ensure_ascii=False)}")
            for row in actual[len(pairs) :][:3]:
                problems.append(f"  got      {json.dumps(row, ensure_ascii=False)}")
            for row in expected[len(pairs) :][:3]:
                problems.append(f"  expected {json.dumps(row, ensure_ascii=False)}")
        if problems:
            failed += 1
            print(f"{path.name}: {name}", *problems, "", sep="\n")
        else:
            passed += 1
            if message:
                print(f"{path.name}: {name}: on standard error: {message}\n")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
