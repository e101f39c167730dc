//! Specialisation: calls that stay calls.
//!
//! A function is unfolded where it is called, so that what is known of its arguments is known
//! in its body. That copies it once for each path of calls, which is a tree: helpers that call
//! each other twice, fourteen deep, are 16,384 copies. So a function becomes an IR function of
//! its own where it recurses, and where the function around has become large and it is not
//! small: then it is lifted once for each *key* (definition, arguments that are static, types of
//! the others), and calls with equal keys share it. The optimiser copies those that are small
//! after all into their callers.
//!
//! What has no run-time form cannot be an argument of a call, or its result: such calls are
//! unfolded. Arguments that are constants are part of the key, until a definition has
//! [`MAX_STATIC`] specialisations; after that, and in a recursion, they are passed.
//!
//! Code of the prelude has no places of its own: errors in it are shown where it was called.
//! Instructions of its specialisations have an empty span, which stands for that of the call.

use crate::abs::{Abs, Closure, Enclosing, Identity};
use crate::bailout::Code;
use crate::calls::call::mix;
use crate::calls::keep::ITEMS;
use crate::calls::together::{self, Together};
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::{FunctionDef, Name};
use crate::tree::scope::Mention;
use crate::walk::describe::describe;
use crate::walk::lifter::{Ctx, Lift, Lifter, Returns, Site, Stop};
use crate::walk::protocol::is_not_implemented;
use exuvia_ir::{Builder, ExcKind, FuncId, Function, Inst, Object, Opcode, Span, Terminator, Type, Value};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// A function with so many values takes no more copies of functions that are not small.
const ROOM: usize = 1_500;

/// The values of a function that is always copied.
const SMALL: usize = 40;

/// Specialisations of one definition by constants.
const MAX_STATIC: usize = 8;

/// Specialisations of one definition.
const MAX_OF_ONE: usize = 64;

/// Specialisations within each other from which on what they make counts as made at one place: the argument
/// of `walk(seen | {n})` is an object of the place where it was made, and so of another one each time.
const GROWS: usize = 2;

/// The lengths of tuples that a function returns from which on it returns them of any length.
const LENGTHS: usize = 3;

/// The types of arguments that a function was given, in so many attempts, from which on what it makes counts
/// as made at one place: what it makes is in its arguments, whose types would differ in each attempt.
const PATHS: usize = 6;

/// How often a function is lifted until what it returns is what its own calls of itself assumed.
const ATTEMPTS: usize = 12;

/// All specialisations.
const MAX: usize = 400;

/// Which calls stay calls, besides those in recursions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// Those of functions that are not small, where the one around is large already.
    #[default]
    Large,
    /// All that can, for tests.
    All,
}

/// A function that is called rather than unfolded.
#[derive(Debug)]
pub(crate) struct Specialised {
    /// Its arguments in the order of the names of its parameters.
    args: Vec<Arg>,
    pub id: FuncId,
    /// The type of its result as far as known.
    ret: Type,
    /// Where lists that it returns were made.
    sites: Vec<Site>,
    /// What it raises; `None` where that is not known (yet).
    raises: Option<Vec<ExcKind>>,
    /// What it returns if that is always the same constant.
    constant: Option<Abs>,
    /// Whether functions that it calls have called it while it was lifted.
    assumed: bool,
}

/// What a specialisation is made for.
#[derive(Clone, Debug)]
enum Arg {
    /// That value, which is not passed.
    Static(Abs),
    /// A value of that type.
    Passed(Type),
    /// A tuple of known length.
    Tuple(Vec<Arg>),
    /// A function beside it.
    Function(*const FunctionDef),
}

impl Arg {
    fn is(&self, other: &Arg) -> bool {
        match (self, other) {
            (Arg::Static(a), Arg::Static(b)) => a.same(b),
            (Arg::Passed(a), Arg::Passed(b)) => a == b,
            (Arg::Tuple(a), Arg::Tuple(b)) => same_args(a, b),
            (Arg::Function(a), Arg::Function(b)) => a == b,
            _ => false,
        }
    }

