//! Bytes, as texts of the characters U+0000 to U+00FF, one for each byte. The methods of `bytes`
//! stand in the prelude (`bytes.py`), most of them as those of texts; these operations are what
//! differs, and what other modules of the standard library do with bytes.

use crate::adapt::take;
use crate::classes::ValueClass;
use crate::cx::{Cx, KernelResult, Text};
use crate::def::OpDef;
use crate::op;
use crate::own_hash::of_bytes;
use crate::text::{Str, ascii_run};
use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use exuvia_ir::ExcKind::Error;
use exuvia_ir::{Class, ExcKind, Int, Object, Raise};
use md5::Md5;
use num_bigint::{BigInt, Sign};
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// Every operation on bytes.
pub static OPS: &[&OpDef] = &[
    &bytes_of_text::DEF,
    &bytes_of_text_below::DEF,
    &bytes_decode::DEF,
    &bytes_is_ascii::DEF,
    &bytes_lower::DEF,
    &bytes_upper::DEF,
    &bytes_repr::DEF,
    &bytes_hex::DEF,
    &bytes_of_hex::DEF,
    &bytes_int::DEF,
    &bytes_of_int::DEF,
    &bytes_int_mod::DEF,
    &bytes_digest::DEF,
    &bytes_crc32::DEF,
    &bytes_base64::DEF,
    &bytes_of_base64::DEF,
    &own_bytes::DEF,
];

/// The class.
pub static CLASS: ValueClass = ValueClass {
    class: Class::Bytes,
    methods: include_str!("prelude/bytes.py"),
    repr: shown,
    text: shown,
    hash: |fields| Some(of_bytes(&from_text(text_of(fields)?)?)),
};

/// The text that stands for an object.
fn text_of(fields: &[Object]) -> Option<&str> {
    match fields {
        [Object::Str(text)] => Some(text),
        _ => None,
    }
}

fn shown(fields: &[Object]) -> Option<String> {
    text_of(fields).map(repr)
}

const LEAVES: Raise = Raise::Bailout("bytes that CPython must read");

/// The text that stands for bytes.
#[must_use]
pub fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The bytes that a text stands for; `None` if it has another character.
#[must_use]
pub fn from_text(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        let (ascii, others) = rest.split_at(ascii_run(rest));
        bytes.extend_from_slice(ascii);
        let Some((first, others)) = others.split_first() else { break };
        rest = match (first, others) {
            // U+0080 to U+00FF have two bytes, of which the first holds two bits of eight.
            (0xc2 | 0xc3, [second, others @ ..]) => {
                bytes.push(first << 6 | second & 0x3f);
                others
            }
            _ => return None,
        };
    }
    Some(bytes)
}

/// `repr` of bytes (Objects/bytesobject.c, PyBytes_Repr).
#[must_use]
pub fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = format!("b{quote}");
    for ch in text.chars() {
        match ch {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            ch if ch == quote => out.extend(['\\', ch]),
            ' '..='~' => out.push(ch),
            ch => out.push_str(&format!("\\x{:02x}", u32::from(ch))),
        }
    }
    out.push(quote);
    out
}

/// The bytes, borrowed where they are ASCII.
fn read<'a>(text: Str<'a>, room: &'a mut Vec<u8>) -> KernelResult<&'a [u8]> {
    if text.is_ascii() {
        return Ok(text.as_bytes());
    }
    *room = from_text(text.as_str()).ok_or(LEAVES)?;
    Ok(room)
}

/// Bytes as the text that stands for them.
fn write<'a>(cx: &mut Cx, bytes: &[u8]) -> KernelResult<Str<'a>> {
    let mut out = cx.text(bytes.len())?;
    push(&mut out, bytes)?;
    Ok(out.finish())
}

fn push(out: &mut Text<'_>, bytes: &[u8]) -> KernelResult<()> {
    match bytes.is_ascii().then(|| std::str::from_utf8(bytes)) {
        Some(Ok(ascii)) => out.push_str(ascii),
        _ => {
            let len = bytes.len() + bytes.iter().filter(|byte| !byte.is_ascii()).count();
            let (mut room, mut rest) = (&mut out.spare(len)?[..len], bytes);
            loop {
                let (ascii, others) = rest.split_at(ascii_run(rest));
                let (copied, more) = room.split_at_mut(ascii.len());
                copied.copy_from_slice(ascii);
                let (Some((byte, others)), [first, second, more @ ..]) = (others.split_first(), more) else { break };
                *first = 0xc0 | byte >> 6;
                *second = 0x80 | byte & 0x3f;
                (room, rest) = (more, others);
            }
            // SAFETY: all `len` bytes were written, the UTF-8 of the characters of those numbers.
            unsafe { out.advance(len) };
            Ok(())
        }
    }
}

