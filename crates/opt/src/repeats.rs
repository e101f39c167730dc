//! Does a search once.
//!
//! Law: a loop that changes nothing, entered with the values that an equal loop was entered with before,
//! while nobody has changed what it reads, goes the same way and leaves with the same values. The one
//! before came to its end, so this one neither raises nor leaves the function either.
//!
//! `counts[word] = counts.get(word, 0) + 1` looks for the word twice, and afterwards once; so do
//! `if word not in seen: seen.add(word)` and `if word in counts: counts[word] += 1`.

use crate::context::{Context, Renaming, same_constant};
use crate::licm::{homes, preheader, with_preheaders};
use crate::lists::States;
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Opcode, Terminator, Value};
use exuvia_ops::def::Effect;
use std::collections::HashMap;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let Some(flow) = with_preheaders(function) else { return };
    let heads: Vec<usize> = flow.order().filter(|at| flow.is_head(*at)).collect();
    if heads.len() < 2 {
        return;
    }
    let frozen = crate::lists::frozen(function, context);
    let states = States::new(function, &flow, context);
    let homes = homes(function, &flow);
    let mut names = Renaming::new(function);
    let mut known: HashMap<Vec<Value>, Vec<Search>> = HashMap::new();
    let mut renamed = false;
    for head in heads {
        let Some(search) = Search::new(function, &flow, context, head) else { continue };
        let Terminator::Jump(enter) = &function.block(search.before).term else { continue };
        let args: Vec<Value> = enter.args.iter().map(|arg| names.get(*arg)).collect();
        let earlier = known.entry(args).or_default();
        let from = flow.last(search.before);
        let behind = |first: &&Search| flow.dominates(flow.first(first.after), from);
        let pair = earlier.iter().rev().filter(behind).take(Search::TRIED).find_map(|first| {
            let facts = Facts { function, flow: &flow, frozen: &frozen, states: &states, homes: &homes };
            Pair::mapping(&facts, context, &mut names, first, &search)
        });
        match pair {
            Some((values, args)) => {
                skip(function, &search, args);
                values.into_iter().for_each(|(second, first)| names.set(second, first));
                renamed = true;
            }
            None => earlier.push(search),
        }
    }
    if renamed {
        names.apply(function);
    }
}

/// A loop that changes nothing, with the blocks through which it leaves.
struct Search {
    head: BlockId,
    /// From where alone it is entered.
    before: BlockId,
    blocks: Vec<BlockId>,
    /// Where every way out of it leads, and no other way.
    after: BlockId,
}

impl Search {
    /// Searches have no more blocks.
    const BLOCKS: usize = 24;
    /// With so many earlier ones each is compared.
    const TRIED: usize = 4;

    fn new(function: &Function, flow: &Flow, context: &mut Context, head: usize) -> Option<Search> {
        let before = preheader(function, flow, head)?;
        let mut blocks: Vec<BlockId> = Vec::new();
        // From the ends of the rounds up to the head.
        let mut open: Vec<usize> = vec![head];
        open.extend(flow.latches(head));
        while let Some(at) = open.pop() {
            let block = flow.segment(at).block;
            if blocks.contains(&block) {
                continue;
            }
            if blocks.len() == Self::BLOCKS || !only_looks(function, context, block) {
                return None;
            }
            blocks.push(block);
            if at != head {
                open.extend(flow.predecessors(at));
            }
        }
        // Blocks on the way out belong to it as long as there are several ways.
        let after = loop {
            let mut exits: Vec<BlockId> = Vec::new();
            for block in &blocks {
                function.block(*block).term.for_each_edge(|edge| {
                    if !blocks.contains(&edge.block) && !exits.contains(&edge.block) {
                        exits.push(edge.block);
                    }
                });
            }
            let is_within = |block: BlockId| {
                flow.predecessors(flow.first(block)).all(|at| blocks.contains(&flow.segment(at).block))
            };
            if let [only] = exits[..] {
                break Some(only).filter(|only| is_within(*only));
            }
            let next = exits.into_iter().find(|exit| {
                matches!(function.block(*exit).term, Terminator::Jump(_))
                    && is_within(*exit)
                    && only_looks(function, context, *exit)
            });
            match next {
                Some(next) if blocks.len() < Self::BLOCKS => blocks.push(next),
                _ => break None,
            }
        }?;
        Some(Search { head: flow.segment(head).block, before, blocks, after })
    }
}

