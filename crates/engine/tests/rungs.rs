//! A batch on each rung: the same results, and the counters that say where rows ran.

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, Int64Array, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use exuvia_engine::{CallErrorKind, Definition, Function, Interpreter, Invocation, OnError, Parameter, Rung, Settings};
use std::sync::Arc;

fn definition(source: &str, params: &[(&str, DataType)], returns: DataType) -> Definition {
    Definition {
        name: "f".to_string(),
        params: params.iter().map(|(name, ty)| Parameter { name: (*name).to_string(), ty: ty.clone() }).collect(),
        returns,
        source: source.to_string(),
        handler: None,
        first_line: 1,
        strict: false,
        volatility: None,
        on_error: OnError::Raise,
        interpreter: Interpreter::Auto,
        timeout: None,
        models: vec![],
        columns: vec![],
        whole: false,
    }
}

fn invocation() -> Invocation {
    Invocation { cancelled: Arc::default(), deadline: None, without_python: false }
}

#[test]
fn an_overflow_leaves_native_code_and_the_evaluator_finishes_the_row() {
    let settings = Settings::default();
    let source = "def f(x):\n    return x * x * x // (x * x)\n";
    let function = Function::define(definition(source, &[("x", DataType::Int64)], DataType::Int64), &settings).unwrap();
    let xs: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), Some(i64::MAX - 1), Some(-7)]));
    let out = function.invoke(&[xs], 3, &settings, &invocation()).unwrap();
    let expected = Int64Array::from(vec![3, i64::MAX - 1, -7]);
    assert_eq!(out.as_primitive::<Int64Type>(), &expected);
    let placement = function.placement(&settings);
    assert_eq!((placement.rung, placement.rows, placement.evaluated_rows), (Rung::Native, 3, 1));
}

/// A constant that needs more than 64 bits is no reason to leave native code.
#[test]
fn constants_beyond_64_bits_stay_native_where_the_result_fits() {
    let settings = Settings::default();
    let xs: ArrayRef = Arc::new(Int64Array::from_iter_values((0..1000).map(|n| n * 9_000_000_000_000_000 + n)));
    for (expr, returns) in [
        ("x / 10 ** 20", DataType::Float64),
        ("x / math.factorial(40)", DataType::Float64),
        ("x / 1_000_000_000", DataType::Float64),
        ("10 ** 30 / (x + 1)", DataType::Float64),
        ("float(x) * 10 ** 20", DataType::Float64),
        ("x & 0xFFFF_FFFF_FFFF_FFFF", DataType::Int64),
        ("x % 2 ** 64", DataType::Int64),
        ("x // 10 ** 20", DataType::Int64),
        ("-(2 ** 63) - 1 + x if x > 0 else 0", DataType::Int64),
        ("(-x - 1) + 2 ** 63", DataType::Int64),
        ("10 ** 20 % (x + 1)", DataType::Int64),
        ("pow(x, 3, 10 ** 20) % 97 if x < 1000 else 0", DataType::Int64),
        ("min(x, 10 ** 20)", DataType::Int64),
    ] {
        let source = format!("import math\ndef f(x):\n    return {expr}\n");
        let function = Function::define(definition(&source, &[("x", DataType::Int64)], returns), &settings).unwrap();
        function.invoke(&[Arc::clone(&xs)], xs.len(), &settings, &invocation()).unwrap();
        let placement = function.placement(&settings);
        let left = placement.evaluated_rows + placement.python_rows;
        assert_eq!((placement.rung, placement.rows, left), (Rung::Native, 1000, 0), "{expr}");
    }
}

