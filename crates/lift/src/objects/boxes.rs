//! Objects that hold others of their kind: nodes of lists and trees, dicts of dicts, lists of lists, tuples.
//!
//! The record of such an object ([`crate::objects::escape`]) would be a type that contains itself. So it lies on
//! the heap, in a *box*, and is known by its address: the type of that says the shape only, and what the
//! records of a shape hold stands in one place, which widens from one attempt to the next as the elements of
//! lists do. Law: a record never changes, so that nobody can tell a box from another one with the same record.
//!
//! Lists and tuples have no boxes but where they turn out to be nested to a depth that only a row decides
//! (`stack[-1].append([])`, `return (op, parse(left), parse(right))`): where a type nests them [`NESTED`]
//! times. From the next attempt on every list that a list or tuple comes to hold lies in a box, of which
//! the record has the list alone, and so does every tuple of that length that a variable holds besides
//! something else, or a list, a tuple or a result.

use crate::abs::Abs;
use crate::data::lists::add_sites;
use crate::walk::lifter::{Lift, Lifter, Stop};
use exuvia_ir::{Class, Opcode, Type, Value};
use std::sync::Arc;

/// How often a type has lists, or tuples of one length, within each other from which on they have boxes.
const NESTED: usize = 4;

impl Lifter<'_> {
    /// An object that has a box, of the values of its fields; `None` if those of its kind have none.
    pub fn boxed(&mut self, class: Class, values: &mut [Value], types: &Arc<[Type]>) -> Lift<Option<Value>> {
        let Some(known) = self.world.boxed.get(&class).cloned() else {
            let is_own = |ty: &Type| matches!(ty, Type::Record(other, _) if *other == class);
            if !types.iter().any(|ty| ty.holds(&is_own)) {
                return Ok(None);
            }
            self.world.boxed.insert(class, types.iter().map(|_| Type::Never).collect());
            self.world.forget_elements(&Type::is_object);
            return Err(Stop::Restart);
        };
        let joined: Arc<[Type]> = known.iter().zip(types.iter()).map(|(known, ty)| known.join(ty)).collect();
        if joined != known {
            if !joined.iter().all(crate::budget::is_small) {
                let why = "an object that holds others of its kind, of too large a type";
                return self.bail(crate::bailout::Code::Budget, why);
            }
            self.world.boxed.insert(class, Arc::clone(&joined));
            self.world.stale = true;
        }
        for (value, ty) in values.iter_mut().zip(joined.iter()) {
            *value = self.convert(*value, ty)?;
        }
        let record = self.b.inst(Opcode::Record(class), values.to_vec(), Type::Record(class, joined), None);
        Ok(Some(self.b.inst(Opcode::Box, vec![record], Type::Boxed(class), None)))
    }

    /// The record of an object, which may be in a box.
    pub fn unboxed(&mut self, object: Value) -> Value {
        let Type::Boxed(class) = *self.b.function.ty(object) else { return object };
        let Some(types) = self.world.boxed.get(&class).cloned() else { return object };
        self.b.inst(Opcode::Unbox, vec![object], Type::Record(class, types), None)
    }

    // ---- lists and tuples ----

    /// Begins again with boxes where a type nests lists, or tuples of one length, too deeply.
    pub fn settle_nested(&mut self, ty: &Type) -> Lift<()> {
        let Some(class) = nested(ty, &mut Vec::new()).filter(|class| !self.world.boxed.contains_key(class)) else {
            return Ok(());
        };
        let held = match class {
            Class::Tuple(length) => std::iter::repeat_n(Type::Never, length as usize).collect(),
            _ => Arc::from([Type::list(Type::Never)]),
        };
        self.world.boxed.insert(class, held);
        self.world.forget_elements(&|ty| matches!(ty, Type::List(_) | Type::Tuple(_)));
        Err(Stop::Restart)
    }

    /// The type of values of a type where they are stored: in a list or a tuple, or if not `within` one, in
    /// a variable that holds something else on another path.
    pub fn stored_type(&self, ty: &Type, within: bool) -> Type {
        let has = |class| self.world.boxed.contains_key(&class);
        match ty {
            Type::Tuple(items) if has(Class::Tuple(items.len() as u32)) => {
                Type::Boxed(Class::Tuple(items.len() as u32))
            }
            Type::Tuple(items) if !items.is_empty() => {
                Type::Tuple(items.iter().map(|item| self.stored_type(item, true)).collect())
            }
            Type::List(_) if within && has(Class::List) => Type::Boxed(Class::List),
            Type::Union(types) => Type::union(types.iter().map(|ty| self.stored_type(ty, within))),
            other => other.clone(),
        }
    }

    /// A list or tuple in a box.
    pub fn in_box(&mut self, value: Value) -> Lift<Value> {
        let (class, mut values) = match self.b.function.ty(value).clone() {
            Type::List(have) => {
                let known = self.world.boxed.get(&Class::List).and_then(|types| types.first().cloned());
                let known = match known {
                    Some(Type::List(element)) => (*element).clone(),
                    _ => Type::Never,
                };
                let element = known.join(&have);
                let sites = self.sites_of(value);
                add_sites(&mut self.world.nested, &sites);
                let mut list = value;
                if element != *have {
                    self.widen_element(value, &element)?;
                    // Stands for the list in what is thrown away.
                    list = self.b.inst(Opcode::List, vec![], Type::list(element), None);
                }
                (Class::List, vec![list])
            }
            Type::Tuple(types) => {
                let mut items = Vec::new();
                for (index, ty) in types.iter().enumerate() {
                    let item = self.b.inst(Opcode::Field(index as u32), vec![value], ty.clone(), None);
                    let stored = self.stored_type(ty, true);
                    items.push(self.convert(item, &stored)?);
                }
                (Class::Tuple(types.len() as u32), items)
            }
            _ => return Ok(value),
        };
        let types: Arc<[Type]> = values.iter().map(|value| self.b.function.ty(*value).clone()).collect();
        Ok(self.boxed(class, &mut values, &types)?.unwrap_or(value))
    }

    /// What a box holds, if that is a list or a tuple.
    pub fn out_of_box(&mut self, abs: &Abs) -> Option<Abs> {
        let Abs::Dyn(value) = abs else { return None };
        let Type::Boxed(class @ (Class::List | Class::Tuple(_))) = *self.b.function.ty(*value) else { return None };
        let types = self.world.boxed.get(&class).cloned()?;
        let record = self.unboxed(*value);
        let mut items = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let item = self.b.inst(Opcode::Field(index as u32), vec![record], ty.clone(), None);
            if class == Class::List {
                self.sites.insert(item, self.world.nested.clone());
            }
            items.push(self.seen(Abs::Dyn(item)));
        }
        match (class, items.pop()) {
            (Class::List, list) => list,
            (_, last) => Some(Abs::tuple(items.into_iter().chain(last).collect())),
        }
    }
}

/// What a type nests too deeply; `around` are the lists and tuples around it.
fn nested(ty: &Type, around: &mut Vec<Class>) -> Option<Class> {
    let (class, held) = match ty {
        Type::List(element) => (Class::List, std::slice::from_ref(&**element)),
        Type::Tuple(items) if !items.is_empty() => (Class::Tuple(items.len() as u32), &items[..]),
        Type::Union(types) => return types.iter().find_map(|ty| nested(ty, around)),
        // What is nested through objects is objects.
        Type::Record(Class::Object(_), types) => return types.iter().find_map(|ty| nested(ty, &mut Vec::new())),
        _ => return None,
    };
    if around.iter().filter(|other| **other == class).count() + 1 >= NESTED {
        return Some(class);
    }
    around.push(class);
    let found = held.iter().find_map(|ty| nested(ty, around));
    around.pop();
    found
}
