//! CPython for the functions that nothing else can run.
//!
//! The engine does not link to Python. When a function first needs it, [`Interpreter::get`]
//! looks for a Python on the machine and starts it; everything else works without. The
//! code that talks to Python stands in a library of its own, `exuvia_cpython`, which
//! cargo writes beside the executables of every package that depends on the crate of
//! that name, and which is opened at run time.
//!
//! Python runs inside this process if it comes as a shared library, else as a process of
//! its own; callers see no difference but speed. `discover` finds it, `library` and
//! `worker` are the two ways to it.
//!
//! Environment variables: `EXUVIA_PYTHON` names the Python to use, else the virtual
//! environment in `VIRTUAL_ENV` serves, else `python3.11` or `python3` on the path;
//! `EXUVIA_CPYTHON_LIBRARY` names the library. Without the feature `python` there is no
//! interpreter, and [`Interpreter::get`] says so.

#[cfg(feature = "python")]
mod discover;
#[cfg(feature = "python")]
mod library;
mod print;
#[cfg(feature = "python")]
mod worker;

pub use print::PrintSink;

use crate::Settings;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Fields};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
#[cfg(feature = "python")]
use {
    arrow::datatypes::Field,
    exuvia_ir::interpreter::{form, key},
    std::sync::OnceLock,
};

/// The time that running a function's module may take if nothing shorter is said: enough to
/// import large packages.
pub(crate) const MODULE_TIME: Duration = Duration::from_secs(60);

/// The level whose semantics the engine follows.
const LEVEL: (u32, u32) = (3, 11);

/// The Python of this process.
#[derive(Debug)]
pub struct Interpreter {
    version: (u32, u32, u32),
    #[cfg(feature = "python")]
    host: Host,
}

/// Where Python runs.
#[cfg(feature = "python")]
#[derive(Debug)]
enum Host {
    /// In this process.
    Library(library::Library),
    /// In one of its own.
    Worker(Arc<worker::Worker>),
}

/// A function to be defined.
#[derive(Clone, Debug)]
pub struct PyDefinition<'a> {
    /// Its name in SQL.
    pub name: &'a str,
    /// A module; a bare body stands in a `def` here.
    pub source: &'a str,
    /// The name of the callable in it.
    pub handler: &'a str,
    /// The number that errors give to the module's first line. It is one less than that
    /// of the body's first line where a line with a `def` was put before a bare body.
    pub first_line: u32,
    /// Whether NULL in any argument gives NULL without a call.
    pub strict: bool,
    /// How the handler is called.
    pub calling: Calling<'a>,
    /// The parameters' names, which errors show; as many as types.
    pub param_names: &'a [&'a str],
    /// The parameters' types.
    pub params: &'a [DataType],
    /// The declared type of the result.
    pub returns: &'a DataType,
    /// Where the module prints while it runs.
    pub print: &'a PrintSink,
}

/// What ends the running of a module.
#[derive(Clone, Copy, Debug)]
pub struct ModuleLimits<'a> {
    /// Set when nobody waits for it any more.
    pub stop: Option<&'a AtomicBool>,
    /// The time that it may take.
    pub time: Duration,
    /// The memory that Python may take.
    pub memory: PythonMemory,
}

impl Default for ModuleLimits<'_> {
    fn default() -> Self {
        ModuleLimits { stop: None, time: MODULE_TIME, memory: PythonMemory::Auto }
    }
}

/// The bytes that all of Python's objects in its process may take together while a request
/// runs; beyond them Python raises MemoryError. Buffers that extension modules allocate past
/// Python, as NumPy and Arrow do, do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PythonMemory {
    /// Three quarters of the machine's memory, or of the process's control group.
    #[default]
    Auto,
    /// As much as there is.
    Unlimited,
    /// So many.
    Bytes(u64),
}

#[cfg(feature = "python")]
impl PythonMemory {
    /// As [`exuvia_ir::interpreter::Limits`] takes it.
    fn bytes(self) -> u64 {
        match self {
            PythonMemory::Auto => 0,
            PythonMemory::Unlimited => u64::MAX,
            PythonMemory::Bytes(bytes) => bytes.max(1),
        }
    }
}

