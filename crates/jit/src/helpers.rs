//! Functions that native code calls besides the operations and `exuvia_ops::runtime`.
//!
//! None of them can panic: what may is caught where it stands.

use crate::table::Table;
use crate::translate::{BOXED_WORDS, Boxed, BoxedArg};
use exuvia_ir::{Int, Object, Raise};
use exuvia_ops::adapt::{Pair, call_fallible};
use exuvia_ops::cx::{Cx, KernelResult};
use exuvia_ops::list::{self, RawList};
use exuvia_ops::text::{Str, equal};
use exuvia_ops::{hash, sort};

/// Whether two strings of `len` bytes are equal: 0 or 1.
pub(crate) extern "C" fn bytes_equal(a: *const u8, b: *const u8, len: u64) -> u64 {
    // SAFETY: native code compares the lengths of two live strings first and passes the
    // common one.
    let (a, b) = unsafe { (std::slice::from_raw_parts(a, len as usize), std::slice::from_raw_parts(b, len as usize)) };
    u64::from(equal(a, b))
}

/// The number of code points in `len` bytes of valid UTF-8.
pub(crate) extern "C" fn count_chars(cx: *mut Cx, ptr: *const u8, len: u64) -> u64 {
    // SAFETY: native code passes its context and the words of a live string, without the flag.
    unsafe { (*cx).char_len(Str::from_words(ptr, len)) as u64 }
}

/// A new list of the elements from `start` to `stop`, clamped as CPython clamps slices
/// (Objects/sliceobject.c, PySlice_AdjustIndices): status, address.
pub(crate) extern "C" fn list_slice(cx: *mut Cx, list: *const RawList, start: i64, stop: i64, slots: u64) -> Pair {
    let slice = |cx: &mut Cx| {
        // SAFETY: native code passes the address of a live list, which nothing changes
        // during the call.
        let (len, data) = unsafe { ((*list).len as i64, (*list).data) };
        let clamp = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at.min(len) };
        let (start, stop) = (clamp(start), clamp(stop));
        let taken = (stop - start).max(0) as usize;
        let new = RawList::new(cx, taken, slots as usize)?;
        if taken > 0 && slots > 0 {
            // SAFETY: `start..start + taken` lies within the list's elements, and the new
            // list has room for `taken`.
            unsafe {
                let from = data.add(start as usize * slots as usize);
                (*new).data.copy_from_nonoverlapping(from, taken * slots as usize);
            }
        }
        // SAFETY: `RawList::new` gave a live header.
        unsafe { (*new).len = taken as u64 };
        Ok(new as i64)
    };
    // SAFETY: native code passes the context that its caller lent it for the call.
    unsafe { call_fallible(cx, slice) }
}

/// A new list of `count` elements from `start` on, by `step`, all within the list: status, address.
pub(crate) extern "C" fn list_stride(
    cx: *mut Cx,
    list: *const RawList,
    start: i64,
    step: i64,
    count: i64,
    slots: u64,
) -> Pair {
    let stride = |cx: &mut Cx| {
        // SAFETY: as below.
        let len = unsafe { (*list).len };
        let last = (count - 1).checked_mul(step).and_then(|far| start.checked_add(far));
        let is_within = |at: i64| u64::try_from(at).is_ok_and(|at| at < len);
        if count > 0 && !(is_within(start) && last.is_some_and(is_within)) {
            return Err(Raise::Bailout("a stride beyond the list"));
        }
        let (count, slots) = (usize::try_from(count).unwrap_or(0), slots as usize);
        let new = RawList::new(cx, count, slots)?;
        // SAFETY: native code passes the address of a live list, which nothing changes during the
        // call; the first and the last element lie within it, as was seen, and the new list has
        // room for `count` elements.
        unsafe {
            let (from, to) = ((*list).data, (*new).data);
            if slots == 1 {
                for turn in 0..count {
                    *to.add(turn) = *from.offset((start + turn as i64 * step) as isize);
                }
            } else {
                for turn in 0..count {
                    let at = (start + turn as i64 * step) as usize;
                    to.add(turn * slots).copy_from_nonoverlapping(from.add(at * slots), slots);
                }
            }
            (*new).len = count as u64;
        }
        Ok(new as i64)
    };
    // SAFETY: native code passes the context that its caller lent it for the call.
    unsafe { call_fallible(cx, stride) }
}

