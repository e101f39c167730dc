//! Lists, structs and maps out of Python's.

use super::{Column, ResultError, Taken, fits};
use crate::failure::{class_name, shown};
use arrow::array::{ArrayRef, FixedSizeListArray, LargeListArray, ListArray, MapArray, NullBufferBuilder, StructArray};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use exuvia_ir::excerpt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::sync::Arc;

/// A child column; it refuses None where its field is not nullable.
struct Child {
    column: Column,
    nullable: bool,
}

impl Child {
    fn new(py: Python<'_>, field: &Field, rows: usize) -> PyResult<Child> {
        Ok(Child { column: Column::new(py, field.data_type(), rows)?, nullable: field.is_nullable() })
    }

    fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        if !self.nullable && value.is_none() {
            return Err(ResultError::Refused);
        }
        self.column.push(value)
    }

    /// A part of another value, which an error names by its path there.
    fn push_part(&mut self, value: &Bound<'_, PyAny>, path: impl FnOnce() -> String) -> Taken {
        self.push(value).map_err(|error| error.within(path, value))
    }
}

/// A column of lists.
pub struct Lists {
    field: FieldRef,
    child: Box<Child>,
    ends: Ends,
    nulls: NullBufferBuilder,
}

enum Ends {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
    Fixed(i32),
}

impl Lists {
    pub fn new(py: Python<'_>, ty: &DataType, rows: usize) -> PyResult<Lists> {
        let (field, ends) = match ty {
            DataType::List(field) => (field, Ends::Narrow(vec![0])),
            DataType::LargeList(field) => (field, Ends::Wide(vec![0])),
            DataType::FixedSizeList(field, size) => (field, Ends::Fixed(*size)),
            _ => return Err(pyo3::exceptions::PyTypeError::new_err(format!("{ty} is no list"))),
        };
        Ok(Lists {
            field: field.clone(),
            child: Box::new(Child::new(py, field, rows)?),
            ends,
            nulls: NullBufferBuilder::new(rows),
        })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let mut length = 0usize;
        if let Ok(list) = value.cast::<PyList>() {
            self.has_room(list.len())?;
            for item in list {
                self.child.push_part(&item, || format!("[{length}]"))?;
                length += 1;
            }
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.has_room(tuple.len())?;
            for item in tuple {
                self.child.push_part(&item, || format!("[{length}]"))?;
                length += 1;
            }
        } else if let Some(list) = listed(value)? {
            return self.push(&list);
        } else {
            return Err(ResultError::Refused);
        }
        self.end(length)?;
        self.nulls.append_non_null();
        Ok(())
    }

    /// How many elements its lists have.
    fn elements(&self) -> usize {
        match &self.ends {
            Ends::Narrow(ends) => ends.last().map_or(0, |end| *end as usize),
            Ends::Wide(ends) => ends.last().map_or(0, |end| *end as usize),
            Ends::Fixed(size) => self.nulls.len() * *size as usize,
        }
    }

    /// Whether a batch may have so many elements more, of eight bytes.
    fn has_room(&self, more: usize) -> Taken {
        fits(8 * self.elements(), 8 * more)
    }

    /// [`Column::variable_bytes`], with eight bytes for each element.
    pub fn variable_bytes(&self) -> usize {
        8 * self.elements() + self.child.column.variable_bytes()
    }

    fn end(&mut self, length: usize) -> Taken {
        match &mut self.ends {
            Ends::Narrow(ends) => {
                let last = ends.last().map_or(0, |end| *end as usize);
                ends.push(i32::try_from(last + length).map_err(|_| ResultError::Full)?);
            }
            Ends::Wide(ends) => {
                let last = ends.last().copied().unwrap_or(0);
                ends.push(last + length as i64);
            }
            Ends::Fixed(size) if *size as usize == length => {}
            Ends::Fixed(_) => return Err(ResultError::Refused),
        }
        Ok(())
    }

    pub fn push_null(&mut self) {
        self.nulls.append_null();
        match &mut self.ends {
            Ends::Narrow(ends) => ends.push(ends.last().copied().unwrap_or(0)),
            Ends::Wide(ends) => ends.push(ends.last().copied().unwrap_or(0)),
            Ends::Fixed(size) => (0..*size).for_each(|_| self.child.column.push_null()),
        }
    }

    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let (values, nulls) = (self.child.column.finish()?, self.nulls.finish());
        Ok(match self.ends {
            Ends::Narrow(ends) => {
                Arc::new(ListArray::try_new(self.field, OffsetBuffer::new(ScalarBuffer::from(ends)), values, nulls)?)
            }
            Ends::Wide(ends) => Arc::new(LargeListArray::try_new(
                self.field,
                OffsetBuffer::new(ScalarBuffer::from(ends)),
                values,
                nulls,
            )?),
            Ends::Fixed(size) => Arc::new(FixedSizeListArray::try_new(self.field, size, values, nulls)?),
        })
    }
}

