//! Rows from the values of rows.

use super::{explained, with_tables};
use crate::common::{fails, physical, rows, run};
use expect_test::expect;

const WORDS: &str = "CREATE FUNCTION words(s TEXT) RETURNS TABLE (n BIGINT, w TEXT) STRICT LANGUAGE python AS $$
def words(s):
    for n, w in enumerate(s.split()):
        yield n, w
$$;
CREATE TABLE d (k BIGINT, s TEXT) AS VALUES (1, 'x y'), (2, NULL), (3, 'é'), (4, '')";

#[tokio::test(flavor = "multi_thread")]
async fn calls_stand_in_from() {
    let session = with_tables().await;
    run(&session, WORDS).await;
    for (query, expected) in [
        ("SELECT * FROM words('a b')", "0 | a\n1 | b"),
        ("SELECT q.w FROM words(concat('a', ' é')) AS q", "a\né"),
        ("SELECT b FROM words('a') AS q(a, b)", "a"),
        ("SELECT * FROM words(NULL)", ""),
        ("SELECT k, w FROM d, LATERAL words(d.s)", "1 | x\n1 | y\n3 | é"),
        ("SELECT k, w FROM d, TABLE(words(d.s))", "1 | x\n1 | y\n3 | é"),
        ("SELECT k, w FROM d, LATERAL TABLE(words(d.s)) AS q", "1 | x\n1 | y\n3 | é"),
        ("SELECT k, w FROM d, words(s)", "1 | x\n1 | y\n3 | é"),
        ("SELECT k, w FROM d CROSS JOIN LATERAL words(s) AS q WHERE n = 0", "1 | x\n3 | é"),
        ("SELECT k, w FROM d LEFT JOIN LATERAL words(s) AS q ON true", "1 | x\n1 | y\n2 | NULL\n3 | é\n4 | NULL"),
        ("SELECT k, q.w FROM d JOIN LATERAL words(s) AS q ON q.n = d.k - 1", "1 | x"),
        ("SELECT k, w FROM d, LATERAL (SELECT w FROM words(d.s) WHERE n > 0) AS q", "1 | y"),
        (
            "SELECT a.k, b.k, w FROM d AS a JOIN d AS b ON a.k = b.k, LATERAL words(b.s)",
            "1 | 1 | x\n1 | 1 | y\n3 | 3 | é",
        ),
        ("SELECT count(*) FROM d, LATERAL words(s)", "3"),
        ("SELECT x.w, y.w FROM d, LATERAL words(s) AS x, LATERAL words(x.w) AS y", "x | x\ny | y\né | é"),
        ("SELECT q.s FROM d, words(d.s) AS q(k, s) WHERE q.k = 0", "x\né"),
        ("SELECT d.k, q.k FROM d, LATERAL (SELECT w AS k FROM words(d.s)) AS q", "1 | x\n1 | y\n3 | é"),
        ("SELECT k FROM d WHERE EXISTS (SELECT 1 FROM words('a'))", "1\n2\n3\n4"),
    ] {
        assert_eq!(rows(&session, query).await, expected, "{query}");
    }
    run(&session, "CREATE VIEW v AS SELECT k, w FROM d, LATERAL words(s)").await;
    assert_eq!(rows(&session, "SELECT * FROM v WHERE k = 1").await, "1 | x\n1 | y");
    expect!["words(d.s): python: rows from the values of a row, one call a row"]
        .assert_eq(&explained(&session, "SELECT k, w FROM d, LATERAL words(d.s)").await);
    // What is said of the other side is said before the calls.
    let plan = physical(&session, "SELECT k, w FROM d, LATERAL words(d.s) WHERE k > 2").await;
    let (call, filter) = (plan.find("PythonRowsExec"), plan.find("FilterExec"));
    assert!(call < filter, "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_have_any_form() {
    let session = with_tables().await;
    for (body, returns, expected) in [
        ("yield 1, 'a'\nyield (2, None)", "TABLE (n BIGINT, s TEXT)", "1 | a\n2 | NULL"),
        ("return [[1, 'a']]", "TABLE (n BIGINT, s TEXT)", "1 | a"),
        ("yield {'s': 'é', 'n': 1}", "TABLE (n BIGINT, s TEXT)", "1 | é"),
        ("return (i for i in range(3))", "TABLE (n BIGINT)", "0\n1\n2"),
        ("yield from range(3)", "SETOF BIGINT", "0\n1\n2"),
        ("yield [1, 2]", "SETOF BIGINT[]", "[1, 2]"),
        ("return None", "TABLE (n BIGINT)", ""),
        ("return {3}", "SETOF BIGINT", "3"),
        ("import pandas as pd\nreturn pd.DataFrame({'n': [1, 2], 'm': [3, 4]})", "TABLE (m BIGINT)", "3\n4"),
        ("yield None", "SETOF BIGINT", "NULL"),
    ] {
        run(
            &session,
            &format!("CREATE OR REPLACE FUNCTION f(a BIGINT) RETURNS {returns} LANGUAGE python AS $$\n{body}\n$$"),
        )
        .await;
        assert_eq!(rows(&session, "SELECT * FROM f(1)").await, expected, "{body}");
    }
    for (body, returns, message) in [
        ("yield 1, 2", "TABLE (n BIGINT)", "the row (1, 2) has 2 values, and 1 columns are declared"),
        ("yield 1", "TABLE (n BIGINT, m BIGINT)", "the row 1 of type int is no tuple of the 2 declared columns"),
        ("yield {'n': 1}", "TABLE (n BIGINT, m BIGINT)", "the row {'n': 1} has no m"),
        ("yield 'a'", "SETOF BIGINT", "returned 'a' of type str, which BIGINT cannot hold"),
        ("return 'abc'", "SETOF TEXT", "it gave a value of type str; it yields its rows or returns a list of them"),
        ("yield None", "TABLE (n BIGINT NOT NULL)", "column n is declared NOT NULL, and a value of it is missing"),
    ] {
        run(
            &session,
            &format!("CREATE OR REPLACE FUNCTION f(a BIGINT) RETURNS {returns} LANGUAGE python AS $$\n{body}\n$$"),
        )
        .await;
        let said = fails(&session, "SELECT * FROM f(1)").await;
        assert!(said.starts_with(message), "{body}: {said}");
    }
}

/// As handlers of Snowflake's and Databricks' table functions: each row is a partition of its own.
#[tokio::test(flavor = "multi_thread")]
async fn classes_give_rows() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION parts(s TEXT, sep TEXT) RETURNS TABLE (part TEXT) LANGUAGE PYTHON RUNTIME_VERSION = '3.11'
HANDLER = 'Parts' AS $$
class Parts:
    def __init__(self):
        self.n = 0

    def process(self, s: str, sep: str = ','):
        for part in s.split(sep):
            self.n += 1
            yield (part,)

    def end_partition(self):
        yield (str(self.n),)
$$;
CREATE FUNCTION firsts(n INT) RETURNS TABLE (i INT) LANGUAGE python AS $$
class Firsts:
    def eval(self, n):
        return [(i,) for i in range(n)] if n else None
$$;
CREATE FUNCTION wrong(n INT) RETURNS TABLE (i INT) LANGUAGE python AS $$
class Wrong:
    def eval(self, n):
        return n
    def terminate(self):
        pass
$$",
    )
    .await;
    assert_eq!(rows(&session, "SELECT * FROM parts('a-é', '-')").await, "2\na\né");
    let lateral = "SELECT v.s, p.part FROM (VALUES ('a,b'), ('c')) AS v(s), parts(v.s, ',') AS p";
    assert_eq!(rows(&session, lateral).await, "a,b | 2\na,b | a\na,b | b\nc | 1\nc | c");
    assert_eq!(rows(&session, "SELECT * FROM firsts(2)").await, "0\n1");
    assert_eq!(rows(&session, "SELECT * FROM firsts(0)").await, "");
    let said = fails(&session, "SELECT * FROM wrong(1)").await;
    assert!(said.contains("it gave a value of type int; it yields its rows or returns a list of them"), "{said}");
    for (body, message) in [
        ("class f:\n    def run(self, n): pass\n", "the class f has no method process or eval, which gives the rows"),
        ("class f:\n    def eval(self): pass\n", "f.eval takes 0 values, but the SQL function has 1"),
        (
            "class f:\n    def __init__(self, a): pass\n    def eval(self, n): pass\n",
            "f is made without arguments, and __init__ takes some",
        ),
    ] {
        let create = format!("CREATE FUNCTION f(n INT) RETURNS TABLE (i INT) LANGUAGE python AS $$\n{body}$$");
        let said = fails(&session, &create).await;
        assert!(said.contains(message), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_generators_end_with_their_limit() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION up(n BIGINT) RETURNS SETOF BIGINT LANGUAGE python AS $$
           while True:
               yield n
               n += 1
         $$;
         CREATE FUNCTION slow(n BIGINT) RETURNS SETOF BIGINT LANGUAGE python AS $$
           import time
           while True:
               time.sleep(0.05)
               yield n
         $$",
    )
    .await;
    assert_eq!(rows(&session, "SELECT * FROM up(5) LIMIT 3").await, "5\n6\n7");
    assert_eq!(rows(&session, "SELECT count(*) FROM (SELECT * FROM t, LATERAL up(t.id) LIMIT 20000)").await, "20000");
    assert_eq!(rows(&session, "SELECT * FROM slow(5) LIMIT 2").await, "5\n5");
}

