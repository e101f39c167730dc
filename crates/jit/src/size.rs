//! How large a function is for the code generator, which must end soon whatever it is given.
//!
//! The generator's time grows with the instructions, and its register allocator's, and its
//! memory, with the blocks over which values live: 5,000 texts that wait for the last of
//! them, with a branch for each, are 25 million pairs of a value and a block.

use crate::slots;
use exuvia_ir::{BlockId, Flow, Function, Value};

/// Pairs of a register and a block over which it lives, in one function.
pub(crate) const MAX_SPANS: usize = 2_000_000;

/// Instructions of one kernel, as they are given to the generator.
pub(crate) const MAX_INSTRUCTIONS: usize = 150_000;

/// Pairs of a register and a block into which it lives, counted up to a limit.
pub(crate) fn spans(function: &Function, limit: usize) -> usize {
    let (made, used) = places(function);
    let before = predecessors(function);
    let mut seen = vec![usize::MAX; function.blocks.len()];
    let mut count = 0;
    let mut work: Vec<usize> = Vec::new();
    for (value, (blocks, home)) in used.iter().zip(&made).enumerate() {
        let registers = slots::count(&function.values[value].ty).max(1);
        let mut enter = |block: usize, work: &mut Vec<usize>| {
            if block != *home && std::mem::replace(&mut seen[block], value) != value {
                work.push(block);
            }
        };
        blocks.iter().for_each(|block| enter(*block, &mut work));
        while let Some(block) = work.pop() {
            count += registers;
            if count >= limit {
                return limit;
            }
            before[block].iter().for_each(|block| enter(*block, &mut work));
        }
    }
    count
}

/// The block that makes each value, and the blocks that use it.
fn places(function: &Function) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut made = vec![0; function.values.len()];
    let mut used: Vec<Vec<usize>> = vec![Vec::new(); function.values.len()];
    for (at, block) in function.blocks.iter().enumerate() {
        let mut uses = |value: Value| {
            let blocks = &mut used[value.index()];
            if blocks.last() != Some(&at) {
                blocks.push(at);
            }
        };
        for param in &block.params {
            made[param.index()] = at;
        }
        for inst in &block.insts {
            inst.args.iter().for_each(|arg| uses(*arg));
            inst.unwind.iter().flat_map(|edge| &edge.args).for_each(|arg| uses(*arg));
            if let Some(result) = inst.result {
                made[result.index()] = at;
            }
        }
        block.term.for_each_value(uses);
    }
    (made, used)
}

fn predecessors(function: &Function) -> Vec<Vec<usize>> {
    let flow = Flow::new(function);
    let mut before = vec![Vec::new(); function.blocks.len()];
    for (at, all) in before.iter_mut().enumerate() {
        let first = flow.first(BlockId(at as u32));
        all.extend(flow.predecessors(first).map(|segment| flow.segment(segment).block.index()));
    }
    before
}
