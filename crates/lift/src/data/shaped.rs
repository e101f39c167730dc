//! Dicts of known keys.
//!
//! A dict that is written with constant keys (`{'low': a, 'high': b}`), or that a struct of SQL is, has
//! no table while only constant keys are used: what it holds under each key is a cell of the object
//! (`heap.rs`), a variable of its own with a type of its own. One more cell has the keys in their
//! order, as a constant. Whatever else is done with such a dict (iteration, keys that are not
//! constant, becoming a run-time value, paths that disagree on its keys) is a fact about the place
//! where it is written: all is lifted again, with a dict of the prelude made there.

use crate::abs::Abs;
use crate::objects::class::ClassObj;
use crate::objects::heap::Instance;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter, Site, Stop};
use exuvia_ir::{ExcKind, Object};
use std::collections::HashSet;
use std::rc::Rc;

/// The attribute that has the keys. No attribute of Python's begins so.
const KEYS: &str = "=";

/// Places that may be found not to make such dicts; each costs an attempt.
const MAX_RESTARTS: usize = 8;

/// Keys of one dict.
const MAX_KEYS: usize = 32;

/// Which places make dicts of known keys.
#[derive(Debug, Default)]
pub(crate) struct Shaped {
    /// Those that do not.
    others: HashSet<Site>,
    /// Whether none does.
    pub off: bool,
    /// Whether this attempt made one.
    pub used: bool,
}

/// The attribute that has what is held under a key.
fn attribute_of(key: &str) -> Name {
    Name::from(format!("{KEYS}{KEYS}{key}"))
}

