//! `match` statements, as the conditions and assignments that they stand for.
//!
//! ```text
//! match command.split():          .match7 = command.split()
//!     case ["go", where]:         if isinstance(.match7, (list, tuple)) and len(.match7) == 2 and
//!         …                           .match7[0] == "go" and (where := .match7[1],): …
//!     case _:                     else: …
//! ```
//!
//! Names are bound where all of a pattern but its guard has matched (language reference 8.6). What
//! is not said so is no condition that is lifted: patterns of mappings, of attributes, and names
//! within alternatives.

use crate::ast::{CmpOp, Expr, ExprKind, Name, Stmt, StmtKind};
use crate::parse::{expr, name, span, stmts};
use exuvia_ir::{Object, Span};
use ruff_python_ast as py;
use ruff_text_size::Ranged;

/// Classes that a pattern with one argument binds as a whole (PEP 634).
const WHOLE: &[&str] =
    &["bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"];

/// The statements of a `match`.
pub(crate) fn match_statement(stmt: &py::StmtMatch, out: &mut Vec<Stmt>) {
    let at = span(stmt.range());
    let subject: Name = format!(".match{}", at.start).into();
    let target = Expr { kind: ExprKind::Name(subject.clone()), span: span(stmt.subject.range()) };
    out.push(Stmt { kind: StmtKind::Assign { targets: vec![target], value: expr(&stmt.subject) }, span: at });
    let mut orelse = Vec::new();
    for case in stmt.cases.iter().rev() {
        let mut pattern = Pattern { span: span(case.pattern.range()), tests: Vec::new(), names: Vec::new() };
        pattern.take(&case.pattern, &Subject::Whole(subject.clone()));
        let mut values = pattern.tests;
        if !pattern.names.is_empty() {
            values.push(Expr { kind: ExprKind::Tuple(pattern.names), span: pattern.span });
        }
        values.extend(case.guard.as_deref().map(expr));
        let test = match values.len() {
            0 => Expr { kind: ExprKind::Const(Object::Bool(true)), span: pattern.span },
            1 => values.remove(0),
            _ => Expr { kind: ExprKind::BoolOp { and: true, values }, span: pattern.span },
        };
        let kind = StmtKind::If { test, body: stmts(&case.body), orelse };
        orelse = vec![Stmt { kind, span: span(case.range) }];
    }
    out.append(&mut orelse);
}

/// What a pattern is compared with.
enum Subject<'a> {
    Whole(Name),
    /// An element, counted from the end if below 0.
    Element(&'a Subject<'a>, i64),
    /// The elements from one on, without the last ones.
    Rest(&'a Subject<'a>, i64, i64),
}

/// A pattern as it is taken apart.
struct Pattern {
    span: Span,
    /// What must hold.
    tests: Vec<Expr>,
    /// What it binds, as `:=`.
    names: Vec<Expr>,
}

