//! Counters that grow too slowly to overflow.
//!
//! Law: an integer that begins below 2^42 and changes by at most 2^14 at a time needs
//! 2^48 additions to pass 2^62. At one addition a nanosecond, far faster than any loop
//! with its poll, that is more than three days for one row; so the additions need no
//! check. This covers what intervals cannot, since they do not count rounds: `n += 1`
//! beside the loop's own counter.
//!
//! A value is *slow* if its interval is small, if it joins slow values, or if it is a
//! slow value plus or minus one of a small interval. The sum of two slow values is not:
//! it can double in every round.

use crate::context::Context;
use crate::interval::Interval;
use exuvia_ir::{BlockId, Edge, Function, Type, Value};
use exuvia_ops::core::CoreOp;

const START: Interval = Interval { lo: -(1 << 42), hi: 1 << 42 };
const STEP: Interval = Interval { lo: -(1 << 14), hi: 1 << 14 };

/// An addition or subtraction that may overflow as far as intervals know.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    pub(crate) block: BlockId,
    pub(crate) at: usize,
    /// The intervals of the operands where it stands.
    pub(crate) operands: [Interval; 2],
}

/// Which of `sums` cannot overflow. `intervals` are those of all values where they are
/// defined.
pub(crate) fn bounded(function: &Function, context: &mut Context, intervals: &[Interval], sums: &[Sum]) -> Vec<Sum> {
    if sums.is_empty() {
        return Vec::new();
    }
    // Everything is slow until shown otherwise: what a loop feeds back must not decide.
    let is_int = |value: usize| function.values[value].ty == Type::Int;
    let small: Vec<bool> = (0..intervals.len()).map(|value| intervals[value].is_within(START)).collect();
    let mut slow: Vec<bool> = (0..intervals.len()).map(is_int).collect();
    let mut from: Vec<Option<[Option<Value>; 2]>> = vec![None; intervals.len()];
    for sum in sums {
        let inst = &function.block(sum.block).insts[sum.at];
        let is_difference = context.core_of(inst) == Some(CoreOp::IntSub);
        if let Some(result) = inst.result {
            let base = |at: usize| (sum.operands[1 - at].is_within(STEP)).then(|| inst.args[at]);
            from[result.index()] = Some([base(0), if is_difference { None } else { base(1) }]);
        }
    }
    for (at, block) in function.blocks.iter().enumerate() {
        for inst in &block.insts {
            if let Some(result) = inst.result {
                slow[result.index()] &= small[result.index()] || from[result.index()].is_some();
            }
        }
        if at == 0 {
            block.params.iter().for_each(|param| slow[param.index()] &= small[param.index()]);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in &function.blocks {
            let mut join = |slow: &mut Vec<bool>, edge: &Edge, skip: usize| {
                for (param, arg) in function.block(edge.block).params[skip..].iter().zip(&edge.args) {
                    if slow[param.index()] && !slow[arg.index()] && !small[param.index()] {
                        slow[param.index()] = false;
                        changed = true;
                    }
                }
            };
            for inst in &block.insts {
                if let Some(edge) = &inst.unwind {
                    join(&mut slow, edge, 1);
                }
            }
            block.term.for_each_edge(|edge| join(&mut slow, edge, 0));
        }
        for (value, from) in from.iter().enumerate() {
            if let Some(from) = from
                && slow[value]
                && !small[value]
                && !from.iter().flatten().any(|base| slow[base.index()])
            {
                slow[value] = false;
                changed = true;
            }
        }
    }
    let fits = |sum: &Sum| {
        let result = function.block(sum.block).insts[sum.at].result;
        // The operand that the sum is slow by must be slow itself.
        result
            .and_then(|result| from[result.index()])
            .is_some_and(|from| from.iter().flatten().any(|base| slow[base.index()]))
    };
    sums.iter().copied().filter(fits).collect()
}
