//! Random queries over random functions: wherever the optimiser puts a call, the rows are
//! those of the query as it is written, which is what DataFusion runs without its optimiser.
//! Where that fails the optimised query may succeed, for a row that it need not look at; it
//! never fails where that succeeds.
//!
//! `EXUVIA_RANDOM=5000 cargo test -p exuvia --test plugin random` runs that many.

use crate::common::{run, session};
use datafusion::arrow::util::pretty::pretty_format_batches;
use exuvia::ExuviaSession;

/// Functions that a plain test run makes.
const FUNCTIONS: usize = 25;

/// Stands for a limit in the query as it is written, since DataFusion pushes a predicate into
/// a subquery without its optimiser too, ahead of those inside.
const FENCE: &str = "/* fence */";

/// What bodies begin with.
const IMPORTS: &str = "import datetime\nimport re\n";

/// A generator of random choices (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// A number below another.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[(self.next() % choices.len() as u64) as usize]
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    fn int(&mut self) -> &'static str {
        self.pick(&["0", "1", "-1", "2", "3", "5", "7", "10", "-4", "9223372036854775807", "100"])
    }

    fn float(&mut self) -> &'static str {
        self.pick(&["0.0", "0.5", "-1.5", "3.0", "1e10", "0.1", "-0.0", "2.25"])
    }

    fn text(&mut self) -> &'static str {
        self.pick(&["'a'", "'b'", "'é'", "'12'", "''", "'a%'", "'7'", "'😀'"])
    }

    fn order(&mut self) -> &'static str {
        self.pick(&["<", "<=", ">", ">=", "==", "!="])
    }

    /// A condition on the parameters `a`, `x`, `s` and `d`.
    fn condition(&mut self, depth: u32) -> String {
        if depth > 0 && self.one_in(2) {
            let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
            return match self.next() % 5 {
                0 => format!("not ({left})"),
                1 | 2 => format!("({left} or {right})"),
                _ => format!("({left} and {right})"),
            };
        }
        let (int, other, float, text, order) = (self.int(), self.int(), self.float(), self.text(), self.order());
        let year = self.pick(&["1", "1969", "1970", "2000", "2024", "9999"]);
        match self.next() % 26 {
            19 => format!("d.year {order} {year}"),
            20 => format!("d {order} datetime.date({year}, 1, 1)"),
            21 => format!("d is not None and (d - datetime.date(2000, 1, 1)).days // 7 {order} {int}"),
            22 => format!("d is None or d.month {order} 3"),
            23 => format!("{}(re.search('[0-9]|é$', s))", self.pick(&["bool", "not ", "None is not "])),
            24 => format!("re.sub('[0-9]+', 'a', s) == {text}"),
            // Raises where there is no match.
            25 => format!("re.match('(.)(.*)', s)[2] {order} {text}"),
            0 | 1 => format!("a {order} {int}"),
            2 => format!("a * {int} + {other} {order} 12"),
            3 => format!("a // 3 {order} {int}"),
            4 => format!("a in ({int}, {other}, 5)"),
            5 => format!("x {order} {float}"),
            6 => format!("x * {float} - 2.5 {order} {int}"),
            7 => format!("s {order} {text}"),
            8 => format!("s.startswith({text})"),
            9 => format!("{text} in s"),
            10 => format!("len(s) {order} 2"),
            11 => "a is None".to_string(),
            12 => "s is not None".to_string(),
            13 => "x is None".to_string(),
            // These raise for some rows.
            14 => format!("int(s) {order} {int}"),
            15 => format!("s[0] {order} {text}"),
            16 => format!("10 % a {order} 1"),
            // These are no formulas.
            17 => format!("s.lower() == {text}"),
            _ => format!("any(c == {text} for c in s)"),
        }
    }

    fn predicate(&mut self) -> String {
        let mut body = IMPORTS.to_string();
        for _ in 0..self.next() % 3 {
            let outcome = self.pick(&["return False", "return True", "return None", "raise ValueError(s)"]);
            body.push_str(&format!("if {}:\n  {outcome}\n", self.condition(1)));
        }
        body.push_str(&format!("return {}\n", self.condition(2)));
        body
    }

    fn number(&mut self) -> (&'static str, String) {
        let (int, other, float) = (self.int(), self.int(), self.float());
        let (first, second) = (self.condition(1), self.condition(0));
        let (ty, body) = match self.next() % 11 {
            9 => ("BIGINT", "return d.year\n".to_string()),
            10 => ("BIGINT", format!("return len(re.findall('[a-zé]|[0-9]', s)) - {int}\n")),
            0 => ("BIGINT", format!("return a // 7 - {other}\n")),
            1 => ("BIGINT", "return len(s)\n".to_string()),
            2 => ("DOUBLE", format!("return x * {float} + {other}\n")),
            3 => ("DOUBLE", format!("return {int} - a * 0.5\n")),
            6 => ("BIGINT", format!("if {first}:\n  return {int}\nif {second}:\n  return None\nreturn {other}\n")),
            7 => ("BIGINT", format!("return {{'a': 1, 'b': {int}, 'é': 5, '7': {other}}}.get(s, 3)\n")),
            8 => ("DOUBLE", format!("return {float} if {first} else x * 2 + {int}\n")),
            4 => ("BIGINT", "if a is None:\n  return None\nreturn a % 5\n".to_string()),
            _ => ("BIGINT", "return int(s)\n".to_string()),
        };
        (ty, format!("{IMPORTS}{body}"))
    }

    fn clauses(&mut self) -> &'static str {
        self.pick(&["", "STRICT", "STRICT", "OPTIONS (on_error 'null')", "STRICT OPTIONS (on_error 'null')"])
    }

    fn query(&mut self) -> String {
        let (order, int, side) =
            (self.order().replace("==", "=").replace("!=", "<>"), self.int(), self.pick(&["p", "q"]));
        let plain = self.pick(&[
            "a < 6",
            "s <> '😀'",
            "x > 0",
            "a IS NOT NULL",
            "id % 2 = 0",
            "s IS NOT NULL",
            "d > DATE '1970-01-01'",
        ]);
        let (p, q) = (format!("{side}(a, x, s, d)"), self.pick(&["q(a, x, s, d)", "p(a, x, s, d)"]));
        match self.next() % 27 {
            23 => {
                format!("SELECT id, CASE WHEN {p} THEN n(a, x, s, d) WHEN {plain} THEN {int} ELSE id END, {q} FROM v")
            }
            24 => format!("SELECT id, {q} FROM v WHERE {plain} OR {p} AND n(a, x, s, d) {order} {int}"),
            25 => format!(
                "SELECT id FROM v WHERE CASE WHEN {plain} THEN {p} ELSE {q} AND n(a, x, s, d) {order} {int} END"
            ),
            0 => format!("SELECT id, {p} FROM v"),
            1 => format!("SELECT id FROM v WHERE {p}"),
            2 => format!("SELECT id FROM v WHERE NOT {p}"),
            3 => format!("SELECT id FROM v WHERE {plain} AND {p}"),
            4 => format!("SELECT id FROM v WHERE {p} AND {q} AND {plain}"),
            5 => format!("SELECT id FROM v WHERE {p} OR {q}"),
            6 => format!("SELECT id FROM v WHERE {p} IS NULL"),
            7 => format!("SELECT id FROM v WHERE n(a, x, s, d) {order} {int}"),
            8 => format!("SELECT id, n(a, x, s, d) {order} {int}, n(a, x, s, d) FROM v WHERE {plain}"),
            9 => format!("SELECT v.id FROM v JOIN w ON v.id = w.k WHERE {p} AND {plain}"),
            10 => format!("SELECT v.id, w.k FROM v JOIN w ON v.id = w.k AND {p}"),
            11 => format!("SELECT v.id, w.k FROM v LEFT JOIN w ON v.id = w.k WHERE {p} OR w.k IS NULL"),
            12 => format!("SELECT w.k, {p} FROM w LEFT JOIN v ON v.id = w.k WHERE {q} IS NULL OR w.k > 3"),
            13 => format!("SELECT {p}, count(*) FROM v WHERE {plain} GROUP BY {p} HAVING {p} OR count(*) > 1"),
            14 => format!(
                "SELECT id FROM (SELECT *, {p} AS y, n(a, x, s, d) AS m FROM v WHERE {q} {FENCE}) AS d WHERE y AND m {order} {int}"
            ),
            15 => format!("SELECT id FROM v WHERE {p} ORDER BY id LIMIT 3"),
            16 => format!("SELECT {p}, min(n(a, x, s, d)), count({q}) FROM v WHERE {plain} GROUP BY {p}"),
            17 => format!(
                "SELECT id, rank() OVER (PARTITION BY {p} ORDER BY n(a, x, s, d), id), count({q}) OVER (ORDER BY id) FROM v WHERE {q}"
            ),
            18 => format!("SELECT id, {p}, {q} FROM v ORDER BY n(a, x, s, d), id"),
            19 => format!("SELECT id, n(a, x, s, d), {p} FROM v WHERE {q} ORDER BY n(a, x, s, d) DESC, id LIMIT 4"),
            20 => format!(
                "SELECT id, y FROM (SELECT id, n(a, x, s, d) AS m, {p} AS y FROM v WHERE {plain}) AS d JOIN w ON m = w.k"
            ),
            21 => format!(
                "SELECT id, y, m FROM (SELECT id, n(a, x, s, d) AS m, {p} AS y FROM v WHERE {q}) AS d JOIN w ON id = w.k"
            ),
            22 => format!("SELECT id, k FROM v LEFT JOIN w ON {p} AND n(a, x, s, d) {order} k"),
            _ => format!("SELECT id FROM v WHERE {p} UNION ALL SELECT k FROM w JOIN v ON k = id WHERE {q}"),
        }
    }
}

