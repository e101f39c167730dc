//! What a user writes ends, within bounds: statements that are deep or long, functions that
//! are large or slow.

use crate::common::{fails, rows, run, session};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn chains_of_conditions_of_any_length_are_planned() {
    let session = session();
    run(&session, "CREATE TABLE t AS SELECT value AS x FROM generate_series(0, 20000) AS g(value)").await;
    let any = (0..10_000).map(|at| format!("x = {}", at * 3)).collect::<Vec<_>>().join(" OR ");
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t WHERE {any}")).await, "6667");
    run(&session, "CREATE FUNCTION next(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS 'return x + 1'").await;
    let list = (0..5000).map(|at| (at * 3 + 1).to_string()).collect::<Vec<_>>().join(", ");
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t WHERE next(x) IN ({list})")).await, "5000");
    let any = (0..2000).map(|at| format!("next(x) = {}", at * 3 + 1)).collect::<Vec<_>>().join(" OR ");
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t WHERE {any}")).await, "2000");
    let all = (0..460).map(|at| format!("x <> {}", at * 3)).collect::<Vec<_>>().join(" AND ");
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t WHERE {all}")).await, "19541");
    // The order of the terms stays: a call that may fail is made where those on its left hold.
    run(&session, "CREATE FUNCTION share(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return 100 // x'").await;
    let kept = vec!["x IS NOT NULL"; 100].join(" AND ");
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t WHERE x > 10 AND {kept} AND share(x) > 5")).await, "6");
}

