//! The body of `CREATE FUNCTION`: which of its two forms it has, and its handler.

use crate::tree::ast::{Asked, ClassDef, Expr, ExprKind, FunctionDef, Module, Name, Params, Stmt, StmtKind};
use crate::tree::parse::{Parsed, parse_source};
use exuvia_ir::Span;
use std::sync::{Arc, Mutex, PoisonError};

/// A body whose handler was found.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the SQL function, which is that of the module.
    pub name: Arc<str>,
    /// The text as given, dedented; spans are offsets into it.
    pub text: Arc<str>,
    /// The statements of the module; empty for a bare body.
    pub module: Arc<Module>,
    /// The handler.
    pub handler: Arc<FunctionDef>,
    /// What the handler imports in its body whatever happens that is not of the standard library: `python`
    /// asks for it too, so that CPython says at once whether it is there.
    pub imports: Vec<Name>,
    /// A module that CPython can run and that defines the handler.
    pub python: Arc<str>,
    /// The name of the handler in it.
    pub python_name: String,
    /// The handler is called by that name, which a decorator or an assignment bound to something
    /// else than the function that stands there.
    pub called: bool,
    /// How many lines of it stand before the first line of the text.
    pub python_shift: u32,
    /// The handler is this class, and `handler` an empty function of its name.
    pub class: Option<Arc<ClassDef>>,
}

/// The module that was parsed last: the functions of one file share it.
static LAST: Mutex<Option<(Arc<str>, Arc<Module>)>> = Mutex::new(None);

/// Why a body cannot be a function.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceError {
    /// What is wrong, one line.
    pub message: String,
    /// Where, if it is a place.
    pub span: Option<Span>,
}

impl SourceError {
    fn new(message: impl Into<String>, span: Option<Span>) -> SourceError {
        SourceError { message: message.into(), span }
    }
}

impl Source {
    /// The name of the class with which the handler annotates a parameter, if it is one.
    #[must_use]
    pub fn annotation(&self, param: usize) -> Option<&str> {
        self.handler.named.get(param)?.as_deref()
    }

    /// Finds the form of a body and its handler. `params` are the names of the SQL
    /// parameters: the variables of a bare body.
    ///
    /// # Errors
    /// Syntax errors; both forms at once; no handler, or an unsuitable one; another number
    /// of parameters.
    pub fn resolve(text: &str, name: &str, handler: Option<&str>, params: &[&str]) -> Result<Source, SourceError> {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((text, module)) = last.filter(|last| *last.0 == *text) {
            return from_module(text, name, handler, params, module);
        }
        let parsed = parse_source(text, params).map_err(|error| {
            let instead = in_python_3(text, error.span).map(|instead| format!("; in Python 3 it is {instead}"));
            let message = format!("syntax error: {}{}", error.message, instead.unwrap_or_default());
            if let Some(span) = outdented(text).filter(|_| error.message.contains("ndentation")) {
                return SourceError::new("syntax error: this line is indented less than the first one", Some(span));
            }
            SourceError::new(message, Some(error.span))
        })?;
        if parsed.bare || (handler.is_none() && only_runs(&parsed.module.body, name)) {
            let span = first_return(&parsed.module.body);
            return bare(text, name, handler, params, parsed, span);
        }
        let (text, module): (Arc<str>, _) = (Arc::from(text), Arc::new(parsed.module));
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((Arc::clone(&text), Arc::clone(&module)));
        from_module(text, name, handler, params, module)
    }

    /// What the handler has that a function of the values of a row, for a value, cannot have.
    #[must_use]
    pub fn more_than_row(&self) -> Option<SourceError> {
        let def = &self.handler;
        let name = &def.name;
        let message = if let Some(class) = &self.class {
            format!("{} is a class, and the handler is a function", class.name)
        } else if def.asynchronous {
            format!("{name} is a coroutine; a handler must return its result")
        } else if def.generator {
            format!("{name} is a generator, which gives rows; declare RETURNS TABLE (…), or return one result")
        } else {
            return None;
        };
        Some(SourceError::new(message, Some(self.class.as_ref().map_or(def.span, |class| class.span))))
    }
}

