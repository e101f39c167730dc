//! Keeps DataFusion from copying calls with the fields that a query takes of their results.
//!
//! Its rules for leaf expressions push `c['a']` and `c['b']` into the projection that computes `c` by a
//! call, which makes two calls of one; where a chain of queries does that at each level, planning takes
//! time and memory that double with each. What they gain, that a scan reads some fields of a column only,
//! is not to be had of calls. So they leave plans with calls that give structs or lists as they are.

use crate::running::function::PythonFunction;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// One of those rules, for plans without such calls.
#[derive(Debug)]
pub(crate) struct Leaves(Arc<dyn OptimizerRule + Send + Sync>);

impl Leaves {
    /// Puts this in the place of each of them.
    pub(crate) fn replace(rules: &mut [Arc<dyn OptimizerRule + Send + Sync>]) {
        let of_leaves = |rule: &&mut Arc<dyn OptimizerRule + Send + Sync>| {
            matches!(rule.name(), "extract_leaf_expressions" | "push_down_leaf_projections")
        };
        for rule in rules.iter_mut().filter(of_leaves) {
            *rule = Arc::new(Leaves(Arc::clone(rule)));
        }
    }
}

impl OptimizerRule for Leaves {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if has_nested_calls(&plan)? {
            return Ok(Transformed::no(plan));
        }
        match self.0.apply_order() {
            Some(ApplyOrder::TopDown) => plan.transform_down_with_subqueries(|plan| self.0.rewrite(plan, config)),
            Some(ApplyOrder::BottomUp) => plan.transform_up_with_subqueries(|plan| self.0.rewrite(plan, config)),
            None => self.0.rewrite(plan, config),
        }
    }
}

fn is_call(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if PythonFunction::of(&call.func).is_some())
}

/// Whether a plan has a Python call that gives a struct, a list or a map, or makes one of results.
fn has_nested_calls(plan: &LogicalPlan) -> Result<bool> {
    let is_nested = |expr: &Expr| {
        let Expr::ScalarFunction(call) = expr else { return Ok(false) };
        if let Some(python) = PythonFunction::of(&call.func) {
            return Ok(DataType::is_nested(&python.function().definition().returns));
        }
        // What SQL makes of the results of calls is one of them, too.
        let makes = matches!(call.name(), "named_struct" | "struct" | "make_array" | "map");
        Ok(makes && expr.exists(|part| Ok(is_call(part)))?)
    };
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        for expr in node.expressions() {
            if expr.exists(is_nested)? {
                found = true;
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
