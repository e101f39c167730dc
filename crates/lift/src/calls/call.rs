//! Calls: of functions written in Python (unfolded here, or specialised, see `specialise.rs`), of
//! methods, and of built-ins that are about static things.

use crate::abs::{Abs, Closure, Enclosing, Iter};
use crate::bailout::Code;
use crate::data::tables::TableKind;
use crate::objects::class::{ClassObj, Member, Method};
use crate::tree::ast::{Expr, ExprKind, Name};
use crate::walk::describe::describe;
use crate::walk::lifter::{Ctx, Lift, Lifter};
use exuvia_ir::{ExcKind, Object};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deep calls are unfolded into each other.
pub(crate) const MAX_DEPTH: usize = 40;

/// How often a function of the prelude is unfolded within itself, as `sum` of a generator whose elements
/// are sums, and one of the user's.
const MAX_WITHIN: usize = 6;
const MAX_WITHIN_OWN: usize = 3;

/// Whether an argument is code that runs where it is used: a generator, a function with variables of
/// another. A call with it is always unfolded, so that one within another need be no recursion.
fn is_code(abs: &Abs) -> bool {
    match abs {
        Abs::Iter(_) | Abs::Bound(_) => true,
        Abs::Func(closure) => !matches!(closure.enclosing, Enclosing::Module),
        Abs::Tuple(items) => items.iter().any(is_code),
        _ => false,
    }
}

/// Whether it is `get` of a constant dict of containers.
fn is_look_up(callee: &Abs) -> bool {
    let container = |object: &Object| matches!(object, Object::Dict(_) | Object::List(_) | Object::Set(_));
    let holds_containers = |abs: &Abs| matches!(abs, Abs::Const(Object::Dict(dict)) if dict.entries().iter().any(|entry| container(&entry.1)));
    match callee {
        Abs::Method(method) => &*method.1 == "get" && holds_containers(&method.0),
        Abs::OneOf(choice) => choice.of.iter().all(|(_, item)| is_look_up(item)),
        _ => false,
    }
}

/// Whether it only reads the lists that it is given, keeps none, and takes tuples as well.
fn only_reads_lists(callee: &Abs) -> bool {
    match callee {
        Abs::Builtin(name) => name.starts_with("numpy."),
        Abs::Bound(method) => method.owner.prelude && &*method.closure.def.name == "isin",
        _ => false,
    }
}

