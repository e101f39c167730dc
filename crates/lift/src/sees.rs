//! What a function that is passed to another can reach: a key by which a list is sorted may read
//! that list, which is empty meanwhile.

use crate::abs::{Abs, Closure, Enclosing};
use crate::ast::Name;
use crate::heap::cells;
use crate::lifter::Lifter;
use crate::scope::Mention;
use exuvia_ir::{Opcode, Type, Value};
use exuvia_ops::def::Effect;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deep objects are looked into for a container.
const DEEPEST: usize = 6;

impl Lifter<'_> {
    /// The variables of the functions around one that it mentions, and what they hold.
    pub fn around(&self, closure: &Closure) -> BTreeMap<Name, (Mention, Abs)> {
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
                    && let Some(mention) = crate::scope::mentions(&closure.def, name)
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
        match self.seen(container.clone()) {
            container @ Abs::Instance(_) => self.reaches(function, &container, DEEPEST),
            Abs::Dyn(value) if self.b.function.ty(value).holds_list() => {
                self.reaches(function, &Abs::Dyn(value), DEEPEST)
            }
            _ => false,
        }
    }

    /// Whether a value is a list as an instruction makes it, which no other value was before.
    fn is_made_here(&self, value: Value) -> bool {
        let mut insts = self.b.function.blocks.iter().flat_map(|block| &block.insts);
        insts.find(|inst| inst.result == Some(value)).is_some_and(|inst| match &inst.op {
            Opcode::List => true,
            Opcode::Op(name) => exuvia_ops::by_name(name).is_some_and(|def| def.effect == Effect::Alloc),
            _ => false,
        })
    }

    fn reaches(&self, from: &Abs, container: &Abs, deep: usize) -> bool {
        let Some(deeper) = deep.checked_sub(1) else { return true };
        match (from, container) {
            (Abs::Func(closure), _) => {
                let is_itself =
                    |value: &Abs| matches!(value, Abs::Func(function) if Arc::ptr_eq(&function.def, &closure.def));
                let around = self.around(closure);
                let free = around.values().map(|(_, value)| value).filter(|value| !is_itself(value));
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
