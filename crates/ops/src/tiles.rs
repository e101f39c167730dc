//! Work on one large array by several threads, a part of it at a time.
//!
//! Who runs a kernel says how many threads it may take ([`Cx::threads`]); one is enough as a rule, since queries run
//! in partitions, and more only where a function sees a whole column at once. The parts do not depend on how many
//! threads there are, so that results do not either.

use crate::cx::Cx;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Does so many pieces of work, in any order, by at most so many threads, this one among them.
pub fn each(threads: usize, pieces: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= pieces {
                return;
            }
            work(at);
        }
    };
    match helpers().filter(|_| threads.min(pieces) > 1) {
        Some(pool) => pool.in_place_scope(|scope| {
            for _ in 1..threads.min(pieces) {
                scope.spawn(|_| take());
            }
            take();
        }),
        None => take(),
    }
}

/// The sum of floats by halves: of those of at most so many as `fits` says the sum is `whole`'s, in several
/// threads; of others it is that of their halves, as `halves` cuts them.
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
    let sums: Vec<AtomicBits> = parts.iter().map(|_| AtomicBits::default()).collect();
    each(cx.threads(), parts.len(), |at| sums[at].store(whole(parts[at]).to_bits(), Ordering::Relaxed));
    let mut sums = sums.into_iter().map(|sum| f64::from_bits(sum.into_inner()));
    sum(items.len(), &halves, &mut sums)
}

type AtomicBits = std::sync::atomic::AtomicU64;

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
}
