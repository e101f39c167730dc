//! A process that runs what it is told to, one measurement a line.
//!
//! A benchmark holds one such process and one of Python and asks them in turn, so that
//! whatever slows the machine for a while slows every contender. A request and its answer
//! are one line of JSON each:
//!
//! `{"what": "bedrooms", "by": "rust", "save": "path"}` gives `{"seconds": 0.01, "rows": 1000000}`
//!
//! `what` is a function of the suite, or `z1`, `scan`, `copy`, `empty`. The time
//! is that of the work with its result in memory: a query is parsed, planned and run in it.

use crate::contenders::Contenders;
use crate::tables;
use crate::udfs::Suite;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::Path;

/// Answers requests until the input ends; queries have so many threads and partitions.
///
/// # Errors
/// If the table cannot be read; errors of a request are its answer.
pub fn serve(folder: &Path, suite: &Suite, threads: usize) -> Result<()> {
    let contenders = Contenders::new(folder, suite, threads)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"ready": true}))?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let answer = answer(&contenders, &line?).unwrap_or_else(|error| json!({"error": format!("{error:#}")}));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(contenders: &Contenders, line: &str) -> Result<Value> {
    let request: Value = serde_json::from_str(line)?;
    let text = |key: &str| request.get(key).and_then(Value::as_str);
    let what = text("what").context("a request says what")?;
    let by = text("by").context("a request says by whom")?;
    let (seconds, batches) = contenders.run(what, by)?;
    if let Some(path) = text("save") {
        tables::save(Path::new(path), &batches)?;
    }
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    Ok(json!({"seconds": seconds, "rows": rows}))
}
