//! Calls of several functions and the conditions between them, as one native loop.
//!
//! A [`Chain`] says what is to be done for a row: calls, whose arguments are columns of the
//! input, constants or results of earlier calls, and conditions of SQL that a row must meet
//! to go on. [`Chain::compile`] writes that down as one function of the IR, into which the
//! optimiser then puts the functions that it calls. So what several of them compute is
//! computed once, a result that only a condition looks at is never stored, and a row that a
//! condition drops costs nothing more.
//!
//! Law: a row has the results that the calls would give one after the other, each for the
//! rows that are left; a row for which the loop cannot say so exits, and the caller does it
//! again, call by call. Errors are not this module's: a row that raises exits.

mod build;

use crate::function::{Function, Invocation, Settings, compiled_of};
use crate::rungs::{self, Watch};
use crate::{OnError, sql};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::DataType;
use exuvia_jit::{Kernel, Options, RunError};
use exuvia_lift::SqlClass;
use exuvia_ops::cx::Cx;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// Instructions from which on a loop is compiled at a lower level: it runs long, so that it
/// may take longer than one function.
const FAST_COMPILE_FROM: usize = 6000;

/// An expression for a row that needs no call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A column of the input, or the result of a call, by number.
    Slot(usize),
    /// NULL of a type.
    Null(DataType),
    /// A constant of an integer type.
    Int(i64),
    /// A constant float, by its bits.
    Float(u64),
    /// A constant truth value.
    Bool(bool),
    /// A constant text.
    Text(String),
    /// Arithmetic of BIGINT; a row whose result has more than 64 bits exits.
    Arithmetic(Arithmetic, Box<Scalar>, Box<Scalar>),
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
}

/// A comparison of two numbers or texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
}

/// A condition, which is true, false or NULL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// A truth value.
    Value(Scalar),
    /// Whether it is NULL.
    IsNull(Scalar),
    /// A comparison; NULL if a side is. Both are integers, or both are texts. A float is
    /// compared with a constant that is neither zero nor NaN.
    Compare(Comparison, Scalar, Scalar),
    /// The opposite.
    Not(Box<Condition>),
    /// Both, from left to right.
    And(Box<Condition>, Box<Condition>),
    /// One or both, from left to right.
    Or(Box<Condition>, Box<Condition>),
}

/// What must hold for a call to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// The condition is true.
    True,
    /// The condition is not this: it is the other, or NULL.
    Not(bool),
}

/// For which rows a call is made: those for which all of it holds, from left to right.
pub type Guard = Vec<(Condition, When)>;

/// A function, equal only to itself.
#[derive(Clone, Debug)]
struct Shared(Arc<Function>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// A function, its arguments, the slot of its result, and for which rows it is called; the
    /// others get NULL. An empty guard means all.
    Call(Shared, Vec<Scalar>, usize, Guard),
    Filter(Condition),
}

/// What a slot holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Slot {
    ty: DataType,
    nullable: bool,
    /// Whether a call gave it.
    computed: bool,
}

/// Calls and conditions for each row of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chain {
    slots: Vec<Slot>,
    steps: Vec<Step>,
    /// The instructions of the functions that are called, for each call.
    size: usize,
}

impl Chain {
    /// Instructions that a chain may have: the optimiser's time grows faster than they do.
    const LARGE: usize = 8000;

    /// Calls that may be made for some rows only: what drops a row also says which of them
    /// were made for it.
    const MOST_GUARDED: usize = 4;

    /// Adds a column of the input. Gives its number, or `None` for a type that loops do not
    /// take. A loop's arguments are its inputs in this order.
    pub fn input(&mut self, ty: &DataType, nullable: bool) -> Option<usize> {
        sql::scalar(ty)?;
        Some(self.slot(ty, nullable, false))
    }

    fn slot(&mut self, ty: &DataType, nullable: bool, computed: bool) -> usize {
        self.slots.push(Slot { ty: ty.clone(), nullable, computed });
        self.slots.len() - 1
    }

