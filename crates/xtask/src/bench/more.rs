//! Functions of other kinds: `udfs/more.py`, written as a user would and not tuned for, and
//! `udfs/corners.py`, which once were slow, `udfs/objects.py`, and `udfs/language.py` beside other engines. Where
//! each ran and how fast is told, whatever it is.

use super::markdown::figure;
use super::measure::{Contender, Outcome, Side, geometric_mean};
use super::setup::Setup;
use super::zillow::{columns, start, tool};
use super::{Options, machine};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fmt::Write;

const LOOP: Contender = Contender { name: "loop", side: Side::Python, title: "CPython loop" };
const EXUVIA: Contender = Contender { name: "exuvia", side: Side::Rust, title: "Exuvia" };
const RUST: Contender = Contender { name: "rust", side: Side::Rust, title: "Rust by hand" };

const OWN: [Contender; 4] = [
    LOOP,
    Contender { name: "loop arrow", side: Side::Python, title: "CPython loop, Arrow to Arrow" },
    EXUVIA,
    Contender { name: "exuvia python", side: Side::Rust, title: "Exuvia's CPython rung" },
];

const WITH_PEERS: [Contender; 8] = [
    LOOP,
    EXUVIA,
    Contender { name: "exuvia python", side: Side::Rust, title: "Exuvia's CPython rung" },
    Contender { name: "pandas apply", side: Side::Python, title: "pandas apply" },
    Contender { name: "polars map_elements", side: Side::Python, title: "Polars map_elements" },
    Contender { name: "duckdb native", side: Side::Python, title: "DuckDB UDF, native" },
    Contender { name: "duckdb arrow", side: Side::Python, title: "DuckDB UDF, arrow" },
    RUST,
];

fn contenders(suite: &str) -> &'static [Contender] {
    if suite == "language" { &WITH_PEERS } else { &OWN }
}

