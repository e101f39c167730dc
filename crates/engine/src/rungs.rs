//! Running a batch, and the ways down: rows that leave native code are redone in the
//! evaluator, rows that leave the evaluator in CPython. No output is published before
//! every row has its result.

use crate::function::{Settings, compiled_of};
use crate::memoize;
use crate::observed::{Exits, Way};
use crate::offload::{Done, Offload};
use crate::pipeline::{Compiled, Stages};
use crate::spread::{self, Nulls, Results};
use crate::{CallError, CallErrorKind, Function, Invocation, OnError, python, sql};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::{interleave, take};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use exuvia_eval::Runner;
use exuvia_ir::{ExcKind, ListObj, Object, Raise, Span};
use exuvia_jit::RunError;
use exuvia_ops::cx::Cx;
use exuvia_ops::def::status;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Instructions that the evaluator may run for one row before CPython takes over, where
/// there is no deadline to stop it.
const FUEL: u64 = 200_000_000;

/// Those that it may run to find out why a row leaves for CPython.
const FUEL_TO_ASK: u64 = 2_000_000;

/// Rows in the evaluator between two looks at the clock.
const LOOKS: u64 = 8;

pub(crate) fn invoke(
    function: &Function,
    args: &[ArrayRef],
    rows: usize,
    settings: &Settings,
    invocation: &Invocation,
) -> Result<ArrayRef, CallError> {
    let mut ran = Ran::default();
    let values = Call { function, settings, invocation, batch: None }.memoized(args, rows, &mut ran)?;
    if is_over(invocation) {
        return Err(stopped(function, invocation));
    }
    // Counted when it ended: a caller may stop a batch and call it again elsewhere.
    let counters = &function.counters;
    for (counter, rows) in [
        (&counters.rows, rows),
        (&counters.memoized, ran.memoized),
        (&counters.evaluated, ran.evaluated),
        (&counters.python, ran.python),
        (&counters.offloaded, ran.offloaded),
    ] {
        counter.fetch_add(rows as u64, Ordering::Relaxed);
    }
    Ok(values)
}

/// Of how many rows of a batch the results come from elsewhere than native code.
#[derive(Debug, Default)]
struct Ran {
    /// From another row with equal arguments.
    memoized: usize,
    evaluated: usize,
    python: usize,
    /// On a device.
    offloaded: usize,
}

/// What the parts of a batch have in common.
#[derive(Clone, Copy)]
struct Call<'a> {
    function: &'a Function,
    settings: &'a Settings,
    invocation: &'a Invocation,
    /// The rows of the batch of which a device has left some, which are called again.
    batch: Option<usize>,
}

