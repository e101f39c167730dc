//! Objects that become one where paths meet.
//!
//! A variable may hold one object on one path and another on the next: `p = a if c else b`,
//! `p = p + q` in a loop. Law: if both are of one class and nothing but that variable refers to
//! either, nobody can tell which of the two it is, nor that it is one of two. So both become a
//! new object, cell by cell. Otherwise the variable is a [`Abs::Conflict`].
//!
//! What refers to an object is looked for in all variables, cells among them, in receivers of
//! methods, in exceptions being handled, and in what the evaluation of a statement holds
//! ([`Lifter::held`]).

use crate::abs::{Abs, Enclosing};
use crate::objects::heap::{Instance, cell_of, cells, object_of};
use crate::tree::ast::Name;
use crate::walk::leave::{Part, each_part};
use crate::walk::lifter::{Frame, Lift, Lifter, State, Vars};
use exuvia_ir::Object;
use std::rc::Rc;
use std::sync::Arc;

/// Objects that are merged at one point.
pub(crate) const MOST: usize = 64;

/// The end of a path: what it leaves, and the values that come along.
pub(crate) type Arm = (State, Vec<Abs>);

/// A variable, or a value that comes along.
pub(crate) enum Slot {
    Variable(usize, Name),
    Extra(usize),
}

impl Slot {
    /// What it holds on an arm.
    pub fn of<'a>(&self, arm: &'a Arm) -> Option<&'a Abs> {
        match self {
            Slot::Variable(depth, name) => arm.0.frames[*depth].vars.get(name),
            Slot::Extra(index) => arm.1.get(*index),
        }
    }

    /// What it holds on each of the arms, if it is on all.
    pub fn column<'a>(&self, arms: &'a [Arm]) -> Option<Vec<&'a Abs>> {
        arms.iter().map(|arm| self.of(arm)).collect()
    }

    pub fn set(&self, arm: &mut Arm, abs: Abs) {
        match self {
            Slot::Variable(depth, name) => {
                arm.0.frames[*depth].vars.insert(name.clone(), abs);
            }
            Slot::Extra(index) => arm.1[*index] = abs,
        }
    }
}

/// The variables that are not the same on all of some paths: all are looked at in step.
pub(crate) fn differing(paths: &[&Vars]) -> Vec<Name> {
    let mut found = Vec::new();
    if paths.iter().all(|vars| vars.is(paths[0])) {
        return found;
    }
    // Copies share their names, so that few texts are compared.
    let is = |a: &Name, b: &Name| Arc::ptr_eq(a, b) || a == b;
    let lesser = |a, b| if Arc::ptr_eq(a, b) || a <= b { a } else { b };
    let mut rest: Vec<_> = paths.iter().map(|vars| vars.iter().peekable()).collect();
    while let Some(name) = rest.iter_mut().filter_map(|vars| Some(vars.peek()?.0)).reduce(lesser) {
        let mut first: Option<&Abs> = None;
        let mut differs = false;
        for (at, vars) in rest.iter_mut().enumerate() {
            let held = vars.next_if(|(other, _)| is(other, name)).map(|(_, held)| held);
            if at == 0 {
                first = held;
            } else {
                differs |= match (first, held) {
                    (Some(first), Some(held)) => !first.same(held),
                    (first, held) => first.is_some() || held.is_some(),
                };
            }
        }
        if differs {
            found.push(name.clone());
        }
    }
    found
}

