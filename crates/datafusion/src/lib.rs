//! Exuvia: Python functions in DataFusion, run natively.
//!
//! `CREATE FUNCTION … LANGUAGE python` registers a Python function. The engine lifts it to
//! a typed IR and compiles it to loops over Arrow batches; CPython runs only what cannot be
//! lifted. This crate is the border to DataFusion: statements, names, types, arguments,
//! errors, settings, EXPLAIN and cancellation. It leaves to the engine how a function runs.
//!
//! Start with [`ExuviaSession`], or add the plugin to a session of your own with
//! [`ExuviaBuilder::with_exuvia`].

mod arguments;
mod barrier;
mod bytes;
mod catalog;
mod coerce;
mod create;
mod depth;
mod elsewhere;
mod explain;
mod extension;
mod function;
mod fuse;
mod inline;
mod leaves;
mod maps;
mod message;
mod operands;
mod outline;
mod parsing;
mod pytokens;
mod query;
mod rebind;
mod routines;
mod script;
mod session;
mod settings;
mod slice;
mod statement;
mod types;
mod udfs;

pub use bytes::column_bytes;
pub use extension::ExuviaBuilder;
pub use exuvia_engine as engine;
pub use exuvia_engine::on_large_stack;
pub use message::{call_error, message};
pub use script::{Open, Script, Statement};
pub use session::ExuviaSession;
pub use settings::{ExuviaOptions, LEAST_WORKER_MEMORY, parse_bytes, parse_duration};
