//! How much work lifting may be: whatever a source says, it ends soon.
//!
//! Work is counted in steps of about the same time (some tens of nanoseconds), not in time
//! itself: so a function is refused on every machine or on none, but for operations on constants that
//! take unusually long, of which only the time tells ([`waited`], and a limit far beyond). Counted are expressions,
//! statements, what is copied and compared where paths part and join, instructions that are
//! thrown away, and the sizes of values, over all attempts of one lifting.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Int, Object, Type};
use exuvia_ops::def::{Body, OpDef};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The steps that lifting one function may take.
pub const MAX_STEPS: u64 = 6_000_000;

/// The values of all functions that one becomes.
const MAX_VALUES: usize = 30_000;

/// The nodes of one constant.
const MAX_CONSTANT: usize = 500_000;

/// The nodes of one type, or of a tuple that is known only in part: each is a value at run
/// time, which native code keeps apart.
const MAX_PARTS: usize = 2_000;

/// How deep a value may be nested.
const MAX_NESTING: usize = 100;

/// How long lifting may take where steps take longer than they should. It is far from what functions need
/// that may take [`MAX_STEPS`].
const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 4 });

/// Steps taken.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: Cell<u64>,
    /// Those at which lifting ends, or the statement of a module that is run.
    limit: Cell<u64>,
    since: Instant,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { steps: Cell::new(0), limit: Cell::new(MAX_STEPS), since: Instant::now() }
    }
}

impl Budget {
    /// Counts steps.
    pub fn take(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_add(steps as u64));
    }

    /// The steps taken.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Begins a statement of a module: half of the steps that are left are its own, so that one that takes too many
    /// costs the functions that need it, and not the others. Gives the limit that there was.
    pub fn begin_statement(&self) -> u64 {
        let half = self.steps() + MAX_STEPS.saturating_sub(self.steps()) / 2;
        self.limit.replace(half.min(self.limit.get()))
    }

    /// Ends a statement of a module; whether it took too many steps.
    pub fn end_statement(&self, limit: u64) -> bool {
        self.steps() > self.limit.replace(limit)
    }

    /// Whether it takes too long: now and then it is looked at.
    fn is_late(&self) -> bool {
        const LOOKS: u64 = 256;
        self.steps.get() % LOOKS < 4 && self.since.elapsed() > LONGEST
    }
}

impl Lifter<'_> {
    /// Counts a statement or an expression; gives up when too many steps were taken, or too
    /// much was made.
    pub fn step(&self) -> Lift<()> {
        self.world.budget.take(4);
        if self.world.values + self.b.function.values.len() > MAX_VALUES {
            return self.bail(Code::Budget, format!("the function unfolds to more than {MAX_VALUES} values"));
        }
        if self.world.budget.steps() > MAX_STEPS {
            return self.bail(Code::Budget, format!("lifting takes more than {MAX_STEPS} steps"));
        }
        if self.world.budget.steps() > self.world.budget.limit.get() {
            return self.bail(Code::Budget, "the statement takes more than half of the steps that lifting may take");
        }
        if self.world.budget.is_late() {
            return self.bail(Code::Budget, format!("lifting takes longer than {} s", LONGEST.as_secs()));
        }
        Ok(())
    }

    /// Gives up where a value is too large to be handled piece by piece.
    pub fn check_size(&self, abs: &Abs) -> Lift<()> {
        let (left, limit) = match abs {
            Abs::Const(object) => (constant(object, MAX_CONSTANT, 0), MAX_CONSTANT),
            Abs::Tuple(_) => (self.tuple(abs, MAX_PARTS, 0), MAX_PARTS),
            Abs::Dyn(value) => (ty(self.b.function.ty(*value), MAX_PARTS, 0), MAX_PARTS),
            _ => return Ok(()),
        };
        let Some(left) = left else {
            return self
                .bail(Code::Budget, format!("a value of more than {limit} parts, or nested {MAX_NESTING} deep"));
        };
        // The items of a tuple are copied with it, and so are their types.
        let each = if matches!(abs, Abs::Const(Object::Tuple(_))) { 2 } else { 16 };
        self.world.budget.take((limit - left) / each);
        Ok(())
    }

    /// Gives up where a call has too many arguments; those of a star are copied with each call.
    pub fn check_count(&self, arguments: usize) -> Lift<()> {
        if arguments > MAX_PARTS {
            return self.bail(Code::Budget, format!("a call with more than {MAX_PARTS} arguments"));
        }
        self.world.budget.take(arguments);
        Ok(())
    }

    fn tuple(&self, abs: &Abs, left: usize, depth: usize) -> Option<usize> {
        let left = enter(left, depth)?;
        match abs {
            Abs::Tuple(items) => items.iter().try_fold(left, |left, item| self.tuple(item, left, depth + 1)),
            Abs::Const(object) => constant(object, left, depth + 1),
            Abs::Dyn(value) => ty(self.b.function.ty(*value), left, depth + 1),
            _ => Some(left),
        }
    }
}

