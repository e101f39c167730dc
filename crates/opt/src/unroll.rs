//! Rounds over a small table, one after another.
//!
//! Law: a loop whose counter begins at a constant, goes by constant steps and ends it at a constant, is its rounds in
//! their order. Where each reads a constant list at the counter, the rounds differ by constants, and what they do
//! with these is known: a division by one needs no division, a text is one of a few. Brackets of a tax, grades,
//! units and weights are such tables. Where each reads a list that was made of so many values,
//! `for x in [a, b, c]`, the rounds have these, and nobody needs the list.
//!
//! Only few and short rounds are written out, of loops that hold no other and nothing that unwinds.

use crate::context::{Context, constant_ints};
use crate::duplicate::{self, Duplicate};
use crate::licm::{self, Loop};
use exuvia_ir::{BlockId, Edge, Function, Inst, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::counter::Steps;
use std::collections::{HashMap, HashSet};

/// The rounds that are written out, and the instructions that those of one loop and those of a function have.
const ROUNDS: usize = 16;
const MOST: usize = 256;
const MOST_IN_ALL: usize = 1024;
/// What a call counts, which may be unfolded.
const CALL: usize = 24;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let tables = insts.filter(|inst| matches!(inst.op, Opcode::Const(Object::List(_)) | Opcode::List));
    let tables: HashSet<Value> = tables.filter_map(|inst| inst.result).collect();
    if tables.is_empty() {
        return;
    }
    let ints = constant_ints(function);
    let mut found = Vec::new();
    licm::for_each_loop(function, |function, inner, _| {
        found.extend(Rounds::of(function, context, inner, &ints, &tables));
    });
    let mut size = 0;
    for rounds in found {
        size += rounds.size;
        if size <= MOST_IN_ALL {
            rounds.write_out(function);
        }
    }
}

/// A loop that can be written out.
struct Rounds {
    /// The block before it, its head, and its blocks with that.
    before: BlockId,
    head: BlockId,
    blocks: Vec<BlockId>,
    /// The place of the counter among the parameters of the head, and what it is in each round.
    counter: usize,
    counts: Vec<i64>,
    /// What the test at the end of the head gives while the loop goes on.
    stays: bool,
    /// The instructions of all rounds.
    size: usize,
}

impl Rounds {
    fn of(
        function: &Function,
        context: &mut Context,
        inner: &Loop<'_>,
        ints: &HashMap<Value, i64>,
        tables: &HashSet<Value>,
    ) -> Option<Rounds> {
        let flow = inner.flow;
        let head = flow.segment(inner.head).block;
        let body = || flow.order().filter(|at| inner.body[*at]);
        if body().any(|at| (at != inner.head && flow.is_head(at)) || !flow.segment(at).last) {
            return None;
        }
        let blocks: Vec<BlockId> = body().map(|at| flow.segment(at).block).collect();
        let insts = || blocks.iter().flat_map(|block| &function.block(*block).insts);
        let Counted { param: counted, place: counter, counts, stays } = Counted::of(function, inner, ints)?;
        // A table is read at the counter.
        let reads = |inst: &Inst, context: &mut Context| {
            matches!(context.core_of(inst), Some(CoreOp::ListGet | CoreOp::ListGetUnchecked))
                && inst.args[1] == counted
                && tables.contains(&inst.args[0])
        };
        let size: usize = insts().map(|inst| if matches!(inst.op, Opcode::Call(_)) { CALL } else { 1 }).sum();
        let size = size * counts.len();
        (size <= MOST && insts().all(|inst| inst.unwind.is_none()) && insts().any(|inst| reads(inst, context)))
            .then_some(Rounds { before: inner.preheader, head, blocks, counter, counts, stays, size })
    }

    fn write_out(self, function: &mut Function) {
        let rounds: Vec<Duplicate> = self.counts.iter().map(|_| Duplicate::of(function, &self.blocks)).collect();
        for (round, (copy, count)) in rounds.iter().zip(&self.counts).enumerate() {
            // Behind the last round is the head, which ends the loop.
            let (head, next) = (copy.block(self.head), rounds.get(round + 1));
            let next = next.map_or(self.head, |next| next.block(self.head));
            for id in &self.blocks {
                let block = function.block_mut(copy.block(*id));
                block.insts.retain(|inst| inst.op != Opcode::Poll);
                block.term.for_each_edge_mut(|edge| {
                    if edge.block == head {
                        edge.block = next;
                    }
                });
            }
            let known = Opcode::Const(Object::int(*count));
            duplicate::set_param(function, head, self.counter, Type::Int, |_| duplicate::inst(known, Vec::new()));
            go(&mut function.block_mut(head).term, self.stays);
        }
        if let (Terminator::Jump(entry), Some(first)) = (&mut function.block_mut(self.before).term, rounds.first()) {
            entry.block = first.block(self.head);
        }
        // Nothing comes round any more.
        go(&mut function.block_mut(self.head).term, !self.stays);
        duplicate::join(function, &self.blocks, &rounds);
    }
}

