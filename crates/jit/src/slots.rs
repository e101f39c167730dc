//! How a value of a type is spread over machine registers and memory words.
//!
//! None and an unbound variable take no slot, bool, int, float, exceptions and
//! references one, a string two (pointer and meta), a tuple or a record the slots of its elements,
//! a union a tag (the position among its sorted alternatives) and the slots of every
//! alternative in order. In memory each slot is a 64-bit word.

use cranelift_codegen::ir::{Type as Reg, types};
use exuvia_ir::Type;

/// The register types of the slots of `ty`.
pub(crate) fn registers(ty: &Type) -> Vec<Reg> {
    let mut out = Vec::new();
    push_registers(ty, &mut out);
    out
}

fn push_registers(ty: &Type, out: &mut Vec<Reg>) {
    match ty {
        Type::Never | Type::Unbound | Type::None => {}
        Type::Bool => out.push(types::I8),
        Type::Int | Type::Exc | Type::List(_) | Type::Dict(..) | Type::Set(_) | Type::Pattern(_) | Type::Boxed(_) => {
            out.push(types::I64);
        }
        Type::Float => out.push(types::F64),
        Type::Str => out.extend([types::I64, types::I64]),
        Type::Tuple(items) | Type::Record(_, items) => items.iter().for_each(|item| push_registers(item, out)),
        Type::Union(items) => {
            out.push(types::I64);
            items.iter().for_each(|item| push_registers(item, out));
        }
    }
}

/// The number of slots of `ty`.
pub(crate) fn count(ty: &Type) -> usize {
    match ty {
        Type::Never | Type::Unbound | Type::None => 0,
        Type::Bool
        | Type::Int
        | Type::Exc
        | Type::Float
        | Type::List(_)
        | Type::Dict(..)
        | Type::Set(_)
        | Type::Pattern(_)
        | Type::Boxed(_) => 1,
        Type::Str => 2,
        Type::Tuple(items) | Type::Record(_, items) => items.iter().map(count).sum(),
        Type::Union(items) => 1 + items.iter().map(count).sum::<usize>(),
    }
}

/// The first slot of the alternative at `index` of a union.
pub(crate) fn alternative_start(alternatives: &[Type], index: usize) -> usize {
    1 + alternatives[..index].iter().map(count).sum::<usize>()
}

/// The first slot of the element at `index` of a tuple.
pub(crate) fn element_start(elements: &[Type], index: usize) -> usize {
    elements[..index].iter().map(count).sum()
}
