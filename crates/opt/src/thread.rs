//! Jump threading: who comes from where the answer is known does not ask again.
//!
//! Law: a block that ends with a branch may be copied for one of the edges into it. If
//! with what is known on that edge the copy's condition is a constant, the copy goes on
//! directly. So a test for `None` right after an arm that made one costs nothing, and
//! `a and b` in a condition becomes control flow.
//!
//! Blocks that are copied are short and do not unwind; heads of loops are left alone, so
//! that every loop keeps its single entry and its poll.

use crate::context::Context;
use crate::known::Known;
use crate::simplify::{Rewrite, rewrite};
use crate::ssa::{self, Edges};
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Opcode, Terminator, Value};

/// Instructions of a block that is copied.
const SHORT: usize = 10;
/// Blocks that are copied in one run.
const MOST: usize = 100;
/// Values that are looked at for them: each copy looks at the whole function.
const WORK: usize = 1_000_000;

/// An edge that knows where the block that it enters goes on.
struct Shortcut {
    from: BlockId,
    /// The place among the edges of `from`'s terminator.
    edge: usize,
    through: BlockId,
    holds: bool,
}

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let flow = Flow::new(function);
    let candidates = candidates(function, &flow);
    if !candidates.contains(&true) {
        return;
    }
    let mut found = find(function, context, &flow, &candidates);
    found.sort_by_key(|shortcut| shortcut.through);
    let groups: Vec<&[Shortcut]> = found.chunk_by(|a, b| a.through == b.through).collect();
    let most = MOST.min(WORK / function.values.len().max(1));
    for group in groups.into_iter().take(most) {
        take(function, group);
    }
}

/// Which blocks may be copied.
fn candidates(function: &Function, flow: &Flow) -> Vec<bool> {
    let is_candidate = |(at, block): (usize, &exuvia_ir::BlockData)| {
        let id = BlockId(at as u32);
        let head = flow.first(id);
        let short = block.insts.iter().filter(|inst| !matches!(inst.op, Opcode::Const(_))).count() <= SHORT;
        id != function.entry()
            && flow.is_reachable(id)
            && short
            && matches!(block.term, Terminator::Branch(..))
            && block
                .insts
                .iter()
                .all(|inst| inst.unwind.is_none() && !matches!(inst.op, Opcode::Poll | Opcode::Call(_)))
            && flow.predecessors(head).len() > 1
            && !flow.predecessors(head).any(|before| flow.dominates(head, before))
    };
    function.blocks.iter().enumerate().map(is_candidate).collect()
}

/// Walks over the function and decides the branch of the next block for each edge.
fn find(function: &mut Function, context: &mut Context, flow: &Flow, candidates: &[bool]) -> Vec<Shortcut> {
    let mut known = Known::new(function, context, flow);
    let mut found = Vec::new();
    for segment in flow.tree() {
        known.enter(flow, segment);
        let part = flow.segment(segment);
        for at in part.insts.clone() {
            let inst = known.function.block(part.block).insts[at].clone();
            known.note(&inst);
        }
        if !part.last {
            continue;
        }
        let term = &known.function.block(part.block).term;
        let cond = if let Terminator::Branch(cond, ..) = term { Some(*cond) } else { None };
        let edges: Vec<Edge> = term.edges().into_iter().cloned().collect();
        for (index, edge) in edges.iter().enumerate() {
            if !candidates[edge.block.index()] {
                continue;
            }
            let mark = known.mark();
            if let Some(cond) = cond {
                known.assume(cond, index == 0);
            }
            if let Some(holds) = decide(&mut known, edge) {
                found.push(Shortcut { from: part.block, edge: index, through: edge.block, holds });
            }
            known.back_to(mark);
        }
    }
    found
}

/// The branch that the block at the end of an edge takes, with what is known on it.
fn decide(known: &mut Known<'_>, edge: &Edge) -> Option<bool> {
    let block = known.function.block(edge.block);
    let (params, insts, term) = (block.params.clone(), block.insts.clone(), block.term.clone());
    let Terminator::Branch(cond, ..) = term else { return None };
    for (param, arg) in params.iter().zip(&edge.args) {
        if let Some(object) = known.constant(*arg).cloned() {
            known.set_constant(*param, object);
        }
        known.narrow(*param, known.tags(*arg));
    }
    for inst in &insts {
        let Some(result) = inst.result else { continue };
        // Rules see the operands' definitions too, which is sound: they hold here as well.
        let mut simpler = inst.clone();
        while let Some(Rewrite::To(op, args)) = rewrite(known, &simpler) {
            simpler = Inst { op, args, ..simpler };
        }
        if let Some(Rewrite::Const(object)) = rewrite(known, &simpler) {
            known.set_constant(result, object);
        } else {
            known.learn(&simpler);
        }
    }
    known.bool(cond)
}

