//! Functions of tables, columns and groups, and those that give rows: the surface, the plans,
//! the limits. What their answers are is compared with CPython in `tests/kinds`.

mod aggregates;
mod arrays;
mod columns;
mod faults;
mod models;
mod rows;
mod tables;

use crate::common::{fails, rows, run, session};
use exuvia::ExuviaSession;

/// A session with tables of dirty rows: `t` (id, g, x), in one partition.
pub async fn with_tables() -> ExuviaSession {
    let session = session();
    run(
        &session,
        "CREATE TABLE t (id BIGINT, g TEXT, x DOUBLE) AS VALUES
           (1, 'a', 1.5), (2, 'b', NULL), (3, 'a', 4.0), (4, 'é', 2.0), (5, NULL, -0.0)",
    )
    .await;
    session
}

/// The line of EXPLAIN about calls.
pub async fn explained(session: &ExuviaSession, sql: &str) -> String {
    use datafusion::arrow::array::AsArray;
    for batch in run(session, &format!("EXPLAIN {sql}")).await {
        let (kinds, plans) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
        for (kind, plan) in kinds.iter().zip(plans) {
            if kind == Some("exuvia_functions") {
                return plan.unwrap_or_default().to_string();
            }
        }
    }
    String::new()
}

/// Views use the functions of every kind that there are, not those that there were.
#[tokio::test(flavor = "multi_thread")]
async fn views_follow_functions_of_every_kind() {
    let session = with_tables().await;
    let create = |add: u32| {
        format!(
            "CREATE OR REPLACE FUNCTION whole(t TABLE (id BIGINT)) RETURNS TABLE (y BIGINT) LANGUAGE python
               AS $$ return [(i + {add},) for i in t['id']] $$;
             CREATE OR REPLACE FUNCTION words(n BIGINT) RETURNS SETOF BIGINT LANGUAGE python AS $$ yield n + {add} $$;
             CREATE OR REPLACE FUNCTION col(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd
def col(x: pd.Series) -> pd.Series:
    return x.fillna(0) + {add}
$$;
             CREATE OR REPLACE FUNCTION group_sum(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (kind 'aggregate') AS $$
def group_sum(x):
    return sum(x) + {add}
$$"
        )
    };
    run(&session, &create(0)).await;
    let views = [
        ("SELECT max(y) AS a FROM whole((SELECT id FROM t))", "5", "15"),
        ("SELECT max(q.words) AS a FROM t, LATERAL words(id) AS q", "5", "15"),
        ("SELECT max(c) AS a FROM (SELECT col(x) AS c FROM t)", "4.0", "14.0"),
        ("SELECT max(c) AS a FROM (SELECT col(x) OVER (PARTITION BY g) AS c FROM t)", "4.0", "14.0"),
        ("SELECT group_sum(id) AS a FROM t", "15", "25"),
        ("SELECT max(c) AS a FROM (SELECT group_sum(id) OVER () AS c FROM t)", "15", "25"),
    ];
    for (at, (query, before, _)) in views.iter().enumerate() {
        run(&session, &format!("CREATE VIEW v{at} AS {query}")).await;
        assert_eq!(rows(&session, &format!("SELECT a FROM v{at}")).await, *before, "{query}");
    }
    run(&session, &create(10)).await;
    for (at, (query, _, after)) in views.iter().enumerate() {
        assert_eq!(rows(&session, &format!("SELECT a FROM v{at}")).await, *after, "{query}");
    }
    run(&session, "DROP FUNCTION whole, words, col, group_sum").await;
    for at in 0..views.len() {
        let error = fails(&session, &format!("SELECT a FROM v{at}")).await;
        assert!(error.contains("any more, which a view calls"), "{error}");
    }
}
