//! Which names a function binds (Python's language reference, "Naming and binding").

use crate::tree::ast::{Clause, Comprehension, Expr, ExprKind, FPart, FunctionDef, Name, Params, Stmt, StmtKind};
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
    let mut elsewhere = Vec::new();
    body.iter().for_each(|stmt| nonlocal_names(stmt, &mut elsewhere));
    names.retain(|name| !elsewhere.contains(name));
    names.sort();
    names.dedup();
    names
}

/// The names that `nonlocal` statements give: those of a function around.
fn nonlocal_names(stmt: &Stmt, names: &mut Vec<Name>) {
    let mut block = |body: &[Stmt]| body.iter().for_each(|stmt| nonlocal_names(stmt, names));
    match &stmt.kind {
        StmtKind::Nonlocal(given) => names.extend(given.iter().cloned()),
        StmtKind::For { body, orelse, .. }
        | StmtKind::While { body, orelse, .. }
        | StmtKind::If { body, orelse, .. } => {
            block(body);
            block(orelse);
        }
        StmtKind::Try { body, handlers, orelse, finalbody } => {
            block(body);
            handlers.iter().for_each(|handler| block(&handler.body));
            block(orelse);
            block(finalbody);
        }
        _ => {}
    }
}

pub(crate) fn block_names(body: &[Stmt], names: &mut Vec<Name>) {
    for stmt in body {
        stmt_names(stmt, names);
    }
}

