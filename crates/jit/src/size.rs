//! How large a function is for the code generator, which must end soon whatever it is given.
//!
//! The generator's time grows with the instructions, and its register allocator's, and its
//! memory, with the blocks over which values live: 5,000 texts that wait for the last of
//! them, with a branch for each, are 25 million pairs of a value and a block.

use crate::live::definition;
use crate::slots;
use exuvia_ir::{BlockId, Flow, Function, Inst, Opcode, Type, Value};
use exuvia_ops::def::{Body, Effect, OpDef};

/// Pairs of a register and a block over which it lives, in one function.
pub(crate) const MAX_SPANS: usize = 1_000_000;

/// From so many pairs on registers are allocated in one pass, whose time is that of reading the
/// code; its code has more loads and stores.
pub(crate) const LARGE_SPANS: usize = 60_000;

/// Instructions of one kernel, as they are given to the generator.
pub(crate) const MAX_INSTRUCTIONS: usize = 150_000;

/// Pairs of a register and a block over which it lives, counted up to a limit. Native code has
/// more blocks than the function: an instruction that may fail ends one.
pub(crate) fn spans(function: &Function, limit: usize) -> usize {
    let lives = lives(function);
    let before = predecessors(function);
    let mut seen = vec![usize::MAX; function.blocks.len()];
    let mut count = arguments(function);
    let mut work: Vec<usize> = Vec::new();
    for (value, life) in lives.values.iter().enumerate() {
        let registers = slots::count(&function.values[value].ty).max(1);
        let mut enter = |block: usize, work: &mut Vec<usize>| {
            if block != life.home && std::mem::replace(&mut seen[block], value) != value {
                work.push(block);
            }
        };
        life.used.iter().for_each(|block| enter(*block, &mut work));
        // In the block that makes it, it lives to its last use, or to the end.
        let last = if work.is_empty() { life.last } else { lives.ends[life.home] };
        count += registers * last.saturating_sub(life.made);
        while let Some(block) = work.pop() {
            count += registers * (lives.ends[block] + 1);
            if count >= limit {
                return limit;
            }
            before[block].iter().for_each(|block| enter(*block, &mut work));
        }
    }
    count.min(limit)
}

/// Pairs of arguments on the ways between blocks: the allocator looks for a register for each of
/// them where the others are. 170 assignments in one `try`, each of which may raise, have 170 ways
/// of 170 arguments to its handler, for which it takes over a second.
fn arguments(function: &Function) -> usize {
    let mut pairs = 0;
    for block in &function.blocks {
        block.insts.iter().filter_map(|inst| inst.unwind.as_ref()).for_each(|edge| pairs += edge.args.len().pow(2));
        block.term.for_each_edge(|edge| pairs += edge.args.len().pow(2));
    }
    pairs
}

/// Where a value lives.
#[derive(Clone, Default)]
struct Life {
    /// The block that makes it, and how many native blocks of that end before.
    home: usize,
    made: usize,
    /// The same of its last use there.
    last: usize,
    /// Blocks that use it.
    used: Vec<usize>,
}

struct Lives {
    values: Vec<Life>,
    /// How many native blocks end in each block.
    ends: Vec<usize>,
}

fn lives(function: &Function) -> Lives {
    let mut values = vec![Life::default(); function.values.len()];
    for (at, block) in function.blocks.iter().enumerate() {
        for value in block.params.iter().copied().chain(block.insts.iter().filter_map(|inst| inst.result)) {
            values[value.index()].home = at;
        }
    }
    let mut ends = Vec::new();
    for (at, block) in function.blocks.iter().enumerate() {
        let mut ended = 0;
        let uses = |value: Value, ended: usize, values: &mut Vec<Life>| {
            let life = &mut values[value.index()];
            if life.home == at {
                life.last = life.last.max(ended);
            } else if life.used.last() != Some(&at) {
                life.used.push(at);
            }
        };
        for inst in &block.insts {
            inst.args.iter().for_each(|arg| uses(*arg, ended, &mut values));
            ended += usize::from(ends_block(function, inst));
            inst.unwind.iter().flat_map(|edge| &edge.args).for_each(|arg| uses(*arg, ended, &mut values));
            if let Some(result) = inst.result {
                values[result.index()].made = ended;
            }
        }
        block.term.for_each_value(|value| uses(value, ended, &mut values));
        ends.push(ended);
    }
    Lives { values, ends }
}

/// Whether native code of an instruction branches, as far as is known without its ranges: an int
/// may not fit.
fn ends_block(function: &Function, inst: &Inst) -> bool {
    let is_int = inst.result.is_some_and(|result| *function.ty(result) == Type::Int);
    let branches = |def: &OpDef| match def.body {
        Body::Core(_) => is_int || def.can_fail() || def.effect != Effect::Pure,
        Body::Kernel { .. } => true,
    };
    match inst.op {
        Opcode::Op(_) => definition(inst).is_none_or(branches),
        Opcode::Message(_) => true,
        _ => !inst.op.only_makes(),
    }
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