/// Makes room for so many elements more at the end of a list, where there is memory.
pub(crate) extern "C" fn list_reserve(cx: *mut Cx, list: *mut RawList, more: i64, slots: u64) {
    // SAFETY: native code passes the context that its caller lent it and the address of a live list of
    // elements of so many slots.
    unsafe { (*list).reserve(&mut *cx, u64::try_from(more).unwrap_or(0), slots as usize) }
}

/// Makes room at the end of a list for an element for each number from `start` to before `end`, which are its
/// elements from now on: status, where that of zero would lie. Native code writes them before anybody looks.
pub(crate) extern "C" fn list_fill(cx: *mut Cx, list: *mut RawList, start: i64, end: i64, slots: u64) -> Pair {
    // SAFETY: native code passes the context that its caller lent it and the address of a live list of
    // elements of so many slots.
    unsafe { call_fallible(cx, |cx| (*list).fill(cx, start, end, slots as usize)) }
}

/// A new list of the elements of two: status, address.
pub(crate) extern "C" fn list_concat(cx: *mut Cx, a: *const RawList, b: *const RawList, slots: u64) -> Pair {
    let concat = |cx: &mut Cx| {
        // SAFETY: native code passes the addresses of two live lists of elements of so many slots, which nothing
        // changes during the call; the new one is none of them.
        unsafe {
            let new = RawList::new(cx, ((*a).len + (*b).len) as usize, slots as usize)?;
            (*new).extend(cx, (*a).data, (*a).len, 1, slots as usize)?;
            (*new).extend(cx, (*b).data, (*b).len, 1, slots as usize)?;
            Ok(new as i64)
        }
    };
    // SAFETY: native code passes the context that its caller lent it for the call.
    unsafe { call_fallible(cx, concat) }
}

/// Appends the elements of one list to another, or to itself, so many times: status.
pub(crate) extern "C" fn list_extend(
    cx: *mut Cx,
    list: *mut RawList,
    other: *const RawList,
    times: i64,
    slots: u64,
) -> Pair {
    let extend = |cx: &mut Cx| {
        // SAFETY: native code passes the addresses of two live lists of elements of so many slots,
        // which may be one; what the second has is read before the first changes.
        unsafe {
            let (count, from) = ((*other).len, (*other).data);
            (*list).extend(cx, from, count, times, slots as usize)?;
        }
        Ok(0i64)
    };
    // SAFETY: native code passes the context that its caller lent it for the call.
    unsafe { call_fallible(cx, extend) }
}

/// Moves the elements from `first` to `last` to the left by so many places, within themselves.
pub(crate) extern "C" fn list_rotate(list: *mut RawList, first: u64, last: u64, by: i64, slots: u64) {
    if slots == 0 || first > last {
        return;
    }
    let (first, count, slots) = (first as usize, (last - first + 1) as usize, slots as usize);
    // SAFETY: native code passes the address of a live list that nothing else looks at during
    // the call, the number of slots of its elements, and two positions within it.
    let part = unsafe { std::slice::from_raw_parts_mut((*list).data.add(first * slots), count * slots) };
    match (by, slots) {
        // One element is put before others, as sorting does.
        (-1, 1) => put_last_first::<1>(part),
        (-1, 2) => put_last_first::<2>(part),
        (-1, 4) => put_last_first::<4>(part),
        _ => part.rotate_left(list::rotation(by, count) * slots),
    }
}

/// Puts the last element of so many words before all others.
fn put_last_first<const WORDS: usize>(part: &mut [u64]) {
    let Some((_, last)) = part.split_last_chunk::<WORDS>() else { return };
    let last = *last;
    part.copy_within(..part.len() - WORDS, WORDS);
    part[..WORDS].copy_from_slice(&last);
}

