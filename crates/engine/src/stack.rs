//! A stack of a size that does not depend on the caller.

/// The stack on which statements and bodies are parsed and compiled: what recurses there goes
/// as deep as the user's text is nested. It is only reserved.
const STACK: usize = 1 << 30;

/// Runs work on a thread with a large stack, or here if there is no such thread.
pub fn on_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let slot = std::sync::Mutex::new(Some(work));
    let run = || slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take().map(|work| work());
    let done = std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        match spawned {
            Ok(handle) => match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(_) => None,
        }
    });
    match done {
        Some(result) => result,
        None => match slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(work) => work(),
            None => unreachable!("the work was taken by the thread, which gave its result"),
        },
    }
}
