//! Iterators that are read in turns: in variables, side by side in `zip`, and generators that call themselves. All
//! their items are asked for at once, where nobody can tell.
//!
//! In CPython a generator runs a piece each time it is asked. Whether it ran before makes no difference where it
//! *is quiet*: what it reads nobody changes meanwhile, it changes nothing, and what it gives are values without
//! parts that change. What a function of a module gets are its arguments, and variables of a module stay
//! as they are, so the arguments decide. Two things would still tell. A generator that raises does so between other
//! things: such rows leave. One without an end would have to be given up: it is not taken where the source
//! shows that.

use crate::abs::{Abs, Closure, Enclosing, Iter};
use crate::bailout::Code;
use crate::tree::ast::{Comprehension, Expr, ExprKind, FunctionDef, Name, Stmt, StmtKind};
use crate::walk::iterate::is_call;
use crate::walk::lifter::{Lift, Lifter, Site, Stop, Watch};
use exuvia_ir::{Class, FuncId, Function, Inst, Object, Opcode, Type, Value};
use exuvia_ops::def::{Body, Effect};
use std::rc::Rc;
use std::sync::Arc;

/// The variable of a generator function's frame in which it collects what it yields, where it does.
pub(crate) const ITEMS: &str = ".items";

/// Functions of `itertools` whose iterators have no end.
const ENDLESS: &[&str] = &["count", "cycle", "repeat"];