/// Makes of a branch a jump to where it goes for that answer.
fn go(term: &mut Terminator, answer: bool) {
    if let Terminator::Branch(_, yes, no) = term {
        *term = Terminator::Jump(if answer { yes.clone() } else { no.clone() });
    }
}

/// A parameter of a loop's head whose values are known.
struct Counted {
    param: Value,
    /// Its place among the parameters.
    place: usize,
    /// What it is in each round.
    counts: Vec<i64>,
    /// What the test at the end of the head gives while the loop goes on.
    stays: bool,
}

impl Counted {
    fn of(function: &Function, inner: &Loop<'_>, ints: &HashMap<Value, i64>) -> Option<Counted> {
        let flow = inner.flow;
        let head = flow.segment(inner.head).block;
        let Terminator::Branch(test, yes, no) = &function.block(head).term else { return None };
        let goes_on = |edge: &Edge| edge.block != head && inner.body[flow.first(edge.block)];
        let (stays, leaves) = if goes_on(yes) { (true, no) } else { (false, yes) };
        if !goes_on(if stays { yes } else { no }) || inner.body[flow.first(leaves.block)] {
            return None;
        }
        let test = function.block(head).insts.iter().find(|inst| inst.result == Some(*test))?;
        let ([param, bound], Opcode::Op(name)) = (&test.args[..], &test.op) else { return None };
        let bound = *ints.get(bound)?;
        let holds = |count: i64| match *name {
            "int.lt" => Some(count < bound),
            "int.le" => Some(count <= bound),
            "int.ge" => Some(count >= bound),
            "int.gt" => Some(count > bound),
            _ => None,
        };
        let Steps { place, starts, nexts } = Steps::of(function, flow, inner.head, inner.body, *param)?;
        let step = |next: &Value| {
            let made = function.made_by(*next)?;
            let by = match made.args[..] {
                [counted, by] if counted == *param => *ints.get(&by)?,
                _ => return None,
            };
            match &made.op {
                op if op.is_op("int.add") => Some(by),
                op if op.is_op("int.sub") => by.checked_neg(),
                _ => None,
            }
        };
        let step = nexts.iter().map(step).reduce(|one, other| one.filter(|_| one == other))??;
        let [first] = starts[..] else { return None };
        let (mut counts, mut count) = (Vec::new(), *ints.get(&first)?);
        while holds(count)? == stays {
            if counts.len() == ROUNDS {
                return None;
            }
            counts.push(count);
            count = count.checked_add(step)?;
        }
        (!counts.is_empty()).then_some(Counted { param: *param, place, counts, stays })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn unroll(input: &str, expect: Expect) {
        let passes: [crate::Pass; 5] = [
            ("rounds over tables", super::run),
            ("blocks", crate::blocks::run),
            ("simplify", crate::simplify::run),
            ("parameters", crate::params::run),
            ("dead code", crate::dce::run),
        ];
        check(&passes, input, expect);
    }

    #[test]
    fn brackets_are_comparisons_in_turn() {
        unroll(
            r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: list[tuple[int, int]] = const [(10, 1), (20, 2)]
  v2: int = const 0
  v3: int = const 1
  jump b1(v2, v2)
b1(v4: int, v5: int):
  v6: int = const 2
  v7: bool = int.lt v4 v6
  branch v7 b2 b5
b2:
  v8: int = int.add v4 v3
  v9: tuple[int, int] = list.get_unchecked v1 v4
  v10: int = field 0 v9
  v11: int = field 1 v9
  v12: int = int.add v5 v11
  v13: bool = int.lt v0 v10
  branch v13 b3 b4
b3:
  return v11
b4:
  poll
  jump b1(v8, v12)
b5:
  v14: int = int.add v5 v4
  return v14
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> int {
                b0:
                  v1: int = const 10
                  v2: int = const 1
                  v3: int = const 1
                  v4: bool = int.lt v0 v1
                  branch v4 b2(v2) b1
                b1:
                  v5: int = const 2
                  v6: int = const 20
                  v7: int = const 2
                  v8: int = int.add v3 v7
                  v9: bool = int.lt v0 v6
                  branch v9 b2(v7) b3
                b2(v10: int):
                  return v10
                b3:
                  v11: int = int.add v8 v5
                  return v11
                }
            "#]],
        );
    }
}
