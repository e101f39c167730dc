//! EXPLAIN's last rows: where each Python call runs.
//!
//! A scalar function cannot annotate DataFusion's plans, so the operator that prints them
//! is followed by one that adds a row: each call of a Python function in the optimised
//! plan with its rung, and for what is not native the reason and the source line. Functions
//! that the query names and that have no call left were inlined ([`crate::planning::inline`]), or
//! their value was computed or not needed. EXPLAIN ANALYZE adds the rows that took each way. All of it is asked of the engine after the
//! plan was made or run; the counters are the function's, so another query that calls it at
//! the same time is counted as well.

use crate::running::function::PythonFunction;
use crate::running::routines::aggregate::PythonAggregate;
use crate::running::routines::call::{Generate, TableCall};
use crate::running::routines::column::ColumnCall;
use crate::running::routines::order_note;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{RecordBatch, StringArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::format::ExplainFormat;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, HashMap, Result, internal_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Explain, Expr, LogicalPlan, PlanType, ScalarUDF, WindowFunctionDefinition};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use exuvia_engine::interpreter::Interpreter;
use exuvia_engine::{Offload, Offloading, Place, Placement, Rung, Settings};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The plan of an EXPLAIN with the row on Python calls; any other plan as it is.
pub(crate) fn with_calls(
    logical: &LogicalPlan,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
    functions: &std::collections::HashMap<String, Arc<ScalarUDF>>,
) -> Arc<dyn ExecutionPlan> {
    let (explained, format, analyze) = match logical {
        LogicalPlan::Explain(explain) => (&explain.plan, &explain.explain_format, false),
        LogicalPlan::Analyze(analyze) => (&analyze.input, &analyze.format, true),
        _ => return plan,
    };
    // The other formats are read by programs, one document each.
    if !matches!(format, ExplainFormat::Indent | ExplainFormat::Tree) {
        return plan;
    }
    let settings = ExuviaOptions::of(config).settings;
    let calls = calls(explained, &settings);
    let routines = routines(explained, &settings);
    let gone = match logical {
        LogicalPlan::Explain(explain) => gone(explain, &calls, functions),
        _ => vec![],
    };
    if (calls.is_empty() && gone.is_empty() && routines.is_empty())
        || plan.output_partitioning().partition_count() != 1
        || plan.schema().fields().len() != 2
    {
        return plan;
    }
    // What is known without running comes behind what is counted.
    let (calls, others) = (Arc::new(calls), Arc::new([routines, gone].concat()));
    Arc::new(ExplainCallsExec { input: plan, calls, others, settings: Arc::new(settings), analyze })
}

