//! Operations on ints that are not instructions of the core.
//!
//! Kernels compute with 64 bits and bail out where a result leaves them; beside each
//! stands what the evaluator does with integers of any size.

mod bits;
mod parse;
mod power;
mod round;
mod text;

pub(crate) use parse::{to_ascii, trim};
pub(crate) use text::{Digits, decimal_text};

use crate::cx::KernelResult;
use crate::def::OpDef;
use exuvia_ir::{Int, Object, Raise};
use num_bigint::BigInt;

/// Every operation on ints outside the core.
pub static OPS: &[&OpDef] = &[
    &parse::int_of_str::DEF,
    &parse::int_of_str_mod::DEF,
    &parse::int_of_str_base::DEF,
    &text::int_str::DEF,
    &text::int_repr::DEF,
    &text::int_bin::DEF,
    &text::int_oct::DEF,
    &text::int_hex::DEF,
    &power::int_pow::DEF,
    &power::int_pow_call::DEF,
    &power::int_pow_mod::DEF,
    &round::int_round_digits::DEF,
    &bits::int_bit_length::DEF,
    &bits::int_bit_count::DEF,
];

/// Results of more bits than this leave the evaluator: CPython decides, whose memory
/// limit is the one that counts.
pub(crate) const MAX_BITS: u64 = 1 << 20;

/// The integer that an object is; a bool counts as one.
pub(crate) fn big(object: &Object) -> KernelResult<BigInt> {
    match object {
        Object::Int(value) => Ok(value.to_big()),
        Object::Bool(value) => Ok(BigInt::from(u8::from(*value))),
        _ => Err(Raise::Bailout("an operand is not an int")),
    }
}

/// The object of an integer of any size.
pub(crate) fn object(value: BigInt) -> Object {
    Object::Int(Int::from_big(value))
}
