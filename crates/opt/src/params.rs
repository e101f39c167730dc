//! Removes block parameters that always get the same value.
//!
//! Law: if every edge to a block passes the one value `x`, or the parameter itself, for a
//! parameter, then the parameter is `x`; `x` dominates all those edges and so the block.
//! If they pass different instructions that make the same constant, the parameter is
//! that constant.

use crate::context::{Context, Renaming, same_constant};
use exuvia_ir::{BlockId, Edge, Flow, Function, Inst, Object, Opcode, Span, Value};

/// Runs the pass.
pub(crate) fn run(function: &mut Function, _context: &mut Context) {
    let mut constants: Vec<Option<Object>> = vec![None; function.values.len()];
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let (Opcode::Const(object), Some(result)) = (&inst.op, inst.result) {
            constants[result.index()] = Some(object.clone());
        }
    }
    let mut names = Renaming::new(function);
    let mut made: Vec<(BlockId, Value, Object)> = Vec::new();
    let mut gone = vec![false; function.values.len()];
    {
        let flow = Flow::new(function);
        let mut incoming: Vec<Vec<(&Edge, usize)>> = vec![Vec::new(); function.blocks.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            if !flow.is_reachable(BlockId(at as u32)) {
                continue;
            }
            for edge in block.insts.iter().filter_map(|inst| inst.unwind.as_ref()) {
                incoming[edge.block.index()].push((edge, 1));
            }
            block.term.for_each_edge(|edge| incoming[edge.block.index()].push((edge, 0)));
        }
        // In order of flow most parameters are decided at once; what a loop feeds back is
        // decided when the value that it feeds was.
        let mut changed = true;
        while changed {
            changed = false;
            for segment in flow.order() {
                let id = flow.segment(segment).block;
                if segment != flow.first(id) || id == function.entry() {
                    continue;
                }
                for (index, param) in function.block(id).params.iter().enumerate() {
                    if gone[param.index()] {
                        continue;
                    }
                    match source(&mut names, &constants, &incoming[id.index()], *param, index) {
                        Source::Value(value) => names.set(*param, value),
                        Source::Constant(object) => made.push((id, *param, object)),
                        Source::Several => continue,
                    }
                    gone[param.index()] = true;
                    changed = true;
                }
            }
        }
    }
    if !gone.contains(&true) {
        return;
    }
    // A parameter that becomes a constant is defined anew at the start of its block.
    for (block, param, object) in made {
        let ty = function.ty(param).clone();
        let result = function.new_value(ty);
        names.set(param, result);
        let op = Opcode::Const(object);
        let inst =
            Inst { op, args: vec![], result: Some(result), unwind: None, no_overflow: false, span: Span::default() };
        function.block_mut(block).insts.insert(0, inst);
    }
    names.apply(function);
    let needed: Vec<bool> = gone.iter().map(|gone| !gone).collect();
    crate::dce::drop_params(function, &needed);
}

/// What a parameter gets.
enum Source {
    Value(Value),
    Constant(Object),
    Several,
}

fn source(
    names: &mut Renaming,
    constants: &[Option<Object>],
    incoming: &[(&Edge, usize)],
    param: Value,
    index: usize,
) -> Source {
    let mut found: Option<Value> = None;
    let mut constant: Option<&Object> = None;
    for (edge, skip) in incoming {
        // The exception of an unwind edge comes from nowhere else.
        let Some(index) = index.checked_sub(*skip) else { return Source::Several };
        let arg = names.get(edge.args[index]);
        if arg == param || found == Some(arg) {
            continue;
        }
        if found.is_none() {
            constant = constants[arg.index()].as_ref();
            found = Some(arg);
            continue;
        }
        match (constant, &constants[arg.index()]) {
            (Some(a), Some(b)) if same_constant(a, b) => found = Some(arg),
            _ => return Source::Several,
        }
    }
    // `found` is one of several instructions if a constant was met twice.
    let several = incoming.iter().any(|(edge, skip)| {
        index.checked_sub(*skip).is_some_and(|index| {
            let arg = names.get(edge.args[index]);
            arg != param && Some(arg) != found
        })
    });
    match (found, constant) {
        (Some(_), Some(object)) if several => Source::Constant(object.clone()),
        (Some(value), _) => Source::Value(value),
        (None, _) => Source::Several,
    }
}
