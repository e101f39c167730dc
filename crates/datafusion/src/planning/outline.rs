//! Keeps Python calls that may fail for the rows for which the query, read from left to
//! right, evaluates them.
//!
//! A call that is total (a value for whatever arguments, natively and without loops) may be
//! evaluated anywhere. For others the rule here
//! - separates a filter's other conjuncts, which go below, from those with such calls, and
//!   puts a [`Barrier`] between them, so that no predicate with a call passes a join or
//!   enters a scan; what is filtered by the other conjuncts never reaches a call;
//! - puts a barrier below projections and groups with such calls, since DataFusion replaces
//!   a column in a predicate by its expression when it pushes the predicate through;
//! - makes conditions of an inner join with such calls a filter above it, which sees only
//!   the rows that match by the others.
//!
//! Of a call that stays, what its first steps demand goes below as a condition of its own:
//! `if price >= 10: return False` is `price < 10` to a scan ([`inline::prefilter`]). So it
//! does of any call over a scan that prunes by it.
//!
//! What DataFusion evaluates elsewhere stays as it is: conditions of outer joins, predicates
//! of correlated subqueries, and calls that are the key by which tables are joined.

use crate::planning::barrier::Barrier;
use crate::planning::inline;
use crate::running::function::PythonFunction;
use crate::statements::settings::ExuviaOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, Join, LogicalPlan, Projection, TableProviderFilterPushDown, TableScan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The rule.
#[derive(Debug)]
pub(crate) struct Outline;

impl OptimizerRule for Outline {
    fn name(&self) -> &'static str {
        "exuvia_outline"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let calls = Calls { options: ExuviaOptions::of(&config.options()) };
        match plan {
            LogicalPlan::Filter(filter) => calls.filter(filter),
            LogicalPlan::Projection(mut projection) => {
                let changed = calls.fence(&projection.expr, &mut projection.input);
                Ok(Transformed::new_transformed(LogicalPlan::Projection(projection), changed))
            }
            LogicalPlan::Aggregate(mut aggregate) => {
                let changed = calls.fence(&aggregate.group_expr, &mut aggregate.input);
                Ok(Transformed::new_transformed(LogicalPlan::Aggregate(aggregate), changed))
            }
            LogicalPlan::Join(join) if join.join_type == JoinType::Inner => calls.join(join),
            // One is enough.
            other => match Barrier::of(&other).filter(|outer| Barrier::of(outer.input()).is_some()) {
                Some(outer) => Ok(Transformed::yes(outer.input().clone())),
                None => Ok(Transformed::no(other)),
            },
        }
    }
}

struct Calls {
    options: ExuviaOptions,
}

impl Calls {
    /// Whether an expression has calls that must stay where they are.
    fn stay(&self, expr: &Expr) -> bool {
        let stays = |expr: &Expr| {
            let Expr::ScalarFunction(call) = expr else { return Ok(false) };
            let python = PythonFunction::of(&call.func);
            Ok(python.is_some_and(|python| !python.function().is_total(&self.options.settings)))
        };
        // The walk never fails.
        expr.exists(stays).unwrap_or(true)
    }

