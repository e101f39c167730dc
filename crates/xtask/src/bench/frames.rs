//! `bench tables`: functions of tables, columns and rows beside the same in plain Python.
//!
//! Each contender runs in a process of its own, since a process's peak memory is asked for, too;
//! the two take turns.

use super::markdown::figure;
use super::measure::median;
use super::setup::Setup;
use super::{Options, machine};
use crate::{python, root, succeed};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
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

/// Runs a command on one core and one thread and reads the JSON that it prints last.
pub(super) fn ask(command: &mut Command, python: &Path) -> Result<Value> {
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(threads, "1");
    }
    command.env("EXUVIA_PYTHON", python).env("NPY_DISABLE_CPU_FEATURES", "X86_V4 X86_V3");
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

/// What the functions of `bench tables` are in SQL: the name of the peer, a title, statements,
/// tables, Python files and the query.
fn programs(folder: &Path) -> Vec<(&'static str, &'static str, Value)> {
    let table = |names: &[&str]| -> Value {
        let pairs = names
            .iter()
            .map(|name| ((*name).to_string(), json!(folder.join(format!("{name}.parquet")).to_string_lossy())));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    let udf = |name: &str| json!([root().join(name).to_string_lossy()]);
    let sql = |file: &str| std::fs::read_to_string(root().join("sql").join(file)).unwrap_or_default();
    vec![
        (
            "identity",
            "a table function that returns its table",
            json!({"tables": table(&["numbers"]), "sql": "SELECT * FROM same(TABLE numbers)",
                "setup": ["CREATE FUNCTION same(t TABLE) RETURNS TABLE (id BIGINT, x DOUBLE, s TEXT, n BIGINT)
                           LANGUAGE python AS $$\nimport pandas as pd\ndef same(t):\n    return t\n$$"]}),
        ),
        (
            "column",
            "a column function: standard scores",
            json!({"tables": table(&["numbers"]), "sql": "SELECT zscore(x) FROM numbers",
                "setup": ["CREATE FUNCTION zscore(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd
def zscore(x: pd.Series) -> pd.Series:
    return (x - x.mean()) / x.std()
$$"]}),
        ),
        (
            "lateral",
            "a generator for each row (LATERAL)",
            json!({"tables": table(&["numbers"]), "sql": "SELECT n, value, square FROM numbers, LATERAL below(n)",
                "setup": ["CREATE FUNCTION below(n BIGINT) RETURNS TABLE (value BIGINT, square BIGINT) LANGUAGE python AS $$
def below(n):
    for value in range(n):
        yield value, value * value
$$"]}),
        ),
        (
            "zillow",
            "Zillow (Z1) as one table function",
            json!({"tables": table(&["listings"]), "udfs": udf("udfs/tables/frames.py"),
                "sql": "SELECT * FROM zillow_frame(TABLE listings)"}),
        ),
        (
            "logs",
            "Logs by split as one table function",
            json!({"tables": table(&["logs", "bad_addresses"]), "udfs": udf("udfs/tables/frames.py"),
                "sql": "SELECT * FROM logs_frame(TABLE logs, TABLE bad_addresses)"}),
        ),
        (
            "",
            "Z1 by row functions, which compile",
            json!({"tables": table(&["listings"]), "udfs": udf("udfs/zillow.py"), "sql": sql("zillow_z1.sql").trim_end().trim_end_matches(';')}),
        ),
        (
            "",
            "Logs by split by row functions, which compile",
            json!({"tables": table(&["logs", "bad_addresses"]), "udfs": udf("udfs/logs.py"), "sql": sql("logs_split.sql").trim_end().trim_end_matches(';')}),
        ),
    ]
}

/// Runs `bench tables`.
///
/// # Errors
/// If a contender fails, or gives another number of rows.
pub(super) fn tables(options: &Options) -> Result<()> {
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
    let mut plain: std::collections::HashMap<&str, f64> = std::collections::HashMap::new();
    for (name, title, spec) in programs(&folder) {
        println!("{title}");
        let (mut mine, mut theirs) = (Shown::default(), Shown::default());
        mine.add(&ours(&setup, options, &python, &spec, options.rounds + 1)?)?;
        if !name.is_empty() {
            let mut command = pinned(&python, options.core);
            command.arg(&peer).args(["run", name]).arg(&folder).arg((options.rounds + 1).to_string());
            theirs.add(&ask(&mut command, &python)?)?;
            if mine.rows != theirs.rows {
                bail!("{title}: {} rows, and in plain Python {}", mine.rows, theirs.rows);
            }
            plain.insert(name, theirs.median());
        }
        let base = plain.get(if title.starts_with("Z1") { "zillow" } else { "logs" }).copied();
        let (against, ratio, peak) = match name {
            "" => ("–".to_string(), base.map_or("–".to_string(), |base| figure(mine.median() / base)), "–".to_string()),
            _ => (figure(theirs.median()), figure(mine.median() / theirs.median()), format!("{:.0}", theirs.peak_mib)),
        };
        writeln!(
            page,
            "| {title} | {} | {against} | {ratio} | {:.0} | {peak} | {} |",
            figure(mine.median()),
            mine.peak_mib,
            mine.rows
        )?;
        all.push(json!({"name": title, "exuvia": mine.json(), "python": theirs.json()}));
    }
    writeln!(
        page,
        "\nThe last two rows are the same queries by row functions, compared with the plain pandas of their table function; \
         [placement.md](placement.md) has them beside DuckDB, Polars and Rust."
    )?;
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
