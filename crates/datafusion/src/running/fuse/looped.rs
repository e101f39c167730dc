//! Consecutive steps of a program that can run as one native loop.
//!
//! The steps run one after the other, each over the whole batch, until they have taken as
//! long as it took to compile their functions; then they are compiled together, as
//! [`exuvia_engine::chain`] describes, and from then on the loop runs in their stead. A
//! session keeps its loops, so that a query that comes again has it from the first batch.
//! Rows that leave the loop, and batches that it cannot take, run step by step as before.
//!
//! A function whose calls are made once for equal arguments, or go to a device, stays out of the loop.
//! It runs after it, for the rows that are left; if a step needs its result, the loop begins
//! behind it.

use super::partition::Partition;
use super::program::{Action, Bound, Rows, Step};
use super::short_circuit::ShortCircuit;
use crate::running::function::{PythonFunction, blocking, native_off_the_runtime};
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, UInt32Array};
use datafusion::arrow::compute::{FilterBuilder, interleave, take};
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema, UInt32Type};
use datafusion::common::{HashMap, Result, ScalarValue, internal_datafusion_err, resources_err};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use exuvia_engine::chain::{Arithmetic, Batch, Chain, Comparison, Condition, Loop, LoopCell, Scalar, widens};
use exuvia_engine::{Function, Invocation, RunError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Values of an IN that a loop compares one by one.
const MOST_VALUES: usize = 16;

/// Rows that must have left a loop, and be most of its rows, before it is given up.
const MANY: u64 = 10_000;

/// Batches after which a loop is compiled although it is not known of a function whether its
/// calls are better made once for equal arguments: conditions may leave it too few rows.
const PATIENCE: u64 = 8;

/// Steps that can be one loop.
#[derive(Debug)]
pub(super) struct Looped {
    pub(super) steps: Vec<Step>,
    /// The fields of the program's slots.
    fields: Arc<Vec<FieldRef>>,
    /// The functions of the calls.
    functions: Vec<Arc<Function>>,
    options: ExuviaOptions,
    /// Whether the steps may get another order, so that nothing is compiled.
    waits: bool,
    /// Nanoseconds that the steps took one by one, and the batches that they ran on.
    spent: AtomicU64,
    batches: AtomicU64,
    /// Whether it was asked if the session has the loop.
    asked: AtomicBool,
    /// Whether somebody compiles the loop.
    claimed: AtomicBool,
    compiled: OnceLock<Option<Plan>>,
    /// Whether the loop is not to be used any more.
    given_up: AtomicBool,
    /// Whether a batch took longer than a worker can spare.
    slow: AtomicBool,
    /// Rows that the loop was given, and those of them that left it.
    rows: AtomicU64,
    exits: AtomicU64,
}

/// A loop and what surrounds it.
#[derive(Debug)]
struct Plan {
    cell: Arc<LoopCell>,
    chained: Chained,
}

/// Steps as a chain.
#[derive(Debug)]
struct Chained {
    chain: Chain,
    /// The slots that are its arguments.
    inputs: Vec<usize>,
    /// The slots that it computes and somebody reads later, and their numbers in the chain.
    outputs: Vec<(usize, usize)>,
    /// How many steps run before it, and the steps in it and after it by position.
    before: usize,
    within: Vec<usize>,
    after: Vec<usize>,
}

impl Looped {
    /// How many steps from the first one on can be one loop, and the functions that they call;
    /// `None` if that is not worth while.
    pub(super) fn length<'a>(
        steps: impl Iterator<Item = &'a Action>,
        fields: &[FieldRef],
        options: &ExuviaOptions,
    ) -> Option<(usize, Vec<Arc<Function>>)> {
        let mut builder = ChainBuilder::new(fields, options);
        let mut length = 0;
        for action in steps {
            if builder.add(action).is_none() {
                break;
            }
            length += 1;
        }
        worth_while(&builder.chain).then(|| (length, builder.chain.functions().cloned().collect()))
    }

    pub(super) fn new(
        steps: Vec<Step>,
        functions: Vec<Arc<Function>>,
        fields: Arc<Vec<FieldRef>>,
        options: ExuviaOptions,
        waits: bool,
    ) -> Looped {
        Looped {
            steps,
            fields,
            functions,
            options,
            waits,
            spent: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            claimed: AtomicBool::new(false),
            compiled: OnceLock::new(),
            given_up: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            rows: AtomicU64::new(0),
            exits: AtomicU64::new(0),
        }
    }

    /// Runs the steps.
    pub(super) fn run(&self, rows: &mut Rows, partition: &Partition) -> Result<()> {
        let nobody = rows.count == 0;
        let mut steps = self.steps.as_slice();
        if let Some(plan) = self.plan(partition)
            && let Some(Ok(code)) = plan.cell.get()
        {
            let before;
            (before, steps) = steps.split_at(plan.chained.before);
            for step in before {
                step.run(rows, partition)?;
                if rows.count == 0 && !nobody {
                    return Ok(());
                }
            }
            if self.run_loop(code, &plan.chained, rows, partition)? {
                return Ok(());
            }
        }
        let start = Instant::now();
        for step in steps {
            step.run(rows, partition)?;
            if rows.count == 0 && !nobody {
                break;
            }
        }
        self.spent.fetch_add(nanos(start.elapsed()), Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The loop, if there is one already or it is time to compile it.
    fn plan(&self, partition: &Partition) -> Option<&Plan> {
        if self.given_up.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(plan) = self.compiled.get() {
            return plan.as_ref();
        }
        let settings = &self.options.settings;
        let at_once = matches!(settings.fault.as_str(), "loops" | "guards");
        let price: u64 = self.functions.iter().map(|function| function.compile_nanos()).sum();
        let spent = self.spent.load(Ordering::Relaxed);
        // Within a loop nobody would find out.
        let settled = || self.functions.iter().all(|function| function.knows_whether_it_memoizes(settings));
        let due = at_once
            || (!self.waits && spent >= price && (settled() || self.batches.load(Ordering::Relaxed) >= PATIENCE));
        let outputs = |chained: &Chained| chained.outputs.iter().map(|(_, slot)| *slot).collect::<Vec<_>>();
        if !due {
            if self.asked.swap(true, Ordering::Relaxed) {
                return None;
            }
            let chained = self.chain()?;
            let cell = self.options.loops.get(&chained.chain, &outputs(&chained), settings, false)?;
            return self.compiled.get_or_init(|| Some(Plan { cell, chained })).as_ref();
        }
        // Whoever comes meanwhile goes on step by step.
        if self.claimed.swap(true, Ordering::Relaxed) {
            return None;
        }
        let timer = partition.compiling_loops.timer();
        let plan = self.chain().and_then(|chained| {
            let get = || self.options.loops.get(&chained.chain, &outputs(&chained), settings, true);
            Some(Plan { cell: blocking(get)?, chained })
        });
        timer.done();
        self.compiled.get_or_init(|| plan).as_ref()
    }

    /// The steps as a chain, but for functions whose calls are made once for equal arguments or go
    /// to a device; `None` where too few are left.
    fn chain(&self) -> Option<Chained> {
        let settings = &self.options.settings;
        let stays_out = |expr: &Arc<dyn PhysicalExpr>| {
            let python = call(expr).and_then(|call| PythonFunction::of(call.fun()));
            python.is_some_and(|python| {
                let function = python.function();
                (settings.memoize && function.memoizes()) || function.may_offload(settings)
            })
        };
        let spares = |step: &Step| matches!(&step.action, Action::Compute(_, bound, _) if stays_out(&bound.expr));
        let read = |step: &Step| match &step.action {
            Action::Compute(slot, ..) => self.steps.iter().any(|step| step.action.reads().any(|read| read == *slot)),
            Action::Filter(_) | Action::Prune(..) => false,
        };
        let before = self.steps.iter().rposition(|step| spares(step) && read(step)).map_or(0, |last| last + 1);
        let (after, within): (Vec<usize>, Vec<usize>) =
            (before..self.steps.len()).partition(|at| spares(&self.steps[*at]));
        let mut builder = ChainBuilder::new(&self.fields, &self.options);
        for at in &within {
            builder.add(&self.steps[*at].action)?;
        }
        if !worth_while(&builder.chain) {
            return None;
        }
        let later = |slot: &usize| {
            let dead = within.iter().any(|at| self.steps[*at].dead.contains(slot));
            !dead || after.iter().any(|at| self.steps[*at].action.reads().any(|read| read == *slot))
        };
        let mut outputs: Vec<(usize, usize)> =
            builder.computed.iter().filter(|(slot, _)| later(slot)).map(|(slot, number)| (*slot, *number)).collect();
        outputs.sort_unstable();
        Some(Chained { chain: builder.chain, inputs: builder.inputs, outputs, before, within, after })
    }

    /// Runs the loop; gives whether it could.
    fn run_loop(&self, code: &Loop, chained: &Chained, rows: &mut Rows, partition: &Partition) -> Result<bool> {
        let args: Option<Vec<ArrayRef>> = chained.inputs.iter().map(|slot| rows.slots[*slot].clone()).collect();
        let Some(args) = args else { return Ok(false) };
        let Some(batch) = self.call(code, &args, rows.count)? else { return Ok(false) };
        partition.loop_rows.add(rows.count);
        partition.loop_exits.add(batch.exits.len());
        let seen = self.rows.fetch_add(rows.count as u64, Ordering::Relaxed) + rows.count as u64;
        let left = self.exits.fetch_add(batch.exits.len() as u64, Ordering::Relaxed) + batch.exits.len() as u64;
        if left > MANY && left > seen / 2 {
            self.given_up.store(true, Ordering::Relaxed);
        }
        let dead = |at: &usize| self.steps[*at].dead.iter().copied();
        let read_after =
            |slot: &usize| chained.after.iter().any(|at| self.steps[*at].action.reads().any(|read| read == *slot));
        let redone =
            if batch.exits.is_empty() { None } else { Some(self.redo(chained, rows, &batch.exits, partition)?) };
        for slot in chained.within.iter().flat_map(dead).filter(|slot| !read_after(slot)) {
            rows.slots[slot] = None;
        }
        match redone {
            None => keep(chained, rows, batch)?,
            Some(redone) => merge(chained, rows, batch, &redone)?,
        }
        partition.reserve(rows)?;
        if rows.count == 0 {
            return Ok(true);
        }
        for at in &chained.after {
            self.steps[*at].action.run(rows, partition)?;
        }
        for slot in chained.within.iter().chain(&chained.after).flat_map(dead) {
            rows.slots[slot] = None;
        }
        Ok(true)
    }

    /// Calls the loop without keeping a worker of the async runtime from its other tasks for
    /// long; `None` where it has no results, an error where they are too large.
    fn call(&self, code: &Loop, args: &[ArrayRef], rows: usize) -> Result<Option<Batch>> {
        let settings = &self.options.settings;
        let invocation = self.options.invocation(None);
        let run = |invocation: &Invocation| {
            // A bug of ours must cost the loop and no more.
            catch_unwind(AssertUnwindSafe(|| code.run(args, rows, settings, invocation)))
                .map_err(|_| None)?
                .map_err(Some)
        };
        let stopped =
            |result: &std::result::Result<Batch, Option<RunError>>| matches!(result, Err(Some(RunError::Interrupted)));
        match native_off_the_runtime(&self.slow, &invocation, run, stopped) {
            Ok(batch) => Ok(Some(batch)),
            Err(Some(error @ RunError::OutputTooLarge)) => resources_err!("{error}"),
            Err(_) => {
                // The steps say what is wrong, or do it.
                self.given_up.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// Does the rows that left the loop step by step.
    fn redo(&self, chained: &Chained, rows: &Rows, exits: &[u32], partition: &Partition) -> Result<Redone> {
        let numbers = UInt32Array::from(exits.to_vec());
        let read = |slot| chained.within.iter().any(|at| self.steps[*at].action.reads().any(|read| read == slot));
        let mut slots = vec![];
        for (slot, column) in rows.slots.iter().enumerate() {
            let column = column.as_ref().filter(|_| read(slot));
            slots.push(column.map(|column| take(column, &numbers, None)).transpose()?);
        }
        // One slot more than the steps know, so that it loses the rows that they drop.
        slots.push(Some(Arc::new(numbers)));
        let mut redone = Rows { slots, inputs: rows.inputs, count: exits.len() };
        for at in &chained.within {
            self.steps[*at].action.run(&mut redone, partition)?;
            if redone.count == 0 {
                return Ok(Redone::default());
            }
        }
        let numbers = redone.slots.pop().flatten();
        let numbers = numbers.as_ref().and_then(|numbers| numbers.as_primitive_opt::<UInt32Type>());
        let numbers = numbers.ok_or_else(|| internal_datafusion_err!("rows have lost their numbers"))?;
        Ok(Redone { numbers: numbers.values().to_vec(), slots: redone.slots })
    }
}

/// Whether a loop gains anything: a call alone is one already, and DataFusion's comparisons
/// of its results are no slower.
fn worth_while(chain: &Chain) -> bool {
    chain.functions().count() > 1
}

/// Rows that left a loop and were not dropped.
#[derive(Default)]
struct Redone {
    numbers: Vec<u32>,
    slots: Vec<Option<ArrayRef>>,
}

/// Puts the results of a batch that the loop did alone into their slots.
fn keep(chained: &Chained, rows: &mut Rows, batch: Batch) -> Result<()> {
    if let Some(kept) = batch.kept
        && kept.len() < rows.count
    {
        let mut mask = BooleanBufferBuilder::new(rows.count);
        mask.append_n(rows.count, false);
        kept.iter().for_each(|row| mask.set_bit(*row as usize, true));
        let filter = FilterBuilder::new(&BooleanArray::new(mask.finish(), None)).optimize().build();
        rows.count = kept.len();
        if rows.count > 0 {
            for column in rows.slots.iter_mut().flatten() {
                *column = filter.filter(column)?;
            }
        }
    }
    for ((slot, _), column) in chained.outputs.iter().zip(batch.columns) {
        rows.slots[*slot] = Some(column);
    }
    Ok(())
}

/// Puts the results of a loop and of the rows that left it into their slots, in order.
fn merge(chained: &Chained, rows: &mut Rows, batch: Batch, redone: &Redone) -> Result<()> {
    let mut exits = batch.exits.iter().copied().peekable();
    let kept: Vec<(u32, usize)> = match batch.kept {
        Some(kept) => kept.into_iter().zip(0..).collect(),
        // All but those that left, each at its own place.
        None => {
            (0..rows.count).map(|row| (row as u32, row)).filter(|(row, _)| exits.next_if_eq(row).is_none()).collect()
        }
    };
    let mut numbers = Vec::with_capacity(kept.len() + redone.numbers.len());
    let mut places = Vec::with_capacity(numbers.capacity());
    let mut others = redone.numbers.iter().copied().zip(0..).peekable();
    for (row, place) in kept {
        while let Some((other, place)) = others.next_if(|(other, _)| *other < row) {
            numbers.push(other);
            places.push((1, place));
        }
        numbers.push(row);
        places.push((0, place));
    }
    for (other, place) in others {
        numbers.push(other);
        places.push((1, place));
    }
    if numbers.len() < rows.count {
        rows.count = numbers.len();
        let numbers = UInt32Array::from(numbers);
        for column in rows.slots.iter_mut().flatten() {
            *column = take(column, &numbers, None)?;
        }
    }
    for ((slot, _), column) in chained.outputs.iter().zip(batch.columns) {
        let merged = match redone.slots.get(*slot).and_then(Option::as_ref) {
            Some(other) => interleave(&[column.as_ref(), other.as_ref()], &places)?,
            // All that left were dropped.
            None => take(&column, &UInt32Array::from_iter_values(places.iter().map(|(_, at)| *at as u32)), None)?,
        };
        rows.slots[*slot] = Some(merged);
    }
    Ok(())
}

/// Writes steps down as a chain.
struct ChainBuilder<'a> {
    fields: &'a [FieldRef],
    options: &'a ExuviaOptions,
    chain: Chain,
    inputs: Vec<usize>,
    /// The numbers of slots in the chain.
    numbers: HashMap<usize, usize>,
    /// The slots that calls compute, with their numbers.
    computed: Vec<(usize, usize)>,
}

impl<'a> ChainBuilder<'a> {
    fn new(fields: &'a [FieldRef], options: &'a ExuviaOptions) -> ChainBuilder<'a> {
        ChainBuilder {
            fields,
            options,
            chain: Chain::default(),
            inputs: vec![],
            numbers: HashMap::new(),
            computed: vec![],
        }
    }

    /// Adds a step; `None` if a loop cannot do it.
    fn add(&mut self, action: &Action) -> Option<()> {
        let bound = action.bound();
        match action {
            Action::Compute(slot, _, guard) => {
                let call = call(&bound.expr)?;
                let function = PythonFunction::of(call.fun())?.shared();
                let args = call.args().iter().map(|arg| self.scalar(arg, bound)).collect::<Option<Vec<_>>>()?;
                let guard = guard.iter().map(|(part, when)| Some((self.condition(&part.expr, part)?, *when)));
                let guard = guard.collect::<Option<Vec<_>>>()?;
                let number = self.chain.call(function, &args, guard, &self.options.settings)?;
                self.numbers.insert(*slot, number);
                self.computed.push((*slot, number));
                Some(())
            }
            Action::Filter(_) => {
                let condition = self.condition(&bound.expr, bound)?;
                self.chain.filter(condition)
            }
            // What it is changes while the query runs.
            Action::Prune(..) => None,
        }
    }

    /// A value that needs no call.
    fn scalar(&mut self, expr: &Arc<dyn PhysicalExpr>, bound: &Bound) -> Option<Scalar> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            let slot = *bound.slots.get(column.index())?;
            if let Some(number) = self.numbers.get(&slot) {
                return Some(Scalar::Slot(*number));
            }
            let field = &self.fields[slot];
            let number = self.chain.input(field.data_type(), field.is_nullable())?;
            self.numbers.insert(slot, number);
            self.inputs.push(slot);
            return Some(Scalar::Slot(number));
        }
        if let Some(literal) = expr.downcast_ref::<Literal>() {
            return constant(literal.value());
        }
        if let Some(inner) = unchanged(expr, &bound.schema) {
            return self.scalar(inner, bound);
        }
        let (op, binary) = arithmetic(expr, &bound.schema)?;
        let (left, right) = (self.scalar(binary.left(), bound)?, self.scalar(binary.right(), bound)?);
        Some(Scalar::Arithmetic(op, Box::new(left), Box::new(right)))
    }

    fn condition(&mut self, expr: &Arc<dyn PhysicalExpr>, bound: &Bound) -> Option<Condition> {
        if let Some((op, [left, right])) = connective(expr) {
            let (left, right) = (self.condition(left, bound)?, self.condition(right, bound)?);
            let both = if op == Operator::And { Condition::And } else { Condition::Or };
            return Some(both(Box::new(left), Box::new(right)));
        }
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            let comparison = match binary.op() {
                Operator::Eq => Comparison::Eq,
                Operator::NotEq => Comparison::NotEq,
                Operator::Lt => Comparison::Lt,
                Operator::LtEq => Comparison::LtEq,
                Operator::Gt => Comparison::Gt,
                Operator::GtEq => Comparison::GtEq,
                _ => return None,
            };
            let (left, right) = (self.scalar(binary.left(), bound)?, self.scalar(binary.right(), bound)?);
            return Some(Condition::Compare(comparison, left, right));
        }
        if let Some(not) = expr.downcast_ref::<NotExpr>() {
            return Some(Condition::Not(Box::new(self.condition(not.arg(), bound)?)));
        }
        if let Some(null) = expr.downcast_ref::<IsNullExpr>() {
            return Some(Condition::IsNull(self.scalar(null.arg(), bound)?));
        }
        if let Some(null) = expr.downcast_ref::<IsNotNullExpr>() {
            return Some(Condition::Not(Box::new(Condition::IsNull(self.scalar(null.arg(), bound)?))));
        }
        if let Some(list) = expr.downcast_ref::<InListExpr>() {
            if list.list().len() > MOST_VALUES {
                return None;
            }
            let value = self.scalar(list.expr(), bound)?;
            let mut any: Option<Condition> = None;
            for item in list.list() {
                let equal = Condition::Compare(Comparison::Eq, value.clone(), self.scalar(item, bound)?);
                any = Some(match any {
                    Some(any) => Condition::Or(Box::new(any), Box::new(equal)),
                    None => equal,
                });
            }
            let any = any?;
            return Some(if list.negated() { Condition::Not(Box::new(any)) } else { any });
        }
        Some(Condition::Value(self.scalar(expr, bound)?))
    }
}

