//! From source text to the syntax tree. With `patterns.rs`, `nesting.rs`, `scope.rs` and `syntax.rs`
//! the only module that knows the parser crate, an internal component of Ruff that changes without
//! notice.

use crate::tree::ast::{
    Asked, ClassDef, Clause, CmpOp, Collects, Comprehension, Expr, ExprKind, FPart, Folded, FunctionDef, Handler,
    Module, Name, Params, Stmt, StmtKind, Turns,
};
use crate::tree::footprint::Footprint;
use crate::tree::indents::Indents;
use crate::tree::nesting::Nesting;
use exuvia_ir::{Class, Int, Object, RecordObj, Span};
use num_bigint::BigInt;
use ruff_python_ast as py;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, ParseOptions, parse};
use ruff_text_size::{Ranged, TextRange};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// Whether a text is a name, as an expression.
pub(crate) fn is_name(text: &str) -> bool {
    ruff_python_parser::parse_expression(text).is_ok_and(|parsed| parsed.expr().is_name_expr())
}

/// A parsed text.
#[derive(Debug)]
pub struct Parsed {
    /// The tree.
    pub module: Module,
    /// Starts of lines that lie within a string literal: they must not be indented.
    pub string_lines: BTreeSet<usize>,
    /// Whether it is the body of a function: a `return` or `yield` stands at its top level.
    pub bare: bool,
    /// Whether a `yield` stands at the top level.
    pub yields: bool,
}

/// How many decimal digits an int may have in source (Python/sysmodule.c,
/// `sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;

/// Parses a module. With a `return` or `yield` at the top level it is the body of a function
/// whose parameters are `params`.
///
/// # Errors
/// The first syntax error of Python 3.11.
pub fn parse_source(source: &str, params: &[&str]) -> Result<Parsed, SyntaxError> {
    if source.len() > u32::MAX as usize / 2 {
        return Err(SyntaxError { message: "the body is too large".to_string(), span: Span::default() });
    }
    let options = ParseOptions::from(Mode::Module).with_target_version(py::PythonVersion::PY311);
    let parsed = parse(source, options)
        .map_err(|error| SyntaxError { message: error.error.to_string(), span: span(error.location) })?;
    if let Some(error) = parsed.unsupported_syntax_errors().first() {
        return Err(SyntaxError { message: error.to_string(), span: span(error.range) });
    }
    let mut string_lines = BTreeSet::new();
    let (mut nesting, mut indents) = (Nesting::new(), Indents::new());
    for token in parsed.tokens() {
        let refused = nesting.take(token.kind()).or_else(|| {
            let text = &source[usize::from(token.range().start())..usize::from(token.range().end())];
            (token.kind() == TokenKind::Int && has_too_many_digits(text))
                .then_some("Exceeds the limit (4300 digits) for integer string conversion")
        });
        let mixed = indents.take(token.kind(), source, usize::from(token.range().start()));
        let refused = refused.or(mixed.then_some("inconsistent use of tabs and spaces in indentation"));
        if let Some(message) = refused {
            return Err(SyntaxError { message: message.to_string(), span: span(token.range()) });
        }
        let text = matches!(token.kind(), TokenKind::String | TokenKind::FStringMiddle);
        if text {
            let range = token.range();
            let (start, end) = (usize::from(range.start()), usize::from(range.end()));
            string_lines.extend(source[start..end].match_indices('\n').map(|(at, _)| start + at + 1));
        }
    }
    let body = match parsed.into_syntax() {
        py::Mod::Module(module) => module.body,
        py::Mod::Expression(_) => py::Suite::default(),
    };
    let yields = crate::tree::scope::has_yield(&body);
    let bare = yields || body.iter().any(crate::tree::scope::has_return);
    let wrong =
        crate::tree::syntax::check(source, &body, bare.then_some(params)).or_else(|| crate::data::copies::check(&body));
    if let Some((message, range)) = wrong {
        return Err(SyntaxError { message, span: span(range) });
    }
    POSTPONED.set(body.iter().any(postpones_annotations));
    MIXED_SETS.set(crate::data::constant_sets::mixed(&body));
    Ok(Parsed { module: module(&body), string_lines, bare, yields })
}

