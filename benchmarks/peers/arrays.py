"""What `cargo xtask bench arrays` compares with: functions of arrays of a row without Exuvia.

    python arrays.py make FOLDER ROWS                         writes short.parquet and long.parquet
    python arrays.py run NAME TABLE ENGINE FOLDER ROUNDS      times one and prints seconds, rows and peak memory
    python arrays.py save NAME TABLE ENGINE FOLDER FILE       writes its result

Arrays are of 10 elements in `short` and of 1,000 in `long`, which has a hundredth of the rows. Each run reads the
columns that the function needs and ends with the result in Arrow, on one thread. `numpy` calls the functions of
`udfs/tables/arrays.py` themselves for each row, on views of the column's memory; the others do the same by hand.
"""

import math
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "udfs/tables"))
import arrays
from results import compare, timed

ARGS = {
    "standard": ["x"],
    "softmax": ["x"],
    "rolling": ["x"],
    "similarity": ["x", "y"],
    "cosine": ["x", "y"],
    "energy": ["x"],
    "crossings": ["x"],
    "loglik": ["x", "mu", "sigma"],
    "slope": ["x", "y"],
    "trimmed": ["x"],
    "state": ["steps"],
    "digit": ["pixels"],
}
# Steps of a recurrent cell, and the elements of each.
STEPS, WIDTH = 5, 4


def lists(values, length):
    offsets = np.arange(0, len(values) + 1, length, dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(values))


def make(folder, rows):
    random = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, length in [("short", rows, 10), ("long", rows // 100, 1000)]:
        # One array in a hundred has a gap.
        x = random.normal(3, 2, count * length)
        gaps = np.zeros(len(x), dtype=bool)
        gaps[np.arange(0, count, 100) * length] = True
        offsets = np.arange(0, len(x) + 1, length, dtype=np.int32)
        steps = lists(random.normal(0, 1, count * STEPS * WIDTH), WIDTH)
        table = pa.table({
            "x": pa.ListArray.from_arrays(offsets, pa.array(x, mask=gaps)),
            "y": lists(random.normal(-1, 3, count * length), length),
            "mu": pa.array(random.normal(3, 0.1, count)),
            "sigma": pa.array(random.uniform(1, 3, count)),
            "steps": pa.ListArray.from_arrays(np.arange(0, len(steps) + 1, STEPS, dtype=np.int32), steps),
            "pixels": lists(random.uniform(0, 1, count * 64), 64),
        })
        pq.write_table(table, folder / f"{name}.parquet")


def read(name, table, folder):
    """The columns as arrays: a list is its values, with NaN for NULL, and where each row begins."""
    read = []
    for column in pq.read_table(folder / f"{table}.parquet", columns=ARGS[name]).columns:
        column = column.combine_chunks()
        if not pa.types.is_list(column.type):
            read.append((column.to_numpy(), None))
        elif pa.types.is_list(column.type.value_type):
            # Steps are as many in each row.
            read.append((column.flatten().flatten().to_numpy().reshape(len(column), STEPS, WIDTH), None))
        else:
            read.append((column.flatten().to_numpy(zero_copy_only=False), column.offsets.to_numpy()))
    return read


def gathered(results):
    if isinstance(results[0], np.ndarray):
        offsets = np.cumsum([0] + [len(result) for result in results], dtype=np.int32)
        return pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(results)))
    return pa.array(results)


def numpy(name, table, folder):
    function = getattr(arrays, name)
    views = []
    for values, offsets in read(name, table, folder):
        views.append(values if offsets is None else [values[a:b] for a, b in zip(offsets[:-1], offsets[1:])])
    return gathered([function(*args) for args in zip(*views)])


