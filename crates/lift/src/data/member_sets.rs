//! Sets of members of enumerations that are known while lifting.
//!
//! `DONE = {Status.PAID, Status.FAILED}` has no constant in it, but nothing of it depends on a row. A
//! constant set stands for it that holds each member's name, or the int or the text that a member is
//! besides: they have the members' hashes (Lib/enum.py, `Enum.__hash__`), so that members lie where these
//! do, which is the order of the set.
//!
//! Law: two members of one set for which equal constants stand are equal themselves.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::sets::{combined, compared};
use crate::data::tables::{Table, TableKind, are_one_key};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Object, SetObj};
use exuvia_ops::own_hash;
use std::rc::Rc;
use std::sync::Arc;

/// A set that is being made of constants and members.
#[derive(Debug)]
pub(crate) struct StaticSet {
    set: SetObj,
    /// The members, with what stands for each.
    members: Vec<(Object, Abs)>,
}

impl StaticSet {
    /// An empty one.
    pub fn empty(frozen: bool) -> StaticSet {
        StaticSet { set: SetObj::empty(frozen), members: Vec::new() }
    }

    /// One that a value is.
    pub fn of(abs: &Abs) -> Option<StaticSet> {
        match abs {
            Abs::Const(Object::Set(set)) => Some(StaticSet { set: (**set).clone(), members: Vec::new() }),
            Abs::Table(table) => {
                let set = (**table.stands.as_ref()?).clone();
                let both = set.in_order()?.into_iter().zip(&table.items);
                let members = both.filter(|(_, item)| item.as_const().is_none());
                let members = members.map(|(stand, item)| (stand, item.clone())).collect();
                Some(StaticSet { set, members })
            }
            _ => None,
        }
    }

    /// Whether the set itself has it, or what stands for a member.
    fn has(&self, stand: &Object) -> bool {
        self.set.members.get(stand).is_some()
    }

    /// What a constant stands for.
    fn meant(&self, stand: &Object) -> Option<&Abs> {
        self.members
            .iter()
            .find(|(known, _)| known.ty() == stand.ty() && are_one_key(known, stand))
            .map(|found| &found.1)
    }
}

/// The table that a set with members is.
fn table_of(abs: &Abs) -> Option<&Rc<Table>> {
    match abs {
        Abs::Table(table) if table.kind == TableKind::Set => Some(table),
        _ => None,
    }
}

/// Whether a value is a set that is known, with members or without.
fn is_static(abs: &Abs) -> bool {
    table_of(abs).is_some() || matches!(abs, Abs::Const(Object::Set(_)))
}

