//! The engine: from a definition to results over Arrow batches.
//!
//! [`Function::define`] resolves a body and lifts it; [`Function::invoke`] calls it on a
//! batch on the highest rung that it has. Read `pipeline.rs` first: it shows the stages.
//!
//! | file | holds |
//! | --- | --- |
//! | `definition.rs`, `error.rs` | what users declare, what they see when it fails |
//! | `pipeline.rs` | source, lifted, optimised, native: the stages of one function |
//! | `function.rs`, `defined.rs` | a defined function, its compiled variants, its placement, where CPython has it |
//! | `rungs.rs`, `python.rs` | running a batch, and the ways down |
//! | `offload.rs` | whole batches on an OpenCL device |
//! | `chain.rs` | calls of several functions as one native loop |
//! | `routine.rs` | functions of tables, columns and groups, and those that give rows |
//! | `interpreter.rs` | finding and loading CPython |
//! | `sql.rs`, `place.rs`, `volatility.rs`, `stack.rs` | types and values, places in scripts, inference, deep stacks |
//!
//! It knows no SQL and no query plan.

pub mod chain;
mod defined;
mod definition;
mod error;
pub mod formula;
mod function;
pub mod interpreter;
mod memoize;
mod observed;
mod offload;
mod pipeline;
mod place;
mod python;
pub mod routine;
mod rungs;
mod spread;
mod sql;
mod stack;
mod total;
mod volatility;
mod whole;

pub use definition::{ColumnForm, Definition, Interpreter, OnError, Parameter, Volatility};
pub use error::{CallError, CallErrorKind, DefineError, NotNative, Place};
pub use exuvia_ir::{DictObj, Object, SetObj, calendar};
pub use exuvia_jit::{RunError, border::layout};
pub use function::{Function, Invocation, Placement, Rung, Settings, Stop, Work};
pub use interpreter::end_process;
pub use offload::{Offload, Offloading};
pub use sql::{identifier, type_name};
pub use stack::on_large_stack;
