//! A copy of a loop for the kind of value that a variable comes to have.
//!
//! `total = 0` before a loop and `total += 0.5` in it make of `total` an int or a float, which each round asks.
//! But once it is a float it stays one: the loop is copied for a float, and who knows that it is one goes there.
//! Of the loop as it was the round is left in which it is an int.
//!
//! Law: a copy of a loop does what the loop does, for a variable that has one alternative of its union whenever
//! the copy is entered. That it has it again at the end of each round is what the analysis proves which it rests
//! on, by the tests on the way; so no edge leads from the copy back to the loop, and each keeps its single entry.

use crate::context::Context;
use crate::duplicate::{self, Duplicate};
use crate::licm;
use crate::tags::{self, Tags};
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Opcode, Terminator, Type, Value};
use std::collections::{HashMap, HashSet};

/// The instructions of a loop that is copied.
const LARGE: usize = 120;

/// The loops of a function that are copied.
const MOST: usize = 6;

/// The alternatives of a variable whose loop is copied.
const FEW: usize = 4;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, _: &mut Context) {
    let is_union = |function: &Function, param: &Value| matches!(function.ty(*param), Type::Union(_));
    if !function.blocks.iter().flat_map(|block| &block.params).any(|param| is_union(function, param)) {
        return;
    }
    let mut done = HashSet::new();
    for _ in 0..MOST {
        let Some(flow) = licm::with_preheaders(function) else { return };
        let Some((found, body)) = find(function, &flow, &mut done) else { return };
        copy(function, &flow, &found, &body);
    }
}

/// A loop that is to be copied.
struct Found {
    head: BlockId,
    /// The place of the variable among the parameters of the head.
    place: usize,
    /// What it comes to be.
    kind: Type,
}

/// The first loop, inner ones first, with a variable that comes to have one kind and is asked for it.
fn find(function: &Function, flow: &Flow, done: &mut HashSet<(BlockId, usize)>) -> Option<(Found, Vec<BlockId>)> {
    let heads: Vec<usize> = flow.order().filter(|at| flow.is_head(*at)).collect();
    for head in heads.into_iter().rev() {
        let id = flow.segment(head).block;
        let is_few = |param: &Value| matches!(function.ty(*param), Type::Union(kinds) if kinds.len() <= FEW);
        let params = function.block(id).params.iter().copied().enumerate();
        let params: Vec<(usize, Value)> = params.filter(|(_, param)| is_few(param)).collect();
        if params.is_empty() || licm::preheader(function, flow, head).is_none() {
            continue;
        }
        let inside = flow.body(head);
        let segments: Vec<usize> = flow.order().filter(|at| inside[*at]).collect();
        // None that unwinds: such blocks have several segments.
        let whole = |at: &usize| flow.first(flow.segment(*at).block) == *at && flow.segment(*at).last;
        if !segments.iter().all(whole) {
            continue;
        }
        let body: Vec<BlockId> = segments.iter().map(|at| flow.segment(*at).block).collect();
        if body.iter().map(|block| function.block(*block).insts.len() + 1).sum::<usize>() > LARGE {
            continue;
        }
        for (place, param) in params {
            let asks = |inst: &Inst| matches!(inst.op, Opcode::Is(_) | Opcode::Unwrap) && inst.args[0] == param;
            if !body.iter().any(|block| function.block(*block).insts.iter().any(asks)) || !done.insert((id, place)) {
                continue;
            }
            for kind in function.ty(param).alternatives() {
                let own = tags::tags_of(function.ty(param), kind);
                if own != tags::ALL && after(function, &body, place, own) == own {
                    return Some((Found { head: id, place, kind: kind.clone() }, body));
                }
            }
        }
    }
    None
}

