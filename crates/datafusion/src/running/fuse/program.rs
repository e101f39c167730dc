//! What the operator does with a batch: steps over slots.
//!
//! A slot holds a column: of the input, or of what a step computed. Steps that filter
//! shorten every slot that is still needed. An expression becomes a slot of its own if it
//! is a Python call or occurs more than once, and only where it is evaluated in any case.
//! Calls on the right of AND and OR and in the parts of a CASE are steps too, with a guard:
//! they are made for the rows that ask for them. What else stands there is left in its
//! expression.

use super::looped::{self, Looped};
use super::order::{Counted, Seen};
use super::partition::Partition;
use super::prune::Gain;
use super::short_circuit::ShortCircuit;
use super::{is_call, size};
use crate::planning::barrier::calls_python;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array,
};
use datafusion::arrow::compute::{FilterBuilder, prep_null_mask_filter, take};
use datafusion::arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{HashMap, Result, internal_datafusion_err};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use exuvia_engine::chain::When;
use std::sync::Arc;
use std::time::Instant;

/// What a program computes of its input's columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Filters that may be left out ([`super::prune`]), before the conditions.
    pub(super) first: Vec<Arc<dyn PhysicalExpr>>,
    /// The conditions that a row must meet, in the order in which they are evaluated.
    pub(super) conjuncts: Vec<Arc<dyn PhysicalExpr>>,
    /// Filters that may be left out, after the conditions.
    pub(super) last: Vec<Arc<dyn PhysicalExpr>>,
    /// What each column of the result is.
    pub(super) outputs: Vec<Arc<dyn PhysicalExpr>>,
}

/// The steps of an operator.
#[derive(Debug)]
pub(crate) struct Program {
    stages: Vec<Stage>,
    /// The columns of the result, over the rows that are left.
    outputs: Vec<Bound>,
    /// The columns of the input; their slots are the first ones.
    inputs: usize,
    slots: usize,
}

#[derive(Debug)]
enum Stage {
    Step(Step),
    Loop(Box<Looped>),
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    /// The slots that nobody needs after it.
    pub(super) dead: Vec<usize>,
    counted: Counted,
}

/// The rows of a batch while steps run.
#[derive(Debug)]
pub(super) struct Rows {
    /// The columns that there are.
    pub(super) slots: Vec<Option<ArrayRef>>,
    /// How many of them are the input's.
    pub(super) inputs: usize,
    /// The rows of each; where none are left, the columns are anything.
    pub(super) count: usize,
}

#[derive(Debug)]
pub(super) enum Action {
    /// Evaluates an expression into a slot, for the rows that the guard lets pass; the others
    /// get NULL. An empty guard means all.
    Compute(usize, Bound, Vec<(Bound, When)>),
    /// Keeps the rows for which it is true.
    Filter(Bound),
    /// Does so, if that is worth while.
    Prune(Bound, Gain),
}

/// An expression over some slots, which are the columns of the batch that it is given.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) expr: Arc<dyn PhysicalExpr>,
    pub(super) slots: Vec<usize>,
    pub(super) schema: SchemaRef,
}

impl Program {
    /// A program over `input`'s columns. Unless it is `settled` its conditions may get another
    /// order.
    pub(super) fn new(input: &Schema, work: &Work, options: &ExuviaOptions, settled: bool) -> Result<Program> {
        let Work { first, conjuncts, last, outputs } = work;
        let mut builder = Builder {
            options,
            fields: input.fields().iter().cloned().collect(),
            seen: HashMap::new(),
            slots: HashMap::new(),
            steps: vec![],
        };
        for expr in first.iter().chain(conjuncts).chain(last).chain(outputs) {
            builder.count(expr);
        }
        let prune = |bound| Action::Prune(bound, Gain::default());
        builder.conditions(first, prune)?;
        builder.conditions(conjuncts, Action::Filter)?;
        builder.conditions(last, prune)?;
        let mut columns = vec![];
        for output in outputs {
            let lowered = builder.lower(output, true, &[])?;
            columns.push(builder.bind(lowered)?);
        }
        let slots = builder.fields.len();
        let mut needed = vec![false; slots];
        columns.iter().flat_map(|column| &column.slots).for_each(|&slot| needed[slot] = true);
        // A step's dead slots are those that it is the last to read.
        let mut steps = vec![];
        for action in calls_last(builder.steps).into_iter().rev() {
            let mut dead = vec![];
            for slot in action.reads() {
                if !std::mem::replace(&mut needed[slot], true) {
                    dead.push(slot);
                }
            }
            steps.push(Step { action, dead, counted: Counted::default() });
        }
        steps.reverse();
        let stages = stages(steps, Arc::new(builder.fields), options, !settled);
        Ok(Program { stages, outputs: columns, inputs: input.fields().len(), slots })
    }

