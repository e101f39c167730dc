//! Elementary functions of a chunk's rows, computed before its loop (loop distribution).
//!
//! The calls of `math.exp` and its like that a row function makes are parted from it: a loop of its own, a
//! *stage*, computes their operands for all rows of the chunk, a [`Strip`] of each function its values, and the
//! loop over the rows finds them there. Calls whose operands need values of others come in later stages. Strips
//! take less time than calls one by one (`exuvia_ops::math::strip`).
//!
//! A value that is computed before is only taken where the row makes the call, and where it is finite or nothing
//! on its way can fail; else the operation is done as if there were no strips. So a stage need not know whether a
//! row comes to a call, and may fail: where it does, or a NULL lies, the value is anything that nobody takes, or
//! NaN. Where ways of the row function join, `0.0 if x is None else x`, a stage does what all do and chooses. What
//! stages make on the way and the loop needs too is kept for it, where that is dear to make again.

mod way;

use crate::live::{self, Live};
use crate::translate::has_short_power;
use exuvia_ir::{BlockId, Builder, Flow, Function, Inst, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::{CoreOp, Ieee};
use exuvia_ops::def::{Body, Effect};
use exuvia_ops::math::strip::Strip;
use std::collections::{BTreeMap, HashMap, HashSet};
use way::Way;

/// The instructions that a call's operands may take: stages do them once more.
const MOST_INSTRUCTIONS: usize = 64;

/// The calls of a function that are taken.
const MOST_CALLS: usize = 32;

/// The share of rows that must come to a call, as far as the branches before it tell: computing it in vain costs
/// less than half of what it gains.
const LEAST_SHARE: f32 = 0.25;

/// From what a value takes on to make, in arithmetic of which a division is [`DIVISION`], a stage leaves it to the loop.
const LEAST_KEPT: usize = 6;
const DIVISION: usize = 4;

/// What is computed before the loop of a row function.
#[derive(Default)]
pub(crate) struct Strips {
    pub stages: Vec<Stage>,
    /// The values that are.
    pub taken: HashMap<Value, Precomputed>,
}

/// A value that is computed before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precomputed {
    pub number: usize,
    /// The stage that does it.
    pub stage: usize,
    /// Whether it is the value for each row that needs it, not only where it is finite.
    pub exact: bool,
}

/// A loop that computes operands, and the functions of these.
pub(crate) struct Stage {
    /// Function 0 takes the row's arguments and gives a tuple of floats.
    pub module: Module,
    /// The elements of that tuple: operands, or values with such a number.
    pub outputs: Vec<Option<usize>>,
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
    let slices = planner.slices(&calls);
    let mut taken = HashMap::new();
    for (number, call) in calls.iter().enumerate() {
        let exact = slices[call.stage].1 && cannot_fail(call.inst);
        taken.insert(call.result, Precomputed { number, stage: call.stage, exact });
    }
    for (value, stage) in planner.kept(&slices, &taken) {
        taken.insert(value, Precomputed { number: taken.len(), stage, exact: true });
    }
    let stages = slices.iter().enumerate().map(|(stage, (slice, _))| planner.stage(stage, slice, &calls, &taken));
    Strips { stages: stages.collect(), taken }
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

    /// What each stage does, and whether all rows come to its end.
    fn slices(&self, calls: &[Taken<'f>]) -> Vec<(Slice, bool)> {
        let last = calls.iter().map(|call| call.stage).max().unwrap_or(0);
        let mut slices: Vec<(Slice, bool)> = Vec::new();
        for stage in 0..=last {
            let (mut slice, mut exact) = (Slice::new(), true);
            for call in calls.iter().filter(|call| call.stage == stage) {
                slice.extend(&call.slice);
                exact &= call.inst.args.iter().all(|arg| *self.function.ty(*arg) == Type::Float);
            }
            for inst in slice.keys().filter_map(|place| self.inst(*place)) {
                let before = calls.iter().find(|call| inst.result == Some(call.result));
                exact &= cannot_fail(inst) && before.is_none_or(|call| slices[call.stage].1);
            }
            slices.push((slice, exact));
        }
        slices
    }

    /// The instruction at a place, if no parameter is there.
    fn inst(&self, (order, at): Place) -> Option<&'f Inst> {
        let block = self.function.block(self.blocks[order].0);
        at.checked_sub(block.params.len()).map(|at| &block.insts[at])
    }

