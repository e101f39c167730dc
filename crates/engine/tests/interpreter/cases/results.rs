//! Python objects as columns.

use super::{IMPORTS, call, define, refused, results, try_define};
use arrow::array::*;
use arrow::datatypes::*;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use exuvia_engine::interpreter::{PyFailure, RowFailure};
use std::sync::Arc;

/// What a column of the results shows as SQL would.
fn shown(expressions: &[&str], returns: DataType) -> Vec<String> {
    let column = results(expressions, returns.clone()).unwrap();
    assert_eq!(column.data_type(), &returns);
    let formatter = ArrayFormatter::try_new(&column, &FormatOptions::default().with_null("NULL")).unwrap();
    (0..column.len()).map(|row| formatter.value(row).to_string()).collect()
}

#[test]
fn integers() {
    assert_eq!(
        shown(&["-2**63", "None", "2**63 - 1"], DataType::Int64),
        ["-9223372036854775808", "NULL", "9223372036854775807"]
    );
    assert_eq!(shown(&["127", "-128"], DataType::Int8), ["127", "-128"]);
    assert_eq!(shown(&["2**64 - 1", "0"], DataType::UInt64), ["18446744073709551615", "0"]);
    assert_eq!(shown(&["type('Sub', (int,), {'__index__': lambda self: 9})(5)"], DataType::Int32), ["5"]);
    assert_eq!(shown(&["enum.IntEnum('Color', 'RED').RED"], DataType::Int16), ["1"]);
    assert_eq!(refused("2**63", DataType::Int64), "returned 9223372036854775808 of type int, which BIGINT cannot hold");
    assert_eq!(refused("128", DataType::Int8), "returned 128 of type int, which TINYINT cannot hold");
    assert_eq!(refused("-1", DataType::UInt64), "returned -1 of type int, which BIGINT UNSIGNED cannot hold");
    assert_eq!(refused("True", DataType::Int64), "returned True of type bool, which BIGINT cannot hold");
    assert_eq!(refused("True", DataType::UInt64), "returned True of type bool, which BIGINT UNSIGNED cannot hold");
    assert_eq!(refused("1.0", DataType::Int64), "returned 1.0 of type float, which BIGINT cannot hold");
    assert_eq!(refused("'1'", DataType::Int64), "returned '1' of type str, which BIGINT cannot hold");
    assert_eq!(
        refused("Decimal(1)", DataType::Int64),
        "returned Decimal('1') of type Decimal, which BIGINT cannot hold"
    );
    // An int of over 4,300 digits has no repr.
    assert_eq!(
        refused("10**5000", DataType::Int64),
        "returned <unprintable int object> of type int, which BIGINT cannot hold"
    );
    let long = format!("returned '{}... of type str, which BIGINT cannot hold", "x".repeat(99));
    assert_eq!(refused("'x' * 1000", DataType::Int64), long);
}

#[test]
fn floats() {
    let column = results(&["float('nan')", "-0.0", "1", "2**53 + 1", "None", "1e300"], DataType::Float64).unwrap();
    let column = column.as_primitive::<Float64Type>();
    assert!(column.value(0).is_nan());
    assert_eq!(column.value(1).to_bits(), (-0.0f64).to_bits());
    assert_eq!(&column.values()[2..4], &[1.0, 9_007_199_254_740_992.0]);
    assert!(column.is_null(4));
    let column = results(&["0.1", "1e300", "16777217"], DataType::Float32).unwrap();
    assert_eq!(column.as_primitive::<Float32Type>().values(), &[0.1, f32::INFINITY, 16_777_216.0]);
    assert_eq!(refused("True", DataType::Float64), "returned True of type bool, which DOUBLE cannot hold");
    assert_eq!(refused("'1.5'", DataType::Float64), "returned '1.5' of type str, which DOUBLE cannot hold");
    assert!(refused("2**1024", DataType::Float64).ends_with("of type int, which DOUBLE cannot hold"));
    assert!(refused("Decimal(1)", DataType::Float64).ends_with("of type Decimal, which DOUBLE cannot hold"));
}

