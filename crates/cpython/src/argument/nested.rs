//! Lists, structs and maps as Python's, and columns that name values by key.

use super::{Column, Made};
use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
};
use arrow::datatypes::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::ops::Range;

/// Lists of every layout.
pub struct Lists {
    values: Box<Column>,
    range: Box<dyn Fn(usize) -> Range<usize>>,
}

impl Lists {
    pub fn new(py: Python<'_>, array: &ArrayRef) -> PyResult<Lists> {
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
        Ok(Lists { values: Box::new(Column::new(py, values, None)?), range })
    }

    pub fn get<'py>(&self, py: Python<'py>, row: usize) -> Made<'py> {
        let list = PyList::empty(py);
        for index in (self.range)(row) {
            list.append(self.values.get(py, index)?)?;
        }
        Ok(list.into_any())
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