/// Turns the order of the elements from `first` to `last` round.
pub(crate) extern "C" fn list_reverse(list: *mut RawList, first: u64, last: u64, slots: u64) {
    if slots == 0 || first > last {
        return;
    }
    let (first, count, slots) = (first as usize, (last - first + 1) as usize, slots as usize);
    // SAFETY: as in `list_rotate`.
    let part = unsafe { std::slice::from_raw_parts_mut((*list).data.add(first * slots), count * slots) };
    part.reverse();
    if slots > 1 {
        // The slots of each element were turned round with it.
        part.chunks_exact_mut(slots).for_each(<[u64]>::reverse);
    }
}

/// Removes the elements at whose positions `hashes`, which may be the list itself, has -1.
pub(crate) extern "C" fn list_compact(list: *mut RawList, hashes: *const RawList, slots: u64) {
    let slots = slots as usize;
    // SAFETY: native code passes the addresses of a live list of elements of so many slots and of one of words,
    // which nothing else looks at during the call. What is written lies before what is read next, so the two may
    // be one list.
    unsafe {
        let (data, marks) = ((*list).data, (*hashes).data);
        let (len, marked) = ((*list).len as usize, (*hashes).len as usize);
        let mut to = 0;
        for at in 0..len {
            if at < marked && *marks.add(at) == u64::MAX {
                continue;
            }
            if to < at && slots > 0 {
                std::ptr::copy_nonoverlapping(data.add(at * slots), data.add(to * slots), slots);
            }
            to += 1;
        }
        (*list).len = to as u64;
    }
}

/// Sorts a list by keys of a type of that order: status.
pub(crate) extern "C" fn list_sort_by(
    cx: *mut Cx,
    list: *mut RawList,
    slots: u64,
    keys: *const RawList,
    key_slots: u64,
    order: u64,
    reverse: u64,
) -> Pair {
    let sort = |cx: &mut Cx| {
        let (list, keys) = ((list, slots as usize), (keys, key_slots as usize));
        // SAFETY: native code passes two live lists, which may be one, of elements of so many slots, the keys of a
        // type of that order.
        unsafe { sort::sort_by(cx, list, keys, order, reverse != 0)? };
        Ok(0i64)
    };
    // SAFETY: native code passes the context that its caller lent it for the call.
    unsafe { call_fallible(cx, sort) }
}

/// The position of an int in the table of a dict or set that is made at run time.
pub(crate) extern "C" fn hash_find_int<const OF_SET: bool>(
    index: *const RawList,
    hashes: *const RawList,
    keys: *const RawList,
    hash: i64,
    key: u64,
) -> i64 {
    // SAFETY: native code passes live lists of ints, which nobody changes during the call.
    unsafe { hash::position::<OF_SET>(index, hashes, (*keys).len as usize, hash, &hash::Ints((*keys).data, key)) }
}

/// The position of a text.
pub(crate) extern "C" fn hash_find_str<const OF_SET: bool>(
    index: *const RawList,
    hashes: *const RawList,
    keys: *const RawList,
    hash: i64,
    start: *const u8,
    meta: u64,
) -> i64 {
    // SAFETY: as in `hash_find_int`; the keys are texts, and the words those of one that lives.
    unsafe {
        let texts = hash::Texts((*keys).data, Str::from_words(start, meta));
        hash::position::<OF_SET>(index, hashes, (*keys).len as usize, hash, &texts)
    }
}

/// The position of a value of so many slots of a type of that order, which lie at `key`.
pub(crate) extern "C" fn hash_find<const OF_SET: bool>(
    index: *const RawList,
    hashes: *const RawList,
    keys: *const RawList,
    hash: i64,
    key: *const u64,
    slots: u64,
    order: u64,
) -> i64 {
    // SAFETY: as in `hash_find_int`; the keys and what lies at `key` are values of a type of that order.
    unsafe {
        let values = hash::Values { keys: (*keys).data, key, width: slots as usize, order };
        hash::position::<OF_SET>(index, hashes, (*keys).len as usize, hash, &values)
    }
}

/// The position of a string key, or -1.
pub(crate) extern "C" fn find_str(table: *const Table, ptr: *const u8, len: u64) -> i64 {
    // SAFETY: native code passes the address of a table that the kernel owns, and the
    // words of a live string.
    unsafe { (*table).find_str(std::slice::from_raw_parts(ptr, len as usize)) }
}

