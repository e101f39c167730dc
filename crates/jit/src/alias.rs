//! Which values may be lists that belong to somebody else, and whether a function changes those.

use crate::live::{core_op, definition};
use exuvia_ir::{Function, Inst, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::Body;
use std::collections::HashSet;

/// Passes over a function; beyond them every value counts as shared.
const MOST_PASSES: usize = 100;

/// The values that may be, hold or be held by the same lists as some of them, as far as a function shows.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    function: &'a Function,
    values: Vec<bool>,
}

fn insts(function: &Function) -> impl Iterator<Item = &Inst> {
    function.blocks.iter().flat_map(|block| &block.insts)
}

/// Whether an instruction may change what its operands are.
pub(crate) fn may_write(inst: &Inst) -> bool {
    definition(inst).is_some_and(|def| def.effect.writes()) || matches!(inst.op, Opcode::Call(_))
}

impl<'a> Shared<'a> {
    /// Those of the values for which `from` says so.
    pub fn from(function: &'a Function, from: impl Fn(Value) -> bool) -> Shared<'a> {
        let values = (0..function.values.len()).map(|at| {
            let value = Value(at as u32);
            from(value) && function.ty(value).holds_list()
        });
        let mut shared = Shared { function, values: values.collect() };
        for _ in 0..MOST_PASSES {
            if !shared.spread() {
                return shared;
            }
        }
        shared.values.fill(true);
        shared
    }

    /// Whether one of them may be, or be in, what the function returns.
    pub fn is_returned(&self) -> bool {
        self.function.blocks.iter().any(|block| match &block.term {
            Terminator::Return(value) => self.holds(*value),
            _ => false,
        })
    }

    /// Goes through the function once; whether there were more.
    fn spread(&mut self) -> bool {
        let function = self.function;
        let mut changed = false;
        let mut mark = |values: &mut Vec<bool>, value: Value| {
            changed |= !std::mem::replace(&mut values[value.index()], true);
        };
        for block in &function.blocks {
            for inst in &block.insts {
                // What a kernel gives is new, and so is a slice, whose elements are not.
                let new = definition(inst).is_some_and(|def| match def.body {
                    Body::Kernel { .. } => true,
                    Body::Core(op) if op.copies_lists() => inst.result.is_some_and(|list| is_flat(function.ty(list))),
                    Body::Core(_) => false,
                });
                if let Some(result) = inst.result
                    && !new
                    && function.ty(result).holds_list()
                    && inst.args.iter().any(|arg| self.values[arg.index()])
                {
                    mark(&mut self.values, result);
                }
            }
            let unwinds = block.insts.iter().filter_map(|inst| inst.unwind.as_ref()).map(|edge| (edge, 1));
            for (edge, skip) in unwinds.chain(block.term.edges().into_iter().map(|edge| (edge, 0))) {
                let params = &function.block(edge.block).params;
                for (param, arg) in params.iter().skip(skip).zip(&edge.args) {
                    if self.values[arg.index()] {
                        mark(&mut self.values, *param);
                    }
                }
            }
        }
        changed
    }

    fn holds(&self, value: Value) -> bool {
        self.values[value.index()] && self.function.ty(value).holds_list()
    }

    /// Whether some instructions may change one of them.
    pub fn is_changed_by<'i>(&self, insts: impl IntoIterator<Item = &'i Inst>) -> bool {
        insts.into_iter().any(|inst| {
            // What is extended by a list does not change that.
            let args = if core_op(inst) == Some(CoreOp::ListExtend) { &inst.args[..1] } else { &inst.args[..] };
            may_write(inst) && args.iter().any(|arg| self.holds(*arg))
        })
    }

    /// Whether one may lose elements at its end, in whose place others may come.
    fn shrinks(&self) -> bool {
        insts(self.function).any(|inst| {
            matches!(core_op(inst), Some(CoreOp::ListPop | CoreOp::ListCompact))
                && inst.args.iter().any(|arg| self.holds(*arg))
        })
    }

