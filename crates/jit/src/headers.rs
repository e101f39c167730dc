//! Where the elements of lists lie, and how many they are, read once before a loop that changes neither.
//!
//! A list is a header with a length and the address of its elements. A loop that only reads elements, or
//! puts others in their places, leaves the header as it is; but machine code cannot see that, since a store to
//! memory may change any of it. What may change a header is an operation that appends to a list, removes
//! from it or makes room in it, and a call. Two lists are two where both are new, where one is new and the
//! other an argument or a constant, and where their elements have different types.
//!
//! A loop whose every round appends one element to a new list, and that ends where a counter reaches a bound,
//! *fills* the list: the room is made, and the length set, before the loop, and each round writes to the place
//! that its counter says. This holds where nothing else in the loop can see the list, and where the loop has no
//! other end, but for a row that leaves native code and its lists with it. A function that is called has one more:
//! who catches what it raises may see a list that it was given to.

use crate::live::{Live, core_op, definition};
use exuvia_ir::{BlockId, Flow, Function, Inst, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::counter::{Counter, Test};
use exuvia_ops::def::{Body, Effect};
use std::collections::{BTreeMap, HashMap};

/// The lists whose headers one loop may read before it; more would only fill the stack.
const MOST: usize = 6;

/// What loops read before them.
#[derive(Debug, Default)]
pub(crate) struct Headers {
    /// The lists by the blocks at whose ends they are read, each with the number of the loop.
    pub before: HashMap<BlockId, Vec<(Value, usize)>>,
    /// The lists that loops fill, by the blocks before them.
    pub fills: HashMap<BlockId, Vec<Fill>>,
    /// The blocks of each loop.
    loops: Vec<Vec<bool>>,
}

/// A list that a loop fills.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    pub list: Value,
    /// The counter, its value before the first round, and the one with which there is none.
    pub counter: Value,
    pub start: Value,
    pub bound: Value,
    /// One of the places where an element is appended.
    pub append: Inst,
    /// The number of the loop.
    pub number: usize,
}

impl Headers {
    /// Whether a block is one of a loop's.
    pub fn is_within(&self, number: usize, block: BlockId) -> bool {
        self.loops.get(number).is_some_and(|blocks| blocks[block.index()])
    }

    /// Whether a block is one before a loop for which something is read or made there.
    pub fn is_before(&self, block: BlockId) -> bool {
        self.before.contains_key(&block) || self.fills.contains_key(&block)
    }

    /// Those of a function, which others call or which is the row's.
    pub fn of(function: &Function, flow: &Flow, live: &Live, is_called: bool) -> Headers {
        let mut headers = Headers::default();
        let reads_lists = |inst: &Inst| read(function, inst).is_some() || is(inst, CoreOp::ListAppend);
        if !function.blocks.iter().flat_map(|block| &block.insts).any(|inst| live.inst(inst) && reads_lists(inst)) {
            return headers;
        }
        let origins = Origins::of(function);
        // Outer loops come first, and what they read those within them need not read again.
        for head in flow.order().filter(|at| flow.is_head(*at)) {
            let body = flow.body(head);
            let mut outside = flow.predecessors(head).filter(|before| !body[*before]);
            let (Some(before), None) = (outside.next(), outside.next()) else { continue };
            if !flow.segment(before).last || flow.first(flow.segment(head).block) != head {
                continue;
            }
            let inside: Vec<bool> = (0..function.blocks.len())
                .map(|at| (flow.first(BlockId(at as u32))..=flow.last(BlockId(at as u32))).all(|segment| body[segment]))
                .collect();
            let block = flow.segment(before).block;
            let number = headers.loops.len();
            // What is done at the end of that block is done once for each time that the loop begins.
            let fills = match function.block(block).term {
                Terminator::Jump(_) => {
                    let filling = Filling { function, live, flow, body: &body, origins: &origins, head };
                    if is_called && filling.raises() { Vec::new() } else { filling.fills(number) }
                }
                _ => Vec::new(),
            };
            let found = headers.lists(function, live, flow, &body, &inside, &origins);
            if found.is_empty() && fills.is_empty() {
                continue;
            }
            headers.before.entry(block).or_default().extend(found.into_iter().map(|list| (list, number)));
            if !fills.is_empty() {
                headers.fills.entry(block).or_default().extend(fills);
            }
            headers.loops.push(inside);
        }
        headers
    }

