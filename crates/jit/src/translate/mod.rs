//! From a function of the IR to Cranelift's.
//!
//! Values are translated one to one: an SSA value becomes the registers of its slots, a
//! block parameter a parameter of the block. Constants are made where they are used.
//! How a row or a call ends is up to the caller ([`Ending`]): the same translation
//! serves the loop over a batch and functions that are called.

mod big;
mod call;
mod choose;
mod float;
mod int;
mod list;
mod memo;
mod place;
mod power;
mod rounding;
mod search;
mod shortcut;
mod str;
mod table;
mod tiles;
mod turns;
mod union;
mod wide;

pub(crate) use big::{BOXED_WORDS, Boxed, BoxedArg};
pub(crate) use call::signature as call_signature;
pub(crate) use list::load_slots;
pub(crate) use power::has_short_power;

use crate::CompileError;
use crate::alias;
use crate::batch::RowEnd;
use crate::choices::Choices;
use crate::compile::Unit;
use crate::headers::Headers;
use crate::live::{Live, core_op};
use crate::slots;
use crate::strips::Precomputed;
use crate::width::{self, Widths};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    Block, BlockArg, FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Type as Reg,
    Value as Machine, types,
};
use cranelift_frontend::FunctionBuilder;
use exuvia_ir::{BlockId, Edge, ExcKind, Flow, Function, Inst, Int, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, status};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// A result, or why there is no native code.
pub(crate) type Result<T> = std::result::Result<T, CompileError>;

/// What every translated function has at hand.
#[derive(Clone, Copy)]
pub(crate) struct Environment {
    /// The address of the [`crate::batch::Frame`].
    pub frame: Machine,
    /// The address of the `Cx`.
    pub cx: Machine,
    /// How many more calls may nest.
    pub depth: Machine,
    /// The address of the flag of cancellation.
    pub interrupt: Machine,
    /// Where to go with a status when the row leaves the fast path. Takes one parameter.
    pub exit: Block,
}

/// The operations whose results serve others of the same operands, and how many of a block are remembered.
const LOOKED_FOR: [&str; 2] = ["str.char_at_byte", "int.floordiv"];
const MOST_DONE: usize = 8;

/// What becomes of a returned value.
#[derive(Clone)]
pub(crate) enum Ending {
    /// It is the row's result.
    Row(Rc<RowEnd>),
    /// It is returned to the calling function.
    Call,
}

/// The translation of one function.
pub(crate) struct Translator<'t, 'b, 'm> {
    pub b: &'t mut FunctionBuilder<'b>,
    pub unit: &'t mut Unit<'m>,
    pub function: &'m Function,
    pub live: &'t Live,
    pub env: Environment,
    ending: Ending,
    blocks: Vec<Option<Block>>,
    values: Vec<Option<Vec<Machine>>>,
    constants: HashMap<Value, &'m Object>,
    /// The operations whose results values are.
    made_by: HashMap<Value, &'static str>,
    /// The types of what was put into unions.
    wrapped: HashMap<Value, &'m Type>,
    imported: HashMap<cranelift_module::FuncId, FuncRef>,
    /// Where calls that few rows make write what they return, and how many words.
    returned: Option<(StackSlot, usize)>,
    /// The blocks that leave the fast path, by their status.
    ways_out: HashMap<u64, Block>,
    lengths_as_truth: Vec<bool>,
    /// At how many places an element is appended to lists.
    appends: HashMap<Value, usize>,
    /// The slices that take no copy of their elements.
    lent: HashSet<Value>,
    widths: Widths,
    /// The loops that give back memory, by the blocks at their heads.
    heads: HashMap<BlockId, turns::Loop>,
    /// The lists whose headers loops read before them, and what those read.
    headers: Headers,
    read_headers: HashMap<Value, Vec<list::Header>>,
    /// The blocks that stay in a loop by their first edge and leave it by the second.
    leaves_second: HashSet<BlockId>,
    /// The branches that only choose between values.
    choices: Choices,
    /// The lists that loops fill.
    filled: HashMap<Value, Vec<list::Filled>>,
    /// The blocks of loops that end soon by themselves.
    needless_polls: HashSet<BlockId>,
    /// The block that is translated.
    at: BlockId,
    /// The last instructions of the block that others look for beside them.
    done: VecDeque<&'m Inst>,
    /// The states of those that a block enters.
    enters: HashMap<BlockId, Vec<StackSlot>>,
    /// Where it keeps its results.
    keeps: Option<memo::Keeps>,
}

