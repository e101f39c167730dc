//! Makes room for what a loop appends to a list before the loop begins.
//!
//! Law: room changes nothing that a program can see, so that how much of it is made is only a guess. It is a
//! good one where each round of a loop that ends when a counter reaches a bound appends one element: then a
//! list of many elements is not copied each time that it has doubled.

use crate::context::Context;
use crate::licm::{self, Loop};
use exuvia_ir::{Function, Inst, IntWidth, Object, Opcode, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::counter::Test;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let appends = |function: &Function, context: &mut Context| {
        function.blocks.iter().flat_map(|block| &block.insts).any(|inst| is(context, inst, CoreOp::ListAppend))
    };
    if !appends(function, context) {
        return;
    }
    licm::for_each_loop(function, |function, inner, homes| {
        let Some(bound) = bound(function, context, inner, homes) else { return };
        let lists = appended(function, context, inner, homes);
        for appended in lists.into_iter().filter(|appended| bound != Bound::Len(*appended)) {
            let bound = match &bound {
                Bound::Is(value) => Some(*value),
                Bound::Len(list) => add(function, inner, "list.len", vec![*list], Some(Type::Int)),
                Bound::Const(number) => {
                    let inst = licm::constant(function, *number);
                    let value = inst.result;
                    function.block_mut(inner.preheader).insts.push(inst);
                    value
                }
            };
            if let Some(bound) = bound {
                add(function, inner, "list.reserve", vec![appended, bound], None);
            }
        }
    });
}

/// What the counter of a loop must reach to end it, if nothing else ends it.
#[derive(PartialEq)]
enum Bound {
    /// A value from before the loop.
    Is(Value),
    /// The length of a list, for which each round asks.
    Len(Value),
    Const(i64),
}

fn is(context: &mut Context, inst: &Inst, op: CoreOp) -> bool {
    context.core_of(inst) == Some(op)
}

fn bound(function: &Function, context: &mut Context, inner: &Loop<'_>, homes: &[usize]) -> Option<Bound> {
    let head = inner.flow.segment(inner.head);
    let Test { bound, .. } = Test::of(function, head.block)?;
    let made = |value: Value| function.block(head.block).insts.iter().find(|inst| inst.result == Some(value));
    // An exception or a bailout that ends it early costs the room.
    let leaves = |at: usize| {
        let mut leaves = false;
        inner.flow.for_each_successor(function, at, |next| leaves |= !inner.body[next]);
        leaves
    };
    if inner.flow.order().any(|at| at != inner.head && inner.body[at] && inner.flow.segment(at).last && leaves(at)) {
        return None;
    }
    match made(bound) {
        Some(len) if is(context, len, CoreOp::ListLen) => {
            let list = len.args[0];
            (!inner.makes(homes, list)).then_some(Bound::Len(list))
        }
        Some(Inst { op: Opcode::Const(Object::Int(number)), .. }) => number.to_i64().map(Bound::Const),
        Some(_) => None,
        // What has more bits than a word is no guess for it.
        None if context.width == IntWidth::Word => (!inner.makes(homes, bound)).then_some(Bound::Is(bound)),
        None => None,
    }
}

/// The lists from outside a loop to which each round appends, be it in one arm of a condition or in the other.
fn appended(function: &Function, context: &mut Context, inner: &Loop<'_>, homes: &[usize]) -> Vec<Value> {
    let mut sites: Vec<(Value, Vec<usize>)> = vec![];
    for at in inner.flow.order().filter(|at| inner.body[*at]) {
        let part = inner.flow.segment(at);
        for inst in &function.block(part.block).insts[part.insts.clone()] {
            if is(context, inst, CoreOp::ListAppend) && !inner.makes(homes, inst.args[0]) {
                match sites.iter_mut().find(|(list, _)| *list == inst.args[0]) {
                    Some((_, places)) => places.push(at),
                    None => sites.push((inst.args[0], vec![at])),
                }
            }
        }
    }
    sites.into_iter().filter(|(_, places)| are_passed(function, inner, places)).map(|(list, _)| list).collect()
}

