//! `bench tables`: functions of tables, columns and rows beside the same in plain Python.
//!
//! Each contender runs in a process of its own, since a process's peak memory is asked for, too;
//! the two take turns.

use super::markdown::figure;
use super::measure::median;
use super::setup::Setup;
use super::{Options, engines, machine};
use crate::{python, root, succeed};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What one contender has shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    seconds: Vec<f64>,
    pub(super) rows: u64,
    pub(super) peak_mib: f64,
}

impl Shown {
    pub(super) fn add(&mut self, answer: &Value) -> Result<()> {
        let seconds = answer.get("seconds").and_then(Value::as_array).context("no seconds")?;
        // The first run of a process warms it up, where there are several.
        let from = usize::from(seconds.len() > 1);
        self.seconds.extend(seconds[from..].iter().filter_map(Value::as_f64));
        self.rows = answer.get("rows").and_then(Value::as_u64).context("no rows")?;
        self.peak_mib = self.peak_mib.max(answer.get("peak_mib").and_then(Value::as_f64).unwrap_or(0.0));
        Ok(())
    }

    pub(super) fn median(&self) -> f64 {
        median(&self.seconds).unwrap_or(f64::NAN)
    }

    pub(super) fn json(&self) -> Value {
        json!({"seconds": self.median(), "runs": self.seconds, "rows": self.rows, "peak_mib": self.peak_mib})
    }
}

/// What has NumPy use its baseline instructions, whose results are Exuvia's on every machine.
pub(super) const BASELINE: (&str, &str) = ("NPY_DISABLE_CPU_FEATURES", "X86_V4 X86_V3");

/// Runs a command on one core and one thread and reads the JSON that it prints last.
pub(super) fn ask(command: &mut Command, python: &Path) -> Result<Value> {
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"] {
        command.env(threads, "1");
    }
    command.env("EXUVIA_PYTHON", python).env(BASELINE.0, BASELINE.1);
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(serde_json::from_str(text.lines().last().unwrap_or_default())?)
}

/// A command that is pinned to a core where that is possible.
pub(super) fn pinned(program: &Path, core: usize) -> Command {
    if machine::can_pin() {
        let mut command = Command::new("taskset");
        command.arg("--cpu-list").arg(core.to_string()).arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// Runs a query of our side.
pub(super) fn ours(setup: &Setup, options: &Options, python: &Path, spec: &Value, runs: usize) -> Result<Value> {
    let file = setup.target.join("bench-data/query.json");
    std::fs::write(&file, serde_json::to_vec_pretty(spec)?)?;
    ask(pinned(&setup.binary, options.core).arg("query").arg(&file).arg(runs.to_string()), python)
}

/// Tables of a folder: names and files.
pub(super) fn files(folder: &Path, names: &[&str]) -> Value {
    let pairs =
        names.iter().map(|name| ((*name).to_string(), json!(folder.join(format!("{name}.parquet")).to_string_lossy())));
    Value::Object(pairs.collect())
}

/// What the functions of `bench tables` are in SQL: the name of the peer, a title, statements,
/// tables and the query.
pub(super) fn programs(folder: &Path) -> Vec<(&'static str, &'static str, Value)> {
    let tables = files(folder, &["numbers"]);
    vec![
        (
            "identity",
            "a table function that returns its table",
            json!({"tables": tables, "sql": "SELECT * FROM same(TABLE numbers)",
                "setup": ["CREATE FUNCTION same(t TABLE) RETURNS TABLE (id BIGINT, x DOUBLE, s TEXT, n BIGINT)
                           LANGUAGE python AS $$\nimport pandas as pd\ndef same(t):\n    return t\n$$"]}),
        ),
        (
            "column",
            "a column function: standard scores",
            json!({"tables": tables, "sql": "SELECT zscore(x) FROM numbers",
                "setup": ["CREATE FUNCTION zscore(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd
def zscore(x: pd.Series) -> pd.Series:
    return (x - x.mean()) / x.std()
$$"]}),
        ),
        (
            "lateral",
            "a generator for each row (LATERAL)",
            json!({"tables": tables, "sql": "SELECT n, value, square FROM numbers, LATERAL below(n)",
                "setup": ["CREATE FUNCTION below(n BIGINT) RETURNS TABLE (value BIGINT, square BIGINT) LANGUAGE python AS $$
def below(n):
    for value in range(n):
        yield value, value * value
$$"]}),
        ),
    ]
}

/// Runs `bench tables`; pipelines with models are over tables of that scale factor.
///
/// # Errors
/// If a contender fails, or gives another number of rows.
pub(super) fn tables(options: &Options, scale: f64) -> Result<()> {
    let setup = Setup::new()?;
    let python = python::environment()?;
    let folder = setup.table(options.rows)?;
    let peer = root().join("benchmarks/peers/frames.py");
    let rows = options.rows.to_string();
    succeed(Command::new(&python).arg(&peer).arg("make").arg(&folder).arg(&rows))?;
    let mut page = String::new();
    writeln!(page, "# Functions of tables, columns and rows\n\nWritten by `{}`; do not edit.\n", options.command)?;
    writeln!(
        page,
        "Machine: {}. One thread. {} rows in Parquet files. These functions run in CPython; the peer is the same function in \
         plain Python, with pyarrow reading the files, DataFrames made by `to_pandas` and the result made an Arrow table. \
         Medians of {} runs, after one that warms up.\n",
        machine::describe(),
        options.rows,
        options.rounds
    )?;
    writeln!(page, "| | Exuvia, s | plain Python, s | times its time | Exuvia, MiB | plain Python, MiB | rows |")?;
    writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    let mut all = vec![];
    for (name, title, spec) in programs(&folder) {
        println!("{title}");
        let (mut mine, mut theirs) = (Shown::default(), Shown::default());
        mine.add(&ours(&setup, options, &python, &spec, options.rounds + 1)?)?;
        let mut command = pinned(&python, options.core);
        command.arg(&peer).args(["run", name]).arg(&folder).arg((options.rounds + 1).to_string());
        theirs.add(&ask(&mut command, &python)?)?;
        if mine.rows != theirs.rows {
            bail!("{title}: {} rows, and in plain Python {}", mine.rows, theirs.rows);
        }
        writeln!(
            page,
            "| {title} | {} | {} | {} | {:.0} | {:.0} | {} |",
            figure(mine.median()),
            figure(theirs.median()),
            figure(mine.median() / theirs.median()),
            mine.peak_mib,
            theirs.peak_mib,
            mine.rows
        )?;
        all.push(json!({"name": title, "exuvia": mine.json(), "python": theirs.json()}));
    }
    all.extend(engines::table(&mut page, &setup, options, &python, &folder, scale)?);
    publish(&setup, options, "tables", &page, all)
}

pub(super) fn publish(setup: &Setup, options: &Options, name: &str, page: &str, all: Vec<Value>) -> Result<()> {
    println!("{page}");
    if options.publish {
        let results = setup.results()?;
        std::fs::write(results.join(format!("{name}.md")), page)?;
        let all = json!({"command": options.command, "machine": machine::describe(), "cases": all});
        std::fs::write(results.join(format!("{name}.json")), serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}
