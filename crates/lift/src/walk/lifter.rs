//! The state of lifting one IR function: the current block, the frames of the Python
//! functions being unfolded, and the contexts to which control can leave.
//!
//! Paths are joined by [`Lifter::join`]: variables that differ become block parameters
//! whose type is the union of the paths' types. After an operation that certainly raises
//! the state is dead (`live` is false); what is lifted then goes to an unreachable block
//! and is dropped.

use crate::abs::{Abs, Closure, Enclosing};
use crate::bailout::{Bailout, Code};
use crate::calls::memo::KeptCall;
use crate::objects::class::ClassObj;
use crate::objects::heap::Instance;
use crate::tree::ast::{FunctionDef, Name, Stmt};
use crate::walk::leave::end_frames;
use crate::world::World;
use exuvia_ir::{BlockId, Builder, ExcKind, Opcode, Span, Terminator, Type, Value};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

/// Why lifting stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It cannot be lifted.
    Bailout(Bailout),
    /// A fact was found too late: lift again from the start.
    Restart,
}

impl From<Bailout> for Stop {
    fn from(bailout: Bailout) -> Self {
        Stop::Bailout(bailout)
    }
}

pub(crate) type Lift<T> = Result<T, Stop>;

/// Variables with what they hold. Copies share it until one is changed: where paths part,
/// most frames stay as they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars(Rc<BTreeMap<Name, Abs>>);

impl From<BTreeMap<Name, Abs>> for Vars {
    fn from(vars: BTreeMap<Name, Abs>) -> Vars {
        Vars(Rc::new(vars))
    }
}

impl Deref for Vars {
    type Target = BTreeMap<Name, Abs>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Vars {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Rc::make_mut(&mut self.0)
    }
}

impl Vars {
    /// Whether both are one copy: nothing differs.
    pub fn is(&self, other: &Vars) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The variables of a Python function, or of a comprehension, being unfolded.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub vars: Vars,
    /// What stays as it is: where paths part it is shared, as the variables are.
    scope: Rc<Scope>,
}

/// What a frame is but its variables.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The function that runs in it; `None` for a comprehension, a module or a class.
    pub def: Option<Arc<FunctionDef>>,
    /// Names that are local here, sorted; others are looked up around it.
    pub locals: Arc<[Name]>,
    pub enclosing: Enclosing,
    pub module: usize,
    /// Identifies the call path, so that two unfoldings of one list display differ.
    pub path: u64,
    /// Whether it is the body of a class: what it does not bind is looked for in the module.
    pub class_body: bool,
    /// Of a method the class that defines it, and its receiver: what `super()` is about.
    pub owner: Option<(Rc<ClassObj>, Abs)>,
}

impl Closure {
    /// The frame of a call.
    pub fn frame(&self, vars: BTreeMap<Name, Abs>, path: u64) -> Frame {
        let scope = Scope {
            def: Some(Arc::clone(&self.def)),
            locals: Arc::clone(&self.def.locals),
            enclosing: self.enclosing.clone(),
            module: self.module,
            path,
            class_body: false,
            owner: None,
        };
        Frame::new(vars.into(), scope)
    }
}

impl Deref for Frame {
    type Target = Scope;
    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut Scope {
        Rc::make_mut(&mut self.scope)
    }
}

impl Frame {
    pub fn new(vars: Vars, scope: Scope) -> Frame {
        Frame { vars, scope: Rc::new(scope) }
    }

    /// Whether a name is local here.
    pub fn binds(&self, name: &Name) -> bool {
        self.locals.binary_search(name).is_ok()
    }
}

/// The states in which a condition is true, and those in which it is false.
pub(crate) type Split = (Vec<State>, Vec<State>);

/// A point of control flow: an open block and the variables there.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub block: BlockId,
    pub frames: Vec<Frame>,
}

/// Lists that a generator read before its user runs.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Where they were made.
    pub sites: Vec<Site>,
    /// Whether its user may change one.
    pub changed: bool,
}

