//! Range analysis: which integers a value can be.
//!
//! Laws: an interval that holds for a parameter holds for what every edge passes; below
//! the edge of a branch the compared values satisfy the comparison. Loops are run to a
//! fixpoint with widening, then twice more to narrow it.
//!
//! Used for four things. An operation whose result provably fits in 64 bits is marked
//! [`Inst::no_overflow`] (with [`crate::growth`], for what grows slowly); a comparison
//! that the intervals decide, and an operand that can be only one integer, become
//! constants; an element of a list that nobody changes, at an index below its length, is
//! taken without a check.

use crate::context::Context;
use crate::growth::{self, Sum};
use crate::interval::{self, Interval};
use crate::lists;
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::{Cmp, CoreOp};
use exuvia_ops::def::Body;

/// Walks until loops must be stable.
const MOST_WALKS: usize = 10;

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    if function.values.iter().all(|value| value.ty != Type::Int) {
        return;
    }
    let flow = Flow::new(function);
    let frozen = lists::frozen(function, context);
    let mut assumed = vec![Interval::EMPTY; function.values.len()];
    let mut stable = false;
    for walk in 0..MOST_WALKS {
        let next = Walk::new(function, context, &flow, &frozen, &assumed).run();
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
        return;
    }
    for _ in 0..2 {
        assumed = Walk::new(function, context, &flow, &frozen, &assumed).run();
    }
    let mut walk = Walk::new(function, context, &flow, &frozen, &assumed);
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

/// The lengths of the histories of a walk.
type Mark = [usize; 4];

/// One walk over the dominator tree.
struct Walk<'a> {
    function: &'a Function,
    context: &'a mut Context,
    flow: &'a Flow,
    /// The intervals of the heads of loops, and of nothing else.
    assumed: &'a [Interval],
    /// What the edges that were met pass to each parameter.
    passed: Vec<Interval>,
    /// The intervals here.
    ranges: Vec<Interval>,
    undo: Vec<(Value, Interval)>,
    /// Pairs of a value and a larger one, here.
    less: Vec<(Value, Value)>,
    /// Pairs of a value and an integer that it is not, here.
    unequal: Vec<(Value, i64)>,
    /// Lists with a value that is their length, here.
    lengths: Vec<(Value, Value)>,
    sites: Vec<(u32, u32)>,
    /// The lists that nobody changes.
    frozen: &'a [bool],
    /// The intervals of values where they are defined.
    defined: Vec<Interval>,
    /// What was found, in the last walk.
    record: Option<Vec<(BlockId, usize, Change)>>,
    operands: Vec<Operand>,
    sums: Vec<Sum>,
}

impl<'a> Walk<'a> {
    fn new(
        function: &'a Function,
        context: &'a mut Context,
        flow: &'a Flow,
        frozen: &'a [bool],
        assumed: &'a [Interval],
    ) -> Walk<'a> {
        let mut sites = vec![(u32::MAX, 0); function.values.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            for (index, inst) in block.insts.iter().enumerate() {
                if let Some(result) = inst.result {
                    sites[result.index()] = (at as u32, index as u32);
                }
            }
        }
        Walk {
            function,
            context,
            flow,
            assumed,
            passed: vec![Interval::EMPTY; function.values.len()],
            ranges: vec![Interval::FULL; function.values.len()],
            undo: Vec::new(),
            less: Vec::new(),
            unequal: Vec::new(),
            lengths: Vec::new(),
            sites,
            frozen,
            defined: vec![Interval::FULL; function.values.len()],
            record: None,
            operands: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Walks and returns what parameters were passed.
    fn run(mut self) -> Vec<Interval> {
        self.walk();
        self.passed
    }

    fn inst(&self, value: Value) -> Option<&'a Inst> {
        let (block, at) = self.sites[value.index()];
        self.function.blocks.get(block as usize)?.insts.get(at as usize)
    }

    fn walk(&mut self) {
        let flow = self.flow;
        // The segments above, each with the lengths of the histories there.
        let mut path: Vec<(usize, Mark)> = Vec::new();
        for segment in flow.tree() {
            while let Some((above, marks)) = path.last().copied() {
                if flow.dominates(above, segment) {
                    break;
                }
                self.back_to(marks);
                path.pop();
            }
            path.push((segment, self.mark()));
            self.enter(segment);
            let part = flow.segment(segment).clone();
            let block = self.function.block(part.block);
            for at in part.insts {
                let inst = &block.insts[at];
                if let Some(edge) = &inst.unwind {
                    self.pass(edge, 1);
                }
                self.visit(part.block, at, inst);
            }
            if part.last {
                self.leave(&block.term);
            }
        }
    }

