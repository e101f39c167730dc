//! Returning: from a called function, and from the handler to SQL.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::border::SqlClass;
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

impl Lifter<'_> {
    /// Returns from the IR function.
    pub fn leave_function(&mut self, value: Abs) -> Lift<()> {
        match self.returns.clone() {
            Returns::Sql(sql) => self.return_sql(&value, &sql),
            Returns::Typed { assumed, .. } => {
                let value = self.escaped(&value)?;
                let returned = self.value(&value)?;
                let ty = self.b.function.ty(returned).clone();
                let made = self.sites_of(returned);
                if let Returns::Typed { sites, values, .. } = &mut self.returns {
                    sites.extend(made);
                    if values.len() < 2 && !values.iter().any(|other| other.same(&value)) {
                        values.push(value.clone());
                    }
                }
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
        if !sql.class.is_scalar() {
            let mut values = Vec::new();
            self.spread_result(value, sql, &mut values)?;
            return self.return_spread(&values, sql);
        }
        let optional = sql.class.ty(true);
        let ty = self.type_of(value);
        let converted = match (&sql.class, &ty) {
            (_, Some(Type::None)) => Some(Abs::NONE),
            (class, Some(ty @ Type::Record(record, _))) if class.python() == *ty => {
                let count = class.per_second();
                let stored = self.across_the_border("_to_sql", record.path(), value.clone(), count)?;
                return self.return_stored(&stored, value, sql);
            }
            (class, Some(ty)) if class.python() == *ty => Some(value.clone()),
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
            // The error shows the value, and only CPython has its text.
            None if ty.as_ref().is_some_and(|ty| !ty.has_repr()) => {
                self.bail(Code::StaticValue, format!("a {} is returned", ty.map_or("value", |ty| ty.python_name())))?;
            }
            None => self.reject(value, sql)?,
        }
        Ok(())
    }

    /// Returns what a result became at the border: None where the SQL type cannot hold it.
    fn return_stored(&mut self, stored: &Abs, result: &Abs, sql: &SqlReturn) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(stored)) {
            self.dispatch(union, &mut |me, narrowed| {
                me.return_stored(&narrowed, result, sql)?;
                Ok(Abs::Unbound)
            })?;
            return Ok(());
        }
        if stored.same(&Abs::NONE) {
            return self.reject(result, sql);
        }
        let value = self.value_as(stored, &sql.class.ty(true))?;
        self.end(Terminator::Return(value));
        Ok(())
    }

    /// The error of a result that the SQL type cannot hold.
    fn reject(&mut self, value: &Abs, sql: &SqlReturn) -> Lift<()> {
        let name = self.b.constant(Object::str(&sql.name));
        let value = self.value_to_read(value)?;
        self.b.inst(Opcode::Op("result.reject"), vec![name, value], Type::None, None);
        self.end(Terminator::Unreachable);
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
