//! Functions defined beside each other, of which one recurses.
//!
//! ```python
//! def parse(text):
//!     at = 0
//!     def term():
//!         nonlocal at
//!         …expr()…
//!     def expr():
//!         …term()…
//!     return expr()
//! ```
//!
//! Where `expr` becomes an IR function of its own (`specialise.rs`), `parse` is not around it. What it and
//! the functions that it can reach read of the variables of `parse` is passed to it, what they assign to is
//! returned behind its result, and within it one more frame holds these variables and functions.

use crate::abs::{Abs, Closure, Enclosing};
use crate::tree::ast::{FunctionDef, Name, Stmt, StmtKind};
use crate::tree::scope::Mention;
use crate::walk::lifter::{Frame, Lifter, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

const DEFAULT: &str = ".default.";
const FUNCTION: &str = ".function.";

/// A function with those beside it that it can reach.
pub(crate) struct Together {
    /// The variables that hold one of them.
    pub functions: BTreeMap<Name, Rc<Closure>>,
    /// What else they read of the variables around them.
    pub free: BTreeMap<Name, (Mention, Abs)>,
    /// The variables around them to which they assign.
    pub assigned: Vec<Name>,
}

impl Lifter<'_> {
    /// What a function and those beside it see.
    pub fn together(&self, closure: &Closure) -> Together {
        let mut found = Together { functions: BTreeMap::new(), free: BTreeMap::new(), assigned: Vec::new() };
        if matches!(closure.enclosing, Enclosing::Module) {
            return found;
        }
        let mut assigned = BTreeSet::new();
        let mut visited = vec![Arc::clone(&closure.def)];
        let mut at = 0;
        while let Some(def) = visited.get(at).cloned() {
            at += 1;
            assigned_around(&def, &mut assigned);
            let one = Closure { def, defaults: Vec::new(), enclosing: closure.enclosing.clone(), ..*closure };
            for (name, (mention, value)) in self.all_around(&one) {
                match value {
                    Abs::Func(other) if is_beside(&other, closure) => {
                        if !visited.iter().any(|def| Arc::ptr_eq(def, &other.def)) {
                            visited.push(Arc::clone(&other.def));
                        }
                        found.functions.insert(name, other);
                    }
                    value => {
                        let seen = found.free.entry(name).or_insert((Mention::Perhaps, value));
                        if matches!(mention, Mention::Read) {
                            seen.0 = mention;
                        }
                    }
                }
            }
        }
        for (name, function) in &found.functions {
            for (param, value) in &function.defaults {
                found.free.insert(default_of(name, param), (Mention::Read, value.clone()));
            }
        }
        found.assigned = assigned.into_iter().collect();
        found
    }
}

impl Together {
    /// The frame around a function that recurses, which takes its variables out of what is passed; `None`
    /// for a function of the module.
    pub fn frame(&self, closure: &Closure, passed: &mut BTreeMap<Name, Abs>, path: u64) -> Option<Frame> {
        if matches!(closure.enclosing, Enclosing::Module) {
            return None;
        }
        let mut vars: BTreeMap<Name, Abs> =
            passed.extract_if(.., |name, _| !closure.def.locals.contains(name)).collect();
        for name in self.free.keys() {
            if let Some(value) = vars.remove(&passed_as(closure, name)) {
                vars.insert(name.clone(), value);
            }
        }
        let made: Vec<(Name, Abs)> = self
            .functions
            .iter()
            .map(|(name, function)| {
                let default = |(param, _): &(Name, Abs)| {
                    Some((param.clone(), vars.get(&passed_as(closure, &default_of(name, param)))?.clone()))
                };
                let defaults = function.defaults.iter().filter_map(default).collect();
                let def = Arc::clone(&function.def);
                (
                    name.clone(),
                    Abs::Func(Rc::new(Closure { def, defaults, enclosing: Enclosing::Live(0), ..**function })),
                )
            })
            .collect();
        vars.retain(|name, _| !is_function(name) && !is_default(name));
        vars.extend(made);
        let scope = Scope {
            locals: vars.keys().cloned().collect(),
            def: None,
            enclosing: Enclosing::Module,
            module: closure.module,
            path,
            class_body: false,
            owner: None,
        };
        Some(Frame::new(vars.into(), scope))
    }
}

/// The name under which a default of a function beside another is passed to that.
fn default_of(function: &Name, param: &Name) -> Name {
    format!("{DEFAULT}{function}.{param}").into()
}

/// Whether a default is passed under a name.
pub(crate) fn is_default(name: &Name) -> bool {
    name.starts_with(DEFAULT)
}

/// The name under which a function beside another is a part of what that is specialised by.
pub(crate) fn function_as(name: &Name) -> Name {
    format!("{FUNCTION}{name}").into()
}

/// Whether that is the name of such a part.
pub(crate) fn is_function(name: &Name) -> bool {
    name.starts_with(FUNCTION)
}

/// The name under which a free variable is passed to a function, which may have a variable of that name.
pub(crate) fn passed_as(closure: &Closure, name: &Name) -> Name {
    if closure.def.locals.contains(name) { format!(".around.{name}").into() } else { name.clone() }
}

/// Whether two functions see the same variables.
fn is_beside(one: &Closure, other: &Closure) -> bool {
    match (&one.enclosing, &other.enclosing) {
        (Enclosing::Live(one), Enclosing::Live(other)) => one == other,
        (Enclosing::Ended(one), Enclosing::Ended(other)) => Rc::ptr_eq(one, other),
        _ => false,
    }
}

/// The variables around a function to which it assigns, or a function within it.
fn assigned_around(def: &FunctionDef, assigned: &mut BTreeSet<Name>) {
    fn within(body: &[Stmt], assigned: &mut BTreeSet<Name>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Nonlocal(names) => assigned.extend(names.iter().cloned()),
                StmtKind::FunctionDef(def) => assigned_around(def, assigned),
                kind => kind.blocks().into_iter().for_each(|block| within(block, assigned)),
            }
        }
    }
    let mut own = BTreeSet::new();
    within(&def.body, &mut own);
    assigned.extend(own.into_iter().filter(|name| !def.locals.contains(name)));
}
