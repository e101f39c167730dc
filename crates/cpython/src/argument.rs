//! A column of arguments as Python objects.
//!
//! What depends on the type and the layout is settled once per batch, so that a row costs
//! one branch and the making of the object.

mod nested;
mod temporal;

use crate::failure::text;
use crate::strings::Strings;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use nested::{Dictionary, Lists, Maps, Structs};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use temporal::{Dates, Durations, Intervals, Times, Timestamps};

/// Why a value has no object.
#[derive(Debug)]
pub enum ArgumentError {
    /// Its Python class cannot hold it.
    Unholdable {
        /// The class.
        class: &'static str,
    },
    /// Making the object raised, as for an unhashable key.
    Raised(PyErr),
}

impl From<PyErr> for ArgumentError {
    fn from(error: PyErr) -> ArgumentError {
        ArgumentError::Raised(error)
    }
}

/// A value's object, or why there is none.
pub type Made<'py> = Result<Bound<'py, PyAny>, ArgumentError>;

/// A column of arguments, or of the values within them.
pub struct Column {
    nulls: Option<NullBuffer>,
    values: Values,
}

enum Values {
    Null,
    Bool(BooleanArray),
    I8(PrimitiveArray<Int8Type>),
    I16(PrimitiveArray<Int16Type>),
    I32(PrimitiveArray<Int32Type>),
    I64(PrimitiveArray<Int64Type>),
    U8(PrimitiveArray<UInt8Type>),
    U16(PrimitiveArray<UInt16Type>),
    U32(PrimitiveArray<UInt32Type>),
    U64(PrimitiveArray<UInt64Type>),
    F16(PrimitiveArray<Float16Type>),
    F32(PrimitiveArray<Float32Type>),
    F64(PrimitiveArray<Float64Type>),
    Strings(Strings),
    Decimal(Decimals),
    Dates(Dates),
    Times(Times),
    Timestamps(Timestamps),
    Durations(Durations),
    Intervals(Intervals),
    Lists(Lists),
    Structs(Structs),
    Maps(Maps),
    Dictionary(Dictionary),
}

impl Column {
    /// Prepares a column. `class` is what the handler's annotation asks of this argument: of a
    /// struct its dataclass, of a list an `arguments.Values`.
    ///
    /// # Errors
    /// A type that has no Python counterpart, or a time zone that Python does not know.
    pub fn new(py: Python<'_>, array: &ArrayRef, class: Option<&Py<PyAny>>) -> PyResult<Column> {
        let values = match array.data_type() {
            DataType::Null => Values::Null,
            DataType::Boolean => Values::Bool(array.as_boolean().clone()),
            DataType::Int8 => Values::I8(array.as_primitive().clone()),
            DataType::Int16 => Values::I16(array.as_primitive().clone()),
            DataType::Int32 => Values::I32(array.as_primitive().clone()),
            DataType::Int64 => Values::I64(array.as_primitive().clone()),
            DataType::UInt8 => Values::U8(array.as_primitive().clone()),
            DataType::UInt16 => Values::U16(array.as_primitive().clone()),
            DataType::UInt32 => Values::U32(array.as_primitive().clone()),
            DataType::UInt64 => Values::U64(array.as_primitive().clone()),
            DataType::Float16 => Values::F16(array.as_primitive().clone()),
            DataType::Float32 => Values::F32(array.as_primitive().clone()),
            DataType::Float64 => Values::F64(array.as_primitive().clone()),
            DataType::Decimal32(_, _)
            | DataType::Decimal64(_, _)
            | DataType::Decimal128(_, _)
            | DataType::Decimal256(_, _) => Values::Decimal(Decimals::new(py, array)?),
            DataType::Date32 | DataType::Date64 => Values::Dates(Dates::new(py, array)?),
            DataType::Time32(_) | DataType::Time64(_) => Values::Times(Times::new(py, array)?),
            DataType::Timestamp(_, _) => Values::Timestamps(Timestamps::new(py, array)?),
            DataType::Duration(_) => Values::Durations(Durations::new(py, array)?),
            DataType::Interval(_) => Values::Intervals(Intervals::new(py, array)?),
            DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(_, _)
            | DataType::ListView(_)
            | DataType::LargeListView(_) => Values::Lists(Lists::new(py, array, class)?),
            DataType::Struct(_) => Values::Structs(Structs::new(py, array, class)?),
            DataType::Map(_, _) => Values::Maps(Maps::new(py, array)?),
            DataType::Dictionary(_, _) => Values::Dictionary(Dictionary::new(py, array, class)?),
            other => match Strings::of(array) {
                Some(strings) => Values::Strings(strings),
                None => {
                    return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                        "arguments of type {other} have no Python counterpart"
                    )));
                }
            },
        };
        Ok(Column { nulls: array.nulls().cloned(), values })
    }

    /// Whether the value is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Values::Null => true,
            Values::Dictionary(values) => {
                self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) || values.is_null(row)
            }
            _ => self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)),
        }
    }

    /// The value's object.
    ///
    /// # Errors
    /// Where there is none.
    #[inline]
    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(py.None().into_bound(py));
        }
        match &self.values {
            Values::Null => Ok(py.None().into_bound(py)),
            Values::Bool(array) => object(py, array.value(row)),
            Values::I8(array) => object(py, array.value(row)),
            Values::I16(array) => object(py, array.value(row)),
            Values::I32(array) => object(py, array.value(row)),
            Values::I64(array) => object(py, array.value(row)),
            Values::U8(array) => object(py, i64::from(array.value(row))),
            Values::U16(array) => object(py, array.value(row)),
            Values::U32(array) => object(py, array.value(row)),
            Values::U64(array) => object(py, array.value(row)),
            Values::F16(array) => Ok(PyFloat::new(py, array.value(row).to_f64()).into_any()),
            Values::F32(array) => Ok(PyFloat::new(py, f64::from(array.value(row))).into_any()),
            Values::F64(array) => Ok(PyFloat::new(py, array.value(row)).into_any()),
            Values::Strings(values) => Ok(values.get(py, row)),
            Values::Decimal(values) => values.get(py, row),
            Values::Dates(values) => values.get(py, row),
            Values::Times(values) => values.get(py, row),
            Values::Timestamps(values) => values.get(py, row),
            Values::Durations(values) => values.get(py, row),
            Values::Intervals(values) => values.get(py, row),
            Values::Lists(values) => values.get(py, row),
            Values::Structs(values) => values.get(py, row),
            Values::Maps(values) => values.get(py, row),
            Values::Dictionary(values) => values.get(py, row),
        }
    }
}

