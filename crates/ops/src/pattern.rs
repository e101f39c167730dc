//! Compiled patterns and what they find. How Python's patterns are matched is the affair of
//! [`crate::re`]; what the methods of `re.Pattern` and `re.Match` make of it stands in the
//! prelude (`re.py`, `Pattern.py`, `Match.py`), which alone uses these operations.
//!
//! What was found is a list of byte offsets: start and end of the whole match, then of each
//! group, -1 for a group that took no part. An empty list says that nothing was found; the
//! matches of `finditer` stand one behind the other.

use crate::adapt::IntList;
use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::list::{RawList, StrListBuilder};
use crate::op;
use crate::re::{Anchor, Leave, Matcher, Regex, Unsupported};
use crate::text::Str;
use exuvia_ir::{Pattern, Raise};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The operations of this family.
pub const OPS: &[&OpDef] = &[
    &pattern_groups::DEF,
    &pattern_group_index::DEF,
    &pattern_always::DEF,
    &pattern_flags::DEF,
    &pattern_is_template::DEF,
    &re_test::DEF,
    &re_find::DEF,
    &re_find_all::DEF,
    &re_find_within::DEF,
    &re_find_all_within::DEF,
    &re_texts::DEF,
    &re_split::DEF,
    &re_sub::DEF,
    &re_between::DEF,
    &pattern_source::DEF,
    &match_found::DEF,
    &match_text::DEF,
    &match_took_part::DEF,
    &match_last_index::DEF,
    &pattern_group_name::DEF,
    &match_offsets::DEF,
    &re_escape::DEF,
];

/// `re.compile`. Compiling takes milliseconds and functions share patterns: those that somebody
/// holds are given again.
///
/// # Errors
/// Why CPython must match it.
pub fn compile(source: &Arc<str>, flags: u32) -> Result<Arc<Pattern>, Unsupported> {
    static HELD: Mutex<Vec<Weak<Pattern>>> = Mutex::new(Vec::new());
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|pattern| pattern.strong_count() > 0);
    let same = |pattern: &Arc<Pattern>| pattern.source == *source && pattern.flags == flags;
    let found = held.iter().filter_map(Weak::upgrade).find(same);
    let pattern = found.unwrap_or_else(|| {
        let new = Arc::new(Pattern::new(Arc::clone(source), flags));
        held.push(Arc::downgrade(&new));
        new
    });
    drop(held);
    regex(&pattern)?;
    Ok(pattern)
}

/// The matcher of a pattern. Only patterns that have one are lifted.
///
/// # Errors
/// Why CPython must match it.
pub fn regex(pattern: &Pattern) -> Result<&Regex, Unsupported> {
    match pattern.engine(|pattern| Regex::new(&pattern.source, pattern.flags)) {
        Some(Ok(regex)) => Ok(regex),
        Some(Err(reason)) => Err(reason.clone()),
        None => Err(Unsupported::Construct("it has another matcher".to_string())),
    }
}

const NOT_LIFTED: Raise = Raise::Bailout("a pattern that CPython must match");

fn matcher(pattern: &Pattern) -> KernelResult<&Regex> {
    regex(pattern).map_err(|_| NOT_LIFTED)
}

fn leave(_: Leave) -> Raise {
    Raise::Bailout("a text that CPython must match")
}

/// How the operations are told where a match must stand.
fn anchor(how: i64) -> Anchor {
    match how {
        0 => Anchor::Search,
        1 => Anchor::Match,
        _ => Anchor::FullMatch,
    }
}

op! {
    /// The number of groups of a pattern.
    pattern_groups = "pattern.groups" ""
    Pure fn (cx, _pattern: pattern) -> int fallible bails Operands {
        Ok(matcher(_pattern)?.groups() as i64)
    }
}

op! {
    /// The number of the group of that name, or -1.
    pattern_group_index = "pattern.group_index" ""
    Pure fn (cx, _pattern: pattern, _name: str) -> int fallible bails Operands {
        let names = matcher(_pattern)?.names();
        Ok(names.iter().find(|(name, _)| name == _name.as_str()).map_or(-1, |(_, group)| *group as i64))
    }
}