#[test]
fn truth_values_texts_and_bytes() {
    assert_eq!(shown(&["True", "None", "False"], DataType::Boolean), ["true", "NULL", "false"]);
    assert_eq!(refused("1", DataType::Boolean), "returned 1 of type int, which BOOLEAN cannot hold");
    for ty in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        let texts = shown(
            &["'a'", "None", "'żółw, long enough to leave a view'", "type('S', (str,), {})('s')", "''"],
            ty.clone(),
        );
        assert_eq!(texts, ["a", "NULL", "żółw, long enough to leave a view", "s", ""]);
        assert_eq!(refused("'\\ud800'", ty.clone()), "returned '\\ud800' of type str, which TEXT cannot hold");
        assert_eq!(refused("b'a'", ty), "returned b'a' of type bytes, which TEXT cannot hold");
    }
    for ty in [DataType::Binary, DataType::LargeBinary, DataType::BinaryView] {
        assert_eq!(shown(&["b'\\xff'", "None", "b''"], ty.clone()), ["ff", "NULL", ""]);
        assert_eq!(refused("'a'", ty.clone()), "returned 'a' of type str, which BYTEA cannot hold");
        assert!(refused("bytearray(1)", ty).contains("of type bytearray"));
    }
    assert_eq!(shown(&["b'ab'", "None"], DataType::FixedSizeBinary(2)), ["6162", "NULL"]);
    assert!(refused("b'abc'", DataType::FixedSizeBinary(2)).contains("b'abc'"));
    assert_eq!(shown(&["None"], DataType::Null), ["NULL"]);
    assert!(refused("0", DataType::Null).ends_with("which NULL cannot hold"));
}

#[test]
fn decimals() {
    let ty = DataType::Decimal128(10, 2);
    let values =
        ["Decimal('1.5')", "None", "3", "Decimal('-0.010')", "Decimal('1E+3')", "Decimal('-0')", "Decimal('0E+99')"];
    assert_eq!(shown(&values, ty.clone()), ["1.50", "NULL", "3.00", "-0.01", "1000.00", "0.00", "0.00"]);
    assert_eq!(shown(&["Decimal('99999999.99')", "-99999999"], ty.clone()), ["99999999.99", "-99999999.00"]);
    for lost in [
        "Decimal('1.005')",
        "Decimal('100000000')",
        "100000000",
        "Decimal('NaN')",
        "Decimal('sNaN')",
        "Decimal('-Infinity')",
        "Decimal('1E-999999')",
        "Decimal('1E+999999')",
        "True",
        "1.5",
        "'1.5'",
    ] {
        let message = refused(lost, ty.clone());
        assert!(message.ends_with("which DECIMAL(10, 2) cannot hold"), "{message}");
    }
    // What the context says does not matter.
    let context = "decimal.getcontext().__setattr__('prec', 2) or decimal.getcontext().__setattr__('capitals', 0) or Decimal('1234.00e3')";
    assert_eq!(shown(&[context], ty), ["1234000.00"]);
    assert_eq!(shown(&["10**38 - 1"], DataType::Decimal128(38, 0)), ["99999999999999999999999999999999999999"]);
    assert_eq!(shown(&["10**60 - 1", "None"], DataType::Decimal256(60, 0)), ["9".repeat(60), "NULL".to_string()]);
    assert_eq!(shown(&["Decimal('12.3')"], DataType::Decimal32(5, 1)), ["12.3"]);
    assert_eq!(shown(&["Decimal('12.3')"], DataType::Decimal64(5, 3)), ["12.300"]);
}

