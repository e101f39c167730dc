//! Which values native code must compute.
//!
//! Natively an exception is only its class, so what merely feeds the arguments of an
//! exception is not computed: a row that raises is redone by the evaluator, which
//! builds the message. An instruction that can itself raise stays even if its result
//! is not needed, because a handler may see the exception, and so does one that leaves operands to
//! CPython, which may raise; one that can only bail out for memory or a range may go, because
//! that changes the rung and not the answer.

use exuvia_ir::{BlockId, Edge, Function, Inst, Opcode, Terminator};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Bails, Body, OpDef};

/// The values, instructions and blocks that are needed.
#[derive(Debug)]
pub struct Live {
    values: Vec<bool>,
    /// The blocks that control can reach, in reverse postorder.
    pub order: Vec<BlockId>,
}

impl Live {
    /// Whether the value is needed.
    pub fn value(&self, value: exuvia_ir::Value) -> bool {
        self.values.get(value.index()).copied().unwrap_or(false)
    }

    /// Whether the instruction must be done.
    pub fn inst(&self, inst: &Inst) -> bool {
        !removable(inst) || inst.result.is_some_and(|result| self.value(result))
    }
}

/// The definition of the operation that an instruction does, if it is one.
pub(crate) fn definition(inst: &Inst) -> Option<&'static OpDef> {
    match inst.op {
        Opcode::Op(name) => exuvia_ops::by_name(name),
        _ => None,
    }
}

/// The core operation that an instruction does, if it is one.
pub(crate) fn core_op(inst: &Inst) -> Option<CoreOp> {
    match definition(inst)?.body {
        Body::Core(op) => Some(op),
        Body::Kernel { .. } => None,
    }
}

/// Whether the instruction may go if nobody needs its result.
fn removable(inst: &Inst) -> bool {
    match &inst.op {
        Opcode::Op(_) => definition(inst).is_some_and(|def| {
            // What they bail out for is an error, or another value.
            let checks = matches!(def.body, Body::Core(CoreOp::Reject | CoreOp::IntFits));
            // What leaves for CPython to read its operands may leave for an exception.
            let may_raise = !def.raises.is_empty() || def.bails == Bails::Operands;
            !may_raise && !def.effect.writes() && !checks
        }),
        op => op.only_makes(),
    }
}

/// Whether native code of the instruction reads its operands.
fn reads_operands(inst: &Inst) -> bool {
    match &inst.op {
        Opcode::NewExc(_) => false,
        Opcode::Op(_) => {
            !definition(inst).is_some_and(|def| matches!(def.body, Body::Core(CoreOp::ExcMessage | CoreOp::Reject)))
        }
        _ => true,
    }
}

/// Analyses a function.
pub fn analyse(function: &Function) -> Live {
    let mut live = Live { values: vec![false; function.values.len()], order: Vec::new() };
    // Needs only grow, so passing over the blocks from the last to the first until
    // nothing changes terminates, usually after two or three rounds.
    loop {
        let mut changed = false;
        for block in function.blocks.iter().rev() {
            let mut need = |values: &mut Vec<bool>, value: exuvia_ir::Value| {
                if let Some(needed) = values.get_mut(value.index())
                    && !*needed
                {
                    *needed = true;
                    changed = true;
                }
            };
            match &block.term {
                Terminator::Branch(cond, ..) => need(&mut live.values, *cond),
                Terminator::Return(value) | Terminator::Reraise(value, _) => need(&mut live.values, *value),
                Terminator::Jump(_)
                | Terminator::Open
                | Terminator::Raise(..)
                | Terminator::Bailout(..)
                | Terminator::Unreachable => {}
            }
            for edge in block.term.edges() {
                for value in needed_arguments(function, edge, 0, &live.values) {
                    need(&mut live.values, value);
                }
            }
            for inst in block.insts.iter().rev() {
                if !live.inst(inst) {
                    continue;
                }
                if reads_operands(inst) {
                    inst.args.iter().for_each(|arg| need(&mut live.values, *arg));
                }
                if let Some(edge) = &inst.unwind {
                    for value in needed_arguments(function, edge, 1, &live.values) {
                        need(&mut live.values, value);
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    live.order = reverse_postorder(function, &live);
    live
}

/// The arguments of an edge whose parameters are needed; `skip` parameters come first
/// that the edge does not pass.
fn needed_arguments(function: &Function, edge: &Edge, skip: usize, values: &[bool]) -> Vec<exuvia_ir::Value> {
    let Some(target) = function.blocks.get(edge.block.index()) else { return Vec::new() };
    target
        .params
        .iter()
        .skip(skip)
        .zip(&edge.args)
        .filter(|(param, _)| values.get(param.index()).copied().unwrap_or(false))
        .map(|(_, arg)| *arg)
        .collect()
}

/// The reachable blocks, each after all that dominate it.
fn reverse_postorder(function: &Function, live: &Live) -> Vec<BlockId> {
    let successors = |block: BlockId| -> Vec<BlockId> {
        let data = function.block(block);
        data.insts
            .iter()
            .filter(|inst| live.inst(inst))
            .filter_map(|inst| inst.unwind.as_ref())
            .chain(data.term.edges())
            .map(|edge| edge.block)
            .filter(|block| block.index() < function.blocks.len())
            .collect()
    };
    let mut seen = vec![false; function.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(function.entry(), successors(function.entry()))];
    seen[function.entry().index()] = true;
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next.index()] => {
                seen[next.index()] = true;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
