//! Columns as Python objects.

use super::{call, define, reprs};
use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::*;
use exuvia_engine::interpreter::{PyCall, PyFailure, RowFailure};
use std::sync::Arc;

fn shows(column: impl Array + 'static, expected: &[&str]) {
    let column: ArrayRef = Arc::new(column);
    assert_eq!(reprs(&column), expected, "{}", column.data_type());
    // A column may be a part of a longer one.
    let parts = [column.slice(0, 1), column.clone(), column.slice(0, 1)];
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    let part = arrow::compute::concat(&parts).unwrap().slice(1, column.len());
    assert_eq!(reprs(&part), expected, "a part of {}", column.data_type());
}

fn unholdable(column: impl Array + 'static, expected: &str) {
    let column: ArrayRef = Arc::new(column);
    let function = define("def f(a): return 1", &[column.data_type().clone()], DataType::Int64);
    match call(&function, &column) {
        Err(PyFailure::Row { row: 0, message, kind: RowFailure::Argument, .. }) => assert_eq!(message, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers() {
    shows(Int8Array::from(vec![Some(-128), None, Some(127)]), &["-128", "None", "127"]);
    shows(Int16Array::from(vec![-32768, 32767]), &["-32768", "32767"]);
    shows(Int32Array::from(vec![i32::MIN, i32::MAX]), &["-2147483648", "2147483647"]);
    shows(Int64Array::from(vec![i64::MIN, i64::MAX]), &["-9223372036854775808", "9223372036854775807"]);
    shows(UInt8Array::from(vec![Some(255), None]), &["255", "None"]);
    shows(UInt16Array::from(vec![65535]), &["65535"]);
    shows(UInt32Array::from(vec![u32::MAX]), &["4294967295"]);
    shows(UInt64Array::from(vec![u64::MAX]), &["18446744073709551615"]);
    let half = <Float16Type as ArrowPrimitiveType>::Native::from_f64;
    shows(Float16Array::from(vec![Some(half(0.5)), None]), &["0.5", "None"]);
    shows(Float32Array::from(vec![0.1f32, -0.0]), &["0.10000000149011612", "-0.0"]);
    let floats = vec![Some(0.1), None, Some(f64::NAN), Some(-0.0), Some(f64::INFINITY), Some(5e-324)];
    shows(Float64Array::from(floats), &["0.1", "None", "nan", "-0.0", "inf", "5e-324"]);
    shows(BooleanArray::from(vec![Some(true), None, Some(false)]), &["True", "None", "False"]);
    shows(NullArray::new(2), &["None", "None"]);
}

#[test]
fn decimals() {
    let column = |values: Vec<Option<i128>>, precision, scale| {
        Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap()
    };
    let most = 10i128.pow(38) - 1;
    shows(
        column(vec![Some(150), None, Some(-5), Some(0)], 10, 2),
        &["Decimal('1.50')", "None", "Decimal('-0.05')", "Decimal('0.00')"],
    );
    shows(
        column(vec![Some(most), Some(-most)], 38, 0),
        &["Decimal('99999999999999999999999999999999999999')", "Decimal('-99999999999999999999999999999999999999')"],
    );
    shows(
        Decimal256Array::from(vec![Some(i256::from_i128(most)), None]).with_precision_and_scale(76, 40).unwrap(),
        &["Decimal('0.0099999999999999999999999999999999999999')", "None"],
    );
    shows(Decimal32Array::from(vec![Some(123)]).with_precision_and_scale(5, 1).unwrap(), &["Decimal('12.3')"]);
    shows(Decimal64Array::from(vec![Some(123)]).with_precision_and_scale(15, 3).unwrap(), &["Decimal('0.123')"]);
}

#[test]
fn texts_and_bytes() {
    let texts = [Some("a"), None, Some(""), Some("żółw 🐢 long enough to leave the view"), Some("a\0b")];
    let expected = ["'a'", "None", "''", "'żółw 🐢 long enough to leave the view'", "'a\\x00b'"];
    shows(StringArray::from(texts.to_vec()), &expected);
    shows(LargeStringArray::from(texts.to_vec()), &expected);
    shows(StringViewArray::from(texts.to_vec()), &expected);
    let bytes: Vec<Option<&[u8]>> = vec![Some(b"a\xff"), None, Some(b"")];
    let expected = ["b'a\\xff'", "None", "b''"];
    shows(BinaryArray::from(bytes.clone()), &expected);
    shows(LargeBinaryArray::from(bytes.clone()), &expected);
    shows(BinaryViewArray::from(bytes), &expected);
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(b"ab"), None].into_iter(), 2).unwrap();
    shows(fixed, &["b'ab'", "None"]);
    let dictionary: DictionaryArray<Int8Type> = vec![Some("x"), None, Some("y"), Some("x")].into_iter().collect();
    shows(dictionary, &["'x'", "None", "'y'", "'x'"]);
    let no_values = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![None, None]),
        Arc::new(StringArray::from(Vec::<&str>::new())),
    );
    shows(no_values, &["None", "None"]);
}

