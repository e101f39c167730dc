//! Inlines calls, within a budget.
//!
//! Law: a call is the callee's blocks with its parameters replaced by the operands. A
//! return continues after the call with the value. What the callee raises (instructions
//! without an unwind edge, `raise`, `reraise`) goes where the call unwinds to, or leaves
//! the function as it did before; a bailout leaves anyway.
//!
//! An instruction without a place, an empty span, is where the call is: so is the prelude's
//! code, which has none that a user could look at.
//!
//! Callees are taken before their callers, and each is tidied first, so that what is
//! copied is simple already. A function that can reach itself is not copied, nor one that keeps its results. What nobody
//! can reach any more is dropped.

use crate::blocks;
use crate::context::Context;
use exuvia_ir::{BlockId, Edge, FuncId, Function, Inst, Module, Opcode, Span, Terminator, Type, Value};

/// Instructions of a callee that are worth copying: about twice as many as it takes to
/// pass operands and to check a status.
const SMALL: usize = 25;

/// Runs the pass over a module: a function may grow to `large` instructions by copies of
/// callees that are not small. `tidy` is applied to each function afterwards.
pub(crate) fn run(
    module: &mut Module,
    large: usize,
    context: &mut Context,
    mut tidy: impl FnMut(&mut Module, FuncId, &mut Context),
) {
    if module.functions.iter().all(|function| callees(function).is_empty()) {
        return;
    }
    let (order, recursive) = callees_first(module);
    context.summaries = crate::summary::of(module, context);
    for id in order {
        // The function is taken out while callees are copied into it; it calls itself only
        // if it is recursive, and then it is not copied.
        let ret = module.functions[id.index()].ret.clone();
        let mut function = std::mem::replace(&mut module.functions[id.index()], Function::new("", ret));
        inline_into(&mut function, module, &recursive, large, context);
        module.functions[id.index()] = function;
        tidy(module, id, context);
        // What tidying removed would be copied with each call, and again from there.
        blocks::number_values(&mut module.functions[id.index()]);
    }
    drop_unreachable(module);
}

fn callees(function: &Function) -> Vec<FuncId> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts.filter_map(|inst| if let Opcode::Call(callee) = inst.op { Some(callee) } else { None }).collect()
}

/// The functions that the entry reaches, callees before callers where there is no cycle,
/// and which of them reach themselves: Tarjan's strongly connected components.
pub(crate) fn callees_first(module: &Module) -> (Vec<FuncId>, Vec<bool>) {
    let count = module.functions.len();
    let (mut order, mut recursive) = (Vec::new(), vec![false; count]);
    let (mut number, mut low) = (vec![usize::MAX; count], vec![usize::MAX; count]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; count]);
    let mut stack = vec![(0usize, callees(&module.functions[0]))];
    let mut clock = 0;
    while let Some((at, rest)) = stack.last_mut() {
        let at = *at;
        if number[at] == usize::MAX {
            number[at] = clock;
            low[at] = clock;
            clock += 1;
            open.push(at);
            is_open[at] = true;
        }
        if let Some(next) = rest.pop() {
            let next = next.index();
            if number[next] == usize::MAX {
                stack.push((next, callees(&module.functions[next])));
            } else if is_open[next] {
                low[at] = low[at].min(number[next]);
                recursive[at] |= next == at;
            }
            continue;
        }
        stack.pop();
        if let Some((above, _)) = stack.last() {
            low[*above] = low[*above].min(low[at]);
        }
        if low[at] == number[at] {
            let start = open.iter().rposition(|other| *other == at).unwrap_or(0);
            let component = open.split_off(start);
            for member in &component {
                is_open[*member] = false;
                recursive[*member] |= component.len() > 1;
            }
            order.extend(component.into_iter().rev().map(|at| FuncId(at as u32)));
        }
    }
    (order, recursive)
}

