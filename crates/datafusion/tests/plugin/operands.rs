//! Calls in what is grouped, aggregated, sorted and numbered by are computed below, once.

use crate::common::{fails, physical, rows, run, session};
use exuvia::ExuviaSession;

async fn table() -> ExuviaSession {
    let session = session();
    run(&session, "SET datafusion.execution.target_partitions = 2; SET exuvia.inline = off").await;
    run(
        &session,
        "CREATE FUNCTION kind(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$ return s[:1].upper() $$;
         CREATE FUNCTION size(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return len(s) * 3 $$;
         CREATE FUNCTION whole(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return int(s) $$;
         CREATE FUNCTION dice(x BIGINT) RETURNS BIGINT VOLATILE LANGUAGE python AS $$
             import random
             return random.randrange(x)
         $$;
         CREATE TABLE t AS SELECT value AS id, CASE WHEN value % 10 = 3 THEN NULL
             ELSE concat(CASE WHEN value % 4 = 0 THEN 'é' ELSE 'x' END, repeat('y', value % 5)) END AS s FROM range(0, 100)",
    )
    .await;
    session
}

/// The result with every setting, which must be the same, and the plan.
async fn both(session: &ExuviaSession, sql: &str) -> (String, String) {
    run(session, "SET exuvia.fuse = off").await;
    let expected = rows(session, sql).await;
    run(session, "SET exuvia.fuse = on").await;
    assert_eq!(rows(session, sql).await, expected, "{sql}");
    let plan = physical(session, sql).await;
    // No operator but ours and projections evaluates a call.
    for line in plan.lines().map(str::trim_start) {
        let ours = line.starts_with("PythonExec") || line.starts_with("ProjectionExec");
        // The names of columns contain calls too.
        let calls = ["kind(s@", "size(s@", "whole(s@"].iter().any(|call| line.contains(call));
        assert!(ours || !calls, "{plan}");
    }
    (expected, plan)
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_and_aggregates() {
    let session = table().await;
    let (result, plan) = both(
        &session,
        "SELECT kind(s), count(*), sum(size(s)), min(size(s) + id) FROM t WHERE size(s) > 3 GROUP BY kind(s)",
    )
    .await;
    assert_eq!(result, "X | 50 | 510 | 7\nÉ | 20 | 210 | 19");
    assert!(plan.contains("PythonExec: steps=[loop(#2=size(s@1), where #2 > 3, #3=kind(s@1))]"), "{plan}");
    both(&session, "SELECT kind(s) AS k, size(s) AS n, count(*) FROM t GROUP BY ROLLUP (kind(s), size(s))").await;
    both(
        &session,
        "SELECT kind(s) AS k, size(s) AS n, grouping(kind(s)) FROM t GROUP BY GROUPING SETS ((kind(s)), (size(s)))",
    )
    .await;
    both(&session, "SELECT count(DISTINCT kind(s)), count(kind(s)) FROM t").await;
    both(&session, "SELECT array_agg(id ORDER BY size(s), id) FROM t WHERE id < 20").await;
    both(&session, "SELECT DISTINCT kind(s) FROM t").await;
    both(&session, "SELECT kind(s), max(size(s)) FROM t GROUP BY kind(s) HAVING kind(s) <> 'X' AND max(size(s)) > 0")
        .await;
    both(&session, "SELECT CASE WHEN size(s) > 6 THEN kind(s) END AS k, count(*) FROM t GROUP BY 1").await;
    // A cast has the name of what it casts.
    let sql = "SELECT string_agg(CAST(size(s) AS TEXT), ',' ORDER BY size(s), id), max(size(s)) FROM t WHERE id < 30";
    both(&session, sql).await;
    let counted = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert!(counted.contains("size(s): native, rows=30 [native=30"), "{counted}");
    // A name that a column has.
    both(&session, "SELECT max(size(s)) FROM (SELECT s, id AS \"size(t.s)\" FROM t)").await;
    run(&session, "CREATE TABLE u AS SELECT s, id AS \"size(u.s)\" FROM t").await;
    run(&session, "SET exuvia.fuse = on").await;
    assert_eq!(rows(&session, "SELECT max(size(s)), max(\"size(u.s)\") FROM u").await, "15 | 99");
}

#[tokio::test(flavor = "multi_thread")]
async fn windows() {
    let session = table().await;
    let sql = "SELECT id, row_number() OVER (PARTITION BY kind(s) ORDER BY size(s) DESC, id) AS n,
               sum(size(s)) OVER (PARTITION BY kind(s)) AS total FROM t WHERE id < 30";
    let (result, plan) = both(&session, sql).await;
    assert_eq!(result.lines().count(), 30);
    assert_eq!(plan.matches("kind(s@").count(), 1, "{plan}");
    let sql =
        "SELECT * FROM (SELECT id, lag(size(s)) OVER (ORDER BY whole(CAST(id AS TEXT))) AS before FROM t) WHERE id = 2";
    both(&session, sql).await;
    // What is selected beside is computed once with it.
    for sql in [
        "SELECT id, size(s) + 1 AS n, rank() OVER (ORDER BY size(s)) AS r FROM t WHERE id < 30",
        "SELECT CASE WHEN id % 2 = 0 THEN size(s) END AS n, sum(size(s)) OVER (PARTITION BY id % 3) AS r FROM t WHERE id < 30",
    ] {
        both(&session, sql).await;
        let counted = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
        assert!(counted.contains("size(s): native, rows=30 [native=30"), "{counted}");
    }
    // Only the rows of the filter are aggregated, but the key is needed for all.
    run(&session, "SET exuvia.fuse = on").await;
    let sql = "SELECT id, sum(size(s)) FILTER (WHERE id > 50) OVER (PARTITION BY kind(s)) AS n FROM t WHERE id > 96";
    assert_eq!(rows(&session, sql).await, "97 | 36\n98 | 36\n99 | 36");
}

#[tokio::test(flavor = "multi_thread")]
async fn sorts() {
    let session = table().await;
    let (_, plan) = both(&session, "SELECT id FROM t ORDER BY size(s) DESC, kind(s), id").await;
    assert_eq!(plan.matches("size(s@").count(), 1, "{plan}");
    let sql = "SELECT id, size(s) AS n FROM t ORDER BY kind(s) DESC, n, id LIMIT 5";
    both(&session, sql).await;
    let ordered = |sql: &'static str| {
        let session = session.clone();
        async move {
            let mut ids = vec![];
            for batch in run(&session, sql).await {
                ids.extend(batch.column(0).to_data().buffers()[0].typed_data::<i64>()[..batch.num_rows()].to_vec());
            }
            ids
        }
    };
    assert_eq!(ordered("SELECT id FROM t WHERE id < 6 ORDER BY size(s) DESC NULLS LAST, id").await, [4, 2, 1, 0, 5, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_without_keys() {
    let session = table().await;
    run(&session, "CREATE TABLE u AS SELECT value * 2 AS n, concat('x', value) AS s FROM range(0, 4)").await;
    for sql in [
        "SELECT t.id, u.n FROM t JOIN u ON size(t.s) > u.n + 4 AND kind(u.s) <= kind(t.s) || '' AND t.id < 20",
        "SELECT t.id, u.n FROM t LEFT JOIN u ON size(t.s) < u.n OR size(u.s) = u.n",
        "SELECT t.id, u.n FROM t FULL JOIN u ON size(t.s) < u.n - size(u.s)",
        "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE size(t.s) < size(u.s) + u.n)",
        "SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE size(t.s) < size(u.s) + u.n)",
        "SELECT a.id, b.id FROM t AS a JOIN t AS b ON size(a.s) > size(b.s) + 6 WHERE a.id < 10 AND b.id < 10",
        "SELECT id FROM t JOIN (SELECT 1 AS one WHERE 1 > 2) AS nobody ON size(s) > one",
    ] {
        both(&session, sql).await;
    }
    let counted = rows(&session, "EXPLAIN ANALYZE SELECT count(*) FROM t JOIN u ON size(t.s) > u.n").await;
    assert!(counted.contains("size(s): native, rows=100 [native=100"), "{counted}");
    // Nobody asks this where there are no pairs.
    let sql = "SELECT id FROM t JOIN (SELECT 1 AS one WHERE 1 > 2) AS nobody ON whole(s) > one";
    assert_eq!(rows(&session, sql).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_stay_stays() {
    let session = table().await;
    // The argument is not evaluated for rows that FILTER excludes.
    let sql = "SELECT sum(whole(s)) FILTER (WHERE s = '1') FROM (VALUES ('1'), ('x')) AS v (s)";
    assert_eq!(rows(&session, sql).await, "1");
    let error = fails(&session, "SELECT sum(whole(s)) FROM (VALUES ('1'), ('x')) AS v (s)").await;
    assert!(error.starts_with("ValueError: invalid literal for int()"), "{error}");
    // What is never NULL.
    let sql = "SELECT (kind(s) = 'X') IS NOT FALSE, count(*), min(kind(s) IS NULL) FROM t GROUP BY (kind(s) = 'X') IS NOT FALSE";
    assert_eq!(rows(&session, sql).await, "false | 25 | false\ntrue | 75 | false");
    // Texts would be exchanged and sorted with the rows.
    let sql = "SELECT id, first_value(kind(s)) OVER (PARTITION BY id % 3 ORDER BY id) AS k FROM t WHERE id < 4";
    let (_, plan) = both(&session, sql).await;
    assert!(!plan.lines().any(|line| line.contains("PythonExec") && line.contains("kind(")), "{plan}");
    run(&session, "SET exuvia.fuse = on").await;
    // Chance.
    let plan = physical(&session, "SELECT dice(id) AS d, count(*) FROM t GROUP BY dice(id)").await;
    assert_eq!(plan.matches("dice(id@").count(), 1, "{plan}");
}