/// A raise on its way to a handler.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub state: State,
    pub exc: Abs,
    /// The classes it can have, exactly; `None`: any.
    pub kinds: Option<Vec<ExcKind>>,
}

/// Where control can go besides on. `depth` is the number of frames there.
#[derive(Clone, Debug)]
pub(crate) enum Ctx {
    /// The function itself.
    Entry,
    /// An unfolded call, or the body of a generator.
    Call { returns: Vec<(State, Abs)>, depth: usize, generator: bool },
    /// A loop statement: where `break` goes.
    Loop { breaks: Vec<State>, depth: usize },
    /// A loop's body: where `continue` goes.
    Body { continues: Vec<State>, depth: usize },
    /// A `try` with handlers.
    Try { pending: Vec<Pending>, depth: usize },
    /// A `finally` to run on the way out.
    Finally { body: Arc<[Stmt]>, depth: usize },
}

/// What [`Lifter::rollback`] restores.
#[derive(Clone)]
pub(crate) struct Saved {
    /// How many blocks and values there were, and instructions in the current block. What is
    /// older than them does not change: code is only appended.
    blocks: usize,
    values: usize,
    insts: usize,
    block: BlockId,
    frames: Vec<Frame>,
    contexts: Vec<Ctx>,
    live: bool,
    handling: Vec<Abs>,
    typed: usize,
}

/// A place in the source: a module and where in it.
pub(crate) type Place = (usize, Span);

/// Where a list was made: a place in the source and a call path.
pub(crate) type Site = (usize, Span, u64);

/// A loop in the source, on a call path.
pub(crate) type LoopKey = (usize, Span, u64);

pub(crate) struct Lifter<'w> {
    pub world: &'w mut World,
    pub b: Builder,
    pub frames: Vec<Frame>,
    /// The frame whose code is being lifted. Frames above it belong to comprehensions
    /// that feed a loop of this one.
    pub current: usize,
    /// Where the code being lifted stands. The builder's span is what errors show: inside
    /// the prelude the call of it.
    pub place: Span,
    /// The variables that each turn of the loop that comes next advances.
    pub advancing: Vec<(usize, Name)>,
    /// Whether the builder's span stays as it is.
    pub span_locked: bool,
    /// Whether an operation is being applied to the None of a nullable value.
    pub none_alternative: bool,
    /// Whether an operator is an augmented assignment's, which errors name.
    pub augmented: bool,
    pub contexts: Vec<Ctx>,
    pub live: bool,
    /// The exceptions being handled, innermost last: what a bare `raise` raises.
    pub handling: Vec<Abs>,
    /// Where a run-time list may have been made; empty where unknown.
    pub sites: HashMap<Value, Vec<Site>>,
    /// Lists that are being filled, which nobody sees before they are.
    pub unseen: Vec<Value>,
    /// Those of them that were made empty and have got the type of their elements, in this order.
    pub typed: Vec<Value>,
    /// What was around functions that keep their results when they were called, by the numbers of their memos.
    pub kept_calls: HashMap<Value, KeptCall>,
    /// The texts of caught exceptions, None where one may come from an operation.
    pub messages: HashMap<Value, Abs>,
    /// Their arguments, a tuple, where the source asks for them.
    pub arguments: HashMap<Value, Abs>,
    /// The operations that caught exceptions come from, with their operands, which can tell the text.
    pub tellers: HashMap<Value, (&'static str, Vec<Value>)>,
    /// Loop-carried variables found by earlier attempts.
    pub carried: HashMap<LoopKey, BTreeMap<(usize, Name), Carried>>,
    /// What the evaluation of the current statements holds beside variables, if it may refer to an
    /// object.
    pub held: Vec<Abs>,
    /// Loops that go over copies of arrays, which see no change of them.
    pub snapshots: usize,
    /// The lists that loops go over where a module is run, and those that are sorted, by their addresses.
    pub walked: Vec<usize>,
    /// The objects that were made, by the variables that say that they exist.
    pub objects: HashMap<Name, Rc<Instance>>,
    /// Those that are becoming run-time values.
    pub escaping: Vec<crate::objects::escape::Escaping>,
    /// How many built-in functions without a frame are calling back.
    pub built_ins: u32,
    /// Whether tuples that it returns have no known length.
    pub long_results: bool,
    /// What nobody may change while loops go over what generators gave at once.
    pub watched: Vec<Watch>,
    /// Whether the items that are asked for next are only put into a list.
    pub only_listed: bool,
    /// The unions of which one alternative is looked at.
    pub arms: u32,
    /// Why an alternative is CPython's, until its union is done with.
    pub refused: Option<Bailout>,
    /// The IR function that is lifted, where that is a specialisation.
    pub own: Option<exuvia_ir::FuncId>,
    /// Whether that is one of ever other types: what is made in it counts as made at one place.
    pub settles: bool,
    /// The variables of the functions around a specialisation that it gives back with its result.
    pub assigned: Vec<Name>,
    /// The class and the receiver of the method that is called next.
    pub next_owner: Option<(Rc<ClassObj>, Abs)>,
    /// What the next call binds to the parameter `*args` of its function.
    pub rest: Option<Abs>,
    /// What the next call binds to the parameter `**kwargs` of its function.
    pub others: Option<Abs>,
    /// Whether the next call is one with samples.
    pub samples: bool,
    /// The functions being unfolded, to detect recursion.
    pub unfolding: Vec<crate::abs::Identity>,
    /// The type of what this IR function returns, as far as known, for functions that are
    /// called; `None` for the handler.
    pub returns: Returns,
    /// Counter for hidden variables.
    pub hidden: u32,
    /// The frames, by depth, in which functions were made that see their variables.
    pub makers: Vec<bool>,
    /// Whether the module body is being run: everything must be constant.
    pub module_mode: bool,
    /// The classes that the module makes.
    pub classes: Vec<Rc<ClassObj>>,
    /// Statements run in module mode.
    pub steps: u32,
}

