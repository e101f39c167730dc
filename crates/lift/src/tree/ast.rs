//! The syntax tree that the lifter walks: Python's, without what the parser needs only
//! for itself. Immutable and shared, so that closures and the prelude can hold parts.

use crate::tree::footprint::Footprint;
use exuvia_ir::{Object, Span};
use std::sync::Arc;

/// A name.
pub type Name = Arc<str>;

/// A module.
#[derive(Debug, Default)]
pub struct Module {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// For each of them, what it mentions.
    pub footprints: Vec<Arc<Footprint>>,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are Python's (library reference, module ast)")]
pub enum StmtKind {
    FunctionDef(Arc<FunctionDef>),
    ClassDef(Arc<ClassDef>),
    Return(Option<Expr>),
    Assign {
        targets: Vec<Expr>,
        value: Expr,
        /// The variables that get lists by `[]`, and how many of the statements behind it do no more with such a list
        /// than append to it.
        appending: Vec<(Name, usize)>,
    },
    AugAssign {
        target: Expr,
        op: &'static str,
        value: Expr,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
        turns: Turns,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
        turns: Turns,
    },
    If {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    Try {
        body: Vec<Stmt>,
        handlers: Vec<Handler>,
        orelse: Vec<Stmt>,
        finalbody: Arc<[Stmt]>,
    },
    Raise {
        exc: Option<Expr>,
        cause: Option<Expr>,
    },
    Assert {
        test: Expr,
        msg: Option<Expr>,
    },
    Import {
        module: Name,
        asname: Name,
    },
    ImportFrom {
        module: Name,
        name: Name,
        asname: Name,
    },
    Expr(Expr),
    /// `yield` as a statement, or `yield from`.
    Yield {
        value: Expr,
        from: bool,
    },
    Delete(Vec<Expr>),
    /// The annotation of a variable, which only a module evaluates.
    Annotation(Expr),
    Pass,
    Break,
    Continue,
    Nonlocal(Vec<Name>),
    /// A statement that is not lifted: what it is, for people, and whether a `return`
    /// stands in it.
    Unsupported {
        what: &'static str,
        returns: bool,
    },
}

/// What the turns of a loop do with the variables that they assign.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// Those that nothing reads before they are assigned again, from the end of a turn on.
    pub over: Arc<[Name]>,
    /// Those that nothing reads any more behind the loop.
    pub left: Arc<[Name]>,
    /// Those that a turn makes of what they were.
    pub advanced: Arc<[Name]>,
}

impl StmtKind {
    /// An assignment.
    #[must_use]
    pub fn assign(targets: Vec<Expr>, value: Expr) -> StmtKind {
        StmtKind::Assign { targets, value, appending: Vec::new() }
    }