fn module(body: &[py::Stmt]) -> Module {
    let mut module = Module::default();
    for (stmt, whole) in body.iter().zip(Footprint::of(body)) {
        let whole = Arc::new(whole);
        for part in stmts(std::slice::from_ref(stmt)) {
            module.footprints.push(Footprint::of_part(stmt, &part.kind).map_or_else(|| Arc::clone(&whole), Arc::new));
            module.body.push(part);
        }
    }
    module
}

fn has_too_many_digits(int: &str) -> bool {
    let decimal = !["0x", "0X", "0o", "0O", "0b", "0B"].iter().any(|prefix| int.starts_with(prefix));
    decimal && int.bytes().filter(u8::is_ascii_digit).count() > MAX_DIGITS
}

fn class(def: &py::StmtClassDef) -> ClassDef {
    let outer = IN_CLASS.replace(true);
    let body = stmts(&def.body);
    IN_CLASS.set(outer);
    let methods = def.body.iter().filter_map(|stmt| match stmt {
        py::Stmt::FunctionDef(method) => Some(name(&method.name)),
        _ => None,
    });
    let mut fields: Vec<Name> = Vec::new();
    let mut class_vars = Vec::new();
    let mut special = false;
    for stmt in &def.body {
        if let py::Stmt::AnnAssign(assign) = stmt
            && let py::Expr::Name(target) = &*assign.target
        {
            if let Some(of) = class_var(&assign.annotation) {
                class_vars.push(expr(of));
                continue;
            }
            special |= is_pseudo_field(&assign.annotation);
            if !fields.iter().any(|field| **field == *target.id) {
                fields.push(name(&target.id));
            }
        }
    }
    let arguments = def.arguments.as_deref();
    let keyword = |keyword: &py::Keyword| Some((name(keyword.arg.as_ref()?), expr(&keyword.value)));
    let keywords: Option<Vec<_>> = arguments.map_or(Some(Vec::new()), |all| all.keywords.iter().map(keyword).collect());
    let unsupported = if keywords.is_none() {
        Some("a class with ** of keywords")
    } else if def.type_params.is_some() {
        Some("a generic class")
    } else if special {
        Some("a class with ClassVar or InitVar")
    } else {
        None
    };
    ClassDef {
        name: name(&def.name),
        bases: arguments.map(|arguments| exprs(&arguments.args)).unwrap_or_default(),
        keywords: keywords.unwrap_or_default(),
        decorators: def.decorator_list.iter().map(|decorator| expr(&decorator.expression)).collect(),
        body,
        fields,
        class_vars,
        unsupported,
        methods: methods.collect(),
        span: span(def.range()),
    }
}

/// What an annotation says `ClassVar` with.
fn class_var(annotation: &py::Expr) -> Option<&py::Expr> {
    match annotation {
        py::Expr::Name(name) if name.id.as_str() == "ClassVar" => Some(annotation),
        py::Expr::Attribute(attribute) if attribute.attr.as_str() == "ClassVar" => Some(annotation),
        py::Expr::Subscript(subscript) => class_var(&subscript.value),
        _ => None,
    }
}

/// Whether an annotation says that a name is no field of a dataclass, or a special one.
fn is_pseudo_field(annotation: &py::Expr) -> bool {
    match annotation {
        py::Expr::Name(name) => matches!(name.id.as_str(), "InitVar" | "KW_ONLY"),
        py::Expr::Attribute(attribute) => matches!(attribute.attr.as_str(), "InitVar" | "KW_ONLY"),
        py::Expr::Subscript(subscript) => is_pseudo_field(&subscript.value),
        py::Expr::StringLiteral(text) => {
            let text = text.value.to_str();
            text.contains("ClassVar") || text.contains("InitVar") || text.contains("KW_ONLY")
        }
        _ => false,
    }
}

/// Whether a name is one that a class around it changes.
fn is_private(name: &str) -> bool {
    IN_CLASS.get() && name.starts_with("__") && !name.ends_with("__")
}

pub(crate) fn span(range: TextRange) -> Span {
    Span { start: u32::from(range.start()), end: u32::from(range.end()) }
}

