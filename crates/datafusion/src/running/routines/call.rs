//! A call in FROM: `f(TABLE t, 3)`, `f((SELECT … ORDER BY …), k => 3)`, `LATERAL f(t.a)`.
//!
//! DataFusion's planner drops every ORDER BY without a LIMIT below a relation, also below one
//! that an extension plans. So an argument's query is planned as EXISTS plans its own, which
//! keeps it, and its order becomes a part of the call: an order that rules may drop would be
//! a wrong answer.

use super::{Registered, Routines};
use crate::planning::barrier::node_of;
use crate::statements::parsing;
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result, TableReference, internal_err, plan_err};
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{
    Expr, Extension, Limit, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias, UserDefinedLogicalNodeCore, col,
};
use datafusion::sql::sqlparser::ast::{
    self, FunctionArg, FunctionArgExpr, Ident, ObjectName, ObjectNamePart, TableAlias, TableFactor,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use exuvia_engine::routine::{Kind, Takes};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A call with tables. Its inputs are the tables and, last, a projection of the scalar
/// arguments, of one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableCall {
    pub(crate) registered: Registered,
    pub(crate) tables: Vec<TableArgument>,
    pub(crate) scalars: Arc<LogicalPlan>,
    pub(crate) schema: DFSchemaRef,
    /// Whether the columns of the result are those that a sample had.
    pub(crate) sampled: bool,
}

/// A table that a call is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableArgument {
    pub(crate) plan: LogicalPlan,
    /// The number of columns that the function sees; others behind them are for the order.
    pub(crate) visible: usize,
    /// The order of its rows: columns, and how each sorts.
    pub(crate) order: Vec<SortExpr>,
    /// How the query names it.
    pub(crate) text: String,
}

/// Rows from the values of rows: for each row of the input any number of rows, each with the
/// input's columns but the last `args`, which are the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Generate {
    pub(crate) registered: Registered,
    pub(crate) input: Arc<LogicalPlan>,
    pub(crate) args: usize,
    /// Whether a row of the input without rows of its own appears once, with NULLs.
    pub(crate) outer: bool,
    /// The qualifier of the columns that the function gives.
    pub(crate) alias: Option<TableReference>,
    /// Their names, if they have others than declared.
    pub(crate) names: Vec<String>,
    pub(crate) schema: DFSchemaRef,
}

impl PartialOrd for TableCall {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl PartialOrd for Generate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl TableCall {
    /// The node that a plan is, if it is one.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<&TableCall> {
        node_of(plan)
    }

    fn text(&self) -> String {
        let mut tables = self.tables.iter();
        let mut scalars = scalars_of(&self.scalars).into_iter();
        let params = &self.registered.routine.definition().params;
        let args: Vec<String> = params
            .iter()
            .map(|param| match &param.takes {
                Takes::Table(_) => tables.next().map_or(String::new(), |table| table.text.clone()),
                Takes::Value(_) => scalars.next().unwrap_or_default(),
            })
            .collect();
        format!("{}({})", self.registered.name(), args.join(", "))
    }

    /// A line for EXPLAIN.
    pub(crate) fn explained(&self) -> String {
        let mut text = format!("{}: python: a table function, one call", self.text());
        let unordered: Vec<&str> =
            self.tables.iter().filter(|table| table.order.is_empty()).map(|table| table.text.as_str()).collect();
        if !unordered.is_empty() {
            let plural = if unordered.len() == 1 { "is" } else { "are" };
            let text_of = unordered.join(" and ");
            text.push_str(&format!("; may depend on the order of {text_of}, which {plural} not given"));
        }
        if self.sampled {
            text.push_str("; its columns are those of a sample");
        }
        text
    }
}

/// The expressions of a projection of arguments, as SQL.
fn scalars_of(plan: &LogicalPlan) -> Vec<String> {
    match plan {
        LogicalPlan::Projection(projection) => {
            projection.expr.iter().map(|expr| expr.clone().unalias().human_display().to_string()).collect()
        }
        _ => vec![],
    }
}