/// Whether a loop decides a condition over slots of those fields.
pub(super) fn decides(bound: &Bound, fields: &[FieldRef], options: &ExuviaOptions) -> bool {
    let mut builder = ChainBuilder::new(fields, options);
    let condition = builder.condition(&bound.expr, bound);
    condition.is_some_and(|condition| builder.chain.filter(condition).is_some())
}

/// Whether a loop computes a value of columns whose types `schema` says.
pub(super) fn computes(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        return constant(literal.value()).is_some();
    }
    if let Some(inner) = unchanged(expr, schema) {
        return computes(inner, schema);
    }
    match arithmetic(expr, schema) {
        Some((_, binary)) => computes(binary.left(), schema) && computes(binary.right(), schema),
        None => expr.is::<Column>(),
    }
}

/// What is cast to a type that holds all values of its own, so that each stays what it is.
pub(super) fn unchanged<'e>(expr: &'e Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<&'e Arc<dyn PhysicalExpr>> {
    let cast = expr.downcast_ref::<CastExpr>()?;
    let from = cast.expr().data_type(schema).ok()?;
    widens(&from, cast.cast_type()).then(|| cast.expr())
}

/// The sides of AND or OR, DataFusion's or [`ShortCircuit`].
fn connective(expr: &Arc<dyn PhysicalExpr>) -> Option<(Operator, [&Arc<dyn PhysicalExpr>; 2])> {
    if let Some(circuit) = expr.downcast_ref::<ShortCircuit>() {
        return Some((circuit.op(), circuit.sides()));
    }
    let binary = expr.downcast_ref::<BinaryExpr>()?;
    matches!(binary.op(), Operator::And | Operator::Or).then(|| (*binary.op(), [binary.left(), binary.right()]))
}

