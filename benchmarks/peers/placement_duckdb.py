"""The queries of placement by DuckDB, with Python UDFs and in its own SQL."""

import duckdb
import rows

UDF = {
    "predicate over Parquet": "SELECT sum(c0), sum(c17) FROM wide WHERE is_cheap(price)",
    "arithmetic over Parquet": "SELECT sum(c0), sum(c17) FROM wide WHERE fee(price) < 200",
    "cheap guard first": "SELECT sum(c0), sum(c17) FROM wide WHERE picked(id, note)",
    "five calls deep": "SELECT sum(length_of(head(spaced(lowered(trimmed(title)))))) FROM memory",
    "call in SELECT and WHERE": """
        SELECT sum(bedrooms(facts_and_features)) FROM memory WHERE bedrooms(facts_and_features) < 4""",
    "call above a join": """
        SELECT count(*), sum(sqft(l.facts_and_features)) FROM memory AS l
        JOIN (VALUES ('MA'), ('ny'), ('Texas')) AS k (state) ON l.state = k.state
        WHERE sqft(l.facts_and_features) > 900""",
}

FILES = {"logs by split": "logs_split.sql", "logs by find": "logs_find.sql", "logs by match": "logs_match.sql"}

# Where DuckDB is faster with functions called a row at a time than with a loop over Arrow.
NATIVE = {"predicate over Parquet", "arithmetic over Parquet", "cheap guard first"}

# A number is what DuckDB's cast takes for one, which rounds decimals.
MACROS = """
CREATE MACRO bedrooms(facts) AS try_cast(CASE WHEN contains(split_part(facts, ' bd', 1), ',')
  THEN substr(split_part(split_part(facts, ' bd', 1), ',', -1), 2)
  ELSE split_part(facts, ' bd', 1) END AS BIGINT);
CREATE MACRO sqft(facts) AS try_cast(replace(CASE WHEN contains(split_part(facts, ' sqft', 1), 'ba ,')
  THEN substr(split_part(split_part(facts, ' sqft', 1), 'ba ,', -1), 2)
  ELSE substr(split_part(facts, ' sqft', 1), 5) END, ',', '') AS BIGINT);
CREATE MACRO anonymous(endpoint) AS CASE WHEN starts_with(endpoint, '/~')
  THEN '/~' || upper(left(md5(split_part(substr(endpoint, 3), '/', 1)), 10))
    || substr(endpoint, 3 + length(split_part(substr(endpoint, 3), '/', 1)))
  ELSE endpoint END;
"""

LOGS = """
    SELECT l.ip, l.date, l.method, anonymous(l.endpoint) AS endpoint, l.protocol, l.response_code, l.content_size
    FROM (
      SELECT
        part[1] AS ip,
        substr(part[4], 2, 11) || ' ' || substr(part[4], 14) AS date,
        substr(part[6], 2) AS method,
        rtrim(part[7], '"') AS endpoint,
        coalesce(rtrim(part[8], '"'), '') AS protocol,
        coalesce(try_cast(part[-2] AS BIGINT), -1) AS response_code,
        CASE part[-1] WHEN '-' THEN 0 ELSE coalesce(try_cast(part[-1] AS BIGINT), -1) END AS content_size
      FROM (SELECT string_split(line, ' ') AS part FROM logs)
      WHERE rtrim(part[7], '"') <> ''
    ) AS l
    JOIN bad_addresses AS b ON l.ip = b.ip"""

LOGS_BY_PATTERN = r"""
    SELECT l.ip, l.date, l.method, anonymous(l.endpoint) AS endpoint, l.protocol, l.response_code, l.content_size
    FROM (
      SELECT
        part.ip AS ip,
        regexp_replace(part.date, ':', ' ') AS date,
        part.method AS method,
        part.endpoint AS endpoint,
        part.protocol AS protocol,
        cast(part.code AS BIGINT) AS response_code,
        CASE part.size WHEN '-' THEN 0 ELSE coalesce(try_cast(part.size AS BIGINT), -1) END AS content_size
      FROM (
        SELECT regexp_extract(
          line,
          '^(\S+) (\S+) (\S+) \[([\w:/]+)\s[+\-]\d{4}\] "(\S+) (\S+)\s*(\S*)" (\d{3}) (\S+)$',
          ['ip', 'client', 'user', 'date', 'method', 'endpoint', 'protocol', 'code', 'size']) AS part
        FROM logs)
      WHERE part.endpoint <> ''
    ) AS l
    JOIN bad_addresses AS b ON l.ip = b.ip"""

SQL = {
    "predicate over Parquet": "SELECT sum(c0), sum(c17) FROM wide WHERE price < 200",
    "arithmetic over Parquet": "SELECT sum(c0), sum(c17) FROM wide WHERE price * 1.21 + 3 < 200",
    "cheap guard first": """
        SELECT sum(c0), sum(c17) FROM wide WHERE id < 20000 AND cast(substr(note, 6) AS BIGINT) % 3 = 0""",
    "five calls deep": """
        SELECT sum(length(split_part(replace(lower(trim(title)), '-', ' '), ' ', 1))) FROM memory""",
    "call in SELECT and WHERE": UDF["call in SELECT and WHERE"],
    "call above a join": UDF["call above a join"],
    "logs by split": LOGS,
    "logs by find": LOGS,
    "logs by match": LOGS_BY_PATTERN,
}


def connect(tables, query):
    """A DuckDB with the tables of a query. It keeps what it has read of the files' metadata,
    as DataFusion does."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET parquet_metadata_cache = true")
    if "FROM memory" in query:
        connection.register("source", tables.memory)
        connection.execute("CREATE TABLE memory AS SELECT * FROM source")
        connection.unregister("source")
    for name in ("wide", "logs", "bad_addresses"):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{tables.parquet(name)}')")
    return connection


def prepare_udf(what, tables):
    """The query with Python UDFs."""
    query = UDF[what] if what in UDF else (tables.sql / FILES[what]).read_text(encoding="utf-8")
    connection = connect(tables, query)
    for function in tables.functions.values():
        if what in NATIVE:
            null_handling = "default" if function.strict or function.on_error_null else "special"
            rows.create_duckdb_native(connection, function, function.call, null_handling)
        else:
            rows.create_duckdb_arrow(connection, function)
    return lambda: connection.sql(query).to_arrow_table()


def prepare_sql(what, tables):
    """The query rewritten by hand."""
    query = SQL[what]
    connection = connect(tables, query)
    connection.execute(MACROS)
    return lambda: connection.sql(query).to_arrow_table()
