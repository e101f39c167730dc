//! SQL types and values as the stages see them.

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, FieldRef, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalUnit, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use exuvia_ir::{Class, Int, Object, RecordObj};
use exuvia_jit::border::{MOST_DIGITS, is_utc};
use exuvia_lift::{ColumnForm, SqlClass};
use exuvia_ops::bytes;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What values of a type are in lifted Python, where they are not made of others.
#[must_use]
pub(crate) fn scalar(ty: &DataType) -> Option<SqlClass> {
    class(ty).filter(SqlClass::is_scalar)
}

/// What values of a type are in lifted Python; `None` for types that only CPython takes.
#[must_use]
pub(crate) fn class(ty: &DataType) -> Option<SqlClass> {
    Some(match ty {
        DataType::List(field) => SqlClass::List(Arc::new(class(field.data_type())?)),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(entry) if entry.len() == 2 => {
                SqlClass::Map(Arc::new((class(entry[0].data_type())?, class(entry[1].data_type())?)))
            }
            _ => return None,
        },
        DataType::Struct(fields) => {
            let class = |field: &FieldRef| Some((field.name().clone(), class(field.data_type())?));
            let classes: Vec<(String, SqlClass)> = fields.iter().map(class).collect::<Option<_>>()?;
            let is_new = |at: usize| classes[..at].iter().all(|other| other.0 != classes[at].0);
            if classes.is_empty() || !(0..classes.len()).all(is_new) {
                return None;
            }
            SqlClass::Struct(classes.into())
        }
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64 => SqlClass::Int,
        DataType::Float32 | DataType::Float64 => SqlClass::Float,
        DataType::Boolean => SqlClass::Bool,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => SqlClass::Str,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => object_of(Class::Bytes, SqlClass::Str),
        DataType::Date32 => object_of(Class::Date, SqlClass::Int),
        DataType::Timestamp(unit, None) => SqlClass::Timestamp(per_second(*unit)),
        DataType::Timestamp(unit, Some(zone)) if is_utc(zone) => SqlClass::Instant(per_second(*unit)),
        DataType::Time32(unit) | DataType::Time64(unit) => SqlClass::Time(per_second(*unit)),
        DataType::Decimal128(precision, scale) if *precision <= MOST_DIGITS => {
            SqlClass::Decimal { precision: *precision, scale: u8::try_from(*scale).ok()? }
        }
        _ => return None,
    })
}

/// What a column function sees of a column in one row; `None` where that depends on other rows (a
/// Series of integers is one of floats where it has a NULL) or is not lifted.
#[must_use]
pub(crate) fn column(ty: &DataType, form: ColumnForm) -> Option<SqlClass> {
    let of = class(ty)?;
    let own = matches!(
        (ty, form),
        (DataType::Float64, _)
            | (DataType::Int64 | DataType::Boolean, ColumnForm::Array)
            | (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, ColumnForm::Series)
    );
    own.then(|| SqlClass::Column { form, of: Arc::new(of) })
}

/// What an array is in a function whose parameter is annotated with the class of that name; `None` where
/// that is not lifted.
#[must_use]
pub(crate) fn array(ty: &DataType, asked: Option<&str>) -> Option<SqlClass> {
    let form = match asked {
        Some("ndarray") => ColumnForm::Array,
        Some("Series") => ColumnForm::Series,
        _ => return None,
    };
    let DataType::List(field) = ty else { return None };
    let is_number = |ty: &DataType| matches!(ty, DataType::Float64 | DataType::Int64 | DataType::Boolean);
    let known = match field.data_type() {
        DataType::List(of) => form == ColumnForm::Array && is_number(of.data_type()),
        ty => is_number(ty),
    };
    known.then(|| class(field.data_type()).map(|of| SqlClass::Array { form, of: Arc::new(of) })).flatten()
}

/// What becomes of the result of a column function in one row.
#[must_use]
pub(crate) fn column_result(ty: &DataType) -> Option<SqlClass> {
    let of = class(ty)?;
    let known = matches!(of, SqlClass::Float | SqlClass::Int | SqlClass::Bool | SqlClass::Str);
    known.then(|| SqlClass::Column { form: ColumnForm::Array, of: Arc::new(of) })
}

fn object_of(class: Class, of: SqlClass) -> SqlClass {
    SqlClass::Object { class, of: Arc::new(of) }
}

