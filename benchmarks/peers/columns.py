"""What `cargo xtask bench columns` compares with: functions of columns without Exuvia.

    python columns.py make FOLDER ROWS                  writes columns.parquet
    python columns.py run NAME ENGINE FOLDER ROUNDS     times one and prints seconds, rows and peak memory
    python columns.py save NAME ENGINE FOLDER FILE      writes its result

Each run reads the columns that the function needs and ends with its result in Arrow, on one thread. `numpy` is
the function of `udfs/tables/columns.py` itself, called on arrays and Series; the others do the same by hand.
"""

import math
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "udfs/tables"))
import columns
from results import compare, timed

ARGS = {
    "triad": ["a", "b", "years"],
    "cubic": ["b"],
    "distance": ["lat1", "lon1", "lat2", "lon2"],
    "call_price": ["a", "strike", "years", "rate", "vol"],
    "band": ["a"],
    "cleaned": ["a", "b"],
    "charge": ["a", "zone"],
    "graded": ["a"],
    "zscore": ["a"],
    "scaled": ["b"],
    "running": ["a"],
    "smoothed": ["b"],
}
SERIES = {"cleaned", "charge", "graded", "zscore"}


def make(folder, rows):
    random = np.random.default_rng(5)
    some = lambda values: pa.array(values, mask=random.random(rows) < 0.01)
    zones = np.array([" Inland", "island", "ABROAD ", "Übersee", "", "local"], dtype=object)
    table = pa.table({
        "a": some(random.uniform(5, 150, rows)),
        "b": some(random.normal(0, 20, rows)),
        "strike": pa.array(random.uniform(10, 140, rows)),
        "years": pa.array(random.uniform(0.1, 5, rows)),
        "rate": pa.array(random.uniform(0, 0.1, rows)),
        "vol": pa.array(random.uniform(0.05, 0.6, rows)),
        "lat1": pa.array(random.uniform(-80, 80, rows)),
        "lon1": pa.array(random.uniform(-180, 180, rows)),
        "lat2": pa.array(random.uniform(-80, 80, rows)),
        "lon2": pa.array(random.uniform(-180, 180, rows)),
        "zone": some(zones[random.choice(6, rows, p=[0.4, 0.3, 0.1, 0.02, 0.08, 0.1])]),
    })
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "columns.parquet")


def read(name, folder):
    return pq.read_table(folder / "columns.parquet", columns=ARGS[name])


def numpy(name, folder):
    table = read(name, folder)
    if name in SERIES:
        result = getattr(columns, name)(*(table.column(arg).to_pandas() for arg in ARGS[name]))
    else:
        result = getattr(columns, name)(*(table.column(arg).to_numpy() for arg in ARGS[name]))
    return pa.array(result, from_pandas=name in SERIES)


@cache
def compiled():
    from numba import njit

    @njit
    def triad(a, b, c, out):
        for i in range(len(a)):
            out[i] = a[i] + 2.5 * b[i] * c[i]

    @njit
    def cubic(a, out):
        for i in range(len(a)):
            v = a[i]
            out[i] = min(max(0.5 + v * (0.25 - v * (1.5 + v * 0.125)), -1e3), 1e3)

    @njit
    def distance(lat1, lon1, lat2, lon2, out):
        k = math.pi / 180.0
        for i in range(len(lat1)):
            p, q = lat1[i] * k, lat2[i] * k
            h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((lon2[i] * k - lon1[i] * k) / 2) ** 2
            out[i] = 2 * 6371.0 * math.asin(math.sqrt(h))

    @njit
    def normal(x):
        k = 1.0 / (1.0 + 0.2316419 * abs(x))
        tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        below = 0.3989422804014327 * math.exp(-0.5 * x * x) * tail
        return 1.0 - below if x > 0 else below

    @njit
    def call_price(price, strike, years, rate, vol, out):
        for i in range(len(price)):
            root = math.sqrt(years[i])
            d1 = (math.log(price[i] / strike[i]) + (rate[i] + 0.5 * vol[i] * vol[i]) * years[i]) / (vol[i] * root)
            d2 = d1 - vol[i] * root
            out[i] = price[i] * normal(d1) - strike[i] * math.exp(-rate[i] * years[i]) * normal(d2)

    @njit
    def scaled(b, out):
        low, high = math.inf, -math.inf
        for v in b:
            if v == v:
                low, high = min(low, v), max(high, v)
        for i in range(len(b)):
            out[i] = (b[i] - low) / (high - low) if b[i] == b[i] else 0.0

    @njit
    def running(a, out):
        total = 0.0
        for i in range(len(a)):
            total += a[i] if a[i] == a[i] else 0.0
            out[i] = total
        for i in range(len(a)):
            out[i] /= total

    @njit
    def smoothed(b, out):
        level = 0.0
        for i in range(len(b)):
            if b[i] == b[i]:
                level = 0.9 * level + 0.1 * b[i]
            out[i] = level

    return {"triad": triad, "cubic": cubic, "distance": distance, "call_price": call_price, "scaled": scaled,
            "running": running, "smoothed": smoothed}


