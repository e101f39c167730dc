//! The text form. [`crate::parse_module`] reads it back.
//!
//! ```text
//! fn f0 "half"(v0: union[none, int]) -> union[none, int] {
//! b0:
//!   v1: bool = is none v0
//!   branch v1 b1(v0) b2
//! b1(v2: union[none, int]):
//!   return v2
//! b2:
//!   v3: int = unwrap v0
//!   v4: int = const 2
//!   v5: int = int.floordiv v3 v4 unwind b3(v0) @10..16
//!   v6: union[none, int] = wrap v5
//!   jump b1(v6)
//! b3(v7: exc, v8: union[none, int]):
//!   reraise v7
//! }
//! ```
//!
//! `{}` leaves out where instructions come from, `{:#}` prints it as `@start..end`.
//! Operations are printed by name; a name without a dot has `op` before it, since it
//! could be an opcode's. `fits` at the end of an instruction is the fact
//! [`Inst::no_overflow`].

use crate::{BlockData, BlockId, Edge, FuncId, Function, Inst, Module, Object, Opcode, Span, Terminator, Value};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, function) in self.functions.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write_function(f, FuncId(index as u32), function)?;
        }
        Ok(())
    }
}

/// A single function is printed as the first of a module.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_function(f, FuncId(0), self)
    }
}

fn write_function(f: &mut Formatter<'_>, id: FuncId, function: &Function) -> fmt::Result {
    write!(f, "fn {id} ")?;
    write_str(f, &function.name)?;
    f.write_char('(')?;
    write_params(f, function, &function.blocks[0].params)?;
    write!(f, ") -> {}", function.ret)?;
    let calls = |block: &BlockData| block.insts.iter().any(|inst| matches!(inst.op, Opcode::Call(_)));
    if function.frames != 1 && function.blocks.iter().any(calls) {
        write!(f, " frames {}", function.frames)?;
    }
    if let Some(keys) = &function.keeps {
        f.write_str(" keeps (")?;
        let params = function.blocks[0].params.iter().zip(keys).filter(|(_, is_key)| **is_key);
        separated(f, ", ", &params.map(|(param, _)| *param).collect::<Vec<_>>(), |f, param| write!(f, "{param}"))?;
        f.write_char(')')?;
    }
    f.write_str(" {\n")?;
    for (index, block) in function.blocks.iter().enumerate() {
        write_block(f, function, BlockId(index as u32), block)?;
    }
    f.write_str("}\n")
}

fn write_params(f: &mut Formatter<'_>, function: &Function, params: &[Value]) -> fmt::Result {
    separated(f, ", ", params, |f, param| write!(f, "{param}: {}", function.ty(*param)))
}

fn write_block(f: &mut Formatter<'_>, function: &Function, id: BlockId, block: &BlockData) -> fmt::Result {
    write!(f, "{id}")?;
    // The entry's parameters are the function's.
    if id != function.entry() && !block.params.is_empty() {
        f.write_char('(')?;
        write_params(f, function, &block.params)?;
        f.write_char(')')?;
    }
    f.write_str(":\n")?;
    for inst in &block.insts {
        f.write_str("  ")?;
        write_inst(f, function, inst)?;
        f.write_char('\n')?;
    }
    f.write_str("  ")?;
    write_term(f, &block.term)?;
    f.write_char('\n')
}

fn write_inst(f: &mut Formatter<'_>, function: &Function, inst: &Inst) -> fmt::Result {
    if let Some(result) = inst.result {
        write!(f, "{result}: {} = ", function.ty(result))?;
    }
    match &inst.op {
        Opcode::Const(object) => {
            f.write_str("const ")?;
            write_object(f, object)?;
        }
        Opcode::Op(name) if name.contains('.') => f.write_str(name)?,
        Opcode::Op(name) => write!(f, "op {name}")?,
        Opcode::Call(callee) => write!(f, "call {callee}")?,
        Opcode::Wrap => f.write_str("wrap")?,
        Opcode::Is(ty) => write!(f, "is {ty}")?,
        Opcode::Unwrap => f.write_str("unwrap")?,
        Opcode::Tuple => f.write_str("tuple")?,
        Opcode::Record(class) => write!(f, "record {class}")?,
        Opcode::Field(index) => write!(f, "field {index}")?,
        Opcode::Box => f.write_str("box")?,
        Opcode::Unbox => f.write_str("unbox")?,
        Opcode::List => f.write_str("list")?,
        Opcode::NewExc(kind) => write!(f, "new_exc {}", kind.name())?,
        Opcode::ExcIs(kinds) => {
            f.write_str("exc_is ")?;
            f.write_char('[')?;
            separated(f, ", ", kinds, |f, kind| f.write_str(kind.name()))?;
            f.write_char(']')?;
        }
        Opcode::Message(name) => write!(f, "message {name}")?,
        Opcode::Poll => f.write_str("poll")?,
    }
    for arg in &inst.args {
        write!(f, " {arg}")?;
    }
    if inst.no_overflow {
        f.write_str(" fits")?;
    }
    if let Some(edge) = &inst.unwind {
        f.write_str(" unwind ")?;
        write_edge(f, edge)?;
    }
    write_span(f, inst.span)
}