impl Lifter<'_> {
    pub fn call(&mut self, func: &Expr, args: &[Expr], keywords: &[(Option<Name>, Expr)]) -> Lift<Abs> {
        let held = self.held.len();
        let callee = match &func.kind {
            // A method is looked up on its receiver before the arguments are evaluated.
            ExprKind::Attribute { value, name } => {
                let receiver = self.expr(value)?;
                self.attribute(receiver, name)?
            }
            _ => self.expr(func)?,
        };
        let mut positional = Vec::new();
        // What follows from the first `*` of unknown length on.
        let mut rest = None;
        for arg in args {
            match &arg.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.expr(inner)?;
                    match (self.known_items(&inner), &rest) {
                        (Some(items), None) => {
                            positional.extend(items);
                            self.check_count(positional.len())?;
                        }
                        _ => rest = Some(self.more_arguments(rest, &inner)?),
                    }
                }
                _ if rest.is_some() => {
                    let arg = self.expr(arg)?;
                    rest = Some(self.more_arguments(rest, &Abs::tuple(vec![arg]))?);
                }
                ExprKind::List(items) if rest.is_none() && only_reads_lists(&callee) => {
                    let items = self.items_with_stars(items)?;
                    positional.push(Abs::tuple(items));
                }
                _ if positional.len() == 1 && is_look_up(&callee) => positional.push(self.default_of_look_up(arg)?),
                _ => {
                    let arg = self.expr(arg)?;
                    positional.push(match &arg {
                        Abs::Table(table) if table.kind == TableKind::List && only_reads_lists(&callee) => {
                            Abs::tuple(table.iterated().to_vec())
                        }
                        _ => arg,
                    });
                }
            }
        }
        let mut named = Vec::new();
        // Functions of the prelude hand on what they were given as a dict, where a later entry replaces an earlier one.
        let set = |named: &mut Vec<(Name, Abs)>, (name, value): (Name, Abs)| match named
            .iter_mut()
            .find(|known| known.0 == name)
        {
            Some(known) => known.1 = value,
            None => named.push((name, value)),
        };
        // The dict behind a `**` whose keys are not known.
        let mut unknown = None;
        for (name, value) in keywords {
            let value = self.expr(value)?;
            match name {
                Some(name) => named.push((name.clone(), value)),
                None => match self.named_by(&value)? {
                    Some(entries) if self.is_in_prelude() => {
                        entries.into_iter().for_each(|entry| set(&mut named, entry))
                    }
                    Some(entries) => named.extend(entries),
                    None if unknown.is_none() => unknown = Some(value),
                    None => return self.bail(Code::Arguments, "two ** of dicts whose keys are not known in a call"),
                },
            }
        }
        if (1..named.len()).any(|at| named[..at].iter().any(|other| other.0 == named[at].0)) {
            return self.bail(Code::Arguments, "a keyword argument that is given twice");
        }
        // The arguments are the variables of the callee now.
        self.held.truncate(held);
        if let Some(dict) = unknown {
            named = self.named_in(&callee, positional.len(), named, &dict)?;
        }
        match rest {
            _ if !self.live => Ok(Abs::Unbound),
            Some(rest) => self.call_with_rest(&callee, positional, &rest, named),
            None => self.call_value(&callee, positional, named),
        }
    }

    /// Calls a function of the prelude that stands beside the built-in ones.
    pub fn call_of_prelude(&mut self, name: &str, args: Vec<Abs>) -> Lift<Abs> {
        match self.prelude_function("builtins", name)? {
            Some(function) => self.call_value(&function, args, Vec::new()),
            None => self.bail(Code::Callee, format!("no {name}")),
        }
    }

    /// The default of a look-up among constants that may be containers: an empty one is a constant
    /// too, until something changes it.
    fn default_of_look_up(&mut self, arg: &Expr) -> Lift<Abs> {
        let outer = self.go_to(arg.span);
        let site = self.site();
        self.back_to(outer);
        self.world.constant_empty.insert(site);
        self.expr(arg)
    }

    /// Calls a value.
    pub fn call_value(&mut self, callee: &Abs, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        match callee {
            Abs::Func(closure) => self.call_function(&closure.clone(), args, named),
            Abs::Method(method) => {
                let (receiver, name) = (method.0.clone(), method.1.clone());
                self.call_method(&receiver, &name, args, named)
            }
            Abs::Bound(method) => self.call_bound(&Rc::clone(method), args, named),
            Abs::Class(class) => self.instantiate(&Rc::clone(class), args, named),
            Abs::Instance(object) => {
                let object = Rc::clone(object);
                match ClassObj::find(&object.class, "__call__") {
                    Some((owner, Member::Value(Abs::Func(closure)))) => {
                        let receiver = Abs::Instance(object);
                        self.call_bound(&Method { closure, owner, receiver }, args, named)
                    }
                    Some(_) => self.bail(Code::Callee, "__call__ is no function"),
                    None => {
                        let message = format!("'{}' object is not callable", self.class_shown(&object.class)?);
                        self.raise_message(ExcKind::TypeError, &message)
                    }
                }
            }
            Abs::OneOf(choice) => {
                self.choose(&Rc::clone(choice), &mut |me, callee| me.call_value(&callee, args.clone(), named.clone()))
            }
            Abs::Module(name)
                if matches!(&**name, "dataclasses.asdict" | "dataclasses.astuple") && named.is_empty() =>
            {
                match &args[..] {
                    [object] => self.fields_of_dataclass(object, &**name == "dataclasses.asdict"),
                    _ => self.bail(Code::Arguments, format!("{name} with such arguments")),
                }
            }
            Abs::Module(name)
                if &**name == "dataclasses.replace"
                    && args.len() == 1
                    && let Some((_, union)) = self.union_operand(&args) =>
            {
                self.dispatch(union, &mut |me, object| me.call_value(callee, vec![object], named.clone()))
            }
            Abs::Module(name) if &**name == "dataclasses.replace" => match &args[..] {
                [Abs::Instance(object)] => self.replaced(&Rc::clone(object), named),
                [Abs::OneOf(choice)] => self
                    .choose(&Rc::clone(choice), &mut |me, object| me.call_value(callee, vec![object], named.clone())),
                [of @ Abs::Dyn(_)] if let seen @ Abs::Instance(_) = self.seen(of.clone()) => {
                    self.call_value(callee, vec![seen], named)
                }
                _ => self.bail(Code::Arguments, "dataclasses.replace of something else than a dataclass"),
            },
            Abs::Module(name) if &**name == "enum.auto" && args.is_empty() && named.is_empty() => {
                Ok(Abs::Builtin(crate::objects::enums::AUTO.into()))
            }
            Abs::Module(name) if &**name == "collections.namedtuple" => self.call_of_namedtuple(&args, &named),
            Abs::Builtin(name) => self.call_builtin(&name.clone(), args, named),
            // They take several arguments, of which their text is made.
            Abs::ExcClass(kind)
                if *kind == ExcKind::JSONDecodeError
                    || *kind != ExcKind::UnicodeError && kind.is_subclass(ExcKind::UnicodeError) =>
            {
                self.bail(Code::Callee, format!("an object of {}", kind.name()))
            }
            Abs::ExcClass(ExcKind::SyntaxError) if args.len() != 1 => {
                self.bail(Code::Callee, "a SyntaxError of more than a message")
            }
            // An error number chooses the class.
            Abs::ExcClass(kind) if kind.is_subclass(ExcKind::OSError) && args.len() > 1 => {
                self.bail(Code::Callee, format!("an object of {} with an error number", kind.name()))
            }
            Abs::ExcClass(kind) if named.is_empty() => Ok(Abs::ExcInst(Rc::new((*kind, args)))),
            Abs::Const(object) => {
                let message = format!("'{}' object is not callable", object.ty().message_name());
                self.raise_message(ExcKind::TypeError, &message)
            }
            other => self.bail(Code::Callee, format!("a call of {}", describe(other))),
        }
    }

    // ---- functions written in Python ----

    /// Binds arguments to parameters (language reference, "Calls").
    pub fn bind(&mut self, closure: &Closure, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<BTreeMap<Name, Abs>> {
        let def = &closure.def;
        let params = &def.params;
        let mut vars = BTreeMap::new();
        let count = args.len();
        let mut args = args.into_iter();
        for ((name, _), arg) in params.positional.iter().zip(args.by_ref()) {
            vars.insert(name.clone(), arg);
        }
        let rest: Vec<Abs> = args.collect();
        match (&params.rest, self.rest.take()) {
            (Some(name), Some(all)) => {
                vars.insert(name.clone(), all);
            }
            (Some(name), None) => {
                let rest = Abs::tuple(rest);
                self.check_size(&rest)?;
                vars.insert(name.clone(), rest);
            }
            (None, _) if !rest.is_empty() => {
                return self.wrong_call(format!("{}() is called with {count} positional arguments", def.name));
            }
            (None, _) => {}
        }
        let mut others: Vec<(Abs, Abs)> = Vec::new();
        for (name, value) in named {
            let known = params.positional[params.positional_only..].iter().chain(&params.keyword).any(|p| p.0 == name);
            let free = if known { !vars.contains_key(&name) } else { params.keyword_rest.is_some() };
            if !free {
                return self.wrong_call(format!("{}() and keyword argument {name}", def.name));
            }
            if known {
                vars.insert(name, value);
            } else {
                others.push((Abs::str(&name), value));
            }
        }
        if let Some(name) = &params.keyword_rest {
            // The prelude has them as pairs, which cost nothing.
            let all = match self.in_prelude(closure.module) {
                _ if let Some(all) = self.others.take() => all,
                true => Abs::tuple(others.into_iter().map(|(name, value)| Abs::tuple(vec![name, value])).collect()),
                // Most functions only hand on what they are not given.
                false if others.is_empty() && !self.module_mode && !self.is_changing() => {
                    self.written(Object::Dict(Arc::default()))
                }
                false => self.dict_of_fields(others)?,
            };
            vars.insert(name.clone(), all);
        }
        for (name, default) in &closure.defaults {
            vars.entry(name.clone()).or_insert_with(|| default.clone());
        }
        for (name, _) in params.positional.iter().chain(&params.keyword) {
            if !vars.contains_key(name) {
                return self.wrong_call(format!("{}() is called without {name}", def.name));
            }
        }
        Ok(vars)
    }

    /// A call that CPython refuses: of one of several functions, in rows that come to it.
    fn wrong_call(&mut self, what: String) -> Lift<BTreeMap<Name, Abs>> {
        if self.arms == 0 {
            return self.bail(Code::Arguments, what);
        }
        self.leave_call_to_python();
        Ok(BTreeMap::new())
    }

    /// The arguments that `**` of a dict gives; `None` where its keys are not known.
    fn named_by(&mut self, dict: &Abs) -> Lift<Option<Vec<(Name, Abs)>>> {
        if !self.live {
            return Ok(Some(Vec::new()));
        }
        let name = |(key, value): (Abs, Abs)| match key {
            Abs::Const(Object::Str(name)) => Some((Name::from(&*name), value)),
            _ => None,
        };
        // Those that a function of the prelude hands on.
        let pair = |pair: &Abs| <[Abs; 2]>::try_from(pair.tuple_items()?).ok().map(|[name, value]| (name, value));
        let entries = match dict.tuple_items().filter(|_| self.is_in_prelude()) {
            Some(pairs) => pairs.iter().map(pair).collect(),
            None => self.known_entries(&[(None, dict.clone())])?,
        };
        Ok(entries.and_then(|entries| entries.into_iter().map(name).collect()))
    }

    /// Whether a value is an object that puts work off: what such objects ask of each other ends, since
    /// each is made by an expression of its own.
    fn defers(&self, value: &Abs) -> bool {
        match value {
            Abs::Tuple(items) => items.iter().any(|item| self.defers(item)),
            value => value.is_of_prelude_with("_kept"),
        }
    }

    fn call_function(&mut self, closure: &Rc<Closure>, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        let def = closure.def.clone();
        let owner = self.next_owner.take();
        if def.asynchronous {
            return self.bail(Code::Handler, format!("{} is asynchronous", def.name));
        }
        if closure.cached {
            let is_plain = named.is_empty() && args.len() == def.params.positional.len();
            self.refuse_changes(closure, is_plain)?;
        }
        let mut vars = self.bind(closure, args, named)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if !self.in_prelude(closure.module) {
            vars.values().try_for_each(|value| self.force(value))?;
            for (name, value) in &mut vars {
                if self.refuse_iterator(value).is_err() && !crate::tree::scope::is_read_once(&def, name) {
                    *value = self.keep_iterator(value.clone())?;
                }
            }
        }
        if def.generator {
            let args = vars.into_iter().collect();
            return Ok(Abs::Iter(Rc::new(Iter::Call { function: Abs::Func(Rc::clone(closure)), args })));
        }
        if closure.cached {
            self.refuse_cache(&def, &vars)?;
        }
        let prelude = self.in_prelude(closure.module);
        let identity = closure.identity();
        let within = self.unfolding.iter().filter(|around| **around == identity).count();
        let samples = std::mem::take(&mut self.samples);
        let again = within > 0 && {
            let most = if prelude { MAX_WITHIN } else { MAX_WITHIN_OWN };
            samples
                || prelude && vars.values().any(|value| self.defers(value))
                || within < most && !closure.cached && vars.values().any(is_code)
        };
        if within > 0 && !again || self.is_kept(closure) {
            return self.recursion(closure, &vars);
        }
        if self.unfolding.len() >= MAX_DEPTH {
            return self.bail(Code::Budget, "calls nest too deeply");
        }
        if let Some(result) = self.shared(closure, &vars)? {
            return Ok(result);
        }
        let before = self.b.function.values.len();
        let result = self.unfold(closure, vars, owner)?;
        if closure.cached {
            self.refuse_kept(&def, &result)?;
        }
        let size = self.b.function.values.len().saturating_sub(before);
        self.world.sizes.insert(Arc::as_ptr(&def), size);
        Ok(result)
    }

    /// Whether a module is one of the prelude's.
    pub fn in_prelude(&self, module: usize) -> bool {
        self.world.prelude.values().chain(self.world.border.values()).any(|index| *index == module)
    }

    /// Lifts the body of a function in place of the call.
    fn unfold(
        &mut self,
        closure: &Rc<Closure>,
        vars: BTreeMap<Name, Abs>,
        owner: Option<(Rc<ClassObj>, Abs)>,
    ) -> Lift<Abs> {
        self.world.budget.take(16 + 2 * vars.len());
        let def = closure.def.clone();
        let depth = self.frames.len();
        let caller = self.current;
        let augmented = std::mem::replace(&mut self.augmented, false);
        let outer_path = self.frames.get(caller).map_or(0, |frame| frame.path);
        let path = mix(outer_path, self.place.start);
        // What the prelude does is reported where it was called.
        let prelude = self.in_prelude(closure.module) || self.is_made(Arc::as_ptr(&def));
        let locked = std::mem::replace(&mut self.span_locked, prelude);
        let mut frame = closure.frame(vars, path);
        frame.owner = owner;
        self.frames.push(frame);
        self.makes(depth, false);
        self.current = depth;
        self.contexts.push(Ctx::Call { returns: Vec::new(), depth, generator: false });
        self.unfolding.push(closure.identity());
        let (span, place) = (self.b.span, self.place);
        let ran = self.stmts(&def.body);
        self.span_locked = locked;
        self.b.span = span;
        self.place = place;
        self.unfolding.pop();
        ran?;
        if self.live {
            self.leave_call(Abs::NONE);
        }
        self.current = caller;
        self.augmented = augmented;
        let Some(Ctx::Call { returns, .. }) = self.contexts.pop() else {
            return self.bail(Code::Budget, "contexts are out of step");
        };
        Ok(self
            .join(returns.into_iter().map(|(state, value)| (state, vec![value])).collect())?
            .pop()
            .unwrap_or(Abs::Unbound))
    }

    /// Ends an unfolded call with a result.
    pub fn leave_call(&mut self, value: Abs) {
        let Some(at) = self.contexts.iter().rposition(|ctx| matches!(ctx, Ctx::Call { .. })) else { return };
        let Some(mut state) = self.state() else { return };
        if let Ctx::Call { returns, depth, .. } = &mut self.contexts[at] {
            let value =
                crate::walk::leave::leave(&value, *depth, &state.frames, &self.world.budget).unwrap_or(Abs::Conflict);
            crate::walk::leave::end_frames(&mut state.frames, *depth, &self.makers, &self.world.budget);
            returns.push((state, value));
        }
        self.die();
    }

    /// The function or class of a prelude module, lifted when it is first needed.
    pub fn prelude_function(&mut self, module: &'static str, name: &str) -> Lift<Option<Abs>> {
        Ok(self.prelude_global(module, name)?.filter(|abs| matches!(abs, Abs::Func(_) | Abs::Class(_))))
    }

    pub fn prelude_global(&mut self, module: &'static str, name: &str) -> Lift<Option<Abs>> {
        if module == "decimal" && self.world.changes_context {
            return self.bail(Code::Import, "decimals in a context that the module changes");
        }
        let index = match self.world.prelude.get(module) {
            Some(index) => *index,
            None => {
                let outer = std::mem::replace(&mut self.world.loading_prelude, true);
                let index = crate::module::load_prelude(self.world, module);
                self.world.loading_prelude = outer;
                let index = index?;
                self.world.prelude.insert(module, index);
                index
            }
        };
        Ok(self.world.modules[index].globals.get(name).filter(|abs| !matches!(abs, Abs::Conflict)).cloned())
    }
}

/// A call path from the one around and the place of the call.
pub(crate) fn mix(path: u64, place: u32) -> u64 {
    (path ^ u64::from(place).wrapping_add(0x9e37_79b9)).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
}
