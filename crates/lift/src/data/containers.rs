//! Dicts and sets: those that are constant, and those that are made at run time.
//!
//! What a function writes as a constant, `{'a': 1}`, stays one as long as nothing changes it:
//! then it is a table that native code searches. Where it is changed, all is lifted again, and
//! what is written there is an object of the prelude's class from the start
//! (`prelude/collections.py`), as is what holds run-time values.

use crate::abs::{Abs, Enclosing, Iter};
use crate::bailout::Code;
use crate::data::tables::TableKind;
use crate::objects::class::ClassObj;
use crate::tree::ast::{Collects, Comprehension, Expr, Name};
use crate::walk::leave::Part;
use crate::walk::lifter::{Lift, Lifter, Site, Stop};
use exuvia_ir::{Class, DictObj, ExcKind, Object, SetObj, Type};
use std::collections::HashSet;
use std::sync::Arc;

/// Methods that change a list, a dict or a set.
const CHANGING: &[&str] = &[
    "append",
    "extend",
    "insert",
    "reverse",
    "sort",
    "update",
    "setdefault",
    "pop",
    "popitem",
    "clear",
    "add",
    "discard",
    "remove",
    "difference_update",
    "intersection_update",
    "symmetric_difference_update",
];

/// The parts of values that are searched.
const MOST_SEARCHED: usize = 200_000;

/// Whether a value is or holds an object, or has too many parts to be searched; where it is only that
/// itself, that counts if `itself` says so.
fn holds(abs: &Abs, is_it: &impl Fn(&Object) -> bool, itself: bool, searched: &mut usize) -> bool {
    if *searched > MOST_SEARCHED {
        return true;
    }
    fn within(object: &Object, is_it: &impl Fn(&Object) -> bool, searched: &mut usize) -> bool {
        *searched += 1;
        if *searched > MOST_SEARCHED {
            return true;
        }
        let mut one = |object: &Object| is_it(object) || within(object, is_it, searched);
        match object {
            Object::Tuple(items) => items.iter().any(one),
            Object::List(list) => list.items().iter().any(one),
            Object::Dict(dict) => dict.entries().iter().any(|(_, value)| one(value)),
            Object::Record(record) => record.fields.iter().any(one),
            _ => false,
        }
    }
    *searched += 1;
    let mut found = match abs {
        Abs::Const(object) => itself && is_it(object) || within(object, is_it, searched),
        Abs::Iter(iter) => match &**iter {
            Iter::View { dict, .. } => is_it(dict),
            _ => false,
        },
        _ => false,
    };
    crate::walk::leave::each_part(abs, &mut |part| {
        found |= match part {
            Part::Value(value) => holds(value, is_it, true, searched),
            Part::Enclosing(Enclosing::Ended(captured)) => {
                captured.vars.values().any(|value| holds(value, is_it, true, searched))
            }
            Part::Enclosing(_) => false,
        };
    });
    found
}

/// What a constant container holds.
pub enum Content<'a> {
    /// Entries.
    Dict(&'a mut DictObj),
    /// Members.
    Set(&'a mut SetObj),
}

impl Content<'_> {
    /// Adds an entry, or a member; whether it can be one.
    pub fn insert(&mut self, key: Object, value: Object) -> bool {
        match self {
            Content::Dict(dict) => dict.insert(key, value),
            Content::Set(set) => exuvia_ops::own_hash::add(set, key),
        }
    }
}

