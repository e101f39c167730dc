//! Which lists nobody changes, and between which points nobody changes any.
//!
//! Laws: operations that read a list that nobody changes give the same wherever they are
//! done; operations that read a list give the same as long as no list of that type is
//! changed in between. A list has one element type, so lists of different types are
//! different objects.

use crate::context::Context;
use exuvia_ir::{BlockId, Flow, Function, Inst, Opcode, Type, Value};
use exuvia_ops::def::Effect;

/// For each value whether it is a list that keeps its elements while the function runs,
/// or no list at all.
///
/// That is every list where the function changes none and calls nothing that could. Else
/// it is a list that the function itself made, or a constant, and only reads: it is
/// passed to nothing but reading operations, so no other name for it exists.
pub(crate) fn frozen(function: &Function, context: &mut Context) -> Vec<bool> {
    unchanged(function, context, Context::may_write)
}

/// As [`frozen`], for lists that keep their lengths: others may come to stand in the places of their elements.
pub(crate) fn of_fixed_length(function: &Function, context: &mut Context) -> Vec<bool> {
    unchanged(function, context, Context::may_resize)
}

fn unchanged(function: &Function, context: &mut Context, changes: fn(&mut Context, &Inst) -> bool) -> Vec<bool> {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    if insts().all(|inst| !changes(context, inst)) {
        return vec![true; function.values.len()];
    }
    let is_list = |value: Value| function.ty(value).holds_list();
    let mut kept: Vec<bool> = function.values.iter().map(|value| !value.ty.holds_list()).collect();
    for inst in insts() {
        if let Some(result) = inst.result
            && is_list(result)
        {
            kept[result.index()] = match &inst.op {
                Opcode::Const(_) | Opcode::List => true,
                Opcode::Op(_) => context.def_of(inst).is_some_and(|def| def.effect == Effect::Alloc),
                _ => false,
            };
        }
    }
    for block in &function.blocks {
        for inst in &block.insts {
            let only_reads = match inst.op {
                Opcode::Op(_) | Opcode::Call(_) => !changes(context, inst),
                _ => false,
            };
            // An element that is a list is another name for it, and so is the place that it is put into.
            let reads = only_reads && inst.result.is_none_or(|result| !is_list(result) || context.is_allocation(inst));
            let read = match reads {
                true if context.may_write(inst) => 1,
                true => inst.args.len(),
                false => 0,
            };
            inst.args.iter().skip(read).filter(|arg| is_list(**arg)).for_each(|arg| kept[arg.index()] = false);
            for arg in inst.unwind.iter().flat_map(|edge| &edge.args).filter(|arg| is_list(**arg)) {
                kept[arg.index()] = false;
            }
        }
        block.term.for_each_value(|value| {
            if is_list(value) {
                kept[value.index()] = false;
            }
        });
    }
    kept
}

/// The state of all lists of each type at a point: a number that changes when one of
/// them may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State(Vec<u32>);

/// The states at the points of a function.
pub(crate) struct States {
    /// The types of lists that are changed.
    types: Vec<Type>,
    /// The state at the start of each reachable segment.
    entry: Vec<Option<State>>,
    /// The number of a change: this plus the place of the instruction in the function.
    first: Vec<u32>,
}

impl States {
    pub(crate) fn new(function: &Function, flow: &Flow, context: &mut Context) -> States {
        let mut types: Vec<Type> = Vec::new();
        let mut first = Vec::with_capacity(function.blocks.len());
        let mut count = flow.len() as u32;
        for block in &function.blocks {
            first.push(count);
            count += block.insts.len() as u32;
            for inst in &block.insts {
                let is_write = matches!(inst.op, Opcode::Op(_)) && context.may_write(inst);
                for arg in inst.args.iter().filter(|_| is_write) {
                    let ty = function.ty(*arg);
                    if matches!(ty, Type::List(_)) && !types.contains(ty) {
                        types.push(ty.clone());
                    }
                }
            }
        }
        let mut states = States { types, entry: vec![None; flow.len()], first };
        let mut exit: Vec<Option<State>> = vec![None; flow.len()];
        for segment in flow.order() {
            let mut before = flow.predecessors(segment).map(|before| exit[before].as_ref());
            // Where ways with different states meet, or a loop comes back, nothing is known.
            let unknown = State(vec![segment as u32; states.types.len()]);
            let mut state = before.next().flatten().cloned().unwrap_or_else(|| unknown.clone());
            for other in before {
                match other {
                    None => state = unknown.clone(),
                    Some(other) => {
                        for (mine, other) in state.0.iter_mut().zip(&other.0) {
                            if mine != other {
                                *mine = segment as u32;
                            }
                        }
                    }
                }
            }
            states.entry[segment] = Some(state.clone());
            let part = flow.segment(segment);
            for at in part.insts.clone() {
                states.after(&mut state, function, context, part.block, at);
            }
            exit[segment] = Some(state);
        }
        states
    }

    /// The state at the start of a segment.
    pub(crate) fn entry(&self, segment: usize) -> State {
        self.entry[segment].clone().unwrap_or_else(|| State(vec![segment as u32; self.types.len()]))
    }

    /// Brings a state past an instruction.
    pub(crate) fn after(
        &self,
        state: &mut State,
        function: &Function,
        context: &mut Context,
        block: BlockId,
        at: usize,
    ) {
        let inst = &function.block(block).insts[at];
        if self.types.is_empty() || !context.may_write(inst) {
            return;
        }
        let number = self.first[block.index()] + at as u32;
        for (ty, state) in self.types.iter().zip(&mut state.0) {
            let changes = match inst.op {
                Opcode::Call(_) => true,
                _ => inst.args.iter().any(|arg| function.ty(*arg) == ty),
            };
            if changes {
                *state = number;
            }
        }
    }

    /// The number of the state of the lists of a type; 0 for what is never changed.
    /// `None` for lists that hold lists: an operation could look through them.
    pub(crate) fn of(&self, state: &State, ty: &Type) -> Option<u32> {
        if matches!(ty, Type::List(element) if element.holds_list()) {
            return None;
        }
        Some(self.types.iter().position(|other| other == ty).map_or(0, |at| state.0[at]))
    }
}
