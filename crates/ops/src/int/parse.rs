//! `int` of a text, with and without a base.

use super::text::MAX_DIGITS;
use crate::adapt::take;
use crate::cx::{Cx, KernelResult};
use crate::op;
use crate::text::{Str, short_word};
use crate::unicode;
use exuvia_ir::ExcKind::ValueError;
use exuvia_ir::{Object, Raise};
use num_bigint::BigInt;
use std::borrow::Cow;

/// A text taken apart: its sign, its digits (letters and underscores as they stand), the
/// base by which to read them.
#[derive(Debug)]
struct Literal<'t> {
    negative: bool,
    digits: &'t [u8],
    base: u32,
}

/// Why a text is no integer.
enum Fault {
    /// It is not written like one.
    Invalid,
    /// So many digits that converting them would take too long.
    TooLong(usize),
    /// The base is not one.
    Base,
}

/// What the text is in ASCII: decimal digits of any script become ASCII ones, whitespace
/// becomes spaces (Objects/unicodeobject.c, _PyUnicode_TransformDecimalAndSpaceToASCII).
/// What is neither becomes a question mark, which no number has. ASCII stays as it is,
/// so that the separators U+001C to U+001F are no whitespace here.
pub(crate) fn to_ascii<'t>(text: Str<'t>) -> Cow<'t, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    let one = |ch: char| match ch {
        ch if ch.is_ascii() => ch as u8,
        ch if unicode::is_space(ch) => b' ',
        ch => unicode::decimal(ch).map_or(b'?', |digit| b'0' + digit),
    };
    Cow::Owned(text.as_str().chars().map(one).collect())
}

/// Whitespace to CPython's conversions from text (Python/pyctype.c).
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(*byte)).map_or(start, |at| at + 1);
    &text[start..end]
}

fn digit(byte: u8) -> u32 {
    match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'a'..=b'z' => u32::from(byte - b'a') + 10,
        b'A'..=b'Z' => u32::from(byte - b'A') + 10,
        _ => 37,
    }
}

/// Takes a text apart as CPython does (Objects/longobject.c, PyLong_FromString).
fn literal(text: &[u8], base: i64) -> Result<Literal<'_>, Fault> {
    if base != 0 && !(2..=36).contains(&base) {
        return Err(Fault::Base);
    }
    let mut base = base as u32;
    let mut text = trim(text);
    let negative = text.first() == Some(&b'-');
    if let [b'+' | b'-', rest @ ..] = text {
        text = rest;
    }
    let prefix = match text {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => 0,
    };
    // A decimal literal without base must not begin with a zero unless it is zero.
    let zero_only = base == 0 && prefix == 0 && text.first() == Some(&b'0');
    if base == 0 {
        base = if prefix == 0 { 10 } else { prefix };
    }
    // With base 16 "0b1" is a number of three digits.
    if prefix == base {
        text = &text[2..];
        // One underscore may stand between the prefix and the digits.
        if let [b'_', rest @ ..] = text {
            text = rest;
        }
    }
    let mut count = 0;
    let mut end = 0;
    let mut previous = b'_';
    for &byte in text {
        if byte == b'_' {
            if previous == b'_' {
                return Err(Fault::Invalid);
            }
        } else if digit(byte) < base {
            count += 1;
        } else {
            break;
        }
        previous = byte;
        end += 1;
    }
    if previous == b'_' {
        return Err(Fault::Invalid);
    }
    // The limit is looked at before what follows the digits.
    if !base.is_power_of_two() && count > MAX_DIGITS {
        return Err(Fault::TooLong(count));
    }
    let digits = &text[..end];
    if end < text.len() || (zero_only && digits.iter().any(|byte| !matches!(byte, b'0' | b'_'))) {
        return Err(Fault::Invalid);
    }
    Ok(Literal { negative, digits, base })
}

