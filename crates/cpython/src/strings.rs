//! Texts and byte strings, which lie in columns in the same layouts: objects of arguments, and columns of results.

use crate::result::{ResultError, Taken, fits};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, BinaryViewArray, BinaryViewBuilder, FixedSizeBinaryArray,
    FixedSizeBinaryBuilder, GenericByteBuilder, GenericByteViewBuilder, LargeBinaryArray, LargeBinaryBuilder,
    LargeStringArray, LargeStringBuilder, StringArray, StringBuilder, StringViewArray, StringViewBuilder,
};
use arrow::datatypes::{ByteArrayType, ByteViewType, DataType};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::sync::Arc;

/// Arguments.
pub enum Strings {
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    Bytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    BytesView(BinaryViewArray),
    FixedBytes(FixedSizeBinaryArray),
}

impl Strings {
    /// Those of a column; `None` where it holds something else.
    pub fn of(array: &ArrayRef) -> Option<Strings> {
        Some(match array.data_type() {
            DataType::Utf8 => Strings::Text(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Strings::LargeText(array.as_string::<i64>().clone()),
            DataType::Utf8View => Strings::TextView(array.as_string_view().clone()),
            DataType::Binary => Strings::Bytes(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Strings::LargeBytes(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Strings::BytesView(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Strings::FixedBytes(array.as_fixed_size_binary().clone()),
            _ => return None,
        })
    }

    /// The object of a value.
    #[inline]
    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Bound<'py, PyAny> {
        match self {
            Strings::Text(array) => PyString::new(py, array.value(row)).into_any(),
            Strings::LargeText(array) => PyString::new(py, array.value(row)).into_any(),
            Strings::TextView(array) => PyString::new(py, array.value(row)).into_any(),
            Strings::Bytes(array) => PyBytes::new(py, array.value(row)).into_any(),
            Strings::LargeBytes(array) => PyBytes::new(py, array.value(row)).into_any(),
            Strings::BytesView(array) => PyBytes::new(py, array.value(row)).into_any(),
            Strings::FixedBytes(array) => PyBytes::new(py, array.value(row)).into_any(),
        }
    }
}

/// Results in the making; views with the bytes of all.
pub enum StringsBuilder {
    Text(StringBuilder),
    LargeText(LargeStringBuilder),
    TextView(StringViewBuilder, usize),
    Bytes(BinaryBuilder),
    LargeBytes(LargeBinaryBuilder),
    BytesView(BinaryViewBuilder, usize),
    FixedBytes(FixedSizeBinaryBuilder, usize),
}

impl StringsBuilder {
    /// An empty column; `None` for another type.
    pub fn of(ty: &DataType, rows: usize) -> Option<StringsBuilder> {
        Some(match ty {
            DataType::Utf8 => StringsBuilder::Text(StringBuilder::with_capacity(rows, 0)),
            DataType::LargeUtf8 => StringsBuilder::LargeText(LargeStringBuilder::with_capacity(rows, 0)),
            DataType::Utf8View => StringsBuilder::TextView(StringViewBuilder::with_capacity(rows), 0),
            DataType::Binary => StringsBuilder::Bytes(BinaryBuilder::with_capacity(rows, 0)),
            DataType::LargeBinary => StringsBuilder::LargeBytes(LargeBinaryBuilder::with_capacity(rows, 0)),
            DataType::BinaryView => StringsBuilder::BytesView(BinaryViewBuilder::with_capacity(rows), 0),
            DataType::FixedSizeBinary(size) => {
                StringsBuilder::FixedBytes(FixedSizeBinaryBuilder::with_capacity(rows, *size), *size as usize)
            }
            _ => return None,
        })
    }

    /// Adds a result that is not None.
    ///
    /// # Errors
    /// Where it is not taken.
    #[inline]
    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        match self {
            StringsBuilder::Text(column) => with_text(value, |text| append(column, text)),
            StringsBuilder::LargeText(column) => with_text(value, |text| append(column, text)),
            StringsBuilder::TextView(column, taken) => with_text(value, |text| append_view(column, taken, text)),
            StringsBuilder::Bytes(column) => append(column, bytes(value)?),
            StringsBuilder::LargeBytes(column) => append(column, bytes(value)?),
            StringsBuilder::BytesView(column, taken) => append_view(column, taken, bytes(value)?),
            StringsBuilder::FixedBytes(column, size) => {
                let bytes = bytes(value)?;
                if bytes.len() != *size {
                    return Err(ResultError::Refused);
                }
                column.append_value(bytes).map_err(|_| ResultError::Full)
            }
        }
    }

    /// Adds NULL.
    pub fn push_null(&mut self) {
        match self {
            StringsBuilder::Text(column) => column.append_null(),
            StringsBuilder::LargeText(column) => column.append_null(),
            StringsBuilder::TextView(column, _) => column.append_null(),
            StringsBuilder::Bytes(column) => column.append_null(),
            StringsBuilder::LargeBytes(column) => column.append_null(),
            StringsBuilder::BytesView(column, _) => column.append_null(),
            StringsBuilder::FixedBytes(column, _) => column.append_null(),
        }
    }

    /// The bytes of all that have no fixed width.
    pub fn variable_bytes(&self) -> usize {
        match self {
            StringsBuilder::Text(column) => column.values_slice().len(),
            StringsBuilder::LargeText(column) => column.values_slice().len(),
            StringsBuilder::Bytes(column) => column.values_slice().len(),
            StringsBuilder::LargeBytes(column) => column.values_slice().len(),
            StringsBuilder::TextView(_, taken) | StringsBuilder::BytesView(_, taken) => *taken,
            StringsBuilder::FixedBytes(..) => 0,
        }
    }

    /// The column.
    pub fn finish(self) -> ArrayRef {
        match self {
            StringsBuilder::Text(mut column) => Arc::new(column.finish()),
            StringsBuilder::LargeText(mut column) => Arc::new(column.finish()),
            StringsBuilder::TextView(mut column, _) => Arc::new(column.finish()),
            StringsBuilder::Bytes(mut column) => Arc::new(column.finish()),
            StringsBuilder::LargeBytes(mut column) => Arc::new(column.finish()),
            StringsBuilder::BytesView(mut column, _) => Arc::new(column.finish()),
            StringsBuilder::FixedBytes(mut column, _) => Arc::new(column.finish()),
        }
    }
}

/// Whether a value is one for SQL although Python iterates over it.
pub fn is_string(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>()
}

/// Hands a text to `take`; one with lone surrogates is no text to SQL.
#[inline]
fn with_text<T>(value: &Bound<'_, PyAny>, take: impl FnOnce(&str) -> Result<T, ResultError>) -> Result<T, ResultError> {
    let text = value.cast::<PyString>().map_err(|_| ResultError::Refused)?;
    take(text.to_str().map_err(|_| ResultError::Refused)?)
}

fn bytes<'a>(value: &'a Bound<'_, PyAny>) -> Result<&'a [u8], ResultError> {
    Ok(value.cast::<PyBytes>().map_err(|_| ResultError::Refused)?.as_bytes())
}

#[inline]
fn append<T: ByteArrayType>(column: &mut GenericByteBuilder<T>, value: &T::Native) -> Taken {
    fits(column.values_slice().len(), AsRef::<[u8]>::as_ref(value).len())?;
    column.append_value(value);
    Ok(())
}

#[inline]
fn append_view<T: ByteViewType>(column: &mut GenericByteViewBuilder<T>, taken: &mut usize, value: &T::Native) -> Taken {
    let length = AsRef::<[u8]>::as_ref(value).len();
    fits(*taken, length)?;
    *taken += length;
    column.try_append_value(value).map_err(|_| ResultError::Full)
}
