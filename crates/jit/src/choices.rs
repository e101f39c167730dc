//! Branches that only choose between values, which need no jump.
//!
//! Where both ways of a branch lead to the same block, and what lies on them is cheap and harmless, both are
//! computed and the values chosen: `1.0 if x > 0.0 else 0.0` costs the same whatever `x` is, while a jump that the
//! processor guesses wrongly costs as much as twenty additions. Ways may branch again to the same block:
//!
//! ```text
//! b10: branch v24 b11 b12          b10: v26 = float.lt v22 v23
//! b11: jump b15(1.0)                    v28 = float.eq v22 v23
//! b12: v26 = float.lt v22 v23           v29 = v24 ? 1.0 : v26 ? -1.0 : v28 ? v23 : v22
//!      branch v26 b13 b14               jump b15(v29)
//! b13: jump b15(-1.0)
//! b14: v28 = float.eq v22 v23
//!      branch v28 b15(v23) b15(v22)
//! ```
//!
//! What a loop carries from round to round is not chosen where it is a float: a choice waits for the comparison
//! and for both values, where a jump that is guessed rightly (`if x > most: most = x`) waits for neither.

use crate::live::{Live, definition};
use crate::slots;
use crate::width::Widths;
use cranelift_codegen::ir::types;
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Int, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::Body;
use std::collections::{HashMap, HashSet};

/// How many instructions both ways together may take, a choice of a word being one.
const MOST: usize = 6;

/// The choices of a function.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// Where both ways of a block's branch lead.
    joins: HashMap<BlockId, BlockId>,
    /// The blocks on those ways, which are translated where the branch is.
    absorbed: HashSet<BlockId>,
}

/// What is known of a block whose branch is a choice.
#[derive(Clone, Copy)]
struct Found {
    join: BlockId,
    cost: usize,
}

/// What the search reads.
struct Search<'f> {
    function: &'f Function,
    live: &'f Live,
    widths: &'f Widths,
    constants: &'f HashMap<Value, &'f Object>,
    /// The edges that lead to each block.
    entries: Vec<usize>,
    /// The blocks at which loops begin.
    heads: Vec<bool>,
    /// Others that stay blocks.
    kept: Vec<bool>,
    /// The values that some loop carries to its next round.
    carried: HashSet<Value>,
    found: HashMap<BlockId, Found>,
}

impl Choices {
    /// Where the branch of a block leads, if it is a choice.
    pub fn join(&self, block: BlockId) -> Option<BlockId> {
        self.joins.get(&block).copied()
    }

    /// Whether a block is translated where the branch before it is.
    pub fn is_absorbed(&self, block: BlockId) -> bool {
        self.absorbed.contains(&block)
    }

    /// Those of a function; the blocks of `kept` stay blocks.
    pub fn of(
        function: &Function,
        flow: &Flow,
        live: &Live,
        widths: &Widths,
        constants: &HashMap<Value, &Object>,
        kept: impl Fn(BlockId) -> bool,
    ) -> Choices {
        let mut search = Search::new(function, flow, live, widths, constants, kept);
        let mut choices = Choices::default();
        // Inner choices come first: each block stands after those that lead to it.
        for &block in live.order.iter().rev() {
            let Terminator::Branch(_, yes, no) = &function.block(block).term else { continue };
            if let Some(found) = search.choice(yes, no) {
                search.found.insert(block, found);
            }
        }
        for &block in &live.order {
            let (false, Some(found)) = (choices.absorbed.contains(&block), search.found.get(&block)) else { continue };
            let join = found.join;
            choices.joins.insert(block, join);
            let mut ways = vec![block];
            while let Some(at) = ways.pop() {
                for next in function.block(at).term.edges().iter().map(|edge| edge.block).filter(|next| *next != join) {
                    choices.absorbed.insert(next);
                    ways.push(next);
                }
            }
        }
        choices
    }
}

