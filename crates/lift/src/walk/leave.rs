//! Values that leave the frame in which they were made: functions and generators keep its
//! variables.
//!
//! While a frame is active they name it by its depth ([`Enclosing::Live`]), since they see later
//! assignments. When it ends, every way by which one of them leaves it, also within tuples,
//! defaults of parameters and variables of other functions, and by what variables of the frames
//! below hold ([`end_frames`]), must lead to a copy of its variables ([`Enclosing::Ended`]): at
//! that depth there will be another frame.
//!
//! Among the variables that are kept may be functions of the same frame. Those still name it
//! by its depth, which [`rebound`] replaces where one is read.

use crate::abs::{Abs, Captured, Closure, Enclosing, Iter};
use crate::budget::Budget;
use crate::data::choice::Choice;
use crate::data::tables::Table;
use crate::tree::ast::Name;
use crate::walk::lifter::{Frame, Vars};
use std::collections::HashMap;
use std::rc::Rc;

/// Nodes of values that are looked at.
pub(crate) const MOST: usize = 2_000;

/// A value that leaves the frame at `depth` and those above it; `None` where that cannot be said.
pub(crate) fn leave(value: &Abs, depth: usize, frames: &[Frame], budget: &Budget) -> Option<Abs> {
    Leaving::new(depth, frames, budget).value(value, None)
}

/// Ends the frames from `depth` on: functions that variables of others hold leave them too. Which frames made
/// any is known (`Lifter::makers`).
pub(crate) fn end_frames(frames: &mut Vec<Frame>, depth: usize, makers: &[bool], budget: &Budget) {
    if !makers.iter().take(frames.len()).skip(depth).any(|made| *made) {
        frames.truncate(depth);
        return;
    }
    let mut left: Vec<(usize, Name, Abs)> = Vec::new();
    let mut leaving = Leaving::new(depth, frames, budget);
    for (at, frame) in frames.iter().enumerate().take(depth) {
        budget.take(frame.vars.len() / 4);
        for (name, value) in frame.vars.iter() {
            if refers_to(value, depth, budget) {
                leaving.looked_at = 0;
                left.push((at, name.clone(), leaving.value(value, None).unwrap_or(Abs::Conflict)));
            }
        }
    }
    frames.truncate(depth);
    for (at, name, value) in left {
        frames[at].vars.insert(name, value);
    }
}

/// Whether a value holds functions of the frame at `depth` or of one above it.
pub(crate) fn refers_to(value: &Abs, depth: usize, budget: &Budget) -> bool {
    Search { found: &|at, own| at >= depth && Some(at) != own, looked_at: 0, budget }.value(value, None)
}

/// A variable that a frame that has ended holds.
pub(crate) fn rebound(value: &Abs, captured: &Rc<Captured>, budget: &Budget) -> Abs {
    let own = captured.depth;
    let mentions = Search { found: &|at, inner| at == own && inner.is_none(), looked_at: 0, budget }.value(value, None);
    if !mentions {
        return value.clone();
    }
    let enclosing = |enclosing: &Enclosing| {
        Some(match enclosing {
            Enclosing::Live(at) if *at == own => Enclosing::Ended(Rc::clone(captured)),
            other => other.clone(),
        })
    };
    mapped(value, &mut |part| match part {
        Part::Enclosing(part) => enclosing(part).map(Made::Enclosing),
        Part::Value(part) => Some(Made::Value(rebound(part, captured, budget))),
    })
    .unwrap_or(Abs::Conflict)
}

