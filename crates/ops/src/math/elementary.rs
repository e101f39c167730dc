//! Functions whose exceptions follow from the result alone.

use super::{checked, domain_error, libm, range_error, strip};
use crate::op;

macro_rules! one_argument {
    ($($doc:literal $id:ident $name:literal $overflows:literal;)*) => {
        $(op! {
            #[doc = $doc]
            $id = $name $name
            Pure fn (cx, _x: number) -> float fallible [ValueError, OverflowError] {
                checked(cx, _x, libm::$id(_x), $overflows)
            }
            strip strip::$id
        })*
    };
}

// CPython has no exceptions for these but for those of the conversion to float.
one_argument! {
    " The sine of an angle in radians.\n\n >>> math.sin(1.0)\n 0.8414709848078965" sin "math.sin" false;
    " The cosine of an angle in radians.\n\n >>> math.cos(1.0)\n 0.5403023058681398" cos "math.cos" false;
    " The tangent of an angle in radians.\n\n >>> math.tan(1.0)\n 1.5574077246549023" tan "math.tan" false;
    " The arc sine.\n\n >>> math.asin(1.0)\n 1.5707963267948966" asin "math.asin" false;
    " The arc cosine.\n\n >>> math.acos(1.0)\n 0.0" acos "math.acos" false;
    " The arc tangent.\n\n >>> math.atan(1.0)\n 0.7853981633974483" atan "math.atan" false;
    " The hyperbolic sine.\n\n >>> math.sinh(1.0)\n 1.1752011936438014" sinh "math.sinh" true;
    " The hyperbolic cosine.\n\n >>> math.cosh(0.0)\n 1.0" cosh "math.cosh" true;
    " The hyperbolic tangent.\n\n >>> math.tanh(1.0)\n 0.7615941559557649" tanh "math.tanh" false;
    " The inverse hyperbolic sine.\n\n >>> math.asinh(1.0)\n 0.881373587019543" asinh "math.asinh" false;
    " The inverse hyperbolic cosine.\n\n >>> math.acosh(1.0)\n 0.0" acosh "math.acosh" false;
    " The inverse hyperbolic tangent.\n\n >>> math.atanh(0.5)\n 0.5493061443340548" atanh "math.atanh" false;
    " e to a power.\n\n >>> math.exp(1)\n 2.718281828459045" exp "math.exp" true;
    " Two to a power.\n\n >>> math.exp2(0.5)\n 1.4142135623730951" exp2 "math.exp2" true;
    " e to a power, minus one.\n\n >>> math.expm1(1e-5)\n 1.0000050000166668e-05" expm1 "math.expm1" true;
    " The cube root.\n\n >>> math.cbrt(27)\n 3.0000000000000004" cbrt "math.cbrt" false;
    " The error function.\n\n >>> math.erf(0.5)\n 0.5204998778130465" erf "math.erf" true;
    " One minus the error function.\n\n >>> math.erfc(0.5)\n 0.4795001221869535" erfc "math.erfc" true;
}

op! {
    /// The angle in radians of a point, `y` first.
    ///
    /// >>> math.atan2(1, -1)
    /// 2.356194490192345
    atan2 = "math.atan2" "math.atan2"
    Pure fn (cx, _y: number, _x: number) -> float { libm::atan2(_y, _x) }
    strip strip::atan2
}

op! {
    /// The difference to the nearest multiple of the divisor (IEEE 754).
    ///
    /// >>> math.remainder(7, 4)
    /// -1.0
    remainder = "math.remainder" "math.remainder"
    Pure fn (cx, _x: number, _y: number) -> float fallible [ValueError, OverflowError] {
        let result = libm::remainder(_x, _y);
        if result.is_nan() && !_x.is_nan() && !_y.is_nan() {
            return Err(domain_error(cx));
        }
        if result.is_infinite() && _x.is_finite() && _y.is_finite() {
            return Err(range_error(cx));
        }
        Ok(result)
    }
}

op! {
    /// The magnitude of the first number with the sign of the second.
    ///
    /// >>> math.copysign(1.5, -0.0)
    /// -1.5
    copysign = "math.copysign" "math.copysign"
    Pure fn (cx, _x: number, _y: number) -> float { _x.copysign(_y) }
}

op! {
    /// The absolute value as a float.
    ///
    /// >>> math.fabs(-3)
    /// 3.0
    fabs = "math.fabs" "math.fabs"
    Pure fn (cx, _x: number) -> float { _x.abs() }
}

op! {
    /// Radians to degrees.
    ///
    /// >>> math.degrees(math.pi)
    /// 180.0
    degrees = "math.degrees" "math.degrees"
    Pure fn (cx, _x: number) -> float { _x * (180.0 / std::f64::consts::PI) }
}

op! {
    /// Degrees to radians.
    ///
    /// >>> math.radians(180)
    /// 3.141592653589793
    radians = "math.radians" "math.radians"
    Pure fn (cx, _x: number) -> float { _x * (std::f64::consts::PI / 180.0) }
}

op! {
    /// Whether the number is NaN.
    ///
    /// >>> math.isnan(0.0)
    /// False
    isnan = "math.isnan" "math.isnan"
    Pure fn (cx, _x: number) -> bool { _x.is_nan() }
}

op! {
    /// Whether the number is infinite.
    ///
    /// >>> math.isinf(1e308 * 10)
    /// True
    isinf = "math.isinf" "math.isinf"
    Pure fn (cx, _x: number) -> bool { _x.is_infinite() }
}

op! {
    /// Whether the number is neither infinite nor NaN.
    ///
    /// >>> math.isfinite(1.5)
    /// True
    isfinite = "math.isfinite" "math.isfinite"
    Pure fn (cx, _x: number) -> bool { _x.is_finite() }
}
