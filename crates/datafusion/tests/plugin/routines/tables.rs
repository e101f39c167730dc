//! Tables in, a table out.

use super::{explained, with_tables};
use crate::common::{fails, physical, rows, run, try_run};
use expect_test::expect;

const SCALED: &str = "CREATE FUNCTION scaled(t TABLE, k DOUBLE DEFAULT 1) RETURNS TABLE (id BIGINT, y DOUBLE)
LANGUAGE python AS $$
def scaled(t, k):
    t = t.dropna(subset=['x'])
    return t.assign(y=t['x'] * k)[['y', 'id']]
$$";

#[tokio::test(flavor = "multi_thread")]
async fn calls_stand_wherever_a_table_does() {
    let session = with_tables().await;
    run(&session, SCALED).await;
    let all = "1 | 3.0\n3 | 8.0\n4 | 4.0\n5 | -0.0";
    for query in [
        "SELECT * FROM scaled(TABLE t, 2)",
        "SELECT * FROM scaled(t, 2)",
        "SELECT * FROM scaled(TABLE (SELECT * FROM t), 2)",
        "SELECT * FROM scaled((SELECT * FROM t), k => 2)",
        "SELECT * FROM scaled(t => TABLE t, k => 2)",
        "SELECT c.id, c.y FROM scaled(TABLE t, 2) AS c",
        "SELECT a, b FROM scaled(TABLE t, 2) AS c(a, b)",
        "SELECT scaled.id, scaled.y FROM scaled(TABLE t, 2)",
        "WITH q AS (SELECT * FROM t) SELECT * FROM scaled(TABLE q, 2)",
        "WITH q AS (SELECT * FROM scaled(TABLE t, 2)) SELECT * FROM q",
        "SELECT * FROM (SELECT * FROM scaled(TABLE t, 2)) AS q",
        "SELECT * FROM scaled(TABLE t, (SELECT 2.0))",
        "SELECT q.id, q.y FROM t JOIN scaled(TABLE t, 2) AS q ON t.id = q.id",
        "SELECT * FROM scaled((SELECT id, y AS x FROM scaled(TABLE t, 2)))",
        "SELECT id, y FROM scaled(TABLE t, 2) WHERE id IN (SELECT id FROM scaled(TABLE t))",
        "SELECT * FROM scaled(TABLE t, 2) WHERE id < 4 UNION ALL SELECT * FROM scaled(TABLE t, 2) WHERE id > 3",
    ] {
        assert_eq!(rows(&session, query).await, all, "{query}");
    }
    run(&session, "CREATE VIEW v AS SELECT * FROM scaled(TABLE t, 2)").await;
    assert_eq!(rows(&session, "SELECT * FROM v").await, all);
    run(&session, "CREATE TABLE made AS SELECT * FROM scaled(TABLE t, 2)").await;
    assert_eq!(rows(&session, "SELECT * FROM made").await, all);
    run(&session, "INSERT INTO made SELECT * FROM scaled(TABLE t, 2)").await;
    assert_eq!(rows(&session, "SELECT count(*) FROM made").await, "8");
    run(&session, "PREPARE p(DOUBLE) AS SELECT * FROM scaled(TABLE t, $1)").await;
    assert_eq!(rows(&session, "EXECUTE p(2.0)").await, all);
    assert_eq!(rows(&session, "EXECUTE p(4.0)").await, "1 | 6.0\n3 | 16.0\n4 | 8.0\n5 | -0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_an_argument_is_the_order_of_the_frame() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION ids(t TABLE) RETURNS TABLE (all_ids TEXT) LANGUAGE python AS $$
           return ' '.join(str(int(i)) for i in t['id']) + '|' + ' '.join(t.columns)
         $$;
         SET datafusion.execution.target_partitions = 4; SET datafusion.execution.batch_size = 2",
    )
    .await;
    for (query, expected) in [
        ("SELECT id FROM t ORDER BY id DESC", "5 4 3 2 1|id"),
        ("SELECT id FROM t ORDER BY x DESC NULLS LAST, id", "3 4 1 5 2|id"),
        ("SELECT id, -id AS n FROM t ORDER BY n", "5 4 3 2 1|id n"),
        ("SELECT id FROM t ORDER BY id % 2, id DESC", "4 2 5 3 1|id"),
        ("SELECT id FROM t ORDER BY id DESC LIMIT 3", "5 4 3|id"),
        ("SELECT DISTINCT id FROM t ORDER BY id DESC", "5 4 3 2 1|id"),
        ("SELECT g, max(id) AS id FROM t GROUP BY g ORDER BY id DESC", "5 4 3 2|g id"),
    ] {
        assert_eq!(rows(&session, &format!("SELECT * FROM ids(({query}))")).await, expected, "{query}");
    }
    expect!["ids(t): python: a table function, one call"]
        .assert_eq(&explained(&session, "SELECT * FROM ids((SELECT * FROM t ORDER BY id))").await);
    expect!["ids(t): python: a table function, one call; may depend on the order of t, which is not given"]
        .assert_eq(&explained(&session, "SELECT * FROM ids(TABLE t)").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn declared_columns_bind_by_name_and_widen() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION shape(t TABLE (x DOUBLE, id BIGINT)) RETURNS TABLE (said TEXT) LANGUAGE python AS $$
           return ' '.join(f'{c}:{t[c].dtype}' for c in t.columns)
         $$;
         CREATE FUNCTION strict_ids(t TABLE (id BIGINT NOT NULL)) RETURNS TABLE (n BIGINT) LANGUAGE python AS $$
           return int(t['id'].sum())
         $$",
    )
    .await;
    let shape = |argument: &str| format!("SELECT * FROM shape({argument})");
    for (argument, expected) in [
        ("TABLE t", "x:float64 id:int64"),
        ("(SELECT id, x, g FROM t)", "x:float64 id:int64"),
        ("(SELECT arrow_cast(id, 'Int32') AS id, arrow_cast(x, 'Float32') AS x FROM t)", "x:float64 id:int64"),
        ("(SELECT x AS a, id AS b FROM t)", "x:float64 id:int64"),
        ("(SELECT CASE WHEN id > 1 THEN id END AS id, x FROM t)", "x:float64 id:float64"),
    ] {
        assert_eq!(rows(&session, &shape(argument)).await, expected, "{argument}");
    }
    assert_eq!(
        fails(&session, &shape("(SELECT id FROM t)")).await,
        "shape: the table t has no column x, which t declares; it has id"
    );
    assert_eq!(
        fails(&session, &shape("(SELECT g AS x, id FROM t)")).await,
        "shape: the column x is TEXT, but DOUBLE is declared"
    );
    assert_eq!(rows(&session, "SELECT * FROM strict_ids(TABLE t)").await, "15");
    assert_eq!(
        fails(&session, "SELECT * FROM strict_ids((SELECT CASE WHEN id > 1 THEN id END AS id FROM t))").await,
        "strict_ids: column id is declared NOT NULL and has a NULL"
    );
    // Only the declared columns are read.
    assert!(
        physical(&session, &shape("TABLE t")).await.contains("projection=[id, x]") || {
            let plan = physical(&session, &shape("TABLE t")).await;
            !plan.contains("g@")
        }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn results_bind_by_name_and_misfits_are_named() {
    let session = with_tables().await;
    for (body, returns, expected) in [
        ("return t.groupby('g')['id'].sum()", "g TEXT, id BIGINT", Ok("a | 4\nb | 2\né | 4")),
        ("return t.groupby('g').agg(n=('id', 'count'))", "n BIGINT, g TEXT", Ok("1 | b\n1 | é\n2 | a")),
        ("return t.rename(columns=str.upper)", "id BIGINT", Ok("1\n2\n3\n4\n5")),
        ("return t['x'].max()", "x DOUBLE", Ok("4.0")),
        ("return t['x']", "y DOUBLE", Ok("-0.0\n1.5\n2.0\n4.0\nNULL")),
        ("return [(1, 'a'), (2, None)]", "n BIGINT, s TEXT", Ok("1 | a\n2 | NULL")),
        ("return [{'s': 'a', 'n': 1}]", "n BIGINT, s TEXT", Ok("1 | a")),
        ("return {'n': [1, 2], 's': ['é', '']}", "n BIGINT, s TEXT", Ok("1 | é\n2 | ")),
        (
            "return t[['id', 'x']].to_numpy()",
            "a DOUBLE, b DOUBLE",
            Ok("1.0 | 1.5\n2.0 | NULL\n3.0 | 4.0\n4.0 | 2.0\n5.0 | -0.0"),
        ),
        ("return t[['x']]", "id BIGINT", Err("its result has no column id; it has x")),
        ("return t", "id TEXT", Err("column id: 1 of type int, which TEXT cannot hold")),
        ("return t", "x BIGINT", Err("column x: 1.5 of type float, which BIGINT cannot hold")),
        // The whole floats before it are integers with gaps.
        (
            "return t.assign(n=[1.0, 2.0, None, 2.5, 4.5])",
            "n BIGINT",
            Err("column n: 2.5 of type float, which BIGINT cannot hold"),
        ),
        (
            "return [([1, 2],), ([3, 'x'],)]",
            "n BIGINT[]",
            Err("column n: [3, 'x'] of type list, which BIGINT[] cannot hold: [1] is 'x' of type str"),
        ),
        ("return t", "g TEXT NOT NULL", Err("column g is declared NOT NULL, and a value of it is missing")),
        (
            "return None",
            "x BIGINT",
            Err("it returned None; a table function returns a DataFrame, a Series, a value or a list of rows"),
        ),
        ("return 3", "a BIGINT, b BIGINT", Err("it returned 3 of type int, and 2 columns are declared: a, b")),
        ("return [(1,)]", "a BIGINT, b BIGINT", Err("the row (1,) has 1 values, and 2 columns are declared")),
    ] {
        run(
            &session,
            &format!("CREATE OR REPLACE FUNCTION f(t TABLE) RETURNS TABLE ({returns}) LANGUAGE python AS $$ {body} $$"),
        )
        .await;
        let result = try_run(&session, "SELECT * FROM f(TABLE t)").await;
        match expected {
            Ok(expected) => {
                assert!(result.is_ok(), "{body}: {result:?}");
                assert_eq!(rows(&session, "SELECT * FROM f(TABLE t)").await, expected, "{body}");
            }
            Err(message) => {
                let said = result.expect_err(body);
                let said = said.strip_suffix("\n  in function f").unwrap_or(&said);
                assert_eq!(said.split("\n  hint: ").next(), Some(message), "{body}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_nobody_declared_are_those_of_a_first_result() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION sums(t TABLE) RETURNS TABLE LANGUAGE python AS $$ return t.groupby('g')['x'].sum() $$;
         CREATE FUNCTION odd(t TABLE) RETURNS TABLE LANGUAGE python AS $$
           return t if len(t) <= 100 else t.assign(more=1)
         $$;
         CREATE TABLE many AS SELECT value AS id FROM generate_series(1, 200)",
    )
    .await;
    assert_eq!(rows(&session, "SELECT g, x FROM sums(TABLE t)").await, "a | 5.5\nb | 0.0\né | 2.0");
    assert_eq!(rows(&session, "SELECT * FROM sums((SELECT * FROM sums(TABLE t)))").await, "a | 5.5\nb | 0.0\né | 2.0");
    assert_eq!(
        fails(&session, "SELECT * FROM odd(TABLE many)").await,
        "its result has the column more, which it had not for the first rows of its tables; declare RETURNS TABLE (…)\n  in function odd"
    );
    // The columns are found out anew for each statement.
    run(&session, "CREATE FUNCTION same(t TABLE) RETURNS TABLE LANGUAGE python AS $$ return t $$").await;
    assert_eq!(rows(&session, "SELECT * FROM same((SELECT 1 AS a))").await, "1");
    assert_eq!(rows(&session, "SELECT b FROM same((SELECT 'x' AS b, 2 AS a))").await, "x");
    run(&session, "CREATE OR REPLACE TABLE many AS SELECT 'text' AS id").await;
    assert_eq!(rows(&session, "SELECT * FROM same(TABLE many)").await, "text");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_calls_are_explained() {
    let session = with_tables().await;
    run(&session, SCALED).await;
    let hint = "\n  hint: scaled(t TABLE, k DOUBLE DEFAULT 1) RETURNS TABLE (id BIGINT, y DOUBLE)";
    for (call, message) in [
        ("scaled()", format!("scaled takes 1 to 2 arguments, but 0 were given{hint}")),
        ("scaled(TABLE t, 1, 2)", format!("scaled takes 1 to 2 arguments, but 3 were given{hint}")),
        ("scaled(3)", format!("scaled: the argument t is a table: write TABLE t or (SELECT …), not 3{hint}")),
        ("scaled(k => 3)", "scaled needs a table t".to_string()),
        ("scaled(TABLE t, z => 3)", format!("scaled has no parameter z{hint}")),
        ("scaled(TABLE t, t => TABLE t)", format!("scaled is given its argument t twice{hint}")),
        ("scaled(TABLE t, 'a')", "scaled: argument 2 (k) is TEXT, but DOUBLE is needed".to_string()),
        (
            "scaled((SELECT * FROM t AS a JOIN t AS b ON a.id = b.id))",
            "scaled: the table t has two columns id; name them apart with AS".to_string(),
        ),
    ] {
        let said = fails(&session, &format!("SELECT * FROM {call}")).await;
        assert!(said.contains(&message) || said.starts_with(message.split('\n').next().unwrap()), "{call}: {said}");
    }
    assert!(fails(&session, "SELECT * FROM scaled(TABLE nothing)").await.contains("nothing' not found"));
    for (statement, message) in [
        (
            "RETURNS BIGINT LANGUAGE python AS $$ return 1 $$",
            "f takes a table; declare RETURNS TABLE (…), of one column for one value",
        ),
        (
            "RETURNS TABLE (a BIGINT) LANGUAGE python OPTIONS (on_error 'null') AS $$ return t $$",
            "on_error 'null' says nothing for a table function",
        ),
        (
            "RETURNS TABLE (a BIGINT) LANGUAGE python STRICT AS $$ return t $$",
            "STRICT says nothing for a table function",
        ),
    ] {
        let said = fails(&session, &format!("CREATE FUNCTION f(t TABLE) {statement}")).await;
        assert!(said.contains(message), "{statement}: {said}");
    }
    run(&session, "SET exuvia.interpreter = 'off'").await;
    let said = fails(&session, "CREATE FUNCTION g(t TABLE) RETURNS TABLE LANGUAGE python AS $$ return t $$").await;
    expect![[r#"
        cannot create function g: a table function runs in CPython, which is off for this function or session
          |
        1 | return t
          | ^^^^^^^^"#]]
    .assert_eq(&said);
    assert!(fails(&session, "SELECT * FROM scaled(TABLE t)").await.contains("CPython, which is off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_any_kind_and_wide_tables_pass() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION same(t TABLE) RETURNS TABLE LANGUAGE python AS $$ return t $$;
         CREATE TABLE named AS SELECT 1 AS \"a b\", 2 AS \"Ünï\", 3 AS \"q\"\"q\", 4 AS \"select\"",
    )
    .await;
    assert_eq!(
        rows(&session, "SELECT \"q\"\"q\", \"a b\", \"Ünï\", \"select\" FROM same(TABLE named)").await,
        "3 | 1 | 2 | 4"
    );
    let wide: Vec<String> = (0..500).map(|index| format!("{index} AS c{index}")).collect();
    run(&session, &format!("CREATE TABLE wide AS SELECT {}", wide.join(", "))).await;
    assert_eq!(rows(&session, "SELECT c0 + c499 FROM same(TABLE wide)").await, "499");
    // No rows, and no columns that anybody reads.
    assert_eq!(rows(&session, "SELECT count(*) FROM same((SELECT * FROM t WHERE id > 9))").await, "0");
    assert_eq!(rows(&session, "SELECT count(*) FROM same(TABLE t)").await, "5");
}
