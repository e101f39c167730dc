//! Rules for arithmetic, bools and strings.
//!
//! Every rule is a law of Python's values: integers are unbounded, so sums may be
//! reordered; floats are IEEE 754 doubles, for which `x + 0.0`, `x * 1.0` and `x - x` are
//! left alone, because of -0.0, NaN and infinities.

use crate::known::Known;
use crate::simplify::Rewrite;
use crate::tuples;
use exuvia_ir::{Inst, Object, Opcode, Type, Value};
use exuvia_ops::core::{Cmp, CoreOp};
use exuvia_ops::def::{Body, OpDef};

pub(crate) fn op(known: &mut Known<'_>, inst: &Inst, def: &'static OpDef) -> Option<Rewrite> {
    let result = inst.result?;
    if let (Some((int, cmp)), [a, b]) = (Cmp::of_int_and_float(def.name), &inst.args[..]) {
        return mixed(known, cmp, int == 0, *a, *b);
    }
    // A square is a product.
    if let ("int.pow", [a, b]) = (def.name, &inst.args[..])
        && known.int(*b) == Some(2)
    {
        return Some(Rewrite::To(Opcode::Op("int.mul"), vec![*a, *a]));
    }
    // CPython multiplies by the same float (Modules/mathmodule.c, degToRad).
    if let ("math.radians", [a]) = (def.name, &inst.args[..])
        && *known.ty(*a) == Type::Float
    {
        let share = Object::Float(std::f64::consts::PI / 180.0);
        let made = known.new_constant(Type::Float, share.clone());
        return Some(Rewrite::With(Opcode::Op("float.mul"), vec![*a, made], made, share));
    }
    let Body::Core(op) = def.body else { return None };
    if let CoreOp::ListLen | CoreOp::ListTruth | CoreOp::ListGet | CoreOp::ListGetUnchecked = op {
        return tuples::list(known, inst, op);
    }
    match inst.args.as_slice() {
        [a] => unary(known, op, *a, result),
        [a, b] => match op {
            CoreOp::BoolAnd | CoreOp::BoolOr | CoreOp::BoolXor => bools(known, op, *a, *b),
            CoreOp::StrEq => (a == b).then_some(Rewrite::Const(Object::Bool(true))),
            CoreOp::StrNe => (a == b).then_some(Rewrite::Const(Object::Bool(false))),
            CoreOp::IntCmp(cmp) => compare(known, cmp, *a, *b),
            _ => ints(known, op, *a, *b),
        },
        _ => None,
    }
}

fn not(value: Value) -> Rewrite {
    Rewrite::To(Opcode::Op("bool.not"), vec![value])
}

fn unary(known: &mut Known<'_>, op: CoreOp, a: Value, result: Value) -> Option<Rewrite> {
    match op {
        // +x, int(x), str(x) and the like of what is one already.
        CoreOp::Identity if known.ty(a) == known.ty(result) => Some(Rewrite::Same(a)),
        // not not x is x; the negation of a comparison of ints is the opposite one.
        CoreOp::BoolNot => {
            if let Some(args) = known.core_args(a, CoreOp::BoolNot) {
                return Some(Rewrite::Same(args[0]));
            }
            let inst = known.inst(a)?;
            let args = inst.args.clone();
            match known.inst(a).map(|inst| &inst.op)? {
                Opcode::Op("int.eq") => Some(Rewrite::To(Opcode::Op("int.ne"), args)),
                Opcode::Op("int.ne") => Some(Rewrite::To(Opcode::Op("int.eq"), args)),
                Opcode::Op("int.lt") => Some(Rewrite::To(Opcode::Op("int.ge"), args)),
                Opcode::Op("int.le") => Some(Rewrite::To(Opcode::Op("int.gt"), args)),
                Opcode::Op("int.gt") => Some(Rewrite::To(Opcode::Op("int.le"), args)),
                Opcode::Op("int.ge") => Some(Rewrite::To(Opcode::Op("int.lt"), args)),
                _ => None,
            }
        }
        // --x and ~~x are x, abs(abs(x)) and abs(-x) are abs(x).
        CoreOp::IntNeg | CoreOp::IntInvert | CoreOp::FloatNeg => {
            known.core_args(a, op).map(|args| Rewrite::Same(args[0]))
        }
        CoreOp::IntAbs => {
            if known.core_args(a, CoreOp::IntAbs).is_some() {
                return Some(Rewrite::Same(a));
            }
            known.core_args(a, CoreOp::IntNeg).map(|args| Rewrite::To(Opcode::Op("int.abs"), args))
        }
        // bool(int(b)) is b.
        CoreOp::IntTruth => known.core_args(a, CoreOp::BoolToInt).map(|args| Rewrite::Same(args[0])),
        _ => None,
    }
}