/// The Python functions that the query names and that the optimised plan does not call.
fn gone(
    explain: &Explain,
    calls: &[Call],
    functions: &std::collections::HashMap<String, Arc<ScalarUDF>>,
) -> Vec<String> {
    let analyzed = explain.stringified_plans.iter().find(|plan| plan.plan_type == PlanType::FinalAnalyzedLogicalPlan);
    let Some(analyzed) = analyzed else { return vec![] };
    let named = |name: &str| {
        let starts =
            |at: usize| !analyzed.plan[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        analyzed.plan.match_indices(&format!("{name}(")).any(|(at, _)| starts(at))
    };
    let mut gone: Vec<String> = functions
        .iter()
        .filter(|(name, function)| PythonFunction::of(function).is_some() && named(name))
        .filter(|(name, _)| !calls.iter().any(|call| call.function.name() == name.as_str()))
        .map(|(name, _)| format!("{name}: no call is left"))
        .collect();
    gone.sort();
    gone
}

/// The calls of functions of tables, columns and groups, each a line.
fn routines(plan: &LogicalPlan, settings: &Settings) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    let visited = plan.apply_with_subqueries(|plan| {
        let line = TableCall::of(plan)
            .map(TableCall::explained)
            .or_else(|| Generate::of(plan).map(Generate::explained))
            .or_else(|| ColumnCall::of(plan).map(|call| call.explained(settings)));
        lines.extend(line);
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                let call = match expr {
                    Expr::AggregateFunction(call) => Some((&call.func, &call.params.order_by)),
                    Expr::WindowFunction(call) => match &call.fun {
                        WindowFunctionDefinition::AggregateUDF(udf) => Some((udf, &call.params.order_by)),
                        WindowFunctionDefinition::WindowUDF(_) => None,
                    },
                    _ => None,
                };
                if let Some((udf, order)) = call
                    && let Some(aggregate) = PythonAggregate::of(udf)
                {
                    let order = order_note(!order.is_empty());
                    let line = format!("{}: python: {}{order}", expr.human_display(), aggregate.explained());
                    if !lines.contains(&line) {
                        lines.push(line);
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    debug_assert!(visited.is_ok(), "a walk that never fails failed");
    lines
}

/// A call that a plan makes.
#[derive(Debug)]
struct Call {
    /// As DataFusion shows it.
    text: String,
    function: Arc<ScalarUDF>,
    /// The function's counters before the plan ran.
    before: Placement,
}

/// The calls of Python functions in a plan, in its order, each once.
fn calls(plan: &LogicalPlan, settings: &Settings) -> Vec<Call> {
    let mut calls: Vec<Call> = vec![];
    let shared = shared(plan).unwrap_or_default();
    let visited = plan.apply_with_subqueries(|plan| {
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::ScalarFunction(call) = expr
                    && let Some(python) = PythonFunction::of(&call.func)
                {
                    let text = shown(expr, &shared)?;
                    if !calls.iter().any(|call| call.text == text) {
                        let before = python.function().placement(settings);
                        calls.push(Call { text, function: Arc::clone(&call.func), before });
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    // Nothing above fails for expressions that were planned.
    debug_assert!(visited.is_ok(), "a walk that never fails failed");
    calls
}

/// What the optimiser computes once and names.
fn shared(plan: &LogicalPlan) -> Result<HashMap<String, Expr>> {
    let mut shared = HashMap::new();
    plan.apply_with_subqueries(|plan| {
        plan.apply_expressions(|expr| {
            if let Expr::Alias(alias) = expr
                && alias.name.starts_with("__common_expr")
            {
                shared.insert(alias.name.clone(), alias.expr.as_ref().clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(shared)
}

/// A call as its writer would know it: what the optimiser named is its expression again,
/// and one call reads the same above and below a view.
fn shown(expr: &Expr, shared: &HashMap<String, Expr>) -> Result<String> {
    let mut expr = expr.clone();
    loop {
        let restored = expr.transform_up(|expr| match expr {
            Expr::Alias(alias) => Ok(Transformed::yes(*alias.expr)),
            Expr::Column(column) => match shared.get(&column.name) {
                Some(named) => Ok(Transformed::yes(named.clone())),
                None if column.relation.is_some() => {
                    Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column.name))))
                }
                None => Ok(Transformed::no(Expr::Column(column))),
            },
            expr => Ok(Transformed::no(expr)),
        })?;
        expr = restored.data;
        // What is shared may consist of what is shared.
        if !restored.transformed {
            return Ok(expr.human_display().to_string());
        }
    }
}

/// The rung as users read it.
pub(crate) fn rung_name(rung: Rung) -> &'static str {
    match rung {
        Rung::Native => "native",
        Rung::Evaluator => "evaluator",
        Rung::Python => "python",
    }
}

/// `E012 sentence, line 3: source`, and what is to be known of the CPython that runs it.
pub(crate) fn reason(placement: &Placement) -> Option<String> {
    let (code, sentence) = placement.reason.as_ref()?;
    let why = why(code, sentence, placement.place.as_ref());
    let python = Interpreter::started().filter(|_| placement.rung == Rung::Python);
    let warning = python.and_then(Interpreter::warning).map(|text| format!("; {text}")).unwrap_or_default();
    Some(format!("{why}{warning}"))
}

/// Why a row of a function that runs natively left for CPython, if any did.
pub(crate) fn left(placement: &Placement) -> Option<String> {
    let (why, place) = placement.left.as_ref().filter(|_| placement.rung == Rung::Native)?;
    Some(format!("a row left for CPython: {why}{}", at(place.as_ref())))
}

/// A reason with its code and its place.
pub(crate) fn why(code: &str, sentence: &str, place: Option<&Place>) -> String {
    format!("{code} {sentence}{}", at(place))
}

/// The line of a place.
fn at(place: Option<&Place>) -> String {
    place.map(|place| format!(", line {}: {}", place.line, place.excerpt().0.trim())).unwrap_or_default()
}

/// The placement as users read it.
pub(crate) fn placement_name(placement: &Placement) -> &'static str {
    match placement.offloading {
        Some(Offloading::On { .. }) => "offload",
        _ => rung_name(placement.rung),
    }
}

/// What is known of a device, where there is one or one is asked for.
fn offloading(placement: &Placement, settings: &Settings) -> Option<String> {
    match placement.offloading.as_ref()? {
        Offloading::Off => None,
        Offloading::NoDevice(why) => (settings.offload == Offload::Force).then(|| format!("no offload: {why}")),
        Offloading::Declined(why) => Some(format!("no offload: {why}")),
        Offloading::Native(pace) => Some(format!("no offload so far: {pace}")),
        Offloading::On { device, pace: None } => Some(format!("to {device}")),
        Offloading::On { device, pace: Some(pace) } => Some(format!("to {device}: {pace}")),
    }
}

fn describe(call: &Call, settings: &Settings, analyze: bool) -> String {
    let Some(python) = PythonFunction::of(&call.function) else { return String::new() };
    let placement = python.function().placement(settings);
    let by_null = python.function().is_native_without_null(settings);
    let name = placement_name(&placement);
    let name = if by_null { format!("native, with NULL in a batch {name}") } else { name.to_string() };
    let mut text = format!("{}: {name}", call.text);
    if let Some(offloading) = offloading(&placement, settings) {
        text.push_str(&format!(" ({offloading})"));
    }
    if let Some(reason) = reason(&placement) {
        text.push_str(&format!(": {reason}"));
    }
    if analyze {
        let before = &call.before;
        let rows = placement.rows.saturating_sub(before.rows);
        let evaluated = placement.evaluated_rows.saturating_sub(before.evaluated_rows);
        let python = placement.python_rows.saturating_sub(before.python_rows);
        let memoized = placement.memoized_rows.saturating_sub(before.memoized_rows);
        let offloaded = placement.offloaded_rows.saturating_sub(before.offloaded_rows);
        let elsewhere = memoized + evaluated + python + offloaded;
        let native = rows.saturating_sub(elsewhere);
        let device = if offloaded == 0 { String::new() } else { format!(", device={offloaded}") };
        let memoized = if memoized == 0 { String::new() } else { format!(", memoized={memoized}") };
        text.push_str(&format!(
            ", rows={rows} [native={native}, evaluator={evaluated}, python={python}{memoized}{device}]"
        ));
        if let Some(left) = left(&placement).filter(|_| python > 0) {
            text.push_str(&format!("; {left}"));
        }
    }
    text
}

#[derive(Debug)]
struct ExplainCallsExec {
    input: Arc<dyn ExecutionPlan>,
    calls: Arc<Vec<Call>>,
    /// Lines about calls that are not counted.
    others: Arc<Vec<String>>,
    settings: Arc<Settings>,
    analyze: bool,
}

impl DisplayAs for ExplainCallsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExplainCallsExec")
    }
}

impl ExplainCallsExec {
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        ExplainCallsExec {
            input,
            calls: Arc::clone(&self.calls),
            others: Arc::clone(&self.others),
            settings: Arc::clone(&self.settings),
            analyze: self.analyze,
        }
    }
}

impl ExecutionPlan for ExplainCallsExec {
    fn name(&self) -> &'static str {
        "ExplainCallsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.with_input(only_child(children)?)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let schema = input.schema();
        let (calls, settings, analyze) = (Arc::clone(&self.calls), Arc::clone(&self.settings), self.analyze);
        let others = Arc::clone(&self.others);
        let batch_schema = Arc::clone(&schema);
        // Made when the input has ended, so that the counters are final.
        let last = futures::stream::once(async move { row(&batch_schema, &calls, &others, &settings, analyze) });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, input.chain(last))))
    }
}

fn row(
    schema: &SchemaRef,
    calls: &[Call],
    others: &[String],
    settings: &Settings,
    analyze: bool,
) -> Result<RecordBatch> {
    let calls = calls.iter().map(|call| describe(call, settings, analyze));
    let lines: Vec<String> = calls.chain(others.iter().cloned()).collect();
    let plan_type = StringArray::from(vec!["exuvia_functions"]);
    let plan = StringArray::from(vec![lines.join("\n")]);
    Ok(RecordBatch::try_new(Arc::clone(schema), vec![Arc::new(plan_type), Arc::new(plan)])?)
}

pub(crate) fn only_child(mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
    match children.pop() {
        Some(child) if children.is_empty() => Ok(child),
        _ => internal_err!("an operator with one input was given another number of inputs"),
    }
}