    fn filter(&self, filter: Filter) -> Result<Transformed<LogicalPlan>> {
        let (columns, beneath) = through_columns(&filter.input);
        let barrier = Barrier::of(beneath);
        // What is computed would be computed again below.
        let stored = |expr: &Expr| expr.column_refs().into_iter().all(|column| is_stored(column, &filter.input));
        let prefilter = |call: &Expr| inline::prefilter(call, filter.input.schema(), &self.options).filter(stored);
        // A call that may be evaluated anywhere gains by a prefilter where a scan takes that.
        let prunes =
            |call: &Expr| scan(beneath).is_some_and(|scan| prefilter(call).is_some_and(|own| takes(scan, &own)));
        let stays = self.stay(&filter.predicate) || split_conjunction(&filter.predicate).into_iter().any(prunes);
        // Where a join's key is such a call, what is above goes below the join, before it.
        if (barrier.is_none() && (!stays || is_fenced(&filter.input) || self.joins_by_call(&filter.input)))
            || filter.predicate.contains_outer()
        {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        let mut prefiltered = barrier.map(Barrier::prefiltered).unwrap_or_default().to_vec();
        let apart = |expr: &Expr| {
            let volatile = || expr.is_volatile() && !expr.column_refs().is_empty();
            self.stay(expr) || volatile() || prefiltered.contains(expr) || prunes(expr)
        };
        let (above, mut below): (Vec<Expr>, Vec<Expr>) =
            split_conjunction_owned(filter.predicate.clone()).into_iter().partition(apart);
        // DataFusion would push what names no column past a barrier.
        if above.iter().any(|expr| expr.is_volatile() && expr.column_refs().is_empty()) {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        for call in &above {
            if !prefiltered.contains(call)
                && let Some(prefilter) = prefilter(call)
            {
                below.push(prefilter);
                prefiltered.push(call.clone());
            }
        }
        if barrier.map_or_else(|| is_correlated(&filter.input), |_| below.is_empty()) {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        let mut input = barrier.map_or(filter.input.as_ref(), Barrier::input).clone();
        if let Some(below) = conjunction(below) {
            input = LogicalPlan::Filter(Filter::try_new(below, Arc::new(input))?);
        }
        let mut input = Arc::new(Barrier::over(input, prefiltered));
        if barrier.is_some() {
            for columns in columns.into_iter().rev() {
                input = Arc::new(LogicalPlan::Projection(Projection::try_new(columns.to_vec(), input)?));
            }
        }
        let plan = match conjunction(above) {
            Some(above) => LogicalPlan::Filter(Filter::try_new(above, input)?),
            None => Arc::unwrap_or_clone(input),
        };
        Ok(Transformed::yes(plan))
    }

    /// Whether a plan is a join by the value of such a call.
    fn joins_by_call(&self, plan: &LogicalPlan) -> bool {
        match plan {
            LogicalPlan::Join(join) => join.on.iter().any(|(left, right)| self.stay(left) || self.stay(right)),
            _ => false,
        }
    }

    /// Puts a barrier below expressions with such calls.
    fn fence(&self, exprs: &[Expr], input: &mut Arc<LogicalPlan>) -> bool {
        let kept = |expr: &Expr| self.stay(expr) && !expr.contains_outer();
        let needed = exprs.iter().any(kept) && !is_fenced(input) && !is_correlated(input);
        if needed {
            *input = Arc::new(Barrier::over(input.as_ref().clone(), vec![]));
        }
        needed
    }

    fn join(&self, mut join: Join) -> Result<Transformed<LogicalPlan>> {
        let (mut above, other): (Vec<Expr>, Vec<Expr>) =
            join.filter.iter().cloned().flat_map(split_conjunction_owned).partition(|expr| self.stay(expr));
        let (keys, equal): (Vec<_>, Vec<_>) =
            join.on.iter().cloned().partition(|(left, right)| self.stay(left) || self.stay(right));
        // Keys without which there are none are needed of all rows.
        if join.null_equality == NullEquality::NullEqualsNothing && !equal.is_empty() {
            above.extend(keys.into_iter().map(|(left, right)| left.eq(right)));
            join.on = equal;
        }
        let Some(above) = conjunction(above) else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
        join.filter = conjunction(other);
        let filter = Filter::try_new(above, Arc::new(LogicalPlan::Join(join)))?;
        Ok(Transformed::yes(self.filter(filter)?.data))
    }
}

/// The projections of columns with which a plan begins, and what is below them.
fn through_columns(plan: &LogicalPlan) -> (Vec<&[Expr]>, &LogicalPlan) {
    let (mut columns, mut at) = (vec![], plan);
    while let LogicalPlan::Projection(projection) = at
        && projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)))
    {
        columns.push(projection.expr.as_slice());
        at = &projection.input;
    }
    (columns, at)
}

/// Whether a column is one of a table, under whatever name.
fn is_stored(column: &Column, plan: &LogicalPlan) -> bool {
    let same = |input: &LogicalPlan| is_stored(column, input);
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::Values(_) => true,
        LogicalPlan::Projection(projection) => {
            let expr = projection.schema.index_of_column(column).map(|index| projection.expr[index].clone().unalias());
            matches!(expr, Ok(Expr::Column(inner)) if is_stored(&inner, &projection.input))
        }
        LogicalPlan::SubqueryAlias(alias) => alias
            .schema
            .index_of_column(column)
            .is_ok_and(|index| is_stored(&Column::from(alias.input.schema().qualified_field(index)), &alias.input)),
        LogicalPlan::Filter(filter) => same(&filter.input),
        LogicalPlan::Sort(sort) => same(&sort.input),
        LogicalPlan::Limit(limit) => same(&limit.input),
        LogicalPlan::Repartition(repartition) => same(&repartition.input),
        LogicalPlan::Join(join) => {
            [&join.left, &join.right].into_iter().any(|side| side.schema().has_column(column) && same(side))
        }
        other => Barrier::of(other).is_some_and(|barrier| same(barrier.input())),
    }
}

/// The scan that a plan is.
fn scan(plan: &LogicalPlan) -> Option<&TableScan> {
    match plan {
        LogicalPlan::TableScan(scan) => Some(scan),
        _ => None,
    }
}

/// Whether a scan does something with a predicate.
fn takes(scan: &TableScan, predicate: &Expr) -> bool {
    let support = scan.source.supports_filters_pushdown(&[predicate]);
    support.is_ok_and(|support| !matches!(support[..], [] | [TableProviderFilterPushDown::Unsupported]))
}

/// Whether a barrier is below, with nothing between that a predicate could pass on its way to
/// another place.
fn is_fenced(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => {
            let plain = |expr: &Expr| matches!(expr.clone().unalias(), Expr::Column(_));
            projection.expr.iter().all(plain) && is_fenced(&projection.input)
        }
        LogicalPlan::SubqueryAlias(alias) => is_fenced(&alias.input),
        LogicalPlan::Filter(filter) => is_fenced(&filter.input),
        LogicalPlan::Limit(limit) => is_fenced(&limit.input),
        plan => Barrier::of(plan).is_some(),
    }
}

/// Whether the plan speaks of a query around: DataFusion has yet to make a join of that, and
/// must see all of it.
fn is_correlated(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let visited = plan.apply(|plan| {
        found |= plan.expressions().iter().any(Expr::contains_outer);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}
