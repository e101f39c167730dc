//! Powers of ints.

use super::{MAX_BITS, big, object};
use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::ExcKind::{ValueError, ZeroDivisionError};
use exuvia_ir::{Object, Raise};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, ToPrimitive, Zero};

const NEGATIVE: Raise = Raise::Bailout("the power of an int to a negative exponent is a float");

/// Of the float as which CPython computes it.
const ZERO_TO_NEGATIVE: &str = "0.0 cannot be raised to a negative power";

fn pow(cx: &mut Cx, base: i64, exponent: i64) -> KernelResult<i64> {
    if exponent < 0 {
        return Err(if base == 0 { cx.raise(ZeroDivisionError, || ZERO_TO_NEGATIVE.into()) } else { NEGATIVE });
    }
    let small = match base {
        0 => Some(i64::from(exponent == 0)),
        1 => Some(1),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        base => u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent)),
    };
    small.ok_or_else(|| Raise::bailout("an integer beyond 64 bits"))
}

fn big_pow(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (base, exponent) = (big(&args[0])?, big(&args[1])?);
    if exponent.is_negative() {
        return Err(if base.is_zero() { Raise::new(ZeroDivisionError, ZERO_TO_NEGATIVE) } else { NEGATIVE });
    }
    if exponent.is_zero() || base.is_one() {
        return Ok(Object::int(1));
    }
    if base.is_zero() {
        return Ok(Object::int(0));
    }
    if base.magnitude().is_one() {
        return Ok(Object::int(if exponent.bit(0) { -1 } else { 1 }));
    }
    match exponent.to_u32() {
        Some(exponent) if base.bits() * u64::from(exponent) <= MAX_BITS => Ok(object(base.pow(exponent))),
        _ => Err(Raise::Bailout("an integer of more than a million bits")),
    }
}

op! {
    /// The power of an int to an exponent that is not negative. To a negative one it is a
    /// float, which this operation leaves to others, or an error of which others may not
    /// hear where the power is not used.
    ///
    /// >>> 3 ** 4
    /// 81
    int_pow = "int.pow" "a**b"
    Pure fn (cx, _a: int, _b: int) -> int fallible [ZeroDivisionError] { pow(cx, _a, _b) }
    big big_pow
}

op! {
    /// The same as `base ** exp`.
    ///
    /// >>> pow(3, 4)
    /// 81
    int_pow_call = "int.pow_call" "pow"
    Pure fn (cx, base: int, exp: int) -> int fallible [ZeroDivisionError] { pow(cx, base, exp) }
    big big_pow
}

/// Products of words of one modular power, some 50 ms: nothing ends it early.
const MOST_PRODUCTS: u64 = 1 << 25;

const ZERO_MODULUS: &str = "pow() 3rd argument cannot be 0";
const NOT_INVERTIBLE: &str = "base is not invertible for the given modulus";

fn big_pow_mod(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (mut base, mut exponent, modulus) = (big(&args[0])?, big(&args[1])?, big(&args[2])?);
    if modulus.is_zero() {
        return Err(Raise::new(ValueError, ZERO_MODULUS));
    }
    let words = modulus.bits() / 64 + 1;
    if modulus.bits() > 1 << 14 || exponent.bits().saturating_mul(words * words) > MOST_PRODUCTS {
        return Err(Raise::Bailout("a modular power of very large integers"));
    }
    if exponent.is_negative() {
        base = base.modinv(&modulus).ok_or_else(|| Raise::new(ValueError, NOT_INVERTIBLE))?;
        exponent = -exponent;
    }
    // Products of two words have two words.
    if let Some(word) = modulus.magnitude().to_u64() {
        let word = u128::from(word);
        let mut square = (base % word + word).to_u128().unwrap_or(0) % word;
        let mut result = 1 % word;
        for bit in 0..exponent.bits() {
            if exponent.bit(bit) {
                result = result * square % word;
            }
            square = square * square % word;
        }
        let rest = BigInt::from(result);
        return Ok(object(if modulus.is_negative() && result != 0 { rest + modulus } else { rest }));
    }
    // The result has the sign of the modulus, as a remainder has.
    Ok(object(if exponent.bits() <= FEW_BITS {
        let magnitude = modulus.magnitude();
        let positive = BigInt::from(magnitude.clone());
        let base = ((base % &positive + &positive) % &positive).magnitude().clone();
        let rest = BigInt::from(small_power(&base, &exponent, magnitude));
        if modulus.is_negative() && !rest.is_zero() { rest + modulus } else { rest }
    } else if modulus.magnitude().is_one() {
        BigInt::zero()
    } else {
        base.modpow(&exponent, &modulus)
    }))
}

/// Bits of an exponent up to which squaring for each of them is faster than the library's way, which
/// squares for all bits of a word.
const FEW_BITS: u64 = 48;

fn small_power(base: &BigUint, exponent: &BigInt, modulus: &BigUint) -> BigUint {
    let mut power = BigUint::one() % modulus;
    for bit in (0..exponent.bits()).rev() {
        power = &power * &power % modulus;
        if exponent.bit(bit) {
            power = power * base % modulus;
        }
    }
    power
}

op! {
    /// `base ** exp % mod`, without computing the power; a negative exponent means that
    /// of the inverse.
    ///
    /// >>> pow(3, 200, 13)
    /// 9
    int_pow_mod = "int.pow_mod" "pow"
    Pure fn (cx, base: int, exp: int, _mod: int) -> int fallible [ValueError] {
        if _mod == 0 {
            return Err(cx.raise(ValueError, || ZERO_MODULUS.into()));
        }
        if exp < 0 {
            return Err(Raise::Bailout("a modular inverse"));
        }
        let modulus = i128::from(_mod);
        let (mut square, mut result) = (i128::from(base).rem_euclid(modulus), 1);
        let mut left = exp;
        while left > 0 {
            if left & 1 == 1 {
                result = result * square % modulus;
            }
            square = square * square % modulus;
            left >>= 1;
        }
        let rest = result.rem_euclid(modulus);
        Ok(if modulus < 0 && rest != 0 { rest + modulus } else { rest } as i64)
    }
    big big_pow_mod
}
