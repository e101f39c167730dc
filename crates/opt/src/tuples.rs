//! Rules for tuples.
//!
//! Laws: a field of a tuple that was just made is the operand; a field of a constant
//! tuple is a constant; a tuple of all fields of one tuple, in order, is that tuple.

use crate::known::Known;
use crate::simplify::Rewrite;
use exuvia_ir::{Inst, Object, Opcode, Type};

pub(crate) fn field(known: &mut Known<'_>, inst: &Inst, index: usize) -> Option<Rewrite> {
    if let Some(made) = known.inst(inst.args[0])
        && made.op == Opcode::Tuple
    {
        return Some(Rewrite::Same(made.args[index]));
    }
    match known.constant(inst.args[0])? {
        Object::Tuple(items) => items.get(index).cloned().map(Rewrite::Const),
        _ => None,
    }
}

pub(crate) fn tuple(known: &mut Known<'_>, inst: &Inst) -> Option<Rewrite> {
    let mut whole = None;
    for (index, arg) in inst.args.iter().enumerate() {
        let made = known.inst(*arg)?;
        if made.op != Opcode::Field(index as u32) || *whole.get_or_insert(made.args[0]) != made.args[0] {
            return None;
        }
    }
    let whole = whole?;
    match known.ty(whole) {
        Type::Tuple(types) if types.len() == inst.args.len() => Some(Rewrite::Same(whole)),
        _ => None,
    }
}
