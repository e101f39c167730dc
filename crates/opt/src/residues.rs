//! Computes by residues what is only asked for its remainder by one constant.
//!
//! Laws, for a modulus above zero: sums, differences, products and opposites of ints have the same
//! remainder as those of the ints' remainders; so has an int itself as its remainder. So a value all of
//! whose uses are `% m`, or go by such operations into values of which that holds, may be replaced by
//! one with the same remainder:
//! - what reads digits by the operation that its definition names for that
//!   ([`exuvia_ops::def::OpDef::residue`]), which reads them modulo `m`: `int(s)` for the check of an IBAN, whose
//!   number has some thirty digits, `int.from_bytes` for the bucket of a digest;
//! - where ints have 128 bits, since rows were seen to leave, what goes round a loop by its remainder:
//!   `h = h * 131 + ord(c)`, of which `h % 1_000_000_007` is asked in the end. Where words are enough
//!   that would only cost.

use crate::context::{self, Context};
use crate::dce::term_operands;
use crate::licm::{constant, nothing};
use exuvia_ir::{BlockId, Function, Inst, IntWidth, Opcode, Type, Value};
use exuvia_ops::core::CoreOp;
use std::collections::HashMap;

/// What is asked of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// Its remainder by one modulus.
    Remainder(i64),
    /// More.
    All,
}

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    let constants = context::constant_ints(function);
    // Most functions ask for no remainder.
    if !insts().any(|inst| modulus(context, inst, &constants).is_some()) {
        return;
    }
    let asked = asked(function, context, &constants);
    let remainder = |value: Value| match asked[value.index()] {
        Asked::Remainder(modulus) => Some(modulus),
        Asked::Nothing | Asked::All => None,
    };
    // The values that grow: results of arithmetic.
    let mut grown = vec![false; function.values.len()];
    for inst in insts() {
        if let Some(result) = inst.result {
            grown[result.index()] = is_homomorphic(context, inst);
        }
    }
    let wide = context.width == IntWidth::Double;
    for at in 0..function.blocks.len() {
        let mut insts = std::mem::take(&mut function.blocks[at].insts);
        let mut next = 0;
        while next < insts.len() {
            if let Some(modulus) = insts[next].result.and_then(remainder)
                && let Some((residue, more)) = context.def_of(&insts[next]).and_then(|def| def.residue)
            {
                let operands = more.iter().copied().chain([modulus]);
                let operands: Vec<Inst> = operands.map(|value| constant(function, value)).collect();
                insts[next].op = Opcode::Op(residue.name);
                insts[next].args.extend(operands.iter().filter_map(|constant| constant.result));
                let count = operands.len();
                insts.splice(next..next, operands);
                next += count;
            }
            next += 1;
        }
        if wide {
            let mut term = function.blocks[at].term.clone();
            for edge in term.edges_mut() {
                let params = function.block(edge.block).params.clone();
                for (param, arg) in params.iter().zip(&mut edge.args) {
                    let Some(modulus) = remainder(*param).filter(|_| grown[arg.index()]) else { continue };
                    let constant = constant(function, modulus);
                    let result = function.new_value(Type::Int);
                    let args = [*arg].into_iter().chain(constant.result).collect();
                    let op = Opcode::Op("int.mod");
                    insts.push(constant);
                    insts.push(Inst { op, args, result: Some(result), ..nothing() });
                    *arg = result;
                }
            }
            function.blocks[at].term = term;
        }
        function.block_mut(BlockId(at as u32)).insts = insts;
    }
}

/// What an instruction takes the remainder of its operand by, if that is a constant above zero.
fn modulus(context: &mut Context, inst: &Inst, constants: &HashMap<Value, i64>) -> Option<i64> {
    if context.core_of(inst) != Some(CoreOp::IntMod) {
        return None;
    }
    constants.get(inst.args.get(1)?).copied().filter(|modulus| *modulus > 0)
}

/// Whether the remainder of the result depends on the remainders of the operands alone.
fn is_homomorphic(context: &mut Context, inst: &Inst) -> bool {
    context.core_of(inst).is_some_and(CoreOp::is_ring)
}

