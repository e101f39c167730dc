//! Comparisons with constants, as conditions of a parameter that statistics can be compared
//! with: of arithmetic that keeps or reverses an order ([`super::bound`]), of floats, of days.

use super::bound::{Bound, Chain, Number};
use super::rules::{Param, Rules, comparison, fits};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions::expr_fn::isnan;
use datafusion::logical_expr::{Expr, Operator, lit};
use exuvia_engine::Object;
use exuvia_engine::formula::Formula;

/// Integers up to here are floats without rounding.
const EXACT: i64 = 1 << 53;

impl Rules<'_> {
    /// A comparison of arithmetic with a constant, as one of its argument ([`super::bound`]).
    pub(super) fn bounded(&self, class: &str, name: &str, args: &[Formula]) -> Option<Expr> {
        use Formula::Const;
        let op = comparison(name)?;
        let (formula, constant, op) = match args {
            [left, Const(right)] => (left, right, op),
            [Const(left), right] => (right, left, op.swap()?),
            _ => return None,
        };
        let (chain, param) = self.chain(formula)?;
        let constant = match (class, constant) {
            ("int", Object::Int(constant)) => Number::Int(constant.to_i64()?.into()),
            ("float", Object::Float(constant)) if !constant.is_nan() => Number::Float(*constant),
            // Law: an int that is a float without rounding compares as that float.
            ("float_int" | "int_float", Object::Int(constant)) => Number::Float(exact(constant.to_i64()?)?),
            _ => return None,
        };
        let side = |op: Operator| -> Option<Expr> {
            if let Some(range) = int_range(&param.ty) {
                return bounded_int(param, range, chain.ints(op, constant, range.0, range.1)?);
            }
            let (op, at) = match chain.floats(op, constant)? {
                Bound::AtMost(at) => (Operator::LtEq, at),
                Bound::AtLeast(at) => (Operator::GtEq, at),
                Bound::Always => (Operator::GtEq, f64::NEG_INFINITY),
                Bound::Never => (Operator::Lt, f64::NEG_INFINITY),
            };
            compare_float(&param.expr, op, at)
        };
        Some(match op {
            Operator::Eq => side(Operator::GtEq)?.and(side(Operator::LtEq)?),
            Operator::NotEq => {
                let apart = side(Operator::Lt)?.or(side(Operator::Gt)?);
                // NaN stays NaN, to which only this is true.
                if int_range(&param.ty).is_some() { apart } else { isnan(param.expr.clone()).or(apart) }
            }
            op => side(op)?,
        })
    }

    /// Arithmetic that keeps or reverses the order of an argument. An argument as it is is
    /// compared as it is, but days as a date.
    fn chain(&self, formula: &Formula) -> Option<(Chain, &Param)> {
        let chain = Chain::of(formula)?;
        let param = self.params.get(chain.param)?;
        (!chain.is_plain() || param.ty == DataType::Date32).then_some((chain, param))
    }

    /// SQL's comparison of a number that the function returns with a constant.
    pub(super) fn compared(&self, formula: &Formula, op: Operator, constant: &ScalarValue) -> Option<Expr> {
        // Law: NULL where the argument is NULL, as the bound is.
        let formula = match formula {
            Formula::If(parts) => match parts.as_ref() {
                [Formula::IsNone(tested), Formula::Const(Object::None), rest] => {
                    let Formula::Param(tested) = **tested else { return None };
                    (Chain::of(rest)?.param == tested).then_some(rest)?
                }
                _ => return None,
            },
            formula => formula,
        };
        let (chain, param) = self.chain(formula)?;
        let constant = match (self.returns, constant) {
            (DataType::Int64, ScalarValue::Int64(Some(constant))) if chain.gives_int() && fits(formula) => {
                Number::Int((*constant).into())
            }
            (DataType::Float64, ScalarValue::Float64(Some(constant))) if !chain.gives_int() && !constant.is_nan() => {
                Number::Float(*constant)
            }
            _ => return None,
        };
        if let Some(range) = int_range(&param.ty) {
            let side = |op| bounded_int(param, range, chain.ints(op, constant, range.0, range.1)?);
            return Some(match op {
                Operator::Eq => side(Operator::GtEq)?.and(side(Operator::LtEq)?),
                Operator::NotEq => side(Operator::Lt)?.or(side(Operator::Gt)?),
                op => side(op)?,
            });
        }
        // Law: the result of NaN is the NaN that SQL sorts behind all other floats
        // (`exuvia_ir::result_float`).
        let x = || param.expr.clone();
        let side = |op| {
            Some(match chain.floats(op, constant)? {
                Bound::AtMost(at) => x().lt_eq(lit(at)),
                Bound::AtLeast(at) => x().gt_eq(lit(at)),
                Bound::Always => x().gt_eq(lit(f64::NEG_INFINITY)),
                Bound::Never => x().lt(lit(f64::NEG_INFINITY)),
            })
        };
        let is_number = || !isnan(x());
        Some(match op {
            Operator::Lt | Operator::LtEq => is_number().and(side(op)?),
            Operator::Gt | Operator::GtEq => isnan(x()).or(side(op)?),
            Operator::Eq => is_number().and(side(Operator::GtEq)?).and(side(Operator::LtEq)?),
            Operator::NotEq => isnan(x()).or(side(Operator::Lt)?).or(side(Operator::Gt)?),
            _ => return None,
        })
    }
}

