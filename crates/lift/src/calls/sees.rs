//! What a function that is passed to another can reach: a key by which a list is sorted may read
//! that list, which is empty meanwhile.

use crate::abs::{Abs, Closure, Enclosing};
use crate::objects::heap::cells;
use crate::tree::ast::{Expr, ExprKind, FunctionDef, Name, Stmt, StmtKind};
use crate::tree::scope::Mention;
use crate::walk::lifter::Lifter;
use exuvia_ir::{Opcode, Type, Value};
use exuvia_ops::def::Effect;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How deep objects are looked into for a container.
const DEEPEST: usize = 6;

/// Methods of containers that change them.
const CHANGING: &[&str] = &[
    "add",
    "append",
    "appendleft",
    "clear",
    "difference_update",
    "discard",
    "extend",
    "extendleft",
    "insert",
    "intersection_update",
    "move_to_end",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "reverse",
    "rotate",
    "setdefault",
    "sort",
    "subtract",
    "symmetric_difference_update",
    "update",
    "__setitem__",
    "__delitem__",
    "__setslice__",
    "__delslice__",
];

/// Whether a function may change something that it can reach: it is more than one expression, or
/// calls other things than built-in functions and methods that only read.
fn may_change(def: &FunctionDef) -> bool {
    match def.body.as_slice() {
        [Stmt { kind: StmtKind::Return(Some(value)), .. }] => !only_reads(value),
        _ => true,
    }
}

fn only_reads(expr: &Expr) -> bool {
    let all = |parts: &[Expr]| parts.iter().all(only_reads);
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Const(_) => true,
        ExprKind::Call { func, args, keywords } => {
            let reads = match &func.kind {
                ExprKind::Name(name) => crate::tree::names::builtin(name).is_some(),
                ExprKind::Attribute { value, name } => !CHANGING.contains(&&**name) && only_reads(value),
                _ => false,
            };
            reads && all(args) && keywords.iter().all(|keyword| only_reads(&keyword.1))
        }
        ExprKind::Attribute { value, .. } => only_reads(value),
        ExprKind::Tuple(items) | ExprKind::List(items) => all(items),
        ExprKind::Binary { left, right, .. } => only_reads(left) && only_reads(right),
        ExprKind::Unary { operand, .. } | ExprKind::Not(operand) => only_reads(operand),
        ExprKind::Compare { left, rest } => only_reads(left) && rest.iter().all(|(_, value)| only_reads(value)),
        ExprKind::BoolOp { values, .. } => all(values),
        ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().all(|part| only_reads(part)),
        ExprKind::Subscript { value, index } => only_reads(value) && only_reads(index),
        ExprKind::Slice { lower, upper, step } => {
            [lower, upper, step].into_iter().flatten().all(|bound| only_reads(bound))
        }
        _ => false,
    }
}

/// Whether an expression only reads, and calls no functions but some that say what a value is like.
fn is_quiet(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Const(_) => true,
        ExprKind::Call { func, args, keywords } => {
            let known = |name: &str| ["len", "str", "int", "abs", "ord", "repr"].contains(&name);
            let of_text = |name: &str| ["lower", "upper", "casefold", "count", "find", "get"].contains(&name);
            let is_known = match &func.kind {
                ExprKind::Name(name) => known(name),
                ExprKind::Attribute { value, name } => of_text(name) && is_quiet(value),
                _ => false,
            };
            is_known && keywords.is_empty() && args.iter().all(is_quiet)
        }
        ExprKind::Unary { operand, .. } | ExprKind::Not(operand) => is_quiet(operand),
        ExprKind::Binary { left, right, .. } => is_quiet(left) && is_quiet(right),
        ExprKind::Subscript { value, index } => is_quiet(value) && is_quiet(index),
        ExprKind::Compare { left, rest } => is_quiet(left) && rest.iter().all(|(_, right)| is_quiet(right)),
        ExprKind::BoolOp { values, .. } => values.iter().all(is_quiet),
        ExprKind::IfExp { test, body, orelse } => is_quiet(test) && is_quiet(body) && is_quiet(orelse),
        _ => false,
    }
}

