//! Calls that become expressions: each law, as a projection and as a filter, over values
//! that are chosen to break it, with inlining on and off.

use crate::common::{parquet, rows, run, session};
use exuvia::ExuviaSession;

/// A column for each kind of value, with NULLs (`…0`) and without.
async fn values(session: &ExuviaSession) {
    run(
        session,
        "CREATE TABLE v AS SELECT
            arrow_cast(i, 'Int64') AS i0, coalesce(i, 7) AS i,
            arrow_cast(n, 'Int32') AS n0, arrow_cast(coalesce(n, 7), 'Int32') AS n,
            x AS x0, coalesce(x, 0.5) AS x,
            arrow_cast(x, 'Float32') AS r0,
            s AS s0, coalesce(s, 'é') AS s,
            b AS b0, coalesce(i, 7) % 2 = 1 AS b
        FROM (VALUES
            (0, 0, 0.0, '', true),
            (1, 1, -0.0, 'a', false),
            (-1, -1, 1.0, 'b', NULL),
            (9223372036854775807, 2147483647, 'NaN'::DOUBLE, 'abc', true),
            (-9223372036854775808, -2147483648, -('NaN'::DOUBLE), 'ABC', false),
            (10, 10, 'Infinity'::DOUBLE, '😀a', true),
            (9007199254740993, 3, '-Infinity'::DOUBLE, 'é', true),
            (NULL, NULL, NULL, NULL, NULL),
            (5, 5, 10.0, '%', true),
            (6, 6, 9.999999999999998, 'a%b_c', true),
            (-7, -7, 5e-324, 'a\\b', false),
            (7, 7, -5e-324, 'axbyc', false),
            (4, 4, 1e308, ' a', false)
        ) AS t (i, n, x, s, b)",
    )
    .await;
}

/// A function's parameters, further clauses and body, the arguments it is called with, and
/// whether the call becomes an expression.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str, bool);

