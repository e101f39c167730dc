//! The tokens of a Python text, as far as they tell which names it uses and how.
//!
//! CREATE FUNCTION asks before the text is parsed, since what it finds decides what is parsed: the body
//! of PL/Python is that of a function, and some names mean something there only.

use std::collections::HashSet;

/// A token that is neither a comment nor a blank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// Where it begins.
    pub(crate) at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Name,
    Number,
    String,
    Operator,
}

/// A statement of one line, or the part of a compound one up to its colon and what follows it in its
/// line.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The blanks before it.
    pub(crate) indent: usize,
    pub(crate) tokens: Vec<Token<'a>>,
}

impl<'a> Line<'a> {
    /// The word with which it begins.
    pub(crate) fn first(&self) -> &'a str {
        self.tokens.first().map_or("", |token| token.text)
    }

    pub(crate) fn texts(&self) -> Vec<&'a str> {
        self.tokens.iter().map(|token| token.text).collect()
    }
}

/// The operators of several characters, longer ones first.
const OPERATORS: [&str; 23] = [
    "**=", "//=", ">>=", "<<=", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", ":=", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "@=",
];

/// The lines of a text. What is no Python is cut somehow: its syntax error comes later.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut line = Line { indent: 0, tokens: Vec::new() };
    let mut depth = 0usize;
    let mut at = 0;
    let mut begun = 0;
    // The blanks before a line of which a part stands before a semicolon.
    let mut shared = None;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match c {
            '\n' => {
                if depth == 0 {
                    if !line.tokens.is_empty() {
                        lines.push(line);
                    }
                    line = Line { indent: 0, tokens: Vec::new() };
                    begun = at + 1;
                    shared = None;
                }
                at += 1;
                continue;
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            // A line that goes on.
            '\\' => {
                at += if rest[1..].starts_with('\n') { 2 } else { 1 };
                continue;
            }
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '"' | '\'' => (Kind::String, string(rest)),
            c if c == '_' || c.is_alphabetic() => {
                let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
                let prefix = end <= 2 && rest[..end].chars().all(|c| "rRbBuUfF".contains(c));
                match rest[end..].starts_with(['"', '\'']) && prefix {
                    true => (Kind::String, end + string(&rest[end..])),
                    false => (Kind::Name, end),
                }
            }
            c if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) => {
                (Kind::Number, number(rest))
            }
            c => {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                let long = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
                (Kind::Operator, long.map_or(c.len_utf8(), |operator| operator.len()))
            }
        };
        if line.tokens.is_empty() {
            line.indent = shared.unwrap_or(at - begun);
        }
        if depth == 0 && c == ';' {
            shared = Some(line.indent);
            lines.push(std::mem::replace(&mut line, Line { indent: 0, tokens: Vec::new() }));
        } else {
            line.tokens.push(Token { kind, text: &text[at..at + length], at });
        }
        at += length;
    }
    if !line.tokens.is_empty() {
        lines.push(line);
    }
    lines
}

/// The length of a string that begins with its quote.
fn string(text: &str) -> usize {
    let quote = &text[..1];
    let three = &text.get(..3).filter(|three| three.chars().all(|c| quote.starts_with(c)));
    let end = three.unwrap_or(quote);
    let mut at = end.len();
    while let Some(c) = text[at..].chars().next() {
        match c {
            '\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '\n' if three.is_none() => return at,
            _ if text[at..].starts_with(end) => return at + end.len(),
            c => at += c.len_utf8(),
        }
    }
    text.len()
}

fn number(text: &str) -> usize {
    let mut last = ' ';
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let ends = |c: char| {
        let signed = matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && !hexadecimal;
        last = c;
        !(c == '.' || c == '_' || c.is_alphanumeric() || signed)
    };
    text.find(ends).unwrap_or(text.len())
}

/// Whether a number is one of floats.
pub(crate) fn is_float(number: &str) -> bool {
    let hexadecimal = number.starts_with("0x") || number.starts_with("0X");
    !hexadecimal && number.contains(['.', 'e', 'E'])
}

