//! A defined function: a module that ran once, and its handler.

use crate::failure::{Failure, script_line, text};
use crate::print::Printing;
use crate::watch::Watch;
use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::{DataType, Field};
use exuvia_ir::interpreter::{Limits, Listener};
use pyo3::exceptions::PySyntaxError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyString};
use std::ffi::CString;

/// What a definition says.
pub struct Definition<'a> {
    pub name: &'a str,
    pub source: &'a str,
    pub handler: &'a str,
    pub first_line: u32,
    pub strict: bool,
    /// The parameters and, last, the result.
    pub fields: &'a [Field],
    pub result_type: &'a str,
}

/// What `define` of `bootstrap.py` gives: the handler, for each parameter its dataclass,
/// and whether the decimal context must be reset.
type Defined = (Py<PyAny>, Vec<Option<Py<PyAny>>>, bool);

/// A function that can be called.
pub struct Function {
    pub handler: Py<PyAny>,
    /// The name under which the source was compiled, by which its frames are known.
    pub file: String,
    pub first_line: u32,
    pub strict: bool,
    /// The parameters' names.
    pub params: Vec<String>,
    /// For each parameter the dataclass that its structs become.
    pub classes: Vec<Option<Py<PyAny>>>,
    pub result: DataType,
    pub result_type: String,
    /// Whether the decimal context must be reset before each row.
    pub resets_context: bool,
}

impl Function {
    /// Runs the module and finds the handler.
    ///
    /// # Safety
    /// The flag in the limits and the listener outlive the call.
    pub unsafe fn define(
        py: Python<'_>,
        definition: &Definition<'_>,
        limits: &Limits,
        listener: &Listener,
    ) -> Result<Function, Failure> {
        let file = format!("<function {}>", definition.name);
        let Some((result, fields)) = definition.fields.split_last() else {
            return Err(Failure::host("a definition without a result"));
        };
        let structs: Vec<bool> = fields.iter().map(|field| matches!(field.data_type(), DataType::Struct(_))).collect();
        // SAFETY: the caller's.
        let watch = unsafe { Watch::begin(py, limits) };
        let printing = Printing::begin(listener);
        let run = || -> PyResult<Defined> {
            for field in fields {
                crate::argument::Column::new(py, &empty(field.data_type()), None)?;
            }
            crate::result::Column::new(py, result.data_type(), 0)?;
            bootstrap(py)?
                .getattr("define")?
                .call1((definition.name, definition.source, definition.handler, structs))?
                .extract()
        };
        let ran = run();
        drop(printing);
        if watch.ended() != 0 {
            return Err(Failure::ended(watch.ended()));
        }
        let (handler, classes, resets_context) =
            ran.map_err(|error| failure(py, &error, &file, definition.first_line))?;
        Ok(Function {
            handler,
            file,
            first_line: definition.first_line,
            strict: definition.strict,
            params: fields.iter().map(|field| field.name().clone()).collect(),
            classes,
            result: result.data_type().clone(),
            result_type: definition.result_type.to_string(),
            resets_context,
        })
    }

    /// Calls the function on each row.
    ///
    /// # Errors
    /// Why it ended at a row, or did not begin.
    ///
    /// # Safety
    /// The flag in the limits and the listener outlive the call.
    pub unsafe fn call(
        &self,
        py: Python<'_>,
        args: &StructArray,
        on_error_null: bool,
        limits: &Limits,
        listener: &Listener,
    ) -> Result<ArrayRef, Failure> {
        // SAFETY: the caller's.
        let watch = unsafe { Watch::begin(py, limits) };
        let printing = Printing::begin(listener);
        crate::call::call(py, self, args, on_error_null, &watch, &printing)
    }
}

fn empty(ty: &DataType) -> ArrayRef {
    arrow::array::new_empty_array(ty)
}

/// What ended a definition. A syntax error says itself where it is, and its `str()` would
/// say so twice.
fn failure(py: Python<'_>, error: &PyErr, file: &str, first_line: u32) -> Failure {
    let mut failure = Failure::raised(py, error, file, first_line);
    let value = error.value(py);
    let own = match error.is_instance_of::<PySyntaxError>(py) {
        true => value.getattr("filename").and_then(|name| name.eq(file)).unwrap_or(false),
        false => failure.class == "DefinitionError",
    };
    if own {
        failure.line = script_line(value.getattr("lineno").and_then(|line| line.extract()).unwrap_or(None), first_line);
        if let Ok(message) = value.getattr("msg").and_then(|message| Ok(message.cast_into::<PyString>()?)) {
            failure.message = text(&message);
        }
        if failure.class == "DefinitionError" {
            failure.class = "TypeError".to_string();
        }
    }
    failure
}

fn bootstrap(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static BOOTSTRAP: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    BOOTSTRAP
        .get_or_try_init(py, || {
            let source = CString::new(include_str!("bootstrap.py"))?;
            Ok(PyModule::from_code(py, &source, c"<exuvia>", c"exuvia_bootstrap")?.unbind())
        })
        .map(|module| module.bind(py))
}
