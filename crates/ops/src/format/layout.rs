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

/// The number of code points.
#[inline]
fn characters(text: &str) -> usize {
    text.bytes().filter(|byte| byte.cast_signed() >= -64).count()
}

/// The text of a number without groups, all of ASCII: five parts, of which one at most is
/// filled.
fn ungrouped<'a>(cx: &mut Cx, spec: &Spec, sign: &str, number: Number<'_>) -> KernelResult<Str<'a>> {
    let bare = sign.len() + number.prefix.len() + number.digits.len() + number.rest.len();
    let padding = spec.width.saturating_sub(bare);
    // Zeros behind the sign are digits like any others.
    let (left, inner) = match spec.align {
        b'<' => (0, 0),
        b'^' => (padding / 2, 0),
        b'=' => (0, padding),
        _ => (padding, 0),
    };
    let total = bare + padding;
    let mut out = cx.text(total)?;
    let spare = &mut out.spare(total)?[..total];
    if padding > 0 {
        spare.fill(spec.fill as u8);
    }
    let mut at = left;
    for (part, gap) in [(sign, 0), (number.prefix, inner), (number.digits, 0), (number.rest, 0)] {
        // Bytes one by one: most parts are shorter than a call to copy them would take.
        for (to, byte) in spare[at..].iter_mut().zip(part.bytes()) {
            *to = byte;
        }
        at += part.len() + gap;
    }
    // SAFETY: the fill character and all parts are ASCII: signs, prefixes and what floats
    // have behind their digits always are, and the caller looked at the rest.
    unsafe { out.advance(total) };
    Ok(out.finish_as(true))
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
    let count = characters(number.digits);
    if spec.separator == Separator::None && count == number.digits.len() && spec.fill.is_ascii() {
        return ungrouped(cx, spec, sign, number);
    }
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
