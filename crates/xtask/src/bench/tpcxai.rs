//! `bench tpcxai`: machine learning pipelines served as table functions.

use super::frames::{Shown, ask, ours, pinned, publish};
use super::markdown::figure;
use super::measure::median;
use super::setup::Setup;
use super::{Options, machine};
use crate::{python, root, succeed};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The use cases with their tables and models.
pub(super) struct UseCases {
    queries: Map<String, Value>,
    /// Where the tables are, and within it the models.
    pub(super) data: PathBuf,
}

impl UseCases {
    /// Makes the tables of a scale factor and fits the models if they are not there.
    pub(super) fn new(setup: &Setup, python: &Path, scale: f64) -> Result<UseCases> {
        let folder = folder();
        let data = setup.target.join(format!("bench-data/tpcxai-{scale}"));
        let models = data.join("models");
        if !models.join("done").exists() {
            std::fs::create_dir_all(&models)?;
            succeed(
                Command::new(python).arg(folder.join("generate.py")).args(["--sf", &scale.to_string()]).arg(&data),
            )?;
            succeed(Command::new(python).arg(folder.join("train.py")).arg(&data).arg(&models))?;
            std::fs::write(models.join("done"), "")?;
        }
        let queries = serde_json::from_slice(&std::fs::read(folder.join("queries.json"))?)?;
        Ok(UseCases { queries, data })
    }

    pub(super) fn models(&self) -> PathBuf {
        self.data.join("models")
    }

    /// The tables of a use case: names and files.
    pub(super) fn tables(&self, name: &str) -> Value {
        self.files(name, "tables", &self.data)
    }

    /// A use case as the Rust side runs it.
    pub(super) fn spec(&self, name: &str) -> Result<Value> {
        Ok(json!({
            "tables": self.tables(name),
            "models": self.files(name, "model", &self.models()),
            "udfs": [self.alone(name)?.to_string_lossy()],
            "sql": self.queries.get(name).and_then(|query| query.get("sql")),
        }))
    }

    fn files(&self, name: &str, key: &str, folder: &Path) -> Value {
        let files = self.queries.get(name).and_then(|query| query.get(key)).and_then(Value::as_object);
        let pairs = files.into_iter().flatten().map(|(name, file)| {
            (name.clone(), json!(folder.join(file.as_str().unwrap_or_default()).to_string_lossy()))
        });
        Value::Object(pairs.collect())
    }

    /// A file of the functions that declares this one alone: the model of every function that is
    /// declared is loaded with its libraries, and plain pandas has only the one that it serves.
    fn alone(&self, name: &str) -> Result<PathBuf> {
        let text = std::fs::read_to_string(folder().join("functions.py"))?;
        let own = format!("# sql: {name}(");
        let lines =
            text.lines().map(|line| if line.starts_with("# sql: ") && !line.starts_with(&own) { "#" } else { line });
        let path = self.data.join(format!("{name}.py"));
        std::fs::write(&path, lines.collect::<Vec<_>>().join("\n"))?;
        Ok(path)
    }
}

fn folder() -> PathBuf {
    root().join("benchmarks/tpcxai")
}

/// Runs `bench tpcxai`: a scale factor of 1 has about 200,000 rows to serve a use case.
///
/// # Errors
/// If a contender fails, or results differ.
pub(super) fn run(options: &Options, scale: f64) -> Result<()> {
    let setup = Setup::new()?;
    let python = python::environment()?;
    let folder = folder();
    let cases = UseCases::new(&setup, &python, scale)?;
    let data = &cases.data;
    let mut page = String::new();
    writeln!(page, "# TPCx-AI-style use cases\n\nWritten by `{}`; do not edit.\n", options.command)?;
    writeln!(
        page,
        "Machine: {}. One thread. Scale factor {scale}. Pipelines in pandas and scikit-learn with trained models, served as \
         table functions over Parquet files, beside the same functions in plain pandas: load (Parquet to DataFrames) and serve. \
         Medians of {} processes each, which take turns; each serves one use case twice, and the second time counts. Results are \
         compared before.\n",
        machine::describe(),
        options.rounds
    )?;
    writeln!(
        page,
        "| use case | Exuvia, s | pandas: load, s | serve, s | times its time | Exuvia, rows a second | Exuvia, MiB | pandas, MiB | times its memory | rows |"
    )?;
    writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    let mut all = vec![];
    for name in cases.queries.keys() {
        println!("{name}");
        let saved = data.join(format!("{name}-exuvia.parquet"));
        let spec = cases.spec(name)?;
        let mut saving = spec.clone();
        if let Some(saving) = saving.as_object_mut() {
            saving.insert("save".to_string(), json!(saved.to_string_lossy()));
        }
        ours(&setup, options, &python, &saving, 1)?;
        let theirs_saved: PathBuf = data.join("pandas");
        let peer = || {
            let mut command = pinned(&python, options.core);
            command.arg(folder.join("serve.py")).arg(data).arg(cases.models()).args([name, name]);
            command
        };
        ask(peer().arg("--save").arg(&theirs_saved), &python)?;
        let mut compare = Command::new(&python);
        compare.arg(folder.join("compare.py")).arg(&saved).arg(theirs_saved.join(format!("{name}.parquet")));
        succeed(&mut compare)?;
        let (mut mine, mut loads, mut serves, mut peak, mut rows_in) = (Shown::default(), vec![], vec![], 0.0f64, 0);
        for _ in 0..options.rounds {
            mine.add(&ours(&setup, options, &python, &spec, 2)?)?;
            let answer = ask(&mut peer(), &python)?;
            let number = |key: &str| answer.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
            loads.push(number("load_s"));
            serves.push(number("serve_s"));
            peak = peak.max(number("peak_mib"));
            rows_in = answer.get("rows_in").and_then(Value::as_u64).unwrap_or(0);
        }
        let (load, serve) = (median(&loads).unwrap_or(f64::NAN), median(&serves).unwrap_or(f64::NAN));
        writeln!(
            page,
            "| {name} | {} | {} | {} | {} | {:.0} | {:.0} | {peak:.0} | {} | {} |",
            figure(mine.median()),
            figure(load),
            figure(serve),
            figure(mine.median() / (load + serve)),
            rows_in as f64 / mine.median(),
            mine.peak_mib,
            figure(mine.peak_mib / peak),
            mine.rows
        )?;
        all.push(json!({"name": name, "exuvia": mine.json(), "load": loads, "serve": serves, "pandas_peak_mib": peak}));
    }
    publish(&setup, options, "tpcxai", &page, all)
}