fn bounded_int(param: &Param, (least, _): (i64, i64), bound: Bound<i64>) -> Option<Expr> {
    let x = param.expr.clone();
    let lit = |at: i64| match param.ty {
        // Law: dates are ordered as their days.
        DataType::Date32 => Expr::Literal(ScalarValue::Date32(i32::try_from(at).ok()), None),
        _ => lit(at),
    };
    Some(match bound {
        // A literal of the first day of all is none that DataFusion can show.
        Bound::Always if param.ty == DataType::Date32 => x.is_not_null(),
        Bound::Never if param.ty == DataType::Date32 => Expr::Literal(ScalarValue::Boolean(Some(false)), None),
        Bound::AtMost(at) => x.lt_eq(lit(at)),
        Bound::AtLeast(at) => x.gt_eq(lit(at)),
        Bound::Always => x.gt_eq(lit(least)),
        Bound::Never => x.lt(lit(least)),
    })
}

/// The ints of a type.
fn int_range(ty: &DataType) -> Option<(i64, i64)> {
    Some(match ty {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 | DataType::Date32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::Int64 => (i64::MIN, i64::MAX),
        _ => return None,
    })
}

/// The float that an int is, where it is one without rounding.
pub(super) fn exact(value: i64) -> Option<f64> {
    (-EXACT..=EXACT).contains(&value).then_some(value as f64)
}

/// `x <op> bound`. Law: NaN, to which only `!=` is true, is looked for. It is looked for with
/// a function of its own since statistics of columns leave NaN out: a comparison that NaN
/// satisfies in DataFusion's order, also one that it makes of this by NOT, would skip rows.
/// (Where statistics tell both zeros apart the bound is that zero which has both on its right
/// side.)
pub(super) fn compare_float(x: &Expr, op: Operator, bound: f64) -> Option<Expr> {
    if bound.is_nan() {
        return None;
    }
    let zero = |sign: f64| lit(if bound == 0.0 { sign } else { bound });
    let (below, above) = (zero(-0.0), zero(0.0));
    let x = || x.clone();
    let is_number = || !isnan(x());
    Some(match op {
        Operator::Lt => is_number().and(x().lt(below)),
        Operator::LtEq => is_number().and(x().lt_eq(above)),
        Operator::Gt => is_number().and(x().gt(above)),
        Operator::GtEq => is_number().and(x().gt_eq(below)),
        Operator::Eq => is_number().and(x().gt_eq(below)).and(x().lt_eq(above)),
        Operator::NotEq => isnan(x()).or(x().lt(below)).or(x().gt(above)),
        _ => return None,
    })
}
