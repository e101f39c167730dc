//! A script of SQL statements, cut where SQL ends a statement.
//!
//! A `;` ends a statement unless it stands in a string, a quoted identifier, a comment or
//! a dollar-quoted body. The cut is made before any statement is parsed, because a script
//! may create what a later statement needs, and because the interactive shell asks whether
//! an unfinished line is complete. Nothing here knows SQL's grammar.

/// As much of a line before a statement is shown with an error in it.
const SHOWN: usize = 1000;

/// A statement in its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// The whole script.
    script: &'a str,
    start: usize,
    end: usize,
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
        line_of(self.script, self.start)
    }

    /// The lines that a parser of [`Statement::padded`] sees.
    pub(crate) fn origin(&self) -> Origin<'a> {
        Origin { text: &self.script[self.line_start()..], before: self.line() - 1 }
    }

    /// The statement's text behind as many blanks as characters stand before it in its line,
    /// so that a parser reports places of its [`Statement::origin`].
    pub(crate) fn padded(&self) -> String {
        let mut padded = " ".repeat(self.script[self.line_start()..self.start].chars().count());
        padded.push_str(self.text());
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
        Cutter { script, bytes: script.as_bytes(), at: 0 }.cut()
    }
}

fn line_of(script: &str, offset: usize) -> u32 {
    let lines = script[..offset].matches('\n').count() + 1;
    u32::try_from(lines).unwrap_or(u32::MAX)
}

struct Cutter<'a> {
    script: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cutter<'a> {
    fn cut(mut self) -> Script<'a> {
        let mut statements = vec![];
        // The first byte of the statement under way that is neither blank nor comment.
        let mut start = None;
        let mut open = None;
        while let Some(&byte) = self.bytes.get(self.at) {
            let token = self.at;
            match byte {
                b';' => {
                    self.at += 1;
                    if let Some(start) = start.take() {
                        statements.push(self.statement(start, token));
                    }
                    continue;
                }
                b'-' if self.next_is(b'-') => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.next_is(b'*') => {
                    if !self.skip_comment() {
                        open = Some(Open::Comment);
                    }
                    continue;
                }
                byte if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                b'\'' => {
                    // Only an E string knows the backslash.
                    let escapes = token > 0
                        && matches!(self.bytes[token - 1], b'e' | b'E')
                        && !self.before(token - 1).is_some_and(is_word);
                    if !self.skip_quoted(b'\'', escapes) {
                        open = Some(Open::Quote);
                    }
                }
                b'"' | b'`' => {
                    if !self.skip_quoted(byte, false) {
                        open = Some(Open::Quote);
                    }
                }
                b'$' if !self.before(token).is_some_and(is_word) => match self.dollar_tag() {
                    Some(tag) => {
                        if !self.skip_body(tag) {
                            open = Some(Open::Body);
                        }
                    }
                    None => self.at += 1,
                },
                _ => self.at += 1,
            }
            start.get_or_insert(token);
        }
        if let Some(start) = start {
            // A trailing comment is no part of the statement's text, but harmless there.
            let end = start + self.script[start..].trim_end().len();
            statements.push(self.statement(start, end));
            open.get_or_insert(Open::Statement);
        }
        Script { statements, open }
    }

    fn statement(&self, start: usize, end: usize) -> Statement<'a> {
        let text = self.script[start..end].trim_end();
        Statement { script: self.script, start, end: start + text.len() }
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
