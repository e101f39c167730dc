//! Sorting while lifting: of constants where a module is run, and of what has no run-time form anywhere
//! (`sorted(RULES, key=lambda rule: rule.priority)`, `max(PLANS, key=…)`).
//!
//! Both need keys that are constant and have one order, whoever compares them. It is found by the comparisons
//! that CPython makes: `<` alone, of which the sort is stable.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::data::choice::{is_fixed, is_formless};
use crate::data::tables::{Table, TableKind};
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::Object;
use std::sync::Arc;

/// Items that are sorted so.
pub(crate) const MOST: usize = 2_000;

/// Of those without a run-time form.
const MOST_STATIC: usize = 200;

/// By what values are sorted.
struct By {
    key: Option<Abs>,
    reverse: bool,
}

impl By {
    /// From the arguments of a sort; `None` for other ones.
    fn of(named: &[(Name, Abs)]) -> Option<By> {
        let mut by = By { key: None, reverse: false };
        for (name, value) in named {
            match (&**name, value) {
                ("key", Abs::Const(Object::None)) => {}
                ("key", value) => by.key = Some(value.clone()),
                ("reverse", Abs::Const(Object::Bool(value))) => by.reverse = *value,
                _ => return None,
            }
        }
        Some(by)
    }
}

impl Lifter<'_> {
    /// `sorted(items, key=…, reverse=…)` of constants where a module is run; `None` where that is not done here.
    pub fn sorted_while_loading(&mut self, items: &Abs, named: &[(Name, Abs)]) -> Lift<Option<Abs>> {
        let Some(items) = self.module_mode.then(|| self.known_items(items)).flatten() else { return Ok(None) };
        let Some(objects) = items.iter().map(|item| item.as_const().cloned()).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let order = self.order(&items, named)?;
        let sorted = |order: Vec<usize>| order.into_iter().map(|at| objects[at].clone()).collect();
        Ok(order.map(|order| Abs::Const(Object::list(sorted(order)))))
    }

    /// `list.sort(key=…, reverse=…)` where a module is run; whether that is done here.
    pub fn sort_while_loading(&mut self, list: &Abs, named: &[(Name, Abs)]) -> Lift<bool> {
        if !self.module_mode {
            return Ok(false);
        }
        if let Abs::Table(table) = list
            && table.kind == TableKind::List
        {
            let items = table.items.clone();
            let Some(order) = self.order(&items, named)? else { return Ok(false) };
            let items = order.into_iter().map(|at| items[at].clone()).collect();
            self.replace_table(list, Table::list(items, None))?;
            return Ok(true);
        }
        let Abs::Const(Object::List(object)) = list else { return Ok(false) };
        let is_it = |abs: &Abs| matches!(abs, Abs::Const(Object::List(other)) if Arc::ptr_eq(object, other));
        // What is iterated is held.
        if self.held.iter().filter(|abs| is_it(abs)).count() > 1 {
            return Ok(false);
        }
        let address = Arc::as_ptr(object) as usize;
        if self.walked.contains(&address) {
            return self.bail(Code::Mutation, "a list of the module is sorted while a loop goes over it");
        }
        self.walked.push(address);
        let objects = object.items();
        let items: Vec<Abs> = objects.iter().cloned().map(Abs::Const).collect();
        let order = self.order(&items, named);
        self.walked.pop();
        let Some(order) = order? else { return Ok(false) };
        object.with(|held| *held = order.into_iter().map(|at| objects[at].clone()).collect());
        Ok(true)
    }

    /// `sorted`, `min` or `max` of a table of what has no run-time form, by constants; `None` of anything else.
    pub fn ranked(&mut self, name: &str, of: &Abs, named: &[(Name, Abs)]) -> Lift<Option<Abs>> {
        let Some(items) = self.static_items(of) else { return Ok(None) };
        let Some(by) = By::of(named).filter(|by| name == "sorted" || !by.reverse) else { return Ok(None) };
        if by.key.as_ref().is_some_and(|key| self.sees_a_row(key)) {
            return Ok(None);
        }
        // The first of those that are alike is the smallest, and the largest.
        let by = By { reverse: by.reverse || name == "max", ..by };
        let Some(order) = self.order_by(&items, &by)? else {
            return self.bail(Code::StaticValue, "an order of functions or objects that is not constant");
        };
        let mut sorted = order.into_iter().map(|at| items[at].clone());
        Ok(match name {
            "sorted" => Some(Table::list(sorted.collect(), None)),
            _ => sorted.next(),
        })
    }

    /// The items of a table, or of a view of one, that stay as they are and have no run-time form.
    fn static_items(&mut self, of: &Abs) -> Option<Vec<Abs>> {
        let may_be = match of {
            Abs::Table(_) | Abs::Tuple(_) => true,
            Abs::Iter(iter) => matches!(**iter, Iter::View { .. }),
            _ => false,
        };
        let items = may_be.then(|| self.known_items(of)).flatten()?;
        let is_fixed = |item: &Abs| is_fixed(item, &self.world.budget);
        let is_static = items.iter().any(is_formless) && items.iter().all(is_fixed);
        (items.len() <= MOST_STATIC && is_static).then_some(items)
    }

    /// Whether a function reads what a row decides.
    fn sees_a_row(&self, function: &Abs) -> bool {
        match function {
            Abs::Func(closure) => self.around(closure).values().any(|(_, value)| !is_fixed(value, &self.world.budget)),
            other => !is_fixed(other, &self.world.budget),
        }
    }

    /// The places of items in their order; `None` for other arguments, or keys without one order.
    fn order(&mut self, items: &[Abs], named: &[(Name, Abs)]) -> Lift<Option<Vec<usize>>> {
        match By::of(named).filter(|_| items.len() <= MOST) {
            Some(by) => self.order_by(items, &by),
            None => Ok(None),
        }
    }

    fn order_by(&mut self, items: &[Abs], by: &By) -> Lift<Option<Vec<usize>>> {
        self.world.budget.take(20 * items.len());
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let key = match &by.key {
                None => item.clone(),
                Some(key) => self.call_value(key, vec![item.clone()], Vec::new())?,
            };
            if !self.live || !is_fixed(&key, &self.world.budget) {
                return Ok(None);
            }
            keys.push(key);
        }
        // Equal ones keep their order, also where the order is reversed.
        let mut sorted: Vec<usize> = Vec::with_capacity(items.len());
        for at in 0..items.len() {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = low.midpoint(high);
                let other = &keys[sorted[middle]];
                let (a, b) = if by.reverse { (other, &keys[at]) } else { (&keys[at], other) };
                match self.is_less(a, b)? {
                    Some(true) => high = middle,
                    Some(false) => low = middle + 1,
                    None => return Ok(None),
                }
            }
            sorted.insert(low, at);
        }
        Ok(Some(sorted))
    }

    /// Whether one constant is less than another; `None` where that is not known, or an error.
    fn is_less(&mut self, a: &Abs, b: &Abs) -> Lift<Option<bool>> {
        let (Some(left), Some(right)) = (a.tuple_items(), b.tuple_items()) else { return self.compared("a<b", a, b) };
        for (a, b) in left.iter().zip(&right) {
            match self.are_equal_keys(a, b)? {
                Some(true) => {}
                Some(false) => return self.is_less(a, b),
                None => return Ok(None),
            }
        }
        Ok(Some(left.len() < right.len()))
    }

    fn are_equal_keys(&mut self, a: &Abs, b: &Abs) -> Lift<Option<bool>> {
        let (Some(left), Some(right)) = (a.tuple_items(), b.tuple_items()) else { return self.compared("a==b", a, b) };
        for (a, b) in left.iter().zip(&right) {
            match self.are_equal_keys(a, b)? {
                Some(true) => {}
                other => return Ok(other),
            }
        }
        Ok(Some(left.len() == right.len()))
    }

    /// What a comparison of plain constants of one kind gives.
    fn compared(&mut self, operation: &str, a: &Abs, b: &Abs) -> Lift<Option<bool>> {
        let is_number = |abs: &Abs| match abs {
            Abs::Const(Object::Bool(_) | Object::Int(_)) => true,
            Abs::Const(Object::Float(value)) => !value.is_nan(),
            _ => false,
        };
        let is_text = |abs: &Abs| matches!(abs, Abs::Const(Object::Str(_)));
        if !(is_number(a) && is_number(b) || is_text(a) && is_text(b)) {
            return Ok(None);
        }
        Ok(match self.apply(operation, &[a.clone(), b.clone()])? {
            Abs::Const(Object::Bool(holds)) => Some(holds),
            _ => None,
        })
    }
}