def numba(name, folder):
    if name not in compiled():
        return None
    arrays = [column.to_numpy() for column in read(name, folder).columns]
    out = np.empty(len(arrays[0]))
    compiled()[name](*arrays, out)
    return pa.array(out)


def polars(name, folder):
    import polars as pl

    col = pl.col

    def normal(x):
        k = 1.0 / (1.0 + 0.2316419 * x.abs())
        tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        below = 0.3989422804014327 * (-0.5 * x * x).exp() * tail
        return pl.when(x > 0).then(1.0 - below).otherwise(below)

    def call_price():
        root = col("years").sqrt()
        d1 = ((col("a") / col("strike")).log() + (col("rate") + 0.5 * col("vol") * col("vol")) * col("years")) / (col("vol") * root)
        d2 = d1 - col("vol") * root
        return col("a") * normal(d1) - col("strike") * (-col("rate") * col("years")).exp() * normal(d2)

    def distance():
        p, q = col("lat1").radians(), col("lat2").radians()
        r, s = col("lon1").radians(), col("lon2").radians()
        h = ((q - p) / 2).sin() ** 2 + p.cos() * q.cos() * ((s - r) / 2).sin() ** 2
        return 2 * 6371.0 * h.sqrt().arcsin()

    def cleaned():
        a = pl.coalesce("a", "b").clip(0, 200)
        return pl.when(a > 10).then(a).otherwise(a * 1.5).round(2)

    exprs = {
        "triad": lambda: col("a") + 2.5 * col("b") * col("years"),
        "cubic": lambda: (0.5 + col("b") * (0.25 - col("b") * (1.5 + col("b") * 0.125))).clip(-1e3, 1e3),
        "distance": distance,
        "call_price": call_price,
        "band": lambda: pl.when(col("a") < 60).then(pl.lit("low")).when(col("a") < 90).then(pl.lit("medium"))
        .when(col("a") < 120).then(pl.lit("high")).otherwise(pl.lit("top")),
        "cleaned": cleaned,
        "charge": lambda: col("a") * col("zone").str.strip_chars().str.to_lowercase()
        .replace_strict(columns.RATES, default=2.0, return_dtype=pl.Float64),
        "graded": lambda: pl.when(col("a").is_null()).then(0.0).when(col("a") > 100).then(col("a") * 0.9).otherwise(col("a") + 1.5),
        "zscore": lambda: (col("a") - col("a").mean()) / col("a").std(),
        "scaled": lambda: ((col("b") - col("b").min()) / (col("b").max() - col("b").min())).fill_null(0.0),
        "running": lambda: col("a").fill_null(0.0).cum_sum() / col("a").sum(),
    }
    if name not in exprs:
        return None
    frame = pl.scan_parquet(folder / "columns.parquet").select(exprs[name]().alias("r")).collect()
    return frame["r"].to_arrow()


EXPRESSIONS = {
    "triad": "a + 2.5 * b * years",
    "cubic": "where(v < -1e3, -1e3, where(v > 1e3, 1e3, v))",
    "distance": "2 * 6371.0 * arcsin(sqrt(sin((q - p) / 2) ** 2 + cos(p) * cos(q) * sin((lon2 * k - lon1 * k) / 2) ** 2))",
    "call_price": "a * nd1 - strike * exp(-rate * years) * nd2",
}


def numexpr(name, folder):
    """One expression for each step that has a name, over blocks that stay in the cache."""
    import numexpr as ne

    ne.set_num_threads(1)
    if name not in EXPRESSIONS:
        return None
    table = read(name, folder)
    given = {arg: table.column(arg).to_numpy() for arg in ARGS[name]}
    step = lambda expression: ne.evaluate(expression, local_dict=given)
    if name == "cubic":
        given["v"] = step("0.5 + b * (0.25 - b * (1.5 + b * 0.125))")
    if name == "distance":
        given["k"] = math.pi / 180.0
        given["p"], given["q"] = step("lat1 * k"), step("lat2 * k")
    if name == "call_price":
        given["d1"] = step("(log(a / strike) + (rate + 0.5 * vol * vol) * years) / (vol * sqrt(years))")
        given["d2"] = step("d1 - vol * sqrt(years)")
        for d in ["d1", "d2"]:
            given["k"] = step(f"1.0 / (1.0 + 0.2316419 * abs({d}))")
            given["below"] = step(
                f"0.3989422804014327 * exp(-0.5 * {d} * {d}) * k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 "
                "+ k * (-1.821255978 + k * 1.330274429))))")
            given[f"n{d}"] = step(f"where({d} > 0, 1.0 - below, below)")
    return pa.array(step(EXPRESSIONS[name]))