pub(crate) fn name(text: &str) -> Name {
    Arc::from(text)
}

/// The variable that holds a module of a package which is imported by its path: none that a program can name.
pub(crate) fn hidden(module: &str) -> Name {
    name(&format!(".{module}"))
}

pub(crate) fn stmts(body: &[py::Stmt]) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for stmt in body {
        let at = span(stmt.range());
        match stmt {
            // One statement imports several names; each becomes a statement of its own.
            py::Stmt::Import(import) => {
                for alias in &import.names {
                    let module = name(&alias.name);
                    let mut push = |module: Name, asname: Name| {
                        out.push(Stmt { kind: StmtKind::Import { module, asname }, span: at });
                    };
                    match (&alias.asname, module.split_once('.')) {
                        (Some(asname), _) => push(module, name(asname)),
                        (None, None) => push(Name::clone(&module), module),
                        // The module is imported, and the package around it gets its name.
                        (None, Some((package, _))) => {
                            push(Name::clone(&module), hidden(&module));
                            push(name(package), name(package));
                        }
                    }
                }
            }
            py::Stmt::ImportFrom(import) if import.level == 0 && import.module.is_some() => {
                let module = name(import.module.as_ref().map_or("", |module| module.as_str()));
                for alias in &import.names {
                    if &*alias.name == "*"
                        && let Some(names) = crate::tree::standard::public_names(&module)
                    {
                        out.extend(names.map(Name::from).map(|public| Stmt {
                            kind: StmtKind::ImportFrom { module: module.clone(), name: public.clone(), asname: public },
                            span: at,
                        }));
                        continue;
                    }
                    let imported = name(&alias.name);
                    let asname = alias.asname.as_ref().map_or_else(|| imported.clone(), |asname| name(asname));
                    let kind = StmtKind::ImportFrom { module: module.clone(), name: imported, asname };
                    out.push(Stmt { kind, span: at });
                }
            }
            py::Stmt::Match(inner) if inner.cases.len() <= MAX_ELIFS => {
                crate::tree::patterns::match_statement(inner, &mut out)
            }
            other => out.push(Stmt { kind: stmt_kind(other), span: at }),
        }
        if let py::Stmt::AnnAssign(assign) = stmt
            && !POSTPONED.get()
        {
            out.push(Stmt { kind: StmtKind::Annotation(expr(&assign.annotation)), span: at });
        }
    }
    out
}

/// Whether annotations are not evaluated from here on (PEP 563).
fn postpones_annotations(stmt: &py::Stmt) -> bool {
    matches!(stmt, py::Stmt::ImportFrom(import) if import.module.as_deref() == Some("__future__")
        && import.names.iter().any(|alias| &alias.name == "annotations"))
}

