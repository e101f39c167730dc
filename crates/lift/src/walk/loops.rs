//! Loops.
//!
//! A loop is lifted speculatively: first as if no variable changed from one turn to the
//! next; variables that did change at the back edge become parameters of the header, with
//! the union of the types seen, and the loop is lifted again until nothing changes. The
//! types only grow, so this ends. What an attempt found is remembered by place, so that
//! an inner loop converges at once when the outer one is lifted again.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::choice::Choice;
use crate::data::lists::add_sites;
use crate::objects::heap::{Instance, cells, is_dropped, is_own};
use crate::objects::merge::differing;
use crate::tree::ast::{Name, Stmt, Turns};
use crate::walk::lifter::{Carried, Ctx, Frame, Lift, Lifter, Split};
use exuvia_ir::{BlockId, Object, Opcode, Type, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Attempts at one loop.
const MAX_ATTEMPTS: usize = 64;

/// A variable: the frame and the name.
type Variable = (usize, Name);

/// A variable, its parameter of the header, and between what it chooses if it is a position.
type Parameter = (Variable, Value, Option<Vec<(i64, Abs)>>);

/// Variables that are not read before they are assigned again hold what nobody could read.
fn end_lives(frames: &mut [Frame], frame: usize, names: &[Name]) {
    if let Some(frame) = frames.get_mut(frame) {
        names.iter().for_each(|name| {
            frame.vars.insert(name.clone(), Abs::Conflict);
        });
    }
}

/// What the attempts at a loop found.
#[derive(Default)]
struct Found {
    /// Variables that change from turn to turn.
    carried: BTreeMap<Variable, Carried>,
    /// Variables that hold another object from turn to turn: those hold one of the loop's own.
    renewed: Vec<Variable>,
    /// Objects that are run-time values from before the loop on, by the variables that say that
    /// they exist.
    escaped: Vec<Name>,
    /// Variables of which the objects are so.
    escaping: Vec<Variable>,
    /// Variables that hold tuples of other lengths from turn to turn.
    lengthened: Vec<Variable>,
}

impl Found {
    /// How many facts about objects there are.
    fn objects(&self) -> usize {
        self.renewed.len() + self.escaped.len() + self.escaping.len() + self.lengthened.len()
    }
}

impl Lifter<'_> {
    /// Lifts a loop: while `more` is true, `turn`.
    pub fn run_loop(
        &mut self,
        more: &mut dyn FnMut(&mut Self) -> Lift<Abs>,
        turn: &mut dyn FnMut(&mut Self) -> Lift<()>,
    ) -> Lift<()> {
        self.run_split_loop(
            &mut |me| {
                let more = more(me)?;
                me.split_value(&more)
            },
            turn,
        )
    }

    /// Lifts a loop whose condition splits the state.
    pub fn run_split_loop(
        &mut self,
        condition: &mut dyn FnMut(&mut Self) -> Lift<Split>,
        turn: &mut dyn FnMut(&mut Self) -> Lift<()>,
    ) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        let frame = self.frames.get(self.current);
        let key = (frame.map_or(0, |f| f.module), self.place, frame.map_or(0, |f| f.path));
        let hidden = self.hidden;
        let known = self.carried.get(&key).cloned();
        let mut advancing = std::mem::take(&mut self.advancing);
        if known.is_some() {
            advancing.clear();
        }
        let mut found = Found { carried: known.unwrap_or_default(), ..Found::default() };
        // Hidden variables of another attempt may have had other numbers.
        found.carried.retain(|(depth, name), _| {
            !name.starts_with('.') || self.frames.get(*depth).is_some_and(|frame| frame.vars.contains_key(name))
        });
        let at = (self.place, self.b.span);
        for _ in 0..MAX_ATTEMPTS {
            self.back_to(at);
            let saved = self.save();
            let objects = found.objects();
            self.hidden = hidden;
            let own = self.before_loop(&mut found)?;
            let (header, params) = self.header(&found.carried)?;
            let at_header = self.frames.clone();
            // Those that the turn changes are copied.
            self.world.budget.take(self.frames.iter().map(|frame| frame.vars.len()).sum());
            let (yes, no) = condition(self)?;
            // Where there are turns, what they advance is carried from the first attempt on.
            if !yes.is_empty() && !advancing.is_empty() {
                for variable in advancing.drain(..) {
                    let held = at_header.get(variable.0).and_then(|frame| frame.vars.get(&variable.1));
                    if let Some(held) = held
                        && matches!(self.type_of(held), Some(Type::Int | Type::Float | Type::Str))
                    {
                        let how = self.carry(None, held);
                        found.carried.entry(variable).or_insert(how);
                    }
                }
                self.rollback(saved);
                continue;
            }
            self.enter_any(yes)?;
            if self.live {
                turn(self)?;
            }
            if self.live && self.grows(&mut found, &at_header, &own)? {
                self.rollback(saved);
                if objects != found.objects() {
                    // The hidden variables of loops within have other numbers then.
                    self.carried.clear();
                }
                self.carried.insert(key, found.carried.clone());
                continue;
            }
            if self.live {
                self.jump_back(header, &params)?;
            }
            self.carried.insert(key, found.carried);
            return self.enter_any(no);
        }
        self.bail(Code::Join, "the types of a loop's variables do not settle")
    }

    /// Makes objects run-time values, or the loop's own: those are returned.
    fn before_loop(&mut self, found: &mut Found) -> Lift<Vec<Option<Rc<Instance>>>> {
        for (depth, name) in &found.lengthened {
            if let Some(items) = self.frames[*depth].vars.get(name).cloned().and_then(|held| self.known_items(&held)) {
                let held = self.lengthened(&items)?;
                self.frames[*depth].vars.insert(name.clone(), held);
            }
        }
        for name in &found.escaped {
            if let Some(object) = self.objects.get(name).cloned() {
                self.escape(&object)?;
            }
        }
        for (depth, name) in &found.escaping {
            self.own_value(*depth, name)?;
            if let Some(Abs::Instance(object)) = self.frames[*depth].vars.get(name).cloned() {
                self.may_escape(&object)?;
            }
        }
        self.world.budget.take(8 * found.carried.len());
        let own = found.renewed.iter().map(|(depth, name)| self.rename_object(*depth, name));
        let own = own.collect::<Lift<Vec<_>>>()?;
        for (variable, _) in found.renewed.iter().zip(&own).filter(|(_, object)| object.is_none()) {
            let held = self.frames[variable.0].vars.get(&variable.1).cloned();
            if let Some(Abs::Instance(object)) = held
                && !self.may_escape(&object)?
            {
                found.carried.insert(variable.clone(), Carried::Conflict);
            }
        }
        // The types of what comes in may be wider than what an earlier attempt saw.
        for ((depth, name), how) in &mut found.carried {
            let frame = self.frames.get(*depth);
            let abs = frame.and_then(|frame| frame.vars.get(name)).cloned().unwrap_or(Abs::Unbound);
            let abs = self.for_loop(how, abs)?;
            *how = self.carry(Some(how), &abs);
        }
        Ok(own)
    }

    /// Where what is carried is an object at run time, so will be what comes in or takes its place.
    fn for_loop(&mut self, how: &Carried, abs: Abs) -> Lift<Abs> {
        match (how, &abs) {
            (Carried::Param(ty), Abs::Instance(object))
                if ty.alternatives().iter().any(Type::is_object)
                    && self.is_static_object(&abs)
                    && self.may_escape(object)? =>
            {
                self.escaped(&abs)
            }
            _ => Ok(abs),
        }
    }

    /// Begins a loop's header, with parameters for the variables that change.
    fn header(&mut self, carried: &BTreeMap<Variable, Carried>) -> Lift<(BlockId, Vec<Parameter>)> {
        let header = self.b.function.new_block();
        let mut args = Vec::new();
        let mut params = Vec::new();
        let frames = self.frames.len();
        for ((depth, name), how) in carried.iter().filter(|((depth, _), _)| *depth < frames) {
            let abs = self.frames[*depth].vars.get(name).cloned().unwrap_or(Abs::Unbound);
            let inside = match how {
                Carried::Param(ty) => {
                    let value = self.value_as(&abs, ty)?;
                    args.push(value);
                    let param = self.b.function.add_param(header, ty.clone());
                    let sites = self.sites_of(value);
                    self.sites.insert(param, sites);
                    params.push(((*depth, name.clone()), param, None));
                    Abs::Dyn(param)
                }
                Carried::Choice(of) => match self.position_in(&abs, of)? {
                    Some(at) => {
                        args.push(at);
                        let param = self.b.function.add_param(header, Type::Int);
                        params.push(((*depth, name.clone()), param, Some(of.clone())));
                        Abs::OneOf(Rc::new(Choice { at: param, of: of.clone() }))
                    }
                    None => Abs::Conflict,
                },
                Carried::Conflict => Abs::Conflict,
            };
            self.frames[*depth].vars.insert(name.clone(), inside);
        }
        self.b.jump(header, args);
        self.b.block = header;
        Ok((header, params))
    }

    /// Whether the end of a turn says more of the variables than was found before.
    fn grows(&mut self, found: &mut Found, at_header: &[Frame], own: &[Option<Rc<Instance>>]) -> Lift<bool> {
        self.frames.truncate(at_header.len());
        self.forget_objects(at_header)?;
        self.back_into(&found.renewed, own)?;
        let changes = self.changes_since(at_header);
        let became_value = |(variable, before, now): &&(Variable, Abs, Abs)| {
            is_own(&variable.1) && matches!(now, Abs::Dyn(_)) && before.same(&Abs::NONE)
        };
        let became: Vec<Name> = changes.iter().filter(became_value).map(|change| change.0.1.clone()).collect();
        if !became.is_empty() {
            found.escaped.extend(became);
            return Ok(true);
        }
        let mut grown = false;
        for (variable, before, now) in changes {
            if matches!(now, Abs::Instance(_)) {
                self.changes(&before)?;
            }
            if self.changes_length(&before, &now) && !found.lengthened.contains(&variable) {
                found.lengthened.push(variable);
                grown = true;
                continue;
            }
            let is_new = !found.renewed.contains(&variable) && !found.carried.contains_key(&variable);
            let escapes = self.is_static_object(&before)
                && (self.type_of(&now).is_some() || self.is_static_object(&now))
                && !found.escaping.contains(&variable);
            if self.are_alike(&before, &now) && is_new && !(escapes && self.holds_its_kind(&now)) {
                found.renewed.push(variable);
                grown = true;
                continue;
            }
            if escapes {
                found.escaping.push(variable);
                grown = true;
                continue;
            }
            let old = found.carried.get(&variable).cloned();
            let first = old.clone().unwrap_or_else(|| self.carry(None, &before));
            let now = self.for_loop(&first, now)?;
            let new = self.carry(Some(&first), &now);
            if let Carried::Param(ty) = &new {
                self.settle_nested(ty)?;
            }
            if old.as_ref() != Some(&new) {
                found.carried.insert(variable, new);
                grown = true;
            }
        }
        Ok(grown)
    }

    /// Whether what was a tuple of known length is one of another length, or of one that only a row decides.
    fn changes_length(&self, before: &Abs, now: &Abs) -> bool {
        let lengths = |abs: &Abs| match (abs, self.type_of(abs)) {
            (Abs::Tuple(items), _) => vec![Some(items.len())],
            (_, Some(ty)) => {
                let length = |ty: &Type| if let Type::Tuple(types) = ty { Some(types.len()) } else { None };
                ty.alternatives().iter().map(length).collect()
            }
            _ => vec![None],
        };
        let (before, now_is_long) = (lengths(before), self.is_long_tuple(now));
        let [Some(length)] = before[..] else { return false };
        now_is_long || {
            let now = lengths(now);
            now.iter().all(Option::is_some) && now.iter().any(|other| *other != Some(length))
        }
    }

    /// Whether both are objects of one class that the function owns, or can.
    fn are_alike(&self, before: &Abs, now: &Abs) -> bool {
        match (before, now) {
            (Abs::Instance(a), Abs::Instance(b)) if a.module.is_none() && b.module.is_none() => {
                a.class.is(&b.class) && self.is_static_object(before) && self.is_static_object(now)
            }
            _ => self.is_value_object(before) && self.is_value_object(now),
        }
    }

    /// Whether an attribute of an object is another of its class, as that of `node = Node(item, node)`.
    fn holds_its_kind(&self, abs: &Abs) -> bool {
        let (Abs::Instance(object), Some(frame)) = (abs, self.frames.first()) else { return false };
        let is_it = |held: &Abs| matches!(held, Abs::Instance(other) if other.class.is(&object.class));
        cells(&frame.vars, object).any(|(name, held)| !is_own(name) && is_it(held))
    }

    /// The variables that hold something else than at the header, with both.
    fn changes_since(&self, at_header: &[Frame]) -> Vec<(Variable, Abs, Abs)> {
        let mut changes = Vec::new();
        for (depth, (frame, before)) in self.frames.iter().zip(at_header).enumerate() {
            self.world.budget.take(frame.vars.len());
            for name in differing(&[&before.vars, &frame.vars]) {
                if is_dropped(&name, [&before.vars, &frame.vars].into_iter()) {
                    continue;
                }
                let now = frame.vars.get(&name).cloned().unwrap_or(Abs::Unbound);
                let before = before.vars.get(&name).cloned().unwrap_or(Abs::Unbound);
                if !now.same(&before) {
                    changes.push(((depth, name), before, now));
                }
            }
        }
        changes
    }

    /// Ends a turn.
    fn jump_back(&mut self, header: BlockId, params: &[Parameter]) -> Lift<()> {
        self.b.effect(Opcode::Poll, vec![], None);
        let mut args = Vec::new();
        for ((depth, name), param, of) in params {
            let ty = self.b.function.ty(*param).clone();
            let abs = self.frames[*depth].vars.get(name).cloned().unwrap_or(Abs::Unbound);
            if let Some(of) = of {
                match self.position_in(&abs, of)? {
                    Some(at) => args.push(at),
                    None => return self.bail(Code::Join, format!("what {name} holds in a loop does not settle")),
                }
                continue;
            }
            let value = self.value_as(&abs, &ty)?;
            let sites = self.sites_of(value);
            add_sites(self.sites.entry(*param).or_default(), &sites);
            args.push(value);
        }
        self.b.jump(header, args);
        Ok(())
    }

    /// How a variable is carried that held `abs` besides what is known of it.
    fn carry(&self, known: Option<&Carried>, abs: &Abs) -> Carried {
        let choice = |known| {
            self.joined_with(known, std::slice::from_ref(abs), &|_| false).map_or(Carried::Conflict, Carried::Choice)
        };
        let Some(ty) = self.type_of(abs).map(|ty| self.stored_type(&ty, false)) else {
            return match known {
                None => choice(Vec::new()),
                Some(Carried::Choice(known)) => choice(known.clone()),
                Some(Carried::Param(Type::None)) => choice(vec![(0, Abs::NONE)]),
                Some(Carried::Param(_) | Carried::Conflict) => Carried::Conflict,
            };
        };
        if let Some(Carried::Choice(known)) = known {
            return choice(known.clone());
        }
        if let Abs::Const(Object::List(_)) = abs {
            return Carried::Conflict;
        }
        match known {
            None => Carried::Param(ty),
            Some(Carried::Param(old)) => {
                let joined = old.join(&ty);
                let has = |f: fn(&Type) -> bool| joined.alternatives().iter().any(f);
                if has(|a| matches!(a, Type::Dict(..) | Type::Set(_))) && joined != *old {
                    return Carried::Conflict;
                }
                Carried::Param(joined)
            }
            Some(Carried::Choice(_) | Carried::Conflict) => Carried::Conflict,
        }
    }

    /// Runs a `for` or `while` statement's loop with `break` and `else`.
    pub fn loop_statement(
        &mut self,
        run: &mut dyn FnMut(&mut Self) -> Lift<()>,
        orelse: &[Stmt],
        turns: &Turns,
    ) -> Lift<()> {
        let depth = self.frames.len();
        let frame = self.current;
        self.end_lives(frame, &turns.over);
        self.advancing.extend(turns.advanced.iter().map(|name| (frame, name.clone())));
        self.contexts.push(Ctx::Loop { breaks: Vec::new(), depth });
        run(self)?;
        self.advancing.clear();
        let mut breaks = match self.contexts.pop() {
            Some(Ctx::Loop { breaks, .. }) => breaks,
            _ => return self.bail(Code::Budget, "contexts are out of step"),
        };
        for state in &mut breaks {
            end_lives(&mut state.frames, frame, &turns.left);
        }
        if self.live {
            self.stmts(orelse)?;
        }
        let mut states = breaks;
        states.extend(self.state());
        self.enter_any(states)
    }

    /// Forgets what variables hold that nothing reads before they are assigned again.
    pub fn end_lives(&mut self, frame: usize, names: &[Name]) {
        if self.live && !self.module_mode {
            end_lives(&mut self.frames, frame, names);
        }
    }

    /// Runs a loop's body with `continue`.
    pub fn loop_body(&mut self, body: &[Stmt]) -> Lift<()> {
        self.loop_turn(&mut |me| me.stmts(body))
    }

    /// Runs one turn of a loop with `continue`.
    pub fn loop_turn(&mut self, turn: &mut dyn FnMut(&mut Self) -> Lift<()>) -> Lift<()> {
        let depth = self.frames.len();
        self.contexts.push(Ctx::Body { continues: Vec::new(), depth });
        turn(self)?;
        let mut states = match self.contexts.pop() {
            Some(Ctx::Body { continues, .. }) => continues,
            _ => return self.bail(Code::Budget, "contexts are out of step"),
        };
        states.extend(self.state());
        self.enter_any(states)
    }
}
