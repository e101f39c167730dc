//! Whether a thread imports a module, where no exception may be raised in it from outside.
//!
//! Modules are shared by all requests of a process, and so are the locks that CPython's
//! `importlib` takes in Python code. An exception that arrives there, between a lock's
//! `acquire` and the `try` that releases it, leaves the lock to nobody, and every later import
//! waits for ever. One that arrives in a module's own code takes the module away from those who
//! wait for it, who then fail with a KeyError, and some (those of NumPy) cannot be imported a
//! second time. So an import goes on to its end, and its request ends behind it.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ffi::{c_int, c_long};

unsafe extern "C" {
    /// In the stable ABI since 3.10.
    fn PyGC_Disable() -> c_int;
    fn PyGC_Enable() -> c_int;
}

/// What a thread imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importing {
    /// It imports nothing.
    Nothing,
    /// It runs the code of a module that is being imported.
    Module,
    /// It is in `importlib` itself.
    Machinery,
}

/// How the files of `importlib`'s frames begin.
const MACHINERY: &str = "<frozen importlib";

/// Frames that are looked at; an import below more of them is not seen.
const MOST_FRAMES: usize = 10_000;

/// What the thread of that name imports. While the caller keeps the GIL that stays so.
pub fn importing(py: Python<'_>, thread: c_long) -> Importing {
    // What cannot be asked for, as under an audit hook that refuses it, keeps nobody from ending.
    innermost(py, thread).and_then(of_frames).unwrap_or(Importing::Nothing)
}

/// The thread's innermost frame; none where it runs no Python code.
fn innermost(py: Python<'_>, thread: c_long) -> PyResult<Option<Bound<'_, PyAny>>> {
    // Neither `import` nor interned names, which may both let other threads run.
    // SAFETY: the GIL is held; the result is borrowed from `sys`, or null without an exception.
    let frames = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PySys_GetObject(c"_current_frames".as_ptr())) };
    let Some(frames) = frames else { return Ok(None) };
    // Its keys are unsigned.
    let frame = frames.call0()?.call_method1("get", (thread.cast_unsigned(),))?;
    Ok((!frame.is_none()).then_some(frame))
}

fn of_frames(innermost: Option<Bound<'_, PyAny>>) -> PyResult<Importing> {
    let mut frame = innermost;
    for depth in 0..MOST_FRAMES {
        let Some(this) = frame else { break };
        let file = this.getattr("f_code")?.getattr("co_filename")?;
        if file.cast::<PyString>()?.to_cow()?.starts_with(MACHINERY) {
            return Ok(if depth == 0 { Importing::Machinery } else { Importing::Module });
        }
        let back = this.getattr("f_back")?;
        frame = (!back.is_none()).then_some(back);
    }
    Ok(Importing::Nothing)
}

/// Does something without the finalizers that a collection of garbage runs, among which other
/// threads may run. The caller holds the GIL.
pub fn without_finalizers(work: impl FnOnce()) {
    // SAFETY: the GIL is held.
    let was_enabled = unsafe { PyGC_Disable() } != 0;
    work();
    if was_enabled {
        // SAFETY: as above.
        unsafe { PyGC_Enable() };
    }
}
