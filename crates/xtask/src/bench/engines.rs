//! The second table of `bench tables`: whole queries as table functions beside the same pandas
//! without us, and beside Polars, DuckDB and DataFusion without Python.

use super::Options;
use super::compare::{Difference, lines};
use super::frames::{Shown, ask, files, ours, pinned};
use super::markdown::figure;
use super::setup::Setup;
use super::tpcxai::UseCases;
use crate::{root, succeed};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who runs a query.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// Exuvia, the query being one table function.
    Function,
    /// The same function in plain Python.
    Pandas,
    /// Another engine without Python, by its name in `by_hand.py`.
    Engine(&'static str),
    /// DataFusion's SQL in our binary, without Python.
    DataFusion,
    /// Exuvia, the query being SQL with functions of rows.
    Rows,
}

const CONTENDERS: [(By, &str); 6] = [
    (By::Function, "Exuvia"),
    (By::Pandas, "plain pandas"),
    (By::Engine("polars"), "Polars by hand"),
    (By::Engine("duckdb"), "DuckDB SQL by hand"),
    (By::DataFusion, "DataFusion SQL by hand"),
    (By::Rows, "Exuvia, row functions"),
];

/// A query and where its tables are.
struct Query {
    /// Its name in `frames.py` and `by_hand.py`.
    name: &'static str,
    title: &'static str,
    folder: PathBuf,
    function: Value,
    sql: Value,
    rows: Option<Value>,
}

impl Query {
    /// What the Rust side is told, where it runs the query.
    fn spec(&self, by: By) -> Option<&Value> {
        match by {
            By::Function => Some(&self.function),
            By::DataFusion => Some(&self.sql),
            By::Rows => self.rows.as_ref(),
            By::Pandas | By::Engine(_) => None,
        }
    }
}

/// The queries; the formulas of models are written for those that need them.
fn queries(folder: &Path, cases: &UseCases, python: &Path) -> Result<Vec<Query>> {
    succeed(Command::new(python).arg(root().join("benchmarks/tpcxai/formulas.py")).arg(cases.models()))?;
    let formulas: Value = serde_json::from_slice(&std::fs::read(cases.models().join("formulas.json"))?)?;
    let udf = |name: &str| json!([root().join("udfs").join(name).to_string_lossy()]);
    let text = |file: &str| -> Result<String> {
        Ok(std::fs::read_to_string(root().join("sql").join(file))?.trim_end().trim_end_matches(';').to_string())
    };
    let (listings, logs) = (files(folder, &["listings"]), files(folder, &["logs", "bad_addresses"]));
    let mut queries = vec![
        Query {
            name: "zillow",
            title: "Zillow (Z1)",
            folder: folder.to_path_buf(),
            function: json!({"tables": listings, "udfs": udf("tables/frames.py"),
                "sql": "SELECT * FROM zillow_frame(TABLE listings)"}),
            sql: json!({"tables": listings, "by_hand": "z1"}),
            rows: Some(json!({"tables": listings, "udfs": udf("zillow.py"), "sql": text("zillow_z1.sql")?})),
        },
        Query {
            name: "logs",
            title: "Logs by split",
            folder: folder.to_path_buf(),
            function: json!({"tables": logs, "udfs": udf("tables/frames.py"),
                "sql": "SELECT * FROM logs_frame(TABLE logs, TABLE bad_addresses)"}),
            sql: json!({"tables": logs, "by_hand": "logs by split"}),
            rows: Some(json!({"tables": logs, "udfs": udf("logs.py"), "sql": text("logs_split.sql")?})),
        },
    ];
    for (name, title) in [("uc01", "UC1: customers' clusters"), ("uc10", "UC10: fraud")] {
        let sql = formulas.pointer(&format!("/{name}/sql/datafusion")).context("formulas.json has no SQL")?;
        queries.push(Query {
            name,
            title,
            folder: cases.data.clone(),
            function: cases.spec(name)?,
            sql: json!({"tables": cases.tables(name), "sql": sql}),
            rows: None,
        });
    }
    Ok(queries)
}

/// Where everything runs.
struct Bench<'a> {
    setup: &'a Setup,
    options: &'a Options,
    /// The Python of the tests, which is ours, too.
    python: &'a Path,
}

