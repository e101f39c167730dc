//! The rung that is CPython: the whole function, on whole batches or on the rows that
//! left the rungs above.

use crate::interpreter::{Calling, Interpreter, PyCall, PyDefinition, PyFailure, PyFunction, RowFailure};
use crate::routine::Routine;
use crate::{CallError, CallErrorKind, Function, Invocation, OnError, Settings, place, sql};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// A function defined in CPython.
#[derive(Debug)]
pub(crate) enum PythonRung {
    /// Called for each row.
    Rows(Box<PyFunction>),
    /// Called for columns of rows.
    Columns(Arc<Routine>),
}

impl PythonRung {
    /// Runs the module in CPython and finds the handler.
    pub fn define(function: &Function, settings: &Settings) -> Result<PythonRung, CallError> {
        if let Some(routine) = &function.routine {
            return Ok(PythonRung::Columns(Arc::clone(routine)));
        }
        let definition = &function.definition;
        let interpreter = Interpreter::of(settings)
            .map_err(|why| function.failed(CallErrorKind::NoInterpreter(format!("this call needs CPython: {why}"))))?;
        let params: Vec<DataType> = definition.params.iter().map(|param| param.ty.clone()).collect();
        let names: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let request = PyDefinition {
            name: &definition.name,
            source: &function.source.python,
            handler: &function.source.python_name,
            first_line: definition.first_line.saturating_sub(function.source.python_shift),
            strict: definition.strict,
            calling: Calling { models: &definition.models, limits: settings.module_limits(), ..Calling::default() },
            param_names: &names,
            params: &params,
            returns: &definition.returns,
            print: &settings.print,
        };
        let defined = interpreter.define(request).map_err(|error| CallError {
            place: error.line.and_then(|line| script_place(function, line)),
            ..function.failed(CallErrorKind::Python { class: error.class, message: error.message })
        })?;
        Ok(PythonRung::Rows(Box::new(defined)))
    }

    /// Calls the function on a batch.
    pub fn call(
        &self,
        function: &Function,
        args: &[ArrayRef],
        rows: usize,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<ArrayRef, CallError> {
        if invocation.without_python {
            return Err(function.failed(CallErrorKind::Cancelled));
        }
        let defined = match self {
            PythonRung::Columns(routine) => return routine.call_column(args, rows, settings, invocation),
            PythonRung::Rows(defined) => defined,
        };
        let call = PyCall {
            on_error_null: function.definition.on_error == OnError::Null,
            stop: Some(&invocation.cancelled),
            deadline: invocation.deadline,
            memory: settings.python_memory,
            print: &settings.print,
        };
        defined.call(args, rows, &call).map_err(|failure| match failure {
            PyFailure::Row { row, class, message, line, kind } => CallError {
                function: function.definition.name.clone(),
                kind: match kind {
                    RowFailure::Exception | RowFailure::BaseException => CallErrorKind::Python { class, message },
                    RowFailure::Result => CallErrorKind::Result(message),
                    RowFailure::Argument => CallErrorKind::Host(message),
                },
                place: line.and_then(|line| script_place(function, line)),
                arguments: arguments(function, args, row),
            },
            PyFailure::Interrupted => function.failed(CallErrorKind::Cancelled),
            PyFailure::TimedOut => function.failed(CallErrorKind::TimedOut),
            PyFailure::Full => function.failed(CallErrorKind::TooLarge),
            PyFailure::Host(message) => function.failed(CallErrorKind::Host(message)),
        })
    }
}

/// A line that CPython reports, as a place in the SQL script.
fn script_place(function: &Function, line: u32) -> Option<crate::Place> {
    let first = function.definition.first_line;
    place::of_line(&function.source.text, (line + 1).checked_sub(first)?, first)
}

/// The arguments of a row, for errors.
pub(crate) fn arguments(function: &Function, args: &[ArrayRef], row: usize) -> Vec<(String, String)> {
    function.definition.params.iter().zip(args).map(|(param, arg)| (param.name.clone(), sql::shown(arg, row))).collect()
}
