//! What is never NULL, as far as that can be proven.
//!
//! DataFusion's own word on it is not enough: it takes a scalar subquery for NOT NULL where
//! the column inside is, although a subquery without rows is NULL.

use datafusion::common::{Column, JoinType};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Whether an expression over the columns of some plans is never NULL.
pub(super) fn never_null(expr: &Expr, inputs: &[LogicalPlan]) -> bool {
    match expr {
        Expr::Literal(value, _) => !value.is_null(),
        Expr::Alias(alias) => never_null(&alias.expr, inputs),
        // A cast that cannot be done fails.
        Expr::Cast(cast) => never_null(&cast.expr, inputs),
        Expr::Column(column) => {
            let holder = inputs.iter().find(|input| input.schema().has_column(column));
            holder.is_some_and(|input| column_is_never_null(column, input))
        }
        _ => false,
    }
}

/// Whether a column of a plan is never NULL.
fn column_is_never_null(column: &Column, plan: &LogicalPlan) -> bool {
    // In what order and how often its rows come makes no difference.
    let same_rows = |input: &LogicalPlan| column_is_never_null(column, input);
    match plan {
        // Arrow holds a table to what it declares.
        LogicalPlan::TableScan(scan) => {
            scan.source.schema().field_with_name(&column.name).is_ok_and(|field| !field.is_nullable())
        }
        LogicalPlan::Filter(filter) => {
            let guards = split_conjunction(&filter.predicate);
            let guarded =
                |guard: &&Expr| matches!(guard, Expr::IsNotNull(inner) if **inner == Expr::Column(column.clone()));
            guards.iter().any(guarded) || same_rows(&filter.input)
        }
        LogicalPlan::Projection(projection) => {
            let Ok(index) = projection.schema.index_of_column(column) else { return false };
            never_null(&projection.expr[index], std::slice::from_ref(projection.input.as_ref()))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let Ok(index) = alias.schema.index_of_column(column) else { return false };
            let inner = Column::from(alias.input.schema().qualified_field(index));
            column_is_never_null(&inner, &alias.input)
        }
        LogicalPlan::Sort(sort) => same_rows(&sort.input),
        LogicalPlan::Limit(limit) => same_rows(&limit.input),
        LogicalPlan::Repartition(repartition) => same_rows(&repartition.input),
        LogicalPlan::Join(join) => {
            let (left, right) = match join.join_type {
                JoinType::Inner => (true, true),
                JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => (true, false),
                JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => (false, true),
                _ => (false, false),
            };
            (left && join.left.schema().has_column(column) && column_is_never_null(column, &join.left))
                || (right && join.right.schema().has_column(column) && column_is_never_null(column, &join.right))
        }
        _ => false,
    }
}
