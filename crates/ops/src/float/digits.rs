//! Decimal digits of floats, correctly rounded: what `round` and formatting share.

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The nearest integer to `value * 10**places`, ties to even, where a multiplication in
/// doubles is sure to tell: not near a tie, and small enough. `value` is not negative.
///
/// The product is off by at most half a unit in its last place, so that a fraction
/// further from one half than that rounds as the exact product does.
#[inline]
pub(crate) fn scaled(value: f64, places: usize) -> Option<u64> {
    whole(value * POWERS.get(places)?)
}

/// The nearest integer to the exact result of which this is the nearest double.
#[inline]
fn whole(product: f64) -> Option<u64> {
    const SAFE: f64 = 1e15;
    if product < SAFE {
        let floor = product.floor();
        let distance = (product - floor) - 0.5;
        if distance.abs() > product * f64::EPSILON {
            return Some(floor as u64 + u64::from(distance > 0.0));
        }
    }
    None
}

/// The `count` most significant digits of a number above zero as an integer, correctly rounded, and the exponent of
/// the first, where doubles are sure to tell as in [`scaled`].
pub(crate) fn significant(value: f64, count: usize) -> Option<(u64, i32)> {
    // More are never sure.
    let least = *POWERS[..15].get(count.checked_sub(1)?)? as u64;
    let all = least..least * 10;
    let rounded = |exponent: i32| {
        let places = count as i32 - 1 - exponent;
        let power = *POWERS.get(places.unsigned_abs() as usize)?;
        whole(if places < 0 { value / power } else { value * power })
    };
    // The logarithm may be off by one next to a power of ten, and rounding may reach the next one.
    let exponent = value.log10().floor() as i32;
    let digits = rounded(exponent)?;
    let (digits, exponent) = if digits >= all.end {
        (rounded(exponent + 1)?, exponent + 1)
    } else if digits > least {
        (digits, exponent)
    } else {
        match rounded(exponent - 1)? {
            below if below >= all.end => (digits, exponent),
            below => (below, exponent - 1),
        }
    };
    all.contains(&digits).then_some((digits, exponent))
}

/// `scaled / 10**places`, correctly rounded: both are exact, and so is one division.
#[inline]
pub(crate) fn unscaled(scaled: u64, places: usize) -> f64 {
    scaled as f64 / POWERS[places]
}

#[cfg(test)]
mod tests {
    use super::significant;

    /// The same by Rust's own exact digits.
    fn exact(value: f64, count: usize) -> (u64, i32) {
        let text = format!("{value:.*e}", count - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or_default();
        (mantissa.replace('.', "").parse().unwrap_or(0), exponent.parse().unwrap_or(0))
    }

    #[test]
    fn significant_digits_are_those_of_the_exact_value() {
        let powers = (-20..=20).map(|exponent| 10f64.powi(exponent));
        let near = powers.flat_map(|power| [power, power.next_down(), power.next_up(), power * 9.5, power * 9.9999995]);
        let ties = [0.5, 1.5, 2.5, 0.125, 0.375, 1.25, 1.35, 12.5, 1e15 + 0.5, 123_456.5, 0.000_25, 1e22, 1e23, 5e-324];
        let mut state = 1u64;
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = (state >> 11) as f64 / (1u64 << 53) as f64;
            value * 10f64.powi((state % 40) as i32 - 20)
        });
        let mut known = 0;
        for value in near.chain(ties).chain(random.take(20_000)).filter(|value| *value > 0.0) {
            for count in 0..=25 {
                if let Some(found) = significant(value, count) {
                    assert_eq!(found, exact(value, count), "{value:e} to {count}");
                    known += 1;
                }
            }
        }
        assert!(known > 200_000, "{known}");
    }
}