/// Every unit of TIMESTAMP and TIME runs natively; what the other side cannot hold is an error.
#[test]
fn times_of_every_unit() {
    let settings = Settings::default();
    let units = [
        (TimeUnit::Second, 1),
        (TimeUnit::Millisecond, 1_000),
        (TimeUnit::Microsecond, 1_000_000),
        (TimeUnit::Nanosecond, 1_000_000_000),
    ];
    for (unit, per_second) in units {
        let ty = DataType::Timestamp(unit, None);
        let source = "from datetime import timedelta\ndef f(t):\n    return t + timedelta(minutes=1) if t else t\n";
        let function = Function::define(definition(source, &[("t", ty.clone())], ty.clone()), &settings).unwrap();
        let counts = [Some(0), None, Some(-86_400), Some(1_709_210_096)];
        let column = |plus: i64| -> ArrayRef {
            let counts = Int64Array::from_iter(counts.map(|count| count.map(|count| (count + plus) * per_second)));
            cast(&counts, &ty).unwrap()
        };
        // The column as it is, and with its values in a dictionary.
        let keys = Int32Array::from(vec![0, 1, 2, 3]);
        let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, column(0)));
        for argument in [column(0), dictionary] {
            let out = function.invoke(&[argument], 4, &settings, &invocation()).unwrap();
            assert_eq!(&out, &column(60), "{unit:?}");
        }
        let placement = function.placement(&settings);
        let left = placement.evaluated_rows + placement.python_rows;
        assert_eq!((placement.rung, placement.rows, left), (Rung::Native, 8, 0), "{unit:?}");
        assert!(function.formula(false, &settings).is_none(), "SQL would see counts where it has timestamps");

        let ty = match unit {
            TimeUnit::Second | TimeUnit::Millisecond => DataType::Time32(unit),
            TimeUnit::Microsecond | TimeUnit::Nanosecond => DataType::Time64(unit),
        };
        let source = "def f(t):\n    return t.replace(minute=5)\n";
        let function = Function::define(definition(source, &[("t", ty.clone())], ty.clone()), &settings).unwrap();
        let counts = Int64Array::from(vec![3_600 * per_second, 86_399 * per_second]);
        let times = |counts: &Int64Array| match unit {
            TimeUnit::Second | TimeUnit::Millisecond => cast(&cast(counts, &DataType::Int32).unwrap(), &ty).unwrap(),
            TimeUnit::Microsecond | TimeUnit::Nanosecond => cast(counts, &ty).unwrap(),
        };
        let out = function.invoke(&[times(&counts)], 2, &settings, &invocation()).unwrap();
        assert_eq!(&out, &times(&Int64Array::from(vec![3_900 * per_second, 83_159 * per_second])), "{unit:?}");
        assert_eq!(function.placement(&settings).rung, Rung::Native);
    }
    let message = |source: &str, ty: &DataType, returns: &DataType, count: i64| {
        let function = Function::define(definition(source, &[("t", ty.clone())], returns.clone()), &settings).unwrap();
        let argument = cast(&Int64Array::from(vec![count]), ty).unwrap();
        function.invoke(&[argument], 1, &settings, &invocation()).unwrap_err().to_string()
    };
    let (seconds, nanos) =
        (DataType::Timestamp(TimeUnit::Second, None), DataType::Timestamp(TimeUnit::Nanosecond, None));
    let lost = message("def f(t):\n    return t.replace(microsecond=1)\n", &seconds, &seconds, 0);
    assert!(
        lost.starts_with(
            "returned datetime.datetime(1970, 1, 1, 0, 0, 0, 1) of type datetime, which TIMESTAMP(0) cannot hold"
        ),
        "{lost}"
    );
    let far = message("def f(t):\n    return t.replace(year=2300)\n", &seconds, &nanos, 0);
    assert!(
        far.starts_with("returned datetime.datetime(2300, 1, 1, 0, 0) of type datetime, which TIMESTAMP cannot hold"),
        "{far}"
    );
    // What no datetime holds CPython refuses.
    let argument = message("def f(t):\n    return t\n", &nanos, &nanos, 1);
    let needed = if cfg!(feature = "python") { "datetime.datetime" } else { "needs CPython" };
    assert!(argument.contains(needed), "{argument}");
}

