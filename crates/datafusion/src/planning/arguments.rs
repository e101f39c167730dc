//! The calls of a query, where DataFusion asks less than it should.
//!
//! Three passes. Before planning, a call with what belongs to aggregate and window functions
//! (DISTINCT, FILTER, OVER …) is refused, since DataFusion drops it without a word, and one
//! that names its arguments and leaves one out in the middle gets that parameter's default.
//! After planning, arguments of types that no cast of ours takes are refused. After type
//! coercion, literals are brought to the parameter's type by their value, and what only a
//! literal may do is refused for other expressions.

use crate::planning::coerce::{self, Fit};
use crate::running::function::{Default, PythonFunction};
use crate::running::routines::aggregate::PythonAggregate;
use crate::running::routines::call::{routine_named, tables_as_queries};
use crate::running::routines::column::window_name;
use crate::running::routines::{Registered, Routines};
use crate::statements::mistakes::place;
use crate::statements::script::Origin;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, ScalarUDF, WindowFunctionDefinition};
use datafusion::optimizer::AnalyzerRule;
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    self, AccessExpr, DuplicateTreatment, FunctionArg, FunctionArgExpr, FunctionArguments, TableFactor, VisitMut,
    VisitorMut, visit_expressions,
};
use datafusion::sql::sqlparser::tokenizer::Span;
use exuvia_engine::routine::{Kind, Takes};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Checks the calls of Python functions in a statement, and puts the defaults of
/// left-out parameters into those that name later ones.
///
/// # Errors
/// A call with what a scalar function does not take.
pub(crate) fn prepare(state: &SessionState, origin: Origin<'_>, statement: &mut Statement) -> Result<()> {
    match statement {
        Statement::Statement(statement) => prepare_calls(state, origin, &mut **statement),
        Statement::Explain(explain) => prepare(state, origin, &mut explain.statement),
        Statement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => prepare_calls(state, origin, &mut **query),
            CopyToSource::Relation(_) => Ok(()),
        },
        Statement::CreateExternalTable(_) | Statement::Reset(_) => Ok(()),
    }
}

fn prepare_calls(state: &SessionState, origin: Origin<'_>, tree: &mut impl VisitMut) -> Result<()> {
    let routines = Routines::of(state.config_options());
    match tree.visit(&mut Calls { state, origin, routines: &routines }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// `f(x).a` and `xs[1].a` name a field, which DataFusion takes in quotes only.
fn name_fields(root: &ast::Expr, chain: &mut [AccessExpr]) {
    let mut is_value = !matches!(root, ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_));
    for access in chain {
        match access {
            AccessExpr::Dot(field) if is_value => {
                if let ast::Expr::Identifier(name) = field {
                    let name = if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() };
                    *field = ast::Expr::value(ast::Value::SingleQuotedString(name));
                }
            }
            AccessExpr::Dot(_) => {}
            AccessExpr::Subscript(_) => is_value = true,
        }
    }
}

