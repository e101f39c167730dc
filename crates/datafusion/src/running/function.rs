//! A Python function as DataFusion calls it.
//!
//! This is the border between the engine, which knows batches, and DataFusion, which knows
//! expressions: it expands scalars, checks arguments, keeps interpreted work off the async
//! runtime and turns whatever goes wrong into an error of the query. How the function runs
//! is the engine's business.

use crate::planning::coerce::{self, Fit};
use crate::planning::inline::Inline;
use crate::running::slice::Slice;
use crate::statements::settings::ExuviaOptions;
use crate::statements::types;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, exec_err, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::sqlparser::ast;
use exuvia_engine::{CallError, CallErrorKind, Function, Invocation, Rung, Settings};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time that folding one call may take while planning. What takes longer is left to
/// the execution, where it can be cancelled.
const FOLDING_TIME: Duration = Duration::from_millis(20);

/// The memory that folding one call may take, with the same consequence.
const FOLDING_MEMORY: usize = 4 << 20;

/// The time that a native call may keep a worker of the async runtime.
const WORKER_TIME: Duration = Duration::from_millis(20);

/// A default of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Default {
    /// As it was written, to be put into a call that names its arguments.
    pub(crate) sql: Option<ast::Expr>,
    /// As it was planned, of the parameter's type.
    pub(crate) expr: Expr,
}

impl Default {
    /// ` DEFAULT …`, as a signature shows it.
    pub(crate) fn text(&self) -> String {
        match &self.sql {
            Some(sql) => format!(" DEFAULT {sql}"),
            None => format!(" DEFAULT {}", self.expr),
        }
    }
}

/// Why a call gives the wrong number of arguments to a function of that signature.
pub(crate) fn wrong_count(name: &str, signature: &str, defaults: &[Option<Default>], given: usize) -> Option<String> {
    let required = defaults.iter().rposition(Option::is_none).map_or(0, |last| last + 1);
    let most = defaults.len();
    if (required..=most).contains(&given) {
        return None;
    }
    let counted = match (required, most) {
        (1, 1) => "1 argument".to_string(),
        (required, most) if required == most => format!("{most} arguments"),
        (required, most) => format!("{required} to {most} arguments"),
    };
    let were = if given == 1 { "was" } else { "were" };
    Some(format!("{name} takes {counted}, but {given} {were} given\n  hint: {signature}"))
}

/// DataFusion's word for a volatility.
pub(crate) fn volatility(volatility: exuvia_engine::Volatility) -> Volatility {
    match volatility {
        exuvia_engine::Volatility::Immutable => Volatility::Immutable,
        exuvia_engine::Volatility::Stable => Volatility::Stable,
        exuvia_engine::Volatility::Volatile => Volatility::Volatile,
    }
}

/// A Python function of a session.
pub(crate) struct PythonFunction {
    function: Arc<Function>,
    /// One for each parameter.
    defaults: Vec<Option<Default>>,
    signature: Signature,
    /// The options under which it was defined, for callers that hand over none.
    options: ExuviaOptions,
    /// Whether calls may become expressions of SQL.
    inline: Inline,
    /// What CREATE FUNCTION says of it besides the signature and the body.
    clauses: String,
    /// Whether a native call took longer than a worker can spare.
    slow: AtomicBool,
}

/// DataFusion's messages show expressions so.
impl fmt::Debug for PythonFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function.definition().name)
    }
}

impl PythonFunction {
    pub(crate) fn new(
        function: Function,
        defaults: Vec<Option<Default>>,
        options: ExuviaOptions,
        inline: Inline,
        clauses: String,
    ) -> Result<PythonFunction> {
        let names: Vec<String> = function.definition().params.iter().map(|param| param.name.clone()).collect();
        let signature = Signature::user_defined(volatility(function.volatility())).with_parameter_names(names)?;
        Ok(PythonFunction {
            function: Arc::new(function),
            defaults,
            signature,
            options,
            inline,
            clauses,
            slow: AtomicBool::new(false),
        })
    }

    /// The Python function behind a function of DataFusion's, if it is one.
    pub(crate) fn of(udf: &ScalarUDF) -> Option<&PythonFunction> {
        udf.inner().downcast_ref::<PythonFunction>()
    }

    pub(crate) fn function(&self) -> &Function {
        &self.function
    }