/// The parser tries two readings where a word may begin an expression or be a name: without a bound
/// of its own each level would double the time.
#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_read_in_too_many_ways_is_refused() {
    let session = session();
    let nested =
        |open: &str, within: &str, close: &str| format!("SELECT {}{within}{}", open.repeat(40), close.repeat(40));
    let texts = [
        nested("NOT (", "true x y", ")"),
        nested("NOT (", "true", ")").replace("SELECT", "SELECT NOT (((((((((((((((((((((("),
        nested("CAST(", "1 1", " AS BIGINT)"),
        nested("CASE (", "1", ") WHEN 1 THEN 1 END"),
        nested("ARRAY[", "1 1", "]"),
        format!("SELECT * FROM {}t x y z{}", "(".repeat(40), ")".repeat(40)),
        format!(
            "CREATE FUNCTION f(a BIGINT DEFAULT {}1 x{}) RETURNS BIGINT LANGUAGE python AS 'return a'",
            "NOT (".repeat(60),
            ")".repeat(60)
        ),
    ];
    for sql in texts {
        let error = fails(&session, &sql).await;
        assert!(
            ["it can be read in too many ways", "recursion limit", "Expected", "expected"]
                .iter()
                .any(|part| error.contains(part)),
            "{sql}: {error:.300}"
        );
    }
    for sql in [nested("ROW(", "1", ")"), nested("percentile_cont(0.5) WITHIN GROUP (ORDER BY ", "1", ")")] {
        let error = fails(&session, &sql).await;
        assert!(error.contains("nested more than 250 deep") || error.contains("recursion limit"), "{error:.300}");
    }
    // What people write is read as before.
    let sum = vec!["CAST(NOT (1 = 2) AS BIGINT)"; 200].join(" + ");
    assert_eq!(rows(&session, &format!("SELECT {sum} AS s")).await, "200");
    let levels = 12;
    let text = format!("SELECT {}true{} AS b", "NOT (".repeat(levels), ")".repeat(levels));
    assert_eq!(rows(&session, &text).await, "true");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_nested_too_deeply_is_refused() {
    let session = session();
    let chains = [
        format!("SELECT {}", vec!["1"; 8000].join(" + ")),
        format!("SELECT {}", vec!["'a'"; 100_000].join(" || ")),
        format!("SELECT 1 WHERE {}", vec!["1 < 2"; 10_000].join(" AND ")),
        vec!["SELECT 1"; 5000].join(" UNION ALL "),
        format!("CREATE TABLE u AS SELECT {}", vec!["1"; 8000].join(" * ")),
        format!("EXPLAIN SELECT {}", vec!["1"; 8000].join(" - ")),
        format!("SELECT count(*) FROM {}", vec!["(SELECT 1)"; 600].join(", ")),
        format!("SELECT CAST(NULL AS BIGINT{})", "[]".repeat(5000)),
        format!(
            "CREATE FUNCTION f(a BIGINT DEFAULT {}) RETURNS BIGINT LANGUAGE python AS 'return a'",
            vec!["1"; 3000].join("+")
        ),
        format!("PREPARE p AS SELECT {}", vec!["$1"; 8000].join(" - ")),
        // What the optimizer makes AND of.
        format!("SELECT 1 WHERE NOT ({})", vec!["1 = 2"; 1000].join(" OR ")),
        format!("SELECT 1 WHERE ({}) = false", vec!["1 = 2"; 1000].join(" OR ")),
        format!("SELECT CASE WHEN {} THEN 1 END", vec!["1 = 2"; 1000].join(" OR ")),
    ];
    for sql in chains {
        let error = fails(&session, &sql).await;
        assert!(error.contains("nested more than 250 deep"), "{error:.300}");
    }
    for sql in [format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000)), format!("SELECT {}1", "- ".repeat(5000))] {
        assert!(fails(&session, &sql).await.contains("recursion limit"));
    }
    let error = fails(
        &session,
        &format!("CREATE FUNCTION f(a BIGINT{}) RETURNS BIGINT LANGUAGE python AS 'return 1'", "[]".repeat(3000)),
    )
    .await;
    assert!(error.contains("arrays are nested more than 32 deep"), "{error:.300}");
    // What is within the bound is planned, optimised, compiled and run on any thread.
    run(&session, "CREATE TABLE v (x BIGINT); INSERT INTO v VALUES (1), (NULL)").await;
    run(&session, "CREATE FUNCTION one(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS 'return x'").await;
    // Expressions that calls become do not get deeper than that, either.
    let joins: String = (1..60).map(|at| format!(" JOIN v AS t{at} ON t{at}.x = t0.x")).collect();
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM v AS t0{joins}")).await, "1");
    let sum = vec!["1.0"; 22].join(" + ");
    run(
        &session,
        &format!("CREATE FUNCTION more(x DOUBLE) RETURNS DOUBLE STRICT LANGUAGE python AS 'return x + {sum}'"),
    )
    .await;
    let nested = format!("{}x{}", "more(".repeat(45), ")".repeat(45));
    assert_eq!(rows(&session, &format!("SELECT {nested} AS y FROM v WHERE {nested} > 7")).await, "991.0");
    for term in ["x", "one(x)"] {
        let sum = vec![term; 245].join(" + ");
        assert_eq!(rows(&session, &format!("SELECT {sum} AS s FROM v")).await, "245\nNULL", "{term}");
    }
    assert_eq!(
        rows(&session, &vec!["SELECT x FROM v WHERE x = 1"; 240].join(" UNION ALL ")).await.lines().count(),
        240
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_does_not_copy_what_a_function_uses_twice() {
    let session = session();
    let double = "x = x + x\n".repeat(40);
    let sums = "a, b = b, a + b\n".repeat(38);
    let lines: String = (0..2000).map(|at| format!("x = x ^ {at}\n")).collect();
    run(
        &session,
        &format!(
            "CREATE FUNCTION doubled(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
{double}return x
$$;
CREATE FUNCTION sums(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
a, b = x, x
{sums}return a
$$;
CREATE FUNCTION lines(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
{lines}return x
$$;
CREATE TABLE t AS VALUES (1), (2), (NULL)"
        ),
    )
    .await;
    let found = rows(&session, "SELECT doubled(column1), sums(column1), lines(column1) FROM t").await;
    assert_eq!(found, "1099511627776 | 63245986 | 1\n2199023255552 | 126491972 | 2\nNULL | NULL | NULL");
    let plan = rows(&session, "EXPLAIN SELECT doubled(doubled(sums(column1))) FROM t WHERE sums(column1) > 7").await;
    assert!(plan.len() < 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_does_not_copy_a_column_that_each_level_uses_twice() {
    let session = session();
    run(&session, "CREATE FUNCTION inverse(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return 100 // (x + 1000)'")
        .await;
    run(&session, "CREATE TABLE t AS SELECT value AS x FROM generate_series(1, 3) AS g(value)").await;
    let chain = |levels: usize| {
        let each = |at: usize| format!("a{at} AS (SELECT inverse(x) + inverse(x + 1) AS x FROM a{})", at - 1);
        let levels = (1..=levels).map(each).collect::<Vec<_>>().join(", ");
        format!("WITH a0 AS (SELECT x FROM t), {levels} SELECT sum(x) FROM a")
    };
    for levels in [3, 40] {
        assert_eq!(rows(&session, &format!("{}{levels}", chain(levels))).await, "0");
    }
    run(&session, &format!("EXPLAIN {}40", chain(40))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_does_not_copy_a_struct_whose_fields_each_level_uses() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION st(x BIGINT) RETURNS STRUCT<a BIGINT, b TEXT> LANGUAGE python AS $$
           return {'a': x, 'b': str(x)}
         $$;
         CREATE TABLE t AS SELECT value AS v FROM generate_series(1, 3) AS g(value)",
    )
    .await;
    let each = |at: usize| format!("c{at} AS (SELECT st(x['a'] + length(x['b'])) AS x FROM c{})", at - 1);
    let levels = (1..=30).map(each).collect::<Vec<_>>().join(", ");
    let query = format!("WITH c0 AS (SELECT st(v) AS x FROM t), {levels} SELECT sum(x['a']) FROM c30");
    assert_eq!(rows(&session, &query).await, "162");
    assert!(rows(&session, &format!("EXPLAIN {query}")).await.len() < 20_000);
    run(&session, "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return x % 1000'").await;
    let each = |at: usize| {
        let made = format!("SELECT named_struct('a', f(x), 'b', f(x + 1)) AS s FROM d{}", at - 1);
        format!("d{at} AS (SELECT s['a'] + s['b'] AS x FROM ({made}) AS q)")
    };
    let levels = (1..=30).map(each).collect::<Vec<_>>().join(", ");
    run(&session, &format!("EXPLAIN WITH d0 AS (SELECT v AS x FROM t), {levels} SELECT sum(x) FROM d30")).await;
}

/// Functions that take long, with what is asked of them: native code is stopped within calls
/// and between rows, and a result that comes too late is an error.
#[tokio::test(flavor = "multi_thread")]
async fn native_calls_are_stopped() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION tree(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
def g(n):
    if n < 2: return n
    return g(n - 1) + g(n - 2)
def tree(n): return g(n)
$$;
CREATE FUNCTION long(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$
return len((s * 200000).replace('ab', 'cde').replace('cd', 'x').upper().lower())
$$;
CREATE TABLE t AS SELECT value AS n, 'ab' || value AS s FROM generate_series(60, 2000) AS g(value);
SET exuvia.timeout = '300ms'",
    )
    .await;
    for sql in ["SELECT tree(n) FROM t", "SELECT sum(long(s)) FROM t", "SELECT count(*) FROM t WHERE long(s) > n"] {
        let start = Instant::now();
        let error = fails(&session, sql).await;
        assert!(error.contains("ran out of its time"), "{sql}: {error}");
        assert!(start.elapsed() < Duration::from_secs(10), "{sql}: {:?}", start.elapsed());
    }
}

/// A module that does not end is stopped by the session's time, and by its cancelling.
#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn modules_are_stopped() {
    let endless = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import os
n = len(os.sep)
while n:
    n += 1
def f(x):
    return x + n
$$";
    let table = "CREATE FUNCTION g(t TABLE) RETURNS TABLE (x BIGINT) LANGUAGE python AS $$
while True: pass
def g(t):
    return t
$$";
    for sql in [endless, table] {
        let session = session();
        run(&session, "SET exuvia.timeout = '300ms'").await;
        let error = fails(&session, sql).await;
        assert!(error.contains("its module ran for more than 300ms"), "{error}");
        run(&session, "RESET exuvia.timeout").await;
        let other = session.clone();
        let start = Instant::now();
        let waiting = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            other.cancel();
        });
        let error = fails(&session, sql).await;
        assert!(error.contains("its module was cancelled"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(20));
        waiting.join().expect("cancels");
    }
}

/// Rows with results of megabytes: batches are divided, and nowhere stand more than some
/// hundred MiB.
#[tokio::test(flavor = "multi_thread")]
async fn large_results_make_smaller_batches() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION long(x BIGINT) RETURNS TEXT STRICT LANGUAGE python AS 'return str(x % 10) * 1000000';
CREATE FUNCTION maybe(x BIGINT) RETURNS TEXT STRICT LANGUAGE python AS $$
if x % 100:
    return str(x % 10) * 1000000
raise ValueError(x)
$$;
CREATE TABLE t AS SELECT value AS x FROM generate_series(1, 1500) AS g(value)",
    )
    .await;
    let sum = "SELECT sum(length(s)), max(n) FROM";
    let expected = "1500000000 | 1";
    assert_eq!(rows(&session, &format!("{sum} (SELECT long(x) AS s, 1 AS n FROM t)")).await, expected);
    assert_eq!(
        rows(&session, &format!("{sum} (SELECT long(x) AS s, 1 AS n FROM t WHERE long(x) > '')")).await,
        expected
    );
    run(&session, "SET exuvia.fault = loops").await;
    let filtered = "(SELECT long(x) AS s, 1 AS n FROM t WHERE long(x) > '')";
    assert_eq!(rows(&session, &format!("{sum} {filtered}")).await, expected);
    // What a filter leaves waits for others by its bytes, too.
    let batches = run(&session, &format!("SELECT * FROM {filtered} LIMIT 300")).await;
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 300);
    // The first one says how large the others may be.
    let batches = run(&session, &format!("SELECT * FROM {filtered}")).await;
    let counts: Vec<usize> = batches.iter().map(|batch| batch.num_rows()).collect();
    let many = counts.iter().filter(|rows| **rows > 70).count();
    assert!(counts.iter().sum::<usize>() == 1500 && many <= 1, "{counts:?} rows of a megabyte each");
    let error = fails(&session, "SELECT sum(length(maybe(x))) FROM t").await;
    assert!(error.contains("ValueError: 100"), "{error}");
    // Where a batch cannot be divided, it is an error.
    run(&session, "SET exuvia.fuse = off; SET exuvia.fault = off").await;
    let error = fails(&session, "SELECT sum(length(long(x))) FROM t").await;
    assert!(error.contains("the results of one batch take more than 512 MiB"), "{error}");
    run(&session, "SET datafusion.execution.batch_size = 100").await;
    assert_eq!(rows(&session, "SELECT sum(length(long(value))) FROM generate_series(1, 1500)").await, "1500000000");
}