/// The names that lines read, and those that they bind, wherever that is.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    pub(crate) read: HashSet<&'a str>,
    pub(crate) bound: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(lines: &[Line<'a>]) -> Names<'a> {
        let mut names = Names::default();
        lines.iter().for_each(|line| names.add(&line.tokens));
        names
    }

    fn add(&mut self, tokens: &[Token<'a>]) {
        let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
        let mut depth = 0usize;
        let depths: Vec<usize> = tokens
            .iter()
            .map(|token| {
                match token.text {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth
            })
            .collect();
        // What stands before the last `=` of a line is assigned to.
        let assigned = (0..tokens.len()).rev().find(|at| depths[*at] == 0 && text(Some(*at)) == "=").unwrap_or(0);
        let imports = matches!(text(Some(0)), "import" | "from");
        let (mut loop_targets, mut parameters) = (false, None);
        for (at, token) in tokens.iter().enumerate() {
            let (before, behind) = (text(at.checked_sub(1)), text(Some(at + 1)));
            match token.text {
                "for" => loop_targets = true,
                "in" => loop_targets = false,
                "lambda" => parameters = Some(depths[at]),
                "def" => parameters = Some(depths[at]),
                ":" if parameters == Some(depths[at]) => parameters = None,
                _ => {}
            }
            if token.kind == Kind::String {
                let quote = token.text.find(['"', '\'']).unwrap_or(0);
                if token.text[..quote].contains(['f', 'F']) {
                    self.add_template(&token.text[quote..]);
                }
            }
            if token.kind != Kind::Name || before == "." {
                continue;
            }
            let is_part = matches!(behind, "." | "[" | "(");
            if imports && text(Some(0)) == "from" && before == "from" {
                self.read.insert(token.text);
            } else if imports {
                if behind != "as" {
                    self.bound.insert(token.text);
                }
                self.read.insert(token.text);
            } else if (at < assigned && !is_part)
                || matches!(before, "def" | "class" | "as")
                || behind == ":="
                || (loop_targets && !is_part)
                || (parameters.is_some() && matches!(before, "(" | "," | "*" | "**" | "lambda"))
            {
                self.bound.insert(token.text);
            } else if !(behind == "=" && depths[at] > 0) {
                self.read.insert(token.text);
            }
        }
    }

    /// The names in the braces of an f-string.
    fn add_template(&mut self, text: &'a str) {
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            rest = &rest[at + 1..];
            if let Some(doubled) = rest.strip_prefix('{') {
                rest = doubled;
                continue;
            }
            let end = rest.find('}').unwrap_or(rest.len());
            lines(&rest[..end]).iter().for_each(|line| self.add(&line.tokens));
            rest = &rest[end..];
        }
    }

    /// Whether a name is read and bound nowhere.
    pub(crate) fn uses(&self, name: &str) -> bool {
        self.read.contains(name) && !self.bound.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_lines_beside_strings_and_comments() {
        let text = "a = 'x # \\' y' # a 'comment'\nif b:\n    return f(\n  1.5e-3, r\"\"\"\n;\"\"\")\nc = 1; d /= 2\n";
        let lines = lines(text);
        let shown: Vec<(usize, Vec<&str>)> = lines.iter().map(|line| (line.indent, line.texts())).collect();
        assert_eq!(
            shown,
            [
                (0, vec!["a", "=", "'x # \\' y'"]),
                (0, vec!["if", "b", ":"]),
                (4, vec!["return", "f", "(", "1.5e-3", ",", "r\"\"\"\n;\"\"\"", ")"]),
                (0, vec!["c", "=", "1"]),
                (0, vec!["d", "/=", "2"]),
            ]
        );
    }

    #[test]
    fn tells_names_that_are_read_from_those_that_are_bound() {
        let uses = |text: &str| Names::of(&lines(text)).uses("SD");
        for text in [
            "return SD['a']",
            "if 'a' in SD: pass",
            "x = SD.get(1)",
            "SD['a'] = 1",
            "f(SD)",
            "SD[1] += 1",
            "return f'{{a}} {SD[1]}'",
        ] {
            assert!(uses(text), "{text}");
        }
        for text in [
            "SD = {}\nreturn SD['a']",
            "# SD['a']\nreturn 'SD[1]'",
            "a, SD = 1, 2\nreturn SD",
            "for SD in x: f(SD)",
            "def f(SD): return SD[0]",
            "return x.SD[0] + f(SD=1)",
            "f = lambda a, SD: SD[a]",
            "return f'{{SD}}' + '{SD}'",
            "with open(a) as SD: SD.read()",
            "from statistics import stdev as SD\nreturn SD([1])",
        ] {
            assert!(!uses(text), "{text}");
        }
    }
}
