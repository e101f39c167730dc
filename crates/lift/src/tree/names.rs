//! What names mean where the program does not define them.

use crate::abs::Abs;
use exuvia_ir::{Class, ClassRow, ExcKind, Object, Objects, RecordObj};
use exuvia_ops::prelude::{self, Defined};
use std::sync::Arc;

/// Built-in functions that the lifter handles itself, because they are about types,
/// iteration or static values.
const SPECIAL: &[&str] = &[
    "range",
    "enumerate",
    "zip",
    "reversed",
    "map",
    "filter",
    "isinstance",
    "issubclass",
    "list",
    "tuple",
    "set",
    "frozenset",
    "dict",
    "sorted",
    "len",
    "str",
    "int",
    "float",
    "bool",
    "repr",
    "abs",
    "round",
    "ord",
    "chr",
    "format",
    "divmod",
    "pow",
    "setattr",
    "super",
    "type",
    "object",
    "NotImplemented",
];

/// Built-in functions of CPython 3.11 that are not lifted: known, so that they are no
/// `NameError`.
const OTHERS: &[&str] = &[
    "__import__",
    "iter",
    "aiter",
    "anext",
    "ascii",
    "bin",
    "breakpoint",
    "callable",
    "classmethod",
    "compile",
    "delattr",
    "dir",
    "eval",
    "exec",
    "globals",
    "help",
    "hex",
    "id",
    "input",
    "locals",
    "next",
    "oct",
    "open",
    "print",
    "property",
    "staticmethod",
    "vars",
    "Ellipsis",
    "__name__",
    "__file__",
    "__doc__",
    "__builtins__",
    "__debug__",
    "__loader__",
    "__spec__",
    "__package__",
    "exit",
    "quit",
    "copyright",
    "credits",
    "license",
    "SyntaxWarning",
    "PendingDeprecationWarning",
    "ImportWarning",
    "UnicodeWarning",
    "BytesWarning",
    "ResourceWarning",
    "EncodingWarning",
    "BaseExceptionGroup",
    "ExceptionGroup",
    "StopAsyncIteration",
    "IndentationError",
    "TabError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeTranslateError",
    "BlockingIOError",
    "ChildProcessError",
    "BrokenPipeError",
    "ConnectionAbortedError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "InterruptedError",
    "IsADirectoryError",
    "NotADirectoryError",
    "ProcessLookupError",
];

/// The built-in of that name.
pub(crate) fn builtin(name: &str) -> Option<Abs> {
    // What a match statement means by it.
    if let Some(hidden) = name.strip_prefix('.').filter(|hidden| crate::calls::intrinsic::NAMES.contains(hidden)) {
        return Some(Abs::Builtin(hidden.into()));
    }
    let name = name.strip_prefix('.').unwrap_or(name);
    if let Some(kind) = ExcKind::from_name(name).filter(|kind| kind.module().is_none()) {
        return Some(Abs::ExcClass(kind));
    }
    if name == "hash" {
        // It stands with the tables that it is for.
        return Some(Abs::Builtin("collections.hash".into()));
    }
    let known = SPECIAL.contains(&name)
        || ClassRow::spelled(name).is_some_and(|class| class.objects == Objects::None && !name.contains('.'))
        || (!exuvia_ops::by_spelling(name).is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase())
            && name != "truth")
        || prelude_builtin(name);
    known.then(|| Abs::Builtin(name.into()))
}

/// Whether the prelude defines a public built-in of that name.
fn prelude_builtin(name: &str) -> bool {
    !name.starts_with('_') && prelude::defined("builtins", name) == Some(Defined::Function)
}

/// The module and the name in it that a spelling such as `math.floor` means; a built-in has none.
pub(crate) fn in_module(spelling: &str) -> (&str, &str) {
    let is_module = |(module, _): &(&str, &str)| prelude::named(module).is_some();
    let parts = spelling.rsplit_once('.').filter(is_module).or_else(|| spelling.split_once('.'));
    parts.unwrap_or(("builtins", spelling))
}

/// Whether CPython has a built-in of that name that is not lifted.
pub(crate) fn is_python_builtin(name: &str) -> bool {
    OTHERS.contains(&name)
}

/// A constant of a module.
pub(crate) fn module_constant(module: &str, name: &str) -> Option<Object> {
    match module {
        "numpy" => Some(Object::Float(match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            "newaxis" => return Some(Object::None),
            _ => return None,
        })),
        "math" => Some(Object::Float(match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "tau" => std::f64::consts::TAU,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => return None,
        })),
        "calendar" => {
            let days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
            Some(Object::int(days.iter().position(|day| *day == name)? as i64))
        }
        "re" => {
            let bits = match name {
                "NOFLAG" => 0,
                "I" | "IGNORECASE" => 2,
                "L" | "LOCALE" => 4,
                "M" | "MULTILINE" => 8,
                "S" | "DOTALL" => 16,
                "U" | "UNICODE" => 32,
                "X" | "VERBOSE" => 64,
                "A" | "ASCII" => 256,
                _ => return None,
            };
            let flag = RecordObj { class: Class::RegexFlag, fields: vec![Object::int(bits)] };
            Some(Object::Record(Arc::new(flag)))
        }
        // Their values are their names.
        "decimal" if name.starts_with("ROUND_") && crate::tree::standard::has_name(module, name) => {
            Some(Object::str(name))
        }
        "string" => Some(Object::str(match name {
            "ascii_lowercase" => "abcdefghijklmnopqrstuvwxyz",
            "ascii_uppercase" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "ascii_letters" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "digits" => "0123456789",
            "hexdigits" => "0123456789abcdefABCDEF",
            "octdigits" => "01234567",
            "punctuation" => "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
            "whitespace" => " \t\n\r\x0b\x0c",
            _ => return None,
        })),
        _ => None,
    }
}
