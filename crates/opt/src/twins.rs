//! Makes one of two parameters that are always equal.
//!
//! Law: if every edge to a block passes one value for both of two parameters, or for each what one
//! operation without effects makes, of operands that are equal but for the one parameter where the
//! other has the other, then the two are equal: they are at first, and stay so from round to round.
//!
//! `for x, y in zip(a, b)` counts in both lists, and afterwards in one.

use crate::context::{Context, Renaming, same_constant};
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Opcode, Value};
use exuvia_ops::def::Effect;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let mut names = Renaming::new(function);
    let mut gone = vec![false; function.values.len()];
    {
        let flow = Flow::new(function);
        let heads = flow.order().filter(|at| flow.is_head(*at)).map(|at| flow.segment(at).block);
        // The caller passes what the entry gets.
        let heads = heads.filter(|block| *block != function.entry() && function.block(*block).params.len() > 1);
        let heads: Vec<BlockId> = heads.collect();
        if heads.is_empty() {
            return;
        }
        let edges = edges(function, &heads);
        let mut makers: Vec<Option<&Inst>> = vec![None; function.values.len()];
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(result) = inst.result {
                makers[result.index()] = Some(inst);
            }
        }
        for (head, edges) in heads.iter().zip(edges) {
            let Some(edges) = edges else { continue };
            let params = &function.block(*head).params;
            for (second, param) in params.iter().enumerate().skip(1) {
                let twin = (0..second).filter(|first| !gone[params[*first].index()]).find(|first| {
                    let pair = (params[*first], *param);
                    function.ty(pair.0) == function.ty(pair.1)
                        && edges.iter().all(|edge| {
                            are_equal(function, context, &makers, pair, (edge.args[*first], edge.args[second]))
                        })
                });
                if let Some(first) = twin {
                    names.set(*param, params[first]);
                    gone[param.index()] = true;
                }
            }
        }
    }
    if gone.contains(&true) {
        names.apply(function);
        let needed: Vec<bool> = gone.iter().map(|gone| !gone).collect();
        crate::dce::drop_params(function, &needed);
    }
}

/// The edges to each of some blocks, unless one is a handler's.
fn edges<'f>(function: &'f Function, to: &[BlockId]) -> Vec<Option<Vec<&'f Edge>>> {
    let mut places = vec![usize::MAX; function.blocks.len()];
    to.iter().enumerate().for_each(|(at, block)| places[block.index()] = at);
    let mut edges = vec![Some(Vec::new()); to.len()];
    for block in &function.blocks {
        for edge in block.insts.iter().filter_map(|inst| inst.unwind.as_ref()) {
            edges.get_mut(places[edge.block.index()]).into_iter().for_each(|found| *found = None);
        }
        block.term.for_each_edge(|edge| {
            if let Some(Some(found)) = edges.get_mut(places[edge.block.index()]) {
                found.push(edge);
            }
        });
    }
    edges
}

/// Whether two values are equal where the two parameters are.
fn are_equal(
    function: &Function,
    context: &mut Context,
    makers: &[Option<&Inst>],
    pair: (Value, Value),
    (a, b): (Value, Value),
) -> bool {
    if a == b || (a, b) == pair {
        return true;
    }
    let (Some(first), Some(second)) = (makers[a.index()], makers[b.index()]) else { return false };
    let same_operation = match (&first.op, &second.op) {
        (Opcode::Const(a), Opcode::Const(b)) => same_constant(a, b),
        (Opcode::Op(a), Opcode::Op(b)) => a == b && context.def(a).is_some_and(|def| def.effect == Effect::Pure),
        _ => false,
    };
    same_operation
        && function.ty(a) == function.ty(b)
        && first.args.len() == second.args.len()
        && first.args.iter().zip(&second.args).all(|(a, b)| a == b || (*a, *b) == pair)
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn twins(input: &str, expect: Expect) {
        check(&[("twins", super::run), ("common subexpressions", crate::cse::run)], input, expect);
    }

    #[test]
    fn counters_that_go_together_are_one() {
        twins(
            r#"
fn f0 "f"(v0: list[int], v1: list[int]) -> int {
b0:
  v2: int = const 0
  v3: int = const 0
  v4: int = const 1
  jump b1(v2, v2, v3)
b1(v5: int, v6: int, v7: int):
  v8: int = list.len v0
  v9: bool = int.lt v5 v8
  branch v9 b2 b3
b2:
  v10: int = int.add v5 v4
  v11: int = int.add v6 v4
  v12: int = list.get_unchecked v0 v5
  v13: int = int.add v7 v12
  poll
  jump b1(v10, v11, v13)
b3:
  v14: int = int.add v7 v6
  return v14
}
"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: list[int]) -> int {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  jump b1(v2, v2)
                b1(v4: int, v5: int):
                  v6: int = list.len v0
                  v7: bool = int.lt v4 v6
                  branch v7 b2 b3
                b2:
                  v8: int = int.add v4 v3
                  v9: int = list.get_unchecked v0 v4
                  v10: int = int.add v5 v9
                  poll
                  jump b1(v8, v10)
                b3:
                  v11: int = int.add v5 v4
                  return v11
                }
            "#]],
        );
    }

    #[test]
    fn others_stay_two() {
        // One begins elsewhere, one goes further, and one goes the other way in some rounds.
        twins(
            r#"
fn f0 "f"(v0: int, v1: bool) -> int {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: int = const 2
  jump b1(v2, v3, v2, v2)
b1(v5: int, v6: int, v7: int, v8: int):
  v9: bool = int.lt v5 v0
  branch v9 b2 b5
b2:
  v10: int = int.add v5 v3
  v11: int = int.add v6 v3
  v12: int = int.add v7 v4
  v13: int = int.add v8 v3
  branch v1 b3 b4
b3:
  jump b1(v10, v11, v12, v13)
b4:
  jump b1(v10, v11, v12, v8)
b5:
  v14: int = int.add v5 v6
  v15: int = int.add v7 v8
  v16: int = int.add v14 v15
  return v16
}
"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: bool) -> int {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  v4: int = const 2
                  jump b1(v2, v3, v2, v2)
                b1(v5: int, v6: int, v7: int, v8: int):
                  v9: bool = int.lt v5 v0
                  branch v9 b2 b5
                b2:
                  v10: int = int.add v5 v3
                  v11: int = int.add v6 v3
                  v12: int = int.add v7 v4
                  v13: int = int.add v8 v3
                  branch v1 b3 b4
                b3:
                  jump b1(v10, v11, v12, v13)
                b4:
                  jump b1(v10, v11, v12, v8)
                b5:
                  v14: int = int.add v5 v6
                  v15: int = int.add v7 v8
                  v16: int = int.add v14 v15
                  return v16
                }
            "#]],
        );
    }
}
