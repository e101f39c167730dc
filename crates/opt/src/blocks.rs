//! Tidies the graph: unreachable blocks, empty blocks, straight lines, numbering.
//!
//! Laws:
//! - a branch whose edges are equal is a jump; a branch that only passes its own
//!   condition on, as `true` and `false`, is a jump that passes the condition;
//! - a value that is None equals any None of its type, so a branch on whether it is one
//!   that gives None if so and the value itself if not gives the value;
//! - a block that only jumps is what it jumps to, with its parameters replaced, if they
//!   are used nowhere else;
//! - a block with one predecessor, which jumps to it, continues that predecessor.

use crate::context::{Context, Renaming};
use exuvia_ir::{BlockId, Edge, Flow, Function, Object, Opcode, Terminator, Type, Value};

/// Runs the pass. Afterwards every block is reachable and blocks stand in order of flow.
pub(crate) fn run(function: &mut Function, _context: &mut Context) {
    fold_branches(function);
    forward(function);
    fold_branches(function);
    order(function);
    merge(function);
    order(function);
}

fn fold_branches(function: &mut Function) {
    let made = Made::by(function);
    for at in 0..function.blocks.len() {
        let Terminator::Branch(cond, yes, no) = &function.blocks[at].term else { continue };
        let folded = if yes.block == no.block {
            let args = yes.args.iter().zip(&no.args).map(|(yes, no)| made.pick(function, *cond, *yes, *no));
            args.collect::<Option<_>>().map(|args| Terminator::Jump(Edge { block: yes.block, args }))
        } else {
            match (returned(function, yes), returned(function, no)) {
                (Some(a), Some(b)) => {
                    let defined =
                        |edge: &Edge, value| function.block(edge.block).insts.iter().any(|i| i.result == value);
                    made.pick(function, *cond, a, b)
                        .filter(|value| !defined(yes, Some(*value)) && !defined(no, Some(*value)))
                        .map(Terminator::Return)
                }
                _ => None,
            }
        };
        if let Some(folded) = folded {
            function.blocks[at].term = folded;
        }
    }
}

/// What a block returns that does nothing else: a value that exists where it is entered, or
/// one that it makes of nothing.
fn returned(function: &Function, edge: &Edge) -> Option<Value> {
    let block = function.block(edge.block);
    match block.term {
        Terminator::Return(value)
            if block.insts.iter().all(|inst| matches!(inst.op, Opcode::Const(_) | Opcode::Wrap)) =>
        {
            Some(block.params.iter().position(|param| *param == value).map_or(value, |at| edge.args[at]))
        }
        _ => None,
    }
}

/// How the values were made that a branch can choose between.
struct Made {
    bools: Vec<Option<bool>>,
    /// Whether it is None in a union.
    none: Vec<bool>,
    /// For a check the value that is checked, and whether the check says that it is None;
    /// otherwise it says that it is not.
    checks: Vec<Option<(Value, bool)>>,
}

impl Made {
    fn by(function: &Function) -> Made {
        let count = function.values.len();
        let mut made = Made { bools: vec![None; count], none: vec![false; count], checks: vec![None; count] };
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let Some(result) = inst.result else { continue };
            let at = result.index();
            match &inst.op {
                Opcode::Const(Object::Bool(value)) => made.bools[at] = Some(*value),
                Opcode::Wrap => made.none[at] = *function.ty(inst.args[0]) == Type::None,
                Opcode::Is(ty) => {
                    let alternatives = function.ty(inst.args[0]).alternatives();
                    if *ty == Type::None {
                        made.checks[at] = Some((inst.args[0], true));
                    } else if alternatives.len() == 2 && alternatives[0] == Type::None {
                        made.checks[at] = Some((inst.args[0], false));
                    }
                }
                _ => {}
            }
        }
        made
    }

    /// The value that is `yes` if `cond` is true and `no` if not, where it needs no choice.
    fn pick(&self, function: &Function, cond: Value, yes: Value, no: Value) -> Option<Value> {
        let bools = (self.bools[yes.index()], self.bools[no.index()]);
        if yes == no || (bools.0.is_some() && bools.0 == bools.1) {
            return Some(yes);
        }
        if bools == (Some(true), Some(false)) {
            return Some(cond);
        }
        let (value, is_none) = self.checks[cond.index()]?;
        let (none, other) = if is_none { (yes, no) } else { (no, yes) };
        (other == value && self.none[none.index()] && function.ty(none) == function.ty(value)).then_some(value)
    }
}

