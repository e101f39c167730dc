//! Lists, structs and maps as Python's, and columns that name values by key.

use super::{Column, Made};
use crate::arrow_capsule::Batch;
use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    StructArray,
};
use arrow::datatypes::{DataType, Field, Fields};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyString};
use std::ops::Range;
use std::sync::Arc;

/// Lists of every layout.
pub struct Lists {
    values: Items,
    range: Box<dyn Fn(usize) -> Range<usize>>,
}

/// What lists hold, and what becomes of one.
enum Items {
    /// Objects: a list.
    Objects(Box<Column>),
    /// One ndarray for the items of all rows, which the function may write into: a part of it.
    Array(Py<PyAny>),
    /// An Arrow array, of which `arguments.Values` makes something else: a Series.
    Arrow { shape: Py<PyAny>, values: Py<PyAny> },
    /// Lists, of which `arguments.Values` makes an ndarray of a higher rank.
    Nested { shape: Py<PyAny>, lists: Box<Column> },
}

impl Items {
    /// `shape` is an `arguments.Values`, or nothing for lists.
    fn new(py: Python<'_>, values: &ArrayRef, shape: Option<&Py<PyAny>>) -> PyResult<Items> {
        let Some(shape) = shape else { return Ok(Items::Objects(Box::new(Column::new(py, values, None)?))) };
        let shape = shape.bind(py);
        let is_ndarray = shape.getattr(intern!(py, "shape"))?.eq("ndarray")?;
        if is_ndarray && shape.getattr(intern!(py, "rank"))?.extract::<usize>()? > 1 {
            let lists = Box::new(Column::new(py, values, None)?);
            return Ok(Items::Nested { shape: shape.clone().unbind(), lists });
        }
        let field = Field::new("items", values.data_type().clone(), true);
        let batch = Batch(StructArray::new(Fields::from(vec![field]), vec![Arc::clone(values)], None));
        let batch = py.import("pyarrow")?.call_method1("record_batch", (batch,))?;
        let items = batch.call_method1("column", (0,))?;
        if is_ndarray && items.getattr("null_count")?.eq(0)? {
            return Ok(Items::Array(shape.call_method1(intern!(py, "array"), (items,))?.unbind()));
        }
        Ok(Items::Arrow { shape: shape.clone().unbind(), values: items.unbind() })
    }
}

impl Lists {
    /// `shape` says what becomes of a list: an `arguments.Values`, or nothing for a list.
    pub fn new(py: Python<'_>, array: &ArrayRef, shape: Option<&Py<PyAny>>) -> PyResult<Lists> {
        fn offsets<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Box<dyn Fn(usize) -> Range<usize>> {
            let offsets = array.offsets().clone();
            Box::new(move |row| offsets[row].as_usize()..offsets[row + 1].as_usize())
        }
        fn views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> Box<dyn Fn(usize) -> Range<usize>> {
            let (offsets, sizes) = (array.offsets().clone(), array.sizes().clone());
            Box::new(move |row| {
                let start = offsets[row].as_usize();
                start..start + sizes[row].as_usize()
            })
        }
        fn fixed(array: &FixedSizeListArray) -> Box<dyn Fn(usize) -> Range<usize>> {
            // `values` of a sliced array of this kind begin at its first row.
            let size = array.value_length() as usize;
            Box::new(move |row| row * size..(row + 1) * size)
        }
        let (values, range) = match array.data_type() {
            DataType::List(_) => (array.as_list::<i32>().values(), offsets(array.as_list::<i32>())),
            DataType::LargeList(_) => (array.as_list::<i64>().values(), offsets(array.as_list::<i64>())),
            DataType::ListView(_) => (array.as_list_view::<i32>().values(), views(array.as_list_view::<i32>())),
            DataType::LargeListView(_) => (array.as_list_view::<i64>().values(), views(array.as_list_view::<i64>())),
            _ => (array.as_fixed_size_list().values(), fixed(array.as_fixed_size_list())),
        };
        Ok(Lists { values: Items::new(py, values, shape)?, range })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let range = (self.range)(row);
        let list = |values: &Column| -> Made<'py> {
            let list = PyList::empty(py);
            for index in range.clone() {
                list.append(values.get(py, index)?)?;
            }
            Ok(list.into_any())
        };
        match &self.values {
            Items::Objects(values) => list(values),
            Items::Array(array) => {
                let slice = PySlice::new(py, range.start as isize, range.end as isize, 1);
                Ok(array.bind(py).get_item(slice)?)
            }
            Items::Arrow { shape, values } => {
                let part = values.bind(py).call_method1(intern!(py, "slice"), (range.start, range.len()))?;
                Ok(shape.bind(py).call_method1(intern!(py, "of"), (part,))?)
            }
            Items::Nested { shape, lists } => {
                Ok(shape.bind(py).call_method1(intern!(py, "of_list"), (list(lists)?,))?)
            }
        }
    }
}

/// Structs: dicts, or objects of the dataclass that the handler's annotation names.
pub struct Structs {
    fields: Vec<(Py<PyString>, Column)>,
    class: Option<Py<PyAny>>,
}

impl Structs {
    pub fn new(py: Python<'_>, array: &ArrayRef, class: Option<&Py<PyAny>>) -> PyResult<Structs> {
        let array = array.as_struct();
        let fields = array
            .fields()
            .iter()
            .zip(array.columns())
            .map(|(field, column)| Ok((PyString::intern(py, field.name()).unbind(), Column::new(py, column, None)?)))
            .collect::<PyResult<_>>()?;
        Ok(Structs { fields, class: class.map(|class| class.clone_ref(py)) })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let dict = PyDict::new(py);
        for (name, column) in &self.fields {
            dict.set_item(name, column.get(py, row)?)?;
        }
        match &self.class {
            Some(class) => Ok(class.bind(py).call((), Some(&dict))?),
            None => Ok(dict.into_any()),
        }
    }
}

/// Maps: dicts, in the order of their entries.
pub struct Maps {
    array: MapArray,
    keys: Box<Column>,
    values: Box<Column>,
}

impl Maps {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Maps> {
        let array = array.as_map().clone();
        let keys = Box::new(Column::new(py, array.keys(), None)?);
        let values = Box::new(Column::new(py, array.values(), None)?);
        Ok(Maps { array, keys, values })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let offsets = self.array.value_offsets();
        let dict = PyDict::new(py);
        for index in offsets[row] as usize..offsets[row + 1] as usize {
            dict.set_item(self.keys.get(py, index)?, self.values.get(py, index)?)?;
        }
        Ok(dict.into_any())
    }
}

/// A dictionary-encoded column.
pub struct Dictionary {
    /// For each row its value, or nothing where there are no values at all.
    keys: Vec<usize>,
    values: Box<Column>,
}

impl Dictionary {
    pub fn new(py: Python<'_>, array: &ArrayRef, class: Option<&Py<PyAny>>) -> PyResult<Dictionary> {
        let array = array.as_any_dictionary();
        let keys = if array.values().is_empty() { Vec::new() } else { array.normalized_keys() };
        Ok(Dictionary { keys, values: Box::new(Column::new(py, array.values(), class)?) })
    }

    pub fn is_null(&self, row: usize) -> bool {
        self.keys.get(row).is_none_or(|key| self.values.is_null(*key))
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        match self.keys.get(row) {
            Some(key) => self.values.get(py, *key),
            None => Ok(py.None().into_bound(py)),
        }
    }
}
