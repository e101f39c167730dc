//! Elementary functions of many floats at once.
//!
//! A loop over rows that calls a function of the C library in each waits for it: the next row's call begins
//! late, since what stands between the two fills the processor's window. In a loop of nothing but calls they
//! overlap, and of some functions several floats are computed by one instruction (`lanes.rs`). Such a loop is a
//! strip; native code computes the operands of a strip of rows before, and takes its results.

use super::lanes::{self, LANES, Lanes};
use super::libm;
use crate::def::OpDef;
use crate::op;

/// How an operation is computed for many operands at once.
///
/// A result that is finite is the operation's. Infinity and NaN, with which the C library says what Python
/// raises, say nothing: the operation is asked for itself.
#[derive(Debug)]
pub struct Strip {
    run: fn(&[&[f64]], &mut [f64]),
    /// Whether several are computed by one instruction on this machine.
    pub has_lanes: fn() -> bool,
    /// The operation that puts into the places of a list what the function gives for its first elements. There is one
    /// where lanes take half the time or less; logarithms, which read tables, take as long on some processors.
    pub each: Option<&'static OpDef>,
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
    let ([x], Some(lanes)) = (args, Lanes::get()) else { return one(args, out, function) };
    for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        lanes.run(of_lanes, x, out);
        complete(x, out, &function);
    }
}

/// Floats whose places fit a byte and that stay in the fastest cache.
const BLOCK: usize = 64;

/// Asks for what lanes do not know, of up to so many.
fn complete(x: &[f64], out: &mut [f64], function: impl Fn(f64) -> f64) {
    // The places are found without a branch for each.
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

/// The same, put into the places of the operands.
fn in_place(items: &mut [f64], of_lanes: lanes::Function, function: impl Fn(f64) -> f64) {
    /// Below that the calls take no longer than what is done around lanes.
    const FEW: usize = 12;
    /// Few, so that little room is cleared for few.
    const PART: usize = 32;
    let lanes = Lanes::get().filter(|_| items.len() >= FEW);
    let Some(lanes) = lanes else { return items.iter_mut().for_each(|item| *item = function(*item)) };
    for items in items.chunks_mut(PART) {
        let (mut x, mut out) = ([1.0; PART], [0.0; PART]);
        let count = items.len();
        x[..count].copy_from_slice(items);
        // One alone takes as long as all lanes.
        let all = count.next_multiple_of(LANES);
        lanes.run(of_lanes, &x[..all], &mut out[..all]);
        complete(&x[..count], &mut out[..count], &function);
        items.copy_from_slice(&out[..count]);
    }
}

macro_rules! strips {
    ($($strip:ident: $shape:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($strip), "` of the C library.")]
            #[expect(non_upper_case_globals, reason = "named as the function")]
            pub static $strip: Strip =
                Strip { run: |args, out| $shape(args, out, libm::$strip), has_lanes: || false, each: None };
        )*
    };
}

strips! {
    tan: one asin: one acos: one atan: one sinh: one cosh: one tanh: one asinh: one acosh: one atanh: one
    exp2: one expm1: one log2: one log10: one log1p: one cbrt: one erf: one erfc: one
    pow: two atan2: two
}

macro_rules! lanes {
    ($($strip:ident: $function:ident $(, $each:ident $name:literal $doc:literal)?;)*) => {
        $(
            #[doc = concat!("`", stringify!($strip), "` of the C library.")]
            #[expect(non_upper_case_globals, reason = "named as the function")]
            pub static $strip: Strip = Strip {
                run: |args, out| several(args, out, lanes::Function::$function, libm::$strip),
                has_lanes: || Lanes::get().is_some(),
                each: lanes!(@each $($each)?),
            };

            $(op! {
                #[doc = $doc]
                $each = $name ""
                Store fn (_cx, _items: own_floats, _count: int) -> int {
                    let count = usize::try_from(_count).unwrap_or(0).min(_items.len());
                    in_place(&mut _items[..count], lanes::Function::$function, libm::$strip);
                    count as i64
                }
            })?
        )*

        /// Those on the first elements of a list, in their places; each gives how many they are.
        pub static OPS: &[&OpDef] = &[$($(&$each::DEF,)?)*];
    };
    (@each) => { None };
    (@each $each:ident) => { Some(&$each::DEF) };
}

lanes! {
    exp: Exp, each_exp "strip.exp" " Puts e to the power of each of the first floats into its place: infinity beyond the range.";
    log: Log;
    sin: Sin, each_sin "strip.sin" " Puts the sine of each of the first floats into its place: NaN of an infinite one.";
    cos: Cos, each_cos "strip.cos" " Puts the cosine of each of the first floats into its place: NaN of an infinite one.";
}
