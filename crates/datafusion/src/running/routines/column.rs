//! Calls on whole columns: `SELECT f(x) FROM t`, `f(x) OVER (PARTITION BY g ORDER BY t)`.
//!
//! Without OVER a call takes the column of the relation over which its expression stands: in
//! SELECT of what WHERE has left, in WHERE of all rows of FROM. To DataFusion it is a scalar
//! function that is never evaluated, and with OVER a window function that is none: the first
//! rule of analysis makes nodes of both.

use super::{Registered, order_note, streams};
use crate::planning::barrier::node_of;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, DataFusionError, Result, internal_err, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::expr::{ScalarFunction, Sort as SortExpr, WindowFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Extension, LogicalPlan, PartitionEvaluator, Projection, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, UserDefinedLogicalNodeCore, Volatility, Window, WindowFrameBound,
    WindowFunctionDefinition, WindowUDF, WindowUDFImpl,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr::PhysicalExpr;
use exuvia_engine::Settings;
use exuvia_engine::routine::Kind;
use futures::StreamExt;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// A column function as DataFusion finds it by name, with and without OVER.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ColumnFunction {
    pub(crate) registered: Registered,
    signature: Signature,
    aliases: Vec<String>,
}

/// The name under which the function is found with OVER: scalar functions are found first.
pub(crate) fn window_name(name: &str) -> String {
    format!("__over_{name}")
}

impl ColumnFunction {
    fn new(registered: Registered) -> Result<ColumnFunction> {
        let names = registered.routine.definition().params.iter().map(|param| param.name.clone()).collect();
        // Nothing may evaluate, copy or move a call before it is a node.
        let signature = Signature::user_defined(Volatility::Volatile).with_parameter_names(names)?;
        let aliases = vec![window_name(registered.name())];
        Ok(ColumnFunction { registered, signature, aliases })
    }

    /// The scalar function and the window function.
    pub(crate) fn functions(registered: &Registered) -> Result<(ScalarUDF, WindowUDF)> {
        Ok((
            ScalarUDF::new_from_impl(ColumnFunction::new(registered.clone())?),
            WindowUDF::new_from_impl(ColumnFunction::new(registered.clone())?),
        ))
    }

    /// The column function behind a function of DataFusion's, if it is one.
    pub(crate) fn of(udf: &ScalarUDF) -> Option<&ColumnFunction> {
        udf.inner().downcast_ref::<ColumnFunction>()
    }

    fn of_window(udf: &WindowUDF) -> Option<&ColumnFunction> {
        udf.inner().downcast_ref::<ColumnFunction>()
    }

    fn check_count(&self, given: usize) -> Result<()> {
        match self.registered.wrong_count(given) {
            Some(wrong) => plan_err!("{wrong}"),
            None => Ok(()),
        }
    }
}

impl ScalarUDFImpl for ColumnFunction {
    fn name(&self) -> &str {
        self.registered.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.registered.value_type())
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.check_count(arg_types.len())?;
        Ok(arg_types.to_vec())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        plan_err!("{} takes whole columns and cannot be evaluated here; call it in a subquery", self.registered.name())
    }
}

impl WindowUDFImpl for ColumnFunction {
    fn name(&self) -> &str {
        self.registered.name()
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs<'_>) -> Result<Box<dyn PartitionEvaluator>> {
        plan_err!("{} cannot be evaluated by DataFusion's windows", self.registered.name())
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), self.registered.value_type(), true)))
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.check_count(arg_types.len())?;
        Ok(arg_types.to_vec())
    }
}

/// A call: the input's columns and, last, the function's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ColumnCall {
    pub(crate) registered: Registered,
    pub(crate) input: Arc<LogicalPlan>,
    pub(crate) args: Vec<Expr>,
    pub(crate) partition: Vec<Expr>,
    pub(crate) order: Vec<SortExpr>,
    /// The name of its column, which no other has.
    name: String,
    /// The call as SQL.
    text: String,
    schema: DFSchemaRef,
}

impl PartialOrd for ColumnCall {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl ColumnCall {
    /// The node that a plan is, if it is one.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<&ColumnCall> {
        node_of(plan)
    }

    /// The same call of another function, of the same parameters and result.
    pub(crate) fn of_function(self, registered: Registered) -> ColumnCall {
        ColumnCall { registered, ..self }
    }

