//! The types of values.
//!
//! A type describes exactly the Python values that can occur: `int` never includes
//! `bool`, and a value that may be `None` has a union type. There is no subtyping
//! beyond membership in a union.

use crate::print::write_str;
use crate::{Class, Pattern};
use std::fmt;
use std::sync::Arc;

/// In messages the class of an object that is written in Python, whose name no type knows.
pub const UNNAMED: &str = "\u{1}object";

/// The type of an SSA value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// No value at all: the element type of a list to which nothing was appended.
    Never,
    /// A local variable that has not been assigned yet. Reading it raises.
    Unbound,
    /// Python's `None` (and SQL NULL at the border).
    None,
    /// Python's `bool`.
    Bool,
    /// Python's unbounded `int`.
    Int,
    /// Python's `float`, an IEEE 754 double.
    Float,
    /// Python's `str` without lone surrogates: valid UTF-8.
    Str,
    /// A caught exception.
    Exc,
    /// A tuple of known length.
    Tuple(Arc<[Type]>),
    /// A mutable list with identity; all elements have the one type.
    List(Arc<Type>),
    /// A constant dict: keys, values. Never mutated at run time.
    Dict(Arc<Type>, Arc<Type>),
    /// A constant set or frozenset. Never mutated at run time.
    Set(Arc<Type>),
    /// One compiled pattern of `re`: a type for each, so that its groups are known.
    Pattern(Arc<Pattern>),
    /// An object of a class of the standard library, by the types of its fields.
    Record(Class, Arc<[Type]>),
    /// An object of a class written in Python that may hold others of its kind: its record lies on the heap,
    /// where nothing changes it.
    Boxed(Class),
    /// One of several types: two or more alternatives, sorted, never nested.
    Union(Arc<[Type]>),
}

impl Type {
    /// The union of `None` and `self`.
    #[must_use]
    pub fn optional(self) -> Type {
        self.join(&Type::None)
    }

    /// A list of `element`s.
    #[must_use]
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// The alternatives of a union, or the type itself.
    #[must_use]
    pub fn alternatives(&self) -> &[Type] {
        match self {
            Type::Union(types) => types,
            Type::Never => &[],
            other => std::slice::from_ref(other),
        }
    }

    /// The union of `types`, flattened and sorted.
    #[must_use]
    pub fn union(types: impl IntoIterator<Item = Type>) -> Type {
        let mut all: Vec<Type> = Vec::new();
        let mut joined: Vec<Type> = Vec::new();
        for ty in types {
            for alternative in ty.alternatives() {
                match alternative {
                    Type::Tuple(_) | Type::List(_) | Type::Record(..) => insert_alternative(&mut joined, alternative),
                    _ => all.push(alternative.clone()),
                }
            }
        }
        all.extend(joined);
        all.sort();
        all.dedup();
        match all.len() {
            0 => Type::Never,
            1 => all.remove(0),
            _ => Type::Union(all.into()),
        }
    }

    /// The smallest type that holds the values of both.
    ///
    /// Tuples of one length join element by element, so that `(1, "a")` and
    /// `(2.0, "b")` become a tuple whose first element is a union.
    #[must_use]
    pub fn join(&self, other: &Type) -> Type {
        if other.is_within(self) {
            return self.clone();
        }
        Type::union([self.clone(), other.clone()])
    }

    /// Whether every value of `self` is one of `other`.
    #[must_use]
    pub fn is_within(&self, other: &Type) -> bool {
        let others = other.alternatives();
        self.alternatives().iter().all(|ty| others.binary_search(ty).is_ok())
    }

    /// Whether a value is or holds a pattern or an object of a class of the standard library.
    #[must_use]
    pub fn holds_object(&self) -> bool {
        self.holds(&|ty| matches!(ty, Type::Pattern(_) | Type::Record(..) | Type::Boxed(_)))
    }

    /// Whether all stages know the `repr` of such values, and of what they hold.
    #[must_use]
    pub fn has_repr(&self) -> bool {
        !self.holds(&|ty| match ty {
            Type::Pattern(_) | Type::Boxed(_) => true,
            Type::Record(class, _) => !class.is_value(),
            _ => false,
        })
    }

    /// Whether a value is or holds a list that code may change; what an object of the standard
    /// library holds nobody changes.
    #[must_use]
    pub fn holds_list(&self) -> bool {
        self.holds(&|ty| matches!(ty, Type::List(_) | Type::Boxed(_)))
    }

