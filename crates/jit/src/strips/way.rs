//! Ways that join: what a parameter of a block is, by the conditions that lead there.

use exuvia_ir::{BlockId, Builder, Edge, Flow, Function, Terminator, Value};

/// What a parameter is by the ways to its block.
pub(super) enum Way {
    Value(Value),
    /// By a condition, and what it is for either answer.
    Fork(Value, Box<[Way; 2]>),
}

impl Way {
    /// That of the parameter at a place, if conditions alone decide between its ways.
    pub fn to(function: &Function, flow: &Flow, block: BlockId, place: usize) -> Option<Way> {
        let mut from: Vec<usize> = flow.predecessors(flow.first(block)).collect();
        from.dedup();
        if from.is_empty() || from.iter().any(|at| !flow.segment(*at).last) {
            return None;
        }
        let mut ways = Vec::new();
        for at in from {
            let edges = function.block(flow.segment(at).block).term.edges().into_iter();
            for edge in edges.filter(|edge| edge.block == block) {
                ways.push((at, edge));
            }
        }
        Way::of(function, flow, &ways, place)
    }

    fn of(function: &Function, flow: &Flow, ways: &[(usize, &Edge)], place: usize) -> Option<Way> {
        if let [(_, edge)] = ways {
            return edge.args.get(place).copied().map(Way::Value);
        }
        let fork = ways.iter().map(|(from, _)| *from).reduce(|one, other| flow.meet(one, other))?;
        let block = function.block(flow.segment(fork).block);
        let Terminator::Branch(cond, yes, no) = &block.term else { return None };
        if !flow.segment(fork).last {
            return None;
        }
        let by = |by: &Edge| -> Vec<(usize, &Edge)> {
            let first = flow.first(by.block);
            let leads = flow.predecessors(first).eq([fork]);
            let is_way = |(from, edge): &&(usize, &Edge)| match *from == fork {
                true => std::ptr::eq(*edge, by),
                false => leads && flow.dominates(first, *from),
            };
            ways.iter().filter(is_way).copied().collect()
        };
        let (yes, no) = (by(yes), by(no));
        if yes.is_empty() || no.is_empty() || yes.len() + no.len() != ways.len() {
            return None;
        }
        let both = [Way::of(function, flow, &yes, place)?, Way::of(function, flow, &no, place)?];
        Some(Way::Fork(*cond, Box::new(both)))
    }

    /// The values that it takes.
    pub fn values(&self, out: &mut Vec<Value>) {
        match self {
            Way::Value(value) => out.push(*value),
            Way::Fork(cond, ways) => {
                out.push(*cond);
                ways.iter().for_each(|way| way.values(out));
            }
        }
    }

    /// Chooses where all its values are there: the parameter, or one value.
    pub fn chosen(&self, b: &mut Builder, param: Value) -> Value {
        let (cond, ways) = match self {
            Way::Value(value) => return *value,
            Way::Fork(cond, ways) => (cond, ways),
        };
        let values = [0, 1].map(|way| {
            let inner = b.function.new_value(b.function.ty(param).clone());
            ways[way].chosen(b, inner)
        });
        let join = b.function.new_block();
        b.function.block_mut(join).params = vec![param];
        let [yes, no] = values.map(|value| Edge { block: join, args: vec![value] });
        b.end(Terminator::Branch(*cond, yes, no));
        b.block = join;
        param
    }
}
