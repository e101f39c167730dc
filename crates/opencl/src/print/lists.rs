//! Lists: the length, the room and the address of the elements, in the work item's arena.

use super::{Printer, Result, int};
use crate::Unsupported;
use crate::slots::{Slot, slots};
use exuvia_ir::{ExcKind, Inst, Object, Type, Value};
use exuvia_ops::core::CoreOp;

impl Printer<'_, '_> {
    pub(super) fn list_new(&mut self, inst: &Inst) -> Result<Vec<String>> {
        let Type::List(element) = self.result_type(inst)? else {
            return Err(Unsupported::new("a list of another type"));
        };
        let width = slots(element)?.len();
        let room = if width == 0 || !inst.args.is_empty() { inst.args.len() } else { 4 };
        let list = self.allocated(&format!("list_new(item, {room}UL, {width}UL)"));
        for arg in &inst.args {
            self.append(&list, *arg, element)?;
        }
        Ok(vec![list])
    }

    fn append(&mut self, list: &str, value: Value, element: &Type) -> Result<()> {
        let width = slots(element)?.len();
        let at = self.allocated(&format!("list_append(item, {list}, {width}UL)"));
        self.store(&at, value, element)
    }

    /// Writes a value where an element lies.
    fn store(&mut self, at: &str, value: Value, element: &Type) -> Result<()> {
        let values = self.widened(value, element)?;
        for (index, (kind, value)) in slots(element)?.iter().zip(values).enumerate() {
            self.line(&format!("{at}[{index}] = {};", kind.to_word(&value)));
        }
        Ok(())
    }

    /// What a call gives that takes room of the arena; a row for which there is none leaves.
    fn allocated(&mut self, call: &str) -> String {
        self.printed.allocates = true;
        let made = self.temporary(Slot::List, call);
        self.line(&format!("if ({made} == 0) return FULL;"));
        made
    }

    pub(super) fn list_op(&mut self, op: CoreOp, inst: &Inst) -> Result<Vec<String>> {
        let list = self.one(inst, 0)?;
        let operand = self.operand(inst, 0)?;
        let Type::List(element) = self.function.ty(operand) else {
            return Err(Unsupported::new("an operation of lists of something else"));
        };
        let kinds = slots(element)?;
        let width = kinds.len();
        let load = |at: &str| -> Vec<String> {
            kinds.iter().enumerate().map(|(index, kind)| kind.of_word(&format!("{at}[{index}]"))).collect()
        };
        match op {
            CoreOp::ListLen => Ok(vec![format!("(long){list}[0]")]),
            CoreOp::ListTruth => Ok(vec![format!("(int)({list}[0] != 0)")]),
            CoreOp::ListIs => Ok(vec![format!("(int)({list} == {})", self.one(inst, 1)?)]),
            CoreOp::ListIdentity => Ok(vec![format!("(long){list}")]),
            CoreOp::ListGet | CoreOp::ListGetUnchecked => {
                let index = self.int(inst, 1)?;
                let index = if op == CoreOp::ListGet { self.position(&list, &index, inst)? } else { index };
                let at = self.temporary(Slot::List, &format!("list_at({list}, {index}, {width}UL)"));
                Ok(load(&at))
            }
            CoreOp::ListSet => {
                let index = self.int(inst, 1)?;
                let index = self.position(&list, &index, inst)?;
                let value = self.operand(inst, 2)?;
                self.may_change_lists()?;
                let at = self.temporary(Slot::List, &format!("list_at({list}, {index}, {width}UL)"));
                self.store(&at, value, element)?;
                Ok(Vec::new())
            }
            CoreOp::ListAppend => {
                self.may_change_lists()?;
                self.append(&list, self.operand(inst, 1)?, element)?;
                Ok(Vec::new())
            }
            CoreOp::ListExtend => {
                self.may_change_lists()?;
                self.printed.allocates = true;
                let (other, times) = (self.one(inst, 1)?, self.int(inst, 2)?);
                self.line(&format!("if (!list_extend(item, {list}, {other}, {times}, {width}UL)) return FULL;"));
                Ok(Vec::new())
            }
            CoreOp::ListConcat => {
                let other = self.one(inst, 1)?;
                Ok(vec![self.allocated(&format!("list_concat(item, {list}, {other}, {width}UL)"))])
            }
            CoreOp::ListSlice => {
                let start = self.index(inst, 1, 0)?;
                let stop = self.index(inst, 2, i64::MAX)?;
                Ok(vec![self.allocated(&format!("list_slice(item, {list}, {start}, {stop}, {width}UL)"))])
            }
            CoreOp::ListStride => {
                let (start, step, count) = (self.int(inst, 1)?, self.int(inst, 2)?, self.int(inst, 3)?);
                Ok(vec![self.allocated(&format!("list_stride(item, {list}, {start}, {step}, {count}, {width}UL)"))])
            }
            // Room is made when it is needed.
            CoreOp::ListReserve => Ok(Vec::new()),
            CoreOp::ListPop => {
                self.raise_if(&format!("{list}[0] == 0"), ExcKind::IndexError, inst)?;
                self.line(&format!("{list}[0] -= 1;"));
                let at = self.temporary(Slot::List, &format!("list_at({list}, (long){list}[0], {width}UL)"));
                Ok(load(&at))
            }
            other => Err(Unsupported::new(format!("the operation {other:?}"))),
        }
    }

    /// A bound of a slice; `absent` where it is missing or None.
    fn index(&mut self, inst: &Inst, at: usize, absent: i64) -> Result<String> {
        match (inst.args.get(at).map(|value| self.function.ty(*value)), self.known(inst, at)) {
            (None | Some(Type::None), _) => Ok(int(absent)),
            (_, Some(Object::Int(known))) => Ok(int(known.clamp_i64())),
            _ => self.int(inst, at),
        }
    }

    /// Constant tables belong to all rows.
    fn may_change_lists(&self) -> Result<()> {
        if self.constants.keys().any(|value| self.function.ty(*value).holds_list()) {
            return Err(Unsupported::new("a function that has constant lists and changes lists"));
        }
        Ok(())
    }

    /// The position of an element, counted from the end where the index is negative.
    fn position(&mut self, list: &str, index: &str, inst: &Inst) -> Result<String> {
        let at = self.temporary(Slot::Int, &format!("({index}) < 0 ? ({index}) + (long){list}[0] : ({index})"));
        self.raise_if(&format!("(ulong){at} >= {list}[0]"), ExcKind::IndexError, inst)?;
        Ok(at)
    }
}
