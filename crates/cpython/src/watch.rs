//! Ends Python code that runs for too long or that nobody waits for any more.
//!
//! A thread looks at the running requests every few milliseconds. For one whose stop flag
//! is set or whose time is over it notes why, which the row loop sees between rows, and
//! raises an exception in the request's thread, which ends a loop within one row. That
//! exception is no `Exception`, so `except Exception` does not keep it; a bare `except:`
//! may, so it is raised again and again. A single call into C, such as `time.sleep`,
//! cannot be broken this way: whoever asked goes on without it ([`crate::request`]).
//! Neither is an import broken, which other requests may wait for ([`crate::imports`]).

use crate::imports::{self, Importing};
use exuvia_ir::interpreter::{Limits, kind};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{create_exception, ffi};
use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often the running requests are looked at.
const PERIOD: Duration = Duration::from_millis(5);

/// How long a module that is being imported may go on after its request was to end. What takes
/// longer most likely never ends.
const IMPORT_TIME: Duration = Duration::from_secs(10);

create_exception!(exuvia, Interrupt, PyBaseException, "The query was cancelled or its time is over.");

static WATCHES: Mutex<Vec<Arc<Watched>>> = Mutex::new(Vec::new());
static WAKE: Condvar = Condvar::new();

struct Watched {
    /// Python's name of the request's thread.
    thread: c_long,
    stop: Option<Flag>,
    deadline: Option<Instant>,
    /// The time that each call within the request may take, and what the current one has taken.
    call: Option<Duration>,
    clock: Mutex<Clock>,
    /// A [`kind`] once the request must end, else 0.
    ended: AtomicU32,
    /// Since when it must.
    due: OnceLock<Instant>,
}

/// The time of a call, without that in which it waits for the engine.
#[derive(Default)]
struct Clock {
    used: Duration,
    since: Option<Instant>,
}

