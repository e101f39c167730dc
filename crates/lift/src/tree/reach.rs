//! Statements of a module that are not lifted: what they may change, by what they mention.
//!
//! Such a statement runs in CPython only, where its calls may change any object that they can
//! reach: what the module's variables hold, if it mentions them or mentions a function that does.
//! Other code has no way to a module that hands it nothing (`sys.modules` and its like aside,
//! which count as reaching everything).

use crate::abs::{Abs, Enclosing};
use crate::bailout::{Bailout, Code};
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::{Module, Name, Stmt, StmtKind};
use crate::tree::footprint::{Footprint, Mention, Use};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::Object;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// The statements that bind a name.
type BoundBy<'a> = HashMap<&'a Name, Vec<&'a Footprint>>;

/// Modules whose functions reach into others, or change what built-in ones do.
const REACHING: &[&str] =
    &["sys", "builtins", "locale", "gc", "inspect", "importlib", "ctypes", "unittest", "mock", "code", "runpy", "site"];

/// Of `sys`, what says something about it.
const OF_SYS: &[&str] = &[
    "version_info",
    "version",
    "platform",
    "path",
    "stdout",
    "stderr",
    "stdin",
    "argv",
    "maxsize",
    "byteorder",
    "executable",
    "exit",
    "float_info",
    "getsizeof",
    "hexversion",
    "implementation",
    "flags",
    "exc_info",
    "getrecursionlimit",
    "maxunicode",
];

/// What of a module a statement may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Nothing but the variables that it assigns.
    Own,
    /// What variables hold.
    Objects,
    /// Which values variables have, or what the library does.
    Everything,
}

/// What a module runs without being lifted.
pub(crate) struct PassedOver<'a> {
    module: &'a Module,
    bound_by: OnceCell<BoundBy<'a>>,
    /// Such statements, with why they are.
    stmts: Vec<(&'a Footprint, Bailout)>,
}

impl<'a> PassedOver<'a> {
    pub fn of(module: &'a Module) -> PassedOver<'a> {
        PassedOver { module, bound_by: OnceCell::new(), stmts: Vec::new() }
    }

    /// The statements that bind each name, gathered when they are first asked for: most modules are lifted whole.
    fn bound_by(&self) -> &BoundBy<'a> {
        self.bound_by.get_or_init(|| {
            let mut bound_by = BoundBy::new();
            for footprint in &self.module.footprints {
                footprint.binds.iter().for_each(|name| bound_by.entry(name).or_default().push(&**footprint));
            }
            bound_by
        })
    }
}

