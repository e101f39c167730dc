//! Static values of which one is chosen at run time.
//!
//! Functions, classes and objects of the module have no run-time form, yet tables hold them
//! (`RULES = [('short', lambda s: len(s) < 3, 10), …]`, `OPS = {'+': add}`) and variables hold one
//! of several (`f = min if low else max`). Two values stand for that:
//!
//! - a [`Table`] is a list or a dict with such items, which nothing changes once functions run;
//! - a [`Choice`] is one of some static values: at run time it is an int, the position. What is
//!   done with it is lifted for each of them behind a test of the position
//!   ([`Lifter::choose`]), or, where that gives a constant for each, becomes a look-up in a
//!   table of those constants ([`Lifter::pick`]).
//!
//! Law: both are as good as what they stand for where everything that has an effect on a table is
//! refused, and where what a choice is between depends on no variable of one path.

use crate::abs::{Abs, Enclosing, Iter};
use crate::ast::Name;
use crate::bailout::Code;
use crate::budget::Budget;
use crate::class::{ClassObj, Member, Method};
use crate::heap::Instance;
use crate::leave::{Part, each_part};
use crate::lifter::{Lift, Lifter, Site, Split, describe};
use crate::merge::Arm;
use exuvia_ir::{DictObj, ExcKind, Int, Object, Opcode, SetObj, Terminator, Type, Value};
use std::rc::Rc;
use std::sync::Arc;

/// The most values between which one is chosen.
pub(crate) const MOST: usize = 64;

/// The parts of a value that are looked at.
const MOST_PARTS: usize = 100_000;

/// How deep values are nested that are looked at.
const MOST_NESTED: usize = 20;

/// The combinations of parts of tuples among which one is looked up.
const MOST_COMBINED: usize = 10_000;

/// One of several static values.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The position of the value, an int.
    pub at: Value,
    /// The values that it may be, by position.
    pub of: Vec<(i64, Abs)>,
}

/// A container with items that have no run-time form.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub kind: TableKind,
    /// The keys of a dict, all different: constants, or objects that are equal to themselves only.
    pub keys: Vec<Abs>,
    pub items: Vec<Abs>,
    /// Where a function writes it.
    pub site: Option<Site>,
    /// The constants that stand for what a set holds (`member_sets.rs`).
    pub stands: Option<Arc<SetObj>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    List,
    Dict,
    /// One of members of enumerations; its items are its keys.
    Set,
    /// The keys, values or items of one.
    View,
}

impl Table {
    fn of(kind: TableKind, keys: Vec<Abs>, items: Vec<Abs>) -> Abs {
        Abs::Table(Rc::new(Table { kind, keys, items, site: None, stands: None }))
    }

    /// A list of them, that was made at a site.
    pub fn list(items: Vec<Abs>, site: Option<Site>) -> Abs {
        Abs::Table(Rc::new(Table { kind: TableKind::List, keys: Vec::new(), items, site, stands: None }))
    }

    /// What iterating over it gives.
    pub fn iterated(&self) -> &[Abs] {
        if self.kind == TableKind::Dict { &self.keys } else { &self.items }
    }
}

/// Keys of which no two are equal: constants as Python compares them, tuples part by part, objects by
/// what they are.
#[derive(Default)]
struct Keys {
    all: Vec<Abs>,
    /// Those that are constants, and where each is among all.
    constants: DictObj,
    places: Vec<usize>,
}

impl Keys {
    /// Where a key is, or one that is equal.
    fn position(&self, key: &Abs) -> Option<usize> {
        match key {
            Abs::Const(object) => self.constants.position(object).map(|at| self.places[at]),
            _ => self.all.iter().position(|known| are_equal(known, key)),
        }
    }

    /// Adds a key, unless one that is equal is there; gives its position. `None`: it has no hash.
    fn insert(&mut self, key: &Abs) -> Option<usize> {
        self.insert_as(key, key)
    }

    /// Adds a key that is equal to another.
    fn insert_as(&mut self, key: &Abs, shown: &Abs) -> Option<usize> {
        if let Some(at) = self.position(key) {
            return Some(at);
        }
        match key {
            Abs::Const(object) if self.constants.insert(object.clone(), Object::None) => {
                self.places.push(self.all.len())
            }
            Abs::Tuple(parts) if parts.iter().all(|part| has_form(part) || is_itself_only(part)) => {}
            key if is_itself_only(key) || range_of(key).is_some() => {}
            _ => return None,
        }
        self.all.push(shown.clone());
        Some(self.all.len() - 1)
    }
}

/// Whether two constants are one key, or one member of a set.
pub(crate) fn are_one_key(a: &Object, b: &Object) -> bool {
    let mut one = DictObj::default();
    one.insert(a.clone(), Object::None);
    one.get(b).is_some()
}

/// Whether keys are equal that are no constants as a whole.
fn are_equal(left: &Abs, right: &Abs) -> bool {
    match (left, right) {
        (Abs::Const(a), Abs::Const(b)) => are_one_key(a, b),
        (Abs::Tuple(a), Abs::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| are_equal(a, b)),
        (Abs::Iter(_), Abs::Iter(_)) => range_of(left) == range_of(right),
        (a, b) => a.same(b),
    }
}

/// Whether a value is the same on every path: it depends on no run-time value.
fn is_fixed(abs: &Abs, budget: &Budget) -> bool {
    let mut left = MOST_PARTS;
    let fixed = is_fixed_within(abs, 0, &mut left);
    budget.take(MOST_PARTS - left);
    fixed
}

