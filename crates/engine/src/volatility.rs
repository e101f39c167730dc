//! Inferred volatility: what touches no clock, randomness or outside state is immutable.
//!
//! A function that is lifted is pure by construction. Of one that is not, the source is
//! searched for anything that could reach outside state; where in doubt it is volatile.

use crate::Volatility;
use crate::stack::on_large_stack;
use exuvia_lift::Source;
use exuvia_lift::ast::{Expr, ExprKind, FPart, Name, Stmt, StmtKind};

/// Modules whose functions depend on nothing but their arguments.
const PURE_MODULES: &[&str] = &[
    "math",
    "cmath",
    "re",
    "json",
    "string",
    "decimal",
    "fractions",
    "statistics",
    "itertools",
    "functools",
    "operator",
    "collections",
    "collections.abc",
    "heapq",
    "bisect",
    "unicodedata",
    "textwrap",
    "difflib",
    "hashlib",
    "base64",
    "binascii",
    "struct",
    "html",
    "urllib.parse",
    "typing",
    "dataclasses",
    "enum",
    "__future__",
    "ipaddress",
    "zlib",
    "colorsys",
    "copy",
    "datetime",
    "numbers",
    "keyword",
];

/// Packages of which most depends on nothing but arguments; what does not is in [`RANDOM`] or
/// reads files.
const PACKAGES: &[&str] = &["numpy", "pandas", "pyarrow", "scipy", "sklearn", "polars"];

/// Attributes of packages that draw random numbers or reach files.
const RANDOM: &[&str] = &[
    "random",
    "sample",
    "shuffle",
    "permutation",
    "seed",
    "default_rng",
    "RandomState",
    "load",
    "loads",
    "save",
    "savez",
    "fromfile",
    "tofile",
    "memmap",
    "genfromtxt",
    "loadtxt",
    "savetxt",
    "train_test_split",
    "to_csv",
    "to_parquet",
    "to_pickle",
    "to_sql",
    "to_excel",
    "to_feather",
    "to_hdf",
    "to_clipboard",
];

/// Attributes that read the clock.
const CLOCK: &[&str] = &["now", "today", "utcnow", "fromtimestamp"];

/// What reads an attribute whose name is a value.
const BY_NAME: &[&str] = &["getattr", "attrgetter", "methodcaller"];

/// Built-ins that reach outside of the function, or show identity or state.
const OUTSIDE: &[&str] = &[
    "open",
    "input",
    "print",
    "eval",
    "exec",
    "globals",
    "locals",
    "vars",
    "__import__",
    "id",
    "setattr",
    "delattr",
    "hash",
];

/// The volatility of a source that was not lifted.
pub(crate) fn infer(source: &Source) -> Volatility {
    // The walk goes as deep as the source is nested.
    on_large_stack(|| of(source))
}

fn of(source: &Source) -> Volatility {
    let mut finder = Finder { found: false, by_name: false, clock: false, packages: false, random: false };
    finder.stmts(&source.module.body);
    finder.stmts(&source.handler.body);
    // Mutable defaults and containers of the module keep state across rows.
    let mutable = source.module.body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign { value, .. } => mutable(value),
        StmtKind::FunctionDef(def) => {
            def.params.positional.iter().chain(&def.params.keyword).any(|param| param.1.as_ref().is_some_and(mutable))
        }
        _ => false,
    });
    if finder.found
        || (finder.packages && finder.random)
        || (finder.by_name && finder.clock)
        || (mutable && Mutations::any(source))
    {
        Volatility::Volatile
    } else {
        Volatility::Immutable
    }
}

/// Whether an expression certainly gives no shared mutable object.
fn mutable(value: &Expr) -> bool {
    !matches!(value.kind, ExprKind::Const(_) | ExprKind::Lambda(_) | ExprKind::Name(_) | ExprKind::FString(_))
}

struct Finder {
    found: bool,
    /// Whether attributes are read by names that are values, and whether there is a clock.
    by_name: bool,
    clock: bool,
    /// Whether a package is imported, and an attribute read that may be random or a file's.
    packages: bool,
    random: bool,
}

impl Finder {
    fn stmts(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                // A class may keep state, and so may a function that another made.
                StmtKind::Unsupported { .. } | StmtKind::ClassDef(_) | StmtKind::Nonlocal(_) => self.found = true,
                StmtKind::Import { module, .. } | StmtKind::ImportFrom { module, .. } => self.module(module),
                _ => {}
            }
            if let StmtKind::ImportFrom { name, .. } = &stmt.kind {
                self.found |= CLOCK.contains(&&**name);
                self.random |= RANDOM.contains(&&**name) || name.starts_with("read_");
            }
            each_part(stmt, &mut |body| self.stmts(body), &mut |_| {});
            walk(stmt, &mut |expr| match &expr.kind {
                ExprKind::Attribute { name, .. } if CLOCK.contains(&&**name) => self.found = true,
                ExprKind::Attribute { name, .. } if RANDOM.contains(&&**name) || name.starts_with("read_") => {
                    self.random = true;
                }
                ExprKind::Name(name) if OUTSIDE.contains(&&**name) => self.found = true,
                // Names that are put together at run time.
                ExprKind::Name(name) | ExprKind::Attribute { name, .. } if BY_NAME.contains(&&**name) => {
                    self.by_name = true;
                }
                // Coroutines are not harmless.
                ExprKind::Unsupported(what) if !matches!(*what, "..." | "a complex number" | "yield") => {
                    self.found = true
                }
                _ => {}
            });
        }
    }

    fn module(&mut self, module: &Name) {
        let package = PACKAGES.contains(&module.split('.').next().unwrap_or_default());
        self.packages |= package;
        self.random |= package && module.split('.').any(|part| RANDOM.contains(&part));
        self.found |= !package && !PURE_MODULES.contains(&&**module);
        self.clock |= &**module == "datetime";
    }
}

