//! Module bodies: run once, while lifting, on constants. What they define is the static
//! world that functions see.

use crate::abs::{Abs, Enclosing};
use crate::bailout::{Bailout, Code};
use crate::tree::ast::{Module, Stmt};
use crate::tree::footprint::Footprint;
use crate::tree::reach::PassedOver;
use crate::walk::lifter::{Frame, Lift, Lifter, Returns, Scope, Stop, Vars};
use crate::world::{ModuleScope, World};
use exuvia_ir::{Builder, Span, Terminator, Type};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Loads a module of the prelude.
pub(crate) fn load_prelude(world: &mut World, name: &'static str) -> Lift<usize> {
    type Parse = Box<dyn FnOnce() -> Option<Module> + Send>;
    // Each is parsed when it is first used: a function reads few of them.
    static PARSED: LazyLock<HashMap<&'static str, LazyLock<Option<Module>, Parse>>> = LazyLock::new(|| {
        let later = |(name, source): (_, &'static str)| {
            let parse: Parse = Box::new(move || Some(crate::tree::parse::parse_source(source, &[]).ok()?.module));
            (name, LazyLock::new(parse))
        };
        exuvia_ops::prelude::modules().map(later).collect()
    });
    match PARSED.get(name).and_then(|module| module.as_ref()) {
        Some(module) => run(world, module, name),
        None => Err(Bailout::new(Code::Import, Span::default(), format!("prelude module {name}")).into()),
    }
}

/// Runs a module body; returns the index of the module, which is the same in each attempt: classes that one
/// attempt made are met in the next, where facts have them.
pub(crate) fn run(world: &mut World, module: &Module, name: &str) -> Lift<usize> {
    let body = &module.body;
    let index = match world.numbers.get(name) {
        Some(index) => *index,
        None => {
            world.modules.push(ModuleScope::default());
            world.numbers.insert(name.to_string(), world.modules.len() - 1);
            world.modules.len() - 1
        }
    };
    world.modules[index] = ModuleScope::default();
    // What an attempt made that begins again.
    let is_made = |abs: &Abs| matches!(abs, Abs::Instance(object) if object.module == Some(index));
    world.made_by_modules.values_mut().for_each(|objects| objects.retain(|object| !is_made(object)));
    let locals = crate::tree::scope::locals(&crate::tree::ast::Params::default(), body);
    let scope = Scope {
        def: None,
        locals: locals.into(),
        enclosing: Enclosing::Module,
        module: index,
        path: 0,
        class_body: false,
        owner: None,
    };
    let frame = Frame::new(Vars::default(), scope);
    let b = Builder::new("<module>", &[], Type::None);
    let mut lifter = Lifter::new(world, b, frame, Returns::typed(Type::None));
    lifter.module_mode = true;
    let mut passed = PassedOver::of(module);
    for (stmt, footprint) in body.iter().zip(&module.footprints) {
        lifter.top_level(stmt, footprint, &mut passed)?;
    }
    lifter.settle(&passed)?;
    let globals = std::mem::take(&mut lifter.frames[0].vars);
    lifter.world.modules[index].globals = globals;
    Ok(index)
}

impl Lifter<'_> {
    /// Why what was lifted leaves to CPython in one of the blocks from a number on, or the one before, where it does
    /// not raise.
    fn left_from(&self, blocks: usize) -> Option<&'static str> {
        let ends = || self.b.function.blocks.iter().skip(blocks.saturating_sub(1)).map(|block| &block.term);
        if ends().any(|end| matches!(end, Terminator::Raise(..) | Terminator::Reraise(..))) {
            return None;
        }
        ends().find_map(|end| match end {
            Terminator::Bailout(why, _) => Some(*why),
            _ => None,
        })
    }

    fn top_level<'a>(&mut self, stmt: &Stmt, footprint: &'a Footprint, passed: &mut PassedOver<'a>) -> Lift<()> {
        let (values, blocks) = (self.b.function.values.len(), self.b.function.blocks.len());
        if let Some(reason) = self.world.too_long.get(&(self.frames[0].module, stmt.span)) {
            // An attempt of before has found that out.
            let reason = reason.clone();
            return self.pass_over(footprint, reason, passed);
        }
        let limit = self.world.budget.begin_statement();
        let result = self.stmts(std::slice::from_ref(stmt));
        if self.world.budget.end_statement(limit)
            && let Err(Stop::Bailout(reason)) = &result
        {
            self.world.too_long.insert((self.frames[0].module, stmt.span), reason.clone());
        }
        let reason = match result {
            // Of all that is lifted, not of this statement.
            Err(Stop::Bailout(reason))
                if reason.code == Code::Budget && self.world.budget.steps() > crate::MAX_STEPS =>
            {
                return Err(reason.into());
            }
            Ok(())
                if !self.live
                    && let Some(why) = self.left_from(blocks) =>
            {
                Bailout::new(Code::ModuleBody, stmt.span, why)
            }
            Ok(()) if !self.live => {
                return Err(Bailout::new(Code::ModuleBody, stmt.span, "the top level raises an exception").into());
            }
            // Nothing but constants, of which a module may have many.
            Ok(()) if self.b.function.values.len() == values => return Ok(()),
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
        self.pass_over(footprint, reason, passed)
    }
}
