//! What was seen of the rows that leave a function's native code, and what follows from it.
//!
//! Ints of native code have 64 bits, which is what most functions need. Where most rows leave for
//! that, the function is compiled anew with 128 bits; where most leave that code too, CPython takes
//! whole batches, if the session has one. From time to time a batch tries native code again, since
//! other rows may come.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Which way the next batch goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Native code whose ints have 64 bits.
    Words,
    /// Native code whose ints have 128 bits.
    Wide,
    /// CPython.
    Python,
}

/// Rows that must have left, and be most of those seen, before another way is tried.
const FEW: [u64; 2] = [200, 1_000];

/// Of so many batches that CPython takes, one tries native code.
const PROBE: u64 = 16;

/// What was seen of a function's rows.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// 0 for words, 1 for wide, 2 for CPython.
    way: AtomicU8,
    /// Since the way was taken.
    rows: AtomicU64,
    left: AtomicU64,
    batches: AtomicU64,
}

impl Observed {
    /// The way for a batch.
    pub fn way(&self) -> Way {
        match self.way.load(Ordering::Relaxed) {
            0 => Way::Words,
            1 => Way::Wide,
            _ if self.batches.fetch_add(1, Ordering::Relaxed) % PROBE == PROBE - 1 => Way::Wide,
            _ => Way::Python,
        }
    }

    /// Notes of how many rows of a batch on that way native code could not hold an int; gives
    /// whether there is a better way for them. CPython is one only if it is `ready`.
    pub fn note(&self, way: Way, rows: usize, left: usize, ready: impl FnOnce() -> bool) -> bool {
        let at = self.way.load(Ordering::Relaxed);
        let (rows, left) = (rows as u64, left as u64);
        if at == 2 {
            // It was tried whether other rows have come.
            if way == Way::Wide && left <= rows / 2 {
                self.turn(at, 1);
            }
            return false;
        }
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let left = self.left.fetch_add(left, Ordering::Relaxed) + left;
        left > FEW[usize::from(at)] && left > rows / 2 && (at == 0 || ready()) && self.turn(at, at + 1)
    }

    /// Takes another way, if nobody else has.
    fn turn(&self, from: u8, to: u8) -> bool {
        let turned = self.way.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if turned {
            self.rows.store(0, Ordering::Relaxed);
            self.left.store(0, Ordering::Relaxed);
        }
        turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_leave_go_wide_and_then_to_cpython_and_back() {
        let observed = Observed::default();
        assert!(!observed.note(Way::Words, 8192, 4000, || true));
        assert_eq!(observed.way(), Way::Words);
        assert!(observed.note(Way::Words, 8192, 8000, || true));
        assert_eq!(observed.way(), Way::Wide);
        assert!(!observed.note(Way::Wide, 500, 500, || true), "few rows say little");
        assert!(!observed.note(Way::Wide, 8192, 8192, || false), "CPython must be started first");
        assert!(observed.note(Way::Wide, 8192, 8192, || true));
        let ways: Vec<Way> = (0..16).map(|_| observed.way()).collect();
        assert_eq!(ways.iter().filter(|way| **way == Way::Wide).count(), 1);
        assert!(!observed.note(Way::Wide, 8192, 8192, || true));
        assert_eq!(observed.way(), Way::Python);
        assert!(!observed.note(Way::Wide, 8192, 10, || true));
        assert_eq!(observed.way(), Way::Wide);
    }
}