/// The parts of values that may still be looked at are in `left`.
fn is_fixed_within(abs: &Abs, depth: usize, left: &mut usize) -> bool {
    let own = match abs {
        Abs::Const(object) => !matches!(object, Object::Unbound),
        Abs::Instance(object) => object.module.is_some(),
        Abs::Iter(iter) => iter.is_lasting(),
        Abs::Tuple(_)
        | Abs::Table(_)
        | Abs::Func(_)
        | Abs::Method(_)
        | Abs::Bound(_)
        | Abs::Builtin(_)
        | Abs::Module(_)
        | Abs::Class(_)
        | Abs::ExcClass(_) => true,
        Abs::Dyn(_)
        | Abs::OneOf(_)
        | Abs::Super(_)
        | Abs::ExcInst(_)
        | Abs::ClassOf(_)
        | Abs::Unbound
        | Abs::Conflict => false,
    };
    let mut fixed = own && depth < MOST_NESTED && *left > 0;
    // An object is known by its number, whatever becomes of it.
    if let Abs::Bound(method) = abs
        && matches!(&method.receiver, Abs::Instance(object) if object.value.is_none())
    {
        return fixed;
    }
    if fixed {
        *left -= 1;
        each_part(abs, &mut |part| {
            fixed = fixed
                && match part {
                    Part::Value(value) => is_fixed_within(value, depth + 1, left),
                    // Variables of a frame are looked up when the function is called.
                    Part::Enclosing(Enclosing::Module | Enclosing::Live(_)) => true,
                    Part::Enclosing(Enclosing::Ended(captured)) => {
                        captured.vars.values().all(|value| is_fixed_within(value, depth + 1, left))
                    }
                };
        });
    }
    fixed
}

/// Whether a value has no run-time form, whatever it holds.
fn is_formless(abs: &Abs) -> bool {
    match abs {
        Abs::Func(_)
        | Abs::Method(_)
        | Abs::Bound(_)
        | Abs::Builtin(_)
        | Abs::Class(_)
        | Abs::ExcClass(_)
        | Abs::Table(_)
        | Abs::OneOf(_) => true,
        Abs::Instance(object) => object.module.is_some(),
        Abs::Tuple(items) => items.iter().any(is_formless),
        Abs::Iter(_) => range_of(abs).is_some(),
        _ => false,
    }
}

/// What a range is that is known: how many numbers it has, and as far as that says which, the first one
/// and the step. Ranges of the same numbers are equal.
fn range_of(abs: &Abs) -> Option<(i128, i64, i64)> {
    let Abs::Iter(iter) = abs else { return None };
    let Iter::Range { start, stop, step } = &**iter else { return None };
    let int = |abs: &Abs| match abs {
        Abs::Const(Object::Int(value)) => value.to_i64(),
        _ => None,
    };
    let (start, stop, step) = (int(start)?, int(stop)?, int(step)?);
    let way = if step > 0 { i128::from(stop) - i128::from(start) } else { i128::from(start) - i128::from(stop) };
    let by = i128::from(step).abs();
    Some(match (way + by - 1).checked_div_euclid(by)?.max(0) {
        0 => (0, 0, 0),
        1 => (1, start, 0),
        len => (len, start, step),
    })
}

/// Whether an object is equal to itself only.
fn is_itself_only(abs: &Abs) -> bool {
    matches!(abs, Abs::Instance(object) if object.module.is_some() && object.class.lacks_equality())
}

/// Whether a constant can be a run-time value.
fn has_form(abs: &Abs) -> bool {
    let plain = |object: &Object| {
        matches!(object, Object::None | Object::Bool(_) | Object::Int(_) | Object::Float(_) | Object::Str(_))
            || matches!(object, Object::Record(record) if record.class.is_value())
    };
    abs.as_const().is_some_and(plain)
}

/// A value of which it is known where a position is. Several choices may have one: an object of the
/// module, and what an attribute of it is.
fn narrowed(abs: &Abs, at: Value, position: i64) -> Option<Abs> {
    match abs {
        Abs::OneOf(choice) if choice.at == at => {
            choice.of.iter().find(|(known, _)| *known == position).map(|(_, item)| item.clone())
        }
        Abs::Tuple(items) => Abs::renewed(items, |item| narrowed(item, at, position)),
        _ => None,
    }
}

/// Operands of which it is known where a position is.
fn all_narrowed(args: &[Abs], at: Value, position: i64) -> Vec<Abs> {
    args.iter().map(|arg| narrowed(arg, at, position).unwrap_or_else(|| arg.clone())).collect()
}

/// The choices of a position within a value.
fn choices_at(abs: &Abs, at: Value, found: &mut Vec<Rc<Choice>>) {
    match abs {
        Abs::OneOf(choice) if choice.at == at => found.push(Rc::clone(choice)),
        Abs::Tuple(items) => items.iter().for_each(|item| choices_at(item, at, found)),
        _ => {}
    }
}

/// A value with a choice in the place of another.
fn rechosen(abs: &Abs, old: &Rc<Choice>, new: &Abs) -> Option<Abs> {
    match abs {
        Abs::OneOf(choice) if Rc::ptr_eq(choice, old) => Some(new.clone()),
        Abs::Tuple(items) => Abs::renewed(items, |item| rechosen(item, old, new)),
        _ => None,
    }
}

fn choice_of(args: &[Abs]) -> Option<&Rc<Choice>> {
    args.iter().find_map(|arg| match arg {
        Abs::OneOf(choice) => Some(choice),
        _ => None,
    })
}