impl Pattern {
    fn at(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span }
    }

    /// A built-in, whatever its name means in the function.
    fn builtin(&self, name: &str) -> Expr {
        self.at(ExprKind::Name(format!(".{name}").into()))
    }

    fn int(&self, value: i64) -> Box<Expr> {
        Box::new(self.at(ExprKind::Const(Object::int(value))))
    }

    fn call(&self, function: &str, args: Vec<Expr>) -> Expr {
        self.at(ExprKind::Call { func: Box::new(self.builtin(function)), args, keywords: Vec::new() })
    }

    fn compare(&self, left: Expr, op: CmpOp, right: Expr) -> Expr {
        self.at(ExprKind::Compare { left: Box::new(left), rest: vec![(op, right)] })
    }

    fn subject(&self, subject: &Subject<'_>) -> Expr {
        match subject {
            Subject::Whole(name) => self.at(ExprKind::Name(name.clone())),
            Subject::Element(of, index) => {
                self.at(ExprKind::Subscript { value: Box::new(self.subject(of)), index: self.int(*index) })
            }
            Subject::Rest(of, first, last) => {
                let upper = (*last > 0).then(|| self.int(-last));
                let slice = ExprKind::Slice { lower: Some(self.int(*first)), upper, step: None };
                let part = ExprKind::Subscript { value: Box::new(self.subject(of)), index: Box::new(self.at(slice)) };
                self.call("list", vec![self.at(part)])
            }
        }
    }

    fn bind(&mut self, bound: Option<&py::Identifier>, subject: &Subject<'_>) {
        if let Some(bound) = bound {
            let value = Box::new(self.subject(subject));
            self.names.push(self.at(ExprKind::Named { target: name(bound.as_str()), value }));
        }
    }

    fn refuse(&mut self, what: &'static str) {
        self.tests.push(self.at(ExprKind::Unsupported(what)));
    }

    fn take(&mut self, pattern: &py::Pattern, subject: &Subject<'_>) {
        match pattern {
            py::Pattern::MatchValue(value) => {
                self.tests.push(self.compare(self.subject(subject), CmpOp::Eq, expr(&value.value)));
            }
            py::Pattern::MatchSingleton(singleton) => {
                let value = match singleton.value {
                    py::Singleton::None => Object::None,
                    py::Singleton::True => Object::Bool(true),
                    py::Singleton::False => Object::Bool(false),
                };
                self.tests.push(self.compare(self.subject(subject), CmpOp::Is, self.at(ExprKind::Const(value))));
            }
            py::Pattern::MatchAs(inner) => {
                if let Some(pattern) = &inner.pattern {
                    self.take(pattern, subject);
                }
                self.bind(inner.name.as_ref(), subject);
            }
            py::Pattern::MatchOr(alternatives) => {
                let mut values = Vec::new();
                for pattern in &alternatives.patterns {
                    let mut one = Pattern { span: self.span, tests: Vec::new(), names: Vec::new() };
                    one.take(pattern, subject);
                    if !one.names.is_empty() {
                        return self.refuse("names within alternatives of a pattern");
                    }
                    values.push(match one.tests.len() {
                        1 => one.tests.remove(0),
                        0 => self.at(ExprKind::Const(Object::Bool(true))),
                        _ => self.at(ExprKind::BoolOp { and: true, values: one.tests }),
                    });
                }
                self.tests.push(self.at(ExprKind::BoolOp { and: false, values }));
            }
            py::Pattern::MatchSequence(sequence) => self.sequence(&sequence.patterns, subject),
            py::Pattern::MatchClass(class) => self.class(class, subject),
            py::Pattern::MatchMapping(_) => self.refuse("a pattern of a mapping"),
            py::Pattern::MatchStar(_) => self.refuse("such a pattern"),
        }
    }

    fn sequence(&mut self, patterns: &[py::Pattern], subject: &Subject<'_>) {
        let classes = self.at(ExprKind::Tuple(vec![self.builtin("list"), self.builtin("tuple")]));
        self.tests.push(self.call("isinstance", vec![self.subject(subject), classes]));
        let star = patterns.iter().position(|pattern| matches!(pattern, py::Pattern::MatchStar(_)));
        let count = patterns.len() - usize::from(star.is_some());
        let op = if star.is_some() { CmpOp::Ge } else { CmpOp::Eq };
        let len = self.call("len", vec![self.subject(subject)]);
        self.tests.push(self.compare(len, op, *self.int(count as i64)));
        for (at, pattern) in patterns.iter().enumerate() {
            match (pattern, star) {
                (py::Pattern::MatchStar(star), _) => {
                    let rest = Subject::Rest(subject, at as i64, (patterns.len() - at - 1) as i64);
                    self.bind(star.name.as_ref(), &rest);
                }
                (pattern, Some(star)) if at > star => {
                    self.take(pattern, &Subject::Element(subject, at as i64 - patterns.len() as i64));
                }
                (pattern, _) => self.take(pattern, &Subject::Element(subject, at as i64)),
            }
        }
    }

    fn class(&mut self, class: &py::PatternMatchClass, subject: &Subject<'_>) {
        if !class.arguments.keywords.is_empty() || class.arguments.patterns.len() > 1 {
            return self.refuse("a pattern of attributes");
        }
        if let Some(pattern) = class.arguments.patterns.first() {
            let whole = match &*class.cls {
                py::Expr::Name(name) => WHOLE.iter().find(|whole| **whole == name.id.as_str()),
                _ => None,
            };
            let Some(whole) = whole else { return self.refuse("a pattern of attributes") };
            // Where the name means something else, its pattern would be one of attributes.
            let same = self.compare(expr(&class.cls), CmpOp::Is, self.builtin(whole));
            let values = vec![same, self.at(ExprKind::Unsupported("a pattern of attributes"))];
            self.tests.push(self.at(ExprKind::BoolOp { and: false, values }));
            self.is_instance(class, subject);
            return self.take(pattern, subject);
        }
        self.is_instance(class, subject);
    }

    fn is_instance(&mut self, class: &py::PatternMatchClass, subject: &Subject<'_>) {
        self.tests.push(self.call("isinstance", vec![self.subject(subject), expr(&class.cls)]));
    }
}
