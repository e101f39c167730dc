//! At the ends of blocks before loops that may be divided: the loop's place is taken by its tiles ([`crate::tiles`]).

use super::{Ending, Result, Translator, trusted};
use crate::batch::Frame;
use crate::tiles;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlotData, StackSlotKind, types};
use exuvia_ir::BlockId;
use std::mem::offset_of;

impl Translator<'_, '_, '_> {
    /// At the end of a block: does the rounds of the loop behind it in tiles where they are many.
    pub(super) fn divide(&mut self, block: BlockId) -> Result<()> {
        let Ending::Row(_) = self.ending else { return Ok(()) };
        let Some(&(tiled, tile)) = self.unit.tiles.iter().find(|(tiled, _)| tiled.before == block) else {
            return Ok(());
        };
        let is_a_word = |value| !self.widths.is_wide(value) && !self.widths.is_low(value);
        let words = tiled.taken.iter().chain([&tiled.bound]).all(|value| is_a_word(*value));
        // What the head makes ready for others is not made on the way past it.
        let makes_ready = self.enters.contains_key(&tiled.head) || self.headers.is_before(tiled.head);
        if !words || makes_ready || !self.fills_all(&tiled.lists) {
            return Ok(());
        }
        let bound = self.first(tiled.bound)?;
        let from = self.b.ins().load(types::I64, trusted(), self.env.frame, offset_of!(Frame, tiled_from) as i32);
        let mut is_much = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, bound, from);
        for list in &tiled.lists {
            // There is room for all, and the length is set. A list that had elements before would have more.
            let list = self.first(*list)?;
            let len = self.list_len_now(list);
            let was_empty = self.b.ins().icmp(IntCC::Equal, len, bound);
            is_much = self.b.ins().band(is_much, was_empty);
        }
        let (much, done, go_on) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(much);
        self.b.ins().brif(is_much, much, &[], go_on, &[]);

        self.b.switch_to_block(much);
        let mut taken = Vec::new();
        for value in &tiled.taken {
            taken.extend(self.slots(*value)?);
        }
        let room = StackSlotData::new(StackSlotKind::ExplicitSlot, (taken.len() * 8).max(8) as u32, 3);
        let room = self.b.create_sized_stack_slot(room);
        let room = self.b.ins().stack_addr(types::I64, room, 0);
        self.store(&taken, room);
        let tile = self.import(tile);
        let tile = self.b.ins().func_addr(types::I64, tile);
        let args = [self.env.frame, tile, room, bound];
        let status = self.call_helper("tiles", tiles::run as *const u8, &[types::I64], &args)?[0];
        self.b.ins().brif(status, self.env.exit, &[BlockArg::Value(status)], done, &[]);

        self.b.switch_to_block(done);
        // Behind the loop its counter is the bound.
        let counter = self.values[tiled.counter.index()].replace(vec![bound]);
        let (exit, args) = self.edge(&tiled.exit, None)?;
        self.values[tiled.counter.index()] = counter;
        self.b.ins().jump(exit, &args);
        self.b.switch_to_block(go_on);
        Ok(())
    }
}