/// Makes a number a DECIMAL of all its digits where one is needed and the float that SQL would read it as
/// has fewer.
///
/// # Errors
/// It has more digits than the type.
pub(crate) fn keep_digits(expr: &mut ast::Expr, ty: &DataType) -> Result<()> {
    let as_text = |text: String| ast::Expr::value(ast::Value::SingleQuotedString(text));
    if let Some(text) = long_number(expr)
        && let Some((precision, scale)) = coerce::decimal(ty)
    {
        let text = coerce::in_full(&text).unwrap_or(text);
        let digits = coerce::decimal_digits(&text, scale);
        let significant = |digits: &str| digits.trim_start_matches('-').trim_start_matches('0').len();
        let fits = |digits: &String| usize::try_from(precision).is_ok_and(|most| significant(digits) <= most);
        if !digits.as_ref().is_some_and(fits) {
            return plan_err!("{text} is outside {}", crate::statements::types::name(ty));
        }
        let info = ast::ExactNumberInfo::PrecisionAndScale(u64::from(precision.unsigned_abs()), i64::from(scale));
        *expr = ast::Expr::Cast {
            kind: ast::CastKind::Cast,
            expr: Box::new(as_text(text)),
            data_type: ast::DataType::Decimal(info),
            array: false,
            format: None,
        };
        return Ok(());
    }
    match (expr, ty) {
        (ast::Expr::Nested(within), ty) => keep_digits(within, ty),
        // What is cast is rounded, but not twice.
        (ast::Expr::Cast { expr, data_type: ast::DataType::Decimal(_) | ast::DataType::Numeric(_), .. }, _) => {
            if let Some(text) = long_number(expr) {
                **expr = as_text(text);
            }
            Ok(())
        }
        (ast::Expr::Array(array), DataType::List(item)) => {
            array.elem.iter_mut().try_for_each(|element| keep_digits(element, item.data_type()))
        }
        (ast::Expr::Dictionary(fields), DataType::Struct(wanted)) => fields.iter_mut().try_for_each(|field| {
            let wanted = wanted.iter().find(|wanted| *wanted.name() == field.key.value);
            wanted.map_or(Ok(()), |wanted| keep_digits(&mut field.value, wanted.data_type()))
        }),
        (ast::Expr::Function(call), DataType::Struct(wanted)) => {
            let FunctionArguments::List(list) = &mut call.args else { return Ok(()) };
            for pair in list.args.chunks_exact_mut(2) {
                let [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Value(key))), value] = pair else {
                    continue;
                };
                let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = value else { continue };
                let ast::Value::SingleQuotedString(key) = &key.value else { continue };
                if let Some(wanted) = wanted.iter().find(|wanted| wanted.name() == key) {
                    keep_digits(value, wanted.data_type())?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The text of a number, with its sign, that a float of 64 bits may not hold and that is no BIGINT.
fn long_number(expr: &ast::Expr) -> Option<String> {
    let (sign, number) = match expr {
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => ("-", &**expr),
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Plus, expr } => ("", &**expr),
        expr => ("", expr),
    };
    let ast::Expr::Value(value) = number else { return None };
    let ast::Value::Number(text, _) = &value.value else { return None };
    let text = format!("{sign}{text}");
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_integer = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    (!is_integer && digits > EXACT_DIGITS).then_some(text)
}

/// The digits that a float of 64 bits always keeps.
const EXACT_DIGITS: usize = 15;

/// Looks at the calls of a statement.
struct Calls<'a> {
    state: &'a SessionState,
    origin: Origin<'a>,
    routines: &'a Routines,
}

impl VisitorMut for Calls<'_> {
    type Break = DataFusionError;

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<DataFusionError> {
        if let ast::Expr::CompoundFieldAccess { root, access_chain } = expr {
            name_fields(root, access_chain);
        }
        let ast::Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        self.without_schema(&mut call.name);
        if let Err(error) = self.keep_digits(&call.name, &mut call.args) {
            return ControlFlow::Break(error);
        }
        let checked = if let Some(registered) = routine_named(self.routines, &call.name) {
            self.routine(&registered, call)
        } else if let Some(udf) = callee(self.state, call)
            && let Some(python) = PythonFunction::of(&udf)
        {
            check_form(python, self.origin, call).and_then(|()| fill_named(python, self.origin, call))
        } else {
            Ok(())
        };
        checked.map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }

    /// A call with OVER is known by another name, which its column must not have.
    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<DataFusionError> {
        let ast::SetExpr::Select(select) = query.body.as_mut() else { return ControlFlow::Continue(()) };
        for view in &select.lateral_views {
            if let ast::Expr::Function(call) = &view.lateral_view
                && routine_named(self.routines, &call.name).is_some()
            {
                let error = plan_err!("instead of LATERAL VIEW write: FROM …, LATERAL {call} AS name");
                return error.map_or_else(ControlFlow::Break, ControlFlow::Continue);
            }
        }
        // `FROM t` alone selects every column, as in DuckDB; DataFusion would select none.
        if select.flavor == ast::SelectFlavor::FromFirstNoSelect {
            select.flavor = ast::SelectFlavor::Standard;
            select.projection = vec![ast::SelectItem::Wildcard(ast::WildcardAdditionalOptions::default())];
        }
        for item in &mut select.projection {
            if let ast::SelectItem::UnnamedExpr(ast::Expr::Function(call)) = item
                && call.over.is_some()
                && routine_named(self.routines, &call.name)
                    .is_some_and(|found| matches!(found.routine.kind(), Kind::Column | Kind::Iterator))
            {
                let alias = ast::Ident::with_quote('"', call.to_string());
                *item = ast::SelectItem::ExprWithAlias { expr: ast::Expr::Function(call.clone()), alias };
            }
        }
        ControlFlow::Continue(())
    }

    /// `FROM t, f(t.a)` says LATERAL without the word, as in PostgreSQL.
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<DataFusionError> {
        if let TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } = factor {
            self.without_schema(name);
        }
        if let TableFactor::TableFunction { expr: ast::Expr::Function(call), .. } = factor {
            self.without_schema(&mut call.name);
        }
        if let Err(error) = self.without_table(factor) {
            return ControlFlow::Break(error);
        }
        let called = match factor {
            TableFactor::Table { name, args: Some(args), .. } => Some((name, &mut args.args)),
            TableFactor::Function { name, args, .. } => Some((name, args)),
            _ => None,
        };
        if let Some((name, args)) = called
            && let Some(registered) = routine_named(self.routines, name)
            && let Err(error) = tables_as_queries(self.routines, &registered, args)
        {
            return ControlFlow::Break(error);
        }
        let called = match factor {
            TableFactor::Table { name, args: Some(args), .. } => Some((name, &mut args.args)),
            TableFactor::Function { name, args, .. } => Some((name, args)),
            _ => None,
        };
        if let Some((name, args)) = called
            && let Err(error) = self.gives_no_table(name, args).and_then(|()| self.keep_digits_of(name, args))
        {
            return ControlFlow::Break(error);
        }
        let mentions_columns = |name: &ast::ObjectName, args: &Vec<FunctionArg>| {
            routine_named(self.routines, name).is_some_and(|found| found.routine.kind() == Kind::Rows)
                && visit_expressions(args, |expr| match expr {
                    ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                })
                .is_break()
        };
        match factor {
            TableFactor::Table { name, args: Some(args), alias, with_ordinality: false, .. }
                if mentions_columns(name, &args.args) =>
            {
                *factor = TableFactor::Function {
                    lateral: true,
                    name: name.clone(),
                    args: std::mem::take(&mut args.args),
                    with_ordinality: false,
                    alias: alias.take(),
                };
            }
            TableFactor::Function { lateral, name, args, .. } if mentions_columns(name, args) => *lateral = true,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Calls<'_> {
    /// `FROM TABLE(f(…))`, as other systems write it, also behind LATERAL, as `FROM f(…)`.
    fn without_table(&self, factor: &mut TableFactor) -> Result<()> {
        let (call, alias) = match factor {
            TableFactor::TableFunction { expr: ast::Expr::Function(call), alias } => (call, alias),
            TableFactor::Function { name, args, alias, .. } if name.to_string().eq_ignore_ascii_case("TABLE") => {
                match &mut args[..] {
                    [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Function(call)))] => (call, alias),
                    _ => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        let Some(registered) = routine_named(self.routines, &call.name) else { return Ok(()) };
        if call.over.is_some() {
            let name = registered.name();
            return plan_err!(
                "{name} takes no PARTITION BY: declare a parameter of type TABLE, pass the rows as TABLE (SELECT …), \
                 and group them in the function (docs/kinds.md)"
            );
        }
        let FunctionArguments::List(list) = &mut call.args else { return Ok(()) };
        *factor = TableFactor::Function {
            lateral: false,
            name: call.name.clone(),
            args: std::mem::take(&mut list.args),
            with_ordinality: false,
            alias: alias.take(),
        };
        Ok(())
    }

    /// Takes the schema from the name of a function of ours, which has none, unless there is a function of
    /// the whole name.
    fn without_schema(&self, name: &mut ast::ObjectName) {
        let [_, .., last] = &name.0[..] else { return };
        let Some(ident) = last.as_ident() else { return };
        let own = crate::statements::statement::normalize(ident);
        let is_ours = self.routines.get(&own).is_some() || self.row_function(&own).is_some();
        let whole = name.to_string().to_lowercase();
        if is_ours && !self.state.scalar_functions().contains_key(&whole) {
            name.0 = vec![last.clone()];
        }
    }

    /// The function of ours of that name that takes the values of a row.
    fn row_function(&self, own: &str) -> Option<&PythonFunction> {
        self.state.scalar_functions().get(own).and_then(|udf| PythonFunction::of(udf))
    }

    /// Refuses a function of the values of a row where a table is expected.
    fn gives_no_table(&self, name: &ast::ObjectName, args: &[FunctionArg]) -> Result<()> {
        let [part] = &name.0[..] else { return Ok(()) };
        let Some(ident) = part.as_ident() else { return Ok(()) };
        let own = crate::statements::statement::normalize(ident);
        if self.row_function(&own).is_none() || self.state.table_functions().contains_key(&own) {
            return Ok(());
        }
        let args = args.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        plan_err!(
            "{own} gives a value and no table{}\n  hint: SELECT {name}({args})",
            shown(self.origin, Some(ident.span))
        )
    }

    /// Keeps the digits of numbers that are arguments of type DECIMAL.
    fn keep_digits(&self, name: &ast::ObjectName, args: &mut FunctionArguments) -> Result<()> {
        match args {
            FunctionArguments::List(list) => self.keep_digits_of(name, &mut list.args),
            FunctionArguments::None | FunctionArguments::Subquery(_) => Ok(()),
        }
    }

    fn keep_digits_of(&self, name: &ast::ObjectName, args: &mut [FunctionArg]) -> Result<()> {
        let Some(own) = crate::statements::statement::unqualified(name) else { return Ok(()) };
        let params: Vec<(String, DataType)> = if let Some(registered) = self.routines.get(&own) {
            let params = registered.routine.definition().params.iter().map(|param| match &param.takes {
                Takes::Value(ty) => (param.name.clone(), ty.clone()),
                Takes::Table(_) => (param.name.clone(), DataType::Null),
            });
            params.collect()
        } else if let Some(python) = self.row_function(&own) {
            let params = &python.function().definition().params;
            params.iter().map(|param| (param.name.clone(), param.ty.clone())).collect()
        } else {
            return Ok(());
        };
        for (position, arg) in args.iter_mut().enumerate() {
            let (param, arg) = match arg {
                FunctionArg::Named { name, arg, .. } => {
                    let name = crate::statements::statement::normalize(name);
                    (params.iter().find(|(param, _)| *param == name), arg)
                }
                FunctionArg::Unnamed(arg) => (params.get(position), arg),
                FunctionArg::ExprNamed { .. } => continue,
            };
            if let (Some((param, ty)), FunctionArgExpr::Expr(arg)) = (param, arg) {
                keep_digits(arg, ty).map_err(|error| {
                    let message = crate::message(&error);
                    DataFusionError::Plan(format!("{own}: argument {} ({param}): {message}", position + 1))
                })?;
            }
        }
        Ok(())
    }

    /// Checks a call, in an expression, of a function of another kind than a row's.
    fn routine(&self, registered: &Registered, call: &mut ast::Function) -> Result<()> {
        let name = registered.name().to_string();
        let span = call.name.0.first().and_then(ast::ObjectNamePart::as_ident).map(|ident| ident.span);
        let fail = |message: String| plan_err!("{message}{}", shown(self.origin, span));
        match registered.routine.kind() {
            // As an argument of another it has become a query by now.
            Kind::Table | Kind::Rows => fail(format!(
                "{name} is {}; call it in FROM: SELECT * FROM {call}",
                registered.routine.kind().described()
            )),
            Kind::Row | Kind::Aggregate => Ok(()),
            Kind::Column | Kind::Iterator => {
                let list = matches!(&call.args, FunctionArguments::List(list)
                    if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) || !list.clauses.is_empty());
                if list || call.filter.is_some() || !call.within_group.is_empty() {
                    return fail(format!("{name} is a column function, which takes no DISTINCT, ORDER BY or FILTER"));
                }
                if call.over.is_some() {
                    // Without OVER a scalar function of the name is found, and OVER forgotten.
                    call.name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', window_name(&name))]);
                }
                Ok(())
            }
        }
    }
}

/// The scalar function that is called.
fn callee(state: &SessionState, call: &ast::Function) -> Option<Arc<ScalarUDF>> {
    state.scalar_functions().get(&crate::statements::statement::unqualified(&call.name)?).cloned()
}

/// Refuses what only calls of other kinds of functions may have.
fn check_form(python: &PythonFunction, origin: Origin<'_>, call: &ast::Function) -> Result<()> {
    let name = &python.function().definition().name;
    let aggregate = |what: &str| Some(format!("{what} specified, but {name} is not an aggregate function"));
    let window = |what: &str| Some(format!("{what} specified, but {name} is not a window function"));
    let mut wrong = None;
    match &call.args {
        FunctionArguments::None | FunctionArguments::Subquery(_) => {}
        FunctionArguments::List(list) => {
            if list.args.iter().any(is_wildcard) {
                wrong = aggregate(&format!("{name}(*)"));
            } else if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
                wrong = aggregate("DISTINCT");
            } else if let Some(clause) = list.clauses.first() {
                wrong = aggregate(&clause.to_string());
            }
        }
    }
    if wrong.is_none() {
        wrong = if call.parameters != FunctionArguments::None {
            Some(format!("{name} takes one list of arguments"))
        } else if !call.within_group.is_empty() {
            aggregate("WITHIN GROUP")
        } else if call.filter.is_some() {
            aggregate("FILTER")
        } else if let Some(treatment) = &call.null_treatment {
            window(&treatment.to_string())
        } else if call.over.is_some() {
            window("OVER")
        } else {
            None
        };
    }
    let Some(wrong) = wrong else { return Ok(()) };
    let span = call.name.0.first().and_then(ast::ObjectNamePart::as_ident).map(|ident| ident.span);
    plan_err!("{wrong}{}", shown(origin, span))
}

