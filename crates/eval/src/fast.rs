//! Short cuts for the core's commonest operations on small operands.
//!
//! They give what the operation's `eval` gives; where they do not apply they say so and
//! the caller asks `eval`. Nothing here raises.

use exuvia_ir::{Int, Object};
use exuvia_ops::core::CoreOp;

/// The value of `op` of one operand, where it is one of the short cuts.
#[inline]
pub(crate) fn one(op: CoreOp, a: &Object) -> Option<Object> {
    match (op, a) {
        (CoreOp::BoolNot, Object::Bool(a)) => Some(Object::Bool(!a)),
        (CoreOp::IntTruth, Object::Int(a)) => Some(Object::Bool(!a.is_zero())),
        (CoreOp::IntNeg, Object::Int(Int::Small(a))) => a.checked_neg().map(Object::int),
        (CoreOp::IntToFloat, Object::Int(Int::Small(a))) => Some(Object::Float(*a as f64)),
        (CoreOp::BoolToInt, Object::Bool(a)) => Some(Object::int(i64::from(*a))),
        (CoreOp::StrByteLen, Object::Str(a)) => i64::try_from(a.len()).ok().map(Object::int),
        (CoreOp::StrTruth, Object::Str(a)) => Some(Object::Bool(!a.is_empty())),
        (CoreOp::ListLen, Object::List(list)) => {
            Some(Object::int(list.read(|items| i64::try_from(items.len()).unwrap_or(i64::MAX))))
        }
        _ => None,
    }
}

/// The value of `op` of two operands, where it is one of the short cuts.
#[inline]
pub(crate) fn two(op: CoreOp, a: &Object, b: &Object) -> Option<Object> {
    match (a, b) {
        (Object::Int(Int::Small(a)), Object::Int(Int::Small(b))) => {
            int2(op, *a, *b).or_else(|| wide(op, i128::from(*a), i128::from(*b)))
        }
        (Object::Int(a), Object::Int(b)) => wide(op, a.to_i128()?, b.to_i128()?),
        (Object::Float(a), Object::Float(b)) => float2(op, *a, *b),
        (Object::Str(a), Object::Str(b)) => match op {
            CoreOp::StrEq => Some(Object::Bool(a == b)),
            CoreOp::StrNe => Some(Object::Bool(a != b)),
            _ => None,
        },
        (Object::List(list), Object::Int(Int::Small(at)))
            if matches!(op, CoreOp::ListGet | CoreOp::ListGetUnchecked) =>
        {
            let at = usize::try_from(*at).ok()?;
            list.read(|items| items.get(at).cloned())
        }
        _ => None,
    }
}

/// Operations on two integers of a machine's type.
macro_rules! integers {
    ($(#[$doc:meta] $name:ident($int:ty) -> $make:expr;)*) => {$(
        #[$doc]
        fn $name(op: CoreOp, a: $int, b: $int) -> Option<Object> {
            let value = match op {
                CoreOp::IntAdd => a.checked_add(b)?,
                CoreOp::IntSub => a.checked_sub(b)?,
                CoreOp::IntMul => a.checked_mul(b)?,
                CoreOp::IntAnd => a & b,
                CoreOp::IntOr => a | b,
                CoreOp::IntXor => a ^ b,
                CoreOp::IntShr if (0..64).contains(&b) => a >> b,
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
                CoreOp::IntCmp(cmp) => return Some(Object::Bool(cmp.holds(&a, &b))),
                _ => return None,
            };
            Some(Object::Int($make(value)))
        }
    )*};
}

integers! {
    /// Small integers.
    int2(i64) -> Int::Small;
    /// Integers of at most 127 bits and a sign, without memory for their digits on the way.
    wide(i128) -> Int::from_i128;
}

fn float2(op: CoreOp, a: f64, b: f64) -> Option<Object> {
    Some(match op {
        CoreOp::FloatAdd => Object::Float(a + b),
        CoreOp::FloatSub => Object::Float(a - b),
        CoreOp::FloatMul => Object::Float(a * b),
        CoreOp::FloatDiv if b != 0.0 => Object::Float(a / b),
        CoreOp::FloatCmp(cmp) => Object::Bool(cmp.holds(&a, &b)),
        _ => return None,
    })
}