/// Loads and stores of addresses that are known to be good.
pub(crate) fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Translates the body of `function` into the current block and new ones. `params` are
/// the slots of its live parameters; those of others may be empty.
pub(crate) fn translate<'m>(
    b: &mut FunctionBuilder<'_>,
    unit: &mut Unit<'m>,
    function: &'m Function,
    live: &Live,
    params: Vec<Vec<Machine>>,
    env: Environment,
    ending: Ending,
) -> Result<()> {
    let constants = function
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .filter_map(|inst| match (&inst.op, inst.result) {
            (Opcode::Const(object), Some(result)) => Some((result, object)),
            _ => None,
        })
        .collect();
    let made_by = function
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .filter_map(|inst| match (&inst.op, inst.result) {
            (Opcode::Op(name), Some(result)) => Some((result, *name)),
            _ => None,
        })
        .collect();
    let wrapped = function
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .filter_map(|inst| match (&inst.op, inst.result) {
            (Opcode::Wrap, Some(result)) => Some((result, function.ty(inst.args[0]))),
            _ => None,
        })
        .collect();
    let mut appends = HashMap::new();
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if core_op(inst) == Some(CoreOp::ListAppend) {
            *appends.entry(inst.args[0]).or_default() += 1;
        }
    }
    let widths = width::analyse(function, live, unit.width);
    let is_called = matches!(ending, Ending::Call);
    let lent = alias::lent_slices(function, is_called);
    let flow = Flow::new(function);
    let mut translator = Translator {
        b,
        unit,
        function,
        live,
        env,
        ending,
        blocks: vec![None; function.blocks.len()],
        values: vec![None; function.values.len()],
        constants,
        made_by,
        wrapped,
        imported: HashMap::new(),
        returned: None,
        ways_out: HashMap::new(),
        lengths_as_truth: str::lengths_as_truth(function),
        appends,
        lent,
        widths,
        heads: HashMap::new(),
        enters: HashMap::new(),
        headers: Headers::of(function, &flow, live, is_called),
        read_headers: HashMap::new(),
        leaves_second: leaves_second(function, &flow),
        choices: Choices::default(),
        filled: HashMap::new(),
        needless_polls: crate::polls::needless(function, &flow),
        at: function.entry(),
        done: VecDeque::new(),
        keeps: None,
    };
    translator.find_turns();
    translator.find_choices(&flow);
    for (param, slots) in function.block(function.entry()).params.iter().zip(params) {
        translator.values[param.index()] = Some(slots);
    }
    if let Ending::Call = translator.ending {
        translator.look_up()?;
    }
    translator.run()
}

/// The blocks of a function that stay in a loop by the first edge of their branch and leave it by the second.
/// Cranelift walks the blocks in such an order that what is behind a loop comes within it if it is the second: then
/// it computes again in each round what does not change there, and the loop is not in one piece.
fn leaves_second(function: &Function, flow: &Flow) -> HashSet<BlockId> {
    let mut found = HashSet::new();
    for head in flow.order().filter(|at| flow.is_head(*at)) {
        let body = flow.body(head);
        for at in (0..flow.len()).filter(|at| body[*at] && flow.segment(*at).last) {
            let block = flow.segment(at).block;
            if let Terminator::Branch(_, yes, no) = &function.block(block).term
                && body[flow.first(yes.block)]
                && !body[flow.first(no.block)]
            {
                found.insert(block);
            }
        }
    }
    found
}

