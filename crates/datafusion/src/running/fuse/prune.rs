//! Filters that the operators above learn while a query runs: the keys of the smaller side of
//! a join, or the last of the best rows so far of ORDER BY with a LIMIT.
//!
//! DataFusion hands them down to whoever can use them; a row for which one is not true is not
//! needed above. The operator evaluates them as soon as it has the columns that they are
//! about, so that it calls nothing further for rows that nobody needs. What is about columns
//! of the input goes down further, and is evaluated before everything else; what is about
//! results of calls comes after the conditions of the query, since the call may fail for a
//! row that they exclude.
//!
//! A key that is a zero or no number is kept whatever the filter says: DataFusion's filters,
//! joins and sorts do not agree on whether the zeros are equal.
//!
//! Such a filter divides what could be one loop, so it must be worth that: it is left out
//! while it has nothing to say or lets most rows pass.

use super::program::Work;
use super::{calls, cannot_fail, has_conditional_call, substitute};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::{HashSet, Result, ScalarValue};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, DynamicFilterPhysicalExpr, lit};
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows that a filter is tried on after it changed.
const TRIAL: u64 = 32_768;

/// The state of a filter of which nothing is known yet.
const UNKNOWING: u64 = 1;

/// The work with such filters in it, which are about the columns of its result; `None` if
/// none of them spares a call.
pub(super) fn with_filters(work: &Work, filters: &[Arc<dyn PhysicalExpr>], input: &Schema) -> Result<Option<Work>> {
    let mut pruned = work.clone();
    for filter in filters {
        let filter = substitute(filter, &work.outputs)?;
        if has_conditional_call(&filter) {
            // AND and OR have no slot: the call would be made once more.
            continue;
        }
        let early = filter.children().into_iter().all(cannot_fail);
        if !early && !spares_calls(&filter, work) {
            continue;
        }
        let Some(filter) = with_doubtful_floats(filter, input)? else { continue };
        if early { pruned.first.push(filter) } else { pruned.last.push(filter) }
    }
    Ok((!pruned.first.is_empty() || !pruned.last.is_empty()).then_some(pruned))
}

/// The filter, true also where a key is a zero or no number; `None` where a key has floats
/// inside.
fn with_doubtful_floats(filter: Arc<dyn PhysicalExpr>, input: &Schema) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let mut kept = Arc::clone(&filter);
    for key in filter.children() {
        let ty = key.data_type(input)?;
        if !ty.is_floating() {
            if ty.is_nested() {
                return Ok(None);
            }
            continue;
        }
        let compare = |op, constant: f64| -> Result<Arc<dyn PhysicalExpr>> {
            let constant = lit(ScalarValue::Float64(Some(constant)).cast_to(&ty)?);
            Ok(Arc::new(BinaryExpr::new(Arc::clone(key), op, constant)))
        };
        let both = |left, op, right| -> Arc<dyn PhysicalExpr> { Arc::new(BinaryExpr::new(left, op, right)) };
        let zero = both(compare(Operator::Eq, 0.0)?, Operator::Or, compare(Operator::Eq, -0.0)?);
        let (least, greatest) = (compare(Operator::Lt, f64::NEG_INFINITY)?, compare(Operator::Gt, f64::INFINITY)?);
        let doubtful = both(zero, Operator::Or, both(least, Operator::Or, greatest));
        kept = both(kept, Operator::Or, doubtful);
    }
    Ok(Some(kept))
}

/// Whether there are calls in the result that neither the filter nor a condition needs.
fn spares_calls(filter: &Arc<dyn PhysicalExpr>, work: &Work) -> bool {
    let made: HashSet<_> = work.conjuncts.iter().chain([filter]).flat_map(calls).collect();
    work.outputs.iter().flat_map(calls).any(|call| !made.contains(&call))
}

/// A filter about the columns of the result as one about those of the input; `None` if it is
/// about others.
pub(super) fn below(filter: &Arc<dyn PhysicalExpr>, work: &Work) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let filter = substitute(filter, &work.outputs)?;
    Ok(filter.children().into_iter().all(|child| child.is::<Column>()).then_some(filter))
}

/// Whether a predicate is such a filter: nobody relies on it, and it may change.
pub(super) fn is_optional(predicate: &Arc<dyn PhysicalExpr>) -> bool {
    predicate.is::<DynamicFilterPhysicalExpr>()
}

/// What a filter was worth so far.
#[derive(Debug, Default)]
pub(super) struct Gain {
    /// The state of the filter that the numbers are about.
    generation: AtomicU64,
    seen: AtomicU64,
    kept: AtomicU64,
}

impl Gain {
    /// Whether the filter is worth evaluating.
    pub(super) fn expected(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        let generation = snapshot_generation(filter);
        if self.generation.swap(generation, Ordering::Relaxed) != generation {
            self.seen.store(0, Ordering::Relaxed);
            self.kept.store(0, Ordering::Relaxed);
        }
        let (seen, kept) = (self.seen.load(Ordering::Relaxed), self.kept.load(Ordering::Relaxed));
        generation > UNKNOWING && (seen < TRIAL || kept < seen / 4 * 3)
    }

    /// Takes note of what the filter did.
    pub(super) fn note(&self, seen: usize, kept: usize) {
        self.seen.fetch_add(seen as u64, Ordering::Relaxed);
        self.kept.fetch_add(kept as u64, Ordering::Relaxed);
    }
}