    /// The function, to be kept.
    pub(crate) fn shared(&self) -> &Arc<Function> {
        &self.function
    }

    pub(crate) fn defaults(&self) -> &[Option<Default>] {
        &self.defaults
    }

    /// Whether calls may become expressions.
    pub(crate) fn inline(&self) -> Inline {
        self.inline
    }

    /// `name(a TYPE, …) RETURNS TYPE`.
    pub(crate) fn signature_text(&self) -> String {
        let definition = self.function.definition();
        let name = types::identifier(&definition.name);
        format!("{name}({}) RETURNS {}", self.parameters_text(), types::name(&definition.returns))
    }

    pub(crate) fn clauses(&self) -> &str {
        &self.clauses
    }

    fn parameters_text(&self) -> String {
        let params = self.function.definition().params.iter().zip(&self.defaults);
        let params: Vec<String> = params
            .map(|(param, default)| {
                let default = default.as_ref().map_or(String::new(), Default::text);
                format!("{} {}{default}", types::identifier(&param.name), types::name(&param.ty))
            })
            .collect();
        params.join(", ")
    }

    /// Calls the function on columns.
    fn call(
        &self,
        args: &[ColumnarValue],
        rows: usize,
        settings: &Settings,
        circumstances: &Circumstances,
    ) -> Result<ArrayRef, CallError> {
        let definition = self.function.definition();
        let failed = |message: String| CallError {
            function: definition.name.clone(),
            kind: CallErrorKind::Host(message),
            place: None,
            arguments: vec![],
        };
        let mut arrays = Vec::with_capacity(args.len());
        for (param, arg) in definition.params.iter().zip(args) {
            let array = arg.to_array(rows).map_err(|error| failed(error.to_string()))?;
            let array = coerce::check(&param.ty, array)
                .map_err(|message| failed(format!("argument {}: {message}", param.name)))?;
            arrays.push(array);
        }
        let run = |settings: &Settings, invocation: &Invocation| {
            // A panic is a bug of ours. It must cost this query and no more.
            catch_unwind(AssertUnwindSafe(|| self.function.invoke(&arrays, rows, settings, invocation))).unwrap_or_else(
                |panic| {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                    Err(failed(format!("internal error: {text}")))
                },
            )
        };
        let array = match circumstances {
            Circumstances::Planning => {
                let slice = Slice::start(FOLDING_TIME, Arc::default());
                let invocation = Invocation { cancelled: slice.flag(), deadline: None, without_python: false };
                // Not even a row that leaves native code may wake CPython here, and what takes much
                // memory takes time that no operation is asked about.
                let row_memory = settings.row_memory.min(FOLDING_MEMORY);
                run(&Settings { interpreter: false, row_memory, ..settings.clone() }, &invocation)
            }
            Circumstances::Running(invocation) => self.off_the_runtime(settings, invocation, run),
        }?;
        if array.data_type() == &definition.returns {
            Ok(array)
        } else {
            // The same values in another layout of the declared type.
            cast(&array, &definition.returns).map_err(|error| failed(error.to_string()))
        }
    }

    fn rung(&self, settings: &Settings) -> Rung {
        self.function.placement(settings).rung
    }

    /// Runs a call without keeping a worker of the async runtime from its other tasks.
    fn off_the_runtime(
        &self,
        settings: &Settings,
        invocation: &Invocation,
        run: impl Fn(&Settings, &Invocation) -> Result<ArrayRef, CallError>,
    ) -> Result<ArrayRef, CallError> {
        if !on_worker() {
            return run(settings, invocation);
        }
        if self.rung(settings) != Rung::Native {
            return tokio::task::block_in_place(|| run(settings, invocation));
        }
        let stopped =
            |result: &Result<_, CallError>| matches!(result, Err(CallError { kind: CallErrorKind::Cancelled, .. }));
        native_off_the_runtime(&self.slow, invocation, |invocation| run(settings, invocation), stopped)
    }
}

