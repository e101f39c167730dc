//! Requests, each on a thread of its own, which whoever asked may give up.
//!
//! Python ends recursion through C with an exception, but assumes the stack of a main
//! thread, 8 MiB; the engine's threads have 2, and running over them would end the process.
//! A thread for each request costs some microseconds a batch, and buys two more things. One
//! that is new to Python has a decimal context and thread-local values that no earlier request
//! has changed. And a single call into C, such as `time.sleep`, which nothing can break, need
//! not be waited for: a request that was to end and does not within [`GRACE`] is left to itself.
//! All that it uses is its own; its way to the engine is closed, and it ends with the call.

use crate::failure::Failure;
use crate::{memory, watch};
use exuvia_ir::interpreter::{Limits, Listener, Report, Run, Text, kind, step};
use pyo3::Python;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Bytes of stack: twice of what Python counts on, since code of ours is below.
const STACK: usize = 16 << 20;

/// How often whoever waits for a request looks at its flag and its deadline.
const PERIOD: Duration = Duration::from_millis(5);

/// How long a request may go on after it was told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// Requests that may run although nobody waits for them.
const MOST_LEFT: usize = 64;

/// Those that do.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// A thread's builder.
pub fn builder() -> Builder {
    Builder::new().name("exuvia-python".to_string()).stack_size(STACK)
}

/// What a request shares with whoever waits for it.
struct Desk {
    /// Asks the request to stop.
    stop: AtomicBool,
    /// Whoever waits; nobody any more once the request was left to itself.
    asker: Mutex<Option<Asker>>,
}

/// The functions of whoever waits.
struct Asker {
    listener: Listener,
    streams: Option<Streams>,
}

/// Those of [`Run`] through which batches come and go.
#[derive(Clone, Copy)]
pub struct Streams {
    context: *mut c_void,
    pull: unsafe extern "C" fn(*mut c_void, u32, *mut c_void, *mut c_void) -> u32,
    push: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> u32,
}

impl Streams {
    pub fn of(run: &Run) -> Streams {
        Streams { context: run.context, pull: run.pull, push: run.push }
    }
}

// SAFETY: by the interface's contract the functions may be called on any thread, one at a time,
// while their owner waits: the desk's lock sees to both.
unsafe impl Send for Asker {}

impl Desk {
    fn asker(&self) -> MutexGuard<'_, Option<Asker>> {
        self.asker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request as its thread sees it: what ends it, and whom it tells things.
pub struct Own {
    desk: Arc<Desk>,
    nanos: u64,
    memory: u64,
}

impl Own {
    /// What ends it; the flag lives as long as `self`.
    pub fn limits(&self) -> Limits {
        Limits { stop: (&raw const self.desk.stop).cast(), nanos: self.nanos, memory: self.memory }
    }

    /// Whom it tells things; usable as long as `self`.
    pub fn listener(&self) -> Listener {
        Listener { context: self.context(), report, print }
    }

    /// A run whose batches come and go through the desk; usable as long as `self`. It has no
    /// schemas and scalars, which were read.
    pub fn run(&self, batch_rows: u64, call_nanos: u64) -> Run {
        Run {
            inputs: std::ptr::null(),
            output: std::ptr::null(),
            scalars: std::ptr::null_mut(),
            scalars_schema: std::ptr::null(),
            batch_rows,
            call_nanos,
            limits: self.limits(),
            context: self.context(),
            pull,
            push,
        }
    }

