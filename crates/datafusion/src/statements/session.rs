//! A session whose `sql` takes the whole surface.

use crate::planning::arguments;
use crate::planning::depth::{self, OnLargeStack};
use crate::planning::extension::ExuviaBuilder;
use crate::running::function::PythonFunction;
use crate::running::routines::column::ColumnCalls;
use crate::running::routines::lateral::LateralCalls;
use crate::running::routines::{Registered, Routines, blank_table_keywords, sample};
use crate::statements::catalog;
use crate::statements::create;
use crate::statements::mistakes;
use crate::statements::parsing;
use crate::statements::rebind::rebind;
use crate::statements::settings::ExuviaOptions;
use crate::statements::statement::{self, Ours};
use crate::statements::udfs;
use crate::{Script, Statement};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::config::ConfigEntry;
use datafusion::dataframe::DataFrame;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::AnalyzerRule;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::{ResetStatement, Statement as Parsed};
use datafusion::sql::sqlparser::ast::{self, Ident};
use exuvia_engine::interpreter::Interpreter;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls without declared columns that one statement may have.
const SAMPLES: usize = 100;

/// A DataFusion session with Python functions.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> datafusion::common::Result<()> {
/// use exuvia::ExuviaSession;
///
/// let session = ExuviaSession::new();
/// session
///     .sql(
///         "CREATE FUNCTION bedrooms(facts TEXT) RETURNS BIGINT
///            LANGUAGE python IMMUTABLE STRICT OPTIONS (on_error 'null')
///            AS $$
///              head = facts[:facts.find(' bd')]
///              return int(head[head.rfind(',') + 1:])
///            $$",
///     )
///     .await?;
/// let functions = session.sql("SELECT name, signature FROM exuvia.functions").await?.collect().await?;
/// assert_eq!(functions[0].num_rows(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ExuviaSession {
    ctx: SessionContext,
    /// What statements passed over, until it is asked for.
    notices: Arc<Mutex<Vec<String>>>,
    /// The statements that PREPARE has made, by name.
    prepared: Arc<Mutex<HashMap<String, Prepared>>>,
    /// The settings with which it began.
    initial: Arc<[ConfigEntry]>,
    /// A state without functions, of statements that give no rows: a copy of the session's own has
    /// all its functions.
    idle: SessionState,
}

/// An error of planning with the place in its script, where DataFusion knows it: it does where it
/// keeps the places of names, which costs memory, and so only a plan that fails is planned with them.
async fn located(
    mut state: SessionState,
    parsed: Parsed,
    statement: &Statement<'_>,
    error: DataFusionError,
) -> DataFusionError {
    if reads_a_file(&error) {
        return error;
    }
    state.config_mut().options_mut().sql_parser.collect_spans = true;
    match state.statement_to_plan(parsed).await {
        Err(again) => mistakes::show_span(statement.origin(), again).unwrap_or(error),
        Ok(_) => error,
    }
}

/// Whether a file could not be read, which no place in a statement explains.
fn reads_a_file(error: &DataFusionError) -> bool {
    matches!(
        error.find_root(),
        DataFusionError::ArrowError(..) | DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_)
    )
}

/// An error of reading a file with the names of the files that a statement reads, which it does not say.
fn within_files(parsed: &Parsed, error: DataFusionError) -> DataFusionError {
    if !reads_a_file(&error) {
        return error;
    }
    let mut files = vec![];
    let mut look = |name: &ast::ObjectName| {
        let [ast::ObjectNamePart::Identifier(name)] = &name.0[..] else { return ControlFlow::Continue(()) };
        if name.quote_style == Some('\'') && !files.contains(&name.value) {
            files.push(name.value.clone());
        }
        ControlFlow::<()>::Continue(())
    };
    match parsed {
        Parsed::Statement(statement) => drop(ast::visit_relations(&**statement, &mut look)),
        Parsed::CreateExternalTable(create) => files.extend(create.locations.iter().cloned()),
        Parsed::Explain(explain) => return within_files(&explain.statement, error),
        _ => {}
    }
    let message = crate::message(&error);
    if files.is_empty() || files.iter().any(|file| message.contains(file.as_str())) {
        return error;
    }
    DataFusionError::Execution(format!("{message}\n  in the file {}", files.join(" or ")))
}

