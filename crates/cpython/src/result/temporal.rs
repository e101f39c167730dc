//! Dates, times and spans out of Python's.
//!
//! Subclasses count as their base, so the base's methods are used; but pandas' own carry
//! nanoseconds that the base does not show, and "not a time" claims to be a datetime.

use super::{Numbers, ResultError, Taken};
use crate::calendar::{DAY_MICROS, EPOCH_ORDINAL, units};
use crate::classes::{Clock, clock};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::{
    DataType, Int32Type, Int64Type, IntervalDayTime, IntervalDayTimeType, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType, TimeUnit,
};
use arrow::error::ArrowError;
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The day of a date, from 1970-01-01. A datetime is a date to Python, but it would lose
/// its time.
pub fn day(value: &Bound<'_, PyAny>) -> Result<i64, ResultError> {
    let py = value.py();
    let clock = clock(py)?;
    if !value.get_type().is(&clock.date) {
        if value.is_instance(clock.datetime.bind(py))? {
            return Err(ResultError::Refused);
        }
        if !value.is_instance(clock.date.bind(py))? {
            return day(&super::scalar::numpy_item(value)?);
        }
    }
    Ok(clock.to_ordinal.bind(py).call1((value,))?.extract::<i64>()? - EPOCH_ORDINAL)
}

/// Counts of a unit that lie in memory as integers do.
struct Counts<T: ArrowPrimitiveType> {
    ty: DataType,
    values: Numbers<T>,
}

impl<T: ArrowPrimitiveType> Counts<T> {
    fn new(ty: &DataType, rows: usize) -> Counts<T> {
        Counts { ty: ty.clone(), values: Numbers::new(rows) }
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        let data = self.values.array().into_data().into_builder().data_type(self.ty).build()?;
        Ok(arrow::array::make_array(data))
    }
}

/// A column of times of the day.
pub struct Times {
    clock: &'static Clock,
    unit: TimeUnit,
    counts: TimeCounts,
}

enum TimeCounts {
    Narrow(Counts<Int32Type>),
    Wide(Counts<Int64Type>),
}

impl Times {
    pub fn new(py: Python<'_>, ty: &DataType, unit: &TimeUnit, rows: usize) -> PyResult<Times> {
        let counts = match ty {
            DataType::Time32(_) => TimeCounts::Narrow(Counts::new(ty, rows)),
            _ => TimeCounts::Wide(Counts::new(ty, rows)),
        };
        Ok(Times { clock: clock(py)?, unit: *unit, counts })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let py = value.py();
        if !value.is_instance(self.clock.time.bind(py))? || !value.getattr(intern!(py, "tzinfo"))?.is_none() {
            return Err(ResultError::Refused);
        }
        let part = |name: &Bound<'_, PyString>| -> PyResult<i64> { value.getattr(name)?.extract() };
        let minutes = part(intern!(py, "hour"))? * 60 + part(intern!(py, "minute"))?;
        let micros = (minutes * 60 + part(intern!(py, "second"))?) * 1_000_000 + part(intern!(py, "microsecond"))?;
        let count = units(i128::from(micros), &self.unit).ok_or(ResultError::Refused)?;
        match &mut self.counts {
            TimeCounts::Narrow(counts) => counts.values.push(super::narrow(count)?),
            TimeCounts::Wide(counts) => counts.values.push(count),
        }
    }

    pub fn push_null(&mut self) {
        match &mut self.counts {
            TimeCounts::Narrow(counts) => counts.values.push_null(),
            TimeCounts::Wide(counts) => counts.values.push_null(),
        }
    }

    pub fn finish(self) -> Result<ArrayRef, ArrowError> {
        match self.counts {
            TimeCounts::Narrow(counts) => counts.finish(),
            TimeCounts::Wide(counts) => counts.finish(),
        }
    }
}

/// A column of timestamps.
pub struct Timestamps {
    clock: &'static Clock,
    unit: TimeUnit,
    aware: bool,
    counts: Counts<Int64Type>,
}

impl Timestamps {
    pub fn new(py: Python<'_>, ty: &DataType, unit: &TimeUnit, aware: bool, rows: usize) -> PyResult<Timestamps> {
        Ok(Timestamps { clock: clock(py)?, unit: *unit, aware, counts: Counts::new(ty, rows) })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let py = value.py();
        let class = self.clock.datetime.bind(py);
        if !value.get_type().is(class) {
            if !value.is_instance(class)? {
                return self.push(&super::scalar::numpy_item(value)?);
            }
            refuse_pandas(value, intern!(py, "nanosecond"))?;
        }
        // Python calls a datetime aware if it has a zone and the zone knows its offset.
        let aware = !value.getattr(intern!(py, "tzinfo"))?.is_none()
            && !value.call_method0(intern!(py, "utcoffset"))?.is_none();
        if aware != self.aware {
            return Err(ResultError::Refused);
        }
        let epoch = if aware { &self.clock.epoch_utc } else { &self.clock.epoch };
        let micros = span(&self.clock.subtract.bind(py).call1((value, epoch))?)?;
        self.counts.values.push(units(micros, &self.unit).ok_or(ResultError::Refused)?)
    }

