//! The verifier: checks the invariants of a module.
//!
//! They are those that [`crate::Function`]'s module states, and the typing of every
//! instruction. What an operation takes and gives is asked of the caller, since only
//! `exuvia-ops` knows. It does not check that an [`Opcode::Unwrap`] is dominated by its
//! check: that is a fact about values, not about form.

use crate::{BlockId, Class, Edge, Flow, FuncId, Function, Inst, Module, Object, Opcode, Terminator, Type, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{function}: {message}")]
pub struct VerifyError {
    /// The function.
    pub function: String,
    /// What is wrong.
    pub message: String,
}

/// The result type of an operation for operands of those types, or why it does not take
/// them.
pub type OpTyping<'a> = &'a dyn Fn(&str, &[Type]) -> Result<Type, String>;

/// Checks a module.
///
/// # Errors
/// The first broken invariant.
pub fn verify(module: &Module, op: OpTyping<'_>) -> Result<(), VerifyError> {
    let boxed = RefCell::default();
    (0..module.functions.len() as u32).try_for_each(|id| check(module, FuncId(id), op, &boxed))
}

/// Checks one function of a module whose other functions are known to be well formed.
///
/// # Errors
/// The first broken invariant.
pub fn verify_function(module: &Module, id: FuncId, op: OpTyping<'_>) -> Result<(), VerifyError> {
    check(module, id, op, &RefCell::default())
}

fn check(
    module: &Module,
    id: FuncId,
    op: OpTyping<'_>,
    boxed: &RefCell<BTreeMap<Class, Arc<[Type]>>>,
) -> Result<(), VerifyError> {
    let function = &module.functions[id.index()];
    let checker = Checker { module, function, op, boxed };
    checker.function().map_err(|message| VerifyError { function: format!("{id} \"{}\"", function.name), message })
}

/// Whether an object may stand as a constant of that type: it has the type, or is a
/// container whose elements' types are wider than its elements need.
#[must_use]
pub fn is_constant_of(object: &Object, ty: &Type) -> bool {
    !matches!(ty, Type::Union(_)) && fits(object, ty)
}

fn fits(object: &Object, ty: &Type) -> bool {
    match (object, ty) {
        (_, Type::Union(types)) => types.iter().any(|ty| fits(object, ty)),
        (Object::None, Type::None)
        | (Object::Bool(_), Type::Bool)
        | (Object::Int(_), Type::Int)
        | (Object::Float(_), Type::Float)
        | (Object::Str(_), Type::Str)
        | (Object::Exc(_), Type::Exc)
        | (Object::Unbound, Type::Unbound) => true,
        (Object::Tuple(items), Type::Tuple(types)) => {
            items.len() == types.len() && items.iter().zip(types.iter()).all(|(item, ty)| fits(item, ty))
        }
        (Object::Pattern(one), Type::Pattern(pattern)) => one == pattern,
        (Object::Record(record), Type::Record(class, types)) => {
            record.class == *class
                && record.fields.len() == types.len()
                && record.fields.iter().zip(types.iter()).all(|(field, ty)| fits(field, ty))
        }
        (Object::List(list), Type::List(element)) => list.read(|items| items.iter().all(|item| fits(item, element))),
        (Object::Dict(dict), Type::Dict(key, value)) => {
            dict.entries().iter().all(|entry| fits(&entry.0, key) && fits(&entry.1, value))
        }
        (Object::Set(set), Type::Set(element)) => set.members.entries().iter().all(|entry| fits(&entry.0, element)),
        _ => false,
    }
}

struct Checker<'a> {
    module: &'a Module,
    function: &'a Function,
    op: OpTyping<'a>,
    /// What the records of boxed objects hold, in all functions.
    boxed: &'a RefCell<BTreeMap<Class, Arc<[Type]>>>,
}

/// Where a value is defined: a segment, and the place in its block (0 for parameters,
/// one more than its index for an instruction).
type Definition = Option<(usize, usize)>;

