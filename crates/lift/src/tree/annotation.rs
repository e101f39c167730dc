//! Annotations. Python evaluates those of a `def` when it is defined and those of a
//! module's variables, and drops the results: what matters is that they raise nothing.
//! Forms that are known to raise nothing are passed over; CPython judges the others.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::tree::ast::{Expr, ExprKind, Name};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ClassRow, Object};

/// What an annotation evaluates to, as far as it matters for the annotation around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    /// `None`.
    None,
    /// A class, or a form of `typing` that takes no argument here.
    Class,
    /// A class or form that can be subscripted.
    Generic(Generic),
    /// A string that is a name: a forward reference.
    Text,
    /// `...`.
    Dots,
    /// A list of types.
    List,
    /// Any other value.
    Value,
}

impl Hint {
    /// Whether `typing` takes it where it wants a type.
    fn is_type(self) -> bool {
        self.is_class() || matches!(self, Hint::None | Hint::Text)
    }

    /// Whether it is a class, or as good as one. Forms that mean nothing without a subscript
    /// are refused.
    fn is_class(self) -> bool {
        match self {
            Hint::Class => true,
            Hint::Generic(generic) => !matches!(generic, Generic::Several | Generic::Optional | Generic::Constants),
            _ => false,
        }
    }
}

/// What a class or form accepts as its subscript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generic {
    /// Nothing.
    Nothing,
    /// Whatever it is: `list`, the classes of `collections.abc`.
    Whatever,
    /// So many types.
    Types(usize),
    /// A type: `Optional`.
    Optional,
    /// One or more types: `Union`.
    Several,
    /// Types, or one and `...`: `Tuple`.
    Tuple,
    /// What it is called with, types in a list or `...`, and its result: `Callable`.
    Callable,
    /// Constants: `Literal`.
    Constants,
}

/// Built-in classes that can be subscripted.
const GENERIC: &[&str] = &["list", "dict", "tuple", "set", "frozenset", "type"];

/// Whether a name is that of a built-in class. Those that the table of classes does not have cannot be
/// subscripted either.
fn is_built_in(name: &str) -> bool {
    matches!(name, "range" | "slice") || ClassRow::spelled(name).is_some_and(ClassRow::is_built_in)
}

/// What a name of `typing` or `collections.abc` accepts; `None` where it is none of those
/// that annotations use.
pub(crate) fn generic(module: &str, name: &str) -> Option<Generic> {
    let found = match (module, name) {
        ("typing", "Any" | "AnyStr" | "Text" | "NoReturn" | "Never" | "Hashable" | "Sized" | "LiteralString") => {
            Generic::Nothing
        }
        (
            "typing",
            "List" | "Set" | "FrozenSet" | "Sequence" | "MutableSequence" | "Iterable" | "Iterator" | "Collection"
            | "Container" | "Deque" | "Type" | "AbstractSet" | "MutableSet" | "Reversible" | "Counter",
        ) => Generic::Types(1),
        ("typing", "Dict" | "Mapping" | "MutableMapping" | "DefaultDict" | "OrderedDict") => Generic::Types(2),
        ("typing", "Optional") => Generic::Optional,
        ("typing", "Union") => Generic::Several,
        ("typing", "Tuple") => Generic::Tuple,
        ("typing" | "collections.abc", "Callable") => Generic::Callable,
        ("typing", "Literal") => Generic::Constants,
        (
            "collections.abc",
            "Iterable" | "Iterator" | "Reversible" | "Container" | "Collection" | "Set" | "MutableSet" | "Mapping"
            | "MutableMapping" | "Sequence" | "MutableSequence",
        ) => Generic::Whatever,
        ("re", "Match" | "Pattern") => Generic::Whatever,
        ("datetime", "tzinfo") => Generic::Nothing,
        ("collections.abc", "Hashable" | "Sized") => Generic::Nothing,
        _ => return None,
    };
    Some(found)
}

