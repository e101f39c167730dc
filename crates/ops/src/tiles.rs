//! Work on one large array by several threads, a part of it at a time.
//!
//! Who runs a kernel says how many threads it may take ([`Cx::threads`]); one is enough as a rule, since queries run
//! in partitions, and more only where a function sees a whole column at once. The parts do not depend on how many
//! threads there are, so that results do not either.

use crate::cx::Cx;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// The fewest elements of which a part is worth a thread: some 20 microseconds of cheap work.
pub const PART: usize = 1 << 15;

/// The threads that help, one fewer than the machine has: who asks works as well.
fn helpers() -> Option<&'static rayon::ThreadPool> {
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let made = POOL.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let builder = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("exuvia-tiles-{at}"));
        // Without threads the caller does all of it.
        builder.num_threads(cores.max(2) - 1).build().ok()
    });
    made.as_ref()
}

/// Pieces of work that a caller waits for, and threads that may take some.
struct Job {
    next: AtomicUsize,
    pieces: usize,
    /// What a piece is: borrowed from the caller, for as long as a helper is counted in `state`.
    work: *const (dyn Fn(usize) + Sync),
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The caller wants no more help.
    closed: bool,
    /// Helpers that have begun and not ended.
    running: usize,
    panicked: bool,
}

// SAFETY: all but `work` is made to be shared; what that points to is `Sync`, and lives while it is used (`help`).
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes pieces until there are none.
    fn take(&self, work: &(dyn Fn(usize) + Sync)) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= self.pieces {
                return;
            }
            work(at);
        }
    }

    /// What a helper does when it comes to it: nothing, if the caller is gone by then.
    fn help(&self) {
        {
            let mut state = self.state();
            if state.closed {
                return;
            }
            state.running += 1;
        }
        // SAFETY: the caller is in `Job::end`, or before it, until this is no longer counted as running.
        let work = unsafe { &*self.work };
        let panicked = catch_unwind(AssertUnwindSafe(|| self.take(work))).is_err();
        let mut state = self.state();
        state.running -= 1;
        state.panicked |= panicked;
        self.changed.notify_all();
    }

    /// Waits for the helpers that have begun, and lets no other begin; whether one panicked.
    fn end(&self) -> bool {
        let mut state = self.state();
        state.closed = true;
        while state.running > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.panicked
    }
}

/// Does so many pieces of work, in any order, by at most so many threads, this one among them. It waits for no
/// thread that has not begun: where all are busy with another query's loop, this one does its own alone.
///
/// # Panics
/// Where a piece does.
pub fn each(threads: usize, pieces: usize, work: impl Fn(usize) + Sync) {
    let Some(pool) = helpers().filter(|_| threads.min(pieces) > 1) else {
        return (0..pieces).for_each(work);
    };
    let work: &(dyn Fn(usize) + Sync) = &work;
    // SAFETY: only the lifetime changes. `Job::help` uses it before `Job::end` returns, which the guard below calls
    // before this function ends in any way.
    let erased =
        unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(work) };
    let (next, state) = (AtomicUsize::new(0), Mutex::default());
    let job = Arc::new(Job { next, pieces, work: erased, state, changed: Condvar::new() });
    struct Ends<'j>(&'j Job);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            if self.0.end() && !std::thread::panicking() {
                panic!("a piece of work panicked in another thread");
            }
        }
    }
    let _ends = Ends(&job);
    for _ in 1..threads.min(pieces) {
        let job = Arc::clone(&job);
        pool.spawn(move || job.help());
    }
    job.take(work);
}

/// The sum of floats, which is that of their halves, as `halves` cuts them: by several threads where there are many,
/// each of which adds some as `whole` does.
pub(crate) fn sum_of_halves(
    cx: &Cx,
    items: &[f64],
    halves: impl Fn(usize) -> usize,
    whole: impl Fn(&[f64]) -> f64 + Sync,
) -> f64 {
    if cx.threads() < 2 || items.len() < 2 * PART {
        return whole(items);
    }
    // The leaves of a tree from left to right.
    fn leaves<'a>(items: &'a [f64], halves: &impl Fn(usize) -> usize, out: &mut Vec<&'a [f64]>) {
        if items.len() < 2 * PART {
            return out.push(items);
        }
        let (left, right) = items.split_at(halves(items.len()));
        leaves(left, halves, out);
        leaves(right, halves, out);
    }
    fn sum(len: usize, halves: &impl Fn(usize) -> usize, sums: &mut impl Iterator<Item = f64>) -> f64 {
        if len < 2 * PART {
            return sums.next().unwrap_or(0.0);
        }
        let left = halves(len);
        sum(left, halves, sums) + sum(len - left, halves, sums)
    }
    let mut parts = Vec::new();
    leaves(items, &halves, &mut parts);
    let sums: Vec<AtomicU64> = parts.iter().map(|_| AtomicU64::default()).collect();
    each(cx.threads(), parts.len(), |at| sums[at].store(whole(parts[at]).to_bits(), Ordering::Relaxed));
    let mut sums = sums.into_iter().map(|sum| f64::from_bits(sum.into_inner()));
    sum(items.len(), &halves, &mut sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn each_piece_is_done_once() {
        for threads in [1, 2, 7] {
            let done = Mutex::new(vec![0; 100]);
            each(threads, 100, |at| done.lock().unwrap()[at] += 1);
            assert_eq!(done.into_inner().unwrap(), vec![1; 100], "{threads}");
        }
        each(4, 0, |_| panic!("no piece"));
    }

    #[test]
    fn who_waits_does_not_wait_for_others() {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            // As many pieces as there are threads, none of which ends before the other job has.
            scope.spawn(|| {
                each(cores, cores, |_| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    while ended.load(Ordering::SeqCst) == 0 {
                        std::thread::yield_now();
                    }
                });
            });
            while begun.load(Ordering::SeqCst) < cores {
                std::thread::yield_now();
            }
            let done = AtomicUsize::new(0);
            each(cores, 10, |_| {
                done.fetch_add(1, Ordering::SeqCst);
            });
            assert_eq!(done.into_inner(), 10);
            ended.store(1, Ordering::SeqCst);
        });
    }

    #[test]
    fn a_panic_comes_to_the_caller() {
        for at_fault in [0, 99] {
            let tried = catch_unwind(AssertUnwindSafe(|| {
                each(3, 100, |at| {
                    std::thread::sleep(std::time::Duration::from_micros(50));
                    assert_ne!(at, at_fault);
                });
            }));
            assert!(tried.is_err());
        }
    }
}
