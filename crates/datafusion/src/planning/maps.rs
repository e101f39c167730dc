//! `m['key']` of a MAP whose keys have another type than the literal.
//!
//! DataFusion compares the two as they are, and Arrow compares no two layouts of text and no two widths of
//! integers: the literal is brought to the type of the keys while planning.

use crate::statements::types;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawFieldAccessExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, GetFieldAccess};

/// Plans accesses to MAPs, and leaves others to the planners behind it.
#[derive(Debug)]
pub(crate) struct MapKeys;

impl ExprPlanner for MapKeys {
    fn plan_field_access(
        &self,
        access: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        let given = match &access.field_access {
            GetFieldAccess::NamedStructField { name } => name.clone(),
            GetFieldAccess::ListIndex { key } => match key.as_ref() {
                Expr::Literal(value, _) => value.clone(),
                Expr::Negative(value) => match value.as_ref() {
                    Expr::Literal(value, _) if !value.is_null() => value.arithmetic_negate()?,
                    _ => return Ok(PlannerResult::Original(access)),
                },
                _ => return Ok(PlannerResult::Original(access)),
            },
            GetFieldAccess::ListRange { .. } => return Ok(PlannerResult::Original(access)),
        };
        let Ok(DataType::Map(entries, _)) = access.expr.get_type(schema) else {
            return Ok(PlannerResult::Original(access));
        };
        let DataType::Struct(fields) = entries.data_type() else { return Ok(PlannerResult::Original(access)) };
        let wanted = fields[0].data_type();
        if given.data_type() == *wanted {
            return Ok(PlannerResult::Original(access));
        }
        // Through another type and back, so that no key is taken for one that it only rounds to.
        let key = given
            .cast_to(wanted)
            .ok()
            .filter(|key| given.is_null() || key.cast_to(&given.data_type()).is_ok_and(|back| back == given));
        match key {
            Some(key) => Ok(PlannerResult::Original(RawFieldAccessExpr { field_access: of(key), ..access })),
            None => plan_err!("{} is no key of a {}", shown(&given), types::name(&access.expr.get_type(schema)?)),
        }
    }
}

fn of(key: ScalarValue) -> GetFieldAccess {
    GetFieldAccess::ListIndex { key: Box::new(Expr::Literal(key, None)) }
}

fn shown(value: &ScalarValue) -> String {
    match value.try_as_str() {
        Some(Some(text)) => format!("'{text}'"),
        _ => value.to_string(),
    }
}