impl<'f> Search<'f> {
    fn new(
        function: &'f Function,
        flow: &Flow,
        live: &'f Live,
        widths: &'f Widths,
        constants: &'f HashMap<Value, &'f Object>,
        kept: impl Fn(BlockId) -> bool,
    ) -> Search<'f> {
        let mut entries = vec![0; function.blocks.len()];
        let mut carried = HashSet::new();
        let heads: Vec<bool> =
            (0..function.blocks.len()).map(|at| flow.is_head(flow.first(BlockId(at as u32)))).collect();
        for block in &live.order {
            let data = function.block(*block);
            let unwinds = data.insts.iter().filter(|inst| live.inst(inst)).filter_map(|inst| inst.unwind.as_ref());
            for edge in unwinds.chain(data.term.edges()) {
                entries[edge.block.index()] += 1;
                if heads[edge.block.index()] {
                    carried.extend(edge.args.iter().copied());
                }
            }
        }
        let kept = (0..function.blocks.len()).map(|at| kept(BlockId(at as u32))).collect();
        Search { function, live, widths, constants, entries, heads, kept, carried, found: HashMap::new() }
    }

    /// What a branch with these ways comes to, if it is a choice.
    fn choice(&self, yes: &Edge, no: &Edge) -> Option<Found> {
        if !self.is_plain_edge(yes) || !self.is_plain_edge(no) {
            return None;
        }
        let ways = |edge: &Edge| {
            let through = self.through(edge);
            [through, Some(Found { join: edge.block, cost: 0 })].into_iter().flatten().collect::<Vec<_>>()
        };
        let (of_yes, of_no) = (ways(yes), ways(no));
        let pairs = of_yes.iter().flat_map(|yes| of_no.iter().map(move |no| (yes, no)));
        pairs.filter(|(yes, no)| yes.join == no.join).find_map(|(yes, no)| {
            let cost = yes.cost + no.cost + self.words(yes.join)?;
            (cost <= MOST).then_some(Found { join: yes.join, cost })
        })
    }

    /// Where the block behind an edge leads, if nothing else leads to it and all that it does is cheap.
    fn through(&self, edge: &Edge) -> Option<Found> {
        let block = edge.block;
        if self.entries[block.index()] != 1 || self.heads[block.index()] || self.kept[block.index()] {
            return None;
        }
        let data = self.function.block(block);
        if data.params.iter().any(|param| !self.is_plain(*param)) {
            return None;
        }
        let mut cost = 0;
        for inst in data.insts.iter().filter(|inst| self.live.inst(inst)) {
            cost += self.cost(inst)?;
        }
        match &data.term {
            Terminator::Jump(edge) if self.is_plain_edge(edge) => Some(Found { join: edge.block, cost }),
            Terminator::Branch(..) => {
                let inner = self.found.get(&block)?;
                Some(Found { join: inner.join, cost: cost + inner.cost })
            }
            _ => None,
        }
    }

    /// How many words a choice between what leads to a block is of.
    fn words(&self, join: BlockId) -> Option<usize> {
        let mut words = 0;
        for param in self.function.block(join).params.iter().filter(|param| self.live.value(**param)) {
            let registers = slots::registers(self.function.ty(*param));
            let is_carried = self.heads[join.index()] || self.carried.contains(param);
            if !self.is_plain(*param) || is_carried && registers.contains(&types::F64) {
                return None;
            }
            words += registers.len();
        }
        Some(words)
    }

    fn is_plain_edge(&self, edge: &Edge) -> bool {
        edge.args.iter().all(|arg| self.is_plain(*arg))
    }

    /// Whether a value has words of 64 bits.
    fn is_plain(&self, value: Value) -> bool {
        !self.widths.is_wide(value)
            && !self.widths.is_low(value)
            && !matches!(self.constants.get(&value), Some(Object::Int(Int::Big(_))))
    }

    /// What an instruction costs that may be done though nobody needs it.
    fn cost(&self, inst: &Inst) -> Option<usize> {
        if inst.unwind.is_some() || !inst.args.iter().chain(&inst.result).all(|value| self.is_plain(*value)) {
            return None;
        }
        let is_whole = |value: &Value| matches!(self.function.ty(*value), Type::Int | Type::Bool);
        match &inst.op {
            Opcode::Const(_) | Opcode::Field(_) => Some(0),
            Opcode::Wrap | Opcode::Unwrap | Opcode::Is(_) | Opcode::Tuple => Some(1),
            Opcode::Op(_) => match definition(inst)?.body {
                Body::Core(op) if op.is_ring() || matches!(op, CoreOp::IntAbs) => inst.no_overflow.then_some(1),
                Body::Core(op) if op.only_computes() => Some(1),
                Body::Core(CoreOp::FloatAdd | CoreOp::FloatSub | CoreOp::FloatMul) => {
                    inst.args.iter().all(|arg| !is_whole(arg)).then_some(1)
                }
                _ => None,
            },
            _ => None,
        }
    }
}
