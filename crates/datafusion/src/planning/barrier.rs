//! A node that keeps predicates with Python calls where the query put them.
//!
//! DataFusion pushes a predicate below joins and into scans, where it sees rows that the
//! query would not have shown it. For a comparison that is only early; a Python call may
//! raise for such a row, and the query would fail where, as it is written, it succeeds. The
//! rule of [`crate::planning::outline`] puts this node below such predicates. It does nothing, and
//! the last of the physical rules removes it.

use crate::planning::explain::only_child;
use crate::running::function::PythonFunction;
use async_trait::async_trait;
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result, Statistics, internal_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The node in logical plans.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub(crate) struct Barrier {
    input: LogicalPlan,
    /// The predicates above whose prefilters are below.
    prefiltered: Vec<Expr>,
}

impl Barrier {
    pub(crate) fn over(input: LogicalPlan, prefiltered: Vec<Expr>) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(Barrier { input, prefiltered }) })
    }

    /// The node that a plan is, if it is one.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<&Barrier> {
        node_of(plan)
    }

    pub(crate) fn input(&self) -> &LogicalPlan {
        &self.input
    }

    pub(crate) fn prefiltered(&self) -> &[Expr] {
        &self.prefiltered
    }

    /// A plan with such nodes below projections with calls of any kind on a scan or a filter,
    /// and below filters with them elsewhere.
    ///
    /// DataFusion moves such a projection below the filter, for more rows, and into the scan,
    /// which takes its expressions one by one and makes a call as often as it occurs in them;
    /// above, [`crate::running::fuse`] makes it once. And its physical pushdown of filters looks for
    /// columns by their names, and where two of a join have one name it may give a call the
    /// other.
    pub(crate) fn below_calls(plan: LogicalPlan) -> Result<LogicalPlan> {
        let fenced = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Filter(mut filter)
                if calls_function(&filter.predicate)
                    && !matches!(below_columns(&filter.input), LogicalPlan::TableScan(_))
                    && Barrier::of(below_columns(&filter.input)).is_none() =>
            {
                filter.input = Arc::new(Barrier::over(Arc::unwrap_or_clone(filter.input), vec![]));
                Ok(Transformed::yes(LogicalPlan::Filter(filter)))
            }
            LogicalPlan::Projection(mut projection)
                if projection.expr.iter().any(calls_function)
                    && matches!(
                        below_projections(&projection.input),
                        LogicalPlan::TableScan(_) | LogicalPlan::Filter(_)
                    ) =>
            {
                projection.input = Arc::new(Barrier::over(Arc::unwrap_or_clone(projection.input), vec![]));
                Ok(Transformed::yes(LogicalPlan::Projection(projection)))
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(fenced.data)
    }

    /// A plan without such nodes, for planners that do not know them.
    pub(crate) fn remove_from(plan: LogicalPlan) -> Result<LogicalPlan> {
        let removed = plan.transform_up_with_subqueries(|plan| {
            Ok(match Barrier::of(&plan) {
                Some(barrier) => Transformed::yes(barrier.input.clone()),
                None => Transformed::no(plan),
            })
        })?;
        Ok(removed.data)
    }
}

/// The node of our own that a plan is, if it is one of this kind.
pub(crate) fn node_of<T: 'static>(plan: &LogicalPlan) -> Option<&T> {
    match plan {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

/// Whether there is a call of a Python function in an expression.
pub(crate) fn calls_function(expr: &Expr) -> bool {
    let call = |expr: &Expr| Ok(matches!(expr, Expr::ScalarFunction(call) if PythonFunction::of(&call.func).is_some()));
    // The walk never fails.
    expr.exists(call).unwrap_or(true)
}

/// What a plan takes columns of.
fn below_columns(plan: &LogicalPlan) -> &LogicalPlan {
    match plan {
        LogicalPlan::Projection(projection) if projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_))) => {
            below_columns(&projection.input)
        }
        plan => plan,
    }
}

/// What a plan computes columns of.
fn below_projections(plan: &LogicalPlan) -> &LogicalPlan {
    match plan {
        LogicalPlan::Projection(projection) => below_projections(&projection.input),
        plan => plan,
    }
}

impl UserDefinedLogicalNodeCore for Barrier {
    fn name(&self) -> &'static str {
        "PythonBarrier"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PythonBarrier")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Barrier> {
        match (inputs.pop(), inputs.is_empty()) {
            (Some(input), true) => Ok(Barrier { input, prefiltered: self.prefiltered.clone() }),
            _ => internal_err!("a barrier has one input"),
        }
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![output_columns.to_vec()])
    }
}

/// Plans [`Barrier`] as [`BarrierExec`].
#[derive(Debug)]
pub(crate) struct BarrierPlanner;

#[async_trait]
impl ExtensionPlanner for BarrierPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        Ok(match inputs {
            [input] if node.as_any().is::<Barrier>() => Some(BarrierExec::over(Arc::clone(input))),
            _ => None,
        })
    }
}

/// The node in physical plans, until they are optimised.
#[derive(Debug)]
pub(crate) struct BarrierExec {
    input: Arc<dyn ExecutionPlan>,
}

impl BarrierExec {
    pub(crate) fn over(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(BarrierExec { input })
    }

    /// A plan without such nodes.
    pub(crate) fn remove_from(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let removed = plan.transform_up(|plan| {
            Ok(match plan.downcast_ref::<BarrierExec>() {
                Some(barrier) => Transformed::yes(Arc::clone(&barrier.input)),
                None => Transformed::no(plan),
            })
        })?;
        Ok(removed.data)
    }
}

impl DisplayAs for BarrierExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BarrierExec")
    }
}

impl ExecutionPlan for BarrierExec {
    fn name(&self) -> &'static str {
        "BarrierExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
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
        Ok(BarrierExec::over(only_child(children)?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => internal_err!("a barrier has one input"),
        }
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        let pushed = self.input.try_pushdown_sort(order)?;
        Ok(pushed.map(BarrierExec::over))
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        // What has no calls may pass, such as what joins and TOP-K learn while they run. But
        // DataFusion looks for a child's columns by their names.
        if filters.iter().any(calls_python) || ambiguous(&self.input.schema()) {
            return Ok(FilterDescription::all_unsupported(&filters, &self.children()));
        }
        FilterDescription::from_children(filters, &self.children())
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        below: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(below))
    }
}

/// Whether columns have the same name.
pub(crate) fn ambiguous(schema: &Schema) -> bool {
    let names: BTreeSet<&String> = schema.fields().iter().map(|field| field.name()).collect();
    names.len() < schema.fields().len()
}

/// Whether there is a call of a Python function in a physical expression.
pub(crate) fn calls_python(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let call = |expr: &Arc<dyn PhysicalExpr>| {
        Ok(ScalarFunctionExpr::try_downcast_func::<PythonFunction>(expr.as_ref()).is_some())
    };
    // The walk never fails.
    expr.exists(call).unwrap_or(true)
}
