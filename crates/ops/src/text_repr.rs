//! `repr` and `ascii` of strings, and the names of `True`, `False` and `None`.

use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::op;
use crate::text::Str;

/// Every operation that gives the text of a string, a bool or `None`.
pub static OPS: &[&OpDef] =
    &[&str_repr::DEF, &str_ascii::DEF, &bool_str::DEF, &bool_repr::DEF, &none_str::DEF, &none_repr::DEF];

/// `repr(text)` (Objects/unicodeobject.c, unicode_repr).
#[must_use]
pub fn repr(text: &str) -> String {
    quoted(text, crate::unicode::is_printable)
}

/// `ascii(text)`: as `repr`, but everything beyond ASCII is escaped.
#[must_use]
pub fn ascii(text: &str) -> String {
    quoted(text, |_| false)
}

fn quoted(text: &str, shown: impl Fn(char) -> bool) -> String {
    use std::fmt::Write;
    let quote = quote(text);
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for ch in text.chars() {
        // A write into a string cannot fail.
        let _ = match ch {
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            ch if ch == quote => write!(out, "\\{ch}"),
            ' '..='~' => out.write_char(ch),
            ch if !ch.is_ascii() && shown(ch) => out.write_char(ch),
            ch if (ch as u32) < 0x100 => write!(out, "\\x{:02x}", ch as u32),
            ch if (ch as u32) < 0x10000 => write!(out, "\\u{:04x}", ch as u32),
            ch => write!(out, "\\U{:08x}", ch as u32),
        };
    }
    out.push(quote);
    out
}

fn quote(text: &str) -> char {
    if text.contains('\'') && !text.contains('"') { '"' } else { '\'' }
}

/// Whether nothing in the text needs an escape within single quotes.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\'' && byte != b'\\')
}

fn store<'a>(cx: &mut Cx, text: Str<'_>, quoted: impl Fn(&str) -> String) -> KernelResult<Str<'a>> {
    if !is_plain(text.as_str()) {
        return cx.store(&quoted(text.as_str()));
    }
    let mut out = cx.text(text.byte_len() + 2)?;
    out.push_str("'")?;
    out.push_str(text.as_str())?;
    out.push_str("'")?;
    Ok(out.finish_as(true))
}

op! {
    /// The string as a literal of Python.
    ///
    /// >>> repr("it's\n")
    /// '"it\'s\\n"'
    str_repr = "str.repr" "repr"
    Pure fn (cx, _s: str) -> str fallible { store(cx, _s, repr) }
}

op! {
    /// The string as a literal of Python in ASCII.
    ///
    /// >>> ascii("é")
    /// "'\\xe9'"
    str_ascii = "str.ascii" "ascii"
    Pure fn (cx, _s: str) -> str fallible { store(cx, _s, ascii) }
}

fn bool_name(value: bool) -> Str<'static> {
    Str::with_ascii(if value { "True" } else { "False" }, true)
}

op! {
    /// The name of the bool.
    ///
    /// >>> str(True)
    /// 'True'
    bool_str = "bool.str" "str"
    Pure fn (cx, _x: bool) -> str { bool_name(_x) }
}

op! {
    /// The name of the bool.
    ///
    /// >>> repr(False)
    /// 'False'
    bool_repr = "bool.repr" "repr"
    Pure fn (cx, _x: bool) -> str { bool_name(_x) }
}

op! {
    /// The name of `None`.
    ///
    /// >>> str(None)
    /// 'None'
    none_str = "none.str" "str"
    Pure fn (cx, _x: none) -> str { Str::with_ascii("None", true) }
}

op! {
    /// The name of `None`.
    ///
    /// >>> repr(None)
    /// 'None'
    none_repr = "none.repr" "repr"
    Pure fn (cx, _x: none) -> str { Str::with_ascii("None", true) }
}
