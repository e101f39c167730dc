//! What can go wrong when a kernel is made or run.

use std::fmt;

/// Why a module has no native code. The function runs on another rung then.
#[derive(Clone, Debug, PartialEq)]
pub enum CompileError {
    /// The back end does not know how to do this.
    Unsupported(String),
    /// The module breaks an invariant of the IR: a bug of an earlier stage.
    Malformed(String),
    /// The code generator failed: a bug, here or there.
    Generator(String),
    /// It is larger than what is compiled in bounded time.
    TooLarge(String),
}

impl CompileError {
    /// Whether it is only larger than what is compiled.
    #[must_use]
    pub fn is_size(&self) -> bool {
        matches!(self, CompileError::TooLarge(_))
    }

    /// Whether the function breaks a law of the IR: a bug of ours, and nothing to be run on any rung.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        matches!(self, CompileError::Malformed(_))
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> CompileError {
        CompileError::Unsupported(what.into())
    }

    pub(crate) fn malformed(what: impl Into<String>) -> CompileError {
        CompileError::Malformed(what.into())
    }

    pub(crate) fn generator(what: impl fmt::Debug) -> CompileError {
        CompileError::Generator(format!("{what:?}"))
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Unsupported(what) => write!(f, "no native code for {what}"),
            CompileError::Malformed(what) => write!(f, "the function is malformed: {what}"),
            CompileError::TooLarge(what) => write!(f, "too large for native code: {what}"),
            CompileError::Generator(what) => write!(f, "the code generator failed: {what}"),
        }
    }
}

impl std::error::Error for CompileError {}

/// Why a batch has no result.
#[derive(Debug)]
pub enum RunError {
    /// The query was cancelled or ran out of its time.
    Interrupted,
    /// An argument cannot be taken: its type, its length, or a NULL where the compiled
    /// function has no case for one.
    Argument(String),
    /// The results of the batch have more text than one may have.
    OutputTooLarge,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Interrupted => f.write_str("interrupted"),
            RunError::Argument(what) => write!(f, "an argument does not fit the compiled function: {what}"),
            RunError::OutputTooLarge => f.write_str(&exuvia_ir::results_too_large()),
        }
    }
}

impl std::error::Error for RunError {}
