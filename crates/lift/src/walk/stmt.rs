//! Statements.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::tree::ast::{Expr, ExprKind, Name, Stmt, StmtKind, Turns};
use crate::walk::lifter::{Ctx, Lift, Lifter, Returns};
use exuvia_ir::{ExcKind, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Turns of a `while` that runs at the top level of a module.
const MAX_KNOWN_TURNS: usize = 5_000;

impl Lifter<'_> {
    pub fn stmts(&mut self, body: &[Stmt]) -> Lift<()> {
        let unseen = self.unseen.len();
        let lifted = self.each_stmt(body);
        self.unseen.truncate(unseen);
        lifted
    }

    fn each_stmt(&mut self, body: &[Stmt]) -> Lift<()> {
        // The lists that are only appended to, up to a statement.
        let mut appending: Vec<(usize, Value)> = Vec::new();
        for (at, stmt) in body.iter().enumerate() {
            if !self.live {
                break;
            }
            appending.retain(|(end, list)| {
                let goes_on = at < *end;
                if !goes_on {
                    self.unseen.retain(|unseen| unseen != list);
                }
                goes_on
            });
            self.go_to(stmt.span);
            self.step()?;
            let held = self.held.len();
            self.stmt(stmt)?;
            self.held.truncate(held);
            for (list, behind) in self.made_to_append(stmt) {
                appending.push((at + 1 + behind, list));
                self.unseen.push(list);
            }
        }
        Ok(())
    }

    /// The lists that a statement has just made, and how many statements behind it only append to each.
    fn made_to_append(&self, stmt: &Stmt) -> Vec<(Value, usize)> {
        let (StmtKind::Assign { appending, .. }, Some(frame), true) =
            (&stmt.kind, self.frames.get(self.current), self.live)
        else {
            return Vec::new();
        };
        let list = |(name, behind): &(Name, usize)| match frame.vars.get(name) {
            Some(Abs::Dyn(list)) => Some((*list, *behind)),
            _ => None,
        };
        appending.iter().filter_map(list).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lift<()> {
        match &stmt.kind {
            StmtKind::Expr(value) => {
                self.expr(value)?;
                Ok(())
            }
            StmtKind::Assign { targets, value, .. } => {
                if self.module_mode && self.is_alias(value) {
                    let alias = Abs::Module("typing.Any".into());
                    return targets.iter().try_for_each(|target| self.assign(target, alias.clone()));
                }
                let changed = self.changed_document(targets, value);
                let mut value = self.expr(value)?;
                if let Some(changed) = changed {
                    value = self.changeable(value, changed)?;
                }
                for target in targets {
                    self.assign(target, value.clone())?;
                }
                Ok(())
            }
            StmtKind::AugAssign { target, op, value } => self.aug_assign(target, op, value),
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) => self.expr(value)?,
                    None => Abs::NONE,
                };
                // Nothing comes between the end of the handler and the use of its result.
                if !self.is_last() {
                    self.kept(&value)?;
                }
                let value = self.collected().unwrap_or(value);
                self.return_(value)
            }
            StmtKind::If { test, body, orelse } => {
                let held = self.held.len();
                let (yes, no) = self.split(test)?;
                self.held.truncate(held);
                self.enter_any(yes)?;
                self.stmts(body)?;
                let mut states: Vec<_> = self.state().into_iter().collect();
                self.enter_any(no)?;
                self.stmts(orelse)?;
                states.extend(self.state());
                self.enter_any(states)
            }
            StmtKind::While { test, body, orelse, turns } => {
                self.while_(test, orelse, turns, &mut |me| me.loop_body(body))
            }
            StmtKind::For { target, iter, body, orelse, turns } => {
                self.go_to(stmt.span);
                self.for_((target, iter), orelse, turns, &mut |me| me.loop_body(body))
            }
            StmtKind::Break => {
                self.leave(|ctx| matches!(ctx, Ctx::Loop { .. }))?;
                Ok(())
            }
            StmtKind::Continue => {
                self.leave(|ctx| matches!(ctx, Ctx::Body { .. }))?;
                Ok(())
            }
            StmtKind::Yield { value, from } if self.collected().is_some() => self.collect_yielded(value, *from),
            StmtKind::Yield { .. } => self.bail(Code::Statement, "yield within such a statement"),
            // Its names are no locals: what assigns to them looks around.
            StmtKind::Pass | StmtKind::Nonlocal(_) => Ok(()),
            StmtKind::Annotation(annotation) if self.module_mode && self.current == 0 => self.annotation(annotation),
            // A function does not evaluate its variables' annotations.
            StmtKind::Annotation(_) => Ok(()),
            StmtKind::ClassDef(def) => self.class_statement(def, &def.decorators),
            StmtKind::FunctionDef(def) => {
                let made = self.decorated(def)?;
                self.bind_name(&def.name, made)?;
                Ok(())
            }
            StmtKind::Raise { exc, cause } => self.raise_statement(exc.as_ref(), cause.as_ref()),
            StmtKind::Assert { test, msg } => {
                let (yes, no) = self.split(test)?;
                self.enter_any(no)?;
                if self.live {
                    let args = match msg {
                        Some(msg) => vec![self.expr(msg)?],
                        None => vec![],
                    };
                    self.raise(ExcKind::AssertionError, args)?;
                }
                self.enter_any(yes)
            }
            StmtKind::Try { body, handlers, orelse, finalbody } => self.try_(body, handlers, orelse, finalbody),
            StmtKind::Import { module, asname } => {
                let bound = self.import(module)?;
                self.bind_name(asname, bound)?;
                Ok(())
            }
            StmtKind::ImportFrom { module, name, asname } => {
                self.import(module)?;
                // A feature that Python does not know was an error of syntax.
                let ignored = &**module == "__future__" || crate::tree::annotation::generic(module, name).is_some();
                if ignored {
                    self.bind_name(asname, Abs::Module(format!("{module}.{name}").into()))?;
                    return Ok(());
                }
                let found = self.attribute(Abs::Module(module.clone()), name);
                match found {
                    Ok(found) => self.bind_name(asname, found)?,
                    // At the top level a name that is not lifted matters only where it is used.
                    Err(crate::walk::lifter::Stop::Bailout(_))
                        if self.module_mode && crate::tree::standard::has_name(module, name) =>
                    {
                        self.bind_name(asname, Abs::Module(format!("{module}.{name}").into()))?;
                    }
                    Err(stop) => return Err(stop),
                }
                Ok(())
            }
            StmtKind::Delete(targets) => {
                for target in targets {
                    match &target.kind {
                        ExprKind::Name(name) => {
                            let global = self.variable(name).is_none();
                            if global && matches!(self.lookup(name), None | Some(Abs::Unbound)) {
                                // A built-in of that name is no variable.
                                self.raise_message(ExcKind::NameError, &format!("name '{name}' is not defined"))?;
                            }
                            self.read(name)?;
                            self.bind_name(&name.clone(), Abs::Unbound)?;
                        }
                        ExprKind::Attribute { value, name } => {
                            let object = self.expr(value)?;
                            match &object {
                                _ if !self.live => {}
                                Abs::Instance(object) => self.delete_attribute(&Rc::clone(object), name)?,
                                _ => return self.bail(Code::Statement, "del of an attribute"),
                            }
                        }
                        ExprKind::Subscript { value, index } => {
                            let container = self.expr(value)?;
                            if let Some([lower, upper, step]) = self.bounds(index)? {
                                self.store_slice("del a[b:c:d]", vec![container, lower, upper, step])?;
                                continue;
                            }
                            let index = self.expr(index)?;
                            self.delete_item(container, index)?;
                        }
                        _ => return self.bail(Code::Statement, "del of an element"),
                    }
                }
                Ok(())
            }
            StmtKind::Unsupported { what, .. } => self.bail(Code::Statement, *what),
        }
    }

    /// A module of the standard library is certainly there; of another only CPython knows.
    fn import(&mut self, module: &Name) -> Lift<Abs> {
        // CPython, where there is one, runs the module of a function that imports them.
        let known = crate::tree::source::is_lifted(module) && (self.module_mode || self.world.imports.contains(module));
        self.world.unchecked |= known;
        if !known && !crate::tree::standard::is_module(module) {
            return self.bail(Code::Import, format!("import of {module}"));
        }
        Ok(Abs::Module(module.clone()))
    }

    /// A `for` statement whose turns are `turn`.
    pub fn for_(
        &mut self,
        (target, iter): (&Expr, &Expr),
        orelse: &[Stmt],
        turns: &Turns,
        turn: &mut dyn FnMut(&mut Self) -> Lift<()>,
    ) -> Lift<()> {
        let span = self.place;
        let frame = self.current;
        let changed = self.changed_document(std::slice::from_ref(target), iter);
        let iterable = self.iterated(iter)?;
        self.loop_statement(
            &mut |me| {
                me.go_to(span);
                me.for_each(&iterable, &mut |me, item| {
                    let item = match changed {
                        Some(changed) => me.changeable(item, changed)?,
                        None => item,
                    };
                    me.assign(target, item)?;
                    turn(me)?;
                    me.end_lives(frame, &turns.over);
                    me.go_to(span);
                    Ok(())
                })
            },
            orelse,
            turns,
        )
    }

    /// The turns of a `while` where a module is run: each is decided by constants.
    fn while_known(&mut self, test: &Expr, turn: &mut dyn FnMut(&mut Self) -> Lift<()>) -> Lift<()> {
        let mut turns = 0;
        while self.live {
            turns += 1;
            if turns > MAX_KNOWN_TURNS {
                return self.bail(Code::Budget, "a loop at the top level takes too many turns");
            }
            self.turn_at_top_level()?;
            let held = self.held.len();
            let split = self.split(test);
            self.held.truncate(held);
            let (yes, no) = split?;
            match (yes.is_empty(), no.is_empty()) {
                (false, true) => self.enter_any(yes)?,
                (true, _) => return self.enter_any(no),
                (false, false) => {
                    return self.bail(Code::ModuleBody, "a loop at the top level is not over constants");
                }
            }
            turn(self)?;
        }
        Ok(())
    }

    /// A `while` statement whose turns are `turn`.
    pub fn while_(
        &mut self,
        test: &Expr,
        orelse: &[Stmt],
        turns: &Turns,
        turn: &mut dyn FnMut(&mut Self) -> Lift<()>,
    ) -> Lift<()> {
        let span = self.place;
        let frame = self.current;
        self.loop_statement(
            &mut |me| {
                if me.module_mode {
                    return me.while_known(test, turn);
                }
                me.go_to(span);
                let held = me.held.len();
                let condition = &mut |me: &mut Self| {
                    let split = me.split(test);
                    me.held.truncate(held);
                    split
                };
                me.run_split_loop(condition, &mut |me| {
                    turn(me)?;
                    me.end_lives(frame, &turns.over);
                    me.go_to(span);
                    Ok(())
                })
            },
            orelse,
            turns,
        )
    }

    // ---- leaving ----

    /// Whether a return here leaves the handler, and nothing of the user's runs before it has.
    fn is_last(&self) -> bool {
        let goes_on = |ctx: &Ctx| matches!(ctx, Ctx::Call { .. } | Ctx::Try { .. } | Ctx::Finally { .. });
        matches!(self.returns, Returns::Sql(_)) && !self.contexts.iter().any(goes_on)
    }

    fn return_(&mut self, value: Abs) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        if let Some(Ctx::Finally { body, depth }) = self.finally_before(|ctx| matches!(ctx, Ctx::Call { .. })) {
            // The value is kept in a variable while `finally` runs.
            let hidden = self.hidden_name("ret");
            let base = depth - 1;
            self.frames[base].vars.insert(hidden.clone(), value);
            let kept = self.run_finally(&body)?;
            let value = self.frames[base].vars.get(&hidden).cloned().unwrap_or(Abs::NONE);
            let result = if self.live { self.return_(value) } else { Ok(()) };
            self.contexts.extend(kept);
            return result;
        }
        if self.contexts.iter().any(|ctx| matches!(ctx, Ctx::Call { .. })) {
            self.leave_call(value);
            return Ok(());
        }
        self.leave_function(value)
    }

    /// The innermost `finally` that lies within what is left.
    fn finally_before(&self, target: impl Fn(&Ctx) -> bool) -> Option<Ctx> {
        for ctx in self.contexts.iter().rev() {
            if target(ctx) {
                return None;
            }
            if matches!(ctx, Ctx::Finally { .. }) {
                return Some(ctx.clone());
            }
        }
        None
    }

    /// Runs a `finally` body outside of its own `try`; returns the contexts taken off,
    /// to be put back when the jump is done.
    fn run_finally(&mut self, body: &Arc<[Stmt]>) -> Lift<Vec<Ctx>> {
        let at = self.contexts.iter().rposition(|ctx| matches!(ctx, Ctx::Finally { .. })).unwrap_or(0);
        let kept = self.contexts.split_off(at);
        if let Some(Ctx::Finally { depth, .. }) = kept.first() {
            self.end_frames(*depth);
        }
        self.stmts(body)?;
        Ok(kept)
    }

    /// `break` and `continue`.
    fn leave(&mut self, target: impl Fn(&Ctx) -> bool + Copy) -> Lift<()> {
        if let Some(Ctx::Finally { body, .. }) = self.finally_before(target) {
            let kept = self.run_finally(&body)?;
            let result = if self.live { self.leave(target) } else { Ok(()) };
            self.contexts.extend(kept);
            return result;
        }
        let state = self.state();
        match self.contexts.iter_mut().rev().find(|ctx| target(ctx)) {
            Some(Ctx::Loop { breaks: states, depth, .. } | Ctx::Body { continues: states, depth }) => {
                if let Some(mut state) = state {
                    crate::walk::leave::end_frames(&mut state.frames, *depth, &self.makers, &self.world.budget);
                    states.push(state);
                }
            }
            _ => return self.bail(Code::Statement, "break or continue outside of a loop"),
        }
        self.die();
        Ok(())
    }
}
