//! Generator functions: their bodies run in place of the loop that takes what they yield.
//!
//! A call of one gives an iterator that is used up by its first user, as a generator expression is.
//! There the body is unfolded, and each `yield` is followed by what the user does with a value. That
//! is code of the user's: it leaves its own loops and handlers, and returns from its own function.

use crate::abs::{Abs, Closure};
use crate::bailout::Code;
use crate::calls::call::{MAX_DEPTH, mix};
use crate::tree::ast::{Name, Stmt, StmtKind};
use crate::walk::iterate::is_call;
use crate::walk::lifter::{Ctx, Lift, Lifter};
use std::rc::Rc;
use std::sync::Arc;

impl Lifter<'_> {
    /// Runs the body of a generator function; `each` takes what it yields.
    pub fn run_generator(
        &mut self,
        closure: &Rc<Closure>,
        args: &[(Name, Abs)],
        each: &mut dyn FnMut(&mut Self, Abs) -> Lift<()>,
    ) -> Lift<()> {
        let def = Arc::clone(&closure.def);
        let only_listed = std::mem::take(&mut self.only_listed);
        let recurses = self.unfolding.contains(&closure.identity());
        if (recurses || crate::calls::keep::is_collected(&def))
            && let Some(items) = self.items_of_call(closure, args, only_listed)?
        {
            return self.for_each(&items, each);
        }
        if recurses
            && let Some(sites) = self.reads_of_generator(closure, args)
            && let Some(items) = self.items_read_before(closure, args)?
        {
            return self.watching(sites, &mut |me| me.for_each(&items, each));
        }
        if recurses {
            return self.bail(Code::Recursion, format!("{} is a generator that calls itself", def.name));
        }
        if self.unfolding.len() >= MAX_DEPTH {
            return self.bail(Code::Budget, "calls nest too deeply");
        }
        let (depth, consumer) = (self.frames.len(), self.current);
        let (contexts, unfolding) = (self.contexts.len(), self.unfolding.len());
        let path = mix(self.frames.get(consumer).map_or(0, |frame| frame.path), self.place.start);
        let outer = (self.span_locked, self.b.span, self.place);
        self.frames.push(closure.frame(args.iter().cloned().collect(), path));
        self.makes(depth, false);
        self.current = depth;
        self.contexts.push(Ctx::Call { returns: Vec::new(), depth, generator: true });
        self.unfolding.push(closure.identity());
        self.span_locked = self.in_prelude(closure.module);
        let ran = self.yielding(&def.body, only_listed, &mut |me, value| {
            if crate::walk::leave::refers_to(&value, depth, &me.world.budget) {
                return me.bail(Code::StaticValue, "a function made within a generator outlives its turn");
            }
            let inner = me.contexts.split_off(contexts);
            let functions = me.unfolding.split_off(unfolding);
            let (locked, span, place) = (me.span_locked, me.b.span, me.place);
            (me.span_locked, me.b.span, me.place) = outer;
            me.current = consumer;
            // Lists that are made behind another `yield` are different ones.
            let result = me.apart(place.start as usize, |me| each(me, value));
            me.current = depth;
            (me.span_locked, me.b.span, me.place) = (locked, span, place);
            me.contexts.truncate(contexts);
            me.contexts.extend(inner);
            me.unfolding.truncate(unfolding);
            me.unfolding.extend(functions);
            result
        });
        self.unfolding.pop();
        (self.span_locked, self.b.span, self.place) = outer;
        ran?;
        if self.live {
            self.leave_call(Abs::NONE);
        }
        self.current = consumer;
        let Some(Ctx::Call { returns, .. }) = self.contexts.pop() else {
            return self.bail(Code::Budget, "contexts are out of step");
        };
        self.enter_any(returns.into_iter().map(|(state, _)| state).collect())
    }

    /// Statements of a generator function; `only_listed` says whether what it yields is put into a list.
    fn yielding(
        &mut self,
        body: &[Stmt],
        only_listed: bool,
        each: &mut dyn FnMut(&mut Self, Abs) -> Lift<()>,
    ) -> Lift<()> {
        for stmt in body {
            if !self.live {
                break;
            }
            if !yields(stmt) {
                self.stmts(std::slice::from_ref(stmt))?;
                continue;
            }
            self.go_to(stmt.span);
            self.step()?;
            let held = self.held.len();
            match &stmt.kind {
                StmtKind::Yield { value, from: false } => {
                    let value = self.expr(value)?;
                    if self.live {
                        each(self, value)?;
                    }
                }
                StmtKind::Yield { value, from: true } => {
                    let iterable = self.expr(value)?;
                    self.only_listed = only_listed && is_call(&iterable);
                    self.for_each(&iterable, each)?;
                    self.only_listed = false;
                }
                StmtKind::If { test, body, orelse } => {
                    let (yes, no) = self.split(test)?;
                    self.held.truncate(held);
                    self.enter_any(yes)?;
                    self.yielding(body, only_listed, each)?;
                    let mut states: Vec<_> = self.state().into_iter().collect();
                    self.enter_any(no)?;
                    self.yielding(orelse, only_listed, each)?;
                    states.extend(self.state());
                    self.enter_any(states)?;
                }
                StmtKind::For { target, iter, body, orelse, turns } if !orelse.iter().any(yields) => {
                    self.for_((target, iter), orelse, turns, &mut |me| {
                        me.loop_turn(&mut |me| me.yielding(body, only_listed, each))
                    })?;
                }
                StmtKind::While { test, body, orelse, turns } if !orelse.iter().any(yields) => {
                    let turn = &mut |me: &mut Self| me.loop_turn(&mut |me| me.yielding(body, only_listed, each));
                    self.while_(test, orelse, turns, turn)?;
                }
                _ => return self.bail(Code::Statement, "yield within such a statement"),
            }
            self.held.truncate(held);
        }
        Ok(())
    }
}

/// Whether a `yield` of the same function stands in a statement, as one.
fn yields(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Yield { .. } => true,
        kind => kind.blocks().into_iter().flatten().any(yields),
    }
}
