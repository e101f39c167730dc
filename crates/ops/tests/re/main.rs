//! Regular expressions against CPython: certain patterns, all characters, and random
//! patterns on random texts.

#[path = "../process/mod.rs"]
mod process;
mod python;
mod random;
mod speed;

use exuvia_ops::re::{Anchor, Leave, Regex};
use python::{Answer, Python};
use random::Random;

const I: u32 = 2;
const M: u32 = 8;
const S: u32 = 16;
const X: u32 = 64;
const A: u32 = 256;

/// Patterns as people write them; each must be compiled.
const COMMON: &[&str] = &[
    r#"^(\S+) (\S+) (\S+) \[([\w:/]+\s[+\-]\d{4})\] "(\S+) (\S+)\s*(\S*)" (\d{3}) (\S+)"#,
    r"\d+",
    r"[^a-z0-9]+",
    r"^\s*([+-]?\d+(?:\.\d+)?)\s*(kg|lb)?\s*$",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    r"(?i)\bfoo\b",
    r"(\d{1,2})/(\d{1,2})/(\d{4})",
    r"https?://([^/?#]+)",
    r"\s+",
    r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?",
    r"^(?:Mr|Mrs|Ms)\.?\s",
    r"\$\s*([\d,]+)",
    r"<[^>]*>",
    r"(?:a|an|the)\s+(\w+)",
    r"^#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})$",
    r"\b\w{3,}\b",
    r#""([^"\\]|\\.)""#,
    r"(?s)<b>(.*?)</b>",
    r"^$",
    "",
];

