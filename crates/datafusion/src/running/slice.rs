//! A short time for a call on a thread that should not be blocked.
//!
//! Calls poll a flag. For a slice of time it is a flag of the slice's own, which one thread
//! for the whole process sets when the time is over or the query was cancelled. To begin a
//! slice costs a lock and an allocation, and no system call while slices follow each other.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the flags are looked after.
const PERIOD: Duration = Duration::from_millis(5);

/// The periods without a slice after which the thread sleeps until there is one.
const IDLE_PERIODS: u32 = 40;

/// A slice of time; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Slice(Arc<Entry>);

#[derive(Debug)]
struct Entry {
    /// What the call polls.
    flag: Arc<AtomicBool>,
    /// Set when the query is cancelled.
    cancelled: Arc<AtomicBool>,
    end: Instant,
    done: AtomicBool,
}

#[derive(Debug)]
struct Watched {
    entries: Vec<Arc<Entry>>,
    thread: Thread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    NotStarted,
    Awake,
    Asleep,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched { entries: Vec::new(), thread: Thread::NotStarted });
static WAKE: Condvar = Condvar::new();

impl Slice {
    /// Begins a slice of `time`, which also ends when `cancelled` is set.
    pub(crate) fn start(time: Duration, cancelled: Arc<AtomicBool>) -> Slice {
        let flag = Arc::new(AtomicBool::new(cancelled.load(Ordering::Relaxed)));
        let entry = Arc::new(Entry { flag, cancelled, end: Instant::now() + time, done: AtomicBool::new(false) });
        let mut watched = WATCHED.lock();
        watched.entries.push(Arc::clone(&entry));
        match watched.thread {
            Thread::Awake => {}
            Thread::Asleep => {
                watched.thread = Thread::Awake;
                WAKE.notify_one();
            }
            Thread::NotStarted => {
                // Without the thread slices do not end by themselves, and a long call
                // blocks its worker as any function of DataFusion's does.
                let spawned = std::thread::Builder::new().name("exuvia-slices".to_string()).spawn(watch);
                if spawned.is_ok() {
                    watched.thread = Thread::Awake;
                }
            }
        }
        Slice(entry)
    }

    /// The flag that is set when the slice is over.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.flag)
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        self.0.done.store(true, Ordering::Relaxed);
    }
}

/// Sets the flags of slices that are over, for ever.
fn watch() {
    let mut idle = 0;
    loop {
        std::thread::sleep(PERIOD);
        let mut watched = WATCHED.lock();
        let now = Instant::now();
        watched.entries.retain(|entry| {
            if entry.done.load(Ordering::Relaxed) {
                return false;
            }
            let over = now >= entry.end || entry.cancelled.load(Ordering::Relaxed);
            if over {
                entry.flag.store(true, Ordering::Relaxed);
            }
            !over
        });
        idle = if watched.entries.is_empty() { idle + 1 } else { 0 };
        if idle >= IDLE_PERIODS {
            watched.thread = Thread::Asleep;
            while watched.thread == Thread::Asleep {
                WAKE.wait(&mut watched);
            }
            idle = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_ends_by_time_and_by_cancellation() {
        let over = |flag: &AtomicBool, within: Duration| {
            let start = Instant::now();
            while start.elapsed() < within {
                if flag.load(Ordering::Relaxed) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            false
        };
        let slice = Slice::start(Duration::from_millis(10), Arc::default());
        assert!(over(&slice.flag(), Duration::from_secs(10)));
        let cancelled = Arc::new(AtomicBool::new(false));
        let slice = Slice::start(Duration::from_secs(3600), Arc::clone(&cancelled));
        assert!(!over(&slice.flag(), Duration::from_millis(30)));
        cancelled.store(true, Ordering::Relaxed);
        assert!(over(&slice.flag(), Duration::from_secs(10)));
        // Also after the thread slept.
        std::thread::sleep(PERIOD * (IDLE_PERIODS + 20));
        let slice = Slice::start(Duration::from_millis(10), Arc::default());
        assert!(over(&slice.flag(), Duration::from_secs(10)));
    }
}
