//! The text of ints: `str`, `repr`, `bin`, `oct`, `hex`.

use super::big;
use crate::cx::{Cx, KernelResult};
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::ValueError;
use exuvia_ir::{Object, Raise};
use num_bigint::{BigInt, Sign};

/// The text of an integer of 64 bits, made on the stack.
#[derive(Debug)]
pub(crate) struct Digits {
    buffer: [u8; 66],
    start: usize,
}

impl Digits {
    /// The digits of a magnitude to a base from 2 to 36, in lower case.
    pub(crate) fn new(mut magnitude: u64, base: u64) -> Digits {
        if base == 10 {
            return Digits::of_magnitude(magnitude);
        }
        let mut digits = Digits { buffer: [0; 66], start: 66 };
        loop {
            digits.byte(b"0123456789abcdefghijklmnopqrstuvwxyz"[(magnitude % base) as usize]);
            magnitude /= base;
            if magnitude == 0 {
                return digits;
            }
        }
    }

    /// The decimal text of an integer with its sign.
    pub(crate) fn decimal(value: i64) -> Digits {
        let mut digits = Digits::of_magnitude(value.unsigned_abs());
        if value < 0 {
            digits.byte(b'-');
        }
        digits
    }

    /// The decimal digits of a magnitude: a division by a constant, for two digits at once.
    #[inline]
    fn of_magnitude(mut magnitude: u64) -> Digits {
        let mut digits = Digits { buffer: [0; 66], start: 66 };
        while magnitude >= 100 {
            digits.pair((magnitude % 100) as usize);
            magnitude /= 100;
        }
        if magnitude >= 10 {
            digits.pair(magnitude as usize);
        } else {
            digits.byte(b'0' + magnitude as u8);
        }
        digits
    }

    /// The decimal text of an integer in a field of `width` places, at most [`Digits::WIDEST`],
    /// with zeros behind the sign or spaces before it.
    pub(crate) fn in_field(value: i64, width: usize, zeros: bool) -> Digits {
        let mut digits = Digits::of_magnitude(value.unsigned_abs());
        let negative = value < 0;
        let first = 66 - width.min(Digits::WIDEST);
        if zeros {
            while digits.start > first + usize::from(negative) {
                digits.byte(b'0');
            }
        }
        if negative {
            digits.byte(b'-');
        }
        while digits.start > first {
            digits.byte(b' ');
        }
        digits
    }

    /// The widest field that there is room for.
    pub(crate) const WIDEST: usize = 60;

    fn byte(&mut self, byte: u8) {
        self.start -= 1;
        self.buffer[self.start] = byte;
    }

    fn pair(&mut self, value: usize) {
        self.byte(b'0' + (value % 10) as u8);
        self.byte(b'0' + (value / 10) as u8);
    }

    /// Turns letters to upper case.
    pub(crate) fn make_upper(&mut self) {
        self.buffer.make_ascii_uppercase();
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        // SAFETY: `byte` alone writes to the buffer, and only digits, letters and signs.
        unsafe { std::str::from_utf8_unchecked(&self.buffer[self.start..]) }
    }
}

/// More decimal digits than this are refused (Python/sysmodule.c,
/// `sys.int_info.default_max_str_digits`).
pub(super) const MAX_DIGITS: usize = 4300;

/// The decimal text of an integer of any size, or the exception that CPython raises for
/// one of too many digits (Objects/longobject.c, long_to_decimal_string_internal).
pub(crate) fn decimal_text(value: &BigInt) -> KernelResult<String> {
    let too_long = || {
        let message = "Exceeds the limit (4300 digits) for integer string conversion; \
                       use sys.set_int_max_str_digits() to increase the limit";
        Raise::new(ValueError, message)
    };
    // A number of that many bits certainly has more digits.
    if value.bits() as usize > MAX_DIGITS * 10 / 3 {
        return Err(too_long());
    }
    let text = value.to_string();
    let sign = usize::from(value.sign() == Sign::Minus);
    if text.len() - sign > MAX_DIGITS { Err(too_long()) } else { Ok(text) }
}

fn store<'a>(cx: &mut Cx, text: &str) -> KernelResult<Str<'a>> {
    let mut out = cx.text(text.len())?;
    out.push_str(text)?;
    Ok(out.finish_as(true))
}

fn big_text(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    Ok(Object::str(&decimal_text(&big(&args[0])?)?))
}

op! {
    /// The decimal text.
    ///
    /// >>> str(-42)
    /// '-42'
    int_str = "int.str" "str"
    Pure fn (cx, _x: int) -> str fallible [ValueError] { store(cx, Digits::decimal(_x).as_str()) }
    big big_text
}

op! {
    /// The decimal text.
    ///
    /// >>> repr(-42)
    /// '-42'
    int_repr = "int.repr" "repr"
    Pure fn (cx, _x: int) -> str fallible [ValueError] { store(cx, Digits::decimal(_x).as_str()) }
    big big_text
}

/// The text with a prefix, as `bin`, `oct` and `hex` give it.
fn prefixed<'a>(cx: &mut Cx, value: i64, base: u64, prefix: &str) -> KernelResult<Str<'a>> {
    let mut out = cx.text(70)?;
    out.push_str(if value < 0 { "-" } else { "" })?;
    out.push_str(prefix)?;
    out.push_str(Digits::new(value.unsigned_abs(), base).as_str())?;
    Ok(out.finish_as(true))
}

fn big_prefixed(args: &[Object], base: u32, prefix: &str) -> KernelResult<Object> {
    let value = big(&args[0])?;
    let sign = if value.sign() == Sign::Minus { "-" } else { "" };
    Ok(Object::str(&format!("{sign}{prefix}{}", value.magnitude().to_str_radix(base))))
}

fn big_bin(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_prefixed(args, 2, "0b")
}

fn big_oct(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_prefixed(args, 8, "0o")
}

fn big_hex(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    big_prefixed(args, 16, "0x")
}

op! {
    /// The binary text with its prefix.
    ///
    /// >>> bin(-10)
    /// '-0b1010'
    int_bin = "int.bin" "bin"
    Pure fn (cx, _x: int) -> str fallible { prefixed(cx, _x, 2, "0b") }
    big big_bin
}

op! {
    /// The octal text with its prefix.
    ///
    /// >>> oct(64)
    /// '0o100'
    int_oct = "int.oct" "oct"
    Pure fn (cx, _x: int) -> str fallible { prefixed(cx, _x, 8, "0o") }
    big big_oct
}

op! {
    /// The hexadecimal text with its prefix.
    ///
    /// >>> hex(255)
    /// '0xff'
    int_hex = "int.hex" "hex"
    Pure fn (cx, _x: int) -> str fallible { prefixed(cx, _x, 16, "0x") }
    big big_hex
}