    /// Adds a call for the rows that `guard` lets pass; gives the number of its result, or
    /// `None` if a loop cannot make it: the function is not native or has a time limit of its own,
    /// an argument would need a conversion, or the loop would become too large.
    pub fn call(
        &mut self,
        function: &Arc<Function>,
        args: &[Scalar],
        guard: Guard,
        settings: &Settings,
    ) -> Option<usize> {
        let is_guard = guard.iter().all(|(condition, _)| self.is_condition(condition));
        if !is_guard || (!guard.is_empty() && self.guarded() == Chain::MOST_GUARDED) {
            return None;
        }
        let definition = &function.definition;
        let fits = args.len() == definition.params.len()
            && sql::scalar(&definition.returns).is_some()
            && args.iter().zip(&definition.params).all(|(arg, param)| self.is_of(arg, &param.ty));
        let cell = function.compiled(true, settings);
        let stages = compiled_of(&cell)?.stages.as_ref().ok().filter(|stages| stages.kernel.is_ok())?;
        let size = self.size + stages.optimized.size();
        if !fits || definition.timeout.is_some() || size > Chain::LARGE {
            return None;
        }
        self.size = size;
        let slot = self.slot(&definition.returns, true, true);
        self.steps.push(Step::Call(Shared(Arc::clone(function)), args.to_vec(), slot, guard));
        Some(slot)
    }

    /// How many calls are made for some rows only.
    fn guarded(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Call(_, _, _, guard) if !guard.is_empty())).count()
    }

    /// Adds a condition that rows must meet to go on; `None` if it is none of a loop.
    pub fn filter(&mut self, condition: Condition) -> Option<()> {
        self.is_condition(&condition).then(|| self.steps.push(Step::Filter(condition)))
    }

    /// The functions that are called, in order.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Call(function, ..) => Some(&function.0),
            Step::Filter(_) => None,
        })
    }

    /// How many conditions there are.
    #[must_use]
    pub fn filters(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Filter(_))).count()
    }

    /// The type of a value of the chain; `None` where it has none that is known here.
    fn type_of(&self, scalar: &Scalar) -> Option<DataType> {
        Some(match scalar {
            Scalar::Slot(slot) => self.slots.get(*slot)?.ty.clone(),
            Scalar::Null(ty) => ty.clone(),
            Scalar::Int(_) | Scalar::Arithmetic(..) => DataType::Int64,
            Scalar::Float(_) => DataType::Float64,
            Scalar::Bool(_) => DataType::Boolean,
            Scalar::Text(_) => DataType::Utf8,
        })
    }

    /// Whether a value can be handed over as an argument of type `ty` as it is.
    fn is_of(&self, scalar: &Scalar, ty: &DataType) -> bool {
        let Some(own) = self.type_of(scalar) else { return false };
        let Some(class) = sql::scalar(ty) else { return false };
        match scalar {
            Scalar::Int(value) => {
                let fits = sql::range(ty).contains(value) && (*ty != DataType::UInt64 || *value >= 0);
                class == SqlClass::Int && fits
            }
            // What is stored as a REAL is another number than what was computed.
            Scalar::Slot(slot) if self.slots[*slot].computed && own == DataType::Float32 => false,
            Scalar::Arithmetic(..) => *ty == DataType::Int64 && self.is_number(scalar),
            _ => own == *ty || widens(&own, ty),
        }
    }

    /// Whether a value is an integer that a loop can compute.
    fn is_number(&self, scalar: &Scalar) -> bool {
        match scalar {
            Scalar::Arithmetic(_, a, b) => {
                let is_bigint = |side: &Scalar| self.type_of(side) == Some(DataType::Int64) && self.is_number(side);
                is_bigint(a) && is_bigint(b)
            }
            other => self.class(other) == Some(SqlClass::Int),
        }
    }

    fn class(&self, scalar: &Scalar) -> Option<SqlClass> {
        sql::scalar(&self.type_of(scalar)?)
    }

    fn is_condition(&self, condition: &Condition) -> bool {
        let known = |scalar: &Scalar| match scalar {
            Scalar::Arithmetic(..) => self.is_number(scalar),
            other => self.class(other).is_some(),
        };
        match condition {
            Condition::Value(value) => self.class(value) == Some(SqlClass::Bool),
            Condition::IsNull(value) => known(value),
            Condition::Compare(_, a, b) => match (self.class(a), self.class(b)) {
                (Some(SqlClass::Float), Some(SqlClass::Float)) => {
                    // SQL orders NaN and the zeros; what a call gives has one NaN.
                    let is_computed = |side: &Scalar| match side {
                        Scalar::Slot(slot) => self.slots[*slot].computed && self.slots[*slot].ty == DataType::Float64,
                        _ => false,
                    };
                    let is_plain = |side: &Scalar| match side {
                        Scalar::Float(bits) => f64::from_bits(*bits) != 0.0 && !f64::from_bits(*bits).is_nan(),
                        _ => false,
                    };
                    (is_computed(a) && is_plain(b)) || (is_plain(a) && is_computed(b))
                }
                (Some(SqlClass::Int), Some(SqlClass::Int)) => known(a) && known(b),
                (a, b) => a == Some(SqlClass::Str) && a == b,
            },
            Condition::Not(inner) => self.is_condition(inner),
            Condition::And(a, b) | Condition::Or(a, b) => self.is_condition(a) && self.is_condition(b),
        }
    }

    /// Compiles the loop whose results are the slots `outputs`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn compile(&self, outputs: &[usize], settings: &Settings) -> Result<Loop, String> {
        crate::stack::on_large_stack(|| self.compile_here(outputs, settings))
    }

    fn compile_here(&self, outputs: &[usize], settings: &Settings) -> Result<Loop, String> {
        let (module, width) = build::module(self, outputs, settings)?;
        let inputs: Vec<DataType> =
            self.slots.iter().filter(|slot| !slot.computed).map(|slot| slot.ty.clone()).collect();
        let guarded = self.guarded();
        let mut results: Vec<DataType> = outputs.iter().map(|slot| self.slots[*slot].ty.clone()).collect();
        results.extend(std::iter::repeat_n(DataType::Boolean, guarded));
        let options = Options {
            opt_level_speed: module.size() < FAST_COMPILE_FROM,
            fail_guards: settings.fault == "guards",
            each_turn: settings.fault == "turns",
            strict: false,
            whole: false,
            width,
        };
        let reasons = u32::try_from(self.filters() << guarded).map_err(|_| "too many conditions".to_string())?;
        let placed = if settings.optimize { exuvia_opt::with_places(&module) } else { None };
        let native = placed.as_ref().unwrap_or(&module);
        let kernel = Kernel::compile_loop(native, &inputs, &results, reasons, &options).map_err(|e| e.to_string())?;
        let mut reached = Vec::new();
        let (mut conditions, mut flags) = (0, 0..);
        for step in &self.steps {
            match step {
                Step::Call(function, _, _, guard) => {
                    let flag = if guard.is_empty() { None } else { flags.next() };
                    reached.push(Reached { function: Arc::clone(&function.0), conditions, flag });
                }
                Step::Filter(_) => conditions += 1,
            }
        }
        Ok(Loop { kernel, module: module.to_string(), reached, guarded })
    }
}