/// The steps of an operation's reading of an operand that is known. Operations of the core look at
/// places of texts and lists, kernels at all of it.
pub(crate) fn read(def: &OpDef, operand: &Object) -> usize {
    let core = matches!(def.body, Body::Core(_));
    match operand {
        Object::Str(text) => text.len() / if core { 1024 } else { 16 },
        Object::List(list) if !core => list.read(|items| items.len() / 4),
        Object::Int(Int::Big(value)) => of_bits(value.bits()),
        _ => 0,
    }
}

/// The steps of making a value.
pub(crate) fn made(object: &Object) -> usize {
    match object {
        Object::Str(text) => text.len() / 64,
        Object::List(list) => list.read(|items| items.len() / 4),
        Object::Int(Int::Big(value)) => of_bits(value.bits()),
        _ => 0,
    }
}

/// The steps of arithmetic with an int of so many bits: more than in proportion to its words, as products,
/// quotients and digits are.
fn of_bits(bits: u64) -> usize {
    let words = usize::try_from(bits / 64).unwrap_or(usize::MAX);
    words.saturating_mul(words.isqrt()) / 4
}

/// What one operation on constants may take, where it asks.
pub(crate) const LONGEST_OPERATION: Duration = Duration::from_millis(300);

/// The steps of an operation that took unusually long: of what it reads that cannot be said before.
pub(crate) fn waited(time: Duration) -> usize {
    const USUAL: Duration = Duration::from_micros(500);
    const STEP: u128 = 20;
    if time < USUAL { 0 } else { usize::try_from(time.as_nanos() / STEP).unwrap_or(usize::MAX) }
}

/// What is left of a number of nodes after one more.
fn enter(left: usize, depth: usize) -> Option<usize> {
    if depth > MAX_NESTING { None } else { left.checked_sub(1) }
}

fn constant(object: &Object, left: usize, depth: usize) -> Option<usize> {
    let left = enter(left, depth)?;
    match object {
        Object::Tuple(items) => items.iter().try_fold(left, |left, item| constant(item, left, depth + 1)),
        Object::List(list) => {
            let parts = |items: &[Object]| {
                let mut parts = items.iter().filter(|item| !item.is_container());
                parts.try_fold(left, |left, item| constant(item, left, depth + 1))
            };
            // A copy of those that hold others: a list may hold itself, and is locked while it is looked at.
            let left = list.read(parts)?;
            list.containers().iter().try_fold(left, |left, item| constant(item, left, depth + 1))
        }
        Object::Dict(dict) => dict
            .entries()
            .iter()
            .try_fold(left, |left, (key, value)| constant(value, constant(key, left, depth + 1)?, depth + 1)),
        Object::Set(set) => {
            set.members.entries().iter().try_fold(left, |left, (item, _)| constant(item, left, depth + 1))
        }
        // Bytes are copied faster than nodes.
        Object::Str(text) => left.checked_sub(text.len() / 64),
        Object::Int(Int::Big(value)) => left.checked_sub(usize::try_from(value.bits() / 512).unwrap_or(usize::MAX)),
        _ => Some(left),
    }
}

/// Whether a type is one that lifting goes on with.
pub(crate) fn is_small(of: &Type) -> bool {
    ty(of, MAX_PARTS, 0).is_some()
}

fn ty(of: &Type, left: usize, depth: usize) -> Option<usize> {
    let left = enter(left, depth)?;
    match of {
        Type::Tuple(items) | Type::Union(items) | Type::Record(_, items) => {
            items.iter().try_fold(left, |left, item| ty(item, left, depth + 1))
        }
        Type::List(item) | Type::Set(item) => ty(item, left, depth + 1),
        Type::Dict(key, value) => ty(value, ty(key, left, depth + 1)?, depth + 1),
        _ => Some(left),
    }
}
