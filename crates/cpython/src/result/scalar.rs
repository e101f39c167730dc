//! Numbers and truth values out of Python objects.

use super::ResultError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use pyo3::{ffi, intern};
use std::ffi::c_int;

/// An int of 64 bits. A bool is an int to Python, but not to SQL.
#[inline]
pub fn integer(value: &Bound<'_, PyAny>) -> Result<i64, ResultError> {
    if value.is_exact_instance_of::<PyInt>() || is_int(value) {
        let mut overflow: c_int = 0;
        // SAFETY: the GIL is held and the object is an int, so there is nothing to raise.
        let integer = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &raw mut overflow) };
        return if overflow == 0 { Ok(integer) } else { Err(ResultError::Refused) };
    }
    integer(&numpy_item(value)?)
}

/// An int of 64 bits without a sign.
pub fn unsigned(value: &Bound<'_, PyAny>) -> Result<u64, ResultError> {
    if is_int(value) {
        // An int subclass may override `__index__`; the base's value is what counts.
        // SAFETY: as in `integer`; what it raises for other values is taken off at once.
        let integer = unsafe { ffi::PyLong_AsUnsignedLongLong(value.as_ptr()) };
        return match PyErr::take(value.py()) {
            None => Ok(integer),
            Some(_) => Err(ResultError::Refused),
        };
    }
    unsigned(&numpy_item(value)?)
}

fn is_int(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>() && !value.is_exact_instance_of::<PyBool>()
}

/// A float, or the float nearest to an int.
#[inline]
pub fn float(value: &Bound<'_, PyAny>) -> Result<f64, ResultError> {
    if value.is_instance_of::<PyFloat>() {
        // SAFETY: the GIL is held; for a float and its subclasses this reads the value.
        return Ok(unsafe { ffi::PyFloat_AsDouble(value.as_ptr()) });
    }
    if is_int(value) {
        // SAFETY: the GIL is held and the object is an int; the OverflowError of one
        // that no float is near to is taken off at once.
        let float = unsafe { ffi::PyLong_AsDouble(value.as_ptr()) };
        return match float == -1.0 && PyErr::take(value.py()).is_some() {
            false => Ok(float),
            true => Err(ResultError::Refused),
        };
    }
    float(&numpy_item(value)?)
}

/// A truth value.
#[inline]
pub fn boolean(value: &Bound<'_, PyAny>) -> Result<bool, ResultError> {
    match value.cast::<PyBool>() {
        Ok(value) => Ok(value.is_true()),
        Err(_) => boolean(&numpy_item(value)?),
    }
}

/// The Python object that a NumPy scalar stands for.
///
/// # Errors
/// `Refused` for everything that is no NumPy scalar, or that has no such object.
pub fn numpy_item<'py>(value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, ResultError> {
    let py = value.py();
    let scalar = value.get_type().mro().iter().any(|base| {
        base.getattr(intern!(py, "__module__")).is_ok_and(|module| module.eq("numpy").unwrap_or(false))
            && base.getattr(intern!(py, "__name__")).is_ok_and(|name| name.eq("generic").unwrap_or(false))
    });
    if !scalar {
        return Err(ResultError::Refused);
    }
    let item = value.call_method0(intern!(py, "item"))?;
    // `longdouble` gives itself, and NumPy's "not a time" gives None, which is not NULL.
    if item.is_none() || item.get_type().is(value.get_type()) {
        return Err(ResultError::Refused);
    }
    Ok(item)
}