#[test]
fn an_exception_is_reported_with_its_place_and_the_arguments() {
    let settings = Settings::default();
    let source = "def f(s, n):\n    if n > 1:\n        return s.index('x') // n\n    return 0\n";
    let params = [("s", DataType::Utf8View), ("n", DataType::Int64)];
    let function = Function::define(definition(source, &params, DataType::Int64), &settings).unwrap();
    let s: ArrayRef = Arc::new(StringViewArray::from(vec!["axb", "é"]));
    let n: ArrayRef = Arc::new(Int64Array::from(vec![2, 5]));
    let error = function.invoke(&[s, n], 2, &settings, &invocation()).unwrap_err();
    assert_eq!(
        error.kind,
        CallErrorKind::Python { class: "ValueError".to_string(), message: "substring not found".to_string() }
    );
    let expected = "ValueError: substring not found\n  in function f, line 3\n  |\n3 |         return s.index('x') // n\n  |                ^^^^^^^^^^^^\n  called with s = 'é', n = 5";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn every_failure_of_a_rung_goes_to_the_next() {
    let source = "def f(x):\n    t = 0\n    for i in range(x):\n        t += i * i\n    return t\n";
    let xs: ArrayRef = Arc::new(Int64Array::from(vec![0, 5, 100]));
    for (fault, native, rung) in [
        ("", true, Rung::Native),
        ("compile", true, Rung::Evaluator),
        ("", false, Rung::Evaluator),
        ("guards", true, Rung::Native),
    ] {
        let settings = Settings { native, fault: fault.to_string(), interpreter: false, ..Settings::default() };
        let function =
            Function::define(definition(source, &[("x", DataType::Int64)], DataType::Int64), &settings).unwrap();
        let out = function.invoke(&[Arc::clone(&xs)], 3, &settings, &invocation()).unwrap();
        assert_eq!(out.as_primitive::<Int64Type>().values().as_ref(), &[0, 30, 328_350]);
        assert_eq!(function.placement(&settings).rung, rung);
    }
}

#[test]
fn what_cannot_be_lifted_is_refused_without_an_interpreter() {
    let settings = Settings { interpreter: false, ..Settings::default() };
    let source = "import re\n\ndef f(x):\n    with open(x) as g:\n        return g.read()\n";
    let error =
        Function::define(definition(source, &[("x", DataType::Utf8View)], DataType::Utf8View), &settings).unwrap_err();
    assert_eq!(
        error.message,
        "it cannot be lifted (E004 unsupported function: built-in open is not lifted) and CPython is off"
    );
    assert_eq!(error.place.unwrap().line, 4);
}

#[test]
fn what_may_change_a_list_of_its_module_is_left_to_cpython() {
    let sources = [
        "R = [[3, 1], [2]]\ndef f(x):\n    R[x % 2].append(x)\n    return str(R)",
        "R = [[3, 1], [2]]\ndef f(x):\n    row = R[:][x % 2]\n    before = str(R)\n    row.sort()\n    return before",
        "R = ((5, [2]), (6, [3]))\ndef f(x):\n    n, xs = R[x % 2]\n    xs.append(n)\n    return str(R[0])",
        "R = [[1], [2]]\ndef put(xs, x):\n    xs[0] = x\ndef f(x):\n    put(R[x % 2], x)\n    return str(R)",
        "R = [[1], [2]]\ndef f(x):\n    held = []\n    held.append(R[x % 2])\n    held[0].append(x)\n    return str(R)",
        "R = [[1], [2]]\ndef pick(x):\n    return R[x % 2]\ndef f(x):\n    pick(x).clear()\n    return str(R)",
        "D = {'a': [[1], [2]]}\ndef f(x):\n    D['a'][x % 2].append(x)\n    return str(D)",
        "class Grid:\n    rows = [[0], [1]]\ndef f(x):\n    Grid.rows[x % 2][0] += x\n    return str(Grid.rows)",
        "def f(x, acc=[[0], [1]]):\n    acc[x % 2].append(x)\n    return str(acc)",
        "A = [1]\nB = [2]\ndef f(x):\n    xs = A if x > 1 else B\n    xs += [7]\n    return str(A)",
        "A = {1}\nB = {2}\ndef f(x):\n    xs = A if x > 1 else B\n    xs |= {7}\n    return str(len(A))",
        "A = {'a': 1}\nB = {'b': 2}\ndef f(x):\n    xs = A if x > 1 else B\n    xs |= {'c': 7}\n    return str(A)",
        "A = {1}\ndef f(x):\n    xs = [A, {7}][x % 2]\n    xs.add(8)\n    return str(len(A))",
        "A = {'n': 0}\ndef f(x):\n    xs = [A, {'m': 7}][x % 2]\n    xs.update({'q': 1})\n    return str(len(A))",
    ];
    let settings = Settings { interpreter: false, ..Settings::default() };
    let define =
        |source: &str| Function::define(definition(source, &[("x", DataType::Int64)], DataType::Utf8View), &settings);
    for source in sources {
        let error = define(source).map(|_| source).unwrap_err();
        assert!(error.message.contains("E007"), "{source}: {}", error.message);
    }
    // What only reads one, or changes a copy, stays native.
    let others = [
        "R = [[3, 1], [2]]\ndef f(x):\n    row = R[x % 2][:]\n    row.append(7)\n    return str(R) + str(row)",
        "R = [[3, 1], [2]]\ndef f(x):\n    rows = R[:]\n    rows.append([7])\n    return str(rows)",
        "R = [[3, 1], [2]]\ndef f(x):\n    rows = []\n    rows.append(R[x % 2])\n    rows.append([7])\n    return str(rows)",
    ];
    for source in others {
        assert_eq!(define(source).unwrap().placement(&settings).rung, Rung::Native, "{source}");
    }
}

#[test]
fn nulls_and_results() {
    let settings = Settings::default();
    let source = "return None if s is None else s.upper() + '!'";
    let function =
        Function::define(definition(source, &[("s", DataType::Utf8View)], DataType::Utf8View), &settings).unwrap();
    let s: ArrayRef = Arc::new(StringViewArray::from(vec![Some("a"), None, Some("straße, a long text of its own")]));
    let out = function.invoke(&[s], 3, &settings, &invocation()).unwrap();
    let out = out.as_string_view();
    assert_eq!((out.value(0), out.is_null(1), out.value(2)), ("A!", true, "STRASSE, A LONG TEXT OF ITS OWN!"));
}

#[test]
fn a_total_call_gives_a_value_for_whatever_arguments() {
    let (int, text) = (DataType::Int64, DataType::Utf8View);
    for (body, param, returns, strict, on_error, total) in [
        ("return x.startswith('a')", &text, DataType::Boolean, true, OnError::Raise, true),
        ("return x.strip().lower()", &text, DataType::Utf8View, true, OnError::Raise, true),
        // None has no attribute.
        ("return x.startswith('a')", &text, DataType::Boolean, false, OnError::Raise, false),
        ("return x.startswith('a')", &text, DataType::Boolean, false, OnError::Null, true),
        ("return x is not None and x[:1] == 'a'", &text, DataType::Boolean, false, OnError::Raise, true),
        ("return x[0]", &text, DataType::Utf8View, true, OnError::Raise, false),
        ("return int(x) > 3", &text, DataType::Boolean, true, OnError::Raise, false),
        ("return int(x)", &text, DataType::Int64, true, OnError::Null, false),
        ("return len(x)", &text, DataType::Int64, true, OnError::Raise, true),
        // The result may not fit.
        ("return x + 1", &int, DataType::Int64, true, OnError::Raise, false),
        ("return x + 1 > 5", &int, DataType::Boolean, true, OnError::Raise, true),
        ("return x", &int, DataType::Int32, true, OnError::Raise, false),
        ("return x % 10", &int, DataType::Int64, true, OnError::Raise, true),
        ("return x % 10 if x > 3 else 'a'", &int, DataType::Int64, true, OnError::Null, false),
        ("return 10 // x", &int, DataType::Int64, true, OnError::Raise, false),
        (
            "try:\n    return 10 % x\nexcept ZeroDivisionError:\n    return 0",
            &int,
            DataType::Int64,
            true,
            OnError::Raise,
            true,
        ),
        ("if x > 3:\n    raise ValueError(x)\nreturn 1", &int, DataType::Int64, true, OnError::Raise, false),
        ("if x > 3:\n    raise ValueError(x)\nreturn 1", &int, DataType::Int64, true, OnError::Null, true),
        // Loops may take any time.
        (
            "for i in range(x):\n    if i > 5:\n        return True\nreturn False",
            &int,
            DataType::Boolean,
            true,
            OnError::Raise,
            false,
        ),
    ] {
        let definition = Definition { strict, on_error, ..definition(body, &[("x", param.clone())], returns) };
        let settings = Settings { interpreter: false, ..Settings::default() };
        let function = Function::define(definition, &settings).unwrap();
        assert_eq!(function.is_total(&settings), total, "{body}, strict {strict}, {on_error:?}");
    }
}

/// Where most rows outgrow 64 bits, they are done natively with 128 from the first batch on.
#[test]
fn rows_that_outgrow_64_bits_are_done_with_128() {
    let settings = Settings { interpreter: false, ..Settings::default() };
    let source = "def f(x):\n    n = 1\n    for i in range(2, 23 + x % 8):\n        n *= i\n    return n % 1000003\n";
    let function = Function::define(definition(source, &[("x", DataType::Int64)], DataType::Int64), &settings).unwrap();
    let xs: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let evaluated = Settings { native: false, ..settings.clone() };
    let expected = function.invoke(&[Arc::clone(&xs)], 1000, &evaluated, &invocation()).unwrap();
    let before = function.placement(&settings).evaluated_rows;
    let out = function.invoke(&[xs], 1000, &settings, &invocation()).unwrap();
    assert_eq!(out.as_primitive::<Int64Type>(), expected.as_primitive::<Int64Type>());
    assert_eq!(function.placement(&settings).evaluated_rows, before);
}

/// What a row does in CPython is not done twice: a call that may be begun again ends before.
#[cfg(feature = "python")]
#[test]
fn a_call_without_cpython_ends_where_a_row_needs_it() {
    let settings = Settings::default();
    let source = "def f(x):\n    return x if x < 5 else (1 << 2_000_000 + x) % 7\n";
    let function = Function::define(definition(source, &[("x", DataType::Int64)], DataType::Int64), &settings).unwrap();
    let tried = Invocation { without_python: true, ..invocation() };
    let call = |values: Vec<i64>, invocation: &Invocation| {
        let rows = values.len();
        function.invoke(&[Arc::new(Int64Array::from(values))], rows, &settings, invocation)
    };
    assert_eq!(call(vec![3, 4], &tried).unwrap().as_primitive::<Int64Type>().values(), &[3, 4]);
    assert_eq!(call(vec![3, 8], &tried).unwrap_err().kind, CallErrorKind::Cancelled);
    assert_eq!(call(vec![3, 8], &invocation()).unwrap().as_primitive::<Int64Type>().values(), &[3, 2]);
    assert_eq!(function.placement(&settings).python_rows, 1);
}

/// The evaluator is slower than CPython: a function whose rows have taken long there goes on in
/// CPython, where there is one.
#[cfg(feature = "python")]
#[test]
fn a_function_that_leaves_native_code_for_long_goes_on_in_cpython() {
    let settings = Settings::default();
    let source = "def f(s):\n    return int(s) % 97 + int(s) % 1009\n";
    let function =
        Function::define(definition(source, &[("s", DataType::Utf8View)], DataType::Int64), &settings).unwrap();
    // One of three leaves: of more, the next batch would go to CPython as a whole, if another test has started it.
    let text = |n: u32| if n.is_multiple_of(3) { format!("{n}98765432109876543210") } else { n.to_string() };
    let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..6000).map(text)));
    let run = || {
        let out = function.invoke(&[Arc::clone(&texts)], texts.len(), &settings, &invocation()).unwrap();
        let placement = function.placement(&settings);
        (out, placement.evaluated_rows, placement.python_rows)
    };
    let (first, evaluated, _) = run();
    assert!(evaluated > 0);
    let batches = (0..10_000).take_while(|_| run().2 == 0).count();
    assert!(batches < 10_000, "CPython does none");
    let evaluated = run().1;
    assert_eq!(run().1, evaluated, "the evaluator does more");
    assert_eq!(run().0.as_primitive::<Int64Type>(), first.as_primitive::<Int64Type>());
    // What raises is the evaluator's to tell.
    let wrong: ArrayRef = Arc::new(StringViewArray::from(vec!["98765432109876543210", "x"]));
    let error = function.invoke(&[wrong], 2, &settings, &invocation()).unwrap_err();
    let message = "invalid literal for int() with base 10: 'x'".to_string();
    assert_eq!(error.kind, CallErrorKind::Python { class: "ValueError".to_string(), message });
    // Without an interpreter the evaluator goes on.
    let alone = Settings { interpreter: false, ..Settings::default() };
    let out = function.invoke(&[Arc::clone(&texts)], texts.len(), &alone, &invocation()).unwrap();
    assert_eq!(out.as_primitive::<Int64Type>(), first.as_primitive::<Int64Type>());
}
