//! Arithmetic of `Decimal` that takes more digits than native ints have.

use crate::def::OpDef;
use crate::op;
use exuvia_ir::Raise;
use num_bigint::BigUint;
use std::sync::OnceLock;

/// Every operation of decimals.
pub static OPS: &[&OpDef] = &[&decimal_power::DEF];

/// The digits of the default context.
const DIGITS: usize = 28;

/// The digits that a coefficient may have.
const MOST_DIGITS: usize = 60;

/// The powers of ten up to the square of what a power is computed with, from the first on.
fn tens() -> &'static [BigUint] {
    static TENS: OnceLock<Vec<BigUint>> = OnceLock::new();
    TENS.get_or_init(|| std::iter::successors(Some(BigUint::from(1u32)), |ten| Some(ten * 10u32)).take(160).collect())
}

op! {
    /// A power of a Decimal that is not zero, of its coefficient and exponent, to a whole number that is not zero, as
    /// libmpdec computes it (`_mpd_qpow_int`): by squaring, each product rounded to some digits more than
    /// the context's 28, of the number's reciprocal where the exponent is negative. The text has the
    /// coefficient in two parts, of which the second has 14 digits, and the exponent.
    decimal_power = "decimal.power" ""
    Pure fn (cx, _digits: str, _exponent: int, _n: int) -> str fallible bails Operands {
        let digits = _digits.as_str();
        let far = Raise::Bailout("a power of a Decimal that has so many digits");
        let (Ok(base), Ok(n), true) = (digits.parse::<BigUint>(), i32::try_from(_n), digits.len() <= MOST_DIGITS) else {
            return Err(far);
        };
        let made = power(&base, _exponent, n).map(|(digits, exponent)| {
            format!("{} {:014} {exponent}", &digits / &tens()[14], &digits % &tens()[14])
        });
        cx.store(&made.ok_or(far)?)
    }
}

fn power(base: &BigUint, exponent: i64, n: i32) -> Option<(BigUint, i64)> {
    let places = exponent.checked_neg().and_then(|places| usize::try_from(places).ok());
    if *base == BigUint::ZERO || n == 0 {
        return None;
    }
    if places.and_then(|places| tens().get(places)) == Some(base) {
        // One, of as many zeros as a product would have.
        let places = exponent.checked_neg()?.checked_mul(i64::from(n))?.clamp(0, DIGITS as i64 - 1);
        return Some((tens()[places as usize].clone(), -places));
    }
    let most = DIGITS + n.unsigned_abs().to_string().len() + 2;
    let (base, exponent, most) = match n {
        0.. => (base.clone(), exponent, most),
        _ => {
            let (base, exponent) = reciprocal(base, exponent, most + 1)?;
            (base, exponent, most + 1)
        }
    };
    let n = n.unsigned_abs();
    let mut found = (base.clone(), exponent);
    for bit in (0..n.checked_ilog2()?).rev() {
        found = rounded(&found.0 * &found.0, found.1.checked_mul(2)?, most)?;
        if n >> bit & 1 == 1 {
            found = rounded(found.0 * &base, found.1.checked_add(exponent)?, most)?;
        }
    }
    rounded(found.0, found.1, DIGITS)
}

/// One divided by a number (`mpd_qdiv`).
fn reciprocal(base: &BigUint, exponent: i64, most: usize) -> Option<(BigUint, i64)> {
    let ideal = exponent.checked_neg()?;
    let shift = count(base)? + most;
    let above = tens().get(shift)?;
    let (mut digits, rest) = (above / base, above % base);
    let mut exponent = ideal.checked_sub(shift as i64)?;
    if rest != BigUint::ZERO {
        // The last digit says that there is more, so that a half is none.
        if &digits % 5u32 == BigUint::ZERO {
            digits += 1u32;
        }
    } else {
        while exponent < ideal && &digits % 10u32 == BigUint::ZERO {
            digits /= 10u32;
            exponent += 1;
        }
    }
    rounded(digits, exponent, most)
}

/// How many digits a number has.
fn count(digits: &BigUint) -> Option<usize> {
    // Of the two that a number of so many bits may have.
    let low = ((digits.bits().saturating_sub(1) * 1_233) >> 12) as usize;
    let count = low + (low..).take(3).take_while(|count| tens().get(*count).is_some_and(|ten| *ten <= *digits)).count();
    (count < tens().len()).then_some(count)
}

/// A coefficient and exponent of no more than so many digits, a half to the even one.
fn rounded(digits: BigUint, exponent: i64, most: usize) -> Option<(BigUint, i64)> {
    let Some(over) = count(&digits)?.checked_sub(most).filter(|over| *over > 0) else {
        return Some((digits, exponent));
    };
    let unit = tens().get(over)?;
    let (mut whole, twice) = (&digits / unit, &digits % unit * 2u32);
    if twice > *unit || twice == *unit && whole.bit(0) {
        whole += 1u32;
    }
    match whole == tens()[most] {
        true => Some((tens()[most - 1].clone(), exponent.checked_add(over as i64 + 1)?)),
        false => Some((whole, exponent.checked_add(over as i64)?)),
    }
}
