//! What was seen of the rows that leave a function's native code, and what follows from it.
//!
//! Ints of native code have 64 bits, which is what most functions need. Where most rows leave for
//! that, the function is compiled anew with 128 bits; where most leave that code too, or reach a
//! place that only CPython goes on from, CPython takes whole batches, if the session has one. From
//! time to time a batch tries native code again, since other rows may come.

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
    bailed: AtomicU64,
    left: AtomicU64,
    missed: AtomicU64,
    batches: AtomicU64,
}

/// How many rows of a batch left native code, and of how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exits {
    pub rows: usize,
    /// For a more general rung, which more bits may spare them.
    pub bailed: usize,
    /// For CPython.
    pub left: usize,
    /// For more memory than a row may have.
    pub missed: usize,
}

/// How many rows must have left for CPython: few rows say little.
const FEW: u64 = 200;

/// How many of those that needed too much memory are enough, since each has taken long.
const FEW_MISSED: u64 = 3;

impl Observed {
    fn taken(&self) -> Way {
        Way::ALL.get(usize::from(self.way.load(Ordering::Relaxed))).copied().unwrap_or(Way::Python)
    }

    /// Whether batches begin in native code whose ints have 64 bits.
    pub fn is_usual(&self) -> bool {
        self.taken() == Way::Words
    }

    /// The way for a batch.
    pub fn way(&self) -> Way {
        match self.taken() {
            Way::Python if self.batches.fetch_add(1, Ordering::Relaxed) % PROBE == PROBE - 1 => Way::Wide,
            taken => taken,
        }
    }

    /// Notes how many rows of a batch on that way left native code; gives whether there is a better
    /// way for them. CPython is one only if it is `ready`.
    pub fn note(&self, way: Way, exits: Exits, ready: impl FnOnce() -> bool) -> bool {
        let taken = self.taken();
        let Some((next, few)) = taken.beyond() else {
            // It was tried whether other rows have come.
            if way == Way::Wide && exits.bailed + exits.left + exits.missed <= exits.rows / 2 {
                self.turn(taken, Way::Wide);
            }
            return false;
        };
        let count = |counter: &AtomicU64, more: usize| counter.fetch_add(more as u64, Ordering::Relaxed) + more as u64;
        let rows = count(&self.rows, exits.rows);
        let bailed = count(&self.bailed, exits.bailed);
        let left = count(&self.left, exits.left);
        let missed = count(&self.missed, exits.missed);
        if (left > FEW || missed >= FEW_MISSED) && left + missed > rows / 2 {
            // CPython does those that left, and all of the next batch.
            if ready() {
                self.turn(taken, Way::Python);
            }
            return false;
        }
        bailed > few && bailed > rows / 2 && (next != Way::Python || ready()) && self.turn(taken, next)
    }

    /// Takes another way, if nobody else has.
    fn turn(&self, from: Way, to: Way) -> bool {
        let turned = self.way.compare_exchange(from as u8, to as u8, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if turned {
            for counter in [&self.rows, &self.bailed, &self.left, &self.missed] {
                counter.store(0, Ordering::Relaxed);
            }
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
        let bailed = |rows, bailed| Exits { rows, bailed, left: 0, missed: 0 };
        assert!(!observed.note(Way::Words, bailed(8192, 4000), || true));
        assert_eq!(observed.way(), Way::Words);
        assert!(observed.note(Way::Words, bailed(8192, 8000), || true));
        assert_eq!(observed.way(), Way::Wide);
        assert!(!observed.note(Way::Wide, bailed(500, 500), || true), "few rows say little");
        assert!(!observed.note(Way::Wide, bailed(8192, 8192), || false), "CPython must be started first");
        assert!(observed.note(Way::Wide, bailed(8192, 8192), || true));
        let ways: Vec<Way> = (0..16).map(|_| observed.way()).collect();
        assert_eq!(ways.iter().filter(|way| **way == Way::Wide).count(), 1);
        assert!(!observed.note(Way::Wide, bailed(8192, 8192), || true));
        assert_eq!(observed.way(), Way::Python);
        assert!(!observed.note(Way::Wide, bailed(8192, 10), || true));
        assert_eq!(observed.way(), Way::Wide);
    }

    #[test]
    fn rows_that_only_cpython_can_finish_go_there_at_once() {
        let observed = Observed::default();
        assert!(!observed.note(Way::Words, Exits { rows: 8192, bailed: 0, left: 8000, missed: 0 }, || false));
        assert_eq!(observed.way(), Way::Words, "CPython must be started first");
        let observed = Observed::default();
        assert!(!observed.note(Way::Words, Exits { rows: 8192, bailed: 100, left: 3000, missed: 0 }, || true));
        assert_eq!(observed.way(), Way::Words);
        assert!(!observed.note(Way::Words, Exits { rows: 8192, bailed: 0, left: 8000, missed: 0 }, || true));
        assert_eq!(observed.way(), Way::Python);
    }

    #[test]
    fn a_few_rows_that_need_too_much_memory_are_enough() {
        let observed = Observed::default();
        let missed = |rows, missed| Exits { rows, bailed: 0, left: 0, missed };
        assert!(!observed.note(Way::Words, missed(2, 2), || true));
        assert_eq!(observed.way(), Way::Words);
        assert!(!observed.note(Way::Words, missed(2, 1), || true));
        assert_eq!(observed.way(), Way::Python);
        let observed = Observed::default();
        assert!(!observed.note(Way::Words, missed(8192, 100), || true));
        assert_eq!(observed.way(), Way::Words);
    }
}
