"""What the queries of the .sql files beside this one should give, by plain CPython without Exuvia.

    python oracle.py FILE.sql …        prints {query: [row, …]} as JSON

The files keep to a simple form, which regular expressions read: `CREATE TABLE name (column TYPE, …) AS VALUES …;`,
`CREATE FUNCTION … AS $$ … $$;` and `-- query: NAME` above each query. For each NAME a function of that name
here gives the rows. It calls the very source in the file on frames that pyarrow makes of the VALUES; what
SQL does around the call is written out by hand.
"""

import ast
import collections
import dataclasses
import datetime as dt
import json
import math
import pathlib
import re
import sys

import numpy as np
import pandas as pd
import pyarrow as pa

HERE = pathlib.Path(__file__).parent

TYPES = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "TEXT": pa.string(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIME": pa.time64("ns"),
    "TIMESTAMP": pa.timestamp("ns"),
    "TEXT[]": pa.list_(pa.string()),
}


# ---------------------------------------------------------------- reading a file


@dataclasses.dataclass
class File:
    tables: dict  # name -> [(column, TYPE)], [row]
    functions: dict  # name -> Function
    queries: dict  # name -> SQL
    statements: list  # (kind, name, SQL) of each CREATE


@dataclasses.dataclass
class Function:
    source: str
    returns: list  # [(column, TYPE)] of RETURNS TABLE, [] where it is left open, None of a scalar
    models: dict


def columns(text):
    out = []
    for part in text.split(","):
        words = part.split()
        out.append((words[0].strip('"'), words[1]))
    return out


def values(text):
    """The rows of VALUES: strings, numbers, NULL, true and false only."""
    tokens = re.findall(r"'(?:[^']|'')*'|[(),]|[^\s(),']+", text)
    rows, row = [], None
    for token in tokens:
        if token == "(":
            row = []
        elif token == ")":
            rows.append(row)
            row = None
        elif token == ",":
            continue
        elif token.startswith("'"):
            row.append(token[1:-1].replace("''", "'"))
        elif token in ("NULL", "true", "false"):
            row.append({"NULL": None, "true": True, "false": False}[token])
        else:
            row.append(ast.literal_eval(token))
    return rows


def read(path):
    text = pathlib.Path(path).read_text()
    file = File({}, {}, {}, [])
    for match in re.finditer(r"^CREATE TABLE (\w+) \((.*?)\) AS VALUES\n(.*?);\n$", text, re.M | re.S):
        file.tables[match[1]] = columns(match[2]), values(match[3])
        file.statements.append(("table", match[1], match[0]))
    for match in re.finditer(r"^CREATE FUNCTION (\w+)(.*?)AS \$\$\n(.*?)^\$\$;\n", text, re.M | re.S):
        head = match[2]
        returns = re.search(r"RETURNS TABLE(?: \((.*?)\))?\s+(?:STRICT\s+)?LANGUAGE", head, re.S)
        setof = re.search(r"RETURNS SETOF (\w+)", head)
        models = re.search(r"models '(.*?)'", head)
        file.functions[match[1]] = Function(
            match[3],
            (columns(returns[1]) if returns[1] else []) if returns else [("value", setof[1])] if setof else None,
            dict(part.split("=") for part in models[1].split(",")) if models else {},
        )
        file.statements.append(("function", match[1], match[0]))
    for match in re.finditer(r"^-- query: (\w+)\n(.*?);\n", text, re.M | re.S):
        file.queries[match[1]] = match[2]
    return file


