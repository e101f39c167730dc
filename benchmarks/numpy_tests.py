"""NumPy's own tests as data: calls that they make of functions that Exuvia knows, natively and through CPython.

    python numpy_tests.py record FILE                runs the tests of the NumPy at hand and keeps the calls
    python numpy_tests.py compare EXUVIA FILE PAGE   makes a function of each, compares, and writes a page of what it found

Recording needs pytest and hypothesis beside NumPy. Taken are calls whose arguments are arrays of one or two dimensions
of float64, int64 or bool, numbers, texts, None and short lists, and whose result is a number or such an array. Calls
of one function with the same types and the same other arguments are one *signature*: a function of the arrays, such as
`def f(p0: np.ndarray): return np.percentile(p0, 90, axis=0)`, whose rows are the arrays that tests give it. Errors are
NULL. Values are compared to the last bit; the oracle is the same function with `exuvia.lift` off.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

NAMES = """
    abs absolute add all allclose amax amin any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
    argsort argwhere around array_equal atleast_1d atleast_2d average bincount bitwise_and bitwise_or bitwise_xor broadcast_to
    cbrt ceil clip column_stack compress concatenate convolve copysign corrcoef cos cosh count_nonzero cov cumprod cumsum deg2rad
    degrees delete diag diagonal diff digitize divide dot ediff1d equal exp exp2 expand_dims expm1 extract eye fix flatnonzero
    flip fliplr flipud float_power floor floor_divide fmax fmin fmod full_like gradient greater greater_equal heaviside
    histogram hstack hypot i0 identity inner insert interp intersect1d invert isclose isfinite isin isinf isnan kron left_shift
    less less_equal linspace log log10 log1p log2 logical_and logical_not logical_or logical_xor logspace matmul max maximum mean
    median min minimum mod multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar negative nonzero not_equal ones_like outer pad percentile polyval
    positive power prod ptp quantile rad2deg radians ravel real reciprocal remainder repeat reshape right_shift rint roll rot90
    round searchsorted select setdiff1d sign signbit sin sinc sinh sort sqrt square squeeze stack std subtract sum swapaxes take
    tan tanh tile trace transpose trapezoid tril triu true_divide trunc union1d unique unwrap var vdot vstack where zeros_like
""".split()
MODULES = """
    lib/tests/test_arraypad.py lib/tests/test_arraysetops.py lib/tests/test_function_base.py lib/tests/test_histograms.py
    lib/tests/test_index_tricks.py lib/tests/test_nanfunctions.py lib/tests/test_polynomial.py lib/tests/test_regression.py
    lib/tests/test_shape_base.py lib/tests/test_stride_tricks.py lib/tests/test_twodim_base.py lib/tests/test_type_check.py
    lib/tests/test_ufunclike.py _core/tests/test_function_base.py _core/tests/test_indexing.py _core/tests/test_item_selection.py
    _core/tests/test_multiarray.py _core/tests/test_numeric.py _core/tests/test_regression.py _core/tests/test_shape_base.py
    _core/tests/test_ufunc.py _core/tests/test_umath.py
