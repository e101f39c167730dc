//! Strings: equality and length. Everything else is a kernel.

use super::{Result, Translator, trusted};
use crate::helpers;
use crate::live::core_op;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Machine, types};
use exuvia_ir::{Function, Inst, Int, Object, Opcode};
use exuvia_ops::core::CoreOp;
use exuvia_ops::text::ASCII_BIT;

/// The longest constant that is compared without a call.
const INLINE: usize = 16;

/// For each value whether it is the length of a string that is only compared with zero:
/// then the number of bytes serves as well as that of code points.
pub(super) fn lengths_as_truth(function: &Function) -> Vec<bool> {
    let mut candidate = vec![false; function.values.len()];
    let mut zero = vec![false; function.values.len()];
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    for inst in insts() {
        let Some(result) = inst.result else { continue };
        match (&inst.op, core_op(inst)) {
            (Opcode::Const(Object::Int(Int::Small(0))), _) => zero[result.index()] = true,
            (_, Some(CoreOp::StrLen)) => candidate[result.index()] = true,
            _ => {}
        }
    }
    for inst in insts() {
        let compares = matches!(core_op(inst), Some(CoreOp::IntCmp(_)));
        for (at, arg) in inst.args.iter().enumerate() {
            let with_zero = compares && inst.args.get(1 - at.min(1)).is_some_and(|other| zero[other.index()]);
            candidate[arg.index()] &= with_zero;
        }
        for arg in inst.unwind.iter().flat_map(|edge| &edge.args) {
            candidate[arg.index()] = false;
        }
    }
    for block in &function.blocks {
        block.term.for_each_value(|value| candidate[value.index()] = false);
    }
    candidate
}

