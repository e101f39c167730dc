//! A function that can be called on batches.

use crate::{CallError, DefineError, Definition, Volatility};
use arrow::array::ArrayRef;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The settings under which a function is defined and called.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether CPython may be used at all in this session.
    pub interpreter: bool,
    /// Whether functions are compiled to native code (off: evaluator, for tests).
    pub native: bool,
    /// Whether the optimiser runs (off: for tests).
    pub optimize: bool,
    /// Whether functions are lifted at all (off: everything runs in CPython).
    pub lift: bool,
    /// Bytes that the temporaries of one row may take.
    pub row_memory: usize,
    /// Take every guard and fail every compilation, to test the ways down:
    /// `"guards"`, `"compile"` or empty.
    pub fault: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            interpreter: true,
            native: true,
            optimize: true,
            lift: true,
            row_memory: 256 << 20,
            fault: String::new(),
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
    pub place: Option<crate::Place>,
    /// Rows called so far.
    pub rows: u64,
    /// Rows that left native code for the evaluator.
    pub evaluated_rows: u64,
    /// Rows that ran in CPython.
    pub python_rows: u64,
    /// Nanoseconds of lifting, optimising and compiling.
    pub compile_nanos: u64,
}

/// A defined function. Shared by all threads of a session.
#[derive(Debug)]
pub struct Function {
    definition: Definition,
}

impl Function {
    /// Checks and prepares a function.
    ///
    /// # Errors
    /// What is wrong with the body, with its place.
    pub fn define(definition: Definition, _settings: &Settings) -> Result<Function, DefineError> {
        Ok(Function { definition })
    }

    /// What was declared.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The declared volatility, or what was inferred.
    #[must_use]
    pub fn volatility(&self) -> Volatility {
        Volatility::Volatile
    }

    /// Where calls run, as compiled for and observed so far. Compiles for nullable
    /// arguments of the declared types if nothing was compiled yet.
    #[must_use]
    pub fn placement(&self, _settings: &Settings) -> Placement {
        Placement {
            rung: Rung::Python,
            reason: None,
            place: None,
            rows: 0,
            evaluated_rows: 0,
            python_rows: 0,
            compile_nanos: 0,
        }
    }

    /// Calls the function on `rows` rows. The arguments have the declared types (or the
    /// same logical type in another Arrow layout) and that length.
    ///
    /// # Errors
    /// What happened to the first failing row that was found.
    pub fn invoke(
        &self,
        _args: &[ArrayRef],
        _rows: usize,
        _settings: &Settings,
        _invocation: &Invocation,
    ) -> Result<ArrayRef, CallError> {
        Err(CallError {
            function: self.definition.name.clone(),
            kind: crate::CallErrorKind::Host("not available".to_string()),
            place: None,
            arguments: vec![],
        })
    }

    /// The text of a stage: `source`, `snapshot`, `lifted`, `optimized`, `lowered`,
    /// `machine`.
    ///
    /// # Errors
    /// Why the function has no such stage.
    pub fn dump(&self, _stage: &str, _settings: &Settings) -> Result<String, String> {
        Err("not available".to_string())
    }
}
