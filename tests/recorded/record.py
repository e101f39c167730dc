"""Records cases from the calls that pandas' and NumPy's own tests make.

    python tests/recorded/record.py [--pandas] [--numpy] [--limit N] [FOLDER]

The tests run under pytest with a recorder (`record_pandas.py`, `record_numpy.py`), which
writes candidates: the text of a function and its inputs. Here each candidate is run on fresh
inputs, twice; what it gives is what the case expects. A case is dropped, and counted under
its reason, if it is not deterministic, has a result that fits no table or array, or raises
where the test's own call did not. Needs pytest and hypothesis beside the libraries.
"""

import replay  # Before NumPy: it sets NumPy's instructions.

import argparse
import ast
import collections
import datetime
import gzip
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import tempfile

import numpy
import pandas
import pyarrow

from tables import Unfit

FOLDER = pathlib.Path(__file__).resolve().parent
BYTES = 3_000_000
ROWS = 1000
SECONDS = 10
STABLE = ("stable", "mergesort")

TESTS = {
    "pandas": (
        "tests/apply tests/arithmetic tests/copy_view tests/frame tests/groupby tests/indexing tests/reductions "
        "tests/resample tests/reshape tests/series tests/strings tests/tools tests/window tests/test_algos.py "
        "tests/test_multilevel.py tests/test_sorting.py tests/test_nanops.py tests/test_aggregation.py"
    ),
    "numpy": (
        "_core/tests/test_einsum.py _core/tests/test_function_base.py _core/tests/test_indexing.py "
        "_core/tests/test_item_selection.py _core/tests/test_multiarray.py _core/tests/test_nep50_promotions.py "
        "_core/tests/test_numeric.py _core/tests/test_regression.py _core/tests/test_scalarmath.py "
        "_core/tests/test_shape_base.py _core/tests/test_ufunc.py _core/tests/test_umath.py "
        "_core/tests/test_umath_accuracy.py lib/tests"
    ),
}
# What BLAS and LAPACK compute differs in its last digits from machine to machine.
INEXACT = re.compile(
    r" @ |\.(dot|corr|cov|corrwith|autocorr|interpolate)\(|np\.(matmul|inner|vdot|vecdot|matvec|vecmat|tensordot|einsum|"
    r"convolve|correlate|corrcoef|poly|polydiv|polyfit|polymul|roots)\("
)
# pandas computes the covariances of windows itself, and these interpolations too.
EXACT = re.compile(r"\.(rolling|expanding|ewm)\(|\.interpolate\((?!.*(method|'))")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
NEVER = ("AssertionError", "ImportError", "ModuleNotFoundError", "NameError", "SyntaxError", "UnboundLocalError")


def record(library, folder):
    """Runs a library's tests under its recorder; returns the candidates and the counts."""
    home = pathlib.Path(sys.modules[library].__file__).parent
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "--rootdir", str(home), "-p", f"record_{library}"]
    command += ["-p", "no:cacheprovider", "--assert=plain", "-q", "--no-header", "--tb=no", "-W", "ignore", "-r", "N"]
    command += ["-m", "not slow and not network and not db and not single_cpu"]
    command += [str(home / path) for path in TESTS[library].split()]
    environment = {
        **os.environ,
        "RECORDED_FOLDER": str(folder),
        "PYTHONPATH": str(FOLDER),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False)
    with open(folder / "candidates.jsonl", encoding="utf-8") as file:
        candidates = [json.loads(line) for line in file]
    return candidates, json.loads((folder / "counts.json").read_text(encoding="utf-8"))


def calls(source):
    """The method calls in a text: the name, the positional and the keyword arguments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, node.args, {keyword.arg: keyword.value for keyword in node.keywords}


def constants(node):
    return [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]


def stable(arguments):
    kind = arguments.get("kind")
    return isinstance(kind, ast.Constant) and kind.value in STABLE or "stable" in arguments


def ties(expect, places):
    """Whether rows of the result have equal keys and are not equal."""
    seen = {}
    for row in expect["rows"]:
        key = json.dumps([row[place] for place in places]).replace("-0.0", "0.0")
        if seen.setdefault(key, row) != row and None not in [row[place] for place in places]:
            return True
    return False


def ordered(source, expect):
    """Whether the order of the result's rows is defined: a sort by one key leaves ties open.

    A sort by several keys, or of an index of several levels, is stable in pandas.
    """
    names = [name for name, _ in expect["columns"]]
    for method, positional, arguments in calls(source):
        if method not in ("sort_values", "sort_index", "nlargest", "nsmallest") or stable(arguments):
            continue
        if method == "sort_index":
            keys = [key for made in calls(source) if made[0] == "set_index" and made[1] for key in constants(made[1][0])]
            if not re.search(r"\.(set_index|concat|join|merge|groupby)\(", source):
                continue
        else:
            by = arguments.get("by") or arguments.get("columns")
            if by is None and positional:
                by = positional[-1] if method.startswith("n") else positional[0]
            keys = [] if by is None else constants(by)
        if method.startswith("sort") and len(keys) > 1:
            continue
        places = [names.index(key) for key in keys if key in names]
        if len(names) == 1:
            places = [0]
        if len(expect["rows"]) > 1 and ("key" in arguments or not places or ties(expect, places)):
            return False
    return True


def repeated(values):
    """Whether nested lists hold an item twice."""
    flat = re.findall(r'[^\[\], "]+', json.dumps(values).replace("-0.0", "0.0"))
    return len(set(flat)) != len(flat)


def of_today(case, outcome):
    """Whether a result holds a date of this year that the case does not mention."""
    year = datetime.date.today().year
    given = json.dumps([case["source"], case["inputs"]])
    return str(year) not in given and re.search(rf'"{year}-\d\d-\d\d', json.dumps(outcome)) is not None


def late(signal_number, stack):
    raise TimeoutError("too slow")


def finish(case, raised):
    """The case with what it expects, run twice."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        first = replay.outcome(case)
        if first != replay.outcome(case):
            raise Unfit("not deterministic")
        if of_today(case, first):
            raise Unfit("depends on the day")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    table = case["kind"] == "table"
    if "raises" in first:
        if raised is None:
            raise Unfit(f"raises after the way through Arrow: {first['raises']}")
        if first["raises"] in NEVER:
            raise Unfit(f"raises {first['raises']}")
        if ADDRESS.search(first["message"]):
            raise Unfit("message with an address")
        return {**case, "expect": first}
    for method, _, arguments in calls(case["source"]):
        held = [value["rows" if table else "values"] for value in case["inputs"]]
        if method == "argsort" and not stable(arguments) and any(map(repeated, held)):
            raise Unfit("argsort with ties")
    expect = first
    if table:
        if len(first["rows"]) > ROWS:
            raise Unfit("result of too many rows")
        expect = {**first, "ordered": ordered(case["source"], first)}
    elif first["shape"] and all(value["shape"] == first["shape"] for value in case["inputs"]):
        if len(first["shape"]) == 1 and first["shape"][0]:
            case = {**case, "kind": "column"}
    floats = '"REAL"' in json.dumps(first) or '"DOUBLE"' in json.dumps(first) or '"float' in json.dumps(first)
    if floats and INEXACT.search(case["source"]) and not EXACT.search(case["source"]):
        expect = {**expect, "exact": False}
    return {**case, "expect": expect}