class Tables:
    """The tables and functions of a file: tables['name'] is a fresh frame."""

    def __init__(self, file):
        self.file = file
        self.modules = {}

    def arrow(self, name):
        cols, rows = self.file.tables[name]
        arrays = []
        for index, (_, kind) in enumerate(cols):
            items = [row[index] for row in rows]
            if kind == "DOUBLE":
                items = [None if x is None else float(x) for x in items]
            if kind == "DATE":
                items = [None if x is None else dt.date.fromisoformat(x) for x in items]
            if kind == "TIMESTAMP":
                items = [None if x is None else dt.datetime.fromisoformat(x) for x in items]
            arrays.append(pa.array(items, TYPES[kind]))
        return pa.table(arrays, names=[name for name, _ in cols])

    def __getitem__(self, name):
        return self.arrow(name).to_pandas()

    def some(self, name, keep, cols=None, key=None):
        """The frame of the rows that keep(row as dict) accepts, sorted by key, with these columns."""
        table = self.arrow(name)
        rows = [row for row in table.to_pylist() if keep(row)]
        if key:
            rows.sort(key=key)
        table = pa.Table.from_pylist(rows, table.schema)
        return (table.select(cols) if cols else table).to_pandas()

    def rows(self, name):
        """Rows as Python values, as tuples with names."""
        table = self.arrow(name)
        Row = collections.namedtuple(name, table.column_names, rename=True)
        return [Row(*row.values()) for row in table.to_pylist()]

    def fn(self, name):
        if name not in self.modules:
            import joblib

            function = self.file.functions[name]
            space = {"__name__": name}
            for key, path in function.models.items():
                space[key] = joblib.load(HERE / path)
            # What @dataclass asks for.
            sys.modules[name] = type(sys)(name)
            exec(compile(function.source, name, "exec"), space)
            self.modules[name] = space[name]
        return self.modules[name]

    def call(self, name, *args):
        """The rows of a table or rows function, as it was declared."""
        returns = self.file.functions[name].returns
        return bound(self.fn(name)(*args), returns)


# ---------------------------------------------------------------- what a result means


def plain(value):
    """A Python value; None for whatever is missing."""
    if isinstance(value, (list, np.ndarray)):
        return [plain(item) for item in value]
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def fit(value, kind):
    value = plain(value)
    if value is None:
        return None
    if kind == "BIGINT":
        assert not isinstance(value, bool) and int(value) == value, (value, kind)
        return int(value)
    if kind == "DOUBLE":
        return float(value)
    if kind == "DATE" and isinstance(value, dt.datetime):
        return value.date()
    if kind == "TEXT":
        assert isinstance(value, str), value
    return value


def bound(result, returns):
    if result is None:
        return []
    if isinstance(result, dict):
        result = pd.DataFrame(result)
    if isinstance(result, pd.DataFrame):
        frame = result
        levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
        if levels:
            frame = frame.reset_index(levels)
        if not returns:
            returns = [(name, None) for name in frame.columns]
        lists = [[fit(value, kind) for value in frame[name]] for name, kind in returns]
        return list(zip(*lists))
    out = []
    for item in result:
        if dataclasses.is_dataclass(item):
            item = dataclasses.asdict(item)
        if isinstance(item, dict):
            item = tuple(item[name] for name, _ in returns)
        elif not isinstance(item, tuple):
            item = (item,)
        out.append(tuple(fit(value, kind) for value, (_, kind) in zip(item, returns, strict=True)))
    return out


def nulls_last(*indices):
    return lambda row: tuple((row[i] is None, row[i] if row[i] is not None else 0) for i in indices)


def ordered(rows, *indices):
    return sorted(rows, key=nulls_last(*indices))


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def total(items):
    """SQL's sum: of what is there, NULL of nothing."""
    items = [item for item in items if item is not None]
    return sum(items) if items else None


def series(items, kind):
    return pa.chunked_array([pa.array(items, TYPES[kind])]).to_pandas()


def write_models():
    """The fitted models of models.sql."""
    import joblib
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    folder = HERE / "models"
    folder.mkdir(exist_ok=True)
    x = np.array([[23, 1200.5], [31, 2500], [45, 3100], [52, 2800], [19, 800], [38, 2200], [60, 4100], [27, 1500]])
    y = np.array([1, 0, 0, 0, 1, 1, 0, 1])
    joblib.dump(LogisticRegression(max_iter=5000).fit(x, y), folder / "churn.joblib")
    named = pd.DataFrame(x, columns=["age", "income"])
    scaler = StandardScaler().fit(named)
    kmeans = KMeans(2, n_init=1, random_state=0).fit(scaler.transform(named))
    joblib.dump({"scaler": scaler, "kmeans": kmeans, "names": ["junge", "ältere"]}, folder / "scaled.joblib")


# ---------------------------------------------------------------- cleaning.sql


def clean_customers_all(t):
    return ordered(t.call("clean_customers", t["customers"]), 0)


def clean_customers_some(t):
    frame = t.some("customers", lambda r: r["id"] is not None and r["id"] < 5)
    return [(r[0], r[2]) for r in t.call("clean_customers", frame) if r[2] is not None]


def amounts_all(t):
    frame = t.some("invoices", lambda r: True, ["no", "amount"], lambda r: (r["no"], r["amount"] or "￿"))
    return t.call("amounts", frame)


