//! The Rust side of the benchmarks; `cargo xtask bench` runs it.

mod contenders;
mod device;
mod inspect;
mod peak;
mod placement;
mod programs;
mod query;
mod rust_peers;
mod serve;
mod tables;
mod udfs;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use udfs::Suite;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: exuvia-bench COMMAND

  prepare FOLDER ROWS [SEED]     write the tables
  columns SUITE                  print which columns each function takes
  serve FOLDER SUITE [THREADS]   answer measurements
  inspect FOLDER SUITE           print rungs, helper calls and times of compiling
  peak FOLDER exuvia|builtin     print the peak memory of Z1
  query FILE ROUNDS [THREADS]    time a query that a JSON file describes
  device ROWS ROUNDS             time row functions on an OpenCL device and in native code

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
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            runtime.block_on(placement::prepare(&folder()?, rows))?;
        }
        Some("columns") => println!("{}", inspect::columns(&suite(1)?)?),
        Some("serve") => {
            let threads = args.get(3).map_or(Ok(1), |threads| threads.parse()).context("THREADS is a number")?;
            serve::serve(&folder()?, &suite(2)?, threads)?;
        }
        Some("inspect") => println!("{}", inspect::inspect(&folder()?, &suite(2)?)?),
        Some("peak") => println!("{}", peak::peak(&folder()?, args.get(2).context(USAGE)?)?),
        Some("query") => {
            let number = |index: usize| args.get(index).and_then(|text| text.parse().ok());
            println!("{}", query::query(&folder()?, number(2).unwrap_or(1), number(3).unwrap_or(1))?);
        }
        Some("device") => {
            let number = |index: usize| args.get(index).and_then(|text| text.parse().ok()).context(USAGE);
            println!("{}", device::device(number(1)?, number(2)?)?);
        }
        _ => bail!(USAGE),
    }
    Ok(())
}