fn push_hex(out: &mut Text<'_>, bytes: &[u8]) -> KernelResult<()> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let len = 2 * bytes.len();
    for (pair, byte) in out.spare(len)?.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    // SAFETY: all `len` bytes were written, and are ASCII.
    unsafe { out.advance(len) };
    Ok(())
}

op! {
    /// The UTF-8 of a text.
    bytes_of_text = "bytes.of_text" ""
    Pure fn (cx, _s: str) -> str fallible bails Operands {
        if _s.is_ascii() { Ok(_s) } else { write(cx, _s.as_bytes()) }
    }
}

op! {
    /// A text of which each character below a limit is one byte; others are an error (0), question
    /// marks (1) or left out (2).
    bytes_of_text_below = "bytes.of_text_below" ""
    Pure fn (cx, _s: str, _limit: int, _errors: int) -> str fallible [ValueError] bails Operands {
        if _s.is_ascii() {
            return Ok(_s);
        }
        let mut out = cx.text(_s.byte_len())?;
        for ch in _s.as_str().chars() {
            match _errors {
                _ if i64::from(u32::from(ch)) < _limit => out.push(ch)?,
                1 => out.push('?')?,
                2 => {}
                _ => return Err(Raise::Bailout("a text that CPython must encode")),
            }
        }
        Ok(out.finish())
    }
}

op! {
    /// The text that bytes are in UTF-8. What is none is an error (0), U+FFFD (1) or left out (2), by
    /// the longest part that could begin a character.
    bytes_decode = "bytes.decode" ""
    Pure fn (cx, _bytes: str, _errors: int) -> str fallible [ValueError] bails Operands {
        if _bytes.is_ascii() {
            return Ok(_bytes);
        }
        let mut room = Vec::new();
        let bytes = read(_bytes, &mut room)?;
        let mut out = cx.text(bytes.len())?;
        for chunk in bytes.utf8_chunks() {
            out.push_str(chunk.valid())?;
            match (chunk.invalid().is_empty(), _errors) {
                (true, _) | (_, 2) => {}
                (_, 1) => out.push('\u{fffd}')?,
                _ => return Err(LEAVES),
            }
        }
        Ok(out.finish())
    }
}

op! {
    /// Whether all are ASCII.
    bytes_is_ascii = "bytes.is_ascii" ""
    Pure fn (cx, _bytes: str) -> bool { _bytes.is_ascii() }
}

op! {
    /// `bytes.lower`: of ASCII alone.
    bytes_lower = "bytes.lower_ascii" ""
    Pure fn (cx, _bytes: str) -> str fallible bails Operands {
        let mut out = cx.text(_bytes.byte_len())?;
        _bytes.as_str().chars().try_for_each(|ch| out.push(ch.to_ascii_lowercase()))?;
        Ok(out.finish())
    }
}

op! {
    /// `bytes.upper`: of ASCII alone.
    bytes_upper = "bytes.upper_ascii" ""
    Pure fn (cx, _bytes: str) -> str fallible bails Operands {
        let mut out = cx.text(_bytes.byte_len())?;
        _bytes.as_str().chars().try_for_each(|ch| out.push(ch.to_ascii_uppercase()))?;
        Ok(out.finish())
    }
}

op! {
    /// `repr` of bytes.
    bytes_repr = "bytes.repr" ""
    Pure fn (cx, _bytes: str) -> str fallible bails Operands {
        let shown = repr(_bytes.as_str());
        let mut out = cx.text(shown.len())?;
        out.push_str(&shown)?;
        Ok(out.finish())
    }
}

op! {
    /// `hash` of bytes.
    own_bytes = "own.bytes" ""
    Pure fn (cx, _s: str) -> int { from_text(_s.as_str()).map_or(0, |bytes| of_bytes(&bytes)) }
}

op! {
    /// `bytes.hex`, without separators.
    bytes_hex = "bytes.hex" ""
    Pure fn (cx, _bytes: str) -> str fallible bails Operands {
        let mut room = Vec::new();
        let bytes = read(_bytes, &mut room)?;
        let mut out = cx.text(2 * bytes.len())?;
        push_hex(&mut out, bytes)?;
        Ok(out.finish())
    }
}

