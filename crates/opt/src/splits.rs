//! Splits a string only as often as somebody looks.
//!
//! Laws, for a list that `split` makes without limit and that is only asked for elements
//! at constant indices and for its length in comparisons with constants:
//! - a limit of `m` splits leaves the first `m` elements as they are, and all elements
//!   where there are no more than `m`; so it is enough that `m` exceeds every index;
//! - the length becomes the smaller of itself and `m + 1`, which compares with a constant
//!   `c` as before if `m >= c`;
//! - elements counted from the end are those of `rsplit` with as many splits, if the
//!   separator is a single character (longer ones can overlap, and then the two cut
//!   differently) or whitespace.

use crate::context::Context;
use exuvia_ir::{BlockId, Function, Inst, Int, Object, Opcode, Value};
use exuvia_ops::core::CoreOp;

/// What a list is asked for.
#[derive(Default)]
struct Wanted {
    /// The indices from the front and from the back, both counted from 0.
    front: Option<i64>,
    back: Option<i64>,
    /// The largest constant that the length is compared with.
    length: Option<i64>,
}

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let candidates = candidates(function);
    if candidates.is_empty() {
        return;
    }
    let mut constants: Vec<Option<Object>> = vec![None; function.values.len()];
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let (Opcode::Const(object), Some(result)) = (&inst.op, inst.result) {
            constants[result.index()] = Some(object.clone());
        }
    }
    // From the back, so that constants put before an instruction move no other candidate.
    for (block, at) in candidates.into_iter().rev() {
        limit(function, context, &constants, block, at);
    }
}

/// The splits from the front, with their places.
fn candidates(function: &Function) -> Vec<(BlockId, usize)> {
    let mut found = Vec::new();
    for (block, data) in function.blocks.iter().enumerate() {
        for (at, inst) in data.insts.iter().enumerate() {
            if matches!(inst.op, Opcode::Op("str.split" | "str.split_words")) && inst.result.is_some() {
                found.push((BlockId(block as u32), at));
            }
        }
    }
    found
}

fn int(constants: &[Option<Object>], value: Value) -> Option<i64> {
    match constants.get(value.index())? {
        Some(Object::Int(Int::Small(value))) => Some(*value),
        _ => None,
    }
}

fn limit(
    function: &mut Function,
    context: &mut Context,
    constants: &[Option<Object>],
    block: BlockId,
    at: usize,
) -> Option<()> {
    let inst = &function.block(block).insts[at];
    let (list, separator) = (inst.result?, inst.args[1]);
    if int(constants, inst.args[2])? >= 0 {
        return None;
    }
    let wanted = wanted(function, context, constants, list)?;
    let (name, splits) = match (inst.op.clone(), wanted.front, wanted.back) {
        (Opcode::Op(name), front, None) => (name, front.map_or(0, |index| index + 1)),
        (Opcode::Op("str.split"), None, Some(back)) => {
            let single =
                matches!(&constants.get(separator.index())?, Some(Object::Str(text)) if text.chars().count() == 1);
            if !single {
                return None;
            }
            ("str.rsplit", back + 1)
        }
        (Opcode::Op(_), None, Some(back)) => ("str.rsplit_words", back + 1),
        _ => return None,
    };
    // The length is compared with what it would be.
    let splits = splits.max(wanted.length.unwrap_or(0));
    let new = function.new_value(exuvia_ir::Type::Int);
    let insts = &mut function.block_mut(block).insts;
    let span = insts[at].span;
    insts[at].op = Opcode::Op(name);
    insts[at].args[2] = new;
    let op = Opcode::Const(Object::int(splits));
    insts.insert(at, Inst { op, args: vec![], result: Some(new), unwind: None, no_overflow: false, span });
    Some(())
}