/// Rows of large values make small batches, whatever the values are.
#[tokio::test(flavor = "multi_thread")]
async fn batches_are_bounded_in_bytes() {
    let session = with_tables().await;
    run(
        &session,
        "SET datafusion.execution.coalesce_batches = false;
         CREATE FUNCTION texts(n BIGINT) RETURNS SETOF TEXT LANGUAGE python AS $$
           for i in range(n): yield 'é' * 1000000
         $$;
         CREATE FUNCTION lists(n BIGINT) RETURNS SETOF BIGINT[] LANGUAGE python AS $$
           for i in range(n): yield [i] * 250000
         $$;
         CREATE FUNCTION nested(n BIGINT) RETURNS TABLE (i BIGINT, v TEXT[]) LANGUAGE python AS $$
           for i in range(n): yield i, ['x' * 1000000, 'y' * 1000000]
         $$",
    )
    .await;
    for function in ["texts", "lists", "nested"] {
        let batches = run(&session, &format!("SELECT * FROM {function}(60)")).await;
        assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 60, "{function}");
        let largest = batches.iter().map(|batch| batch.get_array_memory_size()).max().unwrap_or(0);
        assert!(largest <= 40 << 20, "{function}: a batch of {largest} bytes");
        // Nobody gathers them again.
        let plan = physical(&session, &format!("SELECT count(*) FROM {function}(60)")).await;
        assert!(!plan.contains("RoundRobin"), "{plan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_execution_change_nothing() {
    for settings in ["1", "2", "8"] {
        for size in ["1", "7", "8192"] {
            let session = with_tables().await;
            run(
                &session,
                &format!(
                    "SET datafusion.execution.target_partitions = {settings}; SET datafusion.execution.batch_size = {size};
                     CREATE FUNCTION divisors(n BIGINT) RETURNS SETOF BIGINT LANGUAGE python AS $$
                       return [d for d in range(2, n) if n % d == 0]
                     $$;
                     CREATE TABLE numbers AS SELECT value AS n FROM generate_series(1, 30)"
                ),
            )
            .await;
            let inner = "SELECT count(*), sum(n), sum(d) FROM numbers, LATERAL divisors(n) AS q(d)";
            assert_eq!(rows(&session, inner).await, "52 | 1020 | 268");
            let outer = "SELECT count(*), sum(n), count(d) FROM numbers LEFT JOIN LATERAL divisors(n) AS q(d) ON true";
            assert_eq!(rows(&session, outer).await, "63 | 1150 | 52");
        }
    }
}
