//! Looking for a short constant in a text of usual length without a call.
//!
//! The method is that of the kernel (`crates/ops/src/str/needle.rs`): sixteen positions at
//! a time are compared by the first and the last byte of what is looked for, and those
//! where both agree by the rest. Very short and long texts are the kernel's.

use super::shortcut::Kernel;
use super::{Result, Translator};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, Endianness, InstBuilder, MemFlagsData, Value as Machine, types};
use exuvia_ir::{Inst, Object};
use std::sync::Arc;

/// The longest constant, which is also the longest that is compared by words.
const NEEDLE: usize = 16;
/// The positions of a block.
const BLOCK: i64 = 16;
/// In longer texts the kernel's wider vectors are worth the call.
const LONGEST: i64 = 256;

impl Translator<'_, '_, '_> {
    /// The operand if it is a constant that is looked for here: not in a single character,
    /// for which there is a table.
    pub(super) fn constant_needle(&self, kernel: Kernel, inst: &Inst, operand: usize) -> Option<Arc<str>> {
        let vectors = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        if self.character_operand(kernel, inst).is_some() {
            return None;
        }
        match self.known(inst, operand) {
            Some(Object::Str(needle)) if vectors && (1..=NEEDLE).contains(&needle.len()) => Some(needle.clone()),
            _ => None,
        }
    }

    /// `str.find` or, `from_end`, `str.rfind` of a constant in the whole text. A text with other characters than ASCII
    /// is the kernel's where the constant is found: its index must be counted.
    pub(super) fn find_constant(
        &mut self,
        inst: &Inst,
        needle: &str,
        from_end: bool,
        slow: Block,
    ) -> Result<Vec<Machine>> {
        let text = self.text(inst, 0)?;
        Ok(vec![self.found(text, needle.as_bytes(), (from_end, false), slow, |this, offset| {
            this.require_ascii(text.1, slow);
            offset
        })])
    }

    /// What `index` makes of the lowest offset of the needle, or `from_end` the highest one. Where there is none it
    /// is -1, or, where that `raises`, control goes to `slow`.
    pub(super) fn found(
        &mut self,
        (ptr, meta): (Machine, Machine),
        needle: &[u8],
        (from_end, raises): (bool, bool),
        slow: Block,
        index: impl FnOnce(&mut Self, Machine) -> Machine,
    ) -> Machine {
        let found = self.b.create_block();
        let offset = self.b.append_block_param(found, types::I64);
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I64);

        self.search(ptr, meta, needle, from_end, found, slow);
        if raises {
            self.b.ins().jump(slow, &[]);
        } else {
            let none = self.word(-1);
            self.b.ins().jump(done, &[BlockArg::Value(none)]);
        }

        self.b.switch_to_block(found);
        let index = index(self, offset);
        self.b.ins().jump(done, &[BlockArg::Value(index)]);

        self.b.switch_to_block(done);
        result
    }

    /// `str.contains` of a constant.
    pub(super) fn contains_constant(&mut self, inst: &Inst, needle: &str, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 1)?;
        let found = self.b.create_block();
        self.b.append_block_param(found, types::I64);
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);

        self.search(ptr, meta, needle.as_bytes(), false, found, slow);
        let no = self.b.ins().iconst(types::I8, 0);
        self.b.ins().jump(done, &[BlockArg::Value(no)]);

        self.b.switch_to_block(found);
        let yes = self.b.ins().iconst(types::I8, 1);
        self.b.ins().jump(done, &[BlockArg::Value(yes)]);

        self.b.switch_to_block(done);
        Ok(vec![result])
    }

    /// Goes to `found` with the lowest offset of the needle, or the highest one, to `slow` if
    /// the text is very short or long, and goes on where the text does not hold it.
    fn search(&mut self, ptr: Machine, meta: Machine, needle: &[u8], from_end: bool, found: Block, slow: Block) {
        let inner = needle.len() as i64 - 1;
        let first = self.sixteen(needle[0]);
        let last_byte = self.sixteen(needle[needle.len() - 1]);
        let one_block = self.b.create_block();
        let block = self.b.create_block();
        let at = self.b.append_block_param(block, types::I64);
        let check = self.b.create_block();
        let base = self.b.append_block_param(check, types::I64);
        let bits = self.b.append_block_param(check, types::I32);
        let candidate = self.b.create_block();
        let next = self.b.create_block();
        let absent = self.b.create_block();
        let zero = self.word(0);

        let len = self.byte_len(meta);
        let beyond = self.b.ins().iadd_imm_s(len, -BLOCK);
        let usual = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, beyond, LONGEST - BLOCK);
        let positions = self.b.ins().iadd_imm_s(len, -inner);
        let last = self.b.ins().iadd_imm_s(positions, -BLOCK);
        let whole_blocks = self.b.create_block();
        let unusual = self.b.create_block();
        self.b.ins().brif(usual, whole_blocks, &[], unusual, &[]);

        self.b.switch_to_block(unusual);
        let long = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, beyond, 0);
        let short = self.b.create_block();
        self.b.ins().brif(long, slow, &[], short, &[]);
        self.b.switch_to_block(short);
        let fits = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, positions, 0);
        let look = self.b.create_block();
        self.b.ins().brif(fits, look, &[], absent, &[]);
        self.b.switch_to_block(look);
        let text = self.short_text(ptr, len, slow);
        let heads = self.b.ins().icmp(IntCC::Equal, text, first);
        let heads = self.b.ins().vhigh_bits(types::I32, heads);
        let tails = self.b.ins().icmp(IntCC::Equal, text, last_byte);
        let tails = self.b.ins().vhigh_bits(types::I32, tails);
        let tails = self.b.ins().ushr_imm_u(tails, inner);
        let both = self.b.ins().band(heads, tails);
        // What stands behind the text may equal the needle's bytes.
        let all = self.b.ins().iconst(types::I32, -1);
        let behind = self.b.ins().ishl(all, positions);
        let both = self.b.ins().band_not(both, behind);
        self.b.ins().jump(check, &[BlockArg::Value(zero), BlockArg::Value(both)]);

        self.b.switch_to_block(whole_blocks);
        let few = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, last, 0);
        let begin = if from_end { last } else { zero };
        self.b.ins().brif(few, one_block, &[], block, &[BlockArg::Value(begin)]);

        // Fewer than sixteen positions: the last sixteen bytes hold the end of the needle at
        // each of them, the first one's as many bytes in as there are fewer positions.
        self.b.switch_to_block(one_block);
        let end = self.b.ins().iadd(ptr, beyond);
        let heads = self.equal_bytes(ptr, 0, first);
        let tails = self.equal_bytes(end, 0, last_byte);
        let missing = self.b.ins().ineg(last);
        let tails = self.b.ins().ushr(tails, missing);
        let both = self.b.ins().band(heads, tails);
        let all = self.b.ins().iconst(types::I32, 0xffff);
        let within = self.b.ins().ushr(all, missing);
        let both = self.b.ins().band(both, within);
        self.b.ins().jump(check, &[BlockArg::Value(zero), BlockArg::Value(both)]);

        self.b.switch_to_block(block);
        let address = self.b.ins().iadd(ptr, at);
        let heads = self.equal_bytes(address, 0, first);
        let both = if inner == 0 {
            heads
        } else {
            let tails = self.equal_bytes(address, inner, last_byte);
            self.b.ins().band(heads, tails)
        };
        self.b.ins().jump(check, &[BlockArg::Value(at), BlockArg::Value(both)]);

        self.b.switch_to_block(check);
        self.b.ins().brif(bits, candidate, &[], next, &[]);

        self.b.switch_to_block(candidate);
        let bit = if from_end {
            let above = self.b.ins().clz(bits);
            self.b.ins().bxor_imm_u(above, 31)
        } else {
            self.b.ins().ctz(bits)
        };
        let offset = self.b.ins().uextend(types::I64, bit);
        let position = self.b.ins().iadd(base, offset);
        if needle.len() <= 2 {
            self.b.ins().jump(found, &[BlockArg::Value(position)]);
        } else {
            let address = self.b.ins().iadd(ptr, position);
            let equal = self.same_bytes(address, needle);
            let one = self.b.ins().iconst(types::I32, 1);
            let looked_at = self.b.ins().ishl(one, bit);
            let rest = self.b.ins().bxor(bits, looked_at);
            let rest = [BlockArg::Value(base), BlockArg::Value(rest)];
            self.b.ins().brif(equal, found, &[BlockArg::Value(position)], check, &rest);
        }

        // The last block in that direction holds positions that were looked at before.
        self.b.switch_to_block(next);
        let (more, following) = if from_end {
            let more = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, base, 0);
            let following = self.b.ins().iadd_imm_s(base, -BLOCK);
            (more, self.b.ins().smax(following, zero))
        } else {
            let more = self.b.ins().icmp(IntCC::SignedLessThan, base, last);
            let following = self.b.ins().iadd_imm_s(base, BLOCK);
            (more, self.b.ins().smin(following, last))
        };
        self.b.ins().brif(more, block, &[BlockArg::Value(following)], absent, &[]);

        self.b.switch_to_block(absent);
    }

    /// The bytes of a text of less than sixteen, and zeros behind them: words at both ends
    /// of it, which overlap. Texts of less than four are the kernel's.
    fn short_text(&mut self, ptr: Machine, len: Machine, slow: Block) -> Machine {
        let flags = MemFlagsData::new().with_notrap();
        let eight = self.b.create_block();
        let few = self.b.create_block();
        let four = self.b.create_block();
        let done = self.b.create_block();
        let low = self.b.append_block_param(done, types::I64);
        let high = self.b.append_block_param(done, types::I64);
        let enough = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, len, 8);
        self.b.ins().brif(enough, eight, &[], few, &[]);

        self.b.switch_to_block(eight);
        let end = self.b.ins().iadd(ptr, len);
        let head = self.b.ins().load(types::I64, flags, ptr, 0);
        let tail = self.b.ins().load(types::I64, flags, end, -8);
        // Of eight bytes all are in the first word. The shift looks at the low six bits of
        // its count, so it goes in two steps.
        let bits = self.b.ins().imul_imm_s(len, -8);
        let bits = self.b.ins().iadd_imm_s(bits, 8 * BLOCK - 8);
        let tail = self.b.ins().ushr(tail, bits);
        let tail = self.b.ins().ushr_imm_u(tail, 8);
        self.b.ins().jump(done, &[BlockArg::Value(head), BlockArg::Value(tail)]);

        self.b.switch_to_block(few);
        let enough = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, len, 4);
        self.b.ins().brif(enough, four, &[], slow, &[]);

        self.b.switch_to_block(four);
        let end = self.b.ins().iadd(ptr, len);
        let head = self.b.ins().uload32(flags, ptr, 0);
        let tail = self.b.ins().uload32(flags, end, -4);
        let bits = self.b.ins().imul_imm_s(len, 8);
        let bits = self.b.ins().iadd_imm_s(bits, -32);
        let tail = self.b.ins().ishl(tail, bits);
        let word = self.b.ins().bor(head, tail);
        let nothing = self.word(0);
        self.b.ins().jump(done, &[BlockArg::Value(word), BlockArg::Value(nothing)]);

        self.b.switch_to_block(done);
        let low = self.b.ins().scalar_to_vector(types::I64X2, low);
        let both = self.b.ins().insertlane(low, high, 1);
        let little = MemFlagsData::new().with_endianness(Endianness::Little);
        self.b.ins().bitcast(types::I8X16, little, both)
    }

    /// A vector of one byte.
    fn sixteen(&mut self, byte: u8) -> Machine {
        let constant = self.b.func.dfg.constants.insert(vec![byte; BLOCK as usize].into());
        self.b.ins().vconst(types::I8X16, constant)
    }

    /// A bit for each of sixteen bytes that is the one of the vector.
    fn equal_bytes(&mut self, address: Machine, offset: i64, wanted: Machine) -> Machine {
        let bytes = self.b.ins().load(types::I8X16, MemFlagsData::new().with_notrap(), address, offset as i32);
        let equal = self.b.ins().icmp(IntCC::Equal, bytes, wanted);
        self.b.ins().vhigh_bits(types::I32, equal)
    }
}
