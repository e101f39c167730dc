//! The operator that runs a [`Program`] over each batch.

use super::looped::LoopMetrics;
use super::program::Program;
use crate::explain::only_child;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coalesce::{LimitedBatchCoalescer, PushBatchStatus};
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, EmptyRecordBatchStream, ExecutionPlan, PlanProperties, replace_children_if_necessary,
};
use futures::{Stream, StreamExt};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Filters and projections with Python calls.
#[derive(Debug)]
pub(crate) struct PythonExec {
    /// The chain that it replaces: what is true of its result is true of this one's.
    shadow: Arc<dyn ExecutionPlan>,
    input: Arc<dyn ExecutionPlan>,
    program: Arc<Program>,
    fetch: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
}

impl PythonExec {
    pub(crate) fn new(
        shadow: Arc<dyn ExecutionPlan>,
        input: Arc<dyn ExecutionPlan>,
        program: Program,
        fetch: Option<usize>,
    ) -> PythonExec {
        PythonExec { shadow, input, program: Arc::new(program), fetch, metrics: ExecutionPlanMetricsSet::new() }
    }

    /// The same over another input: the chain is built anew, so that its properties are
    /// those of that input.
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let shadow = replace_bottom(&self.shadow, &self.input, &input)?;
        Ok(Arc::new(PythonExec {
            shadow,
            input,
            program: Arc::clone(&self.program),
            fetch: self.fetch,
            metrics: ExecutionPlanMetricsSet::new(),
        }))
    }
}

/// `plan` with the input of its chain replaced.
fn replace_bottom(
    plan: &Arc<dyn ExecutionPlan>,
    bottom: &Arc<dyn ExecutionPlan>,
    input: &Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    if Arc::ptr_eq(plan, bottom) {
        return Ok(Arc::clone(input));
    }
    let child = only_child(plan.children().into_iter().cloned().collect())?;
    let child = replace_bottom(&child, bottom, input)?;
    replace_children_if_necessary(Arc::clone(plan), vec![child])
}

impl DisplayAs for PythonExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.schema().fields().iter().map(|field| field.name().clone()).collect();
        let shown = self.program.show(&names);
        let fetch = self.fetch.map(|fetch| format!(", fetch={fetch}")).unwrap_or_default();
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => write!(f, "PythonExec: {shown}{fetch}"),
            DisplayFormatType::TreeRender => write!(f, "{shown}{fetch}"),
        }
    }
}

impl ExecutionPlan for PythonExec {
    fn name(&self) -> &'static str {
        "PythonExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.shadow.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        // Those of the chain, which say what is computed.
        let mut plan = &self.shadow;
        while !Arc::ptr_eq(plan, &self.input) {
            if plan.apply_expressions(f)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
            match plan.children()[..] {
                [child] => plan = child,
                _ => break,
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_input(only_child(children)?)
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch_size = context.session_config().batch_size();
        let coalescer = (self.program.filters() || self.fetch.is_some())
            .then(|| LimitedBatchCoalescer::new(self.schema(), batch_size, self.fetch));
        let stream = PythonStream {
            schema: self.schema(),
            program: Arc::clone(&self.program),
            input: self.input.execute(partition, context)?,
            ended: false,
            coalescer,
            metrics: BaselineMetrics::new(&self.metrics, partition),
            loops: LoopMetrics::new(&self.metrics, partition),
        };
        Ok(make_cooperative(Box::pin(stream)))
    }
}

struct PythonStream {
    schema: SchemaRef,
    program: Arc<Program>,
    input: SendableRecordBatchStream,
    ended: bool,
    /// Joins the rows that filters leave to batches of the usual size.
    coalescer: Option<LimitedBatchCoalescer>,
    metrics: BaselineMetrics,
    loops: LoopMetrics,
}

impl PythonStream {
    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        loop {
            if let Some(batch) = self.coalescer.as_mut().and_then(LimitedBatchCoalescer::next_completed_batch) {
                return Poll::Ready(Some(Ok(batch)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match ready!(self.input.poll_next_unpin(cx)) {
                None => self.end()?,
                Some(batch) => {
                    let batch = batch?;
                    let timer = self.metrics.elapsed_compute().timer();
                    let result = self.program.run(&batch, &self.schema, &self.loops)?;
                    let Some(result) = result else { continue };
                    match &mut self.coalescer {
                        None => {
                            timer.done();
                            return Poll::Ready(Some(Ok(result)));
                        }
                        Some(coalescer) => {
                            let status = coalescer.push_batch(result)?;
                            timer.done();
                            if status == PushBatchStatus::LimitReached {
                                self.end()?;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Takes no more input.
    fn end(&mut self) -> Result<()> {
        self.ended = true;
        let schema = self.input.schema();
        // Drops what the input holds.
        self.input = Box::pin(EmptyRecordBatchStream::new(schema));
        match &mut self.coalescer {
            Some(coalescer) => coalescer.finish(),
            None => Ok(()),
        }
    }
}

impl Stream for PythonStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let poll = self.poll_batch(cx);
        self.metrics.record_poll(poll)
    }
}

impl RecordBatchStream for PythonStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