impl Call<'_> {
    /// Runs a batch, for equal arguments once where that pays.
    fn memoized(self, args: &[ArrayRef], rows: usize, ran: &mut Ran) -> Result<ArrayRef, CallError> {
        let Call { function, settings, .. } = self;
        let ([column], true) = (args, settings.memoize && function.is_pure(settings)) else {
            return self.run(args, rows, ran);
        };
        let start = Instant::now();
        let every = settings.fault == "memoize";
        let found = if every { memoize::distinct(column, rows) } else { function.history.look(column) };
        let Some(found) = found else {
            let values = self.run(args, rows, ran)?;
            function.history.ran(rows, start.elapsed());
            return Ok(values);
        };
        let values = self.of_rows(args, &found.rows, &found.of_row, ran)?;
        function.history.spared(rows, start.elapsed());
        ran.memoized = rows - found.rows.len();
        Ok(values)
    }

    /// Runs those rows of a batch; `of_row` says for each row which of them has its result.
    fn of_rows(
        self,
        args: &[ArrayRef],
        chosen: &UInt32Array,
        of_row: &UInt32Array,
        ran: &mut Ran,
    ) -> Result<ArrayRef, CallError> {
        let failed = |error: ArrowError| host(self.function, error);
        let parts = rows_of(args, chosen).map_err(failed)?;
        let results = self.run(&parts, chosen.len(), ran)?;
        take(&results, of_row, None).map_err(failed)
    }

    /// Runs a batch; of a strict function whose arguments or results are spread over columns the rows
    /// without NULL.
    fn run(self, args: &[ArrayRef], rows: usize, ran: &mut Ran) -> Result<ArrayRef, CallError> {
        let definition = &self.function.definition;
        let missing = if definition.strict && spread::is_spread(definition) {
            args.iter().fold(None, |all, arg| NullBuffer::union(all.as_ref(), arg.logical_nulls().as_ref()))
        } else {
            None
        };
        let Some(nulls) = missing.filter(|nulls| nulls.null_count() > 0) else {
            return self.run_all(args, rows, ran);
        };
        let present: UInt32Array = nulls.valid_indices().map(|row| row as u32).collect();
        let mut next = 0..;
        let of_row: UInt32Array = nulls.iter().map(|valid| if valid { next.next() } else { None }).collect();
        self.of_rows(args, &present, &of_row, ran)
    }

    fn run_all(self, args: &[ArrayRef], rows: usize, ran: &mut Ran) -> Result<ArrayRef, CallError> {
        let Call { function, settings, invocation, batch } = self;
        let watch = Watch::start(invocation);
        let taken = spread::taken(function, args);
        let nulls = Nulls::of(&function.definition, &taken);
        // What faults do is not to be mended.
        let way = if settings.fault.is_empty() { function.observed.way() } else { Way::Words };
        let mut in_python = || {
            ran.python = rows;
            function.python(settings)?.call(function, args, rows, settings, invocation)
        };
        if way == Way::Python && function.python(settings).is_ok() {
            return in_python();
        }
        let wide = (way != Way::Words).then(|| function.variant(nulls, true, settings));
        // What cannot be compiled with 128 bits goes on with 64.
        let wide = wide.filter(|cell| compiled_of(cell).is_some_and(|compiled| compiled.reason().is_none()));
        let cell = wide.unwrap_or_else(|| function.variant(nulls, settings.fault == "wide", settings));
        let stages = compiled_of(&cell).and_then(|compiled| compiled.stages.as_ref().ok());
        let Some(stages) = stages else {
            // Placement speaks of arguments that may be NULL; what of these, which may not?
            if let Some(reason) = compiled_of(&cell).and_then(Compiled::reason) {
                let why = || (reason.message.clone(), function.place(reason.span));
                function.counters.left.lock().get_or_insert_with(why);
            }
            return in_python();
        };
        let mut cx = Cx::new(settings.row_memory, false, Arc::clone(&watch.flag));
        let columns = spread::columns(&taken, nulls);
        if way == Way::Words
            && stages.kernel.is_ok()
            && let Some(done) = stages.offloaded.run(stages.printable(), &columns, rows, settings, &watch.flag)
        {
            return self.after_device(args, done, ran);
        }
        let (values, left) = match &stages.kernel {
            Ok(kernel) => {
                let start = Instant::now();
                let output = kernel.run_loop(&columns, rows, &mut cx);
                stages.offloaded.note_native(settings, rows, start.elapsed());
                let output = output.map_err(|error| failed(function, invocation, error))?;
                (Results::of(&function.definition.returns, output.values), output.exits)
            }
            Err(_) => {
                let Some(values) = Results::new(&function.definition.returns, rows) else { return in_python() };
                (values, (0..rows).map(|row| (row as u32, status::BAILOUT)).collect())
            }
        };
        let left_with = |status| left.iter().filter(|(_, code)| *code == status).count();
        let exits = Exits {
            rows: batch.unwrap_or(rows),
            bailed: left_with(status::BAILOUT),
            left: left_with(status::LEAVE),
            missed: left_with(status::ROW_MEMORY),
        };
        let ready = || function.is_ready_for_python(settings);
        let observes = stages.kernel.is_ok() && settings.fault.is_empty();
        if observes && function.observed.note(way, exits, ready) {
            return self.run_all(args, rows, ran);
        }
        if left.is_empty() {
            return values.finish().map_err(|error| failed(function, invocation, error));
        }
        let flag = Arc::clone(&watch.flag);
        let (python, why) = (Vec::new(), None);
        let mut batch = Batch { function, args, columns, invocation, settings, flag, values, python, why };
        ran.evaluated = match batch.evaluate(stages, &left) {
            Ok(evaluated) => evaluated,
            Err(error) => return Err(batch.first_error(error)),
        };
        ran.python = batch.python.len();
        batch.finish()
    }

    /// Does the rows again that a device left.
    fn after_device(self, args: &[ArrayRef], done: Done, ran: &mut Ran) -> Result<ArrayRef, CallError> {
        let Done { values, left } = done;
        ran.offloaded += values.len() - left.len();
        if left.is_empty() {
            return Ok(values);
        }
        let failed = |error: ArrowError| host(self.function, error);
        let settings = Settings { offload: Offload::Off, ..self.settings.clone() };
        let rows = UInt32Array::from(left.clone());
        let args = rows_of(args, &rows).map_err(failed)?;
        let redone = Call { settings: &settings, batch: Some(values.len()), ..self }.run_all(&args, left.len(), ran)?;
        with_rows(&values, &redone, &left).map_err(failed)
    }
}

