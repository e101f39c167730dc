//! The gamma function and its logarithm, by Lanczos' approximation with the parameters
//! that CPython uses (g = 6.0246…, 13 terms; Modules/mathmodule.c): not the C library's.

use super::{domain_error, libm, range_error};
use crate::op;

const G: f64 = 6.024_680_040_776_73;
const G_MINUS_HALF: f64 = 5.524_680_040_776_73;

/// The numerator of the rational form of Lanczos' sum, by rising powers.
const NUMERATOR: [f64; 13] = [
    23_531_376_880.410_76,
    42_919_803_642.649_1,
    35_711_959_237.355_67,
    17_921_034_426.037_21,
    6_039_542_586.352_028,
    1_439_720_407.311_721_6,
    248_874_557.862_054_17,
    31_426_415.585_400_194,
    2_876_370.628_935_372_5,
    186_056.265_395_223_48,
    8_071.672_002_365_816,
    210.824_277_751_579_36,
    2.506_628_274_631_000_2,
];

/// The denominator: x (x + 1) … (x + 11), by rising powers.
const DENOMINATOR: [f64; 13] = [
    0.0,
    39_916_800.0,
    120_543_840.0,
    150_917_976.0,
    105_258_076.0,
    45_995_730.0,
    13_339_535.0,
    2_637_558.0,
    357_423.0,
    32_670.0,
    1_925.0,
    66.0,
    1.0,
];

/// Lanczos' sum at a positive number. Large numbers are evaluated in their reciprocal,
/// which does not overflow.
fn lanczos(x: f64) -> f64 {
    let (mut numerator, mut denominator) = (0.0, 0.0);
    if x < 5.0 {
        for at in (0..13).rev() {
            numerator = numerator * x + NUMERATOR[at];
            denominator = denominator * x + DENOMINATOR[at];
        }
    } else {
        for at in 0..13 {
            numerator = numerator / x + NUMERATOR[at];
            denominator = denominator / x + DENOMINATOR[at];
        }
    }
    numerator / denominator
}

/// sin(pi x), exact at multiples of a half.
fn sin_pi(x: f64) -> f64 {
    const PI: f64 = std::f64::consts::PI;
    let y = libm::fmod(x.abs(), 2.0);
    let sine = match (2.0 * y).round() as i32 {
        0 => libm::sin(PI * y),
        1 => libm::cos(PI * (y - 0.5)),
        2 => libm::sin(PI * (1.0 - y)),
        3 => -libm::cos(PI * (y - 1.5)),
        _ => libm::sin(PI * (y - 2.0)),
    };
    1f64.copysign(x) * sine
}

/// The gamma function of whole numbers up to 23, which are exact.
fn factorial(below: f64) -> f64 {
    (1..below as u64).fold(1.0, |product, factor| product * factor as f64)
}

op! {
    /// The gamma function.
    ///
    /// >>> math.gamma(5)
    /// 24.0
    gamma = "math.gamma" "math.gamma"
    Pure fn (cx, _x: number) -> float fallible [ValueError, OverflowError] {
        let x = _x;
        if x.is_nan() || x == f64::INFINITY {
            return Ok(x);
        }
        if x == f64::NEG_INFINITY || x == 0.0 {
            return Err(domain_error(cx));
        }
        if x == x.floor() {
            if x < 0.0 {
                return Err(domain_error(cx));
            }
            if x <= 23.0 {
                return Ok(factorial(x));
            }
        }
        let magnitude = x.abs();
        if magnitude < 1e-20 {
            let result = 1.0 / x;
            return if result.is_infinite() { Err(range_error(cx)) } else { Ok(result) };
        }
        // Beyond these the result is infinite, or zero with the sign of the sine.
        if magnitude > 200.0 {
            return if x < 0.0 { Ok(0.0 / sin_pi(x)) } else { Err(range_error(cx)) };
        }
        let y = magnitude + G_MINUS_HALF;
        // What rounding took from y, to correct the power by.
        let z = if magnitude > G_MINUS_HALF { (y - magnitude) - G_MINUS_HALF } else { (y - G_MINUS_HALF) - magnitude };
        let z = z * G / y;
        let result = if x < 0.0 {
            let base = -std::f64::consts::PI / sin_pi(magnitude) / magnitude * libm::exp(y) / lanczos(magnitude);
            let base = base - z * base;
            if magnitude < 140.0 {
                base / libm::pow(y, magnitude - 0.5)
            } else {
                let root = libm::pow(y, magnitude / 2.0 - 0.25);
                base / root / root
            }
        } else {
            let base = lanczos(magnitude) / libm::exp(y);
            let base = base + z * base;
            if magnitude < 140.0 {
                base * libm::pow(y, magnitude - 0.5)
            } else {
                let root = libm::pow(y, magnitude / 2.0 - 0.25);
                base * root * root
            }
        };
        if result.is_infinite() { Err(range_error(cx)) } else { Ok(result) }
    }
}

op! {
    /// The natural logarithm of the magnitude of the gamma function.
    ///
    /// >>> math.lgamma(0.5)
    /// 0.5723649429247004
    lgamma = "math.lgamma" "math.lgamma"
    Pure fn (cx, _x: number) -> float fallible [ValueError, OverflowError] {
        let x = _x;
        if x.is_nan() {
            return Ok(x);
        }
        if x.is_infinite() {
            return Ok(f64::INFINITY);
        }
        if x == x.floor() && x <= 2.0 {
            return if x <= 0.0 { Err(domain_error(cx)) } else { Ok(0.0) };
        }
        let magnitude = x.abs();
        if magnitude < 1e-20 {
            return Ok(-libm::log(magnitude));
        }
        let mut result = libm::log(lanczos(magnitude)) - G;
        result += (magnitude - 0.5) * (libm::log(magnitude + G - 0.5) - 1.0);
        if x < 0.0 {
            let log_pi = 1.144_729_885_849_400_2;
            result = log_pi - libm::log(sin_pi(magnitude).abs()) - libm::log(magnitude) - result;
        }
        if result.is_infinite() { Err(range_error(cx)) } else { Ok(result) }
    }
}
