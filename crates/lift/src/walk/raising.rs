//! Raising: the ways from an instruction or a statement to what handles its exception.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::walk::leave::end_frames;
use crate::walk::lifter::{Ctx, Lift, Lifter, Pending, Returns, State};
use exuvia_ir::{Edge, ExcKind, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::def::{Effect, OpDef};

impl Lifter<'_> {
    /// The edge that an instruction takes when it raises: to a fresh block from which the
    /// innermost handler collects; `None` where there is no handler.
    fn landing(&mut self, kinds: Option<Vec<ExcKind>>) -> Option<Edge> {
        let at = self.contexts.iter().rposition(|ctx| matches!(ctx, Ctx::Try { .. }))?;
        let block = self.b.function.new_block();
        let exc = self.b.function.add_param(block, Type::Exc);
        let mut frames = self.copied_frames();
        // Each way to a handler has variables of its own, which are compared with those of the others.
        self.world.budget.take(frames.iter().map(|frame| frame.vars.len()).sum());
        if let Ctx::Try { pending, depth } = &mut self.contexts[at] {
            end_frames(&mut frames, *depth, &self.makers, &self.world.budget);
            if self.live {
                pending.push(Pending { state: State { block, frames }, exc: Abs::Dyn(exc), kinds });
            }
        }
        Some(Edge { block, args: vec![] })
    }

    /// Appends an instruction that may raise one of `kinds` (`None`: anything).
    pub fn inst(&mut self, op: Opcode, args: Vec<Value>, ty: Type, kinds: Option<&[ExcKind]>) -> Lift<Value> {
        let unwind = match kinds {
            Some([]) => None,
            Some(kinds) => self.landing(Some(kinds.to_vec())),
            None => self.landing(None),
        };
        Ok(self.b.inst(op, args, ty, unwind))
    }

    /// Appends an operation; the operands have the types that it wants.
    pub fn operation(&mut self, def: &'static OpDef, args: Vec<Value>) -> Lift<Value> {
        if def.name == "exc.message"
            && let Some(text) = args.first().and_then(|exc| self.messages.get(exc)).cloned()
        {
            return self.told(def, args, text);
        }
        let types: Vec<Type> = args.iter().map(|value| self.b.function.ty(*value).clone()).collect();
        let is_plain = |ty: &Type| matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float | Type::Str);
        let teller = (!def.effect.writes() && types.iter().all(is_plain)).then(|| args.clone());
        let index = args.get(1).copied().filter(|_| def.name == "list.get");
        let made = self.inst(Opcode::Op(def.name), args, (def.result)(&types), Some(def.raises))?;
        let unwind = self.b.function.block(self.b.block).insts.last().and_then(|inst| inst.unwind.as_ref());
        if let Some(landing) = unwind {
            let exc = self.b.function.block(landing.block).params[0];
            if let Some(args) = teller {
                self.tellers.insert(exc, (def.name, args));
            } else if let Some(index) = index
                && let Some(told) = exuvia_ops::by_name("list.no_item")
            {
                // Whatever the list holds.
                self.tellers.insert(exc, (told.name, vec![index]));
            }
        }
        if def.effect == Effect::Alloc && !self.module_mode && matches!(self.b.function.ty(made), Type::List(_)) {
            let list = self.placed_list(&Abs::Dyn(made))?;
            return self.value(&list);
        }
        Ok(made)
    }

    /// Raises an exception of a known class.
    pub fn raise(&mut self, kind: ExcKind, args: Vec<Abs>) -> Lift<()> {
        let unnamed = |arg: &Abs| matches!(arg, Abs::Const(Object::Str(text)) if text.contains(exuvia_ir::UNNAMED));
        if args.iter().any(unnamed) {
            return self.bail(Code::Operands, "a message that names the class of an object");
        }
        if kind == ExcKind::StopIteration {
            let is_end = |ctx: &&Ctx| matches!(ctx, Ctx::Try { .. } | Ctx::Call { .. });
            match self.contexts.iter().rev().find(is_end) {
                Some(Ctx::Call { generator: true, .. }) => {
                    return self.raise(ExcKind::RuntimeError, vec![Abs::str("generator raised StopIteration")]);
                }
                // What called the method waits for it.
                Some(Ctx::Call { .. }) if self.ends_an_iterator() => {}
                // It may end a `map`, or become another exception in a generator expression.
                Some(Ctx::Call { .. }) => return self.bail(Code::Statement, "StopIteration leaves a function"),
                None if matches!(self.returns, Returns::Typed { .. }) => {
                    return self.bail(Code::Statement, "StopIteration leaves a function");
                }
                _ => {}
            }
        }
        let caught = self.contexts.iter().any(|ctx| matches!(ctx, Ctx::Try { .. }));
        let args = match &args[..] {
            // Nothing but the message is seen of it.
            [arg @ Abs::Instance(object)] if !caught && object.class.prelude && kind != ExcKind::KeyError => {
                let text = self.text_of(arg)?;
                if !self.live {
                    return Ok(());
                }
                vec![text]
            }
            _ => args,
        };
        let values = args.iter().map(|arg| self.value(arg)).collect::<Lift<Vec<_>>>()?;
        if values.iter().any(|value| !self.b.function.ty(*value).has_repr()) {
            let span = self.b.span;
            self.end(match self.nobody_asks_which() && !caught && kind.becomes_null() {
                true => Terminator::Raise(kind, Vec::new(), span),
                // Only CPython has the text.
                false => Terminator::Bailout("an exception with an object", span),
            });
            return Ok(());
        }
        if !caught {
            let span = self.b.span;
            self.end(Terminator::Raise(kind, values, span));
            return Ok(());
        }
        let exc = self.b.inst(Opcode::NewExc(kind), values, Type::Exc, None);
        if let Some(text) = self.message_of(kind, &args)? {
            self.messages.insert(exc, text);
        }
        if self.world.asks_arguments && !Self::has_other_arguments(kind) {
            self.arguments.insert(exc, Abs::tuple(args));
        }
        self.throw(Abs::Dyn(exc), Some(vec![kind]));
        Ok(())
    }

    /// Whether the function that is unfolded here was called by a function of the prelude that catches
    /// what it raises.
    fn ends_an_iterator(&self) -> bool {
        let call = self.contexts.iter().rposition(|ctx| matches!(ctx, Ctx::Call { .. }));
        let around = call.and_then(|at| self.contexts.get(at.checked_sub(1)?));
        let Some(Ctx::Try { depth, .. }) = around else { return false };
        depth.checked_sub(1).and_then(|at| self.frames.get(at)).is_some_and(|frame| self.in_prelude(frame.module))
    }

    /// Whether an exception that is raised here leaves the body of a generator, which a
    /// `StopIteration` does not as such (language reference, 6.2.9.1).
    fn leaves_generator(&self) -> bool {
        let end =
            self.contexts.iter().rev().find(|ctx| matches!(ctx, Ctx::Try { .. } | Ctx::Call { generator: true, .. }));
        matches!(end, Some(Ctx::Call { .. }))
    }

    /// Raises an exception with one message.
    pub fn raise_message(&mut self, kind: ExcKind, message: &str) -> Lift<Abs> {
        self.raise(kind, vec![Abs::str(message)])?;
        Ok(Abs::Unbound)
    }

    /// Raises an exception again that may be any.
    pub fn rethrow(&mut self, exc: Abs) -> Lift<()> {
        if self.world.stops && self.leaves_generator() {
            return self.bail(Code::Statement, "an exception that may be StopIteration leaves a generator");
        }
        self.throw(exc, None);
        Ok(())
    }

    /// Whether nobody asks for an exception that leaves what is lifted: a handler whose errors are NULL.
    fn nobody_asks_which(&self) -> bool {
        self.world.errors_are_null && matches!(self.returns, Returns::Sql(_))
    }

    /// Sends an exception object to the innermost handler, or out of the function.
    pub fn throw(&mut self, exc: Abs, kinds: Option<Vec<ExcKind>>) {
        let state = self.state();
        match self.contexts.iter_mut().rev().find(|ctx| matches!(ctx, Ctx::Try { .. })) {
            Some(Ctx::Try { pending, depth }) => {
                if let Some(mut state) = state {
                    end_frames(&mut state.frames, *depth, &self.makers, &self.world.budget);
                    pending.push(Pending { state, exc, kinds });
                }
                self.die();
            }
            _ => {
                if let Abs::Instance(object) = &exc {
                    let span = self.b.span;
                    let kind = object.class.exception.filter(|kind| kind.becomes_null());
                    self.end(match kind.filter(|_| self.nobody_asks_which()) {
                        Some(kind) => Terminator::Raise(kind, Vec::new(), span),
                        // The class has no number by which this rung could tell of it.
                        None => Terminator::Bailout("an exception of a class of the module", span),
                    });
                } else if let Abs::Dyn(value) = exc {
                    let span = self.b.span;
                    self.end(Terminator::Reraise(value, span));
                }
            }
        }
    }
}