/// The place of a part of a call below a message; nothing where the parser gives none.
fn shown(origin: Origin<'_>, span: Option<Span>) -> String {
    span.filter(|span| span.start.line > 0).map(|span| place(origin, &span).to_string()).unwrap_or_default()
}

fn is_wildcard(arg: &FunctionArg) -> bool {
    let (FunctionArg::Named { arg, .. } | FunctionArg::ExprNamed { arg, .. } | FunctionArg::Unnamed(arg)) = arg;
    match arg {
        FunctionArgExpr::Expr(_) => false,
        FunctionArgExpr::QualifiedWildcard(_) | FunctionArgExpr::Wildcard | FunctionArgExpr::WildcardWithOptions(_) => {
            true
        }
    }
}

/// Checks the names in a call that names arguments, and appends `name => default` for each
/// parameter that is not given and stands before one that is.
fn fill_named(python: &PythonFunction, origin: Origin<'_>, call: &mut ast::Function) -> Result<()> {
    let FunctionArguments::List(list) = &mut call.args else { return Ok(()) };
    let definition = python.function().definition();
    let (name, params) = (&definition.name, &definition.params);
    let fail = |message: String, span: Option<Span>| {
        plan_err!("{message}{}\n  hint: {}", shown(origin, span), python.signature_text())
    };
    let mut given = vec![false; params.len()];
    let mut operator = None;
    for (position, arg) in list.args.iter().enumerate() {
        match arg {
            FunctionArg::Named { name: ident, operator: arrow, .. } => {
                operator = Some(arrow.clone());
                let index = params.iter().position(|param| match ident.quote_style {
                    Some(_) => param.name == ident.value,
                    None => param.name.eq_ignore_ascii_case(&ident.value),
                });
                let Some(index) = index else {
                    return fail(format!("{name} has no parameter {ident}"), Some(ident.span));
                };
                if std::mem::replace(&mut given[index], true) {
                    return fail(format!("{name} is given its argument {ident} twice"), Some(ident.span));
                }
            }
            FunctionArg::Unnamed(_) if operator.is_some() => {
                return fail(format!("{name} is given an argument without a name behind one with a name"), None);
            }
            FunctionArg::Unnamed(_) => match given.get_mut(position) {
                Some(given) => *given = true,
                // Their number is checked with their types.
                None => return Ok(()),
            },
            FunctionArg::ExprNamed { .. } => return Ok(()),
        }
    }
    let (Some(operator), Some(last)) = (operator, given.iter().rposition(|&given| given)) else { return Ok(()) };
    for (index, param) in params.iter().enumerate() {
        if given[index] {
            continue;
        }
        match &python.defaults()[index] {
            None => return fail(format!("{name} needs an argument {}", param.name), None),
            Some(Default { sql: Some(sql), .. }) if index < last => list.args.push(FunctionArg::Named {
                name: ast::Ident::with_quote('"', param.name.clone()),
                arg: FunctionArgExpr::Expr(sql.clone()),
                operator: operator.clone(),
            }),
            Some(_) => {}
        }
    }
    Ok(())
}

