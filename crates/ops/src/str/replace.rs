//! `replace` and `expandtabs`.

use super::{TOO_LARGE_FOR_INT, needle};
use crate::cx::{Cx, KernelResult};
use crate::list::StrList;
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::OverflowError;

op! {
    /// The string with the occurrences of one string, or the first `count` of them,
    /// replaced by another.
    ///
    /// >>> "1,234,567".replace(",", "")
    /// '1234567'
    str_replace = "str.replace" ".replace"
    Pure fn (cx, _s: str, _old: str, _new: str, _count: ssize = Int(-1)) -> str fallible [OverflowError] {
        let limit = u64::try_from(_count).unwrap_or(u64::MAX);
        if limit == 0 {
            return Ok(_s);
        }
        match _old.as_bytes() {
            [] => insert_between(cx, _s, _new, limit),
            [byte] if limit == u64::MAX && _new.byte_len() <= 1 => replace_byte(cx, _s, *byte, _new),
            _ => replace(cx, _s, _old, _new, limit),
        }
    }
}

fn replace<'a>(cx: &mut Cx, s: Str<'a>, old: Str<'_>, new: Str<'_>, limit: u64) -> KernelResult<Str<'a>> {
    let (bytes, old) = (s.as_bytes(), old.as_bytes());
    if old == new.as_bytes() {
        return Ok(s);
    }
    let Some(mut at) = needle::find(bytes, old) else { return Ok(s) };
    let mut out = cx.text(bytes.len() + new.byte_len())?;
    let (mut start, mut left) = (0, limit);
    loop {
        out.push_str(&s.as_str()[start..at])?;
        out.push_str(new.as_str())?;
        start = at + old.len();
        left -= 1;
        match needle::find(&bytes[start..], old) {
            Some(next) if left > 0 => at = start + next,
            _ => break,
        }
    }
    out.push_str(&s.as_str()[start..])?;
    let known = s.known_ascii() && new.known_ascii();
    Ok(if known { out.finish_as(true) } else { out.finish() })
}

/// Replaces or removes one ASCII character everywhere, without a search for each.
fn replace_byte<'a>(cx: &mut Cx, s: Str<'a>, old: u8, new: Str<'_>) -> KernelResult<Str<'a>> {
    let bytes = s.as_bytes();
    let Some(first) = needle::find(bytes, &[old]) else { return Ok(s) };
    let mut out = cx.text(bytes.len())?;
    let spare = &mut out.spare(bytes.len())?[..bytes.len()];
    spare[..first].copy_from_slice(&bytes[..first]);
    let mut to = first;
    if let Some(new) = new.as_bytes().first() {
        for (spare, byte) in spare[first..].iter_mut().zip(&bytes[first..]) {
            *spare = if *byte == old { *new } else { *byte };
        }
        to = bytes.len();
    } else {
        for &byte in &bytes[first..] {
            // A removed byte is written too and then overwritten: no branch to mispredict.
            spare[to] = byte;
            to += usize::from(byte != old);
        }
    }
    // SAFETY: ASCII characters of valid UTF-8 were removed or replaced by ASCII; `new` of
    // one byte is ASCII.
    unsafe { out.advance(to) };
    let known = s.known_ascii();
    Ok(if known { out.finish_as(true) } else { out.finish() })
}

op! {
    /// The string with each of some characters replaced by the text that stands where it does among others.
    str_translate = "str.translate" ""
    Read fn (cx, _s: str, _keys: str, _values: strs) -> str fallible { translate(cx, _s, _keys, _values) }
}