impl UserDefinedLogicalNodeCore for TableCall {
    fn name(&self) -> &'static str {
        "PythonTable"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.tables.iter().map(|table| &table.plan).chain([self.scalars.as_ref()]).collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        self.tables.iter().flat_map(|table| table.order.iter().map(|sort| sort.expr.clone())).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PythonTable: {}", self.text())
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<TableCall> {
        let Some(scalars) = inputs.pop().filter(|_| inputs.len() == self.tables.len()) else {
            return internal_err!("a table call was given another number of inputs");
        };
        let mut exprs = exprs.into_iter();
        let mut tables = vec![];
        for (table, plan) in self.tables.iter().zip(inputs) {
            let order = table.order.iter().map(|sort| match exprs.next() {
                Some(expr) => Ok(SortExpr { expr, ..sort.clone() }),
                None => internal_err!("a table call has lost its order"),
            });
            tables.push(TableArgument { plan, order: order.collect::<Result<_>>()?, ..table.clone() });
        }
        Ok(TableCall { tables, scalars: Arc::new(scalars), ..self.clone() })
    }
}

impl Generate {
    /// The node that a plan is, if it is one.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<&Generate> {
        node_of(plan)
    }

    pub(crate) fn over(
        registered: Registered,
        input: Arc<LogicalPlan>,
        args: usize,
        outer: bool,
        alias: Option<TableReference>,
        names: Vec<String>,
    ) -> Result<Generate> {
        let schema = Generate::schema_of(&registered, &input, args, outer, alias.as_ref(), &names)?;
        Ok(Generate { registered, input, args, outer, alias, names, schema })
    }

    fn schema_of(
        registered: &Registered,
        input: &LogicalPlan,
        args: usize,
        outer: bool,
        alias: Option<&TableReference>,
        names: &[String],
    ) -> Result<DFSchemaRef> {
        let fields = registered.routine.definition().returns.clone().unwrap_or_default();
        let kept = input.schema().fields().len().saturating_sub(args);
        let mut all: Vec<(Option<TableReference>, Arc<Field>)> = input
            .schema()
            .iter()
            .take(kept)
            .map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)))
            .collect();
        for (index, field) in fields.iter().enumerate() {
            let name = names.get(index).unwrap_or(field.name());
            let nullable = outer || field.is_nullable();
            all.push((alias.cloned(), Arc::new(Field::new(name, field.data_type().clone(), nullable))));
        }
        Ok(Arc::new(DFSchema::new_with_metadata(all, Default::default())?))
    }

    fn text(&self) -> String {
        let fields = self.input.schema().fields();
        let named = fields.iter().skip(fields.len().saturating_sub(self.args)).map(|field| field.name().as_str());
        // What was no column has the name that EXPLAIN gives expressions.
        let args: Vec<&str> = named.map(|name| name.strip_prefix(ARGUMENT).unwrap_or(name)).collect();
        let args: Vec<&str> = args.iter().map(|arg| arg.split_once(' ').map_or(*arg, |(_, text)| text)).collect();
        format!("{}({})", self.registered.name(), args.join(", "))
    }

    /// A line for EXPLAIN.
    pub(crate) fn explained(&self) -> String {
        format!("{}: python: rows from the values of a row, one call a row", self.text())
    }
}

impl UserDefinedLogicalNodeCore for Generate {
    fn name(&self) -> &'static str {
        "PythonRows"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![self.input.as_ref()]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    /// What a predicate says of the input's own rows can be said before the calls.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        let kept = self.input.schema().fields().len().saturating_sub(self.args);
        let fields = self.schema.fields();
        let own: HashSet<String> = fields.iter().skip(kept).map(|field| field.name().clone()).collect();
        // Names alone tell columns apart here.
        let ambiguous = fields.iter().take(kept).any(|field| own.contains(field.name()));
        if ambiguous { fields.iter().map(|field| field.name().clone()).collect() } else { own }
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outer = if self.outer { " outer" } else { "" };
        write!(f, "PythonRows{outer}: {}", self.text())
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Generate> {
        match (inputs.pop(), inputs.is_empty()) {
            (Some(input), true) => Generate::over(
                self.registered.clone(),
                Arc::new(input),
                self.args,
                self.outer,
                self.alias.clone(),
                self.names.clone(),
            ),
            _ => internal_err!("a generator has one input"),
        }
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let all = self.input.schema().fields().len();
        let kept = all.saturating_sub(self.args);
        let mut needed: Vec<usize> = output_columns.iter().copied().filter(|index| *index < kept).collect();
        needed.sort_unstable();
        needed.dedup();
        needed.extend(kept..all);
        Some(vec![needed])
    }
}