impl Lifter<'_> {
    /// What a variable may hold: an iterator that is used up by its first user becomes one that may be read at
    /// several places.
    pub fn keep_iterator(&mut self, value: Abs) -> Lift<Abs> {
        match &value {
            Abs::Iter(iter) if let Some(source) = self.source_of_cycle(iter) => {
                self.call_of_prelude("_cycled", vec![source])
            }
            Abs::Iter(iter) if let Some(args) = self.bounds_of_count(iter) => self.call_of_prelude("_counted", args),
            Abs::Iter(iter) if !iter.is_lasting() => match self.items_at_once(&value)? {
                Some(items) => self.call_of_prelude("_kept_iterator", vec![items]),
                None => self.bail(Code::StaticValue, "an iterator in a variable"),
            },
            Abs::Tuple(items) if self.refuse_iterator(&value).is_err() => {
                let items = items.iter().map(|item| self.keep_iterator(item.clone()));
                Ok(Abs::tuple(items.collect::<Lift<_>>()?))
            }
            _ => Ok(value),
        }
    }

    /// What `itertools.cycle` goes over.
    pub fn source_of_cycle(&self, iter: &Iter) -> Option<Abs> {
        match iter {
            Iter::Call { function: Abs::Func(closure), args }
                if &*closure.def.name == "_cycling" && self.in_prelude(closure.module) =>
            {
                args.first().map(|arg| arg.1.clone())
            }
            _ => None,
        }
    }

    /// Where `itertools.count` begins, and its step.
    fn bounds_of_count(&self, iter: &Iter) -> Option<Vec<Abs>> {
        match iter {
            Iter::Call { function: Abs::Func(closure), args }
                if &*closure.def.name == "_count_from" && self.in_prelude(closure.module) =>
            {
                Some(args.iter().map(|arg| arg.1.clone()).collect())
            }
            _ => None,
        }
    }

    /// The items of an iterator, asked for now; `None` where that could be told.
    pub fn items_at_once(&mut self, iterator: &Abs) -> Lift<Option<Abs>> {
        self.items_by("_at_once", iterator)
    }

    /// What a generator yields that is unfolded already, or yields where only a function of its own can.
    /// Where they are `only_listed`, nothing runs between one and the next, so that nobody can tell.
    pub fn items_of_call(
        &mut self,
        closure: &Rc<Closure>,
        args: &[(Name, Abs)],
        only_listed: bool,
    ) -> Lift<Option<Abs>> {
        for (_, arg) in args {
            if let Abs::Instance(object) = arg {
                self.may_escape(object)?;
            }
        }
        let iterator = called(closure, args);
        if only_listed && !self.module_mode {
            return self.intrinsic("_collected", &[iterator]).map(Some);
        }
        self.items_by("_of_recursion", &iterator)
    }

    /// The list of a function that collects what it yields.
    pub fn collected(&self) -> Option<Abs> {
        self.frames.get(self.current)?.vars.get(ITEMS).cloned()
    }

    /// `yield` in such a function.
    pub fn collect_yielded(&mut self, value: &Expr, from: bool) -> Lift<()> {
        let depth = self.current;
        let mut add = |me: &mut Self, item: Abs| {
            let items = me.frames[depth].vars.get(ITEMS).cloned().unwrap_or(Abs::Unbound);
            me.call_of_prelude("_has_room", vec![items.clone()])?;
            me.apply(".append", &[items, item])?;
            Ok(())
        };
        let value = self.expr(value)?;
        match (self.live, from) {
            (false, _) => Ok(()),
            (true, false) => add(self, value),
            (true, true) => {
                self.only_listed = is_call(&value);
                self.for_each(&value, &mut add)?;
                self.only_listed = false;
                Ok(())
            }
        }
    }

    /// The items that a function of the prelude asks for, if nobody can tell.
    fn items_by(&mut self, name: &str, iterator: &Abs) -> Lift<Option<Abs>> {
        if self.module_mode || !self.is_quiet(iterator) {
            return Ok(None);
        }
        let items = self.call_of_prelude(name, vec![iterator.clone()])?;
        let known = match self.type_of(&items) {
            _ if !self.live => true,
            Some(Type::List(item)) => !self.changes_within(&item),
            _ => false,
        };
        Ok(known.then_some(items))
    }

    /// Where the lists were made that a generator function reads by its arguments; `None` where that is not
    /// known, or its user was found to change one.
    pub fn reads_of_generator(&self, closure: &Closure, args: &[(Name, Abs)]) -> Option<Vec<Site>> {
        let is_own = !matches!(closure.enclosing, Enclosing::Module) || is_endless(&closure.def);
        if self.module_mode || is_own || self.world.interleaved.contains(&self.site()) {
            return None;
        }
        let mut read = Vec::new();
        for (_, arg) in args {
            match arg {
                Abs::Const(_) | Abs::Builtin(_) | Abs::Class(_) => {}
                Abs::Dyn(value) => self.read_through(*value, &mut read)?,
                Abs::Instance(object) => self.read_through(self.escaped_as(object)?, &mut read)?,
                _ => return None,
            }
        }
        Some(read)
    }

    /// Adds where the lists were made that a value is or holds.
    fn read_through(&self, value: Value, read: &mut Vec<Site>) -> Option<()> {
        let ty = self.b.function.ty(value);
        let sites = self.sites_of(value);
        if sites.is_empty() && ty.alternatives().iter().any(|ty| matches!(ty, Type::List(_))) {
            return None;
        }
        let mut todo = sites;
        // What objects and boxes hold, once.
        let mut known: Vec<Class> = Vec::new();
        let mut types = vec![ty.clone()];
        while let Some(ty) = types.pop() {
            if let Type::Record(class @ Class::Object(_), _) | Type::Boxed(class) = ty {
                if known.contains(&class) {
                    continue;
                }
                known.push(class);
            }
            match ty {
                Type::Tuple(held) | Type::Union(held) => types.extend(held.iter().cloned()),
                Type::List(element) => types.push((*element).clone()),
                Type::Record(class, held) => {
                    todo.extend(self.sites_in(class));
                    types.extend(held.iter().cloned());
                }
                Type::Boxed(class) => {
                    todo.extend(self.sites_in(class));
                    types.extend(self.world.boxed.get(&class)?.iter().cloned());
                }
                _ => {}
            }
        }
        while let Some(site) = todo.pop() {
            if !read.contains(&site) {
                read.push(site);
                todo.extend(self.world.inner.get(&site).into_iter().flatten().copied());
            }
        }
        Some(())
    }

    /// Where the lists were made that objects of a class hold.
    fn sites_in(&self, class: Class) -> Vec<Site> {
        match class {
            Class::Object(shape) => {
                self.world.shapes.get(shape as usize).map_or_else(Vec::new, |shape| shape.all_sites().collect())
            }
            Class::List => self.world.nested.clone(),
            _ => Vec::new(),
        }
    }

    /// What a generator function yields, asked for before its user runs; `None` if the function changes something.
    pub fn items_read_before(&mut self, closure: &Rc<Closure>, args: &[(Name, Abs)]) -> Lift<Option<Abs>> {
        let (block, before) = (self.b.block, self.b.function.blocks.len());
        let seen = self.b.function.block(block).insts.len();
        let items = self.call_of_prelude("_of_recursion", vec![called(closure, args)])?;
        let first = self.b.function.block(block).insts[seen..].iter();
        let others = self.b.function.blocks[before..].iter().flat_map(|block| &block.insts);
        let callee = |inst: &Inst| if let Opcode::Call(id) = inst.op { Some(id) } else { None };
        let callees = first.chain(others).filter_map(callee).collect();
        if self.may_write(callees) {
            return Ok(None);
        }
        Ok(Some(items))
    }

    /// Whether functions, or those that they call, change a list that they did not make.
    pub fn may_write(&self, mut called: Vec<FuncId>) -> bool {
        let mut at = 0;
        while let Some(id) = called.get(at).copied() {
            at += 1;
            let Some(Some(function)) = self.world.functions.get(id.index()) else { return true };
            for inst in function.blocks.iter().flat_map(|block| &block.insts) {
                match &inst.op {
                    Opcode::Call(id) if !called.contains(id) => called.push(*id),
                    Opcode::Op(name) if writes_around(function, name, inst) => return true,
                    _ => {}
                }
            }
        }
        false
    }

    /// Runs the user of a generator that has read these lists; if it may change one, all is lifted again without.
    pub fn watching(&mut self, sites: Vec<Site>, user: &mut dyn FnMut(&mut Self) -> Lift<()>) -> Lift<()> {
        let site = self.site();
        self.watched.push(Watch { sites, changed: false });
        user(self)?;
        if self.watched.pop().is_some_and(|watch| watch.changed) {
            self.world.interleaved.insert(site);
            return Err(Stop::Restart);
        }
        Ok(())
    }

    /// Notes that a list is changed, or by a call any.
    pub fn changes_watched(&mut self, list: Option<&Abs>) {
        let sites = match list {
            Some(Abs::Dyn(value)) => self.sites_of(*value),
            _ => Vec::new(),
        };
        for watch in &mut self.watched {
            watch.changed |= sites.is_empty() || sites.iter().any(|site| watch.sites.contains(site));
        }
    }

    /// Whether nobody can tell when an iterator is asked for its items.
    pub fn is_quiet(&self, value: &Abs) -> bool {
        match value {
            Abs::Const(_) | Abs::Builtin(_) | Abs::Module(_) | Abs::ExcClass(_) | Abs::Class(_) => true,
            Abs::Dyn(value) => !self.changes_within(self.b.function.ty(*value)) || self.is_unnamed(*value),
            Abs::Instance(object) => {
                self.escaped_as(object).is_some_and(|record| !self.changes_within(self.b.function.ty(record)))
            }
            Abs::Tuple(items) => items.iter().all(|item| self.is_quiet(item)),
            Abs::Method(method) => self.is_quiet(&method.0),
            Abs::Func(closure) => {
                matches!(closure.enclosing, Enclosing::Module)
                    && closure.defaults.iter().all(|(_, value)| self.is_quiet(value))
                    && !(closure.def.generator && is_endless(&closure.def))
            }
            Abs::Iter(iter) => match &**iter {
                Iter::Range { .. } | Iter::View { .. } => true,
                Iter::Enumerate { inner, start } => self.is_quiet(inner) && self.is_quiet(start),
                Iter::Zip(inner) => inner.iter().all(|inner| self.is_quiet(inner)),
                Iter::Map { func, inner } | Iter::Filter { func, inner } => self.is_quiet(func) && self.is_quiet(inner),
                Iter::Reversed { of, .. } => self.is_quiet(of),
                Iter::Generator { comp, first, enclosing, .. } => {
                    self.is_quiet(first) && self.reads_values(comp, enclosing)
                }
                Iter::Call { function: Abs::Func(closure), args } => {
                    let name = &*closure.def.name;
                    self.is_quiet(&Abs::Func(Rc::clone(closure)))
                        && !(self.in_prelude(closure.module) && (ENDLESS.contains(&name) || name.starts_with('_')))
                        && args.iter().all(|(_, arg)| self.is_quiet(arg))
                }
                Iter::Call { .. } => false,
            },
            _ => false,
        }
    }

    /// Whether values of a type, or what they hold, may change: of objects, the attributes that are assigned to
    /// are lists of one.
    fn changes_within(&self, ty: &Type) -> bool {
        self.can_change(ty, &mut Vec::new())
    }

    fn can_change(&self, ty: &Type, boxes: &mut Vec<Class>) -> bool {
        match ty {
            Type::List(element) => **element != Type::Never,
            Type::Dict(..) | Type::Set(_) | Type::Exc | Type::Unbound => true,
            Type::Tuple(types) | Type::Union(types) => types.iter().any(|ty| self.can_change(ty, boxes)),
            Type::Record(_, types) if ty.is_object() => types.iter().any(|ty| self.can_change(ty, boxes)),
            Type::Boxed(class) => {
                if boxes.contains(class) {
                    return false;
                }
                boxes.push(*class);
                let types = self.world.boxed.get(class);
                types.is_none_or(|types| types.iter().any(|ty| self.can_change(ty, boxes)))
            }
            _ => false,
        }
    }

    /// Whether a value is a list of plain values that was just made and that nothing but an iterator holds
    /// (`enumerate(sorted(xs))`).
    fn is_unnamed(&self, list: Value) -> bool {
        let is_new = self.b.function.made_by(list).is_some_and(|inst| match inst.op {
            Opcode::List => true,
            Opcode::Op(name) => exuvia_ops::by_name(name).is_some_and(|def| matches!(def.body, Body::Kernel { .. })),
            _ => false,
        });
        let is_plain = |ty: &Type| matches!(ty, Type::List(element) if crate::walk::operate::is_plain(element));
        let holds = |abs: &Abs| {
            let is_it = |abs: &Abs| matches!(abs, Abs::Dyn(value) if *value == list);
            is_it(abs) || abs.tuple_items().is_some_and(|items| items.iter().any(is_it))
        };
        // What it was put into may be reached by other names.
        let is_put = |inst: &Inst| match inst.op {
            Opcode::Op(_) => inst.args.iter().skip(1).any(|arg| *arg == list),
            _ => inst.args.contains(&list),
        };
        let mut insts = self.b.function.blocks.iter().flat_map(|block| &block.insts);
        is_new
            && is_plain(self.b.function.ty(list))
            && !self.held.iter().any(holds)
            && !self.frames.iter().flat_map(|frame| frame.vars.values()).any(holds)
            && !insts.any(is_put)
    }

    /// Whether a generator expression reads only variables that hold values and are assigned once.
    fn reads_values(&self, comp: &Comprehension, enclosing: &Enclosing) -> bool {
        let frame = match enclosing {
            Enclosing::Module => return true,
            Enclosing::Live(depth) => self.frames.get(*depth),
            Enclosing::Ended(_) => None,
        };
        let Some(frame) = frame else { return false };
        let Some(def) = &frame.def else { return false };
        let is_quiet = |(name, value): (&Name, &Abs)| {
            !crate::tree::scope::reads_in(comp, name)
                || self.is_quiet(value) && crate::tree::scope::is_assigned_once(def, name)
        };
        matches!(frame.enclosing, Enclosing::Module) && frame.vars.iter().all(is_quiet)
    }
}

