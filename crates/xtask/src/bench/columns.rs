//! `bench columns` and `bench arrays`: functions of columns, and of arrays of a row, beside NumPy and pandas
//! themselves, Numba, numexpr, JAX, and Polars and DuckDB by hand.

use super::frames::{BASELINE, Shown, ask, files, ours, pinned, publish};
use super::markdown::figure;
use super::setup::Setup;
use super::{Options, machine};
use crate::{python, root, succeed};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Functions that are measured alike: those of `udfs/tables/NAME.py`, beside `benchmarks/peers/NAME.py`.
pub(super) struct Suite {
    name: &'static str,
    title: &'static str,
    /// Of each its name and arguments.
    functions: &'static [(&'static str, &'static str)],
    /// The tables that each is called on, and how many times fewer rows than asked for they have; where there are
    /// several, the peer is told which.
    tables: &'static [(&'static str, usize)],
    contenders: Contenders,
    about: &'static str,
}

/// Of columns.
pub(super) const COLUMNS: Suite = Suite {
    name: "columns",
    title: "Functions of columns",
    functions: &[
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
    ],
    tables: &[("columns", 1)],
    contenders: OF_COLUMNS,
    about: "of which 1 % are NULL and 2 % of the texts not ASCII. The functions of `udfs/tables/columns.py` are compiled by \
            Exuvia, the last four over the whole column; NumPy and pandas call them as they stand",
};

/// Of arrays of a row.
pub(super) const ARRAYS: Suite = Suite {
    name: "arrays",
    title: "Functions of arrays",
    functions: &[
        ("standard", "x"),
        ("softmax", "x"),
        ("rolling", "x"),
        ("similarity", "x, y"),
        ("cosine", "x, y"),
        ("energy", "x"),
        ("crossings", "x"),
        ("loglik", "x, mu, sigma"),
        ("slope", "x, y"),
        ("trimmed", "x"),
        ("state", "steps"),
        ("digit", "pixels"),
    ],
    tables: &[("short", 1), ("long", 100)],
    contenders: OF_ARRAYS,
    about: "whose arrays have 10 elements (*short*), or a hundredth of the rows with arrays of 1,000 (*long*); one array in a \
            hundred holds a NULL, which is NaN. Of `state` they are 5 steps of 4 numbers and of `digit` 64 pixels in both. The \
            functions of `udfs/tables/arrays.py` are row functions, which NumPy's contender calls for each row on views of the \
            column",
};

/// Who runs them: those of the peer by their names there.
type Contenders = &'static [(&'static str, &'static str)];

const OF_COLUMNS: Contenders = &[
    ("exuvia", "Exuvia"),
    ("python", "Exuvia's CPython rung"),
    ("numpy", "NumPy, pandas"),
    ("numba", "Numba by hand"),
    ("numexpr", "numexpr by hand"),
    ("jax", "JAX by hand"),
    ("polars", "Polars by hand"),
    ("duckdb", "DuckDB SQL by hand"),
];

/// Without numexpr, whose expressions have no reductions of rows.
const OF_ARRAYS: Contenders = &[
    ("exuvia", "Exuvia"),
    ("python", "Exuvia's CPython rung"),
    ("numpy", "NumPy by row"),
    ("numba", "Numba by hand"),
    ("jax", "JAX by hand"),
    ("polars", "Polars by hand"),
    ("duckdb", "DuckDB SQL by hand"),
];

impl Suite {
    fn spec(&self, folder: &Path, (name, args): (&str, &str), table: &str, contender: &str) -> Value {
        let lift = if contender == "python" { "off" } else { "on" };
        json!({
            "tables": files(folder, &[table]),
            "udfs": [root().join(format!("udfs/tables/{}.py", self.name)).to_string_lossy()],
            "setup": [format!("SET exuvia.lift = {lift}")],
            "sql": format!("SELECT {name}({args}) AS r FROM {table}"),
        })
    }

