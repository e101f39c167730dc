//! Elementary functions of a chunk's rows, computed before its loop (loop distribution).
//!
//! The calls of `math.exp` and its like that a row function makes are parted from it: a loop of its own, a
//! *stage*, computes their operands for all rows of the chunk, a [`Strip`] of each function its values, and the
//! loop over the rows finds them there. Calls whose operands need values of others come in later stages. Strips
//! take less time than calls one by one (`exuvia_ops::math::strip`).
//!
//! A value that is computed before is only taken where the row makes the call, and where it is finite or nothing on its
//! way can fail; else the operation is done as if there were no strips. So a stage need not know whether a row comes to a call, and may
//! fail: where it does, or a NULL lies, the value is anything that nobody takes, or NaN. Where ways of the row
//! function join, `0.0 if x is None else x`, a stage does what all do and chooses.

use crate::live::{self, Live};
use crate::translate::has_short_power;
use exuvia_ir::{BlockId, Builder, Edge, Flow, Function, Inst, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::def::{Body, Effect};
use exuvia_ops::math::strip::Strip;
use std::collections::{BTreeMap, HashMap};

/// The instructions that a call's operands may take: stages do them once more.
const MOST_INSTRUCTIONS: usize = 64;

/// The calls of a function that are taken.
const MOST_CALLS: usize = 32;

/// The share of rows that must come to a call, as far as the branches before it tell: computing it in vain costs
/// less than half of what it gains.
const LEAST_SHARE: f32 = 0.25;

/// What is computed before the loop of a row function.
#[derive(Default)]
pub(crate) struct Strips {
    pub stages: Vec<Stage>,
    /// The results that are.
    pub taken: HashMap<Value, Precomputed>,
}

/// A result that is computed before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precomputed {
    pub number: usize,
    /// Whether it is the operation's result for each row that makes the call, not only where it is finite.
    pub exact: bool,
}

/// A loop that computes operands, and the functions of these.
pub(crate) struct Stage {
    /// Function 0 takes the row's arguments and gives a tuple of floats.
    pub module: Module,
    pub outputs: usize,
    pub calls: Vec<Call>,
}

/// A function of operands that a stage computes.
#[derive(Debug)]
pub(crate) struct Call {
    /// The operation.
    pub name: &'static str,
    pub strip: &'static Strip,
    /// Which of the stage's outputs they are.
    pub args: Vec<usize>,
    /// The number of its result.
    pub result: usize,
}

/// What can be computed before the loop over a function's rows, if anything is worth it. A loop that `selects`
/// rows computes for those that it drops too: there only calls that all rows make are taken.
pub(crate) fn plan(function: &Function, selects: bool) -> Strips {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    if !insts.clone().any(|inst| strip_of(inst).is_some()) {
        return Strips::default();
    }
    let planner = Planner::new(function);
    let least = if selects { 0.99 } else { LEAST_SHARE };
    let mut calls = planner.calls(least);
    calls.truncate(MOST_CALLS);
    if calls.len() < 2 && !calls.iter().any(|call| (call.strip.has_lanes)()) {
        return Strips::default();
    }
    let mut strips = Strips::default();
    let last = calls.iter().map(|call| call.stage).max().unwrap_or(0);
    for stage in 0..=last {
        let stage = planner.stage(stage, &calls, &mut strips.taken);
        strips.stages.push(stage);
    }
    strips
}

/// The name and the strip of the operation that an instruction does.
fn strip_of(inst: &Inst) -> Option<(&'static str, &'static Strip)> {
    let def = live::definition(inst)?;
    Some((def.name, def.strip?))
}

/// Whether native code never leaves at an instruction.
fn cannot_fail(inst: &Inst) -> bool {
    match inst.op {
        Opcode::Op(_) => inst.no_overflow || live::definition(inst).is_some_and(|def| !def.can_fail()),
        _ => true,
    }
}

/// A call that is taken.
struct Taken<'f> {
    inst: &'f Inst,
    result: Value,
    name: &'static str,
    strip: &'static Strip,
    stage: usize,
    /// What its operands take.
    slice: Slice,
}

/// Where a value is made, in an order in which values are made before they are used: the block, and the place among
/// its parameters and instructions.
type Place = (usize, usize);