fn per_second(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The ints that a column can hold, of those that have 64 bits; all for another type.
pub(crate) fn range(ty: &DataType) -> RangeInclusive<i64> {
    match ty {
        DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
        DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => i32::MIN.into()..=i32::MAX.into(),
        DataType::UInt8 => 0..=u8::MAX.into(),
        DataType::UInt16 => 0..=u16::MAX.into(),
        DataType::UInt32 => 0..=u32::MAX.into(),
        _ => i64::MIN..=i64::MAX,
    }
}

/// Whether Python shows a value as it is at the border.
fn is_itself(ty: &DataType) -> bool {
    !ty.is_temporal() && !ty.is_nested() && !ty.is_decimal()
}

/// A name as SQL reads it back: in quotes where it would be another without them, as in `f("X" INT)`.
#[must_use]
pub fn identifier(name: &str) -> Cow<'_, str> {
    let plain = |ch: char| ch.is_ascii_lowercase() || ch == '_';
    let is_plain = name.starts_with(plain) && name.chars().all(|ch| plain(ch) || ch.is_ascii_digit());
    if is_plain { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))) }
}

/// The SQL name of an Arrow type.
#[must_use]
pub fn type_name(ty: &DataType) -> String {
    match ty {
        DataType::Null => "NULL".to_string(),
        DataType::Boolean => "BOOLEAN".to_string(),
        DataType::Int8 => "TINYINT".to_string(),
        DataType::Int16 => "SMALLINT".to_string(),
        DataType::Int32 => "INT".to_string(),
        DataType::Int64 => "BIGINT".to_string(),
        DataType::UInt8 => "TINYINT UNSIGNED".to_string(),
        DataType::UInt16 => "SMALLINT UNSIGNED".to_string(),
        DataType::UInt32 => "INT UNSIGNED".to_string(),
        DataType::UInt64 => "BIGINT UNSIGNED".to_string(),
        DataType::Float16 => "HALF".to_string(),
        DataType::Float32 => "REAL".to_string(),
        DataType::Float64 => "DOUBLE".to_string(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "TEXT".to_string(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BYTEA".to_string()
        }
        DataType::Date32 | DataType::Date64 => "DATE".to_string(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".to_string(),
        DataType::Timestamp(unit, zone) => {
            let digits = match unit {
                TimeUnit::Second => "(0)",
                TimeUnit::Millisecond => "(3)",
                TimeUnit::Microsecond => "(6)",
                TimeUnit::Nanosecond => "",
            };
            let zone = if zone.is_some() { " WITH TIME ZONE" } else { "" };
            format!("TIMESTAMP{digits}{zone}")
        }
        DataType::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime | IntervalUnit::MonthDayNano)
        | DataType::Duration(_) => "INTERVAL".to_string(),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field) => format!("{}[]", type_name(field.data_type())),
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|field| format!("{} {}", identifier(field.name()), type_name(field.data_type())))
                .collect();
            format!("STRUCT<{}>", fields.join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                format!("MAP({}, {})", type_name(fields[0].data_type()), type_name(fields[1].data_type()))
            }
            other => type_name(other),
        },
        DataType::Dictionary(_, value) => type_name(value),
        DataType::RunEndEncoded(_, values) => type_name(values.data_type()),
        DataType::Union(_, _) => "UNION".to_string(),
    }
}

