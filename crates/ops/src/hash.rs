//! Hashes of the keys of dicts and sets.
//!
//! They are not CPython's: those of text differ from process to process, and Python's own
//! order of a dict does not depend on them. Law: values that compare equal have equal hashes,
//! ints and floats among each other too; a hash is at least 0, so that -1 can mean none.

use crate::adapt::IntList;
use crate::core::float_equal;
use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::list::{self, RawList};
use crate::op;
use crate::text::{Str, equal, short_word};
use exuvia_ir::Object;

/// Every operation that hashes.
pub static OPS: &[&OpDef] = &[
    &hash_str::DEF,
    &hash_int::DEF,
    &hash_float::DEF,
    &hash_mix::DEF,
    &hash_none::DEF,
    &hash_table::DEF,
    &hash_grown::DEF,
];

/// Odd, with bits all over: the fractional part of the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The two halves of a product, folded.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// A hash of a word.
#[inline]
fn of_word(word: u64) -> i64 {
    (fold(word ^ GOLDEN, 0xd6e8_feb8_6659_fd93) & (i64::MAX as u64)) as i64
}

#[inline]
fn of_bytes(bytes: &[u8]) -> i64 {
    if bytes.len() <= 8 {
        return of_word(short_word(bytes) ^ (bytes.len() as u64).wrapping_mul(GOLDEN));
    }
    let mut hash = bytes.len() as u64 ^ GOLDEN;
    for part in bytes.chunks(8) {
        hash = fold(hash ^ short_word(part), 0xd6e8_feb8_6659_fd93).rotate_left(23);
    }
    of_word(hash)
}

/// A hash of a float that is no NaN: an int in 64 bits that is equal has the same.
#[inline]
fn of_float(value: f64) -> i64 {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if value.fract() == 0.0 && (-BEYOND..BEYOND).contains(&value) {
        return of_word(value as i64 as u64);
    }
    of_word(value.to_bits())
}

fn of_big(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let value = match &args[0] {
        Object::Int(value) => value,
        _ => return Err(exuvia_ir::Raise::Bailout("an operand is not an int")),
    };
    Ok(Object::int(match (value.to_i64(), float_equal(value)) {
        (Some(small), _) => of_word(small as u64),
        (None, Some(float)) => of_float(float),
        (None, None) => of_bytes(&value.to_big().to_signed_bytes_le()),
    }))
}

op! {
    /// A number that equal texts share.
    hash_str = "str.hash" ""
    Pure fn (cx, _s: str) -> int { of_bytes(_s.as_bytes()) }
}

op! {
    /// A number that equal ints and floats share.
    hash_int = "int.hash" ""
    Pure fn (cx, _x: int) -> int { of_word(_x as u64) }
    big of_big
}

op! {
    /// A number that equal ints and floats share. The float is no NaN.
    hash_float = "float.hash" ""
    Pure fn (cx, _x: float) -> int { of_float(_x) }
}

op! {
    /// The hash of a sequence from that of its start and that of its next element.
    hash_mix = "hash.mix" ""
    Pure fn (cx, _start: int, _next: int) -> int { of_word(fold(_start as u64 ^ GOLDEN, _next as u64 | 1 << 63)) }
}

op! {
    /// An empty list of hashes.
    hash_none = "hash.none" ""
    Alloc fn (cx) -> int_list fallible { RawList::of_words(cx, std::iter::empty()).map(IntList) }
}

op! {
    /// The table of a dict or set: the positions of entries, each where its hash points or after
    /// that, and -1. It has room for half as many entries again.
    hash_table = "hash.table" ""
    Alloc fn (cx, _hashes: ints) -> int_list fallible { table(cx, _hashes.iter().copied(), _hashes.len()) }
}

op! {
    /// The table of a dict or set as `hash.table` makes it, with one entry more that has the hash `_next`.
    hash_grown = "hash.grown" ""
    Alloc fn (cx, _hashes: ints, _next: int) -> int_list fallible {
        table(cx, _hashes.iter().copied().chain([_next]), _hashes.len() + 1)
    }
}

/// A table of entries with these hashes, of which there are so many.
fn table(cx: &mut Cx, hashes: impl Iterator<Item = i64>, entries: usize) -> KernelResult<IntList> {
    let size = (entries * 3).next_power_of_two().max(16);
    let (list, table) = RawList::filled(cx, size)?;
    table.fill(u64::MAX);
    for (slot, hash) in hashes.enumerate().filter(|(_, hash)| *hash >= 0) {
        let mut at = hash as usize & (size - 1);
        while table[at] != u64::MAX {
            at = (at + 1) & (size - 1);
        }
        table[at] = slot as u64;
    }
    Ok(IntList(list))
}

/// Where a key is: see the operation `hash.find`. `index` is what lies in each of so many places; `is` says whether
/// an entry is there, has the hash and the key. It ends whatever the table holds.
#[inline]
pub(crate) fn look(places: usize, index: impl Fn(usize) -> i64, is: impl Fn(usize) -> bool, hash: i64) -> i64 {
    let Some(mask) = places.checked_sub(1) else { return -1 };
    let mut at = hash as usize & mask;
    for _ in 0..places {
        let entry = index(at);
        if entry < 0 {
            break;
        }
        if is(entry as usize) {
            return entry;
        }
        at = (at + 1) & mask;
    }
    -1 - at as i64
}

