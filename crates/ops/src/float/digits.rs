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
    let least = *POWERS.get(count.checked_sub(1)?)? as u64;
    // The logarithm may be off by one next to a power of ten, and rounding may add a digit.
    let mut exponent = value.log10().floor() as i32;
    for _ in 0..3 {
        let places = count as i32 - 1 - exponent;
        let power = *POWERS.get(places.unsigned_abs() as usize)?;
        let digits = whole(if places < 0 { value / power } else { value * power })?;
        if digits < least {
            exponent -= 1;
        } else if digits >= least * 10 {
            exponent += 1;
        } else {
            return Some((digits, exponent));
        }
    }
    None
}

/// `scaled / 10**places`, correctly rounded: both are exact, and so is one division.
#[inline]
pub(crate) fn unscaled(scaled: u64, places: usize) -> f64 {
    scaled as f64 / POWERS[places]
}