    /// The lists that a loop reads most and whose headers it leaves as they are.
    fn lists(
        &self,
        function: &Function,
        live: &Live,
        flow: &Flow,
        body: &[bool],
        inside: &[bool],
        origins: &Origins,
    ) -> Vec<Value> {
        let mut reads: BTreeMap<Value, usize> = BTreeMap::new();
        let mut changed: Vec<Value> = Vec::new();
        for at in (0..flow.len()).filter(|at| body[*at]) {
            let segment = flow.segment(at);
            for inst in &function.block(segment.block).insts[segment.insts.clone()] {
                if !live.inst(inst) {
                    continue;
                }
                if matches!(inst.op, Opcode::Call(_)) {
                    return Vec::new();
                }
                if changes_headers(inst) {
                    changed.extend(inst.args.iter().filter(|arg| matches!(function.ty(**arg), Type::List(_))));
                }
                if inside[segment.block.index()]
                    && let Some(list) = read(function, inst)
                {
                    *reads.entry(list).or_default() += 1;
                }
            }
        }
        let is_outside = |list: &Value| match origins.block_of(*list) {
            Some(block) => !(flow.first(block)..=flow.last(block)).any(|segment| body[segment]),
            None => true,
        };
        let known = |list: &Value, block: usize| {
            self.before.values().flatten().any(|(other, number)| other == list && self.loops[*number][block])
        };
        let first = inside.iter().position(|is| *is).unwrap_or(0);
        let mut lists: Vec<(Value, usize)> = reads
            .into_iter()
            .filter(|(list, _)| {
                is_outside(list)
                    && !known(list, first)
                    && changed.iter().all(|other| origins.are_two(function, *list, *other))
            })
            .collect();
        lists.sort_by_key(|(list, reads)| (std::cmp::Reverse(*reads), list.index()));
        lists.into_iter().take(MOST).map(|(list, _)| list).collect()
    }
}

/// The list whose header machine code reads for an instruction.
fn read(function: &Function, inst: &Inst) -> Option<Value> {
    let core = definition(inst).and_then(|def| match def.body {
        Body::Core(op) => Some(op),
        _ => None,
    });
    match core {
        Some(CoreOp::ListLen | CoreOp::ListTruth | CoreOp::ListGet | CoreOp::ListGetUnchecked | CoreOp::ListSet) => {
            inst.args.first().copied().filter(|list| matches!(function.ty(*list), Type::List(_)))
        }
        _ => None,
    }
}

/// Whether an instruction may change the header of a list that is one of its operands.
fn changes_headers(inst: &Inst) -> bool {
    definition(inst).is_some_and(|def| def.effect == Effect::Write)
}

fn is(inst: &Inst, op: CoreOp) -> bool {
    core_op(inst) == Some(op)
}

/// What is looked at to find the lists that a loop fills.
struct Filling<'a> {
    function: &'a Function,
    live: &'a Live,
    flow: &'a Flow,
    body: &'a [bool],
    origins: &'a Origins,
    head: usize,
}

