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
    pub(crate) checks: Checks,
}

/// A register of a frame.
pub(crate) type Reg = u32;

/// A function.
#[derive(Debug)]
pub(crate) struct Code {
    /// What its registers hold at first: constants, which nothing overwrites.
    pub(crate) registers: Vec<Object>,
    pub(crate) params: usize,
    /// See [`exuvia_ir::Function::frames`].
    pub(crate) frames: usize,
    /// See [`exuvia_ir::Function::keeps`].
    pub(crate) keeps: Option<Vec<bool>>,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(crate) struct Block {
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
    /// A constant that is too large for a program with 64 bits.
    TooLarge,
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
    Message(&'static OpDef),
    Poll,
}

/// A value that a block gives to a parameter of the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) from: Reg,
    pub(crate) to: Reg,
    /// Whether nobody else reads the value: it is made by the block that gives it, and used there
    /// only.
    pub(crate) last: bool,
}

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) block: u32,
    /// The register of the exception, on an edge to a handler.
    pub(crate) exception: Option<Reg>,
    /// What goes where.
    pub(crate) moves: Vec<Move>,
    /// Whether no move overwrites what a later one copies.
    pub(crate) in_order: bool,
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

/// What is looked at where an int is made that does not fit in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    None,
    /// Whether the instruction claims that it fits.
    Claims,
    /// That, and then it bails out.
    Words,
}

impl Program {
    /// Prepares a module. What is wrong with it (an unknown operation, an open block)
    /// bails out when it is reached.
    #[must_use]
    pub fn new(module: &Module) -> Program {
        Program::checked(module, Checks::None)
    }

    /// Prepares a module to run as native code does, for tests: an integer that does not
    /// fit in 64 bits bails out where it is made.
    ///
    /// Running panics where an instruction claims [`Inst::no_overflow`] in vain.
    #[must_use]
    pub fn with_64_bits(module: &Module) -> Program {
        Program::checked(module, Checks::Words)
    }

    /// Prepares a module that was optimised for ints of more bits, for tests: ints are as large as they
    /// are, and running panics where an instruction claims [`Inst::no_overflow`] in vain.
    #[must_use]
    pub fn with_claims(module: &Module) -> Program {
        Program::checked(module, Checks::Claims)
    }

    fn checked(module: &Module, checks: Checks) -> Program {
        let narrow = checks == Checks::Words;
        Program { functions: module.functions.iter().map(|function| prepare(function, narrow)).collect(), checks }
    }
}

/// Gives the values of a function their registers, in the order in which they are met.
struct Registers {
    of: Vec<Option<Reg>>,
    used: u32,
    /// Values of the block at hand that are used once, by an edge out of it.
    passing: Vec<Value>,
}

/// How often each value is used.
fn uses(function: &Function) -> Vec<u32> {
    let mut uses = vec![0; function.values.len()];
    let mut count = |values: &[Value]| values.iter().for_each(|value| uses[value.index()] += 1);
    for block in &function.blocks {
        for inst in &block.insts {
            count(&inst.args);
            inst.unwind.iter().for_each(|edge| count(&edge.args));
        }
        match &block.term {
            Terminator::Jump(edge) => count(&edge.args),
            Terminator::Branch(cond, yes, no) => {
                count(std::slice::from_ref(cond));
                count(&yes.args);
                count(&no.args);
            }
            Terminator::Return(value) | Terminator::Reraise(value, _) => count(std::slice::from_ref(value)),
            Terminator::Raise(_, args, _) => count(args),
            Terminator::Bailout(..) | Terminator::Open | Terminator::Unreachable => {}
        }
    }
    uses
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

    /// The way to a block; on an unwind edge its first parameter is the exception.
    fn target(&mut self, function: &Function, edge: &Edge, unwinds: bool) -> Target {
        let mut params = self.regs(&function.block(edge.block).params).into_iter();
        let exception = if unwinds { params.next() } else { None };
        let moves: Vec<Move> = edge
            .args
            .iter()
            .zip(params)
            .map(|(value, to)| Move { from: self.reg(*value), to, last: self.passing.contains(value) })
            .filter(|one| one.from != one.to)
            .collect();
        let overwrites = |(at, one): (usize, &Move)| moves[at + 1..].iter().any(|later| later.from == one.to);
        let in_order = exception.is_none() && !moves.iter().enumerate().any(overwrites);
        Target { block: edge.block.0, exception, moves, in_order }
    }
}

