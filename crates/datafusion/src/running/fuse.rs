//! Filters and projections around Python calls, as one operator.
//!
//! DataFusion pushes a filter through the projection that computes its columns, and so
//! evaluates one call twice, in the filter and in the projection; and it evaluates all
//! conjuncts of a filter on all rows, so that `WHERE is_number(s) AND to_int(s) > 3` fails
//! on rows that its first half excludes. The rule [`Fuse`] turns a chain of filters and
//! projections with Python calls into a [`operator::PythonExec`], which computes each call
//! once, and for no row that an earlier conjunct excluded. It stands before the rule with
//! which DataFusion hands down what joins and sorts will learn, so that the operator gets
//! it ([`prune`]). [`Settle`], the last of the physical rules, removes what was needed
//! until then only.
//!
//! DataFusion also deals out rows to more partitions as soon as it can, which may be between
//! two nodes of a chain. That is moved below the chain, where more of the work is divided.
//!
//! A chain ends at a volatile expression, which may be neither merged nor moved.

mod gather;
mod looped;
mod operator;
mod order;
mod partition;
mod program;
mod prune;
mod short_circuit;
mod wide;

use crate::planning::barrier::{BarrierExec, ambiguous, calls_python};
use crate::planning::explain::only_child;
use crate::running::function::PythonFunction;
use crate::running::routines::RoutineExec;
use crate::statements::settings::ExuviaOptions;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, replace_children_if_necessary};
use operator::PythonExec;
use program::Work;
use std::sync::Arc;

/// The rule.
#[derive(Debug)]
pub(crate) struct Fuse;

impl PhysicalOptimizerRule for Fuse {
    fn name(&self) -> &'static str {
        "exuvia_fuse"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ExuviaOptions::of(config);
        if options.apart {
            return Ok(plan);
        }
        let fused = plan.transform_down(|plan| match fuse(&plan, &options)? {
            Some(fused) => Ok(Transformed::yes(fused)),
            None => Ok(Transformed::no(plan)),
        })?;
        if fused.transformed { fenced(fused.data) } else { Ok(fused.data) }
    }
}

/// The plan with barriers over nodes of which two columns have one name, so that no filter is
/// handed down past them to our operators: DataFusion would take the first of the two.
fn fenced(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let fenced = plan.transform_up(|plan| {
        let doubtful = ambiguous(&plan.schema()) && plan.exists(|node| Ok(node.is::<PythonExec>()))?;
        Ok(if doubtful { Transformed::yes(BarrierExec::over(plan)) } else { Transformed::no(plan) })
    })?;
    Ok(fenced.data)
}

/// The rule that removes barriers, and operators that are no better than what they replaced, and makes batches of
/// wide rows smaller.
#[derive(Debug)]
pub(crate) struct Settle;

impl PhysicalOptimizerRule for Settle {
    fn name(&self) -> &'static str {
        "exuvia_settle"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let settled = plan.transform_up(|plan| {
            if let Some(rows) = dealt(&plan) {
                return Ok(Transformed::yes(Arc::clone(rows)));
            }
            Ok(match plan.downcast_ref::<PythonExec>().and_then(PythonExec::unneeded) {
                Some(chain) => Transformed::yes(Arc::clone(chain)),
                None => Transformed::no(plan),
            })
        })?;
        let settled = BarrierExec::remove_from(settled.data)?;
        let narrowed = settled.transform_up(|plan| {
            Ok(match wide::narrowed(&plan, config)? {
                Some(narrowed) => Transformed::yes(narrowed),
                None => Transformed::no(plan),
            })
        })?;
        Ok(narrowed.data)
    }
}

/// The rows of a generator, filtered and projected, that a plan deals out to several partitions: what it
/// gains is little, since one thread of Python makes them, and it gathers them to batches of many rows,
/// whatever their bytes.
fn dealt(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let dealing = round_robin(plan)?;
    let mut below = dealing.input();
    while below.is::<ProjectionExec>() || below.is::<FilterExec>() || below.is::<PythonExec>() {
        below = below.children().first().copied()?;
    }
    let generates = below.downcast_ref::<RoutineExec>().is_some_and(RoutineExec::generates);
    generates.then(|| dealing.input())
}

/// The node that deals out its rows in turn, if a plan is one.
fn round_robin(plan: &Arc<dyn ExecutionPlan>) -> Option<&RepartitionExec> {
    let node = plan.downcast_ref::<RepartitionExec>()?;
    matches!(node.partitioning(), Partitioning::RoundRobinBatch(_)).then_some(node)
}

/// A chain of filters and projections, in terms of its input's columns.
#[derive(Debug)]
struct Chain {
    /// The chain itself.
    plan: Arc<dyn ExecutionPlan>,
    input: Arc<dyn ExecutionPlan>,
    /// The conjuncts of all filters, in the order in which the plan evaluates them, and what
    /// each column of the result is.
    work: Work,
    /// The rows after which the result ends.
    fetch: Option<usize>,
}

