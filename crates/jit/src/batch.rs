//! The loop over the rows of a chunk, around the body of the row function.
//!
//! One compiled function serves every chunk: it loads a row's arguments, runs the body,
//! stores the results and goes to the next row. A row that leaves the fast path is noted
//! with its status, and the loop goes on. A loop that selects writes the results of the
//! rows that it keeps one after the other, and counts the others.

use crate::columns::{self, Argument, Loaded};
use crate::compile::Unit;
use crate::live::{self, Live};
use crate::strips::Precomputed;
use crate::tiles::Tiled;
use crate::translate::{Ending, Environment, Result, Translator, translate, trusted};
use crate::{CompileError, items, output, slots, text, views};
use crate::{alias, border};
use arrow::datatypes::DataType;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, StackSlotData, StackSlotKind, Value as Machine, types};
use cranelift_frontend::FunctionBuilder;
use exuvia_ir::{BlockId, Function, Opcode, Type, Value};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Body, status};
use exuvia_ops::list::RawList;
use exuvia_ops::runtime;
use std::collections::HashMap;
use std::mem::{offset_of, size_of};
use std::rc::Rc;

/// What native code is given for a chunk.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Frame {
    /// The context of kernels.
    pub cx: *mut Cx,
    /// A byte that is not zero once the query is cancelled.
    pub interrupt: *const u8,
    /// How many calls may nest.
    pub depth: u64,
    /// The address below which the stack must not grow.
    pub stack_limit: u64,
    /// Where rows that leave are noted, with room for all.
    pub exits: *mut Exit,
    /// How many have left.
    pub exit_count: u64,
    /// One for each column of results.
    pub results: *const Destination,
    /// How many rows were kept.
    pub kept: u64,
    /// Their numbers, with room for all rows.
    pub kept_rows: *mut u32,
    /// For each reason to drop a row, how many were.
    pub dropped: *mut u64,
    /// For a strict function: the byte of the bit of the first row that says whether all
    /// its arguments are there.
    pub strict: *const u8,
    /// The position of that bit.
    pub strict_bit: u64,
    /// One for each parameter.
    pub arguments: *const Argument,
    /// The results that were computed before, by their numbers: a float for each row.
    pub computed: *const *const f64,
    /// The fewest rounds of a loop that are done in tiles.
    pub tiled_from: i64,
}

/// Where the results of a chunk go.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Destination {
    /// The chunk's first result.
    pub values: *mut u8,
    /// Its validity, a byte a row.
    pub validity: *mut u8,
    /// The sink of strings.
    pub strings: *mut u8,
}

/// A row that left the fast path.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Exit {
    pub row: u64,
    pub status: u64,
}

/// The compiled loop: runs so many rows.
pub(crate) type Loop = unsafe extern "C" fn(*mut Frame, u64);

/// Rows between two resets of the arena. A reset is a call, and a row's temporaries are
/// small as a rule; a row that finds the arena full bails out, which is always right.
const RESET_EVERY: i64 = 16;

/// Where a row's results go.
pub(crate) struct RowEnd {
    row: Machine,
    columns: Vec<Column>,
    shape: Shape,
    next: Block,
    /// The arguments that are read at the start of a block.
    late: Vec<(BlockId, Late)>,
    /// The results that were computed before.
    computed: HashMap<Value, Precomputed>,
}

impl RowEnd {
    /// A value that was computed before.
    pub fn computed_before(&self, value: Value) -> Option<Precomputed> {
        self.computed.get(&value).copied()
    }

    /// Whether an argument is read at the start of a block.
    pub fn reads_late(&self, block: BlockId) -> bool {
        self.late.iter().any(|(at, _)| *at == block)
    }
}

/// An argument of the row.
#[derive(Clone, Copy)]
struct Late {
    param: Value,
    /// The address of the arguments.
    arguments: Machine,
    index: usize,
    loaded: Loaded,
    nullable: bool,
    /// The slots of an element of a list.
    element: usize,
}