impl Lifter<'_> {
    /// Passes over a statement that is not lifted: what it assigns is not known, nor what it may
    /// have changed. An error where that may be anything.
    pub fn pass_over<'a>(
        &mut self,
        footprint: &'a Footprint,
        reason: Bailout,
        passed: &mut PassedOver<'a>,
    ) -> Lift<()> {
        self.forget_reached(footprint, &reason, passed.bound_by())?;
        let module = self.frames[0].module;
        for name in &footprint.binds {
            self.world.modules[module].failed.insert(name.clone(), reason.clone());
            self.frames[0].vars.insert(name.clone(), Abs::Conflict);
        }
        self.world.unchecked = true;
        // The loop that it may have been in is left.
        self.walked.clear();
        passed.stmts.push((footprint, reason));
        Ok(())
    }

    /// Functions that such statements handed on may have run at any time after.
    pub fn settle(&mut self, passed: &PassedOver<'_>) -> Lift<()> {
        for (footprint, reason) in &passed.stmts {
            self.forget_reached(footprint, reason, passed.bound_by())?;
        }
        Ok(())
    }

    fn forget_reached(&mut self, footprint: &Footprint, reason: &Bailout, bound_by: &BoundBy<'_>) -> Lift<()> {
        match self.reach(footprint, bound_by)? {
            Reach::Own => {}
            Reach::Objects => {
                let changed = &mut self.world.modules[self.frames[0].module].changed;
                for (name, abs) in self.frames[0].vars.iter_mut() {
                    if can_change(abs) {
                        changed.insert(name.clone(), reason.clone());
                        *abs = Abs::Conflict;
                    }
                }
            }
            Reach::Everything => {
                return Err(Bailout::new(Code::ModuleBody, reason.span, reason.detail.clone()).into());
            }
        }
        Ok(())
    }

    /// What a statement of the module that is not lifted may change.
    fn reach(&self, first: &Footprint, bound_by: &BoundBy<'_>) -> Lift<Reach> {
        let (mut todo, mut seen, mut reach) = (vec![first], HashSet::new(), Reach::Own);
        while let Some(footprint) = todo.pop() {
            self.world.budget.take(footprint.mentions.len());
            self.step()?;
            if footprint.far {
                return Ok(Reach::Everything);
            }
            for mention in &footprint.mentions {
                let (of_mention, goes_on) = self.reach_of(mention);
                reach = reach.max(of_mention);
                if reach == Reach::Everything {
                    return Ok(reach);
                }
                if goes_on && seen.insert(&mention.name) {
                    let bound = bound_by.get(&mention.name).into_iter().flatten();
                    for by in bound {
                        if by.imports.iter().any(|module| reaches(module)) {
                            return Ok(Reach::Everything);
                        }
                        if by.of_class && matches!(self.frames[0].vars.get(&mention.name), Some(Abs::Class(_))) {
                            reach = reach.max(Reach::Objects);
                        }
                        todo.push(by);
                    }
                }
            }
        }
        Ok(reach)
    }

    /// What may change by what happens to the value of a variable, and whether what the statements
    /// mention that made it counts too.
    fn reach_of(&self, mention: &Mention) -> (Reach, bool) {
        let is_stored = mention.what == Use::Stored;
        let of_library = if is_stored { Reach::Everything } else { Reach::Own };
        match self.frames[0].vars.get(&mention.name) {
            Some(Abs::Module(module)) => {
                let says = |attribute: &Name| module.as_ref() == "sys" && OF_SYS.contains(&attribute.as_ref());
                let reaching = reaches(module) && !mention.attribute.as_ref().is_some_and(says);
                (if reaching { Reach::Everything } else { of_library }, false)
            }
            Some(Abs::Class(class)) if class.prelude => (of_library, false),
            Some(Abs::Builtin(_) | Abs::ExcClass(_)) => (of_library, false),
            Some(Abs::Class(class)) => {
                let changes = |member: &Member| matches!(member, Member::Value(value) if can_change(value));
                let is_read = mention.what == Use::Read
                    && mention.attribute.is_none()
                    && !ClassObj::ancestry(class)
                        .any(|class| class.own_members().iter().any(|(_, member)| changes(member)));
                (if is_read { Reach::Own } else { Reach::Objects }, true)
            }
            Some(function @ Abs::Func(_)) => {
                (if can_change(function) { Reach::Objects.max(of_library) } else { of_library }, true)
            }
            Some(Abs::Const(constant)) if mention.what == Use::Read && is_flat(constant) => (Reach::Own, false),
            Some(Abs::Conflict) => {
                let failed = self.world.modules[self.frames[0].module].failed.contains_key(&mention.name);
                (if failed { Reach::Own } else { Reach::Objects }, failed)
            }
            Some(other) => (if can_change(other) { Reach::Objects } else { Reach::Own }, false),
            // It may have a value when the function that mentions it runs.
            None => (Reach::Own, true),
        }
    }
}

/// Whether a module's functions reach into others.
fn reaches(module: &str) -> bool {
    REACHING.contains(&module.split('.').next().unwrap_or_default())
}

/// Whether nothing that a container holds can change.
fn is_flat(constant: &Object) -> bool {
    let fixed = |item: &Object| !can_change(&Abs::Const(item.clone()));
    match constant {
        Object::List(list) => list.with(|items| items.iter().all(fixed)),
        Object::Dict(dict) => dict.entries().iter().all(|(_, value)| fixed(value)),
        Object::Set(_) => true,
        other => fixed(other),
    }
}

/// Whether a function keeps variables that hold something that code elsewhere can change.
fn keeps_what_changes(enclosing: &Enclosing) -> bool {
    match enclosing {
        Enclosing::Module | Enclosing::Live(_) => false,
        Enclosing::Ended(captured) => captured.vars.values().any(can_change) || keeps_what_changes(&captured.enclosing),
    }
}

/// Whether a function, or one inside it, assigns variables of those around it.
pub(crate) fn assigns_around(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Nonlocal(_) => true,
        StmtKind::FunctionDef(def) => assigns_around(&def.body),
        kind => kind.blocks().into_iter().any(assigns_around),
    })
}

/// Whether a value is or holds something that code elsewhere can change.
fn can_change(abs: &Abs) -> bool {
    fn object(constant: &Object) -> bool {
        match constant {
            Object::List(_) | Object::Dict(_) => true,
            Object::Set(set) => !set.frozen,
            Object::Tuple(items) => items.iter().any(object),
            _ => false,
        }
    }
    match abs {
        Abs::Const(constant) => object(constant),
        Abs::Tuple(items) => items.iter().any(can_change),
        Abs::Func(closure) => {
            closure.defaults.iter().any(|(_, default)| can_change(default))
                || keeps_what_changes(&closure.enclosing)
                || (!matches!(closure.enclosing, Enclosing::Module) && assigns_around(&closure.def.body))
        }
        Abs::Method(method) => can_change(&method.0),
        // Their attributes.
        Abs::Class(class) => !class.prelude,
        Abs::Instance(_) | Abs::Bound(_) | Abs::Super(_) => true,
        Abs::Table(_) | Abs::OneOf(_) => true,
        // A view shows what its dict has become.
        Abs::Iter(_) => true,
        _ => false,
    }
}