/// How a handler is called; by default with the values of a row, for a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calling<'a> {
    /// With what.
    pub form: Form,
    /// For each parameter whether it is a table; empty where none is.
    pub tables: &'a [bool],
    /// Whether the items of a result of rows are the values of its one column.
    pub single_values: bool,
    /// The fitted models that the module finds as its globals: names and paths.
    pub models: &'a [(String, String)],
    /// What ends the running of its module.
    pub limits: ModuleLimits<'a>,
}

/// With what a handler is called. See [`exuvia_ir::interpreter::form`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The values of a row, for a value.
    #[default]
    Row,
    /// The values of a group as lists, for a value.
    Values,
    /// Whole columns, for a column.
    Columns,
    /// An iterator over columns, for an iterator over columns.
    Iterator,
    /// Whole tables and scalars, for a table.
    Table,
    /// The values of a row, for any number of rows.
    Rows,
    /// Commands to the states of groups.
    States,
}

#[cfg(feature = "python")]
impl Form {
    fn number(self) -> u32 {
        match self {
            Form::Row => form::ROW,
            Form::Values => form::VALUES,
            Form::Columns => form::COLUMNS,
            Form::Iterator => form::ITERATOR,
            Form::Table => form::TABLE,
            Form::Rows => form::ROWS,
            Form::States => form::STATES,
        }
    }
}

#[cfg(feature = "python")]
impl Calling<'_> {
    fn models_text(&self) -> String {
        self.models.iter().map(|(name, path)| format!("{name}={path}\n")).collect()
    }
}

#[cfg(feature = "python")]
impl PyDefinition<'_> {
    /// The parameters and, last, the result.
    fn fields(&self) -> Vec<Field> {
        let marked = |field: Field, mark: bool, key: &str| match mark {
            true => field.with_metadata([(key.to_string(), String::new())].into()),
            false => field,
        };
        let named = self.param_names.iter().zip(self.params).enumerate();
        let mut fields: Vec<Field> = named
            .map(|(index, (name, ty))| {
                let table = self.calling.tables.get(index).copied().unwrap_or(false);
                marked(Field::new(*name, ty.clone(), true), table, key::TABLE)
            })
            .collect();
        let result = Field::new("result", self.returns.clone(), true);
        fields.push(marked(result, self.calling.single_values, key::VALUE));
        fields
    }
}

/// A run of a handler over streams of batches. Its functions are called on one thread at a
/// time, may block, and watch for the end of the query themselves.
pub struct PyRun<'a> {
    /// The columns of each input.
    pub inputs: &'a [Fields],
    /// The columns of the result; nothing where they are what the function gives. The
    /// metadata [`exuvia_ir::interpreter::key::TYPE`] names a column's type in messages.
    pub output: Option<Fields>,
    /// The scalar arguments, of one row each.
    pub scalars: &'a [ArrayRef],
    /// The most rows of a pushed batch.
    pub batch_rows: usize,
    /// The time that one call may take, without that in which it waits for batches.
    pub call_time: Option<Duration>,
    /// Gives the next batch of an input, of its columns.
    pub pull: &'a mut (dyn FnMut(usize) -> Pulled + Send),
    /// Takes a batch of the result.
    pub push: &'a mut (dyn FnMut(RecordBatch) -> Pushed + Send),
}

/// What an input gives.
#[derive(Debug)]
pub enum Pulled {
    /// Its next batch.
    Batch(RecordBatch),
    /// There are no more.
    End,
    /// The run must end.
    Stop,
}

/// What becomes of a run that has given a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It goes on.
    More,
    /// It must end, as nobody wants more.
    Stop,
}

/// What is said where a module was cancelled.
#[cfg(feature = "python")]
const CANCELLED: &str = "its module was cancelled while it ran";

/// What is said where a module ran for too long.
#[cfg(feature = "python")]
fn took_too_long(time: Duration) -> String {
    format!("its module ran for more than {time:?}")
}

/// Why a function could not be defined.
#[derive(Clone, Debug, PartialEq)]
pub struct PyError {
    /// The exception's class; empty where no exception was raised.
    pub class: String,
    /// The exception's text, or what happened.
    pub message: String,
    /// The line, counted from [`PyDefinition::first_line`].
    pub line: Option<u32>,
}

