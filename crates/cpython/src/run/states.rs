//! The states of the groups of an aggregate, as objects of its class.
//!
//! A state travels to another process as a pickle: of the value that the class calls
//! `aggregate_state`, as in Snowflake, else of the object.

use crate::argument::{Column as Arguments, message};
use crate::function::Function;
use crate::port::Port;
use crate::print::Printing;
use crate::result::Column as Results;
use crate::watch::{Interrupt, Watch};
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, StructArray};
use arrow::datatypes::{Field, Fields, Int32Type, UInt64Type};
use exuvia_ir::interpreter::command;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;

/// Carries out commands until there are no more.
pub fn run(
    py: Python<'_>,
    function: &Function,
    port: &Bound<'_, Port>,
    watch: &Watch,
    printing: &Printing,
) -> PyResult<()> {
    let way = port.get();
    let fields = way.output().cloned().ok_or_else(|| PyValueError::new_err("no result is declared"))?;
    let mut states = States { class: function.handler.bind(py).clone(), states: vec![] };
    while let Some(batch) = way.next(py, 0)? {
        let rows = batch.len();
        if rows == 0 {
            continue;
        }
        let what = batch.column(0).as_primitive::<Int32Type>().value(0);
        let group = |row: usize| batch.column(1).as_primitive::<UInt64Type>().value(row) as usize;
        match what {
            command::UPDATE => states.update(function, &batch, group, watch)?,
            command::MERGE => {
                for row in 0..rows {
                    alive(watch)?;
                    states.merge(group(row), batch.column(2).as_binary::<i32>().value(row))?;
                }
            }
            command::FINISH | command::PEEK => {
                let mut results = Results::new(py, fields[0].data_type(), rows)?;
                for row in 0..rows {
                    alive(watch)?;
                    let mut state = states.of(group(row))?.0.clone();
                    if what == command::PEEK {
                        state = py.import("copy")?.call_method1("deepcopy", (state,))?;
                    }
                    let value = state.call_method0(intern!(py, "finish"))?;
                    results.push(&value).map_err(|error| way.result_error(py, 0, &value, error))?;
                }
                let array = results.finish().map_err(|error| PyValueError::new_err(error.to_string()))?;
                way.give(py, &column(fields[0].name(), array))?;
            }
            command::STATE => {
                let mut out = BinaryBuilder::new();
                for row in 0..rows {
                    alive(watch)?;
                    out.append_value(states.pickled(group(row))?.as_bytes());
                }
                way.give(py, &column("state", Arc::new(out.finish())))?;
            }
            _ => drop(states.states.drain(..rows.min(states.states.len()))),
        }
        printing.flush();
    }
    Ok(())
}

fn alive(watch: &Watch) -> PyResult<()> {
    if watch.ended() != 0 { Err(Interrupt::new_err(())) } else { Ok(()) }
}

fn column(name: &str, array: ArrayRef) -> StructArray {
    let fields = Fields::from(vec![Field::new(name, array.data_type().clone(), true)]);
    StructArray::new(fields, vec![array], None)
}

/// A state and its method `accumulate`.
type State<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

struct States<'py> {
    class: Bound<'py, PyAny>,
    states: Vec<Option<State<'py>>>,
}

impl<'py> States<'py> {
    /// The state of a group, which is made if there is none.
    fn of(&mut self, group: usize) -> PyResult<&State<'py>> {
        if self.states.len() <= group {
            self.states.resize_with(group + 1, || None);
        }
        let slot = &mut self.states[group];
        if slot.is_none() {
            let state = self.class.call0()?;
            let accumulate = state.getattr(intern!(state.py(), "accumulate"))?;
            *slot = Some((state, accumulate));
        }
        slot.as_ref().ok_or_else(|| PyValueError::new_err("a group without a state"))
    }

    fn update(
        &mut self,
        function: &Function,
        batch: &StructArray,
        group: impl Fn(usize) -> usize,
        watch: &Watch,
    ) -> PyResult<()> {
        let py = self.class.py();
        let arguments = &batch.columns()[2..];
        let columns: Vec<Arguments> =
            arguments.iter().map(|column| Arguments::new(py, column, None)).collect::<PyResult<_>>()?;
        for row in 0..batch.len() {
            alive(watch)?;
            let mut values = Vec::with_capacity(columns.len());
            for (index, column) in columns.iter().enumerate() {
                values.push(column.get(py, row).map_err(|error| {
                    PyValueError::new_err(message(py, &error, &function.params[index], &arguments[index], row))
                })?);
            }
            self.of(group(row))?.1.call1(PyTuple::new(py, values)?)?;
        }
        Ok(())
    }

    fn merge(&mut self, group: usize, pickle: &[u8]) -> PyResult<()> {
        let py = self.class.py();
        let other = pickles(&self.class)?.call_method1("loads", (PyBytes::new(py, pickle),))?;
        self.of(group)?.0.call_method1(intern!(py, "merge"), (other,))?;
        Ok(())
    }

    fn pickled(&mut self, group: usize) -> PyResult<Bound<'py, PyBytes>> {
        let class = self.class.clone();
        let state = self.of(group)?.0.clone();
        let state = match state.getattr_opt(intern!(state.py(), "aggregate_state"))? {
            Some(value) => value,
            None => state,
        };
        Ok(pickles(&class)?.call_method1("dumps", (state,))?.cast_into()?)
    }
}

/// Pickles of objects whose classes stand in the function's module, which no import finds.
fn pickles<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    super::pickles(class.py())?.getattr("Pickles")?.call1((class,))
}