op! {
    /// `bytes.fromhex`: pairs of digits, between which there may be spaces of ASCII.
    bytes_of_hex = "bytes.of_hex" ""
    Pure fn (cx, _text: str) -> str fallible [ValueError] bails Operands {
        let text = _text.as_bytes();
        let wrong = |at: usize| {
            let message = format!("non-hexadecimal number found in fromhex() arg at position {at}");
            Err(Raise::new(ExcKind::ValueError, message))
        };
        if let Some(at) = text.iter().position(|byte| !byte.is_ascii()) {
            return wrong(at);
        }
        let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
        let mut bytes = Vec::with_capacity(text.len() / 2);
        let mut at = 0;
        while at < text.len() {
            if text[at].is_ascii_whitespace() || text[at] == 0x0b {
                at += 1;
                continue;
            }
            let Some(high) = digit(at) else { return wrong(at) };
            let Some(low) = digit(at + 1) else { return wrong(at + 1) };
            bytes.push((high << 4 | low) as u8);
            at += 2;
        }
        write(cx, &bytes)
    }
}

/// Bytes as digits, the highest first.
fn digits(bytes: &[u8], big: bool) -> impl Iterator<Item = u8> {
    let last = bytes.len().wrapping_sub(1);
    (0..bytes.len()).map(move |at| bytes[if big { at } else { last - at }])
}

/// Whether the highest byte of an int with a sign says that it is below zero.
fn is_negative(bytes: &[u8], big: bool, signed: bool) -> bool {
    signed && digits(bytes, big).next().is_some_and(|highest| highest >= 0x80)
}

fn big_int(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let mut room = Vec::new();
    let bytes = read(take::str(&args[0])?, &mut room)?;
    let (big, signed) = (take::bool(&args[1])?, take::bool(&args[2])?);
    Ok(Object::Int(Int::from_big(match (big, signed) {
        (true, true) => BigInt::from_signed_bytes_be(bytes),
        (false, true) => BigInt::from_signed_bytes_le(bytes),
        (true, false) => BigInt::from_bytes_be(Sign::Plus, bytes),
        (false, false) => BigInt::from_bytes_le(Sign::Plus, bytes),
    })))
}

op! {
    /// `int.from_bytes`.
    bytes_int = "bytes.int" ""
    Pure fn (cx, _bytes: str, _big: bool, _signed: bool) -> int fallible bails Operands {
        let mut room = Vec::new();
        let bytes = read(_bytes, &mut room)?;
        if bytes.len() > 8 {
            return Err(Raise::Bailout("an integer beyond 64 bits"));
        }
        let value = digits(bytes, _big).fold(0u64, |value, byte| value << 8 | u64::from(byte));
        let unused = 64 - 8 * bytes.len() as u32;
        match _signed {
            _ if bytes.is_empty() => Ok(0),
            true => Ok((value << unused) as i64 >> unused),
            false => i64::try_from(value).map_err(|_| Raise::Bailout("an integer beyond 64 bits")),
        }
    }
    big big_int
    residue bytes_int_mod
}

op! {
    /// `int.to_bytes`, of a length that is not below zero.
    bytes_of_int = "bytes.of_int" ""
    Pure fn (cx, _n: int, _length: int, _big: bool, _signed: bool) -> str fallible [OverflowError] bails Operands {
        if _length > 1 << 20 {
            return Err(Raise::Bailout("int.to_bytes of so many bytes"));
        }
        if _n < 0 && !_signed {
            return Err(cx.raise(ExcKind::OverflowError, || "can't convert negative int to unsigned".into()));
        }
        let length = usize::try_from(_length).unwrap_or(0);
        let sign = if _n < 0 { 0xff } else { 0 };
        let mut bytes: Vec<u8> = _n.to_le_bytes().into_iter().chain(std::iter::repeat(sign)).take(length.max(8)).collect();
        let is_left_out = |byte: &u8| *byte == sign;
        // The highest bit that stays says the sign.
        let keeps_sign = !_signed || bytes[..length].last().is_none_or(|highest| highest >> 7 == sign >> 7);
        if !bytes[length..].iter().all(is_left_out) || !keeps_sign {
            return Err(cx.raise(ExcKind::OverflowError, || "int too big to convert".into()));
        }
        bytes.truncate(length);
        if _big {
            bytes.reverse();
        }
        write(cx, &bytes)
    }
}

