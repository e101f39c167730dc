//! Shortcuts around kernels of strings, for the case that needs no call.
//!
//! What an operation means is defined by its kernel alone. These are the few that loops
//! over characters and parsers of fields call at every step, on text that is mostly
//! ASCII: there a code point is a byte, and the work is less than the call. Whatever the
//! checks in front do not cover goes to the kernel, exceptions included.

use super::{Result, Translator, rounding};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Type as Reg, Value as Machine, types};
use exuvia_ir::{Inst, Object, Type};
use exuvia_ops::core::Cmp;
use exuvia_ops::def::{Effect, Kind, OpDef};
use exuvia_ops::text::ASCII_BIT;

/// The kernel behind a shortcut.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    pub def: &'static OpDef,
    pub address: *const u8,
    pub result: Kind,
}

/// The most digits that are read one by one.
const FEW_DIGITS: i64 = 4;

/// The longest constant that is compared without a call.
const INLINE: usize = 16;

/// The ASCII characters that `str.isspace` says are whitespace.
const WHITESPACE: u128 = {
    let mut set = 1u128 << b' ';
    let mut byte = 0x09;
    while byte < 0x20 {
        if byte < 0x0e || byte >= 0x1c {
            set |= 1 << byte;
        }
        byte += 1;
    }
    set
};

/// The largest word within so many bytes, of which there are some: two that overlap cover up to twice its size.
pub(super) fn word_within(bytes: usize) -> (usize, Reg) {
    match bytes {
        0..2 => (1, types::I8),
        2..4 => (2, types::I16),
        4..8 => (4, types::I32),
        _ => (8, types::I64),
    }
}

