//! Constant dicts and sets as native code sees them.
//!
//! Keys that compare equal in Python (`1`, `1.0`, `True`) are one key, as in
//! [`exuvia_ir::DictObj`]; positions are those of insertion. Tuples as keys are left
//! out: a dict that has them cannot be searched natively for a tuple.

use exuvia_ir::{DictObj, Int, Object};
use std::collections::HashMap;

/// A constant dict or set.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Table {
    /// The words of the values, in order; native code reads this field.
    pub values: *const u64,
    owned: Box<[u64]>,
    strings: StrTable,
    ints: HashMap<i64, u32>,
    floats: HashMap<u64, u32>,
    none: i64,
}

// SAFETY: `values` points into `owned`, which never changes.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// The table of a dict whose values are spread over `words`.
    pub fn new(dict: &DictObj, words: Vec<u64>) -> Box<Table> {
        let mut ints = HashMap::new();
        let mut floats = HashMap::new();
        let mut strings = Vec::new();
        let mut none = -1;
        for (at, (key, _)) in dict.entries().iter().enumerate() {
            let position = at as u32;
            match key {
                Object::Str(text) => strings.push((text.as_bytes().into(), position)),
                Object::Bool(value) => drop(ints.insert(i64::from(*value), position)),
                Object::Int(Int::Small(value)) => drop(ints.insert(*value, position)),
                Object::Float(value) => match integral(*value) {
                    Some(value) => drop(ints.insert(value, position)),
                    None => drop(floats.insert(value.to_bits(), position)),
                },
                Object::None => none = at as i64,
                // No native key is equal to one of these.
                Object::Int(Int::Big(_))
                | Object::Tuple(_)
                | Object::List(_)
                | Object::Dict(_)
                | Object::Set(_)
                | Object::Pattern(_)
                | Object::Record(_)
                | Object::Exc(_)
                | Object::Unbound => {}
            }
        }
        let owned = words.into_boxed_slice();
        Box::new(Table { values: owned.as_ptr(), owned, strings: StrTable::new(strings), ints, floats, none })
    }

    /// The number of words of the values.
    #[cfg(test)]
    pub fn words(&self) -> usize {
        self.owned.len()
    }

    /// The position of a string.
    pub fn find_str(&self, key: &[u8]) -> i64 {
        self.strings.find(key)
    }

    /// The position of an integer.
    pub fn find_int(&self, key: i64) -> i64 {
        self.ints.get(&key).map_or(-1, |at| i64::from(*at))
    }

    /// The position of a float; NaN is nobody's key here.
    pub fn find_float(&self, key: f64) -> i64 {
        match integral(key) {
            Some(key) => self.find_int(key),
            // A float beyond 64 bits may equal a big int; who asks for floats looks first
            // whether there are such keys (`has_big_int`).
            None => self.floats.get(&key.to_bits()).map_or(-1, |at| i64::from(*at)),
        }
    }

    /// The position of `None`.
    pub fn find_none(&self) -> i64 {
        self.none
    }
}

/// The integer of 64 bits that a float equals.
fn integral(value: f64) -> Option<i64> {
    // 2^63 is the first float above the range; -2^63 lies within.
    let in_range = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (in_range && value.trunc() == value).then_some(value as i64)
}

/// Open addressing over short strings. The first words of a key are part of its hash,
/// so that most misses end without comparing text.
#[derive(Debug)]
struct StrTable {
    keys: Vec<(Box<[u8]>, u32)>,
    /// Hash and index into `keys` plus one; 0 is free. A power of two of them, at most
    /// half full.
    places: Box<[(u32, u32)]>,
}

impl StrTable {
    fn new(keys: Vec<(Box<[u8]>, u32)>) -> StrTable {
        let size = (keys.len() * 2).max(4).next_power_of_two();
        let mut places = vec![(0, 0); size].into_boxed_slice();
        for (index, (key, _)) in keys.iter().enumerate() {
            let hash = hash(key);
            let mut at = hash as usize & (size - 1);
            while places[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            places[at] = (hash, index as u32 + 1);
        }
        StrTable { keys, places }
    }

    fn find(&self, key: &[u8]) -> i64 {
        let hash = hash(key);
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (stored, index) = self.places[at];
            if index == 0 {
                return -1;
            }
            if stored == hash {
                let (text, position) = &self.keys[index as usize - 1];
                if **text == *key {
                    return i64::from(*position);
                }
            }
            at = (at + 1) & mask;
        }
    }
}

/// A quick hash. The keys are constants of the program, so nobody can choose them to
/// collide; probes that collide with one another only share a chain.
fn hash(key: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&key[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let mut state = (key.len() as u64).wrapping_mul(FACTOR);
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    };
    if key.len() >= 8 {
        let mut at = 0;
        while at + 8 < key.len() {
            state = mix(state, word(at));
            at += 8;
        }
        state = mix(state, word(key.len() - 8));
    } else {
        let tail = key.iter().fold(0u64, |tail, byte| tail << 8 | u64::from(*byte));
        state = mix(state, tail);
    }
    (state ^ state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_key_and_no_other() {
        let mut dict = DictObj::default();
        for at in 0..500 {
            assert!(dict.insert(Object::str(&format!("key number {at}")), Object::None));
            assert!(dict.insert(Object::int(at), Object::None));
        }
        dict.insert(Object::Float(0.5), Object::None);
        dict.insert(Object::None, Object::None);
        let table = Table::new(&dict, vec![1, 2]);
        assert_eq!(table.words(), 2);
        for (at, (key, _)) in dict.entries().iter().enumerate() {
            let found = match key {
                Object::Str(text) => table.find_str(text.as_bytes()),
                Object::Int(Int::Small(value)) => {
                    assert_eq!(table.find_float(*value as f64), at as i64);
                    table.find_int(*value)
                }
                Object::Float(value) => table.find_float(*value),
                _ => table.find_none(),
            };
            assert_eq!(found, at as i64);
        }
        assert_eq!(table.find_str(b"key number 500"), -1);
        assert_eq!(table.find_str(b""), -1);
        assert_eq!(table.find_int(-1), -1);
        assert_eq!(table.find_float(f64::NAN), -1);
        assert_eq!(table.find_float(1e300), -1);
    }
}
