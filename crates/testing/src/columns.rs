//! Rows as Arrow columns, in every layout in which they may arrive, and back.

use crate::signature::SqlType;
use crate::value::{Value, decimal, digits};
use anyhow::{Context, bail};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, ListArray,
    MapArray, StringArray, StringViewArray, StructArray, Time64NanosecondArray, TimestampNanosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, TimeUnit};
use std::sync::Arc;

/// How columns lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As DataFusion gives them: string views, validity only where there are nulls.
    Plain,
    /// Cut out of longer columns, so that values, offsets and validity begin inside their
    /// buffers, and not at a byte of the bitmap.
    Sliced,
    /// Strings with 32-bit offsets, cut out of a longer column.
    Utf8,
    /// Strings with 64-bit offsets.
    LargeUtf8,
    /// With other values than zero where the bitmap says null.
    Garbage,
}

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 5] = [Layout::Plain, Layout::Sliced, Layout::Utf8, Layout::LargeUtf8, Layout::Garbage];

    /// Whether columns of these types differ from the plain layout.
    #[must_use]
    pub fn matters(self, types: impl Iterator<Item = SqlType>) -> bool {
        match self {
            Layout::Plain | Layout::Sliced | Layout::Garbage => true,
            Layout::Utf8 | Layout::LargeUtf8 => types.into_iter().any(has_text),
        }
    }
}

/// What a struct holds under a name.
fn field<'v>(value: &'v Value, name: &str) -> &'v Value {
    let found = match value {
        Value::Dict(fields) => fields.iter().find(|field| field.0 == name),
        _ => None,
    };
    found.map_or(&Value::None, |field| &field.1)
}

fn has_text(ty: SqlType) -> bool {
    match ty {
        SqlType::Text | SqlType::Bytea => true,
        SqlType::Array(element) => has_text(*element),
        SqlType::Map(value) => has_text(*value),
        SqlType::Struct(fields) => fields.iter().any(|field| has_text(field.1)),
        _ => false,
    }
}

/// The rows' columns.
///
/// # Errors
/// A value that the type cannot hold.
pub fn columns(types: &[SqlType], rows: &[&[Value]], layout: Layout) -> anyhow::Result<Vec<ArrayRef>> {
    types
        .iter()
        .enumerate()
        .map(|(index, ty)| {
            let values: Vec<&Value> = rows.iter().map(|row| &row[index]).collect();
            column(*ty, &values, layout)
        })
        .collect()
}

