//! SQL types whose values native code takes in the layout of another type.
//!
//! A date is its days since 1970-01-01, a timestamp without a zone and a time of the day the count
//! of their unit, a decimal its digits. Bytes are a text of the characters U+0000 to U+00FF, one
//! for each byte: then every operation on texts serves them too, and bytes that are ASCII, which
//! most are, need no copy.

use crate::RunError;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Decimal128Array, GenericBinaryArray, GenericBinaryBuilder,
    GenericStringArray, GenericStringBuilder, Int64Array, OffsetSizeTrait, StringViewArray,
};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};
use exuvia_ops::bytes;
use std::sync::Arc;

/// The type in whose layout native code takes values of an SQL type.
#[must_use]
pub fn layout(ty: &DataType) -> DataType {
    match ty {
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        DataType::Timestamp(_, None) | DataType::Time64(_) => DataType::Int64,
        DataType::Timestamp(_, Some(zone)) if is_utc(zone) => DataType::Int64,
        DataType::Decimal128(precision, _) if *precision <= MOST_DIGITS => DataType::Int64,
        DataType::Binary => DataType::Utf8,
        DataType::LargeBinary => DataType::LargeUtf8,
        DataType::BinaryView => DataType::Utf8View,
        other => other.clone(),
    }
}

/// Whether the zone of a column is UTC, which Python has as `timezone.utc`.
#[must_use]
pub fn is_utc(zone: &str) -> bool {
    matches!(zone, "+00:00" | "UTC")
}

/// The values of a column in that layout.
#[must_use]
pub fn load(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Binary => load_bytes::<i32>(array.as_binary()),
        DataType::LargeBinary => load_bytes::<i64>(array.as_binary()),
        DataType::BinaryView => {
            let values = array.as_binary_view();
            match values.iter().flatten().all(<[u8]>::is_ascii).then(|| values.clone().to_string_view()) {
                Some(Ok(texts)) => Arc::new(texts),
                _ => Arc::new(values.iter().map(|value| value.map(bytes::to_text)).collect::<StringViewArray>()),
            }
        }
        DataType::Dictionary(_, values) if layout(values) != **values => match arrow::compute::cast(array, values) {
            Ok(plain) => load(&plain),
            Err(_) => Arc::clone(array),
        },
        DataType::Decimal128(precision, _) if *precision <= MOST_DIGITS => narrow(array),
        ty if layout(ty) != *ty => relabel(array, &layout(ty)),
        _ => Arc::clone(array),
    }
}

/// The digits of a DECIMAL that 64 bits hold.
pub const MOST_DIGITS: u8 = 18;

/// The digits of decimals as ints of 64 bits; the array as it is where one has more than its type
/// says.
fn narrow(array: &ArrayRef) -> ArrayRef {
    let values = array.as_primitive::<Decimal128Type>();
    let narrow: Vec<i64> = values.values().iter().map(|value| *value as i64).collect();
    let same = |at: usize| i128::from(narrow[at]) == values.value(at);
    if !(0..narrow.len()).all(|at| same(at) || values.is_null(at)) {
        return Arc::clone(array);
    }
    Arc::new(Int64Array::new(narrow.into(), values.nulls().cloned()))
}

/// Decimals of the digits.
fn widen(array: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef, RunError> {
    let digits = array.as_primitive::<Int64Type>();
    let values: Vec<i128> = digits.values().iter().map(|value| i128::from(*value)).collect();
    let values = Decimal128Array::new(values.into(), digits.nulls().cloned());
    let values = values.with_precision_and_scale(precision, scale);
    Ok(Arc::new(values.map_err(|error| RunError::Argument(error.to_string()))?))
}

/// A column of the SQL type from its values in that layout.
///
/// # Errors
/// Texts of bytes have other characters.
pub fn store(array: ArrayRef, ty: &DataType) -> Result<ArrayRef, RunError> {
    Ok(match ty {
        DataType::Binary => store_bytes::<i32>(array.as_string())?,
        DataType::LargeBinary => store_bytes::<i64>(array.as_string())?,
        DataType::BinaryView => {
            let texts = array.as_string_view();
            if texts.iter().flatten().all(str::is_ascii) {
                Arc::new(texts.clone().to_binary_view())
            } else {
                let values = texts.iter().map(|text| text.map(of_text).transpose());
                Arc::new(values.collect::<Result<BinaryViewArray, RunError>>()?)
            }
        }
        DataType::Decimal128(precision, scale) if *precision <= MOST_DIGITS => widen(&array, *precision, *scale)?,
        ty if layout(ty) != *ty => relabel(&array, ty),
        _ => array,
    })
}

/// The same buffers as another type whose values are integers of that width; the array as it is
/// where there is none.
fn relabel(array: &ArrayRef, ty: &DataType) -> ArrayRef {
    match array.to_data().into_builder().data_type(ty.clone()).build() {
        Ok(data) => arrow::array::make_array(data),
        Err(_) => Arc::clone(array),
    }
}

fn load_bytes<O: OffsetSizeTrait>(values: &GenericBinaryArray<O>) -> ArrayRef {
    let (first, last) = (values.value_offsets()[0].as_usize(), values.value_offsets()[values.len()].as_usize());
    if values.value_data()[first..last].is_ascii()
        && let Ok(texts) = GenericStringArray::<O>::try_from_binary(values.clone())
    {
        return Arc::new(texts);
    }
    let mut texts = GenericStringBuilder::<O>::with_capacity(values.len(), last - first);
    values.iter().for_each(|value| texts.append_option(value.map(bytes::to_text)));
    Arc::new(texts.finish())
}

fn store_bytes<O: OffsetSizeTrait>(texts: &GenericStringArray<O>) -> Result<ArrayRef, RunError> {
    if texts.value_data().is_ascii() {
        return Ok(Arc::new(GenericBinaryArray::<O>::from(texts.clone())));
    }
    let mut values = GenericBinaryBuilder::<O>::with_capacity(texts.len(), texts.value_data().len());
    for text in texts {
        values.append_option(text.map(of_text).transpose()?);
    }
    Ok(Arc::new(values.finish()))
}

fn of_text(text: &str) -> Result<Vec<u8>, RunError> {
    bytes::from_text(text).ok_or_else(|| RunError::Argument("a character beyond U+00FF among bytes".to_string()))
}