impl Lifter<'_> {
    /// The variables of the functions around one that it mentions, and what they hold, without itself.
    pub fn around(&self, closure: &Closure) -> BTreeMap<Name, (Mention, Abs)> {
        let mut found = self.all_around(closure);
        found.retain(|_, (_, value)| !closure.is_itself(value));
        found
    }

    /// The variables of the functions around one that it mentions, and what they hold.
    pub fn all_around(&self, closure: &Closure) -> BTreeMap<Name, (Mention, Abs)> {
        let mut found = BTreeMap::new();
        let mut enclosing = &closure.enclosing;
        loop {
            let (names, outer): (Vec<&Name>, _) = match enclosing {
                Enclosing::Module => return found,
                Enclosing::Live(depth) => match self.frames.get(*depth) {
                    Some(frame) => (frame.locals.iter().collect(), &frame.enclosing),
                    None => return found,
                },
                Enclosing::Ended(captured) => (captured.vars.keys().collect(), &captured.enclosing),
            };
            for name in names {
                if !found.contains_key(name)
                    && let Some(mention) = crate::tree::scope::mentions(&closure.def, name)
                    && let Some(value) = self.read_enclosing(name, &closure.enclosing)
                {
                    found.insert(name.clone(), (mention, value));
                }
            }
            enclosing = outer;
        }
    }

    /// Whether a function can reach a container by its free variables or its object: then it may read
    /// or change it while it is called for each of its items.
    pub fn sees(&self, function: &Abs, container: &Abs) -> bool {
        match self.seen_as_object(container.clone()) {
            container @ Abs::Instance(_) => self.reaches(function, &container, DEEPEST),
            Abs::Dyn(value) if self.b.function.ty(value).holds_list() => {
                self.reaches(function, &Abs::Dyn(value), DEEPEST)
            }
            _ => false,
        }
    }

    /// Whether a function of one argument gives a tuple with that argument in it, as `lambda word:
    /// (len(word), word)`, and changes nothing that anybody sees.
    pub fn breaks_ties(&self, function: &Abs) -> bool {
        let Abs::Func(closure) = function else { return false };
        let [Stmt { kind: StmtKind::Return(Some(Expr { kind: ExprKind::Tuple(parts), .. })), .. }] =
            closure.def.body.as_slice()
        else {
            return false;
        };
        let is_argument = |part: &Expr| matches!(&part.kind, ExprKind::Name(name) if closure.def.params.is_only(name));
        let quiet = |value: &Abs| match value {
            Abs::Instance(object) => object.class.prelude && ["dict", "Counter", "set"].contains(&&*object.class.name),
            other => matches!(other, Abs::Const(_) | Abs::Dyn(_)),
        };
        parts.iter().any(is_argument)
            && parts.iter().all(|part| is_argument(part) || is_quiet(part))
            && self.around(closure).values().all(|(_, value)| quiet(value))
    }

    /// Whether a function can reach a container and may change it.
    pub fn may_change(&self, function: &Abs, container: &Abs) -> bool {
        let may = match function {
            Abs::Func(closure) => may_change(&closure.def),
            Abs::Bound(method) if method.owner.prelude => CHANGING.contains(&&*method.closure.def.name),
            Abs::Bound(method) => may_change(&method.closure.def),
            Abs::Method(method) => CHANGING.contains(&&*method.1),
            _ => true,
        };
        may && self.sees(function, container)
    }

    /// Whether a value is a list as an instruction makes it, which no other value was before.
    fn is_made_here(&self, value: Value) -> bool {
        self.b.function.made_by(value).is_some_and(|inst| match &inst.op {
            Opcode::List => true,
            Opcode::Op(name) => exuvia_ops::by_name(name).is_some_and(|def| def.effect == Effect::Alloc),
            _ => false,
        })
    }

    fn reaches(&self, from: &Abs, container: &Abs, deep: usize) -> bool {
        let Some(deeper) = deep.checked_sub(1) else { return true };
        match (from, container) {
            (Abs::Func(closure), _) => {
                let around = self.around(closure);
                let free = around.values().map(|(_, value)| value);
                let defaults = closure.defaults.iter().map(|(_, value)| value);
                free.chain(defaults).any(|value| self.reaches(value, container, deeper))
            }
            (Abs::Method(method), _) => self.reaches(&method.0, container, deeper),
            (Abs::Bound(method), _) => {
                let function = Abs::Func(Rc::clone(&method.closure));
                [&method.receiver, &function].into_iter().any(|part| self.reaches(part, container, deeper))
            }
            (Abs::Tuple(items), _) => items.iter().any(|item| self.reaches(item, container, deeper)),
            (Abs::Instance(object), Abs::Instance(wanted)) if object.is(wanted) => true,
            (Abs::Instance(object), _) if object.value.is_none() => {
                let vars = self.frames.first().filter(|_| object.module.is_none()).map(|frame| &frame.vars);
                let is_itself = |value: &Abs| matches!(value, Abs::Instance(inner) if inner.is(object));
                let mut held = vars.into_iter().flat_map(|vars| cells(vars, object)).map(|cell| cell.1);
                held.any(|value| !is_itself(value) && self.reaches(value, container, deeper))
            }
            (Abs::Instance(_), _) => true,
            (Abs::Dyn(value), Abs::Dyn(wanted)) => {
                let (have, ty) = (self.b.function.ty(*value), self.b.function.ty(*wanted));
                let holds = ty.alternatives().iter().any(|ty| have.holds(&|part| part == ty));
                let (sites, made) = (self.sites_of(*value), self.sites_of(*wanted));
                let meet = sites.is_empty() || made.is_empty() || sites.iter().any(|site| made.contains(site));
                holds && meet && (value == wanted || !self.is_made_here(*value) || !self.is_made_here(*wanted))
            }
            (Abs::Dyn(value), _) => self.b.function.ty(*value).holds(&Type::is_object),
            _ => false,
        }
    }
}