fn stmt_kind(stmt: &py::Stmt) -> StmtKind {
    match stmt {
        py::Stmt::FunctionDef(def) => StmtKind::FunctionDef(Arc::new(function(def))),
        py::Stmt::Return(ret) => StmtKind::Return(ret.value.as_deref().map(expr)),
        py::Stmt::Assign(assign) => StmtKind::assign(assign.targets.iter().map(expr).collect(), expr(&assign.value)),
        py::Stmt::AugAssign(assign) => {
            StmtKind::AugAssign { target: expr(&assign.target), op: assign.op.as_str(), value: expr(&assign.value) }
        }
        py::Stmt::AnnAssign(assign) => match &assign.value {
            Some(value) => StmtKind::assign(vec![expr(&assign.target)], expr(value)),
            None => StmtKind::Pass,
        },
        py::Stmt::For(stmt) if !stmt.is_async => StmtKind::For {
            target: expr(&stmt.target),
            iter: expr(&stmt.iter),
            body: stmts(&stmt.body),
            orelse: stmts(&stmt.orelse),
            turns: Turns::default(),
        },
        py::Stmt::While(stmt) => StmtKind::While {
            test: expr(&stmt.test),
            body: stmts(&stmt.body),
            orelse: stmts(&stmt.orelse),
            turns: Turns::default(),
        },
        // CPython's compiler goes down one level for each, and has 3,000 in all.
        py::Stmt::If(inner) if inner.elif_else_clauses.len() > MAX_ELIFS => {
            unsupported("a chain of this many elifs", stmt)
        }
        py::Stmt::If(stmt) => {
            // `elif` is an `if` in the `else`.
            let mut orelse = Vec::new();
            for clause in stmt.elif_else_clauses.iter().rev() {
                let body = stmts(&clause.body);
                orelse = match &clause.test {
                    Some(test) => {
                        vec![Stmt { kind: StmtKind::If { test: expr(test), body, orelse }, span: span(clause.range) }]
                    }
                    None => body,
                };
            }
            StmtKind::If { test: expr(&stmt.test), body: stmts(&stmt.body), orelse }
        }
        py::Stmt::Try(stmt) if !stmt.is_star => StmtKind::Try {
            body: stmts(&stmt.body),
            handlers: stmt
                .handlers
                .iter()
                .map(|py::ExceptHandler::ExceptHandler(handler)| Handler {
                    class: handler.type_.as_deref().map(expr),
                    name: handler.name.as_ref().map(|n| name(n)),
                    body: stmts(&handler.body),
                    span: span(handler.range),
                })
                .collect(),
            orelse: stmts(&stmt.orelse),
            finalbody: stmts(&stmt.finalbody).into(),
        },
        py::Stmt::Raise(stmt) => {
            StmtKind::Raise { exc: stmt.exc.as_deref().map(expr), cause: stmt.cause.as_deref().map(expr) }
        }
        py::Stmt::Assert(stmt) => StmtKind::Assert { test: expr(&stmt.test), msg: stmt.msg.as_deref().map(expr) },
        py::Stmt::Expr(stmt) => match &*stmt.value {
            py::Expr::Yield(inner) => {
                let none = || Expr { kind: ExprKind::Const(Object::None), span: span(inner.range) };
                StmtKind::Yield { value: inner.value.as_deref().map_or_else(none, expr), from: false }
            }
            py::Expr::YieldFrom(inner) => StmtKind::Yield { value: expr(&inner.value), from: true },
            // It has no effect.
            py::Expr::EllipsisLiteral(_) => StmtKind::Pass,
            value => StmtKind::Expr(expr(value)),
        },
        py::Stmt::Delete(stmt) => StmtKind::Delete(stmt.targets.iter().map(expr).collect()),
        py::Stmt::Pass(_) => StmtKind::Pass,
        py::Stmt::Break(_) => StmtKind::Break,
        py::Stmt::Continue(_) => StmtKind::Continue,
        py::Stmt::For(_) => unsupported("async for", stmt),
        py::Stmt::Try(_) => unsupported("except*", stmt),
        py::Stmt::ClassDef(def) => StmtKind::ClassDef(Arc::new(class(def))),
        py::Stmt::With(stmt) if !stmt.is_async => crate::tree::managers::with_statement(stmt),
        py::Stmt::With(_) => unsupported("async with", stmt),
        py::Stmt::Match(_) => unsupported("a match of this many cases", stmt),
        py::Stmt::Global(_) => unsupported("global", stmt),
        py::Stmt::Nonlocal(stmt) => StmtKind::Nonlocal(stmt.names.iter().map(|n| name(n)).collect()),
        py::Stmt::TypeAlias(_) => unsupported("a type alias", stmt),
        py::Stmt::Import(_) | py::Stmt::ImportFrom(_) => unsupported("a relative import", stmt),
        py::Stmt::IpyEscapeCommand(_) => unsupported("a shell escape", stmt),
    }
}

fn unsupported(what: &'static str, stmt: &py::Stmt) -> StmtKind {
    StmtKind::Unsupported { what, returns: crate::tree::scope::has_return(stmt) }
}

