//! Functions that native code calls besides the operations.

use crate::adapt::{Pair, call_fallible};
use crate::cx::Cx;
use crate::list::RawList;

/// A new list with room for `cap` elements of `slots` words: status, address.
///
/// # Safety
/// `cx` must be the address of a context that nothing else uses during the call.
pub unsafe extern "C" fn list_new(cx: *mut Cx, cap: u64, slots: u64) -> Pair {
    // SAFETY: the caller vouches for the context.
    unsafe { call_fallible(cx, |cx| RawList::new(cx, cap as usize, slots as usize).map(|list| list as i64)) }
}

/// Room for one more element of a list: status, address of its words.
///
/// # Safety
/// As [`list_new`]; `list` must be the address of a live list whose elements take
/// `slots` words, which nothing else uses during the call.
pub unsafe extern "C" fn list_push(cx: *mut Cx, list: *mut RawList, slots: u64) -> Pair {
    // SAFETY: the caller vouches for the context and the list.
    unsafe { call_fallible(cx, |cx| (*list).push(cx, slots as usize).map(|slot| slot as i64)) }
}

/// Forgets what the row allocated.
///
/// # Safety
/// As [`list_new`].
pub unsafe extern "C" fn reset(cx: *mut Cx) {
    // SAFETY: the caller vouches for the context.
    unsafe { (*cx).reset() };
}

/// The quotient of two ints, `b` not zero, correctly rounded.
pub extern "C" fn int_quotient(a: i64, b: i64) -> f64 {
    crate::core::nearest_quotient(a, b)
}

/// An int of two words, the lower first.
fn wide(low: u64, high: u64) -> i128 {
    (i128::from(high as i64) << 64) | i128::from(low)
}

fn words(value: i128) -> Pair {
    Pair(value as u64, (value >> 64) as u64)
}

/// The nearest float of an int of 128 bits, given and taken as two words, the lower first.
pub extern "C" fn wide_float(low: u64, high: u64) -> f64 {
    wide(low, high) as f64
}

/// The quotient of two ints of 128 bits as the nearest float; the second is not zero.
///
/// # Safety
/// As [`list_new`].
pub unsafe extern "C" fn wide_quotient(cx: *mut Cx, a: u64, a_high: u64, b: u64, b_high: u64) -> f64 {
    // SAFETY: the caller vouches for the context.
    let cx = unsafe { &mut *cx };
    crate::core::nearest_wide_quotient(cx, wide(a, a_high), wide(b, b_high))
}

/// The quotient of two ints of 128 bits rounded down. The second is not zero, and the first is not
/// the least one where the second is -1.
pub extern "C" fn wide_floor_div(a: u64, a_high: u64, b: u64, b_high: u64) -> Pair {
    let (a, b) = (wide(a, a_high), wide(b, b_high));
    let (quotient, remainder) = (a.checked_div(b).unwrap_or(0), a.checked_rem(b).unwrap_or(0));
    words(if remainder != 0 && (remainder < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// The remainder with the sign of the divisor; as [`wide_floor_div`].
pub extern "C" fn wide_mod(a: u64, a_high: u64, b: u64, b_high: u64) -> Pair {
    let (a, b) = (wide(a, a_high), wide(b, b_high));
    let remainder = a.checked_rem(b).unwrap_or(0);
    words(if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder })
}