op! {
    /// The name of a group, empty where it has none.
    pattern_group_name = "pattern.group_name" ""
    Pure fn (cx, _pattern: pattern, _group: int) -> str fallible bails Operands {
        let names = matcher(_pattern)?.names();
        let name = names.iter().find(|(_, group)| i64::try_from(*group) == Ok(_group));
        let name = name.map_or("", |(name, _)| name);
        let mut out = cx.text(name.len())?;
        out.push_str(name)?;
        Ok(out.finish())
    }
}

op! {
    /// The group that a match closed last, 0 where none took part (Modules/_sre/sre_lib.h, `SRE_OP_MARK`).
    match_last_index = "match.last_index" ""
    Pure fn (cx, _pattern: pattern, _offsets: ints, _first: int) -> int fallible bails Operands {
        let Some(closing) = matcher(_pattern)?.closing() else {
            return Err(Raise::Bailout("the group that was closed last"));
        };
        let first = usize::try_from(_first).unwrap_or(0);
        let took_part = |group: &&usize| _offsets.get(first + 2 * **group).is_some_and(|at| *at >= 0);
        Ok(closing.iter().rev().find(took_part).map_or(0, |group| *group as i64))
    }
}

op! {
    /// Whether a group certainly takes part in every match.
    pattern_always = "pattern.always" ""
    Pure fn (cx, _pattern: pattern, _group: int) -> bool fallible bails Operands {
        let regex = matcher(_pattern)?;
        Ok(usize::try_from(_group).is_ok_and(|group| group <= regex.groups() && regex.always(group)))
    }
}

op! {
    /// The flags of a pattern, those of its source among them.
    pattern_flags = "pattern.flags" ""
    Pure fn (cx, _pattern: pattern) -> int fallible bails Operands {
        Ok(i64::from(matcher(_pattern)?.flags()))
    }
}

op! {
    /// Whether a text is a template for `sub` that is understood here.
    pattern_is_template = "pattern.is_template" ""
    Pure fn (cx, _pattern: pattern, _template: str) -> bool fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut fine = true;
        template(regex, _template.as_str(), |piece| {
            fine &= !matches!(piece, Piece::Unknown);
            Ok(())
        })?;
        Ok(fine)
    }
}

op! {
    /// Whether a pattern matches: anywhere (0), at the start (1), or the whole text (2).
    re_test = "re.test" ""
    Pure fn (cx, _pattern: pattern, _text: str, _how: int) -> bool fallible bails Operands {
        matcher(_pattern)?.is_match(anchor(_how), _text.as_str()).map_err(leave)
    }
}

op! {
    /// Where a pattern matches first; `how` as for `re.test`.
    re_find = "re.find" ""
    Alloc fn (cx, _pattern: pattern, _text: str, _how: int) -> int_list fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut found = Spans::new(cx, regex, 1)?;
        let one = found.room(cx)?;
        if regex.find(anchor(_how), _text.as_str(), 0, one).map_err(leave)? {
            found.keep();
        }
        Ok(found.finish())
    }
}

op! {
    /// Where a pattern matches, one match behind the other.
    re_find_all = "re.find_all" ""
    Alloc fn (cx, _pattern: pattern, _text: str) -> int_list fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut found = Spans::new(cx, regex, 4)?;
        let mut matches = Matches::of(regex, _text)?;
        while matches.next(cx.interrupted(), found.room(cx)?)? {
            found.keep();
        }
        Ok(found.finish())
    }
}

op! {
    /// As `re.find` between two positions: what is searched ends at the second, and begins for
    /// assertions before the first (Modules/_sre/sre.c, `state_init`). One more element says that it was
    /// asked with positions.
    re_find_within = "re.find_within" ""
    Alloc fn (cx, _pattern: pattern, _text: str, _how: int, _pos: int, _end: int) -> int_list fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut found = Spans::new(cx, regex, 1)?;
        if let Some((at, part)) = within(cx, _text, _pos, _end) {
            let one = found.room(cx)?;
            let is_ascii = is_ascii(cx, part);
            let matcher = regex.over_known(anchor(_how), part.as_str(), || is_ascii).map_err(leave)?;
            if matcher.find(at, one).map_err(leave)? {
                found.keep();
                found.mark(cx)?;
            }
        }
        Ok(found.finish())
    }
}

