//! Elementary functions as arrays have them: those of the C library, whose results NaN and infinity
//! stand for what the functions of `math` raise.
//!
//! NumPy calls the same functions on processors without AVX-512; with it, it computes some of them by
//! itself, with up to 3 units in the last place between the two.

use crate::def::OpDef;
use crate::float::arith::{floor_quotient, remainder};
use crate::math::libm;
use crate::op;

macro_rules! one_argument {
    ($($doc:literal $id:ident $name:literal;)*) => {
        $(op! {
            #[doc = $doc]
            $id = $name ""
            Pure fn (cx, _x: float) -> float { libm::$id(_x) }
        })*
    };
}

one_argument! {
    " The sine of an angle in radians." sin "ufunc.sin";
    " The cosine of an angle in radians." cos "ufunc.cos";
    " The tangent of an angle in radians." tan "ufunc.tan";
    " The arc sine." asin "ufunc.arcsin";
    " The arc cosine." acos "ufunc.arccos";
    " The arc tangent." atan "ufunc.arctan";
    " The hyperbolic sine." sinh "ufunc.sinh";
    " The hyperbolic cosine." cosh "ufunc.cosh";
    " The hyperbolic tangent." tanh "ufunc.tanh";
    " The inverse hyperbolic sine." asinh "ufunc.arcsinh";
    " The inverse hyperbolic cosine." acosh "ufunc.arccosh";
    " The inverse hyperbolic tangent." atanh "ufunc.arctanh";
    " e to a power." exp "ufunc.exp";
    " Two to a power." exp2 "ufunc.exp2";
    " e to a power, minus one." expm1 "ufunc.expm1";
    " The natural logarithm." log "ufunc.log";
    " The logarithm to base two." log2 "ufunc.log2";
    " The logarithm to base ten." log10 "ufunc.log10";
    " The natural logarithm of one more." log1p "ufunc.log1p";
    " The cube root." cbrt "ufunc.cbrt";
}

macro_rules! two_arguments {
    ($($doc:literal $id:ident $name:literal $function:path;)*) => {
        $(op! {
            #[doc = $doc]
            $id = $name ""
            Pure fn (cx, _x: float, _y: float) -> float { $function(_x, _y) }
        })*
    };
}

two_arguments! {
    " The power." pow "ufunc.power" libm::pow;
    " The angle in radians of a point, `y` first." atan2 "ufunc.arctan2" libm::atan2;
    " The remainder with the sign of the first number." fmod "ufunc.fmod" libm::fmod;
    " The floor of the quotient." floor_divide "ufunc.floor_divide" floored;
    " The remainder with the sign of the divisor." modulo "ufunc.remainder" signed;
    " The length of the hypotenuse." hypot "ufunc.hypot" libm::hypot;
}

/// NumPy's `npy_floor_divide`.
fn floored(a: f64, b: f64) -> f64 {
    if b == 0.0 { a / b } else { floor_quotient(a, b) }
}

/// NumPy's `npy_remainder`.
fn signed(a: f64, b: f64) -> f64 {
    if b == 0.0 { libm::fmod(a, b) } else { remainder(a, b) }
}

op! {
    /// The sum of floats, in the order in which NumPy adds a contiguous or evenly strided run.
    sum = "ufunc.sum" ""
    Read fn (_cx, _items: floats) -> float { 0.0 + pairwise(_items) }
}

op! {
    /// The sum of the products of two runs of floats of one length: one after the other where there are few, else
    /// in the order of a sum. NumPy leaves it to OpenBLAS, whose order is another one on each processor.
    dot = "ufunc.dot" ""
    Read fn (_cx, _left: floats, _right: floats) -> float { product(_left, _right) }
}

/// The fewest products that OpenBLAS adds side by side.
const SIDE_BY_SIDE: usize = 16;

fn product(left: &[f64], right: &[f64]) -> f64 {
    if left.len() < SIDE_BY_SIDE {
        return left.iter().zip(right).fold(0.0, |sum, (left, right)| sum + left * right);
    }
    let (left, last) = left.as_chunks::<8>();
    let (right, rest) = right.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    last.iter().zip(rest).fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, (left, right)| sum + left * right)
}

/// The operations whose results NumPy has to a bound only, which its documentation does not fix.
pub const BOUNDED: &[&str] = &["ufunc.dot"];

/// The most floats that are added without halving.
const BLOCK: usize = 128;

/// NumPy's `pairwise_sum`: eight sums side by side, of halves where there are more than a block.
fn pairwise(items: &[f64]) -> f64 {
    if items.len() < 8 {
        return items.iter().fold(-0.0, |sum, item| sum + item);
    }
    if items.len() > BLOCK {
        let half = items.len() / 2;
        let (left, right) = items.split_at(half - half % 8);
        return pairwise(left) + pairwise(right);
    }
    let (blocks, rest) = items.as_chunks::<8>();
    let mut sums = [-0.0; 8];
    for block in blocks {
        for (sum, item) in sums.iter_mut().zip(block) {
            *sum += item;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, item| sum + item)
}

/// Every operation of the family.
pub static OPS: &[&OpDef] = &[
    &sin::DEF,
    &cos::DEF,
    &tan::DEF,
    &asin::DEF,
    &acos::DEF,
    &atan::DEF,
    &sinh::DEF,
    &cosh::DEF,
    &tanh::DEF,
    &asinh::DEF,
    &acosh::DEF,
    &atanh::DEF,
    &exp::DEF,
    &exp2::DEF,
    &expm1::DEF,
    &log::DEF,
    &log2::DEF,
    &log10::DEF,
    &log1p::DEF,
    &cbrt::DEF,
    &pow::DEF,
    &atan2::DEF,
    &fmod::DEF,
    &floor_divide::DEF,
    &modulo::DEF,
    &hypot::DEF,
    &sum::DEF,
    &dot::DEF,
];
