//! Simplifies instruction by instruction, with what is known where each stands.
//!
//! One walk over the dominator tree applies the rules of the files beside this one
//! ([`crate::fold`], [`crate::unions`], [`crate::tuples`], [`crate::algebra`]) to each
//! instruction after those that it uses. Below the edge of a branch the condition is
//! known, and with it what the condition says of other values.
//!
//! Law: a rule replaces an instruction by something with the same value, which may raise
//! less but never more, for all values of the operands that are possible there.

use crate::context::{Context, Renaming};
use crate::known::Known;
use crate::{algebra, fold, tags, tuples, unions};
use exuvia_ir::{BlockId, Flow, Function, Inst, Object, Opcode, Span, Terminator, Type, Value, is_constant_of};
use exuvia_ops::core::CoreOp;

/// What a rule makes of an instruction.
pub(crate) enum Rewrite {
    /// Its result is another value.
    Same(Value),
    /// Its result is a constant.
    Const(Object),
    /// It is another instruction that does not raise.
    To(Opcode, Vec<Value>),
    /// It is another instruction that does not raise, after a constant that it takes.
    With(Opcode, Vec<Value>, Value, Object),
}

/// An instruction that stands for none, until the end of the walk.
fn nothing() -> Inst {
    Inst {
        op: Opcode::Const(Object::Unbound),
        args: vec![],
        result: None,
        unwind: None,
        no_overflow: false,
        span: Span::default(),
    }
}

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let flow = Flow::new(function);
    let mut names = Renaming::new(function);
    let mut known = Known::new(function, context, &flow);
    let mut inserted: Vec<(BlockId, usize, Inst)> = Vec::new();
    for segment in flow.tree() {
        known.enter(&flow, segment);
        let part = flow.segment(segment).clone();
        for at in part.insts {
            visit(&mut known, &mut names, &mut inserted, part.block, at);
        }
        if part.last {
            end(&mut known, &mut names, part.block);
        }
    }
    names.apply(function);
    insert(function, inserted);
    for block in &mut function.blocks {
        block.insts.retain(|inst| inst.result.is_some() || !matches!(inst.op, Opcode::Const(_)));
    }
}

fn visit(
    known: &mut Known<'_>,
    names: &mut Renaming,
    inserted: &mut Vec<(BlockId, usize, Inst)>,
    block: BlockId,
    at: usize,
) {
    let mut inst = std::mem::replace(&mut known.function.block_mut(block).insts[at], nothing());
    names.apply_inst(&mut inst);
    // A rule may enable another: a wrapped wrap, a comparison that became a negation.
    for _ in 0..8 {
        let Some(rewrite) = rewrite(known, &inst) else { break };
        match rewrite {
            Rewrite::Same(value) => {
                if let Some(result) = inst.result {
                    debug_assert_eq!(known.function.ty(result), known.function.ty(value), "{inst:?}");
                    names.set(result, value);
                }
                return;
            }
            Rewrite::Const(object) => {
                let Some(result) = inst.result else { break };
                let ty = known.function.ty(result).clone();
                // Constants of other types are met only where control never comes.
                if !ty.alternatives().iter().any(|ty| is_constant_of(&object, ty)) {
                    break;
                }
                inst.args.clear();
                inst.unwind = None;
                inst.no_overflow = false;
                if let Type::Union(types) = &ty {
                    // A constant has no union type: it is made with its own and wrapped.
                    let Some(own) = alternative(&object, types) else { break };
                    let made = known.new_constant(own, object.clone());
                    let constant = Inst { op: Opcode::Const(object), result: Some(made), ..inst.clone() };
                    inserted.push((block, at, constant));
                    inst.op = Opcode::Wrap;
                    inst.args.push(made);
                } else {
                    inst.op = Opcode::Const(object);
                }
                break;
            }
            Rewrite::With(op, args, made, object) => {
                let constant = Opcode::Const(object);
                inserted.push((block, at, Inst { op: constant, result: Some(made), ..nothing() }));
                become_another(&mut inst, op, args);
            }
            Rewrite::To(op, args) => become_another(&mut inst, op, args),
        }
    }
    if inst.unwind.is_some() && !known.context.may_raise(&inst) {
        inst.unwind = None;
    }
    known.note(&inst);
    known.function.block_mut(block).insts[at] = inst;
}

/// Makes an instruction another one that does not raise.
fn become_another(inst: &mut Inst, op: Opcode, args: Vec<Value>) {
    inst.op = op;
    inst.args = args;
    inst.unwind = None;
    inst.no_overflow = false;
}

/// The alternative whose values an object is one of.
fn alternative(object: &Object, types: &[Type]) -> Option<Type> {
    let exact = object.ty();
    if types.contains(&exact) {
        return Some(exact);
    }
    types.iter().find(|ty| is_constant_of(object, ty)).cloned()
}