impl Clock {
    fn taken(&self) -> Duration {
        self.used + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

struct Flag(*const AtomicBool);

// SAFETY: the flag is only read, atomically; it lives while the request runs, and a
// request is taken off the list, under the list's lock, before it returns.
unsafe impl Send for Flag {}
// SAFETY: as above.
unsafe impl Sync for Flag {}

impl Watched {
    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self) -> u32 {
        // SAFETY: see `Flag`.
        if self.stop.as_ref().is_some_and(|flag| unsafe { (*flag.0).load(Ordering::Relaxed) }) {
            kind::INTERRUPTED
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.call.is_some_and(|limit| self.clock().taken() >= limit)
        {
            kind::TIMED_OUT
        } else {
            0
        }
    }

    /// Whether an exception may be raised in the thread, which stays so while the GIL is held.
    fn may_raise(&self, py: Python<'_>) -> bool {
        match imports::importing(py, self.thread) {
            Importing::Nothing => true,
            Importing::Module => self.due.get().is_some_and(|due| due.elapsed() > IMPORT_TIME),
            Importing::Machinery => false,
        }
    }

    /// Raises an exception in the thread, unless it must not be or the request has ended.
    fn interrupt(self: &Arc<Watched>, py: Python<'_>) {
        let interrupt = class(py);
        imports::without_finalizers(|| {
            if self.may_raise(py) && list().iter().any(|other| Arc::ptr_eq(other, self)) {
                // SAFETY: the GIL is held; a thread that is gone is not found, which is no error.
                unsafe { ffi::PyThreadState_SetAsyncExc(self.thread, interrupt.as_ptr()) };
            }
        });
    }
}

/// A request under watch, until it is dropped.
pub struct Watch {
    watched: Arc<Watched>,
}

impl Watch {
    /// Puts the request that runs on this thread, which holds the GIL, under watch.
    ///
    /// # Safety
    /// The limits' flag outlives the watch.
    pub unsafe fn begin(py: Python<'_>, limits: &Limits) -> Watch {
        // SAFETY: the caller's.
        unsafe { Watch::begin_calls(py, limits, u64::MAX) }
    }

    /// As [`Watch::begin`], for a request of several calls, each of which may take so many
    /// nanoseconds; `u64::MAX` without limit.
    ///
    /// # Safety
    /// As for [`Watch::begin`].
    pub unsafe fn begin_calls(py: Python<'_>, limits: &Limits, call_nanos: u64) -> Watch {
        crate::memory::allow(limits.memory);
        let stop = limits.stop.cast::<AtomicBool>();
        let _attached = py;
        let watched = Arc::new(Watched {
            // SAFETY: it has no preconditions.
            thread: unsafe { ffi::PyThread_get_thread_ident() } as c_long,
            stop: (!stop.is_null()).then_some(Flag(stop)),
            deadline: match limits.nanos {
                u64::MAX => None,
                nanos => Instant::now().checked_add(Duration::from_nanos(nanos)),
            },
            call: (call_nanos != u64::MAX).then(|| Duration::from_nanos(call_nanos)),
            clock: Mutex::default(),
            ended: AtomicU32::new(0),
            due: OnceLock::new(),
        });
        // Whatever ended before it began runs no row.
        watched.ended.store(watched.judge(), Ordering::Relaxed);
        if watched.stop.is_some() || watched.deadline.is_some() || watched.call.is_some() {
            list().push(watched.clone());
            WAKE.notify_one();
        }
        Watch { watched }
    }

    /// A call begins.
    pub fn call(&self) {
        if self.watched.call.is_some() {
            *self.watched.clock() = Clock { used: Duration::ZERO, since: Some(Instant::now()) };
        }
    }

    /// The call waits for the engine.
    pub fn pause(&self) {
        if self.watched.call.is_some() {
            let mut clock = self.watched.clock();
            *clock = Clock { used: clock.taken(), since: None };
        }
    }

    /// The call goes on.
    pub fn resume(&self) {
        if self.watched.call.is_some() {
            self.watched.clock().since = Some(Instant::now());
        }
    }

    /// Why the request must end: a [`kind`], or 0.
    #[inline]
    pub fn ended(&self) -> u32 {
        match self.watched.ended.load(Ordering::Relaxed) {
            // The flag itself is as cheap to read, and milliseconds fresher.
            0 => match &self.watched.stop {
                // SAFETY: see `Flag`.
                Some(flag) if unsafe { (*flag.0).load(Ordering::Relaxed) } => kind::INTERRUPTED,
                Some(_) | None => 0,
            },
            ended => ended,
        }
    }

    /// As [`Watch::ended`], by the clock instead of the watching thread, which a call into C
    /// may have kept waiting.
    pub fn judge(&self) -> u32 {
        self.watched.judge()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        list().retain(|other| !Arc::ptr_eq(other, &self.watched));
        if self.watched.ended.load(Ordering::Relaxed) != 0 {
            // An exception that is still on its way would hit whatever runs next here.
            // SAFETY: a watch lives while its thread holds the GIL.
            unsafe { ffi::PyThreadState_SetAsyncExc(self.watched.thread, std::ptr::null_mut()) };
        }
    }
}

/// Why the request with this flag must end: a [`kind`], or 0.
pub fn judge(stop: &AtomicBool) -> u32 {
    let is_its = |watched: &&Arc<Watched>| watched.stop.as_ref().is_some_and(|flag| std::ptr::eq(flag.0, stop));
    list().iter().find(is_its).map_or(0, |watched| watched.judge())
}

fn list() -> MutexGuard<'static, Vec<Arc<Watched>>> {
    WATCHES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches for ever, on a thread of its own that does not hold the GIL.
pub fn run() -> ! {
    loop {
        let due: Vec<Arc<Watched>> = {
            let mut watches = list();
            while watches.is_empty() {
                watches = WAKE.wait(watches).unwrap_or_else(PoisonError::into_inner);
            }
            watches.iter().filter(|watched| watched.judge() != 0).cloned().collect()
        };
        for watched in &due {
            watched.ended.store(watched.judge(), Ordering::Relaxed);
            watched.due.get_or_init(Instant::now);
        }
        if !due.is_empty() {
            // The order of locks is the GIL, then the list, here and in `Watch`.
            Python::attach(|py| due.iter().for_each(|watched| watched.interrupt(py)));
        }
        std::thread::sleep(PERIOD);
    }
}

fn class(py: Python<'_>) -> &Bound<'_, PyAny> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.get_or_init(py, || py.get_type::<Interrupt>().into_any().unbind()).bind(py)
}