#[test]
fn dates() {
    shows(
        Date32Array::from(vec![Some(0), None, Some(-719_162), Some(2_932_896), Some(19_782)]),
        &[
            "datetime.date(1970, 1, 1)",
            "None",
            "datetime.date(1, 1, 1)",
            "datetime.date(9999, 12, 31)",
            "datetime.date(2024, 2, 29)",
        ],
    );
    shows(Date64Array::from(vec![Some(-86_400_000), None]), &["datetime.date(1969, 12, 31)", "None"]);
    unholdable(Date32Array::from(vec![-719_163]), "argument a is 0000-12-31, which Python's datetime.date cannot hold");
    unholdable(
        Date32Array::from(vec![2_932_897]),
        "argument a is +10000-01-01, which Python's datetime.date cannot hold",
    );
}

#[test]
fn every_day_has_python_s_date() {
    // The conversion of timestamps counts years itself.
    let days: ArrayRef = Arc::new(TimestampSecondArray::from_iter_values(
        (-719_162i64..=2_932_896).step_by(13).chain([2_932_896]).map(|day| day * 86_400 + 3_723),
    ));
    let function = define(
        "import datetime\nepoch = datetime.datetime(1970, 1, 1)\ndef f(a): return (a - epoch) // datetime.timedelta(seconds=1)",
        &[days.data_type().clone()],
        DataType::Int64,
    );
    let seconds = call(&function, &days).unwrap();
    assert_eq!(seconds.as_primitive::<Int64Type>().values(), days.as_primitive::<TimestampSecondType>().values());
}

#[test]
fn times() {
    shows(Time32SecondArray::from(vec![Some(3_723), None]), &["datetime.time(1, 2, 3)", "None"]);
    shows(Time32MillisecondArray::from(vec![86_399_999]), &["datetime.time(23, 59, 59, 999000)"]);
    shows(Time64MicrosecondArray::from(vec![0, 1]), &["datetime.time(0, 0)", "datetime.time(0, 0, 0, 1)"]);
    shows(Time64NanosecondArray::from(vec![Some(1_000), None]), &["datetime.time(0, 0, 0, 1)", "None"]);
    unholdable(
        Time64NanosecondArray::from(vec![1_001]),
        "argument a is 00:00:00.000001001, which Python's datetime.time cannot hold",
    );
}