/// An operation on two BIGINTs.
fn arithmetic<'e>(expr: &'e Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<(Arithmetic, &'e BinaryExpr)> {
    let binary = expr.downcast_ref::<BinaryExpr>()?;
    let op = match binary.op() {
        Operator::Plus => Arithmetic::Add,
        Operator::Minus => Arithmetic::Sub,
        Operator::Multiply => Arithmetic::Mul,
        _ => return None,
    };
    let is_bigint = |side: &Arc<dyn PhysicalExpr>| side.data_type(schema).is_ok_and(|ty| ty == DataType::Int64);
    (is_bigint(binary.left()) && is_bigint(binary.right())).then_some((op, binary))
}

/// The call that an expression is.
pub(super) fn call(expr: &Arc<dyn PhysicalExpr>) -> Option<&ScalarFunctionExpr> {
    ScalarFunctionExpr::try_downcast_func::<PythonFunction>(expr.as_ref())
}

fn constant(value: &ScalarValue) -> Option<Scalar> {
    if value.is_null() {
        return Some(Scalar::Null(value.data_type()));
    }
    Some(match value {
        ScalarValue::Boolean(Some(value)) => Scalar::Bool(*value),
        ScalarValue::Int8(Some(value)) => Scalar::Int((*value).into()),
        ScalarValue::Int16(Some(value)) => Scalar::Int((*value).into()),
        ScalarValue::Int32(Some(value)) => Scalar::Int((*value).into()),
        ScalarValue::Int64(Some(value)) => Scalar::Int(*value),
        ScalarValue::UInt8(Some(value)) => Scalar::Int((*value).into()),
        ScalarValue::UInt16(Some(value)) => Scalar::Int((*value).into()),
        ScalarValue::UInt32(Some(value)) => Scalar::Int((*value).into()),
        ScalarValue::Float64(Some(value)) => Scalar::Float(value.to_bits()),
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            Scalar::Text(text.clone())
        }
        _ => return None,
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
