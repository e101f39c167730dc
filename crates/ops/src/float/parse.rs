//! `float` of a text.

use crate::cx::Cx;
use crate::int::{to_ascii, trim};
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::ValueError;

/// Whether the bytes are digits with at most a point and an exponent, as C's `strtod`
/// takes them in decimal; and not more.
fn is_decimal(bytes: &[u8]) -> bool {
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return false;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return false;
        }
        at += exponent;
    }
    at == bytes.len()
}

/// The special values by name, in any case (Python/pystrtod.c, _Py_parse_inf_or_nan).
fn named(bytes: &[u8]) -> Option<f64> {
    let (negative, name) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    };
    let value = if name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"infinity") {
        f64::INFINITY
    } else if name.eq_ignore_ascii_case(b"nan") {
        f64::NAN.copysign(1.0)
    } else {
        return None;
    };
    Some(if negative { -value } else { value })
}

/// The text without its underscores, if each of them stands between two digits
/// (Python/pystrtod.c, _Py_string_to_number_with_underscores).
fn without_underscores(bytes: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let misplaced =
        bytes.iter().enumerate().any(|(at, byte)| *byte == b'_' && !(digit(at.checked_sub(1)) && digit(Some(at + 1))));
    (!misplaced).then(|| bytes.iter().copied().filter(|byte| *byte != b'_').collect())
}

fn decimal(bytes: &[u8]) -> Option<f64> {
    if !is_decimal(bytes) {
        return named(bytes);
    }
    // Both are correctly rounded, ties to even.
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn parse(text: Str<'_>) -> Option<f64> {
    let bytes = text.as_bytes();
    if is_decimal(bytes) {
        return text.as_str().parse().ok();
    }
    let ascii = to_ascii(text);
    let bytes = trim(&ascii);
    if bytes.contains(&b'_') { decimal(&without_underscores(bytes)?) } else { decimal(bytes) }
}

fn raise(cx: &Cx, text: Str<'_>) -> exuvia_ir::Raise {
    cx.raise(ValueError, || format!("could not convert string to float: {}", crate::text_repr::repr(text.as_str())))
}

op! {
    /// The number that a text writes in decimal, `inf`, `infinity` and `nan` in any case
    /// included, with surrounding whitespace, underscores between digits, and digits of
    /// any script.
    ///
    /// >>> float(" 1_801.5e0\n")
    /// 1801.5
    float_of_str = "float.of_str" "float"
    Pure fn (cx, _x: str) -> float fallible [ValueError] { parse(_x).ok_or_else(|| raise(cx, _x)) }
}
