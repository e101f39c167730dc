//! References to characters in HTML, as `html.unescape` reads them.
//!
//! The names are those of the HTML standard (Named character references), each with its code points, in
//! `html/entities.txt`; those without `;` are the ones that browsers take without it.

use crate::def::OpDef;
use crate::op;
use exuvia_ir::Raise;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Every operation of HTML.
pub static OPS: &[&OpDef] = &[&html_unescape::DEF];

/// The characters that a name may have, but for `;`.
const LONGEST: usize = 32;

/// The digits of a number that CPython's `int` reads.
const MOST_DIGITS: usize = 4_300;

/// What the bytes from 0x80 to 0x9f are, where they are written as numbers: those of Windows-1252.
const WINDOWS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}',
    '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}',
    '\u{17e}', '\u{178}',
];

/// The text of each name.
fn names() -> &'static HashMap<&'static str, String> {
    static NAMES: OnceLock<HashMap<&'static str, String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let line = |line: &'static str| {
            let (name, codes) = line.split_once(' ')?;
            let code = |code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
            Some((name, codes.split(' ').map(code).collect::<Option<String>>()?))
        };
        include_str!("html/entities.txt").lines().filter_map(line).collect()
    })
}

/// What a reference means: a character, or a part of it stands for a text and the rest for itself.
enum Meant<'a> {
    Nothing,
    Character(char),
    Text(&'a str, &'a str),
}

op! {
    /// `html.unescape`: the text with the characters to which its references refer.
    html_unescape = "html.unescape" ""
    Pure fn (cx, s: str) -> str fallible bails Operands {
        let text = s.as_str();
        if !text.contains('&') {
            return Ok(s);
        }
        let mut out = cx.text(text.len())?;
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            out.push_str(&rest[..at])?;
            rest = &rest[at..];
            let is_number = rest.as_bytes().get(1) == Some(&b'#');
            let (meant, length) = if is_number { number(rest)? } else { name(rest) };
            match meant {
                Meant::Nothing => {}
                Meant::Character(meant) => out.push_str(meant.encode_utf8(&mut [0; 4]))?,
                Meant::Text(meant, itself) => {
                    out.push_str(meant)?;
                    out.push_str(itself)?;
                }
            }
            rest = &rest[length..];
        }
        out.push_str(rest)?;
        Ok(out.finish())
    }
}

/// What `&#` and digits mean, and how long it is.
fn number(text: &str) -> Result<(Meant<'_>, usize), Raise> {
    let (base, start) = match text.as_bytes().get(2) {
        Some(b'x' | b'X') => (16, 3),
        _ => (10, 2),
    };
    let digits = text[start..].bytes().take_while(|byte| char::from(*byte).is_digit(base)).count();
    let end = start + digits;
    if digits == 0 {
        return Ok((Meant::Text("&", ""), 1));
    }
    if base == 10 && digits > MOST_DIGITS {
        return Err(Raise::Bailout("a reference of very many digits"));
    }
    let code = text[start..end].chars().filter_map(|digit| digit.to_digit(base));
    let code = code.fold(0u32, |code, digit| code.saturating_mul(base).saturating_add(digit));
    let length = end + usize::from(text[end..].starts_with(';'));
    let meant = match code {
        0 => Meant::Character('\u{fffd}'),
        0x80..=0x9f => Meant::Character(WINDOWS[code as usize - 0x80]),
        0x1..=0x8 | 0xb | 0xe..=0x1f | 0x7f | 0xfdd0..=0xfdef => Meant::Nothing,
        ..=0x10_ffff if code & 0xfffe == 0xfffe => Meant::Nothing,
        _ => Meant::Character(char::from_u32(code).unwrap_or('\u{fffd}')),
    };
    Ok((meant, length))
}

/// What `&` and a name mean, and how long it is.
fn name(text: &str) -> (Meant<'_>, usize) {
    let stops = |c: char| matches!(c, '\t' | '\n' | '\x0c' | ' ' | '<' | '&' | '#' | ';');
    let within = text[1..].char_indices().take(LONGEST).take_while(|(_, c)| !stops(*c));
    let end = within.last().map_or(1, |(at, c)| 1 + at + c.len_utf8());
    if end == 1 {
        return (Meant::Text("&", ""), 1);
    }
    let length = end + usize::from(text[end..].starts_with(';'));
    if let Some(meant) = names().get(&text[1..length]) {
        return (Meant::Text(meant, ""), length);
    }
    // The longest name with which it begins, of two characters or more.
    let ends = text[1..length].char_indices().map(|(at, _)| 1 + at).skip(2).collect::<Vec<_>>();
    let found = ends.into_iter().rev().find_map(|end| Some((names().get(&text[1..end])?, end)));
    match found {
        Some((meant, end)) => (Meant::Text(meant, &text[end..length]), length),
        None => (Meant::Text(&text[..length], ""), length),
    }
}
