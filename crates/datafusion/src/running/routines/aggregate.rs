//! Calls on the values of groups: an aggregate of DataFusion's, also as a window function.
//!
//! Values are collected here, ordered and made distinct where the query says so, and given to
//! Python as lists, a call a group ([`collect`]). A class that can merge states takes its
//! values while they come ([`states`]), so that a group of any size has the size of its state.

mod collect;
mod states;

use super::Registered;
use crate::planning::coerce::{self, Fit};
use crate::statements::settings::ExuviaOptions;
use collect::Collected;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, GroupsAccumulator, LogicalPlan, Signature,
    WindowFunctionDefinition,
};
use datafusion::physical_expr::PhysicalSortExpr;
use exuvia_engine::routine::item;
use states::{Buffered, States};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An aggregate in Python.
#[derive(Clone, Debug)]
pub(crate) struct PythonAggregate {
    pub(crate) registered: Registered,
    signature: Signature,
    /// Of the query that is planned, or of the session as it was when the function was created.
    options: ExuviaOptions,
}

impl PartialEq for PythonAggregate {
    fn eq(&self, other: &Self) -> bool {
        self.registered == other.registered
    }
}

impl Eq for PythonAggregate {}

impl Hash for PythonAggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.registered.hash(state);
    }
}

impl PythonAggregate {
    pub(crate) fn new(registered: Registered, options: ExuviaOptions) -> PythonAggregate {
        let volatility = crate::running::function::volatility(registered.routine.volatility());
        let names = registered.routine.definition().params.iter().map(|param| param.name.clone()).collect();
        let signature = Signature::user_defined(volatility);
        // Names that are no names of SQL's are not there to be named.
        let signature = signature.clone().with_parameter_names(names).unwrap_or(signature);
        PythonAggregate { registered, signature, options }
    }

    /// The aggregate behind a function of DataFusion's, if it is one.
    pub(crate) fn of(udf: &AggregateUDF) -> Option<&PythonAggregate> {
        udf.inner().downcast_ref::<PythonAggregate>()
    }

    /// What EXPLAIN says of a call.
    pub(crate) fn explained(&self) -> &'static str {
        match self.registered.routine.merges() {
            true => "an aggregate, whose states are merged",
            false => "an aggregate, one call a group",
        }
    }

    /// Whether the states of parts of a group are made apart, and merged.
    fn streams(&self, distinct: bool, ordered: bool) -> bool {
        self.registered.routine.merges() && !distinct && !ordered
    }

    fn collected(&self, args: &AccumulatorArgs<'_>) -> Collected {
        // Of states, which have another schema, no column that it sorts by is asked for.
        let ty = |sort: &PhysicalSortExpr| sort.expr.data_type(args.schema).unwrap_or(DataType::Null);
        let order = args.order_bys.iter().map(|sort| (sort.options, ty(sort))).collect();
        Collected::new(self.registered.clone(), self.options.clone(), args.is_distinct, order)
    }
}

impl AggregateUDFImpl for PythonAggregate {
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
        if let Some(wrong) = self.registered.wrong_count(arg_types.len()) {
            return plan_err!("{wrong}");
        }
        let coerced = self.registered.value_types().into_iter().zip(arg_types);
        let coerced = coerced.map(|(wanted, given)| match coerce::fit(&wanted, given) {
            Fit::As(ty) => ty,
            // Judged where the expressions are known.
            Fit::Literal | Fit::Checked | Fit::No => given.clone(),
        });
        Ok(coerced.collect())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let collected = self.collected(&args);
        let plain = !args.is_distinct && args.order_bys.is_empty();
        Ok(match plain && self.registered.routine.is_class() {
            true => Box::new(Buffered::new(collected)),
            false => Box::new(collected),
        })
    }

    /// A frame that loses rows at its start: its values are kept, and it is called for each.
    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(self.collected(&args)))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(match self.streams(args.is_distinct, !args.order_bys.is_empty()) {
            true => Box::new(States::new(self.registered.clone(), self.options.clone())),
            false => Box::new(self.collected(&args)),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if self.streams(args.is_distinct, !args.ordering_fields.is_empty()) {
            return Ok(vec![Arc::new(Field::new(format!("{}[state]", args.name), DataType::Binary, true))]);
        }
        let values = self.registered.value_types();
        let order = args.ordering_fields.iter().map(|field| field.data_type().clone());
        let lists = values.into_iter().chain(order).enumerate().map(|(index, ty)| {
            let name = format!("{}[values {index}]", args.name);
            Arc::new(Field::new(name, DataType::LargeList(item(&ty)), true))
        });
        Ok(lists.collect())
    }

    /// Values are put in order here; rows that come in it spare that.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Beneficial
    }

    fn with_beneficial_ordering(self: Arc<Self>, _: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Ok(Some(self))
    }
}

/// A plan whose aggregates in Python know the query that they run for.
pub(crate) fn bound(plan: LogicalPlan, options: &ExuviaOptions) -> Result<LogicalPlan> {
    let rebound = |udf: &Arc<AggregateUDF>| {
        let python = PythonAggregate::of(udf)?.clone();
        Some(Arc::new(AggregateUDF::from(PythonAggregate { options: options.clone(), ..python })))
    };
    let plan = plan.transform_up_with_subqueries(|plan| {
        plan.map_expressions(|expr| {
            expr.transform_up(|expr| match expr {
                Expr::AggregateFunction(call) => Ok(match rebound(&call.func) {
                    Some(func) => Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, ..call })),
                    None => Transformed::no(Expr::AggregateFunction(call)),
                }),
                Expr::WindowFunction(mut call) => {
                    let WindowFunction { fun: WindowFunctionDefinition::AggregateUDF(udf), .. } = call.as_mut() else {
                        return Ok(Transformed::no(Expr::WindowFunction(call)));
                    };
                    let Some(func) = rebound(udf) else { return Ok(Transformed::no(Expr::WindowFunction(call))) };
                    *udf = func;
                    Ok(Transformed::yes(Expr::WindowFunction(call)))
                }
                expr => Ok(Transformed::no(expr)),
            })
        })
    })?;
    Ok(plan.data)
}
