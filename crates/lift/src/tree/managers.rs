//! `with` statements, as the `try` statements that they stand for (language reference 8.5).
//!
//! ```text
//! with lock() as held:            .with9 = lock(); .value9 = .enter(.with9); .open9 = True
//!     …                           try:
//!                                     try: held = .value9; …
//!                                     except BaseException as .error9:
//!                                         .open9 = False
//!                                         if not .exit(.with9, type(.error9), .error9, None): raise
//!                                 finally:
//!                                     if .open9: .exit(.with9, None, None, None)
//! ```
//!
//! A traceback, which no function that is lifted can read, is None.

use crate::tree::ast::{Expr, ExprKind, Handler, Name, Stmt, StmtKind};
use crate::tree::parse::{expr, span, stmts};
use exuvia_ir::{Object, Span};
use ruff_python_ast as py;
use ruff_text_size::Ranged;

/// What a `with` stands for, as one statement: a module is passed over by statements.
pub(crate) fn with_statement(stmt: &py::StmtWith) -> StmtKind {
    let mut body = Vec::new();
    items(&stmt.items, &stmt.body, &mut body);
    let test = Made(span(stmt.range())).constant(Object::Bool(true));
    StmtKind::If { test, body, orelse: Vec::new() }
}

fn items(given: &[py::WithItem], body: &[py::Stmt], out: &mut Vec<Stmt>) {
    let Some((item, rest)) = given.split_first() else {
        out.extend(stmts(body));
        return;
    };
    let at = Made(span(item.range()));
    let [manager, value, open, error] = ["with", "value", "open", "error"].map(|name| at.hidden(name));
    out.push(at.assign(&manager, expr(&item.context_expr)));
    out.push(at.assign(&value, at.call("_enter", vec![at.name(&manager)])));
    out.push(at.assign(&open, at.constant(Object::Bool(true))));
    let mut inner = Vec::new();
    if let Some(target) = &item.optional_vars {
        let kind = StmtKind::assign(vec![expr(target)], at.name(&value));
        inner.push(Stmt { kind, span: span(target.range()) });
    }
    items(rest, body, &mut inner);
    let leave =
        |class: Expr, error: Expr| at.call("_exit", vec![at.name(&manager), class, error, at.constant(Object::None)]);
    let class = at.call("type", vec![at.name(&error)]);
    let stays = at.expr(ExprKind::Not(Box::new(leave(class, at.name(&error)))));
    let raise = at.stmt(StmtKind::Raise { exc: None, cause: None });
    let handler = Handler {
        class: Some(at.name(&".BaseException".into())),
        name: Some(error.clone()),
        body: vec![
            at.assign(&open, at.constant(Object::Bool(false))),
            at.stmt(StmtKind::If { test: stays, body: vec![raise], orelse: Vec::new() }),
        ],
        span: at.0,
    };
    let watched =
        StmtKind::Try { body: inner, handlers: vec![handler], orelse: Vec::new(), finalbody: Vec::new().into() };
    let none = || at.constant(Object::None);
    let ended = StmtKind::If {
        test: at.name(&open),
        body: vec![at.stmt(StmtKind::Expr(leave(none(), none())))],
        orelse: Vec::new(),
    };
    out.push(at.stmt(StmtKind::Try {
        body: vec![at.stmt(watched)],
        handlers: Vec::new(),
        orelse: Vec::new(),
        finalbody: vec![at.stmt(ended)].into(),
    }));
}

/// What is written for an item, at its place.
struct Made(Span);

impl Made {
    fn hidden(&self, name: &str) -> Name {
        format!(".{name}{}", self.0.start).into()
    }

    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.0 }
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.0 }
    }

    fn name(&self, name: &Name) -> Expr {
        self.expr(ExprKind::Name(name.clone()))
    }

    fn constant(&self, object: Object) -> Expr {
        self.expr(ExprKind::Const(object))
    }

    fn assign(&self, name: &Name, value: Expr) -> Stmt {
        self.stmt(StmtKind::assign(vec![self.name(name)], value))
    }

    /// A call of a built-in, whatever its name means in the function.
    fn call(&self, function: &str, args: Vec<Expr>) -> Expr {
        let func = Box::new(self.name(&format!(".{function}").into()));
        self.expr(ExprKind::Call { func, args, keywords: Vec::new() })
    }
}
