//! A query of a file, timed: what `cargo xtask bench tables` and `tpcxai` compare with pandas.

use crate::{contenders, placement};
use anyhow::{Context, Result};
use exuvia::ExuviaSession;
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Runs a query as often as asked and tells the seconds of each run, the rows and the peak of the
/// process's resident memory. `spec` has `tables` (names and Parquet files), `models` (names and
/// files), `udfs` (Python files), `setup` (statements), `sql`, or `by_hand` for a query that this
/// program has without Python functions, and, to keep the result, `save`.
///
/// # Errors
/// If the query fails.
pub fn query(spec: &Path, rounds: usize, threads: usize) -> Result<Value> {
    let spec: Value = serde_json::from_slice(&std::fs::read(spec)?)?;
    let pairs = |key: &str| -> Vec<(String, String)> {
        let object = spec.get(key).and_then(Value::as_object);
        let pairs = object.into_iter().flatten();
        pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string()))).collect()
    };
    let texts = |key: &str| -> Vec<String> {
        let array = spec.get(key).and_then(Value::as_array);
        array.into_iter().flatten().filter_map(|value| Some(value.as_str()?.to_string())).collect()
    };
    let by_hand = spec.get("by_hand").and_then(Value::as_str).and_then(placement::by_hand);
    let sql = by_hand.or_else(|| Some(spec.get("sql")?.as_str()?.to_string())).context("the file has no sql")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let session = ExuviaSession::new_with_config(contenders::config(threads));
    runtime.block_on(async {
        for (name, path) in pairs("models") {
            session.register_model(&name, path);
        }
        for path in texts("udfs") {
            session.load_functions(path)?;
        }
        for statement in texts("setup") {
            session.sql(&statement).await?.collect().await?;
        }
        for (name, path) in pairs("tables") {
            session.context().register_parquet(name, path, Default::default()).await?;
        }
        let mut seconds = vec![];
        let mut rows = 0;
        for _ in 0..rounds {
            let start = Instant::now();
            rows = 0;
            let mut stream = session.sql(&sql).await?.execute_stream().await?;
            while let Some(batch) = stream.try_next().await? {
                rows += batch.num_rows();
            }
            seconds.push(start.elapsed().as_secs_f64());
        }
        let peak = peak_mib();
        if let Some(path) = spec.get("save").and_then(Value::as_str) {
            session.sql(&format!("COPY ({sql}) TO '{path}' STORED AS PARQUET")).await?.collect().await?;
        }
        Ok(json!({"seconds": seconds, "rows": rows, "peak_mib": peak}))
    })
}

/// The peak of the process's resident memory, where the system tells.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some((kib / 1024.0 * 10.0).round() / 10.0)
}
