//! `match` statements, as the conditions and assignments that they stand for.
//!
//! ```text
//! match command.split():          .match7 = command.split()
//!     case ["go", where]:         if isinstance(.match7, (list, tuple)) and len(.match7) == 2 and
//!         …                           .match7[0] == "go" and (where := .match7[1],): …
//!     case _:                     else: …
//! ```
//!
//! Names are bound where all of a pattern but its guard has matched (language reference 8.6); those
//! within alternatives are held under names of their own until then. What is not said so is no
//! condition that is lifted: what is left of a mapping, `**rest`.

use crate::tree::ast::{CmpOp, Expr, ExprKind, Name, Stmt, StmtKind};
use crate::tree::parse::{expr, name, span, stmts};
use exuvia_ir::{ClassRow, Object, Span};
use ruff_python_ast as py;
use ruff_text_size::Ranged;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The statements of a `match`.
pub(crate) fn match_statement(stmt: &py::StmtMatch, out: &mut Vec<Stmt>) {
    let at = span(stmt.range());
    let subject: Name = format!(".match{}", at.start).into();
    let target = Expr { kind: ExprKind::Name(subject.clone()), span: span(stmt.subject.range()) };
    out.push(Stmt { kind: StmtKind::assign(vec![target], expr(&stmt.subject)), span: at });
    let mut orelse = Vec::new();
    for case in stmt.cases.iter().rev() {
        let mut pattern = Pattern {
            span: span(case.pattern.range()),
            tests: Vec::new(),
            names: Vec::new(),
            prefix: String::new(),
            made: Rc::default(),
        };
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
    /// What a mapping has under a key.
    Key(&'a Subject<'a>, &'a py::Expr),
    /// An attribute.
    Attribute(&'a Subject<'a>, Name),
    /// The attribute that stands at a position in the patterns of a class, of so many.
    Positional(&'a Subject<'a>, &'a py::Expr, i64, i64),
}

/// A pattern as it is taken apart.
struct Pattern {
    span: Span,
    /// What must hold.
    tests: Vec<Expr>,
    /// What it binds, as `:=`.
    names: Vec<Expr>,
    /// What stands before the names that it binds, within alternatives.
    prefix: String,
    /// How many expressions it has become.
    made: Rc<Cell<usize>>,
}

/// The most expressions that a pattern may become.
const MAX_MADE: usize = 20_000;

impl Pattern {
    fn at(&self, kind: ExprKind) -> Expr {
        self.made.set(self.made.get() + 1);
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
            Subject::Key(of, key) => {
                self.at(ExprKind::Subscript { value: Box::new(self.subject(of)), index: Box::new(expr(key)) })
            }
            Subject::Attribute(of, attr) => {
                self.at(ExprKind::Attribute { value: Box::new(self.subject(of)), name: attr.clone() })
            }
            Subject::Positional(of, class, at, count) => {
                let args = vec![expr(class), *self.int(*at), *self.int(*count), self.subject(of)];
                self.call("_positional", args)
            }
        }
    }

    fn bind(&mut self, bound: Option<&py::Identifier>, subject: &Subject<'_>) {
        if let Some(bound) = bound {
            let value = Box::new(self.subject(subject));
            let target = name(&format!("{}{bound}", self.prefix));
            self.names.push(self.at(ExprKind::Named { target, value }));
        }
    }

    fn refuse(&mut self, what: &'static str) {
        self.tests.push(self.at(ExprKind::Unsupported(what)));
    }

    fn take(&mut self, pattern: &py::Pattern, subject: &Subject<'_>) {
        if self.made.get() > MAX_MADE {
            // One is enough: the function is not lifted.
            if !matches!(self.tests.last(), Some(Expr { kind: ExprKind::Unsupported(_), .. })) {
                self.refuse("a pattern this large");
            }
            return;
        }
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
                let mut bound = BTreeSet::new();
                // Those of alternatives within alternatives have names of their own too.
                let prefix = format!(".or{}{}", span(alternatives.range).start, self.prefix);
                for pattern in &alternatives.patterns {
                    let (tests, names) = (Vec::new(), Vec::new());
                    let made = Rc::clone(&self.made);
                    let mut one = Pattern { span: self.span, tests, names, prefix: prefix.clone(), made };
                    one.take(pattern, subject);
                    for name in &one.names {
                        if let ExprKind::Named { target, .. } = &name.kind {
                            bound.insert(target.clone());
                        }
                    }
                    if !one.names.is_empty() {
                        one.tests.push(self.at(ExprKind::Tuple(one.names)));
                    }
                    values.push(match one.tests.len() {
                        1 => one.tests.remove(0),
                        0 => self.at(ExprKind::Const(Object::Bool(true))),
                        _ => self.at(ExprKind::BoolOp { and: true, values: one.tests }),
                    });
                }
                self.tests.push(self.at(ExprKind::BoolOp { and: false, values }));
                for held in bound {
                    let target = name(&format!("{}{}", self.prefix, &held[prefix.len()..]));
                    let value = Box::new(self.at(ExprKind::Name(held)));
                    self.names.push(self.at(ExprKind::Named { target, value }));
                }
            }
            py::Pattern::MatchSequence(sequence) => self.sequence(&sequence.patterns, subject),
            py::Pattern::MatchClass(class) => self.class(class, subject),
            py::Pattern::MatchMapping(mapping) => self.mapping(mapping, subject),
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

    /// All keys are looked for before what they have is matched.
    fn mapping(&mut self, mapping: &py::PatternMatchMapping, subject: &Subject<'_>) {
        let class = self.builtin("dict");
        self.tests.push(self.call("isinstance", vec![self.subject(subject), class]));
        for key in &mapping.keys {
            self.tests.push(self.compare(expr(key), CmpOp::In, self.subject(subject)));
        }
        for (key, pattern) in mapping.keys.iter().zip(&mapping.patterns) {
            self.take(pattern, &Subject::Key(subject, key));
        }
        if mapping.rest.is_some() {
            // It is bound all the same.
            self.bind(mapping.rest.as_ref(), subject);
            self.refuse("the rest of a mapping in a pattern");
        }
    }

    fn class(&mut self, class: &py::PatternMatchClass, subject: &Subject<'_>) {
        let whole = match &*class.cls {
            py::Expr::Name(name) => ClassRow::spelled(&name.id).filter(|row| row.plain),
            _ => None,
        };
        if let (Some(whole), [pattern]) = (whole, &class.arguments.patterns[..])
            && class.arguments.keywords.is_empty()
        {
            // Where the name means something else, its pattern would be one of attributes.
            let same = self.compare(expr(&class.cls), CmpOp::Is, self.builtin(whole.path));
            let values = vec![same, self.at(ExprKind::Unsupported("a pattern of attributes"))];
            self.tests.push(self.at(ExprKind::BoolOp { and: false, values }));
            self.is_instance(class, subject);
            return self.take(pattern, subject);
        }
        self.is_instance(class, subject);
        let count = class.arguments.patterns.len() as i64;
        for (at, pattern) in class.arguments.patterns.iter().enumerate() {
            self.take(pattern, &Subject::Positional(subject, &class.cls, at as i64, count));
        }
        for keyword in &class.arguments.keywords {
            let attr = name(keyword.attr.as_str());
            let asked = self.at(ExprKind::Const(Object::str(&attr)));
            self.tests.push(self.call("hasattr", vec![self.subject(subject), asked]));
            self.take(&keyword.pattern, &Subject::Attribute(subject, attr));
        }
    }

    fn is_instance(&mut self, class: &py::PatternMatchClass, subject: &Subject<'_>) {
        self.tests.push(self.call("isinstance", vec![self.subject(subject), expr(&class.cls)]));
    }
}
