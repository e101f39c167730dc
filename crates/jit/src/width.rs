//! Which ints have 128 bits natively, and of which only the low 64 matter.
//!
//! An int is *low* if everything that is made of it depends on its low 64 bits alone: of a sum, a
//! product or a difference that `& 0xFFFF_FFFF` or `% 2**32` cuts in the end, say. It is computed in
//! one word that wraps, without checks, whatever CPython's value grows to.
//!
//! An int is *wide* if it is a constant beyond 64 bits, or arithmetic makes it of such an int and
//! nothing shows that it fits in 64 bits, or a variable holds such a one; for [`IntWidth::Double`]
//! also what is made of ints of 64 bits and not known to fit. All others are words, as is what goes
//! into lists, tuples, unions, calls and kernels: there a wide int that does not fit leaves.

use crate::live::{self, Live};
use exuvia_ir::{Function, Inst, IntWidth, Object, Opcode, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::Body;

/// What is known of the ints of a function.
#[derive(Debug)]
pub(crate) struct Widths {
    wide: Vec<bool>,
    low: Vec<bool>,
}

impl Widths {
    /// Whether the int has 128 bits.
    pub fn is_wide(&self, value: Value) -> bool {
        self.wide.get(value.index()).copied().unwrap_or(false)
    }

    /// Whether only the low 64 bits of the int are right.
    pub fn is_low(&self, value: Value) -> bool {
        self.low.get(value.index()).copied().unwrap_or(false)
    }
}

/// What an instruction does with ints.
struct Use<'f> {
    inst: &'f Inst,
    op: CoreOp,
    result: Value,
}

/// What the analyses read.
struct Facts<'f> {
    function: &'f Function,
    live: &'f Live,
    width: IntWidth,
    constants: Constants,
    uses: Vec<Use<'f>>,
    /// The parameters of blocks, each with what an edge passes to it.
    passed: Vec<(Value, Value)>,
}

/// Analyses a function.
pub(crate) fn analyse(function: &Function, live: &Live, width: IntWidth) -> Widths {
    let none = vec![false; function.values.len()];
    let mut widths = Widths { wide: none.clone(), low: none };
    let facts = Facts {
        function,
        live,
        width,
        constants: Constants::of(function),
        uses: instructions(function, live).filter_map(Use::of).collect(),
        passed: passed(function, live),
    };
    widths.find_low(&facts);
    if width != IntWidth::Word {
        widths.find_wide(&facts);
    }
    widths
}

fn instructions<'f>(function: &'f Function, live: &Live) -> impl Iterator<Item = &'f Inst> {
    let blocks = live.order.iter().map(|block| function.block(*block));
    blocks.flat_map(|block| &block.insts).filter(|inst| live.inst(inst))
}

/// The parameters of blocks, each with what an edge passes to it.
fn passed(function: &Function, live: &Live) -> Vec<(Value, Value)> {
    // What unwinds passes an exception first, which no argument is.
    let unwinds = instructions(function, live).filter_map(|inst| inst.unwind.as_ref()).map(|edge| (edge, 1));
    let terms = live.order.iter().flat_map(|block| function.block(*block).term.edges()).map(|edge| (edge, 0));
    let mut passed = Vec::new();
    for (edge, skipped) in unwinds.chain(terms) {
        let params = function.block(edge.block).params.iter().skip(skipped);
        passed
            .extend(params.zip(&edge.args).map(|(param, arg)| (*param, *arg)).filter(|(param, _)| live.value(*param)));
    }
    passed
}

/// The constants among the ints of a function.
struct Constants {
    /// Those of at most 128 bits.
    held: Vec<Option<i128>>,
    /// Whether it is one of more.
    beyond: Vec<bool>,
}

impl Constants {
    fn of(function: &Function) -> Constants {
        let count = function.values.len();
        let mut out = Constants { held: vec![None; count], beyond: vec![false; count] };
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            if let (Opcode::Const(Object::Int(value)), Some(result)) = (&inst.op, inst.result) {
                out.held[result.index()] = value.to_i128();
                out.beyond[result.index()] = value.to_i128().is_none();
            }
        }
        out
    }
}

