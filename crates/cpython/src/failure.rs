//! Why a request failed, and how an exception is told to those without Python.

use crate::memory::Telling;
use exuvia_ir::interpreter::kind;
use exuvia_ir::unprintable;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTraceback};
use std::any::Any;

/// Why a request failed.
#[derive(Debug)]
pub struct Failure {
    /// One of [`kind`].
    pub kind: u32,
    /// The row, of a call.
    pub row: usize,
    /// The line of the script, or 0.
    pub line: u32,
    /// The name of the exception's class, or nothing.
    pub class: String,
    /// The exception's text, or what happened.
    pub message: String,
}

impl Failure {
    /// Something that is not the function's doing.
    pub fn host(message: impl Into<String>) -> Failure {
        Failure { kind: kind::HOST, row: 0, line: 0, class: String::new(), message: message.into() }
    }

    /// A failure of our own.
    pub fn panicked(panic: &(dyn Any + Send)) -> Failure {
        let message = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown".to_string());
        Failure::host(format!("the Python library failed: {message}"))
    }

    /// The end of a request that was stopped or ran out of time, by its [`kind`].
    pub fn ended(kind: u32) -> Failure {
        Failure { kind, row: 0, line: 0, class: String::new(), message: String::new() }
    }

    /// An exception that left the function whose source was compiled under `file`.
    pub fn raised(py: Python<'_>, error: &PyErr, file: &str, first_line: u32) -> Failure {
        let _room = Telling::begin();
        let exception = error.is_instance_of::<PyException>(py);
        Failure {
            kind: if exception { kind::EXCEPTION } else { kind::BASE_EXCEPTION },
            row: 0,
            line: script_line(error.traceback(py).and_then(|traceback| innermost_line(traceback, file)), first_line),
            class: class_name(error.value(py)),
            message: message(error.value(py)),
        }
    }
}

/// The number in the script of a line of the module.
pub fn script_line(line: Option<u32>, first_line: u32) -> u32 {
    line.map_or(0, |line| (line + first_line).saturating_sub(1))
}

/// `type(value).__name__`.
pub fn class_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "object".to_string(), |name| text(&name))
}

/// The `repr` of a value and the name of its class, as errors show them.
pub fn shown(value: &Bound<'_, PyAny>) -> (String, String) {
    let class = class_name(value);
    (value.repr().map_or_else(|_| unprintable(&class), |repr| text(&repr)), class)
}

/// `str(exception)`, or what Python's `traceback` writes where that raises.
fn message(exception: &Bound<'_, PyAny>) -> String {
    match exception.str() {
        Ok(message) => text(&message),
        Err(_) => "<exception str() failed>".to_string(),
    }
}

/// A Python string as Rust's, lone surrogates escaped.
pub fn text(string: &Bound<'_, PyString>) -> String {
    if let Ok(text) = string.to_str() {
        return text.to_string();
    }
    string
        .call_method1("encode", ("utf-8", "backslashreplace"))
        .and_then(|bytes| bytes.extract::<Vec<u8>>())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

/// The line of the innermost frame whose code was compiled under `file`.
fn innermost_line(traceback: Bound<'_, PyTraceback>, file: &str) -> Option<u32> {
    let py = traceback.py();
    let mut innermost = None;
    let mut next = Some(traceback.into_any());
    while let Some(entry) = next {
        let line = (|| -> PyResult<Option<u32>> {
            let code = entry.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_code"))?;
            if code.getattr(intern!(py, "co_filename"))?.extract::<String>()? != file {
                return Ok(None);
            }
            entry.getattr(intern!(py, "tb_lineno"))?.extract::<Option<u32>>()
        })();
        innermost = line.ok().flatten().or(innermost);
        next = entry.getattr(intern!(py, "tb_next")).ok().filter(|entry| !entry.is_none());
    }
    innermost
}
