//! Loops over one large array, a part of it by each thread.
//!
//! A function of a whole column is one call, which no partition of the query divides. Its loops that *fill* lists
//! ([`crate::headers`]) do in each round what no other round sees: numbers are made of numbers and of elements of lists
//! that were there before, and each list gets one element. Such a loop is compiled a second time, as a function of the
//! rounds from one number to another, a *tile*. Where there are many rounds and the query has more threads than one,
//! the loop's place is taken by its tiles; the elements are the same, since each depends on its own round only. A
//! round that leaves native code does so for all of them.

use crate::batch::Frame;
use crate::compile::is_kernel_of_numbers;
use crate::headers::{Fill, Headers};
use crate::live::{Live, core_op, definition};
use exuvia_ir::{BlockData, BlockId, Edge, Flow, Function, Inst, Object, Opcode, Span, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, Effect, status};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// The fewest rounds that are divided, and the rounds of a tile.
pub(crate) const LEAST: u64 = 4 * ROUNDS;
const ROUNDS: u64 = exuvia_ops::tiles::PART as u64;

/// A loop that can be divided.
#[derive(Debug)]
pub(crate) struct Tiled {
    /// The block before it, and its first.
    pub before: BlockId,
    pub head: BlockId,
    /// What counts its rounds, from zero on, up to a bound.
    pub counter: Value,
    pub bound: Value,
    /// Where it leads.
    pub exit: Edge,
    /// The lists that it fills, which were empty.
    pub lists: Vec<Value>,
    /// What of the function's values the tiles take, before the first round and the one behind the last.
    pub taken: Vec<Value>,
    /// The tiles: a function that gives None.
    pub tile: Function,
}

/// The compiled function of tiles: the frame, what it takes as words, the first round, and the one behind the last.
/// It gives a status.
pub(crate) type Tile = unsafe extern "C" fn(*mut Frame, *const u64, i64, i64) -> u64;

/// The function with a block of its own behind each loop, where what the next loop needs is made ready: the head of
/// the one may lead to the head of the next, and tiles do not come by there.
pub(crate) fn with_exits(function: &Function) -> Function {
    let flow = Flow::new(function);
    let mut function = function.clone();
    for head in flow.order().filter(|at| flow.is_head(*at) && flow.segment(*at).last) {
        let block = flow.segment(head).block;
        let body = flow.body(head);
        let Terminator::Branch(_, yes, no) = function.block(block).term.clone() else { continue };
        for (edge, first) in [(yes, true), (no, false)] {
            if body[flow.first(edge.block)] || !flow.is_head(flow.first(edge.block)) {
                continue;
            }
            let behind = function.new_block();
            let types: Vec<Type> = edge.args.iter().map(|arg| function.ty(*arg).clone()).collect();
            let params = types.into_iter().map(|ty| function.add_param(behind, ty)).collect();
            function.block_mut(behind).term = Terminator::Jump(Edge { block: edge.block, args: params });
            if let Terminator::Branch(_, yes, no) = &mut function.block_mut(block).term {
                *if first { yes } else { no } = Edge { block: behind, args: edge.args };
            }
        }
    }
    function
}

/// The loops of a function that can be divided.
pub(crate) fn plan(function: &Function, live: &Live) -> Vec<Tiled> {
    let flow = Flow::new(function);
    let headers = Headers::of(function, &flow, live, false);
    let mut before: Vec<_> = headers.fills.iter().collect();
    before.sort_unstable_by_key(|(block, _)| **block);
    before.into_iter().filter_map(|(block, fills)| of(function, live, &flow, *block, fills)).collect()
}