    /// Whether it drops rows.
    pub(super) fn filters(&self) -> bool {
        self.steps().any(|step| !matches!(step.action, Action::Compute(..)))
    }

    /// What was seen of its conditions, in order. The steps that compute what a condition
    /// needs count as parts of it.
    pub(super) fn conditions(&self) -> Vec<Seen> {
        let (mut conditions, mut cost) = (vec![], 0.0);
        for step in self.steps() {
            let seen = step.counted.seen();
            cost += seen.cost;
            match step.action {
                Action::Compute(..) => {}
                Action::Filter(_) => conditions.push(Seen { cost: std::mem::take(&mut cost), ..seen }),
                Action::Prune(..) => cost = 0.0,
            }
        }
        conditions
    }

    /// Whether a filter that may be left out is worth evaluating now.
    pub(super) fn prunes(&self) -> bool {
        self.steps().any(|step| match &step.action {
            Action::Prune(bound, gain) => gain.expected(&bound.expr),
            _ => false,
        })
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.stages.iter().flat_map(|stage| match stage {
            Stage::Step(step) => std::slice::from_ref(step),
            Stage::Loop(looped) => &looped.steps,
        })
    }

    /// The result for a batch; `None` where no row is left. What it computes on the way is
    /// taken from the pool.
    pub(crate) fn run(
        &self,
        batch: &RecordBatch,
        schema: &SchemaRef,
        partition: &Partition,
    ) -> Result<Option<RecordBatch>> {
        let mut rows = Rows { slots: vec![None; self.slots], inputs: self.inputs, count: batch.num_rows() };
        for (slot, column) in rows.slots.iter_mut().zip(batch.columns()).take(self.inputs) {
            *slot = Some(Arc::clone(column));
        }
        for stage in &self.stages {
            match stage {
                Stage::Step(step) => step.run(&mut rows, partition)?,
                Stage::Loop(looped) => looped.run(&mut rows, partition)?,
            }
            if rows.count == 0 && batch.num_rows() > 0 {
                return Ok(None);
            }
        }
        let columns = self.outputs.iter().map(|output| output.evaluate(&rows)).collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.count));
        Ok(Some(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?))
    }

    /// The steps as EXPLAIN shows them.
    pub(crate) fn show(&self, names: &[String]) -> String {
        let step = |step: &Step| match &step.action {
            Action::Compute(slot, bound, guard) if guard.is_empty() => format!("#{slot}={}", bound.show(self.inputs)),
            Action::Compute(slot, bound, guard) => {
                let guard = guard.iter().map(|(part, when)| match when {
                    When::True => part.show(self.inputs),
                    When::Not(value) => format!("{} is not {value}", part.show(self.inputs)),
                });
                let guard: Vec<String> = guard.collect();
                format!("#{slot}={} if {}", bound.show(self.inputs), guard.join(" and "))
            }
            Action::Filter(bound) => format!("where {}", bound.show(self.inputs)),
            Action::Prune(bound, _) => format!("prune {}", bound.show(self.inputs)),
        };
        let stages = self.stages.iter().map(|stage| match stage {
            Stage::Step(one) => step(one),
            Stage::Loop(looped) => {
                let steps: Vec<String> = looped.steps.iter().map(step).collect();
                format!("loop({})", steps.join(", "))
            }
        });
        let stages: Vec<String> = stages.collect();
        let outputs = self.outputs.iter().zip(names).map(|(output, name)| {
            let shown = output.show(self.inputs);
            if shown.split('@').next() == Some(name.as_str()) { shown } else { format!("{shown} as {name}") }
        });
        format!("steps=[{}], expr=[{}]", stages.join(", "), outputs.collect::<Vec<_>>().join(", "))
    }
}