/// A statement that was prepared.
#[derive(Clone)]
struct Prepared {
    /// The whole PREPARE.
    text: String,
    /// What the session's functions were then.
    functions: u64,
}

impl Default for ExuviaSession {
    fn default() -> Self {
        ExuviaSession::new()
    }
}

impl ExuviaSession {
    /// A session with DataFusion's defaults, and with SHOW.
    #[must_use]
    pub fn new() -> ExuviaSession {
        ExuviaSession::new_with_config(SessionConfig::new().with_information_schema(true))
    }

    /// A session with a configuration.
    #[must_use]
    pub fn new_with_config(config: SessionConfig) -> ExuviaSession {
        let state = SessionStateBuilder::new().with_default_features().with_config(config).with_exuvia().build();
        ExuviaSession::from(SessionContext::new_with_state(state))
    }

    /// The same session that also reads files named as tables: `SELECT * FROM 'a.parquet'`.
    #[must_use]
    pub fn enable_url_table(self) -> ExuviaSession {
        ExuviaSession::from(self.ctx.enable_url_table())
    }

    /// The session of DataFusion's behind it, to register tables and functions.
    #[must_use]
    pub fn context(&self) -> &SessionContext {
        &self.ctx
    }

    /// Plans a statement. Of several, divided by `;`, all but the last are run to their end
    /// and their rows dropped. What defines or sets something is done when this returns;
    /// a query runs when its rows are asked of the `DataFrame`.
    ///
    /// # Errors
    /// What is wrong with a statement, in the words of [`crate::message()`], or what went
    /// wrong in one that was run.
    pub async fn sql(&self, sql: &str) -> Result<DataFrame> {
        let script = Script::cut(sql);
        let Some((last, before)) = script.statements.split_last() else {
            return plan_err!("there is no statement");
        };
        for statement in before {
            self.statement(statement).await?.collect().await?;
        }
        self.statement(last).await
    }

    /// Plans one statement of a script as [`ExuviaSession::sql`] does; places in errors
    /// are those of the script.
    ///
    /// # Errors
    /// As for [`ExuviaSession::sql`].
    pub async fn statement(&self, statement: &Statement<'_>) -> Result<DataFrame> {
        OnLargeStack::new(self.plan(statement)).await
    }

    async fn plan(&self, statement: &Statement<'_>) -> Result<DataFrame> {
        let ours = statement::parse(statement).map_err(|error| DataFusionError::External(Box::new(error)))?;
        if let Some(mut ours) = ours {
            let mut notices = match &mut ours {
                Ours::Create(create) => std::mem::take(&mut create.notices),
                Ours::PassedOver(notice) => vec![std::mem::take(notice)],
                Ours::Drop { .. } => vec![],
            };
            create::execute(&self.ctx, ours)?;
            self.notices.lock().unwrap_or_else(PoisonError::into_inner).append(&mut notices);
            return self.nothing();
        }
        let state = self.ctx.state();
        let routines = Routines::of(state.config_options());
        let text = blank_table_keywords(statement.padded(), &routines);
        let parsed = depth::parsed(|| parsing::statement(&state, &text));
        let mut parsed = parsed.map_err(|error| mistakes::unparsed(statement, error))?;
        if let Parsed::Reset(ResetStatement::Variable(name)) = &parsed
            && let Some(key) = name.to_string().to_lowercase().strip_prefix("exuvia.")
        {
            // DataFusion resets its own settings only.
            let state = self.ctx.state_ref();
            let mut state = state.write();
            if let Some(options) = state.config_mut().options_mut().extensions.get_mut::<ExuviaOptions>() {
                options.reset(key)?;
            }
            drop(state);
            return self.nothing();
        }
        if matches!(&parsed, Parsed::Reset(ResetStatement::Variable(name)) if name.to_string().eq_ignore_ascii_case("all"))
        {
            self.reset_all().await?;
            return self.nothing();
        }
        if let Some(name) = executed(&parsed)
            && let Some(before) = self.stale(&name, &routines)
        {
            self.prepare_again(&name, &before).await?;
        }
        let functions = routines.changes();
        arguments::prepare(&state, statement.origin(), &mut parsed)?;
        routines.forget_samples();
        let mut samples = 0;
        let plan = loop {
            let error = match state.statement_to_plan(parsed.clone()).await {
                Ok(plan) => break plan,
                Err(error) => error,
            };
            // Columns that only a call shows are found out by one, and planning begins again.
            match sample::unsampled(&error) {
                Some(call) if samples < SAMPLES => sample::take(&self.ctx, call).await?,
                _ => {
                    let error = located(state, parsed.clone(), statement, error).await;
                    return Err(within_files(&parsed, mistakes::unplanned(statement, error)));
                }
            }
            samples += 1;
        };
        depth::check_views(&plan, &text)?;
        depth::check_conditions(&plan)?;
        let plan = rebind(&state, plan)?;
        // PREPARE optimises without analysis, and these calls must be nodes before anything moves.
        let plan = LateralCalls.analyze(plan, state.config_options())?;
        let plan = ColumnCalls.analyze(plan, state.config_options())?;
        arguments::check_types(&plan, false)?;
        // EXPLAIN would show what is wrong with a query as a row of its plan.
        if let LogicalPlan::Explain(explain) = &plan {
            let query = explain.plan.as_ref().clone();
            state.analyzer().execute_and_check(query, state.config_options(), |_, _| {})?;
        }
        let done = self.ctx.execute_logical_plan(plan).await.map_err(|error| within_files(&parsed, error))?;
        if let Some(name) = prepared(&parsed) {
            self.prepared().insert(name, Prepared { text: statement.text().to_string(), functions });
        }
        Ok(done)
    }