/// Where one of a row's results goes.
#[derive(Clone, Copy)]
struct Column {
    values: Machine,
    validity: Machine,
    strings: Machine,
    stored: Loaded,
    emit: *const u8,
}

/// What the row function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The row's only result.
    One,
    /// A tuple of its results.
    Tuple,
    /// A tuple of the results of a row that is kept, or an int that says why it is not: one
    /// of so many from 0 on.
    Selected(u32),
}

/// What is to be compiled.
#[derive(Clone)]
pub(crate) struct Row<'m> {
    pub function: &'m Function,
    pub params: Vec<Loaded>,
    pub results: Vec<DataType>,
    pub shape: Shape,
    pub strict: bool,
    /// The results that are computed before.
    pub computed: HashMap<Value, Precomputed>,
    /// The loops that may be divided.
    pub tiles: &'m [Tiled],
}

impl<'m> Row<'m> {
    /// A function with one result.
    pub fn new(function: &'m Function, params: &[DataType], returns: &DataType, strict: bool) -> Result<Row<'m>> {
        Row::of(function, params, vec![returns.clone()], Shape::One, strict)
    }

    /// A function of several results that drops rows for so many reasons.
    pub fn with_results(
        function: &'m Function,
        params: &[DataType],
        results: &[DataType],
        reasons: u32,
    ) -> Result<Row<'m>> {
        let shape = if reasons == 0 { Shape::Tuple } else { Shape::Selected(reasons) };
        Row::of(function, params, results.to_vec(), shape, false)
    }

    fn of(
        function: &'m Function,
        declared: &[DataType],
        results: Vec<DataType>,
        shape: Shape,
        strict: bool,
    ) -> Result<Row<'m>> {
        let params = loaded(function, declared)?;
        Row { function, params, results, shape, strict, computed: HashMap::new(), tiles: &[] }.checked(declared)
    }

    /// The types of the results.
    pub fn result_types(&self) -> Option<&'m [Type]> {
        match (self.shape, &self.function.ret) {
            (Shape::One, ret) => Some(std::slice::from_ref(ret)),
            (Shape::Tuple, Type::Tuple(items)) => Some(items),
            (Shape::Selected(_), Type::Union(alternatives)) => match &alternatives[..] {
                [Type::Int, Type::Tuple(items)] => Some(items),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many reasons there are to drop a row.
    pub fn reasons(&self) -> u32 {
        match self.shape {
            Shape::One | Shape::Tuple => 0,
            Shape::Selected(reasons) => reasons,
        }
    }

    /// The row, if the function's types are those of the columns.
    fn checked(self, declared: &[DataType]) -> Result<Row<'m>> {
        let types = self.function.param_types();
        if types.len() != self.params.len() {
            return Err(CompileError::malformed(format!("{} has {} parameters", self.function.name, types.len())));
        }
        for (ty, (loaded, declared)) in types.iter().zip(self.params.iter().zip(declared)) {
            let fits = match loaded.scalar() {
                Some(plain) => *ty == plain || *ty == plain.optional(),
                None => items::is_of(ty, declared),
            };
            if !fits {
                return Err(CompileError::unsupported(format!("a parameter of {ty} from a column of {declared}")));
            }
        }
        let results = self.result_types().filter(|types| types.len() == self.results.len());
        let results = results.ok_or_else(|| CompileError::malformed(format!("a result of {}", self.function.ret)))?;
        for (ret, declared) in results.iter().zip(&self.results) {
            let fits = match stored(declared)?.scalar() {
                Some(plain) => matches!(ret, Type::None | Type::Never) || *ret == plain || *ret == plain.optional(),
                None => items::is_of(ret, declared),
            };
            if !fits {
                return Err(CompileError::unsupported(format!("a result of {ret} as {declared}")));
            }
        }
        Ok(self)
    }

    /// For each column of results whether a row has one unless it says otherwise.
    pub fn valid_by_default(&self) -> Vec<bool> {
        let types = self.result_types().unwrap_or_default();
        types.iter().map(|ret| !matches!(ret, Type::None | Type::Never)).collect()
    }
}

