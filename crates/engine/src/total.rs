//! Calls that an engine may move about as it likes: they fail for no row, and take about
//! as long for each.

use crate::{Definition, OnError};
use arrow::datatypes::DataType;
use exuvia_ir::{ExcKind, Function, Inst, Int, Module, Object, Opcode, Terminator, Value};
use exuvia_ops::def::{Bails, Body};
use std::collections::HashMap;

/// Whether a function gives a value for whatever arguments, in bounded time, from its
/// optimised module.
pub(crate) fn is_total(module: &Module, definition: &Definition) -> bool {
    let [function] = module.functions.as_slice() else { return false };
    // What they hold may be anything.
    if crate::spread::is_nested(definition) {
        return false;
    }
    let results = Results::of(&definition.returns);
    let constants = constants(function);
    let escapes = |kind: ExcKind| definition.on_error == OnError::Raise || !kind.becomes_null();
    results != Results::Narrow
        && function.blocks.iter().all(|block| {
            block.insts.iter().all(|inst| inst_is_total(inst, function, &constants, results, &escapes))
                && (results != Results::Int64 || !passes_large(&block.term, &constants))
                && match &block.term {
                    Terminator::Raise(kind, ..) => !escapes(*kind),
                    // The class is not known here.
                    Terminator::Reraise(..) | Terminator::Bailout(..) => false,
                    _ => true,
                }
        })
}

/// What may become of a value on its way to SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Results {
    /// All fit.
    Any,
    /// An int beyond 64 bits does not.
    Int64,
    /// Some of 64 bits do not.
    Narrow,
}

impl Results {
    fn of(returns: &DataType) -> Results {
        match returns {
            DataType::Int64 => Results::Int64,
            DataType::Int8 | DataType::Int16 | DataType::Int32 => Results::Narrow,
            _ => Results::Any,
        }
    }
}

/// What each value is that is a constant.
type Constants<'a> = HashMap<Value, &'a Object>;

fn constants(function: &Function) -> Constants<'_> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts
        .filter_map(|inst| match (&inst.op, inst.result) {
            (Opcode::Const(object), Some(result)) => Some((result, object)),
            _ => None,
        })
        .collect()
}

fn inst_is_total(
    inst: &Inst,
    function: &Function,
    constants: &Constants<'_>,
    results: Results,
    escapes: &impl Fn(ExcKind) -> bool,
) -> bool {
    let name = match &inst.op {
        Opcode::Op(name) => name,
        // A loop, a recursion.
        Opcode::Poll | Opcode::Call(_) => return false,
        _ => return true,
    };
    let Some(def) = exuvia_ops::by_name(name) else { return false };
    let makes_int = || inst.result.is_some_and(|value| *function.ty(value) == exuvia_ir::Type::Int);
    // With an operand of more bits anything does.
    let is_large = |arg: &Value| is_large(*arg, constants);
    let outgrows = matches!(def.body, Body::Core(op) if op.may_outgrow() || inst.args.iter().any(is_large));
    let bails = (outgrows || matches!(def.bails, Bails::Range | Bails::Operands)) && !inst.no_overflow;
    // An exception that is caught goes where the function says.
    let raises = inst.unwind.is_none()
        && !divides_by_constant(inst, name, constants)
        && def.raises.iter().any(|kind| escapes(*kind));
    !raises && !(bails && (results == Results::Int64 || !makes_int()))
}

/// Whether a variable or the result becomes a constant int of more than 64 bits.
fn passes_large(term: &Terminator, constants: &Constants<'_>) -> bool {
    let any = |values: &[Value]| values.iter().any(|value| is_large(*value, constants));
    matches!(term, Terminator::Return(value) if any(&[*value])) || term.edges().iter().any(|edge| any(&edge.args))
}

/// Whether it is a constant int of more than 64 bits.
fn is_large(value: Value, constants: &Constants<'_>) -> bool {
    matches!(constants.get(&value), Some(Object::Int(Int::Big(_))))
}

/// Whether it is a division by a constant that is not zero.
fn divides_by_constant(inst: &Inst, name: &str, constants: &Constants<'_>) -> bool {
    let [_, divisor] = inst.args[..] else { return false };
    match (name, constants.get(&divisor)) {
        ("int.mod" | "int.floordiv", Some(Object::Int(divisor))) => *divisor != Int::from(0),
        ("float.div", Some(Object::Float(divisor))) => *divisor != 0.0,
        _ => false,
    }
}