/// What the rules make of an instruction.
pub(crate) fn rewrite(known: &mut Known<'_>, inst: &Inst) -> Option<Rewrite> {
    match &inst.op {
        Opcode::Op(name) => {
            let def = known.context.def(name)?;
            fold::op(known, inst, def).or_else(|| algebra::op(known, inst, def))
        }
        Opcode::Wrap => unions::wrap(known, inst),
        Opcode::Unwrap => unions::unwrap(known, inst),
        Opcode::Is(wanted) => unions::is(known, inst, wanted),
        Opcode::ExcIs(kinds) => {
            tags::are_instances(known.tags(inst.args[0]), kinds).map(|is| Rewrite::Const(Object::Bool(is)))
        }
        Opcode::Field(index) => tuples::field(known, inst, *index as usize),
        Opcode::Tuple => tuples::tuple(known, inst),
        Opcode::Unbox => tuples::unbox(known, inst),
        Opcode::Const(_)
        | Opcode::Call(_)
        | Opcode::Record(_)
        | Opcode::Box
        | Opcode::List
        | Opcode::NewExc(_)
        | Opcode::Message(_)
        | Opcode::Poll => None,
    }
}

/// Decides a block's branch where its condition is known, and turns a negated one round.
fn end(known: &mut Known<'_>, names: &mut Renaming, block: BlockId) {
    let mut term = std::mem::replace(&mut known.function.block_mut(block).term, Terminator::Unreachable);
    term.for_each_value_mut(|value| *value = names.get(*value));
    while let Terminator::Branch(cond, yes, no) = term {
        if let Some(holds) = known.bool(cond) {
            term = Terminator::Jump(if holds { yes } else { no });
        } else if let Some(args) = known.core_args(cond, CoreOp::BoolNot) {
            term = Terminator::Branch(args[0], no, yes);
        } else {
            term = Terminator::Branch(cond, yes, no);
            break;
        }
    }
    known.function.block_mut(block).term = term;
}

