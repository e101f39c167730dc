//! Functions of ints: `gcd`, `lcm`, `isqrt`, `factorial`, `comb`, `perm`.

use crate::cx::{Cx, KernelResult};
use crate::int::{MAX_BITS, big, object};
use crate::op;
use exuvia_ir::ExcKind::{OverflowError, ValueError};
use exuvia_ir::{Object, Raise};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

const BIG: Raise = Raise::Bailout("an integer beyond 64 bits");

fn gcd2(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm2(a: u64, b: u64) -> Option<u64> {
    if a == 0 || b == 0 { Some(0) } else { (a / gcd2(a, b)).checked_mul(b) }
}

/// Larger ints CPython divides faster: it looks at leading digits only (Lehmer's method).
const MOST_GCD_BITS: u64 = 2_000;

fn big_gcd2(a: BigInt, b: BigInt) -> KernelResult<BigInt> {
    let (mut a, mut b) = (a.abs(), b.abs());
    if a.bits().min(b.bits()) > MOST_GCD_BITS {
        return Err(Raise::Bailout("the greatest common divisor of large ints"));
    }
    while !b.is_zero() {
        let rest = &a % &b;
        a = std::mem::replace(&mut b, rest);
    }
    Ok(a)
}

fn big_gcd(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let numbers = args.iter().map(big).collect::<KernelResult<Vec<_>>>()?;
    Ok(object(numbers.into_iter().try_fold(BigInt::zero(), big_gcd2)?))
}

fn big_lcm(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let mut result = BigInt::one();
    for arg in args {
        let number = big(arg)?.abs();
        if number.is_zero() {
            return Ok(Object::int(0));
        }
        result = &result / big_gcd2(result.clone(), number.clone())? * number;
    }
    Ok(object(result))
}

op! {
    /// The greatest common divisor of up to four integers; of none it is 0.
    ///
    /// >>> math.gcd(12, -18)
    /// 6
    gcd = "math.gcd" "math.gcd"
    Pure fn (cx, _a: int = Int(0), _b: int = Int(0), _c: int = Int(0), _d: int = Int(0)) -> int fallible {
        let numbers = [_a, _b, _c, _d].map(i64::unsigned_abs);
        i64::try_from(numbers.into_iter().fold(0, gcd2)).map_err(|_| BIG)
    }
    big big_gcd
}

op! {
    /// The least common multiple of up to four integers; of none it is 1.
    ///
    /// >>> math.lcm(4, 6)
    /// 12
    lcm = "math.lcm" "math.lcm"
    Pure fn (cx, _a: int = Int(1), _b: int = Int(1), _c: int = Int(1), _d: int = Int(1)) -> int fallible {
        let mut result = 1;
        for number in [_a, _b, _c, _d] {
            result = lcm2(result, number.unsigned_abs()).ok_or(BIG)?;
        }
        i64::try_from(result).map_err(|_| BIG)
    }
    big big_lcm
}

const NEGATIVE_ROOT: &str = "isqrt() argument must be nonnegative";

fn big_isqrt(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let number = big(&args[0])?;
    if number.is_negative() {
        return Err(Raise::new(ValueError, NEGATIVE_ROOT));
    }
    Ok(object(number.sqrt()))
}

op! {
    /// The floor of the square root.
    ///
    /// >>> math.isqrt(17)
    /// 4
    isqrt = "math.isqrt" "math.isqrt"
    Pure fn (cx, _n: int) -> int fallible [ValueError] {
        if _n < 0 {
            return Err(cx.raise(ValueError, || NEGATIVE_ROOT.into()));
        }
        Ok(_n.isqrt())
    }
    big big_isqrt
}

const NEGATIVE_FACTORIAL: &str = "factorial() not defined for negative values";

fn big_factorial(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let number = big(&args[0])?;
    if number.to_i64().is_none() && number.is_positive() {
        let message = "factorial() argument should not exceed 9223372036854775807";
        return Err(Raise::new(OverflowError, message));
    }
    if number.is_negative() {
        return Err(Raise::new(ValueError, NEGATIVE_FACTORIAL));
    }
    // Few enough factors to multiply one by one.
    match number.to_u32() {
        Some(number @ 0..10_000) => Ok(object((2..=number).fold(BigInt::one(), |product, factor| product * factor))),
        _ => Err(Raise::Bailout("the factorial of a large number")),
    }
}

op! {
    /// The factorial.
    ///
    /// >>> math.factorial(5)
    /// 120
    factorial = "math.factorial" "math.factorial"
    Pure fn (cx, _n: int) -> int fallible [ValueError, OverflowError] {
        factorial_of(cx, _n)
    }
    big big_factorial
}

/// Checks the operands of `comb` and `perm`.
fn check(cx: &Cx, n_negative: bool, k_negative: bool) -> KernelResult<()> {
    if n_negative {
        return Err(cx.raise(ValueError, || "n must be a non-negative integer".into()));
    }
    if k_negative {
        return Err(cx.raise(ValueError, || "k must be a non-negative integer".into()));
    }
    Ok(())
}

/// Factors that are multiplied one by one.
const MOST_FACTORS: i64 = 1_000;

/// The product `n (n - 1) … (n - k + 1)`, divided as it grows by `k!` if `divide`.
fn falling(n: &BigInt, k: i64, divide: bool) -> KernelResult<BigInt> {
    if n.bits().saturating_mul(k.unsigned_abs()) > MAX_BITS {
        return Err(Raise::Bailout("an integer of more than a million bits"));
    }
    // CPython divides the product into halves.
    if k > MOST_FACTORS {
        return Err(Raise::Bailout("a product of so many factors"));
    }
    let mut result = BigInt::one();
    for step in 0..k {
        result *= n - step;
        if divide {
            result /= step + 1;
        }
    }
    Ok(result)
}

fn big_comb(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (n, k) = (big(&args[0])?, big(&args[1])?);
    check(cx, n.is_negative(), k.is_negative())?;
    if k > n {
        return Ok(Object::int(0));
    }
    let rest = &n - &k;
    let fewer = if rest < k { rest } else { k };
    match fewer.to_i64() {
        Some(fewer) => Ok(object(falling(&n, fewer, true)?)),
        None => {
            let message = "min(n - k, k) must not exceed 9223372036854775807";
            Err(Raise::new(OverflowError, message))
        }
    }
}

op! {
    /// The number of ways to choose `k` of `n`.
    ///
    /// >>> math.comb(5, 2)
    /// 10
    comb = "math.comb" "math.comb"
    Pure fn (cx, _n: int, _k: int) -> int fallible [ValueError, OverflowError] {
        check(cx, _n < 0, _k < 0)?;
        if _k > _n {
            return Ok(0);
        }
        let fewer = _k.min(_n - _k);
        let mut result = 1i128;
        for step in 0..fewer {
            // The product of some successive numbers is divisible by as many.
            result = result * i128::from(_n - step) / i128::from(step + 1);
            if result > i128::from(i64::MAX) {
                return Err(BIG);
            }
        }
        Ok(result as i64)
    }
    big big_comb
}

fn perm_small(cx: &Cx, n: i64, k: i64) -> KernelResult<i64> {
    check(cx, n < 0, k < 0)?;
    if k > n {
        return Ok(0);
    }
    let mut result = 1i64;
    for step in 0..k {
        let Some(next) = result.checked_mul(n - step) else { return Err(BIG) };
        result = next;
    }
    Ok(result)
}

fn big_perm(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (n, k) = (big(&args[0])?, big(&args[1])?);
    check(cx, n.is_negative(), k.is_negative())?;
    if k > n {
        return Ok(Object::int(0));
    }
    match k.to_i64() {
        Some(k) => Ok(object(falling(&n, k, false)?)),
        None => Err(Raise::new(OverflowError, "k must not exceed 9223372036854775807")),
    }
}

op! {
    /// The number of ways to choose `k` of `n` in order.
    ///
    /// >>> math.perm(5, 2)
    /// 20
    perm = "math.perm" "math.perm"
    Pure fn (cx, _n: int, _k: int) -> int fallible [ValueError, OverflowError] { perm_small(cx, _n, _k) }
    big big_perm
}

op! {
    /// Without `k`, the factorial.
    ///
    /// >>> math.perm(5)
    /// 120
    perm_all = "math.perm_all" "math.perm"
    Pure fn (cx, _n: int) -> int fallible [ValueError, OverflowError] { factorial_of(cx, _n) }
    big big_factorial
}

op! {
    /// Without `k`, the factorial.
    ///
    /// >>> math.perm(5, None)
    /// 120
    perm_none = "math.perm_none" "math.perm"
    Pure fn (cx, _n: int, _k: none) -> int fallible [ValueError, OverflowError] { factorial_of(cx, _n) }
    big big_factorial
}

fn factorial_of(cx: &Cx, n: i64) -> KernelResult<i64> {
    if n < 0 {
        return Err(cx.raise(ValueError, || NEGATIVE_FACTORIAL.into()));
    }
    // 21! leaves 64 bits.
    if n > 20 { Err(BIG) } else { Ok((1..=n).product()) }
}