    /// Whether elements of one may be written where they lie, or it may come to be held by another
    /// list, or be passed to a function. What is appended gets room elsewhere.
    pub fn is_written(&self) -> bool {
        insts(self.function).any(|inst| {
            let holds_lists = |list: &Type| matches!(list, Type::List(element) if element.holds_list());
            let others = match (core_op(inst), &inst.args[..]) {
                (Some(CoreOp::ListPop | CoreOp::ListReserve), _) => &[],
                (Some(CoreOp::ListExtend), [_, from, _]) if !holds_lists(self.function.ty(*from)) => &[],
                (Some(CoreOp::ListAppend | CoreOp::ListExtend), [_, rest @ ..]) => rest,
                (_, args) => args,
            };
            may_write(inst) && others.iter().any(|arg| self.holds(*arg))
        })
    }
}

/// The slices that are looked at, those that come first: each look goes over the function.
const MOST_SLICES: usize = 32;

/// The slices that need no elements of their own: neither in them nor in what they are of is anything
/// written where it lies, whatever is appended. What a function gives that is `called` by others may be
/// written there, and its parameters may be one list.
pub(crate) fn lent_slices(function: &Function, called: bool) -> HashSet<Value> {
    let slices = insts(function).filter(|inst| core_op(inst) == Some(CoreOp::ListSlice));
    let slices = slices.filter_map(|inst| Some((inst.result?, *inst.args.first()?)));
    let mut lent = HashSet::new();
    for (slice, of) in slices.take(MOST_SLICES) {
        let stays = |origins: HashSet<Value>| {
            let params = &function.block(function.entry()).params;
            let any_param = called && params.iter().any(|param| origins.contains(param));
            let all = Shared::from(function, |value| origins.contains(&value) || any_param && params.contains(&value));
            !all.is_written() && !all.shrinks()
        };
        let is_changed = |shared: Shared| shared.is_written() || called && shared.is_returned();
        if is_flat(function.ty(slice))
            && !is_changed(Shared::from(function, |value| value == slice))
            && origins(function, of).is_some_and(stays)
        {
            lent.insert(slice);
        }
    }
    lent
}

/// The values that a list may be, back to those that nothing else was before; `None` where it may come out
/// of another list or out of a function, in which more can hold it than is seen here.
fn origins(function: &Function, list: Value) -> Option<HashSet<Value>> {
    let mut origins = HashSet::from([list]);
    for _ in 0..MOST_PASSES {
        let mut more = Vec::new();
        for block in &function.blocks {
            for inst in block.insts.iter().filter(|inst| inst.result.is_some_and(|value| origins.contains(&value))) {
                match (&inst.op, core_op(inst)) {
                    (Opcode::Wrap | Opcode::Unwrap | Opcode::Tuple | Opcode::Record(_) | Opcode::Field(_), _)
                    | (_, Some(CoreOp::Identity)) => more.extend(&inst.args),
                    // A kernel's.
                    (Opcode::Op(_), None) => {}
                    // Made here; what is in it would be another list.
                    (op, made)
                        if matches!(op, Opcode::List | Opcode::Const(_)) || made.is_some_and(CoreOp::copies_lists) =>
                    {
                        inst.result.filter(|value| is_flat(function.ty(*value)))?;
                    }
                    _ => return None,
                }
            }
            let unwinds = block.insts.iter().filter_map(|inst| inst.unwind.as_ref()).map(|edge| (edge, 1));
            for (edge, skip) in unwinds.chain(block.term.edges().into_iter().map(|edge| (edge, 0))) {
                let params = function.block(edge.block).params.iter().skip(skip);
                more.extend(params.zip(&edge.args).filter(|(param, _)| origins.contains(param)).map(|(_, arg)| arg));
            }
        }
        let before = origins.len();
        origins.extend(more.into_iter().filter(|value| function.ty(*value).holds_list()));
        if origins.len() == before {
            return Some(origins);
        }
    }
    None
}

/// Whether a list holds no other.
fn is_flat(list: &Type) -> bool {
    matches!(list, Type::List(element) if !element.holds_list())
}

/// Whether the lists of a parameter may lie where they are: they hold numbers or texts, and nothing is
/// written there.
pub(crate) fn is_borrowed(function: &Function, param: Value) -> bool {
    let is_plain =
        |ty: &Type| matches!(ty, Type::List(element) if matches!(**element, Type::Int | Type::Float | Type::Str));
    let lists = function.ty(param).alternatives().iter().filter(|ty| **ty != Type::None);
    lists.clone().count() == 1
        && lists.into_iter().all(is_plain)
        && !Shared::from(function, |value| value == param).is_written()
}
