//! A script of SQL statements, cut where SQL ends a statement.
//!
//! A `;` ends a statement unless it stands in a string, a quoted identifier, a comment, a
//! dollar-quoted body or one in three quotes. A line that begins with a backslash where no
//! statement is open is one of its own, a command of a shell. The cut is made before any
//! statement is parsed, because a script
//! may create what a later statement needs, and because the interactive shell asks whether
//! an unfinished line is complete. Nothing here knows SQL's grammar.

use std::borrow::Cow;

/// As much of a line before a statement is shown with an error in it.
const SHOWN: usize = 1000;

/// A statement in its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// The whole script.
    script: &'a str,
    start: usize,
    end: usize,
    /// The line on which it starts, from 1.
    line: u32,
}

impl<'a> Statement<'a> {
    /// The statement's text, without the `;` and without blanks and comments before it.
    #[must_use]
    pub fn text(&self) -> &'a str {
        &self.script[self.start..self.end]
    }

    /// The line of the script on which the statement starts, from 1.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The lines that a parser of [`Statement::padded`] sees.
    pub(crate) fn origin(&self) -> Origin<'a> {
        Origin { text: &self.script[self.line_start()..], before: self.line - 1 }
    }

    /// The statement's text behind as many blanks as characters stand before it in its line,
    /// so that a parser reports places of its [`Statement::origin`]. A body in three quotes is in
    /// dollars, which every dialect reads.
    pub(crate) fn padded(&self) -> String {
        let mut padded = " ".repeat(self.script[self.line_start()..self.start].chars().count());
        padded.push_str(&in_dollars(self.text()));
        padded
    }

    /// Where its first line begins, or what of a long line is shown.
    fn line_start(&self) -> usize {
        let near = self.script.floor_char_boundary(self.start.saturating_sub(SHOWN));
        self.script[near..self.start].rfind('\n').map_or(near, |at| near + at + 1)
    }
}

/// Lines of a script from one on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub text: &'a str,
    /// The lines of the script before them.
    pub before: u32,
}

impl<'a> Origin<'a> {
    /// All lines.
    pub fn whole(script: &'a str) -> Origin<'a> {
        Origin { text: script, before: 0 }
    }

    /// The number in the script of one of these lines, from 1.
    pub fn line(&self, own: u64) -> u32 {
        u32::try_from(own).unwrap_or(u32::MAX).saturating_add(self.before)
    }
}

/// What a script ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A statement without its `;`.
    Statement,
    /// A string or quoted identifier.
    Quote,
    /// A dollar-quoted body.
    Body,
    /// A `/*` comment.
    Comment,
}

/// A script, cut into statements.
#[derive(Clone, Debug)]
pub struct Script<'a> {
    /// The statements; the last one may lack its `;`.
    pub statements: Vec<Statement<'a>>,
    /// What the script's end leaves open, if anything.
    pub open: Option<Open>,
    /// Where that begins, if it is a quote, a body or a comment.
    pub(crate) opened: Option<usize>,
}

/// Cuts `script` into its statements.
///
/// ```
/// let script = exuvia::Script::cut("SELECT ';'; -- not; here\nSELECT $$ a; b $$");
/// assert_eq!(script.statements.len(), 2);
/// assert_eq!(script.statements[1].text(), "SELECT $$ a; b $$");
/// assert_eq!(script.statements[1].line(), 2);
/// assert_eq!(script.open, Some(exuvia::Open::Statement));
/// ```
impl<'a> Script<'a> {
    /// Cuts `script` into its statements.
    #[must_use]
    pub fn cut(script: &'a str) -> Script<'a> {
        Cutter::new(script).cut()
    }
}

/// The letters of tags of bodies in three quotes, those of bodies with escapes apart: letters that
/// nobody writes.
const RAW_TAGS: std::ops::RangeInclusive<char> = 'a'..='z';
const ESCAPED_TAGS: [char; 4] = ['\u{1c5}', '\u{1c8}', '\u{1cb}', '\u{1f2}'];

/// Whether a tag of a body in dollars says that it stood in three quotes without an `r`, so that its
/// escapes mean characters.
pub(crate) fn has_escapes(tag: Option<&str>) -> bool {
    tag.is_some_and(|tag| ESCAPED_TAGS.iter().any(|letter| tag.chars().eq([*letter])))
}

/// A statement whose body in three quotes stands in dollars: `r'''` is ` $a$`, so that all places
/// stay.
fn in_dollars(text: &str) -> Cow<'_, str> {
    if !text.contains("'''") && !text.contains("\"\"\"") {
        return Cow::Borrowed(text);
    }
    let mut cutter = Cutter::new(text);
    // It is one statement.
    let _ = cutter.next_statement();
    let Some((start, end)) = cutter.bodies.first().copied() else { return Cow::Borrowed(text) };
    let body = &text[start + 3..end - 3];
    let (before, letters): (String, Vec<char>) = match text[..start].strip_suffix(['r', 'R']) {
        Some(before) => (format!("{before} "), RAW_TAGS.collect()),
        None => (text[..start].to_string(), ESCAPED_TAGS.to_vec()),
    };
    let tag = letters.iter().map(|letter| format!("${letter}$")).find(|tag| !body.contains(tag.as_str()));
    let Some(tag) = tag else { return Cow::Borrowed(text) };
    Cow::Owned(format!("{before}{tag}{body}{tag}{}", &text[end..]))
}

