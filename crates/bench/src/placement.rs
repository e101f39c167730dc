//! Queries whose time depends on where calls are placed in the plan.

use crate::contenders::register_listings;
use crate::programs;
use anyhow::{Context, Result};
use datafusion::datasource::MemTable;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use exuvia::ExuviaSession;
use exuvia_datagen::{Logs, bad_addresses, logs_schema};
use std::path::Path;
use std::sync::Arc;

/// A query with Python functions, and as a person would write it without.
#[derive(Debug)]
pub struct Query {
    /// Its name in requests and reports.
    pub name: &'static str,
    /// With functions of [`FUNCTIONS`] or of `udfs/zillow.py`.
    pub sql: &'static str,
    /// In DataFusion's SQL.
    pub by_hand: &'static str,
}

/// The functions of the queries, besides those of `udfs/zillow.py`.
pub const FUNCTIONS: &str = "
CREATE FUNCTION is_cheap(price DOUBLE) RETURNS BOOLEAN LANGUAGE python AS $$
    return price is not None and price < 200
$$;
CREATE FUNCTION fee(price DOUBLE) RETURNS DOUBLE LANGUAGE python STRICT AS $$
    return price * 1.21 + 3
$$;
CREATE FUNCTION picked(id BIGINT, note TEXT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$
    if id >= 20000:
        return False
    return int(note[5:]) % 3 == 0
$$;
CREATE FUNCTION trimmed(s TEXT) RETURNS TEXT LANGUAGE python STRICT AS $$ return s.strip() $$;
CREATE FUNCTION lowered(s TEXT) RETURNS TEXT LANGUAGE python STRICT AS $$ return s.lower() $$;
CREATE FUNCTION spaced(s TEXT) RETURNS TEXT LANGUAGE python STRICT AS $$ return s.replace('-', ' ') $$;
CREATE FUNCTION head(s TEXT) RETURNS TEXT LANGUAGE python STRICT AS $$ return s.partition(' ')[0] $$;
CREATE FUNCTION length_of(s TEXT) RETURNS BIGINT LANGUAGE python STRICT AS $$ return len(s) $$;
";

/// The queries.
pub const QUERIES: [Query; 9] = [
    Query {
        name: "predicate over Parquet",
        sql: "SELECT sum(c0), sum(c17) FROM wide WHERE is_cheap(price)",
        by_hand: "SELECT sum(c0), sum(c17) FROM wide WHERE price < 200",
    },
    Query {
        name: "arithmetic over Parquet",
        sql: "SELECT sum(c0), sum(c17) FROM wide WHERE fee(price) < 200",
        by_hand: "SELECT sum(c0), sum(c17) FROM wide WHERE price * 1.21 + 3 < 200",
    },
    Query {
        name: "cheap guard first",
        sql: "SELECT sum(c0), sum(c17) FROM wide WHERE picked(id, note)",
        by_hand: "SELECT sum(c0), sum(c17) FROM wide WHERE id < 20000 AND cast(substr(note, 6) AS BIGINT) % 3 = 0",
    },
    Query {
        name: "five calls deep",
        sql: "SELECT sum(length_of(head(spaced(lowered(trimmed(title)))))) FROM memory",
        by_hand: "SELECT sum(length(split_part(replace(lower(btrim(title)), '-', ' '), ' ', 1))) FROM memory",
    },
    Query {
        name: "call in SELECT and WHERE",
        sql: "SELECT sum(bedrooms(facts_and_features)) FROM memory WHERE bedrooms(facts_and_features) < 4",
        by_hand: "SELECT sum(n) FROM (SELECT try_cast(btrim(CASE WHEN strpos(split_part(facts_and_features, ' bd', 1), ',') > 0 \
                  THEN substr(split_part(split_part(facts_and_features, ' bd', 1), ',', -1), 2) \
                  ELSE split_part(facts_and_features, ' bd', 1) END) AS BIGINT) AS n FROM memory) WHERE n < 4",
    },
    Query {
        name: "call above a join",
        sql: "SELECT count(*), sum(sqft(l.facts_and_features)) FROM memory AS l \
              JOIN (VALUES ('MA'), ('ny'), ('Texas')) AS k (state) ON l.state = k.state WHERE sqft(l.facts_and_features) > 900",
        by_hand: "SELECT count(*), sum(n) FROM (SELECT try_cast(btrim(replace(CASE WHEN \
                  strpos(split_part(facts_and_features, ' sqft', 1), 'ba ,') > 0 \
                  THEN substr(split_part(split_part(facts_and_features, ' sqft', 1), 'ba ,', -1), 2) \
                  ELSE substr(split_part(facts_and_features, ' sqft', 1), 5) END, ',', '')) AS BIGINT) AS n FROM memory AS l \
                  JOIN (VALUES ('MA'), ('ny'), ('Texas')) AS k (state) ON l.state = k.state) WHERE n > 900",
    },
    Query { name: "logs by split", sql: include_str!("../../../sql/logs_split.sql"), by_hand: LOGS_BY_HAND },
    Query { name: "logs by find", sql: include_str!("../../../sql/logs_find.sql"), by_hand: LOGS_BY_HAND },
    Query { name: "logs by match", sql: include_str!("../../../sql/logs_match.sql"), by_hand: LOGS_BY_PATTERN },
];

/// A query of [`QUERIES`], or `z1`, as a person would write it.
pub fn by_hand(name: &str) -> Option<String> {
    match name {
        "z1" => Some(programs::z1_by_hand()),
        _ => Some(QUERIES.iter().find(|query| query.name == name)?.by_hand.to_string()),
    }
}

/// The parts of a line in SQL, and what is made of them.
const LOGS_BY_HAND: &str = "SELECT l.ip, l.date, l.method, \
     CASE WHEN starts_with(l.endpoint, '/~') THEN concat('/~', upper(substr(md5(split_part(substr(l.endpoint, 3), '/', 1)), 1, 10)), \
     substr(l.endpoint, 3 + length(split_part(substr(l.endpoint, 3), '/', 1)))) ELSE l.endpoint END AS endpoint, \
     l.protocol, l.response_code, l.content_size FROM (SELECT split_part(line, ' ', 1) AS ip, \
     concat(substr(split_part(line, ' ', 4), 2, 11), ' ', substr(split_part(line, ' ', 4), 14)) AS date, substr(split_part(line, ' ', 6), 2) AS method, \
     rtrim(split_part(line, ' ', 7), '\"') AS endpoint, rtrim(split_part(line, ' ', 8), '\"') AS protocol, \
     coalesce(try_cast(split_part(line, ' ', -2) AS BIGINT), -1) AS response_code, \
     CASE WHEN split_part(line, ' ', -1) = '-' THEN 0 ELSE coalesce(try_cast(split_part(line, ' ', -1) AS BIGINT), -1) END AS content_size \
     FROM logs WHERE rtrim(split_part(line, ' ', 7), '\"') <> '') AS l JOIN bad_addresses AS b ON l.ip = b.ip";

/// The same by one regular expression.
const LOGS_BY_PATTERN: &str = "SELECT l.ip, l.date, l.method, \
     CASE WHEN starts_with(l.endpoint, '/~') THEN concat('/~', upper(substr(md5(split_part(substr(l.endpoint, 3), '/', 1)), 1, 10)), \
     substr(l.endpoint, 3 + length(split_part(substr(l.endpoint, 3), '/', 1)))) ELSE l.endpoint END AS endpoint, \
     l.protocol, l.response_code, l.content_size FROM (SELECT g[1] AS ip, \
     concat(split_part(g[4], ':', 1), ' ', substr(g[4], strpos(g[4], ':') + 1)) AS date, g[5] AS method, \
     g[6] AS endpoint, g[7] AS protocol, CAST(g[8] AS BIGINT) AS response_code, \
     CASE WHEN g[9] = '-' THEN 0 ELSE coalesce(try_cast(g[9] AS BIGINT), -1) END AS content_size \
     FROM (SELECT regexp_match(line, '^(\\S+) (\\S+) (\\S+) \\[([\\w:/]+)\\s[+\\-]\\d{4}\\] \"(\\S+) (\\S+)\\s*(\\S*)\" (\\d{3}) (\\S+)$') AS g \
     FROM logs) AS m WHERE g IS NOT NULL) AS l JOIN bad_addresses AS b ON l.ip = b.ip";

/// Columns of the wide table besides `id`, `price` and `note`.
const COLUMNS: usize = 30;

/// Names the lines of the log.
const SEED: u64 = 20;

/// Writes `logs.parquet`, `bad_addresses.parquet` and `wide.parquet`: prices that rise from row to row, as times do, in row groups of
/// 50,000 rows.
///
/// # Errors
/// If it cannot be written.
pub async fn prepare(folder: &Path, rows: usize) -> Result<()> {
    let context = SessionContext::new();
    for (name, schema, batches) in [
        ("logs", logs_schema(), Logs::new(SEED, rows, 8192).collect()),
        ("bad_addresses", bad_addresses().schema(), vec![bad_addresses()]),
    ] {
        let path = folder.join(format!("{name}.parquet"));
        if !path.exists() {
            let path = path.to_str().context("the folder's name is not UTF-8")?;
            context.register_table(name, Arc::new(MemTable::try_new(schema, vec![batches])?))?;
            // Several row groups, so that partitions can share them.
            let copy = format!("COPY {name} TO '{path}' STORED AS PARQUET OPTIONS (max_row_group_size 100000)");
            context.sql(&copy).await?.collect().await?;
        }
    }
    let path = folder.join("wide.parquet");
    if path.exists() {
        return Ok(());
    }
    let path = path.to_str().context("the folder's name is not UTF-8")?;
    let columns: Vec<String> =
        (0..COLUMNS).map(|column| format!("(value * {} + {column}) % 1000003 AS c{column}", 7919 + column)).collect();
    // A twentieth beyond ASCII, a fiftieth NULL.
    let sql = format!(
        "COPY (SELECT value AS id, CASE WHEN value % 50 = 17 THEN NULL ELSE value * 0.01 + (value * 7919 % 1000) * 0.001 END AS price, \
         concat(CASE WHEN value % 20 = 3 THEN 'númer' ELSE 'numbr' END, value) AS note, {} \
         FROM generate_series(0, {})) TO '{path}' STORED AS PARQUET OPTIONS (max_row_group_size 50000)",
        columns.join(", "),
        rows.saturating_sub(1)
    );
    context.sql(&sql).await?.collect().await?;
    Ok(())
}

/// A session's tables and functions for the queries.
///
/// # Errors
/// If they cannot be made.
pub async fn register(context: &SessionContext, folder: &Path) -> Result<()> {
    for name in ["wide", "logs", "bad_addresses"] {
        let path = folder.join(format!("{name}.parquet"));
        let path = path.to_str().context("the folder's name is not UTF-8")?;
        context.register_parquet(name, path, ParquetReadOptions::default()).await?;
    }
    register_listings(context, folder).await
}

/// Makes the functions.
///
/// # Errors
/// If one is refused.
pub async fn define(session: &ExuviaSession) -> Result<()> {
    session.sql(FUNCTIONS).await?.collect().await?;
    session.load_functions("udfs/logs.py")?;
    Ok(())
}
