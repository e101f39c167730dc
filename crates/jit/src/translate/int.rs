//! Integers of 64 bits and bools. What needs more bits bails out.

use super::{Result, Translator};
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Machine, types};
use exuvia_ir::{ExcKind, Inst, Int, Object, Type};
use exuvia_ops::core::{Cmp, CoreOp};

/// The condition of a comparison of signed integers.
pub(super) fn condition(cmp: Cmp) -> IntCC {
    match cmp {
        Cmp::Eq => IntCC::Equal,
        Cmp::Ne => IntCC::NotEqual,
        Cmp::Lt => IntCC::SignedLessThan,
        Cmp::Le => IntCC::SignedLessThanOrEqual,
        Cmp::Gt => IntCC::SignedGreaterThan,
        Cmp::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}

impl Translator<'_, '_, '_> {
    pub(super) fn int_op(&mut self, op: CoreOp, inst: &Inst) -> Result<Machine> {
        match op {
            CoreOp::IntAdd => {
                let (a, b) = self.ints(inst)?;
                if inst.no_overflow {
                    return Ok(self.b.ins().iadd(a, b));
                }
                let (sum, overflow) = self.b.ins().sadd_overflow(a, b);
                self.guard_int(overflow);
                Ok(sum)
            }
            CoreOp::IntSub => {
                let (a, b) = self.ints(inst)?;
                if inst.no_overflow {
                    return Ok(self.b.ins().isub(a, b));
                }
                let (difference, overflow) = self.b.ins().ssub_overflow(a, b);
                self.guard_int(overflow);
                Ok(difference)
            }
            CoreOp::IntMul => {
                let (a, b) = self.ints(inst)?;
                if inst.no_overflow {
                    return Ok(self.b.ins().imul(a, b));
                }
                let (product, overflow) = self.b.ins().smul_overflow(a, b);
                self.guard_int(overflow);
                Ok(product)
            }
            CoreOp::IntFloorDiv => self.floor_div(inst),
            CoreOp::IntMod => self.floor_mod(inst),
            CoreOp::IntAnd => {
                let (a, b) = self.ints(inst)?;
                Ok(self.b.ins().band(a, b))
            }
            CoreOp::IntOr => {
                let (a, b) = self.ints(inst)?;
                Ok(self.b.ins().bor(a, b))
            }
            CoreOp::IntXor => {
                let (a, b) = self.ints(inst)?;
                Ok(self.b.ins().bxor(a, b))
            }
            CoreOp::IntShl => self.shift_left(inst),
            CoreOp::IntShr => self.shift_right(inst),
            CoreOp::IntNeg => {
                let a = self.int(inst, 0)?;
                self.negate(a, inst)
            }
            CoreOp::IntInvert => {
                let a = self.int(inst, 0)?;
                Ok(self.b.ins().bnot(a))
            }
            CoreOp::IntAbs => {
                let a = self.int(inst, 0)?;
                self.guard_min(a, inst);
                Ok(self.b.ins().iabs(a))
            }
            CoreOp::IntCmp(cmp) => self.compare(cmp, inst),
            CoreOp::IntTruth => {
                let a = self.int(inst, 0)?;
                Ok(self.b.ins().icmp_imm_s(IntCC::NotEqual, a, 0))
            }
            CoreOp::BoolToInt => self.int(inst, 0),
            CoreOp::BoolAnd => {
                let (a, b) = (self.one(inst, 0)?, self.one(inst, 1)?);
                Ok(self.b.ins().band(a, b))
            }
            CoreOp::BoolOr => {
                let (a, b) = (self.one(inst, 0)?, self.one(inst, 1)?);
                Ok(self.b.ins().bor(a, b))
            }
            CoreOp::BoolXor => {
                let (a, b) = (self.one(inst, 0)?, self.one(inst, 1)?);
                Ok(self.b.ins().bxor(a, b))
            }
            CoreOp::BoolNot => {
                let a = self.one(inst, 0)?;
                Ok(self.b.ins().bxor_imm_u(a, 1))
            }
            other => Err(CompileError::malformed(format!("{other:?} as an integer operation"))),
        }
    }

    /// An operand as 64 bits; a bool counts as 0 or 1.
    pub(super) fn int(&mut self, inst: &Inst, index: usize) -> Result<Machine> {
        let value = self.one(inst, index)?;
        Ok(self.extend(value))
    }

    /// An operand of [`exuvia_ops::def::Kind::Index`]: clamped to 64 bits, `absent` where
    /// it is missing or `None`.
    pub(super) fn index(&mut self, inst: &Inst, index: usize, absent: i64) -> Result<Machine> {
        let Some(value) = inst.args.get(index) else { return Ok(self.word(absent)) };
        if *self.function.ty(*value) == Type::None {
            return Ok(self.word(absent));
        }
        match self.known(inst, index) {
            Some(Object::Int(known)) => Ok(self.word(known.clamp_i64())),
            _ => self.int(inst, index),
        }
    }

    /// A bool as 64 bits.
    pub(super) fn extend(&mut self, value: Machine) -> Machine {
        if self.b.func.dfg.value_type(value) == types::I8 { self.b.ins().uextend(types::I64, value) } else { value }
    }

    fn ints(&mut self, inst: &Inst) -> Result<(Machine, Machine)> {
        Ok((self.int(inst, 0)?, self.int(inst, 1)?))
    }

    fn compare(&mut self, cmp: Cmp, inst: &Inst) -> Result<Machine> {
        if let (Some(Object::Int(a)), Some(Object::Int(b))) = (self.known(inst, 0), self.known(inst, 1)) {
            return Ok(self.b.ins().iconst(types::I8, i64::from(cmp.holds(a, b))));
        }
        // Every native int lies between the big ints of either sign.
        for (side, cmp) in [(1, cmp), (0, cmp.mirrored())] {
            if let Some(Object::Int(big @ Int::Big(_))) = self.known(inst, side) {
                let less = *big > Int::Small(0);
                let holds = match cmp {
                    Cmp::Eq => false,
                    Cmp::Ne => true,
                    Cmp::Lt | Cmp::Le => less,
                    Cmp::Gt | Cmp::Ge => !less,
                };
                return Ok(self.b.ins().iconst(types::I8, i64::from(holds)));
            }
        }
        let (a, b) = self.ints(inst)?;
        Ok(self.b.ins().icmp(condition(cmp), a, b))
    }

    /// Bails out if `a` is the integer that has no counterpart of the other sign.
    fn guard_min(&mut self, a: Machine, inst: &Inst) {
        if !inst.no_overflow {
            let overflow = self.b.ins().icmp_imm_s(IntCC::Equal, a, i64::MIN);
            self.guard_int(overflow);
        }
    }

    fn negate(&mut self, a: Machine, inst: &Inst) -> Result<Machine> {
        self.guard_min(a, inst);
        Ok(self.b.ins().ineg(a))
    }

    fn zero_division(&mut self, divisor: Machine, inst: &Inst) -> Result<()> {
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
        self.raise_if(zero, ExcKind::ZeroDivisionError, inst)
    }

    /// The quotient rounded down (Objects/longobject.c, l_divmod).
    fn floor_div(&mut self, inst: &Inst) -> Result<Machine> {
        let a = self.int(inst, 0)?;
        match self.known_int(inst, 1) {
            Some(1) => return Ok(a),
            Some(-1) => return self.negate(a, inst),
            Some(power) if power > 0 && power.count_ones() == 1 => {
                // An arithmetic shift rounds down.
                return Ok(self.b.ins().sshr_imm_u(a, i64::from(power.trailing_zeros())));
            }
            Some(divisor) if divisor != 0 => {
                let b = self.word(divisor);
                let (quotient, remainder) = self.truncated(a, b);
                let wrong = if divisor > 0 { IntCC::SignedLessThan } else { IntCC::SignedGreaterThan };
                let wrong = self.b.ins().icmp_imm_s(wrong, remainder, 0);
                let wrong = self.b.ins().uextend(types::I64, wrong);
                return Ok(self.b.ins().isub(quotient, wrong));
            }
            Some(_) | None => {}
        }
        let b = self.int(inst, 1)?;
        self.zero_division(b, inst)?;
        let least = self.b.ins().icmp_imm_s(IntCC::Equal, a, i64::MIN);
        let minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let overflow = self.b.ins().band(least, minus_one);
        // This check stays whatever an analysis says: the machine's division traps.
        self.guard_int(overflow);
        let (quotient, remainder) = self.truncated(a, b);
        let wrong = self.differs_in_sign(remainder, b);
        let wrong = self.b.ins().uextend(types::I64, wrong);
        Ok(self.b.ins().isub(quotient, wrong))
    }

    /// The remainder with the sign of the divisor.
    fn floor_mod(&mut self, inst: &Inst) -> Result<Machine> {
        let a = self.int(inst, 0)?;
        match self.known_int(inst, 1) {
            Some(1 | -1) => return Ok(self.word(0)),
            Some(power) if power > 0 && power.count_ones() == 1 => {
                return Ok(self.b.ins().band_imm_s(a, power - 1));
            }
            Some(divisor) if divisor != 0 => {
                let b = self.word(divisor);
                let (_, remainder) = self.truncated(a, b);
                let wrong = if divisor > 0 { IntCC::SignedLessThan } else { IntCC::SignedGreaterThan };
                let wrong = self.b.ins().icmp_imm_s(wrong, remainder, 0);
                let moved = self.b.ins().iadd(remainder, b);
                return Ok(self.b.ins().select(wrong, moved, remainder));
            }
            Some(_) | None => {}
        }
        let b = self.int(inst, 1)?;
        if let Some(&[quotient]) = self.beside(inst, "int.floordiv") {
            // Which has raised for a zero.
            let product = self.b.ins().imul(quotient, b);
            return Ok(self.b.ins().isub(a, product));
        }
        self.zero_division(b, inst)?;
        // The remainder by -1 is that by 1, and the machine's division traps for the least
        // integer by -1.
        let minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let one = self.word(1);
        let b = self.b.ins().select(minus_one, one, b);
        let (_, remainder) = self.truncated(a, b);
        let wrong = self.differs_in_sign(remainder, b);
        let moved = self.b.ins().iadd(remainder, b);
        Ok(self.b.ins().select(wrong, moved, remainder))
    }

    /// The machine's quotient, rounded towards zero, and remainder.
    fn truncated(&mut self, a: Machine, b: Machine) -> (Machine, Machine) {
        let quotient = self.b.ins().sdiv(a, b);
        let product = self.b.ins().imul(quotient, b);
        (quotient, self.b.ins().isub(a, product))
    }

    /// Whether a remainder is not zero and has another sign than the divisor.
    fn differs_in_sign(&mut self, remainder: Machine, divisor: Machine) -> Machine {
        let signs = self.b.ins().bxor(remainder, divisor);
        let signs = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, remainder, 0);
        self.b.ins().band(signs, some)
    }

    fn shift_left(&mut self, inst: &Inst) -> Result<Machine> {
        let (a, count) = self.ints(inst)?;
        let known = self.known_int(inst, 1);
        if !known.is_some_and(|count| (0..64).contains(&count)) {
            let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, count, 0);
            self.raise_if(negative, ExcKind::ValueError, inst)?;
            // Zero may be shifted by anything.
            let far = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, count, 63);
            let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, a, 0);
            let overflow = self.b.ins().band(far, some);
            self.guard_int(overflow);
        }
        let shifted = self.b.ins().ishl(a, count);
        if !inst.no_overflow {
            let back = self.b.ins().sshr(shifted, count);
            let overflow = self.b.ins().icmp(IntCC::NotEqual, back, a);
            self.guard_int(overflow);
        }
        Ok(shifted)
    }

    fn shift_right(&mut self, inst: &Inst) -> Result<Machine> {
        let (a, count) = self.ints(inst)?;
        if self.known_int(inst, 1).is_some_and(|count| (0..64).contains(&count)) {
            return Ok(self.b.ins().sshr(a, count));
        }
        let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, count, 0);
        self.raise_if(negative, ExcKind::ValueError, inst)?;
        let most = self.word(63);
        let count = self.b.ins().umin(count, most);
        Ok(self.b.ins().sshr(a, count))
    }
}
