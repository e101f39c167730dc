//! Calls that are stopped or run out of time.

use super::{call, define};
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use exuvia_engine::interpreter::{PyCall, PyFailure, PyFunction};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ENDLESS: &str = "def f(a):\n    while True: pass";

fn rows(count: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..count))
}

fn time_out(function: &PyFunction, millis: u64, on_error_null: bool) -> Duration {
    let start = Instant::now();
    let deadline = Some(start + Duration::from_millis(millis));
    let result = function.call(&[rows(100)], 100, &PyCall { on_error_null, deadline, ..PyCall::default() });
    assert_eq!(result.unwrap_err(), PyFailure::TimedOut);
    start.elapsed()
}

#[test]
fn an_endless_row_ends_at_its_deadline() {
    for body in [
        ENDLESS,
        "def f(a):\n    while True:\n        try:\n            while True: pass\n        except Exception: pass",
        // What keeps every exception once is asked again.
        "def f(a):\n    for i in range(3):\n        try:\n            while True: pass\n        except: pass\n    while True: pass",
        "def f(a):\n    try:\n        while True: pass\n    finally:\n        raise ValueError",
        "def f(a):\n    try:\n        while True: pass\n    except BaseException:\n        return 1",
    ] {
        let function = define(body, &[DataType::Int64], DataType::Int64);
        for on_error_null in [false, true] {
            let took = time_out(&function, 50, on_error_null);
            assert!(took >= Duration::from_millis(50) && took < Duration::from_secs(5), "{body}: {took:?}");
        }
    }
}

/// Modules are shared by all functions, and `importlib` cannot take an exception from outside.
#[test]
fn an_import_is_not_broken() {
    let source = "
import pathlib, sys, tempfile
folder = tempfile.mkdtemp()
pathlib.Path(folder, 'exuvia_slow.py').write_text('''
import sys, time
sys.exuvia_slow_runs = getattr(sys, 'exuvia_slow_runs', 0) + 1
end = time.monotonic() + 0.5
while time.monotonic() < end: pass
''')
sys.path.insert(0, folder)
def f(a):
    import exuvia_slow
    while a < 0: pass
    return sys.exuvia_slow_runs";
    let function = define(source, &[DataType::Int64], DataType::Int64);
    let deadline = Some(Instant::now() + Duration::from_millis(50));
    let endless: ArrayRef = Arc::new(Int64Array::from(vec![-1]));
    // It ends behind the import.
    let result = function.call(&[endless], 1, &PyCall { deadline, ..PyCall::default() });
    assert_eq!(result.unwrap_err(), PyFailure::TimedOut);
    assert_eq!(call(&function, &rows(1)).unwrap().as_primitive::<Int64Type>().values(), &[1], "it was imported twice");
}

#[test]
fn a_deadline_that_has_passed_runs_nothing() {
    let function = define("def f(a): raise ValueError", &[DataType::Int64], DataType::Int64);
    time_out(&function, 0, false);
}

#[test]
fn short_rows_end_between_rows() {
    let source = "import time\ndef f(a):\n    time.sleep(0.01)\n    return a";
    let took = time_out(&define(source, &[DataType::Int64], DataType::Int64), 100, false);
    assert!(took < Duration::from_secs(5));
}

#[test]
fn a_call_into_c_that_ends_too_late_has_no_result() {
    let function = define("def f(a): return 3 ** 2000000 % 7 + a", &[DataType::Int64], DataType::Int64);
    let deadline = Some(Instant::now() + Duration::from_millis(20));
    let result = function.call(&[rows(1)], 1, &PyCall { deadline, ..PyCall::default() });
    assert_eq!(result.unwrap_err(), PyFailure::TimedOut);
}

#[test]
fn a_cancelled_call_ends_and_the_function_stays_usable() {
    let function = define("def f(a):\n    while a < 0: pass\n    return a", &[DataType::Int64], DataType::Int64);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let endless: ArrayRef = Arc::new(Int64Array::from(vec![1, -1]));
        let running = scope.spawn(|| function.call(&[endless], 2, &PyCall { stop: Some(&stop), ..PyCall::default() }));
        // Others run meanwhile.
        for _ in 0..5 {
            assert_eq!(call(&function, &rows(3)).unwrap().as_primitive::<Int64Type>().values(), &[0, 1, 2]);
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(running.join().unwrap().unwrap_err(), PyFailure::Interrupted);
    });
    for _ in 0..100 {
        assert_eq!(call(&function, &rows(3)).unwrap().as_primitive::<Int64Type>().values(), &[0, 1, 2]);
    }
}

#[test]
fn a_set_flag_runs_nothing() {
    let function = define("def f(a): raise ValueError", &[DataType::Int64], DataType::Int64);
    let result = function.call(&[rows(1)], 1, &PyCall { stop: Some(&AtomicBool::new(true)), ..PyCall::default() });
    assert_eq!(result.unwrap_err(), PyFailure::Interrupted);
}

#[test]
fn an_exception_on_its_way_does_not_hit_the_next_call() {
    let slow = define("def f(a):\n    for i in range(2000): pass\n    return a", &[DataType::Int64], DataType::Int64);
    let quick = define("def f(a): return a", &[DataType::Int64], DataType::Int64);
    for millis in 0..60 {
        let deadline = Some(Instant::now() + Duration::from_micros(millis * 400));
        let _ = slow.call(&[rows(1000)], 1000, &PyCall { deadline, ..PyCall::default() });
        assert_eq!(call(&quick, &rows(100)).unwrap().as_primitive::<Int64Type>().value(99), 99);
    }
}
