//! Operations on floats that are not instructions of the core, and their text.

pub(crate) mod arith;
mod compare;
mod convert;
pub(crate) mod digits;
mod parse;
mod repr;
mod round;

pub(crate) use convert::{big_of_float, trunc};
pub(crate) use repr::Repr;
pub use repr::repr;

use crate::def::OpDef;

/// Every operation on floats outside the core and `math`.
pub static OPS: &[&OpDef] = &[
    &arith::float_floordiv::DEF,
    &arith::float_mod::DEF,
    &arith::float_pow::DEF,
    &arith::float_pow_call::DEF,
    &compare::int_float_eq::DEF,
    &compare::int_float_ne::DEF,
    &compare::int_float_lt::DEF,
    &compare::int_float_le::DEF,
    &compare::int_float_gt::DEF,
    &compare::int_float_ge::DEF,
    &compare::float_int_eq::DEF,
    &compare::float_int_ne::DEF,
    &compare::float_int_lt::DEF,
    &compare::float_int_le::DEF,
    &compare::float_int_gt::DEF,
    &compare::float_int_ge::DEF,
    &convert::float_int::DEF,
    &convert::float_floor::DEF,
    &convert::float_ceil::DEF,
    &convert::float_trunc::DEF,
    &convert::float_is_integer::DEF,
    &parse::float_of_str::DEF,
    &repr::float_str::DEF,
    &repr::float_repr::DEF,
    &round::float_round::DEF,
    &round::float_round_none::DEF,
    &round::float_round_digits::DEF,
];
