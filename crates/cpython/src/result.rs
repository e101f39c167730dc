//! Results as a column of the declared type.
//!
//! The rule is that nothing is lost: a subclass and a NumPy scalar count as their base,
//! an int becomes the nearest float, a tuple serves for a list, and whatever else the
//! declared type cannot hold exactly is refused. NaN stays NaN and -0.0 stays -0.0.
//! A refused result leaves the column unfinished: it ends the call.

mod decimal;
mod nested;
mod scalar;
mod temporal;

use crate::failure::shown;
use crate::strings::StringsBuilder;
use arrow::array::{ArrayRef, BooleanBuilder, NullBufferBuilder, PrimitiveArray};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use decimal::Decimals;
use exuvia_ir::{MAX_RESULT_BYTES, excerpt, result_float};
use nested::{Lists, Maps, Structs};
use pyo3::prelude::*;
use std::fmt;
use std::sync::Arc;
use temporal::{Durations, Intervals, Times, Timestamps};

/// Why a result was not taken.
#[derive(Debug)]
pub enum ResultError {
    /// The declared type cannot hold it.
    Refused,
    /// The declared type cannot hold a part of it.
    Part(Box<Part>),
    /// Converting it raised; an exception that ends the call, since it is not the
    /// function's.
    Raised(PyErr),
    /// The column has become too long for its layout.
    Full,
}

/// The part of a result that its declared type cannot hold.
#[derive(Debug)]
pub struct Part {
    /// Where it is, as Python would index it: `['items'][1]`; empty for the whole.
    path: String,
    /// What it is, or that it is not there.
    what: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.path.is_empty() { "it" } else { &self.path }, self.what)
    }
}

impl ResultError {
    /// What is wrong at a path.
    fn at(path: impl Into<String>, what: impl Into<String>) -> ResultError {
        ResultError::Part(Box::new(Part { path: path.into(), what: what.into() }))
    }

    /// The error of a value as that of a part, at a path.
    fn within(self, path: impl FnOnce() -> String, value: &Bound<'_, PyAny>) -> ResultError {
        match self {
            ResultError::Refused => {
                let (repr, class) = shown(value);
                ResultError::at(path(), format!("is {} of type {class}", excerpt(&repr)))
            }
            ResultError::Part(part) => ResultError::at(path() + &part.path, part.what),
            other => other,
        }
    }
}

impl From<PyErr> for ResultError {
    fn from(error: PyErr) -> ResultError {
        ResultError::Raised(error)
    }
}

/// Whether a result was taken.
pub type Taken = Result<(), ResultError>;

/// A column of results in the making.
pub enum Column {
    /// Holds nothing but NULL.
    Null(usize),
    Bool(BooleanBuilder),
    I8(Numbers<Int8Type>),
    I16(Numbers<Int16Type>),
    I32(Numbers<Int32Type>),
    I64(Numbers<Int64Type>),
    U8(Numbers<UInt8Type>),
    U16(Numbers<UInt16Type>),
    U32(Numbers<UInt32Type>),
    U64(Numbers<UInt64Type>),
    F16(Numbers<Float16Type>),
    F32(Numbers<Float32Type>),
    F64(Numbers<Float64Type>),
    Strings(StringsBuilder),
    Decimal(Decimals),
    Date(Numbers<Date32Type>),
    DateMillis(Numbers<Date64Type>),
    Time(Times),
    Timestamp(Timestamps),
    Duration(Durations),
    Interval(Intervals),
    List(Lists),
    Struct(Structs),
    Map(Maps),
}

