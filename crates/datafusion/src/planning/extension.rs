//! The plugin as an extension of DataFusion's session builder.

use crate::planning::arguments::CheckArguments;
use crate::planning::barrier::BarrierPlanner;
use crate::planning::inline::InlineCalls;
use crate::planning::leaves::Leaves;
use crate::planning::maps::MapKeys;
use crate::planning::operands::Operands;
use crate::planning::outline::Outline;
use crate::planning::query::Planner;
use crate::running::fuse::{Fuse, Settle};
use crate::running::routines::RoutinePlanner;
use crate::running::routines::call::PlanCalls;
use crate::running::routines::column::ColumnCalls;
use crate::running::routines::lateral::LateralCalls;
use crate::statements::create::PythonFunctionFactory;
use crate::statements::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{AnalyzerRule, OptimizerRule};
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
        // Sessions may be built with copies of one configuration; each has its own functions.
        if let Some(options) = config.options_mut().extensions.get_mut::<ExuviaOptions>() {
            options.routines = Arc::default();
        }
        let other = self.function_factory().take();
        let planner = match self.query_planner().take() {
            Some(inner) => Planner { inner, knows_barriers: false },
            None => Planner { inner: Arc::new(DefaultPlanner), knows_barriers: true },
        };
        let rules = &mut self.optimizer().get_or_insert_default().rules;
        // Subqueries are joins by then, and nothing was pushed down.
        let at = rules.iter().position(|rule| rule.name().starts_with("push_down"));
        let ours: [Arc<dyn OptimizerRule + Send + Sync>; 2] = [Arc::new(InlineCalls), Arc::new(Outline)];
        let at = at.unwrap_or(rules.len());
        rules.splice(at..at, ours);
        Leaves::replace(rules);
        // What several operands have in common is found after that.
        let at = rules.iter().position(|rule| rule.name() == "common_sub_expression_eliminate");
        rules.insert(at.unwrap_or(rules.len()), Arc::new(Operands));
        // Before types are coerced, and before anything else sees such calls.
        let rules = &mut self.analyzer().get_or_insert_default().rules;
        let ours: [Arc<dyn AnalyzerRule + Send + Sync>; 2] = [Arc::new(LateralCalls), Arc::new(ColumnCalls)];
        rules.splice(0..0, ours);
        self.expr_planners().get_or_insert_default().insert(0, Arc::new(MapKeys));
        self.relation_planners().get_or_insert_default().insert(0, Arc::new(PlanCalls));
        let rules = &mut self.physical_optimizers().get_or_insert_default().rules;
        // The rule by which joins and sorts hand down what they will learn.
        let at = rules.iter().position(|rule| rule.name() == "FilterPushdown(Post)");
        rules.insert(at.unwrap_or(rules.len()), Arc::new(Fuse));
        self.with_function_factory(Some(Arc::new(PythonFunctionFactory { other })))
            .with_query_planner(Arc::new(planner))
            .with_analyzer_rule(Arc::new(CheckArguments))
            .with_physical_optimizer_rule(Arc::new(Settle))
    }
}

/// DataFusion's planner, whose own type for this is private.
#[derive(Debug)]
struct DefaultPlanner;

#[async_trait]
impl QueryPlanner for DefaultPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner =
            DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BarrierPlanner), Arc::new(RoutinePlanner)]);
        planner.create_physical_plan(plan, session).await
    }
}
