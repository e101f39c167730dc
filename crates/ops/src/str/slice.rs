//! Taking parts by code point: indexing, slicing, and the steps of an iteration.

use super::TOO_LARGE_FOR_INT;
use crate::cx::{Cx, KernelResult};
use crate::op;
use crate::text::{Str, ascii_run};
use exuvia_ir::ExcKind::{IndexError, OverflowError, TypeError, ValueError};
use exuvia_ir::{Object, Raise};

/// The number of bytes of the character that begins with that byte.
#[inline]
pub(super) fn width(lead: u8) -> usize {
    match lead {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}

/// The character that begins at a byte offset, or nothing at the end of the text.
#[inline]
fn char_at(s: Str<'_>, offset: usize) -> Option<Str<'_>> {
    let width = width(*s.as_bytes().get(offset)?);
    Some(Str::with_ascii(s.as_str().get(offset..offset + width)?, width == 1))
}

/// Characters from the end of a long text that are counted from there.
const NEAR: usize = 64;

/// The byte offset of the code point with that many code points from it to the end; `None`
/// if the text has fewer.
pub(super) fn offset_from_end(cx: &mut Cx, s: Str<'_>, count: usize) -> Option<usize> {
    if count == 0 || s.known_ascii() {
        return s.byte_len().checked_sub(count);
    }
    if count > NEAR && cx.keeps_place(s) {
        let index = cx.char_len(s).checked_sub(count)?;
        return Some(cx.byte_offset(s, index));
    }
    let mut left = count;
    s.as_bytes().iter().rposition(|byte| {
        left -= usize::from((*byte as i8) >= -64);
        left == 0
    })
}

/// The byte offset that a bound of a slice denotes, clamped to the text.
#[inline]
fn bound(cx: &mut Cx, s: Str<'_>, at: i64) -> usize {
    if at >= 0 {
        // A text has no more characters than bytes.
        if at as u64 >= s.byte_len() as u64 { s.byte_len() } else { cx.byte_offset(s, at as usize) }
    } else {
        offset_from_end(cx, s, at.unsigned_abs() as usize).unwrap_or(0)
    }
}

op! {
    /// The character at an index, which may be negative.
    ///
    /// >>> "abc"[-1]
    /// 'c'
    str_get = "str.get" "a[b]"
    Pure fn (cx, _s: str, _i: subscript) -> str fallible [IndexError] {
        let offset = if _i >= 0 {
            (_i < _s.byte_len() as i64).then(|| cx.byte_offset(_s, _i as usize))
        } else {
            offset_from_end(cx, _s, _i.unsigned_abs() as usize)
        };
        character(cx, _s, offset)
    }
}

/// The character at a byte offset, where there is one.
#[inline]
pub(super) fn character<'a>(cx: &mut Cx, s: Str<'a>, offset: Option<usize>) -> KernelResult<Str<'a>> {
    let found = offset.and_then(|offset| char_at(s, offset));
    found.ok_or_else(|| cx.raise(IndexError, || "string index out of range".into()))
}

op! {
    /// The part between two indices, clamped to the text.
    ///
    /// >>> "abcdef"[1:-1]
    /// 'bcde'
    str_slice = "str.slice" "a[b:c]"
    Pure fn (cx, _s: str, _start: index = Int(0), _stop: index = Int(i64::MAX)) -> str {
        let start = bound(cx, _s, _start);
        let stop = bound(cx, _s, _stop);
        // Both are boundaries of characters, so that the slice cannot fail.
        _s.slice_bytes(start, stop.max(start))
    }
}

/// The start or stop of a slice with a step where the program gives none. It differs from
/// every bound only by being this one value: a slice that spells out exactly -2**63 + 1
/// is taken for one without that bound.
pub const NO_BOUND: i64 = i64::MIN + 1;

