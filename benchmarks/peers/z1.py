"""Query Z1 from Parquet, by every engine in the ways in which a person would write it.

With the functions of udfs/zillow.py: a CPython loop, pandas, Polars, DuckDB and
datafusion-python. Rewritten by hand without Python: Polars, DuckDB (DataFusion's is on the
Rust side). Results are in memory when the clock stops; `values` makes rows of them.
"""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import rows as per_row
import sqltypes
from datafusion import SessionConfig, SessionContext, udf

INPUT = ["title", "address", "city", "state", "postal_code", "price", "facts_and_features", "url"]
OUTPUT = ["url", "zipcode", "address", "city", "state", "bedrooms", "bathrooms", "sqft", "offer", "type", "price"]


def loop(functions, parquet, sql):
    """Columns to Python objects, one loop with the filters first, columns to Arrow."""
    f = {name: function.guarded() for name, function in functions.items()}
    bedrooms, bathrooms, sqft, rate = f["bedrooms"], f["bathrooms"], f["sqft"], f["price_per_sqft"]
    home_type, offer_of, list_price, zipcode = f["home_type"], f["offer"], f["list_price"], f["zipcode"]
    city_name, state_code, street, clean_url = f["city_name"], f["state_code"], f["street"], f["clean_url"]

    def run():
        table = pq.read_table(parquet, columns=INPUT, use_threads=False)
        out = []
        for title, address, city, state, postal_code, price, facts, url in zip(
            *[column.to_pylist() for column in table.itercolumns()]
        ):
            rooms = bedrooms(facts)
            if rooms is None or rooms >= 10:
                continue
            kind = home_type(title)
            offer = offer_of(title)
            if kind != "house" or offer != "sale":
                continue
            area = sqft(facts)
            dollars = list_price(price, offer, rate(facts), area)
            if dollars is None or not 100000 < dollars < 20000000:
                continue
            out.append((clean_url(url), zipcode(postal_code), street(address), city_name(city), state_code(state),
                        rooms, bathrooms(facts), area, offer, kind, dollars))
        columns = list(zip(*out))
        return pa.table([pa.array(column) for column in columns], names=OUTPUT)

    return run


def pandas_apply(functions, parquet, sql):
    """A column at a time with apply, then the filter."""
    f = {name: function.guarded() for name, function in functions.items()}

    def one(series, name):
        return series.apply(f[name])

    def run():
        frame = pd.read_parquet(parquet, columns=INPUT)
        frame = frame.astype({name: object for name in INPUT if name != "postal_code"})
        frame = frame.where(frame.notna(), None)
        frame["bedrooms"] = one(frame["facts_and_features"], "bedrooms")
        frame = frame[frame["bedrooms"] < 10]
        frame = frame.assign(type=one(frame["title"], "home_type"), offer=one(frame["title"], "offer"))
        frame = frame[(frame["type"] == "house") & (frame["offer"] == "sale")]
        frame["sqft"] = one(frame["facts_and_features"], "sqft")
        frame["rate"] = one(frame["facts_and_features"], "price_per_sqft")
        list_price = f["list_price"]
        frame["price"] = frame.apply(
            lambda row: list_price(row["price"], row["offer"], row["rate"], row["sqft"]), axis=1
        )
        frame = frame[(frame["price"] > 100000) & (frame["price"] < 20000000)]
        frame["bathrooms"] = one(frame["facts_and_features"], "bathrooms")
        frame["zipcode"] = one(frame["postal_code"], "zipcode")
        frame["address"] = one(frame["address"], "street")
        frame["city"] = one(frame["city"], "city_name")
        frame["state"] = one(frame["state"], "state_code")
        frame["url"] = one(frame["url"], "clean_url")
        return frame[OUTPUT]

    return run