    /// A call over a plan; its arguments are brought to the types of its parameters.
    fn over(
        registered: &Registered,
        input: LogicalPlan,
        args: Vec<Expr>,
        partition: Vec<Expr>,
        order: Vec<SortExpr>,
        text: String,
    ) -> Result<(LogicalPlan, Column)> {
        let input_schema = Arc::clone(input.schema());
        let args = registered.fitted(args, &input_schema)?;
        let taken = |name: &str| input_schema.fields().iter().any(|field| field.name() == name);
        let mut number = 0;
        while taken(&format!("__column_{number}")) {
            number += 1;
        }
        let name = format!("__column_{number}");
        let column = Column::new_unqualified(&name);
        let schema = ColumnCall::schema_of(registered, &input, &name)?;
        let call = ColumnCall {
            registered: registered.clone(),
            input: Arc::new(input),
            args,
            partition,
            order,
            name,
            text,
            schema,
        };
        Ok((LogicalPlan::Extension(Extension { node: Arc::new(call) }), column))
    }

    fn schema_of(registered: &Registered, input: &LogicalPlan, name: &str) -> Result<DFSchemaRef> {
        let mut fields: Vec<_> =
            input.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field))).collect();
        fields.push((None, Arc::new(Field::new(name, registered.value_type(), true))));
        Ok(Arc::new(DFSchema::new_with_metadata(fields, Default::default())?))
    }

    /// A line for EXPLAIN.
    pub(crate) fn explained(&self, settings: &Settings) -> String {
        let (by, order) = match self.registered {
            _ if by_batch(&self.registered) => ("one call a batch", ""),
            _ if self.partition.is_empty() => ("whole column", order_note(!self.order.is_empty())),
            _ => ("one call a partition", order_note(!self.order.is_empty())),
        };
        if self.registered.is_whole(settings) {
            return format!("{}: native: a column function, {by}{order}", self.text);
        }
        let why = match self.registered.why_not() {
            Some(why) if self.registered.routine.kind() == Kind::Column => format!("; {why}"),
            _ => String::new(),
        };
        format!("{}: python: a column function, {by}{order}{why}", self.text)
    }
}

impl UserDefinedLogicalNodeCore for ColumnCall {
    fn name(&self) -> &'static str {
        "PythonColumn"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![self.input.as_ref()]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        let order = self.order.iter().map(|sort| sort.expr.clone());
        self.args.iter().chain(&self.partition).cloned().chain(order).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PythonColumn: {}", self.text)
    }

    fn with_exprs_and_inputs(&self, mut exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<ColumnCall> {
        let (Some(input), true) = (inputs.pop(), inputs.is_empty()) else {
            return internal_err!("a call on columns has one input");
        };
        if exprs.len() != self.args.len() + self.partition.len() + self.order.len() {
            return internal_err!("a call on columns was given another number of expressions");
        }
        let order = exprs.split_off(self.args.len() + self.partition.len());
        let order = order.into_iter().zip(&self.order).map(|(expr, sort)| SortExpr { expr, ..sort.clone() }).collect();
        let partition = exprs.split_off(self.args.len());
        let schema = ColumnCall::schema_of(&self.registered, &input, &self.name)?;
        Ok(ColumnCall { input: Arc::new(input), args: exprs, partition, order, schema, ..self.clone() })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let schema = self.input.schema();
        let mut needed: Vec<usize> =
            output_columns.iter().copied().filter(|index| *index < schema.fields().len()).collect();
        for expr in self.expressions() {
            for column in expr.column_refs() {
                needed.push(schema.maybe_index_of_column(column)?);
            }
        }
        needed.sort_unstable();
        needed.dedup();
        // Rows without any column would lose their number.
        if needed.is_empty() { None } else { Some(vec![needed]) }
    }
}

/// Makes nodes of calls on columns.
#[derive(Debug)]
pub(crate) struct ColumnCalls;

impl AnalyzerRule for ColumnCalls {
    fn name(&self) -> &'static str {
        "exuvia_column_calls"
    }

    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        let settings = ExuviaOptions::of(config).settings;
        let plan = plan.transform_up_with_subqueries(|plan| {
            let below = match called(&plan)? {
                None => Transformed::no(plan),
                Some(_) => by_row(plan, &settings)?.transform_data(|plan| calls_below(plan, &settings))?,
            };
            match below.data {
                LogicalPlan::Window(window) if window.window_expr.iter().any(|expr| over_call(expr).is_some()) => {
                    windows(window, &settings).map(Transformed::yes)
                }
                plan => Ok(Transformed::new_transformed(plan, below.transformed)),
            }
        })?;
        Ok(plan.data)
    }
}

/// The call of a column function with OVER that an expression is.
fn over_call(expr: &Expr) -> Option<(&ColumnFunction, &WindowFunction)> {
    match expr {
        Expr::Alias(alias) => over_call(&alias.expr),
        Expr::WindowFunction(function) => match &function.fun {
            WindowFunctionDefinition::WindowUDF(udf) => Some((ColumnFunction::of_window(udf)?, function)),
            WindowFunctionDefinition::AggregateUDF(_) => None,
        },
        _ => None,
    }
}

