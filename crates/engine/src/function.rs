//! A function that can be called on batches.

use crate::defined::DefinedIn;
use crate::formula::{self, Formula};
use crate::interpreter::{Interpreter, MODULE_TIME, ModuleLimits, OwnProcess, PrintSink, PythonMemory};
use crate::memoize::History;
use crate::observed::Observed;
use crate::offload::{Offload, Offloading};
use crate::pipeline::{self, Compiled, Reason};
use crate::python::PythonRung;
use crate::routine::Routine;
use crate::spread::Nulls;
use crate::{
    CallError, DefineError, Definition, NotNative, OnError, Place, Volatility, place, rungs, stack, total, volatility,
};
use arrow::array::ArrayRef;
use exuvia_lift::Source;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The settings under which a function is defined and called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether CPython may be used at all in this session.
    pub interpreter: bool,
    /// The process in which CPython runs, if it does not in this one.
    pub worker: Option<OwnProcess>,
    /// Whether functions are compiled to native code (off: evaluator, for tests).
    pub native: bool,
    /// Whether the optimiser runs (off: for tests).
    pub optimize: bool,
    /// Whether functions are lifted at all (off: everything runs in CPython).
    pub lift: bool,
    /// Whether equal arguments of a batch may be called once.
    pub memoize: bool,
    /// Whether what NumPy computes to a bound only, which depends on the processor, is left to it.
    pub exact: bool,
    /// Whether whole batches may run on an OpenCL device.
    pub offload: Offload,
    /// A part of the name of that device; empty for any.
    pub device: String,
    /// Bytes that the temporaries of one row may take.
    pub row_memory: usize,
    /// How many threads a call over a whole column may take: as many as the query has partitions.
    pub threads: usize,
    /// Take every guard, fail every compilation, call equal arguments of every batch once, or
    /// compile loops for the first batch, to test the ways: `"guards"` (with such loops),
    /// `"compile"`, `"memoize"`, `"loops"`, `"calls"`, `"wide"` (ints of 128 bits), `"turns"` (loops give back the
    /// memory of each turn) or empty.
    pub fault: String,
    /// The memory that Python may take.
    pub python_memory: PythonMemory,
    /// Where functions that run in CPython print.
    pub print: PrintSink,
    /// The time that running a module may take.
    pub module_time: Duration,
    /// What cancels that.
    pub stop: Stop,
}

/// A flag that is set when nobody waits any more; equal only to itself.
#[derive(Clone, Debug, Default)]
pub struct Stop(pub Arc<AtomicBool>);

impl PartialEq for Stop {
    fn eq(&self, other: &Stop) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stop {}

impl Settings {
    /// Whether functions are lifted, optimised and compiled to native code.
    #[must_use]
    pub fn compiles(&self) -> bool {
        self.lift && self.native && self.optimize
    }

    /// What ends the running of a module.
    pub(crate) fn module_limits(&self) -> ModuleLimits<'_> {
        ModuleLimits { stop: Some(&self.stop.0), time: self.module_time, memory: self.python_memory }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            interpreter: true,
            worker: None,
            native: true,
            optimize: true,
            lift: true,
            memoize: true,
            exact: false,
            offload: Offload::Auto,
            device: String::new(),
            row_memory: 256 << 20,
            threads: 1,
            fault: String::new(),
            python_memory: PythonMemory::Auto,
            print: PrintSink::STDOUT,
            module_time: MODULE_TIME,
            stop: Stop::default(),
        }
    }
}

/// The circumstances of one call.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Set when the query is cancelled.
    pub cancelled: Arc<AtomicBool>,
    /// When the call must have ended.
    pub deadline: Option<Instant>,
    /// Whether it ends, as if the query was cancelled, before it would run in CPython: what is
    /// begun there is not to be begun again.
    pub without_python: bool,
}

/// Where calls of a function run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Compiled to a native loop over the batch.
    Native,
    /// In the boxed evaluator.
    Evaluator,
    /// In CPython.
    Python,
}