/// What makes values, and the stage in which each can be made.
type Slice = BTreeMap<Place, usize>;

/// What makes a value.
enum Made<'f> {
    By(&'f Inst),
    /// Ways that join where it is a parameter.
    Join(Way),
}

/// What a parameter is by the ways to its block.
enum Way {
    Value(Value),
    /// By a condition, and what it is for either answer.
    Fork(Value, Box<[Way; 2]>),
}

impl Way {
    /// That of the parameter at a place, if conditions alone decide between its ways.
    fn to(function: &Function, flow: &Flow, block: BlockId, place: usize) -> Option<Way> {
        let mut from: Vec<usize> = flow.predecessors(flow.first(block)).collect();
        from.dedup();
        if from.len() < 2 || from.iter().any(|at| !flow.segment(*at).last) {
            return None;
        }
        let mut ways = Vec::new();
        for at in from {
            let edges = function.block(flow.segment(at).block).term.edges().into_iter();
            for edge in edges.filter(|edge| edge.block == block) {
                ways.push((at, edge));
            }
        }
        Way::of(function, flow, &ways, place)
    }

    fn of(function: &Function, flow: &Flow, ways: &[(usize, &Edge)], place: usize) -> Option<Way> {
        if let [(_, edge)] = ways {
            return edge.args.get(place).copied().map(Way::Value);
        }
        let fork = ways.iter().map(|(from, _)| *from).reduce(|one, other| flow.meet(one, other))?;
        let block = function.block(flow.segment(fork).block);
        let Terminator::Branch(cond, yes, no) = &block.term else { return None };
        if !flow.segment(fork).last || yes.block == no.block {
            return None;
        }
        let by = |by: &Edge| -> Vec<(usize, &Edge)> {
            let first = flow.first(by.block);
            let leads = flow.predecessors(first).eq([fork]);
            let is_way = |(from, edge): &&(usize, &Edge)| match *from == fork {
                true => std::ptr::eq(*edge, by),
                false => leads && flow.dominates(first, *from),
            };
            ways.iter().filter(is_way).copied().collect()
        };
        let (yes, no) = (by(yes), by(no));
        if yes.is_empty() || no.is_empty() || yes.len() + no.len() != ways.len() {
            return None;
        }
        let both = [Way::of(function, flow, &yes, place)?, Way::of(function, flow, &no, place)?];
        Some(Way::Fork(*cond, Box::new(both)))
    }

    /// The values that it takes.
    fn values(&self, out: &mut Vec<Value>) {
        match self {
            Way::Value(value) => out.push(*value),
            Way::Fork(cond, ways) => {
                out.push(*cond);
                ways.iter().for_each(|way| way.values(out));
            }
        }
    }

    /// Chooses where all its values are there: the parameter, or one value.
    fn chosen(&self, b: &mut Builder, param: Value) -> Value {
        let (cond, ways) = match self {
            Way::Value(value) => return *value,
            Way::Fork(cond, ways) => (cond, ways),
        };
        let values = [0, 1].map(|way| {
            let inner = b.function.new_value(b.function.ty(param).clone());
            ways[way].chosen(b, inner)
        });
        let join = b.function.new_block();
        b.function.block_mut(join).params = vec![param];
        let [yes, no] = values.map(|value| Edge { block: join, args: vec![value] });
        b.end(Terminator::Branch(*cond, yes, no));
        b.block = join;
        param
    }
}

struct Planner<'f> {
    function: &'f Function,
    live: Live,
    /// The blocks outside of loops in that order, with the share of rows that come to them.
    blocks: Vec<(BlockId, f32)>,
    /// What makes values, and where.
    made: HashMap<Value, (Place, Made<'f>)>,
}