/// Copies one block for the edges that know its branch.
fn take(function: &mut Function, group: &[Shortcut]) {
    let through = group[0].through;
    let block = function.block(through).clone();
    let defined: Vec<Value> =
        block.params.iter().copied().chain(block.insts.iter().filter_map(|inst| inst.result)).collect();
    let users = ssa::users(function, &defined, |block| block == through);
    let mut definitions: Vec<Vec<(BlockId, Value)>> = defined.iter().map(|value| vec![(through, *value)]).collect();
    for shortcut in group {
        // The edge may have been sent elsewhere when another block was copied.
        let Some(args) = edge_to(function, shortcut, through) else { continue };
        let copy = function.new_block();
        let mut renamed: Vec<Value> = args;
        let mut insts = block.insts.clone();
        for inst in &mut insts {
            if let Some(result) = &mut inst.result {
                let ty = function.ty(*result).clone();
                let new = function.new_value(ty);
                renamed.push(new);
            }
        }
        let rename = |value: &mut Value| {
            if let Some(at) = defined.iter().position(|other| other == value) {
                *value = renamed[at];
            }
        };
        for inst in &mut insts {
            inst.args.iter_mut().for_each(rename);
            inst.result.iter_mut().for_each(rename);
        }
        let Terminator::Branch(_, yes, no) = &block.term else { return };
        let mut onward = if shortcut.holds { yes.clone() } else { no.clone() };
        onward.args.iter_mut().for_each(rename);
        function.block_mut(copy).insts = insts;
        function.block_mut(copy).term = Terminator::Jump(onward);
        for (definitions, new) in definitions.iter_mut().zip(&renamed) {
            definitions.push((copy, *new));
        }
        let mut index = 0;
        function.block_mut(shortcut.from).term.for_each_edge_mut(|edge| {
            if index == shortcut.edge {
                *edge = Edge { block: copy, args: vec![] };
            }
            index += 1;
        });
    }
    let edges = Edges::new(function);
    for ((value, definitions), users) in defined.iter().zip(&definitions).zip(&users) {
        if !users.is_empty() {
            ssa::repair(function, &edges, *value, definitions, users);
        }
    }
}

/// The arguments that an edge passes, if it still enters the block.
fn edge_to(function: &Function, shortcut: &Shortcut, through: BlockId) -> Option<Vec<Value>> {
    let edges = function.block(shortcut.from).term.edges();
    let edge = edges.get(shortcut.edge)?;
    (edge.block == through).then(|| edge.args.clone())
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn thread(input: &str, expect: Expect) {
        let passes: [crate::Pass; 6] = [
            ("thread", super::run),
            ("simplify", crate::simplify::run),
            ("dead code", crate::dce::run),
            ("parameters", crate::params::run),
            ("blocks", crate::blocks::run),
            ("dead code", crate::dce::run),
        ];
        check(&passes, input, expect);
    }

    #[test]
    fn a_test_after_the_arm_that_decides_it() {
        thread(
            r#"
fn f0 "f"(v0: int, v1: int) -> int {
b0:
  v2: bool = int.lt v0 v1
  branch v2 b1 b2
b1:
  v3: none = const none
  v4: union[none, int] = wrap v3
  jump b3(v4)
b2:
  v5: int = int.sub v0 v1
  v6: union[none, int] = wrap v5
  jump b3(v6)
b3(v7: union[none, int]):
  v8: bool = is none v7
  branch v8 b4 b5
b4:
  v9: int = const -1
  return v9
b5:
  v10: int = unwrap v7
  v11: int = int.mul v10 v10
  return v11
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: int) -> int {
                b0:
                  v2: bool = int.lt v0 v1
                  branch v2 b1 b2
                b1:
                  v3: int = const -1
                  return v3
                b2:
                  v4: int = int.sub v0 v1
                  v5: union[none, int] = wrap v4
                  v6: int = unwrap v5
                  v7: int = int.mul v6 v6
                  return v7
                }
            "#]],
        );
    }

    #[test]
    fn a_value_that_both_ways_use_is_joined_again() {
        thread(
            r#"
fn f0 "f"(v0: bool, v1: bool, v2: int) -> int {
b0:
  v3: bool = const false
  branch v0 b1 b3(v3, v2)
b1:
  v4: int = int.add v2 v2
  jump b3(v1, v4)
b3(v5: bool, v6: int):
  v7: int = int.mul v6 v6
  branch v5 b4 b5
b4:
  v8: int = int.add v7 v6
  jump b6(v8)
b5:
  jump b6(v6)
b6(v9: int):
  v10: int = int.add v9 v7
  return v10
}"#,
            expect![[r#"
                fn f0 "f"(v0: bool, v1: bool, v2: int) -> int {
                b0:
                  branch v0 b1 b3
                b1:
                  v3: int = int.add v2 v2
                  v4: int = int.mul v3 v3
                  branch v1 b2 b4(v3, v4)
                b2:
                  v5: int = int.add v4 v3
                  jump b4(v5, v4)
                b3:
                  v6: int = int.mul v2 v2
                  jump b4(v2, v6)
                b4(v7: int, v8: int):
                  v9: int = int.add v7 v8
                  return v9
                }
            "#]],
        );
    }
}