/// The name of an argument that is no column begins so.
pub(crate) const ARGUMENT: &str = "__argument_";

/// Plans calls of our functions in FROM.
#[derive(Debug)]
pub(crate) struct PlanCalls;

impl RelationPlanner for PlanCalls {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (name, args, alias, more) = match &relation {
            TableFactor::Table { name, args: Some(args), alias, with_ordinality, sample, .. } => {
                (name, &args.args, alias, *with_ordinality || sample.is_some())
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => (name, args, alias, *with_ordinality),
            _ => return Ok(RelationPlanning::Original(Box::new(relation))),
        };
        let routines = Routines::of(context.context_provider().options());
        let Some(registered) = routine_named(&routines, name) else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        if more {
            return plan_err!("{}: a call in FROM takes no WITH ORDINALITY and no TABLESAMPLE", registered.name());
        }
        let plan = plan_call(&routines, registered, args, context)?;
        let alias = alias.clone().or_else(|| default_alias(name));
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

/// Without an alias a call's columns have the function's name as qualifier.
fn default_alias(name: &ObjectName) -> Option<TableAlias> {
    let ident = name.0.last().and_then(ObjectNamePart::as_ident)?.clone();
    Some(TableAlias { explicit: false, name: ident, columns: vec![], at: None })
}

/// The function that a name calls in FROM.
pub(crate) fn routine_named(routines: &Routines, name: &ObjectName) -> Option<Registered> {
    routines.get(&crate::statements::statement::unqualified(name)?)
}

fn plan_call(
    routines: &Routines,
    registered: Registered,
    args: &[FunctionArg],
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let definition = registered.routine.definition();
    let name = &definition.name;
    let kind = registered.routine.kind();
    if !matches!(kind, Kind::Table | Kind::Rows) {
        return plan_err!("{name} is {}, and gives no table; call it in SELECT", kind.described());
    }
    let bound = bind(&registered, args)?;
    let mut tables = vec![];
    let mut scalars = vec![];
    let empty = DFSchema::empty();
    for (index, (param, arg)) in definition.params.iter().zip(bound).enumerate() {
        match (&param.takes, arg) {
            (Takes::Table(columns), Some(arg)) => {
                let table = plan_table(routines, &registered, index, arg, columns.as_ref(), context)?;
                tables.push(table);
            }
            (Takes::Value(_), Some(arg)) => {
                let text = arg.to_string();
                let expr = context.sql_to_expr(arg, &empty).map_err(|error| {
                    let table = matches!(kind, Kind::Table);
                    let lateral =
                        format!("\n  hint: for the columns of a table before it in FROM write LATERAL {name}(…)");
                    if table { error } else { error.context(lateral) }
                })?;
                let expr = registered.argument(index, expr, &empty)?;
                scalars.push(expr.alias(format!("{ARGUMENT}{index} {text}")));
            }
            (Takes::Value(ty), None) => {
                let default = registered.defaults.get(index).and_then(Option::as_ref);
                let Some(default) = default else {
                    return plan_err!("{name} needs an argument {}", param.name);
                };
                scalars
                    .push(default.expr.clone().cast_to_type(ty)?.alias(format!("{ARGUMENT}{index} {}", default.expr)));
            }
            (Takes::Table(_), None) => return plan_err!("{name} needs a table {}", param.name),
        }
    }
    let count = scalars.len();
    let scalars = Arc::new(one_row(scalars)?);
    if kind == Kind::Rows {
        let generate = Generate::over(registered, scalars, count, false, None, vec![])?;
        return Ok(LogicalPlan::Extension(Extension { node: Arc::new(generate) }));
    }
    if scalars.contains_outer_reference() {
        return plan_err!("{name} takes a table, and its other arguments cannot be columns of another table in FROM");
    }
    let (fields, sampled) = match &definition.returns {
        Some(fields) => (fields.clone(), false),
        None => (super::sample::columns(&registered, &tables, &scalars, context)?, true),
    };
    let schema = Arc::new(DFSchema::try_from(Schema::new(fields))?);
    let call = TableCall { registered, tables, scalars, schema, sampled };
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(call) }))
}

