//! Comparisons of an int with a float, without rounding either.

use crate::adapt::take;
use crate::cx::{Cx, KernelResult};
use crate::op;
use exuvia_ir::{Int, Object};
use num_bigint::BigInt;
use num_traits::FromPrimitive;
use std::cmp::Ordering;

/// The order of an int and a float as mathematical numbers; `None` for NaN.
#[inline]
fn order(int: i64, float: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() {
        return None;
    }
    if float >= LIMIT {
        return Some(Ordering::Less);
    }
    if float < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = float as i64;
    // Where the whole parts are equal the fraction decides; a float with one is exact
    // when converted back.
    Some(int.cmp(&whole).then_with(|| (whole as f64).total_cmp(&(float + 0.0))))
}

fn big_order(int: &BigInt, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Infinities have no whole part.
    let Some(whole) = BigInt::from_f64(float.trunc()) else {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    };
    Some(int.cmp(&whole).then_with(|| 0f64.total_cmp(&(float - float.trunc() + 0.0))))
}

/// The order of the two operands of an object comparison, one of them a float.
fn object_order(args: &[Object]) -> KernelResult<Option<Ordering>> {
    match args {
        [Object::Int(Int::Big(int)), other] => Ok(big_order(int, take::float(other)?)),
        [other, Object::Int(Int::Big(int))] => Ok(big_order(int, take::float(other)?).map(Ordering::reverse)),
        _ => Err(exuvia_ir::Raise::Bailout("operands that are not an int and a float")),
    }
}

macro_rules! comparisons {
    ($($doc_left:literal $doc_right:literal $left:ident $right:ident $big:ident $left_name:literal
        $right_name:literal $spelling:literal $test:expr;)*) => {
        $(
            fn $big(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
                let test: fn(Option<Ordering>) -> bool = $test;
                object_order(args).map(|order| Object::Bool(test(order)))
            }
            op! {
                #[doc = $doc_left]
                ///
                /// The numbers are compared exactly.
                $left = $left_name $spelling
                Pure fn (cx, _a: int, _b: float) -> bool {
                    let test: fn(Option<Ordering>) -> bool = $test;
                    test(order(_a, _b))
                }
                big $big
            }
            op! {
                #[doc = $doc_right]
                ///
                /// The numbers are compared exactly.
                $right = $right_name $spelling
                Pure fn (cx, _a: float, _b: int) -> bool {
                    let test: fn(Option<Ordering>) -> bool = $test;
                    test(order(_b, _a).map(Ordering::reverse))
                }
                big $big
            }
        )*
    };
}

comparisons! {
    " >>> 2**53 + 1 == 2.0**53\n False\n" " >>> 1.0 == 1\n True\n"
    int_float_eq float_int_eq big_eq "int_float.eq" "float_int.eq" "a==b" |order| order == Some(Ordering::Equal);
    " >>> 2**53 + 1 != 2.0**53\n True\n" " >>> 1.0 != 1\n False\n"
    int_float_ne float_int_ne big_ne "int_float.ne" "float_int.ne" "a!=b" |order| order != Some(Ordering::Equal);
    " >>> 1 < 1.5\n True\n" " >>> 1.5 < 1\n False\n"
    int_float_lt float_int_lt big_lt "int_float.lt" "float_int.lt" "a<b" |order| order == Some(Ordering::Less);
    " >>> 2 <= 1.5\n False\n" " >>> 1.5 <= 2\n True\n"
    int_float_le float_int_le big_le "int_float.le" "float_int.le" "a<=b" |order| order.is_some_and(Ordering::is_le);
    " >>> 2 > 1.5\n True\n" " >>> 1.5 > 2\n False\n"
    int_float_gt float_int_gt big_gt "int_float.gt" "float_int.gt" "a>b" |order| order == Some(Ordering::Greater);
    " >>> 2 >= 2.5\n False\n" " >>> 2.5 >= 2\n True\n"
    int_float_ge float_int_ge big_ge "int_float.ge" "float_int.ge" "a>=b" |order| order.is_some_and(Ordering::is_ge);
}
