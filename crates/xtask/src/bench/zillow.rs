//! The twelve functions of `udfs/zillow.py` over a million listings, and query Z1.

use super::compare::{Comparison, Difference};
use super::measure::{Contender, Outcome, Processes, Side};
use super::process::Process;
use super::setup::Setup;
use super::{Options, chart, machine, markdown};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

const fn rust(name: &'static str, title: &'static str) -> Contender {
    Contender { name, side: Side::Rust, title }
}

const fn python(name: &'static str, title: &'static str) -> Contender {
    Contender { name, side: Side::Python, title }
}

/// Who runs each function over columns in memory. The first is what ratios refer to.
pub(super) const FUNCTION_CONTENDERS: [Contender; 12] = [
    python("loop", "CPython loop"),
    python("loop arrow", "CPython loop, Arrow to Arrow"),
    rust("exuvia", "Exuvia"),
    rust("rust", "Rust by hand"),
    rust("datafusion sql", "DataFusion SQL by hand"),
    python("pandas apply", "pandas apply"),
    python("polars map_elements", "Polars map_elements"),
    python("duckdb native", "DuckDB UDF, native"),
    python("duckdb arrow", "DuckDB UDF, Arrow"),
    python("datafusion-python", "datafusion-python UDF"),
    python("numba", "Numba"),
    rust("exuvia python", "Exuvia's CPython rung"),
];

/// Who runs the whole query from Parquet.
pub(super) const QUERY_CONTENDERS: [Contender; 10] = [
    python("loop", "CPython loop"),
    rust("exuvia", "Exuvia"),
    rust("datafusion sql", "DataFusion SQL by hand"),
    python("duckdb sql", "DuckDB SQL by hand"),
    python("polars expressions", "Polars expressions by hand"),
    python("pandas apply", "pandas apply"),
    python("polars map_elements", "Polars map_elements"),
    python("duckdb udf", "DuckDB UDF, Arrow"),
    python("datafusion-python", "datafusion-python UDF"),
    rust("exuvia python", "Exuvia's CPython rung"),
];

/// What one thing took, by contender.
pub(super) struct Row {
    /// The function or query.
    pub(super) name: String,
    /// One a contender, in the order of their table.
    pub(super) outcomes: Vec<Outcome>,
}

/// All that the benchmark found.
pub(super) struct Report {
    pub(super) command: String,
    pub(super) machine: String,
    pub(super) versions: Vec<String>,
    pub(super) rows: usize,
    pub(super) functions: Vec<Row>,
    pub(super) query: Row,
    /// Seconds of reading the query's columns from Parquet.
    pub(super) scan: f64,
    /// Seconds of the copy of a column, and of a function that only returns its argument.
    pub(super) copy: f64,
    pub(super) empty: Outcome,
    /// Peak memory in KiB of the query natively and with built-in functions.
    pub(super) peak: [Option<f64>; 2],
    /// What `exuvia-bench inspect` says of the functions.
    pub(super) inspect: Value,
    /// Rows in which SQL written by hand differs, in the comparison.
    pub(super) differences: Vec<Difference>,
}

/// Runs the benchmark.
///
/// # Errors
/// If results differ that must not, or a process cannot be run.
pub(super) fn run(options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let columns = columns(&setup, "zillow")?;
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();

    println!("comparing results on {SMALL} rows");
    let differences = compare(&setup, options, &columns, &names)?;
    if options.rounds == 1 && !options.publish {
        println!("all results are equal");
        return Ok(());
    }

    let folder = setup.table(options.rows)?;
    let mut processes = start(&setup, options, &folder, "zillow", &columns)?;
    let mut functions = Vec::new();
    for (index, name) in names.iter().enumerate() {
        println!("[{}/{}] {name}", index + 1, names.len());
        let outcomes = processes.rounds(name, &FUNCTION_CONTENDERS, options.rounds)?;
        functions.push(Row { name: name.clone(), outcomes });
    }
    let plain = [rust("rust", "copy")];
    let copy = processes.rounds("copy", &plain, options.rounds * 3)?[0].median().context("the copy failed")?;
    let empty = processes.rounds("empty", &[rust("exuvia direct", "empty")], options.rounds * 3)?.remove(0);
    println!("query Z1 from Parquet");
    let outcomes = processes.rounds("z1", &QUERY_CONTENDERS, options.rounds)?;
    let scan = processes.rounds("scan", &[rust("datafusion sql", "scan")], options.rounds)?;
    let scan = scan[0].median().context("the scan failed")?;
    drop(processes);

    let peak = ["exuvia", "builtin"].map(|by| peak(&setup, options, &folder, by));
    let inspect = tool(&setup, &["inspect", folder.to_str().context("a path in UTF-8")?, "zillow"]);
    let report = Report {
        command: options.command.clone(),
        machine: machine::describe(),
        versions: setup.versions()?,
        rows: options.rows,
        functions,
        query: Row { name: "z1".to_string(), outcomes },
        scan,
        copy,
        empty,
        peak,
        inspect: inspect.unwrap_or_else(|error| json!({"error": format!("{error:#}")})),
        differences,
    };
    let text = markdown::zillow(&report);
    println!("{text}");
    let results = setup.results()?;
    std::fs::write(results.join("zillow.json"), serde_json::to_string_pretty(&json_of(&report))? + "\n")?;
    std::fs::write(results.join("zillow.md"), text)?;
    std::fs::write(results.join("zillow.svg"), chart::zillow(&report))?;
    println!("written to {}", results.display());
    Ok(())
}