/// The steps with what is no call before calls that it does not need, so that these can be
/// one loop. No step passes a condition.
fn calls_last(mut steps: Vec<Action>) -> Vec<Action> {
    for end in 1..steps.len() {
        let mut at = end;
        while at > 0
            && let [Action::Compute(slot, before, _), action @ Action::Compute(_, bound, _)] = &steps[at - 1..=at]
            && is_call(&before.expr)
            && !is_call(&bound.expr)
            && action.reads().all(|read| read != *slot)
        {
            steps.swap(at - 1, at);
            at -= 1;
        }
    }
    steps
}

/// The steps with those together that can be one loop.
fn stages(steps: Vec<Step>, fields: Arc<Vec<FieldRef>>, options: &ExuviaOptions, waits: bool) -> Vec<Stage> {
    let mut stages = vec![];
    let mut steps = steps.into_iter();
    loop {
        let rest = steps.as_slice().iter().map(|step| &step.action);
        if let Some((length, functions)) = Looped::length(rest, &fields, options) {
            let steps = steps.by_ref().take(length).collect();
            stages.push(Stage::Loop(Box::new(Looped::new(
                steps,
                functions,
                Arc::clone(&fields),
                options.clone(),
                waits,
            ))));
        } else if let Some(step) = steps.next() {
            stages.push(Stage::Step(step));
        } else {
            return stages;
        }
    }
}

impl Step {
    pub(super) fn run(&self, rows: &mut Rows, partition: &Partition) -> Result<()> {
        let (start, before) = (Instant::now(), rows.count);
        self.action.run(rows, partition)?;
        self.counted.add(before, rows.count, start.elapsed());
        for &dead in &self.dead {
            rows.slots[dead] = None;
        }
        Ok(())
    }
}

impl Action {
    /// What it evaluates.
    pub(super) fn bound(&self) -> &Bound {
        let (Action::Compute(_, bound, _) | Action::Filter(bound) | Action::Prune(bound, _)) = self;
        bound
    }

    /// The slots that it reads, some perhaps twice.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> {
        let guard: &[(Bound, When)] = if let Action::Compute(_, _, guard) = self { guard } else { &[] };
        self.bound().slots.iter().chain(guard.iter().flat_map(|(part, _)| &part.slots)).copied()
    }

    pub(super) fn run(&self, rows: &mut Rows, partition: &Partition) -> Result<()> {
        match self {
            Action::Compute(slot, bound, guard) => {
                let column = if guard.is_empty() { bound.evaluate(rows)? } else { bound.evaluate_for(guard, rows)? };
                rows.slots[*slot] = Some(column);
                partition.reserve(rows)?;
            }
            Action::Filter(bound) => {
                let value = bound.evaluate(rows)?;
                rows.keep(as_boolean_array(&value)?)?;
            }
            Action::Prune(bound, gain) if gain.expected(&bound.expr) => {
                let offered = rows.count;
                let value = bound.evaluate(rows)?;
                rows.keep(as_boolean_array(&value)?)?;
                gain.note(offered, rows.count);
                partition.pruned.add(offered - rows.count);
            }
            Action::Prune(..) => {}
        }
        Ok(())
    }
}

impl Rows {
    /// The columns that steps computed.
    pub(super) fn computed(&self) -> impl Iterator<Item = &ArrayRef> {
        self.slots.iter().skip(self.inputs).flatten()
    }

    /// Keeps the rows for which `mask` is true.
    fn keep(&mut self, mask: &BooleanArray) -> Result<()> {
        let mask = if mask.null_count() > 0 { &prep_null_mask_filter(mask) } else { mask };
        let kept = mask.true_count();
        if kept > 0 && kept < self.count {
            let filter = FilterBuilder::new(mask).optimize().build();
            for column in self.slots.iter_mut().flatten() {
                *column = filter.filter(column)?;
            }
        }
        self.count = kept;
        Ok(())
    }
}

