//! Documents of JSON (Lib/json, Modules/_json.c). Parsing looks at all of a document and raises what
//! CPython raises; what it gives is the document's own text, of which objects and arrays are cut
//! into their parts where they are reached. The prelude (`json.py`) makes Python's values of those.

use crate::cx::{Cx, KernelResult, Text};
use crate::def::OpDef;
use crate::list::StrListBuilder;
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::JSONDecodeError;
use exuvia_ir::{Class, Object, Raise};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

/// The operations of this family.
pub static OPS: &[&OpDef] = &[
    &json_parse::DEF,
    &json_kind::DEF,
    &json_text::DEF,
    &json_items::DEF,
    &json_members::DEF,
    &json_find::DEF,
    &json_quote::DEF,
    &json_dump::DEF,
    &json_repr::DEF,
];

/// How deep documents may be nested; CPython's parser recurses, and its limit depends on its caller.
const MAX_DEPTH: usize = 500;
/// CPython reads no longer integers (`sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;
/// Objects of more members are searched by CPython, which hashes their keys.
const MAX_SEARCHED: usize = 1000;

/// Kinds of bytes, of which one may be several.
const IN_STRING: u8 = 1;
const NESTS: u8 = 2;
const ENDS_SCALAR: u8 = 4;

/// What a byte is where strings (quotes, backslashes, control characters), containers (quotes and
/// brackets) and scalars (what follows them) are gone over.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'"' => IN_STRING | NESTS,
            b'\\' => IN_STRING,
            b'{' | b'[' => NESTS,
            b'}' | b']' => NESTS | ENDS_SCALAR,
            b',' | b' ' => ENDS_SCALAR,
            b'\t' | b'\n' | b'\r' => IN_STRING | ENDS_SCALAR,
            0..=0x1f => IN_STRING,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// The first place from a byte on of a byte of some kinds.