impl<'f> Use<'f> {
    fn of(inst: &'f Inst) -> Option<Use<'f>> {
        let Body::Core(op) = live::definition(inst)?.body else { return None };
        Some(Use { inst, op, result: inst.result? })
    }

    /// Whether the low bits of the result depend on the low bits of the operands alone.
    fn is_modular(&self, constants: &Constants) -> bool {
        match self.op {
            op if op.is_ring() || op.is_bitwise() => true,
            CoreOp::IntShl => self.constant(1, constants).is_some_and(|count| (0..64).contains(&count)),
            CoreOp::IntMod => self.mask(0, constants).is_some(),
            _ => false,
        }
    }

    fn constant(&self, at: usize, constants: &Constants) -> Option<i128> {
        constants.held[self.inst.args.get(at)?.index()]
    }

    /// The bits of the operand that the result has, if it has no others: a mask of 64 bits or less.
    fn mask(&self, at: usize, constants: &Constants) -> Option<u64> {
        mask(self.op, at, |at| self.constant(at, constants))
    }
}

/// The bits of operand `at` that an operation takes, if that is all that its result depends on.
pub(crate) fn mask(op: CoreOp, at: usize, constant: impl Fn(usize) -> Option<i128>) -> Option<u64> {
    match (op, at) {
        (CoreOp::IntAnd, 0 | 1) => u64::try_from(constant(1 - at)?).ok(),
        (CoreOp::IntMod, 0) => {
            let modulus = u128::try_from(constant(1)?).ok()?;
            if modulus.is_power_of_two() { u64::try_from(modulus - 1).ok() } else { None }
        }
        _ => None,
    }
}

impl Widths {
    /// Everything that may be low is, until somebody asks for more of it.
    fn find_low(&mut self, facts: &Facts<'_>) {
        let Facts { function, live, constants, .. } = facts;
        // Words hold no more where no int is wide.
        let most = if facts.width == IntWidth::Word { i64::MAX.unsigned_abs() } else { u64::MAX };
        let is_int = |value: Value| *function.ty(value) == Type::Int;
        // What each takes part in: those that must be low so that it may be.
        let mut needs: Vec<Vec<Value>> = vec![Vec::new(); function.values.len()];
        let mut lost = Vec::new();
        let mut known = facts.uses.iter().peekable();
        for inst in instructions(function, live) {
            let Some(known) = known.next_if(|known| std::ptr::eq(known.inst, inst)) else {
                lost.extend(&inst.args);
                continue;
            };
            let is_modular = known.is_modular(constants);
            if is_modular && is_int(known.result) {
                // A constant of more bits than are at hand leaves.
                self.low[known.result.index()] = inst.args.iter().all(|arg| !constants.beyond[arg.index()]);
            }
            for (at, arg) in inst.args.iter().enumerate() {
                if known.mask(at, constants).is_some_and(|mask| mask <= most) {
                    continue;
                }
                if is_modular && !(known.op == CoreOp::IntShl && at == 1) {
                    needs[known.result.index()].push(*arg);
                } else {
                    lost.push(*arg);
                }
            }
        }
        let entry = function.entry();
        for block in live.order.iter().filter(|block| **block != entry) {
            for param in function.block(*block).params.iter().filter(|param| is_int(**param)) {
                self.low[param.index()] = true;
            }
        }
        for (param, arg) in &facts.passed {
            if constants.beyond[arg.index()] {
                self.low[param.index()] = false;
            }
            needs[param.index()].push(*arg);
        }
        for block in &live.order {
            use exuvia_ir::Terminator::{Branch, Reraise, Return};
            if let Branch(value, ..) | Return(value) | Reraise(value, _) = function.block(*block).term {
                lost.push(value);
            }
        }
        let not_low = (0..needs.len()).filter(|at| !self.low[*at]);
        lost.extend(not_low.flat_map(|at| needs[at].clone()).collect::<Vec<_>>());
        while let Some(value) = lost.pop() {
            if std::mem::replace(&mut self.low[value.index()], false) {
                lost.append(&mut needs[value.index()]);
            }
        }
    }

    /// Nothing is wide until something makes it so.
    fn find_wide(&mut self, facts: &Facts<'_>) {
        let Facts { function, constants, .. } = facts;
        let entry = function.block(function.entry()).params.clone();
        for (at, value) in constants.held.iter().enumerate() {
            self.wide[at] = value.is_some_and(|value| i64::try_from(value).is_err());
        }
        loop {
            let mut changed = false;
            for known in &facts.uses {
                if self.makes_wide(known, facts) {
                    changed |= !std::mem::replace(&mut self.wide[known.result.index()], true);
                }
            }
            for (param, arg) in &facts.passed {
                let is_int = *function.ty(*param) == Type::Int;
                if is_int && self.is_wide(*arg) && !self.is_low(*param) && !entry.contains(param) {
                    changed |= !std::mem::replace(&mut self.wide[param.index()], true);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn makes_wide(&self, known: &Use<'_>, facts: &Facts<'_>) -> bool {
        if *facts.function.ty(known.result) != Type::Int || known.inst.no_overflow || self.is_low(known.result) {
            return false;
        }
        let is_wide = |arg: &Value| self.is_wide(*arg);
        let of_wide = || known.inst.args.iter().any(is_wide);
        let all = facts.width == IntWidth::Double;
        match known.op {
            // What it is shifted by is a word.
            CoreOp::IntShl => known.inst.args.first().is_some_and(is_wide) || all,
            CoreOp::IntShr => known.inst.args.first().is_some_and(is_wide),
            op if op.is_ring() || op == CoreOp::IntAbs => of_wide() || all,
            op => op.gives_int_of_ints() && of_wide(),
        }
    }
}
