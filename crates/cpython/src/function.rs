//! A defined function: a module that ran once, and its handler.

use crate::failure::{Failure, script_line, text};
use crate::print::Printing;
use crate::watch::Watch;
use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::{DataType, Field};
use exuvia_ir::interpreter::{Limits, Listener, form, key};
use pyo3::exceptions::PySyntaxError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyString};
use std::ffi::{CStr, CString};

/// What a definition says.
pub struct Definition<'a> {
    pub name: &'a str,
    pub source: &'a str,
    pub handler: &'a str,
    pub first_line: u32,
    pub strict: bool,
    /// One of [`form`].
    pub form: u32,
    /// Lines `name=path`.
    pub models: &'a str,
    /// The parameters and, last, the result.
    pub fields: &'a [Field],
    pub result_type: &'a str,
}

/// What `define` of `bootstrap.py` gives: the handler, for each parameter what its arguments
/// become, whether the decimal context must be reset, and the one that the module left.
type Defined = (Py<PyAny>, Vec<Option<Py<PyAny>>>, bool, Option<Py<PyAny>>);

/// A function that can be called.
pub struct Function {
    pub handler: Py<PyAny>,
    /// The name under which the source was compiled, by which its frames are known.
    pub file: String,
    pub first_line: u32,
    pub strict: bool,
    /// One of [`form`].
    pub form: u32,
    /// The parameters' names.
    pub params: Vec<String>,
    /// For each parameter whether it is a table.
    pub tables: Vec<bool>,
    /// For each parameter the dataclass that its structs become, or how its lists become arrays.
    pub classes: Vec<Option<Py<PyAny>>>,
    /// Whether the items of a result of rows are the values of its one column.
    pub single_values: bool,
    pub result: DataType,
    pub result_type: String,
    /// Whether the decimal context must be reset before each row.
    pub resets_context: bool,
    /// The decimal context that the module left, if it may have changed it: contexts are those of threads.
    pub context: Option<Py<PyAny>>,
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
        let form = definition.form;
        let by_row = matches!(form, form::ROW | form::VALUES | form::STATES);
        let models: Vec<(&str, &str)> = definition.models.lines().filter_map(|line| line.split_once('=')).collect();
        // SAFETY: the caller's.
        let watch = unsafe { Watch::begin(py, limits) };
        let printing = Printing::begin(listener);
        let run = || -> PyResult<Defined> {
            let mut parameters = vec![];
            for field in fields {
                let ty = field.data_type();
                if form != form::TABLE {
                    crate::argument::Column::new(py, &empty(ty), None)?;
                }
                let (rank, items) = items(ty);
                parameters.push((matches!(ty, DataType::Struct(_)), rank, crate::port::numpy_name(items)));
            }
            if by_row {
                crate::result::Column::new(py, result.data_type(), 0)?;
            }
            bootstrap(py)?
                .getattr("define")?
                .call1((definition.name, definition.source, definition.handler, form, models, parameters))?
                .extract()
        };
        let ran = run();
        drop(printing);
        if watch.ended() != 0 {
            return Err(Failure::ended(watch.ended()));
        }
        let (handler, classes, resets_context, context) =
            ran.map_err(|error| failure(py, &error, &file, definition.first_line))?;
        Ok(Function {
            handler,
            file,
            first_line: definition.first_line,
            strict: definition.strict,
            form,
            tables: fields.iter().map(|field| field.metadata().contains_key(key::TABLE)).collect(),
            single_values: result.metadata().contains_key(key::VALUE),
            params: fields.iter().map(|field| field.name().clone()).collect(),
            classes,
            result: result.data_type().clone(),
            result_type: definition.result_type.to_string(),
            resets_context,
            context,
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

/// How many `[]` a type has, and what they hold.
fn items(ty: &DataType) -> (usize, &DataType) {
    match ty {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field) => {
            let (rank, ty) = items(field.data_type());
            (rank + 1, ty)
        }
        ty => (0, ty),
    }
}

fn bootstrap(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static ARGUMENTS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    static BOOTSTRAP: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    module(py, &ARGUMENTS, include_str!("python/arguments.py"), c"exuvia_arguments")?;
    module(py, &BOOTSTRAP, include_str!("python/bootstrap.py"), c"exuvia_bootstrap")
}

/// A module of ours, run at its first use and then found by `import`.
pub fn module<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyModule>>,
    source: &str,
    name: &'static CStr,
) -> PyResult<&'py Bound<'py, PyModule>> {
    cell.get_or_try_init(py, || {
        let module = PyModule::from_code(py, &CString::new(source)?, c"<exuvia>", name)?;
        py.import("sys")?.getattr("modules")?.set_item(name.to_string_lossy(), &module)?;
        Ok(module.unbind())
    })
    .map(|module| module.bind(py))
}
