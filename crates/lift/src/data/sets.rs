//! Sets: those that are constant, with the order that CPython gives them, and displays of others.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::member_sets::StaticSet;
use crate::objects::class::ClassObj;
use crate::tree::ast::{Expr, ExprKind, Folded};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Object, SetObj, SetTable};
use exuvia_ops::own_hash;
use std::rc::Rc;
use std::sync::Arc;

/// How many elements a display of constants has that CPython's compiler makes a constant of.
const LEAST_FOLDED: usize = 3;

/// How many elements a display has that are evaluated before any is added (`STACK_USE_GUIDELINE`).
const MOST_AT_ONCE: usize = 30;

/// A frozenset of what another is iterated for, as the compiler makes one of every constant that is one.
fn made_anew(set: &SetObj) -> SetObj {
    let mut anew = SetObj::empty(true);
    match set.in_order() {
        Some(members) => members.into_iter().for_each(|member| {
            own_hash::add(&mut anew, member);
        }),
        None => anew = SetObj::without_order(set.members.clone(), true),
    }
    anew
}

/// Whether a set that is made anew once more has all members where they were.
fn is_lasting(table: &SetTable, anew: &SetTable) -> bool {
    let order = table.order();
    let places = anew.places().iter().map(|at| at.map(|at| order[at as usize] as u32));
    places.eq(table.places().iter().copied())
}