/// A body with `return` at its top level: the arguments are variables.
fn bare(
    text: &str,
    name: &str,
    handler: Option<&str>,
    params: &[&str],
    parsed: Parsed,
    span: Option<Span>,
) -> Result<Source, SourceError> {
    let Parsed { mut module, string_lines, yields, .. } = parsed;
    if handler.is_some() {
        return Err(SourceError::new("a body with return at its top level has no handler to name", span));
    }
    let python_name = if is_identifier(name) { name.to_string() } else { "exuvia_function".to_string() };
    for param in params {
        if !is_identifier(param) {
            let why = if KEYWORDS.contains(param) { "a keyword of Python's" } else { "not a Python name" };
            return Err(SourceError::new(format!("parameter {param} is {why}"), None));
        }
    }
    let mut python = format!("def {python_name}({}):\n", params.join(", "));
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        // Lines within a string literal keep their text.
        if !string_lines.contains(&start) && !line.trim().is_empty() {
            python.push(' ');
        }
        python.push_str(line);
        start += line.len();
    }
    let params =
        Params { positional: params.iter().map(|param| (Name::from(*param), None)).collect(), ..Params::default() };
    let imports = imports(&module.body);
    python.push_str(&asked_for(&imports));
    let locals = crate::tree::scope::locals(&params, &module.body);
    crate::tree::liveness::mark(&params, &mut module.body, &locals);
    let handler = FunctionDef {
        locals: locals.into(),
        params,
        generator: yields,
        body: module.body,
        ..FunctionDef::empty(Name::from(python_name.as_str()), span.unwrap_or_default())
    };
    Ok(Source {
        name: Arc::from(name),
        text: Arc::from(text),
        module: Arc::new(Module::default()),
        handler: Arc::new(handler),
        imports,
        python: python.into(),
        python_name,
        called: false,
        python_shift: 1,
        class: None,
    })
}

/// A module: the handler is one of its functions.
fn from_module(
    text: Arc<str>,
    name: &str,
    handler: Option<&str>,
    params: &[&str],
    module: Arc<Module>,
) -> Result<Source, SourceError> {
    if let Some(class) = class(&module, name, handler) {
        let handler = FunctionDef::empty(class.name.clone(), class.span);
        return Ok(Source {
            name: Arc::from(name),
            text: Arc::clone(&text),
            module,
            handler: Arc::new(handler),
            imports: Vec::new(),
            python: text,
            python_name: class.name.to_string(),
            called: false,
            python_shift: 0,
            class: Some(class),
        });
    }
    let all: Vec<Bound> = bound(&module.body).collect();
    let named = |wanted: &str| all.iter().rev().find(|bound| &*bound.name == wanted);
    // Of what has one name only the last counts.
    let is_last = |bound: &Bound| named(&bound.name).is_some_and(|last| std::ptr::eq(last, bound));
    let is_function = |bound: &&Bound| bound.function.is_some() && is_last(bound);
    let found = match handler {
        Some(handler) => match named(handler) {
            Some(bound) => bound,
            None => {
                let names: Vec<&str> = all.iter().filter(is_function).map(|bound| &*bound.name).collect();
                let there = if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) };
                return Err(SourceError::new(
                    format!("the body has no function {handler}, which is named as the handler{there}"),
                    None,
                ));
            }
        },
        None => match named(name).or_else(|| all.iter().rev().find(|bound| bound.name.eq_ignore_ascii_case(name))) {
            Some(bound) => bound,
            None => match all.iter().filter(is_function).collect::<Vec<_>>()[..] {
                [only] => only,
                [] => {
                    let message = match text.trim().is_empty() {
                        true => "the body is empty",
                        false => "the body neither returns at its top level nor defines a function",
                    };
                    return Err(SourceError::new(message, None));
                }
                ref several => {
                    let names: Vec<&str> = several.iter().map(|bound| &*bound.name).collect();
                    let message = format!(
                        "the body defines {}, none of which is named {name}: name the handler with OPTIONS (handler '…')",
                        names.join(", ")
                    );
                    return Err(SourceError::new(message, None));
                }
            },
        },
    };
    let def = found.function.clone().unwrap_or_else(|| Arc::new(found.unknown()));
    let most = if def.params.rest.is_some() { usize::MAX } else { def.params.positional.len() };
    let least = def.params.positional.iter().filter(|param| param.1.is_none()).count();
    let keyword_only = def.params.keyword.iter().any(|param| param.1.is_none());
    // An iterator brings the columns of all parameters.
    let iterator = matches!(def.asked[..], [Asked::Iterator, ..]);
    if !iterator && (params.len() > most || params.len() < least || keyword_only) {
        let mut message = format!(
            "{} takes {}, the SQL signature has {}",
            found.name,
            match (least == most, least) {
                (true, 1) => "1 parameter".to_string(),
                (true, _) => format!("{least} parameters"),
                (false, _) => format!("{least} or more parameters"),
            },
            params.len()
        );
        // Snowflake gives the columns of a batch as one DataFrame.
        if text.contains("vectorized") {
            message.push_str("; columns are given one by one: def f(a: pd.Series, b: pd.Series) -> pd.Series");
        }
        return Err(SourceError::new(message, Some(def.span)));
    }
    let imports = imports(&def.body);
    let python = if imports.is_empty() { Arc::clone(&text) } else { format!("{text}{}", asked_for(&imports)).into() };
    Ok(Source {
        name: Arc::from(name),
        text: Arc::clone(&text),
        called: found.function.is_none() || !def.decorators.is_empty(),
        python_name: found.name.to_string(),
        handler: def,
        module,
        imports,
        python,
        python_shift: 0,
        class: None,
    })
}

