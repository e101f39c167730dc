//! Looking for a substring.

use crate::op;
use crate::text::Str;

/// The byte range that `[start:end]` of code points denotes, or `None` where the start
/// lies behind the end of the text (Objects/unicodeobject.c, ADJUST_INDICES): then not
/// even the empty string is found.
fn window(s: Str<'_>, start: i64, end: i64) -> Option<(usize, usize)> {
    if start == 0 && end == i64::MAX {
        return Some((0, s.byte_len()));
    }
    let len = s.char_len() as i64;
    let end = if end > len {
        len
    } else if end < 0 {
        end.saturating_add(len).max(0)
    } else {
        end
    };
    let start = if start < 0 { start.saturating_add(len).max(0) } else { start };
    (start <= end).then(|| (s.byte_offset(start as usize), s.byte_offset(end as usize)))
}

op! {
    /// The lowest index in `[start:end]` where the substring begins, or -1.
    ///
    /// >>> "abcabc".find("c")
    /// 2
    str_find = "str.find" ".find"
    Pure fn (cx, s: str, _sub: str, _start: index = Int(0), _end: index = Int(i64::MAX)) -> int {
        let Some((from, to)) = window(s, _start, _end) else { return -1 };
        match memchr::memmem::find(&s.as_str().as_bytes()[from..to], _sub.as_str().as_bytes()) {
            Some(at) => s.char_index(from + at) as i64,
            None => -1,
        }
    }
}
