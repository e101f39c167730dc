//! Statements whose text was changed anywhere: each is taken or refused, soon and without a panic.
//!
//! `EXUVIA_CHANGED=100000 cargo test -p exuvia --test plugin changed` tries that many, from a seed of its own
//! (`EXUVIA_SEED`).

use crate::common::session;
use crate::random::Random;
use datafusion::common::DataFusionError;
use exuvia::message;
use std::time::{Duration, Instant};

/// Statements that a plain test run tries.
const TRIED: usize = 1500;

/// What one may take; a debug build runs beside others.
const LONGEST: Duration = Duration::from_secs(10);

/// Statements of all kinds and systems.
const STATEMENTS: &[&str] = &[
    "CREATE FUNCTION pymax (a integer, b integer) RETURNS integer IMMUTABLE PARALLEL SAFE AS $$\n  if a > b:\n    return a\n  return b\n$$ LANGUAGE plpython3u",
    "CREATE OR REPLACE FUNCTION add_tax(amount NUMBER(10, 2)) RETURNS FLOAT LANGUAGE PYTHON\n  RUNTIME_VERSION = '3.11' HANDLER = 'add' PACKAGES = ('numpy') COMMENT = 'with tax' AS $$\ndef add(amount):\n    return float(amount) * 1.19\n$$",
    "CREATE FUNCTION main.default.greet(s STRING COMMENT 'a name') RETURNS STRING DETERMINISTIC LANGUAGE PYTHON AS $$\nreturn 'Grüße ' + s\n$$",
    "CREATE FUNCTION `my-project.data`.multiply(x FLOAT64, y FLOAT64) RETURNS FLOAT64 LANGUAGE python\n  OPTIONS (entry_point = 'mul', runtime_version = 'python-3.11') AS r'''\ndef mul(x, y):\n    return x * y\n'''",
    "CREATE FUNCTION f_greater(a FLOAT, b FLOAT) RETURNS FLOAT STABLE AS $$\n  return a if a > b else b\n$$ LANGUAGE plpythonu",
    "create function if not exists B(x BIGINT, y BIGINT DEFAULT 2) returns TEXT[] strict as 'return [''it; -- is'', \"x\"]' language python options (on_error 'null', timeout = '1s') -- end",
    "CREATE FUNCTION \"F a\"(\"X y\" STRUCT<a INT, \"b c\" TEXT>, z MAP<TEXT, BIGINT>) RETURNS STRUCT<q TEXT> LANGUAGE python AS $x$ return {'q': str(X_y)} $x$",
    "CREATE FUNCTION h(t TABLE (w INT NOT NULL, y TEXT)) RETURNS TABLE (\"Z\" INT) LANGUAGE python AS $$\ndef h(t):\n    return t[['w']].rename(columns={'w': 'Z'})\n$$",
    "CREATE AGGREGATE FUNCTION total(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$\nclass total:\n    def __init__(self):\n        self.sum = 0.0\n    def accumulate(self, x):\n        self.sum += x or 0.0\n    def finish(self):\n        return self.sum\n$$",
    "DROP FUNCTION IF EXISTS pymax(integer, integer) CASCADE",
    "COMMENT ON FUNCTION pymax(integer, integer) IS 'the larger one'",
    "SET exuvia.row_memory = '64MB'",
    "SELECT pymax(1, 2), greet('é'), \"F a\"(NULL, NULL) FROM (VALUES (1), (NULL)) AS v(x) WHERE x > 0",
];

/// Pieces that statements are made of, and what has no place in them.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "$$",
    "$",
    "(",
    ")",
    ",",
    ";",
    "--",
    "/*",
    "*/",
    "\n",
    "\t",
    " ",
    "\0",
    "é",
    "日",
    "\u{feff}",
    "\\",
    "`",
    "[",
    "]",
    "<",
    ">",
    "=",
    "AS",
    "RETURNS",
    "LANGUAGE",
    "python",
    "TABLE",
    "STRUCT",
    "DEFAULT",
    "NULL",
    "OPTIONS",
    "1",
    "-1",
    "1e999",
    "9223372036854775808",
    "def f():",
    "return",
    "lambda",
    "class",
    "import",
    "'''",
    "r'''",
    ":",
    "TEXT[][][]",
    "DECIMAL(99, 99)",
    "NOT",
    "STRICT",
    "ON",
    "END",
    "CREATE FUNCTION",
    "CREATE",
    "x x",
    "\u{0}\u{0}",
    "((((((((",
    "[[[[[[[[",
    "{",
    "}",
];

/// A statement with one to four changes.
fn changed(random: &mut Random) -> String {
    let mut text: Vec<char> = random.pick(STATEMENTS).chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(12)).min(text.len());
        match random.below(6) {
            0 => drop(text.drain(at..end)),
            1 => {
                let copy: Vec<char> = text[at..end].to_vec();
                text.splice(at..at, copy);
            }
            2 => drop(text.splice(at..at, random.pick(PIECES).chars())),
            3 => drop(text.splice(at..end, random.pick(PIECES).chars())),
            4 => text.truncate(at),
            _ => {
                // A piece goes elsewhere.
                let piece: Vec<char> = text.drain(at..end).collect();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
        }
        if text.is_empty() {
            break;
        }
    }
    text.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_is_taken_or_refused() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<usize>().ok());
    let mut random = Random(number("EXUVIA_SEED").unwrap_or(7) as u64);
    let mut session = session();
    for at in 0..number("EXUVIA_CHANGED").unwrap_or(TRIED) {
        // What one statement sets others would have.
        if at.is_multiple_of(50) {
            session = self::session();
        }
        let text = changed(&mut random);
        let start = Instant::now();
        let refused = match session.sql(&text).await {
            Err(error) => Some(error),
            Ok(frame) => frame.collect().await.err(),
        };
        assert!(start.elapsed() < LONGEST, "takes {:?}:\n{text}", start.elapsed());
        if let Some(error) = refused {
            let is_ours = !matches!(error.find_root(), DataFusionError::Internal(_));
            let message = message(&error);
            assert!(is_ours && !message.contains("panicked") && !message.is_empty(), "{message}\nof:\n{text}");
        }
    }
}
