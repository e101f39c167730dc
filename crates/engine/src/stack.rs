//! A stack of a size that does not depend on the caller.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The stack on which statements and bodies are parsed and compiled: what recurses there goes
/// as deep as the user's text is nested. It is only reserved.
const STACK: usize = 1 << 30;

/// Runs work on a large stack, or on the caller's if there is no memory for one.
pub fn on_large_stack<R>(work: impl FnOnce() -> R) -> R {
    let mut work = Some(work);
    let run = || work.take().map(|work| work());
    let done = catch_unwind(AssertUnwindSafe(|| stacker::maybe_grow(STACK / 2, STACK, run)));
    match (done, work) {
        (Ok(Some(result)), _) => result,
        // A stack could not be had.
        (_, Some(work)) => work(),
        (Err(panic), None) => resume_unwind(panic),
        (Ok(None), None) => unreachable!("the work was taken and gave no result"),
    }
}