    /// Values of stages that the loop over the rows needs besides, and that take long to make again.
    fn kept(&self, slices: &[(Slice, bool)], taken: &HashMap<Value, Precomputed>) -> Vec<(Value, usize)> {
        let stage_of = |value: &Value| {
            let (place, _) = self.made.get(value)?;
            slices.iter().position(|(slice, exact)| *exact && slice.contains_key(place))
        };
        let mut work = Vec::new();
        for block in &self.function.blocks {
            for inst in block.insts.iter().filter(|inst| self.live.inst(inst)) {
                let by_stage =
                    inst.result.is_some_and(|result| taken.contains_key(&result) || stage_of(&result).is_some());
                if !by_stage {
                    work.extend(&inst.args);
                }
            }
            block.term.for_each_value(|value| work.push(value));
        }
        let (mut kept, mut seen) = (Vec::new(), HashSet::new());
        while let Some(value) = work.pop() {
            if taken.contains_key(&value) || !seen.insert(value) {
                continue;
            }
            let Some(stage) = stage_of(&value) else { continue };
            let is_op = matches!(self.made.get(&value), Some((_, Made::By(inst))) if matches!(inst.op, Opcode::Op(_)));
            if is_op
                && *self.function.ty(value) == Type::Float
                && self.cost(value, taken, MOST_INSTRUCTIONS) >= LEAST_KEPT
            {
                kept.push((value, stage));
            } else {
                self.operands(value, &mut work);
            }
        }
        kept.sort_unstable();
        kept
    }

    /// What a value is made of.
    fn operands(&self, value: Value, out: &mut Vec<Value>) {
        match self.made.get(&value) {
            Some((_, Made::By(inst))) => out.extend(&inst.args),
            Some((_, Made::Join(way))) => way.values(out),
            None => {}
        }
    }

    /// What it takes to make a value of those that are there, up to a limit.
    fn cost(&self, value: Value, taken: &HashMap<Value, Precomputed>, most: usize) -> usize {
        let own = match self.made.get(&value) {
            Some((_, Made::By(inst))) => match live::core_op(inst) {
                Some(CoreOp::FloatDiv | CoreOp::FloatSqrt | CoreOp::Ieee(Ieee::Div | Ieee::Sqrt)) => DIVISION,
                Some(_) => 1,
                None => 0,
            },
            Some((_, Made::Join(_))) => 1,
            None => 0,
        };
        if taken.contains_key(&value) || own >= most {
            return own;
        }
        let mut operands = Vec::new();
        self.operands(value, &mut operands);
        operands.into_iter().fold(own, |sum, operand| match most.checked_sub(sum) {
            Some(rest @ 1..) => sum + self.cost(operand, taken, rest),
            _ => sum,
        })
    }

