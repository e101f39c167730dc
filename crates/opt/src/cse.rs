//! Common subexpressions: what was computed before is not computed again.
//!
//! Law: an instruction without effects has the value of an equal one (the same operation
//! on the same operands, giving the same type) that dominates it. If the operation can
//! raise, the one before did not, or control would not be here. Operations that read
//! lists count as such as long as the list stays as it is (see [`crate::lists`]). Those
//! that make a new list do if nobody changes what they read nor what they make, here or
//! in the caller: which of two equal lists it is nobody can tell.

use crate::context::{Context, Mix, Renaming, same_constant};
use crate::lists::{State, States};
use exuvia_ir::{Flow, Function, Inst, Object, Opcode, Value};
use exuvia_ops::core::{Cmp, CoreOp};
use exuvia_ops::def::{Body, Effect};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The value that an earlier instruction computed, and the states of the lists that it
/// read.
type Known = (Value, [u32; 3]);
type Table = HashMap<u64, Known, BuildHasherDefault<Mix>>;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let frozen = crate::lists::frozen(function, context);
    let flow = Flow::new(function);
    let states = States::new(function, &flow, context);
    let mut names = Renaming::new(function);
    let mut sites: Vec<(u32, u32)> = vec![(u32::MAX, 0); function.values.len()];
    let mut table = Table::default();
    // What the table held before, to restore when the walk leaves a segment.
    let mut undo: Vec<(u64, Option<Known>)> = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut gone = vec![false; function.values.len()];
    for segment in flow.tree() {
        while let Some((above, mark)) = path.last().copied() {
            if flow.dominates(above, segment) {
                break;
            }
            for (hash, old) in undo.drain(mark..).rev() {
                match old {
                    Some(known) => table.insert(hash, known),
                    None => table.remove(&hash),
                };
            }
            path.pop();
        }
        path.push((segment, undo.len()));
        let part = flow.segment(segment).clone();
        let mut lists = Lists { frozen: &frozen, states: &states, state: states.entry(segment) };
        // The result of an instruction that unwinds belongs to the next segment.
        if let Some(at) = part.insts.start.checked_sub(1) {
            let inst = &function.block(part.block).insts[at];
            if let (Some(result), Some((hash, read))) = (inst.result, hash(function, context, &lists, inst))
                && !gone[result.index()]
            {
                undo.push((hash, table.insert(hash, (result, read))));
            }
        }
        for at in part.insts {
            names.apply_inst(&mut function.block_mut(part.block).insts[at]);
            states.after(&mut lists.state, function, context, part.block, at);
            let inst = &function.block(part.block).insts[at];
            let Some(result) = inst.result else { continue };
            sites[result.index()] = (part.block.0, at as u32);
            let Some((hash, read)) = hash(function, context, &lists, inst) else { continue };
            let earlier = table.get(&hash).copied().filter(|(earlier, then)| {
                let (block, at) = sites[earlier.index()];
                *then == read && same(function, context, &function.blocks[block as usize].insts[at as usize], inst)
            });
            if let Some((earlier, _)) = earlier {
                names.set(result, earlier);
                gone[result.index()] = true;
            } else if inst.unwind.is_none() {
                undo.push((hash, table.insert(hash, (result, read))));
            }
        }
    }
    if gone.contains(&true) {
        for block in &mut function.blocks {
            block.insts.retain(|inst| inst.result.is_none_or(|result| !gone[result.index()]));
        }
        names.apply(function);
    }
}

/// What is known of lists at a point.
struct Lists<'a> {
    frozen: &'a [bool],
    states: &'a States,
    state: State,
}