/// Whether any function changes a container in place: then a module-level one may be it.
struct Mutations;

impl Mutations {
    fn any(source: &Source) -> bool {
        let mut found = false;
        let mut each = |stmt: &Stmt| found |= Mutations::in_stmt(stmt);
        source.handler.body.iter().for_each(&mut each);
        for stmt in &source.module.body {
            if let StmtKind::FunctionDef(def) = &stmt.kind {
                def.body.iter().for_each(&mut each);
            }
        }
        found
    }

    fn in_stmt(stmt: &Stmt) -> bool {
        const METHODS: &[&str] = &[
            "append",
            "extend",
            "insert",
            "pop",
            "remove",
            "clear",
            "sort",
            "reverse",
            "update",
            "add",
            "discard",
            "setdefault",
            "popitem",
            "subtract",
            "appendleft",
            "popleft",
        ];
        let element = |target: &Expr| matches!(target.kind, ExprKind::Subscript { .. } | ExprKind::Attribute { .. });
        let mut found = match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().any(element),
            StmtKind::AugAssign { .. } | StmtKind::Delete(_) => true,
            _ => false,
        };
        each_part(stmt, &mut |body| found |= body.iter().any(Mutations::in_stmt), &mut |_| {});
        walk(stmt, &mut |expr| {
            if let ExprKind::Call { func, .. } = &expr.kind
                && let ExprKind::Attribute { name, .. } = &func.kind
            {
                found |= METHODS.contains(&&**name);
            }
        });
        found
    }
}

/// Hands the bodies and the expressions directly within a statement to two functions.
fn each_part(stmt: &Stmt, bodies: &mut dyn FnMut(&[Stmt]), exprs: &mut dyn FnMut(&Expr)) {
    match &stmt.kind {
        StmtKind::FunctionDef(def) => {
            bodies(&def.body);
            def.params
                .positional
                .iter()
                .chain(&def.params.keyword)
                .filter_map(|param| param.1.as_ref())
                .chain(&def.annotations)
                .for_each(exprs);
        }
        StmtKind::Return(value) => value.iter().for_each(exprs),
        StmtKind::Assign { targets, value, .. } => targets.iter().chain([value]).for_each(exprs),
        StmtKind::AugAssign { target, value, .. } => [target, value].into_iter().for_each(exprs),
        StmtKind::For { target, iter, body, orelse, .. } => {
            [target, iter].into_iter().for_each(exprs);
            bodies(body);
            bodies(orelse);
        }
        StmtKind::While { test, body, orelse, .. } | StmtKind::If { test, body, orelse } => {
            exprs(test);
            bodies(body);
            bodies(orelse);
        }
        StmtKind::Try { body, handlers, orelse, finalbody } => {
            bodies(body);
            for handler in handlers {
                bodies(&handler.body);
            }
            bodies(orelse);
            bodies(finalbody);
        }
        StmtKind::Raise { exc, cause } => exc.iter().chain(cause).for_each(exprs),
        StmtKind::Assert { test, msg } => std::iter::once(test).chain(msg).for_each(exprs),
        StmtKind::Expr(value) | StmtKind::Annotation(value) | StmtKind::Yield { value, .. } => exprs(value),
        StmtKind::Delete(targets) => targets.iter().for_each(exprs),
        StmtKind::Import { .. }
        | StmtKind::ImportFrom { .. }
        | StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Nonlocal(_)
        | StmtKind::ClassDef(_)
        | StmtKind::Unsupported { .. } => {}
    }
}

/// Visits the expressions of a statement, not those of statements within it.
fn walk(stmt: &Stmt, visit: &mut dyn FnMut(&Expr)) {
    each_part(stmt, &mut |_| {}, &mut |expr| walk_expr(expr, visit));
}

fn walk_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    let mut each = |expr: &Expr| walk_expr(expr, visit);
    match &expr.kind {
        ExprKind::BoolOp { values, .. }
        | ExprKind::Set(values, _)
        | ExprKind::List(values)
        | ExprKind::Tuple(values) => {
            values.iter().for_each(each);
        }
        ExprKind::Named { value, .. } => each(value),
        ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|e| each(e)),
        ExprKind::Unary { operand, .. } | ExprKind::Not(operand) | ExprKind::Starred(operand) => each(operand),
        ExprKind::Lambda(def) => def.body.iter().for_each(|stmt| walk(stmt, visit)),
        ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|e| each(e)),
        ExprKind::Dict(items) => items.iter().for_each(|(key, value)| {
            key.iter().for_each(&mut each);
            each(value);
        }),
        ExprKind::Comprehension(comp) => {
            each(&comp.element);
            comp.value.iter().for_each(&mut each);
            for clause in &comp.clauses {
                each(&clause.iter);
                clause.conditions.iter().for_each(&mut each);
            }
        }
        ExprKind::Compare { left, rest } => {
            each(left);
            rest.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::Call { func, args, keywords } => {
            each(func);
            args.iter().for_each(&mut each);
            keywords.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::FString(parts) => parts.iter().for_each(|part| walk_part(part, visit)),
        ExprKind::Attribute { value, .. } => each(value),
        ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|e| each(e)),
        ExprKind::Slice { lower, upper, step } => [lower, upper, step].into_iter().flatten().for_each(|e| each(e)),
        ExprKind::Const(_) | ExprKind::Name(_) | ExprKind::Unsupported(_) => {}
    }
}

fn walk_part(part: &FPart, visit: &mut dyn FnMut(&Expr)) {
    if let FPart::Field { value, spec, .. } = part {
        walk_expr(value, visit);
        spec.iter().for_each(|part| walk_part(part, visit));
    }
}
