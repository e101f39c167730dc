//! The `math` module but for what takes iterables.
//!
//! CPython calls the C library and turns what comes back into exceptions
//! (Modules/mathmodule.c); so do these, with the same library's functions, so that every
//! bit agrees on the same machine. `ceil`, `floor` and `trunc` stand with the conversions
//! of floats, `sqrt` in the core.

mod elementary;
mod gamma;
mod integer;
mod lanes;
pub(crate) mod libm;
mod log;
mod special;
pub mod strip;

use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use exuvia_ir::ExcKind::{OverflowError, ValueError};
use exuvia_ir::Raise;

/// Every operation of the module outside the core.
pub static OPS: &[&OpDef] = &[
    &elementary::sin::DEF,
    &elementary::cos::DEF,
    &elementary::tan::DEF,
    &elementary::asin::DEF,
    &elementary::acos::DEF,
    &elementary::atan::DEF,
    &elementary::sinh::DEF,
    &elementary::cosh::DEF,
    &elementary::tanh::DEF,
    &elementary::asinh::DEF,
    &elementary::acosh::DEF,
    &elementary::atanh::DEF,
    &elementary::exp::DEF,
    &elementary::exp2::DEF,
    &elementary::expm1::DEF,
    &elementary::cbrt::DEF,
    &elementary::erf::DEF,
    &elementary::erfc::DEF,
    &elementary::atan2::DEF,
    &elementary::remainder::DEF,
    &elementary::copysign::DEF,
    &elementary::fabs::DEF,
    &elementary::degrees::DEF,
    &elementary::radians::DEF,
    &elementary::isnan::DEF,
    &elementary::isinf::DEF,
    &elementary::isfinite::DEF,
    &special::pow::DEF,
    &special::fmod::DEF,
    &special::hypot::DEF,
    &special::norm_of::DEF,
    &special::float_exponent::DEF,
    &special::ldexp::DEF,
    &special::isclose::DEF,
    &special::nextafter::DEF,
    &special::ulp::DEF,
    &gamma::gamma::DEF,
    &gamma::lgamma::DEF,
    &log::log_int::DEF,
    &log::log::DEF,
    &log::log_base_int::DEF,
    &log::log_base::DEF,
    &log::log2_int::DEF,
    &log::log2::DEF,
    &log::log10_int::DEF,
    &log::log10::DEF,
    &log::log1p::DEF,
    &integer::gcd::DEF,
    &integer::lcm::DEF,
    &integer::isqrt::DEF,
    &integer::factorial::DEF,
    &integer::comb::DEF,
    &integer::perm::DEF,
    &integer::perm_all::DEF,
    &integer::perm_none::DEF,
];

/// The exception for an argument outside the function's domain.
fn domain_error(cx: &Cx) -> Raise {
    cx.raise(ValueError, || "math domain error".into())
}

/// The exception for a result outside the floats.
fn range_error(cx: &Cx) -> Raise {
    cx.raise(OverflowError, || "math range error".into())
}

/// What CPython makes of a result of a C function of one argument (math_1). `overflows`
/// says whether an infinite result of a finite argument means overflow or a pole.
#[inline]
fn checked(cx: &Cx, x: f64, result: f64, overflows: bool) -> KernelResult<f64> {
    if result.is_nan() && !x.is_nan() {
        return Err(domain_error(cx));
    }
    if result.is_infinite() && x.is_finite() {
        return Err(if overflows { range_error(cx) } else { domain_error(cx) });
    }
    Ok(result)
}
