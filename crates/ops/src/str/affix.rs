//! Filling up to a width: `zfill`, `ljust`, `rjust`, `center`.

use crate::cx::{Cx, KernelResult};
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::TypeError;

/// The string with so many fill characters before and behind it.
fn pad<'a>(cx: &mut Cx, s: Str<'a>, fill: Str<'_>, before: i64, behind: i64) -> KernelResult<Str<'a>> {
    let mut out = cx.text(s.byte_len())?;
    out.push_repeated(fill.as_str(), before as usize)?;
    out.push_str(s.as_str())?;
    out.push_repeated(fill.as_str(), behind as usize)?;
    let known = s.known_ascii() && fill.known_ascii();
    Ok(if known { out.finish_as(true) } else { out.finish() })
}

/// How many fill characters are missing. Checks the fill character first, as CPython
/// does.
fn missing(cx: &Cx, s: Str<'_>, width: i64, fill: Str<'_>) -> KernelResult<i64> {
    let mut chars = fill.as_str().chars();
    if chars.next().is_none() || chars.next().is_some() {
        return Err(cx.raise(TypeError, || "The fill character must be exactly one character long".into()));
    }
    Ok(if width <= 0 { 0 } else { (width - s.char_len() as i64).max(0) })
}

op! {
    /// The string filled with zeros on the left, behind a sign, up to a width.
    ///
    /// >>> "-42".zfill(6)
    /// '-00042'
    str_zfill = "str.zfill" ".zfill"
    Pure fn (cx, _s: str, _width: ssize) -> str fallible [OverflowError] {
        let count = _width.saturating_sub(_s.char_len() as i64);
        if count <= 0 {
            return Ok(_s);
        }
        let sign = usize::from(matches!(_s.as_bytes().first(), Some(b'+' | b'-')));
        let mut out = cx.text(_s.byte_len())?;
        out.push_str(&_s.as_str()[..sign])?;
        out.push_repeated("0", count as usize)?;
        out.push_str(&_s.as_str()[sign..])?;
        Ok(if _s.known_ascii() { out.finish_as(true) } else { out.finish() })
    }
}

op! {
    /// The string filled on the right up to a width.
    ///
    /// >>> "ab".ljust(5, ".")
    /// 'ab...'
    str_ljust = "str.ljust" ".ljust"
    Pure fn (cx, _s: str, _width: ssize, _fillchar: str = Str(" ")) -> str fallible [TypeError, OverflowError] {
        match missing(cx, _s, _width, _fillchar)? {
            0 => Ok(_s),
            count => pad(cx, _s, _fillchar, 0, count),
        }
    }
}

op! {
    /// The string filled on the left up to a width.
    ///
    /// >>> "ab".rjust(5)
    /// '   ab'
    str_rjust = "str.rjust" ".rjust"
    Pure fn (cx, _s: str, _width: ssize, _fillchar: str = Str(" ")) -> str fallible [TypeError, OverflowError] {
        match missing(cx, _s, _width, _fillchar)? {
            0 => Ok(_s),
            count => pad(cx, _s, _fillchar, count, 0),
        }
    }
}

op! {
    /// The string filled on both sides up to a width. An odd character goes to the left
    /// if the width is odd, else to the right.
    ///
    /// >>> "ab".center(7, "*")
    /// '***ab**'
    str_center = "str.center" ".center"
    Pure fn (cx, _s: str, _width: ssize, _fillchar: str = Str(" ")) -> str fallible [TypeError, OverflowError] {
        match missing(cx, _s, _width, _fillchar)? {
            0 => Ok(_s),
            count => {
                let before = count / 2 + (count & _width & 1);
                pad(cx, _s, _fillchar, before, count - before)
            }
        }
    }
}