struct Cutter<'a> {
    script: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Where the statement before began, and on which line.
    before: (usize, u32),
    open: Option<Open>,
    opened: Option<usize>,
    /// The bodies in three quotes.
    bodies: Vec<(usize, usize)>,
}

impl<'a> Cutter<'a> {
    fn new(script: &'a str) -> Cutter<'a> {
        Cutter { script, bytes: script.as_bytes(), at: 0, before: (0, 1), open: None, opened: None, bodies: Vec::new() }
    }

    fn cut(mut self) -> Script<'a> {
        let statements = std::iter::from_fn(|| self.next_statement()).collect();
        Script { statements, open: self.open, opened: self.opened }
    }

    fn leave_open(&mut self, what: Open, at: usize) {
        self.open = Some(what);
        self.opened = Some(at);
    }

    fn next_statement(&mut self) -> Option<Statement<'a>> {
        // The first byte of the statement under way that is neither blank nor comment.
        let mut start = None;
        while let Some(&byte) = self.bytes.get(self.at) {
            let token = self.at;
            match byte {
                b';' => {
                    self.at += 1;
                    match start {
                        Some(start) => return Some(self.statement(start, token)),
                        None => continue,
                    }
                }
                b'\\' if start.is_none() => {
                    self.skip_line();
                    return Some(self.statement(token, self.at));
                }
                b'-' if self.next_is(b'-') => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.next_is(b'*') => {
                    if !self.skip_comment() {
                        self.leave_open(Open::Comment, token);
                    }
                    continue;
                }
                byte if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                quote @ (b'\'' | b'"') if self.begins_body(start, quote) => {
                    if !self.skip_triple(quote) {
                        self.leave_open(Open::Body, token);
                    }
                }
                b'\'' => {
                    // Only an E string knows the backslash.
                    let escapes = token > 0
                        && matches!(self.bytes[token - 1], b'e' | b'E')
                        && !self.before(token - 1).is_some_and(is_word);
                    if !self.skip_quoted(b'\'', escapes) {
                        self.leave_open(Open::Quote, token);
                    }
                }
                b'"' | b'`' => {
                    if !self.skip_quoted(byte, false) {
                        self.leave_open(Open::Quote, token);
                    }
                }
                b'$' if !self.before(token).is_some_and(is_word) => match self.dollar_tag() {
                    Some(tag) => {
                        if !self.skip_body(tag) {
                            self.leave_open(Open::Body, token);
                        }
                    }
                    None => self.at += 1,
                },
                _ => self.at += 1,
            }
            start.get_or_insert(token);
        }
        let start = start?;
        // A trailing comment is no part of the statement's text, but harmless there.
        let end = start + self.script[start..].trim_end().len();
        self.open.get_or_insert(Open::Statement);
        Some(self.statement(start, end))
    }

    /// Whether three quotes here, behind `AS` or `AS r` of a CREATE, begin a body as BigQuery writes
    /// them. Elsewhere they begin a text whose first character is a quote.
    fn begins_body(&self, start: Option<usize>, quote: u8) -> bool {
        let Some(start) = start.filter(|_| self.bytes[self.at..].starts_with(&[quote; 3])) else { return false };
        let create = self.bytes[start..].get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"CREATE"));
        let before = &self.script[start..self.at];
        let is_blank = |c: char| c.is_ascii_whitespace();
        let raw = before.strip_suffix(['r', 'R']).filter(|rest| rest.ends_with(is_blank));
        let mut ends = raw.unwrap_or(before).trim_end().bytes().rev();
        let is_as = [b'S', b'A'].iter().all(|letter| ends.next().is_some_and(|byte| byte.eq_ignore_ascii_case(letter)))
            && ends.next().is_some_and(|byte| byte.is_ascii_whitespace());
        let rest = &self.script[self.at + 3..];
        // A body has lines.
        let has_lines = || rest[..rest.find(three(quote)).unwrap_or(rest.len())].contains('\n');
        create && is_as && has_lines()
    }

    /// Skips a body in three quotes; whether it ends.
    fn skip_triple(&mut self, quote: u8) -> bool {
        let start = self.at;
        let ends = self.skip_body(three(quote));
        if ends {
            self.bodies.push((start, self.at));
        }
        ends
    }

    fn statement(&mut self, start: usize, end: usize) -> Statement<'a> {
        let text = self.script[start..end].trim_end();
        let (before, line) = self.before;
        let lines = self.script[before..start].matches('\n').count();
        let line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.before = (start, line);
        Statement { script: self.script, start, end: start + text.len(), line }
    }

    fn next_is(&self, byte: u8) -> bool {
        self.bytes.get(self.at + 1) == Some(&byte)
    }

    fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).map(|at| self.bytes[at])
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    /// Skips a comment with the comments nested in it; whether it ends.
    fn skip_comment(&mut self) -> bool {
        let mut depth = 0;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'/' if self.next_is(b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                b'*' if self.next_is(b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return true;
                    }
                }
                _ => self.at += 1,
            }
        }
        false
    }

    /// Skips a quoted text; whether it ends. A doubled quote reads as two texts in a row,
    /// which cuts the same.
    fn skip_quoted(&mut self, quote: u8, escapes: bool) -> bool {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            if byte == quote {
                return true;
            }
            if escapes && byte == b'\\' {
                self.at += 1;
            }
        }
        self.at = self.bytes.len();
        false
    }

    /// The opening `$tag$` at this place, if there is one.
    fn dollar_tag(&self) -> Option<&'a str> {
        let rest = &self.script[self.at..];
        let end = rest[1..].find('$')? + 1;
        let tag = &rest[1..end];
        let word = tag.bytes().all(is_word) && !tag.starts_with(|c: char| c.is_ascii_digit());
        word.then(|| &rest[..=end])
    }

    fn skip_body(&mut self, tag: &str) -> bool {
        self.at += tag.len();
        match self.script[self.at..].find(tag) {
            Some(found) => {
                self.at += found + tag.len();
                true
            }
            None => {
                self.at = self.bytes.len();
                false
            }
        }
    }
}

