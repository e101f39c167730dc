//! `int(text)` as CPython has it, within 64 bits.

use super::python_str::is_space;

/// The first digits of the decimal digits that `int()` reads besides ASCII's: those of
/// Unicode 14, which CPython 3.11 has. Each begins a run of ten.
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0,
    0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0,
    0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// `int(text)`; `None` where it raises or leaves 64 bits.
pub(super) fn int(text: &str) -> Option<i64> {
    digits(text.as_bytes().iter().copied()).or_else(|| general(text))
}

/// `int(text.replace(",", ""))`.
pub(super) fn whole_number(text: &str) -> Option<i64> {
    digits(text.bytes().filter(|byte| *byte != b',')).or_else(|| general(&text.replace(',', "")))
}

/// `int(text)` of a text for which `text.isdecimal()`; `None` for another.
pub(super) fn decimal(text: &str) -> Option<i64> {
    let is_decimal = |character: char| {
        let code = character as u32;
        character.is_ascii_digit() || ZEROS.iter().any(|zero| (*zero..*zero + 10).contains(&code))
    };
    digits(text.bytes()).or_else(|| if text.chars().all(is_decimal) { general(text) } else { None })
}

/// The value of one to eighteen ASCII digits: what almost every cell holds.
fn digits(bytes: impl Iterator<Item = u8>) -> Option<i64> {
    let mut value = 0i64;
    let mut count = 0;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        count += 1;
        if digit > 9 || count > 18 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    (count > 0).then_some(value)
}

/// Blanks around, a sign, underscores between digits, digits of any script.
#[cold]
fn general(text: &str) -> Option<i64> {
    let text = text.trim_matches(is_space);
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let mut value = 0i64;
    let mut after_digit = false;
    for character in rest.chars() {
        if character == '_' && after_digit {
            after_digit = false;
            continue;
        }
        let digit = match character.to_digit(10) {
            Some(digit) => digit,
            None => {
                let code = character as u32;
                let zero = ZEROS.iter().rev().find(|zero| **zero <= code)?;
                (code - zero < 10).then_some(code - zero)?
            }
        };
        // Downwards, because the range reaches further there.
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
        after_digit = true;
    }
    match (after_digit, negative) {
        (false, _) => None,
        (true, true) => Some(value),
        (true, false) => value.checked_neg(),
    }
}

#[cfg(test)]
mod tests {
    use super::{int, whole_number};

    #[test]
    fn reads_what_python_reads() {
        let good = [("12", 12), (" 12\n", 12), ("-3", -3), ("+4", 4), ("1_000", 1000), ("٣", 3), ("\u{a0}7\u{1f}", 7)];
        for (text, value) in good {
            assert_eq!(int(text), Some(value), "{text:?}");
        }
        for text in ["", " ", "-", "_1", "1_", "1__0", "1.5", "½", "0x10", "+ 4", "9223372036854775808"] {
            assert_eq!(int(text), None, "{text:?}");
        }
        assert_eq!(int("-9223372036854775808"), Some(i64::MIN));
        assert_eq!(whole_number("1,560"), Some(1560));
        assert_eq!(whole_number(" 1,5_60 "), Some(1560));
        assert_eq!(whole_number(",,"), None);
    }
}
