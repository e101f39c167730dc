//! The Rust side of the benchmarks; `cargo xtask bench` runs it.

mod contenders;
mod inspect;
mod peak;
mod placement;
mod programs;
mod rust_peers;
mod serve;
mod tables;
mod udfs;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use udfs::Suite;

const USAGE: &str = "usage: exuvia-bench COMMAND

  prepare FOLDER ROWS [SEED]     write the tables
  columns SUITE                  print which columns each function takes
  serve FOLDER SUITE [THREADS]   answer measurements
  inspect FOLDER SUITE           print rungs, helper calls and times of compiling
  peak FOLDER exuvia|builtin     print the peak memory of Z1

A SUITE is zillow or more.";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = || args.get(1).map(PathBuf::from).context(USAGE);
    let suite = |index: usize| Suite::named(args.get(index).context(USAGE)?);
    match args.first().map(String::as_str) {
        Some("prepare") => {
            let rows = args.get(2).context(USAGE)?.parse().context("ROWS is a number")?;
            let seed = args.get(3).map_or(Ok(1), |seed| seed.parse()).context("SEED is a number")?;
            tables::prepare(&folder()?, seed, rows)?;
        }
        Some("columns") => println!("{}", inspect::columns(&suite(1)?)?),
        Some("serve") => {
            let threads = args.get(3).map_or(Ok(1), |threads| threads.parse()).context("THREADS is a number")?;
            serve::serve(&folder()?, &suite(2)?, threads)?;
        }
        Some("inspect") => println!("{}", inspect::inspect(&folder()?, &suite(2)?)?),
        Some("peak") => println!("{}", peak::peak(&folder()?, args.get(2).context(USAGE)?)?),
        _ => bail!(USAGE),
    }
    Ok(())
}
