//! What the operators of calls do with the streams of their inputs.

use super::Registered;
use super::column;
use super::drive::{Event, Fed, Run, Start};
use crate::planning::coerce;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array,
};
use datafusion::arrow::compute::{cast, concat_batches, take_arrays};
use datafusion::arrow::datatypes::{
    BinaryViewType, ByteViewType, DataType, Field, Fields, Schema, SchemaRef, StringViewType,
};
use datafusion::common::{DataFusionError, Result, exec_err, internal_err};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use exuvia_engine::routine::{Takes, plain};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use std::collections::VecDeque;
use std::sync::Arc;

/// What every call needs.
pub(super) struct Base {
    pub(super) registered: Registered,
    pub(super) schema: SchemaRef,
    pub(super) options: ExuviaOptions,
    pub(super) context: Arc<TaskContext>,
    /// How often what is pulled stands in memory: as Arrow's and as Python's.
    pub(super) copies: usize,
}

impl Base {
    fn start(
        &self,
        inputs: Vec<BoxStream<'static, Result<Fed>>>,
        input_fields: Vec<Fields>,
        output: Option<Fields>,
        scalars: Vec<ArrayRef>,
    ) -> Run {
        let name = format!("Python function {}", self.registered.name());
        Run::start(Start {
            routine: Arc::clone(&self.registered.routine),
            inputs,
            input_fields,
            output,
            scalars,
            batch_rows: self.context.session_config().batch_size(),
            options: self.options.clone(),
            reservation: MemoryConsumer::new(name).register(self.context.memory_pool()),
            copies: self.copies,
        })
    }

    /// A batch of the function's as one of the operator's last columns.
    fn given(&self, batch: &RecordBatch, first: usize) -> Result<Vec<ArrayRef>> {
        let fields = self.schema.fields();
        let fields = &fields[fields.len() - (batch.num_columns() - first)..];
        let columns = batch.columns()[first..].iter().zip(fields);
        columns.map(|(column, field)| Ok(cast(column, field.data_type())?)).collect()
    }
}

/// The declared columns of a result as Python is told of them.
fn output_fields(fields: &[Arc<Field>]) -> Fields {
    fields.iter().map(|field| field.as_ref().clone().with_data_type(plain(field.data_type()))).collect()
}

/// A column in the layout that pyarrow and pandas take.
fn as_plain(declared: Option<&DataType>, column: ArrayRef, name: &str) -> Result<ArrayRef> {
    let column = match declared {
        Some(declared) => coerce::check(declared, column)
            .map_err(|message| DataFusionError::Execution(format!("column {name}: {message}")))?,
        None => column,
    };
    let wanted = plain(declared.unwrap_or(column.data_type()));
    if &wanted == column.data_type() { Ok(column) } else { Ok(cast(&column, &wanted)?) }
}

