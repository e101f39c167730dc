//! The operator that runs a [`super::program::Program`] over each batch.

use super::Chain;
use super::gather::{Gather, LARGE, bytes};
use super::order::Ordered;
use super::partition::Partition;
use super::prune;
use crate::planning::barrier::ambiguous;
use crate::planning::explain::only_child;
use crate::statements::message::is_too_large;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
    PushedDown,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, EmptyRecordBatchStream, ExecutionPlan, PlanProperties, replace_children_if_necessary,
};
use futures::{Stream, StreamExt};
use std::collections::VecDeque;
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
    program: Arc<Ordered>,
    pruning: Option<Pruning>,
    fetch: Option<usize>,
    /// Whether it is no better than the chain as long as it is given no filters.
    alone: bool,
    metrics: ExecutionPlanMetricsSet,
}

/// What else it does while filters that the operators above learn drop rows.
#[derive(Clone, Debug)]
struct Pruning {
    /// The filters, about the columns of the result.
    filters: Vec<Arc<dyn PhysicalExpr>>,
    /// What it computes, with the filters in it.
    program: Arc<Ordered>,
}

impl PythonExec {
    /// The operator of a chain; `alone` says that it is no better than the chain as long as
    /// it is given no filters.
    ///
    /// # Errors
    /// If the types of the chain's expressions are unknown.
    pub(super) fn new(chain: Chain, alone: bool, options: &ExuviaOptions) -> Result<PythonExec> {
        let Chain { plan, input, work, fetch } = chain;
        Ok(PythonExec {
            program: Arc::new(Ordered::new(input.schema(), work, options)?),
            shadow: plan,
            input,
            pruning: None,
            fetch,
            alone,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The chain, if that does the same.
    pub(super) fn unneeded(&self) -> Option<&Arc<dyn ExecutionPlan>> {
        (self.alone && self.pruning.is_none()).then_some(&self.shadow)
    }

    fn with(
        &self,
        shadow: Arc<dyn ExecutionPlan>,
        input: Arc<dyn ExecutionPlan>,
        pruning: Option<Pruning>,
    ) -> Arc<dyn ExecutionPlan> {
        Arc::new(PythonExec {
            shadow,
            input,
            program: Arc::clone(&self.program),
            pruning,
            fetch: self.fetch,
            alone: self.alone,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The same over another input: the chain is built anew, so that its properties are
    /// those of that input.
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let shadow = replace_bottom(&self.shadow, &self.input, &input)?;
        Ok(self.with(shadow, input, self.pruning.clone()))
    }

    /// Whether it may drop rows for a filter about its result. After a limit other rows
    /// would take their places, and DataFusion knows columns by their names.
    fn takes_filters(&self) -> bool {
        self.fetch.is_none() && !ambiguous(&self.schema()) && !ambiguous(&self.input.schema())
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
        let program = self.pruning.as_ref().map_or(&self.program, |pruning| &pruning.program);
        let shown = program.program().show(&names);
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
        // Who learns a filter looks for those who use it.
        for filter in self.pruning.iter().flat_map(|pruning| &pruning.filters) {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
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

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        // Whoever learnt the filters learns others.
        Ok(self.with(Arc::clone(&self.shadow), Arc::clone(&self.input), None))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        if !self.takes_filters() {
            return Ok(FilterDescription::all_unsupported(&filters, &self.children()));
        }
        // There is no other way to say of one of several filters that it stays.
        let stays = || Arc::new(Column::new("", usize::MAX)) as Arc<dyn PhysicalExpr>;
        let below = filters.iter().map(|filter| Ok(prune::below(filter, self.program.work())?.unwrap_or_else(stays)));
        let below = below.collect::<Result<Vec<_>>>()?;
        Ok(FilterDescription::new().with_child(ChildFilterDescription::from_child(&below, &self.input)?))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        below: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let mut filters = vec![];
        if self.takes_filters() {
            let left = below.parent_filters.iter().filter(|result| matches!(result.all(), PushedDown::No));
            filters.extend(left.map(|result| Arc::clone(&result.filter)).filter(prune::is_optional));
        }
        let handled = FilterPushdownPropagation::if_all(below);
        let Some(work) = prune::with_filters(self.program.work(), &filters, &self.input.schema())? else {
            return Ok(handled);
        };
        let program = Arc::new(self.program.for_work(work)?);
        let pruning = Some(Pruning { filters, program });
        Ok(handled.with_updated_node(self.with(Arc::clone(&self.shadow), Arc::clone(&self.input), pruning)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch_size = context.session_config().batch_size();
        let drops = self.program.program().filters() || self.pruning.is_some() || self.fetch.is_some();
        let gather = drops.then(|| Gather::new(self.schema(), batch_size, self.fetch));
        let own = Partition::new(&self.metrics, partition, &context);
        let stream = PythonStream {
            schema: self.schema(),
            program: Arc::clone(&self.program),
            pruning: self.pruning.as_ref().map(|pruning| Arc::clone(&pruning.program)),
            input: self.input.execute(partition, context)?,
            ended: false,
            parts: VecDeque::new(),
            most_rows: usize::MAX,
            gather,
            metrics: BaselineMetrics::new(&self.metrics, partition),
            partition: own,
        };
        Ok(make_cooperative(Box::pin(stream)))
    }
}

struct PythonStream {
    schema: SchemaRef,
    program: Arc<Ordered>,
    /// The program with the filters that may be left out.
    pruning: Option<Arc<Ordered>>,
    input: SendableRecordBatchStream,
    ended: bool,
    /// Parts of a batch that are still to be done.
    parts: VecDeque<RecordBatch>,
    /// The rows that a batch may have so that its results do not become too large.
    most_rows: usize,
    /// Joins the rows that filters leave to batches of the usual size.
    gather: Option<Gather>,
    metrics: BaselineMetrics,
    partition: Partition,
}

impl PythonStream {
    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        loop {
            if let Some(batch) = self.gather.as_mut().and_then(Gather::next) {
                return Poll::Ready(Some(Ok(batch)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let next = match self.parts.pop_front() {
                Some(part) => Some(Ok(part)),
                None => ready!(self.input.poll_next_unpin(cx)),
            };
            match next {
                None => self.end()?,
                Some(batch) => {
                    let batch = self.first_part(batch?);
                    let timer = self.metrics.elapsed_compute().timer();
                    let pruning = self.pruning.as_ref().filter(|pruning| pruning.program().prunes());
                    let ordered = pruning.unwrap_or(&self.program);
                    let result = ordered.program().run(&batch, &self.schema, &self.partition);
                    let computed = self.partition.free();
                    let result = match result {
                        Err(error) if batch.num_rows() > 1 && is_too_large(&error) => {
                            // Nothing of it was published: it is done again, in parts, of which each may
                            // prove too large as well.
                            self.most_rows = batch.num_rows().div_ceil(4);
                            self.parts.push_front(batch);
                            continue;
                        }
                        result => result?,
                    };
                    ordered.learn()?;
                    let Some(result) = result else { continue };
                    // Exactly where it is to be joined with others, or may be large.
                    let counts = self.gather.is_some() || result.get_array_memory_size() > LARGE;
                    let bytes = if counts { bytes(&result) } else { 0 };
                    let most = bytes.max(computed);
                    if most > LARGE {
                        self.most_rows = (batch.num_rows() * (LARGE / 1024) / (most / 1024)).max(1);
                    }
                    match &mut self.gather {
                        Some(gather) => {
                            let is_last = gather.push(result, bytes)?;
                            timer.done();
                            if is_last {
                                self.end()?;
                            }
                        }
                        None => {
                            timer.done();
                            return Poll::Ready(Some(Ok(result)));
                        }
                    }
                }
            }
        }
    }

    /// The first rows of a batch, which may be all; the others are kept.
    fn first_part(&mut self, batch: RecordBatch) -> RecordBatch {
        let rows = batch.num_rows();
        if rows <= self.most_rows {
            return batch;
        }
        self.parts.push_front(batch.slice(self.most_rows, rows - self.most_rows));
        batch.slice(0, self.most_rows)
    }

    /// Takes no more input.
    fn end(&mut self) -> Result<()> {
        self.ended = true;
        self.parts.clear();
        let schema = self.input.schema();
        // Drops what the input holds.
        self.input = Box::pin(EmptyRecordBatchStream::new(schema));
        match &mut self.gather {
            Some(gather) => gather.finish(),
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
