//! Methods of int about its bits.

use super::{big, object};
use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::Object;
use num_bigint::BigInt;

fn big_bit_length(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    Ok(object(BigInt::from(big(&args[0])?.bits())))
}

fn big_bit_count(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    Ok(object(BigInt::from(big(&args[0])?.magnitude().count_ones())))
}

op! {
    /// The number of bits of the magnitude.
    ///
    /// >>> (-37).bit_length()
    /// 6
    int_bit_length = "int.bit_length" ".bit_length"
    Pure fn (cx, _x: int) -> int { i64::from(64 - _x.unsigned_abs().leading_zeros()) }
    big big_bit_length
}

op! {
    /// The number of ones in the binary text of the magnitude.
    ///
    /// >>> (13).bit_count()
    /// 3
    int_bit_count = "int.bit_count" ".bit_count"
    Pure fn (cx, _x: int) -> int { i64::from(_x.unsigned_abs().count_ones()) }
    big big_bit_count
}