fn batch_of(fields: &Fields, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::new(fields.clone()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// One call with tables.
pub(super) fn table(
    base: Base,
    tables: Vec<SendableRecordBatchStream>,
    visible: Vec<usize>,
    scalars: SendableRecordBatchStream,
    sampled: bool,
) -> BoxStream<'static, Result<RecordBatch>> {
    let started = async move {
        let types = base.registered.value_types();
        let scalars = scalar_values(scalars, &types).await?;
        let params = base.registered.routine.definition().params.iter().filter_map(|param| match &param.takes {
            Takes::Table(columns) => Some(columns.clone()),
            Takes::Value(_) => None,
        });
        let mut inputs: Vec<BoxStream<'static, Result<Fed>>> = vec![];
        let mut input_fields = vec![];
        for ((stream, visible), declared) in tables.into_iter().zip(visible).zip(params) {
            let schema = stream.schema();
            let fields: Fields = schema
                .fields()
                .iter()
                .take(visible)
                .enumerate()
                .map(|(index, field)| {
                    let ty = declared.as_ref().map_or(field.data_type(), |declared| declared[index].data_type());
                    Field::new(field.name(), plain(ty), true)
                })
                .collect();
            input_fields.push(fields.clone());
            let function = base.registered.name().to_string();
            let feed = stream.map(move |batch| {
                let batch = batch?;
                let mut columns = vec![];
                for (index, column) in batch.columns().iter().take(visible).enumerate() {
                    let declared = declared.as_ref().map(|declared| &declared[index]);
                    if declared.is_some_and(|field| !field.is_nullable()) && column.null_count() > 0 {
                        return exec_err!(
                            "{function}: column {} is declared NOT NULL and has a NULL",
                            fields[index].name()
                        );
                    }
                    let ty = declared.map(|field| field.data_type());
                    columns.push(as_plain(ty, Arc::clone(column), fields[index].name())?);
                }
                Ok(Fed { given: batch_of(&fields, columns, batch.num_rows())?, kept: vec![] })
            });
            inputs.push(feed.boxed());
        }
        let mut output = output_fields(base.schema.fields());
        if sampled {
            output = super::sample::marked(&output);
        }
        let run = base.start(inputs, input_fields, Some(output), scalars);
        Ok::<_, DataFusionError>(run.map(move |event| match event? {
            Event::Output(batch) => {
                let columns = base.given(&batch, 0)?;
                Ok(RecordBatch::try_new(Arc::clone(&base.schema), columns)?)
            }
            Event::Pulled(_) => internal_err!("a table that was kept"),
        }))
    };
    futures::stream::once(started).try_flatten().boxed()
}

/// The scalar arguments, of their declared types, out of a stream of one row.
pub(super) async fn scalar_values(stream: SendableRecordBatchStream, types: &[DataType]) -> Result<Vec<ArrayRef>> {
    let batches: Vec<RecordBatch> = stream.try_collect().await?;
    let Some(batch) = batches.into_iter().find(|batch| batch.num_rows() == 1) else {
        return internal_err!("the arguments of a call are no row");
    };
    let columns = batch.columns().iter().zip(types);
    columns.map(|(column, ty)| coerce::check(ty, Arc::clone(column)).map_err(DataFusionError::Execution)).collect()
}

/// A call for each row of the input.
pub(super) fn rows(
    base: Base,
    input: SendableRecordBatchStream,
    args: usize,
    outer: bool,
) -> BoxStream<'static, Result<RecordBatch>> {
    let kept_count = input.schema().fields().len() - args;
    let types = base.registered.value_types();
    let names: Vec<String> =
        base.registered.routine.definition().params.iter().map(|param| param.name.clone()).collect();
    let fields: Fields = names.iter().zip(&types).map(|(name, ty)| Field::new(name, ty.clone(), true)).collect();
    let given_fields = fields.clone();
    let kept_schema: SchemaRef =
        Arc::new(Schema::new(base.schema.fields().iter().take(kept_count).cloned().collect::<Vec<_>>()));
    let feed = input.map(move |batch| {
        let batch = batch?;
        let rows = batch.num_rows();
        let mut columns = vec![];
        for (index, column) in batch.columns()[kept_count..].iter().enumerate() {
            let column = coerce::check(&types[index], Arc::clone(column))
                .map_err(|message| DataFusionError::Execution(format!("argument {}: {message}", names[index])))?;
            // The library reads every layout, but a batch has the schema that was announced.
            columns.push(if column.data_type() == &types[index] { column } else { cast(&column, &types[index])? });
        }
        let kept = batch.columns()[..kept_count].to_vec();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let kept = RecordBatch::try_new_with_options(Arc::clone(&kept_schema), kept, &options)?;
        Ok(Fed { given: batch_of(&given_fields, columns, rows)?, kept: vec![kept] })
    });
    let own = output_fields(&base.schema.fields()[kept_count..]);
    // What a row of NULLs stands for need not fit the declaration.
    let definition = base.registered.routine.definition();
    let declared = definition.returns.clone().unwrap_or_default();
    let own: Fields = own
        .iter()
        .zip(&declared)
        .map(|(field, declared)| {
            let name = if definition.single_values { "" } else { declared.name() };
            field.as_ref().clone().with_name(name).with_nullable(declared.is_nullable())
        })
        .collect();
    let run = base.start(vec![feed.boxed()], vec![fields], Some(own), vec![]);
    let mut joined = Joined { base, outer, current: None, next: 0 };
    let ended = futures::stream::once(async { None });
    let events = run.map(Some).chain(ended);
    events
        .map(move |event| joined.take(event))
        .try_filter_map(|batch| async move { Ok(batch.filter(|batch| batch.num_rows() > 0)) })
        .boxed()
}