/// What a variable of a loop, whose first block is its head, can be at the ends of rounds that begin with it as
/// one of some alternatives.
fn after(function: &Function, body: &[BlockId], place: usize, begins: Tags) -> Tags {
    let head = body[0];
    let mut known: Vec<Tags> = vec![tags::ALL; function.values.len()];
    let mut made: HashMap<Value, &Inst> = HashMap::new();
    for block in body.iter().map(|block| function.block(*block)) {
        let results = block.insts.iter().filter_map(|inst| Some((inst.result?, inst)));
        for (result, inst) in results {
            made.insert(result, inst);
            known[result.index()] = 0;
        }
        block.params.iter().for_each(|param| known[param.index()] = 0);
    }
    for param in &function.block(head).params {
        known[param.index()] = tags::ALL;
    }
    known[function.block(head).params[place].index()] = begins;
    let mut reached: HashSet<BlockId> = HashSet::from([head]);
    let mut ends = 0;
    loop {
        let before = (known.clone(), reached.len(), ends);
        for id in body {
            if !reached.contains(id) {
                continue;
            }
            let block = function.block(*id);
            for inst in &block.insts {
                if let Some(result) = inst.result.filter(|result| tags::has_tags(function.ty(*result))) {
                    known[result.index()] |= tags::of_inst(function, inst, result, &known);
                }
            }
            let mut go = |edge: &Edge| {
                if edge.block == head {
                    ends |= known[edge.args[place].index()];
                } else if body.contains(&edge.block) {
                    reached.insert(edge.block);
                    for (param, arg) in function.block(edge.block).params.iter().zip(&edge.args) {
                        known[param.index()] |= known[arg.index()];
                    }
                }
            };
            match &block.term {
                Terminator::Branch(cond, yes, no) => {
                    let (may, may_not) = answers(function, made.get(cond).copied(), &before.0);
                    if may {
                        go(yes);
                    }
                    if may_not {
                        go(no);
                    }
                }
                other => other.for_each_edge(go),
            }
        }
        if before == (known.clone(), reached.len(), ends) {
            return ends;
        }
    }
}

/// Whether a condition may be true, and whether it may be false.
fn answers(function: &Function, made: Option<&Inst>, known: &[Tags]) -> (bool, bool) {
    let Some(Inst { op: Opcode::Is(wanted), args, .. }) = made else { return (true, true) };
    let ty = function.ty(args[0]);
    let (wanted, possible) = (tags::tags_of(ty, wanted), known[args[0].index()]);
    if wanted == tags::ALL || possible == tags::ALL {
        return (true, true);
    }
    (possible & wanted != 0, possible & !wanted != 0)
}

/// Copies a loop, and sends those to the copy who have a variable of its kind.
fn copy(function: &mut Function, flow: &Flow, found: &Found, body: &[BlockId]) {
    let Found { head, place, kind } = found;
    let copy = Duplicate::of(function, body);
    let to = copy.block(*head);
    duplicate::set_param(function, to, *place, kind.clone(), |given| duplicate::inst(Opcode::Wrap, vec![given]));
    // The block before the copy.
    let entry = function.new_block();
    let types: Vec<Type> = function.block(to).params.iter().map(|param| function.ty(*param).clone()).collect();
    let args = types.into_iter().map(|ty| function.add_param(entry, ty)).collect();
    function.block_mut(entry).term = Terminator::Jump(Edge { block: to, args });
    // At the end of a round it is of its kind.
    for id in body.iter().map(|id| copy.block(*id)) {
        let mut term = function.block(id).term.clone();
        redirect(&mut term, to, |edge| as_kind(function, edge, to, found));
        function.block_mut(id).term = term;
    }
    // Whoever enters the loop asks.
    let entering: HashSet<BlockId> =
        flow.predecessors(flow.first(*head)).map(|before| flow.segment(before).block).collect();
    for id in entering {
        let mut term = function.block(id).term.clone();
        redirect(&mut term, *head, |edge| asked(function, edge, entry, found));
        function.block_mut(id).term = term;
    }
    duplicate::join(function, body, &[copy]);
}

/// Sends the edges to a block to those that are made for them.
fn redirect(term: &mut Terminator, from: BlockId, mut made: impl FnMut(Edge) -> BlockId) {
    term.for_each_edge_mut(|edge| {
        if edge.block == from {
            *edge = Edge { block: made(edge.clone()), args: vec![] };
        }
    });
}

/// A block that goes to the copy of a loop, as an edge goes to the loop, with a variable of its kind.
fn as_kind(function: &mut Function, edge: Edge, to: BlockId, found: &Found) -> BlockId {
    let block = function.new_block();
    let known = function.new_value(found.kind.clone());
    let mut args = edge.args;
    let unwrap = Inst { op: Opcode::Unwrap, args: vec![args[found.place]], result: Some(known), ..licm::nothing() };
    args[found.place] = known;
    function.block_mut(block).insts = vec![unwrap];
    function.block_mut(block).term = Terminator::Jump(Edge { block: to, args });
    block
}

