//! Finding and loading CPython.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

#[derive(Debug)]
pub struct Interpreter;
#[derive(Debug)]
pub struct PyDefinition<'a> {
    pub name: &'a str,
    pub source: &'a str,
    pub handler: &'a str,
    pub first_line: u32,
    pub params: &'a [DataType],
    pub returns: &'a DataType,
}
#[derive(Debug)]
pub struct PyError {
    pub class: String,
    pub message: String,
    pub line: Option<u32>,
}
#[derive(Debug)]
pub struct RowFailure {
    pub row: usize,
    pub class: String,
    pub message: String,
    pub line: Option<u32>,
    pub result: bool,
}
#[derive(Debug)]
pub enum PyFailure {
    Row(RowFailure),
    Interrupted,
    TimedOut,
    Host(String),
}
#[derive(Debug)]
pub struct PyFunction;
impl Interpreter {
    pub fn get() -> Result<&'static Interpreter, String> {
        Err("this build has no Python".to_string())
    }
    pub fn define(&self, _: PyDefinition<'_>) -> Result<PyFunction, PyError> {
        Ok(PyFunction)
    }
}
impl PyFunction {
    pub fn call(
        &self,
        _: &[ArrayRef],
        _: usize,
        _: bool,
        _: &AtomicBool,
        _: Option<Instant>,
    ) -> Result<ArrayRef, PyFailure> {
        Err(PyFailure::Interrupted)
    }
}
