//! What functions keep of their results, as `functools.cache` has it.
//!
//! A memo is that of one function of a module. Its keys and results are words, in the layout of native
//! code; texts in them are those of the memos, so that equal ones have one address. The memos last as long
//! as a context, which serves a batch: a row finds what rows before it kept.
//!
//! A function that stands in another has a memo for each time that its `def` runs: `memo.new` gives a
//! number for it, which is part of its keys. What is kept by such a number is of no use after the row.

use crate::cx::KernelResult;
use crate::def::OpDef;
use crate::op;
use exuvia_ir::Raise;

/// The operations on memos.
pub static OPS: &[&OpDef] = &[&memo_new::DEF];

op! {
    /// A number that no memo of the batch has had.
    memo_new = "memo.new" ""
    Write fn (cx) -> int {
        cx.memos.number()
    }
}

/// The bytes beyond which what rows kept is forgotten between two of them, of the limit of a row.
const SHARE: usize = 8;

/// The places of an index that is kept while it is empty.
const SMALL: usize = 1 << 10;

/// The memos of a context.
#[derive(Debug, Default)]
pub struct Memos {
    /// By the numbers of their functions.
    tables: Vec<(u64, Table)>,
    texts: Texts,
    /// How many numbers were given, and whether any was since the last row ended.
    numbers: i64,
    is_numbered: bool,
}

/// What one function has kept: keys and results, one after the other in the order in which they came,
/// and where each begins by the hash of its key.
#[derive(Debug, Default)]
struct Table {
    /// One more than the place of an entry; 0 where there is none. A power of two of them.
    index: Vec<u32>,
    entries: Vec<u64>,
    len: usize,
}

/// The texts of keys and results.
#[derive(Debug, Default)]
struct Texts {
    index: Vec<u32>,
    texts: Vec<Box<[u8]>>,
    bytes: usize,
}

fn hash_words(words: &[u64]) -> u64 {
    let mix = |hash: u64, word: &u64| {
        let product = u128::from(hash ^ *word) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
        (product >> 64) as u64 ^ product as u64
    };
    words.iter().fold(0x51_7c_c1_b7_27_22_0a_95, mix)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mix = |hash, word: &[u8; 8]| hash_words(&[hash, u64::from_le_bytes(*word)]);
    hash_words(&[words.iter().fold(bytes.len() as u64, mix), u64::from_le_bytes(last)])
}

/// Where something of that hash is in an index, or could be put: a place for which `is` holds, or an empty
/// one. `None` for an index without places.
#[inline]
fn probe(index: &[u32], hash: u64, mut is: impl FnMut(usize) -> bool) -> Option<usize> {
    let mask = index.len().checked_sub(1)?;
    let mut at = hash as usize & mask;
    // No more than three quarters are taken.
    while index[at] != 0 && !is(index[at] as usize - 1) {
        at = (at + 1) & mask;
    }
    Some(at)
}

/// An index of twice the places, of what has these hashes.
fn grown(index: &[u32], hashes: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut grown = vec![0; (index.len() * 2).max(16)];
    for (entry, hash) in hashes.enumerate() {
        if let Some(at) = probe(&grown, hash, |_| false) {
            grown[at] = entry as u32 + 1;
        }
    }
    grown
}

/// Empties an index; where little of it was used, it becomes smaller.
fn clear(index: &mut Vec<u32>, len: usize) {
    if index.len() > SMALL && len < index.len() / 16 {
        *index = Vec::new();
    } else {
        index.fill(0);
    }
}

impl Table {
    fn entry(&self, at: usize, width: usize) -> &[u64] {
        &self.entries[at * width..(at + 1) * width]
    }

    #[inline]
    fn find(&self, key: &[u64], width: usize) -> Option<usize> {
        // Keys are a few words, for which a call that compares memory is too much.
        let is = |entry| self.entry(entry, width).iter().zip(key).all(|(a, b)| a == b);
        let at = probe(&self.index, hash_words(key), is)?;
        (self.index[at] as usize).checked_sub(1)
    }

    fn put(&mut self, key: &[u64], result: &[u64]) {
        let width = key.len() + result.len();
        if self.len * 4 >= self.index.len() * 3 {
            let hashes = (0..self.len).map(|at| hash_words(&self.entries[at * width..at * width + key.len()]));
            self.index = grown(&self.index, hashes);
        }
        let is = |entry: usize| self.entries[entry * width..entry * width + key.len()] == *key;
        let Some(at) = probe(&self.index, hash_words(key), is) else { return };
        // A call within the one that ends may have kept the same.
        if self.index[at] == 0 {
            self.len += 1;
            self.index[at] = self.len as u32;
            self.entries.extend_from_slice(key);
            self.entries.extend_from_slice(result);
        }
    }

    fn clear(&mut self) {
        clear(&mut self.index, self.len);
        self.entries.clear();
        self.entries.shrink_to(SMALL.max(self.len * 16));
        self.len = 0;
    }

    fn bytes(&self) -> usize {
        self.index.capacity() * 4 + self.entries.capacity() * 8
    }
}