/// What is known of how a function runs: taken from what was compiled and run.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The rung of the call.
    pub rung: Rung,
    /// Why not native: a stable code of `docs/bailouts.md` and a sentence.
    pub reason: Option<(String, String)>,
    /// Where the reason lies.
    pub place: Option<Place>,
    /// Rows called so far.
    pub rows: u64,
    /// Rows that have the result of an equal row of their batch.
    pub memoized_rows: u64,
    /// Rows that left native code for the evaluator.
    pub evaluated_rows: u64,
    /// Rows that ran in CPython.
    pub python_rows: u64,
    /// Why one of these left native code, and where.
    pub left: Option<(String, Option<Place>)>,
    /// Rows that ran on an OpenCL device.
    pub offloaded_rows: u64,
    /// What is known of how it fares there; nothing where it does not run natively.
    pub offloading: Option<Offloading>,
    /// Nanoseconds of lifting, optimising and compiling.
    pub compile_nanos: u64,
}

/// The work of compiling a function, by its stages; zero for those that were not reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Steps of the lifter, over all attempts.
    pub steps: u64,
    /// Instructions of the lifted functions.
    pub lifted: usize,
    /// Instructions after optimisation.
    pub optimized: usize,
    /// Instructions given to the code generator.
    pub instructions: usize,
}

/// The time that a function's rows may take in the evaluator, which is some times slower than
/// CPython, before CPython does them: about as long as it takes to start, if it has not yet.
const PATIENCE: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(100)];

/// What was counted over all calls.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub rows: AtomicU64,
    pub memoized: AtomicU64,
    pub evaluated: AtomicU64,
    pub python: AtomicU64,
    pub offloaded: AtomicU64,
    /// Nanoseconds in the evaluator.
    pub evaluating: AtomicU64,
    pub compile_nanos: AtomicU64,
    /// Why a row left for CPython, and where: the first of which that is known.
    pub left: Mutex<Option<(String, Option<Place>)>>,
}

impl Counters {
    /// Whether CPython is to do rows that leave native code, after so much time in the
    /// evaluator now and all that before.
    pub(crate) fn tire_of_evaluator(&self, now: Duration) -> bool {
        let before = Duration::from_nanos(self.evaluating.load(Ordering::Relaxed));
        before + now > PATIENCE[usize::from(Interpreter::started().is_none())]
    }
}

/// What one compilation depends on besides the definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Variant {
    nulls: Nulls,
    /// Whether all ints have 128 bits that may need them.
    wide: bool,
    native: bool,
    optimize: bool,
    lift: bool,
    exact: bool,
    fault: String,
}

impl Variant {
    fn of(nulls: Nulls, wide: bool, settings: &Settings) -> Variant {
        Variant {
            nulls,
            wide,
            native: settings.native,
            optimize: settings.optimize,
            lift: settings.lift,
            exact: settings.exact,
            fault: settings.fault.clone(),
        }
    }
}

/// A defined function. Shared by all threads of a session.
#[derive(Debug)]
pub struct Function {
    pub(crate) definition: Definition,
    pub(crate) source: Source,
    pub(crate) counters: Counters,
    pub(crate) history: History,
    pub(crate) observed: Observed,
    /// Compiled variants; concurrent first calls of one wait for one compilation.
    compiled: Mutex<HashMap<Variant, Arc<OnceLock<Compiled>>>>,
    python: DefinedIn<PythonRung>,
    /// The column function that does in CPython what this does to each row.
    pub(crate) routine: Option<Arc<Routine>>,
    volatility: Volatility,
}

/// What is said where a call can only run in CPython.
pub(crate) const NO_INTERPRETER: &str = "this call needs CPython, which is off for this function or session";

impl Function {
    pub(crate) fn new(definition: Definition, source: Source, routine: Option<Arc<Routine>>) -> Function {
        Function {
            volatility: definition.volatility.unwrap_or(Volatility::Immutable),
            definition,
            source,
            counters: Counters::default(),
            history: History::default(),
            observed: Observed::default(),
            compiled: Mutex::new(HashMap::new()),
            python: DefinedIn::default(),
            routine,
        }
    }

