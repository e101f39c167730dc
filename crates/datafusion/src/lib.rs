//! Exuvia: Python functions in DataFusion, run natively.
//!
//! `CREATE FUNCTION … LANGUAGE python` registers a Python function. The engine lifts it to
//! a typed IR and compiles it to loops over Arrow batches; CPython runs only what cannot be
//! lifted. This crate is the border to DataFusion: statements, names, types, arguments,
//! errors, settings, EXPLAIN and cancellation. It leaves to the engine how a function runs.
//!
//! Start with [`ExuviaSession`], or add the plugin to a session of your own with
//! [`ExuviaBuilder::with_exuvia`].

mod planning;
mod running;
mod statements;

pub use exuvia_engine as engine;
pub use exuvia_engine::on_large_stack;
pub use planning::extension::ExuviaBuilder;
pub use running::bytes::column_bytes;
pub use statements::message::{call_error, message};
pub use statements::script::{Open, Script, Statement};
pub use statements::session::ExuviaSession;
pub use statements::settings::{ExuviaOptions, LEAST_WORKER_MEMORY, parse_bytes, parse_duration};
pub use statements::types::NAMES as TYPE_NAMES;
