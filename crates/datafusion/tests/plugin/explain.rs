//! What EXPLAIN and `exuvia.functions` tell, and that it is what happens.

use crate::common::{rows, run, session};
use datafusion::arrow::array::AsArray;
use expect_test::expect;
use exuvia::ExuviaSession;

/// The row that EXPLAIN adds.
async fn told(session: &ExuviaSession, sql: &str) -> String {
    let mut found = vec![];
    for batch in run(session, sql).await {
        let (kinds, plans) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
        for (kind, plan) in kinds.iter().zip(plans) {
            if kind == Some("exuvia_functions") {
                found.push(plan.unwrap_or_default().to_string());
            }
        }
    }
    found.join("\n---\n")
}

const FUNCTIONS: &str = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x + 1 $$;
    CREATE FUNCTION g(s TEXT) RETURNS BIGINT LANGUAGE python AS $$ return int(s) $$;
    CREATE TABLE t AS VALUES (1, 'a'), (2, '3')";

#[tokio::test(flavor = "multi_thread")]
async fn explain_shows_each_call_once() {
    let session = session();
    run(&session, FUNCTIONS).await;
    expect![[r#"
        f(f(column1)): native
        f(column1): native
        g(column2): native"#]]
    .assert_eq(
        &told(&session, "EXPLAIN SELECT f(column1), f(f(column1)), f(column1) * 2 FROM t WHERE g(column2) > 1").await,
    );
    assert_eq!(told(&session, "EXPLAIN SELECT column1 FROM t").await, "");
    // Programs read the other formats.
    assert_eq!(told(&session, "EXPLAIN FORMAT PGJSON SELECT f(column1) FROM t").await, "");
    expect!["f(column1): native"]
        .assert_eq(&told(&session, "EXPLAIN SELECT column1 FROM t WHERE column1 IN (SELECT f(column1) FROM t)").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn analyze_counts_the_rows_of_each_way() {
    let session = session();
    run(&session, FUNCTIONS).await;
    expect!["f(column1): native, rows=2 [native=2, evaluator=0, python=0]"]
        .assert_eq(&told(&session, "EXPLAIN ANALYZE SELECT f(column1) FROM t").await);
    run(&session, "CREATE TABLE big AS VALUES (1), (9223372036854775807)").await;
    run(&session, "CREATE FUNCTION h(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return (x + 1) // 2 $$").await;
    expect!["h(column1): native, rows=2 [native=1, evaluator=1, python=0]"]
        .assert_eq(&told(&session, "EXPLAIN ANALYZE SELECT h(column1) FROM big").await);
}

#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_left_for_cpython_say_why() {
    let session = session();
    run(&session, "CREATE TABLE urls AS VALUES ('http://a.b/x'), ('http://mü.de/')").await;
    let body = "from urllib.parse import urlsplit\ndef host(url):\n    return urlsplit(url).hostname";
    run(&session, &format!("CREATE FUNCTION host(url TEXT) RETURNS TEXT LANGUAGE python AS $$\n{body}\n$$")).await;
    expect!["host(column1): native, rows=2 [native=1, evaluator=0, python=1]; a row left for CPython: a host in brackets, or one that is not ASCII, line 4: return urlsplit(url).hostname"]
    .assert_eq(&told(&session, "EXPLAIN ANALYZE SELECT host(column1) FROM urls").await);
    expect![
        "a row left for CPython: a host in brackets, or one that is not ASCII, line 4: return urlsplit(url).hostname"
    ]
    .assert_eq(&rows(&session, "SELECT reason FROM exuvia.functions").await);
    expect!["host(column1): native, rows=1 [native=1, evaluator=0, python=0]"]
        .assert_eq(&told(&session, "EXPLAIN ANALYZE SELECT host(column1) FROM (SELECT * FROM urls LIMIT 1)").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_of_functions_tells_fallbacks() {
    let session = session();
    run(&session, FUNCTIONS).await;
    run(&session, "SELECT f(9223372036854775807 - column1) FROM t").await;
    let sql = "SELECT name, signature, volatility, placement, fallbacks, reason FROM exuvia.functions";
    expect![[r#"
        f | f(x BIGINT) RETURNS BIGINT | immutable | native | 0 | NULL
        g | g(s TEXT) RETURNS BIGINT | immutable | native | 0 | NULL"#]]
    .assert_eq(&rows(&session, sql).await);
    run(&session, "SET exuvia.native = off; SELECT f(column1) FROM t").await;
    expect![[r#"
        f | f(x BIGINT) RETURNS BIGINT | immutable | evaluator | 2 | S002 the setting exuvia.native is off
        g | g(s TEXT) RETURNS BIGINT | immutable | evaluator | 0 | S002 the setting exuvia.native is off"#]]
    .assert_eq(&rows(&session, sql).await);
}