#[inline]
fn next_of(text: &[u8], mut at: usize, kinds: u8) -> usize {
    while let Some(byte) = text.get(at) {
        if KINDS[usize::from(*byte)] & kinds != 0 {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// Why a document cannot be read.
enum Fault {
    /// It is no JSON: what CPython says, and the byte at which.
    Invalid(&'static str, usize),
    /// CPython must read it.
    Leave(&'static str),
}

/// A document and what is asked of all its parts.
struct Document<'t> {
    text: &'t [u8],
}

impl Document<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn blanks(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    }

    /// Where the value at a byte ends.
    fn value(&self, at: usize, depth: usize) -> Result<usize, Fault> {
        let word = |word: &str| self.text[at..].starts_with(word.as_bytes()).then_some(at + word.len());
        let found = match self.byte(at) {
            Some(b'"') => return self.string(at),
            Some(b'{') => return self.object(at, depth + 1),
            Some(b'[') => return self.array(at, depth + 1),
            Some(b'n') => word("null"),
            Some(b't') => word("true"),
            Some(b'f') => word("false"),
            Some(b'N') => word("NaN"),
            Some(b'I') => word("Infinity"),
            Some(b'-') => word("-Infinity"),
            _ => None,
        };
        match found.or_else(|| self.number(at)) {
            Some(end) if end - at > MAX_DIGITS => Err(Fault::Leave("a long number in JSON")),
            Some(end) => Ok(end),
            None => Err(Fault::Invalid("Expecting value", at)),
        }
    }

    fn number(&self, start: usize) -> Option<usize> {
        let digits = |mut at: usize| {
            while matches!(self.byte(at), Some(b'0'..=b'9')) {
                at += 1;
            }
            at
        };
        let at = start + usize::from(self.byte(start) == Some(b'-'));
        let mut end = match self.byte(at)? {
            b'0' => at + 1,
            b'1'..=b'9' => digits(at),
            _ => return None,
        };
        if self.byte(end) == Some(b'.') && digits(end + 1) > end + 1 {
            end = digits(end + 1);
        }
        if let Some(b'e' | b'E') = self.byte(end) {
            let sign = usize::from(matches!(self.byte(end + 1), Some(b'+' | b'-')));
            let first = end + 1 + sign;
            if digits(first) > first {
                end = digits(first);
            }
        }
        Some(end)
    }

    fn array(&self, start: usize, depth: usize) -> Result<usize, Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::Leave("deeply nested JSON"));
        }
        let mut at = self.blanks(start + 1);
        if self.byte(at) == Some(b']') {
            return Ok(at + 1);
        }
        loop {
            at = self.blanks(self.value(at, depth)?);
            match self.byte(at) {
                Some(b']') => return Ok(at + 1),
                Some(b',') => at = self.blanks(at + 1),
                _ => return Err(Fault::Invalid("Expecting ',' delimiter", at)),
            }
        }
    }

    fn object(&self, start: usize, depth: usize) -> Result<usize, Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::Leave("deeply nested JSON"));
        }
        let mut at = self.blanks(start + 1);
        if self.byte(at) == Some(b'}') {
            return Ok(at + 1);
        }
        loop {
            if self.byte(at) != Some(b'"') {
                return Err(Fault::Invalid("Expecting property name enclosed in double quotes", at));
            }
            at = self.blanks(self.string(at)?);
            if self.byte(at) != Some(b':') {
                return Err(Fault::Invalid("Expecting ':' delimiter", at));
            }
            at = self.blanks(self.value(self.blanks(at + 1), depth)?);
            match self.byte(at) {
                Some(b'}') => return Ok(at + 1),
                Some(b',') => at = self.blanks(at + 1),
                _ => return Err(Fault::Invalid("Expecting ',' delimiter", at)),
            }
        }
    }

    /// The number of four hexadecimal digits.
    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4)?;
        digits.iter().try_fold(0, |value, byte| Some(value << 4 | char::from(*byte).to_digit(16)?))
    }

    /// Whether the text has so many characters from a byte on.
    fn has_characters(&self, at: usize, count: usize) -> bool {
        self.text[at.min(self.text.len())..].iter().filter(|byte| **byte & 0xc0 != 0x80).take(count).count() == count
    }

    /// Where the string that begins with the quote at a byte ends (Modules/_json.c,
    /// `scanstring_unicode`).
    fn string(&self, start: usize) -> Result<usize, Fault> {
        let mut at = start + 1;
        loop {
            at = next_of(self.text, at, IN_STRING);
            match self.byte(at) {
                None => return Err(Fault::Invalid("Unterminated string starting at", start)),
                Some(b'"') => return Ok(at + 1),
                Some(0..=0x1f) => return Err(Fault::Invalid("Invalid control character at", at)),
                Some(b'\\') => match self.byte(at + 1) {
                    None => return Err(Fault::Invalid("Unterminated string starting at", start)),
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u') => {
                        // Four digits, and something behind them.
                        let fault = Fault::Invalid("Invalid \\uXXXX escape", at + 1);
                        if !self.has_characters(at + 2, 5) {
                            return Err(fault);
                        }
                        let Some(unit) = self.hex(at + 2) else { return Err(fault) };
                        at += 6;
                        let pairs = (0xd800..0xdc00).contains(&unit)
                            && self.text[at..].starts_with(b"\\u")
                            && self.has_characters(at + 2, 5);
                        if pairs {
                            let Some(second) = self.hex(at + 2) else {
                                return Err(Fault::Invalid("Invalid \\uXXXX escape", at + 1));
                            };
                            if !(0xdc00..0xe000).contains(&second) {
                                return Err(Fault::Leave("a lone surrogate in JSON"));
                            }
                            at += 6;
                        } else if (0xd800..0xe000).contains(&unit) {
                            return Err(Fault::Leave("a lone surrogate in JSON"));
                        }
                    }
                    Some(_) => return Err(Fault::Invalid("Invalid \\escape", at)),
                },
                Some(_) => at += 1,
            }
        }
    }
}

/// The parts of a text that was parsed, which is therefore valid.
struct Parts<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parts<'t> {
    /// Those of an object or an array.
    fn of(text: &'t str) -> Parts<'t> {
        let mut parts = Parts { text, at: 1 };
        parts.skip_between();
        parts
    }

    fn skip_between(&mut self) {
        let rest = &self.text.as_bytes()[self.at.min(self.text.len())..];
        let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
        self.at += rest.iter().take_while(|byte| is_between(byte)).count();
    }

    /// Where the string at a byte ends.
    fn string_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            at = next_of(bytes, at, IN_STRING);
            match bytes.get(at) {
                Some(b'"') => return at + 1,
                Some(_) => at += 2,
                None => return bytes.len(),
            }
        }
    }
}

impl<'t> Iterator for Parts<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start;
        let mut depth = 0usize;
        loop {
            match *bytes.get(at)? {
                b'"' => at = self.string_end(at),
                b'{' | b'[' => {
                    depth += 1;
                    at += 1;
                }
                b'}' | b']' if depth == 0 => return None,
                b'}' | b']' => {
                    depth -= 1;
                    at += 1;
                }
                _ => at = next_of(bytes, at, ENDS_SCALAR),
            }
            if depth == 0 {
                break;
            }
            at = next_of(bytes, at, NESTS);
        }
        self.at = at;
        self.skip_between();
        self.text.get(start..at)
    }
}

