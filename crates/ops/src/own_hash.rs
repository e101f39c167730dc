//! `hash` of CPython 3.11 where `PYTHONHASHSEED` is 0, and the tables of sets that it orders.
//!
//! A text has the SipHash-1-3, of the key 0, of its characters in as many bytes as the widest needs
//! (Python/pyhash.c, Objects/unicodeobject.c); numbers are reduced modulo 2^61 - 1, so that equal ones
//! have one hash, whatever their class; a tuple mixes those of its items as xxHash does
//! (Objects/tupleobject.c). No hash is -1, which C functions return for an error.

use crate::adapt::IntList;
use crate::classes::ValueClass;
use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::list::RawList;
use crate::op;
use exuvia_ir::{Int, Object, SetObj, set};
use num_traits::ToPrimitive;
use siphasher::sip::SipHasher13;
use std::sync::LazyLock;

/// Every operation on CPython's hashes.
pub static OPS: &[&OpDef] = &[
    &own_str::DEF,
    &own_int::DEF,
    &own_float::DEF,
    &own_item::DEF,
    &own_items::DEF,
    &own_member::DEF,
    &own_frozenset::DEF,
    &set_table::DEF,
    &set_order::DEF,
];

/// What numbers are reduced by, a prime (`_PyHASH_MODULUS`), and its bits.
const MODULUS: u64 = (1 << BITS) - 1;
const BITS: u32 = 61;
const INFINITY: i64 = 314_159;

/// The primes that mix the hashes of a tuple's items.
const PRIME_1: u64 = 11_400_714_785_074_694_791;
const PRIME_2: u64 = 14_029_467_366_897_019_727;
const PRIME_5: u64 = 2_870_177_450_012_600_261;

static SIP: LazyLock<SipHasher13> = LazyLock::new(SipHasher13::new);

/// No hash is -1.
fn own(hash: u64) -> i64 {
    if hash == u64::MAX { -2 } else { hash as i64 }
}

/// The hash of bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> i64 {
    if bytes.is_empty() { 0 } else { own(SIP.hash(bytes)) }
}

fn of_text(text: &str) -> i64 {
    if text.is_ascii() {
        return of_bytes(text.as_bytes());
    }
    let widest = text.chars().max().map_or(0, u32::from);
    let units = text.chars().map(u32::from);
    let bytes: Vec<u8> = match widest {
        ..=0xff => units.map(|unit| unit as u8).collect(),
        0x100..=0xffff => units.flat_map(|unit| (unit as u16).to_le_bytes()).collect(),
        _ => units.flat_map(u32::to_le_bytes).collect(),
    };
    of_bytes(&bytes)
}

/// Of a number by its size, reduced, and its sign.
fn of_number(reduced: u64, negative: bool) -> i64 {
    let hash = if negative { -(reduced as i64) } else { reduced as i64 };
    if hash == -1 { -2 } else { hash }
}

fn of_int(value: i64) -> i64 {
    of_number(value.unsigned_abs() % MODULUS, value < 0)
}

fn of_any_int(value: &Int) -> Option<i64> {
    match value {
        Int::Small(value) => Some(of_int(*value)),
        Int::Big(value) => {
            let reduced = (value.magnitude() % MODULUS).to_u64()?;
            Some(of_number(reduced, value.sign() == num_bigint::Sign::Minus))
        }
    }
}

/// Of a float that is no NaN (`_Py_HashDouble`): its 53 bits, turned as far as its exponent says.
fn of_float(value: f64) -> i64 {
    if value.is_infinite() {
        return if value > 0.0 { INFINITY } else { -INFINITY };
    }
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let turn = exponent.rem_euclid(BITS as i32) as u32;
    let turned = ((mantissa << turn) & MODULUS) | (mantissa >> (BITS - turn));
    of_number(if turned == MODULUS { 0 } else { turned }, value < 0.0)
}