    /// Runs it.
    ///
    /// # Errors
    /// If a contender fails, or Exuvia's values differ from NumPy's.
    pub(super) fn run(&self, options: &Options) -> Result<()> {
        let setup = Setup::new()?;
        let python = python::environment()?;
        let folder = setup.target.join("bench-data").join(self.name);
        let peer = root().join(format!("benchmarks/peers/{}.py", self.name));
        succeed(Command::new(&setup.python).arg(&peer).arg("make").arg(&folder).arg(options.rows.to_string()))?;
        let peers = |what: &str, args: &[&str]| {
            let mut command = pinned(&setup.python, options.core);
            command.env(BASELINE.0, BASELINE.1).arg(&peer).arg(what).args(args.iter().filter(|arg| !arg.is_empty()));
            command
        };
        let at = folder.to_string_lossy().into_owned();
        let runs = (options.rounds + 1).to_string();
        let mut page = format!("# {}\n\nWritten by `{}`; do not edit.\n\n", self.title, options.command);
        writeln!(
            page,
            "Machine: {}. One thread. {} rows of a Parquet file, {}. Each reads the columns and ends with the result in Arrow. \
             Nanoseconds a row, medians of {} runs after one that warms up; then how many times Exuvia's time each takes. \
             *Differ*: values that are not NumPy's to the last bit.\n",
            machine::describe(),
            options.rows,
            self.about,
            options.rounds
        )?;
        let titles: Vec<&str> = self.contenders.iter().map(|(_, title)| *title).collect();
        let times: Vec<String> = titles[1..].iter().map(|title| format!("times {title}")).collect();
        writeln!(page, "| function | {} | {} | differ |", titles.join(" | "), times.join(" | "))?;
        writeln!(page, "| --- |{} ---: |", " ---: |".repeat(2 * titles.len() - 1))?;
        let mut all = vec![];
        let pairs = self.functions.iter().flat_map(|function| self.tables.iter().map(move |table| (function, table)));
        for ((name, args), (table, fewer)) in pairs {
            // Which table, where there are several.
            let (told, of) = if self.tables.len() > 1 { (*table, format!(", {table}")) } else { ("", String::new()) };
            println!("{name}{of}");
            let expected = folder.join("expected.parquet").to_string_lossy().into_owned();
            succeed(&mut peers("save", &[name, told, "numpy", &at, &expected]))?;
            let mut shown = vec![];
            let mut differ = String::new();
            for &(contender, _) in self.contenders {
                let got = folder.join("got.parquet").to_string_lossy().into_owned();
                let mut found = Shown::default();
                if matches!(contender, "exuvia" | "python") {
                    let mut spec = self.spec(&folder, (name, args), table, contender);
                    if contender == "exuvia" {
                        spec["save"] = json!(got);
                    }
                    found.add(&ours(&setup, options, &python, &spec, options.rounds + 1)?)?;
                } else {
                    let answer = ask(&mut peers("run", &[name, told, contender, &at, &runs]), &python)?;
                    if answer["rows"].is_null() {
                        shown.push(None);
                        continue;
                    }
                    found.add(&answer)?;
                    if contender == "numpy" {
                        shown.push(Some(found));
                        continue;
                    }
                    succeed(&mut peers("save", &[name, told, contender, &at, &got]))?;
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
            let nanos = |shown: &Shown| shown.median() * 1e9 / (options.rows / fewer) as f64;
            let mine = shown[0].as_ref().map_or(f64::NAN, &nanos);
            let figures =
                shown.iter().map(|shown| shown.as_ref().map_or("–".to_string(), |shown| figure(nanos(shown))));
            let ratios = shown[1..]
                .iter()
                .map(|shown| shown.as_ref().map_or("–".to_string(), |shown| figure(nanos(shown) / mine)));
            let cells: Vec<String> = figures.chain(ratios).collect();
            writeln!(page, "| {name}{of} | {} | {differ} |", cells.join(" | "))?;
            let named: Vec<Value> = shown
                .iter()
                .zip(self.contenders)
                .filter_map(|(shown, (name, _))| Some(json!({"contender": name, "shown": shown.as_ref()?.json()})))
                .collect();
            all.push(json!({"function": name, "table": table, "contenders": named}));
        }
        publish(&setup, options, self.name, &page, all)
    }
}
