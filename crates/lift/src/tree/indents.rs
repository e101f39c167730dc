//! Tabs and spaces before lines, as CPython's tokenizer compares them (Parser/tokenizer.c): lines that
//! belong together must do so whether a tab goes to the next column of eight or is one column.

use ruff_python_ast::token::TokenKind;

/// The columns of a line's first token: with tabs of eight, and of one.
type Columns = (usize, usize);

/// The blocks of lines that are open at a token.
pub(crate) struct Indents {
    open: Vec<Columns>,
    /// Whether the next token begins a line.
    begins: bool,
}

impl Indents {
    pub fn new() -> Indents {
        Indents { open: vec![(0, 0)], begins: true }
    }

    /// Takes the next token, which begins at a byte of the source; whether tabs and spaces before it do
    /// not fit those of the lines before.
    pub fn take(&mut self, kind: TokenKind, source: &str, at: usize) -> bool {
        match kind {
            TokenKind::Newline => self.begins = true,
            TokenKind::NonLogicalNewline
            | TokenKind::Comment
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::EndOfFile => {}
            _ if std::mem::replace(&mut self.begins, false) => {
                let line = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
                return !self.line(columns(&source[line..at]));
            }
            _ => {}
        }
        false
    }

    fn line(&mut self, (wide, narrow): Columns) -> bool {
        let within = |open: &[Columns]| open.last().copied().unwrap_or_default();
        if wide > within(&self.open).0 {
            let deeper = narrow > within(&self.open).1;
            self.open.push((wide, narrow));
            return deeper;
        }
        while wide < within(&self.open).0 {
            self.open.pop();
        }
        // Where no block begins in that column, the parser has said so.
        within(&self.open).0 != wide || within(&self.open).1 == narrow
    }
}

fn columns(blanks: &str) -> Columns {
    blanks.chars().fold((0, 0), |(wide, narrow), blank| match blank {
        ' ' => (wide + 1, narrow + 1),
        '\t' => ((wide / 8 + 1) * 8, narrow + 1),
        '\u{c}' => (0, 0),
        _ => (wide, narrow),
    })
}
