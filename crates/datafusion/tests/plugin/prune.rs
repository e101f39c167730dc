//! What joins and sorts learn while they run drops rows before calls that they do not need.

use crate::common::{physical, rows, run, session};
use exuvia::ExuviaSession;

/// Calls in which nothing but the text of a row is known, so that none is inlined.
const FUNCTIONS: &str = "
    CREATE FUNCTION key_of(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$ return s.split('-')[0] $$;
    CREATE FUNCTION rest_of(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$ return s.split('-')[1].upper() $$;
    CREATE FUNCTION size_of(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return len(s.replace('é', 'ee')) * 2 $$;
    CREATE FUNCTION number_of(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return int(s.split('-')[1]) $$;
";

/// 40,000 rows in batches of 1,024, the first key of 400 and a number in a text, some of it
/// beyond ASCII, some NULL; and three keys.
async fn tables() -> ExuviaSession {
    let session = session();
    run(&session, "SET datafusion.execution.target_partitions = 1; SET datafusion.execution.batch_size = 1024").await;
    run(&session, FUNCTIONS).await;
    run(
        &session,
        "CREATE TABLE t AS SELECT value AS id, CASE WHEN value % 97 = 5 THEN NULL
           ELSE concat(CASE WHEN value % 3 = 0 THEN 'é' ELSE 'k' END, value % 400, '-', value) END AS s
         FROM range(0, 40000);
         CREATE TABLE keys AS VALUES ('k7'), ('é12'), ('k205'), ('none')",
    )
    .await;
    session
}

/// The result, which must be that of each call where it is written, and what EXPLAIN ANALYZE
/// says.
async fn both(session: &ExuviaSession, sql: &str) -> (String, String) {
    run(session, "SET exuvia.fuse = false").await;
    let expected = rows(session, sql).await;
    run(session, "SET exuvia.fuse = true").await;
    assert_eq!(rows(session, sql).await, expected, "{sql}");
    (expected, rows(session, &format!("EXPLAIN ANALYZE {sql}")).await)
}

/// The rows of a function's calls.
fn calls(analyzed: &str, call: &str) -> usize {
    let at = analyzed.find(&format!("{call}: native, rows=")).unwrap_or_else(|| panic!("no {call} in {analyzed}"));
    let rest = &analyzed[at..];
    let digits = rest[rest.find("rows=").map_or(0, |at| at + 5)..].split(' ').next().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("{digits} is no number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_a_join_spare_the_calls_behind_it() {
    let session = tables().await;
    let sql = "SELECT id, k, rest, size FROM (SELECT id, key_of(s) AS k, rest_of(s) AS rest, size_of(s) AS size FROM t
               WHERE size_of(s) > 8) JOIN keys ON k = column1";
    let (result, analyzed) = both(&session, sql).await;
    assert!(result.contains("7 | k7 | 407") || result.lines().count() > 90, "{result}");
    // The key of all rows that the condition leaves, the rest of those that join.
    assert!(calls(&analyzed, "key_of(s)") > 30_000, "{analyzed}");
    assert_eq!(calls(&analyzed, "rest_of(s)"), result.lines().count());
    assert!(analyzed.contains("prune DynamicFilter [ "), "{analyzed}");
    // A key that is a column goes before everything.
    let sql = "SELECT a.id, rest_of(s) FROM t AS a JOIN (VALUES (1), (39999), (40001)) AS b (id) ON a.id = b.id";
    let (result, analyzed) = both(&session, sql).await;
    assert_eq!(result, "1 | 1\n39999 | 39999");
    assert_eq!(calls(&analyzed, "rest_of(s)"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_rows_so_far_spare_calls() {
    let session = tables().await;
    let (result, analyzed) = both(&session, "SELECT id, rest_of(s) AS r FROM t ORDER BY id DESC LIMIT 3").await;
    assert_eq!(result, "39997 | 39997\n39998 | 39998\n39999 | 39999");
    assert!(calls(&analyzed, "rest_of(s)") <= 40_000, "{analyzed}");
    // Sorted the other way round the first batch has the best rows.
    let (result, analyzed) = both(&session, "SELECT id, rest_of(s) AS r FROM t ORDER BY id LIMIT 3").await;
    assert_eq!(result, "0 | 0\n1 | 1\n2 | 2");
    assert!(calls(&analyzed, "rest_of(s)") <= 2048, "{analyzed}");
    // By the result of one call, so that another is spared.
    let sql = "SELECT number_of(s) AS n, key_of(s) AS k FROM t ORDER BY n NULLS LAST LIMIT 4";
    let (result, analyzed) = both(&session, sql).await;
    assert_eq!(result, "0 | é0\n1 | k1\n2 | k2\n3 | é3");
    assert!(calls(&analyzed, "number_of(s)") > 39_000 && calls(&analyzed, "key_of(s)") <= 2048, "{analyzed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lets_most_rows_pass_is_left_out() {
    let session = tables().await;
    run(
        &session,
        "CREATE TABLE most AS SELECT concat(p, value) AS k FROM range(0, 390), (VALUES ('k'), ('é')) AS v (p)",
    )
    .await;
    let sql =
        "SELECT a.k, rest FROM (SELECT key_of(s) AS k, rest_of(s) AS rest FROM t) AS a JOIN most AS b ON a.k = b.k";
    let (result, analyzed) = both(&session, sql).await;
    let pruned = analyzed.split("pruned_rows=").nth(1).and_then(|rest| rest.split([',', ']']).next());
    // It was tried.
    assert!(pruned.is_some_and(|pruned| pruned != "0"), "{analyzed}");
    assert!(calls(&analyzed, "rest_of(s)") > result.lines().count(), "{analyzed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_below_keeps_its_rows() {
    let session = tables().await;
    let sql = "SELECT count(*), min(k) FROM (SELECT key_of(s) AS k, rest_of(s) AS rest FROM t
               WHERE size_of(s) > 0 LIMIT 500) AS a JOIN keys ON a.k = column1 WHERE rest <> ''";
    both(&session, sql).await;
    let sql = "SELECT n, k FROM (SELECT number_of(s) AS n, key_of(s) AS k FROM t WHERE size_of(s) > 0 LIMIT 700)
               ORDER BY n DESC LIMIT 2";
    both(&session, sql).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_raise_are_spared_but_never_added() {
    let session = tables().await;
    run(
        &session,
        "CREATE FUNCTION inverse(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return 1000 // (x - 39000) $$",
    )
    .await;
    // The condition excludes the row for which the key raises.
    let sql = "SELECT k, r FROM (SELECT inverse(id) AS k, rest_of(s) AS r FROM t WHERE id <> 39000)
               JOIN (VALUES (1000), (-1000)) AS b (n) ON k = n";
    let (result, _) = both(&session, sql).await;
    assert_eq!(result, "-1000 | NULL\n1000 | 39001");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_that_is_given_no_filter_stays_in_its_projection() {
    let session = tables().await;
    let plan = physical(&session, "SELECT size_of(s) FROM t ORDER BY id").await;
    assert!(!plan.contains("PythonExec"), "{plan}");
    let plan = physical(&session, "SELECT rest_of(s) FROM t ORDER BY id LIMIT 5").await;
    assert!(plan.contains("PythonExec") && plan.contains("prune DynamicFilter [ empty ]"), "{plan}");
    // The key alone: the join looks each up itself.
    let plan =
        physical(&session, "SELECT k FROM (SELECT number_of(s) AS k FROM t) JOIN (VALUES (7)) AS b (n) ON k = n").await;
    assert!(!plan.contains("PythonExec"), "{plan}");
    // Texts may be so long that batches are to be divided.
    let plan = physical(&session, "SELECT rest_of(s) FROM t").await;
    assert!(plan.contains("PythonExec"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_runs_again_learns_anew() {
    let session = tables().await;
    // Each round of the recursion joins other keys.
    let sql = "WITH RECURSIVE r (n, k, rest) AS (
                 SELECT CAST(7 AS BIGINT), 'k7', 'x'
                 UNION ALL
                 SELECT a.number + 1, a.k, a.rest FROM
                   (SELECT number_of(s) AS number, key_of(s) AS k, rest_of(s) AS rest FROM t) AS a
                   JOIN r ON a.number = r.n WHERE r.n < 12)
               SELECT * FROM r";
    let (result, _) = both(&session, sql).await;
    assert_eq!(result.lines().count(), 6, "{result}");
}

/// DataFusion hands filters down by the names of columns, of which a join may have two alike.
#[tokio::test(flavor = "multi_thread")]
async fn columns_of_one_name_are_told_apart() {
    let session = session();
    run(
        &session,
        "CREATE TABLE big AS VALUES (1, 1), (2, 2), (3, 3);
         CREATE TABLE b AS SELECT column1 AS k, column2 AS id FROM (VALUES (1, 11), (2, 12), (3, 13));
         CREATE TABLE s AS SELECT column1 AS id FROM (VALUES (11), (13));
         CREATE FUNCTION g(x BIGINT) RETURNS TEXT LANGUAGE python AS $$ return None if x is None else str(x) $$;
         CREATE VIEW a AS SELECT column1 AS id, column2 AS k, g(column1) AS gg FROM big",
    )
    .await;
    for partitions in [1, 3] {
        run(&session, &format!("SET datafusion.execution.target_partitions = {partitions}")).await;
        for (sql, expected) in [
            (
                "SELECT a.id, b.id, gg FROM a LEFT JOIN b ON a.k = b.k WHERE b.id IN (SELECT id FROM s)",
                "1 | 11 | 1\n3 | 13 | 3",
            ),
            ("SELECT a.id, b.id, gg FROM s JOIN (a LEFT JOIN b ON a.k = b.k) ON s.id = b.id", "1 | 11 | 1\n3 | 13 | 3"),
            (
                "SELECT bid, x FROM s JOIN (SELECT a.id AS aid, b.id AS bid, max(gg) AS x FROM a JOIN b ON a.k = b.k
                 GROUP BY a.id, b.id) AS z ON s.id = bid",
                "11 | 1\n13 | 3",
            ),
            (
                "SELECT bid, gg FROM (SELECT b.id AS bid, gg, rank() OVER (PARTITION BY gg ORDER BY b.id) AS r
                 FROM a JOIN b ON a.k = b.k) AS z WHERE EXISTS (SELECT 1 FROM s WHERE s.id = bid)",
                "11 | 1\n13 | 3",
            ),
        ] {
            assert_eq!(rows(&session, sql).await, expected, "{sql}");
        }
    }
}

/// DataFusion's joins take the zeros for equal, and the lists that they hand down do not.
#[tokio::test(flavor = "multi_thread")]
async fn zeros_and_nan_are_kept() {
    let session = session();
    run(
        &session,
        "SET datafusion.execution.target_partitions = 1; SET datafusion.execution.batch_size = 2;
         CREATE TABLE t AS SELECT column1 AS id, column2 AS x FROM (VALUES (1, -0.0), (2, 0.0), (3, 1.0),
             (4, 'NaN'::DOUBLE), (5, -1.0), (6, NULL), (7, -('NaN'::DOUBLE)), (8, 'Infinity'::DOUBLE));
         CREATE TABLE k AS SELECT column1 AS z, column2 AS n FROM (VALUES (0.0, 1), ('NaN'::DOUBLE, 2), (1.0, 3));
         CREATE FUNCTION g(x BIGINT) RETURNS TEXT LANGUAGE python AS $$ return str(x) $$",
    )
    .await;
    for sql in [
        "SELECT id, x, gg FROM k JOIN (SELECT id, x, g(id) AS gg FROM t) AS q ON z = x",
        "SELECT id, n, gg FROM k JOIN (SELECT id, arrow_cast(x, 'Float32') AS x, g(id) AS gg FROM t) AS q ON z = x",
        "SELECT id, gg FROM k JOIN (SELECT id, struct(x) AS x, g(id) AS gg FROM t) AS q ON struct(z) = x",
        "SELECT id, x, g(id) FROM t ORDER BY x, id LIMIT 3",
        "SELECT id, x, g(id) FROM t ORDER BY x DESC NULLS LAST, id LIMIT 5",
    ] {
        both(&session, sql).await;
    }
}
