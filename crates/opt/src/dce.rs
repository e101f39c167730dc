//! Removes what nobody uses: instructions and block parameters.
//!
//! Law: an instruction is needed if it may raise, bail out, write, call or poll, or if
//! its result is needed; a parameter is needed if it is used by something needed, where
//! passing it to a parameter that is not needed does not count. The exception that a
//! handler receives stays its first parameter.

use crate::context::Context;
use exuvia_ir::{Edge, Function, Value};

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let needed = needed(function, context);
    for block in &mut function.blocks {
        block
            .insts
            .retain(|inst| inst.result.is_some_and(|value| needed[value.index()]) || !context.is_removable(inst));
        // A result that is not used is not even named, so that later passes see it.
        for inst in &mut block.insts {
            inst.result = inst.result.filter(|value| needed[value.index()]);
        }
    }
    drop_params(function, &needed);
}

/// Which values are needed.
fn needed(function: &Function, context: &mut Context) -> Vec<bool> {
    let mut needed = vec![false; function.values.len()];
    let mut work: Vec<Value> = Vec::new();
    // Where each value comes from: an instruction, or a parameter with its arguments.
    let mut definition: Vec<(u32, u32)> = vec![(u32::MAX, u32::MAX); function.values.len()];
    let mut param_of: Vec<(u32, u32)> = vec![(u32::MAX, 0); function.values.len()];
    let mut incoming: Vec<Vec<(&Edge, usize)>> = vec![Vec::new(); function.blocks.len()];
    for (at, block) in function.blocks.iter().enumerate() {
        for (index, param) in block.params.iter().enumerate() {
            param_of[param.index()] = (at as u32, index as u32);
        }
        for (index, inst) in block.insts.iter().enumerate() {
            if let Some(result) = inst.result {
                definition[result.index()] = (at as u32, index as u32);
            }
            if let Some(edge) = &inst.unwind {
                incoming[edge.block.index()].push((edge, 1));
            }
            if !context.is_removable(inst) {
                work.extend(&inst.args);
            }
        }
        block.term.for_each_edge(|edge| incoming[edge.block.index()].push((edge, 0)));
        term_operands(&block.term, &mut work);
    }
    // A handler's exception stays, so what jumps pass for it is needed.
    for (block, edges) in function.blocks.iter().zip(&incoming) {
        if edges.iter().any(|(_, skip)| *skip == 1) {
            work.extend(block.params.first());
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut needed[value.index()], true) {
            continue;
        }
        let (block, index) = definition[value.index()];
        if block != u32::MAX {
            work.extend(&function.blocks[block as usize].insts[index as usize].args);
        }
        let (block, index) = param_of[value.index()];
        if block != u32::MAX {
            for (edge, skip) in &incoming[block as usize] {
                // On an unwind edge the exception is not among the arguments.
                if let Some(index) = (index as usize).checked_sub(*skip) {
                    work.push(edge.args[index]);
                }
            }
        }
    }
    needed
}

/// The values that a terminator itself uses, arguments of edges apart.
pub(crate) fn term_operands(term: &exuvia_ir::Terminator, out: &mut Vec<Value>) {
    use exuvia_ir::Terminator::*;
    match term {
        Branch(value, ..) | Return(value) | Reraise(value, _) => out.push(*value),
        Raise(_, args, _) => out.extend(args),
        Jump(_) | Open | Bailout(..) | Unreachable => {}
    }
}

/// Drops the parameters that are not `needed`, with their arguments. The entry's are the
/// function's and stay.
pub(crate) fn drop_params(function: &mut Function, needed: &[bool]) {
    let mut handler = vec![false; function.blocks.len()];
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let Some(edge) = &inst.unwind {
            handler[edge.block.index()] = true;
        }
    }
    let keep: Vec<Option<Vec<bool>>> = (function.blocks.iter().enumerate())
        .map(|(at, block)| {
            let stays =
                |(index, param): (usize, &Value)| needed[param.index()] || at == 0 || (index == 0 && handler[at]);
            let kept: Vec<bool> = block.params.iter().enumerate().map(stays).collect();
            kept.contains(&false).then_some(kept)
        })
        .collect();
    if keep.iter().all(Option::is_none) {
        return;
    }
    let filter = |values: &mut Vec<Value>, keep: &[bool]| {
        let mut at = 0;
        values.retain(|_| {
            at += 1;
            keep[at - 1]
        });
    };
    for (at, block) in function.blocks.iter_mut().enumerate() {
        if let Some(keep) = &keep[at] {
            filter(&mut block.params, keep);
        }
        for edge in block.insts.iter_mut().filter_map(|inst| inst.unwind.as_mut()) {
            if let Some(keep) = &keep[edge.block.index()] {
                filter(&mut edge.args, &keep[1..]);
            }
        }
        block.term.for_each_edge_mut(|edge| {
            if let Some(keep) = &keep[edge.block.index()] {
                filter(&mut edge.args, keep);
            }
        });
    }
}
