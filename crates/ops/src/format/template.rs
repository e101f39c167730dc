//! Templates of `%` and of `str.format`, taken apart.
//!
//! What CPython refuses, and what is not lifted, has no parts: who asks leaves it to CPython,
//! whose message names a place in the whole text.

/// A part of a template of `%` (Objects/unicodeobject.c, unicode_format).
#[derive(Debug, PartialEq)]
pub enum PercentPart {
    /// Text as it stands.
    Text(String),
    /// A conversion such as `%05.2f`, or `%(name)s` with a key.
    Field {
        /// The key in a mapping.
        key: Option<String>,
        /// The conversion whole, without the key.
        spec: String,
        /// Its last letter.
        conversion: char,
    },
}

/// The parts of a template of `%`. A `*` in a specification stands for an argument.
#[must_use]
pub fn percent(template: &str) -> Option<Vec<PercentPart>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut chars = template.chars();
    while let Some(ch) = chars.next() {
        if ch != '%' {
            text.push(ch);
            continue;
        }
        let mut next = chars.next()?;
        if next == '%' {
            text.push('%');
            continue;
        }
        let mut key = None;
        if next == '(' {
            let mut name = String::new();
            let mut open = 1;
            loop {
                let ch = chars.next()?;
                open += i32::from(ch == '(') - i32::from(ch == ')');
                if open == 0 {
                    break;
                }
                name.push(ch);
            }
            key = Some(name);
            next = chars.next()?;
        }
        let mut spec = String::from("%");
        loop {
            match next {
                '0'..='9' if spec.ends_with('*') => return None,
                '#' | '0' | '-' | ' ' | '+' | '.' | '1'..='9' => spec.push(next),
                '*' if key.is_none() && takes_star(&spec) => spec.push(next),
                // A length modifier is accepted and means nothing.
                'h' | 'l' | 'L' => {}
                'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 's' | 'r' | 'a' | 'c' => break,
                _ => return None,
            }
            next = chars.next()?;
        }
        spec.push(next);
        if !text.is_empty() {
            parts.push(PercentPart::Text(std::mem::take(&mut text)));
        }
        parts.push(PercentPart::Field { key, spec, conversion: next });
    }
    if !text.is_empty() {
        parts.push(PercentPart::Text(text));
    }
    Some(parts)
}

/// Whether a `*` may follow: it stands in the place of all digits, zeros before a width being a flag.
fn takes_star(spec: &str) -> bool {
    let before = spec.trim_end_matches('0');
    let has_digits = before.ends_with(|last: char| last == '*' || last.is_ascii_digit());
    let has_precision = before.ends_with('.') && before != spec;
    !has_digits && !has_precision
}

/// A part of a template of `str.format`.
#[derive(Debug, PartialEq)]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// What stands between braces.
    Field(Field),
}

/// A replacement field, such as `{0.name!r:>{width}}`.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The argument.
    pub argument: Argument,
    /// What is read from it, in order.
    pub path: Vec<Step>,
    /// `r`, `s` or `a`.
    pub conversion: Option<char>,
    /// The specification; its fields have specifications without fields.
    pub spec: Vec<Part>,
}

/// The argument of a field.
#[derive(Debug, PartialEq)]
pub enum Argument {
    /// By position, numbered by the template or in order.
    Position(usize),
    /// By keyword.
    Keyword(String),
}

/// What a field reads from a value.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// `.name`
    Attribute(String),
    /// `[3]`
    Index(usize),
    /// `[key]`
    Key(String),
}

/// The parts of a template of `str.format` (Objects/stringlib/unicode_format.h).
#[must_use]
pub fn format(template: &str) -> Option<Vec<Part>> {
    Parser { automatic: 0, numbered: false }.parts(template, 2)
}

struct Parser {
    /// How many fields were numbered in order.
    automatic: usize,
    /// Whether the template numbers a field.
    numbered: bool,
}

impl Parser {
    fn parts(&mut self, template: &str, depth: usize) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = template;
        while let Some(ch) = rest.chars().next() {
            rest = &rest[ch.len_utf8()..];
            match ch {
                '{' | '}' if rest.starts_with(ch) => {
                    rest = &rest[1..];
                    text.push(ch);
                }
                '}' => return None,
                '{' => {
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    let (field, after) = self.field(rest, depth.checked_sub(1)?)?;
                    parts.push(Part::Field(field));
                    rest = after;
                }
                other => text.push(other),
            }
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Some(parts)
    }