op! {
    /// `int.from_bytes(…) % modulus` for a modulus above zero: however many bytes, a word is enough.
    bytes_int_mod = "bytes.int_mod" ""
    Pure fn (cx, _bytes: str, _big: bool, _signed: bool, _modulus: int) -> int fallible bails Operands {
        let mut room = Vec::new();
        let bytes = read(_bytes, &mut room)?;
        let modulus = u128::from(_modulus.unsigned_abs().max(1));
        // Of what is below zero the opposite of the complement, which is one less.
        let negative = is_negative(bytes, _big, _signed);
        let flip = if negative { 0xff } else { 0 };
        let all = digits(bytes, _big).fold(0u128, |value, byte| (value << 8 | u128::from(byte ^ flip)) % modulus);
        let value = if negative { modulus - 1 - all } else { all };
        Ok(value as i64)
    }
}

op! {
    /// The digest of bytes by the algorithm of that name in `hashlib`, in hexadecimal digits.
    bytes_digest = "bytes.digest" ""
    Pure fn (cx, _bytes: str, _name: str) -> str fallible bails Operands {
        let mut room = Vec::new();
        let bytes = read(_bytes, &mut room)?;
        let mut out = cx.text(128)?;
        match _name.as_str() {
            "md5" => push_hex(&mut out, &Md5::digest(bytes)),
            "sha1" => push_hex(&mut out, &Sha1::digest(bytes)),
            "sha224" => push_hex(&mut out, &Sha224::digest(bytes)),
            "sha256" => push_hex(&mut out, &Sha256::digest(bytes)),
            "sha384" => push_hex(&mut out, &Sha384::digest(bytes)),
            "sha512" => push_hex(&mut out, &Sha512::digest(bytes)),
            _ => Err(Raise::Bailout("an algorithm of hashlib that CPython must run")),
        }?;
        Ok(out.finish())
    }
}

op! {
    /// `zlib.crc32`.
    bytes_crc32 = "bytes.crc32" ""
    Pure fn (cx, _bytes: str, _start: int) -> int fallible bails Operands {
        let mut room = Vec::new();
        let mut hasher = crc32fast::Hasher::new_with_initial(_start as u32);
        hasher.update(read(_bytes, &mut room)?);
        Ok(i64::from(hasher.finalize()))
    }
}

/// The alphabet of `base64`, or of its functions for URLs.
fn alphabet(url: bool) -> &'static GeneralPurpose {
    if url { &URL_SAFE } else { &STANDARD }
}

op! {
    /// `base64.b64encode`, or `urlsafe_b64encode`.
    bytes_base64 = "bytes.base64" ""
    Pure fn (cx, _bytes: str, _url: bool) -> str fallible bails Operands {
        let mut room = Vec::new();
        let digits = alphabet(_url).encode(read(_bytes, &mut room)?);
        let mut out = cx.text(digits.len())?;
        out.push_str(&digits)?;
        Ok(out.finish())
    }
}

op! {
    /// `base64.b64decode`, or `urlsafe_b64decode`: characters that are no digits are passed over
    /// (Modules/binascii.c, binascii_a2b_base64_impl).
    bytes_of_base64 = "bytes.of_base64" ""
    Pure fn (cx, _digits: str, _url: bool) -> str fallible [Error] {
        let digits = _digits.as_bytes();
        if let Ok(bytes) = alphabet(_url).decode(digits) {
            return write(cx, &bytes);
        }
        let (mut bytes, mut place, mut held, mut pads) = (Vec::new(), 0, 0u8, 0);
        for byte in digits {
            let digit = match byte {
                b'=' => {
                    pads += 1;
                    if place >= 2 && place + pads >= 4 {
                        return write(cx, &bytes);
                    }
                    continue;
                }
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'-' if _url => 62,
                b'_' if _url => 63,
                _ => continue,
            };
            pads = 0;
            match place {
                0 => held = digit,
                1 => {
                    bytes.push(held << 2 | digit >> 4);
                    held = digit & 0xf;
                }
                2 => {
                    bytes.push(held << 4 | digit >> 2);
                    held = digit & 3;
                }
                _ => bytes.push(held << 6 | digit),
            }
            place = (place + 1) % 4;
        }
        match place {
            0 => write(cx, &bytes),
            1 => {
                let count = bytes.len() / 3 * 4 + 1;
                Err(cx.raise(Error, || {
                    format!(
                        "Invalid base64-encoded string: number of data characters ({count}) cannot be 1 more than a \
                         multiple of 4"
                    )
                }))
            }
            _ => Err(cx.raise(Error, || "Incorrect padding".to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_for_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_text(&to_text(&all)), Some(all));
        assert_eq!(from_text("\u{100}"), None);
        assert_eq!(repr("a\u{e4}\n\\"), r"b'a\xe4\n\\'");
        assert_eq!(repr("it's"), "b\"it's\"");
        assert_eq!(repr("'\""), "b'\\'\"'");
    }
}
