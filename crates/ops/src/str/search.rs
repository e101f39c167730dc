//! Looking for a substring: `find` and its family, `in`, `count`, prefixes and suffixes.

use super::needle;
use crate::cx::Cx;
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::ValueError;
use exuvia_ir::Raise;

/// The byte range that `[start:end]` of code points denotes, or `None` where the start
/// lies behind the end of the text (Objects/unicodeobject.c, ADJUST_INDICES): then not
/// even the empty string is found.
#[inline]
fn window(cx: &mut Cx, s: Str<'_>, start: i64, end: i64) -> Option<(usize, usize)> {
    if start == 0 && end == i64::MAX { Some((0, s.byte_len())) } else { narrower(cx, s, start, end) }
}

fn narrower(cx: &mut Cx, s: Str<'_>, start: i64, end: i64) -> Option<(usize, usize)> {
    if start >= 0 && end == i64::MAX {
        // No need to know the length, unless the start reaches the end.
        let offset = cx.byte_offset(s, start as usize);
        if offset < s.byte_len() {
            return Some((offset, s.byte_len()));
        }
    }
    let len = cx.char_len(s) as i64;
    let clamp = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at };
    let (start, end) = (clamp(start), clamp(end.min(len)));
    (start <= end).then(|| (cx.byte_offset(s, start as usize), cx.byte_offset(s, end as usize)))
}

/// The byte offset where the substring first begins in a byte range.
#[inline]
pub(super) fn first(s: Str<'_>, sub: Str<'_>, (from, to): (usize, usize)) -> Option<usize> {
    needle::find(&s.as_bytes()[from..to], sub.as_bytes()).map(|at| from + at)
}

/// The byte offset where the substring last begins in a byte range.
#[inline]
pub(super) fn last(s: Str<'_>, sub: Str<'_>, (from, to): (usize, usize)) -> Option<usize> {
    needle::rfind(&s.as_bytes()[from..to], sub.as_bytes()).map(|at| from + at)
}

/// Whether a byte range begins with the prefix.
#[inline]
pub(super) fn begins(s: Str<'_>, prefix: Str<'_>, (from, to): (usize, usize)) -> bool {
    let (part, prefix) = (&s.as_bytes()[from..to], prefix.as_bytes());
    prefix.len() <= part.len() && needle::same(&part[..prefix.len()], prefix)
}

/// Whether a byte range ends with the suffix.
#[inline]
pub(super) fn ends(s: Str<'_>, suffix: Str<'_>, (from, to): (usize, usize)) -> bool {
    let (part, suffix) = (&s.as_bytes()[from..to], suffix.as_bytes());
    suffix.len() <= part.len() && needle::same(&part[part.len() - suffix.len()..], suffix)
}

#[cold]
pub(super) fn not_found(cx: &mut Cx) -> Raise {
    cx.raise(ValueError, || "substring not found".into())
}

#[inline]
fn find(cx: &mut Cx, s: Str<'_>, sub: Str<'_>, start: i64, end: i64) -> Option<i64> {
    let offset = first(s, sub, window(cx, s, start, end)?)?;
    Some(cx.char_index(s, offset) as i64)
}

#[inline]
fn rfind(cx: &mut Cx, s: Str<'_>, sub: Str<'_>, start: i64, end: i64) -> Option<i64> {
    let offset = last(s, sub, window(cx, s, start, end)?)?;
    Some(cx.char_index(s, offset) as i64)
}

/// How often the substring occurs in a text without overlap.
pub(super) fn count(text: Str<'_>, sub: Str<'_>) -> i64 {
    match sub.as_bytes() {
        [] => text.char_len() as i64 + 1,
        [byte] => text.as_bytes().iter().filter(|other| *other == byte).count() as i64,
        sub => needle::count(text.as_bytes(), sub),
    }
}

