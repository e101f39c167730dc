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

impl Way {
    const ALL: [Way; 3] = [Way::Words, Way::Wide, Way::Python];

    /// The way to take where most rows leave this one, and how many must have left: few rows say little.
    fn beyond(self) -> Option<(Way, u64)> {
        match self {
            Way::Words => Some((Way::Wide, 200)),
            Way::Wide => Some((Way::Python, 1_000)),
            Way::Python => None,
        }
    }
}

/// Of so many batches that CPython takes, one tries native code.
const PROBE: u64 = 16;

/// What was seen of a function's rows.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Of [`Way::ALL`].
    way: AtomicU8,
    /// Since the way was taken.
    rows: AtomicU64,
    left: AtomicU64,
    batches: AtomicU64,
}

impl Observed {
    fn taken(&self) -> Way {
        Way::ALL.get(usize::from(self.way.load(Ordering::Relaxed))).copied().unwrap_or(Way::Python)
    }

    /// The way for a batch.
    pub fn way(&self) -> Way {
        match self.taken() {
            Way::Python if self.batches.fetch_add(1, Ordering::Relaxed) % PROBE == PROBE - 1 => Way::Wide,
            taken => taken,
        }
    }

    /// Notes of how many rows of a batch on that way native code could not hold an int; gives
    /// whether there is a better way for them. CPython is one only if it is `ready`.
    pub fn note(&self, way: Way, rows: usize, left: usize, ready: impl FnOnce() -> bool) -> bool {
        let taken = self.taken();
        let (rows, left) = (rows as u64, left as u64);
        let Some((next, few)) = taken.beyond() else {
            // It was tried whether other rows have come.
            if way == Way::Wide && left <= rows / 2 {
                self.turn(taken, Way::Wide);
            }
            return false;
        };
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let left = self.left.fetch_add(left, Ordering::Relaxed) + left;
        left > few && left > rows / 2 && (next != Way::Python || ready()) && self.turn(taken, next)
    }

    /// Takes another way, if nobody else has.
    fn turn(&self, from: Way, to: Way) -> bool {
        let turned = self.way.compare_exchange(from as u8, to as u8, Ordering::Relaxed, Ordering::Relaxed).is_ok();
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