/// Adds a cast where a default has another type than its parameter.
trait CastToType {
    fn cast_to_type(self, ty: &DataType) -> Result<Expr>;
}

impl CastToType for Expr {
    fn cast_to_type(self, ty: &DataType) -> Result<Expr> {
        use datafusion::logical_expr::ExprSchemable;
        let empty = DFSchema::empty();
        if &self.get_type(&empty)? == ty { Ok(self) } else { self.cast_to(ty, &empty) }
    }
}

/// A plan of one row, of some expressions.
fn one_row(exprs: Vec<Expr>) -> Result<LogicalPlan> {
    let row = LogicalPlanBuilder::empty(true).build()?;
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(row))?))
}

/// The argument of each parameter, where one is given.
fn bind(registered: &Registered, args: &[FunctionArg]) -> Result<Vec<Option<ast::Expr>>> {
    let definition = registered.routine.definition();
    let (name, params) = (&definition.name, &definition.params);
    let hint = || format!("\n  hint: {}", registered.signature_text());
    let mut bound: Vec<Option<ast::Expr>> = vec![None; params.len()];
    let mut named = false;
    for (position, arg) in args.iter().enumerate() {
        let (index, value) = match arg {
            FunctionArg::Named { name: ident, arg, .. } => {
                named = true;
                let index = params.iter().position(|param| match ident.quote_style {
                    Some(_) => param.name == ident.value,
                    None => param.name.eq_ignore_ascii_case(&ident.value),
                });
                let Some(index) = index else { return plan_err!("{name} has no parameter {ident}{}", hint()) };
                (index, arg)
            }
            FunctionArg::Unnamed(_) if named => {
                return plan_err!("{name} is given an argument without a name behind one with a name{}", hint());
            }
            FunctionArg::Unnamed(arg) => (position, arg),
            FunctionArg::ExprNamed { .. } => return plan_err!("{name} takes names of arguments, not expressions"),
        };
        let FunctionArgExpr::Expr(value) = value else {
            return plan_err!(
                "{name}(*) is no call of {}; name its arguments{}",
                registered.routine.kind().described(),
                hint()
            );
        };
        match bound.get_mut(index) {
            Some(slot) if slot.is_none() => *slot = Some(value.clone()),
            Some(_) => return plan_err!("{name} is given its argument {} twice{}", params[index].name, hint()),
            None => {
                let text = registered.wrong_count(args.len()).unwrap_or_default();
                return plan_err!("{text}");
            }
        }
    }
    if !named && let Some(wrong) = registered.wrong_count(args.len()) {
        return plan_err!("{wrong}");
    }
    Ok(bound)
}

/// Plans a table argument: a table's name, a query, or a call of another table function.
fn plan_table(
    routines: &Routines,
    registered: &Registered,
    index: usize,
    arg: ast::Expr,
    columns: Option<&Fields>,
    context: &mut dyn RelationPlannerContext,
) -> Result<TableArgument> {
    let query = query_of(routines, registered, index, arg)?;
    let param = &registered.routine.definition().params[index].name;
    let text = whole_table(&query).unwrap_or_else(|| param.clone());
    let exists = ast::Expr::Exists { subquery: Box::new(query), negated: false };
    let Expr::Exists(exists) = context.sql_to_expr(exists, &DFSchema::empty())? else {
        return internal_err!("EXISTS was planned as something else");
    };
    if !exists.subquery.outer_ref_columns.is_empty() {
        return plan_err!(
            "{}: the table {} cannot depend on columns of another table in FROM",
            registered.name(),
            registered.routine.definition().params[index].name
        );
    }
    let plan = Arc::unwrap_or_clone(exists.subquery.subquery);
    let (plan, visible, order) = take_order(plan)?;
    let argument = TableArgument { plan, visible, order, text };
    match columns {
        Some(columns) => declared(registered, index, argument, columns),
        None => {
            let mut seen = HashSet::new();
            let fields = argument.plan.schema().fields();
            if let Some(twice) = fields.iter().take(visible).find(|field| !seen.insert(field.name())) {
                return plan_err!(
                    "{}: the table {} has two columns {}; name them apart with AS",
                    registered.name(),
                    argument.text,
                    twice.name()
                );
            }
            Ok(argument)
        }
    }
}

