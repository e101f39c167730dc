//! Functions of tables, columns and groups, and functions that give rows: what DataFusion
//! sees of them.
//!
//! | file | holds |
//! | --- | --- |
//! | `call.rs` | a call in FROM: its arguments, and the logical nodes that it becomes |
//! | `lateral.rs` | calls that depend on the rows of another table |
//! | `column.rs` | calls on whole columns, in expressions and with OVER |
//! | `aggregate.rs` | calls on the values of groups |
//! | `drive.rs` | a running call: a thread, and streams to it and from it |
//! | `exec.rs`, `streams.rs` | the operators, and what they do with the streams of their inputs |
//! | `sample.rs` | the columns of a table that nobody declared |
//!
//! They run in CPython, and [`exuvia_engine::routine`] knows how, but for column functions that are
//! elementwise: those are row functions as well ([`Registered::by_row`]).

pub(crate) mod aggregate;
pub(crate) mod call;
pub(crate) mod column;
mod drive;
mod exec;
pub(crate) mod lateral;
pub(crate) mod sample;
mod streams;
mod tokens;

pub(crate) use exec::{RoutineExec, RoutinePlanner};
pub(crate) use tokens::blank_table_keywords;

use crate::planning::coerce::{self, Fit};
use crate::running::function::{self, Default};
use crate::statements::settings::ExuviaOptions;
use crate::statements::types;
use datafusion::arrow::datatypes::{DataType, Fields};
use datafusion::common::{DFSchema, DataFusionError, Result, internal_err, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{Expr, ExprSchemable, ScalarUDF};
use exuvia_engine::Settings;
use exuvia_engine::routine::{Kind, Routine, Takes};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function of one of these kinds, as a session has it.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) routine: Arc<Routine>,
    /// One for each parameter.
    pub(crate) defaults: Arc<Vec<Option<Default>>>,
    /// The row function that a column function is as well, where it is elementwise, or why it is none.
    pub(crate) by_row: Result<Arc<ScalarUDF>, Arc<str>>,
    /// Whether native code runs it over whole columns, or why it does not; nothing where its parameters
    /// are not all arrays, or it is elementwise.
    pub(crate) whole: Option<Result<(), Arc<str>>>,
    /// Whether a column function is called for each batch.
    pub(crate) by_batch: bool,
    /// What CREATE FUNCTION says of it besides the signature and the body.
    pub(crate) clauses: Arc<str>,
}

impl PartialEq for Registered {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.routine, &other.routine)
    }
}

impl Eq for Registered {}

impl Hash for Registered {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.routine).hash(state);
    }
}

/// What EXPLAIN adds where a result may depend on an order of rows.
pub(crate) fn order_note(is_given: bool) -> &'static str {
    if is_given { "" } else { "; may depend on the order of rows, which is not given" }
}

impl Registered {
    pub(crate) fn name(&self) -> &str {
        &self.routine.definition().name
    }

    /// `name(a TYPE, …) RETURNS TYPE`.
    pub(crate) fn signature_text(&self) -> String {
        let definition = self.routine.definition();
        let params = definition.params.iter().zip(self.defaults.iter()).map(|(param, default)| {
            let default = default.as_ref().map_or(String::new(), Default::text);
            let ty = match &param.takes {
                Takes::Value(ty) => types::name(ty),
                Takes::Table(None) => "TABLE".to_string(),
                Takes::Table(Some(fields)) => format!("TABLE ({})", columns_text(fields)),
            };
            format!("{} {ty}{default}", types::identifier(&param.name))
        });
        let params: Vec<String> = params.collect();
        let returns = match (&definition.returns, self.routine.kind()) {
            (None, _) => "TABLE".to_string(),
            (Some(fields), Kind::Rows) if definition.single_values => {
                format!("SETOF {}", fields.first().map_or(String::new(), |field| types::name(field.data_type())))
            }
            (Some(fields), Kind::Table | Kind::Rows) => format!("TABLE ({})", columns_text(fields)),
            (Some(fields), _) => fields.first().map_or(String::new(), |field| types::name(field.data_type())),
        };
        format!("{}({}) RETURNS {returns}", types::identifier(&definition.name), params.join(", "))
    }

    /// The arguments of a column function over that schema, brought to the types of its parameters.
    pub(crate) fn fitted(&self, args: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
        let mut fitted = vec![];
        for (index, arg) in args.into_iter().enumerate() {
            fitted.push(self.argument(index, arg, schema)?);
        }
        for default in self.defaults.iter().skip(fitted.len()) {
            let Some(default) = default else { return internal_err!("a column function lacks an argument") };
            fitted.push(default.expr.clone());
        }
        Ok(fitted)
    }

    /// The row function of which a column function may have the calls replaced, under those settings.
    pub(crate) fn lifted(&self, settings: &Settings) -> Option<&Arc<ScalarUDF>> {
        self.by_row.as_ref().ok().filter(|_| settings.compiles())
    }

    /// Whether native code runs a column function over whole columns, under those settings.
    pub(crate) fn is_whole(&self, settings: &Settings) -> bool {
        settings.compiles() && matches!(self.whole, Some(Ok(())))
    }

    /// Why a column function is not native.
    pub(crate) fn why_not(&self) -> Option<&str> {
        match (&self.whole, &self.by_row) {
            (Some(Ok(())), _) | (None, Ok(_)) => None,
            (Some(Err(why)), _) | (None, Err(why)) => Some(why),
        }
    }

    /// The type of the one value that a column function or an aggregate gives.
    pub(crate) fn value_type(&self) -> DataType {
        self.routine.definition().value_type()
    }