#[test]
fn dates_and_times() {
    for ty in [DataType::Date32, DataType::Date64] {
        let dates = shown(&["date(1, 1, 1)", "None", "date(9999, 12, 31)", "date(2024, 2, 29)"], ty.clone());
        let day = |text: &str| if ty == DataType::Date32 { text.to_string() } else { format!("{text}T00:00:00") };
        assert_eq!(dates, [day("0001-01-01"), "NULL".to_string(), day("9999-12-31"), day("2024-02-29")]);
        assert!(
            refused("datetime.datetime(2024, 1, 1)", ty.clone()).ends_with("of type datetime, which DATE cannot hold")
        );
        assert!(refused("'2024-01-01'", ty).ends_with("which DATE cannot hold"));
    }
    assert_eq!(shown(&["time(1, 2, 3)", "None"], DataType::Time32(TimeUnit::Second)), ["01:02:03", "NULL"]);
    assert_eq!(shown(&["time(23, 59, 59, 999999)"], DataType::Time64(TimeUnit::Nanosecond)), ["23:59:59.999999"]);
    assert!(refused("time(0, 0, 0, 1)", DataType::Time32(TimeUnit::Millisecond)).contains("TIME"));
    assert!(refused("time(1, tzinfo=timezone.utc)", DataType::Time64(TimeUnit::Microsecond)).contains("TIME"));
}

#[test]
fn timestamps() {
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let values =
        ["datetime.datetime(2024, 2, 29, 1, 2, 3, 4)", "None", "datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)"];
    assert_eq!(shown(&values, nanos.clone()), ["2024-02-29T01:02:03.000004", "NULL", "1969-12-31T23:59:59.999999"]);
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    assert_eq!(
        shown(&["datetime.datetime.max", "datetime.datetime.min"], micros),
        ["9999-12-31T23:59:59.999999", "0001-01-01T00:00:00"]
    );
    for lost in ["datetime.datetime.max", "date(2024, 1, 1)", "datetime.datetime(2024, 1, 1, tzinfo=timezone.utc)"] {
        assert!(refused(lost, nanos.clone()).ends_with("which TIMESTAMP cannot hold"));
    }
    assert!(
        refused("datetime.datetime(1970, 1, 1, microsecond=1)", DataType::Timestamp(TimeUnit::Second, None))
            .contains("TIMESTAMP")
    );
    let aware = DataType::Timestamp(TimeUnit::Second, Some("+00:00".into()));
    let column = results(
        &[
            "datetime.datetime(1970, 1, 1, 1, tzinfo=timezone.utc)",
            "datetime.datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))",
            "datetime.datetime(2023, 10, 29, 2, 30, tzinfo=zoneinfo.ZoneInfo('Europe/Paris'))",
            "datetime.datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo('Europe/Paris'))",
        ],
        aware.clone(),
    )
    .unwrap();
    assert_eq!(column.as_primitive::<TimestampSecondType>().values(), &[3_600, 0, 1_698_539_400, 1_698_543_000]);
    assert!(refused("datetime.datetime(1970, 1, 1)", aware).contains("TIMESTAMP"));
}

#[test]
fn spans() {
    let column = results(
        &["timedelta(days=1, hours=12)", "None", "timedelta(seconds=-1)", "timedelta(microseconds=1)"],
        DataType::Interval(IntervalUnit::MonthDayNano),
    )
    .unwrap();
    let column = column.as_primitive::<IntervalMonthDayNanoType>();
    assert_eq!(column.value(0), IntervalMonthDayNano::new(0, 1, 43_200_000_000_000));
    assert!(column.is_null(1));
    assert_eq!(column.value(2), IntervalMonthDayNano::new(0, 0, -1_000_000_000));
    assert_eq!(column.value(3), IntervalMonthDayNano::new(0, 0, 1_000));
    let day_time = DataType::Interval(IntervalUnit::DayTime);
    let column = results(&["timedelta(days=-1, milliseconds=-1)"], day_time.clone()).unwrap();
    assert_eq!(column.as_primitive::<IntervalDayTimeType>().value(0), IntervalDayTime::new(-1, -1));
    assert!(refused("timedelta(microseconds=1)", day_time).contains("INTERVAL"));
    assert!(refused("timedelta(days=30)", DataType::Interval(IntervalUnit::YearMonth)).contains("INTERVAL"));
    let column = results(&["timedelta(days=-1)", "None"], DataType::Duration(TimeUnit::Microsecond)).unwrap();
    assert_eq!(column.as_primitive::<DurationMicrosecondType>().value(0), -86_400_000_000);
    assert!(refused("timedelta.max", DataType::Duration(TimeUnit::Microsecond)).contains("of type timedelta"));
}