/// Whether every value of one type is the same in the other, so that a cast changes none:
/// both are texts, or the other holds all integers of the one.
#[must_use]
pub fn widens(from: &DataType, to: &DataType) -> bool {
    let width = |ty: &DataType| ty.primitive_width().unwrap_or(0);
    match (sql::scalar(from), sql::scalar(to)) {
        (Some(SqlClass::Str), Some(SqlClass::Str)) => true,
        (Some(SqlClass::Int), Some(SqlClass::Int)) => {
            from.is_signed_integer() && to.is_signed_integer() && width(from) <= width(to)
                || from.is_unsigned_integer() && width(from) < width(to)
        }
        _ => false,
    }
}

/// A chain as native code.
#[derive(Debug)]
pub struct Loop {
    kernel: Kernel,
    /// The IR as text.
    module: String,
    /// The calls in order.
    reached: Vec<Reached>,
    /// How many of them are made for some rows only.
    guarded: usize,
}

/// A call in a loop.
#[derive(Debug)]
struct Reached {
    function: Arc<Function>,
    /// How many conditions stand before it.
    conditions: usize,
    /// Its number among the calls that are made for some rows only.
    flag: Option<usize>,
}

/// What a loop gives for a batch.
#[derive(Debug)]
pub struct Batch {
    /// The results: of the rows that were kept, if there are conditions, else of all rows,
    /// where those that left are NULL.
    pub columns: Vec<ArrayRef>,
    /// The rows that were kept, in order; `None` if there are no conditions.
    pub kept: Option<Vec<u32>>,
    /// The rows that left, in order: the caller does them again.
    pub exits: Vec<u32>,
}

