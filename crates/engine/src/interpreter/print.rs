//! Where `print` goes.

use std::fmt;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Where functions that run in CPython print: what takes the text of a row once the row has
/// ended, or of a module once it was run. By default that is standard output.
///
/// It is called by the thread on which the function runs and must not call into Python.
#[derive(Clone, Default)]
pub struct PrintSink(Option<Arc<Print>>);

type Print = dyn Fn(&str) + Send + Sync;

impl PrintSink {
    /// The process's standard output.
    pub const STDOUT: PrintSink = PrintSink(None);

    /// A sink that calls `print`.
    pub fn new(print: impl Fn(&str) + Send + Sync + 'static) -> PrintSink {
        PrintSink(Some(Arc::new(print)))
    }

    /// Hands on what was printed.
    pub fn print(&self, text: &str) {
        // A sink that panics loses its text, not the query.
        let _ = catch_unwind(AssertUnwindSafe(|| match &self.0 {
            Some(print) => print(text),
            None => {
                let mut out = std::io::stdout().lock();
                // Nobody can be told that standard output is closed.
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
        }));
    }
}

impl fmt::Debug for PrintSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "PrintSink(…)" } else { "PrintSink::STDOUT" })
    }
}

// Two closures are the same sink if they are the same object.
impl PartialEq for PrintSink {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl Eq for PrintSink {}
