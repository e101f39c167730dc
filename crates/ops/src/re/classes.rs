//! Sets of characters as CPython's engine tests them.
//!
//! Ignoring case, CPython compares the lower case of the text's character with lower
//! cases of the pattern's, and with other lower-case letters of the same upper case
//! (Lib/re/_compiler.py and _casefix.py); "lower case" is one character, the first of a
//! mapping to several. No category parts a character from its lower case, so that a set
//! matches whatever a part of it matches. All this is so in Unicode 14, and tested.

use super::Unsupported;
use super::parse::{ASCII, Category, IGNORECASE, Item};
use crate::unicode::{self, Mapped};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// The last character that may be a letter, a number or a space (beyond stand but
/// selectors of variants and private use).
const LAST: char = '\u{3ffff}';

/// The set that items make up under those flags.
pub fn set(items: &[Item], negated: bool, flags: u32) -> Result<ClassUnicode, Unsupported> {
    // Made a class at once: adding to one sorts it again.
    let mut ranges: Vec<ClassUnicodeRange> = Vec::new();
    let mut push = |low: char, high: char| ranges.push(ClassUnicodeRange::new(low, high));
    let mut categories = Vec::new();
    for item in items {
        match *item {
            Item::Char(ch) if flags & IGNORECASE == 0 => push(ch, ch),
            Item::Char(ch) if flags & ASCII != 0 => {
                push(ch.to_ascii_lowercase(), ch.to_ascii_lowercase());
                push(ch.to_ascii_uppercase(), ch.to_ascii_uppercase());
            }
            Item::Char(ch) => match cases().get(&ch) {
                // CPython compares the letter itself, where it stands in a set, with the
                // lower case of the text's.
                Some(_) if ch > '\u{ffff}' => return astral(),
                Some(alike) => alike.iter().for_each(|ch| push(*ch, *ch)),
                None => push(ch, ch),
            },
            Item::Range(low, high) => {
                push(low, high);
                if flags & IGNORECASE == 0 {
                    continue;
                }
                // CPython then asks for the upper case too, even under ASCII.
                if high > '\u{ffff}' {
                    return astral();
                }
                if flags & ASCII != 0 {
                    for ch in ('a'..='z').chain('A'..='Z').filter(|ch| (low..=high).contains(ch)) {
                        push(ch.to_ascii_lowercase(), ch.to_ascii_lowercase());
                        push(ch.to_ascii_uppercase(), ch.to_ascii_uppercase());
                    }
                } else {
                    cases().range(low..=high).flat_map(|(_, alike)| &**alike).for_each(|ch| push(*ch, *ch));
                }
            }
            Item::Category { category, negated } => {
                let mut of_category = of(category, flags & ASCII != 0).clone();
                if negated {
                    of_category.negate();
                }
                categories.push(of_category);
            }
        }
    }
    let mut set = ClassUnicode::new(ranges);
    categories.iter().for_each(|category| set.union(category));
    if negated {
        set.negate();
    }
    Ok(set)
}

fn astral<T>() -> Result<T, Unsupported> {
    Err(Unsupported::Construct("letters beyond U+FFFF where case is ignored".to_string()))
}

/// The characters of a category.
fn of(category: Category, ascii: bool) -> &'static ClassUnicode {
    static SETS: [OnceLock<ClassUnicode>; 6] = [const { OnceLock::new() }; 6];
    let (at, belongs): (usize, fn(char) -> bool) = match (category, ascii) {
        (Category::Digit, false) => (0, unicode::is_decimal),
        (Category::Digit, true) => (1, |ch| ch.is_ascii_digit()),
        (Category::Space, false) => (2, unicode::is_space),
        (Category::Space, true) => (3, |ch| matches!(ch, '\t'..='\r' | ' ')),
        (Category::Word, false) => (4, is_word),
        (Category::Word, true) => (5, |ch| ch.is_ascii_alphanumeric() || ch == '_'),
    };
    SETS[at].get_or_init(|| characters(if ascii { '\x7f' } else { LAST }, belongs))
}

/// The characters up to the last that belong.
fn characters(last: char, belongs: impl Fn(char) -> bool) -> ClassUnicode {
    let mut ranges: Vec<ClassUnicodeRange> = Vec::new();
    let mut first = None;
    let mut before = '\0';
    for ch in '\0'..=last {
        match (belongs(ch), first) {
            (true, None) => first = Some(ch),
            (false, Some(low)) => {
                ranges.push(ClassUnicodeRange::new(low, before));
                first = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
        before = ch;
    }
    ranges.extend(first.map(|low| ClassUnicodeRange::new(low, last)));
    ClassUnicode::new(ranges)
}

/// The characters of words, of ASCII or all.
pub fn word(ascii: bool) -> Vec<(char, char)> {
    of(Category::Word, ascii).ranges().iter().map(|range| (range.start(), range.end())).collect()
}

/// Whether `\w` matches.
fn is_word(ch: char) -> bool {
    ch == '_' || unicode::is_alnum(ch)
}

/// Whether a text holds a character that is part of words for CPython and not for the
/// automata's `\b`, or the other way round.
pub fn has_disputed(text: &str) -> bool {
    static DISPUTED: OnceLock<ClassUnicode> = OnceLock::new();
    let disputed = DISPUTED
        .get_or_init(|| characters(char::MAX, |ch| is_word(ch) != regex_syntax::is_word_character(ch)))
        .ranges();
    let is_disputed = |ch: char| {
        let at = disputed.partition_point(|range| range.end() < ch);
        disputed.get(at).is_some_and(|range| range.start() <= ch)
    };
    text.chars().any(|ch| !ch.is_ascii() && is_disputed(ch))
}

/// For each letter that has case: what matches it where case is ignored.
fn cases() -> &'static BTreeMap<char, Box<[char]>> {
    static CASES: OnceLock<BTreeMap<char, Box<[char]>>> = OnceLock::new();
    CASES.get_or_init(|| {
        let cased: Vec<char> =
            ('\0'..=LAST).filter(|ch| lower(*ch) != *ch || first(unicode::upper(*ch)) != *ch).collect();
        let mut lowered: HashMap<char, Vec<char>> = HashMap::new();
        let mut uppered: HashMap<String, Vec<char>> = HashMap::new();
        for ch in &cased {
            lowered.entry(lower(*ch)).or_default().push(*ch);
            if unicode::lower(*ch) == Mapped::One(*ch) {
                uppered.entry(upper(*ch)).or_default().push(*ch);
            }
        }
        let alike = |ch: &char| -> Box<[char]> {
            uppered[&upper(lower(*ch))].iter().flat_map(|ch| &lowered[ch]).copied().collect()
        };
        cased.iter().map(|ch| (*ch, alike(ch))).collect()
    })
}

fn first(mapped: Mapped) -> char {
    match mapped {
        Mapped::One(ch) => ch,
        Mapped::Many(text) => text.chars().next().unwrap_or('\0'),
    }
}

fn lower(ch: char) -> char {
    first(unicode::lower(ch))
}

fn upper(ch: char) -> String {
    match unicode::upper(ch) {
        Mapped::One(ch) => ch.to_string(),
        Mapped::Many(text) => text.to_string(),
    }
}