/// How a loop-carried variable is represented.
#[derive(Clone, Debug)]
pub(crate) enum Carried {
    /// A block parameter of that type.
    Param(Type),
    /// The position of one of those.
    Choice(Vec<(i64, Abs)>),
    /// No representation.
    Conflict,
}

impl PartialEq for Carried {
    fn eq(&self, other: &Carried) -> bool {
        match (self, other) {
            (Carried::Param(a), Carried::Param(b)) => a == b,
            // They only grow.
            (Carried::Choice(a), Carried::Choice(b)) => a.len() == b.len(),
            (Carried::Conflict, Carried::Conflict) => true,
            _ => false,
        }
    }
}

/// What becomes of a returned value.
#[derive(Clone, Debug)]
pub(crate) enum Returns {
    /// The handler: converted to the SQL type.
    Sql(crate::calls::returns::SqlReturn),
    /// A called IR function: wrapped to a type that is widened where it does not fit.
    Typed {
        /// The type of its result that calls of it assumed.
        assumed: Type,
        /// The type of what it returns.
        found: Type,
        /// Where lists that it returns were made.
        sites: Vec<Site>,
        /// What it returned each time, so far.
        values: Vec<Abs>,
    },
}

impl Returns {
    /// Of a function whose result has that type as far as known.
    pub fn typed(assumed: Type) -> Returns {
        Returns::Typed { found: assumed.clone(), assumed, sites: Vec::new(), values: Vec::new() }
    }
}

