//! Lists in the row's arena; see [`exuvia_ops::list::RawList`].

use super::{Result, Translator, trusted};
use crate::headers::Fill;
use crate::{CompileError, helpers, slots};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value as Machine, types};
use cranelift_frontend::FunctionBuilder;
use exuvia_ir::{BlockId, ExcKind, Inst, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::cx::Cx;
use exuvia_ops::list::RawList;
use exuvia_ops::{runtime, sort};
use std::mem::{offset_of, size_of};

const LEN: i32 = offset_of!(RawList, len) as i32;
const CAP: i32 = offset_of!(RawList, cap) as i32;
const DATA: i32 = offset_of!(RawList, data) as i32;

/// The room that a list gets from the start, at most, for the places where an element is appended to it.
const MOST_APPENDS: usize = 32;

/// A list that a loop fills: where the element of a counter of zero would lie, and the counter.
pub(super) struct Filled {
    number: usize,
    base: Machine,
    counter: Value,
}

/// The header of a list, as a loop read it before it began.
pub(super) struct Header {
    number: usize,
    len: Machine,
    data: Machine,
}

impl Translator<'_, '_, '_> {
    /// At the end of a block: makes room for what a loop behind it fills.
    pub(super) fn make_room(&mut self, block: BlockId) -> Result<()> {
        for fill in self.headers.fills.remove(&block).unwrap_or_default() {
            let Fill { list, counter, start, bound, append, number } = fill;
            if [counter, start, bound].iter().any(|value| self.widths.is_wide(*value)) {
                continue;
            }
            let element = self.element_type(&append)?;
            let (at, first, end) = (self.slots(list)?[0], self.slots(start)?[0], self.slots(bound)?[0]);
            let width = self.word(slots::count(&element) as i64);
            let args = [self.env.cx, at, first, end, width];
            let made =
                self.call_helper("list.fill", helpers::list_fill as *const u8, &[types::I64, types::I64], &args)?;
            self.fail_if(made[0], made[0], &append)?;
            self.filled.entry(list).or_default().push(Filled { number, base: made[1], counter });
        }
        Ok(())
    }

    /// At the end of a block: reads the headers that loops behind it leave as they are.
    pub(super) fn read_headers(&mut self, block: BlockId) -> Result<()> {
        for (list, number) in self.headers.before.remove(&block).unwrap_or_default() {
            // An argument may be read later, where a row needs it.
            if self.values[list.index()].is_none() && !self.constants.contains_key(&list) {
                continue;
            }
            let Some(&header) = self.slots(list)?.first() else { continue };
            let [len, data] = [LEN, DATA].map(|at| self.b.ins().load(types::I64, trusted(), header, at));
            self.read_headers.entry(list).or_default().push(Header { number, len, data });
        }
        Ok(())
    }

    /// Whether loops fill all of some lists.
    pub(super) fn fills_all(&self, lists: &[Value]) -> bool {
        lists.iter().all(|list| self.filled.contains_key(list))
    }

    /// Whether the loop behind the block fills the list that is the first operand.
    fn fills_next(&self, inst: &Inst) -> bool {
        let fills = self.headers.fills.get(&self.at);
        fills.is_some_and(|fills| fills.iter().any(|fill| Some(&fill.list) == inst.args.first()))
    }

    /// Where a loop puts the elements of the list that is the first operand, and its counter, if it fills it.
    fn filled(&self, inst: &Inst) -> Option<(Machine, Value)> {
        let filled = self.filled.get(inst.args.first()?)?;
        let filled = filled.iter().find(|filled| self.headers.is_within(filled.number, self.at))?;
        Some((filled.base, filled.counter))
    }

    /// What was read of the header of the list that is the first operand.
    fn header(&self, inst: &Inst) -> Option<&Header> {
        let read = self.read_headers.get(inst.args.first()?)?;
        read.iter().find(|header| self.headers.is_within(header.number, self.at))
    }

    fn list_len(&mut self, list: Machine, inst: &Inst) -> Machine {
        match self.header(inst).map(|header| header.len) {
            Some(len) => len,
            None => self.list_len_now(list),
        }
    }

    /// The length that stands in a list's header.
    pub(super) fn list_len_now(&mut self, list: Machine) -> Machine {
        self.b.ins().load(types::I64, trusted(), list, LEN)
    }

    pub(super) fn list_new(&mut self, inst: &Inst) -> Result<Vec<Machine>> {
        let Type::List(element) = self.result_type(inst)? else {
            return Err(CompileError::malformed("a list of another type"));
        };
        let width = slots::count(element);
        let len = inst.args.len();
        let appends = inst.result.and_then(|list| self.appends.get(&list)).copied().unwrap_or(0);
        // An empty list without type yet may become one of wider elements, so it gets no room; nor does one that
        // holds what it is made with, and to which nothing is appended here.
        let is_full = width == 0 || len > 0 && appends == 0;
        let room = if is_full { len } else { len + appends.clamp(4, MOST_APPENDS) };
        let list = self.new_list(len, room, width, inst)?;
        if !inst.args.is_empty() {
            let data = self.b.ins().load(types::I64, trusted(), list, DATA);
            let step = 8 * slots::count(element) as i64;
            for (at, arg) in inst.args.iter().enumerate() {
                let values = self.slots(*arg)?;
                let values = self.element(values, *arg, element)?;
                let address = self.b.ins().iadd_imm_s(data, at as i64 * step);
                self.store(&values, address);
            }
        }
        Ok(vec![list])
    }

    /// A list of `len` elements, which the caller writes, with room for `room` of so many slots.
    fn new_list(&mut self, len: usize, room: usize, width: usize, inst: &Inst) -> Result<Machine> {
        let bytes = size_of::<RawList>() + 8 * room * width;
        let made = self.either(
            &Type::Int,
            |this, slow| {
                let list = this.take_memory(bytes, slow);
                let room = this.word(room as i64);
                let data = this.b.ins().iadd_imm_s(list, size_of::<RawList>() as i64);
                this.b.ins().store(trusted(), room, list, CAP);
                this.b.ins().store(trusted(), data, list, DATA);
                Ok(vec![list])
            },
            |this| Ok(vec![this.empty_list(room, width, inst)?]),
        )?;
        let len = self.word(len as i64);
        self.b.ins().store(trusted(), len, made[0], LEN);
        Ok(made[0])
    }

    /// An empty list with room for `room` elements of so many slots, wherever there is memory.
    fn empty_list(&mut self, room: usize, width: usize, inst: &Inst) -> Result<Machine> {
        let args = [self.env.cx, self.word(room as i64), self.word(width as i64)];
        let made = self.call_helper("list.new", runtime::list_new as *const u8, &[types::I64, types::I64], &args)?;
        self.fail_if(made[0], made[0], inst)?;
        Ok(made[1])
    }

    /// So many bytes of the row's memory, if the current chunk has them; else it goes to the block.
    fn take_memory(&mut self, bytes: usize, slow: Block) -> Machine {
        let [start, size, used, text_end] = Cx::FREE.map(|offset| offset as i32);
        let cx = self.env.cx;
        let taken = self.b.ins().load(types::I64, trusted(), cx, used);
        let end = self.b.ins().iadd_imm_s(taken, bytes.next_multiple_of(8) as i64);
        let size = self.b.ins().load(types::I64, trusted(), cx, size);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, size);
        self.require(fits, slow);
        let zero = self.word(0);
        self.b.ins().store(trusted(), end, cx, used);
        self.b.ins().store(trusted(), zero, cx, text_end);
        let start = self.b.ins().load(types::I64, trusted(), cx, start);
        self.b.ins().iadd(start, taken)
    }

    /// The elements from one position to another, where they lie: they are lent.
    fn lent_slice(&mut self, list: Machine, element: &Type, inst: &Inst) -> Result<Vec<Machine>> {
        let len = self.b.ins().load(types::I64, trusted(), list, LEN);
        let (start, stop) = (self.bound(inst, 1, 0, len)?, self.bound(inst, 2, i64::MAX, len)?);
        let stop = self.b.ins().smax(stop, start);
        let taken = self.b.ins().isub(stop, start);
        let data = self.element_address(list, start, element);
        let slice = self.new_list(0, 0, 0, inst)?;
        self.b.ins().store(trusted(), taken, slice, LEN);
        self.b.ins().store(trusted(), data, slice, DATA);
        Ok(vec![slice])
    }

    /// The slots of `value` as an element of a list.
    fn element(&mut self, values: Vec<Machine>, value: Value, element: &Type) -> Result<Vec<Machine>> {
        let ty = self.function.ty(value);
        if ty == element { Ok(values) } else { self.widen(&values, &ty.clone(), element) }
    }

    /// The element type of the list that is the first operand.
    fn element_type(&self, inst: &Inst) -> Result<Type> {
        let list = self.operand(inst, 0)?;
        match self.function.ty(list) {
            Type::List(element) => Ok((**element).clone()),
            other => Err(CompileError::malformed(format!("{other} is not a list"))),
        }
    }

    pub(super) fn list_op(&mut self, op: CoreOp, inst: &Inst) -> Result<Vec<Machine>> {
        let list = self.one(inst, 0)?;
        let element = self.element_type(inst)?;
        match op {
            CoreOp::ListLen => Ok(vec![self.list_len(list, inst)]),
            CoreOp::ListIs => {
                let other = self.one(inst, 1)?;
                Ok(vec![self.b.ins().icmp(IntCC::Equal, list, other)])
            }
            CoreOp::ListIdentity => Ok(vec![list]),
            CoreOp::ListTruth => {
                let len = self.list_len(list, inst);
                Ok(vec![self.b.ins().icmp_imm_s(IntCC::NotEqual, len, 0)])
            }
            CoreOp::ListGet => {
                let index = self.int(inst, 1)?;
                let index = self.position(list, index, inst)?;
                let address = self.element_of(list, index, &element, inst);
                Ok(self.load(&element, address))
            }
            CoreOp::ListGetUnchecked => {
                let index = self.int(inst, 1)?;
                let address = self.element_of(list, index, &element, inst);
                Ok(self.load(&element, address))
            }
            CoreOp::ListSet => {
                let index = self.int(inst, 1)?;
                let index = self.position(list, index, inst)?;
                let value = self.operand(inst, 2)?;
                let values = self.slots(value)?;
                let values = self.element(values, value, &element)?;
                let address = self.element_of(list, index, &element, inst);
                self.store(&values, address);
                Ok(Vec::new())
            }
            CoreOp::ListAppend => self.append(list, &element, inst),
            CoreOp::ListStride => {
                let (start, step, count) = (self.int(inst, 1)?, self.int(inst, 2)?, self.int(inst, 3)?);
                let width = self.word(slots::count(&element) as i64);
                let made = self.call_helper(
                    "list.stride",
                    helpers::list_stride as *const u8,
                    &[types::I64, types::I64],
                    &[self.env.cx, list, start, step, count, width],
                )?;
                self.fail_if(made[0], made[0], inst)?;
                Ok(vec![made[1]])
            }
            // The helper that makes room for what the loop fills does it.
            CoreOp::ListReserve if self.fills_next(inst) => Ok(Vec::new()),
            CoreOp::ListReserve => {
                let more = self.int(inst, 1)?;
                let width = self.word(slots::count(&element) as i64);
                let args = [self.env.cx, list, more, width];
                self.call_helper("list.reserve", helpers::list_reserve as *const u8, &[], &args)?;
                Ok(Vec::new())
            }
            CoreOp::ListExtend => {
                let (other, times) = (self.one(inst, 1)?, self.int(inst, 2)?);
                let width = self.word(slots::count(&element) as i64);
                let done = self.call_helper(
                    "list.extend",
                    helpers::list_extend as *const u8,
                    &[types::I64, types::I64],
                    &[self.env.cx, list, other, times, width],
                )?;
                self.fail_if(done[0], done[0], inst)?;
                Ok(Vec::new())
            }
            CoreOp::ListConcat => {
                let other = self.one(inst, 1)?;
                let width = self.word(slots::count(&element) as i64);
                let made = self.call_helper(
                    "list.concat",
                    helpers::list_concat as *const u8,
                    &[types::I64, types::I64],
                    &[self.env.cx, list, other, width],
                )?;
                self.fail_if(made[0], made[0], inst)?;
                Ok(vec![made[1]])
            }
            CoreOp::ListPop => {
                let len = self.b.ins().load(types::I64, trusted(), list, LEN);
                let empty = self.b.ins().icmp_imm_s(IntCC::Equal, len, 0);
                self.raise_if(empty, ExcKind::IndexError, inst)?;
                let last = self.b.ins().iadd_imm_s(len, -1);
                self.b.ins().store(trusted(), last, list, LEN);
                let address = self.element_address(list, last, &element);
                Ok(self.load(&element, address))
            }
            CoreOp::ListRotate => {
                let (first, last, by) = (self.int(inst, 1)?, self.int(inst, 2)?, self.int(inst, 3)?);
                let (first, last) = (self.position(list, first, inst)?, self.position(list, last, inst)?);
                let width = self.word(slots::count(&element) as i64);
                let args = [list, first, last, by, width];
                self.call_helper("list.rotate", helpers::list_rotate as *const u8, &[], &args)?;
                Ok(Vec::new())
            }
            CoreOp::ListReverse => {
                let (first, last) = (self.int(inst, 1)?, self.int(inst, 2)?);
                let (first, last) = (self.position(list, first, inst)?, self.position(list, last, inst)?);
                let width = self.word(slots::count(&element) as i64);
                let args = [list, first, last, width];
                self.call_helper("list.reverse", helpers::list_reverse as *const u8, &[], &args)?;
                Ok(Vec::new())
            }
            CoreOp::ListCompact => {
                let hashes = self.one(inst, 1)?;
                let width = self.word(slots::count(&element) as i64);
                let args = [list, hashes, width];
                self.call_helper("list.compact", helpers::list_compact as *const u8, &[], &args)?;
                Ok(Vec::new())
            }
            CoreOp::ListSortBy => {
                let keys = self.one(inst, 1)?;
                let reverse = self.one(inst, 2)?;
                let reverse = self.b.ins().uextend(types::I64, reverse);
                let key = match inst.args.get(1).map(|keys| self.function.ty(*keys)) {
                    Some(Type::List(key)) => (**key).clone(),
                    _ => return Err(CompileError::malformed("sorting by something else than a list")),
                };
                let order = sort::order_of(&key).ok_or_else(|| CompileError::malformed("keys without an order"))?;
                let word = |translator: &mut Self, value: u64| translator.word(value.cast_signed());
                let width = word(self, slots::count(&element) as u64);
                let key_width = word(self, slots::count(&key) as u64);
                let order = word(self, order);
                let done = self.call_helper(
                    "list.sort_by",
                    helpers::list_sort_by as *const u8,
                    &[types::I64, types::I64],
                    &[self.env.cx, list, width, keys, key_width, order, reverse],
                )?;
                self.fail_if(done[0], done[0], inst)?;
                Ok(Vec::new())
            }
            CoreOp::ListSlice if inst.result.is_some_and(|slice| self.lent.contains(&slice)) => {
                self.lent_slice(list, &element, inst)
            }
            CoreOp::ListSlice => {
                let (start, stop) = (self.index(inst, 1, 0)?, self.index(inst, 2, i64::MAX)?);
                let width = self.word(slots::count(&element) as i64);
                let made = self.call_helper(
                    "list.slice",
                    helpers::list_slice as *const u8,
                    &[types::I64, types::I64],
                    &[self.env.cx, list, start, stop, width],
                )?;
                self.fail_if(made[0], made[0], inst)?;
                Ok(vec![made[1]])
            }
            other => Err(CompileError::malformed(format!("{other:?} as a list operation"))),
        }
    }

    /// The position that an index means, counted from the end if it is negative. Raises
    /// IndexError outside the list.
    fn position(&mut self, list: Machine, index: Machine, inst: &Inst) -> Result<Machine> {
        let len = self.list_len(list, inst);
        if self.known_int(inst, 1).is_some() {
            let at = self.counted(inst, 1, index, len);
            let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, at, len);
            self.raise_if(outside, ExcKind::IndexError, inst)?;
            return Ok(at);
        }
        // Most positions are counted from the start: the others are looked at where that one is outside.
        let from_end = self.b.create_block();
        let inside = self.b.create_block();
        self.b.set_cold_block(from_end);
        let at = self.b.append_block_param(inside, types::I64);
        let within = self.b.ins().icmp(IntCC::UnsignedLessThan, index, len);
        self.b.ins().brif(within, inside, &[BlockArg::Value(index)], from_end, &[]);
        self.b.switch_to_block(from_end);
        let counted = self.b.ins().iadd(index, len);
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, counted, len);
        self.raise_if(outside, ExcKind::IndexError, inst)?;
        self.b.ins().jump(inside, &[BlockArg::Value(counted)]);
        self.b.switch_to_block(inside);
        Ok(at)
    }

    /// Where an element of the list that is the first operand lies.
    fn element_of(&mut self, list: Machine, at: Machine, element: &Type, inst: &Inst) -> Machine {
        match self.header(inst).map(|header| header.data) {
            Some(data) => self.address_in(data, at, element),
            None => self.element_address(list, at, element),
        }
    }

    fn element_address(&mut self, list: Machine, at: Machine, element: &Type) -> Machine {
        let data = self.b.ins().load(types::I64, trusted(), list, DATA);
        self.address_in(data, at, element)
    }

    fn address_in(&mut self, data: Machine, at: Machine, element: &Type) -> Machine {
        let offset = self.b.ins().imul_imm_s(at, 8 * slots::count(element) as i64);
        self.b.ins().iadd(data, offset)
    }

    fn append(&mut self, list: Machine, element: &Type, inst: &Inst) -> Result<Vec<Machine>> {
        let value = self.operand(inst, 1)?;
        let values = self.slots(value)?;
        let values = self.element(values, value, element)?;
        if let Some((base, counter)) = self.filled(inst) {
            let counter = self.slots(counter)?[0];
            let address = self.address_in(base, counter, element);
            self.store(&values, address);
            return Ok(Vec::new());
        }
        let len = self.b.ins().load(types::I64, trusted(), list, LEN);
        let cap = self.b.ins().load(types::I64, trusted(), list, CAP);
        let grow = self.b.create_block();
        let room = self.b.create_block();
        let write = self.b.create_block();
        self.b.set_cold_block(grow);
        let address = self.b.append_block_param(write, types::I64);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, len, cap);
        self.b.ins().brif(full, grow, &[], room, &[]);

        self.b.switch_to_block(grow);
        let width = self.word(slots::count(element) as i64);
        let args = [self.env.cx, list, width];
        let grown = self.rarely(|this| {
            this.call_helper("list.append", runtime::list_push as *const u8, &[types::I64, types::I64], &args)
        })?;
        self.fail_if(grown[0], grown[0], inst)?;
        self.b.ins().jump(write, &[BlockArg::Value(grown[1])]);

        self.b.switch_to_block(room);
        let more = self.b.ins().iadd_imm_s(len, 1);
        self.b.ins().store(trusted(), more, list, LEN);
        let end = self.element_address(list, len, element);
        self.b.ins().jump(write, &[BlockArg::Value(end)]);

        self.b.switch_to_block(write);
        self.store(&values, address);
        Ok(Vec::new())
    }

    /// The slots of a value in memory.
    pub(super) fn load(&mut self, ty: &Type, address: Machine) -> Vec<Machine> {
        load_slots(self.b, ty, address)
    }

    /// Writes the slots of a value to memory.
    pub(super) fn store(&mut self, slots: &[Machine], address: Machine) {
        for (at, slot) in slots.iter().enumerate() {
            let word = self.extend(*slot);
            self.b.ins().store(trusted(), word, address, 8 * at as i32);
        }
    }

    /// A record in the row's memory.
    pub(super) fn make_box(&mut self, inst: &Inst) -> Result<Machine> {
        let record = self.operand(inst, 0)?;
        let slots = self.slots(record)?;
        let words = slots.len();
        let made = self.either(
            &Type::Int,
            |this, slow| Ok(vec![this.take_memory(8 * words, slow)]),
            |this| {
                // The room of a list of words.
                let list = this.empty_list(words, 1, inst)?;
                Ok(vec![this.b.ins().load(types::I64, trusted(), list, DATA)])
            },
        )?;
        self.store(&slots, made[0]);
        Ok(made[0])
    }

    /// The slots of a record in memory.
    pub(super) fn read_box(&mut self, inst: &Inst) -> Result<Vec<Machine>> {
        let address = self.one(inst, 0)?;
        let ty = self.result_type(inst)?.clone();
        Ok(self.load(&ty, address))
    }
}

/// The slots of a value that lies in memory.
pub(crate) fn load_slots(b: &mut FunctionBuilder<'_>, ty: &Type, address: Machine) -> Vec<Machine> {
    let mut out = Vec::new();
    for (at, reg) in slots::registers(ty).into_iter().enumerate() {
        let word = if reg == types::F64 { types::F64 } else { types::I64 };
        let slot = b.ins().load(word, trusted(), address, 8 * at as i32);
        out.push(if reg == types::I8 { b.ins().ireduce(types::I8, slot) } else { slot });
    }
    out
}