impl Literal<'_> {
    /// The value where it fits in 64 bits.
    fn small(&self) -> Option<i64> {
        let mut value = 0i64;
        for &byte in self.digits.iter().filter(|byte| **byte != b'_') {
            let digit = i64::from(digit(byte));
            value = value.checked_mul(i64::from(self.base))?;
            value = if self.negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
        }
        Some(value)
    }

    /// The remainder by a modulus above zero, of which a word is enough however many digits there are.
    fn remainder(&self, modulus: i64) -> i64 {
        let (modulus, base) = (modulus.unsigned_abs().max(1), u128::from(self.base));
        let mut value = 0u64;
        let mut digits = self.digits.iter().filter(|byte| **byte != b'_').map(|byte| digit(*byte));
        // As many at a time as a word has room for: 36**12 is less than 2**63.
        loop {
            let (mut part, mut scale, mut any) = (0u128, 1u128, false);
            for digit in digits.by_ref().take(12) {
                (part, scale, any) = (part * base + u128::from(digit), scale * base, true);
            }
            if !any {
                break;
            }
            value = ((u128::from(value) * scale + part) % u128::from(modulus)) as u64;
        }
        let value = if self.negative && value != 0 { modulus - value } else { value };
        value as i64
    }

    fn big(&self) -> Option<BigInt> {
        let digits: Vec<u8> = self.digits.iter().copied().filter(|byte| *byte != b'_').collect();
        let value = BigInt::parse_bytes(&digits, self.base)?;
        Some(if self.negative { -value } else { value })
    }
}

/// The exception for a text, as CPython words it; the text is shown by the first 200
/// characters of its `repr`.
fn raise(cx: &Cx, fault: &Fault, text: Str<'_>, base: i64) -> Raise {
    cx.raise(ValueError, || match fault {
        Fault::Invalid => {
            let shown: String = crate::text_repr::repr(text.as_str()).chars().take(200).collect();
            format!("invalid literal for int() with base {base}: {shown}")
        }
        Fault::TooLong(count) => format!(
            "Exceeds the limit (4300 digits) for integer string conversion: value has {count} digits; \
             use sys.set_int_max_str_digits() to increase the limit"
        ),
        Fault::Base => "int() base must be >= 2 and <= 36, or 0".to_string(),
    })
}

/// The number of up to 16 ASCII digits with at most a sign before them; `None` where the
/// text needs more care.
#[inline]
fn plain(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    let value = match digits.len() {
        // A few digits are read sooner one by one.
        1..=4 => {
            let mut value = 0;
            for &byte in digits {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    return None;
                }
                value = value * 10 + i64::from(digit);
            }
            value
        }
        5..=8 => eight_digits(digits)?,
        9..=16 => {
            let (high, low) = digits.split_at(digits.len() - 8);
            eight_digits(high)? * 100_000_000 + eight_digits(low)?
        }
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// The number of one to eight ASCII digits, all at once; `None` if another byte is among
/// them.
#[inline]
fn eight_digits(digits: &[u8]) -> Option<i64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    // Zeros before them: the last digit is the highest byte.
    let missing = 8 * (8 - digits.len());
    let word = short_word(digits) << missing | (ZEROS & !(u64::MAX << missing));
    // A digit's high half is 3, and still is with 6 added; a carry out of a byte only comes
    // from one whose high half is 15, which is none.
    let high = (word & 0xf0f0_f0f0_f0f0_f0f0) | (word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0) >> 4;
    if high != 0x3333_3333_3333_3333 {
        return None;
    }
    // Neighbours are joined: digits to pairs, pairs to fours, fours to the number.
    let digits = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some(((fours * 10_000 + (fours >> 32)) & 0xffff_ffff) as i64)
}

fn parse(cx: &mut Cx, text: Str<'_>, base: i64) -> KernelResult<i64> {
    let ascii = to_ascii(text);
    match literal(&ascii, base) {
        Ok(literal) => literal.small().ok_or_else(|| Raise::bailout("an integer beyond 64 bits")),
        Err(fault) => Err(raise(cx, &fault, text, base)),
    }
}