/// What became of a function.
struct Row {
    name: String,
    outcomes: Vec<Outcome>,
    /// Whose results differ from the CPython loop's: in how many rows, and one of them.
    differs: Vec<(&'static str, String)>,
    /// What the engine says of it.
    place: Value,
}

/// Runs the benchmark of that name.
///
/// # Errors
/// If a process cannot be run. Functions that fail are results.
pub(super) fn run(suite: &str, options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let columns = columns(&setup, suite)?;
    let folder = setup.table(options.rows)?;
    let saved = setup.compared();
    let inspect = tool(&setup, &["inspect", folder.to_str().context("a path in UTF-8")?, suite])?;
    let places = inspect.get("functions").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut processes = start(&setup, options, &folder, suite, &columns)?;
    let contenders = contenders(suite);
    let mut rows = Vec::new();
    for (index, (name, _)) in columns.iter().enumerate() {
        println!("[{}/{}] {name}", index + 1, columns.len());
        let mut differs = vec![];
        for contender in contenders.iter().filter(|contender| **contender != LOOP) {
            let asked = match contender.side {
                Side::Python => json!({"what": name, "by": contender.name, "compare": null}),
                Side::Rust => {
                    let answer = processes.rust.ask(&json!({"what": name, "by": contender.name, "save": saved}))?;
                    if answer.get("error").is_some() {
                        continue;
                    }
                    json!({"what": name, "by": null, "compare": saved})
                }
            };
            let answer = processes.python.ask(&asked)?;
            // What a peer cannot run is told by its times; where ours ran, it is compared.
            let is_absent = contender.side == Side::Python && answer.get("error").is_some();
            if !is_absent && answer.get("differ").and_then(Value::as_u64) != Some(0) {
                differs.push((contender.title, answer.to_string()));
            }
        }
        let outcomes = processes.rounds(name, contenders, options.rounds)?;
        let place = places.get(index).cloned().unwrap_or_default();
        rows.push(Row { name: name.clone(), outcomes, differs, place });
    }
    let page = page(suite, options, &rows)?;
    println!("{page}");
    if options.publish {
        let results = setup.results()?;
        std::fs::write(results.join(format!("{suite}.md")), page)?;
        let rows: Vec<Value> = rows.iter().map(|row| json_of(suite, row)).collect();
        let all = json!({"command": options.command, "machine": machine::describe(), "rows": options.rows, "functions": rows});
        std::fs::write(results.join(format!("{suite}.json")), serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

fn page(suite: &str, options: &Options, rows: &[Row]) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    let (title, about) = match suite {
        "corners" => {
            ("Corners", "The functions of `udfs/corners.py` are of kinds that were once slower than they should be.")
        }
        "language" => (
            "The language",
            "The functions of `udfs/language.py` are in the manner of those that people keep in warehouses.",
        ),
        "objects" => ("Objects", "The functions of `udfs/objects.py` make dicts, sets and objects of classes."),
        _ => (
            "Further functions",
            "The functions of `udfs/more.py` were written as a user of Python writes them; numbers are read modulo what is asked of them since `iban_ok` was slow, else nothing was tuned for them.",
        ),
    };
    writeln!(page, "# {title}\n")?;
    writeln!(page, "Written by `{}`; do not edit.\n", options.command)?;
    writeln!(page, "Machine: {}. One thread. {} records in memory.\n", machine::describe(), options.rows)?;
    writeln!(
        page,
        "{about} Times are nanoseconds a row, medians of interleaved rounds; what takes milliseconds runs several times in a round, and the first of them is not counted. *Left* counts the rows that left native code.\n"
    )?;
    write!(page, "| function | rung | left |")?;
    let contenders = contenders(suite);
    for contender in contenders {
        write!(page, " {} |", contender.title)?;
    }
    writeln!(page, " times the loop's speed | results |")?;
    writeln!(page, "| --- | --- | ---: |{} ---: | --- |", " ---: |".repeat(contenders.len()))?;
    let time = |row: &Row, contender: Contender| {
        let at = contenders.iter().position(|other| *other == contender)?;
        row.outcomes[at].median()
    };
    let mut ratios = Vec::new();
    for row in rows {
        let text = |key: &str| match row.place.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        write!(page, "| {} | {} | {} |", row.name, text("rung"), text("left"))?;
        for outcome in &row.outcomes {
            match outcome.median() {
                Some(seconds) => write!(page, " {} |", figure(seconds * 1e9 / options.rows as f64))?,
                None if outcome.is_absent() => write!(page, " |")?,
                None => write!(page, " fails |")?,
            }
        }
        let ratio = time(row, LOOP).zip(time(row, EXUVIA)).map(|(base, ours)| base / ours);
        ratios.extend(ratio);
        let ratio = ratio.map_or("–".to_string(), figure);
        let results = if row.differs.iter().any(|(title, _)| *title == EXUVIA.title) { "differ" } else { "equal" };
        writeln!(page, " {ratio} | {results} |")?;
    }
    if let Some(mean) = geometric_mean(ratios) {
        writeln!(page, "\nGeometric mean of those that ran: {} times the CPython loop's speed.", figure(mean))?;
    }
    let peers = contenders.iter().filter(|contender| **contender != LOOP && **contender != EXUVIA);
    for contender in peers.filter(|_| suite == "language") {
        let ratios = rows.iter().filter_map(|row| Some(time(row, *contender)? / time(row, EXUVIA)?));
        if let Some(mean) = geometric_mean(ratios) {
            writeln!(
                page,
                "\n{}: {} times Exuvia's time, by the geometric mean of those that ran.",
                contender.title,
                figure(mean)
            )?;
        }
    }
    let mut notes = String::new();
    for row in rows {
        for key in ["reason", "error"] {
            if let Some(text) = row.place.get(key).and_then(Value::as_str) {
                writeln!(notes, "- {}: {}", row.name, text.lines().next().unwrap_or_default())?;
            }
        }
        for (by, outcome) in contenders.iter().zip(&row.outcomes) {
            if let Outcome::Fails(why) = outcome
                && !outcome.is_absent()
            {
                writeln!(notes, "- {}, {}: {}", row.name, by.title, why.lines().next().unwrap_or_default())?;
            }
        }
        for (title, differs) in &row.differs {
            writeln!(notes, "- {}, {title}, differs: {differs}", row.name)?;
        }
    }
    if !notes.is_empty() {
        writeln!(page, "\n## What is not native, fails or differs\n\n{}", notes.trim_end())?;
    }
    Ok(page)
}

fn json_of(suite: &str, row: &Row) -> Value {
    let times: Vec<Value> =
        contenders(suite).iter().zip(&row.outcomes).map(|(by, outcome)| json!([by.name, outcome.json()])).collect();
    json!({"name": row.name, "times": times, "differs": row.differs, "place": row.place})
}
