//! Creating and dropping functions: the rules that need the session.

use crate::coerce::{self, Fit};
use crate::function::{Default as ParamDefault, PythonFunction, blocking};
use crate::inline::Inline;
use crate::settings::ExuviaOptions;
use crate::statement::{self, CreateFunction, Options, Ours};
use crate::types;
use async_trait::async_trait;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::execution::context::{FunctionFactory, RegisterFunction};
use datafusion::logical_expr::{self, Expr, ExprSchemable, ScalarUDF};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use datafusion::sql::sqlparser::ast;
use exuvia_engine::{DefineError, Definition, Function, Parameter, Place, Volatility};
use std::sync::Arc;

/// Executes a statement that this plugin understands.
pub(crate) fn execute(ctx: &SessionContext, ours: Ours) -> Result<()> {
    match ours {
        Ours::Create(create) => {
            if let Some(udf) = create_function(&ctx.state(), *create)? {
                ctx.register_udf(udf);
            }
            Ok(())
        }
        Ours::Drop { if_exists, names } => {
            let state = ctx.state();
            // All or none: a list with a wrong name drops nothing.
            let mut found = vec![];
            for name in names {
                match state.scalar_functions().get(&name) {
                    Some(udf) if PythonFunction::of(udf).is_some() => found.push(name),
                    _ if is_built_in(&state, &name) => {
                        return plan_err!("{name} is a built-in function and cannot be dropped");
                    }
                    _ if if_exists => {}
                    _ => return plan_err!("there is no function {name}"),
                }
            }
            for name in found {
                ctx.deregister_udf(&name);
            }
            Ok(())
        }
    }
}

/// The function that a statement defines; `None` where it exists and need not be created.
pub(crate) fn create_function(state: &SessionState, create: CreateFunction) -> Result<Option<ScalarUDF>> {
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
    let mut params = vec![];
    let mut defaults = vec![];
    for param in create.params {
        let ty = types::plan(state, &param.ty).map_err(|error| {
            fail(format!("parameter {}: {}", param.name, crate::message(&error)), Some(param.place))
        })?;
        let default = match param.default {
            None => None,
            Some(sql) => {
                let expr = default(state, &sql, &ty)
                    .map_err(|error| fail(format!("DEFAULT of {}: {}", param.name, crate::message(&error)), None))?;
                Some(ParamDefault { sql: Some(sql), expr })
            }
        };
        params.push(Parameter { name: param.name, ty });
        defaults.push(default);
    }
    let returns = types::plan(state, &create.returns)
        .map_err(|error| fail(format!("RETURNS: {}", crate::message(&error)), Some(create.returns_place)))?;
    let definition = Definition {
        name: create.name,
        params,
        returns,
        source: create.source,
        handler: create.options.handler,
        first_line: create.first_line,
        strict: create.strict,
        volatility: create.volatility,
        on_error: create.options.on_error,
        interpreter: create.options.interpreter,
        timeout: create.options.timeout,
    };
    define(state, definition, defaults, create.options.inline).map(Some)
}

fn define(
    state: &SessionState,
    definition: Definition,
    defaults: Vec<Option<ParamDefault>>,
    inline: Inline,
) -> Result<ScalarUDF> {
    let options = ExuviaOptions { query: None, ..ExuviaOptions::of(state.config_options()) };
    let function = blocking(|| Function::define(definition, &options.settings))
        .map_err(|error| DataFusionError::External(Box::new(error)))?;
    Ok(ScalarUDF::new_from_impl(PythonFunction::new(function, defaults, options, inline)?))
}

/// A default as an expression of the parameter's type.
fn default(state: &SessionState, sql: &ast::Expr, ty: &DataType) -> Result<Expr> {
    let alias = ast::ExprWithAlias { expr: sql.clone(), alias: None };
    let schema = DFSchema::empty();
    let expr = state.create_logical_expr_from_sql_expr(alias, &schema)?;
    let given = expr.get_type(&schema)?;
    match (coerce::fit(ty, &given), &expr) {
        (Fit::As(_), _) if given == *ty => Ok(expr),
        (Fit::As(_), _) => expr.cast_to(ty, &schema),
        (Fit::Checked | Fit::Literal, Expr::Literal(value, metadata)) => match coerce::literal(ty, value) {
            Ok(value) => Ok(Expr::Literal(value, metadata.clone())),
            Err(message) => plan_err!("{message}"),
        },
        _ => {
            let hint = types::cast_hint(&sql.to_string(), &given, ty);
            plan_err!("{sql} is {}, but {} is needed{hint}", types::name(&given), types::name(ty))
        }
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
            Taken::ByFunction => "a function of this name exists; CREATE OR REPLACE FUNCTION replaces it".to_string(),
            Taken::ByBuiltIn => format!("{name} is a built-in function; choose another name"),
        }
    }
}

fn check_name(state: &SessionState, name: &str, or_replace: bool) -> Result<(), Taken> {
    match state.scalar_functions().get(name) {
        Some(udf) if PythonFunction::of(udf).is_some() => {
            if or_replace {
                Ok(())
            } else {
                Err(Taken::ByFunction)
            }
        }
        Some(_) => Err(Taken::ByBuiltIn),
        None if is_built_in(state, name) => Err(Taken::ByBuiltIn),
        None => Ok(()),
    }
}

/// Whether a name calls something that is not a Python function. SQL finds an unquoted name
/// in lower case, so a quoted name that differs in case alone is another one.
fn is_built_in(state: &SessionState, name: &str) -> bool {
    // These have a syntax of their own before any function is looked up.
    const SYNTAX: [&str; 13] = [
        "cast",
        "try_cast",
        "extract",
        "case",
        "exists",
        "position",
        "substring",
        "trim",
        "overlay",
        "floor",
        "ceil",
        "map",
        "struct",
    ];
    state.scalar_functions().get(name).is_some_and(|udf| PythonFunction::of(udf).is_none())
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
                (None, Some(language)) => Err(fail(format!("LANGUAGE {language} is not supported; it is python"))),
                (None, None) => Err(fail("LANGUAGE python is missing".to_string())),
            };
        }
        check_name(state, &name, create.or_replace).map_err(|taken| fail(taken.message(&name)))?;
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
            params.push(Parameter { name: ident.value, ty: arg.data_type });
        }
        let options = Options::default();
        let definition = Definition {
            name: name.clone(),
            params,
            returns,
            source: statement::dedent(&source),
            handler: options.handler,
            first_line: 1,
            strict: false,
            volatility: create.params.behavior.map(|volatility| match volatility {
                logical_expr::Volatility::Immutable => Volatility::Immutable,
                logical_expr::Volatility::Stable => Volatility::Stable,
                logical_expr::Volatility::Volatile => Volatility::Volatile,
            }),
            on_error: options.on_error,
            interpreter: options.interpreter,
            timeout: options.timeout,
        };
        let udf = define(state, definition, defaults, options.inline)?;
        Ok(RegisterFunction::Scalar(Arc::new(udf)))
    }
}
