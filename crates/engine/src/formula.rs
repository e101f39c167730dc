//! A function as one expression, where its body has no loop and cannot raise: for the
//! engine around it, which may have the same operations.

use exuvia_ir::{BlockId, Edge, Function, Inst, Module, Object, Opcode, Terminator, Type, Value};
use std::collections::HashMap;

/// Nodes that a formula may have. What is larger is not better off outside of native code.
const MAX_NODES: usize = 48;

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
    let mut walk = Walk { function, null_for_errors, partly, nodes: 0 };
    let params = &function.block(function.entry()).params;
    let known = params.iter().enumerate().map(|(index, value)| (*value, Formula::Param(index))).collect();
    walk.block(function.entry(), known)
}

struct Walk<'a> {
    function: &'a Function,
    null_for_errors: bool,
    partly: bool,
    nodes: usize,
}

impl Walk<'_> {
    /// What the function returns when control enters a block.
    fn block(&mut self, block: BlockId, known: HashMap<Value, Formula>) -> Option<Formula> {
        self.said(block, known).or_else(|| self.partly.then_some(Formula::Unknown))
    }

    /// Where paths meet the rest is walked for each: the number of nodes bounds that.
    fn said(&mut self, block: BlockId, mut known: HashMap<Value, Formula>) -> Option<Formula> {
        let data = self.function.block(block);
        for inst in &data.insts {
            let args = inst.args.iter().map(|arg| known.get(arg).cloned()).collect::<Option<Vec<_>>>()?;
            // What may raise is no formula, whether or not its result is used.
            if !is_total(inst, &args) {
                return None;
            }
            let formula = match (&inst.op, args.as_slice()) {
                (Opcode::Const(constant), []) => Formula::Const(constant.clone()),
                (Opcode::Wrap | Opcode::Unwrap, [inner]) => inner.clone(),
                (Opcode::Is(Type::None), [Formula::Const(constant)]) => {
                    Formula::Const(Object::Bool(*constant == Object::None))
                }
                (Opcode::Is(Type::None), [param @ Formula::Param(_)]) => Formula::IsNone(Box::new(param.clone())),
                (Opcode::Op("bool.not"), [Formula::Const(Object::Bool(value))]) => Formula::Const(Object::Bool(!value)),
                (Opcode::Op(name), _) => {
                    self.nodes += 1;
                    Formula::Call { op: name, args, fits: inst.no_overflow }
                }
                _ => return None,
            };
            self.nodes += 1;
            if let Some(result) = inst.result {
                known.insert(result, formula);
            }
        }
        if self.nodes > MAX_NODES {
            return None;
        }
        match &data.term {
            Terminator::Return(value) => known.remove(value),
            Terminator::Jump(edge) => self.enter(edge, &known),
            Terminator::Branch(value, yes, no) => {
                let condition = known.get(value)?.clone();
                match condition {
                    Formula::Const(Object::Bool(taken)) => self.enter(if taken { yes } else { no }, &known),
                    condition => {
                        self.nodes += 1;
                        // On either way it is known what the condition is.
                        let mut taken = |edge, taken| {
                            known.insert(*value, Formula::Const(Object::Bool(taken)));
                            self.enter(edge, &known)
                        };
                        let [yes, no] = [taken(yes, true)?, taken(no, false)?];
                        Some(if yes == no { yes } else { Formula::If(Box::new([condition, yes, no])) })
                    }
                }
            }
            Terminator::Raise(kind, ..) if self.null_for_errors && kind.becomes_null() => {
                Some(Formula::Const(Object::None))
            }
            _ => None,
        }
    }

    fn enter(&mut self, edge: &Edge, known: &HashMap<Value, Formula>) -> Option<Formula> {
        // A loop would not end.
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self.partly.then_some(Formula::Unknown);
        }
        let mut known = known.clone();
        let args = edge.args.iter().map(|arg| known.get(arg).cloned()).collect::<Option<Vec<_>>>()?;
        known.extend(self.function.block(edge.block).params.iter().copied().zip(args));
        self.block(edge.block, known)
    }
}

/// Whether an instruction gives a value for any operands of these formulas.
fn is_total(inst: &Inst, args: &[Formula]) -> bool {
    let Opcode::Op(name) = &inst.op else { return inst.unwind.is_none() };
    let Some(def) = exuvia_ops::by_name(name) else { return false };
    match (*name, args) {
        ("float.div", [_, Formula::Const(Object::Float(divisor))]) => *divisor != 0.0,
        ("int.mod" | "int.floordiv", [_, Formula::Const(Object::Int(divisor))]) => {
            divisor.to_i64().is_some_and(|divisor| divisor > 0)
        }
        // Every int here fits in 64 bits.
        ("int.to_float", _) => true,
        _ => inst.unwind.is_none() && def.raises.is_empty() && (!def.bails || inst.no_overflow),
    }
}