def polars_map_elements(functions, parquet, sql):
    """A lazy query with the functions through map_elements."""

    def call(name, column):
        function = functions[name]
        wrapped = function.guarded() if function.on_error_null else function.call
        return pl.col(column).map_elements(wrapped, return_dtype=sqltypes.polars(function.returns), skip_nulls=True)

    list_price = functions["list_price"].guarded()
    price = pl.struct("price", "offer", "rate", "sqft").map_elements(
        lambda row: list_price(row["price"], row["offer"], row["rate"], row["sqft"]),
        return_dtype=pl.Int64,
        skip_nulls=False,
    )

    def run():
        return (
            pl.scan_parquet(parquet)
            .with_columns(call("bedrooms", "facts_and_features").alias("bedrooms"))
            .filter(pl.col("bedrooms") < 10)
            .with_columns(call("home_type", "title").alias("type"), call("offer", "title").alias("offer"))
            .filter((pl.col("type") == "house") & (pl.col("offer") == "sale"))
            .with_columns(
                call("sqft", "facts_and_features").alias("sqft"),
                call("price_per_sqft", "facts_and_features").alias("rate"),
            )
            .with_columns(price.alias("price"))
            .filter((pl.col("price") > 100000) & (pl.col("price") < 20000000))
            .with_columns(
                call("bathrooms", "facts_and_features").alias("bathrooms"),
                call("zipcode", "postal_code").alias("zipcode"),
                call("street", "address").alias("address"),
                call("city_name", "city").alias("city"),
                call("state_code", "state").alias("state"),
                call("clean_url", "url").alias("url"),
            )
            .select(OUTPUT)
            .collect()
        )

    return run


def number(text):
    """A whole number in Polars' expressions."""
    return text.str.strip_chars().cast(pl.Int64, strict=False)


def before(mark):
    """The number before a mark in the facts."""
    head = pl.col("facts_and_features").str.split(mark).list.first()
    tail = head.str.extract(r"(?s),.([^,]*)$", 1)
    return number(pl.when(head.str.contains(",", literal=True)).then(tail).otherwise(head))


def area():
    """The square feet in the facts."""
    head = pl.col("facts_and_features").str.split(" sqft").list.first()
    return number(
        pl.when(head.str.contains("ba ,", literal=True))
        .then(head.str.split("ba ,").list.last().str.slice(1))
        .otherwise(head.str.slice(4))
        .str.replace_all(",", "", literal=True)
    )