fn function(def: &py::StmtFunctionDef) -> FunctionDef {
    let mut body = stmts(&def.body);
    let params = parameters(&def.parameters);
    let locals = crate::tree::scope::locals(&params, &body);
    crate::tree::liveness::mark(&params, &mut body, &locals);
    let of_params = def.parameters.iter().filter_map(|param| param.annotation());
    let annotations = of_params.chain(def.returns.as_deref()).map(expr);
    let positional = || {
        let positional = def.parameters.posonlyargs.iter().chain(&def.parameters.args);
        positional.map(|param| param.parameter.annotation.as_deref())
    };
    FunctionDef {
        name: name(&def.name),
        annotations: if POSTPONED.get() { Vec::new() } else { annotations.collect() },
        locals: locals.into(),
        generator: def.is_async || crate::tree::scope::has_yield(&def.body),
        params,
        body,
        decorators: def.decorator_list.iter().map(|decorator| expr(&decorator.expression)).collect(),
        asked: positional().map(asked).collect(),
        named: positional().map(|annotation| annotation.map(class_named)).collect(),
        gives: asked(def.returns.as_deref()),
        asynchronous: def.is_async,
        span: span(def.range()),
    }
}

/// The class that an annotation names, with None or without; `?` for other forms.
fn class_named(annotation: &py::Expr) -> Name {
    let is_none = |side: &py::Expr| matches!(side, py::Expr::NoneLiteral(_));
    match annotation {
        py::Expr::Attribute(attribute) => name(&attribute.attr),
        py::Expr::Name(name) => Name::from(name.id.as_str()),
        py::Expr::StringLiteral(text) => match ruff_python_parser::parse_expression(text.value.to_str()) {
            Ok(parsed) => class_named(parsed.expr()),
            Err(_) => Name::from("?"),
        },
        py::Expr::Subscript(subscript) => match &*class_named(&subscript.value) {
            "Optional" => class_named(&subscript.slice),
            "Annotated" | "Union" => Name::from("?"),
            _ => class_named(&subscript.value),
        },
        py::Expr::BinOp(union) if is_none(&union.right) => class_named(&union.left),
        py::Expr::BinOp(union) if is_none(&union.left) => class_named(&union.right),
        _ => Name::from("?"),
    }
}

/// What an annotation asks for. Text is read as the name that it ends with.
fn asked(annotation: Option<&py::Expr>) -> Asked {
    let Some(annotation) = annotation else { return Asked::Nothing };
    match annotation {
        py::Expr::Attribute(attribute) => class_asked(&attribute.attr),
        py::Expr::Name(name) => class_asked(&name.id),
        py::Expr::StringLiteral(text) => {
            let text = text.value.to_str();
            match ruff_python_parser::parse_expression(text) {
                Ok(parsed) => asked(Some(parsed.expr())),
                Err(_) => Asked::Value,
            }
        }
        py::Expr::Subscript(subscript) => {
            let of = |item: &py::Expr| asked(Some(item));
            match asked(Some(&subscript.value)) {
                // An iterator over anything else is a value of a kind that SQL has not.
                Asked::Iterator => match &*subscript.slice {
                    py::Expr::Tuple(items) if items.iter().any(|item| of(item) == Asked::Column) => Asked::Iterator,
                    py::Expr::Subscript(tuple) if holds_column(&tuple.slice) => Asked::Iterator,
                    item if of(item) == Asked::Column => Asked::Iterator,
                    _ => Asked::Value,
                },
                // `Optional[pd.Series]`, `Annotated[np.ndarray, …]`
                Asked::Value => match &*subscript.slice {
                    py::Expr::Tuple(items) => items.elts.first().map_or(Asked::Value, |item| match of(item) {
                        Asked::Column => Asked::Column,
                        _ => Asked::Value,
                    }),
                    item => match of(item) {
                        Asked::Column => Asked::Column,
                        _ => Asked::Value,
                    },
                },
                other => other,
            }
        }
        // `pd.Series | None`
        py::Expr::BinOp(union) => match asked(Some(&union.left)) {
            Asked::Value => asked(Some(&union.right)),
            other => other,
        },
        _ => Asked::Value,
    }
}

/// Whether the arguments of `Tuple[…]` have a column.
fn holds_column(slice: &py::Expr) -> bool {
    match slice {
        py::Expr::Tuple(items) => items.iter().any(|item| asked(Some(item)) == Asked::Column),
        item => asked(Some(item)) == Asked::Column,
    }
}

