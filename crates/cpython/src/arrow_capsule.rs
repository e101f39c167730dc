//! Arrow's PyCapsule interface: how batches reach pyarrow, and come back.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>: an object
//! with `__arrow_c_array__` gives two capsules, whose consumer moves the structures out and
//! leaves them released; one that nobody consumes releases what it holds when it is freed.

use arrow::array::{Array, StructArray};
use arrow::datatypes::{DataType, Fields};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::CStr;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// An Arrow struct, one column a field, as pyarrow takes it: `pa.record_batch(batch)`.
#[pyclass(frozen)]
pub struct Batch(pub StructArray);

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // Nothing need be done for a request.
        drop(requested_schema);
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(|error| host(&error))?;
        PyTuple::new(py, [capsule(py, schema, SCHEMA)?, capsule(py, array, ARRAY)?])
    }
}

/// The fields of a struct as pyarrow takes them: `pa.schema(fields)`.
#[pyclass(frozen)]
pub struct Schema(pub Fields);

#[pymethods]
impl Schema {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let schema = FFI_ArrowSchema::try_from(&DataType::Struct(self.0.clone())).map_err(|error| host(&error))?;
        capsule(py, schema, SCHEMA)
    }
}

/// The struct of an object with `__arrow_c_array__`.
pub fn struct_of(object: &Bound<'_, PyAny>) -> PyResult<StructArray> {
    let capsules = object.call_method0("__arrow_c_array__")?;
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
    // SAFETY: the capsules' names say what they point to; the array is moved out, which
    // leaves the capsule an empty one, and the schema is read while its capsule lives.
    let data = unsafe {
        let array = FFI_ArrowArray::from_raw(pointer(&array, ARRAY)?);
        from_ffi(array, &*pointer::<FFI_ArrowSchema>(&schema, SCHEMA)?)
    }
    .map_err(|error| host(&error))?;
    // Who made it may have passed over what pyarrow checks: texts that are no UTF-8 and offsets behind the end of
    // their data would be read as if they were none.
    let wrong = |error: ArrowError| PyValueError::new_err(format!("its result is no valid Arrow data: {error}"));
    data.validate_full().map_err(wrong)?;
    match data.data_type() {
        DataType::Struct(_) => Ok(StructArray::from(data)),
        other => Err(PyTypeError::new_err(format!("a batch of type {other}"))),
    }
}

/// An error of Arrow's.
fn host(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut T> {
    // SAFETY: the object is alive; a wrong one raises.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
    if pointer.is_null() { Err(PyErr::fetch(capsule.py())) } else { Ok(pointer.cast()) }
}

/// A capsule that owns a structure.
fn capsule<'py, T: Named>(py: Python<'py>, value: T, name: &'static CStr) -> PyResult<Bound<'py, PyAny>> {
    let value = Box::into_raw(Box::new(value));
    // SAFETY: the pointer is a box's that the destructor frees; the name lives for ever.
    unsafe {
        let capsule = ffi::PyCapsule_New(value.cast(), name.as_ptr(), Some(free::<T>));
        if capsule.is_null() {
            drop(Box::from_raw(value));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// A structure that travels in a capsule; dropping it releases what is left in it.
trait Named {
    const NAME: &'static CStr;
}

impl Named for FFI_ArrowSchema {
    const NAME: &'static CStr = SCHEMA;
}

impl Named for FFI_ArrowArray {
    const NAME: &'static CStr = ARRAY;
}

unsafe extern "C" fn free<T: Named>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with the capsule that `capsule` made.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr());
        if !pointer.is_null() {
            drop(Box::from_raw(pointer.cast::<T>()));
        }
    }
}
