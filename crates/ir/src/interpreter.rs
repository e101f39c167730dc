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
pub const SYMBOL: &[u8] = b"exuvia_cpython_v1\0";

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
    /// An `ArrowSchema` of a struct whose fields are the parameters and, last, the result.
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
    /// Frees a handle, which no call may still use.
    pub free: unsafe extern "C" fn(handle: *mut c_void),
}
