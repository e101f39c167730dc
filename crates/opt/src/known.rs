//! What is known of the values at a point of a function.
//!
//! Passes that walk over the dominator tree carry a [`Known`] along. Some facts hold
//! wherever a value exists: that an instruction makes a constant, which alternatives a
//! parameter can hold. Others hold below the edge of a branch: its condition, and what
//! the condition says of other values. The latter are forgotten when the walk leaves.

use crate::context::Context;
use crate::tags::{self, Tags};
use exuvia_ir::{BlockId, ExcKind, Flow, Function, Inst, Object, Opcode, Terminator, Type, Value, is_constant_of};
use exuvia_ops::core::{Cmp, CoreOp};
use exuvia_ops::def::Body;

/// Where a value is defined.
#[derive(Clone, Copy)]
enum Site {
    Param,
    Inst(BlockId, usize),
}

/// The state of the walk: what rules may ask.
pub(crate) struct Known<'a> {
    pub(crate) function: &'a mut Function,
    pub(crate) context: &'a mut Context,
    sites: Vec<Site>,
    frozen: Vec<bool>,
    constants: Vec<Option<Object>>,
    tags: Vec<Tags>,
    undo: Vec<Undo>,
    /// The segments that dominate the current one, each with its mark in `undo`.
    path: Vec<(usize, usize)>,
}

enum Undo {
    Constant(Value, Option<Object>),
    Tags(Value, Tags),
}

