//! Exceptions: `raise`, `try`, and the objects of their classes.
//!
//! An exception of a built-in class may be a run-time value; one whose class is written in Python
//! is an object of the lifter's heap, so that its class is known wherever it is handled.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::objects::class::ClassObj;
use crate::objects::heap::Instance;
use crate::tree::ast::{Expr, Handler, Stmt};
use crate::walk::lifter::{Ctx, Lift, Lifter, Pending, Returns, State};
use exuvia_ir::{ExcKind, Object, Opcode, Type, Value};
use exuvia_ops::def::OpDef;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

impl Lifter<'_> {
    /// `raise`.
    pub fn raise_statement(&mut self, exc: Option<&Expr>, cause: Option<&Expr>) -> Lift<()> {
        let Some(exc) = exc else {
            return match self.handling.last().cloned() {
                Some(exc) => self.rethrow(exc),
                None if matches!(self.returns, Returns::Typed { .. }) => {
                    self.bail(Code::Recursion, "what a bare raise raises depends on who calls the function")
                }
                None => {
                    self.raise_message(ExcKind::RuntimeError, "No active exception to reraise")?;
                    Ok(())
                }
            };
        };
        let exc = self.expr(exc)?;
        if let Some(cause) = cause {
            // The cause is only seen through `__cause__`, which is not lifted.
            self.expr(cause)?;
        }
        if !self.live {
            return Ok(());
        }
        match &exc {
            Abs::ExcClass(ExcKind::SyntaxError) => self.bail(Code::Callee, "a SyntaxError of more than a message"),
            Abs::ExcClass(kind) => self.raise(*kind, Vec::new()),
            Abs::ExcInst(exc) => self.raise(exc.0, exc.1.clone()),
            Abs::Instance(object) if object.class.exception.is_some() => {
                self.throw(exc, Some(Vec::new()));
                Ok(())
            }
            Abs::Class(class) if class.exception.is_some() => {
                let exc = self.instantiate(&Rc::clone(class), Vec::new(), Vec::new())?;
                if self.live {
                    self.throw(exc, Some(Vec::new()));
                }
                Ok(())
            }
            Abs::Instance(_) => {
                self.raise_message(ExcKind::TypeError, "exceptions must derive from BaseException")?;
                Ok(())
            }
            Abs::Dyn(value) if *self.b.function.ty(*value) == Type::Exc => self.rethrow(exc),
            other => match self.type_of(other) {
                Some(Type::None | Type::Bool | Type::Int | Type::Float | Type::Str) => {
                    self.raise_message(ExcKind::TypeError, "exceptions must derive from BaseException")?;
                    Ok(())
                }
                _ => self.bail(Code::Callee, "raise of such a value"),
            },
        }
    }

    /// `try`.
    pub fn try_(&mut self, body: &[Stmt], handlers: &[Handler], orelse: &[Stmt], finalbody: &Arc<[Stmt]>) -> Lift<()> {
        if finalbody.is_empty() {
            return self.try_except(body, handlers, orelse);
        }
        let depth = self.frames.len();
        self.contexts.push(Ctx::Finally { body: finalbody.clone(), depth });
        self.contexts.push(Ctx::Try { pending: Vec::new(), depth });
        if handlers.is_empty() {
            self.stmts(body)?
        } else {
            self.try_except(body, handlers, orelse)?
        }
        let pending = self.pop_try()?;
        self.contexts.pop();
        let after = self.state();
        // However an exception leaves, `finally` runs and the exception goes on.
        let (objects, pending) = objects_apart(pending);
        for Pending { state, exc, kinds } in objects {
            self.enter(state);
            self.stmts(finalbody)?;
            if self.live {
                self.throw(exc, kinds);
            }
        }
        if let Some(Caught { exc, kinds, .. }) = self.catch(pending, false)? {
            let hidden = self.hidden_name("exc");
            self.set_var(&hidden, exc);
            self.stmts(finalbody)?;
            if self.live {
                let exc = self.get_hidden(&hidden);
                self.throw(exc, kinds);
            }
        }
        if let Some(after) = after {
            self.enter(after);
            self.stmts(finalbody)?;
        } else {
            self.die();
        }
        Ok(())
    }

    fn pop_try(&mut self) -> Lift<Vec<Pending>> {
        match self.contexts.pop() {
            Some(Ctx::Try { pending, .. }) => Ok(pending),
            _ => self.bail(Code::Budget, "contexts are out of step"),
        }
    }

    /// Continues where raises arrive: the exception and the classes it can have. What it says is kept, of
    /// what operations raise where somebody has a name for it.
    fn catch(&mut self, pending: Vec<Pending>, is_named: bool) -> Lift<Option<Caught>> {
        let mut kinds = Some(Vec::new());
        for one in &pending {
            match (&mut kinds, &one.kinds) {
                (Some(all), Some(some)) => all.extend(some.iter().copied()),
                (all, _) => *all = None,
            }
        }
        let texts: Vec<Option<Abs>> = pending.iter().map(|one| self.text_along(one, is_named)).collect();
        let is_told = texts.iter().any(Option::is_some);
        let told = |text: Option<Abs>| is_told.then(|| text.unwrap_or(Abs::Const(Object::None)));
        let arguments = self.arguments_along(&pending, &texts);
        let counts: Vec<usize> =
            arguments.iter().flatten().map(Vec::len).collect::<BTreeSet<_>>().into_iter().collect();
        // A tuple for each number of arguments, of which one counts.
        let tuples = |args: &Option<Vec<Abs>>| -> Vec<Abs> {
            let of = |count: &usize| match args {
                Some(args) if args.len() == *count => Abs::tuple(args.clone()),
                _ => Abs::tuple(vec![Abs::NONE; *count]),
            };
            counts.iter().map(of).collect()
        };
        let arrived =
            pending.iter().map(|one| one.kinds.clone()).zip(arguments.iter().map(|args| args.as_ref().map(Vec::len)));
        let arrived: Vec<_> = arrived.collect();
        let arms = pending.into_iter().zip(texts).zip(&arguments).map(|((one, text), args)| {
            (one.state, std::iter::once(one.exc).chain(tuples(args)).chain(told(text)).collect())
        });
        let mut joined = self.join(arms.collect())?.into_iter();
        let exc = joined.next();
        let tuples = counts.iter().copied().zip(joined.by_ref()).collect();
        if let (Some(Abs::Dyn(exc)), Some(text)) = (&exc, joined.next())
            && self.type_of(&text).is_some()
        {
            self.messages.insert(*exc, text);
        }
        Ok(exc.filter(|_| self.live).map(|exc| Caught { exc, kinds, arrived, tuples }))
    }

    /// The text of an exception that comes along with it: of one that was raised by a statement, or by an
    /// operation, where the handler has a name for it.
    fn text_along(&mut self, raised: &Pending, is_named: bool) -> Option<Abs> {
        let Abs::Dyn(exc) = &raised.exc else { return None };
        if let Some(text) = self.messages.get(exc) {
            return Some(text.clone());
        }
        let (name, args) = self.tellers.get(exc).filter(|_| is_named).cloned()?;
        self.b.block = raised.state.block;
        Some(Abs::Dyn(self.b.inst(Opcode::Message(name), args, Type::Str, None)))
    }

    /// Whether the arguments of exceptions of a class are others than those that it was made of, or than its
    /// text where an operation raises it.
    pub fn has_other_arguments(kind: ExcKind) -> bool {
        let others = [ExcKind::OSError, ExcKind::UnicodeError, ExcKind::JSONDecodeError, ExcKind::DecimalException];
        others.iter().any(|other| kind.is_subclass(*other))
    }

    /// The arguments of exceptions, where the source asks for any and they are known.
    fn arguments_along(&self, pending: &[Pending], texts: &[Option<Abs>]) -> Vec<Option<Vec<Abs>>> {
        let of_operation = |name: &str, kind: &ExcKind| {
            let others = [ExcKind::KeyError, ExcKind::StopIteration];
            // That of a power has two, of which the text shows both.
            let has_two = *kind == ExcKind::OverflowError && name.contains("pow");
            !has_two && !Self::has_other_arguments(*kind) && !others.iter().any(|other| kind.is_subclass(*other))
        };
        let one = |(raised, text): (&Pending, &Option<Abs>)| {
            let Abs::Dyn(exc) = &raised.exc else { return None };
            if let Some(arguments) = self.arguments.get(exc) {
                return arguments.tuple_items();
            }
            let (name, _) = self.tellers.get(exc)?;
            let kinds = raised.kinds.as_ref()?;
            Some(vec![text.clone().filter(|_| kinds.iter().all(|kind| of_operation(name, kind)))?])
        };
        let asked = self.world.asks_arguments;
        pending.iter().zip(texts).map(|pair| if asked { one(pair) } else { None }).collect()
    }

    /// What a handler of some classes knows of the arguments of what it catches, which is one of those that
    /// handlers before it left: they are as many whatever arrives there.
    fn arguments_of(&mut self, caught: &Caught, left: Option<&[ExcKind]>, classes: &[ExcKind]) {
        let Abs::Dyn(exc) = &caught.exc else { return };
        let arrives = |kind: &ExcKind| {
            left.is_none_or(|left| left.contains(kind)) && classes.iter().any(|class| kind.is_subclass(*class))
        };
        let may_be = |kinds: &Option<Vec<ExcKind>>| kinds.as_ref().is_none_or(|kinds| kinds.iter().any(arrives));
        let counts = caught.arrived.iter().filter(|(kinds, _)| may_be(kinds)).map(|(_, count)| *count);
        let counts: BTreeSet<Option<usize>> = counts.collect();
        let known = match counts.into_iter().collect::<Vec<_>>()[..] {
            [Some(count)] => caught.tuples.iter().find(|of| of.0 == count).map(|of| of.1.clone()),
            _ => None,
        };
        match known.and_then(|arguments| self.items_of_tuple(&arguments)) {
            Some(arguments) => self.arguments.insert(*exc, Abs::tuple(arguments)),
            None => self.arguments.remove(exc),
        };
    }

    /// The text of an exception of a class and arguments, where that is simple.
    pub fn message_of(&mut self, kind: ExcKind, args: &[Abs]) -> Lift<Option<Abs>> {
        let [arg] = args else { return Ok(args.is_empty().then(|| Abs::str(""))) };
        if !matches!(self.type_of(arg), Some(Type::Str | Type::Int | Type::Float | Type::Bool)) {
            return Ok(None);
        }
        self.apply(if kind == ExcKind::KeyError { "repr" } else { "str" }, std::slice::from_ref(arg)).map(Some)
    }

    /// The text of a caught exception that came along with it, or else what an operation says.
    pub fn told(&mut self, def: &'static OpDef, args: Vec<Value>, text: Abs) -> Lift<Value> {
        let text = self.value(&text)?;
        let ty = self.b.function.ty(text).clone();
        let ask = |lifter: &mut Self| lifter.b.inst(Opcode::Op(def.name), args.clone(), Type::Str, None);
        match ty {
            Type::Str => Ok(text),
            Type::None => Ok(ask(self)),
            _ => {
                let is = self.b.inst(Opcode::Is(Type::None), vec![text], Type::Bool, None);
                let (none, some) = self.branch(is);
                self.enter(none);
                let asked = ask(self);
                let mut arms: Vec<_> = self.state().into_iter().map(|state| (state, vec![Abs::Dyn(asked)])).collect();
                self.enter(some);
                let text = self.narrow_to(text, &Type::Str);
                arms.extend(self.state().map(|state| (state, vec![text])));
                let joined = self.join(arms)?.pop();
                self.value(&joined.unwrap_or(Abs::Unbound))
            }
        }
    }

    fn try_except(&mut self, body: &[Stmt], handlers: &[Handler], orelse: &[Stmt]) -> Lift<()> {
        let depth = self.frames.len();
        self.contexts.push(Ctx::Try { pending: Vec::new(), depth });
        self.stmts(body)?;
        let pending = self.pop_try()?;
        if self.live {
            self.stmts(orelse)?;
        }
        let mut ends: Vec<_> = self.state().into_iter().collect();
        let (objects, pending) = objects_apart(pending);
        for Pending { state, exc, .. } in objects {
            self.enter(state);
            ends.extend(self.handle_object(exc, handlers)?);
        }
        let is_named = handlers.iter().any(|handler| handler.name.is_some());
        let Some(caught) = self.catch(pending, is_named)? else {
            return self.enter_any(ends);
        };
        let (exc, mut kinds) = (caught.exc.clone(), caught.kinds.clone());
        for handler in handlers {
            if !self.live {
                break;
            }
            let (classes, _) = self.handled(handler)?;
            let matches = |kind: &ExcKind| classes.iter().any(|class| kind.is_subclass(*class));
            let known = kinds.clone();
            let (all, any) = match &known {
                Some(kinds) => (kinds.iter().all(matches), kinds.iter().any(matches)),
                None => (classes.contains(&ExcKind::BaseException), !classes.is_empty()),
            };
            if !any {
                continue;
            }
            let mut otherwise = None;
            if !all {
                let value = self.value(&exc)?;
                let is = self.b.inst(Opcode::ExcIs(classes.clone()), vec![value], Type::Bool, None);
                let (yes, no) = self.branch(is);
                self.enter(yes);
                otherwise = Some(no);
                if let Some(kinds) = &mut kinds {
                    kinds.retain(|kind| !matches(kind));
                }
            }
            self.arguments_of(&caught, known.as_deref(), &classes);
            self.handle(&exc, handler)?;
            ends.extend(self.state());
            match otherwise {
                Some(state) => self.enter(state),
                None => self.die(),
            }
        }
        if let Abs::Dyn(exc) = &exc {
            self.arguments.remove(exc);
        }
        if self.live {
            self.throw(exc, kinds);
        }
        self.enter_any(ends)
    }

    /// The classes that an `except` clause names.
    fn handled(&mut self, handler: &Handler) -> Lift<Handled> {
        let Some(class) = &handler.class else { return Ok((vec![ExcKind::BaseException], Vec::new())) };
        let class = self.expr(class)?;
        let mut handled = (Vec::new(), Vec::new());
        match exception_classes(&class, &mut handled) {
            Some(()) => Ok(handled),
            None => self.bail(Code::Callee, "except with such a class"),
        }
    }

    /// Runs the body of an `except` clause.
    fn handle(&mut self, exc: &Abs, handler: &Handler) -> Lift<()> {
        if let Some(name) = &handler.name {
            self.bind_name(name, exc.clone())?;
        }
        self.handling.push(exc.clone());
        self.stmts(&handler.body)?;
        self.handling.pop();
        if let Some(name) = &handler.name
            && self.live
        {
            // The name is deleted at the end of the clause.
            self.bind_name(name, Abs::Unbound)?;
        }
        Ok(())
    }

    /// Handles an exception whose class is written in Python: its class is known.
    fn handle_object(&mut self, exc: Abs, handlers: &[Handler]) -> Lift<Option<State>> {
        let Abs::Instance(object) = &exc else { return Ok(None) };
        for handler in handlers {
            let (kinds, classes) = self.handled(handler)?;
            let builtin = object.class.exception.is_some_and(|own| kinds.iter().any(|kind| own.is_subclass(*kind)));
            if builtin || classes.iter().any(|class| ClassObj::is_subclass(&object.class, class)) {
                self.handle(&exc, handler)?;
                return Ok(self.state());
            }
        }
        self.throw(exc, Some(Vec::new()));
        Ok(None)
    }

    /// Sets the arguments of an exception.
    pub fn set_arguments(&mut self, object: &Instance, args: &[Abs]) -> Lift<()> {
        args.iter().try_for_each(|arg| self.may_hold(arg))?;
        if let Some(frame) = self.frames.first_mut() {
            frame.vars.insert(object.cell("args"), Abs::tuple(args.to_vec()));
        }
        Ok(())
    }

    /// The text of an exception, and what shows it (Objects/exceptions.c).
    pub fn text_of_exception(&mut self, object: &Rc<Instance>, repr: bool) -> Lift<Abs> {
        let args = self.own_attribute(object, "args")?.and_then(|args| args.tuple_items());
        let Some(args) = args else { return self.bail(Code::Join, "the arguments of an exception") };
        let all = Abs::tuple(args.clone());
        match (args.as_slice(), repr) {
            ([], false) => Ok(Abs::str("")),
            ([one], false) if object.class.exception == Some(ExcKind::KeyError) => {
                self.apply("repr", std::slice::from_ref(one))
            }
            ([one], false) => self.apply("str", std::slice::from_ref(one)),
            (_, false) => self.apply("str", &[all]),
            (_, true) => self.shown_exception(Abs::str(&object.class.name), &args),
        }
    }

    /// The `repr` of an exception by the name of its class and its arguments.
    pub fn shown_exception(&mut self, class: Abs, args: &[Abs]) -> Lift<Abs> {
        let [one] = args else {
            let shown = self.apply("repr", &[Abs::tuple(args.to_vec())])?;
            return self.apply("a+b", &[class, shown]);
        };
        let head = self.apply("a+b", &[class, Abs::str("(")])?;
        let shown = self.apply("repr", std::slice::from_ref(one))?;
        let head = self.apply("a+b", &[head, shown])?;
        self.apply("a+b", &[head, Abs::str(")")])
    }
}