impl Loop {
    /// Runs `rows` rows.
    ///
    /// # Errors
    /// Why there are no results, among it that the query was cancelled.
    pub fn run(
        &self,
        args: &[ArrayRef],
        rows: usize,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<Batch, RunError> {
        let watch = Watch::start(invocation);
        let mut cx = Cx::new(settings.row_memory, false, Arc::clone(&watch.flag));
        let batch = self.kernel.run_loop(args, rows, &mut cx)?;
        if rungs::is_over(invocation) {
            return Err(RunError::Interrupted);
        }
        let columns = batch.values.into_iter().map(exuvia_jit::Partial::finish);
        let mut columns = columns.collect::<Result<Vec<_>, _>>()?;
        let flags = columns.split_off(columns.len() - self.guarded);
        let stayed = (rows - batch.exits.len()) as u64;
        for Reached { function, conditions, flag } in &self.reached {
            let called = match flag {
                None => {
                    let dropped: u64 = batch.dropped.iter().take(conditions << self.guarded).sum();
                    stayed.saturating_sub(dropped)
                }
                // Of the rows that were dropped and of those that were kept.
                Some(flag) => {
                    let with_flag = batch.dropped.iter().enumerate().filter(|(reason, _)| reason >> flag & 1 == 1);
                    let dropped: u64 = with_flag.map(|(_, rows)| *rows).sum();
                    dropped + flags[*flag].as_boolean().true_count() as u64
                }
            };
            function.counters.rows.fetch_add(called, Ordering::Relaxed);
        }
        let exits = batch.exits.into_iter().map(|(row, _)| row).collect();
        Ok(Batch { columns, kept: batch.kept, exits })
    }

    /// A stage of the loop as text: `optimized`, `lowered`, `machine` or `helpers`.
    #[must_use]
    pub fn dump(&self, stage: &str) -> Option<String> {
        match stage {
            "optimized" => Some(self.module.clone()),
            other => self.kernel.dump(other),
        }
    }
}

/// A loop once it was compiled, or why it could not be.
pub type LoopCell = OnceLock<Result<Loop, String>>;

/// The loops of a session. Concurrent first uses of one wait for one compilation.
#[derive(Debug, Default)]
pub struct Loops {
    compiled: Mutex<HashMap<Key, Arc<LoopCell>>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    chain: Chain,
    outputs: Vec<usize>,
    fault: String,
    optimize: bool,
}

impl Loops {
    /// Loops that are kept; more are rarely in use, and each takes some memory.
    const MOST: usize = 64;

    /// The loop of a chain, compiled if it is not yet and `may_compile` says so.
    pub fn get(
        &self,
        chain: &Chain,
        outputs: &[usize],
        settings: &Settings,
        may_compile: bool,
    ) -> Option<Arc<LoopCell>> {
        let key = Key {
            chain: chain.clone(),
            outputs: outputs.to_vec(),
            fault: settings.fault.clone(),
            optimize: settings.optimize,
        };
        let cell = {
            let mut compiled = self.compiled.lock();
            match compiled.get(&key) {
                Some(cell) => Arc::clone(cell),
                None if !may_compile => return None,
                None => {
                    if compiled.len() >= Loops::MOST {
                        compiled.clear();
                    }
                    Arc::clone(compiled.entry(key).or_default())
                }
            }
        };
        if !may_compile {
            // Somebody may be compiling it; nobody waits for that here.
            return cell.get().is_some().then_some(cell);
        }
        cell.get_or_init(|| {
            // A bug of ours must cost the loop and no more.
            catch_unwind(AssertUnwindSafe(|| chain.compile(outputs, settings)))
                .unwrap_or_else(|_| Err("internal error".to_string()))
        });
        Some(cell)
    }
}

impl Loops {
    /// A stage of every loop, as [`Loop::dump`] gives it, with the names of the functions.
    #[must_use]
    pub fn dump(&self, stage: &str) -> Vec<String> {
        let cells: Vec<_> = self.compiled.lock().values().cloned().collect();
        let loops = cells.iter().filter_map(|cell| cell.get()?.as_ref().ok());
        let mut texts: Vec<String> = loops
            .filter_map(|code| {
                let names: Vec<&str> = code.reached.iter().map(|call| call.function.definition.name.as_str()).collect();
                Some(format!("; {}\n{}", names.join(", "), code.dump(stage)?))
            })
            .collect();
        texts.sort();
        texts
    }
}

impl Function {
    /// Whether calls are made once for equal arguments, which a loop over rows cannot do.
    #[must_use]
    pub fn memoizes(&self) -> bool {
        self.history.pays()
    }

    /// Whether it was found out, as far as it can be, whether that pays.
    #[must_use]
    pub fn knows_whether_it_memoizes(&self, settings: &Settings) -> bool {
        let text = |ty: &DataType| sql::scalar(ty) == Some(SqlClass::Str);
        let may = settings.memoize && matches!(&self.definition.params[..], [param] if text(&param.ty));
        !may || self.history.has_looked()
    }

    /// Nanoseconds that lifting and compiling it took so far.
    #[must_use]
    pub fn compile_nanos(&self) -> u64 {
        self.counters.compile_nanos.load(Ordering::Relaxed)
    }

    fn becomes_null(&self) -> bool {
        self.definition.on_error == OnError::Null
    }
}
