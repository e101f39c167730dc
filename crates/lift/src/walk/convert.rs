//! Run-time values, and their conversion to wider types.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::walk::describe::{describe, type_for_people};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Class, Object, Opcode, Type, Value};
use std::sync::Arc;

impl Lifter<'_> {
    /// The type of a value that has one at run time.
    pub fn type_of(&self, abs: &Abs) -> Option<Type> {
        Some(match abs {
            Abs::Const(object) => {
                let ty = object.ty();
                self.world.budget.take(exuvia_ir::ListObj::looked_at());
                ty
            }
            Abs::Dyn(value) => self.b.function.ty(*value).clone(),
            Abs::Tuple(items) => Type::Tuple(items.iter().map(|item| self.type_of(item)).collect::<Option<_>>()?),
            Abs::Unbound => Type::Unbound,
            Abs::Instance(object) => self.b.function.ty(self.escaped_as(object)?).clone(),
            Abs::Func(_)
            | Abs::Method(_)
            | Abs::Builtin(_)
            | Abs::Module(_)
            | Abs::ExcClass(_)
            | Abs::ExcInst(_)
            | Abs::ClassOf(_)
            | Abs::Iter(_)
            | Abs::Class(_)
            | Abs::Bound(_)
            | Abs::Super(_)
            | Abs::Table(_)
            | Abs::OneOf(_)
            | Abs::Conflict => return None,
        })
    }

    /// Whether a constant may become a run-time value that other code could change.
    pub fn is_mutable_const(object: &Object) -> bool {
        match object {
            Object::List(_) => true,
            Object::Tuple(items) => items.iter().any(Self::is_mutable_const),
            _ => false,
        }
    }

    /// The run-time value.
    pub fn value(&mut self, abs: &Abs) -> Lift<Value> {
        match abs {
            Abs::Dyn(value) => Ok(*value),
            Abs::Const(object) if !Self::is_mutable_const(object) => Ok(self.b.constant(object.clone())),
            Abs::Const(_) => self.bail(Code::Mutation, "a module-level list escapes into a run-time value"),
            Abs::Unbound => Ok(self.b.constant(Object::Unbound)),
            Abs::Instance(object) => self.escape(object),
            Abs::Tuple(items) => {
                let values = items.iter().map(|item| self.value_within(item)).collect::<Lift<Vec<_>>>()?;
                let ty = Type::Tuple(values.iter().map(|value| self.b.function.ty(*value).clone()).collect());
                Ok(self.b.inst(Opcode::Tuple, values, ty, None))
            }
            Abs::Conflict => self.bail(Code::Join, "a variable holds values of unrelated kinds on two paths"),
            Abs::Func(_)
            | Abs::Method(_)
            | Abs::Builtin(_)
            | Abs::Module(_)
            | Abs::ExcClass(_)
            | Abs::ExcInst(_)
            | Abs::ClassOf(_)
            | Abs::Class(_)
            | Abs::Bound(_)
            | Abs::Super(_)
            | Abs::Iter(_) => self.bail(Code::StaticValue, format!("{} is used as a run-time value", describe(abs))),
            Abs::Table(_) => {
                self.changes(abs)?;
                self.bail(Code::StaticValue, format!("{} is used as a run-time value", describe(abs)))
            }
            Abs::OneOf(_) => self.escape_choice(abs),
        }
    }

    /// The run-time value as tuples hold it.
    fn value_within(&mut self, item: &Abs) -> Lift<Value> {
        let value = self.value(item)?;
        let ty = self.stored_type(&self.b.function.ty(value).clone(), true);
        self.convert(value, &ty)
    }

    /// The run-time value for an operation that only reads it: a list of the module may
    /// go there too.
    pub fn value_to_read(&mut self, abs: &Abs) -> Lift<Value> {
        match abs {
            Abs::Const(object) => {
                // What the module put into it, or into a list that it holds several times, is all there now.
                if let Object::List(list) = object
                    && !self.module_mode
                    && self.world.measured.insert(Arc::as_ptr(list) as usize, Arc::clone(list)).is_none()
                {
                    self.check_size(abs)?;
                }
                Ok(self.b.constant(object.clone()))
            }
            other => self.value(other),
        }
    }

    /// The run-time value, converted to a type that contains its own.
    pub fn value_as(&mut self, abs: &Abs, ty: &Type) -> Lift<Value> {
        let value = self.value(abs)?;
        self.convert(value, ty)
    }

    pub fn convert(&mut self, value: Value, ty: &Type) -> Lift<Value> {
        let from = self.b.function.ty(value).clone();
        if from == *ty {
            return Ok(value);
        }
        let has = |class| ty.alternatives().contains(&Type::Boxed(class));
        match (&from, ty) {
            (Type::Tuple(items), _) if has(Class::Tuple(items.len() as u32)) => {
                let tuple = self.in_box(value)?;
                self.convert(tuple, ty)
            }
            (Type::List(_), _) if has(Class::List) && !from.is_within(ty) => {
                let list = self.in_box(value)?;
                self.convert(list, ty)
            }
            // A tuple is converted element by element: its elements are values of their own.
            (Type::Tuple(have), Type::Tuple(want)) if have.len() == want.len() => {
                self.convert_fields(Opcode::Tuple, value, have, want, ty)
            }
            (Type::Record(class @ Class::Object(_), have), Type::Record(other, want)) if class == other => {
                self.convert_fields(Opcode::Record(*class), value, have, want, ty)
            }
            (_, Type::Union(_)) if from.is_within(ty) => Ok(self.b.inst(Opcode::Wrap, vec![value], ty.clone(), None)),
            (Type::Tuple(have), Type::Union(alternatives)) => {
                let wanted =
                    alternatives.iter().find(|a| matches!(a, Type::Tuple(t) if t.len() == have.len())).cloned();
                match wanted {
                    Some(wanted) => {
                        let tuple = self.convert(value, &wanted)?;
                        Ok(self.b.inst(Opcode::Wrap, vec![tuple], ty.clone(), None))
                    }
                    None => self.no_common_form(&from, ty),
                }
            }
            (Type::Record(class @ Class::Object(_), _), Type::Union(alternatives)) => {
                match alternatives.iter().find(|a| matches!(a, Type::Record(other, _) if other == class)).cloned() {
                    Some(wanted) => {
                        let record = self.convert(value, &wanted)?;
                        Ok(self.b.inst(Opcode::Wrap, vec![record], ty.clone(), None))
                    }
                    None => self.no_common_form(&from, ty),
                }
            }
            (Type::List(_), _) => self.widen_list(value, ty),
            (Type::Union(have), _) if !from.is_within(ty) && have.iter().any(|one| self.is_converted(one)) => {
                let converted = self.dispatch(value, &mut |me, narrowed| me.value_as(&narrowed, ty).map(Abs::Dyn))?;
                self.value_as(&converted, ty)
            }
            (Type::Union(have), Type::Union(_))
                if have.iter().any(|ty| matches!(ty, Type::List(_))) && !self.sites_of(value).is_empty() =>
            {
                self.widen_list(value, ty)
            }
            _ => self.no_common_form(&from, ty),
        }
    }

    /// Whether values of a type may take another form within a union: tuples and records element by element.
    fn is_converted(&self, ty: &Type) -> bool {
        matches!(ty, Type::Tuple(_) | Type::Record(Class::Object(_), _)) || self.stored_type(ty, true) != *ty
    }

    fn no_common_form(&self, from: &Type, ty: &Type) -> Lift<Value> {
        let (from, ty) = (type_for_people(from), type_for_people(ty));
        self.bail(Code::Join, format!("{from} and {ty} have no common representation"))
    }

    fn convert_fields(&mut self, op: Opcode, value: Value, have: &[Type], want: &[Type], ty: &Type) -> Lift<Value> {
        let mut fields = Vec::new();
        for (index, (have, want)) in have.iter().zip(want).enumerate() {
            let field = match self.b.function.ty(value) {
                Type::Record(Class::Object(shape), _) => self.field_value(value, *shape as usize, index as u32),
                _ => self.b.inst(Opcode::Field(index as u32), vec![value], have.clone(), None),
            };
            fields.push(self.convert(field, want)?);
        }
        Ok(self.b.inst(op, fields, ty.clone(), None))
    }
}
