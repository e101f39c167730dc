//! The optimiser: passes over the IR.
//!
//! Every pass stands in a file of its own, begins with the law by which it may do what
//! it does, and leaves a module that the verifier accepts (checked after every pass in
//! debug builds). Together they may remove exceptions and bailouts, never add them, and
//! otherwise leave every value and exception as it was: the evaluator runs a module
//! before and after to the same result.
//!
//! [`optimize`] is the pipeline. The passes are written so that it takes time linear in
//! the size of the module but for small factors: facts are kept in tables indexed by
//! value or block, and no pass looks at a pair of instructions that are not related.
//!
//! It leaves out what depends on a machine: the representation of ints and the emission
//! of operations are the back end's.

mod algebra;
mod blocks;
mod bounds;
mod context;
mod copies;
mod cse;
mod dce;
mod duplicate;
mod elements;
mod fold;
mod growth;
mod inline;
mod interval;
mod kinds;
mod known;
mod licm;
mod lists;
mod matches;
mod params;
mod places;
mod ranges;
mod reserve;
mod residues;
#[cfg(test)]
mod semantics;
mod simplify;
mod splits;
mod ssa;
mod summary;
mod tags;
#[cfg(test)]
mod testing;
mod thread;
mod tuples;
mod twins;
mod unions;
mod unroll;
mod verify;
mod width;

pub use places::with_places;
pub use verify::{op_typing, verify};
pub use width::width_of;

use context::Context;
use exuvia_ir::{FuncId, Function, IntWidth, Module, Span};
use interval::Interval;
use std::ops::RangeInclusive;

/// A pass over one function.
type Pass = (&'static str, fn(&mut Function, &mut Context));

/// What cleans up after anything else.
const CLEANUP: [Pass; 5] = [SIMPLIFY, DEAD_CODE, ("parameters", params::run), BLOCKS, COMMON];

const SIMPLIFY: Pass = ("simplify", simplify::run);
const DEAD_CODE: Pass = ("dead code", dce::run);
const COMMON: Pass = ("common subexpressions", cse::run);
const BLOCKS: Pass = ("blocks", blocks::run);

/// The passes in the order in which they run.
fn pipeline() -> impl Iterator<Item = Pass> {
    let thread: Pass = ("jump threading", thread::run);
    let ranges: Pass = ("ranges", ranges::run);
    let residues: Pass = ("residues", residues::run);
    let licm: Pass = ("loop invariants", licm::run);
    let splits: Pass = ("splits", splits::run);
    let reserve: Pass = ("room for lists", reserve::run);
    let matches: Pass = ("matches", matches::run);
    let kinds: Pass = ("kinds of variables", kinds::run);
    let twins: Pass = ("twins", twins::run);
    let bounds: Pass = ("bounds of loops", bounds::run);
    let copies: Pass = ("copies of lists", copies::run);
    let unroll: Pass = ("rounds over tables", unroll::run);
    let elements: Pass = ("elements of lists", elements::run);
    CLEANUP
        .into_iter()
        .chain([copies, unroll, SIMPLIFY, elements, BLOCKS, thread])
        .chain(CLEANUP)
        .chain([unroll, elements, kinds, twins, SIMPLIFY, thread])
        .chain(CLEANUP)
        .chain([elements, residues, ranges, thread, licm])
        .chain(CLEANUP)
        .chain([splits, matches, ranges, bounds, reserve])
        .chain([SIMPLIFY, DEAD_CODE, BLOCKS])
}

/// Where a module, as it was lifted, may change a list of a constant. Optimising would hide it: nothing may read a
/// change but the next row.
#[must_use]
pub fn changes_constant(module: &Module) -> Option<Span> {
    /// Instructions to which a function grows by copies of what it calls.
    const MOST: usize = 10_000;
    let found = exuvia_ops::constants::first_change(module)?;
    if module.functions.len() == 1 {
        return Some(found);
    }
    // A function that some give a constant, and others a list that it changes, is looked at once for each call.
    let mut unfolded = module.clone();
    inline::run(&mut unfolded, MOST, &mut Context::new(), |_, _, _| {});
    exuvia_ops::constants::first_change(&unfolded)
}

/// Instructions to which a function may grow by copies of callees that are not small.
pub const LARGE: usize = 800;

/// A module as [`optimize`] leaves it for the [`width`](width_of) of ints that suits it, and that width.
#[must_use]
pub fn optimized(module: &Module, ints: &[RangeInclusive<i64>], large: usize) -> (Module, IntWidth) {
    let mut width = width_of(module);
    let mut done = module.clone();
    optimize(&mut done, ints, width, large);
    if width == IntWidth::Word && width_of(&done) != width {
        // A constant that needs more bits came about on the way.
        width = IntWidth::Mixed;
        done = module.clone();
        optimize(&mut done, ints, width, large);
    }
    (done, width)
}

/// Optimises a module. Function 0 stays the entry with its parameters and result. Its
/// parameters that are ints, or may be, are within `ints`, where that says something. What is said
/// of checks for overflow holds for native code whose ints have that `width`. A function may grow to
/// `large` instructions by copies of callees: [`LARGE`], but for a module of several functions that were
/// written apart and are to become one.
pub fn optimize(module: &mut Module, ints: &[RangeInclusive<i64>], width: IntWidth, large: usize) {
    let mut context = Context::new();
    context.width = width;
    let ints: Vec<Interval> = ints.iter().map(|range| Interval::new(*range.start(), *range.end())).collect();
    check(module, "the optimiser was given", None);
    inline::run(module, large, &mut context, |module, id, context| {
        for pass in CLEANUP {
            run_one(module, id, context, pass);
        }
    });
    check(module, "inlining", None);
    context.summaries = summary::of(module, &mut context);
    for pass in pipeline() {
        run(module, &mut context, pass, &ints);
    }
    for function in &mut module.functions {
        blocks::number_values(function);
    }
    check(module, "numbering", None);
}

/// Runs a pass over every function; the parameters of the entry are within `ints`.
fn run(module: &mut Module, context: &mut Context, pass: Pass, ints: &[Interval]) {
    for id in (0..module.functions.len() as u32).map(FuncId) {
        context.params = if id.index() == 0 { ints.to_vec() } else { Vec::new() };
        run_one(module, id, context, pass);
    }
}

fn run_one(module: &mut Module, id: FuncId, context: &mut Context, (name, pass): Pass) {
    pass(&mut module.functions[id.index()], context);
    check(module, name, Some(id));
}

/// Verifies the module, or a function of it, in debug builds. A pass that breaks an invariant is a bug of ours.
fn check(module: &Module, pass: &str, function: Option<FuncId>) {
    if !cfg!(debug_assertions) {
        return;
    }
    let result = match function {
        Some(id) => exuvia_ir::verify_function(module, id, &op_typing),
        None => verify(module),
    };
    if let Err(error) = result {
        panic!("{pass}: {error}\n{module}");
    }
}
