//! Lookup in constant dicts and sets.

use super::{Result, Translator, trusted};
use crate::table::Table;
use crate::{CompileError, helpers, slots};
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value as Machine, types};
use exuvia_ir::{Inst, Int, Object, Type};
use exuvia_ops::sort;
use std::mem::offset_of;

impl Translator<'_, '_, '_> {
    /// The position of a key, or -1.
    pub(super) fn dict_find(&mut self, inst: &Inst) -> Result<Machine> {
        let table = self.one(inst, 0)?;
        let key = self.operand(inst, 1)?;
        let (name, address, args) = match self.function.ty(key) {
            Type::Str => {
                let (ptr, meta) = self.text(inst, 1)?;
                let len = self.byte_len(meta);
                ("dict.find", helpers::find_str as *const u8, vec![table, ptr, len])
            }
            Type::Int | Type::Bool => {
                let key = self.int(inst, 1)?;
                ("dict.find", helpers::find_int as *const u8, vec![table, key])
            }
            Type::Float => {
                self.check_keys(inst)?;
                let key = self.one(inst, 1)?;
                ("dict.find", helpers::find_float as *const u8, vec![table, key])
            }
            Type::None => ("dict.find", helpers::find_none as *const u8, vec![table]),
            other => return Err(CompileError::unsupported(format!("a lookup of {other}"))),
        };
        Ok(self.call_helper(name, address, &[types::I64], &args)?[0])
    }

    /// The position of a key in the table of a dict, or of a set, that is made at run time.
    pub(super) fn hash_find<const OF_SET: bool>(&mut self, inst: &Inst) -> Result<Machine> {
        let (index, hashes, keys) = (self.one(inst, 0)?, self.one(inst, 1)?, self.one(inst, 2)?);
        let key = self.operand(inst, 3)?;
        let hash = self.int(inst, 4)?;
        let mut args = vec![index, hashes, keys, hash];
        let ty = self.function.ty(key).clone();
        let address = match &ty {
            Type::Int => {
                args.push(self.int(inst, 3)?);
                helpers::hash_find_int::<OF_SET> as *const u8
            }
            Type::Str => {
                let (start, meta) = self.text(inst, 3)?;
                args.extend([start, meta]);
                helpers::hash_find_str::<OF_SET> as *const u8
            }
            other => {
                let order =
                    sort::key_order_of(other).ok_or_else(|| CompileError::malformed("a key without an order"))?;
                let slots = self.slots(key)?;
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * slots.len().max(1) as u32, 3);
                let room = self.b.create_sized_stack_slot(data);
                let at = self.b.ins().stack_addr(types::I64, room, 0);
                self.store(&slots, at);
                args.extend([at, self.word(slots.len() as i64), self.word(order.cast_signed())]);
                helpers::hash_find::<OF_SET> as *const u8
            }
        };
        let name = if OF_SET { "set.find" } else { "hash.find" };
        Ok(self.call_helper(name, address, &[types::I64], &args)?[0])
    }

    /// A float may equal an integer beyond 64 bits, which the native table does not hold.
    fn check_keys(&self, inst: &Inst) -> Result<()> {
        let entries = match self.known(inst, 0) {
            Some(Object::Dict(dict)) => dict.entries(),
            Some(Object::Set(set)) => set.members.entries(),
            _ => return Err(CompileError::unsupported("a lookup of float in one of several dicts")),
        };
        if entries.iter().any(|(key, _)| matches!(key, Object::Int(Int::Big(_)))) {
            return Err(CompileError::unsupported("a lookup of float among integers beyond 64 bits"));
        }
        Ok(())
    }

    /// The value at a position that `dict_find` gave.
    pub(super) fn dict_value(&mut self, inst: &Inst) -> Result<Vec<Machine>> {
        let table = self.one(inst, 0)?;
        let dict = self.operand(inst, 0)?;
        let Type::Dict(_, value) = self.function.ty(dict) else {
            return Err(CompileError::malformed("a value of something that is no dict"));
        };
        let at = self.int(inst, 1)?;
        let values = self.b.ins().load(types::I64, trusted(), table, offset_of!(Table, values) as i32);
        let offset = self.b.ins().imul_imm_s(at, 8 * slots::count(value) as i64);
        let address = self.b.ins().iadd(values, offset);
        Ok(self.load(value, address))
    }
}
