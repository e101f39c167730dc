//! Computes calls below the operators that aggregate, sort, number and pair rows.
//!
//! DataFusion's operators evaluate what they group, sort and aggregate by themselves, some of
//! it more than once: a window's key is evaluated to divide the rows, to sort them and to
//! find where a partition ends. The rule here puts expressions with Python calls into a
//! projection below the operator, under the names that they have where these are free, and a
//! column in their place; a projection on a window takes such columns too. So each is evaluated
//! once for each row, and what else is computed there is one loop with it ([`crate::running::fuse`]).
//!
//! The rows are the same, so no error is added. Aggregates and windows with FILTER keep
//! their arguments, of which they may evaluate fewer; volatile expressions stay too. So do
//! arguments of windows that are texts, lists and their like, which may be large: below a window
//! rows are exchanged and sorted, and would take them along.

use crate::planning::barrier::{Barrier, calls_function};
use crate::running::function::PythonFunction;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, HashMap, HashSet, Result};
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, GroupingSet, Join, LogicalPlan, Projection, Sort, Window,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use exuvia_engine::Settings;
use std::sync::Arc;

/// The rule.
#[derive(Debug)]
pub(crate) struct Operands;

impl OptimizerRule for Operands {
    fn name(&self) -> &'static str {
        "exuvia_operands"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let options = ExuviaOptions::of(&config.options());
        if options.apart || !plan.expressions().iter().any(calls_function) {
            return Ok(Transformed::no(plan));
        }
        match plan {
            LogicalPlan::Aggregate(aggregate) => below_aggregate(aggregate),
            LogicalPlan::Window(window) => below_windows(window),
            LogicalPlan::Projection(projection) => beside_windows(projection),
            LogicalPlan::Sort(sort) => below_sort(sort),
            LogicalPlan::Join(join) if join.on.is_empty() => below_join(join, &options.settings),
            other => Ok(Transformed::no(other)),
        }
    }
}

fn below_aggregate(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let mut beneath = Beneath::new(&aggregate.input);
    let group_expr = aggregate.group_expr.iter().map(|expr| beneath.key(expr)).collect();
    let aggr_expr = aggregate.aggr_expr.iter().map(|expr| beneath.operands_of(expr)).collect::<Result<_>>()?;
    let Some(input) = beneath.projection()? else { return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate))) };
    let moved = Aggregate::try_new_with_schema(input, group_expr, aggr_expr, aggregate.schema)?;
    Ok(Transformed::yes(LogicalPlan::Aggregate(moved)))
}

fn below_windows(window: Window) -> Result<Transformed<LogicalPlan>> {
    let moved = Windows::over(&window).moved()?;
    match moved {
        Some(moved) => without_operands(moved.plan, &window.schema),
        None => Ok(Transformed::no(LogicalPlan::Window(window))),
    }
}

/// A projection on windows takes what it computes too from the operands of the windows.
fn beside_windows(mut projection: Projection) -> Result<Transformed<LogicalPlan>> {
    let unmoved = |projection| Ok(Transformed::no(LogicalPlan::Projection(projection)));
    let barrier = Barrier::of(&projection.input);
    let below = barrier.map_or(projection.input.as_ref(), Barrier::input);
    let LogicalPlan::Window(window) = below else { return unmoved(projection) };
    let Some(moved) = Windows::over(window).moved()? else { return unmoved(projection) };
    let mut shared = false;
    for expr in &mut projection.expr {
        let name = expr.schema_name().to_string();
        let taken = expr.clone().transform_down(|expr| {
            Ok(match moved.made.get(&expr) {
                Some(name) => {
                    let column = Expr::Column(Column::from_name(name));
                    Transformed::new(column, true, TreeNodeRecursion::Jump)
                }
                None => Transformed::no(expr),
            })
        })?;
        if taken.transformed {
            shared = true;
            *expr = taken.data.alias_if_changed(name)?;
        }
    }
    if !shared {
        return unmoved(projection);
    }
    let input = match barrier {
        Some(barrier) => Arc::new(Barrier::over(Arc::unwrap_or_clone(moved.plan), barrier.prefiltered().to_vec())),
        None => moved.plan,
    };
    let taken = Projection::try_new_with_schema(projection.expr, input, projection.schema)?;
    Ok(Transformed::yes(LogicalPlan::Projection(taken)))
}

/// Windows over windows, of which all operands are computed below the last that they allow.
struct Windows<'a> {
    /// From the outermost on.
    windows: Vec<&'a Window>,
    beneath: Beneath<'a>,
}

