//! Floats, IEEE 754 doubles as in Python.

use super::{Result, Translator};
use crate::CompileError;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, Value as Machine, types};
use exuvia_ir::{ExcKind, Inst, Type};
use exuvia_ops::core::{Cmp, CoreOp, Ieee};
use exuvia_ops::runtime;

/// Floats hold every int up to this one and its opposite.
const EXACT: i64 = 1 << 53;

/// The condition of a comparison of floats: with a NaN only `!=` holds.
fn condition(cmp: Cmp) -> FloatCC {
    match cmp {
        Cmp::Eq => FloatCC::Equal,
        Cmp::Ne => FloatCC::NotEqual,
        Cmp::Lt => FloatCC::LessThan,
        Cmp::Le => FloatCC::LessThanOrEqual,
        Cmp::Gt => FloatCC::GreaterThan,
        Cmp::Ge => FloatCC::GreaterThanOrEqual,
    }
}

impl Translator<'_, '_, '_> {
    pub(super) fn float_op(&mut self, op: CoreOp, inst: &Inst) -> Result<Machine> {
        match op {
            CoreOp::IntToFloat => self.float(inst, 0),
            CoreOp::IntTrueDiv => self.int_true_div(inst),
            CoreOp::FloatAdd => {
                let (a, b) = self.floats(inst)?;
                Ok(self.b.ins().fadd(a, b))
            }
            CoreOp::FloatSub => {
                let (a, b) = self.floats(inst)?;
                Ok(self.b.ins().fsub(a, b))
            }
            CoreOp::FloatMul => {
                let (a, b) = self.floats(inst)?;
                Ok(self.b.ins().fmul(a, b))
            }
            CoreOp::FloatDiv => {
                let (a, b) = self.floats(inst)?;
                let zero = self.b.ins().f64const(0.0);
                let by_zero = self.b.ins().fcmp(FloatCC::Equal, b, zero);
                self.raise_if(by_zero, ExcKind::ZeroDivisionError, inst)?;
                Ok(self.b.ins().fdiv(a, b))
            }
            CoreOp::FloatNeg => {
                let a = self.float(inst, 0)?;
                Ok(self.b.ins().fneg(a))
            }
            CoreOp::FloatAbs => {
                let a = self.float(inst, 0)?;
                Ok(self.b.ins().fabs(a))
            }
            CoreOp::FloatSqrt => {
                let a = self.float(inst, 0)?;
                let zero = self.b.ins().f64const(0.0);
                let negative = self.b.ins().fcmp(FloatCC::LessThan, a, zero);
                self.raise_if(negative, ExcKind::ValueError, inst)?;
                Ok(self.b.ins().sqrt(a))
            }
            CoreOp::Ieee(op) => {
                let a = self.float(inst, 0)?;
                Ok(match op {
                    Ieee::Div => {
                        let b = self.float(inst, 1)?;
                        self.b.ins().fdiv(a, b)
                    }
                    Ieee::Sqrt => self.b.ins().sqrt(a),
                    Ieee::Floor => self.b.ins().floor(a),
                    Ieee::Ceil => self.b.ins().ceil(a),
                    Ieee::Trunc => self.b.ins().trunc(a),
                    Ieee::Nearest => self.b.ins().nearest(a),
                })
            }
            CoreOp::FloatTruth => {
                let a = self.float(inst, 0)?;
                let zero = self.b.ins().f64const(0.0);
                Ok(self.b.ins().fcmp(FloatCC::NotEqual, a, zero))
            }
            CoreOp::FloatCmp(cmp) => {
                let (a, b) = self.floats(inst)?;
                Ok(self.b.ins().fcmp(condition(cmp), a, b))
            }
            other => Err(CompileError::malformed(format!("{other:?} as a float operation"))),
        }
    }

    /// An operand as a float; an int or bool is converted as `float()` does.
    pub(super) fn float(&mut self, inst: &Inst, index: usize) -> Result<Machine> {
        if let Some(known) = self.known_big_float(inst, index) {
            return Ok(self.b.ins().f64const(known));
        }
        if let Some(float) = self.float_of_wide(self.operand(inst, index)?)? {
            return Ok(float);
        }
        let value = self.one(inst, index)?;
        Ok(self.float_of(value))
    }

    /// An int or bool as the nearest float.
    pub(super) fn float_of(&mut self, value: Machine) -> Machine {
        if self.b.func.dfg.value_type(value) == types::F64 {
            return value;
        }
        let value = self.extend(value);
        self.b.ins().fcvt_from_sint(types::F64, value)
    }

    fn floats(&mut self, inst: &Inst) -> Result<(Machine, Machine)> {
        Ok((self.float(inst, 0)?, self.float(inst, 1)?))
    }

    /// The comparison of an int with a float, if the int is among those that a float holds each of.
    pub(super) fn compare_mixed(&mut self, cmp: Cmp, inst: &Inst, int: usize, slow: Block) -> Result<Vec<Machine>> {
        let whole = self.int(inst, int)?;
        self.require_exact(whole, slow);
        let whole = self.b.ins().fcvt_from_sint(types::F64, whole);
        let other = self.one(inst, 1 - int)?;
        let cmp = if int == 0 { cmp } else { cmp.mirrored() };
        Ok(vec![self.b.ins().fcmp(condition(cmp), whole, other)])
    }

    /// Goes on if an int is among those that a float holds each of.
    pub(super) fn require_exact(&mut self, value: Machine, slow: Block) {
        let shifted = self.b.ins().iadd_imm_s(value, EXACT);
        let exact = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, shifted, 2 * EXACT);
        self.require(exact, slow);
    }

    /// The quotient of two ints, correctly rounded: the machine's division is, if both are
    /// doubles exactly (Objects/longobject.c, long_true_divide).
    fn int_true_div(&mut self, inst: &Inst) -> Result<Machine> {
        let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
        if self.known_int(inst, 1).is_none_or(|divisor| divisor == 0) {
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
            self.raise_if(zero, ExcKind::ZeroDivisionError, inst)?;
        }
        let quotient = self.either(
            &Type::Float,
            |this, slow| {
                for (side, value) in [(0, a), (1, b)] {
                    if !this.known_int(inst, side).is_some_and(|known| (-EXACT..=EXACT).contains(&known)) {
                        this.require_exact(value, slow);
                    }
                }
                let a = this.b.ins().fcvt_from_sint(types::F64, a);
                let b = this.b.ins().fcvt_from_sint(types::F64, b);
                Ok(vec![this.b.ins().fdiv(a, b)])
            },
            |this| this.call_helper("int.quotient", runtime::int_quotient as *const u8, &[types::F64], &[a, b]),
        )?;
        Ok(quotient[0])
    }
}
