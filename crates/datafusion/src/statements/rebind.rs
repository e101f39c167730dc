//! Views call the functions that there are, not those that there were when they were made.
//!
//! The plan of a view holds its functions themselves. Where a statement uses one, each Python
//! function in its plan becomes the one that now has the name; where none has, or one of other
//! parameters or another result, the statement is refused. (A prepared statement is prepared
//! again: `session.rs`.)

use crate::running::function::{PythonFunction, wrong_count};
use crate::running::routines::aggregate::PythonAggregate;
use crate::running::routines::call::{Generate, TableCall};
use crate::running::routines::column::ColumnCall;
use crate::running::routines::{Registered, Routines};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    AggregateUDF, Expr, Extension, LogicalPlan, ScalarUDF, UserDefinedLogicalNode, WindowFunctionDefinition,
};
use exuvia_engine::routine::RoutineDefinition;
use std::sync::Arc;

/// The plan of a statement with the functions that the session has.
///
/// # Errors
/// A view calls a function that was dropped, or replaced by one that it cannot call.
pub(crate) fn rebind(state: &SessionState, plan: LogicalPlan) -> Result<LogicalPlan> {
    let routines = Routines::of(state.config_options());
    let session = Functions { state, routines: &routines };
    let plan = plan.transform_up_with_subqueries(|plan| {
        let plan = plan.map_expressions(|expr| expr.transform_up(|expr| session.expression(expr)))?;
        plan.transform_data(|plan| session.node(plan))
    })?;
    Ok(plan.data)
}

/// The functions of a session.
struct Functions<'a> {
    state: &'a SessionState,
    routines: &'a Routines,
}

impl Functions<'_> {
    fn expression(&self, expr: Expr) -> Result<Transformed<Expr>> {
        match expr {
            Expr::ScalarFunction(call) => self.scalar(call),
            Expr::AggregateFunction(mut call) => {
                let now = self.aggregate(&call.func)?;
                let changed = now.is_some();
                call.func = now.unwrap_or(call.func);
                Ok(Transformed::new_transformed(Expr::AggregateFunction(call), changed))
            }
            Expr::WindowFunction(mut call) => {
                let now = match &call.fun {
                    WindowFunctionDefinition::AggregateUDF(udf) => self.aggregate(udf)?,
                    WindowFunctionDefinition::WindowUDF(_) => None,
                };
                let changed = now.is_some();
                call.fun = now.map_or(call.fun, WindowFunctionDefinition::AggregateUDF);
                Ok(Transformed::new_transformed(Expr::WindowFunction(call), changed))
            }
            expr => Ok(Transformed::no(expr)),
        }
    }

    fn scalar(&self, call: ScalarFunction) -> Result<Transformed<Expr>> {
        let then = Arc::clone(&call.func);
        let Some(python) = PythonFunction::of(&then) else {
            return Ok(Transformed::no(Expr::ScalarFunction(call)));
        };
        let then = python.function().definition();
        if !then.columns.is_empty() {
            return self.by_row(python, call);
        }
        let found = self.state.scalar_functions().get(&then.name);
        let Some((udf, now)) = found.and_then(|udf| Some((udf, PythonFunction::of(udf)?))) else {
            return plan_err!("{}", dropped(&then.name));
        };
        if now == python {
            return Ok(Transformed::no(Expr::ScalarFunction(call)));
        }
        // Of arguments with names only their order is in the plan.
        let types = |python: &PythonFunction| {
            let definition = python.function().definition();
            let params: Vec<_> = definition.params.iter().map(|param| (param.name.clone(), param.ty.clone())).collect();
            (params, definition.returns.clone())
        };
        let signature = now.signature_text();
        if types(now) != types(python) || wrong_count(&then.name, &signature, now.defaults(), call.args.len()).is_some()
        {
            return plan_err!("{}", replaced(&python.signature_text(), &signature));
        }
        Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func: Arc::clone(udf), args: call.args })))
    }

    /// A call of the row function that a column function was.
    fn by_row(&self, python: &PythonFunction, call: ScalarFunction) -> Result<Transformed<Expr>> {
        let name = &python.function().definition().name;
        let Some(now) = self.routines.get(name) else { return plan_err!("{}", dropped(name)) };
        let then = python.signature_text();
        let same = |udf: &Arc<ScalarUDF>| PythonFunction::of(udf).is_some_and(|now| now.signature_text() == then);
        match &now.by_row {
            Ok(udf) if PythonFunction::of(udf) == Some(python) => Ok(Transformed::no(Expr::ScalarFunction(call))),
            Ok(udf) if same(udf) => {
                let func = Arc::clone(udf);
                Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args: call.args })))
            }
            // Whole columns, and the partitions of OVER, are not in the plan.
            _ => plan_err!("{}", replaced(&then, &now.signature_text())),
        }
    }

    /// The aggregate of ours that has the name of another now, if it is not the same.
    fn aggregate(&self, then: &AggregateUDF) -> Result<Option<Arc<AggregateUDF>>> {
        let Some(python) = then.inner().downcast_ref::<PythonAggregate>() else { return Ok(None) };
        let Some(now) = self.registered(&python.registered)? else { return Ok(None) };
        match self.state.aggregate_functions().get(now.name()) {
            Some(udf) => Ok(Some(Arc::clone(udf))),
            None => plan_err!("{}", dropped(now.name())),
        }
    }

    fn node(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let node: Arc<dyn UserDefinedLogicalNode> = if let Some(call) = TableCall::of(&plan) {
            let Some(registered) = self.registered(&call.registered)? else { return Ok(Transformed::no(plan)) };
            Arc::new(TableCall { registered, ..call.clone() })
        } else if let Some(call) = Generate::of(&plan) {
            let Some(registered) = self.registered(&call.registered)? else { return Ok(Transformed::no(plan)) };
            Arc::new(Generate { registered, ..call.clone() })
        } else if let Some(call) = ColumnCall::of(&plan) {
            let Some(registered) = self.registered(&call.registered)? else { return Ok(Transformed::no(plan)) };
            Arc::new(call.clone().of_function(registered))
        } else {
            return Ok(Transformed::no(plan));
        };
        Ok(Transformed::yes(LogicalPlan::Extension(Extension { node })))
    }

    /// The function that has the name of another now, if it is not the same.
    fn registered(&self, then: &Registered) -> Result<Option<Registered>> {
        let Some(now) = self.routines.get(then.name()) else { return plan_err!("{}", dropped(then.name())) };
        if now == *then {
            return Ok(None);
        }
        let (new, old) = (now.routine.definition(), then.routine.definition());
        let takes = |definition: &RoutineDefinition| {
            definition.params.iter().map(|param| (param.name.clone(), param.takes.clone())).collect::<Vec<_>>()
        };
        // The values of its arguments stand in the plan, those left out as the defaults that there were.
        if now.routine.kind() != then.routine.kind()
            || now.by_batch != then.by_batch
            || takes(new) != takes(old)
            || new.returns != old.returns
            || new.single_values != old.single_values
        {
            return plan_err!("{}", replaced(&then.signature_text(), &now.signature_text()));
        }
        Ok(Some(now))
    }
}

fn dropped(name: &str) -> String {
    format!("there is no function {name} any more, which a view calls\n  hint: create it, or the view anew without it")
}

fn replaced(then: &str, now: &str) -> String {
    format!("a view calls {then}, which was replaced by {now}\n  hint: create the view anew")
}