/// The modules of others that are lifted and that a body imports, but for statements within others.
fn imports(body: &[Stmt]) -> Vec<Name> {
    let imported = body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Import { module, .. } | StmtKind::ImportFrom { module, .. } => Some(module),
        _ => None,
    });
    let mut found: Vec<Name> = imported.filter(|module| is_lifted(module)).cloned().collect();
    found.dedup();
    found
}

/// Whether a module that is not of the standard library is lifted.
pub(crate) fn is_lifted(module: &str) -> bool {
    matches!(module, "numpy" | "pandas" | "numpy.typing" | "numpy.linalg")
}

/// Lines that import modules and bind no name.
fn asked_for(modules: &[Name]) -> String {
    modules.iter().map(|module| format!("\n__import__('{module}')")).collect()
}

/// The line of a body that is indented less than its first one.
fn outdented(text: &str) -> Option<Span> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let mut start = 0;
    let mut first = None;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            let own = indent(line);
            if own < *first.get_or_insert(own) {
                return Some(Span { start: (start + own) as u32, end: (start + line.trim_end().len()) as u32 });
            }
        }
        start += line.len();
    }
    None
}

/// How Python 3 writes what Python 2 wrote in the line of a syntax error.
fn in_python_3(text: &str, span: Span) -> Option<&'static str> {
    let at = text.floor_char_boundary(span.start as usize);
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[begin..].lines().next()?.trim();
    let (word, rest) = line.split_once(|c: char| !c.is_alphanumeric() && c != '_')?;
    let rest = rest.trim_start();
    Some(match word {
        "print" if !rest.starts_with('(') && !line.starts_with("print(") => "print(…)",
        "exec" if rest.starts_with(['"', '\'']) => "exec(…)",
        "except" if rest.contains(',') && !rest.starts_with('(') => "except … as e:",
        "raise" if rest.contains(", ") && !rest.contains('(') => "raise Exception(message)",
        _ if line.contains("<>") => "!=",
        _ if line.contains('`') => "repr(…)",
        _ if line.contains("ur'") || line.contains("ur\"") => "r'…'",
        _ => return None,
    })
}