op! {
    /// The lowest index in `[start:end]` where the substring begins, or -1.
    ///
    /// >>> "abcabc".find("c")
    /// 2
    str_find = "str.find" ".find"
    Pure fn (cx, _s: str, _sub: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> int {
        find(cx, _s, _sub, _start, _end).unwrap_or(-1)
    }
}

op! {
    /// The highest index in `[start:end]` where the substring begins, or -1.
    ///
    /// >>> "abcabc".rfind("c")
    /// 5
    str_rfind = "str.rfind" ".rfind"
    Pure fn (cx, _s: str, _sub: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> int {
        rfind(cx, _s, _sub, _start, _end).unwrap_or(-1)
    }
}

op! {
    /// As `find`, but raises `ValueError` where the substring is not found.
    ///
    /// >>> "abcabc".index("b", 2)
    /// 4
    str_index = "str.index" ".index"
    Pure fn (cx, _s: str, _sub: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> int
    fallible [ValueError] {
        find(cx, _s, _sub, _start, _end).ok_or_else(|| not_found(cx))
    }
}

op! {
    /// As `rfind`, but raises `ValueError` where the substring is not found.
    ///
    /// >>> "abcabc".rindex("b", None, -2)
    /// 1
    str_rindex = "str.rindex" ".rindex"
    Pure fn (cx, _s: str, _sub: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> int
    fallible [ValueError] {
        rfind(cx, _s, _sub, _start, _end).ok_or_else(|| not_found(cx))
    }
}

op! {
    /// Whether the substring occurs in the string. The substring is the first operand.
    ///
    /// >>> "b" in "abc"
    /// True
    str_contains = "str.contains" "a in b"
    Pure fn (cx, _sub: str, _s: str) -> bool {
        needle::find(_s.as_bytes(), _sub.as_bytes()).is_some()
    }
}

op! {
    /// How often the substring occurs in `[start:end]` without overlap. The empty string
    /// occurs between all characters and at both ends.
    ///
    /// >>> "banana".count("an")
    /// 2
    str_count = "str.count" ".count"
    Pure fn (cx, _s: str, _sub: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> int {
        window(cx, _s, _start, _end).map_or(0, |(from, to)| count(_s.slice_bytes(from, to), _sub))
    }
}

op! {
    /// Whether `[start:end]` begins with the prefix.
    ///
    /// >>> "abc".startswith("bc", 1)
    /// True
    str_startswith = "str.startswith" ".startswith"
    Pure fn (cx, _s: str, _prefix: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> bool {
        window(cx, _s, _start, _end).is_some_and(|range| begins(_s, _prefix, range))
    }
}

op! {
    /// Whether `[start:end]` ends with the suffix.
    ///
    /// >>> "abc".endswith("b", 0, -1)
    /// True
    str_endswith = "str.endswith" ".endswith"
    Pure fn (cx, _s: str, _suffix: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> bool {
        window(cx, _s, _start, _end).is_some_and(|range| ends(_s, _suffix, range))
    }
}

op! {
    /// The string without the prefix, where it has it.
    ///
    /// >>> "www.example.org".removeprefix("www.")
    /// 'example.org'
    str_removeprefix = "str.removeprefix" ".removeprefix"
    Pure fn (cx, _s: str, _prefix: str) -> str {
        let has = _s.as_bytes().starts_with(_prefix.as_bytes());
        if has { _s.slice_bytes(_prefix.byte_len(), _s.byte_len()) } else { _s }
    }
}

op! {
    /// The string without the suffix, where it has it.
    ///
    /// >>> "table.csv".removesuffix(".csv")
    /// 'table'
    str_removesuffix = "str.removesuffix" ".removesuffix"
    Pure fn (cx, _s: str, _suffix: str) -> str {
        let has = _s.as_bytes().ends_with(_suffix.as_bytes());
        if has { _s.slice_bytes(0, _s.byte_len() - _suffix.byte_len()) } else { _s }
    }
}
