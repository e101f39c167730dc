//! The classes of CPython's own: one table with a row for each.

use crate::types::Type;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// A row of the table: a class of CPython's own.
#[derive(Debug)]
pub struct ClassRow {
    /// Its name, with the module where it is not built in: that of the file of the prelude that
    /// holds its methods.
    pub path: &'static str,
    /// The paths of the classes above it besides `object`, those that it is only registered with
    /// (`numbers.Integral` for `int`) among them.
    bases: &'static [&'static str],
    /// Whether it is a built-in class of plain values: a pattern with one argument binds an object of
    /// it as a whole (PEP 634), and calling it only looks at its arguments, or copies them.
    pub plain: bool,
    /// What its objects are.
    pub objects: Objects,
}

/// What the objects of a class are while a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Values of a type of their own.
    Typed,
    /// Records of fields.
    Record(Class),
    /// Exceptions.
    Exception(ExcKind),
    /// There are none: a class above others, or one whose objects nothing that is lifted makes.
    None,
}

/// Whether a row says something of its class.
macro_rules! is_said {
    () => {
        false
    };
    (plain) => {
        true
    };
}

macro_rules! classes {
    (
        typed: { $($typed:literal: $typed_bases:expr $(=> $typed_plain:ident)?),* $(,)? }
        records: { $(
            $(#[doc = $doc:literal])*
            $record:ident: $record_path:literal, $record_bases:expr $(=> $record_plain:ident)?, value: $value:literal;
        )* }
        exceptions: { $($exception:ident: $parent:ident = $code:literal),* $(,)? }
        none: { $($none:literal: $none_bases:expr $(=> $none_plain:ident)?),* $(,)? }
    ) => {
        /// A class whose objects are records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class {
            $($(#[doc = $doc])* $record,)*
            /// A class written in Python, as objects of it are laid out: the number of a shape. What
            /// its fields hold may be lists, which code may change.
            Object(u32),
            /// Lists that may hold others: a list in a box ([`crate::Opcode::Box`]).
            List,
            /// Tuples of so many items that may hold others of that length, in boxes.
            Tuple(u32),
        }

        impl Class {
            /// Every class of the standard library.
            pub const ALL: &'static [Class] = &[$(Class::$record),*];

            /// The name with the module where the class is not built in: that of the file of the
            /// prelude that holds its methods.
            #[must_use]
            pub fn path(self) -> &'static str {
                match self {
                    $(Class::$record => $record_path,)*
                    Class::Object(_) => "object",
                    Class::List => "list",
                    Class::Tuple(_) => "tuple",
                }
            }

            /// Whether its objects are values: they have a hash, are equal to those of the class
            /// alone whose fields are equal, so constant dicts and sets hold them, and all stages
            /// know their `repr`.
            #[must_use]
            pub fn is_value(self) -> bool {
                match self {
                    $(Class::$record => $value,)*
                    Class::Object(_) | Class::List | Class::Tuple(_) => false,
                }
            }
        }

        /// A built-in exception class. The discriminant is the status code by which
        /// native code reports it; 0 is success.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        #[expect(missing_docs, reason = "each variant is the Python class of the same name")]
        pub enum ExcKind { $($exception = $code),* }

        impl ExcKind {
            /// Every class, parents before children.
            pub const ALL: &'static [ExcKind] = &[$(ExcKind::$exception),*];

            /// The name of the class.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(ExcKind::$exception => stringify!($exception)),* }
            }

            /// The base class; `BaseException` is its own.
            #[must_use]
            pub fn parent(self) -> ExcKind {
                match self { $(ExcKind::$exception => ExcKind::$parent),* }
            }
        }

        const ROWS: &[ClassRow] = &[
            $(ClassRow { path: $typed, bases: &$typed_bases, plain: is_said!($($typed_plain)?), objects: Objects::Typed },)*
            $(ClassRow {
                path: $record_path,
                bases: &$record_bases,
                plain: is_said!($($record_plain)?),
                objects: Objects::Record(Class::$record),
            },)*
            $(ClassRow {
                path: stringify!($exception),
                bases: &[stringify!($parent)],
                plain: false,
                objects: Objects::Exception(ExcKind::$exception),
            },)*
            $(ClassRow { path: $none, bases: &$none_bases, plain: is_said!($($none_plain)?), objects: Objects::None },)*
        ];
    };
}