/// Puts instructions before those at their places.
fn insert(function: &mut Function, mut inserted: Vec<(BlockId, usize, Inst)>) {
    // From the back, so that places stay valid.
    inserted.sort_by_key(|(block, at, _)| (*block, *at));
    for (block, at, inst) in inserted.into_iter().rev() {
        function.block_mut(block).insts.insert(at, inst);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn simplify(input: &str, expect: Expect) {
        check(
            &[("simplify", super::run), ("dead code", crate::dce::run), ("blocks", crate::blocks::run)],
            input,
            expect,
        );
    }

    #[test]
    fn constants_fold_but_raising_stays() {
        simplify(
            r#"
fn f0 "f"(v0: int) -> tuple[int, str, int] {
b0:
  v1: int = const 9223372036854775807
  v2: int = int.add v1 v1
  v3: int = const 0
  v4: int = const 7
  v5: int = int.mod v4 v3
  v6: str = const "abc"
  v7: int = str.len v6
  v8: bool = int.lt v7 v4
  branch v8 b1(v5) b2
b1(v9: int):
  v10: tuple[int, str, int] = tuple v2 v6 v9
  v11: str = field 1 v10
  v12: tuple[int, str, int] = tuple v7 v11 v9
  return v12
b2:
  v13: tuple[int, str, int] = tuple v0 v6 v0
  return v13
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> tuple[int, str, int] {
                b0:
                  v1: int = const 0
                  v2: int = const 7
                  v3: int = int.mod v2 v1
                  v4: str = const "abc"
                  v5: int = const 3
                  v6: tuple[int, str, int] = tuple v5 v4 v3
                  return v6
                }
            "#]],
        );
    }

    #[test]
    fn branches_teach_what_unions_hold() {
        simplify(
            r#"
fn f0 "f"(v0: union[none, bool, int]) -> int {
b0:
  v1: bool = is none v0
  v2: bool = bool.not v1
  branch v2 b1 b2
b1:
  v3: bool = is none v0
  branch v3 b2 b3
b3:
  v4: union[bool, int] = unwrap v0
  v5: bool = is bool v4
  branch v5 b4 b5
b4:
  v6: bool = unwrap v4
  v7: bool = is int v0
  branch v7 b2 b6
b6:
  v8: int = bool.to_int v6
  return v8
b5:
  v9: int = unwrap v4
  v10: bool = is int v0
  branch v10 b7 b2
b7:
  return v9
b2:
  v11: int = const 0
  return v11
}"#,
            expect![[r#"
                fn f0 "f"(v0: union[none, bool, int]) -> int {
                b0:
                  v1: bool = is none v0
                  branch v1 b1 b2
                b1:
                  v2: int = const 0
                  return v2
                b2:
                  v3: bool = is bool v0
                  branch v3 b3 b4
                b3:
                  v4: bool = unwrap v0
                  v5: int = bool.to_int v4
                  return v5
                b4:
                  v6: int = unwrap v0
                  return v6
                }
            "#]],
        );
    }

    #[test]
    fn loops_keep_the_alternatives_that_they_feed_back() {
        simplify(
            r#"
fn f0 "f"(v0: int) -> bool {
b0:
  v1: union[none, int, str] = wrap v0
  jump b1(v1)
b1(v2: union[none, int, str]):
  v3: bool = is none v2
  branch v3 b2 b3
b2:
  return v3
b3:
  v4: union[int, str] = unwrap v2
  v5: bool = is str v4
  branch v5 b2 b4
b4:
  poll
  v6: union[none, int, str] = wrap v4
  jump b1(v6)
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> bool {
                b0:
                  jump b1
                b1:
                  v1: bool = const false
                  poll
                  jump b1
                }
            "#]],
        );
    }

    #[test]
    fn handlers_know_what_can_be_raised() {
        simplify(
            r#"
fn f0 "f"(v0: int, v1: int) -> int {
b0:
  v2: int = int.mod v0 v1 unwind b1
  v3: int = int.add v0 v2 unwind b1
  return v3
b1(v4: exc):
  v5: bool = exc_is [ValueError, ArithmeticError] v4
  branch v5 b2 b3
b2:
  return v0
b3:
  reraise v4
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: int) -> int {
                b0:
                  v2: int = int.mod v0 v1 unwind b1
                  v3: int = int.add v0 v2
                  return v3
                b1(v4: exc):
                  return v0
                }
            "#]],
        );
    }

    #[test]
    fn equality_teaches_the_value() {
        simplify(
            r#"
fn f0 "f"(v0: str, v1: float) -> bool {
b0:
  v2: str = const "x"
  v3: float = const 0.0
  v4: bool = str.eq v0 v2
  branch v4 b1 b2
b1:
  v5: bool = str.eq v2 v0
  return v5
b2:
  v6: bool = float.eq v1 v3
  branch v6 b3 b4
b3:
  v7: float = float.neg v1
  v8: bool = float.eq v7 v3
  return v8
b4:
  v9: bool = str.eq v0 v2
  return v9
}"#,
            expect![[r#"
                fn f0 "f"(v0: str, v1: float) -> bool {
                b0:
                  v2: str = const "x"
                  v3: float = const 0.0
                  v4: bool = str.eq v0 v2
                  branch v4 b1 b2
                b1:
                  v5: bool = const true
                  return v5
                b2:
                  v6: bool = float.eq v1 v3
                  branch v6 b3 b4
                b3:
                  v7: float = float.neg v1
                  v8: bool = float.eq v7 v3
                  return v8
                b4:
                  v9: bool = str.eq v0 v2
                  return v9
                }
            "#]],
        );
    }

    #[test]
    fn laws_of_integers_and_bools() {
        simplify(
            r#"
fn f0 "f"(v0: int, v1: bool, v2: float) -> tuple[int, bool, float, bool] {
b0:
  v3: int = const 0
  v4: int = const 1
  v5: int = int.add v3 v0
  v6: int = int.mul v5 v4
  v7: int = int.sub v3 v6
  v8: int = int.neg v7
  v9: bool = bool.not v1
  v10: bool = bool.not v9
  v11: int = bool.to_int v10
  v12: bool = int.eq v11 v4
  v13: float = const 0.0
  v14: float = float.add v2 v13
  v15: bool = int.lt v8 v3
  v16: bool = bool.not v15
  v17: tuple[int, bool, float, bool] = tuple v8 v12 v14 v16
  return v17
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: bool, v2: float) -> tuple[int, bool, float, bool] {
                b0:
                  v3: int = const 0
                  v4: float = const 0.0
                  v5: float = float.add v2 v4
                  v6: bool = int.ge v0 v3
                  v7: tuple[int, bool, float, bool] = tuple v0 v1 v5 v6
                  return v7
                }
            "#]],
        );
    }

    #[test]
    fn what_a_loop_feeds_back_reaches_what_is_derived() {
        simplify(
            r#"
fn f0 "f"(v0: int, v1: bool) -> bool {
b0:
  v2: none = const none
  v3: union[none, int] = wrap v2
  jump b1(v3)
b1(v4: union[none, int]):
  poll
  v5: union[none, int, str] = wrap v4
  jump b2(v5)
b2(v6: union[none, int, str]):
  v7: bool = is none v6
  branch v1 b3 b4
b3:
  v8: union[none, int] = wrap v0
  jump b1(v8)
b4:
  return v7
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: bool) -> bool {
                b0:
                  v2: none = const none
                  v3: union[none, int] = wrap v2
                  jump b1(v3)
                b1(v4: union[none, int]):
                  poll
                  v5: union[none, int, str] = wrap v4
                  v6: bool = is none v5
                  branch v1 b2 b3
                b2:
                  v7: union[none, int] = wrap v0
                  jump b1(v7)
                b3:
                  return v6
                }
            "#]],
        );
    }
}
