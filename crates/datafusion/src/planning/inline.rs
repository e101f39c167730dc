//! Functions that SQL can say as well: their calls become expressions of DataFusion, which
//! it pushes into scans, turns into bounds for Parquet's statistics and combines with
//! others.
//!
//! Python and SQL differ in places; [`rules`] has the law of each expression. The schema of
//! the plan stays as it is: a call can be NULL, and so can what replaces it outside of
//! filters.

mod bound;
mod compare;
mod nulls;
mod rules;
mod solve;

use crate::planning::barrier::calls_function;
use crate::running::function::PythonFunction;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use exuvia_engine::{Definition, Settings, Volatility};

use compare::Test;
use rules::{Param, argument_of};
use std::collections::BTreeSet;

/// Whether calls may become expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Inline {
    /// Where that has its value for certain.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// The rule that replaces calls.
#[derive(Debug)]
pub(crate) struct InlineCalls;

impl OptimizerRule for InlineCalls {
    fn name(&self) -> &'static str {
        "exuvia_inline"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let options = ExuviaOptions::of(&config.options());
        // A scan has no input whose schema tells the types of its filters.
        if options.inline == Inline::Off || plan.inputs().is_empty() || !plan.expressions().iter().any(calls_function) {
            return Ok(Transformed::no(plan));
        }
        let is_filter = matches!(plan, LogicalPlan::Filter(_));
        // Law: a row that another conjunct excludes is excluded whatever a call gives, so
        // what holds of the rows that are left holds where it matters.
        let rows = if is_filter { vec![plan.clone()] } else { plan.inputs().into_iter().cloned().collect() };
        let schema = merge_schema(&plan.inputs());
        let surroundings = Surroundings { schema, rows, is_filter, settings: options.settings };
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            // A grouping set has no name to restore.
            if !calls_function(&expr) || matches!(expr, Expr::GroupingSet(_)) {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            // A comparison is looked at before the call in it.
            let replaced = expr.transform_down(|expr| {
                let inlined = tested(&expr).and_then(|(call, test, negated)| {
                    let said = surroundings.call(call, test.as_ref())?;
                    Some(if negated { !said } else { said })
                });
                Ok(inlined.map_or_else(|| Transformed::no(expr), Transformed::yes))
            })?;
            Ok(replaced.update_data(|expr| name.restore(expr)))
        })
    }
}

/// The call that an expression is, or of which it asks something, and whether it asks for the
/// opposite.
fn tested<'e>(expr: &'e Expr) -> Option<(&'e ScalarFunction, Option<Test<'e>>, bool)> {
    match expr {
        Expr::ScalarFunction(call) => Some((call, None, false)),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => match (&**left, &**right) {
            (Expr::ScalarFunction(call), Expr::Literal(constant, _)) => {
                Some((call, Some(Test::Compares(*op, constant)), false))
            }
            (Expr::Literal(constant, _), Expr::ScalarFunction(call)) => {
                Some((call, Some(Test::Compares(op.swap()?, constant)), false))
            }
            _ => None,
        },
        Expr::InList(InList { expr, list, negated }) => {
            let Expr::ScalarFunction(call) = &**expr else { return None };
            let constant = |item: &'e Expr| match item {
                Expr::Literal(constant, _) => Some(constant),
                _ => None,
            };
            Some((call, Some(Test::IsIn(list.iter().map(constant).collect::<Option<_>>()?)), *negated))
        }
        _ => None,
    }
}