/// What a string of a document is, between its quotes.
fn unescaped(raw: &str) -> Cow<'_, str> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    out.push_str(&inner[..first]);
    let mut rest = &inner[first..];
    let unit = |text: &str| text.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (ch, len) = match rest.as_bytes().get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => match (unit(rest), rest.get(6..).and_then(unit)) {
                (Some(high @ 0xd800..0xdc00), Some(low)) => {
                    let code = 0x1_0000 + ((high - 0xd800) << 10 | low.wrapping_sub(0xdc00) & 0x3ff);
                    (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
                }
                (Some(code), _) => (char::from_u32(code).unwrap_or('\u{fffd}'), 6),
                (None, _) => ('u', 2),
            },
            Some(other) => (char::from(*other), 2),
            None => break,
        };
        out.push(ch);
        rest = rest.get(len..).unwrap_or("");
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The members of an object, in the order in which their keys came first, with their last values.
fn members(raw: &str) -> Vec<(Cow<'_, str>, &str)> {
    let mut parts = Parts::of(raw);
    let mut found: Vec<(Cow<'_, str>, &str)> = Vec::new();
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        let key = unescaped(key);
        let known = if found.len() < 16 {
            found.iter().position(|member| member.0 == key)
        } else {
            if places.is_empty() {
                places.extend(found.iter().enumerate().map(|(at, member)| (member.0.clone(), at)));
            }
            match places.entry(key.clone()) {
                std::collections::hash_map::Entry::Occupied(place) => Some(*place.get()),
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(found.len());
                    None
                }
            }
        };
        match known {
            Some(at) => found[at].1 = value,
            None => found.push((key, value)),
        }
    }
    found
}

/// What a value is, by its first character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Null,
    False,
    True,
    Int,
    Float,
    String,
    Array,
    Object,
}

fn shape(raw: &str) -> Shape {
    match raw.as_bytes().first() {
        Some(b'n') => Shape::Null,
        Some(b'f') => Shape::False,
        Some(b't') => Shape::True,
        Some(b'"') => Shape::String,
        Some(b'[') => Shape::Array,
        Some(b'{') => Shape::Object,
        _ if raw.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-')) => Shape::Int,
        _ => Shape::Float,
    }
}

fn float(raw: &str) -> f64 {
    match raw {
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => raw.parse().unwrap_or(f64::NAN),
    }
}

/// An integer as CPython writes it.
fn int(raw: &str) -> &str {
    if raw == "-0" { "0" } else { raw }
}

/// A text between quotes (Modules/_json.c, `ascii_escape_unicode` and `escape_unicode`).
fn quote(out: &mut Text<'_>, text: &str, ascii: bool) -> KernelResult<()> {
    out.push_str("\"")?;
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\' && (!ascii || byte < 0x7f);
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !plain(byte)) {
        out.push_str(&rest[..at])?;
        let Some(ch) = rest[at..].chars().next() else { break };
        rest = &rest[at + ch.len_utf8()..];
        match ch {
            '"' => out.push_str("\\\"")?,
            '\\' => out.push_str("\\\\")?,
            '\n' => out.push_str("\\n")?,
            '\r' => out.push_str("\\r")?,
            '\t' => out.push_str("\\t")?,
            '\u{8}' => out.push_str("\\b")?,
            '\u{c}' => out.push_str("\\f")?,
            // A byte that stays as it is where the text need not be ASCII.
            ch => {
                for unit in ch.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").map_err(|_| Raise::ROW_MEMORY)?;
                }
            }
        }
    }
    out.push_str(rest)?;
    out.push_str("\"")
}

/// How a value is written.
struct Style<'s> {
    ascii: bool,
    sorted: bool,
    between: &'s str,
    behind_key: &'s str,
    /// Spaces for each level, where every part has a line of its own.
    indent: Option<usize>,
}