/// Whether each round of a loop passes one of some segments.
fn are_passed(function: &Function, inner: &Loop<'_>, places: &[usize]) -> bool {
    let head = inner.head;
    places.contains(&head) || !inner.flow.rest_of_round(function, (head, inner.body), &[head], places).0
}

/// Adds an operation to the block before a loop; gives its result.
fn add(
    function: &mut Function,
    inner: &Loop<'_>,
    name: &'static str,
    args: Vec<Value>,
    result: Option<Type>,
) -> Option<Value> {
    let name = exuvia_ops::by_name(name)?.name;
    let result = result.map(|ty| function.new_value(ty));
    let inst = Inst { op: Opcode::Op(name), args, result, ..licm::nothing() };
    function.block_mut(inner.preheader).insts.push(inst);
    result
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn a_map_of_two_arms_has_room() {
        check(
            &[("reserve", super::run)],
            r#"
fn f0 "f"(v0: list[int], v1: int) -> list[int] {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: list[int] = list
  jump b1(v2)
b1(v5: int):
  v6: int = list.len v0
  v7: bool = int.lt v5 v6
  branch v7 b2 b6
b2:
  v8: int = list.get_unchecked v0 v5
  v9: bool = int.lt v8 v1
  branch v9 b3 b4
b3:
  list.append v4 v8
  jump b5
b4:
  list.append v4 v1
  jump b5
b5:
  poll
  v10: int = int.add v5 v3
  jump b1(v10)
b6:
  return v4
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: int) -> list[int] {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  v4: list[int] = list
                  v5: int = list.len v0
                  list.reserve v4 v5
                  jump b1(v2)
                b1(v6: int):
                  v7: int = list.len v0
                  v8: bool = int.lt v6 v7
                  branch v8 b2 b6
                b2:
                  v9: int = list.get_unchecked v0 v6
                  v10: bool = int.lt v9 v1
                  branch v10 b3 b4
                b3:
                  list.append v4 v9
                  jump b5
                b4:
                  list.append v4 v1
                  jump b5
                b5:
                  poll
                  v11: int = int.add v6 v3
                  jump b1(v11)
                b6:
                  return v4
                }
            "#]],
        );
    }

    #[test]
    fn a_map_has_room_and_a_filter_grows() {
        check(
            &[("reserve", super::run), ("blocks", crate::blocks::run)],
            r#"
fn f0 "f"(v0: list[int], v1: int) -> list[int] {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: list[int] = list
  v5: list[int] = list
  jump b1(v2)
b1(v6: int):
  v7: int = list.len v0
  v8: bool = int.lt v6 v7
  branch v8 b2 b5
b2:
  v9: int = list.get_unchecked v0 v6
  list.append v4 v9
  v10: bool = int.lt v9 v1
  branch v10 b3 b4
b3:
  list.append v5 v9
  jump b4
b4:
  poll
  v11: int = int.add v6 v3
  jump b1(v11)
b5:
  list.extend v4 v5 v3
  return v4
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: int) -> list[int] {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  v4: list[int] = list
                  v5: list[int] = list
                  v6: int = list.len v0
                  list.reserve v4 v6
                  jump b1(v2)
                b1(v7: int):
                  v8: int = list.len v0
                  v9: bool = int.lt v7 v8
                  branch v9 b2 b5
                b2:
                  v10: int = list.get_unchecked v0 v7
                  list.append v4 v10
                  v11: bool = int.lt v10 v1
                  branch v11 b3 b4
                b3:
                  list.append v5 v10
                  jump b4
                b4:
                  poll
                  v12: int = int.add v7 v3
                  jump b1(v12)
                b5:
                  list.extend v4 v5 v3
                  return v4
                }
            "#]],
        );
    }
}
