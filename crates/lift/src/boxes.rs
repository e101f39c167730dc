//! Objects that hold others of their kind: nodes of lists and trees, and dicts of dicts.
//!
//! The record of such an object ([`crate::escape`]) would be a type that contains itself. So it lies on
//! the heap, in a *box*, and is known by its address: the type of that says the shape only, and what the
//! records of a shape hold stands in one place, which widens from one attempt to the next as the elements of
//! lists do. Law: a record never changes, so that nobody can tell a box from another one with the same record.

use crate::lifter::{Lift, Lifter, Stop};
use exuvia_ir::{Class, Opcode, Type, Value};
use std::sync::Arc;

impl Lifter<'_> {
    /// An object that has a box, of the values of its fields; `None` if those of its kind have none.
    pub fn boxed(&mut self, shape: u32, values: &mut [Value], types: &Arc<[Type]>) -> Lift<Option<Value>> {
        let class = Class::Object(shape);
        let Some(known) = self.world.boxed.get(&shape).cloned() else {
            let is_own = |ty: &Type| matches!(ty, Type::Record(other, _) if *other == class);
            if !types.iter().any(|ty| ty.holds(&is_own)) {
                return Ok(None);
            }
            self.world.boxed.insert(shape, types.iter().map(|_| Type::Never).collect());
            self.world.forget_elements(&Type::is_object);
            return Err(Stop::Restart);
        };
        let joined: Arc<[Type]> = known.iter().zip(types.iter()).map(|(known, ty)| known.join(ty)).collect();
        if joined != known {
            if !joined.iter().all(crate::budget::is_small) {
                let why = "an object that holds others of its kind, of too large a type";
                return self.bail(crate::bailout::Code::Budget, why);
            }
            self.world.boxed.insert(shape, Arc::clone(&joined));
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
        let Type::Boxed(class @ Class::Object(shape)) = *self.b.function.ty(object) else { return object };
        let Some(types) = self.world.boxed.get(&shape).cloned() else { return object };
        self.b.inst(Opcode::Unbox, vec![object], Type::Record(class, types), None)
    }
}
