//! `//`, `%` and `**` of floats.

use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::ExcKind::{OverflowError, ZeroDivisionError};
use exuvia_ir::{Object, Raise};

/// The remainder, with the sign of the divisor (Objects/floatobject.c, float_rem).
pub(crate) fn remainder(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        0f64.copysign(b)
    } else if (b < 0.0) != (rest < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// The floor of the quotient, computed from the exact remainder and not from a rounded
/// quotient (Objects/floatobject.c, _float_div_mod).
pub(crate) fn floor_quotient(a: f64, b: f64) -> f64 {
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0f64.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

op! {
    /// The floor of the quotient.
    ///
    /// >>> -7.5 // 2
    /// -4.0
    float_floordiv = "float.floordiv" "a//b"
    Pure fn (cx, _a: number, _b: number) -> float fallible [ZeroDivisionError] {
        if _b == 0.0 {
            return Err(cx.raise(ZeroDivisionError, || "float floor division by zero".into()));
        }
        Ok(floor_quotient(_a, _b))
    }
}

op! {
    /// The remainder, with the sign of the divisor.
    ///
    /// >>> -7.5 % 2
    /// 0.5
    float_mod = "float.mod" "a%b"
    Pure fn (cx, _a: number, _b: number) -> float fallible [ZeroDivisionError] {
        if _b == 0.0 {
            return Err(cx.raise(ZeroDivisionError, || "float modulo".into()));
        }
        Ok(remainder(_a, _b))
    }
}

/// The power as Python's operator has it (Objects/floatobject.c, float_pow): C's `pow`
/// but for its special cases, which are spelled out there.
fn pow(cx: &Cx, a: f64, b: f64) -> KernelResult<f64> {
    if a > 0.0 && a.is_finite() && b.is_finite() {
        return in_range(cx, crate::math::libm::pow(a, b));
    }
    if b == 0.0 {
        return Ok(1.0);
    }
    if a.is_nan() {
        return Ok(a);
    }
    if b.is_nan() {
        return Ok(if a == 1.0 { 1.0 } else { b });
    }
    if b.is_infinite() {
        let a = a.abs();
        return Ok(match a {
            1.0 => 1.0,
            _ if (b > 0.0) == (a > 1.0) => f64::INFINITY,
            _ => 0.0,
        });
    }
    let odd = is_odd(b);
    if a.is_infinite() {
        let magnitude = if b > 0.0 { f64::INFINITY } else { 0.0 };
        return Ok(if odd { magnitude.copysign(a) } else { magnitude });
    }
    if a == 0.0 {
        if b < 0.0 {
            let message = || "0.0 cannot be raised to a negative power".into();
            return Err(cx.raise(ZeroDivisionError, message));
        }
        return Ok(if odd { a } else { 0.0 });
    }
    if a < 0.0 && b != b.floor() {
        return Err(Raise::Bailout("the power is a complex number"));
    }
    let negate = a < 0.0 && odd;
    let magnitude = in_range(cx, crate::math::libm::pow(a.abs(), b))?;
    Ok(if negate { -magnitude } else { magnitude })
}

/// Whether a finite number is an odd integer.
fn is_odd(b: f64) -> bool {
    // From 2^53 on there are even ones only.
    let whole = b as i64;
    b.abs() < 9_007_199_254_740_992.0 && whole as f64 == b && whole & 1 == 1
}

/// A power of a finite base, which is finite.
fn in_range(cx: &Cx, power: f64) -> KernelResult<f64> {
    if power.is_infinite() {
        // The exception is made from C's errno and has two arguments.
        let args = if cx.wants_message() {
            vec![Object::int(34), Object::str("Numerical result out of range")]
        } else {
            Vec::new()
        };
        return Err(Raise::Exception { kind: OverflowError, args });
    }
    Ok(power)
}

op! {
    /// The power.
    ///
    /// >>> 2.0 ** -1
    /// 0.5
    float_pow = "float.pow" "a**b"
    Pure fn (cx, _a: number, _b: number) -> float fallible [ZeroDivisionError, OverflowError] { pow(cx, _a, _b) }
    strip crate::math::strip::pow
}

op! {
    /// The same as `base ** exp`.
    ///
    /// >>> pow(9.0, 0.5)
    /// 3.0
    float_pow_call = "float.pow_call" "pow"
    Pure fn (cx, base: number, exp: number) -> float fallible [ZeroDivisionError, OverflowError] { pow(cx, base, exp) }
    strip crate::math::strip::pow
}
