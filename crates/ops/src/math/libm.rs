//! The C library's functions: what CPython calls.
//!
//! Rust's own methods may be folded by the compiler or come from elsewhere on another
//! platform; declared here, they are the ones that a Python on this machine links to.

mod c {
    unsafe extern "C" {
        pub(super) safe fn sin(x: f64) -> f64;
        pub(super) safe fn cos(x: f64) -> f64;
        pub(super) safe fn tan(x: f64) -> f64;
        pub(super) safe fn asin(x: f64) -> f64;
        pub(super) safe fn acos(x: f64) -> f64;
        pub(super) safe fn atan(x: f64) -> f64;
        pub(super) safe fn sinh(x: f64) -> f64;
        pub(super) safe fn cosh(x: f64) -> f64;
        pub(super) safe fn tanh(x: f64) -> f64;
        pub(super) safe fn asinh(x: f64) -> f64;
        pub(super) safe fn acosh(x: f64) -> f64;
        pub(super) safe fn atanh(x: f64) -> f64;
        pub(super) safe fn exp(x: f64) -> f64;
        pub(super) safe fn exp2(x: f64) -> f64;
        pub(super) safe fn expm1(x: f64) -> f64;
        pub(super) safe fn cbrt(x: f64) -> f64;
        pub(super) safe fn erf(x: f64) -> f64;
        pub(super) safe fn erfc(x: f64) -> f64;
        pub(super) safe fn log(x: f64) -> f64;
        pub(super) safe fn log2(x: f64) -> f64;
        pub(super) safe fn log10(x: f64) -> f64;
        pub(super) safe fn log1p(x: f64) -> f64;
        pub(super) safe fn atan2(y: f64, x: f64) -> f64;
        pub(super) safe fn remainder(x: f64, y: f64) -> f64;
        pub(super) safe fn fmod(x: f64, y: f64) -> f64;
        pub(super) safe fn pow(x: f64, y: f64) -> f64;
        pub(super) safe fn ldexp(x: f64, exponent: std::ffi::c_int) -> f64;
    }
}

macro_rules! functions {
    ($($name:ident ($($arg:ident : $ty:ty),*)),* $(,)?) => {
        $(
            #[inline]
            pub(crate) fn $name($($arg: $ty),*) -> f64 {
                c::$name($($arg),*)
            }
        )*
    };
}

functions! {
    sin(x: f64), cos(x: f64), tan(x: f64), asin(x: f64), acos(x: f64), atan(x: f64), sinh(x: f64), cosh(x: f64),
    tanh(x: f64), asinh(x: f64), acosh(x: f64), atanh(x: f64), exp(x: f64), exp2(x: f64), expm1(x: f64), cbrt(x: f64),
    erf(x: f64), erfc(x: f64), log(x: f64), log2(x: f64), log10(x: f64), log1p(x: f64), atan2(y: f64, x: f64),
    remainder(x: f64, y: f64), fmod(x: f64, y: f64), pow(x: f64, y: f64), ldexp(x: f64, exponent: i32),
}