impl Checker<'_> {
    fn function(&self) -> Result<(), String> {
        let blocks = &self.function.blocks;
        if blocks.is_empty() {
            return Err("no entry block".to_string());
        }
        self.keeps()?;
        for (at, block) in blocks.iter().enumerate() {
            let at = BlockId(at as u32);
            for (index, inst) in block.insts.iter().enumerate() {
                let place = |message: String| format!("{at}, instruction {index}: {message}");
                self.values(&inst.args).map_err(place)?;
                self.values(inst.result.as_slice()).map_err(place)?;
                self.inst(inst).map_err(place)?;
                if let Some(edge) = &inst.unwind {
                    self.unwind(inst, edge).map_err(place)?;
                }
            }
            self.term(&block.term).map_err(|message| format!("{at}, end: {message}"))?;
        }
        self.dominance()
    }

    /// What a function keeps has no identity, and neither has what it is kept by.
    fn keeps(&self) -> Result<(), String> {
        let Some(keys) = &self.function.keeps else { return Ok(()) };
        let params = self.function.param_types();
        if keys.len() != params.len() {
            return Err(format!("results are kept by {} of {} parameters", keys.len(), params.len()));
        }
        let kept = params.iter().zip(keys).filter(|(_, is_key)| **is_key).map(|(ty, _)| ty);
        match kept.chain([&self.function.ret]).find(|ty| !ty.is_kept()) {
            Some(ty) => Err(format!("a result is kept that is, or is kept by, {ty}")),
            None => Ok(()),
        }
    }

    /// All boxes of a class hold the same types.
    fn boxes(&self, class: Class, types: &Arc<[Type]>) -> Result<(), String> {
        let mut boxed = self.boxed.borrow_mut();
        let known = boxed.entry(class).or_insert_with(|| Arc::clone(types));
        if known == types { Ok(()) } else { Err(format!("boxes of {class} hold {known:?} and {types:?}")) }
    }

    fn values(&self, values: &[Value]) -> Result<(), String> {
        match values.iter().find(|value| value.index() >= self.function.values.len()) {
            Some(value) => Err(format!("{value} is not in the table of values")),
            None => Ok(()),
        }
    }

    fn ty(&self, value: Value) -> &Type {
        self.function.ty(value)
    }

    fn edge(&self, edge: &Edge, exc: bool) -> Result<(), String> {
        self.values(&edge.args)?;
        let Some(block) = self.function.blocks.get(edge.block.index()) else {
            return Err(format!("{} does not exist", edge.block));
        };
        if edge.block == self.function.entry() {
            return Err("a jump to the entry".to_string());
        }
        let mut params = block.params.as_slice();
        if exc {
            let Some((first, rest)) = params.split_first() else {
                return Err(format!("the handler {} has no parameter for the exception", edge.block));
            };
            if *self.ty(*first) != Type::Exc {
                return Err(format!("the handler {} takes a {} first", edge.block, self.ty(*first)));
            }
            params = rest;
        }
        if params.len() != edge.args.len() {
            return Err(format!("{} arguments for the {} of {}", edge.args.len(), params.len(), edge.block));
        }
        for (param, arg) in params.iter().zip(&edge.args) {
            if self.ty(*param) != self.ty(*arg) {
                let (param_ty, arg_ty) = (self.ty(*param), self.ty(*arg));
                return Err(format!("{arg}: {arg_ty} for {param}: {param_ty} of {}", edge.block));
            }
        }
        Ok(())
    }

    fn unwind(&self, inst: &Inst, edge: &Edge) -> Result<(), String> {
        if !matches!(inst.op, Opcode::Op(_) | Opcode::Call(_)) {
            return Err("only operations and calls unwind".to_string());
        }
        self.edge(edge, true)
    }

    fn term(&self, term: &Terminator) -> Result<(), String> {
        let mut used = Vec::new();
        term.for_each_value(|value| used.push(value));
        self.values(&used)?;
        match term {
            Terminator::Open => Err("the block has no end".to_string()),
            Terminator::Jump(edge) => self.edge(edge, false),
            Terminator::Branch(cond, yes, no) => {
                if *self.ty(*cond) != Type::Bool {
                    return Err(format!("a branch on {cond}: {}", self.ty(*cond)));
                }
                self.edge(yes, false)?;
                self.edge(no, false)
            }
            Terminator::Return(value) if *self.ty(*value) != self.function.ret => {
                Err(format!("returns {value}: {}, not {}", self.ty(*value), self.function.ret))
            }
            Terminator::Reraise(value, _) if *self.ty(*value) != Type::Exc => {
                Err(format!("raises {value}: {}", self.ty(*value)))
            }
            Terminator::Return(_)
            | Terminator::Reraise(..)
            | Terminator::Raise(..)
            | Terminator::Bailout(..)
            | Terminator::Unreachable => Ok(()),
        }
    }

    fn inst(&self, inst: &Inst) -> Result<(), String> {
        let types = || inst.args.iter().map(|arg| self.ty(*arg).clone()).collect::<Vec<_>>();
        let result = inst.result.map(|value| self.ty(value));
        let one = || match inst.args.as_slice() {
            [arg] => Ok(self.ty(*arg)),
            _ => Err(format!("{} operands instead of one", inst.args.len())),
        };
        let gives = |expected: Type| match result {
            Some(ty) if *ty == expected => Ok(()),
            Some(ty) => Err(format!("the result is {expected}, not {ty}")),
            None => Err("no result".to_string()),
        };
        let gives_or_ignored = |expected: Type| if result.is_none() { Ok(()) } else { gives(expected) };
        match &inst.op {
            Opcode::Const(object) => match result {
                _ if !inst.args.is_empty() => Err("a constant has no operands".to_string()),
                Some(ty) if is_constant_of(object, ty) => Ok(()),
                Some(ty) => Err(format!("a constant of type {}, not {ty}", object.ty())),
                None => Err("no result".to_string()),
            },
            Opcode::Op(name) => {
                let expected = (self.op)(name, &types()).map_err(|message| format!("{name}: {message}"))?;
                gives_or_ignored(expected)
            }
            Opcode::Call(callee) => {
                let Some(callee) = self.module.functions.get(callee.index()) else {
                    return Err(format!("{callee} does not exist"));
                };
                if types() != callee.param_types() {
                    return Err(format!("\"{}\" takes other types", callee.name));
                }
                gives_or_ignored(callee.ret.clone())
            }
            Opcode::Wrap => match (one()?, result) {
                (from, Some(to @ Type::Union(_))) if from != to && from.is_within(to) => Ok(()),
                (from, Some(to)) => Err(format!("wraps {from} as {to}")),
                (_, None) => Err("no result".to_string()),
            },
            Opcode::Unwrap => match (one()?, result) {
                (from @ Type::Union(_), Some(to)) if from != to && to.is_within(from) => Ok(()),
                (from, Some(to)) => Err(format!("unwraps {from} as {to}")),
                (_, None) => Err("no result".to_string()),
            },
            Opcode::Is(wanted) => match one()? {
                from @ Type::Union(types) if types.contains(wanted) || (wanted != from && wanted.is_within(from)) => {
                    gives(Type::Bool)
                }
                from => Err(format!("asks whether {from} is {wanted}")),
            },
            Opcode::Tuple => gives(Type::Tuple(types().into())),
            Opcode::Record(class) => gives(Type::Record(*class, types().into())),
            Opcode::Field(index) => match one()? {
                Type::Tuple(types) | Type::Record(_, types) if (*index as usize) < types.len() => {
                    gives(types[*index as usize].clone())
                }
                from => Err(format!("field {index} of {from}")),
            },
            Opcode::Box => match one()? {
                Type::Record(class, types) if class.is_boxed() => {
                    self.boxes(*class, types)?;
                    gives(Type::Boxed(*class))
                }
                from => Err(format!("boxes {from}")),
            },
            Opcode::Unbox => match (one()?, result) {
                (Type::Boxed(class), Some(Type::Record(other, types))) if class == other => self.boxes(*class, types),
                (from, Some(to)) => Err(format!("unboxes {from} as {to}")),
                (_, None) => Err("no result".to_string()),
            },
            Opcode::List => match result {
                Some(Type::List(element)) if types().iter().all(|ty| *ty == **element) => Ok(()),
                Some(ty) => Err(format!("a list of {:?} is not {ty}", types())),
                None => Err("no result".to_string()),
            },
            Opcode::NewExc(_) => gives(Type::Exc),
            Opcode::ExcIs(_) => match one()? {
                Type::Exc => gives(Type::Bool),
                from => Err(format!("{from} is not an exception")),
            },
            Opcode::Message(name) => {
                (self.op)(name, &types()).map_err(|message| format!("{name}: {message}"))?;
                gives(Type::Str)
            }
            Opcode::Poll => {
                if inst.args.is_empty() && result.is_none() {
                    Ok(())
                } else {
                    Err("poll has neither operands nor a result".to_string())
                }
            }
        }
    }

    /// Every value is defined once, and before its uses on every way there.
    fn dominance(&self) -> Result<(), String> {
        let flow = Flow::new(self.function);
        let mut definitions: Vec<Definition> = vec![None; self.function.values.len()];
        let mut define = |value: Value, segment: usize, place: usize| {
            let slot = &mut definitions[value.index()];
            if slot.is_some() {
                return Err(format!("{value} is defined twice"));
            }
            *slot = Some((segment, place));
            Ok(())
        };
        for (at, block) in self.function.blocks.iter().enumerate() {
            let mut segment = flow.first(BlockId(at as u32));
            self.values(&block.params)?;
            for param in &block.params {
                define(*param, segment, 0)?;
            }
            for (index, inst) in block.insts.iter().enumerate() {
                // The result of an instruction that unwinds exists only where it did not.
                segment += usize::from(inst.unwind.is_some());
                if let Some(result) = inst.result {
                    define(result, segment, index + 1)?;
                }
            }
        }
        for segment in 0..flow.len() {
            let reachable = flow.position(segment).is_some();
            let part = flow.segment(segment);
            let block = self.function.block(part.block);
            let mut broken = None;
            let mut check = |value: Value, place: usize| {
                let fine = match definitions[value.index()] {
                    None => false,
                    Some(_) if !reachable => true,
                    Some((home, defined)) if home == segment => defined <= place,
                    Some((home, _)) => flow.position(home).is_some() && flow.dominates(home, segment),
                };
                if !fine && broken.is_none() {
                    broken = Some(value);
                }
            };
            for index in part.insts.clone() {
                let inst = &block.insts[index];
                inst.args.iter().for_each(|arg| check(*arg, index));
                inst.unwind.iter().flat_map(|edge| &edge.args).for_each(|arg| check(*arg, index));
            }
            if part.last {
                block.term.for_each_value(|value| check(value, block.insts.len()));
            }
            if let Some(value) = broken {
                return Err(format!("{}: {value} is used where it is not defined", part.block));
            }
        }
        Ok(())
    }
}
