//! What a partition's run of a program uses and shows.

use super::gather::LARGE;
use super::program::Rows;
use crate::column_bytes;
use datafusion::arrow::array::Array;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, Time};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory of the pool, and what EXPLAIN ANALYZE shows.
#[derive(Debug)]
pub(super) struct Partition {
    memory: MemoryReservation,
    /// The most bytes that were computed for the rows at hand at any time.
    most: AtomicUsize,
    /// Rows that loops over several functions were given, and those of them that left.
    pub(super) loop_rows: Count,
    pub(super) loop_exits: Count,
    /// The time that compiling the loops took.
    pub(super) compiling_loops: Time,
    /// Rows dropped by what the operators above learnt.
    pub(super) pruned: Count,
}

impl Partition {
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize, context: &TaskContext) -> Partition {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        Partition {
            memory: MemoryConsumer::new(format!("PythonExec[{partition}]")).register(context.memory_pool()),
            most: AtomicUsize::new(0),
            loop_rows: count("loop_rows"),
            loop_exits: count("loop_exits"),
            compiling_loops: MetricBuilder::new(metrics).subset_time("loop_compile_time", partition),
            pruned: count("pruned_rows"),
        }
    }

    /// Takes from the pool what was computed for some rows.
    ///
    /// # Errors
    /// If there is not as much.
    pub(super) fn reserve(&self, rows: &Rows) -> Result<()> {
        let held: usize = rows.computed().map(|column| column.get_array_memory_size()).sum();
        // Results share texts with the input, which Arrow counts for each.
        let own = if held > LARGE { rows.computed().map(column_bytes).sum() } else { held };
        self.most.fetch_max(own, Ordering::Relaxed);
        self.memory.try_resize(held)
    }

    /// Gives back what was taken; gives the bytes that were computed at most.
    pub(super) fn free(&self) -> usize {
        self.memory.free();
        self.most.swap(0, Ordering::Relaxed)
    }
}
