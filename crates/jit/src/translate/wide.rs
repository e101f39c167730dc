//! Ints of 128 bits, and those of which only the low 64 bits matter; [`crate::width`] says which.

use super::int::condition;
use super::shortcut::Kernel;
use super::{Result, Translator};
use crate::CompileError;
use crate::width::mask;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Machine, types};
use exuvia_ir::{ExcKind, Inst, Int, Object, Type, Value};
use exuvia_ops::core::{Cmp, CoreOp};
use exuvia_ops::def::{Body, Kind, OpDef};
use exuvia_ops::runtime;

impl Translator<'_, '_, '_> {
    /// The result of an operation with an int that is no word, or nothing where there is none.
    pub(super) fn wide_op(&mut self, def: &'static OpDef, inst: &Inst) -> Result<Option<Vec<Machine>>> {
        let (Body::Core(op), Some(result)) = (&def.body, inst.result) else { return Ok(None) };
        let is_wide = |this: &Self, at: usize| inst.args.get(at).is_some_and(|arg| this.widths.is_wide(*arg));
        let is_large = self.widths.is_wide(result);
        let of_wide = is_wide(self, 0) || is_wide(self, 1);
        let of_low = inst.args.iter().any(|arg| self.widths.is_low(*arg));
        if (of_wide || of_low || is_large || self.widths.is_low(result))
            && let Some(slot) = self.masked(*op, inst, is_large)?
        {
            return Ok(Some(vec![slot]));
        }
        if self.widths.is_low(result) {
            return Ok(Some(vec![self.modular(*op, inst)?]));
        }
        let variable = |at: usize| is_wide(self, at) && self.known(inst, at).is_none();
        let of_variable = variable(0) || variable(1);
        let value = match op {
            CoreOp::IntCmp(cmp) if of_variable => return Ok(Some(vec![self.compare_wide(*cmp, inst)?])),
            CoreOp::IntTruth if of_variable => {
                let a = self.wide(inst.args[0])?;
                let zero = self.is_zero(a);
                return Ok(Some(vec![self.b.ins().bxor_imm_u(zero, 1)]));
            }
            CoreOp::IntTrueDiv if of_variable => return Ok(Some(vec![self.divide_wide(inst)?])),
            CoreOp::IntShl | CoreOp::IntShr if is_wide(self, 0) || is_large => self.shift_wide(*op, inst)?,
            CoreOp::Identity if is_large => self.wide(inst.args[0])?,
            // Words of words.
            CoreOp::IntShl | CoreOp::IntShr | CoreOp::Identity => return Ok(None),
            op if op.gives_int_of_ints() && (of_wide || is_large) => self.arithmetic_wide(*op, inst)?,
            _ => return Ok(None),
        };
        Ok(Some(vec![if is_large { value } else { self.b.ins().ireduce(types::I64, value) }]))
    }

    /// What goes into a parameter that is no word.
    pub(super) fn passed(&mut self, param: Value, arg: Value) -> Result<Option<Machine>> {
        if self.widths.is_wide(param) {
            return self.wide(arg).map(Some);
        }
        if self.widths.is_low(param) {
            return self.low_word(arg).map(Some);
        }
        Ok(None)
    }

    /// An int of 128 bits as a word; what does not fit leaves.
    pub(super) fn word_of_wide(&mut self, value: Value) -> Result<Machine> {
        let wide = self.wide(value)?;
        let (low, high) = self.b.ins().isplit(wide);
        let sign = self.b.ins().sshr_imm_u(low, 63);
        let outgrown = self.b.ins().icmp(IntCC::NotEqual, sign, high);
        self.guard_int(outgrown);
        Ok(low)
    }

    /// An int or bool with 128 bits.
    fn wide(&mut self, value: Value) -> Result<Machine> {
        if let Some(Object::Int(big @ Int::Big(_))) = self.constants.get(&value).copied()
            && let Some(known) = big.to_i128()
        {
            let (low, high) = (self.word(known as i64), self.word((known >> 64) as i64));
            return Ok(self.b.ins().iconcat(low, high));
        }
        if self.widths.is_low(value) {
            return Err(CompileError::malformed(format!("{value} has only a low word")));
        }
        match self.held(value)?.as_slice() {
            [slot] if self.b.func.dfg.value_type(*slot) == types::I128 => Ok(*slot),
            [slot] => {
                let word = self.extend(*slot);
                Ok(self.b.ins().sextend(types::I128, word))
            }
            _ => Err(CompileError::malformed(format!("{value} is no int"))),
        }
    }

    /// The low 64 bits of an int or bool.
    fn low_word(&mut self, value: Value) -> Result<Machine> {
        if let Some(Object::Int(big @ Int::Big(_))) = self.constants.get(&value).copied()
            && let Some(known) = big.to_i128()
        {
            return Ok(self.word(known as i64));
        }
        match self.held(value)?.as_slice() {
            [slot] if self.b.func.dfg.value_type(*slot) == types::I128 => Ok(self.b.ins().ireduce(types::I64, *slot)),
            [slot] => Ok(self.extend(*slot)),
            _ => Err(CompileError::malformed(format!("{value} is no int"))),
        }
    }

    /// The two words of an int, the lower first.
    pub(super) fn words(&mut self, value: Value) -> Result<(Machine, Machine)> {
        let value = self.wide(value)?;
        Ok(self.b.ins().isplit(value))
    }

    /// What a kernel gives for operands of 128 bits: its native code where they fit in words, else that
    /// for boxed operands, where it can be called; nothing where there are none.
    pub(super) fn kernel_of_wide(&mut self, kernel: Kernel, inst: &Inst) -> Result<Option<Vec<Machine>>> {
        let def = kernel.def;
        let wide: Vec<Value> = inst
            .args
            .iter()
            .zip(def.params)
            .filter(|(arg, param)| matches!(param.kind, Kind::Int | Kind::Any) && self.widths.is_wide(**arg))
            .map(|(arg, _)| *arg)
            .filter(|arg| !self.constants.contains_key(arg))
            .collect();
        let Some(ty) = inst.result.map(|result| self.function.ty(result).clone()) else { return Ok(None) };
        if wide.is_empty() || !self.can_be_boxed(inst, &ty) {
            return Ok(None);
        }
        let slots = self.either(
            &ty,
            |this, slow| {
                for value in wide {
                    let (low, high) = this.words(value)?;
                    let sign = this.b.ins().sshr_imm_u(low, 63);
                    let fits = this.b.ins().icmp(IntCC::Equal, sign, high);
                    this.require(fits, slow);
                }
                this.string_op(kernel, inst)
            },
            |this| this.boxed(def, inst)?.ok_or_else(|| CompileError::malformed("operands that cannot be boxed")),
        )?;
        Ok(Some(slots))
    }

    /// A result that has no more bits than a constant says, of the low word of the operand.
    fn masked(&mut self, op: CoreOp, inst: &Inst, is_large: bool) -> Result<Option<Machine>> {
        let constant = |at: usize| match self.known(inst, at)? {
            Object::Int(value) => value.to_i128(),
            _ => None,
        };
        let Some((at, mask)) = (0..2).find_map(|at| Some((at, mask(op, at, constant)?))) else { return Ok(None) };
        if mask > i64::MAX.unsigned_abs()
            && !is_large
            && !inst.no_overflow
            && !inst.result.is_some_and(|result| self.widths.is_low(result))
        {
            return Err(CompileError::malformed("a word of 64 bits without sign"));
        }
        let word = self.low_word(inst.args[at])?;
        let mask = self.word(mask as i64);
        let word = self.b.ins().band(word, mask);
        Ok(Some(if is_large { self.b.ins().uextend(types::I128, word) } else { word }))
    }

    /// The low word of a result, of the low words of the operands.
    fn modular(&mut self, op: CoreOp, inst: &Inst) -> Result<Machine> {
        let a = self.low_word(inst.args[0])?;
        match op {
            CoreOp::IntNeg => return Ok(self.b.ins().ineg(a)),
            CoreOp::IntInvert => return Ok(self.b.ins().bnot(a)),
            _ => {}
        }
        let b = self.low_word(inst.args[1])?;
        match op {
            CoreOp::IntAdd => Ok(self.b.ins().iadd(a, b)),
            CoreOp::IntSub => Ok(self.b.ins().isub(a, b)),
            CoreOp::IntMul => Ok(self.b.ins().imul(a, b)),
            CoreOp::IntAnd => Ok(self.b.ins().band(a, b)),
            CoreOp::IntOr => Ok(self.b.ins().bor(a, b)),
            CoreOp::IntXor => Ok(self.b.ins().bxor(a, b)),
            CoreOp::IntShl => Ok(self.b.ins().ishl(a, b)),
            other => Err(CompileError::malformed(format!("the low word of {other:?}"))),
        }
    }

    fn arithmetic_wide(&mut self, op: CoreOp, inst: &Inst) -> Result<Machine> {
        let a = self.wide(inst.args[0])?;
        match op {
            CoreOp::IntInvert => return Ok(self.b.ins().bnot(a)),
            CoreOp::IntNeg => return self.negate_wide(a),
            CoreOp::IntAbs => {
                let opposite = self.negate_wide(a)?;
                let (_, high) = self.b.ins().isplit(a);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, high, 0);
                return Ok(self.b.ins().select(negative, opposite, a));
            }
            _ => {}
        }
        let b = self.wide(inst.args[1])?;
        // Sums and products of words have no more than 128 bits.
        let of_words = !inst.args.iter().any(|arg| self.widths.is_wide(*arg));
        match op {
            CoreOp::IntAnd => Ok(self.b.ins().band(a, b)),
            CoreOp::IntOr => Ok(self.b.ins().bor(a, b)),
            CoreOp::IntXor => Ok(self.b.ins().bxor(a, b)),
            CoreOp::IntAdd | CoreOp::IntSub => {
                let is_sum = op == CoreOp::IntAdd;
                let result = if is_sum { self.b.ins().iadd(a, b) } else { self.b.ins().isub(a, b) };
                if !of_words {
                    // It overflows where both summands have another sign than the sum.
                    let [a, b, made] = [a, b, result].map(|value| self.b.ins().isplit(value).1);
                    let left = self.b.ins().bxor(a, made);
                    let right = if is_sum { self.b.ins().bxor(b, made) } else { self.b.ins().bxor(a, b) };
                    let both = self.b.ins().band(left, right);
                    let overflow = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, both, 0);
                    self.guard_int(overflow);
                }
                Ok(result)
            }
            CoreOp::IntMul => {
                if !of_words {
                    self.guard_product(inst, a, b);
                }
                Ok(self.b.ins().imul(a, b))
            }
            CoreOp::IntFloorDiv | CoreOp::IntMod => self.floor_div_wide(op, inst, a, b),
            other => Err(CompileError::malformed(format!("{other:?} of wide ints"))),
        }
    }

    /// Leaves where a product may have more than 128 bits: where its factors have more than 126
    /// together.
    fn guard_product(&mut self, inst: &Inst, a: Machine, b: Machine) {
        let known = |at: usize| match self.known(inst, at) {
            Some(Object::Int(value)) => value.to_i128(),
            _ => None,
        };
        for (other, side) in [(a, 1), (b, 0)] {
            let Some(known) = known(side) else { continue };
            let room = 126u32.saturating_sub(bits(known));
            if room < 64 {
                break;
            }
            // The upper word of what lies between -2**room and 2**room.
            let (_, high) = self.b.ins().isplit(other);
            let moved = self.b.ins().iadd_imm_s(high, 1 << (room - 64));
            let outside = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, moved, 2 << (room - 64));
            return self.guard_int(outside);
        }
        let bits = [a, b].map(|factor| {
            let (_, high) = self.b.ins().isplit(factor);
            let sign = self.b.ins().sshr_imm_u(high, 63);
            let sign = self.b.ins().iconcat(sign, sign);
            let magnitude = self.b.ins().bxor(factor, sign);
            let zeros = self.b.ins().clz(magnitude);
            self.b.ins().ireduce(types::I64, zeros)
        });
        let zeros = self.b.ins().iadd(bits[0], bits[1]);
        let outside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, zeros, 256 - 126);
        self.guard_int(outside);
    }

    fn negate_wide(&mut self, a: Machine) -> Result<Machine> {
        // The least has no opposite; nor has anything else with its upper word, as far as is asked.
        let (_, high) = self.b.ins().isplit(a);
        let least = self.b.ins().icmp_imm_s(IntCC::Equal, high, i64::MIN);
        self.guard_int(least);
        let zero = self.word(0);
        let zero = self.b.ins().iconcat(zero, zero);
        Ok(self.b.ins().isub(zero, a))
    }

    fn is_zero(&mut self, value: Machine) -> Machine {
        let (low, high) = self.b.ins().isplit(value);
        let any = self.b.ins().bor(low, high);
        self.b.ins().icmp_imm_s(IntCC::Equal, any, 0)
    }

    fn floor_div_wide(&mut self, op: CoreOp, inst: &Inst, a: Machine, b: Machine) -> Result<Machine> {
        let known = match self.known(inst, 1) {
            Some(Object::Int(value)) => value.to_i128().filter(|value| *value != 0),
            _ => None,
        };
        if known.is_none() {
            let zero = self.is_zero(b);
            self.raise_if(zero, ExcKind::ZeroDivisionError, inst)?;
        }
        if let Some(power) = known.filter(|power| *power > 0 && power.count_ones() == 1) {
            if op == CoreOp::IntFloorDiv {
                let count = self.word(i64::from(power.trailing_zeros()));
                return Ok(self.b.ins().sshr(a, count));
            }
            let (low, high) = (self.word((power - 1) as i64), self.word(((power - 1) >> 64) as i64));
            let mask = self.b.ins().iconcat(low, high);
            return Ok(self.b.ins().band(a, mask));
        }
        let (low, high) = self.b.ins().isplit(a);
        // The quotient of the least int and -1 is the only one of more bits.
        if known.is_none_or(|known| known == -1) {
            let least = self.b.ins().icmp_imm_s(IntCC::Equal, high, i64::MIN);
            self.guard_int(least);
        }
        let (divisor, divisor_high) = self.b.ins().isplit(b);
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I128);
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        // Mostly two words without sign.
        let either = self.b.ins().bor(high, divisor_high);
        let short = self.b.ins().icmp_imm_s(IntCC::Equal, either, 0);
        self.require(short, slow);
        let made = if op == CoreOp::IntMod { self.b.ins().urem(low, divisor) } else { self.b.ins().udiv(low, divisor) };
        let made = self.b.ins().uextend(types::I128, made);
        self.b.ins().jump(done, &[made.into()]);
        self.b.switch_to_block(slow);
        let (name, address) = match op {
            CoreOp::IntMod => ("int.wide_mod", runtime::wide_mod as *const u8),
            _ => ("int.wide_floordiv", runtime::wide_floor_div as *const u8),
        };
        let words = [low, high, divisor, divisor_high];
        let made = self.rarely(|this| this.call_helper(name, address, &[types::I64, types::I64], &words))?;
        let made = self.b.ins().iconcat(made[0], made[1]);
        self.b.ins().jump(done, &[made.into()]);
        self.b.switch_to_block(done);
        Ok(result)
    }

    fn shift_wide(&mut self, op: CoreOp, inst: &Inst) -> Result<Machine> {
        let a = self.wide(inst.args[0])?;
        let count = self.int(inst, 1)?;
        let known = self.known_int(inst, 1).filter(|count| (0..128).contains(count));
        if known.is_none() {
            let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, count, 0);
            self.raise_if(negative, ExcKind::ValueError, inst)?;
        }
        if op == CoreOp::IntShr {
            let most = self.word(127);
            let count = if known.is_some() { count } else { self.b.ins().umin(count, most) };
            return Ok(self.b.ins().sshr(a, count));
        }
        if known.is_none() {
            // Zero may be shifted by anything.
            let far = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, count, 127);
            let zero = self.is_zero(a);
            let some = self.b.ins().bxor_imm_u(zero, 1);
            let overflow = self.b.ins().band(far, some);
            self.guard_int(overflow);
        }
        let shifted = self.b.ins().ishl(a, count);
        let back = self.b.ins().sshr(shifted, count);
        let overflow = self.b.ins().icmp(IntCC::NotEqual, back, a);
        self.guard_int(overflow);
        Ok(shifted)
    }

    fn compare_wide(&mut self, cmp: Cmp, inst: &Inst) -> Result<Machine> {
        let (a, b) = (self.wide(inst.args[0])?, self.wide(inst.args[1])?);
        Ok(self.b.ins().icmp(condition(cmp), a, b))
    }

    /// The quotient of two ints as the nearest float.
    fn divide_wide(&mut self, inst: &Inst) -> Result<Machine> {
        let ((a, a_high), (b, b_high)) = (self.words(inst.args[0])?, self.words(inst.args[1])?);
        let any = self.b.ins().bor(b, b_high);
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, any, 0);
        self.raise_if(zero, ExcKind::ZeroDivisionError, inst)?;
        let words = [self.env.cx, a, a_high, b, b_high];
        let made = self.call_helper("int.wide_quotient", runtime::wide_quotient as *const u8, &[types::F64], &words)?;
        Ok(made[0])
    }

    /// A float of an int or bool operand of 128 bits.
    pub(super) fn float_of_wide(&mut self, value: Value) -> Result<Option<Machine>> {
        if !self.widths.is_wide(value) || self.constants.contains_key(&value) || *self.function.ty(value) != Type::Int {
            return Ok(None);
        }
        let value = self.wide(value)?;
        let (low, high) = self.b.ins().isplit(value);
        let made = self.call_helper("int.wide_float", runtime::wide_float as *const u8, &[types::F64], &[low, high])?;
        Ok(Some(made[0]))
    }
}

/// The least number such that the int lies between two to its power and the opposite.
fn bits(value: i128) -> u32 {
    let magnitude = value ^ (value >> 127);
    128 - magnitude.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn bits_bound() {
        for (value, expected) in
            [(0, 0), (1, 1), (-1, 0), (-2, 1), (3, 2), (4, 3), (-4, 2), (i128::MAX, 127), (i128::MIN, 127)]
        {
            assert_eq!(bits(value), expected, "{value}");
        }
    }
}