op! {
    /// As `re.find_all` between two positions, in the same way.
    re_find_all_within = "re.find_all_within" ""
    Alloc fn (cx, _pattern: pattern, _text: str, _pos: int, _end: int) -> int_list fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut found = Spans::new(cx, regex, 4)?;
        if let Some((at, part)) = within(cx, _text, _pos, _end) {
            let mut matches = Matches::of(regex, part)?;
            matches.at = at;
            while matches.next(cx.interrupted(), found.room(cx)?)? {
                found.keep();
            }
        }
        found.mark(cx)?;
        Ok(found.finish())
    }
}

/// Whether a text is ASCII, found out once for a long one that is searched from many places.
fn is_ascii(cx: &mut Cx, text: Str<'_>) -> bool {
    text.known_ascii() || cx.char_len(text) == text.byte_len()
}

/// The byte offset where a search between two positions begins, and the text up to where it ends; `None`
/// where nothing is between them.
fn within<'t>(cx: &mut Cx, text: Str<'t>, pos: i64, end: i64) -> Option<(usize, Str<'t>)> {
    let mut offset = |at: i64| match usize::try_from(at).unwrap_or(0) {
        // There are not more characters than bytes.
        at if at >= text.byte_len() => text.byte_len(),
        at => cx.byte_offset(text, at),
    };
    let (at, end) = (offset(pos), offset(end));
    (at <= end).then(|| (at, if end == text.byte_len() { text } else { text.slice_bytes(0, end) }))
}

op! {
    /// The texts of a group, of at most one that the pattern has, in every match; the
    /// empty text where it took no part.
    re_texts = "re.texts" ""
    Alloc fn (cx, _pattern: pattern, _text: str) -> str_list fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut texts = StrListBuilder::new(cx)?;
        let groups = regex.groups().min(1);
        let mut spans = [0; 4];
        let spans = &mut spans[..2 * (groups + 1)];
        let mut matches = Matches::of(regex, _text)?;
        while matches.next(cx.interrupted(), spans)? {
            texts.push(cx, part(_text, spans, 2 * groups))?;
        }
        Ok(texts.finish())
    }
}

op! {
    /// What stands between the matches of a pattern without groups.
    re_split = "re.split" ""
    Alloc fn (cx, _pattern: pattern, _text: str, _maxsplit: int) -> str_list fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut parts = StrListBuilder::new(cx)?;
        let mut matches = Matches::of(regex, _text)?;
        let mut left = at_most(_maxsplit);
        let mut spans = [0; 2];
        let mut at = 0;
        while left > 0 && matches.next(cx.interrupted(), &mut spans)? {
            parts.push(cx, _text.slice_bytes(at, spans[0] as usize))?;
            at = spans[1] as usize;
            left -= 1;
        }
        parts.push(cx, _text.slice_bytes(at, _text.byte_len()))?;
        Ok(parts.finish())
    }
}

op! {
    /// The text with matches of a pattern replaced by a template.
    re_sub = "re.sub" ""
    Pure fn (cx, _pattern: pattern, _template: str, _text: str, _count: int) -> str fallible bails Operands {
        let regex = matcher(_pattern)?;
        let mut left = at_most(_count);
        let literal = !_template.as_bytes().contains(&b'\\');
        let mut spans = vec![0; if literal { 2 } else { 2 * (regex.groups() + 1) }];
        let mut matches = Matches::of(regex, _text)?;
        let mut found = left > 0 && matches.next(cx.interrupted(), &mut spans)?;
        if !found {
            return Ok(_text);
        }
        let mut out = cx.text(_text.byte_len() + _template.byte_len())?;
        let mut at = 0;
        while found {
            out.push_str(&_text.as_str()[at..spans[0] as usize])?;
            if literal {
                out.push_str(_template.as_str())?;
            } else {
                template(regex, _template.as_str(), |piece| match piece {
                    Piece::Text(text) => out.push_str(text),
                    Piece::Char(ch) => out.push(ch),
                    Piece::Group(group) => out.push_str(part(_text, &spans, 2 * group).as_str()),
                    Piece::Unknown => Err(Raise::Bailout("a template that CPython must read")),
                })?;
            }
            at = spans[1] as usize;
            left -= 1;
            found = left > 0 && matches.next(out.interrupted(), &mut spans)?;
        }
        out.push_str(&_text.as_str()[at..])?;
        Ok(out.finish())
    }
}

op! {
    /// The text between two byte offsets; an end of -1 is the end of the text.
    re_between = "re.between" ""
    Pure fn (cx, _text: str, _start: int, _end: int) -> str {
        part(_text, &[_start, if _end < 0 { _text.byte_len() as i64 } else { _end }], 0)
    }
}

