//! Functions: a control-flow graph in SSA form with block parameters.
//!
//! Invariants, checked by [`crate::verify()`]: every value is defined once and its
//! definition dominates its uses; block 0 is the entry, its parameters are the
//! function's, and nothing jumps to it; an edge passes one value for each parameter
//! of its target, of exactly the parameter's type (conversions to unions are explicit
//! [`Opcode::Wrap`] instructions).
//!
//! An instruction that may raise stands in the middle of a block. If it raises and has
//! an `unwind` edge, control goes there, and the target's first parameter is the
//! exception (the other parameters are passed by the edge); without one the exception
//! leaves the function. Bailouts always leave the function.

use crate::{Class, ExcKind, Object, Type};

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }

        impl $name {
            /// The position in the table of these entities.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

entity!(
    /// An SSA value of one function.
    Value, "v"
);
entity!(
    /// A block of one function.
    BlockId, "b"
);
entity!(
    /// A function of one module.
    FuncId, "f"
);

/// A range of the Python source: byte offsets into the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Functions that call each other; function 0 is the entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The functions, indexed by [`FuncId`].
    pub functions: Vec<Function>,
}

/// One function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name, for people.
    pub name: String,
    /// The type of what it returns.
    pub ret: Type,
    /// Its blocks, indexed by [`BlockId`]; block 0 is the entry.
    pub blocks: Vec<BlockData>,
    /// Its values, indexed by [`Value`].
    pub values: Vec<ValueData>,
    /// Of CPython's nested calls at most so many stand behind one call of it, itself and those that
    /// are unfolded in it, while it calls others.
    pub frames: u32,
    /// Where it keeps its results, as `functools.cache` does: which of its parameters tell one call from
    /// another. A call that is equal to an earlier one in them may give what that gave.
    pub keeps: Option<Vec<bool>>,
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    /// Its parameters.
    pub params: Vec<Value>,
    /// Its instructions, in order.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub term: Terminator,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Opcode,
    /// Its operands.
    pub args: Vec<Value>,
    /// The value it defines.
    pub result: Option<Value>,
    /// Where control goes when it raises; see the module's documentation.
    pub unwind: Option<Edge>,
    /// A fact proven by an analysis: the result fits in 64 bits whatever the operands.
    pub no_overflow: bool,
    /// Where it comes from.
    pub span: Span,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Opcode {
    /// A constant.
    Const(Object),
    /// An operation of `exuvia-ops`, by name.
    Op(&'static str),
    /// A call of another function of the module. May raise.
    Call(FuncId),
    /// Converts the operand to the result's union type, of which its own type is an
    /// alternative or a smaller union.
    Wrap,
    /// Whether the operand, a union, holds the alternative: a bool.
    Is(Type),
    /// The operand, a union that is known to hold the result's type (an alternative, or
    /// a smaller union). Undefined if it holds another: dominated by a check.
    Unwrap,
    /// A tuple of the operands.
    Tuple,
    /// An object of that class, of the fields.
    Record(Class),
    /// An element of a tuple, or a field of a record.
    Field(u32),
    /// An object with the operand, a record, on the heap.
    Box,
    /// The record of the operand, a boxed object.
    Unbox,
    /// A new list of the operands, all of the element type.
    List,
    /// A new exception of that class; the operands are its arguments. Native code needs
    /// only the class.
    NewExc(ExcKind),
    /// Whether the operand, an exception, is an instance of one of the classes.
    ExcIs(Vec<ExcKind>),
    /// The text of the exception that an operation raises for the operands: a str. Undefined where it
    /// raises none: dominated by its raise.
    Message(&'static str),
    /// Marks a back edge: polls cancellation and the time budget.
    Poll,
}

impl Opcode {
    /// Whether it is the operation of that name.
    #[must_use]
    pub fn is_op(&self, name: &str) -> bool {
        matches!(self, Opcode::Op(op) if *op == name)
    }

    /// Whether it only makes a value of its operands: it neither raises, nor changes an object,
    /// nor leaves, nor waits.
    pub fn only_makes(&self) -> bool {
        match self {
            Opcode::Op(_) | Opcode::Call(_) | Opcode::Poll => false,
            Opcode::Const(_)
            | Opcode::Wrap
            | Opcode::Is(_)
            | Opcode::Unwrap
            | Opcode::Tuple
            | Opcode::Record(_)
            | Opcode::Field(_)
            | Opcode::Box
            | Opcode::Unbox
            | Opcode::List
            | Opcode::NewExc(_)
            | Opcode::ExcIs(_)
            | Opcode::Message(_) => true,
        }
    }
}

/// A jump to a block with arguments for its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The target.
    pub block: BlockId,
    /// The arguments. On an unwind edge the exception, the target's first parameter,
    /// is not among them.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Not yet ended (only while building).
    Open,
    /// Goes on elsewhere.
    Jump(Edge),
    /// Goes to the first edge if the bool is true, else to the second.
    Branch(Value, Edge, Edge),
    /// Returns a value of the function's return type.
    Return(Value),
    /// Raises an exception of a static class, with its arguments, out of the function.
    Raise(ExcKind, Vec<Value>, Span),
    /// Raises a caught exception again, out of the function.
    Reraise(Value, Span),
    /// Leaves the fast path for this row; the reason is for people.
    Bailout(&'static str, Span),
    /// Never reached.
    Unreachable,
}

impl Module {
    /// The size of all functions together.
    #[must_use]
    pub fn size(&self) -> usize {
        self.functions.iter().map(Function::size).sum()
    }
}

impl Function {
    /// An empty function with an open entry block.
    #[must_use]
    pub fn new(name: impl Into<String>, ret: Type) -> Function {
        Function {
            name: name.into(),
            ret,
            blocks: vec![BlockData { params: Vec::new(), insts: Vec::new(), term: Terminator::Open }],
            values: Vec::new(),
            frames: 1,
            keeps: None,
        }
    }

    /// The entry block.
    #[must_use]
    pub fn entry(&self) -> BlockId {
        BlockId(0)
    }

    /// The types of the parameters.
    #[must_use]
    pub fn param_types(&self) -> Vec<Type> {
        self.blocks[0].params.iter().map(|v| self.ty(*v).clone()).collect()
    }

    /// Its size: instructions, and the end of each block.
    #[must_use]
    pub fn size(&self) -> usize {
        self.blocks.iter().map(|block| block.insts.len() + 1).sum()
    }

    /// The instruction that makes a value; `None` for a parameter.
    #[must_use]
    pub fn made_by(&self, value: Value) -> Option<&Inst> {
        self.blocks.iter().flat_map(|block| &block.insts).find(|inst| inst.result == Some(value))
    }

    /// The type of a value.
    #[must_use]
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }

    /// A new value.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.values.push(ValueData { ty });
        Value(u32::try_from(self.values.len() - 1).expect("more than 2^32 values"))
    }

    /// A new, open block without parameters.
    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(BlockData { params: Vec::new(), insts: Vec::new(), term: Terminator::Open });
        BlockId(u32::try_from(self.blocks.len() - 1).expect("more than 2^32 blocks"))
    }

    /// Adds a parameter to a block.
    pub fn add_param(&mut self, block: BlockId, ty: Type) -> Value {
        let value = self.new_value(ty);
        self.blocks[block.index()].params.push(value);
        value
    }

    /// A block.
    #[must_use]
    pub fn block(&self, block: BlockId) -> &BlockData {
        &self.blocks[block.index()]
    }

    /// A block, to change.
    pub fn block_mut(&mut self, block: BlockId) -> &mut BlockData {
        &mut self.blocks[block.index()]
    }
}