/// Replaces calls of elementwise functions by those of the row functions that they are.
fn by_row(plan: LogicalPlan, settings: &Settings) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&plan.inputs());
    let mut replace = |expr: Expr| match call_of(&expr) {
        Some((function, call)) if let Some(udf) = function.registered.lifted(settings) => {
            Ok(Transformed::yes(udf.call(function.registered.fitted(call.args.clone(), &schema)?)))
        }
        _ => Ok(Transformed::no(expr)),
    };
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        let saved = names.save(&expr);
        Ok(expr.transform_up(&mut replace)?.update_data(|expr| saved.restore(expr)))
    })
}

/// Takes the calls of column functions out of a node of window functions.
fn windows(window: Window, settings: &Settings) -> Result<LogicalPlan> {
    let names: Vec<Column> = window.schema.columns();
    let kept = window.input.schema().fields().len();
    let (ours, others): (Vec<Expr>, Vec<Expr>) =
        window.window_expr.iter().cloned().partition(|expr| over_call(expr).is_some());
    let mut plan = Arc::unwrap_or_clone(window.input);
    if !others.is_empty() {
        plan = LogicalPlan::Window(Window::try_new(others, Arc::new(plan))?);
    }
    let mut made = vec![];
    for expr in &ours {
        let Some((function, call)) = over_call(expr) else { continue };
        let params = &call.params;
        let name = function.registered.name();
        if params.filter.is_some() || params.distinct || params.null_treatment.is_some() {
            return plan_err!("{name} is a column function, which takes no FILTER, DISTINCT or IGNORE NULLS");
        }
        let frame = &params.window_frame;
        if !frame.start_bound.is_unbounded()
            || !(frame.end_bound.is_unbounded() || matches!(frame.end_bound, WindowFrameBound::CurrentRow))
        {
            return plan_err!("{name} is a column function, which takes whole partitions and no frame");
        }
        if by_batch(&function.registered) {
            return plan_err!("{name} is called for each batch and takes no OVER; leave OPTIONS (scope 'batch') out");
        }
        if let Some(udf) = function.registered.lifted(settings) {
            made.push(udf.call(function.registered.fitted(params.args.clone(), plan.schema())?));
            continue;
        }
        let text = expr.human_display().to_string().replace(&window_name(name), name);
        let (over, column) = ColumnCall::over(
            &function.registered,
            plan,
            params.args.clone(),
            params.partition_by.clone(),
            params.order_by.clone(),
            text,
        )?;
        plan = over;
        made.push(Expr::Column(column));
    }
    // The columns as they were, under their names.
    let mut made = made.into_iter();
    let mut exprs: Vec<Expr> = names[..kept].iter().cloned().map(Expr::Column).collect();
    for (expr, name) in window.window_expr.iter().zip(&names[kept..]) {
        exprs.push(match over_call(expr).and_then(|_| made.next()) {
            Some(made) => made.alias_qualified(name.relation.clone(), &name.name),
            None => Expr::Column(name.clone()),
        });
    }
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
}

fn by_batch(registered: &Registered) -> bool {
    registered.by_batch || registered.routine.kind() == Kind::Iterator
}

/// Whether there is a call of a column function in an expression.
pub(super) fn holds_call(expr: &Expr) -> bool {
    // The walk never fails.
    expr.exists(|expr| Ok(call_of(expr).is_some())).unwrap_or(true)
}

fn call_of(expr: &Expr) -> Option<(&ColumnFunction, &ScalarFunction)> {
    match expr {
        Expr::ScalarFunction(call) => Some((ColumnFunction::of(&call.func)?, call)),
        _ => None,
    }
}

