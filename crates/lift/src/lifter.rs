//! The state of lifting one IR function: the current block, the frames of the Python
//! functions being unfolded, and the contexts to which control can leave.
//!
//! Paths are joined by [`Lifter::join`]: variables that differ become block parameters
//! whose type is the union of the paths' types. After an operation that certainly raises
//! the state is dead (`live` is false); what is lifted then goes to an unreachable block
//! and is dropped.

use crate::abs::{Abs, Closure, Enclosing, Iter};
use crate::ast::{FunctionDef, Name, Stmt};
use crate::bailout::{Bailout, Code};
use crate::choice::{Choice, TableKind};
use crate::class::ClassObj;
use crate::heap::{Instance, is_dropped};
use crate::leave::end_frames;
use crate::memo::KeptCall;
use crate::world::World;
use exuvia_ir::{BlockId, Builder, Class, Edge, ExcKind, Object, Opcode, Raise, Span, Terminator, Type, Value};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Effect, OpDef};
use exuvia_ops::show;
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
    /// The function that runs in it; `None` for a comprehension, a module or a class.
    pub def: Option<Arc<FunctionDef>>,
    /// Names that are local here, sorted; others are looked up around it.
    pub locals: Rc<[Name]>,
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
        Frame {
            vars: vars.into(),
            def: Some(Arc::clone(&self.def)),
            locals: self.def.locals.clone().into(),
            enclosing: self.enclosing.clone(),
            module: self.module,
            path,
            class_body: false,
            owner: None,
        }
    }
}

impl Frame {
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
    pub escaping: Vec<crate::escape::Escaping>,
    /// How many built-in functions without a frame are calling back.
    pub built_ins: u32,
    /// Whether tuples that it returns have no known length.
    pub long_results: bool,
    /// Whether the items that are asked for next are only put into a list.
    pub only_listed: bool,
    /// The unions of which one alternative is looked at.
    pub arms: u32,
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
    Sql(crate::returns::SqlReturn),
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
            span_locked: false,
            augmented: false,
            contexts: vec![Ctx::Entry],
            live: true,
            handling: Vec::new(),
            sites: HashMap::new(),
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
            arms: 0,
            own: None,
            settles: false,
            assigned: Vec::new(),
            next_owner: None,
            rest: None,
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

