//! The operators of calls on tables, columns and rows.

use super::call::{Generate, TableCall};
use super::column::ColumnCall;
use super::drive::{Event, Fed, Run, Start};
use super::{Registered, column};
use crate::coerce;
use crate::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array,
};
use datafusion::arrow::compute::{cast, concat_batches, take_arrays};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, exec_err, internal_err};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, LexRequirement, OrderingRequirements, Partitioning, PhysicalExpr,
    PhysicalSortExpr, create_physical_sort_exprs,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use exuvia_engine::routine::{Kind, Takes, plain};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Plans the calls of this folder.
#[derive(Debug)]
pub(crate) struct RoutinePlanner;

#[async_trait]
impl ExtensionPlanner for RoutinePlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let any = node.as_any();
        // Those of the query: at run time the context knows the session's only.
        let options = ExuviaOptions::of(session.config_options());
        let schema: SchemaRef = Arc::new(node.schema().as_arrow().clone());
        let props = session.execution_props();
        if let Some(call) = any.downcast_ref::<TableCall>() {
            let mut orders = vec![];
            for (table, plan) in call.tables.iter().zip(logical) {
                orders.push(create_physical_sort_exprs(&table.order, plan.schema(), props, context)?);
            }
            let what = What::Table {
                visible: call.tables.iter().map(|table| table.visible).collect(),
                orders,
                sampled: call.sampled,
            };
            return Ok(Some(RoutineExec::over(call.registered.clone(), what, inputs.to_vec(), schema, options)));
        }
        if let Some(generate) = any.downcast_ref::<Generate>() {
            let what = What::Rows { args: generate.args, outer: generate.outer };
            return Ok(Some(RoutineExec::over(generate.registered.clone(), what, inputs.to_vec(), schema, options)));
        }
        if let Some(call) = any.downcast_ref::<ColumnCall>()
            && let [plan] = logical
        {
            let mut keys = vec![];
            for key in &call.partition {
                keys.push(planner.create_physical_expr(key, plan.schema(), session, context)?);
            }
            let mut args = vec![];
            for arg in &call.args {
                args.push(planner.create_physical_expr(arg, plan.schema(), session, context)?);
            }
            let order = create_physical_sort_exprs(&call.order, plan.schema(), props, context)?;
            let what = What::Column { args, keys, order };
            return Ok(Some(RoutineExec::over(call.registered.clone(), what, inputs.to_vec(), schema, options)));
        }
        Ok(None)
    }
}

/// What an operator does.
#[derive(Clone, Debug)]
enum What {
    /// One call with tables, the last input being the scalars.
    Table { visible: Vec<usize>, orders: Vec<Vec<PhysicalSortExpr>>, sampled: bool },
    /// A call for each row.
    Rows { args: usize, outer: bool },
    /// A call for all rows, for each partition of equal keys, or for each batch.
    Column { args: Vec<Arc<dyn PhysicalExpr>>, keys: Vec<Arc<dyn PhysicalExpr>>, order: Vec<PhysicalSortExpr> },
}