impl<'f> Planner<'f> {
    fn new(function: &'f Function) -> Planner<'f> {
        let flow = Flow::new(function);
        let shares = shares(function, &flow);
        let mut in_loop = vec![false; flow.len()];
        for head in flow.order().filter(|at| flow.is_head(*at)) {
            in_loop.iter_mut().zip(flow.body(head)).for_each(|(all, one)| *all |= one);
        }
        let first = |at: &usize| *at == flow.first(flow.segment(*at).block);
        let blocks: Vec<(BlockId, f32)> = flow
            .order()
            .filter(|at| first(at) && !in_loop[*at])
            .map(|at| (flow.segment(at).block, shares[flow.segment(at).block.index()]))
            .collect();
        let mut made = HashMap::new();
        for (order, (block, _)) in blocks.iter().enumerate() {
            let (id, block) = (*block, function.block(*block));
            for (at, param) in block.params.iter().enumerate() {
                if let Some(way) = Way::to(function, &flow, id, at) {
                    made.insert(*param, ((order, at), Made::Join(way)));
                }
            }
            for (at, inst) in block.insts.iter().enumerate() {
                if let Some(result) = inst.result {
                    made.insert(result, ((order, block.params.len() + at), Made::By(inst)));
                }
            }
        }
        Planner { function, live: live::analyse(function), blocks, made }
    }

    /// The calls that can be taken, each after those whose values it needs.
    fn calls(&self, least: f32) -> Vec<Taken<'f>> {
        let mut calls: Vec<Taken<'f>> = Vec::new();
        for (block, share) in &self.blocks {
            if *share < least {
                continue;
            }
            for inst in &self.function.block(*block).insts {
                let (Some((name, strip)), Some(result)) = (strip_of(inst), inst.result) else { continue };
                if !self.live.value(result) || self.is_short(inst) {
                    continue;
                }
                let mut slice = Slice::new();
                let stages: Option<Vec<usize>> =
                    inst.args.iter().map(|arg| self.operand(*arg, &calls, &mut slice)).collect();
                if let Some(stages) = stages {
                    let stage = stages.into_iter().max().unwrap_or(0);
                    calls.push(Taken { inst, result, name, strip, stage, slice });
                }
            }
        }
        calls
    }

