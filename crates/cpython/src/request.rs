//! Threads with enough stack for Python.
//!
//! Python ends recursion through C with an exception, but assumes the stack of a main
//! thread, 8 MiB; the engine's threads have 2, and running over them would end the process.
//! So each request runs on a thread of its own. It costs some microseconds a batch, and
//! buys a second thing: a thread that is new to Python has a decimal context and
//! thread-local values that no earlier request has changed.

use crate::failure::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Builder;

/// Bytes of stack: twice of what Python counts on, since code of ours is below.
const STACK: usize = 16 << 20;

/// A thread's builder.
pub fn builder() -> Builder {
    Builder::new().name("exuvia-python".to_string()).stack_size(STACK)
}

/// Runs a request on a thread of its own and waits for it.
///
/// # Safety
/// What the request refers to may be used from another thread while this one waits.
pub unsafe fn run<T>(request: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let request = Waited(request);
    std::thread::scope(|scope| {
        let thread = builder().spawn_scoped(scope, move || {
            // The whole wrapper moves here, not only its content.
            let Waited(request) = { request };
            Waited(catch_unwind(AssertUnwindSafe(request)))
        });
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(Waited(Ok(result)))) => result,
            Ok(Ok(Waited(Err(panic))) | Err(panic)) => Err(Failure::panicked(&*panic)),
            Err(error) => Err(Failure::host(format!("no thread for Python: {error}"))),
        }
    })
}

/// What goes to the other thread and back, while its owner waits.
struct Waited<T>(T);

// SAFETY: the caller of `run` vouches for it.
unsafe impl<T> Send for Waited<T> {}