fn class_asked(name: &str) -> Asked {
    match name {
        "Series" | "ndarray" | "NDArray" | "Array" | "ChunkedArray" => Asked::Column,
        "DataFrame" | "Table" | "RecordBatch" => Asked::Table,
        "Iterator" | "Iterable" | "Generator" => Asked::Iterator,
        "list" | "List" | "Sequence" => Asked::List,
        _ => Asked::Value,
    }
}

fn parameters(params: &py::Parameters) -> Params {
    let one = |param: &py::ParameterWithDefault| (name(&param.parameter.name), param.default.as_deref().map(expr));
    Params {
        positional: params.posonlyargs.iter().chain(&params.args).map(one).collect(),
        positional_only: params.posonlyargs.len(),
        rest: params.vararg.as_ref().map(|param| name(&param.name)),
        keyword: params.kwonlyargs.iter().map(one).collect(),
        keyword_rest: params.kwarg.as_ref().map(|param| name(&param.name)),
    }
}

fn boxed(value: &py::Expr) -> Box<Expr> {
    Box::new(expr(value))
}

fn exprs(values: &[py::Expr]) -> Vec<Expr> {
    values.iter().map(expr).collect()
}

thread_local! {
    /// How deep the expression being converted is nested.
    static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    /// Whether what is converted stands in a class.
    static IN_CLASS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Whether the annotations of the text being converted are never evaluated.
    static POSTPONED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Where displays of sets stand that the compiler may make the constant of another of.
    static MIXED_SETS: std::cell::RefCell<BTreeSet<u32>> = const { std::cell::RefCell::new(BTreeSet::new()) };
}

/// Chains longer than this are left to CPython.
const MAX_ELIFS: usize = 2_500;

/// The most `for` clauses of a comprehension that is lifted: CPython's limit for blocks.
const MAX_CLAUSES: usize = 20;

/// Expressions nested deeper than this are left to CPython, which has a limit of its own.
const MAX_DEPTH: u32 = 500;

pub(crate) fn expr(value: &py::Expr) -> Expr {
    let depth = DEPTH.get();
    let kind = if depth < MAX_DEPTH {
        DEPTH.set(depth + 1);
        let kind = expr_kind(value);
        DEPTH.set(depth);
        kind
    } else {
        ExprKind::Unsupported("an expression that is nested this deeply")
    };
    Expr { kind, span: span(value.range()) }
}