#[test]
fn timestamps() {
    shows(
        TimestampNanosecondArray::from(vec![Some(1_000), None, Some(-1_000)]),
        &["datetime.datetime(1970, 1, 1, 0, 0, 0, 1)", "None", "datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)"],
    );
    shows(
        TimestampMicrosecondArray::from(vec![-62_135_596_800_000_000, 253_402_300_799_999_999]),
        &["datetime.datetime(1, 1, 1, 0, 0)", "datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)"],
    );
    shows(TimestampMillisecondArray::from(vec![1]), &["datetime.datetime(1970, 1, 1, 0, 0, 0, 1000)"]);
    shows(TimestampSecondArray::from(vec![86_399]), &["datetime.datetime(1970, 1, 1, 23, 59, 59)"]);
    let class = "which Python's datetime.datetime cannot hold";
    let cut = "it has no nanoseconds, which date_trunc('microsecond', x) and a parameter of TIMESTAMP(6) cut off";
    unholdable(
        TimestampNanosecondArray::from(vec![1]),
        &format!("argument a is 1970-01-01T00:00:00.000000001, {class}: {cut}"),
    );
    unholdable(
        TimestampSecondArray::from(vec![253_402_300_800]),
        &format!("argument a is +10000-01-01T00:00:00, {class}"),
    );
    unholdable(TimestampSecondArray::from(vec![i64::MAX]), &format!("argument a is a value, {class}"));
}

#[test]
fn timestamps_with_a_zone() {
    let instant = vec![Some(1_700_000_000), None];
    let column = |zone: &str| TimestampSecondArray::from(instant.clone()).with_timezone(zone);
    shows(column("+00:00"), &["datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=datetime.timezone.utc)", "None"]);
    shows(
        column("-05:30"),
        &[
            "datetime.datetime(2023, 11, 14, 16, 43, 20, tzinfo=datetime.timezone(datetime.timedelta(days=-1, seconds=66600)))",
            "None",
        ],
    );
    shows(
        column("Europe/Paris"),
        &["datetime.datetime(2023, 11, 14, 23, 13, 20, tzinfo=zoneinfo.ZoneInfo(key='Europe/Paris'))", "None"],
    );
    // The hour that the end of summer repeats.
    shows(
        TimestampSecondArray::from(vec![1_698_539_400, 1_698_543_000]).with_timezone("Europe/Paris"),
        &[
            "datetime.datetime(2023, 10, 29, 2, 30, tzinfo=zoneinfo.ZoneInfo(key='Europe/Paris'))",
            "datetime.datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo(key='Europe/Paris'))",
        ],
    );
    // The instant is in the year 9999, its local time is not.
    let last = TimestampSecondArray::from(vec![253_402_300_799]).with_timezone("+01:00");
    let column: ArrayRef = Arc::new(last);
    let function = define("def f(a): return 1", &[column.data_type().clone()], DataType::Int64);
    assert!(matches!(call(&function, &column), Err(PyFailure::Row { kind: RowFailure::Argument, .. })));
}

#[test]
fn spans() {
    shows(
        DurationNanosecondArray::from(vec![Some(-1_000), None]),
        &["datetime.timedelta(days=-1, seconds=86399, microseconds=999999)", "None"],
    );
    shows(DurationSecondArray::from(vec![86_401]), &["datetime.timedelta(days=1, seconds=1)"]);
    shows(
        IntervalMonthDayNanoArray::from(vec![
            Some(IntervalMonthDayNano::new(0, 2, -3_600_000_000_000)),
            None,
            Some(IntervalMonthDayNano::new(0, 0, 0)),
        ]),
        &["datetime.timedelta(days=1, seconds=82800)", "None", "datetime.timedelta(0)"],
    );
    shows(
        IntervalDayTimeArray::from(vec![IntervalDayTime::new(1, 1)]),
        &["datetime.timedelta(days=1, microseconds=1000)"],
    );
    shows(IntervalYearMonthArray::from(vec![Some(0), None]), &["datetime.timedelta(0)", "None"]);
    unholdable(
        IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(1, 0, 0)]),
        "argument a is 1 mons, which Python's datetime.timedelta cannot hold",
    );
    let long: ArrayRef = Arc::new(DurationSecondArray::from(vec![i64::MAX]));
    let function = define("def f(a): return 1", &[long.data_type().clone()], DataType::Int64);
    assert!(matches!(call(&function, &long), Err(PyFailure::Row { kind: RowFailure::Argument, .. })));
}