/// Makes queries of the tables that a call in FROM is given by name: DataFusion looks for the
/// tables of a statement in its queries, before it plans them.
///
/// # Errors
/// An argument that is no table, or of no parameter.
pub(crate) fn tables_as_queries(routines: &Routines, registered: &Registered, args: &mut [FunctionArg]) -> Result<()> {
    let params = &registered.routine.definition().params;
    for (position, arg) in args.iter_mut().enumerate() {
        let (index, value) = match arg {
            FunctionArg::Named { name, arg, .. } => {
                (params.iter().position(|param| param.name.eq_ignore_ascii_case(&name.value)), arg)
            }
            FunctionArg::Unnamed(arg) => (Some(position), arg),
            FunctionArg::ExprNamed { .. } => continue,
        };
        // What is wrong with names and numbers is said where the call is planned.
        let Some((index, param)) = index.and_then(|index| Some((index, params.get(index)?))) else { continue };
        if matches!(param.takes, Takes::Table(_))
            && let FunctionArgExpr::Expr(expr) = value
        {
            let query = query_of(routines, registered, index, expr.clone())?;
            *expr = ast::Expr::Subquery(Box::new(query));
        }
    }
    Ok(())
}

/// The query that an argument is.
fn query_of(routines: &Routines, registered: &Registered, index: usize, arg: ast::Expr) -> Result<ast::Query> {
    let name = &registered.routine.definition().params[index].name;
    let text = match arg {
        ast::Expr::Nested(inner) => return query_of(routines, registered, index, *inner),
        ast::Expr::Subquery(query) => return Ok(*query),
        ast::Expr::Identifier(ident) => ident.to_string(),
        ast::Expr::CompoundIdentifier(parts) => parts.iter().map(Ident::to_string).collect::<Vec<_>>().join("."),
        ast::Expr::Function(call) if routine_named(routines, &call.name).is_some() => call.to_string(),
        other => {
            return plan_err!(
                "{}: the argument {name} is a table: write TABLE t or (SELECT …), not {other}\n  hint: {}",
                registered.name(),
                registered.signature_text()
            );
        }
    };
    let sql = format!("SELECT * FROM {text}");
    let parsed = parsing::bounded(Box::new(GenericDialect {}), sql.len(), |dialect| {
        Parser::new(dialect).try_with_sql(&sql).and_then(|mut parser| parser.parse_query())
    });
    match parsed.unwrap_or_else(|| Err(ParserError::ParserError(parsing::TOO_MANY.to_string()))) {
        Ok(query) => Ok(*query),
        Err(error) => plan_err!("{}: {text} is no table: {error}", registered.name()),
    }
}

/// What stands behind FROM in a query that is all of one relation.
fn whole_table(query: &ast::Query) -> Option<String> {
    query.to_string().strip_prefix("SELECT * FROM ").filter(|rest| !rest.contains(' ')).map(str::to_string)
}

