//! Powers of floats with a small constant exponent, without C's `pow`.
//!
//! CPython's `x ** 2` is C's `pow`, which is not the product: it rounds an approximation. But
//! its error is known (glibc's e_pow.c: 0.511 of the last place from `exp`, where 0.5 is rounding
//! alone, and 1.5 / 2^68 of the power's logarithm), so that it gives the float next to the true
//! power unless that lies almost in the middle between two. How near the middle it lies is what a
//! fused multiplication tells: where the remainder is less than [`SURE`] of the last place, the
//! product is what `pow` gives, and else `pow` is called.

use super::shortcut::Kernel;
use super::{Result, Translator};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value as Machine, types};
use exuvia_ir::{Inst, Object, Type};

/// The remainder, in units of the last place, up to which `pow` can only round one way: of powers
/// between 2^-256 and 2^256 its error is below 0.511 + 256 ln 2 · 1.5 / 2^15 = 0.5192.
const SURE: f64 = 0.48;

/// Exponents of operands whose powers, up to the fourth, are such.
const LEAST_EXPONENT: i64 = 1023 - 64;
const EXPONENTS: i64 = 128;

impl Translator<'_, '_, '_> {
    /// The power by products if the exponent is a constant for which that is known, else by its
    /// kernel.
    pub(super) fn power(&mut self, kernel: Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        let Some(exponent) = short_exponent(self.known(inst, 1)) else { return self.one_character(kernel, inst) };
        self.around(kernel, inst, &Type::Float, |this, inst, slow| {
            let x = this.float(inst, 0)?;
            this.require_moderate(x, exponent != 0.5, slow);
            let (power, rest) = if exponent == 0.5 { this.root(x) } else { this.product(x, exponent) };
            this.require_sure(power, rest, slow);
            Ok(vec![power])
        })
    }

    /// Goes on if `x` is neither small nor large, nor negative if that is not `allowed`.
    fn require_moderate(&mut self, x: Machine, allowed: bool, slow: Block) {
        let x = if allowed { self.b.ins().fabs(x) } else { x };
        let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), x);
        let exponent = self.b.ins().ushr_imm_u(bits, 52);
        let above = self.b.ins().iadd_imm_s(exponent, -LEAST_EXPONENT);
        let moderate = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, above, EXPONENTS);
        self.require(moderate, slow);
    }

    /// Goes on if `rest`, which `power` lacks, is so small that rounding is certain.
    fn require_sure(&mut self, power: Machine, rest: Machine, slow: Block) {
        let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), power);
        let binade = self.b.ins().band_imm_s(bits, 0x7FF0_0000_0000_0000);
        let binade = self.b.ins().bitcast(types::F64, MemFlagsData::new(), binade);
        let share = self.b.ins().f64const(SURE * f64::EPSILON);
        let most = self.b.ins().fmul(binade, share);
        let rest = self.b.ins().fabs(rest);
        let sure = self.b.ins().fcmp(FloatCC::LessThan, rest, most);
        self.require(sure, slow);
    }

    /// The root, and what it lacks of the true one.
    fn root(&mut self, x: Machine) -> (Machine, Machine) {
        let root = self.b.ins().sqrt(x);
        let negated = self.b.ins().fneg(root);
        // The remainder of the square is a float; that of the root is its half over the root.
        let rest = self.b.ins().fma(negated, root, x);
        let twice = self.b.ins().fadd(root, root);
        (root, self.b.ins().fdiv(rest, twice))
    }

    /// The power with exponent 2, 3 or 4, and what it lacks of the true one.
    fn product(&mut self, x: Machine, exponent: f64) -> (Machine, Machine) {
        let (square, rest) = self.exact_product(x, x);
        if exponent == 2.0 {
            return (square, rest);
        }
        let (high, low) = if exponent == 3.0 {
            let (high, low) = self.exact_product(square, x);
            (high, self.b.ins().fma(rest, x, low))
        } else {
            let (high, low) = self.exact_product(square, square);
            let twice = self.b.ins().fadd(square, square);
            (high, self.b.ins().fma(rest, twice, low))
        };
        let power = self.b.ins().fadd(high, low);
        let over = self.b.ins().fsub(high, power);
        (power, self.b.ins().fadd(over, low))
    }

    /// A product as its nearest float and the rest, exactly.
    fn exact_product(&mut self, a: Machine, b: Machine) -> (Machine, Machine) {
        let product = self.b.ins().fmul(a, b);
        let negated = self.b.ins().fneg(product);
        (product, self.b.ins().fma(a, b, negated))
    }
}

/// Whether an operation is a power that [`Translator::power`] computes without a call.
pub(crate) fn has_short_power(name: &str, exponent: Option<&Object>) -> bool {
    matches!(name, "float.pow" | "float.pow_call") && short_exponent(exponent).is_some()
}

/// The exponent, if powers with it are products or a root.
fn short_exponent(known: Option<&Object>) -> Option<f64> {
    let exponent = match known? {
        Object::Float(value) => *value,
        Object::Int(value) => value.to_i64()? as f64,
        _ => return None,
    };
    (has_fma() && [0.5, 2.0, 3.0, 4.0].contains(&exponent)).then_some(exponent)
}

/// Whether the machine multiplies and adds with one rounding.
fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}
