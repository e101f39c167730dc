//! The names that a statement of a module mentions, with what it does with their values: of a
//! statement that is not lifted, what it may change follows from them (`reach.rs`).

use crate::tree::ast::{Name, StmtKind};
use exuvia_ir::ClassRow;
use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use std::collections::HashSet;

/// What a statement mentions, functions and classes that it defines included.
#[derive(Debug, Default)]
pub struct Footprint {
    /// The variables of the module that it assigns.
    pub binds: Vec<Name>,
    /// Names of variables that are not its own, with what happens to their values.
    pub mentions: Vec<Mention>,
    /// The modules that it imports.
    pub imports: Vec<Name>,
    /// Whether a method in it may change its class: it is given it, or names `cls`, `type` or `__class__`.
    pub of_class: bool,
    /// Whether it may assign variables from afar: `global`, `exec`, `setattr` and the like.
    pub far: bool,
}

/// A name that is read.
#[derive(Debug)]
pub struct Mention {
    /// The name.
    pub name: Name,
    /// The attribute of it that is meant, if only one is.
    pub attribute: Option<Name>,
    /// What happens to the value.
    pub what: Use,
}

/// What happens to the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is called, or its items are looked at.
    Read,
    /// It is given to other code, or kept.
    Escapes,
    /// An attribute or an item of it is assigned.
    Stored,
}

/// The variable of a module in which its functions find the built-in functions.
pub const BUILTINS: &str = "__builtins__";

/// Names by which code reaches variables without naming them.
const FAR: &[&str] =
    &["globals", "vars", "locals", "exec", "eval", "setattr", "delattr", "__import__", "__builtins__", "breakpoint"];

/// Attributes that do the same.
const FAR_ATTRIBUTES: &[&str] = &[
    "modules",
    "__dict__",
    "__globals__",
    "__code__",
    "__builtins__",
    "__subclasses__",
    "__closure__",
    "tb_frame",
    "f_globals",
    "f_locals",
    "f_back",
    "gi_frame",
    "cell_contents",
];

/// Built-in functions that only look at the items of their arguments, besides classes of plain values.
const READERS: &[&str] = &[
    "len",
    "sorted",
    "min",
    "max",
    "sum",
    "any",
    "all",
    "repr",
    "enumerate",
    "zip",
    "range",
    "print",
    "hash",
    "abs",
    "round",
];

/// Whether a built-in function or class only looks at the items of its arguments.
fn only_reads(name: &str) -> bool {
    READERS.contains(&name) || ClassRow::spelled(name).is_some_and(|row| row.plain)
}

/// Methods of containers and texts that change nothing and give none of what they were called on.
const READING_METHODS: &[&str] = &[
    "get",
    "items",
    "keys",
    "values",
    "index",
    "count",
    "copy",
    "join",
    "format",
    "split",
    "replace",
    "strip",
    "lower",
    "upper",
    "startswith",
    "endswith",
    "union",
    "intersection",
    "difference",
    "issubset",
    "isdisjoint",
];

impl Footprint {
    /// Those of the statements of a module.
    #[must_use]
    pub fn of(body: &[py::Stmt]) -> Vec<Footprint> {
        let of = |rebound: &[Name]| -> Vec<Footprint> {
            let walked = body.iter().map(|stmt| {
                let mut walk = Walk { rebound, ..Walk::default() };
                walk.stmt(stmt);
                walk.footprint
            });
            walked.collect()
        };
        let found = of(&[]);
        let binds = found.iter().flat_map(|footprint| &footprint.binds);
        let rebound: Vec<Name> = binds.filter(|name| only_reads(name)).cloned().collect();
        if rebound.is_empty() { found } else { of(&rebound) }
    }

    /// That of one of several statements of which the parser makes one: of an import, or of the
    /// annotation of a variable.
    #[must_use]
    pub fn of_part(stmt: &py::Stmt, part: &StmtKind) -> Option<Footprint> {
        match (part, stmt) {
            (StmtKind::Import { module, asname } | StmtKind::ImportFrom { module, asname, .. }, _) => {
                let (binds, imports) = (vec![asname.clone()], vec![module.clone()]);
                // What `*` binds nobody knows.
                let all = matches!(part, StmtKind::ImportFrom { name, .. } if &**name == "*");
                let far = all || &**asname == BUILTINS;
                Some(Footprint { binds, imports, far, ..Footprint::default() })
            }
            (StmtKind::Annotation(_), py::Stmt::AnnAssign(assign)) => {
                let mut walk = Walk::default();
                walk.expr(&assign.annotation, Use::Read);
                Some(walk.footprint)
            }
            _ => None,
        }
    }
}

