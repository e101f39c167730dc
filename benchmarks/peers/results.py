"""What those who time functions of columns and arrays share: seconds, and whether two results are one."""

import json
import resource
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def timed(result, rounds):
    """Prints the seconds of so many calls, which give a column or None."""
    seconds, rows = [], None
    for _ in range(rounds):
        start = time.perf_counter()
        made = result()
        seconds.append(time.perf_counter() - start)
        if made is None:
            break
        rows = len(made)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "rows": rows, "peak_mib": round(peak, 1)}))


def compare(expected, got):
    """How many values differ from those expected, to the last bit and by more than 1e-9 of them; NULL and NaN are one."""
    expected, got = (pq.read_table(path).column(0) for path in (expected, got))
    if pa.types.is_nested(expected.type):
        lengths = [column.combine_chunks().value_lengths().to_pylist() for column in (expected, got)]
        if lengths[0] != lengths[1]:
            print(json.dumps({"differ": len(expected), "far": len(expected), "rows": len(expected)}))
            return
        expected, got = (column.combine_chunks().flatten() for column in (expected, got))
    if pa.types.is_floating(expected.type):
        want, have = (np.array(column, dtype=float) for column in (expected, got.cast(pa.float64())))
        both = np.isnan(want) & np.isnan(have)
        exact = (want == have) | both
        near = np.isclose(want, have, rtol=1e-9, atol=1e-9) | both
    else:
        want, have = expected.cast(pa.large_string()).to_pylist(), got.cast(pa.large_string()).to_pylist()
        exact = near = np.array([a == b for a, b in zip(want, have)])
    print(json.dumps({"differ": int((~exact).sum()), "far": int((~near).sum()), "rows": len(exact)}))
