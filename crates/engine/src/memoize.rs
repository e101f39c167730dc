//! One call for equal arguments of a batch: columns such as cities, states and kinds hold
//! few distinct values, and a function without side effects gives each of them one result.
//!
//! Finding the distinct values takes time for every row, so it is done only where it pays:
//! the batch repeats itself, and what it saves was measured to be more than what it costs.
//! Functions of one text argument are concerned; numbers are rarely slower than a lookup.

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::datatypes::DataType;
use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Rows from which on a batch can be worth a look.
const MIN_ROWS: usize = 512;
/// A look is given up if more than one of so many rows is new.
const REPEATS: usize = 4;
/// Nanoseconds a row below which a call is not slower than a lookup.
const CHEAP: u32 = 24;
/// Batches that run as they are after a look that was in vain, at most.
const MAX_PAUSE: u32 = 64;

/// The distinct values of a column.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// For each, a row that has it.
    pub rows: UInt32Array,
    /// For each row, which of them it has.
    pub of_row: UInt32Array,
}

/// What a function's calls have shown so far. Threads share it; that one of them sees it
/// late changes when a look is taken, never a result.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Nanoseconds a row of the last batch that ran as it is; 0 before the first.
    plain: AtomicU32,
    /// Batches to run as they are before the next look.
    pause: AtomicU32,
    /// How long the last pause was; 0 if the last look paid.
    last: AtomicU32,
    /// Whether there was a look.
    looked: AtomicBool,
}

impl History {
    /// The distinct values of a batch, where a look seems to pay and finds few.
    pub fn look(&self, column: &ArrayRef) -> Option<Distinct> {
        if column.len() < MIN_ROWS || self.plain.load(Ordering::Relaxed) < CHEAP {
            return None;
        }
        let pause = self.pause.load(Ordering::Relaxed);
        if pause > 0 {
            self.pause.store(pause - 1, Ordering::Relaxed);
            return None;
        }
        let found = distinct(column, column.len() / REPEATS);
        self.looked.store(true, Ordering::Relaxed);
        if found.is_none() {
            self.rest();
        }
        found
    }

    /// Whether there was a look, or a call is too cheap for one.
    pub fn has_looked(&self) -> bool {
        let plain = self.plain.load(Ordering::Relaxed);
        self.looked.load(Ordering::Relaxed) || (plain > 0 && plain < CHEAP)
    }

    /// Whether the last look paid.
    pub fn pays(&self) -> bool {
        self.looked.load(Ordering::Relaxed) && self.last.load(Ordering::Relaxed) == 0
    }

    /// Notes a batch that ran as it is.
    pub fn ran(&self, rows: usize, time: Duration) {
        if rows >= MIN_ROWS {
            self.plain.store(per_row(rows, time), Ordering::Relaxed);
        }
    }

    /// Notes a batch whose equal rows were called once; `time` is all that it took.
    pub fn spared(&self, rows: usize, time: Duration) {
        if per_row(rows, time) >= self.plain.load(Ordering::Relaxed) {
            self.rest();
        } else {
            self.last.store(0, Ordering::Relaxed);
        }
    }

    fn rest(&self) {
        let pause = (self.last.load(Ordering::Relaxed) * 2).clamp(2, MAX_PAUSE);
        self.last.store(pause, Ordering::Relaxed);
        self.pause.store(pause, Ordering::Relaxed);
    }
}

fn per_row(rows: usize, time: Duration) -> u32 {
    u32::try_from(time.as_nanos() / rows.max(1) as u128).unwrap_or(u32::MAX)
}

/// The distinct values of a text column, if they are no more than `limit`; NULL is one.
pub(crate) fn distinct(column: &ArrayRef, limit: usize) -> Option<Distinct> {
    match column.data_type() {
        DataType::Utf8 => distinct_texts(column.as_string::<i32>().iter(), limit),
        DataType::LargeUtf8 => distinct_texts(column.as_string::<i64>().iter(), limit),
        DataType::Utf8View => distinct_texts(column.as_string_view().iter(), limit),
        _ => None,
    }
}

fn distinct_texts<'a>(column: impl ExactSizeIterator<Item = Option<&'a str>>, limit: usize) -> Option<Distinct> {
    let hasher = DefaultHashBuilder::default();
    let mut table: HashTable<(u32, Option<&str>)> = HashTable::with_capacity(64);
    let mut rows: Vec<u32> = Vec::new();
    let mut of_row: Vec<u32> = Vec::with_capacity(column.len());
    for (row, text) in column.enumerate() {
        // Where it is clear early that rows do not repeat, little is lost.
        if rows.len() > limit || (row == MIN_ROWS && rows.len() > MIN_ROWS / 2) {
            return None;
        }
        let hash = |text: Option<&str>| text.map_or(0, |text| hasher.hash_one(text.as_bytes()));
        match table.entry(hash(text), |known| known.1 == text, |known| hash(known.1)) {
            Entry::Occupied(known) => of_row.push(known.get().0),
            Entry::Vacant(place) => {
                let index = u32::try_from(rows.len()).ok()?;
                place.insert((index, text));
                rows.push(u32::try_from(row).ok()?);
                of_row.push(index);
            }
        }
    }
    (rows.len() <= limit).then(|| Distinct { rows: rows.into(), of_row: of_row.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{LargeStringArray, StringArray, StringViewArray};
    use std::sync::Arc;

    fn columns(values: &[Option<&str>]) -> [ArrayRef; 3] {
        let values = values.iter().copied();
        [
            Arc::new(StringArray::from_iter(values.clone())),
            Arc::new(LargeStringArray::from_iter(values.clone())),
            Arc::new(StringViewArray::from_iter(values)),
        ]
    }

    #[test]
    fn equal_texts_and_nulls_are_one() {
        let long = "a text that no view holds within itself: é";
        let values = [Some("a"), None, Some(""), Some("a"), Some(long), None, Some(long), Some("b"), Some("")];
        for column in columns(&values) {
            let found = distinct(&column, 5).unwrap();
            assert_eq!(found.rows.values(), &[0, 1, 2, 4, 7]);
            assert_eq!(found.of_row.values(), &[0, 1, 2, 0, 3, 1, 3, 4, 2]);
            assert!(distinct(&column, 4).is_none());
        }
    }

    #[test]
    fn slices_are_read_from_their_offset() {
        for column in columns(&[Some("x"), Some("y"), Some("y"), None]) {
            let found = distinct(&column.slice(1, 3), 3).unwrap();
            assert_eq!(found.of_row.values(), &[0, 0, 1]);
        }
    }

    #[test]
    fn looks_are_taken_where_they_pay() {
        let texts: Vec<String> = (0..4096).map(|row| (row % 7).to_string()).collect();
        let column: ArrayRef = Arc::new(StringArray::from(texts));
        let unique: ArrayRef = Arc::new(StringArray::from_iter_values((0..4096).map(|row| row.to_string())));
        let history = History::default();
        assert!(history.look(&column).is_none(), "nothing is known of the time yet");
        history.ran(4096, Duration::from_nanos(4096 * 10));
        assert!(history.look(&column).is_none(), "a call is cheap");
        history.ran(4096, Duration::from_nanos(4096 * 100));
        assert_eq!(history.look(&column).unwrap().rows.len(), 7);
        assert!(history.look(&unique).is_none(), "nothing repeats");
        assert!(history.look(&column).is_none(), "a look in vain is followed by a pause");
        assert!(history.look(&column).is_none());
        assert!(history.look(&column).is_some());
        history.spared(4096, Duration::from_nanos(4096 * 200));
        assert!(history.look(&column).is_none(), "it took longer than the calls");
    }
}
