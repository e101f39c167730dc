//! Running modules and finding handlers.

use super::{call, define, definition, try_define};
use arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Int64Type};
use exuvia_engine::interpreter::{PrintSink, PyCall, PyDefinition, PyError, PyFailure};
use std::sync::{Arc, Mutex};

fn refused(source: &str) -> (String, String, Option<u32>) {
    match try_define(source, &[DataType::Int64], DataType::Int64) {
        Err(PyError { class, message, line }) => (class, message, line),
        Ok(_) => panic!("{source} is a definition"),
    }
}

fn error(class: &str, message: &str, line: u32) -> (String, String, Option<u32>) {
    (class.to_string(), message.to_string(), (line > 0).then_some(line))
}

#[test]
fn what_is_wrong_with_a_module_is_told_with_its_line() {
    assert_eq!(refused("def f(a):\n    return (a"), error("SyntaxError", "'(' was never closed", 2));
    assert_eq!(
        refused("def f(a):\nreturn a"),
        error("IndentationError", "expected an indented block after function definition on line 1", 2)
    );
    assert_eq!(refused("x = 1\ny = 1 / 0\ndef f(a): return a"), error("ZeroDivisionError", "division by zero", 2));
    assert_eq!(refused("def g(): raise KeyError('k')\n\ng()"), error("KeyError", "'k'", 1));
    assert_eq!(refused("import no_such_module"), error("ModuleNotFoundError", "No module named 'no_such_module'", 1));
    assert_eq!(refused("import sys\nsys.exit(3)"), error("SystemExit", "3", 2));
    assert_eq!(refused("def g(a): return a"), error("NameError", "name 'f' is not defined", 0));
    assert_eq!(refused("f = 1"), error("TypeError", "f is not callable, it is of type int", 0));
    assert_eq!(
        refused("\ndef f(a): yield a"),
        error("TypeError", "f is a generator function, which gives no value", 2)
    );
    assert_eq!(refused("async def f(a): pass").1, "f is a coroutine function, which gives no value");
    assert_eq!(refused("def f(a, b): pass"), error("TypeError", "f takes 2 arguments, but the SQL function has 1", 1));
    assert_eq!(refused("def f(): pass").1, "f takes 0 arguments, but the SQL function has 1");
    assert_eq!(refused("def f(a, b, c=1): pass").1, "f takes at least 2 arguments, but the SQL function has 1");
    assert_eq!(refused("def f(a, *, k): pass").1, "f has the keyword-only parameter k, which SQL cannot pass");
    // `eval` in the module is not the module.
    assert_eq!(refused("x = 1\neval('1 +')").0, "SyntaxError");
}

#[test]
fn lines_are_counted_from_the_script_s() {
    let definition = |source| PyDefinition { first_line: 40, ..definition(source, &[], &DataType::Int64) };
    let python = crate::python();
    assert_eq!(python.define(definition("x = 1\n1 / 0")).unwrap_err().line, Some(41));
    assert_eq!(python.define(definition("x = 1\n1 1")).unwrap_err().line, Some(41));
    let function = python.define(definition("def f():\n    return 1 / 0")).unwrap();
    let failure = function.call(&[], 1, &PyCall::default()).unwrap_err();
    assert!(matches!(failure, PyFailure::Row { line: Some(41), .. }), "{failure:?}");
}

#[test]
fn tracebacks_find_the_source() {
    let source = "import inspect\ndef sourced(): return inspect.getsource(sourced)\n";
    let definition = PyDefinition { name: "sourced", handler: "sourced", ..definition(source, &[], &DataType::Utf8) };
    let function = crate::python().define(definition).unwrap();
    let source = function.call(&[], 1, &PyCall::default()).unwrap();
    assert_eq!(source.as_string::<i32>().value(0), "def sourced(): return inspect.getsource(sourced)\n");
}

