//! Operations of the closed core on ints, floats and truth values.

use super::{LEAVE, Printer, Result, int, operator};
use crate::Unsupported;
use crate::slots::slots;
use exuvia_ir::{ExcKind, Inst, Int, Object, Type};
use exuvia_ops::core::{Cmp, CoreOp, Ieee};

impl Printer<'_, '_> {
    pub(super) fn core(&mut self, op: CoreOp, inst: &Inst) -> Result<Vec<String>> {
        use CoreOp::{
            BoolAnd, BoolNot, BoolOr, BoolToInt, BoolXor, ExcCode, ExcMessage, FloatAbs, FloatAdd, FloatCmp, FloatDiv,
            FloatMul, FloatNeg, FloatSqrt, FloatSub, FloatTruth, Identity, IntAbs, IntAdd, IntAnd, IntCmp, IntFits,
            IntFloorDiv, IntInvert, IntMod, IntMul, IntNeg, IntOr, IntShl, IntShr, IntSub, IntToFloat, IntTrueDiv,
            IntTruth, IntXor, Reject,
        };
        let value = match op {
            IntAdd | IntSub | IntMul => {
                let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
                let (sign, check) = match op {
                    IntAdd => ("+", "add_overflows"),
                    IntSub => ("-", "sub_overflows"),
                    _ => ("*", "mul_overflows"),
                };
                if !inst.no_overflow {
                    self.leave_if(&format!("{check}({a}, {b})"));
                }
                format!("(long)((ulong)({a}) {sign} (ulong)({b}))")
            }
            IntFloorDiv | IntMod => {
                let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
                let known = self.known_int(inst, 1).filter(|divisor| *divisor != 0);
                if known.is_none() {
                    self.raise_if(&format!("{b} == 0"), ExcKind::ZeroDivisionError, inst)?;
                }
                if op == IntMod {
                    format!("floor_mod({a}, {b})")
                } else {
                    if known.is_none_or(|divisor| divisor == -1) {
                        self.leave_if(&format!("{b} == -1 && {a} == {}", int(i64::MIN)));
                    }
                    format!("floor_div({a}, {b})")
                }
            }
            IntAnd => format!("({}) & ({})", self.int(inst, 0)?, self.int(inst, 1)?),
            IntOr => format!("({}) | ({})", self.int(inst, 0)?, self.int(inst, 1)?),
            IntXor => format!("({}) ^ ({})", self.int(inst, 0)?, self.int(inst, 1)?),
            IntShl => {
                let (a, count) = (self.int(inst, 0)?, self.int(inst, 1)?);
                self.raise_if(&format!("{count} < 0"), ExcKind::ValueError, inst)?;
                self.leave_if(&format!("shift_overflows({a}, {count})"));
                format!("({count} > 63 ? 0L : (long)((ulong)({a}) << {count}))")
            }
            IntShr => {
                let (a, count) = (self.int(inst, 0)?, self.int(inst, 1)?);
                self.raise_if(&format!("{count} < 0"), ExcKind::ValueError, inst)?;
                format!("(({a}) >> min((long)({count}), 63L))")
            }
            IntNeg | IntAbs => {
                let a = self.int(inst, 0)?;
                if !inst.no_overflow {
                    self.leave_if(&format!("{a} == {}", int(i64::MIN)));
                }
                if op == IntNeg { format!("(long)(0UL - (ulong)({a}))") } else { format!("(long)abs({a})") }
            }
            IntInvert => format!("~({})", self.int(inst, 0)?),
            IntCmp(cmp) => self.compare(cmp, inst)?,
            IntTruth => format!("(int)(({}) != 0)", self.int(inst, 0)?),
            BoolToInt => self.int(inst, 0)?,
            BoolAnd => format!("({}) & ({})", self.one(inst, 0)?, self.one(inst, 1)?),
            BoolOr => format!("({}) | ({})", self.one(inst, 0)?, self.one(inst, 1)?),
            BoolXor => format!("({}) ^ ({})", self.one(inst, 0)?, self.one(inst, 1)?),
            BoolNot => format!("({}) ^ 1", self.one(inst, 0)?),
            IntToFloat => self.float(inst, 0)?,
            IntTrueDiv => {
                let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
                if self.known_int(inst, 1).is_none_or(|divisor| divisor == 0) {
                    self.raise_if(&format!("{b} == 0"), ExcKind::ZeroDivisionError, inst)?;
                }
                self.leave_if(&format!("!is_exact({a}) || !is_exact({b})"));
                format!("(double)({a}) / (double)({b})")
            }
            FloatAdd => format!("({}) + ({})", self.float(inst, 0)?, self.float(inst, 1)?),
            FloatSub => format!("({}) - ({})", self.float(inst, 0)?, self.float(inst, 1)?),
            FloatMul => format!("({}) * ({})", self.float(inst, 0)?, self.float(inst, 1)?),
            FloatDiv => {
                let (a, b) = (self.float(inst, 0)?, self.float(inst, 1)?);
                self.raise_if(&format!("{b} == 0.0"), ExcKind::ZeroDivisionError, inst)?;
                format!("({a}) / ({b})")
            }
            FloatNeg => format!("-({})", self.float(inst, 0)?),
            FloatAbs => format!("fabs({})", self.float(inst, 0)?),
            FloatSqrt => {
                let a = self.float(inst, 0)?;
                self.raise_if(&format!("{a} < 0.0"), ExcKind::ValueError, inst)?;
                format!("sqrt({a})")
            }
            CoreOp::Ieee(op) => {
                let a = self.float(inst, 0)?;
                match op {
                    Ieee::Div => format!("({a}) / ({})", self.float(inst, 1)?),
                    Ieee::Sqrt => format!("sqrt({a})"),
                    Ieee::Floor => format!("floor({a})"),
                    Ieee::Ceil => format!("ceil({a})"),
                    Ieee::Trunc => format!("trunc({a})"),
                    Ieee::Nearest => format!("rint({a})"),
                }
            }
            FloatTruth => format!("(int)(({}) != 0.0)", self.float(inst, 0)?),
            FloatCmp(cmp) => {
                format!("(int)(({}) {} ({}))", self.float(inst, 0)?, operator(cmp), self.float(inst, 1)?)
            }
            Identity => match self.result_type(inst)? {
                Type::Int => self.int(inst, 0)?,
                Type::Float => self.float(inst, 0)?,
                _ => return self.slots(self.operand(inst, 0)?),
            },
            IntFits => self.int(inst, 0)?,
            ExcCode => return self.slots(self.operand(inst, 0)?),
            ExcMessage | Reject => {
                self.line(LEAVE);
                return match inst.result {
                    Some(result) => {
                        Ok(slots(self.function.ty(result))?.iter().map(|slot| slot.zero().into()).collect())
                    }
                    None => Ok(Vec::new()),
                };
            }
            CoreOp::ListLen
            | CoreOp::ListIs
            | CoreOp::ListIdentity
            | CoreOp::ListTruth
            | CoreOp::ListGet
            | CoreOp::ListGetUnchecked
            | CoreOp::ListSet
            | CoreOp::ListAppend
            | CoreOp::ListReserve
            | CoreOp::ListExtend
            | CoreOp::ListSlice
            | CoreOp::ListStride
            | CoreOp::ListPop => return self.list_op(op, inst),
            other => return Err(Unsupported::new(format!("the operation {other:?}"))),
        };
        Ok(vec![value])
    }

    fn compare(&mut self, cmp: Cmp, inst: &Inst) -> Result<String> {
        // Every int of 64 bits lies between the big ints of either sign.
        for (side, cmp) in [(1, cmp), (0, cmp.mirrored())] {
            if let Some(Object::Int(big @ Int::Big(_))) = self.known(inst, side) {
                let less = *big > Int::Small(0);
                let holds = match cmp {
                    Cmp::Eq => false,
                    Cmp::Ne => true,
                    Cmp::Lt | Cmp::Le => less,
                    Cmp::Gt | Cmp::Ge => !less,
                };
                return Ok(i32::from(holds).to_string());
            }
        }
        Ok(format!("(int)(({}) {} ({}))", self.int(inst, 0)?, operator(cmp), self.int(inst, 1)?))
    }
}
