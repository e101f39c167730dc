//! Errors of syntax that a tree can have: `break` outside a loop, `return *a`, a parameter
//! that is declared global. The parser crate's checker knows most of them and asks about
//! the scopes around; this is the walk that tells it.

use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use ruff_python_parser::semantic_errors::{
    LazyImportContext, SemanticSyntaxChecker, SemanticSyntaxContext, SemanticSyntaxError,
};
use ruff_text_size::{Ranged, TextRange};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The first error of a module's tree. With `bare`, the names of parameters, the module
/// stands for the body of a function that has them.
pub(crate) fn check(source: &str, body: &[py::Stmt], bare: Option<&[&str]>) -> Option<(String, TextRange)> {
    let scope = match bare {
        Some(params) => {
            let mut scope = Scope::of(Kind::Function { asynchronous: false }, body);
            scope.params.extend(params.iter().map(ToString::to_string));
            scope
        }
        None => Scope::of(Kind::Module, body),
    };
    let context = Context { source, scopes: vec![scope], errors: RefCell::default() };
    let mut walk = Walk { checker: SemanticSyntaxChecker::new(), context, specifications: 0 };
    walk.visit_body(body);
    // CPython looks at the scopes before it compiles, but all are errors of the same class.
    walk.context.errors.into_inner().into_iter().min_by_key(|(_, range)| range.start())
}

/// What opens a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Module,
    Class,
    Function { asynchronous: bool },
    Lambda,
    Comprehension { generator: bool, asynchronous: bool },
}

/// A scope around the place of the walk.
#[derive(Debug)]
struct Scope {
    kind: Kind,
    params: BTreeSet<String>,
    /// Names that its own statements bind.
    bound: BTreeSet<String>,
    /// Names that it declares global, and where first.
    global: BTreeMap<String, TextRange>,
    /// Loops around the place.
    loops: u32,
    /// What CPython's compiler counts as blocks around the place.
    blocks: u32,
}

/// How deep such blocks may nest (Include/cpython/code.h, CO_MAXBLOCKS).
const MAX_BLOCKS: u32 = 20;

impl Scope {
    fn of(kind: Kind, body: &[py::Stmt]) -> Scope {
        let mut names = Names::default();
        names.visit_body(body);
        let mut bound = names.bound;
        bound.retain(|name| !names.global.contains_key(name));
        Scope { kind, params: BTreeSet::new(), bound, global: names.global, loops: 0, blocks: 0 }
    }

    fn function(kind: Kind, params: Option<&py::Parameters>, body: &[py::Stmt]) -> Scope {
        let mut scope = Scope::of(kind, body);
        let params = params.into_iter().flat_map(py::Parameters::iter);
        scope.params.extend(params.map(|param| param.name().to_string()));
        scope
    }
}

/// Names that the statements of one scope bind or declare global.
#[derive(Debug, Default)]
struct Names {
    bound: BTreeSet<String>,
    global: BTreeMap<String, TextRange>,
}

impl Names {
    fn bind(&mut self, name: Option<&py::Identifier>) {
        self.bound.extend(name.map(ToString::to_string));
    }
}