fn inline_into(function: &mut Function, module: &Module, recursive: &[bool], large: usize, context: &mut Context) {
    let mut total = function.size();
    let own = function.frames;
    // Copied blocks are not looked at: what they call was not worth it before.
    let mut work: Vec<usize> = (0..function.blocks.len()).rev().collect();
    while let Some(block) = work.pop() {
        let found = function.blocks[block].insts.iter().position(|inst| match inst.op {
            Opcode::Call(callee) => {
                let cost = module.functions[callee.index()].size();
                // A call of one that keeps its results may take the time of none.
                let is_copied = !recursive[callee.index()] && module.functions[callee.index()].keeps.is_none();
                is_copied && (cost <= SMALL || total + cost <= large)
            }
            _ => false,
        });
        let Some(index) = found else { continue };
        let Opcode::Call(callee) = function.blocks[block].insts[index].op else { continue };
        total += module.functions[callee.index()].size();
        function.frames = function.frames.max(own + module.functions[callee.index()].frames);
        let rest = copy(function, BlockId(block as u32), index, &module.functions[callee.index()], context);
        work.push(rest.index());
    }
}

/// Replaces the call at `index` of `block` by a copy of `callee`; returns the block that
/// goes on after it.
fn copy(function: &mut Function, block: BlockId, index: usize, callee: &Function, context: &mut Context) -> BlockId {
    let rest = function.new_block();
    let after = function.block_mut(block).insts.split_off(index + 1);
    let term = std::mem::replace(&mut function.block_mut(block).term, Terminator::Unreachable);
    function.block_mut(rest).insts = after;
    function.block_mut(rest).term = term;
    let Some(call) = function.block_mut(block).insts.pop() else { return rest };
    function.block_mut(rest).params.extend(call.result);

    // New numbers for the callee's values and blocks. Its entry continues `block`.
    let mut values: Vec<Value> = callee.values.iter().map(|value| function.new_value(value.ty.clone())).collect();
    for (param, arg) in callee.blocks[0].params.iter().zip(&call.args) {
        values[param.index()] = *arg;
    }
    let blocks: Vec<BlockId> =
        (0..callee.blocks.len()).map(|at| if at == 0 { block } else { function.new_block() }).collect();
    let rename = |edge: &mut Edge| {
        edge.block = blocks[edge.block.index()];
        edge.args.iter_mut().for_each(|value| *value = values[value.index()]);
    };
    for (from, to) in callee.blocks.iter().zip(&blocks) {
        if *to != block {
            function.block_mut(*to).params = from.params.iter().map(|value| values[value.index()]).collect();
        }
        let mut insts = Vec::with_capacity(from.insts.len());
        for inst in &from.insts {
            let mut inst = inst.clone();
            inst.span = place(inst.span, call.span);
            inst.args.iter_mut().for_each(|value| *value = values[value.index()]);
            inst.result = inst.result.map(|value| values[value.index()]);
            if let Some(edge) = &mut inst.unwind {
                rename(edge);
            } else if context.may_raise(&inst) {
                inst.unwind.clone_from(&call.unwind);
            }
            insts.push(inst);
        }
        let mut term = from.term.clone();
        if let Terminator::Raise(_, _, span) | Terminator::Reraise(_, span) | Terminator::Bailout(_, span) = &mut term {
            *span = place(*span, call.span);
        }
        term.for_each_value_mut(|value| *value = values[value.index()]);
        term.for_each_edge_mut(|edge| edge.block = blocks[edge.block.index()]);
        let term = leave(function, term, &mut insts, &call, rest);
        function.block_mut(*to).insts.append(&mut insts);
        function.block_mut(*to).term = term;
    }
    rest
}

/// Where an instruction of a callee stands: code without places of its own is at the call.
fn place(own: Span, call: Span) -> Span {
    if own == Span::default() { call } else { own }
}

