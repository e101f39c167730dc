//! What a call of a Python function costs per row beyond the function itself: the same
//! function on a batch through the engine, and in a Python loop over values that are
//! Python objects already, whose results are put into an `array` or a list.
//!
//! `cargo run --release -p exuvia-engine --example interpreter_overhead`

use arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Float64Type};
use exuvia_engine::interpreter::{Interpreter, PrintSink, PyCall, PyDefinition, PyFunction};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const ROWS: i64 = 8192;

fn define(source: &str, params: &[DataType], returns: &DataType) -> Result<PyFunction, String> {
    let definition = PyDefinition {
        name: "f",
        source,
        handler: "f",
        first_line: 1,
        strict: false,
        calling: exuvia_engine::interpreter::Calling::default(),
        param_names: &["a", "b"][..params.len()],
        params,
        returns,
        print: &PrintSink::STDOUT,
    };
    Interpreter::get()?.define(definition).map_err(|error| format!("{}: {}", error.class, error.message))
}

/// The fastest of some runs, in nanoseconds a row.
fn time(mut run: impl FnMut()) -> f64 {
    let runs = (0..60).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / ROWS as f64
    });
    runs.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), String> {
    println!("Python {}", Interpreter::get()?.version());
    let ints: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| row * 1_000_003)));
    let floats: ArrayRef = Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| row as f64 / 7.0)));
    let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..ROWS).map(|row| format!("row number {row}"))));
    let flags: ArrayRef = Arc::new(BooleanArray::from_iter((0..ROWS).map(|row| Some(row % 3 == 0))));
    // The body, the arguments, the result's type; how the loop keeps results, and the
    // values that the loop gets, which are those of the columns.
    let cases: [(&str, Vec<ArrayRef>, DataType, &str, &str); 7] = [
        (
            "def f(a): return a",
            vec![ints.clone()],
            DataType::Int64,
            "array('q', R)",
            "[i * 1000003 for i in range(8192)]",
        ),
        (
            "def f(a): return a + 1",
            vec![ints.clone()],
            DataType::Int64,
            "array('q', R)",
            "[i * 1000003 for i in range(8192)]",
        ),
        (
            "def f(a, b): return a * b",
            vec![floats.clone(), floats],
            DataType::Float64,
            "array('d', R)",
            "[i / 7 for i in range(8192)]",
        ),
        (
            "def f(a): return not a",
            vec![flags],
            DataType::Boolean,
            "array('b', R)",
            "[i % 3 == 0 for i in range(8192)]",
        ),
        (
            "def f(a): return len(a)",
            vec![texts.clone()],
            DataType::Int64,
            "array('q', R)",
            "[f'row number {i}' for i in range(8192)]",
        ),
        (
            "def f(a): return a.upper()",
            vec![texts],
            DataType::Utf8View,
            "list(R)",
            "[f'row number {i}' for i in range(8192)]",
        ),
        (
            "def f(a):\n    t = 0\n    for i in range(10):\n        t += a % (i + 1)\n    return t",
            vec![ints],
            DataType::Int64,
            "array('q', R)",
            "[i * 1000003 for i in range(8192)]",
        ),
    ];
    println!("{:>24} {:>10} {:>10} {:>6}", "", "here, ns", "loop, ns", "ratio");
    for (source, args, returns, keep, values) in cases {
        let types: Vec<DataType> = args.iter().map(|arg| arg.data_type().clone()).collect();
        let function = define(source, &types, &returns)?;
        let stop = AtomicBool::new(false);
        let call = PyCall { stop: Some(&stop), ..PyCall::default() };
        let ours = time(|| {
            function.call(&args, ROWS as usize, &call).expect("the call succeeds");
        });
        let names = if args.len() == 2 { "f(a, a)" } else { "f(a)" };
        let peer = format!(
            "{source}\ng = f\nfrom array import array\nfrom time import perf_counter_ns\nVALUES = {values}\ndef f():\n    best = 1e18\n    for _ in range(60):\n        start = perf_counter_ns()\n        {}\n        best = min(best, perf_counter_ns() - start)\n    return best / 8192",
            keep.replace('R', &format!("[{} for a in VALUES]", names.replace('f', "g")))
        );
        let peer = define(&peer, &[], &DataType::Float64)?;
        let peer = peer.call(&[], 1, &call).map_err(|error| format!("{error:?}"))?;
        let peer = peer.as_primitive::<Float64Type>().value(0);
        let name = source.trim_start_matches("def ").lines().next().unwrap_or_default();
        println!("{name:>24} {ours:>10.1} {peer:>10.1} {:>6.2}", ours / peer);
    }
    Ok(())
}