impl Lifter<'_> {
    /// The variables of a frame that are not the same on all arms.
    pub fn differing(&self, arms: &[Arm], depth: usize) -> Vec<Name> {
        let paths: Vec<&Vars> = arms.iter().map(|arm| &arm.0.frames[depth].vars).collect();
        let found = differing(&paths);
        if !paths.iter().all(|vars| vars.is(paths[0])) {
            self.world.budget.take(paths.iter().map(|vars| vars.len()).sum());
        }
        found
    }

    /// What differs between arms, and what comes along.
    pub fn slots(&self, arms: &[Arm]) -> Vec<Slot> {
        let (state, extras) = &arms[0];
        let variables = |depth| self.differing(arms, depth).into_iter().map(move |name| Slot::Variable(depth, name));
        (0..state.frames.len()).flat_map(variables).chain((0..extras.len()).map(Slot::Extra)).collect()
    }

    /// Merges the objects of variables that hold different ones on the arms.
    pub fn merge_objects(&mut self, arms: &mut [Arm]) {
        for _ in 0..MOST {
            let to_merge = |slot: &Slot| slot.column(arms).is_some_and(|column| self.may_merge(&column, arms));
            let Some(slot) = self.slots(arms).into_iter().find(to_merge) else { return };
            self.hidden += 1;
            let id = self.hidden;
            for arm in arms.iter_mut() {
                let Some(Abs::Instance(old)) = slot.of(arm).cloned() else { continue };
                let new = self.renamed(&old, id);
                move_cells(&mut arm.0.frames[0], &old, &new);
                slot.set(arm, Abs::Instance(new));
            }
        }
    }

    /// An object that takes the place of another, under a new number.
    fn renamed(&mut self, old: &Instance, id: u32) -> Rc<Instance> {
        let new = Rc::new(old.with_id(id));
        self.objects.insert(Name::from(new.own()), Rc::clone(&new));
        new
    }

    fn may_merge(&self, column: &[&Abs], arms: &[Arm]) -> bool {
        let Abs::Instance(first) = column[0] else { return false };
        column.iter().any(|other| !other.same(column[0]))
            && column.iter().zip(arms).all(|(value, (state, extras))| match value {
                Abs::Instance(object) => {
                    object.module.is_none()
                        && object.class.is(&first.class)
                        && is_cells(object, &state.frames)
                        && self.references(object, &state.frames, extras) == 1
                }
                _ => false,
            })
    }

    /// How often an object is referred to.
    pub fn references(&self, object: &Instance, frames: &[Frame], extras: &[Abs]) -> usize {
        let mut count = 0;
        for frame in frames {
            self.world.budget.take(frame.vars.len() / 4);
            frame.vars.values().for_each(|value| count += in_value(value, object, 0));
            if let Some((_, receiver)) = &frame.owner {
                // A method's own parameter is counted once.
                let named = frame.vars.values().any(|value| value.same(receiver));
                count += if named { 0 } else { in_value(receiver, object, 0) };
            }
        }
        let others = extras.iter().chain(&self.held).chain(&self.handling);
        count + others.map(|value| in_value(value, object, 0)).sum::<usize>()
    }

    /// Makes a variable hold a new object, that takes the place of the one that it holds, if
    /// nothing else refers to that.
    pub fn rename_object(&mut self, depth: usize, name: &Name) -> Lift<Option<Rc<Instance>>> {
        self.own_value(depth, name)?;
        let Some(Abs::Instance(old)) = self.frames[depth].vars.get(name).cloned() else { return Ok(None) };
        if old.module.is_some() || !is_cells(&old, &self.frames) || self.references(&old, &self.frames, &[]) != 1 {
            return Ok(None);
        }
        self.hidden += 1;
        let new = self.renamed(&old, self.hidden);
        move_cells(&mut self.frames[0], &old, &new);
        self.frames[depth].vars.insert(name.clone(), Abs::Instance(Rc::clone(&new)));
        Ok(Some(new))
    }

    /// A variable that holds an object at the end of a turn and none at its start has no
    /// representation at the next, unless the object becomes a run-time value and what it held
    /// is one: then it refers to nothing.
    pub fn forget_objects(&mut self, at_header: &[Frame]) -> Lift<()> {
        for (depth, before) in at_header.iter().enumerate() {
            let kept: Vec<Rc<Instance>> = self.frames[depth]
                .vars
                .iter()
                .filter_map(|(name, now)| match (now, before.vars.get(name)?) {
                    (Abs::Instance(object), Abs::Dyn(_) | Abs::Tuple(_)) => Some(Rc::clone(object)),
                    (Abs::Instance(object), Abs::Const(constant))
                        if !matches!(constant, Object::Dict(_) | Object::Set(_)) =>
                    {
                        Some(Rc::clone(object))
                    }
                    (Abs::Instance(object), Abs::Instance(other)) if other.value.is_some() => Some(Rc::clone(object)),
                    _ => None,
                })
                .collect();
            for object in kept {
                self.may_escape(&object)?;
            }
        }
        for (frame, before) in self.frames.iter_mut().zip(at_header) {
            let lost = |(name, value): (&Name, &Abs)| {
                let object =
                    matches!(value, Abs::Instance(object) if object.value.is_none() && object.module.is_none());
                let kept = matches!(
                    before.vars.get(name),
                    Some(Abs::Instance(_) | Abs::Const(Object::Dict(_) | Object::Set(_)))
                );
                (object && !kept).then(|| name.clone())
            };
            let names: Vec<Name> = frame.vars.iter().filter_map(lost).collect();
            for name in names {
                if object_of(&name).is_none() {
                    frame.vars.insert(name, Abs::Conflict);
                }
            }
        }
        Ok(())
    }

    /// Puts what variables hold at the end of a turn into the objects that the loop has for them.
    pub fn back_into(&mut self, slots: &[(usize, Name)], objects: &[Option<Rc<Instance>>]) -> Lift<()> {
        for (depth, name) in slots {
            self.own_value(*depth, name)?;
        }
        let mut moves = Vec::new();
        for ((depth, name), object) in slots.iter().zip(objects) {
            let Some(object) = object else { continue };
            match self.frames[*depth].vars.get(name) {
                Some(Abs::Instance(now)) if now.is(object) => {}
                Some(Abs::Instance(now))
                    if now.module.is_none()
                        && now.class.is(&object.class)
                        && is_cells(now, &self.frames)
                        && self.references(now, &self.frames, &[]) == 1 =>
                {
                    moves.push((*depth, name.clone(), Rc::clone(now), Rc::clone(object)));
                }
                _ => {}
            }
        }
        // All are read before any is written: one may hold what was another's.
        let before = self.frames[0].vars.clone();
        for (_, _, _, to) in &moves {
            let old: Vec<Name> = cells(&self.frames[0].vars, to).map(|(name, _)| name.clone()).collect();
            old.iter().for_each(|name| {
                self.frames[0].vars.remove(name);
            });
        }
        for (depth, name, from, to) in moves {
            for (cell, value) in cells(&before, &from) {
                self.frames[0].vars.insert(cell_of(cell, &from, &to), value.clone());
            }
            self.frames[depth].vars.insert(name, Abs::Instance(to));
        }
        Ok(())
    }
}