/// Patterns that ask for care, with their flags.
const CAREFUL: &[(&str, u32)] = &[
    // Found by trying alone.
    (r#"(['"])(.*?)\1"#, 0),
    (r"\b(\w+)\s+\1\b", 0),
    (r"\b(\w+)\s+\1\b", A),
    (r"(?P<q>\W)\w+(?P=q)", 0),
    (r"^(?=.*\d)(?=.*[a-z])\S+", M),
    (r"(?<![\w.])\d+(?!\.)\b", 0),
    (r"(?<=\$)[\d,]+", 0),
    (r"(?<!^)(?=[A-Z])", 0),
    (r"(\d)(?=(\d{3})+(?!\d))", 0),
    (r"\w++(?!@)", 0),
    (r"(?>\w+|\s+)-", 0),
    (r"(<)?\w+(?(1)>|$)", 0),
    (r"(?i)(?<=a)B|c(?!D)", 0),
    (r"\B(?=\w)é", 0),
    (r"(a)|b\1", 0),
    (r"(?:(a)|(b)(?!\2))+", 0),
    ("a$", 0),
    ("a$", M),
    ("a$\n", 0),
    ("$", 0),
    ("^", M),
    ("^$", M),
    (r"\n$", 0),
    (r"a\Z", 0),
    (r".*", 0),
    (r".*", S),
    (r".+$", 0),
    (r"(.*)$", M),
    (r"\b", 0),
    (r"\B", 0),
    (r"\B", A),
    (r"\B|²", A),
    (r"\b\w+\b", 0),
    (r"\b\w+\b", A),
    (r"\w\b", A),
    (r"\d+", 0),
    (r"\d+", A),
    (r"\D+", 0),
    (r"\D+", A),
    (r"\s+", 0),
    (r"\s+", A),
    (r"\S+", A),
    (r"\W+", 0),
    (r"\W+", A),
    ("k", I),
    ("s", I),
    ("i", I),
    ("İ", I),
    ("ı", I),
    ("ß", I),
    ("straße", I),
    ("k", I | A),
    ("[a-z]+", I),
    ("[a-z]+", I | A),
    ("[^a-z]+", I),
    ("[^s]", I),
    (r"[\W\d]", I),
    ("[é-ë]+", I),
    ("é", I | A),
    (r" a  b # c", X),
    ("a b", X),
    (r"a\ b", X),
    ("[a b]", X),
    ("(?x) a | b", 0),
    ("a(?x: b )c", 0),
    ("(?i:a)b", 0),
    ("(?-i:a)b", I),
    ("(?m:^)a", 0),
    ("(?s:.).", 0),
    ("(?-s:.).", S),
    ("a|ab", 0),
    ("(?:a|ab)(?:c|bcd)", 0),
    ("(a)|(b)", 0),
    ("(a)?b", 0),
    ("(a)??b", 0),
    ("(a|)?b", 0),
    ("(|a)?b", 0),
    ("(|a)??b", 0),
    ("((a)|b)c|(b)", 0),
    ("b*(b|ba)|b*ab*", 0),
    ("a?a+?|a?b", 0),
    ("(?:a|ab)c|(?:a|ab)b?", 0),
    (".abb|b", 0),
    ("(?:(a)|b)*", 0),
    ("(?:(a)|(b))*c", 0),
    ("(?:(a+)b?)+", 0),
    ("(a|ab)(c|bcd)*", 0),
    ("(?:(a)(b)?)+", 0),
    ("a{2}", 0),
    ("a{,2}", 0),
    ("a{1,}?", 0),
    ("a{}", 0),
    ("a{1,2", 0),
    ("{a", 0),
    ("a{,}", 0),
    ("a{0}b", 0),
    (r"[]-a]", 0),
    (r"\101\x41\u0041\U00000041\0", 0),
    (r"[\b]", 0),
    ("(?#comment)a", 0),
    ("a(?#comment)*", 0),
    ("(?P<é>a)", 0),
    ("(?:(?:(?:a)))", 0),
    ("😀+", 0),
    ("😀|b", I),
    ("(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.)?(.*)", 0),
];

const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "ab",
    "abcd",
    "aab",
    "a\n",
    "a\nb",
    "a\n\n",
    "\n",
    "\n\n",
    "\r\n",
    "a\r\n",
    "a b",
    " a  b",
    "äöü ÄÖÜ",
    "e\u{301}t\u{301}",
    "ça va",
    "😀😀b",
    "𐐀𐐨",
    "x²y",
    "٣٤ 12",
    "ſkſ",
    "\u{212a}elvin",
    "İstanbul ıi",
    "STRASSE straße STRAẞE",
    "\u{1c}a\u{1d}",
    "a\u{85}b",
    "a\u{a0}b",
    "foo Foo FOO",
    "a_b-c",
    "a‿b",
    "½ kg",
    "éèÉ",
    "12.5 kg",
    " +7lb\n",
    "2024-02-30",
    "1/2/2024",
    "me@example.org",
    "http://example.org/x?y",
    "<b>x\ny</b>",
    "AAAAA\0",
    "]\\^_`a",
    "{a}",
    "a{1,2",
    "bbbabbbb",
    "zabb",
    "abaab",
    "\u{8}",
    r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23"#,
];

