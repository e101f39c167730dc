//! `exp`, `log`, `sin` and `cos` of several floats by one instruction, with the C library's bits.
//!
//! glibc's functions do not round correctly, and by which steps they come to their results is their own. But how
//! far these may lie from the true value is known: 0.511 units in the last place for `exp`, 0.519 for `log`
//! (sysdeps/ieee754/dbl-64/e_exp.c, e_log.c), 0.548 for `sin` below 0.8555 and 0.518 elsewhere (s_sin.c). So where
//! the true value does not lie almost in the middle between two floats, they give the one next to it. The functions
//! here compute the value as a float and what that lacks, together to some hundredths of a unit; where the rest is
//! smaller than half a unit by more than that bound, the float is glibc's result, and else (for 3 to 12 of 100
//! floats) and outside of the usual range they give NaN, and the C library is asked.
//!
//! No function has a branch, so that the compiler computes four floats at once where the processor has AVX2.

use super::libm;
use std::f64::consts::{FRAC_2_PI, LN_2};
use std::sync::OnceLock;

/// A function of several floats.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    Exp,
    Log,
    Sin,
    Cos,
}

/// That the machine computes several floats at once, and has the C library whose bounds are known.
pub(super) struct Lanes(());

/// The first version of glibc that has functions of those bounds.
const BOUNDS_KNOWN: (u32, u32) = (2, 28);

impl Lanes {
    /// What this machine has.
    pub fn get() -> Option<Lanes> {
        #[cfg(target_arch = "x86_64")]
        let lanes = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let lanes = false;
        (lanes && libm::glibc().is_some_and(|version| version >= BOUNDS_KNOWN)).then_some(Lanes(()))
    }

