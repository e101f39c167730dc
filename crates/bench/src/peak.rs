//! The peak memory of a query: it is the process's, so each query has one of its own.

use crate::contenders;
use crate::programs;
use crate::udfs::Suite;
use anyhow::{Context, Result, bail};
use exuvia::ExuviaSession;
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::path::Path;

/// Runs Z1 from Parquet, drops its rows as they come, and gives the peak of the resident
/// memory in KiB: `exuvia` with the Python functions, `builtin` with built-in ones.
///
/// # Errors
/// If the query fails, or the system does not tell (Linux does).
pub fn peak(folder: &Path, by: &str) -> Result<Value> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let session = ExuviaSession::new_with_config(contenders::config(1));
    let rows = runtime.block_on(async {
        contenders::register_listings(session.context(), folder).await?;
        let sql = match by {
            "exuvia" => {
                session.load_functions(Suite::named("zillow")?.path)?;
                programs::Z1.to_string()
            }
            "builtin" => programs::z1_by_hand(),
            other => bail!("no contender {other}"),
        };
        let mut stream = session.sql(&sql).await?.execute_stream().await?;
        let mut rows = 0;
        while let Some(batch) = stream.try_next().await? {
            rows += batch.num_rows();
        }
        Ok(rows)
    })?;
    let status = std::fs::read_to_string("/proc/self/status").context("the system does not tell the peak")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(json!({"kib": kib, "rows": rows}))
}
