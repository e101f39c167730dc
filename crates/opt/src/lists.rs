//! What is known of lists.

use crate::context::Context;
use exuvia_ir::{Function, Opcode};
use exuvia_ops::def::Effect;

/// Whether the function changes no list and calls nothing that could: then operations
/// that read lists give the same whenever they are done.
pub(crate) fn nothing_written(function: &Function, context: &mut Context) -> bool {
    function.blocks.iter().flat_map(|block| &block.insts).all(|inst| match inst.op {
        Opcode::Op(name) => context.def(name).is_some_and(|def| def.effect != Effect::Write),
        Opcode::Call(_) => false,
        Opcode::Const(_)
        | Opcode::Wrap
        | Opcode::Is(_)
        | Opcode::Unwrap
        | Opcode::Tuple
        | Opcode::Field(_)
        | Opcode::List
        | Opcode::NewExc(_)
        | Opcode::ExcIs(_)
        | Opcode::Poll => true,
    })
}