    /// Takes over what edges pass, and what the one branch that leads here says.
    fn enter(&mut self, segment: usize) {
        let part = self.flow.segment(segment);
        if self.flow.first(part.block) != segment || part.block == self.function.entry() {
            return;
        }
        let is_head = self.flow.predecessors(segment).any(|before| self.flow.dominates(segment, before));
        for param in &self.function.block(part.block).params {
            if *self.function.ty(*param) == Type::Int {
                let known = if is_head { self.assumed } else { &self.passed };
                // In the first walk a loop's head has only what comes from before the loop.
                let interval = known[param.index()];
                let interval = if interval.is_empty() { self.passed[param.index()] } else { interval };
                self.ranges[param.index()] = interval;
                self.defined[param.index()] = interval;
            }
        }
        let mut predecessors = self.flow.predecessors(segment);
        let (Some(before), None) = (predecessors.next(), predecessors.next()) else { return };
        let before = self.flow.segment(before);
        if before.last
            && let Terminator::Branch(cond, yes, no) = &self.function.block(before.block).term
            && yes.block != no.block
        {
            self.assume(*cond, yes.block == part.block);
        }
    }

    /// Joins what an edge passes to what others passed.
    fn pass(&mut self, edge: &Edge, skip: usize) {
        for (param, arg) in self.function.block(edge.block).params[skip..].iter().zip(&edge.args) {
            if *self.function.ty(*param) == Type::Int {
                let new = self.ranges[arg.index()];
                self.passed[param.index()] = self.passed[param.index()].join(new);
            }
        }
    }

    fn leave(&mut self, term: &Terminator) {
        match term {
            Terminator::Jump(edge) => self.pass(edge, 0),
            Terminator::Branch(cond, yes, no) => {
                for (edge, holds) in [(yes, true), (no, false)] {
                    let mark = self.mark();
                    self.assume(*cond, holds);
                    self.pass(edge, 0);
                    self.back_to(mark);
                }
            }
            Terminator::Open
            | Terminator::Return(_)
            | Terminator::Raise(..)
            | Terminator::Reraise(..)
            | Terminator::Bailout(..)
            | Terminator::Unreachable => {}
        }
    }

    fn mark(&self) -> Mark {
        [self.undo.len(), self.less.len(), self.unequal.len(), self.lengths.len()]
    }

    /// Forgets what was learnt since a mark.
    fn back_to(&mut self, [undo, less, unequal, lengths]: Mark) {
        for (value, old) in self.undo.drain(undo..).rev() {
            self.ranges[value.index()] = old;
        }
        self.less.truncate(less);
        self.unequal.truncate(unequal);
        self.lengths.truncate(lengths);
    }

    fn narrow(&mut self, value: Value, mut to: Interval) {
        // An integer that is excluded may be at an end only now.
        while let Some((_, end)) =
            self.unequal.iter().find(|(of, not)| *of == value && (to.lo == *not || to.hi == *not))
        {
            let without = Interval::compared(Cmp::Ne, to, Interval::exactly(*end)).0;
            if without == to || without.is_empty() {
                break;
            }
            to = without;
        }
        let old = self.ranges[value.index()];
        if old != to {
            self.undo.push((value, old));
            self.ranges[value.index()] = to;
        }
    }

    /// Learns from a condition that holds, or does not, from here on.
    fn assume(&mut self, cond: Value, holds: bool) {
        let Some(inst) = self.inst(cond) else { return };
        let Some(op) = self.context.core_of(inst) else { return };
        match op {
            CoreOp::BoolNot => self.assume(inst.args[0], !holds),
            CoreOp::BoolAnd | CoreOp::BoolOr if holds == (op == CoreOp::BoolAnd) => {
                self.assume(inst.args[0], holds);
                self.assume(inst.args[1], holds);
            }
            CoreOp::IntTruth => {
                let zero = Interval::exactly(0);
                let cmp = if holds { Cmp::Ne } else { Cmp::Eq };
                let (new, _) = Interval::compared(cmp, self.ranges[inst.args[0].index()], zero);
                self.narrow(inst.args[0], new);
            }
            CoreOp::IntCmp(cmp) => {
                let cmp = if holds { cmp } else { interval::negated(cmp) };
                let (a, b) = (inst.args[0], inst.args[1]);
                let (new_a, new_b) = Interval::compared(cmp, self.ranges[a.index()], self.ranges[b.index()]);
                self.narrow(a, new_a);
                self.narrow(b, new_b);
                for (one, other) in [(a, new_b), (b, new_a)] {
                    if cmp == Cmp::Ne && other.lo == other.hi {
                        self.unequal.push((one, other.lo));
                    }
                }
                match cmp {
                    Cmp::Lt => self.less.push((a, b)),
                    Cmp::Gt => self.less.push((b, a)),
                    Cmp::Eq | Cmp::Ne | Cmp::Le | Cmp::Ge => {}
                }
            }
            _ => {}
        }
    }

