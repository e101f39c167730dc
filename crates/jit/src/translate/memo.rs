//! Functions that keep their results: at their start they look for one, and at their end they keep it.

use super::{Result, Translator};
use crate::CompileError;
use crate::memo::{self, Memo};
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value as Machine, types};

/// Where a function that keeps its results has what it takes for that.
#[derive(Clone, Copy)]
pub(crate) struct Keeps {
    /// The address of the [`Memo`].
    memo: u64,
    key: StackSlot,
    result: StackSlot,
}

impl Translator<'_, '_, '_> {
    /// Returns what was kept, if there is anything.
    pub(super) fn look_up(&mut self) -> Result<()> {
        let Some(memo) = Memo::of(self.function) else { return Ok(()) };
        if memo.is_wide() {
            return Err(CompileError::unsupported(format!("what {} keeps", self.function.name)));
        }
        let (keys, results) = (memo.key_words(), memo.result_words());
        let mut room = |words: usize| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, (words * 8).max(8) as u32, 3);
            self.b.create_sized_stack_slot(data)
        };
        let (key, result) = (room(keys), room(results));
        let keeps = Keeps { memo: self.unit.constants.memo(memo), key, result };
        self.keeps = Some(keeps);
        let params = self.function.block(self.function.entry()).params.iter().zip(self.function.keeps.iter().flatten());
        let mut words = Vec::new();
        for (param, _) in params.filter(|(_, is_key)| **is_key) {
            words.extend(self.slots(*param)?);
        }
        let at = self.b.ins().stack_addr(types::I64, key, 0);
        self.store(&words, at);
        let found = self.call_memo("memo.find", memo::find as *const u8, keeps)?;
        let (hit, miss) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(found, hit, &[], miss, &[]);
        self.b.switch_to_block(hit);
        let at = self.b.ins().stack_addr(types::I64, result, 0);
        let mut results = vec![self.word(0)];
        results.extend(self.load(&self.function.ret, at));
        self.b.ins().return_(&results);
        self.b.switch_to_block(miss);
        Ok(())
    }

    /// Keeps a result that is about to be returned.
    pub(super) fn keep(&mut self, keeps: Keeps, slots: &[Machine]) -> Result<()> {
        let at = self.b.ins().stack_addr(types::I64, keeps.result, 0);
        self.store(slots, at);
        self.call_memo("memo.keep", memo::keep as *const u8, keeps)?;
        Ok(())
    }

    /// Calls a function of memos; leaves where it fails.
    fn call_memo(&mut self, name: &str, address: *const u8, keeps: Keeps) -> Result<Machine> {
        let memo = self.word(keeps.memo as i64);
        let [key, result] = [keeps.key, keeps.result].map(|slot| self.b.ins().stack_addr(types::I64, slot, 0));
        let args = [self.env.cx, memo, key, result];
        let pair = self.call_helper(name, address, &[types::I64, types::I64], &args)?;
        let done = self.b.create_block();
        self.b.ins().brif(pair[0], self.env.exit, &[BlockArg::Value(pair[0])], done, &[]);
        self.b.switch_to_block(done);
        Ok(pair[1])
    }
}