    /// The loop that does the slice of a stage.
    fn stage(&self, stage: usize, slice: &Slice, calls: &[Taken<'f>], taken: &HashMap<Value, Precomputed>) -> Stage {
        let (mut operands, mut made): (Vec<Value>, Vec<Call>) = (Vec::new(), Vec::new());
        for (number, call) in calls.iter().enumerate().filter(|(_, call)| call.stage == stage) {
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
        let mut outputs = vec![None; operands.len()];
        let mut kept: Vec<(&Value, usize)> = taken
            .iter()
            .filter(|(_, kept)| kept.stage == stage && kept.number >= calls.len())
            .map(|(value, kept)| (value, kept.number))
            .collect();
        kept.sort_unstable_by_key(|(_, number)| *number);
        for (value, number) in kept {
            operands.push(*value);
            outputs.push(Some(number));
        }
        let name = format!("operands {stage} of {}", self.function.name);
        let mut b = Builder::new(name, &[], Type::Tuple(operands.iter().map(|_| Type::Float).collect()));
        // Its values and parameters are those of the row function.
        b.function.values.clone_from(&self.function.values);
        let entry = b.function.block_mut(b.block);
        entry.params.clone_from(&self.function.block(self.function.entry()).params);
        for place in slice.keys() {
            if let Some(inst) = self.inst(*place) {
                b.function.block_mut(b.block).insts.push(Inst { unwind: None, ..inst.clone() });
                continue;
            }
            let param = self.function.block(self.blocks[place.0].0).params[place.1];
            if let Some((_, Made::Join(way))) = self.made.get(&param) {
                way.chosen(&mut b, param);
            }
        }
        // The floats that the operations make of their operands.
        let floats = operands.iter().map(|operand| match b.function.ty(*operand) {
            Type::Float => *operand,
            _ => b.inst(Opcode::Op("int.to_float"), vec![*operand], Type::Float, None),
        });
        let floats: Vec<Value> = floats.collect();
        let tuple = b.inst(Opcode::Tuple, floats, b.function.ret.clone(), None);
        b.end(Terminator::Return(tuple));
        Stage { module: Module { functions: vec![b.function] }, outputs, calls: made }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// For each stage, which of its outputs are kept and which calls it makes; and which of all values are exact.
    fn planned(text: &str) -> (Vec<(Vec<bool>, usize)>, Vec<bool>) {
        let module = exuvia_ir::parse_module(text, &|name| exuvia_ops::by_name(name).map(|def| def.name));
        let strips = plan(&module.unwrap_or_else(|error| panic!("{error}")).functions[0], false);
        let of = |stage: &Stage| (stage.outputs.iter().map(Option::is_some).collect(), stage.calls.len());
        let mut taken: Vec<&Precomputed> = strips.taken.values().collect();
        taken.sort_unstable_by_key(|computed| computed.number);
        (strips.stages.iter().map(of).collect(), taken.iter().map(|computed| computed.exact).collect())
    }

    const RATIO: &str = r#"
fn f0 "f"(v0: float, v1: float) -> float {
b0:
  v2: float = ufunc.cos v0
  v3: float = ieee.sqrt v1
  v4: float = ieee.div v2 v3
  v5: float = ufunc.sin v4
  v6: float = float.add v5 v4
  return v6
}
"#;

    #[test]
    fn what_is_dear_and_needed_besides_is_kept() {
        assert_eq!(planned(RATIO), (vec![(vec![false], 1), (vec![false, true], 1)], vec![true, true, true]));
        // What is cheap, and what nobody else needs, is not.
        let cheap = RATIO.replace("ieee.sqrt v1", "float.neg v1").replace("ieee.div", "float.mul");
        assert_eq!(planned(&cheap), (vec![(vec![false], 1), (vec![false], 1)], vec![true, true]));
        let once = RATIO.replace("float.add v5 v4", "float.add v5 v2");
        assert_eq!(planned(&once), (vec![(vec![false], 1), (vec![false], 1)], vec![true, true]));
    }

    #[test]
    fn what_can_fail_is_asked() {
        // Python's division raises, and so do cosines of infinity.
        let division = RATIO.replace("ieee.div", "float.div");
        assert_eq!(planned(&division), (vec![(vec![false], 1), (vec![false], 1)], vec![true, false]));
        let cosine = RATIO.replace("ufunc.cos", "math.cos");
        assert_eq!(planned(&cosine), (vec![(vec![false], 1), (vec![false], 1)], vec![false, false]));
    }
}