/// A hash of what an instruction computes, and the states of the lists that it reads;
/// `None` where an equal one may compute another value.
fn hash(function: &Function, context: &mut Context, lists: &Lists<'_>, inst: &Inst) -> Option<(u64, [u32; 3])> {
    let mut mix = Mix::default();
    let mut read = [0; 3];
    match &inst.op {
        Opcode::Const(object) => {
            hash_constant(object, &mut mix);
            return Some((mix.finish(), read));
        }
        Opcode::Op(name) => {
            let def = context.def(name)?;
            match def.effect {
                Effect::Pure => {}
                Effect::Read => {
                    let changing = inst.args.iter().filter(|arg| !lists.frozen[arg.index()]);
                    for (at, arg) in changing.enumerate() {
                        *read.get_mut(at)? = lists.states.of(&lists.state, *arg)?;
                    }
                }
                Effect::Alloc => {
                    let lists = |value: &Value| lists.frozen[value.index()];
                    let leaves = function.ret.holds_list();
                    if leaves || !inst.args.iter().chain(&inst.result).all(lists) {
                        return None;
                    }
                }
                Effect::Store | Effect::Write => return None,
            }
            mix.add(1);
            mix.add(std::ptr::from_ref(def) as u64);
            if is_commutative(def.body) {
                let (low, high) = (inst.args[0].min(inst.args[1]), inst.args[0].max(inst.args[1]));
                mix.add(u64::from(low.0));
                mix.add(u64::from(high.0));
                return Some((mix.finish(), read));
            }
        }
        Opcode::Wrap => {
            mix.add(2);
            function.ty(inst.result?).hash(&mut mix);
        }
        Opcode::Unwrap => {
            mix.add(3);
            function.ty(inst.result?).hash(&mut mix);
        }
        Opcode::Is(ty) => {
            mix.add(4);
            ty.hash(&mut mix);
        }
        Opcode::Tuple => mix.add(5),
        Opcode::Record(class) => {
            mix.add(8);
            class.hash(&mut mix);
        }
        Opcode::Field(index) => {
            mix.add(6);
            mix.add(u64::from(*index));
        }
        Opcode::Unbox => mix.add(10),
        Opcode::ExcIs(kinds) => {
            mix.add(7);
            kinds.hash(&mut mix);
        }
        // What changes nothing and reads what nobody changes gives the same again.
        Opcode::Call(callee) => {
            let same = inst.args.iter().all(|arg| lists.frozen[arg.index()]);
            let made = inst.result.is_some_and(|result| function.ty(result).holds_list());
            if context.summary(*callee).writes || made || !same {
                return None;
            }
            mix.add(9);
            mix.add(u64::from(callee.0));
        }
        Opcode::Box | Opcode::List | Opcode::NewExc(_) | Opcode::Message(_) | Opcode::Poll => return None,
    }
    for arg in &inst.args {
        mix.add(u64::from(arg.0));
    }
    Some((mix.finish(), read))
}

fn hash_constant(object: &Object, mix: &mut Mix) {
    match object {
        Object::None => mix.add(10),
        Object::Unbound => mix.add(11),
        Object::Bool(value) => mix.add(12 + u64::from(*value)),
        Object::Int(value) => {
            mix.add(14);
            value.hash(mix);
        }
        Object::Float(value) => {
            mix.add(15);
            mix.add(value.to_bits());
        }
        Object::Str(text) => {
            mix.add(16);
            text.hash(mix);
        }
        Object::Tuple(items) => {
            mix.add(17 + ((items.len() as u64) << 8));
            items.iter().for_each(|item| hash_constant(item, mix));
        }
        // Identity is compared; see `same_constant`.
        Object::List(_) => mix.add(18),
        Object::Dict(_) => mix.add(19),
        Object::Set(_) => mix.add(20),
        Object::Exc(_) => mix.add(21),
        Object::Pattern(pattern) => {
            mix.add(22);
            pattern.hash(mix);
        }
        Object::Record(record) => {
            mix.add(23);
            record.class.hash(mix);
            record.fields.iter().for_each(|field| hash_constant(field, mix));
        }
    }
}

