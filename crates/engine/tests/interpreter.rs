//! CPython through its loaded library: values both ways, failures, and the ways to end.

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use exuvia_engine::interpreter::{Interpreter, PyDefinition, PyFailure, PyFunction, RowFailure};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn define(source: &str, params: &[DataType], returns: DataType) -> PyFunction {
    let names: Vec<&str> = ["a", "b", "c"][..params.len()].to_vec();
    let definition = PyDefinition {
        name: "f",
        source,
        handler: "f",
        first_line: 1,
        strict: false,
        param_names: &names,
        params,
        returns: &returns,
    };
    Interpreter::get().unwrap().define(definition).unwrap()
}

#[test]
fn an_int_becomes_an_int() {
    let f = define("def f(a): return a and a + 1", &[DataType::Int64], DataType::Int64);
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(-5)]));
    let out = f.call(&[a], 3, false, &AtomicBool::new(false), None).unwrap();
    assert_eq!(out.as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(2), None, Some(-4)]));
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(i64::MAX)]));
    let error = f.call(&[a], 2, false, &AtomicBool::new(false), None).unwrap_err();
    assert_eq!(
        error,
        PyFailure::Row {
            row: 1,
            class: String::new(),
            message: "returned 9223372036854775808 of type int, which BIGINT cannot hold".to_string(),
            line: None,
            kind: RowFailure::Result
        }
    );
}
