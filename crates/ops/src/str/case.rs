//! Changing case: `lower`, `upper`, `capitalize`, `title`, `swapcase`, `casefold`.

use crate::cx::{Cx, KernelResult, Text};
use crate::op;
use crate::text::{Str, ascii_run, short_word};
use crate::unicode::{self, Mapped};

/// How many letters have an upper and a lower case in ASCII, and by which bit those differ.
const LETTERS: u8 = 26;
const CASE: u8 = 0x20;

/// Changes the case of the 26 letters of ASCII from `first` on.
#[inline]
fn turned(byte: u8, first: u8) -> u8 {
    byte ^ (u8::from(byte.wrapping_sub(first) < LETTERS) * CASE)
}

/// As [`turned`], for eight bytes of ASCII at once.
#[inline]
fn all_turned(word: u64, first: u8) -> u64 {
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    // No byte of a sum reaches the next one: the highest is 0x7f + 0x3f.
    let (from, beyond) = (word + each(0x80 - first), word + each(0x80 - first - LETTERS));
    word ^ ((from & !beyond & each(0x80)) >> 2)
}

/// Changes the case of the 26 letters from `first` on in an ASCII text. One that does not change is returned as
/// it is.
#[inline(always)]
fn turn_ascii<'a>(cx: &mut Cx, s: Str<'a>, first: u8) -> KernelResult<Str<'a>> {
    let bytes = s.as_bytes();
    let short = bytes.len() <= 8;
    let word = if short { short_word(bytes) } else { 0 };
    let turned_word = all_turned(word, first);
    let same = if short { turned_word == word } else { bytes.iter().all(|byte| turned(*byte, first) == *byte) };
    if same {
        return Ok(s);
    }
    let mut out = cx.text(bytes.len().max(8))?;
    let spare = out.spare(bytes.len().max(8))?;
    if short {
        // Bytes of 0 behind the text stay so.
        spare[..8].copy_from_slice(&turned_word.to_le_bytes());
    } else {
        for (to, byte) in spare.iter_mut().zip(bytes) {
            *to = turned(*byte, first);
        }
    }
    // SAFETY: ASCII was mapped to ASCII.
    unsafe { out.advance(bytes.len()) };
    Ok(out.finish_as(true))
}

/// An ASCII text of the ASCII that `map` gives for each byte in turn.
#[inline(always)]
fn map_ascii<'a>(cx: &mut Cx, s: Str<'_>, mut map: impl FnMut(u8) -> u8) -> KernelResult<Str<'a>> {
    let bytes = s.as_bytes();
    let mut out = cx.text(bytes.len())?;
    for (to, byte) in out.spare(bytes.len())?.iter_mut().zip(bytes) {
        *to = map(*byte) & 0x7F;
    }
    // SAFETY: so many bytes were written, each below 128.
    unsafe { out.advance(bytes.len()) };
    Ok(out.finish_as(true))
}

fn push(out: &mut Text<'_>, mapped: Mapped) -> KernelResult<()> {
    match mapped {
        Mapped::One(ch) => out.push(ch),
        Mapped::Many(text) => out.push_str(text),
    }
}

/// Whether the capital sigma between two texts is final: characters that case ignores
/// skipped, a cased one stands before it and none behind it (Objects/unicodeobject.c,
/// handle_capital_sigma).
fn is_final_sigma(before: &str, after: &str) -> bool {
    let cased = |ch: Option<char>| ch.is_some_and(unicode::is_cased);
    cased(before.chars().rev().find(|ch| !unicode::is_case_ignorable(*ch)))
        && !cased(after.chars().find(|ch| !unicode::is_case_ignorable(*ch)))
}

/// Whether the character has case; quick for ASCII.
#[inline]
fn is_cased(ch: char) -> bool {
    if ch.is_ascii() { ch.is_ascii_alphabetic() } else { unicode::is_cased(ch) }
}

/// The title case of a character; quick for ASCII.
#[inline]
fn title(ch: char) -> Mapped {
    if ch.is_ascii() { Mapped::One(ch.to_ascii_uppercase()) } else { unicode::title(ch) }
}

/// The lower case of the character that begins at an offset; quick for ASCII.
#[inline]
fn lower_at(text: &str, at: usize, ch: char) -> Mapped {
    if ch.is_ascii() {
        return Mapped::One(ch.to_ascii_lowercase());
    }
    if ch == '\u{3a3}' {
        let end = is_final_sigma(&text[..at], &text[at + ch.len_utf8()..]);
        return Mapped::One(if end { '\u{3c2}' } else { '\u{3c3}' });
    }
    unicode::lower(ch)
}

