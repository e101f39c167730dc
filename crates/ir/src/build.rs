//! Building a function block by block.

use crate::{BlockId, Edge, ExcKind, Function, Inst, Object, Opcode, Span, Terminator, Type, Value};

/// Appends to one block of a function at a time.
#[derive(Debug)]
pub struct Builder {
    /// The function so far.
    pub function: Function,
    /// The block that is appended to.
    pub block: BlockId,
    /// The source range given to what is appended.
    pub span: Span,
}

impl Builder {
    /// Starts a function with an entry block whose parameters have those types.
    #[must_use]
    pub fn new(name: impl Into<String>, params: &[Type], ret: Type) -> Builder {
        let mut function = Function::new(name, ret);
        let block = function.entry();
        for ty in params {
            function.add_param(block, ty.clone());
        }
        Builder { function, block, span: Span::default() }
    }

    /// A parameter of the function.
    #[must_use]
    pub fn param(&self, index: usize) -> Value {
        self.function.block(self.function.entry()).params[index]
    }

    /// Appends an instruction with a result.
    pub fn inst(&mut self, op: Opcode, args: Vec<Value>, ty: Type, unwind: Option<Edge>) -> Value {
        let result = self.function.new_value(ty);
        self.push(op, args, Some(result), unwind);
        result
    }

    /// Appends an instruction without a result.
    pub fn effect(&mut self, op: Opcode, args: Vec<Value>, unwind: Option<Edge>) {
        self.push(op, args, None, unwind);
    }

    fn push(&mut self, op: Opcode, args: Vec<Value>, result: Option<Value>, unwind: Option<Edge>) {
        let span = self.span;
        let block = self.function.block_mut(self.block);
        debug_assert_eq!(block.term, Terminator::Open, "appending to a block that has ended");
        block.insts.push(Inst { op, args, result, unwind, no_overflow: false, span });
    }

    /// Appends a constant.
    pub fn constant(&mut self, object: Object) -> Value {
        let ty = object.ty();
        self.inst(Opcode::Const(object), vec![], ty, None)
    }

    /// Appends a conversion to `ty` unless the value has that type already.
    pub fn wrap(&mut self, value: Value, ty: &Type) -> Value {
        if self.function.ty(value) == ty { value } else { self.inst(Opcode::Wrap, vec![value], ty.clone(), None) }
    }

    /// Ends the block.
    pub fn end(&mut self, term: Terminator) {
        let block = self.function.block_mut(self.block);
        assert_eq!(block.term, Terminator::Open, "the block has ended before");
        block.term = term;
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, block: BlockId, args: Vec<Value>) {
        self.end(Terminator::Jump(Edge { block, args }));
    }

    /// Ends the block with a branch to two new blocks without parameters, and returns
    /// them: taken when true, taken when false.
    pub fn branch(&mut self, cond: Value) -> (BlockId, BlockId) {
        let yes = self.function.new_block();
        let no = self.function.new_block();
        let edge = |block| Edge { block, args: vec![] };
        self.end(Terminator::Branch(cond, edge(yes), edge(no)));
        (yes, no)
    }

    /// Ends the block by raising out of the function.
    pub fn raise(&mut self, kind: ExcKind, args: Vec<Value>) {
        let span = self.span;
        self.end(Terminator::Raise(kind, args, span));
    }
}
