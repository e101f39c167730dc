//! Putting a number together: sign, prefix, grouped digits, rest, padding
//! (Python/formatter_unicode.c, calc_number_widths and fill_number).

use super::spec::{Separator, Spec};
use crate::cx::{Cx, KernelResult, Text};
use crate::text::Str;

/// The parts of a number's text.
#[derive(Clone, Copy)]
pub(super) struct Number<'t> {
    pub negative: bool,
    /// Such as `0x`.
    pub prefix: &'t str,
    /// What is grouped: the digits before the point. A character for the type `c`.
    pub digits: &'t str,
    /// What follows: point, fraction, exponent, percent sign.
    pub rest: &'t str,
}

impl Separator {
    fn text(self) -> Option<&'static str> {
        match self {
            Separator::None => None,
            Separator::Comma => Some(","),
            Separator::Underscore | Separator::UnderscoreFour => Some("_"),
        }
    }

    fn group(self) -> usize {
        if self == Separator::UnderscoreFour { 4 } else { 3 }
    }
}

/// How many zeros to put before so many digits so that with their separators they take at
/// least `min_width` places. A separator is never the first character, so that one more
/// zero than asked for may be needed.
fn leading_zeros(digits: usize, separator: Separator, min_width: usize) -> usize {
    let group = separator.group();
    let total = |digits: usize| match separator.text() {
        None => digits,
        Some(_) => digits + digits.saturating_sub(1) / group,
    };
    let mut padded = match separator.text() {
        None => min_width,
        Some(_) => min_width - min_width / (group + 1),
    };
    padded = padded.max(digits);
    while total(padded) < min_width {
        padded += 1;
    }
    padded - digits
}

/// Appends digits with leading zeros and a separator between groups.
fn push_grouped(out: &mut Text<'_>, digits: &str, zeros: usize, separator: Separator) -> KernelResult<()> {
    let Some(between) = separator.text() else {
        out.push_repeated("0", zeros)?;
        return out.push_str(digits);
    };
    let group = separator.group();
    let mut left = zeros + digits.len();
    for _ in 0..zeros {
        out.push_str("0")?;
        left -= 1;
        if left > 0 && left.is_multiple_of(group) {
            out.push_str(between)?;
        }
    }
    // Whole groups from here on, after a first one that is perhaps shorter.
    let mut rest = digits;
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(if left.is_multiple_of(group) { group } else { left % group });
        out.push_str(part)?;
        left -= part.len();
        if left > 0 {
            out.push_str(between)?;
        }
        rest = behind;
    }
    Ok(())
}

/// The text of a number in its field.
pub(super) fn number<'a>(cx: &mut Cx, spec: &Spec, number: Number<'_>) -> KernelResult<Str<'a>> {
    let sign = match (number.negative, spec.sign) {
        (true, _) => "-",
        (false, b'+') => "+",
        (false, b' ') => " ",
        (false, _) => "",
    };
    let around = sign.len() + number.prefix.len() + number.rest.len();
    if spec.width <= around + usize::from(!number.digits.is_empty()) && spec.separator == Separator::None {
        // There is nothing to fill.
        let mut out = cx.text(around + number.digits.len())?;
        for part in [sign, number.prefix, number.digits, number.rest] {
            out.push_str(part)?;
        }
        return Ok(out.finish());
    }
    let count = number.digits.chars().count();
    // Zeros behind the sign are digits and grouped as such; but there is nothing to group
    // in "inf", which is padded with zeros alone.
    let min_width =
        if spec.fill == '0' && spec.align == b'=' && count > 0 { spec.width.saturating_sub(around) } else { 0 };
    let zeros = leading_zeros(count, spec.separator, min_width);
    let grouped = match spec.separator.text() {
        None => count + zeros,
        Some(_) => count + zeros + (count + zeros).saturating_sub(1) / spec.separator.group(),
    };
    let padding = spec.width.saturating_sub(around + grouped);
    let (left, inner, right) = match spec.align {
        b'<' => (0, 0, padding),
        b'^' => (padding / 2, 0, padding - padding / 2),
        b'=' => (0, padding, 0),
        _ => (padding, 0, 0),
    };
    let mut fill_buffer = [0; 4];
    let fill: &str = spec.fill.encode_utf8(&mut fill_buffer);
    let mut out = cx.text(around + number.digits.len() + grouped + padding * fill.len())?;
    out.push_repeated(fill, left)?;
    out.push_str(sign)?;
    out.push_str(number.prefix)?;
    out.push_repeated(fill, inner)?;
    push_grouped(&mut out, number.digits, zeros, spec.separator)?;
    out.push_str(number.rest)?;
    out.push_repeated(fill, right)?;
    Ok(out.finish())
}