impl<'w> Lifter<'w> {
    /// At the start of a function, whose frame has its parameters.
    pub fn new(world: &'w mut World, b: Builder, frame: Frame, returns: Returns) -> Lifter<'w> {
        Lifter {
            world,
            b,
            frames: vec![frame],
            current: 0,
            none_alternative: false,
            place: Span::default(),
            advancing: Vec::new(),
            span_locked: false,
            augmented: false,
            contexts: vec![Ctx::Entry],
            live: true,
            handling: Vec::new(),
            sites: HashMap::new(),
            unseen: Vec::new(),
            typed: Vec::new(),
            messages: HashMap::new(),
            arguments: HashMap::new(),
            kept_calls: HashMap::new(),
            tellers: HashMap::new(),
            carried: HashMap::new(),
            held: Vec::new(),
            snapshots: 0,
            walked: Vec::new(),
            objects: HashMap::new(),
            escaping: Vec::new(),
            built_ins: 0,
            long_results: false,
            only_listed: false,
            watched: Vec::new(),
            arms: 0,
            refused: None,
            own: None,
            settles: false,
            assigned: Vec::new(),
            next_owner: None,
            rest: None,
            others: None,
            classes: Vec::new(),
            samples: false,
            unfolding: Vec::new(),
            returns,
            hidden: 0,
            makers: Vec::new(),
            module_mode: false,
            steps: 0,
        }
    }
}

impl Lifter<'_> {
    /// Moves to a place of the source; returns the former, for [`Lifter::back_to`].
    pub fn go_to(&mut self, span: Span) -> (Span, Span) {
        let former = (self.place, self.b.span);
        self.place = span;
        if !self.span_locked {
            self.b.span = span;
        }
        former
    }

    /// Returns to a former place.
    pub fn back_to(&mut self, former: (Span, Span)) {
        (self.place, self.b.span) = former;
    }

    pub fn bail<T>(&self, code: Code, detail: impl Into<String>) -> Lift<T> {
        Err(Bailout::new(code, self.b.span, detail).into())
    }

    // ---- blocks and states ----

    /// Continues in a block with those variables.
    pub fn enter(&mut self, state: State) {
        self.b.block = state.block;
        self.frames = state.frames;
        self.live = true;
    }

    /// The current point, if it can be reached.
    pub fn state(&self) -> Option<State> {
        self.live.then(|| State { block: self.b.block, frames: self.copied_frames() })
    }

    /// Marks what follows as unreachable.
    pub fn die(&mut self) {
        self.live = false;
        self.b.block = self.b.function.new_block();
    }

    pub fn end(&mut self, term: Terminator) {
        self.b.end(term);
        self.die();
    }

    /// Branches on a run-time bool: the states when true and when false.
    pub fn branch(&mut self, cond: Value) -> (State, State) {
        let (yes, no) = self.b.branch(cond);
        (State { block: yes, frames: self.copied_frames() }, State { block: no, frames: self.copied_frames() })
    }

    pub fn copied_frames(&self) -> Vec<Frame> {
        self.world.budget.take(self.frames.len());
        self.frames.clone()
    }

    /// Notes that a frame begins, or that a function was made in one.
    pub fn makes(&mut self, depth: usize, made: bool) {
        if self.makers.len() <= depth {
            self.makers.resize(depth + 1, false);
        }
        self.makers[depth] = made;
    }

    /// Ends the frames from `depth` on.
    pub fn end_frames(&mut self, depth: usize) {
        end_frames(&mut self.frames, depth, &self.makers, &self.world.budget);
    }

    pub fn save(&self) -> Saved {
        self.world.budget.take(self.frames.len() + 4 * self.contexts.len());
        Saved {
            blocks: self.b.function.blocks.len(),
            values: self.b.function.values.len(),
            insts: self.b.function.block(self.b.block).insts.len(),
            block: self.b.block,
            frames: self.frames.clone(),
            contexts: self.contexts.clone(),
            live: self.live,
            handling: self.handling.clone(),
            typed: self.typed.len(),
        }
    }

    pub fn rollback(&mut self, saved: Saved) {
        self.untype(saved.typed);
        let function = &mut self.b.function;
        self.world.budget.take(function.values.len() - saved.values);
        function.blocks.truncate(saved.blocks);
        function.values.truncate(saved.values);
        let block = function.block_mut(saved.block);
        block.insts.truncate(saved.insts);
        block.term = Terminator::Open;
        self.sites.retain(|value, _| value.index() < saved.values);
        self.unseen.retain(|value| value.index() < saved.values);
        self.arguments.retain(|value, _| value.index() < saved.values);
        self.kept_calls.retain(|_, call| call.values <= saved.values);
        self.messages.retain(|value, _| value.index() < saved.values);
        self.tellers.retain(|value, _| value.index() < saved.values);
        self.b.block = saved.block;
        self.frames = saved.frames;
        self.contexts = saved.contexts;
        self.live = saved.live;
        self.handling = saved.handling;
    }