impl<'m> Translator<'_, '_, 'm> {
    fn run(&mut self) -> Result<()> {
        let order = self.live.order.clone();
        for id in order.iter().skip(1) {
            let block = self.b.create_block();
            self.blocks[id.index()] = Some(block);
            for param in &self.function.block(*id).params {
                if !self.live.value(*param) {
                    continue;
                }
                let slots = self.registers(*param);
                let slots = slots.into_iter().map(|reg| self.b.append_block_param(block, reg)).collect();
                self.values[param.index()] = Some(slots);
            }
        }
        for id in order {
            if self.choices.is_absorbed(id) {
                continue;
            }
            self.at = id;
            self.done.clear();
            if let Some(block) = self.blocks[id.index()] {
                self.b.switch_to_block(block);
            }
            self.give_back(id)?;
            if let Ending::Row(end) = self.ending.clone() {
                crate::batch::read_late(self, &end, id)?;
            }
            let data = self.function.block(id);
            for inst in &data.insts {
                if self.live.inst(inst) {
                    self.inst(inst)?;
                }
            }
            self.enter_loops(id);
            self.make_room(id)?;
            self.read_headers(id)?;
            self.divide(id)?;
            self.terminator(&data.term)?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &'m Inst) -> Result<()> {
        let slots = match &inst.op {
            Opcode::Const(_) => return Ok(()),
            Opcode::Op(name) => {
                let def = exuvia_ops::by_name(name)
                    .ok_or_else(|| CompileError::unsupported(format!("the operation {name}")))?;
                let before = self.computed_before(inst);
                if let Some((end, Precomputed { number, exact: true, .. })) = before {
                    vec![crate::batch::load_computed(self.b, self.env, &end, number)]
                } else {
                    let known = match self.wide_op(def, inst)? {
                        Some(slots) => Some(slots),
                        None => self.big_op(def, inst)?,
                    };
                    match (known, &def.body) {
                        (Some(slots), _) => slots,
                        (None, Body::Core(op)) => self.core(*op, inst)?,
                        (None, Body::Kernel { address, result, .. }) => {
                            let kernel = shortcut::Kernel { def, address: address(), result: *result };
                            match before {
                                Some((end, Precomputed { number, .. })) => self.either(
                                    &Type::Float,
                                    |this, slow| this.take_computed(&end, number, slow),
                                    |this| this.kernel_op(kernel, inst),
                                )?,
                                None => self.kernel_op(kernel, inst)?,
                            }
                        }
                    }
                }
            }
            Opcode::Call(callee) => self.call(*callee, inst)?,
            Opcode::Wrap => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                let from = self.function.ty(operand).clone();
                self.widen(&slots, &from, self.result_type(inst)?)?
            }
            Opcode::Is(ty) => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                vec![self.is(&slots, self.function.ty(operand), ty)]
            }
            Opcode::Unwrap => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                let from = self.function.ty(operand).clone();
                self.narrow(&slots, &from, self.result_type(inst)?)?
            }
            Opcode::Tuple | Opcode::Record(_) => self.tuple(inst)?,
            Opcode::Field(index) => self.field(inst, *index)?,
            Opcode::Box => vec![self.make_box(inst)?],
            Opcode::Unbox => self.read_box(inst)?,
            Opcode::List => self.list_new(inst)?,
            Opcode::NewExc(kind) => vec![self.word(*kind as i64)],
            Opcode::ExcIs(kinds) => {
                let status = self.one(inst, 0)?;
                vec![self.exc_is(status, kinds)]
            }
            Opcode::Message(name) => self.message(name, inst)?,
            Opcode::Poll => {
                if !self.needless_polls.contains(&self.at) {
                    crate::batch::poll(self.b, self.env);
                }
                Vec::new()
            }
        };
        if let Some(result) = inst.result {
            let wanted = slots::count(self.function.ty(result));
            if slots.len() != wanted {
                return Err(CompileError::malformed(format!("{result} has {} slots, not {wanted}", slots.len())));
            }
            self.values[result.index()] = Some(slots);
        }
        if LOOKED_FOR.iter().any(|name| inst.op.is_op(name)) {
            self.done.push_back(inst);
            if self.done.len() > MOST_DONE {
                self.done.pop_front();
            }
        }
        Ok(())
    }

    fn kernel_op(&mut self, kernel: shortcut::Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        match self.kernel_of_wide(kernel, inst)? {
            Some(slots) => Ok(slots),
            None => self.string_op(kernel, inst),
        }
    }

    /// An instruction's result if it was computed before the loop over the rows, and the end of a row of that.
    fn computed_before(&self, inst: &Inst) -> Option<(Rc<RowEnd>, Precomputed)> {
        match &self.ending {
            Ending::Row(end) => Some((Rc::clone(end), end.computed_before(inst.result?)?)),
            Ending::Call => None,
        }
    }

    /// A result that was computed before, if it is finite.
    fn take_computed(&mut self, end: &RowEnd, number: usize, slow: Block) -> Result<Vec<Machine>> {
        let value = crate::batch::load_computed(self.b, self.env, end, number);
        let magnitude = self.b.ins().fabs(value);
        let infinity = self.b.ins().f64const(f64::INFINITY);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, magnitude, infinity);
        self.require(finite, slow);
        Ok(vec![value])
    }

    /// What another operation gave for the same operands, if it stands before in the block.
    fn beside(&self, inst: &Inst, name: &str) -> Option<&[Machine]> {
        let done = self.done.iter().rev().find(|done| done.op.is_op(name) && done.args == inst.args)?;
        self.values[done.result?.index()].as_deref()
    }

    fn core(&mut self, op: CoreOp, inst: &Inst) -> Result<Vec<Machine>> {
        match op {
            CoreOp::IntAdd
            | CoreOp::IntSub
            | CoreOp::IntMul
            | CoreOp::IntFloorDiv
            | CoreOp::IntMod
            | CoreOp::IntAnd
            | CoreOp::IntOr
            | CoreOp::IntXor
            | CoreOp::IntShl
            | CoreOp::IntShr
            | CoreOp::IntNeg
            | CoreOp::IntInvert
            | CoreOp::IntAbs
            | CoreOp::IntCmp(_)
            | CoreOp::IntTruth
            | CoreOp::BoolToInt
            | CoreOp::BoolAnd
            | CoreOp::BoolOr
            | CoreOp::BoolXor
            | CoreOp::BoolNot => Ok(vec![self.int_op(op, inst)?]),
            CoreOp::IntToFloat
            | CoreOp::IntTrueDiv
            | CoreOp::FloatAdd
            | CoreOp::FloatSub
            | CoreOp::FloatMul
            | CoreOp::FloatDiv
            | CoreOp::FloatNeg
            | CoreOp::FloatAbs
            | CoreOp::FloatSqrt
            | CoreOp::Ieee(_)
            | CoreOp::FloatTruth
            | CoreOp::FloatCmp(_) => Ok(vec![self.float_op(op, inst)?]),
            CoreOp::StrEq => Ok(vec![self.str_eq(inst)?]),
            CoreOp::StrNe => {
                let equal = self.str_eq(inst)?;
                Ok(vec![self.b.ins().bxor_imm_u(equal, 1)])
            }
            CoreOp::StrLen => Ok(vec![self.str_len(inst)?]),
            CoreOp::StrByteLen => {
                let (_, meta) = self.text(inst, 0)?;
                Ok(vec![self.byte_len(meta)])
            }
            CoreOp::StrTruth => {
                let (_, meta) = self.text(inst, 0)?;
                let len = self.byte_len(meta);
                Ok(vec![self.b.ins().icmp_imm_s(IntCC::NotEqual, len, 0)])
            }
            CoreOp::Identity => self.identity(inst),
            // Native ints have 64 bits; the operation that makes one checks it.
            CoreOp::IntFits => Ok(vec![self.int(inst, 0)?]),
            CoreOp::ListLen
            | CoreOp::ListIs
            | CoreOp::ListIdentity
            | CoreOp::ListTruth
            | CoreOp::ListGet
            | CoreOp::ListGetUnchecked
            | CoreOp::ListSet
            | CoreOp::ListAppend
            | CoreOp::ListReserve
            | CoreOp::ListExtend
            | CoreOp::ListPop
            | CoreOp::ListRotate
            | CoreOp::ListReverse
            | CoreOp::ListCompact
            | CoreOp::ListSortBy
            | CoreOp::ListStride
            | CoreOp::ListConcat
            | CoreOp::ListSlice => self.list_op(op, inst),
            CoreOp::HashFind => Ok(vec![self.hash_find::<false>(inst)?]),
            CoreOp::SetFind => Ok(vec![self.hash_find::<true>(inst)?]),
            CoreOp::DictFind => Ok(vec![self.dict_find(inst)?]),
            CoreOp::DictValue => self.dict_value(inst),
            CoreOp::ExcCode => self.slots(self.operand(inst, 0)?),
            CoreOp::ExcMessage | CoreOp::Reject => {
                // Neither messages nor what they quote exist natively.
                self.leave(status::BAILOUT);
                match inst.result {
                    Some(result) => Ok(self.zeros(&self.function.ty(result).clone())),
                    None => Ok(Vec::new()),
                }
            }
        }
    }

    /// The operand, converted to the type of the result.
    fn identity(&mut self, inst: &Inst) -> Result<Vec<Machine>> {
        let operand = self.operand(inst, 0)?;
        let slots = self.slots(operand)?;
        Ok(match self.result_type(inst)? {
            Type::Int => vec![self.int(inst, 0)?],
            Type::Float => vec![self.float(inst, 0)?],
            _ => slots,
        })
    }

    fn terminator(&mut self, term: &'m Terminator) -> Result<()> {
        match term {
            Terminator::Jump(edge) => {
                let (block, args) = self.edge(edge, None)?;
                self.b.ins().jump(block, &args);
            }
            Terminator::Branch(cond, yes, no) => {
                if let Some(join) = self.choices.join(self.at) {
                    return self.choose(*cond, yes, no, join);
                }
                let cond = self.first(*cond)?;
                let (yes, yes_args) = self.edge(yes, None)?;
                let (no, no_args) = self.edge(no, None)?;
                if self.leaves_second.contains(&self.at) {
                    let cond = self.b.ins().icmp_imm_u(IntCC::Equal, cond, 0);
                    self.b.ins().brif(cond, no, &no_args, yes, &yes_args);
                } else {
                    self.b.ins().brif(cond, yes, &yes_args, no, &no_args);
                }
            }
            Terminator::Return(value) => {
                let ty = self.function.ty(*value);
                if *ty != self.function.ret {
                    return Err(CompileError::malformed(format!("returns {ty}, not {}", self.function.ret)));
                }
                match self.ending.clone() {
                    Ending::Row(end) => crate::batch::store_result(self, &end, *value)?,
                    Ending::Call => {
                        let slots = self.slots(*value)?;
                        if let Some(keeps) = self.keeps {
                            self.keep(keeps, &slots)?;
                        }
                        let mut results = vec![self.word(0)];
                        results.extend(slots);
                        self.b.ins().return_(&results);
                    }
                }
            }
            Terminator::Raise(kind, ..) => self.jump_exit(*kind as u64),
            Terminator::Reraise(value, _) => {
                let status = self.first(*value)?;
                self.b.ins().jump(self.env.exit, &[BlockArg::Value(status)]);
            }
            Terminator::Bailout(..) => self.jump_exit(status::LEAVE),
            // An open or unreachable end is never reached by a correct function; if it is
            // reached all the same, a more general rung answers.
            Terminator::Open | Terminator::Unreachable => self.jump_exit(status::BAILOUT),
        }
        Ok(())
    }

    /// The target of an edge and what it passes; `exception` is that of an unwind edge.
    fn edge(&mut self, edge: &Edge, exception: Option<Machine>) -> Result<(Block, Vec<BlockArg>)> {
        let block = self.blocks.get(edge.block.index()).copied().flatten();
        let block = block.ok_or_else(|| CompileError::malformed(format!("an edge to {}", edge.block)))?;
        let params = &self.function.block(edge.block).params;
        let mut args = Vec::new();
        let mut rest = params.as_slice();
        if let Some(exception) = exception {
            let (first, others) =
                params.split_first().ok_or_else(|| CompileError::malformed("a handler without parameter"))?;
            rest = others;
            if self.live.value(*first) {
                args.push(BlockArg::Value(exception));
            }
        }
        if rest.len() != edge.args.len() {
            return Err(CompileError::malformed(format!("an edge to {} with {} values", edge.block, edge.args.len())));
        }
        for (param, arg) in rest.iter().zip(&edge.args) {
            if self.live.value(*param) {
                if self.function.ty(*param) != self.function.ty(*arg) {
                    return Err(CompileError::malformed(format!("{arg} passed for {param} of another type")));
                }
                if let Some(slot) = self.passed(*param, *arg)? {
                    args.push(BlockArg::Value(slot));
                    continue;
                }
                if let Some(Object::Int(Int::Big(_))) = self.constants.get(arg) {
                    // Only who takes this edge needs more bits.
                    let status = self.word(status::BAILOUT as i64);
                    return Ok((self.env.exit, vec![BlockArg::Value(status)]));
                }
                args.extend(self.slots(*arg)?.into_iter().map(BlockArg::Value));
            }
        }
        Ok((block, args))
    }

    // Operands.

    /// The registers of a value.
    fn registers(&self, value: Value) -> Vec<Reg> {
        if self.widths.is_wide(value) { vec![types::I128] } else { slots::registers(self.function.ty(value)) }
    }

    /// The slots of a value; an int of more than 64 bits leaves.
    pub fn slots(&mut self, value: Value) -> Result<Vec<Machine>> {
        if self.widths.is_wide(value) && !self.constants.contains_key(&value) {
            return Ok(vec![self.word_of_wide(value)?]);
        }
        self.held(value)
    }

    /// The slots of a value as they are held.
    fn held(&mut self, value: Value) -> Result<Vec<Machine>> {
        if let Some(object) = self.constants.get(&value).copied() {
            let ty = self.function.ty(value).clone();
            return self.constant(object, &ty);
        }
        self.values
            .get(value.index())
            .and_then(Clone::clone)
            .ok_or_else(|| CompileError::malformed(format!("{value} is used before it is defined")))
    }

    /// Gives a value its slots.
    pub fn define(&mut self, value: Value, slots: Vec<Machine>) {
        self.values[value.index()] = Some(slots);
    }

    /// The type of what was put into a union, where it is known.
    pub fn wrapped(&self, value: Value) -> Option<&'m Type> {
        self.wrapped.get(&value).copied()
    }

    /// The only slot of a value.
    pub fn first(&mut self, value: Value) -> Result<Machine> {
        match self.slots(value)?.as_slice() {
            [slot] => Ok(*slot),
            _ => Err(CompileError::malformed(format!("{value}: {} is not one word", self.function.ty(value)))),
        }
    }

    /// An operand.
    pub fn operand(&self, inst: &Inst, index: usize) -> Result<Value> {
        inst.args.get(index).copied().ok_or_else(|| CompileError::malformed(format!("{:?} lacks an operand", inst.op)))
    }

    /// The only slot of an operand.
    pub fn one(&mut self, inst: &Inst, index: usize) -> Result<Machine> {
        let value = self.operand(inst, index)?;
        self.first(value)
    }

    /// The two slots of a string operand.
    pub fn text(&mut self, inst: &Inst, index: usize) -> Result<(Machine, Machine)> {
        let value = self.operand(inst, index)?;
        match self.slots(value)?.as_slice() {
            [ptr, meta] => Ok((*ptr, *meta)),
            _ => Err(CompileError::malformed(format!("{value} is not a string"))),
        }
    }

    /// The operand if it is a constant.
    pub fn known(&self, inst: &Inst, index: usize) -> Option<&'m Object> {
        self.constants.get(inst.args.get(index)?).copied()
    }

    /// The operand if it is a constant integer of 64 bits.
    pub fn known_int(&self, inst: &Inst, index: usize) -> Option<i64> {
        match self.known(inst, index)? {
            Object::Int(value) => value.to_i64(),
            _ => None,
        }
    }

    /// The type of the result.
    pub fn result_type(&self, inst: &Inst) -> Result<&'m Type> {
        let result = inst.result.ok_or_else(|| CompileError::malformed(format!("{:?} without result", inst.op)))?;
        Ok(self.function.ty(result))
    }

    /// The slots of a constant.
    pub fn constant(&mut self, object: &Object, ty: &Type) -> Result<Vec<Machine>> {
        if let (Object::Int(Int::Big(_)), Type::Int) = (object, ty) {
            self.leave(status::BAILOUT);
            return Ok(self.zeros(ty));
        }
        let mut words = Vec::new();
        self.unit.constants.words(object, ty, &mut words)?;
        let registers = slots::registers(ty);
        Ok(registers.into_iter().zip(words).map(|(reg, word)| self.number(reg, word)).collect())
    }

    /// A constant in a register.
    pub fn number(&mut self, reg: Reg, word: u64) -> Machine {
        match reg {
            types::F64 => self.b.ins().f64const(f64::from_bits(word)),
            types::I8 => self.b.ins().iconst(types::I8, i64::from(word as u8)),
            reg => self.b.ins().iconst(reg, word as i64),
        }
    }

    /// A 64-bit constant.
    pub fn word(&mut self, word: i64) -> Machine {
        self.b.ins().iconst(types::I64, word)
    }

    /// Slots for a value that nobody looks at.
    pub fn zeros(&mut self, ty: &Type) -> Vec<Machine> {
        slots::registers(ty).into_iter().map(|reg| self.number(reg, 0)).collect()
    }

    // Ways out.

    fn jump_exit(&mut self, status: u64) {
        let status = self.word(status as i64);
        self.b.ins().jump(self.env.exit, &[BlockArg::Value(status)]);
    }

    /// Leaves the fast path here; what follows is not reached.
    pub fn leave(&mut self, status: u64) {
        self.jump_exit(status);
        let dead = self.b.create_block();
        self.b.switch_to_block(dead);
    }

    /// Leaves the fast path if `cond` is not zero.
    pub fn guard(&mut self, cond: Machine, status: u64) {
        // All guards with one status share the way out.
        let Some(way) = self.ways_out.get(&status) else {
            let way = crate::batch::leave_if(self.b, self.env, cond, status);
            self.ways_out.insert(status, way);
            return;
        };
        let go_on = self.b.create_block();
        self.b.ins().brif(cond, *way, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Bails out if `cond` is not zero: an integer that 64 bits cannot hold. These are the
    /// guards that the fault injection takes.
    pub fn guard_int(&mut self, cond: Machine) {
        let cond = if self.unit.fail_guards { self.b.ins().iconst(types::I8, 1) } else { cond };
        self.guard(cond, status::BAILOUT);
    }

    /// Raises if `cond` is not zero: to the instruction's handler, else out of the row.
    pub fn raise_if(&mut self, cond: Machine, kind: ExcKind, inst: &Inst) -> Result<()> {
        let Some(edge) = &inst.unwind else {
            self.guard(cond, kind as u64);
            return Ok(());
        };
        let (raised, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(raised);
        self.b.ins().brif(cond, raised, &[], go_on, &[]);
        self.b.switch_to_block(raised);
        let code = self.word(kind as i64);
        let (handler, args) = self.edge(edge, Some(code))?;
        self.b.ins().jump(handler, &args);
        self.b.switch_to_block(go_on);
        Ok(())
    }

    /// Goes where a failure goes if `cond` is not zero. Only exceptions go to a handler.
    pub fn fail_if(&mut self, cond: Machine, status: Machine, inst: &Inst) -> Result<()> {
        let go_on = self.b.create_block();
        let exit_args = [BlockArg::Value(status)];
        match &inst.unwind {
            None => {
                self.b.ins().brif(cond, self.env.exit, &exit_args, go_on, &[]);
            }
            Some(edge) => {
                let failed = self.b.create_block();
                self.b.set_cold_block(failed);
                self.b.ins().brif(cond, failed, &[], go_on, &[]);
                self.b.switch_to_block(failed);
                let (handler, args) = self.edge(edge, Some(status))?;
                let leaves = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, status, status::BAILOUT as i64);
                self.b.ins().brif(leaves, self.env.exit, &exit_args, handler, &args);
            }
        }
        self.b.switch_to_block(go_on);
        Ok(())
    }

    /// Whether an exception, given by its code, is an instance of one of the classes.
    fn exc_is(&mut self, code: Machine, kinds: &[ExcKind]) -> Machine {
        let mut set = 0u64;
        for kind in ExcKind::ALL {
            if kinds.iter().any(|base| kind.is_subclass(*base)) {
                set |= 1 << (*kind as u32);
            }
        }
        const { assert!(ExcKind::ALL.len() < 63, "the codes are bits of a word") };
        let set = self.word(set as i64);
        let bit = self.b.ins().ushr(set, code);
        let bit = self.b.ins().ireduce(types::I8, bit);
        self.b.ins().band_imm_u(bit, 1)
    }

    /// Translates what runs for few rows only.
    pub fn rarely<R>(&mut self, translate: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.unit.rare, true);
        let result = translate(self);
        self.unit.rare = before;
        result
    }

    /// Calls a function outside the compiled code.
    pub fn call_helper(
        &mut self,
        name: &str,
        address: *const u8,
        returns: &[Reg],
        args: &[Machine],
    ) -> Result<Vec<Machine>> {
        let params: Vec<Reg> = args.iter().map(|arg| self.b.func.dfg.value_type(*arg)).collect();
        if !self.unit.rare {
            let id = self.unit.helper(name, address, &params, returns)?;
            let callee = self.import(id);
            let call = self.b.ins().call(callee, args);
            return Ok(self.b.inst_results(call).to_vec());
        }
        let id = self.unit.rare_helper(name, address, &params, returns)?;
        let callee = self.import(id);
        if returns.is_empty() {
            self.b.ins().call(callee, args);
            return Ok(vec![]);
        }
        let words = self.returned_words(returns.len());
        let place = self.b.ins().stack_addr(types::I64, words, 0);
        let args: Vec<Machine> = args.iter().copied().chain([place]).collect();
        self.b.ins().call(callee, &args);
        let load = |(at, reg): (usize, &Reg)| self.b.ins().stack_load(types::I64, *reg, words, 8 * at as i32);
        Ok(returns.iter().enumerate().map(load).collect())
    }

    /// Where calls that few rows make write what they return.
    fn returned_words(&mut self, words: usize) -> StackSlot {
        match self.returned {
            Some((slot, room)) if words <= room => slot,
            _ => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * words as u32, 3);
                let slot = self.b.create_sized_stack_slot(data);
                self.returned = Some((slot, words));
                slot
            }
        }
    }

    fn import(&mut self, id: cranelift_module::FuncId) -> FuncRef {
        *self.imported.entry(id).or_insert_with(|| self.unit.import(id, self.b.func))
    }
}
