//! Logarithms. Those of ints take integers of any size, which no float could hold.

use super::{checked as result_checked, domain_error, libm, strip};
use crate::cx::{Cx, KernelResult};
use crate::int::big;
use crate::op;
use exuvia_ir::ExcKind::{ValueError, ZeroDivisionError};
use exuvia_ir::{Object, Raise};
use num_bigint::BigInt;
use num_traits::Signed;

type Log = fn(f64) -> f64;

/// A logarithm of a float (Modules/mathmodule.c, m_log).
#[inline]
fn checked(cx: &Cx, x: f64, log: Log) -> KernelResult<f64> {
    if x.is_nan() {
        return Ok(x);
    }
    if x <= 0.0 {
        return Err(domain_error(cx));
    }
    Ok(if x.is_infinite() { x } else { log(x) })
}

/// A logarithm of an integer of any size (loghelper): by its leading bits where a float
/// cannot hold it.
fn of_big(value: &BigInt, log: Log) -> KernelResult<f64> {
    if !value.is_positive() {
        return Err(Raise::new(ValueError, "math domain error"));
    }
    if let Some(float) = crate::core::nearest_float(value) {
        return Ok(log(float));
    }
    let (mantissa, exponent) = mantissa(value);
    Ok(log(mantissa) + log(2.0) * exponent as f64)
}

/// A float of at least a half and below one, or one, and the exponent of the power of two
/// by which it must be multiplied: correctly rounded (Objects/longobject.c,
/// _PyLong_Frexp).
fn mantissa(value: &BigInt) -> (f64, u64) {
    let bits = value.bits();
    let shift = bits - 64;
    let top = value >> shift;
    let exact = &top << shift == *value;
    let mut top = u64::try_from(&top).unwrap_or(u64::MAX);
    if !exact {
        top |= 1;
    }
    let mantissa = top as f64 / 18_446_744_073_709_551_616.0;
    if mantissa == 1.0 { (0.5, bits + 1) } else { (mantissa, bits) }
}

fn log_of(cx: &Cx, object: &Object, log: Log) -> KernelResult<f64> {
    match object {
        Object::Float(value) => checked(cx, *value, log),
        other => of_big(&big(other)?, log),
    }
}

fn big_log(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    Ok(Object::Float(log_of(cx, &args[0], libm::log)?))
}

fn big_log2(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    Ok(Object::Float(log_of(cx, &args[0], libm::log2)?))
}

fn big_log10(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    Ok(Object::Float(log_of(cx, &args[0], libm::log10)?))
}

fn big_log_base(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (x, base) = (log_of(cx, &args[0], libm::log)?, log_of(cx, &args[1], libm::log)?);
    divide(cx, x, base).map(Object::Float)
}

fn divide(cx: &Cx, a: f64, b: f64) -> KernelResult<f64> {
    if b == 0.0 {
        return Err(cx.raise(ZeroDivisionError, || "float division by zero".into()));
    }
    Ok(a / b)
}

op! {
    /// The natural logarithm.
    ///
    /// >>> math.log(10)
    /// 2.302585092994046
    log_int = "math.log_int" "math.log"
    Pure fn (cx, _x: int) -> float fallible [ValueError] { checked(cx, _x as f64, libm::log) }
    big big_log
}

op! {
    /// The natural logarithm.
    ///
    /// >>> math.log(0.5)
    /// -0.6931471805599453
    log = "math.log" "math.log"
    Pure fn (cx, _x: number) -> float fallible [ValueError] { checked(cx, _x, libm::log) }
    strip strip::log
}

op! {
    /// The logarithm to a base.
    ///
    /// >>> math.log(8, 2)
    /// 3.0
    log_base_int = "math.log_base_int" "math.log"
    Pure fn (cx, _x: int, _base: int) -> float fallible [ValueError, ZeroDivisionError] {
        divide(cx, checked(cx, _x as f64, libm::log)?, checked(cx, _base as f64, libm::log)?)
    }
    big big_log_base
}

op! {
    /// The logarithm to a base.
    ///
    /// >>> math.log(2.0, 10)
    /// 0.30102999566398114
    log_base = "math.log_base" "math.log"
    Pure fn (cx, _x: number, _base: number) -> float fallible [ValueError, ZeroDivisionError] {
        divide(cx, checked(cx, _x, libm::log)?, checked(cx, _base, libm::log)?)
    }
}

op! {
    /// The logarithm to base two.
    ///
    /// >>> math.log2(1024)
    /// 10.0
    log2_int = "math.log2_int" "math.log2"
    Pure fn (cx, _x: int) -> float fallible [ValueError] { checked(cx, _x as f64, libm::log2) }
    big big_log2
}

op! {
    /// The logarithm to base two.
    ///
    /// >>> math.log2(0.1)
    /// -3.321928094887362
    log2 = "math.log2" "math.log2"
    Pure fn (cx, _x: number) -> float fallible [ValueError] { checked(cx, _x, libm::log2) }
    strip strip::log2
}

op! {
    /// The logarithm to base ten.
    ///
    /// >>> math.log10(1000)
    /// 3.0
    log10_int = "math.log10_int" "math.log10"
    Pure fn (cx, _x: int) -> float fallible [ValueError] { checked(cx, _x as f64, libm::log10) }
    big big_log10
}

op! {
    /// The logarithm to base ten.
    ///
    /// >>> math.log10(0.5)
    /// -0.3010299956639812
    log10 = "math.log10" "math.log10"
    Pure fn (cx, _x: number) -> float fallible [ValueError] { checked(cx, _x, libm::log10) }
    strip strip::log10
}

op! {
    /// The natural logarithm of one plus a number.
    ///
    /// >>> math.log1p(1e-10)
    /// 9.999999999500001e-11
    log1p = "math.log1p" "math.log1p"
    Pure fn (cx, _x: number) -> float fallible [ValueError] {
        // CPython keeps the sign of zero (Modules/_math.h, m_log1p).
        if _x == 0.0 {
            return Ok(_x);
        }
        result_checked(cx, _x, libm::log1p(_x), false)
    }
    strip strip::log1p
}
