//! Places in texts: byte offsets that stand for indices (`crates/ops/src/str/place.rs`).
//!
//! Steps over a few characters, parts and searches without a call, in any text whose characters on
//! the way are ASCII, known to be so or not. What else there is goes to the kernels.

use super::shortcut::{Kernel, word_within};
use super::{Result, Translator};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value as Machine, types};
use exuvia_ir::{Inst, Type};
use exuvia_ops::str::FEW;
use exuvia_ops::text::ASCII_BIT;

impl Translator<'_, '_, '_> {
    /// An operation on places by a shortcut or its kernel.
    pub(super) fn place_op(&mut self, kernel: Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        match kernel.def.name {
            name @ ("place.step" | "place.reach") => match self.known_int(inst, 2) {
                Some(by) if (1..=FEW).contains(&by.abs()) => {
                    self.around(kernel, inst, &Type::Int, |this, inst, slow| {
                        let (ptr, meta) = this.text(inst, 0)?;
                        let place = this.int(inst, 1)?;
                        let clamped = name == "place.reach";
                        Ok(vec![this.step((ptr, meta), place, (by, clamped), slow)])
                    })
                }
                _ => self.kernel(kernel, inst),
            },
            "place.slice" => self.around(kernel, inst, &Type::Str, Self::place_slice),
            "place.get" => self.around(kernel, inst, &Type::Str, Self::place_get),
            name @ ("place.find" | "place.rfind" | "place.index" | "place.rindex") => {
                match self.constant_needle(kernel, inst, 1) {
                    Some(needle) => self.around(kernel, inst, &Type::Int, |this, inst, slow| {
                        let from_end = matches!(name, "place.rfind" | "place.rindex");
                        let raises = matches!(name, "place.index" | "place.rindex");
                        this.place_find(inst, needle.as_bytes(), (from_end, raises), slow)
                    }),
                    None => self.one_character(kernel, inst),
                }
            }
            _ => self.kernel(kernel, inst),
        }
    }

    /// The place of the index that is greater by `by`, which is small and not 0, or, if that is less and
    /// the place is `clamped`, the length.
    fn step(
        &mut self,
        (ptr, meta): (Machine, Machine),
        place: Machine,
        (by, clamped): (i64, bool),
        slow: Block,
    ) -> Machine {
        let look = self.b.create_block();
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I64);
        let len = self.byte_len(meta);
        let next = self.b.ins().iadd_imm_s(place, by);
        // What is not behind the first character is its own place, and so is every index into ASCII.
        let last = if by < 0 { place } else { next };
        let behind = self.b.ins().iadd_imm_s(last, -1);
        let either = self.b.ins().bor(meta, behind);
        let counted = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, either, 0);
        let counts = if clamped { self.b.ins().smin(next, len) } else { next };
        self.b.ins().brif(counted, done, &[BlockArg::Value(counts)], look, &[]);
        self.b.switch_to_block(look);
        if clamped && by > 0 {
            // There are no more characters than bytes.
            let within = self.b.create_block();
            let beyond = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, next, len);
            let counted = self.b.ins().bnot(place);
            let counted = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, counted, 0);
            let all = self.b.ins().band(beyond, counted);
            self.b.ins().brif(all, done, &[BlockArg::Value(len)], within, &[]);
            self.b.switch_to_block(within);
        }
        let (from, to) = if by < 0 { (next, place) } else { (place, next) };
        // Neither lies outside the text: no sign in either difference.
        let behind = self.b.ins().isub(len, to);
        let either = self.b.ins().bor(from, behind);
        let inside = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, either, 0);
        self.require(inside, slow);
        let address = self.b.ins().iadd(ptr, from);
        self.require_ascii_bytes(address, by.abs(), slow);
        self.b.ins().jump(done, &[BlockArg::Value(next)]);
        self.b.switch_to_block(done);
        result
    }

    /// Goes on if so many bytes, of which there are at most [`FEW`], are ASCII.
    fn require_ascii_bytes(&mut self, address: Machine, count: i64, slow: Block) {
        let (size, reg) = word_within(count as usize);
        let size = size as i64;
        let flags = MemFlagsData::new().with_notrap();
        let mut all = self.b.ins().load(reg, flags, address, 0);
        if count > size {
            let last = self.b.ins().load(reg, flags, address, (count - size) as i32);
            all = self.b.ins().bor(all, last);
        }
        let high = 0x8080_8080_8080_8080_u64 >> (64 - 8 * size);
        let high = self.b.ins().iconst(reg, high as i64);
        let beyond = self.b.ins().band(all, high);
        let ascii = self.b.ins().icmp_imm_s(IntCC::Equal, beyond, 0);
        self.require(ascii, slow);
    }

    fn place_slice(&mut self, inst: &Inst, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        let start = self.place_bound(inst, 1, (ptr, meta), len, slow)?;
        let stop = self.place_bound(inst, 2, (ptr, meta), len, slow)?;
        let flag = self.b.ins().band_imm_s(meta, ASCII_BIT as i64);
        Ok(self.part(ptr, (start, stop), flag))
    }

    /// The byte offset of a bound, clamped to the text.
    fn place_bound(
        &mut self,
        inst: &Inst,
        operand: usize,
        (ptr, meta): (Machine, Machine),
        len: Machine,
        slow: Block,
    ) -> Result<Machine> {
        match self.known_int(inst, operand) {
            Some(0 | i64::MAX) => return self.bound(inst, operand, 0, len),
            Some(known) if (-FEW..0).contains(&known) => {
                // Of fewer bytes than that there are no more characters.
                let done = self.b.create_block();
                let result = self.b.append_block_param(done, types::I64);
                let long = self.b.create_block();
                let more = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, len, -known);
                let zero = self.word(0);
                self.b.ins().brif(more, long, &[], done, &[BlockArg::Value(zero)]);
                self.b.switch_to_block(long);
                let place = self.step((ptr, meta), len, (known, false), slow);
                self.b.ins().jump(done, &[BlockArg::Value(place)]);
                self.b.switch_to_block(done);
                return Ok(result);
            }
            _ => {}
        }
        let place = self.int(inst, operand)?;
        self.require_counted(place, meta, slow);
        self.bound(inst, operand, 0, len)
    }

    /// Goes on with a place that is not negative, or in a text that is known to be ASCII.
    fn require_counted(&mut self, place: Machine, meta: Machine, slow: Block) {
        let other = self.b.ins().bnot(place);
        let either = self.b.ins().bor(other, meta);
        let counted = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, either, 0);
        self.require(counted, slow);
    }

    fn place_get(&mut self, inst: &Inst, slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        let at = match self.known_int(inst, 1) {
            Some(known) if (-FEW..0).contains(&known) => self.step((ptr, meta), len, (known, false), slow),
            known => {
                let place = self.int(inst, 1)?;
                if known.is_none_or(|known| known < 0) {
                    self.require_counted(place, meta, slow);
                }
                self.counted(inst, 1, place, len)
            }
        };
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.require(inside, slow);
        let address = self.b.ins().iadd(ptr, at);
        self.require_ascii_bytes(address, 1, slow);
        Ok(vec![address, self.word((ASCII_BIT | 1) as i64)])
    }

    /// A search for a constant between two places: whether from the end, and whether it raises (`found`).
    fn place_find(&mut self, inst: &Inst, needle: &[u8], how: (bool, bool), slow: Block) -> Result<Vec<Machine>> {
        let (ptr, meta) = self.text(inst, 0)?;
        let len = self.byte_len(meta);
        let stop = match self.known_int(inst, 3) {
            Some(i64::MAX) => len,
            _ => {
                let place = self.int(inst, 3)?;
                let counted = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, place, 0);
                self.require(counted, slow);
                self.b.ins().smin(place, len)
            }
        };
        let start = match self.known_int(inst, 2) {
            Some(0) => None,
            _ => {
                let place = self.int(inst, 2)?;
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, place, stop);
                self.require(inside, slow);
                Some(place)
            }
        };
        let (from, length) = match start {
            Some(start) => (self.b.ins().iadd(ptr, start), self.b.ins().isub(stop, start)),
            None => (ptr, stop),
        };
        Ok(vec![self.found((from, length), needle, how, slow, |this, offset| match start {
            Some(start) => this.b.ins().iadd(offset, start),
            None => offset,
        })])
    }
}
