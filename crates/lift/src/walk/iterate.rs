//! Iteration: what a `for` goes over, item by item, and lists and tuples of it.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::data::choice::numbered;
use crate::data::tables::Table;
use crate::objects::class::ClassObj;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter, Stop};
use exuvia_ir::{ExcKind, Object, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Tuples and other things of known length are unrolled up to this many turns.
const MAX_UNROLL: usize = 64;
/// Tables of functions and objects are unrolled up to this many turns; longer ones by position.
const MAX_TURNS: usize = 16;
/// Turns of loops that run at the top level of a module.
const MAX_STATIC_TURNS: u32 = 200_000;

/// Whether a constant list or tuple is short enough to be unrolled where that helps.
fn is_short(constant: &Object) -> bool {
    match constant {
        Object::List(list) => list.read(<[Object]>::len) <= MAX_TURNS,
        Object::Tuple(items) => items.len() <= MAX_TURNS,
        _ => false,
    }
}

/// Something iterated by position: hidden variables hold its state.
enum Cursor {
    Range {
        at: Name,
        stop: Abs,
        step: Abs,
    },
    Str {
        text: Name,
        at: Name,
    },
    List {
        list: Name,
        at: Name,
    },
    ListReversed {
        list: Name,
        at: Name,
        /// Whether other code may take items away meanwhile.
        may_shrink: bool,
    },
    /// From its start again when it is over.
    ListCycled {
        list: Name,
        at: Name,
    },
    Table {
        table: Rc<Table>,
        at: Name,
    },
    Zip(Vec<Cursor>),
}

impl Cursor {
    /// Shows the variables that each turn advances.
    fn advanced(&self, f: &mut dyn FnMut(&Name)) {
        match self {
            Cursor::Range { at, .. }
            | Cursor::Str { at, .. }
            | Cursor::List { at, .. }
            | Cursor::ListReversed { at, .. }
            | Cursor::ListCycled { at, .. }
            | Cursor::Table { at, .. } => f(at),
            Cursor::Zip(cursors) => cursors.iter().for_each(|cursor| cursor.advanced(f)),
        }
    }
}

/// Whether the items of an array are taken before a loop begins.
fn copies_arrays(iterable: &Abs) -> bool {
    let Abs::Iter(iter) = iterable else { return false };
    let is_array = |abs: &Abs| abs.is_of_prelude_with("_kept");
    match &**iter {
        Iter::Zip(inners) => inners.iter().any(|inner| is_array(inner) || copies_arrays(inner)),
        Iter::Reversed { of, .. } => is_array(of) || copies_arrays(of),
        _ => false,
    }
}

/// The lists whose items are walked, by their addresses.
fn walks(iterable: &Abs, lists: &mut Vec<usize>) {
    match iterable {
        Abs::Const(Object::List(list)) => lists.push(Arc::as_ptr(list) as usize),
        Abs::Iter(iter) => match &**iter {
            Iter::Zip(inners) => inners.iter().for_each(|inner| walks(&inner.shown(), lists)),
            Iter::Reversed { of, .. } => walks(&of.shown(), lists),
            _ => {}
        },
        _ => {}
    }
}

impl Lifter<'_> {
    /// Runs `body` for each item.
    pub fn for_each(&mut self, iterable: &Abs, body: &mut dyn FnMut(&mut Self, Abs) -> Lift<()>) -> Lift<()> {
        let held = self.held.len();
        self.held.push(iterable.clone());
        let result = self.for_each_item(iterable, body);
        self.held.truncate(held);
        result
    }

    fn for_each_item(&mut self, iterable: &Abs, body: &mut dyn FnMut(&mut Self, Abs) -> Lift<()>) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        if let Abs::Dyn(value) = iterable
            && matches!(self.b.function.ty(*value), Type::Union(_))
        {
            self.dispatch(*value, &mut |me, narrowed| {
                me.for_each(&narrowed, body)?;
                Ok(Abs::NONE)
            })?;
            return Ok(());
        }
        if let Abs::Instance(object) = iterable {
            let iterator = self.iterator_of(&Rc::clone(object))?;
            return self.for_each(&iterator, body);
        }
        if let Some(flags) = self.flags_in(iterable) {
            return self.for_each(&Abs::tuple(flags), body);
        }
        if let Some(members) = self.members_of(iterable) {
            return self.for_each_item(&Abs::Table(members), body);
        }
        if let Abs::OneOf(choice) = iterable {
            self.choose(&Rc::clone(choice), &mut |me, item| {
                me.for_each(&item, body)?;
                Ok(if me.live { Abs::NONE } else { Abs::Unbound })
            })?;
            return Ok(());
        }
        if let Some(iterator) = self.iterator_of_record(iterable)? {
            return self.for_each(&iterator, body);
        }
        if let Abs::Iter(iter) = iterable {
            match &**iter {
                Iter::Enumerate { inner, start } => {
                    let count = self.hidden_name("count");
                    let depth = self.current;
                    self.set_var(&count, start.clone());
                    self.advancing.push((depth, count.clone()));
                    self.for_each(inner, &mut |me, item| {
                        let at = me.frames[depth].vars.get(&count).cloned().unwrap_or(Abs::Unbound);
                        let next = me.apply("a+b", &[at.clone(), Abs::int(1)])?;
                        me.frames[depth].vars.insert(count.clone(), next);
                        body(me, Abs::tuple(vec![at, item]))
                    })?;
                    if self.live {
                        self.frames[depth].vars.remove(&count);
                    }
                    return Ok(());
                }
                Iter::Map { func, inner } => {
                    return self.for_each(inner, &mut |me, item| {
                        let result = me.calling_back(|me| me.call_value(func, vec![item], Vec::new()))?;
                        if me.live { body(me, result) } else { Ok(()) }
                    });
                }
                Iter::Filter { func, inner } => {
                    return self.for_each(inner, &mut |me, item| {
                        let kept = match func {
                            Abs::Const(Object::None) => item.clone(),
                            func => me.calling_back(|me| me.call_value(func, vec![item.clone()], Vec::new()))?,
                        };
                        let (yes, mut no) = me.split_value(&kept)?;
                        me.enter_any(yes)?;
                        if me.live {
                            body(me, item)?;
                        }
                        no.extend(me.state());
                        me.enter_any(no)
                    });
                }
                Iter::Generator { comp, first, enclosing, module } => {
                    return self.generate(comp, first, enclosing, *module, &mut |me, element, _| body(me, element));
                }
                Iter::Call { function: Abs::Func(closure), args } => {
                    return self.run_generator(closure, args, body);
                }
                Iter::Range { .. } | Iter::Zip(_) | Iter::Reversed { .. } | Iter::View { .. } | Iter::Call { .. } => {}
            }
        }
        let iterable = &iterable.shown();
        if let Some(items) = self.unrolled(iterable) {
            let walked = self.walked.len();
            walks(iterable, &mut self.walked);
            for item in items {
                if self.live {
                    self.turn_at_top_level()?;
                    body(self, item)?;
                }
            }
            self.walked.truncate(walked);
            return Ok(());
        }
        if self.module_mode {
            return self.bail(Code::ModuleBody, "a loop at the top level is not over constants");
        }
        if let Some(ty) = self.type_of(iterable)
            && let Some((kind, message)) = exuvia_ops::operands::error("iter", &[ty])
        {
            self.raise_message(kind, &message)?;
            return Ok(());
        }
        if matches!((iterable, self.type_of(iterable)), (Abs::Dyn(_), Some(Type::Dict(..) | Type::Set(_)))) {
            // What is written as a constant may have to be one that is made.
            self.changes(iterable)?;
            return self.bail(Code::Operands, "iteration over one of several constant dicts or sets");
        }
        let depth = self.current;
        let cursor = self.cursor(iterable)?;
        if !self.live {
            return Ok(());
        }
        cursor.advanced(&mut |name| self.advancing.push((depth, name.clone())));
        let site = self.site();
        let copied = usize::from(copies_arrays(iterable));
        self.snapshots += copied;
        let looped = self.run_loop(&mut |me| me.cursor_more(depth, &cursor), &mut |me| {
            let item = me.cursor_next(depth, &cursor)?;
            body(me, item)
        });
        self.snapshots -= copied;
        if matches!(looped, Err(Stop::Bailout(_)))
            && iterable.as_const().is_some_and(is_short)
            && self.world.unrolled.insert(site)
        {
            // What is done with an item may want to know it, as `strptime` its format.
            return Err(Stop::Restart);
        }
        looped?;
        if self.live {
            self.forget(depth, &cursor);
        }
        Ok(())
    }

    /// Counts a turn that is lifted on its own.
    pub fn turn_at_top_level(&mut self) -> Lift<()> {
        self.steps += 1;
        if self.steps > MAX_STATIC_TURNS {
            return self.bail(Code::Budget, "a loop at the top level takes too many turns");
        }
        Ok(())
    }

    /// The items of what is iterated turn by turn, each lifted on its own.
    fn unrolled(&mut self, iterable: &Abs) -> Option<Vec<Abs>> {
        let limit = if self.module_mode { MAX_STATIC_TURNS as usize } else { MAX_UNROLL };
        match &iterable.shown() {
            Abs::Iter(iter) => match &**iter {
                Iter::Zip(inners) => {
                    let mut columns = Vec::new();
                    for inner in inners {
                        columns.push(self.unrolled(inner)?);
                    }
                    let len = columns.iter().map(Vec::len).min().unwrap_or(0);
                    Some(
                        (0..len)
                            .map(|at| Abs::tuple(columns.iter().map(|column| column[at].clone()).collect()))
                            .collect(),
                    )
                }
                Iter::Reversed { of, .. } => {
                    let mut items = self.unrolled(of)?;
                    items.reverse();
                    Some(items)
                }
                Iter::Range { start, stop, step } if self.module_mode => numbers(start, stop, step, limit),
                _ => None,
            },
            // In a function a constant list is walked by a loop, unless it is short.
            Abs::Const(constant) if is_short(constant) && self.world.unrolled.contains(&self.site()) => {
                self.known_items(iterable)
            }
            Abs::Const(Object::Str(_) | Object::List(_) | Object::Dict(_)) if !self.module_mode => {
                let items = self.known_items(iterable)?;
                (items.len() <= 4).then_some(items)
            }
            Abs::Const(Object::Set(_)) => None,
            Abs::Table(table) => (table.iterated().len() <= if self.module_mode { limit } else { MAX_TURNS })
                .then(|| table.iterated().to_vec()),
            other => {
                let items = self.known_items(other)?;
                let mixed = items.iter().any(|item| {
                    let first = self.type_of(&items[0]);
                    self.type_of(item) != first
                });
                (items.len() <= if mixed { limit } else { limit.min(8).max(if self.module_mode { limit } else { 8 }) })
                    .then_some(items)
            }
        }
    }

    fn cursor(&mut self, iterable: &Abs) -> Lift<Cursor> {
        match &iterable.shown() {
            Abs::Iter(iter) => match &**iter {
                Iter::Range { start, stop, step } => {
                    let at = self.hidden_name("at");
                    self.set_var(&at, start.clone());
                    Ok(Cursor::Range { at, stop: stop.clone(), step: step.clone() })
                }
                Iter::Zip(inners) => {
                    let mut cursors = Vec::new();
                    for (at, inner) in inners.iter().enumerate() {
                        // Lists that are made of them are different ones.
                        cursors.push(self.apart(at, |me| me.cursor(inner))?);
                    }
                    Ok(Cursor::Zip(cursors))
                }
                Iter::Reversed { of: Abs::Iter(range), .. } if matches!(&**range, Iter::Range { .. }) => {
                    self.reversed_range(range)
                }
                Iter::Reversed { of, last } => {
                    let list = self.listed(of)?;
                    if !self.live {
                        return Ok(Cursor::Zip(Vec::new()));
                    }
                    let start = match last {
                        Some(last) => last.clone(),
                        None => self.last_position(&list)?,
                    };
                    let (list_name, at) = (self.hidden_name("list"), self.hidden_name("at"));
                    self.set_var(&list_name, list);
                    self.set_var(&at, start);
                    Ok(Cursor::ListReversed { list: list_name, at, may_shrink: last.is_some() })
                }
                cycle if let Some(items) = self.source_of_cycle(cycle) => {
                    // What it iterates over need not be the same later.
                    let list = self.copy_to_list(&items)?;
                    let (list_name, at) = (self.hidden_name("list"), self.hidden_name("at"));
                    self.set_var(&list_name, list);
                    self.set_var(&at, Abs::int(0));
                    Ok(Cursor::ListCycled { list: list_name, at })
                }
                Iter::Enumerate { .. }
                | Iter::Map { .. }
                | Iter::Filter { .. }
                | Iter::Generator { .. }
                | Iter::Call { .. }
                | Iter::View { .. } => match self.items_at_once(iterable)? {
                    _ if !self.live => Ok(Cursor::Zip(Vec::new())),
                    Some(items) => self.cursor(&items),
                    None => self.bail(Code::StaticValue, "an iterator inside zip or reversed"),
                },
            },
            Abs::Const(Object::Set(_)) => self.bail(Code::SetOrder, "iteration over a set"),
            Abs::Table(table) => {
                let at = self.hidden_name("at");
                self.set_var(&at, Abs::int(0));
                Ok(Cursor::Table { table: Rc::clone(table), at })
            }
            // Its members may change meanwhile.
            Abs::Instance(object) if ClassObj::is_below(&object.class, "set") => {
                self.bail(Code::StaticValue, "a set inside zip or reversed")
            }
            // What it gives may depend on what is taken elsewhere meanwhile, and may have no end.
            Abs::Instance(object)
                if !object.class.prelude
                    || ["list_iterator", "StringIO"].iter().any(|name| ClassObj::is_below(&object.class, name)) =>
            {
                self.bail(Code::StaticValue, "an iterator inside zip or reversed")
            }
            Abs::Instance(_) | Abs::Const(Object::Record(_)) => {
                let list = self.copy_to_list(iterable)?;
                if self.live { self.cursor(&list) } else { Ok(Cursor::Zip(Vec::new())) }
            }
            other => match self.type_of(other) {
                Some(Type::Str) => {
                    let (text, at) = (self.hidden_name("text"), self.hidden_name("at"));
                    self.set_var(&text, other.clone());
                    self.set_var(&at, Abs::int(0));
                    Ok(Cursor::Str { text, at })
                }
                Some(Type::List(_)) => {
                    let (list, at) = (self.hidden_name("list"), self.hidden_name("at"));
                    let value = self.value_to_read(other)?;
                    self.set_var(&list, Abs::Dyn(value));
                    self.set_var(&at, Abs::int(0));
                    Ok(Cursor::List { list, at })
                }
                Some(Type::Record(..)) => {
                    let list = self.copy_to_list(other)?;
                    if self.live { self.cursor(&list) } else { Ok(Cursor::Zip(Vec::new())) }
                }
                Some(Type::Tuple(_) | Type::Dict(..)) => {
                    let list = self.listed(other)?;
                    self.cursor(&list)
                }
                _ => self.bail(Code::Operands, format!("iteration over {}", crate::walk::describe::describe(other))),
            },
        }
    }

    fn reversed_range(&mut self, range: &Iter) -> Lift<Cursor> {
        let Iter::Range { start, stop, step } = range else { return self.bail(Code::StaticValue, "reversed") };
        if !step.same(&Abs::int(1)) {
            return self.bail(Code::Operands, "reversed of a range with a step");
        }
        let last = self.apply("a-b", &[stop.clone(), Abs::int(1)])?;
        let before = self.apply("a-b", &[start.clone(), Abs::int(1)])?;
        let at = self.hidden_name("at");
        self.set_var(&at, last);
        Ok(Cursor::Range { at, stop: before, step: Abs::int(-1) })
    }

    fn hidden_at(&self, depth: usize, name: &Name) -> Abs {
        self.frames[depth].vars.get(name).cloned().unwrap_or(Abs::Unbound)
    }

    fn cursor_more(&mut self, depth: usize, cursor: &Cursor) -> Lift<Abs> {
        match cursor {
            Cursor::Range { at, stop, step } => {
                let at = self.hidden_at(depth, at);
                match step {
                    Abs::Const(Object::Int(step)) if *step > exuvia_ir::Int::Small(0) => {
                        self.apply("a<b", &[at, stop.clone()])
                    }
                    Abs::Const(_) => self.apply("a>b", &[at, stop.clone()]),
                    _ => {
                        let up = self.apply("a>b", &[step.clone(), Abs::int(0)])?;
                        let (yes, no) = self.split_value(&up)?;
                        self.enter_any(yes)?;
                        let less = self.apply("a<b", &[at.clone(), stop.clone()])?;
                        let mut arms: Vec<_> = self.state().map(|state| (state, vec![less])).into_iter().collect();
                        self.enter_any(no)?;
                        let more = self.apply("a>b", &[at, stop.clone()])?;
                        arms.extend(self.state().map(|state| (state, vec![more])));
                        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
                    }
                }
            }
            Cursor::Str { text, at } => {
                let (text, at) = (self.hidden_at(depth, text), self.hidden_at(depth, at));
                let len = self.apply_named("str.byte_len", &[text])?;
                self.apply("a<b", &[at, len])
            }
            Cursor::List { list, at } => {
                let (list, at) = (self.hidden_at(depth, list), self.hidden_at(depth, at));
                let len = self.apply("len", &[list])?;
                self.apply("a<b", &[at, len])
            }
            Cursor::Table { table, at } => {
                let at = self.hidden_at(depth, at);
                self.apply("a<b", &[at, Abs::int(table.iterated().len() as i64)])
            }
            Cursor::ListReversed { list, at, may_shrink } => {
                let (list, at) = (self.hidden_at(depth, list), self.hidden_at(depth, at));
                self.all_hold(1 + usize::from(*may_shrink), &mut |me, index| {
                    if index == 0 {
                        return me.apply("a>=b", &[at.clone(), Abs::int(0)]);
                    }
                    let len = me.apply("len", std::slice::from_ref(&list))?;
                    me.apply("a<b", &[at.clone(), len])
                })
            }
            Cursor::ListCycled { list, .. } => {
                let list = self.hidden_at(depth, list);
                let len = self.apply("len", &[list])?;
                self.apply("a>b", &[len, Abs::int(0)])
            }
            Cursor::Zip(cursors) if cursors.is_empty() => Ok(Abs::bool(false)),
            Cursor::Zip(cursors) => {
                self.all_hold(cursors.len(), &mut |me, index| me.cursor_more(depth, &cursors[index]))
            }
        }
    }

    /// Whether so many tests hold, each of which is made where those before it do.
    fn all_hold(&mut self, count: usize, test: &mut dyn FnMut(&mut Self, usize) -> Lift<Abs>) -> Lift<Abs> {
        let mut arms = Vec::new();
        for index in 0..count {
            let holds = test(self, index)?;
            if index + 1 == count {
                arms.extend(self.state().map(|state| (state, vec![holds])));
                break;
            }
            let (yes, no) = self.split_value(&holds)?;
            arms.extend(no.into_iter().map(|state| (state, vec![Abs::bool(false)])));
            self.enter_any(yes)?;
        }
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    fn cursor_next(&mut self, depth: usize, cursor: &Cursor) -> Lift<Abs> {
        match cursor {
            Cursor::Range { at, step, .. } => {
                let item = self.hidden_at(depth, at);
                let next = self.apply("a+b", &[item.clone(), step.clone()])?;
                self.frames[depth].vars.insert(at.clone(), next);
                Ok(item)
            }
            Cursor::Str { text, at } => {
                let (text, offset) = (self.hidden_at(depth, text), self.hidden_at(depth, at));
                let item = self.apply_named("str.char_at_byte", &[text.clone(), offset.clone()])?;
                let next = self.apply_named("str.next_byte", &[text, offset])?;
                self.frames[depth].vars.insert(at.clone(), next);
                Ok(item)
            }
            Cursor::List { list, at } => {
                let (list, index) = (self.hidden_at(depth, list), self.hidden_at(depth, at));
                let next = self.apply("a+b", &[index.clone(), Abs::int(1)])?;
                self.frames[depth].vars.insert(at.clone(), next);
                self.element(&list, &index)
            }
            Cursor::Table { table, at } => {
                let index = self.hidden_at(depth, at);
                let next = self.apply("a+b", &[index.clone(), Abs::int(1)])?;
                self.frames[depth].vars.insert(at.clone(), next);
                self.pick(&index, numbered(table.iterated()))
            }
            Cursor::ListReversed { list, at, .. } => {
                let (list, index) = (self.hidden_at(depth, list), self.hidden_at(depth, at));
                let next = self.apply("a-b", &[index.clone(), Abs::int(1)])?;
                self.frames[depth].vars.insert(at.clone(), next);
                self.element(&list, &index)
            }
            Cursor::ListCycled { list, at } => {
                let (list, index) = (self.hidden_at(depth, list), self.hidden_at(depth, at));
                let len = self.apply("len", std::slice::from_ref(&list))?;
                let next = self.apply("a+b", &[index.clone(), Abs::int(1)])?;
                let next = self.apply("a%b", &[next, len])?;
                self.frames[depth].vars.insert(at.clone(), next);
                self.element(&list, &index)
            }
            Cursor::Zip(cursors) => {
                let mut items = Vec::new();
                for cursor in cursors {
                    items.push(self.cursor_next(depth, cursor)?);
                }
                Ok(Abs::tuple(items))
            }
        }
    }

    /// An element at an index known to be within the list.
    pub fn element(&mut self, list: &Abs, index: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let (Abs::Const(Object::List(list)), Abs::Const(Object::Int(index))) = (list, index)
            && let Some(at) = index.to_i64().and_then(|at| usize::try_from(at).ok())
            && let Some(item) = list.read(|items| items.get(at).cloned())
        {
            return Ok(Abs::Const(item));
        }
        if let Abs::OneOf(choice) = list {
            return self.choose(&Rc::clone(choice), &mut |me, list| me.element(&list, index));
        }
        let (list, index) = (self.value_to_read(list)?, self.value(index)?);
        if matches!(self.b.function.ty(list), Type::List(element) if **element == Type::Never) {
            // Nothing can be in it; the turn is never reached.
            self.end(exuvia_ir::Terminator::Unreachable);
            return Ok(Abs::Unbound);
        }
        let item = self.named("list.get_unchecked", vec![list, index])?;
        self.read_from(list, item);
        Ok(self.seen(Abs::Dyn(item)))
    }

    fn forget(&mut self, depth: usize, cursor: &Cursor) {
        match cursor {
            Cursor::Range { at, .. } | Cursor::Table { at, .. } => {
                self.frames[depth].vars.remove(at);
            }
            Cursor::Str { text: what, at }
            | Cursor::List { list: what, at }
            | Cursor::ListReversed { list: what, at, .. }
            | Cursor::ListCycled { list: what, at } => {
                self.frames[depth].vars.remove(what);
                self.frames[depth].vars.remove(at);
            }
            Cursor::Zip(cursors) => cursors.iter().for_each(|cursor| self.forget(depth, cursor)),
        }
    }

    // ---- lists from what can be iterated ----

    /// A new list of the items (`list(x)`): always a new object.
    pub fn copy_to_list(&mut self, iterable: &Abs) -> Lift<Abs> {
        if self.module_mode
            && let Some(items) = self.unrolled(iterable)
        {
            return self.new_list(&items);
        }
        let iterable = &self.asked_for_length(iterable)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Some(Type::List(element)) = self.type_of(iterable)
            && !self.module_mode
        {
            let list = self.empty_list((*element).clone());
            if self.extend_at_once(&list, iterable, &Abs::int(1))? {
                return Ok(list);
            }
        }
        self.filled_list(&mut |me, append| {
            me.only_listed = is_call(iterable);
            me.for_each(iterable, append)?;
            me.only_listed = false;
            Ok(())
        })
    }

    /// What iterates over an object that becomes a list or a tuple, for which CPython asks for its length;
    /// other things as they are.
    pub fn asked_for_length(&mut self, iterable: &Abs) -> Lift<Abs> {
        let Abs::Instance(object) = iterable else { return Ok(iterable.clone()) };
        if object.class.prelude || ClassObj::find(&object.class, "__len__").is_none() {
            return Ok(iterable.clone());
        }
        let iterator = self.iterator_of(&Rc::clone(object))?;
        if self.live {
            self.call_of_prelude("_length_hint", vec![iterable.clone()])?;
        }
        Ok(iterator)
    }

    /// A list with the items, the thing itself where it is one: for reading only.
    pub fn listed(&mut self, iterable: &Abs) -> Lift<Abs> {
        let iterable = &iterable.shown();
        if let Some(items) = self.members_of(iterable).map(|table| table.items.clone()).or_else(|| match iterable {
            Abs::Table(table) => Some(table.iterated().to_vec()),
            _ => None,
        }) && self.is_table(&items)
        {
            return self.new_list(&items);
        }
        match self.type_of(iterable) {
            Some(Type::List(_)) => return Ok(iterable.clone()),
            Some(Type::Tuple(_)) => {
                if let Some(items) = self.known_items(iterable) {
                    // A constant tuple is read in place; no code can change it.
                    let objects: Option<Vec<Object>> = items.iter().map(|item| item.as_const().cloned()).collect();
                    return match objects {
                        Some(objects) => Ok(Abs::Const(Object::list(objects))),
                        None => self.new_list(&items),
                    };
                }
            }
            Some(Type::Dict(..)) => {
                if let Abs::Const(Object::Dict(dict)) = iterable {
                    return Ok(Abs::Const(Object::list(dict.entries().iter().map(|e| e.0.clone()).collect())));
                }
            }
            _ => {}
        }
        self.copy_to_list(iterable)
    }

    /// `tuple(x)`: of known length where it can be.
    pub fn tuple_of(&mut self, iterable: &Abs) -> Lift<Abs> {
        let iterable = &self.asked_for_length(iterable)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Some(items) = self.unrolled(iterable).or_else(|| self.known_turns(iterable)) {
            return Ok(Abs::tuple(items));
        }
        if let Abs::Iter(iter) = iterable
            && let Iter::Generator { comp, first, enclosing, module } = &**iter
            && let [clause] = comp.clauses.as_slice()
            && clause.conditions.is_empty()
            && let Some(turns) = self.known_turns(first)
        {
            // One element for each item, in order.
            let mut items = Vec::new();
            for turn in turns {
                self.generate(comp, &Abs::tuple(vec![turn]), enclosing, *module, &mut |_, element, _| {
                    items.push(element);
                    Ok(())
                })?;
                if !self.live {
                    return Ok(Abs::Unbound);
                }
            }
            return Ok(Abs::tuple(items));
        }
        if self.module_mode {
            return match self.copy_to_list(iterable)? {
                Abs::Const(Object::List(list)) => Ok(Abs::Const(Object::tuple(list.items()))),
                _ => self.bail(Code::Operands, "a tuple of unknown length"),
            };
        }
        if self.is_long_tuple(iterable) {
            return Ok(iterable.clone());
        }
        let items = self.copy_to_list(iterable)?;
        self.long_tuple(items)
    }

    /// A tuple of the items of a list that nobody else has, whose length is not known.
    pub fn long_tuple(&mut self, items: Abs) -> Lift<Abs> {
        match self.prelude_function("tuple.any", "tuple")? {
            _ if !self.live => Ok(Abs::Unbound),
            Some(class) => self.call_value(&class, vec![items], Vec::new()),
            None => self.bail(Code::Operands, "a tuple of unknown length"),
        }
    }

    /// A tuple of these items, as one whose length is not known.
    pub fn lengthened(&mut self, items: &[Abs]) -> Lift<Abs> {
        let items = self.new_list(items)?;
        self.long_tuple(items)
    }

    /// Whether it is a tuple whose length is not known.
    pub fn is_long_tuple(&self, abs: &Abs) -> bool {
        matches!(self.seen_as_object(abs.clone()), Abs::Instance(object) if ClassObj::is_long_tuple(&object.class))
    }

    /// The items of a range between constants or of something of known length, if they are few.
    fn known_turns(&mut self, iterable: &Abs) -> Option<Vec<Abs>> {
        let items = match iterable {
            Abs::Iter(iter) => match &**iter {
                Iter::Range { start, stop, step } => numbers(start, stop, step, MAX_UNROLL)?,
                _ => return None,
            },
            other => self.known_items(other)?,
        };
        (items.len() <= MAX_UNROLL).then_some(items)
    }

    /// Raises what CPython raises where unpacking finds another number of items.
    pub fn wrong_count(&mut self, wanted: usize, found: usize) -> Lift<()> {
        let message = if found > wanted {
            format!("too many values to unpack (expected {wanted})")
        } else {
            format!("not enough values to unpack (expected {wanted}, got {found})")
        };
        self.raise_message(ExcKind::ValueError, &message)?;
        Ok(())
    }
}

/// The numbers of a range between constants, if they are at most `limit`.
fn numbers(start: &Abs, stop: &Abs, step: &Abs, limit: usize) -> Option<Vec<Abs>> {
    let int = |abs: &Abs| match abs {
        Abs::Const(Object::Int(value)) => value.to_i64(),
        _ => None,
    };
    let (mut at, stop, step) = (int(start)?, int(stop)?, int(step)?);
    let mut items = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        items.push(Abs::int(at));
        if items.len() > limit {
            return None;
        }
        at = at.checked_add(step)?;
    }
    Some(items)
}

/// Whether a value is what a generator function gave.
pub(crate) fn is_call(abs: &Abs) -> bool {
    matches!(abs, Abs::Iter(iter) if matches!(**iter, Iter::Call { .. }))
}