fn loaded(function: &Function, types: &[DataType]) -> Result<Vec<Loaded>> {
    let params = &function.block(function.entry()).params;
    let one = |(at, ty): (usize, &DataType)| {
        let loaded = Loaded::of(ty)?;
        let borrowed = loaded == Loaded::List
            && columns::holds_slots(ty)
            && params.get(at).is_some_and(|param| alias::is_borrowed(function, *param));
        Ok(if borrowed { Loaded::Borrowed } else { loaded })
    };
    types.iter().enumerate().map(one).collect()
}

/// How results of a type are stored.
fn stored(declared: &DataType) -> Result<Loaded> {
    let stored = output::width(&border::layout(declared)).and_then(|_| Loaded::of(declared).ok());
    stored.ok_or_else(|| CompileError::unsupported(format!("a result of type {declared}")))
}

/// A load of something that does not change during the call.
fn constant(b: &mut FunctionBuilder<'_>, base: Machine, offset: usize) -> Machine {
    b.ins().load(types::I64, trusted().with_readonly().with_can_move(), base, offset as i32)
}

/// What every function finds in the frame.
pub(crate) fn environment(
    b: &mut FunctionBuilder<'_>,
    frame: Machine,
    depth: Option<Machine>,
    exit: Block,
) -> Environment {
    Environment {
        frame,
        cx: constant(b, frame, offset_of!(Frame, cx)),
        depth: depth.unwrap_or_else(|| constant(b, frame, offset_of!(Frame, depth))),
        interrupt: constant(b, frame, offset_of!(Frame, interrupt)),
        exit,
    }
}