/// What arrives at the handlers of a `try`.
struct Caught {
    exc: Abs,
    /// The classes it can have, exactly; `None`: any.
    kinds: Option<Vec<ExcKind>>,
    /// Of each raise the classes, and how many arguments it has, where they are known.
    arrived: Vec<(Option<Vec<ExcKind>>, Option<usize>)>,
    /// The arguments, by how many they are.
    tuples: Vec<(usize, Abs)>,
}

/// The classes that an `except` clause names: built-in ones, and others.
type Handled = (Vec<ExcKind>, Vec<Rc<ClassObj>>);

/// The raises of exceptions whose class is written in Python, each on its own, and the others.
fn objects_apart(pending: Vec<Pending>) -> (Vec<Pending>, Vec<Pending>) {
    pending.into_iter().partition(|one| matches!(one.exc, Abs::Instance(_)))
}

fn exception_classes(abs: &Abs, out: &mut Handled) -> Option<()> {
    match abs {
        Abs::ExcClass(kind) => out.0.push(*kind),
        Abs::Class(class) if class.exception.is_some() => out.1.push(Rc::clone(class)),
        Abs::Tuple(items) => return items.iter().try_for_each(|item| exception_classes(item, out)),
        Abs::Const(Object::Tuple(items)) if items.is_empty() => {}
        _ => return None,
    }
    Some(())
}
