//! A running query: what its calls share, and how it is cancelled.
//!
//! DataFusion hands a scalar function the session's configuration and nothing else of the
//! query. So the planner that stands here gives each physical plan a configuration of its
//! own that holds a [`Query`]: a flag that cancels it and the time at which its first call
//! began. A configuration without a query tells a call that DataFusion is still planning,
//! where only native code may run, and briefly.

use crate::planning::barrier::Barrier;
use crate::planning::explain;
use crate::running::routines::aggregate;
use crate::statements::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::Stream;
use parking_lot::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A query from its physical plan on.
#[derive(Debug, Default)]
pub(crate) struct Query {
    /// Set when the query is cancelled; running calls poll it.
    pub(crate) cancelled: Arc<AtomicBool>,
    /// When its first call began.
    started: OnceLock<Instant>,
    /// The streams of its result that somebody holds.
    streams: AtomicUsize,
    /// The streams that were begun.
    begun: AtomicUsize,
    /// Whether nobody can begin one any more.
    closed: AtomicBool,
}

impl Query {
    /// When the query's calls must have ended, if `timeout` limits them.
    pub(crate) fn deadline(&self, timeout: Option<Duration>) -> Option<Instant> {
        let started = *self.started.get_or_init(Instant::now);
        started.checked_add(timeout?)
    }
}

/// The queries of a session that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Queries(Mutex<Vec<Weak<Query>>>);

impl Queries {
    pub(crate) fn begin(&self) -> Arc<Query> {
        let query = Arc::new(Query::default());
        let mut queries = self.0.lock();
        queries.retain(|query| query.strong_count() > 0);
        queries.push(Arc::downgrade(&query));
        query
    }

    /// Cancels every query that was planned and still exists.
    pub(crate) fn cancel(&self) {
        for query in self.0.lock().iter().filter_map(Weak::upgrade) {
            query.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// Plans as `inner` does, for a configuration that knows its query.
#[derive(Debug)]
pub(crate) struct Planner {
    pub(crate) inner: Arc<dyn QueryPlanner + Send + Sync>,
    /// Whether `inner` can plan a [`Barrier`].
    pub(crate) knows_barriers: bool,
}

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        logical_plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(state) = session.as_any().downcast_ref::<SessionState>() else {
            return self.inner.create_physical_plan(logical_plan, session).await;
        };
        let mut state = state.clone();
        let extensions = &mut state.config_mut().options_mut().extensions;
        let Some(options) = extensions.get_mut::<ExuviaOptions>() else {
            return self.inner.create_physical_plan(logical_plan, session).await;
        };
        let query = options.queries.begin();
        options.query = Some(Arc::clone(&query));
        let config = Arc::clone(state.config_options());
        // Set directly: `mark_start_execution` would also move the time that now() shows.
        state.execution_props_mut().config_options = Some(Arc::clone(&config));
        let logical = aggregate::bound(logical_plan.clone(), &ExuviaOptions::of(&config))?;
        let plan = if self.knows_barriers {
            self.inner.create_physical_plan(&Barrier::below_calls(logical)?, &state).await?
        } else {
            self.inner.create_physical_plan(&Barrier::remove_from(logical)?, &state).await?
        };
        let plan = explain::with_calls(logical_plan, plan, &config, state.scalar_functions());
        Ok(Arc::new(QueryExec { input: plan, open: Arc::new(Open(query)) }))
    }
}

/// The root of a query's plan: it cancels the query's calls when the last stream of its
/// result is dropped, since a call that runs in another task is not interrupted by that.
#[derive(Debug)]
struct QueryExec {
    input: Arc<dyn ExecutionPlan>,
    open: Arc<Open>,
}

/// What the copies of a query's plan share.
#[derive(Debug)]
struct Open(Arc<Query>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::SeqCst);
        if self.0.streams.load(Ordering::SeqCst) == 0 {
            self.0.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

impl DisplayAs for QueryExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueryExec")
    }
}

impl ExecutionPlan for QueryExec {
    fn name(&self) -> &'static str {
        "QueryExec"
    }

    /// Who asks for the root's kind means the plan below.
    fn downcast_delegate(&self) -> Option<&dyn ExecutionPlan> {
        Some(self.input.as_ref())
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = explain::only_child(children)?;
        Ok(Arc::new(QueryExec { input, open: Arc::clone(&self.open) }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let query = &self.open.0;
        let partitions = self.properties().partitioning.partition_count();
        if query.streams.fetch_add(1, Ordering::SeqCst) == 0
            && query.begun.load(Ordering::SeqCst).is_multiple_of(partitions)
        {
            // The plan may be run again after a run that was dropped.
            query.cancelled.store(false, Ordering::Relaxed);
        }
        query.begun.fetch_add(1, Ordering::SeqCst);
        let held = Held { query: Arc::clone(query), partitions };
        Ok(Box::pin(QueryStream { input: self.input.execute(partition, context)?, _held: held }))
    }
}

/// One stream's share in its query.
struct Held {
    query: Arc<Query>,
    /// How many streams a run of the query has.
    partitions: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        let last = self.query.streams.fetch_sub(1, Ordering::SeqCst) == 1;
        // Tasks that feed several streams work for one that is yet to begin, too.
        let all = || self.query.begun.load(Ordering::SeqCst).is_multiple_of(self.partitions);
        if last && (self.query.closed.load(Ordering::SeqCst) || all()) {
            self.query.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

struct QueryStream {
    input: SendableRecordBatchStream,
    _held: Held,
}

impl Stream for QueryStream {
    type Item = Result<datafusion::arrow::array::RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.input.as_mut().poll_next(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.input.size_hint()
    }
}

impl RecordBatchStream for QueryStream {
    fn schema(&self) -> datafusion::arrow::datatypes::SchemaRef {
        self.input.schema()
    }
}