/// Builds the loop.
pub(crate) fn build<'m>(
    b: &mut FunctionBuilder<'_>,
    unit: &mut Unit<'m>,
    row_function: &Row<'m>,
    live: &Live,
    sunk: &[Option<BlockId>],
) -> Result<()> {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    let header = b.create_block();
    let row = b.append_block_param(header, types::I64);
    let next = b.create_block();
    let exit = b.create_block();
    let status = b.append_block_param(exit, types::I64);
    let done = b.create_block();
    b.set_cold_block(exit);

    b.switch_to_block(entry);
    let (frame, rows) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    let env = environment(b, frame, None, exit);
    let results = constant(b, frame, offset_of!(Frame, results));
    let mut columns = Vec::new();
    for (at, declared) in row_function.results.iter().enumerate() {
        let field = |offset: usize| at * size_of::<Destination>() + offset;
        columns.push(Column {
            values: constant(b, results, field(offset_of!(Destination, values))),
            validity: constant(b, results, field(offset_of!(Destination, validity))),
            strings: constant(b, results, field(offset_of!(Destination, strings))),
            stored: stored(declared)?,
            emit: match border::layout(declared) {
                DataType::Utf8 => text::emit::<i32> as *const u8,
                DataType::LargeUtf8 => text::emit::<i64> as *const u8,
                _ => views::emit as *const u8,
            },
        });
    }
    let mut end = RowEnd {
        row,
        columns,
        shape: row_function.shape,
        next,
        late: Vec::new(),
        computed: row_function.computed.clone(),
    };
    let arguments = constant(b, frame, offset_of!(Frame, arguments));
    let first = b.ins().iconst(types::I64, 0);
    b.ins().brif(rows, header, &[BlockArg::Value(first)], done, &[]);

    b.switch_to_block(next);
    let following = b.ins().iadd_imm_s(row, 1);
    let more = b.ins().icmp(IntCC::UnsignedLessThan, following, rows);
    b.ins().brif(more, header, &[BlockArg::Value(following)], done, &[]);
    b.switch_to_block(done);
    b.ins().return_(&[]);

    b.switch_to_block(exit);
    let exits = constant(b, frame, offset_of!(Frame, exits));
    let count = b.ins().load(types::I64, trusted(), frame, offset_of!(Frame, exit_count) as i32);
    let at = b.ins().imul_imm_s(count, size_of::<Exit>() as i64);
    let at = b.ins().iadd(exits, at);
    b.ins().store(trusted(), row, at, offset_of!(Exit, row) as i32);
    b.ins().store(trusted(), status, at, offset_of!(Exit, status) as i32);
    let count = b.ins().iadd_imm_s(count, 1);
    b.ins().store(trusted(), count, frame, offset_of!(Frame, exit_count) as i32);
    if unit.allocates {
        call_reset(b, unit, env)?;
    }
    b.ins().jump(next, &[]);

    b.switch_to_block(header);
    if unit.allocates {
        let within = b.ins().band_imm_s(row, RESET_EVERY - 1);
        let reset = b.create_block();
        let go_on = b.create_block();
        b.set_cold_block(reset);
        b.ins().brif(within, go_on, &[], reset, &[]);
        b.switch_to_block(reset);
        call_reset(b, unit, env)?;
        b.ins().jump(go_on, &[]);
        b.switch_to_block(go_on);
    }
    if row_function.strict {
        let strict = constant(b, frame, offset_of!(Frame, strict));
        let bit = constant(b, frame, offset_of!(Frame, strict_bit));
        let complete = bit_at(b, strict, bit, row);
        let null = b.create_block();
        let call = b.create_block();
        b.ins().brif(complete, call, &[], null, &[]);
        b.switch_to_block(null);
        if row_function.valid_by_default()[0] {
            let at = b.ins().iadd(end.columns[0].validity, row);
            let zero = b.ins().iconst(types::I8, 0);
            b.ins().store(trusted(), zero, at, 0);
        }
        b.ins().jump(next, &[]);
        b.switch_to_block(call);
    }
    if takes_long(row_function.function) {
        poll(b, env);
    }
    let mut params = Vec::new();
    let ir_params = &row_function.function.block(row_function.function.entry()).params;
    for (at, (param, loaded)) in ir_params.iter().zip(&row_function.params).enumerate() {
        let nullable = matches!(row_function.function.ty(*param), Type::Union(_));
        let element = row_function.function.ty(*param).alternatives().iter().find_map(|ty| match ty {
            Type::List(element) => Some(slots::count(element)),
            _ => None,
        });
        let element = element.unwrap_or(0);
        let late = Late { param: *param, arguments, index: at, loaded: *loaded, nullable, element };
        params.push(match sunk[at] {
            _ if !live.value(*param) => Vec::new(),
            None => load_argument(b, unit, env, &late, row)?,
            Some(block) => {
                end.late.push((block, late));
                Vec::new()
            }
        });
    }
    translate(b, unit, row_function.function, live, params, env, Ending::Row(Rc::new(end)))
}

/// Whether a row may take so long that a chunk of them must be stopped between two: it
/// loops, calls, or has operations that are more than some instructions.
fn takes_long(function: &Function) -> bool {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts.into_iter().any(|inst| match inst.op {
        Opcode::Poll | Opcode::Call(_) => true,
        _ => live::definition(inst).is_some_and(|def| !matches!(def.body, Body::Core(_))),
    })
}

/// Leaves where the query was cancelled.
pub(crate) fn poll(b: &mut FunctionBuilder<'_>, env: Environment) {
    // Atomic, since another thread sets the flag: the code generator may not take the value
    // of an earlier load for it, in an outer loop say.
    let flag = b.ins().atomic_load(types::I8, trusted(), env.interrupt);
    leave_if(b, env, flag, status::INTERRUPTED);
}

/// Leaves the fast path if `cond` is not zero, by a block of its own, where the status is made; gives that block.
pub(crate) fn leave_if(b: &mut FunctionBuilder<'_>, env: Environment, cond: Machine, status: u64) -> Block {
    let (way, go_on) = (b.create_block(), b.create_block());
    b.set_cold_block(way);
    b.ins().brif(cond, way, &[], go_on, &[]);
    b.switch_to_block(way);
    let status = b.ins().iconst(types::I64, status as i64);
    b.ins().jump(env.exit, &[BlockArg::Value(status)]);
    b.switch_to_block(go_on);
    way
}

