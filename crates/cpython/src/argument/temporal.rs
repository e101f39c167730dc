//! Dates, times and spans as objects of Python's `datetime`, which counts microseconds
//! and knows the years 1 to 9999; what it cannot hold is an error, never rounded.

use super::{ArgumentError, Made};
use crate::calendar::{DAY_MICROS, EPOCH_ORDINAL, ORDINALS, civil, micros};
use crate::classes::{Clock, clock, zone};
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;

/// Dates.
pub struct Dates {
    make: Py<PyAny>,
    days: Days,
}

enum Days {
    Days(PrimitiveArray<Date32Type>),
    Millis(PrimitiveArray<Date64Type>),
}

impl Dates {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Dates> {
        let days = match array.data_type() {
            DataType::Date32 => Days::Days(array.as_primitive().clone()),
            _ => Days::Millis(array.as_primitive().clone()),
        };
        Ok(Dates { make: clock(py)?.from_ordinal.clone_ref(py), days })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let days = match &self.days {
            Days::Days(array) => i64::from(array.value(row)),
            // Arrow asks for whole days here; a time of day would be dropped by SQL, too.
            Days::Millis(array) => array.value(row).div_euclid(86_400_000),
        };
        let ordinal = days + EPOCH_ORDINAL;
        if !ORDINALS.contains(&ordinal) {
            return Err(ArgumentError::Unholdable { class: "datetime.date" });
        }
        Ok(self.make.bind(py).call1((ordinal,))?)
    }
}

/// Counts of a unit.
struct Counts {
    values: PrimitiveArray<Int64Type>,
    unit: TimeUnit,
}

impl Counts {
    fn of(array: &ArrayRef, unit: &TimeUnit) -> Counts {
        // Times, timestamps and durations of 64 bits lie in memory as integers do.
        let values = match array.data_type() {
            DataType::Timestamp(TimeUnit::Second, _) => {
                array.as_primitive::<TimestampSecondType>().reinterpret_cast::<Int64Type>()
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                array.as_primitive::<TimestampMillisecondType>().reinterpret_cast()
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                array.as_primitive::<TimestampMicrosecondType>().reinterpret_cast()
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                array.as_primitive::<TimestampNanosecondType>().reinterpret_cast()
            }
            DataType::Duration(TimeUnit::Second) => array.as_primitive::<DurationSecondType>().reinterpret_cast(),
            DataType::Duration(TimeUnit::Millisecond) => {
                array.as_primitive::<DurationMillisecondType>().reinterpret_cast()
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                array.as_primitive::<DurationMicrosecondType>().reinterpret_cast()
            }
            DataType::Duration(TimeUnit::Nanosecond) => {
                array.as_primitive::<DurationNanosecondType>().reinterpret_cast()
            }
            DataType::Time32(TimeUnit::Second) => array.as_primitive::<Time32SecondType>().unary(i64::from),
            DataType::Time32(_) => array.as_primitive::<Time32MillisecondType>().unary(i64::from),
            DataType::Time64(TimeUnit::Microsecond) => array.as_primitive::<Time64MicrosecondType>().reinterpret_cast(),
            _ => array.as_primitive::<Time64NanosecondType>().reinterpret_cast(),
        };
        Counts { values, unit: *unit }
    }

    fn micros(&self, row: usize) -> Option<i64> {
        micros(self.values.value(row), &self.unit)
    }
}

/// Times of the day.
pub struct Times {
    clock: &'static Clock,
    counts: Counts,
}

impl Times {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Times> {
        let unit = match array.data_type() {
            DataType::Time32(unit) | DataType::Time64(unit) => unit,
            _ => &TimeUnit::Nanosecond,
        };
        Ok(Times { clock: clock(py)?, counts: Counts::of(array, unit) })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let micros = self
            .counts
            .micros(row)
            .filter(|micros| (0..DAY_MICROS).contains(micros))
            .ok_or(ArgumentError::Unholdable { class: "datetime.time" })?;
        let (hour, minute, second, micro) = of_day(micros);
        Ok(self.clock.time.bind(py).call1((hour, minute, second, micro))?)
    }
}

fn of_day(micros: i64) -> (i64, i64, i64, i64) {
    let seconds = micros / 1_000_000;
    (seconds / 3_600, seconds / 60 % 60, seconds % 60, micros % 1_000_000)
}

/// Timestamps, with or without a zone.
pub struct Timestamps {
    clock: &'static Clock,
    counts: Counts,
    zone: Option<Py<PyAny>>,
}

