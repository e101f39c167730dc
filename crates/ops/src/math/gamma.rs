//! The gamma function and its logarithm, by Lanczos' approximation with the parameters
//! that CPython uses (g = 6.0246…, 13 terms; Modules/mathmodule.c): not the C library's.

use super::{domain_error, libm, range_error};
use crate::op;

const G: f64 = 6.024_680_040_776_729_583_740_234_375;
const G_MINUS_HALF: f64 = 5.524_680_040_776_729_583_740_234_375;

/// The numerator of the rational form of Lanczos' sum, by rising powers.
const NUMERATOR: [f64; 13] = [
    23_531_376_880.410_759_688_572_007_674_451_636_754_734_846_804_940,
    42_919_803_642.649_098_768_957_899_047_001_988_850_926_355_848_959,
    35_711_959_237.355_668_049_440_185_451_547_166_705_960_488_635_843,
    17_921_034_426.037_209_699_919_755_754_458_931_112_671_403_265_390,
    6_039_542_586.352_028_005_064_291_644_307_297_921_069_938_842_070_8,
    1_439_720_407.311_721_673_663_223_072_794_912_393_971_548_578_637_2,
    248_874_557.862_054_156_511_460_386_413_229_423_216_321_251_278_01,
    31_426_415.585_400_194_380_614_231_628_318_205_362_874_684_987_640,
    2_876_370.628_935_372_441_225_409_051_620_849_613_599_114_537_876_8,
    186_056.265_395_223_495_040_294_989_716_045_699_282_207_842_363_28,
    8_071.672_002_365_816_210_638_002_902_272_250_613_821_851_632_502_4,
    210.824_277_751_579_345_872_509_733_920_713_362_711_669_695_802_91,
    2.506_628_274_631_000_270_164_908_177_133_837_338_626_431_079_340_8,
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
            let log_pi = 1.144_729_885_849_400_174_143_427_351_353_058_711_647;
            result = log_pi - libm::log(sin_pi(magnitude).abs()) - libm::log(magnitude) - result;
        }
        if result.is_infinite() { Err(range_error(cx)) } else { Ok(result) }
    }
}