impl Style<'_> {
    fn line(&self, out: &mut Text<'_>, level: usize) -> KernelResult<()> {
        match self.indent {
            Some(spaces) => {
                out.push_str("\n")?;
                out.push_repeated(" ", spaces * level)
            }
            None => Ok(()),
        }
    }

    fn write(&self, out: &mut Text<'_>, raw: &str, level: usize) -> KernelResult<()> {
        if out.interrupted() {
            return Err(Raise::Interrupted);
        }
        match shape(raw) {
            Shape::Null | Shape::False | Shape::True => out.push_str(raw),
            Shape::Int => out.push_str(int(raw)),
            Shape::Float => match float(raw) {
                value if value.is_nan() => out.push_str("NaN"),
                value if value.is_infinite() => out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" }),
                value => out.push_str(&crate::float::repr(value)),
            },
            Shape::String => quote(out, &unescaped(raw), self.ascii),
            Shape::Array => {
                out.push_str("[")?;
                let mut any = false;
                for part in Parts::of(raw) {
                    if any {
                        out.push_str(self.between)?;
                    }
                    any = true;
                    self.line(out, level + 1)?;
                    self.write(out, part, level + 1)?;
                }
                if any {
                    self.line(out, level)?;
                }
                out.push_str("]")
            }
            Shape::Object => {
                let mut members = members(raw);
                if self.sorted {
                    members.sort();
                }
                out.push_str("{")?;
                for (at, (key, part)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push_str(self.between)?;
                    }
                    self.line(out, level + 1)?;
                    quote(out, key, self.ascii)?;
                    out.push_str(self.behind_key)?;
                    self.write(out, part, level + 1)?;
                }
                if !members.is_empty() {
                    self.line(out, level)?;
                }
                out.push_str("}")
            }
        }
    }
}

/// `repr` of what a value is in Python.
fn show(out: &mut Text<'_>, raw: &str) -> KernelResult<()> {
    if out.interrupted() {
        return Err(Raise::Interrupted);
    }
    match shape(raw) {
        Shape::Null => out.push_str("None"),
        Shape::False => out.push_str("False"),
        Shape::True => out.push_str("True"),
        Shape::Int => out.push_str(int(raw)),
        Shape::Float => out.push_str(&crate::float::repr(float(raw))),
        Shape::String => out.push_str(&crate::text_repr::repr(&unescaped(raw))),
        Shape::Array => {
            out.push_str("[")?;
            for (at, part) in Parts::of(raw).enumerate() {
                if at > 0 {
                    out.push_str(", ")?;
                }
                show(out, part)?;
            }
            out.push_str("]")
        }
        Shape::Object => {
            out.push_str("{")?;
            for (at, (key, part)) in members(raw).into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ")?;
                }
                out.push_str(&crate::text_repr::repr(&key))?;
                out.push_str(": ")?;
                show(out, part)?;
            }
            out.push_str("}")
        }
    }
}

/// The class and the field of what `json.loads` would make of a document with a constant dict or
/// list; `None` if there is no such document.
#[must_use]
pub fn parts_of(object: &Object) -> Option<(Class, Vec<Object>)> {
    match object {
        Object::List(list) => {
            let items = list.items().iter().map(|item| Some(Object::str(&text_of(item)?))).collect::<Option<_>>()?;
            Some((Class::JsonArray, items))
        }
        Object::Dict(dict) => {
            let mut parts = Vec::new();
            for (key, value) in dict.entries() {
                let Object::Str(_) = key else { return None };
                parts.extend([key.clone(), Object::str(&text_of(value)?)]);
            }
            Some((Class::JsonObject, parts))
        }
        _ => None,
    }
}