/// Few words that stand for much: DataFusion would plan for hours, and in gigabytes.
#[tokio::test(flavor = "multi_thread")]
async fn statements_that_stand_for_too_much_are_refused() {
    let session = session();
    let columns: Vec<String> = (0..25).map(|at| format!("a{at}")).collect();
    let columns = columns.join(", ");
    run(&session, &format!("CREATE TABLE wide AS SELECT {}", columns.replace('a', "1 AS a"))).await;
    for group_by in [format!("CUBE ({columns})"), format!("CUBE ({}), CUBE ({})", &columns[..38], &columns[40..])] {
        let error = fails(&session, &format!("SELECT count(*) FROM wide GROUP BY {group_by}")).await;
        assert!(error.contains("CUBE of more than 12 columns"), "{error}");
    }
    let some = rows(&session, "SELECT count(*) FROM wide GROUP BY CUBE (a0, a1, a2)").await;
    assert_eq!(some.lines().count(), 8);
    let doubling = |times: usize| {
        let names = (1..=times).map(|at| {
            let before = at - 1;
            format!("c{at} AS (SELECT a.x FROM c{before} AS a JOIN C{before} AS b ON a.x = b.x)")
        });
        let names: Vec<String> = std::iter::once("c0 AS (SELECT 1 AS x)".to_string()).chain(names).collect();
        format!("WITH {} SELECT count(*) FROM c{times}", names.join(", "))
    };
    for sql in [doubling(20), format!("EXPLAIN {}", doubling(60)), format!("SELECT * FROM ({}) AS q", doubling(20))] {
        let error = fails(&session, &sql).await;
        assert!(error.contains("of WITH stands for"), "{error}");
    }
    assert_eq!(rows(&session, &doubling(4)).await, "1");
    // Columns that are computed from columns are written out where a condition on them is pushed down.
    let computed = |levels: usize| {
        let inner = "SELECT value > 2 AS a, value > 3 AS b FROM generate_series(1, 10)".to_string();
        let query =
            (0..levels).fold(inner, |query, _| format!("SELECT a AND NOT b AS a, b AND NOT a AS b FROM ({query})"));
        format!("SELECT count(*) FROM ({query}) WHERE a")
    };
    for sql in [computed(20), format!("EXPLAIN {}", computed(18))] {
        let error = fails(&session, &sql).await;
        assert!(error.contains("a condition stands for more than 100000 terms"), "{error}");
    }
    assert_eq!(rows(&session, &computed(4)).await, "1");
    // A list of constants is as long as it was written.
    let list: Vec<String> = (0..100_001).map(|at: u32| at.to_string()).collect();
    let sql = format!("SELECT count(*) FROM generate_series(1, 10) AS t(x) WHERE x * 3 + 1 IN ({})", list.join(", "));
    assert_eq!(rows(&session, &sql).await, "10");
    // So may views be, which are planned where they are used.
    run(&session, "CREATE VIEW w0 AS SELECT 1 AS x").await;
    let mut refused = None;
    for at in 1..=20 {
        let before = at - 1;
        let sql = format!("CREATE VIEW w{at} AS SELECT a.x FROM w{before} AS a JOIN w{before} AS b ON a.x = b.x");
        if let Err(error) = session.sql(&sql).await {
            refused = Some((at, error.to_string()));
            break;
        }
    }
    let (at, error) = refused.expect("views of views are refused");
    assert!(at >= 9 && error.contains("the views of the statement stand for"), "{at}: {error}");
    assert_eq!(rows(&session, "SELECT count(*) FROM w4").await, "1");
    // Names that are used once each are as many as one likes.
    let chain: Vec<String> = (1..100).map(|at| format!("c{at} AS (SELECT x + 1 AS x FROM c{})", at - 1)).collect();
    let sql = format!("WITH c0 AS (SELECT 1 AS x), {} SELECT x FROM c99", chain.join(", "));
    assert_eq!(rows(&session, &sql).await, "100");
}

