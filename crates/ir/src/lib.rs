//! Exuvia's intermediate representation: types, objects, functions.
//!
//! One container ([`Function`]) serves every stage between the lifter and the
//! native back end: a control-flow graph in SSA form whose blocks take parameters.
//! Scalars, strings, tuples and lists are typed exactly as in Python; `int` stays
//! unbounded here, and a later stage chooses how a machine represents it.
//!
//! The crate knows nothing of what an operation *does*: an [`Opcode::Op`] carries
//! only the operation's name, which `exuvia-ops` defines. It holds no policy, no
//! I/O and no unsafe code.

mod build;
pub mod calendar;
mod class;
mod exception;
mod flow;
mod function;
mod int;
pub mod interpreter;
mod object;
mod parse;
mod print;
mod record;
mod result;
pub mod set;
mod types;
mod verify;
mod width;

pub use build::Builder;
pub use class::{Class, ClassRow, ExcKind, Objects};
pub use exception::Raise;
pub use flow::{Flow, Segment};
pub use function::{
    BlockData, BlockId, Edge, FuncId, Function, Inst, Module, Opcode, Span, Terminator, Value, ValueData,
};
pub use int::Int;
pub use object::{DictObj, ExcObj, ListObj, Object};
pub use parse::{ParseError, interned, parse_module};
pub use record::{Pattern, RecordObj};
pub use result::{MAX_RESULT_BYTES, excerpt, result_error, result_float, results_too_large, unprintable};
pub use set::{SetObj, SetTable};
pub use types::{Type, UNNAMED};
pub use verify::{OpTyping, VerifyError, is_constant_of, verify, verify_function};
pub use width::IntWidth;