#[derive(Default)]
struct Walk<'n> {
    footprint: Footprint,
    /// Built-in functions that are others in the module.
    rebound: &'n [Name],
    /// How many functions, classes and comprehensions are around.
    depth: usize,
    /// The names that the functions around assign.
    locals: Vec<HashSet<String>>,
}

impl Walk<'_> {
    fn binds(&mut self, name: &str) {
        // What functions of the module find behind its variables.
        self.footprint.far |= name == BUILTINS;
        if self.depth == 0 {
            self.footprint.binds.push(Name::from(name));
        }
    }

    fn mention(&mut self, name: &str, attribute: Option<&str>, what: Use) {
        self.footprint.far |= FAR.contains(&name);
        self.footprint.of_class |= self.depth > 0 && matches!(name, "cls" | "type" | "__class__");
        if !self.locals.iter().any(|locals| locals.contains(name)) {
            let attribute = attribute.map(Name::from);
            self.footprint.mentions.push(Mention { name: Name::from(name), attribute, what });
        }
    }

    fn within(&mut self, locals: HashSet<String>, walk: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.locals.push(locals);
        walk(self);
        self.locals.pop();
        self.depth -= 1;
    }

    fn all<'a>(&mut self, exprs: impl IntoIterator<Item = &'a py::Expr>, what: Use) {
        exprs.into_iter().for_each(|expr| self.expr(expr, what));
    }

    fn body(&mut self, body: &[py::Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &py::Stmt) {
        match stmt {
            py::Stmt::FunctionDef(def) => {
                self.binds(&def.name);
                self.all(def.decorator_list.iter().map(|decorator| &decorator.expression), Use::Escapes);
                self.parameters(&def.parameters);
                self.all(def.parameters.iter().filter_map(|param| param.annotation()), Use::Read);
                self.all(def.returns.as_deref(), Use::Read);
                self.within(assigned(&def.parameters, &def.body), |me| me.body(&def.body));
            }
            py::Stmt::ClassDef(def) => {
                self.binds(&def.name);
                self.all(def.decorator_list.iter().map(|decorator| &decorator.expression), Use::Escapes);
                self.all(def.bases(), Use::Read);
                self.all(def.keywords().iter().map(|keyword| &keyword.value), Use::Escapes);
                self.footprint.of_class |= def.body.iter().any(is_given_its_class);
                self.depth += 1;
                self.body(&def.body);
                self.depth -= 1;
            }
            py::Stmt::Assign(assign) => {
                self.expr(&assign.value, Use::Escapes);
                assign.targets.iter().for_each(|target| self.target(target));
            }
            py::Stmt::AnnAssign(assign) => {
                self.all(assign.value.as_deref(), Use::Escapes);
                self.expr(&assign.annotation, Use::Read);
                self.target(&assign.target);
            }
            py::Stmt::AugAssign(assign) => {
                self.expr(&assign.value, Use::Escapes);
                if let py::Expr::Name(name) = &*assign.target {
                    self.mention(&name.id, None, Use::Stored);
                }
                self.target(&assign.target);
            }
            py::Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.target(target)),
            py::Stmt::For(stmt) => {
                self.expr(&stmt.iter, Use::Read);
                self.target(&stmt.target);
                self.body(&stmt.body);
                self.body(&stmt.orelse);
            }
            py::Stmt::While(stmt) => {
                self.expr(&stmt.test, Use::Read);
                self.body(&stmt.body);
                self.body(&stmt.orelse);
            }
            py::Stmt::If(stmt) => {
                self.expr(&stmt.test, Use::Read);
                self.body(&stmt.body);
                for clause in &stmt.elif_else_clauses {
                    self.all(clause.test.as_ref(), Use::Read);
                    self.body(&clause.body);
                }
            }
            py::Stmt::With(stmt) => {
                for item in &stmt.items {
                    self.expr(&item.context_expr, Use::Escapes);
                    item.optional_vars.iter().for_each(|target| self.target(target));
                }
                self.body(&stmt.body);
            }
            py::Stmt::Try(stmt) => {
                self.body(&stmt.body);
                for py::ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
                    self.all(handler.type_.as_deref(), Use::Read);
                    handler.name.iter().for_each(|name| self.binds(name));
                    self.body(&handler.body);
                }
                self.body(&stmt.orelse);
                self.body(&stmt.finalbody);
            }
            py::Stmt::Match(stmt) => {
                self.expr(&stmt.subject, Use::Escapes);
                for case in &stmt.cases {
                    self.visit_pattern(&case.pattern);
                    self.all(case.guard.as_deref(), Use::Read);
                    self.body(&case.body);
                }
            }
            py::Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    self.binds(alias.asname.as_ref().map_or(first, |asname| asname.as_str()));
                    self.footprint.imports.push(Name::from(alias.name.as_str()));
                }
            }
            py::Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.footprint.far |= &alias.name == "*";
                    self.binds(alias.asname.as_ref().unwrap_or(&alias.name));
                }
                let module = import.module.as_ref().map_or(".", |module| module.as_str());
                self.footprint.imports.push(Name::from(module));
            }
            py::Stmt::Global(_) => self.footprint.far |= self.depth > 0,
            py::Stmt::TypeAlias(alias) => self.target(&alias.name),
            py::Stmt::Expr(stmt) => self.expr(&stmt.value, Use::Read),
            py::Stmt::Assert(stmt) => {
                self.expr(&stmt.test, Use::Read);
                self.all(stmt.msg.as_deref(), Use::Escapes);
            }
            py::Stmt::Return(_)
            | py::Stmt::Raise(_)
            | py::Stmt::Nonlocal(_)
            | py::Stmt::Pass(_)
            | py::Stmt::Break(_)
            | py::Stmt::Continue(_)
            | py::Stmt::IpyEscapeCommand(_) => walk_stmt(self, stmt),
        }
    }

    /// The defaults of parameters.
    fn parameters(&mut self, parameters: &py::Parameters) {
        self.all(parameters.iter_non_variadic_params().filter_map(|param| param.default.as_deref()), Use::Escapes);
    }

    fn target(&mut self, target: &py::Expr) {
        match target {
            py::Expr::Name(name) => self.binds(&name.id),
            py::Expr::Tuple(py::ExprTuple { elts, .. }) | py::Expr::List(py::ExprList { elts, .. }) => {
                elts.iter().for_each(|target| self.target(target));
            }
            py::Expr::Starred(inner) => self.target(&inner.value),
            py::Expr::Attribute(py::ExprAttribute { value, .. }) => self.store(value),
            py::Expr::Subscript(py::ExprSubscript { value, slice, .. }) => {
                self.expr(slice, Use::Escapes);
                self.store(value);
            }
            other => self.expr(other, Use::Escapes),
        }
    }

    /// Something is stored in what an expression gives: a part of a variable, or the result of a call.
    pub fn store(&mut self, of: &py::Expr) {
        match of {
            py::Expr::Name(name) => self.mention(&name.id, None, Use::Stored),
            // The environment is nobody's.
            py::Expr::Attribute(py::ExprAttribute { attr, .. }) if attr == "environ" => {}
            py::Expr::Attribute(py::ExprAttribute { value, .. }) => self.store(value),
            py::Expr::Subscript(py::ExprSubscript { value, slice, .. }) => {
                self.expr(slice, Use::Escapes);
                self.store(value);
            }
            other => self.expr(other, Use::Escapes),
        }
    }

    fn expr(&mut self, expr: &py::Expr, what: Use) {
        match expr {
            py::Expr::Name(name) => self.mention(&name.id, None, what),
            py::Expr::Attribute(attribute) => {
                self.footprint.far |= FAR_ATTRIBUTES.contains(&attribute.attr.as_str());
                self.footprint.of_class |= &attribute.attr == "__class__";
                match &*attribute.value {
                    py::Expr::Name(name) => self.mention(&name.id, Some(&attribute.attr), what),
                    value => self.expr(value, what),
                }
            }
            py::Expr::Call(call) => self.call(call),
            py::Expr::Subscript(py::ExprSubscript { value, slice, .. }) => {
                self.expr(value, Use::Read);
                self.expr(slice, Use::Escapes);
            }
            // Operators give each operand to the other's methods; a container compares what it holds.
            py::Expr::Compare(compare) => {
                self.expr(&compare.left, Use::Escapes);
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    let holds = matches!(op, py::CmpOp::In | py::CmpOp::NotIn);
                    self.expr(right, if holds { Use::Read } else { Use::Escapes });
                }
            }
            py::Expr::UnaryOp(unary) => self.expr(&unary.operand, Use::Read),
            py::Expr::If(py::ExprIf { test, body, orelse, .. }) => {
                self.expr(test, Use::Read);
                self.expr(body, what);
                self.expr(orelse, what);
            }
            py::Expr::BoolOp(bool_op) => self.all(&bool_op.values, what),
            py::Expr::Starred(starred) => self.expr(&starred.value, Use::Read),
            py::Expr::Named(py::ExprNamed { target, value, .. }) => {
                self.expr(value, Use::Escapes);
                self.target(target);
            }
            py::Expr::Lambda(lambda) => {
                let names: HashSet<String> = match &lambda.parameters {
                    Some(parameters) => {
                        self.parameters(parameters);
                        parameters.iter().map(|param| param.name().to_string()).collect()
                    }
                    None => HashSet::new(),
                };
                self.within(names, |me| me.expr(&lambda.body, Use::Escapes));
            }
            py::Expr::ListComp(py::ExprListComp { elt, generators, .. })
            | py::Expr::SetComp(py::ExprSetComp { elt, generators, .. })
            | py::Expr::Generator(py::ExprGenerator { elt, generators, .. }) => self.comprehension(generators, &[elt]),
            py::Expr::DictComp(py::ExprDictComp { key, value, generators, .. }) => match key {
                Some(key) => self.comprehension(generators, &[key, value]),
                None => self.comprehension(generators, &[value]),
            },
            // Everything else keeps what it is made of, as far as this matters.
            other => walk_expr(self, other),
        }
    }

    pub fn comprehension(&mut self, generators: &[py::Comprehension], gives: &[&py::Expr]) {
        let mut names = Assigned::default();
        generators.iter().for_each(|generator| names.visit_expr(&generator.target));
        // What `:=` binds within is a variable outside.
        self.locals.push(names.0);
        for generator in generators {
            self.expr(&generator.iter, Use::Read);
            self.all(&generator.ifs, Use::Read);
        }
        gives.iter().for_each(|expr| self.expr(expr, Use::Escapes));
        self.locals.pop();
    }

    fn call(&mut self, call: &py::ExprCall) {
        let mut of_arguments = Use::Escapes;
        match &*call.func {
            py::Expr::Name(name) => {
                let is_own = |locals: &HashSet<String>| locals.contains(name.id.as_str());
                if only_reads(&name.id)
                    && !self.locals.iter().any(is_own)
                    && !self.rebound.iter().any(|rebound| **rebound == *name.id.as_str())
                {
                    of_arguments = Use::Read;
                }
                self.mention(&name.id, None, Use::Read);
            }
            py::Expr::Attribute(py::ExprAttribute { value, attr, .. }) if READING_METHODS.contains(&attr.as_str()) => {
                if matches!(&**value, py::Expr::StringLiteral(_)) {
                    of_arguments = Use::Read;
                }
                match &**value {
                    py::Expr::Name(name) => self.mention(&name.id, None, Use::Read),
                    value => self.expr(value, Use::Read),
                }
            }
            func @ py::Expr::Attribute(py::ExprAttribute { attr, .. }) => {
                // Warnings become exceptions, also where nothing that is lifted gives one.
                let warns = matches!(attr.as_str(), "filterwarnings" | "simplefilter");
                let is_error = |arg: &py::Expr| match arg {
                    py::Expr::StringLiteral(text) => !matches!(text.value.to_str(), "ignore" | "default" | "once"),
                    _ => true,
                };
                self.footprint.far |= warns && call.arguments.args.first().is_none_or(is_error);
                self.expr(func, Use::Escapes);
            }
            func => self.expr(func, Use::Escapes),
        }
        self.all(&call.arguments.args, of_arguments);
        self.all(call.arguments.keywords.iter().map(|keyword| &keyword.value), of_arguments);
    }
}

