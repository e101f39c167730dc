//! `strip`, `lstrip`, `rstrip`: views without some characters at the ends.

use super::split::{is_ascii_space, scan, scan_back};
use crate::op;
use crate::text::Str;
use crate::unicode;

/// The view without whitespace at the ends that are asked for.
#[inline]
fn strip_space(s: Str<'_>, left: bool, right: bool) -> Str<'_> {
    let (ascii, other) = (|byte| !is_ascii_space(byte), |ch| !unicode::is_space(ch));
    let end = if right { scan_back(s, s.byte_len(), ascii, other) } else { s.byte_len() };
    // A text of nothing but whitespace is empty by now if the right side was asked for.
    let start = if left { scan(s, 0, ascii, other).min(end) } else { 0 };
    s.slice_bytes(start, end)
}

/// Bytes of characters that are looked through one by one.
const FEW: usize = 64;

/// The view without characters of a set at the ends that are asked for.
#[inline]
fn strip_chars<'a>(s: Str<'a>, chars: Str<'_>, left: bool, right: bool) -> Str<'a> {
    let mut set = 0u128;
    for byte in chars.as_bytes() {
        if *byte < 0x80 {
            set |= 1 << byte;
        }
    }
    let all_ascii = chars.is_ascii();
    let ascii = |byte: u8| set >> byte & 1 == 0;
    // Each character of one text is looked for among those of the other.
    let mut sorted: Vec<char> = match all_ascii || chars.byte_len() <= FEW {
        true => Vec::new(),
        false => chars.as_str().chars().filter(|ch| !ch.is_ascii()).collect(),
    };
    sorted.sort_unstable();
    sorted.dedup();
    let other = |ch: char| match sorted.is_empty() {
        true => all_ascii || !chars.as_str().contains(ch),
        false => sorted.binary_search(&ch).is_err(),
    };
    let end = if right { scan_back(s, s.byte_len(), ascii, other) } else { s.byte_len() };
    let start = if left { scan(s, 0, ascii, other).min(end) } else { 0 };
    s.slice_bytes(start, end)
}

op! {
    /// The string without whitespace at both ends.
    ///
    /// >>> "  a b\n".strip()
    /// 'a b'
    str_strip = "str.strip" ".strip"
    Pure fn (cx, _s: str, _chars: none = None) -> str { strip_space(_s, true, true) }
}

op! {
    /// The string without whitespace at its beginning.
    ///
    /// >>> "  a b\n".lstrip()
    /// 'a b\n'
    str_lstrip = "str.lstrip" ".lstrip"
    Pure fn (cx, _s: str, _chars: none = None) -> str { strip_space(_s, true, false) }
}

op! {
    /// The string without whitespace at its end.
    ///
    /// >>> "  a b\n".rstrip()
    /// '  a b'
    str_rstrip = "str.rstrip" ".rstrip"
    Pure fn (cx, _s: str, _chars: none = None) -> str { strip_space(_s, false, true) }
}

op! {
    /// The string without the given characters, in any order, at both ends.
    ///
    /// >>> "$1,234.".strip("$.")
    /// '1,234'
    str_strip_chars = "str.strip_chars" ".strip"
    Pure fn (cx, _s: str, _chars: str) -> str { strip_chars(_s, _chars, true, true) }
}

op! {
    /// The string without the given characters at its beginning.
    ///
    /// >>> "0042".lstrip("0")
    /// '42'
    str_lstrip_chars = "str.lstrip_chars" ".lstrip"
    Pure fn (cx, _s: str, _chars: str) -> str { strip_chars(_s, _chars, true, false) }
}

op! {
    /// The string without the given characters at its end.
    ///
    /// >>> "path//".rstrip("/")
    /// 'path'
    str_rstrip_chars = "str.rstrip_chars" ".rstrip"
    Pure fn (cx, _s: str, _chars: str) -> str { strip_chars(_s, _chars, false, true) }
}