/// What the end of a callee's block is in the caller.
fn leave(function: &mut Function, term: Terminator, insts: &mut Vec<Inst>, call: &Inst, rest: BlockId) -> Terminator {
    let handler = |exc: Value, edge: &Edge| {
        let args = std::iter::once(exc).chain(edge.args.iter().copied()).collect();
        Terminator::Jump(Edge { block: edge.block, args })
    };
    match (term, &call.unwind) {
        (Terminator::Return(value), _) => {
            Terminator::Jump(Edge { block: rest, args: if call.result.is_some() { vec![value] } else { vec![] } })
        }
        (Terminator::Raise(kind, args, span), Some(edge)) => {
            let exc = function.new_value(Type::Exc);
            insts.push(new_exc(kind, args, exc, span));
            handler(exc, edge)
        }
        (Terminator::Reraise(exc, _), Some(edge)) => handler(exc, edge),
        (
            term @ (Terminator::Jump(_)
            | Terminator::Branch(..)
            | Terminator::Raise(..)
            | Terminator::Reraise(..)
            | Terminator::Bailout(..)
            | Terminator::Open
            | Terminator::Unreachable),
            _,
        ) => term,
    }
}

fn new_exc(kind: exuvia_ir::ExcKind, args: Vec<Value>, result: Value, span: Span) -> Inst {
    Inst { op: Opcode::NewExc(kind), args, result: Some(result), unwind: None, no_overflow: false, span }
}

/// Drops the functions that the entry does not reach.
fn drop_unreachable(module: &mut Module) {
    let (order, _) = callees_first(module);
    let mut numbers = vec![None; module.functions.len()];
    let mut kept: Vec<FuncId> = order;
    kept.sort();
    for (new, old) in kept.iter().enumerate() {
        numbers[old.index()] = Some(FuncId(new as u32));
    }
    let mut index = 0;
    module.functions.retain(|_| {
        index += 1;
        numbers[index - 1].is_some()
    });
    for inst in module.functions.iter_mut().flat_map(|function| &mut function.blocks).flat_map(|block| &mut block.insts)
    {
        if let Opcode::Call(callee) = &mut inst.op
            && let Some(new) = numbers[callee.index()]
        {
            *callee = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::context::Context;
    use crate::testing::module;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(input: &str, expect: Expect) {
        let mut module = module(input);
        super::run(&mut module, crate::LARGE, &mut Context::new(), |_, _, _| {});
        if let Err(error) = crate::verify(&module) {
            panic!("{error}\n{module}");
        }
        for function in &mut module.functions {
            crate::blocks::number_values(function);
        }
        expect.assert_eq(&module.to_string());
    }

    #[test]
    fn exceptions_of_the_callee_go_to_the_handler_of_the_call() {
        check(
            r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: int = call f1 v0 unwind b1(v0)
  v2: int = call f1 v1
  return v2
b1(v3: exc, v4: int):
  return v4
}
fn f1 "g"(v0: int) -> int {
b0:
  v1: int = const 3
  v2: int = int.mod v1 v0
  v3: bool = int.eq v2 v0
  branch v3 b1 b2
b1:
  v4: str = const "no"
  raise KeyError v4
b2:
  return v2
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> int {
                b0:
                  v1: int = const 3
                  v2: int = int.mod v1 v0 unwind b1(v0)
                  v3: bool = int.eq v2 v0
                  branch v3 b3 b4
                b1(v4: exc, v5: int):
                  return v5
                b2(v6: int):
                  v7: int = const 3
                  v8: int = int.mod v7 v6
                  v9: bool = int.eq v8 v6
                  branch v9 b6 b7
                b3:
                  v10: str = const "no"
                  v11: exc = new_exc KeyError v10
                  jump b1(v11, v0)
                b4:
                  jump b2(v2)
                b5(v12: int):
                  return v12
                b6:
                  v13: str = const "no"
                  raise KeyError v13
                b7:
                  jump b5(v8)
                }
            "#]],
        );
    }

    #[test]
    fn recursion_stays() {
        check(
            r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: int = call f2 v0
  return v1
}
fn f1 "unused"(v0: int) -> int {
b0:
  return v0
}
fn f2 "g"(v0: int) -> int {
b0:
  v1: int = call f3 v0
  return v1
}
fn f3 "h"(v0: int) -> int {
b0:
  v1: int = call f2 v0
  return v1
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> int {
                b0:
                  v1: int = call f1 v0
                  return v1
                }

                fn f1 "g"(v0: int) -> int {
                b0:
                  v1: int = call f2 v0
                  return v1
                }

                fn f2 "h"(v0: int) -> int {
                b0:
                  v1: int = call f1 v0
                  return v1
                }
            "#]],
        );
    }
}
