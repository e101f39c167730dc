//! CPython as a process of its own, which every Python can be.
#![cfg(feature = "python")]

#[path = "interpreter/cases/mod.rs"]
mod cases;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Fields, Int64Type, Schema};
use cases::{call, define, definition};
use exuvia_engine::interpreter::{
    Calling, Form, Interpreter, ModuleLimits, Pulled, Pushed, PyCall, PyDefinition, PyFailure, PyRun,
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

fn python() -> &'static Interpreter {
    static PYTHON: OnceLock<Interpreter> = OnceLock::new();
    PYTHON.get_or_init(|| Interpreter::in_own_process(None).unwrap())
}

fn one(value: i64) -> ArrayRef {
    Arc::new(Int64Array::from(vec![value]))
}

#[test]
fn a_process_that_ends_is_replaced() {
    // A process for this test alone, since the others would lose theirs.
    let python = Interpreter::in_own_process(None).unwrap();
    let define = |source| python.define(definition(source, &[DataType::Int64], &DataType::Int64)).unwrap();
    let state = define("n = 0\ndef f(a):\n    global n\n    n += a\n    return n");
    let deadly = define("import os\ndef f(a):\n    os._exit(a)");
    let stuck = define("import time\ndef f(a):\n    time.sleep(a)\n    return a");
    let value = |function| call(function, &one(1)).unwrap().as_primitive::<Int64Type>().value(0);
    assert_eq!((value(&state), value(&state)), (1, 2));
    let failure = call(&deadly, &one(3)).unwrap_err();
    assert_eq!(failure, PyFailure::Host("the Python process ended: exit status: 3".to_string()));
    assert_eq!((value(&state), value(&state)), (1, 2));
    // So it is for a run, in the middle of its rows.
    let source = "import os\ndef f(a):\n    yield a\n    os._exit(4)";
    let row = DataType::Struct(Fields::from(vec![Field::new("y", DataType::Int64, true)]));
    let calling = Calling { form: Form::Rows, ..Calling::default() };
    let rows = python.define(PyDefinition { calling, ..definition(source, &[DataType::Int64], &row) }).unwrap();
    let fields = Fields::from(vec![Field::new("a", DataType::Int64, true)]);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.clone())), vec![one(1)]).unwrap();
    let mut given = Some(batch);
    let mut pull = |_: usize| given.take().map_or(Pulled::End, Pulled::Batch);
    let mut push = |_: RecordBatch| Pushed::More;
    let mut run = PyRun {
        inputs: &[fields],
        output: Some(Fields::from(vec![Field::new("y", DataType::Int64, true)])),
        scalars: &[],
        batch_rows: 10,
        call_time: None,
        pull: &mut pull,
        push: &mut push,
    };
    let failure = rows.run(&mut run, &PyCall::default()).unwrap_err();
    assert_eq!(failure, PyFailure::Host("the Python process ended: exit status: 4".to_string()));
    assert_eq!(value(&state), 1);
    // What cannot be broken ends with its process.
    let deadline = Some(Instant::now() + Duration::from_millis(500));
    let start = Instant::now();
    let failure = stuck.call(&[one(600)], 1, &PyCall { deadline, ..PyCall::default() }).unwrap_err();
    assert_eq!(failure, PyFailure::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(value(&state), 1);
    // So does a module.
    let limits = ModuleLimits { time: Duration::from_millis(500), ..ModuleLimits::default() };
    let calling = Calling { limits, ..Calling::default() };
    let source = "import time\ntime.sleep(600)\ndef f(a): return a";
    let slow = PyDefinition { calling, ..definition(source, &[DataType::Int64], &DataType::Int64) };
    let start = Instant::now();
    let error = python.define(slow).unwrap_err();
    assert!(error.message.contains("its module ran for more than 500ms"), "{error:?}");
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
