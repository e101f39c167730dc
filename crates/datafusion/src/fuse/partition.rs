//! What a partition's run of a program uses and shows.

use super::program::Rows;
use datafusion::arrow::array::Array;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, Time};

/// Memory of the pool, and what EXPLAIN ANALYZE shows.
#[derive(Debug)]
pub(super) struct Partition {
    memory: MemoryReservation,
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
        self.memory.try_resize(rows.computed().map(|column| column.get_array_memory_size()).sum())
    }

    /// Gives back what was taken.
    pub(super) fn free(&self) {
        self.memory.free();
    }
}