/// Puts the rows that a function gives beside the rows that it was given.
struct Joined {
    base: Base,
    outer: bool,
    /// The batch that was pulled last.
    current: Option<RecordBatch>,
    /// Its first row that has not been followed by rows of its own yet.
    next: usize,
}

impl Joined {
    fn take(&mut self, event: Option<Result<Event>>) -> Result<Option<RecordBatch>> {
        match event.transpose()? {
            Some(Event::Output(batch)) => {
                let Some(current) = &self.current else { return internal_err!("rows without a row") };
                let Some(numbers) = batch.column(0).as_any().downcast_ref::<Int64Array>() else {
                    return internal_err!("rows without the number of their row");
                };
                let numbers: Vec<usize> = numbers.values().iter().map(|row| *row as usize).collect();
                let columns = self.base.given(&batch, 1)?;
                let columns = columns.iter();
                let mut given = vec![];
                let mut left = vec![];
                let mut right = vec![];
                for (at, row) in numbers.iter().enumerate() {
                    // Rows of the input in between have no rows of their own.
                    while self.next < *row {
                        if self.outer {
                            left.push(self.next as u32);
                            right.push(None);
                        }
                        self.next += 1;
                    }
                    left.push(*row as u32);
                    right.push(Some(at as u32));
                    self.next = row + 1;
                }
                let pick = UInt32Array::from(right);
                for column in columns {
                    given.push(datafusion::arrow::compute::take(column, &pick, None)?);
                }
                self.batch(current, &UInt32Array::from(left), given).map(Some)
            }
            pulled => {
                let rest = match self.current.take() {
                    Some(current) if self.outer && self.next < current.num_rows() => {
                        let left: UInt32Array = (self.next as u32..current.num_rows() as u32).collect();
                        let fields = self.base.schema.fields().iter().skip(current.num_columns());
                        let nulls = fields.map(|field| new_null_array(field.data_type(), left.len())).collect();
                        Some(self.batch(&current, &left, nulls)?)
                    }
                    _ => None,
                };
                self.next = 0;
                if let Some(Event::Pulled(mut batches)) = pulled {
                    self.current = batches.pop();
                }
                Ok(rest)
            }
        }
    }

    fn batch(&self, current: &RecordBatch, left: &UInt32Array, given: Vec<ArrayRef>) -> Result<RecordBatch> {
        let mut columns = take_arrays(current.columns(), left, None)?;
        columns.extend(given);
        let options = RecordBatchOptions::new().with_row_count(Some(left.len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.base.schema), columns, &options)?)
    }
}