#[inline]
fn object<'py>(py: Python<'py>, value: impl IntoPyObject<'py>) -> Made<'py> {
    value.into_bound_py_any(py).map_err(ArgumentError::Raised)
}

/// A value of a column as SQL shows it, for errors.
pub fn shown(array: &ArrayRef, row: usize) -> String {
    ArrayFormatter::try_new(array.as_ref(), &FormatOptions::default().with_null("NULL"))
        .and_then(|formatter| formatter.value(row).try_to_string())
        .unwrap_or_else(|_| "a value".to_string())
}

/// The message for an argument that could not be made.
pub fn message(py: Python<'_>, error: &ArgumentError, name: &str, array: &ArrayRef, row: usize) -> String {
    let shown = shown(array, row);
    match error {
        ArgumentError::Unholdable { class } => {
            let hint = match array.data_type() {
                DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                    ": it has no nanoseconds, which date_trunc('microsecond', x) and a parameter of TIMESTAMP(6) cut off".to_string()
                }
                _ => String::new(),
            };
            format!("argument {name} is {shown}, which Python's {class} cannot hold{hint}")
        }
        ArgumentError::Raised(error) => {
            let why = error.value(py).str().map(|why| text(&why)).unwrap_or_default();
            format!("argument {name} is {shown}, of which Python makes no object: {why}")
        }
    }
}

/// Decimals of every width.
struct Decimals {
    class: Py<PyAny>,
    array: ArrayRef,
    write: fn(&ArrayRef, usize) -> String,
}

impl Decimals {
    fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Decimals> {
        fn write<T: DecimalType>(array: &ArrayRef, row: usize) -> String {
            array.as_primitive::<T>().value_as_string(row)
        }
        Ok(Decimals {
            class: crate::classes::decimals(py)?.decimal.clone_ref(py).into_any(),
            array: array.clone(),
            write: match array.data_type() {
                DataType::Decimal32(_, _) => write::<Decimal32Type>,
                DataType::Decimal64(_, _) => write::<Decimal64Type>,
                DataType::Decimal128(_, _) => write::<Decimal128Type>,
                _ => write::<Decimal256Type>,
            },
        })
    }

    fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        // The constructor is exact whatever the context's precision.
        Ok(self.class.bind(py).call1(((self.write)(&self.array, row),))?)
    }
}