def amounts_total(t):
    rows = t.call("amounts", t["invoices"][["no", "amount"]])
    return ordered(((k, total(r[1] for r in g), len(g)) for k, g in grouped(rows, lambda r: r[2]).items()), 0)


def paid_dates_all(t):
    return t.call("paid_dates", t["invoices"])


def paid_dates_join(t):
    paid = t.call("paid_dates", t["invoices"])
    return [
        (i.no, i.amount, p[1])
        for i in t.rows("invoices")
        for p in paid
        if i.no == p[0] and p[1] is not None and p[1] > dt.date(2024, 1, 4)
    ]


def iso_countries_default(t):
    return ordered(t.call("iso_countries", t["people"], t["aliases"], "??"), 0)


def iso_countries_named(t):
    rows = t.call("iso_countries", t["people"], t["aliases"], "ZZ")
    return [(k, len(g)) for k, g in grouped(rows, lambda r: r[1]).items()]


# ---------------------------------------------------------------- features.sql


def dummies_all(t):
    return ordered(t.call("dummies", t["orders"]), 0)


LAGS = ["id", "customer", "day", "total"]


def lags_one(t):
    return ordered(t.call("lags", t["orders"][LAGS], 1), 0)


def lags_two(t):
    return t.call("lags", t["orders"][LAGS], 2)


def target_encoded_all(t):
    return t.call("target_encoded", t["orders"], 2.0)


def target_encoded_int_weight(t):
    return [(r[0], r[2]) for r in target_encoded_all(t) if r[1] is not None and r[1] > 0.3]


def rfm_all(t):
    return ordered(t.call("rfm", t["orders"], dt.date(2024, 3, 10)), 0)


def rfm_subquery_argument(t):
    rows = t.call("rfm", t["orders"], dt.date(2024, 3, 2))
    return [(k, len(g)) for k, g in grouped(rows, lambda r: r[4]).items()]


# ---------------------------------------------------------------- sessions.sql


def sessionised_30(t):
    return ordered(t.call("sessionised", t["clicks"][["person", "at"]], 30.0), 0, 1)


def sessionised_15(t):
    rows = t.call("sessionised", t["clicks"][["person", "at"]], 15.0)
    return [(k, len(g), total(r[5] for r in g)) for k, g in grouped(rows, lambda r: r[0]).items()]


def paths_half_hour(t):
    return t.call("paths", t["clicks"], dt.timedelta(minutes=30))


def funnel_known(t):
    frame = t.some("clicks", lambda r: r["person"] is not None, ["person", "page", "at"])
    return t.call("funnel", frame, ["/", "/cart", "/pay"])


def funnel_coalesced(t):
    frame = t["clicks"][["person", "page", "at"]]
    frame["person"] = frame["person"].fillna("?")
    return [r[:2] for r in t.call("funnel", frame, ["/pay"])]


# ---------------------------------------------------------------- pivots.sql


def monthly_all(t):
    return ordered(t.call("monthly", t["sales"]), 0)


def melted_all(t):
    return ordered(t.call("melted", t["answers"], "respondent"), 0, 1)


def melted_counts(t):
    rows = t.call("melted", t["answers"], "respondent")
    return [(k, len(g)) for k, g in grouped(rows, lambda r: r[2]).items()]


def crosstab_all(t):
    return t.call("crosstab", t["sales"])


def crosstab_accent(t):
    return [r[:2] for r in t.call("crosstab", t["sales"]) if r[1] is not None]


# ---------------------------------------------------------------- forecasts.sql


def smoothed_default(t):
    return ordered(t.call("smoothed", t["demand"], 0.5), 0, 1)


def smoothed_slow(t):
    return ordered(t.call("smoothed", t.some("demand", lambda r: r["item"] != "b"), 0.1), 0, 1)


def holt_two(t):
    return ordered(t.call("holt", t["demand"], 2, 0.8, 0.2), 0, 1)


def trend(t, number):
    out = []
    for rows in grouped(t.rows("demand"), lambda r: r.item).values():
        ys = t.fn("trend_line")(
            series([number(r.week) for r in rows], "BIGINT"), series([r.units for r in rows], "DOUBLE")
        )
        out += [(r.item, r.week, plain(y)) for r, y in zip(rows, ys, strict=True)]
    return out


def trend_line_items(t):
    return trend(t, lambda week: (week - dt.date(2024, 1, 1)).days)


def trend_line_cast(t):
    return trend(t, lambda week: week.timetuple().tm_yday)


# ---------------------------------------------------------------- matching.sql


