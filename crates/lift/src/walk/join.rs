//! Where paths meet: each variable becomes one value, of a type that holds those of all paths.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::choice::Choice;
use crate::objects::heap::is_dropped;
use crate::walk::lifter::{Lift, Lifter, State};
use exuvia_ir::{BlockId, Object, Type, Value};
use std::rc::Rc;

impl Lifter<'_> {
    /// Continues where several paths meet; `extras` are values that come along. Returns
    /// the joined extras; where no path arrives the state is dead.
    pub fn join(&mut self, arms: Vec<(State, Vec<Abs>)>) -> Lift<Vec<Abs>> {
        let mut arms = arms;
        if arms.len() > 1 {
            self.merge_objects(&mut arms);
            // What attributes of those hold meets too.
            while self.copy_values(&mut arms)? {
                self.merge_objects(&mut arms);
            }
            self.escape_objects(&mut arms)?;
            // What is a record on one arm is one on all now; elsewhere it may be another.
            self.enter(arms[0].0.clone());
        }
        match arms.len() {
            0 => {
                self.die();
                return Ok(Vec::new());
            }
            1 => {
                let (state, extras) = arms.remove(0);
                self.enter(state);
                return Ok(extras);
            }
            _ => {}
        }
        let target = self.b.function.new_block();
        let mut args: Vec<Vec<Value>> = vec![Vec::new(); arms.len()];
        let mut frames = Vec::new();
        for depth in 0..arms[0].0.frames.len() {
            let first = &arms[0].0.frames[depth];
            if arms.iter().all(|arm| arm.0.frames[depth].vars.is(&first.vars)) {
                frames.push(first.clone());
                continue;
            }
            let mut frame = arms[0].0.frames[depth].clone();
            for name in self.differing(&arms, depth) {
                if is_dropped(&name, arms.iter().map(|arm| &arm.0.frames[depth].vars)) {
                    frame.vars.remove(&name);
                    continue;
                }
                let column: Vec<Abs> = arms
                    .iter()
                    .map(|arm| arm.0.frames[depth].vars.get(&name).cloned().unwrap_or(Abs::Unbound))
                    .collect();
                let joined = self.join_values(&column, &mut arms, target, &mut args)?;
                frame.vars.insert(name, joined);
            }
            frames.push(frame);
        }
        let mut extras = Vec::new();
        for index in 0..arms[0].1.len() {
            let column: Vec<Abs> = arms.iter().map(|arm| arm.1[index].clone()).collect();
            extras.push(self.join_values(&column, &mut arms, target, &mut args)?);
        }
        for ((state, _), args) in arms.iter().zip(args) {
            self.b.block = state.block;
            self.b.jump(target, args);
        }
        self.enter(State { block: target, frames });
        Ok(extras)
    }

    /// Does something at the end of an arm. Where that parts and meets again, as the conversion of one of several
    /// types does, the arm ends in another block then.
    pub fn at_end_of<T>(&mut self, arm: &mut State, act: impl FnOnce(&mut Self) -> Lift<T>) -> Lift<T> {
        self.b.block = arm.block;
        self.live = true;
        let made = act(self)?;
        arm.block = self.b.block;
        if self.live { Ok(made) } else { self.bail(Code::Join, "a variable holds on one path what is no value") }
    }

    /// Joins one variable over the arms: the same value stays, others become a parameter
    /// of `target`. Conversions go to the ends of the arms' blocks.
    fn join_values(
        &mut self,
        column: &[Abs],
        arms: &mut [(State, Vec<Abs>)],
        target: BlockId,
        args: &mut [Vec<Value>],
    ) -> Lift<Abs> {
        if column.iter().all(|abs| abs.same(&column[0])) {
            return Ok(column[0].clone());
        }
        // Tuples of one length are joined element by element and stay tuples.
        let tuples: Option<Vec<Vec<Abs>>> = column.iter().map(Abs::tuple_items).collect();
        if let Some(tuples) = tuples
            && tuples.iter().all(|items| items.len() == tuples[0].len())
        {
            let mut items = Vec::new();
            for index in 0..tuples[0].len() {
                let column: Vec<Abs> = tuples.iter().map(|items| items[index].clone()).collect();
                items.push(self.join_values(&column, arms, target, args)?);
            }
            return Ok(Abs::tuple(items));
        }
        let documents = self.as_documents(column, arms)?;
        let column = documents.as_deref().unwrap_or(column);
        let values = self.as_values(column, arms)?;
        let column = values.as_deref().unwrap_or(column);
        let Some(types) = column.iter().map(|abs| self.type_of(abs)).collect::<Option<Vec<_>>>() else {
            if column.iter().any(|abs| matches!(abs, Abs::Instance(_))) {
                column.iter().try_for_each(|abs| self.changes(abs))?;
            } else if column.iter().any(|abs| matches!(abs, Abs::Dyn(_))) {
                column.iter().filter(|abs| matches!(abs, Abs::Table(_))).try_for_each(|abs| self.changes(abs))?;
            }
            self.settle_empty(column)?;
            return self.join_choice(column, arms, target, args);
        };
        let has_constant_list = column.iter().any(|abs| abs.as_const().is_some_and(Self::is_mutable_const));
        let ty = self.stored_type(&Type::union(types), false);
        self.settle_nested(&ty)?;
        // Nothing can be done with one of several constant dicts as a run-time value.
        let is_static = |abs: &Abs| matches!(abs, Abs::Const(Object::Dict(_) | Object::Set(_)));
        if column.iter().any(is_static)
            && column.iter().all(|abs| abs.as_const().is_some())
            && self.joined_choice(column).is_some()
        {
            return self.join_choice(column, arms, target, args);
        }
        if has_constant_list || incompatible_containers(&ty) {
            column.iter().try_for_each(|abs| self.changes(abs))?;
            self.settle_empty(column)?;
            return self.join_choice(column, arms, target, args);
        }
        let mut sites = Vec::new();
        for ((abs, (state, _)), args) in column.iter().zip(arms).zip(args.iter_mut()) {
            let converted = self.at_end_of(state, |me| {
                let value = me.value(abs)?;
                crate::data::lists::add_sites(&mut sites, &me.sites_of(value));
                me.convert(value, &ty)
            })?;
            args.push(converted);
        }
        let param = self.b.function.add_param(target, ty);
        self.sites.insert(param, sites);
        Ok(Abs::Dyn(param))
    }

    /// The values with constant dicts and lists as what `json.loads` would make of them, where one of
    /// the others comes from there; `None` where there is nothing to change.
    fn as_documents(&mut self, column: &[Abs], arms: &mut [(State, Vec<Abs>)]) -> Lift<Option<Vec<Abs>>> {
        let of_json = |abs: &Abs| self.type_of(abs).is_some_and(|ty| ty.alternatives().iter().any(Type::is_document));
        let is_static = |abs: &Abs| matches!(abs, Abs::Const(Object::Dict(_) | Object::List(_)));
        if !column.iter().any(is_static) || !column.iter().any(of_json) {
            return Ok(None);
        }
        let mut documents = column.to_vec();
        for (abs, (state, _)) in documents.iter_mut().zip(arms) {
            if let Abs::Const(object) = &*abs
                && let Some((class, parts)) = exuvia_ops::json::parts_of(object)
            {
                *abs = self.at_end_of(state, |me| me.record(class, &[Abs::Const(Object::list(parts))]))?;
            }
        }
        Ok(Some(documents))
    }

    /// Joins static values: the position of each path's becomes a parameter of `target`.
    fn join_choice(
        &mut self,
        column: &[Abs],
        arms: &mut [(State, Vec<Abs>)],
        target: BlockId,
        args: &mut [Vec<Value>],
    ) -> Lift<Abs> {
        // An object is there on a path where that has its cells, or holds it in a variable.
        let is_there = |object: &Abs| {
            let Abs::Instance(object) = object else { return false };
            let is_it = |abs: &Abs| match abs {
                Abs::Instance(other) => other.is(object),
                Abs::Dyn(value) => object.value == Some(*value),
                _ => false,
            };
            let has_cells = |state: &State| {
                let own = state.frames.first().and_then(|frame| frame.vars.get(&object.own()[..]));
                object.value.is_none() && own.is_some_and(|own| !matches!(own, Abs::Unbound | Abs::Conflict))
            };
            arms.iter()
                .all(|(state, _)| has_cells(state) || state.frames.iter().any(|frame| frame.vars.values().any(is_it)))
        };
        let Some(of) = self.joined_with(Vec::new(), column, &is_there) else { return Ok(Abs::Conflict) };
        let mut positions = Vec::new();
        for (abs, (state, _)) in column.iter().zip(arms) {
            match self.at_end_of(state, |me| me.position_in(abs, &of))? {
                Some(at) => positions.push(at),
                None => return Ok(Abs::Conflict),
            }
        }
        args.iter_mut().zip(positions).for_each(|(args, at)| args.push(at));
        Ok(Abs::OneOf(Rc::new(Choice { at: self.b.function.add_param(target, Type::Int), of })))
    }
}

/// Whether a union holds containers that cannot share a variable natively.
fn incompatible_containers(ty: &Type) -> bool {
    let count = |f: fn(&Type) -> bool| ty.alternatives().iter().filter(|a| f(a)).count();
    count(|a| matches!(a, Type::Dict(..))) > 1
        || count(|a| matches!(a, Type::Set(_))) > 1
        || (matches!(ty, Type::Union(_)) && count(|a| matches!(a, Type::Dict(..) | Type::Set(_))) > 0)
}
