//! Strips within loops: elementary functions of the elements of lists (loop distribution and strip-mining).
//!
//! Of a loop that counts up to a bound, `[exp(x / 10) for x in xs]`, so many rounds are a *tile*. Before the rounds of
//! a tile a loop computes for all of them the operand of a call that lanes compute faster, into a list, an operation puts the
//! results into its places, and the rounds read these:
//!
//! ```text
//! values = [0.0] * min(n, TILE)
//! for start in range(0, n, TILE):
//!     stop = min(start + TILE, n)
//!     for i in range(start, stop):
//!         values[i - start] = xs[i] / 10
//!     strip.exp(values, stop - start)
//!     for i in range(start, stop):
//!         ys.append(values[i - start])
//! ```
//!
//! That is done where operands need only what each round has: numbers from before the loop, its counter, and elements of
//! lists that no round changes; what is made on the way cannot fail. So a round that is never done, since the loop is left
//! before, has its operands computed in vain and nothing else. That an element is there must not depend on that:
//! either it is that of the list through which the loop walks, or every round reads it, and the loop has no other end.
//! A value is taken as in stages of rows: where the round makes the call, and where it is finite or nothing on its way
//! can fail. Loops of few rounds make their calls themselves.
//!
//! The head of the loop, where the counter is tested, is done once more for each tile, and once with the bound. So it
//! changes nothing, and its own calls are not taken.

use super::{LEAST_SHARE, MOST_CALLS, Made, Planner, Round, Taken, cannot_fail, shares};
use crate::headers::Origins;
use crate::live;
use exuvia_ir::{BlockId, Builder, Edge, Flow, Function, Inst, Module, Object, Opcode, Span, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::counter::Counter;
use exuvia_ops::def::{Body, Effect};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The rounds of a tile: their operands stay in the fastest cache.
const TILE: i64 = 256;

/// A loop that is left with so many rounds or fewer makes its calls itself, which takes no longer.
const FEW: i64 = 15;

/// The joins, and one, between a bound and the lengths of which it is the least.
const MOST_LENGTHS: usize = 4;

/// The loops of a function that are divided: each look goes over the function.
const MOST_LOOPS: usize = 16;

/// The module with such loops divided.
pub(crate) fn distributed(module: &Module) -> Cow<'_, Module> {
    let makes_calls = |function: &Function| {
        let insts = function.blocks.iter().flat_map(|block| &block.insts);
        insts.filter_map(super::strip_of).any(|(_, strip)| strip.each.is_some() && (strip.has_lanes)())
    };
    let mut module = Cow::Borrowed(module);
    for at in 0..module.functions.len() {
        if makes_calls(&module.functions[at]) {
            distribute(at, &mut module);
        }
    }
    module
}

fn distribute(at: usize, module: &mut Cow<'_, Module>) {
    // The loops that this makes are not looked at.
    let given = module.functions[at].blocks.len();
    let mut seen = HashSet::new();
    while seen.len() < MOST_LOOPS {
        let function = &module.functions[at];
        let flow = Flow::new(function);
        let head_of =
            |at: usize| Some(flow.segment(at).block).filter(|block| flow.is_head(at) && block.index() < given);
        let mut heads = flow.order().filter(|at| head_of(*at).is_some_and(|block| !seen.contains(&block)));
        let Some(head) = heads.next() else { return };
        if let Some(nest) = Nest::of(function, &flow, head) {
            let divided = nest.divided();
            module.to_mut().functions[at] = divided;
        }
        seen.insert(flow.segment(head).block);
    }
}

/// What the tiles of a loop have.
struct Tiles {
    /// Of each call the list of its results.
    lists: Vec<Value>,
    /// Of each call whose results are computed, whether they are those of each round that makes it.
    exact: Vec<bool>,
    /// Whether they are computed.
    computes: Value,
    /// The counter in the first round of a tile, and behind its last.
    start: Value,
    stop: Value,
}

/// A loop that is divided.
struct Nest<'f> {
    function: &'f Function,
    planner: Planner<'f>,
    /// The calls that are taken, by their stages.
    calls: Vec<Taken<'f>>,
    counter: Counter<'f>,
    head: BlockId,
    /// Whether each block is one of the loop's.
    inside: Vec<bool>,
    /// The instruction in the head that makes the counter's bound, if it is made there.
    bound: Option<&'f Inst>,
}