/// Windows whose operands are computed below.
struct Moved {
    plan: Arc<LogicalPlan>,
    /// What is computed below, and its names.
    made: HashMap<Expr, String>,
}

impl<'a> Windows<'a> {
    fn over(window: &'a Window) -> Windows<'a> {
        let columns: Vec<&Column> = window.window_expr.iter().flat_map(Expr::column_refs).collect();
        let mut windows = vec![window];
        let mut input = &window.input;
        while let LogicalPlan::Window(inner) = input.as_ref()
            && columns.iter().all(|column| inner.input.schema().has_column(column))
        {
            windows.push(inner);
            input = &inner.input;
        }
        Windows { windows, beneath: Beneath::new(input) }
    }

    /// The windows above their operands; `None` if none has to be computed.
    fn moved(mut self) -> Result<Option<Moved>> {
        let mut exprs: Vec<Vec<Expr>> = vec![];
        for window in &self.windows {
            exprs.push(window.window_expr.iter().map(|expr| self.beneath.operands_of(expr)).collect::<Result<_>>()?);
        }
        let made = self.beneath.made.clone();
        let Some(mut plan) = self.beneath.projection()? else { return Ok(None) };
        for exprs in exprs.into_iter().rev() {
            plan = Arc::new(LogicalPlan::Window(Window::try_new(exprs, plan)?));
        }
        Ok(Some(Moved { plan, made }))
    }
}

fn below_sort(sort: Sort) -> Result<Transformed<LogicalPlan>> {
    let mut beneath = Beneath::new(&sort.input);
    let expr = beneath.sort_keys(&sort.expr);
    let Some(input) = beneath.projection()? else { return Ok(Transformed::no(LogicalPlan::Sort(sort))) };
    let sorted = LogicalPlan::Sort(Sort { expr, input, fetch: sort.fetch });
    without_operands(Arc::new(sorted), sort.input.schema())
}

/// Of a join without keys, calls about one side are computed below that side: the join asks
/// its condition of every pair. They must be ones that fail for no row, since it asks nothing
/// where the other side is empty.
fn below_join(join: Join, settings: &Settings) -> Result<Transformed<LogicalPlan>> {
    let Some(filter) = join.filter.clone() else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
    let (mut left, mut right) = (Beneath::new(&join.left), Beneath::new(&join.right));
    let filter = filter.transform_down(|expr| {
        if !matches!(expr, Expr::ScalarFunction(_))
            || expr.column_refs().is_empty()
            || !calls_only_total(&expr, settings)
        {
            return Ok(Transformed::no(expr));
        }
        for side in [&mut left, &mut right] {
            let operand = side.operand(&expr);
            if operand != expr {
                return Ok(Transformed::new(operand, true, TreeNodeRecursion::Jump));
            }
        }
        Ok(Transformed::no(expr))
    })?;
    let (below_left, below_right) = (left.projection()?, right.projection()?);
    if below_left.is_none() && below_right.is_none() {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let moved = Join::try_new(
        below_left.unwrap_or_else(|| Arc::clone(&join.left)),
        below_right.unwrap_or_else(|| Arc::clone(&join.right)),
        vec![],
        Some(filter.data),
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    );
    match moved {
        Ok(moved) => without_operands(Arc::new(LogicalPlan::Join(moved)), &join.schema),
        // Both sides would have a column of one name.
        Err(_) => Ok(Transformed::no(LogicalPlan::Join(join))),
    }
}

/// Whether an expression is a call of a Python function, or makes some, and none can fail.
fn calls_only_total(expr: &Expr, settings: &Settings) -> bool {
    let fails = |expr: &Expr| {
        Ok(match expr {
            Expr::ScalarFunction(call) => {
                PythonFunction::of(&call.func).is_none_or(|python| !python.function().is_total(settings))
            }
            Expr::Column(_) | Expr::Literal(..) => false,
            _ => true,
        })
    };
    // The walk never fails.
    !expr.exists(fails).unwrap_or(true)
}

/// The plan with the columns of `schema` only.
fn without_operands(plan: Arc<LogicalPlan>, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns(schema), plan)?)))
}

fn columns(schema: &DFSchema) -> Vec<Expr> {
    schema.columns().into_iter().map(Expr::Column).collect()
}

/// What is computed below an operator.
struct Beneath<'a> {
    input: &'a Arc<LogicalPlan>,
    /// The names that are taken, of columns or of what is computed for another operand.
    names: HashSet<String>,
    computed: Vec<Expr>,
    made: HashMap<Expr, String>,
}