fn write_term(f: &mut Formatter<'_>, term: &Terminator) -> fmt::Result {
    match term {
        Terminator::Open => f.write_str("open"),
        Terminator::Jump(edge) => {
            f.write_str("jump ")?;
            write_edge(f, edge)
        }
        Terminator::Branch(cond, yes, no) => {
            write!(f, "branch {cond} ")?;
            write_edge(f, yes)?;
            f.write_char(' ')?;
            write_edge(f, no)
        }
        Terminator::Return(value) => write!(f, "return {value}"),
        Terminator::Raise(kind, args, span) => {
            write!(f, "raise {}", kind.name())?;
            for arg in args {
                write!(f, " {arg}")?;
            }
            write_span(f, *span)
        }
        Terminator::Reraise(value, span) => {
            write!(f, "reraise {value}")?;
            write_span(f, *span)
        }
        Terminator::Bailout(reason, span) => {
            f.write_str("bailout ")?;
            write_str(f, reason)?;
            write_span(f, *span)
        }
        Terminator::Unreachable => f.write_str("unreachable"),
    }
}

fn write_edge(f: &mut Formatter<'_>, edge: &Edge) -> fmt::Result {
    write!(f, "{}", edge.block)?;
    if !edge.args.is_empty() {
        f.write_char('(')?;
        separated(f, ", ", &edge.args, |f, arg| write!(f, "{arg}"))?;
        f.write_char(')')?;
    }
    Ok(())
}

fn write_span(f: &mut Formatter<'_>, span: Span) -> fmt::Result {
    if f.alternate() && span != Span::default() { write!(f, " @{}..{}", span.start, span.end) } else { Ok(()) }
}

/// Writes a constant so that it is read back to the bit.
fn write_object(f: &mut Formatter<'_>, object: &Object) -> fmt::Result {
    match object {
        Object::None => f.write_str("none"),
        Object::Bool(value) => write!(f, "{value}"),
        Object::Int(value) => write!(f, "{value}"),
        Object::Float(value) if value.is_nan() => match value.to_bits() {
            0x7ff8_0000_0000_0000 => f.write_str("nan"),
            bits => write!(f, "nan:{bits:016x}"),
        },
        // Rust's debug form is the shortest that reads back, with a point or an exponent.
        Object::Float(value) => write!(f, "{value:?}"),
        Object::Str(text) => write_str(f, text),
        Object::Tuple(items) => {
            f.write_char('(')?;
            separated(f, ", ", items, write_object)?;
            // Python's comma after a single item, which tells a tuple from brackets.
            f.write_str(if items.len() == 1 { ",)" } else { ")" })
        }
        Object::List(list) => {
            f.write_char('[')?;
            separated(f, ", ", &list.items(), write_object)?;
            f.write_char(']')
        }
        Object::Dict(dict) => {
            f.write_char('{')?;
            separated(f, ", ", dict.entries(), |f, (key, value)| {
                write_object(f, key)?;
                f.write_str(": ")?;
                write_object(f, value)
            })?;
            f.write_char('}')
        }
        Object::Set(set) => {
            f.write_str(if set.frozen { "frozenset{" } else { "set{" })?;
            separated(f, ", ", set.members.entries(), |f, (key, _)| write_object(f, key))?;
            f.write_char('}')
        }
        Object::Pattern(pattern) => {
            f.write_str("pattern ")?;
            write_str(f, &pattern.source)?;
            write!(f, " {}", pattern.flags)
        }
        Object::Record(record) => {
            write!(f, "record {}(", record.class)?;
            separated(f, ", ", &record.fields, write_object)?;
            f.write_char(')')
        }
        Object::Exc(exc) => {
            write!(f, "exc {}(", exc.kind.name())?;
            separated(f, ", ", &exc.args, write_object)?;
            f.write_char(')')
        }
        Object::Unbound => f.write_str("unbound"),
    }
}

pub(crate) fn write_str(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            // Whatever a terminal or an editor could swallow is written by its number.
            c if c.is_control() || (!c.is_ascii() && !c.is_alphanumeric()) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

fn separated<T>(
    f: &mut Formatter<'_>,
    separator: &str,
    items: &[T],
    mut write: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        write(f, item)?;
    }
    Ok(())
}
