//! Objects of classes of the standard library, as records of fields, and compiled patterns.
//!
//! What the methods of a class do is written in Python (the prelude of `exuvia-ops`), with the
//! fields as its only access to the object. A record never changes.

use crate::Object;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// A class whose objects are records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// `re.Match`: the pattern, the text that was searched, a list of byte offsets, and where in
    /// it those of this match begin: start and end of the whole match, then of each group, -1
    /// for a group that took no part.
    Match,
    /// `re.RegexFlag`: its bits.
    RegexFlag,
    /// `datetime.date`: days since 1970-01-01, of [`crate::calendar::DAYS`].
    Date,
    /// `bytes`: a text of the characters U+0000 to U+00FF, one for each byte.
    Bytes,
    /// `datetime.timedelta`: days, seconds of a day, microseconds of a second.
    Timedelta,
    /// `datetime.datetime` without a zone: microseconds since 1970-01-01, on a day of
    /// [`crate::calendar::DAYS`].
    Datetime,
    /// `datetime.time` without a zone: microseconds since midnight.
    Time,
    /// A class written in Python, as objects of it are laid out: the number of a shape. What its
    /// fields hold may be lists, which code may change.
    Object(u32),
}

impl Class {
    /// Every class of the standard library.
    pub const ALL: [Class; 7] =
        [Class::Bytes, Class::Match, Class::RegexFlag, Class::Date, Class::Timedelta, Class::Datetime, Class::Time];

    /// The name, as `type(x).__name__` gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let path = self.path();
        path.rsplit_once('.').map_or(path, |(_, name)| name)
    }

    /// The name with the module where the class is not built in: that of the file of the prelude
    /// that holds its methods.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Class::Bytes => "bytes",
            Class::Match => "re.Match",
            Class::RegexFlag => "re.RegexFlag",
            Class::Date => "datetime.date",
            Class::Timedelta => "datetime.timedelta",
            Class::Datetime => "datetime.datetime",
            Class::Time => "datetime.time",
            Class::Object(_) => "object",
        }
    }

    /// Whether its objects are values: they have a hash, are equal to those of the class alone
    /// whose fields are equal, so constant dicts and sets hold them, and all stages know their
    /// `repr`.
    #[must_use]
    pub fn is_value(self) -> bool {
        matches!(self, Class::Bytes | Class::Date | Class::Timedelta | Class::Datetime | Class::Time)
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Class> {
        if let Some(shape) = name.strip_prefix("object") {
            return shape.parse().ok().map(Class::Object);
        }
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Object(shape) => write!(f, "object{shape}"),
            other => f.write_str(other.name()),
        }
    }
}

/// An object of a [`Class`].
#[derive(Debug, PartialEq)]
pub struct RecordObj {
    /// Its class.
    pub class: Class,
    /// Its fields.
    pub fields: Vec<Object>,
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