impl Timestamps {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Timestamps> {
        let (unit, zone) = match array.data_type() {
            DataType::Timestamp(unit, Some(name)) => (unit, Some(zone(py, name)?.unbind())),
            DataType::Timestamp(unit, None) => (unit, None),
            _ => (&TimeUnit::Nanosecond, None),
        };
        Ok(Timestamps { clock: clock(py)?, counts: Counts::of(array, unit), zone })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        const UNHOLDABLE: ArgumentError = ArgumentError::Unholdable { class: "datetime.datetime" };
        let micros = self.counts.micros(row).ok_or(UNHOLDABLE)?;
        let days = micros.div_euclid(DAY_MICROS);
        if !ORDINALS.contains(&(days + EPOCH_ORDINAL)) {
            return Err(UNHOLDABLE);
        }
        let (year, month, day) = civil(days);
        let (hour, minute, second, micro) = of_day(micros.rem_euclid(DAY_MICROS));
        let class = self.clock.datetime.bind(py);
        let Some(zone) = &self.zone else {
            return Ok(class.call1((year, month, day, hour, minute, second, micro))?);
        };
        let zone = zone.bind(py);
        let utc = class.call1((year, month, day, hour, minute, second, micro, zone))?;
        if zone.is(&self.clock.utc) {
            return Ok(utc);
        }
        // `fromutc` knows which of two equal local times at the end of summer it is.
        zone.call_method1(intern!(py, "fromutc"), (utc,)).map_err(|error| {
            match error.is_instance_of::<PyOverflowError>(py) {
                true => UNHOLDABLE,
                false => ArgumentError::Raised(error),
            }
        })
    }
}

/// Durations.
pub struct Durations {
    clock: &'static Clock,
    counts: Counts,
}

impl Durations {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Durations> {
        let unit = match array.data_type() {
            DataType::Duration(unit) => unit,
            _ => &TimeUnit::Nanosecond,
        };
        Ok(Durations { clock: clock(py)?, counts: Counts::of(array, unit) })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let value = self.counts.values.value(row);
        // Seconds and milliseconds may leave 64 bits as microseconds and yet be held.
        let micros = match self.counts.unit {
            TimeUnit::Second => Some(i128::from(value) * 1_000_000),
            TimeUnit::Millisecond => Some(i128::from(value) * 1_000),
            TimeUnit::Microsecond | TimeUnit::Nanosecond => self.counts.micros(row).map(i128::from),
        };
        span(py, self.clock, micros)
    }
}

/// Intervals.
pub struct Intervals {
    clock: &'static Clock,
    values: Spans,
}

enum Spans {
    Months(PrimitiveArray<IntervalYearMonthType>),
    DayTime(PrimitiveArray<IntervalDayTimeType>),
    MonthDayNano(PrimitiveArray<IntervalMonthDayNanoType>),
}

impl Intervals {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Intervals> {
        let values = match array.data_type() {
            DataType::Interval(IntervalUnit::YearMonth) => Spans::Months(array.as_primitive().clone()),
            DataType::Interval(IntervalUnit::DayTime) => Spans::DayTime(array.as_primitive().clone()),
            _ => Spans::MonthDayNano(array.as_primitive().clone()),
        };
        Ok(Intervals { clock: clock(py)?, values })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        // A month has no fixed number of days, and `timedelta` no months.
        let micros = match &self.values {
            Spans::Months(array) => (array.value(row) == 0).then_some(0),
            Spans::DayTime(array) => {
                let value = array.value(row);
                Some(i128::from(value.days) * i128::from(DAY_MICROS) + i128::from(value.milliseconds) * 1_000)
            }
            Spans::MonthDayNano(array) => {
                let value = array.value(row);
                (value.months == 0 && value.nanoseconds % 1_000 == 0)
                    .then(|| i128::from(value.days) * i128::from(DAY_MICROS) + i128::from(value.nanoseconds / 1_000))
            }
        };
        span(py, self.clock, micros)
    }
}

fn span<'py>(py: Python<'py>, clock: &Clock, micros: Option<i128>) -> Made<'py> {
    const UNHOLDABLE: ArgumentError = ArgumentError::Unholdable { class: "datetime.timedelta" };
    let micros = micros.ok_or(UNHOLDABLE)?;
    let days = micros.div_euclid(i128::from(DAY_MICROS));
    if days.unsigned_abs() > 999_999_999 {
        return Err(UNHOLDABLE);
    }
    let rest = micros.rem_euclid(i128::from(DAY_MICROS)) as i64;
    Ok(clock.timedelta.bind(py).call1((days as i64, rest / 1_000_000, rest % 1_000_000))?)
}
