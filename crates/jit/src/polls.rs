//! Loops that end soon by themselves, in which nobody need ask whether the query was cancelled.
//!
//! A loop whose counter goes up from zero or more to the length of a list or of a text has no more rounds than what
//! the row, or the batch, holds in memory. Where each round takes some instructions only, all of them take no longer
//! than copying that memory a few times, and what is around the loop asks before and after. Asking takes two or
//! three instructions and a register, which is a third of a loop that sums a list.

use crate::live::{core_op, definition};
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Object, Opcode, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::counter::Counter;
use exuvia_ops::def::Body;
use std::collections::{HashMap, HashSet};

/// The rounds that a loop may have whose end is a constant, and what may be added to a length.
const FEW: i64 = 1 << 16;
/// How many joins are followed back to where a bound comes from.
const FAR: usize = 4;

/// The blocks of such loops.
pub(crate) fn needless(function: &Function, flow: &Flow) -> HashSet<BlockId> {
    let mut needless = HashSet::new();
    let heads: Vec<usize> = flow.order().filter(|at| flow.is_head(*at)).collect();
    if heads.is_empty() {
        return needless;
    }
    let search = Search::new(function);
    for head in &heads {
        let body = flow.body(*head);
        let is_innermost = heads.iter().all(|other| other == head || !body[*other]);
        if is_innermost && search.ends_soon(flow, *head, &body) {
            needless.extend(flow.order().filter(|at| body[*at]).map(|at| flow.segment(at).block));
        }
    }
    needless
}

/// Where values come from.
struct Search<'f> {
    function: &'f Function,
    made: HashMap<Value, &'f Inst>,
    /// What parameters of blocks get, by the places of the blocks.
    entries: HashMap<BlockId, Vec<(BlockId, &'f Edge)>>,
    /// The blocks and places of parameters.
    params: HashMap<Value, (BlockId, usize)>,
}

