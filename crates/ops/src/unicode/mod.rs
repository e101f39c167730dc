//! Character properties of the Unicode version of the semantic level (CPython 3.11:
//! Unicode 14), which is neither Rust's nor that of the Python at hand.
//!
//! `tables.rs` is written by `generate.py` from CPython itself. A run of code points
//! shares a record; a first table says at which run each block of 256 code points
//! begins. What is asked for character by character is spread over pages when it is first
//! asked, so that a look-up is two loads. ASCII has no path of its own here: who runs over
//! text treats ASCII bytes without coming here.

mod tables;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use tables::UNICODE_VERSION;

/// The properties that a run of code points shares.
struct Record {
    flags: u16,
    upper: i32,
    lower: i32,
    title: i32,
}

/// The case mappings of a character one of which is not one character.
struct Long {
    ch: char,
    upper: &'static str,
    lower: &'static str,
    title: &'static str,
}

/// What a case mapping makes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// One character, perhaps the same.
    One(char),
    /// Several characters.
    Many(&'static str),
}

/// The run that holds a character.
fn run(ch: char) -> usize {
    let point = ch as u32;
    let block = (point >> 8) as usize;
    let (first, last) = (usize::from(tables::BLOCKS[block]), usize::from(tables::BLOCKS[block + 1]));
    first + tables::STARTS[first + 1..=last].partition_point(|start| *start <= point)
}

/// A number for each code point, in pages of which equal ones are stored once.
struct Pages {
    /// Where each page begins among the numbers.
    starts: Vec<u32>,
    numbers: Vec<u16>,
}

const PAGE: usize = 128;

impl Pages {
    /// From runs of code points with one number each, in order, which cover all from 0 on.
    fn of(runs: impl Iterator<Item = (u32, u16)>) -> Pages {
        let mut pages = Pages { starts: Vec::new(), numbers: Vec::new() };
        let mut known: HashMap<[u16; PAGE], u32> = HashMap::new();
        let mut runs = runs.peekable();
        let mut number = 0;
        for page in 0..=char::MAX as u32 / PAGE as u32 {
            let mut own = [number; PAGE];
            let first = page * PAGE as u32;
            while let Some((start, next)) = runs.next_if(|run| run.0 < first + PAGE as u32) {
                number = next;
                own[(start - first) as usize..].fill(number);
            }
            let start = *known.entry(own).or_insert_with(|| {
                pages.numbers.extend(own);
                (pages.numbers.len() - PAGE) as u32
            });
            pages.starts.push(start);
        }
        pages
    }

    #[inline]
    fn number(&self, ch: char) -> usize {
        let point = ch as usize;
        usize::from(self.numbers[self.starts[point / PAGE] as usize + point % PAGE])
    }
}

fn record(ch: char) -> &'static Record {
    static PAGES: LazyLock<Pages> = LazyLock::new(|| Pages::of(tables::STARTS.into_iter().zip(tables::RECORD_OF_RUN)));
    &tables::RECORDS[PAGES.number(ch)]
}