/// Maps every character of any text, runs of ASCII as bytes.
fn map_runs<'a>(
    cx: &mut Cx,
    s: Str<'_>,
    ascii: impl Fn(u8) -> u8,
    other: impl Fn(usize, char) -> Mapped,
) -> KernelResult<Str<'a>> {
    let text = s.as_str();
    let mut out = cx.text(text.len() + 8)?;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let run = ascii_run(rest);
        for (to, byte) in out.spare(run)?.iter_mut().zip(&rest[..run]) {
            *to = ascii(*byte);
        }
        // SAFETY: ASCII was mapped to ASCII.
        unsafe { out.advance(run) };
        at += run;
        if let Some(ch) = text[at..].chars().next() {
            push(&mut out, other(at, ch))?;
            at += ch.len_utf8();
        }
    }
    Ok(out.finish())
}

/// Maps every character of any text, given its offset.
fn map_chars<'a>(cx: &mut Cx, s: Str<'_>, mut map: impl FnMut(usize, char) -> Mapped) -> KernelResult<Str<'a>> {
    let mut out = cx.text(s.byte_len() + 8)?;
    for (at, ch) in s.as_str().char_indices() {
        push(&mut out, map(at, ch))?;
    }
    Ok(out.finish())
}

op! {
    /// The string in lower case.
    ///
    /// >>> "ÉTÉ À LA Mer".lower()
    /// 'été à la mer'
    str_lower = "str.lower" ".lower"
    Pure fn (cx, _s: str) -> str fallible {
        if _s.is_ascii() {
            return turn_ascii(cx, _s, b'A');
        }
        let text = _s.as_str();
        map_runs(cx, _s, |byte| byte.to_ascii_lowercase(), |at, ch| lower_at(text, at, ch))
    }
}

op! {
    /// The string in upper case.
    ///
    /// >>> "straße".upper()
    /// 'STRASSE'
    str_upper = "str.upper" ".upper"
    Pure fn (cx, _s: str) -> str fallible {
        if _s.is_ascii() {
            return turn_ascii(cx, _s, b'a');
        }
        map_runs(cx, _s, |byte| byte.to_ascii_uppercase(), |_, ch| unicode::upper(ch))
    }
}

op! {
    /// The string with its first character in title case and the others in lower case.
    ///
    /// >>> "woBURN".capitalize()
    /// 'Woburn'
    str_capitalize = "str.capitalize" ".capitalize"
    Pure fn (cx, _s: str) -> str fallible {
        if _s.is_ascii() {
            let mut is_first = true;
            return map_ascii(cx, _s, |byte| {
                if std::mem::take(&mut is_first) { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }
            });
        }
        let text = _s.as_str();
        map_chars(cx, _s, |at, ch| if at == 0 { title(ch) } else { lower_at(text, at, ch) })
    }
}

op! {
    /// The string with the first cased character of each word in title case and the others
    /// in lower case; a word is a run of cased characters.
    ///
    /// >>> "they're bill's".title()
    /// "They'Re Bill'S"
    str_title = "str.title" ".title"
    Pure fn (cx, _s: str) -> str fallible {
        if _s.is_ascii() {
            let mut inside = false;
            return map_ascii(cx, _s, |byte| {
                let is_letter = byte.is_ascii_alphabetic();
                let inside = std::mem::replace(&mut inside, is_letter);
                // Upper and lower case differ by one bit.
                if is_letter { (byte & !0x20) | (u8::from(inside) << 5) } else { byte }
            });
        }
        let text = _s.as_str();
        let mut inside = false;
        map_chars(cx, _s, |at, ch| {
            let first = !std::mem::replace(&mut inside, is_cased(ch));
            if first { title(ch) } else { lower_at(text, at, ch) }
        })
    }
}

op! {
    /// The string with upper case turned to lower and lower to upper.
    ///
    /// >>> "Ab Cß".swapcase()
    /// 'aB cSS'
    str_swapcase = "str.swapcase" ".swapcase"
    Pure fn (cx, _s: str) -> str fallible {
        if _s.is_ascii() {
            return map_ascii(cx, _s, |byte| byte ^ (u8::from(byte.is_ascii_alphabetic()) << 5));
        }
        let text = _s.as_str();
        map_chars(cx, _s, |at, ch| match ch {
            'a'..='z' => Mapped::One(ch.to_ascii_uppercase()),
            ch if ch.is_ascii() => Mapped::One(ch.to_ascii_lowercase()),
            ch if unicode::is_upper(ch) => lower_at(text, at, ch),
            ch if unicode::is_lower(ch) => unicode::upper(ch),
            ch => Mapped::One(ch),
        })
    }
}

op! {
    /// The string folded for comparisons that ignore case.
    ///
    /// >>> "Maße".casefold()
    /// 'masse'
    str_casefold = "str.casefold" ".casefold"
    Pure fn (cx, _s: str) -> str fallible {
        if _s.is_ascii() {
            return turn_ascii(cx, _s, b'A');
        }
        map_runs(cx, _s, |byte| byte.to_ascii_lowercase(), |_, ch| unicode::fold(ch))
    }
}
