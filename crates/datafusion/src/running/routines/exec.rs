//! The operators of calls on tables, columns and rows.

use super::Registered;
use super::call::{Generate, TableCall};
use super::column::ColumnCall;
use super::streams::{Base, columns, rows, table};
use crate::statements::settings::ExuviaOptions;
use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, LexRequirement, OrderingRequirements, Partitioning, PhysicalExpr,
    PhysicalSortExpr, create_physical_sort_exprs,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use exuvia_engine::routine::Kind;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::fmt;
use std::sync::Arc;

/// Plans the calls of this folder.
#[derive(Debug)]
pub(crate) struct RoutinePlanner;

#[async_trait]
impl ExtensionPlanner for RoutinePlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let any = node.as_any();
        // Those of the query: at run time the context knows the session's only.
        let options = ExuviaOptions::of(session.config_options());
        let schema: SchemaRef = Arc::new(node.schema().as_arrow().clone());
        let props = session.execution_props();
        if let Some(call) = any.downcast_ref::<TableCall>() {
            let mut orders = vec![];
            for (table, plan) in call.tables.iter().zip(logical) {
                orders.push(create_physical_sort_exprs(&table.order, plan.schema(), props, context)?);
            }
            let what = What::Table {
                visible: call.tables.iter().map(|table| table.visible).collect(),
                orders,
                sampled: call.sampled,
            };
            return Ok(Some(RoutineExec::over(call.registered.clone(), what, inputs.to_vec(), schema, options)));
        }
        if let Some(generate) = any.downcast_ref::<Generate>() {
            let what = What::Rows { args: generate.args, outer: generate.outer };
            return Ok(Some(RoutineExec::over(generate.registered.clone(), what, inputs.to_vec(), schema, options)));
        }
        if let Some(call) = any.downcast_ref::<ColumnCall>()
            && let [plan] = logical
        {
            let mut keys = vec![];
            for key in &call.partition {
                keys.push(planner.create_physical_expr(key, plan.schema(), session, context)?);
            }
            let mut args = vec![];
            for arg in &call.args {
                args.push(planner.create_physical_expr(arg, plan.schema(), session, context)?);
            }
            let order = create_physical_sort_exprs(&call.order, plan.schema(), props, context)?;
            let what = What::Column { args, keys, order };
            return Ok(Some(RoutineExec::over(call.registered.clone(), what, inputs.to_vec(), schema, options)));
        }
        Ok(None)
    }
}

/// What an operator does.
#[derive(Clone, Debug)]
enum What {
    /// One call with tables, the last input being the scalars.
    Table { visible: Vec<usize>, orders: Vec<Vec<PhysicalSortExpr>>, sampled: bool },
    /// A call for each row.
    Rows { args: usize, outer: bool },
    /// A call for all rows, for each partition of equal keys, or for each batch.
    Column { args: Vec<Arc<dyn PhysicalExpr>>, keys: Vec<Arc<dyn PhysicalExpr>>, order: Vec<PhysicalSortExpr> },
}