/// Runs native code without keeping a worker of the async runtime from its other tasks. What
/// ends soon stays on its worker, since to move those tasks costs more than most such calls;
/// what does not is stopped and begun again where it may take its time, and so is what comes
/// later with the same `slow`. That is legal because what runs natively has no effects; what rows
/// that leave it do in CPython may have some, and so they are not begun before.
pub(crate) fn native_off_the_runtime<R>(
    slow: &AtomicBool,
    invocation: &Invocation,
    run: impl Fn(&Invocation) -> R,
    stopped: impl Fn(&R) -> bool,
) -> R {
    if !on_worker() {
        return run(invocation);
    }
    if !slow.load(Ordering::Relaxed) {
        let slice = Slice::start(WORKER_TIME, Arc::clone(&invocation.cancelled));
        let result = run(&Invocation { cancelled: slice.flag(), deadline: None, without_python: true });
        if !stopped(&result) || invocation.cancelled.load(Ordering::Relaxed) {
            return result;
        }
        slow.store(true, Ordering::Relaxed);
    }
    // The other tasks of this worker move to another thread meanwhile.
    tokio::task::block_in_place(|| run(invocation))
}

/// Whether this thread serves other tasks of an async runtime that can move elsewhere. Other
/// threads are free to block, and a runtime of one thread has no choice.
fn on_worker() -> bool {
    use tokio::runtime::{Handle, RuntimeFlavor};
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Does work that may take long, such as defining a function: its module may run in CPython.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    if on_worker() { tokio::task::block_in_place(work) } else { work() }
}

/// When a function is called.
enum Circumstances {
    /// While DataFusion plans and folds constants.
    Planning,
    /// For a query.
    Running(Invocation),
}

impl ScalarUDFImpl for PythonFunction {
    fn name(&self) -> &str {
        &self.function.definition().name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.function.definition().returns.clone())
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let definition = self.function.definition();
        if let Some(wrong) = wrong_count(&definition.name, &self.signature_text(), &self.defaults, arg_types.len()) {
            return plan_err!("{wrong}");
        }
        let params = definition.params.iter().zip(arg_types);
        let coerced = params.map(|(param, ty)| match coerce::fit(&param.ty, ty) {
            Fit::As(ty) => ty,
            // Judged where the expressions are known.
            Fit::Literal | Fit::Checked | Fit::No => ty.clone(),
        });
        Ok(coerced.collect())
    }

    /// Adds the defaults of arguments that a call leaves out.
    fn simplify(&self, mut args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let left_out = self.defaults.get(args.len()..).unwrap_or_default();
        let defaults: Option<Vec<Expr>> = left_out.iter().map(|default| Some(default.as_ref()?.expr.clone())).collect();
        let Some(defaults) = defaults.filter(|defaults| !defaults.is_empty()) else {
            return Ok(ExprSimplifyResult::Original(args));
        };
        args.extend(defaults);
        let same = PythonFunction {
            function: Arc::clone(&self.function),
            defaults: self.defaults.clone(),
            signature: self.signature.clone(),
            inline: self.inline,
            clauses: self.clauses.clone(),
            options: self.options.clone(),
            slow: AtomicBool::new(false),
        };
        Ok(ExprSimplifyResult::Simplified(ScalarUDF::new_from_impl(same).call(args)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // Parts of DataFusion evaluate expressions under a default configuration; what the
        // session forbids stays forbidden there.
        let options = args.config_options.extensions.get::<ExuviaOptions>().unwrap_or(&self.options);
        let settings = &options.settings;
        let definition = self.function.definition();
        if args.args.len() != definition.params.len() {
            return exec_err!(
                "{} was called with {} of {} arguments; its defaults are added by the optimizer",
                definition.name,
                args.args.len(),
                definition.params.len()
            );
        }
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let planning = options.query.is_none() && constant && args.number_rows == 1;
        if planning && self.rung(settings) != Rung::Native {
            // DataFusion keeps a call that it could not fold and runs it with the query.
            return exec_err!("{} is not evaluated while a query is planned", definition.name);
        }
        let circumstances = if planning {
            Circumstances::Planning
        } else {
            Circumstances::Running(options.invocation(definition.timeout))
        };
        let result = self.call(&args.args, args.number_rows, settings, &circumstances);
        result.map(ColumnarValue::Array).map_err(|error| DataFusionError::External(Box::new(error)))
    }

    fn with_updated_config(&self, _: &ConfigOptions) -> Option<ScalarUDF> {
        // Settings are read from the configuration at each call.
        None
    }
}

// Two definitions are never the same function, even with the same text: one of them may be
// running while the other replaces it.
impl PartialEq for PythonFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.function, &other.function)
    }
}

impl Eq for PythonFunction {}

impl Hash for PythonFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.function).hash(state);
    }
}