classes! {
    typed: {
        "object": [],
        "NoneType": [],
        "bool": ["int"] => plain,
        "int": ["numbers.Integral"] => plain,
        "float": ["numbers.Real"] => plain,
        "str": ["collections.abc.Sequence"] => plain,
        "tuple": ["collections.abc.Sequence"] => plain,
        "list": ["collections.abc.MutableSequence"] => plain,
        "dict": ["collections.abc.MutableMapping"] => plain,
        "set": ["collections.abc.MutableSet"] => plain,
        "frozenset": ["collections.abc.Set"] => plain,
        "re.Pattern": [],
    }
    records: {
        /// A text of the characters U+0000 to U+00FF, one for each byte.
        Bytes: "bytes", ["collections.abc.Sequence"] => plain, value: true;
        /// The pattern, the text that was searched, a list of byte offsets, and where in it those
        /// of this match begin: start and end of the whole match, then of each group, -1 for a
        /// group that took no part.
        Match: "re.Match", [], value: false;
        /// Its bits.
        RegexFlag: "re.RegexFlag", ["int"], value: false;
        /// Days since 1970-01-01, of [`crate::calendar::DAYS`].
        Date: "datetime.date", [], value: true;
        /// Days, seconds of a day, microseconds of a second.
        Timedelta: "datetime.timedelta", [], value: true;
        /// Without a zone: microseconds since 1970-01-01, on a day of [`crate::calendar::DAYS`].
        Datetime: "datetime.datetime", ["datetime.date"], value: true;
        /// Without a zone: microseconds since midnight.
        Time: "datetime.time", [], value: true;
        /// A dict that `json.loads` made: its keys, each with the text of its value behind it.
        JsonObject: "json.dict", ["dict"], value: false;
        /// A list that `json.loads` made: the texts of its items.
        JsonArray: "json.list", ["list"], value: false;
    }
    exceptions: {
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
        JSONDecodeError: ValueError = 38,
        StatisticsError: ValueError = 39,
        Error: ValueError = 50,
        KeyboardInterrupt: BaseException = 29,
        SystemExit: BaseException = 30,
        GeneratorExit: BaseException = 31,
        FileNotFoundError: OSError = 32,
        PermissionError: OSError = 33,
        TimeoutError: OSError = 34,
        DecimalException: ArithmeticError = 40,
        InvalidOperation: DecimalException = 41,
        SyntaxError: Exception = 42,
        Warning: Exception = 43,
        UserWarning: Warning = 44,
        RuntimeWarning: Warning = 45,
        DeprecationWarning: Warning = 46,
        FutureWarning: Warning = 47,
        ConnectionError: OSError = 48,
        FileExistsError: OSError = 49,
    }
    none: {
        "complex": ["numbers.Complex"],
        "bytearray": ["collections.abc.MutableSequence"] => plain,
        "memoryview": ["collections.abc.Sequence"],
        "numbers.Number": [],
        "numbers.Complex": ["numbers.Number"],
        "numbers.Real": ["numbers.Complex"],
        "numbers.Rational": ["numbers.Real"],
        "numbers.Integral": ["numbers.Rational"],
        "collections.abc.Sequence": [],
        "collections.abc.MutableSequence": ["collections.abc.Sequence"],
        "collections.abc.Mapping": [],
        "collections.abc.MutableMapping": ["collections.abc.Mapping"],
        "collections.abc.Set": [],
        "collections.abc.MutableSet": ["collections.abc.Set"],
        "fractions.Fraction": ["numbers.Rational"],
        "uuid.UUID": [],
    }
}

