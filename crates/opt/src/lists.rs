//! Which lists nobody changes.
//!
//! Law: operations that read such a list give the same wherever they are done.

use crate::context::Context;
use exuvia_ir::{Function, Inst, Opcode, Type, Value};
use exuvia_ops::def::Effect;

/// For each value whether it is a list that keeps its elements while the function runs,
/// or no list at all.
///
/// That is every list where the function changes none and calls nothing that could. Else
/// it is a list that the function itself made, or a constant, and only reads: it is
/// passed to nothing but reading operations, so no other name for it exists.
pub(crate) fn frozen(function: &Function, context: &mut Context) -> Vec<bool> {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    if insts().all(|inst| !may_write(inst, context)) {
        return vec![true; function.values.len()];
    }
    let is_list = |value: Value| contains_list(function.ty(value));
    let mut frozen: Vec<bool> = function.values.iter().map(|value| !contains_list(&value.ty)).collect();
    for inst in insts() {
        if let Some(result) = inst.result
            && is_list(result)
        {
            frozen[result.index()] = match &inst.op {
                Opcode::Const(_) | Opcode::List => true,
                Opcode::Op(_) => context.def_of(inst).is_some_and(|def| def.effect == Effect::Alloc),
                _ => false,
            };
        }
    }
    for block in &function.blocks {
        for inst in &block.insts {
            // An element that is a list is another name for it.
            let reads = context.def_of(inst).is_some_and(|def| def.effect != Effect::Write)
                && inst.result.is_none_or(|result| !is_list(result) || context.is_allocation(inst));
            if !reads {
                inst.args.iter().filter(|arg| is_list(**arg)).for_each(|arg| frozen[arg.index()] = false);
            }
            for arg in inst.unwind.iter().flat_map(|edge| &edge.args).filter(|arg| is_list(**arg)) {
                frozen[arg.index()] = false;
            }
        }
        block.term.for_each_value(|value| {
            if is_list(value) {
                frozen[value.index()] = false;
            }
        });
    }
    frozen
}

fn contains_list(ty: &Type) -> bool {
    match ty {
        Type::List(_) => true,
        Type::Tuple(types) | Type::Union(types) => types.iter().any(contains_list),
        Type::Dict(key, value) => contains_list(key) || contains_list(value),
        Type::Set(element) => contains_list(element),
        Type::Never | Type::Unbound | Type::None | Type::Bool | Type::Int | Type::Float | Type::Str | Type::Exc => {
            false
        }
    }
}

fn may_write(inst: &Inst, context: &mut Context) -> bool {
    match inst.op {
        Opcode::Op(name) => context.def(name).is_none_or(|def| def.effect == Effect::Write),
        Opcode::Call(_) => true,
        Opcode::Const(_)
        | Opcode::Wrap
        | Opcode::Is(_)
        | Opcode::Unwrap
        | Opcode::Tuple
        | Opcode::Field(_)
        | Opcode::List
        | Opcode::NewExc(_)
        | Opcode::ExcIs(_)
        | Opcode::Poll => false,
    }
}
