//! Creating and dropping functions: the rules that need the session.

use crate::planning::arguments;
use crate::planning::coerce::{self, Fit};
use crate::planning::explain::why;
use crate::planning::inline::Inline;
use crate::running::function::{Default as ParamDefault, PythonFunction, blocking};
use crate::running::routines::aggregate::PythonAggregate;
use crate::running::routines::column::{ColumnFunction, window_name};
use crate::running::routines::{Registered, Routines};
use crate::statements::elsewhere::{Elsewhere, RUNS_PYTHON};
use crate::statements::settings::ExuviaOptions;
use crate::statements::statement::{self, CreateFunction, Options, Ours, ParamType, Returns};
use crate::statements::types;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{DFSchema, DataFusionError, Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::execution::context::{FunctionFactory, RegisterFunction};
use datafusion::logical_expr::{self, AggregateUDF, Expr, ExprSchemable, ScalarUDF};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use datafusion::sql::sqlparser::ast;
use exuvia_engine::routine::{Kind, Routine, RoutineDefinition, RoutineParam, Takes, kind_of};
use exuvia_engine::{DefineError, Function, Interpreter, NotNative, OnError, Place, Stop, Volatility};
use std::sync::Arc;

/// Executes a statement that this plugin understands.
pub(crate) fn execute(ctx: &SessionContext, ours: Ours) -> Result<()> {
    match ours {
        Ours::Create(create) => {
            if let Some(created) = create_function(&ctx.state(), *create)? {
                register(ctx, created)?;
            }
            Ok(())
        }
        Ours::PassedOver(_) => Ok(()),
        Ours::Drop { if_exists, functions } => {
            let state = ctx.state();
            // All or none: a list with a wrong name drops nothing.
            let mut found = vec![];
            for (name, types) in functions {
                if let Some(types) = types.filter(|_| exists(&state, &name)) {
                    match check_types(&state, &name, &types) {
                        Ok(()) => {}
                        Err(_) if if_exists => continue,
                        Err(error) => return Err(error),
                    }
                }
                match check_name(&state, &name, true) {
                    Ok(()) if exists(&state, &name) => found.push(name),
                    Ok(()) | Err(Taken::ByFunction) if if_exists => {}
                    Ok(()) | Err(Taken::ByFunction) => return plan_err!("there is no function {name}"),
                    Err(Taken::ByBuiltIn) => {
                        return plan_err!("{name} is a built-in function and cannot be dropped");
                    }
                }
            }
            for name in found {
                deregister(ctx, &name);
            }
            Ok(())
        }
    }
}

/// Checks the types with which DROP FUNCTION names a function of which there is one.
fn check_types(state: &SessionState, name: &str, types: &[ast::DataType]) -> Result<()> {
    let (takes, signature): (Vec<DataType>, String) = match Routines::of(state.config_options()).get(name) {
        Some(registered) => (registered.value_types(), registered.signature_text()),
        None => {
            let udf = state.scalar_functions().get(name);
            let Some(python) = udf.and_then(|udf| PythonFunction::of(udf)) else { return Ok(()) };
            let params = &python.function().definition().params;
            (params.iter().map(|param| param.ty.clone()).collect(), python.signature_text())
        }
    };
    let planned = |types: &[ast::DataType]| types.iter().map(|ty| types::plan(state, ty)).collect::<Result<Vec<_>>>();
    let named = planned(types)?;
    // PL/Python's float is another.
    let mut meant = types.to_vec();
    let procedural = Elsewhere::of_postgresql();
    meant.iter_mut().for_each(|ty| procedural.meant(ty));
    if takes == named || takes == planned(&meant)? {
        return Ok(());
    }
    let named: Vec<String> = named.iter().map(types::name).collect();
    plan_err!("there is no function {name}({}); there is {signature}", named.join(", "))
}

/// A function that was created.
pub(crate) enum Created {
    /// Of the values of rows.
    Row(ScalarUDF),
    /// Of another kind.
    Routine(Registered),
}

/// Makes a function known to a session, in place of one of the same name.
pub(crate) fn register(ctx: &SessionContext, created: Created) -> Result<()> {
    match created {
        Created::Row(udf) => {
            deregister(ctx, udf.name());
            ctx.register_udf(udf);
        }
        Created::Routine(registered) => {
            deregister(ctx, registered.name());
            let options = ExuviaOptions { query: None, ..ExuviaOptions::of_session(ctx) };
            match registered.routine.kind() {
                Kind::Row | Kind::Table | Kind::Rows => {}
                Kind::Column | Kind::Iterator => {
                    let (scalar, window) = ColumnFunction::functions(&registered)?;
                    ctx.register_udf(scalar);
                    ctx.register_udwf(window);
                }
                Kind::Aggregate => {
                    let aggregate = PythonAggregate::new(registered.clone(), options.clone());
                    ctx.register_udaf(AggregateUDF::from(aggregate));
                }
            }
            options.routines.insert(registered);
        }
    }
    // Behind it: whoever planned before has the count of before.
    ExuviaOptions::of_session(ctx).routines.count_change();
    Ok(())
}

/// Whether a function of ours that takes the values of a row has a name.
fn is_row(state: &SessionState, name: &str) -> bool {
    state.scalar_functions().get(name).is_some_and(|udf| PythonFunction::of(udf).is_some())
}

/// Whether a function of ours has a name.
fn exists(state: &SessionState, name: &str) -> bool {
    is_row(state, name) || Routines::of(state.config_options()).get(name).is_some()
}

/// Forgets a function of ours, of whatever kind.
fn deregister(ctx: &SessionContext, name: &str) {
    let routines = ExuviaOptions::of_session(ctx).routines;
    let row = is_row(&ctx.state_ref().read(), name);
    if row {
        ctx.deregister_udf(name);
    }
    match routines.remove(name).map(|registered| registered.routine.kind()) {
        None | Some(Kind::Row | Kind::Table | Kind::Rows) => {}
        Some(Kind::Column | Kind::Iterator) => {
            ctx.deregister_udf(name);
            ctx.deregister_udwf(name);
            ctx.deregister_udwf(&window_name(name));
        }
        Some(Kind::Aggregate) => ctx.deregister_udaf(name),
    }
    routines.count_change();
}

/// The function that a statement defines; `None` where it exists and need not be created.
pub(crate) fn create_function(state: &SessionState, create: CreateFunction) -> Result<Option<Created>> {
    let name = create.name.clone();
    let fail = |message: String, place: Option<Place>| -> DataFusionError {
        let error = DefineError { function: name.clone(), message, place };
        DataFusionError::External(Box::new(error))
    };
    match check_name(state, &create.name, create.or_replace) {
        Ok(()) => {}
        Err(Taken::ByFunction) if create.if_not_exists => return Ok(None),
        Err(taken) => return Err(fail(taken.message(&create.name), None)),
    }
    let columns = |columns: Option<Vec<statement::Column>>, what: &str| -> Result<Option<Fields>> {
        let Some(columns) = columns else { return Ok(None) };
        let mut fields = vec![];
        for column in columns {
            let ty = types::plan(state, &column.ty).map_err(|error| {
                fail(format!("{what}, column {}: {}", column.name, crate::message(&error)), Some(column.place))
            })?;
            fields.push(Field::new(column.name, ty, !column.not_null));
        }
        Ok(Some(Fields::from(fields)))
    };
    let mut params = vec![];
    let mut defaults = vec![];
    for param in create.params {
        let takes = match param.ty {
            ParamType::Value(ty) => Takes::Value(types::plan(state, &ty).map_err(|error| {
                fail(format!("parameter {}: {}", param.name, crate::message(&error)), Some(param.place))
            })?),
            ParamType::Table(declared) => Takes::Table(columns(declared, &format!("parameter {}", param.name))?),
        };
        let default = match (param.default, &takes) {
            (Some(sql), Takes::Value(ty)) => {
                let expr = default(state, &sql, ty)
                    .map_err(|error| fail(format!("DEFAULT of {}: {}", param.name, crate::message(&error)), None))?;
                Some(ParamDefault { sql: Some(sql), expr })
            }
            _ => None,
        };
        params.push(RoutineParam { name: param.name, takes });
        defaults.push(default);
    }
    let value = |ty: &ast::DataType| {
        types::plan(state, ty)
            .map_err(|error| fail(format!("RETURNS: {}", crate::message(&error)), Some(create.returns_place.clone())))
    };
    let (returns, gives_rows, single_values) = match create.returns {
        Returns::Value(ty) => (Some(Fields::from(vec![Field::new(&name, value(&ty)?, true)])), false, false),
        Returns::Values(ty) => {
            let item = value(&ty).map_err(|error| match (&ty, error) {
                (ast::DataType::Custom(..), DataFusionError::External(error)) => {
                    match error.downcast::<DefineError>() {
                        Ok(mut error) => {
                            error.message.push_str("; rows of several columns are RETURNS TABLE (a BIGINT, b TEXT)");
                            DataFusionError::External(error)
                        }
                        Err(error) => DataFusionError::External(error),
                    }
                }
                (_, error) => error,
            })?;
            (Some(Fields::from(vec![Field::new(&name, item, true)])), true, true)
        }
        Returns::Table(declared) => (columns(declared, "RETURNS TABLE")?, true, false),
    };
    let options = ExuviaOptions::of(state.config_options());
    let models = options.routines.models(create.options.models.clone()).map_err(|message| fail(message, None))?;
    let definition = RoutineDefinition {
        name: create.name,
        params,
        returns,
        single_values,
        gives_rows,
        kind: create.options.kind,
        source: create.source,
        handler: create.options.handler.clone(),
        first_line: create.first_line,
        strict: create.strict,
        volatility: create.volatility,
        interpreter: create.options.interpreter,
        timeout: create.options.timeout,
        models,
    };
    define(state, definition, defaults, create.options).map(Some)
}

/// Defines a function of the kind that its declaration and its source say.
fn define(
    state: &SessionState,
    definition: RoutineDefinition,
    defaults: Vec<Option<ParamDefault>>,
    said: Options,
) -> Result<Created> {
    let options = ExuviaOptions { query: None, ..ExuviaOptions::of(state.config_options()) };
    // Running the module is a query that can be cancelled; what it is registered with is not.
    let running = options.queries.begin();
    let mut settings = options.settings.clone();
    settings.stop = Stop(Arc::clone(&running.cancelled));
    settings.module_time = options.timeout.map_or(settings.module_time, |limit| limit.min(settings.module_time));
    let clauses = said.clauses(definition.strict, definition.volatility);
    let external = |error: DefineError| DataFusionError::External(Box::new(error));
    let kind = kind_of(&definition).map_err(external)?;
    let refuse = |what: &str| {
        let message = format!("{what} says nothing for {}", kind.described());
        external(DefineError { function: definition.name.clone(), message, place: None })
    };
    let column = matches!(kind, Kind::Column | Kind::Iterator);
    if said.by_batch && !column {
        return Err(refuse("OPTIONS (scope …)"));
    }
    if kind == Kind::Row {
        let function = blocking(|| Function::define(definition.of_row(said.on_error), &settings)).map_err(external)?;
        let python = PythonFunction::new(function, defaults, options, said.inline, clauses)?;
        return Ok(Created::Row(ScalarUDF::new_from_impl(python)));
    }
    if said.on_error == OnError::Null {
        // A part of a table, a column or a group that fails is no row that could be NULL.
        return Err(refuse("on_error 'null'"));
    }
    if definition.strict && (column || kind == Kind::Table) {
        return Err(refuse("STRICT"));
    }
    if kind == Kind::Aggregate {
        let literal = |default: &ParamDefault| matches!(default.expr, Expr::Literal(..));
        if defaults.iter().flatten().any(|default| !literal(default)) {
            return Err(refuse("a DEFAULT that is no constant"));
        }
    }
    let routine = Arc::new(blocking(|| Routine::define(definition, kind, &settings)).map_err(external)?);
    let by_row = match blocking(|| Function::of_columns(&routine, &settings)) {
        Ok(function) => {
            let python = PythonFunction::new(function, defaults.clone(), options, Inline::Off, String::new())?;
            Ok(Arc::new(ScalarUDF::new_from_impl(python)))
        }
        Err(_) if kind != Kind::Column => Err(format!("{} runs in CPython", kind.described()).into()),
        Err(reason) => Err(shown(&reason)),
    };
    let whole = if by_row.is_err() && kind == Kind::Column { blocking(|| routine.whole(&settings)) } else { None };
    let whole = whole.map(|whole| whole.map_err(|reason| shown(&reason)));
    Ok(Created::Routine(Registered {
        routine,
        by_row,
        whole,
        defaults: Arc::new(defaults),
        by_batch: said.by_batch,
        clauses: clauses.into(),
    }))
}

fn shown(reason: &NotNative) -> Arc<str> {
    why(&reason.code, &reason.message, reason.place.as_ref()).into()
}

/// A default as an expression of the parameter's type.
fn default(state: &SessionState, sql: &ast::Expr, ty: &DataType) -> Result<Expr> {
    let mut exact = sql.clone();
    arguments::keep_digits(&mut exact, ty)?;
    let alias = ast::ExprWithAlias { expr: exact, alias: None };
    let schema = DFSchema::empty();
    let expr = state.create_logical_expr_from_sql_expr(alias, &schema)?;
    let given = expr.get_type(&schema)?;
    let refused = || {
        let hint = types::cast_hint(&sql.to_string(), &given, ty);
        plan_err!("{sql} is {}, but {} is needed{hint}", types::name(&given), types::name(ty))
    };
    match coerce::fit(ty, &given) {
        Fit::As(_) if given == *ty => Ok(expr),
        Fit::As(_) => expr.cast_to(ty, &schema),
        Fit::Checked | Fit::Literal => match coerce::constant(ty, &expr) {
            Some(fitted) => fitted.or_else(|message| plan_err!("{message}")),
            None => refused(),
        },
        Fit::No => refused(),
    }
}

/// Why a name cannot be given to a new function.
enum Taken {
    ByFunction,
    ByBuiltIn,
}

impl Taken {
    fn message(&self, name: &str) -> String {
        match self {
            Taken::ByFunction => {
                "a function of this name exists, whatever its parameters; CREATE OR REPLACE FUNCTION replaces it"
                    .to_string()
            }
            Taken::ByBuiltIn => format!("{name} is a built-in function; choose another name"),
        }
    }
}

fn check_name(state: &SessionState, name: &str, or_replace: bool) -> Result<(), Taken> {
    match exists(state, name) {
        true if or_replace => Ok(()),
        true => Err(Taken::ByFunction),
        false if is_built_in(state, name) => Err(Taken::ByBuiltIn),
        false => Ok(()),
    }
}

/// Whether a name calls something that is not a Python function. SQL finds an unquoted name
/// in lower case, so a quoted name that differs in case alone is another one.
fn is_built_in(state: &SessionState, name: &str) -> bool {
    // These have a syntax of their own before any function is looked up.
    const SYNTAX: [&str; 31] = [
        "all",
        "any",
        "array",
        "between",
        "case",
        "cast",
        "ceil",
        "convert",
        "current_date",
        "current_time",
        "current_timestamp",
        "current_user",
        "distinct",
        "exists",
        "extract",
        "floor",
        "interval",
        "lateral",
        "map",
        "not",
        "overlay",
        "position",
        "session_user",
        "some",
        "struct",
        "substring",
        "top",
        "trim",
        "try_cast",
        "unnest",
        "user",
    ];
    state.scalar_functions().contains_key(name)
        || state.higher_order_functions().contains_key(name)
        || state.aggregate_functions().contains_key(name)
        || state.window_functions().contains_key(name)
        || state.table_functions().contains_key(name)
        || SYNTAX.contains(&name)
}

/// What serves CREATE FUNCTION in a plain `SessionContext`, as far as DataFusion's own
/// statement goes: without OPTIONS, STRICT and IF NOT EXISTS, with lines counted from the
/// body's first.
#[derive(Debug)]
pub(crate) struct PythonFunctionFactory {
    /// Who served CREATE FUNCTION before.
    pub(crate) other: Option<Arc<dyn FunctionFactory>>,
}

#[async_trait]
impl FunctionFactory for PythonFunctionFactory {
    async fn create(&self, state: &SessionState, create: logical_expr::CreateFunction) -> Result<RegisterFunction> {
        // DataFusion keeps the case of unquoted names here, but not where they are called.
        let name = create.name.to_lowercase();
        let fail = |message: String| -> DataFusionError {
            DataFusionError::External(Box::new(DefineError { function: name.clone(), message, place: None }))
        };
        let language = create.params.language.as_ref().map(|language| language.value.as_str());
        if !language.is_some_and(|language| language.eq_ignore_ascii_case("python")) {
            return match (&self.other, language) {
                (Some(other), _) => other.create(state, create).await,
                (None, Some(language)) => Err(fail(format!("LANGUAGE {language} is not supported; {RUNS_PYTHON}"))),
                (None, None) => Err(fail(format!("LANGUAGE python is missing; {RUNS_PYTHON}"))),
            };
        }
        check_name(state, &name, create.or_replace).map_err(|taken| fail(taken.message(&name)))?;
        Routines::of(state.config_options()).count_change();
        let Some(Expr::Literal(ScalarValue::Utf8(Some(source)), _)) = create.params.function_body else {
            return Err(fail("the body is missing: AS $$ … $$".to_string()));
        };
        let Some(returns) = create.return_type else {
            return Err(fail("RETURNS is missing: RETURNS TYPE".to_string()));
        };
        let mut params = vec![];
        let mut defaults = vec![];
        for (index, arg) in create.args.unwrap_or_default().into_iter().enumerate() {
            let Some(ident) = arg.name else {
                return Err(fail(format!("parameter {} has no name", index + 1)));
            };
            let default = match arg.default_expr {
                Some(expr) => Some(ParamDefault { sql: None, expr: expr.cast_to(&arg.data_type, &DFSchema::empty())? }),
                None => None,
            };
            defaults.push(default);
            params.push(RoutineParam { name: ident.value, takes: Takes::Value(arg.data_type) });
        }
        let definition = RoutineDefinition {
            name: name.clone(),
            params,
            returns: Some(Fields::from(vec![Field::new(&name, returns, true)])),
            single_values: false,
            gives_rows: false,
            kind: None,
            source: statement::dedent(&source),
            handler: None,
            first_line: 1,
            strict: false,
            volatility: create.params.behavior.map(|volatility| match volatility {
                logical_expr::Volatility::Immutable => Volatility::Immutable,
                logical_expr::Volatility::Stable => Volatility::Stable,
                logical_expr::Volatility::Volatile => Volatility::Volatile,
            }),
            interpreter: Interpreter::default(),
            timeout: None,
            models: vec![],
        };
        let registered = match define(state, definition, defaults, Options::default())? {
            Created::Row(udf) => return Ok(RegisterFunction::Scalar(Arc::new(udf))),
            Created::Routine(registered) => registered,
        };
        let options = ExuviaOptions { query: None, ..ExuviaOptions::of(state.config_options()) };
        options.routines.insert(registered.clone());
        match registered.routine.kind() {
            Kind::Aggregate => {
                let aggregate = PythonAggregate::new(registered, options);
                Ok(RegisterFunction::Aggregate(Arc::new(AggregateUDF::from(aggregate))))
            }
            // With OVER it would have to be registered a second time.
            _ => Ok(RegisterFunction::Scalar(Arc::new(ColumnFunction::functions(&registered)?.0))),
        }
    }
}