fn stmt_names(stmt: &Stmt, names: &mut Vec<Name>) {
    match &stmt.kind {
        StmtKind::FunctionDef(def) => names.push(def.name.clone()),
        StmtKind::ClassDef(def) => names.push(def.name.clone()),
        StmtKind::Assign { targets, value, .. } => {
            for target in targets {
                target_names(target, names);
            }
            walrus_names(value, names);
        }
        StmtKind::AugAssign { target, value, .. } => {
            target_names(target, names);
            walrus_names(value, names);
        }
        StmtKind::For { target, iter, body, orelse, .. } => {
            target_names(target, names);
            walrus_names(iter, names);
            block_names(body, names);
            block_names(orelse, names);
        }
        StmtKind::While { test, body, orelse, .. } | StmtKind::If { test, body, orelse } => {
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
        StmtKind::Expr(value) | StmtKind::Yield { value, .. } => walrus_names(value, names),
        StmtKind::Delete(targets) => targets.iter().for_each(|target| target_names(target, names)),
        StmtKind::Annotation(_)
        | StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Nonlocal(_)
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

/// What is called in an expression, but for what functions and comprehensions within it call.
pub(crate) fn each_call(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    if let ExprKind::Call { func, .. } = &expr.kind {
        f(func);
    }
    expr.for_each_part(&mut |part| each_call(part, f));
}

/// The names bound by `:=` within an expression; those inside a comprehension bind in
/// the function around it (PEP 572).
pub(crate) fn walrus_names(expr: &Expr, names: &mut Vec<Name>) {
    let mut each = |expr: &Expr| walrus_names(expr, names);
    expr.for_each_part(&mut each);
    if let ExprKind::Comprehension(comp) = &expr.kind {
        each(&comp.element);
        comp.value.iter().for_each(&mut each);
        for Clause { iter, conditions, .. } in &comp.clauses {
            each(iter);
            conditions.iter().for_each(&mut each);
        }
    }
    if let ExprKind::Named { target, .. } = &expr.kind {
        names.push(target.clone());
    }
}

/// Whether a function reads a parameter at one place, where it comes at most once, and does not assign
/// to it: then an iterator in it has one user.
pub(crate) fn is_read_once(def: &FunctionDef, name: &Name) -> bool {
    let uses = Uses::of(def, name);
    uses.reads == [0] && uses.stores.is_empty() && uses.turns.is_empty() && !uses.otherwise
}

/// Whether a function assigns to a variable at one place and reads it at one, at most once each time,
/// or nowhere.
pub(crate) fn is_used_once(def: &FunctionDef, name: &Name) -> bool {
    let uses = Uses::of(def, name);
    uses.stores.len() == 1
        && uses.reads.len() <= 1
        && uses.reads.iter().all(|read| *read == uses.stores[0])
        && uses.turns.is_empty()
        && !uses.otherwise
}

/// Whether a variable is what one loop goes over, and nothing else, and is read once in each turn.
pub(crate) fn is_read_each_turn(def: &FunctionDef, name: &Name) -> bool {
    let uses = Uses::of(def, name);
    uses.turns.len() == 1 && uses.reads == uses.turns && uses.stores.is_empty() && !uses.otherwise
}

/// Whether a function assigns to a variable at one place at most, outside of loops, or has it as a parameter.
pub(crate) fn is_assigned_once(def: &FunctionDef, name: &Name) -> bool {
    let uses = Uses::of(def, name);
    !uses.otherwise
        && uses.turns.is_empty()
        && uses.stores.iter().all(|at| *at == 0)
        && uses.stores.len() <= usize::from(!def.params.has(name))
}

/// Whether a comprehension reads a variable, or may.
pub(crate) fn reads_in(comp: &Comprehension, name: &Name) -> bool {
    let mut uses = Uses::new(name);
    uses.comprehension(comp, 0);
    uses.otherwise || !uses.reads.is_empty()
}

/// Whether an expression surely has nothing to do with a variable.
pub(crate) fn is_left_alone_by(expr: &Expr, name: &Name) -> bool {
    let mut uses = Uses::new(name);
    uses.expr(expr, 0);
    uses.are_none()
}

/// Whether a statement surely has nothing to do with a variable.
pub(crate) fn is_left_alone_in(stmt: &Stmt, name: &Name) -> bool {
    let mut uses = Uses::new(name);
    uses.stmt(stmt, 0);
    uses.are_none()
}

/// Whether a function reads a variable of those around it, or may.
pub(crate) fn mentions(def: &FunctionDef, name: &Name) -> Option<Mention> {
    let uses = Uses::of(def, name);
    match uses.reads.is_empty() {
        _ if def.locals.contains(name) => None,
        false => Some(Mention::Read),
        true => (uses.otherwise || !uses.stores.is_empty() || !uses.turns.is_empty()).then_some(Mention::Perhaps),
    }
}

/// How a function mentions a variable.
pub(crate) enum Mention {
    Read,
    /// A statement that is not looked into may read it.
    Perhaps,
}

/// Where a name stands in a function: in which loops, by their numbers, 0 outside of all; or where more
/// can become of it.
struct Uses<'a> {
    name: &'a Name,
    reads: Vec<usize>,
    stores: Vec<usize>,
    /// The loops that assign their items to it.
    turns: Vec<usize>,
    otherwise: bool,
    loops: usize,
}

impl<'a> Uses<'a> {
    fn new(name: &'a Name) -> Uses<'a> {
        Uses { name, reads: Vec::new(), stores: Vec::new(), turns: Vec::new(), otherwise: false, loops: 0 }
    }

    fn are_none(&self) -> bool {
        self.reads.is_empty() && self.stores.is_empty() && self.turns.is_empty() && !self.otherwise
    }

    fn of(def: &FunctionDef, name: &'a Name) -> Uses<'a> {
        let mut uses = Uses::new(name);
        uses.block(&def.body, 0);
        uses
    }

    /// What runs again and again.
    fn repeated(&mut self) -> usize {
        self.loops += 1;
        self.loops
    }

    fn block(&mut self, body: &[Stmt], at: usize) {
        body.iter().for_each(|stmt| self.stmt(stmt, at));
    }

    fn stmt(&mut self, stmt: &Stmt, at: usize) {
        match &stmt.kind {
            StmtKind::For { target, iter, body, orelse, .. } => {
                self.expr(iter, at);
                let turn = self.repeated();
                match &target.kind {
                    ExprKind::Name(name) if name == self.name => self.turns.push(turn),
                    _ => self.bound(target),
                }
                self.block(body, turn);
                self.block(orelse, at);
            }
            StmtKind::While { test, body, orelse, .. } => {
                let turn = self.repeated();
                self.expr(test, turn);
                let turn = self.repeated();
                self.block(body, turn);
                self.block(orelse, at);
            }
            StmtKind::If { test, body, orelse } => {
                self.expr(test, at);
                self.block(body, at);
                self.block(orelse, at);
            }
            StmtKind::Try { body, handlers, orelse, finalbody } => {
                self.block(body, at);
                for handler in handlers {
                    handler.class.iter().for_each(|class| self.expr(class, at));
                    self.otherwise |= handler.name.as_ref() == Some(self.name);
                    self.block(&handler.body, at);
                }
                self.block(orelse, at);
                self.block(finalbody, at);
            }
            StmtKind::Return(Some(value)) | StmtKind::Expr(value) | StmtKind::Yield { value, .. } => {
                self.expr(value, at);
            }
            StmtKind::Raise { exc, cause } => exc.iter().chain(cause).for_each(|value| self.expr(value, at)),
            StmtKind::Assign { targets, value, .. } => {
                self.expr(value, at);
                match &targets[..] {
                    [Expr { kind: ExprKind::Name(name), .. }] if name == self.name => self.stores.push(at),
                    targets => targets.iter().for_each(|target| self.bound(target)),
                }
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.bound(target);
                self.expr(value, at);
            }
            StmtKind::Return(None) | StmtKind::Pass | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::FunctionDef(def) => {
                self.otherwise |= def.name == *self.name || !def.decorators.is_empty();
                self.function(def);
            }
            // Whatever else there is may run it again, or bind the name.
            _ => self.otherwise = true,
        }
    }

    /// A function within, which may run more than once.
    fn function(&mut self, def: &FunctionDef) {
        let plain = def.params.positional.iter().chain(&def.params.keyword).all(|param| param.1.is_none());
        self.otherwise |= !plain;
        if def.locals.contains(self.name) {
            return;
        }
        self.otherwise |= !Uses::of(def, self.name).are_none();
    }

    /// A target that may bind the name.
    fn bound(&mut self, target: &Expr) {
        let turn = self.repeated();
        let before = self.reads.len();
        self.expr(target, turn);
        self.otherwise |= self.reads.len() > before;
    }

    fn expr(&mut self, expr: &Expr, at: usize) {
        match &expr.kind {
            ExprKind::Name(name) if name == self.name => self.reads.push(at),
            ExprKind::Name(_) | ExprKind::Const(_) => {}
            ExprKind::Call { func, args, keywords } => {
                self.expr(func, at);
                args.iter().chain(keywords.iter().map(|(_, value)| value)).for_each(|arg| self.expr(arg, at));
            }
            ExprKind::Attribute { value, .. } | ExprKind::Starred(value) => self.expr(value, at),
            ExprKind::Comprehension(comp) => self.comprehension(comp, at),
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Set(items, _) => {
                items.iter().for_each(|item| self.expr(item, at));
            }
            ExprKind::Dict(items) => items.iter().for_each(|(key, value)| {
                key.iter().for_each(|key| self.expr(key, at));
                self.expr(value, at);
            }),
            ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|side| self.expr(side, at)),
            ExprKind::Unary { operand, .. } | ExprKind::Not(operand) => self.expr(operand, at),
            ExprKind::Compare { left, rest } => {
                self.expr(left, at);
                rest.iter().for_each(|(_, value)| self.expr(value, at));
            }
            ExprKind::BoolOp { values, .. } => values.iter().for_each(|value| self.expr(value, at)),
            ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|e| self.expr(e, at)),
            ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|part| self.expr(part, at)),
            ExprKind::Slice { lower, upper, step } => {
                [lower, upper, step].into_iter().flatten().for_each(|bound| self.expr(bound, at));
            }
            ExprKind::FString(parts) => parts.iter().for_each(|part| self.part(part, at)),
            ExprKind::Lambda(def) => self.function(def),
            _ => self.otherwise = true,
        }
    }

    pub fn comprehension(&mut self, comp: &Comprehension, at: usize) {
        // The first iterable is read once, by the function around.
        let turn = self.repeated();
        if comp.clauses.iter().any(|clause| binds(&clause.target, self.name)) {
            // All else means its own variable of that name.
            comp.clauses.iter().take(1).for_each(|clause| self.expr(&clause.iter, at));
            return;
        }
        for (clause, each) in comp.clauses.iter().enumerate() {
            self.bound(&each.target);
            self.expr(&each.iter, if clause == 0 { at } else { turn });
            each.conditions.iter().for_each(|condition| self.expr(condition, turn));
        }
        self.expr(&comp.element, turn);
        comp.value.iter().for_each(|value| self.expr(value, turn));
    }

    fn part(&mut self, part: &FPart, at: usize) {
        if let FPart::Field { value, spec, .. } = part {
            self.expr(value, at);
            spec.iter().for_each(|part| self.part(part, at));
        }
    }
}

/// Whether a target of a loop is or has a name.
fn binds(target: &Expr, name: &Name) -> bool {
    match &target.kind {
        ExprKind::Name(own) => own == name,
        ExprKind::Starred(target) => binds(target, name),
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().any(|item| binds(item, name)),
        _ => false,
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