    fn copied_frames(&self) -> Vec<Frame> {
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
        }
    }

    pub fn rollback(&mut self, saved: Saved) {
        let function = &mut self.b.function;
        self.world.budget.take(function.values.len() - saved.values);
        function.blocks.truncate(saved.blocks);
        function.values.truncate(saved.values);
        let block = function.block_mut(saved.block);
        block.insts.truncate(saved.insts);
        block.term = Terminator::Open;
        self.sites.retain(|value, _| value.index() < saved.values);
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

    // ---- values ----

    /// The type of a value that has one at run time.
    pub fn type_of(&self, abs: &Abs) -> Option<Type> {
        Some(match abs {
            Abs::Const(object) => {
                let ty = object.ty();
                self.world.budget.take(exuvia_ir::ListObj::looked_at());
                ty
            }
            Abs::Dyn(value) => self.b.function.ty(*value).clone(),
            Abs::Tuple(items) => Type::Tuple(items.iter().map(|item| self.type_of(item)).collect::<Option<_>>()?),
            Abs::Unbound => Type::Unbound,
            Abs::Instance(object) => self.b.function.ty(self.escaped_as(object)?).clone(),
            Abs::Func(_)
            | Abs::Method(_)
            | Abs::Builtin(_)
            | Abs::Module(_)
            | Abs::ExcClass(_)
            | Abs::ExcInst(_)
            | Abs::ClassOf(_)
            | Abs::Iter(_)
            | Abs::Class(_)
            | Abs::Bound(_)
            | Abs::Super(_)
            | Abs::Table(_)
            | Abs::OneOf(_)
            | Abs::Conflict => return None,
        })
    }

    /// Whether a constant may become a run-time value that other code could change.
    fn is_mutable_const(object: &Object) -> bool {
        match object {
            Object::List(_) => true,
            Object::Tuple(items) => items.iter().any(Self::is_mutable_const),
            _ => false,
        }
    }

    /// The run-time value.
    pub fn value(&mut self, abs: &Abs) -> Lift<Value> {
        match abs {
            Abs::Dyn(value) => Ok(*value),
            Abs::Const(object) if !Self::is_mutable_const(object) => Ok(self.b.constant(object.clone())),
            Abs::Const(_) => self.bail(Code::Mutation, "a module-level list escapes into a run-time value"),
            Abs::Unbound => Ok(self.b.constant(Object::Unbound)),
            Abs::Instance(object) => self.escape(object),
            Abs::Tuple(items) => {
                let values = items.iter().map(|item| self.value_within(item)).collect::<Lift<Vec<_>>>()?;
                let ty = Type::Tuple(values.iter().map(|value| self.b.function.ty(*value).clone()).collect());
                Ok(self.b.inst(Opcode::Tuple, values, ty, None))
            }
            Abs::Conflict => self.bail(Code::Join, "a variable holds values of unrelated kinds on two paths"),
            Abs::Func(_)
            | Abs::Method(_)
            | Abs::Builtin(_)
            | Abs::Module(_)
            | Abs::ExcClass(_)
            | Abs::ExcInst(_)
            | Abs::ClassOf(_)
            | Abs::Class(_)
            | Abs::Bound(_)
            | Abs::Super(_)
            | Abs::Iter(_) => self.bail(Code::StaticValue, format!("{} is used as a run-time value", describe(abs))),
            Abs::Table(_) => {
                self.changes(abs)?;
                self.bail(Code::StaticValue, format!("{} is used as a run-time value", describe(abs)))
            }
            Abs::OneOf(_) => self.escape_choice(abs),
        }
    }

    /// The run-time value as tuples hold it.
    fn value_within(&mut self, item: &Abs) -> Lift<Value> {
        let value = self.value(item)?;
        let ty = self.stored_type(&self.b.function.ty(value).clone(), true);
        self.convert(value, &ty)
    }

    /// The run-time value for an operation that only reads it: a list of the module may
    /// go there too.
    pub fn value_to_read(&mut self, abs: &Abs) -> Lift<Value> {
        match abs {
            Abs::Const(object) => {
                // What the module put into it, or into a list that it holds several times, is all there now.
                if let Object::List(list) = object
                    && !self.module_mode
                    && self.world.measured.insert(Arc::as_ptr(list) as usize, Arc::clone(list)).is_none()
                {
                    self.check_size(abs)?;
                }
                Ok(self.b.constant(object.clone()))
            }
            other => self.value(other),
        }
    }

    /// The run-time value, converted to a type that contains its own.
    pub fn value_as(&mut self, abs: &Abs, ty: &Type) -> Lift<Value> {
        let value = self.value(abs)?;
        self.convert(value, ty)
    }

    pub fn convert(&mut self, value: Value, ty: &Type) -> Lift<Value> {
        let from = self.b.function.ty(value).clone();
        if from == *ty {
            return Ok(value);
        }
        let has = |class| ty.alternatives().contains(&Type::Boxed(class));
        match (&from, ty) {
            (Type::Tuple(items), _) if has(Class::Tuple(items.len() as u32)) => {
                let tuple = self.in_box(value)?;
                self.convert(tuple, ty)
            }
            (Type::List(_), _) if has(Class::List) && !from.is_within(ty) => {
                let list = self.in_box(value)?;
                self.convert(list, ty)
            }
            // A tuple is converted element by element: its elements are values of their own.
            (Type::Tuple(have), Type::Tuple(want)) if have.len() == want.len() => {
                self.convert_fields(Opcode::Tuple, value, have, want, ty)
            }
            (Type::Record(class @ Class::Object(_), have), Type::Record(other, want)) if class == other => {
                self.convert_fields(Opcode::Record(*class), value, have, want, ty)
            }
            (_, Type::Union(_)) if from.is_within(ty) => Ok(self.b.inst(Opcode::Wrap, vec![value], ty.clone(), None)),
            (Type::Tuple(have), Type::Union(alternatives)) => {
                let wanted =
                    alternatives.iter().find(|a| matches!(a, Type::Tuple(t) if t.len() == have.len())).cloned();
                match wanted {
                    Some(wanted) => {
                        let tuple = self.convert(value, &wanted)?;
                        Ok(self.b.inst(Opcode::Wrap, vec![tuple], ty.clone(), None))
                    }
                    None => self.bail(Code::Join, format!("{from} and {ty} have no common representation")),
                }
            }
            (Type::Record(class @ Class::Object(_), _), Type::Union(alternatives)) => {
                match alternatives.iter().find(|a| matches!(a, Type::Record(other, _) if other == class)).cloned() {
                    Some(wanted) => {
                        let record = self.convert(value, &wanted)?;
                        Ok(self.b.inst(Opcode::Wrap, vec![record], ty.clone(), None))
                    }
                    None => self.bail(Code::Join, format!("{from} and {ty} have no common representation")),
                }
            }
            (Type::List(_), _) => self.widen_list(value, ty),
            (Type::Union(have), _)
                if !from.is_within(ty) && have.iter().any(|one| self.stored_type(one, true) != *one) =>
            {
                let converted = self.dispatch(value, &mut |me, narrowed| me.value_as(&narrowed, ty).map(Abs::Dyn))?;
                self.value_as(&converted, ty)
            }
            (Type::Union(have), Type::Union(_))
                if have.iter().any(|ty| matches!(ty, Type::List(_))) && !self.sites_of(value).is_empty() =>
            {
                self.widen_list(value, ty)
            }
            _ => self.bail(Code::Join, format!("{from} and {ty} have no common representation")),
        }
    }

    fn convert_fields(&mut self, op: Opcode, value: Value, have: &[Type], want: &[Type], ty: &Type) -> Lift<Value> {
        let mut fields = Vec::new();
        for (index, (have, want)) in have.iter().zip(want).enumerate() {
            let field = match self.b.function.ty(value) {
                Type::Record(Class::Object(shape), _) => self.field_value(value, *shape as usize, index as u32),
                _ => self.b.inst(Opcode::Field(index as u32), vec![value], have.clone(), None),
            };
            fields.push(self.convert(field, want)?);
        }
        Ok(self.b.inst(op, fields, ty.clone(), None))
    }

    // ---- joins ----

    /// Continues where several paths meet; `extras` are values that come along. Returns
    /// the joined extras; where no path arrives the state is dead.
    pub fn join(&mut self, arms: Vec<(State, Vec<Abs>)>) -> Lift<Vec<Abs>> {
        let mut arms = arms;
        if arms.len() > 1 {
            self.merge_objects(&mut arms);
            // What attributes of those hold meets too.
            while self.copy_values(&mut arms)? {
                self.merge_objects(&mut arms);
            }
            self.escape_objects(&mut arms)?;
            // What is a record on one arm is one on all now; elsewhere it may be another.
            self.enter(arms[0].0.clone());
        }
        match arms.len() {
            0 => {
                self.die();
                return Ok(Vec::new());
            }
            1 => {
                let (state, extras) = arms.remove(0);
                self.enter(state);
                return Ok(extras);
            }
            _ => {}
        }
        let target = self.b.function.new_block();
        let mut args: Vec<Vec<Value>> = vec![Vec::new(); arms.len()];
        let mut frames = Vec::new();
        for depth in 0..arms[0].0.frames.len() {
            let first = &arms[0].0.frames[depth];
            if arms.iter().all(|arm| arm.0.frames[depth].vars.is(&first.vars)) {
                frames.push(first.clone());
                continue;
            }
            let mut frame = arms[0].0.frames[depth].clone();
            for name in self.differing(&arms, depth) {
                if is_dropped(&name, arms.iter().map(|arm| &arm.0.frames[depth].vars)) {
                    frame.vars.remove(&name);
                    continue;
                }
                let column: Vec<Abs> = arms
                    .iter()
                    .map(|arm| arm.0.frames[depth].vars.get(&name).cloned().unwrap_or(Abs::Unbound))
                    .collect();
                let joined = self.join_values(&column, &arms, target, &mut args)?;
                frame.vars.insert(name, joined);
            }
            frames.push(frame);
        }
        let mut extras = Vec::new();
        for index in 0..arms[0].1.len() {
            let column: Vec<Abs> = arms.iter().map(|arm| arm.1[index].clone()).collect();
            extras.push(self.join_values(&column, &arms, target, &mut args)?);
        }
        for ((state, _), args) in arms.iter().zip(args) {
            self.b.block = state.block;
            self.b.jump(target, args);
        }
        self.enter(State { block: target, frames });
        Ok(extras)
    }

    /// Joins one variable over the arms: the same value stays, others become a parameter
    /// of `target`. Conversions go to the ends of the arms' blocks.
    fn join_values(
        &mut self,
        column: &[Abs],
        arms: &[(State, Vec<Abs>)],
        target: BlockId,
        args: &mut [Vec<Value>],
    ) -> Lift<Abs> {
        if column.iter().all(|abs| abs.same(&column[0])) {
            return Ok(column[0].clone());
        }
        // Tuples of one length are joined element by element and stay tuples.
        let tuples: Option<Vec<Vec<Abs>>> = column.iter().map(Abs::tuple_items).collect();
        if let Some(tuples) = tuples
            && tuples.iter().all(|items| items.len() == tuples[0].len())
        {
            let mut items = Vec::new();
            for index in 0..tuples[0].len() {
                let column: Vec<Abs> = tuples.iter().map(|items| items[index].clone()).collect();
                items.push(self.join_values(&column, arms, target, args)?);
            }
            return Ok(Abs::tuple(items));
        }
        let documents = self.as_documents(column, arms)?;
        let column = documents.as_deref().unwrap_or(column);
        let values = self.as_values(column, arms)?;
        let column = values.as_deref().unwrap_or(column);
        let Some(types) = column.iter().map(|abs| self.type_of(abs)).collect::<Option<Vec<_>>>() else {
            if column.iter().any(|abs| matches!(abs, Abs::Instance(_))) {
                column.iter().try_for_each(|abs| self.changes(abs))?;
            } else if column.iter().any(|abs| matches!(abs, Abs::Dyn(_))) {
                column.iter().filter(|abs| matches!(abs, Abs::Table(_))).try_for_each(|abs| self.changes(abs))?;
            }
            self.settle_empty(column)?;
            return self.join_choice(column, arms, target, args);
        };
        let has_constant_list = column.iter().any(|abs| abs.as_const().is_some_and(Self::is_mutable_const));
        let ty = self.stored_type(&Type::union(types), false);
        self.settle_nested(&ty)?;
        // Nothing can be done with one of several constant dicts as a run-time value.
        let is_static = |abs: &Abs| matches!(abs, Abs::Const(Object::Dict(_) | Object::Set(_)));
        if column.iter().any(is_static)
            && column.iter().all(|abs| abs.as_const().is_some())
            && self.joined_choice(column).is_some()
        {
            return self.join_choice(column, arms, target, args);
        }
        if has_constant_list || incompatible_containers(&ty) {
            column.iter().try_for_each(|abs| self.changes(abs))?;
            self.settle_empty(column)?;
            return self.join_choice(column, arms, target, args);
        }
        let mut sites = Vec::new();
        for ((abs, (state, _)), args) in column.iter().zip(arms).zip(args.iter_mut()) {
            self.b.block = state.block;
            let value = self.value(abs)?;
            crate::lists::add_sites(&mut sites, &self.sites_of(value));
            args.push(self.convert(value, &ty)?);
        }
        let param = self.b.function.add_param(target, ty);
        self.sites.insert(param, sites);
        Ok(Abs::Dyn(param))
    }

    /// The values with constant dicts and lists as what `json.loads` would make of them, where one of
    /// the others comes from there; `None` where there is nothing to change.
    fn as_documents(&mut self, column: &[Abs], arms: &[(State, Vec<Abs>)]) -> Lift<Option<Vec<Abs>>> {
        let of_json = |abs: &Abs| self.type_of(abs).is_some_and(|ty| ty.alternatives().iter().any(Type::is_document));
        let is_static = |abs: &Abs| matches!(abs, Abs::Const(Object::Dict(_) | Object::List(_)));
        if !column.iter().any(is_static) || !column.iter().any(of_json) {
            return Ok(None);
        }
        let mut documents = column.to_vec();
        for (abs, (state, _)) in documents.iter_mut().zip(arms) {
            if let Abs::Const(object) = &*abs
                && let Some((class, parts)) = exuvia_ops::json::parts_of(object)
            {
                self.b.block = state.block;
                *abs = self.record(class, &[Abs::Const(Object::list(parts))])?;
            }
        }
        Ok(Some(documents))
    }

    /// Joins static values: the position of each path's becomes a parameter of `target`.
    fn join_choice(
        &mut self,
        column: &[Abs],
        arms: &[(State, Vec<Abs>)],
        target: BlockId,
        args: &mut [Vec<Value>],
    ) -> Lift<Abs> {
        // An object is there on a path where that has its cells, or holds it in a variable.
        let is_there = |object: &Abs| {
            let Abs::Instance(object) = object else { return false };
            let is_it = |abs: &Abs| match abs {
                Abs::Instance(other) => other.is(object),
                Abs::Dyn(value) => object.value == Some(*value),
                _ => false,
            };
            let has_cells = |state: &State| {
                let own = state.frames.first().and_then(|frame| frame.vars.get(&object.own()[..]));
                object.value.is_none() && own.is_some_and(|own| !matches!(own, Abs::Unbound | Abs::Conflict))
            };
            arms.iter()
                .all(|(state, _)| has_cells(state) || state.frames.iter().any(|frame| frame.vars.values().any(is_it)))
        };
        let Some(of) = self.joined_with(Vec::new(), column, &is_there) else { return Ok(Abs::Conflict) };
        let mut positions = Vec::new();
        for (abs, (state, _)) in column.iter().zip(arms) {
            self.b.block = state.block;
            match self.position_in(abs, &of)? {
                Some(at) => positions.push(at),
                None => return Ok(Abs::Conflict),
            }
        }
        args.iter_mut().zip(positions).for_each(|(args, at)| args.push(at));
        Ok(Abs::OneOf(Rc::new(Choice { at: self.b.function.add_param(target, Type::Int), of })))
    }

    // ---- raising ----

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
        let teller = (def.effect != Effect::Write && types.iter().all(is_plain)).then(|| args.clone());
        let made = self.inst(Opcode::Op(def.name), args, (def.result)(&types), Some(def.raises))?;
        let unwind = self.b.function.block(self.b.block).insts.last().and_then(|inst| inst.unwind.as_ref());
        if let Some(landing) = unwind {
            let exc = self.b.function.block(landing.block).params[0];
            if let Some(args) = teller {
                self.tellers.insert(exc, (def.name, args));
            } else if def.name == "list.get"
                && let Err(Raise::Exception { kind, args }) =
                    (def.eval)(&mut Cx::for_folding(), &[Object::list(vec![]), Object::int(0)])
            {
                // Whatever the list holds.
                let text = Abs::str(&show::message(kind, &args));
                self.arguments.insert(exc, Abs::tuple(vec![text.clone()]));
                self.messages.insert(exc, text);
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
        if self.leaves_generator() {
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

    // ---- unions ----

    /// Runs `f` on each alternative of a run-time union, with every variable that holds
    /// the value narrowed to it, and joins the results.
    pub fn dispatch(&mut self, value: Value, f: &mut dyn FnMut(&mut Self, Abs) -> Lift<Abs>) -> Lift<Abs> {
        let ty = self.b.function.ty(value).clone();
        let mut arms = Vec::new();
        let mut rest: Vec<Type> = ty.alternatives().to_vec();
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
            if let Some(state) = self.state() {
                arms.push((state, vec![result]));
            }
            match otherwise {
                Some(state) => self.enter(state),
                None => break,
            }
        }
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
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

/// Whether a union holds containers that cannot share a variable natively.
fn incompatible_containers(ty: &Type) -> bool {
    let count = |f: fn(&Type) -> bool| ty.alternatives().iter().filter(|a| f(a)).count();
    count(|a| matches!(a, Type::Dict(..))) > 1
        || count(|a| matches!(a, Type::Set(_))) > 1
        || (matches!(ty, Type::Union(_)) && count(|a| matches!(a, Type::Dict(..) | Type::Set(_))) > 0)
}

/// What values of a type are, for people: as annotations say it, as far as two containers deep.
pub(crate) fn type_for_people(ty: &Type) -> String {
    fn shown(ty: &Type, depth: usize) -> String {
        let inner = |ty: &Type| shown(ty, depth + 1);
        match ty {
            Type::None => "None".to_string(),
            Type::Never | Type::Unbound => "nothing".to_string(),
            Type::List(_) | Type::Set(_) | Type::Dict(..) | Type::Tuple(_) if depth > 1 => ty.python_name().to_string(),
            Type::List(of) => format!("list[{}]", inner(of)),
            Type::Set(of) => format!("set[{}]", inner(of)),
            Type::Dict(key, value) => format!("dict[{}, {}]", inner(key), inner(value)),
            Type::Tuple(items) if items.len() <= 4 => {
                format!("tuple[{}]", items.iter().map(inner).collect::<Vec<_>>().join(", "))
            }
            Type::Union(of) if of.len() <= 4 => of.iter().map(|ty| shown(ty, depth)).collect::<Vec<_>>().join(" or "),
            Type::Union(_) => "one of several types".to_string(),
            Type::Record(Class::Object(_), _) | Type::Boxed(_) => "object".to_string(),
            ty => ty.message_name().to_string(),
        }
    }
    shown(ty, 0)
}

/// Types for people, one after the other.
pub(crate) fn types_for_people(types: &[Type]) -> String {
    types.iter().map(type_for_people).collect::<Vec<_>>().join(", ")
}

/// What a static value is, for people.
pub(crate) fn describe(abs: &Abs) -> String {
    match abs {
        Abs::Const(object) => show::repr(object),
        Abs::Dyn(_) => "a run-time value".to_string(),
        Abs::Tuple(_) => "a tuple".to_string(),
        Abs::Func(closure) => format!("function {}", closure.def.name),
        Abs::Method(method) => format!("method {}", method.1),
        Abs::Builtin(name) => format!("built-in {name}"),
        Abs::Module(name) => format!("module {name}"),
        Abs::ExcClass(kind) => format!("class {}", kind.name()),
        Abs::ClassOf(_) => "the class of an exception".to_string(),
        Abs::Class(class) => format!("class {}", class.name),
        Abs::Instance(object) => format!("an object of class {}", object.class.name),
        Abs::Bound(method) => format!("method {}", method.closure.def.name),
        Abs::Super(_) => "super()".to_string(),
        Abs::Table(table) => match table.kind {
            TableKind::List => "a list of functions or objects".to_string(),
            TableKind::Dict => "a dict of functions or objects".to_string(),
            TableKind::Set => "a set of members of enumerations".to_string(),
            TableKind::View => "a view of a dict of functions or objects".to_string(),
        },
        Abs::OneOf(_) => "one of several functions or objects".to_string(),
        Abs::ExcInst(exc) => format!("an instance of {}", exc.0.name()),
        Abs::Iter(iter) => match &**iter {
            Iter::Range { .. } => "a range".to_string(),
            Iter::View { .. } => "a view of a dict".to_string(),
            Iter::Generator { .. } | Iter::Call { .. } => "a generator".to_string(),
            Iter::Enumerate { .. } | Iter::Zip(_) | Iter::Reversed { .. } | Iter::Map { .. } | Iter::Filter { .. } => {
                "an iterator".to_string()
            }
        },
        Abs::Unbound => "an unassigned variable".to_string(),
        Abs::Conflict => "a variable with values of unrelated kinds".to_string(),
    }
}