fn prepare(function: &Function, narrow: bool) -> Code {
    let mut registers = Registers { of: vec![None; function.values.len()], used: 0, passing: vec![] };
    let uses = uses(function);
    let params = registers.regs(&function.block(function.entry()).params).len();
    let mut constants = vec![];
    let mut blocks = vec![];
    for block in &function.blocks {
        // A constant stays in its register.
        let made = block.insts.iter().filter(|inst| !matches!(inst.op, Opcode::Const(_)));
        let made = made.filter_map(|inst| inst.result).chain(block.params.iter().copied());
        registers.passing = made.filter(|value| uses[value.index()] == 1).collect();
        let mut steps = vec![];
        for inst in &block.insts {
            match (&inst.op, inst.result) {
                (Opcode::Const(object), Some(result))
                    if !(narrow && matches!(object, Object::Int(exuvia_ir::Int::Big(_)))) =>
                {
                    constants.push((registers.reg(result), object.clone()));
                }
                _ => steps.push(step(function, inst, &mut registers)),
            }
        }
        blocks.push(Block { steps, end: end(function, &block.term, &mut registers) });
    }
    let mut initial = vec![Object::Unbound; registers.used as usize];
    for (register, object) in constants {
        initial[register as usize] = object;
    }
    Code { registers: initial, params, frames: function.frames as usize, keeps: function.keeps.clone(), blocks }
}

fn step(function: &Function, inst: &Inst, registers: &mut Registers) -> Step {
    let action = match &inst.op {
        Opcode::Const(_) => Action::TooLarge,
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
        Opcode::Wrap | Opcode::Unwrap | Opcode::Box | Opcode::Unbox => Action::Same,
        Opcode::Is(wanted) => Action::Is(Test::new(function.ty(inst.args[0]), wanted)),
        Opcode::Tuple => Action::Tuple,
        Opcode::Record(class) => Action::Record(*class),
        Opcode::Field(index) => Action::Field(*index as usize),
        Opcode::List => Action::List,
        Opcode::NewExc(kind) => Action::NewExc(*kind),
        Opcode::ExcIs(kinds) => Action::ExcIs(kinds.clone()),
        Opcode::Message(name) => exuvia_ops::by_name(name).map_or(Action::Missing, Action::Message),
        Opcode::Poll => Action::Poll,
    };
    Step {
        action,
        args: registers.regs(&inst.args),
        result: inst.result.map(|value| registers.reg(value)),
        unwind: inst.unwind.as_ref().map(|edge| registers.target(function, edge, true)),
        no_overflow: inst.no_overflow,
        span: inst.span,
    }
}

fn end(function: &Function, term: &Terminator, registers: &mut Registers) -> End {
    match term {
        Terminator::Jump(edge) => End::Jump(registers.target(function, edge, false)),
        Terminator::Branch(cond, yes, no) => {
            let cond = registers.reg(*cond);
            End::Branch(cond, registers.target(function, yes, false), registers.target(function, no, false))
        }
        Terminator::Return(value) => End::Return(registers.reg(*value)),
        Terminator::Raise(kind, args, span) => End::Raise(*kind, registers.regs(args), *span),
        Terminator::Reraise(value, span) => End::Reraise(registers.reg(*value), *span),
        Terminator::Bailout(reason, span) => End::Bailout(reason, *span),
        Terminator::Open => End::Bailout("a block without an end", Span::default()),
        Terminator::Unreachable => End::Bailout("a point that is never reached was reached", Span::default()),
    }
}