/// Whether an object is nothing but cells.
fn is_cells(object: &Instance, frames: &[Frame]) -> bool {
    let own = |frame: &Frame| frame.vars.get(&object.own()[..]).is_some_and(|own| own.same(&Abs::NONE));
    object.value.is_none() && frames.first().is_some_and(own)
}

/// Gives the cells of an object to another.
pub(crate) fn move_cells(frame: &mut Frame, from: &Instance, to: &Instance) {
    let moved: Vec<(Name, Abs)> = cells(&frame.vars, from).map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, _) in &moved {
        frame.vars.remove(name);
    }
    for (name, value) in moved {
        frame.vars.insert(cell_of(&name, from, to), value);
    }
}

/// How often a value refers to an object; more than once where that would take long to say.
fn in_value(value: &Abs, object: &Instance, depth: usize) -> usize {
    match value {
        Abs::Const(_) | Abs::Dyn(_) => 0,
        Abs::Instance(other) => usize::from(object.is(other)),
        _ if depth > 40 => 2,
        other => {
            let mut count = 0;
            each_part(other, &mut |part| match part {
                Part::Value(part) => count += in_value(part, object, depth + 1),
                Part::Enclosing(Enclosing::Ended(captured)) => {
                    captured.vars.values().for_each(|part| count += in_value(part, object, depth + 1));
                }
                // Those variables are looked at where they are.
                Part::Enclosing(_) => {}
            });
            count
        }
    }
}
