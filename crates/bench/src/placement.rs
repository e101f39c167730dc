//! Queries whose time depends on where calls are placed in the plan.

use crate::contenders::register_listings;
use anyhow::{Context, Result};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use exuvia::ExuviaSession;
use std::path::Path;

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
pub const QUERIES: [Query; 6] = [
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
];

/// Columns of the wide table besides `id`, `price` and `note`.
const COLUMNS: usize = 30;

/// Writes `wide.parquet`: prices that rise from row to row, as times do, in row groups of
/// 50,000 rows.
///
/// # Errors
/// If it cannot be written.
pub async fn prepare(folder: &Path, rows: usize) -> Result<()> {
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
    SessionContext::new().sql(&sql).await?.collect().await?;
    Ok(())
}

/// A session's tables and functions for the queries.
///
/// # Errors
/// If they cannot be made.
pub async fn register(context: &SessionContext, folder: &Path) -> Result<()> {
    let path = folder.join("wide.parquet");
    let path = path.to_str().context("the folder's name is not UTF-8")?;
    context.register_parquet("wide", path, ParquetReadOptions::default()).await?;
    register_listings(context, folder).await
}

/// Makes the functions.
///
/// # Errors
/// If one is refused.
pub async fn define(session: &ExuviaSession) -> Result<()> {
    session.sql(FUNCTIONS).await?.collect().await?;
    Ok(())
}
