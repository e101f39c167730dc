//! Short cuts for the core's commonest operations on small operands.
//!
//! They give what the operation's `eval` gives; where they do not apply they say so and
//! the caller asks `eval`. Nothing here raises.

use exuvia_ir::{Int, Object};
use exuvia_ops::core::{Cmp, CoreOp};

fn holds<T: PartialOrd>(cmp: Cmp, a: T, b: T) -> bool {
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::Gt => a > b,
        Cmp::Ge => a >= b,
    }
}

/// The value of `op`, where it is one of the short cuts.
pub(crate) fn eval(op: CoreOp, args: &[Object]) -> Option<Object> {
    match args {
        [Object::Int(Int::Small(a)), Object::Int(Int::Small(b))] => int2(op, *a, *b),
        [Object::Float(a), Object::Float(b)] => float2(op, *a, *b),
        [Object::Bool(a)] if op == CoreOp::BoolNot => Some(Object::Bool(!a)),
        [Object::Str(a), Object::Str(b)] if op == CoreOp::StrEq => Some(Object::Bool(a == b)),
        [Object::List(list)] if op == CoreOp::ListLen => {
            Some(Object::int(list.with(|items| i64::try_from(items.len()).unwrap_or(i64::MAX))))
        }
        [Object::List(list), Object::Int(Int::Small(at))]
            if matches!(op, CoreOp::ListGet | CoreOp::ListGetUnchecked) =>
        {
            let at = usize::try_from(*at).ok()?;
            list.with(|items| items.get(at).cloned())
        }
        _ => None,
    }
}

fn int2(op: CoreOp, a: i64, b: i64) -> Option<Object> {
    let value = match op {
        CoreOp::IntAdd => a.checked_add(b)?,
        CoreOp::IntSub => a.checked_sub(b)?,
        CoreOp::IntMul => a.checked_mul(b)?,
        CoreOp::IntAnd => a & b,
        CoreOp::IntOr => a | b,
        CoreOp::IntXor => a ^ b,
        // `checked_div` and `checked_rem` fail for a zero divisor and for the one
        // quotient that does not fit; then the floor is taken as Python does.
        CoreOp::IntFloorDiv => {
            let quotient = a.checked_div(b)?;
            if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
        }
        CoreOp::IntMod => {
            let remainder = a.checked_rem(b)?;
            if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
        }
        CoreOp::IntCmp(cmp) => return Some(Object::Bool(holds(cmp, a, b))),
        _ => return None,
    };
    Some(Object::int(value))
}

fn float2(op: CoreOp, a: f64, b: f64) -> Option<Object> {
    Some(match op {
        CoreOp::FloatAdd => Object::Float(a + b),
        CoreOp::FloatSub => Object::Float(a - b),
        CoreOp::FloatMul => Object::Float(a * b),
        CoreOp::FloatDiv if b != 0.0 => Object::Float(a / b),
        CoreOp::FloatCmp(cmp) => Object::Bool(holds(cmp, a, b)),
        _ => return None,
    })
}
