"""Whole queries by DuckDB and Polars without Python functions: what `cargo xtask bench tables`
compares table functions with besides pandas.

    python by_hand.py run NAME ENGINE FOLDER ROUNDS    times one and prints seconds and rows
    python by_hand.py save NAME ENGINE FOLDER FILE     writes its result
    python by_hand.py compare EXPECTED FILE            prints how many rows of two results differ

NAME is zillow, logs, uc01 or uc10, ENGINE duckdb or polars. Each run reads the Parquet files of
FOLDER; the result is in memory, as an Arrow table or a DataFrame, when the clock stops.
"""

import json
import sys
import time
from pathlib import Path

import duckdb
import placement
import placement_duckdb
import placement_polars
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import signatures
import z1

PEERS = Path(__file__).resolve().parent
TABLES = {
    name: query["tables"]
    for name, query in json.loads((PEERS.parent / "tpcxai/queries.json").read_text(encoding="utf-8")).items()
}


def formulas(folder, name):
    """What tpcxai/formulas.py has written of a use case."""
    return json.loads((folder / "models/formulas.json").read_text(encoding="utf-8"))[name]


def use_case_by_duckdb(folder, name):
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET parquet_metadata_cache = true")
    for table, file in TABLES[name].items():
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder / file}')")
    query = formulas(folder, name)["sql"]["duckdb"]
    return lambda: connection.sql(query).to_arrow_table()


def scans(folder, name):
    return {table: pl.scan_parquet(folder / file) for table, file in TABLES[name].items()}


def uc01_by_polars(folder, name):
    numbers = formulas(folder, name)["numbers"]
    tables = scans(folder, name)
    bought = pl.col("quantity").fill_null(0) * pl.col("price").fill_null(0)
    returned = pl.col("or_return_quantity").fill_null(0) * pl.col("price").fill_null(0)
    ratio = pl.when(pl.col("bought") > 0).then(pl.col("returned") / pl.col("bought")).otherwise(0.0)
    frequency = pl.col("year").count() / pl.col("year").drop_nulls().n_unique()
    features = ["return_ratio", "frequency"]
    x, y = (
        pl.col(feature) * scale + offset
        for feature, scale, offset in zip(features, numbers["scale"], numbers["offset"])
    )
    distances = [(x - to_x).pow(2) + (y - to_y).pow(2) for to_x, to_y in numbers["centers"]]

    def query():
        return (
            tables["lineitem"]
            # pandas' merge finds NULL equal to NULL.
            .join(
                tables["order_returns"],
                left_on=["li_order_id", "li_product_id"],
                right_on=["or_order_id", "or_product_id"],
                how="left",
                nulls_equal=True,
            )
            .join(tables["orders"].drop_nulls("o_customer_sk"), left_on="li_order_id", right_on="o_order_id")
            .group_by("o_customer_sk", "li_order_id")
            .agg(
                bought.sum().alias("bought"), returned.sum().alias("returned"), pl.col("date").min().dt.year().alias("year")
            )
            .group_by("o_customer_sk")
            .agg(ratio.mean().alias("return_ratio"), frequency.alias("frequency"))
            .with_columns(pl.col("frequency").fill_nan(0.0))
            .select("o_customer_sk", pl.concat_list(distances).list.arg_min().cast(pl.Int64).alias("c_cluster_id"))
        )

    return lambda: query().collect()


def uc10_by_polars(folder, name):
    numbers = formulas(folder, name)["numbers"]
    tables = scans(folder, name)
    hour = (pl.col("time").str.to_datetime("%Y-%m-%dT%H:%M").dt.hour() / 23).fill_null(0.5)
    amount = (pl.col("amount") / pl.col("transaction_limit")).fill_null(0.0)
    of_hour, of_amount = numbers["weights"]
    decision = numbers["intercept"] + of_hour * hour + of_amount * amount

    def query():
        return (
            tables["transactions"]
            .join(tables["accounts"], left_on="senderID", right_on="fa_customer_sk")
            .select("transactionID", (decision > 0).cast(pl.Int64).alias("isFraud"))
        )

    return lambda: query().collect()


def zillow(prepare):
    def prepared(folder, name):
        functions = signatures.load(PEERS.parents[1] / "udfs/zillow.py")
        return prepare(functions, f"{folder}/listings.parquet", None)

    return prepared


def logs(prepare):
    return lambda folder, name: prepare("logs by split", placement.Files(folder))


ENGINES = {
    "duckdb": {
        "zillow": zillow(z1.duckdb_sql),
        "logs": logs(placement_duckdb.prepare_sql),
        "uc01": use_case_by_duckdb,
        "uc10": use_case_by_duckdb,
    },
    "polars": {
        "zillow": zillow(z1.polars_expressions),
        "logs": logs(placement_polars.prepare_expressions),
        "uc01": uc01_by_polars,
        "uc10": uc10_by_polars,
    },
}


def run(name, engine, folder, rounds):
    query = ENGINES[engine][name](folder, name)
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        rows = len(query())
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "rows": rows}))


def save(name, engine, folder, file):
    result = ENGINES[engine][name](folder, name)()
    pq.write_table(result if isinstance(result, pa.Table) else result.to_arrow(), file)


def compare(expected, file):
    expected, got = pq.read_table(expected), pq.read_table(file)
    if got.column_names != expected.column_names:
        print(json.dumps({"differ": len(expected), "example": f"columns {got.column_names}, not {expected.column_names}"}))
        return
    print(json.dumps(placement.differ(placement.values(expected), placement.values(got))))


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "compare":
        compare(*arguments)
    else:
        name, engine, folder, last = arguments
        if what == "run":
            run(name, engine, Path(folder), int(last))
        else:
            save(name, engine, Path(folder), last)
