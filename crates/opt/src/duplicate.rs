//! Copies of blocks whose values have names of their own, and what is behind both.

use crate::licm;
use crate::ssa::{self, Edges};
use exuvia_ir::{BlockId, Function, Inst, Opcode, Type, Value};
use std::collections::{HashMap, HashSet};

/// A copy of some blocks.
pub(crate) struct Duplicate {
    blocks: HashMap<BlockId, BlockId>,
    values: HashMap<Value, Value>,
}

impl Duplicate {
    /// Copies blocks; what leads from one of them to another leads to the copy there.
    pub(crate) fn of(function: &mut Function, body: &[BlockId]) -> Duplicate {
        let blocks = body.iter().map(|id| (*id, function.new_block())).collect();
        let mut copy = Duplicate { blocks, values: HashMap::new() };
        for (value, _) in defined(function, body) {
            let new = function.new_value(function.ty(value).clone());
            copy.values.insert(value, new);
        }
        for id in body {
            let mut block = function.block(*id).clone();
            let rename = |value: &mut Value| *value = copy.value(*value);
            block.params.iter_mut().for_each(rename);
            for inst in &mut block.insts {
                inst.args.iter_mut().chain(&mut inst.result).for_each(rename);
            }
            block.term.for_each_value_mut(rename);
            block.term.for_each_edge_mut(|edge| edge.block = copy.block(edge.block));
            *function.block_mut(copy.block(*id)) = block;
        }
        copy
    }

    /// The copy of a block, or the block where it was not copied.
    pub(crate) fn block(&self, id: BlockId) -> BlockId {
        self.blocks.get(&id).copied().unwrap_or(id)
    }

    /// The value's name in the copy.
    pub(crate) fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }
}

/// What some blocks define, and where.
fn defined(function: &Function, body: &[BlockId]) -> Vec<(Value, BlockId)> {
    let of = |id: &BlockId| {
        let block = function.block(*id);
        let made = block.insts.iter().filter_map(|inst| inst.result);
        block.params.iter().copied().chain(made).map(|value| (value, *id)).collect::<Vec<_>>()
    };
    body.iter().flat_map(of).collect()
}

/// Makes of a parameter of a block what an instruction gives, of a new one of that type or of nothing.
pub(crate) fn set_param(
    function: &mut Function,
    id: BlockId,
    place: usize,
    ty: Type,
    make: impl FnOnce(Value) -> Inst,
) {
    let new = function.new_value(ty);
    let block = function.block_mut(id);
    let old = std::mem::replace(&mut block.params[place], new);
    block.insts.insert(0, Inst { result: Some(old), ..make(new) });
}

/// An instruction without result yet.
pub(crate) fn inst(op: Opcode, args: Vec<Value>) -> Inst {
    Inst { op, args, ..licm::nothing() }
}

/// Joins what some blocks, which do not unwind, and their copies define where it is used behind them.
pub(crate) fn join(function: &mut Function, body: &[BlockId], copies: &[Duplicate]) {
    let defined = defined(function, body);
    let values: Vec<Value> = defined.iter().map(|(value, _)| *value).collect();
    let copied = copies.iter().flat_map(|copy| body.iter().map(|id| copy.block(*id)));
    let inside: HashSet<BlockId> = copied.chain(body.iter().copied()).collect();
    let users = ssa::users(function, &values, |block| inside.contains(&block));
    let edges = Edges::new(function);
    for ((value, home), users) in defined.iter().zip(&users) {
        if !users.is_empty() {
            let mut definitions = vec![(*home, *value)];
            definitions.extend(copies.iter().map(|copy| (copy.block(*home), copy.value(*value))));
            ssa::repair(function, &edges, *value, &definitions, users);
        }
    }
}
