//! Calls that depend on the rows of another table: `FROM t, LATERAL f(t.a)`.
//!
//! DataFusion plans them as a join with a subquery that refers to the other side, and cannot
//! take that apart. The first rule of analysis makes of it the node that gives the rows of the
//! other side, each beside the rows of its call.

use super::call::{Generate, aliased};
use super::column;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result, TableReference, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{Expr, Extension, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Projection};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// Takes lateral calls apart.
#[derive(Debug)]
pub(crate) struct LateralCalls;

impl AnalyzerRule for LateralCalls {
    fn name(&self) -> &'static str {
        "exuvia_lateral_calls"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Join(join) if depends(&join.right)? => lateral(join).map(Transformed::yes),
            LogicalPlan::Filter(mut filter) if filter.predicate.is_volatile() && gives_rows(&filter.input)? => {
                // DataFusion takes a predicate without columns below any node but a limit, where it
                // would be asked for each call and not for each row.
                let every = LogicalPlanBuilder::from(Arc::unwrap_or_clone(filter.input));
                filter.input = Arc::new(every.limit(0, Some(i64::MAX as usize))?.build()?);
                Ok(Transformed::yes(LogicalPlan::Filter(filter)))
            }
            plan => Ok(Transformed::no(plan)),
        })?;
        plan.data.apply_with_subqueries(|plan| match Generate::of(plan) {
            Some(call) if call.input.contains_outer_reference() => plan_err!(
                "{}: a call that depends on the rows of another table stands in FROM behind that table and a comma or \
                 CROSS JOIN LATERAL, not to the left of another JOIN and not in a subquery of an expression",
                call.registered.name()
            ),
            _ => Ok(TreeNodeRecursion::Continue),
        })?;
        Ok(plan.data)
    }
}

/// Whether calls that give rows stand in a plan.
fn gives_rows(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|plan| Ok(Generate::of(plan).is_some() || depends(plan)?))
}

/// Whether a relation is a subquery with a call of ours that refers to the other side.
fn depends(relation: &LogicalPlan) -> Result<bool> {
    let (relation, _) = aliased(relation);
    let LogicalPlan::Subquery(subquery) = relation else { return Ok(false) };
    let mut found = false;
    subquery.subquery.apply(|plan| {
        found |= Generate::of(plan).is_some_and(|call| call.input.contains_outer_reference());
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn lateral(join: Join) -> Result<LogicalPlan> {
    let (relation, alias) = aliased(&join.right);
    let LogicalPlan::Subquery(subquery) = relation else { return Ok(LogicalPlan::Join(join)) };
    let outer = match join.join_type {
        JoinType::Inner => false,
        JoinType::Left => true,
        other => return plan_err!("a LATERAL call stands on the right of an inner or a left join, not of {other}"),
    };
    let columns = join.schema.columns();
    let left = join.left.schema().columns();
    let own: Vec<String> = join.right.schema().fields().iter().map(|field| field.name().clone()).collect();
    let generated = below(&subquery.subquery, &join.left, outer)?;
    // The columns of the other side, and those of the relation under its name.
    let width = left.len();
    let given = generated.schema().columns();
    let mut exprs: Vec<Expr> = given[..width].iter().cloned().map(Expr::Column).collect();
    for (column, name) in given[width..].iter().zip(&own) {
        exprs.push(requalified(column, alias, name));
    }
    let mut plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(generated))?);
    let mut condition: Vec<Expr> = join.on.into_iter().map(|(left, right)| left.eq(right)).collect();
    condition.extend(join.filter.filter(|filter| !is_true(filter)));
    if let Some(condition) = condition.into_iter().reduce(Expr::and) {
        if outer {
            return plan_err!(
                "LEFT JOIN LATERAL of a Python function takes ON true, not {condition}; put the condition into the function"
            );
        }
        plan = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(plan))?);
    }
    let exprs = columns.into_iter().map(Expr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
}

