//! The exactness harness: case files, nasty inputs, random programs, and CPython as the
//! judge of all of them.
//!
//! A [`case::Case`] is a Python function with its SQL signature. Its input rows come from
//! the case or from [`corpus`]; [`oracle`] asks CPython 3.11 what each row gives;
//! [`columns`] brings the rows into Arrow layouts; [`check`] calls the function on every
//! rung under every [`variation`] and compares value, type, exception class and message.
//! [`program`] writes random typed functions and shrinks those that differ, [`mutate`] makes
//! new functions of the cases.
//!
//! Expected values are never written down: only CPython says what is right.

use arrow::datatypes::DataType;
use exuvia_engine::{Definition, Interpreter, OnError, Parameter};

pub mod case;
pub mod check;
pub mod columns;
pub mod corpus;
pub mod large;
pub mod mutate;
pub mod operation;
pub mod oracle;
pub mod panic;
pub mod pins;
pub mod program;
pub mod random;
pub mod report;
pub mod seeds;
pub mod signature;
pub mod suite;
pub mod value;
pub mod variation;

/// A function `f` of that source with nothing but defaults.
#[must_use]
pub fn definition(source: &str, params: Vec<Parameter>, returns: DataType) -> Definition {
    Definition {
        name: "f".to_string(),
        params,
        returns,
        source: source.to_string(),
        handler: None,
        first_line: 1,
        strict: false,
        volatility: None,
        on_error: OnError::Raise,
        interpreter: Interpreter::Auto,
        timeout: None,
        models: Vec::new(),
        columns: Vec::new(),
        whole: false,
    }
}
