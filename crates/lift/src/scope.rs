//! Which names a function binds (Python's language reference, "Naming and binding").

use crate::ast::{Clause, Expr, ExprKind, FPart, Name, Params, Stmt, StmtKind};
use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};

/// The names that a function binds: parameters and everything assigned in its body, not
/// in functions inside it.
#[must_use]
pub fn locals(params: &Params, body: &[Stmt]) -> Vec<Name> {
    let mut names: Vec<Name> = params.positional.iter().chain(&params.keyword).map(|param| param.0.clone()).collect();
    names.extend(params.rest.clone());
    names.extend(params.keyword_rest.clone());
    for stmt in body {
        stmt_names(stmt, &mut names);
    }
    names.sort();
    names.dedup();
    names
}

fn block_names(body: &[Stmt], names: &mut Vec<Name>) {
    for stmt in body {
        stmt_names(stmt, names);
    }
}

fn stmt_names(stmt: &Stmt, names: &mut Vec<Name>) {
    match &stmt.kind {
        StmtKind::FunctionDef(def) => names.push(def.name.clone()),
        StmtKind::ClassDef(def) => names.push(def.name.clone()),
        StmtKind::Assign { targets, value } => {
            for target in targets {
                target_names(target, names);
            }
            walrus_names(value, names);
        }
        StmtKind::AugAssign { target, value, .. } => {
            target_names(target, names);
            walrus_names(value, names);
        }
        StmtKind::For { target, iter, body, orelse } => {
            target_names(target, names);
            walrus_names(iter, names);
            block_names(body, names);
            block_names(orelse, names);
        }
        StmtKind::While { test, body, orelse } | StmtKind::If { test, body, orelse } => {
            walrus_names(test, names);
            block_names(body, names);
            block_names(orelse, names);
        }
        StmtKind::Try { body, handlers, orelse, finalbody } => {
            block_names(body, names);
            for handler in handlers {
                names.extend(handler.name.clone());
                block_names(&handler.body, names);
            }
            block_names(orelse, names);
            block_names(finalbody, names);
        }
        StmtKind::Import { asname, .. } | StmtKind::ImportFrom { asname, .. } => names.push(asname.clone()),
        StmtKind::Return(value) => value.iter().for_each(|value| walrus_names(value, names)),
        StmtKind::Raise { exc, cause } => exc.iter().chain(cause).for_each(|value| walrus_names(value, names)),
        StmtKind::Assert { test, msg } => {
            walrus_names(test, names);
            msg.iter().for_each(|value| walrus_names(value, names));
        }
        StmtKind::Expr(value) => walrus_names(value, names),
        StmtKind::Delete(targets) => targets.iter().for_each(|target| target_names(target, names)),
        StmtKind::Annotation(_)
        | StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Unsupported { .. } => {}
    }
}

/// The names bound by an assignment target.
pub fn target_names(target: &Expr, names: &mut Vec<Name>) {
    match &target.kind {
        ExprKind::Name(name) => names.push(name.clone()),
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| target_names(item, names)),
        ExprKind::Starred(inner) => target_names(inner, names),
        _ => walrus_names(target, names),
    }
}

/// The names bound by `:=` within an expression; those inside a comprehension bind in
/// the function around it (PEP 572).
/// The names that `:=` binds in an expression.
pub(crate) fn walrus_names(expr: &Expr, names: &mut Vec<Name>) {
    let mut each = |expr: &Expr| walrus_names(expr, names);
    match &expr.kind {
        ExprKind::Named { target, value } => {
            each(value);
            names.push(target.clone());
        }
        ExprKind::BoolOp { values, .. } | ExprKind::Set(values) | ExprKind::List(values) | ExprKind::Tuple(values) => {
            values.iter().for_each(each);
        }
        ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|e| each(e)),
        ExprKind::Unary { operand, .. } | ExprKind::Not(operand) | ExprKind::Starred(operand) => each(operand),
        ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|e| each(e)),
        ExprKind::Dict(items) => items.iter().for_each(|(key, value)| {
            key.iter().for_each(&mut each);
            each(value);
        }),
        ExprKind::Compare { left, rest } => {
            each(left);
            rest.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::Call { func, args, keywords } => {
            each(func);
            args.iter().for_each(&mut each);
            keywords.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::FString(parts) => parts.iter().for_each(|part| part_names(part, names)),
        ExprKind::Attribute { value, .. } => each(value),
        ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|e| each(e)),
        ExprKind::Slice { lower, upper, step } => {
            [lower, upper, step].into_iter().flatten().for_each(|e| each(e));
        }
        ExprKind::Comprehension(comp) => {
            each(&comp.element);
            comp.value.iter().for_each(&mut each);
            for Clause { iter, conditions, .. } in &comp.clauses {
                each(iter);
                conditions.iter().for_each(&mut each);
            }
        }
        ExprKind::Const(_) | ExprKind::Name(_) | ExprKind::Lambda(_) | ExprKind::Unsupported(_) => {}
    }
}

fn part_names(part: &FPart, names: &mut Vec<Name>) {
    if let FPart::Field { value, spec, .. } = part {
        walrus_names(value, names);
        spec.iter().for_each(|part| part_names(part, names));
    }
}

/// Whether a body has a `yield` of its own.
#[must_use]
pub fn has_yield(body: &[py::Stmt]) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
            if !matches!(stmt, py::Stmt::FunctionDef(_) | py::Stmt::ClassDef(_)) {
                walk_stmt(self, stmt);
            }
        }
        fn visit_expr(&mut self, expr: &'a py::Expr) {
            match expr {
                py::Expr::Yield(_) | py::Expr::YieldFrom(_) => self.0 = true,
                py::Expr::Lambda(_) => {}
                _ => walk_expr(self, expr),
            }
        }
    }
    let mut finder = Finder(false);
    body.iter().for_each(|stmt| finder.visit_stmt(stmt));
    finder.0
}

/// Whether code may assign a module's variables from within functions.
#[must_use]
pub fn assigns_from_afar(body: &[py::Stmt]) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
            self.0 |= matches!(stmt, py::Stmt::Global(_));
            walk_stmt(self, stmt);
        }
        fn visit_expr(&mut self, expr: &'a py::Expr) {
            self.0 |= match expr {
                py::Expr::Name(name) => {
                    matches!(
                        name.id.as_str(),
                        "globals" | "vars" | "locals" | "exec" | "eval" | "setattr" | "delattr" | "__import__"
                    )
                }
                py::Expr::Attribute(attribute) => {
                    matches!(attribute.attr.as_str(), "modules" | "__dict__" | "__globals__")
                }
                _ => false,
            };
            walk_expr(self, expr);
        }
    }
    let mut finder = Finder(false);
    body.iter().for_each(|stmt| finder.visit_stmt(stmt));
    finder.0
}

/// Whether a `return` of the same function stands in a statement.
#[must_use]
pub fn has_return(stmt: &py::Stmt) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
            match stmt {
                py::Stmt::Return(_) => self.0 = true,
                py::Stmt::FunctionDef(_) | py::Stmt::ClassDef(_) => {}
                _ => walk_stmt(self, stmt),
            }
        }
    }
    let mut finder = Finder(false);
    finder.visit_stmt(stmt);
    finder.0
}