    /// Gives all settings the values that they had when the session began, as far as SET may.
    async fn reset_all(&self) -> Result<()> {
        let now = self.ctx.copied_config().options().entries();
        let changed = self.initial.iter().filter(|entry| !now.iter().any(|other| other == *entry));
        for ConfigEntry { key, value, .. } in changed {
            match (key.strip_prefix("exuvia."), value) {
                (Some(own), _) => {
                    let state = self.ctx.state_ref();
                    let mut state = state.write();
                    if let Some(options) = state.config_mut().options_mut().extensions.get_mut::<ExuviaOptions>() {
                        // What SET only tightens stays.
                        let _ = options.reset(own);
                    }
                }
                (None, Some(value)) => {
                    self.ctx.sql(&format!("SET {key} = '{}'", value.replace('\'', "''"))).await?;
                }
                (None, None) => drop(self.ctx.sql(&format!("RESET {key}")).await?),
            }
        }
        Ok(())
    }

    /// What a statement gives that has been executed.
    fn nothing(&self) -> Result<DataFrame> {
        Ok(DataFrame::new(self.idle.clone(), LogicalPlanBuilder::empty(false).build()?))
    }

    fn prepared(&self) -> MutexGuard<'_, HashMap<String, Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prepared statement whose functions may be others by now.
    fn stale(&self, name: &str, routines: &Routines) -> Option<Prepared> {
        self.prepared().get(name).filter(|prepared| prepared.functions != routines.changes()).cloned()
    }