/// The class that is the handler: the one that is named, or the only one with the methods of
/// an aggregate, or one that gives rows, where no function has the name.
fn class(module: &Module, name: &str, handler: Option<&str>) -> Option<Arc<ClassDef>> {
    let wanted = handler.unwrap_or(name);
    let same = |own: &str| own == wanted || handler.is_none() && own.eq_ignore_ascii_case(wanted);
    if defs(&module.body).any(|def| same(&def.name)) || bound(&module.body).any(|bound| *bound.name == *wanted) {
        return None;
    }
    let classes = module.body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::ClassDef(class) => Some(Arc::clone(class)),
        _ => None,
    });
    let (mut named, others): (Vec<_>, Vec<_>) = classes.partition(|class| same(&class.name));
    if let Some(class) = named.pop() {
        return Some(class);
    }
    let serves = |class: &Arc<ClassDef>| {
        let has = |wanted: &str| class.methods.iter().any(|method| **method == *wanted);
        has("accumulate") && has("finish") || has("process") || has("eval")
    };
    let mut found = others.into_iter().filter(serves);
    match (found.next(), found.next(), handler) {
        (Some(only), None, None) => Some(only),
        _ => None,
    }
}

/// A name that the module binds to something that may be called.
struct Bound {
    name: Name,
    /// The function, by `def` or a lambda expression; `None`: what an expression gives.
    function: Option<Arc<FunctionDef>>,
    span: Span,
}

impl Bound {
    /// A function whose parameters only a call shows.
    fn unknown(&self) -> FunctionDef {
        FunctionDef {
            params: Params { rest: Some(Name::from("args")), ..Params::default() },
            ..FunctionDef::empty(self.name.clone(), self.span)
        }
    }
}

/// What a module binds to names that may be called, in the order of its statements.
fn bound(body: &[Stmt]) -> impl Iterator<Item = Bound> {
    body.iter().flat_map(|stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) => {
            vec![Bound { name: def.name.clone(), function: Some(Arc::clone(def)), span: def.span }]
        }
        StmtKind::Assign { targets, value, .. } => {
            let function = match &value.kind {
                ExprKind::Lambda(def) => Some(Arc::clone(def)),
                ExprKind::Call { .. } | ExprKind::Name(_) | ExprKind::Attribute { .. } => None,
                _ => return Vec::new(),
            };
            let name = |target: &Expr| match &target.kind {
                ExprKind::Name(name) => Some(name.clone()),
                _ => None,
            };
            let bound = |name| Bound { name, function: function.clone(), span: stmt.span };
            targets.iter().filter_map(name).map(bound).collect()
        }
        _ => Vec::new(),
    })
}

fn defs(body: &[Stmt]) -> impl Iterator<Item = &Arc<FunctionDef>> {
    body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) => Some(def),
        _ => None,
    })
}

/// Whether a body defines nothing that could be a handler of that name: it is one itself, and gives
/// None.
fn only_runs(body: &[Stmt], name: &str) -> bool {
    let is_name = |target: &Expr| matches!(&target.kind, ExprKind::Name(target) if target.eq_ignore_ascii_case(name));
    let defines = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Assign { targets, value, .. } => {
            matches!(value.kind, ExprKind::Lambda(_)) || targets.iter().any(is_name)
        }
        StmtKind::Pass | StmtKind::Expr(_) | StmtKind::AugAssign { .. } => false,
        StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Try { .. } => false,
        StmtKind::Raise { .. } | StmtKind::Assert { .. } | StmtKind::Annotation(_) => false,
        _ => true,
    };
    !body.is_empty() && !body.iter().any(defines)
}

/// The first `return` that stands in no function; a body may only `yield`.
fn first_return(body: &[Stmt]) -> Option<Span> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Unsupported { returns: true, .. } => Some(stmt.span),
        StmtKind::If { body, orelse, .. }
        | StmtKind::While { body, orelse, .. }
        | StmtKind::For { body, orelse, .. } => first_return(body).or_else(|| first_return(orelse)),
        StmtKind::Try { body, handlers, orelse, finalbody } => first_return(body)
            .or_else(|| handlers.iter().find_map(|handler| first_return(&handler.body)))
            .or_else(|| first_return(orelse))
            .or_else(|| first_return(finalbody)),
        _ => None,
    })
}

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
        && !KEYWORDS.contains(&text)
}