fn big_parse(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let text = take::str(&args[0])?;
    let base = args.get(1).map_or(Ok(10), take::index)?;
    let ascii = to_ascii(text);
    match literal(&ascii, base) {
        Ok(literal) => literal.big().map(super::object).ok_or_else(|| Raise::bailout("an integer that has no digits")),
        Err(fault) => Err(raise(cx, &fault, text, base)),
    }
}

op! {
    /// The integer that a text writes in decimal, with sign, surrounding whitespace,
    /// underscores between digits, and digits of any script.
    ///
    /// >>> int(" -1_560 ")
    /// -1560
    int_of_str = "int.of_str" "int"
    Pure fn (cx, _s: str) -> int fallible [ValueError] {
        match plain(_s.as_bytes()) {
            Some(value) => Ok(value),
            None => parse(cx, _s, 10),
        }
    }
    big big_parse
    residue int_of_str_mod(10)
}

op! {
    /// `int(s, base) % modulus` for a modulus above zero: however long the text, a word is enough.
    ///
    /// >>> int("1234567890123456789012", 10) % 97
    /// 21
    int_of_str_mod = "int.of_str_mod" ""
    Pure fn (cx, _s: str, base: int, modulus: int) -> int fallible [ValueError] {
        if base == 10 && let Some(value) = plain(_s.as_bytes()) {
            return Ok(value.checked_rem_euclid(modulus).unwrap_or(0));
        }
        let ascii = to_ascii(_s);
        match literal(&ascii, base) {
            Ok(literal) => Ok(literal.remainder(modulus)),
            Err(fault) => Err(raise(cx, &fault, _s, base)),
        }
    }
}

op! {
    /// The integer that a text writes to a base; 0 means by its prefix.
    ///
    /// >>> int("-0xff", 16)
    /// -255
    int_of_str_base = "int.of_str_base" "int"
    Pure fn (cx, _s: str, base: int) -> int fallible [ValueError] { parse(cx, _s, base) }
    big big_parse
    residue int_of_str_mod
}

#[cfg(test)]
mod tests {
    use super::{literal, plain};
    use num_bigint::BigInt;

    #[test]
    fn plain_numbers_are_those_of_rust() {
        let mut state = 1u64;
        for round in 0..20_000u64 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = (state >> 8) as i64 / 10i64.pow((round % 17) as u32 + 1);
            let text = if round % 3 == 0 { format!("{:0>16}", value % 10i64.pow(15)) } else { value.to_string() };
            for text in [format!("-{text}"), text] {
                let digits = text.trim_start_matches('-').len();
                let expected = (digits <= 16).then(|| text.parse().ok()).flatten();
                assert_eq!(plain(text.as_bytes()), expected, "{text}");
            }
        }
    }

    #[test]
    fn remainders_are_those_of_the_number() {
        let mut state = 7u64;
        for len in 1..80 {
            let mut text = if len % 3 == 0 { String::from("-") } else { String::new() };
            for at in 0..len {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text.push(char::from(b'0' + ((state >> 33) % 10) as u8));
                if at % 7 == 3 && at + 1 < len {
                    text.push('_');
                }
            }
            let literal = literal(text.as_bytes(), 10).ok().unwrap();
            let number = literal.big().unwrap();
            for modulus in [1, 2, 97, 1_000_000_007, i64::MAX] {
                let expected = ((&number % modulus) + modulus) % modulus;
                assert_eq!(BigInt::from(literal.remainder(modulus)), expected, "{text} {modulus}");
            }
        }
    }

    #[test]
    fn any_other_byte_at_any_place_is_refused() {
        assert_eq!((plain(b""), plain(b"-"), plain(b"--1"), plain(b"-1-")), (None, None, None, None));
        for len in 1..=16 {
            for at in 0..len {
                for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
                    for digit in [b'0', b'9'] {
                        let mut text = vec![digit; len];
                        text[at] = byte;
                        // One sign may stand in front.
                        let expected = byte == b'-' && at == 0 && len > 1;
                        assert_eq!(plain(&text).is_some(), expected, "{text:?}");
                    }
                }
            }
        }
    }
}
