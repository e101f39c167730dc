//! A chain as a function of the IR.

use super::{Arithmetic, Chain, Comparison, Condition, Scalar, Shared, Step, When};
use crate::function::{Settings, compiled_of};
use crate::sql;
use exuvia_ir::{BlockId, Builder, Edge, ExcKind, FuncId, IntWidth, Module, Object, Opcode, Terminator, Type, Value};
use std::collections::HashMap;

/// Instructions to which the loop may grow by copies of the functions that it calls.
const LARGE: usize = 4000;

type Result<T> = std::result::Result<T, String>;

/// The module of a chain, optimised: function 0 takes the inputs, and returns the tuple of
/// `outputs`, and whether each call that is made for some rows only was made, or, as an int, which
/// condition dropped the row, and in its low bits which of those calls were made. Also the width of ints
/// for which it was optimised.
pub(super) fn module(chain: &Chain, outputs: &[usize], settings: &Settings) -> Result<(Module, IntWidth)> {
    let inputs: Vec<_> = chain.slots.iter().enumerate().filter(|(_, slot)| !slot.computed).collect();
    let mut params = Vec::new();
    for (_, slot) in &inputs {
        let plain = sql::scalar(&slot.ty).ok_or("an input of an unknown type")?.ty(false);
        params.push(if slot.nullable { plain.optional() } else { plain });
    }
    let mut callees = Callees { module: Module::default(), known: HashMap::new() };
    // The place of the loop's own function.
    callees.module.functions.push(exuvia_ir::Function::new("loop", Type::Never));
    let mut build = Build {
        settings,
        b: Builder::new("loop", &params, Type::Never),
        values: vec![None; chain.slots.len()],
        drops: Vec::new(),
        flags: Vec::new(),
    };
    for (at, (slot, _)) in inputs.iter().enumerate() {
        build.values[*slot] = Some(build.b.param(at));
    }
    for step in &chain.steps {
        match step {
            Step::Call(function, args, slot, guard) => {
                let value = build.guarded(&mut callees, function, args, guard)?;
                build.values[*slot] = Some(value);
            }
            Step::Filter(condition) => build.filter(condition)?,
        }
    }
    build.end(outputs)?;
    let mut module = callees.module;
    module.functions[0] = build.b.function;
    exuvia_opt::verify(&module).map_err(|error| error.to_string())?;
    if !settings.optimize {
        let width = exuvia_opt::width_of(&module);
        return Ok((module, width));
    }
    let ints: Vec<_> = inputs.iter().map(|(_, slot)| sql::range(&slot.ty)).collect();
    Ok(exuvia_opt::optimized(&module, &ints, LARGE))
}

/// The functions that a chain calls, in one module.
struct Callees {
    module: Module,
    known: HashMap<(Shared, bool), FuncId>,
}

impl Callees {
    /// The function for arguments that can be NULL or not.
    fn get(&mut self, function: &Shared, nullable: bool, settings: &Settings) -> Result<FuncId> {
        if let Some(id) = self.known.get(&(function.clone(), nullable)) {
            return Ok(*id);
        }
        let cell = function.0.compiled(nullable, settings);
        let stages = compiled_of(&cell).and_then(|compiled| compiled.stages.as_ref().ok());
        let stages = stages.ok_or_else(|| format!("{} is not lifted", function.0.definition.name))?;
        let first = self.module.functions.len() as u32;
        // As it was lifted: what was fitted to one function may hide what several share.
        for callee in &stages.lifted.functions {
            let mut callee = callee.clone();
            for inst in callee.blocks.iter_mut().flat_map(|block| &mut block.insts) {
                if let Opcode::Call(id) = &mut inst.op {
                    id.0 += first;
                }
            }
            self.module.functions.push(callee);
        }
        self.known.insert((function.clone(), nullable), FuncId(first));
        Ok(FuncId(first))
    }
}

