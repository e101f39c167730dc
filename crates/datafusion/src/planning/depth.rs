//! Statements that are nested deeply, or are long chains: `x = 1 OR x = 2 OR …`.
//!
//! Planning and running walk expressions by recursion, on a stack that is the caller's, and
//! a stack that overflows ends the process. So a statement is parsed on a stack of our own;
//! a long chain of AND or OR, whose terms may be grouped as one likes (three-valued logic is
//! associative), becomes a balanced tree; and what is still nested deeper than
//! [`MAX_DEPTH`] is refused. DataFusion makes a chain of the terms of AND again, so that
//! two of them count as a level, and so it does with OR where that becomes AND, as below NOT.
//! The parser itself bounds parentheses and nested queries.
//!
//! Few words can also stand for much: names of a WITH that each name the one before twice, and
//! CUBE of many columns. DataFusion plans each use of a name and each set of columns, and is not
//! interrupted while it does, so that what stands for more than [`MAX_TABLES`] tables or
//! [`MAX_CUBE`] columns is refused. So are views of views, and conditions on columns that are computed from
//! columns that are computed, for more than [`MAX_TERMS`] terms.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, Expr, GroupByExpr, GroupByWithModifier, ObjectNamePart, Query, SetExpr,
    Value, VisitMut, VisitorMut, visit_relations,
};
use exuvia_engine::on_large_stack;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How deep the parts of a statement may be nested in each other.
const MAX_DEPTH: usize = 250;

/// The levels for which a join counts.
const JOIN: usize = 3;

/// The levels for which ROW and a function with WITHIN GROUP count: their names repeat those of
/// what is within them twice.
const REPEATED: usize = 25;

/// The tables for which the names of a query's WITH may stand together.
const MAX_TABLES: u64 = 1_000;

/// The terms for which a condition may stand.
const MAX_TERMS: u64 = 100_000;

/// The columns of which a query may ask all subsets.
const MAX_CUBE: usize = 12;

/// Terms of AND or OR that are left as they are.
const FLAT: usize = 32;

/// Parses a statement, on a stack that suffices for any.
///
/// # Errors
/// As `parse`, or the statement is nested too deeply.
pub(crate) fn parsed(parse: impl FnOnce() -> Result<Statement> + Send) -> Result<Statement> {
    on_large_stack(|| {
        let mut statement = parse()?;
        flatten(&mut statement)?;
        Ok(statement)
    })
}

/// What walks what [`parsed`] gave, on a stack that suffices for it.
pub(crate) struct OnLargeStack<F>(Pin<Box<F>>);

/// What is left of a stack that suffices, and the size of one where it does not. DataFusion takes up to 130 KB
/// for an operator in a debug build.
const ENOUGH: usize = 48 << 20;
const LARGE: usize = 128 << 20;

impl<F: Future> OnLargeStack<F> {
    pub(crate) fn new(work: F) -> OnLargeStack<F> {
        OnLargeStack(Box::pin(work))
    }
}

impl<F: Future> Future for OnLargeStack<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        stacker::maybe_grow(ENOUGH, LARGE, || self.0.as_mut().poll(cx))
    }
}

/// How deep arrays are nested in a type.
pub(crate) fn type_depth(mut ty: &DataType) -> usize {
    let mut depth = 0;
    while let DataType::Array(
        ArrayElemTypeDef::AngleBracket(inner)
        | ArrayElemTypeDef::SquareBracket(inner, _)
        | ArrayElemTypeDef::Parenthesis(inner),
    ) = ty
    {
        depth += 1;
        ty = inner;
    }
    depth
}

/// How deep arrays may be nested.
pub(crate) const MAX_ARRAYS: usize = 32;

fn flatten(statement: &mut Statement) -> Result<()> {
    match statement {
        Statement::Statement(statement) => measure(&mut **statement),
        Statement::Explain(explain) => flatten(&mut explain.statement),
        Statement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => measure(&mut **query),
            CopyToSource::Relation(_) => Ok(()),
        },
        Statement::CreateExternalTable(_) | Statement::Reset(_) => Ok(()),
    }
}