macro_rules! properties {
    ($($(#[$doc:meta])* $name:ident = $flags:expr),* $(,)?) => {
        $($(#[$doc])* #[must_use] pub fn $name(ch: char) -> bool { record(ch).flags & ($flags) != 0 })*
    };
}

properties! {
    /// `str.isprintable` of one character.
    is_printable = tables::PRINTABLE,
    /// `str.isalpha` of one character.
    is_alpha = tables::ALPHA,
    /// `str.isdecimal` of one character.
    is_decimal = tables::DECIMAL,
    /// `str.isdigit` of one character.
    is_digit = tables::DIGIT,
    /// `str.isnumeric` of one character.
    is_numeric = tables::NUMERIC,
    /// `str.isalnum` of one character (Objects/unicodeobject.c, unicode_isalnum).
    is_alnum = tables::ALPHA | tables::DECIMAL | tables::DIGIT | tables::NUMERIC,
    /// `str.isspace` of one character; what `strip` and `split` remove.
    is_space = tables::SPACE,
    /// `str.isupper` of one character.
    is_upper = tables::UPPER,
    /// `str.islower` of one character.
    is_lower = tables::LOWER,
    /// Whether the character is in title case (category Lt).
    is_title = tables::TITLE,
    /// Whether the character has case, as `title` and the final sigma see it.
    is_cased = tables::CASED,
    /// Whether the final sigma looks past the character.
    is_case_ignorable = tables::CASE_IGNORABLE,
    /// Whether an identifier may begin with the character.
    is_xid_start = tables::XID_START,
    /// Whether an identifier may go on with the character.
    is_xid_continue = tables::XID_CONTINUE,
    /// Whether `splitlines` ends a line at the character.
    is_line_break = tables::LINE_BREAK,
}

/// The value of a decimal digit of any script.
#[must_use]
pub fn decimal(ch: char) -> Option<u8> {
    let run = run(ch);
    let record = &tables::RECORDS[usize::from(tables::RECORD_OF_RUN[run])];
    // The generator checks that such runs begin with a zero and hold whole decades.
    (record.flags & tables::DECIMAL != 0).then(|| ((ch as u32 - tables::STARTS[run]) % 10) as u8)
}

fn map(ch: char, distance: impl Fn(&Record) -> i32, long: impl Fn(&Long) -> &'static str) -> Mapped {
    let record = record(ch);
    if record.flags & tables::LONG_CASE == 0 {
        return Mapped::One(char::from_u32((ch as u32).wrapping_add_signed(distance(record))).unwrap_or(ch));
    }
    match tables::LONG.binary_search_by_key(&ch, |entry| entry.ch) {
        Ok(at) => one_or_many(long(&tables::LONG[at])),
        Err(_) => Mapped::One(ch),
    }
}

fn one_or_many(text: &'static str) -> Mapped {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(ch), None) => Mapped::One(ch),
        _ => Mapped::Many(text),
    }
}

/// The upper case.
#[must_use]
pub fn upper(ch: char) -> Mapped {
    map(ch, |record| record.upper, |long| long.upper)
}

/// The lower case, without regard to the final sigma.
#[must_use]
pub fn lower(ch: char) -> Mapped {
    map(ch, |record| record.lower, |long| long.lower)
}

/// The title case.
#[must_use]
pub fn title(ch: char) -> Mapped {
    map(ch, |record| record.title, |long| long.title)
}

/// The case folding.
#[must_use]
pub fn fold(ch: char) -> Mapped {
    // The number of a character's folding from 1, 0 where it is its lower case.
    static PAGES: LazyLock<Pages> = LazyLock::new(|| {
        let runs = |(at, entry): (usize, &(char, &str))| [(entry.0 as u32, at as u16 + 1), (entry.0 as u32 + 1, 0)];
        Pages::of(tables::FOLDS.iter().enumerate().flat_map(runs))
    });
    match PAGES.number(ch) {
        0 => lower(ch),
        at => one_or_many(tables::FOLDS[at - 1].1),
    }
}

/// The number of the general category.
fn category_number(ch: char) -> usize {
    static PAGES: LazyLock<Pages> = LazyLock::new(|| Pages::of(tables::CATEGORY_FROM.into_iter()));
    PAGES.number(ch)
}

/// The general category, such as `Lu`.
#[must_use]
pub fn category(ch: char) -> &'static str {
    tables::CATEGORIES[category_number(ch)]
}

/// Whether this version of Unicode assigns the code point.
#[must_use]
pub fn is_assigned(ch: char) -> bool {
    category_number(ch) != usize::from(tables::UNASSIGNED)
}

/// The canonical combining class.
#[must_use]
pub fn combining(ch: char) -> usize {
    static PAGES: LazyLock<Pages> = LazyLock::new(|| Pages::of(tables::COMBINING_FROM.into_iter()));
    PAGES.number(ch)
}
