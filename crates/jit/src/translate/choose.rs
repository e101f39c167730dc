//! Branches that choose between values: [`crate::choices`] says which.

use super::{Ending, Result, Translator};
use crate::CompileError;
use crate::choices::Choices;
use cranelift_codegen::ir::{BlockArg, InstBuilder, InstructionData, MemFlagsData, Value as Machine, ValueDef, types};
use exuvia_ir::{BlockId, Edge, Flow, Terminator, Value};

impl<'m> Translator<'_, '_, 'm> {
    /// Finds the branches that choose. A block that reads something besides what its instructions say stays one.
    pub(super) fn find_choices(&mut self, flow: &Flow) {
        let kept = |block: BlockId| {
            let reads_late = matches!(&self.ending, Ending::Row(end) if end.reads_late(block));
            let before_loops = self.headers.before.contains_key(&block) || self.headers.fills.contains_key(&block);
            reads_late || before_loops || self.enters.contains_key(&block) || self.heads.contains_key(&block)
        };
        self.choices = Choices::of(self.function, flow, self.live, &self.widths, &self.constants, kept);
    }

    /// Ends the block with a choice between what its two ways lead to `join` with.
    pub(super) fn choose(&mut self, cond: Value, yes: &'m Edge, no: &'m Edge, join: BlockId) -> Result<()> {
        let chosen = self.chosen(cond, yes, no, join)?;
        let block = self.blocks.get(join.index()).copied().flatten();
        let block = block.ok_or_else(|| CompileError::malformed(format!("a choice for {join}")))?;
        let args: Vec<BlockArg> = chosen.into_iter().map(BlockArg::Value).collect();
        self.b.ins().jump(block, &args);
        Ok(())
    }

    /// What the parameters of `join` are.
    fn chosen(&mut self, cond: Value, yes: &'m Edge, no: &'m Edge, join: BlockId) -> Result<Vec<Machine>> {
        let cond = self.first(cond)?;
        let (yes, no) = (self.way(yes, join)?, self.way(no, join)?);
        Ok(yes.into_iter().zip(no).map(|(yes, no)| self.select(cond, yes, no)).collect())
    }

    /// Does what lies between an edge and `join`, and gives what its parameters are by this way.
    fn way(&mut self, edge: &'m Edge, join: BlockId) -> Result<Vec<Machine>> {
        let target = self.function.block(edge.block);
        if edge.block == join {
            let (_, args) = self.edge(edge, None)?;
            return Ok(args.iter().filter_map(BlockArg::as_value).collect());
        }
        for (param, arg) in target.params.iter().zip(&edge.args).filter(|(param, _)| self.live.value(**param)) {
            let slots = self.slots(*arg)?;
            self.define(*param, slots);
        }
        let before = std::mem::replace(&mut self.at, edge.block);
        for inst in target.insts.iter().filter(|inst| self.live.inst(inst)) {
            self.inst(inst)?;
        }
        let chosen = match &target.term {
            Terminator::Jump(edge) => self.way(edge, join),
            Terminator::Branch(cond, yes, no) => self.chosen(*cond, yes, no, join),
            _ => Err(CompileError::malformed(format!("{} is no way to {join}", edge.block))),
        };
        self.at = before;
        chosen
    }

    /// One of two words. x64 has no instruction that chooses between floats, so their bits are chosen.
    fn select(&mut self, cond: Machine, yes: Machine, no: Machine) -> Machine {
        if yes == no {
            return yes;
        }
        if self.b.func.dfg.value_type(yes) != types::F64 {
            return self.b.ins().select(cond, yes, no);
        }
        let (yes, no) = (self.bits(yes), self.bits(no));
        let bits = self.b.ins().select(cond, yes, no);
        self.b.ins().bitcast(types::F64, MemFlagsData::new(), bits)
    }

    fn bits(&mut self, float: Machine) -> Machine {
        if let ValueDef::Result(inst, 0) = self.b.func.dfg.value_def(float)
            && let InstructionData::UnaryIeee64 { imm, .. } = self.b.func.dfg.insts[inst]
        {
            return self.word(imm.bits() as i64);
        }
        self.b.ins().bitcast(types::I64, MemFlagsData::new(), float)
    }
}
