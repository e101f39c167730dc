//! What classes forbid: attributes that are not in their slots (language reference, section
//! 3.3.2.4), and objects of abstract ones (library reference, module abc).

use crate::abs::Abs;
use crate::bailout::Code;
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::{Expr, ExprKind, FunctionDef, Name};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ExcKind, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What a class forbids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restrictions {
    /// Its `__slots__`, if it has any.
    pub slots: Option<Vec<Name>>,
    /// Whether `abc.ABC` is above it.
    pub is_abc: bool,
    /// The abstract methods that nothing in it or above it defines, sorted.
    pub abstract_methods: BTreeSet<Name>,
}

impl ClassObj {
    /// Whether its objects can have an attribute of that name; those with slots have no others.
    fn may_have(class: &Rc<ClassObj>, name: &str) -> bool {
        ClassObj::ancestry(class)
            .any(|class| class.restrictions.slots.as_ref().is_none_or(|slots| slots.iter().any(|slot| **slot == *name)))
    }

    /// Whether all attributes of its objects are in slots.
    pub fn is_slotted(class: &Rc<ClassObj>) -> bool {
        ClassObj::ancestry(class).all(|class| class.restrictions.slots.is_some())
    }
}

impl Lifter<'_> {
    /// Takes `abc.ABC` and `typing.Generic[…]` out of the bases of a class; whether the first was
    /// among them.
    pub fn plain_bases<'e>(&self, bases: &'e [Expr]) -> (Vec<&'e Expr>, bool) {
        let is_generic = |base: &Expr| match &base.kind {
            ExprKind::Subscript { value, .. } => self.is_of_module(value, "typing", "Generic"),
            _ => false,
        };
        let is_abc = |base: &Expr| self.is_of_module(base, "abc", "ABC");
        let plain = bases.iter().filter(|base| !is_generic(base) && !is_abc(base)).collect();
        (plain, bases.iter().any(is_abc))
    }

    /// The decorators of a method without `abc.abstractmethod`, which is the innermost; whether it
    /// was among them.
    pub fn abstract_method<'e>(&self, def: &'e FunctionDef) -> (&'e [Expr], bool) {
        match def.decorators.split_last() {
            Some((last, rest)) if self.is_of_module(last, "abc", "abstractmethod") => (rest, true),
            _ => (&def.decorators, false),
        }
    }

    /// What a class forbids that defines those members, some of them abstract.
    pub fn restrictions(
        &mut self,
        base: Option<&Rc<ClassObj>>,
        is_abc: bool,
        members: &BTreeMap<Name, Member>,
        mut abstract_methods: BTreeSet<Name>,
    ) -> Lift<Restrictions> {
        if let Some(base) = base {
            let inherited = &base.restrictions.abstract_methods;
            abstract_methods.extend(inherited.iter().filter(|name| !members.contains_key(*name)).cloned());
        }
        let is_abc = is_abc || base.is_some_and(|base| base.restrictions.is_abc);
        let slots = match members.get("__slots__") {
            None => None,
            Some(Member::Value(Abs::Const(slots))) => {
                let text = |object: &Object| match object {
                    Object::Str(name) => Some(Name::from(&**name)),
                    _ => None,
                };
                let names: Option<Vec<Name>> = match slots {
                    Object::Str(_) => text(slots).map(|name| vec![name]),
                    Object::Tuple(items) => items.iter().map(text).collect(),
                    Object::List(list) => list.items().iter().map(text).collect(),
                    _ => None,
                };
                match names {
                    // Another name than is written, the attributes of others, or an error.
                    Some(names) if !names.iter().any(|name| name.starts_with("__") || members.contains_key(name)) => {
                        Some(names)
                    }
                    _ => return self.bail(Code::Statement, "a class with such __slots__"),
                }
            }
            Some(_) => return self.bail(Code::Statement, "a class with such __slots__"),
        };
        Ok(Restrictions { slots, is_abc, abstract_methods })
    }

    /// Refuses to make an object of an abstract class; whether there may be one.
    pub fn refuse_abstract(&mut self, class: &ClassObj) -> Lift<bool> {
        let Restrictions { is_abc: true, abstract_methods, .. } = &class.restrictions else { return Ok(true) };
        if abstract_methods.is_empty() {
            return Ok(true);
        }
        let names: Vec<&str> = abstract_methods.iter().map(|name| &**name).collect();
        let several = if names.len() > 1 { "s" } else { "" };
        let message = format!(
            "Can't instantiate abstract class {} with abstract method{several} {}",
            class.name,
            names.join(", ")
        );
        self.raise_message(ExcKind::TypeError, &message)?;
        Ok(false)
    }

    /// Refuses to set an attribute for which there is no slot.
    pub fn check_slot(&self, class: &Rc<ClassObj>, name: &str) -> Lift<()> {
        if ClassObj::may_have(class, name) {
            return Ok(());
        }
        self.bail(Code::Mutation, format!("attribute {name} is not in the slots of {}", class.name))
    }

    /// Raises where an object has no attribute of that name.
    pub fn missing_attribute(&mut self, class: &Rc<ClassObj>, name: &str) -> Lift<Abs> {
        if crate::objects::enums::is_of_ints(class)
            || self.flags_of(class).is_some()
            || crate::objects::heap::has_any_attribute(class)
        {
            return self
                .bail(Code::Callee, format!("attribute {name} of {}", crate::objects::heap::of_kind(&class.name)));
        }
        if class.exception == Some(ExcKind::SyntaxError) {
            return self.bail(Code::Callee, format!("attribute {name} of a SyntaxError"));
        }
        if ClassObj::is_slotted(class) && ClassObj::may_have(class, name) {
            // CPython's words are others there.
            return self.bail(Code::Callee, format!("the slot {name} may be empty"));
        }
        self.raise_message(ExcKind::AttributeError, &format!("'{}' object has no attribute '{name}'", class.name))
    }
}