fn column(ty: SqlType, values: &[&Value], layout: Layout) -> anyhow::Result<ArrayRef> {
    let sliced = matches!(layout, Layout::Sliced | Layout::Utf8);
    // Three rows before and two behind, with contents that would be noticed.
    let decoys = [Value::None, decoy(ty), decoy(ty)];
    let padded: Vec<&Value> = if sliced {
        decoys.iter().chain(values.iter().copied()).chain(&decoys[..2]).collect()
    } else {
        values.to_vec()
    };
    if layout == Layout::Garbage && values.iter().any(|value| matches!(value, Value::None)) {
        let garbage = decoy(ty);
        let nulls: NullBuffer = values.iter().map(|value| !matches!(value, Value::None)).collect();
        let full: Vec<&Value> =
            values.iter().map(|value| if matches!(value, Value::None) { &garbage } else { *value }).collect();
        let data = column(ty, &full, Layout::Plain)?.to_data().into_builder().nulls(Some(nulls)).build()?;
        return Ok(arrow::array::make_array(data));
    }
    let ints = || padded.iter().map(|value| int(value));
    let floats = || padded.iter().map(|value| float(value));
    let array: ArrayRef = match ty {
        SqlType::TinyInt => Arc::new(narrow::<i8>(ints())?.into_iter().collect::<Int8Array>()),
        SqlType::SmallInt => Arc::new(narrow::<i16>(ints())?.into_iter().collect::<Int16Array>()),
        SqlType::Int => Arc::new(narrow::<i32>(ints())?.into_iter().collect::<Int32Array>()),
        SqlType::BigInt => Arc::new(narrow::<i64>(ints())?.into_iter().collect::<Int64Array>()),
        SqlType::Double => {
            Arc::new(floats().collect::<anyhow::Result<Vec<_>>>()?.into_iter().collect::<Float64Array>())
        }
        SqlType::Real => {
            let values = floats().map(|value| Ok(value?.map(|value| value as f32)));
            Arc::new(values.collect::<anyhow::Result<Vec<_>>>()?.into_iter().collect::<Float32Array>())
        }
        SqlType::Boolean => Arc::new(held(&padded, ty, Value::as_bool)?.into_iter().collect::<BooleanArray>()),
        SqlType::Bytea => {
            let values = held(&padded, ty, Value::as_bytes)?;
            match layout {
                Layout::LargeUtf8 => Arc::new(LargeBinaryArray::from(values)),
                Layout::Utf8 => Arc::new(BinaryViewArray::from(values)),
                Layout::Plain | Layout::Sliced | Layout::Garbage => Arc::new(BinaryArray::from(values)),
            }
        }
        SqlType::Date => Arc::new(held(&padded, ty, Value::as_days)?.into_iter().collect::<Date32Array>()),
        SqlType::Timestamp => {
            Arc::new(held(&padded, ty, Value::as_nanos)?.into_iter().collect::<TimestampNanosecondArray>())
        }
        SqlType::Time => Arc::new(held(&padded, ty, Value::as_nanos)?.into_iter().collect::<Time64NanosecondArray>()),
        SqlType::Decimal(precision, scale) => {
            let of = |value: &Value| if let Value::Decimal(text) = value { digits(text, scale) } else { None };
            let values = held(&padded, ty, of)?.into_iter().collect::<Decimal128Array>();
            Arc::new(values.with_precision_and_scale(precision, scale)?)
        }
        SqlType::Text => {
            let values = held(&padded, ty, Value::as_str)?;
            match layout {
                Layout::Utf8 => Arc::new(StringArray::from(values)),
                Layout::LargeUtf8 => Arc::new(LargeStringArray::from(values)),
                Layout::Plain | Layout::Sliced | Layout::Garbage => Arc::new(StringViewArray::from(values)),
            }
        }
        SqlType::Array(element) => {
            let mut items: Vec<&Value> = Vec::new();
            let (mut ends, mut valid) = (vec![0i32], Vec::new());
            for value in &padded {
                match value {
                    Value::List(list) => items.extend(list),
                    Value::None => {}
                    other => bail!("{} is not a list", other.show()),
                }
                valid.push(!matches!(value, Value::None));
                ends.push(i32::try_from(items.len())?);
            }
            let inner = if sliced { Layout::Utf8 } else { layout };
            let items = column(*element, &items, inner)?;
            let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            Arc::new(ListArray::try_new(field, offsets, items, Some(NullBuffer::from(valid)))?)
        }
        SqlType::Map(ty) => {
            let (mut keys, mut items) = (Vec::new(), Vec::new());
            let (mut ends, mut valid) = (vec![0i32], Vec::new());
            for value in &padded {
                match value {
                    Value::Dict(entries) => entries.iter().for_each(|(key, item)| {
                        keys.push(key.clone());
                        items.push(item);
                    }),
                    Value::None => {}
                    other => bail!("{} is not a map", other.show()),
                }
                valid.push(!matches!(value, Value::None));
                ends.push(i32::try_from(items.len())?);
            }
            let inner = if sliced { Layout::Utf8 } else { layout };
            let values = column(*ty, &items, inner)?;
            let fields = Fields::from(vec![
                Field::new("key", DataType::Utf8View, false),
                Field::new("value", values.data_type().clone(), true),
            ]);
            let keys: ArrayRef = Arc::new(StringViewArray::from(keys));
            let entries = StructArray::try_new(fields.clone(), vec![keys, values], None)?;
            let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            Arc::new(MapArray::try_new(field, offsets, entries, Some(NullBuffer::from(valid)), false)?)
        }
        SqlType::Struct(fields) => {
            let mut columns = Vec::new();
            let inner = if sliced { Layout::Utf8 } else { layout };
            for (name, ty) in fields {
                let values: Vec<&Value> = padded.iter().map(|value| field(value, name)).collect();
                let values = column(*ty, &values, inner)?;
                columns.push((Arc::new(Field::new(name, values.data_type().clone(), true)), values));
            }
            let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
            let valid: NullBuffer = padded.iter().map(|value| !matches!(value, Value::None)).collect();
            Arc::new(StructArray::try_new(fields.into(), columns, Some(valid))?)
        }
    };
    // Arrow's builders keep a bitmap without nulls; DataFusion's scans give none.
    if layout == Layout::Plain && array.null_count() == 0 && array.nulls().is_some() {
        return Ok(arrow::array::make_array(array.to_data().into_builder().nulls(None).build()?));
    }
    Ok(if sliced { array.slice(decoys.len(), values.len()) } else { array })
}

fn decoy(ty: SqlType) -> Value {
    match ty {
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => Value::int(77),
        SqlType::Real | SqlType::Double => Value::Float(77.5),
        SqlType::Boolean => Value::Bool(true),
        SqlType::Bytea => Value::Bytes(b"a decoy \xff outside the slice".to_vec()),
        SqlType::Date => Value::Date(7777),
        SqlType::Timestamp => Value::Datetime(7_777_777_777),
        SqlType::Time => Value::Time(7_777_777_777),
        SqlType::Decimal(_, scale) => decimal(77, scale),
        SqlType::Text => Value::str("a decoy that lies outside the slice"),
        SqlType::Array(element) => Value::List(vec![decoy(*element), Value::None]),
        SqlType::Map(ty) => Value::Dict(vec![("decoy".to_string(), decoy(*ty)), ("none".to_string(), Value::None)]),
        SqlType::Struct(fields) => Value::Dict(fields.iter().map(|(name, ty)| (name.clone(), decoy(*ty))).collect()),
    }
}

