//! Calls and the conditions between them as one native loop: the same results, errors and
//! counts as step by step.

use crate::common::{fails, rows, run, session};
use exuvia::ExuviaSession;

const TABLE: &str = "
CREATE TABLE t AS SELECT
    value AS id,
    CASE WHEN value % 7 = 3 THEN NULL WHEN value % 1000 = 999 THEN 9223372036854775807 ELSE value % 50 END AS n,
    CASE WHEN value % 11 = 5 THEN NULL WHEN value % 13 = 2 THEN 'NaN'::DOUBLE ELSE (value % 9 - 4) * 0.5 END AS x,
    CASE WHEN value % 5 = 1 THEN NULL WHEN value % 17 = 4 THEN 'größer als zwölf Bytes ' || value
         WHEN value % 17 = 6 THEN 'x' ELSE CAST(value AS VARCHAR) END AS s
FROM generate_series(0, 5999);
CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
    return n * 2 if n < 1000 else n * 2 // 4
$$;
CREATE FUNCTION half(x DOUBLE) RETURNS DOUBLE STRICT LANGUAGE python AS $$ return x / 2 $$;
CREATE FUNCTION number(s TEXT) RETURNS BIGINT LANGUAGE python OPTIONS (on_error 'null') AS $$ return int(s) $$;
CREATE FUNCTION strict_number(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return int(s) $$;
CREATE FUNCTION tail(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python AS $$
    if s is None:
        return 'none'
    return s[-3:] + '!' if n is None else s[n % 5:]
$$;
CREATE FUNCTION shout(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$ return s.upper() $$;
CREATE FUNCTION narrow(n BIGINT) RETURNS TINYINT STRICT LANGUAGE python AS $$ return n * 3 $$;
CREATE FUNCTION odd(n BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return None if n is None else n % 2 == 1 $$;
CREATE FUNCTION real(x DOUBLE) RETURNS REAL STRICT LANGUAGE python AS $$ return x * 1.1 $$";

async fn table() -> ExuviaSession {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET datafusion.execution.batch_size = 512").await;
    run(&session, TABLE).await;
    session
}

/// What the operator counted.
fn metric(plan: &str, name: &str) -> Option<String> {
    let start = plan.find(&format!("{name}="))? + name.len() + 1;
    plan[start..].split([',', ']']).next().map(str::to_string)
}

/// The result of a query without fusion, step by step, by loops, and where every guard fails
/// in them.
async fn same(session: &ExuviaSession, sql: &str) -> String {
    run(session, "SET exuvia.fuse = off; SET exuvia.fault = off").await;
    let apart = rows(session, sql).await;
    run(session, "SET exuvia.fuse = on").await;
    assert_eq!(same_as_steps(session, sql).await, apart, "step by step: {sql}");
    apart
}

/// The result of a query step by step, by loops, and where every guard fails in them.
async fn same_as_steps(session: &ExuviaSession, sql: &str) -> String {
    run(session, "SET exuvia.fault = off").await;
    let apart = rows(session, sql).await;
    for fault in ["guards", "loops"] {
        run(session, &format!("SET exuvia.fault = {fault}")).await;
        assert_eq!(rows(session, sql).await, apart, "{fault}: {sql}");
    }
    // Without this the rest would say nothing.
    let plan = rows(session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert!(metric(&plan, "loop_rows").is_some_and(|rows| rows != "0"), "no loop: {plan}");
    apart
}

#[tokio::test(flavor = "multi_thread")]
async fn loops_give_what_the_steps_give() {
    let session = table().await;
    for sql in [
        // Several calls without a condition; rows beyond 64 bits leave.
        "SELECT id, twice(n), tail(s, n), odd(n) FROM t",
        // Calls of calls, and one call in several places.
        "SELECT id, twice(twice(n)), half(half(x)), tail(tail(s, n), twice(n)) FROM t WHERE n < 50",
        "SELECT id, twice(n) FROM t WHERE twice(n) > 40 AND twice(twice(n)) < 180",
        // Every kind of condition.
        "SELECT id, s FROM t WHERE number(s) > 100 AND odd(number(s)) AND tail(s, n) <> 'none'",
        "SELECT id FROM t WHERE NOT odd(n) AND (number(s) IS NULL OR number(s) < 3000 OR number(s) = twice(n))",
        "SELECT id FROM t WHERE (odd(n) AND number(s) >= 10) IS NOT TRUE AND half(x) IS NOT NULL",
        "SELECT id, number(s), odd(n) FROM t WHERE number(s) IN (7, 14, 21, 2100) OR number(s) NOT BETWEEN 5 AND 5900",
        "SELECT id, odd(n) FROM t WHERE tail(s, n) IN ('!', '12', '7') OR tail(s, n) > '4' AND s <= 'z'",
        // A call on the right of OR is one of its own, after a loop.
        "SELECT id, odd(n) FROM t WHERE twice(n) > 8 AND (tail(s, n) = '!' OR shout(s) <= 'Z')",
        "SELECT id, number(s) + 2 * id FROM t WHERE number(s) * 3 - 7 > id + id AND twice(number(s)) - id > 9",
        "SELECT id, n FROM t WHERE twice(number(s)) NOT IN (4, 8, NULL) OR odd(id)",
        // SQL's NaN is greater than any number.
        "SELECT id, half(x), odd(n) FROM t WHERE half(x) > 0.75",
        "SELECT id, half(x), odd(n) FROM t WHERE NOT half(x) < 0.75",
        "SELECT id, half(x), odd(n) FROM t WHERE half(x) <= 0.5 AND half(x) <> -1.0 AND -0.75 < half(x)",
        "SELECT id, half(x) FROM t WHERE half(half(x)) = 0.25 OR 0.5 >= half(x) AND 9.0 > half(x)",
        // What a loop cannot do ends it: LIKE, a comparison with zero, CASE.
        "SELECT id, twice(n), shout(s) FROM t WHERE shout(s) LIKE '%1%' AND twice(n) > 2 AND number(s) > 5",
        "SELECT id, half(x), twice(n), odd(n) FROM t WHERE half(x) > 0.0 AND twice(n) > 10",
        "SELECT id, CASE WHEN odd(n) THEN twice(n) ELSE number(s) END, tail(s, n), shout(s) FROM t WHERE n < 60",
        "SELECT id, real(x), half(x) FROM t WHERE odd(id) AND half(x) < 3.0",
        // Nothing is left; few are.
        "SELECT id, twice(n), shout(s) FROM t WHERE number(s) < 0",
        "SELECT id, twice(n), shout(s) FROM t WHERE number(s) = 3000 OR id = 999",
    ] {
        same(&session, sql).await;
    }
    let numbers = (0..6000i64).filter(|id| id % 2 == 1 && id % 5 != 1 && id % 17 != 4 && id % 17 != 6);
    let sum: i64 = numbers.map(|id| if id < 1000 { id * 2 } else { id * 2 / 4 }).sum();
    let sql = "SELECT count(*), sum(twice(number(s))) FROM t WHERE odd(id) AND twice(id) > 0";
    assert_eq!(same(&session, sql).await, format!("3000 | {sum}"));
}

/// Calls behind AND, OR and CASE are made within the loop, for the rows that ask for them.
#[tokio::test(flavor = "multi_thread")]
async fn calls_for_some_rows_are_made_in_the_loop() {
    let session = table().await;
    run(
        &session,
        "CREATE FUNCTION share(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return 1000 // n $$;
         CREATE FUNCTION second(s TEXT) RETURNS TEXT LANGUAGE python AS $$ return s[1] $$",
    )
    .await;
    for sql in [
        // Each would fail for a row that does not ask for it.
        "SELECT id, odd(n) FROM t WHERE n IS NULL OR n = 0 OR share(n) > 100",
        "SELECT id, odd(n) FROM t WHERE odd(id) AND (n IS NULL OR n < 1 OR share(n) > 20 AND twice(n) < 70)",
        "SELECT id, CASE WHEN n = 0 THEN -1 WHEN n IS NULL THEN twice(id) ELSE share(n) END FROM t",
        "SELECT id, CASE WHEN odd(n) THEN share(n) WHEN n <> 0 THEN share(twice(n)) END FROM t WHERE twice(id) > 6",
        "SELECT id, CASE WHEN odd(n) THEN CASE WHEN n > 9 AND share(n) > 30 THEN twice(n) ELSE number(s) END END FROM t",
        "SELECT id, n IS NOT NULL AND n <> 0 AND share(n) > 50, tail(s, n) FROM t WHERE (s IS NULL OR length(s) < 2 OR second(s) > '3')",
        // What a loop cannot decide comes in as a column.
        "SELECT id, twice(n) FROM t WHERE s LIKE '%9%' OR n IS NULL OR n = 0 OR share(n) = twice(n)",
        "SELECT id FROM t WHERE NOT (n IS NOT NULL AND n > 0 AND share(n) > 100) AND twice(n) < 80",
        // More guards than one loop takes.
        "SELECT id FROM t WHERE n IS NULL OR n = 0 OR share(n) > 900 OR twice(n) = 3 OR odd(n) OR number(s) > 99 OR twice(id) < 20 OR half(x) > 0.25",
        "SELECT sum(CASE WHEN n > 0 THEN share(n) ELSE twice(id) END), count(*) FROM t GROUP BY odd(n)",
    ] {
        let found = same_as_steps(&session, sql).await;
        let plan = rows(&session, &format!("EXPLAIN {sql}")).await;
        assert!(plan.contains(" if "), "no guard: {plan}");
        run(&session, "SET exuvia.fault = off; SET exuvia.native = off").await;
        assert_eq!(rows(&session, sql).await, found, "{sql}");
        run(&session, "SET exuvia.native = on").await;
    }
    // All in one loop, and counted for what they were called.
    let sql = "SELECT id FROM t WHERE (n < 10 OR counted(n) > 60) AND odd(n) AND (n > 40 OR counted_too(n) < 90)";
    let define = "CREATE OR REPLACE FUNCTION counted(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
                      return n * 2 if n < 1000 else 0
                  $$;
                  CREATE OR REPLACE FUNCTION counted_too(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
                      return n * 3 if n < 1000 else 0
                  $$";
    let mut found = vec![];
    for fault in ["off", "loops"] {
        run(&session, &format!("SET exuvia.fault = {fault}")).await;
        run(&session, define).await;
        let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
        let lines = plan.lines().filter(|line| line.contains("counted") && line.contains("native"));
        found.push((rows(&session, sql).await, lines.map(str::to_string).collect::<Vec<_>>()));
    }
    assert_eq!(found[0], found[1]);
    let n = |id: i64| (id % 7 != 3).then_some(if id % 1000 == 999 { i64::MAX } else { id % 50 });
    // The condition that cannot fail and costs least comes first.
    let asked = (0..6000).filter(|id| n(*id).is_some_and(|n| n % 2 == 1 && n >= 10)).count();
    assert!(found[0].1.iter().any(|line| line.contains(&format!("rows={asked} "))), "{asked}: {:?}", found[0].1);
    let plan = rows(&session, &format!("EXPLAIN {sql}")).await;
    assert_eq!(plan.matches("loop(").count(), 1, "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_come_in_every_layout() {
    let session = table().await;
    for ty in ["Utf8", "LargeUtf8", "Utf8View", "Dictionary(Int32, Utf8)"] {
        let sql = format!(
            "SELECT id, shout(u), tail(u, id), number(u) FROM (SELECT id, arrow_cast(s, '{ty}') AS u FROM t) \
             WHERE shout(u) <> '12' AND number(u) IS NOT NULL"
        );
        same(&session, &sql).await;
    }
    for ty in ["TINYINT", "SMALLINT", "INT", "TINYINT UNSIGNED", "SMALLINT UNSIGNED", "INT UNSIGNED"] {
        let sql = format!(
            "SELECT id, twice(i), narrow(i), odd(i) FROM (SELECT id, CAST(id % 40 AS {ty}) AS i FROM t) \
             WHERE i <> 3 AND twice(i) >= i"
        );
        same(&session, &sql).await;
    }
    let unsigned = "SELECT id, odd(n), big(u), big(big(u)) FROM (SELECT id, n, CAST(n AS BIGINT UNSIGNED) AS u FROM t)";
    run(
        &session,
        "CREATE FUNCTION big(u BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED STRICT LANGUAGE python AS $$
             return u + 9223372036854775800 if u > 40 and u < 50 else u
         $$",
    )
    .await;
    same(&session, unsigned).await;
    let sql = "SELECT id, twice(n), odd(n) FROM (SELECT * FROM t ORDER BY id LIMIT 700) WHERE odd(n) AND twice(n) > 4";
    same(&session, sql).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_those_of_the_steps() {
    let session = session();
    // One partition, so that the first row in error is the same one each time.
    run(&session, "SET exuvia.inline = off; SET datafusion.execution.target_partitions = 1").await;
    run(&session, TABLE).await;
    for sql in [
        "SELECT id, twice(n), strict_number(s) FROM t",
        "SELECT id FROM t WHERE twice(n) < 80 AND strict_number(s) > 3",
        "SELECT id, narrow(n), odd(n) FROM t WHERE n < 60",
        "SELECT id, narrow(id % 60), narrow(n % 43) FROM t WHERE odd(n) AND twice(id) < 900",
    ] {
        let mut errors = vec![];
        for setting in ["fuse = off", "fuse = on", "fault = loops", "fault = guards"] {
            run(&session, &format!("SET exuvia.{setting}")).await;
            errors.push(fails(&session, sql).await);
        }
        assert_eq!(errors, vec![errors[0].clone(); 4]);
        run(&session, "SET exuvia.fault = off").await;
    }
    // A row that a condition drops is no error.
    let sql = "SELECT count(*) FROM t WHERE number(s) IS NOT NULL AND strict_number(s) >= 0 AND odd(id)";
    let numbers = (0..6000).filter(|id| id % 2 == 1 && id % 5 != 1 && id % 17 != 4 && id % 17 != 6).count();
    for fault in ["off", "loops", "guards"] {
        run(&session, &format!("SET exuvia.fault = {fault}")).await;
        assert_eq!(rows(&session, sql).await, numbers.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_is_compiled_when_it_pays_and_kept() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET datafusion.execution.target_partitions = 2").await;
    run(&session, TABLE).await;
    run(&session, "CREATE TABLE many AS SELECT id, n, s FROM t, generate_series(1, 100)").await;
    let sql = "SELECT count(*), sum(twice(n)), max(tail(s, n)) FROM many WHERE odd(id) AND n < 100 AND twice(n) > 10";
    let small = rows(&session, &format!("EXPLAIN ANALYZE {}", sql.replace("many", "t"))).await;
    assert_eq!(metric(&small, "loop_rows").as_deref(), Some("0"), "{small}");
    let counted = |plan: &str| {
        let start = plan.find("odd(id): native, rows=").map(|at| at + "odd(id): native, rows=".len());
        plan[start.unwrap_or(0)..].split(' ').next().map(str::to_string)
    };
    let first = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert!(metric(&first, "loop_rows").is_some_and(|rows| rows != "0"), "{first}");
    assert_eq!(counted(&first).as_deref(), Some("513800"), "{first}");
    let second = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert_eq!(metric(&second, "loop_rows").as_deref(), Some("600.0 K"), "{second}");
    assert_eq!(counted(&second).as_deref(), Some("513800"), "{second}");
    // Another definition of a function is another loop.
    let before = rows(&session, sql).await;
    run(
        &session,
        "CREATE OR REPLACE FUNCTION twice(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return n + n if n < 1000 else n $$",
    )
    .await;
    assert_eq!(rows(&session, sql).await, before);
    run(
        &session,
        "CREATE OR REPLACE FUNCTION twice(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return n * 3 $$",
    )
    .await;
    assert_ne!(rows(&session, sql).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_that_most_rows_leave_is_given_up() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET exuvia.fault = loops").await;
    run(&session, TABLE).await;
    let sql = "SELECT sum(a % 10), max(b) FROM (SELECT far(id) AS a, odd(id) AS b FROM t, generate_series(1, 10))";
    run(
        &session,
        "CREATE FUNCTION far(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
             return (n * 9223372036854775807 + n) % 9223372036854775807
         $$",
    )
    .await;
    let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    let exits = metric(&plan, "loop_exits").unwrap_or_default();
    assert!(exits.starts_with(['1', '2', '3', '4']) && exits.ends_with('K'), "{plan}");
    assert_eq!(rows(&session, sql).await, "270000 | true");
}

#[tokio::test(flavor = "multi_thread")]
async fn memoized_calls_stay_out_of_the_loop() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET datafusion.execution.target_partitions = 1").await;
    run(&session, TABLE).await;
    run(
        &session,
        "CREATE FUNCTION slow(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$
             out = ''
             for c in s * 9:
                 out = c + out
             return out
         $$;
         CREATE TABLE few AS SELECT id, 'kind ' || (id % 5) AS k, n, s FROM t, generate_series(1, 40) ORDER BY id",
    )
    .await;
    let sql = "SELECT count(*), max(slow(k)), sum(twice(id)), max(tail(s, n)) FROM few WHERE odd(id) AND twice(id) > 7";
    let apart = {
        run(&session, "SET exuvia.fuse = off").await;
        let apart = rows(&session, sql).await;
        run(&session, "SET exuvia.fuse = on").await;
        apart
    };
    assert_eq!(rows(&session, sql).await, apart);
    run(&session, "SET exuvia.fault = loops").await;
    let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert!(metric(&plan, "loop_rows").is_some_and(|rows| rows != "0"), "{plan}");
    let slow = plan.find("slow(k): native").map(|at| &plan[at..]).unwrap_or_default();
    assert!(slow.split(']').next().is_some_and(|slow| slow.contains("memoized=")), "{plan}");
    assert_eq!(rows(&session, sql).await, apart);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_can_be_stopped() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET exuvia.fault = loops; SET exuvia.timeout = '300ms'").await;
    run(
        &session,
        "CREATE FUNCTION spin(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
             at = 0
             while at < n * 1000000000000:
                 at += 2 - at % 2
             return at
         $$;
         CREATE FUNCTION next(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return n + 1 $$",
    )
    .await;
    let started = std::time::Instant::now();
    let error = fails(&session, "SELECT next(spin(value)), next(value) FROM generate_series(1, 100)").await;
    assert!(error.starts_with("ran out of its time"), "{error}");
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn ints_that_nobody_looks_at_fit_all_the_same() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET datafusion.execution.target_partitions = 1").await;
    run(
        &session,
        "CREATE FUNCTION two(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
             return 2 if n > 100 else 1
         $$;
         CREATE FUNCTION inc(n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return 1 if n < 0 else n + 1 $$;
         CREATE FUNCTION far(s TEXT) RETURNS BIGINT STRICT LANGUAGE python AS $$
             return 99999999999999999999 if s == 'x' else 3
         $$;
         CREATE FUNCTION first(a BIGINT, b BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
             return 7 if b == 3 else b
         $$;
         CREATE FUNCTION same(u BIGINT UNSIGNED) RETURNS BIGINT STRICT LANGUAGE python AS $$ return 4 if u == 3 else u $$;
         CREATE TABLE big AS SELECT column1 AS x, column2 AS y, column3 AS s, arrow_cast(column4, 'UInt64') AS u
         FROM (VALUES (9223372036854775807, 9223372036854775806, 'x', '18446744073709551614'),
                      (4611686018427387904, 4611686018427387904, 'y', '3'))",
    )
    .await;
    // SQL's arithmetic wraps.
    for (sql, expected) in [
        ("SELECT count(*) FROM big WHERE two(x) > 0 AND x >= 0 AND x + 1 > 0 AND two(y) > 0", "1"),
        ("SELECT two(x * y) FROM big WHERE x > 1 AND y > 100 AND two(x) = 2", "1\n1"),
        ("SELECT x FROM big WHERE x > 3 AND two(x) > 0 AND x * 4 >= 16 AND two(y) > 0", ""),
    ] {
        assert_eq!(same(&session, sql).await, expected, "{sql}");
    }
    for sql in [
        "SELECT count(*) FROM big WHERE inc(x) IS NOT NULL AND two(x) > 0",
        "SELECT s FROM big WHERE far(s) > 50 AND two(x) > 0",
        "SELECT s FROM big WHERE two(x) > 0 AND far(s) IS NOT NULL",
        "SELECT first(inc(x), 2) FROM big",
        "SELECT count(*) FROM big WHERE same(u) IS NOT NULL AND two(x) > 0",
    ] {
        for setting in ["fuse = off", "fuse = on", "fault = loops", "fault = guards"] {
            run(&session, &format!("SET exuvia.{setting}")).await;
            let error = fails(&session, sql).await;
            assert!(error.contains("which BIGINT cannot hold"), "{setting}: {sql}: {error}");
        }
        run(&session, "SET exuvia.fault = off").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_waits_for_what_is_better_made_once() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET datafusion.execution.target_partitions = 1").await;
    run(
        &session,
        "CREATE FUNCTION city(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$
             out = ''
             for c in s * 40:
                 out = c + out
             return out[:5]
         $$;
         CREATE FUNCTION len2(s TEXT, n BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$ return len(s) + n $$;
         CREATE TABLE many AS SELECT 'city ' || (value % 18) AS s, value AS v FROM generate_series(1, 100000)",
    )
    .await;
    for sql in [
        "SELECT max(c), max(n) FROM (SELECT city(s) AS c, len2('x', v) AS n FROM many WHERE len2(s, v) > 9)",
        "SELECT count(*) FROM many WHERE city(s) <> 'x' AND len2(city(s), v) > 3",
    ] {
        for _ in 0..2 {
            let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await;
            let city = plan.find("city(s): native").map(|at| &plan[at..]).unwrap_or_default();
            assert!(city.split(']').next().is_some_and(|city| city.contains("memoized=")), "{plan}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_chains_and_long_conditions_are_planned_in_time() {
    let session = session();
    run(&session, "SET exuvia.inline = off; SET exuvia.fault = loops").await;
    run(
        &session,
        "CREATE FUNCTION clean(s TEXT, n BIGINT) RETURNS TEXT STRICT LANGUAGE python AS $$
             s = s.strip().lower().replace('a', 'b')
             return s[n % 7:] + s.title() if s.startswith('x') else s.partition(',')[2].upper()
         $$;
         CREATE FUNCTION plus(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return n + 1 $$;
         CREATE TABLE t AS SELECT 'x,a' || value AS s, value AS v FROM generate_series(1, 100)",
    )
    .await;
    let started = std::time::Instant::now();
    let calls: Vec<String> = (0..300).map(|at| format!("clean(s, {at})")).collect();
    let calls = rows(&session, &format!("SELECT {} FROM t", calls.join(", "))).await;
    assert_eq!(calls.lines().count(), 100);
    let terms: Vec<String> = (0..50).map(|at| format!("v = {at}")).collect();
    let sql = format!("SELECT count(*) FROM t WHERE plus(v) > 0 AND (plus(v) > 1000 OR {})", terms.join(" OR "));
    assert_eq!(rows(&session, &sql).await, "49");
    assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
}

/// The page that shows a loop shows this one.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_on_loops_is_current() {
    let page = include_str!("../../../../docs/loop.md");
    let block = |kind: &str| {
        let start = page.find(kind).map_or(page.len(), |at| at + kind.len());
        page[start..].split("```").next().unwrap_or_default()
    };
    let session = session();
    run(&session, block("```sql fragment\n")).await;
    assert_eq!(
        session.dump_loops("optimized"),
        [format!("; net, band\n{}", block("```\nfn f0").replacen("", "fn f0", 1))]
    );
    assert_eq!(session.dump_loops("helpers"), ["; net, band\n"]);
}