    /// Why a call has the wrong number of arguments.
    pub(crate) fn wrong_count(&self, given: usize) -> Option<String> {
        function::wrong_count(self.name(), &self.signature_text(), &self.defaults, given)
    }

    /// The types of the parameters that take values.
    pub(crate) fn value_types(&self) -> Vec<DataType> {
        let params = &self.routine.definition().params;
        let values = params.iter().filter_map(|param| match &param.takes {
            Takes::Value(ty) => Some(ty.clone()),
            Takes::Table(_) => None,
        });
        values.collect()
    }

    /// An argument as an expression of its parameter's type, or of one that is brought to it
    /// when the function is called.
    pub(crate) fn argument(&self, index: usize, expr: Expr, schema: &DFSchema) -> Result<Expr> {
        let definition = self.routine.definition();
        let param = &definition.params[index];
        let Takes::Value(wanted) = &param.takes else { return Ok(expr) };
        if let Expr::Placeholder(mut placeholder) = expr {
            let field = datafusion::arrow::datatypes::Field::new(&placeholder.id, wanted.clone(), true);
            placeholder.field.get_or_insert_with(|| Arc::new(field));
            return Ok(Expr::Placeholder(placeholder));
        }
        let given = expr.get_type(schema)?;
        let refused =
            |expr: &Expr| plan_err!("{}", coerce::refusal(&definition.name, index, &param.name, wanted, &given, expr));
        match coerce::fit(wanted, &given) {
            Fit::As(ty) if ty == given => Ok(expr),
            Fit::As(ty) => expr.cast_to(&ty, schema),
            Fit::No => refused(&expr),
            fit => match coerce::constant(wanted, &expr) {
                Some(fitted) => fitted.or_else(|message| {
                    plan_err!("{}: argument {} ({}): {message}", definition.name, index + 1, param.name)
                }),
                None if fit == Fit::Checked => Ok(expr),
                None => refused(&expr),
            },
        }
    }
}

fn columns_text(fields: &Fields) -> String {
    let columns = fields.iter().map(|field| {
        let null = if field.is_nullable() { "" } else { " NOT NULL" };
        format!("{} {}{null}", types::identifier(field.name()), types::name(field.data_type()))
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// The functions of these kinds that a session has, by name, and the models that it knows.
#[derive(Debug, Default)]
pub(crate) struct Routines {
    functions: RwLock<HashMap<String, Registered>>,
    models: RwLock<HashMap<String, PathBuf>>,
    /// What samples have shown for the statement that is planned.
    samples: RwLock<HashMap<String, Fields>>,
    /// How often functions, of rows as well, were created or dropped.
    changes: AtomicU64,
}

impl Routines {
    /// Those of a session.
    pub(crate) fn of(config: &ConfigOptions) -> Arc<Routines> {
        ExuviaOptions::of(config).routines
    }

    /// How often functions of the session were created or dropped.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// A function of the session was created or dropped.
    pub(crate) fn count_change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Registered> {
        self.functions.read().get(name).cloned()
    }

    pub(crate) fn insert(&self, registered: Registered) {
        self.functions.write().insert(registered.name().to_string(), registered);
    }

    pub(crate) fn remove(&self, name: &str) -> Option<Registered> {
        self.functions.write().remove(name)
    }

    /// All of them, in the order of their names.
    pub(crate) fn all(&self) -> Vec<Registered> {
        let mut all: Vec<Registered> = self.functions.read().values().cloned().collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.functions.read().is_empty()
    }

    /// The columns that a sample had.
    pub(crate) fn sample(&self, key: &str) -> Option<Fields> {
        self.samples.read().get(key).cloned()
    }

    pub(crate) fn keep_sample(&self, key: String, fields: Fields) {
        self.samples.write().insert(key, fields);
    }

    /// Forgets all samples: the tables may change.
    pub(crate) fn forget_samples(&self) {
        self.samples.write().clear();
    }

    /// Makes a model's file known by a name.
    pub(crate) fn register_model(&self, name: &str, path: &Path) {
        self.models.write().insert(name.to_string(), path.to_path_buf());
    }

    /// The paths of models that a function names, each with its path or as registered.
    pub(crate) fn models(&self, named: Vec<(String, Option<String>)>) -> Result<Vec<(String, String)>, String> {
        let known = self.models.read();
        let path = |name: &str, path: Option<String>| match path {
            Some(path) => Ok(path),
            None => match known.get(name) {
                Some(path) => Ok(path.to_string_lossy().into_owned()),
                None => Err(format!("there is no model {name}; name its file, as in models '{name}=path.joblib'")),
            },
        };
        named.into_iter().map(|(name, own)| Ok((name.clone(), path(&name, own)?))).collect()
    }
}

/// An error of a call as DataFusion carries it.
fn call_error(error: exuvia_engine::CallError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A column of a table as a declared column takes it.
fn column_as(
    registered: &Registered,
    field: &datafusion::arrow::datatypes::Field,
    expr: Expr,
    schema: &DFSchema,
) -> Result<Expr> {
    let given = expr.get_type(schema)?;
    match coerce::fit(field.data_type(), &given) {
        Fit::As(ty) if ty == given => Ok(expr),
        Fit::As(ty) => expr.cast_to(&ty, schema),
        // Each value is checked where the function is called.
        Fit::Checked => Ok(expr),
        Fit::Literal | Fit::No => plan_err!(
            "{}: the column {} is {}, but {} is declared",
            registered.name(),
            field.name(),
            types::name(&given),
            types::name(field.data_type())
        ),
    }
}
