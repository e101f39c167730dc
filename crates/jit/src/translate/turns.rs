//! At the heads of loops: the memory that the turns took is given back (see [`crate::turns`]).

use super::{Result, Translator, trusted};
use crate::slots;
use crate::turns::{self, State};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value as Machine, types};
use exuvia_ir::{BlockId, Value};
use exuvia_ops::cx::Cx;
use std::mem::{offset_of, size_of};

/// A loop that gives back memory.
pub(crate) struct Loop {
    /// Its [`State`].
    state: StackSlot,
    carried: Vec<Value>,
}

impl Translator<'_, '_, '_> {
    /// Finds the loops that give back memory, with a state for each.
    pub(super) fn find_turns(&mut self) {
        for (block, head) in turns::heads(self.function, self.live) {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size_of::<State>() as u32, 3);
            let state = self.b.create_sized_stack_slot(data);
            for before in head.before {
                self.enters.entry(before).or_default().push(state);
            }
            self.heads.insert(block, Loop { state, carried: head.carried });
        }
    }

    /// The place in the arena.
    fn place(&mut self) -> Machine {
        let [before, used] = Cx::PLACE.map(|at| self.b.ins().load(types::I64, trusted(), self.env.cx, at as i32));
        self.b.ins().iadd(before, used)
    }

    /// At the end of a block: the loops that may follow begin here.
    pub(super) fn enter_loops(&mut self, block: BlockId) {
        for state in self.enters.remove(&block).unwrap_or_default() {
            let mark = self.place();
            let trigger = self.b.ins().iadd_imm_s(mark, self.unit.turns as i64);
            self.b.ins().stack_store(types::I64, mark, state, offset_of!(State, mark) as i32);
            self.b.ins().stack_store(types::I64, trigger, state, offset_of!(State, trigger) as i32);
        }
    }

    /// At the start of a block: where it is the head of a loop whose turns have taken much.
    pub(super) fn give_back(&mut self, block: BlockId) -> Result<()> {
        let Some(Loop { state, carried }) = self.heads.remove(&block) else { return Ok(()) };
        let place = self.place();
        let trigger = self.b.ins().stack_load(types::I64, types::I64, state, offset_of!(State, trigger) as i32);
        let is_much = self.b.ins().icmp(IntCC::UnsignedGreaterThan, place, trigger);
        let (much, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(much);
        let mut held = Vec::new();
        for value in &carried {
            held.extend(self.slots(*value)?);
        }
        let args: Vec<_> = held.iter().copied().map(BlockArg::Value).collect();
        self.b.ins().brif(is_much, much, &[], go_on, &args);

        self.b.switch_to_block(much);
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, (held.len() * 8).max(8) as u32, 3);
        let words = self.b.create_sized_stack_slot(data);
        let words = self.b.ins().stack_addr(types::I64, words, 0);
        self.store(&held, words);
        let state = self.b.ins().stack_addr(types::I64, state, 0);
        let carried_types = carried.iter().map(|value| self.function.ty(*value).clone()).collect();
        let (address, count) = self.unit.constants.types(carried_types);
        let [address, count, much_is] = [address, count as u64, self.unit.turns].map(|word| self.word(word as i64));
        let args = [self.env.cx, state, address, count, words, much_is];
        let status = self.rarely(|this| {
            this.call_helper("arena.give_back", turns::give_back as *const u8, &[types::I64, types::I64], &args)
        })?[0];
        let moved = self.b.create_block();
        self.b.ins().brif(status, self.env.exit, &[BlockArg::Value(status)], moved, &[]);
        self.b.switch_to_block(moved);
        let mut args = Vec::new();
        let mut at = 0;
        for value in &carried {
            let ty = self.function.ty(*value).clone();
            let address = self.b.ins().iadd_imm_s(words, 8 * at);
            args.extend(self.load(&ty, address).into_iter().map(BlockArg::Value));
            at += slots::count(&ty) as i64;
        }
        self.b.ins().jump(go_on, &args);

        self.b.switch_to_block(go_on);
        for value in carried {
            let slots = slots::registers(self.function.ty(value));
            let slots = slots.into_iter().map(|reg| self.b.append_block_param(go_on, reg)).collect();
            self.define(value, slots);
        }
        Ok(())
    }
}