@cache
def compiled():
    from numba import njit

    w, u, b, first, second = arrays.W, arrays.U, arrays.B, arrays.FIRST, arrays.SECOND

    @njit
    def standard(x, n, out):
        for at in range(len(n) - 1):
            a = x[n[at]:n[at + 1]]
            middle, deviation = a.mean(), a.std()
            for i in range(len(a)):
                out[n[at] + i] = (a[i] - middle) / deviation

    @njit
    def softmax(x, n, out):
        for at in range(len(n) - 1):
            a = x[n[at]:n[at + 1]]
            top = a.max()
            total = 0.0
            for i in range(len(a)):
                e = math.exp(a[i] - top)
                out[n[at] + i] = e
                total += e
            for i in range(len(a)):
                out[n[at] + i] /= total

    @njit
    def similarity(x, n, y, m, out):
        for at in range(len(n) - 1):
            a, c = x[n[at]:n[at + 1]], y[m[at]:m[at + 1]]
            xy, xx, yy = 0.0, 0.0, 0.0
            for i in range(len(a)):
                xy += a[i] * c[i]
                xx += a[i] * a[i]
                yy += c[i] * c[i]
            out[at] = xy / math.sqrt(xx * yy)

    @njit
    def energy(x, n, out):
        for at in range(len(n) - 1):
            a = x[n[at]:n[at + 1]]
            total = 0.0
            for i in range(len(a)):
                total += a[i] * a[i]
            out[at] = math.sqrt(total / len(a))

    @njit
    def crossings(x, n, out):
        for at in range(len(n) - 1):
            a = x[n[at]:n[at + 1]]
            out[at] = np.count_nonzero(np.diff(np.sign(a - a.mean())))

    @njit
    def loglik(x, n, mu, sigma, out):
        for at in range(len(n) - 1):
            total = 0.0
            for i in range(n[at], n[at + 1]):
                z = (x[i] - mu[at]) / sigma[at]
                total += z * z
            out[at] = -0.5 * total - (n[at + 1] - n[at]) * math.log(sigma[at] * math.sqrt(2 * math.pi))

    @njit
    def slope(x, n, y, m, out):
        for at in range(len(n) - 1):
            a, c = x[n[at]:n[at + 1]], y[m[at]:m[at + 1]]
            p, q = a.mean(), c.mean()
            over, under = 0.0, 0.0
            for i in range(len(a)):
                over += (a[i] - p) * (c[i] - q)
                under += (a[i] - p) * (a[i] - p)
            out[at] = over / under

    @njit
    def state(steps, out):
        for at in range(len(steps)):
            h = np.zeros(4)
            for t in range(steps.shape[1]):
                made = np.empty(4)
                for i in range(4):
                    total = b[i]
                    for j in range(4):
                        total += w[i, j] * steps[at, t, j] + u[i, j] * h[j]
                    made[i] = math.tanh(total)
                h = made
            out[at * 4:at * 4 + 4] = h

    @njit
    def digit(pixels, n, out):
        for at in range(len(n) - 1):
            hidden = np.zeros(16)
            for i in range(64):
                for j in range(16):
                    hidden[j] += pixels[n[at] + i] * first[i, j]
            best, found = -math.inf, 0
            for k in range(10):
                total = 0.0
                for j in range(16):
                    total += max(hidden[j], 0.0) * second[j, k]
                if total > best:
                    best, found = total, k
            out[at] = found

    return {"standard": standard, "softmax": softmax, "similarity": similarity, "cosine": similarity, "energy": energy,
            "crossings": crossings, "loglik": loglik, "slope": slope, "state": state, "digit": digit}


def numba(name, table, folder):
    if name not in compiled():
        return None
    columns = read(name, table, folder)
    given = [part for column in columns for part in column if part is not None]
    values, offsets = columns[0]
    if name in ("standard", "softmax"):
        out = np.empty(len(values))
        compiled()[name](*given, out)
        return pa.ListArray.from_arrays(offsets, pa.array(out))
    rows = len(values) if offsets is None else len(offsets) - 1
    out = np.empty(4 * rows if name == "state" else rows, dtype=np.int64 if name in ("crossings", "digit") else float)
    compiled()[name](*given, out)
    return lists(out, 4) if name == "state" else pa.array(out)