fn of(function: &Function, live: &Live, flow: &Flow, before: BlockId, fills: &[Fill]) -> Option<Tiled> {
    let Terminator::Jump(Edge { block: head, args }) = &function.block(before).term else { return None };
    let Fill { counter, start, bound, .. } = fills.first()?;
    // Nothing else goes round.
    let is_zero = matches!(&function.made_by(*start)?.op, Opcode::Const(Object::Int(int)) if int.to_i64() == Some(0));
    if !is_zero || args[..] != [*start] || function.block(*head).params[..] != [*counter] {
        return None;
    }
    let Terminator::Branch(test, _, exit) = &function.block(*head).term else { return None };
    let body = flow.body(flow.first(*head));
    let is_inside = |block: usize| body[flow.first(BlockId(block as u32))];
    let lists: Vec<Value> = fills.iter().map(|fill| fill.list).collect();
    let blocks = || (0..function.blocks.len()).filter(|at| flow.is_reachable(BlockId(*at as u32)));
    let inside = || blocks().filter(|at| is_inside(*at)).map(|at| &function.blocks[at]);
    let mut made: BTreeSet<Value> = BTreeSet::new();
    for block in inside() {
        let results = block.insts.iter().filter_map(|inst| inst.result);
        made.extend(block.params.iter().copied().chain(results));
    }
    let mut used: BTreeSet<Value> = BTreeSet::new();
    for block in inside() {
        for inst in block.insts.iter().filter(|inst| live.inst(inst)) {
            let may = inst.unwind.is_none() && (is_of_numbers(function, inst) || is_of_lists(inst, &lists, &made));
            if !may {
                return None;
            }
            // The bound is that of each tile.
            used.extend(inst.args.iter().filter(|_| inst.result != Some(*test)));
        }
        for edge in block.term.edges().into_iter().filter(|edge| is_inside(edge.block.index())) {
            used.extend(&edge.args);
        }
        if let Terminator::Branch(cond, ..) = &block.term {
            used.insert(*cond);
        }
    }
    // What the loop makes serves nobody behind it but for the counter, which is the bound then.
    let mut outside = BTreeSet::new();
    for block in blocks().filter(|at| !is_inside(*at)).map(|at| &function.blocks[at]) {
        outside.extend(block.insts.iter().flat_map(|inst| &inst.args).copied());
        block.term.for_each_value(|value| {
            outside.insert(value);
        });
    }
    if outside.iter().any(|value| made.contains(value))
        || exit.args.iter().any(|arg| made.contains(arg) && arg != counter)
    {
        return None;
    }
    let is_const = |value: &Value| function.made_by(*value).is_some_and(|inst| matches!(inst.op, Opcode::Const(_)));
    used.extend(&lists);
    let used: Vec<Value> = used.into_iter().filter(|value| !made.contains(value)).collect();
    let (consts, taken): (Vec<Value>, Vec<Value>) = used.into_iter().partition(is_const);

    let mut tile = function.clone();
    tile.name = format!("{} in tiles", function.name);
    (tile.ret, tile.keeps) = (Type::None, None);
    for (at, block) in tile.blocks.iter_mut().enumerate() {
        if is_inside(at) {
            block.insts.retain(|inst| live.inst(inst));
        } else {
            *block = BlockData { params: Vec::new(), insts: Vec::new(), term: Terminator::Unreachable };
        }
    }
    let [first, end, none] = [Type::Int, Type::Int, Type::None].map(|ty| tile.new_value(ty));
    let given = Inst {
        op: Opcode::Const(Object::None),
        args: Vec::new(),
        result: Some(none),
        unwind: None,
        no_overflow: false,
        span: Span::default(),
    };
    let done = tile.new_block();
    *tile.block_mut(done) = BlockData { params: Vec::new(), insts: vec![given], term: Terminator::Return(none) };
    *tile.block_mut(function.entry()) = BlockData {
        params: taken.iter().copied().chain([first, end]).collect(),
        insts: consts.iter().filter_map(|value| function.made_by(*value).cloned()).collect(),
        term: Terminator::Jump(Edge { block: *head, args: vec![first] }),
    };
    for inst in tile.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if core_op(inst) == Some(CoreOp::ListAppend) {
            inst.op = Opcode::Op("list.set");
            inst.args.insert(1, *counter);
        } else if inst.result == Some(*test) {
            inst.args = vec![*counter, end];
        }
    }
    if let Terminator::Branch(_, _, leaves) = &mut tile.block_mut(*head).term {
        *leaves = Edge { block: done, args: Vec::new() };
    }
    Some(Tiled { before, head: *head, counter: *counter, bound: *bound, exit: exit.clone(), lists, taken, tile })
}