impl<'f> Search<'f> {
    fn new(function: &'f Function) -> Search<'f> {
        let mut search = Search { function, made: HashMap::new(), entries: HashMap::new(), params: HashMap::new() };
        for (at, block) in function.blocks.iter().enumerate() {
            let id = BlockId(at as u32);
            search.params.extend(block.params.iter().enumerate().map(|(place, param)| (*param, (id, place))));
            search.made.extend(block.insts.iter().filter_map(|inst| Some((inst.result?, inst))));
            for edge in block.term.edges() {
                search.entries.entry(edge.block).or_default().push((id, edge));
            }
        }
        search
    }

    fn core(&self, value: Value) -> Option<(CoreOp, &'f [Value])> {
        let inst = self.made.get(&value)?;
        Some((core_op(inst)?, &inst.args))
    }

    fn constant(&self, value: Value) -> Option<i64> {
        match &self.made.get(&value)?.op {
            Opcode::Const(Object::Int(int)) => int.to_i64(),
            _ => None,
        }
    }

    fn ends_soon(&self, flow: &Flow, head: usize, body: &[bool]) -> bool {
        let inside = || flow.order().filter(|at| body[*at]);
        // What unwinds may come round by a handler.
        if !inside().all(|at| flow.segment(at).last) {
            return false;
        }
        let Some(counter) = Counter::of(self.function, flow, head, body) else { return false };
        self.is_bounded(counter.test.bound, FAR)
            && counter.steps.starts.iter().all(|start| self.is_bounded(*start, FAR))
            && counter.steps.nexts.iter().all(|next| self.is_beyond(*next, counter.test.counter))
            && inside()
                .all(|at| self.function.block(flow.segment(at).block).insts.iter().all(|inst| self.is_quick(inst)))
    }

    /// Whether a number is zero or more, and no more than some lengths of what is held in memory.
    fn is_bounded(&self, value: Value, far: usize) -> bool {
        if let Some(known) = self.constant(value) {
            return (0..=FEW).contains(&known);
        }
        if let Some((op, args)) = self.core(value) {
            let by = args.get(1).and_then(|by| self.constant(*by));
            return match (op, by) {
                (CoreOp::ListLen | CoreOp::StrLen | CoreOp::StrByteLen, _) => true,
                (CoreOp::IntAdd, Some(0..=FEW)) | (CoreOp::IntFloorDiv, Some(1..)) => self.is_bounded(args[0], far),
                _ => false,
            };
        }
        let Some((block, place)) = self.params.get(&value).filter(|_| far > 0) else { return false };
        let entries = self.entries.get(block);
        entries.is_some_and(|entries| {
            entries.iter().all(|(_, edge)| edge.args.get(*place).is_some_and(|arg| self.is_bounded(*arg, far - 1)))
        })
    }

    /// Whether a number is another and at least one more.
    fn is_beyond(&self, value: Value, counter: Value) -> bool {
        let steps = |inst: &&Inst| inst.op.is_op("str.next_byte") && inst.args.get(1) == Some(&counter);
        match self.core(value) {
            Some((CoreOp::IntAdd, [from, by])) => *from == counter && self.constant(*by).is_some_and(|by| by > 0),
            _ => self.made.get(&value).is_some_and(steps),
        }
    }

    /// Whether an instruction takes no longer than a few of the machine, whatever it is given.
    fn is_quick(&self, inst: &Inst) -> bool {
        let Some(def) = definition(inst) else {
            return !matches!(inst.op, Opcode::Op(_) | Opcode::Call(_) | Opcode::Message(_));
        };
        let text_is_short = |value: &Value| {
            let made = self.made.get(value);
            made.is_some_and(|inst| matches!(inst.op, Opcode::Const(_)) || inst.op.is_op("str.char_at_byte"))
        };
        let is_short = |value: &Value| match self.function.ty(*value) {
            Type::Int | Type::Float | Type::Bool | Type::None => true,
            Type::Str => text_is_short(value),
            _ => false,
        };
        match def.body {
            Body::Core(op) => !op.looks_through() || inst.args.iter().all(is_short),
            Body::Kernel { .. } => {
                let makes_text = inst.result.is_some_and(|result| {
                    !matches!(self.function.ty(result), Type::Int | Type::Float | Type::Bool | Type::None)
                });
                matches!(def.name, "str.char_at_byte" | "str.next_byte")
                    || !makes_text && inst.args.iter().all(is_short)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the only loop of a function needs nobody to ask in it.
    fn is_needless(text: &str) -> bool {
        let module = exuvia_ir::parse_module(text, &|name| exuvia_ops::by_name(name).map(|def| def.name));
        let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let function = &module.functions[0];
        !needless(function, &Flow::new(function)).is_empty()
    }

    fn sum(bound: &str, start: &str, work: &str) -> bool {
        is_needless(&format!(
            r#"
fn f0 "f"(v0: list[int], v1: int, v2: str) -> int {{
b0:
  v3: int = const {start}
  v4: int = const 1
  v5: int = list.len v0
  v6: int = {bound}
  jump b1(v3, v4)
b1(v7: int, v8: int):
  v9: bool = int.lt v7 v6
  branch v9 b2 b3
b2:
  {work}
  v11: int = int.add v7 v4
  poll
  jump b1(v11, v10)
b3:
  return v8
}}"#
        ))
    }

    #[test]
    fn what_is_as_long_as_something_in_memory_ends_soon() {
        assert!(sum("int.add v5 v4", "0", "v10: int = list.get v0 v7"));
        assert!(sum("const 1000", "3", "v10: int = int.mul v8 v7"));
        assert!(sum("str.byte_len v2", "0", "v10: int = str.next_byte v2 v7"));
    }

    #[test]
    fn what_a_number_says_may_take_forever() {
        assert!(!sum("int.mul v1 v4", "0", "v10: int = list.get v0 v7"));
        assert!(!sum("list.len v0", "-100000000000", "v10: int = list.get v0 v7"));
        assert!(!sum("const 100000000000", "0", "v10: int = list.get v0 v7"));
    }

    #[test]
    fn rounds_may_take_long() {
        assert!(!sum("list.len v0", "0", "v10: int = str.find v2 v2"));
        assert!(!sum("list.len v0", "0", "list.extend v0 v0 v4\n  v10: int = int.add v8 v4"));
    }
}