/// What a list is asked for; `None` if for something else as well.
fn wanted(function: &Function, context: &mut Context, constants: &[Option<Object>], list: Value) -> Option<Wanted> {
    let mut wanted = Wanted::default();
    let mut lengths: Vec<Value> = Vec::new();
    let most = |old: &mut Option<i64>, new: i64| *old = Some(old.map_or(new, |old| old.max(new)));
    for block in &function.blocks {
        for inst in &block.insts {
            let passed = inst.unwind.as_ref().is_some_and(|edge| edge.args.contains(&list));
            if passed || !inst.args.contains(&list) {
                if passed {
                    return None;
                }
                continue;
            }
            match context.core_of(inst)? {
                CoreOp::ListLen => lengths.extend(inst.result),
                CoreOp::ListGet | CoreOp::ListGetUnchecked => match int(constants, inst.args[1])? {
                    // Larger indices are no common code, and a limit for them gains nothing.
                    index @ 0..100 => most(&mut wanted.front, index),
                    index @ -100..0 => most(&mut wanted.back, -1 - index),
                    _ => return None,
                },
                _ => return None,
            }
        }
        let mut leaves = false;
        block.term.for_each_value(|value| leaves |= value == list);
        if leaves {
            return None;
        }
    }
    if lengths.is_empty() {
        return Some(wanted);
    }
    for block in &function.blocks {
        for inst in &block.insts {
            if inst.unwind.iter().flat_map(|edge| &edge.args).any(|arg| lengths.contains(arg)) {
                return None;
            }
            if !inst.args.iter().any(|arg| lengths.contains(arg)) {
                continue;
            }
            let CoreOp::IntCmp(_) = context.core_of(inst)? else { return None };
            for arg in inst.args.iter().filter(|arg| !lengths.contains(arg)) {
                let constant = int(constants, *arg)?;
                if constant > 100 {
                    return None;
                }
                most(&mut wanted.length, constant);
            }
        }
        let mut leaves = false;
        block.term.for_each_value(|value| leaves |= lengths.contains(&value));
        if leaves {
            return None;
        }
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, module};
    use expect_test::expect;
    use exuvia_ir::Object;
    use exuvia_ops::cx::Cx;

    #[test]
    fn limits_follow_from_indices_and_lengths() {
        check(
            &[("splits", super::run)],
            r#"
fn f0 "f"(v0: str, v1: str) -> str {
b0:
  v2: str = const ","
  v3: int = const -1
  v4: none = const none
  v5: list[str] = str.split v0 v2 v3
  v6: int = list.len v5
  v7: int = const 3
  v8: bool = int.lt v6 v7
  branch v8 b1 b2
b1:
  v9: list[str] = str.split_words v0 v4 v3
  v10: str = list.get v9 v3
  return v10
b2:
  v11: list[str] = str.split v0 v1 v3
  v12: str = list.get v11 v3
  v13: list[str] = str.split v0 v2 v3
  v14: str = list.get v13 v3
  v15: int = const 1
  v16: str = list.get v5 v15
  v17: list[str] = str.split v0 v2 v3
  v18: int = list.len v17
  v19: str = list.get v17 v18
  v20: str = str.concat v12 v14
  v21: str = str.concat v20 v16
  v22: str = str.concat v21 v19
  return v22
}"#,
            expect![[r#"
                fn f0 "f"(v0: str, v1: str) -> str {
                b0:
                  v2: str = const ","
                  v3: int = const -1
                  v4: none = const none
                  v5: int = const 3
                  v6: list[str] = str.split v0 v2 v5
                  v7: int = list.len v6
                  v8: int = const 3
                  v9: bool = int.lt v7 v8
                  branch v9 b1 b2
                b1:
                  v10: int = const 1
                  v11: list[str] = str.rsplit_words v0 v4 v10
                  v12: str = list.get v11 v3
                  return v12
                b2:
                  v13: list[str] = str.split v0 v1 v3
                  v14: str = list.get v13 v3
                  v15: int = const 1
                  v16: list[str] = str.rsplit v0 v2 v15
                  v17: str = list.get v16 v3
                  v18: int = const 1
                  v19: str = list.get v6 v18
                  v20: list[str] = str.split v0 v2 v3
                  v21: int = list.len v20
                  v22: str = list.get v20 v21
                  v23: str = str.concat v14 v17
                  v24: str = str.concat v23 v19
                  v25: str = str.concat v24 v22
                  return v25
                }
            "#]],
        );
    }

    /// Indices and lengths of many texts, before and after.
    #[test]
    fn the_same_is_found() {
        let texts = ["", " ", ",", "a", "a,b", ",a,,b,", "a b  c ", "  x", "aaa", "a,aa,a", "é,ß é,"];
        for split in ["str.split v0 v1 v2", "str.split_words v0 v3 v2"] {
            for separator in [",", "a", "aa", "é", ""] {
                for index in [-3, -2, -1, 0, 1, 2] {
                    for length in [-1, 0, 1, 2, 3] {
                        for cmp in ["lt", "eq", "ge"] {
                            let text = format!(
                                r#"
fn f0 "f"(v0: str) -> tuple[bool, str] {{
b0:
  v1: str = const "{separator}"
  v2: int = const -1
  v3: none = const none
  v4: int = const {index}
  v5: int = const {length}
  v6: list[str] = {split}
  v7: int = list.len v6
  v8: bool = int.{cmp} v7 v5
  v9: str = list.get v6 v4
  v10: tuple[bool, str] = tuple v8 v9
  return v10
}}"#
                            );
                            let before = module(&text);
                            let mut after = before.clone();
                            crate::run(&mut after, &mut crate::context::Context::new(), ("splits", super::run), &[]);
                            for text in texts {
                                let call = |module| {
                                    let args = [Object::str(text)];
                                    let outcome = exuvia_eval::call(module, &args, &mut Cx::for_folding(), &mut 1000);
                                    outcome.map_err(|failure| failure.raise)
                                };
                                assert_eq!(call(&after), call(&before), "{text:?}\n{before}\n{after}");
                            }
                        }
                    }
                }
            }
        }
    }
}
