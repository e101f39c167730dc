//! Modules prepared for running: operations resolved, values numbered densely.

use crate::class::Test;
use exuvia_ir::{Class, Edge, ExcKind, FuncId, Function, Inst, Module, Object, Opcode, Span, Terminator, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, OpDef};

/// A module that is ready to run. It shares nothing with the module that it was made of.
#[derive(Debug)]
pub struct Program {
    pub(crate) functions: Vec<Code>,
    /// See [`Program::with_64_bits`].
    pub(crate) narrow: bool,
}

/// A register of a frame.
pub(crate) type Reg = u32;

/// A function.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) registers: usize,
    pub(crate) params: usize,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(crate) struct Block {
    /// Registers of the parameters.
    pub(crate) params: Vec<Reg>,
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) args: Vec<Reg>,
    pub(crate) result: Option<Reg>,
    pub(crate) unwind: Option<Target>,
    pub(crate) no_overflow: bool,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Action {
    Const(Object),
    Op(&'static OpDef, Option<CoreOp>),
    /// An operation that this build does not have.
    Missing,
    Call(FuncId),
    /// Wrap and Unwrap: objects know their class.
    Same,
    Is(Test),
    Tuple,
    Record(Class),
    Field(usize),
    List,
    NewExc(ExcKind),
    ExcIs(Vec<ExcKind>),
    Poll,
}

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) block: u32,
    pub(crate) args: Vec<Reg>,
}

#[derive(Debug)]
pub(crate) enum End {
    Jump(Target),
    Branch(Reg, Target, Target),
    Return(Reg),
    Raise(ExcKind, Vec<Reg>, Span),
    Reraise(Reg, Span),
    Bailout(&'static str, Span),
}

impl Program {
    /// Prepares a module. What is wrong with it (an unknown operation, an open block)
    /// bails out when it is reached.
    #[must_use]
    pub fn new(module: &Module) -> Program {
        Program { functions: module.functions.iter().map(prepare).collect(), narrow: false }
    }

    /// Prepares a module to run as native code does, for tests: an integer that does not
    /// fit in 64 bits bails out where it is made.
    ///
    /// Running panics where an instruction claims [`Inst::no_overflow`] in vain.
    #[must_use]
    pub fn with_64_bits(module: &Module) -> Program {
        Program { narrow: true, ..Program::new(module) }
    }
}

/// Gives the values of a function their registers, in the order in which they are met.
struct Registers {
    of: Vec<Option<Reg>>,
    used: u32,
}

impl Registers {
    fn reg(&mut self, value: Value) -> Reg {
        *self.of[value.index()].get_or_insert_with(|| {
            self.used += 1;
            self.used - 1
        })
    }

    fn regs(&mut self, values: &[Value]) -> Vec<Reg> {
        values.iter().map(|value| self.reg(*value)).collect()
    }

    fn target(&mut self, edge: &Edge) -> Target {
        Target { block: edge.block.0, args: self.regs(&edge.args) }
    }
}

fn prepare(function: &Function) -> Code {
    let mut registers = Registers { of: vec![None; function.values.len()], used: 0 };
    let params = registers.regs(&function.block(function.entry()).params).len();
    let blocks = function
        .blocks
        .iter()
        .map(|block| Block {
            params: registers.regs(&block.params),
            steps: block.insts.iter().map(|inst| step(function, inst, &mut registers)).collect(),
            end: end(&block.term, &mut registers),
        })
        .collect();
    Code { registers: registers.used as usize, params, blocks }
}

fn step(function: &Function, inst: &Inst, registers: &mut Registers) -> Step {
    let action = match &inst.op {
        Opcode::Const(object) => Action::Const(object.clone()),
        Opcode::Op(name) => match exuvia_ops::by_name(name) {
            Some(def) => Action::Op(
                def,
                match def.body {
                    Body::Core(op) => Some(op),
                    Body::Kernel { .. } => None,
                },
            ),
            None => Action::Missing,
        },
        Opcode::Call(callee) => Action::Call(*callee),
        Opcode::Wrap | Opcode::Unwrap => Action::Same,
        Opcode::Is(wanted) => Action::Is(Test::new(function.ty(inst.args[0]), wanted)),
        Opcode::Tuple => Action::Tuple,
        Opcode::Record(class) => Action::Record(*class),
        Opcode::Field(index) => Action::Field(*index as usize),
        Opcode::List => Action::List,
        Opcode::NewExc(kind) => Action::NewExc(*kind),
        Opcode::ExcIs(kinds) => Action::ExcIs(kinds.clone()),
        Opcode::Poll => Action::Poll,
    };
    Step {
        action,
        args: registers.regs(&inst.args),
        result: inst.result.map(|value| registers.reg(value)),
        unwind: inst.unwind.as_ref().map(|edge| registers.target(edge)),
        no_overflow: inst.no_overflow,
        span: inst.span,
    }
}

fn end(term: &Terminator, registers: &mut Registers) -> End {
    match term {
        Terminator::Jump(edge) => End::Jump(registers.target(edge)),
        Terminator::Branch(cond, yes, no) => {
            End::Branch(registers.reg(*cond), registers.target(yes), registers.target(no))
        }
        Terminator::Return(value) => End::Return(registers.reg(*value)),
        Terminator::Raise(kind, args, span) => End::Raise(*kind, registers.regs(args), *span),
        Terminator::Reraise(value, span) => End::Reraise(registers.reg(*value), *span),
        Terminator::Bailout(reason, span) => End::Bailout(reason, *span),
        Terminator::Open => End::Bailout("a block without an end", Span::default()),
        Terminator::Unreachable => End::Bailout("a point that is never reached was reached", Span::default()),
    }
}
