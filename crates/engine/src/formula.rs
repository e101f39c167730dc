//! A function as one expression, where its body has no loop and cannot raise: for the
//! engine around it, which may have the same operations.
//!
//! A formula is a tree, in which a value stands as often as it is used: `x = x + x` in
//! forty lines is a tree of 2⁴⁰ nodes. So its size is known before it is made, and what
//! would be larger than `MAX_NODES` is not made.

use exuvia_ir::{BlockId, Edge, Function, Inst, Module, Object, Opcode, Terminator, Type, Value};
use std::collections::HashMap;

/// Nodes that a formula may have. What is larger is not better off outside of native code.
const MAX_NODES: usize = 48;

/// Steps of a walk: instructions, operations once more, and edges. Some of what they make is not used.
const MAX_STEPS: usize = 48;

/// A formula with the number of its nodes, within [`MAX_NODES`].
#[derive(Clone)]
struct Sized {
    formula: Formula,
    nodes: usize,
}

impl Sized {
    fn leaf(formula: Formula) -> Sized {
        Sized { formula, nodes: 1 }
    }
}

/// A node over formulas, if together they are no larger than a formula may be.
fn node<'a>(parts: impl IntoIterator<Item = &'a Sized>, make: impl FnOnce(Vec<Formula>) -> Formula) -> Option<Sized> {
    let parts: Vec<&Sized> = parts.into_iter().collect();
    let nodes = 1 + parts.iter().map(|part| part.nodes).sum::<usize>();
    let formulas = || parts.iter().map(|part| part.formula.clone()).collect();
    (nodes <= MAX_NODES).then(|| Sized { formula: make(formulas()), nodes })
}

/// An expression over a function's parameters. Its value is that of the function, and
/// computing all of its parts, needed or not, raises nothing; but what stands in a branch of
/// [`Formula::If`] may have no meaning where the other branch is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A parameter. One that can be NULL is only an operand of [`Formula::IsNone`] or where
    /// it is not NULL.
    Param(usize),
    /// A constant.
    Const(Object),
    /// An operation by its name in the IR (`docs/operations.md`).
    Call {
        /// The name.
        op: &'static str,
        /// Its operands.
        args: Vec<Formula>,
        /// Whether an int that it gives is known to fit in 64 bits.
        fits: bool,
    },
    /// Whether a parameter is NULL.
    IsNone(Box<Formula>),
    /// The second if the first, a bool, is true, else the third.
    If(Box<[Formula; 3]>),
    /// What a formula cannot say: any value, or an exception.
    Unknown,
}

/// The formula of an optimised module's function 0. With `null_for_errors` an exception is
/// None. With `partly` it may have parts that are unknown.
pub(crate) fn of(module: &Module, null_for_errors: bool, partly: bool) -> Option<Formula> {
    let [function, rest @ ..] = module.functions.as_slice() else { return None };
    if !rest.is_empty() && !partly {
        return None;
    }
    let mut walk = Walk { function, null_for_errors, partly, steps: 0 };
    let params = &function.block(function.entry()).params;
    let known = params.iter().enumerate().map(|(index, value)| (*value, Sized::leaf(Formula::Param(index)))).collect();
    walk.block(function.entry(), known).map(|whole| whole.formula)
}

/// The formulas of values.
type Known = HashMap<Value, Sized>;

struct Walk<'a> {
    function: &'a Function,
    null_for_errors: bool,
    partly: bool,
    /// What was looked at: where paths meet, the rest is walked for each.
    steps: usize,
}

