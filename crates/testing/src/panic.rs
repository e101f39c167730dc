//! Panics of what is tested: caught, and told with their place.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From now on panics print nothing; [`catch`] tells of them.
pub fn silence() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload_as_str().unwrap_or("something");
        let place = info.location().map_or(String::new(), |place| format!(" at {}:{}", place.file(), place.line()));
        LAST.with(|last| *last.borrow_mut() = format!("{text}{place}"));
    }));
}

/// Calls `f`.
///
/// # Errors
/// The message of its panic, with the place if [`silence`] was called before.
pub fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|_| LAST.with(|last| format!("panics: {}", last.take())))
}