@cache
def traced():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def triad(a, b, c):
        return a + 2.5 * b * c

    def cubic(a):
        return jnp.clip(0.5 + a * (0.25 - a * (1.5 + a * 0.125)), -1e3, 1e3)

    def distance(lat1, lon1, lat2, lon2):
        lat1, lon1, lat2, lon2 = map(jnp.radians, [lat1, lon1, lat2, lon2])
        h = jnp.sin((lat2 - lat1) / 2) ** 2 + jnp.cos(lat1) * jnp.cos(lat2) * jnp.sin((lon2 - lon1) / 2) ** 2
        return 2 * 6371.0 * jnp.arcsin(jnp.sqrt(h))

    def normal(x):
        k = 1.0 / (1.0 + 0.2316419 * jnp.abs(x))
        tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        below = 0.3989422804014327 * jnp.exp(-0.5 * x * x) * tail
        return jnp.where(x > 0, 1.0 - below, below)

    def call_price(price, strike, years, rate, vol):
        root = jnp.sqrt(years)
        d1 = (jnp.log(price / strike) + (rate + 0.5 * vol * vol) * years) / (vol * root)
        d2 = d1 - vol * root
        return price * normal(d1) - strike * jnp.exp(-rate * years) * normal(d2)

    def zscore(a):
        return (a - jnp.nanmean(a)) / jnp.nanstd(a, ddof=1)

    def scaled(b):
        low, high = jnp.nanmin(b), jnp.nanmax(b)
        return jnp.where(jnp.isnan(b), 0.0, (b - low) / (high - low))

    def running(a):
        total = jnp.cumsum(jnp.where(jnp.isnan(a), 0.0, a))
        return total / total[-1]

    functions = [triad, cubic, distance, call_price, zscore, scaled, running]
    return {function.__name__: jax.jit(function) for function in functions}


def jax(name, folder):
    """Compiled by XLA for the processor."""
    if name not in traced():
        return None
    made = traced()[name](*(column.to_numpy() for column in read(name, folder).columns))
    return pa.array(np.asarray(made), from_pandas=name in SERIES)


SQL = {
    "triad": "a + 2.5 * b * years",
    "cubic": "least(greatest(0.5 + b * (0.25 - b * (1.5 + b * 0.125)), -1e3), 1e3)",
    "distance": "2 * 6371.0 * asin(sqrt(pow(sin((radians(lat2) - radians(lat1)) / 2), 2) + cos(radians(lat1)) * "
                "cos(radians(lat2)) * pow(sin((radians(lon2) - radians(lon1)) / 2), 2)))",
    "band": "CASE WHEN a < 60 THEN 'low' WHEN a < 90 THEN 'medium' WHEN a < 120 THEN 'high' ELSE 'top' END",
    "cleaned": "round(CASE WHEN least(greatest(coalesce(a, b), 0), 200) > 10 THEN least(greatest(coalesce(a, b), 0), 200) "
               "ELSE least(greatest(coalesce(a, b), 0), 200) * 1.5 END, 2)",
    "charge": "a * CASE lower(trim(zone)) WHEN 'inland' THEN 1.25::DOUBLE WHEN 'island' THEN 3.5::DOUBLE "
              "WHEN 'abroad' THEN 9.75::DOUBLE ELSE 2.0::DOUBLE END",
    "graded": "CASE WHEN a IS NULL THEN 0.0 WHEN a > 100 THEN a * 0.9 ELSE a + 1.5 END",
    "zscore": "(a - avg(a) OVER ()) / stddev_samp(a) OVER ()",
    "scaled": "coalesce((b - min(b) OVER ()) / (max(b) OVER () - min(b) OVER ()), 0)",
}


def duckdb(name, folder):
    import duckdb as engine

    if name != "call_price" and name not in SQL:
        return None

    connection = engine.connect(config={"threads": 1})
    # Constants of SQL are decimals: those of the functions are doubles.
    source = f"read_parquet('{folder / 'columns.parquet'}')"
    if name == "call_price":
        normal = lambda x: (
            f"CASE WHEN {x} > 0 THEN 1e0 - below({x}) ELSE below({x}) END")
        connection.execute("CREATE MACRO k(x) AS 1e0 / (1e0 + 0.2316419e0 * abs(x))")
        connection.execute(
            "CREATE MACRO below(x) AS 0.3989422804014327e0 * exp(-0.5e0 * x * x) * k(x) * (0.319381530e0 + k(x) * (-0.356563782e0 "
            "+ k(x) * (1.781477937e0 + k(x) * (-1.821255978e0 + k(x) * 1.330274429e0))))")
        source = (f"(SELECT *, d1 - vol * sqrt(years) AS d2 FROM (SELECT *, (ln(a / strike) + (rate + 0.5e0 * vol * vol) * years) "
                  f"/ (vol * sqrt(years)) AS d1 FROM {source}))")
        sql = f"a * {normal('d1')} - strike * exp(-rate * years) * {normal('d2')}"
    else:
        sql = SQL[name]
    table = connection.execute(f"SELECT {sql} AS r FROM {source}").to_arrow_table()
    return table.column(0)


def result(name, engine, folder):
    return globals()[engine](name, folder)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "make":
        make(Path(rest[0]), int(rest[1]))
    elif command == "save":
        made = result(rest[0], rest[1], Path(rest[2]))
        pq.write_table(pa.table({"r": made}), rest[3])
    elif command == "compare":
        compare(*rest)
    else:
        timed(lambda: result(rest[0], rest[1], Path(rest[2])), int(rest[3]))
