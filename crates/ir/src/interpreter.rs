//! The C interface between the engine and the library that embeds CPython.
//!
//! The library `exuvia_cpython` is loaded at run time, so that nothing links to
//! libpython, and exports one symbol, [`SYMBOL`]: a function without arguments that
//! returns a pointer to an [`Abi`]. Batches travel by Arrow's C data interface, texts as
//! UTF-8 that the callee may read during the call only; what the library has to tell goes
//! to callbacks, so no memory changes its owner except Arrow's arrays, which carry their
//! own release function. No panic and no Python exception crosses the border.
//!
//! Both sides are built from this file and compare [`Abi::size`] and the version in the
//! symbol's name, so that libraries of two builds do not meet unnoticed. The file only
//! declares; it has no code that runs on either side.
//!
//! Where Python has no shared library, the same library is imported into a Python process
//! and the two speak through [`wire`].

pub mod wire;

use std::ffi::c_void;

/// The exported symbol, of type [`AbiFn`]; its number changes with any declaration here.
pub const SYMBOL: &[u8] = b"exuvia_cpython_v4\0";

/// The type of [`SYMBOL`]. The table lives as long as the process.
pub type AbiFn = unsafe extern "C" fn() -> *const Abi;

/// Borrowed UTF-8.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The bytes; may dangle if `len` is 0.
    pub ptr: *const u8,
    /// Their number.
    pub len: usize,
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text { ptr: text.as_ptr(), len: text.len() }
    }
}

/// What a [`Report`] is about.
pub mod kind {
    /// The function raised an `Exception`.
    pub const EXCEPTION: u32 = 1;
    /// The function raised a `BaseException` that is no `Exception`.
    pub const BASE_EXCEPTION: u32 = 2;
    /// The function returned what its declared type cannot hold.
    pub const RESULT: u32 = 3;
    /// An argument's value has no Python object.
    pub const ARGUMENT: u32 = 4;
    /// The stop flag was set.
    pub const INTERRUPTED: u32 = 5;
    /// The time was over.
    pub const TIMED_OUT: u32 = 6;
    /// Anything that is not the function's doing.
    pub const HOST: u32 = 7;
    /// The results have more text than a batch may have ([`crate::MAX_RESULT_BYTES`]).
    pub const FULL: u32 = 8;
}

/// How a handler is called.
pub mod form {
    /// With the values of a row, for a value: by [`super::Abi::call`].
    pub const ROW: u32 = 0;
    /// As a row, but each argument is a list of the values of a group, which the handler gets
    /// as its annotation says; or the handler is a class that gets them one after the other.
    pub const VALUES: u32 = 1;
    /// With whole columns, once for each batch of its input, for a column: by
    /// [`super::Abi::run`], as all that follow.
    pub const COLUMNS: u32 = 2;
    /// With an iterator over the batches' columns, for an iterator over columns.
    pub const ITERATOR: u32 = 3;
    /// With tables, each whole, and scalars, for a table.
    pub const TABLE: u32 = 4;
    /// With the values of a row, for any number of rows.
    pub const ROWS: u32 = 5;
    /// As the class of the states of groups, under [`super::command`]s.
    pub const STATES: u32 = 6;
}

/// What the first column of an input of [`form::STATES`], an INT of equal values, asks.
pub mod command {
    /// Takes rows: behind it the group of each, and the arguments.
    pub const UPDATE: i32 = 0;
    /// Takes states of other instances: behind it the group of each, and the state.
    pub const MERGE: i32 = 1;
    /// Gives the results of the groups listed behind it, as a column.
    pub const FINISH: i32 = 2;
    /// Gives the states of the groups listed behind it, as a column of bytes.
    pub const STATE: i32 = 3;
    /// Forgets so many of the first groups as rows follow; the others move up.
    pub const DROP: i32 = 4;
    /// As [`FINISH`], of copies: the states go on.
    pub const PEEK: i32 = 5;
}

/// What [`Run::pull`] and [`Run::push`] return.
pub mod step {
    /// A batch was given or taken.
    pub const BATCH: u32 = 0;
    /// The input has no more.
    pub const END: u32 = 1;
    /// Nobody wants the result any more, or the input has failed.
    pub const STOP: u32 = 2;
}

/// Keys of the metadata of the fields of [`Define::schema`].
pub mod key {
    /// On a parameter: it is a table. Its type is a struct of the declared columns, or null
    /// where any columns will do.
    pub const TABLE: &str = "exuvia:table";
    /// On a column of the result: its type's name in SQL.
    pub const TYPE: &str = "exuvia:type";
    /// On a column of the result: it is that of a sample, and there are to be no others.
    pub const SAMPLED: &str = "exuvia:sampled";
    /// On the result: its values are those of the one column, not rows of them.
    pub const VALUE: &str = "exuvia:value";
}

/// Why a request failed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// One of [`kind`].
    pub kind: u32,
    /// The innermost line of the function's source, counted from
    /// [`Define::first_line`]; 0 if none is known.
    pub line: u32,
    /// The row, of a call.
    pub row: u64,
    /// The name of the exception's class, or nothing.
    pub class: Text,
    /// `str(exception)`, or what happened.
    pub message: Text,
}

