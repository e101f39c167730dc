//! Rules for tuples, and for lists that are used like tuples.
//!
//! Laws: a field of a tuple or record that was just made is the operand; a field of a constant
//! tuple is a constant; what a box holds that was just made is what was put into it; a tuple of
//! all fields of one tuple, in order, is that tuple. The element at a constant index of a list
//! that nobody changes is the operand of its making, and its length is their number.

use crate::elements;
use crate::known::Known;
use crate::simplify::Rewrite;
use exuvia_ir::{Inst, Object, Opcode, Type};
use exuvia_ops::core::CoreOp;

pub(crate) fn field(known: &mut Known<'_>, inst: &Inst, index: usize) -> Option<Rewrite> {
    if let Some(made) = known.inst(inst.args[0])
        && matches!(made.op, Opcode::Tuple | Opcode::Record(_))
    {
        return Some(Rewrite::Same(made.args[index]));
    }
    match known.constant(inst.args[0])? {
        Object::Tuple(items) => items.get(index).cloned().map(Rewrite::Const),
        Object::Record(record) => record.fields.get(index).cloned().map(Rewrite::Const),
        _ => None,
    }
}

/// What was just put into a box.
pub(crate) fn unbox(known: &mut Known<'_>, inst: &Inst) -> Option<Rewrite> {
    let made = known.inst(inst.args[0])?;
    (made.op == Opcode::Box).then(|| Rewrite::Same(made.args[0]))
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

pub(crate) fn list(known: &mut Known<'_>, inst: &Inst, op: CoreOp) -> Option<Rewrite> {
    let list = *inst.args.first()?;
    let made = known.inst(list)?;
    if made.op != Opcode::List || !known.is_frozen(list) {
        return None;
    }
    let items = made.args.clone();
    let count = i64::try_from(items.len()).ok()?;
    match op {
        CoreOp::ListLen => Some(Rewrite::Const(Object::int(count))),
        CoreOp::ListTruth => Some(Rewrite::Const(Object::Bool(count > 0))),
        CoreOp::ListGet | CoreOp::ListGetUnchecked => {
            let at = elements::index(&items, known.int(inst.args[1])?)?;
            Some(Rewrite::Same(items[at]))
        }
        _ => None,
    }
}