impl<'a> Visitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
        self.stmt(stmt);
    }

    fn visit_expr(&mut self, expr: &'a py::Expr) {
        self.expr(expr, Use::Escapes);
    }

    fn visit_pattern(&mut self, pattern: &'a py::Pattern) {
        match pattern {
            py::Pattern::MatchAs(py::PatternMatchAs { name: Some(name), .. })
            | py::Pattern::MatchStar(py::PatternMatchStar { name: Some(name), .. })
            | py::Pattern::MatchMapping(py::PatternMatchMapping { rest: Some(name), .. }) => self.binds(name),
            _ => {}
        }
        py::visitor::walk_pattern(self, pattern);
    }
}

/// Whether a statement of a class defines a method whose first argument is a class.
fn is_given_its_class(stmt: &py::Stmt) -> bool {
    let py::Stmt::FunctionDef(def) = stmt else { return false };
    let is_classmethod = |decorator: &py::Decorator| match &decorator.expression {
        py::Expr::Name(name) => &name.id == "classmethod",
        _ => false,
    };
    matches!(def.name.as_str(), "__new__" | "__init_subclass__" | "__class_getitem__" | "__set_name__")
        || def.decorator_list.iter().any(is_classmethod)
}

/// The names that are assigned in a function, not in functions inside it.
#[derive(Default)]
struct Assigned(HashSet<String>);

impl<'a> Visitor<'a> for Assigned {
    fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
        if !matches!(stmt, py::Stmt::FunctionDef(_) | py::Stmt::ClassDef(_)) {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a py::Expr) {
        match expr {
            py::Expr::Name(name) if !name.ctx.is_load() => {
                self.0.insert(name.id.to_string());
            }
            py::Expr::Lambda(_) => {}
            _ => walk_expr(self, expr),
        }
    }
}

fn assigned(parameters: &py::Parameters, body: &[py::Stmt]) -> HashSet<String> {
    let mut names = Assigned::default();
    names.0.extend(parameters.iter().map(|param| param.name().to_string()));
    body.iter().for_each(|stmt| names.visit_stmt(stmt));
    names.0
}
