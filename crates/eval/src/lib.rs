//! The boxed evaluator: runs IR on Python objects.
//!
//! It is the rung below native code. It computes with unbounded integers, builds the
//! messages of exceptions and knows where they come from, so a row that native code
//! could not finish, or that raised, is run again here. It is also the reference
//! against which lowering and every optimisation are checked.
//!
//! A module is prepared once ([`Program::new`]) and run any number of times, from any
//! number of threads. Calls between functions use an explicit stack of frames, so that
//! no Python program overflows the stack of the thread.
//!
//! It leaves out what only CPython can do: where an operation bails out, so does the
//! evaluator.

mod class;
mod fast;
mod kept;
mod program;
#[cfg(feature = "random")]
pub mod random;
mod run;
#[cfg(test)]
mod tests;

pub use program::Program;
pub use run::Runner;

use exuvia_ir::{FuncId, Module, Object, Raise, Span};
use exuvia_ops::cx::Cx;

/// Frames after which a call bails out. CPython's own limit is 1000 frames, the
/// caller's included (`sys.getrecursionlimit()`): near it only CPython knows whether
/// this is a `RecursionError`.
pub const MAX_FRAMES: usize = 900;

/// A row that has no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What was raised.
    pub raise: Raise,
    /// Where: in the innermost function that was active, `trace.last()`.
    pub span: Span,
    /// The functions that were active, outermost first, each with the place that it had
    /// reached. Functions that the optimiser inlined do not show.
    pub trace: Vec<(FuncId, Span)>,
}

/// Runs function 0 of `module`.
///
/// `fuel` is the number of instructions that may still run; it is counted down. Who
/// runs a module more than once prepares a [`Program`]. The caller resets the arena of
/// `cx` between rows.
///
/// # Errors
/// The exception or the reason for which there is no value, with its place.
pub fn call(module: &Module, args: &[Object], cx: &mut Cx, fuel: &mut u64) -> Result<Object, Failure> {
    call_function(module, FuncId(0), args, cx, fuel)
}

/// Runs a function of `module`; see [`call`].
///
/// # Errors
/// As [`call`].
pub fn call_function(
    module: &Module,
    function: FuncId,
    args: &[Object],
    cx: &mut Cx,
    fuel: &mut u64,
) -> Result<Object, Failure> {
    Program::new(module).call_function(function, args, cx, fuel)
}