    /// Prepares a statement once more: its plan holds the functions that there were.
    async fn prepare_again(&self, name: &str, before: &Prepared) -> Result<()> {
        // It is not there where it could not be prepared the last time.
        let _ = self.ctx.sql(&format!("DEALLOCATE {}", Ident::with_quote('"', name))).await;
        let script = Script::cut(&before.text);
        let Some(statement) = script.statements.first() else { return Ok(()) };
        match Box::pin(self.plan(statement)).await {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = crate::message(&error);
                plan_err!("the prepared statement {name} does not fit the functions that there are now: {error}")
            }
        }
    }

    /// Creates the functions of a Python file, or of every `.py` file of a folder, that
    /// declare their SQL signature, and returns their names. Functions that exist are
    /// replaced.
    ///
    /// A line `# sql:` above a `def` declares it: what would stand behind
    /// `CREATE FUNCTION`, without LANGUAGE and body. It may go on in the comment's next
    /// lines. The file is the module of each of its functions, so they share its constants
    /// and helpers.
    ///
    /// ```python
    /// VAT = 1.2
    ///
    /// # sql: gross(net DOUBLE) RETURNS DOUBLE STRICT OPTIONS (on_error 'null')
    /// def gross(net):
    ///     return net * VAT
    /// ```
    ///
    /// # Errors
    /// A file cannot be read, or the first function that cannot be created and why.
    pub fn load_functions(&self, path: impl AsRef<Path>) -> Result<Vec<String>> {
        udfs::load(&self.ctx, path.as_ref())
    }

    /// Makes a fitted model known by a name: functions that are created with
    /// `OPTIONS (models 'name')` find it as a global of that name. It is a pickle or what
    /// joblib has written, and is read in CPython when the first such function is created.
    ///
    /// ```
    /// # let session = exuvia::ExuviaSession::new();
    /// session.register_model("churn", "models/churn.joblib");
    /// ```
    pub fn register_model(&self, name: &str, path: impl AsRef<Path>) {
        ExuviaOptions::of_session(&self.ctx).routines.register_model(name, path.as_ref());
    }

    /// Cancels the session's running queries: their Python calls end at the next row or
    /// loop, and the queries fail.
    pub fn cancel(&self) {
        ExuviaOptions::of_session(&self.ctx).queries.cancel();
    }

    /// What CREATE FUNCTION statements since the last call passed over because it has no meaning
    /// here, such as PARALLEL SAFE: a sentence each.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is to be known of the CPython that runs functions, once one was needed: that it
    /// is of another version than the one whose semantics native code follows.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        Interpreter::started()?.warning()
    }

    /// The names of the Python functions of all kinds. DataFusion's own lists of functions have not
    /// those that give tables and rows.
    #[must_use]
    pub fn functions(&self) -> Vec<String> {
        let state = self.ctx.state();
        let scalar = state.scalar_functions().values().filter_map(|udf| PythonFunction::of(udf));
        let scalar = scalar.map(|python| python.function().definition().name.clone());
        let others = Routines::of(state.config_options()).all();
        scalar.chain(others.iter().map(|found| found.name().to_string())).collect()
    }

    /// The text of a stage of a function: `source`, `snapshot`, `lifted`, `optimized`,
    /// `lowered` or `machine`.
    ///
    /// # Errors
    /// There is no such function, or it has no such stage.
    pub fn dump(&self, stage: &str, function: &str) -> Result<String> {
        let state = self.ctx.state();
        let registered = Routines::of(state.config_options()).get(function);
        let settings = ExuviaOptions::of(state.config_options()).settings;
        let udf = match &registered {
            Some(Registered { by_row: Ok(udf), .. }) => Some(udf),
            Some(registered) => return registered.routine.dump(stage, &settings).or_else(|why| plan_err!("{why}")),
            None => state.scalar_functions().get(function),
        };
        let Some(python) = udf.and_then(|udf| PythonFunction::of(udf)) else {
            return plan_err!("there is no Python function {function}");
        };
        python.function().dump(stage, &settings).or_else(|why| plan_err!("{why}"))
    }

    /// The text of a stage of each native loop over several functions that queries of the
    /// session have had so far: `optimized`, `lowered`, `machine`, or `helpers`.
    #[must_use]
    pub fn dump_loops(&self, stage: &str) -> Vec<String> {
        ExuviaOptions::of_session(&self.ctx).loops.dump(stage)
    }
}

/// The name that a statement prepares.
fn prepared(parsed: &Parsed) -> Option<String> {
    match parsed {
        Parsed::Statement(statement) => match &**statement {
            ast::Statement::Prepare { name, .. } => Some(statement::normalize(name)),
            _ => None,
        },
        _ => None,
    }
}

/// The name of the prepared statement that a statement executes.
fn executed(parsed: &Parsed) -> Option<String> {
    match parsed {
        Parsed::Statement(statement) => match &**statement {
            ast::Statement::Execute { name: Some(name), .. } => name.0.last()?.as_ident().map(statement::normalize),
            _ => None,
        },
        Parsed::Explain(explain) => executed(&explain.statement),
        _ => None,
    }
}

/// Over a context that was built with [`ExuviaBuilder::with_exuvia`]; adds
/// `exuvia.functions`.
impl From<SessionContext> for ExuviaSession {
    fn from(ctx: SessionContext) -> ExuviaSession {
        // A catalog that takes no schema costs the table of functions and nothing else.
        let _ = catalog::register(&ctx);
        let initial = ctx.copied_config().options().entries().into();
        let idle = SessionStateBuilder::new().with_runtime_env(ctx.runtime_env()).build();
        ExuviaSession { ctx, notices: Arc::default(), prepared: Arc::default(), initial, idle }
    }
}
