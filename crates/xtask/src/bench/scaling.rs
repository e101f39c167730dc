//! How much faster queries are with two threads than with one.

use super::markdown::figure;
use super::measure::median;
use super::process::Process;
use super::setup::Setup;
use super::{Options, machine};
use anyhow::{Result, anyhow};
use serde_json::json;
use std::fmt::Write;

/// Queries that were written in Rust as well.
const QUERIES: [&str; 4] = ["z1", "logs by split", "logs by find", "logs by match"];

/// Their contenders.
const CONTENDERS: [&str; 2] = ["exuvia", "rust"];

/// The seconds of a query's contenders, with one thread and with two.
struct Times {
    query: &'static str,
    seconds: [[Vec<f64>; 2]; 2],
}

impl Times {
    /// The median seconds of a contender with one thread and with two.
    fn medians(&self, contender: usize) -> [f64; 2] {
        [0, 1].map(|threads| median(&self.seconds[contender][threads]).unwrap_or(f64::NAN))
    }

    /// How many times faster a contender is with two threads.
    fn scaling(&self, contender: usize) -> f64 {
        let [one, two] = self.medians(contender);
        one / two
    }
}

/// Runs the benchmark: two processes, of one thread on one core and of two on two, asked in
/// turn.
///
/// # Errors
/// If a process cannot be run or a query fails.
pub(super) fn run(options: &Options) -> Result<()> {
    let setup = Setup::new()?;
    let folder = setup.table(options.rows)?;
    let folder = folder.to_str().ok_or_else(|| anyhow!("the folder's name is not UTF-8"))?;
    let other = usize::from(options.core == 0);
    let mut processes = [
        Process::start(&setup.binary, &["serve", folder, "zillow"], &[options.core])?,
        Process::start(&setup.binary, &["serve", folder, "zillow", "2"], &[options.core, other])?,
    ];
    let mut all = Vec::new();
    for query in QUERIES {
        println!("{query}");
        let mut times = Times { query, seconds: Default::default() };
        // The first round warms up.
        for round in 0..=options.rounds {
            for (contender, by) in CONTENDERS.iter().enumerate() {
                for (threads, process) in processes.iter_mut().enumerate() {
                    let seconds = process.time(query, by)?.map_err(|why| anyhow!("{query}, {by}: {why}"))?;
                    if round > 0 {
                        times.seconds[contender][threads].push(seconds);
                    }
                }
            }
        }
        all.push(times);
    }
    let page = page(options, &all)?;
    println!("{page}");
    if options.publish {
        let results = setup.results()?;
        std::fs::write(results.join("scaling.md"), page)?;
        let queries: Vec<_> = all
            .iter()
            .map(|times| {
                let by =
                    |contender: usize| json!({"one": times.seconds[contender][0], "two": times.seconds[contender][1]});
                json!({"name": times.query, "exuvia": by(0), "rust": by(1)})
            })
            .collect();
        let all = json!({"command": options.command, "machine": machine::hardware(), "rows": options.rows, "queries": queries});
        std::fs::write(results.join("scaling.json"), serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

fn page(options: &Options, all: &[Times]) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    writeln!(page, "# Two threads\n")?;
    writeln!(page, "Written by `{}`; do not edit.\n", options.command)?;
    writeln!(page, "Machine: {}. {} rows.\n", machine::hardware(), options.rows)?;
    writeln!(
        page,
        "Milliseconds a query from Parquet, medians of interleaved rounds, with one thread on one core and with two \
         threads and partitions on two. Rust by hand runs its loop over each partition of the same scan. *Scaling* is \
         the time with one over that with two.\n"
    )?;
    writeln!(
        page,
        "| query | Exuvia, one | two | scaling | Rust by hand, one | two | scaling | Exuvia's scaling over Rust's |"
    )?;
    writeln!(page, "| --- |{}", " ---: |".repeat(7))?;
    for times in all {
        write!(page, "| {} |", times.query)?;
        for contender in 0..CONTENDERS.len() {
            for seconds in times.medians(contender) {
                write!(page, " {} |", figure(seconds * 1e3))?;
            }
            write!(page, " {} |", figure(times.scaling(contender)))?;
        }
        writeln!(page, " {} |", figure(times.scaling(0) / times.scaling(1)))?;
    }
    Ok(page)
}