/// Where a member is: see the operation `set.find`. `held` is the hash of an entry, -1 of one that was removed. It
/// ends whatever the table holds.
#[inline]
pub(crate) fn look_in_set(
    places: usize,
    index: impl Fn(usize) -> i64,
    held: impl Fn(usize) -> i64,
    is: impl Fn(usize) -> bool,
    hash: i64,
) -> i64 {
    /// Places that are looked at one after the other before the next jump.
    const NEAR: usize = 9;
    let Some(mask) = places.checked_sub(1) else { return -1 };
    let (mut at, mut rest) = (hash as usize & mask, hash as u64);
    let mut free = None;
    // When the rest of the hash is used up, the jumps reach each place once.
    for _ in 0..places + 16 {
        let last = if at + NEAR <= mask { at + NEAR } else { at };
        for near in at..=last {
            let entry = index(near);
            if entry < 0 {
                return -1 - free.unwrap_or(near) as i64;
            }
            match held(entry as usize) {
                found if found == hash && is(entry as usize) => return entry,
                -1 => free = Some(near),
                _ => {}
            }
        }
        rest >>= 5;
        at = at.wrapping_mul(5).wrapping_add(1).wrapping_add(rest as usize) & mask;
    }
    -1 - free.unwrap_or(at) as i64
}

/// Keys among which native code looks for one.
pub trait Keys {
    /// Whether the key of an entry is the one.
    ///
    /// # Safety
    /// There must be so many keys and one more.
    unsafe fn is(&self, entry: usize) -> bool;
}

/// Among ints, an int.
#[derive(Debug)]
pub struct Ints(pub *const u64, pub u64);

impl Keys for Ints {
    #[inline]
    unsafe fn is(&self, entry: usize) -> bool {
        // SAFETY: the caller vouches for the entry.
        unsafe { *self.0.add(entry) == self.1 }
    }
}

/// Among texts, a text.
#[derive(Debug)]
pub struct Texts<'a>(pub *const u64, pub Str<'a>);

impl Keys for Texts<'_> {
    #[inline]
    unsafe fn is(&self, entry: usize) -> bool {
        // SAFETY: the caller vouches for the entry, whose words are those of a live text.
        let text = unsafe { Str::from_words(*self.0.add(2 * entry) as *const u8, *self.0.add(2 * entry + 1)) };
        equal(text.as_bytes(), self.1.as_bytes())
    }
}

/// Among values of so many words of an order ([`crate::sort::order_of`]), the words of one.
#[derive(Debug)]
pub struct Values {
    /// The keys.
    pub keys: *const u64,
    /// The one.
    pub key: *const u64,
    /// The words of each.
    pub width: usize,
    /// Their order.
    pub order: u64,
}

impl Keys for Values {
    #[inline]
    unsafe fn is(&self, entry: usize) -> bool {
        // SAFETY: the caller vouches for the entry; both are live values of the order.
        unsafe { crate::sort::compared(self.keys.add(entry * self.width), self.key, self.order).is_eq() }
    }
}

/// Where a key is in a table of native code: see the operations `hash.find` and, where it is that `of_set`,
/// `set.find`.
///
/// # Safety
/// The lists must be live lists of ints, and `entries` the number of live keys.
#[inline]
pub unsafe fn position<const OF_SET: bool>(
    index: *const RawList,
    hashes: *const RawList,
    entries: usize,
    hash: i64,
    keys: &impl Keys,
) -> i64 {
    // SAFETY: the caller vouches for the lists.
    let (index, hashes) = unsafe { (list::words::<i64>(index), list::words::<i64>(hashes)) };
    let entries = entries.min(hashes.len());
    // SAFETY: no entry is looked at that is not there.
    let is = |at: usize| unsafe { keys.is(at) };
    if OF_SET {
        let held = |at: usize| if at < entries { hashes[at] } else { 0 };
        look_in_set(index.len(), |at| index[at], held, |at| at < entries && is(at), hash)
    } else {
        look(index.len(), |at| index[at], |at| at < entries && hashes[at] == hash && is(at), hash)
    }
}

#[cfg(test)]
mod tests {
    use super::{of_big, of_bytes, of_float, of_word};
    use crate::cx::Cx;
    use exuvia_ir::{Int, Object};

    #[test]
    fn equal_numbers_have_equal_hashes() {
        let hash = |value: i128| {
            let object = Object::Int(Int::from_i128(value));
            of_big(&mut Cx::for_folding(), &[object]).ok()
        };
        for value in [0, 1, -1, 1 << 53, i64::MAX.into(), i64::MIN.into(), 1 << 63, -(1 << 64), 3 << 80] {
            let float = value as f64;
            if float as i128 == value {
                assert_eq!(hash(value), Some(Object::int(of_float(float))), "{value}");
            }
            if let Ok(small) = i64::try_from(value) {
                assert_eq!(hash(value), Some(Object::int(of_word(small as u64))), "{value}");
            }
        }
        assert_eq!(of_float(-0.0), of_float(0.0));
        assert!(of_float(f64::INFINITY) != of_float(f64::NEG_INFINITY));
    }

    #[test]
    fn hashes_spread_and_are_not_negative() {
        let multiples: std::collections::HashSet<i64> = (0..1024).map(|at| of_word(at << 32) & 1023).collect();
        assert!(multiples.len() > 500, "{} of multiples", multiples.len());
        let texts: std::collections::HashSet<i64> =
            (0..1024).map(|at| of_bytes(format!("key {at:08}").as_bytes()) & 1023).collect();
        assert!(texts.len() > 500, "{} of texts", texts.len());
        assert!(
            (0..1000u64)
                .all(|at| of_word(at.wrapping_mul(0x0123_4567_89ab_cdef)) >= 0 && of_float(at as f64 / 7.0) >= 0)
        );
    }
}