/// The indices of a slice with a step over `len` elements: the first one, and how many
/// (Objects/sliceobject.c, PySlice_AdjustIndices).
#[must_use]
pub fn stepped(start: i64, stop: i64, step: i64, len: i64) -> (i64, i64) {
    // The lowest and the highest place that a bound may denote in that direction.
    let (low, high) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let place = |at: i64, default: i64| match at {
        NO_BOUND => default,
        at if at < 0 => at.saturating_add(len).max(low),
        at => at.min(high),
    };
    let (start, stop) =
        if step < 0 { (place(start, high), place(stop, low)) } else { (place(start, low), place(stop, high)) };
    let distance = if step < 0 { start - stop } else { stop - start };
    let stride = step.unsigned_abs();
    let count = if distance <= 0 { 0 } else { (distance as u64 - 1) / stride + 1 };
    (start, count as i64)
}

op! {
    /// Every so many-th character between two indices; a negative step goes backwards.
    ///
    /// >>> "abcdef"[::-2]
    /// 'fdb'
    str_slice_step = "str.slice_step" "a[b:c:d]"
    Pure fn (cx, _s: str, _start: index = Int(NO_BOUND), _stop: index = Int(NO_BOUND), _step: index = Int(1)) -> str
    fallible [ValueError] {
        if _step == 0 {
            return Err(cx.raise(ValueError, || "slice step cannot be zero".into()));
        }
        // PySlice_Unpack does the same, so that a step can be negated.
        let step = _step.max(-i64::MAX);
        let (start, count) = stepped(_start, _stop, step, _s.char_len() as i64);
        if count == 0 {
            return Ok(Str::with_ascii("", true));
        }
        if step == 1 {
            let from = _s.byte_offset(start as usize);
            let part = _s.slice_bytes(from, _s.byte_len());
            return Ok(part.slice_bytes(0, part.byte_offset(count as usize)));
        }
        let mut out = cx.text((count as usize).min(_s.byte_len()))?;
        if step == -1 {
            let part = _s.slice_bytes(_s.byte_offset((start - count + 1) as usize), _s.byte_len());
            let bytes = &part.as_bytes()[..part.byte_offset(count as usize)];
            let spare = &mut out.spare(bytes.len())?[..bytes.len()];
            spare.copy_from_slice(bytes);
            reverse_characters(spare);
            // SAFETY: the characters of a text were written, each whole.
            unsafe { out.advance(bytes.len()) };
            return Ok(out.finish());
        }
        if _s.is_ascii() {
            let bytes = _s.as_bytes();
            let mut at = start;
            for to in &mut out.spare(count as usize)?[..count as usize] {
                *to = bytes[at as usize];
                at = at.wrapping_add(step);
            }
            // SAFETY: ASCII bytes were written.
            unsafe { out.advance(count as usize) };
            return Ok(out.finish_as(true));
        }
        let (bytes, count, stride) = (_s.as_bytes(), count as usize, step.unsigned_abs() as usize);
        let mut at = _s.byte_offset(start as usize);
        let spare = out.spare(count.saturating_mul(4).min(bytes.len() + 3))?;
        let mut len = 0;
        for taken in 1..=count {
            let wide = width(bytes[at]);
            // Four bytes at once; the next character is written over those that are not its own.
            match bytes.get(at..at + 4) {
                Some(four) if len + 4 <= spare.len() => spare[len..len + 4].copy_from_slice(four),
                _ => spare[len..len + wide].copy_from_slice(&bytes[at..at + wide]),
            }
            len += wide;
            if taken == count {
                break;
            }
            for _ in 0..stride {
                if step > 0 {
                    at += width(bytes[at]);
                } else {
                    at -= 1;
                    while bytes[at] & 0xc0 == 0x80 {
                        at -= 1;
                    }
                }
            }
        }
        // SAFETY: whole characters of a text were written.
        unsafe { out.advance(len) };
        Ok(out.finish())
    }
}