/// A document with a constant.
fn text_of(object: &Object) -> Option<String> {
    let quoted = |text: &str| {
        let mut cx = Cx::for_folding();
        let mut out = cx.text(text.len()).ok()?;
        quote(&mut out, text, false).ok()?;
        Some(out.finish().as_str().to_string())
    };
    Some(match object {
        Object::None => "null".to_string(),
        Object::Bool(value) => value.to_string(),
        Object::Int(value) => value.to_string(),
        Object::Float(value) if value.is_finite() => crate::float::repr(*value),
        Object::Str(text) => quoted(text)?,
        Object::List(list) => {
            let items = list.items().iter().map(text_of).collect::<Option<Vec<_>>>()?;
            format!("[{}]", items.join(","))
        }
        Object::Dict(dict) => {
            let member = |(key, value): &(Object, Object)| {
                let Object::Str(key) = key else { return None };
                Some(format!("{}:{}", quoted(key)?, text_of(value)?))
            };
            format!("{{{}}}", dict.entries().iter().map(member).collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => return None,
    })
}

/// A part of a document's text, as it stands there.
fn part<'a>(whole: Str<'a>, part: &'a str) -> Str<'a> {
    Str::with_ascii(part, whole.known_ascii())
}

fn decoded<'a>(cx: &mut Cx, whole: Str<'a>, text: Cow<'a, str>) -> KernelResult<Str<'a>> {
    match text {
        Cow::Borrowed(text) => Ok(part(whole, text)),
        Cow::Owned(text) => cx.store(&text),
    }
}

op! {
    /// The document of a text, without the blanks around it.
    json_parse = "json.parse" ""
    Pure fn (cx, _text: str) -> str fallible [JSONDecodeError] bails Operands {
        let text = _text.as_str();
        let document = Document { text: text.as_bytes() };
        let whole = || {
            if text.starts_with('\u{feff}') {
                return Err(Fault::Invalid("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
            }
            let start = document.blanks(0);
            let end = document.value(start, 0)?;
            match document.blanks(end) {
                behind if behind < text.len() => Err(Fault::Invalid("Extra data", behind)),
                _ => Ok((start, end)),
            }
        };
        match whole() {
            Ok((start, end)) => Ok(_text.slice_bytes(start, end)),
            Err(Fault::Leave(why)) => Err(Raise::Bailout(why)),
            Err(Fault::Invalid(message, at)) => Err(cx.raise(JSONDecodeError, || {
                let before = &text[..at.min(text.len())];
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
                format!("{message}: line {line} column {column} (char {})", before.chars().count())
            })),
        }
    }
}

op! {
    /// What a value is: 0 null, 1 false, 2 true, 3 an int, 4 a float, 5 a string, 6 an array, 7 an
    /// object.
    json_kind = "json.kind" ""
    Pure fn (cx, _value: str) -> int { shape(_value.as_str()) as i64 }
}

op! {
    /// The text that a string is.
    json_text = "json.text" ""
    Pure fn (cx, _value: str) -> str fallible { decoded(cx, _value, unescaped(_value.as_str())) }
}

op! {
    /// The items of an array.
    json_items = "json.items" ""
    Pure fn (cx, _value: str) -> str_list fallible {
        let mut items = StrListBuilder::new(cx)?;
        for item in Parts::of(_value.as_str()) {
            items.push(cx, part(_value, item))?;
        }
        Ok(items.finish())
    }
}

op! {
    /// The keys of an object, each with its value behind it.
    json_members = "json.members" ""
    Pure fn (cx, _value: str) -> str_list fallible {
        let members = members(_value.as_str());
        let mut list = StrListBuilder::with_capacity(cx, members.len() * 2)?;
        for (key, value) in members {
            let key = decoded(cx, _value, key)?;
            list.push(cx, key)?;
            list.push(cx, part(_value, value))?;
        }
        Ok(list.finish())
    }
}

op! {
    /// Where the value of a key stands among members, or -1.
    json_find = "json.find" ""
    Read fn (cx, _members: strs, _key: str) -> int fallible bails Operands {
        let members = _members.items();
        if members.len() > 2 * MAX_SEARCHED {
            return Err(Raise::Bailout("an object of JSON with many members"));
        }
        let wanted = _key.as_bytes();
        let is_key = |member: &[Str<'_>]| member[0].as_bytes() == wanted;
        let address = members.as_ptr() as usize;
        // Members are searched from behind the one that was found last.
        let from = if cx.json_found.0 == address { (2 * cx.json_found.1).min(members.len()) } else { 0 };
        let (before, behind) = members.split_at(from);
        let found = behind.chunks_exact(2).position(is_key).map(|at| from / 2 + at);
        let found = found.or_else(|| before.chunks_exact(2).position(is_key));
        if let Some(at) = found {
            cx.json_found = (address, at + 1);
        }
        Ok(found.map_or(-1, |at| at as i64 * 2 + 1))
    }
}

op! {
    /// A text as a string of JSON, of ASCII characters alone if so wished.
    json_quote = "json.quote" ""
    Pure fn (cx, _text: str, _ascii: bool) -> str fallible {
        let mut out = cx.text(_text.byte_len() + 2)?;
        quote(&mut out, _text.as_str(), _ascii)?;
        Ok(out.finish())
    }
}

op! {
    /// A value as `json.dumps` writes it, at a level of nesting; an indent of -1 for none.
    json_dump = "json.dump" ""
    Pure fn (cx, _value: str, _ascii: bool, _sorted: bool, _between: str, _behind_key: str, _indent: int, _level: int)
    -> str fallible {
        let style = Style {
            ascii: _ascii,
            sorted: _sorted,
            between: _between.as_str(),
            behind_key: _behind_key.as_str(),
            indent: usize::try_from(_indent).ok(),
        };
        let mut out = cx.text(_value.byte_len())?;
        style.write(&mut out, _value.as_str(), usize::try_from(_level).unwrap_or(0))?;
        Ok(out.finish())
    }
}

op! {
    /// What `repr` shows of the Python value that a value is.
    json_repr = "json.repr" ""
    Pure fn (cx, _value: str) -> str fallible {
        let mut out = cx.text(_value.byte_len())?;
        show(&mut out, _value.as_str())?;
        Ok(out.finish())
    }
}
