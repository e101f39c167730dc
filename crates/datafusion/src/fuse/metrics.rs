//! What EXPLAIN ANALYZE shows of a program.

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, Time};

/// What a partition's program did.
#[derive(Debug)]
pub(super) struct ProgramMetrics {
    /// Rows that loops over several functions were given, and those of them that left.
    pub(super) loop_rows: Count,
    pub(super) loop_exits: Count,
    /// The time that compiling the loops took.
    pub(super) compiling_loops: Time,
    /// Rows dropped by what the operators above learnt.
    pub(super) pruned: Count,
}

impl ProgramMetrics {
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> ProgramMetrics {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        ProgramMetrics {
            loop_rows: count("loop_rows"),
            loop_exits: count("loop_exits"),
            compiling_loops: MetricBuilder::new(metrics).subset_time("loop_compile_time", partition),
            pruned: count("pruned_rows"),
        }
    }
}
