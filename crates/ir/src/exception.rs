//! Why operations raise.

use crate::{ExcKind, Object};

/// Why an operation did not produce a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Raise {
    /// A Python exception. `args` are those of the exception object; native kernels
    /// leave them empty unless somebody will look (the evaluator does).
    Exception {
        /// The class.
        kind: ExcKind,
        /// The arguments of the exception object, usually one message.
        args: Vec<Object>,
    },
    /// The handler returned a value that the declared SQL type cannot hold; the text says
    /// which. Raised only while returning, so no handler can catch it.
    Result(String),
    /// This rung cannot produce CPython's answer for this row; a more general rung
    /// must. Never visible to Python code: no handler catches it.
    Bailout(&'static str),
    /// The query was cancelled or ran out of its time. No handler catches it.
    Interrupted,
}

impl Raise {
    /// The row needs more memory than this rung gives to one.
    pub const ROW_MEMORY: Raise = Raise::Bailout("memory limit of the row");

    /// [`Raise::ROW_MEMORY`], made where it is raised only: one that is made before and not needed is dropped, and
    /// that is a call.
    #[cold]
    #[must_use]
    pub fn row_memory() -> Raise {
        Raise::ROW_MEMORY
    }

    /// Why this rung cannot produce the answer; as [`Raise::row_memory`].
    #[cold]
    #[must_use]
    pub fn bailout(reason: &'static str) -> Raise {
        Raise::Bailout(reason)
    }

    /// An exception with one message.
    #[must_use]
    pub fn new(kind: ExcKind, message: impl Into<String>) -> Raise {
        let message: String = message.into();
        Raise::Exception { kind, args: vec![Object::str(&message)] }
    }
}