    /// Checks and prepares a function.
    ///
    /// # Errors
    /// What is wrong with the body, with its place. In a session without an interpreter
    /// also what cannot be lifted.
    pub fn define(definition: Definition, settings: &Settings) -> Result<Function, DefineError> {
        let names: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let resolve = || Source::resolve(&definition.source, &definition.name, definition.handler.as_deref(), &names);
        let source = stack::on_large_stack(resolve).map_err(|error| DefineError {
            function: definition.name.clone(),
            message: error.message,
            place: error.span.and_then(|span| place::of_span(&definition.source, span, definition.first_line)),
        })?;
        if let Some(error) = source.more_than_row() {
            return Err(DefineError {
                function: definition.name.clone(),
                message: error.message,
                place: error.span.and_then(|span| place::of_span(&definition.source, span, definition.first_line)),
            });
        }
        let mut function = Function::new(definition, source, None);
        let compiled = function.compiled(true, settings);
        let compiled = compiled_of(&compiled);
        let lifted = compiled.is_some_and(|compiled| compiled.stages.is_ok());
        if !lifted && !function.may_interpret(settings) {
            let reason = compiled.and_then(Compiled::reason).cloned();
            let (message, span) = match reason {
                Some(reason) => (
                    format!("it cannot be lifted ({} {}) and CPython is off", reason.code, reason.message),
                    Some(reason.span),
                ),
                None => ("it cannot be lifted and CPython is off".to_string(), None),
            };
            return Err(DefineError {
                function: function.definition.name.clone(),
                message,
                place: span.and_then(|span| function.place(span)),
            });
        }
        // CPython's own verdict on a module that was not run here comes now, not at the
        // first row, where there is a CPython.
        let unchecked =
            compiled.is_none_or(|compiled| compiled.stages.as_ref().map_or(true, |stages| stages.unchecked));
        if unchecked
            && function.may_interpret(settings)
            && let Err(error) = function.python(settings)
            && let crate::CallErrorKind::Python { class, message } = &error.kind
        {
            return Err(crate::error::of_module(&function.definition.name, class, message, error.place.clone()));
        }
        let inferred = if lifted { Volatility::Immutable } else { volatility::infer(&function.source) };
        function.volatility = match (inferred, function.definition.volatility) {
            // State across rows makes it volatile whatever is declared.
            (Volatility::Volatile, Some(Volatility::Immutable) | None) => Volatility::Volatile,
            (_, Some(declared)) => declared,
            (inferred, None) => inferred,
        };
        Ok(function)
    }

    /// The row function that a column function is, if each value of its result depends on its own row
    /// only and native code can say how. CPython runs what leaves it as columns of those rows.
    ///
    /// # Errors
    /// Why it is none.
    pub fn of_columns(routine: &Arc<Routine>, settings: &Settings) -> Result<Function, NotNative> {
        Function::new(routine.row_definition()?, routine.source().clone(), Some(Arc::clone(routine))).natively(settings)
    }

    /// Itself, if native code can run it: whatever is switched off in the session, which may change.
    pub(crate) fn natively(self, settings: &Settings) -> Result<Function, NotNative> {
        let settings = Settings { lift: true, native: true, optimize: true, fault: String::new(), ..settings.clone() };
        match compiled_of(&self.compiled(true, &settings)).and_then(Compiled::reason) {
            Some(Reason { code, message, span }) => {
                Err(NotNative { code: code.clone(), message: message.clone(), place: self.place(*span) })
            }
            None => Ok(self),
        }
    }

    /// What was declared.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// What the definition's text is.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The declared volatility, or what was inferred.
    #[must_use]
    pub fn volatility(&self) -> Volatility {
        self.volatility
    }

    /// Whether equal arguments have equal results and nobody sees how often it is called:
    /// it is lifted, or declared so.
    pub(crate) fn is_pure(&self, settings: &Settings) -> bool {
        let lifted = || compiled_of(&self.compiled(true, settings)).is_some_and(|compiled| compiled.stages.is_ok());
        self.volatility == Volatility::Immutable
            && (self.definition.volatility == Some(Volatility::Immutable) || lifted())
    }

    /// Whether expressions of SQL see its arguments and its result as the IR does.
    fn means_the_same_in_sql(&self) -> bool {
        let definition = &self.definition;
        let mut types = definition.params.iter().map(|param| &param.ty).chain([&definition.returns]);
        // NULL is NaN in columns of floats, which an expression would not make of it.
        definition.columns.is_empty()
            && types.all(|ty| crate::sql::class(ty).is_some_and(|class| class.means_the_same_in_sql()))
    }

    /// The function as one expression, where it has that form. The parameters of the
    /// expression can be NULL if `nullable` says so and the function is not strict.
    #[must_use]
    pub fn formula(&self, nullable: bool, settings: &Settings) -> Option<Formula> {
        if !self.means_the_same_in_sql() {
            return None;
        }
        let cell = self.compiled(nullable, settings);
        let stages = compiled_of(&cell)?.stages.as_ref().ok()?;
        formula::of(&stages.optimized, self.definition.on_error == OnError::Null, false)
    }