/// Whether a block changes nothing, makes no object of its own, and leaves only to other blocks.
fn only_looks(function: &Function, context: &mut Context, block: BlockId) -> bool {
    let block = function.block(block);
    matches!(block.term, Terminator::Jump(_) | Terminator::Branch(..))
        && block.insts.iter().all(|inst| {
            inst.unwind.is_none()
                && match inst.op {
                    Opcode::Op(name) => {
                        context.def(name).is_some_and(|def| matches!(def.effect, Effect::Pure | Effect::Read))
                    }
                    Opcode::Poll => true,
                    Opcode::Call(_) | Opcode::Box | Opcode::List | Opcode::NewExc(_) => false,
                    _ => inst.op.only_makes(),
                }
        })
}

/// What is known of the function.
struct Facts<'a> {
    function: &'a Function,
    flow: &'a Flow,
    frozen: &'a [bool],
    states: &'a States,
    homes: &'a [usize],
}

impl Facts<'_> {
    fn maker(&self, value: Value) -> Option<&Inst> {
        let part = self.flow.segment(*self.homes.get(value.index()).filter(|home| **home != usize::MAX)?);
        // The result of an instruction that unwinds belongs to the segment behind it.
        let insts = &self.function.block(part.block).insts;
        insts[part.insts.start.saturating_sub(1)..part.insts.end].iter().find(|inst| inst.result == Some(value))
    }

    fn is_of(&self, value: Value, search: &Search) -> bool {
        let home = self.homes.get(value.index()).filter(|home| **home != usize::MAX);
        home.is_some_and(|home| search.blocks.contains(&self.flow.segment(*home).block))
    }

    fn are_equal_constants(&self, a: Value, b: Value) -> bool {
        self.function.ty(a) == self.function.ty(b)
            && match (self.maker(a).map(|inst| &inst.op), self.maker(b).map(|inst| &inst.op)) {
                (Some(Opcode::Const(a)), Some(Opcode::Const(b))) => same_constant(a, b),
                _ => false,
            }
    }
}

/// Two searches, of which the second does in each step what the first did.
struct Pair<'a> {
    facts: &'a Facts<'a>,
    first: &'a Search,
    second: &'a Search,
    /// The first's values, by those of the second.
    values: HashMap<Value, Value>,
}

/// The values of a search by those of one that is as it, and what it passes to where it leads.
type Mapping = (HashMap<Value, Value>, Vec<Value>);

impl<'a> Pair<'a> {
    /// `None` if the second may do anything else.
    fn mapping(
        facts: &'a Facts<'a>,
        context: &mut Context,
        names: &mut Renaming,
        first: &'a Search,
        second: &'a Search,
    ) -> Option<Mapping> {
        let mut pair = Pair { facts, first, second, values: HashMap::new() };
        let mut blocks: HashMap<BlockId, BlockId> = HashMap::from([(second.head, first.head)]);
        pair.params(second.head, first.head)?;
        let mut open = vec![(second.head, first.head)];
        let mut exits: Vec<(&Edge, &Edge)> = Vec::new();
        while let Some((block, other)) = open.pop() {
            pair.insts(context, names, block, other)?;
            let (term, theirs) = (&facts.function.block(block).term, &facts.function.block(other).term);
            match (term, theirs) {
                (Terminator::Jump(_), Terminator::Jump(_)) => {}
                (Terminator::Branch(a, ..), Terminator::Branch(b, ..)) if pair.equal(names, *a, *b) => {}
                _ => return None,
            }
            for (edge, their) in term.edges().into_iter().zip(theirs.edges()) {
                if !second.blocks.contains(&edge.block) {
                    if their.block != first.after {
                        return None;
                    }
                    exits.push((edge, their));
                    continue;
                }
                match blocks.get(&edge.block) {
                    Some(known) if *known != their.block => return None,
                    Some(_) => {}
                    None if first.blocks.contains(&their.block) => {
                        pair.params(edge.block, their.block)?;
                        blocks.insert(edge.block, their.block);
                        open.push((edge.block, their.block));
                    }
                    None => return None,
                }
                if !edge.args.iter().zip(&their.args).all(|(a, b)| pair.equal(names, *a, *b)) {
                    return None;
                }
            }
        }
        let args = pair.results(names, &exits)?;
        Some((pair.values, args))
    }

