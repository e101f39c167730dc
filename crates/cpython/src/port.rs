//! The way of a running handler to the engine: batches in, batches out.

use crate::argument::Column as Arguments;
use crate::arrow_capsule::{Batch, Schema, struct_of};
use crate::call::is_missing;
use crate::failure::shown;
use crate::result::{Column as Results, ResultError};
use crate::watch::{Interrupt, Watch};
use arrow::array::{Array, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use exuvia_ir::interpreter::{Run, step};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a run hands over and takes; once the run has ended, an error of whoever kept it.
#[pyclass(frozen)]
pub struct Port {
    /// Whose call waits while a batch is pulled or pushed.
    watch: Arc<Watch>,
    /// The callbacks while the run lasts.
    engine: Mutex<Option<Engine>>,
    inputs: Vec<Fields>,
    output: Option<Fields>,
    scalars: Option<StructArray>,
    /// The name of a column's type in SQL.
    types: Vec<String>,
    /// NumPy's names of the types of the columns of the first input.
    dtypes: Vec<Option<&'static str>>,
    /// The batch that was pulled last.
    last: Mutex<Option<StructArray>>,
    /// Raised for a result that its declaration cannot hold.
    misfit: Py<PyAny>,
    batch_rows: usize,
}

/// The engine's callbacks.
struct Engine(*const Run);

// SAFETY: the callbacks may be called on any thread, one at a time, which the port's lock
// sees to; the run outlives the `Engine`, which `Port::close` takes away.
unsafe impl Send for Engine {}

/// What a port knows of its run.
pub struct Ends {
    pub inputs: Vec<Fields>,
    pub output: Option<Fields>,
    pub scalars: Option<StructArray>,
    pub types: Vec<String>,
}

impl Port {
    /// # Safety
    /// `run` lives until [`Port::close`].
    pub unsafe fn open(run: &Run, ends: Ends, misfit: Py<PyAny>, watch: &Arc<Watch>) -> Port {
        let columns = ends.inputs.first();
        Port {
            watch: Arc::clone(watch),
            dtypes: columns
                .map_or_else(Vec::new, |fields| fields.iter().map(|field| numpy_name(field.data_type())).collect()),
            engine: Mutex::new(Some(Engine(run))),
            inputs: ends.inputs,
            output: ends.output,
            scalars: ends.scalars,
            types: ends.types,
            last: Mutex::new(None),
            misfit,
            batch_rows: usize::try_from(run.batch_rows).unwrap_or(usize::MAX).max(1),
        }
    }

    /// Ends the way to the engine.
    pub fn close(&self) {
        *self.engine() = None;
    }

    fn engine(&self) -> MutexGuard<'_, Option<Engine>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The columns of the result, where they are declared.
    pub fn output(&self) -> Option<&Fields> {
        self.output.as_ref()
    }

    pub fn batch_rows(&self) -> usize {
        self.batch_rows
    }

    /// The next batch of an input.
    pub fn next(&self, py: Python<'_>, input: u32) -> PyResult<Option<StructArray>> {
        let (mut array, mut schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
        self.watch.pause();
        let given = py.detach(|| {
            let engine = self.engine();
            let Engine(run) = engine.as_ref()?;
            let run = *run;
            // SAFETY: the run lives; both structures are writable, and one that was written
            // is owned here.
            Some(unsafe { ((*run).pull)((*run).context, input, (&raw mut array).cast(), (&raw mut schema).cast()) })
        });
        // What follows is another call.
        self.watch.call();
        match given {
            Some(step::BATCH) => {
                // SAFETY: the engine has written both.
                let data =
                    unsafe { from_ffi(array, &schema) }.map_err(|error| PyValueError::new_err(error.to_string()))?;
                Ok(Some(StructArray::from(data)))
            }
            Some(step::END) => Ok(None),
            Some(_) => Err(Interrupt::new_err(())),
            None => Err(PyRuntimeError::new_err("the query has ended")),
        }
    }

    /// Hands a batch of the result over.
    pub fn give(&self, py: Python<'_>, batch: &StructArray) -> PyResult<()> {
        let (mut array, mut schema) =
            to_ffi(&batch.to_data()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.watch.pause();
        let taken = py.detach(|| {
            let engine = self.engine();
            let Engine(run) = engine.as_ref()?;
            let run = *run;
            // SAFETY: the run lives; the engine takes both over.
            Some(unsafe { ((*run).push)((*run).context, (&raw mut array).cast(), (&raw mut schema).cast()) })
        });
        self.watch.resume();
        match taken {
            Some(step::BATCH) => Ok(()),
            Some(_) => Err(Interrupt::new_err(())),
            None => Err(PyRuntimeError::new_err("the query has ended")),
        }
    }

    /// A result that its declaration cannot hold.
    pub fn misfit(&self, py: Python<'_>, message: String) -> PyErr {
        self.misfit.bind(py).call1((message,)).map_or_else(|error| error, PyErr::from_value)
    }

    /// A value that a column of the result does not take, and the part of it that does not fit.
    pub fn refused(&self, py: Python<'_>, field: usize, value: &Bound<'_, PyAny>, part: Option<&str>) -> PyErr {
        let (repr, class) = shown(value);
        let name = self.output.as_ref().and_then(|fields| fields.get(field)).map_or("", |field| field.name());
        let ty = self.types.get(field).map_or("", String::as_str);
        let said = exuvia_ir::result_error(&repr, &class, ty, part);
        match said.strip_prefix("returned ") {
            Some(what) if !name.is_empty() => self.misfit(py, format!("column {name}: {what}")),
            // A value has the words of a row's result.
            _ => self.misfit(py, said),
        }
    }
}

#[pymethods]
impl Port {
    #[pyo3(name = "pull")]
    fn pull_py(&self, py: Python<'_>, input: u32) -> PyResult<Option<Batch>> {
        let batch = self.next(py, input)?;
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&batch);
        Ok(batch.map(Batch))
    }

    /// The first value of a column of the batch that was pulled last, as that of a row function.
    fn value<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyAny>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let array = last.as_ref().and_then(|batch| batch.columns().get(column));
        let array = array.ok_or_else(|| PyValueError::new_err("there is no such column"))?;
        let value = Arguments::new(py, array, None)?.get(py, 0);
        value.map_err(|error| PyValueError::new_err(crate::argument::message(py, &error, "", array, 0)))
    }

    #[pyo3(name = "push")]
    fn push_py(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        self.give(py, &struct_of(batch)?)
    }

    /// The columns of an input.
    fn schema(&self, input: usize) -> PyResult<Schema> {
        let fields = self.inputs.get(input).ok_or_else(|| PyValueError::new_err("there is no such input"))?;
        Ok(Schema(fields.clone()))
    }

    #[getter(output)]
    fn output_py(&self) -> Option<Schema> {
        self.output.clone().map(Schema)
    }

    #[getter(batch_rows)]
    fn batch_rows_py(&self) -> usize {
        self.batch_rows
    }

    #[getter]
    fn dtypes(&self) -> Vec<Option<&'static str>> {
        self.dtypes.clone()
    }

    /// The scalar arguments, as those of a row function.
    fn scalars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut values = vec![];
        if let Some(scalars) = &self.scalars {
            for column in scalars.columns() {
                let value = Arguments::new(py, column, None)?.get(py, 0);
                values.push(
                    value
                        .map_err(|error| PyValueError::new_err(crate::argument::message(py, &error, "", column, 0)))?,
                );
            }
        }
        PyTuple::new(py, values)
    }

    /// Python objects as a column of the result.
    fn convert(&self, py: Python<'_>, values: &Bound<'_, PyList>, field: usize) -> PyResult<Batch> {
        let fields = self.output.as_ref().ok_or_else(|| PyValueError::new_err("no result is declared"))?;
        let declared = fields.get(field).ok_or_else(|| PyValueError::new_err("there is no such column"))?;
        let mut column = Results::new(py, declared.data_type(), values.len())?;
        for value in values {
            if value.is_none() && !declared.is_nullable() {
                let message = format!("column {} is declared NOT NULL, and a value of it is missing", declared.name());
                return Err(self.misfit(py, message));
            }
            match column.push(&value) {
                // What pandas has for a missing value.
                Err(ResultError::Refused) if is_missing(&value) && declared.is_nullable() => column.push_null(),
                taken => taken.map_err(|error| self.result_error(py, field, &value, error))?,
            }
        }
        let array = column.finish().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let field = Field::new(declared.name(), declared.data_type().clone(), true);
        Ok(Batch(StructArray::from(vec![(Arc::new(field), array)])))
    }
}