impl<'a> Known<'a> {
    /// What is known at the start of a function.
    pub(crate) fn new(function: &'a mut Function, context: &'a mut Context, flow: &Flow) -> Known<'a> {
        let tags = tags::analyse(function, flow, context);
        let mut sites = vec![Site::Param; function.values.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            for (index, inst) in block.insts.iter().enumerate() {
                if let Some(result) = inst.result {
                    sites[result.index()] = Site::Inst(BlockId(at as u32), index);
                }
            }
        }
        let constants = vec![None; function.values.len()];
        let frozen = crate::lists::frozen(function, context);
        Known { function, context, sites, frozen, constants, tags, undo: Vec::new(), path: Vec::new() }
    }

    /// Goes to the next segment in the order of the dominator tree.
    pub(crate) fn enter(&mut self, flow: &Flow, segment: usize) {
        while let Some((above, mark)) = self.path.last().copied() {
            if flow.dominates(above, segment) {
                break;
            }
            self.back_to(mark);
            self.path.pop();
        }
        self.path.push((segment, self.undo.len()));
        self.learn_from_edge(flow, segment);
    }

    /// A segment that is entered by one edge of one branch knows the condition.
    fn learn_from_edge(&mut self, flow: &Flow, segment: usize) {
        let mut predecessors = flow.predecessors(segment);
        let (Some(before), None) = (predecessors.next(), predecessors.next()) else { return };
        let part = flow.segment(before);
        if !part.last {
            return;
        }
        if let Terminator::Branch(cond, yes, no) = &self.function.block(part.block).term {
            let (cond, holds) = (*cond, yes.block == flow.segment(segment).block);
            if yes.block != no.block {
                self.assume(cond, holds);
            }
        }
    }

    /// Notes what an instruction says of its result.
    pub(crate) fn note(&mut self, inst: &Inst) {
        let Some(result) = inst.result else { return };
        if let Some(object) = self.constant_of(inst) {
            self.constants[result.index()] = Some(object);
        }
        if tags::has_tags(self.function.ty(result)) {
            let new = tags::of_inst(self.function, inst, result, &self.tags);
            self.tags[result.index()] &= new;
        }
    }

    /// Notes what an instruction says of its result from here on, where its operands are
    /// known for the moment only.
    pub(crate) fn learn(&mut self, inst: &Inst) {
        let Some(result) = inst.result else { return };
        if let Some(object) = self.constant_of(inst) {
            self.set_constant(result, object);
        }
        if tags::has_tags(self.function.ty(result)) {
            let new = tags::of_inst(self.function, inst, result, &self.tags);
            self.narrow(result, new);
        }
    }

    /// The constant that an instruction makes: its own, or what it passes on.
    fn constant_of(&self, inst: &Inst) -> Option<Object> {
        match &inst.op {
            Opcode::Const(object) => Some(object.clone()),
            Opcode::Wrap => self.constant(inst.args[0]).cloned(),
            // Where another alternative is held the point is never reached.
            Opcode::Unwrap => {
                let object = self.constant(inst.args[0])?;
                let fits = |ty: &Type| ty.alternatives().iter().any(|ty| is_constant_of(object, ty));
                fits(self.ty(inst.result?)).then(|| object.clone())
            }
            Opcode::Tuple => {
                let items = inst.args.iter().map(|arg| self.constant(*arg).cloned());
                items.collect::<Option<Vec<_>>>().map(Object::tuple)
            }
            Opcode::Record(_)
            | Opcode::Op(_)
            | Opcode::Call(_)
            | Opcode::Is(_)
            | Opcode::Field(_)
            | Opcode::Box
            | Opcode::Unbox
            | Opcode::List
            | Opcode::NewExc(_)
            | Opcode::ExcIs(_)
            | Opcode::Message(_)
            | Opcode::Poll => None,
        }
    }

    /// The constant that a value is known to be.
    pub(crate) fn constant(&self, value: Value) -> Option<&Object> {
        self.constants.get(value.index())?.as_ref()
    }

    /// The 64-bit integer that a value is known to be.
    pub(crate) fn int(&self, value: Value) -> Option<i64> {
        match self.constant(value)? {
            Object::Int(int) => int.to_i64(),
            _ => None,
        }
    }

    /// The bool that a value is known to be.
    pub(crate) fn bool(&self, value: Value) -> Option<bool> {
        match self.constant(value)? {
            Object::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// The instruction that defines a value.
    pub(crate) fn inst(&self, value: Value) -> Option<&Inst> {
        match self.sites.get(value.index())? {
            Site::Param => None,
            Site::Inst(block, at) => self.function.block(*block).insts.get(*at),
        }
    }

    /// The operands of the instruction that defines a value, if it is that core operation.
    pub(crate) fn core_args(&mut self, value: Value, op: CoreOp) -> Option<Vec<Value>> {
        let inst = self.inst(value)?;
        let Opcode::Op(name) = inst.op else { return None };
        let args = inst.args.clone();
        match self.context.def(name)?.body {
            Body::Core(found) if found == op => Some(args),
            _ => None,
        }
    }

    /// Whether a value is a list that nobody changes.
    pub(crate) fn is_frozen(&self, value: Value) -> bool {
        self.frozen.get(value.index()) == Some(&true)
    }

    pub(crate) fn ty(&self, value: Value) -> &Type {
        self.function.ty(value)
    }

    /// The alternatives or classes that a value can have here.
    pub(crate) fn tags(&self, value: Value) -> Tags {
        self.tags.get(value.index()).copied().unwrap_or(tags::ALL)
    }

    /// A new value that is a constant.
    pub(crate) fn new_constant(&mut self, ty: Type, object: Object) -> Value {
        self.sites.push(Site::Param);
        self.constants.push(Some(object));
        self.tags.push(tags::ALL);
        self.function.new_value(ty)
    }

    /// Notes that a value is a constant from here on.
    pub(crate) fn set_constant(&mut self, value: Value, object: Object) {
        let old = self.constants[value.index()].replace(object);
        self.undo.push(Undo::Constant(value, old));
    }

    /// Notes that a value has only those alternatives or classes from here on.
    pub(crate) fn narrow(&mut self, value: Value, to: Tags) {
        let old = self.tags[value.index()];
        self.undo.push(Undo::Tags(value, old));
        self.tags[value.index()] = old & to;
    }

    /// Notes that a bool has a value from here on.
    pub(crate) fn assume(&mut self, cond: Value, holds: bool) {
        self.set_constant(cond, Object::Bool(holds));
        let Some(inst) = self.inst(cond) else { return };
        let args = inst.args.clone();
        match inst.op.clone() {
            Opcode::Is(wanted) => {
                let tags = tags::tags_of(self.ty(args[0]), &wanted);
                if tags != tags::ALL {
                    self.narrow(args[0], if holds { tags } else { !tags });
                }
            }
            Opcode::ExcIs(kinds) => {
                let is = |kind: &&ExcKind| kinds.iter().any(|base| kind.is_subclass(*base)) == holds;
                let all = ExcKind::ALL.iter().filter(is).fold(0, |all, kind| all | tags::class(*kind));
                self.narrow(args[0], all);
            }
            Opcode::Op(name) => {
                let Some(def) = self.context.def(name) else { return };
                let Body::Core(op) = def.body else { return };
                match (op, holds) {
                    (CoreOp::BoolNot, _) => self.assume(args[0], !holds),
                    (CoreOp::BoolAnd, true) | (CoreOp::BoolOr, false) => {
                        self.assume(args[0], holds);
                        self.assume(args[1], holds);
                    }
                    // Equal ints and strings are interchangeable; floats are not (0.0 and -0.0).
                    (CoreOp::IntCmp(Cmp::Eq) | CoreOp::StrEq, true)
                    | (CoreOp::IntCmp(Cmp::Ne) | CoreOp::StrNe, false) => {
                        match (self.constant(args[0]).cloned(), self.constant(args[1]).cloned()) {
                            (Some(object), None) => self.set_constant(args[1], object),
                            (None, Some(object)) => self.set_constant(args[0], object),
                            _ => {}
                        }
                    }
                    (CoreOp::IntTruth, false) => self.set_constant(args[0], Object::int(0)),
                    (CoreOp::StrTruth, false) => self.set_constant(args[0], Object::str("")),
                    _ => {}
                }
            }
            Opcode::Const(_)
            | Opcode::Call(_)
            | Opcode::Wrap
            | Opcode::Unwrap
            | Opcode::Tuple
            | Opcode::Record(_)
            | Opcode::Field(_)
            | Opcode::Box
            | Opcode::Unbox
            | Opcode::List
            | Opcode::NewExc(_)
            | Opcode::Message(_)
            | Opcode::Poll => {}
        }
    }

    /// The place in the history of facts, to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Forgets what was learnt since a mark.
    pub(crate) fn back_to(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Constant(value, old) => self.constants[value.index()] = old,
                Undo::Tags(value, old) => self.tags[value.index()] = old,
            }
        }
    }
}