fn expr_kind(value: &py::Expr) -> ExprKind {
    match value {
        py::Expr::NoneLiteral(_) => ExprKind::Const(Object::None),
        py::Expr::BooleanLiteral(literal) => ExprKind::Const(Object::Bool(literal.value)),
        // The parser puts U+FFFD in place of a lone surrogate, which a string here cannot hold.
        py::Expr::StringLiteral(literal) if literal.value.to_str().contains('\u{fffd}') => {
            ExprKind::Unsupported("a string with U+FFFD or a lone surrogate")
        }
        py::Expr::StringLiteral(literal) => ExprKind::Const(Object::str(literal.value.to_str())),
        py::Expr::NumberLiteral(literal) => match &literal.value {
            py::Number::Int(value) => match integer(value) {
                Some(value) => ExprKind::Const(Object::Int(value)),
                None => ExprKind::Unsupported("an integer literal"),
            },
            py::Number::Float(value) => ExprKind::Const(Object::Float(*value)),
            py::Number::Complex { .. } => ExprKind::Unsupported("a complex number"),
        },
        // In a class they stand for others (language reference 6.2.1).
        py::Expr::Name(py::ExprName { id, .. }) if is_private(id) => ExprKind::Unsupported("a private name of a class"),
        py::Expr::Attribute(py::ExprAttribute { attr, .. }) if is_private(attr) => {
            ExprKind::Unsupported("a private name of a class")
        }
        py::Expr::Name(name_expr) => ExprKind::Name(name(&name_expr.id)),
        py::Expr::BoolOp(op) => ExprKind::BoolOp { and: matches!(op.op, py::BoolOp::And), values: exprs(&op.values) },
        py::Expr::Named(named) => match named.target.as_ref() {
            py::Expr::Name(target) => ExprKind::Named { target: name(&target.id), value: boxed(&named.value) },
            _ => ExprKind::Unsupported("an assignment expression"),
        },
        py::Expr::BinOp(op) => ExprKind::Binary { op: op.op.as_str(), left: boxed(&op.left), right: boxed(&op.right) },
        py::Expr::UnaryOp(op) => match op.op {
            py::UnaryOp::Not => ExprKind::Not(boxed(&op.operand)),
            py::UnaryOp::USub => ExprKind::Unary { op: "-a", operand: boxed(&op.operand) },
            py::UnaryOp::UAdd => ExprKind::Unary { op: "+a", operand: boxed(&op.operand) },
            py::UnaryOp::Invert => ExprKind::Unary { op: "~a", operand: boxed(&op.operand) },
        },
        py::Expr::Lambda(lambda) => {
            let body = vec![Stmt { kind: StmtKind::Return(Some(expr(&lambda.body))), span: span(lambda.body.range()) }];
            let params = lambda.parameters.as_deref().map(parameters).unwrap_or_default();
            ExprKind::Lambda(Arc::new(FunctionDef {
                locals: crate::tree::scope::locals(&params, &body).into(),
                params,
                body,
                ..FunctionDef::empty(name("<lambda>"), span(lambda.range))
            }))
        }
        py::Expr::If(conditional) => ExprKind::IfExp {
            test: boxed(&conditional.test),
            body: boxed(&conditional.body),
            orelse: boxed(&conditional.orelse),
        },
        py::Expr::Dict(dict) => {
            ExprKind::Dict(dict.items.iter().map(|item| (item.key.as_ref().map(expr), expr(&item.value))).collect())
        }
        py::Expr::Set(set) => {
            let mixed = MIXED_SETS.with_borrow(|mixed| mixed.contains(&u32::from(set.range.start())));
            let folded = if mixed { Folded::Unknown } else { crate::data::constant_sets::folded(set) };
            ExprKind::Set(exprs(&set.elts), folded)
        }
        py::Expr::List(list) => ExprKind::List(exprs(&list.elts)),
        py::Expr::Tuple(tuple) => ExprKind::Tuple(exprs(&tuple.elts)),
        py::Expr::ListComp(comp) => comprehension(Collects::List, &comp.elt, None, &comp.generators),
        py::Expr::SetComp(comp) => comprehension(Collects::Set, &comp.elt, None, &comp.generators),
        py::Expr::DictComp(comp) => match &comp.key {
            Some(key) => comprehension(Collects::Dict, key, Some(&comp.value), &comp.generators),
            None => ExprKind::Unsupported("unpacking in a comprehension"),
        },
        py::Expr::Generator(comp) => comprehension(Collects::Generator, &comp.elt, None, &comp.generators),
        py::Expr::Compare(compare) => ExprKind::Compare {
            left: boxed(&compare.left),
            rest: compare.ops.iter().map(cmp_op).zip(compare.comparators.iter().map(expr)).collect(),
        },
        py::Expr::Call(call) => ExprKind::Call {
            func: boxed(&call.func),
            args: exprs(&call.arguments.args),
            keywords: call
                .arguments
                .keywords
                .iter()
                .map(|keyword| (keyword.arg.as_ref().map(|arg| name(arg)), expr(&keyword.value)))
                .collect(),
        },
        py::Expr::FString(string) => {
            let mut parts = Vec::new();
            for part in &string.value {
                match part {
                    py::FStringPart::Literal(literal) => parts.push(FPart::Text(Arc::from(literal.as_str()))),
                    py::FStringPart::FString(string) => parts.extend(f_parts(&string.elements)),
                }
            }
            if parts.iter().any(|part| matches!(part, FPart::Text(text) if text.contains('\u{fffd}'))) {
                return ExprKind::Unsupported("a string with U+FFFD or a lone surrogate");
            }
            ExprKind::FString(parts)
        }
        py::Expr::Attribute(attribute) => {
            ExprKind::Attribute { value: boxed(&attribute.value), name: name(&attribute.attr) }
        }
        py::Expr::Subscript(subscript) => {
            ExprKind::Subscript { value: boxed(&subscript.value), index: boxed(&subscript.slice) }
        }
        py::Expr::Slice(slice) => ExprKind::Slice {
            lower: slice.lower.as_deref().map(boxed),
            upper: slice.upper.as_deref().map(boxed),
            step: slice.step.as_deref().map(boxed),
        },
        py::Expr::Starred(starred) => ExprKind::Starred(boxed(&starred.value)),
        py::Expr::BytesLiteral(literal) => {
            let text: String = literal.value.bytes().map(char::from).collect();
            ExprKind::Const(Object::Record(Arc::new(RecordObj {
                class: Class::Bytes,
                fields: vec![Object::str(&text)],
            })))
        }
        py::Expr::EllipsisLiteral(_) => ExprKind::Unsupported("..."),
        py::Expr::Await(_) => ExprKind::Unsupported("await"),
        py::Expr::Yield(_) | py::Expr::YieldFrom(_) => ExprKind::Unsupported("yield"),
        py::Expr::TString(_) => ExprKind::Unsupported("a template string"),
        py::Expr::IpyEscapeCommand(_) => ExprKind::Unsupported("a shell escape"),
    }
}