    /// Whether a value of the second is the one of the first in the same step.
    fn equal(&self, names: &mut Renaming, value: Value, other: Value) -> bool {
        match self.values.get(&value) {
            Some(mapped) if *mapped == other => true,
            // What the first makes may differ from step to step.
            None if !self.facts.is_of(other, self.first) && names.get(value) == names.get(other) => true,
            _ => self.facts.are_equal_constants(value, other),
        }
    }

    fn params(&mut self, block: BlockId, other: BlockId) -> Option<()> {
        let function = self.facts.function;
        let (params, others) = (&function.block(block).params, &function.block(other).params);
        let alike = params.len() == others.len()
            && params.iter().zip(others).all(|(param, other)| function.ty(*param) == function.ty(*other));
        if alike {
            self.values.extend(params.iter().copied().zip(others.iter().copied()));
        }
        alike.then_some(())
    }

    /// Finds for each instruction of a block the one of the first's block that makes the same.
    fn insts(&mut self, context: &mut Context, names: &mut Renaming, block: BlockId, other: BlockId) -> Option<()> {
        let facts = self.facts;
        for inst in &facts.function.block(block).insts {
            let Some(result) = inst.result else { continue };
            if let Opcode::Const(_) = inst.op {
                continue;
            }
            let same = facts.function.block(other).insts.iter().find(|other| {
                other.op == inst.op
                    && other.args.len() == inst.args.len()
                    && other.result.is_some_and(|other| facts.function.ty(other) == facts.function.ty(result))
                    && inst.args.iter().zip(&other.args).all(|(a, b)| self.equal(names, *a, *b))
            })?;
            if context.def_of(inst).is_some_and(|def| def.effect == Effect::Read) {
                let state =
                    |list: Value, of: &Search| facts.states.of(&facts.states.entry(facts.flow.first(of.head)), list);
                let mut lists = inst.args.iter().zip(&same.args).filter(|(list, _)| !facts.frozen[list.index()]);
                let kept = lists.all(|(list, other)| {
                    let then = state(*other, self.first);
                    then.is_some() && then == state(*list, self.second)
                });
                if !kept {
                    return None;
                }
            }
            self.values.insert(result, same.result?);
        }
        Some(())
    }

    /// What the second passes to where it leads, said by what is known behind the first.
    fn results(&self, names: &mut Renaming, exits: &[(&Edge, &Edge)]) -> Option<Vec<Value>> {
        let function = self.facts.function;
        let found = &function.block(self.first.after).params;
        let mut results = Vec::new();
        for at in 0..function.block(self.second.after).params.len() {
            let mut given =
                |place: &usize| exits.iter().all(|(edge, their)| self.equal(names, edge.args[at], their.args[*place]));
            let place = (0..found.len()).find(|place| given(place));
            results.push(match place {
                Some(place) => found[place],
                None => {
                    let value = exits.first()?.0.args[at];
                    if exits.iter().any(|(edge, _)| edge.args[at] != value) {
                        return None;
                    }
                    self.values.get(&value).copied().unwrap_or_else(|| names.get(value))
                }
            });
        }
        Some(results)
    }
}

