//! Values both ways, failures, and the ways to end: the same wherever Python runs.

mod arguments;
mod definitions;
mod failures;
mod limits;
mod results;
mod streams;

use crate::python;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;
use exuvia_engine::interpreter::{
    Calling, PrintSink, PyCall, PyDefinition, PyError, PyFailure, PyFunction, RowFailure,
};

/// The function `f` with parameters `a`, `b`, `c` in a module.
pub fn definition<'a>(source: &'a str, params: &'a [DataType], returns: &'a DataType) -> PyDefinition<'a> {
    PyDefinition {
        name: "f",
        source,
        handler: "f",
        first_line: 1,
        strict: false,
        calling: Calling::default(),
        param_names: &["a", "b", "c"][..params.len()],
        params,
        returns,
        print: &PrintSink::STDOUT,
    }
}

fn try_define(source: &str, params: &[DataType], returns: DataType) -> Result<PyFunction, PyError> {
    python().define(definition(source, params, &returns))
}

pub fn define(source: &str, params: &[DataType], returns: DataType) -> PyFunction {
    try_define(source, params, returns).unwrap()
}

/// Calls a function on one column.
pub fn call(function: &PyFunction, column: &ArrayRef) -> Result<ArrayRef, PyFailure> {
    function.call(std::slice::from_ref(column), column.len(), &PyCall::default())
}

/// What Python's `repr` shows for each value of a column.
fn reprs(column: &ArrayRef) -> Vec<String> {
    let function = define("def f(a): return repr(a)", &[column.data_type().clone()], DataType::Utf8);
    call(&function, column).unwrap().as_string::<i32>().iter().map(|repr| repr.unwrap().to_string()).collect()
}

/// The column that a function gives which returns what an expression says, once for each
/// expression; `numpy` and `pandas` are not imported.
fn results(expressions: &[&str], returns: DataType) -> Result<ArrayRef, PyFailure> {
    let source = format!("{IMPORTS}\nVALUES = [{}]\ndef f(a): return VALUES[a]", expressions.join(", "));
    let function = define(&source, &[DataType::Int64], returns);
    let rows: ArrayRef = std::sync::Arc::new(arrow::array::Int64Array::from_iter_values(0..expressions.len() as i64));
    call(&function, &rows)
}

const IMPORTS: &str = "
import dataclasses, datetime, decimal, enum, zoneinfo
from datetime import date, time, timedelta, timezone
from decimal import Decimal
";

/// The message with which a result is refused, without what converts it.
fn refused(expression: &str, returns: DataType) -> String {
    match results(&[expression], returns) {
        Err(PyFailure::Row { row: 0, class, message, line: None, kind: RowFailure::Result }) if class.is_empty() => {
            message.split("\n  hint: ").next().unwrap_or_default().to_string()
        }
        other => panic!("{expression}: {other:?}"),
    }
}