impl Lifter<'_> {
    /// Evaluates an annotation.
    pub fn annotation(&mut self, expr: &Expr) -> Lift<()> {
        match self.hint(expr) {
            Some(_) => Ok(()),
            // Whether it raises CPython says when the module runs there.
            None if self.module_mode && self.only_looks_up(expr) => {
                self.world.unchecked = true;
                Ok(())
            }
            None => {
                self.go_to(expr.span);
                self.bail(Code::Expression, "an annotation that Python evaluates and that is not lifted")
            }
        }
    }

    /// Whether an expression is an alias of a type, such as `Optional[Node]`.
    pub fn is_alias(&self, expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Subscript { .. }) && self.hint(expr) == Some(Hint::Class)
    }

    /// Whether an annotation is made of names that there are, attributes and subscripts.
    fn only_looks_up(&self, expr: &Expr) -> bool {
        let all = |items: &[Expr]| items.iter().all(|item| self.only_looks_up(item));
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Unsupported("...") => true,
            ExprKind::Name(name) => self.lookup(name).is_some() || self.named_hint(name).is_some(),
            ExprKind::Attribute { value, .. } => self.only_looks_up(value),
            ExprKind::Tuple(items) | ExprKind::List(items) => all(items),
            ExprKind::Subscript { value, index } => self.only_looks_up(value) && self.only_looks_up(index),
            ExprKind::Binary { op: "|", left, right } => self.only_looks_up(left) && self.only_looks_up(right),
            _ => false,
        }
    }

    fn hint(&self, expr: &Expr) -> Option<Hint> {
        match &expr.kind {
            ExprKind::Const(constant) => Some(of_constant(constant)),
            ExprKind::Unsupported("...") => Some(Hint::Dots),
            ExprKind::List(items) => {
                let types = items.iter().all(|item| self.hint(item).is_some_and(Hint::is_type));
                types.then_some(Hint::List)
            }
            ExprKind::Name(name) => self.named_hint(name),
            ExprKind::Attribute { value, name } => match &value.kind {
                ExprKind::Name(module) => match self.lookup(module)? {
                    Abs::Module(module) if is_class(&module, name) => Some(Hint::Class),
                    Abs::Module(module) => Some(of_form(generic(&module, name)?)),
                    _ => None,
                },
                _ => None,
            },
            ExprKind::Subscript { value, index } => {
                let Hint::Generic(generic) = self.hint(value)? else { return None };
                let indices = match &index.kind {
                    ExprKind::Tuple(items) => items.as_slice(),
                    _ => std::slice::from_ref(&**index),
                };
                let hints = indices.iter().map(|index| self.hint(index)).collect::<Option<Vec<Hint>>>()?;
                let types = hints.iter().all(|hint| hint.is_type());
                let accepted = match generic {
                    Generic::Nothing => false,
                    Generic::Whatever => true,
                    Generic::Types(count) => types && hints.len() == count,
                    Generic::Optional => types && hints.len() == 1,
                    Generic::Several => types && !hints.is_empty(),
                    Generic::Tuple => {
                        (types && !hints.is_empty()) || matches!(*hints, [first, Hint::Dots] if first.is_type())
                    }
                    Generic::Callable => {
                        matches!(*hints, [Hint::List | Hint::Dots, result] if result.is_type())
                    }
                    Generic::Constants => indices.iter().all(|index| matches!(index.kind, ExprKind::Const(_))),
                };
                accepted.then_some(Hint::Class)
            }
            ExprKind::Binary { op: "|", left, right } => {
                let hints = [self.hint(left)?, self.hint(right)?];
                let joined =
                    hints.iter().all(|hint| *hint == Hint::None || hint.is_class()) && hints != [Hint::None; 2];
                joined.then_some(Hint::Class)
            }
            _ => None,
        }
    }

    fn named_hint(&self, name: &Name) -> Option<Hint> {
        let Some(found) = self.lookup(name) else {
            return match &**name {
                class if GENERIC.contains(&class) => Some(Hint::Generic(Generic::Whatever)),
                class if is_built_in(class) => Some(Hint::Class),
                _ => matches!(crate::tree::names::builtin(name)?, Abs::ExcClass(_)).then_some(Hint::Class),
            };
        };
        match found {
            Abs::Const(constant) => Some(of_constant(&constant)),
            Abs::Module(path) => match path.rsplit_once('.') {
                Some((module, name)) => Some(of_form(generic(module, name)?)),
                None => Some(Hint::Value),
            },
            Abs::Builtin(path) if path.split_once('.').is_some_and(|(module, name)| is_class(module, name)) => {
                Some(Hint::Class)
            }
            Abs::Func(_) | Abs::Builtin(_) => Some(Hint::Value),
            Abs::ExcClass(_) => Some(Hint::Class),
            // Those of `collections`.
            Abs::Class(class) if class.prelude => Some(Hint::Generic(Generic::Whatever)),
            Abs::Class(_) => Some(Hint::Class),
            _ => None,
        }
    }
}

/// Whether a name that is lifted is a class.
fn is_class(module: &str, name: &str) -> bool {
    matches!((module, name), ("datetime", "date" | "timedelta" | "datetime" | "time"))
}

fn of_constant(constant: &Object) -> Hint {
    match constant {
        Object::None => Hint::None,
        Object::Str(text) if crate::tree::parse::is_name(text) => Hint::Text,
        _ => Hint::Value,
    }
}

fn of_form(generic: Generic) -> Hint {
    match generic {
        Generic::Nothing => Hint::Class,
        other => Hint::Generic(other),
    }
}
