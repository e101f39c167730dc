//! Operations whose bodies are kernels: the functions of `device.cl` that stand for them.

use super::{Printer, Result};
use crate::Unsupported;
use crate::slots::Slot;
use exuvia_ir::Inst;
use exuvia_ops::def::OpDef;

impl Printer<'_, '_> {
    /// An operation whose body is a kernel, by the function of `device.cl` that has its name.
    pub(super) fn kernel(&mut self, def: &'static OpDef, inst: &Inst) -> Result<Vec<String>> {
        let Some(row) = KERNELS.iter().find(|row| row.name == def.name) else {
            return Err(Unsupported::new(format!("{} has no form on a device", shown(def))));
        };
        let of_the_library = OF_THE_LIBRARY.contains(&row.function);
        if of_the_library && !HAS_GLIBC {
            return Err(Unsupported::new(format!("{} of another C library than glibc", shown(def))));
        }
        let mut args = Vec::new();
        for (at, kind) in row.takes.iter().enumerate() {
            args.push(match kind {
                Slot::Float => self.float(inst, at)?,
                _ => self.int(inst, at)?,
            });
        }
        if inst.args.len() != args.len() {
            return Err(Unsupported::new(format!("{} with {} operands", shown(def), inst.args.len())));
        }
        if of_the_library {
            self.leave_if(&format!("item->fuel < {ELEMENTARY}"));
            self.line(&format!("item->fuel -= {ELEMENTARY};"));
        }
        let result = self.temporary(row.gives, row.gives.zero());
        args.push(format!("&{result}"));
        let status = format!("{}({})", row.function, args.join(", "));
        // What raises leaves too: the host has the exception, whether somebody catches it or not.
        self.leave_if(&format!("{status} != 0"));
        Ok(vec![result])
    }
}

/// How an operation is spelled, for people.
fn shown(def: &OpDef) -> String {
    if def.spelling.is_empty() { def.name.to_string() } else { def.spelling.to_string() }
}

/// Whether the C library is the one whose errors `device.cl` knows.
const HAS_GLIBC: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// The functions that give what the C library gives.
const OF_THE_LIBRARY: &[&str] =
    &["float_pow", "math_acos", "math_asin", "math_atan", "math_atan2", "math_cos", "math_exp", "math_log", "math_sin"];

/// The rounds of a loop that one of them takes as long as.
const ELEMENTARY: u32 = 64;

/// A kernel's function in `device.cl`.
struct KernelRow {
    name: &'static str,
    function: &'static str,
    takes: &'static [Slot],
    gives: Slot,
}

macro_rules! kernels {
    ($($name:literal $function:literal ($($take:ident),*) -> $give:ident;)*) => {
        &[$(KernelRow {
            name: $name, function: $function, takes: &[$(Slot::$take),*], gives: Slot::$give
        }),*]
    };
}

/// The operations that a device has beside the core.
const KERNELS: &[KernelRow] = kernels! {
    "float.floordiv" "float_floordiv" (Float, Float) -> Float;
    "float.mod" "float_mod" (Float, Float) -> Float;
    "ufunc.floor_divide" "ufunc_floor_divide" (Float, Float) -> Float;
    "ufunc.remainder" "ufunc_remainder" (Float, Float) -> Float;
    "ufunc.fmod" "ufunc_fmod" (Float, Float) -> Float;
    "math.fmod" "math_fmod" (Float, Float) -> Float;
    "float.int" "float_trunc" (Float) -> Int;
    "float.trunc" "float_trunc" (Float) -> Int;
    "float.floor" "float_floor" (Float) -> Int;
    "float.ceil" "float_ceil" (Float) -> Int;
    "float.round" "float_round" (Float) -> Int;
    "float.is_integer" "float_is_integer" (Float) -> Bool;
    "math.fabs" "math_fabs" (Float) -> Float;
    "math.copysign" "math_copysign" (Float, Float) -> Float;
    "math.degrees" "math_degrees" (Float) -> Float;
    "math.radians" "math_radians" (Float) -> Float;
    "math.isnan" "math_isnan" (Float) -> Bool;
    "math.isinf" "math_isinf" (Float) -> Bool;
    "math.isfinite" "math_isfinite" (Float) -> Bool;
    "float.pow" "float_pow" (Float, Float) -> Float;
    "float.pow_call" "float_pow" (Float, Float) -> Float;
    "math.pow" "float_pow" (Float, Float) -> Float;
    "ufunc.power" "float_pow" (Float, Float) -> Float;
    "int.pow" "int_pow" (Int, Int) -> Int;
    "int.bit_length" "int_bit_length" (Int) -> Int;
    "math.exp" "math_exp" (Float) -> Float;
    "ufunc.exp" "math_exp" (Float) -> Float;
    "math.log" "math_log" (Float) -> Float;
    "ufunc.log" "math_log" (Float) -> Float;
    "math.sin" "math_sin" (Float) -> Float;
    "ufunc.sin" "math_sin" (Float) -> Float;
    "math.cos" "math_cos" (Float) -> Float;
    "ufunc.cos" "math_cos" (Float) -> Float;
    "math.asin" "math_asin" (Float) -> Float;
    "ufunc.arcsin" "math_asin" (Float) -> Float;
    "math.acos" "math_acos" (Float) -> Float;
    "ufunc.arccos" "math_acos" (Float) -> Float;
    "math.atan" "math_atan" (Float) -> Float;
    "ufunc.arctan" "math_atan" (Float) -> Float;
    "math.atan2" "math_atan2" (Float, Float) -> Float;
    "ufunc.arctan2" "math_atan2" (Float, Float) -> Float;
    "int_float.eq" "int_float_eq" (Int, Float) -> Bool;
    "float_int.eq" "float_int_eq" (Float, Int) -> Bool;
    "int_float.ne" "int_float_ne" (Int, Float) -> Bool;
    "float_int.ne" "float_int_ne" (Float, Int) -> Bool;
    "int_float.lt" "int_float_lt" (Int, Float) -> Bool;
    "float_int.lt" "float_int_lt" (Float, Int) -> Bool;
    "int_float.le" "int_float_le" (Int, Float) -> Bool;
    "float_int.le" "float_int_le" (Float, Int) -> Bool;
    "int_float.gt" "int_float_gt" (Int, Float) -> Bool;
    "float_int.gt" "float_int_gt" (Float, Int) -> Bool;
    "int_float.ge" "int_float_ge" (Int, Float) -> Bool;
    "float_int.ge" "float_int_ge" (Float, Int) -> Bool;
};
