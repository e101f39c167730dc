//! `exuvia.functions`: the Python functions of the session and where they run.
//!
//! The table holds nothing. Each scan reads the session's functions and asks the engine.

use crate::planning::explain::{left, placement_name, reason, rung_name};
use crate::running::function::PythonFunction;
use crate::running::routines::{Registered, Routines};
use crate::statements::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use exuvia_engine::routine::Kind;
use exuvia_engine::{Placement, Rung, Settings, Volatility};
use std::sync::Arc;

/// Puts the schema `exuvia` into the session's default catalog.
pub(crate) fn register(ctx: &SessionContext) -> Result<()> {
    let name = ctx.state().config_options().catalog.default_catalog.clone();
    if let Some(catalog) = ctx.catalog(&name)
        && catalog.schema("exuvia").is_none()
    {
        let schema = MemorySchemaProvider::new();
        schema.register_table("functions".to_string(), Arc::new(Functions::new()))?;
        catalog.register_schema("exuvia", Arc::new(schema))?;
    }
    Ok(())
}

#[derive(Debug)]
struct Functions {
    schema: SchemaRef,
}

impl Functions {
    fn new() -> Functions {
        let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
        let schema = Schema::new(vec![
            text("name", false),
            text("kind", false),
            text("signature", false),
            text("volatility", false),
            text("placement", false),
            Field::new("fallbacks", DataType::UInt64, false),
            text("reason", true),
            text("source", false),
            text("statement", false),
        ]);
        Functions { schema: Arc::new(schema) }
    }
}

/// A row of the table.
struct Row {
    name: String,
    kind: &'static str,
    signature: String,
    volatility: &'static str,
    placement: &'static str,
    fallbacks: u64,
    reason: Option<String>,
    source: String,
    statement: String,
}

/// The CREATE FUNCTION that makes a function as it is.
fn statement(signature: &str, clauses: &str, source: &str) -> String {
    let mut tags = ["$$".to_string()].into_iter().chain((0..).map(|number| format!("$body{number}$")));
    let tag = tags.find(|tag| !source.contains(tag.as_str())).unwrap_or_default();
    format!("CREATE OR REPLACE FUNCTION {signature}{clauses} AS {tag}\n{}\n{tag};", source.trim_end())
}

impl Row {
    fn of(python: &PythonFunction, placement: &Placement, settings: &Settings) -> Row {
        let function = python.function();
        let by_null = function.is_native_without_null(settings);
        let why = reason(placement).map(|why| if by_null { format!("batches with NULL: {why}") } else { why });
        Row {
            name: function.definition().name.clone(),
            kind: Kind::Row.name(),
            signature: python.signature_text(),
            volatility: volatility_name(function.volatility()),
            placement: if by_null { rung_name(Rung::Native) } else { placement_name(placement) },
            fallbacks: placement.evaluated_rows + placement.python_rows,
            reason: why.or_else(|| left(placement)),
            source: function.definition().source.clone(),
            statement: statement(&python.signature_text(), python.clauses(), &function.definition().source),
        }
    }

    fn of_routine(registered: &Registered, settings: &Settings) -> Row {
        let routine = &registered.routine;
        let by_row = registered.lifted(settings).and_then(|udf| PythonFunction::of(udf));
        let lifted = by_row.map(|python| python.function().placement(settings));
        let otherwise = if registered.is_whole(settings) { Rung::Native } else { Rung::Python };
        let why = registered.why_not().map(ToString::to_string);
        Row {
            name: registered.name().to_string(),
            kind: routine.kind().name(),
            signature: registered.signature_text(),
            volatility: volatility_name(routine.volatility()),
            placement: lifted.as_ref().map_or(rung_name(otherwise), placement_name),
            fallbacks: routine.counted().1,
            reason: lifted.as_ref().map_or(why, reason),
            source: routine.definition().source.clone(),
            statement: statement(&registered.signature_text(), &registered.clauses, &routine.definition().source),
        }
    }
}

fn volatility_name(volatility: Volatility) -> &'static str {
    match volatility {
        Volatility::Immutable => "immutable",
        Volatility::Stable => "stable",
        Volatility::Volatile => "volatile",
    }
}

#[async_trait]
impl TableProvider for Functions {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let settings = ExuviaOptions::of(session.config_options()).settings;
        let functions: Vec<&PythonFunction> =
            session.scalar_functions().values().filter_map(|udf| PythonFunction::of(udf)).collect();
        let placements: Vec<_> = functions.iter().map(|python| python.function().placement(&settings)).collect();

        let mut rows: Vec<Row> = functions
            .iter()
            .zip(&placements)
            .map(|(python, placement)| Row::of(python, placement, &settings))
            .collect();
        rows.extend(
            Routines::of(session.config_options()).all().iter().map(|routine| Row::of_routine(routine, &settings)),
        );
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        let text = |of: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
            Arc::new(rows.iter().map(of).collect::<StringArray>())
        };
        let columns: Vec<ArrayRef> = vec![
            text(&|row| Some(row.name.clone())),
            text(&|row| Some(row.kind.to_string())),
            text(&|row| Some(row.signature.clone())),
            text(&|row| Some(row.volatility.to_string())),
            text(&|row| Some(row.placement.to_string())),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.fallbacks))),
            text(&|row| row.reason.clone()),
            text(&|row| Some(row.source.clone())),
            text(&|row| Some(row.statement.clone())),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![batch]], self.schema(), projection.cloned())?)
    }
}