/// Rows of the comparison.
const SMALL: usize = 20_000;

/// The functions of a suite and the columns that they take, in the order of the file.
pub(super) fn columns(setup: &Setup, suite: &str) -> Result<Vec<(String, Value)>> {
    let columns = tool(setup, &["columns", suite])?;
    Ok(serde_json::from_value(columns)?)
}

/// What the Rust side prints for a command.
pub(super) fn tool(setup: &Setup, args: &[&str]) -> Result<Value> {
    let output = Command::new(&setup.binary).args(args).output().context("cannot run exuvia-bench")?;
    if !output.status.success() {
        bail!("exuvia-bench {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The two processes for a suite.
pub(super) fn start(
    setup: &Setup,
    options: &Options,
    folder: &Path,
    suite: &str,
    columns: &[(String, Value)],
) -> Result<Processes> {
    let text = |path: &Path| path.to_str().map(str::to_string).context("a path in UTF-8");
    let folder = text(folder)?;
    let rust = Process::start(&setup.binary, &["serve", &folder, suite], &[options.core])?;
    let script = text(&setup.root.join("benchmarks/peers/serve.py"))?;
    let source = text(&setup.root.join("udfs").join(suite).with_extension("py"))?;
    let sql = text(&setup.root.join("sql/zillow_z1.sql"))?;
    let table = match suite {
        "zillow" => "listings",
        "language" => "orders",
        _ => "records",
    };
    let columns: Map<String, Value> = columns.iter().cloned().collect();
    let args = [script.as_str(), &folder, table, &source, &Value::Object(columns).to_string(), &sql];
    let python = Process::start(&setup.python, &args, &[options.core])?;
    Ok(Processes { rust, python })
}

/// Compares all contenders' results.
fn compare(setup: &Setup, options: &Options, columns: &[(String, Value)], names: &[String]) -> Result<Vec<Difference>> {
    let folder = setup.table(SMALL)?;
    let mut processes = start(setup, options, &folder, "zillow", columns)?;
    let mut comparison = Comparison::default();
    for name in names {
        comparison.add(&mut processes, &setup.compared(), name, &FUNCTION_CONTENDERS)?;
    }
    comparison.add(&mut processes, &setup.compared(), "z1", &QUERY_CONTENDERS)?;
    comparison.end()
}

/// The peak memory in KiB of a process that runs the query once: the least of three.
fn peak(setup: &Setup, options: &Options, folder: &Path, by: &str) -> Option<f64> {
    let once = || {
        let folder = folder.to_str()?;
        let answer = tool(setup, &["peak", folder, by]).ok()?;
        answer.get("kib").and_then(Value::as_f64)
    };
    let rounds = options.rounds.clamp(1, 3);
    (0..rounds).filter_map(|_| once()).min_by(f64::total_cmp)
}

fn json_of(report: &Report) -> Value {
    let row = |row: &Row, contenders: &[Contender]| -> Value {
        let outcomes = contenders.iter().zip(&row.outcomes);
        Value::Object(outcomes.map(|(by, outcome)| (by.name.to_string(), outcome.json())).collect::<Map<_, _>>())
    };
    let functions: Map<String, Value> =
        report.functions.iter().map(|each| (each.name.clone(), row(each, &FUNCTION_CONTENDERS))).collect();
    json!({
        "command": report.command,
        "machine": report.machine,
        "versions": report.versions,
        "rows": report.rows,
        "unit": "seconds",
        "functions": functions,
        "z1": row(&report.query, &QUERY_CONTENDERS),
        "scan": report.scan,
        "copy": report.copy,
        "empty": report.empty.json(),
        "peak_kib": {"exuvia": report.peak[0], "builtin": report.peak[1]},
        "inspect": report.inspect,
        "differences": report.differences,
    })
}