/// Calls of a function that runs in CPython over streams of batches.
#[derive(Debug)]
pub(crate) struct RoutineExec {
    registered: Registered,
    what: What,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    schema: SchemaRef,
    /// Those of the query.
    options: ExuviaOptions,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl RoutineExec {
    /// Whether it gives the rows of a generator, one partition of them.
    pub(crate) fn generates(&self) -> bool {
        matches!(self.what, What::Rows { .. }) && self.properties.output_partitioning().partition_count() == 1
    }

    fn over(
        registered: Registered,
        what: What,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        schema: SchemaRef,
        options: ExuviaOptions,
    ) -> Arc<dyn ExecutionPlan> {
        let mut equivalence = EquivalenceProperties::new(Arc::clone(&schema));
        let (partitioning, emission, boundedness) = match (&what, &inputs[..]) {
            (What::Table { .. }, _) => {
                (Partitioning::UnknownPartitioning(1), EmissionType::Final, Boundedness::Bounded)
            }
            (What::Rows { .. }, [input, ..]) => (
                Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
                EmissionType::Incremental,
                input.boundedness(),
            ),
            // The rows come as they are, with one more column behind.
            (What::Column { .. }, [input, ..]) => {
                if let Some(order) = input.output_ordering() {
                    equivalence.add_ordering(order.clone());
                }
                (input.output_partitioning().clone(), EmissionType::Final, input.boundedness())
            }
            (_, []) => (Partitioning::UnknownPartitioning(1), EmissionType::Final, Boundedness::Bounded),
        };
        let properties = Arc::new(PlanProperties::new(equivalence, partitioning, emission, boundedness));
        Arc::new(RoutineExec {
            registered,
            what,
            inputs,
            schema,
            options,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// Whether a call sees all rows of the input.
    fn whole(&self) -> bool {
        match &self.what {
            What::Table { .. } => true,
            What::Rows { .. } => false,
            What::Column { keys, .. } => keys.is_empty() && !self.by_batch(),
        }
    }

    fn by_batch(&self) -> bool {
        self.registered.by_batch || self.registered.routine.kind() == Kind::Iterator
    }
}

impl DisplayAs for RoutineExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.registered.name();
        match &self.what {
            What::Table { .. } => write!(f, "PythonTableExec: {name}"),
            What::Rows { outer, .. } => write!(f, "PythonRowsExec: {name}{}", if *outer { ", outer" } else { "" }),
            What::Column { args, keys, .. } => {
                let show = |exprs: &[Arc<dyn PhysicalExpr>]| {
                    exprs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                write!(f, "PythonColumnExec: {name}({})", show(args))?;
                if self.by_batch() {
                    return f.write_str(", one call a batch");
                }
                match keys.is_empty() {
                    true => f.write_str(", whole column"),
                    false => write!(f, ", one call a partition by [{}]", show(keys)),
                }
            }
        }
    }
}

impl ExecutionPlan for RoutineExec {
    fn name(&self) -> &'static str {
        match &self.what {
            What::Table { .. } => "PythonTableExec",
            What::Rows { .. } => "PythonRowsExec",
            What::Column { .. } => "PythonColumnExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        let one = match &self.what {
            What::Table { .. } => Distribution::SinglePartition,
            What::Rows { .. } => Distribution::UnspecifiedDistribution,
            What::Column { .. } if self.by_batch() => Distribution::UnspecifiedDistribution,
            What::Column { keys, .. } if keys.is_empty() => Distribution::SinglePartition,
            What::Column { keys, .. } => Distribution::KeyPartitioned(keys.clone()),
        };
        vec![one; self.inputs.len()]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let required = |order: Vec<PhysicalSortExpr>| {
            LexOrdering::new(order).map(|order| OrderingRequirements::from(LexRequirement::from(order)))
        };
        match &self.what {
            What::Table { orders, .. } => {
                let orders = orders.iter().map(|order| required(order.clone()));
                orders.chain([None]).take(self.inputs.len()).collect()
            }
            What::Rows { .. } => vec![None; self.inputs.len()],
            What::Column { keys, order, .. } => {
                let keys = keys.iter().map(|key| PhysicalSortExpr::new_default(Arc::clone(key)));
                vec![required(keys.chain(order.iter().cloned()).collect()); self.inputs.len()]
            }
        }
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        // Nobody may sort below that which depends on the order of its rows.
        vec![false; self.inputs.len()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        // Python has one lock. But where rows of equal keys belong together, DataFusion may
        // divide the input further, and divides it by the keys only if this is true.
        vec![matches!(&self.what, What::Column { keys, .. } if !keys.is_empty()); self.inputs.len()]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut visited = TreeNodeRecursion::Continue;
        if let What::Column { args, keys, order } = &self.what {
            for expr in args.iter().chain(keys).chain(order.iter().map(|sort| &sort.expr)) {
                visited = f(expr)?;
                if visited == TreeNodeRecursion::Stop {
                    break;
                }
            }
        }
        Ok(visited)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.len() != self.inputs.len() {
            return internal_err!("an operator of Python calls was given another number of inputs");
        }
        Ok(RoutineExec::over(
            self.registered.clone(),
            self.what.clone(),
            children,
            Arc::clone(&self.schema),
            self.options.clone(),
        ))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let base = Base {
            registered: self.registered.clone(),
            schema: Arc::clone(&self.schema),
            options: self.options.clone(),
            context: Arc::clone(&context),
            copies: if self.whole() { 2 } else { 0 },
        };
        let streams = |inputs: &[Arc<dyn ExecutionPlan>]| -> Result<Vec<SendableRecordBatchStream>> {
            inputs.iter().map(|input| input.execute(partition, Arc::clone(&context))).collect()
        };
        let stream: BoxStream<'static, Result<RecordBatch>> = match (&self.what, &self.inputs[..]) {
            (What::Table { visible, sampled, .. }, [tables @ .., scalars]) => {
                let (tables, scalars) = (streams(tables)?, scalars.execute(0, Arc::clone(&context))?);
                table(base, tables, visible.clone(), scalars, *sampled)
            }
            (What::Rows { args, outer }, [_]) => rows(base, streams(&self.inputs)?.remove(0), *args, *outer),
            (What::Column { args, keys, .. }, [_]) => {
                let input = streams(&self.inputs)?.remove(0);
                let keys = if self.by_batch() { None } else { Some(keys.clone()) };
                columns(base, input, args.clone(), keys)
            }
            _ => return internal_err!("an operator of Python calls without its inputs"),
        };
        let stream = stream.map(move |batch| {
            let _timer = metrics.elapsed_compute().timer();
            batch.inspect(|batch| metrics.output_rows().add(batch.num_rows()))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }
}