/// The number of uses of each value.
pub(crate) fn count_uses(function: &Function) -> Vec<u32> {
    let mut uses = vec![0; function.values.len()];
    for block in &function.blocks {
        for inst in &block.insts {
            for value in inst.args.iter().chain(inst.unwind.iter().flat_map(|edge| &edge.args)) {
                uses[value.index()] += 1;
            }
        }
        block.term.for_each_value(|value| uses[value.index()] += 1);
    }
    uses
}

/// Sends edges past blocks that only jump.
fn forward(function: &mut Function) {
    let uses = count_uses(function);
    let mut skips: Vec<Option<Edge>> = vec![None; function.blocks.len()];
    for (at, block) in function.blocks.iter().enumerate().skip(1) {
        let Terminator::Jump(edge) = &block.term else { continue };
        let passed = |param: &Value| edge.args.iter().filter(|arg| *arg == param).count() as u32;
        if block.insts.is_empty()
            && edge.block.index() != at
            && block.params.iter().all(|param| uses[param.index()] == passed(param))
        {
            skips[at] = Some(edge.clone());
        }
    }
    if skips.iter().all(Option::is_none) {
        return;
    }
    let params: Vec<Vec<Value>> = function.blocks.iter().map(|block| block.params.clone()).collect();
    // A cycle of empty blocks is an endless loop; the limit leaves it as it is.
    let limit = 16;
    let send = |edge: &mut Edge, exc: bool| {
        for _ in 0..limit {
            let Some(next) = &skips[edge.block.index()] else { return };
            let params = &params[edge.block.index()];
            let given = if exc { &params[1..] } else { &params[..] };
            let mut rest = next.args.as_slice();
            if exc {
                // The next block must get the exception first too, and only there: an unwind
                // edge cannot pass it otherwise.
                match next.args.split_first() {
                    Some((first, others)) if *first == params[0] && !others.contains(first) => rest = others,
                    _ => return,
                }
            }
            let old = std::mem::take(&mut edge.args);
            let replace = |arg: &Value| given.iter().position(|param| param == arg).map_or(*arg, |at| old[at]);
            *edge = Edge { block: next.block, args: rest.iter().map(replace).collect() };
        }
    };
    for (at, block) in function.blocks.iter_mut().enumerate() {
        for inst in &mut block.insts {
            if let Some(edge) = &mut inst.unwind {
                send(edge, true);
            }
        }
        if skips[at].is_none() {
            block.term.for_each_edge_mut(|edge| send(edge, false));
        }
    }
}

/// Appends blocks to the only block that jumps to them.
fn merge(function: &mut Function) {
    let mut edges = vec![0u32; function.blocks.len()];
    for block in &function.blocks {
        for edge in block.insts.iter().filter_map(|inst| inst.unwind.as_ref()) {
            edges[edge.block.index()] += 1;
        }
        block.term.for_each_edge(|edge| edges[edge.block.index()] += 1);
    }
    let mut names = Renaming::new(function);
    for at in 0..function.blocks.len() {
        while let Terminator::Jump(edge) = &function.blocks[at].term {
            let next = edge.block.index();
            if next == at || next == 0 || edges[next] != 1 {
                break;
            }
            let Terminator::Jump(edge) = std::mem::replace(&mut function.blocks[at].term, Terminator::Unreachable)
            else {
                break;
            };
            let block = &mut function.blocks[next];
            let term = std::mem::replace(&mut block.term, Terminator::Unreachable);
            let mut insts = std::mem::take(&mut block.insts);
            for (param, arg) in std::mem::take(&mut block.params).into_iter().zip(edge.args) {
                names.set(param, arg);
            }
            function.blocks[at].insts.append(&mut insts);
            function.blocks[at].term = term;
        }
    }
    names.apply(function);
}