impl<'a> Visitor<'a> for Names {
    fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
        match stmt {
            // What stands around a body is evaluated in this scope, and may bind names by `:=`.
            py::Stmt::FunctionDef(def) => {
                self.bind(Some(&def.name));
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&def.parameters);
                def.returns.iter().for_each(|returns| self.visit_annotation(returns));
            }
            py::Stmt::ClassDef(def) => {
                self.bind(Some(&def.name));
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
            }
            py::Stmt::Global(stmt) => {
                for name in &stmt.names {
                    self.global.entry(name.to_string()).or_insert(stmt.range);
                }
            }
            py::Stmt::Import(py::StmtImport { names, .. }) | py::Stmt::ImportFrom(py::StmtImportFrom { names, .. }) => {
                for alias in names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.bound.extend(name.split('.').next().map(ToString::to_string));
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a py::Expr) {
        match expr {
            py::Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
            }
            py::Expr::Name(name) => {
                if !name.ctx.is_load() {
                    self.bound.insert(name.id.to_string());
                }
            }
            _ => walk_expr(self, expr),
        }
    }

    /// The targets of a comprehension are its own.
    fn visit_comprehension(&mut self, comprehension: &'a py::Comprehension) {
        self.visit_expr(&comprehension.iter);
        comprehension.ifs.iter().for_each(|condition| self.visit_expr(condition));
    }

    fn visit_except_handler(&mut self, handler: &'a py::ExceptHandler) {
        let py::ExceptHandler::ExceptHandler(clause) = handler;
        self.bind(clause.name.as_ref());
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a py::Pattern) {
        match pattern {
            py::Pattern::MatchAs(pattern) => self.bind(pattern.name.as_ref()),
            py::Pattern::MatchStar(pattern) => self.bind(pattern.name.as_ref()),
            py::Pattern::MatchMapping(pattern) => self.bind(pattern.rest.as_ref()),
            _ => {}
        }
        walk_pattern(self, pattern);
    }
}

struct Context<'a> {
    source: &'a str,
    scopes: Vec<Scope>,
    errors: RefCell<Vec<(String, TextRange)>>,
}

impl Context<'_> {
    fn error(&self, message: impl Into<String>, range: TextRange) {
        self.errors.borrow_mut().push((message.into(), range));
    }

    fn innermost(&self, accept: impl Fn(Kind) -> bool) -> Option<Kind> {
        self.scopes.iter().rev().map(|scope| scope.kind).find(|kind| accept(*kind))
    }

    /// The kind of the innermost scope that is no comprehension.
    fn around(&self) -> Option<Kind> {
        self.innermost(|kind| !matches!(kind, Kind::Comprehension { .. }))
    }
}

impl SemanticSyntaxContext for Context<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        false
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        None
    }

    fn python_version(&self) -> py::PythonVersion {
        py::PythonVersion::PY311
    }

    fn source(&self) -> &str {
        self.source
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        self.scopes.last()?.global.get(name).copied()
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        let around = || self.scopes.iter().rev().skip(1);
        // A class gives its methods a variable of that name.
        let class = name == "__class__" && around().any(|scope| scope.kind == Kind::Class);
        class
            || around()
                .filter(|scope| matches!(scope.kind, Kind::Function { .. } | Kind::Lambda))
                .any(|scope| scope.params.contains(name) || scope.bound.contains(name))
    }

    fn in_async_context(&self) -> bool {
        self.around() == Some(Kind::Function { asynchronous: true })
    }

    fn in_await_allowed_context(&self) -> bool {
        matches!(self.around(), Some(Kind::Function { .. } | Kind::Lambda))
    }

    fn in_yield_allowed_context(&self) -> bool {
        matches!(self.scopes.last().map(|scope| scope.kind), Some(Kind::Function { .. } | Kind::Lambda))
    }

    fn in_sync_comprehension(&self) -> bool {
        self.scopes
            .iter()
            .any(|scope| matches!(scope.kind, Kind::Comprehension { generator: false, asynchronous: false }))
    }

    fn in_class_body_comprehension(&self) -> bool {
        let comprehension = matches!(self.scopes.last().map(|scope| scope.kind), Some(Kind::Comprehension { .. }));
        comprehension && self.around() == Some(Kind::Class)
    }

    fn in_module_scope(&self) -> bool {
        matches!(self.scopes.last().map(|scope| scope.kind), Some(Kind::Module))
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.scopes.last().map(|scope| scope.kind), Some(Kind::Function { .. } | Kind::Lambda))
    }

    fn in_generator_context(&self) -> bool {
        self.scopes.iter().any(|scope| matches!(scope.kind, Kind::Comprehension { generator: true, .. }))
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        self.error(error.to_string(), error.range);
    }

    fn in_loop_context(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.loops > 0)
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(|scope| scope.params.contains(name))
    }
}

struct Walk<'a> {
    checker: SemanticSyntaxChecker,
    context: Context<'a>,
    /// The format specifications around the place, of one f-string.
    specifications: u32,
}

