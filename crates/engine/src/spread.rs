//! Columns of nested types as native code and the evaluator take and give them.
//!
//! An argument that is a STRUCT is spread over columns: whether there is one, where it can be NULL,
//! and those of its fields ([`exuvia_lift::SqlClass::spread`]); a result over whether there is one
//! and its fields. All others are one column.

use crate::{Definition, Function, sql};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, ListArray, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType, Fields, Float64Type};
use exuvia_ir::Object;
use exuvia_jit::{Misfit, Partial, RunError};
use std::sync::Arc;

/// Whether a function takes or gives values that are made of others.
pub(crate) fn is_nested(definition: &Definition) -> bool {
    let mut types = definition.params.iter().map(|param| &param.ty).chain([&definition.returns]);
    types.any(DataType::is_nested)
}

/// Whether arguments or the result of a function are spread over several columns: native code
/// cannot tell which rows of them are NULL as a whole.
pub(crate) fn is_spread(definition: &Definition) -> bool {
    let mut types = definition.params.iter().map(|param| &param.ty).chain([&definition.returns]);
    types.any(|ty| matches!(ty, DataType::Struct(_)))
}

/// Where the arguments of a function can be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Nulls {
    /// An argument: of a strict function NULL is none.
    pub rows: bool,
    /// What an argument holds.
    pub inner: bool,
}

impl Nulls {
    /// Everywhere that the types allow, or nowhere.
    pub fn anywhere(definition: &Definition, nullable: bool) -> Nulls {
        let holds = definition.params.iter().any(|param| param.ty.is_nested());
        Nulls { rows: nullable && !definition.strict, inner: nullable && holds }
    }

    /// Where they are in a batch.
    pub fn of(definition: &Definition, args: &[ArrayRef]) -> Nulls {
        Nulls {
            rows: !definition.strict && args.iter().any(|array| array.logical_null_count() > 0),
            inner: args.iter().any(holds_nulls),
        }
    }
}

/// The arguments of a function as it takes them: what is NULL in an array of floats of NumPy's is NaN there,
/// and a MAP is a list of its entries.
pub(crate) fn taken(function: &Function, args: &[ArrayRef]) -> Vec<ArrayRef> {
    let params = function.definition().params.iter().enumerate();
    let taken = args.iter().zip(params).map(|(array, (at, param))| match param.ty {
        DataType::List(_) if sql::array(&param.ty, function.source().annotation(at)).is_some() => nan_for_null(array),
        _ if sql::holds_maps(array.data_type()) => {
            sql::with_type(array, &sql::without_maps(array.data_type())).unwrap_or_else(|_| Arc::clone(array))
        }
        _ => Arc::clone(array),
    });
    taken.collect()
}

/// Lists of floats with NaN for NULL; others as they are.
fn nan_for_null(lists: &ArrayRef) -> ArrayRef {
    let DataType::List(field) = lists.data_type() else { return Arc::clone(lists) };
    let lists = lists.as_list::<i32>();
    let values = match field.data_type() {
        DataType::List(_) => nan_for_null(lists.values()),
        DataType::Float64 if lists.values().null_count() > 0 => {
            let floats = lists.values().as_primitive::<Float64Type>();
            let mut values = floats.values().to_vec();
            let nulls = floats.nulls().map(|nulls| !nulls.inner());
            nulls.iter().flat_map(BooleanBuffer::set_indices).for_each(|at| values[at] = f64::NAN);
            Arc::new(Float64Array::from(values))
        }
        _ => Arc::clone(lists.values()),
    };
    let filled = ListArray::try_new(Arc::clone(field), lists.offsets().clone(), values, lists.nulls().cloned());
    filled.map_or_else(|_| Arc::new(lists.clone()) as ArrayRef, |filled| Arc::new(filled))
}

/// The types of the columns over which the arguments are spread.
pub(crate) fn types(definition: &Definition, nulls: Nulls) -> Vec<DataType> {
    let mut out = Vec::new();
    for param in &definition.params {
        types_of(&sql::without_maps(&param.ty), nulls.rows, nulls.inner, &mut out);
    }
    out
}

fn types_of(ty: &DataType, nullable: bool, inner: bool, out: &mut Vec<DataType>) {
    match ty {
        DataType::Struct(fields) => {
            out.extend(nullable.then_some(DataType::Boolean));
            fields.iter().for_each(|field| types_of(field.data_type(), inner, inner, out));
        }
        other => out.push(other.clone()),
    }
}

/// The columns over which arguments are spread.
pub(crate) fn columns(args: &[ArrayRef], nulls: Nulls) -> Vec<ArrayRef> {
    let mut out = Vec::new();
    for array in args {
        columns_of(array, nulls.rows, nulls.inner, &mut out);
    }
    out
}

