//! Lists that are made empty and then filled: how long nobody looks at them.
//!
//! ```python
//! found = []
//! for word in words:
//!     if word:
//!         found.append(len(word))
//! return found
//! ```
//!
//! Between `found = []` and `return` nothing is done with the list but appending to it, so that what it holds can be
//! left open until the first element is known: nothing was lifted that depends on it.

use crate::tree::ast::{Expr, ExprKind, Name, Stmt, StmtKind};
use crate::tree::scope::{is_left_alone_by, is_left_alone_in};

/// Notes it of each list that a block makes and gives a variable for which `is_plain` holds: one of the function's
/// own that nothing within reads at another time.
pub(crate) fn mark(body: &mut [Stmt], is_plain: &dyn Fn(&Name) -> bool) {
    for at in 0..body.len() {
        let (before, behind) = body.split_at_mut(at + 1);
        match &mut before[at].kind {
            StmtKind::Assign { targets, value, appending } => {
                let [target] = &targets[..] else { continue };
                let mut made = Vec::new();
                lists_made(target, value, &mut made);
                for name in made.into_iter().filter(|name| is_plain(name)) {
                    let statements = behind.iter().take_while(|stmt| only_appends(stmt, name)).count();
                    appending.extend((statements > 0).then(|| (name.clone(), statements)));
                }
            }
            StmtKind::For { body, orelse, .. }
            | StmtKind::While { body, orelse, .. }
            | StmtKind::If { body, orelse, .. } => {
                mark(body, is_plain);
                mark(orelse, is_plain);
            }
            // Handlers look at the list in the middle of a block.
            _ => {}
        }
    }
}

/// The variables that get empty lists of their own: `a = []`, and `a, n = [], 0`.
fn lists_made<'e>(target: &'e Expr, value: &Expr, made: &mut Vec<&'e Name>) {
    match (&target.kind, &value.kind) {
        (ExprKind::Name(name), ExprKind::List(items)) if items.is_empty() => made.push(name),
        (ExprKind::Tuple(targets), ExprKind::Tuple(values))
            if targets.len() == values.len()
                && targets.iter().all(|target| matches!(target.kind, ExprKind::Name(_))) =>
        {
            targets.iter().zip(values).for_each(|(target, value)| lists_made(target, value, made));
        }
        _ => {}
    }
}

/// Whether a statement does nothing with the list in a variable but append to it.
fn only_appends(stmt: &Stmt, name: &Name) -> bool {
    let head = match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Call { func, args, keywords }, .. }) if is_append(func, name) => {
            return keywords.is_empty() && args.iter().all(|arg| is_left_alone_by(arg, name));
        }
        StmtKind::For { target, iter, .. } => is_left_alone_by(target, name) && is_left_alone_by(iter, name),
        StmtKind::While { test, .. } | StmtKind::If { test, .. } => is_left_alone_by(test, name),
        StmtKind::Try { handlers, .. } => {
            let classes = || handlers.iter().filter_map(|handler| handler.class.as_ref());
            handlers.iter().all(|handler| handler.name.as_ref() != Some(name))
                && classes().all(|class| is_left_alone_by(class, name))
        }
        _ => return is_left_alone_in(stmt, name),
    };
    head && stmt.kind.blocks().into_iter().flatten().all(|stmt| only_appends(stmt, name))
}

fn is_append(func: &Expr, name: &Name) -> bool {
    let ExprKind::Attribute { value, name: method } = &func.kind else { return false };
    &**method == "append" && matches!(&value.kind, ExprKind::Name(list) if list == name)
}