def best_match_default(t):
    return ordered(t.call("best_match", t["crm"], t["register"], 0.6), 0)


def best_match_strict(t):
    match = {r[0]: r[1] for r in t.call("best_match", t["crm"], t["register"], 0.9)}
    return [(r.company, match.get(r.id)) for r in t.rows("crm")]


def jaccard_pairs(t):
    # DataFusion's string_to_array of the empty text is the empty list.
    split = lambda s: None if s is None else s.lower().split(" ") if s else []
    return [
        (c.id, r.key, plain(t.fn("jaccard")(split(c.company), split(r.company))))
        for c in t.rows("crm")
        for r in t.rows("register")
    ]


def tfidf_all(t):
    return t.call("tfidf", t["crm"])


# ---------------------------------------------------------------- models.sql


def fit_score_all(t):
    none_last = lambda r: tuple((r[k] is None, r[k] or 0) for k in ("income", "age"))
    train = t.some("train", lambda r: r["churned"] is not None, key=none_last)
    return ordered(t.call("fit_score", train, t["customers"]), 0)


def churn_known(t):
    rows = [r for r in t.rows("customers") if r.age is not None and r.income is not None]
    ps = t.fn("churn")(np.array([float(r.age) for r in rows]), np.array([r.income for r in rows]))
    return [(r.id, plain(p)) for r, p in zip(rows, ps, strict=True)]


def churn_coalesced(t):
    rows = t.rows("customers")
    ages = np.array([40.0 if r.age is None else float(r.age) for r in rows])
    incomes = np.array([0.0 if r.income is None else r.income for r in rows])
    return [(r.id, bool(p > 0.5)) for r, p in zip(rows, t.fn("churn")(ages, incomes), strict=True)]


def segment_all(t):
    rows = t.rows("customers")
    ages = series([None if r.age is None else float(r.age) for r in rows], "DOUBLE")
    found = t.fn("segment")(ages, series([r.income for r in rows], "DOUBLE"))
    return [(r.id, plain(s)) for r, s in zip(rows, found, strict=True)]


def segment_counts(t):
    return [(k, len(g)) for k, g in grouped(segment_all(t), lambda r: r[1]).items()]


# ---------------------------------------------------------------- topk.sql


def top_two(t):
    return ordered(t.call("top_k", t["scores"], 2), 0, 1)


def top_one_filtered(t):
    rows = t.call("top_k", t.some("scores", lambda r: r["points"] is not None), 1)
    return [(r[0], r[2]) for r in rows if r[0] not in (None, "")]


def leaders(t, rows):
    leads = t.fn("leaders")(series([r[0] for r in rows], "TEXT"), series([r[2] for r in rows], "BIGINT"))
    return [plain(x) for x in leads]


def leaders_all(t):
    rows = t.rows("scores")
    return [(r[0], r[1], r[2], x) for r, x in zip(rows, leaders(t, rows), strict=True)]


def leaders_window(t):
    out = []
    for rows in grouped((r for r in t.rows("scores") if r[0] is not None), lambda r: r[0]).values():
        out += [(r[0], r[1], x) for r, x in zip(rows, leaders(t, rows), strict=True)]
    return out


# ---------------------------------------------------------------- resample.sql


def hourly_all(t):
    return ordered(t.call("hourly", t["readings"], "1h"), 0, 1)


def hourly_half(t):
    rows = t.call("hourly", t["readings"], "30min")
    return [(k, total(r[3] for r in g), len(g)) for k, g in grouped(rows, lambda r: r[0]).items()]


def candles_all(t):
    return t.call("candles", t["readings"][["at", "value"]])


def candles_b(t):
    return ordered(t.call("candles", t.some("readings", lambda r: r["sensor"] == "b", ["at", "value"])), 0)


def local_days_tokyo(t):
    return ordered(t.call("local_days", t["readings"], "Asia/Tokyo"), 0)


def local_days_new_york(t):
    return ordered(t.call("local_days", t["readings"], "America/New_York"), 0)


# ---------------------------------------------------------------- generators.sql


def split_tags_inner(t):
    return ordered(((r.id, *s) for r in t.rows("tickets") if r.tags is not None for s in t.call("split_tags", r.tags, ";")), 0, 1)


def split_tags_left(t):
    out = []
    for r in t.rows("tickets"):
        found = t.call("split_tags", r.tags, ";") if r.tags is not None else []
        out += [(r.id, s[1]) for s in found] or [(r.id, None)]
    return out


