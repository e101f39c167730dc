//! New functions made of others: a few tokens or lines of a source are changed.
//!
//! What comes out is Python more often than random text is, and wrong in the ways in which
//! programs are wrong: another operator, a name that is not bound on every path, a constant
//! at an edge, a method of another class, a line too many.

use crate::random::Random;

/// Operators and words that may stand where another of their row does.
const ALIKE: &[&[&str]] = &[
    &["+", "-", "*", "//", "%", "/", "**"],
    &["<", "<=", ">", ">=", "==", "!=", "in", "is"],
    &["and", "or"],
    &["&", "|", "^", "<<", ">>"],
    &["+=", "-=", "*=", "//=", "%=", "="],
    &["if", "while"],
    &["break", "continue", "pass", "return"],
    &["int", "float", "str", "bool", "len", "abs", "repr", "list", "tuple", "set", "sorted", "sum", "max", "min"],
    &["append", "pop", "extend", "insert", "remove", "index", "count", "reverse", "sort", "copy", "clear"],
    &["get", "items", "keys", "values", "setdefault", "update"],
    &["upper", "lower", "strip", "title", "split", "casefold", "capitalize", "swapcase", "splitlines", "lstrip"],
    &["find", "rfind", "startswith", "endswith", "partition", "removeprefix", "rindex", "replace"],
    &["isdigit", "isalpha", "isspace", "isupper", "isalnum", "isidentifier", "isdecimal", "isnumeric"],
    &["ValueError", "KeyError", "TypeError", "IndexError", "Exception", "ZeroDivisionError", "LookupError"],
];

/// Constants at edges.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "64",
    "255",
    "1000",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-1",
    "1.5",
    "0.0",
    "-0.0",
    "1e308",
    "1e16",
    "True",
    "False",
    "None",
];

const TEXTS: &[&str] =
    &["''", "'a'", "'é'", "' '", "'\\n'", "'%s'", "'{}'", "'0'", "'-1.5'", "'ß😀'", "b'x'", "'2024-02-29'"];

/// What an expression may become; `@` stands for it.
const AROUND: &[&str] = &[
    "(not @)",
    "(-@)",
    "str(@)",
    "len(@)",
    "[@]",
    "(@, @)",
    "(@ or 0)",
    "(@ if @ else None)",
    "(@ == @)",
    "int(@)",
    "bool(@)",
    "@[0]",
    "@[-1:]",
    "(@ + @)",
    "f'{@}'",
    "{@: 1}",
    "(lambda: @)()",
    "sorted(@)",
    "[x_ for x_ in @]",
    "list(@)",
];

const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
    "from", "global", "if", "import", "in", "is", "lambda", "match", "case", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield", "self", "cls",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Name,
    Number,
    Text,
    Operator,
    Space,
}

/// A source with some changes.
#[must_use]
pub fn mutate(source: &str, random: &mut Random) -> String {
    let mut source = source.to_string();
    for _ in 0..=random.below(3) {
        source = if random.one_in(5) { change_lines(&source, random) } else { change_token(&source, random) };
    }
    source
}

fn change_lines(source: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    if lines.len() < 2 {
        return source.to_string();
    }
    let at = random.below(lines.len() - 1);
    match random.below(3) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[at]),
        _ => lines.swap(at, at + 1),
    }
    lines.join("\n")
}

fn change_token(source: &str, random: &mut Random) -> String {
    let tokens = tokens(source);
    let places: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at].0 != Kind::Space).collect();
    if places.is_empty() {
        return source.to_string();
    }
    let at = *random.pick(&places);
    let (kind, text) = tokens[at];
    let alike: Vec<&str> = ALIKE.iter().filter(|row| row.contains(&text)).flat_map(|row| row.iter().copied()).collect();
    let new = match kind {
        _ if random.one_in(40) => String::new(),
        _ if !alike.is_empty() => (*random.pick(&alike)).to_string(),
        Kind::Operator | Kind::Space => text.to_string(),
        Kind::Number if random.one_in(2) => (*random.pick(NUMBERS)).to_string(),
        Kind::Text if random.one_in(2) => (*random.pick(TEXTS)).to_string(),
        Kind::Name if KEYWORDS.contains(&text) => text.to_string(),
        Kind::Name if random.one_in(2) => {
            // Another name of the same source, most of them variables.
            let names: Vec<&str> = tokens
                .iter()
                .filter(|token| matches!(token.0, Kind::Name | Kind::Number) && !KEYWORDS.contains(&token.1))
                .map(|token| token.1)
                .collect();
            (*random.pick(&names)).to_string()
        }
        _ => random.pick(AROUND).replace('@', text),
    };
    tokens.iter().enumerate().map(|(place, token)| if place == at { new.as_str() } else { token.1 }).collect()
}

/// The tokens of a source, of which nothing is lost.
fn tokens(source: &str) -> Vec<(Kind, &str)> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let while_ = |fits: fn(char) -> bool| rest.find(|ch| !fits(ch)).unwrap_or(rest.len());
        let (kind, len) = if first.is_whitespace() {
            (Kind::Space, while_(char::is_whitespace))
        } else if first == '#' {
            (Kind::Space, rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(len) = text(rest) {
            (Kind::Text, len)
        } else if first.is_ascii_digit() {
            (Kind::Number, while_(|ch| ch.is_alphanumeric() || ch == '.' || ch == '_'))
        } else if first.is_alphabetic() || first == '_' {
            (Kind::Name, while_(|ch| ch.is_alphanumeric() || ch == '_'))
        } else {
            let known = ["**=", "//=", ">>=", "<<=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":="]
                .into_iter()
                .chain(["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="])
                .find(|operator| rest.starts_with(operator));
            (Kind::Operator, known.map_or(first.len_utf8(), str::len))
        };
        let (token, after) = rest.split_at(len);
        tokens.push((kind, token));
        rest = after;
    }
    tokens
}

/// The length of the literal of a text at the beginning, with its prefix.
fn text(source: &str) -> Option<usize> {
    let prefix = source.find(|ch: char| !matches!(ch, 'r' | 'b' | 'f' | 'u' | 'R' | 'B' | 'F'))?;
    let body = &source[prefix..];
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    let mut at = quote.len();
    loop {
        let rest = body.get(at..)?;
        if rest.starts_with(quote) {
            return Some(prefix + at + quote.len());
        }
        let ch = rest.chars().next()?;
        at += ch.len_utf8();
        if ch == '\\' {
            at += body.get(at..)?.chars().next()?.len_utf8();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_lose_nothing() {
        let source = "def f(a):\n    # é\n    return rb'\\'x' + f\"{a!r}\" ** 1_0.5 // a.b  # end";
        let found = tokens(source);
        assert_eq!(found.iter().map(|token| token.1).collect::<String>(), source);
        let of = |kind| found.iter().filter(|token| token.0 == kind).map(|token| token.1).collect::<Vec<_>>();
        assert_eq!(of(Kind::Text), ["rb'\\'x'", "f\"{a!r}\""]);
        assert_eq!(of(Kind::Number), ["1_0.5"]);
    }

    #[test]
    fn a_seed_gives_one_function() {
        let source = "x = a + 1\nreturn x * 2";
        let one = |seed| mutate(source, &mut Random::new(seed));
        assert_eq!(one(3), one(3));
        assert!((0..20).any(|seed| one(seed) != source));
    }
}
