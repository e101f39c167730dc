//! The loop over the rows of a batch.

use crate::argument::{ArgumentError, Column as Arguments, message};
use crate::failure::{Failure, class_name, shown};
use crate::function::Function;
use crate::print::Printing;
use crate::result::{Column as Results, ResultError};
use crate::watch::Watch;
use arrow::array::{Array, ArrayRef, StructArray};
use exuvia_ir::interpreter::{form, kind};
use exuvia_ir::{result_error, results_too_large};
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ptr;

unsafe extern "C" {
    /// In the stable ABI since 3.12, and exported under this name since 3.9.
    fn PyObject_Vectorcall(
        callable: *mut PyObject,
        args: *mut *mut PyObject,
        nargsf: usize,
        kwnames: *mut PyObject,
    ) -> *mut PyObject;
}

/// Tells the callee that it may use the slot before the arguments, for a `self`.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

/// Calls a function on each row.
pub fn call(
    py: Python<'_>,
    function: &Function,
    args: &StructArray,
    on_error_null: bool,
    watch: &Watch,
    printing: &Printing,
) -> Result<ArrayRef, Failure> {
    let rows = args.len();
    let prepare = |error: PyErr| match watch.ended() {
        0 => {
            let Failure { class, message, .. } = Failure::raised(py, &error, &function.file, 0);
            Failure::host(if message.is_empty() { class } else { message })
        }
        ended => Failure::ended(ended),
    };
    if args.num_columns() != function.params.len() {
        return Err(Failure::host("a call with another number of arguments than was declared"));
    }
    let columns: Vec<Arguments> = args
        .columns()
        .iter()
        .zip(&function.classes)
        .map(|(column, class)| Arguments::new(py, column, class.as_ref()))
        .collect::<PyResult<_>>()
        .map_err(prepare)?;
    let mut results = Results::new(py, &function.result, rows).map_err(prepare)?;
    let mut frame = Frame::new(py, &function.handler, columns.len());
    let mut context = Context::new(function);
    let becomes_null = |error: &PyErr| {
        on_error_null
            && watch.ended() == 0
            && error.is_instance_of::<PyException>(py)
            && !error.is_instance_of::<PyMemoryError>(py)
    };
    'rows: for row in 0..rows {
        if watch.ended() != 0 {
            return Err(Failure::ended(watch.ended()));
        }
        if function.strict && columns.iter().any(|column| column.is_null(row)) {
            results.push_null();
            continue;
        }
        let at_row = |failure: Failure| match watch.ended() {
            // The exception is the one that the watch raised, or its consequence.
            0 => Failure { row, ..failure },
            ended => Failure::ended(ended),
        };
        let raised = |error: &PyErr| at_row(Failure::raised(py, error, &function.file, function.first_line));
        context.reset(py).map_err(|error| raised(&error))?;
        for (index, column) in columns.iter().enumerate() {
            let object = match column.get(py, row) {
                Ok(object) => object,
                // As an array that NumPy does not make of ragged lists.
                Err(ArgumentError::Raised(error)) if becomes_null(&error) => {
                    frame.clear();
                    results.push_null();
                    continue 'rows;
                }
                Err(error) => {
                    let message = message(py, &error, &function.params[index], args.column(index), row);
                    return Err(at_row(Failure { kind: kind::ARGUMENT, row, line: 0, class: String::new(), message }));
                }
            };
            frame.set(index, object);
        }
        match frame.call() {
            Ok(value) => match results.push(&value) {
                // A missing value of pandas', which an aggregate of nothing gives, is NULL.
                Err(ResultError::Refused) if function.form == form::VALUES && is_missing(&value) => {
                    results.push_null();
                    Ok(())
                }
                taken => taken,
            }
            .map_err(|error| match error {
                ResultError::Refused => at_row(refused(&value, &function.result_type, None)),
                ResultError::Part(part) => at_row(refused(&value, &function.result_type, Some(&part.to_string()))),
                ResultError::Raised(error) => raised(&error),
                ResultError::Full => Failure { kind: kind::FULL, message: results_too_large(), ..Failure::host("") },
            })?,
            Err(error) => {
                if !becomes_null(&error) {
                    return Err(raised(&error));
                }
                results.push_null();
            }
        }
        printing.flush();
    }
    // A call into C in the last row cannot be broken and may have ended too late.
    match watch.judge() {
        0 => {}
        ended => return Err(Failure::ended(ended)),
    }
    results.finish().map_err(|error| Failure::host(error.to_string()))
}