/// Calls with columns: of all rows, of the rows of equal keys, or without keys of each batch.
pub(super) fn columns(
    base: Base,
    input: SendableRecordBatchStream,
    args: Vec<Arc<dyn PhysicalExpr>>,
    keys: Option<Vec<Arc<dyn PhysicalExpr>>>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let types = base.registered.value_types();
    let names: Vec<String> =
        base.registered.routine.definition().params.iter().map(|param| param.name.clone()).collect();
    let fields: Fields = names.iter().zip(&types).map(|(name, ty)| Field::new(name, plain(ty), true)).collect();
    let given_fields = fields.clone();
    let groups: Batches<'static> = match keys {
        None => input.map_ok(|batch| vec![batch]).boxed(),
        Some(keys) => column::groups(input, keys, base.registered.name().to_string(), &base.context),
    };
    let groups = groups.try_filter(|rows| futures::future::ready(rows.iter().any(|batch| batch.num_rows() > 0)));
    let feed = groups.map(move |batches| {
        // Only the arguments become one batch: texts of joined rows would hold on to the
        // buffers of all of them, as often as they are joined.
        let batches = batches?;
        let mut given = vec![];
        for batch in &batches {
            let mut columns = vec![];
            for (index, arg) in args.iter().enumerate() {
                let column = arg.evaluate(batch)?.into_array(batch.num_rows())?;
                columns.push(as_plain(Some(&types[index]), column, &names[index])?);
            }
            given.push(batch_of(&given_fields, columns, batch.num_rows())?);
        }
        let given = match &given[..] {
            [only] => only.clone(),
            _ => concat_batches(&Arc::new(Schema::new(given_fields.clone())), &given)?,
        };
        let kept: Result<Vec<RecordBatch>> = batches.into_iter().map(compact).collect();
        Ok(Fed { given, kept: kept? })
    });
    // It has no name, as a value has none.
    let own = output_fields(&base.schema.fields()[base.schema.fields().len() - 1..]);
    let own: Fields = own.iter().map(|field| field.as_ref().clone().with_name("")).collect();
    let run = base.start(vec![feed.boxed()], vec![fields], Some(own), vec![]);
    let batch_rows = base.context.session_config().batch_size();
    let mut aligned = Aligned { base, waiting: VecDeque::new(), batch_rows };
    run.map(Some)
        .chain(futures::stream::once(async { None }))
        .map(move |event| aligned.take(event))
        .map(|batches| match batches {
            Ok(batches) => futures::stream::iter(batches.into_iter().map(Ok)).left_stream(),
            Err(error) => futures::stream::once(async { Err(error) }).right_stream(),
        })
        .flatten()
        .boxed()
}

/// Puts the values that a function gives beside the rows that it was given, in order.
struct Aligned {
    base: Base,
    /// Rows that wait for their values.
    waiting: VecDeque<RecordBatch>,
    batch_rows: usize,
}

impl Aligned {
    fn take(&mut self, event: Option<Result<Event>>) -> Result<Vec<RecordBatch>> {
        match event.transpose()? {
            Some(Event::Pulled(batches)) => {
                self.waiting.extend(batches);
                Ok(vec![])
            }
            Some(Event::Output(batch)) => {
                let column = self.base.given(&batch, 0)?.remove(0);
                let mut out = vec![];
                let mut at = 0;
                while at < column.len() {
                    let Some(rows) = self.waiting.pop_front() else {
                        return exec_err!(
                            "{} has given more values than it was given rows",
                            self.base.registered.name()
                        );
                    };
                    let count = rows.num_rows().min(column.len() - at).min(self.batch_rows);
                    if count < rows.num_rows() {
                        self.waiting.push_front(rows.slice(count, rows.num_rows() - count));
                    }
                    let mut columns = rows.slice(0, count).columns().to_vec();
                    columns.push(column.slice(at, count));
                    out.push(RecordBatch::try_new(Arc::clone(&self.base.schema), columns)?);
                    at += count;
                }
                Ok(out)
            }
            None if self.waiting.is_empty() => Ok(vec![]),
            None => {
                let left: usize = self.waiting.iter().map(RecordBatch::num_rows).sum();
                exec_err!("{} has ended without values for {left} rows", self.base.registered.name())
            }
        }
    }
}

/// Buffers of text that a column may hold on to before its own texts are copied out.
const BUFFERS: usize = 16;

/// The rows without the buffers of other rows: a sort leaves those of all its input to each
/// of its batches, and a sort of those again.
fn compact(batch: RecordBatch) -> Result<RecordBatch> {
    fn own<T: ByteViewType>(column: &ArrayRef) -> ArrayRef {
        let views = column.as_byte_view::<T>();
        if views.data_buffers().len() > BUFFERS { Arc::new(views.gc()) } else { Arc::clone(column) }
    }
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View => own::<StringViewType>(column),
        DataType::BinaryView => own::<BinaryViewType>(column),
        _ => Arc::clone(column),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &options)?)
}

/// Rows that belong together, in as many batches as they came.
pub(super) type Batches<'a> = BoxStream<'a, Result<Vec<RecordBatch>>>;