    /// The function of each float, or NaN where it is not known.
    pub fn run(&self, function: Function, x: &[f64], out: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has what the function is compiled for, or there were no `Lanes`.
        unsafe {
            avx2(function, Tables::get(), x, out);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(function: Function, tables: &Tables, x: &[f64], out: &mut [f64]) {
    let both = out.iter_mut().zip(x);
    match function {
        Function::Exp => both.for_each(|(out, x)| *out = exp(tables, *x)),
        Function::Log => both.for_each(|(out, x)| *out = log(tables, *x)),
        Function::Sin => both.for_each(|(out, x)| *out = sine(*x, 0)),
        Function::Cos => both.for_each(|(out, x)| *out = sine(*x, 1)),
    }
}

/// Half a unit in the last place less the bound of the C library's error and of the error here.
const SURE_EXP: f64 = 0.48;
const SURE_LOG: f64 = 0.47;
const SURE_SIN: f64 = 0.47;
const SURE_SMALL_SIN: f64 = 0.44;

/// The float if it lies next to the value of which it lacks `low`, by more than the bound.
#[inline(always)]
fn certain(high: f64, low: f64, sure: f64) -> f64 {
    let binade = f64::from_bits(high.to_bits() & 0x7ff0_0000_0000_0000);
    // Below a power of two floats lie closer.
    let share = if high.abs() == binade { sure * (f64::EPSILON / 2.0) } else { sure * f64::EPSILON };
    if low.abs() < binade * share { high } else { f64::NAN }
}

/// Added to a float below 2^51 and taken away, it leaves the whole number next to it, which its last bits hold.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

/// The natural logarithm of two: a multiple of 2^-42, so that products with whole numbers of 11 bits are exact, and
/// the rest.
const LN2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN2_LOW: f64 = 5.497_923_018_708_371e-14;

/// Half of pi.
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

/// Up to which magnitude an angle less the next multiple of half of pi is known well enough, and from which
/// distance to it.
const MOST_ANGLE: f64 = (1u64 << 20) as f64;
const LEAST_REST: f64 = f64::EPSILON * (1u64 << 32) as f64;

/// e to a power: a power of two by its exponent and its table of 128 parts, and a series of what is left.
#[inline(always)]
fn exp(tables: &Tables, x: f64) -> f64 {
    let shifted = x.mul_add(PARTS as f64 / LN_2, ROUND);
    let k = shifted - ROUND;
    let bits = shifted.to_bits();
    let near = (-k).mul_add(LN2_HIGH / PARTS as f64, x);
    let far = k * (LN2_LOW / PARTS as f64);
    let r = near - far;
    let rest = (near - r) - far;
    let part = bits as usize % PARTS;
    let (power, lacks) = (tables.power[part], tables.power_rest[part]);
    let square = r * r;
    let series = r.mul_add(1.0 / 120.0, 1.0 / 24.0);
    let series = square.mul_add(square.mul_add(1.0 / 720.0, series), r.mul_add(1.0 / 6.0, 0.5));
    let more = r + square.mul_add(series, rest);
    let (high, low) = quick_sum(power, power.mul_add(more, lacks));
    let scale = f64::from_bits((bits / PARTS as u64).wrapping_add(1023) << 52);
    let value = certain(high, low, SURE_EXP) * scale;
    if x.abs() < 690.0 { value } else { f64::NAN }
}

/// The natural logarithm: of the exponent, of the table's number next to the mantissa, and a series of what is left.
#[inline(always)]
fn log(tables: &Tables, x: f64) -> f64 {
    let bits = x.to_bits();
    let part = (bits.wrapping_sub(FIRST) >> 45) as usize % PARTS;
    let biased = bits.wrapping_add(1.0f64.to_bits() - FIRST) >> 52;
    let mantissa = f64::from_bits(bits.wrapping_sub(biased.wrapping_sub(1023) << 52));
    // A whole number as the last bits of a float.
    let exponent = f64::from_bits(biased | 0x4330_0000_0000_0000) - ((1u64 << 52) as f64 + 1023.0);
    let r = mantissa.mul_add(tables.inverse[part], -1.0);
    let high = exponent.mul_add(LN2_HIGH, tables.log[part]);
    let low = exponent.mul_add(LN2_LOW, tables.log_rest[part]);
    let (sum, lost) = quick_sum(high, r);
    let square = r * r;
    let first = square.mul_add(r.mul_add(1.0 / 5.0, -1.0 / 4.0), r.mul_add(1.0 / 3.0, -1.0 / 2.0));
    let second = square.mul_add(r.mul_add(1.0 / 9.0, -1.0 / 8.0), r.mul_add(1.0 / 7.0, -1.0 / 6.0));
    let series = (square * square).mul_add(second, first);
    let (high, low) = quick_sum(sum, lost + square.mul_add(series, low));
    let value = if x == 1.0 { 0.0 } else { certain(high, low, SURE_LOG) };
    if (f64::MIN_POSITIVE..f64::INFINITY).contains(&x) { value } else { f64::NAN }
}

/// The sine of an angle and so many quarters of a turn.
#[inline(always)]
fn sine(x: f64, quarters: u64) -> f64 {
    let shifted = x.mul_add(FRAC_2_PI, ROUND);
    let k = shifted - ROUND;
    let quarter = shifted.to_bits().wrapping_add(quarters);
    let (turned, lost) = two_product(k, HALF_PI.0);
    let near = x - turned;
    let far = k.mul_add(HALF_PI.1, lost);
    let r = near - far;
    let rest = (near - r) - far;
    let (z, z_rest) = two_product(r, r);
    let z_rest = (2.0 * r).mul_add(rest, z_rest);
    let (z2, z4) = (z * z, z * z * (z * z));

    // r + r z (-1/6 + z …)
    let first = z2.mul_add(z.mul_add(-TERMS[11], TERMS[9]), z.mul_add(-TERMS[7], TERMS[5]));
    let second = z4.mul_add(TERMS[21], z2.mul_add(z.mul_add(-TERMS[19], TERMS[17]), z.mul_add(-TERMS[15], TERMS[13])));
    let (factor, factor_rest) = quick_sum(-1.0 / 6.0, z * z4.mul_add(second, first));
    let factor_rest = factor_rest - SIXTH_REST;
    let (u, u_rest) = two_product(z, factor);
    let u_rest = z.mul_add(factor_rest, z_rest.mul_add(factor, u_rest));
    let (v, v_rest) = two_product(r, u);
    let v_rest = r.mul_add(u_rest, rest.mul_add(u, v_rest));
    let (sine, lost) = quick_sum(r, v);
    let (sine, sine_rest) = quick_sum(sine, lost + (v_rest + rest));

    // 1 + z (-1/2 + z (1/24 + z …))
    let first = z2.mul_add(z.mul_add(TERMS[12], -TERMS[10]), z.mul_add(TERMS[8], -TERMS[6]));
    let second = z4.mul_add(-TERMS[22], z2.mul_add(z.mul_add(TERMS[20], -TERMS[18]), z.mul_add(TERMS[16], -TERMS[14])));
    let (factor, factor_rest) = quick_sum(1.0 / 24.0, z * z4.mul_add(second, first));
    let factor_rest = factor_rest + SIXTH_REST / 4.0;
    let (u, u_rest) = two_product(z, factor);
    let u_rest = z.mul_add(factor_rest, z_rest.mul_add(factor, u_rest));
    let (factor, lost) = quick_sum(-0.5, u);
    let (v, v_rest) = two_product(z, factor);
    let v_rest = z.mul_add(lost + u_rest, z_rest.mul_add(factor, v_rest));
    let (cosine, lost) = quick_sum(1.0, v);
    let (cosine, cosine_rest) = quick_sum(cosine, lost + v_rest);

    let (high, low) = if quarter & 1 == 1 { (cosine, cosine_rest) } else { (sine, sine_rest) };
    let sure = if x.abs() < 0.8555 { SURE_SMALL_SIN } else { SURE_SIN };
    let value = f64::from_bits(certain(high, low, sure).to_bits() ^ (quarter & 2) << 62);
    let known = x.abs() < MOST_ANGLE && (r.abs() > LEAST_REST || k == 0.0);
    if known { value } else { f64::NAN }
}

/// What the float next to a sixth lacks; a 24th lacks its quarter.
const SIXTH_REST: f64 = 9.251_858_538_542_97e-18;

/// 1/n!
const TERMS: [f64; 23] = {
    let mut terms = [1.0; 23];
    let (mut at, mut factorial) = (1, 1.0);
    while at < terms.len() {
        factorial *= at as f64;
        terms[at] = 1.0 / factorial;
        at += 1;
    }
    terms
};

/// The parts of a power of two.
const PARTS: usize = 128;

/// The bits of the first number of the table of logarithms; a part of it differs from the next in bit 45.
const FIRST: u64 = 0.6875f64.to_bits();

/// What the functions look up, made when the first of them is called.
struct Tables {
    /// 2^(n/128), and what that lacks.
    power: [f64; PARTS],
    power_rest: [f64; PARTS],
    /// Numbers of 8 bits next to the inverse of the middle of each part, so that products with floats of the part
    /// less one are exact; one where the part has one.
    inverse: [f64; PARTS],
    /// The logarithms of what they are the inverses of: multiples of 2^-42, and the rest.
    log: [f64; PARTS],
    log_rest: [f64; PARTS],
}

impl Tables {
    fn get() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Tables::new)
    }

    fn new() -> Tables {
        let zeros = [0.0; PARTS];
        let mut tables = Tables { power: zeros, power_rest: zeros, inverse: zeros, log: zeros, log_rest: zeros };
        for at in 0..PARTS {
            let share = at as f64 / PARTS as f64;
            let ln2 = two_product(LN_2, share);
            let power = pair_exp((ln2.0, LN2_REST.mul_add(share, ln2.1)));
            (tables.power[at], tables.power_rest[at]) = power;

            let [from, to] = [at, at + 1].map(|at| f64::from_bits(FIRST + ((at as u64) << 45)));
            let middle = 2.0 / (from + to);
            // Rounded to 8 bits.
            let bits = (middle.to_bits() + (1 << 44)) & !((1 << 45) - 1);
            let inverse = if from <= 1.0 && 1.0 <= to { 1.0 } else { f64::from_bits(bits) };
            let log = pair_log_of_inverse(inverse);
            tables.inverse[at] = inverse;
            tables.log[at] = (log.0 * (1u64 << 42) as f64).round() / (1u64 << 42) as f64;
            tables.log_rest[at] = (log.0 - tables.log[at]) + log.1;
        }
        tables
    }
}

/// What the float next to the logarithm of two lacks.
const LN2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// A value as the float next to it and the rest.
type Pair = (f64, f64);

#[inline(always)]
fn two_product(a: f64, b: f64) -> Pair {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// The sum of two floats of which the second is not larger in magnitude, or the first is zero.
#[inline(always)]
fn quick_sum(a: f64, b: f64) -> Pair {
    let sum = a + b;
    (sum, b - (sum - a))
}

fn pair_product(a: Pair, b: Pair) -> Pair {
    let (high, low) = two_product(a.0, b.0);
    quick_sum(high, low + a.0.mul_add(b.1, a.1 * b.0))
}

/// e to a power below one in magnitude, to some hundred bits.
fn pair_exp(x: Pair) -> Pair {
    const HALVED: i32 = 8;
    let scale = f64::from(1 << HALVED);
    let x = (x.0 / scale, x.1 / scale);
    // 1 + x (1 + x/2 (1 + x/3 …))
    let mut sum = (1.0, 0.0);
    for n in (1..12).rev() {
        let product = pair_product(sum, x);
        let quotient = product.0 / f64::from(n);
        let back = two_product(quotient, f64::from(n));
        let term = quick_sum(quotient, ((product.0 - back.0) - back.1 + product.1) / f64::from(n));
        let (high, low) = quick_sum(1.0, term.0);
        sum = quick_sum(high, low + term.1);
    }
    (0..HALVED).fold(sum, |power, _| pair_product(power, power))
}

/// The logarithm of the inverse of a float near one: one step of Newton's method from a float.
fn pair_log_of_inverse(inverse: f64) -> Pair {
    let near = -libm::log(inverse);
    let product = pair_product(pair_exp((near, 0.0)), (inverse, 0.0));
    let over = (product.0 - 1.0) + product.1;
    quick_sum(near, -(over - 0.5 * over * over))
}

#[cfg(test)]
mod tests {
    use super::super::strip::{self, Strip};
    use super::*;

    /// A generator of pseudo-random words.
    fn words(mut state: u64) -> impl Iterator<Item = u64> {
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
    }

    /// Floats of all magnitudes, usual ones, and those where the functions change their ways.
    fn floats() -> Vec<f64> {
        let share = |word: u64| (word >> 11) as f64 / (1u64 << 53) as f64;
        let bits = words(1).take(40_000).map(f64::from_bits);
        let usual = words(2).take(200_000).map(|word| (share(word) - 0.5) * 200.0);
        let small = words(3).take(200_000).map(|word| (share(word) - 0.5) * 4.0);
        let near_one = words(4).take(50_000).map(|word| 1.0 + (share(word) - 0.5) / 8.0);
        let powers = words(5).take(50_000).map(|word| ((share(word) - 0.5) * 80.0).exp2());
        let turns = (0..20_000).flat_map(|k| {
            let angle = f64::from(k) * HALF_PI.0;
            [angle, angle.next_up(), angle.next_down(), -angle]
        });
        let wholes = (-800..800).map(f64::from);
        let special = [0.0, -0.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1.0, 0.8555, 690.0];
        let special = special.into_iter().flat_map(|x| [x, -x, x.next_up(), x.next_down()]);
        bits.chain(usual).chain(small).chain(near_one).chain(powers).chain(turns).chain(wholes).chain(special).collect()
    }

    #[test]
    fn strips_have_the_bits_of_the_c_library() {
        let x = floats();
        let mut out = vec![0.0; x.len()];
        type Scalar = fn(f64) -> f64;
        let of: [(&str, &Strip, Scalar); 5] = [
            ("exp", &strip::exp, libm::exp),
            ("log", &strip::log, libm::log),
            ("sin", &strip::sin, libm::sin),
            ("cos", &strip::cos, libm::cos),
            ("tanh", &strip::tanh, libm::tanh),
        ];
        for (name, strip, function) in of {
            strip.run(&[&x], &mut out);
            for (x, value) in x.iter().zip(&out) {
                let expected = function(*x);
                let same = value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
                assert!(same, "{name}({x:?}) is {expected:?}, not {value:?}");
            }
        }
    }

    #[test]
    fn most_usual_floats_are_known() {
        let x: Vec<f64> = words(6).take(10_000).map(|word| 0.1 + (word >> 11) as f64 / (1u64 << 50) as f64).collect();
        let mut out = vec![0.0; x.len()];
        let Some(lanes) = Lanes::get() else { return };
        for function in [Function::Exp, Function::Log, Function::Sin, Function::Cos] {
            lanes.run(function, &x, &mut out);
            let known = out.iter().filter(|value| !value.is_nan()).count();
            assert!(known > 8_700, "{function:?} knows {known} of 10,000");
        }
    }

    #[test]
    fn wrong_numbers_of_operands_give_nothing() {
        let mut out = [0.0; 2];
        strip::exp.run(&[], &mut out);
        strip::pow.run(&[&[2.0, 3.0]], &mut out);
        assert!(out.iter().all(|value| value.is_nan()));
        strip::pow.run(&[&[2.0, 3.0], &[2.0, 0.5]], &mut out);
        assert_eq!(out, [4.0, libm::pow(3.0, 0.5)]);
    }
}