/// Whether the compiler may put another object in the place of a constant text, which it does where an
/// equal one that looks like a name is known to the process (Objects/codeobject.c, `intern_constants`).
fn may_be_interned(object: &Object) -> bool {
    matches!(object, Object::Str(text)
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// The frozenset that the compiler makes of constants.
fn folded_set(by_item: &SetObj, folded: Folded) -> SetObj {
    let mut set = made_anew(by_item);
    let texts = set.members.entries().iter().any(|entry| may_be_interned(&entry.0));
    if let (Some(table), true) = (&set.table, texts) {
        // Then it is made once more.
        let again = made_anew(&set);
        if !again.table.is_some_and(|again| is_lasting(table, &again)) {
            set.table = None;
        }
    }
    if folded == Folded::Unknown {
        set.table = None;
    }
    set
}

/// The parts of a constant set, as the prelude has them of others; nothing where its table is not known.
pub fn parts(set: &SetObj) -> Vec<Abs> {
    let Some(table) = &set.table else { return Vec::new() };
    let ints = |ints: Vec<i64>| Abs::Const(Object::list(ints.into_iter().map(Object::int).collect()));
    let members = set.members.entries().iter().map(|entry| entry.0.clone()).collect();
    let places = table.places().iter().map(|at| at.map_or(-1, i64::from)).collect();
    vec![
        Abs::Const(Object::list(members)),
        ints(table.hashes().to_vec()),
        ints(places),
        Abs::int(set.members.len() as i64),
    ]
}

/// How two constant sets compare.
pub fn compared(spelling: &str, a: &SetObj, b: &SetObj) -> bool {
    let within = |a: &SetObj, b: &SetObj| a.members.entries().iter().all(|entry| b.members.get(&entry.0).is_some());
    let (less, same) = (a.members.len() <= b.members.len(), a.members.len() == b.members.len());
    match spelling {
        "a==b" => same && within(a, b),
        "a!=b" => !(same && within(a, b)),
        "a<=b" => less && within(a, b),
        "a<b" => less && !same && within(a, b),
        "a>=b" => within(b, a),
        _ => !same && within(b, a),
    }
}

/// `|`, `&`, `-` and `^` of two sets, or of one with itself.
pub fn combined(spelling: &str, a: &SetObj, b: &SetObj, is_one: bool) -> SetObj {
    let mut result = SetObj::empty(a.frozen);
    let keep = |result: &mut SetObj, from: &SetObj, others: &SetObj, within: bool| {
        let ordered = from.in_order();
        let members = || from.members.entries().iter().map(|entry| entry.0.clone()).collect();
        result.table = result.table.take().filter(|_| ordered.is_some());
        for member in ordered.unwrap_or_else(members) {
            if others.members.get(&member).is_some() == within {
                own_hash::add(result, member);
            }
        }
    };
    match spelling {
        "a|b" => {
            result.merge(a);
            if !is_one {
                result.merge(b);
            }
        }
        "a&b" if is_one => result.merge(a),
        // Those of the smaller one, of the right one where both are as large.
        "a&b" if b.members.len() > a.members.len() => keep(&mut result, a, b, true),
        "a&b" => keep(&mut result, b, a, true),
        "a-b" => {
            keep(&mut result, a, b, false);
            // From a copy of a much larger one those of the other are taken.
            if a.members.len() >> 2 > b.members.len() {
                result.table = None;
            }
        }
        _ => {
            keep(&mut result, a, b, false);
            keep(&mut result, b, a, false);
            result.table = None;
        }
    }
    result
}

impl Lifter<'_> {
    /// `{a, *b, c}`.
    pub fn set_display(&mut self, items: &[Expr], folded: Folded) -> Lift<Abs> {
        let starred = items.iter().any(|item| matches!(item.kind, ExprKind::Starred(_)));
        if !self.module_mode && (starred || items.len() > MOST_AT_ONCE) && folded == Folded::No {
            return self.set_of_parts(items);
        }
        let mut parts = Vec::new();
        let held = self.held.len();
        for item in items {
            let (expr, starred) = match &item.kind {
                ExprKind::Starred(inner) => (&**inner, true),
                _ => (item, false),
            };
            let value = self.expr(expr)?;
            self.held.push(value.clone());
            parts.push((value, starred));
        }
        self.held.truncate(held);
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let constant = parts.iter().all(|(value, starred)| !starred && value.as_const().is_some());
        if constant && (self.module_mode || !self.is_changing()) {
            let set = self.display_of_constants(parts.iter().map(|part| &part.0), folded)?;
            return Ok(self.written(Object::Set(Arc::new(set))));
        }
        let of_members = |me: &Self| {
            let is_known =
                |(value, starred): &(Abs, bool)| !starred && (value.as_const().is_some() || me.is_member(value));
            parts.iter().any(|(value, _)| me.is_member(value)) && parts.iter().all(is_known)
        };
        if self.module_mode || !self.is_changing() && of_members(self) {
            let mut set = StaticSet::empty(false);
            for (value, starred) in parts {
                if starred {
                    self.add_all(&mut set, &value)?;
                } else {
                    self.add_to(&mut set, &value)?;
                }
            }
            return self.static_set(set);
        }
        if constant && parts.len() >= LEAST_FOLDED && folded != Folded::No {
            let set = self.folded(parts.iter().map(|part| &part.0), folded)?;
            return self.new_container("set", vec![Abs::Const(Object::Set(Arc::new(set)))]);
        }
        let set = self.new_container("set", Vec::new())?;
        for (at, (value, _)) in parts.into_iter().enumerate() {
            self.apart(at, |me| me.call_of(&set, "add", vec![value]))?;
        }
        Ok(if self.live { set } else { Abs::Unbound })
    }

    /// A display with stars, or a long one, to which each part is added before the next is evaluated.
    fn set_of_parts(&mut self, items: &[Expr]) -> Lift<Abs> {
        let set = self.new_container("set", Vec::new())?;
        let held = self.held.len();
        self.held.push(set.clone());
        for (at, item) in items.iter().enumerate() {
            let (expr, method) = match &item.kind {
                ExprKind::Starred(inner) => (&**inner, "update"),
                _ => (item, "add"),
            };
            let value = self.expr(expr)?;
            self.apart(at, |me| me.call_of(&set, method, vec![value]))?;
        }
        self.held.truncate(held);
        Ok(if self.live { set } else { Abs::Unbound })
    }

    /// What a loop goes over, where that is a display whose elements are all constants; `None` of others.
    pub fn iterated_display(&mut self, expr: &Expr) -> Lift<Option<Abs>> {
        let ExprKind::Set(items, folded @ (Folded::Yes | Folded::Unknown)) = &expr.kind else { return Ok(None) };
        let mut values = Vec::new();
        for item in items {
            values.push(self.expr(item)?);
        }
        if !self.live || !values.iter().all(|value| value.as_const().is_some()) {
            return Ok(None);
        }
        let set = self.folded(values.iter(), *folded)?;
        Ok(Some(Abs::Const(Object::Set(Arc::new(set)))))
    }

    fn folded<'a>(&mut self, values: impl Iterator<Item = &'a Abs>, folded: Folded) -> Lift<SetObj> {
        let mut by_item = SetObj::empty(true);
        for value in values {
            self.add_constant(&mut by_item, value)?;
        }
        Ok(folded_set(&by_item, folded))
    }

    fn display_of_constants<'a>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'a Abs>,
        folded: Folded,
    ) -> Lift<SetObj> {
        let mut set = SetObj::empty(false);
        if values.len() >= LEAST_FOLDED && folded != Folded::No {
            set.merge(&self.folded(values, folded)?);
        } else {
            for value in values {
                self.add_constant(&mut set, value)?;
            }
        }
        Ok(set)
    }

    fn add_constant(&mut self, set: &mut SetObj, value: &Abs) -> Lift<()> {
        match value {
            Abs::Const(object) if own_hash::add(set, object.clone()) => Ok(()),
            _ => self.bail(Code::Operands, "a member of a set that is not hashable here"),
        }
    }

    /// `set(x)` and `frozenset(x)` of what is known.
    pub fn constant_set(&mut self, iterable: Option<&Abs>, frozen: bool) -> Lift<Abs> {
        if let (true, Some(same @ Abs::Const(Object::Set(set)))) = (frozen, iterable)
            && set.frozen
        {
            return Ok(same.clone());
        }
        if let Some(set) = iterable
            && self.is_set_of_members(set)
        {
            return self.copied_static_set(set, Some(frozen));
        }
        let mut set = StaticSet::empty(frozen);
        if let Some(iterable) = iterable {
            self.add_all(&mut set, iterable)?;
        }
        self.static_set(set)
    }

    /// `set(x)` in a function.
    pub fn set_of(&mut self, iterable: Option<&Abs>) -> Lift<Abs> {
        if let Some(iterable) = iterable
            && self.gives_members(iterable)
            && !self.is_changing()
        {
            return self.constant_set(Some(iterable), false);
        }
        if let Some(iterable) = iterable
            && iterable.as_const().is_some()
            && !self.is_changing()
            && (matches!(iterable, Abs::Const(Object::Set(_))) || self.known_items(iterable).is_some())
        {
            return match self.constant_set(Some(iterable), false)? {
                Abs::Const(object) => Ok(self.written(object)),
                other => Ok(other),
            };
        }
        if iterable.is_none()
            && let Some(empty) = self.constant_empty(Object::Set(Arc::new(SetObj::empty(false))))
        {
            return Ok(empty);
        }
        self.new_container("set", iterable.cloned().into_iter().collect())
    }

    /// `frozenset(x)` in a function.
    pub fn frozenset_of(&mut self, iterable: Option<&Abs>) -> Lift<Abs> {
        match iterable {
            Some(Abs::Instance(object)) if ClassObj::is_below(&object.class, "frozenset") => {
                Ok(Abs::Instance(Rc::clone(object)))
            }
            Some(given) if self.gives_members(given) => self.constant_set(iterable, true),
            Some(given) if given.as_const().is_none() || self.known_items(given).is_none() => {
                self.new_container("frozenset", vec![given.clone()])
            }
            // One that is joined with others, as an accumulator is, is an object as they are.
            None => match self.constant_empty(Object::Set(Arc::new(SetObj::empty(true)))) {
                Some(empty) => Ok(empty),
                None => self.new_container("frozenset", Vec::new()),
            },
            constant => match self.constant_set(constant, true)? {
                Abs::Const(object) => Ok(self.written(object)),
                other => Ok(other),
            },
        }
    }

    /// `|`, `&`, `-` and `^` of constant sets.
    pub fn operator_of_constant_sets(&mut self, spelling: &str, a: &Arc<SetObj>, b: &Arc<SetObj>) -> Lift<Abs> {
        self.world.budget.take(4 * (a.members.len() + b.members.len()));
        let result = Object::Set(Arc::new(combined(spelling, a, b, Arc::ptr_eq(a, b))));
        if a.frozen || !self.is_changing() {
            return Ok(self.written(result));
        }
        match self.prelude_function("collections", "_adopted")? {
            Some(function) => self.call_value(&function, vec![Abs::Const(result)], Vec::new()),
            None => self.bail(Code::Mutation, "a set of constants that is changed"),
        }
    }
}
