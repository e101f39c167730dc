//! The arguments of a call, where types alone do not decide.
//!
//! Two passes. Before planning, a call that names its arguments and leaves one out in the
//! middle gets that parameter's default, which DataFusion's own naming cannot do. After
//! type coercion, literals are brought to the parameter's type by their value, and what
//! only a literal may do is refused for other expressions.

use crate::coerce::{self, Fit};
use crate::function::PythonFunction;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, FunctionArg, FunctionArguments, visit_expressions_mut};
use std::ops::ControlFlow;

/// Puts the defaults of left-out parameters into calls that name later ones.
pub(crate) fn fill_named(state: &SessionState, statement: &mut Statement) {
    match statement {
        Statement::Statement(statement) => {
            let _ = visit_expressions_mut(&mut **statement, |expr| {
                if let ast::Expr::Function(function) = expr {
                    fill_call(state, function);
                }
                ControlFlow::<()>::Continue(())
            });
        }
        Statement::Explain(explain) => fill_named(state, &mut explain.statement),
        Statement::CopyTo(copy) => {
            use datafusion::sql::parser::CopyToSource;
            if let CopyToSource::Query(query) = &mut copy.source {
                let _ = visit_expressions_mut(&mut **query, |expr| {
                    if let ast::Expr::Function(function) = expr {
                        fill_call(state, function);
                    }
                    ControlFlow::<()>::Continue(())
                });
            }
        }
        Statement::CreateExternalTable(_) | Statement::Reset(_) => {}
    }
}

/// Appends `name => default` for each parameter that is not given and stands before one
/// that is. What is wrong with a call is left for DataFusion to report.
fn fill_call(state: &SessionState, call: &mut ast::Function) {
    let [part] = &call.name.0[..] else { return };
    let Some(ident) = part.as_ident() else { return };
    let name = if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() };
    let Some(udf) = state.scalar_functions().get(&name) else { return };
    let Some(python) = PythonFunction::of(udf) else { return };
    let FunctionArguments::List(list) = &mut call.args else { return };
    let params = &python.function().definition().params;
    let mut given = vec![false; params.len()];
    let mut operator = None;
    for (position, arg) in list.args.iter().enumerate() {
        let index = match arg {
            FunctionArg::Named { name, operator: arrow, .. } => {
                operator = Some(arrow.clone());
                params.iter().position(|param| match name.quote_style {
                    Some(_) => param.name == name.value,
                    None => param.name.eq_ignore_ascii_case(&name.value),
                })
            }
            FunctionArg::ExprNamed { .. } => None,
            FunctionArg::Unnamed(_) => Some(position),
        };
        match index.and_then(|index| given.get_mut(index)) {
            Some(given) => *given = true,
            None => return,
        }
    }
    let (Some(operator), Some(last)) = (operator, given.iter().rposition(|&given| given)) else { return };
    for (index, param) in params.iter().enumerate().take(last) {
        if given[index] {
            continue;
        }
        if let Some(sql) = python.defaults()[index].as_ref().and_then(|default| default.sql.clone()) {
            list.args.push(FunctionArg::Named {
                name: ast::Ident::with_quote('"', param.name.clone()),
                arg: ast::FunctionArgExpr::Expr(sql),
                operator: operator.clone(),
            });
        }
    }
}

/// Brings literals to the types of parameters, and refuses what does not fit.
#[derive(Debug)]
pub(crate) struct CheckArguments;

impl AnalyzerRule for CheckArguments {
    fn name(&self) -> &'static str {
        "exuvia_check_arguments"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| {
            let schema = merge_schema(&plan.inputs());
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let saved = names.save(&expr);
                let expr = expr.transform_up(|expr| match expr {
                    Expr::ScalarFunction(call) => check_call(call, &schema),
                    expr => Ok(Transformed::no(expr)),
                })?;
                Ok(expr.update_data(|expr| saved.restore(expr)))
            })
        })
        .map(|plan| plan.data)
    }
}

fn check_call(call: ScalarFunction, schema: &datafusion::common::DFSchema) -> Result<Transformed<Expr>> {
    let Some(python) = PythonFunction::of(&call.func) else {
        return Ok(Transformed::no(Expr::ScalarFunction(call)));
    };
    let params = &python.function().definition().params;
    let mut changed = false;
    let mut args = Vec::with_capacity(call.args.len());
    for (index, (arg, param)) in call.args.into_iter().zip(params).enumerate() {
        let ty = arg.get_type(schema)?;
        match (coerce::fit(&param.ty, &ty), arg) {
            (Fit::Literal | Fit::Checked, Expr::Literal(value, metadata)) => {
                match coerce::literal(&param.ty, &value) {
                    Ok(value) => args.push(Expr::Literal(value, metadata)),
                    Err(message) => {
                        let name = &python.function().definition().name;
                        return plan_err!("{name}: argument {} ({}): {message}", index + 1, param.name);
                    }
                }
                changed = true;
            }
            (Fit::As(_) | Fit::Checked, arg) => args.push(arg),
            (Fit::Literal | Fit::No, arg) => {
                return plan_err!("{}", python.refusal(index, &ty, &arg.human_display().to_string()));
            }
        }
    }
    let call = Expr::ScalarFunction(ScalarFunction { func: call.func, args });
    Ok(if changed { Transformed::yes(call) } else { Transformed::no(call) })
}
