//! Runs over streams of batches, wherever Python runs.

use super::definition;
use crate::python;
use arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields, Int64Type, Schema};
use exuvia_engine::interpreter::{
    Calling, Form, Pulled, Pushed, PyCall, PyDefinition, PyFailure, PyFunction, PyRun, RowFailure,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The function `f` of one parameter `a`, in a form.
fn define(source: &str, form: Form, param: DataType, returns: DataType) -> PyFunction {
    let calling = Calling { form, tables: &[form == Form::Table], ..Calling::default() };
    python().define(PyDefinition { calling, ..definition(source, &[param], &returns) }).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, column)| column).collect())
        .unwrap()
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn columns(name: &str) -> Fields {
    Fields::from(vec![Field::new(name, DataType::Int64, true)])
}

/// Runs a function over batches and gives the last column of what it pushes.
fn run(
    function: &PyFunction,
    batches: Vec<RecordBatch>,
    most: usize,
    call: &PyCall<'_>,
) -> Result<Vec<i64>, PyFailure> {
    let mut given = batches.into_iter();
    let mut found = vec![];
    let mut pushes = 0;
    let mut pull = |_: usize| given.next().map_or(Pulled::End, Pulled::Batch);
    let mut push = |batch: RecordBatch| {
        let last = Arc::clone(batch.columns().last().unwrap());
        if last.data_type() == &DataType::Int64 {
            found.extend(last.as_primitive::<Int64Type>().values());
        }
        pushes += 1;
        if pushes < most { Pushed::More } else { Pushed::Stop }
    };
    let mut streams = PyRun {
        inputs: &[columns("a")],
        output: Some(columns("y")),
        scalars: &[],
        batch_rows: 3,
        call_time: Some(Duration::from_secs(20)),
        pull: &mut pull,
        push: &mut push,
    };
    match function.run(&mut streams, call) {
        // Whoever stops a run has what it wanted.
        Err(PyFailure::Interrupted) if pushes == most => Ok(found),
        Err(failure) => Err(failure),
        Ok(()) => Ok(found),
    }
}

#[test]
fn rows_come_for_each_row_in_order() {
    let source = "def f(a):\n    for i in range(a): yield i + 10 * a";
    let returns = DataType::Struct(columns("y"));
    let function = define(source, Form::Rows, DataType::Int64, returns.clone());
    let given = || vec![batch(vec![("a", ints(&[2, 0, 1]))]), batch(vec![("a", ints(&[3]))])];
    assert_eq!(run(&function, given(), 100, &PyCall::default()).unwrap(), [20, 21, 10, 30, 31, 32]);
    // Nobody wants more after the first push.
    let endless = "def f(a):\n    while True: yield a";
    let function = define(endless, Form::Rows, DataType::Int64, returns.clone());
    assert_eq!(run(&function, given(), 2, &PyCall::default()).unwrap(), [2, 2, 2]);
    let raising = define("def f(a):\n    yield 1\n    raise KeyError(a)", Form::Rows, DataType::Int64, returns);
    match run(&raising, given(), 100, &PyCall::default()).unwrap_err() {
        PyFailure::Row { row: 0, class, message, line: Some(3), kind: RowFailure::Exception } => {
            assert_eq!((class.as_str(), message.as_str()), ("KeyError", "2"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn states_carry_out_commands() {
    let source = "class f:\n    def __init__(self): self.n = 0\n    def accumulate(self, a): self.n += a\n    \
                  def merge(self, other): self.n += other.n\n    def finish(self): return self.n";
    let function = define(source, Form::States, DataType::Int64, DataType::Int64);
    let command = |command: i32, groups: &[u64], values: Option<&[i64]>| {
        let mut all: Vec<(&str, ArrayRef)> = vec![
            ("command", Arc::new(Int32Array::from(vec![command; groups.len()]))),
            ("group", Arc::new(UInt64Array::from(groups.to_vec()))),
        ];
        all.extend(values.map(|values| ("a", ints(values))));
        batch(all)
    };
    let commands = vec![
        command(0, &[0, 1, 0, 2], Some(&[1, 2, 3, 4])),
        command(2, &[0, 1, 2, 3], None),
        // The first two groups are forgotten, and the third is the first now.
        command(4, &[0, 0], None),
        command(0, &[0], Some(&[10])),
        command(2, &[0], None),
    ];
    assert_eq!(run(&function, commands, 100, &PyCall::default()).unwrap(), [4, 2, 4, 0, 14]);
}

#[test]
fn runs_end_by_flag_and_deadline() {
    let returns = DataType::Struct(columns("y"));
    let function = define("def f(a):\n    while a: pass\n    yield a", Form::Rows, DataType::Int64, returns);
    let given = || vec![batch(vec![("a", ints(&[1]))])];
    let start = Instant::now();
    let deadline = Some(start + Duration::from_millis(100));
    let timed = run(&function, given(), 100, &PyCall { deadline, ..PyCall::default() });
    assert_eq!(timed.unwrap_err(), PyFailure::TimedOut);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
        });
        let stopped = run(&function, given(), 100, &PyCall { stop: Some(&stop), ..PyCall::default() });
        assert_eq!(stopped.unwrap_err(), PyFailure::Interrupted);
    });
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn tables_and_columns_come_and_go() {
    // Only where pandas is installed, as for users.
    let probe = "import importlib.util\nassert importlib.util.find_spec('pandas') and importlib.util.find_spec('pyarrow')\n\
                 def f(a): return 1";
    if python().define(definition(probe, &[DataType::Int64], &DataType::Int64)).is_err() {
        return;
    }
    let given = || vec![batch(vec![("a", ints(&[3, 1]))]), batch(vec![("a", ints(&[2]))])];
    let table = define(
        "def f(t): return t.sort_values('a').rename(columns={'a': 'y'})",
        Form::Table,
        DataType::Null,
        DataType::Struct(columns("y")),
    );
    assert_eq!(run(&table, given(), 100, &PyCall::default()).unwrap(), [1, 2, 3]);
    let column = define(
        "import pandas as pd\ndef f(a: pd.Series): return a + len(a)",
        Form::Columns,
        DataType::Int64,
        DataType::Struct(columns("y")),
    );
    assert_eq!(run(&column, given(), 100, &PyCall::default()).unwrap(), [5, 3, 3]);
}
