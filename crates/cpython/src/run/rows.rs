//! Any number of rows for the values of a row: generators, iterators and lists of rows.

use crate::argument::{Column as Arguments, message};
use crate::arrow_capsule::struct_of;
use crate::call::{Context, Frame};
use crate::function::Function;
use crate::port::Port;
use crate::print::Printing;
use crate::result::Column as Results;
use crate::strings;
use crate::watch::{Interrupt, Watch};
use arrow::array::{Array, ArrayRef, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long rows wait for others before they are handed over.
const WAIT: Duration = Duration::from_millis(100);

/// Runs the handler for each row of the input. A pushed batch has the number of the row in
/// the batch that was pulled last, then the columns; `row` is that number when it fails.
pub fn run(
    py: Python<'_>,
    function: &Function,
    port: &Bound<'_, Port>,
    watch: &Watch,
    printing: &Printing,
    row: &mut usize,
) -> PyResult<()> {
    let way = port.get();
    let fields = way.output().cloned().ok_or_else(|| PyValueError::new_err("no result is declared"))?;
    let mut out = Rows::new(port, fields, function.single_values)?;
    let mut context = Context::new(function);
    while let Some(args) = way.next(py, 0)? {
        let columns: Vec<Arguments> = args
            .columns()
            .iter()
            .zip(&function.classes)
            .map(|(column, class)| Arguments::new(py, column, class.as_ref()))
            .collect::<PyResult<_>>()?;
        let mut frame = Frame::new(py, &function.handler, columns.len());
        for at in 0..args.len() {
            *row = at;
            if watch.ended() != 0 {
                return Err(Interrupt::new_err(()));
            }
            if function.strict && columns.iter().any(|column| column.is_null(at)) {
                continue;
            }
            context.reset(py)?;
            watch.call();
            for (index, column) in columns.iter().enumerate() {
                let object = column.get(py, at).map_err(|error| {
                    PyValueError::new_err(message(py, &error, &function.params[index], args.column(index), at))
                })?;
                frame.set(index, object);
            }
            let value = frame.call()?;
            out.extend(py, at, &value, watch)?;
            printing.flush();
        }
        // The rows refer to this batch by number.
        out.flush(py)?;
    }
    Ok(())
}

/// The bytes of texts and lists with which rows are handed over, however few they are.
const MOST_BYTES: usize = 32 << 20;

/// Rows on their way to the engine.
struct Rows<'a, 'py> {
    port: &'a Bound<'py, Port>,
    fields: Fields,
    names: Vec<Py<PyString>>,
    /// Whether an item is the value of the one column.
    single: bool,
    numbers: Vec<i64>,
    columns: Vec<Results>,
    since: Instant,
    /// Rows that are handed over together: few at first, as whoever takes them may want few.
    together: usize,
}

impl<'a, 'py> Rows<'a, 'py> {
    fn new(port: &'a Bound<'py, Port>, fields: Fields, single: bool) -> PyResult<Rows<'a, 'py>> {
        let py = port.py();
        let names = fields.iter().map(|field| PyString::intern(py, field.name()).unbind()).collect();
        let columns = builders(py, &fields)?;
        Ok(Rows { port, fields, names, single, numbers: vec![], columns, since: Instant::now(), together: 1 })
    }

    /// Adds all rows of what the handler gave for a row.
    fn extend(&mut self, py: Python<'_>, at: usize, value: &Bound<'_, PyAny>, watch: &Watch) -> PyResult<()> {
        if value.is_none() {
            return Ok(());
        }
        if is_frame(value)? {
            return self.extend_frame(py, at, value);
        }
        let no_rows = strings::is_string(value) || value.is_instance_of::<PyDict>();
        let items = if no_rows { None } else { value.try_iter().ok() };
        let Some(items) = items else {
            let class = crate::failure::class_name(value);
            let message = format!("it gave a value of type {class}; it yields its rows or returns a list of them");
            return Err(self.port.get().misfit(py, message));
        };
        for item in items {
            let item = item?;
            if watch.ended() != 0 {
                return Err(Interrupt::new_err(()));
            }
            if is_frame(&item)? {
                self.extend_frame(py, at, &item)?;
                continue;
            }
            self.push(py, at, &item)?;
            if self.numbers.len() >= self.together || self.since.elapsed() > WAIT {
                self.flush(py)?;
                self.together = (2 * self.together).min(self.port.get().batch_rows());
            } else if self.columns.iter().map(Results::variable_bytes).sum::<usize>() >= MOST_BYTES {
                self.flush(py)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, py: Python<'_>, at: usize, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let count = self.columns.len();
        if self.single {
            self.value(py, 0, item)?;
        } else if let Ok(tuple) = item.cast::<PyTuple>() {
            self.check_count(py, item, tuple.len())?;
            for index in 0..count {
                self.value(py, index, &tuple.get_item(index)?)?;
            }
        } else if let Ok(list) = item.cast::<PyList>()
            && !(count == 1 && matches!(self.fields[0].data_type(), DataType::List(_)))
        {
            self.check_count(py, item, list.len())?;
            for index in 0..count {
                self.value(py, index, &list.get_item(index)?)?;
            }
        } else if let Ok(dict) = item.cast::<PyDict>()
            && !(count == 1 && matches!(self.fields[0].data_type(), DataType::Struct(_) | DataType::Map(..)))
        {
            for index in 0..count {
                let name = self.names[index].bind(py);
                let Some(value) = dict.get_item(name)? else {
                    let message = format!("the row {} has no {}", shown(item), self.fields[index].name());
                    return Err(self.port.get().misfit(py, message));
                };
                self.value(py, index, &value)?;
            }
        } else if item.hasattr(intern!(py, "__dataclass_fields__"))? {
            for index in 0..count {
                let value = item.getattr(self.names[index].bind(py))?;
                self.value(py, index, &value)?;
            }
        } else if count == 1 {
            self.value(py, 0, item)?;
        } else {
            let class = crate::failure::class_name(item);
            let message =
                format!("the row {} of type {class} is no tuple of the {count} declared columns", shown(item));
            return Err(self.port.get().misfit(py, message));
        }
        self.numbers.push(at as i64);
        Ok(())
    }

    fn check_count(&self, py: Python<'_>, item: &Bound<'_, PyAny>, found: usize) -> PyResult<()> {
        let count = self.columns.len();
        if found == count {
            return Ok(());
        }
        let message = format!("the row {} has {found} values, and {count} columns are declared", shown(item));
        Err(self.port.get().misfit(py, message))
    }

    #[inline]
    fn value(&mut self, py: Python<'_>, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() && !self.fields[index].is_nullable() {
            let message =
                format!("column {} is declared NOT NULL, and a value of it is missing", self.fields[index].name());
            return Err(self.port.get().misfit(py, message));
        }
        let taken = self.columns[index].push(value);
        taken.map_err(|error| self.port.get().result_error(py, index, value, error))
    }

    /// Adds the rows of a DataFrame.
    fn extend_frame(&mut self, py: Python<'_>, at: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.flush(py)?;
        let module = super::module(py)?;
        let output = module.getattr("Output")?.call1((module.getattr("require_pyarrow")?.call0()?, self.port))?;
        let table = output.call_method1("table_of", (value,))?;
        for batch in table.call_method0("to_batches")?.try_iter()? {
            let batch = struct_of(&batch?)?;
            let numbers: ArrayRef = Arc::new(Int64Array::from(vec![at as i64; batch.len()]));
            let mut columns = vec![numbers];
            columns.extend(batch.columns().iter().cloned());
            self.give(py, columns, batch.len())?;
        }
        Ok(())
    }

    /// Hands the rows over that there are.
    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        self.since = Instant::now();
        if self.numbers.is_empty() {
            return Ok(());
        }
        let rows = self.numbers.len();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(std::mem::take(&mut self.numbers)))];
        for column in std::mem::replace(&mut self.columns, builders(py, &self.fields)?) {
            columns.push(column.finish().map_err(|error| PyValueError::new_err(error.to_string()))?);
        }
        self.give(py, columns, rows)
    }

    fn give(&self, py: Python<'_>, columns: Vec<ArrayRef>, rows: usize) -> PyResult<()> {
        let mut fields = vec![Field::new("row", DataType::Int64, false)];
        fields.extend(
            self.fields
                .iter()
                .zip(&columns[1..])
                .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true)),
        );
        let batch = StructArray::try_new_with_length(Fields::from(fields), columns, None, rows);
        self.port.get().give(py, &batch.map_err(|error| PyValueError::new_err(error.to_string()))?)
    }
}

fn builders(py: Python<'_>, fields: &Fields) -> PyResult<Vec<Results>> {
    fields.iter().map(|field| Results::new(py, field.data_type(), 0)).collect()
}

/// Whether a value is a table of pandas', pyarrow's or Polars'.
fn is_frame(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = value.get_type();
    let Ok(module) = class.module() else { return Ok(false) };
    let package = module.to_str().unwrap_or_default().split('.').next().unwrap_or_default();
    Ok(matches!(package, "pandas" | "pyarrow" | "polars") && value.hasattr(intern!(value.py(), "to_numpy"))?
        || package == "pyarrow")
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    exuvia_ir::excerpt(&crate::failure::shown(value).0)
}