#[test]
fn lists() {
    let field = Arc::new(Field::new("item", DataType::Int64, true));
    for ty in [DataType::List(field.clone()), DataType::LargeList(field.clone())] {
        assert_eq!(shown(&["[1, None]", "None", "(2,)", "[]"], ty.clone()), ["[1, NULL]", "NULL", "[2]", "[]"]);
        assert_eq!(
            refused("[1, 'a']", ty.clone()),
            "returned [1, 'a'] of type list, which BIGINT[] cannot hold: [1] is 'a' of type str"
        );
        assert!(refused("{1}", ty.clone()).contains("of type set"));
        assert!(refused("range(3)", ty).contains("of type range"));
    }
    let fixed = DataType::FixedSizeList(field, 2);
    assert_eq!(shown(&["[1, 2]", "None", "(3, None)"], fixed.clone()), ["[1, 2]", "NULL", "[3, NULL]"]);
    assert!(refused("[1]", fixed).contains("returned [1] of type list"));
    let strict = DataType::List(Arc::new(Field::new("item", DataType::Int64, false)));
    assert!(refused("[None]", strict).contains("[None]"));
    let nested = DataType::List(Arc::new(Field::new(
        "item",
        DataType::List(Arc::new(Field::new("item", DataType::Utf8View, true))),
        true,
    )));
    assert_eq!(shown(&["[['a'], None, []]", "[]"], nested.clone()), ["[[a], NULL, []]", "[]"]);
    assert!(refused("[[], ['a', 1]]", nested).ends_with("which TEXT[][] cannot hold: [1][1] is 1 of type int"));
}

#[test]
fn structs_and_maps() {
    let fields = Fields::from(vec![Field::new("x", DataType::Int64, true), Field::new("s", DataType::Utf8, true)]);
    let ty = DataType::Struct(fields);
    let class = "dataclasses.make_dataclass('P', ['s', 'x'])('c', 3)";
    assert_eq!(
        shown(&["{'s': 'a', 'x': 1}", "None", "{'x': None, 's': None}", class], ty.clone()),
        ["{x: 1, s: a}", "NULL", "{x: NULL, s: NULL}", "{x: 3, s: c}"]
    );
    let named = "__import__('collections').namedtuple('P', ['s', 'x'])('c', 3)";
    let other = "__import__('collections').namedtuple('P', ['a', 'b'])(4, 'd')";
    assert_eq!(
        shown(&["(1, 'a')", "[2, None]", named, other], ty.clone()),
        ["{x: 1, s: a}", "{x: 2, s: NULL}", "{x: 3, s: c}", "{x: 4, s: d}"]
    );
    for (wrong, part) in [
        ("{'x': 1}", ": ['s'] is missing"),
        ("{'x': 1, 's': 'a', 'z': 2}", ": it has 'z', which is no field"),
        ("{'x': 1, 'S': 'a'}", ": ['s'] is missing"),
        ("{'x': 'a', 's': 'a'}", ": ['x'] is 'a' of type str"),
        ("(1, 'a', 2)", ": it has 3 items for 2 fields"),
        ("('a', 1)", ": [0] is 'a' of type str"),
        ("dataclasses.make_dataclass('P', ['s', 'x'])('c', 'd')", ": .x is 'd' of type str"),
        ("dataclasses.make_dataclass('P', ['s', 'y'])('c', 3)", ": .x is missing"),
        ("dataclasses.make_dataclass('P', ['s', 'x', 'y'])('c', 3, 4)", ": it has 'y', which is no field"),
        ("object()", ""),
    ] {
        let said = refused(wrong, ty.clone());
        assert!(said.ends_with(&format!("which STRUCT<x BIGINT, s TEXT> cannot hold{part}")), "{said}");
    }
    let entries = Field::new(
        "entries",
        DataType::Struct(Fields::from(vec![
            Field::new("key", DataType::Utf8, false),
            Field::new("value", DataType::Int64, true),
        ])),
        false,
    );
    let map = DataType::Map(Arc::new(entries), false);
    assert_eq!(shown(&["{'a': 1, 'b': None}", "None", "{}"], map.clone()), ["{a: 1, b: NULL}", "NULL", "{}"]);
    assert!(refused("{None: 1}", map.clone()).ends_with("cannot hold: it has a key None of type NoneType"));
    assert!(refused("{'a': 1, 'b': 'c'}", map.clone()).ends_with("cannot hold: ['b'] is 'c' of type str"));
    assert!(refused("[('a', 1)]", map).contains("of type list"));
}