def split_tags_alone(t):
    return t.call("split_tags", "x|y| |ž", "|")


def days(t, r):
    return t.call("days_between", r.opened, r.closed) if r.opened is not None and r.closed is not None else []


def days_between_inner(t):
    return [(r.id, *d) for r in t.rows("tickets") for d in days(t, r)]


def days_between_filtered(t):
    return [(i, d) for i, d in days_between_inner(t) if d >= dt.date(2024, 2, 29) and i < 5]


def days_between_counts(t):
    return [(r.id, len(days(t, r))) for r in t.rows("tickets")]


def items_inner(t):
    return [(r.id, *i) for r in t.rows("tickets") for i in t.call("items", r.payload)]


def items_tickets(t):
    return [(sku, qty * 10) for _, sku, qty in items_inner(t) if qty is not None and qty > 1]


def tokens_inner(t):
    return [(r.id, *k) for r in t.rows("tickets") for k in t.call("tokens", r.body)]


def tokens_total(t):
    return [(k, total(r[2] for r in g)) for k, g in grouped(tokens_inner(t), lambda r: r[1]).items()]


# ---------------------------------------------------------------- columns.sql


def over(t, rows, key, order, call):
    """(id, value) for each partition, its rows sorted, NULLs last."""
    out = []
    for part in grouped(rows, key).values():
        part = ordered(part, *order)
        out += [(r.id, plain(v)) for r, v in zip(part, call(part), strict=True)]
    return ordered(out, 0)


def zscores(t, rows):
    return t.fn("zscore")(series([r.price for r in rows], "DOUBLE"))


def zscore_where(t):
    rows = [r for r in t.rows("items") if r.price is not None and r.price < 1000]
    return [(r.id, plain(z)) for r, z in zip(rows, zscores(t, rows), strict=True)]


def zscore_over(t):
    return over(t, t.rows("items"), lambda r: r.shop, [2], lambda rows: zscores(t, rows))


def zscore_outliers(t):
    rows = t.rows("items")
    return [(r.id,) for r, z in zip(rows, zscores(t, rows), strict=True) if z > 2]


def bucket_two(t):
    rows = t.rows("items")
    found = t.fn("bucket")(series([r.price for r in rows], "DOUBLE"), 2)
    return [(r.id, fit(b, "BIGINT")) for r, b in zip(rows, found, strict=True)]


def bucket_over(t):
    rows = [r for r in t.rows("items") if r.shop]
    call = lambda part: [fit(b, "BIGINT") for b in t.fn("bucket")(series([r.price for r in part], "DOUBLE"), 3)]
    return over(t, rows, lambda r: r.shop, [], call)


def filled_over(t):
    call = lambda part: [fit(b, "BIGINT") for b in t.fn("filled")(series([r.stock for r in part], "BIGINT"))]
    return over(t, t.rows("items"), lambda r: r.shop, [2], call)


def slugs(t, texts):
    return [plain(s) for s in t.fn("slug")(series(texts, "TEXT"))]


def slug_all(t):
    rows = t.rows("items")
    return [(r.id, s) for r, s in zip(rows, slugs(t, [r.label for r in rows]), strict=True)]


def slug_expression(t):
    rows = t.rows("items")
    kept = [r for r, s in zip(rows, slugs(t, [r.label for r in rows]), strict=True) if s is not None and s != "x"]
    texts = [None if r.shop is None else r.label + " " + r.shop for r in kept]
    return [(r.id, s and s.upper()) for r, s in zip(kept, slugs(t, texts), strict=True)]


# ---------------------------------------------------------------- aggregates.sql


def taken(t, name, items):
    state = t.fn(name)()
    for item in items:
        state.accumulate(item)
    return plain(state.finish())


def geo(t, items):
    return taken(t, "geo_mean", [x for x in items if x is not None])


def shops(t):
    return grouped(t.rows("sales"), lambda r: r.shop)


def geo_mean_shops(t):
    return ordered(((k, geo(t, [r.price for r in g])) for k, g in shops(t).items()), 0)


def geo_mean_filter(t):
    return [
        (k, geo(t, [r.price for r in g if r.price is not None and r.price < 1000]), geo(t, {r.price for r in g}))
        for k, g in shops(t).items()
    ]


def geo_mean_window(t):
    rows = ordered((r for r in t.rows("sales") if r.shop == "p"), 1, 2)
    return [
        (r.day, r.price, geo(t, [x.price for x in rows[max(0, i - 1) : i + 1]])) for i, r in enumerate(rows)
    ]