    /// The blocks of statements within it, but for those of a function or class that it defines.
    #[must_use]
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        match self {
            StmtKind::For { body, orelse, .. }
            | StmtKind::While { body, orelse, .. }
            | StmtKind::If { body, orelse, .. } => vec![body, orelse],
            StmtKind::Try { body, handlers, orelse, finalbody } => {
                let handled = handlers.iter().map(|handler| &handler.body[..]);
                std::iter::once(&body[..]).chain(handled).chain([&orelse[..], finalbody]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// An `except` clause.
#[derive(Debug)]
pub struct Handler {
    /// The class or tuple of classes.
    pub class: Option<Expr>,
    /// The name that the exception is bound to.
    pub name: Option<Name>,
    /// What runs.
    pub body: Vec<Stmt>,
    /// Where it stands.
    pub span: Span,
}

/// A function or a lambda.
#[derive(Debug)]
pub struct FunctionDef {
    /// Its name; `<lambda>` for a lambda.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// What is evaluated as annotations when it is defined.
    pub annotations: Vec<Expr>,
    /// What runs; a lambda's is one `return`.
    pub body: Vec<Stmt>,
    /// Its decorators.
    pub decorators: Vec<Expr>,
    /// What the annotations of the positional parameters ask for.
    pub asked: Vec<Asked>,
    /// The class that each of them names, `?` for forms that name none; `None` without annotation.
    pub named: Vec<Option<Name>>,
    /// What the annotation of the result says.
    pub gives: Asked,
    /// Whether it is a generator or a coroutine.
    pub generator: bool,
    /// Whether it is a coroutine or an asynchronous generator.
    pub asynchronous: bool,
    /// Names assigned anywhere in the body: its local variables.
    pub locals: Arc<[Name]>,
    /// Where it stands.
    pub span: Span,
}

impl FunctionDef {
    /// A function of that name without parameters, which does nothing.
    #[must_use]
    pub fn empty(name: Name, span: Span) -> FunctionDef {
        FunctionDef {
            name,
            params: Params::default(),
            annotations: Vec::new(),
            body: Vec::new(),
            decorators: Vec::new(),
            asked: Vec::new(),
            named: Vec::new(),
            gives: Asked::Nothing,
            generator: false,
            asynchronous: false,
            locals: Arc::from([]),
            span,
        }
    }
}

/// What an annotation says, as far as the kind of a function depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// There is none.
    #[default]
    Nothing,
    /// A value of a row.
    Value,
    /// A list.
    List,
    /// A whole column: `pd.Series`, `np.ndarray`, `npt.NDArray[…]`, `pa.Array`.
    Column,
    /// An iterator over columns.
    Iterator,
    /// A table: `pd.DataFrame`, `pa.Table`.
    Table,
}

/// A class.
#[derive(Debug)]
pub struct ClassDef {
    /// Its name.
    pub name: Name,
    /// Its bases.
    pub bases: Vec<Expr>,
    /// What it gives by name, a `metaclass` or what `__init_subclass__` takes.
    pub keywords: Vec<(Name, Expr)>,
    /// Its decorators.
    pub decorators: Vec<Expr>,
    /// What runs to make it.
    pub body: Vec<Stmt>,
    /// The names that its body annotates, with what it assigns to them.
    pub fields: Vec<Name>,
    /// What annotations say `ClassVar` with, of names that are no fields.
    pub class_vars: Vec<Expr>,
    /// What of it is not lifted, for people.
    pub unsupported: Option<&'static str>,
    /// The names of the functions defined in its body.
    pub methods: Vec<Name>,
    /// Where it stands.
    pub span: Span,
}

/// Parameters.
#[derive(Debug, Default)]
pub struct Params {
    /// Positional ones, with defaults.
    pub positional: Vec<(Name, Option<Expr>)>,
    /// How many of them are positional only.
    pub positional_only: usize,
    /// `*args`.
    pub rest: Option<Name>,
    /// Keyword-only ones, with defaults.
    pub keyword: Vec<(Name, Option<Expr>)>,
    /// `**kwargs`.
    pub keyword_rest: Option<Name>,
}

impl Params {
    /// Whether a parameter has that name.
    #[must_use]
    pub fn has(&self, name: &Name) -> bool {
        let rest = self.rest.iter().chain(&self.keyword_rest);
        self.positional.iter().chain(&self.keyword).map(|param| &param.0).chain(rest).any(|one| one == name)
    }

    /// Whether a parameter without a default is the only one.
    #[must_use]
    pub fn is_only(&self, name: &Name) -> bool {
        matches!(self.positional.as_slice(), [(only, None)] if only == name)
            && self.rest.is_none()
            && self.keyword.is_empty()
            && self.keyword_rest.is_none()
    }
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are Python's (library reference, module ast)")]
pub enum ExprKind {
    Const(Object),
    Name(Name),
    BoolOp {
        and: bool,
        values: Vec<Expr>,
    },
    Named {
        target: Name,
        value: Box<Expr>,
    },
    Binary {
        op: &'static str,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Unary {
        op: &'static str,
        operand: Box<Expr>,
    },
    Not(Box<Expr>),
    Lambda(Arc<FunctionDef>),
    IfExp {
        test: Box<Expr>,
        body: Box<Expr>,
        orelse: Box<Expr>,
    },
    Dict(Vec<(Option<Expr>, Expr)>),
    Set(Vec<Expr>, Folded),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Comprehension(Arc<Comprehension>),
    Compare {
        left: Box<Expr>,
        rest: Vec<(CmpOp, Expr)>,
    },
    Call {
        func: Box<Expr>,
        args: Vec<Expr>,
        keywords: Vec<(Option<Name>, Expr)>,
    },
    FString(Vec<FPart>),
    Attribute {
        value: Box<Expr>,
        name: Name,
    },
    Subscript {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    Slice {
        lower: Option<Box<Expr>>,
        upper: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Starred(Box<Expr>),
    /// An expression that is not lifted; what it is, for people.
    Unsupported(&'static str),
}

impl Expr {
    /// Calls `f` with each expression that it is made of, but for those of comprehensions and of functions.
    pub fn for_each_part<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::BoolOp { values, .. }
            | ExprKind::Set(values, _)
            | ExprKind::List(values)
            | ExprKind::Tuple(values) => values.iter().for_each(f),
            ExprKind::Dict(items) => items.iter().for_each(|(key, value)| {
                key.iter().for_each(&mut *f);
                f(value);
            }),
            ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|side| f(side)),
            ExprKind::Unary { operand: value, .. }
            | ExprKind::Not(value)
            | ExprKind::Starred(value)
            | ExprKind::Attribute { value, .. }
            | ExprKind::Named { value, .. } => f(value),
            ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|part| f(part)),
            ExprKind::Compare { left, rest } => {
                f(left);
                rest.iter().for_each(|(_, value)| f(value));
            }
            ExprKind::Call { func, args, keywords } => {
                f(func);
                args.iter().for_each(&mut *f);
                keywords.iter().for_each(|(_, value)| f(value));
            }
            ExprKind::FString(parts) => parts.iter().for_each(|part| part.for_each_value(f)),
            ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|part| f(part)),
            ExprKind::Slice { lower, upper, step } => {
                [lower, upper, step].into_iter().flatten().for_each(|bound| f(bound));
            }
            ExprKind::Const(_)
            | ExprKind::Name(_)
            | ExprKind::Lambda(_)
            | ExprKind::Comprehension(_)
            | ExprKind::Unsupported(_) => {}
        }
    }
}

impl FPart {
    fn for_each_value<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        if let FPart::Field { value, spec, .. } = self {
            f(value);
            spec.iter().for_each(|part| part.for_each_value(f));
        }
    }
}

/// Whether CPython's compiler makes a constant of a display of a set, if it is long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they say it")]
pub enum Folded {
    Yes,
    No,
    Unknown,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Python's")]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Is,
    IsNot,
    In,
    NotIn,
}

/// What a comprehension builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Python's")]
pub enum Collects {
    List,
    Set,
    Dict,
    Generator,
}

/// A comprehension or generator expression.
#[derive(Debug)]
pub struct Comprehension {
    /// What it builds.
    pub collects: Collects,
    /// The element, or the key of a dict.
    pub element: Expr,
    /// The value of a dict.
    pub value: Option<Expr>,
    /// Its `for` clauses, outermost first.
    pub clauses: Vec<Clause>,
}

/// A `for` clause of a comprehension.
#[derive(Debug)]
pub struct Clause {
    /// What each item is bound to.
    pub target: Expr,
    /// What is iterated.
    pub iter: Expr,
    /// Its conditions.
    pub conditions: Vec<Expr>,
    /// The names of the target that nothing reads any more once a turn has ended.
    pub over: Vec<Name>,
}

/// A part of an f-string.
#[derive(Debug)]
pub enum FPart {
    /// Literal text.
    Text(Arc<str>),
    /// A replacement field.
    Field {
        /// What is formatted.
        value: Expr,
        /// `s`, `r` or `a`.
        conversion: Option<char>,
        /// The format specification.
        spec: Vec<FPart>,
    },
}
