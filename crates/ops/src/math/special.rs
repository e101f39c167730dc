//! Functions whose special cases CPython spells out itself.

use super::{domain_error, libm, range_error, strip};
use crate::op;
use exuvia_ir::ExcKind::ValueError;

op! {
    /// The power of two floats, as C has it; but where C gives NaN or infinity for
    /// finite operands it raises.
    ///
    /// >>> math.pow(2, 0.5)
    /// 1.4142135623730951
    pow = "math.pow" "math.pow"
    Pure fn (cx, _x: number, _y: number) -> float fallible [ValueError, OverflowError] {
        let result = libm::pow(_x, _y);
        if _x.is_finite() && _y.is_finite() {
            if result.is_nan() || (result.is_infinite() && _x == 0.0) {
                return Err(domain_error(cx));
            }
            if result.is_infinite() {
                return Err(range_error(cx));
            }
        }
        Ok(result)
    }
    strip strip::pow
}

op! {
    /// The remainder with the sign of the first number.
    ///
    /// >>> math.fmod(-7, 3)
    /// -1.0
    fmod = "math.fmod" "math.fmod"
    Pure fn (cx, _x: number, _y: number) -> float fallible [ValueError] {
        let result = libm::fmod(_x, _y);
        if result.is_nan() && !_x.is_nan() && !_y.is_nan() {
            return Err(domain_error(cx));
        }
        Ok(result)
    }
}

/// A sum of doubles that keeps what rounding lost, in three parts by magnitude.
struct Sum {
    high: f64,
    lost: [f64; 3],
}

impl Sum {
    /// Adds a number; `part` says where to keep what is lost.
    fn add(&mut self, x: f64, part: usize) {
        let before = self.high;
        self.high += x;
        self.lost[part] += (before - self.high) + x;
    }

    /// Adds, with a sign, the square of a number that is split in two halves, whose
    /// products are exact.
    fn add_square(&mut self, x: f64, sign: f64) {
        const SPLITTER: f64 = 134_217_729.0;
        let scaled = x * SPLITTER;
        let high = scaled - (scaled - x);
        let low = x - high;
        self.add(sign * high * high, 0);
        self.add(sign * 2.0 * high * low, 1);
        self.add(sign * low * low, 2);
    }

    fn total(&self) -> f64 {
        self.high - 1.0 + (self.lost[0] + self.lost[1] + self.lost[2])
    }
}

/// The length of a vector, computed with about twice the precision of a double and one correction of
/// the square root (Modules/mathmodule.c, vector_norm).
fn norm(parts: &[f64]) -> f64 {
    let max = parts.iter().fold(0.0, |max: f64, part| max.max(part.abs()));
    if parts.iter().any(|part| part.is_infinite()) {
        return f64::INFINITY;
    }
    if parts.iter().any(|part| part.is_nan()) {
        return f64::NAN;
    }
    if max == 0.0 || parts.len() < 2 {
        return max;
    }
    // The power of two that brings the greatest number below one and not below a half.
    let exponent = exponent(max);
    if exponent < -1023 {
        // The power is too large for a double: divide by the greatest number instead.
        let (mut high, mut lost) = (1.0, 0.0);
        for part in parts {
            let part = part.abs() / max;
            let (before, square) = (high, part * part);
            high += square;
            lost += (before - high) + square;
        }
        return max * (high - 1.0 + lost).sqrt();
    }
    let scale = libm::ldexp(1.0, -exponent);
    let mut sum = Sum { high: 1.0, lost: [0.0; 3] };
    for part in parts {
        sum.add_square(part.abs() * scale, 1.0);
    }
    let root = sum.total().sqrt();
    sum.add_square(root, -1.0);
    (root + sum.total() / (2.0 * root)) / scale
}

/// The exponent as C's `frexp` gives it, of a positive finite number.
fn exponent(x: f64) -> i32 {
    let biased = (x.to_bits() >> 52) as i32;
    if biased == 0 {
        // Subnormal: the position of the highest bit tells.
        return -1074 + 64 - x.to_bits().leading_zeros() as i32;
    }
    biased - 1022
}

op! {
    /// The length of the hypotenuse.
    ///
    /// >>> math.hypot(3, 4)
    /// 5.0
    hypot = "math.hypot" "math.hypot"
    Pure fn (cx, _x: number, _y: number) -> float { norm(&[_x, _y]) }
}

op! {
    /// The length of a vector.
    norm_of = "math.norm" ""
    Read fn (cx, _coordinates: floats) -> float { norm(_coordinates) }
}

op! {
    /// The exponent that `math.frexp` gives, of a finite number that is not zero.
    float_exponent = "float.exponent" ""
    Pure fn (cx, _x: float) -> int { i64::from(exponent(_x.abs())) }
}

op! {
    /// The float next to the first number on the way to the second.
    ///
    /// >>> math.nextafter(1.0, 2)
    /// 1.0000000000000002
    nextafter = "math.nextafter" "math.nextafter"
    Pure fn (cx, _x: number, _y: number) -> float {
        match _x.partial_cmp(&_y) {
            None => if _x.is_nan() { _x } else { _y },
            Some(std::cmp::Ordering::Equal) => _y,
            Some(std::cmp::Ordering::Less) => _x.next_up(),
            Some(std::cmp::Ordering::Greater) => _x.next_down(),
        }
    }
}

op! {
    /// How much the last bit of a float is worth.
    ///
    /// >>> math.ulp(1.0)
    /// 2.220446049250313e-16
    ulp = "math.ulp" "math.ulp"
    Pure fn (cx, _x: number) -> float {
        let x = _x.abs();
        if !x.is_finite() {
            return x;
        }
        if x.next_up().is_infinite() { x - x.next_down() } else { x.next_up() - x }
    }
}

op! {
    /// The number times a power of two.
    ///
    /// >>> math.ldexp(0.75, 4)
    /// 12.0
    ldexp = "math.ldexp" "math.ldexp"
    Pure fn (cx, _x: number, _i: index) -> float fallible [OverflowError] {
        if _x == 0.0 || !_x.is_finite() {
            return Ok(_x);
        }
        // Beyond these any float over- or underflows.
        let result = libm::ldexp(_x, _i.clamp(-5000, 5000) as i32);
        if result.is_infinite() { Err(range_error(cx)) } else { Ok(result) }
    }
}

op! {
    /// Whether two numbers are close to each other, relative to the greater or absolutely.
    ///
    /// >>> math.isclose(0.1 + 0.2, 0.3)
    /// True
    isclose = "math.isclose" "math.isclose"
    Pure fn (cx, a: number, b: number, rel_tol: keyword_number = Float(1e-9), abs_tol: keyword_number = Float(0.0)) -> bool
    fallible [ValueError] {
        if rel_tol < 0.0 || abs_tol < 0.0 {
            return Err(cx.raise(ValueError, || "tolerances must be non-negative".into()));
        }
        if a == b {
            return Ok(true);
        }
        if a.is_infinite() || b.is_infinite() {
            return Ok(false);
        }
        let difference = (b - a).abs();
        Ok(difference <= (rel_tol * b).abs() || difference <= (rel_tol * a).abs() || difference <= abs_tol)
    }
}