async fn set(session: &ExuviaSession, settings: &[&str]) {
    for setting in settings {
        run(session, &format!("SET {setting}")).await;
    }
}

/// The rows of a query in a fixed order, or its error.
async fn answer(session: &ExuviaSession, query: &str) -> Result<String, String> {
    let batches = match session.sql(query).await {
        Ok(frame) => frame.collect().await,
        Err(error) => Err(error),
    };
    let batches = batches.map_err(|error| exuvia::message(&error))?;
    // A result without rows may have no batch.
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Ok("no rows".to_string());
    }
    let table = pretty_format_batches(&batches).map_err(|error| error.to_string())?.to_string();
    let mut lines: Vec<&str> = table.lines().collect();
    lines.sort_unstable();
    Ok(lines.join("\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn optimised_queries_are_those_that_were_written() {
    let functions = std::env::var("EXUVIA_RANDOM").ok().and_then(|count| count.parse().ok()).unwrap_or(FUNCTIONS);
    let session = session();
    run(
        &session,
        "CREATE TABLE v AS SELECT column1 AS id, column2 AS a, column3 AS x, column4 AS s, column5 AS d FROM (VALUES
            (1, 1, 0.5, 'a', DATE '2024-02-29'), (2, 0, -0.0, '', DATE '1970-01-01'), (3, NULL, NULL, NULL, NULL), (4, 5, 'NaN'::DOUBLE, '12', DATE '1969-12-31'),
            (5, -7, 1e10, 'é7', DATE '0001-01-01'), (6, 9223372036854775807, 2.0, 'a%b', DATE '9999-12-31'), (7, 2, NULL, '7', DATE '2000-01-01'), (8, NULL, 0.1, '😀', DATE '1999-12-31'),
            (9, 10, -1.5, NULL, DATE '2024-01-01'), (10, -9223372036854775808, 'Infinity'::DOUBLE, '12a', NULL), (11, 3, 3.0, 'A', DATE '2023-12-31'),
            (12, 15, 0.0, '-3', DATE '1900-03-01')) AS t;
         CREATE TABLE w AS SELECT column1 AS k FROM (VALUES (1), (2), (4), (6), (11), (12), (99)) AS t",
    )
    .await;
    let mut random = Random(7);
    let (mut wrong, mut succeeded, mut failed) = (vec![], 0, 0);
    for _ in 0..functions {
        let mut definitions = vec![];
        for name in ["p", "q"] {
            definitions.push((name, "BOOLEAN", random.clauses(), random.predicate()));
        }
        let (returns, body) = random.number();
        definitions.push(("n", returns, random.clauses(), body));
        let mut created = String::new();
        for (name, returns, clauses, body) in definitions {
            created.push_str(&format!(
                "CREATE OR REPLACE FUNCTION {name}(a BIGINT, x DOUBLE, s TEXT, d DATE) RETURNS {returns} LANGUAGE python {clauses} AS $$\n{body}$$;\n"
            ));
        }
        run(&session, &created).await;
        for _ in 0..12 {
            let query = random.query();
            let as_written = ["exuvia.inline = off", "exuvia.native = off", "exuvia.fault = off"];
            set(&session, &["datafusion.optimizer.max_passes = 0"]).await;
            set(&session, &as_written).await;
            let written = answer(&session, &query.replace(FENCE, "LIMIT 1000")).await;
            set(&session, &["datafusion.optimizer.max_passes = 3", "exuvia.native = on"]).await;
            for (inline, fault) in [("off", "off"), ("off", "loops"), ("on", "off"), ("on", "loops"), ("on", "guards")]
            {
                set(&session, &[&format!("exuvia.inline = {inline}"), &format!("exuvia.fault = {fault}")]).await;
                let found = answer(&session, &query.replace(FENCE, "")).await;
                if written.is_ok() && found != written {
                    wrong.push(format!(
                        "{created}{query};\n  inline {inline}, fault {fault}: {found:?}\n  written: {written:?}"
                    ));
                }
            }
            *if written.is_ok() { &mut succeeded } else { &mut failed } += 1;
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {succeeded} queries differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(3)].join("\n\n")
    );
    eprintln!("{succeeded} queries succeed as written, {failed} fail");
    // A test of queries that all fail would say nothing.
    assert!(succeeded > failed / 2, "{failed} queries fail and {succeeded} do not");
}