    /// Whether results of that type may be kept, and results be kept by values of it: their parts say all
    /// of them, and nothing changes them.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        match self {
            Type::None | Type::Bool | Type::Int | Type::Float | Type::Str => true,
            Type::Record(class, types) => class.is_value() && types.iter().all(Type::is_kept),
            Type::Tuple(types) | Type::Union(types) => types.iter().all(Type::is_kept),
            Type::Never
            | Type::Unbound
            | Type::List(_)
            | Type::Exc
            | Type::Dict(..)
            | Type::Set(_)
            | Type::Pattern(_)
            | Type::Boxed(_) => false,
        }
    }

    /// Whether it is that of dicts or lists that `json.loads` made, of which some operations are known.
    #[must_use]
    pub fn is_document(&self) -> bool {
        matches!(self, Type::Record(Class::JsonObject | Class::JsonArray, _))
    }

    /// Whether it is that of objects of a class written in Python.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.object_class().is_some()
    }

    /// The class of objects that are written in Python: the number of their shape.
    #[must_use]
    pub fn object_class(&self) -> Option<u32> {
        match self {
            Type::Record(Class::Object(shape), _) | Type::Boxed(Class::Object(shape)) => Some(*shape),
            _ => None,
        }
    }

    /// Whether it is wanted, or a type of what it holds is; objects of the standard library are
    /// not looked into, nor are boxes.
    pub fn holds(&self, wanted: &impl Fn(&Type) -> bool) -> bool {
        wanted(self)
            || match self {
                Type::Tuple(types) | Type::Union(types) => types.iter().any(|ty| ty.holds(wanted)),
                Type::Record(class, types) if class.is_boxed() => types.iter().any(|ty| ty.holds(wanted)),
                Type::List(element) | Type::Set(element) => element.holds(wanted),
                Type::Dict(key, value) => key.holds(wanted) || value.holds(wanted),
                Type::Never
                | Type::Unbound
                | Type::None
                | Type::Bool
                | Type::Int
                | Type::Float
                | Type::Str
                | Type::Exc
                | Type::Pattern(_)
                | Type::Boxed(_)
                | Type::Record(..) => false,
            }
    }

    /// The name of the class in messages of CPython's own code: with the module where the class is
    /// written in C.
    #[must_use]
    pub fn message_name(&self) -> &'static str {
        match self {
            Type::Record(Class::Object(_), _) | Type::Boxed(Class::Object(_)) => UNNAMED,
            // Written in Python.
            Type::Record(class @ Class::RegexFlag, _) => class.name(),
            // The classes are built in; their files of the prelude have names of their own.
            Type::Record(class @ (Class::JsonObject | Class::JsonArray), _) => class.name(),
            other => other.path(),
        }
    }

    /// The name of the class with the module where it is not built in: that of the file of the
    /// prelude that holds its methods.
    #[must_use]
    pub fn path(&self) -> &'static str {
        match self {
            Type::Pattern(_) => "re.Pattern",
            Type::Record(class, _) | Type::Boxed(class) => class.path(),
            other => other.python_name(),
        }
    }

    /// The name of the Python class of the values, as `type(x).__name__` gives it.
    #[must_use]
    pub fn python_name(&self) -> &'static str {
        match self {
            Type::Never | Type::Unbound => "unbound",
            Type::None => "NoneType",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Float => "float",
            Type::Str => "str",
            Type::Exc => "Exception",
            Type::Tuple(_) => "tuple",
            Type::List(_) => "list",
            Type::Dict(..) => "dict",
            Type::Set(_) => "set",
            Type::Pattern(_) => "Pattern",
            Type::Record(class, _) | Type::Boxed(class) => class.name(),
            Type::Union(_) => "union",
        }
    }
}

/// Adds an alternative, merging it with a container of the same shape: a union never
/// holds two list types (an object has one identity and so one representation), never two
/// tuples of one length, and never two records of one shape.
fn insert_alternative(all: &mut Vec<Type>, new: &Type) {
    for old in all.iter_mut() {
        if old == new {
            return;
        }
        match (&*old, new) {
            (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
                *old = Type::Tuple(a.iter().zip(b.iter()).map(|(x, y)| x.join(y)).collect());
                return;
            }
            (Type::List(a), Type::List(b)) => {
                *old = Type::list(a.join(b));
                return;
            }
            (Type::Record(a @ Class::Object(_), x), Type::Record(b, y)) if a == b && x.len() == y.len() => {
                *old = Type::Record(*a, x.iter().zip(y.iter()).map(|(x, y)| x.join(y)).collect());
                return;
            }
            _ => {}
        }
    }
    all.push(new.clone());
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commas = |f: &mut fmt::Formatter<'_>, types: &[Type]| {
            for (i, ty) in types.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{ty}")?;
            }
            Ok(())
        };
        match self {
            Type::Never => f.write_str("never"),
            Type::Unbound => f.write_str("unbound"),
            Type::None => f.write_str("none"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Str => f.write_str("str"),
            Type::Exc => f.write_str("exc"),
            Type::Tuple(types) => {
                f.write_str("tuple[")?;
                commas(f, types)?;
                f.write_str("]")
            }
            Type::List(element) => write!(f, "list[{element}]"),
            Type::Dict(key, value) => write!(f, "dict[{key}, {value}]"),
            Type::Set(element) => write!(f, "set[{element}]"),
            Type::Pattern(pattern) => {
                f.write_str("pattern ")?;
                write_str(f, &pattern.source)?;
                write!(f, " {}", pattern.flags)
            }
            Type::Record(class, types) => {
                write!(f, "record {class}[")?;
                commas(f, types)?;
                f.write_str("]")
            }
            Type::Boxed(class) => write!(f, "boxed {class}"),
            Type::Union(types) => {
                f.write_str("union[")?;
                commas(f, types)?;
                f.write_str("]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_flat_sorted_and_merge_containers() {
        let opt = Type::Int.optional();
        assert_eq!(opt.to_string(), "union[none, int]");
        assert_eq!(opt.join(&Type::Float).join(&Type::Int).to_string(), "union[none, int, float]");
        assert_eq!(Type::list(Type::Never).join(&Type::list(Type::Str)), Type::list(Type::Str));
        assert!(Type::None.is_within(&opt));
    }
}
