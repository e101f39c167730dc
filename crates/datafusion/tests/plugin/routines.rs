//! Functions of tables, columns and groups, and those that give rows: the surface, the plans,
//! the limits. What their answers are is compared with CPython in `tests/kinds`.

mod aggregates;
mod arrays;
mod columns;
mod faults;
mod models;
mod rows;
mod tables;

use crate::common::{run, session};
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
