//! Tables: lists, dicts and sets that hold what has no run-time form, known while lifting.

use crate::abs::{Abs, Enclosing};
use crate::bailout::Code;
use crate::data::choice::{
    MOST_COMBINED, MOST_NESTED, MOST_PARTS, has_form, is_fixed, is_formless, is_itself_only, numbered, range_of,
};
use crate::objects::merge::Arm;
use crate::walk::describe::describe;
use crate::walk::leave::{MOST, Part, each_part};
use crate::walk::lifter::{Lift, Lifter, Site, Split};
use exuvia_ir::{DictObj, ExcKind, Int, Object, SetObj, Terminator, Type};
use std::rc::Rc;
use std::sync::Arc;

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

/// Keys of which no two are equal: constants as Python compares them, tuples part by part, objects by
/// what they are.
#[derive(Default)]
struct Keys {
    all: Vec<Abs>,
    /// Those that are constants, and where each is among all.
    constants: DictObj,
    places: Vec<usize>,
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

impl Lifter<'_> {
    /// Whether a list of such items is a table: it holds what has no run-time form.
    pub fn is_table(&self, items: &[Abs]) -> bool {
        // Arrays of several types have no run-time form in common.
        if !items.is_empty() && items.iter().all(|item| item.is_of_prelude_with("_kept")) {
            return true;
        }
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
            Abs::Tuple(items) => self.plain_items(items).ok().flatten().map(Abs::tuple),
            _ => None,
        }
    }

    /// The items of a tuple with what members are that are ints or texts; `None` where none is.
    fn plain_items(&mut self, items: &[Abs]) -> Lift<Option<Vec<Abs>>> {
        let plain = items.iter().map(|item| self.plain_member(item)).collect::<Lift<Vec<_>>>()?;
        let is_any = plain.iter().any(Option::is_some);
        let all = plain.into_iter().zip(items).map(|(plain, item)| plain.unwrap_or_else(|| item.clone()));
        Ok(is_any.then(|| all.collect()))
    }

    /// The position of a key, -1 where it is missing.
    pub fn table_position(&mut self, table: &Table, key: &Abs) -> Lift<Abs> {
        if let Some(plain) = self.plain_member(key)? {
            return self.table_position(table, &plain);
        }
        let found = |key: &Abs| table.keys.iter().position(|known| known.same(key)).map_or(-1, |at| at as i64);
        if let Some(mut parts) = key.tuple_items()
            && let Some(mut keys) = table.keys.iter().map(Abs::tuple_items).collect::<Option<Vec<_>>>()
        {
            for items in keys.iter_mut().chain([&mut parts]) {
                if let Some(plain) = self.plain_items(items)? {
                    *items = plain;
                }
            }
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
                    // Who catches it without a look at its argument needs no object.
                    if let Some(def) = exuvia_ops::by_name("dict.no_key") {
                        self.operation(def, vec![])?;
                    }
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
    pub fn apply_to_table(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
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
                if let Some(own) = self.class_of_module(item).filter(crate::objects::enums::is_enumeration) =>
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
                Some(Type::List(element)) => *element == Type::Never || crate::walk::operate::is_plain(&element),
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
                let default = args.get(1).cloned().unwrap_or(Abs::NONE);
                // A tuple of what has no run-time form has nothing in common with None but to be one of several.
                let formless = |item: &Abs| matches!(item, Abs::Tuple(_)) && is_formless(item);
                if table.items.iter().any(formless)
                    && default.tuple_items().is_none()
                    && is_fixed(&default, &self.world.budget)
                {
                    let next = self.apply("a+b", &[at, Abs::int(1)])?;
                    let items: Vec<Abs> = std::iter::once(default).chain(table.items.iter().cloned()).collect();
                    return self.pick(&next, numbered(&items));
                }
                let (yes, no) = self.split_missing(&at)?;
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

    /// Whether it holds of what a variable has, or a class that the module makes has under a name.
    pub fn is_any_variable(&self, holds: &mut dyn FnMut(&Abs) -> bool) -> bool {
        let mut found = self.frames.iter().flat_map(|frame| frame.vars.values()).any(&mut *holds);
        for class in &self.classes {
            class.each_value(&mut |_, abs| found = found || holds(abs));
        }
        found
    }

    /// Puts a value in the place of others, where variables and classes that the module makes have them.
    pub fn put_in_place(&mut self, is_it: &dyn Fn(&Abs) -> bool, new: &Abs) {
        for frame in &mut self.frames {
            let names: Vec<_> = frame.vars.iter().filter(|(_, abs)| is_it(abs)).map(|(name, _)| name.clone()).collect();
            for name in names {
                frame.vars.insert(name, new.clone());
            }
        }
        for class in &self.classes {
            let mut names = Vec::new();
            class.each_value(&mut |name, abs| names.extend(is_it(abs).then(|| name.clone())));
            for name in names {
                class.hold(&name, new.clone());
            }
        }
    }

    /// Puts a table in the place of a container everywhere, where a module is run: what was known of
    /// the container was true until now.
    pub fn replace_table(&mut self, old: &Abs, new: Abs) -> Lift<()> {
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
        self.world.budget.take(self.frames.iter().map(|frame| frame.vars.len()).sum::<usize>());
        within |= self.is_any_variable(&mut |abs| holds_within(abs, &is_it, 0, &mut left));
        self.world.budget.take(MOST_PARTS - left);
        if within {
            return self.bail(Code::Mutation, "a change of a container that another holds, or that is iterated");
        }
        self.put_in_place(&is_it, &new);
        Ok(())
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
    found
}
