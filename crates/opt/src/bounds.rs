//! Loops with two ends get one: `while i < m and i < n` ends at the lesser bound.
//!
//! Law: a loop that leaves where its counter reaches a bound or, behind nothing that has an effect,
//! where it reaches another, by the same way with the same values, leaves where it reaches the lesser
//! of the two. Both must be known before the loop: made there, or lengths of lists that are, and of
//! whose type no list is changed in it.
//!
//! So a loop over `zip(a, b)` is one that counts, for which room is made and lists are filled.

use crate::context::Context;
use crate::licm::{self, Loop};
use exuvia_ir::{BlockId, Edge, Function, Inst, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::counter::Test;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let mut found = Vec::new();
    licm::for_each_loop(function, |function, inner, homes| found.extend(pair(function, context, inner, homes)));
    for pair in found {
        merge(function, &pair);
    }
}

/// A loop with two ends.
struct Pair {
    preheader: BlockId,
    head: BlockId,
    /// The block with the second end.
    second: BlockId,
    counter: Value,
    bounds: [Bound; 2],
}

/// A number that is known before a loop.
#[derive(Clone)]
enum Bound {
    Made(Value),
    /// The instruction that gives the length of a list.
    Length(Inst),
}

fn pair(function: &Function, context: &mut Context, inner: &Loop<'_>, homes: &[usize]) -> Option<Pair> {
    let is_inside = |block: BlockId| inner.body.get(inner.flow.first(block)) == Some(&true);
    let head = inner.flow.segment(inner.head).block;
    let first = Test::of(function, head)?;
    let second = first.stays.block;
    let only = inner.flow.predecessors(inner.flow.first(second)).count() == 1;
    if !only || second == head || !first.stays.args.is_empty() || !is_inside(second) || is_inside(first.leaves.block) {
        return None;
    }
    let last = Test::of(function, second)?;
    let is_harmless = |inst: &Inst| inst.unwind.is_none() && (inst.op.only_makes() || context.is_removable(inst));
    if last.counter != first.counter
        || last.leaves.block != first.leaves.block
        || last.leaves.args != first.leaves.args
        || !is_inside(last.stays.block)
        || !function.block(second).insts.iter().all(is_harmless)
    {
        return None;
    }
    let bounds = [first.bound, last.bound].map(|bound| known(function, context, inner, homes, bound));
    let [Some(first_bound), Some(last_bound)] = bounds else { return None };
    Some(Pair { preheader: inner.preheader, head, second, counter: first.counter, bounds: [first_bound, last_bound] })
}

/// A bound, if it is known before the loop.
fn known(function: &Function, context: &mut Context, inner: &Loop<'_>, homes: &[usize], bound: Value) -> Option<Bound> {
    if !inner.makes(homes, bound) {
        return Some(Bound::Made(bound));
    }
    let parts = inner.flow.order().filter(|at| inner.body[*at]).map(|at| inner.flow.segment(at));
    let insts: Vec<&Inst> = parts.flat_map(|part| &function.block(part.block).insts[part.insts.clone()]).collect();
    let len = insts.iter().find(|inst| inst.result == Some(bound))?;
    if context.core_of(len) != Some(CoreOp::ListLen) || inner.makes(homes, len.args[0]) {
        return None;
    }
    let list = function.ty(len.args[0]);
    let changes = |inst: &&Inst| {
        context.may_resize(inst)
            && (matches!(inst.op, Opcode::Call(_)) || inst.args.iter().any(|arg| function.ty(*arg) == list))
    };
    (!insts.iter().any(changes)).then(|| Bound::Length((*len).clone()))
}

/// Computes the lesser bound before the loop, and takes away the second end.
fn merge(function: &mut Function, pair: &Pair) {
    let enter = function.block(pair.preheader).term.clone();
    let bounds = pair.bounds.clone().map(|bound| match bound {
        Bound::Made(value) => value,
        Bound::Length(inst) => {
            let result = function.new_value(Type::Int);
            function.block_mut(pair.preheader).insts.push(Inst { result: Some(result), ..inst });
            result
        }
    });
    let less = is_less(function, pair.preheader, bounds[0], bounds[1]);
    let before = function.new_block();
    let bound = function.add_param(before, Type::Int);
    let [first, second] = bounds.map(|bound| Edge { block: before, args: vec![bound] });
    function.block_mut(pair.preheader).term = Terminator::Branch(less, first, second);
    function.block_mut(before).term = enter;
    // What the loop asked may be used elsewhere, as in `while (more := i < m) and i < n`.
    let goes_on = is_less(function, pair.head, pair.counter, bound);
    if let Terminator::Branch(test, ..) = &mut function.block_mut(pair.head).term {
        *test = goes_on;
    }
    if let Terminator::Branch(_, stays, _) = function.block(pair.second).term.clone() {
        function.block_mut(pair.second).term = Terminator::Jump(stays);
    }
}