const CASES: &[Case] = &[
    // Ints.
    ("a BIGINT", "BOOLEAN", "", "return a < 10", "i", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a < 10", "i0", true),
    ("a BIGINT", "BOOLEAN", "", "return a < 10", "i0", false),
    ("a BIGINT", "BOOLEAN", "OPTIONS (on_error 'null')", "return a < 10", "i0", true),
    ("a BIGINT", "BOOLEAN", "", "return a is not None and 0 <= a < 7", "i0", true),
    ("a BIGINT", "BOOLEAN", "", "return a is None or a == 7 or a != 5 and a >= 6", "i0", true),
    ("a BIGINT", "BOOLEAN", "", "if a is None:\n  return None\nreturn a > 3", "i0", true),
    ("a BIGINT", "BOOLEAN", "", "if a is None:\n  return None\nreturn not (a > 3 or a == -1)", "i0", true),
    ("a BIGINT", "BOOLEAN", "", "if a is None:\n  return None\nreturn True", "i0", false),
    ("a BIGINT", "BOOLEAN", "", "if a is None:\n  return False\nif a > 5:\n  return None\nreturn True", "i0", false),
    ("a BIGINT", "BOOLEAN", "STRICT", "return True", "i0", false),
    ("a BIGINT", "BOOLEAN", "STRICT", "return bool(a)", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return not a", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a % 3 == 1", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a % 3 == 0 or a % 7 == 2", "i0", true),
    // Ints beyond 64 bits on the way.
    ("a BIGINT", "BOOLEAN", "STRICT", "return a + 1 > 5", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * 9 - 3 <= 60", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return 3 - a * 2 < -9223372036854775807", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * 2 == 10 or a * 2 == 11 or a + 1 != 6", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a // 3 == 2 or 1 >= a // 7", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a // -3 == 2", "i0", false),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * 1.5 > 9 or a * 1.5 == 6", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * 0.5 != 3.5", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * 10000000000 * 1000000000 < 5", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * 0 == 0", "i0", false),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a * a < 50", "i0", false),
    ("a INTEGER", "BOOLEAN", "", "return a is None or a * 3 - 7 > 4", "n0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a * 1.21 + 3 != 4.21", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return 5 - a * 2 >= 3", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return (a + 1) / -2 == -1", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a * 1e300 > 1e308", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a * 1e-300 <= 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a + 1e308 < 1e999", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return not a * 2 < 10", "x0", true),
    ("a REAL", "BOOLEAN", "STRICT", "return a * 0.1 >= 0.1", "r0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a in (1, 5, 7)", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a in {1, 5, 9223372036854775807}", "i0", true),
    ("a BIGINT", "BOOLEAN", "STRICT", "return a not in {1, 5, 7}", "i0", true),
    ("a BIGINT, c BIGINT", "BOOLEAN", "STRICT", "return a < c", "i0, i", true),
    ("a BIGINT, c BIGINT", "BOOLEAN", "STRICT", "return a < 3 or c > 5", "i0, i", false),
    ("a BIGINT, c BIGINT", "BOOLEAN", "STRICT", "return a < 3 or c > 5", "i, i", true),
    ("a BIGINT", "BIGINT", "STRICT", "return a", "i0", true),
    ("a INTEGER", "BOOLEAN", "STRICT", "return a < 3 or a > 2147483646", "n0", true),
    ("a INTEGER", "BOOLEAN", "", "return a is not None and a <= 4", "n0", true),
    // What a column can hold keeps these within 64 bits.
    ("a INTEGER", "BOOLEAN", "STRICT", "return a * 2 + 1 > 3", "n0", true),
    ("a INTEGER", "BIGINT", "STRICT", "return (a - 7) * 1000 - a", "n0", true),
    ("a INTEGER", "BIGINT", "STRICT", "return a * a * a", "n0", false),
    // Floats: NaN, zeros, infinities.
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a < 10", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a < 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a <= 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a > 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a >= 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a == 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a != 0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a != 10.0", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a > 1e308", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a >= 1e999", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a <= -1e999", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return not a < 10", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return 0 < a < 10", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return -0.0 < a", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return 9007199254740993 < a", "x0", false),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return a * 1.21 + 3 < 20", "x0", true),
    ("a DOUBLE", "BOOLEAN", "STRICT", "return (a - 1) / 3 >= 2.5", "x0", true),
    ("a DOUBLE", "DOUBLE", "STRICT", "return a / 3 - a * a", "x0", false),
    ("a DOUBLE", "DOUBLE", "STRICT", "return 1 / a", "x", false),
    ("a DOUBLE, c DOUBLE", "BOOLEAN", "STRICT", "return a < c", "x, x", false),
    ("a REAL", "BOOLEAN", "STRICT", "return a >= 0.5 or a < -1e30", "r0", true),
    ("a BIGINT", "DOUBLE", "STRICT", "return a * 1.5", "i0", false),
    // Text.
    ("a TEXT", "BOOLEAN", "STRICT", "return a == 'abc'", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a != 'é'", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return 'a' < a <= 'é'", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.startswith('a%')", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.startswith('a_')", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.startswith('a\\\\')", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.startswith('')", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.endswith('_c') or a.endswith('😀a')", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return '%b_' in a or 'a\\\\b' in a or '' in a", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.startswith('b', 1)", "s0", false),
    ("a TEXT", "BOOLEAN", "STRICT", "return a in ('a', 'b', '')", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a in {'a', '%', 'é'}", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a not in {'a': 1, '%': 2}", "s0", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a in {'a', 1}", "s0", false),
    ("a TEXT", "BOOLEAN", "STRICT", "return bool(a) and len(a) < 3", "s0", true),
    ("a TEXT", "BOOLEAN", "", "return a is not None and (len(a) == 1 or a > 'b')", "s0", true),
    ("a TEXT", "BIGINT", "STRICT", "return len(a)", "s0", true),
    ("a TEXT", "TEXT", "STRICT", "return a", "s0", true),
    ("a TEXT, c TEXT", "BOOLEAN", "STRICT", "return a.startswith(c) or c in a", "s0, s", true),
    ("a TEXT", "BOOLEAN", "STRICT", "return a.lower() == 'abc'", "s0", false),
    // Bools.
    ("a BOOLEAN", "BOOLEAN", "STRICT", "return not a", "b0", true),
    ("a BOOLEAN", "BOOLEAN", "", "return a is None or a", "b0", true),
    ("a BOOLEAN, c BOOLEAN", "BOOLEAN", "", "return a and not c", "b, b", true),
    // What is computed is computed once.
    ("a TEXT", "BOOLEAN", "STRICT", "return a in ('a', 'b')", "upper(s0)", false),
    ("a TEXT", "BOOLEAN", "STRICT", "return a == 'ABC'", "upper(s0)", true),
];

#[tokio::test(flavor = "multi_thread")]
async fn inlined_calls_have_pythons_values() {
    let session = session();
    values(&session).await;
    let mut wrong = vec![];
    for (params, returns, clauses, body, args, inlined) in CASES {
        let create = format!(
            "CREATE OR REPLACE FUNCTION f({params}) RETURNS {returns} LANGUAGE python {clauses} AS $$\n{body}\n$$"
        );
        run(&session, &create).await;
        let call = format!("f({args})");
        run(&session, "SET exuvia.inline = on").await;
        // A filter does not change the schema, whether or not the result can be NULL.
        let shown = if *returns == "BOOLEAN" {
            format!("SELECT i FROM v WHERE {call}")
        } else {
            format!("SELECT {call} FROM v")
        };
        let plan = rows(&session, &format!("EXPLAIN {shown}")).await;
        if plan.contains("f: no call is left") != *inlined {
            wrong.push(format!("{body:?} of {args}: {plan}"));
        }
        let mut queries = vec![format!("SELECT {call} AS y, i FROM v")];
        if *returns == "BOOLEAN" {
            queries.push(format!("SELECT i, s, x FROM v WHERE {call}"));
            queries.push(format!("SELECT i, s, x FROM v WHERE NOT {call}"));
            queries.push(format!("SELECT i, s, x FROM v WHERE {call} IS NULL"));
            queries.push(format!("SELECT i, s, x FROM v WHERE {call} OR i > 3 AND {call}"));
        }
        for query in queries {
            wrong.extend(difference(&session, &query).await.map(|found| format!("{body:?}, {found}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Numbers that are compared in SQL: by Arrow's order, in which NaN is the greatest float.
#[tokio::test(flavor = "multi_thread")]
async fn compared_results_are_those_of_calls() {
    let session = session();
    values(&session).await;
    let mut wrong = vec![];
    for (params, returns, body, arg, constants) in [
        (
            "a DOUBLE",
            "DOUBLE",
            "return a * 1.21 + 3",
            "x0",
            &["3", "4.21", "0.0", "1e308", "-1e308", "'NaN'::DOUBLE"][..],
        ),
        ("a DOUBLE", "DOUBLE", "return 5 - a / 2", "x0", &["5", "4.5", "0", "'-Infinity'::DOUBLE"]),
        ("a DOUBLE", "DOUBLE", "return a * 2", "x0", &["0.0", "-0.0", "20", "'Infinity'::DOUBLE"]),
        ("a DOUBLE", "DOUBLE", "return a * -2", "x0", &["0.0", "-0.0", "-20", "1e-323"]),
        ("a DOUBLE", "DOUBLE", "return a + 0.0", "x0", &["0.0", "-0.0"]),
        ("a REAL", "DOUBLE", "return a * 0.1", "r0", &["0.1", "1", "-0.0"]),
        ("a BIGINT", "DOUBLE", "return a * 1.5", "i0", &["15", "7.5", "-1.5", "0", "1.3835058055282164e19"]),
        ("a BIGINT", "BIGINT", "return a // 7", "i0", &["1", "0", "-1", "9223372036854775807", "NULL"]),
        ("a INTEGER", "BIGINT", "return 4 - a * 3", "n0", &["1", "-11", "-6442450937", "2.5"]),
    ] {
        run(
            &session,
            &format!("CREATE OR REPLACE FUNCTION f({params}) RETURNS {returns} STRICT LANGUAGE python AS $$ {body} $$"),
        )
        .await;
        for constant in constants {
            for op in ["<", "<=", ">", ">=", "=", "<>", "IS DISTINCT FROM"] {
                for query in [
                    format!("SELECT f({arg}) {op} {constant} AS y, i FROM v"),
                    format!("SELECT i, s, x FROM v WHERE {constant} {op} f({arg})"),
                    format!("SELECT i, s, x FROM v WHERE NOT (f({arg}) {op} {constant})"),
                ] {
                    wrong.extend(difference(&session, &query).await.map(|found| format!("{body:?}, {found}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A function's parameters, its type with further clauses, its body, the arguments it is called
/// with, what is asked of its result, and what is asked where it stays a call.
type Branches =
    (&'static str, &'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// Results with branches and look-ups: each branch is compared for itself.
const BRANCHES: &[Branches] = &[
    (
        "a DOUBLE",
        "TEXT STRICT",
        "if a < 1:\n  return 'cheap'\nelif a < 100:\n  return 'mid'\nreturn 'dear'",
        "x0",
        &["= 'cheap'", "<> 'mid'", "> 'd'", "IN ('cheap', 'é', 'dear', 'x', 'y')", "NOT IN ('mid', 'a', 'b', 'c')"],
        &["LIKE 'c%'", "= 'none'"],
    ),
    (
        "a BIGINT",
        "BIGINT",
        "if a is None:\n  return None\nif a < 0:\n  return 0\nreturn a // 2 if a > 9 else 7",
        "i0",
        &["= 0", "= 7", "> 4", "<> 7"],
        &["IS DISTINCT FROM 0"],
    ),
    ("a BIGINT", "BIGINT STRICT", "return -1 if a < 0 else a * 3", "i0", &[], &["= -1", "> 5"]),
    (
        "s TEXT",
        "DOUBLE STRICT",
        "return {'a': 1.0, 'abc': 0.5, 'é': -0.0, '%': float('nan')}.get(s, 0.0)",
        "s0",
        &["= 1.0", "> 0.4", "<> 'NaN'::DOUBLE"],
        &["+ 1 > 1.2", "= 17.0", "<= 0.0", "= -0.0"],
    ),
    (
        "s TEXT",
        "BIGINT STRICT OPTIONS (on_error 'null')",
        "return {'a': 1, 'abc': 5, 'é': 5}[s]",
        "s0",
        &[],
        &["= 5", "<> 5"],
    ),
    (
        "a BIGINT",
        "TEXT STRICT",
        "return {1: 'one', 5: 'five', 7: 'é'}.get(a, 'many')",
        "i0",
        &["= 'é'", "= 'many'", "< 'o'"],
        &[],
    ),
    (
        "s TEXT",
        "BOOLEAN STRICT",
        "return {'a': True, 'b': False, 'é': True}.get(s, False)",
        "s0",
        &["", "IS NOT TRUE"],
        &[],
    ),
    ("a DOUBLE, s TEXT", "TEXT STRICT", "return s if a > 0 else 'é'", "x, s", &["= 'é'", "< 'b'", "<> ''"], &[]),
    (
        "a DOUBLE",
        "DOUBLE STRICT",
        "return a * 2 if a > 0 else -1.5",
        "x0",
        &["> 2", "<= 20", "= -1.5", "<> 20", "<> 2.5"],
        &["> 0", "= 'NaN'::DOUBLE"],
    ),
    (
        "a BIGINT",
        "TEXT STRICT",
        "for at in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14):\n  if a == at * 3:\n    return str(at)\nreturn ''",
        "i0",
        &[],
        &["= '1'", "= ''", "= '14'"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn results_of_branches_are_compared_for_themselves() {
    let session = session();
    values(&session).await;
    let mut wrong = vec![];
    for (params, returns, body, args, said, calls) in BRANCHES {
        let (returns, clauses) = returns.split_once(' ').unwrap_or((returns, ""));
        run(
            &session,
            &format!(
                "CREATE OR REPLACE FUNCTION f({params}) RETURNS {returns} LANGUAGE python {clauses} AS $$\n{body}\n$$"
            ),
        )
        .await;
        for (tests, inlined) in [(said, true), (calls, false)] {
            for test in *tests {
                let plan = rows(&session, &format!("EXPLAIN SELECT i FROM v WHERE f({args}) {test}")).await;
                if plan.contains("f: no call is left") != inlined {
                    wrong.push(format!("{body:?} {test}: {plan}"));
                }
                for query in [
                    format!("SELECT i, s, x FROM v WHERE f({args}) {test}"),
                    format!("SELECT i, s, x FROM v WHERE NOT (f({args}) {test})"),
                    format!("SELECT i, f({args}) {test} AS y FROM v"),
                    format!("SELECT i, s, x FROM v WHERE (f({args}) {test}) IS NULL OR i = 4"),
                ] {
                    wrong.extend(difference(&session, &query).await.map(|found| format!("{body:?}, {found}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a query gives with inlining and without, if that differs. It is on afterwards.
async fn difference(session: &ExuviaSession, query: &str) -> Option<String> {
    run(session, "SET exuvia.inline = off").await;
    let called = answer(session, query).await;
    run(session, "SET exuvia.inline = on").await;
    let inlined = answer(session, query).await;
    (inlined != called).then(|| format!("{query}:\n  inlined: {inlined}\n  called: {called}"))
}

/// The rows of a query in a fixed order, or its error.
async fn answer(session: &ExuviaSession, query: &str) -> String {
    let batches = match session.sql(query).await {
        Ok(frame) => frame.collect().await,
        Err(error) => Err(error),
    };
    match batches {
        Ok(batches) => {
            let table = datafusion::arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string();
            let mut lines: Vec<&str> = table.lines().collect();
            lines.sort_unstable();
            lines.join("\n")
        }
        Err(error) => exuvia::message(&error),
    }
}

/// What a scan of Parquet reads for a predicate: `row_groups_pruned_statistics` and the
/// rows that leave the scan.
async fn scanned(session: &ExuviaSession, predicate: &str) -> String {
    let plan = rows(session, &format!("EXPLAIN ANALYZE SELECT count(*) FROM p WHERE {predicate}")).await;
    let metric = |name: &str| {
        let start = plan.find(&format!("{name}=")).map(|at| at + name.len() + 1);
        start.map(|at| plan[at..].split([',', ']']).next().unwrap_or_default().to_string())
    };
    let names = ["row_groups_pruned_statistics", "page_index_pages_pruned", "output_rows"];
    names.map(|name| format!("{name}={}", metric(name).unwrap_or_default())).join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn inlined_predicates_skip_what_those_by_hand_skip() {
    let session = session();
    let _folder = parquet(
        &session,
        "SELECT value AS i, value * 0.5 AS x, concat('k', lpad(cast(value AS varchar), 6, '0')) AS s
             FROM generate_series(0, 99999)",
        10000,
    )
    .await;
    run(
        &session,
        "CREATE FUNCTION few(a BIGINT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$
            return 100 <= a < 12000
         $$;
         CREATE FUNCTION cheap(price DOUBLE) RETURNS BOOLEAN LANGUAGE python AS $$
            if price is None:
                return False
            return price < 3000
         $$;
         CREATE FUNCTION fee(price DOUBLE) RETURNS DOUBLE LANGUAGE python STRICT AS $$
            return price * 1.21 + 3
         $$;
         CREATE FUNCTION dear(price DOUBLE) RETURNS BOOLEAN LANGUAGE python STRICT AS $$
            return price / 4 - 7 > 9993
         $$;
         CREATE FUNCTION decade(i BIGINT) RETURNS BIGINT LANGUAGE python STRICT AS $$
            return i // 10
         $$;
         CREATE FUNCTION even(i BIGINT, key TEXT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$
            if not 100 <= i < 12000:
                return False
            return int(key[1:]) % 2 == 0
         $$;
         CREATE FUNCTION tier(price DOUBLE) RETURNS TEXT LANGUAGE python STRICT AS $$
            if price < 3000:
                return 'cheap'
            return 'mid' if price < 40000 else 'dear'
         $$;
         CREATE FUNCTION place(key TEXT) RETURNS BIGINT LANGUAGE python STRICT AS $$
            return {'k000100': 1, 'k000999': 2, 'k077000': 1, 'k012000': 3}.get(key, 0)
         $$;
         CREATE FUNCTION level(i BIGINT, key TEXT) RETURNS BIGINT LANGUAGE python STRICT AS $$
            if i < 100:
                return 0
            if i >= 12000:
                return 9
            return int(key[1:]) % 2 + 1
         $$;
         CREATE FUNCTION seven(i BIGINT, key TEXT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$
            if i >= 12000:
                return False
            return key.lower().endswith('7')
         $$;
         CREATE FUNCTION ours(key TEXT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$
            return key.startswith('k05')
         $$;",
    )
    .await;
    for (called, by_hand) in [
        ("few(i)", "i >= 100 AND i < 12000"),
        ("cheap(x)", "x IS NOT NULL AND NOT isnan(x) AND x < 3000"),
        ("ours(s)", "starts_with(s, 'k05')"),
        ("fee(x) < 60", "NOT isnan(x) AND x <= 47.10743801652892"),
        ("dear(x)", "NOT isnan(x) AND x > 40000"),
        ("decade(i) = 4321", "i >= 43210 AND i <= 43219"),
        ("decade(i) BETWEEN 100 AND 200", "i >= 1000 AND i <= 2009"),
        ("7 > decade(i)", "i <= 69"),
        ("even(i, s)", "i >= 100 AND i < 12000 AND i % 2 = 0"),
        ("tier(x) = 'cheap'", "NOT isnan(x) AND x < 3000"),
        ("tier(x) IN ('cheap', 'a', 'b', 'c')", "NOT isnan(x) AND x < 3000"),
        ("tier(x) <> 'cheap' AND tier(x) <> 'dear'", "NOT isnan(x) AND x >= 3000 AND NOT isnan(x) AND x < 40000"),
        ("place(s) = 1", "s IN ('k000100', 'k077000')"),
        ("level(i, s) = 2", "i >= 100 AND i < 12000 AND i % 2 = 1"),
        ("2 <= level(i, s) AND level(i, s) < 5", "i >= 100 AND i < 12000 AND i % 2 = 1"),
        ("ours(s) AND few(i)", "starts_with(s, 'k05') AND i >= 100 AND i < 12000"),
    ] {
        let found = scanned(&session, called).await;
        assert_eq!(found, scanned(&session, by_hand).await, "{called}");
        run(&session, "SET exuvia.inline = off").await;
        let off = scanned(&session, called).await;
        run(&session, "SET exuvia.inline = on").await;
        assert_ne!(found, off, "{called} reads as much without inlining");
    }
    // Of what could be evaluated anywhere, what it begins with goes to the scan alone.
    let found = scanned(&session, "seven(i, s)").await;
    assert!(found.starts_with("row_groups_pruned_statistics=10 total → 2 matched"), "{found}");
}

/// Predicates over dates skip what those by hand skip; days that Python's dates cannot hold
/// still reach the function, which fails for them.
#[tokio::test(flavor = "multi_thread")]
async fn predicates_over_dates_skip_what_those_by_hand_skip() {
    let session = session();
    let _folder = parquet(
        &session,
        "SELECT value AS i, CASE WHEN value % 100 = 7 THEN NULL
                          ELSE arrow_cast(arrow_cast(value, 'Int32'), 'Date32') END AS d
             FROM generate_series(10000, 29999)",
        1000,
    )
    .await;
    run(
        &session,
        "CREATE FUNCTION year_of(d DATE) RETURNS BIGINT LANGUAGE python STRICT AS $$
            return d.year
         $$;
         CREATE FUNCTION recent(d DATE) RETURNS BOOLEAN LANGUAGE python AS $$
from datetime import date
def recent(d):
    return d is not None and d >= date(2040, 1, 1)
         $$;
         CREATE FUNCTION era(d DATE) RETURNS TEXT LANGUAGE python STRICT AS $$
            return 'old' if d.year < 2000 else 'new' if d.year >= 2045 else 'now'
         $$",
    )
    .await;
    for (predicate, by_hand) in [
        ("year_of(d) = 2024", "d >= DATE '2024-01-01' AND d < DATE '2025-01-01'"),
        ("year_of(d) > 2048", "d >= DATE '2049-01-01'"),
        ("year_of(d) IN (2003, 2004)", "d >= DATE '2003-01-01' AND d < DATE '2005-01-01'"),
        ("2001 >= year_of(d)", "d <= DATE '2001-12-31'"),
        ("recent(d)", "d >= DATE '2040-01-01'"),
        ("era(d) = 'new'", "d >= DATE '2045-01-01'"),
        ("era(d) = 'now'", "d >= DATE '2000-01-01' AND d < DATE '2045-01-01'"),
    ] {
        let (scans, counts) = (scanned(&session, predicate).await, scanned(&session, by_hand).await);
        assert_eq!(scans, counts, "{predicate}");
        assert!(!scans.starts_with("row_groups_pruned_statistics=20 total → 20"), "{predicate}: {scans}");
        let count = |predicate: &str| format!("SELECT count(*), sum(i) FROM p WHERE {predicate}");
        assert_eq!(rows(&session, &count(predicate)).await, rows(&session, &count(by_hand)).await, "{predicate}");
    }
    run(
        &session,
        "CREATE TABLE far AS SELECT arrow_cast(arrow_cast(column1, 'Int32'), 'Date32') AS d
         FROM (VALUES (19800), (2932897))",
    )
    .await;
    for query in ["SELECT d FROM far WHERE year_of(d) = 2024", "SELECT year_of(d) FROM far"] {
        let error = session.sql(query).await.unwrap().collect().await.unwrap_err().to_string();
        let expected = if cfg!(feature = "python") { "datetime.date" } else { "needs CPython" };
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn inlining_is_shown_and_can_be_switched_off() {
    let session = session();
    run(&session, "CREATE TABLE t AS SELECT column1 AS a FROM (VALUES (1), (2))").await;
    for (options, shown) in [
        ("", "small: no call is left"),
        ("OPTIONS (inline 'auto')", "small: no call is left"),
        ("OPTIONS (inline 'off')", "small(a): native"),
    ] {
        run(
            &session,
            &format!(
                "CREATE OR REPLACE FUNCTION small(a BIGINT) RETURNS BOOLEAN LANGUAGE python STRICT {options}
                 AS $$ return a < 2 $$"
            ),
        )
        .await;
        let plan = rows(&session, "EXPLAIN SELECT a FROM t WHERE small(a)").await;
        assert!(plan.contains(shown), "{plan}");
        assert_eq!(rows(&session, "SELECT a FROM t WHERE small(a)").await, "1");
    }
}

/// The statistics of a column leave NaN out, so a predicate that NaN satisfies skips nothing.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_nan_are_not_skipped() {
    let session = session();
    let _folder = parquet(
        &session,
        "SELECT value AS i, CASE WHEN value % 3 = 0 THEN 'NaN'::DOUBLE ELSE 0.0 END AS x
             FROM generate_series(0, 2999)",
        100,
    )
    .await;
    for (body, kept) in [
        ("return a < 10", 2000),
        ("return not a < 10", 1000),
        ("return a != 0", 1000),
        ("return a == 0", 2000),
        ("return not a == 0", 1000),
        ("return not (-1 < a < 1)", 1000),
    ] {
        run(
            &session,
            &format!("CREATE OR REPLACE FUNCTION f(a DOUBLE) RETURNS BOOLEAN LANGUAGE python STRICT AS $$\n{body}\n$$"),
        )
        .await;
        assert_eq!(rows(&session, "SELECT count(*) FROM p WHERE f(x)").await, kept.to_string(), "{body}");
        let rest = (3000 - kept).to_string();
        assert_eq!(rows(&session, "SELECT count(*) FROM p WHERE NOT f(x)").await, rest, "not {body}");
    }
}

/// Where the schema, the arguments or the rows around a call say less than they seem to.
#[tokio::test(flavor = "multi_thread")]
async fn surroundings_do_not_deceive() {
    let session = session();
    run(
        &session,
        "CREATE TABLE nn (i BIGINT NOT NULL, s TEXT NOT NULL) AS VALUES (1, 'a'), (20, 'b');
         CREATE TABLE e AS SELECT * FROM nn WHERE i > 99;
         CREATE TABLE t AS SELECT column1 AS i, column2 AS j, column3 AS s
         FROM (VALUES (1, 5, 'x'), (NULL, 20, NULL), (30, NULL, 'y')) AS v;
         CREATE FUNCTION lt10(a BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return a < 10 $$;
         CREATE FUNCTION st(a BIGINT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$ return a < 10 $$;
         CREATE FUNCTION isn(a BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return a is None $$;
         CREATE FUNCTION starts(a TEXT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$ return a.startswith('x') $$;
         CREATE FUNCTION never(a BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return False $$;
         CREATE FUNCTION always(a BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return a is None or True $$;
         CREATE FUNCTION both(a BIGINT, b BIGINT) RETURNS BOOLEAN STRICT LANGUAGE python AS $$ return a < 10 and b < 10 $$;
         CREATE FUNCTION boom(a BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return 1 // 0 if a == 1 else a $$;
         CREATE FUNCTION size(s TEXT) RETURNS BIGINT LANGUAGE python AS $$ return len(s) $$",
    )
    .await;
    let mut wrong = vec![];
    for query in [
        // Functions in arguments that are not strict.
        "SELECT starts(concat(s, 'q')) FROM t",
        "SELECT st(greatest(i, j)) FROM t",
        "SELECT st(CASE WHEN i IS NULL THEN 3 ELSE i END) FROM t",
        "SELECT st(coalesce(i, j)) FROM t",
        "SELECT i FROM t WHERE isn(nullif(i, 1))",
        "SELECT both(greatest(i, j), i), both(i, j) FROM t",
        "SELECT i, j FROM t WHERE NOT both(i, j)",
        // A scalar subquery without rows is NULL, whatever its column.
        "SELECT lt10((SELECT i FROM e))",
        "SELECT lt10((SELECT i FROM e)) FROM nn",
        "SELECT 1 FROM nn WHERE lt10((SELECT i FROM e))",
        "SELECT 1 FROM nn WHERE isn((SELECT i FROM e))",
        "SELECT st((SELECT i FROM e)), isn((SELECT i FROM e)), always((SELECT i FROM e))",
        "WITH w AS (SELECT (SELECT i FROM e) AS i FROM nn) SELECT i FROM w WHERE isn(i)",
        "SELECT i FROM (SELECT (SELECT i FROM e) AS i FROM nn) AS d WHERE NOT isn(i)",
        // Columns of the outer side.
        "SELECT nn.i FROM nn LEFT JOIN e ON nn.i = e.i WHERE isn(e.i)",
        "SELECT isn(e.i), st(e.i) FROM nn LEFT JOIN e ON nn.i = e.i",
        "SELECT lt10(e.i) FROM nn LEFT JOIN e ON nn.i = e.i",
        "SELECT isn(nn.i) FROM nn FULL JOIN t ON nn.i = t.i",
        // Schemas.
        "SELECT coalesce(isn(i), true), coalesce(st(i), true) FROM nn",
        "SELECT coalesce(lt10(i), true) FROM nn UNION ALL SELECT st(j) FROM t",
        "SELECT isn(i), count(*) FROM nn GROUP BY isn(i)",
        "SELECT coalesce((SELECT lt10(i) FROM e), true)",
        "SELECT coalesce((SELECT lt10(max(i)) FROM e), true)",
        "CREATE OR REPLACE TABLE c AS SELECT st(i) AS y FROM nn",
        "INSERT INTO c SELECT st(i) FROM t",
        // Guards.
        "SELECT i FROM t WHERE i IS NOT NULL AND lt10(i)",
        "SELECT i FROM (SELECT i FROM t WHERE i IS NOT NULL) WHERE lt10(i) OR i = 30",
        "SELECT i FROM t WHERE i IS NOT NULL OR lt10(i)",
        "SELECT i FROM t WHERE lt10(i)",
        // Arguments that fail.
        "SELECT never(boom(i)) FROM nn",
        "SELECT never(boom(i)), always(boom(i)) FROM t",
        "SELECT i FROM nn WHERE NOT never(boom(i))",
        "SELECT both(i, boom(j)), both(boom(i), j) FROM t",
        "SELECT size(concat(s, s)), size(s) FROM nn",
    ] {
        wrong.extend(difference(&session, query).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn not_null_is_used_where_it_is_proven() {
    let session = session();
    run(
        &session,
        "CREATE TABLE nn (i BIGINT NOT NULL) AS VALUES (1), (20);
         CREATE TABLE t AS SELECT column1 AS i FROM (VALUES (1), (NULL), (30)) AS v;
         CREATE FUNCTION lt10(a BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$ return a < 10 $$",
    )
    .await;
    for (query, inlined) in [
        ("SELECT i FROM nn WHERE lt10(i)", true),
        ("SELECT i FROM t WHERE lt10(i)", false),
        ("SELECT i FROM t WHERE i IS NOT NULL AND lt10(i)", true),
        ("SELECT i FROM t WHERE i > 0 AND lt10(i)", false),
        ("SELECT k FROM (SELECT i AS k FROM nn) AS d WHERE lt10(k)", true),
        ("SELECT k FROM (SELECT i + 1 AS k FROM nn) AS d WHERE lt10(k)", false),
        ("SELECT nn.i FROM nn JOIN t ON nn.i = t.i WHERE lt10(nn.i)", true),
        ("SELECT nn.i FROM t LEFT JOIN nn ON nn.i = t.i WHERE lt10(nn.i)", false),
        ("SELECT lt10(3) FROM t", true),
    ] {
        let plan = rows(&session, &format!("EXPLAIN {query}")).await;
        assert_eq!(plan.contains("lt10: no call is left"), inlined, "{query}\n{plan}");
    }
}

/// NULL is no answer to IS DISTINCT FROM, and arithmetic asks nothing.
#[tokio::test(flavor = "multi_thread")]
async fn only_comparisons_are_asked_of_branches() {
    let session = session();
    values(&session).await;
    run(
        &session,
        "CREATE FUNCTION hd(x BIGINT, s TEXT) RETURNS DOUBLE LANGUAGE python STRICT AS $$
             if x > 5: return None
             if x > 3: return float('nan')
             return float(len(s.upper()))
         $$;
         CREATE FUNCTION none(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return None $$;
         CREATE FUNCTION many(x BIGINT) RETURNS BOOLEAN LANGUAGE python STRICT AS $$ return x > 2 $$",
    )
    .await;
    for query in [
        "SELECT i FROM v WHERE hd(i0, s0) IS DISTINCT FROM 2.0",
        "SELECT i FROM v WHERE hd(i0, s0) IS NOT DISTINCT FROM 1.0",
        "SELECT i FROM v WHERE hd(i0, s0) IS NOT DISTINCT FROM NULL",
        "SELECT i, none(i0) IS DISTINCT FROM 3 FROM v",
        "SELECT none(i0) + 1, none(i) * 2, none(i) % 3, none(i) & 1 FROM v",
        "SELECT i FROM v WHERE none(i) + 2 > 0 OR none(i) + 2 IS NULL",
        "SELECT many(i0), count(*) FROM v GROUP BY ROLLUP (many(i0))",
        "SELECT many(i0), i0 = 5, count(*) FROM v GROUP BY GROUPING SETS ((many(i0)), (i0 = 5), ())",
    ] {
        assert_eq!(difference(&session, query).await, None);
    }
}

/// What a prefilter asks of a computed column would be computed twice.
#[tokio::test(flavor = "multi_thread")]
async fn computed_columns_have_no_prefilters() {
    let session = session();
    values(&session).await;
    run(
        &session,
        "CREATE FUNCTION half(a BIGINT) RETURNS BIGINT STRICT LANGUAGE python OPTIONS (on_error 'null') AS $$ return int(str(a)) // 2 $$;
         CREATE FUNCTION far(a BIGINT, b BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
             return 1 if a < 3 else b // a
         $$",
    )
    .await;
    let plan = |sql: &'static str| {
        let session = session.clone();
        async move { rows(&session, &format!("EXPLAIN {sql}")).await }
    };
    let computed = plan("SELECT h FROM (SELECT half(i) AS h, i FROM v) WHERE far(h, i) > 1").await;
    assert_eq!(computed.matches("half(i@").count(), 1, "{computed}");
    let stored = plan("SELECT h FROM (SELECT i AS h, i FROM v) WHERE far(h, i) > 1").await;
    assert!(stored.contains("Filter: v.i >= Int64(3)"), "{stored}");
}

/// What the first steps of a function demand goes into the scan; the rest, and what raises,
/// stays as it is.
#[tokio::test(flavor = "multi_thread")]
async fn first_steps_become_prefilters() {
    let session = session();
    values(&session).await;
    let mut wrong = vec![];
    for (params, clauses, body, args, prefilter) in [
        ("a BIGINT, s TEXT", "STRICT", "return a < 6 and s[0] == 'a'", "i0, s0", "v.i0 < Int64(6)"),
        (
            "a BIGINT, s TEXT",
            "",
            "if a is None or a < 0:\n  return False\nreturn int(s) > 3",
            "i0, s0",
            "v.i0 >= Int64(0)",
        ),
        (
            "a BIGINT, s TEXT",
            "",
            "if a is not None and a * 2 > 9:\n  return None\nreturn s[0] == 'a'",
            "i0, s",
            "v.i0 IS NULL OR",
        ),
        (
            "a BIGINT, s TEXT",
            "",
            "if a < 0:\n  raise ValueError(s)\nif a > 9:\n  return False\nreturn s[0] == 'a'",
            "i, s",
            "v.i < Int64(0) OR",
        ),
        (
            "a BIGINT, s TEXT",
            "",
            "if a < 5:\n  return True\nfor c in s:\n  if c == 'a':\n    return True\nreturn False",
            "i, s",
            "",
        ),
        (
            "a BIGINT, s TEXT",
            "STRICT",
            "if s in ('a', 'b', 'é', ''):\n  return s[0] == 'a'\nreturn False",
            "i0, s0",
            "v.s0 IN",
        ),
        (
            "a BIGINT, s TEXT",
            "STRICT",
            "if s.startswith('a') or a == 10:\n  return int(s[1:]) > 3\nreturn a == 5",
            "i0, s0",
            "v.s0 LIKE",
        ),
        ("a DOUBLE, s TEXT", "STRICT", "return a * 1.21 < 13 and s[1] != 'é'", "x0, s0", "isnan"),
        ("a DOUBLE, s TEXT", "STRICT OPTIONS (on_error 'null')", "return s[1] != 'é' and a < 3", "x0, s0", ""),
        (
            "a DOUBLE, s TEXT",
            "STRICT OPTIONS (on_error 'null')",
            "return not (a >= 3) and any(c == 'é' for c in s)",
            "x0, s0",
            "isnan",
        ),
        ("a DOUBLE, s TEXT", "OPTIONS (inline 'off')", "return a < 3 and s[1] != 'é'", "x, s", ""),
    ] {
        run(
            &session,
            &format!(
                "CREATE OR REPLACE FUNCTION f({params}) RETURNS BOOLEAN LANGUAGE python {clauses} AS $$\n{body}\n$$"
            ),
        )
        .await;
        let plan = rows(&session, &format!("EXPLAIN SELECT i FROM v WHERE f({args})")).await;
        let below = plan.split("PythonBarrier").nth(1).and_then(|below| below.split("physical_plan").next());
        let shown = below.unwrap_or_default();
        if if prefilter.is_empty() { shown.contains("Filter: ") } else { !shown.contains(prefilter) } {
            wrong.push(format!("{body:?}: {plan}"));
        }
        for query in [
            format!("SELECT i, s FROM v WHERE f({args})"),
            format!("SELECT i, s FROM v WHERE f({args}) AND f({args})"),
            format!("SELECT i, s FROM v WHERE NOT f({args})"),
            format!("SELECT k, t FROM (SELECT {args}, i AS k, s AS t FROM v) AS d WHERE f({args}) AND k < 9"),
            format!(
                "SELECT v.i, w.s FROM v JOIN v AS w ON v.i = w.i WHERE f({})",
                args.replace("i", "w.i").replace("s", "v.s")
            ),
        ] {
            wrong.extend(difference(&session, &query).await.map(|found| format!("{body:?}, {found}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
