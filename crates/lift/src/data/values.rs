//! Objects that are values: those of `Decimal`, which nothing changes and whose identity nobody may ask
//! for.
//!
//! Law: a copy of such an object is as good as the object. So one that the module made, or one of several
//! (`choice.rs`), becomes an object of the function wherever it meets one: a variable may hold `ZERO` on
//! one path and a sum on the next, or begin a loop as a constant. `is` between two of them is not lifted.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::objects::class::ClassObj;
use crate::objects::heap::cells;
use crate::objects::merge::Arm;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter};
use std::rc::Rc;

/// Whether the objects of a class are values.
pub(crate) fn is_of_values(class: &ClassObj) -> bool {
    class.prelude && matches!(&*class.name, "Decimal" | "datetime" | "timezone")
}

impl Lifter<'_> {
    /// The class of an object that is a value and of the module, or of all of several.
    fn made_value(&self, abs: &Abs) -> Option<Rc<ClassObj>> {
        self.class_of_module(abs).filter(|class| is_of_values(class) && !self.module_mode)
    }

    /// Whether a value is an object that is a value, whoever made it, and not a run-time value.
    pub fn is_value_object(&self, abs: &Abs) -> bool {
        let is_value = |abs: &Abs| matches!(abs, Abs::Instance(object) if is_of_values(&object.class));
        self.made_value(abs).is_some() || is_value(abs) && self.is_static_object(abs)
    }

    /// An object of the function in the place of one that the module made, also within a tuple; `None`
    /// where there is none.
    pub fn copied_value(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        if let Abs::Tuple(items) = abs {
            let new = items.iter().map(|item| self.copied_value(item)).collect::<Lift<Vec<_>>>()?;
            let mut new = new.into_iter();
            return Ok(Abs::renewed(items, |_| new.next().flatten()));
        }
        let Some(class) = self.made_value(abs) else { return Ok(None) };
        let first = match abs {
            Abs::OneOf(choice) => choice.of.first().map(|(_, item)| item),
            one => Some(one),
        };
        let Some(Abs::Instance(object)) = first else { return Ok(None) };
        let Some(module) = object.module.and_then(|module| self.world.modules.get(module)) else { return Ok(None) };
        let own = object.own().len();
        let names: Vec<Name> =
            cells(&module.globals, object).filter_map(|(name, _)| name.get(own + 1..)).map(Name::from).collect();
        let mut held = Vec::new();
        for name in names {
            let value = match abs {
                Abs::OneOf(choice) => self.attribute_of_choice(&Rc::clone(choice), &name)?,
                _ => self.own_attribute(&Rc::clone(object), &name)?.unwrap_or(Abs::Unbound),
            };
            held.push((name, value));
        }
        let new = self.new_instance(&class);
        if let (Abs::Instance(object), Some(frame)) = (&new, self.frames.first_mut()) {
            for (name, value) in held {
                frame.vars.insert(object.cell(&name), value);
            }
        }
        Ok(Some(new))
    }

    /// Whether a value is an object of the module that nothing changes: a value, or a member of an
    /// enumeration.
    pub fn is_constant_object(&self, abs: &Abs) -> bool {
        let is_constant = |class: &ClassObj| is_of_values(class) || self.enum_of(class).is_some();
        matches!(abs, Abs::Instance(object) if object.module.is_some() && is_constant(&object.class))
    }

    /// Makes the value that a variable holds the function's own.
    pub fn own_value(&mut self, depth: usize, name: &Name) -> Lift<()> {
        let held = self.frames.get(depth).and_then(|frame| frame.vars.get(name)).cloned();
        if let Some(old) = held.filter(|_| self.live)
            && let Some(new) = self.copied_value(&old)?
        {
            self.frames[depth].vars.insert(name.clone(), new);
        }
        Ok(())
    }

    /// Refuses `is` between two values, but where both sides are known to be one.
    pub fn refuse_identity(&mut self, left: &Abs, right: &Abs) -> Lift<()> {
        if self.may_be_value(left) && self.may_be_value(right) && !left.same(right) {
            return self.bail(Code::Operands, "the identity of a value");
        }
        Ok(())
    }

    fn may_be_value(&self, abs: &Abs) -> bool {
        match abs {
            Abs::Instance(object) => is_of_values(&object.class),
            Abs::OneOf(choice) => choice.of.iter().any(|(_, item)| self.may_be_value(item)),
            Abs::Dyn(value) => self
                .b
                .function
                .ty(*value)
                .alternatives()
                .iter()
                .any(|ty| self.shape_of_type(ty).is_some_and(|shape| is_of_values(&shape.class))),
            _ => false,
        }
    }

    /// Gives an object to the function where a variable holds the module's on one of the arms and something
    /// else on another; whether there was one.
    pub fn copy_values(&mut self, arms: &mut [Arm]) -> Lift<bool> {
        let mut some = false;
        // Paths meet often, and most modules have no Decimals.
        if !self.world.prelude.contains_key("decimal") {
            return Ok(some);
        }
        for slot in self.slots(arms) {
            if !slot.column(arms).is_some_and(|column| self.meets_made_value(&column)) {
                continue;
            }
            for arm in arms.iter_mut() {
                let Some(old) = slot.of(arm).cloned() else { continue };
                self.enter(arm.0.clone());
                let new = match self.copied_value(&old)? {
                    None if self.is_value_or_none(&old) => Some(Abs::Dyn(self.value(&old)?)),
                    copied => copied,
                };
                if let (Some(new), Some(state)) = (new, self.state()) {
                    arm.0 = state;
                    slot.set(arm, new);
                    some = true;
                }
            }
        }
        Ok(some)
    }

    fn meets_made_value(&self, column: &[&Abs]) -> bool {
        if column.iter().all(|abs| abs.same(column[0])) {
            return false;
        }
        let tuples: Option<Vec<Vec<Abs>>> = column.iter().map(|abs| abs.tuple_items()).collect();
        if let Some(tuples) = tuples {
            let len = tuples[0].len();
            return tuples.iter().all(|items| items.len() == len)
                && (0..len).any(|at| {
                    let column: Vec<&Abs> = tuples.iter().map(|items| &items[at]).collect();
                    self.meets_made_value(&column)
                });
        }
        column.iter().any(|abs| self.made_value(abs).is_some() || self.is_value_or_none(abs))
            && self.joined_choice(&column.iter().map(|abs| (*abs).clone()).collect::<Vec<_>>()).is_none()
    }

    /// Whether it is one of several values of the module, or None.
    fn is_value_or_none(&self, abs: &Abs) -> bool {
        let Abs::OneOf(choice) = abs else { return false };
        let (nones, others): (Vec<_>, Vec<_>) = choice.of.iter().partition(|(_, item)| item.same(&Abs::NONE));
        !nones.is_empty() && !others.is_empty() && others.iter().all(|(_, item)| self.made_value(item).is_some())
    }
}
