//! Values and types as messages name them.

use crate::abs::{Abs, Iter};
use crate::data::tables::TableKind;
use exuvia_ir::{Class, Type};
use exuvia_ops::show;

/// What values of a type are, for people: as annotations say it, as far as two containers deep.
pub(crate) fn type_for_people(ty: &Type) -> String {
    fn shown(ty: &Type, depth: usize) -> String {
        let inner = |ty: &Type| shown(ty, depth + 1);
        match ty {
            Type::None => "None".to_string(),
            Type::Never | Type::Unbound => "nothing".to_string(),
            Type::List(_) | Type::Set(_) | Type::Dict(..) | Type::Tuple(_) if depth > 1 => ty.python_name().to_string(),
            Type::List(of) => format!("list[{}]", inner(of)),
            Type::Set(of) => format!("set[{}]", inner(of)),
            Type::Dict(key, value) => format!("dict[{}, {}]", inner(key), inner(value)),
            Type::Tuple(items) if items.len() <= 4 => {
                format!("tuple[{}]", items.iter().map(inner).collect::<Vec<_>>().join(", "))
            }
            Type::Union(of) if of.len() <= 4 => of.iter().map(|ty| shown(ty, depth)).collect::<Vec<_>>().join(" or "),
            Type::Union(_) => "one of several types".to_string(),
            Type::Record(Class::Object(_), _) | Type::Boxed(_) => "object".to_string(),
            ty => ty.message_name().to_string(),
        }
    }
    shown(ty, 0)
}

/// Types for people, one after the other.
pub(crate) fn types_for_people(types: &[Type]) -> String {
    types.iter().map(type_for_people).collect::<Vec<_>>().join(", ")
}

/// What a static value is, for people.
pub(crate) fn describe(abs: &Abs) -> String {
    match abs {
        Abs::Const(object) => show::repr(object),
        Abs::Dyn(_) => "a run-time value".to_string(),
        Abs::Tuple(_) => "a tuple".to_string(),
        Abs::Func(closure) => format!("function {}", closure.def.name),
        Abs::Method(method) => format!("method {}", method.1),
        Abs::Builtin(name) => format!("built-in {name}"),
        Abs::Module(name) => format!("module {name}"),
        Abs::ExcClass(kind) => format!("class {}", kind.name()),
        Abs::ClassOf(_) => "the class of an exception".to_string(),
        Abs::Class(class) => format!("class {}", class.name),
        Abs::Instance(object) => format!("an object of class {}", object.class.name),
        Abs::Bound(method) => format!("method {}", method.closure.def.name),
        Abs::Super(_) => "super()".to_string(),
        Abs::Table(table) => match table.kind {
            TableKind::List => "a list of functions or objects".to_string(),
            TableKind::Dict => "a dict of functions or objects".to_string(),
            TableKind::Set => "a set of members of enumerations".to_string(),
            TableKind::View => "a view of a dict of functions or objects".to_string(),
        },
        Abs::OneOf(_) => "one of several functions or objects".to_string(),
        Abs::ExcInst(exc) => format!("an instance of {}", exc.0.name()),
        Abs::Iter(iter) => match &**iter {
            Iter::Range { .. } => "a range".to_string(),
            Iter::View { .. } => "a view of a dict".to_string(),
            Iter::Generator { .. } | Iter::Call { .. } => "a generator".to_string(),
            Iter::Enumerate { .. } | Iter::Zip(_) | Iter::Reversed { .. } | Iter::Map { .. } | Iter::Filter { .. } => {
                "an iterator".to_string()
            }
        },
        Abs::Unbound => "an unassigned variable".to_string(),
        Abs::Conflict => "a variable with values of unrelated kinds".to_string(),
    }
}
