//! The prelude: library code written in Python and lifted like user code.
//!
//! A function of `builtins.py` is a built-in of that name; one of `str.py` or `list.py`
//! is a method of that type, with the receiver as its first parameter; one of `math.py`
//! a function of that module. `Match.py` and its like hold what
//! objects of that class do: a function `_get_x` is the attribute `x`. Operations come first: a prelude function is used where no
//! operation accepts the arguments.

/// The modules of the prelude: name and source.
pub const MODULES: &[(&str, &str)] = &[
    ("builtins", include_str!("prelude/builtins.py")),
    ("str", include_str!("prelude/str.py")),
    ("bytes", include_str!("prelude/bytes.py")),
    ("list", include_str!("prelude/list.py")),
    ("tuple", include_str!("prelude/tuple.py")),
    ("collections", include_str!("prelude/collections.py")),
    ("hashlib", include_str!("prelude/hashlib.py")),
    ("base64", include_str!("prelude/base64.py")),
    ("zlib", include_str!("prelude/zlib.py")),
    ("re", include_str!("prelude/re.py")),
    ("Pattern", include_str!("prelude/Pattern.py")),
    ("Match", include_str!("prelude/Match.py")),
    ("datetime", include_str!("prelude/datetime.py")),
    ("date", include_str!("prelude/date.py")),
    ("timedelta", include_str!("prelude/timedelta.py")),
    ("RegexFlag", include_str!("prelude/RegexFlag.py")),
];

/// The source of a module.
#[must_use]
pub fn module(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|module| module.0 == name).map(|module| module.1)
}
