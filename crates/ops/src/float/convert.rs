//! Floats to ints.

use crate::adapt::take;
use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::ExcKind::{OverflowError, ValueError};
use exuvia_ir::{Object, Raise};
use num_bigint::BigInt;
use num_traits::FromPrimitive;

/// The exception for a float that is no number (Objects/longobject.c, PyLong_FromDouble).
fn check(cx: &Cx, value: f64) -> KernelResult<()> {
    if value.is_nan() {
        return Err(cx.raise(ValueError, || "cannot convert float NaN to integer".into()));
    }
    if value.is_infinite() {
        return Err(cx.raise(OverflowError, || "cannot convert float infinity to integer".into()));
    }
    Ok(())
}

/// The integer of a float without fraction.
#[inline]
pub(crate) fn trunc(cx: &Cx, value: f64) -> KernelResult<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) {
        return Ok(value as i64);
    }
    check(cx, value)?;
    Err(Raise::Bailout("an integer beyond 64 bits"))
}

/// The integer of a float without fraction, of any size.
pub(crate) fn big_of_float(cx: &Cx, value: f64) -> KernelResult<Object> {
    check(cx, value)?;
    BigInt::from_f64(value).map(crate::int::object).ok_or_else(|| Raise::bailout("a float that is not finite"))
}

fn big_trunc(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_of_float(cx, take::float(&args[0])?.trunc())
}

fn big_floor(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_of_float(cx, take::float(&args[0])?.floor())
}

fn big_ceil(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_of_float(cx, take::float(&args[0])?.ceil())
}

op! {
    /// The float without its fraction.
    ///
    /// >>> int(-2.9)
    /// -2
    float_int = "float.int" "int"
    Pure fn (cx, _x: float) -> int fallible [ValueError, OverflowError] { trunc(cx, _x) }
    big big_trunc
}

op! {
    /// The float without its fraction.
    ///
    /// >>> math.trunc(2.9)
    /// 2
    float_trunc = "float.trunc" "math.trunc"
    Pure fn (cx, _x: float) -> int fallible [ValueError, OverflowError] { trunc(cx, _x) }
    big big_trunc
}

op! {
    /// The greatest integer that is not greater.
    ///
    /// >>> math.floor(-2.1)
    /// -3
    float_floor = "float.floor" "math.floor"
    Pure fn (cx, _x: float) -> int fallible [ValueError, OverflowError] { trunc(cx, _x.floor()) }
    big big_floor
}

op! {
    /// The least integer that is not less.
    ///
    /// >>> math.ceil(2.1)
    /// 3
    float_ceil = "float.ceil" "math.ceil"
    Pure fn (cx, _x: float) -> int fallible [ValueError, OverflowError] { trunc(cx, _x.ceil()) }
    big big_ceil
}

op! {
    /// Whether the float is finite and has no fraction.
    ///
    /// >>> (2.0).is_integer()
    /// True
    float_is_integer = "float.is_integer" ".is_integer"
    Pure fn (cx, _x: float) -> bool { _x.is_finite() && _x.trunc() == _x }
}
