//! Hashes of the keys of dicts and sets.
//!
//! They are not CPython's: those of text differ from process to process, and Python's own
//! order of a dict does not depend on them. Law: values that compare equal have equal hashes,
//! ints and floats among each other too; a hash is at least 0, so that -1 can mean none.

use crate::adapt::IntList;
use crate::core::float_equal;
use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::list::RawList;
use crate::op;
use crate::text::short_word;
use exuvia_ir::Object;

/// Every operation that hashes.
pub static OPS: &[&OpDef] =
    &[&hash_str::DEF, &hash_int::DEF, &hash_float::DEF, &hash_mix::DEF, &hash_none::DEF, &hash_table::DEF];

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
    Alloc fn (cx, _hashes: ints) -> int_list fallible {
        let size = (_hashes.len() * 3).next_power_of_two().max(16);
        let (list, table) = RawList::filled(cx, size)?;
        table.fill(u64::MAX);
        for (slot, hash) in _hashes.iter().enumerate().filter(|(_, hash)| **hash >= 0) {
            let mut at = *hash as usize & (size - 1);
            while table[at] != u64::MAX {
                at = (at + 1) & (size - 1);
            }
            table[at] = slot as u64;
        }
        Ok(IntList(list))
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