#[test]
fn other_parameters_and_callables_serve() {
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![3]));
    for source in [
        "def f(a, b=2, *c, k=1): return a + b + k",
        "def f(*a): return sum(a) + 3",
        "f = lambda a: a + 3",
        "import functools\n@functools.lru_cache\ndef f(a): return a + 3",
        "class F:\n    def __call__(self, a): return a + 3\nf = F()",
        "class C:\n    def m(self, a): return a + 3\nf = C().m",
        "from functools import partial\nf = partial(lambda a, b: a + b, 3)",
        "if True:\n    def f(a): return a + 3",
    ] {
        let function = define(source, &[DataType::Int64], DataType::Int64);
        assert_eq!(call(&function, &rows).unwrap().as_primitive::<Int64Type>().value(0), 6, "{source}");
    }
}

#[test]
fn a_module_runs_once_and_each_definition_has_its_own() {
    let source = "n = 0\ndef f(a):\n    global n\n    n += a\n    return n";
    let (one, other) =
        (define(source, &[DataType::Int64], DataType::Int64), define(source, &[DataType::Int64], DataType::Int64));
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 10]));
    let values = |function| call(function, &rows).unwrap().as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(values(&one), [1, 11]);
    assert_eq!(values(&one), [12, 22]);
    assert_eq!(values(&other), [1, 11]);
}

#[test]
fn python_is_as_promised() {
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![0]));
    let text = |expression: &str| {
        let function =
            define(&format!("import sys\ndef f(a): return str({expression})"), &[DataType::Int64], DataType::Utf8);
        call(&function, &rows).unwrap().as_string::<i32>().value(0).to_string()
    };
    assert_eq!(text("'.'.join(map(str, sys.version_info[:3]))"), crate::python().version());
    assert_eq!(text("sys.flags.hash_randomization"), "0");
    assert_eq!(text("hash('abc') == hash('abc') and {'a', 'b', 'c', 'd'}"), expected_set());
    assert_eq!(text("sys.getrecursionlimit()"), "1000");
    assert_eq!(text("__name__"), "f");
    assert_eq!(text("f.__code__.co_filename"), "<function f>");
    // Ctrl-C is not Python's; bit 1 is SIGINT.
    let caught =
        text("__import__('signal') and [line.split()[1] for line in open('/proc/self/status') if 'SigCgt' in line][0]");
    assert_eq!(u64::from_str_radix(&caught, 16).unwrap() & 2, 0);
}

/// The order of a set under `PYTHONHASHSEED=0`, asked of the same Python.
fn expected_set() -> String {
    let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3.11".to_string());
    let output = std::process::Command::new(python)
        .args(["-c", "print({'a', 'b', 'c', 'd'})"])
        .env("PYTHONHASHSEED", "0")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

#[test]
fn what_is_printed_goes_to_the_sink_row_by_row() {
    let printed = Arc::new(Mutex::new(Vec::new()));
    let print = &PrintSink::new({
        let printed = Arc::clone(&printed);
        move |text| printed.lock().unwrap().push(text.to_string())
    });
    let source = "print('module')
def f(a):
    if a == 'x': return a
    print(a, end='')
    print('!')
    return a.no if a == 'bad' else a";
    let definition = PyDefinition { print, ..definition(source, &[DataType::Utf8], &DataType::Utf8) };
    let function = crate::python().define(definition).unwrap();
    let rows: ArrayRef = Arc::new(StringArray::from(vec!["one", "x", "zwei\u{e9}", "bad"]));
    let failure = function.call(&[rows], 4, &PyCall { print, ..PyCall::default() }).unwrap_err();
    assert!(matches!(failure, PyFailure::Row { row: 3, .. }));
    assert_eq!(*printed.lock().unwrap(), ["module\n", "one!\n", "zwei\u{e9}!\n", "bad!\n"]);
}

#[test]
fn definitions_and_calls_on_many_threads() {
    std::thread::scope(|scope| {
        for number in 0..8i64 {
            scope.spawn(move || {
                for _ in 0..20 {
                    let source = format!("import decimal\nprint(end='')\ndef f(a): return a * {number}");
                    let function = define(&source, &[DataType::Int64], DataType::Int64);
                    let rows: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
                    let column = call(&function, &rows).unwrap();
                    assert_eq!(column.as_primitive::<Int64Type>().value(999), 999 * number);
                }
            });
        }
    });
}