/// Reverses the characters of a text: all bytes, and then those of each character that has more than one.
fn reverse_characters(bytes: &mut [u8]) {
    bytes.reverse();
    let mut at = 0;
    loop {
        let start = at + ascii_run(&bytes[at..]);
        if start == bytes.len() {
            break;
        }
        // What follows the first byte of a character stands before it now.
        let first = bytes[start..].iter().position(|byte| *byte >= 0xc0).map_or(bytes.len() - 1, |more| start + more);
        bytes[start..=first].reverse();
        at = first + 1;
    }
}

op! {
    /// The character that begins at a byte offset within the string: a step of an
    /// iteration.
    char_at_byte = "str.char_at_byte" ""
    Pure fn (cx, _s: str, _offset: int) -> str {
        // Machine code reads the first byte of a character, where it may not look yet whether there is one.
        const NOTHING: &str = "\0";
        let nothing = Str::with_ascii(&NOTHING[..0], true);
        usize::try_from(_offset).ok().and_then(|offset| char_at(_s, offset)).unwrap_or(nothing)
    }
}

op! {
    /// The byte offset of the character after the one that begins at a byte offset: a step
    /// of an iteration.
    next_byte = "str.next_byte" ""
    Pure fn (cx, _s: str, _offset: int) -> int {
        let lead = usize::try_from(_offset).ok().and_then(|offset| _s.as_bytes().get(offset));
        _offset.saturating_add(lead.map_or(1, |lead| width(*lead)) as i64)
    }
}

/// The only character of a string, as `ord` takes it.
fn only_char(s: Str<'_>) -> Option<char> {
    let mut chars = s.as_str().chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

op! {
    /// The code point of a string of one character.
    ///
    /// >>> ord("é")
    /// 233
    str_ord = "str.ord" "ord"
    Pure fn (cx, _c: str) -> int fallible [TypeError] {
        only_char(_c).map(|ch| i64::from(ch as u32)).ok_or_else(|| {
            let len = _c.char_len();
            cx.raise(TypeError, || format!("ord() expected a character, but string of length {len} found"))
        })
    }
}

op! {
    /// The string of one character with that code point. Lone surrogates are left to
    /// CPython: they have no UTF-8.
    ///
    /// >>> chr(8364)
    /// '€'
    str_chr = "str.chr" "chr"
    Pure fn (cx, _i: int) -> str fallible [ValueError, OverflowError] bails Operands {
        // CPython converts to a C int before it looks at the range (Python/bltinmodule.c,
        // builtin_chr).
        if i32::try_from(_i).is_err() {
            return Err(cx.raise(OverflowError, || TOO_LARGE_FOR_INT.into()));
        }
        if !(0..0x11_0000).contains(&_i) {
            return Err(cx.raise(ValueError, || "chr() arg not in range(0x110000)".into()));
        }
        if let Ok(byte) = u8::try_from(_i) && byte < 0x80 {
            return Ok(ascii_char(byte));
        }
        match char::from_u32(_i as u32) {
            Some(ch) => one_char(cx, ch),
            None => Err(SURROGATE),
        }
    }
    big big_chr
}

const SURROGATE: Raise = Raise::Bailout("a lone surrogate");

fn big_chr(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    match super::big_c_int(args) {
        // What is left that the kernel does not do.
        Err(Raise::ROW_MEMORY) => Err(SURROGATE),
        raised => raised,
    }
}

fn one_char<'a>(cx: &mut Cx, ch: char) -> KernelResult<Str<'a>> {
    cx.store(ch.encode_utf8(&mut [0; 4]))
}

/// An ASCII character as a text.
pub(crate) fn ascii_char(byte: u8) -> Str<'static> {
    let at = usize::from(byte & 0x7F);
    Str::with_ascii(&ASCII[at..=at], true)
}

/// Every ASCII character in order, so that a view of one needs no memory.
static ASCII: &str = {
    const BYTES: [u8; 128] = {
        let mut bytes = [0; 128];
        let mut at = 0;
        while at < 128 {
            bytes[at] = at as u8;
            at += 1;
        }
        bytes
    };
    match std::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => "",
    }
};