/// Whether only a function of its own can collect what a generator function yields.
pub(crate) fn is_collected(def: &FunctionDef) -> bool {
    fn in_try(stmt: &Stmt, within: bool) -> bool {
        let any = |body: &[Stmt], within| body.iter().any(|stmt| in_try(stmt, within));
        match &stmt.kind {
            StmtKind::Yield { .. } => within,
            StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                any(body, within) || any(orelse, true)
            }
            StmtKind::If { body, orelse, .. } => any(body, within) || any(orelse, within),
            kind => kind.blocks().into_iter().any(|body| any(body, true)),
        }
    }
    def.body.iter().any(|stmt| in_try(stmt, false)) || crate::tree::scope::mentions(def, &def.name).is_some()
}

/// What a call of a generator function gives.
fn called(closure: &Rc<Closure>, args: &[(Name, Abs)]) -> Abs {
    Abs::Iter(Rc::new(Iter::Call { function: Abs::Func(Rc::clone(closure)), args: args.to_vec() }))
}

/// Whether an operation changes a list that the function did not make.
fn writes_around(function: &Function, name: &str, inst: &Inst) -> bool {
    let makes = |inst: &Inst| match &inst.op {
        Opcode::List => true,
        Opcode::Op(name) => exuvia_ops::by_name(name).is_some_and(|def| def.effect == Effect::Alloc),
        _ => false,
    };
    let is_write = exuvia_ops::by_name(name).is_none_or(|def| def.effect.writes());
    is_write && !inst.args.first().is_some_and(|list| function.made_by(*list).is_some_and(makes))
}

/// Whether the source of a generator function shows that it may have no end.
fn is_endless(def: &FunctionDef) -> bool {
    fn one(stmt: &Stmt) -> bool {
        let has_end = match &stmt.kind {
            StmtKind::While { test, .. } => !matches!(test.kind, ExprKind::Const(Object::Bool(true) | Object::Int(_))),
            _ => true,
        };
        !has_end || stmt.kind.blocks().into_iter().flatten().any(one)
    }
    def.body.iter().any(one)
        || ENDLESS.iter().any(|name| crate::tree::scope::mentions(def, &Arc::from(*name)).is_some())
}