/// Whom the library tells things. Both functions are called before the request returns, on
/// any thread, but one at a time; they must not unwind and must not use the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Listener {
    /// Passed to the functions.
    pub context: *mut c_void,
    /// Told once why a request failed; never called for one that succeeds.
    pub report: unsafe extern "C" fn(context: *mut c_void, report: *const Report),
    /// Given what `print` wrote, after each row that wrote anything.
    pub print: unsafe extern "C" fn(context: *mut c_void, text: Text),
}

/// What ends a request early.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// An `AtomicBool` that asks to stop, or null.
    pub stop: *const c_void,
    /// Nanoseconds that the request may take; `u64::MAX` without limit.
    pub nanos: u64,
    /// Bytes that all of Python's objects in the process may take while the request runs:
    /// `u64::MAX` without limit, 0 for three quarters of the machine's memory.
    pub memory: u64,
}

/// A definition.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Define {
    /// The function's name in SQL.
    pub name: Text,
    /// A Python module.
    pub source: Text,
    /// The name of the callable in it.
    pub handler: Text,
    /// The number that reports give to the module's first line.
    pub first_line: u32,
    /// 1 if NULL in any argument gives NULL without a call.
    pub strict: u32,
    /// One of [`form`].
    pub form: u32,
    /// The fitted models that the module finds as its globals: lines `name=path`.
    pub models: Text,
    /// An `ArrowSchema` of a struct whose fields are the parameters and, last, the result:
    /// of [`form::TABLE`] and [`form::ROWS`] a struct of its columns, or null where it is
    /// what the function gives.
    pub schema: *mut c_void,
    /// The declared type of the result as errors name it.
    pub result_type: Text,
    /// When to give up running the module.
    pub limits: Limits,
}

/// A call on a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The `ArrowArray` of a struct whose fields are the arguments, in order; its length
    /// is the number of rows. It is consumed.
    pub args: *mut c_void,
    /// Its `ArrowSchema`, which stays the caller's. The types may differ from the
    /// declared ones in layout only.
    pub schema: *const c_void,
    /// 1 if a row that raises an `Exception` gives NULL.
    pub on_error_null: u32,
    /// When to give up.
    pub limits: Limits,
    /// Where an `ArrowArray` of the declared type is written if the call succeeds.
    pub result: *mut c_void,
    /// Where its `ArrowSchema` is written.
    pub result_schema: *mut c_void,
}

/// A run of a handler over streams of batches.
///
/// `pull` and `push` are called on one thread at a time, which does not hold Python's lock,
/// and may block; they watch for the end of the query themselves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// An `ArrowSchema` of a struct with a field for each input, each a struct of its columns.
    pub inputs: *const c_void,
    /// An `ArrowSchema` of the struct of the columns that are pushed; null where they are
    /// what the function gives.
    pub output: *const c_void,
    /// The `ArrowArray` of a struct of one row: the scalar arguments in order, consumed.
    pub scalars: *mut c_void,
    /// Its `ArrowSchema`.
    pub scalars_schema: *const c_void,
    /// The most rows of a pushed batch.
    pub batch_rows: u64,
    /// Nanoseconds that a call may take, without those in which it waits for `pull` and `push`:
    /// from one pulled batch to the next, and of rows from one row to the next. `u64::MAX`
    /// without limit.
    pub call_nanos: u64,
    /// When to give up.
    pub limits: Limits,
    /// Passed to the functions.
    pub context: *mut c_void,
    /// Writes the next batch of an input, a struct, and its schema: one of [`step`].
    pub pull: unsafe extern "C" fn(context: *mut c_void, input: u32, array: *mut c_void, schema: *mut c_void) -> u32,
    /// Takes a batch of the result, a struct, with its schema: one of [`step`].
    pub push: unsafe extern "C" fn(context: *mut c_void, array: *mut c_void, schema: *mut c_void) -> u32,
}

/// The library's functions. They may be called from any thread. Those that return a
/// number return 0 for success and have reported otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Abi {
    /// `size_of::<Abi>()`.
    pub size: usize,
    /// Starts Python, once per process, as if it were the given executable, so that the
    /// packages of its environment are found.
    pub start: unsafe extern "C" fn(executable: Text, listener: *const Listener) -> u32,
    /// Runs a module and finds its handler: a handle, or null.
    pub define: unsafe extern "C" fn(define: *const Define, listener: *const Listener) -> *mut c_void,
    /// Calls a handler on a batch.
    pub call: unsafe extern "C" fn(handle: *const c_void, call: *const Call, listener: *const Listener) -> u32,
    /// Runs a handler of another form than a row's.
    pub run: unsafe extern "C" fn(handle: *const c_void, run: *const Run, listener: *const Listener) -> u32,
    /// Frees a handle, which no call may still use.
    pub free: unsafe extern "C" fn(handle: *mut c_void),
}
