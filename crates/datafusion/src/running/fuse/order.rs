//! The order of conditions that cannot fail, by what they cost and how many rows they drop.
//!
//! A program begins with the query's order. It runs step by step at first, which tells of
//! each condition what a row costs and how many rows pass. Then conditions that stand side by
//! side and cannot fail are put in the order that costs least if each drops its share of any
//! rows: by cost over the share that it drops (J. M. Hellerstein and M. Stonebraker,
//! *Predicate Migration*, SIGMOD 1993). That happens once for each operator, before its loops
//! are compiled, and only if it saves a fifth of the time.

use super::looped::{call, unchanged};
use super::program::{Program, Work};
use super::{cannot_fail, compares};
use crate::running::function::PythonFunction;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use parking_lot::RwLock;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Rows that the first of some conditions must have seen.
const TRIAL: u64 = 16_384;

/// Batches after which it is judged by what there is: other conditions may leave few rows.
const PATIENCE: u64 = 32;

/// The share of the time that another order must leave at most.
const WORTH: f64 = 0.8;

/// A program whose conditions find their order.
#[derive(Debug)]
pub(super) struct Ordered {
    input: SchemaRef,
    work: Work,
    options: ExuviaOptions,
    program: RwLock<Arc<Program>>,
    /// The conditions, side by side, that may change places.
    groups: Vec<Range<usize>>,
    /// Batches that it ran on before the order was settled.
    batches: AtomicU64,
    /// Whether the order stays as it is.
    settled: AtomicBool,
}

impl Ordered {
    /// A program over `input`'s columns in the order of the query.
    pub(super) fn new(input: SchemaRef, work: Work, options: &ExuviaOptions) -> Result<Ordered> {
        let groups = movable(&input, &work, options);
        let settled = !options.settings.fault.is_empty() || groups.is_empty();
        let program = Program::new(&input, &work, options, settled)?;
        let program = RwLock::new(Arc::new(program));
        let (options, batches, settled) = (options.clone(), AtomicU64::new(0), AtomicBool::new(settled));
        Ok(Ordered { input, work, options, program, groups, batches, settled })
    }

    /// The same for other work over the same columns.
    ///
    /// # Errors
    /// If the program cannot be built.
    pub(super) fn for_work(&self, work: Work) -> Result<Ordered> {
        Ordered::new(Arc::clone(&self.input), work, &self.options)
    }

    /// What it computes, in the order of the query.
    pub(super) fn work(&self) -> &Work {
        &self.work
    }

    /// The program as it is now.
    pub(super) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.program.read())
    }

    /// Puts the conditions in another order if enough is known and that saves time.
    ///
    /// # Errors
    /// If the program cannot be built.
    pub(super) fn learn(&self) -> Result<()> {
        if self.settled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let seen = self.program().conditions();
        let patient = self.batches.fetch_add(1, Ordering::Relaxed) < PATIENCE;
        if (patient && self.groups.iter().any(|group| seen[group.start].rows < TRIAL))
            || self.settled.swap(true, Ordering::Relaxed)
        {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..self.work.conjuncts.len()).collect();
        for group in &self.groups {
            if let Some(better) = better_order(&seen[group.clone()]) {
                let better = better.into_iter().map(|at| group.start + at).collect::<Vec<_>>();
                order[group.clone()].copy_from_slice(&better);
            }
        }
        let mut work = self.work.clone();
        work.conjuncts = order.into_iter().map(|at| Arc::clone(&self.work.conjuncts[at])).collect();
        *self.program.write() = Arc::new(Program::new(&self.input, &work, &self.options, true)?);
        Ok(())
    }
}

/// What was seen of a condition or of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// The rows that it was evaluated for, and those of them that it kept.
    pub(super) rows: u64,
    pub(super) kept: u64,
    /// Nanoseconds that a row took.
    pub(super) cost: f64,
}

/// Counts what [`Seen`] says of a step.
#[derive(Debug, Default)]
pub(super) struct Counted {
    rows: AtomicU64,
    kept: AtomicU64,
    nanos: AtomicU64,
}

impl Counted {
    pub(super) fn add(&self, rows: usize, kept: usize, time: Duration) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.kept.fetch_add(kept as u64, Ordering::Relaxed);
        self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn seen(&self) -> Seen {
        let rows = self.rows.load(Ordering::Relaxed);
        let cost = self.nanos.load(Ordering::Relaxed) as f64 / rows.max(1) as f64;
        Seen { rows, kept: self.kept.load(Ordering::Relaxed), cost }
    }
}

/// The conditions, side by side, that may change places.
fn movable(input: &Schema, work: &Work, options: &ExuviaOptions) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = vec![];
    for (at, conjunct) in work.conjuncts.iter().enumerate() {
        // What has no call costs next to nothing and stands in front.
        if cannot_fail(conjunct) || !is_total(conjunct, input, options) {
            continue;
        }
        match groups.last_mut().filter(|group| group.end == at) {
            Some(group) => group.end += 1,
            None => groups.push(at..at + 1),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Whether an expression fails for no row.
fn is_total(expr: &Arc<dyn PhysicalExpr>, input: &Schema, options: &ExuviaOptions) -> bool {
    let children = || expr.children().into_iter().all(|child| is_total(child, input, options));
    if let Some(python) = call(expr).and_then(|call| PythonFunction::of(call.fun())) {
        return python.function().is_total(&options.settings) && children();
    }
    (compares(expr) || unchanged(expr, input).is_some()) && children()
}

/// The order of conditions that takes less time than the one they are in, if that is worth
/// while.
fn better_order(seen: &[Seen]) -> Option<Vec<usize>> {
    if seen.iter().any(|one| one.rows == 0) {
        return None;
    }
    let passes = |at: usize| seen[at].kept as f64 / seen[at].rows as f64;
    let mut order: Vec<usize> = (0..seen.len()).collect();
    let rank = |at: usize| seen[at].cost / (1.0 - passes(at)).max(1e-6);
    order.sort_by(|a, b| rank(*a).total_cmp(&rank(*b)));
    let time = |order: &mut dyn Iterator<Item = usize>| {
        let (mut time, mut rows) = (0.0, 1.0);
        for at in order {
            time += rows * seen[at].cost;
            rows *= passes(at);
        }
        time
    };
    (time(&mut order.iter().copied()) < WORTH * time(&mut (0..seen.len()))).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::{Seen, better_order};

    #[test]
    fn what_drops_most_for_its_cost_goes_first() {
        let seen = |cost, kept| Seen { rows: 100, kept, cost };
        assert_eq!(better_order(&[seen(50.0, 90), seen(5.0, 10), seen(10.0, 50)]), Some(vec![1, 2, 0]));
        // As good as it is, or nearly.
        assert_eq!(better_order(&[seen(5.0, 10), seen(50.0, 90)]), None);
        assert_eq!(better_order(&[seen(10.0, 50), seen(9.9, 50)]), None);
        // Nothing is known of one.
        assert_eq!(better_order(&[seen(50.0, 0), Seen::default()]), None);
        // What drops nothing goes last, whatever it costs.
        assert_eq!(better_order(&[seen(1.0, 100), seen(2.0, 100), seen(0.5, 1)]), Some(vec![2, 0, 1]));
    }
}