impl Lifter<'_> {
    /// Whether a value is a member of an enumeration.
    pub fn is_member(&self, abs: &Abs) -> bool {
        matches!(abs, Abs::Instance(object) if object.module.is_some() && self.enum_of(&object.class).is_some())
    }

    /// The constant that stands for a member, and whether they are equal.
    fn stand_for(&mut self, member: &Abs) -> Lift<Option<(Object, bool)>> {
        let Abs::Instance(object) = member else { return Ok(None) };
        if !self.is_member(member) {
            return Ok(None);
        }
        if let Some(Abs::Const(plain)) = self.plain_member(member)? {
            return Ok(Some((plain, true)));
        }
        Ok(match self.own_attribute(object, "_name_")? {
            Some(Abs::Const(name)) => Some((name, false)),
            _ => None,
        })
    }

    /// `set.add`.
    pub fn add_to(&mut self, into: &mut StaticSet, value: &Abs) -> Lift<()> {
        let (stand, equal) = match value {
            Abs::Const(object) => (object.clone(), true),
            other => match self.stand_for(other)? {
                Some(stand) => stand,
                None => return self.bail(Code::Mutation, "a set built at run time"),
            },
        };
        if into.has(&stand) {
            // The first of equal ones is kept.
            let same = match into.meant(&stand) {
                Some(known) => {
                    known.same(value) || equal && self.stand_for(&known.clone())?.is_some_and(|known| known.1)
                }
                None => equal,
            };
            return if same { Ok(()) } else { self.bail(Code::SetOrder, "a set with such members") };
        }
        if value.as_const().is_none() {
            into.members.push((stand.clone(), value.clone()));
        }
        if own_hash::add(&mut into.set, stand) {
            return Ok(());
        }
        self.bail(Code::Operands, "a member of a set that is not hashable here")
    }

    /// `set.update`.
    pub fn add_all(&mut self, into: &mut StaticSet, iterable: &Abs) -> Lift<()> {
        if let Some(other) = StaticSet::of(iterable) {
            self.world.budget.take(4 * other.set.members.len());
            self.check_alike(into, &other)?;
            into.set.merge(&other.set);
            for (stand, member) in other.members {
                if into.meant(&stand).is_none() {
                    into.members.push((stand, member));
                }
            }
            return Ok(());
        }
        if let Abs::Const(Object::Dict(dict)) = iterable {
            into.set.reserve(dict.len());
        }
        let Some(items) = self.known_items(iterable) else {
            return self.bail(Code::Mutation, "a set built at run time");
        };
        items.iter().try_for_each(|item| self.add_to(into, item))
    }

    /// Refuses two sets in which one constant stands for different things.
    fn check_alike(&mut self, a: &StaticSet, b: &StaticSet) -> Lift<()> {
        let differ = |one: &StaticSet, other: &StaticSet| {
            one.members
                .iter()
                .any(|(stand, member)| other.has(stand) && other.meant(stand).is_none_or(|known| !known.same(member)))
        };
        if differ(a, b) || differ(b, a) { self.bail(Code::SetOrder, "sets with such members") } else { Ok(()) }
    }

    /// What was made: a constant, or a table.
    pub fn static_set(&mut self, made: StaticSet) -> Lift<Abs> {
        let StaticSet { set, mut members } = made;
        members.retain(|(stand, _)| set.members.get(stand).is_some());
        if members.is_empty() {
            return Ok(self.written(Object::Set(Arc::new(set))));
        }
        let Some(order) = set.in_order() else {
            return self.bail(Code::SetOrder, "a set of members whose order is not known");
        };
        self.world.budget.take(order.len() * members.len());
        let known = StaticSet { set: set.clone(), members };
        let items: Vec<Abs> =
            order.into_iter().map(|stand| known.meant(&stand).cloned().unwrap_or(Abs::Const(stand))).collect();
        let site = (!self.module_mode).then(|| self.site());
        let (keys, stands) = (items.clone(), Some(Arc::new(set)));
        Ok(Abs::Table(Rc::new(Table { kind: TableKind::Set, keys, items, site, stands })))
    }

    /// `|`, `&`, `-`, `^` and comparisons of sets with members; `None` of others.
    pub fn operator_of_static_sets(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        let [left, right] = args else { return Ok(None) };
        if table_of(left).or(table_of(right)).is_none() || !is_static(left) || !is_static(right) {
            return Ok(None);
        }
        let (Some(mut a), Some(b)) = (StaticSet::of(left), StaticSet::of(right)) else { return Ok(None) };
        match spelling {
            "a==b" | "a!=b" | "a<=b" | "a<b" | "a>=b" | "a>b" => {
                self.check_alike(&a, &b)?;
                Ok(Some(Abs::bool(compared(spelling, &a.set, &b.set))))
            }
            // An augmented one changes the left operand.
            "a|b" | "a&b" | "a-b" | "a^b" if !self.augmented || a.set.frozen => {
                self.check_alike(&a, &b)?;
                self.world.budget.take(4 * (a.set.members.len() + b.set.members.len()));
                let is_one = matches!((left, right), (Abs::Table(left), Abs::Table(right)) if Rc::ptr_eq(left, right));
                a.set = combined(spelling, &a.set, &b.set, is_one);
                a.members.extend(b.members);
                self.static_set(a).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A method of a set with members; `None` of others.
    pub fn method_of_static_set(&mut self, set: &Abs, name: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        let spelling = match (name, args) {
            ("copy", []) => return self.copied_static_set(set, None).map(Some),
            ("union", [_]) => "a|b",
            ("intersection", [_]) => "a&b",
            ("difference", [_]) => "a-b",
            ("symmetric_difference", [_]) => "a^b",
            ("issubset", [_]) => "a<=b",
            ("issuperset", [_]) => "a>=b",
            _ => return Ok(None),
        };
        self.operator_of_static_sets(spelling, &[set.clone(), args[0].clone()])
    }

    /// `set(x)`, or `frozenset(x)`, of such a set; as itself where nothing says which.
    pub fn copied_static_set(&mut self, set: &Abs, frozen: Option<bool>) -> Lift<Abs> {
        let is_frozen = table_of(set).and_then(|table| table.stands.as_ref()).is_some_and(|stands| stands.frozen);
        let frozen = frozen.unwrap_or(is_frozen);
        if frozen && is_frozen {
            return Ok(set.clone());
        }
        let mut copy = StaticSet::empty(frozen);
        self.add_all(&mut copy, set)?;
        self.static_set(copy)
    }

    /// Whether a value is a set with members, or an enumeration.
    pub fn gives_members(&self, abs: &Abs) -> bool {
        self.is_set_of_members(abs) || self.members_of(abs).is_some()
    }

    /// Whether a value is a set with members.
    pub fn is_set_of_members(&self, abs: &Abs) -> bool {
        table_of(abs).is_some()
    }
}