impl ClassRow {
    /// The class that a program calls so.
    #[must_use]
    pub fn spelled(path: &str) -> Option<&'static ClassRow> {
        let path = if path == "types.NoneType" { "NoneType" } else { path };
        // `IOError` and `EnvironmentError` are aliases of `OSError` since Python 3.3.
        let path = if matches!(path, "IOError" | "EnvironmentError") { "OSError" } else { path };
        static BY_PATH: LazyLock<HashMap<&str, &ClassRow>> = LazyLock::new(|| by(ROWS.iter(), |row| row.path));
        BY_PATH.get(path).copied()
    }

    /// The class whose `__name__` that is, of those that have objects.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static ClassRow> {
        static BY_NAME: LazyLock<HashMap<&str, &ClassRow>> =
            LazyLock::new(|| by(ROWS.iter().filter(|row| row.objects != Objects::None), ClassRow::name));
        BY_NAME.get(name).copied()
    }

    /// The class of the values of a type.
    #[must_use]
    pub fn of_type(ty: &Type) -> Option<&'static ClassRow> {
        ClassRow::spelled(ty.path())
    }

    /// The class of exceptions.
    #[must_use]
    pub fn of_exception(kind: ExcKind) -> Option<&'static ClassRow> {
        ROWS.iter().find(|row| row.objects == Objects::Exception(kind))
    }

    /// `__name__`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        last(self.path)
    }

    /// What a program calls it.
    #[must_use]
    pub fn spelling(&self) -> &'static str {
        if self.path == "NoneType" { "types.NoneType" } else { self.path }
    }

    /// Whether it is the class above all.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.path == "object"
    }

    /// Whether every module sees it by its name, and it is no exception.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        !self.spelling().contains('.') && !matches!(self.objects, Objects::Exception(_))
    }

    /// Whether its objects are sequences (`collections.abc.Sequence`).
    #[must_use]
    pub fn is_sequence(&self) -> bool {
        ClassRow::spelled("collections.abc.Sequence").is_some_and(|sequence| self.is_below(sequence))
    }

    /// Whether both are one class.
    #[must_use]
    pub fn is(&self, other: &ClassRow) -> bool {
        self.path == other.path
    }

    /// Whether it is another class or below it.
    #[must_use]
    pub fn is_below(&self, other: &ClassRow) -> bool {
        let above =
            |base: &&str| *self.path != **base && ClassRow::spelled(base).is_some_and(|row| row.is_below(other));
        self.is(other) || other.is_object() || self.bases.iter().any(above)
    }
}

/// Rows by a name of theirs, the first of those that share one.
fn by(
    rows: impl DoubleEndedIterator<Item = &'static ClassRow>,
    name: fn(&ClassRow) -> &'static str,
) -> HashMap<&'static str, &'static ClassRow> {
    rows.rev().map(|row| (name(row), row)).collect()
}

fn last(path: &'static str) -> &'static str {
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}

impl Class {
    /// The name, as `type(x).__name__` gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        last(self.path())
    }

    /// Whether objects of it may lie in boxes, and hold others that do.
    #[must_use]
    pub fn is_boxed(self) -> bool {
        matches!(self, Class::Object(_) | Class::List | Class::Tuple(_))
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Class> {
        if let Some(shape) = name.strip_prefix("object") {
            return shape.parse().ok().map(Class::Object);
        }
        if let Some(length) = name.strip_prefix("tuple") {
            return length.parse().ok().map(Class::Tuple);
        }
        if name == "list" {
            return Some(Class::List);
        }
        Class::ALL.iter().copied().find(|class| class.name() == name || class.path() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Object(shape) => write!(f, "object{shape}"),
            Class::Tuple(length) => write!(f, "tuple{length}"),
            other => f.write_str(other.name()),
        }
    }
}

impl ExcKind {
    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ExcKind> {
        match ClassRow::spelled(name)?.objects {
            Objects::Exception(kind) => Some(kind),
            _ => None,
        }
    }

    /// The module that has it; `None` for those that every module sees.
    #[must_use]
    pub fn module(self) -> Option<&'static str> {
        match self {
            ExcKind::JSONDecodeError => Some("json"),
            ExcKind::StatisticsError => Some("statistics"),
            ExcKind::Error => Some("binascii"),
            ExcKind::DecimalException | ExcKind::InvalidOperation => Some("decimal"),
            _ => None,
        }
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

    #[test]
    fn every_base_has_a_row() {
        for row in ROWS {
            for base in row.bases {
                assert!(ClassRow::spelled(base).is_some(), "{base} above {}", row.path);
            }
            assert!(row.is_below(ClassRow::spelled("object").expect("object")));
        }
        let row = |path| ClassRow::spelled(path).expect("a class");
        assert!(row("bool").is_below(row("numbers.Number")));
        assert!(!row("object").is_below(row("int")));
    }
}