impl Texts {
    fn put(&mut self, text: &[u8]) -> &[u8] {
        if self.texts.len() * 4 >= self.index.len() * 3 {
            self.index = grown(&self.index, self.texts.iter().map(|text| hash_bytes(text)));
        }
        let entry = match probe(&self.index, hash_bytes(text), |entry| *self.texts[entry] == *text) {
            Some(at) if self.index[at] != 0 => self.index[at] as usize - 1,
            at => {
                self.texts.push(text.into());
                self.bytes += text.len() + size_of::<Box<[u8]>>();
                if let Some(place) = at.and_then(|at| self.index.get_mut(at)) {
                    *place = self.texts.len() as u32;
                }
                self.texts.len() - 1
            }
        };
        &self.texts[entry]
    }

    fn clear(&mut self) {
        clear(&mut self.index, self.texts.len());
        self.texts.clear();
        self.bytes = 0;
    }
}

impl Memos {
    /// A number that no memo has had.
    fn number(&mut self) -> i64 {
        self.numbers += 1;
        self.is_numbered = true;
        self.numbers
    }

    /// The words of the result that a function has kept by a key; its number is its own in this process.
    /// They stay where they are until it keeps another.
    #[must_use]
    #[inline]
    pub fn find(&self, function: u64, key: &[u64], results: usize) -> Option<&[u64]> {
        let (table, width) = (&self.tables.iter().find(|table| table.0 == function)?.1, key.len() + results);
        Some(&table.entry(table.find(key, width)?, width)[key.len()..])
    }

    /// Keeps a result, where the memos take no more bytes than `limit`.
    ///
    /// # Errors
    /// Bails out where they would.
    pub fn keep(&mut self, function: u64, key: &[u64], result: &[u64], limit: usize) -> KernelResult<()> {
        let at = self.tables.iter().position(|table| table.0 == function).unwrap_or_else(|| {
            self.tables.push((function, Table::default()));
            self.tables.len() - 1
        });
        let table = &self.tables[at].1;
        let is_full = table.len * 4 >= table.index.len() * 3;
        let more = if is_full { table.bytes().max(1 << 10) } else { 0 };
        if self.bytes() + more > limit || table.len >= u32::MAX as usize {
            return Err(Raise::ROW_MEMORY);
        }
        self.tables[at].1.put(key, result);
        Ok(())
    }

    /// The text of the memos that is equal to one; it is there afterwards, and stays where it is until the
    /// row ends.
    ///
    /// # Errors
    /// Bails out where the memos would take more bytes than `limit`.
    pub fn keep_text(&mut self, text: &[u8], limit: usize) -> KernelResult<&[u8]> {
        if self.bytes() + text.len() > limit {
            return Err(Raise::ROW_MEMORY);
        }
        Ok(self.texts.put(text))
    }

    fn bytes(&self) -> usize {
        let texts = self.texts.bytes + self.texts.index.capacity() * 4;
        texts + self.tables.iter().map(|table| table.1.bytes()).sum::<usize>()
    }

    /// Between two rows: forgets what is of no more use, and all if it has become much.
    #[inline]
    pub(crate) fn end_row(&mut self, limit: usize) {
        if !self.tables.is_empty() {
            self.forget(limit);
        }
    }

    fn forget(&mut self, limit: usize) {
        if self.is_numbered || self.bytes() > limit / SHARE {
            self.tables.iter_mut().for_each(|table| table.1.clear());
            self.texts.clear();
            self.is_numbered = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Memos;

    #[test]
    fn what_was_kept_is_found() {
        let mut memos = Memos::default();
        for at in 0..10_000u64 {
            memos.keep(1, &[at, at / 7], &[at * 3], 1 << 30).unwrap();
            memos.keep(0, &[], &[], 1 << 30).unwrap();
        }
        for at in 0..10_000u64 {
            assert_eq!(memos.find(1, &[at, at / 7], 1), Some(&[at * 3][..]));
            assert_eq!(memos.find(1, &[at, at / 7 + 1], 1), None);
        }
        assert_eq!(memos.find(0, &[], 0), Some(&[][..]));
        assert_eq!(memos.find(2, &[], 0), None);
    }

    #[test]
    fn equal_texts_are_one() {
        let mut memos = Memos::default();
        let texts: Vec<String> = (0..2_000).map(|at| "é".repeat(at % 50) + &at.to_string()).collect();
        let kept: Vec<usize> =
            texts.iter().map(|text| memos.keep_text(text.as_bytes(), 1 << 30).unwrap().as_ptr() as usize).collect();
        for (text, address) in texts.iter().zip(kept) {
            assert_eq!(memos.keep_text(text.as_bytes(), 1 << 30).unwrap().as_ptr() as usize, address);
        }
    }

    #[test]
    fn the_limit_holds() {
        let mut memos = Memos::default();
        let kept = (0..1 << 20).take_while(|at| memos.keep(0, &[*at], &[0], 1 << 20).is_ok()).count();
        assert!((10_000..100_000).contains(&kept), "{kept}");
        assert!(memos.bytes() <= 1 << 20, "{}", memos.bytes());
        assert!(memos.keep_text(&[0; 1 << 20], 1 << 20).is_err());
        memos.end_row(1 << 20);
        assert!(memos.keep(0, &[1], &[2], 1 << 20).is_ok());
        assert_eq!(memos.find(0, &[2], 1), None);
    }
}