impl Lifter<'_> {
    // ---- choices ----

    /// Runs `f` for each of the values, with every variable that holds the choice narrowed to it,
    /// and joins the results.
    pub fn choose(&mut self, choice: &Rc<Choice>, f: &mut dyn FnMut(&mut Self, Abs) -> Lift<Abs>) -> Lift<Abs> {
        self.choose_at(choice, &mut |me, _, item| f(me, item))
    }

    /// [`Lifter::choose`], with the position of each.
    fn choose_at(&mut self, choice: &Rc<Choice>, f: &mut dyn FnMut(&mut Self, i64, Abs) -> Lift<Abs>) -> Lift<Abs> {
        let mut arms: Vec<Arm> = Vec::new();
        self.each_choice(choice, &mut |me, position, item| {
            let result = f(me, position, item)?;
            arms.extend(me.state().map(|state| (state, vec![result])));
            Ok(())
        })?;
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    fn each_choice(&mut self, choice: &Rc<Choice>, f: &mut dyn FnMut(&mut Self, i64, Abs) -> Lift<()>) -> Lift<()> {
        for (index, (position, item)) in choice.of.iter().enumerate() {
            if !self.live {
                break;
            }
            let mut others = Vec::new();
            if index + 1 < choice.of.len() {
                let is_it = self.apply("a==b", &[Abs::Dyn(choice.at), Abs::int(*position)])?;
                let (yes, no) = self.split_value(&is_it)?;
                others = no;
                self.enter_any(yes)?;
            }
            self.narrow_choices(choice.at, &[*position])?;
            self.arms += 1;
            let done = f(self, *position, item.clone());
            self.arms -= 1;
            done?;
            self.enter_any(others)?;
        }
        Ok(())
    }

    /// Narrows every variable that holds a choice by a position that is one of those.
    fn narrow_choices(&mut self, at: Value, positions: &[i64]) -> Lift<()> {
        let mut choices: Vec<Rc<Choice>> = Vec::new();
        for frame in &self.frames {
            self.world.budget.take(frame.vars.len() / 4);
            frame.vars.values().for_each(|abs| choices_at(abs, at, &mut choices));
        }
        choices.sort_by_key(Rc::as_ptr);
        choices.dedup_by(|a, b| Rc::ptr_eq(a, b));
        for choice in choices {
            let is_left = |(position, _): &&(i64, Abs)| positions.contains(position);
            let left: Vec<_> = choice.of.iter().filter(is_left).cloned().collect();
            if left.is_empty() {
                continue;
            }
            let new = self.pick(&Abs::Dyn(at), left)?;
            for frame in &mut self.frames {
                let new: Vec<_> = frame
                    .vars
                    .iter()
                    .filter_map(|(name, abs)| Some((name.clone(), rechosen(abs, &choice, &new)?)))
                    .collect();
                for (name, abs) in new {
                    frame.vars.insert(name, abs);
                }
            }
        }
        Ok(())
    }

    /// The value at a position that is known to be that of one of some static values.
    pub fn pick(&mut self, at: &Abs, of: Vec<(i64, Abs)>) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Abs::Const(Object::Int(at)) = at {
            let found = of.into_iter().find(|(position, _)| Some(*position) == at.to_i64());
            return Ok(found.map_or(Abs::Unbound, |found| found.1));
        }
        let Some((_, first)) = of.first() else { return Ok(Abs::Unbound) };
        if of.iter().all(|(_, item)| item.same(first)) {
            return Ok(first.clone());
        }
        if of.iter().all(|(_, item)| has_form(item)) {
            return self.constant_at(at, &of);
        }
        let tuples: Option<Vec<(i64, Vec<Abs>)>> =
            of.iter().map(|(position, item)| Some((*position, item.tuple_items()?))).collect();
        if let Some(tuples) = tuples
            && tuples.iter().all(|(_, items)| items.len() == tuples[0].1.len())
        {
            let column = |index: usize| tuples.iter().map(|(at, items)| (*at, items[index].clone())).collect();
            let items = (0..tuples[0].1.len()).map(|index| self.pick(at, column(index))).collect::<Lift<Vec<_>>>()?;
            return Ok(Abs::tuple(items));
        }
        match at {
            // Methods of objects that are there, on this path.
            Abs::Dyn(at)
                if of.len() <= MOST
                    && of
                        .iter()
                        .all(|(_, item)| matches!(item, Abs::Bound(_)) || is_fixed(item, &self.world.budget)) =>
            {
                Ok(Abs::OneOf(Rc::new(Choice { at: *at, of })))
            }
            Abs::Dyn(at) if of.iter().all(|(_, item)| self.is_value_object(item)) => {
                let several = Abs::OneOf(Rc::new(Choice { at: *at, of }));
                Ok(self.copied_value(&several)?.unwrap_or(several))
            }
            _ => self.bail(Code::StaticValue, format!("one of {} values without a run-time form", of.len())),
        }
    }

    /// The constant at a position.
    fn constant_at(&mut self, at: &Abs, of: &[(i64, Abs)]) -> Lift<Abs> {
        let filler = of.first().and_then(|(_, item)| item.as_const()).cloned().unwrap_or(Object::None);
        let last = of.iter().map(|(position, _)| *position).max().unwrap_or(0);
        let mut values = vec![filler; usize::try_from(last).map_or(0, |last| last + 1)];
        for (position, item) in of {
            if let (Ok(position), Abs::Const(object)) = (usize::try_from(*position), item) {
                values[position] = object.clone();
            }
        }
        let mut table = DictObj::default();
        for (position, value) in values.into_iter().enumerate() {
            table.insert(Object::int(position as i64), value);
        }
        self.dict_value_at(&Abs::Const(Object::Dict(Arc::new(table))), at)
    }

    /// What a function of no effect makes of each, if that is known for all of them.
    fn mapped<F>(&mut self, choice: &Choice, mut f: F) -> Lift<Option<Abs>>
    where
        F: FnMut(&mut Self, i64, &Abs) -> Lift<Option<Abs>>,
    {
        let mut made = Vec::new();
        for (position, item) in &choice.of {
            match f(self, *position, item)? {
                Some(value) => made.push((*position, value)),
                None => return Ok(None),
            }
        }
        self.pick(&Abs::Dyn(choice.at), made).map(Some)
    }

    /// The states in which a choice has a quality, and the others, with variables narrowed.
    pub fn split_choice(&mut self, choice: &Rc<Choice>, has: &dyn Fn(&Abs) -> bool) -> Lift<Split> {
        let (yes, no): (Vec<_>, Vec<_>) = choice.of.iter().cloned().partition(|(_, item)| has(item));
        let Some(state) = self.state() else { return Ok((Vec::new(), Vec::new())) };
        if yes.is_empty() {
            return Ok((Vec::new(), vec![state]));
        }
        if no.is_empty() {
            return Ok((vec![state], Vec::new()));
        }
        let answers = choice.of.iter().map(|(position, item)| (*position, Abs::bool(has(item)))).collect();
        let answer = self.pick(&Abs::Dyn(choice.at), answers)?;
        let (true_states, false_states) = self.split_value(&answer)?;
        let mut narrow = |states: Vec<_>, of: Vec<(i64, Abs)>| -> Lift<Vec<_>> {
            self.enter_any(states)?;
            if self.live {
                let positions: Vec<i64> = of.iter().map(|(position, _)| *position).collect();
                self.narrow_choices(choice.at, &positions)?;
            }
            Ok(self.state().into_iter().collect())
        };
        Ok((narrow(true_states, yes)?, narrow(false_states, no)?))
    }

    /// Whether two values are one; `None` where the answer takes more than to look at both.
    pub fn is_one(left: &Abs, right: &Abs) -> Option<bool> {
        let plain = |abs: &Abs| match abs {
            Abs::Const(object) => matches!(object, Object::None),
            Abs::Func(_) | Abs::Builtin(_) | Abs::Class(_) | Abs::ExcClass(_) | Abs::Module(_) | Abs::Table(_) => true,
            Abs::Instance(object) => object.module.is_some(),
            _ => false,
        };
        let known =
            |abs: &Abs| plain(abs) || matches!(abs, Abs::Const(_) | Abs::Tuple(_) | Abs::Method(_) | Abs::Bound(_));
        let is_none = |abs: &Abs| abs.same(&Abs::NONE);
        let settled = plain(left) && plain(right) || is_none(left) && known(right) || known(left) && is_none(right);
        settled.then(|| left.same(right))
    }

    /// Whether two values are equal; `None` where the answer takes more than to look at both.
    fn is_equal(left: &Abs, right: &Abs) -> Option<bool> {
        let objects = |abs: &Abs| matches!(abs, Abs::Instance(_) | Abs::Table(_)) && !is_itself_only(abs);
        if objects(left) || objects(right) {
            return None;
        }
        Lifter::is_one(left, right)
    }

    /// `is` and `==` of choices; `None` where neither operand is one.
    pub fn compare_choices(
        &mut self,
        args: &[Abs; 2],
        by_identity: bool,
        negated: bool,
        other: &mut dyn FnMut(&mut Self, &Abs, &Abs) -> Lift<Abs>,
    ) -> Lift<Option<Abs>> {
        let Some(choice) = choice_of(args).cloned() else { return Ok(None) };
        if let Some(answer) = self.compare_positions(&args[0], &args[1], by_identity, negated)? {
            return Ok(Some(answer));
        }
        let known = self.mapped(&choice, |_, position, _| {
            let both = all_narrowed(args, choice.at, position);
            let same =
                if by_identity { Lifter::is_one(&both[0], &both[1]) } else { Lifter::is_equal(&both[0], &both[1]) };
            Ok(same.map(|same| Abs::bool(same != negated)))
        })?;
        match known {
            Some(answer) => Ok(Some(answer)),
            None => self
                .choose_at(&choice, &mut |me, position, _| {
                    let both = all_narrowed(args, choice.at, position);
                    other(me, &both[0], &both[1])
                })
                .map(Some),
        }
    }

    /// An operation with a choice among its operands; `None` where there is none.
    pub fn apply_to_choice(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if let Some(result) = self.apply_to_table(spelling, args)? {
            return Ok(Some(result));
        }
        // Which container it is comes first: what is looked up in it is one look-up.
        let choice = match (spelling, args) {
            ("a in b", [_, Abs::OneOf(choice)]) => Some(choice),
            _ => choice_of(args),
        };
        let Some(choice) = choice.cloned() else { return Ok(None) };
        let apply = &mut |me: &mut Self, at, _| me.apply(spelling, &all_narrowed(args, choice.at, at));
        self.choose_at(&choice, apply).map(Some)
    }

    /// Whether a value is true, where that takes no more than to look at it.
    pub fn known_truth(abs: &Abs) -> Option<bool> {
        match abs {
            Abs::Const(object) => crate::operate::constant_truth(object),
            known if crate::operate::is_true(known) => Some(true),
            Abs::Table(table) => Some(!table.iterated().is_empty()),
            Abs::Tuple(items) => Some(!items.is_empty()),
            Abs::Instance(object) => {
                let lacks = |name: &str| ClassObj::find(&object.class, name).is_none();
                (lacks("__bool__") && lacks("__len__") && !ClassObj::is_named(&object.class)).then_some(true)
            }
            _ => None,
        }
    }

    /// An attribute of each.
    pub fn attribute_of_choice(&mut self, choice: &Rc<Choice>, name: &Name) -> Lift<Abs> {
        let own = self.mapped(choice, |me, _, item| match item {
            Abs::Instance(object) => match (me.own_attribute(object, name)?, ClassObj::find(&object.class, name)) {
                (_, Some((_, Member::Property { .. } | Member::Cached(_)))) => Ok(None),
                (Some(value), _) if is_fixed(&value, &me.world.budget) => Ok(Some(value)),
                _ => Ok(None),
            },
            _ => Ok(None),
        })?;
        match own {
            Some(value) => Ok(value),
            None => self.choose(choice, &mut |me, item| me.attribute(item, name)),
        }
    }

    /// `choice[index]`.
    pub fn item_of_choice(&mut self, choice: &Rc<Choice>, index: &Abs) -> Lift<Abs> {
        let known = self.mapped(choice, |_, _, item| {
            Ok(match (item, index) {
                (Abs::Const(Object::Dict(dict)), Abs::Const(key)) => dict.get(key).cloned().map(Abs::Const),
                (Abs::Const(Object::List(list)), Abs::Const(Object::Int(at))) => {
                    let at = at.to_i64().and_then(|at| usize::try_from(at).ok());
                    at.and_then(|at| list.read(|items| items.get(at).cloned())).map(Abs::Const)
                }
                _ => None,
            })
        })?;
        match known {
            Some(value) => Ok(value),
            None => self.choose(choice, &mut |me, item| me.item(item, index.clone())),
        }
    }

    /// The text with which a text begins that is made at run time, as far as its source says so.
    fn prefix_of(&self, text: &Abs) -> Arc<str> {
        let mut value = match text {
            Abs::Dyn(value) => *value,
            _ => return "".into(),
        };
        for _ in 0..MOST_NESTED {
            let Some(inst) = self.b.function.made_by(value) else { break };
            match (&inst.op, inst.args.first()) {
                (Opcode::Const(Object::Str(text)), _) => return Arc::clone(text),
                (Opcode::Op("str.concat"), Some(first)) => value = *first,
                _ => break,
            }
        }
        "".into()
    }

    /// The attribute of an object whose name is known at run time: one of its methods.
    pub fn attribute_by_name(&mut self, object: &Rc<Instance>, name: &Abs) -> Lift<Abs> {
        let class = &object.class;
        let mut methods: Vec<Name> = Vec::new();
        let mut others: Vec<Name> = self.names_of_attributes(object);
        for (name, member) in ClassObj::ancestry(class).flat_map(|class| &class.members) {
            if !methods.contains(name) && !others.contains(name) {
                match member {
                    Member::Value(Abs::Func(_)) | Member::Static(Abs::Func(_)) | Member::OfClass(_) => {
                        methods.push(name.clone());
                    }
                    _ => others.push(name.clone()),
                }
            }
        }
        let prefix = self.prefix_of(name);
        let data: Vec<Name> = others.iter().filter(|name| name.starts_with(&*prefix)).cloned().collect();
        methods.retain(|name| !name.starts_with("__") && name.starts_with(&*prefix));
        let is_plain = ClassObj::ancestry(class).all(|class| !class.prelude)
            && class.exception.is_none()
            && !ClassObj::is_named(class)
            && !crate::enums::is_enumeration(class);
        if !is_plain
            || ClassObj::is_slotted(class)
            || ClassObj::find(class, "__getattr__").is_some()
            || methods.is_empty() && data.is_empty()
            || methods.len().max(data.len()) > MOST
        {
            return self.bail(Code::StaticValue, "an attribute whose name is not constant");
        }
        // Methods are called, what is read is data; the rows where it is the other leave.
        let reads = methods.is_empty() || prefix.is_empty() && !data.is_empty();
        if reads {
            (methods, others) = (data, methods);
        }
        let mut known = DictObj::default();
        for (at, name) in methods.iter().enumerate() {
            known.insert(Object::str(name), Object::int(at as i64));
        }
        let at = self.dict_position(&Abs::Const(Object::Dict(Arc::new(known))), name)?;
        let (yes, no) = self.split_missing(&at)?;
        self.enter_any(yes)?;
        if self.live {
            let others = Object::tuple(others.iter().map(|name| Object::str(name)).collect());
            self.call_of_prelude("_no_attribute", vec![Abs::str(&class.name), name.clone(), Abs::Const(others)])?;
        }
        self.enter_any(no)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let at = self.value(&at)?;
        if reads {
            let of = methods.iter().enumerate().map(|(at, name)| (at as i64, Abs::str(name))).collect();
            return self.choose(&Rc::new(Choice { at, of }), &mut |me, name| match name {
                Abs::Const(Object::Str(name)) => me.instance_attribute(object, &Name::from(&*name)),
                _ => Ok(Abs::Unbound),
            });
        }
        let bound = methods.iter().map(|name| self.instance_attribute(object, name));
        let of = bound.collect::<Lift<Vec<_>>>()?.into_iter().enumerate();
        Ok(Abs::OneOf(Rc::new(Choice { at, of: of.map(|(at, method)| (at as i64, method)).collect() })))
    }

    /// Joins what variables hold on several paths that has no run-time form; `None` where it
    /// depends on the path. The second: what each path says of it, its position.
    pub fn joined_choice(&self, column: &[Abs]) -> Option<Vec<(i64, Abs)>> {
        self.joined_with(Vec::new(), column, &|_| false)
    }

    /// The same, with what is known to be among them, and which objects are there on all paths.
    pub fn joined_with(
        &self,
        mut of: Vec<(i64, Abs)>,
        column: &[Abs],
        is_there: &dyn Fn(&Abs) -> bool,
    ) -> Option<Vec<(i64, Abs)>> {
        for abs in column {
            let single = [(0, abs.clone())];
            let items = match abs {
                Abs::OneOf(choice) => &choice.of[..],
                _ => &single[..],
            };
            for (_, item) in items {
                let is_of_object =
                    |method: &Method| matches!(method.receiver, Abs::Instance(_)) && is_there(&method.receiver);
                if !is_fixed(item, &self.world.budget) && !matches!(item, Abs::Bound(method) if is_of_object(method)) {
                    return None;
                }
                if !of.iter().any(|(_, known)| known.same(item)) {
                    of.push((of.len() as i64, item.clone()));
                }
            }
            self.world.budget.take(of.len() * items.len());
            if of.len() > MOST {
                return None;
            }
        }
        Some(of)
    }

    /// The position of a value among those; `None` if it is none of them.
    pub fn position_in(&mut self, abs: &Abs, of: &[(i64, Abs)]) -> Lift<Option<Value>> {
        let position = |item: &Abs| of.iter().find(|(_, known)| known.same(item)).map(|found| Abs::int(found.0));
        let at = match abs {
            Abs::OneOf(choice) => {
                let positions: Option<Vec<(i64, Abs)>> =
                    choice.of.iter().map(|(at, item)| Some((*at, position(item)?))).collect();
                let Some(positions) = positions else { return Ok(None) };
                if positions.iter().all(|(at, new)| new.same(&Abs::int(*at))) {
                    Abs::Dyn(choice.at)
                } else {
                    // At the end of a path, where the state is another's: nothing is looked at but the block.
                    self.constant_at(&Abs::Dyn(choice.at), &positions)?
                }
            }
            other => match position(other) {
                Some(at) => at,
                None => return Ok(None),
            },
        };
        self.value(&at).map(Some)
    }

    // ---- tables ----

    /// Whether a list of such items is a table: it holds what has no run-time form.
    pub fn is_table(&self, items: &[Abs]) -> bool {
        let held = |item: &Abs| is_formless(item) || self.module_mode && !matches!(item, Abs::Const(_));
        items.iter().any(held) && items.iter().all(|item| is_fixed(item, &self.world.budget))
    }

    /// A dict that holds what has no run-time form; `None` if it does not, or cannot.
    pub fn dict_table(&mut self, entries: &[(Option<Abs>, Abs)]) -> Option<Abs> {
        let ints: Vec<Option<Abs>> = entries.iter().map(|(key, _)| self.value_of_key(key.as_ref()?)).collect();
        let mut keys = Keys::default();
        let mut items = Vec::new();
        let mut hashable = true;
        let mut add = |key: &Abs, equal: &Abs, item: &Abs| match keys.insert_as(equal, key) {
            // Keys that are equal are one, as it was first written.
            Some(at) if at < items.len() => items[at] = item.clone(),
            Some(_) => items.push(item.clone()),
            None => hashable = false,
        };
        let mut formless = false;
        for ((key, item), int) in entries.iter().zip(ints) {
            match (key, item) {
                (Some(key), item) => {
                    formless |= is_formless(key) || is_formless(item);
                    add(key, int.as_ref().unwrap_or(key), item);
                }
                (None, Abs::Const(Object::Dict(dict))) => {
                    dict.entries()
                        .iter()
                        .map(|(key, item)| (Abs::Const(key.clone()), Abs::Const(item.clone())))
                        .for_each(|(key, item)| add(&key, &key, &item));
                }
                (None, Abs::Table(table)) if table.kind == TableKind::Dict => {
                    formless = true;
                    let ints: Vec<_> = table.keys.iter().map(|key| self.value_of_key(key)).collect();
                    for ((key, item), int) in table.keys.iter().zip(&table.items).zip(ints) {
                        add(key, int.as_ref().unwrap_or(key), item);
                    }
                }
                (None, _) => return None,
            }
        }
        (formless && hashable && items.iter().all(|item| is_fixed(item, &self.world.budget)))
            .then(|| Table::of(TableKind::Dict, keys.all, items))
    }

    /// The int or the text that a member of the module is as a key.
    fn value_of_key(&mut self, abs: &Abs) -> Option<Abs> {
        match abs {
            Abs::Instance(object) if object.module.is_some() => self.plain_member(abs).ok().flatten(),
            _ => None,
        }
    }

    /// The position of a key, -1 where it is missing.
    pub fn table_position(&mut self, table: &Table, key: &Abs) -> Lift<Abs> {
        if let Some(plain) = self.plain_member(key)? {
            return self.table_position(table, &plain);
        }
        let found = |key: &Abs| table.keys.iter().position(|known| known.same(key)).map_or(-1, |at| at as i64);
        if let Some(parts) = key.tuple_items()
            && let Some(keys) = table.keys.iter().map(Abs::tuple_items).collect::<Option<Vec<_>>>()
        {
            return match self.position_of_tuple(&keys, &parts)? {
                Some(at) => Ok(at),
                None => self.bail(Code::Operands, "such a tuple as a key"),
            };
        }
        match key {
            Abs::Iter(_) if range_of(key).is_some() => {
                let at = table.keys.iter().position(|known| are_equal(known, key));
                return Ok(Abs::int(at.map_or(-1, |at| at as i64)));
            }
            Abs::Instance(_) if is_itself_only(key) => return Ok(Abs::int(found(key))),
            Abs::OneOf(choice) if choice.of.iter().all(|(_, item)| is_itself_only(item)) => {
                let positions = choice.of.iter().map(|(at, item)| (*at, Abs::int(found(item)))).collect();
                return self.pick(&Abs::Dyn(choice.at), positions);
            }
            Abs::OneOf(choice) => {
                let choice = Rc::clone(choice);
                return self.choose(&choice, &mut |me, item| me.table_position(table, &item));
            }
            Abs::Instance(_) => return self.bail(Code::Operands, "such an object as a key"),
            _ => {}
        }
        let mut constants = DictObj::default();
        let mut positions = Vec::new();
        for (at, known) in table.keys.iter().enumerate() {
            if let Abs::Const(known) = self.value_of_key(known).as_ref().unwrap_or(known) {
                constants.insert(known.clone(), Object::None);
                positions.push((positions.len() as i64, Abs::int(at as i64)));
            }
        }
        if constants.is_empty() {
            // Objects that are equal to themselves only.
            return match self.type_of(key) {
                Some(ty) if !ty.holds_object() && !ty.holds_list() => Ok(Abs::int(-1)),
                _ => self.bail(Code::Operands, "such a key"),
            };
        }
        let at = self.dict_position(&Abs::Const(Object::Dict(Arc::new(constants))), key)?;
        if positions.len() == table.keys.len() || !self.live {
            return Ok(at);
        }
        let (yes, no) = self.split_missing(&at)?;
        let mut arms: Vec<Arm> = yes.into_iter().map(|state| (state, vec![Abs::int(-1)])).collect();
        self.enter_any(no)?;
        let at = self.pick(&at, positions)?;
        arms.extend(self.state().map(|state| (state, vec![at])));
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    /// The position of a tuple among keys that are tuples of as many: that of each of its parts
    /// among those of the keys, and then that of all of them together. `None` for other keys.
    pub fn position_of_tuple(&mut self, keys: &[Vec<Abs>], parts: &[Abs]) -> Lift<Option<Abs>> {
        // What has no hash raises, wherever the others are.
        let has_hash = |part: &Abs| match part {
            Abs::OneOf(choice) => choice.of.iter().all(|(_, item)| has_form(item) || is_itself_only(item)),
            part => is_itself_only(part) || self.type_of(part).is_some_and(|ty| !ty.holds_list() && !ty.holds_object()),
        };
        if parts.is_empty() || !parts.iter().all(has_hash) || keys.iter().any(|key| key.len() != parts.len()) {
            return Ok(None);
        }
        let mut columns: Vec<Keys> = std::iter::repeat_with(Keys::default).take(parts.len()).collect();
        let mut places: Vec<Vec<usize>> = Vec::new();
        for key in keys {
            match columns.iter_mut().zip(key).map(|(column, part)| column.insert(part)).collect() {
                Some(place) => places.push(place),
                None => return Ok(None),
            }
        }
        let combined = columns.iter().fold(1usize, |all, column| all.saturating_mul(column.all.len()));
        if combined > MOST_COMBINED {
            return Ok(None);
        }
        self.world.budget.take(combined + keys.len() * parts.len());
        let mut positions: Vec<(i64, Abs)> = (0..combined).map(|at| (at as i64, Abs::int(-1))).collect();
        for (at, place) in places.iter().enumerate() {
            let place = columns.iter().zip(place).fold(0, |place, (column, part)| place * column.all.len() + part);
            positions[place].1 = Abs::int(at as i64);
        }
        let mut arms: Vec<Arm> = Vec::new();
        let mut place = Abs::int(0);
        for (column, part) in columns.into_iter().zip(parts) {
            let len = column.all.len() as i64;
            let column = Table { kind: TableKind::Dict, keys: column.all, items: Vec::new(), site: None, stands: None };
            let at = self.table_position(&column, part)?;
            let (missing, found) = self.split_missing(&at)?;
            arms.extend(missing.into_iter().map(|state| (state, vec![Abs::int(-1)])));
            self.enter_any(found)?;
            if self.live {
                let scaled = self.apply("a*b", &[place.clone(), Abs::int(len)])?;
                place = self.apply("a+b", &[scaled, at])?;
            }
        }
        let at = self.pick(&place, positions)?;
        arms.extend(self.state().map(|state| (state, vec![at])));
        Ok(Some(self.join(arms)?.pop().unwrap_or(Abs::Unbound)))
    }

    /// The states in which a position says that there is none, and the others.
    pub fn split_missing(&mut self, at: &Abs) -> Lift<Split> {
        let missing = self.apply("a<b", &[at.clone(), Abs::int(0)])?;
        self.split_value(&missing)
    }

    /// `table[index]`.
    pub fn item_of_table(&mut self, table: &Rc<Table>, index: &Abs) -> Lift<Abs> {
        let len = table.items.len() as i64;
        let at = match table.kind {
            TableKind::Dict => self.table_position(table, index)?,
            TableKind::List if matches!(self.type_of(index), Some(Type::Int | Type::Bool)) => {
                let beyond = |me: &mut Self, far: i128, order| {
                    me.apply(order, &[index.clone(), Abs::Const(Object::Int(Int::from_i128(far)))])
                };
                for (far, order) in [(1 << 63, "a>=b"), (-(1 << 63) - 1, "a<=b")] {
                    let far = beyond(self, far, order)?;
                    let (far, near) = self.split_value(&far)?;
                    self.enter_any(far)?;
                    if self.live {
                        self.raise_message(ExcKind::IndexError, "cannot fit 'int' into an index-sized integer")?;
                    }
                    self.enter_any(near)?;
                }
                let from_end = self.apply("a<b", &[index.clone(), Abs::int(0)])?;
                let (yes, no) = self.split_value(&from_end)?;
                self.enter_any(yes)?;
                let moved = if self.live { self.apply("a+b", &[index.clone(), Abs::int(len)])? } else { Abs::Unbound };
                let mut arms: Vec<Arm> = self.state().map(|state| (state, vec![moved])).into_iter().collect();
                self.enter_any(no)?;
                let at = if self.live { self.apply("a+b", &[index.clone(), Abs::int(0)])? } else { Abs::Unbound };
                arms.extend(self.state().map(|state| (state, vec![at])));
                let at = self.join(arms)?.pop().unwrap_or(Abs::Unbound);
                let high = if self.live { self.apply("a>=b", &[at.clone(), Abs::int(len)])? } else { Abs::Unbound };
                let (high, fits) = self.split_value(&high)?;
                self.enter_any(high)?;
                if self.live {
                    self.raise_message(ExcKind::IndexError, "list index out of range")?;
                }
                self.enter_any(fits)?;
                at
            }
            TableKind::List | TableKind::Set | TableKind::View => {
                return self.bail(Code::Operands, format!("an item of {}", describe(&Abs::Table(Rc::clone(table)))));
            }
        };
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let (yes, no) = self.split_missing(&at)?;
        self.enter_any(yes)?;
        if self.live {
            match (table.kind, self.type_of(index)) {
                (TableKind::Dict, Some(ty)) if ty.has_repr() => self.raise(ExcKind::KeyError, vec![index.clone()])?,
                (TableKind::Dict, _) => {
                    let span = self.b.span;
                    self.end(Terminator::Bailout("a KeyError with an object", span));
                }
                _ => {
                    self.raise_message(ExcKind::IndexError, "list index out of range")?;
                }
            }
        }
        self.enter_any(no)?;
        self.pick(&at, numbered(&table.items))
    }

    /// An operation of a table; `None` where there is none among the operands.
    fn apply_to_table(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if let (".append", [list, item], true) = (spelling, args, self.module_mode)
            && (item.as_const().is_none() || matches!(list, Abs::Table(_)))
            && self.append_while_loading(list, item)?
        {
            return Ok(Some(Abs::NONE));
        }
        if let Some(result) = self.operator_of_static_sets(spelling, args)? {
            return Ok(Some(result));
        }
        if let ("a in b", [item, container]) = (spelling, args)
            && self.is_equal_to_itself_only(item)
            && self.holds_plain_values(container)
        {
            return Ok(Some(Abs::bool(false)));
        }
        let table = match args.last() {
            Some(Abs::Table(table)) => Rc::clone(table),
            Some(other) => match self.members_of(other) {
                Some(members) if spelling != "truth" && spelling != "bool" => members,
                _ => return Ok(None),
            },
            None => return Ok(None),
        };
        if matches!(args, [item, Abs::Class(_)] if item.as_const().is_some() || matches!(item, Abs::Dyn(_))) {
            return self.bail(Code::Operands, "what is no member looked up in an enumeration");
        }
        match (spelling, args) {
            ("len", [_]) => Ok(Some(Abs::int(table.iterated().len() as i64))),
            ("truth" | "bool", [_]) => Ok(Some(Abs::bool(!table.iterated().is_empty()))),
            ("a in b", [item, _]) if matches!(table.kind, TableKind::Dict | TableKind::Set) => {
                let at = self.table_position(&table, item)?;
                self.apply("a>=b", &[at, Abs::int(0)]).map(Some)
            }
            ("a in b", [item, Abs::Class(class)])
                if let Some(own) = self.class_of_module(item).filter(crate::enums::is_enumeration) =>
            {
                Ok(Some(Abs::bool(own.is(class))))
            }
            ("a in b", [item, _]) => {
                let items = Abs::Tuple(table.items.clone().into());
                self.apply(spelling, &[item.clone(), items]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether a value is a container none of whose items has identity.
    fn holds_plain_values(&self, container: &Abs) -> bool {
        match container {
            Abs::Const(object) => {
                matches!(object, Object::List(_) | Object::Dict(_) | Object::Set(_) | Object::Tuple(_))
            }
            other => match self.type_of(other) {
                Some(Type::List(element)) => *element == Type::Never || crate::operate::is_plain(&element),
                _ => false,
            },
        }
    }

    /// Methods of a table.
    pub fn method_of_table(&mut self, table: &Rc<Table>, name: &str, args: &[Abs]) -> Lift<Abs> {
        self.change_of_constant(&Abs::Table(Rc::clone(table)), name)?;
        if let Some(result) = self.method_of_static_set(&Abs::Table(Rc::clone(table)), name, args)? {
            return Ok(result);
        }
        match (table.kind, name, args) {
            (TableKind::Dict, "get", [key] | [key, _]) => {
                let at = self.table_position(table, key)?;
                let (yes, no) = self.split_missing(&at)?;
                let default = args.get(1).cloned().unwrap_or(Abs::NONE);
                let mut arms: Vec<Arm> = yes.into_iter().map(|state| (state, vec![default.clone()])).collect();
                self.enter_any(no)?;
                let found = self.pick(&at, numbered(&table.items))?;
                arms.extend(self.state().map(|state| (state, vec![found])));
                Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
            }
            (TableKind::Dict, "keys", []) => Ok(Table::of(TableKind::View, Vec::new(), table.keys.clone())),
            (TableKind::Dict, "values", []) => Ok(Table::of(TableKind::View, Vec::new(), table.items.clone())),
            (TableKind::Dict, "items", []) => {
                let both = table.keys.iter().zip(&table.items);
                let items = both.map(|(key, item)| Abs::tuple(vec![key.clone(), item.clone()])).collect();
                Ok(Table::of(TableKind::View, Vec::new(), items))
            }
            (TableKind::List, "append", [item]) => self.apply(".append", &[Abs::Table(Rc::clone(table)), item.clone()]),
            _ => {
                self.changes(&Abs::Table(Rc::clone(table)))?;
                self.bail(Code::Callee, format!("method {name} of {}", describe(&Abs::Table(Rc::clone(table)))))
            }
        }
    }

    /// `container[key] = value` where a module is run, of what has no run-time form.
    pub fn store_while_loading(&mut self, container: &Abs, key: &Abs, value: &Abs) -> Lift<()> {
        let new = match container {
            Abs::Const(Object::Dict(_)) | Abs::Table(_) if is_fixed(value, &self.world.budget) => {
                self.dict_table(&[(None, container.clone()), (Some(key.clone()), value.clone())])
            }
            _ => None,
        };
        match new {
            Some(new) => self.replace_table(container, new),
            None => self.bail(Code::Mutation, "a dict filled at the top level"),
        }
    }

    /// Appends to a list where a module is run, what is no constant.
    pub fn append_while_loading(&mut self, list: &Abs, item: &Abs) -> Lift<bool> {
        let mut items = match list {
            Abs::Const(Object::List(list)) => list.items().into_iter().map(Abs::Const).collect(),
            Abs::Table(table) if table.kind == TableKind::List => table.items.clone(),
            _ => return Ok(false),
        };
        items.push(item.clone());
        if !self.is_table(&items) {
            return Ok(false);
        }
        self.replace_table(list, Table::list(items, None))?;
        Ok(true)
    }

    /// Puts a table in the place of a container everywhere, where a module is run: what was known of
    /// the container was true until now.
    fn replace_table(&mut self, old: &Abs, new: Abs) -> Lift<()> {
        let is_it = |abs: &Abs| match (abs, old) {
            (Abs::Table(a), Abs::Table(b)) => Rc::ptr_eq(a, b),
            (Abs::Const(Object::Dict(a)), Abs::Const(Object::Dict(b))) => Arc::ptr_eq(a, b),
            (Abs::Const(Object::List(a)), Abs::Const(Object::List(b))) => Arc::ptr_eq(a, b),
            _ => false,
        };
        if matches!(&new, Abs::Table(table) if table.items.len() > 4 * MOST) {
            return self.bail(Code::Budget, "a table of so many functions or objects");
        }
        // Within another value it cannot be replaced.
        let mut left = MOST_PARTS;
        let mut within = self.held.iter().any(|abs| holds_within(abs, &is_it, 0, &mut left) || is_it(abs));
        for frame in &self.frames {
            self.world.budget.take(frame.vars.len());
            within |= frame.vars.values().any(|abs| holds_within(abs, &is_it, 0, &mut left));
        }
        self.world.budget.take(MOST_PARTS - left);
        if within {
            return self.bail(Code::Mutation, "a change of a container that another holds, or that is iterated");
        }
        for frame in &mut self.frames {
            let names: Vec<_> = frame.vars.iter().filter(|(_, abs)| is_it(abs)).map(|(name, _)| name.clone()).collect();
            for name in names {
                frame.vars.insert(name, new.clone());
            }
        }
        Ok(())
    }
}

/// Whether a value is one of a module, which sees no variables of functions.
pub(crate) fn is_of_module(abs: &Abs, budget: &Budget) -> bool {
    is_fixed(abs, budget) && !crate::leave::refers_to(abs, 0, budget)
}

/// The items with their positions.
pub(crate) fn numbered(items: &[Abs]) -> Vec<(i64, Abs)> {
    items.iter().enumerate().map(|(at, item)| (at as i64, item.clone())).collect()
}

/// Whether a value holds another, apart from being it.
fn holds_within(abs: &Abs, is_it: &impl Fn(&Abs) -> bool, depth: usize, left: &mut usize) -> bool {
    if depth > MOST_NESTED || *left == 0 {
        return true;
    }
    *left -= 1;
    if let Abs::Const(object) = abs {
        let mut one = |object: &Object| {
            let abs = Abs::Const(object.clone());
            is_it(&abs) || holds_within(&abs, is_it, depth + 1, left)
        };
        return match object {
            Object::Tuple(items) => items.iter().any(one),
            Object::List(list) => list.items().iter().any(one),
            Object::Dict(dict) => dict.entries().iter().any(|(_, value)| one(value)),
            _ => false,
        };
    }
    let mut found = false;
    each_part(abs, &mut |part| {
        found = found
            || match part {
                Part::Value(value) => is_it(value) || holds_within(value, is_it, depth + 1, left),
                Part::Enclosing(Enclosing::Ended(captured)) => {
                    captured.vars.values().any(|value| is_it(value) || holds_within(value, is_it, depth + 1, left))
                }
                Part::Enclosing(_) => false,
            };
    });
    if let Abs::Class(class) = abs {
        found |= class.constants().any(|value| is_it(value) || holds_within(value, is_it, depth + 1, left));
    }
    found
}