/// Goes on behind a search without it.
fn skip(function: &mut Function, search: &Search, args: Vec<Value>) {
    let mut constants: Vec<Inst> = Vec::new();
    for block in &search.blocks {
        let block = function.block_mut(*block);
        constants.extend(block.insts.drain(..).filter(|inst| matches!(inst.op, Opcode::Const(_))));
        block.term = Terminator::Unreachable;
    }
    let before = function.block_mut(search.before);
    before.insts.extend(constants);
    before.term = Terminator::Jump(Edge { block: search.after, args });
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    /// Two searches in a list, with something between them.
    fn searches(between: &str, from: &str, wanted: &str, expect: Expect) {
        let text = format!(
            r#"
fn f0 "f"(v0: list[int], v1: list[int], v2: int, v3: int) -> int {{
b0:
  v4: int = const 0
  v5: int = const -1
  v30: list[int] = list
  jump b1(v4)
b1(v6: int):
  v7: int = list.get v0 v6
  v8: bool = int.eq v7 v2
  branch v8 b4(v6) b2
b2:
  v9: int = const 1
  v10: int = int.add v6 v9
  v11: int = list.len v0
  v12: bool = int.lt v10 v11
  branch v12 b3 b5
b3:
  poll
  jump b1(v10)
b5:
  v13: int = int.sub v5 v10
  jump b4(v13)
b4(v14: int):
  {between}
  jump b6({from})
b6(v16: int):
  v17: int = list.get v0 v16
  v18: bool = int.eq v17 {wanted}
  branch v18 b9(v2, v16) b7
b7:
  v19: int = const 1
  v20: int = int.add v16 v19
  v21: int = list.len v0
  v22: bool = int.lt v20 v21
  branch v22 b8 b10
b8:
  poll
  jump b6(v20)
b10:
  v24: int = int.sub v5 v20
  jump b9(v2, v24)
b9(v25: int, v26: int):
  v27: int = int.add v14 v26
  v28: int = int.add v27 v25
  return v28
}}"#
        );
        let count = |module: &str| module.matches("list.get").count();
        let mut module = crate::testing::module(&text);
        let mut context = crate::context::Context::new();
        for pass in [("repeats", super::run as fn(&mut _, &mut _)), ("blocks", crate::blocks::run)] {
            crate::run(&mut module, &mut context, pass, &[]);
        }
        expect.assert_eq(&count(&module.to_string()).to_string());
    }

    #[test]
    fn the_same_is_found() {
        searches("", "v4", "v2", expect!["1"]);
        // What others hold may change, and so may a list that is another than those from elsewhere.
        searches("list.append v30 v2", "v4", "v2", expect!["1"]);
        // Constants are what they are, whoever makes them.
        searches("v31: int = const 0", "v4", "v2", expect!["1"]);
    }

    #[test]
    fn another_search_is_made() {
        // From elsewhere, and for something else.
        searches("", "v2", "v2", expect!["2"]);
        searches("", "v4", "v3", expect!["2"]);
        // The list has changed, or one that may be the same.
        searches("list.append v0 v2", "v4", "v2", expect!["2"]);
        searches("list.append v1 v2", "v4", "v2", expect!["2"]);
    }

    #[test]
    fn what_is_found_takes_the_place_of_the_second() {
        check(
            &[("repeats", super::run), ("blocks", crate::blocks::run), ("common subexpressions", crate::cse::run)],
            r#"
fn f0 "f"(v0: list[int], v1: int) -> int {
b0:
  v2: int = const 0
  v3: int = const 1
  jump b1(v2)
b1(v4: int):
  v5: int = list.get v0 v4
  v6: bool = int.lt v5 v1
  branch v6 b2 b3
b2:
  v7: int = int.add v4 v3
  poll
  jump b1(v7)
b3:
  jump b4(v2)
b4(v8: int):
  v9: int = list.get v0 v8
  v10: bool = int.lt v9 v1
  branch v10 b5 b6
b5:
  v11: int = int.add v8 v3
  poll
  jump b4(v11)
b6:
  v12: int = const 10
  v13: int = int.mul v8 v12
  v14: int = int.add v13 v9
  v15: int = int.add v14 v4
  return v15
}"#,
            expect![[r#"
                fn f0 "f"(v0: list[int], v1: int) -> int {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  jump b1(v2)
                b1(v4: int):
                  v5: int = list.get v0 v4
                  v6: bool = int.lt v5 v1
                  branch v6 b2 b3
                b2:
                  v7: int = int.add v4 v3
                  poll
                  jump b1(v7)
                b3:
                  v8: int = const 10
                  v9: int = int.mul v4 v8
                  v10: int = int.add v9 v5
                  v11: int = int.add v10 v4
                  return v11
                }
            "#]],
        );
    }
}