#[test]
fn lists() {
    let items = vec![Some(vec![Some(1), None]), None, Some(vec![]), Some(vec![Some(3)])];
    let expected = ["[1, None]", "None", "[]", "[3]"];
    shows(ListArray::from_iter_primitive::<Int64Type, _, _>(items.clone()), &expected);
    shows(LargeListArray::from_iter_primitive::<Int64Type, _, _>(items.clone()), &expected);
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>(items);
    let DataType::List(field) = list.data_type().clone() else { panic!() };
    let views = ListViewArray::new(
        field,
        ScalarBuffer::from(vec![1, 0, 2, 0]),
        ScalarBuffer::from(vec![2, 0, 1, 1]),
        Arc::new(Int64Array::from(vec![10, 20, 30])),
        Some(NullBuffer::from(vec![true, false, true, true])),
    );
    shows(views, &["[20, 30]", "None", "[30]", "[10]"]);
    let fixed = FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>(
        vec![Some(vec![Some(1), Some(2)]), None, Some(vec![None, Some(4)])],
        2,
    );
    shows(fixed, &["[1, 2]", "None", "[None, 4]"]);
    let nested = ListArray::new(
        Arc::new(Field::new("item", DataType::Utf8, true)),
        OffsetBuffer::from_lengths([2, 0]),
        Arc::new(StringArray::from(vec![Some("a"), None])),
        None,
    );
    shows(nested, &["['a', None]", "[]"]);
}

fn points() -> StructArray {
    let fields = Fields::from(vec![Field::new("x", DataType::Int64, true), Field::new("s", DataType::Utf8, true)]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from(vec![Some(1), None, None])), Arc::new(StringArray::from(vec!["a", "b", "c"]))];
    StructArray::new(fields, columns, Some(NullBuffer::from(vec![true, true, false])))
}

#[test]
fn structs_and_maps() {
    shows(points(), &["{'x': 1, 's': 'a'}", "{'x': None, 's': 'b'}", "None"]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    map.keys().append_value("k");
    map.values().append_value(1);
    map.keys().append_value("l");
    map.values().append_null();
    map.append(true).unwrap();
    map.append(false).unwrap();
    map.append(true).unwrap();
    shows(map.finish(), &["{'k': 1, 'l': None}", "None", "{}"]);
}

#[test]
fn a_struct_becomes_the_annotated_dataclass() {
    let source = "
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    s: str = ''
def f(a: Point | None): return repr(a)
";
    let column: ArrayRef = Arc::new(points());
    let function = define(source, &[column.data_type().clone()], DataType::Utf8);
    let shown = call(&function, &column).unwrap();
    let shown: Vec<_> = shown.as_string::<i32>().iter().flatten().collect();
    assert_eq!(shown, ["Point(x=1, s='a')", "Point(x=None, s='b')", "None"]);
    // The annotation may be a text, and stand for nothing.
    for annotation in ["'Point'", "'Nothing'"] {
        let source = source.replace("Point | None", annotation);
        let function = define(&source, &[column.data_type().clone()], DataType::Utf8);
        let shown = call(&function, &column).unwrap();
        assert_eq!(shown.as_string::<i32>().value(0).starts_with("Point"), annotation == "'Point'");
    }
}

#[test]
fn a_call_may_have_no_arguments_and_no_rows() {
    let function = define("def f(): return 7", &[], DataType::Int64);
    let three = function.call(&[], 3, &PyCall::default()).unwrap();
    assert_eq!(three.as_primitive::<Int64Type>().values(), &[7, 7, 7]);
    assert_eq!(function.call(&[], 0, &PyCall::default()).unwrap().len(), 0);
}
