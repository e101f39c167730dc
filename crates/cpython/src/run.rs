//! Runs of handlers over streams: tables, columns, rows from scalars, states of groups.
//!
//! What is whole tables and columns is done in Python (`python/streams.py`), where pandas and
//! pyarrow are; what is done for each row is done here.

mod rows;
mod states;

use crate::call::Context;
use crate::failure::Failure;
use crate::function::Function;
use crate::port::{Ends, Port, interrupted};
use crate::print::Printing;
use crate::watch::Watch;
use arrow::array::StructArray;
use arrow::datatypes::{DataType, Field, Fields};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use exuvia_ir::interpreter::{Listener, Run, form, key, kind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use std::sync::Arc;

/// What a run reads from its request before it holds Python's lock.
pub struct Opened(Ends);

/// Reads a request.
///
/// # Errors
/// Schemas that are none.
///
/// # Safety
/// The request's schemas and arrays are those of the interface.
pub unsafe fn open(run: &Run) -> Result<Opened, Failure> {
    let host = |error: arrow::error::ArrowError| Failure::host(error.to_string());
    // SAFETY: the caller's.
    unsafe {
        let inputs = DataType::try_from(&*run.inputs.cast::<FFI_ArrowSchema>()).map_err(host)?;
        let inputs = fields_of(inputs)?;
        let inputs = inputs.iter().map(|field| fields_of(field.data_type().clone()));
        let output = match run.output.is_null() {
            true => None,
            false => Some(Field::try_from(&*run.output.cast::<FFI_ArrowSchema>()).map_err(host)?),
        };
        let output = output.map(|field| fields_of(field.data_type().clone())).transpose()?;
        let scalars = match run.scalars.is_null() {
            true => None,
            false => {
                let array = FFI_ArrowArray::from_raw(run.scalars.cast());
                Some(StructArray::from(from_ffi(array, &*run.scalars_schema.cast::<FFI_ArrowSchema>()).map_err(host)?))
            }
        };
        let types = output.iter().flat_map(|fields: &Fields| fields.iter());
        let types = types.map(|field| field.metadata().get(key::TYPE).cloned().unwrap_or_default()).collect();
        Ok(Opened(Ends { inputs: inputs.collect::<Result<_, _>>()?, output, scalars, types }))
    }
}

fn fields_of(ty: DataType) -> Result<Fields, Failure> {
    match ty {
        DataType::Struct(fields) => Ok(fields),
        other => Err(Failure::host(format!("a schema of type {other}"))),
    }
}

impl Function {
    /// Runs the handler until its result has ended.
    ///
    /// # Errors
    /// Why it ended before.
    ///
    /// # Safety
    /// The request, the flag in its limits and the listener outlive the call.
    pub unsafe fn run(&self, py: Python<'_>, opened: Opened, run: &Run, listener: &Listener) -> Result<(), Failure> {
        let misfit = module(py).and_then(|module| module.getattr("Misfit"));
        let misfit = misfit.map_err(|error| Failure::raised(py, &error, &self.file, self.first_line))?;
        // SAFETY: the caller's.
        let watch = Arc::new(unsafe { Watch::begin_calls(py, &run.limits, run.call_nanos) });
        // SAFETY: the caller's; the port is closed below.
        let port = unsafe { Port::open(run, opened.0, misfit.clone().unbind(), &watch) };
        let port = Bound::new(py, port).map_err(|error| Failure::host(error.to_string()))?;
        let printing = Printing::begin(listener);
        let mut row = 0;
        let reset = Context::new(self).reset(py);
        let result = reset.and_then(|()| match self.form {
            form::ROWS => rows::run(py, self, &port, &watch, &printing, &mut row),
            form::STATES => states::run(py, self, &port, &watch, &printing),
            _ => self.run_in_python(py, &port),
        });
        port.get().close();
        drop(printing);
        let Err(error) = result else {
            return match watch.judge() {
                0 => Ok(()),
                ended => Err(Failure::ended(ended)),
            };
        };
        if interrupted(py, &error, &watch) {
            let ended = watch.judge();
            return Err(Failure::ended(if ended == 0 { kind::INTERRUPTED } else { ended }));
        }
        let failure = Failure { row, ..Failure::raised(py, &error, &self.file, self.first_line) };
        Err(match error.value(py).is_instance(&misfit).unwrap_or(false) {
            true => Failure { kind: kind::RESULT, class: String::new(), ..failure },
            false => failure,
        })
    }

    fn run_in_python(&self, py: Python<'_>, port: &Bound<'_, Port>) -> PyResult<()> {
        let parameters: Vec<(&str, bool)> =
            self.params.iter().zip(&self.tables).map(|(name, table)| (name.as_str(), *table)).collect();
        module(py)?.getattr("run")?.call1((self.form, &self.handler, port, parameters))?;
        Ok(())
    }
}

/// `python/pickles.py`.
fn pickles(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    crate::function::module(py, &MODULE, include_str!("python/pickles.py"), c"exuvia_pickles")
}

/// `python/streams.py`.
pub fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    crate::function::module(py, &MODULE, include_str!("python/streams.py"), c"exuvia_streams")
}
