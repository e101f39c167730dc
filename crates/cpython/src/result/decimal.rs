//! Decimals out of Python's, rescaled only where no digit is lost.

use super::{Numbers, ResultError, Taken};
use crate::classes;
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, i256};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};
use std::sync::Arc;

/// A column of decimals.
pub struct Decimals {
    classes: &'static classes::Decimals,
    precision: u8,
    scale: i8,
    values: Values,
}

enum Values {
    D32(Numbers<Decimal32Type>),
    D64(Numbers<Decimal64Type>),
    D128(Numbers<Decimal128Type>),
    D256(Numbers<Decimal256Type>),
}

impl Decimals {
    pub fn new(py: Python<'_>, ty: &DataType, rows: usize) -> PyResult<Decimals> {
        let (precision, scale, values) = match ty {
            DataType::Decimal32(precision, scale) => (*precision, *scale, Values::D32(Numbers::new(rows))),
            DataType::Decimal64(precision, scale) => (*precision, *scale, Values::D64(Numbers::new(rows))),
            DataType::Decimal256(precision, scale) => (*precision, *scale, Values::D256(Numbers::new(rows))),
            DataType::Decimal128(precision, scale) => (*precision, *scale, Values::D128(Numbers::new(rows))),
            _ => (38, 0, Values::D128(Numbers::new(rows))),
        };
        Ok(Decimals { classes: classes::decimals(py)?, precision, scale, values })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let py = value.py();
        let text = if value.is_instance(self.classes.decimal.bind(py))? {
            self.classes.to_str.bind(py).call1((value,))?
        } else if value.is_instance_of::<PyInt>() && !value.is_exact_instance_of::<PyBool>() {
            // The class reads the base's value, whatever a subclass's `__str__` writes,
            // and has no limit on digits.
            self.classes.to_str.bind(py).call1((self.classes.decimal.bind(py).call1((value,))?,))?
        } else {
            return self.push(&super::scalar::numpy_item(value)?);
        };
        let text = text.cast::<PyString>().map_err(|_| ResultError::Refused)?;
        let digits = digits(text.to_str()?, self.precision, self.scale).ok_or(ResultError::Refused)?;
        // The digits fit the precision and so the width.
        match &mut self.values {
            Values::D32(values) => values.push(digits.parse().map_err(|_| ResultError::Refused)?),
            Values::D64(values) => values.push(digits.parse().map_err(|_| ResultError::Refused)?),
            Values::D128(values) => values.push(digits.parse().map_err(|_| ResultError::Refused)?),
            Values::D256(values) => values.push(i256::from_string(&digits).ok_or(ResultError::Refused)?),
        }
    }

    pub fn push_null(&mut self) {
        match &mut self.values {
            Values::D32(values) => values.push_null(),
            Values::D64(values) => values.push_null(),
            Values::D128(values) => values.push_null(),
            Values::D256(values) => values.push_null(),
        }
    }

    pub fn finish(self) -> Result<ArrayRef, arrow::error::ArrowError> {
        let (precision, scale) = (self.precision, self.scale);
        Ok(match self.values {
            Values::D32(values) => Arc::new(values.array().with_precision_and_scale(precision, scale)?),
            Values::D64(values) => Arc::new(values.array().with_precision_and_scale(precision, scale)?),
            Values::D128(values) => Arc::new(values.array().with_precision_and_scale(precision, scale)?),
            Values::D256(values) => Arc::new(values.array().with_precision_and_scale(precision, scale)?),
        })
    }
}

/// The digits, with their sign, of `text · 10^scale`; `None` where that is no integer of
/// at most `precision` digits. The text is what `Decimal.__str__` writes:
/// `-12.30`, `1E+3`, `Infinity`.
fn digits(text: &str, precision: u8, scale: i8) -> Option<String> {
    let (mantissa, exponent) = match text.split_once(['E', 'e']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => (true, mantissa),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut digits = format!("{whole}{fraction}").trim_start_matches('0').to_string();
    if digits.is_empty() {
        return Some("0".to_string());
    }
    // Zeros to append, or to drop where this is negative.
    let shift = exponent - fraction.len() as i64 + i64::from(scale);
    if shift < 0 {
        let kept = digits.len().checked_sub(usize::try_from(-shift).ok()?)?;
        if digits.bytes().skip(kept).any(|byte| byte != b'0') {
            return None;
        }
        digits.truncate(kept);
    } else if shift + digits.len() as i64 > i64::from(precision) {
        return None;
    } else {
        digits.extend(std::iter::repeat_n('0', shift as usize));
    }
    if digits.len() > usize::from(precision) {
        return None;
    }
    Some(if negative { format!("-{digits}") } else { digits })
}