/// The list of an ndarray or a Series, whose items are Python's own numbers and texts.
fn listed<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let array = value.hasattr(intern!(py, "dtype"))? && value.hasattr(intern!(py, "shape"))?;
    if !array || !value.hasattr(intern!(py, "tolist"))? {
        return Ok(None);
    }
    let list = in_microseconds(value)?.call_method0(intern!(py, "tolist"))?;
    // Of rank 0 it is a number.
    Ok(list.is_instance_of::<PyList>().then_some(list))
}

/// An array of times in microseconds, where it has no finer ones: of nanoseconds NumPy makes
/// numbers, and datetime has none.
fn in_microseconds<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let unit = value.getattr(intern!(py, "dtype"))?.str()?;
    let coarser = match unit.to_str().unwrap_or_default() {
        "datetime64[ns]" => "datetime64[us]",
        "timedelta64[ns]" => "timedelta64[us]",
        _ => return Ok(value.clone()),
    };
    if class_name(value) != "ndarray" {
        return Ok(value.clone());
    }
    let whole = value.call_method1(intern!(py, "astype"), (coarser,))?;
    let missing = py.import("numpy")?.call_method1("isnat", (value,))?;
    let equal = whole.call_method1("__eq__", (value,))?.call_method1("__or__", (missing,))?;
    Ok(if equal.call_method0("all")?.is_truthy()? { whole } else { value.clone() })
}

/// The number that an ndarray of rank 0 holds.
pub fn number_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if class_name(value) != "ndarray" || value.getattr(intern!(py, "ndim"))?.ne(0)? {
        return Ok(None);
    }
    // Indexing by () gives NumPy's scalar, which counts as its base.
    value.get_item(PyTuple::empty(py)).map(Some)
}

/// A column of structs, out of dicts whose keys are the fields' names in any order, of objects
/// of a dataclass with these fields, or of tuples and lists of as many items, in the order of the
/// fields; a named tuple goes by its names where they are those of the fields.
pub struct Structs {
    fields: Fields,
    names: Vec<Py<PyString>>,
    children: Vec<Child>,
    nulls: NullBufferBuilder,
    rows: usize,
}

impl Structs {
    pub fn new(py: Python<'_>, fields: &Fields, rows: usize) -> PyResult<Structs> {
        Ok(Structs {
            fields: fields.clone(),
            names: fields.iter().map(|field| PyString::intern(py, field.name()).unbind()).collect(),
            children: fields.iter().map(|field| Child::new(py, field, rows)).collect::<PyResult<_>>()?,
            nulls: NullBufferBuilder::new(rows),
            rows: 0,
        })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let py = value.py();
        if let Ok(dict) = value.cast::<PyDict>() {
            for ((field, name), child) in self.fields.iter().zip(&self.names).zip(&mut self.children) {
                let path = || format!("['{}']", field.name());
                let value = dict.get_item(name)?.ok_or_else(|| ResultError::at(path(), "is missing"))?;
                child.push_part(&value, path)?;
            }
            if dict.len() > self.names.len() {
                return Err(self.no_field(dict)?);
            }
        } else if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            let items = value.cast::<PyTuple>().ok().cloned();
            let items = items.map_or_else(|| Ok(value.cast::<PyList>()?.to_tuple()), Ok::<_, PyErr>)?;
            if items.len() != self.names.len() {
                return Err(ResultError::at("", format!("has {} items for {} fields", items.len(), self.names.len())));
            }
            let named = match value.get_type().getattr_opt(intern!(py, "_fields"))? {
                Some(own) => self.order(&own)?,
                None => None,
            };
            for (at, child) in self.children.iter_mut().enumerate() {
                let at = named.as_ref().map_or(at, |order| order[at]);
                let item = items.get_item(at)?;
                child.push_part(&item, || format!("[{at}]"))?;
            }
        } else {
            let own = value.get_type().getattr_opt(intern!(py, "__dataclass_fields__"))?;
            let own = own.ok_or(ResultError::Refused)?;
            let own = own.cast::<PyDict>().map_err(|_| ResultError::Refused)?;
            for ((field, name), child) in self.fields.iter().zip(&self.names).zip(&mut self.children) {
                let path = || format!(".{}", field.name());
                if !own.contains(name)? {
                    return Err(ResultError::at(path(), "is missing"));
                }
                let value = value.getattr(name)?;
                child.push_part(&value, path)?;
            }
            if own.len() > self.names.len() {
                return Err(self.no_field(own)?);
            }
        }
        self.nulls.append_non_null();
        self.rows += 1;
        Ok(())
    }

    /// The error for the first key that is no field.
    fn no_field(&self, own: &Bound<'_, PyDict>) -> PyResult<ResultError> {
        for (key, _) in own {
            let mut known = false;
            for name in &self.names {
                known |= key.eq(name)?;
            }
            if !known {
                return Ok(ResultError::at("", format!("has {}, which is no field", excerpt(&shown(&key).0))));
            }
        }
        Ok(ResultError::Refused)
    }

    /// For each field the place of its name among the names of a named tuple, if it has all.
    fn order(&self, own: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
        let Ok(own) = own.cast::<PyTuple>() else { return Ok(None) };
        let place = |name: &Py<PyString>| own.index(name).ok().filter(|at| *at < self.names.len());
        Ok(self.names.iter().map(place).collect())
    }

    pub fn push_null(&mut self) {
        self.nulls.append_null();
        self.rows += 1;
        for child in &mut self.children {
            child.column.push_null();
        }
    }

    /// [`Column::variable_bytes`].
    pub fn variable_bytes(&self) -> usize {
        self.children.iter().map(|child| child.column.variable_bytes()).sum()
    }

    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        let columns = self.children.into_iter().map(|child| child.column.finish()).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(StructArray::try_new_with_length(self.fields, columns, nulls, self.rows)?))
    }
}