/// Whether a value is pandas' NaT or NA.
pub fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    matches!(class_name(value).as_str(), "NaTType" | "NAType")
}

fn refused(value: &Bound<'_, PyAny>, result_type: &str, part: Option<&str>) -> Failure {
    let (repr, class) = shown(value);
    let message = result_error(&repr, &class, result_type, part);
    Failure { kind: kind::RESULT, row: 0, line: 0, message, class: String::new() }
}

/// The arguments of a call, in the form in which CPython wants them: a slot of its own,
/// then the objects.
pub struct Frame<'py> {
    py: Python<'py>,
    handler: Bound<'py, PyAny>,
    /// The first is the spare one; null, or an owned reference.
    slots: Vec<*mut PyObject>,
}

impl<'py> Frame<'py> {
    pub fn new(py: Python<'py>, handler: &Py<PyAny>, count: usize) -> Frame<'py> {
        Frame { py, handler: handler.bind(py).clone(), slots: vec![ptr::null_mut(); count + 1] }
    }

    #[inline]
    pub fn set(&mut self, index: usize, object: Bound<'py, PyAny>) {
        self.slots[index + 1] = object.into_ptr();
    }

    /// Calls the handler; the arguments are given up. Every slot has been set.
    #[inline]
    pub fn call(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let count = self.slots.len() - 1;
        // SAFETY: the GIL is held; behind the spare slot stand `count` owned references,
        // which live until the call has returned.
        let value = unsafe {
            let args = self.slots.as_mut_ptr().add(1);
            PyObject_Vectorcall(self.handler.as_ptr(), args, count | ARGUMENTS_OFFSET, ptr::null_mut())
        };
        self.clear();
        // SAFETY: a new reference, or null with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(self.py, value) }
    }

    #[inline]
    fn clear(&mut self) {
        for slot in &mut self.slots[1..] {
            // SAFETY: null, or a reference that the slot owns.
            unsafe { ffi::Py_XDECREF(std::mem::replace(slot, ptr::null_mut())) };
        }
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Resets the decimal context before each row, so that rows do not depend on each other, to the
/// one that the module left: a context is that of a thread, and a thread of the engine is a new
/// one to Python in each batch.
pub struct Context<'f> {
    function: &'f Function,
    reset: Option<(Py<PyAny>, Py<PyAny>)>,
}

impl<'f> Context<'f> {
    pub fn new(function: &'f Function) -> Context<'f> {
        Context { function, reset: None }
    }

    #[inline]
    pub fn reset(&mut self, py: Python<'_>) -> PyResult<()> {
        if !self.function.resets_context {
            return Ok(());
        }
        if self.reset.is_none() {
            // While nobody has imported `decimal` there is no context.
            let modules = py.import("sys")?.getattr("modules")?;
            let Ok(decimal) = modules.get_item("decimal") else { return Ok(()) };
            let template = match &self.function.context {
                Some(template) => template.clone_ref(py),
                None => decimal.getattr("DefaultContext")?.unbind(),
            };
            self.reset = Some((decimal.getattr("setcontext")?.unbind(), template));
        }
        if let Some((set, template)) = &self.reset {
            // A row may change its own.
            set.bind(py).call1((template.call_method0(py, "copy")?,))?;
        }
        Ok(())
    }
}