impl Filling<'_> {
    fn fills(&self, number: usize) -> Vec<Fill> {
        let mut sites: Vec<(Value, Vec<usize>, &Inst)> = Vec::new();
        for (at, inst) in self.insts().filter(|(_, inst)| is(inst, CoreOp::ListAppend)) {
            let list = inst.args[0];
            match sites.iter_mut().find(|(other, ..)| *other == list) {
                Some((_, places, _)) => places.push(at),
                None => sites.push((list, vec![at], inst)),
            }
        }
        let is_new = |list: Value| self.origins.kinds[list.index()] == Origin::New && self.is_outside(list);
        sites.retain(|(list, _, append)| is_new(*list) && append.unwind.is_none());
        if sites.is_empty() {
            return Vec::new();
        }
        let Some((counter, start, bound)) = self.counter() else { return Vec::new() };
        sites.retain(|(list, places, _)| self.is_once(places) && self.is_alone(*list));
        let filled = |(list, _, append): (Value, Vec<usize>, &Inst)| Fill {
            list,
            counter,
            start,
            bound,
            append: append.clone(),
            number,
        };
        sites.into_iter().map(filled).collect()
    }

    /// Whether a value is made outside of the loop.
    fn is_outside(&self, value: Value) -> bool {
        self.origins.block_of(value).is_some_and(|block| !self.body[self.flow.first(block)])
    }

    /// Whether an instruction of the loop may raise.
    fn raises(&self) -> bool {
        self.insts().any(|(_, inst)| definition(inst).is_some_and(|def| !def.raises.is_empty()))
    }

    /// The instructions of the loop, with their segments.
    fn insts(&self) -> impl Iterator<Item = (usize, &Inst)> {
        let parts = (0..self.flow.len()).filter(|at| self.body[*at]);
        parts
            .flat_map(|at| {
                let part = self.flow.segment(at);
                self.function.block(part.block).insts[part.insts.clone()].iter().map(move |inst| (at, inst))
            })
            .filter(|(_, inst)| self.live.inst(inst))
    }

    /// The counter of a loop that goes up by one in each round until it is not below a bound, which is the only
    /// end of the loop; its first value, and the bound.
    fn counter(&self) -> Option<(Value, Value, Value)> {
        let (function, flow) = (self.function, self.flow);
        let counter = Counter::of(function, flow, self.head, self.body)?;
        let mut leaves = false;
        for at in (0..flow.len()).filter(|at| self.body[*at] && *at != self.head) {
            flow.for_each_successor(function, at, |next| leaves |= !self.body[next]);
        }
        let Test { counter: counted, bound, .. } = counter.test;
        let [start] = counter.steps.starts[..] else { return None };
        let counts = !leaves && self.is_outside(bound) && counter.goes_up_by_one(function);
        counts.then_some((counted, start, bound))
    }

    /// Whether each round passes one of some segments, and only one, once.
    fn is_once(&self, places: &[usize]) -> bool {
        let rest = |behind: &[usize]| self.flow.rest_of_round(self.function, (self.head, self.body), behind, places);
        let distinct = places.iter().enumerate().all(|(at, place)| !places[..at].contains(place));
        let (none, _) = rest(&[self.head]);
        let (_, another) = rest(places);
        distinct && !places.contains(&self.head) && !none && !another
    }

    /// Whether nothing in the loop can see a list but what appends to it.
    fn is_alone(&self, list: Value) -> bool {
        self.insts().all(|(_, inst)| {
            if matches!(inst.op, Opcode::Call(_)) {
                return false;
            }
            let core = definition(inst).is_some_and(|def| matches!(def.body, Body::Core(_)));
            let appends = is(inst, CoreOp::ListAppend) && inst.args[0] == list;
            inst.args.iter().skip(usize::from(appends)).all(|arg| match self.function.ty(*arg) {
                // Instructions of the core look at what a list holds itself only.
                Type::List(element) if core || !element.holds_list() => self.origins.are_two(self.function, list, *arg),
                ty => !ty.holds_list(),
            })
        })
    }
}

/// Where values come from.
struct Origins {
    blocks: Vec<Option<BlockId>>,
    kinds: Vec<Origin>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// An instruction that makes a list.
    New,
    /// An argument or a constant, which was there before.
    Given,
    Other,
}

impl Origins {
    fn of(function: &Function) -> Origins {
        let mut origins =
            Origins { blocks: vec![None; function.values.len()], kinds: vec![Origin::Other; function.values.len()] };
        for param in &function.block(function.entry()).params {
            origins.kinds[param.index()] = Origin::Given;
        }
        for (at, block) in function.blocks.iter().enumerate() {
            let id = BlockId(at as u32);
            for param in &block.params {
                origins.blocks[param.index()] = Some(id);
            }
            for inst in &block.insts {
                let Some(result) = inst.result else { continue };
                origins.blocks[result.index()] = Some(id);
                origins.kinds[result.index()] = match &inst.op {
                    Opcode::List => Origin::New,
                    Opcode::Const(_) => Origin::Given,
                    // One that may be NULL is what the argument is otherwise.
                    Opcode::Unwrap if inst.args.iter().all(|arg| origins.kinds[arg.index()] == Origin::Given) => {
                        Origin::Given
                    }
                    _ if core_op(inst).is_some_and(CoreOp::copies_lists) => Origin::New,
                    _ => Origin::Other,
                };
            }
        }
        origins
    }

    fn block_of(&self, value: Value) -> Option<BlockId> {
        self.blocks[value.index()]
    }

