//! Rows that raise.

use super::{call, define};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use exuvia_engine::interpreter::{PrintSink, PyCall, PyFailure, RowFailure};
use std::sync::Arc;

fn raised(body: &str) -> (usize, String, String, Option<u32>, RowFailure) {
    let function = define(body, &[DataType::Int64], DataType::Int64);
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![0, 1]));
    match call(&function, &rows) {
        Err(PyFailure::Row { row, class, message, line, kind }) => (row, class, message, line, kind),
        other => panic!("{body}: {other:?}"),
    }
}

fn exception(row: usize, class: &str, message: &str, line: u32) -> (usize, String, String, Option<u32>, RowFailure) {
    (row, class.to_string(), message.to_string(), (line > 0).then_some(line), RowFailure::Exception)
}

#[test]
fn an_exception_has_its_class_message_and_line() {
    assert_eq!(
        raised("def f(a):\n    b = 1 - a\n    return 1 // b"),
        exception(1, "ZeroDivisionError", "integer division or modulo by zero", 3)
    );
    assert_eq!(raised("def f(a):\n    return {}['k']"), exception(0, "KeyError", "'k'", 2));
    assert_eq!(raised("def f(a): assert a"), exception(0, "AssertionError", "", 1));
    // The innermost line of ours, not of the library that raises.
    assert_eq!(
        raised("import json\ndef g(s):\n    return json.loads(s)\ndef f(a):\n    return g('{')"),
        exception(
            0,
            "JSONDecodeError",
            "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            3
        )
    );
    assert_eq!(
        raised("class Odd(Exception):\n    def __str__(self): return 'odd \\ud800'\ndef f(a): raise Odd"),
        exception(0, "Odd", "odd \\ud800", 3)
    );
    assert_eq!(
        raised("class Mute(Exception):\n    def __str__(self): raise self\ndef f(a): raise Mute"),
        exception(0, "Mute", "<exception str() failed>", 3)
    );
    assert_eq!(raised("def f(a): return f(a)"), exception(0, "RecursionError", "maximum recursion depth exceeded", 1));
    assert_eq!(
        raised("def f(a):\n    return int('x')"),
        exception(0, "ValueError", "invalid literal for int() with base 10: 'x'", 2)
    );
    assert_eq!(raised("f = [1, 2].index\n").1, "ValueError");
}

#[test]
fn recursion_through_c_ends_in_an_exception_too() {
    let (_, class, ..) = raised("import functools\ndef f(a): return functools.reduce(lambda x, y: f(y), [a, a])");
    assert_eq!(class, "RecursionError");
    let (_, class, ..) = raised(
        "class A:\n    def __repr__(self): return repr([self, sorted([A(), A()], key=repr)])\ndef f(a): return repr(A())",
    );
    assert_eq!(class, "RecursionError");
}

#[test]
fn a_base_exception_is_told_apart() {
    let (row, class, message, line, kind) = raised("import sys\ndef f(a):\n    if a: sys.exit('over')\n    return a");
    assert_eq!(
        (row, class.as_str(), message.as_str(), line, kind),
        (1, "SystemExit", "over", Some(3), RowFailure::BaseException)
    );
    let (_, class, _, _, kind) = raised("def f(a): raise KeyboardInterrupt");
    assert_eq!((class.as_str(), kind), ("KeyboardInterrupt", RowFailure::BaseException));
}

#[test]
fn on_error_null_covers_exceptions_only() {
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 2]));
    let with_null = |body: &str| {
        let function = define(body, &[DataType::Int64], DataType::Int64);
        function.call(std::slice::from_ref(&rows), 3, &PyCall { on_error_null: true, ..PyCall::default() })
    };
    let column = with_null("def f(a): return 10 // a").unwrap();
    assert_eq!(column.as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(10), None, Some(5)]));
    assert_eq!(with_null("def f(a): return f(a)").unwrap().null_count(), 3);
    for (body, expected) in [
        ("def f(a): raise SystemExit", RowFailure::BaseException),
        ("def f(a): raise MemoryError", RowFailure::Exception),
        ("def f(a): return 'x'", RowFailure::Result),
    ] {
        assert!(matches!(with_null(body), Err(PyFailure::Row { row: 0, kind, .. }) if kind == expected), "{body}");
    }
}

#[test]
fn strict_functions_are_not_called_on_null() {
    let definition = exuvia_engine::interpreter::PyDefinition {
        name: "f",
        source: "def f(a, b): return a + b",
        handler: "f",
        first_line: 1,
        strict: true,
        calling: exuvia_engine::interpreter::Calling::default(),
        param_names: &["a", "b"],
        params: &[DataType::Int64, DataType::Int64],
        returns: &DataType::Int64,
        print: &PrintSink::STDOUT,
    };
    let function = crate::python().define(definition).unwrap();
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let b: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None]));
    let column = function.call(&[a, b], 3, &PyCall::default()).unwrap();
    assert_eq!(column.as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(2), None, None]));
}

#[test]
fn rows_do_not_share_a_decimal_context() {
    let source = "
import decimal
def f(a):
    context = decimal.getcontext()
    context.prec += a
    return context.prec";
    let function = define(source, &[DataType::Int64], DataType::Int64);
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 0]));
    for _ in 0..2 {
        assert_eq!(call(&function, &rows).unwrap().as_primitive::<Int64Type>().values(), &[29, 30, 28]);
    }
}
