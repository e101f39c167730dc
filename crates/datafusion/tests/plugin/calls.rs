//! Calls: arguments, defaults, NULL, results and errors.

use crate::common::{fails, rows, run, session};
use expect_test::expect;

#[tokio::test(flavor = "multi_thread")]
async fn a_function_runs_over_a_column() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION shout(s TEXT) RETURNS TEXT LANGUAGE python AS $$
           return s.upper() + '!'
         $$;
         CREATE TABLE t AS VALUES ('a'), ('straße'), ('')",
    )
    .await;
    expect![[r#"
        !
        A!
        STRASSE!"#]]
    .assert_eq(&rows(&session, "SELECT shout(column1) FROM t").await);
    expect![[r#"
        !
        STRASSE!"#]]
    .assert_eq(&rows(&session, "SELECT shout(column1) FROM t WHERE shout(column1) <> 'A!'").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_have_names_and_defaults() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION f(a BIGINT, b BIGINT DEFAULT 10, c BIGINT DEFAULT 100) RETURNS BIGINT
           LANGUAGE python AS $$ return a * 10000 + b * 100 + c $$;
         CREATE TABLE t AS VALUES (1), (2)",
    )
    .await;
    let one = |sql: &'static str| {
        let session = session.clone();
        async move { rows(&session, sql).await }
    };
    assert_eq!(one("SELECT f(column1) FROM t").await, "11100\n21100");
    assert_eq!(one("SELECT f(column1, 2) FROM t WHERE column1 = 1").await, "10300");
    assert_eq!(one("SELECT f(column1, 2, 3) FROM t WHERE column1 = 1").await, "10203");
    assert_eq!(one("SELECT f(c => 3, a => column1, b => 2) FROM t WHERE column1 = 1").await, "10203");
    assert_eq!(one("SELECT f(column1, c => 3) FROM t WHERE column1 = 1").await, "11003");
    assert_eq!(one("SELECT f(a => column1) FROM t WHERE f(column1, c => 1) > 20000").await, "21100");
    assert_eq!(one("SELECT f(1, c => 3)").await, "11003");
    expect![[r#"
        f needs an argument a
          hint: f(a BIGINT, b BIGINT DEFAULT 10, c BIGINT DEFAULT 100) RETURNS BIGINT"#]]
    .assert_eq(&fails(&session, "SELECT f(c => 3) FROM t").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_widen_without_loss() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION i(x BIGINT) RETURNS TEXT LANGUAGE python AS $$ return str(x) $$;
         CREATE FUNCTION d(x DOUBLE) RETURNS TEXT LANGUAGE python AS $$ return str(x) $$;
         CREATE FUNCTION small(x SMALLINT) RETURNS TEXT LANGUAGE python AS $$ return str(x) $$;
         CREATE TABLE t AS SELECT arrow_cast(7, 'Int16') AS h, arrow_cast(7, 'UInt32') AS u, 7 AS l,
           arrow_cast(0.1, 'Float32') AS r, 9007199254740993 AS big, arrow_cast('x', 'Dictionary(Int32, Utf8)') AS s",
    )
    .await;
    assert_eq!(
        rows(&session, "SELECT i(h), i(u), i(l), d(h), d(l), d(r), small(h), small(12), d(3) FROM t").await,
        "7 | 7 | 7 | 7.0 | 7.0 | 0.10000000149011612 | 7 | 12 | 3.0"
    );
    assert_eq!(rows(&session, "SELECT i(NULL)").await, "None");
    expect![[r#"
        argument x: 9007199254740993 has no exact DOUBLE; CAST(x AS DOUBLE) rounds it
          in function d"#]]
    .assert_eq(&fails(&session, "SELECT d(big) FROM t").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn null_is_none_unless_strict() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION asked(x BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return x is None $$;
         CREATE FUNCTION skipped(x BIGINT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$ return x is None $$;
         CREATE TABLE t AS VALUES (1), (NULL)",
    )
    .await;
    assert_eq!(
        rows(&session, "SELECT column1, asked(column1), skipped(column1) FROM t").await,
        "1 | false | false\nNULL | true | NULL"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exception_fails_the_query_or_gives_null() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION loud(s TEXT) RETURNS BIGINT LANGUAGE python AS $$
           n = int(s)
           return n
         $$;
         CREATE FUNCTION quiet(s TEXT) RETURNS BIGINT LANGUAGE python OPTIONS (on_error 'null') AS $$
           return int(s)
         $$;
         CREATE TABLE t AS VALUES ('1'), ('one')",
    )
    .await;
    assert_eq!(rows(&session, "SELECT quiet(column1) FROM t").await, "1\nNULL");
    expect![[r#"
        ValueError: invalid literal for int() with base 10: 'one'
          in function loud, line 2
          |
        2 | n = int(s)
          |     ^^^^^^
          called with s = 'one'"#]]
    .assert_eq(&fails(&session, "SELECT loud(column1) FROM t").await);
    // The session goes on.
    assert_eq!(rows(&session, "SELECT loud('2')").await, "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_python_is_refused() {
    let session = session();
    expect![[r#"
        cannot create function f: syntax error: Expected an expression
          |
        3 | return x +
          |           ^"#]]
    .assert_eq(
        &fails(&session, "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$\n\n  return x +\n$$").await,
    );
    assert_eq!(rows(&session, "SELECT count(*) FROM exuvia.functions").await, "0");
}

/// An array or struct of literals is judged as each of them is.
#[tokio::test(flavor = "multi_thread")]
async fn literals_stand_within_arrays_and_structs() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION total(x INT[], y DOUBLE[] DEFAULT [1, 2]) RETURNS TEXT LANGUAGE python AS
           'return f\"{sum(v for v in x if v)} {sum(y)}\"';
         CREATE FUNCTION days(x DATE[], r STRUCT(a TINYINT, at TIMESTAMP[])) RETURNS TEXT LANGUAGE python AS
           'return f\"{x} {r}\"';
         CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS t(n)",
    )
    .await;
    for (query, expected) in [
        (
            "SELECT total([1, NULL, 3]), total([], [1.5, 2]), total([n::INT]) FROM t",
            "4 3.0 | 0 3.5 | 1 3.0\n4 3.0 | 0 3.5 | 2 3.0",
        ),
        ("SELECT n FROM t WHERE total([1, 2]) = '3 3.0' AND total([1]) <> '' ORDER BY n", "1\n2"),
        (
            "SELECT days(['2024-01-31', NULL], {'a': 1, 'at': ['2024-01-31 10:00:00']})",
            "[datetime.date(2024, 1, 31), None] {'a': 1, 'at': [datetime.datetime(2024, 1, 31, 10, 0)]}",
        ),
        ("SELECT days([DATE '2024-01-31'], {'a': 1, 'at': []})", "[datetime.date(2024, 1, 31)] {'a': 1, 'at': []}"),
    ] {
        assert_eq!(rows(&session, query).await, expected, "{query}");
    }
    for (query, message) in [
        ("SELECT total([1, 3000000000])", "total: argument 1 (x): 3000000000 is outside INT"),
        ("SELECT total([1, n]) FROM t", "total: argument 1 (x) is BIGINT[], but INT[] is needed"),
        ("SELECT days(['2024-13-31'], NULL)", "days: argument 1 (x): '2024-13-31' is no DATE"),
        ("SELECT days([], {'a': 200, 'at': []})", "days: argument 2 (r): 200 is outside TINYINT"),
        ("SELECT days([], {'b': 2, 'at': []})", "but STRUCT<a TINYINT, at TIMESTAMP[]> is needed"),
    ] {
        let said = fails(&session, query).await;
        assert!(said.contains(message), "{query}: {said}");
    }
}
