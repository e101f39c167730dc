//! Floats as whole numbers, without a call: `int(x)`, `math.floor(x)`, `round(x, 2)`, `x // 5`, `x % 5`.
//!
//! Each is what the kernel computes for floats of moderate size; the others, infinities, NaN and ties that a
//! product in doubles cannot tell go to the kernel.

use super::shortcut::Kernel;
use super::{Result, Translator};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value as Machine, types};
use exuvia_ir::{Inst, Object, Type};
use exuvia_ops::core::Ieee;

/// Whole floats below it are ints of 64 bits.
const BEYOND_INT: f64 = 9_223_372_036_854_775_808.0;

/// Floats below it that are whole have neighbours that are.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The largest divisor whose multiples below [`WHOLE`] are exact.
const MOST_DIVISOR: f64 = 2_147_483_648.0;

/// The powers of ten that are floats, and the products with them of which the fraction can be told.
const MOST_PLACES: i64 = 22;
const MOST_SCALED: f64 = 1e15;

/// How an operation makes an int of a float.
pub(super) fn to_int(operation: &str) -> Option<Ieee> {
    Some(match operation {
        "float.int" | "float.trunc" => Ieee::Trunc,
        "float.floor" => Ieee::Floor,
        "float.ceil" => Ieee::Ceil,
        "float.round" | "float.round_none" => Ieee::Nearest,
        _ => return None,
    })
}

impl Translator<'_, '_, '_> {
    pub(super) fn round_to_int(&mut self, kernel: Kernel, inst: &Inst, to: Ieee) -> Result<Vec<Machine>> {
        self.around(kernel, inst, &Type::Int, |this, inst, slow| {
            let x = this.float(inst, 0)?;
            let whole = match to {
                Ieee::Floor => this.b.ins().floor(x),
                Ieee::Ceil => this.b.ins().ceil(x),
                Ieee::Nearest => this.b.ins().nearest(x),
                _ => this.b.ins().trunc(x),
            };
            this.require_below(whole, BEYOND_INT, slow);
            Ok(vec![this.b.ins().fcvt_to_sint_sat(types::I64, whole)])
        })
    }

    /// Whether a float is whole: infinities and NaN have a difference that is NaN.
    pub(super) fn is_whole_float(&mut self, inst: &Inst) -> Result<Vec<Machine>> {
        let x = self.float(inst, 0)?;
        let whole = self.b.ins().trunc(x);
        let fraction = self.b.ins().fsub(x, whole);
        let zero = self.b.ins().f64const(0.0);
        Ok(vec![self.b.ins().fcmp(FloatCC::Equal, fraction, zero)])
    }

    /// `round(x, places)` for a constant number of places.
    pub(super) fn round_to_places(&mut self, kernel: Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        let places = self.known_int(inst, 1).filter(|places| (0..=MOST_PLACES).contains(places));
        let Some(places) = places else { return self.one_character(kernel, inst) };
        // Such a power is exact.
        let power = (0..places).fold(1.0, |power, _| power * 10.0);
        self.around(kernel, inst, &Type::Float, |this, inst, slow| {
            let x = this.float(inst, 0)?;
            let power = this.b.ins().f64const(power);
            let magnitude = this.b.ins().fabs(x);
            let product = this.b.ins().fmul(magnitude, power);
            this.require_below(product, MOST_SCALED, slow);
            let floor = this.b.ins().floor(product);
            let fraction = this.b.ins().fsub(product, floor);
            let half = this.b.ins().f64const(0.5);
            let distance = this.b.ins().fsub(fraction, half);
            // The product is off by half a unit in its last place.
            let epsilon = this.b.ins().f64const(f64::EPSILON);
            let error = this.b.ins().fmul(product, epsilon);
            let far = this.b.ins().fabs(distance);
            let sure = this.b.ins().fcmp(FloatCC::GreaterThan, far, error);
            this.require(sure, slow);
            // One more where the distance is not negative.
            let more = this.if_negative(distance, 0.0, 1.0);
            let scaled = this.b.ins().fadd(floor, more);
            let rounded = this.b.ins().fdiv(scaled, power);
            Ok(vec![this.b.ins().fcopysign(rounded, x)])
        })
    }

    /// `x // divisor` or `x % divisor` for a positive, whole, constant divisor.
    ///
    /// A quotient that is rounded is never below the whole number that the true one reaches; where it is above it,
    /// the rest has the other sign. Else the rest is C's `fmod`, which is a float, and so the difference is exact.
    pub(super) fn divide_whole(&mut self, kernel: Kernel, inst: &Inst, is_rest: bool) -> Result<Vec<Machine>> {
        let divisor = match self.known(inst, 1) {
            Some(Object::Float(divisor)) => *divisor,
            Some(Object::Int(divisor)) => divisor.to_i64().map_or(f64::NAN, |divisor| divisor as f64),
            _ => f64::NAN,
        };
        if !(1.0..=MOST_DIVISOR).contains(&divisor) || divisor.fract() != 0.0 {
            return self.one_character(kernel, inst);
        }
        self.around(kernel, inst, &Type::Float, |this, inst, slow| {
            let x = this.float(inst, 0)?;
            this.require_below(x, WHOLE, slow);
            let by = this.b.ins().f64const(divisor);
            let quotient = this.b.ins().fdiv(x, by);
            let quotient = this.b.ins().trunc(quotient);
            let multiple = this.b.ins().fmul(quotient, by);
            let rest = this.b.ins().fsub(x, multiple);
            let [of_rest, of_x] = [rest, x].map(|float| this.b.ins().bitcast(types::I64, MemFlagsData::new(), float));
            let signs = this.b.ins().bxor(of_rest, of_x);
            // A rest of nothing is 0.0, whatever the sign of `x`.
            let alike = this.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, signs, 0);
            let nothing = this.b.ins().icmp_imm_s(IntCC::Equal, of_rest, 0);
            let sure = this.b.ins().bor(alike, nothing);
            this.require(sure, slow);
            Ok(vec![if is_rest {
                let more = this.if_negative(rest, divisor, 0.0);
                this.b.ins().fadd(rest, more)
            } else {
                let less = this.if_negative(rest, 1.0, 0.0);
                this.b.ins().fsub(quotient, less)
            }])
        })
    }

    /// Goes on if the magnitude of a float is below a limit.
    fn require_below(&mut self, x: Machine, limit: f64, slow: Block) {
        let magnitude = self.b.ins().fabs(x);
        let limit = self.b.ins().f64const(limit);
        let below = self.b.ins().fcmp(FloatCC::LessThan, magnitude, limit);
        self.require(below, slow);
    }

    /// One of two constants, by the sign of a float.
    fn if_negative(&mut self, x: Machine, yes: f64, no: f64) -> Machine {
        let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), x);
        let sign = self.b.ins().sshr_imm_u(bits, 63);
        let differ = self.word((yes.to_bits() ^ no.to_bits()) as i64);
        let differ = self.b.ins().band(sign, differ);
        let base = self.word(no.to_bits() as i64);
        let bits = self.b.ins().bxor(base, differ);
        self.b.ins().bitcast(types::F64, MemFlagsData::new(), bits)
    }
}