/// Balances and measures a statement, or an expression that stands alone, as a DEFAULT does.
///
/// # Errors
/// It is nested too deeply.
pub(crate) fn measure(tree: &mut impl VisitMut) -> Result<()> {
    match tree.visit(&mut Depth::default()) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// How deep the walk is.
#[derive(Default)]
struct Depth {
    now: usize,
    /// The levels that each expression and query around counts for.
    levels: Vec<usize>,
    /// Of each expression around whether OR may become AND in it.
    turned: Vec<bool>,
    /// For the names of each WITH around, how many tables they stand for.
    names: Vec<HashMap<String, u64>>,
}

/// The refusal of a statement.
fn refuse(message: String) -> ControlFlow<DataFusionError> {
    ControlFlow::Break(DataFusionError::Plan(message))
}

impl Depth {
    fn enter(&mut self, levels: usize) -> ControlFlow<DataFusionError> {
        self.levels.push(levels);
        self.now += levels;
        if self.now <= MAX_DEPTH {
            return ControlFlow::Continue(());
        }
        refuse(format!(
            "the statement is nested more than {MAX_DEPTH} deep; each operator of a chain and each name of a WITH is a \
             level, a join {JOIN}, ROW and WITHIN GROUP {REPEATED}, two AND are one, two OR within NOT, a comparison or a CASE \
             too, and other OR are none. Lists belong into IN (…) or a table"
        ))
    }

    fn leave(&mut self) -> ControlFlow<DataFusionError> {
        self.now -= self.levels.pop().unwrap_or(0);
        ControlFlow::Continue(())
    }
}

impl VisitorMut for Depth {
    type Break = DataFusionError;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<DataFusionError> {
        let turned = self.turned.last().copied().unwrap_or(false);
        let keeps =
            matches!(expr, Expr::Nested(_) | Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. });
        self.turned.push(turned || !keeps);
        let mut levels = balance(expr, turned);
        if let Expr::Cast { data_type, .. } = expr {
            levels += type_depth(data_type) * (MAX_DEPTH / MAX_ARRAYS);
        }
        if let Expr::Function(function) = expr
            && matches!(&function.name.0[..], [ObjectNamePart::Identifier(name)] if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("NOT"))
        {
            // What the parser makes of it where it is too deep for the operator.
            return refuse("NOT is nested too deeply".to_string());
        }
        if let Expr::Function(function) = expr
            && (!function.within_group.is_empty() || function.name.to_string().eq_ignore_ascii_case("row"))
        {
            levels = REPEATED;
        }
        self.enter(levels)
    }

    fn post_visit_expr(&mut self, _: &mut Expr) -> ControlFlow<DataFusionError> {
        self.turned.pop();
        self.leave()
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<DataFusionError> {
        let with = query.with.as_ref().map_or(0, |with| with.cte_tables.len());
        self.count_tables(query)?;
        if let SetExpr::Select(select) = &*query.body
            && cubed(&select.group_by) > MAX_CUBE
        {
            return refuse(format!("CUBE of more than {MAX_CUBE} columns: it groups by each of their subsets"));
        }
        self.enter(set_depth(&query.body) + with)
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<DataFusionError> {
        self.names.pop();
        self.leave()
    }
}

impl Depth {
    /// Counts what the names of a query's WITH stand for.
    fn count_tables(&mut self, query: &Query) -> ControlFlow<DataFusionError> {
        self.names.push(HashMap::new());
        let Some(with) = &query.with else { return ControlFlow::Continue(()) };
        for table in &with.cte_tables {
            let tables = self.tables(&table.query);
            if tables > MAX_TABLES {
                return refuse(format!(
                    "{} of WITH stands for {tables} tables, more than {MAX_TABLES}: each use of a name is planned anew. A table \
                     can hold what is used often",
                    table.alias.name
                ));
            }
            if let Some(names) = self.names.last_mut() {
                names.insert(table.alias.name.value.to_ascii_lowercase(), tables);
            }
        }
        ControlFlow::Continue(())
    }

    /// The tables of a query, each name of a WITH for what it stands for.
    fn tables(&self, query: &Query) -> u64 {
        let mut tables = 0u64;
        let walk: ControlFlow<()> = visit_relations(query, |name| {
            let name = name.to_string().to_ascii_lowercase();
            let known = self.names.iter().rev().find_map(|names| names.get(&name));
            tables = tables.saturating_add(known.copied().unwrap_or(1));
            ControlFlow::Continue(())
        });
        let ControlFlow::Continue(()) = walk else { return u64::MAX };
        tables.max(1)
    }
}

/// Refuses a statement whose views stand for too many tables together. `text` is the statement.
///
/// # Errors
/// They do.
pub(crate) fn check_views(plan: &LogicalPlan, text: &str) -> Result<()> {
    let mut tables = 0u64;
    plan.apply_with_subqueries(|node| {
        // A table, or rows that the statement gives.
        tables += u64::from(node.inputs().is_empty());
        Ok(TreeNodeRecursion::Continue)
    })?;
    // What a statement writes itself it may read: each table has a word, a query without table another.
    if tables > MAX_TABLES && tables > text.split_whitespace().count() as u64 {
        return plan_err!(
            "the views of the statement stand for {tables} tables, more than {MAX_TABLES}: each use of a view is planned anew. \
             A table can hold what is used often"
        );
    }
    Ok(())
}

/// Refuses a statement with a condition that stands for too much where the columns that it names are
/// written out: DataFusion puts what a query within computes in place of their names to push the
/// condition down, and a column that is named twice at each level doubles it.
///
/// # Errors
/// There is one.
pub(crate) fn check_conditions(plan: &LogicalPlan) -> Result<()> {
    written_out(plan).map(|_| ())
}

/// For how many terms each column of a plan stands.
fn written_out(plan: &LogicalPlan) -> Result<Vec<u64>> {
    let mut columns = Vec::new();
    let mut inputs = Vec::new();
    for input in plan.inputs() {
        inputs.push(written_out(input)?);
    }
    let first = || inputs.first().cloned().unwrap_or_default();
    // For how many it stands, and how many it has.
    let terms = |expr: &PlanExpr| -> Result<(u64, u64)> {
        let (mut terms, mut own) = (0u64, 0);
        expr.apply(|part| {
            let found = |column| {
                let mut all = plan.inputs().into_iter().zip(&inputs);
                all.find_map(|(input, sizes)| sizes.get(input.schema().index_of_column(column).ok()?).copied())
            };
            terms = terms.saturating_add(match part {
                PlanExpr::Column(column) => found(column).unwrap_or(1),
                _ => 1,
            });
            own += 1;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok((terms, own))
    };
    match plan {
        LogicalPlan::Projection(projection) => {
            for expr in &projection.expr {
                columns.push(terms(expr)?.0);
            }
        }
        LogicalPlan::Filter(filter) => {
            let (terms, own) = terms(&filter.predicate)?;
            // A long list of constants is as long as it was written.
            if terms > MAX_TERMS.max(2 * own) {
                return plan_err!(
                    "a condition stands for more than {MAX_TERMS} terms where the columns that it names are written out, as \
                     is done to push it down: each is computed from others, which are named several times. A table can \
                     hold those columns"
                );
            }
            columns = first();
        }
        LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Window(_) => columns = first(),
        LogicalPlan::Join(_) => columns = inputs.concat(),
        LogicalPlan::Union(_) => {
            columns = first();
            for other in &inputs {
                columns.iter_mut().zip(other).for_each(|(most, size)| *most = (*most).max(*size));
            }
        }
        LogicalPlan::Aggregate(aggregate) => {
            for key in &aggregate.group_expr {
                columns.push(terms(key)?.0);
            }
        }
        _ => {}
    }
    columns.resize(plan.schema().fields().len(), 1);
    Ok(columns)
}

/// The columns of CUBE in a GROUP BY.
fn cubed(group_by: &GroupByExpr) -> usize {
    let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = group_by;
    let expressions = match group_by {
        GroupByExpr::Expressions(expressions, _) => expressions.as_slice(),
        GroupByExpr::All(_) => &[],
    };
    if modifiers.iter().any(|modifier| matches!(modifier, GroupByWithModifier::Cube)) {
        return expressions.len();
    }
    let columns = |expr: &Expr| match expr {
        Expr::Cube(sets) => sets.len(),
        _ => 0,
    };
    expressions.iter().map(columns).sum()
}

/// How deep UNION and its like are nested to the left, as chains of them are.
fn set_depth(mut body: &SetExpr) -> usize {
    let mut depth = 1;
    while let SetExpr::SetOperation { left, .. } = body {
        depth += 1;
        body = left;
    }
    // DataFusion makes a chain of tables and joins, each an operator of several calls.
    if let SetExpr::Select(select) = body {
        let joins: usize = select.from.iter().map(|table| table.joins.len()).sum();
        depth += (select.from.len() + joins).saturating_sub(1) * JOIN;
    }
    depth
}

/// Makes a balanced tree of a long chain of AND or of OR; gives the levels for which the
/// expression counts, where each may become the other or not.
fn balance(expr: &mut Expr, turned: bool) -> usize {
    let Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } = &*expr else { return 1 };
    let op = op.clone();
    let mut count = 1;
    let mut at = &*expr;
    while let Expr::BinaryOp { left, op: other, .. } = at
        && *other == op
    {
        count += 1;
        at = left;
    }
    if count <= FLAT {
        return 1;
    }
    let mut terms = Vec::with_capacity(count);
    let mut rest = std::mem::replace(expr, Expr::value(Value::Null));
    loop {
        match rest {
            Expr::BinaryOp { left, op: other, right } if other == op => {
                terms.push(*right);
                rest = *left;
            }
            first => {
                terms.push(first);
                break;
            }
        }
    }
    terms.reverse();
    *expr = joined(&mut terms.into_iter(), count, &op);
    if op == BinaryOperator::And || turned { count / 2 } else { 1 }
}

/// The next `count` terms as a tree.
fn joined(terms: &mut impl Iterator<Item = Expr>, count: usize, op: &BinaryOperator) -> Expr {
    if count == 1 {
        return terms.next().unwrap_or_else(|| Expr::value(Value::Null));
    }
    let left = joined(terms, count / 2, op);
    let right = joined(terms, count - count / 2, op);
    Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) }
}
