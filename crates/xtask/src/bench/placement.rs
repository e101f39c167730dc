//! Queries whose time depends on where calls are placed in the plan.

use super::compare::{Comparison, Difference, lines};
use super::markdown::figure;
use super::measure::{Contender, Outcome, Side, median};
use super::setup::Setup;
use super::zillow::{columns, start};
use super::{Options, machine};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;

const CONTENDERS: [Contender; 9] = [
    Contender { name: "exuvia", side: Side::Rust, title: "Exuvia" },
    Contender { name: "exuvia unplaced", side: Side::Rust, title: "without inlining and fusion" },
    Contender { name: "exuvia python", side: Side::Rust, title: "in CPython" },
    Contender { name: "datafusion sql", side: Side::Rust, title: "DataFusion SQL by hand" },
    Contender { name: "rust", side: Side::Rust, title: "Rust by hand" },
    Contender { name: "duckdb udf", side: Side::Python, title: "DuckDB UDF" },
    Contender { name: "duckdb sql", side: Side::Python, title: "DuckDB SQL by hand" },
    Contender { name: "polars map_elements", side: Side::Python, title: "Polars map_elements" },
    Contender { name: "polars expressions", side: Side::Python, title: "Polars expressions by hand" },
];

/// The contenders of the table within DataFusion, and those that Exuvia's time is divided by.
const WITHIN: ([usize; 5], [(usize, &str); 3]) =
    ([0, 1, 2, 3, 4], [(1, "times without"), (3, "times SQL by hand"), (4, "times Rust by hand")]);

/// The same of the table of other engines.
const OTHERS: ([usize; 5], [(usize, &str); 4]) = (
    [0, 5, 6, 7, 8],
    [
        (5, "times DuckDB UDF"),
        (6, "times DuckDB SQL"),
        (7, "times Polars map_elements"),
        (8, "times Polars expressions"),
    ],
);

const QUERIES: [&str; 10] = [
    "z1",
    "predicate over Parquet",
    "arithmetic over Parquet",
    "cheap guard first",
    "five calls deep",
    "call in SELECT and WHERE",
    "call above a join",
    "logs by split",
    "logs by find",
    "logs by match",
];

/// The queries that were written in Rust.
const IN_RUST: [&str; 4] = ["z1", "logs by split", "logs by find", "logs by match"];