    fn context(&self) -> *mut c_void {
        Arc::as_ptr(&self.desk).cast_mut().cast()
    }
}

/// Runs a request and waits for it, but no longer than [`GRACE`] after it was to end.
///
/// # Safety
/// The limits' flag, the listener and the streams are usable until this returns.
pub unsafe fn run<T: Send + 'static>(
    limits: &Limits,
    listener: &Listener,
    streams: Option<Streams>,
    request: impl FnOnce(&Own) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if LEFT.load(Ordering::Relaxed) >= MOST_LEFT {
        return Err(Failure::host(format!(
            "{MOST_LEFT} calls that were stopped have not ended and still run in this process"
        )));
    }
    if memory::exhausted() {
        return Err(Failure::host("Python's objects take all memory that they may (exuvia.python_memory)"));
    }
    let stop = limits.stop.cast::<AtomicBool>();
    // SAFETY: the caller's.
    let stop = (!stop.is_null()).then(|| unsafe { &*stop });
    let desk = Arc::new(Desk {
        stop: AtomicBool::new(stop.is_some_and(|stop| stop.load(Ordering::Relaxed))),
        asker: Mutex::new(Some(Asker { listener: *listener, streams })),
    });
    let (done, result) = sync_channel(1);
    let own = Own { desk: Arc::clone(&desk), nanos: limits.nanos, memory: limits.memory };
    let work = move || {
        let result =
            catch_unwind(AssertUnwindSafe(|| request(&own))).unwrap_or_else(|panic| Err(Failure::panicked(&*panic)));
        let unwanted = {
            // Under the lock, so that it is wanted or counted.
            let asker = own.desk.asker();
            match asker.is_some() {
                true => done.send(result).err().map(|unsent| unsent.0),
                false => {
                    LEFT.fetch_sub(1, Ordering::Relaxed);
                    Some(result)
                }
            }
        };
        if let Some(unwanted) = unwanted {
            Python::attach(|_| drop(unwanted));
        }
    };
    match builder().spawn(work) {
        Ok(_) => wait(&desk, limits.nanos, stop, &result),
        Err(error) => Err(Failure::host(format!("no thread for Python: {error}"))),
    }
}

fn wait<T>(
    desk: &Desk,
    nanos: u64,
    stop: Option<&AtomicBool>,
    result: &Receiver<Result<T, Failure>>,
) -> Result<T, Failure> {
    let begun = Instant::now();
    let deadline = if nanos == u64::MAX { None } else { begun.checked_add(Duration::from_nanos(nanos)) };
    // Since when it was to end.
    let mut due: Option<Instant> = None;
    loop {
        match result.recv_timeout(PERIOD) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::host("a request has ended without a result")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = Instant::now();
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped {
            desk.stop.store(true, Ordering::Relaxed);
        }
        let ended = match stopped {
            true => kind::INTERRUPTED,
            false if deadline.is_some_and(|deadline| now >= deadline) => kind::TIMED_OUT,
            false => watch::judge(&desk.stop),
        };
        if ended == 0 {
            due = None;
            continue;
        }
        if now.duration_since(*due.get_or_insert(now)) < GRACE {
            continue;
        }
        let mut asker = match desk.asker.try_lock() {
            Ok(asker) => asker,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // It waits for the engine, and ends when that answers.
            Err(TryLockError::WouldBlock) => continue,
        };
        if let Ok(result) = result.try_recv() {
            return result;
        }
        *asker = None;
        desk.stop.store(true, Ordering::Relaxed);
        LEFT.fetch_add(1, Ordering::Relaxed);
        return Err(Failure::ended(ended));
    }
}

/// Failures are returned, not reported.
unsafe extern "C" fn report(_context: *mut c_void, _report: *const Report) {}

unsafe extern "C" fn print(context: *mut c_void, text: Text) {
    // SAFETY: the context is the desk of a request that still runs.
    let desk = unsafe { &*context.cast::<Desk>() };
    if let Some(Asker { listener, .. }) = &*desk.asker() {
        // SAFETY: whoever asked waits, by the contract of `run`.
        unsafe { (listener.print)(listener.context, text) };
    }
}

unsafe extern "C" fn pull(context: *mut c_void, input: u32, array: *mut c_void, schema: *mut c_void) -> u32 {
    // SAFETY: as for `print`.
    let desk = unsafe { &*context.cast::<Desk>() };
    match &*desk.asker() {
        // SAFETY: whoever asked waits, by the contract of `run`; the places are the caller's.
        Some(Asker { streams: Some(streams), .. }) => unsafe { (streams.pull)(streams.context, input, array, schema) },
        _ => step::STOP,
    }
}

unsafe extern "C" fn push(context: *mut c_void, array: *mut c_void, schema: *mut c_void) -> u32 {
    // SAFETY: as for `print`.
    let desk = unsafe { &*context.cast::<Desk>() };
    match &*desk.asker() {
        // SAFETY: as for `pull`.
        Some(Asker { streams: Some(streams), .. }) => unsafe { (streams.push)(streams.context, array, schema) },
        _ => step::STOP,
    }
}