/// Why a call ended before its last row.
#[derive(Clone, Debug, PartialEq)]
pub enum PyFailure {
    /// Because of a row.
    Row {
        /// Its number in the batch, from 0.
        row: usize,
        /// The name of the exception's class; empty where there was none.
        class: String,
        /// `str(exception)`, or what is wrong with the value.
        message: String,
        /// The innermost line of the function's source, counted from
        /// [`PyDefinition::first_line`].
        line: Option<u32>,
        /// What the row did.
        kind: RowFailure,
    },
    /// The stop flag was set.
    Interrupted,
    /// The deadline has passed.
    TimedOut,
    /// The results have more text than a batch may have.
    Full,
    /// Something else failed.
    Host(String),
}

/// What a failing row did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFailure {
    /// It raised an `Exception`.
    Exception,
    /// It raised a `BaseException` that is no `Exception`, such as `SystemExit`.
    BaseException,
    /// It returned what the declared type cannot hold; the message is that of
    /// [`exuvia_ir::result_error`].
    Result,
    /// It was not called, since Python cannot hold an argument.
    Argument,
}

/// The circumstances of a call.
#[derive(Clone, Copy, Debug)]
pub struct PyCall<'a> {
    /// Whether a row that raises an `Exception` other than `MemoryError` gives NULL.
    pub on_error_null: bool,
    /// Ends the call when set.
    pub stop: Option<&'a AtomicBool>,
    /// Ends the call when it has passed.
    pub deadline: Option<Instant>,
    /// The memory that Python may take.
    pub memory: PythonMemory,
    /// Where the rows print, each row's text at once, while the call runs.
    pub print: &'a PrintSink,
}

impl Default for PyCall<'_> {
    fn default() -> Self {
        PyCall {
            on_error_null: false,
            stop: None,
            deadline: None,
            memory: PythonMemory::Auto,
            print: &PrintSink::STDOUT,
        }
    }
}

/// A function that CPython can call. Shared by all threads; they take turns, since Python
/// has one lock.
#[derive(Debug)]
pub struct PyFunction {
    #[cfg(feature = "python")]
    function: Hosted,
    #[cfg(not(feature = "python"))]
    function: std::convert::Infallible,
}

/// A function where it runs.
#[cfg(feature = "python")]
#[derive(Debug)]
enum Hosted {
    Library(library::Function),
    Worker(worker::Function),
}

/// A Python process of a session's own, which starts when it is needed and again when it has
/// ended. Clones are the same process; another is equal to none.
#[derive(Clone, Debug)]
pub struct OwnProcess(Arc<Own>);

#[derive(Debug)]
struct Own {
    memory: Option<usize>,
    #[cfg(feature = "python")]
    interpreter: OnceLock<Result<Interpreter, String>>,
}

impl OwnProcess {
    /// A process that may map so many bytes of memory, or any number.
    #[must_use]
    pub fn new(memory: Option<usize>) -> OwnProcess {
        OwnProcess(Arc::new(Own {
            memory,
            #[cfg(feature = "python")]
            interpreter: OnceLock::new(),
        }))
    }

    /// The bytes that it may map.
    #[must_use]
    pub fn memory(&self) -> Option<usize> {
        self.0.memory
    }

    #[cfg(feature = "python")]
    fn interpreter(&self) -> Result<&Interpreter, String> {
        let start = || Interpreter::in_own_process(self.0.memory);
        self.0.interpreter.get_or_init(start).as_ref().map_err(Clone::clone)
    }
}

