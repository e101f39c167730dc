//! A query under a progress bar.
//!
//! DataFusion has no progress of its own: the rows that the scans have read, by their
//! metrics, stand for it.

use anyhow::Context;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a bar looks.
pub(super) fn style() -> anyhow::Result<ProgressStyle> {
    ProgressStyle::with_template("{msg:18} [{bar:40}] {human_pos}/{human_len} rows, {elapsed}")
        .context("the bar's template")
}

/// Runs a query over a table of `rows` rows and shows how far it is.
pub(super) async fn collect(frame: DataFrame, title: &str, rows: u64) -> Result<Vec<RecordBatch>> {
    let context = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await?;
    let bar = ProgressBar::new(rows).with_message(title.to_string());
    if let Ok(style) = style() {
        bar.set_style(style);
    }
    let ended = Arc::new(AtomicBool::new(false));
    // A thread of its own: the query may hold every worker of the runtime.
    let watcher = {
        let (plan, bar, ended) = (Arc::clone(&plan), bar.clone(), Arc::clone(&ended));
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                bar.set_position(scanned(plan.as_ref()).min(rows));
                std::thread::park_timeout(Duration::from_millis(60));
            }
        })
    };
    let mut batches = vec![];
    let result = async {
        let mut stream = execute_stream(Arc::clone(&plan), context)?;
        while let Some(batch) = stream.next().await {
            batches.push(batch?);
        }
        Ok(())
    };
    let result = result.await;
    ended.store(true, Ordering::Relaxed);
    watcher.thread().unpark();
    // It only draws: a failure of it is no failure of the query.
    let _ = watcher.join();
    bar.finish_and_clear();
    result.map(|()| batches)
}

/// The rows that the plan's leaves have given so far.
fn scanned(plan: &dyn ExecutionPlan) -> u64 {
    let children = plan.children();
    if children.is_empty() {
        return plan.metrics().and_then(|metrics| metrics.output_rows()).unwrap_or(0) as u64;
    }
    children.into_iter().map(|child| scanned(child.as_ref())).sum()
}
