//! The attributes of built-in classes.

use exuvia_ir::Type;

/// The attributes of `None`, `bool`, `int`, `float`, `str`, `list`, `tuple` and `dict` in CPython
/// 3.11, without those between double underscores. What is not here raises
/// `AttributeError`; what is here but not lifted goes to CPython.
const ATTRIBUTES: &[(&str, &[&str])] = &[
    ("NoneType", &[]),
    (
        "int",
        &[
            "as_integer_ratio",
            "bit_count",
            "bit_length",
            "conjugate",
            "denominator",
            "from_bytes",
            "imag",
            "numerator",
            "real",
            "to_bytes",
        ],
    ),
    ("float", &["as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "is_integer", "real"]),
    (
        "str",
        &[
            "capitalize",
            "casefold",
            "center",
            "count",
            "encode",
            "endswith",
            "expandtabs",
            "find",
            "format",
            "format_map",
            "index",
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isprintable",
            "isspace",
            "istitle",
            "isupper",
            "join",
            "ljust",
            "lower",
            "lstrip",
            "maketrans",
            "partition",
            "removeprefix",
            "removesuffix",
            "replace",
            "rfind",
            "rindex",
            "rjust",
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "swapcase",
            "title",
            "translate",
            "upper",
            "zfill",
        ],
    ),
    ("list", &["append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"]),
    ("tuple", &["count", "index"]),
    (
        "dict",
        &["clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"],
    ),
];

/// Whether values of a type have an attribute; `None` where this is not known.
#[must_use]
pub fn has(ty: &Type, name: &str) -> Option<bool> {
    let class = match ty {
        Type::Bool => "int",
        other => other.python_name(),
    };
    of_class(class, name)
}

/// Whether a built-in class has an attribute; `None` where this is not known.
#[must_use]
pub fn of_class(class: &str, name: &str) -> Option<bool> {
    if name.starts_with("__") {
        return None;
    }
    ATTRIBUTES.iter().find(|entry| entry.0 == class).map(|entry| entry.1.contains(&name))
}