fn call_reset(b: &mut FunctionBuilder<'_>, unit: &mut Unit<'_>, env: Environment) -> Result<()> {
    let id = unit.rare_helper("arena.reset", runtime::reset as *const u8, &[types::I64], &[])?;
    let reset = unit.import(id, b.func);
    b.ins().call(reset, &[env.cx]);
    Ok(())
}

/// The bit of a row in a bitmap: 0 or 1 in 64 bits.
fn bit_at(b: &mut FunctionBuilder<'_>, bitmap: Machine, first: Machine, row: Machine) -> Machine {
    let bit = b.ins().iadd(row, first);
    let byte = b.ins().ushr_imm_u(bit, 3);
    let byte = b.ins().iadd(bitmap, byte);
    let byte = b.ins().uload8(types::I64, trusted(), byte, 0);
    let shift = b.ins().band_imm_s(bit, 7);
    let byte = b.ins().ushr(byte, shift);
    b.ins().band_imm_s(byte, 1)
}

/// The slots of a row's argument.
fn load_argument(
    b: &mut FunctionBuilder<'_>,
    unit: &mut Unit<'_>,
    env: Environment,
    argument: &Late,
    row: Machine,
) -> Result<Vec<Machine>> {
    let Late { arguments, index, loaded, nullable, element, .. } = *argument;
    let field = |offset: usize| index * size_of::<Argument>() + offset;
    let values = constant(b, arguments, field(offset_of!(Argument, values)));
    let tag = nullable.then(|| {
        let validity = constant(b, arguments, field(offset_of!(Argument, validity)));
        let bit = constant(b, arguments, field(offset_of!(Argument, validity_bit)));
        // `None` is the first alternative of the parameter's type, so the bit is the tag.
        bit_at(b, validity, bit, row)
    });
    let at = |b: &mut FunctionBuilder<'_>, shift: i64| {
        let offset = if shift == 0 { row } else { b.ins().ishl_imm_u(row, shift) };
        b.ins().iadd(values, offset)
    };
    let flags = trusted();
    let mut slots: Vec<Machine> = tag.into_iter().collect();
    match loaded {
        Loaded::Int { bytes, signed } => {
            let address = at(b, i64::from(bytes.trailing_zeros()));
            let value = match (bytes, signed) {
                (1, true) => b.ins().sload8(types::I64, flags, address, 0),
                (1, false) => b.ins().uload8(types::I64, flags, address, 0),
                (2, true) => b.ins().sload16(types::I64, flags, address, 0),
                (2, false) => b.ins().uload16(types::I64, flags, address, 0),
                (4, true) => b.ins().sload32(flags, address, 0),
                (4, false) => b.ins().uload32(flags, address, 0),
                _ => b.ins().load(types::I64, flags, address, 0),
            };
            if (bytes, signed) == (8, false) {
                // Beyond 63 bits; the value of a NULL may be anything.
                let mut beyond = b.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0);
                if let Some(tag) = tag {
                    let present = b.ins().ireduce(types::I8, tag);
                    beyond = b.ins().band(beyond, present);
                }
                leave_if(b, env, beyond, status::BAILOUT);
            }
            slots.push(value);
        }
        Loaded::Float32 => {
            let address = at(b, 2);
            let value = b.ins().load(types::F32, flags, address, 0);
            slots.push(b.ins().fpromote(types::F64, value));
        }
        Loaded::Float64 => {
            let address = at(b, 3);
            slots.push(b.ins().load(types::F64, flags, address, 0));
        }
        Loaded::Bool => {
            let bit = constant(b, arguments, field(offset_of!(Argument, bit)));
            let value = bit_at(b, values, bit, row);
            slots.push(b.ins().ireduce(types::I8, value));
        }
        Loaded::Str => {
            let address = at(b, 4);
            slots.push(b.ins().load(types::I64, flags, address, 0));
            slots.push(b.ins().load(types::I64, flags, address, 8));
        }
        Loaded::Borrowed => {
            // A header for the row; where it is NULL, nobody looks at it.
            let header = StackSlotData::new(StackSlotKind::ExplicitSlot, size_of::<RawList>() as u32, 3);
            let header = b.create_sized_stack_slot(header);
            let header = b.ins().stack_addr(types::I64, header, 0);
            let begins = at(b, 2);
            let from = b.ins().uload32(flags, begins, 0);
            let to = b.ins().uload32(flags, begins, 4);
            let len = b.ins().isub(to, from);
            let room = b.ins().iconst(types::I64, 0);
            let words = constant(b, arguments, field(offset_of!(Argument, words)));
            let from = b.ins().imul_imm_s(from, 8 * element as i64);
            let data = b.ins().iadd(words, from);
            b.ins().store(flags, len, header, offset_of!(RawList, len) as i32);
            b.ins().store(flags, room, header, offset_of!(RawList, cap) as i32);
            b.ins().store(flags, data, header, offset_of!(RawList, data) as i32);
            slots.push(header);
        }
        Loaded::List => {
            let make = b.create_block();
            let done = b.create_block();
            let list = b.append_block_param(done, types::I64);
            match tag {
                Some(tag) => {
                    let none = b.ins().iconst(types::I64, 0);
                    b.ins().brif(tag, make, &[], done, &[BlockArg::Value(none)]);
                }
                None => {
                    b.ins().jump(make, &[]);
                }
            }
            b.switch_to_block(make);
            let column = constant(b, arguments, field(offset_of!(Argument, column)));
            let pair = [types::I64, types::I64];
            let address = columns::make_list as *const u8;
            let id = unit.helper("argument.list", address, &[types::I64; 3], &pair)?;
            let helper = unit.import(id, b.func);
            let call = b.ins().call(helper, &[env.cx, column, row]);
            let (failed, made) = (b.inst_results(call)[0], b.inst_results(call)[1]);
            let go_on = b.create_block();
            b.ins().brif(failed, env.exit, &[BlockArg::Value(failed)], go_on, &[]);
            b.switch_to_block(go_on);
            b.ins().jump(done, &[BlockArg::Value(made)]);
            b.switch_to_block(done);
            slots.push(list);
        }
    }
    Ok(slots)
}