impl<'f> Nest<'f> {
    /// That of a loop, if it makes calls that can be taken.
    fn of(function: &'f Function, flow: &Flow, head: usize) -> Option<Nest<'f>> {
        let body = flow.body(head);
        let id = flow.segment(head).block;
        let within: Vec<usize> = flow.order().filter(|at| body[*at]).collect();
        // The innermost, which no instruction leaves or comes back to.
        if within.iter().any(|at| *at != head && flow.is_head(*at) || !flow.segment(*at).last) {
            return None;
        }
        let mut inside = vec![false; function.blocks.len()];
        within.iter().for_each(|at| inside[flow.segment(*at).block.index()] = true);
        let counter = Counter::of(function, flow, head, &body)?;
        let is_repeatable = |inst: &Inst| match live::definition(inst) {
            Some(def) => matches!(def.effect, Effect::Pure | Effect::Read),
            None => inst.op.only_makes(),
        };
        if !function.block(id).insts.iter().all(is_repeatable) {
            return None;
        }
        let lengths = lengths(function, counter.test.bound, MOST_LENGTHS);
        // What a counter may be whose bound is no length is not known otherwise.
        let most = if lengths.is_empty() { 0 } else { TILE };
        let starts_low = counter.steps.starts.iter().all(|start| {
            let made = function.made_by(*start).map(|inst| &inst.op);
            matches!(made, Some(Opcode::Const(Object::Int(int))) if int.to_i64().is_some_and(|at| (0..=most).contains(&at)))
        });
        if !counter.goes_up_by_one(function) || !starts_low {
            return None;
        }

        let insts = || within.iter().flat_map(|at| &function.block(flow.segment(*at).block).insts);
        let origins = Origins::of(function);
        let is_before = |at: usize| origins.block_of(Value(at as u32)).is_some_and(|block| !inside[block.index()]);
        let before: Vec<bool> = (0..function.values.len()).map(is_before).collect();
        let mut changed = Vec::new();
        for inst in insts() {
            if matches!(inst.op, Opcode::Call(_)) {
                return None;
            }
            let Some(def) = live::definition(inst) else { continue };
            if def.effect.writes() {
                if !matches!(def.body, Body::Core(_)) {
                    return None;
                }
                changed.extend(inst.args.iter().filter(|arg| function.ty(**arg).holds_list()));
            }
        }
        let is_list = |value: Value| matches!(function.ty(value), Type::List(_));
        let is_unchanged = |at: usize| {
            let value = Value(at as u32);
            is_list(value) && changed.iter().all(|other| is_list(*other) && origins.are_two(function, value, *other))
        };
        let unchanged: Vec<bool> = (0..function.values.len()).map(is_unchanged).collect();
        // Where the loop has no other end, every round comes to what is on all ways to its own end. What ends the row for
        // its floats or for memory says nothing of indices.
        let ends_row = |inst: &Inst| {
            let of_floats = inst.args.iter().all(|arg| *function.ty(*arg) == Type::Float);
            !cannot_fail(inst) && !of_floats && live::core_op(inst) != Some(CoreOp::ListAppend)
        };
        let other_ends = insts().any(ends_row)
            || within.iter().any(|at| {
                let mut leaves = false;
                flow.for_each_successor(function, *at, |next| leaves |= !body[next]);
                let term = &function.block(flow.segment(*at).block).term;
                *at != head && (leaves || term.edges().is_empty())
            });
        let latches = flow.latches(head);
        let mut always = vec![false; function.blocks.len()];
        for at in within.iter().filter(|_| !other_ends) {
            always[flow.segment(*at).block.index()] = latches.iter().all(|latch| flow.dominates(*at, *latch));
        }

        let is_given = before[counter.test.bound.index()];
        let (bound, walked) = match (is_given, &lengths[..]) {
            (true, _) if may_shrink(function) => (None, Vec::new()),
            (true, lengths) => (None, lengths.iter().map(|length| length.args[0]).collect()),
            (false, [length]) if before[length.args[0].index()] && unchanged[length.args[0].index()] => {
                (Some(*length), vec![length.args[0]])
            }
            (false, _) => return None,
        };
        let first = counter.test.stays.block;
        let shares = shares(function, flow);
        let rounds = shares[first.index()].max(f32::MIN_POSITIVE);
        let blocks = within.iter().map(|at| flow.segment(*at).block);
        let blocks = blocks.map(|block| (block, shares[block.index()] / rounds)).collect();
        let round = Round { counter: counter.test.counter, walked, before, unchanged, always };
        let planner = Planner::of(function, flow, blocks, Some(round));
        let mut calls = planner.calls(LEAST_SHARE);
        calls.truncate(MOST_CALLS);
        calls.sort_by_key(|call| call.stage);
        (!calls.is_empty()).then_some(Nest { function, planner, calls, counter, head: id, inside, bound })
    }

    /// The function with the loop divided.
    fn divided(&self) -> Function {
        let mut b = Builder { function: self.function.clone(), block: self.head, span: Span::default() };
        let head = self.function.block(self.head).clone();
        let place = self.counter.steps.place;
        let [entry, tile] = [(); 2].map(|()| {
            let block = b.function.new_block();
            let params = head.params.iter().map(|param| b.function.add_param(block, self.function.ty(*param).clone()));
            (block, params.collect::<Vec<Value>>())
        });

        // Before the first tile, with what the loop is given.
        for (at, block) in b.function.blocks.iter_mut().enumerate() {
            if !self.inside.get(at).is_some_and(|inside| *inside) {
                let to_head = block.term.edges_mut().into_iter().filter(|edge| edge.block == self.head);
                to_head.for_each(|edge| edge.block = entry.0);
            }
        }
        b.block = entry.0;
        let bound = match self.bound {
            None => self.counter.test.bound,
            Some(length) => again(&mut b, length, length.args.clone()),
        };
        let mut tiles =
            Tiles { lists: Vec::new(), exact: Vec::new(), computes: bound, start: tile.1[place], stop: bound };
        let of_floats = Type::list(Type::Float);
        for _ in &self.calls {
            tiles.lists.push(b.inst(Opcode::List, Vec::new(), of_floats.clone(), None));
        }
        let few = b.constant(Object::int(FEW));
        let least = counted(&mut b, "int.add", entry.1[place], few);
        tiles.computes = less(&mut b, least, bound);
        let (computing, begun) = b.branch(tiles.computes);
        b.block = computing;
        let first_stop = stop(&mut b, entry.1[place], bound);
        let count = counted(&mut b, "int.sub", first_stop, entry.1[place]);
        let zero = b.constant(Object::Float(0.0));
        let zeros = b.inst(Opcode::List, vec![zero], of_floats, None);
        for list in &tiles.lists {
            b.effect(Opcode::Op("list.extend"), vec![*list, zeros, count], None);
        }
        b.jump(begun, Vec::new());
        b.block = begun;
        b.jump(tile.0, entry.1);

        // Where a tile begins, with what its first round is given.
        b.block = tile.0;
        tiles.stop = stop(&mut b, tiles.start, bound);
        let (computing, ready) = b.branch(tiles.computes);
        b.block = computing;
        self.compute(&mut b, &mut tiles);
        b.jump(ready, Vec::new());
        b.block = ready;
        b.jump(self.head, tile.1);

        // The rounds of a tile, and the next one.
        let Terminator::Branch(_, stays, leaves) = head.term else { unreachable!("a test is the end of a head") };
        let next = b.function.new_block();
        b.block = self.head;
        b.function.block_mut(self.head).term = Terminator::Open;
        let goes_on = less(&mut b, self.counter.test.counter, tiles.stop);
        b.end(Terminator::Branch(goes_on, stays, Edge { block: next, args: Vec::new() }));
        b.block = next;
        let is_left = less(&mut b, self.counter.test.counter, bound);
        let more = b.function.new_block();
        b.end(Terminator::Branch(is_left, Edge { block: more, args: Vec::new() }, leaves));
        b.block = more;
        b.effect(Opcode::Poll, Vec::new(), None);
        b.jump(tile.0, head.params);

        for at in 0..self.calls.len() {
            self.take(&mut b, at, &tiles);
        }
        b.function
    }

    /// Computes the calls for the rounds of a tile.
    fn compute(&self, b: &mut Builder, tiles: &mut Tiles) {
        for of_stage in self.calls.chunk_by(|one, other| one.stage == other.stage) {
            let first = tiles.exact.len();
            let lists = tiles.lists[first..first + of_stage.len()].to_vec();
            let head = b.function.new_block();
            let at = b.function.add_param(head, Type::Int);
            b.jump(head, vec![tiles.start]);
            b.block = head;
            let goes_on = less(b, at, tiles.stop);
            let (body, done) = b.branch(goes_on);
            b.block = body;
            let mut made = HashMap::from([(self.counter.test.counter, (at, true))]);
            let mut exact = Vec::new();
            for (call, list) in of_stage.iter().zip(&lists) {
                let (operand, is_exact) = self.made(b, call.inst.args[0], tiles, &mut made);
                let place = counted(b, "int.sub", at, tiles.start);
                b.effect(Opcode::Op("list.set"), vec![*list, place, operand], None);
                exact.push(is_exact && cannot_fail(call.inst));
            }
            let one = b.constant(Object::int(1));
            let next = counted(b, "int.add", at, one);
            b.jump(head, vec![next]);
            b.block = done;
            let count = counted(b, "int.sub", tiles.stop, tiles.start);
            for (call, list) in of_stage.iter().zip(lists) {
                if let Some(each) = call.strip.each {
                    b.inst(Opcode::Op(each.name), vec![list, count], Type::Int, None);
                }
            }
            tiles.exact.extend(exact);
        }
    }

    /// A value of a round, made once more where a tile is computed; and whether it is the round's for certain. Those
    /// that were made are in `made`.
    fn made(
        &self,
        b: &mut Builder,
        value: Value,
        tiles: &Tiles,
        made: &mut HashMap<Value, (Value, bool)>,
    ) -> (Value, bool) {
        if let Some(made) = made.get(&value) {
            return *made;
        }
        let Some((_, by)) = self.planner.made.get(&value) else { return (value, true) };
        let before = self.calls[..tiles.exact.len()].iter().position(|call| call.result == value);
        let own = match (by, before) {
            (_, Some(call)) => {
                let (counter, _) = self.made(b, self.counter.test.counter, tiles, made);
                (element(b, tiles.lists[call], counter, tiles.start), tiles.exact[call])
            }
            (Made::Join(way), _) => {
                let mut values = Vec::new();
                way.values(&mut values);
                let mut exact = true;
                for value in values {
                    exact &= self.made(b, value, tiles, made).1;
                }
                let param = b.function.new_value(self.function.ty(value).clone());
                let way = way.renamed(&|value| made.get(&value).map_or(value, |(value, _)| *value));
                (way.chosen(b, param), exact)
            }
            (Made::By(inst), _) => {
                let mut exact = cannot_fail(inst);
                let mut args = Vec::new();
                for arg in &inst.args {
                    let (arg, is_exact) = self.made(b, *arg, tiles, made);
                    args.push(arg);
                    exact &= is_exact;
                }
                let own = match self.planner.without_errors(inst) {
                    Some(op) => b.inst(Opcode::Op(op), args, Type::Float, None),
                    None => again(b, inst, args),
                };
                (own, exact)
            }
        };
        made.insert(value, own);
        own
    }

    /// Reads in a round what was computed of a call, if anything was and that is what the call gives.
    fn take(&self, b: &mut Builder, call: usize, tiles: &Tiles) {
        let (call, list, exact) = (&self.calls[call], tiles.lists[call], tiles.exact[call]);
        let at = b.function.blocks.iter().enumerate().find_map(|(block, data)| {
            let inst = data.insts.iter().position(|inst| inst.result == Some(call.result))?;
            Some((BlockId(block as u32), inst))
        });
        let Some((block, place)) = at else { return };
        let data = b.function.block_mut(block);
        let rest = data.insts.split_off(place + 1);
        let Some(mut inst) = data.insts.pop() else { return };
        let term = std::mem::replace(&mut data.term, Terminator::Open);
        (b.block, b.span) = (block, inst.span);
        let (there, asked) = b.branch(tiles.computes);
        let join = b.function.new_block();
        b.function.block_mut(join).params.push(call.result);
        b.block = there;
        let value = element(b, list, self.counter.test.counter, tiles.start);
        let taken = Edge { block: join, args: vec![value] };
        if exact {
            b.end(Terminator::Jump(taken));
        } else {
            // Of what is not finite the difference is NaN.
            let difference = b.inst(Opcode::Op("float.sub"), vec![value, value], Type::Float, None);
            let is_finite = b.inst(Opcode::Op("float.eq"), vec![difference, difference], Type::Bool, None);
            b.end(Terminator::Branch(is_finite, taken, Edge { block: asked, args: Vec::new() }));
        }
        b.block = asked;
        let result = b.function.new_value(Type::Float);
        inst.result = Some(result);
        b.function.block_mut(asked).insts.push(inst);
        b.jump(join, vec![result]);
        let data = b.function.block_mut(join);
        data.insts = rest;
        data.term = term;
    }
}

/// The number with which a tile ends that begins with `start`.
fn stop(b: &mut Builder, start: Value, bound: Value) -> Value {
    let rounds = b.constant(Object::int(TILE));
    let end = counted(b, "int.add", start, rounds);
    let is_whole = less(b, end, bound);
    let join = b.function.new_block();
    let stop = b.function.add_param(join, Type::Int);
    let [whole, rest] = [end, bound].map(|value| Edge { block: join, args: vec![value] });
    b.end(Terminator::Branch(is_whole, whole, rest));
    b.block = join;
    stop
}

/// The lengths of lists of which a number is the least, as `zip` takes it; none if it is not.
fn lengths(function: &Function, value: Value, most: usize) -> Vec<&Inst> {
    match function.made_by(value) {
        Some(made) if live::core_op(made) == Some(CoreOp::ListLen) => vec![made],
        None if most > 1 => {
            let join = function.blocks.iter().position(|block| block.params.contains(&value));
            let Some(join) = join.map(|block| BlockId(block as u32)) else { return Vec::new() };
            let into = |block: &&exuvia_ir::BlockData| block.term.edges().iter().any(|edge| edge.block == join);
            let mut from = function.blocks.iter().filter(into);
            let (Some(fork), None) = (from.next(), from.next()) else { return Vec::new() };
            let Terminator::Branch(test, yes, no) = &fork.term else { return Vec::new() };
            let place = function.block(join).params.iter().position(|param| *param == value);
            let given = |edge: &Edge| edge.args.get(place?).copied();
            let test = fork.insts.iter().find(|inst| inst.result == Some(*test) && inst.op.is_op("int.lt"));
            match (test.map(|test| &test.args[..]), given(yes), given(no)) {
                (Some([less, more]), Some(a), Some(b)) if a == *less && b == *more => {
                    let [mut of_both, others] = [a, b].map(|value| lengths(function, value, most - 1));
                    if of_both.is_empty() || others.is_empty() {
                        return Vec::new();
                    }
                    of_both.extend(others);
                    of_both
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Whether a function may make a list shorter.
fn may_shrink(function: &Function) -> bool {
    let writes = |inst: &Inst| live::definition(inst).is_some_and(|def| def.effect == Effect::Write);
    let grows = |inst: &Inst| {
        matches!(live::core_op(inst), Some(CoreOp::ListAppend | CoreOp::ListReserve | CoreOp::ListExtend))
    };
    let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.op, Opcode::Call(_)) || writes(inst) && !grows(inst))
}

/// An instruction once more, of other operands.
fn again(b: &mut Builder, inst: &Inst, args: Vec<Value>) -> Value {
    let ty = inst.result.map_or(Type::None, |result| b.function.ty(result).clone());
    let result = b.function.new_value(ty);
    b.function.block_mut(b.block).insts.push(Inst { args, result: Some(result), unwind: None, ..inst.clone() });
    result
}

/// A sum or a difference of counters, none of which is beyond a list's length by more than a tile.
fn counted(b: &mut Builder, op: &'static str, left: Value, right: Value) -> Value {
    let result = b.inst(Opcode::Op(op), vec![left, right], Type::Int, None);
    if let Some(inst) = b.function.block_mut(b.block).insts.last_mut() {
        inst.no_overflow = true;
    }
    result
}

fn less(b: &mut Builder, left: Value, right: Value) -> Value {
    b.inst(Opcode::Op("int.lt"), vec![left, right], Type::Bool, None)
}

/// What was computed for the round of a counter, in the tile from `start` on.
fn element(b: &mut Builder, list: Value, counter: Value, start: Value) -> Value {
    let at = counted(b, "int.sub", counter, start);
    b.inst(Opcode::Op("list.get_unchecked"), vec![list, at], Type::Float, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exuvia_ops::cx::Cx;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// The operations on lists in what becomes of a function of a float and an int, which gives the same for some.
    fn divided(text: &str) -> usize {
        let module = exuvia_ir::parse_module(text, &|name| exuvia_ops::by_name(name).map(|def| def.name));
        let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
        exuvia_opt::verify(&module).unwrap();
        let divided = distributed(&module);
        exuvia_opt::verify(&divided).unwrap_or_else(|error| panic!("{error}\n{}", *divided));
        for n in [-1, 0, 1, 5, 255, 256, 257, 600] {
            for a in [0.25, -3.0, f64::INFINITY] {
                let args = [Object::Float(a), Object::int(n)];
                let [before, after] = [&module, &*divided].map(|module| {
                    let mut cx = Cx::new(16 << 20, false, Arc::new(AtomicBool::new(false)));
                    format!("{:?}", exuvia_eval::call(module, &args, &mut cx, &mut u64::MAX.clone()))
                });
                assert_eq!(before, after, "{args:?}\n{}", *divided);
            }
        }
        let insts = divided.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts);
        insts.filter(|inst| matches!(inst.op, Opcode::Op(name) if name.starts_with("strip."))).count()
    }

    /// A loop over a list of so many multiples of a float, with other insts in its round.
    fn over(round: &str) -> String {
        format!(
            r#"fn f0 "f"(v0: float, v1: int) -> float {{
b0:
  v2: int = const 0
  v3: int = const 1
  v4: float = const 0.0
  v5: list[float] = list
  jump b1(v2, v4)
b1(v6: int, v7: float):
  v8: bool = int.lt v6 v1
  branch v8 b2 b3
b2:
  list.append v5 v7
  v9: float = float.add v7 v0
  v10: int = int.add v6 v3 fits
  jump b1(v10, v9)
b3:
  v11: int = list.len v5 fits
  jump b4(v2, v4)
b4(v12: int, v13: float):
  v14: bool = int.lt v12 v11
  branch v14 b5 b9(v13)
b5:
  v15: int = int.add v12 v3 fits
{round}
  v99: float = float.add v13 v90
  poll
  jump b4(v15, v99)
b9(v98: float):
  return v98
}}
"#
        )
    }

    const READ: &str = "  v16: float = list.get_unchecked v5 v12\n";

    #[test]
    fn one_after_the_other_and_of_others() {
        assert_eq!(divided(&over(&format!("{READ}  v90: float = ufunc.exp v16"))), 1);
        let two = "  v17: float = ufunc.sin v16\n  v18: float = float.mul v17 v0\n  v90: float = ufunc.cos v18";
        assert_eq!(divided(&over(&format!("{READ}{two}"))), 2);
        // Of one operand, and one that may raise, of a quotient that may.
        let of_one = "  v17: float = math.sin v16\n  v18: float = ufunc.cos v16\n  v19: float = float.div v18 v16\n";
        let round = format!("{READ}{of_one}  v20: float = float.add v17 v19\n  v90: float = math.exp v20");
        assert_eq!(divided(&over(&round)), 3);
        // The counter itself.
        assert_eq!(divided(&over("  v17: float = int.to_float v12\n  v90: float = math.cos v17")), 1);
    }

    #[test]
    fn what_a_round_leaves_to_the_next() {
        let carried = "  v17: float = float.add v16 v13\n  v90: float = ufunc.sin v17";
        assert_eq!(divided(&over(&format!("{READ}{carried}"))), 0);
    }

    #[test]
    fn ways_that_join_and_calls_of_some_rounds() {
        let chosen = "  v17: bool = float.lt v16 v0\n  branch v17 b6(v0) b6(v16)\nb6(v18: float):\n";
        assert_eq!(divided(&over(&format!("{READ}{chosen}  v90: float = ufunc.cos v18"))), 1);
        let some =
            "  v17: bool = float.lt v0 v16\n  branch v17 b6 b7(v4)\nb6:\n  v18: float = math.cos v16\n  jump b7(v18)
b7(v90: float):";
        assert_eq!(divided(&over(&format!("{READ}{some}"))), 1);
    }

    #[test]
    fn loops_that_end_before() {
        // The list through which it walks has an element for each round, done or not.
        let leaves = "  v17: float = ufunc.cos v16\n  v18: bool = float.lt v17 v4\n  branch v18 b9(v17) b6\nb6:
  v90: float = float.neg v17";
        assert_eq!(divided(&over(&format!("{READ}{leaves}"))), 1);
        // Another may have none.
        let other = "  v16: bool = int.lt v12 v11\n  branch v16 b6 b9(v13)\nb6:\n  v17: list[float] = list v0
  v18: float = list.get_unchecked v5 v12\n  v90: float = ufunc.cos v18";
        let by_counter = |text: String| text.replace("v14: bool = int.lt v12 v11", "v14: bool = int.lt v12 v1");
        assert_eq!(divided(&by_counter(over(other))), 0);
        // Nor what is read behind an index that is checked.
        let checked =
            "  v17: float = list.get v5 v12\n  v18: float = list.get_unchecked v5 v12\n  v90: float = ufunc.cos v18";
        assert_eq!(divided(&by_counter(over(checked))), 0);
    }

    #[test]
    fn what_the_head_does() {
        let text = over(&format!("{READ}  v90: float = ufunc.exp v16"));
        // Once more than there are rounds, and once more for each tile.
        let test = "  v14: bool = int.lt v12 v11\n";
        let called = text.replace(test, &format!("  v30: float = ufunc.cos v0\n{test}")).replace("b9(v13)", "b9(v30)");
        let called = called.replace("  return v98", "  v97: float = float.add v98 v13\n  return v97");
        assert_eq!(divided(&called), 1);
        let taken = called.replace("ufunc.exp v16", "float.add v16 v30");
        assert_eq!(divided(&taken), 0);
        assert_eq!(divided(&text.replace(test, &format!("  list.append v5 v0\n{test}"))), 0);
        let length = text.replace(test, "  v31: int = list.len v5\n  v14: bool = int.lt v12 v31\n");
        assert_eq!(divided(&length), 1);
    }

    #[test]
    fn what_may_raise_in_vain() {
        let guarded = |inst: &str| {
            let guard = format!("  v17: bool = float.lt v0 v16\n  branch v17 b6 b7(v4)\nb6:\n{inst}");
            over(&format!("{READ}{guard}\n  v19: float = math.cos v18\n  jump b7(v19)\nb7(v90: float):"))
        };
        assert_eq!(divided(&guarded("  v18: float = float.div v0 v16")), 1);
        let power = "  v20: float = const 2.0\n  v18: float = float.pow v16 v20";
        assert_eq!(divided(&guarded(power)), 0);
        let product = "  v20: int = int.mul v12 v1\n  v18: float = int.to_float v20";
        assert_eq!(divided(&guarded(product)), 0);
        assert_eq!(divided(&guarded(&product.replace("v12 v1", "v12 v1 fits"))), 1);
    }

    #[test]
    fn loops_one_after_the_other() {
        let text = over(&format!("{READ}  v90: float = ufunc.exp v16"));
        let second = "b9(v98: float):
  v40: float = const 0.0
  jump b10(v2, v40)
b10(v41: int, v42: float):
  v43: bool = int.lt v41 v11
  branch v43 b11 b12
b11:
  v44: int = int.add v41 v3 fits
  v45: float = list.get_unchecked v5 v41
  v46: float = ufunc.sin v45
  v47: float = float.add v42 v46
  jump b10(v44, v47)
b12:
  v48: float = float.add v98 v42
  return v48
";
        let both = text.replace("b9(v98: float):\n  return v98\n", second);
        assert_eq!(divided(&both), 2);
    }

    #[test]
    fn lists_that_change() {
        let set = "  list.set v5 v12 v0\n  v90: float = ufunc.cos v16";
        assert_eq!(divided(&over(&format!("{READ}{set}"))), 0);
        let grown = "  v17: list[float] = list v16\n  list.append v17 v0\n  v90: float = ufunc.cos v16";
        assert_eq!(divided(&over(&format!("{READ}{grown}"))), 1);
        // A list that may have become shorter since it was measured.
        let shorter = over(&format!("{READ}  v90: float = ufunc.cos v16")).replace(
            "  jump b4(v2, v4)",
            "  v20: bool = int.lt v2 v1\n  branch v20 b4(v2, v4) b8\nb8:\n  v21: float = list.pop v5\n  return v21",
        );
        assert_eq!(divided(&shorter), 1, "every round reads it");
        let left = "  v17: bool = float.lt v16 v0\n  branch v17 b9(v13) b6\nb6:\n  v90: float = ufunc.cos v16";
        let shorter = over(&format!("{READ}{left}")).replace(
            "  jump b4(v2, v4)",
            "  v20: bool = int.lt v2 v1\n  branch v20 b4(v2, v4) b8\nb8:\n  v21: float = list.pop v5\n  return v21",
        );
        assert_eq!(divided(&shorter), 0);
    }
}
