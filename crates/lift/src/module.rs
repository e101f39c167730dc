//! Module bodies: run once, while lifting, on constants. What they define is the static
//! world that functions see.

use crate::abs::{Abs, Enclosing};
use crate::ast::{Module, Name, Stmt, StmtKind};
use crate::bailout::{Bailout, Code};
use crate::lifter::{Frame, Lift, Lifter, Returns, Stop, Vars};
use crate::world::{ModuleScope, World};
use exuvia_ir::{Builder, Object, Span, Type};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Loads a module of the prelude.
pub(crate) fn load_prelude(world: &mut World, name: &'static str) -> Lift<usize> {
    static PARSED: OnceLock<HashMap<&'static str, Arc<Module>>> = OnceLock::new();
    let parsed = PARSED.get_or_init(|| {
        let parse = |(name, source): &(&'static str, &str)| match crate::parse::parse_source(source, &[]) {
            Ok(parsed) => Some((*name, Arc::new(parsed.module))),
            Err(_) => None,
        };
        exuvia_ops::prelude::MODULES.iter().filter_map(parse).collect()
    });
    match parsed.get(name) {
        Some(module) => run(world, module),
        None => Err(Bailout::new(Code::Import, Span::default(), format!("prelude module {name}")).into()),
    }
}

/// Runs a module body; returns the index of the module.
pub(crate) fn run(world: &mut World, module: &Module) -> Lift<usize> {
    let body = &module.body;
    let index = world.modules.len();
    world.modules.push(ModuleScope::default());
    let locals = crate::scope::locals(&crate::ast::Params::default(), body);
    let frame = Frame {
        vars: Vars::default(),
        def: None,
        locals: locals.into(),
        enclosing: Enclosing::Module,
        module: index,
        path: 0,
        class_body: false,
        owner: None,
    };
    let b = Builder::new("<module>", &[], Type::None);
    let mut lifter = Lifter::new(world, b, frame, Returns::typed(Type::None));
    lifter.module_mode = true;
    for stmt in body {
        lifter.top_level(stmt, module.assigns_from_afar)?;
    }
    let globals = std::mem::take(&mut lifter.frames[0].vars);
    lifter.world.modules[index].globals = globals;
    Ok(index)
}

impl Lifter<'_> {
    fn top_level(&mut self, stmt: &Stmt, assigns_from_afar: bool) -> Lift<()> {
        let result = self.stmts(std::slice::from_ref(stmt));
        let reason = match result {
            // Of all that is lifted, not of this statement.
            Err(Stop::Bailout(reason))
                if reason.code == Code::Budget && self.world.budget.steps() > crate::MAX_STEPS =>
            {
                return Err(reason.into());
            }
            Ok(()) if !self.live => Bailout::new(Code::ModuleBody, stmt.span, "the top level raises an exception"),
            Ok(()) => {
                // What is not constant is an error only where it is read.
                for abs in self.frames[0].vars.values_mut() {
                    if matches!(abs, Abs::Dyn(_)) {
                        *abs = Abs::Conflict;
                    }
                }
                return Ok(());
            }
            Err(Stop::Bailout(reason)) => reason,
            Err(Stop::Restart) => Bailout::new(Code::ModuleBody, stmt.span, "a list at the top level"),
        };
        // An assignment or a class that is not lifted leaves the other names as they were, but what it
        // calls may change any object.
        if assigns_from_afar {
            // What it calls may have assigned any variable.
            return Err(Bailout::new(Code::ModuleBody, reason.span, reason.detail).into());
        }
        let mut names: Vec<Name> = Vec::new();
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|target| crate::scope::target_names(target, &mut names));
                crate::scope::walrus_names(value, &mut names);
            }
            StmtKind::ClassDef(def) => names.push(def.name.clone()),
            _ => return Err(Bailout::new(Code::ModuleBody, reason.span, reason.detail).into()),
        }
        self.frames.truncate(1);
        self.contexts.truncate(1);
        self.live = true;
        // It may have been given up within functions that it called.
        self.current = 0;
        self.unfolding.clear();
        self.handling.clear();
        self.span_locked = false;
        self.augmented = false;
        self.none_alternative = false;
        self.b.block = self.b.function.new_block();
        let module = self.frames[0].module;
        for name in names {
            let failed = &mut self.world.modules[module].failed;
            failed.insert(name.clone(), reason.clone());
            self.frames[0].vars.insert(name, Abs::Conflict);
        }
        for abs in self.frames[0].vars.values_mut() {
            if can_change(abs) {
                *abs = Abs::Conflict;
            }
        }
        self.world.unchecked = true;
        Ok(())
    }
}

/// Whether a function keeps variables that hold something that code elsewhere can change.
fn keeps_what_changes(enclosing: &Enclosing) -> bool {
    match enclosing {
        Enclosing::Module | Enclosing::Live(_) => false,
        Enclosing::Ended(captured) => captured.vars.values().any(can_change) || keeps_what_changes(&captured.enclosing),
    }
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
            closure.defaults.iter().any(|(_, default)| can_change(default)) || keeps_what_changes(&closure.enclosing)
        }
        Abs::Method(method) => can_change(&method.0),
        // Their attributes.
        Abs::Class(_) | Abs::Instance(_) | Abs::Bound(_) | Abs::Super(_) => true,
        Abs::Table(_) | Abs::OneOf(_) => true,
        // A view shows what its dict has become.
        Abs::Iter(_) => true,
        _ => false,
    }
}
