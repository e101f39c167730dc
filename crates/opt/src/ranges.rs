//! Range analysis: which integers a value can be.
//!
//! Laws: an interval that holds for a parameter holds for what every edge passes; below
//! the edge of a branch the compared values satisfy the comparison. Loops are run to a
//! fixpoint with widening, then twice more to narrow it.
//!
//! Facts are of two kinds ([`Domain`]). Those of any integers hold on every rung, since the
//! evaluator runs the same module with integers beyond 64 bits; only what concerns checks of
//! native code may assume 64 bits, where native code has no more ([`IntWidth`]). It makes no check of what
//! only low bits are asked for, so that what a mask leaves of a sum is known from facts of any
//! integers alone.
//!
//! Used for four things. An operation whose result provably fits in 64 bits is marked
//! [`Inst::no_overflow`] (with [`crate::growth`], for what grows slowly); a comparison
//! that the intervals decide, and an operand that can be only one integer, become
//! constants; an element of a list that nobody changes, at an index below its length, is
//! taken without a check.

mod walk;

use crate::context::Context;
use crate::growth;
use crate::interval::{Domain, Interval};
use crate::lists;
use exuvia_ir::{BlockId, Flow, Function, Inst, IntWidth, Object, Opcode, Type};
use walk::Walk;

/// Walks until loops must be stable.
const MOST_WALKS: usize = 10;

/// Runs the pass: for what holds of any integers, then for what holds of 64 bits.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let domains: &[Domain] = match context.width {
        IntWidth::Word => &[Domain::Any, Domain::Native],
        IntWidth::Mixed | IntWidth::Double => &[Domain::Any],
    };
    let mut any = Vec::new();
    for domain in domains.iter().copied() {
        if function.values.iter().any(|value| value.ty == Type::Int) {
            any = run_in(domain, function, context, &any);
        }
    }
}

/// Runs the pass for one domain; `any` are the intervals of values of any size, where they are known.
/// Gives those that were found.
fn run_in(domain: Domain, function: &mut Function, context: &mut Context, any: &[Interval]) -> Vec<Interval> {
    let flow = Flow::new(function);
    let fixed = lists::of_fixed_length(function, context);
    let mut assumed = vec![Interval::EMPTY; function.values.len()];
    let mut stable = false;
    for walk in 0..MOST_WALKS {
        let next = Walk::new(domain, function, context, &flow, &fixed, &assumed, any).run();
        let heads = |at: &usize| assumed[*at] != next[*at];
        let changed: Vec<usize> = (0..assumed.len()).filter(heads).collect();
        stable = changed.iter().all(|at| next[*at].is_within(assumed[*at]));
        if stable {
            break;
        }
        for at in changed {
            assumed[at] = if walk == 0 { next[at] } else { assumed[at].widen(assumed[at].join(next[at])) };
        }
    }
    if !stable {
        return Vec::new();
    }
    for _ in 0..2 {
        assumed = Walk::new(domain, function, context, &flow, &fixed, &assumed, any).run();
    }
    let mut walk = Walk::new(domain, function, context, &flow, &fixed, &assumed, any);
    walk.record = Some(Vec::new());
    walk.walk();
    let Walk { record, sums, operands, defined, .. } = walk;
    for (block, at, change) in record.unwrap_or_default() {
        let inst = &mut function.block_mut(block).insts[at];
        match change {
            Change::Fits => inst.no_overflow = true,
            Change::Bool(value) => {
                inst.op = Opcode::Const(Object::Bool(value));
                inst.args.clear();
                inst.unwind = None;
            }
            Change::Unchecked => {
                inst.op = Opcode::Op("list.get_unchecked");
                inst.unwind = None;
            }
        }
    }
    for sum in growth::bounded(function, context, &defined, &sums) {
        function.block_mut(sum.block).insts[sum.at].no_overflow = true;
    }
    make_constants(function, operands);
    defined
}