fn three(quote: u8) -> &'static str {
    if quote == b'"' { "\"\"\"" } else { "'''" }
}

/// Whether a byte can stand in an identifier; every part of a character beyond ASCII can.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<&str> {
        Script::cut(script).statements.iter().map(Statement::text).collect()
    }

    #[test]
    fn cuts_outside_quotes_comments_and_bodies() {
        assert_eq!(texts("a; b ;; c"), ["a", "b", "c"]);
        assert_eq!(
            texts("a ';' \";\" /* ; /* ; */ ; */ b; c -- ;\n d"),
            ["a ';' \";\" /* ; /* ; */ ; */ b", "c -- ;\n d"]
        );
        assert_eq!(texts("f AS $$ ; -- it's\n$$; g $t$ $$; $t$"), ["f AS $$ ; -- it's\n$$", "g $t$ $$; $t$"]);
        assert_eq!(texts(r"E'\';'; 'a\'; b"), [r"E'\';'", r"'a\'", "b"]);
        assert_eq!(texts("$1; a$b; c$d"), ["$1", "a$b", "c$d"]);
        assert_eq!(texts(" -- nothing\n /* here */ ;"), Vec::<&str>::new());
        assert_eq!(texts("'it''s; '; b"), ["'it''s; '", "b"]);
        assert_eq!(texts("\\d t; x\na; \\x\n b\n\\c"), ["\\d t; x", "a", "\\x", "b\n\\c"]);
    }

    #[test]
    fn bodies_may_stand_in_three_quotes() {
        let create = "CREATE FUNCTION f() AS r'''\n# it's; here\nreturn $a$\n'''; SELECT '''a;' AS b";
        let cut = Script::cut(create);
        let [first, second] = cut.statements[..] else { panic!("{cut:?}") };
        assert_eq!(
            (first.text(), second.text()),
            create.split_once("; SELECT").map(|(a, _)| (a, "SELECT '''a;' AS b")).unwrap()
        );
        let padded = first.padded();
        assert!(padded.ends_with(" $b$\n# it's; here\nreturn $a$\n$b$"), "{padded}");
        assert_eq!(padded.len(), first.text().len());
        assert_eq!(second.text(), second.padded().trim());
        assert_eq!(Script::cut("CREATE FUNCTION f() AS \"\"\"\nx;").open, Some(Open::Body));
        assert_eq!(texts("CREATE TABLE t AS '''a'; b"), ["CREATE TABLE t AS '''a'", "b"]);
    }

    #[test]
    fn says_what_is_open() {
        let open = |script| Script::cut(script).open;
        assert_eq!(open("a;"), None);
        assert_eq!(open(" -- a"), None);
        assert_eq!(open("a"), Some(Open::Statement));
        assert_eq!(open("a 'b"), Some(Open::Quote));
        assert_eq!(open("a $$ b; $"), Some(Open::Body));
        assert_eq!(open("/* a"), Some(Open::Comment));
        assert_eq!(open("\\d"), None);
    }

    #[test]
    fn pads_to_the_place_in_the_script() {
        let script = Script::cut("é; b;\n  /*\n*/ c");
        assert_eq!(script.statements[1].padded(), "   b");
        assert_eq!(script.statements[2].padded(), "   c");
        assert_eq!(script.statements[2].origin().line(1), 3);
        assert_eq!(script.statements[2].line(), 3);
    }
}
