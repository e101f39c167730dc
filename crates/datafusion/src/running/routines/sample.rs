//! The columns of a table that a function gives where nobody declared them.
//!
//! They are needed while a query is planned, and only the function knows them. So the session
//! calls it with the first rows of its tables before it plans the query, and takes the columns
//! of that result. When the query runs, the whole result is held to them: a column that is
//! missing or new, or a value that does not fit, is an error that says what to declare.

use super::call::TableArgument;
use super::drive::{Event, Fed, Run, Start};
use super::{Registered, Routines, streams};
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema};
use datafusion::common::{DataFusionError, Result, exec_err, plan_err};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::logical_expr::planner::RelationPlannerContext;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::prelude::SessionContext;
use exuvia_engine::routine::{SAMPLED, plain};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Rows of each table that a sample has.
const ROWS: usize = 100;

/// The time that a sample may take.
const TIME: Duration = Duration::from_secs(10);

/// A call whose columns are not known yet: an error of planning, which the session resolves.
#[derive(Clone, Debug)]
pub(crate) struct Unsampled {
    key: String,
    registered: Registered,
    tables: Vec<TableArgument>,
    scalars: Arc<LogicalPlan>,
}

impl fmt::Display for Unsampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the columns that {} gives are not declared; write RETURNS TABLE (name TYPE, …) where it is created",
            self.registered.name()
        )
    }
}

impl std::error::Error for Unsampled {}

/// The columns of a call's result, if a sample has shown them.
pub(super) fn columns(
    registered: &Registered,
    tables: &[TableArgument],
    scalars: &Arc<LogicalPlan>,
    context: &dyn RelationPlannerContext,
) -> Result<Fields> {
    let plans = tables.iter().map(|table| &table.plan).chain([scalars.as_ref()]);
    let key = format!(
        "{:p}\n{}",
        Arc::as_ptr(&registered.routine),
        plans.map(|plan| plan.display_indent_schema().to_string()).collect::<Vec<_>>().join("\n")
    );
    if let Some(fields) = Routines::of(context.context_provider().options()).sample(&key) {
        return Ok(fields);
    }
    let unsampled =
        Unsampled { key, registered: registered.clone(), tables: tables.to_vec(), scalars: Arc::clone(scalars) };
    Err(DataFusionError::External(Box::new(unsampled)))
}

/// The call whose columns planning lacked, if that is why it failed.
pub(crate) fn unsampled(error: &DataFusionError) -> Option<Unsampled> {
    match error.find_root() {
        DataFusionError::External(inner) => inner.downcast_ref::<Unsampled>().cloned(),
        _ => None,
    }
}

/// Calls a function with the first rows of its tables and keeps the columns of its result.
pub(crate) async fn take(ctx: &SessionContext, call: Unsampled) -> Result<()> {
    let state = ctx.state();
    let plans = call.tables.iter().map(|table| &table.plan).chain([call.scalars.as_ref()]);
    for plan in plans {
        if !plan.get_parameter_names()?.is_empty() {
            return plan_err!("{call}; its tables depend on parameters, so that no sample can be taken");
        }
    }
    let mut options = ExuviaOptions::of(state.config_options());
    options = options.clone().with_timeout(Some(options.timeout.map_or(TIME, |own| own.min(TIME))));
    // There is no query yet whose time it could be.
    options.query.get_or_insert_default();
    let scalars = ctx.execute_logical_plan(call.scalars.as_ref().clone()).await?.execute_stream().await?;
    let scalars = streams::scalar_values(scalars, &call.registered.value_types()).await?;
    let mut inputs = vec![];
    let mut input_fields = vec![];
    for table in &call.tables {
        let mut fields: Vec<Field> = vec![];
        let plan = LogicalPlanBuilder::from(table.plan.clone()).limit(0, Some(ROWS))?.build()?;
        let frame = ctx.execute_logical_plan(plan).await?;
        for field in frame.schema().fields().iter().take(table.visible) {
            fields.push(Field::new(field.name(), plain(field.data_type()), true));
        }
        let fields = Fields::from(fields);
        let mut fed = vec![];
        for batch in frame.collect().await? {
            let columns: Result<Vec<_>> = batch
                .columns()
                .iter()
                .zip(&fields)
                .map(|(column, field)| Ok(cast(column, field.data_type())?))
                .collect();
            let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.clone())), columns?)?;
            fed.push(Ok(Fed { given: batch, kept: vec![] }));
        }
        inputs.push(futures::stream::iter(fed).boxed());
        input_fields.push(fields);
    }
    let mut run = Run::start(Start {
        routine: Arc::clone(&call.registered.routine),
        inputs,
        input_fields,
        output: None,
        scalars,
        batch_rows: ROWS,
        options,
        reservation: MemoryConsumer::new("Python sample").register(&state.runtime_env().memory_pool),
        copies: 0,
    });
    while let Some(event) = run.next().await {
        let failed = |error: DataFusionError| {
            error.context(format!(
                "{} was called with the first rows of its tables, as its columns are not declared",
                call.registered.name()
            ))
        };
        if let Event::Output(batch) = event.map_err(failed)? {
            let fields: Fields = batch
                .schema()
                .fields()
                .iter()
                .map(|field| Field::new(field.name(), in_sql(field.data_type()), true))
                .collect();
            Routines::of(state.config_options()).keep_sample(call.key, fields);
            return Ok(());
        }
    }
    exec_err!("{call}")
}

/// The type that a column of pandas has in SQL.
fn in_sql(ty: &DataType) -> DataType {
    match ty {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::LargeBinary => DataType::Binary,
        other => other.clone(),
    }
}

/// Columns that are those of a sample, so that no others may come.
pub(super) fn marked(fields: &Fields) -> Fields {
    let marked =
        |field: &Arc<Field>| field.as_ref().clone().with_metadata([(SAMPLED.to_string(), String::new())].into());
    fields.iter().map(marked).collect()
}