fn is_true(expr: &Expr) -> bool {
    use datafusion::common::ScalarValue;
    matches!(expr, Expr::Literal(ScalarValue::Boolean(Some(true)), _))
}

fn requalified(column: &Column, alias: Option<&TableReference>, name: &str) -> Expr {
    let expr = Expr::Column(column.clone());
    match alias {
        Some(alias) => expr.alias_qualified(Some(alias.clone()), name),
        None => expr.alias_qualified(column.relation.clone(), name),
    }
}

/// The subquery's plan over the rows of the other side, whose columns come first.
fn below(plan: &LogicalPlan, left: &Arc<LogicalPlan>, outer: bool) -> Result<LogicalPlan> {
    if let Some(call) = Generate::of(plan) {
        let LogicalPlan::Projection(args) = call.input.as_ref() else {
            return plan_err!("the arguments of a LATERAL call are no expressions of one row");
        };
        let mut exprs: Vec<Expr> = left.schema().columns().into_iter().map(Expr::Column).collect();
        for expr in &args.expr {
            exprs.push(inner(expr.clone())?);
        }
        let count = args.expr.len();
        let input = LogicalPlan::Projection(Projection::try_new(exprs, Arc::clone(left))?);
        // Its columns must differ from those of the other side whatever their names are.
        let alias = TableReference::bare(format!("__lateral_{}", call.registered.name()));
        let call = Generate::over(call.registered.clone(), Arc::new(input), count, outer, Some(alias), vec![])?;
        return Ok(LogicalPlan::Extension(Extension { node: Arc::new(call) }));
    }
    let width = left.schema().fields().len();
    match plan {
        LogicalPlan::Subquery(subquery) => below(&subquery.subquery, left, outer),
        LogicalPlan::SubqueryAlias(relation) => {
            let input = below(&relation.input, left, outer)?;
            let names = relation.schema.fields();
            let columns = input.schema().columns();
            let mut exprs: Vec<Expr> = columns[..width].iter().cloned().map(Expr::Column).collect();
            for (column, field) in columns[width..].iter().zip(names) {
                exprs.push(requalified(column, Some(&relation.alias), field.name()));
            }
            Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?))
        }
        LogicalPlan::Projection(projection) => {
            let plain = |expr: &Expr| matches!(expr.clone().unalias(), Expr::Column(_));
            if let Some(expr) = projection.expr.iter().find(|expr| outer && !plain(expr)) {
                return plan_err!(
                    "LEFT JOIN LATERAL of a query over a Python function takes its columns, not {}; compute it outside",
                    expr.human_display()
                );
            }
            if projection.expr.iter().any(column::holds_call) {
                return plan_err!("a column function cannot be called within LATERAL; call it outside");
            }
            let input = below(&projection.input, left, outer)?;
            let mut exprs: Vec<Expr> = input.schema().columns()[..width].iter().cloned().map(Expr::Column).collect();
            for (expr, (qualifier, field)) in projection.expr.iter().zip(projection.schema.iter()) {
                let expr = inner(expr.clone())?;
                // A name without a qualifier may be one of the other side's.
                exprs.push(match qualifier {
                    Some(_) => expr,
                    None => expr.unalias().alias_qualified(Some("__lateral"), field.name()),
                });
            }
            Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?))
        }
        LogicalPlan::Filter(filter) if !outer => {
            let input = below(&filter.input, left, outer)?;
            Ok(LogicalPlan::Filter(Filter::try_new(inner(filter.predicate.clone())?, Arc::new(input))?))
        }
        other => plan_err!(
            "a LATERAL call of a Python function may be projected{}, but not: {}",
            if outer { "" } else { " and filtered" },
            other.display()
        ),
    }
}

/// An expression whose references to the other side are columns of its own input.
fn inner(expr: Expr) -> Result<Expr> {
    let inner = expr.transform_up(|expr| match expr {
        Expr::OuterReferenceColumn(_, column) => Ok(Transformed::yes(Expr::Column(column))),
        expr => Ok(Transformed::no(expr)),
    })?;
    Ok(inner.data)
}