impl Lifter<'_> {
    /// A new, empty object of a class of `collections` in the prelude.
    pub fn new_container(&mut self, class: &'static str, args: Vec<Abs>) -> Lift<Abs> {
        match self.prelude_function("collections", class)? {
            Some(Abs::Class(class)) => self.instantiate(&class, args, Vec::new()),
            _ => {
                let failed = self
                    .world
                    .prelude
                    .get("collections")
                    .and_then(|module| self.world.modules[*module].failed.get(class));
                let why = failed.map_or_else(String::new, |why| format!(": {}", why.detail));
                self.bail(Code::Mutation, format!("a {class} made at run time{why}"))
            }
        }
    }

    /// Whether what is written here becomes an object.
    pub fn is_changing(&self) -> bool {
        !self.module_mode && self.world.changing.contains(&self.site())
    }

    /// Notes where a constant was written.
    pub fn written(&mut self, object: Object) -> Abs {
        let site = self.site();
        if let (false, Some(address)) = (self.module_mode, address(&object)) {
            self.world.displays.insert(address, (object.clone(), site));
        }
        Abs::Const(object)
    }

    /// What an empty container is that is made here, where it is a constant until something changes it:
    /// one variable holds it or a constant of the module (`TABLE.get(key) or {}`).
    pub fn constant_empty(&mut self, empty: Object) -> Option<Abs> {
        let site = self.site();
        if self.module_mode || self.world.changing.contains(&site) {
            return None;
        }
        self.world.empty.insert(site);
        self.world.constant_empty.contains(&site).then(|| self.written(empty))
    }

    /// Containers that were made empty meet constants in one variable: they become constants, by lifting again.
    pub fn settle_empty(&mut self, column: &[Abs]) -> Lift<()> {
        let is_constant = |abs: &Abs| match abs {
            Abs::Const(object) => !matches!(object, Object::Unbound),
            abs => matches!(abs, Abs::Table(_) | Abs::Tuple(_)),
        };
        let meets = |abs: &Abs| match abs {
            Abs::OneOf(choice) => choice.of.iter().all(|(_, item)| is_constant(item)),
            abs => is_constant(abs),
        };
        if !column.iter().any(meets) {
            return Ok(());
        }
        let sites = column.iter().flat_map(|abs| match abs {
            Abs::Instance(object) if object.class.prelude => object.site.into_iter().collect(),
            Abs::Dyn(value) => self.sites_of(*value),
            _ => Vec::new(),
        });
        let world = &self.world;
        let empty = |site: &Site| world.empty.contains(site) && !world.constant_empty.contains(site);
        let found: Vec<Site> = sites.filter(empty).collect();
        if found.is_empty() {
            return Ok(());
        }
        self.world.constant_empty.extend(found);
        Err(Stop::Restart)
    }

    /// A container is changed: a constant that a function wrote becomes an object, by lifting
    /// again. Others stay.
    pub fn changes(&mut self, container: &Abs) -> Lift<()> {
        if let Abs::OneOf(choice) = container {
            return choice.of.iter().try_for_each(|(_, item)| self.changes(item));
        }
        let world = &mut *self.world;
        let is_dict = |ty: &Type| ty.alternatives().iter().any(|ty| matches!(ty, Type::Dict(..)));
        let is_set = |ty: &Type| ty.alternatives().iter().any(|ty| matches!(ty, Type::Set(_)));
        let sites: Vec<Site> = match container {
            Abs::Const(object) => address(object)
                .and_then(|address| world.displays.get(&address))
                .map(|known| known.1)
                .into_iter()
                .collect(),
            Abs::Table(table) => table.site.into_iter().collect(),
            // One of those that were written, but not which.
            Abs::Dyn(value) => {
                let ty = self.b.function.ty(*value).clone();
                let same =
                    |object: &Object| is_dict(&ty) && is_dict(&object.ty()) || is_set(&ty) && is_set(&object.ty());
                world.displays.values().filter(|(object, _)| same(object)).map(|known| known.1).collect()
            }
            _ => Vec::new(),
        };
        let known = world.changing.len();
        world.changing.extend(sites);
        if world.changing.len() == known {
            return Ok(());
        }
        world.forget_elements(&|ty| is_dict(ty) || is_set(ty));
        Err(Stop::Restart)
    }

    /// The same for what a method does.
    pub fn change_of_constant(&mut self, receiver: &Abs, method: &str) -> Lift<()> {
        if CHANGING.contains(&method) { self.change_of_one(receiver) } else { Ok(()) }
    }

    /// The same for a method of one of several values: a constant of the module may be among them.
    pub fn change_of_choice(&mut self, receiver: &Abs, method: &str) -> Lift<()> {
        let is_constant = |item: &Abs| matches!(item, Abs::Const(_)) && self.is_container(item);
        match receiver {
            Abs::OneOf(choice) if CHANGING.contains(&method) && choice.of.iter().any(|(_, item)| is_constant(item)) => {
                self.in_place_of_one(receiver)
            }
            _ => Ok(()),
        }
    }

    /// The same, and refuses to change one of several constant dicts or sets, where only the row says which: what
    /// would be changed is a copy.
    fn change_of_one(&mut self, container: &Abs) -> Lift<()> {
        self.changes(container)?;
        match self.is_one_of_constants(container) {
            true => self.bail(Code::Mutation, "one of several constant dicts or sets is changed"),
            false => Ok(()),
        }
    }

    /// Whether a run-time value may be a constant dict or set.
    fn is_one_of_constants(&self, value: &Abs) -> bool {
        let is_constant = |ty: &Type| matches!(ty, Type::Dict(..) | Type::Set(_));
        matches!(value, Abs::Dyn(value) if self.b.function.ty(*value).alternatives().iter().any(is_constant))
    }

    /// What an augmented assignment does to one of several containers of which only the row says which: another
    /// name for it would have to see the change.
    pub fn in_place_of_one(&mut self, container: &Abs) -> Lift<()> {
        match container {
            Abs::OneOf(choice) if choice.of.iter().any(|(_, item)| self.is_container(item)) => {
                self.changes(container)?;
                self.bail(Code::Mutation, "one of several containers is changed in place")
            }
            Abs::Dyn(_) => self.change_of_one(container),
            _ => Ok(()),
        }
    }

    /// Whether a value is a list, a dict or a set that can change.
    fn is_container(&self, value: &Abs) -> bool {
        match value {
            Abs::Const(Object::Set(set)) => !set.frozen,
            Abs::Const(object) => matches!(object, Object::List(_) | Object::Dict(_)),
            Abs::Instance(object) => {
                ["dict", "set", "deque", "ndarray"].iter().any(|name| ClassObj::is_below(&object.class, name))
            }
            Abs::Table(_) => true,
            Abs::OneOf(choice) => choice.of.iter().any(|(_, item)| self.is_container(item)),
            other => matches!(self.type_of(other), Some(Type::List(_) | Type::Dict(..) | Type::Set(_))),
        }
    }

    /// Changes a constant dict or set where the module is run, which is before any function sees it:
    /// what variables hold becomes another constant.
    pub fn change_while_loading(&mut self, object: &Object, change: impl FnOnce(Content<'_>) -> bool) -> Lift<Abs> {
        let Some(place) = address(object) else { return self.bail(Code::Mutation, "a change of such a constant") };
        let is_it = |object: &Object| address(object) == Some(place);
        let mut searched = 0;
        let held = self.held.iter().any(|abs| holds(abs, &is_it, true, &mut searched));
        let within = self.is_any_variable(&mut |abs| holds(abs, &is_it, false, &mut searched));
        self.world.budget.take(searched);
        if held || within {
            return self.bail(Code::Mutation, "a change of a container that another holds, or that is iterated");
        }
        let (new, changed) = match object {
            Object::Dict(dict) => {
                let mut copy = (**dict).clone();
                self.world.budget.take(4 * copy.len());
                let changed = change(Content::Dict(&mut copy));
                (Object::Dict(Arc::new(copy)), changed)
            }
            Object::Set(set) => {
                let mut copy = (**set).clone();
                self.world.budget.take(4 * copy.members.len());
                let changed = change(Content::Set(&mut copy));
                (Object::Set(Arc::new(copy)), changed)
            }
            _ => return self.bail(Code::Mutation, "a change of such a constant"),
        };
        if !changed {
            return self.bail(Code::Operands, "a key that is not hashable here");
        }
        let new = Abs::Const(new);
        self.put_in_place(&|abs| matches!(abs, Abs::Const(object) if is_it(object)), &new);
        Ok(new)
    }

    /// The same with all that another dict holds.
    pub fn updated_while_loading(&mut self, dict: &Object, other: &DictObj) -> Lift<Abs> {
        let all =
            |mut to: Content<'_>| other.entries().iter().all(|(key, value)| to.insert(key.clone(), value.clone()));
        self.change_while_loading(dict, all)
    }

    /// What methods that change a constant dict or set do while the module is run.
    pub fn changed_by_method(&mut self, receiver: &Object, method: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        let insert = |key: &Object, value: &Object| {
            let (key, value) = (key.clone(), value.clone());
            move |mut to: Content<'_>| to.insert(key, value)
        };
        match (receiver, method, args) {
            (Object::Dict(_), "update", [Abs::Const(Object::Dict(other))]) => {
                self.updated_while_loading(receiver, other)?;
                Ok(Some(Abs::NONE))
            }
            (Object::Dict(dict), "setdefault", [Abs::Const(key), Abs::Const(value)]) => {
                if let Some(found) = dict.get(key) {
                    return Ok(Some(Abs::Const(found.clone())));
                }
                self.change_while_loading(receiver, insert(key, value))?;
                Ok(Some(Abs::Const(value.clone())))
            }
            (Object::Set(set), "add", [Abs::Const(member)]) if !set.frozen => {
                self.change_while_loading(receiver, insert(member, &Object::None))?;
                Ok(Some(Abs::NONE))
            }
            _ => Ok(None),
        }
    }

    /// `{key: value, **other}`.
    pub fn dict_display(&mut self, items: &[(Option<Expr>, Expr)]) -> Lift<Abs> {
        let mut entries = Vec::new();
        for (key, value) in items {
            // The language reference has the key first, and so has CPython.
            let key = key.as_ref().map(|key| self.expr(key)).transpose()?;
            let value = self.expr(value)?;
            self.kept(&value)?;
            entries.push((key, value));
        }
        self.dict_of_entries(entries)
    }

    /// `dict(other, key=value)`.
    pub fn dict_of_named(&mut self, args: &[Abs], named: Vec<(Name, Abs)>) -> Lift<Abs> {
        let mut entries: Vec<(Option<Abs>, Abs)> = Vec::new();
        if let Some(source) = args.first() {
            entries.push((None, self.dict_of(Some(source))?));
        }
        entries.extend(named.into_iter().map(|(name, value)| (Some(Abs::str(&name)), value)));
        self.dict_of_entries(entries)
    }

    /// A dict of those entries; those without a key are dicts.
    pub fn dict_of_entries(&mut self, entries: Vec<(Option<Abs>, Abs)>) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let constant = |(key, value): &(Option<Abs>, Abs)| match key {
            Some(key) => key.as_const().is_some() && value.as_const().is_some(),
            None => matches!(value, Abs::Const(Object::Dict(_))),
        };
        if entries.is_empty()
            && let Some(empty) = self.constant_empty(Object::Dict(Arc::default()))
        {
            return Ok(empty);
        }
        let all_constant = entries.iter().all(constant);
        if all_constant && (self.module_mode || !(entries.is_empty() || self.is_changing())) {
            let mut dict = DictObj::default();
            let mut hashable = true;
            for entry in &entries {
                match entry {
                    (Some(Abs::Const(key)), Abs::Const(value)) => hashable &= dict.insert(key.clone(), value.clone()),
                    (_, Abs::Const(Object::Dict(other))) => {
                        self.world.budget.take(8 * other.len());
                        for (key, value) in other.entries() {
                            dict.insert(key.clone(), value.clone());
                        }
                    }
                    _ => {}
                }
            }
            if hashable {
                return Ok(self.written(Object::Dict(Arc::new(dict))));
            }
            return self.bail(Code::Operands, "a key of a dict that is not hashable here");
        }
        if let Some(table) = self.dict_table(&entries) {
            return Ok(table);
        }
        if self.module_mode {
            return self.bail(Code::ModuleBody, "a module-level dict holds something that is not a constant");
        }
        if let Some(known) = self.known_entries(&entries)?
            && let Some(Abs::Class(class)) = self.prelude_function("collections", "dict")?
            && let Some(dict) = self.shaped_dict(&class, &known)?
        {
            return Ok(dict);
        }
        let mut entries = entries;
        let dict = match entries.first() {
            Some((None, first)) if is_plain_dict(first) => {
                let (_, first) = entries.remove(0);
                self.call_of(&first, "copy", Vec::new())?
            }
            _ => self.new_container("dict", Vec::new())?,
        };
        for (at, (key, value)) in entries.into_iter().enumerate() {
            self.apart(at, |me| match key {
                Some(key) => {
                    me.refuse_iterator(&value)?;
                    me.apply("a[b]=c", &[dict.clone(), key, value])
                }
                None => {
                    me.refuse_no_mapping(&value)?;
                    if me.live { me.call_of(&dict, "update", vec![value]) } else { Ok(Abs::Unbound) }
                }
            })?;
        }
        Ok(if self.live { dict } else { Abs::Unbound })
    }

    /// Raises CPython's error for what `**` does not take in a display: `update` takes pairs too.
    fn refuse_no_mapping(&mut self, value: &Abs) -> Lift<()> {
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(value)) {
            self.dispatch(union, &mut |me, narrowed| {
                me.refuse_no_mapping(&narrowed)?;
                Ok(if me.live { Abs::NONE } else { Abs::Unbound })
            })?;
            return Ok(());
        }
        match (value, self.type_of(value)) {
            _ if self.is_dict(value) => Ok(()),
            (_, Some(Type::Record(Class::JsonObject, _))) => Ok(()),
            (_, Some(ty)) if !ty.holds_object() || matches!(ty, Type::Record(Class::JsonArray, _)) => {
                let message = format!("'{}' object is not a mapping", ty.message_name());
                self.raise_message(ExcKind::TypeError, &message)?;
                Ok(())
            }
            _ => self.bail(Code::Operands, "** of such a value"),
        }
    }

    /// A dict of the fields of a struct.
    pub fn dict_of_fields(&mut self, fields: Vec<(Abs, Abs)>) -> Lift<Abs> {
        self.dict_of_entries(fields.into_iter().map(|(key, value)| (Some(key), value)).collect())
    }

    /// The entries of a dict display with those of the dicts in it, if they are known.
    pub fn known_entries(&mut self, entries: &[(Option<Abs>, Abs)]) -> Lift<Option<Vec<(Abs, Abs)>>> {
        let mut known = Vec::new();
        for (key, value) in entries {
            match (key, value) {
                (Some(key), value) => known.push((key.clone(), value.clone())),
                (None, Abs::Const(Object::Dict(other))) => {
                    let constant = |object: &Object| Abs::Const(object.clone());
                    known.extend(other.entries().iter().map(|(key, value)| (constant(key), constant(value))));
                }
                (None, other) => match self.shaped_entries(other)? {
                    Some(entries) => known.extend(entries),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(known))
    }

    /// `dict(pairs)` where a module is run.
    pub fn constant_dict(&mut self, pairs: &Abs) -> Lift<Abs> {
        let mut dict = DictObj::default();
        self.for_each(pairs, &mut |me, pair| {
            if !me.live {
                return Ok(());
            }
            match pair.tuple_items().as_deref() {
                Some([Abs::Const(key), Abs::Const(value)]) if dict.insert(key.clone(), value.clone()) => Ok(()),
                _ => me.bail(Code::ModuleBody, "a dict of such pairs"),
            }
        })?;
        Ok(if self.live { Abs::Const(Object::Dict(Arc::new(dict))) } else { Abs::Unbound })
    }

    /// What `copy.copy` or `copy.deepcopy` makes of a value. A constant is written once more.
    pub fn copied(&mut self, value: &Abs, deep: bool) -> Lift<Abs> {
        if let Abs::Const(object) = value {
            let mut parts = HashSet::new();
            if deep && !holds_each_once(object, &mut parts) {
                return self.bail(Code::Mutation, "a copy of a container that holds another twice");
            }
            self.world.budget.take(8 * parts.len());
            return self.written_anew(object, deep);
        }
        match self.type_of(value) {
            Some(ty) if crate::walk::operate::is_plain(&ty) => return Ok(value.clone()),
            Some(Type::List(element))
                if !deep || *element == Type::Never || crate::walk::operate::is_plain(&element) =>
            {
                return self.call_of(value, "copy", Vec::new());
            }
            _ => {}
        }
        // Below dict, a copy is of the class and has the attributes.
        let is_written = matches!(value, Abs::Instance(object) if !object.class.prelude);
        if !deep && !is_written && self.is_dict(value) {
            return self.call_of(value, "copy", Vec::new());
        }
        self.bail(Code::Callee, format!("a copy of {}", crate::walk::describe::describe(value)))
    }

    fn written_anew(&mut self, object: &Object, deep: bool) -> Lift<Abs> {
        let one = |me: &mut Self, at: usize, object: &Object| {
            if deep { me.apart(at, |me| me.written_anew(object, deep)) } else { Ok(Abs::Const(object.clone())) }
        };
        match object {
            Object::List(list) => {
                let items = list.items();
                let items = items.iter().enumerate().map(|(at, item)| one(self, at, item)).collect::<Lift<Vec<_>>>()?;
                self.new_list(&items)
            }
            Object::Dict(dict) => {
                let mut entries = Vec::new();
                for (at, (key, value)) in dict.entries().iter().enumerate() {
                    entries.push((Some(Abs::Const(key.clone())), one(self, at, value)?));
                }
                self.dict_of_entries(entries)
            }
            Object::Set(set) if !set.frozen => self.set_of(Some(&Abs::Const(object.clone()))),
            Object::Tuple(items) if deep => {
                let items = items.iter().enumerate().map(|(at, item)| one(self, at, item)).collect::<Lift<Vec<_>>>()?;
                Ok(Abs::tuple(items))
            }
            Object::None
            | Object::Bool(_)
            | Object::Int(_)
            | Object::Float(_)
            | Object::Str(_)
            | Object::Set(_)
            | Object::Tuple(_) => Ok(Abs::Const(object.clone())),
            _ => self.bail(Code::Callee, "a copy of such a constant"),
        }
    }

    /// Whether a value is a dict.
    pub fn is_dict(&self, value: &Abs) -> bool {
        match value {
            Abs::Instance(object) => ClassObj::is_dict(&object.class),
            Abs::Table(table) => table.kind == TableKind::Dict,
            Abs::OneOf(choice) => choice.of.iter().all(|(_, item)| self.is_dict(item)),
            value => matches!(self.type_of(value), Some(Type::Dict(..))),
        }
    }

    /// `dict(x)` in a function.
    pub fn dict_of(&mut self, source: Option<&Abs>) -> Lift<Abs> {
        if let Some(Abs::Const(Object::Dict(dict))) = source
            && !self.is_changing()
        {
            return Ok(self.written(Object::Dict(Arc::new((**dict).clone()))));
        }
        if let (true, Some(pairs)) = (self.module_mode, source) {
            return self.constant_dict(pairs);
        }
        if source.is_none()
            && let Some(empty) = self.constant_empty(Object::Dict(Arc::default()))
        {
            return Ok(empty);
        }
        if let Some(source) = source.filter(|source| is_plain_dict(source)) {
            return self.call_of(source, "copy", Vec::new());
        }
        let dict = self.new_container("dict", Vec::new())?;
        if let Some(source) = source {
            self.call_of(&dict, "update", vec![source.clone()])?;
        }
        Ok(if self.live { dict } else { Abs::Unbound })
    }

    /// A set or dict comprehension in a function.
    pub fn collect_entries(
        &mut self,
        comp: &Comprehension,
        first: &Abs,
        enclosing: Enclosing,
        module: usize,
    ) -> Lift<Abs> {
        let class = if comp.collects == Collects::Dict { "dict" } else { "set" };
        let made = self.new_container(class, Vec::new())?;
        self.generate(comp, first, &enclosing, module, &mut |me, element, value| {
            match value {
                Some(value) => me.apply("a[b]=c", &[made.clone(), element, value])?,
                None => me.call_of(&made, "add", vec![element])?,
            };
            Ok(())
        })?;
        Ok(if self.live { made } else { Abs::Unbound })
    }

    /// Calls a method of an object.
    pub fn call_of(&mut self, object: &Abs, method: &str, args: Vec<Abs>) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let method = self.attribute(object.clone(), &method.into())?;
        self.call_value(&method, args, Vec::new())
    }
}

/// What tells a constant container from others that are equal.
fn address(object: &Object) -> Option<usize> {
    match object {
        Object::Dict(dict) => Some(Arc::as_ptr(dict) as usize),
        Object::Set(set) => Some(Arc::as_ptr(set) as usize),
        _ => None,
    }
}

/// Whether it is a dict of run time, and of no class below that: its copy is made of its parts.
fn is_plain_dict(source: &Abs) -> bool {
    matches!(source, Abs::Instance(object) if object.class.prelude && &*object.class.name == "dict")
}

/// Whether no container is held twice within a constant; notes where all of them are.
fn holds_each_once(object: &Object, seen: &mut HashSet<usize>) -> bool {
    let place = match object {
        Object::List(list) => Some(Arc::as_ptr(list) as usize),
        Object::Set(set) if set.frozen => None,
        other => address(other),
    };
    if place.is_some_and(|place| !seen.insert(place)) {
        return false;
    }
    match object {
        Object::List(list) => list.items().iter().all(|item| holds_each_once(item, seen)),
        Object::Tuple(items) => items.iter().all(|item| holds_each_once(item, seen)),
        Object::Dict(dict) => dict.entries().iter().all(|(_, value)| holds_each_once(value, seen)),
        _ => true,
    }
}
