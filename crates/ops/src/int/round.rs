//! `round` of an int to tens, hundreds, and so on.

use super::{big, object};
use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::{Object, Raise};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

op! {
    /// The nearest multiple of a power of ten, ties to the even multiple; the number
    /// itself unless `ndigits` is negative.
    ///
    /// >>> round(1250, -2)
    /// 1200
    int_round_digits = "int.round_digits" "round"
    Pure fn (cx, number: int, ndigits: int) -> int fallible {
        if ndigits >= 0 {
            return Ok(number);
        }
        let Some(unit) = u32::try_from(ndigits.unsigned_abs()).ok().and_then(|digits| 10i64.checked_pow(digits)) else {
            return Err(Raise::Bailout("a power of ten beyond 64 bits"));
        };
        let (quotient, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
        let up = rest > unit - rest || (rest == unit - rest && quotient % 2 != 0);
        (quotient + i64::from(up)).checked_mul(unit).ok_or_else(|| Raise::bailout("an integer beyond 64 bits"))
    }
    big big_round
}

fn big_round(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (number, ndigits) = (big(&args[0])?, big(&args[1])?);
    if !ndigits.is_negative() {
        return Ok(object(number));
    }
    let digits = (-ndigits).to_u32().unwrap_or(u32::MAX);
    // A unit of more than twice the number rounds it to zero. (CPython would compute the
    // power of ten; that takes as long as it takes.)
    if u64::from(digits) * 3 > number.bits() + 8 {
        return Ok(Object::int(0));
    }
    let unit = BigInt::from(10).pow(digits);
    let mut quotient = &number / &unit;
    let mut rest = &number % &unit;
    if rest.is_negative() {
        rest += &unit;
        quotient -= 1;
    }
    let twice = &rest * 2;
    if twice > unit || (twice == unit && quotient.bit(0)) {
        quotient += 1;
    }
    Ok(object(if quotient.is_zero() { quotient } else { quotient * unit }))
}