    /// Whether two values cannot be one list.
    fn are_two(&self, function: &Function, a: Value, b: Value) -> bool {
        if a == b {
            return false;
        }
        let (Type::List(of_a), Type::List(of_b)) = (function.ty(a), function.ty(b)) else { return true };
        if of_a != of_b && **of_a != Type::Never && **of_b != Type::Never {
            return true;
        }
        matches!(
            (self.kinds[a.index()], self.kinds[b.index()]),
            (Origin::New, Origin::New | Origin::Given) | (Origin::Given, Origin::New)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(text: &str, is_called: bool) -> Headers {
        let known = |name: &str| exuvia_ops::by_name(name).map(|def| def.name);
        let module = exuvia_ir::parse_module(text, &known).unwrap();
        let function = &module.functions[0];
        Headers::of(function, &Flow::new(function), &crate::live::analyse(function), is_called)
    }

    /// What is read before loops of a function, by the blocks.
    fn found(text: &str) -> Vec<(u32, Vec<u32>)> {
        let mut found: Vec<(u32, Vec<u32>)> = headers(text, false)
            .before
            .iter()
            .map(|(block, lists)| (block.0, lists.iter().map(|(list, _)| list.0).collect()))
            .collect();
        found.sort();
        found
    }

    const SUM: &str = "fn f0 \"f\"(v0: list[int]) -> int {
b0:
  v1: int = const 0
  jump b1(v1, v1)
b1(v2: int, v3: int):
  v4: int = list.len v0
  v5: bool = int.lt v2 v4
  branch v5 b2 b3
b2:
  v6: int = list.get v0 v2
  v7: int = int.add v3 v6
  v8: int = const 1
  v9: int = int.add v2 v8
  poll
  jump b1(v9, v7)
b3:
  return v3
}
";

    #[test]
    fn what_is_only_read_is_read_before() {
        assert_eq!(found(SUM), [(0, vec![0])]);
    }

    #[test]
    fn what_may_be_appended_to_is_not() {
        let appended = SUM.replace("  poll\n", "  list.append v0 v6\n  poll\n");
        assert_eq!(found(&appended), []);
        // Another list may be.
        let other = SUM
            .replace("  v1: int = const 0\n", "  v1: int = const 0\n  v10: list[int] = list\n")
            .replace("  poll\n", "  list.append v10 v6\n  poll\n");
        assert_eq!(found(&other), [(0, vec![0])]);
    }

    /// The lists that loops of a function fill.
    fn filled(text: &str) -> Vec<u32> {
        let mut lists: Vec<u32> = headers(text, false).fills.values().flatten().map(|fill| fill.list.0).collect();
        lists.sort_unstable();
        lists
    }

    const MAP: &str = "fn f0 \"f\"(v0: list[int], v1: int) -> list[int] {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: list[int] = list
  v5: int = list.len v0
  jump b1(v2)
b1(v6: int):
  v7: bool = int.lt v6 v5
  branch v7 b2 b6
b2:
  v8: int = list.get v0 v6
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
  v11: int = int.add v6 v3
  jump b1(v11)
b6:
  return v4
}
";

    #[test]
    fn an_argument_that_may_be_null_is_not_new() {
        let nullable = MAP
            .replace("v0: list[int], v1: int", "v12: union[none, list[int]], v1: int")
            .replace("  v2: int = const 0\n", "  v0: list[int] = unwrap v12\n  v2: int = const 0\n");
        assert_eq!(filled(&nullable), [4]);
        // One that a list holds may be any.
        let held = nullable
            .replace("union[none, list[int]]", "list[list[int]]")
            .replace("unwrap v12", "list.get_unchecked v12 v1");
        assert!(filled(&held).is_empty());
    }

    #[test]
    fn a_map_fills_its_list() {
        assert_eq!(filled(MAP), [4]);
        assert_eq!(filled(&MAP.replace("v2: int = const 0", "v2: int = const -3")), [4]);
    }

    #[test]
    fn what_may_raise_to_a_caller_fills_nothing() {
        let fills = |text: &str| !headers(text, true).fills.is_empty();
        // An index may be outside.
        assert!(!fills(MAP));
        assert!(fills(&MAP.replace("list.get v0", "list.get_unchecked v0")));
    }

    #[test]
    fn what_is_no_map_fills_nothing() {
        let no = |old: &str, new: &str| {
            let changed = MAP.replacen(old, new, 1);
            assert_ne!(changed, MAP);
            assert!(filled(&changed).is_empty(), "{changed}");
        };
        // Not in each round, or twice.
        no("  list.append v4 v8\n", "");
        no("  poll\n", "  poll\n  list.append v4 v8\n");
        // Somebody looks.
        no("  list.append v4 v1\n", "  v12: int = list.len v4\n  list.append v4 v12\n");
        no("  poll\n", "  poll\n  v12: int = list.pop v4\n");
        // It may be the list of another name.
        no("  v4: list[int] = list\n", "  v10: bool = const false\n  v4: list[int] = list.sort_int v0 v10\n");
        // The block before ends in something else than this loop.
        no("  jump b1(v2)\n", "  v13: bool = int.lt v1 v2\n  branch v13 b1(v2) b6\n");
        // Another end, another step, another test, a bound from within.
        no("  jump b5\nb4:", "  jump b6\nb4:");
        no("const 1", "const 2");
        no("int.lt v6 v5", "int.le v6 v5");
        no("int.lt v6 v5", "int.lt v6 v6");
    }
}
