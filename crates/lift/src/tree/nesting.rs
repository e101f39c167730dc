//! How deep a text is nested: what CPython's tokenizer and parser refuse.
//!
//! The parser (Parser/parser.c) raises a `MemoryError` where its rules are more than 6,000 calls
//! deep. How deep a text brings them is estimated here from above, token by token: a bracket costs
//! a number of rules, and so does each kind of operator between it and the next one.

use ruff_python_ast::token::TokenKind;

/// How deep brackets may nest, and blocks of lines (Parser/tokenizer.c, MAXLEVEL, MAXINDENT).
const MAX_BRACKETS: usize = 200;
const MAX_INDENTS: u32 = 99;

/// How deep the rules may be (Parser/pegen.h, MAXSTACK), less what a statement takes.
const MAX_RULES: u32 = 5_900;

/// Rules from one bracket to the next, and what operators between them add, at most.
const BRACKET: u32 = 29;
const BOOLEAN: u32 = 2;
const COMPARISON: u32 = 4;
const ARITHMETIC: u32 = 4;

/// What stands in a row within one pair of brackets and nests to the right.
#[derive(Clone, Copy, Default)]
struct Open {
    /// `lambda` and `else`.
    loose: u32,
    nots: u32,
    /// Signs, `~` and `**`.
    tight: u32,
    /// Which operators there were: each adds once.
    or: bool,
    and: bool,
    compares: bool,
    computes: bool,
}

impl Open {
    fn rules(self) -> u32 {
        let once = |there: bool, rules: u32| if there { rules } else { 0 };
        let operators = once(self.or, BOOLEAN)
            + once(self.and, BOOLEAN)
            + once(self.compares, COMPARISON)
            + once(self.computes, ARITHMETIC);
        BRACKET + operators + self.loose + self.nots + self.tight
    }
}

/// What is open at a token.
pub(crate) struct Nesting {
    open: Vec<Open>,
    /// The rules of those around the last.
    around: u32,
    indents: u32,
    /// Whether an operand has just ended, so that a sign is an operator of two.
    after_operand: bool,
}

impl Nesting {
    pub fn new() -> Nesting {
        Nesting { open: vec![Open::default()], around: 0, indents: 0, after_operand: false }
    }

    /// Takes the next token; what is wrong with it, if anything.
    pub fn take(&mut self, token: TokenKind) -> Option<&'static str> {
        let after_operand = std::mem::replace(&mut self.after_operand, ends_operand(token));
        let is_open = self.open.len() > 1;
        let now = self.open.last_mut()?;
        match token {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                self.around += now.rules();
                self.open.push(Open::default());
                if self.open.len() > MAX_BRACKETS + 1 {
                    return Some("too many nested parentheses");
                }
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace if is_open => {
                self.open.pop();
                self.around -= self.open.last().map_or(0, |outer| outer.rules());
            }
            TokenKind::Indent => {
                self.indents += 1;
                if self.indents > MAX_INDENTS {
                    return Some("too many levels of indentation");
                }
            }
            TokenKind::Dedent => self.indents = self.indents.saturating_sub(1),
            TokenKind::Newline | TokenKind::Comma | TokenKind::Semi => *now = Open::default(),
            TokenKind::Lambda => now.loose += 8,
            TokenKind::Else => *now = Open { loose: now.loose + 1, ..Open::default() },
            TokenKind::If => *now = Open { loose: now.loose, ..Open::default() },
            TokenKind::And | TokenKind::Or => {
                let (or, and) = (now.or || token == TokenKind::Or, now.and || token == TokenKind::And);
                *now = Open { loose: now.loose, or, and, ..Open::default() };
            }
            TokenKind::Not => now.nots += 1,
            TokenKind::DoubleStar => now.tight += 2,
            TokenKind::Plus | TokenKind::Minus | TokenKind::Tilde if !after_operand => now.tight += 1,
            other if is_comparison(other) => (now.tight, now.compares) = (0, true),
            TokenKind::Equal | TokenKind::ColonEqual | TokenKind::Colon | TokenKind::Dot | TokenKind::Rarrow => {}
            other if other.is_operator() => (now.tight, now.computes) = (0, true),
            _ => {}
        }
        let deep = self.open.last().is_some_and(|now| self.around + now.rules() > MAX_RULES);
        deep.then_some("the expression is nested too deeply (CPython's own parser takes about 200 levels)")
    }
}

fn is_comparison(token: TokenKind) -> bool {
    matches!(
        token,
        TokenKind::Less
            | TokenKind::Greater
            | TokenKind::EqEqual
            | TokenKind::NotEqual
            | TokenKind::LessEqual
            | TokenKind::GreaterEqual
            | TokenKind::In
            | TokenKind::Is
    )
}

fn ends_operand(token: TokenKind) -> bool {
    matches!(
        token,
        TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringEnd
            | TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::None
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Ellipsis
    )
}

#[cfg(test)]
mod tests {
    use crate::tree::parse::parse_source;

    /// Each with how often it may stand in a row in CPython 3.11, measured, and a number that
    /// must pass here.
    #[test]
    fn what_the_parser_of_cpython_refuses_is_refused() {
        let all = "q if r else a or b and not c < d | e ^ f & g << h + i * -j ** k(x=";
        let cases: [(&str, &str, usize, usize); 15] = [
            ("(", ")", 200, 200),
            ("[", "]", 200, 200),
            ("{1: ", "}", 200, 140),
            ("f(x=", ")", 200, 200),
            ("[x for x in y if ", "]", 200, 140),
            ("a and (", ")", 198, 140),
            ("a or b and not (", ")", 180, 140),
            ("a or b and not c < (", ")", 165, 140),
            (all, ")", 153, 100),
            ("lambda: ", "", 2984, 700),
            ("lambda x=", ": 1", 746, 700),
            ("not ", "", 5969, 5000),
            ("-", "", 5969, 5000),
            ("a ** -", "", 1989, 1900),
            ("a if b else ", "", 5969, 5000),
        ];
        for (open, close, most, fine) in cases {
            let refuses = |count: usize| {
                let text = format!("x = {}a{}\n", open.repeat(count), close.repeat(count));
                // The parser crate nests as well.
                std::thread::scope(|scope| {
                    let parse = || parse_source(&text, &[]).is_err();
                    let parser = std::thread::Builder::new().stack_size(1 << 30).spawn_scoped(scope, parse);
                    parser.expect("a thread").join().expect("no panic")
                })
            };
            assert!(refuses(most + 1), "{open}{close} {most}");
            assert!(!refuses(fine), "{open}{close} {fine}");
        }
    }

    #[test]
    fn what_stands_side_by_side_is_not_nested() {
        for line in [
            "x = ".to_string() + &"a ** 2 - ".repeat(9000) + "b\n",
            "x = [".to_string() + &"a if not b else -c, ".repeat(9000) + "]\n",
            "x = ".to_string() + &"not a and ".repeat(9000) + "b\n",
            "x = ".to_string() + &"f(-a) + ".repeat(9000) + "b\n",
            "x = -a if not b else c\n".repeat(9000),
            "if a: x = lambda: b\nelse: pass\n".repeat(9000),
        ] {
            let parser = std::thread::Builder::new().stack_size(1 << 30).spawn(move || parse_source(&line, &[]).err());
            assert_eq!(parser.expect("a thread").join().expect("no panic"), None);
        }
    }
}