/// Reads the arguments that are read at the start of a block.
pub(crate) fn read_late(t: &mut Translator<'_, '_, '_>, end: &RowEnd, block: BlockId) -> Result<()> {
    for (_, late) in end.late.iter().filter(|(at, _)| *at == block) {
        if late.loaded == Loaded::Str {
            let at = late.index * size_of::<Argument>() + offset_of!(Argument, column);
            let column = constant(t.b, late.arguments, at);
            t.call_helper("argument.decode", columns::decode_row as *const u8, &[], &[column, end.row])?;
        }
        let slots = load_argument(t.b, t.unit, t.env, late, end.row)?;
        t.define(late.param, slots);
    }
    Ok(())
}

/// A result of the row that was computed before.
pub(crate) fn load_computed(b: &mut FunctionBuilder<'_>, env: Environment, end: &RowEnd, number: usize) -> Machine {
    let computed = constant(b, env.frame, offset_of!(Frame, computed));
    let floats = constant(b, computed, number * size_of::<*const f64>());
    let at = b.ins().ishl_imm_u(end.row, 3);
    let at = b.ins().iadd(floats, at);
    b.ins().load(types::F64, trusted(), at, 0)
}

/// Stores a row's results and goes to the next row.
pub(crate) fn store_result(t: &mut Translator<'_, '_, '_>, end: &RowEnd, returned: Value) -> Result<()> {
    let slots = t.slots(returned)?;
    let function = t.function;
    match (end.shape, &function.ret) {
        (Shape::One, ret) => store_columns(t, end, end.row, &[(ret, slots)])?,
        (Shape::Tuple, Type::Tuple(items)) => store_columns(t, end, end.row, &elements(items, &slots))?,
        (Shape::Selected(reasons), Type::Union(alternatives)) => {
            let [_, Type::Tuple(items)] = &alternatives[..] else {
                return Err(CompileError::malformed(format!("a result of {}", function.ret)));
            };
            // The tag, the int, the tuple.
            let kept = elements(items, &slots[2..]);
            match t.wrapped(returned) {
                Some(Type::Int) => drop_row(t, slots[1], reasons),
                Some(_) => keep_row(t, end, &kept)?,
                None => {
                    let keep = t.b.create_block();
                    let leave = t.b.create_block();
                    t.b.ins().brif(slots[0], keep, &[], leave, &[]);
                    t.b.switch_to_block(leave);
                    drop_row(t, slots[1], reasons);
                    t.b.ins().jump(end.next, &[]);
                    t.b.switch_to_block(keep);
                    keep_row(t, end, &kept)?;
                }
            }
        }
        (_, ret) => return Err(CompileError::malformed(format!("a result of {ret}"))),
    }
    t.b.ins().jump(end.next, &[]);
    Ok(())
}

