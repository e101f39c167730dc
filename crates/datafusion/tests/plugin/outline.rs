//! A query fails only where, read from left to right, it fails.

use crate::common::{fails, rows, run, session, try_run};
use exuvia::ExuviaSession;

async fn tables() -> ExuviaSession {
    let session = session();
    run(
        &session,
        "CREATE TABLE t AS SELECT column1 AS k, column2 AS s FROM (VALUES (1, '1'), (2, 'x'), (3, '7')) AS v;
         CREATE TABLE u AS SELECT column1 AS k, column2 AS v FROM (VALUES (1, 1), (3, 7)) AS v;
         CREATE FUNCTION to_int(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return int(s) $$;
         CREATE FUNCTION slow_int(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$
            import json
            return json.loads(s)
         $$;
         CREATE FUNCTION guard(s TEXT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$
            n = 0
            for c in s:
                if not c.isdigit():
                    return False
                n += 1
            return n > 0
         $$;
         CREATE FUNCTION unsafe(s TEXT, n BIGINT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$
            if n > 5:
                return False
            return int(s) > 0
         $$;
         CREATE FUNCTION is_num(s TEXT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$ return s.isdigit() $$",
    )
    .await;
    session
}

/// Queries over `f`, none of which shows it the row with 'x', and what they give.
const QUERIES: &[(&str, &str)] = &[
    ("SELECT t.s FROM t JOIN u ON t.k = u.k WHERE f(t.s) > 3", "7"),
    ("SELECT t.s FROM t, u WHERE t.k = u.k AND f(t.s) > 3", "7"),
    ("SELECT t.s FROM t, u WHERE f(t.s) > 3 AND t.k = u.k", "7"),
    ("SELECT t.s FROM t JOIN u ON t.k = u.k AND f(t.s) > 3", "7"),
    ("SELECT t.s FROM t JOIN u ON t.k = u.k AND f(t.s) = u.v", "1\n7"),
    ("SELECT t.s FROM t JOIN u USING (k) WHERE f(t.s) = v", "1\n7"),
    ("SELECT s FROM t WHERE k IN (SELECT k FROM u) AND f(s) > 3", "7"),
    ("SELECT s FROM t WHERE f(s) > 3 AND k IN (SELECT k FROM u)", "7"),
    ("SELECT s FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k) AND f(s) > 3", "7"),
    ("SELECT s FROM t WHERE k NOT IN (SELECT k + 1 FROM u) AND f(s) > 3", "7"),
    ("SELECT y FROM (SELECT f(t.s) AS y FROM t JOIN u ON t.k = u.k) AS d WHERE y > 3", "7"),
    ("SELECT y FROM (SELECT f(t.s) AS y, t.k FROM t JOIN u ON t.k = u.k) AS d WHERE y > 3 AND k > 0", "7"),
    ("WITH d AS (SELECT k, s FROM t WHERE is_num(s)) SELECT d.s FROM d JOIN u ON d.k = u.k WHERE f(d.s) > 3", "7"),
    ("SELECT t.s FROM t LEFT JOIN u ON t.k = u.k WHERE u.k IS NOT NULL AND f(t.s) > 3", "7"),
    ("SELECT t.s FROM t RIGHT JOIN u ON t.k = u.k WHERE f(t.s) > 3", "7"),
    ("SELECT t.s, f(t.s) + 1 FROM t JOIN u ON t.k = u.k", "1 | 2\n7 | 8"),
    ("SELECT f(t.s), count(*) FROM t JOIN u ON t.k = u.k GROUP BY f(t.s) HAVING f(t.s) > 3", "7 | 1"),
    ("SELECT t.s FROM t JOIN u ON t.k = u.k ORDER BY f(t.s) LIMIT 1", "1"),
    ("SELECT s FROM (SELECT * FROM t WHERE k <> 2 UNION ALL SELECT * FROM t WHERE k = 1) AS d WHERE f(s) > 3", "7"),
    (
        "SELECT a.s FROM t AS a JOIN t AS b ON a.k = b.k JOIN u ON u.k = b.k WHERE f(a.s) < f(b.s) + 1 AND f(b.s) > 3",
        "7",
    ),
    ("SELECT s FROM t WHERE is_num(s) AND f(s) > 3 AND f(s) < 9", "7"),
    ("SELECT s FROM t WHERE (k = 1 OR k = 3) AND f(s) > 3", "7"),
    // A guard that has a loop, so that it is not total either.
    ("SELECT s FROM t WHERE guard(s) AND f(s) > 3", "7"),
    ("SELECT t.s FROM t JOIN u ON t.k = u.k WHERE guard(t.s) AND f(t.s) > 3", "7"),
    ("SELECT t.s FROM t JOIN u ON guard(t.s) AND f(t.s) = u.v", "1\n7"),
    ("SELECT t.s FROM t, u WHERE guard(t.s) AND f(t.s) = u.v", "1\n7"),
    ("SELECT s FROM t WHERE guard(s) AND f(s) IN (SELECT v FROM u)", "1\n7"),
    ("SELECT s FROM t WHERE guard(s) AND f(s) NOT IN (SELECT k FROM u)", "7"),
    ("SELECT s FROM t WHERE guard(s) AND unsafe(s, CAST(s AS BIGINT)) AND f(s) = 1", "1"),
    // Chance.
    ("SELECT t.s FROM t JOIN u ON t.k = u.k WHERE random() >= 0 AND f(t.s) > 3", "7"),
    ("SELECT s FROM t WHERE random() >= 0 AND k <> 2 AND f(s) > 3", "7"),
    // Limits.
    ("SELECT f(s) FROM t WHERE k <> 2 AND f(s) > 3 LIMIT 10", "7"),
    ("SELECT f(s) + 1 FROM (SELECT s FROM t WHERE k <> 2 LIMIT 10) AS d WHERE f(s) > 3", "8"),
];

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_the_query_excludes_are_not_evaluated() {
    let session = tables().await;
    let functions = if cfg!(feature = "python") { &["to_int", "slow_int"][..] } else { &["to_int"][..] };
    for function in functions {
        for (query, expected) in QUERIES {
            let query = query.replace("f(", &format!("{function}("));
            match try_run(&session, &query).await {
                Ok(_) => assert_eq!(rows(&session, &query).await, *expected, "{query}"),
                Err(error) => panic!("{query}\n{error}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_query_as_written_stays() {
    let session = tables().await;
    for query in [
        "SELECT s FROM t WHERE to_int(s) > 3",
        "SELECT t.s FROM t JOIN u ON to_int(t.s) = u.k",
        "SELECT t.s FROM t JOIN u ON true WHERE to_int(t.s) > 3",
    ] {
        let error = fails(&session, query).await;
        assert!(error.starts_with("ValueError: invalid literal for int() with base 10: 'x'"), "{query}\n{error}");
    }
}

/// Predicates go where they may: those without calls into the scan, total calls below joins.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_fail_is_pushed_down() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.parquet");
    let session = tables().await;
    run(&session, &format!("COPY t TO '{}' STORED AS PARQUET", file.display())).await;
    run(&session, &format!("CREATE EXTERNAL TABLE p STORED AS PARQUET LOCATION '{}'", file.display())).await;
    run(&session, "SET datafusion.execution.parquet.pushdown_filters = true").await;
    let plan = |sql: String| {
        let session = &session;
        async move { rows(session, &format!("EXPLAIN {sql}")).await }
    };
    let scan = |plan: &str| plan.lines().find(|line| line.contains("DataSourceExec")).unwrap_or_default().to_string();
    let found = plan("SELECT y FROM (SELECT to_int(s) AS y, k FROM p) AS d WHERE k <> 2 AND y > 3".into()).await;
    assert!(scan(&found).contains("k@0 != 2") && !scan(&found).contains("to_int"), "{found}");
    let found = plan("SELECT p.s FROM p JOIN u ON p.k = u.k WHERE is_num(p.s) AND p.k <> 2".into()).await;
    assert!(scan(&found).contains("is_num(s@1)"), "{found}");
    for query in [
        "SELECT s FROM p WHERE k <> 2 AND to_int(s) > 3",
        "SELECT p.s FROM p JOIN u ON p.k = u.k WHERE to_int(p.s) > 3",
        "SELECT s FROM p WHERE is_num(s) AND to_int(s) > 3",
    ] {
        assert_eq!(rows(&session, query).await, "7", "{query}");
    }
}

/// A predicate without calls goes on to the scan, to the right column of it.
#[tokio::test(flavor = "multi_thread")]
async fn predicates_without_calls_pass() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.parquet");
    let session = tables().await;
    run(
        &session,
        &format!(
            "COPY (SELECT column1 AS id, column2 AS n, column3 AS b FROM (VALUES (1, 7, NULL), (2, 7, 5), (3, 7, 6)) AS v)
             TO '{}' STORED AS PARQUET OPTIONS (max_row_group_size 1)",
            file.display()
        ),
    )
    .await;
    run(&session, &format!("CREATE EXTERNAL TABLE p STORED AS PARQUET LOCATION '{}'", file.display())).await;
    run(
        &session,
        "CREATE FUNCTION same(v BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
            if v == 123456:
                raise ValueError('r')
            return v
         $$",
    )
    .await;
    for pushdown in ["false", "true"] {
        run(&session, &format!("SET datafusion.execution.parquet.pushdown_filters = {pushdown}")).await;
        for columns in ["", ", l.n AS ln, o.n AS rn"] {
            let view = format!(
                "SELECT same(l.id) AS y, l.b AS lb, o.b AS ob, o.id AS oid{columns} FROM p AS l JOIN p AS o ON l.n = o.n"
            );
            let query = format!("SELECT y, lb, ob, oid FROM ({view}) AS d WHERE ob IS NULL");
            assert_eq!(
                rows(&session, &query).await,
                "1 | NULL | NULL | 1\n2 | 5 | NULL | 1\n3 | 6 | NULL | 1",
                "{query}"
            );
            let plan = rows(&session, &format!("EXPLAIN SELECT y FROM ({view}) AS d WHERE oid < 2")).await;
            assert!(plan.contains("predicate=id@0 < 2"), "{plan}");
        }
    }
    // Nor does a call that may go anywhere go to another column of that name.
    run(
        &session,
        "CREATE FUNCTION five(v BIGINT) RETURNS BOOLEAN LANGUAGE python OPTIONS (inline 'off') AS $$ return v is None or v == 5 $$;
         CREATE TABLE m AS SELECT * FROM p",
    )
    .await;
    for join in ["RIGHT", "LEFT", "FULL", "INNER"] {
        let query = |table: &str| {
            format!(
                "SELECT l.id, l.b, o.b, o.id FROM {table} AS l {join} JOIN {table} AS o ON l.n = o.n AND l.id <> o.id
                 WHERE five(l.b) AND (o.b IS NULL OR o.b > 0) AND NOT five(o.b)"
            )
        };
        assert_eq!(rows(&session, &query("p")).await, rows(&session, &query("m")).await, "{join}");
    }
    // One barrier, one prefilter, one evaluation.
    let plan =
        rows(&session, "EXPLAIN SELECT same(id) FROM p WHERE b <> 2 AND same(id) > 1 AND same(n) > 2 LIMIT 1000").await;
    assert_eq!(plan.matches("PythonBarrier").count(), 1, "{plan}");
    let plan = rows(&session, "EXPLAIN SELECT t.s FROM t JOIN u ON t.k = u.k WHERE unsafe(t.s, t.k)").await;
    assert_eq!(plan.matches("Filter: t.k <= Int64(5)").count(), 1, "{plan}");
}