struct Build<'a> {
    settings: &'a Settings,
    b: Builder,
    /// The values of the slots, as far as there are.
    values: Vec<Option<Value>>,
    /// Where rows are dropped, for each condition, and how many calls that are made for some
    /// rows only stand before it.
    drops: Vec<(BlockId, usize)>,
    /// Whether each of those calls was made.
    flags: Vec<Value>,
}

impl Build<'_> {
    fn ty(&self, value: Value) -> &Type {
        self.b.function.ty(value)
    }

    fn is_optional(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Union(_))
    }

    fn constant(&mut self, object: Object, ty: &Type) -> Value {
        let value = self.b.constant(object);
        self.b.wrap(value, ty)
    }

    /// Goes on in a new block if `value` is there, and in `none` if it is NULL; gives the
    /// value that is there.
    fn present(&mut self, value: Value, none: BlockId) -> Value {
        let plain = match self.ty(value) {
            Type::Union(alternatives) => alternatives.iter().find(|ty| **ty != Type::None).cloned(),
            _ => None,
        };
        let Some(plain) = plain else { return value };
        let is_none = self.b.inst(Opcode::Is(Type::None), vec![value], Type::Bool, None);
        let go_on = self.b.function.new_block();
        let edge = |block| Edge { block, args: vec![] };
        self.b.end(Terminator::Branch(is_none, edge(none), edge(go_on)));
        self.b.block = go_on;
        self.b.inst(Opcode::Unwrap, vec![value], plain, None)
    }

    fn slot(&self, slot: usize) -> Result<Value> {
        Ok(self.values.get(slot).copied().flatten().ok_or("a slot that has no value yet")?)
    }

    /// The value of an expression; none of a NULL constant.
    fn scalar(&mut self, scalar: &Scalar) -> Result<Value> {
        Ok(match scalar {
            Scalar::Slot(slot) => self.slot(*slot)?,
            Scalar::Null(_) => self.b.constant(Object::None),
            Scalar::Int(value) => self.b.constant(Object::int(*value)),
            Scalar::Float(bits) => self.b.constant(Object::Float(f64::from_bits(*bits))),
            Scalar::Bool(value) => self.b.constant(Object::Bool(*value)),
            Scalar::Text(text) => self.b.constant(Object::str(text)),
            Scalar::Arithmetic(op, a, b) => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                let result = Type::Int.optional();
                let (none, done) = (self.b.function.new_block(), self.b.function.new_block());
                let joined = self.b.function.add_param(done, result.clone());
                let name = match op {
                    Arithmetic::Add => "int.add",
                    Arithmetic::Sub => "int.sub",
                    Arithmetic::Mul => "int.mul",
                };
                let is_null = *self.ty(a) == Type::None || *self.ty(b) == Type::None;
                if is_null {
                    self.b.jump(none, vec![]);
                } else {
                    let (a, b) = (self.present(a, none), self.present(b, none));
                    let value = self.b.inst(Opcode::Op(name), vec![a, b], Type::Int, None);
                    let value = self.fitting(value);
                    let value = self.b.wrap(value, &result);
                    self.b.jump(done, vec![value]);
                }
                self.b.block = none;
                let null = self.constant(Object::None, &result);
                self.b.jump(done, vec![null]);
                self.b.block = done;
                joined
            }
        })
    }

    /// A call for the rows that a guard lets pass; NULL for the others.
    fn guarded(
        &mut self,
        callees: &mut Callees,
        function: &Shared,
        args: &[Scalar],
        guard: &[(Condition, When)],
    ) -> Result<Value> {
        if guard.is_empty() {
            return self.call(callees, function, args);
        }
        let class = sql::scalar(&function.0.definition.returns).ok_or("a result of an unknown type")?;
        let result = class.ty(true);
        let (skipped, done) = (self.b.function.new_block(), self.b.function.new_block());
        let joined = self.b.function.add_param(done, result.clone());
        let flag = self.b.function.add_param(done, Type::Bool);
        for (condition, when) in guard {
            let passed = self.b.function.new_block();
            match when {
                When::True => self.branch(condition, true, passed, skipped)?,
                When::Not(value) => self.branch(condition, *value, skipped, passed)?,
            }
            self.b.block = passed;
        }
        for (made, block) in [(true, self.b.block), (false, skipped)] {
            self.b.block = block;
            let value = if made { self.call(callees, function, args)? } else { self.b.constant(Object::None) };
            let value = self.b.wrap(value, &result);
            let made = self.b.constant(Object::Bool(made));
            self.b.jump(done, vec![value, made]);
        }
        self.b.block = done;
        self.flags.push(flag);
        Ok(joined)
    }

    /// A call, and what the declared type makes of its result.
    fn call(&mut self, callees: &mut Callees, function: &Shared, args: &[Scalar]) -> Result<Value> {
        let definition = &function.0.definition;
        let mut values = args.iter().map(|arg| self.scalar(arg)).collect::<Result<Vec<_>>>()?;
        let may_be_null = |build: &Self, value: &Value| build.is_optional(*value) || *build.ty(*value) == Type::None;
        let nullable = values.iter().any(|value| may_be_null(self, value));
        let class = sql::scalar(&definition.returns).ok_or("a result of an unknown type")?;
        let callee = callees.get(function, nullable && !definition.strict, self.settings)?;
        let params = callees.module.functions[callee.index()].param_types();
        let returns = callees.module.functions[callee.index()].ret.clone();
        let gives_null = matches!(returns, Type::None | Type::Union(_))
            || function.0.becomes_null()
            || (definition.strict && nullable);
        let result = class.ty(gives_null);
        let (done, null) = (self.b.function.new_block(), self.b.function.new_block());
        let joined = self.b.function.add_param(done, result.clone());
        if definition.strict && values.iter().any(|value| *self.ty(*value) == Type::None) {
            self.b.jump(null, vec![]);
        } else {
            for (value, param) in values.iter_mut().zip(&params) {
                if definition.strict {
                    *value = self.present(*value, null);
                }
                *value = self.b.wrap(*value, param);
            }
            let unwind = function.0.becomes_null().then(|| Edge { block: self.caught(null), args: vec![] });
            let value = self.b.inst(Opcode::Call(callee), values, returns.clone(), unwind);
            match &returns {
                Type::Never => self.b.end(Terminator::Unreachable),
                Type::None => self.b.jump(null, vec![]),
                _ => {
                    let value = self.present(value, null);
                    let value = self.stored(value, definition)?;
                    let value = self.b.wrap(value, &result);
                    self.b.jump(done, vec![value]);
                }
            }
        }
        self.b.block = null;
        if gives_null {
            let none = self.constant(Object::None, &result);
            self.b.jump(done, vec![none]);
        } else {
            self.b.end(Terminator::Unreachable);
        }
        self.b.block = done;
        Ok(joined)
    }

    /// Where an exception becomes NULL, as far as `on_error 'null'` covers it.
    fn caught(&mut self, null: BlockId) -> BlockId {
        let before = self.b.block;
        let handler = self.b.function.new_block();
        let exc = self.b.function.add_param(handler, Type::Exc);
        self.b.block = handler;
        let is = |build: &mut Self, kind| build.b.inst(Opcode::ExcIs(vec![kind]), vec![exc], Type::Bool, None);
        let edge = |block| Edge { block, args: vec![] };
        let (again, covered) = (self.b.function.new_block(), self.b.function.new_block());
        // As `ExcKind::becomes_null` says it.
        let memory = is(self, ExcKind::MemoryError);
        self.b.end(Terminator::Branch(memory, edge(again), edge(covered)));
        self.b.block = covered;
        let exception = is(self, ExcKind::Exception);
        self.b.end(Terminator::Branch(exception, edge(null), edge(again)));
        self.b.block = again;
        self.b.end(Terminator::Reraise(exc, exuvia_ir::Span::default()));
        self.b.block = before;
        handler
    }

    /// An int for which the row exits if it has more than 64 bits, used or not.
    fn fitting(&mut self, value: Value) -> Value {
        self.b.inst(Opcode::Op("int.fits"), vec![value], Type::Int, None)
    }

    /// What a column of the declared type gives back for a result.
    fn stored(&mut self, value: Value, definition: &crate::Definition) -> Result<Value> {
        match self.ty(value) {
            Type::Int => {
                let mut range = sql::range(&definition.returns);
                if definition.returns == arrow::datatypes::DataType::UInt64 {
                    range = 0..=i64::MAX;
                }
                for (bound, beyond, op) in [(*range.start(), i64::MIN, "int.lt"), (*range.end(), i64::MAX, "int.gt")] {
                    if bound == beyond {
                        continue;
                    }
                    let bound = self.b.constant(Object::int(bound));
                    let outside = self.b.inst(Opcode::Op(op), vec![value, bound], Type::Bool, None);
                    let (leave, go_on) = self.b.branch(outside);
                    self.b.block = leave;
                    self.b
                        .end(Terminator::Bailout("a result outside of the declared type", exuvia_ir::Span::default()));
                    self.b.block = go_on;
                }
                // Also where nobody looks at it: the steps would report it.
                Ok(self.fitting(value))
            }
            Type::Float => {
                // Every NaN is the one that columns hold.
                let done = self.b.function.new_block();
                let joined = self.b.function.add_param(done, Type::Float);
                let is_nan = self.b.inst(Opcode::Op("float.ne"), vec![value, value], Type::Bool, None);
                let (nan, number) = self.b.branch(is_nan);
                self.b.block = nan;
                let canonical = self.b.constant(Object::Float(f64::NAN));
                self.b.jump(done, vec![canonical]);
                self.b.block = number;
                self.b.jump(done, vec![value]);
                self.b.block = done;
                Ok(joined)
            }
            Type::Bool | Type::Str => Ok(value),
            other => Err(format!("a result of {other}")),
        }
    }

    /// Goes on only if the condition is true.
    fn filter(&mut self, condition: &Condition) -> Result<()> {
        let (kept, dropped) = (self.b.function.new_block(), self.b.function.new_block());
        self.branch(condition, true, kept, dropped)?;
        self.drops.push((dropped, self.flags.len()));
        self.b.block = kept;
        Ok(())
    }

    /// Goes to `yes` if the condition has the value `wanted`, else, NULL included, to `no`.
    fn branch(&mut self, condition: &Condition, wanted: bool, yes: BlockId, no: BlockId) -> Result<()> {
        let edge = |block| Edge { block, args: vec![] };
        let (if_true, if_false) = if wanted { (yes, no) } else { (no, yes) };
        match condition {
            Condition::Value(value) => {
                let value = self.scalar(value)?;
                if *self.ty(value) == Type::None {
                    self.b.jump(no, vec![]);
                    return Ok(());
                }
                let value = self.present(value, no);
                self.b.end(Terminator::Branch(value, edge(if_true), edge(if_false)));
            }
            Condition::IsNull(value) => {
                let value = self.scalar(value)?;
                if *self.ty(value) == Type::None {
                    self.b.jump(if_true, vec![]);
                } else if self.is_optional(value) {
                    let is_none = self.b.inst(Opcode::Is(Type::None), vec![value], Type::Bool, None);
                    self.b.end(Terminator::Branch(is_none, edge(if_true), edge(if_false)));
                } else {
                    self.b.jump(if_false, vec![]);
                }
            }
            Condition::Compare(comparison, a, b) => {
                let nan_is_left = !matches!(a, Scalar::Float(_));
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                if *self.ty(a) == Type::None || *self.ty(b) == Type::None {
                    self.b.jump(no, vec![]);
                    return Ok(());
                }
                let (a, b) = (self.present(a, no), self.present(b, no));
                let (name, opposite) = self.comparison(*comparison, a, b, nan_is_left)?;
                let holds = self.b.inst(Opcode::Op(name), vec![a, b], Type::Bool, None);
                let (if_true, if_false) = if opposite { (if_false, if_true) } else { (if_true, if_false) };
                self.b.end(Terminator::Branch(holds, edge(if_true), edge(if_false)));
            }
            Condition::Not(inner) => self.branch(inner, !wanted, yes, no)?,
            Condition::And(a, b) | Condition::Or(a, b) => {
                let between = self.b.function.new_block();
                // AND is true if both are, and OR false if both are.
                if wanted == matches!(condition, Condition::And(..)) {
                    self.branch(a, wanted, between, no)?;
                } else {
                    self.branch(a, wanted, yes, between)?;
                }
                self.b.block = between;
                self.branch(b, wanted, yes, no)?;
            }
        }
        Ok(())
    }

    /// The operation of a comparison, and whether its opposite is wanted. SQL's NaN is the
    /// largest float, so that it is greater where Python's is nothing.
    fn comparison(
        &self,
        comparison: Comparison,
        a: Value,
        b: Value,
        nan_is_left: bool,
    ) -> Result<(&'static str, bool)> {
        let ty = self.ty(a);
        if ty != self.ty(b) {
            return Err(format!("a comparison of {ty} and {}", self.ty(b)));
        }
        if *ty == Type::Float {
            // One side is a constant, so at most the other is NaN.
            return Ok(match (comparison, nan_is_left) {
                (Comparison::Eq, _) => ("float.eq", false),
                (Comparison::NotEq, _) => ("float.ne", false),
                (Comparison::Lt, true) => ("float.lt", false),
                (Comparison::LtEq, true) => ("float.le", false),
                (Comparison::Gt, true) => ("float.le", true),
                (Comparison::GtEq, true) => ("float.lt", true),
                (Comparison::Lt, false) => ("float.ge", true),
                (Comparison::LtEq, false) => ("float.gt", true),
                (Comparison::Gt, false) => ("float.gt", false),
                (Comparison::GtEq, false) => ("float.ge", false),
            });
        }
        let names = match ty {
            Type::Int => ["int.eq", "int.ne", "int.lt", "int.le", "int.gt", "int.ge"],
            Type::Str => ["str.eq", "str.ne", "str.lt", "str.le", "str.gt", "str.ge"],
            other => return Err(format!("a comparison of {other}")),
        };
        Ok((names[comparison as usize], false))
    }

    /// Returns the results, or which condition dropped the row.
    fn end(&mut self, outputs: &[usize]) -> Result<()> {
        let mut values = outputs.iter().map(|slot| self.slot(*slot)).collect::<Result<Vec<Value>>>()?;
        values.extend(&self.flags);
        let tuple = Type::Tuple(values.iter().map(|value| self.ty(*value).clone()).collect());
        let ret = if self.drops.is_empty() { tuple.clone() } else { Type::union([Type::Int, tuple.clone()]) };
        self.b.function.ret = ret.clone();
        let value = self.b.inst(Opcode::Tuple, values, tuple, None);
        let value = self.b.wrap(value, &ret);
        self.b.end(Terminator::Return(value));
        let flags = std::mem::take(&mut self.flags);
        for (at, (block, made)) in std::mem::take(&mut self.drops).into_iter().enumerate() {
            self.b.block = block;
            let mut reason = self.b.constant(Object::int((at << flags.len()) as i64));
            for (number, flag) in flags[..made].iter().enumerate() {
                let int = |build: &mut Self, op, args| build.b.inst(Opcode::Op(op), args, Type::Int, None);
                let bit = self.b.constant(Object::int(1 << number));
                let flag = int(self, "bool.to_int", vec![*flag]);
                let bit = int(self, "int.mul", vec![flag, bit]);
                reason = int(self, "int.add", vec![reason, bit]);
            }
            let reason = self.b.wrap(reason, &ret);
            self.b.end(Terminator::Return(reason));
        }
        Ok(())
    }
}