/// A block that asks for the kind of a variable, and goes on to the loop or to the block before its copy.
fn asked(function: &mut Function, edge: Edge, entry: BlockId, found: &Found) -> BlockId {
    let known = as_kind(function, edge.clone(), entry, found);
    let block = function.new_block();
    let is = function.new_value(Type::Bool);
    let variable = edge.args[found.place];
    let ask = Inst { op: Opcode::Is(found.kind.clone()), args: vec![variable], result: Some(is), ..licm::nothing() };
    function.block_mut(block).insts = vec![ask];
    function.block_mut(block).term = Terminator::Branch(is, Edge { block: known, args: vec![] }, edge);
    block
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn kinds(input: &str, expect: Expect) {
        let passes: [crate::Pass; 7] = [
            ("kinds", super::run),
            ("simplify", crate::simplify::run),
            ("thread", crate::thread::run),
            ("simplify", crate::simplify::run),
            ("dead code", crate::dce::run),
            ("parameters", crate::params::run),
            ("blocks", crate::blocks::run),
        ];
        check(&passes, input, expect);
    }

    const SUM: &str = r#"
fn f0 "f"(v0: list[float]) -> union[int, float] {
b0:
  v1: int = const 0
  v2: union[int, float] = wrap v1
  v3: int = list.len v0
  jump b1(v1, v2)
b1(v4: int, v5: union[int, float]):
  v6: bool = int.lt v4 v3
  branch v6 b2 b6
b2:
  v7: float = list.get_unchecked v0 v4
  v8: bool = is int v5
  branch v8 b3 b4
b3:
  v9: int = unwrap v5
  v10: float = int.to_float v9
  v11: float = float.add v10 v7
  jump b5(v11)
b4:
  v12: float = unwrap v5
  v13: float = float.add v12 v7
  jump b5(v13)
b5(v14: float):
  poll
  v15: union[int, float] = wrap v14
  v16: int = const 1
  v17: int = int.add v4 v16
  jump b1(v17, v15)
b6:
  return v5
}"#;

    #[test]
    fn a_sum_that_becomes_a_float() {
        kinds(
            SUM,
            expect![[r#"
            fn f0 "f"(v0: list[float]) -> union[int, float] {
            b0:
              v1: int = const 0
              v2: union[int, float] = wrap v1
              v3: int = list.len v0
              v4: bool = int.lt v1 v3
              branch v4 b1 b4(v2)
            b1:
              v5: float = list.get_unchecked v0 v1
              v6: int = unwrap v2
              v7: float = int.to_float v6
              v8: float = float.add v7 v5
              poll
              v9: int = const 1
              v10: int = int.add v1 v9
              jump b2(v10, v8)
            b2(v11: int, v12: float):
              v13: union[int, float] = wrap v12
              v14: bool = int.lt v11 v3
              branch v14 b3 b4(v13)
            b3:
              v15: float = list.get_unchecked v0 v11
              v16: float = float.add v12 v15
              poll
              v17: int = const 1
              v18: int = int.add v11 v17
              jump b2(v18, v16)
            b4(v19: union[int, float]):
              return v19
            }
        "#]],
        );
    }

    #[test]
    fn what_may_become_an_int_again_stays() {
        let again = SUM.replace("v15: union[int, float] = wrap v14", "v18: bool = float.lt v14 v14\n  branch v18 b7 b8\nb7:\n  v15: union[int, float] = wrap v4\n  jump b9(v15)\nb8:\n  v19: union[int, float] = wrap v14\n  jump b9(v19)\nb9(v20: union[int, float]):");
        let again = again.replace("jump b1(v17, v15)", "jump b1(v17, v20)");
        let blocks = again.matches("\nb").count();
        let known = |name: &str| exuvia_ops::by_name(name).map(|def| def.name);
        let mut module = exuvia_ir::parse_module(&again, &known).unwrap();
        super::run(&mut module.functions[0], &mut crate::context::Context::new());
        // But for the block before the loop nothing was added.
        assert!(module.functions[0].blocks.len() <= blocks + 1, "{module}");
    }
}
