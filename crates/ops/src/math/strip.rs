//! Elementary functions of many floats at once.
//!
//! A loop over rows that calls a function of the C library in each waits for it: the next row's call begins
//! late, since what stands between the two fills the processor's window. In a loop of nothing but calls they
//! overlap, and of some functions several floats are computed by one instruction (`lanes.rs`). Such a loop is a
//! strip; native code computes the operands of a strip of rows before, and takes its results.

use super::lanes::{self, Lanes};
use super::libm;

/// How an operation is computed for many operands at once.
///
/// A result that is finite is the operation's. Infinity and NaN, with which the C library says what Python
/// raises, say nothing: the operation is asked for itself.
#[derive(Debug)]
pub struct Strip {
    run: fn(&[&[f64]], &mut [f64]),
    /// Whether several are computed by one instruction on this machine.
    pub has_lanes: fn() -> bool,
}

impl Strip {
    /// The function for each place: `args` are its operands, one slice each, all as long as `out`.
    pub fn run(&self, args: &[&[f64]], out: &mut [f64]) {
        (self.run)(args, out);
    }
}

fn one(args: &[&[f64]], out: &mut [f64], function: impl Fn(f64) -> f64) {
    let [x] = args else { return out.fill(f64::NAN) };
    for (out, x) in out.iter_mut().zip(*x) {
        *out = function(*x);
    }
}

fn two(args: &[&[f64]], out: &mut [f64], function: impl Fn(f64, f64) -> f64) {
    let [x, y] = args else { return out.fill(f64::NAN) };
    for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(*y)) {
        *out = function(*x, *y);
    }
}

/// Several at once where the machine can, and where those do not know the result the C library's function.
fn several(args: &[&[f64]], out: &mut [f64], of_lanes: lanes::Function, function: impl Fn(f64) -> f64) {
    /// Floats whose places fit a byte and that stay in the fastest cache.
    const BLOCK: usize = 256;
    let ([x], Some(lanes)) = (args, Lanes::get()) else { return one(args, out, function) };
    for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        lanes.run(of_lanes, x, out);
        // Their places are found without a branch for each.
        let mut unknown = [0u8; BLOCK];
        let mut count = 0;
        for (at, value) in out.iter().enumerate() {
            unknown[count] = at as u8;
            count += usize::from(value.is_nan());
        }
        for at in &unknown[..count] {
            out[usize::from(*at)] = function(x[usize::from(*at)]);
        }
    }
}

macro_rules! strips {
    ($($strip:ident: $shape:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($strip), "` of the C library.")]
            #[expect(non_upper_case_globals, reason = "named as the function")]
            pub static $strip: Strip = Strip { run: |args, out| $shape(args, out, libm::$strip), has_lanes: || false };
        )*
    };
}

strips! {
    tan: one asin: one acos: one atan: one sinh: one cosh: one tanh: one asinh: one acosh: one atanh: one
    exp2: one expm1: one log2: one log10: one log1p: one cbrt: one erf: one erfc: one
    pow: two atan2: two
}

macro_rules! lanes {
    ($($strip:ident: $function:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($strip), "` of the C library.")]
            #[expect(non_upper_case_globals, reason = "named as the function")]
            pub static $strip: Strip = Strip {
                run: |args, out| several(args, out, lanes::Function::$function, libm::$strip),
                has_lanes: || Lanes::get().is_some(),
            };
        )*
    };
}

lanes! { exp: Exp log: Log sin: Sin cos: Cos }
