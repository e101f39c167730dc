//! Objects of classes of the standard library, as records of fields, and compiled patterns.
//!
//! What the methods of a class do is written in Python (the prelude of `exuvia-ops`), with the
//! fields as its only access to the object. A record never changes.

use crate::{Class, Object};
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// An object of a [`Class`].
#[derive(Debug, PartialEq)]
pub struct RecordObj {
    /// Its class.
    pub class: Class,
    /// Its fields.
    pub fields: Vec<Object>,
}

/// Objects that hold others of their kind may be a chain of any length, which is not dropped by recursion.
impl Drop for RecordObj {
    fn drop(&mut self) {
        thread_local! {
            /// What is still to be dropped, while something is.
            static PENDING: RefCell<Option<Vec<Object>>> = const { RefCell::new(None) };
        }
        if !self.class.is_boxed() || !self.fields.iter().any(Object::is_container) {
            return;
        }
        let mut fields = std::mem::take(&mut self.fields);
        // Where a thread ends there is no room any more.
        let is_first = PENDING.try_with(|pending| match &mut *pending.borrow_mut() {
            Some(pending) => {
                pending.append(&mut fields);
                false
            }
            none => {
                *none = Some(Vec::new());
                true
            }
        });
        if is_first != Ok(true) {
            return;
        }
        loop {
            drop(fields);
            let more = PENDING.try_with(|pending| pending.borrow_mut().as_mut().map(std::mem::take));
            fields = more.ok().flatten().unwrap_or_default();
            if fields.is_empty() {
                break;
            }
        }
        let _ = PENDING.try_with(|pending| *pending.borrow_mut() = None);
    }
}

/// A pattern of `re`: its source and its flags, and whatever the operations need to match it,
/// which they make when they first do.
///
/// Two patterns are the same if source and flags are.
pub struct Pattern {
    /// The source.
    pub source: Arc<str>,
    /// The flags that `re.compile` was given.
    pub flags: u32,
    engine: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Pattern {
    /// The pattern that `re.compile(source, flags)` gives.
    #[must_use]
    pub fn new(source: Arc<str>, flags: u32) -> Pattern {
        Pattern { source, flags, engine: OnceLock::new() }
    }

    /// What matches it, made by the first call; `None` if that was of another type.
    pub fn engine<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Pattern) -> T) -> Option<&T> {
        self.engine.get_or_init(|| Box::new(make(self))).downcast_ref()
    }

    fn key(&self) -> (&str, u32) {
        (&self.source, self.flags)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?}, {})", self.source, self.flags)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Pattern {}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Pattern) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pattern {
    fn cmp(&self, other: &Pattern) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Pattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
