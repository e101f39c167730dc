//! Filters and projections around calls: each call once, and for no row that the query as
//! written excludes before it.

use crate::common::{fails, parquet, physical, rows, run, session};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use expect_test::expect;
use exuvia::{ExuviaBuilder, ExuviaSession};

async fn table() -> ExuviaSession {
    let session = session();
    run(&session, "SET datafusion.execution.target_partitions = 3").await;
    run(
        &session,
        "CREATE FUNCTION is_number(s TEXT) RETURNS BOOLEAN LANGUAGE python AS $$ return s.isdigit() $$;
         CREATE FUNCTION to_int(s TEXT) RETURNS BIGINT LANGUAGE python AS $$ return int(s) $$;
         CREATE FUNCTION plus(x BIGINT, y BIGINT DEFAULT 1) RETURNS BIGINT STRICT LANGUAGE python AS $$ return x + y $$;
         CREATE TABLE t AS VALUES (1, '1'), (2, 'x'), (3, '3'), (NULL, '4'), (5, '55')",
    )
    .await;
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conjunct_sees_the_rows_that_earlier_ones_left() {
    let session = table().await;
    let sql = "SELECT column2 FROM t WHERE is_number(column2) AND to_int(column2) > 3";
    assert_eq!(rows(&session, sql).await, "4\n55");
    let sql = "SELECT column2 FROM t WHERE column2 <> 'x' AND to_int(column2) > 3 AND to_int(column2) < 50";
    assert_eq!(rows(&session, sql).await, "4");
    // As written the other way round it fails.
    let error = fails(&session, "SELECT column2 FROM t WHERE to_int(column2) > 3 AND is_number(column2)").await;
    assert!(error.starts_with("ValueError: invalid literal for int() with base 10: 'x'"), "{error}");
    // A function in the result is not called for rows that the filter drops.
    let sql = "SELECT to_int(column2) FROM t WHERE is_number(column2)";
    assert_eq!(rows(&session, sql).await, "1\n3\n4\n55");
    // Nor behind OR, CASE and COALESCE.
    let sql = "SELECT column1 FROM t WHERE NOT is_number(column2) OR to_int(column2) > 4";
    assert_eq!(rows(&session, sql).await, "2\n5");
    let sql = "SELECT CASE WHEN is_number(column2) THEN to_int(column2) ELSE -1 END AS n FROM t WHERE column1 < 9";
    assert_eq!(rows(&session, sql).await, "-1\n1\n3\n55");
    let sql = "SELECT coalesce(column1, to_int(column2)) FROM t WHERE column2 <> 'y'";
    assert_eq!(rows(&session, sql).await, "1\n2\n3\n4\n5");
    let sql = "SELECT column1 = 2 OR to_int(column2) > 3 FROM t WHERE column1 > 0";
    assert_eq!(rows(&session, sql).await, "false\nfalse\ntrue\ntrue");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_computed_once() {
    let session = table().await;
    let sql = "SELECT * FROM (SELECT column1, plus(column1) AS p, plus(plus(column1), 1) AS q FROM t)
               WHERE p > 2 AND q < 7 AND p < 100";
    assert_eq!(rows(&session, sql).await, "2 | 3 | 4\n3 | 4 | 5");
    expect![[r#"
        PythonExec: steps=[loop(#1=plus(column1@0, 1), where #1 > 2, where #1 < 100, #2=plus(#1, 1), where #2 < 7)], expr=[column1@0, #1 as p, #2 as q]
          RepartitionExec: partitioning=RoundRobinBatch(3), input_partitions=1
            DataSourceExec: partitions=1, partition_sizes=[1]"#]]
    .assert_eq(&physical(&session, sql).await);
    // 5 rows for the first, and the 3 of them that pass for the second.
    let counted = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert!(counted.contains("rows=8 [native=8"), "{counted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_call_stays_in_its_projection() {
    let session = table().await;
    expect![[r#"
        ProjectionExec: expr=[plus(column1@0, 1) as p]
          DataSourceExec: partitions=1, partition_sizes=[1]"#]]
    .assert_eq(&physical(&session, "SELECT plus(column1) AS p FROM t").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn volatile_expressions_stay_where_they_are() {
    let session = table().await;
    let plan = physical(&session, "SELECT plus(column1) FROM t WHERE random() < 2 AND plus(column1) > 1").await;
    let (fused, rest) = plan.split_once("FilterExec: random() < 2").expect("a filter of its own");
    assert!(!fused.contains("random") && !rest.contains("plus"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_joins_and_aggregates_go_on_top() {
    let session = table().await;
    run(&session, "CREATE TABLE many AS SELECT value AS x FROM range(0, 50000)").await;
    let sql = "SELECT plus(x, x) AS y FROM many WHERE plus(x, x) % 3 = 0 LIMIT 7";
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM ({sql})")).await, "7");
    let sql = "SELECT sum(y), count(*) FROM (SELECT plus(x, x) AS y FROM many) WHERE y >= 10 AND y % 4 = 0";
    assert_eq!(rows(&session, sql).await, expected());
    let sql = "SELECT a.x, plus(b.x) FROM many a JOIN many b ON a.x = plus(b.x) WHERE plus(a.x) > 49998";
    assert_eq!(rows(&session, sql).await, "49998 | 49998\n49999 | 49999");
    let sql = "SELECT plus(x) AS y FROM many WHERE plus(x) > 10 ORDER BY y DESC LIMIT 2";
    assert_eq!(rows(&session, sql).await, "49999\n50000");
    let sql = "SELECT count(*) FROM many WHERE plus(x) > 10 AND plus(x) <= 20";
    assert_eq!(rows(&session, sql).await, "10");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_computed_is_taken_from_the_pool() {
    let with_limit = |bytes: usize| {
        let runtime = RuntimeEnvBuilder::new().with_memory_limit(bytes, 1.0).build_arc().unwrap();
        let state = SessionStateBuilder::new().with_default_features().with_runtime_env(runtime).with_exuvia().build();
        ExuviaSession::from(SessionContext::new_with_state(state))
    };
    let sql = "SELECT count(*) FROM (SELECT longer(s) AS a, longer(s || 'x') AS b FROM t) WHERE a <> b AND b <> ''";
    // The results of all rows take 60 MiB, those of one 8 KiB: batches are divided until they fit.
    for (bytes, enough) in [(4 << 10, false), (2 << 20, true), (256 << 20, true)] {
        let session = with_limit(bytes);
        run(
            &session,
            "SET datafusion.execution.target_partitions = 1;
             CREATE FUNCTION longer(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$ return s * 1000 $$;
             CREATE TABLE t AS SELECT cast(value AS TEXT) AS s FROM range(0, 8000)",
        )
        .await;
        if enough {
            assert_eq!(rows(&session, sql).await, "8000");
        } else {
            let error = fails(&session, sql).await;
            assert!(error.contains("Resources exhausted") && error.contains("PythonExec[0]"), "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_that_cannot_fail_find_their_order() {
    let session = session();
    run(
        &session,
        "SET datafusion.execution.target_partitions = 1; SET exuvia.inline = off;
         CREATE FUNCTION costly(s TEXT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$
             return (s.upper() + s.lower() + s.title()).upper() != s
         $$;
         CREATE FUNCTION rare(x BIGINT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$ return x % 100 == 3 $$;
         CREATE FUNCTION whole(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return int(s) $$;
         CREATE TABLE many AS SELECT value AS x, concat('ké', value) AS s,
             CASE WHEN value = 99999 THEN 'x' ELSE cast(value AS TEXT) END AS n FROM range(0, 100000)",
    )
    .await;
    let calls = |plan: &str, call: &str| {
        let rows = plan.split(&format!("{call}: native, rows=")).nth(1).unwrap_or_else(|| panic!("{plan}"));
        rows.split(' ').next().and_then(|rows| rows.parse::<usize>().ok()).unwrap_or_else(|| panic!("{plan}"))
    };
    let sql = "SELECT count(*), min(s) FROM many WHERE costly(s) AND rare(x)";
    assert_eq!(rows(&session, sql).await, "1000 | ké10003");
    let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    // As written until enough was seen.
    assert!((16_384..50_000).contains(&calls(&plan, "costly(s)")), "{plan}");
    assert!(plan.find("rare(x@").expect("it is called") < plan.find("costly(s@").expect("it is called"), "{plan}");
    // In a good order it stays.
    let plan = rows(&session, "EXPLAIN ANALYZE SELECT count(*) FROM many WHERE rare(x) AND costly(s)").await;
    assert_eq!(calls(&plan, "costly(s)"), 1000);
    // Of two that may fail none moves.
    let sql = "SELECT count(*) FROM many WHERE whole(n) >= 0 AND whole(n) % 100 = 3 AND x < 99999";
    let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert_eq!(calls(&plan, "whole(n)"), 99_999);
}

/// Sum and count of the doubles from 10 that are multiples of 4.
fn expected() -> String {
    let doubles: Vec<i64> = (0..50_000).map(|x| x + x).filter(|y| *y >= 10 && y % 4 == 0).collect();
    format!("{} | {}", doubles.iter().sum::<i64>(), doubles.len())
}

/// Over Parquet, where a scan would take any projection, as over a table in memory.
#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_made_once_over_a_scan() {
    let session = session();
    run(&session, "SET datafusion.execution.target_partitions = 2").await;
    run(
        &session,
        "CREATE FUNCTION parts(t TEXT) RETURNS STRUCT<a BIGINT, b BIGINT, c TEXT> LANGUAGE python AS $$
            return {'a': len(t), 'b': t.find('b'), 'c': t.strip()}
         $$;
         CREATE FUNCTION words(t TEXT) RETURNS TEXT[] LANGUAGE python AS $$ return t.split() $$;
         CREATE FUNCTION size(t TEXT) RETURNS BIGINT LANGUAGE python AS $$ return len(t.strip()) * 3 % 7 $$",
    )
    .await;
    let query = "SELECT 'é ' || repeat('ab ', n % 5) AS t, n FROM (SELECT unnest(range(0, 100)) AS n) AS r";
    let _folder = parquet(&session, query, 50).await;
    run(&session, &format!("CREATE TABLE m AS {query}")).await;
    for (query, calls) in [
        ("SELECT sum(r['a']), sum(r['b']), max(r['c']) FROM (SELECT parts(t) AS r FROM T) AS q WHERE r['b'] > 3", 100),
        ("SELECT r['a'], r['b'], r['c'] FROM (SELECT parts(t) AS r FROM T) AS q", 100),
        ("SELECT r['a'] + r['b'], n FROM (SELECT parts(t) AS r, n FROM T) AS q WHERE n < 50", 50),
        ("SELECT parts(t)['a'], parts(t)['b'] FROM T WHERE parts(t)['b'] > 3", 100),
        ("SELECT sum(parts(t)['a']), min(parts(t)['c']) FROM T", 100),
        ("SELECT r['c'], count(*) FROM (SELECT parts(t) AS r FROM T) AS q GROUP BY r['c'] ORDER BY r['c']", 100),
        ("SELECT r['a'] FROM (SELECT parts(t) AS r FROM T) AS q ORDER BY r['b'], r['c']", 100),
        ("SELECT row_number() OVER (PARTITION BY r['a'] ORDER BY r['b']) FROM (SELECT parts(t) AS r FROM T) AS q", 100),
        ("SELECT w[1], w[2], w FROM (SELECT words(t) AS w FROM T) AS q WHERE array_length(w) > 1", 100),
        ("SELECT w[1] || w[2], cardinality(w) FROM (SELECT words(t) AS w FROM T) AS q", 100),
        ("SELECT array_to_string(w, ','), w[1] FROM (SELECT words(t) AS w FROM T) AS q WHERE w[1] <> 'x'", 100),
        ("SELECT CAST(s AS DOUBLE) AS d, CAST(s AS TEXT) AS t, s + 1 FROM (SELECT size(t) AS s FROM T) AS q", 100),
        ("SELECT CAST(size(t) AS DOUBLE) AS d, size(t) % 2, n FROM T WHERE size(t) + 1 > 2 AND n >= 50", 50),
        ("SELECT sum(s), avg(s), max(s) FROM (SELECT size(t) AS s FROM T) AS q WHERE s > 1", 100),
        ("SELECT DISTINCT r['a'] FROM (SELECT parts(t) AS r FROM T) AS q WHERE r['a'] > 2 OR r['b'] = 1", 100),
        (
            "SELECT x['a'], x['b'] FROM (SELECT parts(t) AS x, n FROM T) AS l JOIN (SELECT n AS k FROM T) AS r ON n = k",
            100,
        ),
    ] {
        let (stored, held) = (query.replace("FROM T", "FROM p"), query.replace("FROM T", "FROM m"));
        assert_eq!(rows(&session, &stored).await, rows(&session, &held).await, "{query}");
        for query in [stored, held] {
            let counted = rows(&session, &format!("EXPLAIN ANALYZE {query}")).await;
            let made: usize = counted
                .split("rows=")
                .skip(1)
                .filter_map(|rest| rest.split_once(" [native="))
                .filter_map(|(rows, _)| rows.parse::<usize>().ok())
                .sum();
            assert_eq!(made, calls, "{query}\n{counted}");
        }
    }
}

/// Rows of a few kilobytes are read in batches of some hundreds, with and without filters, and rows of a few bytes
/// in batches of the session's size.
#[tokio::test(flavor = "multi_thread")]
async fn wide_rows_are_read_in_smaller_batches() {
    let session = session();
    run(&session, "SET datafusion.execution.target_partitions = 2").await;
    run(&session, "CREATE FUNCTION total(xs BIGINT[]) RETURNS BIGINT LANGUAGE python AS $$ return sum(xs) $$").await;
    run(&session, "CREATE FUNCTION next(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return n + 1 $$").await;
    let query = "SELECT n, CASE WHEN n % 100 = 7 THEN NULL ELSE range(n, n + 600) END AS xs
                 FROM (SELECT unnest(range(0, 4000)) AS n) AS r";
    // Neither compressed nor as a dictionary, as random numbers would be.
    run(&session, "SET datafusion.execution.parquet.compression = 'uncompressed'").await;
    run(&session, "SET datafusion.execution.parquet.dictionary_enabled = false").await;
    let _folder = parquet(&session, query, 4000).await;
    run(&session, &format!("CREATE TABLE m AS {query}")).await;
    for (query, is_wide) in [
        ("SELECT n, next(n), xs FROM T", true),
        // What is small is joined.
        ("SELECT n, total(xs) FROM T WHERE xs IS NOT NULL", false),
        ("SELECT n, next(n), xs FROM T WHERE total(xs) % 7 < 5 AND xs IS NOT NULL", true),
        ("SELECT n, next(n) FROM T", false),
        ("SELECT n, next(n) FROM T WHERE next(n) > 3", false),
    ] {
        let (stored, held) = (query.replace("FROM T", "FROM p"), query.replace("FROM T", "FROM m"));
        assert_eq!(rows(&session, &stored).await, rows(&session, &held).await, "{query}");
        let most = run(&session, &stored).await.iter().map(|batch| batch.num_rows()).max();
        assert_eq!(most.is_some_and(|most| most <= 2000), is_wide, "{query}: {most:?}");
    }
    let few = rows(&session, "SELECT total(xs) FROM p WHERE xs IS NOT NULL LIMIT 3").await;
    assert_eq!(few.lines().count(), 3);
}

/// Each term of an OR is evaluated for the rows that all terms before it left open; what those are
/// is said once, not again for each term.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_or_has_steps_of_bounded_size() {
    let session = table().await;
    let any = |terms: usize| {
        let terms: Vec<String> =
            (0..terms).map(|at| format!("plus(length(column2) + plus(column1, {at}), 1) = 7")).collect();
        format!("SELECT column1 FROM t WHERE {}", terms.join(" OR "))
    };
    let size = async |terms| physical(&session, &any(terms)).await.len();
    let (few, many) = (size(100).await, size(400).await);
    assert!(many < 5 * few, "{few}, {many}");
    assert_eq!(rows(&session, &any(400)).await, "1\n2\n3");
    assert_eq!(rows(&session, &any(4)).await, "2\n3");
}
