//! Where the elements of lists lie, and how many they are, read once before a loop that changes neither.
//!
//! A list is a header with a length and the address of its elements. A loop that only reads elements, or
//! puts others in their places, leaves the header as it is; but machine code cannot see that, since a store to
//! memory may change any of it. What may change a header is an operation that appends to a list, removes
//! from it or makes room in it, and a call. Two lists are two where both are new, where one is new and the
//! other an argument or a constant, and where their elements have different types.

use crate::live::{Live, definition};
use exuvia_ir::{BlockId, Flow, Function, Inst, Opcode, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, Effect};
use std::collections::{BTreeMap, HashMap};

/// The lists whose headers one loop may read before it; more would only fill the stack.
const MOST: usize = 6;

/// What loops read before them.
#[derive(Debug, Default)]
pub(crate) struct Headers {
    /// The lists by the blocks at whose ends they are read, each with the number of the loop.
    pub before: HashMap<BlockId, Vec<(Value, usize)>>,
    /// The blocks of each loop.
    loops: Vec<Vec<bool>>,
}

impl Headers {
    /// Whether a block is one of a loop's.
    pub fn is_within(&self, number: usize, block: BlockId) -> bool {
        self.loops.get(number).is_some_and(|blocks| blocks[block.index()])
    }

    /// Those of a function.
    pub fn of(function: &Function, live: &Live) -> Headers {
        let mut headers = Headers::default();
        let reads_lists = |inst: &Inst| read(function, inst).is_some();
        if !function.blocks.iter().flat_map(|block| &block.insts).any(|inst| live.inst(inst) && reads_lists(inst)) {
            return headers;
        }
        let flow = Flow::new(function);
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
            let found = headers.lists(function, live, &flow, &body, &inside, &origins);
            if !found.is_empty() {
                let number = headers.loops.len();
                headers.before.entry(block).or_default().extend(found.into_iter().map(|list| (list, number)));
                headers.loops.push(inside);
            }
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
    let Some(def) = definition(inst) else { return false };
    let keeps = matches!(def.body, Body::Core(CoreOp::ListSet | CoreOp::ListRotate | CoreOp::ListReverse));
    def.effect == Effect::Write && !keeps
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
        for (at, block) in function.blocks.iter().enumerate() {
            let id = BlockId(at as u32);
            for param in &block.params {
                origins.blocks[param.index()] = Some(id);
                if id == function.entry() {
                    origins.kinds[param.index()] = Origin::Given;
                }
            }
            for inst in &block.insts {
                let Some(result) = inst.result else { continue };
                origins.blocks[result.index()] = Some(id);
                origins.kinds[result.index()] = match &inst.op {
                    Opcode::List => Origin::New,
                    Opcode::Const(_) => Origin::Given,
                    _ => match definition(inst).map(|def| &def.body) {
                        Some(Body::Core(CoreOp::ListSlice | CoreOp::ListStride)) => Origin::New,
                        _ => Origin::Other,
                    },
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

    /// What is read before loops of a function, by the blocks.
    fn found(text: &str) -> Vec<(u32, Vec<u32>)> {
        let known = |name: &str| exuvia_ops::by_name(name).map(|def| def.name);
        let module = exuvia_ir::parse_module(text, &known).unwrap();
        let function = &module.functions[0];
        let headers = Headers::of(function, &crate::live::analyse(function));
        let mut found: Vec<(u32, Vec<u32>)> = headers
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
}
