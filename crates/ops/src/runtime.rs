//! Functions that native code calls besides the operations.

use crate::adapt::{Pair, call_fallible};
use crate::cx::Cx;
use crate::list::RawList;

/// A new list with room for `cap` elements of `slots` words: status, address.
pub extern "C" fn list_new(cx: *mut Cx, cap: u64, slots: u64) -> Pair {
    call_fallible(cx, |cx| RawList::new(cx, cap as usize, slots as usize))
}

/// Room for one more element of a list: status, address of its words.
///
/// `list` must be the address of a live list whose elements take `slots` words.
pub extern "C" fn list_push(cx: *mut Cx, list: *mut RawList, slots: u64) -> Pair {
    call_fallible(cx, |cx| {
        // SAFETY: native code passes the address of a live list, which nothing else
        // refers to during the call.
        let list = unsafe { &mut *list };
        // The address of words travels in the same register as that of a list.
        list.push(cx, slots as usize).map(|slot| slot.cast::<RawList>())
    })
}

/// Forgets what the row allocated.
pub extern "C" fn reset(cx: *mut Cx) {
    // SAFETY: native code passes the address of the `Cx` that its caller lent it.
    unsafe { (*cx).reset() };
}

/// Whether the query was cancelled: 0 or 1.
pub extern "C" fn interrupted(cx: *mut Cx) -> u64 {
    // SAFETY: as in `reset`.
    u64::from(unsafe { (*cx).interrupted() })
}