/// A function of ours that takes values, as an expression calls it.
struct Callee {
    name: String,
    /// The names and types of the parameters.
    params: Vec<(String, DataType)>,
}

impl Callee {
    /// The function that an expression calls, and the arguments.
    fn of(expr: &Expr) -> Option<(Callee, &[Expr])> {
        let (aggregate, args) = match expr {
            Expr::ScalarFunction(call) => {
                let definition = PythonFunction::of(&call.func)?.function().definition();
                let params = definition.params.iter().map(|param| (param.name.clone(), param.ty.clone())).collect();
                return Some((Callee { name: definition.name.clone(), params }, &call.args));
            }
            Expr::AggregateFunction(call) => (&call.func, &call.params.args),
            Expr::WindowFunction(call) => match &call.fun {
                WindowFunctionDefinition::AggregateUDF(aggregate) => (aggregate, &call.params.args),
                WindowFunctionDefinition::WindowUDF(_) => return None,
            },
            _ => return None,
        };
        let definition = PythonAggregate::of(aggregate)?.registered.routine.definition();
        let params = definition.params.iter().filter_map(|param| match &param.takes {
            Takes::Value(ty) => Some((param.name.clone(), ty.clone())),
            Takes::Table(_) => None,
        });
        Some((Callee { name: definition.name.clone(), params: params.collect() }, args))
    }
}