impl Lifter<'_> {
    /// A dict of those keys, made here; `None` where it is to be one of the prelude.
    pub fn shaped_dict(&mut self, class: &Rc<ClassObj>, entries: &[(Abs, Abs)]) -> Lift<Option<Abs>> {
        let site = self.site();
        let shaped = &self.world.shaped;
        if shaped.off || shaped.others.contains(&site) || entries.is_empty() || entries.len() > MAX_KEYS {
            return Ok(None);
        }
        let Some(keys) = entries.iter().map(|entry| text_of(&entry.0)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let dict = self.new_instance(class);
        let Abs::Instance(object) = &dict else { return Ok(None) };
        self.world.shaped.used = true;
        let mut shape: Vec<Object> = Vec::new();
        for (key, (_, value)) in keys.iter().zip(entries) {
            self.may_hold(value)?;
            if !shape.contains(&Object::str(key)) {
                shape.push(Object::str(key));
            }
            self.set_cell(object, &attribute_of(key), value.clone());
        }
        self.set_cell(object, KEYS, Abs::Const(Object::tuple(shape)));
        Ok(Some(dict))
    }

    fn set_cell(&mut self, object: &Instance, name: &str, value: Abs) {
        if let Some(frame) = self.frames.first_mut() {
            frame.vars.insert(object.cell(name), value);
        }
    }

    fn cell(&self, object: &Instance, name: &str) -> Option<&Abs> {
        self.frames.first().and_then(|frame| frame.vars.get(&object.cell(name)))
    }

    /// Whether an object is such a dict.
    pub fn is_shaped(&self, object: &Instance) -> bool {
        object.module.is_none() && object.value.is_none() && self.cell(object, KEYS).is_some()
    }

    /// The dict is to have a table: all is lifted again.
    pub fn unshape<T>(&mut self, object: &Instance) -> Lift<T> {
        let shaped = &mut self.world.shaped;
        match object.site {
            Some(site) if shaped.others.len() < MAX_RESTARTS => shaped.off |= !shaped.others.insert(site),
            _ => shaped.off = true,
        }
        Err(Stop::Restart)
    }

    /// The keys of such a dict, in order.
    fn keys_of(&mut self, object: &Instance) -> Lift<Vec<Object>> {
        match self.cell(object, KEYS) {
            Some(Abs::Const(Object::Tuple(keys))) => Ok(keys.to_vec()),
            // Paths with other keys met.
            _ => self.unshape(object),
        }
    }

    /// What is held under a key that is there.
    fn held(&mut self, object: &Instance, key: &str) -> Lift<Abs> {
        match self.cell(object, &attribute_of(key)) {
            Some(Abs::Conflict | Abs::Unbound) | None => self.unshape(object),
            Some(value) => Ok(value.clone()),
        }
    }

    /// The entries of such a dict; `None` where it is another object.
    pub fn shaped_entries(&mut self, value: &Abs) -> Lift<Option<Vec<(Abs, Abs)>>> {
        let Abs::Instance(object) = value else { return Ok(None) };
        if !self.is_shaped(object) {
            return Ok(None);
        }
        let mut entries = Vec::new();
        for key in self.keys_of(object)? {
            let Some(name) = text_of(&Abs::Const(key.clone())) else { return self.unshape(object) };
            entries.push((Abs::Const(key), self.held(object, &name)?));
        }
        Ok(Some(entries))
    }

    /// An operation on such a dict, if it needs no more than cells.
    pub fn apply_to_shaped(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        let of = match (spelling, args) {
            ("a in b", [_, of]) => of,
            (_, [of, ..]) => of,
            _ => return Ok(None),
        };
        let Abs::Instance(object) = of else { return Ok(None) };
        if !self.is_shaped(object) {
            return Ok(None);
        }
        let object = Rc::clone(object);
        let result = match (spelling, args) {
            ("a[b]", [_, key]) => {
                let Some(name) = text_of(key) else { return self.unshape(&object) };
                if self.keys_of(&object)?.contains(&Object::str(&name)) {
                    self.held(&object, &name)?
                } else {
                    self.raise(ExcKind::KeyError, vec![key.clone()])?;
                    Abs::Unbound
                }
            }
            ("a[b]=c", [_, key, value]) => {
                let Some(name) = text_of(key) else { return self.unshape(&object) };
                let mut keys = self.keys_of(&object)?;
                self.may_hold(value)?;
                let known = keys.contains(&Object::str(&name));
                if !known {
                    if keys.len() == MAX_KEYS {
                        return self.unshape(&object);
                    }
                    keys.push(Object::str(&name));
                    self.set_cell(&object, KEYS, Abs::Const(Object::tuple(keys)));
                }
                self.set_cell(&object, &attribute_of(&name), value.clone());
                Abs::NONE
            }
            ("a in b", [key, _]) => {
                let Some(name) = text_of(key) else { return self.unshape(&object) };
                Abs::bool(self.keys_of(&object)?.contains(&Object::str(&name)))
            }
            ("len", [_]) => Abs::int(self.keys_of(&object)?.len() as i64),
            ("truth" | "bool", [_]) => Abs::bool(!self.keys_of(&object)?.is_empty()),
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    /// A method of such a dict, if it needs no more than cells.
    pub fn method_of_shaped(&mut self, receiver: &Abs, name: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        let Abs::Instance(object) = receiver else { return Ok(None) };
        if !self.is_shaped(object) {
            return Ok(None);
        }
        let object = Rc::clone(object);
        match (name, args) {
            ("get", [key, rest @ ..]) if rest.len() < 2 => {
                let Some(name) = text_of(key) else { return self.unshape(&object) };
                if self.keys_of(&object)?.contains(&Object::str(&name)) {
                    return self.held(&object, &name).map(Some);
                }
                Ok(Some(rest.first().cloned().unwrap_or(Abs::NONE)))
            }
            _ => Ok(None),
        }
    }
}

/// The text that a key is; other keys are equal to each other in other ways (1, True and 1.0).
fn text_of(key: &Abs) -> Option<String> {
    match key {
        Abs::Const(Object::Str(text)) => Some(text.to_string()),
        _ => None,
    }
}
