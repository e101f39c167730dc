//! The prelude: library code written in Python and lifted like user code.
//!
//! A function of `builtins.py` is a built-in of that name; one of `str.py` or `list.py`
//! is a method of that type, with the receiver as its first parameter; one of `math.py`
//! a function of that module. `re/Match.py`, `bytes.py` and their like hold what
//! objects of that class do: a function `_get_x` is the attribute `x`; `_of_sql` makes an object of
//! a value of SQL, and `_to_sql` the other way round. Operations come first: a prelude function is
//! used where no operation accepts the arguments.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The modules of the prelude but those of classes of values: name and source.
const MODULES: &[(&str, &str)] = &[
    ("builtins", include_str!("prelude/builtins.py")),
    ("int", include_str!("prelude/int.py")),
    ("float", include_str!("prelude/float.py")),
    ("str", include_str!("prelude/str.py")),
    ("list", include_str!("prelude/list.py")),
    ("tuple", include_str!("prelude/tuple.py")),
    ("tuple.any", include_str!("prelude/tuple/any.py")),
    ("collections", include_str!("prelude/collections.py")),
    ("copy", include_str!("prelude/copy.py")),
    // Elsewhere paths are others.
    #[cfg(unix)]
    ("os.path", include_str!("prelude/os/path.py")),
    ("contextlib", include_str!("prelude/contextlib.py")),
    ("typing", include_str!("prelude/typing.py")),
    ("enum", include_str!("prelude/enum.py")),
    ("itertools", include_str!("prelude/itertools.py")),
    ("calendar", include_str!("prelude/calendar.py")),
    ("functools", include_str!("prelude/functools.py")),
    ("bisect", include_str!("prelude/bisect.py")),
    ("heapq", include_str!("prelude/heapq.py")),
    ("operator", include_str!("prelude/operator.py")),
    ("hashlib", include_str!("prelude/hashlib.py")),
    ("base64", include_str!("prelude/base64.py")),
    ("csv", include_str!("prelude/csv.py")),
    ("io", include_str!("prelude/io.py")),
    ("logging", include_str!("prelude/logging.py")),
    ("string", include_str!("prelude/string.py")),
    ("struct", include_str!("prelude/struct.py")),
    ("binascii", include_str!("prelude/binascii.py")),
    ("textwrap", include_str!("prelude/textwrap.py")),
    ("difflib", include_str!("prelude/difflib.py")),
    ("ipaddress", include_str!("prelude/ipaddress.py")),
    ("uuid", include_str!("prelude/uuid.py")),
    ("hmac", include_str!("prelude/hmac.py")),
    ("types", include_str!("prelude/types.py")),
    ("zlib", include_str!("prelude/zlib.py")),
    ("math", include_str!("prelude/math.py")),
    ("statistics", include_str!("prelude/statistics.py")),
    ("json", include_str!("prelude/json.py")),
    ("json.dict", include_str!("prelude/json/dict.py")),
    ("json.list", include_str!("prelude/json/list.py")),
    (
        "numpy",
        concat!(
            include_str!("prelude/numpy.py"),
            include_str!("prelude/numpy/arrays.py"),
            include_str!("prelude/numpy/order.py"),
            include_str!("prelude/numpy/matrix.py"),
            include_str!("prelude/numpy/axes.py"),
            include_str!("prelude/numpy/beside.py"),
            include_str!("prelude/numpy/parts.py"),
            include_str!("prelude/numpy/relations.py"),
            include_str!("prelude/numpy/series.py")
        ),
    ),
    ("pandas", include_str!("prelude/pandas.py")),
    ("html", include_str!("prelude/html.py")),
    ("xml.sax.saxutils", include_str!("prelude/xml/saxutils.py")),
    ("urllib.parse", include_str!("prelude/urllib/parse.py")),
    ("re", include_str!("prelude/re.py")),
    ("re.Pattern", include_str!("prelude/re/Pattern.py")),
    ("re.Match", include_str!("prelude/re/Match.py")),
    ("re.RegexFlag", include_str!("prelude/re/RegexFlag.py")),
    ("decimal", include_str!("prelude/decimal.py")),
    ("datetime", include_str!("prelude/datetime.py")),
];

/// The modules of the prelude: name and source.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    MODULES.iter().copied().chain(crate::CLASSES.iter().map(|row| (row.class.path(), row.methods)))
}

/// What a module of the prelude defines by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defined {
    /// `def name(…)`.
    Function,
    /// `class name`.
    Class,
    /// `name = …`.
    Variable,
}

impl Defined {
    /// What a line of a module defines at its top level, and by what name.
    fn by(line: &str) -> Option<(&str, Defined)> {
        let (rest, defined, ends): (_, _, &[char]) = if let Some(rest) = line.strip_prefix("def ") {
            (rest, Defined::Function, &['('])
        } else if let Some(rest) = line.strip_prefix("class ") {
            (rest, Defined::Class, &['(', ':'])
        } else {
            (line, Defined::Variable, &[' '])
        };
        let (name, rest) = rest.split_at(rest.find(ends)?);
        let is_name = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_alphanumeric());
        (is_name && (defined != Defined::Variable || rest.starts_with(" = "))).then_some((name, defined))
    }
}

type Names = HashMap<&'static str, Defined>;

/// A module: its name, and what it defines, found out when it is first asked for.
struct Module {
    name: &'static str,
    defines: LazyLock<Names, Box<dyn FnOnce() -> Names + Send>>,
}

static BY_NAME: LazyLock<HashMap<&'static str, Module>> = LazyLock::new(|| {
    let module = |(name, source): (_, &'static str)| {
        let defines: Box<dyn FnOnce() -> Names + Send> = Box::new(|| source.lines().filter_map(Defined::by).collect());
        (name, Module { name, defines: LazyLock::new(defines) })
    };
    modules().map(module).collect()
});

/// The name of a module, if the prelude has it.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    BY_NAME.get(name).map(|module| module.name)
}

/// What a module defines by a name.
#[must_use]
pub fn defined(module: &str, name: &str) -> Option<Defined> {
    BY_NAME.get(module)?.defines.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::{Defined, modules};
    use std::collections::HashSet;

    /// A later definition would silently replace an earlier one of the same module, which may be another file.
    #[test]
    fn names_of_a_module_are_defined_once() {
        for (module, source) in modules() {
            let mut seen = HashSet::new();
            for line in source.lines() {
                let defined = Defined::by(line).filter(|(_, defined)| *defined != Defined::Variable);
                if let Some((name, _)) = defined {
                    assert!(seen.insert(name), "{module} defines {name} twice");
                }
            }
        }
    }
}