/// Whether an operator compares, with NULL for NULL.
fn compares(op: Operator) -> bool {
    matches!(op, Operator::Eq | Operator::NotEq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

/// Where a call stands.
struct Surroundings {
    schema: DFSchema,
    /// The plans whose rows count.
    rows: Vec<LogicalPlan>,
    /// Whether nobody sees more of its value than whether it is true.
    is_filter: bool,
    settings: Settings,
}

impl Surroundings {
    /// The expression that a call is, or its comparison with a constant, or `None` where it
    /// stays a call.
    fn call(&self, call: &ScalarFunction, test: Option<&Test<'_>>) -> Option<Expr> {
        let python = open_function(call)?;
        let definition = python.function().definition();
        let args = &call.args;
        if args.iter().any(|arg| arg.is_volatile() || calls_function(arg)) {
            return None;
        }
        let may_be_null = |index: &usize| !nulls::never_null(&args[*index], &self.rows);
        let nullable: BTreeSet<usize> = (0..args.len()).filter(may_be_null).collect();
        // DataFusion would fold a test for NULL.
        let claimed = |index: &usize| args[*index].nullable(&self.schema).is_ok_and(|nullable| !nullable);
        if nullable.iter().any(claimed) {
            return None;
        }
        let params = params(definition, args, &self.schema)?;
        let formula = python.function().formula(!nullable.is_empty() && !definition.strict, &self.settings)?;
        let said = match test {
            Some(test) => rules::say_test(&formula, test, &params, &definition.returns)?,
            None => rules::say(&formula, &params, &definition.returns)?,
        };
        // Law: a strict function is NULL with any of its arguments.
        if definition.strict && !nullable.is_subset(&said.null_with) {
            return None;
        }
        let expr = put_in(said.expr, args, &self.schema)?;
        let same_schema = || self.is_filter || expr.nullable(&self.schema).unwrap_or(false);
        same_schema().then_some(expr)
    }
}

/// What is true of the rows of a filter's input for which a call, or what is asked of its
/// result, is true, if the function's first steps say anything: a condition without calls,
/// which DataFusion can push down and prune with.
pub(crate) fn prefilter(predicate: &Expr, schema: &DFSchema, options: &ExuviaOptions) -> Option<Expr> {
    let (call, test, negated) = tested(predicate)?;
    let python = open_function(call)?;
    let definition = python.function().definition();
    if options.inline == Inline::Off
        || negated
        || (test.is_none() && definition.returns != DataType::Boolean)
        || !call.args.iter().all(|arg| is_plain(arg, schema))
    {
        return None;
    }
    let params = params(definition, &call.args, schema)?;
    let formula = python.function().partial_formula(&options.settings)?;
    put_in(rules::necessary(&formula, test.as_ref(), &params, &definition.returns)?, &call.args, schema)
}

/// The parameters of a call, as formulas use them.
fn params(definition: &Definition, args: &[Expr], schema: &DFSchema) -> Option<Vec<Param>> {
    let params = definition.params.iter().zip(args).enumerate();
    params.map(|(index, (param, arg))| Param::new(index, arg.get_type(schema).ok()?, &param.ty)).collect()
}

/// An expression with the arguments put in.
fn put_in(expr: Expr, args: &[Expr], schema: &DFSchema) -> Option<Expr> {
    // What is computed would be computed again; what is no longer needed may have failed,
    // which is no reason to compute it.
    let mut uses = vec![0; args.len()];
    let put_in = expr.transform_up(|expr| match argument_of(&expr) {
        Some(index) => {
            uses[index] += 1;
            Ok(Transformed::yes(args[index].clone()))
        }
        None => Ok(Transformed::no(expr)),
    });
    let cheap = args.iter().zip(uses).all(|(arg, uses)| uses <= 1 || is_plain(arg, schema));
    put_in.ok().filter(|_| cheap).map(|put_in| put_in.data)
}

/// The function of a call, if its calls may be replaced.
fn open_function(call: &ScalarFunction) -> Option<&PythonFunction> {
    let python = PythonFunction::of(&call.func)?;
    let function = python.function();
    let open = python.inline() == Inline::Auto
        && function.volatility() == Volatility::Immutable
        && call.args.len() == function.definition().params.len();
    open.then_some(python)
}

/// Whether an expression costs next to nothing and fails for no row.
fn is_plain(arg: &Expr, schema: &DFSchema) -> bool {
    match arg {
        Expr::Column(_) | Expr::Literal(..) => true,
        Expr::Cast(cast) => is_plain(&cast.expr, schema) && widens(&cast.expr, cast.field.data_type(), schema),
        _ => false,
    }
}

/// Whether each value of an expression is one of a type.
fn widens(expr: &Expr, target: &DataType, schema: &DFSchema) -> bool {
    use DataType::{Boolean, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, Utf8, Utf8View};
    let Ok(found) = expr.get_type(schema) else { return false };
    found == *target
        || matches!(
            (found, target),
            (Boolean | Int8 | Int16 | Int32, Int64)
                | (Int8 | Int16, Int32)
                | (Int8, Int16)
                | (Int8 | Int16 | Int32 | Int64 | Float32, Float64)
                | (Utf8 | LargeUtf8 | Utf8View, Utf8View | LargeUtf8)
                | (Utf8View, Utf8)
        )
}
