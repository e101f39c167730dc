//! What every pass may ask: the definitions of operations, and the folder's context.

use crate::interval::Interval;
use crate::summary::Summary;
use exuvia_ir::{FuncId, Function, Inst, IntWidth, Object, Opcode, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Body, Effect, OpDef};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Duration;

/// Shared by the passes over one module.
pub(crate) struct Context {
    names: HashMap<usize, Option<&'static OpDef>, BuildHasherDefault<Mix>>,
    /// Where folding runs operations.
    pub(crate) cx: Cx,
    /// How long folding has taken by operations of which each took unusually long.
    pub(crate) folding: Duration,
    /// Which ints the parameters of the function being optimised can be; those that are
    /// missing can be any.
    pub(crate) params: Vec<Interval>,
    /// What calls of the module's functions do; those that are missing may do anything.
    pub(crate) summaries: Vec<Summary>,
    /// How many bits native code will have for ints.
    pub(crate) width: IntWidth,
}

impl Context {
    pub(crate) fn new() -> Context {
        Context {
            names: HashMap::default(),
            cx: Cx::for_folding(),
            folding: Duration::ZERO,
            params: Vec::new(),
            summaries: Vec::new(),
            width: IntWidth::Word,
        }
    }

    /// The definition of an operation. Names come from the definitions themselves, so
    /// their addresses stand for them: the passes ask for every instruction.
    pub(crate) fn def(&mut self, name: &'static str) -> Option<&'static OpDef> {
        *self.names.entry(name.as_ptr() as usize).or_insert_with(|| exuvia_ops::by_name(name))
    }

    /// The definition of an instruction's operation; `None` for other opcodes.
    pub(crate) fn def_of(&mut self, inst: &Inst) -> Option<&'static OpDef> {
        match inst.op {
            Opcode::Op(name) => self.def(name),
            _ => None,
        }
    }

    /// The core instruction that an instruction is.
    pub(crate) fn core_of(&mut self, inst: &Inst) -> Option<CoreOp> {
        match self.def_of(inst)?.body {
            Body::Core(op) => Some(op),
            Body::Kernel { .. } => None,
        }
    }

    /// Whether an instruction's operation makes a new object.
    pub(crate) fn is_allocation(&mut self, inst: &Inst) -> bool {
        self.def_of(inst).is_some_and(|def| def.effect == Effect::Alloc)
    }

    /// Whether an instruction may leave by its unwind edge.
    pub(crate) fn may_raise(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Opcode::Op(name) => self.def(name).is_none_or(|def| !def.raises.is_empty()),
            Opcode::Call(callee) => self.summary(callee).raises,
            _ => false,
        }
    }

    /// What a call of a function does.
    pub(crate) fn summary(&self, callee: FuncId) -> Summary {
        self.summaries.get(callee.index()).copied().unwrap_or(Summary::UNKNOWN)
    }

    /// Whether an instruction changes an object.
    pub(crate) fn may_write(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Opcode::Op(name) => self.def(name).is_none_or(|def| def.effect.writes()),
            Opcode::Call(callee) => self.summary(callee).writes,
            _ => false,
        }
    }

    /// Whether an instruction changes an object, but for which elements stand in its places.
    pub(crate) fn may_resize(&mut self, inst: &Inst) -> bool {
        self.may_write(inst) && !self.def_of(inst).is_some_and(|def| def.effect == Effect::Store)
    }

    /// Whether an instruction whose result nobody uses may go.
    ///
    /// One that may raise must stay, and so must one that may bail out: a bailout can
    /// stand for an exception that only a more general rung can raise. The exceptions
    /// are core operations that bail out only at a limit of memory that is ours, not
    /// Python's.
    pub(crate) fn is_removable(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Opcode::Op(name) => self.def(name).is_some_and(|def| {
                let harmless = match def.body {
                    Body::Core(op) if op.copies_lists() => true,
                    Body::Core(_) | Body::Kernel { .. } => !def.can_fail(),
                };
                harmless && !def.effect.writes()
            }),
            Opcode::Call(callee) => self.summary(callee).is_pure(),
            _ => inst.op.only_makes(),
        }
    }
}

/// The values that are constant ints of 64 bits.
pub(crate) fn constant_ints(function: &Function) -> HashMap<Value, i64> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let of = |inst: &Inst| match &inst.op {
        Opcode::Const(Object::Int(int)) => inst.result.zip(int.to_i64()),
        _ => None,
    };
    insts.filter_map(of).collect()
}

/// Whether two constants are interchangeable. Lists, dicts and sets have identity.
pub(crate) fn same_constant(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::List(a), Object::List(b)) => std::sync::Arc::ptr_eq(a, b),
        (Object::Dict(a), Object::Dict(b)) => std::sync::Arc::ptr_eq(a, b),
        (Object::Set(a), Object::Set(b)) => std::sync::Arc::ptr_eq(a, b),
        (Object::Exc(a), Object::Exc(b)) => std::sync::Arc::ptr_eq(a, b),
        (Object::Tuple(a), Object::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_constant(a, b))
        }
        _ => a == b,
    }
}

/// Values that stand for others.
pub(crate) struct Renaming(Vec<Value>);

impl Renaming {
    pub(crate) fn new(function: &Function) -> Renaming {
        Renaming((0..function.values.len() as u32).map(Value).collect())
    }

    /// Makes `of` stand for `to` from now on.
    pub(crate) fn set(&mut self, of: Value, to: Value) {
        let to = self.get(to);
        self.0[of.index()] = to;
    }

    /// What a value stands for.
    pub(crate) fn get(&mut self, value: Value) -> Value {
        let mut at = value;
        loop {
            // Values made after the renaming stand for themselves.
            let Some(&next) = self.0.get(at.index()) else { return at };
            if next == at {
                return at;
            }
            let after = self.0.get(next.index()).copied().unwrap_or(next);
            self.0[at.index()] = after;
            at = after;
        }
    }

    /// Renames every use in the function.
    pub(crate) fn apply(&mut self, function: &mut Function) {
        for block in &mut function.blocks {
            for inst in &mut block.insts {
                self.apply_inst(inst);
            }
            block.term.for_each_value_mut(|value| *value = self.get(*value));
        }
    }

    /// Renames the uses of an instruction.
    pub(crate) fn apply_inst(&mut self, inst: &mut Inst) {
        let args = inst.args.iter_mut();
        for value in args.chain(inst.unwind.iter_mut().flat_map(|edge| &mut edge.args)) {
            *value = self.get(*value);
        }
    }
}

/// A multiplicative hasher for keys that are addresses or hashes already.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Mix {
    pub(crate) fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
        self.add(bytes.len() as u64);
    }
    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }
    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }
}
