//! SQL's comparison of what a function returns with constants, as a formula: each branch of
//! the function is compared for itself. `tier(price) = 'cheap'` for a `tier` that returns
//! constants is the condition under which it returns that one, and `rate(currency) > 1` for a
//! look-up in a constant dict asks whether the currency is among the keys of such values.

use super::rules::{MAX_CONDITIONS, comparison_name, fits};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use exuvia_engine::formula::Formula;
use exuvia_engine::{DictObj, Object, SetObj};
use std::cmp::Ordering;
use std::sync::Arc;

/// What SQL asks of a result.
#[derive(Clone, Debug)]
pub(super) enum Test<'a> {
    /// How it compares with a constant.
    Compares(Operator, &'a ScalarValue),
    /// Whether it is one of some constants.
    IsIn(Vec<&'a ScalarValue>),
}

/// The comparison of what a formula gives as a value of type `returns`: a bool, or None where
/// the result is None. What cannot be said is [`Formula::Unknown`].
pub(super) fn compared(formula: &Formula, test: &Test<'_>, returns: &DataType) -> Formula {
    let compared = |formula: &Formula| compared(formula, test, returns);
    match formula {
        Formula::If(parts) => {
            let [condition, yes, no] = parts.as_ref();
            let (yes, no) = (compared(yes), compared(no));
            if yes == no { yes } else { Formula::If(Box::new([condition.clone(), yes, no])) }
        }
        Formula::Const(Object::None) => Formula::Const(Object::None),
        Formula::Const(value) => {
            test.holds(value, returns).map_or(Formula::Unknown, |holds| Formula::Const(Object::Bool(holds)))
        }
        Formula::Call { op: "dict.value", args, .. } => looked_up(args, test, returns).unwrap_or(Formula::Unknown),
        other => test.of_number_or_text(other, returns).unwrap_or(Formula::Unknown),
    }
}

/// Law: the key is one of the dict's, and its value compares so if it is one of those whose
/// values do.
fn looked_up(args: &[Formula], test: &Test<'_>, returns: &DataType) -> Option<Formula> {
    let [Formula::Const(Object::Dict(dict)), Formula::Call { op: "dict.find", args, .. }] = args else { return None };
    let [Formula::Const(Object::Dict(_)), key] = args.as_slice() else { return None };
    let mut members = DictObj::default();
    for (member, value) in dict.entries() {
        if test.holds(value, returns)? && !members.insert(member.clone(), Object::None) {
            return None;
        }
    }
    if members.is_empty() {
        return Some(Formula::Const(Object::Bool(false)));
    }
    let members = Formula::Const(Object::Set(Arc::new(SetObj::without_order(members, true))));
    let find = Formula::Call { op: "dict.find", args: vec![members, key.clone()], fits: true };
    Some(Formula::Call { op: "int.ge", args: vec![find, Formula::Const(Object::int(0))], fits: true })
}

impl Test<'_> {
    /// What SQL says of a constant result.
    fn holds(&self, value: &Object, returns: &DataType) -> Option<bool> {
        match self {
            Test::Compares(op, constant) => {
                let order = order(value, constant, returns)?;
                Some(match op {
                    Operator::Eq => order.is_eq(),
                    Operator::NotEq => order.is_ne(),
                    Operator::Lt => order.is_lt(),
                    Operator::LtEq => order.is_le(),
                    Operator::Gt => order.is_gt(),
                    Operator::GtEq => order.is_ge(),
                    _ => return None,
                })
            }
            Test::IsIn(constants) => {
                let orders = constants.iter().map(|constant| order(value, constant, returns));
                Some(orders.collect::<Option<Vec<_>>>()?.into_iter().any(Ordering::is_eq))
            }
        }
    }

    /// What it says of a result that is computed.
    fn of_number_or_text(&self, result: &Formula, returns: &DataType) -> Option<Formula> {
        let (op, constant) = match self {
            Test::Compares(op, constant) => (op, constant),
            // A formula is nested as deep as there are constants.
            Test::IsIn(constants) if constants.len() > MAX_CONDITIONS => return None,
            // Law: IN is = with one of them.
            Test::IsIn(constants) => {
                let truth = |value| Formula::Const(Object::Bool(value));
                let equal = |constant| Test::Compares(Operator::Eq, constant).of_number_or_text(result, returns);
                return constants.iter().rev().try_fold(truth(false), |rest, constant| {
                    Some(Formula::If(Box::new([equal(constant)?, truth(true), rest])))
                });
            }
        };
        let call = |class: &str, op: Operator, constant: Object| {
            let op = comparison_name(class, op)?;
            Some(Formula::Call { op, args: vec![result.clone(), Formula::Const(constant)], fits: true })
        };
        match (returns, constant) {
            (DataType::Int64, ScalarValue::Int64(Some(constant))) if fits(result) => {
                call("int", *op, Object::int(*constant))
            }
            (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, constant) => {
                call("str", *op, Object::str(constant.try_as_str()??))
            }
            // Law: SQL orders floats totally, with NaN as the greatest and two zeros.
            (DataType::Float64, ScalarValue::Float64(Some(constant))) if *constant != 0.0 && !constant.is_nan() => {
                let (op, opposite) = match op {
                    Operator::Gt => (Operator::LtEq, true),
                    Operator::GtEq => (Operator::Lt, true),
                    op => (*op, false),
                };
                let compared = call("float", op, Object::Float(*constant))?;
                Some(if opposite {
                    Formula::Call { op: "bool.not", args: vec![compared], fits: true }
                } else {
                    compared
                })
            }
            _ => None,
        }
    }
}

/// SQL's order of a constant result of a type and a constant.
fn order(value: &Object, constant: &ScalarValue, returns: &DataType) -> Option<Ordering> {
    match (returns, value, constant) {
        (DataType::Int64, Object::Int(value), ScalarValue::Int64(Some(constant))) => {
            Some(value.to_i64()?.cmp(constant))
        }
        (DataType::Float64, Object::Float(value), ScalarValue::Float64(Some(constant))) => {
            // Every NaN of a result is the one. Whether the zeros are equal is not asked.
            let value = if value.is_nan() { f64::NAN } else { *value };
            (value != 0.0 || *constant != 0.0).then(|| value.total_cmp(constant))
        }
        (DataType::Boolean, Object::Bool(value), ScalarValue::Boolean(Some(constant))) => Some(value.cmp(constant)),
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, Object::Str(value), constant) => {
            Some(value.as_ref().cmp(constant.try_as_str()??))
        }
        _ => None,
    }
}