    pub fn push_null(&mut self) {
        self.counts.values.push_null();
    }

    pub fn finish(self) -> Result<ArrayRef, ArrowError> {
        self.counts.finish()
    }
}

/// A column of durations.
pub struct Durations {
    clock: &'static Clock,
    unit: TimeUnit,
    counts: Counts<Int64Type>,
}

impl Durations {
    pub fn new(py: Python<'_>, ty: &DataType, unit: &TimeUnit, rows: usize) -> PyResult<Durations> {
        Ok(Durations { clock: clock(py)?, unit: *unit, counts: Counts::new(ty, rows) })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let micros = checked_span(self.clock, value)?;
        self.counts.values.push(units(micros, &self.unit).ok_or(ResultError::Refused)?)
    }

    pub fn push_null(&mut self) {
        self.counts.values.push_null();
    }

    pub fn finish(self) -> Result<ArrayRef, ArrowError> {
        self.counts.finish()
    }
}

/// A column of intervals.
pub struct Intervals {
    clock: &'static Clock,
    values: IntervalValues,
}

enum IntervalValues {
    Months(Numbers<IntervalYearMonthType>),
    DayTime(Numbers<IntervalDayTimeType>),
    MonthDayNano(Numbers<IntervalMonthDayNanoType>),
}

impl Intervals {
    pub fn new(py: Python<'_>, unit: &IntervalUnit, rows: usize) -> PyResult<Intervals> {
        let values = match unit {
            IntervalUnit::YearMonth => IntervalValues::Months(Numbers::new(rows)),
            IntervalUnit::DayTime => IntervalValues::DayTime(Numbers::new(rows)),
            IntervalUnit::MonthDayNano => IntervalValues::MonthDayNano(Numbers::new(rows)),
        };
        Ok(Intervals { clock: clock(py)?, values })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let micros = checked_span(self.clock, value)?;
        // Days and the rest of a day have the same sign, as people write intervals.
        let days = super::narrow::<i32>((micros / i128::from(DAY_MICROS)) as i64)?;
        let rest = (micros % i128::from(DAY_MICROS)) as i64;
        match &mut self.values {
            // No span of days is a number of months, except none.
            IntervalValues::Months(values) if micros == 0 => values.push(0),
            IntervalValues::Months(_) => Err(ResultError::Refused),
            IntervalValues::DayTime(values) if rest % 1_000 == 0 => {
                values.push(IntervalDayTime::new(days, super::narrow(rest / 1_000)?))
            }
            IntervalValues::DayTime(_) => Err(ResultError::Refused),
            IntervalValues::MonthDayNano(values) => values.push(IntervalMonthDayNano::new(0, days, rest * 1_000)),
        }
    }

    pub fn push_null(&mut self) {
        match &mut self.values {
            IntervalValues::Months(values) => values.push_null(),
            IntervalValues::DayTime(values) => values.push_null(),
            IntervalValues::MonthDayNano(values) => values.push_null(),
        }
    }

    pub fn finish(self) -> ArrayRef {
        match self.values {
            IntervalValues::Months(values) => values.finish(),
            IntervalValues::DayTime(values) => values.finish(),
            IntervalValues::MonthDayNano(values) => values.finish(),
        }
    }
}

/// Microseconds of a timedelta.
fn checked_span(clock: &Clock, value: &Bound<'_, PyAny>) -> Result<i128, ResultError> {
    let py = value.py();
    let class = clock.timedelta.bind(py);
    if !value.get_type().is(class) {
        if !value.is_instance(class)? {
            return checked_span(clock, &super::scalar::numpy_item(value)?);
        }
        refuse_pandas(value, intern!(py, "nanoseconds"))?;
    }
    span(value)
}

fn span(delta: &Bound<'_, PyAny>) -> Result<i128, ResultError> {
    let py = delta.py();
    let part =
        |name: &Bound<'_, PyString>| -> PyResult<i128> { Ok(i128::from(delta.getattr(name)?.extract::<i64>()?)) };
    Ok(part(intern!(py, "days"))? * i128::from(DAY_MICROS)
        + part(intern!(py, "seconds"))? * 1_000_000
        + part(intern!(py, "microseconds"))?)
}

/// Refuses what is not equal to itself, and what has nanoseconds.
fn refuse_pandas(value: &Bound<'_, PyAny>, nanoseconds: &Bound<'_, PyString>) -> Taken {
    if !value.eq(value)? {
        return Err(ResultError::Refused);
    }
    match value.getattr(nanoseconds) {
        Ok(nanoseconds) if nanoseconds.is_truthy()? => Err(ResultError::Refused),
        Ok(_) => Ok(()),
        Err(error) if error.is_instance_of::<PyAttributeError>(value.py()) => Ok(()),
        Err(error) => Err(ResultError::Raised(error)),
    }
}