/// The chain that begins at `plan` as one operator, if that is worth while.
fn fuse(plan: &Arc<dyn ExecutionPlan>, options: &ExuviaOptions) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(chain) = chain(plan)? else { return Ok(None) };
    let Work { conjuncts, outputs, .. } = &chain.work;
    let calls: Vec<_> = conjuncts.iter().chain(outputs).flat_map(calls).collect();
    let [first, ..] = &calls[..] else { return Ok(None) };
    // A projection with one call is as good as it can be, unless it can leave out rows, or the
    // results may become so large that batches are to be divided.
    let is_bounded = first.data_type(&chain.input.schema())?.primitive_width().is_some();
    let alone = calls.len() == 1 && is_bounded && conjuncts.is_empty() && !outputs.iter().any(has_conditional_call);
    Ok(Some(Arc::new(PythonExec::new(chain, alone, options)?)))
}

/// A node of a plan.
type Node<'a> = &'a Arc<dyn ExecutionPlan>;

/// The filters and projections from `plan` down, and the node that deals out rows between
/// them, if there is one.
///
/// Those that make one another's expressions too large are left to the next chain.
fn nodes(plan: Node<'_>) -> (Vec<Node<'_>>, Option<Node<'_>>) {
    let mut nodes: Vec<Node<'_>> = vec![];
    // Where rows are dealt out, and the number of nodes above.
    let mut dealt = None;
    let mut at = plan;
    loop {
        if let Some(projection) = at.downcast_ref::<ProjectionExec>() {
            if projection.expr().iter().any(|column| is_volatile(&column.expr)) {
                break;
            }
            nodes.push(at);
            at = projection.input();
        } else if let Some(filter) = at.downcast_ref::<FilterExec>() {
            // A limit is counted below what is above it, and in each partition.
            let limited =
                filter.fetch().is_some() && (dealt.is_some() || nodes.iter().any(|node| node.is::<FilterExec>()));
            if limited || is_volatile(filter.predicate()) {
                break;
            }
            nodes.push(at);
            at = filter.input();
        } else if at.is::<BarrierExec>() {
            let [input] = at.children()[..] else { break };
            at = input;
        } else if let Some(repartition) = round_robin(at) {
            let limited = nodes.iter().any(|node| node.fetch().is_some());
            if dealt.is_some() || repartition.preserve_order() || limited {
                break;
            }
            dealt = Some((at, nodes.len()));
            at = repartition.input();
        } else {
            break;
        }
    }
    while !are_small_together(&nodes) {
        nodes.truncate(nodes.len() / 2);
    }
    let dealt = dealt.filter(|(_, above)| nodes.len() > *above).map(|(node, _)| node);
    (nodes, dealt)
}

/// How many nodes an expression has, where its columns count for what is said of them.
fn size(expr: &Arc<dyn PhysicalExpr>, columns: Option<&[usize]>) -> usize {
    match (expr.downcast_ref::<Column>(), columns) {
        (Some(column), Some(columns)) => columns.get(column.index()).copied().unwrap_or(1),
        _ => expr.children().into_iter().fold(1, |sum, child| sum.saturating_add(size(child, columns))),
    }
}

/// Whether the expressions of filters and projections, each with its columns replaced by what they
/// are, have few nodes for what they are apart. A column that each level uses twice doubles them.
fn are_small_together(nodes: &[Node<'_>]) -> bool {
    const MOST: usize = 10_000;
    const MOST_CASES: usize = 12;
    /// How deep CASE is nested.
    fn cases(expr: &Arc<dyn PhysicalExpr>, columns: &[usize]) -> usize {
        let own = usize::from(expr.is::<CaseExpr>());
        let inner = match expr.downcast_ref::<Column>() {
            Some(column) => columns.get(column.index()).copied(),
            None => expr.children().into_iter().map(|child| cases(child, columns)).max(),
        };
        own + inner.unwrap_or(0)
    }
    let mut depths: Vec<usize> = Vec::new();
    let mut columns: Option<Vec<usize>> = None;
    let (mut apart, mut together) = (0usize, 0usize);
    for node in nodes.iter().rev() {
        if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            let exprs = || projection.expr().iter().map(|column| &column.expr);
            apart += exprs().map(|expr| size(expr, None)).sum::<usize>();
            depths = exprs().map(|expr| cases(expr, &depths)).collect();
            // Each look at one looks at all within it.
            if depths.iter().any(|depth| *depth > MOST_CASES) {
                return false;
            }
            columns = Some(exprs().map(|expr| size(expr, columns.as_deref())).collect());
        } else if let Some(filter) = node.downcast_ref::<FilterExec>() {
            apart += size(filter.predicate(), None);
            if cases(filter.predicate(), &depths) > MOST_CASES {
                return false;
            }
            if let Some(kept) = filter.projection() {
                depths = kept.iter().map(|&index| depths.get(index).copied().unwrap_or(0)).collect();
            }
            together = together.saturating_add(size(filter.predicate(), columns.as_deref()));
            if let (Some(kept), Some(sizes)) = (filter.projection(), &columns) {
                columns = Some(kept.iter().map(|&index| sizes.get(index).copied().unwrap_or(1)).collect());
            }
        }
        let outputs = columns.iter().flatten().fold(0usize, |sum, size| sum.saturating_add(*size));
        if together.saturating_add(outputs) > MOST.max(4 * apart) {
            return false;
        }
    }
    true
}

