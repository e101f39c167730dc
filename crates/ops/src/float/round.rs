//! `round` of a float.

use super::digits::{scaled, unscaled};
use super::{big_of_float, trunc};
use crate::adapt::take;
use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::ExcKind::OverflowError;
use exuvia_ir::Object;
use num_bigint::BigInt;
use num_traits::FromPrimitive;

fn big_round(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_of_float(cx, take::float(&args[0])?.round_ties_even())
}

op! {
    /// The nearest integer, ties to even.
    ///
    /// >>> round(2.5)
    /// 2
    float_round = "float.round" "round"
    Pure fn (cx, number: float) -> int fallible [ValueError, OverflowError] {
        trunc(cx, number.round_ties_even())
    }
    big big_round
}

op! {
    /// The nearest integer, ties to even.
    ///
    /// >>> round(3.5, None)
    /// 4
    float_round_none = "float.round_none" "round"
    Pure fn (cx, number: float, ndigits: none) -> int fallible [ValueError, OverflowError] {
        trunc(cx, number.round_ties_even())
    }
    big big_round
}

op! {
    /// The float nearest to the number rounded to so many decimal places, which may be
    /// negative. The exact value of the float is rounded, ties to even.
    ///
    /// >>> round(2.675, 2)
    /// 2.67
    float_round_digits = "float.round_digits" "round"
    Pure fn (cx, number: float, ndigits: index) -> float fallible [OverflowError] {
        if ndigits >= 0 && let Some(scaled) = scaled(number.abs(), ndigits as usize) {
            return Ok(unscaled(scaled, ndigits as usize).copysign(number));
        }
        round_digits(cx, number, ndigits)
    }
}

/// The places after which every float, or none, has digits (Objects/floatobject.c,
/// float___round___impl).
const MAX_PLACES: i64 = 323;
const MIN_PLACES: i64 = -308;

fn round_digits(cx: &Cx, number: f64, ndigits: i64) -> KernelResult<f64> {
    if !number.is_finite() || number == 0.0 || ndigits > MAX_PLACES {
        return Ok(number);
    }
    if ndigits < MIN_PLACES {
        return Ok(0f64.copysign(number));
    }
    let magnitude = number.abs();
    let rounded = if ndigits >= 0 {
        // The exact decimal expansion is rounded, ties to even, and read back.
        format!("{magnitude:.*}", ndigits as usize).parse().unwrap_or(number)
    } else {
        tens(magnitude, ndigits.unsigned_abs() as u32)
    };
    if rounded == f64::INFINITY {
        return Err(cx.raise(OverflowError, || "rounded value too large to represent".into()));
    }
    Ok(rounded.copysign(number))
}

/// The nearest multiple of a power of ten, ties to even, of a number that is not
/// negative.
fn tens(magnitude: f64, places: u32) -> f64 {
    let whole = BigInt::from_f64(magnitude.trunc()).unwrap_or_default();
    let fraction = magnitude.fract() != 0.0;
    let unit = BigInt::from(10).pow(places);
    let (mut quotient, rest) = (&whole / &unit, &whole % &unit);
    let twice = rest * 2;
    if twice > unit || (twice == unit && (fraction || quotient.bit(0))) {
        quotient += 1;
    }
    crate::core::nearest_float(&(quotient * unit)).unwrap_or(f64::INFINITY)
}
