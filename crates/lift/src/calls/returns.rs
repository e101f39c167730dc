//! Returning: from a called function, and from the handler to SQL.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::border::SqlClass;
use crate::walk::lifter::{Lift, Lifter, Returns};
use crate::walk::protocol::is_not_implemented;
use exuvia_ir::{Int, Object, Opcode, Terminator, Type};
use num_bigint::BigInt;

/// The SQL type of the result, as far as lifting needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlReturn {
    /// What values of the SQL type are in Python.
    pub class: SqlClass,
    /// The name of the SQL type, for errors.
    pub name: String,
    /// Whether a row that raises gives NULL, so that nobody asks for its exception.
    pub errors_are_null: bool,
    /// Whether the result, a list, is a whole column: NaN stays NaN in the list of a Series
    /// ([`Lifted::nan_is_null`](crate::Lifted::nan_is_null)).
    pub whole: bool,
}

impl Lifter<'_> {
    /// A tuple as one that is made here and has no known length, so that all that a function returns is of
    /// one kind.
    fn long_result(&mut self, value: Abs) -> Lift<Abs> {
        if let Some(items) = self.items_of_tuple(&value) {
            return self.lengthened(&items);
        }
        if let Some(union) = self.union_with_objects(&value) {
            return self.dispatch(union, &mut |me, one| me.long_result(one));
        }
        if !self.is_long_tuple(&value) {
            return Ok(value);
        }
        let items = self.copy_to_list(&value)?;
        self.long_tuple(items)
    }

    /// Returns from the IR function.
    pub fn leave_function(&mut self, value: Abs) -> Lift<()> {
        match self.returns.clone() {
            Returns::Sql(sql) => self.return_sql(&value, &sql),
            Returns::Typed { assumed, .. } => {
                let mut value = self.escaped(&value)?;
                if self.long_results {
                    value = self.long_result(value)?;
                }
                if !self.assigned.is_empty() {
                    let vars = &self.frames[0].vars;
                    let left = self.assigned.iter().map(|name| vars.get(name).cloned().unwrap_or(Abs::Unbound));
                    value = self.escaped(&Abs::tuple(std::iter::once(value).chain(left).collect()))?;
                }
                // `NotImplemented` is known while lifting, where a function returns nothing else.
                let is_missing = is_not_implemented(&value);
                if let Returns::Typed { values, .. } = &self.returns
                    && values.iter().any(|other| is_not_implemented(other) != is_missing)
                {
                    return self.bail(Code::StaticValue, "NotImplemented is returned on some paths of a recursion");
                }
                let returned = self.value(if is_missing { &Abs::NONE } else { &value })?;
                let ty = self.stored_type(&self.b.function.ty(returned).clone(), false);
                let returned = self.convert(returned, &ty)?;
                let made = self.sites_of(returned);
                if let Returns::Typed { sites, values, .. } = &mut self.returns {
                    sites.extend(made);
                    if values.len() < 2 && !values.iter().any(|other| other.same(&value)) {
                        values.push(value.clone());
                    }
                }
                // A tuple may have to be one whose items are wider.
                if ty.is_within(&assumed) || assumed.join(&ty) == assumed {
                    let returned = self.value_as(&Abs::Dyn(returned), &assumed)?;
                    self.end(Terminator::Return(returned));
                } else {
                    if let Returns::Typed { found, .. } = &mut self.returns {
                        *found = found.join(&ty);
                        let found = found.clone();
                        self.settle_nested(&found)?;
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
        if let Some(list) = self.column_of(value, sql)? {
            return self.return_sql(&list, sql);
        }
        if !sql.class.is_scalar() {
            let mut values = Vec::new();
            self.spread_result(value, sql, &mut values)?;
            return self.return_spread(&values, sql);
        }
        if matches!(sql.class, SqlClass::Column { .. }) {
            return self.return_scalar(value, value, sql);
        }
        let in_sql = self.in_sql(value)?;
        let returned = if in_sql.same(value) { value.clone() } else { self.seen(value.clone()) };
        self.return_scalar(&in_sql, &returned, sql)
    }

    /// The values of an array or a Series that is a whole column.
    fn column_of(&mut self, value: &Abs, sql: &SqlReturn) -> Lift<Option<Abs>> {
        let Abs::Instance(object) = value else { return Ok(None) };
        if !sql.whole || !self.live || !object.class.prelude {
            return Ok(None);
        }
        let Some(column) = self.call_special(object, "_in_column", Vec::new())? else { return Ok(None) };
        match column.tuple_items().as_deref() {
            Some([list, Abs::Const(Object::Bool(is_series))]) => {
                if *self.world.nan_is_null.get_or_insert(*is_series) != *is_series {
                    return self.bail(Code::SqlType, "a Series or an array, as it comes");
                }
                Ok(Some(list.clone()))
            }
            _ => Ok(None),
        }
    }

    /// Returns what a result is in SQL; the error shows what was returned.
    fn return_scalar(&mut self, value: &Abs, returned: &Abs, sql: &SqlReturn) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        if let Abs::Dyn(v) = value
            && matches!(self.b.function.ty(*v), Type::Union(_))
        {
            self.dispatch(*v, &mut |me, narrowed| {
                me.return_scalar(&narrowed, returned, sql)?;
                Ok(Abs::Unbound)
            })?;
            return Ok(());
        }
        if let (SqlClass::Int, Some(int)) = (&sql.class, self.int_of_member(value)?) {
            return self.return_sql(&int, sql);
        }
        if let (SqlClass::Str, Some(text)) = (&sql.class, self.text_of_member(value)?) {
            return self.return_sql(&text, sql);
        }
        let optional = sql.class.ty(true);
        let ty = self.type_of(value);
        let converted = match (&sql.class, &ty) {
            (class, Some(Type::None)) if !matches!(class, SqlClass::Column { .. }) => Some(Abs::NONE),
            (class, ty) if class.crosses_by_prelude(ty.as_ref()) => {
                let stored = self.across_the_border("_to_sql", class, value.clone())?;
                return self.return_stored(&stored, returned, sql);
            }
            (class, Some(ty)) if class.python() == *ty => Some(value.clone()),
            (SqlClass::Float, Some(Type::Int)) => return self.return_int_as_float(value, returned, sql),
            _ => None,
        };
        match converted {
            Some(converted) => {
                let value = self.value_as(&converted, &optional)?;
                self.end(Terminator::Return(value));
            }
            None if ty.as_ref().is_some_and(Type::is_document) => self.leave_misfit(),
            None if ty.as_ref().is_some_and(|ty| !ty.has_repr()) => {
                self.bail(Code::StaticValue, format!("a {} is returned", ty.map_or("value", |ty| ty.python_name())))?;
            }
            None => self.reject(returned, sql)?,
        }
        Ok(())
    }

    /// Returns the nearest float of an int; one that no float is near does not fit, which no handler
    /// of the function sees.
    fn return_int_as_float(&mut self, value: &Abs, returned: &Abs, sql: &SqlReturn) -> Lift<()> {
        // From halfway between the largest float and the next power of two on.
        let beyond = (BigInt::from(1) << 1024u32) - (BigInt::from(1) << 970u32);
        let outer = std::mem::take(&mut self.contexts);
        let mut rest = Vec::new();
        for (bound, order) in [(beyond.clone(), "a>=b"), (-beyond, "a<=b")] {
            let bound = Abs::Const(Object::Int(Int::from_big(bound)));
            let is_beyond = self.apply(order, &[value.clone(), bound])?;
            let (yes, no) = self.split_value(&is_beyond)?;
            rest.extend(yes);
            self.enter_any(no)?;
        }
        if self.live {
            let int = self.value(value)?;
            let float = self.named("int.to_float", vec![int])?;
            let float = self.value_as(&Abs::Dyn(float), &sql.class.ty(true))?;
            self.end(Terminator::Return(float));
        }
        self.contexts = outer;
        self.enter_any(rest)?;
        if self.live { self.reject(returned, sql) } else { Ok(()) }
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
        if stored.same(&Abs::NONE) && !matches!(sql.class, SqlClass::Column { .. }) {
            // The error shows the value, and only CPython has the text of such a class.
            if let SqlClass::Instant(_) | SqlClass::Decimal { .. } = sql.class {
                self.leave_misfit();
                return Ok(());
            }
            return self.reject(result, sql);
        }
        let value = self.value_as(stored, &sql.class.ty(true))?;
        self.end(Terminator::Return(value));
        Ok(())
    }

    /// Leaves a result that the SQL type cannot hold to CPython: the error shows the value, and only CPython
    /// has its text.
    fn leave_misfit(&mut self) {
        let span = self.b.span;
        self.end(Terminator::Bailout("a result of another type", span));
    }

    /// The error of a result that the SQL type cannot hold.
    fn reject(&mut self, value: &Abs, sql: &SqlReturn) -> Lift<()> {
        // Only CPython has the text of an object.
        if let Abs::Instance(_) | Abs::OneOf(_) = value {
            self.leave_misfit();
            return Ok(());
        }
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
