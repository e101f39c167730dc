//! Takes out of loops what each round would compute again.
//!
//! Law: an operation on values from outside a loop, which reads and writes nothing and
//! cannot raise, gives the same in every round and may be done once before the loop. It
//! may bail out for want of memory; a bailout only takes the row to a more general rung.
//!
//! Only operations that call a kernel or look at text are moved, and only from blocks
//! that every round passes: machine arithmetic is left to the back end, which knows what
//! registers cost, and what a round may skip is not done in vain.

use crate::context::Context;
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Int, Object, Opcode, Span, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Bails, Body, Effect};

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let mut constants: Vec<Option<Inst>> = vec![None; function.values.len()];
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let (Some(result), Opcode::Const(_)) = (inst.result, &inst.op) {
            constants[result.index()] = Some(inst.clone());
        }
    }
    // What leaves an inner loop may leave the next as well.
    for_each_loop(function, |function, inner, homes| hoist(function, context, inner, &mut constants, homes));
    for block in &mut function.blocks {
        block.insts.retain(|inst| inst.result.is_some() || !matches!(inst.op, Opcode::Const(_)));
    }
}

/// The flow of a function with loops, each behind a block of its own where it can be.
pub(crate) fn with_preheaders(function: &mut Function) -> Option<Flow> {
    let flow = Flow::new(function);
    if !has_loops(&flow) {
        return None;
    }
    Some(if add_preheaders(function, &flow) { Flow::new(function) } else { flow })
}

/// Shows each loop that has a block before it, inner ones first, with the segments that make values.
/// Instructions are appended to blocks before loops, so the places of all others stay.
pub(crate) fn for_each_loop(function: &mut Function, mut each: impl FnMut(&mut Function, &Loop<'_>, &mut Vec<usize>)) {
    let Some(flow) = with_preheaders(function) else { return };
    let mut homes = homes(function, &flow);
    let heads: Vec<usize> = flow.order().filter(|at| flow.is_head(*at)).collect();
    for head in heads.into_iter().rev() {
        if let Some(preheader) = preheader(function, &flow, head) {
            let body = flow.body(head);
            each(function, &Loop { flow: &flow, head, preheader, body: &body }, &mut homes);
        }
    }
}

/// The segment that makes each value.
pub(crate) fn homes(function: &Function, flow: &Flow) -> Vec<usize> {
    let mut homes = vec![usize::MAX; function.values.len()];
    for (at, block) in function.blocks.iter().enumerate() {
        let mut segment = flow.first(BlockId(at as u32));
        for param in &block.params {
            homes[param.index()] = segment;
        }
        for inst in &block.insts {
            segment += usize::from(inst.unwind.is_some());
            if let Some(result) = inst.result {
                homes[result.index()] = segment;
            }
        }
    }
    homes
}

fn has_loops(flow: &Flow) -> bool {
    flow.order().any(|at| flow.is_head(at))
}

/// The block that does nothing after its instructions but to enter the loop.
pub(crate) fn preheader(function: &Function, flow: &Flow, head: usize) -> Option<BlockId> {
    let mut outside = flow.predecessors(head).filter(|before| !flow.dominates(head, *before));
    let (only, None) = (outside.next()?, outside.next()) else { return None };
    let part = flow.segment(only);
    (part.last && matches!(function.block(part.block).term, Terminator::Jump(_))).then_some(part.block)
}

/// Gives each loop a block from which alone it is entered; whether any was missing.
fn add_preheaders(function: &mut Function, flow: &Flow) -> bool {
    let mut added = false;
    for head in flow.order() {
        if !flow.is_head(head) || preheader(function, flow, head).is_some() {
            continue;
        }
        let id = flow.segment(head).block;
        let outside: Vec<usize> = flow.predecessors(head).filter(|before| !flow.dominates(head, *before)).collect();
        // A loop that handlers jump into is left alone, and so is a loop that starts in the
        // middle of a block.
        if flow.first(id) != head || outside.iter().any(|before| !flow.segment(*before).last) {
            continue;
        }
        let before = function.new_block();
        let types: Vec<_> = function.block(id).params.iter().map(|param| function.ty(*param).clone()).collect();
        let params: Vec<Value> = types.into_iter().map(|ty| function.add_param(before, ty)).collect();
        function.block_mut(before).term = Terminator::Jump(Edge { block: id, args: params });
        for segment in outside {
            function.block_mut(flow.segment(segment).block).term.for_each_edge_mut(|edge| {
                if edge.block == id {
                    edge.block = before;
                }
            });
        }
        added = true;
    }
    added
}

/// A loop, and the block before it.
pub(crate) struct Loop<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) head: usize,
    pub(crate) preheader: BlockId,
    /// Whether each segment belongs to it.
    pub(crate) body: &'a [bool],
}

impl Loop<'_> {
    /// The segments that every round passes.
    fn every_round(&self) -> Vec<usize> {
        let latches = self.flow.latches(self.head);
        let passed = |at: &usize| self.body[*at] && latches.iter().all(|latch| self.flow.dominates(*at, *latch));
        self.flow.order().filter(passed).collect()
    }

    /// Whether a block of the loop makes a value.
    pub(crate) fn makes(&self, homes: &[usize], value: Value) -> bool {
        homes.get(value.index()).and_then(|home| self.body.get(*home)) == Some(&true)
    }
}

