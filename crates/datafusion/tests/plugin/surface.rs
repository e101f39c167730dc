//! The statements: what is accepted, what is refused and in which words.

use crate::common::{fails, rows, run, session};
use datafusion::prelude::SessionContext;
use expect_test::{Expect, expect};
use exuvia::ExuviaSession;

async fn refused(sql: &str, expect: Expect) {
    expect.assert_eq(&format!("{}\n", fails(&session(), sql).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn clauses_come_in_any_order() {
    let session = session();
    run(
        &session,
        "create or replace function A(x BIGINT, y BIGINT DEFAULT 2) returns BIGINT language python as $$ return x + y $$
           immutable strict options (on_error 'null', timeout = '1s');
         CREATE FUNCTION IF NOT EXISTS b() AS 'return ''it; -- is''' LANGUAGE PYTHON RETURNS TEXT STABLE
           RETURNS NULL ON NULL INPUT;
         CREATE FUNCTION \"C\"(x DOUBLE) RETURNS DOUBLE VOLATILE CALLED ON NULL INPUT AS $f$ return x $f$
           LANGUAGE python; -- end",
    )
    .await;
    expect![[r#"
        C | "C"(x DOUBLE) RETURNS DOUBLE
        a | a(x BIGINT, y BIGINT DEFAULT 2) RETURNS BIGINT
        b | b() RETURNS TEXT"#]]
    .assert_eq(&rows(&session, "SELECT name, signature FROM exuvia.functions").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_make_the_functions_again() {
    let session = session();
    let creates = [
        "CREATE FUNCTION \"F a\"(\"X\" BIGINT, \"order\" BIGINT, order_2 BIGINT DEFAULT 2) RETURNS BIGINT LANGUAGE python AS \
         $$ return X + order_2 $$",
        "CREATE FUNCTION g(s STRUCT<\"A b\" INT, c TEXT>, \"select\" TEXT) RETURNS STRUCT<\"Größe\" INT, \"q\"\"\" TEXT> STRICT \
         LANGUAGE python OPTIONS (on_error 'null') AS $x$ return {'Größe': s['A b'], 'q\"': '$$'} $x$",
        "CREATE FUNCTION h(t TABLE (\"W x\" INT NOT NULL, y TEXT)) RETURNS TABLE (\"Z\" INT) LANGUAGE python AS $$
def h(t):
    return t[['W x']].rename(columns={'W x': 'Z'})
$$",
    ];
    for create in creates {
        run(&session, create).await;
    }
    let first = rows(&session, "SELECT statement FROM exuvia.functions").await;
    assert!(first.contains(r#""F a"("X" BIGINT, order BIGINT, order_2 BIGINT DEFAULT 2)"#), "{first}");
    assert!(first.contains(r#"h(t TABLE ("W x" INT NOT NULL, y TEXT)) RETURNS TABLE ("Z" INT)"#), "{first}");
    let again = self::session();
    run(&again, &first).await;
    assert_eq!(first, rows(&again, "SELECT statement FROM exuvia.functions").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_sql_types() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION t(a TINYINT, b SMALLINT, c INT, d BIGINT, e REAL, f FLOAT, g DOUBLE, h TEXT, i VARCHAR, j STRING,
           k BOOLEAN, l BYTEA, m DATE, n TIMESTAMP, o TIMESTAMPTZ, p TIME, q INTERVAL, r DECIMAL(10, 2), s BIGINT[],
           t ARRAY<TEXT>, u STRUCT<a INT, b TEXT>, v MAP(TEXT, BIGINT), w DOUBLE PRECISION, x DATETIME, y TIMESTAMP_NTZ(6))
         RETURNS BOOLEAN LANGUAGE python AS $$ return True $$",
    )
    .await;
    expect!["t(a TINYINT, b SMALLINT, c INT, d BIGINT, e REAL, f REAL, g DOUBLE, h TEXT, i TEXT, j TEXT, k BOOLEAN, l BYTEA, m DATE, n TIMESTAMP, o TIMESTAMP WITH TIME ZONE, p TIME, q INTERVAL, r DECIMAL(10, 2), s BIGINT[], t TEXT[], u STRUCT<a INT, b TEXT>, v MAP(TEXT, BIGINT), w DOUBLE, x TIMESTAMP, y TIMESTAMP(6)) RETURNS BOOLEAN"]
        .assert_eq(&rows(&session, "SELECT signature FROM exuvia.functions").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_is_dedented_and_keeps_its_line() {
    let session = session();
    run(
        &session,
        "\nCREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
             def f(x):
                 return x;  -- body
         $$",
    )
    .await;
    expect![[r"
        def f(x):
            return x;  -- body
    "]]
    .assert_eq(&rows(&session, "SELECT source FROM exuvia.functions").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_belong_to_one_function() {
    let session = session();
    let create = "FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$";
    run(&session, &format!("CREATE {create}")).await;
    expect!["cannot create function f: a function of this name exists, whatever its parameters; CREATE OR REPLACE FUNCTION replaces it"]
        .assert_eq(&fails(&session, &format!("CREATE {create}")).await);
    run(&session, &format!("CREATE OR REPLACE {create}")).await;
    run(&session, &format!("CREATE {}", create.replacen(" f", " IF NOT EXISTS F", 1))).await;
    run(&session, "DROP FUNCTION F(BIGINT)").await;
    expect!["there is no function f"].assert_eq(&fails(&session, "DROP FUNCTION f").await);
    run(&session, "DROP FUNCTION IF EXISTS f, g").await;
    expect!["sum is a built-in function and cannot be dropped"].assert_eq(&fails(&session, "DROP FUNCTION sum").await);
    for name in ["lower", "sum", "row_number", "range", "cast"] {
        let error = fails(&session, &format!("CREATE {}", create.replacen(" f(", &format!(" {name}("), 1))).await;
        assert_eq!(error, format!("cannot create function {name}: {name} is a built-in function; choose another name"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_the_statement_are_shown_in_place() {
    refused(
        "SELECT 1;\nCREATE FUNCTION f(x BIGINT)\n  RETURNS BIGNIT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: RETURNS: the type BIGNIT is not supported; did you mean BIGINT?
              |
            3 |   RETURNS BIGNIT LANGUAGE python AS $$ return x $$
              |           ^^^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x UUID) RETURNS BIGINT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: parameter x: the type UUID is not supported; did you mean TEXT?
              |
            1 | CREATE FUNCTION f(x UUID) RETURNS BIGINT LANGUAGE python AS $$ return x $$
              |                     ^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: a parameter is a name and a type; BIGINT stands alone
              |
            1 | CREATE FUNCTION f(BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$
              |                   ^^^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT, X TEXT) RETURNS BIGINT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: the parameter x is given twice
              |
            1 | CREATE FUNCTION f(x BIGINT, X TEXT) RETURNS BIGINT LANGUAGE python AS $$ return x $$
              |                             ^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT) LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: RETURNS is missing: RETURNS TYPE
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python PARALEL SAFE AS $$ return x $$",
        expect![[r#"
            cannot create function f: PARALEL is no clause of CREATE FUNCTION … LANGUAGE python
              |
            1 | CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python PARALEL SAFE AS $$ return x $$
              |                                                            ^^^^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (on_error 'skip') AS $$ return x $$",
        expect![[r#"
            cannot create function f: on_error is 'raise' or 'null', not 'skip'
              |
            1 | CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (on_error 'skip') AS $$ return x $$
              |                                                                              ^^^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(t TABLE (a BIGINT)) RETURNS BIGINT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: f takes a table; declare RETURNS TABLE (…), of one column for one value
              |
            1 | return x
              | ^^^^^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT) RETURNS TABLE LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: the columns of its rows must be declared: RETURNS TABLE (name TYPE, …)
              |
            1 | return x
              | ^^^^^^^^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT DEFAULT 'a') RETURNS BIGINT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: DEFAULT of x: 'a' is TEXT, but BIGINT is needed
              hint: CAST('a' AS BIGINT)
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT DEFAULT 1, y BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$",
        expect![[r#"
            cannot create function f: the parameter y needs a DEFAULT, as one before it has one
              |
            1 | CREATE FUNCTION f(x BIGINT DEFAULT 1, y BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$
              |                                       ^
        "#]],
    )
    .await;
    refused(
        "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE sql AS 'x'",
        expect![[r#"
            cannot create function f: LANGUAGE sql is not supported; Exuvia runs functions in Python: LANGUAGE python AS $$ return … $$
        "#]],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_while_planning() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION f(x BIGINT, y TEXT DEFAULT 'a') RETURNS BIGINT LANGUAGE python AS $$ return x $$;
         CREATE FUNCTION small(x TINYINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$;
         CREATE TABLE t AS SELECT 1.5 AS d, 7 AS i, 'a' AS s",
    )
    .await;
    expect![[r#"
        f takes 1 to 2 arguments, but 3 were given
          hint: f(x BIGINT, y TEXT DEFAULT 'a') RETURNS BIGINT"#]]
    .assert_eq(&fails(&session, "SELECT f(1, 'a', 2)").await);
    expect![[r#"
        f takes 1 to 2 arguments, but 0 were given
          hint: f(x BIGINT, y TEXT DEFAULT 'a') RETURNS BIGINT"#]]
    .assert_eq(&fails(&session, "SELECT f()").await);
    expect![[r#"
        f: argument 1 (x) is DOUBLE, but BIGINT is needed
          hint: CAST(t.d AS BIGINT)"#]]
    .assert_eq(&fails(&session, "SELECT f(d) FROM t").await);
    expect![[r#"
        f: argument 1 (x) is TEXT, but BIGINT is needed
          hint: CAST(t.s AS BIGINT)"#]]
    .assert_eq(&fails(&session, "SELECT f(s) FROM t").await);
    expect![[r#"
        small: argument 1 (x) is BIGINT, but TINYINT is needed
          hint: CAST(t.i AS TINYINT)"#]]
    .assert_eq(&fails(&session, "SELECT small(i) FROM t").await);
    expect!["small: argument 1 (x): 300 is outside TINYINT"].assert_eq(&fails(&session, "SELECT small(300)").await);
    expect![[r#"
        f has no parameter z
          |
        1 | SELECT f(1, z => 2)
          |             ^
          hint: f(x BIGINT, y TEXT DEFAULT 'a') RETURNS BIGINT"#]]
    .assert_eq(&fails(&session, "SELECT f(1, z => 2)").await);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(feature = "python")]
async fn hints_can_be_run() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$;
         CREATE FUNCTION u(x BIGINT UNSIGNED) RETURNS BIGINT LANGUAGE python AS $$ return x $$;
         CREATE FUNCTION days(x DATE) RETURNS TEXT LANGUAGE python AS $$ return str(x) $$;
         CREATE TABLE t AS SELECT 1.5 AS d, 7 AS i, '12' AS s, arrow_cast(3, 'UInt64') AS u, 9 AS \"Mixed\"",
    )
    .await;
    for call in [
        "f(u)",
        "f(u + 1)",
        "f(u * i)",
        "f(u * u)",
        "f(coalesce(u, 1))",
        "f(CASE WHEN i > 1 THEN u ELSE 1 END)",
        "f((SELECT max(u) FROM t))",
        "f(1.5)",
        "f('12')",
        "f(s || '0')",
        "f(arrow_cast(1, 'UInt8') + arrow_cast(1, 'UInt64'))",
        "f(sum(u) OVER ())",
        "f(sum(sum(u)) OVER ())",
        "f(sum(u))",
        "u(i)",
        "u(d)",
        "u(\"Mixed\")",
        "u(-i + 9)",
        "days(now())",
        "days('2020-' || '02-29')",
    ] {
        let error = fails(&session, &format!("SELECT {call} FROM t")).await;
        let (_, hint) = error.split_once("\n  hint: ").unwrap_or_else(|| panic!("{call}: {error}"));
        let function = call.split('(').next().unwrap_or_default();
        run(&session, &format!("SELECT {function}({hint}) FROM t")).await;
    }
    // Nothing casts an array to a number.
    expect!["f: argument 1 (x) is BIGINT[], but BIGINT is needed"]
        .assert_eq(&fails(&session, "SELECT f(array[1])").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_other_functions_is_refused() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$;
         CREATE TABLE t AS VALUES (1)",
    )
    .await;
    for (call, wrong) in [
        ("f(DISTINCT column1)", "DISTINCT specified, but f is not an aggregate function"),
        ("f(*)", "f(*) specified, but f is not an aggregate function"),
        ("f(t.*)", "f(*) specified, but f is not an aggregate function"),
        ("f(column1 ORDER BY column1)", "ORDER BY column1 specified, but f is not an aggregate function"),
        ("f(column1) FILTER (WHERE true)", "FILTER specified, but f is not an aggregate function"),
        ("f(column1) WITHIN GROUP (ORDER BY 1)", "WITHIN GROUP specified, but f is not an aggregate function"),
        ("f(column1) OVER ()", "OVER specified, but f is not a window function"),
        ("f(column1) IGNORE NULLS", "IGNORE NULLS specified, but f is not a window function"),
        ("f(column1 IGNORE NULLS)", "IGNORE NULLS specified, but f is not an aggregate function"),
    ] {
        for statement in [
            "SELECT CALL FROM t",
            "SELECT 1 FROM t WHERE column1 IN (SELECT CALL FROM t)",
            "WITH c AS (SELECT CALL FROM t) SELECT * FROM c",
            "CREATE VIEW v AS SELECT CALL FROM t",
            "EXPLAIN SELECT CALL FROM t",
            "COPY (SELECT CALL FROM t) TO '/nowhere.csv'",
            "INSERT INTO t SELECT CALL FROM t",
            "PREPARE p AS SELECT CALL FROM t",
        ] {
            let error = fails(&session, &statement.replace("CALL", call)).await;
            assert_eq!(error.lines().next(), Some(wrong), "{statement}");
        }
    }
    expect![[r#"
        OVER specified, but f is not a window function
          |
        2 |   F(column1) OVER (ORDER BY 1) FROM t
          |   ^"#]]
    .assert_eq(&fails(&session, "SELECT sum(f(column1)) OVER (),\n  F(column1) OVER (ORDER BY 1) FROM t").await);
    assert_eq!(
        rows(&session, "SELECT sum(f(column1)) FILTER (WHERE f(column1) > 0), sum(DISTINCT f(ALL column1)) FROM t")
            .await,
        "1 | 1"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_or_misspelt_is_told() {
    for (sql, expected) in [
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT AS $$ return x $$",
            expect![[r#"
            cannot create function f: LANGUAGE python is missing; Exuvia runs functions in Python: LANGUAGE python AS $$ return … $$
        "#]],
        ),
        (
            "CREATE FUNCTION f(x BIGINT RETURNS BIGINT LANGUAGE python AS $$ return x $$",
            expect![[r#"
            cannot create function f: expected , or ) or DEFAULT, found RETURNS
              |
            1 | CREATE FUNCTION f(x BIGINT RETURNS BIGINT LANGUAGE python AS $$ return x $$
              |                            ^^^^^^^
        "#]],
        ),
        (
            "CREATE FUNCTION (x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$",
            expect![[r#"
            expected identifier, found (
              |
            1 | CREATE FUNCTION (x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$
              |                 ^
        "#]],
        ),
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS str LANGUAGE python AS $$ return x $$",
            expect![[r#"
                cannot create function f: RETURNS: the type str is not supported; did you mean TEXT?
                  |
                1 | CREATE FUNCTION f(x BIGINT) RETURNS str LANGUAGE python AS $$ return x $$
                  |                                     ^^^
            "#]],
        ),
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS",
            expect![[r#"
                syntax error: expected a data type name, found the end
            "#]],
        ),
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x",
            expect![[r#"
            syntax error: Unterminated dollar-quoted string
              |
            1 | CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x
              |                                                               ^
        "#]],
        ),
        (
            "DROP FUNCTION f g",
            expect![[r#"
            expected the end of DROP FUNCTION, found g
              |
            1 | DROP FUNCTION f g
              |                 ^
        "#]],
        ),
        (
            "SELECT 1;\nSELECT 1 x\n  y",
            expect![[r#"
                syntax error: expected end of statement, found y
                  |
                3 |   y
                  |   ^
            "#]],
        ),
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT STRCIT LANGUAGE python AS $$ return x $$",
            expect![[r#"
                cannot create function f: STRCIT is no clause of CREATE FUNCTION … LANGUAGE python; did you mean STRICT?
                  |
                1 | CREATE FUNCTION f(x BIGINT) RETURNS BIGINT STRCIT LANGUAGE python AS $$ return x $$
                  |                                            ^^^^^^
            "#]],
        ),
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$ SELECT f(1)",
            expect![[r#"
                cannot create function f: expected ; before SELECT, which begins another statement
                  |
                1 | CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$ SELECT f(1)
                  |                                                                              ^^^^^^
            "#]],
        ),
        (
            "SELECT 1;\nSELECT f(1 FROM t",
            expect![[r#"
            syntax error: expected ), found FROM
              |
            2 | SELECT f(1 FROM t
              |            ^^^^
        "#]],
        ),
        (
            "SELECT\n  'it's'",
            expect![[r#"
            syntax error: Unterminated string literal
              |
            2 |   'it's'
              |        ^
        "#]],
        ),
        (
            "SELECT x",
            expect![[r#"
                No field named x.
                  |
                1 | SELECT x
                  |        ^
            "#]],
        ),
        (
            "SELECT x, x + 1 FROM (VALUES (1)) AS v(a)",
            expect![[r#"
                No field named x.
                Valid fields are v.a.
                  |
                1 | SELECT x, x + 1 FROM (VALUES (1)) AS v(a)
                  |        ^
            "#]],
        ),
        (
            "SELECT * FROM 'nowhere.csv'",
            expect![[r#"
            'nowhere.csv' is no table, and the file cannot be read: the working folder has none of that name
        "#]],
        ),
        (
            "SELECT * FROM read_csv('nowhere.csv')",
            expect![[r#"
                table function 'read_csv' not found
                  hint: a file is read by its path, FROM 'path/file.csv', or as a table of CREATE EXTERNAL TABLE, whose OPTIONS say how
            "#]],
        ),
        (
            "SELECT * FROM nowhere.csv",
            expect![[r#"
                table 'datafusion.nowhere.csv' not found
                  |
                1 | SELECT * FROM nowhere.csv
                  |               ^^^^^^^^^^^
                  hint: a file is named in quotes: FROM 'nowhere.csv'
            "#]],
        ),
        (
            "SELECT * FROM nowhere",
            expect![[r#"
                table 'datafusion.public.nowhere' not found
                  |
                1 | SELECT * FROM nowhere
                  |               ^^^^^^^
            "#]],
        ),
    ] {
        refused(sql, expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn named_arguments_are_checked() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT LANGUAGE python AS $$ return a // b $$",
    )
    .await;
    for (call, expected) in [
        (
            "f(1, z => 2)",
            expect![[r#"
            f has no parameter z
              |
            1 | SELECT f(1, z => 2)
              |             ^
              hint: f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT"#]],
        ),
        (
            "f(1, b => 1, B => 2)",
            expect![[r#"
            f is given its argument B twice
              |
            1 | SELECT f(1, b => 1, B => 2)
              |                     ^
              hint: f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT"#]],
        ),
        (
            "f(1, a => 1)",
            expect![[r#"
            f is given its argument a twice
              |
            1 | SELECT f(1, a => 1)
              |             ^
              hint: f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT"#]],
        ),
        (
            "f(b => 1, 1)",
            expect![[r#"
            f is given an argument without a name behind one with a name
              hint: f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT"#]],
        ),
        (
            "f(b => 1)",
            expect![[r#"
            f needs an argument a
              hint: f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT"#]],
        ),
        (
            "f(1, 2, b => 1)",
            expect![[r#"
            f is given its argument b twice
              |
            1 | SELECT f(1, 2, b => 1)
              |                ^
              hint: f(a BIGINT, b BIGINT DEFAULT 2) RETURNS BIGINT"#]],
        ),
        ("f(1, 2, 3, b => 1)", expect!["Too many positional arguments: expected at most 2, got 3"]),
    ] {
        expected.assert_eq(&fails(&session, &format!("SELECT {call}")).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn code_may_begin_beside_the_quote() {
    let session = session();
    for body in [
        " return x + 1 ",
        " y = x\n   return y + 1\n",
        "y = x\nreturn y + 1",
        " def g(x): return x\ndef f(x): return g(x) + 1",
        " def f(x):\n     return x + 1",
        "if x:\n  return x + 1\nreturn 0",
    ] {
        let create = format!("CREATE OR REPLACE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $${body}$$");
        run(&session, &create).await;
        assert_eq!(rows(&session, "SELECT f(1)").await, "2", "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn drop_names_types() {
    let session = session();
    let create = "CREATE FUNCTION f(x BIGINT, s TEXT) RETURNS BIGINT LANGUAGE python AS $$ return x $$";
    run(&session, create).await;
    for signature in ["f()", "f(text)", "f(bigint)", "f(text, bigint)"] {
        run(&session, &format!("DROP FUNCTION IF EXISTS {signature}")).await;
        let error = fails(&session, &format!("DROP FUNCTION {signature}")).await;
        assert!(error.ends_with("; there is f(x BIGINT, s TEXT) RETURNS BIGINT"), "{error}");
    }
    for signature in ["f(bigint, text)", "f(IN x bigint, s text)", "f(a bigint, varchar) CASCADE", "f"] {
        run(&session, &format!("DROP FUNCTION {signature}")).await;
        run(&session, create).await;
    }
}

/// What was made with a function uses the one that now has its name.
#[tokio::test(flavor = "multi_thread")]
async fn views_and_prepared_statements_follow_their_functions() {
    let session = session();
    let create =
        |body: &str| format!("CREATE OR REPLACE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ {body} $$");
    run(&session, &create("return x + 1")).await;
    run(
        &session,
        "CREATE TABLE t AS VALUES (1);
         CREATE VIEW v AS SELECT f(column1) AS y FROM t WHERE f(column1) > 0;
         CREATE VIEW w AS SELECT max(y) AS y FROM v;
         PREPARE p AS SELECT f(column1) + $1 FROM t;
         PREPARE q AS SELECT y FROM w",
    )
    .await;
    let all = ["SELECT y FROM v", "SELECT * FROM w", "EXECUTE p(0)", "EXECUTE q"];
    for query in all {
        assert_eq!(rows(&session, query).await, "2", "{query}");
    }
    run(&session, &create("return x + 10")).await;
    for query in all.iter().chain(&all) {
        assert_eq!(rows(&session, query).await, "11", "{query}");
    }
    run(&session, "DROP FUNCTION f").await;
    expect![[r"
        there is no function f any more, which a view calls
          hint: create it, or the view anew without it"]]
    .assert_eq(&fails(&session, "SELECT y FROM w").await);
    let error = fails(&session, "EXECUTE p(0)").await;
    assert!(error.starts_with("the prepared statement p does not fit the functions that there are now: "), "{error}");
    run(&session, "CREATE FUNCTION f(x TEXT) RETURNS BIGINT LANGUAGE python AS $$ return len(x) $$").await;
    expect![[r"
        a view calls f(x BIGINT) RETURNS BIGINT, which was replaced by f(x TEXT) RETURNS BIGINT
          hint: create the view anew"]]
    .assert_eq(&fails(&session, "SELECT y FROM v").await);
    // Names of arguments are not in the plan.
    let named = "CREATE OR REPLACE FUNCTION f(y BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return y $$";
    run(&session, named).await;
    assert!(fails(&session, "SELECT y FROM v").await.contains("which was replaced by f(y BIGINT)"));
    let error = fails(&session, "EXPLAIN SELECT f(column1 || '') FROM t").await;
    assert!(error.starts_with("f: argument 1 (y) is TEXT, but BIGINT is needed"), "{error}");
    run(&session, "DROP VIEW v").await;
    // What was gone is there again.
    run(&session, &create("return x + 20")).await;
    for query in ["SELECT * FROM w", "EXECUTE p(0)", "EXECUTE q", "EXPLAIN EXECUTE q"] {
        let text = rows(&session, query).await;
        assert!(text.contains("21") || query.starts_with("EXPLAIN"), "{query}: {text}");
    }
    // A session that was made of another keeps its own functions.
    let other = ExuviaSession::from(SessionContext::new_with_state(session.context().state()));
    run(&session, &create("return x + 30")).await;
    assert_eq!(rows(&other, "SELECT * FROM w").await, "21");
    assert_eq!(rows(&session, "SELECT * FROM w").await, "31");
}