impl Walk<'_> {
    fn within(&mut self, scope: Scope, walk: impl FnOnce(&mut Self)) {
        self.context.scopes.push(scope);
        walk(self);
        self.context.scopes.pop();
    }

    fn looping(&mut self, walk: impl FnOnce(&mut Self)) {
        let count = |walk: &mut Self, by: i32| {
            if let Some(scope) = walk.context.scopes.last_mut() {
                scope.loops = scope.loops.saturating_add_signed(by);
            }
        };
        count(self, 1);
        walk(self);
        count(self, -1);
    }

    /// Walks what stands in so many blocks more.
    fn in_blocks(&mut self, count: u32, place: TextRange, walk: impl FnOnce(&mut Self)) {
        let Some(scope) = self.context.scopes.last_mut() else { return };
        scope.blocks += count;
        if scope.blocks > MAX_BLOCKS {
            self.context.error("too many statically nested blocks", place);
        }
        walk(self);
        if let Some(scope) = self.context.scopes.last_mut() {
            scope.blocks -= count;
        }
    }

    /// The blocks of a `try` statement (Python/compile.c, compiler_try_except and
    /// compiler_try_finally).
    fn walk_try(&mut self, stmt: &py::StmtTry) {
        let finally = u32::from(!stmt.finalbody.is_empty());
        let handled = u32::from(!stmt.handlers.is_empty());
        self.in_blocks(finally + handled, stmt.range, |walk| walk.visit_body(&stmt.body));
        self.in_blocks(finally, stmt.range, |walk| {
            walk.visit_body(&stmt.orelse);
            for handler in &stmt.handlers {
                let py::ExceptHandler::ExceptHandler(clause) = handler;
                clause.type_.iter().for_each(|class| walk.visit_expr(class));
                walk.in_blocks(2, clause.range, |walk| walk.visit_body(&clause.body));
            }
        });
        self.in_blocks(finally, stmt.range, |walk| walk.visit_body(&stmt.finalbody));
    }

    pub fn comprehension(&mut self, parts: &[&py::Expr], clauses: &[py::Comprehension], generator: bool) {
        let Some((first, rest)) = clauses.split_first() else { return };
        // The first iterable is evaluated in the scope around (language reference 6.2.4).
        self.visit_expr(&first.iter);
        let asynchronous = clauses.iter().any(|clause| clause.is_async);
        self.within(Scope::of(Kind::Comprehension { generator, asynchronous }, &[]), |walk| {
            walk.visit_expr(&first.target);
            first.ifs.iter().for_each(|condition| walk.visit_expr(condition));
            rest.iter().for_each(|clause| walk.visit_comprehension(clause));
            parts.iter().for_each(|part| walk.visit_expr(part));
        });
    }

    /// What the checker leaves to others.
    fn check_try(&self, stmt: &py::StmtTry) {
        let bare = |handler: &py::ExceptHandler| {
            let py::ExceptHandler::ExceptHandler(clause) = handler;
            clause.type_.is_none()
        };
        if let Some((_, before)) = stmt.handlers.split_last()
            && let Some(handler) = before.iter().find(|handler| bare(handler))
        {
            self.context.error("default 'except:' must be last", handler.range());
        }
        if stmt.is_star {
            for handler in &stmt.handlers {
                let py::ExceptHandler::ExceptHandler(clause) = handler;
                let mut leaving = Leaving::default();
                leaving.visit_body(&clause.body);
                if let Some(range) = leaving.found {
                    let message = "'break', 'continue' and 'return' cannot appear in an except* block";
                    self.context.error(message, range);
                }
            }
        }
    }
}