/// A batch whose last rows are being filled in.
struct Batch<'a> {
    function: &'a Function,
    args: &'a [ArrayRef],
    /// What the arguments are spread over.
    columns: Vec<ArrayRef>,
    invocation: &'a Invocation,
    settings: &'a Settings,
    /// What loops poll.
    flag: Arc<AtomicBool>,
    values: Results,
    /// Rows that only CPython can finish.
    python: Vec<u32>,
    /// Why the first of them left.
    why: Option<&'static str>,
}

impl Batch<'_> {
    /// Redoes rows in the evaluator; gives how many it finished. When that has taken long, only
    /// those that raised, for their messages, and the others in CPython, which is faster; so are
    /// those that need more memory than a row may have or reach a place that only CPython goes on
    /// from, which the evaluator would find out again.
    fn evaluate(&mut self, stages: &Stages, left: &[(u32, u64)]) -> Result<usize, CallError> {
        let mut cx = Cx::new(self.settings.row_memory, true, Arc::clone(&self.flag));
        ListObj::count_anew();
        let (mut evaluated, mut finished) = (0, 0);
        let mut runner = stages.program.runner();
        let start = Instant::now();
        let mut to_python = false;
        // One row of a batch is asked at most.
        let mut knows_why = self.function.counters.left.lock().is_some();
        let is_nested = spread::is_nested(&self.function.definition);
        let is_spread = spread::is_spread(&self.function.definition);
        let mut may_tire = true;
        for &(row, code) in left {
            if self.flag.load(Ordering::Relaxed) || code == status::INTERRUPTED {
                return Err(stopped(self.function, self.invocation));
            }
            let on_null = self.function.definition.on_error == OnError::Null;
            let kind = u32::try_from(code).ok().and_then(ExcKind::from_code);
            // With NULL for errors nobody looks at the message.
            if on_null && kind.is_some_and(ExcKind::becomes_null) {
                continue;
            }
            if may_tire && evaluated % LOOKS == 0 {
                // Before the first row the thread may have waited for its turn.
                let now = if evaluated == 0 { Duration::ZERO } else { start.elapsed() };
                if self.function.counters.tire_of_evaluator(now) {
                    may_tire = false;
                    to_python = self.function.python(self.settings).is_ok();
                }
            }
            let prefers_python = match code {
                status::BAILOUT => to_python,
                status::ROW_MEMORY | status::LEAVE => to_python || self.function.python(self.settings).is_ok(),
                _ => false,
            };
            if prefers_python {
                if !knows_why && code != status::BAILOUT {
                    knows_why = true;
                    self.ask_why(row, code, &mut runner, &mut cx);
                }
                self.python.push(row);
                continue;
            }
            let Some(objects) = self.objects(row) else {
                self.python.push(row);
                continue;
            };
            if self.function.definition.strict && !is_spread && objects.contains(&Object::None) {
                continue;
            }
            evaluated += 1;
            cx.reset();
            let mut fuel = FUEL;
            match runner.call(&objects, &mut cx, &mut fuel) {
                Ok(object) => match self.values.set(row as usize, &object) {
                    Ok(()) => finished += 1,
                    // CPython shows the value as a whole.
                    Err(_) if is_nested => {
                        self.why.get_or_insert("a result that the declared type cannot hold");
                        self.python.push(row);
                    }
                    Err(_) => return Err(self.misfit(row, &object)),
                },
                Err(failure) => match failure.raise {
                    Raise::Bailout(why) => {
                        self.why.get_or_insert(why);
                        self.note_left(&Raise::Bailout(why), Some(failure.span));
                        self.python.push(row);
                    }
                    Raise::Interrupted => return Err(stopped(self.function, self.invocation)),
                    Raise::Result(message) => return Err(self.error(row, CallErrorKind::Result(message))),
                    Raise::Exception { kind, args } => {
                        if on_null && kind.becomes_null() {
                            finished += 1;
                            continue;
                        }
                        let message = exuvia_ops::show::message(kind, &args);
                        let kind = CallErrorKind::Python { class: kind.name().to_string(), message };
                        let error = self.error(row, kind);
                        return Err(CallError { place: self.function.place(failure.span), ..error });
                    }
                },
            }
        }
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.function.counters.evaluating.fetch_add(nanos, Ordering::Relaxed);
        Ok(finished)
    }

    /// The arguments of a row.
    fn objects(&self, row: u32) -> Option<Vec<Object>> {
        self.columns.iter().map(|arg| sql::object(arg, row as usize)).collect()
    }

    /// Finds out why a row that left with that status is CPython's: the evaluator says.
    fn ask_why(&self, row: u32, code: u64, runner: &mut Runner<'_>, cx: &mut Cx) {
        if code == status::ROW_MEMORY {
            return self.note_left(&Raise::ROW_MEMORY, None);
        }
        let Some(objects) = self.objects(row) else { return };
        cx.reset();
        let mut fuel = FUEL_TO_ASK;
        if let Err(failure) = runner.call(&objects, cx, &mut fuel) {
            self.note_left(&failure.raise, Some(failure.span));
        }
    }

    /// Notes why a row leaves for CPython, if that of none is known.
    fn note_left(&self, raise: &Raise, span: Option<Span>) {
        let Raise::Bailout(why) = raise else { return };
        let place = || span.and_then(|span| self.function.place(span));
        self.function.counters.left.lock().get_or_insert_with(|| (why.to_string(), place()));
    }

    fn error(&self, row: u32, kind: CallErrorKind) -> CallError {
        CallError { arguments: python::arguments(self.function, self.args, row as usize), ..self.function.failed(kind) }
    }

    /// A result of the right class outside of the declared type's range.
    fn misfit(&self, row: u32, object: &Object) -> CallError {
        let returns = sql::type_name(&self.function.definition.returns);
        let shown = exuvia_ops::show::of_result(object);
        let message = exuvia_ir::result_error(&shown, object.ty().python_name(), &returns, None);
        self.error(row, CallErrorKind::Result(message))
    }

    /// The error of the first row that has one, where a row raised behind those that are left for
    /// CPython.
    fn first_error(&self, error: CallError) -> CallError {
        if self.python.is_empty() || is_over(self.invocation) {
            return error;
        }
        self.in_python().err().unwrap_or(error)
    }

    /// What CPython gives for the rows that are left for it.
    fn in_python(&self) -> Result<ArrayRef, CallError> {
        let arrow = |error: ArrowError| host(self.function, error);
        let rung = self.function.python(self.settings).map_err(|error| CallError {
            kind: match (error.kind, self.why) {
                (CallErrorKind::NoInterpreter(message), Some(why)) => {
                    CallErrorKind::NoInterpreter(format!("{message}: {why}"))
                }
                (kind, _) => kind,
            },
            arguments: python::arguments(self.function, self.args, self.python[0] as usize),
            ..error
        })?;
        let rows = UInt32Array::from(self.python.clone());
        let args = rows_of(self.args, &rows).map_err(arrow)?;
        let called = rung.call(self.function, &args, self.python.len(), self.settings, self.invocation);
        // What goes wrong with a column names its rows by their numbers.
        match &called {
            Err(error) if self.function.routine.is_some() && !is_over(self.invocation) => {
                let whole = rung.call(self.function, self.args, self.values.rows(), self.settings, self.invocation);
                Err(whole.err().unwrap_or_else(|| error.clone()))
            }
            _ => called,
        }
    }

    /// Redoes what is left in CPython and puts the batch together.
    fn finish(self) -> Result<ArrayRef, CallError> {
        let redone = if self.python.is_empty() { None } else { Some(self.in_python()?) };
        let Batch { function, invocation, python, values, .. } = self;
        let native = values.finish().map_err(|error| failed(function, invocation, error))?;
        let Some(redone) = redone else { return Ok(native) };
        with_rows(&native, &redone, &python).map_err(|error| host(function, error))
    }
}