/// The position of an integer key, or -1.
pub(crate) extern "C" fn find_int(table: *const Table, key: i64) -> i64 {
    // SAFETY: as in `find_str`.
    unsafe { (*table).find_int(key) }
}

/// The position of a float key, or -1.
pub(crate) extern "C" fn find_float(table: *const Table, key: f64) -> i64 {
    // SAFETY: as in `find_str`.
    unsafe { (*table).find_float(key) }
}

/// The position of `None`, or -1.
pub(crate) extern "C" fn find_none(table: *const Table) -> i64 {
    // SAFETY: as in `find_str`.
    unsafe { (*table).find_none() }
}

/// The boxed operands of an operation; `words` are those that are not known.
fn boxes(call: &Boxed, words: [u64; BOXED_WORDS]) -> Vec<Object> {
    let mut words = words.into_iter();
    let mut word = || words.next().unwrap_or(0);
    call.args
        .iter()
        .map(|arg| match arg {
            BoxedArg::Known(object) => object.clone(),
            BoxedArg::Int => Object::Int(Int::Small(word() as i64)),
            BoxedArg::Wide => Object::Int(Int::from_i128(i128::from(word()) | i128::from(word() as i64) << 64)),
            BoxedArg::Float => Object::Float(f64::from_bits(word())),
            BoxedArg::Bool => Object::Bool(word() != 0),
            BoxedArg::Str => {
                let start = word() as *const u8;
                // SAFETY: native code passes the words of a live text.
                Object::str(unsafe { Str::from_words(start, word()) }.as_str())
            }
        })
        .collect()
}

fn evaluate(cx: &mut Cx, call: &Boxed, words: [u64; BOXED_WORDS]) -> KernelResult<Object> {
    (call.def.eval)(cx, &boxes(call, words))
}

/// An operation on boxed operands whose result one word holds: status, word.
pub(crate) extern "C" fn boxed(cx: *mut Cx, call: *const Boxed, a: u64, b: u64, c: u64, d: u64) -> Pair {
    let apply = |cx: &mut Cx| {
        // SAFETY: native code passes the address of a call that the kernel owns.
        match evaluate(cx, unsafe { &*call }, [a, b, c, d])? {
            Object::Int(Int::Small(value)) => Ok(value),
            Object::Float(value) => Ok(value.to_bits() as i64),
            Object::Bool(value) => Ok(i64::from(value)),
            _ => Err(Raise::Bailout("an integer beyond 64 bits")),
        }
    };
    // SAFETY: native code passes the context that its caller lent it for the call.
    unsafe { call_fallible(cx, apply) }
}

/// An operation on boxed operands whose result is a text, as a kernel gives one.
pub(crate) extern "C" fn boxed_text(cx: *mut Cx, call: *const Boxed, a: u64, b: u64, c: u64, d: u64) -> Pair {
    // SAFETY: as in `boxed`; the text lives in the context, which native code keeps.
    unsafe {
        call_fallible(cx, |cx| {
            let Object::Str(made) = evaluate(cx, &*call, [a, b, c, d])? else {
                return Err(Raise::Bailout("a result that is no text"));
            };
            cx.store(&made)
        })
    }
}

/// The text of the exception that an operation raises for boxed operands.
pub(crate) extern "C" fn boxed_message(cx: *mut Cx, call: *const Boxed, a: u64, b: u64, c: u64, d: u64) -> Pair {
    // SAFETY: as in `boxed_text`.
    unsafe {
        call_fallible(cx, |cx| {
            let call = &*call;
            let text = call.def.message(cx, &boxes(call, [a, b, c, d]))?;
            cx.store(&text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::equal;

    #[test]
    fn texts_are_equal_if_each_byte_is() {
        for len in 0..40 {
            let text: Vec<u8> = (0..len).collect();
            assert!(equal(&text, &text.clone()));
            for at in 0..usize::from(len) {
                let mut other = text.clone();
                other[at] ^= 1;
                assert!(!equal(&text, &other), "{len} {at}");
            }
        }
    }
}