    // ---- unions ----

    /// Runs `f` on each alternative of a run-time union, with every variable that holds
    /// the value narrowed to it, and joins the results.
    pub fn dispatch(&mut self, value: Value, f: &mut dyn FnMut(&mut Self, Abs) -> Lift<Abs>) -> Lift<Abs> {
        let ty = self.b.function.ty(value).clone();
        let mut arms = Vec::new();
        let mut rest: Vec<Type> = ty.alternatives().to_vec();
        let around = self.refused.take();
        let mut first_refused = None;
        while !rest.is_empty() {
            let alternative = rest.remove(0);
            let mut otherwise = None;
            if !rest.is_empty() {
                let is = self.b.inst(Opcode::Is(alternative.clone()), vec![value], Type::Bool, None);
                let (yes, no) = self.branch(is);
                self.enter(yes);
                otherwise = Some(no);
            }
            let narrowed = self.narrow_to(value, &alternative);
            let several = ty.alternatives().len() > 1;
            self.arms += u32::from(several);
            let result = f(self, narrowed);
            self.arms -= u32::from(several);
            let result = result?;
            if self.live && several {
                // Two objects that put different work off have nothing in common.
                self.force(&result)?;
            }
            let refused = self.refused.take();
            match self.state() {
                Some(state) => arms.push((state, vec![result])),
                None => first_refused = first_refused.or(refused),
            }
            match otherwise {
                Some(state) => self.enter(state),
                None => break,
            }
        }
        self.refused = around;
        // Where none is lifted, or what is left raises, it is not worth native code.
        match first_refused {
            Some(refused) if arms.is_empty() => Err(refused.into()),
            _ => Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound)),
        }
    }

    /// Takes an alternative out of a union that holds it and narrows every variable with
    /// that value.
    pub fn narrow_to(&mut self, value: Value, alternative: &Type) -> Abs {
        let narrowed = match alternative {
            Type::None => Abs::NONE,
            Type::Unbound => Abs::Unbound,
            other => {
                let inner = self.b.inst(Opcode::Unwrap, vec![value], other.clone(), None);
                if let Some(sites) = self.sites.get(&value).cloned() {
                    self.sites.insert(inner, sites);
                }
                self.seen(Abs::Dyn(inner))
            }
        };
        self.substitute(value, &narrowed);
        narrowed
    }

    /// Replaces a value in every variable.
    pub fn substitute(&mut self, from: Value, to: &Abs) {
        for frame in &mut self.frames {
            self.world.budget.take(frame.vars.len() / 4);
            let new: Vec<(Name, Abs)> = frame
                .vars
                .iter()
                .filter_map(|(name, abs)| abs.replace(from, to).map(|new| (name.clone(), new)))
                .collect();
            for (name, abs) in new {
                frame.vars.insert(name, abs);
            }
        }
    }

    /// A name that no Python program can spell.
    pub fn hidden_name(&mut self, what: &str) -> Name {
        self.hidden += 1;
        Name::from(format!(".{what}{}", self.hidden))
    }

    pub fn get_hidden(&self, name: &Name) -> Abs {
        self.frames.get(self.current).and_then(|frame| frame.vars.get(name).cloned()).unwrap_or(Abs::Unbound)
    }

    pub fn set_var(&mut self, name: &Name, abs: Abs) {
        if let Some(frame) = self.frames.get_mut(self.current) {
            frame.vars.insert(name.clone(), abs);
        }
    }

    pub fn remove_var(&mut self, name: &Name) {
        if let Some(frame) = self.frames.get_mut(self.current) {
            frame.vars.remove(name);
        }
    }
}