op! {
    /// The source of a pattern.
    pattern_source = "pattern.source" ""
    Pure fn (cx, _pattern: pattern) -> str {
        Str::new(&_pattern.source)
    }
}

op! {
    /// Whether there are offsets.
    match_found = "match.found" ""
    Pure fn (cx, _spans: ints) -> bool {
        !_spans.is_empty()
    }
}

op! {
    /// The text between the offsets at an index and behind it.
    match_text = "match.text" ""
    Pure fn (cx, _text: str, _spans: ints, _at: int) -> str {
        usize::try_from(_at).map_or(Str::new(""), |at| part(_text, _spans, at))
    }
}

op! {
    /// Whether the group whose offsets stand at an index took part.
    match_took_part = "match.took_part" ""
    Pure fn (cx, _spans: ints, _at: int) -> bool {
        usize::try_from(_at).is_ok_and(|at| _spans.get(at).is_some_and(|start| *start >= 0))
    }
}

op! {
    /// The numbers of characters before the offsets; -1 for no offset. Nobody changes the list,
    /// so that one is as good as another, and it is made once for all matches.
    match_offsets = "match.offsets" ""
    Pure fn (cx, _text: str, _spans: ints) -> int_list fallible {
        let mut out = _spans.to_vec();
        if !is_ascii(cx, _text) {
            let mut order: Vec<usize> = (0.._spans.len()).collect();
            order.sort_unstable_by_key(|at| _spans[*at]);
            // Neither what took no part nor the start of the text says where to begin to count.
            order.retain(|at| _spans[*at] > 0);
            let first = order.first().and_then(|at| usize::try_from(_spans[*at]).ok()).unwrap_or(0);
            let mut offset = if _text.as_str().is_char_boundary(first) { first } else { 0 };
            let mut characters = cx.char_index(_text, offset) as i64;
            for at in order {
                let Ok(next) = usize::try_from(_spans[at]) else { continue };
                if let Some(between) = _text.as_str().get(offset..next) {
                    characters += between.chars().count() as i64;
                    offset = next;
                }
                out[at] = characters;
            }
        }
        RawList::of_words(cx, out.iter().map(|characters| *characters as u64)).map(IntList)
    }
}

op! {
    /// `re.escape`.
    re_escape = "re.escape" ""
    Pure fn (cx, _text: str) -> str fallible {
        let mut out = cx.text(_text.byte_len() + 8)?;
        for ch in _text.as_str().chars() {
            if matches!(ch, '\t'..='\r' | ' ' | '#' | '$' | '&' | '(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|' | '}' | '~') {
                out.push('\\')?;
            }
            out.push(ch)?;
        }
        Ok(out.finish())
    }
}

/// The largest number of replacements or splits, of which 0 means any: CPython goes on while
/// `not count or n < count`.
fn at_most(count: i64) -> u64 {
    if count == 0 { u64::MAX } else { u64::try_from(count).unwrap_or(0) }
}

/// The part of a text between the offsets at an index and behind it, if they lie in it.
fn part<'a>(text: Str<'a>, spans: &[i64], at: usize) -> Str<'a> {
    let offset = |at: usize| spans.get(at).and_then(|offset| usize::try_from(*offset).ok());
    match (offset(at), offset(at + 1)) {
        (Some(start), Some(end)) if text.as_str().get(start..end).is_some() => text.slice_bytes(start, end),
        _ => Str::new(""),
    }
}

/// The matches of a pattern in a text, one after the other.
struct Matches<'m> {
    matcher: Matcher<'m, 'm>,
    at: usize,
    /// Whether the last match was empty, so that the next one is not empty where it stands, but may be
    /// anywhere behind.
    advances: bool,
}

impl<'m> Matches<'m> {
    fn of(regex: &'m Regex, text: Str<'m>) -> KernelResult<Matches<'m>> {
        let matcher = regex.over(Anchor::Search, text.as_str()).map_err(leave)?;
        Ok(Matches { matcher, at: 0, advances: false })
    }

    /// Whether there is another; writes the offsets of as many groups as there is room for. A
    /// search may take as long as the text is, so that each asks whether the query was
    /// `interrupted`.
    fn next(&mut self, interrupted: bool, spans: &mut [i64]) -> KernelResult<bool> {
        if interrupted {
            return Err(Raise::Interrupted);
        }
        let found = match self.advances {
            true => self.matcher.find_after_empty(self.at, spans),
            false => self.matcher.find(self.at, spans),
        };
        let found = found.map_err(leave)?;
        if found {
            self.at = spans[1] as usize;
            self.advances = spans[0] == spans[1];
        }
        Ok(found)
    }
}