fn translate<'a>(cx: &mut Cx, s: Str<'a>, keys: Str<'_>, values: StrList<'a>) -> KernelResult<Str<'a>> {
    // The place among the values, from one on, of each ASCII character, and of the others in their order.
    let mut ascii = [0u32; 128];
    let mut others = Vec::new();
    let values = values.items();
    for (at, key) in keys.as_str().chars().enumerate().take(values.len()) {
        match ascii.get_mut(key as usize) {
            Some(place) => *place = at as u32 + 1,
            None => others.push((key, at)),
        }
    }
    others.sort_unstable();
    let (s, bytes) = (s.as_str(), s.as_bytes());
    let is_short = |place: &u32| *place == 0 || matches!(values[*place as usize - 1].as_bytes(), [] | [0..=127]);
    if others.is_empty() && ascii.iter().all(is_short) {
        return translate_bytes(cx, bytes, |byte| match ascii.get(usize::from(byte)) {
            None | Some(0) => Some(byte),
            Some(place) => values[*place as usize - 1].as_bytes().first().copied(),
        });
    }
    let mut out = cx.text(bytes.len())?;
    let mut start = 0;
    for (at, ch) in s.char_indices() {
        let found = match ascii.get(ch as usize) {
            Some(0) => continue,
            Some(place) => *place as usize - 1,
            None => match others.binary_search_by_key(&ch, |other| other.0) {
                Ok(place) => others[place].1,
                Err(_) => continue,
            },
        };
        out.push_str(&s[start..at])?;
        out.push_str(values[found].as_str())?;
        start = at + ch.len_utf8();
    }
    out.push_str(&s[start..])?;
    Ok(out.finish())
}

/// Replaces or removes ASCII characters, each by another one; the bytes of other characters must be kept.
fn translate_bytes<'a>(cx: &mut Cx, bytes: &[u8], to: impl Fn(u8) -> Option<u8>) -> KernelResult<Str<'a>> {
    let table: [Option<u8>; 256] = std::array::from_fn(|byte| to(byte as u8));
    let removes = table.contains(&None);
    let table = table.map(|to| [to.unwrap_or(0), u8::from(to.is_some())]);
    let mut out = cx.text(bytes.len())?;
    let spare = &mut out.spare(bytes.len())?[..bytes.len()];
    let mut end = bytes.len();
    if removes {
        end = 0;
        for byte in bytes {
            // A removed byte is written too and then overwritten: no branch to mispredict.
            let [to, kept] = table[usize::from(*byte)];
            spare[end] = to;
            end += usize::from(kept);
        }
    } else {
        for (spare, byte) in spare.iter_mut().zip(bytes) {
            *spare = table[usize::from(*byte)][0];
        }
    }
    // SAFETY: ASCII characters of valid UTF-8 were removed or replaced by ASCII.
    unsafe { out.advance(end) };
    Ok(out.finish())
}

/// Replaces the empty string: it stands before each character and at the end.
fn insert_between<'a>(cx: &mut Cx, s: Str<'a>, new: Str<'_>, limit: u64) -> KernelResult<Str<'a>> {
    let mut out = cx.text(s.byte_len())?;
    let mut left = limit;
    let mut chars = s.as_str().chars();
    while left > 0 {
        out.push_str(new.as_str())?;
        left -= 1;
        match chars.next() {
            Some(ch) => out.push(ch)?,
            None => break,
        }
    }
    out.push_str(chars.as_str())?;
    Ok(out.finish())
}

op! {
    /// The string with each tab replaced by spaces up to the next column that is a
    /// multiple of `tabsize`; columns are counted in characters since the last line end.
    ///
    /// >>> "a\tbc\td".expandtabs(4)
    /// 'a   bc  d'
    str_expandtabs = "str.expandtabs" ".expandtabs"
    Pure fn (cx, _s: str, tabsize: int = Int(8)) -> str fallible [OverflowError] {
        // The argument is a C int (Objects/unicodeobject.c, unicode_expandtabs).
        if i32::try_from(tabsize).is_err() {
            return Err(cx.raise(OverflowError, || TOO_LARGE_FOR_INT.into()));
        }
        if !_s.as_bytes().contains(&b'\t') {
            return Ok(_s);
        }
        let mut out = cx.text(_s.byte_len())?;
        let mut column = 0;
        for part in _s.as_str().split_inclusive(['\t', '\n', '\r']) {
            let plain = part.trim_end_matches(['\t', '\n', '\r']);
            out.push_str(plain)?;
            column += plain.chars().count() as i64;
            match &part[plain.len()..] {
                "\t" if tabsize > 0 => {
                    let spaces = tabsize - column % tabsize;
                    out.push_repeated(" ", spaces as usize)?;
                    column += spaces;
                }
                "\t" | "" => {}
                end => {
                    out.push_str(end)?;
                    column = 0;
                }
            }
        }
        Ok(out.finish())
    }
    big big_expandtabs
}

fn big_expandtabs(_: &mut Cx, args: &[exuvia_ir::Object]) -> KernelResult<exuvia_ir::Object> {
    super::big_c_int(args)
}