/// Refuses arguments of types that their parameters do not take. What may be taken as a
/// literal is judged once types are `coerced`; the rest is refused before the plan is the
/// optimiser's, and so before a view of it is made.
///
/// # Errors
/// The first such argument.
pub(crate) fn check_types(plan: &LogicalPlan, coerced: bool) -> Result<()> {
    let checked = plan.apply_with_subqueries(|plan| {
        let schema = merge_schema(&plan.inputs());
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                let Some((callee, args)) = Callee::of(expr) else { return Ok(TreeNodeRecursion::Continue) };
                for (index, (arg, (param, wanted))) in args.iter().zip(&callee.params).enumerate() {
                    // The type of a placeholder may not be known yet.
                    let Ok(given) = arg.get_type(&schema) else { continue };
                    let refused = match coerce::fit(wanted, &given) {
                        Fit::No => true,
                        // Of a number it may take a sign away.
                        Fit::Literal => (coerced || !given.is_numeric()) && coerce::constant(wanted, arg).is_none(),
                        Fit::As(_) | Fit::Checked => false,
                    };
                    if refused {
                        let written = as_written(arg, &plan.inputs());
                        let message = coerce::refusal(&callee.name, index, param, wanted, &given, &written);
                        return plan_err!("{message}");
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    checked.map(|_| ())
}

/// An expression over `inputs` as its writer knows it: what a plan computes below it, as
/// aggregates and window functions, is a column of no table.
fn as_written(expr: &Expr, inputs: &[&LogicalPlan]) -> Expr {
    let written = expr.clone().transform_up(|expr| {
        let Expr::Column(column) = &expr else { return Ok(Transformed::no(expr)) };
        let computed = inputs.iter().find_map(|input| {
            let mut exprs: Box<dyn Iterator<Item = &Expr>> = match input {
                LogicalPlan::Aggregate(aggregate) => Box::new(aggregate.aggr_expr.iter()),
                LogicalPlan::Window(window) => Box::new(window.window_expr.iter()),
                _ => return None,
            };
            let found = exprs.find(|expr| expr.schema_name().to_string() == column.name)?;
            Some(as_written(found, &input.inputs()))
        });
        Ok(computed.map_or(Transformed::no(expr), Transformed::yes))
    });
    written.map_or_else(|_| expr.clone(), |written| written.data)
}

/// Refuses arguments that do not fit, and brings literals to the types of parameters.
#[derive(Debug)]
pub(crate) struct CheckArguments;

impl AnalyzerRule for CheckArguments {
    fn name(&self) -> &'static str {
        "exuvia_check_arguments"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        check_types(&plan, true)?;
        plan.transform_up_with_subqueries(|plan| {
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let saved = names.save(&expr);
                let expr = expr.transform_up(fit_literals)?;
                Ok(expr.update_data(|expr| saved.restore(expr)))
            })
        })
        .map(|plan| plan.data)
    }
}

fn fit_literals(mut expr: Expr) -> Result<Transformed<Expr>> {
    let Some((callee, _)) = Callee::of(&expr) else { return Ok(Transformed::no(expr)) };
    let args = match &mut expr {
        Expr::ScalarFunction(call) => &mut call.args,
        Expr::AggregateFunction(call) => &mut call.params.args,
        Expr::WindowFunction(call) => &mut call.params.args,
        _ => return Ok(Transformed::no(expr)),
    };
    let mut changed = false;
    for (index, (arg, (param, wanted))) in args.iter_mut().zip(&callee.params).enumerate() {
        if let Some(fitted) = coerce::constant(wanted, arg) {
            let fitted =
                fitted.or_else(|message| plan_err!("{}: argument {} ({param}): {message}", callee.name, index + 1))?;
            changed |= fitted != *arg;
            *arg = fitted;
        }
    }
    Ok(Transformed::new_transformed(expr, changed))
}
