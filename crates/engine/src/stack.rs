//! A stack of a size that does not depend on the caller.

use memmap2::MmapOptions;

/// The stack on which statements and bodies are parsed and compiled: what recurses there goes
/// as deep as the user's text is nested. It is only reserved. Where the process may not map so much,
/// it is one of the smaller ones.
const STACKS: [usize; 3] = [1 << 30, 256 << 20, 64 << 20];

/// Runs work on a large stack, or on the caller's if there is no memory for one.
///
/// DataFusion optimizes and starts a query where its caller polls it, by recursion over the operators: a program
/// that runs what others write does that here, and gives the threads of its runtime 64 MiB
/// (`thread_stack_size`), of which only what is used takes memory.
pub fn on_large_stack<R>(work: impl FnOnce() -> R) -> R {
    let [largest, ..] = STACKS;
    if stacker::remaining_stack().is_some_and(|left| left >= largest / 2) {
        return work();
    }
    // A stack that cannot be mapped would be a panic.
    let can_be_mapped = |size: &&usize| MmapOptions::new().len(**size).map_anon().is_ok();
    match STACKS.iter().find(can_be_mapped) {
        Some(size) => stacker::grow(*size, work),
        None => work(),
    }
}