def turns(candidates):
    """The candidates of a method, those of many tests before many of one; those that raise last."""
    groups = collections.defaultdict(list)
    for candidate in candidates:
        groups[candidate["raised"] is not None, candidate["test"]].append(candidate)
    for fails in (False, True):
        queues = [list(group) for (raised, _), group in groups.items() if raised is fails]
        while queues:
            for queue in queues:
                yield queue.pop(0)
            queues = [queue for queue in queues if queue]


def choose(candidates, limit, skipped):
    """At most `limit` finished cases a method, at most a quarter of which raise."""
    by_method = collections.defaultdict(list)
    for candidate in candidates:
        by_method[candidate["method"]].append(candidate)
    kept = []
    for method in sorted(by_method):
        counts = collections.Counter()
        for candidate in turns(by_method[method]):
            try:
                if counts[True] + counts[False] >= limit:
                    raise Unfit("more cases than the limit")
                case = {key: candidate[key] for key in ("kind", "method", "source", "inputs")}
                name = method.replace("__", "").replace(".", "-").lower()
                case = finish({"id": f"{name}-{candidate['key'][:8]}", **case}, candidate["raised"])
                fails = "raises" in case["expect"]
                if fails and counts[True] >= limit // 4:
                    raise Unfit("more cases that raise than the limit")
                counts[fails] += 1
                kept.append(case)
            except Unfit as reason:
                skipped[method, str(reason)] += 1
            except TimeoutError:
                skipped[method, "too slow"] += 1
    return kept


def write(path, kept):
    """Writes the cases, fewer of the largest where the file would be too large."""
    while True:
        lines = [json.dumps(case, ensure_ascii=False) for case in sorted(kept, key=lambda case: case["id"])]
        data = gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0)
        if len(data) <= BYTES:
            path.write_bytes(data)
            return kept
        kept = sorted(kept, key=lambda case: len(json.dumps(case)))[: len(kept) * 19 // 20]


def totals(skipped, place):
    counts = collections.Counter()
    for key, count in skipped.items():
        counts[key[place]] += count
    return dict(counts.most_common())


def main():
    parser = argparse.ArgumentParser(description="Record cases from the tests of pandas and NumPy.")
    parser.add_argument("--pandas", action="store_true", help="record pandas")
    parser.add_argument("--numpy", action="store_true", help="record NumPy")
    parser.add_argument("--limit", type=int, default=40, help="the most cases that a method has (40)")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=FOLDER, help="where the files go")
    options = parser.parse_args()
    libraries = [name for name in TESTS if getattr(options, name)] or list(TESTS)
    signal.signal(signal.SIGALRM, late)
    report_path = options.folder / "report.json"
    report = json.loads(report_path.read_text(encoding="utf-8")) if report_path.exists() else {}
    for library in libraries:
        with tempfile.TemporaryDirectory() as folder:
            candidates, counts = record(library, pathlib.Path(folder))
        skipped = collections.Counter()
        for method, reason, count in counts["skipped"]:
            skipped[method, reason] += count
        kept = write(options.folder / f"{library}.jsonl.gz", choose(candidates, options.limit, skipped))
        methods = collections.Counter(case["method"] for case in kept)
        report[library] = {
            "command": f"python tests/recorded/record.py --{library} --limit {options.limit}",
            "versions": {
                "python": platform.python_version(),
                **{module.__name__: module.__version__ for module in (numpy, pandas, pyarrow)},
            },
            "tests": counts["tests"],
            "calls": counts["calls"],
            "candidates": len(candidates),
            "kept": len(kept),
            "kept that raise": sum("raises" in case["expect"] for case in kept),
            "kept by kind": dict(collections.Counter(case["kind"] for case in kept)),
            "methods": len(methods),
            "kept by method": dict(sorted(methods.items())),
            "skipped by reason": totals(skipped, 1),
            "skipped by method": totals(skipped, 0),
        }
        print(f"{library}: {len(kept)} cases of {len(methods)} methods")
    report = {library: report[library] for library in TESTS if library in report}
    report_path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
