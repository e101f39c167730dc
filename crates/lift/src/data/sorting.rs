//! Sorting where a module is run: of constants whose keys have one order, whoever compares them.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::Object;
use std::sync::Arc;

/// Items that are sorted so.
pub(crate) const MOST: usize = 2_000;

/// Whether values of this kind have one order.
fn is_total(key: &Object) -> bool {
    match key {
        Object::Bool(_) | Object::Int(_) | Object::Str(_) => true,
        Object::Float(value) => !value.is_nan(),
        Object::Tuple(items) => items.iter().all(is_total),
        _ => false,
    }
}

impl Lifter<'_> {
    /// `sorted(items, key=…, reverse=…)`; `None` where that is not done here.
    pub fn sorted_while_loading(&mut self, items: &Abs, named: &[(Name, Abs)]) -> Lift<Option<Abs>> {
        let Some(items) = self.module_mode.then(|| self.known_items(items)).flatten() else { return Ok(None) };
        let Some(items) = items.iter().map(|item| item.as_const().cloned()).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        Ok(self.ordered(items, named)?.map(|items| Abs::Const(Object::list(items))))
    }

    /// `list.sort(key=…, reverse=…)`; whether that is done here.
    pub fn sort_while_loading(&mut self, list: &Abs, named: &[(Name, Abs)]) -> Lift<bool> {
        let Abs::Const(Object::List(object)) = list else { return Ok(false) };
        let is_it = |abs: &Abs| matches!(abs, Abs::Const(Object::List(other)) if Arc::ptr_eq(object, other));
        // What is iterated is held.
        if !self.module_mode || self.held.iter().filter(|abs| is_it(abs)).count() > 1 {
            return Ok(false);
        }
        let address = Arc::as_ptr(object) as usize;
        if self.walked.contains(&address) {
            return self.bail(Code::Mutation, "a list of the module is sorted while a loop goes over it");
        }
        self.walked.push(address);
        let ordered = self.ordered(object.items(), named);
        self.walked.pop();
        let Some(items) = ordered? else { return Ok(false) };
        object.with(|held| *held = items);
        Ok(true)
    }

    fn ordered(&mut self, items: Vec<Object>, named: &[(Name, Abs)]) -> Lift<Option<Vec<Object>>> {
        let (mut key, mut reverse) = (Abs::NONE, false);
        for (name, value) in named {
            match (&**name, value) {
                ("key", value) => key = value.clone(),
                ("reverse", Abs::Const(Object::Bool(value))) => reverse = *value,
                _ => return Ok(None),
            }
        }
        if items.len() > MOST {
            return Ok(None);
        }
        self.world.budget.take(20 * items.len());
        let mut pairs: Vec<(Object, Object)> = Vec::new();
        for item in items {
            let of_item = match &key {
                Abs::Const(Object::None) => Abs::Const(item.clone()),
                key => self.call_value(&key.clone(), vec![Abs::Const(item.clone())], Vec::new())?,
            };
            match of_item.as_const().filter(|key| is_total(key)) {
                Some(key) => pairs.push((key.clone(), item)),
                None => return Ok(None),
            }
        }
        // Equal ones keep their order, also where the order is reversed.
        let mut sorted: Vec<(Object, Object)> = Vec::new();
        for pair in pairs {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = low.midpoint(high);
                let (a, b) = if reverse { (&sorted[middle].0, &pair.0) } else { (&pair.0, &sorted[middle].0) };
                match self.apply("a<b", &[Abs::Const(a.clone()), Abs::Const(b.clone())])? {
                    Abs::Const(Object::Bool(true)) => high = middle,
                    Abs::Const(Object::Bool(false)) => low = middle + 1,
                    _ => return Ok(None),
                }
            }
            sorted.insert(low, pair);
        }
        Ok(Some(sorted.into_iter().map(|pair| pair.1).collect()))
    }
}