def polars_expressions(functions, parquet, sql):
    """Rewritten by hand in Polars' expressions."""
    label = "Price/sqft: $"
    rest = pl.col("facts_and_features").str.split(label).list.get(1, null_on_oob=True)
    rate = number(
        pl.when(rest.str.contains(" ,", literal=True))
        .then(rest.str.split(" ,").list.first())
        .otherwise(rest.str.head(-1))
        .str.replace_all(",", "", literal=True)
    )
    title = pl.col("title").str.to_lowercase()
    kind = (
        pl.when(title.str.contains("house", literal=True)).then(pl.lit("house"))
        .when(title.str.contains("condo", literal=True) | title.str.contains("apartment", literal=True))
        .then(pl.lit("condo"))
        .when(title.is_not_null()).then(pl.lit("unknown"))
    )
    offer = (
        pl.when(title.str.contains("sale", literal=True)).then(pl.lit("sale"))
        .when(title.str.contains("rent", literal=True)).then(pl.lit("rent"))
        .when(title.str.contains("sold", literal=True)).then(pl.lit("sold"))
        .when(title.str.contains("foreclose", literal=True)).then(pl.lit("foreclosed"))
        .otherwise(title)
    )
    rent = (
        pl.when(pl.col("price").str.contains("/", literal=True))
        .then(pl.col("price").str.slice(1).str.extract(r"(?s)^(.*)/[^/]*$", 1))
        .otherwise(pl.col("price").str.slice(1).str.head(-1))
    )
    price = (
        pl.when(pl.col("offer") == "sold").then(pl.col("rate") * pl.col("sqft"))
        .when(pl.col("offer") == "rent").then(number(rent.str.replace_all(",", "", literal=True)))
        .otherwise(number(pl.col("price").str.slice(1).str.replace_all(",", "", literal=True)))
    )
    code = pl.col("postal_code")
    whole = pl.when(code.is_finite()).then(code).cast(pl.Int64, strict=False)
    zipcode = pl.when(whole < 0).then(
        pl.concat_str(pl.lit("-"), whole.abs().cast(pl.String).str.zfill(4))
    ).otherwise(whole.cast(pl.String).str.zfill(5))
    city = pl.col("city").str.strip_chars()
    city = city.str.head(1).str.to_uppercase() + city.str.slice(1).str.to_lowercase()
    state = pl.col("state").str.strip_chars()
    names = functions["state_code"].call.__globals__["STATES"]
    state = pl.when(state.str.len_chars() == 2).then(state.str.to_uppercase()).otherwise(
        state.str.to_lowercase().replace_strict(names, default=None, return_dtype=pl.String)
    )
    address = (
        pl.col("address").str.split("#").list.first().str.replace_all(r"\s+", " ").str.strip_chars()
    )
    url = (
        pl.col("url").str.split("?").list.first().str.replace("^http://", "https://").str.strip_chars_end("/")
    )

    def run():
        return (
            pl.scan_parquet(parquet)
            .with_columns(before(" bd").alias("bedrooms"), kind.alias("type"), offer.alias("offer"))
            .filter((pl.col("bedrooms") < 10) & (pl.col("type") == "house") & (pl.col("offer") == "sale"))
            .with_columns(area().alias("sqft"), rate.alias("rate"))
            .with_columns(price.alias("price"))
            .filter((pl.col("price") > 100000) & (pl.col("price") < 20000000))
            .with_columns(
                before(" ba").alias("bathrooms"),
                zipcode.alias("zipcode"),
                address.alias("address"),
                city.alias("city"),
                state.alias("state"),
                url.alias("url"),
            )
            .select(OUTPUT)
            .collect()
        )

    return run


def duckdb_udf(functions, parquet, sql):
    """The same SQL as Exuvia's, with Python UDFs over Arrow columns."""
    connection = duckdb.connect(config={"threads": 1})
    for function in functions.values():
        per_row.create_duckdb_arrow(connection, function)
    connection.execute(f"CREATE VIEW listings AS SELECT * FROM read_parquet('{parquet}')")
    return lambda: connection.sql(sql).to_arrow_table()