fn count(default: usize) -> usize {
    std::env::var("EXUVIA_ORACLE_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// What our pattern finds, as CPython says it.
fn found(regex: &Regex, anchor: Anchor, text: &str, at: usize) -> Result<Option<Vec<i64>>, Leave> {
    let byte = text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    let mut spans = vec![0; 2 * regex.groups() + 2];
    let matched = regex.find(anchor, text, byte, &mut spans)?;
    let span = regex.find_span(anchor, text, byte)?;
    assert_eq!(span, matched.then(|| (spans[0] as usize, spans[1] as usize)), "{regex:?} {text:?}");
    if at == 0 {
        assert_eq!(regex.is_match(anchor, text)?, matched, "{regex:?} {text:?}");
    }
    if !matched {
        return Ok(None);
    }
    for (group, span) in spans.chunks(2).enumerate() {
        assert!(span[0] >= 0 || !regex.always(group), "group {group} of {regex:?} in {text:?}");
    }
    assert!(spans[0] < spans[1] || regex.can_be_empty());
    Ok(Some(in_characters(text, spans)))
}

fn in_characters(text: &str, spans: Vec<i64>) -> Vec<i64> {
    let offset = |byte: i64| usize::try_from(byte).map_or(-1, |byte| text[..byte].chars().count() as i64);
    spans.into_iter().map(offset).collect()
}

/// All matches, one after the other.
fn every(regex: &Regex, text: &str) -> Result<Vec<Vec<i64>>, Leave> {
    let matcher = regex.over(Anchor::Search, text)?;
    let (mut every, mut at, mut after_empty) = (vec![], 0, false);
    loop {
        let mut spans = vec![0; 2 * regex.groups() + 2];
        let found = if after_empty { matcher.find_after_empty(at, &mut spans) } else { matcher.find(at, &mut spans) };
        if !found? {
            return Ok(every);
        }
        (at, after_empty) = (spans[1] as usize, spans[0] == spans[1]);
        every.push(in_characters(text, spans));
    }
}

/// Compares a pattern with CPython's on some texts; how many searches were left to it.
fn compare(regex: &Regex, answer: &Answer, pattern: &str, flags: u32, searches: &[(&str, usize)]) -> usize {
    let ours = (regex.flags(), regex.groups(), regex.names());
    assert_eq!(ours, (answer.flags, answer.groups, &*answer.names), "{pattern:?} with flags {flags}");
    let mut left = 0;
    for ((text, at), expected) in searches.iter().zip(&answer.found) {
        for (anchor, expected) in [Anchor::Search, Anchor::Match, Anchor::FullMatch].into_iter().zip(expected) {
            match found(regex, anchor, text, *at) {
                Ok(found) => assert_eq!(
                    found, *expected,
                    "{anchor:?} of {pattern:?} with flags {flags} in {text:?} from {at}: ours left, CPython's right"
                ),
                Err(Leave) => left += 1,
            }
        }
    }
    for ((text, _), expected) in searches.iter().zip(&answer.every).filter(|((text, _), _)| text.chars().count() < 300)
    {
        if let Ok(found) = every(regex, text) {
            assert_eq!(
                found, *expected,
                "all of {pattern:?} with flags {flags} in {text:?}: ours left, CPython's right"
            );
        }
    }
    left
}

#[test]
fn certain_patterns_agree() {
    let Some(mut python) = Python::start() else { return };
    let common = COMMON.iter().flat_map(|pattern| [0, I, M, A, I | A].map(|flags| (*pattern, flags)));
    let mut searches: Vec<(&str, usize)> =
        TEXTS.iter().flat_map(|text| [(*text, 0), (*text, 1.min(text.len()))]).collect();
    // Long texts are searched by other automata.
    let ascii: String =
        TEXTS.iter().filter(|text| text.is_ascii()).flat_map(|text| [text, " "]).collect::<String>().repeat(40);
    let any = TEXTS.join("\n").repeat(20);
    let log = TEXTS.last().expect("a line of a log").repeat(100);
    for text in [&ascii, &any, &log] {
        searches.extend([0, 2500].map(|at| (text.as_str(), at)));
    }
    for (pattern, flags) in common.chain(CAREFUL.iter().copied()) {
        let regex = Regex::new(pattern, flags).unwrap_or_else(|reason| panic!("{pattern:?}: {reason}"));
        let answer = python.search(pattern, flags, &searches).unwrap_or_else(|| panic!("{pattern:?}"));
        let left = compare(&regex, &answer, pattern, flags, &searches);
        assert!(2 * left < 3 * searches.len(), "{pattern:?} is left to CPython in {left} searches");
    }
}

#[test]
fn searches_that_take_long_are_left() {
    let text = "a".repeat(40);
    for pattern in [r"^(?=(\w+\s?)+\1b$)", r"(?:a|\w)+(?=c)"] {
        let regex = Regex::new(pattern, 0).expect("a pattern that is searched here");
        let mut spans = vec![0; 2 * regex.groups() + 2];
        assert_eq!(regex.find(Anchor::Search, &text, 0, &mut spans), Err(Leave), "{pattern}");
        assert_eq!(regex.find(Anchor::Search, "ab", 0, &mut spans), Ok(false), "{pattern}");
    }
}

/// A step is no longer for a long operand: these would take minutes.
#[test]
fn searches_with_long_operands_are_left() {
    let text = "a".repeat(2_000_000);
    let literal = format!("(?=a){}b", "a".repeat(100_000));
    for pattern in [r"(a*)\1b", "(?<=b(?:.{1000}){900})a", &literal] {
        let regex = Regex::new(pattern, 0).expect("a pattern that is searched here");
        let mut spans = vec![0; 2 * regex.groups() + 2];
        assert_eq!(regex.find(Anchor::Search, &text, 0, &mut spans), Err(Leave), "{:.40}", pattern);
    }
}

#[test]
fn what_is_uncertain_is_refused() {
    for pattern in [
        r"\1",
        r"(a\1)",
        r"(?i)(a)\1",
        r"(a)(?<=\1)b",
        "(?P=a)(?P<a>a)",
        "(?<=a|bc)",
        "(?<=a+)",
        "(?!(a))",
        "(?>(a))",
        "(a)*+",
        "(?(1)a|b)(c)",
        "(a)(?(1)b|c|d)",
        "(?=a)*",
        "(?<a)",
        "(?L)a",
        r"\N{DIGIT ONE}",
        "[[a]",
        "[a||b]",
        "(?:a*)*",
        "(?:a|)+",
        "a**",
        "(a",
        "a)",
        "a(?i)",
        "[b-a]",
        r"\q",
        r"[\Z]",
        "x{3,2}",
        "*a",
        r"a\",
        "(?i-i:a)",
        "(?a:a)",
        r"\ud800",
        "(?P<n>a)(?P<n>b)",
        "(?P<1>a)",
        "(?:^){2}",
        "(a){0}",
        "(?)",
        "(?i",
        "(?t)",
    ] {
        assert!(Regex::new(pattern, 0).is_err(), "{pattern:?}");
    }
    assert!(Regex::new(&"(".repeat(100_000), 0).is_err());
    assert!(Regex::new(&format!("{}{}", "(?:".repeat(100_000), ")".repeat(100_000)), 0).is_err());
    assert!(Regex::new("(?:(?:(?:a{1000}){1000}){1000}){1000}", 0).is_err());
    let nested = |depth: usize| format!("{}b{}", "(?:a|".repeat(depth), "c)+d".repeat(depth));
    assert!(Regex::new(&nested(30), 0).is_ok() && Regex::new(&nested(31), 0).is_err());
    assert!(Regex::new("a", 4).is_err() && Regex::new("a", 128).is_err() && Regex::new("a", 32 | A).is_err());
}

/// The offsets, in characters, of all matches; the pattern matches no empty text.
fn find_all(pattern: &str, flags: u32, text: &str, offsets: &[usize]) -> Vec<usize> {
    let regex = Regex::new(pattern, flags).unwrap_or_else(|reason| panic!("{pattern:?}: {reason}"));
    let matcher = regex.over(Anchor::Search, text).expect("a text for us");
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((begin, end)) = matcher.find_span(at).expect("automata search any text") {
        found.extend([offsets[begin], offsets[end]]);
        at = end;
    }
    found
}

fn compare_all(python: &mut Python, patterns: &[String], flags: u32, text: &str) {
    let mut offsets = vec![usize::MAX; text.len() + 1];
    for (at, (byte, _)) in text.char_indices().enumerate() {
        offsets[byte] = at;
    }
    offsets[text.len()] = text.chars().count();
    for (pattern, expected) in patterns.iter().zip(python.find_all(patterns, flags, text)) {
        let found = find_all(pattern, flags, text, &offsets);
        assert!(found == expected, "{pattern:?} with flags {flags}: {found:?} is not CPython's {expected:?}");
    }
}

/// Sets on every character there is.
#[test]
fn sets_agree_on_every_character() {
    let Some(mut python) = Python::start() else { return };
    // Of the other planes a part must do, where the test is not run by hand.
    let step = if std::env::var_os("EXUVIA_ORACLE_CALLS").is_some() { 1 } else { 61 };
    let text: String = ('\0'..='\u{ffff}').chain(('\u{10000}'..=char::MAX).step_by(step)).collect();
    let patterns = [
        r"\d+",
        r"\D+",
        r"\s+",
        r"\S+",
        r"\w+",
        r"\W+",
        ".+",
        "[a-z]+",
        "[^a-z]+",
        r"[^\W\d_]+",
        "[À-ÿ]+",
        r"[\w.-]+",
        "[\0-\u{ff}]+",
        "[\u{100}-\u{ffff}]+",
        "[^\u{100}-\u{17f}]+",
        r"[\Ws]+",
        r"[^\Dk]+",
    ]
    .map(str::to_string);
    for flags in [0, I, A, I | A] {
        compare_all(&mut python, &patterns, flags, &text);
    }
}

/// Every letter that has case, in the text of all of them.
#[test]
fn letters_agree_where_case_is_ignored() {
    let Some(mut python) = Python::start() else { return };
    let other = |ch: char| ch.to_lowercase().ne([ch]) || ch.to_uppercase().ne([ch]);
    let letters: Vec<char> =
        ('\u{1}'..=char::MAX).filter(|ch| other(*ch) || !ch.is_ascii() && *ch < '\u{180}').collect();
    let text: String = letters.iter().collect();
    let step = if std::env::var_os("EXUVIA_ORACLE_CALLS").is_some() { 1 } else { 7 };
    // A few thousand patterns would take seconds; all are compared by hand.
    let some = letters.iter().enumerate().filter(|(at, ch)| at % step == 0 || **ch < '\u{600}').map(|(_, ch)| *ch);
    let letters: Vec<char> = some.filter(|ch| *ch <= '\u{ffff}').collect();
    let alone: Vec<String> = letters.iter().map(char::to_string).collect();
    compare_all(&mut python, &alone, I, &text);
    compare_all(&mut python, &alone, I | A, &text);
    let sets: Vec<String> = letters.iter().map(|ch| format!("[{ch}7]")).collect();
    compare_all(&mut python, &sets, I, &text);
    let ranges: Vec<String> = letters
        .windows(4)
        .step_by(13)
        .flat_map(|of| [format!("[{}-{}]+", of[0], of[3]), format!("[^{}-{}]+", of[0], of[3])])
        .collect();
    compare_all(&mut python, &ranges, I, &text);
    compare_all(&mut python, &ranges, I | A, &text);
}

/// Random patterns; `EXUVIA_ORACLE_CALLS` says how many, `EXUVIA_ORACLE_SEED` from which on.
#[test]
fn random_patterns_agree() {
    let Some(mut python) = Python::start() else { return };
    let first = std::env::var("EXUVIA_ORACLE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let count = count(1500);
    let (mut right, mut compiled, mut searched, mut left, mut wrong) = (0, 0, 0, 0, 0);
    for seed in first..first + count as u64 {
        let mut random = Random::new(seed);
        let chars = random::chars(&mut random);
        let pattern = random::pattern(&mut random, &chars);
        let flags = random.of(&[0, 0, 0, I, M, S, X, A, I | M, I | A, M | S]);
        let texts: Vec<(String, usize)> = (0..8).map(|_| random::text(&mut random, &chars)).collect();
        let searches: Vec<(&str, usize)> = texts.iter().map(|(text, at)| (&**text, *at)).collect();
        let regex = Regex::new(&pattern, flags);
        let answer = python.search(&pattern, flags, &searches);
        right += usize::from(answer.is_some());
        let Ok(regex) = regex else { continue };
        compiled += 1;
        searched += 3 * searches.len();
        let answer = answer.unwrap_or_else(|| panic!("CPython refuses {pattern:?} with flags {flags}"));
        let outcome = std::panic::catch_unwind(|| compare(&regex, &answer, &pattern, flags, &searches));
        match outcome {
            Ok(count) => left += count,
            Err(_) => wrong += 1,
        }
    }
    eprintln!("{count} patterns, {right} right, {compiled} compiled; {searched} searches, {left} left; {wrong} wrong");
    assert_eq!(wrong, 0, "patterns that differ, see above");
    assert!(compiled * 2 > right, "few patterns are compiled: {compiled} of {right}");
    assert!(left * 10 < searched, "many searches are left to CPython: {left} of {searched}");
}