/// Whether a value is a number, or None.
fn is_number(ty: &Type) -> bool {
    ty.alternatives().iter().all(|ty| matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float))
}

/// Whether an instruction makes a number of numbers.
fn is_of_numbers(function: &Function, inst: &Inst) -> bool {
    let numbers = inst.args.iter().chain(&inst.result).all(|value| is_number(function.ty(*value)));
    numbers
        && match &inst.op {
            Opcode::Const(_) | Opcode::Wrap | Opcode::Is(_) | Opcode::Unwrap | Opcode::Poll => true,
            // What core operations say where they fail takes no memory.
            Opcode::Op(_) => definition(inst).is_some_and(|def| {
                def.effect == Effect::Pure && (matches!(def.body, Body::Core(_)) || is_kernel_of_numbers(def))
            }),
            _ => false,
        }
}

/// Whether an instruction reads a list that was there before and is not filled, or appends to one that is.
fn is_of_lists(inst: &Inst, lists: &[Value], made: &BTreeSet<Value>) -> bool {
    let Some(list) = inst.args.first() else { return false };
    match core_op(inst) {
        Some(CoreOp::ListAppend) => lists.contains(list),
        Some(CoreOp::ListGet | CoreOp::ListGetUnchecked | CoreOp::ListLen) => {
            !lists.contains(list) && !made.contains(list)
        }
        _ => false,
    }
}

/// Does the rounds of a loop in tiles; called by native code. Gives the status of one that left, or zero.
///
/// # Safety
/// The frame, and what is taken, must be such as the tile was compiled for, and live until this returns.
pub(crate) unsafe extern "C" fn run(frame: *mut Frame, tile: Tile, taken: *const u64, rounds: i64) -> u64 {
    /// What all threads look at.
    struct Shared(Frame, *const u64);
    // SAFETY: a frame's addresses are those of arguments and of what is read only, but for the context, which each
    // thread replaces by its own, and for what the loop over rows writes, which no tile reaches. The words that are
    // taken are read only; lists among them are read, or written at the places of a tile's own rounds.
    unsafe impl Sync for Shared {}
    // SAFETY: native code passes its own frame, and nothing else uses its context during the call.
    let (shared, cx) = unsafe { (Shared(*frame, taken), &*(*frame).cx) };
    let rounds = u64::try_from(rounds).unwrap_or(0);
    let left = AtomicU64::new(0);
    let work = |at: usize| {
        let Shared(frame, taken) = &shared;
        if left.load(Ordering::Relaxed) != 0 {
            return;
        }
        let mut cx = cx.beside();
        let mut frame = Frame { cx: &raw mut cx, ..*frame };
        let first = at as u64 * ROUNDS;
        // SAFETY: as the caller promises; the rounds are some of the loop's.
        let mut status = unsafe { tile(&raw mut frame, *taken, first as i64, rounds.min(first + ROUNDS) as i64) };
        if cx.take_poison() {
            status = status::BAILOUT;
        }
        if status != 0 {
            // Who looks at why a column leaves sees the one or the other; a query that was cancelled always.
            left.fetch_max(status, Ordering::Relaxed);
        }
    };
    let pieces = rounds.div_ceil(ROUNDS) as usize;
    let threads = cx.threads();
    match catch_unwind(AssertUnwindSafe(|| exuvia_ops::tiles::each(threads, pieces, work))) {
        Ok(()) => left.into_inner(),
        Err(_) => status::BAILOUT,
    }
}