/// A list of offsets that grows by whole matches.
struct Spans {
    list: *mut RawList,
    /// The offsets of one match.
    one: usize,
}

impl Spans {
    fn new(cx: &mut Cx, regex: &Regex, matches: usize) -> KernelResult<Spans> {
        let one = 2 * (regex.groups() + 1);
        Ok(Spans { list: RawList::new(cx, one * matches, 1)?, one })
    }

    /// Where the offsets of the next match go, which are part of the list when it is kept.
    fn room<'s>(&mut self, cx: &mut Cx) -> KernelResult<&'s mut [i64]> {
        // SAFETY: `list` was made by `RawList::new` in this row's arena with elements of one
        // word, and nothing else knows it yet; what `push` gives room for lies behind one
        // another, and is initialised below.
        unsafe {
            let len = (*self.list).len;
            for _ in 0..self.one {
                (*self.list).push(cx, 1)?.write(0);
            }
            (*self.list).len = len;
            Ok(std::slice::from_raw_parts_mut((*self.list).data.add(len as usize).cast::<i64>(), self.one))
        }
    }

    fn keep(&mut self) {
        // SAFETY: as above; `room` wrote these elements.
        unsafe { (*self.list).len += self.one as u64 };
    }

    /// One element behind the offsets.
    fn mark(&mut self, cx: &mut Cx) -> KernelResult<()> {
        // SAFETY: as above; the element is written at once.
        unsafe { (*self.list).push(cx, 1)?.write(0) };
        Ok(())
    }

    fn finish(self) -> IntList {
        IntList(self.list)
    }
}

/// A piece of a template.
enum Piece<'t> {
    Text(&'t str),
    Char(char),
    Group(usize),
    /// Something that CPython refuses, or that is not read here.
    Unknown,
}

/// Takes a template of `sub` apart as CPython does (Lib/re/_parser.py, `parse_template`).
fn template(regex: &Regex, text: &str, mut take: impl FnMut(Piece<'_>) -> KernelResult<()>) -> KernelResult<()> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        take(Piece::Text(&rest[..at]))?;
        rest = &rest[at + 1..];
        let (piece, after) = escape(regex, rest);
        rest = after;
        take(piece)?;
    }
    take(Piece::Text(rest))
}

/// What a backslash stands for, and what follows.
fn escape<'t>(regex: &Regex, rest: &'t str) -> (Piece<'t>, &'t str) {
    let group = |number: Option<usize>| match number {
        Some(number) if number <= regex.groups() => Piece::Group(number),
        _ => Piece::Unknown,
    };
    let Some(ch) = rest.chars().next() else { return (Piece::Unknown, rest) };
    let after = &rest[ch.len_utf8()..];
    match ch {
        'g' => match after.strip_prefix('<').and_then(|inner| inner.split_once('>')) {
            Some((name, after)) => {
                let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                let number = if digits {
                    name.parse().ok()
                } else {
                    regex.names().iter().find(|(known, _)| known == name).map(|(_, number)| *number)
                };
                (group(number), after)
            }
            None => (Piece::Unknown, after),
        },
        // Octal escapes and groups beyond 99 are CPython's.
        '0' => (Piece::Unknown, after),
        '1'..='9' => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 2 {
                return (Piece::Unknown, &rest[digits..]);
            }
            (group(rest[..digits].parse().ok()), &rest[digits..])
        }
        'n' => (Piece::Char('\n'), after),
        't' => (Piece::Char('\t'), after),
        'r' => (Piece::Char('\r'), after),
        'a' => (Piece::Char('\u{7}'), after),
        'b' => (Piece::Char('\u{8}'), after),
        'f' => (Piece::Char('\u{c}'), after),
        'v' => (Piece::Char('\u{b}'), after),
        '\\' => (Piece::Char('\\'), after),
        'A'..='Z' | 'a'..='z' => (Piece::Unknown, after),
        // Any other character keeps its backslash.
        _ => (Piece::Char('\\'), rest),
    }
}
