//! `bench worker`: what CPython in a process of its own costs, beside CPython in this one.

use super::frames::{Shown, files, ours, programs, publish};
use super::markdown::figure;
use super::setup::Setup;
use super::{Options, machine};
use crate::{python, root, succeed};
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Row functions that are not lifted, and calls that are over at once.
fn rows(folder: &Path) -> Vec<(&'static str, Value)> {
    let tables = files(folder, &["numbers"]);
    let spec = |sql: &str, create: &str| json!({"tables": tables, "sql": sql, "setup": [create]});
    vec![
        (
            "a row function of an int",
            spec(
                "SELECT plus(id) FROM numbers",
                "CREATE FUNCTION plus(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$\nd = {}\nd[0] = x\nreturn d[0] + 1\n$$",
            ),
        ),
        (
            "a row function of a text",
            spec(
                "SELECT quoted(s) FROM numbers",
                "CREATE FUNCTION quoted(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$\nimport json\ndef quoted(s):\n    return json.dumps(s)\n$$",
            ),
        ),
        (
            "a query of one row",
            spec(
                "SELECT quoted(s) FROM numbers LIMIT 1",
                "CREATE FUNCTION quoted(s TEXT) RETURNS TEXT STRICT LANGUAGE python AS $$\nimport json\ndef quoted(s):\n    return json.dumps(s)\n$$",
            ),
        ),
    ]
}

/// Runs `bench worker`.
///
/// # Errors
/// If a query fails.
pub(super) fn run(options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let python = python::environment()?;
    let folder = setup.table(options.rows)?;
    let peer = root().join("benchmarks/peers/frames.py");
    succeed(Command::new(&python).arg(&peer).arg("make").arg(&folder).arg(options.rows.to_string()))?;
    let mut page = String::new();
    writeln!(page, "# CPython in a process of its own\n\nWritten by `{}`; do not edit.\n", options.command)?;
    writeln!(
        page,
        "Machine: {}. One thread, and the worker on the same core. {} rows in Parquet files. The same query with \
         `exuvia.interpreter` = `worker` and `auto`. Medians of {} runs, after one that starts the process and defines the \
         function, which the last columns have.\n",
        machine::describe(),
        options.rows,
        options.rounds
    )?;
    writeln!(
        page,
        "| | worker, s | in this process, s | times its time | first, worker, s | first, in this process, s |"
    )?;
    writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: |")?;
    let kinds = programs(&folder).into_iter().map(|(_, title, spec)| (title, spec));
    let mut all = vec![];
    for (title, spec) in rows(&folder).into_iter().chain(kinds) {
        println!("{title}");
        let mut shown = [Shown::default(), Shown::default()];
        let mut firsts = [0.0; 2];
        for ((mode, shown), first) in ["worker", "auto"].into_iter().zip(&mut shown).zip(&mut firsts) {
            let mut spec = spec.clone();
            if let Some(statements) = spec.get_mut("setup").and_then(Value::as_array_mut) {
                statements.insert(0, json!(format!("SET exuvia.interpreter = {mode}")));
            }
            let answer = ours(&setup, options, &python, &spec, options.rounds + 1)?;
            *first = answer["seconds"][0].as_f64().unwrap_or(f64::NAN);
            shown.add(&answer)?;
        }
        let [worker, inside] = &shown;
        writeln!(
            page,
            "| {title} | {} | {} | {} | {} | {} |",
            figure(worker.median()),
            figure(inside.median()),
            figure(worker.median() / inside.median()),
            figure(firsts[0]),
            figure(firsts[1])
        )?;
        all.push(json!({"name": title, "worker": worker.json(), "auto": inside.json(), "first": firsts}));
    }
    publish(&setup, options, "worker", &page, all)
}
