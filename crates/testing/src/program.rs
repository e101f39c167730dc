//! Random typed Python functions, as trees that can be printed and made smaller.
//!
//! [`generate()`] writes one from a seed; [`shrink()`] removes what a failure does not need.
//! A tree knows nothing of Python but lines, blocks and the types of expressions.

mod generate;
mod rules;
mod shrink;

pub use generate::generate;
pub use shrink::shrink;

use crate::case::{Case, Inputs};
use crate::signature::Signature;
use crate::value::Value;
use exuvia_engine::Rung;

/// The type that an expression is meant to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `str`
    Str,
    /// `list[int]`
    Ints,
    /// `list[str]`
    Strs,
    /// Any of them, or `None`.
    Any,
}

/// A piece of a line.
#[derive(Clone, Debug)]
pub enum Part {
    /// Source text.
    Text(String),
    /// An expression.
    Expr(Expr),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its type.
    pub ty: Ty,
    /// Its text with its operands.
    pub parts: Vec<Part>,
}

impl Expr {
    /// An expression without operands.
    #[must_use]
    pub fn leaf(ty: Ty, text: impl Into<String>) -> Expr {
        Expr { ty, parts: vec![Part::Text(text.into())] }
    }
}

/// A line with the block below it, if it has one.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The line.
    pub line: Vec<Part>,
    /// The block; `None` for a simple statement.
    pub body: Option<Vec<Stmt>>,
}

/// A statement: one clause, or several such as `if`, `elif` and `else`.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// A module with a function `f`.
#[derive(Clone, Debug)]
pub struct Program {
    /// The signature of `f`.
    pub signature: Signature,
    /// The module's statements; the last one defines `f`.
    pub module: Vec<Stmt>,
    /// The rows on which it is called.
    pub rows: Vec<Vec<Value>>,
}

impl Program {
    /// The program as a case.
    #[must_use]
    pub fn case(&self, heading: String, rung: Rung) -> Case {
        Case {
            file: "random".to_string(),
            heading,
            line: 1,
            signature: self.signature.clone(),
            rung,
            strict: false,
            handler: None,
            source: self.source(),
            inputs: Inputs::Rows(self.rows.clone()),
        }
    }

    /// Its text.
    #[must_use]
    pub fn source(&self) -> String {
        let mut text = String::new();
        write_block(&self.module, 0, &mut text);
        text
    }
}

fn write_block(block: &[Stmt], depth: usize, text: &mut String) {
    for clause in block.iter().flat_map(|stmt| &stmt.clauses) {
        text.push_str(&"    ".repeat(depth));
        write_parts(&clause.line, text);
        text.push('\n');
        match &clause.body {
            Some(body) if body.is_empty() => {
                text.push_str(&"    ".repeat(depth + 1));
                text.push_str("pass\n");
            }
            Some(body) => write_block(body, depth + 1, text),
            None => {}
        }
    }
}

fn write_parts(parts: &[Part], text: &mut String) {
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Expr(expr) => write_parts(&expr.parts, text),
        }
    }
}