impl Bench<'_> {
    /// A command of a peer in Python.
    fn peer(&self, what: &str, query: &Query, by: By) -> Command {
        let peers = root().join("benchmarks/peers");
        let mut command = match by {
            By::Engine(engine) => {
                let mut command = pinned(&self.setup.python, self.options.core);
                command.arg(peers.join("by_hand.py")).args([what, query.name, engine]);
                command
            }
            By::Function | By::Pandas | By::DataFusion | By::Rows => {
                let mut command = pinned(self.python, self.options.core);
                command.arg(peers.join("frames.py")).args([what, query.name]);
                command
            }
        };
        command.arg(&query.folder);
        command
    }

    /// What each has shown, in processes that take turns and of which each runs the query twice:
    /// the first time warms it up.
    fn time(&self, query: &Query, contenders: &[(By, &str)]) -> Result<Vec<Shown>> {
        let mut shown = vec![Shown::default(); contenders.len()];
        for _ in 0..self.options.rounds {
            for ((by, _), shown) in contenders.iter().zip(&mut shown) {
                shown.add(&match query.spec(*by) {
                    Some(spec) => ours(self.setup, self.options, self.python, spec, 2)?,
                    None => ask(self.peer("run", query, *by).arg("2"), self.python)?,
                })?;
            }
        }
        Ok(shown)
    }

    fn save(&self, query: &Query, by: By, file: &Path) -> Result<()> {
        let Some(spec) = query.spec(by) else { return succeed(self.peer("save", query, by).arg(file)) };
        let mut spec = spec.clone();
        if let Some(spec) = spec.as_object_mut() {
            spec.insert("save".to_string(), json!(file.to_string_lossy()));
        }
        ours(self.setup, self.options, self.python, &spec, 1).map(drop)
    }

    /// Compares everybody's result with that of pandas.
    fn compare(&self, query: &Query, contenders: &[(By, &str)]) -> Result<Vec<Difference>> {
        let file = |name: &str| self.setup.target.join(format!("bench-data/{name}.parquet"));
        let (expected, got) = (file("expected"), file("got"));
        self.save(query, By::Pandas, &expected)?;
        let mut differences = vec![];
        for (by, title) in contenders.iter().filter(|(by, _)| *by != By::Pandas) {
            self.save(query, *by, &got)?;
            let mut compare = Command::new(&self.setup.python);
            compare.arg(root().join("benchmarks/peers/by_hand.py")).arg("compare").arg(&expected).arg(&got);
            let answer = ask(&mut compare, self.python)?;
            let rows = answer.get("differ").and_then(Value::as_u64).context("no comparison")?;
            let example = answer.get("example").and_then(Value::as_str).unwrap_or_default();
            match by {
                _ if rows == 0 => {}
                By::Engine(_) | By::DataFusion => {
                    differences.push((query.title.to_string(), (*title).to_string(), rows, example.to_string()));
                }
                By::Function | By::Pandas | By::Rows => {
                    bail!("{}, {title}: {rows} rows differ, {example}", query.title)
                }
            }
        }
        Ok(differences)
    }
}

/// Writes the table, and gives its figures.
///
/// # Errors
/// If a contender fails, or gives what it must not.
pub(super) fn table(
    page: &mut String,
    setup: &Setup,
    options: &Options,
    python: &Path,
    folder: &Path,
    scale: f64,
) -> Result<Vec<Value>> {
    let bench = Bench { setup, options, python };
    let cases = UseCases::new(setup, python, scale)?;
    writeln!(page, "\n## Whole queries beside other engines\n")?;
    let versions = setup.versions()?;
    let versions: Vec<&str> = versions
        .iter()
        .filter(|line| line.starts_with("polars") || line.starts_with("duckdb"))
        .map(String::as_str)
        .collect();
    writeln!(
        page,
        "The four of HiPy's paper: Z1 and the logs over tables of {} rows, UC1 and UC10 over those of [tpcxai](tpcxai.md), \
         scale factor {scale}. Exuvia runs each as one table function and pandas the same function. *By hand* is without \
         Python, the models of UC1 and UC10 being formulas: {} (`benchmarks/peers/by_hand.py`), and DataFusion within our \
         binary. With row functions, which compile, Exuvia runs the same query as SQL that calls them. Everybody reads Parquet \
         files and has one thread; all results were compared with those of pandas before. Milliseconds, medians of {} \
         processes each, which take turns and run the query twice, the second time being what counts; then \
         Exuvia's time with a table function over each other's, then peaks of memory.\n",
        options.rows,
        versions.join(" and "),
        options.rounds
    )?;
    write!(page, "| query |")?;
    for (_, title) in CONTENDERS {
        write!(page, " {title} |")?;
    }
    for (_, title) in &CONTENDERS[1..5] {
        write!(page, " times {} |", title.trim_start_matches("plain ").trim_end_matches(" by hand"))?;
    }
    writeln!(page, " Exuvia, MiB | pandas, MiB | rows |\n| --- |{}", " ---: |".repeat(13))?;
    let (mut all, mut differences) = (vec![], vec![]);
    for query in queries(folder, &cases, python)? {
        println!("{}", query.title);
        let contenders: Vec<(By, &str)> =
            CONTENDERS.into_iter().filter(|(by, _)| *by != By::Rows || query.rows.is_some()).collect();
        differences.extend(bench.compare(&query, &contenders)?);
        let shown = bench.time(&query, &contenders)?;
        let [own, pandas, ..] = &shown[..] else { bail!("there are contenders") };
        write!(page, "| {} |", query.title)?;
        for index in 0..CONTENDERS.len() {
            write!(page, " {} |", shown.get(index).map_or("–".to_string(), |shown| figure(shown.median() * 1e3)))?;
        }
        for other in &shown[1..5] {
            write!(page, " {} |", figure(own.median() / other.median()))?;
        }
        writeln!(page, " {:.0} | {:.0} | {} |", own.peak_mib, pandas.peak_mib, own.rows)?;
        let times = contenders.iter().zip(&shown).map(|((_, title), shown)| json!([title, shown.json()]));
        all.push(json!({"name": query.title, "times": times.collect::<Vec<_>>()}));
    }
    if !differences.is_empty() {
        writeln!(
            page,
            "\nBy hand, names of users become another hash than the function's, and a line that is cut short keeps its \
             code where the protocol would be:\n"
        )?;
        for line in lines(&differences) {
            writeln!(page, "{line}")?;
        }
    }
    Ok(all)
}
