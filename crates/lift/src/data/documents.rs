//! Values of JSON that a function changes.
//!
//! What `json.loads` makes is a text that is looked into where something is read, and does not change. Where
//! a function assigns it to a variable that it changes, the variable gets a dict or list of the same items
//! instead: nobody else has the value yet. What lies deeper stays as it is.

use crate::abs::Abs;
use crate::tree::ast::{Expr, ExprKind, Name, Stmt, StmtKind};
use crate::walk::lifter::{Lift, Lifter};

/// Methods that change a dict, or either.
const OF_DICTS: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// Methods that change a list alone.
const OF_LISTS: &[&str] = &["append", "extend", "insert", "remove", "reverse", "sort"];

/// What a variable is changed as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Changed {
    Dict,
    List,
}

impl Lifter<'_> {
    /// As what a function changes a variable to which a statement assigns what `json.loads` just made, or the
    /// items of that one by one; `None` where it is something else, or is not changed.
    pub fn changed_document(&self, targets: &[Expr], value: &Expr) -> Option<Changed> {
        let [Expr { kind: ExprKind::Name(name), .. }] = targets else { return None };
        let ExprKind::Call { func, .. } = &value.kind else { return None };
        let def = self.frames.get(self.current)?.def.as_ref()?;
        self.is_of_module(func, "json", "loads").then(|| changes(&def.body, name))?
    }

    /// What `json.loads` made as what may change.
    pub fn changeable(&mut self, value: Abs, changed: Changed) -> Lift<Abs> {
        let name = match changed {
            Changed::Dict => "_changeable_dict",
            Changed::List => "_changeable_list",
        };
        match self.prelude_function("json", name)? {
            Some(function) if self.live => self.call_value(&function, vec![value], Vec::new()),
            _ => Ok(value),
        }
    }
}

/// As what statements change what a variable holds.
fn changes(body: &[Stmt], name: &Name) -> Option<Changed> {
    let is_it = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(found) if found == name);
    let is_item = |target: &Expr| matches!(&target.kind, ExprKind::Subscript { value, .. } if is_it(value));
    let items = |targets: &[Expr]| targets.iter().any(is_item).then_some(Changed::Dict);
    let calls = |expr: &Expr| {
        let mut found = None;
        crate::tree::scope::each_call(expr, &mut |func| {
            if let ExprKind::Attribute { value, name } = &func.kind
                && is_it(value)
            {
                found = found.max(OF_DICTS.contains(&&**name).then_some(Changed::Dict));
                found = found.max(OF_LISTS.contains(&&**name).then_some(Changed::List));
            }
        });
        found
    };
    let one = |stmt: &Stmt| {
        let here = match &stmt.kind {
            StmtKind::Assign { targets, value, .. } => items(targets).max(calls(value)),
            StmtKind::AugAssign { target, value, .. } => items(std::slice::from_ref(target)).max(calls(value)),
            StmtKind::Delete(targets) => items(targets),
            StmtKind::Expr(value)
            | StmtKind::Return(Some(value))
            | StmtKind::Yield { value, .. }
            | StmtKind::If { test: value, .. }
            | StmtKind::While { test: value, .. }
            | StmtKind::For { iter: value, .. } => calls(value),
            _ => None,
        };
        let within = stmt.kind.blocks().into_iter().map(|body| changes(body, name)).max().flatten();
        here.max(within)
    };
    body.iter().map(one).max().flatten()
}
