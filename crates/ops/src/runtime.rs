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