/// Runs the benchmark.
///
/// # Errors
/// If a process cannot be run, a query fails or results differ that must not.
pub(super) fn run(options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let columns = columns(&setup, "zillow")?;
    let folder = setup.table(options.rows)?;
    let mut processes = start(&setup, options, &folder, "zillow", &columns)?;
    println!("comparing results on {} rows", options.rows);
    let mut comparison = Comparison::default();
    for query in QUERIES {
        let contenders: Vec<Contender> =
            CONTENDERS.into_iter().filter(|by| by.name != "rust" || IN_RUST.contains(&query)).collect();
        comparison.add(&mut processes, &setup.compared(), query, &contenders)?;
    }
    let differences = comparison.end()?;
    let mut rows = Vec::new();
    for query in QUERIES {
        println!("{query}");
        let outcomes = processes.rounds(query, &CONTENDERS, options.rounds)?;
        for (contender, outcome) in CONTENDERS.iter().zip(&outcomes) {
            if let Outcome::Fails(why) = outcome
                && (contender.name != "rust" || IN_RUST.contains(&query))
            {
                bail!("{query}, {}: {why}", contender.title);
            }
        }
        rows.push((query, outcomes));
    }
    let page = page(options, &setup.versions()?, &rows, &differences)?;
    println!("{page}");
    if options.publish {
        let results = setup.results()?;
        std::fs::write(results.join("placement.md"), page)?;
        let queries: Vec<Value> = rows
            .iter()
            .map(|(query, outcomes)| {
                let times = CONTENDERS.iter().zip(outcomes).map(|(by, outcome)| json!([by.name, outcome.json()]));
                json!({"name": query, "times": times.collect::<Vec<_>>()})
            })
            .collect();
        let all = json!({
            "command": options.command,
            "machine": machine::describe(),
            "versions": setup.versions()?,
            "rows": options.rows,
            "queries": queries,
            "differences": differences,
        });
        std::fs::write(results.join("placement.json"), serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

fn page(
    options: &Options,
    versions: &[String],
    rows: &[(&str, Vec<Outcome>)],
    differences: &[Difference],
) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    writeln!(page, "# Placement\n")?;
    writeln!(page, "Written by `{}`; do not edit.\n", options.command)?;
    let (machine, versions) = (machine::describe(), versions.join(", "));
    writeln!(page, "Machine: {machine}. One thread. {} rows. Peers: {versions}.\n", options.rows)?;
    writeln!(
        page,
        "Milliseconds a query, medians of interleaved rounds, from the text of the query to its batches. The queries are \
         in `crates/bench/src/placement.rs`; z1 is `sql/zillow_z1.sql`. The Parquet table has 33 columns and row groups of \
         50,000 rows in which prices rise from row to row; listings and logs are read from Parquet too. Rust by hand is one \
         loop over the batches of the same scan; over the log it takes every line apart and then looks its address up, as the \
         query says, with the crate `regex` for the one that matches a pattern. Results of all were compared with CPython's before.\n"
    )?;
    table(&mut page, rows, &WITHIN.0, &WITHIN.1)?;
    let ratios: Vec<f64> =
        rows.iter().filter_map(|(_, outcomes)| Some(outcomes[0].median()? / outcomes[1].median()?)).collect();
    writeln!(
        page,
        "\n*Times without*: Exuvia's time over that without inlining and fusion, median {}.\n",
        figure(median(&ratios).unwrap_or(f64::NAN))
    )?;
    writeln!(page, "## Other engines\n")?;
    writeln!(
        page,
        "The same queries by DuckDB and Polars (`benchmarks/peers/placement_*.py`): with the Python functions, DuckDB's \
         text that of Exuvia's queries and Polars' lazy queries in its order, and rewritten by hand without Python. They \
         read the same Parquet files; `memory` is a table of DuckDB's and a DataFrame of Polars'. Each *times* is \
         Exuvia's time over the other's.\n"
    )?;
    table(&mut page, rows, &OTHERS.0, &OTHERS.1)?;
    if !differences.is_empty() {
        writeln!(page, "\n## What differs by hand\n")?;
        writeln!(
            page,
            "Written by hand, the queries over the logs by splitting and by finding take lines apart by splitting, and names of users become a hash \
             that the engine has instead of the function's. DuckDB's lower makes one letter of `İ`, CPython's two.\n"
        )?;
        for line in lines(differences) {
            writeln!(page, "{line}")?;
        }
    }
    Ok(page)
}

/// A row a query: the milliseconds of some contenders, and Exuvia's time over others'.
fn table(
    page: &mut String,
    rows: &[(&str, Vec<Outcome>)],
    shown: &[usize],
    ratios: &[(usize, &str)],
) -> std::fmt::Result {
    write!(page, "| query |")?;
    for title in shown.iter().map(|index| CONTENDERS[*index].title).chain(ratios.iter().map(|(_, title)| *title)) {
        write!(page, " {title} |")?;
    }
    writeln!(page, "\n| --- |{}", " ---: |".repeat(shown.len() + ratios.len()))?;
    let cell = |number: Option<f64>| number.map_or("–".to_string(), figure);
    for (query, outcomes) in rows {
        write!(page, "| {query} |")?;
        for index in shown {
            write!(page, " {} |", cell(outcomes[*index].median().map(|time| time * 1e3)))?;
        }
        let own = outcomes[0].median();
        for (other, _) in ratios {
            let ratio = own.zip(outcomes[*other].median()).map(|(own, other)| own / other);
            write!(page, " {} |", cell(ratio))?;
        }
        writeln!(page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CONTENDERS, OTHERS, Outcome, WITHIN, table};

    #[test]
    fn rows_of_a_table() {
        let mut outcomes: Vec<Outcome> =
            (1..=CONTENDERS.len()).map(|index| Outcome::Times(vec![index as f64 / 1e3])).collect();
        outcomes[4] = Outcome::Fails("nobody wrote it".to_string());
        let rows = [("a query", outcomes)];
        let last = |shown: &[usize], ratios: &[(usize, &str)]| {
            let mut page = String::new();
            table(&mut page, &rows, shown, ratios).unwrap();
            let columns: Vec<usize> = page.lines().map(|line| line.matches('|').count()).collect();
            assert_eq!(columns, vec![shown.len() + ratios.len() + 2; 3], "{page}");
            page.lines().next_back().map(str::to_string)
        };
        let within = "| a query | 1.00 | 2.00 | 3.00 | 4.00 | – | 0.50 | 0.25 | – |";
        assert_eq!(last(&WITHIN.0, &WITHIN.1).as_deref(), Some(within));
        let others = "| a query | 1.00 | 6.00 | 7.00 | 8.00 | 9.00 | 0.17 | 0.14 | 0.12 | 0.11 |";
        assert_eq!(last(&OTHERS.0, &OTHERS.1).as_deref(), Some(others));
    }
}