    /// A field behind its opening brace, and what follows its closing one.
    fn field<'a>(&mut self, text: &'a str, depth: usize) -> Option<(Field, &'a str)> {
        let mut at = 0;
        let end = loop {
            match text.as_bytes().get(at)? {
                b'{' => return None,
                b'[' => at += text[at..].find(']')?,
                b'}' | b':' | b'!' => break at,
                _ => at += 1,
            }
        };
        let (argument, path) = self.name(&text[..end])?;
        let mut rest = &text[end..];
        let mut conversion = None;
        if let Some(after) = rest.strip_prefix('!') {
            conversion = Some(after.chars().next().filter(|ch| matches!(ch, 'r' | 's' | 'a'))?);
            rest = &after[1..];
        }
        if let Some(after) = rest.strip_prefix('}') {
            return Some((Field { argument, path, conversion, spec: Vec::new() }, after));
        }
        let spec = rest.strip_prefix(':')?;
        let mut open = 1;
        let end = spec.find(|ch| {
            open += i32::from(ch == '{') - i32::from(ch == '}');
            open == 0
        })?;
        let inner = &spec[..end];
        let parts = match (inner.is_empty(), inner.contains('{')) {
            (true, _) => Vec::new(),
            (_, true) => self.parts(inner, depth)?,
            _ => vec![Part::Text(inner.to_string())],
        };
        Some((Field { argument, path, conversion, spec: parts }, &spec[end + 1..]))
    }

    /// `0`, `name`, nothing, and what is read from it: `.name`, `[0]`, `[key]`.
    fn name(&mut self, text: &str) -> Option<(Argument, Vec<Step>)> {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let argument = match (name, number(name)) {
            ("", _) => {
                self.automatic += 1;
                Argument::Position(self.automatic - 1)
            }
            (_, Some(at)) => {
                self.numbered = true;
                Argument::Position(at?)
            }
            _ => Argument::Keyword(name.to_string()),
        };
        // CPython refuses to mix the two manners.
        if self.numbered && self.automatic > 0 {
            return None;
        }
        let mut path = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                let end = after.find(['.', '[']).unwrap_or(after.len());
                path.push(Step::Attribute(after[..end].to_string()));
                rest = &after[end..];
            } else {
                let (key, after) = rest.strip_prefix('[')?.split_once(']')?;
                path.push(match number(key) {
                    Some(at) => Step::Index(at?),
                    None => Step::Key(key.to_string()),
                });
                rest = after;
            }
            if matches!(path.last(), Some(Step::Attribute(name) | Step::Key(name)) if name.is_empty()) {
                return None;
            }
        }
        Some((argument, path))
    }
}

/// A number in digits; `Some(None)` if it is too large, or not in ASCII.
fn number(text: &str) -> Option<Option<usize>> {
    let digits = !text.is_empty() && text.chars().all(char::is_numeric);
    digits.then(|| text.parse().ok().filter(|at| *at < 1 << 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_fields() {
        let Some(parts) = format("a{{{0.x[k][2]!r:>{1}}") else { panic!("no template") };
        assert_eq!(
            parts,
            [
                Part::Text("a{".into()),
                Part::Field(Field {
                    argument: Argument::Position(0),
                    path: vec![Step::Attribute("x".into()), Step::Key("k".into()), Step::Index(2)],
                    conversion: Some('r'),
                    spec: vec![
                        Part::Text(">".into()),
                        Part::Field(Field {
                            argument: Argument::Position(1),
                            path: vec![],
                            conversion: None,
                            spec: vec![]
                        })
                    ],
                })
            ]
        );
    }

    #[test]
    fn what_cpython_refuses_has_no_parts() {
        for template in [
            "{", "}", "{0", "{0!}", "{!z}", "{0!r", "{0!rx}", "{}{0}", "{0}{}", "{a{b}}", "{:{:{}}}", "{a.}", "{a[]}",
            "{a[0]b}", "{:{}",
        ] {
            assert_eq!(format(template), None, "{template}");
        }
        for template in ["%", "%(a", "%(a)", "%5*d", "%.0*f", "%*5d", "%**d", "%(a)*d", "%y", "%5", "%(a)%"] {
            assert_eq!(percent(template), None, "{template}");
        }
    }
}
