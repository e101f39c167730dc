//! What functions print, and what they warn of.
//!
//! `sys.stdout` becomes an object that writes to the listener of the request that runs on
//! the thread, a row at a time, so that the session decides where it goes. A thread that
//! the function started itself has no listener; it writes to standard error, where it cannot
//! get among results.

use exuvia_ir::interpreter::{Listener, Text};
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};
use std::cell::RefCell;
use std::io::Write as _;

/// Bytes at which the output of one row is handed over before the row ends.
const FULL: usize = 1 << 20;

thread_local! {
    static CURRENT: RefCell<Option<Output>> = const { RefCell::new(None) };
}

struct Output {
    listener: Listener,
    text: String,
}

/// While it lives, what this thread prints goes to the listener.
pub struct Printing {
    outer: Option<Output>,
}

impl Printing {
    /// Begins; a request within a request, as when a function prints while it defines
    /// another, has its own.
    pub fn begin(listener: &Listener) -> Printing {
        let output = Output { listener: *listener, text: String::new() };
        Printing { outer: CURRENT.with(|current| current.replace(Some(output))) }
    }

    /// Hands over what was printed since the last time.
    #[inline]
    pub fn flush(&self) {
        CURRENT.with(|current| {
            if let Ok(mut current) = current.try_borrow_mut()
                && let Some(output) = current.as_mut()
                && !output.text.is_empty()
            {
                output.flush();
            }
        });
    }
}

impl Drop for Printing {
    fn drop(&mut self) {
        self.flush();
        CURRENT.with(|current| *current.borrow_mut() = self.outer.take());
    }
}

impl Output {
    fn flush(&mut self) {
        // SAFETY: the listener outlives the request by the interface's contract, and the
        // request outlives the `Printing` that keeps it here.
        unsafe { (self.listener.print)(self.listener.context, Text::from(self.text.as_str())) };
        self.text.clear();
    }
}

#[pyfunction]
fn write(text: &Bound<'_, PyString>) {
    let text = crate::failure::text(text);
    CURRENT.with(|current| match current.borrow_mut().as_mut() {
        Some(output) => {
            output.text.push_str(&text);
            if output.text.len() > FULL {
                output.flush();
            }
        }
        None => {
            // Nobody can be told that standard error is closed.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    });
}

/// Replaces `sys.stdout`.
pub fn install(py: Python<'_>) -> PyResult<()> {
    let module = PyModule::from_code(
        py,
        c"
import io
import warnings

def show_warnings(output):
    def showwarning(message, category, filename, lineno, file=None, line=None):
        if file is None:
            output.write(warnings.formatwarning(message, category, filename, lineno, line))
        else:
            file.write(warnings.formatwarning(message, category, filename, lineno, line))

    warnings.showwarning = showwarning

class Output(io.TextIOBase):
    encoding = 'utf-8'
    errors = 'backslashreplace'
    name = '<stdout>'
    mode = 'w'

    def __init__(self, write):
        self._write = write

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f'write() argument must be str, not {type(text).__name__}')
        self._write(text)
        return len(text)
",
        c"<exuvia>",
        c"exuvia_output",
    )?;
    let write = pyo3::wrap_pyfunction!(write, &module)?;
    let output = module.getattr("Output")?.call1((write,))?;
    module.getattr("show_warnings")?.call1((&output,))?;
    py.import("sys")?.setattr("stdout", output)
}
