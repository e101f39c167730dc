//! Benchmarks: `cargo xtask bench NAME [--rows N] [--small]`.
//!
//! A benchmark drives two processes, one of Rust (`exuvia-bench`) and one of Python
//! (`benchmarks/peers`), each pinned to the same core, and asks their contenders in turn,
//! round by round: what slows the machine for a while slows all of them. What is reported
//! is the median. Results go to `benchmarks/results`.

mod calls;
mod chart;
mod columns;
mod compare;
mod compile;
mod engines;
mod frames;
mod machine;
mod markdown;
mod measure;
mod more;
mod opencl;
mod placement;
mod process;
mod scaling;
mod setup;
mod tpcxai;
mod worker;
mod zillow;

use anyhow::{Context, Result, bail};

/// What the command line says.
#[derive(Debug)]
struct Options {
    /// Rows of the table.
    rows: usize,
    /// Measured rounds of each contender.
    rounds: usize,
    /// The core that everything runs on.
    core: usize,
    /// The command as it was given, for the report.
    command: String,
    /// Whether the results replace the published ones.
    publish: bool,
}

const USAGE: &str =
    "usage: cargo xtask bench zillow|more|corners|objects|language|placement|scaling|compile|tables|columns|arrays|tpcxai|worker|opencl [--rows N] [--rounds N] [--core N] [--sf N] [--from FILE] [--small]

--small runs a few rows of everything once and compares the results only.";

/// Runs a benchmark.
///
/// # Errors
/// If a contender that must agree does not, or something cannot be built or started.
pub fn run(args: &[String]) -> Result<()> {
    let (name, rest) = args.split_first().context(USAGE)?;
    let mut options = Options {
        rows: 1_000_000,
        rounds: 7,
        core: 1,
        command: format!("cargo xtask bench {}", args.join(" ")),
        publish: true,
    };
    let mut scale = 1.0;
    let mut from = None;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<usize> {
            let word = words.next().context(USAGE)?;
            word.replace('_', "").parse().with_context(|| format!("{word} is no number"))
        };
        match word.as_str() {
            "--rows" => options.rows = number()?,
            "--rounds" => options.rounds = number()?.max(1),
            "--core" => options.core = number()?,
            "--from" => from = Some(std::path::PathBuf::from(words.next().context(USAGE)?)),
            "--sf" => {
                let word = words.next().context(USAGE)?;
                scale = word.parse().with_context(|| format!("{word} is no number"))?;
            }
            "--small" => {
                options.rows = 20_000;
                options.rounds = 1;
                scale = 0.01;
                options.publish = false;
            }
            _ => bail!("{USAGE}"),
        }
    }
    match name.as_str() {
        "zillow" => zillow::run(&options),
        "more" | "corners" | "objects" | "language" => more::run(name, &options),
        "placement" => placement::run(&options),
        "scaling" => scaling::run(&options),
        "compile" => compile::run(&options),
        "tables" => frames::tables(&options, scale),
        "columns" => columns::COLUMNS.run(&options),
        "arrays" => columns::ARRAYS.run(&options),
        "tpcxai" => tpcxai::run(&options, scale),
        "worker" => worker::run(&options),
        "opencl" => opencl::run(&options, from.as_deref()),
        _ => bail!("{USAGE}"),
    }
}
