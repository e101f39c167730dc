//! `exuvia.functions`: the Python functions of the session and where they run.
//!
//! The table holds nothing. Each scan reads the session's functions and asks the engine.

use crate::explain::{reason, rung_name};
use crate::function::PythonFunction;
use crate::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use exuvia_engine::Volatility;
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
            text("signature", false),
            text("volatility", false),
            text("placement", false),
            Field::new("fallbacks", DataType::UInt64, false),
            text("reason", true),
            text("source", false),
        ]);
        Functions { schema: Arc::new(schema) }
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
        let mut functions: Vec<&PythonFunction> =
            session.scalar_functions().values().filter_map(|udf| PythonFunction::of(udf)).collect();
        functions.sort_by_key(|python| python.function().definition().name.clone());
        let placements: Vec<_> = functions.iter().map(|python| python.function().placement(&settings)).collect();

        let text = |show: &dyn Fn(&PythonFunction) -> String| -> ArrayRef {
            Arc::new(functions.iter().map(|python| Some(show(python))).collect::<StringArray>())
        };
        let columns: Vec<ArrayRef> = vec![
            text(&|python| python.function().definition().name.clone()),
            text(&|python| python.signature_text()),
            text(&|python| {
                match python.function().volatility() {
                    Volatility::Immutable => "immutable",
                    Volatility::Stable => "stable",
                    Volatility::Volatile => "volatile",
                }
                .to_string()
            }),
            Arc::new(placements.iter().map(|placement| Some(rung_name(placement.rung))).collect::<StringArray>()),
            Arc::new(UInt64Array::from_iter_values(
                placements.iter().map(|placement| placement.evaluated_rows + placement.python_rows),
            )),
            Arc::new(placements.iter().map(reason).collect::<StringArray>()),
            text(&|python| python.function().definition().source.clone()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![batch]], self.schema(), projection.cloned())?)
    }
}
