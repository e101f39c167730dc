//! Which alternative of a union an object is.

use exuvia_ir::{Object, Type};

/// Whether the object's class is that of `ty`: the outermost class, and for tuples the
/// length. Enough to tell the alternatives of a union apart, but for dicts and sets.
fn has_class(object: &Object, ty: &Type) -> bool {
    match ty {
        Type::Never => false,
        Type::Unbound => matches!(object, Object::Unbound),
        Type::None => matches!(object, Object::None),
        Type::Bool => matches!(object, Object::Bool(_)),
        Type::Int => matches!(object, Object::Int(_)),
        Type::Float => matches!(object, Object::Float(_)),
        Type::Str => matches!(object, Object::Str(_)),
        Type::Exc => matches!(object, Object::Exc(_)),
        Type::Tuple(types) => matches!(object, Object::Tuple(items) if items.len() == types.len()),
        Type::List(_) => matches!(object, Object::List(_)),
        Type::Dict(..) => matches!(object, Object::Dict(_)),
        Type::Set(_) => matches!(object, Object::Set(_)),
        Type::Pattern(pattern) => matches!(object, Object::Pattern(one) if one == pattern),
        Type::Record(class, types) => matches!(object, Object::Record(record)
            if record.class == *class && record.fields.iter().zip(types.iter()).all(|(field, ty)| has_class(field, ty))),
        Type::Boxed(class) => matches!(object, Object::Record(record) if record.class == *class),
        Type::Union(types) => types.iter().any(|ty| has_class(object, ty)),
    }
}

/// Decides [`exuvia_ir::Opcode::Is`] for operands of one union type.
#[derive(Debug)]
pub(crate) struct Test {
    wanted: Type,
    /// The alternatives of the same class, in order, where there are others than
    /// `wanted`: constant dicts or sets of different types.
    rivals: Vec<Type>,
}

impl Test {
    pub(crate) fn new(union: &Type, wanted: &Type) -> Test {
        let class = |ty: &Type| match ty {
            Type::Dict(..) => 1,
            Type::Set(_) => 2,
            _ => 0,
        };
        let rivals: Vec<Type> = match class(wanted) {
            0 => vec![],
            wanted => union.alternatives().iter().filter(|ty| class(ty) == wanted).cloned().collect(),
        };
        Test { wanted: wanted.clone(), rivals: if rivals.len() > 1 { rivals } else { vec![] } }
    }

    pub(crate) fn holds(&self, object: &Object) -> bool {
        if !has_class(object, &self.wanted) {
            return false;
        }
        if self.rivals.is_empty() {
            return true;
        }
        // A constant's own type is the alternative that the lifter chose for it.
        let exact = object.ty();
        !self.rivals.contains(&exact) || exact == self.wanted
    }
}
