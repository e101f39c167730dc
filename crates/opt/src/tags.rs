//! Which alternatives a union can hold, and which classes an exception can have.
//!
//! The knowledge of a value is a set of at most 64 bits: for a union its alternatives in
//! order, for an exception the codes of its classes. The set is an over-approximation;
//! `ALL` says nothing, the empty set means that the value is never computed.
//!
//! Law of the analysis: a parameter holds what any reachable edge passes. It starts with
//! nothing and grows to a fixpoint, so that what a loop feeds back to itself adds nothing
//! of its own.

use crate::context::Context;
use exuvia_ir::{Edge, ExcKind, Flow, Function, Inst, Opcode, Terminator, Type, Value};

/// A set of alternatives or of classes.
pub(crate) type Tags = u64;

/// Anything.
pub(crate) const ALL: Tags = u64::MAX;

/// The set of the alternatives of `part` within the union `whole`; `ALL` where the set
/// has no room for them.
pub(crate) fn tags_of(whole: &Type, part: &Type) -> Tags {
    let alternatives = whole.alternatives();
    if alternatives.len() > 64 {
        return ALL;
    }
    let bit = |(at, alternative): (usize, &Type)| Tags::from(part.alternatives().contains(alternative)) << at;
    alternatives.iter().enumerate().map(bit).fold(0, |a, b| a | b)
}

/// Carries a set of `from`'s alternatives over to the union `to`.
pub(crate) fn convert(tags: Tags, from: &Type, to: &Type) -> Tags {
    let (from, to) = (from.alternatives(), to.alternatives());
    if from.len() > 64 || to.len() > 64 {
        return ALL;
    }
    let mut converted = 0;
    for (at, alternative) in from.iter().enumerate() {
        if tags >> at & 1 == 1
            && let Some(place) = to.iter().position(|other| other == alternative)
        {
            converted |= 1 << place;
        }
    }
    converted
}

/// The set of one class.
pub(crate) fn class(kind: ExcKind) -> Tags {
    // A class without a bit of its own would be missed.
    const { assert!((ExcKind::TimeoutError as u32) < 64) };
    1 << (kind as u32 & 63)
}

/// Whether the classes in `tags` are all, or none of them, derived from one of `kinds`.
pub(crate) fn are_instances(tags: Tags, kinds: &[ExcKind]) -> Option<bool> {
    if tags == ALL {
        return None;
    }
    let is = |kind: &ExcKind| kinds.iter().any(|base| kind.is_subclass(*base));
    let mut present = ExcKind::ALL.iter().filter(|kind| tags & class(**kind) != 0);
    let first = is(present.next()?);
    present.all(|kind| is(kind) == first).then_some(first)
}

/// Whether a value has a set.
pub(crate) fn has_tags(ty: &Type) -> bool {
    matches!(ty, Type::Union(_) | Type::Exc)
}

/// The set of an instruction's result, from those of its operands.
pub(crate) fn of_inst(function: &Function, inst: &Inst, result: Value, tags: &[Tags]) -> Tags {
    let to = function.ty(result);
    match &inst.op {
        Opcode::NewExc(kind) => class(*kind),
        Opcode::Wrap => {
            let from = function.ty(inst.args[0]);
            match from {
                Type::Union(_) => convert(tags[inst.args[0].index()], from, to),
                _ => tags_of(to, from),
            }
        }
        Opcode::Unwrap if matches!(to, Type::Union(_)) => {
            convert(tags[inst.args[0].index()], function.ty(inst.args[0]), to)
        }
        Opcode::Unwrap
        | Opcode::Const(_)
        | Opcode::Op(_)
        | Opcode::Call(_)
        | Opcode::Is(_)
        | Opcode::Tuple
        | Opcode::Record(_)
        | Opcode::Field(_)
        | Opcode::Box
        | Opcode::Unbox
        | Opcode::List
        | Opcode::ExcIs(_)
        | Opcode::Message(_)
        | Opcode::Poll => ALL,
    }
}

/// The classes with which an instruction may unwind.
pub(crate) fn raised(context: &mut Context, inst: &Inst) -> Tags {
    match context.def_of(inst) {
        Some(def) => def.raises.iter().fold(0, |all, kind| all | class(*kind)),
        None => ALL,
    }
}

/// The sets of all values of a function.
pub(crate) fn analyse(function: &Function, flow: &Flow, context: &mut Context) -> Vec<Tags> {
    let mut tags = vec![ALL; function.values.len()];
    let mut any = false;
    for block in function.blocks.iter().skip(1) {
        for param in &block.params {
            if has_tags(function.ty(*param)) {
                tags[param.index()] = 0;
                any = true;
            }
        }
    }
    if !any {
        // Without parameters to join, one look in order of dominance is enough; whoever
        // asks computes instructions as it meets them.
        return tags;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for segment in flow.order() {
            let part = flow.segment(segment);
            let block = function.block(part.block);
            let mut join = |tags: &mut Vec<Tags>, edge: &Edge, exc: Option<Tags>| {
                let params = &function.block(edge.block).params;
                let given = exc.into_iter().chain(edge.args.iter().map(|arg| tags[arg.index()])).collect::<Vec<_>>();
                for (param, new) in params.iter().zip(given) {
                    let old = tags[param.index()];
                    if old | new != old {
                        tags[param.index()] = old | new;
                        changed = true;
                    }
                }
            };
            for inst in &block.insts[part.insts.clone()] {
                if let Some(result) = inst.result
                    && has_tags(function.ty(result))
                {
                    tags[result.index()] = of_inst(function, inst, result, &tags);
                }
                if let Some(edge) = &inst.unwind {
                    let classes = raised(context, inst);
                    join(&mut tags, edge, Some(classes));
                }
            }
            if part.last {
                match &block.term {
                    Terminator::Jump(edge) => join(&mut tags, edge, None),
                    Terminator::Branch(_, yes, no) => {
                        join(&mut tags, yes, None);
                        join(&mut tags, no, None);
                    }
                    Terminator::Open
                    | Terminator::Return(_)
                    | Terminator::Raise(..)
                    | Terminator::Reraise(..)
                    | Terminator::Bailout(..)
                    | Terminator::Unreachable => {}
                }
            }
        }
    }
    tags
}
