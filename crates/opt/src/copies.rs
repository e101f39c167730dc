//! Lists are made with what they begin with.
//!
//! Law: nobody can see that a new list is made later, if nothing between reads it or may go where it is known.
//! So elements that are appended to it first are those of its display: `x = []; x.append(a)` is `x = [a]`. One
//! to which all of another is appended is a copy of that one, and with all of a third behind it, it is the two in
//! one: `list(a)` is `a[:]`, `a + b` is `list.concat`.

use crate::context::Context;
use crate::licm;
use exuvia_ir::{Function, Inst, Object, Opcode, Value};
use exuvia_ops::core::CoreOp;
use std::collections::HashSet;

/// The elements that a list is made with, at most, where they were appended.
const MOST: usize = 64;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    if !function.blocks.iter().flat_map(|block| &block.insts).any(|inst| inst.op == Opcode::List) {
        return;
    }
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let one = Opcode::Const(Object::int(1));
    let ones: HashSet<Value> = insts.filter(|inst| inst.op == one).filter_map(|inst| inst.result).collect();
    for block in 0..function.blocks.len() {
        // What comes before stays where it is.
        for at in (0..function.blocks[block].insts.len()).rev() {
            let insts = &mut function.blocks[block].insts;
            if let (Opcode::List, Some(list)) = (&insts[at].op, insts[at].result) {
                let mut made = at;
                while let Some(next) = appended(insts, made, list, context) {
                    made = next;
                }
            }
            if let Some(copy) = Copy::of(insts, at, &ones, context) {
                copy.put(function, block);
            }
        }
    }
}

/// A list that is a copy.
struct Copy {
    list: Value,
    /// Where it is made, and where it is extended.
    made: usize,
    first: usize,
    second: Option<usize>,
}

impl Copy {
    fn of(insts: &[Inst], made: usize, ones: &HashSet<Value>, context: &mut Context) -> Option<Copy> {
        let list = insts[made].result.filter(|_| insts[made].op == Opcode::List && insts[made].args.is_empty())?;
        let mut extended = |from: usize| {
            let at = next(insts, list, from)?;
            let inst = &insts[at];
            let is_once = context.core_of(inst) == Some(CoreOp::ListExtend)
                && inst.args[0] == list
                && inst.args[1] != list
                && ones.contains(&inst.args[2]);
            is_once.then_some(at)
        };
        let first = extended(made + 1)?;
        // What is copied first is as it was when the second comes.
        let second =
            extended(first + 1).filter(|second| !insts[first + 1..*second].iter().any(|inst| context.may_write(inst)));
        Some(Copy { list, made, first, second })
    }

    fn put(self, function: &mut Function, block: usize) {
        let list = Some(self.list);
        let [start, stop] = [0, i64::MAX].map(|bound| licm::constant(function, bound));
        let insts = &mut function.blocks[block].insts;
        let from = insts[self.first].args[1];
        if let Some(second) = self.second {
            let args = vec![from, insts[second].args[1]];
            insts[second] = Inst { op: Opcode::Op("list.concat"), args, result: list, ..insts[second].clone() };
            insts.remove(self.first);
        } else {
            let first = &mut insts[self.first];
            let args = std::iter::once(from).chain(start.result).chain(stop.result).collect();
            *first = Inst { op: Opcode::Op("list.slice"), args, result: list, ..first.clone() };
            insts.splice(self.first..self.first, [start, stop]);
        }
        insts.remove(self.made);
    }
}

/// The next instruction that does something with a list, in the same block: nothing before unwinds, nor does
/// that one, and nobody uses what it gives.
fn next(insts: &[Inst], list: Value, from: usize) -> Option<usize> {
    let at = from + insts[from..].iter().position(|inst| inst.args.contains(&list) || inst.unwind.is_some())?;
    (insts[at].unwind.is_none() && insts[at].result.is_none()).then_some(at)
}

/// Makes a list where the first element is appended to it, with that one; gives the place.
fn appended(insts: &mut Vec<Inst>, made: usize, list: Value, context: &mut Context) -> Option<usize> {
    let at = next(insts, list, made + 1)?;
    let inst = &insts[at];
    let is_first = context.core_of(inst) == Some(CoreOp::ListAppend) && inst.args[0] == list && inst.args[1] != list;
    if !is_first || insts[made].args.len() >= MOST {
        return None;
    }
    let mut display = insts[made].clone();
    display.args.push(inst.args[1]);
    insts[at] = display;
    insts.remove(made);
    Some(at - 1)
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn a_list_that_begins_with_others_is_made_at_once() {
        check(
            &[("copies of lists", super::run)],
            r#"
fn f0 "f"(v0: list[int], v1: list[int], v2: int) -> tuple[list[int], list[int], list[int], list[int]] {
b0:
  v3: int = const 1
  v4: list[int] = list
  v5: list[int] = list
  list.extend v4 v0 v3
  v6: int = list.len v0
  list.extend v4 v1 v3
  list.extend v5 v0 v3
  list.append v0 v6
  list.extend v5 v1 v3
  v7: list[int] = list
  list.extend v7 v0 v2
  v8: list[int] = list
  v9: int = list.len v8
  list.extend v8 v0 v3
  v10: list[int] = list v2
  list.append v10 v3
  v11: int = int.add v2 v3
  list.append v10 v11
  list.append v0 v2
  v12: int = list.len v10
  list.append v10 v12
  v13: tuple[list[int], list[int], list[int], list[int]] = tuple v4 v10 v7 v8
  return v13
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: list[int], v2: int) -> tuple[list[int], list[int], list[int], list[int]] {
                b0:
                  v3: int = const 1
                  v4: int = list.len v0
                  v5: list[int] = list.concat v0 v1
                  v6: int = const 0
                  v7: int = const 9223372036854775807
                  v8: list[int] = list.slice v0 v6 v7
                  list.append v0 v4
                  list.extend v8 v1 v3
                  v9: list[int] = list
                  list.extend v9 v0 v2
                  v10: list[int] = list
                  v11: int = list.len v10
                  list.extend v10 v0 v3
                  v12: int = int.add v2 v3
                  v13: list[int] = list v2 v3 v12
                  list.append v0 v2
                  v14: int = list.len v13
                  list.append v13 v14
                  v15: tuple[list[int], list[int], list[int], list[int]] = tuple v5 v13 v9 v10
                  return v15
                }
            "#]],
        );
    }
}