impl Column {
    /// An empty column.
    ///
    /// # Errors
    /// Where no Python object becomes a value of the type.
    pub fn new(py: Python<'_>, ty: &DataType, rows: usize) -> PyResult<Column> {
        Ok(match ty {
            DataType::Null => Column::Null(0),
            DataType::Boolean => Column::Bool(BooleanBuilder::with_capacity(rows)),
            DataType::Int8 => Column::I8(Numbers::new(rows)),
            DataType::Int16 => Column::I16(Numbers::new(rows)),
            DataType::Int32 => Column::I32(Numbers::new(rows)),
            DataType::Int64 => Column::I64(Numbers::new(rows)),
            DataType::UInt8 => Column::U8(Numbers::new(rows)),
            DataType::UInt16 => Column::U16(Numbers::new(rows)),
            DataType::UInt32 => Column::U32(Numbers::new(rows)),
            DataType::UInt64 => Column::U64(Numbers::new(rows)),
            DataType::Float16 => Column::F16(Numbers::new(rows)),
            DataType::Float32 => Column::F32(Numbers::new(rows)),
            DataType::Float64 => Column::F64(Numbers::new(rows)),
            DataType::Decimal32(_, _)
            | DataType::Decimal64(_, _)
            | DataType::Decimal128(_, _)
            | DataType::Decimal256(_, _) => Column::Decimal(Decimals::new(py, ty, rows)?),
            DataType::Date32 => Column::Date(Numbers::new(rows)),
            DataType::Date64 => Column::DateMillis(Numbers::new(rows)),
            DataType::Time32(unit) | DataType::Time64(unit) => Column::Time(Times::new(py, ty, unit, rows)?),
            DataType::Timestamp(unit, zone) => Column::Timestamp(Timestamps::new(py, ty, unit, zone.is_some(), rows)?),
            DataType::Duration(unit) => Column::Duration(Durations::new(py, ty, unit, rows)?),
            DataType::Interval(unit) => Column::Interval(Intervals::new(py, unit, rows)?),
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => {
                Column::List(Lists::new(py, ty, rows)?)
            }
            DataType::Struct(fields) => Column::Struct(Structs::new(py, fields, rows)?),
            DataType::Map(entries, _) => Column::Map(Maps::new(py, entries, rows)?),
            other => match StringsBuilder::of(other, rows) {
                Some(strings) => Column::Strings(strings),
                None => {
                    return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                        "results of type {other} have no Python counterpart"
                    )));
                }
            },
        })
    }

    /// Adds a result.
    ///
    /// # Errors
    /// Where it is not taken.
    #[inline]
    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        match self.push_value(value) {
            // An array of rank 0 is the number that it holds.
            Err(ResultError::Refused) => match nested::number_of(value)? {
                Some(number) => self.push_value(&number),
                None => Err(ResultError::Refused),
            },
            taken => taken,
        }
    }

    #[inline]
    fn push_value(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        if value.is_none() {
            self.push_null();
            return Ok(());
        }
        match self {
            Column::Null(_) => Err(ResultError::Refused),
            Column::Bool(column) => {
                column.append_value(scalar::boolean(value)?);
                Ok(())
            }
            Column::I8(column) => column.push(narrow(scalar::integer(value)?)?),
            Column::I16(column) => column.push(narrow(scalar::integer(value)?)?),
            Column::I32(column) => column.push(narrow(scalar::integer(value)?)?),
            Column::I64(column) => column.push(scalar::integer(value)?),
            Column::U8(column) => column.push(narrow(scalar::integer(value)?)?),
            Column::U16(column) => column.push(narrow(scalar::integer(value)?)?),
            Column::U32(column) => column.push(narrow(scalar::integer(value)?)?),
            Column::U64(column) => column.push(scalar::unsigned(value)?),
            Column::F16(column) => {
                column.push(<Float16Type as ArrowPrimitiveType>::Native::from_f64(result_float(scalar::float(value)?)))
            }
            Column::F32(column) => column.push(result_float(scalar::float(value)?) as f32),
            Column::F64(column) => column.push(result_float(scalar::float(value)?)),
            Column::Strings(column) => column.push(value),
            Column::Decimal(column) => column.push(value),
            Column::Date(column) => column.push(narrow(temporal::day(value)?)?),
            Column::DateMillis(column) => column.push(temporal::day(value)? * 86_400_000),
            Column::Time(column) => column.push(value),
            Column::Timestamp(column) => column.push(value),
            Column::Duration(column) => column.push(value),
            Column::Interval(column) => column.push(value),
            Column::List(column) => column.push(value),
            Column::Struct(column) => column.push(value),
            Column::Map(column) => column.push(value),
        }
    }

    /// Adds NULL.
    pub fn push_null(&mut self) {
        match self {
            Column::Null(rows) => *rows += 1,
            Column::Bool(column) => column.append_null(),
            Column::I8(column) => column.push_null(),
            Column::I16(column) => column.push_null(),
            Column::I32(column) => column.push_null(),
            Column::I64(column) => column.push_null(),
            Column::U8(column) => column.push_null(),
            Column::U16(column) => column.push_null(),
            Column::U32(column) => column.push_null(),
            Column::U64(column) => column.push_null(),
            Column::F16(column) => column.push_null(),
            Column::F32(column) => column.push_null(),
            Column::F64(column) => column.push_null(),
            Column::Strings(column) => column.push_null(),
            Column::Decimal(column) => column.push_null(),
            Column::Date(column) => column.push_null(),
            Column::DateMillis(column) => column.push_null(),
            Column::Time(column) => column.push_null(),
            Column::Timestamp(column) => column.push_null(),
            Column::Duration(column) => column.push_null(),
            Column::Interval(column) => column.push_null(),
            Column::List(column) => column.push_null(),
            Column::Struct(column) => column.push_null(),
            Column::Map(column) => column.push_null(),
        }
    }

    /// The bytes of its texts, byte strings and items of lists. What has a fixed width counts in a
    /// list alone: a row of others has as much whatever its values are.
    pub fn variable_bytes(&self) -> usize {
        match self {
            Column::Strings(column) => column.variable_bytes(),
            Column::List(column) => column.variable_bytes(),
            Column::Struct(column) => column.variable_bytes(),
            Column::Map(column) => column.variable_bytes(),
            _ => 0,
        }
    }

    /// The column.
    ///
    /// # Errors
    /// Where Arrow refuses it.
    pub fn finish(self) -> Result<ArrayRef, arrow::error::ArrowError> {
        Ok(match self {
            Column::Null(rows) => Arc::new(arrow::array::NullArray::new(rows)),
            Column::Bool(mut column) => Arc::new(column.finish()),
            Column::I8(column) => column.finish(),
            Column::I16(column) => column.finish(),
            Column::I32(column) => column.finish(),
            Column::I64(column) => column.finish(),
            Column::U8(column) => column.finish(),
            Column::U16(column) => column.finish(),
            Column::U32(column) => column.finish(),
            Column::U64(column) => column.finish(),
            Column::F16(column) => column.finish(),
            Column::F32(column) => column.finish(),
            Column::F64(column) => column.finish(),
            Column::Strings(column) => column.finish(),
            Column::Decimal(column) => column.finish()?,
            Column::Date(column) => column.finish(),
            Column::DateMillis(column) => column.finish(),
            Column::Time(column) => column.finish()?,
            Column::Timestamp(column) => column.finish()?,
            Column::Duration(column) => column.finish()?,
            Column::Interval(column) => column.finish(),
            Column::List(column) => column.finish()?,
            Column::Struct(column) => column.finish()?,
            Column::Map(column) => column.finish()?,
        })
    }
}

/// Numbers of a fixed width.
pub struct Numbers<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
}

impl<T: ArrowPrimitiveType> Numbers<T> {
    fn new(rows: usize) -> Self {
        Numbers { values: Vec::with_capacity(rows), nulls: NullBufferBuilder::new(rows) }
    }

    #[inline]
    fn push(&mut self, value: T::Native) -> Taken {
        self.values.push(value);
        self.nulls.append_non_null();
        Ok(())
    }

    fn push_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    fn array(mut self) -> PrimitiveArray<T> {
        PrimitiveArray::new(ScalarBuffer::from(self.values), self.nulls.finish())
    }

    fn finish(self) -> ArrayRef {
        Arc::new(self.array())
    }
}

#[inline]
fn narrow<T: TryFrom<i64>>(value: i64) -> Result<T, ResultError> {
    T::try_from(value).map_err(|_| ResultError::Refused)
}

/// Whether a column of a batch may have so many bytes more.
#[inline]
pub fn fits(length: usize, more: usize) -> Taken {
    if length + more > MAX_RESULT_BYTES { Err(ResultError::Full) } else { Ok(()) }
}