/// Whether two instructions with one hash compute the same.
fn same(function: &Function, context: &mut Context, a: &Inst, b: &Inst) -> bool {
    let ty = |inst: &Inst| inst.result.map(|result| function.ty(result));
    if ty(a) != ty(b) {
        return false;
    }
    if let (Opcode::Const(a), Opcode::Const(b)) = (&a.op, &b.op) {
        return same_constant(a, b);
    }
    if a.op != b.op {
        return false;
    }
    if a.args == b.args {
        return true;
    }
    let swapped = a.args.len() == 2 && a.args[0] == b.args[1] && a.args[1] == b.args[0];
    swapped && context.def_of(a).is_some_and(|def| is_commutative(def.body))
}

/// Whether the operands of an operation may be exchanged, to the bit. Sums and products
/// of floats may not: of two NaNs the first one's bits are kept.
fn is_commutative(body: Body) -> bool {
    let Body::Core(op) = body else { return false };
    matches!(
        op,
        CoreOp::IntAdd
            | CoreOp::IntMul
            | CoreOp::IntAnd
            | CoreOp::IntOr
            | CoreOp::IntXor
            | CoreOp::BoolAnd
            | CoreOp::BoolOr
            | CoreOp::BoolXor
            | CoreOp::StrEq
            | CoreOp::StrNe
            | CoreOp::IntCmp(Cmp::Eq | Cmp::Ne)
            | CoreOp::FloatCmp(Cmp::Eq | Cmp::Ne)
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn equal_instructions_merge_where_one_dominates() {
        check(
            &[("cse", super::run)],
            r#"
fn f0 "f"(v0: int, v1: int, v2: bool) -> int {
b0:
  v3: int = int.add v0 v1
  v4: int = int.mod v0 v1 unwind b3
  branch v2 b1 b2
b1:
  v5: int = int.add v1 v0
  v6: int = int.mod v0 v1
  v7: int = int.mul v5 v6
  return v7
b2:
  v8: int = const 5
  v9: int = int.mul v3 v4
  return v9
b3(v10: exc):
  v11: int = const 5
  v12: int = int.add v0 v1
  v13: int = int.mod v0 v1
  v14: int = int.add v12 v13
  return v14
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: int, v2: bool) -> int {
                b0:
                  v3: int = int.add v0 v1
                  v4: int = int.mod v0 v1 unwind b3
                  branch v2 b1 b2
                b1:
                  v5: int = int.mul v3 v4
                  return v5
                b2:
                  v6: int = const 5
                  v7: int = int.mul v3 v4
                  return v7
                b3(v8: exc):
                  v9: int = const 5
                  v10: int = int.mod v0 v1
                  v11: int = int.add v3 v10
                  return v11
                }
            "#]],
        );
    }

    #[test]
    fn new_objects_stay_apart() {
        check(
            &[("cse", super::run)],
            r#"
fn f0 "f"(v0: list[int]) -> list[int] {
b0:
  v1: int = const 1
  v2: int = const 1
  v3: list[int] = list.slice v0 v1 v2
  v4: list[int] = list.slice v0 v1 v2
  v5: int = list.len v3
  v6: int = list.len v3
  v7: none = list.append v4 v5
  v8: int = list.len v4
  v9: none = list.append v4 v6
  v10: int = list.len v4
  v11: none = list.append v4 v8
  return v4
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int]) -> list[int] {
                b0:
                  v1: int = const 1
                  v2: list[int] = list.slice v0 v1 v1
                  v3: list[int] = list.slice v0 v1 v1
                  v4: int = list.len v2
                  v5: none = list.append v3 v4
                  v6: int = list.len v3
                  v7: none = list.append v3 v4
                  v8: int = list.len v3
                  v9: none = list.append v3 v6
                  return v3
                }
            "#]],
        );
    }

    #[test]
    fn new_lists_that_nobody_changes_merge() {
        let body = |ret: &str, end: &str| {
            format!(
                r#"
fn f0 "f"(v0: str, v1: str, v2: list[str]) -> {ret} {{
b0:
  v3: int = const -1
  v4: list[str] = str.split v0 v1 v3
  v5: list[str] = str.split v0 v1 v3
  v6: int = list.len v4
  v7: int = list.len v5
  v8: int = int.add v6 v7
  {end}
}}"#
            )
        };
        let splits = |text: &str| {
            let mut module = crate::testing::module(text);
            crate::run(&mut module, &mut crate::context::Context::new(), ("cse", super::run), &[]);
            module.to_string().matches("str.split").count()
        };
        assert_eq!(splits(&body("int", "return v8")), 1);
        // Other lists are changed, these are not.
        assert_eq!(splits(&body("int", "v9: none = list.append v2 v0\n  return v8")), 1);
        // One is changed, or given to a caller that may change it.
        assert_eq!(splits(&body("int", "v9: none = list.append v4 v0\n  return v8")), 2);
        assert_eq!(splits(&body("list[str]", "return v5")), 2);
    }

    #[test]
    fn elements_are_read_again_only_after_a_change() {
        check(
            &[("cse", super::run)],
            r#"
fn f0 "f"(v0: list[int], v1: list[str], v2: bool, v3: str) -> int {
b0:
  v4: int = const 0
  v5: int = list.get v0 v4
  v6: none = list.append v1 v3
  v7: int = list.get v0 v4
  branch v2 b1 b2
b1:
  v8: int = list.get v0 v4
  v9: none = list.append v0 v8
  v10: int = list.get v0 v4
  jump b3(v10)
b2:
  v11: int = list.get v0 v4
  jump b3(v11)
b3(v12: int):
  v13: int = list.get v0 v4
  v14: str = list.get v1 v4
  v15: int = int.add v12 v13
  v16: int = int.add v7 v15
  return v16
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: list[str], v2: bool, v3: str) -> int {
                b0:
                  v4: int = const 0
                  v5: int = list.get v0 v4
                  v6: none = list.append v1 v3
                  branch v2 b1 b2
                b1:
                  v7: none = list.append v0 v5
                  v8: int = list.get v0 v4
                  jump b3(v8)
                b2:
                  jump b3(v5)
                b3(v9: int):
                  v10: int = list.get v0 v4
                  v11: str = list.get v1 v4
                  v12: int = int.add v9 v10
                  v13: int = int.add v5 v12
                  return v13
                }
            "#]],
        );
    }

    #[test]
    fn a_change_on_any_way_or_in_a_loop_counts() {
        check(
            &[("cse", super::run)],
            r#"
fn f0 "f"(v0: list[int], v1: bool, v12: list[bool]) -> int {
b0:
  v2: int = const 0
  v3: int = list.len v0
  v13: int = list.len v12
  branch v1 b1 b2
b1:
  v14: none = list.append v12 v1
  jump b3
b2:
  v4: none = list.append v0 v3
  jump b3
b3:
  v5: int = list.len v0
  jump b4
b4:
  poll
  v6: int = list.len v0
  v7: bool = int.lt v6 v2
  branch v7 b5 b6
b5:
  v8: none = list.append v0 v6
  jump b4
b6:
  v9: int = list.len v12
  v10: int = list.len v0
  v11: int = int.add v9 v10
  v15: int = int.add v5 v11
  v16: int = int.add v13 v15
  return v16
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: bool, v2: list[bool]) -> int {
                b0:
                  v3: int = const 0
                  v4: int = list.len v0
                  v5: int = list.len v2
                  branch v1 b1 b2
                b1:
                  v6: none = list.append v2 v1
                  jump b3
                b2:
                  v7: none = list.append v0 v4
                  jump b3
                b3:
                  v8: int = list.len v0
                  jump b4
                b4:
                  poll
                  v9: int = list.len v0
                  v10: bool = int.lt v9 v3
                  branch v10 b5 b6
                b5:
                  v11: none = list.append v0 v9
                  jump b4
                b6:
                  v12: int = list.len v2
                  v13: int = int.add v12 v9
                  v14: int = int.add v8 v13
                  v15: int = int.add v5 v14
                  return v15
                }
            "#]],
        );
    }

    #[test]
    fn lists_that_have_no_name_in_common_are_others() {
        check(
            &[("cse", super::run)],
            r#"
fn f0 "f"(v0: list[int], v1: int) -> int {
b0:
  v2: int = const 0
  v3: list[int] = list v1
  v4: list[int] = list v1 v1
  v5: int = list.len v0
  v6: int = list.len v3
  jump b1(v4, v2)
b1(v7: list[int], v8: int):
  v9: int = list.len v7
  v10: int = list.len v3
  v11: int = list.len v0
  v12: bool = int.lt v8 v1
  branch v12 b2 b3
b2:
  list.append v7 v1
  list.append v0 v1
  v13: int = list.len v7
  v14: int = list.len v3
  v15: int = list.len v0
  v16: int = int.add v13 v14
  v17: int = int.add v16 v15
  v18: int = int.add v8 v17
  jump b1(v7, v18)
b3:
  v19: int = list.len v4
  v20: int = int.add v9 v10
  v21: int = int.add v20 v11
  v22: int = int.add v21 v19
  v23: int = int.add v22 v5
  v24: int = int.add v23 v6
  return v24
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: int) -> int {
                b0:
                  v2: int = const 0
                  v3: list[int] = list v1
                  v4: list[int] = list v1 v1
                  v5: int = list.len v0
                  v6: int = list.len v3
                  jump b1(v4, v2)
                b1(v7: list[int], v8: int):
                  v9: int = list.len v7
                  v10: int = list.len v0
                  v11: bool = int.lt v8 v1
                  branch v11 b2 b3
                b2:
                  list.append v7 v1
                  list.append v0 v1
                  v12: int = list.len v7
                  v13: int = list.len v0
                  v14: int = int.add v12 v6
                  v15: int = int.add v14 v13
                  v16: int = int.add v8 v15
                  jump b1(v7, v16)
                b3:
                  v17: int = list.len v4
                  v18: int = int.add v9 v6
                  v19: int = int.add v18 v10
                  v20: int = int.add v19 v17
                  v21: int = int.add v20 v5
                  v22: int = int.add v21 v6
                  return v22
                }
            "#]],
        );
    }

    #[test]
    fn calls_change_what_they_are_given() {
        check(
            &[("cse", super::run)],
            r#"
fn f0 "f"(v0: list[int], v1: list[int]) -> int {
b0:
  v2: list[int] = list
  v3: int = list.len v0
  v4: int = list.len v1
  v5: int = list.len v2
  call f1 v1
  v6: int = list.len v0
  v7: int = list.len v1
  v8: int = list.len v2
  v9: int = int.add v3 v4
  v10: int = int.add v9 v5
  v11: int = int.add v10 v6
  v12: int = int.add v11 v7
  v13: int = int.add v12 v8
  return v13
}
fn f1 "g"(v0: list[int]) -> none {
b0:
  v1: int = list.len v0
  list.append v0 v1
  v2: none = const none
  return v2
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: list[int]) -> int {
                b0:
                  v2: list[int] = list
                  v3: int = list.len v0
                  v4: int = list.len v1
                  v5: int = list.len v2
                  call f1 v1
                  v6: int = list.len v0
                  v7: int = list.len v1
                  v8: int = int.add v3 v4
                  v9: int = int.add v8 v5
                  v10: int = int.add v9 v6
                  v11: int = int.add v10 v7
                  v12: int = int.add v11 v5
                  return v12
                }

                fn f1 "g"(v0: list[int]) -> none {
                b0:
                  v1: int = list.len v0
                  list.append v0 v1
                  v2: none = const none
                  return v2
                }
            "#]],
        );
    }
}