fn columns_of(array: &ArrayRef, nullable: bool, inner: bool, out: &mut Vec<ArrayRef>) {
    let Some(values) = array.as_struct_opt() else {
        out.push(Arc::clone(array));
        return;
    };
    if nullable {
        let exists = match array.nulls() {
            Some(nulls) => nulls.inner().clone(),
            None => BooleanBuffer::new_set(array.len()),
        };
        out.push(Arc::new(BooleanArray::new(exists, None)));
    }
    values.columns().iter().for_each(|column| columns_of(column, inner, inner, out));
}

/// Whether something that the values of a column hold is NULL.
fn holds_nulls(array: &ArrayRef) -> bool {
    let has_nulls = |array: &ArrayRef| array.logical_null_count() > 0 || holds_nulls(array);
    match array.data_type() {
        DataType::Struct(_) => array.as_struct().columns().iter().any(has_nulls),
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let (first, last) = (lists.offsets()[0] as usize, lists.offsets()[lists.len()] as usize);
            has_nulls(&lists.values().slice(first, last - first))
        }
        // Other layouts of lists are not looked into.
        other => other.is_nested(),
    }
}

/// The types of the columns over which a result is spread.
pub(crate) fn results(ty: &DataType) -> Vec<DataType> {
    results_of(&sql::without_maps(ty))
}

fn results_of(ty: &DataType) -> Vec<DataType> {
    match ty {
        DataType::Struct(fields) => std::iter::once(DataType::Boolean)
            .chain(fields.iter().flat_map(|field| results_of(field.data_type())))
            .collect(),
        other => vec![other.clone()],
    }
}

/// The results of a batch while some rows are missing.
#[derive(Debug)]
pub(crate) struct Results {
    ty: DataType,
    columns: Vec<Partial>,
}

impl Results {
    /// A column of NULLs; `None` for a type that no function returns.
    pub fn new(ty: &DataType, rows: usize) -> Option<Results> {
        let columns = results(ty).iter().map(|ty| Partial::new(ty, rows)).collect::<Option<_>>()?;
        Some(Results { ty: ty.clone(), columns })
    }

    /// What a kernel gave.
    pub fn of(ty: &DataType, columns: Vec<Partial>) -> Results {
        Results { ty: ty.clone(), columns }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Partial::rows)
    }

    /// Sets a row's result.
    pub fn set(&mut self, row: usize, object: &Object) -> Result<(), Misfit> {
        match (&self.ty, object, &mut self.columns[..]) {
            (DataType::Struct(_), Object::Tuple(items), columns) if items.len() == columns.len() => {
                columns.iter_mut().zip(items.iter()).try_for_each(|(column, item)| column.set(row, item))
            }
            (DataType::Struct(_), ..) => Err(Misfit::Class),
            (_, object, [column]) => column.set(row, object),
            _ => Err(Misfit::Class),
        }
    }

    /// The column.
    pub fn finish(self) -> Result<ArrayRef, RunError> {
        let rows = self.rows();
        let columns = self.columns.into_iter().map(Partial::finish).collect::<Result<Vec<_>, _>>()?;
        let array = joined(&sql::without_maps(&self.ty), rows, &mut columns.into_iter())?;
        sql::with_type(&array, &self.ty).map_err(|error| RunError::Argument(error.to_string()))
    }
}

fn joined(ty: &DataType, rows: usize, columns: &mut dyn Iterator<Item = ArrayRef>) -> Result<ArrayRef, RunError> {
    let missing = || RunError::Argument("a result without all its columns".to_string());
    let column = columns.next().ok_or_else(missing)?;
    match ty {
        DataType::Struct(fields) => {
            let exists = column.as_boolean_opt().ok_or_else(missing)?;
            let exists: BooleanBuffer = (0..rows).map(|row| exists.is_valid(row) && exists.value(row)).collect();
            structs(fields, rows, exists, columns)
        }
        _ => Ok(column),
    }
}

fn structs(
    fields: &Fields,
    rows: usize,
    exists: BooleanBuffer,
    columns: &mut dyn Iterator<Item = ArrayRef>,
) -> Result<ArrayRef, RunError> {
    let mut values = Vec::new();
    for field in fields {
        values.push(joined(field.data_type(), rows, columns)?);
    }
    let nulls = Some(NullBuffer::new(exists)).filter(|nulls| nulls.null_count() > 0);
    let array = StructArray::try_new_with_length(fields.clone(), values, nulls, rows);
    array.map(|array| Arc::new(array) as ArrayRef).map_err(|error| RunError::Argument(error.to_string()))
}