    /// Adds what tells it from others, but for static values that look alike.
    fn hash(&self, hasher: &mut DefaultHasher) {
        match self {
            Arg::Static(abs) => describe(abs).hash(hasher),
            Arg::Passed(ty) => ty.hash(hasher),
            Arg::Tuple(items) => items.iter().for_each(|item| item.hash(hasher)),
            Arg::Function(_) => {}
        }
    }

    /// The types of what is passed.
    fn types(&self, out: &mut Vec<Type>) {
        match self {
            Arg::Static(_) | Arg::Function(_) => {}
            Arg::Passed(ty) => out.push(ty.clone()),
            Arg::Tuple(items) => items.iter().for_each(|item| item.types(out)),
        }
    }

    /// What the function sees; `passed` gives the values that were passed.
    fn seen(&self, passed: &mut impl Iterator<Item = Value>) -> Abs {
        match self {
            Arg::Static(abs) => abs.clone(),
            Arg::Passed(_) => passed.next().map_or(Abs::Unbound, Abs::Dyn),
            Arg::Tuple(items) => Abs::tuple(items.iter().map(|item| item.seen(passed)).collect()),
            // They are made anew there.
            Arg::Function(_) => Abs::Unbound,
        }
    }
}

fn same_args(a: &[Arg], b: &[Arg]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is(b))
}