/// The filters and projections from `plan` down, if there is one.
fn chain(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Chain>> {
    let (nodes, dealt) = nodes(plan);
    let Some(last) = nodes.last() else { return Ok(None) };
    let bottom = only_child(last.children().into_iter().cloned().collect())?;
    let (plan, input) = match dealt {
        None => (Arc::clone(plan), bottom),
        Some(dealt) => {
            let input = replace_children_if_necessary(Arc::clone(dealt), vec![bottom])?;
            let mut plan = Arc::clone(&input);
            for node in nodes.iter().rev() {
                plan = replace_children_if_necessary(Arc::clone(node), vec![plan])?;
            }
            (plan, input)
        }
    };
    let columns = input.schema();
    let columns = columns.fields().iter().enumerate();
    let mut outputs: Vec<_> =
        columns.map(|(index, field)| Arc::new(Column::new(field.name(), index)) as Arc<dyn PhysicalExpr>).collect();
    let mut conjuncts = vec![];
    let mut fetch = None;
    for node in nodes.into_iter().rev() {
        if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            let columns = projection.expr().iter().map(|column| substitute(&column.expr, &outputs));
            outputs = columns.collect::<Result<_>>()?;
        } else if let Some(filter) = node.downcast_ref::<FilterExec>() {
            for conjunct in split_conjunction(filter.predicate()) {
                conjuncts.push(substitute(conjunct, &outputs)?);
            }
            if let Some(kept) = filter.projection() {
                outputs = kept.iter().map(|&index| Arc::clone(&outputs[index])).collect();
            }
            fetch = filter.fetch();
        }
    }
    // DataFusion moves comparisons of columns behind other conjuncts. They cannot fail and
    // cost little, so their place is in front, whatever was written.
    conjuncts.sort_by_key(|conjunct| !cannot_fail(conjunct));
    Ok(Some(Chain { plan, input, work: Work { conjuncts, outputs, ..Work::default() }, fetch }))
}

/// The expression with each column replaced by what it is.
fn substitute(expr: &Arc<dyn PhysicalExpr>, columns: &[Arc<dyn PhysicalExpr>]) -> Result<Arc<dyn PhysicalExpr>> {
    // From the leaves up, so that what is put in is not looked at again.
    let substituted = Arc::clone(expr).transform_up(|expr| {
        match expr.downcast_ref::<Column>().and_then(|column| columns.get(column.index())) {
            Some(column) => Ok(Transformed::yes(Arc::clone(column))),
            None => Ok(Transformed::no(expr)),
        }
    })?;
    Ok(substituted.data)
}

/// Whether an expression consists of nothing but comparisons of columns and literals.
fn cannot_fail(expr: &Arc<dyn PhysicalExpr>) -> bool {
    compares(expr) && expr.children().into_iter().all(cannot_fail)
}

/// Whether an expression is a column, a literal, or a comparison or a test of its children.
fn compares(expr: &Arc<dyn PhysicalExpr>) -> bool {
    match expr.downcast_ref::<BinaryExpr>() {
        Some(binary) => matches!(
            binary.op(),
            Operator::Eq
                | Operator::NotEq
                | Operator::Lt
                | Operator::LtEq
                | Operator::Gt
                | Operator::GtEq
                | Operator::IsDistinctFrom
                | Operator::IsNotDistinctFrom
                | Operator::And
                | Operator::Or
        ),
        None => {
            expr.is::<Column>()
                || expr.is::<Literal>()
                || expr.is::<IsNullExpr>()
                || expr.is::<IsNotNullExpr>()
                || expr.is::<NotExpr>()
                || expr.is::<InListExpr>()
                || expr.is::<LikeExpr>()
        }
    }
}

/// Whether the expression itself calls a Python function.
fn is_call(expr: &Arc<dyn PhysicalExpr>) -> bool {
    ScalarFunctionExpr::try_downcast_func::<PythonFunction>(expr.as_ref()).is_some()
}

/// Whether a call stands on the right of AND or OR.
fn has_conditional_call(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let found = expr.exists(|expr| {
        let binary = expr.downcast_ref::<BinaryExpr>();
        Ok(binary
            .is_some_and(|binary| matches!(binary.op(), Operator::And | Operator::Or) && calls_python(binary.right())))
    });
    // The walk never fails.
    found.unwrap_or(false)
}

/// The calls of Python functions in an expression, each as often as it occurs.
fn calls(expr: &Arc<dyn PhysicalExpr>) -> Vec<Arc<dyn PhysicalExpr>> {
    let mut calls = vec![];
    let walked = expr.apply(|expr| {
        if is_call(expr) {
            calls.push(Arc::clone(expr));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    debug_assert!(walked.is_ok(), "a walk that never fails failed");
    calls
}