def duckdb_sql(functions, parquet, sql):
    """Rewritten by hand in DuckDB's SQL. DuckDB's cast of text to BIGINT rounds decimals,
    so what is no whole number is told apart before."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"CREATE VIEW listings AS SELECT * FROM read_parquet('{parquet}')")
    connection.execute(r"CREATE MACRO whole(s) AS CASE WHEN regexp_full_match(s, '\s*-?\d+\s*') THEN try_cast(s AS BIGINT) END")
    connection.execute(
        "CREATE MACRO before(f, mark) AS whole(CASE WHEN contains(split_part(f, mark, 1), ',') "
        "THEN substr(split_part(split_part(f, mark, 1), ',', -1), 2) ELSE split_part(f, mark, 1) END)"
    )
    names = functions["state_code"].call.__globals__["STATES"]
    states = " ".join(f"WHEN '{name}' THEN '{code}'" for name, code in names.items())
    query = f"""
        SELECT url, zipcode, address, city, state, bedrooms, bathrooms, sqft, offer, type, price FROM (
          SELECT *, CASE WHEN offer = 'sold' THEN rate * sqft
            WHEN offer = 'rent' THEN whole(replace(CASE WHEN contains(listed, '/')
              THEN regexp_extract(substr(listed, 2), '^(.*)/[^/]*$', 1)
              ELSE substr(listed, 2, greatest(0, length(listed) - 2)) END, ',', ''))
            ELSE whole(replace(substr(listed, 2), ',', '')) END AS price
          FROM (SELECT
            rtrim(CASE WHEN starts_with(url, 'http://') THEN 'https://' || substr(split_part(url, '?', 1), 8)
              ELSE split_part(url, '?', 1) END, '/') AS url,
            CASE WHEN isfinite(postal_code) THEN format('{{:05d}}', trunc(postal_code)::BIGINT) END AS zipcode,
            trim(regexp_replace(split_part(address, '#', 1), '\\s+', ' ', 'g')) AS address,
            upper(left(trim(city), 1)) || lower(substr(trim(city), 2)) AS city,
            CASE WHEN length(trim(state, ' \u00a0')) = 2 THEN upper(trim(state, ' \u00a0'))
              ELSE CASE lower(trim(state, ' \u00a0')) {states} END END AS state,
            before(facts_and_features, ' bd') AS bedrooms,
            before(facts_and_features, ' ba') AS bathrooms,
            whole(replace(CASE WHEN contains(split_part(facts_and_features, ' sqft', 1), 'ba ,')
              THEN substr(split_part(split_part(facts_and_features, ' sqft', 1), 'ba ,', -1), 2)
              ELSE substr(split_part(facts_and_features, ' sqft', 1), 5) END, ',', '')) AS sqft,
            whole(replace(split_part(split_part(facts_and_features, 'Price/sqft: $', 2), ' ,', 1), ',', '')) AS rate,
            CASE WHEN contains(lower(title), 'sale') THEN 'sale' WHEN contains(lower(title), 'rent') THEN 'rent'
              WHEN contains(lower(title), 'sold') THEN 'sold'
              WHEN contains(lower(title), 'foreclose') THEN 'foreclosed' ELSE lower(title) END AS offer,
            CASE WHEN contains(lower(title), 'house') THEN 'house'
              WHEN contains(lower(title), 'condo') OR contains(lower(title), 'apartment') THEN 'condo'
              WHEN title IS NOT NULL THEN 'unknown' END AS type,
            price AS listed
          FROM listings)
        ) WHERE bedrooms < 10 AND type = 'house' AND offer = 'sale' AND 100000 < price AND price < 20000000
    """
    return lambda: connection.sql(query).to_arrow_table()


def datafusion_udf(functions, parquet, sql):
    """The same SQL as Exuvia's, with UDFs of datafusion-python."""
    context = SessionContext(SessionConfig().with_target_partitions(1))
    context.register_parquet("listings", parquet)
    for function in functions.values():
        body = per_row.plain_loop(function, function.params)
        to = sqltypes.arrow(function.returns)
        context.register_udf(udf(
            lambda *columns, body=body, to=to: pa.array(body(*[column.to_pylist() for column in columns]), type=to),
            [sqltypes.arrow(ty) for ty in function.params],
            to,
            "immutable",
            function.name,
        ))
    return lambda: context.sql(sql).collect()


CONTENDERS = {
    "loop": loop,
    "pandas apply": pandas_apply,
    "polars map_elements": polars_map_elements,
    "polars expressions": polars_expressions,
    "duckdb udf": duckdb_udf,
    "duckdb sql": duckdb_sql,
    "datafusion-python": datafusion_udf,
}


def values(result):
    """A result as rows of Python objects, in the order of the table."""
    if isinstance(result, pd.DataFrame):
        columns = [per_row.values(result[name], "BIGINT" if name in ("bedrooms", "bathrooms", "sqft", "price") else "")
                   for name in OUTPUT]
    elif isinstance(result, pl.DataFrame):
        columns = [result[name].to_list() for name in OUTPUT]
    else:
        if isinstance(result, list):
            batches = [batch.to_pyarrow() if hasattr(batch, "to_pyarrow") else batch for batch in result]
            result = pa.Table.from_batches(batches)
        columns = [result[name].to_pylist() for name in OUTPUT]
    return list(zip(*columns))
