//! One walk over the dominator tree with intervals.

use super::{Change, Operand};
use crate::context::Context;
use crate::growth::Sum;
use crate::interval::{self, Domain, Interval};
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Int, IntWidth, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::{Cmp, CoreOp};
use exuvia_ops::def::Body;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// The lengths of the histories of a walk.
type Mark = [usize; 4];

/// What is known at a place of the walk.
struct Facts<T> {
    known: Vec<T>,
    /// How often each is in `known`.
    counts: HashMap<T, u32>,
}

impl<T> Default for Facts<T> {
    fn default() -> Self {
        Facts { known: Vec::new(), counts: HashMap::new() }
    }
}

impl<T: Copy + Eq + Hash> Facts<T> {
    fn push(&mut self, fact: T) {
        self.known.push(fact);
        *self.counts.entry(fact).or_default() += 1;
    }

    fn contains(&self, fact: &T) -> bool {
        self.counts.contains_key(fact)
    }

    fn truncate(&mut self, len: usize) {
        for fact in self.known.drain(len..) {
            if let Entry::Occupied(mut count) = self.counts.entry(fact) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }
}

/// One walk over the dominator tree.
pub(super) struct Walk<'a> {
    domain: Domain,
    function: &'a Function,
    context: &'a mut Context,
    flow: &'a Flow,
    /// The intervals of the heads of loops, and of nothing else.
    assumed: &'a [Interval],
    /// Where values are defined, the intervals that hold of ints of any size.
    any: &'a [Interval],
    /// What the edges that were met pass to each parameter.
    passed: Vec<Interval>,
    /// The intervals here.
    ranges: Vec<Interval>,
    undo: Vec<(Value, Interval)>,
    /// Pairs of a value and a larger one, here.
    less: Facts<(Value, Value)>,
    /// Pairs of a value and an integer that it is not, here.
    unequal: Facts<(Value, i64)>,
    /// Lists with a value that is their length, here.
    lengths: Vec<(Value, Value)>,
    sites: Vec<(u32, u32)>,
    /// The lists whose lengths stay.
    fixed: &'a [bool],
    /// The intervals of values where they are defined.
    pub(super) defined: Vec<Interval>,
    /// What was found, in the last walk.
    pub(super) record: Option<Vec<(BlockId, usize, Change)>>,
    pub(super) operands: Vec<Operand>,
    pub(super) sums: Vec<Sum>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        domain: Domain,
        function: &'a Function,
        context: &'a mut Context,
        flow: &'a Flow,
        fixed: &'a [bool],
        assumed: &'a [Interval],
        any: &'a [Interval],
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
            domain,
            function,
            context,
            flow,
            assumed,
            any,
            passed: vec![Interval::EMPTY; function.values.len()],
            ranges: vec![Interval::FULL; function.values.len()],
            undo: Vec::new(),
            less: Facts::default(),
            unequal: Facts::default(),
            lengths: Vec::new(),
            sites,
            fixed,
            defined: vec![Interval::FULL; function.values.len()],
            record: None,
            operands: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Walks and returns what parameters were passed.
    pub(super) fn run(mut self) -> Vec<Interval> {
        self.walk();
        self.passed
    }

