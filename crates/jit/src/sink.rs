//! Where arguments are first needed.
//!
//! A loop that drops rows looks at most of its columns only for rows that it keeps. Those
//! are read, and texts decoded, where the row gets so far: at the start of the block that
//! dominates all uses, or of one above it where that block is run more than once a row.

use crate::live::Live;
use exuvia_ir::{BlockId, Flow, Function, Value};

/// For each parameter the block at whose start it is read; `None` for the entry, and for
/// what is not needed at all.
pub(crate) fn places(function: &Function, live: &Live) -> Vec<Option<BlockId>> {
    let flow = Flow::new(function);
    let params = &function.block(function.entry()).params;
    let mut places: Vec<Option<usize>> = vec![None; params.len()];
    let mut used = |value: Value, segment: usize| {
        if let Some(at) = params.iter().position(|param| *param == value) {
            places[at] = Some(places[at].map_or(segment, |place| flow.meet(place, segment)));
        }
    };
    for id in &live.order {
        let block = function.block(*id);
        let mut segment = flow.first(*id);
        for inst in &block.insts {
            if live.inst(inst) {
                let passed = inst.unwind.iter().flat_map(|edge| &edge.args);
                inst.args.iter().chain(passed).for_each(|value| used(*value, segment));
            }
            segment += usize::from(inst.unwind.is_some());
        }
        block.term.for_each_value(|value| used(value, segment));
    }
    let block = |place: usize| {
        let mut at = place;
        while repeats(function, &flow, at) {
            at = flow.parent(at)?;
        }
        Some(flow.segment(at).block).filter(|block| *block != function.entry())
    };
    places.into_iter().map(|place| place.and_then(block)).collect()
}

/// Whether control can come back to a segment's block.
fn repeats(function: &Function, flow: &Flow, at: usize) -> bool {
    let first = flow.first(flow.segment(at).block);
    let mut seen = vec![false; flow.len()];
    let mut open = vec![first];
    while let Some(next) = open.pop() {
        let mut back = false;
        flow.for_each_successor(function, next, |to| {
            back |= to == first;
            if !std::mem::replace(&mut seen[to], true) {
                open.push(to);
            }
        });
        if back {
            return true;
        }
    }
    false
}
