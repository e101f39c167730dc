//! Returning: from a called function, and from the handler to SQL.

use crate::abs::Abs;
use crate::lifter::{Lift, Lifter, Returns};
use exuvia_ir::{Object, Opcode, Terminator, Type};

/// The SQL type of the result, as far as lifting needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlReturn {
    /// What values of the SQL type are in Python.
    pub class: SqlClass,
    /// The name of the SQL type, for errors.
    pub name: String,
}

/// What values of an SQL type are in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlClass {
    /// Integers of any width.
    Int,
    /// DOUBLE and REAL.
    Float,
    /// BOOLEAN.
    Bool,
    /// TEXT.
    Str,
}

impl SqlClass {
    /// The type of such values.
    #[must_use]
    pub fn ty(self) -> Type {
        match self {
            SqlClass::Int => Type::Int,
            SqlClass::Float => Type::Float,
            SqlClass::Bool => Type::Bool,
            SqlClass::Str => Type::Str,
        }
    }
}

impl Lifter<'_> {
    /// Returns from the IR function.
    pub fn leave_function(&mut self, value: Abs) -> Lift<()> {
        match self.returns.clone() {
            Returns::Sql(sql) => self.return_sql(&value, &sql),
            Returns::Typed { assumed, .. } => {
                let returned = self.value(&value)?;
                let ty = self.b.function.ty(returned).clone();
                if ty.is_within(&assumed) {
                    let returned = self.value_as(&Abs::Dyn(returned), &assumed)?;
                    self.end(Terminator::Return(returned));
                } else {
                    if let Returns::Typed { found, .. } = &mut self.returns {
                        *found = found.join(&ty);
                    }
                    // This attempt is thrown away; any end will do.
                    self.end(Terminator::Unreachable);
                }
                Ok(())
            }
        }
    }

    /// Converts a result by the rules of the SQL surface and returns it.
    fn return_sql(&mut self, value: &Abs, sql: &SqlReturn) -> Lift<()> {
        if let Abs::Dyn(v) = value
            && matches!(self.b.function.ty(*v), Type::Union(_))
        {
            self.dispatch(*v, &mut |me, narrowed| {
                me.return_sql(&narrowed, sql)?;
                Ok(Abs::Unbound)
            })?;
            return Ok(());
        }
        let optional = sql.class.ty().optional();
        let ty = self.type_of(value);
        let converted = match (sql.class, &ty) {
            (_, Some(Type::None)) => Some(Abs::NONE),
            (class, Some(ty)) if class.ty() == *ty => Some(value.clone()),
            (SqlClass::Float, Some(Type::Int)) => {
                let int = self.value(value)?;
                let outer = std::mem::take(&mut self.contexts);
                let float = self.named("int.to_float", vec![int]);
                self.contexts = outer;
                Some(Abs::Dyn(float?))
            }
            _ => None,
        };
        match converted {
            Some(converted) => {
                let value = self.value_as(&converted, &optional)?;
                self.end(Terminator::Return(value));
            }
            None => {
                let name = self.b.constant(Object::str(&sql.name));
                let value = self.value_to_read(value)?;
                self.b.inst(Opcode::Op("result.reject"), vec![name, value], Type::None, None);
                self.end(Terminator::Unreachable);
            }
        }
        Ok(())
    }

    /// Ends blocks that nothing reaches and that were left open.
    pub fn seal(&mut self) {
        for block in &mut self.b.function.blocks {
            if block.term == Terminator::Open {
                block.term = Terminator::Unreachable;
            }
        }
    }
}