    fn inst(&self, value: Value) -> Option<&'a Inst> {
        let (block, at) = self.sites[value.index()];
        self.function.blocks.get(block as usize)?.insts.get(at as usize)
    }

    pub(super) fn walk(&mut self) {
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
        if self.flow.first(part.block) != segment {
            return;
        }
        if part.block == self.function.entry() {
            for (param, interval) in self.function.block(part.block).params.iter().zip(self.context.params.clone()) {
                // Of a union it is what the int in it can be.
                self.define(*param, interval);
            }
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
        [self.undo.len(), self.less.known.len(), self.unequal.known.len(), self.lengths.len()]
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
        while let Some(end) = [to.lo, to.hi].into_iter().find(|end| self.unequal.contains(&(value, *end))) {
            let without = Interval::compared(self.domain, Cmp::Ne, to, Interval::exactly(end)).0;
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
                let (new, _) = Interval::compared(self.domain, cmp, self.ranges[inst.args[0].index()], zero);
                self.narrow(inst.args[0], new);
            }
            CoreOp::IntCmp(cmp) => {
                let cmp = if holds { cmp } else { interval::negated(cmp) };
                let (a, b) = (inst.args[0], inst.args[1]);
                let (new_a, new_b) =
                    Interval::compared(self.domain, cmp, self.ranges[a.index()], self.ranges[b.index()]);
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
                self.define(
                    result,
                    value.to_i64().map_or_else(|| Interval::beyond(self.domain, value), Interval::exactly),
                );
            }
            Opcode::Unwrap if *self.function.ty(result) == Type::Int => {
                self.define(result, self.ranges[inst.args[0].index()]);
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
                    let (mut interval, mut fits) = interval::of_core(self.domain, op, args);
                    if self.domain == Domain::Native {
                        // Native code may have checked nothing that comes here.
                        let unchecked: Vec<Interval> = inst.args.iter().map(|arg| self.constant(*arg)).collect();
                        if interval::masks(op, &unchecked) {
                            interval = interval::of_core(Domain::Any, op, &unchecked).0;
                            interval = self.any.get(result.index()).map_or(interval, |any| interval.meet(*any));
                        }
                        // Of a constant of more bits the domain knows nothing.
                        fits &= !inst.args.iter().any(|arg| self.is_beyond(*arg));
                    }
                    if op == CoreOp::ListLen {
                        interval = interval.meet(self.length(inst.args[0]));
                        self.lengths.push((inst.args[0], result));
                    }
                    self.define(result, interval);
                    if self.domain == Domain::Any {
                        // What is cut off begins at the ends, so an interval within them is the result's.
                        if self.context.width != IntWidth::Word && interval.is_within(Interval::ENDED) {
                            self.found(block, at, Change::Fits);
                        }
                    } else if fits {
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
            | Opcode::Record(_)
            | Opcode::Field(_)
            | Opcode::Box
            | Opcode::Unbox
            | Opcode::List
            | Opcode::NewExc(_)
            | Opcode::ExcIs(_)
            | Opcode::Message(_)
            | Opcode::Poll => {}
        }
    }

    /// The interval of a constant of 64 bits; that of others has no ends.
    fn constant(&self, value: Value) -> Interval {
        match self.inst(value).map(|inst| &inst.op) {
            Some(Opcode::Const(Object::Int(Int::Small(value)))) => Interval::exactly(*value),
            _ => Interval::FULL,
        }
    }

    /// Whether a value is a constant of more than 64 bits.
    fn is_beyond(&self, value: Value) -> bool {
        let constant = |inst: &Inst| matches!(inst.op, Opcode::Const(Object::Int(Int::Big(_))));
        self.inst(value).is_some_and(constant)
    }

    fn define(&mut self, value: Value, interval: Interval) {
        self.ranges[value.index()] = interval;
        self.defined[value.index()] = interval;
    }

    /// The lengths that a list can have, as far as its making tells.
    fn length(&self, list: Value) -> Interval {
        let any = Interval::new(0, interval::LENGTH);
        match self.inst(list) {
            Some(inst) if self.fixed[list.index()] => match inst.op {
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
        if self.record.is_none() || self.domain == Domain::Native {
            return;
        }
        for (index, arg) in inst.args.iter().enumerate() {
            let Interval { lo, hi } = self.ranges[arg.index()];
            let is_known = self.inst(*arg).is_some_and(|inst| matches!(inst.op, Opcode::Const(_)));
            let is_one = lo == hi && lo > i64::MIN && hi < i64::MAX;
            if is_one && !is_known && *self.function.ty(*arg) == Type::Int {
                self.operands.push(Operand { block, at, index, value: lo });
            }
        }
    }

    /// Notes what the intervals say of a comparison or an access.
    fn decide(&mut self, block: BlockId, at: usize, inst: &Inst, op: CoreOp, args: &[Interval]) {
        if self.record.is_none() || self.domain == Domain::Native {
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
                if index.lo >= 0 && !index.is_empty() && self.fixed[list.index()] && lies_within {
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