impl Port {
    /// Why a value was not taken, as an exception.
    pub fn result_error(&self, py: Python<'_>, field: usize, value: &Bound<'_, PyAny>, error: ResultError) -> PyErr {
        match error {
            ResultError::Refused => self.refused(py, field, value, None),
            ResultError::Part(part) => self.refused(py, field, value, Some(&part.to_string())),
            ResultError::Raised(error) => error,
            ResultError::Full => PyValueError::new_err(exuvia_ir::results_too_large()),
        }
    }
}

/// Whether a run was ended from outside.
pub fn interrupted(py: Python<'_>, error: &PyErr, watch: &Watch) -> bool {
    watch.ended() != 0 || error.is_instance_of::<Interrupt>(py)
}

/// NumPy's name for the values of an Arrow type; none where they are objects.
pub fn numpy_name(ty: &DataType) -> Option<&'static str> {
    use arrow::datatypes::TimeUnit;
    Some(match ty {
        DataType::Boolean => "bool",
        DataType::Int8 => "int8",
        DataType::Int16 => "int16",
        DataType::Int32 => "int32",
        DataType::Int64 => "int64",
        DataType::UInt8 => "uint8",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Float16 => "float16",
        DataType::Float32 => "float32",
        DataType::Float64 => "float64",
        DataType::Date32 => "datetime64[D]",
        DataType::Date64 => "datetime64[ms]",
        DataType::Timestamp(TimeUnit::Second, None) => "datetime64[s]",
        DataType::Timestamp(TimeUnit::Millisecond, None) => "datetime64[ms]",
        DataType::Timestamp(TimeUnit::Microsecond, None) => "datetime64[us]",
        DataType::Timestamp(TimeUnit::Nanosecond, None) => "datetime64[ns]",
        _ => return None,
    })
}