impl Translator<'_, '_, '_> {
    /// The operation by a shortcut or its kernel.
    pub(super) fn string_op(&mut self, kernel: Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        match (kernel.def.name, inst.args.len()) {
            ("str.get", 2) => self.around(kernel, inst, &Type::Str, Self::ascii_get),
            ("str.slice", 1..=3) => self.around(kernel, inst, &Type::Str, Self::ascii_slice),
            ("str.char_at_byte", 2) => self.around(kernel, inst, &Type::Str, |this, inst, slow| {
                let (address, _) = this.ascii_byte(inst, slow)?;
                Ok(vec![address, this.word((ASCII_BIT | 1) as i64)])
            }),
            ("str.next_byte", 2) if let Some(&[_, meta]) = self.beside(inst, "str.char_at_byte") => {
                let len = self.byte_len(meta);
                let one = self.word(1);
                let width = self.b.ins().smax(len, one);
                let offset = self.int(inst, 1)?;
                Ok(vec![self.b.ins().iadd(offset, width)])
            }
            ("str.next_byte", 2) => self.around(kernel, inst, &Type::Int, |this, inst, slow| {
                let (_, offset) = this.ascii_byte(inst, slow)?;
                Ok(vec![this.b.ins().iadd_imm_s(offset, 1)])
            }),
            (name @ ("str.strip" | "str.lstrip" | "str.rstrip"), 1..=2) => {
                // The second operand can only be None.
                let sides = (name != "str.rstrip", name != "str.lstrip");
                self.around(kernel, inst, &Type::Str, |this, inst, slow| this.strip(inst, WHITESPACE, sides, slow))
            }
            (name @ ("str.strip_chars" | "str.lstrip_chars" | "str.rstrip_chars"), 2) => match self.known(inst, 1) {
                Some(Object::Str(chars)) if chars.is_ascii() => {
                    let set = chars.bytes().fold(0, |set, byte| set | 1u128 << byte);
                    let sides = (name != "str.rstrip_chars", name != "str.lstrip_chars");
                    self.around(kernel, inst, &Type::Str, |this, inst, slow| this.strip(inst, set, sides, slow))
                }
                _ => self.kernel(kernel, inst),
            },
            (name @ ("str.find" | "str.rfind"), 2..=4) => match self.constant_needle(kernel, inst, 1) {
                Some(needle) if self.is_whole(inst) => self.around(kernel, inst, &Type::Int, |this, inst, slow| {
                    this.find_constant(inst, &needle, name == "str.rfind", slow)
                }),
                _ => self.one_character(kernel, inst),
            },
            ("str.contains", 2) => match self.constant_needle(kernel, inst, 0) {
                Some(needle) => self
                    .around(kernel, inst, &Type::Bool, |this, inst, slow| this.contains_constant(inst, &needle, slow)),
                None => self.one_character(kernel, inst),
            },
            ("str.startswith" | "str.endswith", 2..=4) => match self.constant_affix(inst) {
                Some(affix) => self.affix(inst, affix.as_bytes(), kernel.def.name == "str.endswith"),
                None => self.kernel(kernel, inst),
            },
            ("str.repeat", 2) => self.around(kernel, inst, &Type::Str, |this, inst, slow| this.repeat(inst, 0, slow)),
            ("str.repeated", 2) => self.around(kernel, inst, &Type::Str, |this, inst, slow| this.repeat(inst, 1, slow)),
            ("int.of_str", 1) => self.around(kernel, inst, &Type::Int, Self::short_number),
            ("float.pow" | "float.pow_call", 2) => self.power(kernel, inst),
            ("float.round_digits", 2) => self.round_to_places(kernel, inst),
            ("float.floordiv" | "float.mod", 2) => self.divide_whole(kernel, inst, kernel.def.name == "float.mod"),
            ("float.is_integer", 1) => self.is_whole_float(inst),
            (name, _) if let Some(to) = rounding::to_int(name) => self.round_to_int(kernel, inst, to),
            (name, 2) if let Some((int, cmp)) = Cmp::of_int_and_float(name) => {
                self.around(kernel, inst, &Type::Bool, |this, inst, slow| this.compare_mixed(cmp, inst, int, slow))
            }
            (name, _) if name.starts_with("place.") => self.place_op(kernel, inst),
            _ => self.one_character(kernel, inst),
        }
    }

    /// The kernel, and in front of it what `quick` does unless it goes to the block that it
    /// is given.
    pub(super) fn around(
        &mut self,
        kernel: Kernel,
        inst: &Inst,
        ty: &Type,
        quick: impl FnOnce(&mut Self, &Inst, Block) -> Result<Vec<Machine>>,
    ) -> Result<Vec<Machine>> {
        self.either(ty, |this, slow| quick(this, inst, slow), |this| this.kernel(kernel, inst))
    }

    /// What `quick` gives unless it goes to the block that it is given, else what `rare` gives.
    pub(super) fn either(
        &mut self,
        ty: &Type,
        quick: impl FnOnce(&mut Self, Block) -> Result<Vec<Machine>>,
        rare: impl FnOnce(&mut Self) -> Result<Vec<Machine>>,
    ) -> Result<Vec<Machine>> {
        let slow = self.b.create_block();
        let done = self.b.create_block();
        self.b.set_cold_block(slow);
        let results: Vec<Machine> =
            crate::slots::registers(ty).into_iter().map(|reg| self.b.append_block_param(done, reg)).collect();
        let jump = |this: &mut Self, slots: Vec<Machine>| {
            let args: Vec<BlockArg> = slots.into_iter().map(BlockArg::Value).collect();
            this.b.ins().jump(done, &args);
        };
        let slots = quick(self, slow)?;
        jump(self, slots);
        self.b.switch_to_block(slow);
        let slots = self.rarely(rare)?;
        jump(self, slots);
        self.b.switch_to_block(done);
        Ok(results)
    }

    /// Goes on if `cond` is not zero, else to the block.
    pub(super) fn require(&mut self, cond: Machine, slow: Block) {
        let go_on = self.b.create_block();
        self.b.ins().brif(cond, go_on, &[], slow, &[]);
        self.b.switch_to_block(go_on);
    }

    pub(super) fn require_ascii(&mut self, meta: Machine, slow: Block) {
        // The flag is the sign.
        let ascii = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, meta, 0);
        self.require(ascii, slow);
    }

    /// The text, which is operand `text`, once or not at all.
    fn repeat(&mut self, inst: &Inst, text: usize, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, text)?;
        let count = self.int(inst, 1 - text)?;
        let few = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, count, 1);
        self.require(few, slow);
        let once = self.b.ins().icmp_imm_s(IntCC::Equal, count, 1);
        let empty = self.word(ASCII_BIT as i64);
        Ok(vec![ptr, self.b.ins().select(once, meta, empty)])
    }

    /// The number that a few digits write.
    fn short_number(&mut self, inst: &Inst, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        let before = self.b.ins().iadd_imm_s(len, -1);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, before, FEW_DIGITS);
        self.require(few, slow);
        let turn = self.b.create_block();
        let at = self.b.append_block_param(turn, types::I64);
        let number = self.b.append_block_param(turn, types::I64);
        let digits = self.b.create_block();
        let done = self.b.create_block();
        let start = BlockArg::Value(self.word(0));
        self.b.ins().jump(turn, &[start, start]);

        self.b.switch_to_block(turn);
        let address = self.b.ins().iadd(ptr, at);
        let byte = self.b.ins().uload8(types::I64, MemFlagsData::new().with_notrap(), address, 0);
        let digit = self.b.ins().iadd_imm_s(byte, -i64::from(b'0'));
        let is_digit = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, digit, 10);
        self.b.ins().brif(is_digit, digits, &[], slow, &[]);

        self.b.switch_to_block(digits);
        let tens = self.b.ins().imul_imm_s(number, 10);
        let number = self.b.ins().iadd(tens, digit);
        let at = self.b.ins().iadd_imm_s(at, 1);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.b.ins().brif(more, turn, &[BlockArg::Value(at), BlockArg::Value(number)], done, &[]);

        self.b.switch_to_block(done);
        Ok(vec![number])
    }

    fn ascii_get(&mut self, inst: &Inst, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        self.require_ascii(meta, slow);
        let len = self.byte_len(meta);
        let index = self.int(inst, 1)?;
        let at = self.counted(inst, 1, index, len);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.require(inside, slow);
        Ok(vec![self.b.ins().iadd(ptr, at), self.word((ASCII_BIT | 1) as i64)])
    }

    /// A position: the index itself, or counted from the end if it is negative.
    pub(super) fn counted(&mut self, inst: &Inst, operand: usize, index: Machine, len: Machine) -> Machine {
        match self.known_int(inst, operand) {
            Some(known) if known >= 0 => index,
            Some(_) => self.b.ins().iadd(index, len),
            None => {
                let from_end = self.b.ins().iadd(index, len);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, index, 0);
                self.b.ins().select(negative, from_end, index)
            }
        }
    }

    fn ascii_slice(&mut self, inst: &Inst, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        self.require_ascii(meta, slow);
        let len = self.byte_len(meta);
        let start = self.bound(inst, 1, 0, len)?;
        let stop = self.bound(inst, 2, i64::MAX, len)?;
        let flag = self.word(ASCII_BIT as i64);
        Ok(self.part(ptr, (start, stop), flag))
    }

    /// The part of a text between two offsets, empty where they are in the other order.
    pub(super) fn part(&mut self, ptr: Machine, (start, stop): (Machine, Machine), flag: Machine) -> Vec<Machine> {
        let stop = self.b.ins().smax(stop, start);
        let length = self.b.ins().isub(stop, start);
        vec![self.b.ins().iadd(ptr, start), self.b.ins().bor(length, flag)]
    }

    /// A bound of a slice clamped to what has `len` items.
    pub(super) fn bound(&mut self, inst: &Inst, operand: usize, absent: i64, len: Machine) -> Result<Machine> {
        let given = inst.args.get(operand).is_some_and(|value| *self.function.ty(*value) != Type::None);
        let known = match self.known(inst, operand) {
            Some(Object::Int(value)) => Some(value.clamp_i64()),
            _ => (!given).then_some(absent),
        };
        match known {
            Some(0) => return Ok(self.word(0)),
            Some(i64::MAX) => return Ok(len),
            _ => {}
        }
        let at = self.index(inst, operand, absent)?;
        let zero = self.word(0);
        let from_end = self.b.ins().iadd(at, len);
        let from_end = self.b.ins().smax(from_end, zero);
        let from_start = self.b.ins().smin(at, len);
        Ok(match known {
            Some(known) if known >= 0 => from_start,
            Some(_) => from_end,
            None => {
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, at, 0);
                self.b.ins().select(negative, from_end, from_start)
            }
        })
    }

    /// The text without ASCII characters of a set at its ends. A byte of ASCII is a character
    /// whatever stands before or behind it; any other byte at an end is the kernel's.
    fn strip(&mut self, inst: &Inst, set: u128, (left, right): (bool, bool), slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        let start = self.word(0);
        let end = if right { self.strip_end(ptr, start, len, set, true, slow) } else { len };
        let start = if left { self.strip_end(ptr, start, end, set, false, slow) } else { start };
        let length = self.b.ins().isub(end, start);
        let flag = self.b.ins().band_imm_s(meta, ASCII_BIT as i64);
        Ok(vec![self.b.ins().iadd(ptr, start), self.b.ins().bor(length, flag)])
    }

    /// The start or end of `[start:end]` moved inwards over characters of a set.
    fn strip_end(
        &mut self,
        ptr: Machine,
        start: Machine,
        end: Machine,
        set: u128,
        at_end: bool,
        slow: Block,
    ) -> Machine {
        let header = self.b.create_block();
        let at = self.b.append_block_param(header, types::I64);
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I64);
        let look = self.b.create_block();
        let ascii = self.b.create_block();
        let from = if at_end { end } else { start };
        self.b.ins().jump(header, &[BlockArg::Value(from)]);

        self.b.switch_to_block(header);
        let more = self.b.ins().icmp(IntCC::NotEqual, at, if at_end { start } else { end });
        self.b.ins().brif(more, look, &[], done, &[BlockArg::Value(at)]);

        self.b.switch_to_block(look);
        let address = self.b.ins().iadd(ptr, at);
        let byte =
            self.b.ins().uload8(types::I64, MemFlagsData::new().with_notrap(), address, if at_end { -1 } else { 0 });
        let beyond = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, byte, 0x80);
        self.b.ins().brif(beyond, slow, &[], ascii, &[]);

        self.b.switch_to_block(ascii);
        let within = self.member(byte, set);
        let next = self.b.ins().iadd_imm_s(at, if at_end { -1 } else { 1 });
        self.b.ins().brif(within, header, &[BlockArg::Value(next)], done, &[BlockArg::Value(at)]);

        self.b.switch_to_block(done);
        result
    }

    /// Whether an ASCII character is one of a set.
    fn member(&mut self, byte: Machine, set: u128) -> Machine {
        if set.count_ones() == 1 {
            return self.b.ins().icmp_imm_s(IntCC::Equal, byte, i64::from(set.trailing_zeros()));
        }
        let (low, high) = (set as u64, (set >> 64) as u64);
        let words = [low, high].map(|word| self.word(word as i64));
        let upper = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, byte, 64);
        let word = self.b.ins().select(upper, words[1], words[0]);
        // The shift looks at the low six bits of its count.
        let bit = self.b.ins().ushr(word, byte);
        let bit = self.b.ins().ireduce(types::I8, bit);
        self.b.ins().band_imm_u(bit, 1)
    }

    /// The address of the byte at an offset, which is a character by itself, and the
    /// offset.
    fn ascii_byte(&mut self, inst: &Inst, slow: Block) -> Result<(Machine, Machine)> {
        let (ptr, meta) = self.text(inst, 0)?;
        let offset = self.int(inst, 1)?;
        let len = self.byte_len(meta);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, len);
        self.require(inside, slow);
        let address = self.b.ins().iadd(ptr, offset);
        let byte = self.b.ins().load(types::I8, MemFlagsData::trusted(), address, 0);
        let ascii = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, byte, 0);
        self.require(ascii, slow);
        Ok((address, offset))
    }

    /// Whether the bounds of a search are those of the whole string.
    fn is_whole(&self, inst: &Inst) -> bool {
        (2..inst.args.len()).zip([0, i64::MAX]).all(|(at, whole)| self.known_int(inst, at) == Some(whole))
    }

    /// The prefix or suffix if it is a short constant and the whole string is looked at.
    fn constant_affix(&self, inst: &Inst) -> Option<std::sync::Arc<str>> {
        match self.known(inst, 1) {
            Some(Object::Str(affix)) if self.is_whole(inst) && affix.len() <= INLINE => Some(affix.clone()),
            _ => None,
        }
    }

    fn affix(&mut self, inst: &Inst, affix: &[u8], at_end: bool) -> Result<Vec<Machine>> {
        if affix.is_empty() {
            return Ok(vec![self.b.ins().iconst(types::I8, 1)]);
        }
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        let size = affix.len() as i64;
        let long_enough = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, len, size);
        let compare = self.b.create_block();
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);
        self.b.ins().brif(long_enough, compare, &[], done, &[BlockArg::Value(long_enough)]);
        self.b.switch_to_block(compare);
        let from = if at_end {
            let end = self.b.ins().iadd(ptr, len);
            self.b.ins().iadd_imm_s(end, -size)
        } else {
            ptr
        };
        let equal = self.same_bytes(from, affix);
        self.b.ins().jump(done, &[BlockArg::Value(equal)]);
        self.b.switch_to_block(done);
        Ok(vec![result])
    }

    /// Whether the bytes at an address are those of `text`, which is not empty and has at
    /// most [`INLINE`]: words, overlapping where the length is no power of two.
    pub(super) fn same_bytes(&mut self, ptr: Machine, text: &[u8]) -> Machine {
        let (size, reg) = word_within(text.len());
        let mut offsets = vec![0];
        if text.len() > size {
            offsets.push(text.len() - size);
        }
        let mut differ = None;
        for offset in offsets {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&text[offset..offset + size]);
            let flags = MemFlagsData::new().with_notrap();
            let found = self.b.ins().load(reg, flags, ptr, offset as i32);
            let found = if size < 8 { self.b.ins().uextend(types::I64, found) } else { found };
            let expected = self.word(i64::from_le_bytes(word));
            let differs = self.b.ins().bxor(found, expected);
            differ = Some(match differ {
                None => differs,
                Some(before) => self.b.ins().bor(before, differs),
            });
        }
        match differ {
            Some(differ) => self.b.ins().icmp_imm_s(IntCC::Equal, differ, 0),
            None => self.b.ins().iconst(types::I8, 1),
        }
    }

    /// An operation on a single character: a table of its results for ASCII, made by the
    /// operation itself, stands in front of the kernel.
    pub(super) fn one_character(&mut self, kernel: Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        let Some((operand, ty)) = self.character_operand(kernel, inst) else { return self.kernel(kernel, inst) };
        let args: Vec<Option<Object>> =
            (0..inst.args.len()).map(|at| if at == operand { None } else { self.known(inst, at).cloned() }).collect();
        let Some(table) = self.unit.constants.by_character(kernel.def, &args, &ty)? else {
            return self.kernel(kernel, inst);
        };
        self.around(kernel, inst, &ty.clone(), |this, inst, slow| {
            let (ptr, meta) = this.text(inst, operand)?;
            let len = this.byte_len(meta);
            let single = this.b.ins().icmp_imm_s(IntCC::Equal, len, 1);
            this.require(single, slow);
            let byte = this.b.ins().uload8(types::I64, MemFlagsData::trusted(), ptr, 0);
            if let Some(known) = table.known {
                let known = this.word(known as i64);
                let at = this.b.ins().iadd(known, byte);
                let known = this.b.ins().load(types::I8, MemFlagsData::trusted().with_readonly(), at, 0);
                this.require(known, slow);
            }
            let words = this.word(table.words as i64);
            let offset = this.b.ins().imul_imm_s(byte, 8 * crate::slots::count(&ty) as i64);
            let at = this.b.ins().iadd(words, offset);
            Ok(this.load(&ty, at))
        })
    }

    /// The operand that is a character, where all others are constants and the result is a
    /// scalar that depends on nothing else; and the type of the result.
    pub(super) fn character_operand(&self, kernel: Kernel, inst: &Inst) -> Option<(usize, Type)> {
        if kernel.def.effect != Effect::Pure {
            return None;
        }
        let ty = self.function.ty(inst.result?).clone();
        if !matches!(ty, Type::Bool | Type::Int | Type::Float | Type::Str) {
            return None;
        }
        let mut character = None;
        for (at, arg) in inst.args.iter().enumerate() {
            if self.known(inst, at).is_some() {
                continue;
            }
            let is_character = matches!(self.made_by.get(arg), Some(&("str.char_at_byte" | "str.get" | "place.get")));
            if character.is_some() || !is_character {
                return None;
            }
            character = Some(at);
        }
        Some((character?, ty))
    }
}