/// Calls of a function that runs in CPython over streams of batches.
#[derive(Debug)]
pub(crate) struct RoutineExec {
    registered: Registered,
    what: What,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    schema: SchemaRef,
    /// Those of the query.
    options: ExuviaOptions,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl RoutineExec {
    fn over(
        registered: Registered,
        what: What,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        schema: SchemaRef,
        options: ExuviaOptions,
    ) -> Arc<dyn ExecutionPlan> {
        let mut equivalence = EquivalenceProperties::new(Arc::clone(&schema));
        let (partitioning, emission, boundedness) = match (&what, &inputs[..]) {
            (What::Table { .. }, _) => {
                (Partitioning::UnknownPartitioning(1), EmissionType::Final, Boundedness::Bounded)
            }
            (What::Rows { .. }, [input, ..]) => (
                Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
                EmissionType::Incremental,
                input.boundedness(),
            ),
            // The rows come as they are, with one more column behind.
            (What::Column { .. }, [input, ..]) => {
                if let Some(order) = input.output_ordering() {
                    equivalence.add_ordering(order.clone());
                }
                (input.output_partitioning().clone(), EmissionType::Final, input.boundedness())
            }
            (_, []) => (Partitioning::UnknownPartitioning(1), EmissionType::Final, Boundedness::Bounded),
        };
        let properties = Arc::new(PlanProperties::new(equivalence, partitioning, emission, boundedness));
        Arc::new(RoutineExec {
            registered,
            what,
            inputs,
            schema,
            options,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// Whether a call sees all rows of the input.
    fn whole(&self) -> bool {
        match &self.what {
            What::Table { .. } => true,
            What::Rows { .. } => false,
            What::Column { keys, .. } => keys.is_empty() && !self.by_batch(),
        }
    }

    fn by_batch(&self) -> bool {
        self.registered.by_batch || self.registered.routine.kind() == Kind::Iterator
    }
}

impl DisplayAs for RoutineExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.registered.name();
        match &self.what {
            What::Table { .. } => write!(f, "PythonTableExec: {name}"),
            What::Rows { outer, .. } => write!(f, "PythonRowsExec: {name}{}", if *outer { ", outer" } else { "" }),
            What::Column { args, keys, .. } => {
                let show = |exprs: &[Arc<dyn PhysicalExpr>]| {
                    exprs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                write!(f, "PythonColumnExec: {name}({})", show(args))?;
                if self.by_batch() {
                    return f.write_str(", one call a batch");
                }
                match keys.is_empty() {
                    true => f.write_str(", whole column"),
                    false => write!(f, ", one call a partition by [{}]", show(keys)),
                }
            }
        }
    }
}

impl ExecutionPlan for RoutineExec {
    fn name(&self) -> &'static str {
        match &self.what {
            What::Table { .. } => "PythonTableExec",
            What::Rows { .. } => "PythonRowsExec",
            What::Column { .. } => "PythonColumnExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        let one = match &self.what {
            What::Table { .. } => Distribution::SinglePartition,
            What::Rows { .. } => Distribution::UnspecifiedDistribution,
            What::Column { .. } if self.by_batch() => Distribution::UnspecifiedDistribution,
            What::Column { keys, .. } if keys.is_empty() => Distribution::SinglePartition,
            What::Column { keys, .. } => Distribution::KeyPartitioned(keys.clone()),
        };
        vec![one; self.inputs.len()]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let required = |order: Vec<PhysicalSortExpr>| {
            LexOrdering::new(order).map(|order| OrderingRequirements::from(LexRequirement::from(order)))
        };
        match &self.what {
            What::Table { orders, .. } => {
                let orders = orders.iter().map(|order| required(order.clone()));
                orders.chain([None]).take(self.inputs.len()).collect()
            }
            What::Rows { .. } => vec![None; self.inputs.len()],
            What::Column { keys, order, .. } => {
                let keys = keys.iter().map(|key| PhysicalSortExpr::new_default(Arc::clone(key)));
                vec![required(keys.chain(order.iter().cloned()).collect()); self.inputs.len()]
            }
        }
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        // Nobody may sort below that which depends on the order of its rows.
        vec![false; self.inputs.len()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        // Python has one lock. But where rows of equal keys belong together, DataFusion may
        // divide the input further, and divides it by the keys only if this is true.
        vec![matches!(&self.what, What::Column { keys, .. } if !keys.is_empty()); self.inputs.len()]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut visited = TreeNodeRecursion::Continue;
        if let What::Column { args, keys, order } = &self.what {
            for expr in args.iter().chain(keys).chain(order.iter().map(|sort| &sort.expr)) {
                visited = f(expr)?;
                if visited == TreeNodeRecursion::Stop {
                    break;
                }
            }
        }
        Ok(visited)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.len() != self.inputs.len() {
            return internal_err!("an operator of Python calls was given another number of inputs");
        }
        Ok(RoutineExec::over(
            self.registered.clone(),
            self.what.clone(),
            children,
            Arc::clone(&self.schema),
            self.options.clone(),
        ))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let base = Base {
            registered: self.registered.clone(),
            schema: Arc::clone(&self.schema),
            options: self.options.clone(),
            context: Arc::clone(&context),
            copies: if self.whole() { 2 } else { 0 },
        };
        let streams = |inputs: &[Arc<dyn ExecutionPlan>]| -> Result<Vec<SendableRecordBatchStream>> {
            inputs.iter().map(|input| input.execute(partition, Arc::clone(&context))).collect()
        };
        let stream: BoxStream<'static, Result<RecordBatch>> = match (&self.what, &self.inputs[..]) {
            (What::Table { visible, sampled, .. }, [tables @ .., scalars]) => {
                let (tables, scalars) = (streams(tables)?, scalars.execute(0, Arc::clone(&context))?);
                table(base, tables, visible.clone(), scalars, *sampled)
            }
            (What::Rows { args, outer }, [_]) => rows(base, streams(&self.inputs)?.remove(0), *args, *outer),
            (What::Column { args, keys, .. }, [_]) => {
                let input = streams(&self.inputs)?.remove(0);
                let keys = if self.by_batch() { None } else { Some(keys.clone()) };
                columns(base, input, args.clone(), keys)
            }
            _ => return internal_err!("an operator of Python calls without its inputs"),
        };
        let stream = stream.map(move |batch| {
            let _timer = metrics.elapsed_compute().timer();
            batch.inspect(|batch| metrics.output_rows().add(batch.num_rows()))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }
}

/// What every call needs.
struct Base {
    registered: Registered,
    schema: SchemaRef,
    options: ExuviaOptions,
    context: Arc<TaskContext>,
    /// How often what is pulled stands in memory: as Arrow's and as Python's.
    copies: usize,
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
fn table(
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
fn rows(
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
fn columns(
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
    let many = |column: &ArrayRef| match column.data_type() {
        DataType::Utf8View => column.as_string_view().data_buffers().len() > BUFFERS,
        DataType::BinaryView => column.as_binary_view().data_buffers().len() > BUFFERS,
        _ => false,
    };
    if !batch.columns().iter().any(many) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View if many(column) => Arc::new(column.as_string_view().gc()) as ArrayRef,
        DataType::BinaryView if many(column) => Arc::new(column.as_binary_view().gc()) as ArrayRef,
        _ => Arc::clone(column),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &options)?)
}

/// Rows that belong together, in as many batches as they came.
pub(super) type Batches<'a> = BoxStream<'a, Result<Vec<RecordBatch>>>;
