//! CPython as a process of its own, which every Python can be.
#![cfg(feature = "python")]

#[path = "interpreter/cases/mod.rs"]
mod cases;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use cases::{call, define};
use exuvia_engine::interpreter::{Interpreter, PrintSink, PyCall, PyFailure};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

fn python() -> &'static Interpreter {
    static PYTHON: OnceLock<Interpreter> = OnceLock::new();
    PYTHON.get_or_init(|| Interpreter::in_own_process().unwrap())
}

fn one(value: i64) -> ArrayRef {
    Arc::new(Int64Array::from(vec![value]))
}

#[test]
fn a_process_that_ends_is_replaced() {
    // A process for this test alone, since the others would lose theirs.
    let python = Interpreter::in_own_process().unwrap();
    let define = |source| {
        let definition = exuvia_engine::interpreter::PyDefinition {
            name: "f",
            source,
            handler: "f",
            first_line: 1,
            strict: false,
            calling: exuvia_engine::interpreter::Calling::default(),
            param_names: &["a"],
            params: &[DataType::Int64],
            returns: &DataType::Int64,
            print: &PrintSink::STDOUT,
        };
        python.define(definition).unwrap()
    };
    let state = define("n = 0\ndef f(a):\n    global n\n    n += a\n    return n");
    let deadly = define("import os\ndef f(a):\n    os._exit(a)");
    let stuck = define("import time\ndef f(a):\n    time.sleep(a)\n    return a");
    let value = |function| call(function, &one(1)).unwrap().as_primitive::<Int64Type>().value(0);
    assert_eq!((value(&state), value(&state)), (1, 2));
    let failure = call(&deadly, &one(3)).unwrap_err();
    assert_eq!(failure, PyFailure::Host("the Python process ended: exit status: 3".to_string()));
    assert_eq!((value(&state), value(&state)), (1, 2));
    // What cannot be broken ends with its process.
    let deadline = Some(Instant::now() + Duration::from_millis(500));
    let start = Instant::now();
    let failure = stuck.call(&[one(600)], 1, &PyCall { deadline, ..PyCall::default() }).unwrap_err();
    assert_eq!(failure, PyFailure::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(value(&state), 1);
}

#[test]
fn functions_come_and_go() {
    for number in 0..50i64 {
        let function = define(&format!("def f(a): return a * {number}"), &[DataType::Int64], DataType::Int64);
        let column = call(&function, &one(2)).unwrap();
        assert_eq!(column.as_primitive::<Int64Type>().value(0), 2 * number);
    }
}

#[test]
fn a_child_s_output_does_not_get_among_the_answers() {
    let source = "import subprocess\ndef f(a): return subprocess.run(['echo', 'from a child']).returncode";
    let function = define(source, &[DataType::Int64], DataType::Int64);
    assert_eq!(call(&function, &one(2)).unwrap().as_primitive::<Int64Type>().value(0), 0);
}
