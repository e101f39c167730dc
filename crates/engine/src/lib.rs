//! The engine: from a definition to results over Arrow batches.

mod definition;
mod error;
mod function;

pub use definition::{Definition, Interpreter, OnError, Parameter, Volatility};
pub use error::{CallError, CallErrorKind, DefineError, Place};
pub use function::{Function, Invocation, Placement, Rung, Settings};
