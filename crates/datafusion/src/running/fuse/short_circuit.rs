//! AND and OR whose right side is evaluated only where the left side leaves it open.
//!
//! DataFusion's own evaluates the right side for all rows unless the left side decides
//! nearly all of them, which is right for operators that cannot fail.

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::{and_kleene, or_kleene};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::PhysicalExpr;
use std::fmt;
use std::sync::Arc;

/// AND or OR.
#[derive(Debug, Eq)]
pub(crate) struct ShortCircuit {
    /// `Operator::And` or `Operator::Or`.
    op: Operator,
    /// Two.
    sides: Vec<Arc<dyn PhysicalExpr>>,
}

impl PartialEq for ShortCircuit {
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op && self.sides == other.sides
    }
}

impl std::hash::Hash for ShortCircuit {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.op.hash(state);
        self.sides.hash(state);
    }
}

impl ShortCircuit {
    pub(crate) fn new(op: Operator, sides: Vec<Arc<dyn PhysicalExpr>>) -> ShortCircuit {
        ShortCircuit { op, sides }
    }

    /// `Operator::And` or `Operator::Or`.
    pub(crate) fn op(&self) -> Operator {
        self.op
    }

    /// The two sides.
    pub(crate) fn sides(&self) -> [&Arc<dyn PhysicalExpr>; 2] {
        [&self.sides[0], &self.sides[1]]
    }
}

impl fmt::Display for ShortCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} {} {})", self.sides[0], self.op, self.sides[1])
    }
}

impl PhysicalExpr for ShortCircuit {
    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        let nullable = self.sides[0].nullable(schema)? || self.sides[1].nullable(schema)?;
        Ok(Arc::new(Field::new(self.to_string(), DataType::Boolean, nullable)))
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let left = self.sides[0].evaluate(batch)?.into_array(batch.num_rows())?;
        let left = as_boolean_array(&left)?;
        // The rows that the left side does not decide, NULL among them.
        let decided = self.op == Operator::Or;
        let open: BooleanArray = left.iter().map(|value| Some(value != Some(decided))).collect();
        if open.true_count() == 0 {
            return Ok(ColumnarValue::Array(Arc::new(left.clone())));
        }
        let right = self.sides[1].evaluate_selection(batch, &open)?.into_array(batch.num_rows())?;
        let right = as_boolean_array(&right)?;
        // Where the left side decides, the right one is NULL or anything: it does not count.
        let both = if decided { or_kleene(left, right)? } else { and_kleene(left, right)? };
        Ok(ColumnarValue::Array(Arc::new(both)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.sides.iter().collect()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        if children.len() != 2 {
            return internal_err!("AND and OR have two sides");
        }
        Ok(Arc::new(ShortCircuit::new(self.op, children)))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