""".split()
SQL = {"float64": "DOUBLE", "int64": "BIGINT", "bool": "BOOLEAN"}
MOST_ITEMS = 4000
MOST_ROWS = 60
# Functions that one process creates.
TOGETHER = 150
# What may differ, by a part of the call.
EXPECTED = {
    "'empty'": "values that are in memory by chance",
    "np.cov(": "sums of products, which BLAS rounds by the processor: within the bound of docs/kinds.md",
}


def argument(value):
    """The text of an argument, or for an array its type, dimensions and items; None for others."""
    import numpy as np

    if type(value) is np.ndarray:
        fits = str(value.dtype) in SQL and value.ndim in (1, 2) and value.size <= MOST_ITEMS
        return [str(value.dtype), value.ndim, value.tolist()] if fits and (value.size or value.ndim == 1) else None
    if isinstance(value, np.generic) and str(value.dtype) in SQL:
        value = value.item()
    is_list = type(value) in (list, tuple) and value and all(type(item) in (int, float, bool) for item in value)
    if is_list or value is None or type(value) in (bool, int, float, str):
        text = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(value)) if type(value) is not str else repr(value)
        return text if len(text) < 60 else None
    return None


def returned(value):
    """The SQL type of a result."""
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        fits = type(value) is not np.ndarray or value.ndim < 3
        return SQL[str(value.dtype)] + "[]" * value.ndim if fits and str(value.dtype) in SQL else None
    return {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}.get(type(value))


class Recorder:
    """A function of NumPy that keeps what it is called with."""

    calls = {}

    def __init__(self, name, function):
        self.name, self.function = name, function

    def __getattr__(self, name):
        return getattr(self.function, name)

    def __call__(self, *args, **keywords):
        made = self.function(*args, **keywords)
        given = [["", argument(arg)] for arg in args] + [[f"{key}=", argument(arg)] for key, arg in keywords.items()]
        result = returned(made)
        arrays = [part[2] for _, part in given if isinstance(part, list)]
        if result and arrays and all(part is not None for _, part in given):
            parts = [[key, part[:2] if isinstance(part, list) else part] for key, part in given]
            rows = Recorder.calls.setdefault(json.dumps([self.name, result, parts]), {})
            if len(rows) < MOST_ROWS:
                rows[json.dumps(arrays)] = True
        return made


def record(file):
    import numpy as np
    import pytest

    for name in NAMES:
        setattr(np, name, Recorder(name, getattr(np, name)))
    for module in MODULES:
        path = Path(np.__file__).parent / module
        # Some tests fail, since the functions are no longer NumPy's own objects.
        pytest.main(["-qq", "--no-header", "--no-summary", "--tb=no", "-p", "no:cacheprovider", "-p", "no:warnings", str(path)])
    calls = [json.loads(key) + [[json.loads(row) for row in rows]] for key, rows in Recorder.calls.items()]
    Path(file).write_text(json.dumps({"numpy": np.__version__, "calls": calls}))
    print(f"{len(calls)} signatures, {sum(len(call[3]) for call in calls)} calls")


class Signature:
    def __init__(self, number, name, result, parts, rows, folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {"float64": pa.float64(), "int64": pa.int64(), "bool": pa.bool_()}
        self.name, self.rows, self.function = name, len(rows), f"f{number}"
        arrays = [part for _, part in parts if isinstance(part, list)]
        names = iter(f"p{at}" for at in range(len(arrays)))
        self.call = f"np.{name}({', '.join(key + (next(names) if isinstance(part, list) else part) for key, part in parts)})"
        self.params = [f"p{at}" for at in range(len(arrays))]
        declared = ", ".join(f"p{at} {SQL[dtype]}{'[]' * rank}" for at, (dtype, rank) in enumerate(arrays))
        annotated = ", ".join(f"{param}: np.ndarray" for param in self.params)
        gives = " -> np.ndarray" if "[]" in result else ""
        self.source = (f"# sql: {self.function}({declared}) RETURNS {result} OPTIONS (on_error 'null')\n"
                       f"def {self.function}({annotated}){gives}:\n    return {self.call}\n\n\n")
        self.table = folder / f"{self.function}.parquet"
        columns = {"id": range(len(rows))}
        for at, (dtype, rank) in enumerate(arrays):
            of = types[dtype]
            for _ in range(rank):
                of = pa.list_(of)
            columns[f"p{at}"] = pa.array([row[at] for row in rows], type=of)
        pq.write_table(pa.table(columns), self.table)

    def saved(self, lift):
        return self.table.with_suffix(f".{lift}.parquet")


def run(binary, signatures, lift, folder):
    """Makes and saves what the functions give: messages of those that fail, and where each is placed."""
    source, script = folder / "functions.py", folder / "queries.sql"
    source.write_text("import numpy as np\n\n\n" + "".join(one.source for one in signatures))
    errors, places, left = {}, {}, list(signatures)
    while left:
        lines = ["SET datafusion.execution.target_partitions = 1;", f"SET exuvia.lift = {lift};"]
        lines.append("SELECT name, placement, reason FROM exuvia.functions;")
        asked = {}
        for one in left:
            lines.append(f"CREATE EXTERNAL TABLE t{one.function} STORED AS PARQUET LOCATION '{one.table}';")
            lines.append(f"COPY (SELECT id, {one.function}({', '.join(one.params)}) AS r FROM t{one.function} ORDER BY id) "
                         f"TO '{one.saved(lift)}' STORED AS PARQUET;")
            asked[len(lines)] = one
        script.write_text("\n".join(lines) + "\n")
        command = [binary, "--format", "csv", "--udfs", str(source), str(script)]
        ran = subprocess.run(command, capture_output=True, text=True)
        for name, place, why in re.findall(r"^(f\d+),(\w+),(.*)$", ran.stdout, re.M):
            places[name] = (place, why)
        failed = re.search(r"^error: \S*queries\.sql:(\d+): (.*)", ran.stderr, re.M)
        if not failed:
            if ran.returncode:
                sys.exit(ran.stderr)
            break
        one = asked[int(failed[1])]
        errors[one.function] = failed[2]
        left = left[left.index(one) + 1:]
    return errors, places


def verdict(one, errors):
    import pyarrow.parquet as pq

    if one.function in errors[0] or one.function in errors[1]:
        return "fails" if one.function in errors[0] and one.function in errors[1] else "different"
    native, oracle = [repr(pq.read_table(one.saved(lift))["r"].to_pylist()) for lift in ("on", "off")]
    return "equal" if native == oracle else "different"


def compare(binary, file, page):
    recorded = json.loads(Path(file).read_text())
    # Elementary functions are those of the C library, as NumPy has them without these.
    os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 X86_V3"
    found = []
    with tempfile.TemporaryDirectory() as folder:
        every = [Signature(number, *call, Path(folder)) for number, call in enumerate(recorded["calls"])]
        for first in range(0, len(every), TOGETHER):
            some = every[first:first + TOGETHER]
            (on, places), (off, _) = [run(binary, some, lift, Path(folder)) for lift in ("on", "off")]
            found += [(one, places[one.function], verdict(one, (on, off))) for one in some]
            print(f"{first + len(some)} of {len(every)}", flush=True)
    Path(page).write_text(written(recorded["numpy"], found))
    print(Counter((place, result) for _, (place, _), result in found))


def written(version, found):
    count = lambda place, result: sum(1 for _, (at, _), is_result in found if (at == "native", is_result) == (place, result))
    lines = [
        "# NumPy's own tests as data",
        "",
        "Written by `python benchmarks/numpy_tests.py compare EXUVIA FILE PAGE`. The calls that the tests of NumPy "
        f"{version} make of {len({one.name for one, _, _ in found})} functions, by signature: the types of the arrays and all "
        f"other arguments. {len(found)} signatures with {sum(one.rows for one, _, _ in found)} calls, each as a row function, whose "
        "results are compared to the last bit with those of the same function in CPython.",
        "",
        "| | equal | different | fail in both |",
        "| --- | ---: | ---: | ---: |",
    ]
    for place, title in [(True, "native"), (False, "through CPython")]:
        lines.append(f"| {title} | {count(place, 'equal')} | {count(place, 'different')} | {count(place, 'fails')} |")
    different = [(one, place) for one, (place, _), result in found if result == "different"]
    if different:
        lines += ["", "## Different", "", "| call | placed | why |", "| --- | --- | --- |"]
        for one, place in different:
            why = [reason for part, reason in EXPECTED.items() if part in one.call]
            lines.append(f"| `{one.call}` | {place} | {'; '.join(why) or 'a mistake'} |")
    lines += ["", "## By function", "", "| function | signatures | native | why the others are not |", "| --- | ---: | ---: | --- |"]
    for name in sorted({one.name for one, _, _ in found}):
        own = [(one, place) for one, place, _ in found if one.name == name]
        reasons = Counter(re.sub(r'^"?\w+ [^:]*: |, line \d+:.*', "", why) for _, (place, why) in own if place != "native")
        native = sum(1 for _, (place, _) in own if place == "native")
        told = "; ".join(f"{reason} ({times})" for reason, times in reasons.most_common(3))
        lines.append(f"| {name} | {len(own)} | {native} | {told} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    {"record": record, "compare": compare}[sys.argv[1]](*sys.argv[2:])