/// Gives instructions constants for operands. The walk met them in an order of its own,
/// but those of one block one after the other.
fn make_constants(function: &mut Function, operands: Vec<Operand>) {
    // From the back, so that constants put before an instruction move no other.
    for group in operands.chunk_by(|a, b| (a.block, a.at) == (b.block, b.at)).rev() {
        for (made, operand) in group.iter().enumerate() {
            let new = function.new_value(Type::Int);
            let insts = &mut function.block_mut(operand.block).insts;
            let inst = &mut insts[operand.at + made];
            let span = inst.span;
            if let Some(arg) = inst.args.get_mut(operand.index) {
                *arg = new;
            }
            let op = Opcode::Const(Object::int(operand.value));
            let constant = Inst { op, args: vec![], result: Some(new), unwind: None, no_overflow: false, span };
            insts.insert(operand.at + made, constant);
        }
    }
}

/// An operand that can be only one integer.
struct Operand {
    block: BlockId,
    at: usize,
    index: usize,
    value: i64,
}

/// What is found out about an instruction.
enum Change {
    Fits,
    Bool(bool),
    Unchecked,
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn ranges(input: &str, expect: Expect) {
        check(&[("ranges", super::run)], input, expect);
    }

    #[test]
    fn a_counting_loop_needs_no_checks() {
        ranges(
            r#"
fn f0 "f"(v0: str) -> int {
b0:
  v1: int = str.len v0
  v2: int = const 0
  v3: int = const 1
  jump b1(v2, v2)
b1(v4: int, v5: int):
  poll
  v6: bool = int.lt v4 v1
  branch v6 b2 b3
b2:
  v7: int = int.add v5 v4
  v8: int = int.add v4 v3
  v9: bool = int.ge v4 v2
  branch v9 b4 b3
b4:
  jump b1(v8, v7)
b3:
  return v5
}"#,
            expect![[r#"
                fn f0 "f"(v0: str) -> int {
                b0:
                  v1: int = str.len v0 fits
                  v2: int = const 0
                  v3: int = const 1
                  jump b1(v2, v2)
                b1(v4: int, v5: int):
                  poll
                  v6: bool = int.lt v4 v1
                  branch v6 b2 b3
                b2:
                  v7: int = int.add v5 v4
                  v8: int = int.add v4 v3 fits
                  v9: bool = const true
                  branch v9 b4 b3
                b3:
                  return v5
                b4:
                  jump b1(v8, v7)
                }
            "#]],
        );
    }

    #[test]
    fn remainders_and_masks_bound() {
        ranges(
            r#"
fn f0 "f"(v0: int, v1: int) -> int {
b0:
  v2: int = const 97
  v3: int = const 255
  v4: int = int.mod v0 v2
  v5: int = int.and v1 v3
  v6: int = int.mul v4 v5
  v7: int = int.add v6 v0
  v8: bool = int.lt v4 v2
  branch v8 b1 b2
b1:
  return v6
b2:
  return v7
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: int) -> int {
                b0:
                  v2: int = const 97
                  v3: int = const 255
                  v4: int = int.mod v0 v2 fits
                  v5: int = int.and v1 v3 fits
                  v6: int = int.mul v4 v5 fits
                  v7: int = int.add v6 v0
                  v8: bool = const true
                  branch v8 b1 b2
                b1:
                  return v6
                b2:
                  return v7
                }
            "#]],
        );
    }

    #[test]
    fn elements_below_the_length_are_taken_unchecked() {
        ranges(
            r#"
fn f0 "f"(v0: list[int], v1: int) -> int {
b0:
  v2: int = list.len v0
  v3: int = const 0
  v4: int = const 1
  v5: bool = int.lt v1 v2
  branch v5 b1 b2
b1:
  v6: bool = int.ge v1 v3
  branch v6 b3 b2
b3:
  v7: int = list.get v0 v1
  return v7
b2:
  v8: int = list.get v0 v1
  v9: bool = int.gt v2 v4
  branch v9 b4 b5
b4:
  v10: int = list.get v0 v4
  return v10
b5:
  return v8
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: int) -> int {
                b0:
                  v2: int = list.len v0 fits
                  v3: int = const 0
                  v4: int = const 1
                  v5: bool = int.lt v1 v2
                  branch v5 b1 b2
                b1:
                  v6: bool = int.ge v1 v3
                  branch v6 b3 b2
                b2:
                  v7: int = list.get v0 v1
                  v8: bool = int.gt v2 v4
                  branch v8 b4 b5
                b3:
                  v9: int = list.get_unchecked v0 v1
                  return v9
                b4:
                  v10: int = list.get_unchecked v0 v4
                  return v10
                b5:
                  return v7
                }
            "#]],
        );
    }

    /// A list into whose places others are put has the length that it had.
    #[test]
    fn stores_into_a_list_keep_its_length() {
        let source = |change: &str| {
            format!(
                r#"
fn f0 "f"(v0: list[int], v1: int) -> int {{
b0:
  v2: int = list.len v0
  v3: int = const 0
  v5: bool = int.lt v1 v2
  branch v5 b1 b2
b1:
  v6: bool = int.ge v1 v3
  branch v6 b3 b2
b3:
  {change}
  v7: int = list.get v0 v1
  return v7
b2:
  return v2
}}"#
            )
        };
        let unchecked = |change: &str| {
            let mut module = crate::testing::module(&source(change));
            super::run(&mut module.functions[0], &mut crate::context::Context::new());
            module.to_string().contains("list.get_unchecked")
        };
        assert!(unchecked("v8: none = list.set v0 v1 v3"));
        assert!(unchecked("v8: none = list.reverse v0 v3 v1"));
        assert!(!unchecked("v8: none = list.append v0 v3"));
        assert!(!unchecked("v8: int = list.pop v0"));
    }

    #[test]
    fn counters_beside_the_loops_own_fit_but_sums_may_not() {
        ranges(
            r#"
fn f0 "f"(v0: list[int], v1: int) -> tuple[int, int, int, int] {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: bool = int.gt v1 v2
  branch v4 b1(v2, v2, v2, v1) b1(v3, v3, v3, v2)
b1(v5: int, v6: int, v7: int, v8: int):
  poll
  v9: int = list.get v0 v5 unwind b4
  v10: int = int.add v5 v3
  v11: int = int.add v6 v9
  v12: int = int.add v8 v3
  v13: bool = int.eq v9 v2
  branch v13 b2 b3
b2:
  v14: int = int.sub v7 v3
  jump b1(v10, v11, v14, v12)
b3:
  v15: int = int.add v7 v7
  v16: int = int.add v3 v7
  jump b1(v10, v11, v16, v12)
b4(v17: exc):
  v18: tuple[int, int, int, int] = tuple v5 v6 v7 v8
  return v18
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: int) -> tuple[int, int, int, int] {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  v4: bool = int.gt v1 v2
                  branch v4 b1(v2, v2, v2, v1) b1(v3, v3, v3, v2)
                b1(v5: int, v6: int, v7: int, v8: int):
                  poll
                  v9: int = list.get v0 v5 unwind b4
                  v10: int = int.add v5 v3 fits
                  v11: int = int.add v6 v9
                  v12: int = int.add v8 v3
                  v13: bool = int.eq v9 v2
                  branch v13 b2 b3
                b2:
                  v14: int = int.sub v7 v3 fits
                  jump b1(v10, v11, v14, v12)
                b3:
                  v15: int = int.add v7 v7
                  v16: int = int.add v3 v7 fits
                  jump b1(v10, v11, v16, v12)
                b4(v17: exc):
                  v18: tuple[int, int, int, int] = tuple v5 v6 v7 v8
                  return v18
                }
            "#]],
        );
    }

    #[test]
    fn the_only_integer_left_is_a_constant() {
        ranges(
            r#"
fn f0 "f"(v0: str) -> str {
b0:
  v1: str = const "="
  v2: int = const -1
  v3: list[str] = str.split v0 v1 v2
  v4: int = list.len v3
  v5: int = const 2
  v6: bool = int.eq v4 v5
  branch v6 b2 b3
b3:
  v10: bool = int.gt v4 v5
  branch v10 b2 b1
b1:
  v7: str = int.str v4
  return v7
b2:
  v8: int = const 0
  v9: str = list.get v3 v8
  return v9
}"#,
            expect![[r#"
                fn f0 "f"(v0: str) -> str {
                b0:
                  v1: str = const "="
                  v2: int = const -1
                  v3: list[str] = str.split v0 v1 v2
                  v4: int = list.len v3 fits
                  v5: int = const 2
                  v6: bool = int.eq v4 v5
                  branch v6 b2 b3
                b1:
                  v7: int = const 1
                  v8: str = int.str v7
                  return v8
                b2:
                  v9: int = const 0
                  v10: str = list.get_unchecked v3 v9
                  return v10
                b3:
                  v11: bool = int.gt v4 v5
                  branch v11 b2 b1
                }
            "#]],
        );
    }
}
