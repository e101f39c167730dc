//! Run-time lists and what they hold: facts about the places where they are made, found out
//! by lifting, and kept from one attempt to the next.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::tables::Table;
use crate::walk::describe::{describe, type_for_people};
use crate::walk::lifter::{Lift, Lifter, Site, Stop};
use exuvia_ir::{Object, Opcode, Type, Value};

/// What appends to a list: it is given what appends one item.
type Fill<'f, L> = dyn FnMut(&mut L, &mut dyn FnMut(&mut L, Abs) -> Lift<()>) -> Lift<()> + 'f;

impl Lifter<'_> {
    pub fn site(&self) -> Site {
        let frame = self.frames.get(self.current);
        (frame.map_or(0, |f| f.module), self.place, frame.map_or(0, |f| f.path))
    }

    /// Does one of several things at one place of the source: lists made by it and loops in it are
    /// told from those of the others.
    pub fn apart<T>(&mut self, index: usize, f: impl FnOnce(&mut Self) -> Lift<T>) -> Lift<T> {
        let path = self.frames[self.current].path;
        self.frames[self.current].path = crate::calls::call::mix(path, index as u32);
        let result = f(self);
        self.frames[self.current].path = path;
        result
    }

    /// A new list of those elements.
    pub fn new_list(&mut self, items: &[Abs]) -> Lift<Abs> {
        let site = self.site();
        self.list_at(site, items)
    }

    /// A new list that counts as made at a site.
    pub fn list_at(&mut self, site: Site, items: &[Abs]) -> Lift<Abs> {
        if self.is_table(items) {
            // Members of enumerations may be in a list at run time, where a table will not do.
            let may_be = |item: &Abs| self.holds_static_object(item) || self.type_of(item).is_some();
            let members = !self.module_mode && items.iter().all(may_be);
            if !members || !self.world.changing.contains(&site) {
                return Ok(Table::list(items.to_vec(), members.then_some(site)));
            }
        }
        if self.module_mode {
            let objects = items.iter().map(|item| item.as_const().cloned()).collect::<Option<Vec<_>>>();
            return match objects {
                Some(objects) => Ok(Abs::Const(Object::list(objects))),
                None => self.bail(Code::ModuleBody, "a module-level list holds something that is not a constant"),
            };
        }
        let items = &items.iter().map(|item| self.escaped(item)).collect::<Lift<Vec<_>>>()?[..];
        let mut element = match self.world.list_types.get(&site) {
            Some(known) => known.clone(),
            // An empty list is probably filled as those of the same place were.
            None if items.is_empty() => self.guess(site),
            None => Type::Never,
        };
        for item in items {
            match self.type_of(item) {
                Some(ty) => element = element.join(&self.stored_type(&ty, true)),
                None => return self.bail(Code::StaticValue, format!("a list holds {}", describe(item))),
            }
        }
        let values = items.iter().map(|item| self.value_as(item, &element)).collect::<Lift<Vec<_>>>()?;
        let list = self.b.inst(Opcode::List, values.clone(), Type::list(element), None);
        self.sites.insert(list, vec![site]);
        values.into_iter().for_each(|item| self.put_into(list, item));
        Ok(Abs::Dyn(list))
    }

    /// A new list that is empty so far, of elements of that type and of those that it is known to hold.
    pub fn empty_list(&mut self, element: Type) -> Abs {
        let site = self.site();
        let element = self.world.known_elements(&[site]).join(&element);
        let list = self.b.inst(Opcode::List, Vec::new(), Type::list(element), None);
        self.sites.insert(list, vec![site]);
        Abs::Dyn(list)
    }

    /// A new list that `fill` appends to, by what it is given. Nobody sees the list before it is full, so the
    /// first element says what it holds, and lifting need not begin again.
    pub fn filled_list(&mut self, fill: &mut Fill<'_, Self>) -> Lift<Abs> {
        let list = if self.module_mode { self.new_list(&[])? } else { self.empty_list(Type::Never) };
        let unseen = self.unseen.len();
        if let Abs::Dyn(list) = list {
            self.unseen.push(list);
        }
        let hidden = self.hidden_name("list");
        let depth = self.current;
        self.set_var(&hidden, list);
        fill(self, &mut |me, item| {
            let list = me.frames[depth].vars.get(&hidden).cloned().unwrap_or(Abs::Unbound);
            me.apply(".append", &[list, item]).map(drop)
        })?;
        self.unseen.truncate(unseen);
        let list = self.get_hidden(&hidden);
        self.remove_var(&hidden);
        Ok(list)
    }

    /// Gives a list that is empty so far, and that nobody has seen, the type of its first element; whether it is such
    /// a list.
    fn typed_by_first(&mut self, list: Value, element: &Type) -> Lift<bool> {
        let is_empty = matches!(self.b.function.ty(list), Type::List(have) if **have == Type::Never);
        if !is_empty || !self.unseen.contains(&list) {
            return Ok(false);
        }
        let element = self.world.known_elements(&self.sites_of(list)).join(element);
        self.settle_nested(&element)?;
        if !crate::budget::is_small(&element) {
            return self.bail(Code::Budget, "a list whose elements have too large a type");
        }
        self.b.function.values[list.index()].ty = Type::list(element);
        self.typed.push(list);
        Ok(true)
    }

    /// Takes back from lists what the first element that they got said of them, since they have no element again:
    /// of all but so many.
    pub fn untype(&mut self, but: usize) {
        for list in self.typed.split_off(but.min(self.typed.len())) {
            if let Some(value) = self.b.function.values.get_mut(list.index()) {
                value.ty = Type::list(Type::Never);
            }
        }
    }

    /// A list that an operation has just made as one that counts as made here: where it comes to hold
    /// other elements, it is a copy that can.
    pub fn placed_list(&mut self, list: &Abs) -> Lift<Abs> {
        let Abs::Dyn(value) = list else { return Ok(list.clone()) };
        let Type::List(element) = self.b.function.ty(*value).clone() else { return Ok(list.clone()) };
        let site = self.site();
        if self.world.list_types.get(&site).is_none_or(|known| *known == *element) {
            self.sites.insert(*value, vec![site]);
            return Ok(list.clone());
        }
        self.copy_to_list(list)
    }

    /// Where the lists were made that a value may be.
    pub fn sites_of(&self, value: Value) -> Vec<Site> {
        self.sites.get(&value).cloned().unwrap_or_default()
    }

    /// Notes that a list holds another: where that is read from it, it is known where it was made.
    pub fn put_into(&mut self, list: Value, item: Value) {
        let Some(made) = self.sites.get(&item).cloned() else { return };
        for site in self.sites.get(&list).into_iter().flatten() {
            add_sites(self.world.inner.entry(*site).or_default(), &made);
        }
    }

    /// Notes that a value was read from a list, if it is a list that the other holds.
    pub fn read_from(&mut self, list: Value, item: Value) {
        let types = (self.b.function.ty(list), self.b.function.ty(item));
        let (Type::List(element), held) = types else { return };
        let is_list = |ty: &Type| matches!(ty, Type::List(_));
        if **element != *held || !held.alternatives().iter().any(is_list) {
            return;
        }
        let mut made: Vec<Site> = Vec::new();
        for site in self.sites.get(&list).into_iter().flatten() {
            add_sites(&mut made, self.world.inner.get(site).map_or(&[][..], Vec::as_slice));
        }
        self.sites.insert(item, made);
    }

    /// What a list that is made empty will probably hold: what others did that were made at
    /// the same place, on other call paths. That saves an attempt for each of forty calls of
    /// a function that makes a list.
    fn guess(&mut self, site: Site) -> Type {
        let Some(Some(likely)) = self.world.likely.get(&(site.0, site.1)) else { return Type::Never };
        // A dict may hold dicts, whose lists are made at the same place.
        if likely.holds(&Type::is_object) {
            return Type::Never;
        }
        self.world.list_types.insert(site, likely.clone());
        self.world.guessed.insert(site, self.world.found.len());
        likely.clone()
    }

    /// Notes that lists of a site, so far of elements of type `have`, come to hold `element`.
    fn found_elements(&mut self, site: Site, have: &Type, element: &Type) -> Lift<()> {
        let world = &mut *self.world;
        let place = (site.0, site.1);
        if world.guessed.contains_key(&site) {
            world.withdraw(place);
            return Err(Stop::Restart);
        }
        let before = world.list_types.get(&site).cloned();
        let old = before.clone().unwrap_or(Type::Never).join(have);
        let known = old.join(element);
        world.list_types.insert(site, known.clone());
        world.found.push((site, before));
        let likely = world.likely.entry(place).or_insert_with(|| Some(known.clone()));
        if likely.as_ref().is_some_and(|likely| *likely != known) {
            // This one's own earlier finding is refined; where two differ there is no guess.
            *likely = (*likely == Some(old)).then_some(known);
        }
        Ok(())
    }

    /// A list must hold elements of another type: everything that makes such lists is
    /// lifted again with that type.
    pub fn widen_list(&mut self, list: Value, ty: &Type) -> Lift<Value> {
        let wanted = ty.alternatives().iter().find_map(|a| match a {
            Type::List(element) => Some((**element).clone()),
            _ => None,
        });
        let Some(element) = wanted else {
            return self.bail(Code::Join, "a list and another type have no common representation");
        };
        self.widen_element(list, &element)?;
        // Stands for the list in what is thrown away.
        let sites = self.sites_of(list);
        let widened = self.b.inst(Opcode::List, vec![], Type::list(element), None);
        self.sites.insert(widened, sites);
        self.convert(widened, ty)
    }

    /// Requires that a list can hold elements of a type. The attempt goes on, for what else it
    /// finds out, and is thrown away at its end.
    pub fn widen_element(&mut self, list: Value, element: &Type) -> Lift<()> {
        if self.typed_by_first(list, element)? {
            return Ok(());
        }
        let sites = self.sites_of(list);
        if sites.is_empty() {
            let (ty, element) = (type_for_people(self.b.function.ty(list)), type_for_people(element));
            return self.bail(Code::Join, format!("a {ty} cannot come to hold {element}"));
        }
        let lists = self.b.function.ty(list).alternatives().iter().filter_map(|ty| match ty {
            Type::List(have) => Some((**have).clone()),
            _ => None,
        });
        let have = lists.fold(Type::Never, |all, one| all.join(&one));
        for site in &sites {
            self.found_elements(*site, &have, element)?;
            let found = self.world.list_types.get(site).cloned();
            if let Some(found) = &found {
                self.settle_nested(found)?;
            }
            if found.is_some_and(|found| !crate::budget::is_small(&found)) {
                return self.bail(Code::Budget, "a list whose elements have too large a type");
            }
        }
        self.world.stale = true;
        self.retype(&sites);
        Ok(())
    }

    /// Gives the lists that were made at some places the elements that are known now. What was lifted with them
    /// before does not fit them any more and is thrown away, but what follows finds out what it would in the next
    /// attempt.
    fn retype(&mut self, changed: &[Site]) {
        let made = self.sites.iter().filter(|(_, sites)| sites.iter().any(|site| changed.contains(site)));
        for (value, sites) in made {
            let known = self.world.known_elements(sites);
            let ty = &mut self.b.function.values[value.index()].ty;
            let widened = |one: &Type| match one {
                Type::List(have) => Type::list(have.join(&known)),
                other => other.clone(),
            };
            *ty = Type::union(ty.alternatives().iter().map(widened));
        }
    }
}

/// From how many places on they are looked up by their hashes.
const MANY: usize = 16;

/// Adds places to those that are known.
pub(crate) fn add_sites(known: &mut Vec<Site>, more: &[Site]) {
    if more.len() < MANY {
        for site in more {
            if !known.contains(site) {
                known.push(*site);
            }
        }
        return;
    }
    let mut have: std::collections::HashSet<Site> = known.iter().copied().collect();
    known.extend(more.iter().copied().filter(|site| have.insert(*site)));
}
