//! Elementary functions of a chunk's rows, computed before its loop (loop distribution).
//!
//! The calls of `math.exp` and its like that a row function makes are parted from it: a loop of its own, a
//! *stage*, computes their operands for all rows of the chunk, a [`Strip`] of each function its values, and the
//! loop over the rows finds them there. Calls whose operands need values of others come in later stages. Strips
//! take less time than calls one by one (`exuvia_ops::math::strip`).
//!
//! A value that is computed before is only taken where the row makes the call, and where it is finite; else the
//! operation is done as if there were no strips. So a stage need not know whether a row comes to a call, and may
//! fail: where it does, or a NULL lies, the value is anything that nobody takes, or NaN.

use crate::live::{self, Live};
use crate::translate::has_short_power;
use exuvia_ir::{BlockId, Builder, Flow, Function, Inst, Module, Object, Opcode, Terminator, Type, Value};
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
    /// The results that are, with their numbers.
    pub taken: HashMap<Value, usize>,
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
    let taken = calls.iter().enumerate().map(|(number, call)| (call.result, number)).collect();
    let last = calls.iter().map(|call| call.stage).max().unwrap_or(0);
    let stages = (0..=last).map(|stage| planner.stage(stage, &calls)).collect();
    Strips { stages, taken }
}

/// The name and the strip of the operation that an instruction does.
fn strip_of(inst: &Inst) -> Option<(&'static str, &'static Strip)> {
    let def = live::definition(inst)?;
    Some((def.name, def.strip?))
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

/// Where an instruction stands, in an order in which values are made before they are used.
type Place = (usize, usize);

/// Instructions, and the stage in which each can be done.
type Slice = BTreeMap<Place, usize>;

struct Planner<'f> {
    function: &'f Function,
    live: Live,
    /// The blocks outside of loops in that order, with the share of rows that come to them.
    blocks: Vec<(BlockId, f32)>,
    /// The instructions that make values, by where they stand.
    made: HashMap<Value, (Place, &'f Inst)>,
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
            for (at, inst) in function.block(*block).insts.iter().enumerate() {
                if let Some(result) = inst.result {
                    made.insert(result, ((order, at), inst));
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
        let Some((place, inst)) = self.made.get(&value) else {
            let is_param = self.function.block(self.function.entry()).params.contains(&value);
            return (is_param && (is_number(ty) || is_optional_number(ty))).then_some(0);
        };
        if let Some(stage) = slice.get(place) {
            return Some(*stage);
        }
        if slice.len() >= MOST_INSTRUCTIONS || !is_number(ty) {
            return None;
        }
        let mut stage = match &inst.op {
            Opcode::Const(Object::Float(_) | Object::Int(_)) | Opcode::Unwrap => 0,
            Opcode::Op(_) => match calls.iter().find(|call| call.result == value) {
                Some(call) => call.stage + 1,
                None if self.is_short(inst) => 0,
                None => {
                    let def = live::definition(inst)?;
                    (matches!(def.body, Body::Core(_)) && def.effect == Effect::Pure).then_some(0)?
                }
            },
            _ => return None,
        };
        for arg in &inst.args {
            stage = stage.max(self.operand(*arg, calls, slice)?);
        }
        slice.insert(*place, stage);
        Some(stage)
    }

    /// Whether it is a power that native code computes without a call.
    fn is_short(&self, inst: &Inst) -> bool {
        let exponent = inst.args.get(1).and_then(|arg| self.made.get(arg));
        let exponent = exponent.and_then(|(_, made)| match &made.op {
            Opcode::Const(object) => Some(object),
            _ => None,
        });
        live::definition(inst).is_some_and(|def| has_short_power(def.name, exponent))
    }

    /// The loop that computes the operands of the calls of a stage.
    fn stage(&self, stage: usize, calls: &[Taken<'f>]) -> Stage {
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
        for (order, at) in slice.into_keys() {
            let inst = &self.function.block(self.blocks[order].0).insts[at];
            entry.insts.push(Inst { unwind: None, ..inst.clone() });
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
