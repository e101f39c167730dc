//! Column functions that look at other rows, natively: such a function is a row function of arrays,
//! called once for a whole column or partition, whose values are the items of its one row.

use crate::function::compiled_of;
use crate::routine::Routine;
use crate::rungs::{Watch, failed, stopped};
use crate::spread::{self, Nulls, Results};
use crate::{CallError, Definition, Function, Invocation, NotNative, OnError, Parameter, Settings, sql};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, ListArray, PrimitiveArray, RecordBatch};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float32Type, Float64Type, Schema};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::status;
use std::sync::Arc;
use std::time::Instant;

/// How many times what its columns take a call may have besides the memory of a row.
const TEMPORARIES: usize = 16;

/// A column function over whole columns.
#[derive(Debug)]
pub(crate) struct Whole {
    function: Function,
}

impl Whole {
    /// The function, if native code can run it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn of(routine: &Routine, settings: &Settings) -> Result<Whole, NotNative> {
        let definition = Definition { columns: vec![], whole: true, ..routine.row_definition()? };
        let code = exuvia_lift::Code::SqlType.code();
        let refuse = |message| Err(NotNative { code: code.to_string(), message, place: None });
        let mut params = Vec::new();
        for (at, param) in definition.params.iter().enumerate() {
            let ty = DataType::List(item(&param.ty));
            if sql::array(&ty, routine.source().annotation(at)).is_none() {
                let name = sql::type_name(&param.ty);
                return refuse(format!(
                    "the parameter {} is no array of DOUBLE, BIGINT or BOOLEAN, but of {name}",
                    param.name
                ));
            }
            params.push(Parameter { name: param.name.clone(), ty });
        }
        let returns = DataType::List(item(&definition.returns));
        let definition = Definition { params, returns, strict: true, on_error: OnError::Raise, ..definition };
        let function = Function::new(definition, routine.source().clone(), None).natively(settings)?;
        Ok(Whole { function })
    }

    /// The text of a stage, for columns without NULL but that of floats.
    ///
    /// # Errors
    /// There is no such stage.
    pub fn dump(&self, stage: &str, settings: &Settings) -> Result<String, String> {
        let cell = self.function.variant(Nulls { rows: false, inner: false }, false, settings);
        compiled_of(&cell).map_or_else(|| Err("not compiled".to_string()), |compiled| compiled.dump(stage))
    }

    /// What a call on the columns of a batch gives; `None` where only CPython knows.
    ///
    /// # Errors
    /// The call was cancelled or took too long.
    pub fn call(
        &self,
        batch: &RecordBatch,
        output: &Fields,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<Option<RecordBatch>, CallError> {
        let function = &self.function;
        let Ok(rows) = i32::try_from(batch.num_rows()) else { return Ok(None) };
        let mut args: Vec<ArrayRef> = Vec::new();
        for (column, param) in batch.columns().iter().zip(&function.definition().params) {
            let DataType::List(item) = &param.ty else { return Ok(None) };
            let Ok(values) = cast(column, item.data_type()) else { return Ok(None) };
            let offsets = OffsetBuffer::new(vec![0, rows].into());
            let Ok(list) = ListArray::try_new(Arc::clone(item), offsets, values, None) else { return Ok(None) };
            args.push(Arc::new(list));
        }
        let mine = function.definition().timeout.and_then(|time| Instant::now().checked_add(time));
        let deadline = [invocation.deadline, mine].into_iter().flatten().min();
        let invocation = Invocation { deadline, ..invocation.clone() };
        let watch = Watch::start(&invocation);
        let args = spread::taken(function, &args);
        let nulls = Nulls::of(function.definition(), &args);
        let cell = function.variant(nulls, false, settings);
        let Some(Ok(stages)) = compiled_of(&cell).map(|compiled| compiled.stages.as_ref()) else { return Ok(None) };
        let Ok(kernel) = &stages.kernel else { return Ok(None) };
        let memory = batch.get_array_memory_size().saturating_mul(TEMPORARIES).saturating_add(settings.row_memory);
        let mut cx = Cx::new(memory, false, Arc::clone(&watch.flag)).with_threads(settings.threads);
        let ran = kernel.run_loop(&spread::columns(&args, nulls), 1, &mut cx);
        let ran = ran.map_err(|error| failed(function, &invocation, error))?;
        match ran.exits.first() {
            Some((_, status::INTERRUPTED)) => return Err(stopped(function, &invocation)),
            Some(_) => return Ok(None),
            None => {}
        }
        let Ok(lists) = Results::of(&function.definition().returns, ran.values).finish() else { return Ok(None) };
        let Some(values) = lists.as_list_opt::<i32>().filter(|lists| lists.is_valid(0)).map(|lists| lists.value(0))
        else {
            return Ok(None);
        };
        let values = if stages.nan_is_null { null_for_nan(values) } else { values };
        let Some(field) = output.first().filter(|_| values.len() == batch.num_rows()) else { return Ok(None) };
        let Ok(values) = cast(&values, field.data_type()) else { return Ok(None) };
        Ok(RecordBatch::try_new(Arc::new(Schema::new(output.clone())), vec![values]).ok())
    }
}

/// Floats with NULL for NaN; others as they are.
fn null_for_nan(values: ArrayRef) -> ArrayRef {
    fn with_nulls<T: ArrowPrimitiveType>(floats: &PrimitiveArray<T>, is_nan: impl Fn(T::Native) -> bool) -> ArrayRef {
        let present = BooleanBuffer::collect_bool(floats.len(), |at| !is_nan(floats.value(at)));
        let nulls = NullBuffer::union(floats.nulls(), Some(&NullBuffer::new(present)));
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Arc::new(PrimitiveArray::<T>::new(floats.values().clone(), nulls))
    }
    match values.data_type() {
        DataType::Float64 => with_nulls::<Float64Type>(values.as_primitive(), |value| value.is_nan()),
        DataType::Float32 => with_nulls::<Float32Type>(values.as_primitive(), |value| value.is_nan()),
        _ => values,
    }
}

fn item(ty: &DataType) -> FieldRef {
    Arc::new(Field::new_list_field(ty.clone(), true))
}