impl Terminator {
    /// The edges that leave by this terminator.
    #[must_use]
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch(_, yes, no) => vec![yes, no],
            Terminator::Open
            | Terminator::Return(_)
            | Terminator::Raise(..)
            | Terminator::Reraise(..)
            | Terminator::Bailout(..)
            | Terminator::Unreachable => vec![],
        }
    }

    /// The edges that leave by this terminator, to change.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch(_, yes, no) => vec![yes, no],
            Terminator::Open
            | Terminator::Return(_)
            | Terminator::Raise(..)
            | Terminator::Reraise(..)
            | Terminator::Bailout(..)
            | Terminator::Unreachable => vec![],
        }
    }

    /// The edges that leave by this terminator, in order, without a list of them.
    pub fn for_each_edge<'a>(&'a self, mut f: impl FnMut(&'a Edge)) {
        match self {
            Terminator::Jump(edge) => f(edge),
            Terminator::Branch(_, yes, no) => {
                f(yes);
                f(no);
            }
            Terminator::Open
            | Terminator::Return(_)
            | Terminator::Raise(..)
            | Terminator::Reraise(..)
            | Terminator::Bailout(..)
            | Terminator::Unreachable => {}
        }
    }

    /// The edges that leave by this terminator, to change, without a list of them.
    pub fn for_each_edge_mut(&mut self, mut f: impl FnMut(&mut Edge)) {
        match self {
            Terminator::Jump(edge) => f(edge),
            Terminator::Branch(_, yes, no) => {
                f(yes);
                f(no);
            }
            Terminator::Open
            | Terminator::Return(_)
            | Terminator::Raise(..)
            | Terminator::Reraise(..)
            | Terminator::Bailout(..)
            | Terminator::Unreachable => {}
        }
    }

    /// Every value used, to change; edge arguments included.
    pub fn for_each_value_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch(cond, yes, no) => {
                f(cond);
                yes.args.iter_mut().chain(&mut no.args).for_each(f);
            }
            Terminator::Jump(edge) => edge.args.iter_mut().for_each(f),
            Terminator::Return(value) | Terminator::Reraise(value, _) => f(value),
            Terminator::Raise(_, args, _) => args.iter_mut().for_each(f),
            Terminator::Open | Terminator::Bailout(..) | Terminator::Unreachable => {}
        }
    }

    /// Every value used; edge arguments included.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::Branch(cond, yes, no) => {
                f(*cond);
                yes.args.iter().chain(&no.args).copied().for_each(f);
            }
            Terminator::Jump(edge) => edge.args.iter().copied().for_each(f),
            Terminator::Return(value) | Terminator::Reraise(value, _) => f(*value),
            Terminator::Raise(_, args, _) => args.iter().copied().for_each(f),
            Terminator::Open | Terminator::Bailout(..) | Terminator::Unreachable => {}
        }
    }
}

impl BlockData {
    /// The blocks that control can reach from here: by unwinding, then by the terminator.
    #[must_use]
    pub fn successors(&self) -> Vec<BlockId> {
        self.insts
            .iter()
            .filter_map(|inst| inst.unwind.as_ref())
            .chain(self.term.edges())
            .map(|edge| edge.block)
            .collect()
    }
}