/// What the values hold; nothing for NULL.
fn held<'a, T>(
    values: &[&'a Value],
    ty: SqlType,
    of: impl Fn(&'a Value) -> Option<T>,
) -> anyhow::Result<Vec<Option<T>>> {
    let one = |value: &&'a Value| match value {
        Value::None => Ok(None),
        value => of(value).map(Some).with_context(|| format!("{} is not a {}", value.show(), ty.name())),
    };
    values.iter().map(one).collect()
}

fn int(value: &Value) -> anyhow::Result<Option<i64>> {
    match value {
        Value::None => Ok(None),
        Value::Int(text) => Ok(Some(text.parse()?)),
        other => bail!("{} is not an int", other.show()),
    }
}

fn float(value: &Value) -> anyhow::Result<Option<f64>> {
    match value {
        Value::None => Ok(None),
        Value::Float(value) => Ok(Some(*value)),
        other => bail!("{} is not a float", other.show()),
    }
}

fn narrow<T: TryFrom<i64>>(
    values: impl Iterator<Item = anyhow::Result<Option<i64>>>,
) -> anyhow::Result<Vec<Option<T>>> {
    values
        .map(|value| value?.map(|value| T::try_from(value).ok().context("out of the type's range")).transpose())
        .collect()
}

/// The values of a result, of the declared type in any layout.
///
/// # Errors
/// An array of another type.
pub fn values(ty: SqlType, array: &dyn Array) -> anyhow::Result<Vec<Value>> {
    let expected = ty.arrow();
    let nested = array.data_type().is_nested();
    let text = matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if *array.data_type() != expected && !(ty == SqlType::Text && text) && !(nested && expected.is_nested()) {
        bail!("the result is an array of {} and not of {expected}", array.data_type());
    }
    array.to_data().validate_full().context("the result is not a valid Arrow array")?;
    (0..array.len()).map(|row| Ok(if array.is_null(row) { Value::None } else { value(array, row)? })).collect()
}

fn value(array: &dyn Array, row: usize) -> anyhow::Result<Value> {
    macro_rules! at {
        ($array:ty) => {
            array.as_any().downcast_ref::<$array>().context("not the array that its type says")?.value(row)
        };
    }
    Ok(match array.data_type() {
        DataType::Int8 => Value::int(i64::from(at!(Int8Array))),
        DataType::Int16 => Value::int(i64::from(at!(Int16Array))),
        DataType::Int32 => Value::int(i64::from(at!(Int32Array))),
        DataType::Int64 => Value::int(at!(Int64Array)),
        DataType::Float32 => Value::Float(f64::from(at!(Float32Array))),
        DataType::Float64 => Value::Float(at!(Float64Array)),
        DataType::Boolean => Value::Bool(at!(BooleanArray)),
        DataType::Binary => Value::Bytes(at!(BinaryArray).to_vec()),
        DataType::Date32 => Value::Date(at!(Date32Array)),
        DataType::Timestamp(TimeUnit::Nanosecond, None) => Value::Datetime(micros(at!(TimestampNanosecondArray))?),
        DataType::Time64(TimeUnit::Nanosecond) => Value::Time(micros(at!(Time64NanosecondArray))?),
        DataType::Decimal128(_, scale) => decimal(at!(Decimal128Array), *scale),
        DataType::Utf8 => Value::str(at!(StringArray)),
        DataType::LargeUtf8 => Value::str(at!(LargeStringArray)),
        DataType::Utf8View => Value::str(at!(StringViewArray)),
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            let items = (0..items.len()).map(|at| value_or_none(&items, at));
            Value::List(items.collect::<anyhow::Result<_>>()?)
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let mut held = Vec::new();
            for at in 0..entries.len() {
                let Value::Str(key) = value_or_none(entries.column(0), at)? else { bail!("a key that is no text") };
                held.push((key, value_or_none(entries.column(1), at)?));
            }
            Value::Dict(held)
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let named = fields.iter().zip(columns);
            let named = named.map(|(field, column)| Ok((field.name().clone(), value_or_none(column, row)?)));
            Value::Dict(named.collect::<anyhow::Result<_>>()?)
        }
        other => bail!("an array of {other}"),
    })
}

fn value_or_none(array: &ArrayRef, row: usize) -> anyhow::Result<Value> {
    if array.is_null(row) { Ok(Value::None) } else { value(array.as_ref(), row) }
}

fn micros(nanos: i64) -> anyhow::Result<i64> {
    if nanos % 1000 == 0 { Ok(nanos / 1000) } else { bail!("{nanos} nanoseconds") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_holds_the_same_values() {
        let rows = [
            vec![Value::str("é"), Value::int(1)],
            vec![Value::None, Value::None],
            vec![Value::str("a string longer than twelve"), Value::int(-3)],
        ];
        let rows: Vec<&[Value]> = rows.iter().map(Vec::as_slice).collect();
        let types = [SqlType::Text, SqlType::BigInt];
        for layout in Layout::ALL {
            for rows in [&rows[..], &rows[..1]] {
                for (index, array) in columns(&types, rows, layout).unwrap().iter().enumerate() {
                    let found = values(types[index], array).unwrap();
                    assert!(found.iter().zip(rows).all(|(value, row)| value.same(&row[index])), "{layout:?} {found:?}");
                }
            }
        }
    }
}