/// Takes the order off a query's plan: the plan with the columns that it sorts by behind those
/// that are visible, and the order. Below a LIMIT or OFFSET the plan keeps its own sort, too.
fn take_order(plan: LogicalPlan) -> Result<(LogicalPlan, usize, Vec<SortExpr>)> {
    let visible = plan.schema().fields().len();
    let (limit, inner) = match &plan {
        LogicalPlan::Limit(limit) => (Some(limit), limit.input.as_ref()),
        plan => (None, plan),
    };
    let (exprs, sort) = match inner {
        LogicalPlan::Sort(sort) => (None, sort),
        LogicalPlan::Projection(projection) => match projection.input.as_ref() {
            LogicalPlan::Sort(sort) => (Some(projection.expr.clone()), sort),
            _ => return Ok((plan, visible, vec![])),
        },
        _ => return Ok((plan, visible, vec![])),
    };
    let mut exprs: Vec<Expr> = match exprs {
        Some(exprs) => exprs,
        None => sort.input.schema().columns().into_iter().map(Expr::Column).collect(),
    };
    let (keys, order) = hidden(plan.schema(), &sort.expr);
    exprs.extend(keys);
    // A sort with a fetch is a limit as well.
    let sorted = limit.is_some() || sort.fetch.is_some();
    let input = if sorted { Arc::new(LogicalPlan::Sort(sort.clone())) } else { Arc::clone(&sort.input) };
    let projected = LogicalPlan::Projection(Projection::try_new(exprs, input)?);
    let plan = match limit {
        Some(limit) => LogicalPlan::Limit(Limit { input: Arc::new(projected), ..limit.clone() }),
        None => projected,
    };
    Ok((plan, visible, order))
}

/// Keys of a sort as columns that no query sees, and the order by these.
fn hidden(schema: &DFSchemaRef, keys: &[SortExpr]) -> (Vec<Expr>, Vec<SortExpr>) {
    let mut prefix = "__order".to_string();
    while schema.fields().iter().any(|field| field.name().starts_with(&prefix)) {
        prefix.push('_');
    }
    let named = keys.iter().enumerate().map(|(index, key)| {
        let name = format!("{prefix}_{index}");
        let sort = SortExpr { expr: col(Column::new_unqualified(&name)), ..key.clone() };
        (key.expr.clone().alias(name), sort)
    });
    named.unzip()
}

/// The declared columns of a table: by name, or by position where no name fits and their
/// number does; each widens without loss.
fn declared(registered: &Registered, index: usize, argument: TableArgument, columns: &Fields) -> Result<TableArgument> {
    let param = &registered.routine.definition().params[index];
    let schema = Arc::clone(argument.plan.schema());
    let given: Vec<Column> = schema.columns().into_iter().take(argument.visible).collect();
    let by_name = |name: &str| {
        let exact: Vec<&Column> = given.iter().filter(|column| column.name == name).collect();
        match exact.is_empty() {
            true => given.iter().filter(|column| column.name.eq_ignore_ascii_case(name)).collect(),
            false => exact,
        }
    };
    let by_name = |name: &str| match by_name(name)[..] {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => plan_err!(
            "{}: the table {} has several columns {name}; name them apart with AS",
            registered.name(),
            argument.text
        ),
    };
    let mut none_fits = true;
    for field in columns {
        none_fits &= by_name(field.name())?.is_none();
    }
    let by_position = given.len() == columns.len() && none_fits;
    let mut exprs = vec![];
    for (position, field) in columns.iter().enumerate() {
        let column = if by_position { given.get(position) } else { by_name(field.name())? };
        let Some(column) = column else {
            let have: Vec<&str> = given.iter().map(|column| column.name.as_str()).collect();
            return plan_err!(
                "{}: the table {} has no column {}, which {} declares; it has {}",
                registered.name(),
                argument.text,
                field.name(),
                param.name,
                have.join(", ")
            );
        };
        let expr = super::column_as(registered, field, Expr::Column(column.clone()), &schema)?;
        exprs.push(expr.alias(field.name()));
    }
    let visible = exprs.len();
    let (keys, order) = hidden(&schema, &argument.order);
    exprs.extend(keys);
    let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(argument.plan))?);
    Ok(TableArgument { plan, visible, order, ..argument })
}

/// The plan of a relation and the name by which it is known.
pub(crate) fn aliased(plan: &LogicalPlan) -> (&LogicalPlan, Option<&TableReference>) {
    match plan {
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => (input, Some(alias)),
        plan => (plan, None),
    }
}