def geo_mean_having(t):
    return [(k,) for k, g in geo_mean_shops(t) if g is not None and g > 5]


def longest_run_ordered(t):
    rows = ordered((r for r in t.rows("sales") if r.day is not None), 1, 4)
    return [(taken(t, "longest_run", [r.clerk for r in rows]),)]


def longest_run_shops(t):
    return [(k, taken(t, "longest_run", [r.clerk for r in ordered(g, 1, 4)])) for k, g in shops(t).items()]


def weighted(t, rows, times=1):
    x = series([None if r.price is None else r.price * times for r in rows], "DOUBLE")
    return plain(t.fn("wavg")(x, series([r.units for r in rows], "BIGINT")))


def wavg_shops(t):
    return [(k, weighted(t, g)) for k, g in shops(t).items()]


def wavg_empty(t):
    return [(weighted(t, []),)]


def wavg_expression(t):
    return [(weighted(t, t.rows("sales"), 2) / 2, len(t.rows("sales")))]


def path_shops(t):
    out = []
    for k, g in grouped((r for r in t.rows("sales") if r.day is not None), lambda r: r.shop).items():
        g = sorted(ordered(g, 4), key=lambda r: r.day, reverse=True)
        out.append((k, t.fn("path")([r.clerk for r in g], [">"] * len(g))))
    return ordered(out, 0)


def path_distinct(t):
    clerks = sorted({r.clerk for r in t.rows("sales") if r.clerk is not None})
    return [(t.fn("path")(clerks, ["|"] * len(clerks)),)]


# ---------------------------------------------------------------- forms.sql


def yielded_tuples_all(t):
    return ordered(t.call("yielded_tuples", t["demand"], 2, 0.8, 0.2), 0, 1)


def yielded_dicts_all(t):
    return t.call("yielded_dicts", t["clicks"], dt.timedelta(minutes=30))


def summary_all(t):
    found = t.fn("summary")(t["small"])
    return [(found["n"], plain(found["mean"]))]


def total_all(t):
    return [(int(t.fn("total")(t["small"])),)]


def pairs_all(t):
    return t.call("pairs", t["small"])


def small(t):
    return grouped(t.rows("small"), lambda r: r.g)


def two_overs(t):
    out = []
    for rows in small(t).values():
        x = series([r.x for r in rows], "DOUBLE")
        ns, shares = t.fn("counted")(x), t.fn("share")(x)
        out += [(r.id, int(n), plain(s)) for r, n, s in zip(rows, ns, shares, strict=True)]
    return ordered(out, 0)


def quantile_groups(t):
    return [(g, t.fn("quantile")(series([r.x for r in rows], "DOUBLE"), 0.5)) for g, rows in small(t).items()]


def quartiles_groups(t):
    return [(g, t.fn("quartiles")(series([r.x for r in rows], "DOUBLE"))) for g, rows in small(t).items()]


def names_all(t):
    return [(name,) for name in t.fn("names")(t["small"])]


def joined_where(t):
    rows = sorted((r for r in t.rows("small") if r.x is not None), key=lambda r: r.id)
    return [(t.fn("joined")([r.g for r in rows]),)]


# ---------------------------------------------------------------- output


def as_json(value):
    """As `--format json` writes it."""
    if isinstance(value, list):
        return [as_json(item) for item in value]
    value = plain(value)
    if isinstance(value, pd.Timestamp):
        digits = f"{value.microsecond * 1000 + value.nanosecond:09d}"
    elif isinstance(value, (dt.datetime, dt.time)):
        digits = f"{value.microsecond * 1000:09d}"
    elif isinstance(value, dt.date):
        return value.isoformat()
    else:
        return value
    for _ in range(3):
        digits = digits.removesuffix("000")
    text = value.strftime("%H:%M:%S" if isinstance(value, dt.time) else "%Y-%m-%dT%H:%M:%S")
    return text + ("." + digits if digits else "")


def expected(path, names=None):
    file = read(path)
    out = {}
    for name in file.queries:
        if names is None or name in names:
            rows = globals()[name](Tables(file))
            out[name] = [[as_json(value) for value in row] for row in rows]
    return out


if __name__ == "__main__":
    if not (HERE / "models" / "churn.joblib").exists():
        write_models()
    for argument in sys.argv[1:]:
        print(json.dumps(expected(argument), ensure_ascii=False, indent=1))