impl Lifter<'_> {
    /// Calls a function that is being unfolded or lifted already.
    pub fn recursion(&mut self, closure: &Rc<Closure>, vars: &BTreeMap<Name, Abs>) -> Lift<Abs> {
        let together = self.together(closure);
        if let Some(name) = together.assigned.iter().find(|name| together.functions.contains_key(*name)) {
            let reason = format!("{} recurses, and {name} is another function afterwards", closure.def.name);
            return self.bail(Code::Recursion, reason);
        }
        if closure.def.generator && !together.assigned.is_empty() {
            let reason =
                format!("{} recurses, yields and assigns to variables of the function around it", closure.def.name);
            return self.bail(Code::Recursion, reason);
        }
        if closure.cached && !matches!(closure.enclosing, Enclosing::Module) {
            if self.number(closure).is_none() {
                let reason = format!("{}, defined in a loop, keeps its results", closure.def.name);
                return self.bail(Code::Recursion, reason);
            }
            if !together.assigned.is_empty() {
                let reason = format!("{} keeps its results and assigns to variables around it", closure.def.name);
                return self.bail(Code::Recursion, reason);
            }
        }
        // Nobody else assigns to its free variables while it runs, so each is one more argument, and those
        // that it assigns to itself come back with its result.
        let free = self.free_variables(closure, &together)?;
        let mut escaped = BTreeMap::new();
        for (name, value) in vars.iter().chain(&free) {
            let is_of_module =
                matches!(value, Abs::Instance(object) if object.module.is_some()) && !self.is_numbered(value);
            let before = vars.keys().chain(free.keys()).filter(|other| *other < name).count();
            let functions = together.functions.keys().filter(|function| together::function_as(function) < *name);
            let at = before + functions.count();
            let value = self.settled_length(closure, at, value)?;
            escaped.insert(name.clone(), if is_of_module { value } else { self.escaped(&value)? });
        }
        for (name, function) in &together.functions {
            escaped.insert(together::function_as(name), Abs::Func(Rc::clone(function)));
        }
        let key = |(name, abs): (&Name, &Abs)| match abs {
            Abs::Func(function) if together::is_function(name) => Some(Arg::Function(Arc::as_ptr(&function.def))),
            // Those that are constants stay so.
            abs => self.key_of(abs, together::is_default(name)),
        };
        let args: Option<Vec<Arg>> = escaped.iter().map(key).collect();
        match args {
            Some(args) => {
                self.forget_assigned(closure, &together)?;
                let result = self.call_specialised(closure, &escaped, args)?;
                self.take_assigned(closure, together, result)
            }
            None => self.bail(
                Code::Recursion,
                format!("{} recurses and takes an argument that has no run-time form", closure.def.name),
            ),
        }
    }

    /// A tuple that is longer, or shorter, in each call within the last becomes one whose length is not known;
    /// `at` is the place of the argument.
    fn settled_length(&mut self, closure: &Closure, at: usize, value: &Abs) -> Lift<Abs> {
        let Some(items) = value.tuple_items() else { return Ok(value.clone()) };
        let is_same =
            |one: &Specialised| matches!(one.args.get(at), Some(Arg::Tuple(args)) if args.len() == items.len());
        let all = self.world.specialised.get(&Arc::as_ptr(&closure.def));
        match all.is_some_and(|all| self.is_growing(all) && !all.iter().any(is_same)) {
            true => self.lengthened(&items),
            false => Ok(value.clone()),
        }
    }

    /// Whether a function calls itself with arguments of ever other types.
    fn is_growing(&self, all: &[Specialised]) -> bool {
        all.len() >= GROWS && self.own.is_some_and(|own| all.iter().any(|one| one.id == own))
    }

    /// Where a call may raise within a `try`, what it assigned to variables around it is not known after that.
    fn forget_assigned(&mut self, closure: &Closure, together: &Together) -> Lift<()> {
        let Enclosing::Live(depth) = closure.enclosing else { return Ok(()) };
        if self.contexts.iter().any(|ctx| matches!(ctx, Ctx::Try { .. } | Ctx::Finally { .. })) {
            together.assigned.iter().try_for_each(|name| self.assign_from(depth, name, Abs::Conflict))?;
        }
        Ok(())
    }

    /// Assigns what a function has left in the variables around it.
    fn take_assigned(&mut self, closure: &Closure, together: Together, result: Abs) -> Lift<Abs> {
        if together.assigned.is_empty() || !self.live {
            return Ok(result);
        }
        let Some(items) = self.known_items(&result) else {
            return self.bail(Code::Recursion, "what a recursion assigns");
        };
        let mut items = items.into_iter();
        let result = items.next().unwrap_or(Abs::NONE);
        for (name, value) in together.assigned.into_iter().zip(items) {
            let Enclosing::Live(depth) = closure.enclosing else {
                return self.bail(Code::StaticValue, format!("{name} of a function that has returned changes"));
            };
            self.assign_from(depth, &name, value)?;
        }
        Ok(result)
    }

    /// What the variables hold that functions read of those around them.
    fn free_variables(&mut self, closure: &Closure, together: &Together) -> Lift<BTreeMap<Name, Abs>> {
        let mut free = BTreeMap::new();
        for (name, (mention, value)) in &together.free {
            let value = match value {
                Abs::Instance(object) if object.module.is_none() && matches!(mention, Mention::Read) => {
                    self.escaped(value)?
                }
                _ => value.clone(),
            };
            let value = match (self.key_of(&value, false), mention) {
                (Some(_), _) => value,
                (None, Mention::Perhaps) => Abs::Conflict,
                (None, Mention::Read) => {
                    let (name, what) = (&closure.def.name, describe(&value));
                    let reason = format!("{name} recurses and reads {what} of the function around it");
                    return self.bail(Code::Recursion, reason);
                }
            };
            free.insert(together::passed_as(closure, name), value);
        }
        if closure.cached
            && let Some(number) = self.number(closure)
        {
            free.insert(crate::calls::memo::number_of(&closure.def), number);
        }
        Ok(free)
    }

    /// Calls a function that was unfolded before and is not worth another copy; `None` where
    /// it is to be unfolded.
    pub fn shared(&mut self, closure: &Rc<Closure>, vars: &BTreeMap<Name, Abs>) -> Lift<Option<Abs>> {
        let def = Arc::as_ptr(&closure.def);
        let is_copied = match (self.world.calls, self.world.sizes.get(&def)) {
            (Calls::All, _) => false,
            _ if self.is_worth_keeping(closure) => false,
            (Calls::Large, Some(size)) => *size <= SMALL || self.b.function.values.len() + size <= ROOM,
            // What it will be is not known.
            (Calls::Large, None) => true,
        };
        if is_copied
            || self.module_mode
            // A bare `raise` in it means the exception that is handled here.
            || !self.handling.is_empty()
            || !matches!(closure.enclosing, Enclosing::Module)
            || self.world.unfolded_only.contains(&def)
            // What the prelude makes of constants, its conditions read: a call would hide that.
            || self.in_prelude(closure.module) && vars.values().all(|abs| abs.as_const().is_some())
        {
            return Ok(None);
        }
        let known = self.world.specialised.get(&def).map_or(0, Vec::len);
        let Some(args) = self.key(vars, known < MAX_STATIC) else { return Ok(None) };
        let (functions, values) = (self.world.functions.len(), self.world.values);
        match self.call_specialised(closure, vars, args) {
            Ok(result) => Ok(Some(result)),
            Err(Stop::Restart) => Err(Stop::Restart),
            Err(Stop::Bailout(_)) => {
                // Unfolding it says why, and where, if that fails too.
                self.world.unfolded_only.insert(def);
                self.forget_functions(functions);
                self.world.values = values;
                Ok(None)
            }
        }
    }

    /// Forgets the functions from a number on, but not what they return as far as known: that only grows.
    fn forget_functions(&mut self, from: usize) {
        let world = &mut *self.world;
        world.functions.truncate(from);
        for (def, all) in &mut world.specialised {
            let forgotten = all.extract_if(.., |one| one.id.index() >= from);
            world.returned.entry(*def).or_default().extend(forgotten);
        }
    }

    /// The arguments of a call as a key; `None` where one has no run-time form and is not
    /// the same for all calls either.
    fn key(&self, vars: &BTreeMap<Name, Abs>, constants: bool) -> Option<Vec<Arg>> {
        vars.values().map(|abs| self.key_of(abs, constants)).collect()
    }

    fn key_of(&self, abs: &Abs, constants: bool) -> Option<Arg> {
        let passed = |ty: &Type| {
            let refused = |ty: &Type| matches!(ty, Type::Exc | Type::Unbound);
            (!ty.alternatives().iter().any(refused)).then(|| Arg::Passed(ty.clone()))
        };
        match abs {
            Abs::Dyn(value) => passed(self.b.function.ty(*value)),
            Abs::Const(object) if constants || is_static(object) => Some(Arg::Static(abs.clone())),
            Abs::Const(Object::Tuple(_)) => {
                let items = abs.tuple_items()?;
                Some(Arg::Tuple(items.iter().map(|item| self.key_of(item, constants)).collect::<Option<_>>()?))
            }
            Abs::Const(object) => passed(&object.ty()),
            Abs::Tuple(items) => {
                Some(Arg::Tuple(items.iter().map(|item| self.key_of(item, constants)).collect::<Option<_>>()?))
            }
            Abs::Func(closure) if matches!(closure.enclosing, Enclosing::Module) => Some(Arg::Static(abs.clone())),
            Abs::Builtin(_) | Abs::Module(_) | Abs::ExcClass(_) | Abs::Class(_) => Some(Arg::Static(abs.clone())),
            // One of the module, which no function changes.
            Abs::Instance(object) if object.module.is_some() => Some(Arg::Static(abs.clone())),
            Abs::Instance(object) => passed(self.b.function.ty(self.escaped_as(object)?)),
            Abs::Table(_) if crate::data::choice::is_of_module(abs, &self.world.budget) => {
                Some(Arg::Static(abs.clone()))
            }
            Abs::Table(_) | Abs::OneOf(_) => None,
            Abs::Bound(_) | Abs::Super(_) => None,
            // What it was in the function around, from where no value comes.
            Abs::Conflict => Some(Arg::Static(abs.clone())),
            Abs::Func(_) | Abs::Method(_) | Abs::ExcInst(_) | Abs::ClassOf(_) | Abs::Iter(_) | Abs::Unbound => None,
        }
    }

    /// The values that are passed for an argument.
    fn pass(&mut self, arg: &Arg, abs: &Abs, out: &mut Vec<Value>) -> Lift<()> {
        match (arg, abs) {
            (Arg::Static(_) | Arg::Function(_), _) => {}
            (Arg::Tuple(args), abs) if let Some(items) = abs.tuple_items() => {
                for (arg, item) in args.iter().zip(&items) {
                    self.pass(arg, item, out)?;
                }
            }
            _ => out.push(self.value(abs)?),
        }
        Ok(())
    }

    fn call_specialised(&mut self, closure: &Rc<Closure>, vars: &BTreeMap<Name, Abs>, args: Vec<Arg>) -> Lift<Abs> {
        let mut values = Vec::new();
        for (arg, abs) in args.iter().zip(vars.values()) {
            self.pass(arg, abs, &mut values)?;
        }
        let def = Arc::as_ptr(&closure.def);
        let grows = self.world.specialised.get(&def).is_some_and(|all| self.is_growing(all));
        let all = self.world.specialised.entry(def).or_default();
        let at = match all.iter().position(|one| same_args(&one.args, &args)) {
            Some(at) => {
                // What it returns is assumed before the function around it is finished.
                let one = &mut all[at];
                one.assumed |= self.own != Some(one.id) && self.world.functions[one.id.index()].is_none();
                at
            }
            None => {
                let (at, id) = (all.len(), FuncId(self.world.functions.len() as u32));
                if at > MAX_OF_ONE || id.index() > MAX {
                    return self.bail(Code::Recursion, "a function has too many specialisations");
                }
                let before = self.world.returned.get_mut(&def);
                let known = before.and_then(|all| {
                    let at = all.iter().position(|one| same_args(&one.args, &args))?;
                    Some(all.swap_remove(at))
                });
                let (ret, sites) = known.map_or((Type::Never, Vec::new()), |one| (one.ret, one.sites));
                let entry =
                    Specialised { args: args.clone(), id, ret, sites, raises: None, constant: None, assumed: false };
                all.push(entry);
                self.world.functions.push(None);
                if let Err(stop) = self.lift_specialised(closure, vars, &args, &values, (at, id), grows) {
                    self.forget_functions(id.index());
                    return Err(stop);
                }
                at
            }
        };
        self.counts_frames();
        let Some(found) = self.world.specialised.get(&def).and_then(|all| all.get(at)) else {
            return self.bail(Code::Recursion, "a specialisation was lost");
        };
        let (id, ret, sites, raises) = (found.id, found.ret.clone(), found.sites.clone(), found.raises.clone());
        let constant = found.constant.clone();
        if constant.is_none() && ret.alternatives().iter().any(|ty| matches!(ty, Type::Pattern(_))) {
            return self.bail(Code::StaticValue, "a function that returns one of several patterns");
        }
        if ret == Type::Never {
            // As far as known the call does not return; more is known at the next attempt.
            self.inst(Opcode::Call(id), values, Type::None, raises.as_deref())?;
            let span = self.b.span;
            self.end(Terminator::Bailout("a recursion that does not return", span));
            return Ok(Abs::Unbound);
        }
        if !self.watched.is_empty() && self.may_write(vec![id]) {
            self.changes_watched(None);
        }
        let result = self.inst(Opcode::Call(id), values, ret, raises.as_deref())?;
        if !sites.is_empty() {
            self.sites.insert(result, sites);
        }
        if let Some(constant) = constant {
            return Ok(constant);
        }
        // A tuple of known length stays one.
        let result = Abs::Dyn(result);
        Ok(match (self.type_of(&result), self.known_items(&result)) {
            (Some(Type::Tuple(_)), Some(items)) => Abs::tuple(items),
            _ => result,
        })
    }

    /// Notes how many calls of CPython's nest where another function is called. Those that are unfolded
    /// count more than once: some stand for built-in functions that call back.
    fn counts_frames(&mut self) {
        // The frame of the function around one that recurses (`together.rs`) has been left.
        let around = usize::from(self.frames.len() > 1 && self.frames[0].def.is_none());
        let frames = 3 * (self.frames.len() - around) as u32 - 2 + 2 * self.built_ins;
        self.b.function.frames = self.b.function.frames.max(frames);
    }

    /// Does what a built-in function without a frame does by calling back.
    pub fn calling_back<T>(&mut self, f: impl FnOnce(&mut Self) -> Lift<T>) -> Lift<T> {
        self.calling_through(1, f)
    }

    /// Does what so many built-in functions do, of which each calls the next.
    pub fn calling_through<T>(&mut self, built_ins: u32, f: impl FnOnce(&mut Self) -> Lift<T>) -> Lift<T> {
        self.built_ins += built_ins;
        let result = f(self);
        self.built_ins -= built_ins;
        result
    }

    /// Lifts a function until the type of its result is the one that its own recursive
    /// calls assumed.
    fn lift_specialised(
        &mut self,
        closure: &Rc<Closure>,
        vars: &BTreeMap<Name, Abs>,
        args: &[Arg],
        passed: &[Value],
        (at, id): (usize, FuncId),
        grows: bool,
    ) -> Lift<()> {
        if self.module_mode
            && let Some(frame) = self.frames.first()
        {
            self.world.modules[frame.module].globals = frame.vars.clone();
        }
        let def = Arc::as_ptr(&closure.def);
        let together = self.together(closure);
        let prelude = self.in_prelude(closure.module);
        let mut types = Vec::new();
        args.iter().for_each(|arg| arg.types(&mut types));
        let made: Vec<Vec<Site>> = passed.iter().map(|value| self.sites_of(*value)).collect();
        let path = path_of(closure, args);
        let paths = self.world.paths.entry(def).or_default();
        paths.insert(path);
        if paths.len() > PATHS && self.world.restarts > PATHS as u32 && self.world.settled.insert(def) {
            // What it made so far is of kinds that it will not make again.
            self.world.forget_elements(&Type::is_object);
            return Err(Stop::Restart);
        }
        let settles = grows || self.settles || self.world.settled.contains(&def);
        let path = if settles { path_of(closure, &[]) } else { path };
        let keeps = closure.cached.then(|| {
            let number = crate::calls::memo::number_of(&closure.def);
            let is_key = |name: &Name| closure.def.locals.contains(name) || *name == number;
            let mut keys = Vec::new();
            for (name, arg) in vars.keys().zip(args) {
                let mut types = Vec::new();
                arg.types(&mut types);
                keys.extend(types.iter().map(|_| is_key(name)));
            }
            keys
        });
        let (functions, size) = (self.world.functions.len(), self.world.values);
        for _ in 0..ATTEMPTS {
            let assumed = self.of(def, at).map_or(Type::Never, |one| one.ret.clone());
            let b = Builder::new(closure.def.name.to_string(), &types, assumed.clone());
            let params: Vec<Value> = (0..types.len()).map(|index| b.param(index)).collect();
            let mut values = params.iter().copied();
            let seen = args.iter().map(|arg| arg.seen(&mut values));
            let mut vars: BTreeMap<Name, Abs> = vars.keys().cloned().zip(seen).collect();
            let around = together.frame(closure, &mut vars, path);
            let own = match around {
                None => Identity::of_module(def),
                Some(_) => Identity::of_frame(def, 0),
            };
            let enclosing = if around.is_some() { Enclosing::Live(0) } else { Enclosing::Module };
            let mut frame = closure.frame(vars, path);
            frame.enclosing = enclosing;
            let mut inner = Lifter::new(self.world, b, frame, Returns::typed(assumed.clone()));
            if let Some(around) = around {
                inner.frames.insert(0, around);
                inner.current = 1;
                inner.makes(0, true);
            }
            inner.sites = params.into_iter().zip(made.iter().cloned()).collect();
            inner.unfolding.push(own);
            inner.span_locked = prelude;
            inner.own = Some(id);
            inner.settles = settles;
            inner.long_results = inner.world.long_results.contains(&def);
            inner.assigned.clone_from(&together.assigned);
            inner.take_objects_of_module();
            inner.take_owner(closure);
            if closure.def.generator {
                let items = inner.new_list(&[])?;
                inner.set_var(&ITEMS.into(), items);
            }
            inner.stmts(&closure.def.body)?;
            if inner.live {
                let result = inner.collected().unwrap_or(Abs::NONE);
                inner.leave_function(result)?;
            }
            inner.seal();
            let mut function = inner.b.function;
            if keeps.is_some() {
                // What keeps the results is a call as well.
                function.frames += 1;
                function.keeps.clone_from(&keeps);
            }
            let Returns::Typed { found, sites, mut values, .. } = inner.returns else { break };
            let lengths = found.alternatives().iter().filter(|ty| matches!(ty, Type::Tuple(_))).count();
            if lengths >= LENGTHS && self.world.long_results.insert(def) {
                if let Some(entry) = self.world.specialised.get_mut(&def).and_then(|all| all.get_mut(at)) {
                    entry.ret = Type::Never;
                }
                continue;
            }
            let settled = found == assumed;
            if settled && found == Type::Never {
                // It never returns; its calls have no result.
                function.ret = Type::None;
            }
            let raises = if settled { self.raised(&function) } else { None };
            let Some(entry) = self.world.specialised.get_mut(&def).and_then(|all| all.get_mut(at)) else { break };
            entry.ret = found;
            entry.sites = sites;
            entry.raises = raises;
            let others_assumed = std::mem::take(&mut entry.assumed);
            entry.constant = values.pop().filter(|value| {
                settled && values.is_empty() && (value.as_const().is_some() || is_not_implemented(value))
            });
            if settled && keeps.is_some() && !function.ret.is_kept() {
                let name = &closure.def.name;
                return self.bail(Code::StaticValue, format!("{name} keeps results that may change"));
            }
            if settled {
                self.world.values += function.values.len();
                self.world.functions[id.index()] = Some(function);
                return Ok(());
            }
            if others_assumed {
                // Functions that call it and that it calls: they assumed another result.
                self.forget_functions(functions);
                self.world.values = size;
            }
        }
        self.bail(Code::Recursion, format!("the type of what {} returns does not settle", closure.def.name))
    }

    /// Where a method asks `super()`, finds the class that it stands in.
    fn take_owner(&mut self, closure: &Closure) {
        let Some((first, _)) = closure.def.params.positional.first() else { return };
        let asks = crate::tree::scope::mentions(&closure.def, &"super".into()).is_some();
        let Some(receiver) = self.frames[self.current].vars.get(first).filter(|_| asks).cloned() else { return };
        let seen = self.seen_as_object(receiver);
        let Abs::Instance(object) = &seen else { return };
        let is_it =
            |member: &Member| matches!(member, Member::Value(Abs::Func(own)) if Arc::ptr_eq(&own.def, &closure.def));
        let Some(owner) = ClassObj::ancestry(&object.class).find(|class| class.members.values().any(is_it)).cloned()
        else {
            return;
        };
        let frame = &mut self.frames[self.current];
        frame.vars.insert(first.clone(), seen.clone());
        frame.owner = Some((owner, seen));
    }

    fn of(&self, def: *const FunctionDef, at: usize) -> Option<&Specialised> {
        self.world.specialised.get(&def)?.get(at)
    }

    /// The classes of the exceptions that leave a function; `None` where that is not known.
    fn raised(&self, function: &Function) -> Option<Vec<ExcKind>> {
        let mut kinds = Vec::new();
        let mut add = |more: &[ExcKind]| {
            for kind in more {
                if !kinds.contains(kind) {
                    kinds.push(*kind);
                }
            }
        };
        for block in &function.blocks {
            for Inst { op, .. } in block.insts.iter().filter(|inst| inst.unwind.is_none()) {
                match op {
                    Opcode::Op(name) => add(exuvia_ops::by_name(name)?.raises),
                    Opcode::Call(id) => {
                        let callee = self.world.specialised.values().flatten().find(|one| one.id == *id)?;
                        add(callee.raises.as_deref()?);
                    }
                    _ => {}
                }
            }
            match &block.term {
                Terminator::Raise(kind, ..) => add(&[*kind]),
                Terminator::Reraise(..) => return None,
                _ => {}
            }
        }
        Some(kinds)
    }
}

/// Whether a constant is never passed: it has no run-time form, or code could change it.
fn is_static(object: &Object) -> bool {
    match object {
        Object::List(_) | Object::Dict(_) | Object::Set(_) | Object::Pattern(_) | Object::Exc(_) => true,
        Object::Tuple(items) => items.iter().any(is_static),
        _ => false,
    }
}

/// What tells the lists that a specialisation makes from those of others, also when all is
/// lifted again.
fn path_of(closure: &Closure, args: &[Arg]) -> u64 {
    let mut hasher = DefaultHasher::new();
    args.iter().for_each(|arg| arg.hash(&mut hasher));
    let Span { start, .. } = closure.def.span;
    mix(hasher.finish(), start) ^ closure.module as u64
}
