//! Python's exceptions: kinds with CPython's class hierarchy, and raised ones.

use crate::Object;

macro_rules! exceptions {
    ($($name:ident : $parent:ident = $code:literal),* $(,)?) => {
        /// A built-in exception class. The discriminant is the status code by which
        /// native code reports it; 0 is success.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        #[expect(missing_docs, reason = "each variant is the Python class of the same name")]
        pub enum ExcKind { $($name = $code),* }

        impl ExcKind {
            /// Every class, parents before children.
            pub const ALL: &'static [ExcKind] = &[$(ExcKind::$name),*];

            /// The name of the class.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(ExcKind::$name => stringify!($name)),* }
            }

            /// The base class; `BaseException` is its own.
            #[must_use]
            pub fn parent(self) -> ExcKind {
                match self { $(ExcKind::$name => ExcKind::$parent),* }
            }
        }
    };
}

exceptions! {
    BaseException: BaseException = 1,
    Exception: BaseException = 2,
    ArithmeticError: Exception = 3,
    OverflowError: ArithmeticError = 4,
    ZeroDivisionError: ArithmeticError = 5,
    FloatingPointError: ArithmeticError = 6,
    AssertionError: Exception = 7,
    AttributeError: Exception = 8,
    BufferError: Exception = 9,
    EOFError: Exception = 10,
    ImportError: Exception = 11,
    ModuleNotFoundError: ImportError = 12,
    LookupError: Exception = 13,
    IndexError: LookupError = 14,
    KeyError: LookupError = 15,
    MemoryError: Exception = 16,
    NameError: Exception = 17,
    UnboundLocalError: NameError = 18,
    OSError: Exception = 19,
    ReferenceError: Exception = 20,
    RuntimeError: Exception = 21,
    NotImplementedError: RuntimeError = 22,
    RecursionError: RuntimeError = 23,
    StopIteration: Exception = 24,
    SystemError: Exception = 25,
    TypeError: Exception = 26,
    ValueError: Exception = 27,
    UnicodeError: ValueError = 28,
    UnicodeEncodeError: UnicodeError = 35,
    UnicodeDecodeError: UnicodeError = 36,
    UnicodeTranslateError: UnicodeError = 37,
    KeyboardInterrupt: BaseException = 29,
    SystemExit: BaseException = 30,
    GeneratorExit: BaseException = 31,
    FileNotFoundError: OSError = 32,
    PermissionError: OSError = 33,
    TimeoutError: OSError = 34,
}

impl ExcKind {
    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ExcKind> {
        // `IOError` and `EnvironmentError` are aliases of `OSError` since Python 3.3.
        if matches!(name, "IOError" | "EnvironmentError") {
            return Some(ExcKind::OSError);
        }
        ExcKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether `on_error 'null'` covers it: an `Exception`, but not that memory ran out.
    #[must_use]
    pub fn becomes_null(self) -> bool {
        self.is_subclass(ExcKind::Exception) && self != ExcKind::MemoryError
    }

    /// The class with that status code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<ExcKind> {
        ExcKind::ALL.iter().copied().find(|kind| *kind as u32 == code)
    }

    /// Whether this class is `base` or derived from it.
    #[must_use]
    pub fn is_subclass(self, base: ExcKind) -> bool {
        let mut kind = self;
        loop {
            if kind == base {
                return true;
            }
            if kind == ExcKind::BaseException {
                return false;
            }
            kind = kind.parent();
        }
    }
}

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

    /// An exception with one message.
    #[must_use]
    pub fn new(kind: ExcKind, message: impl Into<String>) -> Raise {
        let message: String = message.into();
        Raise::Exception { kind, args: vec![Object::str(&message)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchy_and_codes() {
        assert!(ExcKind::KeyError.is_subclass(ExcKind::LookupError));
        assert!(!ExcKind::KeyboardInterrupt.is_subclass(ExcKind::Exception));
        for kind in ExcKind::ALL {
            assert_eq!(ExcKind::from_code(*kind as u32), Some(*kind));
            assert_eq!(ExcKind::from_name(kind.name()), Some(*kind));
        }
    }
}
