//! Rules for wrapping, testing and unwrapping unions.
//!
//! Laws, with `T` types and `v` a value:
//! - `is T v` is known where all or none of the alternatives that `v` can hold are in `T`;
//! - `is T (wrap v)` is `is T v` where `v` is a union;
//! - `unwrap (wrap v)` is `v`, unwrapped or wrapped further to the type that is wanted;
//! - `wrap (wrap v)` is `wrap v`, and `unwrap (unwrap v)` is `unwrap v`;
//! - `wrap (unwrap v)` to the type of `v` is `v`.

use crate::known::Known;
use crate::simplify::Rewrite;
use crate::tags;
use exuvia_ir::{Inst, Object, Opcode, Type, Value};

/// The operand of the instruction that defines `value`, if it is that one.
fn operand(known: &Known<'_>, value: Value, op: &Opcode) -> Option<Value> {
    let inst = known.inst(value)?;
    (inst.op == *op).then(|| inst.args[0])
}

pub(crate) fn is(known: &mut Known<'_>, inst: &Inst, wanted: &Type) -> Option<Rewrite> {
    let value = inst.args[0];
    let ty = known.ty(value);
    let wanted_tags = tags::tags_of(ty, wanted);
    let possible = known.tags(value);
    if wanted_tags != tags::ALL {
        // The bits above the last alternative mean nothing.
        let possible = possible & tags::tags_of(ty, ty);
        if possible & !wanted_tags == 0 {
            return Some(Rewrite::Const(Object::Bool(true)));
        }
        if possible & wanted_tags == 0 {
            return Some(Rewrite::Const(Object::Bool(false)));
        }
    }
    let inner = operand(known, value, &Opcode::Wrap).or_else(|| operand(known, value, &Opcode::Unwrap))?;
    let inner_ty = known.ty(inner);
    // The question must be one of the inner union's: a part of it, not the whole. For an
    // unwrapped value the part that is wanted is the same in the wider union.
    let part = Type::union(wanted.alternatives().iter().filter(|ty| inner_ty.alternatives().contains(ty)).cloned());
    let fits = matches!(inner_ty, Type::Union(_)) && part != *inner_ty && part != Type::Never;
    fits.then(|| Rewrite::To(Opcode::Is(part), vec![inner]))
}

pub(crate) fn wrap(known: &mut Known<'_>, inst: &Inst) -> Option<Rewrite> {
    let result = inst.result?;
    if let Some(inner) = operand(known, inst.args[0], &Opcode::Wrap) {
        return Some(Rewrite::To(Opcode::Wrap, vec![inner]));
    }
    let inner = operand(known, inst.args[0], &Opcode::Unwrap)?;
    (known.ty(inner) == known.ty(result)).then_some(Rewrite::Same(inner))
}

pub(crate) fn unwrap(known: &mut Known<'_>, inst: &Inst) -> Option<Rewrite> {
    let result = inst.result?;
    if let Some(object) = known.constant(inst.args[0])
        && exuvia_ir::is_constant_of(object, known.ty(result))
    {
        return Some(Rewrite::Const(object.clone()));
    }
    if let Some(inner) = operand(known, inst.args[0], &Opcode::Unwrap) {
        return Some(Rewrite::To(Opcode::Unwrap, vec![inner]));
    }
    let inner = operand(known, inst.args[0], &Opcode::Wrap)?;
    let (from, to) = (known.ty(inner), known.ty(result));
    if from == to {
        return Some(Rewrite::Same(inner));
    }
    if matches!(to, Type::Union(_)) && from.is_within(to) {
        return Some(Rewrite::To(Opcode::Wrap, vec![inner]));
    }
    // Where neither holds the point is never reached.
    (matches!(from, Type::Union(_)) && to.is_within(from)).then(|| Rewrite::To(Opcode::Unwrap, vec![inner]))
}