impl PartialEq for OwnProcess {
    fn eq(&self, other: &OwnProcess) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OwnProcess {}

/// What [`Interpreter::get`] has found.
#[cfg(feature = "python")]
static INTERPRETER: OnceLock<Result<Interpreter, String>> = OnceLock::new();

impl Interpreter {
    /// The interpreter, started on the first call.
    ///
    /// # Errors
    /// What is missing and how to get it, one line; the same on every further call.
    #[cfg(feature = "python")]
    pub fn get() -> Result<&'static Interpreter, String> {
        INTERPRETER
            .get_or_init(|| {
                let python = discover::python()?;
                let host = match library::open_python(&python) {
                    true => Host::Library(library::Library::start(&python)?),
                    false => Host::Worker(worker::Worker::start(&python, None)?),
                };
                Ok(Interpreter { version: python.version, host })
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The interpreter in which a session's functions run.
    ///
    /// # Errors
    /// As for [`Interpreter::get`].
    pub fn of(settings: &Settings) -> Result<&Interpreter, String> {
        match &settings.worker {
            #[cfg(feature = "python")]
            Some(process) => process.interpreter(),
            _ => Interpreter::get(),
        }
    }

    /// The interpreter if something has started it.
    #[must_use]
    pub fn started() -> Option<&'static Interpreter> {
        #[cfg(feature = "python")]
        return INTERPRETER.get()?.as_ref().ok();
        #[cfg(not(feature = "python"))]
        None
    }

    /// An interpreter that runs as a process of its own, as [`Interpreter::get`] gives it
    /// where Python has no shared library. It costs a copy of each batch and back. Its address
    /// space may be limited to so many bytes.
    ///
    /// # Errors
    /// What is missing.
    #[cfg(feature = "python")]
    pub fn in_own_process(memory: Option<usize>) -> Result<Interpreter, String> {
        let python = discover::python()?;
        Ok(Interpreter { version: python.version, host: Host::Worker(worker::Worker::start(&python, memory)?) })
    }

    /// The interpreter, which this build does not have.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "python"))]
    pub fn get() -> Result<&'static Interpreter, String> {
        Err("this build has no Python: it was made without the feature `python`".to_string())
    }

    /// Its version, as in `3.11.7`.
    #[must_use]
    pub fn version(&self) -> String {
        let (major, minor, micro) = self.version;
        format!("{major}.{minor}.{micro}")
    }

    /// What to tell a user if the interpreter is of another level than the one whose
    /// semantics the engine follows: the same function may then give different answers
    /// natively and in Python.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let (major, minor, _) = self.version;
        ((major, minor) != LEVEL).then(|| {
            format!(
                "Python {} was found, but native code follows Python {}.{}: messages and Unicode tables may differ",
                self.version(),
                LEVEL.0,
                LEVEL.1
            )
        })
    }

    /// Runs a module, once, and finds its handler.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn define(&self, definition: PyDefinition<'_>) -> Result<PyFunction, PyError> {
        #[cfg(feature = "python")]
        return match &self.host {
            Host::Library(library) => library.define(&definition).map(Hosted::Library),
            Host::Worker(worker) => worker.define(&definition).map(Hosted::Worker),
        }
        .map(|function| PyFunction { function });
        #[cfg(not(feature = "python"))]
        return Err(PyError {
            class: String::new(),
            message: format!("this build has no Python for {}", definition.name),
            line: None,
        });
    }
}

impl PyFunction {
    /// Calls the function on `rows` rows. The arguments have the declared types, in any
    /// layout, and that length.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn call(&self, args: &[ArrayRef], rows: usize, call: &PyCall<'_>) -> Result<ArrayRef, PyFailure> {
        #[cfg(feature = "python")]
        return match &self.function {
            Hosted::Library(function) => function.call(args, rows, call),
            Hosted::Worker(function) => function.call(args, rows, call),
        };
        #[cfg(not(feature = "python"))]
        {
            let _ = (args, rows, call);
            match self.function {}
        }
    }

    /// Runs a function of another form than a row's.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn run(&self, run: &mut PyRun<'_>, call: &PyCall<'_>) -> Result<(), PyFailure> {
        #[cfg(feature = "python")]
        return match &self.function {
            Hosted::Library(function) => function.run(run, call),
            Hosted::Worker(function) => function.run(run, call),
        };
        #[cfg(not(feature = "python"))]
        {
            let _ = (run, call);
            match self.function {}
        }
    }
}

/// Ends the process with a status. Where Python runs in it, what libraries do at the end of a process is left
/// out: threads that Python code has started, or that nobody waits for any more, may be in such a library.
pub fn end_process(status: i32) -> ! {
    #[cfg(all(feature = "python", unix))]
    if Interpreter::started().is_some() {
        // SAFETY: it has no preconditions, and ends all threads.
        unsafe { nix::libc::_exit(status) }
    }
    std::process::exit(status)
}
