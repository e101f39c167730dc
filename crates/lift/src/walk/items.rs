//! Subscripts, and keys looked up in constant dicts and sets.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::tables::{Table, TableKind};
use crate::objects::heap::Instance;
use crate::tree::ast::{Expr, ExprKind};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Class, DictObj, ExcKind, Int, Object, SetObj, Terminator, Type};
use std::rc::Rc;
use std::sync::Arc;

/// The class of the first thing in a constant that has no hash.
fn unhashable(object: &Object) -> Option<&'static str> {
    match object {
        Object::List(_) => Some("list"),
        Object::Dict(_) => Some("dict"),
        Object::Set(set) if !set.frozen => Some("set"),
        Object::Tuple(items) => items.iter().find_map(unhashable),
        _ => None,
    }
}

impl Lifter<'_> {
    /// `value[index]`, also with a slice.
    pub fn subscript(&mut self, value: Abs, index: &Expr) -> Lift<Abs> {
        if let Some([lower, upper, step]) = self.bounds(index)? {
            if !self.live {
                return Ok(Abs::Unbound);
            }
            return self.slice(value, &lower, &upper, &step);
        }
        if let Some(parts) = self.parts(&value, index)? {
            let Abs::Instance(object) = &value else { return Ok(Abs::Unbound) };
            let made = if self.live { self.call_special(object, "__getparts__", vec![parts])? } else { None };
            return Ok(made.unwrap_or(Abs::Unbound));
        }
        let index = self.expr(index)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        self.item(value, index)
    }

    /// `value[lower:upper:step]`.
    fn slice(&mut self, value: Abs, lower: &Abs, upper: &Abs, step: &Abs) -> Lift<Abs> {
        if let Abs::OneOf(choice) = &value {
            return self.choose(&Rc::clone(choice), &mut |me, value| me.slice(value, lower, upper, step));
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(&value)) {
            return self.dispatch(union, &mut |me, value| me.slice(value, lower, upper, step));
        }
        if let Abs::Table(table) = &value
            && table.kind == TableKind::List
            && [lower, upper, step].iter().all(|bound| bound.as_const().is_some())
            && let Abs::Tuple(items) = self.slice_tuple(table.items.clone(), lower, upper, step)?
        {
            return Ok(Table::list(items.to_vec(), None));
        }
        let is_tuple = matches!(self.type_of(&value), Some(Type::Tuple(_)));
        let items = if is_tuple { self.known_items(&value) } else { value.tuple_items() };
        if let Some(items) = items.or_else(|| self.named_items(&value)) {
            return self.slice_tuple(items, lower, upper, step);
        }
        if step.same(&Abs::NONE) {
            return self.apply("a[b:c]", &[value, lower.clone(), upper.clone()]);
        }
        // That of texts has one int that stands for no bound; it must not come from data.
        let dynamic = |abs: &Abs| abs.as_const().is_none();
        let is_list = matches!(self.type_of(&value), Some(Type::List(_)));
        if !is_list && dynamic(step) && (dynamic(lower) || dynamic(upper)) {
            return self.bail(Code::Operands, "a slice with bounds and step that are not constant");
        }
        self.apply("a[b:c:d]", &[value, lower.clone(), upper.clone(), step.clone()])
    }

    /// What stands in the brackets behind an array of the prelude, where a slice is one of several parts: for
    /// each whether it is a slice, then its bounds and step, or the index.
    pub fn parts(&mut self, value: &Abs, index: &Expr) -> Lift<Option<Abs>> {
        let ExprKind::Tuple(items) = &index.kind else { return Ok(None) };
        let has_slice = items.iter().any(|item| matches!(item.kind, ExprKind::Slice { .. }));
        if !has_slice || !value.is_of_prelude_with("__getparts__") {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for item in items {
            let part = match self.bounds(item)? {
                Some(bounds) => std::iter::once(Abs::bool(true)).chain(bounds).collect(),
                None => vec![Abs::bool(false), self.expr(item)?],
            };
            parts.push(Abs::tuple(part));
        }
        Ok(Some(Abs::tuple(parts)))
    }

    /// The bounds and the step of a slice, `None` where they are not written; `None` if it is none.
    pub fn bounds(&mut self, index: &Expr) -> Lift<Option<[Abs; 3]>> {
        let ExprKind::Slice { lower, upper, step } = &index.kind else { return Ok(None) };
        let mut bound = |bound: &Option<Box<Expr>>| match bound {
            Some(bound) => {
                let bound = self.expr(bound)?;
                self.as_index(bound)
            }
            None => Ok(Abs::NONE),
        };
        Ok(Some([bound(lower)?, bound(upper)?, bound(step)?]))
    }

    /// The int that an object of the prelude is where CPython asks for an index; of anything else itself.
    pub fn as_index(&mut self, abs: Abs) -> Lift<Abs> {
        match &abs {
            Abs::Instance(object) if abs.is_of_prelude_with("_in_sql") && self.live => {
                let int = self.call_special(object, "__index__", Vec::new())?;
                Ok(int.unwrap_or(abs))
            }
            _ => Ok(abs),
        }
    }

    /// `value[slice]`, of a slice that has a name.
    fn item_by_slice(&mut self, value: Abs, slice: &Instance) -> Lift<Abs> {
        let takes_bounds =
            |ty: &Type| matches!(ty, Type::Str | Type::List(_) | Type::Tuple(_) | Type::None | Type::Int | Type::Float);
        let known = match &value {
            Abs::OneOf(_) | Abs::Tuple(_) => true,
            value => self.type_of(value).is_some_and(|ty| ty.alternatives().iter().all(takes_bounds)),
        };
        if !known {
            return self.bail(Code::Operands, "a slice of such a value");
        }
        let mut bound = |name| match self.own_attribute(slice, name)? {
            Some(bound) => Ok(bound),
            None => self.bail(Code::Operands, "a slice made at run time"),
        };
        let (lower, upper, step) = (bound("_start")?, bound("_stop")?, bound("_step")?);
        if self.live { self.slice(value, &lower, &upper, &step) } else { Ok(Abs::Unbound) }
    }

    pub fn item(&mut self, value: Abs, index: Abs) -> Lift<Abs> {
        let index = self.seen(index);
        if let Abs::Instance(object) = &index
            && object.class.prelude
            && &*object.class.name == "_Slice"
        {
            return self.item_by_slice(value, &Rc::clone(object));
        }
        let index = match &value {
            Abs::Instance(_) | Abs::Class(_) => index,
            // A KeyError shows the key.
            dict if self.is_dict(dict) && self.int_of_member(&index)?.is_some() => index,
            _ => {
                let index = self.int_of_member(&index)?.unwrap_or(index);
                self.as_index(index)?
            }
        };
        if !self.live {
            return Ok(Abs::Unbound);
        }
        match &value {
            Abs::Instance(_) => return self.apply("a[b]", &[value, index]),
            Abs::Table(table) => return self.item_of_table(&Rc::clone(table), &index),
            Abs::Class(class) => {
                if let Some(found) = self.enum_of(class) {
                    return self.item_of_table(&found.by_name(), &index);
                }
            }
            Abs::OneOf(choice) => return self.item_of_choice(&Rc::clone(choice), &index),
            _ => {}
        }
        if let Abs::OneOf(choice) = &index {
            return self.choose(&Rc::clone(choice), &mut |me, index| me.item(value.clone(), index));
        }
        if let Some((_, v)) = self.union_operand(&[value.clone(), index.clone()]) {
            return self.dispatch(v, &mut |me, narrowed| {
                let value = value.replace(v, &narrowed).unwrap_or_else(|| value.clone());
                let index = index.replace(v, &narrowed).unwrap_or_else(|| index.clone());
                me.item(value, index)
            });
        }
        if value.tuple_items().is_some() || matches!(self.type_of(&value), Some(Type::Tuple(_))) {
            let Some(items) = self.known_items(&value) else { return self.bail(Code::Operands, "a tuple") };
            let constant = match &index {
                Abs::Const(Object::Int(at)) => at.to_i64(),
                Abs::Const(Object::Bool(at)) => Some(i64::from(*at)),
                _ => None,
            };
            if let Some(at) = constant {
                let len = items.len() as i64;
                let position = if at < 0 { at + len } else { at };
                return match usize::try_from(position).ok().and_then(|at| items.get(at)) {
                    Some(item) => Ok(item.clone()),
                    None => self.raise_message(ExcKind::IndexError, "tuple index out of range"),
                };
            }
            return self.item_of_tuple(&value, &items, index);
        }
        if let Abs::Const(Object::Dict(_)) = &value {
            return self.dict_item(&value, &index);
        }
        self.apply("a[b]", &[value, index])
    }

    /// An element of a tuple at an index that is known only at run time: the tuple is
    /// read as a list, whose error text differs.
    fn item_of_tuple(&mut self, value: &Abs, items: &[Abs], index: Abs) -> Lift<Abs> {
        if !matches!(self.type_of(&index), Some(Type::Int | Type::Bool)) {
            return self.apply("a[b]", &[value.clone(), index]);
        }
        let len = items.len() as i64;
        let low = self.apply("a<b", &[index.clone(), Abs::int(-len)])?;
        let (bad_low, rest) = self.split_value(&low)?;
        self.enter_any(rest)?;
        let high = self.apply("a>=b", &[index.clone(), Abs::int(len)])?;
        let (bad_high, good) = self.split_value(&high)?;
        self.enter_any([bad_low, bad_high].concat())?;
        // Ints that no C integer holds have another message.
        for (far, order) in [(1 << 63, "a>=b"), (-(1 << 63) - 1, "a<=b")] {
            if self.live {
                let far = Abs::Const(Object::Int(Int::from_i128(far)));
                let beyond = self.apply(order, &[index.clone(), far])?;
                let (beyond, near) = self.split_value(&beyond)?;
                self.enter_any(beyond)?;
                if self.live {
                    self.raise_message(ExcKind::IndexError, "cannot fit 'int' into an index-sized integer")?;
                }
                self.enter_any(near)?;
            }
        }
        if self.live {
            self.raise_message(ExcKind::IndexError, "tuple index out of range")?;
        }
        self.enter_any(good)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let list = self.listed(value)?;
        self.apply("a[b]", &[list, index])
    }

    fn slice_tuple(&mut self, items: Vec<Abs>, lower: &Abs, upper: &Abs, step: &Abs) -> Lift<Abs> {
        let bound = |abs: &Abs| match abs {
            Abs::Const(Object::None) => Some(None),
            Abs::Const(Object::Int(value)) => Some(Some(value.clamp_i64())),
            _ => None,
        };
        match (bound(lower), bound(upper), bound(step)) {
            (Some(lower), Some(upper), Some(None | Some(1))) => {
                let len = items.len() as i64;
                let clamp = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at.min(len) };
                let (from, to) = (lower.map_or(0, clamp), upper.map_or(len, clamp));
                Ok(Abs::tuple(items[from as usize..to.max(from) as usize].to_vec()))
            }
            (Some(lower), Some(upper), Some(Some(step))) if step != 0 => {
                let bound = |bound: Option<i64>| bound.unwrap_or(exuvia_ops::str::NO_BOUND);
                let (start, count) = exuvia_ops::str::stepped(bound(lower), bound(upper), step, items.len() as i64);
                let places = (0..count).map(|turn| (start + turn * step) as usize);
                Ok(Abs::tuple(places.filter_map(|at| items.get(at).cloned()).collect()))
            }
            _ => self.bail(Code::Operands, "a slice of a tuple with bounds that are not constant"),
        }
    }

    /// `d[key]` of a constant dict.
    fn dict_item(&mut self, dict: &Abs, key: &Abs) -> Lift<Abs> {
        let at = self.dict_position(dict, key)?;
        let (yes, no) = self.split_missing(&at)?;
        self.enter_any(yes)?;
        if self.live && self.plain_member(key)?.is_some() {
            let span = self.b.span;
            self.end(Terminator::Bailout("a KeyError with a member", span));
        }
        if self.live {
            self.raise(ExcKind::KeyError, vec![key.clone()])?;
        }
        self.enter_any(no)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        self.dict_value_at(dict, &at)
    }

    /// The value of a constant dict at a position that was found.
    pub fn dict_value_at(&mut self, dict: &Abs, at: &Abs) -> Lift<Abs> {
        let Abs::Const(Object::Dict(object)) = dict else { return self.bail(Code::Mutation, "a run-time dict") };
        if let Abs::Const(Object::Int(at)) = at
            && let Some(at) = at.to_i64()
        {
            return Ok(Abs::Const(object.entries()[at as usize].1.clone()));
        }
        if object.entries().iter().any(|entry| matches!(entry.1, Object::List(_) | Object::Dict(_) | Object::Set(_))) {
            self.changes(dict)?;
            let values = object.entries().iter().enumerate();
            return self.pick(at, values.map(|(at, entry)| (at as i64, Abs::Const(entry.1.clone()))).collect());
        }
        let (dict, at) = (self.value(dict)?, self.value(at)?);
        Ok(Abs::Dyn(self.named("dict.value", vec![dict, at])?))
    }

    /// The position of an object of the standard library among keys of its class, by its only field.
    fn position_by_field(&mut self, dict: &Abs, key: &Abs) -> Lift<Option<Abs>> {
        let Some(Type::Record(class, fields)) = self.type_of(key) else { return Ok(None) };
        let entries = match dict {
            Abs::Const(Object::Dict(dict)) => dict.entries(),
            Abs::Const(Object::Set(set)) => set.members.entries(),
            _ => return Ok(None),
        };
        let mut by_field = DictObj::default();
        for (key, value) in entries {
            match key {
                Object::Record(record) if class.is_value() && record.class == class && fields.len() == 1 => {
                    by_field.insert(record.fields[0].clone(), value.clone());
                }
                _ => return Ok(None),
            }
        }
        let field = self.field(key, 0)?;
        self.dict_position(&Abs::Const(Object::Dict(Arc::new(by_field))), &field).map(Some)
    }

    /// The position of a tuple among constant keys; `None` if the key or one of those is none.
    fn position_by_parts(&mut self, entries: &DictObj, key: &Abs) -> Lift<Option<Abs>> {
        if !matches!(key, Abs::Tuple(_)) && !matches!(self.type_of(key), Some(Type::Tuple(_))) {
            return Ok(None);
        }
        let Some(parts) = self.known_items(key) else { return Ok(None) };
        let keys = entries.entries().iter().map(|entry| Abs::Const(entry.0.clone()).tuple_items());
        match keys.collect::<Option<Vec<_>>>() {
            Some(keys) => self.position_of_tuple(&keys, &parts),
            None => Ok(None),
        }
    }

    /// The position of a text, a number or None among constants of several kinds, of which only those of
    /// its own can be equal to it.
    fn position_among_kinds(&mut self, entries: &DictObj, key: &Abs, kinds: &[Type]) -> Lift<Option<Abs>> {
        let is_number = |ty: &Type| matches!(ty, Type::Bool | Type::Int | Type::Float);
        let of_kind: &dyn Fn(&Type) -> bool = match self.type_of(key) {
            Some(Type::Str) => &|ty| *ty == Type::Str,
            Some(Type::None) => &|ty| *ty == Type::None,
            Some(Type::Bool | Type::Int | Type::Float) => &is_number,
            _ => return Ok(None),
        };
        // A flag of `re` is equal to an int.
        let is_plain = |ty: &Type| matches!(ty, Type::Str | Type::None | Type::Tuple(_)) || is_number(ty);
        if kinds.iter().all(of_kind) || !kinds.iter().all(is_plain) {
            return Ok(None);
        }
        // Positions are one more than they are, so that 0 is for those that are missing.
        let mut positions = vec![(0, Abs::int(-1))];
        let mut ours = DictObj::default();
        for (at, (key, value)) in entries.entries().iter().enumerate() {
            if of_kind(&key.ty()) {
                ours.insert(key.clone(), value.clone());
                positions.push((positions.len() as i64, Abs::int(at as i64)));
            }
        }
        if self.type_of(key) == Some(Type::None) {
            return Ok(Some(positions.pop().map_or(Abs::int(-1), |found| found.1)));
        }
        let at = self.dict_position(&Abs::Const(Object::Dict(Arc::new(ours))), key)?;
        let at = self.apply("a+b", &[at, Abs::int(1)])?;
        self.pick(&at, positions).map(Some)
    }

    /// The position of a key in a constant dict or set, -1 where it is missing.
    pub fn dict_position(&mut self, dict: &Abs, key: &Abs) -> Lift<Abs> {
        if let Some(plain) = self.plain_member(key)? {
            return self.dict_position(dict, &plain);
        }
        if let Some((_, value)) = self.union_operand(std::slice::from_ref(key)) {
            return self.dispatch(value, &mut |me, narrowed| me.dict_position(dict, &narrowed));
        }
        if let Some(found) = self.position_by_field(dict, key)? {
            return Ok(found);
        }
        // What `json.loads` makes of objects and arrays are dicts and lists.
        if let Some(Type::Record(class @ (Class::JsonObject | Class::JsonArray), _)) = self.type_of(key) {
            let class = if class == Class::JsonObject { "dict" } else { "list" };
            return self.raise_message(ExcKind::TypeError, &format!("unhashable type: '{class}'"));
        }
        // A flag of `re` is equal to an int.
        if self.type_of(key).is_some_and(|ty| ty.holds_object()) {
            return self.bail(Code::Operands, "an object as a key");
        }
        let entries = match dict {
            Abs::Const(Object::Dict(dict)) => dict.clone(),
            Abs::Const(Object::Set(set)) => Arc::new(set.members.clone()),
            other => {
                self.changes(other)?;
                return self.bail(Code::Mutation, "a run-time dict");
            }
        };
        if let Abs::Const(key) = key {
            if let (Abs::Const(Object::Set(_)), Object::Set(set)) = (dict, key)
                && !set.frozen
            {
                // A set is looked up as a frozenset is, which has a hash.
                let frozen = SetObj::without_order(set.members.clone(), true);
                return Ok(Abs::int(entries.position(&Object::Set(Arc::new(frozen))).map_or(-1, |at| at as i64)));
            }
            if let Some(class) = unhashable(key) {
                return self.raise_message(ExcKind::TypeError, &format!("unhashable type: '{class}'"));
            }
            return Ok(Abs::int(entries.position(key).map_or(-1, |at| at as i64)));
        }
        if let Some(found) = self.position_by_parts(&entries, key)? {
            return Ok(found);
        }
        let keys = Type::union(entries.entries().iter().map(|entry| entry.0.ty()));
        let is_int = |ty: &Type| ty.alternatives().iter().all(|ty| matches!(ty, Type::Bool | Type::Int));
        if keys.holds(&|ty| *ty == Type::Bool) && is_int(&keys) && self.type_of(key).is_some_and(|ty| is_int(&ty)) {
            // True is 1 among keys, and False is 0.
            let mut ints = DictObj::default();
            for (key, value) in entries.entries() {
                let int = if let Object::Bool(value) = key { Object::int(i64::from(*value)) } else { key.clone() };
                ints.insert(int, value.clone());
            }
            return self.dict_position(&Abs::Const(Object::Dict(Arc::new(ints))), key);
        }
        if let Type::Union(kinds) = &keys
            && let Some(found) = self.position_among_kinds(&entries, key, kinds)?
        {
            return Ok(found);
        }
        match (self.type_of(key), keys) {
            (Some(Type::Str), Type::Str) | (Some(Type::Int), Type::Int) => {
                let (dict, key) = (self.value(dict)?, self.value(key)?);
                Ok(Abs::Dyn(self.named("dict.find", vec![dict, key])?))
            }
            (Some(Type::Bool), Type::Int) => {
                let key = self.value(key)?;
                let key = self.named("bool.to_int", vec![key])?;
                self.dict_position(dict, &Abs::Dyn(key))
            }
            // Strings and numbers are never equal.
            (Some(Type::Str), Type::Int)
            | (Some(Type::Int | Type::Bool | Type::Float), Type::Str)
            | (Some(Type::None), Type::Int | Type::Str)
            | (Some(Type::Str | Type::Int | Type::None), Type::Never) => Ok(Abs::int(-1)),
            (Some(Type::List(_)), _) => self.raise_message(ExcKind::TypeError, "unhashable type: 'list'"),
            (Some(key), keys) => self.bail(Code::Operands, format!("a {key} looked up among {keys}")),
            (None, _) => self.bail(Code::StaticValue, "a static value looked up in a dict"),
        }
    }
}