/// A value of an argument as the IR function takes it; `None` for types that only CPython takes.
#[must_use]
pub(crate) fn object(array: &ArrayRef, row: usize) -> Option<Object> {
    if array.is_null(row) {
        return Some(Object::None);
    }
    macro_rules! int {
        ($ty:ty) => {
            Object::int(i64::from(array.as_primitive::<$ty>().value(row)))
        };
    }
    Some(match array.data_type() {
        DataType::Int8 => int!(Int8Type),
        DataType::Int16 => int!(Int16Type),
        DataType::Int32 => int!(Int32Type),
        DataType::Date32 => int!(Date32Type),
        DataType::Int64 => int!(Int64Type),
        DataType::Decimal128(..) => {
            Object::Int(Int::from_big(array.as_primitive::<Decimal128Type>().value(row).into()))
        }
        DataType::Timestamp(_, Some(zone)) if !is_utc(zone) => return None,
        DataType::Timestamp(TimeUnit::Second, _) => int!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => int!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => int!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => int!(TimestampNanosecondType),
        DataType::Time32(TimeUnit::Second) => int!(Time32SecondType),
        DataType::Time32(_) => int!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => int!(Time64MicrosecondType),
        DataType::Time64(_) => int!(Time64NanosecondType),
        DataType::UInt8 => int!(UInt8Type),
        DataType::UInt16 => int!(UInt16Type),
        DataType::UInt32 => int!(UInt32Type),
        DataType::UInt64 => Object::Int(Int::from_big(array.as_primitive::<UInt64Type>().value(row).into())),
        DataType::Float32 => Object::Float(f64::from(array.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => Object::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Object::Bool(array.as_boolean().value(row)),
        DataType::Utf8 => Object::str(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Object::str(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Object::str(array.as_string_view().value(row)),
        DataType::Binary => Object::str(&bytes::to_text(array.as_binary::<i32>().value(row))),
        DataType::LargeBinary => Object::str(&bytes::to_text(array.as_binary::<i64>().value(row))),
        DataType::BinaryView => Object::str(&bytes::to_text(array.as_binary_view().value(row))),
        DataType::List(_) => {
            let values = array.as_list::<i32>().value(row);
            Object::list((0..values.len()).map(|at| object(&values, at)).collect::<Option<_>>()?)
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter();
            Object::tuple(columns.map(|column| object(column, row)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// The type with lists of their entries in place of MAPs.
pub(crate) fn without_maps(ty: &DataType) -> DataType {
    let of = |field: &FieldRef| -> FieldRef {
        Arc::new(field.as_ref().clone().with_data_type(without_maps(field.data_type())))
    };
    match ty {
        DataType::Map(entries, _) => match without_maps(entries.data_type()) {
            // A list may hold NULL, as its items say.
            DataType::Struct(fields) => {
                let fields = fields.iter().map(|field| Arc::new(field.as_ref().clone().with_nullable(true)));
                DataType::new_list(DataType::Struct(fields.collect()), true)
            }
            other => other,
        },
        DataType::List(field) => DataType::List(of(field)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        other => other.clone(),
    }
}

/// Whether a type holds a MAP.
pub(crate) fn holds_maps(ty: &DataType) -> bool {
    match ty {
        DataType::Map(..) => true,
        DataType::List(field) => holds_maps(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_maps(field.data_type())),
        _ => false,
    }
}

/// The same values in another type that holds lists of entries in place of MAPs, or the other way round.
///
/// # Errors
/// Where the other type cannot hold them.
pub(crate) fn with_type(array: &ArrayRef, ty: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == ty {
        return Ok(Arc::clone(array));
    }
    Ok(match (array.data_type(), ty) {
        (DataType::Map(..), DataType::List(field)) => {
            let maps = array.as_map();
            let entries = with_type(&(Arc::new(maps.entries().clone()) as ArrayRef), field.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(field), maps.offsets().clone(), entries, maps.nulls().cloned())?)
        }
        (DataType::List(_), DataType::Map(field, sorted)) => {
            let lists = array.as_list::<i32>();
            let entries = with_type(lists.values(), field.data_type())?;
            let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
            Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries.as_struct().clone(), nulls, *sorted)?)
        }
        (DataType::List(_), DataType::List(field)) => {
            let lists = array.as_list::<i32>();
            let values = with_type(lists.values(), field.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(field), lists.offsets().clone(), values, lists.nulls().cloned())?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let structs = array.as_struct();
            let columns = structs.columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| with_type(column, field.data_type()));
            let columns = columns.collect::<Result<_, _>>()?;
            let nulls = structs.nulls().cloned();
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, structs.len())?)
        }
        _ => arrow::compute::cast(array, ty)?,
    })
}

/// A value of an argument as an error shows it.
#[must_use]
pub(crate) fn shown(array: &ArrayRef, row: usize) -> String {
    const MOST: usize = 80;
    let text = match (object(array, row), class(array.data_type())) {
        (Some(object), _) if array.is_null(row) => exuvia_ops::show::repr(&object),
        (Some(field), Some(SqlClass::Object { class, .. })) if is_itself(array.data_type()) => {
            exuvia_ops::show::repr(&Object::Record(Arc::new(RecordObj { class, fields: vec![field] })))
        }
        (Some(object), _) if is_itself(array.data_type()) => exuvia_ops::show::repr(&object),
        _ => ArrayFormatter::try_new(array.as_ref(), &FormatOptions::default().with_null("None"))
            .and_then(|formatter| formatter.value(row).try_to_string())
            .unwrap_or_else(|_| format!("a {}", type_name(array.data_type()))),
    };
    if text.chars().count() <= MOST { text } else { format!("{}...", text.chars().take(MOST).collect::<String>()) }
}
