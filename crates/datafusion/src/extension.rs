//! The plugin as an extension of DataFusion's session builder.

use crate::arguments::CheckArguments;
use crate::create::PythonFunctionFactory;
use crate::fuse::Fuse;
use crate::query::Planner;
use crate::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use std::sync::Arc;

/// Adds Python functions to a session that is being built.
pub trait ExuviaBuilder: Sized {
    /// Adds CREATE FUNCTION … LANGUAGE python, the settings under `exuvia.`, and what
    /// EXPLAIN says about Python calls.
    ///
    /// A plain `SessionContext` over this state understands of CREATE FUNCTION what
    /// DataFusion's own parser does; [`crate::ExuviaSession`] understands all of it. A
    /// query planner and a function factory that the builder has are kept and asked.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() -> datafusion::common::Result<()> {
    /// use datafusion::execution::SessionStateBuilder;
    /// use datafusion::prelude::SessionContext;
    /// use exuvia::ExuviaBuilder;
    ///
    /// let state = SessionStateBuilder::new().with_default_features().with_exuvia().build();
    /// let ctx = SessionContext::new_with_state(state);
    /// ctx.sql("CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x * 2 $$").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    fn with_exuvia(self) -> Self;
}

impl ExuviaBuilder for SessionStateBuilder {
    fn with_exuvia(mut self) -> Self {
        let config = self.config().get_or_insert_default();
        if config.options().extensions.get::<ExuviaOptions>().is_none() {
            config.options_mut().extensions.insert(ExuviaOptions::default());
        }
        let other = self.function_factory().take();
        let inner = self.query_planner().take().unwrap_or_else(|| Arc::new(DefaultPlanner));
        self.with_function_factory(Some(Arc::new(PythonFunctionFactory { other })))
            .with_query_planner(Arc::new(Planner { inner }))
            .with_analyzer_rule(Arc::new(CheckArguments))
            .with_physical_optimizer_rule(Arc::new(Fuse))
    }
}

/// DataFusion's planner, whose own type for this is private.
#[derive(Debug)]
struct DefaultPlanner;

#[async_trait]
impl QueryPlanner for DefaultPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await
    }
}