impl<'a> Visitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
        self.checker.visit_stmt(stmt, &self.context);
        match stmt {
            py::Stmt::FunctionDef(def) => {
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&def.parameters);
                def.returns.iter().for_each(|returns| self.visit_annotation(returns));
                let kind = Kind::Function { asynchronous: def.is_async };
                self.within(Scope::function(kind, Some(&def.parameters), &def.body), |walk| walk.visit_body(&def.body));
            }
            py::Stmt::ClassDef(def) => {
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.within(Scope::of(Kind::Class, &def.body), |walk| walk.visit_body(&def.body));
            }
            py::Stmt::For(stmt) => {
                self.visit_expr(&stmt.target);
                self.visit_expr(&stmt.iter);
                self.in_blocks(1, stmt.range, |walk| walk.looping(|walk| walk.visit_body(&stmt.body)));
                self.visit_body(&stmt.orelse);
            }
            py::Stmt::While(stmt) => {
                self.visit_expr(&stmt.test);
                self.in_blocks(1, stmt.range, |walk| walk.looping(|walk| walk.visit_body(&stmt.body)));
                self.visit_body(&stmt.orelse);
            }
            py::Stmt::With(stmt) => {
                stmt.items.iter().for_each(|item| self.visit_with_item(item));
                let count = u32::try_from(stmt.items.len()).unwrap_or(MAX_BLOCKS + 1);
                self.in_blocks(count, stmt.range, |walk| walk.visit_body(&stmt.body));
            }
            py::Stmt::ImportFrom(import)
                if import.module.as_deref() == Some("__future__") && !self.context.in_module_scope() =>
            {
                let message = "from __future__ imports must occur at the beginning of the file";
                self.context.error(message, import.range);
            }
            py::Stmt::Try(inner) => {
                self.check_try(inner);
                self.walk_try(inner);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a py::Expr) {
        self.checker.visit_expr(expr, &self.context);
        match expr {
            py::Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                let scope = Scope::function(Kind::Lambda, lambda.parameters.as_deref(), &[]);
                self.within(scope, |walk| walk.visit_expr(&lambda.body));
            }
            py::Expr::ListComp(comp) => self.comprehension(&[&comp.elt], &comp.generators, false),
            py::Expr::SetComp(comp) => self.comprehension(&[&comp.elt], &comp.generators, false),
            py::Expr::Generator(comp) => self.comprehension(&[&comp.elt], &comp.generators, true),
            py::Expr::DictComp(comp) => {
                let key = comp.key.as_deref();
                let parts: Vec<&py::Expr> = key.into_iter().chain([comp.value.as_ref()]).collect();
                self.comprehension(&parts, &comp.generators, false);
            }
            py::Expr::FString(_) => {
                // An f-string in a part of another begins anew.
                let around = std::mem::take(&mut self.specifications);
                walk_expr(self, expr);
                self.specifications = around;
            }
            _ => walk_expr(self, expr),
        }
    }

    /// A field of an f-string. One in a specification may not have one in its own
    /// (Parser/string_parser.c, fstring_find_expr).
    fn visit_interpolated_string_element(&mut self, element: &'a py::InterpolatedStringElement) {
        if let py::InterpolatedStringElement::Interpolation(field) = element {
            if self.specifications >= 2 {
                self.context.error("f-string: expressions nested too deeply", field.range);
            }
            let around = std::mem::take(&mut self.specifications);
            self.visit_expr(&field.expression);
            self.specifications = around + 1;
            if let Some(specification) = &field.format_spec {
                specification.elements.iter().for_each(|element| self.visit_interpolated_string_element(element));
            }
            self.specifications = around;
        }
    }
}

/// The first `break`, `continue` or `return` that leaves a block.
#[derive(Default)]
struct Leaving {
    found: Option<TextRange>,
    loops: u32,
}

impl<'a> Visitor<'a> for Leaving {
    fn visit_stmt(&mut self, stmt: &'a py::Stmt) {
        match stmt {
            py::Stmt::Return(_) => self.found = self.found.or(Some(stmt.range())),
            py::Stmt::Break(_) | py::Stmt::Continue(_) if self.loops == 0 => {
                self.found = self.found.or(Some(stmt.range()));
            }
            py::Stmt::FunctionDef(_) | py::Stmt::ClassDef(_) => {}
            py::Stmt::For(py::StmtFor { body, orelse, .. }) | py::Stmt::While(py::StmtWhile { body, orelse, .. }) => {
                self.loops += 1;
                self.visit_body(body);
                self.loops -= 1;
                self.visit_body(orelse);
            }
            _ => walk_stmt(self, stmt),
        }
    }
}
