//! Floats in every presentation.

use super::layout::{self, Number};
use super::scratch::Scratch;
use super::spec::{self, Spec};
use crate::cx::{Cx, KernelResult};
use crate::float::Repr;
use crate::float::digits::{self, scaled};
use crate::int::Digits;
use crate::op;
use crate::text::Str;
use exuvia_ir::Raise;
use std::fmt::Write;

/// A double has no more decimal places than this; what is asked for beyond are zeros.
const MAX_PLACES: usize = 1100;

/// How a float is turned to digits (Python/pystrtod.c, PyOS_double_to_string).
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// `e`, `f`, `g`, or `r` for the shortest text that reads back.
    pub code: u8,
    pub precision: usize,
    /// Keep the point and trailing zeros.
    pub alternate: bool,
    /// A whole number gets `.0`.
    pub point_zero: bool,
}

/// The text of a number that is not negative, without sign and in lower case.
pub(super) fn digits(value: f64, style: Style) -> Scratch {
    let mut out = Scratch::new();
    if value.is_nan() {
        out.push(b"nan");
    } else if value.is_infinite() {
        out.push(b"inf");
    } else {
        match style.code {
            b'f' => fixed(&mut out, value, style),
            b'e' => exponential(&mut out, value, style),
            b'g' => general(&mut out, value, style),
            _ => shortest(&mut out, value, style),
        }
    }
    out
}

fn fixed(out: &mut Scratch, value: f64, style: Style) {
    let places = style.precision;
    if let Some(scaled) = scaled(value, places) {
        let digits = Digits::new(scaled, 10);
        let digits = digits.as_str().as_bytes();
        let whole = digits.len().saturating_sub(places);
        out.push(if whole == 0 { b"0" } else { &digits[..whole] });
        if places > 0 {
            out.push(b".");
            out.push_zeros(places - (digits.len() - whole));
            out.push(&digits[whole..]);
        }
    } else {
        // A write into memory cannot fail.
        let _ = write!(out, "{value:.*}", places.min(MAX_PLACES));
        out.push_zeros(places.saturating_sub(MAX_PLACES));
    }
    if places == 0 && style.alternate {
        out.push(b".");
    }
}

/// The digits of a number in scientific notation, correctly rounded to `count` of them,
/// and its exponent.
fn significant(value: f64, count: usize) -> (Scratch, i32) {
    let mut digits = Scratch::new();
    if value > 0.0
        && let Some((known, exponent)) = digits::significant(value, count)
    {
        digits.push(Digits::new(known, 10).as_str().as_bytes());
        return (digits, exponent);
    }
    let text = format!("{value:.*e}", count.min(MAX_PLACES) - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    mantissa.split('.').for_each(|part| digits.push(part.as_bytes()));
    digits.push_zeros(count.saturating_sub(digits.as_bytes().len()));
    (digits, exponent.parse().unwrap_or(0))
}

fn push_exponent(out: &mut Scratch, exponent: i32) {
    let sign = if exponent < 0 { b'-' } else { b'+' };
    let digits = Digits::new(u64::from(exponent.unsigned_abs()), 10);
    out.push(&[b'e', sign]);
    out.push_zeros(2usize.saturating_sub(digits.as_str().len()));
    out.push(digits.as_str().as_bytes());
}

fn push_scientific(out: &mut Scratch, digits: &[u8], exponent: i32, alternate: bool) {
    out.push(&digits[..1]);
    if digits.len() > 1 || alternate {
        out.push(b".");
    }
    out.push(&digits[1..]);
    push_exponent(out, exponent);
}

fn exponential(out: &mut Scratch, value: f64, style: Style) {
    let (digits, exponent) = significant(value, style.precision + 1);
    push_scientific(out, digits.as_bytes(), exponent, style.alternate);
}

fn general(out: &mut Scratch, value: f64, style: Style) {
    let precision = style.precision.max(1);
    let (significant, exponent) = significant(value, precision);
    let mut digits = significant.as_bytes();
    if !style.alternate {
        while let [rest @ .., b'0'] = digits
            && !rest.is_empty()
        {
            digits = rest;
        }
    }
    let point = exponent + 1;
    // With `point_zero` a number of as many digits as the precision would get one more.
    let limit = precision as i64 - i64::from(style.point_zero);
    if value != 0.0 && (point <= -4 || i64::from(point) > limit) {
        return push_scientific(out, digits, exponent, style.alternate);
    }
    if value == 0.0 && i64::from(point) > limit {
        return push_scientific(out, digits, exponent, style.alternate);
    }
    if point <= 0 {
        out.push(b"0.");
        out.push_zeros(point.unsigned_abs() as usize);
        out.push(digits);
        return;
    }
    let whole = (point as usize).min(digits.len());
    out.push(&digits[..whole]);
    out.push_zeros(point as usize - whole);
    if whole < digits.len() {
        out.push(b".");
        out.push(&digits[whole..]);
    } else if style.point_zero {
        out.push(b".0");
    } else if style.alternate {
        out.push(b".");
    }
}

fn shortest(out: &mut Scratch, value: f64, style: Style) {
    let repr = Repr::new(value);
    let text = repr.as_str().as_bytes();
    match text.iter().position(|byte| *byte == b'e') {
        Some(at) if style.alternate && !text.contains(&b'.') => {
            out.push(&text[..at]);
            out.push(b".");
            out.push(&text[at..]);
        }
        _ => out.push(text),
    }
}

/// A float by a specification that was read (format_float_internal).
pub(super) fn render<'a>(cx: &mut Cx, value: f64, spec: &Spec, type_name: &str) -> KernelResult<Str<'a>> {
    if spec.precision.is_some_and(|precision| precision > 1 << 20) {
        return Err(Raise::Bailout("a precision beyond any use"));
    }
    let (code, precision) = match (spec.code, spec.precision) {
        ('\0', None) => (b'r', 0),
        ('\0' | 'g' | 'G' | 'n', precision) => (b'g', precision.unwrap_or(6)),
        ('e' | 'E', precision) => (b'e', precision.unwrap_or(6)),
        ('f' | 'F' | '%', precision) => (b'f', precision.unwrap_or(6)),
        (code, _) => return Err(spec::unknown_code(cx, code, type_name)),
    };
    let percent = spec.code == '%';
    let value = if percent { value * 100.0 } else { value };
    let style = Style { code, precision, alternate: spec.alternate, point_zero: spec.code == '\0' };
    let mut text = digits(value.abs(), style);
    if matches!(spec.code, 'E' | 'F' | 'G') {
        text.make_upper();
    }
    if percent {
        text.push(b"%");
    }
    let bytes = text.as_bytes();
    let mut negative = value.is_sign_negative() && !value.is_nan();
    if negative && spec.no_negative_zero && value.is_finite() {
        let mantissa = bytes.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or(bytes);
        negative = mantissa.iter().any(|byte| matches!(byte, b'1'..=b'9'));
    }
    let whole = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = std::str::from_utf8(bytes).unwrap_or("");
    layout::number(cx, spec, Number { negative, prefix: "", digits: &text[..whole], rest: &text[whole..] })
}

op! {
    /// The float by a format specification.
    ///
    /// >>> format(1234.5678, ",.2f")
    /// '1,234.57'
    float_format = "float.format" "format"
    Pure fn (cx, _value: float, _spec: str = Str("")) -> str fallible [ValueError] bails Operands {
        let spec = spec::parse(cx, _spec.as_str(), b'>', '\0', "float")?;
        render(cx, _value, &spec, "float")
    }
}