impl Translator<'_, '_, '_> {
    /// The length in bytes.
    pub(crate) fn byte_len(&mut self, meta: Machine) -> Machine {
        self.b.ins().band_imm_s(meta, !ASCII_BIT as i64)
    }

    pub(super) fn str_len(&mut self, inst: &Inst) -> Result<Machine> {
        if let Some(Object::Str(text)) = self.known(inst, 0) {
            return Ok(self.word(text.chars().count() as i64));
        }
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        if inst.result.is_some_and(|result| self.lengths_as_truth[result.index()]) {
            return Ok(len);
        }
        let count = self.b.create_block();
        let done = self.b.create_block();
        self.b.set_cold_block(count);
        let result = self.b.append_block_param(done, types::I64);
        let ascii = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, meta, 0);
        self.b.ins().brif(ascii, done, &[BlockArg::Value(len)], count, &[]);
        self.b.switch_to_block(count);
        let chars = self.rarely(|this| {
            this.call_helper("str.len", helpers::count_chars as *const u8, &[types::I64], &[this.env.cx, ptr, len])
        })?;
        self.b.ins().jump(done, &[BlockArg::Value(chars[0])]);
        self.b.switch_to_block(done);
        Ok(result)
    }

    pub(super) fn str_eq(&mut self, inst: &Inst) -> Result<Machine> {
        for (known, other) in [(1, 0), (0, 1)] {
            if let Some(Object::Str(text)) = self.known(inst, known)
                && text.len() <= INLINE
            {
                let text = text.clone();
                let (ptr, meta) = self.text(inst, other)?;
                return Ok(self.equals_short(ptr, meta, text.as_bytes()));
            }
        }
        let (a, a_meta) = self.text(inst, 0)?;
        let (b, b_meta) = self.text(inst, 1)?;
        if inst.args.iter().all(|arg| self.is_character(*arg)) {
            return self.same_character((a, a_meta), (b, b_meta));
        }
        // The flag may be clear on one of two equal strings: it is shifted out.
        let differ = self.b.ins().bxor(a_meta, b_meta);
        let differ = self.b.ins().ishl_imm_u(differ, 1);
        let compare = self.b.create_block();
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);
        let unequal = self.b.ins().iconst(types::I8, 0);
        self.b.ins().brif(differ, done, &[BlockArg::Value(unequal)], compare, &[]);
        self.b.switch_to_block(compare);
        let len = self.byte_len(a_meta);
        let equal = self.b.ins().iconst(types::I8, 1);
        let some = self.b.create_block();
        self.b.ins().brif(len, some, &[], done, &[BlockArg::Value(equal)]);
        // Most texts that differ do so in their first byte or their last, and most that are compared one
        // by one are characters.
        self.b.switch_to_block(some);
        let first = self.bytes_differ(a, b);
        let rest = self.b.create_block();
        self.b.ins().brif(first, done, &[BlockArg::Value(unequal)], rest, &[]);
        self.b.switch_to_block(rest);
        let [a_end, b_end] = [a, b].map(|start| self.b.ins().iadd(start, len));
        let [a_last, b_last] = [a_end, b_end].map(|end| self.b.ins().iadd_imm_s(end, -1));
        let last = self.bytes_differ(a_last, b_last);
        let between = self.b.create_block();
        self.b.ins().brif(last, done, &[BlockArg::Value(unequal)], between, &[]);
        self.b.switch_to_block(between);
        let long = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, len, 2);
        let call = self.b.create_block();
        self.b.ins().brif(long, call, &[], done, &[BlockArg::Value(equal)]);
        self.b.switch_to_block(call);
        let equal = self.call_helper("str.eq", helpers::bytes_equal as *const u8, &[types::I64], &[a, b, len])?;
        let equal = self.b.ins().ireduce(types::I8, equal[0]);
        self.b.ins().jump(done, &[BlockArg::Value(equal)]);
        self.b.switch_to_block(done);
        Ok(result)
    }

    /// Whether a value is a step of an iteration, or what stands at a place: one character.
    fn is_character(&self, value: exuvia_ir::Value) -> bool {
        matches!(self.made_by.get(&value), Some(&("str.char_at_byte" | "place.get")))
    }

    /// Whether two characters are equal: where the first byte is ASCII, it is all.
    fn same_character(&mut self, (a, a_meta): (Machine, Machine), (b, b_meta): (Machine, Machine)) -> Result<Machine> {
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);
        let (same, long, call) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(long);
        self.b.set_cold_block(call);
        let [equal, unequal] = [1, 0].map(|value| self.b.ins().iconst(types::I8, value));
        let [a_first, b_first] = [a, b].map(|at| self.b.ins().load(types::I8, trusted(), at, 0));
        let first = self.b.ins().icmp(IntCC::Equal, a_first, b_first);
        self.b.ins().brif(first, same, &[], done, &[BlockArg::Value(unequal)]);
        self.b.switch_to_block(same);
        let ascii = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, a_first, 0);
        self.b.ins().brif(ascii, done, &[BlockArg::Value(equal)], long, &[]);
        self.b.switch_to_block(long);
        let [a_len, b_len] = [a_meta, b_meta].map(|meta| self.byte_len(meta));
        let alike = self.b.ins().icmp(IntCC::Equal, a_len, b_len);
        self.b.ins().brif(alike, call, &[], done, &[BlockArg::Value(unequal)]);
        self.b.switch_to_block(call);
        let args = [a, b, a_len];
        let equal =
            self.rarely(|this| this.call_helper("str.eq", helpers::bytes_equal as *const u8, &[types::I64], &args))?;
        let equal = self.b.ins().ireduce(types::I8, equal[0]);
        self.b.ins().jump(done, &[BlockArg::Value(equal)]);
        self.b.switch_to_block(done);
        Ok(result)
    }

    /// Whether two bytes are not the same.
    fn bytes_differ(&mut self, a: Machine, b: Machine) -> Machine {
        let [a, b] = [a, b].map(|at| self.b.ins().load(types::I8, trusted(), at, 0));
        self.b.ins().icmp(IntCC::NotEqual, a, b)
    }

    /// Whether a string is `text`, of at most [`INLINE`] bytes.
    fn equals_short(&mut self, ptr: Machine, meta: Machine, text: &[u8]) -> Machine {
        let len = self.byte_len(meta);
        let same_length = self.b.ins().icmp_imm_s(IntCC::Equal, len, text.len() as i64);
        if text.is_empty() {
            return same_length;
        }
        let compare = self.b.create_block();
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);
        self.b.ins().brif(same_length, compare, &[], done, &[BlockArg::Value(same_length)]);
        self.b.switch_to_block(compare);
        let equal = self.same_bytes(ptr, text);
        self.b.ins().jump(done, &[BlockArg::Value(equal)]);
        self.b.switch_to_block(done);
        result
    }
}