    /// Adds what makes a value to a slice, if it is a number that only numbers make; gives the stage in which it
    /// can be done.
    fn operand(&self, value: Value, calls: &[Taken<'f>], slice: &mut Slice) -> Option<usize> {
        let ty = self.function.ty(value);
        let Some((place, made)) = self.made.get(&value) else {
            let is_param = self.function.block(self.function.entry()).params.contains(&value);
            return (is_param && (is_number(ty) || is_optional_number(ty))).then_some(0);
        };
        if let Some(stage) = slice.get(place) {
            return Some(*stage);
        }
        if slice.len() >= MOST_INSTRUCTIONS || !(is_number(ty) || *ty == Type::Bool) {
            return None;
        }
        let (mut stage, mut needed) = (0, Vec::new());
        match made {
            Made::By(inst) => {
                stage = self.stage_of(inst, calls)?;
                needed.extend(&inst.args);
            }
            Made::Join(way) => way.values(&mut needed),
        }
        for needed in needed {
            stage = stage.max(self.operand(needed, calls, slice)?);
        }
        slice.insert(*place, stage);
        Some(stage)
    }

    /// The stage in which an instruction can be done when its operands are there, if it can.
    fn stage_of(&self, inst: &Inst, calls: &[Taken<'f>]) -> Option<usize> {
        match &inst.op {
            Opcode::Const(Object::Float(_) | Object::Int(_) | Object::Bool(_)) => Some(0),
            Opcode::Unwrap | Opcode::Is(Type::None) => Some(0),
            Opcode::Op(_) => match calls.iter().find(|call| inst.result == Some(call.result)) {
                Some(call) => Some(call.stage + 1),
                None if self.is_short(inst) => Some(0),
                None => {
                    let def = live::definition(inst)?;
                    (matches!(def.body, Body::Core(_)) && def.effect == Effect::Pure).then_some(0)
                }
            },
            _ => None,
        }
    }

    /// Whether it is a power that native code computes without a call.
    fn is_short(&self, inst: &Inst) -> bool {
        let exponent = inst.args.get(1).and_then(|arg| self.made.get(arg));
        let exponent = exponent.and_then(|(_, made)| match made {
            Made::By(Inst { op: Opcode::Const(object), .. }) => Some(object),
            _ => None,
        });
        live::definition(inst).is_some_and(|def| has_short_power(def.name, exponent))
    }

    /// The loop that computes the operands of the calls of a stage, whose results are added to those of the ones
    /// before.
    fn stage(&self, stage: usize, calls: &[Taken<'f>], taken: &mut HashMap<Value, Precomputed>) -> Stage {
        let mut slice = Slice::new();
        let mut operands: Vec<Value> = Vec::new();
        let mut made = Vec::new();
        for (number, call) in calls.iter().enumerate().filter(|(_, call)| call.stage == stage) {
            slice.extend(&call.slice);
            let mut args = Vec::new();
            for arg in &call.inst.args {
                let at = operands.iter().position(|operand| operand == arg);
                args.push(at.unwrap_or_else(|| {
                    operands.push(*arg);
                    operands.len() - 1
                }));
            }
            made.push(Call { name: call.name, strip: call.strip, args, result: number });
        }
        let name = format!("operands {stage} of {}", self.function.name);
        let mut b = Builder::new(name, &[], Type::Tuple(operands.iter().map(|_| Type::Float).collect()));
        // Its values and parameters are those of the row function.
        b.function.values.clone_from(&self.function.values);
        let entry = b.function.block_mut(b.block);
        entry.params.clone_from(&self.function.block(self.function.entry()).params);
        // Whether each row comes to the end.
        let mut exact = operands.iter().all(|operand| *b.function.ty(*operand) == Type::Float);
        for (order, at) in slice.into_keys() {
            let block = self.function.block(self.blocks[order].0);
            if let Some(inst) = at.checked_sub(block.params.len()).map(|at| &block.insts[at]) {
                exact &= match inst.result.and_then(|result| taken.get(&result)) {
                    Some(computed) => computed.exact,
                    None => cannot_fail(inst),
                };
                b.function.block_mut(b.block).insts.push(Inst { unwind: None, ..inst.clone() });
                continue;
            }
            if let Some((_, Made::Join(way))) = self.made.get(&block.params[at]) {
                way.chosen(&mut b, block.params[at]);
            }
        }
        for (number, call) in calls.iter().enumerate().filter(|(_, call)| call.stage == stage) {
            taken.insert(call.result, Precomputed { number, exact: exact && cannot_fail(call.inst) });
        }
        // The floats that the operations make of their operands.
        let outputs = operands.iter().map(|operand| match b.function.ty(*operand) {
            Type::Float => *operand,
            _ => b.inst(Opcode::Op("int.to_float"), vec![*operand], Type::Float, None),
        });
        let outputs: Vec<Value> = outputs.collect();
        let tuple = b.inst(Opcode::Tuple, outputs, b.function.ret.clone(), None);
        b.end(Terminator::Return(tuple));
        Stage { module: Module { functions: vec![b.function] }, outputs: operands.len(), calls: made }
    }
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Float | Type::Int)
}

fn is_optional_number(ty: &Type) -> bool {
    ty.alternatives().iter().all(|ty| *ty == Type::None || is_number(ty))
}

/// For each block the share of rows that come to it, as far as its branches tell: few arguments are NULL, few
/// rows raise, and of others half goes each way.
fn shares(function: &Function, flow: &Flow) -> Vec<f32> {
    let mut nulls = vec![false; function.values.len()];
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let (Opcode::Is(Type::None), Some(result)) = (&inst.op, inst.result) {
            nulls[result.index()] = true;
        }
    }
    let leaves = |block: BlockId| {
        let term = &function.block(block).term;
        matches!(term, Terminator::Raise(..) | Terminator::Reraise(..) | Terminator::Bailout(..))
    };
    let mut shares = vec![0.0; function.blocks.len()];
    shares[function.entry().index()] = 1.0;
    for at in flow.order().filter(|at| flow.segment(*at).last) {
        let block = flow.segment(at).block;
        let share = shares[block.index()];
        match &function.block(block).term {
            Terminator::Jump(edge) => shares[edge.block.index()] += share,
            Terminator::Branch(cond, yes, no) => {
                let to_yes = match () {
                    () if leaves(no.block) => 1.0,
                    () if nulls[cond.index()] || leaves(yes.block) => 0.0,
                    () => 0.5,
                };
                shares[yes.block.index()] += share * to_yes;
                shares[no.block.index()] += share * (1.0 - to_yes);
            }
            _ => {}
        }
    }
    shares
}