fn integer(value: &py::Int) -> Option<Int> {
    if let Some(small) = value.as_i64() {
        return Some(Int::Small(small));
    }
    // A larger literal keeps its text, which may have a prefix and underscores.
    let text = value.to_string().replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0o") => (&text[2..], 8),
        Some("0b") => (&text[2..], 2),
        _ => (text.as_str(), 10),
    };
    BigInt::parse_bytes(digits.as_bytes(), radix).map(Int::from_big)
}

fn comprehension(
    collects: Collects,
    element: &py::Expr,
    value: Option<&py::Expr>,
    generators: &[py::Comprehension],
) -> ExprKind {
    if generators.iter().any(|generator| generator.is_async) {
        return ExprKind::Unsupported("an asynchronous comprehension");
    }
    if generators.len() > MAX_CLAUSES {
        return ExprKind::Unsupported("a comprehension of this many clauses");
    }
    let clause = |generator: &py::Comprehension| Clause {
        target: expr(&generator.target),
        iter: expr(&generator.iter),
        conditions: exprs(&generator.ifs),
        over: Vec::new(),
    };
    let clauses = generators.iter().map(clause).collect();
    let mut comp = Comprehension { collects, element: expr(element), value: value.map(expr), clauses };
    crate::tree::liveness::mark_comprehension(&mut comp);
    ExprKind::Comprehension(Arc::new(comp))
}

fn cmp_op(op: &py::CmpOp) -> CmpOp {
    match op {
        py::CmpOp::Eq => CmpOp::Eq,
        py::CmpOp::NotEq => CmpOp::Ne,
        py::CmpOp::Lt => CmpOp::Lt,
        py::CmpOp::LtE => CmpOp::Le,
        py::CmpOp::Gt => CmpOp::Gt,
        py::CmpOp::GtE => CmpOp::Ge,
        py::CmpOp::Is => CmpOp::Is,
        py::CmpOp::IsNot => CmpOp::IsNot,
        py::CmpOp::In => CmpOp::In,
        py::CmpOp::NotIn => CmpOp::NotIn,
    }
}

fn f_parts(elements: &[py::InterpolatedStringElement]) -> Vec<FPart> {
    let mut parts = Vec::new();
    for element in elements {
        match element {
            py::InterpolatedStringElement::Literal(literal) => parts.push(FPart::Text(Arc::from(&*literal.value))),
            py::InterpolatedStringElement::Interpolation(field) => {
                // `{x=}` shows the text of the expression first, and uses repr.
                if let Some(debug) = &field.debug_text {
                    parts.push(FPart::Text(Arc::from(debug.as_str())));
                }
                let conversion = match field.conversion {
                    py::ConversionFlag::None if field.debug_text.is_some() && field.format_spec.is_none() => Some('r'),
                    py::ConversionFlag::None => None,
                    py::ConversionFlag::Str => Some('s'),
                    py::ConversionFlag::Repr => Some('r'),
                    py::ConversionFlag::Ascii => Some('a'),
                };
                let spec = field.format_spec.as_ref().map(|spec| f_parts(&spec.elements)).unwrap_or_default();
                parts.push(FPart::Field { value: expr(&field.expression), conversion, spec });
            }
        }
    }
    parts
}
