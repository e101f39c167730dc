//! Operations with an int beyond 64 bits whose result has 64 or is no int: `x / 10**20`, `f'{h:016x}'`.
//! Arithmetic with constants of 128 bits is that of wide ints.

use super::{Result, Translator};
use crate::{CompileError, helpers};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Machine, types};
use exuvia_ir::{ExcKind, Inst, Int, Object, Type};
use exuvia_ops::core::{CoreOp, float_equal, float_near};
use exuvia_ops::def::{Body, Kind, OpDef, status};

/// An operation whose operands native code passes as words, but for those that are known.
#[derive(Debug)]
pub(crate) struct Boxed {
    pub def: &'static OpDef,
    pub args: Vec<BoxedArg>,
}

/// An operand of a [`Boxed`].
#[derive(Debug)]
pub(crate) enum BoxedArg {
    Known(Object),
    Int,
    /// Two words, the lower first.
    Wide,
    Float,
    Bool,
    /// Two words.
    Str,
}

/// The words that a [`Boxed`] takes.
pub(crate) const BOXED_WORDS: usize = 4;

impl Translator<'_, '_, '_> {
    /// The operand if it is a constant int that no register holds.
    pub(super) fn known_big(&self, inst: &Inst, at: usize) -> Option<&Int> {
        match self.known(inst, at) {
            Some(Object::Int(big @ Int::Big(_))) => Some(big),
            _ => None,
        }
    }

    /// The float that such an operand is where a float is asked for.
    pub(super) fn known_big_float(&self, inst: &Inst, at: usize) -> Option<f64> {
        float_near(self.known_big(inst, at)?)
    }

    /// The result of an operation of which an operand is such an int, or nothing where that
    /// makes no difference.
    pub(super) fn big_op(&mut self, def: &'static OpDef, inst: &Inst) -> Result<Option<Vec<Machine>>> {
        if let Body::Core(CoreOp::IntCmp(_) | CoreOp::DictFind | CoreOp::Reject) = def.body {
            return Ok(None);
        }
        let matters = |at: &usize| match def.params.get(*at).map(|param| param.kind) {
            Some(Kind::Index) => false,
            Some(Kind::Number) => self.known_big(inst, *at).is_some() && self.known_big_float(inst, *at).is_none(),
            _ => self.known_big(inst, *at).is_some(),
        };
        let Some(side) = (0..inst.args.len()).find(matters) else { return Ok(None) };
        if let (Body::Core(CoreOp::IntTrueDiv), [_, _]) = (&def.body, &inst.args[..])
            && let Some(big) = self.known_big(inst, side).cloned()
            && let Some(result) = self.divide_by_big(def, &big, side, inst)?
        {
            return Ok(Some(vec![result]));
        }
        self.boxed(def, inst)
    }

    /// The quotient of an int and one that a float holds exactly: the machine's, if that is
    /// so of the other, too.
    fn divide_by_big(&mut self, def: &'static OpDef, big: &Int, side: usize, inst: &Inst) -> Result<Option<Machine>> {
        let Some(exact) = float_equal(big).filter(|_| inst.result.is_some()) else { return Ok(None) };
        let a = self.int(inst, 1 - side)?;
        if side == 0 {
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, a, 0);
            self.raise_if(zero, ExcKind::ZeroDivisionError, inst)?;
        }
        let quotient = self.either(
            &Type::Float,
            |this, slow| {
                this.require_exact(a, slow);
                let a = this.b.ins().fcvt_from_sint(types::F64, a);
                let big = this.b.ins().f64const(exact);
                Ok(vec![if side == 0 { this.b.ins().fdiv(big, a) } else { this.b.ins().fdiv(a, big) }])
            },
            |this| {
                let slots = this.boxed(def, inst)?;
                slots.ok_or_else(|| CompileError::malformed("a quotient of no ints"))
            },
        )?;
        Ok(Some(quotient[0]))
    }

    /// Whether an operation can be called with boxed operands: it takes few numbers besides constants,
    /// and gives one, or a text.
    pub(super) fn can_be_boxed(&self, inst: &Inst, result: &Type) -> bool {
        let is_number = |ty: &Type| matches!(ty, Type::Int | Type::Float | Type::Bool);
        (0..inst.args.len()).all(|at| self.known(inst, at).is_some() || is_number(self.function.ty(inst.args[at])))
            && (is_number(result) || *result == Type::Str)
            && self.boxed_words(inst).is_some()
    }

    /// The words of the operands that are not known, where they are few.
    fn boxed_words(&self, inst: &Inst) -> Option<usize> {
        let mut count = 0;
        for (at, value) in inst.args.iter().enumerate().filter(|(at, _)| self.known(inst, *at).is_none()) {
            count += match self.function.ty(*value) {
                Type::Int if self.widths.is_wide(inst.args[at]) => 2,
                Type::Int | Type::Float | Type::Bool => 1,
                Type::Str => 2,
                _ => return None,
            };
        }
        (count <= BOXED_WORDS).then_some(count)
    }

    /// What an operation says that raised for these operands; where they cannot be boxed the row leaves.
    pub(super) fn message(&mut self, name: &'static str, inst: &Inst) -> Result<Vec<Machine>> {
        let def =
            exuvia_ops::by_name(name).ok_or_else(|| CompileError::unsupported(format!("the operation {name}")))?;
        let passed = match self.boxed_words(inst) {
            Some(_) => self.boxed_args(def, inst)?,
            None => None,
        };
        let Some(passed) = passed else {
            self.leave(status::BAILOUT);
            return Ok(self.zeros(&Type::Str));
        };
        let address = helpers::boxed_message as *const u8;
        let made = self.rarely(|this| this.call_helper("message", address, &[types::I64, types::I64], &passed))?;
        let failed = self.b.ins().icmp_imm_s(IntCC::Equal, made[0], 0);
        self.fail_if(failed, made[1], inst)?;
        Ok(made)
    }

    /// The result from the operation's code for boxed operands, where it can be called so.
    pub(super) fn boxed(&mut self, def: &'static OpDef, inst: &Inst) -> Result<Option<Vec<Machine>>> {
        // Without a result nobody asks but whether it raises.
        let result = inst.result.map_or(&Type::Int, |result| self.function.ty(result)).clone();
        if !self.can_be_boxed(inst, &result) {
            return Ok(None);
        }
        let Some(passed) = self.boxed_args(def, inst)? else { return Ok(None) };
        if result == Type::Str {
            let made =
                self.call_helper("boxed", helpers::boxed_text as *const u8, &[types::I64, types::I64], &passed)?;
            let failed = self.b.ins().icmp_imm_s(IntCC::Equal, made[0], 0);
            self.fail_if(failed, made[1], inst)?;
            return Ok(Some(made));
        }
        let made = self.call_helper("boxed", helpers::boxed as *const u8, &[types::I64, types::I64], &passed)?;
        self.fail_if(made[0], made[0], inst)?;
        Ok(Some(vec![match result {
            Type::Float => self.b.ins().bitcast(types::F64, MemFlagsData::new(), made[1]),
            Type::Bool => self.b.ins().ireduce(types::I8, made[1]),
            _ => made[1],
        }]))
    }

    /// The context, the call and the words of the operands that are not known, as helpers take them.
    fn boxed_args(&mut self, def: &'static OpDef, inst: &Inst) -> Result<Option<Vec<Machine>>> {
        let mut args = Vec::new();
        let mut words = Vec::new();
        for (at, value) in inst.args.iter().enumerate() {
            if let Some(known) = self.known(inst, at) {
                args.push(BoxedArg::Known(known.clone()));
                continue;
            }
            args.push(match self.function.ty(*value) {
                Type::Float => BoxedArg::Float,
                Type::Bool => BoxedArg::Bool,
                Type::Str => BoxedArg::Str,
                _ if self.widths.is_wide(*value) => BoxedArg::Wide,
                _ => BoxedArg::Int,
            });
            words.push(*value);
        }
        for param in def.params.iter().skip(inst.args.len()) {
            let Some(default) = param.default else { return Ok(None) };
            args.push(BoxedArg::Known(default.object()));
        }
        let call = self.unit.constants.boxed(Boxed { def, args });
        let call = self.word(call as i64);
        let mut passed = vec![self.env.cx, call];
        for value in words {
            if self.widths.is_wide(value) {
                let (low, high) = self.words(value)?;
                passed.extend([low, high]);
                continue;
            }
            if *self.function.ty(value) == Type::Str {
                passed.extend(self.slots(value)?);
                continue;
            }
            let slot = self.first(value)?;
            passed.push(match self.b.func.dfg.value_type(slot) {
                types::F64 => self.b.ins().bitcast(types::I64, MemFlagsData::new(), slot),
                types::I8 => self.b.ins().uextend(types::I64, slot),
                _ => slot,
            });
        }
        while passed.len() < 2 + BOXED_WORDS {
            passed.push(self.word(0));
        }
        Ok(Some(passed))
    }
}
