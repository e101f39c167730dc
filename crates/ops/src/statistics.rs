//! What `statistics` (Lib/statistics.py) computes of floats: exactly, and rounded once at the end.

use crate::cx::KernelResult;
use crate::def::OpDef;
use crate::op;
use exuvia_ir::ExcKind::StatisticsError;
use exuvia_ir::Raise;
use num_bigint::{BigInt, Sign};

/// The operations of this family.
pub static OPS: &[&OpDef] =
    &[&statistics_fail::DEF, &statistics_sum::DEF, &statistics_mean::DEF, &statistics_spread::DEF];

const LEAVES: Raise = Raise::Bailout("numbers whose statistics CPython must compute");

/// A finite float as an integer times a power of two.
fn parts(value: f64) -> Option<(i64, i32)> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (magnitude, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    Some((if value.is_sign_negative() { -magnitude } else { magnitude }, exponent))
}

/// The sum of some floats and that of their squares, in units of a power of two and of its square.
struct Sums {
    sum: BigInt,
    squares: BigInt,
    exponent: i32,
}

impl Sums {
    fn of(values: &[f64], squares: bool) -> KernelResult<Sums> {
        let parts = values.iter().map(|value| parts(*value).ok_or(LEAVES)).collect::<Result<Vec<_>, _>>()?;
        let nonzero = parts.iter().filter(|(magnitude, _)| *magnitude != 0);
        let exponent = nonzero.map(|(_, exponent)| *exponent).min().unwrap_or(0);
        let mut sums = Sums { sum: BigInt::ZERO, squares: BigInt::ZERO, exponent };
        for (magnitude, its) in parts.into_iter().filter(|(magnitude, _)| *magnitude != 0) {
            let value = BigInt::from(magnitude) << (its - exponent).unsigned_abs();
            if squares {
                sums.squares += &value * &value;
            }
            sums.sum += value;
        }
        Ok(sums)
    }
}

/// A quotient times a power of two, as the nearest float.
fn quotient(numerator: &BigInt, denominator: &BigInt, exponent: i32) -> KernelResult<f64> {
    // Three bits more than a float has, the last of which says that there is a rest.
    const BITS: i64 = 66;
    let bits = |value: &BigInt| i64::try_from(value.bits()).unwrap_or(i64::MAX);
    if numerator.sign() == Sign::NoSign {
        return Ok(0.0);
    }
    let shift = BITS - (bits(numerator) - bits(denominator));
    let up = |value: &BigInt, by: i64| if by > 0 { value << by.unsigned_abs() } else { value.clone() };
    let (numerator, denominator) = (up(numerator, shift), up(denominator, -shift));
    let negative = numerator.sign() == Sign::Minus;
    let whole = numerator.magnitude() / denominator.magnitude();
    let rest = &whole * denominator.magnitude() != *numerator.magnitude();
    let whole = u128::try_from(whole).map_err(|_| LEAVES)? | u128::from(rest);
    let power = i64::from(exponent) - shift;
    // Neither too large nor one of those that have fewer bits.
    if !(-1000..900).contains(&(power + BITS)) {
        return Err(LEAVES);
    }
    let half = |power: i64| f64::powi(2.0, (power / 2) as i32) * f64::powi(2.0, (power - power / 2) as i32);
    let value = whole as f64 * half(power);
    Ok(if negative { -value } else { value })
}

/// The square root of a quotient of integers that are not negative (`_float_sqrt_of_frac`).
fn root(numerator: &BigInt, denominator: &BigInt) -> KernelResult<f64> {
    if numerator.sign() == Sign::NoSign {
        return Ok(0.0);
    }
    // Rounded to an odd number where it is not exact, so that the last rounding is the only one.
    let odd = |n: BigInt, m: BigInt| {
        let a = (&n / &m).sqrt();
        let exact = &a * &a * &m == n;
        if exact || a.bit(0) { a } else { a + 1 }
    };
    let bits = |value: &BigInt| i64::try_from(value.bits()).unwrap_or(i64::MAX);
    let q = (bits(numerator) - bits(denominator) - 109).div_euclid(2);
    let by = q.unsigned_abs();
    if q >= 0 {
        quotient(&(odd(numerator.clone(), denominator << (2 * by)) << by), &BigInt::from(1), 0)
    } else {
        quotient(&odd(numerator << (2 * by), denominator.clone()), &(BigInt::from(1) << by), 0)
    }
}

op! {
    /// Raises a `StatisticsError` of that text.
    statistics_fail = "statistics.fail" ""
    Pure fn (cx, _message: str) -> bool fallible [StatisticsError] {
        Err(cx.raise(StatisticsError, || _message.as_str().to_string()))
    }
}

op! {
    /// The exact sum of floats, rounded once.
    statistics_sum = "statistics.sum" ""
    Read fn (cx, _seq: floats) -> float fallible bails Operands {
        // CPython adds one after the other, and raises where a sum on the way overflows.
        if _seq.iter().map(|value| value.abs()).sum::<f64>() >= f64::MAX / 2.0 {
            return Err(LEAVES);
        }
        let sums = Sums::of(_seq, false)?;
        quotient(&sums.sum, &BigInt::from(1), sums.exponent)
    }
}

op! {
    /// The mean of floats, of which there is one at least.
    statistics_mean = "statistics.mean" ""
    Read fn (cx, _values: floats) -> float fallible bails Operands {
        let sums = Sums::of(_values, false)?;
        quotient(&sums.sum, &BigInt::from(_values.len()), sums.exponent)
    }
}

op! {
    /// The variance of floats, of which there are enough; the divisor is so much less than their
    /// number; its square root if so wished.
    statistics_spread = "statistics.spread" ""
    Read fn (cx, _values: floats, _less: int, _root: bool) -> float fallible bails Operands {
        let sums = Sums::of(_values, true)?;
        let count = BigInt::from(_values.len());
        let numerator = &count * &sums.squares - &sums.sum * &sums.sum;
        let denominator = &count * (&count - BigInt::from(_less));
        if denominator.sign() != Sign::Plus {
            return Err(LEAVES);
        }
        if !_root {
            return quotient(&numerator, &denominator, 2 * sums.exponent);
        }
        let by = 2 * u64::from(sums.exponent.unsigned_abs());
        if sums.exponent >= 0 {
            root(&(numerator << by), &denominator)
        } else {
            root(&numerator, &(denominator << by))
        }
    }
}
