//! Classes of the standard library that values are converted to and from.
//!
//! The stable ABI has no direct way to dates and decimals, so their classes are looked up
//! once per process and called like any other.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// `datetime`'s.
pub struct Clock {
    /// `datetime.date`
    pub date: Py<PyType>,
    /// `datetime.datetime`
    pub datetime: Py<PyType>,
    /// `datetime.time`
    pub time: Py<PyType>,
    /// `datetime.timedelta`
    pub timedelta: Py<PyType>,
    /// `datetime.timezone`
    pub timezone: Py<PyType>,
    /// `datetime.timezone.utc`
    pub utc: Py<PyAny>,
    /// `datetime.date.fromordinal`
    pub from_ordinal: Py<PyAny>,
    /// `datetime.date.toordinal`, the base's whatever a subclass does
    pub to_ordinal: Py<PyAny>,
    /// `datetime.datetime.__sub__`, likewise
    pub subtract: Py<PyAny>,
    /// 1970 without a zone
    pub epoch: Py<PyAny>,
    /// 1970 in UTC
    pub epoch_utc: Py<PyAny>,
}

/// `decimal`'s.
pub struct Decimals {
    /// `decimal.Decimal`
    pub decimal: Py<PyType>,
    /// `decimal.Decimal.__str__`, the base's whatever a subclass does
    pub to_str: Py<PyAny>,
}

/// The classes of `datetime`.
pub fn clock(py: Python<'_>) -> PyResult<&'static Clock> {
    static CLOCK: PyOnceLock<Clock> = PyOnceLock::new();
    CLOCK.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let class = |name: &str| -> PyResult<Bound<'_, PyType>> { Ok(module.getattr(name)?.cast_into()?) };
        let (date, datetime, timezone) = (class("date")?, class("datetime")?, class("timezone")?);
        let utc = timezone.getattr("utc")?;
        Ok(Clock {
            time: class("time")?.unbind(),
            timedelta: class("timedelta")?.unbind(),
            from_ordinal: date.getattr("fromordinal")?.unbind(),
            to_ordinal: date.getattr("toordinal")?.unbind(),
            subtract: datetime.getattr("__sub__")?.unbind(),
            epoch: datetime.call1((1970, 1, 1))?.unbind(),
            epoch_utc: datetime.call1((1970, 1, 1, 0, 0, 0, 0, &utc))?.unbind(),
            utc: utc.unbind(),
            timezone: timezone.unbind(),
            date: date.unbind(),
            datetime: datetime.unbind(),
        })
    })
}

/// The classes of `decimal`, which this imports.
pub fn decimals(py: Python<'_>) -> PyResult<&'static Decimals> {
    static DECIMALS: PyOnceLock<Decimals> = PyOnceLock::new();
    DECIMALS.get_or_try_init(py, || {
        let decimal: Bound<'_, PyType> = py.import("decimal")?.getattr("Decimal")?.cast_into()?;
        Ok(Decimals { to_str: decimal.getattr("__str__")?.unbind(), decimal: decimal.unbind() })
    })
}

/// The `tzinfo` of a column's zone: `timezone` for an offset, as Arrow writes it, and for UTC, else
/// `ZoneInfo`.
pub fn zone<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let clock = clock(py)?;
    let minutes = if name == "UTC" { Some(0) } else { offset_minutes(name) };
    if let Some(minutes) = minutes {
        if minutes == 0 {
            return Ok(clock.utc.bind(py).clone());
        }
        let delta = clock.timedelta.bind(py).call1((0, minutes * 60))?;
        return clock.timezone.bind(py).call1((delta,));
    }
    py.import("zoneinfo")?.getattr("ZoneInfo")?.call1((name,))
}

/// `+05:30`, `-0800` or `+01` in minutes.
fn offset_minutes(name: &str) -> Option<i32> {
    let (sign, rest) = match name.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: Vec<i32> =
        rest.chars().filter(|c| *c != ':').map(|c| c.to_digit(10).map(|d| d as i32)).collect::<Option<_>>()?;
    match digits[..] {
        [a, b] => Some(sign * (a * 10 + b) * 60),
        [a, b, c, d] => Some(sign * ((a * 10 + b) * 60 + c * 10 + d)),
        _ => None,
    }
}
