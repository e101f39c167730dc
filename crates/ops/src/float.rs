//! Operations on floats, and their text.

/// `repr(value)` (Python/pystrtod.c, PyOS_double_to_string with 'r').
#[must_use]
pub fn repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let mut buffer = ryu::Buffer::new();
    // ryu prints digits and an exponent; only the digits and the place of the point are
    // taken from it.
    let text = buffer.format_finite(value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if significant.is_empty() {
        return format!("{sign}0.0");
    }
    // The decimal point stands after `point` significant digits.
    let point = whole.len() as i32 + exponent - leading as i32;
    let count = significant.len() as i32;
    if !(-3..=16).contains(&point) {
        let (first, rest) = significant.split_at(1);
        let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        let exponent = point - 1;
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{rest}e{exponent_sign}{:02}", exponent.abs());
    }
    if point <= 0 {
        return format!("{sign}0.{}{significant}", "0".repeat(-point as usize));
    }
    if point >= count {
        return format!("{sign}{significant}{}.0", "0".repeat((point - count) as usize));
    }
    let (whole, fraction) = significant.split_at(point as usize);
    format!("{sign}{whole}.{fraction}")
}