    fn visit(&mut self, block: BlockId, at: usize, inst: &Inst) {
        let Some(result) = inst.result else { return };
        match &inst.op {
            Opcode::Const(Object::Int(value)) => {
                self.define(result, value.to_i64().map_or(Interval::FULL, Interval::exactly));
            }
            Opcode::Op(name) => {
                let Some(def) = self.context.def(name) else { return };
                self.note_constants(block, at, inst);
                let Body::Core(op) = def.body else {
                    return self.define(result, interval::of_kernel(name));
                };
                let mut args = [Interval::FULL; 2];
                for (range, arg) in args.iter_mut().zip(&inst.args) {
                    *range = self.ranges[arg.index()];
                }
                let args = &args[..inst.args.len().min(2)];
                if *self.function.ty(result) == Type::Int {
                    let (mut interval, fits) = interval::of_core(op, args);
                    if op == CoreOp::ListLen {
                        interval = interval.meet(self.length(inst.args[0]));
                        self.lengths.push((inst.args[0], result));
                    }
                    self.define(result, interval);
                    if fits {
                        self.found(block, at, Change::Fits);
                    } else if let (CoreOp::IntAdd | CoreOp::IntSub, [a, b], Some(_)) = (op, args, &self.record) {
                        self.sums.push(Sum { block, at, operands: [*a, *b] });
                    }
                }
                self.decide(block, at, inst, op, args);
            }
            Opcode::Const(_)
            | Opcode::Call(_)
            | Opcode::Wrap
            | Opcode::Is(_)
            | Opcode::Unwrap
            | Opcode::Tuple
            | Opcode::Field(_)
            | Opcode::List
            | Opcode::NewExc(_)
            | Opcode::ExcIs(_)
            | Opcode::Poll => {}
        }
    }

    fn define(&mut self, value: Value, interval: Interval) {
        self.ranges[value.index()] = interval;
        self.defined[value.index()] = interval;
    }

    /// The lengths that a list can have, as far as its making tells.
    fn length(&self, list: Value) -> Interval {
        let any = Interval::new(0, interval::LENGTH);
        match self.inst(list) {
            Some(inst) if self.frozen[list.index()] => match inst.op {
                Opcode::List => Interval::exactly(inst.args.len() as i64),
                // Even the empty string has one part.
                Opcode::Op("str.split" | "str.rsplit") => Interval::new(1, interval::LENGTH),
                _ => any,
            },
            _ => any,
        }
    }

    /// Notes the operands that can be only one integer.
    fn note_constants(&mut self, block: BlockId, at: usize, inst: &Inst) {
        if self.record.is_none() {
            return;
        }
        for (index, arg) in inst.args.iter().enumerate() {
            let Interval { lo, hi } = self.ranges[arg.index()];
            let is_known = self.inst(*arg).is_some_and(|inst| matches!(inst.op, Opcode::Const(_)));
            if lo == hi && !is_known && *self.function.ty(*arg) == Type::Int {
                self.operands.push(Operand { block, at, index, value: lo });
            }
        }
    }

    /// Notes what the intervals say of a comparison or an access.
    fn decide(&mut self, block: BlockId, at: usize, inst: &Inst, op: CoreOp, args: &[Interval]) {
        if self.record.is_none() {
            return;
        }
        match (op, args) {
            (CoreOp::IntCmp(cmp), [a, b]) => {
                let known = |x: Value, y: Value| self.less.contains(&(x, y));
                let related = match cmp {
                    Cmp::Lt | Cmp::Le | Cmp::Ne if known(inst.args[0], inst.args[1]) => Some(true),
                    Cmp::Gt | Cmp::Ge | Cmp::Ne if known(inst.args[1], inst.args[0]) => Some(true),
                    Cmp::Lt | Cmp::Le | Cmp::Eq if known(inst.args[1], inst.args[0]) => Some(false),
                    Cmp::Gt | Cmp::Ge | Cmp::Eq if known(inst.args[0], inst.args[1]) => Some(false),
                    Cmp::Eq | Cmp::Ne | Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge => None,
                };
                if let Some(value) = related.or_else(|| Interval::decide(cmp, *a, *b)) {
                    self.found(block, at, Change::Bool(value));
                }
            }
            (CoreOp::IntTruth, [a]) if !a.is_empty() && !a.contains(0) => self.found(block, at, Change::Bool(true)),
            (CoreOp::ListGet, [_, index]) => {
                let (list, place) = (inst.args[0], inst.args[1]);
                let below = |(of, length): &(Value, Value)| {
                    *of == list && (self.less.contains(&(place, *length)) || index.hi < self.ranges[length.index()].lo)
                };
                let least = self.length(list).lo;
                let lies_within = index.hi < least || self.lengths.iter().any(below);
                if index.lo >= 0 && !index.is_empty() && self.frozen[list.index()] && lies_within {
                    self.found(block, at, Change::Unchecked);
                }
            }
            _ => {}
        }
    }

    fn found(&mut self, block: BlockId, at: usize, change: Change) {
        if let Some(record) = &mut self.record {
            record.push((block, at, change));
        }
    }
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
