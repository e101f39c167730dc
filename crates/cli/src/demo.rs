//! `exuvia demo`: a million listings, a dozen Python functions, one query.
//!
//! It shows on the user's own machine what the project is for: the query's result, where
//! each function ran, and the time beside that of the same query with the same functions
//! run by CPython.

mod listings;
mod progress;

use crate::run::say;
use anyhow::{Context, Result, anyhow};
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{ParquetReadOptions, SessionConfig};
use exuvia::{ExuviaSession, message};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What `exuvia demo` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Listings to generate.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Threads that run the query.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Where listings and functions are written; what is there is used again.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Only the native run.
    #[arg(long)]
    no_python: bool,
}

const FUNCTIONS: &str = include_str!("../../../udfs/zillow.py");
const QUERY: &str = include_str!("../../../sql/zillow_z1.sql");
/// Rows of the result that are shown.
const HEAD: usize = 8;
/// Runs of which the native time is the median; CPython's run is one.
const RUNS: usize = 3;

/// Runs the demonstration.
///
/// # Errors
/// What went wrong.
pub(crate) fn run(args: Args) -> Result<()> {
    let folder = args.folder.clone().unwrap_or_else(|| std::env::temp_dir().join("exuvia-demo"));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let functions = folder.join("zillow.py");
    std::fs::write(&functions, FUNCTIONS).with_context(|| format!("cannot write {}", functions.display()))?;
    std::fs::write(folder.join("zillow_z1.sql"), QUERY)?;
    let rows = args.rows as usize;
    let table = listings::parquet(&folder, rows)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(demonstrate(&args, &folder, &functions, &table))
}

async fn demonstrate(args: &Args, folder: &Path, functions: &Path, table: &Path) -> Result<()> {
    say(&format!("Query Z1 over {}:\n\n{}", table.display(), QUERY.trim()))?;

    let native = session(args, functions, table, true).await?;
    let mut times = vec![];
    let mut result = vec![];
    for run in 0..RUNS {
        let title = format!("native {}/{RUNS}", run + 1);
        let (batches, time) = timed(&native, &title, args.rows).await?;
        times.push(time);
        result = batches;
    }
    times.sort();
    let native_time = times[RUNS / 2];

    let found: usize = result.iter().map(RecordBatch::num_rows).sum();
    say(&format!("\n{}", pretty_format_batches(&head(&result))?))?;
    say(&format!("{found} of {} listings; the first {} are shown\n", args.rows, HEAD.min(found)))?;
    let placement = "SELECT name, signature, placement, fallbacks, reason FROM exuvia.functions ORDER BY name";
    let placement = collect(&native, placement).await?;
    say(&format!("{}", pretty_format_batches(&placement)?))?;
    say(&format!("fallbacks: rows that left native code, over {RUNS} runs\n"))?;

    let threads = if args.threads == 1 { "one thread".to_string() } else { format!("{} threads", args.threads) };
    say(&format!("native:  {:>8.3} s, median of {RUNS}, from Parquet, {threads}", native_time.as_secs_f64()))?;
    if !args.no_python {
        let python = session(args, functions, table, false).await?;
        match timed(&python, "CPython", args.rows).await {
            Ok((batches, time)) => {
                say(&format!("CPython: {:>8.3} s, the same query with the same functions", time.as_secs_f64()))?;
                say(&format!("speed-up:{:>8.1} times", time.as_secs_f64() / native_time.as_secs_f64()))?;
                let same = sorted(&batches)? == sorted(&result)?;
                say(&format!("results: {}", if same { "equal" } else { "DIFFERENT, which is a bug" }))?;
            }
            // Without CPython on the machine the functions run all the same.
            Err(error) => say(&format!("CPython: {error:#}"))?,
        }
    }
    say(&format!(
        "\nTry your own: exuvia --udfs {} -c \"SELECT city_name(city), count(*) FROM '{}' GROUP BY 1\"",
        functions.display(),
        table.display()
    ))?;
    say(&format!("Everything is in {}", folder.display()))?;
    Ok(())
}

/// A session with the table and the functions: native where they lift, or all in CPython.
async fn session(args: &Args, functions: &Path, table: &Path, lift: bool) -> Result<ExuviaSession> {
    let config = SessionConfig::new().with_target_partitions(usize::from(args.threads));
    let session = ExuviaSession::new_with_config(config);
    if !lift {
        collect(&session, "SET exuvia.lift = 'off'").await?;
    }
    session.load_functions(functions).map_err(|error| anyhow!("{}", message(&error)))?;
    let path = table.to_str().context("the folder's name is not UTF-8")?;
    session.context().register_parquet("listings", path, ParquetReadOptions::default()).await?;
    Ok(session)
}

async fn collect(session: &ExuviaSession, sql: &str) -> Result<Vec<RecordBatch>> {
    let run = async { session.sql(sql).await?.collect().await };
    run.await.map_err(|error| anyhow!("{}", message(&error)))
}

/// Runs the query under a progress bar: its result and the time from text to last row.
async fn timed(session: &ExuviaSession, title: &str, rows: u32) -> Result<(Vec<RecordBatch>, Duration)> {
    let start = Instant::now();
    let frame = session.sql(QUERY).await.map_err(|error| anyhow!("{}", message(&error)))?;
    let batches =
        progress::collect(frame, title, u64::from(rows)).await.map_err(|error| anyhow!("{}", message(&error)))?;
    Ok((batches, start.elapsed()))
}

/// The first rows of a result.
fn head(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let mut room = HEAD;
    let mut shown = vec![];
    for batch in batches {
        let rows = batch.num_rows().min(room);
        shown.push(batch.slice(0, rows));
        room -= rows;
    }
    shown
}

/// The rows as texts in order, since two threads may give them in another one.
fn sorted(batches: &[RecordBatch]) -> Result<Vec<String>> {
    let mut rows = vec![];
    for batch in batches {
        let columns: Result<Vec<_>, _> = batch
            .columns()
            .iter()
            .map(|column| datafusion::arrow::compute::cast(column, &datafusion::arrow::datatypes::DataType::Utf8))
            .collect();
        let columns = columns?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| {
                let column = column.as_string::<i32>();
                datafusion::arrow::array::Array::is_valid(column, row).then(|| column.value(row))
            });
            rows.push(format!("{:?}", cells.collect::<Vec<_>>()));
        }
    }
    rows.sort();
    Ok(rows)
}