/// Moves instructions of one loop before it. `constants` are the instructions that make
/// constants and `homes` the segments that define values.
fn hoist(
    function: &mut Function,
    context: &mut Context,
    inner: &Loop<'_>,
    constants: &mut Vec<Option<Inst>>,
    homes: &mut Vec<usize>,
) {
    let Loop { flow, preheader, .. } = *inner;
    for segment in inner.every_round() {
        let part = flow.segment(segment).clone();
        // What an inner loop gave away stands behind what the segment had.
        let end = if part.last { function.block(part.block).insts.len() } else { part.insts.end };
        for at in part.insts.start..end {
            let inst = &function.block(part.block).insts[at];
            let Some(result) = inst.result else { continue };
            if inst.unwind.is_some() || !is_worth_moving(context, inst) {
                continue;
            }
            // A kernel leaves for an int that no word holds.
            let is_large = |value: &Value| {
                let made = constants.get(value.index()).and_then(Option::as_ref);
                made.is_some_and(|made| matches!(made.op, Opcode::Const(Object::Int(Int::Big(_)))))
            };
            if inst.args.iter().any(is_large) {
                continue;
            }
            let inside: Vec<Value> = inst.args.iter().copied().filter(|arg| inner.makes(homes, *arg)).collect();
            // Constants are made anew before the loop.
            let define = |value: &Value| constants.get(value.index()).cloned().flatten();
            let Some(made) = inside.iter().map(define).collect::<Option<Vec<Inst>>>() else { continue };
            let mut inst = std::mem::replace(&mut function.block_mut(part.block).insts[at], nothing());
            for (old, mut constant) in inside.into_iter().zip(made) {
                let ty = function.ty(old).clone();
                let new = function.new_value(ty);
                homes.push(flow.last(preheader));
                inst.args.iter_mut().filter(|arg| **arg == old).for_each(|arg| *arg = new);
                constant.result = Some(new);
                constants.resize(new.index(), None);
                constants.push(Some(constant.clone()));
                function.block_mut(preheader).insts.push(constant);
            }
            homes[result.index()] = flow.last(preheader);
            function.block_mut(preheader).insts.push(inst);
        }
    }
}

/// What stands where an instruction was, so that the places of others stay.
pub(crate) fn nothing() -> Inst {
    Inst {
        op: Opcode::Const(Object::Unbound),
        args: vec![],
        result: None,
        unwind: None,
        no_overflow: false,
        span: Span::default(),
    }
}

/// An instruction that makes an int.
pub(crate) fn constant(function: &mut Function, value: i64) -> Inst {
    Inst { op: Opcode::Const(Object::int(value)), result: Some(function.new_value(Type::Int)), ..nothing() }
}

fn is_worth_moving(context: &mut Context, inst: &Inst) -> bool {
    let Some(def) = context.def_of(inst) else { return false };
    let is_work = match def.body {
        Body::Kernel { .. } => true,
        Body::Core(op) => matches!(op, CoreOp::StrLen | CoreOp::StrEq | CoreOp::StrNe | CoreOp::DictFind),
    };
    is_work && def.effect == Effect::Pure && def.raises.is_empty() && def.bails != Bails::Operands
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn a_length_is_taken_before_both_loops() {
        check(
            &[("licm", super::run), ("blocks", crate::blocks::run)],
            r#"
fn f0 "f"(v0: str, v1: str) -> int {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: bool = str.contains v0 v1
  branch v4 b1(v2) b5(v2)
b1(v5: int):
  poll
  v6: int = str.len v0
  v7: bool = int.lt v5 v6
  branch v7 b2(v2, v5) b5(v5)
b2(v8: int, v9: int):
  poll
  v10: str = const "x"
  v11: int = str.len v1
  v12: bool = str.contains v10 v1
  v13: bool = int.lt v8 v11
  branch v13 b3 b4
b3:
  v14: str = str.get v1 v8
  v15: int = str.len v14
  v16: int = int.add v8 v3
  v17: int = int.add v9 v15
  jump b2(v16, v17)
b4:
  v18: int = int.add v5 v3
  jump b1(v18)
b5(v19: int):
  return v19
}"#,
            expect![[r#"
                fn f0 "f"(v0: str, v1: str) -> int {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  v4: bool = str.contains v0 v1
                  branch v4 b1(v2) b7(v2)
                b1(v5: int):
                  v6: int = str.len v0
                  v7: int = str.len v1
                  v8: str = const "x"
                  v9: bool = str.contains v8 v1
                  jump b2(v5)
                b2(v10: int):
                  poll
                  v11: bool = int.lt v10 v6
                  branch v11 b3(v2, v10) b7(v10)
                b3(v12: int, v13: int):
                  v14: str = const "x"
                  jump b4(v12, v13)
                b4(v15: int, v16: int):
                  poll
                  v17: str = const "x"
                  v18: bool = int.lt v15 v7
                  branch v18 b5 b6
                b5:
                  v19: str = str.get v1 v15
                  v20: int = str.len v19
                  v21: int = int.add v15 v3
                  v22: int = int.add v16 v20
                  jump b4(v21, v22)
                b6:
                  v23: int = int.add v10 v3
                  jump b2(v23)
                b7(v24: int):
                  return v24
                }
            "#]],
        );
    }
}
