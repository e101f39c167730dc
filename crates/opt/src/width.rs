//! Whether a module computes with ints that need more than 64 bits.
//!
//! Hashes and generators of random numbers keep words of 64 bits without sign, which they cut off by
//! a constant (`& 0xFFFF_FFFF_FFFF_FFFF`, `% 2**64`) or begin with one. Where such a constant is an
//! operand of arithmetic, or goes into a variable, native code has 128 bits for what comes of it.
//! Those of comparisons and quotients need no such thing, and neither do those of kernels.

use exuvia_ir::{BlockData, Function, IntWidth, Module, Object, Opcode, Terminator, Value};
use exuvia_ops::def::Body;

/// The width of ints that suits a module, as far as its text tells.
#[must_use]
pub fn width_of(module: &Module) -> IntWidth {
    if module.functions.iter().any(computes_with_large) { IntWidth::Mixed } else { IntWidth::Word }
}

fn computes_with_large(function: &Function) -> bool {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    let mut large = vec![false; function.values.len()];
    for inst in insts() {
        if let (Opcode::Const(Object::Int(value)), Some(result)) = (&inst.op, inst.result) {
            large[result.index()] = value.to_i64().is_none() && value.to_i128().is_some();
        }
    }
    if !large.contains(&true) {
        return false;
    }
    let any = |values: &[Value]| values.iter().any(|value| large[value.index()]);
    let edges = function.blocks.iter().flat_map(|block| block.term.edges());
    let mut unwinds = insts().filter_map(|inst| inst.unwind.as_ref());
    let returns = |block: &BlockData| matches!(block.term, Terminator::Return(value) if large[value.index()]);
    edges.into_iter().any(|edge| any(&edge.args))
        || function.blocks.iter().any(returns)
        || unwinds.any(|edge| any(&edge.args))
        || insts().any(|inst| is_arithmetic(&inst.op) && any(&inst.args))
}

fn is_arithmetic(op: &Opcode) -> bool {
    let Opcode::Op(name) = op else { return false };
    let body = exuvia_ops::by_name(name).map(|def| &def.body);
    matches!(body, Some(Body::Core(op)) if op.gives_int_of_ints())
}