fn asked(function: &Function, context: &mut Context, constants: &HashMap<Value, i64>) -> Vec<Asked> {
    let mut asked = vec![Asked::Nothing; function.values.len()];
    // What is asked of a value is asked of those.
    let mut through: Vec<Vec<Value>> = vec![Vec::new(); function.values.len()];
    let mut work: Vec<(Value, Asked)> = Vec::new();
    for block in &function.blocks {
        for inst in &block.insts {
            if let Some(modulus) = modulus(context, inst, constants) {
                work.push((inst.args[0], Asked::Remainder(modulus)));
            } else if let Some(result) = inst.result.filter(|_| is_homomorphic(context, inst)) {
                through[result.index()].extend(&inst.args);
            } else {
                work.extend(inst.args.iter().map(|arg| (*arg, Asked::All)));
            }
            if let Some(edge) = &inst.unwind {
                let params = function.block(edge.block).params.iter().skip(1);
                params.zip(&edge.args).for_each(|(param, arg)| through[param.index()].push(*arg));
            }
        }
        for edge in block.term.edges() {
            let params = function.block(edge.block).params.iter();
            params.zip(&edge.args).for_each(|(param, arg)| through[param.index()].push(*arg));
        }
        let mut operands = Vec::new();
        term_operands(&block.term, &mut operands);
        work.extend(operands.into_iter().map(|value| (value, Asked::All)));
    }
    while let Some((value, more)) = work.pop() {
        let before = asked[value.index()];
        let after = match (before, more) {
            (Asked::Nothing, more) => more,
            (before, Asked::Nothing) => before,
            (Asked::Remainder(a), Asked::Remainder(b)) if a == b => before,
            _ => Asked::All,
        };
        if after != before {
            asked[value.index()] = after;
            work.extend(through[value.index()].iter().map(|operand| (*operand, after)));
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn residues(input: &str, expect: Expect) {
        fn run(function: &mut exuvia_ir::Function, context: &mut crate::context::Context) {
            context.width = exuvia_ir::IntWidth::Double;
            super::run(function, context);
        }
        check(&[("residues", run)], input, expect);
    }

    #[test]
    fn digits_are_read_modulo() {
        residues(
            r#"
fn f0 "f"(v0: str) -> bool {
b0:
  v1: int = int.of_str v0
  v2: int = const 97
  v3: int = int.mod v1 v2
  v4: int = const 1
  v5: bool = int.eq v3 v4
  return v5
}"#,
            expect![[r#"
                fn f0 "f"(v0: str) -> bool {
                b0:
                  v1: int = const 10
                  v2: int = const 97
                  v3: int = int.of_str_mod v0 v1 v2
                  v4: int = const 97
                  v5: int = int.mod v3 v4
                  v6: int = const 1
                  v7: bool = int.eq v5 v6
                  return v7
                }
            "#]],
        );
    }

    #[test]
    fn what_goes_round_a_loop_is_cut_unless_more_is_asked_of_it() {
        let text = |returned: &str| {
            format!(
                r#"
fn f0 "f"(v0: str) -> int {{
b0:
  v1: int = str.len v0
  v2: int = const 0
  v3: int = const 131
  jump b1(v2, v2)
b1(v4: int, v5: int):
  poll
  v6: bool = int.lt v4 v1
  branch v6 b2 b3
b2:
  v7: int = int.mul v5 v3
  v8: int = int.add v7 v4
  v9: int = const 1
  v10: int = int.add v4 v9
  jump b1(v10, v8)
b3:
  v11: int = const 1009
  v12: int = int.mod v5 v11
  return {returned}
}}"#
            )
        };
        residues(
            &text("v12"),
            expect![[r#"
                fn f0 "f"(v0: str) -> int {
                b0:
                  v1: int = str.len v0
                  v2: int = const 0
                  v3: int = const 131
                  jump b1(v2, v2)
                b1(v4: int, v5: int):
                  poll
                  v6: bool = int.lt v4 v1
                  branch v6 b2 b3
                b2:
                  v7: int = int.mul v5 v3
                  v8: int = int.add v7 v4
                  v9: int = const 1
                  v10: int = int.add v4 v9
                  v11: int = const 1009
                  v12: int = int.mod v8 v11
                  jump b1(v10, v12)
                b3:
                  v13: int = const 1009
                  v14: int = int.mod v5 v13
                  return v14
                }
            "#]],
        );
        residues(
            &text("v5"),
            expect![[r#"
            fn f0 "f"(v0: str) -> int {
            b0:
              v1: int = str.len v0
              v2: int = const 0
              v3: int = const 131
              jump b1(v2, v2)
            b1(v4: int, v5: int):
              poll
              v6: bool = int.lt v4 v1
              branch v6 b2 b3
            b2:
              v7: int = int.mul v5 v3
              v8: int = int.add v7 v4
              v9: int = const 1
              v10: int = int.add v4 v9
              jump b1(v10, v8)
            b3:
              v11: int = const 1009
              v12: int = int.mod v5 v11
              return v5
            }
        "#]],
        );
    }
}