/// A column of maps, out of dicts.
pub struct Maps {
    entries: FieldRef,
    fields: Fields,
    key: Box<Child>,
    value: Box<Child>,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Maps {
    pub fn new(py: Python<'_>, entries: &FieldRef, rows: usize) -> PyResult<Maps> {
        let malformed = || pyo3::exceptions::PyTypeError::new_err("a map without keys and values");
        let DataType::Struct(fields) = entries.data_type() else {
            return Err(malformed());
        };
        let [key, value] = &fields[..] else {
            return Err(malformed());
        };
        let mut key = Child::new(py, key, rows)?;
        key.nullable = false;
        Ok(Maps {
            entries: entries.clone(),
            fields: fields.clone(),
            key: Box::new(key),
            value: Box::new(Child::new(py, value, rows)?),
            ends: vec![0],
            nulls: NullBufferBuilder::new(rows),
        })
    }

    pub fn push(&mut self, value: &Bound<'_, PyAny>) -> Taken {
        let dict = value.cast::<PyDict>().map_err(|_| ResultError::Refused)?;
        let mut count = 0;
        if dict.is_exact_instance_of::<PyDict>() {
            for (key, value) in dict {
                self.push_entry(&key, &value)?;
                count += 1;
            }
        } else {
            // An OrderedDict may have another order than the dict that it is.
            let items = dict.as_any().call_method0("items").and_then(|items| items.try_iter());
            for item in items.map_err(|_| ResultError::Refused)? {
                let entry: PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = item.and_then(|item| item.extract());
                let (key, value) = entry.map_err(|_| ResultError::Refused)?;
                self.push_entry(&key, &value)?;
                count += 1;
            }
        }
        let last = self.ends.last().map_or(0, |end| *end as usize);
        self.ends.push(i32::try_from(last + count).map_err(|_| ResultError::Full)?);
        self.nulls.append_non_null();
        Ok(())
    }

    fn push_entry(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Taken {
        self.key.push(key).map_err(|error| match error {
            ResultError::Refused => {
                let (repr, class) = shown(key);
                ResultError::at("", format!("has a key {} of type {class}", excerpt(&repr)))
            }
            other => other,
        })?;
        self.value.push_part(value, || format!("[{}]", excerpt(&shown(key).0)))
    }

    pub fn push_null(&mut self) {
        self.nulls.append_null();
        self.ends.push(self.ends.last().copied().unwrap_or(0));
    }

    /// [`Column::variable_bytes`], with eight bytes for each entry.
    pub fn variable_bytes(&self) -> usize {
        let entries = self.ends.last().map_or(0, |end| *end as usize);
        8 * entries + self.key.column.variable_bytes() + self.value.column.variable_bytes()
    }

    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let entries =
            StructArray::try_new(self.fields, vec![self.key.column.finish()?, self.value.column.finish()?], None)?;
        let ends = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        Ok(Arc::new(MapArray::try_new(self.entries, ends, entries, self.nulls.finish(), false)?))
    }
}
