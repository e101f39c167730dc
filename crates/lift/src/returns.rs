//! Returning: from a called function, and from the handler to SQL.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::lifter::{Lift, Lifter, Returns};
use exuvia_ir::{Class, Object, Opcode, Terminator, Type};
use std::sync::Arc;

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
    /// BYTEA. At the border of the IR function its values are texts of the characters U+0000 to
    /// U+00FF, one for each byte.
    Bytes,
    /// DATE. At the border of the IR function its values are days since 1970-01-01.
    Date,
    /// TIMESTAMP without a zone. At the border its values are counts since 1970-01-01, of so many
    /// a second.
    Timestamp(u32),
    /// TIME. At the border its values are counts since midnight, of so many a second.
    Time(u32),
}

impl SqlClass {
    /// The type of such values where the IR function takes and returns them.
    #[must_use]
    pub fn ty(self) -> Type {
        match self {
            SqlClass::Int | SqlClass::Date | SqlClass::Timestamp(_) | SqlClass::Time(_) => Type::Int,
            SqlClass::Float => Type::Float,
            SqlClass::Bool => Type::Bool,
            SqlClass::Str | SqlClass::Bytes => Type::Str,
        }
    }

    /// The type that Python sees.
    fn python(self) -> Type {
        match self {
            SqlClass::Date => Type::Record(Class::Date, Arc::from([Type::Int])),
            SqlClass::Timestamp(_) => Type::Record(Class::Datetime, Arc::from([Type::Int])),
            SqlClass::Time(_) => Type::Record(Class::Time, Arc::from([Type::Int])),
            SqlClass::Bytes => Type::Record(Class::Bytes, Arc::from([Type::Str])),
            SqlClass::Int | SqlClass::Float | SqlClass::Bool | SqlClass::Str => self.ty(),
        }
    }

    /// Whether expressions of SQL see such values as the IR function does, or as DATE.
    #[must_use]
    pub fn means_the_same_in_sql(self) -> bool {
        match self {
            SqlClass::Int | SqlClass::Float | SqlClass::Bool | SqlClass::Str | SqlClass::Date => true,
            SqlClass::Bytes | SqlClass::Timestamp(_) | SqlClass::Time(_) => false,
        }
    }

    /// How many of the values at the border a second has, where they count time.
    fn per_second(self) -> Option<u32> {
        match self {
            SqlClass::Timestamp(count) | SqlClass::Time(count) => Some(count),
            _ => None,
        }
    }
}

impl Lifter<'_> {
    /// What Python sees of an argument.
    pub fn argument(&mut self, value: Abs, class: SqlClass) -> Lift<Abs> {
        let Type::Record(record, _) = class.python() else { return Ok(value) };
        if !self.live {
            return Ok(value);
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(&value)) {
            return self.dispatch(union, &mut |me, narrowed| match narrowed {
                Abs::Const(Object::None) => Ok(Abs::NONE),
                field => me.argument(field, class),
            });
        }
        self.across_the_border("_of_sql", record, value, class)
    }

    /// What the prelude makes of a value at the border to SQL. What Python cannot hold is
    /// CPython's to refuse.
    fn across_the_border(&mut self, function: &str, record: Class, value: Abs, class: SqlClass) -> Lift<Abs> {
        let module = exuvia_ops::prelude::MODULES.iter().find(|entry| entry.0 == record.path());
        let function = match module {
            Some((module, _)) => self.prelude_function(module, function)?,
            None => None,
        };
        let Some(function) = function else { return self.bail(Code::Callee, record.path()) };
        let mut args = vec![value];
        args.extend(class.per_second().map(|count| Abs::int(i64::from(count))));
        self.call_value(&function, args, Vec::new())
    }

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
        let optional = sql.class.ty().optional();
        let ty = self.type_of(value);
        let converted = match (sql.class, &ty) {
            (_, Some(Type::None)) => Some(Abs::NONE),
            (class, Some(ty @ Type::Record(record, _))) if class.python() == *ty => {
                let stored = self.across_the_border("_to_sql", *record, value.clone(), class)?;
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
        let value = self.value_as(stored, &sql.class.ty().optional())?;
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