/// Why a batch has no results.
pub(crate) fn failed(function: &Function, invocation: &Invocation, error: RunError) -> CallError {
    match error {
        RunError::Interrupted => stopped(function, invocation),
        RunError::OutputTooLarge => function.failed(CallErrorKind::TooLarge),
        other => host(function, other),
    }
}

/// An error that is neither the function's nor the query's.
fn host(function: &Function, error: impl std::fmt::Display) -> CallError {
    function.failed(CallErrorKind::Host(error.to_string()))
}

/// Those rows of each argument.
fn rows_of(args: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>, ArrowError> {
    args.iter().map(|arg| take(arg, rows, None)).collect()
}

/// The values, with others for some rows.
fn with_rows(values: &ArrayRef, others: &ArrayRef, rows: &[u32]) -> Result<ArrayRef, ArrowError> {
    let others = cast_to(others, values.data_type())?;
    let mut indices: Vec<(usize, usize)> = (0..values.len()).map(|row| (0, row)).collect();
    for (at, row) in rows.iter().enumerate() {
        indices[*row as usize] = (1, at);
    }
    interleave(&[values.as_ref(), others.as_ref()], &indices)
}

/// The same values in another layout of the type.
fn cast_to(array: &ArrayRef, ty: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == ty { Ok(Arc::clone(array)) } else { arrow::compute::cast(array, ty) }
}

/// Whether a call must have ended: then its result comes too late.
pub(crate) fn is_over(invocation: &Invocation) -> bool {
    invocation.cancelled.load(Ordering::Relaxed)
        || invocation.deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Why a call was stopped.
pub(crate) fn stopped(function: &Function, invocation: &Invocation) -> CallError {
    let over = invocation.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    function.failed(if over { CallErrorKind::TimedOut } else { CallErrorKind::Cancelled })
}

/// The flag that loops poll during a call. Where the call has a deadline it is one of the
/// call's own, which a thread sets when the time is over or the query is cancelled.
pub(crate) struct Watch {
    pub flag: Arc<AtomicBool>,
    /// Ends the thread when dropped.
    _end: Option<mpsc::Sender<()>>,
}

impl Watch {
    /// How often the thread looks whether the query was cancelled.
    const PERIOD: Duration = Duration::from_millis(5);

    pub fn start(invocation: &Invocation) -> Watch {
        let Some(deadline) = invocation.deadline else {
            return Watch { flag: Arc::clone(&invocation.cancelled), _end: None };
        };
        let flag = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel::<()>();
        let (set, cancelled) = (Arc::clone(&flag), Arc::clone(&invocation.cancelled));
        let watch = move || loop {
            let left = deadline.saturating_duration_since(Instant::now()).min(Watch::PERIOD);
            if receiver.recv_timeout(left) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            if cancelled.load(Ordering::Relaxed) || Instant::now() >= deadline {
                set.store(true, Ordering::Relaxed);
                return;
            }
        };
        let spawned = std::thread::Builder::new().name("exuvia-deadline".to_string()).spawn(watch);
        Watch { flag, _end: spawned.ok().map(|_| sender) }
    }
}