/// The name of a column function that a node's expressions call.
fn called(plan: &LogicalPlan) -> Result<Option<String>> {
    let mut name = None;
    plan.apply_expressions(|expr| {
        expr.apply(|expr| {
            if let Some((function, _)) = call_of(expr) {
                name = Some(function.registered.name().to_string());
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(name)
}

/// Puts the calls in a node's expressions into nodes below it.
fn calls_below(plan: LogicalPlan, settings: &Settings) -> Result<Transformed<LogicalPlan>> {
    let Some(name) = called(&plan)? else { return Ok(Transformed::no(plan)) };
    let place = match &plan {
        LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) => false,
        // These give the rows of their input, without the call's column.
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) => true,
        _ => {
            return plan_err!("{name} takes whole columns and cannot be called here; call it in a subquery");
        }
    };
    let columns = plan.schema().columns();
    let [input] = plan.inputs()[..] else { return internal_err!("a node with expressions and no single input") };
    let mut below = input.clone();
    let mut made: Vec<(Expr, Column)> = vec![];
    let mut extract = |expr: Expr| -> Result<Transformed<Expr>> {
        let Some((function, call)) = call_of(&expr) else { return Ok(Transformed::no(expr)) };
        // Of a volatile function each call is its own.
        let again = function.registered.routine.definition().volatility != Some(exuvia_engine::Volatility::Volatile);
        if let Some((_, column)) = made.iter().find(|(known, _)| again && known == &expr) {
            return Ok(Transformed::yes(Expr::Column(column.clone())));
        }
        let input = std::mem::replace(&mut below, LogicalPlan::EmptyRelation(empty()));
        let text = expr.human_display().to_string();
        let (over, column) = ColumnCall::over(&function.registered, input, call.args.clone(), vec![], vec![], text)?;
        below = over;
        made.push((expr, column.clone()));
        Ok(Transformed::yes(Expr::Column(column)))
    };
    let names = NamePreserver::new(&plan);
    let mut exprs = vec![];
    for expr in plan.expressions() {
        let saved = names.save(&expr);
        exprs.push(saved.restore(expr.transform_up(&mut extract)?.data));
    }
    let rebuilt = plan.with_new_exprs(exprs, vec![below])?;
    if !place && !matches!(rebuilt, LogicalPlan::Window(_)) {
        return Ok(Transformed::yes(rebuilt));
    }
    let exprs = columns.into_iter().map(Expr::Column).collect();
    let window = match &rebuilt {
        LogicalPlan::Window(window) => window.window_expr.iter().any(|expr| over_call(expr).is_some()),
        _ => false,
    };
    let rebuilt = match rebuilt {
        LogicalPlan::Window(window_node) if window => windows(window_node, settings)?,
        other => other,
    };
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rebuilt))?)))
}

fn empty() -> datafusion::logical_expr::EmptyRelation {
    datafusion::logical_expr::EmptyRelation { produce_one_row: false, schema: Arc::new(DFSchema::empty()) }
}

/// The rows of equal keys as one batch each, of an input that is sorted by them; all rows
/// where there are no keys.
pub(super) fn groups(
    input: SendableRecordBatchStream,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    name: String,
    context: &TaskContext,
) -> streams::Batches<'static> {
    let reservation = MemoryConsumer::new(format!("Python function {name}")).register(context.memory_pool());
    let schema = input.schema();
    let state = Groups {
        input,
        keys,
        converter: None,
        last: None,
        held: vec![],
        ready: VecDeque::new(),
        reservation,
        ended: false,
    };
    let start = async move {
        let mut state = state;
        let fields: Result<Vec<SortField>> =
            state.keys.iter().map(|key| Ok(SortField::new(key.data_type(&schema)?))).collect();
        state.converter = Some(RowConverter::new(fields?)?);
        Ok::<_, DataFusionError>(state)
    };
    let stream = futures::stream::once(start).map(|state| match state {
        Ok(state) => futures::stream::try_unfold(state, |mut state| async move {
            Ok(state.next().await?.map(|batch| (batch, state)))
        })
        .left_stream(),
        Err(error) => futures::stream::once(async { Err(error) }).right_stream(),
    });
    Box::pin(stream.flatten())
}

struct Groups {
    input: SendableRecordBatchStream,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    converter: Option<RowConverter>,
    /// The keys of the rows that are held.
    last: Option<OwnedRow>,
    held: Vec<RecordBatch>,
    ready: VecDeque<Vec<RecordBatch>>,
    reservation: MemoryReservation,
    ended: bool,
}

impl Groups {
    async fn next(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.ended {
                return Ok(None);
            }
            match self.input.next().await.transpose()? {
                Some(batch) => self.add(&batch)?,
                None => {
                    self.ended = true;
                    self.flush();
                }
            }
        }
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        if self.keys.is_empty() {
            return self.hold(batch.clone());
        }
        let keys: Result<Vec<_>> = self.keys.iter().map(|key| key.evaluate(batch)?.into_array(rows)).collect();
        let Some(converter) = &self.converter else { return internal_err!("groups without keys") };
        let keys = converter.convert_columns(&keys?)?;
        let mut start = 0;
        for row in 0..rows {
            let same = self.last.as_ref().is_some_and(|last| last.row() == keys.row(row));
            if !same {
                self.hold(batch.slice(start, row - start))?;
                self.flush();
                start = row;
                self.last = Some(keys.row(row).owned());
            }
        }
        self.hold(batch.slice(start, rows - start))
    }

    fn hold(&mut self, batch: RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        // A slice counts its buffers whole, so that only whole columns are charged.
        if self.keys.is_empty() {
            self.reservation.try_grow(batch.get_array_memory_size()).map_err(|error| {
                DataFusionError::ResourcesExhausted(format!(
                    "a whole column does not fit into the memory pool: {error}"
                ))
            })?;
        }
        self.held.push(batch);
        Ok(())
    }

    fn flush(&mut self) {
        if !self.held.is_empty() {
            self.ready.push_back(std::mem::take(&mut self.held));
        }
    }
}