/// The elements of a tuple with their slots.
fn elements<'t>(items: &'t [Type], slots: &[Machine]) -> Vec<(&'t Type, Vec<Machine>)> {
    let start = |at: usize| slots::element_start(items, at);
    items.iter().enumerate().map(|(at, ty)| (ty, slots[start(at)..start(at + 1)].to_vec())).collect()
}

/// Counts a row that is dropped.
fn drop_row(t: &mut Translator<'_, '_, '_>, reason: Machine, reasons: u32) {
    // There is no place for another reason.
    let last = t.b.ins().iconst(types::I64, i64::from(reasons) - 1);
    let reason = t.b.ins().umin(reason, last);
    let counts = constant(t.b, t.env.frame, offset_of!(Frame, dropped));
    let at = t.b.ins().ishl_imm_u(reason, 3);
    let at = t.b.ins().iadd(counts, at);
    let count = t.b.ins().load(types::I64, trusted(), at, 0);
    let count = t.b.ins().iadd_imm_s(count, 1);
    t.b.ins().store(trusted(), count, at, 0);
}

/// Stores the results of a row that is kept behind those of the last one.
fn keep_row(t: &mut Translator<'_, '_, '_>, end: &RowEnd, results: &[(&Type, Vec<Machine>)]) -> Result<()> {
    let kept_at = offset_of!(Frame, kept) as i32;
    let kept = t.b.ins().load(types::I64, trusted(), t.env.frame, kept_at);
    store_columns(t, end, kept, results)?;
    let rows = constant(t.b, t.env.frame, offset_of!(Frame, kept_rows));
    let at = t.b.ins().ishl_imm_u(kept, 2);
    let at = t.b.ins().iadd(rows, at);
    t.b.ins().istore32(trusted(), end.row, at, 0);
    let kept = t.b.ins().iadd_imm_s(kept, 1);
    t.b.ins().store(trusted(), kept, t.env.frame, kept_at);
    Ok(())
}

/// Stores results at a position of their columns. A row that cannot be stored leaves before
/// any of it is.
fn store_columns(
    t: &mut Translator<'_, '_, '_>,
    end: &RowEnd,
    position: Machine,
    results: &[(&Type, Vec<Machine>)],
) -> Result<()> {
    let mut split = Vec::new();
    for ((ty, slots), column) in results.iter().zip(&end.columns) {
        let (tag, value) = match ty {
            // Results are NULL from the start.
            Type::None | Type::Never => continue,
            Type::Union(_) => (Some(slots[0]), &slots[1..]),
            _ => (None, &slots[..]),
        };
        if value.len() != column.stored.scalar().map_or(1, |plain| slots::count(&plain)) {
            return Err(CompileError::malformed(format!("a result of {ty}")));
        }
        if let Loaded::Int { bytes, signed } = column.stored {
            check_range(t, value[0], tag, bytes, signed);
        }
        split.push((column, tag, value));
    }
    // A list may hold what its column cannot.
    split.sort_by_key(|(column, ..)| column.stored != Loaded::List);
    for (column, tag, value) in split {
        store_column(t, column, position, tag, value)?;
    }
    Ok(())
}

