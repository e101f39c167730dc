//! Objects of the module that become run-time values, members of enumerations among them.
//!
//! What the body of a module has made is known while functions are lifted, and none of them changes it.
//! So one of several such objects is a choice (`choice.rs`), and where a list, a dict or an object at
//! run time comes to hold one, or a function that recurses takes it, it is a record of its position
//! among the objects of its class that the module made. Taken out again, it is one of those.
//!
//! Law: two such objects are one where their positions are equal.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::choice::{Choice, MOST, numbered};
use crate::objects::class::ClassObj;
use crate::objects::escape::Field;
use crate::objects::merge::Arm;
use crate::tree::ast::Name;
use crate::walk::describe::describe;
use crate::walk::lifter::{Lift, Lifter, State};
use exuvia_ir::{Class, Opcode, Type, Value};
use std::rc::Rc;
use std::sync::Arc;

/// The field of the record.
const POSITION: &str = ".position";

impl Lifter<'_> {
    /// Looks at the objects of a class that the module made; `None` where there are none, or too many.
    fn look_at_made<T>(&self, class: &ClassObj, look: impl FnOnce(&[Abs]) -> T) -> Option<T> {
        let few = |objects: &[Abs]| (objects.len() <= MOST).then(|| look(objects));
        match self.enum_of(class) {
            Some(members) => few(members.all().iterated()),
            None => few(self.world.made_by_modules.get(&class.key)?),
        }
    }

    /// Whether objects of a class that the module made can become run-time values.
    fn has_positions(&self, class: &ClassObj) -> bool {
        !self.module_mode && self.look_at_made(class, |_| ()).is_some()
    }

    /// Whether objects of a class that the module made are equal to themselves only, as members of
    /// enumerations are.
    fn has_identities(&self, class: &Rc<ClassObj>) -> bool {
        self.enum_of(class).is_some()
            && !crate::objects::enums::is_of_ints(class)
            && !crate::objects::enums::is_of_texts(class)
            || class.lacks_equality()
    }

    /// The class of an object of the module, or of all of several.
    pub fn class_of_module(&self, abs: &Abs) -> Option<Rc<ClassObj>> {
        let one = |abs: &Abs| match abs {
            Abs::Instance(object) if object.module.is_some() => Some(Rc::clone(&object.class)),
            _ => None,
        };
        match abs {
            Abs::OneOf(choice) => {
                let mut classes = choice.of.iter().map(|(_, item)| one(item));
                let first = classes.next()??;
                classes.all(|other| other.is_some_and(|other| other.is(&first))).then_some(first)
            }
            other => one(other),
        }
    }

    /// Whether a value is an object of the module, or one of several, that can become a run-time value.
    pub fn is_numbered(&self, abs: &Abs) -> bool {
        self.class_of_module(abs).is_some_and(|class| self.has_positions(&class))
    }

    /// Whether that is equal to itself only.
    pub fn is_equal_to_itself_only(&self, abs: &Abs) -> bool {
        self.class_of_module(abs).is_some_and(|class| self.has_positions(&class) && self.has_identities(&class))
    }

    /// The position of such an object; `None` if it is none.
    pub fn position_of(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        let class = self.class_of_module(abs).filter(|_| !self.module_mode);
        match class.and_then(|class| self.look_at_made(&class, numbered)) {
            Some(of) => Ok(self.position_in(abs, &of)?.map(Abs::Dyn)),
            None => Ok(None),
        }
    }

    /// Makes an object of the module, or one of several, a run-time value; `None` if it is none.
    pub fn escape_of_module(&mut self, abs: &Abs) -> Lift<Option<Value>> {
        let (Some(class), Some(at)) = (self.class_of_module(abs), self.position_of(abs)?) else { return Ok(None) };
        let at = self.value(&at)?;
        let shape = self.shape(&class, None, vec![(Name::from(POSITION), Field::Value(0))])?;
        let shape = Class::Object(shape as u32);
        let ty = Type::Record(shape, Arc::from([Type::Int]));
        Ok(Some(self.b.inst(Opcode::Record(shape), vec![at], ty, None)))
    }

    /// One of several static values as a run-time value: all are objects of one class, or None.
    pub fn escape_choice(&mut self, abs: &Abs) -> Lift<Value> {
        if let Some(record) = self.escape_of_module(abs)? {
            return Ok(record);
        }
        if let Some(copy) = self.copied_value(abs)? {
            let record = self.escaped(&copy)?;
            return self.value(&record);
        }
        if let Abs::OneOf(choice) = abs {
            let is_none = |item: &Abs| item.same(&Abs::NONE);
            let others: Vec<_> = choice.of.iter().filter(|(_, item)| !is_none(item)).cloned().collect();
            if others.len() < choice.of.len() {
                let (nones, some) = self.split_choice(choice, &is_none)?;
                let mut arms: Vec<Arm> = nones.into_iter().map(|state| (state, vec![Abs::NONE])).collect();
                self.enter_any(some)?;
                let other = self.pick(&Abs::Dyn(choice.at), others)?;
                let record = self.escaped(&other)?;
                arms.extend(self.state().map(|state| (state, vec![record])));
                let joined = self.join(arms)?.pop().unwrap_or(Abs::Unbound);
                if !matches!(joined, Abs::OneOf(_)) {
                    return self.value(&joined);
                }
            }
        }
        self.bail(Code::StaticValue, format!("{} is used as a run-time value", describe(abs)))
    }

    /// What a record stands for that is an object of the module.
    pub fn seen_of_module(&mut self, abs: &Abs) -> Option<Abs> {
        let (shape, value) = self.shape_of(abs)?;
        if !self.live || shape.fields.first().is_none_or(|(name, _)| **name != *POSITION) {
            return None;
        }
        let class = Rc::clone(&shape.class);
        let of = self.look_at_made(&class, numbered)?;
        if let [(_, only)] = &of[..] {
            return Some(only.clone());
        }
        let at = self.b.inst(Opcode::Field(0), vec![value], Type::Int, None);
        Some(Abs::OneOf(Rc::new(Choice { at, of })))
    }

    /// Sees the parameters that are such records as what they stand for: tests of a variable narrow it.
    pub fn take_objects_of_module(&mut self) {
        let mut vars = std::mem::take(&mut self.frames[self.current].vars);
        for abs in vars.values_mut() {
            if let Some(seen) = self.seen_of_module(abs) {
                *abs = seen;
            }
        }
        self.frames[self.current].vars = vars;
    }

    /// `is`, or `==` of what is equal to itself only: whether two objects of the module are one, or are
    /// two; `None` if one is none of them.
    pub fn compare_positions(
        &mut self,
        left: &Abs,
        right: &Abs,
        by_identity: bool,
        negated: bool,
    ) -> Lift<Option<Abs>> {
        let settled = |class: &Rc<ClassObj>| self.has_positions(class) && (by_identity || self.has_identities(class));
        let (Some(one), Some(other)) = (self.class_of_module(left), self.class_of_module(right)) else {
            return Ok(None);
        };
        if !settled(&one) || !settled(&other) {
            return Ok(None);
        }
        if !one.is(&other) {
            return Ok(Some(Abs::bool(negated)));
        }
        match (self.position_of(left)?, self.position_of(right)?) {
            (Some(left), Some(right)) => self.apply(if negated { "a!=b" } else { "a==b" }, &[left, right]).map(Some),
            _ => Ok(None),
        }
    }

    /// Objects of the module that meet what is no static value, as run-time values at the ends of the
    /// arms' blocks; `None` where nothing changes.
    pub fn as_values(&mut self, column: &[Abs], arms: &mut [(State, Vec<Abs>)]) -> Lift<Option<Vec<Abs>>> {
        let meets = column.iter().any(|abs| self.is_numbered(abs))
            && column
                .iter()
                .all(|abs| self.is_numbered(abs) || self.type_of(abs).is_some() || self.holds_static_object(abs))
            && self.joined_choice(column).is_none();
        if !meets {
            return Ok(None);
        }
        let mut values = column.to_vec();
        for (abs, (state, _)) in values.iter_mut().zip(arms) {
            *abs = self.at_end_of(state, |me| me.escaped(abs))?;
        }
        Ok(Some(values))
    }
}