    /// The function as an expression with parts that are unknown, if it is lifted. The
    /// parameters can be NULL if the function is not strict.
    #[must_use]
    pub fn partial_formula(&self, settings: &Settings) -> Option<Formula> {
        if !self.means_the_same_in_sql() {
            return None;
        }
        let cell = self.compiled(true, settings);
        let stages = compiled_of(&cell)?.stages.as_ref().ok()?;
        formula::of(&stages.optimized, self.definition.on_error == OnError::Null, true)
    }

    /// Whether a call gives a value for whatever arguments, in bounded time and without
    /// CPython: then it does not matter for which rows it is evaluated.
    #[must_use]
    pub fn is_total(&self, settings: &Settings) -> bool {
        let cell = self.compiled(true, settings);
        let Some(stages) = compiled_of(&cell).and_then(|compiled| compiled.stages.as_ref().ok()) else { return false };
        stages.kernel.is_ok() && total::is_total(&stages.optimized, &self.definition)
    }

    /// Whether CPython may run it.
    pub(crate) fn may_interpret(&self, settings: &Settings) -> bool {
        settings.interpreter && self.definition.interpreter == crate::Interpreter::Auto
    }

    pub(crate) fn place(&self, span: exuvia_ir::Span) -> Option<Place> {
        place::of_span(&self.source.text, span, self.definition.first_line)
    }

    /// The function compiled for arguments that can be NULL or not.
    pub(crate) fn compiled(&self, nullable: bool, settings: &Settings) -> Arc<OnceLock<Compiled>> {
        self.variant(Nulls::anywhere(&self.definition, nullable), settings.fault == "wide", settings)
    }

    /// The function compiled for arguments that can be NULL somewhere, with ints of 128 bits if they are
    /// to be `wide`.
    pub(crate) fn variant(&self, nulls: Nulls, wide: bool, settings: &Settings) -> Arc<OnceLock<Compiled>> {
        let cell = Arc::clone(self.compiled.lock().entry(Variant::of(nulls, wide, settings)).or_default());
        cell.get_or_init(|| {
            let compile =
                || stack::on_large_stack(|| pipeline::compile(&self.definition, &self.source, nulls, wide, settings));
            // A bug of ours must cost native code and no more.
            let compiled = catch_unwind(AssertUnwindSafe(compile)).unwrap_or_else(|_| Compiled::failed());
            self.counters.compile_nanos.fetch_add(compiled.nanos, Ordering::Relaxed);
            compiled
        });
        cell
    }