/// What a value is made of.
pub(crate) enum Part<'a> {
    Enclosing(&'a Enclosing),
    Value(&'a Abs),
}

/// What became of that.
enum Made {
    Enclosing(Enclosing),
    Value(Abs),
}

/// Looks at what a value is made of.
pub(crate) fn each_part<'v>(value: &'v Abs, f: &mut dyn FnMut(Part<'v>)) {
    match value {
        Abs::Tuple(items) => items.iter().for_each(|item| f(Part::Value(item))),
        Abs::Table(table) => table.keys.iter().chain(&table.items).for_each(|item| f(Part::Value(item))),
        Abs::OneOf(choice) => choice.of.iter().for_each(|(_, item)| f(Part::Value(item))),
        Abs::Method(method) => f(Part::Value(&method.0)),
        Abs::Bound(method) => f(Part::Value(&method.receiver)),
        Abs::Super(of) => f(Part::Value(&of.1)),
        Abs::ClassOf(exception) => f(Part::Value(exception)),
        Abs::ExcInst(exc) => exc.1.iter().for_each(|arg| f(Part::Value(arg))),
        Abs::Func(closure) => {
            f(Part::Enclosing(&closure.enclosing));
            closure.defaults.iter().for_each(|(_, default)| f(Part::Value(default)));
        }
        Abs::Iter(iter) => match &**iter {
            Iter::Range { start, stop, step } => [start, stop, step].into_iter().for_each(|part| f(Part::Value(part))),
            Iter::Enumerate { inner, start } => [inner, start].into_iter().for_each(|part| f(Part::Value(part))),
            Iter::Zip(inner) => inner.iter().for_each(|part| f(Part::Value(part))),
            Iter::View { .. } => {}
            Iter::Reversed { of, last } => std::iter::once(of).chain(last).for_each(|part| f(Part::Value(part))),
            Iter::Map { func, inner } | Iter::Filter { func, inner } => {
                [func, inner].into_iter().for_each(|part| f(Part::Value(part)));
            }
            Iter::Generator { first, enclosing, .. } => {
                f(Part::Value(first));
                f(Part::Enclosing(enclosing));
            }
            Iter::Call { function, args } => {
                f(Part::Value(function));
                args.iter().for_each(|(_, arg)| f(Part::Value(arg)));
            }
        },
        Abs::Const(_)
        | Abs::Dyn(_)
        | Abs::Builtin(_)
        | Abs::Module(_)
        | Abs::ExcClass(_)
        | Abs::Class(_)
        | Abs::Instance(_)
        | Abs::Unbound
        | Abs::Conflict => {}
    }
}

/// The value of other parts.
fn mapped(value: &Abs, f: &mut dyn FnMut(Part<'_>) -> Option<Made>) -> Option<Abs> {
    fn one(value: &Abs, f: &mut dyn FnMut(Part<'_>) -> Option<Made>) -> Option<Abs> {
        match f(Part::Value(value))? {
            Made::Value(value) => Some(value),
            Made::Enclosing(_) => None,
        }
    }
    fn around(enclosing: &Enclosing, f: &mut dyn FnMut(Part<'_>) -> Option<Made>) -> Option<Enclosing> {
        match f(Part::Enclosing(enclosing))? {
            Made::Enclosing(enclosing) => Some(enclosing),
            Made::Value(_) => None,
        }
    }
    Some(match value {
        Abs::Tuple(items) => Abs::Tuple(items.iter().map(|item| one(item, f)).collect::<Option<_>>()?),
        Abs::Table(table) => Abs::Table(Rc::new(Table {
            kind: table.kind,
            site: table.site,
            stands: table.stands.clone(),
            keys: table.keys.iter().map(|key| one(key, f)).collect::<Option<_>>()?,
            items: table.items.iter().map(|item| one(item, f)).collect::<Option<_>>()?,
        })),
        Abs::OneOf(choice) => {
            let of = choice.of.iter().map(|(at, item)| Some((*at, one(item, f)?)));
            Abs::OneOf(Rc::new(Choice { at: choice.at, of: of.collect::<Option<_>>()? }))
        }
        Abs::ClassOf(exception) => Abs::ClassOf(Rc::new(one(exception, f)?)),
        Abs::Method(method) => Abs::Method(Rc::new((one(&method.0, f)?, method.1.clone()))),
        Abs::ExcInst(exc) => {
            Abs::ExcInst(Rc::new((exc.0, exc.1.iter().map(|arg| one(arg, f)).collect::<Option<_>>()?)))
        }
        Abs::Func(closure) => Abs::Func(Rc::new(Closure {
            def: closure.def.clone(),
            module: closure.module,
            cached: closure.cached,
            enclosing: around(&closure.enclosing, f)?,
            defaults: closure
                .defaults
                .iter()
                .map(|(name, default)| Some((name.clone(), one(default, f)?)))
                .collect::<Option<_>>()?,
        })),
        Abs::Iter(iter) => Abs::Iter(Rc::new(match &**iter {
            Iter::Range { start, stop, step } => {
                Iter::Range { start: one(start, f)?, stop: one(stop, f)?, step: one(step, f)? }
            }
            Iter::Enumerate { inner, start } => Iter::Enumerate { inner: one(inner, f)?, start: one(start, f)? },
            Iter::Zip(inner) => Iter::Zip(inner.iter().map(|inner| one(inner, f)).collect::<Option<_>>()?),
            Iter::View { of, dict, items } => Iter::View { of: *of, dict: dict.clone(), items: items.clone() },
            Iter::Reversed { of, last } => Iter::Reversed {
                of: one(of, f)?,
                last: match last {
                    Some(last) => Some(one(last, f)?),
                    None => None,
                },
            },
            Iter::Map { func, inner } => Iter::Map { func: one(func, f)?, inner: one(inner, f)? },
            Iter::Filter { func, inner } => Iter::Filter { func: one(func, f)?, inner: one(inner, f)? },
            Iter::Call { function, args } => Iter::Call {
                function: one(function, f)?,
                args: args.iter().map(|(name, arg)| Some((name.clone(), one(arg, f)?))).collect::<Option<_>>()?,
            },
            Iter::Generator { comp, first, enclosing, module } => Iter::Generator {
                comp: comp.clone(),
                first: one(first, f)?,
                enclosing: around(enclosing, f)?,
                module: *module,
            },
        })),
        other => other.clone(),
    })
}

/// Looks for frames in a value: their depths, and that of the ended frame whose variable it is.
struct Search<'a> {
    found: &'a dyn Fn(usize, Option<usize>) -> bool,
    looked_at: usize,
    budget: &'a Budget,
}

impl Search<'_> {
    fn value(&mut self, value: &Abs, own: Option<usize>) -> bool {
        if matches!(value, Abs::Const(_) | Abs::Dyn(_)) {
            return false;
        }
        self.looked_at += 1;
        self.budget.take(1);
        if self.looked_at > MOST {
            return true;
        }
        let mut found = false;
        each_part(value, &mut |part| {
            found = found
                || match part {
                    Part::Value(part) => self.value(part, own),
                    Part::Enclosing(part) => self.enclosing(part, own),
                };
        });
        found
    }

    fn enclosing(&mut self, enclosing: &Enclosing, own: Option<usize>) -> bool {
        match enclosing {
            Enclosing::Module => false,
            Enclosing::Live(at) => (self.found)(*at, own),
            Enclosing::Ended(captured) => {
                let own = Some(captured.depth);
                self.enclosing(&captured.enclosing, own) || captured.vars.values().any(|value| self.value(value, own))
            }
        }
    }
}

struct Leaving<'a> {
    depth: usize,
    frames: &'a [Frame],
    /// What became of frames; nothing while it is being made.
    kept: HashMap<usize, Option<Rc<Captured>>>,
    /// What became of tables and functions, which are told from others.
    whole: HashMap<*const (), Abs>,
    looked_at: usize,
    budget: &'a Budget,
}

impl<'a> Leaving<'a> {
    fn new(depth: usize, frames: &'a [Frame], budget: &'a Budget) -> Leaving<'a> {
        Leaving { depth, frames, kept: HashMap::new(), whole: HashMap::new(), looked_at: 0, budget }
    }

    /// `own`: the depth of the ended frame whose variable it is.
    fn value(&mut self, value: &Abs, own: Option<usize>) -> Option<Abs> {
        if matches!(value, Abs::Const(_) | Abs::Dyn(_)) {
            return Some(value.clone());
        }
        self.looked_at += 1;
        if self.looked_at > MOST {
            return None;
        }
        let depth = self.depth;
        let found = |at, inner| at >= depth && Some(at) != inner;
        if !(Search { found: &found, looked_at: 0, budget: self.budget }).value(value, own) {
            // As it is, so that it stays the same.
            return Some(value.clone());
        }
        let whole = match value {
            Abs::Table(table) => Some(Rc::as_ptr(table).cast()),
            Abs::Func(function) => Some(Rc::as_ptr(function).cast()),
            _ => None,
        };
        if let Some(left) = whole.and_then(|whole| self.whole.get(&whole)) {
            return Some(left.clone());
        }
        let left = mapped(value, &mut |part| match part {
            Part::Value(part) => self.value(part, own).map(Made::Value),
            Part::Enclosing(part) => self.enclosing(part, own).map(Made::Enclosing),
        })?;
        self.whole.extend(whole.map(|whole| (whole, left.clone())));
        Some(left)
    }

    fn enclosing(&mut self, enclosing: &Enclosing, own: Option<usize>) -> Option<Enclosing> {
        Some(match enclosing {
            Enclosing::Live(at) if *at >= self.depth && Some(*at) != own => Enclosing::Ended(self.frame(*at)?),
            Enclosing::Ended(captured) => {
                let own = Some(captured.depth);
                Enclosing::Ended(Rc::new(Captured {
                    depth: captured.depth,
                    vars: self.vars(&captured.vars, own)?,
                    enclosing: self.enclosing(&captured.enclosing, own)?,
                }))
            }
            other => other.clone(),
        })
    }

    /// What is kept of a frame.
    fn frame(&mut self, at: usize) -> Option<Rc<Captured>> {
        if let Some(kept) = self.kept.get(&at) {
            return kept.clone();
        }
        self.kept.insert(at, None);
        let frame = self.frames.get(at)?;
        let enclosing = self.enclosing(&frame.enclosing, None)?;
        let kept = Rc::new(Captured { depth: at, vars: self.vars(&frame.vars, Some(at))?, enclosing });
        self.kept.insert(at, Some(Rc::clone(&kept)));
        Some(kept)
    }

    fn vars(&mut self, vars: &Vars, own: Option<usize>) -> Option<Vars> {
        let mut left = vars.clone();
        for (name, value) in vars.iter() {
            if !matches!(value, Abs::Const(_) | Abs::Dyn(_)) {
                left.insert(name.clone(), self.value(value, own)?);
            }
        }
        Some(left)
    }
}