/// Compares two ints at the end of a block.
fn is_less(function: &mut Function, block: BlockId, left: Value, right: Value) -> Value {
    let less = function.new_value(Type::Bool);
    let op = Opcode::Op("int.lt");
    let inst = Inst { op, args: vec![left, right], result: Some(less), ..licm::nothing() };
    function.block_mut(block).insts.push(inst);
    less
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn bounds(input: &str, expect: Expect) {
        check(
            &[("bounds", super::run), ("simplify", crate::simplify::run), ("dead code", crate::dce::run)],
            input,
            expect,
        );
    }

    /// A loop over two lists that appends to a third.
    fn pairs(third: &str) -> String {
        format!(
            r#"
fn f0 "f"(v0: list[int], v1: list[float], v2: list[{third}]) -> list[{third}] {{
b0:
  v3: int = const 0
  v4: {third} = const {}
  jump b1(v3)
b1(v5: int):
  v6: int = list.len v0
  v7: bool = int.lt v5 v6
  branch v7 b2 b4
b2:
  v8: int = list.len v1
  v9: bool = int.lt v5 v8
  branch v9 b3 b4
b3:
  v10: int = const 1
  v11: int = int.add v5 v10
  list.append v2 v4
  poll
  jump b1(v11)
b4:
  return v2
}}
"#,
            if third == "int" { "7" } else { "true" }
        )
    }

    #[test]
    fn the_lesser_bound_ends_a_loop() {
        bounds(
            &pairs("bool"),
            expect![[r#"
            fn f0 "f"(v0: list[int], v1: list[float], v2: list[bool]) -> list[bool] {
            b0:
              v3: int = const 0
              v4: bool = const true
              v5: int = list.len v0
              v6: int = list.len v1
              v7: bool = int.lt v5 v6
              branch v7 b5(v5) b5(v6)
            b1(v8: int):
              v9: bool = int.lt v8 v12
              branch v9 b2 b4
            b2:
              jump b3
            b3:
              v10: int = const 1
              v11: int = int.add v8 v10
              list.append v2 v4
              poll
              jump b1(v11)
            b4:
              return v2
            b5(v12: int):
              jump b1(v3)
            }
        "#]],
        );
    }

    #[test]
    fn what_the_loop_asked_stays() {
        let asked = pairs("bool").replace("-> list[bool]", "-> bool").replace("return v2", "return v7");
        bounds(
            &asked,
            expect![[r#"
            fn f0 "f"(v0: list[int], v1: list[float], v2: list[bool]) -> bool {
            b0:
              v3: int = const 0
              v4: bool = const true
              v5: int = list.len v0
              v6: int = list.len v1
              v7: bool = int.lt v5 v6
              branch v7 b5(v5) b5(v6)
            b1(v8: int):
              v9: int = list.len v0
              v10: bool = int.lt v8 v9
              v11: bool = int.lt v8 v14
              branch v11 b2 b4
            b2:
              jump b3
            b3:
              v12: int = const 1
              v13: int = int.add v8 v12
              list.append v2 v4
              poll
              jump b1(v13)
            b4:
              return v10
            b5(v14: int):
              jump b1(v3)
            }
        "#]],
        );
    }

    #[test]
    fn lists_that_grow_have_no_bound() {
        bounds(
            &pairs("int"),
            expect![[r#"
            fn f0 "f"(v0: list[int], v1: list[float], v2: list[int]) -> list[int] {
            b0:
              v3: int = const 0
              v4: int = const 7
              jump b1(v3)
            b1(v5: int):
              v6: int = list.len v0
              v7: bool = int.lt v5 v6
              branch v7 b2 b4
            b2:
              v8: int = list.len v1
              v9: bool = int.lt v5 v8
              branch v9 b3 b4
            b3:
              v10: int = const 1
              v11: int = int.add v5 v10
              list.append v2 v4
              poll
              jump b1(v11)
            b4:
              return v2
            }
        "#]],
        );
    }
}
