//! Which texts of arguments must be known to be ASCII.
//!
//! To know it somebody looks at every byte of every row, which pays where characters are counted. What
//! compares bytes, takes parts by places and reads numbers does as well without: it is right for any text.
//! But a loop that steps over characters looks at them in each turn, unless it knows.

use exuvia_ir::{Edge, Flow, Function, Inst, Opcode, Terminator, Type, Value};
use std::collections::HashSet;

/// Operations that take no longer for a text of which it is not known. Those that give a text, or a list of
/// texts, give one of which it is known where it was of the operand.
const BY_BYTES: [&str; 44] = [
    "dict.find",
    "float.of_str",
    "int.of_str",
    "list.get",
    "list.get_unchecked",
    "list.len",
    "list.truth",
    "place.count",
    "place.endswith",
    "place.find",
    "place.get",
    "place.index",
    "place.reach",
    "place.rfind",
    "place.rindex",
    "place.slice",
    "place.startswith",
    "place.step",
    "str.byte_len",
    "str.concat",
    "str.contains",
    "str.eq",
    "str.ge",
    "str.gt",
    "str.hash",
    "str.join",
    "str.le",
    "str.lstrip",
    "str.lstrip_chars",
    "str.lt",
    "str.ne",
    "str.removeprefix",
    "str.removesuffix",
    "str.replace",
    "str.rsplit",
    "str.rsplit_words",
    "str.rstrip",
    "str.rstrip_chars",
    "str.split",
    "str.split_words",
    "str.splitlines",
    "str.strip",
    "str.strip_chars",
    "str.truth",
];

/// Operations that do so where they look at the whole text.
const BY_BYTES_AS_A_WHOLE: [&str; 3] = ["str.count", "str.endswith", "str.startswith"];

/// Operations that look at the characters over which they go.
const BY_CHARACTERS: [&str; 3] = ["place.reach", "place.slice", "place.step"];

/// A bit for each parameter of a function; those behind the last share it.
type Params = u64;

const LAST: usize = 63;

/// For each parameter whether its texts must be known to be ASCII where they are.
pub(crate) fn wanted(function: &Function) -> Vec<bool> {
    let params = &function.block(function.entry()).params;
    let mut from: Vec<Params> = vec![0; function.values.len()];
    for (at, param) in params.iter().enumerate().filter(|(_, param)| has_text(function.ty(**param))) {
        from[param.index()] |= 1 << at.min(LAST);
    }
    if from.iter().all(|bits| *bits == 0) {
        return vec![false; params.len()];
    }
    let (whole, loops) = (whole_bounds(function), in_loops(function));
    let mut asked = 0;
    // Each turn adds bits or is the last.
    while spread(function, &whole, &loops, &mut from, &mut asked) {}
    (0..params.len()).map(|at| asked >> at.min(LAST) & 1 == 1).collect()
}

/// The bounds of a whole text.
fn whole_bounds(function: &Function) -> HashSet<Value> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let whole = |inst: &&Inst| match &inst.op {
        Opcode::Const(exuvia_ir::Object::Int(value)) => matches!(value.to_i64(), Some(0 | i64::MAX)),
        Opcode::Const(exuvia_ir::Object::None) => true,
        _ => false,
    };
    insts.filter(whole).filter_map(|inst| inst.result).collect()
}

/// Whether each block is part of a loop.
fn in_loops(function: &Function) -> Vec<bool> {
    let mut loops = vec![false; function.blocks.len()];
    let steps = |inst: &Inst| matches!(inst.op, Opcode::Op(name) if BY_CHARACTERS.contains(&name));
    if !function.blocks.iter().flat_map(|block| &block.insts).any(steps) {
        return loops;
    }
    let flow = Flow::new(function);
    for head in flow.order().filter(|at| flow.is_head(*at)) {
        let body = flow.body(head);
        (0..flow.len()).filter(|at| body[*at]).for_each(|at| loops[flow.segment(at).block.index()] = true);
    }
    loops
}

/// Carries on what values come from which parameters and what asks for their flags; whether that is more.
fn spread(
    function: &Function,
    whole: &HashSet<Value>,
    loops: &[bool],
    from: &mut [Params],
    asked: &mut Params,
) -> bool {
    let mut more = false;
    let mut add = |to: &mut Params, bits: Params| {
        more |= bits & !*to != 0;
        *to |= bits;
    };
    let mut pass = |from: &mut [Params], edge: &Edge, skipped: usize| {
        for (param, arg) in function.block(edge.block).params[skipped..].iter().zip(&edge.args) {
            let bits = from[arg.index()];
            add(&mut from[param.index()], bits);
        }
    };
    let mut made = Vec::new();
    for (block, in_loop) in function.blocks.iter().zip(loops) {
        for inst in &block.insts {
            let bits = inst.args.iter().fold(0, |bits, arg| bits | from[arg.index()]);
            if bits != 0 {
                made.push((inst, bits, *in_loop));
            }
            if let Some(edge) = &inst.unwind {
                pass(from, edge, 1);
            }
        }
        match &block.term {
            Terminator::Jump(edge) => pass(from, edge, 0),
            Terminator::Branch(_, yes, no) => {
                pass(from, yes, 0);
                pass(from, no, 0);
            }
            _ => {}
        }
    }
    for (inst, bits, in_loop) in made {
        if !is_by_bytes(inst, whole, in_loop) {
            add(asked, bits);
        } else if let Some(result) = inst.result.filter(|result| has_text(function.ty(*result))) {
            add(&mut from[result.index()], bits);
        }
    }
    more
}

fn has_text(ty: &Type) -> bool {
    ty.holds(&|ty| matches!(ty, Type::Str | Type::Record(..) | Type::Boxed(_)))
}

fn is_by_bytes(inst: &Inst, whole: &HashSet<Value>, in_loop: bool) -> bool {
    match inst.op {
        Opcode::Op(name) if in_loop && BY_CHARACTERS.contains(&name) => false,
        Opcode::Op(name) if BY_BYTES.contains(&name) => true,
        Opcode::Op(name) if BY_BYTES_AS_A_WHOLE.contains(&name) => {
            inst.args[2..].iter().all(|bound| whole.contains(bound))
        }
        Opcode::Op(_) | Opcode::Call(_) => false,
        _ => true,
    }
}