impl Bound {
    /// The column, with NULL for the rows that a guard does not let pass. Each part of the
    /// guard is evaluated for the rows that those before it let pass.
    fn evaluate_for(&self, guard: &[(Bound, When)], rows: &Rows) -> Result<ArrayRef> {
        let mut numbers: Vec<u32> = (0..rows.count as u32).collect();
        let mut passed: Option<Rows> = None;
        for (at, (part, when)) in guard.iter().enumerate() {
            let value = part.evaluate(passed.as_ref().unwrap_or(rows))?;
            let value = as_boolean_array(&value)?;
            let keeps = |row: usize| match when {
                When::True => value.is_valid(row) && value.value(row),
                When::Not(this) => value.is_null(row) || value.value(row) != *this,
            };
            if (0..numbers.len()).all(keeps) {
                continue;
            }
            let kept: Vec<u32> = (0..numbers.len()).filter(|row| keeps(*row)).map(|row| row as u32).collect();
            numbers = kept.iter().map(|row| numbers[*row as usize]).collect();
            let kept = UInt32Array::from(kept);
            let later = || guard[at + 1..].iter().map(|(part, _)| part).chain([self]);
            let from = passed.as_ref().unwrap_or(rows);
            let mut slots = vec![None; from.slots.len()];
            for &slot in later().flat_map(|bound| &bound.slots) {
                if slots[slot].is_none() {
                    slots[slot] = from.slots[slot].as_ref().map(|column| take(column, &kept, None)).transpose()?;
                }
            }
            passed = Some(Rows { slots, inputs: rows.inputs, count: numbers.len() });
        }
        let Some(passed) = passed else { return self.evaluate(rows) };
        if numbers.is_empty() {
            return Ok(new_null_array(&self.expr.data_type(&self.schema)?, rows.count));
        }
        let mut places = vec![None; rows.count];
        (0..).zip(&numbers).for_each(|(place, row)| places[*row as usize] = Some(place));
        Ok(take(&self.evaluate(&passed)?, &UInt32Array::from(places), None)?)
    }

    fn evaluate(&self, rows: &Rows) -> Result<ArrayRef> {
        let column = |&slot: &usize| {
            rows.slots[slot]
                .clone()
                .ok_or_else(|| internal_datafusion_err!("slot {slot} is read before it is computed"))
        };
        if let ([slot], Some(_)) = (&self.slots[..], self.expr.downcast_ref::<Column>()) {
            return column(slot);
        }
        let columns = self.slots.iter().map(column).collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.count));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        self.expr.evaluate(&batch)?.into_array(rows.count)
    }

    /// The expression with the numbers of slots for computed columns.
    fn show(&self, inputs: usize) -> String {
        let renamed = Arc::clone(&self.expr).transform_up(|expr| match expr.downcast_ref::<Column>() {
            Some(column) => {
                let slot = self.slots[column.index()];
                let name = if slot < inputs { column.name() } else { "#" };
                Ok(Transformed::yes(Arc::new(Column::new(name, slot)) as Arc<dyn PhysicalExpr>))
            }
            None => Ok(Transformed::no(expr)),
        });
        // Columns of computed slots print as `#@12`.
        renamed.map(|expr| expr.data.to_string().replace("#@", "#")).unwrap_or_default()
    }
}

/// The rows for which something is evaluated: those that every part lets pass, in order.
type Guard = Vec<Part>;

/// A condition, and what must hold of it.
type Part = (Arc<dyn PhysicalExpr>, When);

/// Parts that a guard may have: what stands deeper is evaluated as a part of its expression.
const MOST_PARTS: usize = 8;

/// Nodes of a condition that guards evaluate again: a larger one gets a slot, since each term of a
/// long OR is guarded by all terms before it.
const MOST_NODES: usize = 32;