    /// The function in CPython, defined there at its first use.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn python(&self, settings: &Settings) -> Result<Arc<PythonRung>, CallError> {
        if !self.may_interpret(settings) {
            return Err(self.failed(crate::CallErrorKind::NoInterpreter(NO_INTERPRETER.to_string())));
        }
        self.python.get(settings, || PythonRung::define(self, settings))
    }

    /// Whether CPython is there for whole batches: it runs, or the evaluator has taken as long as it
    /// takes to start.
    pub(crate) fn is_ready_for_python(&self, settings: &Settings) -> bool {
        let due = Interpreter::started().is_some() || self.counters.tire_of_evaluator(Duration::ZERO);
        due && self.python(settings).is_ok()
    }

    pub(crate) fn failed(&self, kind: crate::CallErrorKind) -> CallError {
        CallError { function: self.definition.name.clone(), kind, place: None, arguments: Vec::new() }
    }

    /// Where calls run, as compiled for and observed so far. Compiles for nullable
    /// arguments of the declared types if nothing was compiled yet.
    #[must_use]
    pub fn placement(&self, settings: &Settings) -> Placement {
        let cell = self.compiled(true, settings);
        let compiled = compiled_of(&cell);
        let reason = compiled.and_then(Compiled::reason);
        let rung = match compiled.map(|compiled| &compiled.stages) {
            Some(Ok(stages)) if stages.kernel.is_ok() => Rung::Native,
            Some(Ok(_)) => Rung::Evaluator,
            Some(Err(_)) | None => Rung::Python,
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Placement {
            rung,
            reason: reason.map(|reason| (reason.code.clone(), reason.message.clone())),
            place: reason.and_then(|reason| self.place(reason.span)),
            rows: count(&self.counters.rows),
            memoized_rows: count(&self.counters.memoized),
            evaluated_rows: count(&self.counters.evaluated),
            python_rows: count(&self.counters.python),
            left: self.counters.left.lock().clone(),
            offloaded_rows: count(&self.counters.offloaded),
            offloading: self.offloading(compiled, settings),
            compile_nanos: count(&self.counters.compile_nanos),
        }
    }

    /// Whether batches without NULL run natively where those with one do not.
    #[must_use]
    pub fn is_native_without_null(&self, settings: &Settings) -> bool {
        let is_native = |nullable| {
            let cell = self.compiled(nullable, settings);
            compiled_of(&cell).is_some_and(|compiled| compiled.reason().is_none())
        };
        !is_native(true) && is_native(false)
    }

    fn offloading(&self, compiled: Option<&Compiled>, settings: &Settings) -> Option<Offloading> {
        let nullable = compiled?.stages.as_ref().ok().filter(|stages| stages.kernel.is_ok())?;
        // Batches without NULLs have another variant, if there were any.
        let nulls = Nulls::anywhere(&self.definition, false);
        let plain = self.compiled.lock().get(&Variant::of(nulls, settings.fault == "wide", settings)).cloned();
        let plain = plain.as_ref().and_then(|cell| compiled_of(cell)?.stages.as_ref().ok());
        let mut states = plain.into_iter().chain([nullable]).map(|it| it.offloaded.state(it.printable(), settings));
        if !self.observed.is_usual() && settings.offload != Offload::Off {
            return Some(match states.next()? {
                no_device @ Offloading::NoDevice(_) => no_device,
                _ => Offloading::Declined("most rows need ints of more than 64 bits, or CPython".to_string()),
            });
        }
        let first = states.next()?;
        Some(match first {
            Offloading::On { .. } => first,
            first => states.find(|state| matches!(state, Offloading::On { .. })).unwrap_or(first),
        })
    }

    /// Whether its batches are to be called one by one, because they run on a device or may soon.
    #[must_use]
    pub fn may_offload(&self, settings: &Settings) -> bool {
        let cells: Vec<_> = self.compiled.lock().values().cloned().collect();
        cells.iter().any(|cell| {
            let stages = compiled_of(cell).and_then(|compiled| compiled.stages.as_ref().ok());
            stages.is_some_and(|stages| stages.offloaded.may_run(stages.printable(), settings))
        })
    }

    /// The work of making it, in units that do not depend on the machine.
    #[must_use]
    pub fn work(&self, settings: &Settings) -> Work {
        let cell = self.compiled(true, settings);
        let Some(stages) = compiled_of(&cell).and_then(|compiled| compiled.stages.as_ref().ok()) else {
            return Work::default();
        };
        Work {
            steps: stages.steps,
            lifted: stages.lifted.size(),
            optimized: stages.optimized.size(),
            instructions: stages.kernel.as_ref().map_or(0, exuvia_jit::Kernel::instructions),
        }
    }

    /// Calls the function on `rows` rows. The arguments have the declared types (or the
    /// same logical type in another Arrow layout) and that length.
    ///
    /// # Errors
    /// What happened to the first failing row that was found.
    pub fn invoke(
        &self,
        args: &[ArrayRef],
        rows: usize,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<ArrayRef, CallError> {
        rungs::invoke(self, args, rows, settings, invocation)
    }

    /// The text of a stage: `source`, `snapshot`, `lifted`, `optimized`, `lowered`,
    /// `machine`, or `helpers`, the helper calls of a row.
    ///
    /// # Errors
    /// Why the function has no such stage.
    pub fn dump(&self, stage: &str, settings: &Settings) -> Result<String, String> {
        match stage {
            "source" => return Ok(self.source.text.to_string()),
            "snapshot" => return Ok(format!("{:#?}\n", self.source.module)),
            _ => {}
        }
        match compiled_of(&self.compiled(true, settings)) {
            Some(compiled) => compiled.dump(stage),
            None => Err("not compiled".to_string()),
        }
    }
}

/// What a cell holds once [`Function::compiled`] returned it.
pub(crate) fn compiled_of(cell: &OnceLock<Compiled>) -> Option<&Compiled> {
    cell.get()
}
