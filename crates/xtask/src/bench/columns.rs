//! `bench columns`: functions of columns beside NumPy and pandas themselves, Numba, and Polars
//! and DuckDB by hand.

use super::frames::{Shown, ask, files, ours, pinned, publish};
use super::markdown::figure;
use super::setup::Setup;
use super::{Options, machine};
use crate::{python, root, succeed};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The functions of `udfs/tables/columns.py` with their arguments.
const FUNCTIONS: [(&str, &str); 12] = [
    ("triad", "a, b, years"),
    ("cubic", "b"),
    ("distance", "lat1, lon1, lat2, lon2"),
    ("call_price", "a, strike, years, rate, vol"),
    ("band", "a"),
    ("cleaned", "a, b"),
    ("charge", "a, zone"),
    ("graded", "a"),
    ("zscore", "a"),
    ("scaled", "b"),
    ("running", "a"),
    ("smoothed", "b"),
];

/// Who runs them: those of `benchmarks/peers/columns.py` by their names there.
const CONTENDERS: [(&str, &str); 6] = [
    ("exuvia", "Exuvia"),
    ("python", "Exuvia's CPython rung"),
    ("numpy", "NumPy, pandas"),
    ("numba", "Numba by hand"),
    ("polars", "Polars by hand"),
    ("duckdb", "DuckDB SQL by hand"),
];

fn spec(folder: &Path, name: &str, args: &str, contender: &str) -> Value {
    let lift = if contender == "python" { "off" } else { "on" };
    json!({
        "tables": files(folder, &["columns"]),
        "udfs": [root().join("udfs/tables/columns.py").to_string_lossy()],
        "setup": [format!("SET exuvia.lift = {lift}")],
        "sql": format!("SELECT {name}({args}) AS r FROM columns"),
    })
}

/// Runs `bench columns`.
///
/// # Errors
/// If a contender fails, or Exuvia's values differ from NumPy's.
pub(super) fn run(options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let python = python::environment()?;
    let folder = setup.target.join("bench-data/columns");
    let peer = root().join("benchmarks/peers/columns.py");
    succeed(Command::new(&setup.python).arg(&peer).arg("make").arg(&folder).arg(options.rows.to_string()))?;
    let peers = |what: &str, args: &[&str]| {
        let mut command = pinned(&setup.python, options.core);
        command.arg(&peer).arg(what).args(args);
        command
    };
    let at = folder.to_string_lossy().into_owned();
    let runs = (options.rounds + 1).to_string();
    let mut page = format!("# Functions of columns\n\nWritten by `{}`; do not edit.\n\n", options.command);
    writeln!(
        page,
        "Machine: {}. One thread. {} rows of a Parquet file, of which 1 % are NULL and 2 % of the texts not ASCII. The functions \
         of `udfs/tables/columns.py` are compiled by Exuvia, the last four over the whole column; NumPy and pandas call them as they stand. Each reads the columns \
         and ends with the result in Arrow. Nanoseconds a row, medians of {} runs after one that warms up; then how many times \
         Exuvia's time each takes. *Differ*: values that are not NumPy's to the last bit.\n",
        machine::describe(),
        options.rows,
        options.rounds
    )?;
    let titles: Vec<&str> = CONTENDERS.iter().map(|contender| contender.1).collect();
    let times: Vec<String> = titles[1..].iter().map(|title| format!("times {title}")).collect();
    writeln!(page, "| function | {} | {} | differ |", titles.join(" | "), times.join(" | "))?;
    writeln!(page, "| --- |{} ---: |", " ---: |".repeat(2 * titles.len() - 1))?;
    let mut all = vec![];
    for (name, args) in FUNCTIONS {
        println!("{name}");
        let expected = folder.join("expected.parquet").to_string_lossy().into_owned();
        succeed(&mut peers("save", &[name, "numpy", &at, &expected]))?;
        let mut shown = vec![];
        let mut differ = String::new();
        for (contender, _) in CONTENDERS {
            let got = folder.join("got.parquet").to_string_lossy().into_owned();
            let mut found = Shown::default();
            if matches!(contender, "exuvia" | "python") {
                let mut spec = spec(&folder, name, args, contender);
                if contender == "exuvia" {
                    spec["save"] = json!(got);
                }
                found.add(&ours(&setup, options, &python, &spec, options.rounds + 1)?)?;
            } else {
                let answer = ask(&mut peers("run", &[name, contender, &at, &runs]), &python)?;
                if answer["rows"].is_null() {
                    shown.push(None);
                    continue;
                }
                found.add(&answer)?;
                if contender == "numpy" {
                    shown.push(Some(found));
                    continue;
                }
                succeed(&mut peers("save", &[name, contender, &at, &got]))?;
            }
            if contender != "python" {
                let compared = ask(&mut peers("compare", &[&expected, &got]), &python)?;
                if compared["far"] != 0 {
                    println!("  {contender} differs: {compared}");
                }
                if contender == "exuvia" {
                    differ = compared["differ"].to_string();
                    if compared["far"] != 0 {
                        bail!("{name} differs from NumPy: {compared}");
                    }
                }
            }
            shown.push(Some(found));
        }
        let nanos = |shown: &Shown| shown.median() * 1e9 / options.rows as f64;
        let mine = shown[0].as_ref().map_or(f64::NAN, &nanos);
        let figures = shown.iter().map(|shown| shown.as_ref().map_or("–".to_string(), |shown| figure(nanos(shown))));
        let ratios = shown[1..]
            .iter()
            .map(|shown| shown.as_ref().map_or("–".to_string(), |shown| figure(nanos(shown) / mine)));
        let cells: Vec<String> = figures.chain(ratios).collect();
        writeln!(page, "| {name} | {} | {differ} |", cells.join(" | "))?;
        let named: Vec<Value> = shown
            .iter()
            .zip(CONTENDERS)
            .filter_map(|(shown, (name, _))| Some(json!({"contender": name, "shown": shown.as_ref()?.json()})))
            .collect();
        all.push(json!({"function": name, "contenders": named}));
    }
    publish(&setup, options, "columns", &page, all)
}
