//! Static values of which one is chosen at run time.
//!
//! Functions, classes and objects of the module have no run-time form, yet tables hold them
//! (`RULES = [('short', lambda s: len(s) < 3, 10), …]`, `OPS = {'+': add}`) and variables hold one
//! of several (`f = min if low else max`). Two values stand for that:
//!
//! - a [`crate::data::tables::Table`] is a list or a dict with such items, which nothing changes once functions run;
//! - a [`Choice`] is one of some static values: at run time it is an int, the position. What is
//!   done with it is lifted for each of them behind a test of the position
//!   ([`Lifter::choose`]), or, where that gives a constant for each, becomes a look-up in a
//!   table of those constants ([`Lifter::pick`]).
//!
//! Law: both are as good as what they stand for where everything that has an effect on a table is
//! refused, and where what a choice is between depends on no variable of one path.

use crate::abs::{Abs, Enclosing, Iter};
use crate::bailout::Code;
use crate::budget::Budget;
use crate::objects::class::{ClassObj, Member, Method};
use crate::objects::heap::Instance;
use crate::objects::merge::Arm;
use crate::tree::ast::Name;
use crate::walk::leave::{Part, each_part};
use crate::walk::lifter::{Lift, Lifter, Split};
use exuvia_ir::{DictObj, Object, Opcode, Value};
use std::rc::Rc;
use std::sync::Arc;

/// The most values between which one is chosen.
pub(crate) const MOST: usize = 64;

/// The parts of a value that are looked at.
pub(crate) const MOST_PARTS: usize = 100_000;

/// How deep values are nested that are looked at.
pub(crate) const MOST_NESTED: usize = 20;

/// The combinations of parts of tuples among which one is looked up.
pub(crate) const MOST_COMBINED: usize = 10_000;

/// One of several static values.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The position of the value, an int.
    pub at: Value,
    /// The values that it may be, by position.
    pub of: Vec<(i64, Abs)>,
}

/// Whether a value is the same on every path: it depends on no run-time value.
pub(crate) fn is_fixed(abs: &Abs, budget: &Budget) -> bool {
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
pub(crate) fn is_formless(abs: &Abs) -> bool {
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
pub(crate) fn range_of(abs: &Abs) -> Option<(i128, i64, i64)> {
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
pub(crate) fn is_itself_only(abs: &Abs) -> bool {
    matches!(abs, Abs::Instance(object) if object.module.is_some() && object.class.lacks_equality())
}

/// Whether a constant can be a run-time value.
pub(crate) fn has_form(abs: &Abs) -> bool {
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
            Abs::Const(object) => crate::walk::operate::constant_truth(object),
            known if crate::walk::operate::is_true(known) => Some(true),
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
        if ClassObj::is_dict(class) {
            return self.bail(Code::StaticValue, "an attribute of a dict by a name that is not constant");
        }
        for (name, member) in ClassObj::ancestry(class).flat_map(|class| class.own_members()) {
            if !methods.contains(&name) && !others.contains(&name) {
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
            && !crate::objects::enums::is_enumeration(class);
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
}

/// Whether a value is one of a module, which sees no variables of functions.
pub(crate) fn is_of_module(abs: &Abs, budget: &Budget) -> bool {
    is_fixed(abs, budget) && !crate::walk::leave::refers_to(abs, 0, budget)
}

/// The items with their positions.
pub(crate) fn numbered(items: &[Abs]) -> Vec<(i64, Abs)> {
    items.iter().enumerate().map(|(at, item)| (at as i64, item.clone())).collect()
}