impl<'a> Beneath<'a> {
    fn new(input: &'a Arc<LogicalPlan>) -> Beneath<'a> {
        let names = input.schema().fields().iter().map(|field| field.name().clone()).collect();
        Beneath { input, names, computed: vec![], made: HashMap::new() }
    }

    /// A column of what `expr` is, computed below; `expr` itself if it has no call or must stay.
    fn operand(&mut self, expr: &Expr) -> Expr {
        self.column(expr, false)
    }

    /// A column of what `expr` is, computed below, under the name that it has if it is to be `named` so.
    fn column(&mut self, expr: &Expr, named: bool) -> Expr {
        if let Expr::Alias(alias) = expr {
            let mut alias = alias.clone();
            *alias.expr = self.column(&alias.expr, false);
            return Expr::Alias(alias);
        }
        let known = || expr.column_refs().into_iter().all(|column| self.input.schema().has_column(column));
        // Of what is never NULL, such as IS NOT FALSE, DataFusion's two plans may disagree.
        let settled = || expr.nullable(self.input.schema()).unwrap_or(false);
        if !calls_function(expr) || expr.is_volatile() || expr.contains_outer() || !known() || !settled() {
            return expr.clone();
        }
        if let Some(name) = self.made.get(expr) {
            return Expr::Column(Column::from_name(name));
        }
        let Some(name) = self.free_name(expr, named) else { return expr.clone() };
        self.names.insert(name.clone());
        self.made.insert(expr.clone(), name.clone());
        self.computed.push(expr.clone().alias(name.clone()));
        Expr::Column(Column::from_name(name))
    }

    /// A name for what `expr` is: the one that it has, or another like it. A cast has the name of what
    /// it casts.
    fn free_name(&self, expr: &Expr, named: bool) -> Option<String> {
        let name = expr.schema_name().to_string();
        let mut names = std::iter::once(name.clone()).chain((2..10).map(|turn| format!("{name} #{turn}")));
        names.find(|name| !self.names.contains(name)).filter(|free| !named || *free == name)
    }

    fn operands(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.operand(expr)).collect()
    }

    fn columns(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.column(expr, true)).collect()
    }

    fn sort_keys(&mut self, keys: &[SortExpr]) -> Vec<SortExpr> {
        keys.iter().map(|key| SortExpr { expr: self.operand(&key.expr), ..key.clone() }).collect()
    }

    /// A key of groups.
    fn key(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::GroupingSet(GroupingSet::Rollup(keys)) => Expr::GroupingSet(GroupingSet::Rollup(self.columns(keys))),
            Expr::GroupingSet(GroupingSet::Cube(keys)) => Expr::GroupingSet(GroupingSet::Cube(self.columns(keys))),
            Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
                let sets = sets.iter().map(|keys| self.columns(keys)).collect();
                Expr::GroupingSet(GroupingSet::GroupingSets(sets))
            }
            key => self.column(key, true),
        }
    }

    /// A call of an aggregate or of a window function with its operands computed below, under
    /// the name that it has.
    fn operands_of(&mut self, expr: &Expr) -> Result<Expr> {
        let mut moved = expr.clone();
        self.move_operands(&mut moved);
        moved.alias_if_changed(expr.schema_name().to_string())
    }

    fn move_operands(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Alias(alias) => self.move_operands(&mut alias.expr),
            Expr::AggregateFunction(call) if call.params.filter.is_none() => {
                call.params.args = self.operands(&call.params.args);
                call.params.order_by = self.sort_keys(&call.params.order_by);
            }
            Expr::WindowFunction(call) => {
                if call.params.filter.is_none() {
                    for arg in &mut call.params.args {
                        if self.is_small(arg) {
                            *arg = self.operand(arg);
                        }
                    }
                }
                call.params.partition_by = self.operands(&call.params.partition_by);
                call.params.order_by = self.sort_keys(&call.params.order_by);
            }
            _ => {}
        }
    }

    /// Whether all values of an expression have the same few bytes.
    fn is_small(&self, expr: &Expr) -> bool {
        let ty = expr.get_type(self.input.schema());
        ty.is_ok_and(|ty| ty.primitive_width().is_some() || ty == DataType::Boolean)
    }

    /// The input with what was moved; `None` if nothing was.
    fn projection(self) -> Result<Option<Arc<LogicalPlan>>> {
        if self.computed.is_empty() {
            return Ok(None);
        }
        let exprs = columns(self.input.schema()).into_iter().chain(self.computed).collect();
        let projection = Projection::try_new(exprs, Arc::clone(self.input))?;
        Ok(Some(Arc::new(LogicalPlan::Projection(projection))))
    }
}