impl Walk<'_> {
    /// What the function returns when control enters a block.
    fn block(&mut self, block: BlockId, known: Known) -> Option<Sized> {
        self.said(block, known).or_else(|| self.partly.then_some(Sized::leaf(Formula::Unknown)))
    }

    fn said(&mut self, block: BlockId, mut known: Known) -> Option<Sized> {
        let data = self.function.block(block);
        for inst in &data.insts {
            self.step()?;
            let args = inst.args.iter().map(|arg| known.get(arg)).collect::<Option<Vec<_>>>()?;
            // What may raise is no formula, whether or not its result is used.
            if !is_total(inst, &args) {
                return None;
            }
            let constant = |object| Some(Sized::leaf(Formula::Const(object)));
            let formula = match (&inst.op, args.as_slice()) {
                (Opcode::Const(object), []) => constant(object.clone()),
                (Opcode::Wrap | Opcode::Unwrap, [inner]) => Some((*inner).clone()),
                (Opcode::Is(Type::None), [Sized { formula: Formula::Const(object), .. }]) => {
                    constant(Object::Bool(*object == Object::None))
                }
                (Opcode::Is(Type::None), [param @ Sized { formula: Formula::Param(_), .. }]) => {
                    node([*param], |mut parts| Formula::IsNone(Box::new(parts.remove(0))))
                }
                (Opcode::Op("bool.not"), [Sized { formula: Formula::Const(Object::Bool(value)), .. }]) => {
                    constant(Object::Bool(!value))
                }
                (Opcode::Op(op), _) => {
                    self.step()?;
                    node(args, |args| Formula::Call { op, args, fits: inst.no_overflow })
                }
                _ => None,
            };
            if let Some(result) = inst.result {
                known.insert(result, formula?);
            }
        }
        match &data.term {
            Terminator::Return(value) => known.remove(value),
            Terminator::Jump(edge) => self.enter(edge, &known),
            Terminator::Branch(value, yes, no) => {
                let condition = known.get(value)?.clone();
                match condition.formula {
                    Formula::Const(Object::Bool(taken)) => self.enter(if taken { yes } else { no }, &known),
                    _ => {
                        // On either way it is known what the condition is.
                        let mut taken = |edge, taken| {
                            known.insert(*value, Sized::leaf(Formula::Const(Object::Bool(taken))));
                            self.enter(edge, &known)
                        };
                        let [yes, no] = [taken(yes, true)?, taken(no, false)?];
                        if yes.formula == no.formula {
                            return Some(yes);
                        }
                        node([&condition, &yes, &no], |parts| match <[Formula; 3]>::try_from(parts) {
                            Ok(parts) => Formula::If(Box::new(parts)),
                            Err(_) => Formula::Unknown,
                        })
                    }
                }
            }
            Terminator::Raise(kind, ..) if self.null_for_errors && kind.becomes_null() => {
                Some(Sized::leaf(Formula::Const(Object::None)))
            }
            _ => None,
        }
    }

    /// Counts something that is looked at; `None` where that was enough.
    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MAX_STEPS).then_some(())
    }

    fn enter(&mut self, edge: &Edge, known: &Known) -> Option<Sized> {
        // A loop would not end.
        if self.step().is_none() {
            return self.partly.then_some(Sized::leaf(Formula::Unknown));
        }
        let mut known = known.clone();
        let args = edge.args.iter().map(|arg| known.get(arg).cloned()).collect::<Option<Vec<_>>>()?;
        known.extend(self.function.block(edge.block).params.iter().copied().zip(args));
        self.block(edge.block, known)
    }
}

/// Whether an instruction gives a value for any operands of these formulas.
fn is_total(inst: &Inst, args: &[&Sized]) -> bool {
    let Opcode::Op(name) = &inst.op else { return inst.unwind.is_none() };
    let Some(def) = exuvia_ops::by_name(name) else { return false };
    match (*name, args.last().map(|last| &last.formula)) {
        ("float.div", Some(Formula::Const(Object::Float(divisor)))) => *divisor != 0.0,
        ("int.mod" | "int.floordiv", Some(Formula::Const(Object::Int(divisor)))) => {
            divisor.to_i64().is_some_and(|divisor| divisor > 0)
        }
        // Every int here fits in 64 bits.
        ("int.to_float", _) => true,
        _ => {
            inst.unwind.is_none()
                && def.raises.is_empty()
                && (def.bails == exuvia_ops::def::Bails::Never || inst.no_overflow)
        }
    }
}
