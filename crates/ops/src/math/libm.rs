//! The C library's functions: what CPython calls.
//!
//! Rust's own methods may be folded by the compiler or come from elsewhere on another
//! platform; declared here, they are the ones that a Python on this machine links to.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

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
        pub(super) safe fn hypot(x: f64, y: f64) -> f64;
        pub(super) fn dlopen(name: *const super::c_char, flags: super::c_int) -> *mut super::c_void;
        pub(super) fn dlsym(library: *mut super::c_void, name: *const super::c_char) -> *mut super::c_void;
        pub(super) safe fn ldexp(x: f64, exponent: super::c_int) -> f64;
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
    tanh(x: f64), asinh(x: f64), acosh(x: f64), atanh(x: f64), exp(x: f64), exp2(x: f64), expm1(x: f64),
    erf(x: f64), erfc(x: f64), log(x: f64), log2(x: f64), log10(x: f64), log1p(x: f64), atan2(y: f64, x: f64),
    remainder(x: f64, y: f64), fmod(x: f64, y: f64), pow(x: f64, y: f64), hypot(x: f64, y: f64),
    ldexp(x: f64, exponent: i32),
}

type Unary = extern "C" fn(f64) -> f64;

/// The cube root. Rust's runtime library has a function of this name, which rounds
/// otherwise than glibc's and which the linker prefers, so that the C library's has to be
/// asked for by hand. Where there is none of glibc's name Rust's serves.
pub(crate) fn cbrt(x: f64) -> f64 {
    static FOUND: OnceLock<Option<Unary>> = OnceLock::new();
    match FOUND.get_or_init(|| find(c"libm.so.6", c"cbrt")) {
        Some(cbrt) => cbrt(x),
        None => x.cbrt(),
    }
}

fn find(library: &CStr, name: &CStr) -> Option<Unary> {
    const RTLD_NOW: c_int = 2;
    // SAFETY: the library is the one that the process already runs with; its function of
    // that name takes and returns a double. It is never closed.
    unsafe {
        let library = c::dlopen(library.as_ptr(), RTLD_NOW);
        if library.is_null() {
            return None;
        }
        let address = c::dlsym(library, name.as_ptr());
        (!address.is_null()).then(|| std::mem::transmute::<*mut c_void, Unary>(address))
    }
}

/// The version of the C library if that is glibc.
#[cfg(target_env = "gnu")]
pub(super) fn glibc() -> Option<(u32, u32)> {
    unsafe extern "C" {
        safe fn gnu_get_libc_version() -> *const c_char;
    }
    static VERSION: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    *VERSION.get_or_init(|| {
        // SAFETY: the function gives a text that lives as long as the process.
        let text = unsafe { CStr::from_ptr(gnu_get_libc_version()) }.to_str().ok()?;
        let mut parts = text.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    })
}

/// The version of the C library if that is glibc.
#[cfg(not(target_env = "gnu"))]
pub(super) fn glibc() -> Option<(u32, u32)> {
    None
}