fn with_item(start: u64, item: i64) -> u64 {
    start.wrapping_add((item as u64).wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

fn of_items(mixed: u64, items: u64) -> i64 {
    let hash = mixed.wrapping_add(items ^ PRIME_5 ^ 3_527_539);
    if hash == u64::MAX { 1_546_275_796 } else { hash as i64 }
}

/// The hash of a tuple of such items, where theirs are the same in every process.
pub(crate) fn of_tuple(items: &[Object]) -> Option<i64> {
    let mixed = items.iter().try_fold(PRIME_5, |start, item| Some(with_item(start, of(item)?)))?;
    Some(of_items(mixed, items.len() as u64))
}

fn with_member(so_far: u64, member: i64) -> u64 {
    let member = member as u64;
    so_far ^ ((member ^ 89_869_747) ^ (member << 16)).wrapping_mul(3_644_798_167)
}

fn of_members(mixed: u64, members: u64) -> i64 {
    let hash = mixed ^ members.wrapping_add(1).wrapping_mul(1_927_868_237);
    let hash = hash ^ (hash >> 11) ^ (hash >> 25);
    let hash = hash.wrapping_mul(69_069).wrapping_add(907_133_923);
    if hash == u64::MAX { 590_923_713 } else { hash as i64 }
}

/// `hash(object)` where it is the same in every process.
#[must_use]
pub fn of(object: &Object) -> Option<i64> {
    match object {
        Object::Bool(value) => Some(i64::from(*value)),
        Object::Int(value) => of_any_int(value),
        Object::Float(value) if !value.is_nan() => Some(of_float(*value)),
        Object::Str(text) => Some(of_text(text)),
        Object::Tuple(items) => of_tuple(items),
        Object::Set(set) if set.frozen => {
            let members = set.members.entries();
            let mixed = members.iter().try_fold(0, |so_far, entry| Some(with_member(so_far, of(&entry.0)?)))?;
            Some(of_members(mixed, members.len() as u64))
        }
        Object::Record(record) => (ValueClass::of(record.class)?.hash)(&record.fields),
        _ => None,
    }
}

/// Adds a member to a constant set, as [`SetObj::add`].
pub fn add(set: &mut SetObj, member: Object) -> bool {
    let hash = of(&member);
    set.add(member, hash)
}

fn of_big(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    match &args[0] {
        Object::Int(value) => of_any_int(value).map(Object::int),
        _ => None,
    }
    .ok_or_else(|| exuvia_ir::Raise::bailout("an operand is not an int"))
}

op! {
    /// `hash` of a text.
    own_str = "own.str" ""
    Pure fn (cx, _s: str) -> int { of_text(_s.as_str()) }
}

op! {
    /// `hash` of an int.
    own_int = "own.int" ""
    Pure fn (cx, _x: int) -> int { of_int(_x) }
    big of_big
}

op! {
    /// `hash` of a float that is no NaN.
    own_float = "own.float" ""
    Pure fn (cx, _x: float) -> int { of_float(_x) }
}

op! {
    /// The hash of a tuple so far with that of its next item.
    own_item = "own.item" ""
    Pure fn (cx, _start: int, _next: int) -> int { with_item(_start as u64, _next) as i64 }
}

op! {
    /// The hash of a tuple of so many items from those of its items, mixed.
    own_items = "own.items" ""
    Pure fn (cx, _mixed: int, _items: int) -> int { of_items(_mixed as u64, _items as u64) }
}

op! {
    /// The hash of a frozenset so far with that of a member, in any order (Objects/setobject.c,
    /// `frozenset_hash`).
    own_member = "own.member" ""
    Pure fn (cx, _so_far: int, _member: int) -> int { with_member(_so_far as u64, _member) as i64 }
}

op! {
    /// The hash of a frozenset of so many members from those of its members, mixed.
    own_frozenset = "own.frozenset" ""
    Pure fn (cx, _mixed: int, _members: int) -> int { of_members(_mixed as u64, _members as u64) }
}

op! {
    /// A table of a set for so many members, with those of another table in its order, and numbered anew
    /// without those that were removed, whose hashes are -1.
    set_table = "set.table" ""
    Alloc fn (cx, _places: ints, _hashes: ints, _members: int) -> int_list fallible {
        let removed = _hashes.iter().filter(|hash| **hash == -1).count();
        let live = _hashes.len() - removed;
        let numbers: Vec<u64> = match removed {
            0 => Vec::new(),
            _ => _hashes
                .iter()
                .scan(0, |next, hash| {
                    let number = *next;
                    *next += u64::from(*hash != -1);
                    Some(number)
                })
                .collect(),
        };
        let members = usize::try_from(_members).unwrap_or(0);
        let (list, table) = RawList::filled(cx, set::places_for(members.max(live)))?;
        table.fill(u64::MAX);
        let slots = _places.iter().filter_map(|slot| usize::try_from(*slot).ok());
        let there = slots.filter(|slot| _hashes.get(*slot).is_some_and(|hash| *hash != -1));
        for slot in there.take(live) {
            set::place(table, _hashes[slot], u64::MAX, numbers.get(slot).copied().unwrap_or(slot as u64));
        }
        Ok(IntList(list))
    }
}

op! {
    /// The positions of the members of a set in the order of its table, without those that were removed, whose
    /// hashes are -1.
    set_order = "set.order" ""
    Alloc fn (cx, _places: ints, _hashes: ints) -> int_list fallible {
        let (list, order) = RawList::filled(cx, _places.len())?;
        let mut count = 0;
        for slot in _places {
            // Nothing is skipped by a branch, which nobody could predict.
            order[count] = *slot as u64;
            count += usize::from(_hashes.get(*slot as usize).is_some_and(|hash| *hash != -1));
        }
        // SAFETY: the list was just made with at least so many elements.
        unsafe { (*list).len = count as u64 };
        Ok(IntList(list))
    }
}

#[cfg(test)]
mod tests {
    use super::{of, of_float};
    use exuvia_ir::{Int, Object};

    #[test]
    fn equal_numbers_have_one_hash() {
        for value in [0, 1, -1, 1 << 53, i64::MAX.into(), i64::MIN.into(), 1 << 61, (1 << 61) - 1, -(1 << 64), 3 << 80]
        {
            let float = value as f64;
            if float as i128 == value {
                assert_eq!(of(&Object::Int(Int::from_i128(value))), Some(of_float(float)), "{value}");
            }
        }
    }
}
