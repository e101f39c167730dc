//! Looks for a match without noting where it is, if nobody asks.
//!
//! Law: a list of offsets that is asked for nothing but whether it holds any
//! (`match.found`) may as well be what `re.test` says of the same operands.

use crate::context::Context;
use exuvia_ir::{Function, Opcode, Terminator, Type, Value};
use std::collections::HashMap;

const FIND: Opcode = Opcode::Op("re.find");
const FOUND: Opcode = Opcode::Op("match.found");

/// Runs the pass.
pub(crate) fn run(function: &mut Function, _: &mut Context) {
    let lists: Vec<Value> = insts(function).filter(|inst| inst.op == FIND).filter_map(|inst| inst.result).collect();
    let only_asked: Vec<Value> = lists.into_iter().filter(|list| is_only_asked(function, *list)).collect();
    if only_asked.is_empty() {
        return;
    }
    // The answers are the results of the search itself.
    let mut answers: HashMap<Value, Value> = HashMap::new();
    for block in &mut function.blocks {
        block.insts.retain(|inst| {
            let asked = inst.op == FOUND && only_asked.contains(&inst.args[0]);
            if asked && let Some(answer) = inst.result {
                answers.insert(answer, inst.args[0]);
            }
            !asked
        });
    }
    let rename = |value: &mut Value| *value = answers.get(value).copied().unwrap_or(*value);
    for block in &mut function.blocks {
        for inst in &mut block.insts {
            if inst.op == FIND && inst.result.is_some_and(|list| only_asked.contains(&list)) {
                inst.op = Opcode::Op("re.test");
            }
            inst.args.iter_mut().for_each(rename);
            inst.unwind.iter_mut().flat_map(|edge| &mut edge.args).for_each(rename);
        }
        block.term.for_each_value_mut(|value| rename(value));
    }
    for list in only_asked {
        function.values[list.index()].ty = Type::Bool;
    }
}

fn insts(function: &Function) -> impl Iterator<Item = &exuvia_ir::Inst> {
    function.blocks.iter().flat_map(|block| &block.insts)
}

fn is_only_asked(function: &Function, list: Value) -> bool {
    let in_insts = insts(function).all(|inst| {
        (inst.op == FOUND || !inst.args.contains(&list))
            && inst.unwind.as_ref().is_none_or(|edge| !edge.args.contains(&list))
    });
    let leaves = |term: &Terminator| {
        let mut found = false;
        term.for_each_value(|value| found |= value == list);
        found
    };
    in_insts && !function.blocks.iter().any(|block| leaves(&block.term))
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn a_match_that_nobody_looks_at_is_only_tested() {
        check(
            &[("matches", super::run)],
            r#"
fn f0 "f"(v0: str) -> bool {
b0:
  v1: pattern "a(b)" 0 = const pattern "a(b)" 0
  v2: int = const 0
  v3: list[int] = re.find v1 v0 v2
  v4: bool = match.found v3
  branch v4 b1 b2
b1:
  v5: list[int] = re.find v1 v0 v2
  v6: str = match.text v0 v5 v2
  v7: bool = str.truth v6
  return v7
b2:
  return v4
}
"#,
            expect![[r#"
                fn f0 "f"(v0: str) -> bool {
                b0:
                  v1: pattern "a(b)" 0 = const pattern "a(b)" 0
                  v2: int = const 0
                  v3: bool = re.test v1 v0 v2
                  branch v3 b1 b2
                b1:
                  v4: list[int] = re.find v1 v0 v2
                  v5: str = match.text v0 v4 v2
                  v6: bool = str.truth v5
                  return v6
                b2:
                  return v3
                }
            "#]],
        );
    }
}