/// Drops what is not reachable and numbers the blocks in order of flow.
fn order(function: &mut Function) {
    let flow = Flow::new(function);
    let mut order: Vec<BlockId> = Vec::with_capacity(function.blocks.len());
    for segment in flow.order() {
        if flow.first(flow.segment(segment).block) == segment {
            order.push(flow.segment(segment).block);
        }
    }
    if order.len() == function.blocks.len() && order.iter().enumerate().all(|(at, id)| id.index() == at) {
        return;
    }
    let mut numbers = vec![BlockId(u32::MAX); function.blocks.len()];
    for (new, old) in order.iter().enumerate() {
        numbers[old.index()] = BlockId(new as u32);
    }
    let mut old: Vec<_> = std::mem::take(&mut function.blocks).into_iter().map(Some).collect();
    function.blocks = order.iter().filter_map(|id| old[id.index()].take()).collect();
    for block in &mut function.blocks {
        for edge in block.insts.iter_mut().filter_map(|inst| inst.unwind.as_mut()) {
            edge.block = numbers[edge.block.index()];
        }
        block.term.for_each_edge_mut(|edge| edge.block = numbers[edge.block.index()]);
    }
}

/// Numbers the values in the order in which they are defined and drops the others.
pub(crate) fn number_values(function: &mut Function) {
    let mut numbers: Vec<Option<Value>> = vec![None; function.values.len()];
    let mut values = Vec::with_capacity(function.values.len());
    let old = std::mem::take(&mut function.values);
    let mut old: Vec<_> = old.into_iter().map(Some).collect();
    let mut define = |value: &mut Value| {
        numbers[value.index()] = Some(Value(values.len() as u32));
        values.extend(old[value.index()].take());
        *value = Value(values.len() as u32 - 1);
    };
    for block in &mut function.blocks {
        block.params.iter_mut().for_each(&mut define);
        for inst in &mut block.insts {
            inst.result.iter_mut().for_each(&mut define);
        }
    }
    function.values = values;
    let rename = |value: &mut Value| {
        if let Some(number) = numbers[value.index()] {
            *value = number;
        }
    };
    for block in &mut function.blocks {
        for inst in &mut block.insts {
            inst.args.iter_mut().for_each(rename);
            inst.unwind.iter_mut().flat_map(|edge| &mut edge.args).for_each(rename);
        }
        block.term.for_each_value_mut(rename);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn none_or_the_value_itself_is_the_value() {
        check(
            &[("blocks", super::run)],
            r#"
fn f0 "f"(v0: union[none, int]) -> union[none, int] {
b0:
  v1: bool = is int v0
  branch v1 b1 b2
b1:
  return v0
b2:
  v2: none = const none
  v3: union[none, int] = wrap v2
  return v3
}"#,
            expect![[r#"
                fn f0 "f"(v0: union[none, int]) -> union[none, int] {
                b0:
                  v1: bool = is int v0
                  return v0
                }
            "#]],
        );
        // Another value, another type, or None where there is none.
        let kept = r#"
fn f0 "f"(v0: union[none, int], v4: union[none, int]) -> union[none, int] {
b0:
  v1: bool = is none v0
  branch v1 b1 b2
b1:
  v2: none = const none
  v3: union[none, int] = wrap v2
  return v3
b2:
  return v4
}"#;
        check(
            &[("blocks", super::run)],
            kept,
            expect![[r#"
                fn f0 "f"(v0: union[none, int], v1: union[none, int]) -> union[none, int] {
                b0:
                  v2: bool = is none v0
                  branch v2 b1 b2
                b1:
                  v3: none = const none
                  v4: union[none, int] = wrap v3
                  return v4
                b2:
                  return v1
                }
            "#]],
        );
    }
}