fn bools(known: &mut Known<'_>, op: CoreOp, a: Value, b: Value) -> Option<Rewrite> {
    let (other, constant) = match (known.bool(a), known.bool(b)) {
        (Some(constant), _) => (b, constant),
        (_, Some(constant)) => (a, constant),
        _ if a == b && op == CoreOp::BoolXor => return Some(Rewrite::Const(Object::Bool(false))),
        _ if a == b => return Some(Rewrite::Same(a)),
        _ => return None,
    };
    Some(match (op, constant) {
        (CoreOp::BoolAnd, true) | (CoreOp::BoolOr, false) | (CoreOp::BoolXor, false) => Rewrite::Same(other),
        (CoreOp::BoolXor, true) => not(other),
        _ => Rewrite::Const(Object::Bool(constant)),
    })
}

fn compare(known: &mut Known<'_>, cmp: Cmp, a: Value, b: Value) -> Option<Rewrite> {
    if a == b {
        return Some(Rewrite::Const(Object::Bool(matches!(cmp, Cmp::Eq | Cmp::Le | Cmp::Ge))));
    }
    // A bool that was made an int, compared with 0 or 1: `flag == 1`.
    let constant = known.int(b)?;
    let flag = known.core_args(a, CoreOp::BoolToInt)?[0];
    match (cmp, constant) {
        (Cmp::Eq, 1) | (Cmp::Ne, 0) | (Cmp::Gt, 0) | (Cmp::Ge, 1) => Some(Rewrite::Same(flag)),
        (Cmp::Eq, 0) | (Cmp::Ne, 1) | (Cmp::Lt, 1) | (Cmp::Le, 0) => Some(not(flag)),
        _ => None,
    }
}

/// Comparisons of an int with a float, one of which is known. An int that is a float without rounding compares
/// as that float; an int lies on one side of a float exactly if it lies on that side of the whole number next to it.
fn mixed(known: &mut Known<'_>, cmp: Cmp, int_first: bool, a: Value, b: Value) -> Option<Rewrite> {
    let (int, float) = if int_first { (a, b) } else { (b, a) };
    let op = |class: &str| exuvia_ops::by_name(&format!("{class}.{}", cmp.name())).map(|def| Opcode::Op(def.name));
    let pair = |int, float| if int_first { vec![int, float] } else { vec![float, int] };
    if let Some(constant) = known.int(int) {
        let exact = constant as f64;
        if exact as i128 != i128::from(constant) {
            return None;
        }
        let exact = Object::Float(exact);
        let made = known.new_constant(Type::Float, exact.clone());
        return Some(Rewrite::With(op("float")?, pair(made, float), made, exact));
    }
    let Object::Float(constant) = *known.constant(float)? else { return None };
    // As it reads with the int on the left.
    let side = if int_first { cmp } else { cmp.mirrored() };
    let answer = |is| Some(Rewrite::Const(Object::Bool(is)));
    if !constant.is_finite() {
        return answer(side.holds(&0.0, &constant));
    }
    let whole = match side {
        Cmp::Lt | Cmp::Ge => constant.ceil(),
        Cmp::Le | Cmp::Gt => constant.floor(),
        Cmp::Eq | Cmp::Ne if constant.fract() != 0.0 => return answer(side == Cmp::Ne),
        Cmp::Eq | Cmp::Ne => constant,
    };
    if whole as i64 as f64 != whole || whole as i64 == i64::MAX {
        return None;
    }
    let whole = Object::int(whole as i64);
    let made = known.new_constant(Type::Int, whole.clone());
    Some(Rewrite::With(op("int")?, pair(int, made), made, whole))
}

fn ints(known: &mut Known<'_>, op: CoreOp, a: Value, b: Value) -> Option<Rewrite> {
    let same = |value| Some(Rewrite::Same(value));
    let constant = |value: i64| Some(Rewrite::Const(Object::int(value)));
    match (op, known.int(a), known.int(b)) {
        (CoreOp::IntAdd | CoreOp::IntOr | CoreOp::IntXor, Some(0), _) => same(b),
        (CoreOp::IntAdd | CoreOp::IntOr | CoreOp::IntXor | CoreOp::IntSub, _, Some(0)) => same(a),
        (CoreOp::IntShl | CoreOp::IntShr, _, Some(0)) => same(a),
        (CoreOp::IntMul, Some(1), _) => same(b),
        (CoreOp::IntMul | CoreOp::IntFloorDiv, _, Some(1)) => same(a),
        (CoreOp::IntMul | CoreOp::IntAnd, Some(0), _) | (CoreOp::IntMul | CoreOp::IntAnd, _, Some(0)) => constant(0),
        (CoreOp::IntAnd, Some(-1), _) => same(b),
        (CoreOp::IntAnd, _, Some(-1)) => same(a),
        (CoreOp::IntMod, _, Some(1 | -1)) => constant(0),
        (CoreOp::IntSub | CoreOp::IntXor, ..) if a == b => constant(0),
        (CoreOp::IntAnd | CoreOp::IntOr, ..) if a == b => same(a),
        (CoreOp::IntSub, Some(0), _) => Some(Rewrite::To(Opcode::Op("int.neg"), vec![b])),
        _ => None,
    }
}