/// A CASE within a CASE within … is looked at as a whole by each that looks at a part.
#[tokio::test(flavor = "multi_thread")]
async fn chains_of_case_are_planned_in_time() {
    let session = session();
    run(
        &session,
        "CREATE TABLE t AS SELECT value AS x FROM generate_series(1, 100);
         CREATE FUNCTION lp(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
             r = 0
             for i in range(x % 5):
                 r += i
             return r
         $$;
         CREATE FUNCTION g(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return x * 2'",
    )
    .await;
    let chain = |levels: usize| {
        let level = |at: usize| {
            format!(
                "c{} AS (SELECT x, CASE WHEN lp(x + {at}) = 1000 THEN g(x + {at}) ELSE y END AS y FROM c{at})",
                at + 1
            )
        };
        let names: Vec<String> = (0..levels).map(level).collect();
        format!("WITH c0 AS (SELECT x, x AS y FROM t), {} SELECT sum(y) FROM c{levels}", names.join(", "))
    };
    assert_eq!(rows(&session, &chain(3)).await, "5050");
    let started = Instant::now();
    assert_eq!(rows(&session, &chain(30)).await, "5050");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

/// Messages of DataFusion show the call, and not what the plugin keeps for it.
#[tokio::test(flavor = "multi_thread")]
async fn messages_of_datafusion_show_calls_by_name() {
    let session = session();
    run(&session, "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return 1 // x'").await;
    let error = fails(&session, "SELECT * FROM generate_series(1, 5) LIMIT f(0)").await;
    assert!(error.contains('f') && error.len() < 300, "{error}");
}

/// The error is that of the first row, also where CPython must finish that one.
#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn the_error_is_that_of_the_first_row() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION g(s TEXT) RETURNS BIGINT LANGUAGE python AS $$
if len(s) == 1:
    return int(s)
raise ValueError('row ' + s.encode('cp1252').decode('utf-8'))
$$",
    )
    .await;
    run(&session, "CREATE TABLE s AS VALUES ('7'), ('aa'), ('x')").await;
    assert!(fails(&session, "SELECT g(column1) FROM s").await.contains("ValueError: row aa"));
}

/// STRUCTs of very many fields are left to CPython while the function is created.
#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn wide_structs_are_not_spread() {
    let session = session();
    let fields: Vec<String> = (0..700).map(|at| format!("f{at} BIGINT")).collect();
    let create = format!(
        "CREATE FUNCTION wide(x BIGINT) RETURNS STRUCT<{}> LANGUAGE python AS 'return None'",
        fields.join(", ")
    );
    run(&session, &create).await;
    let reasons = rows(&session, "SELECT reason FROM exuvia.functions WHERE name = 'wide'").await;
    assert!(reasons.contains("more than 600 fields"), "{reasons}");
}