def polars(name, table, folder):
    import polars as pl

    one = pl.element()
    exprs = {
        "standard": lambda: pl.col("x").list.eval((one - one.mean()) / one.std(ddof=0)),
        "softmax": lambda: pl.col("x").list.eval((one - one.max()).exp() / (one - one.max()).exp().sum()),
        "energy": lambda: pl.col("x").list.eval(one * one).list.mean().sqrt(),
        "rolling": lambda: pl.col("x").list.eval(one.rolling_mean(3).slice(2)),
    }
    if name not in exprs:
        return None
    frame = pl.scan_parquet(folder / f"{table}.parquet").select(exprs[name]().alias("r")).collect()
    return frame["r"].to_arrow()


@cache
def traced():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def standard(x):
        return (x - x.mean()) / x.std()

    def softmax(x):
        e = jnp.exp(x - x.max())
        return e / e.sum()

    def rolling(x):
        total = jnp.cumsum(x)
        return total.at[3:].set(total[3:] - total[:-3])[2:] / 3

    def similarity(x, y):
        return (x * y).sum() / jnp.sqrt((x * x).sum() * (y * y).sum())

    def cosine(x, y):
        return jnp.dot(x, y) / (jnp.linalg.norm(x) * jnp.linalg.norm(y))

    def energy(x):
        return jnp.sqrt(jnp.mean(x ** 2))

    def crossings(x):
        return jnp.count_nonzero(jnp.diff(jnp.sign(x - x.mean())))

    def loglik(x, mu, sigma):
        z = (x - mu) / sigma
        return -0.5 * jnp.sum(z * z) - len(x) * jnp.log(sigma * jnp.sqrt(2 * jnp.pi))

    def slope(x, y):
        dx = x - x.mean()
        return (dx * (y - y.mean())).sum() / (dx * dx).sum()

    def state(steps):
        h = jnp.zeros(WIDTH)
        for x in steps:
            h = jnp.tanh(arrays.W @ x + arrays.U @ h + arrays.B)
        return h

    def digit(pixels):
        return jnp.argmax(jnp.maximum(pixels @ arrays.FIRST, 0.0) @ arrays.SECOND)

    functions = [standard, softmax, rolling, similarity, cosine, energy, crossings, loglik, slope, state, digit]
    return {function.__name__: jax.jit(jax.vmap(function)) for function in functions}


def jax(name, table, folder):
    """The functions mapped over the rows of a matrix, which all columns are here: compiled by XLA for the processor."""
    if name not in traced():
        return None
    columns = read(name, table, folder)
    given = [values if offsets is None else values.reshape(len(offsets) - 1, -1) for values, offsets in columns]
    made = np.asarray(traced()[name](*given))
    return pa.array(made) if made.ndim == 1 else lists(made.reshape(-1), made.shape[1])


SQL = {
    "similarity": "list_inner_product(x, y) / sqrt(list_inner_product(x, x) * list_inner_product(y, y))",
    "cosine": "list_cosine_similarity(x, y)",
    "energy": "sqrt(list_inner_product(x, x) / len(x))",
}


def duckdb(name, table, folder):
    import duckdb as engine

    if name not in SQL:
        return None
    connection = engine.connect(config={"threads": 1})
    # Its functions of lists refuse NULL within them, which is NaN here.
    named = lambda name: f"list_transform({name}, lambda v: coalesce(v, 'nan'::DOUBLE)) AS {name}"
    source = f"(SELECT {', '.join(named(arg) for arg in ARGS[name])} FROM read_parquet('{folder / table}.parquet'))"
    made = connection.execute(f"SELECT {SQL[name]} AS r FROM {source}").to_arrow_table()
    return made.column(0)


def result(name, table, engine, folder):
    return globals()[engine](name, table, folder)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "make":
        make(Path(rest[0]), int(rest[1]))
    elif command == "save":
        made = result(rest[0], rest[1], rest[2], Path(rest[3]))
        pq.write_table(pa.table({"r": made}), rest[4])
    elif command == "compare":
        compare(*rest)
    else:
        timed(lambda: result(rest[0], rest[1], rest[2], Path(rest[3])), int(rest[4]))