struct Builder<'a> {
    options: &'a ExuviaOptions,
    /// The fields of the slots.
    fields: Vec<FieldRef>,
    /// How often an expression is evaluated in any case, as far as it was counted.
    seen: HashMap<Arc<dyn PhysicalExpr>, usize>,
    /// The expressions that have a slot, for all rows or with the guard for which they have it.
    slots: HashMap<(Guard, Arc<dyn PhysicalExpr>), usize>,
    steps: Vec<Action>,
}

impl Builder<'_> {
    /// Adds a step for each of some conditions.
    fn conditions(&mut self, conditions: &[Arc<dyn PhysicalExpr>], step: impl Fn(Bound) -> Action) -> Result<()> {
        for condition in conditions {
            let lowered = self.lower(condition, true, &[])?;
            let bound = self.bind(lowered)?;
            self.steps.push(step(bound));
        }
        Ok(())
    }

    /// Counts the expressions that are evaluated whenever `expr` is.
    fn count(&mut self, expr: &Arc<dyn PhysicalExpr>) {
        if is_trivial(expr) {
            return;
        }
        if is_connective(expr) {
            // Not worth a slot, and a long tree of them is hashed again at each level.
            return self.count(expr.children()[0]);
        }
        let seen = self.seen.entry(Arc::clone(expr)).or_default();
        *seen += 1;
        if *seen > 1 {
            // Its parts will be evaluated once, with it.
            return;
        }
        let certain = certain_children(expr);
        for (child, certain) in expr.children().into_iter().zip(certain) {
            if certain {
                self.count(child);
            }
        }
    }

    /// The expression over slots. Where it is `certain` to be evaluated for the rows that
    /// `guard` lets pass, calls become steps, and what is shared if those are all.
    fn lower(&mut self, expr: &Arc<dyn PhysicalExpr>, certain: bool, guard: &[Part]) -> Result<Arc<dyn PhysicalExpr>> {
        let connective = is_connective(expr);
        if let Some(slot) = (!connective).then(|| self.slot_of(expr, guard)).flatten() {
            return Ok(self.column(slot));
        }
        if is_trivial(expr) {
            return Ok(Arc::clone(expr));
        }
        let certain_children = certain_children(expr);
        let mut children: Vec<Arc<dyn PhysicalExpr>> = vec![];
        for (child, certain_child) in expr.children().into_iter().zip(certain_children) {
            let own = if certain && !certain_child && calls_python(child) {
                self.guard_of(expr, &mut children, guard)?
            } else {
                None
            };
            let (certain_child, guard) = match &own {
                Some(own) => (true, own.as_slice()),
                None => (certain && certain_child, guard),
            };
            let lowered = self.lower(child, certain_child, guard)?;
            // What a loop cannot compute enters it as a column.
            let enters =
                certain_child && is_call(expr) && !looped::computes(&lowered, &Schema::new(self.fields.clone()));
            children.push(if enters { self.compute(child, lowered, guard)? } else { lowered });
        }
        let lowered = match expr.downcast_ref::<BinaryExpr>() {
            // What stands on the right may fail for the other rows.
            Some(binary) if connective && calls_python(expr.children()[1]) => {
                Arc::new(ShortCircuit::new(*binary.op(), children))
            }
            _ => Arc::clone(expr).with_new_children(children)?,
        };
        let shared = !connective && guard.is_empty() && self.seen.get(expr).is_some_and(|&seen| seen > 1);
        if !certain || !(is_call(expr) || shared) {
            return Ok(lowered);
        }
        self.compute(expr, lowered, guard)
    }

    /// The slot that an expression has for at least the rows that a guard lets pass.
    fn slot_of(&self, expr: &Arc<dyn PhysicalExpr>, guard: &[Part]) -> Option<usize> {
        let get = |guard: &[Part]| self.slots.get(&(guard.to_vec(), Arc::clone(expr))).copied();
        // The parts of a guard let fewer and fewer rows pass.
        (0..=guard.len()).find_map(|parts| get(&guard[..parts]))
    }

    /// For which rows the next child of an expression is evaluated, after those in `children`,
    /// where that can be said.
    fn guard_of(
        &mut self,
        expr: &Arc<dyn PhysicalExpr>,
        children: &mut [Arc<dyn PhysicalExpr>],
        guard: &[Part],
    ) -> Result<Option<Guard>> {
        let conditions: Vec<(usize, When)> = if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            vec![(0, When::Not(*binary.op() == Operator::Or))]
        } else if let Some(case) = expr.downcast_ref::<CaseExpr>()
            && case.expr().is_none()
        {
            // WHEN and THEN take turns, ELSE is last.
            let next = children.len();
            let is_then = next % 2 == 1 && next / 2 < case.when_then_expr().len();
            let earlier = (0..next / 2).map(|turn| (2 * turn, When::Not(true)));
            earlier.chain(is_then.then_some((next - 1, When::True))).collect()
        } else {
            return Ok(None);
        };
        if guard.len() + conditions.len() > MOST_PARTS
            || conditions.iter().any(|(child, _)| calls_python(&children[*child]))
        {
            return Ok(None);
        }
        let mut own = guard.to_vec();
        for (child, when) in conditions {
            // What a loop cannot decide enters it as a column; other conditions are evaluated
            // again with the expression, which costs less.
            let large = size(&children[child], None) > MOST_NODES;
            let decides = |bound: &Bound| looped::decides(bound, &self.fields, self.options);
            if large || !decides(&self.bind(Arc::clone(&children[child]))?) {
                let lowered = Arc::clone(&children[child]);
                children[child] = self.compute(&expr.children()[child].clone(), lowered, &own)?;
            }
            own.push((Arc::clone(&children[child]), when));
        }
        Ok(Some(own))
    }

    /// Makes a step that computes `lowered`, which is `expr` over slots.
    fn compute(
        &mut self,
        expr: &Arc<dyn PhysicalExpr>,
        lowered: Arc<dyn PhysicalExpr>,
        guard: &[Part],
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let slot = self.fields.len();
        let bound = self.bind(lowered)?;
        let mut field = bound.expr.return_field(&bound.schema)?;
        if !guard.is_empty() && !field.is_nullable() {
            field = Arc::new(field.as_ref().clone().with_nullable(true));
        }
        let parts = guard.iter().map(|(part, when)| Ok((self.bind(Arc::clone(part))?, *when)));
        let parts = parts.collect::<Result<_>>()?;
        self.fields.push(field);
        self.steps.push(Action::Compute(slot, bound, parts));
        self.slots.insert((guard.to_vec(), Arc::clone(expr)), slot);
        Ok(self.column(slot))
    }

    fn column(&self, slot: usize) -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(self.fields[slot].name(), slot))
    }

    /// The expression over slots as one over a batch of the slots that it reads.
    fn bind(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Bound> {
        let mut slots: Vec<usize> = vec![];
        let expr = expr.transform_up(|expr| match expr.downcast_ref::<Column>() {
            Some(column) => {
                let index = slots.iter().position(|&slot| slot == column.index()).unwrap_or_else(|| {
                    slots.push(column.index());
                    slots.len() - 1
                });
                Ok(Transformed::yes(Arc::new(Column::new(column.name(), index)) as Arc<dyn PhysicalExpr>))
            }
            None => Ok(Transformed::no(expr)),
        })?;
        let fields: Vec<FieldRef> = slots.iter().map(|&slot| Arc::clone(&self.fields[slot])).collect();
        Ok(Bound { expr: expr.data, slots, schema: Arc::new(Schema::new(fields)) })
    }
}

/// Whether an expression is AND or OR.
fn is_connective(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.downcast_ref::<BinaryExpr>().is_some_and(|binary| matches!(binary.op(), Operator::And | Operator::Or))
}

fn is_trivial(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.is::<Column>() || expr.is::<Literal>()
}

/// For each child of an expression whether it is evaluated whenever the expression is.
fn certain_children(expr: &Arc<dyn PhysicalExpr>) -> Vec<bool> {
    let children = expr.children().len();
    let first_only = expr.is::<CaseExpr>()
        || is_connective(expr)
        || expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| call.fun().short_circuits());
    (0..children).map(|index| index == 0 || !first_only).collect()
}
