//! Queries whose time depends on where calls are placed in the plan.

use super::markdown::figure;
use super::measure::{Contender, Outcome, Side, median};
use super::setup::Setup;
use super::zillow::{columns, start};
use super::{Options, machine};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;

const CONTENDERS: [Contender; 5] = [
    Contender { name: "exuvia", side: Side::Rust, title: "Exuvia" },
    Contender { name: "exuvia unplaced", side: Side::Rust, title: "without inlining and fusion" },
    Contender { name: "exuvia python", side: Side::Rust, title: "in CPython" },
    Contender { name: "datafusion sql", side: Side::Rust, title: "DataFusion SQL by hand" },
    Contender { name: "rust", side: Side::Rust, title: "Rust by hand" },
];

const QUERIES: [&str; 9] = [
    "z1",
    "predicate over Parquet",
    "arithmetic over Parquet",
    "cheap guard first",
    "five calls deep",
    "call in SELECT and WHERE",
    "call above a join",
    "logs by split",
    "logs by find",
];

/// Runs the benchmark.
///
/// # Errors
/// If a process cannot be run or a query fails.
pub(super) fn run(options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let columns = columns(&setup, "zillow")?;
    let folder = setup.table(options.rows)?;
    let mut processes = start(&setup, options, &folder, "zillow", &columns)?;
    let mut rows = Vec::new();
    for query in QUERIES {
        println!("{query}");
        let outcomes = processes.rounds(query, &CONTENDERS, options.rounds)?;
        for (contender, outcome) in CONTENDERS.iter().zip(&outcomes) {
            // Only some queries were written by hand in Rust.
            if let Outcome::Fails(why) = outcome
                && contender.name != "rust"
            {
                bail!("{query}, {}: {why}", contender.title);
            }
        }
        rows.push((query, outcomes));
    }
    let page = page(options, &rows)?;
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
        let all = json!({"command": options.command, "machine": machine::describe(), "rows": options.rows, "queries": queries});
        std::fs::write(results.join("placement.json"), serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

fn page(options: &Options, rows: &[(&str, Vec<Outcome>)]) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    writeln!(page, "# Placement\n")?;
    writeln!(page, "Written by `{}`; do not edit.\n", options.command)?;
    writeln!(page, "Machine: {}. One thread. {} rows.\n", machine::describe(), options.rows)?;
    writeln!(
        page,
        "Milliseconds a query, medians of interleaved rounds, from the text of the query to its batches. The queries are \
         in `crates/bench/src/placement.rs`; z1 is `sql/zillow_z1.sql`. The Parquet table has 33 columns and row groups of \
         50,000 rows in which prices rise from row to row; listings and logs are read from Parquet too. Rust by hand is one \
         loop over the batches of the same scan; over the log it takes every line apart and then looks its address up, as the \
         query says.\n"
    )?;
    write!(page, "| query |")?;
    for contender in CONTENDERS {
        write!(page, " {} |", contender.title)?;
    }
    writeln!(page, " times without | times SQL by hand | times Rust by hand |")?;
    writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    for (query, outcomes) in rows {
        let times: Vec<Option<f64>> = outcomes.iter().map(Outcome::median).collect();
        let shown = |number: Option<f64>| number.map_or("–".to_string(), figure);
        write!(page, "| {query} |")?;
        for time in &times {
            write!(page, " {} |", shown(time.map(|time| time * 1e3)))?;
        }
        for other in [1, 3, 4] {
            let ratio = times[0].zip(times[other]).map(|(own, other)| own / other);
            write!(page, " {} |", shown(ratio))?;
        }
        writeln!(page)?;
    }
    let ratios: Vec<f64> =
        rows.iter().filter_map(|(_, outcomes)| Some(outcomes[0].median()? / outcomes[1].median()?)).collect();
    writeln!(
        page,
        "\n*Times without*: Exuvia's time over that without inlining and fusion, median {}.",
        figure(median(&ratios).unwrap_or(f64::NAN))
    )?;
    Ok(page)
}
