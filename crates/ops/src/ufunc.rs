//! Elementary functions as arrays have them: those of the C library, whose results NaN and infinity
//! stand for what the functions of `math` raise.
//!
//! NumPy calls the same functions on processors without AVX-512; with it, it computes some of them by
//! itself, with up to 3 units in the last place between the two.

mod products;

pub use products::BOUNDED;

use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::float::arith::{floor_quotient, remainder};
use crate::math::{libm, strip};
use crate::op;
use crate::tiles;
use exuvia_ir::Raise;

macro_rules! one_argument {
    ($($doc:literal $id:ident $name:literal;)*) => {
        $(op! {
            #[doc = $doc]
            $id = $name ""
            Pure fn (cx, _x: float) -> float { libm::$id(_x) }
            strip strip::$id
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
    ($($doc:literal $id:ident $name:literal $function:path $(, $strip:path)?;)*) => {
        $(op! {
            #[doc = $doc]
            $id = $name ""
            Pure fn (cx, _x: float, _y: float) -> float { $function(_x, _y) }
            $(strip $strip)?
        })*
    };
}

two_arguments! {
    " The power." pow "ufunc.power" libm::pow, strip::pow;
    " The angle in radians of a point, `y` first." atan2 "ufunc.arctan2" libm::atan2, strip::atan2;
    " The remainder with the sign of the first number." fmod "ufunc.fmod" libm::fmod;
    " The floor of the quotient." floor_divide "ufunc.floor_divide" floored;
    " The remainder with the sign of the divisor." modulo "ufunc.remainder" signed;
    " The length of the hypotenuse." hypot "ufunc.hypot" libm::hypot;
}

op! {
    /// The bits of an int of 64 moved up; none of them by 64 or more, or by less than none.
    left_shift = "ufunc.left_shift" ""
    Pure fn (_cx, _x: int, _by: int) -> int { if (0..64).contains(&_by) { _x << _by } else { 0 } }
}

op! {
    /// The bits of an int of 64 moved down; those of its sign by 64 or more, or by less than none.
    right_shift = "ufunc.right_shift" ""
    Pure fn (_cx, _x: int, _by: int) -> int { _x >> if (0..64).contains(&_by) { _by } else { 63 } }
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
    Read fn (cx, _items: floats) -> float { 0.0 + pairwise(cx, _items, |item| item) }
}

op! {
    /// The sum of floats in the same order, where 0.0 stands in the place of NaN.
    sum_present = "ufunc.sum_present" ""
    Read fn (cx, _items: floats) -> float { 0.0 + pairwise(cx, _items, or_zero) }
}

op! {
    /// How many floats are not NaN.
    count_present = "ufunc.count_present" ""
    Read fn (_cx, _items: floats) -> int { _items.iter().map(|item| i64::from(!item.is_nan())).sum::<i64>() }
}

op! {
    /// The sum of the squared distances of floats from a number, in the same order.
    squares = "ufunc.squares" ""
    Read fn (cx, _items: floats, middle: float) -> float { 0.0 + pairwise(cx, _items, |item| square(item - middle)) }
}

op! {
    /// The same, where the distance of NaN is 0.0.
    squares_present = "ufunc.squares_present" ""
    Read fn (cx, _items: floats, middle: float) -> float {
        0.0 + pairwise(cx, _items, |item: f64| if item.is_nan() { 0.0 } else { square(item - middle) })
    }
}

op! {
    /// The least of floats, of which there is one, or the first NaN. Where it is zero and there are zeros of both
    /// signs, of which NumPy gives any, it bails out.
    least = "ufunc.least" ""
    Read fn (_cx, _items: floats) -> float fallible bails Operands {
        first_nan(_items).map_or_else(|| signed_once(least_of(_items), _items), Ok)
    }
}

op! {
    /// The greatest of floats, as `ufunc.least`.
    greatest = "ufunc.greatest" ""
    Read fn (_cx, _items: floats) -> float fallible bails Operands {
        first_nan(_items).map_or_else(|| signed_once(greatest_of(_items), _items), Ok)
    }
}

op! {
    /// The least of the floats that are not NaN, infinity of none, as `ufunc.least`.
    least_present = "ufunc.least_present" ""
    Read fn (_cx, _items: floats) -> float fallible bails Operands { signed_once(least_of(_items), _items) }
}

op! {
    /// The greatest of the floats that are not NaN, minus infinity of none, as `ufunc.least`.
    greatest_present = "ufunc.greatest_present" ""
    Read fn (_cx, _items: floats) -> float fallible bails Operands { signed_once(greatest_of(_items), _items) }
}

op! {
    /// The place of the first NaN among floats, or else of the first of the least; 0 of none.
    first_least = "ufunc.first_least" ""
    Read fn (_cx, _items: floats) -> int { first_of(_items, least_of(_items)) }
}

op! {
    /// The place of the first NaN among floats, or else of the first of the greatest; 0 of none.
    first_greatest = "ufunc.first_greatest" ""
    Read fn (_cx, _items: floats) -> int { first_of(_items, greatest_of(_items)) }
}

/// The place of the first NaN, or else of the first float that is equal to one of them.
fn first_of(items: &[f64], extreme: f64) -> i64 {
    let place = match has_nan(items) {
        true => items.iter().position(|item| item.is_nan()),
        false => items.iter().position(|item| *item == extreme),
    };
    place.unwrap_or(0) as i64
}

fn or_zero(item: f64) -> f64 {
    if item.is_nan() { 0.0 } else { item }
}

fn square(x: f64) -> f64 {
    x * x
}

fn has_nan(items: &[f64]) -> bool {
    // Without a branch for each, so that several are looked at at once.
    items.iter().fold(false, |found, item| found | item.is_nan())
}

fn first_nan(items: &[f64]) -> Option<f64> {
    if has_nan(items) { items.iter().copied().find(|item| item.is_nan()) } else { None }
}

// A comparison with NaN is false: it changes nothing.

fn least_of(items: &[f64]) -> f64 {
    extreme(items, f64::INFINITY, |best, item| if item < best { item } else { best })
}

fn greatest_of(items: &[f64]) -> f64 {
    extreme(items, f64::NEG_INFINITY, |best, item| if item > best { item } else { best })
}

/// The best of floats, by several at once.
fn extreme(items: &[f64], start: f64, better: impl Fn(f64, f64) -> f64) -> f64 {
    let (blocks, rest) = items.as_chunks::<8>();
    let mut found = [start; 8];
    for block in blocks {
        for (found, item) in found.iter_mut().zip(block) {
            *found = better(*found, *item);
        }
    }
    found.iter().chain(rest).fold(start, |best, item| better(best, *item))
}

/// An extreme that is no zero while there are zeros of both signs.
fn signed_once(extreme: f64, items: &[f64]) -> KernelResult<f64> {
    let other = |item: &f64| *item == 0.0 && item.to_bits() != extreme.to_bits();
    if extreme == 0.0 && items.iter().any(other) {
        return Err(Raise::Bailout("zeros of both signs"));
    }
    Ok(extreme)
}

/// The most floats that are added without halving.
const BLOCK: usize = 128;

/// NumPy's `pairwise_sum` of what a function makes of floats: eight sums side by side, of halves where there are
/// more than a block.
fn pairwise(cx: &Cx, items: &[f64], made: impl Fn(f64) -> f64 + Sync) -> f64 {
    tiles::sum_of_halves(cx, items, half, |items| halves(items, &made))
}

/// Where so many elements are cut in two.
fn half(len: usize) -> usize {
    len / 2 - len / 2 % 8
}

fn halves(items: &[f64], made: &impl Fn(f64) -> f64) -> f64 {
    if items.len() < 8 {
        return items.iter().fold(-0.0, |sum, item| sum + made(*item));
    }
    if items.len() > BLOCK {
        let (left, right) = items.split_at(half(items.len()));
        return halves(left, made) + halves(right, made);
    }
    let (blocks, rest) = items.as_chunks::<8>();
    let mut sums = [-0.0; 8];
    for block in blocks {
        for (sum, item) in sums.iter_mut().zip(block) {
            *sum += made(*item);
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, item| sum + made(*item))
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
    &left_shift::DEF,
    &right_shift::DEF,
    &sum::DEF,
    &sum_present::DEF,
    &count_present::DEF,
    &squares::DEF,
    &squares_present::DEF,
    &least::DEF,
    &greatest::DEF,
    &least_present::DEF,
    &greatest_present::DEF,
    &first_least::DEF,
    &first_greatest::DEF,
    &products::dot::DEF,
    &products::products::DEF,
    &products::slide::DEF,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_by_any_number_of_threads() {
        let items: Vec<f64> = (0..1_000_003).map(|at| f64::from(at).sin() * 1e3_f64.powi(at % 7)).collect();
        for len in [0, 7, 1000, 2 * tiles::PART, 2 * tiles::PART + 9, 300_001, items.len()] {
            let by = |threads: usize| {
                let cx = Cx::for_folding().with_threads(threads);
                pairwise(&cx, &items[..len], |item| item * 0.7)
            };
            let alone = halves(&items[..len], &|item| item * 0.7);
            for threads in [1, 2, 5] {
                assert_eq!(by(threads).to_bits(), alone.to_bits(), "{len} by {threads}");
            }
        }
    }
}
