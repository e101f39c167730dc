//! Variables: where a name is looked for, and what an assignment changes.

use crate::abs::{Abs, Enclosing};
use crate::bailout::{Bailout, Code};
use crate::calls::intrinsic::NAMES;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter, Vars};
use exuvia_ir::{ExcKind, Type};

impl Lifter<'_> {
    /// Reads a variable.
    /// The variable that a name means here, and whether it is the function's own; `None` for
    /// a global or a built-in.
    pub fn variable(&self, name: &Name) -> Option<(Abs, bool)> {
        let frame = self.frames.get(self.current)?;
        if frame.binds(name) {
            return Some((frame.vars.get(name).cloned().unwrap_or(Abs::Unbound), true));
        }
        Some((self.read_enclosing(name, &frame.enclosing)?, false))
    }

    /// What a name means here, as it is; `None` for a built-in or a name that nothing binds.
    pub fn lookup(&self, name: &Name) -> Option<Abs> {
        match self.variable(name) {
            Some((found, _)) => Some(found),
            None => self.globals(self.frames.get(self.current)?.module).get(name).cloned(),
        }
    }

    pub fn read(&mut self, name: &Name) -> Lift<Abs> {
        let Some(frame) = self.frames.get(self.current) else { return self.bail(Code::ModuleBody, "no frame") };
        let Some((found, local)) = self.variable(name) else { return self.read_global(name, frame.module) };
        match found {
            // The body of a class sees the module's variables behind its own.
            Abs::Unbound if local && frame.class_body => self.read_global(name, frame.module),
            Abs::Unbound => {
                let (kind, message) = unbound(name, local);
                self.raise_message(kind, &message)
            }
            Abs::Conflict => match self.world.modules[frame.module].failed.get(name).filter(|_| self.module_mode) {
                Some(reason) => Err(reason.clone().into()),
                None => self.bail(Code::Join, format!("variable {name} holds values of unrelated kinds on two paths")),
            },
            Abs::Dyn(value) if self.b.function.ty(value).alternatives().contains(&Type::Unbound) => {
                let (kind, message) = unbound(name, local);
                self.dispatch(value, &mut |me, narrowed| match narrowed {
                    Abs::Unbound => me.raise_message(kind, &message),
                    other => Ok(other),
                })
            }
            found => Ok(self.seen(found)),
        }
    }

    pub fn read_enclosing(&self, name: &Name, enclosing: &Enclosing) -> Option<Abs> {
        match enclosing {
            Enclosing::Module => None,
            Enclosing::Live(depth) => {
                let frame = self.frames.get(*depth)?;
                if frame.binds(name) {
                    return Some(frame.vars.get(name).cloned().unwrap_or(Abs::Unbound));
                }
                self.read_enclosing(name, &frame.enclosing)
            }
            Enclosing::Ended(captured) => match captured.vars.get(name) {
                Some(found) => Some(crate::walk::leave::rebound(found, captured, &self.world.budget)),
                None => self.read_enclosing(name, &captured.enclosing),
            },
        }
    }

    /// What a module has defined so far.
    fn globals(&self, module: usize) -> &Vars {
        match self.frames.first() {
            Some(frame) if self.module_mode && frame.module == module => &frame.vars,
            _ => &self.world.modules[module].globals,
        }
    }

    fn read_global(&mut self, name: &Name, module: usize) -> Lift<Abs> {
        let own = self.globals(module).get(name);
        // Behind a variable that was deleted stands the built-in of its name.
        if let Some(found) = own.filter(|found| !matches!(found, Abs::Unbound)) {
            return match found {
                Abs::Conflict => match self.world.modules[module].failed.get(name) {
                    Some(reason) => Err(reason.clone().into()),
                    None => match self.world.modules[module].changed.get(name).cloned() {
                        Some(by) => {
                            let detail = format!("a statement that is not lifted may change {name}: {}", by.detail);
                            Err(Bailout::new(Code::ModuleBody, by.span, detail).into())
                        }
                        None => self.bail(Code::ModuleBody, format!("the global {name} is not constant")),
                    },
                },
                found => Ok(found.clone()),
            };
        }
        if self.sees_intrinsics(module)
            && let Some(found) = self.read_intrinsic(name)?
        {
            return Ok(found);
        }
        match crate::tree::names::builtin(name) {
            Some(found) => Ok(found),
            // A module's name is that of the SQL function.
            None if &**name == "__name__" && !self.sees_intrinsics(module) => Ok(Abs::str(&self.world.name)),
            None if crate::tree::names::is_python_builtin(name) => {
                self.bail(Code::Callee, format!("built-in {name} is not lifted"))
            }
            None => self.raise_message(ExcKind::NameError, &format!("name '{name}' is not defined")),
        }
    }

    /// A name that only modules of the prelude see: an exception class that needs an import elsewhere, an
    /// intrinsic, what these modules share.
    fn read_intrinsic(&mut self, name: &Name) -> Lift<Option<Abs>> {
        if let Some(kind) = ExcKind::from_name(name) {
            return Ok(Some(Abs::ExcClass(kind)));
        }
        if !name.starts_with('_') {
            return Ok(None);
        }
        if NAMES.contains(&&**name) {
            return Ok(Some(Abs::Builtin(name.clone())));
        }
        self.prelude_function("builtins", name)
    }

    /// Assigns to a variable where it is bound: `:=` inside a comprehension in the function around it,
    /// what a `nonlocal` names in one further out.
    pub fn assign_around(&mut self, target: &Name, value: Abs) -> Lift<()> {
        if &**target == crate::tree::footprint::BUILTINS {
            return self.bail(Code::ModuleBody, "__builtins__ is assigned");
        }
        self.assign_from(self.current, target, value)
    }

    /// Assigns to a variable of a frame, or of the nearest around it that binds the name.
    pub fn assign_from(&mut self, mut depth: usize, target: &Name, value: Abs) -> Lift<()> {
        while !self.frames[depth].binds(target) {
            match self.frames[depth].enclosing {
                Enclosing::Live(outer) => depth = outer,
                Enclosing::Module => break,
                Enclosing::Ended(_) => {
                    return self.bail(Code::StaticValue, format!("{target} of a function that has returned changes"));
                }
            }
        }
        self.frames[depth].vars.insert(target.clone(), value);
        Ok(())
    }
}

/// What CPython says of a variable without a value.
fn unbound(name: &Name, local: bool) -> (ExcKind, String) {
    if local {
        let message = format!("cannot access local variable '{name}' where it is not associated with a value");
        return (ExcKind::UnboundLocalError, message);
    }
    let message =
        format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope");
    (ExcKind::NameError, message)
}
