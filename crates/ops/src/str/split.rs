//! Taking texts apart: `split`, `rsplit`, `splitlines`. The parts are views.

use super::needle;
use crate::adapt::TextList;
use crate::cx::{Cx, KernelResult};
use crate::list::StrListBuilder;
use crate::op;
use crate::text::Str;
use crate::unicode;
use exuvia_ir::ExcKind::ValueError;

/// Whether an ASCII byte is whitespace to Python: the separators U+001C to U+001F are.
#[inline]
pub(super) fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ')
}

/// The offset of the first character from `at` on for which `stop` holds, or the end.
/// `ascii` and `other` say it of ASCII bytes and of other characters.
#[inline]
pub(super) fn scan(s: Str<'_>, at: usize, ascii: impl Fn(u8) -> bool, other: impl Fn(char) -> bool) -> usize {
    let bytes = s.as_bytes();
    let mut at = at;
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x80 {
            if ascii(byte) {
                return at;
            }
            at += 1;
        } else {
            let Some(ch) = s.as_str()[at..].chars().next() else { return at };
            if other(ch) {
                return at;
            }
            at += ch.len_utf8();
        }
    }
    at
}

/// The offset behind the last character before `at` for which `stop` holds, or 0.
#[inline]
pub(super) fn scan_back(s: Str<'_>, at: usize, ascii: impl Fn(u8) -> bool, other: impl Fn(char) -> bool) -> usize {
    let bytes = s.as_bytes();
    let mut at = at;
    while at > 0 {
        let byte = bytes[at - 1];
        if byte < 0x80 {
            if ascii(byte) {
                return at;
            }
            at -= 1;
        } else {
            let Some(ch) = s.as_str()[..at].chars().next_back() else { return at };
            if other(ch) {
                return at;
            }
            at -= ch.len_utf8();
        }
    }
    at
}

/// The largest number of splits; a negative one means no limit.
fn limit(maxsplit: i64) -> u64 {
    u64::try_from(maxsplit).unwrap_or(u64::MAX)
}

fn not_space(s: Str<'_>, at: usize) -> usize {
    scan(s, at, |byte| !is_ascii_space(byte), |ch| !unicode::is_space(ch))
}

fn not_space_back(s: Str<'_>, at: usize) -> usize {
    scan_back(s, at, |byte| !is_ascii_space(byte), |ch| !unicode::is_space(ch))
}

op! {
    /// The words: what stands between runs of whitespace, without empty strings. After
    /// `maxsplit` words the rest is one more, with its trailing whitespace.
    ///
    /// >>> " a  b c ".split(None, 1)
    /// ['a', 'b c ']
    str_split_words = "str.split_words" ".split"
    Alloc fn (cx, _s: str, sep: none = None, maxsplit: ssize = Int(-1)) -> str_list fallible [OverflowError] {
        let mut left = limit(maxsplit);
        let mut words = StrListBuilder::new(cx)?;
        let mut at = not_space(_s, 0);
        while at < _s.byte_len() {
            if left == 0 {
                words.push(cx, _s.slice_bytes(at, _s.byte_len()))?;
                break;
            }
            left -= 1;
            let end = scan(_s, at, is_ascii_space, unicode::is_space);
            words.push(cx, _s.slice_bytes(at, end))?;
            at = not_space(_s, end);
        }
        Ok(words.finish())
    }
}

op! {
    /// As `split` without separator, but splits from the end.
    ///
    /// >>> " a  b c ".rsplit(maxsplit=1)
    /// [' a  b', 'c']
    str_rsplit_words = "str.rsplit_words" ".rsplit"
    Alloc fn (cx, _s: str, sep: none = None, maxsplit: ssize = Int(-1)) -> str_list fallible [OverflowError] {
        let mut left = limit(maxsplit);
        let mut words = StrListBuilder::new(cx)?;
        let mut end = not_space_back(_s, _s.byte_len());
        while end > 0 {
            if left == 0 {
                words.push(cx, _s.slice_bytes(0, end))?;
                break;
            }
            left -= 1;
            let start = scan_back(_s, end, is_ascii_space, unicode::is_space);
            words.push(cx, _s.slice_bytes(start, end))?;
            end = not_space_back(_s, start);
        }
        words.reverse();
        Ok(words.finish())
    }
}

fn empty_separator(cx: &Cx) -> exuvia_ir::Raise {
    cx.raise(ValueError, || "empty separator".into())
}

op! {
    /// What stands between the occurrences of a separator, empty strings included.
    ///
    /// >>> "1,2,,3".split(",")
    /// ['1', '2', '', '3']
    str_split = "str.split" ".split"
    Alloc fn (cx, _s: str, sep: str, maxsplit: ssize = Int(-1)) -> str_list fallible [ValueError, OverflowError] {
        split(cx, _s, sep, maxsplit)
    }
}

fn split(cx: &mut Cx, s: Str<'_>, sep: Str<'_>, maxsplit: i64) -> KernelResult<TextList> {
    if sep.byte_len() == 0 {
        return Err(empty_separator(cx));
    }
    let mut left = limit(maxsplit);
    let mut parts = StrListBuilder::new(cx)?;
    let mut start = 0;
    while left > 0
        && let Some(at) = needle::find(&s.as_bytes()[start..], sep.as_bytes())
    {
        parts.push(cx, s.slice_bytes(start, start + at))?;
        start += at + sep.byte_len();
        left -= 1;
    }
    parts.push(cx, s.slice_bytes(start, s.byte_len()))?;
    Ok(parts.finish())
}

op! {
    /// As `split` with a separator, but splits from the end.
    ///
    /// >>> "a.b.c".rsplit(".", 1)
    /// ['a.b', 'c']
    str_rsplit = "str.rsplit" ".rsplit"
    Alloc fn (cx, _s: str, sep: str, maxsplit: ssize = Int(-1)) -> str_list fallible [ValueError, OverflowError] {
        if sep.byte_len() == 0 {
            return Err(empty_separator(cx));
        }
        let mut left = limit(maxsplit);
        let mut parts = StrListBuilder::new(cx)?;
        let mut end = _s.byte_len();
        while left > 0 && let Some(at) = needle::rfind(&_s.as_bytes()[..end], sep.as_bytes()) {
            parts.push(cx, _s.slice_bytes(at + sep.byte_len(), end))?;
            end = at;
            left -= 1;
        }
        parts.push(cx, _s.slice_bytes(0, end))?;
        parts.reverse();
        Ok(parts.finish())
    }
}

op! {
    /// The lines, without their ends unless `keepends`.
    ///
    /// >>> "a\nb\r\n\nc".splitlines()
    /// ['a', 'b', '', 'c']
    str_splitlines = "str.splitlines" ".splitlines"
    Alloc fn (cx, _s: str, keepends: bool = Bool(false)) -> str_list fallible {
        let bytes = _s.as_bytes();
        let mut lines = StrListBuilder::new(cx)?;
        let mut start = 0;
        while start < bytes.len() {
            let end = scan(_s, start, |byte| matches!(byte, b'\n'..=b'\r' | 0x1c..=0x1e), unicode::is_line_break);
            let next = match bytes.get(end) {
                None => end,
                Some(b'\r') if bytes.get(end + 1) == Some(&b'\n') => end + 2,
                Some(..0x80) => end + 1,
                // U+0085 takes two bytes, U+2028 and U+2029 take three.
                Some(0x80..0xe0) => end + 2,
                Some(0xe0..) => end + 3,
            };
            lines.push(cx, _s.slice_bytes(start, if keepends { next } else { end }))?;
            start = next;
        }
        Ok(lines.finish())
    }
}