fn store_column(
    t: &mut Translator<'_, '_, '_>,
    column: &Column,
    position: Machine,
    tag: Option<Machine>,
    value: &[Machine],
) -> Result<()> {
    if let Some(tag) = tag {
        let at = t.b.ins().iadd(column.validity, position);
        t.b.ins().istore8(trusted(), tag, at, 0);
    }
    let at = |t: &mut Translator<'_, '_, '_>, shift: i64| {
        let offset = if shift == 0 { position } else { t.b.ins().ishl_imm_u(position, shift) };
        t.b.ins().iadd(column.values, offset)
    };
    match column.stored {
        Loaded::Int { bytes, .. } => {
            let address = at(t, i64::from(bytes.trailing_zeros()));
            match bytes {
                1 => t.b.ins().istore8(trusted(), value[0], address, 0),
                2 => t.b.ins().istore16(trusted(), value[0], address, 0),
                4 => t.b.ins().istore32(trusted(), value[0], address, 0),
                _ => t.b.ins().store(trusted(), value[0], address, 0),
            };
        }
        Loaded::Float32 => {
            let address = at(t, 2);
            // Rounds to the nearest, ties to even.
            let value = result_float(t, value[0]);
            let value = t.b.ins().fdemote(types::F32, value);
            t.b.ins().store(trusted(), value, address, 0);
        }
        Loaded::Float64 => {
            let address = at(t, 3);
            let value = result_float(t, value[0]);
            t.b.ins().store(trusted(), value, address, 0);
        }
        Loaded::Bool => {
            let address = at(t, 0);
            t.b.ins().store(trusted(), value[0], address, 0);
        }
        Loaded::List | Loaded::Borrowed => {
            let done = where_present(t, tag);
            let args = [column.strings, position, value[0]];
            let status = t.call_helper("emit.list", items::emit_list as *const u8, &[types::I64], &args)?[0];
            t.b.ins().brif(status, t.env.exit, &[BlockArg::Value(status)], done, &[]);
            t.b.switch_to_block(done);
        }
        Loaded::Str => {
            let done = where_present(t, tag);
            let len = t.byte_len(value[1]);
            t.call_helper("emit", column.emit, &[], &[column.strings, position, value[0], len])?;
            t.b.ins().jump(done, &[]);
            t.b.switch_to_block(done);
        }
    }
    Ok(())
}

/// Goes on where a result is not None; gives the block behind what is done there.
fn where_present(t: &mut Translator<'_, '_, '_>, tag: Option<Machine>) -> Block {
    let done = t.b.create_block();
    if let Some(tag) = tag {
        let present = t.b.create_block();
        t.b.ins().brif(tag, present, &[], done, &[]);
        t.b.switch_to_block(present);
    }
    done
}

/// [`exuvia_ir::result_float`].
fn result_float(t: &mut Translator<'_, '_, '_>, value: Machine) -> Machine {
    let nan = t.b.ins().f64const(f64::NAN);
    let is_nan = t.b.ins().fcmp(FloatCC::Unordered, value, value);
    t.b.ins().select(is_nan, nan, value)
}

/// Bails out if an int does not fit in the declared type: the evaluator reports it.
fn check_range(t: &mut Translator<'_, '_, '_>, value: Machine, tag: Option<Machine>, bytes: u8, signed: bool) {
    let narrow = match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    };
    let mut outside = match (bytes, signed) {
        (8, true) => return,
        (8, false) => t.b.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0),
        (_, true) => {
            let low = t.b.ins().ireduce(narrow, value);
            let back = t.b.ins().sextend(types::I64, low);
            t.b.ins().icmp(IntCC::NotEqual, back, value)
        }
        (_, false) => {
            let low = t.b.ins().ireduce(narrow, value);
            let back = t.b.ins().uextend(types::I64, low);
            t.b.ins().icmp(IntCC::NotEqual, back, value)
        }
    };
    if let Some(tag) = tag {
        // Whatever stands beside a `None` is nobody's result.
        let present = t.b.ins().ireduce(types::I8, tag);
        outside = t.b.ins().band(outside, present);
    }
    t.guard_int(outside);
}