#[test]
fn numpy_and_pandas_scalars_count_as_their_base() {
    let has = |package: &str| {
        let source = format!("import importlib.util\nassert importlib.util.find_spec({package:?})\ndef f(): return 1");
        try_define(&source, &[], DataType::Int64).is_ok()
    };
    if !has("numpy") {
        return;
    }
    let one = |expression: &str, ty: DataType| {
        let source = format!("{IMPORTS}\nimport numpy as np\ndef f(a): return {expression}");
        let function = define(&source, &[DataType::Int64], ty);
        let rows: ArrayRef = Arc::new(Int64Array::from(vec![0]));
        call(&function, &rows)
    };
    let holds = |expression: &str, ty: DataType, expected: &str| {
        let column = one(expression, ty).unwrap_or_else(|error| panic!("{expression}: {error:?}"));
        let formatter = ArrayFormatter::try_new(&column, &FormatOptions::default()).unwrap();
        assert_eq!(formatter.value(0).to_string(), expected, "{expression}");
    };
    let refuses = |expression: &str, ty: DataType| match one(expression, ty) {
        Err(PyFailure::Row { kind: RowFailure::Result, .. }) => {}
        other => panic!("{expression}: {other:?}"),
    };
    holds("np.int8(5)", DataType::Int64, "5");
    holds("np.uint64(2**64 - 1)", DataType::UInt64, "18446744073709551615");
    holds("np.int64(5)", DataType::Float64, "5.0");
    holds("np.int64(5)", DataType::Decimal128(5, 1), "5.0");
    holds("np.float32(0.5)", DataType::Float64, "0.5");
    holds("np.float64(0.5)", DataType::Float64, "0.5");
    holds("np.bool_(True)", DataType::Boolean, "true");
    holds("np.str_('a')", DataType::Utf8, "a");
    holds("np.bytes_(b'a')", DataType::Binary, "61");
    holds("np.datetime64('2024-02-29')", DataType::Date32, "2024-02-29");
    holds(
        "np.datetime64('2024-02-29T01:02:03', 'us')",
        DataType::Timestamp(TimeUnit::Second, None),
        "2024-02-29T01:02:03",
    );
    let list = |ty| DataType::List(Arc::new(Field::new("item", ty, true)));
    holds("[np.int16(1)]", list(DataType::Int64), "[1]");
    holds("np.array(3)", DataType::Int64, "3");
    holds("np.array([1, 2])", list(DataType::Int64), "[1, 2]");
    holds("np.array([1, 2])", list(DataType::Float64), "[1.0, 2.0]");
    holds("np.array([[1.5], [np.nan]])", list(list(DataType::Float64)), "[[1.5], [NaN]]");
    for (expression, ty) in [
        ("np.uint64(2**63)", DataType::Int64),
        ("np.float64(5)", DataType::Int64),
        ("np.bool_(True)", DataType::Int64),
        ("np.int64(1)", DataType::Boolean),
        ("np.complex128(1)", DataType::Float64),
        ("np.datetime64('NaT')", DataType::Date32),
        ("np.array(1.5)", DataType::Int64),
        ("np.array([1.5])", DataType::List(Arc::new(Field::new("item", DataType::Int64, true)))),
    ] {
        refuses(expression, ty);
    }
    if has("pandas") {
        let pandas = |expression: &str| format!("(__import__('pandas').{expression})");
        let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
        holds(&pandas("Timestamp('2024-02-29 01:02:03.000004')"), nanos.clone(), "2024-02-29T01:02:03.000004");
        refuses(&pandas("Timestamp('2024-02-29 01:02:03.000000004')"), nanos.clone());
        refuses(&pandas("NaT"), nanos);
        refuses(&pandas("NA"), DataType::Int64);
    }
}
