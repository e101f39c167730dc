//! The closed core: instructions that every back end knows how to emit.
//!
//! Integer instructions here compute with unbounded integers; a native back end uses
//! 64 bits and leaves the fast path where a result does not fit.

use crate::cx::Cx;
use crate::def::{Body, Default, Effect, Kind, OpDef, Param};
use exuvia_ir::{ExcKind, Object, Raise, Type};

mod eval;

pub(crate) use eval::nearest_float;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A core instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreOp {
    /// Sum of two ints.
    IntAdd,
    /// Difference of two ints.
    IntSub,
    /// Product of two ints.
    IntMul,
    /// Floor division of two ints.
    IntFloorDiv,
    /// Remainder with the sign of the divisor.
    IntMod,
    /// Bitwise and.
    IntAnd,
    /// Bitwise or.
    IntOr,
    /// Bitwise exclusive or.
    IntXor,
    /// Left shift.
    IntShl,
    /// Right shift (floor).
    IntShr,
    /// Negation.
    IntNeg,
    /// `-x - 1`.
    IntInvert,
    /// Absolute value.
    IntAbs,
    /// Comparison of two ints.
    IntCmp(Cmp),
    /// The nearest float; raises `OverflowError` where there is none.
    IntToFloat,
    /// 0 or 1.
    BoolToInt,
    /// Logical not.
    BoolNot,
    /// And of two bools, both evaluated.
    BoolAnd,
    /// Or of two bools, both evaluated.
    BoolOr,
    /// Exclusive or of two bools.
    BoolXor,
    /// The operand itself, after the parameter's conversion.
    Identity,
    /// Whether an int is not zero.
    IntTruth,
    /// Whether a float is not zero; NaN is true.
    FloatTruth,
    /// Whether a string is not empty.
    StrTruth,
    /// Whether a list is not empty.
    ListTruth,
    /// Sum of two floats.
    FloatAdd,
    /// Difference of two floats.
    FloatSub,
    /// Product of two floats.
    FloatMul,
    /// True quotient of two ints, correctly rounded; raises `ZeroDivisionError`.
    IntTrueDiv,
    /// Quotient of two floats; raises `ZeroDivisionError`.
    FloatDiv,
    /// Negation.
    FloatNeg,
    /// Absolute value.
    FloatAbs,
    /// Square root of a float that is not negative; raises `ValueError`.
    FloatSqrt,
    /// Comparison of two floats.
    FloatCmp(Cmp),
    /// Equality of two strings.
    StrEq,
    /// Length of a string in code points.
    StrLen,
    /// Length of a string in bytes of its UTF-8.
    StrByteLen,
    /// The number of elements of a list.
    ListLen,
    /// Element of a list by an index that may be negative; raises `IndexError`.
    ListGet,
    /// Element of a list by an index known to lie within it.
    ListGetUnchecked,
    /// Replaces an element; raises `IndexError`.
    ListSet,
    /// Appends an element.
    ListAppend,
    /// Removes the last element and returns it; raises `IndexError`.
    ListPop,
    /// A new list of the elements from one index to another, clamped as slices are.
    ListSlice,
    /// The position of a key in a constant dict or set, or -1.
    DictFind,
    /// The value of a constant dict at a position from [`CoreOp::DictFind`].
    DictValue,
    /// The message of a caught exception, `str(e)`. Native code bails out.
    ExcMessage,
    /// Fails because the handler returned a value (the second operand) that the SQL type
    /// (the first, its name) cannot hold. Native code bails out.
    Reject,
}

const fn p(name: &'static str, kind: Kind) -> Param {
    Param { name, kind, default: None, keyword_only: false }
}

const INT1: &[Param] = &[p("_a", Kind::Int)];
const INT2: &[Param] = &[p("_a", Kind::Int), p("_b", Kind::Int)];
const BOOL1: &[Param] = &[p("_a", Kind::Bool)];
const BOOL2: &[Param] = &[p("_a", Kind::Bool), p("_b", Kind::Bool)];
const STR1: &[Param] = &[p("_s", Kind::Str)];
const INT_NONE: &[Param] = &[p("_a", Kind::Int), p("ndigits", Kind::None)];
const LIST1: &[Param] = &[p("_x", Kind::List)];
const NUM1: &[Param] = &[p("_a", Kind::Number)];
const FLOAT1: &[Param] = &[p("_a", Kind::Float)];
/// Arithmetic with a float converts the other operand; two ints never come here because
/// the int operations stand before these in the table.
const NUM2: &[Param] = &[p("_a", Kind::Number), p("_b", Kind::Number)];
const FLOAT2: &[Param] = &[p("_a", Kind::Float), p("_b", Kind::Float)];

/// Everything of a core operation but its evaluation.
const fn core(
    name: &'static str,
    spelling: &'static str,
    op: CoreOp,
    params: &'static [Param],
    result: fn(&[Type]) -> Type,
    raises: &'static [ExcKind],
    eval: fn(&mut Cx, &[Object]) -> Result<Object, Raise>,
) -> OpDef {
    OpDef {
        name,
        spelling,
        params,
        result,
        raises,
        bails: false,
        effect: Effect::Pure,
        doc: "",
        body: Body::Core(op),
        eval,
    }
}

const fn with_effect(mut def: OpDef, effect: Effect, bails: bool) -> OpDef {
    def.effect = effect;
    def.bails = bails;
    def
}

fn int(_: &[Type]) -> Type {
    Type::Int
}
fn bool(_: &[Type]) -> Type {
    Type::Bool
}
fn float(_: &[Type]) -> Type {
    Type::Float
}
fn str(_: &[Type]) -> Type {
    Type::Str
}
fn none(_: &[Type]) -> Type {
    Type::None
}
fn element(args: &[Type]) -> Type {
    match &args[0] {
        Type::List(element) => (**element).clone(),
        _ => Type::Never,
    }
}
fn first(args: &[Type]) -> Type {
    args[0].clone()
}
fn dict_value(args: &[Type]) -> Type {
    match &args[0] {
        Type::Dict(_, value) => (**value).clone(),
        _ => Type::Never,
    }
}

const ZERO_DIVISION: &[ExcKind] = &[ExcKind::ZeroDivisionError];
const DIVISION: &[ExcKind] = &[ExcKind::ZeroDivisionError, ExcKind::OverflowError];
const INDEX: &[ExcKind] = &[ExcKind::IndexError];
const VALUE: &[ExcKind] = &[ExcKind::ValueError];
const SHIFT: &[ExcKind] = &[ExcKind::ValueError, ExcKind::OverflowError];
const OVERFLOW: &[ExcKind] = &[ExcKind::OverflowError];

macro_rules! comparisons {
    ($prefix:literal, $op:ident, $params:expr, $eval:ident) => {
        [
            core(concat!($prefix, ".eq"), "a==b", CoreOp::$op(Cmp::Eq), $params, bool, &[], |_, a| {
                eval::$eval(Cmp::Eq, a)
            }),
            core(concat!($prefix, ".ne"), "a!=b", CoreOp::$op(Cmp::Ne), $params, bool, &[], |_, a| {
                eval::$eval(Cmp::Ne, a)
            }),
            core(concat!($prefix, ".lt"), "a<b", CoreOp::$op(Cmp::Lt), $params, bool, &[], |_, a| {
                eval::$eval(Cmp::Lt, a)
            }),
            core(concat!($prefix, ".le"), "a<=b", CoreOp::$op(Cmp::Le), $params, bool, &[], |_, a| {
                eval::$eval(Cmp::Le, a)
            }),
            core(concat!($prefix, ".gt"), "a>b", CoreOp::$op(Cmp::Gt), $params, bool, &[], |_, a| {
                eval::$eval(Cmp::Gt, a)
            }),
            core(concat!($prefix, ".ge"), "a>=b", CoreOp::$op(Cmp::Ge), $params, bool, &[], |_, a| {
                eval::$eval(Cmp::Ge, a)
            }),
        ]
    };
}

static INT_COMPARISONS: [OpDef; 6] = comparisons!("int", IntCmp, INT2, int_cmp);
static FLOAT_COMPARISONS: [OpDef; 6] = comparisons!("float", FloatCmp, FLOAT2, float_cmp);

/// The operations of the core but comparisons.
static CORE: &[OpDef] = &[
    core("int.add", "a+b", CoreOp::IntAdd, INT2, int, &[], |_, a| eval::int2(a, |a, b| a + b)),
    core("int.sub", "a-b", CoreOp::IntSub, INT2, int, &[], |_, a| eval::int2(a, |a, b| a - b)),
    core("int.mul", "a*b", CoreOp::IntMul, INT2, int, &[], eval::int_mul),
    core("int.floordiv", "a//b", CoreOp::IntFloorDiv, INT2, int, ZERO_DIVISION, eval::int_floordiv),
    core("int.mod", "a%b", CoreOp::IntMod, INT2, int, ZERO_DIVISION, eval::int_mod),
    // Those of two bools stand before those of ints, which take bools too.
    core("bool.and", "a&b", CoreOp::BoolAnd, BOOL2, bool, &[], |_, a| eval::bool2(a, |a, b| a & b)),
    core("bool.or", "a|b", CoreOp::BoolOr, BOOL2, bool, &[], |_, a| eval::bool2(a, |a, b| a | b)),
    core("bool.xor", "a^b", CoreOp::BoolXor, BOOL2, bool, &[], |_, a| eval::bool2(a, |a, b| a ^ b)),
    core("int.and", "a&b", CoreOp::IntAnd, INT2, int, &[], |_, a| eval::int2(a, |a, b| a & b)),
    core("int.or", "a|b", CoreOp::IntOr, INT2, int, &[], |_, a| eval::int2(a, |a, b| a | b)),
    core("int.xor", "a^b", CoreOp::IntXor, INT2, int, &[], |_, a| eval::int2(a, |a, b| a ^ b)),
    core("int.shl", "a<<b", CoreOp::IntShl, INT2, int, SHIFT, eval::int_shl),
    core("int.shr", "a>>b", CoreOp::IntShr, INT2, int, VALUE, eval::int_shr),
    core("int.neg", "-a", CoreOp::IntNeg, INT1, int, &[], |_, a| eval::int1(a, |a| -a)),
    core("int.invert", "~a", CoreOp::IntInvert, INT1, int, &[], |_, a| eval::int1(a, |a| -a - 1)),
    core("int.pos", "+a", CoreOp::Identity, INT1, int, &[], eval::identity),
    core("float.pos", "+a", CoreOp::Identity, FLOAT1, float, &[], eval::identity),
    core("int.int", "int", CoreOp::Identity, INT1, int, &[], eval::identity),
    core("float.float", "float", CoreOp::Identity, NUM1, float, &[], eval::identity),
    core("str.str", "str", CoreOp::Identity, STR1, str, &[], eval::identity),
    core("bool.bool", "bool", CoreOp::Identity, BOOL1, bool, &[], eval::identity),
    core("int.bool", "bool", CoreOp::IntTruth, INT1, bool, &[], eval::int_truth),
    core("float.bool", "bool", CoreOp::FloatTruth, FLOAT1, bool, &[], eval::float_truth),
    core("str.bool", "bool", CoreOp::StrTruth, STR1, bool, &[], eval::str_truth),
    with_effect(
        core("list.bool", "bool", CoreOp::ListTruth, LIST1, bool, &[], eval::list_truth),
        Effect::Read,
        false,
    ),
    core("bool.truth", "truth", CoreOp::Identity, BOOL1, bool, &[], eval::identity),
    core("int.truth", "truth", CoreOp::IntTruth, INT1, bool, &[], eval::int_truth),
    core("float.truth", "truth", CoreOp::FloatTruth, FLOAT1, bool, &[], eval::float_truth),
    core("str.truth", "truth", CoreOp::StrTruth, STR1, bool, &[], eval::str_truth),
    with_effect(
        core("list.truth", "truth", CoreOp::ListTruth, LIST1, bool, &[], eval::list_truth),
        Effect::Read,
        false,
    ),
    core("int.round", "round", CoreOp::Identity, INT1, int, &[], eval::identity),
    core("int.round_none", "round", CoreOp::Identity, INT_NONE, int, &[], eval::identity),
    core("int.floor", "math.floor", CoreOp::Identity, INT1, int, &[], eval::identity),
    core("int.ceil", "math.ceil", CoreOp::Identity, INT1, int, &[], eval::identity),
    core("int.trunc", "math.trunc", CoreOp::Identity, INT1, int, &[], eval::identity),
    core("int.abs", "abs", CoreOp::IntAbs, INT1, int, &[], |_, a| {
        eval::int1(a, |a| if a.sign() == num_bigint::Sign::Minus { -a } else { a })
    }),
    core("int.to_float", "", CoreOp::IntToFloat, INT1, float, OVERFLOW, eval::int_to_float),
    core("bool.to_int", "", CoreOp::BoolToInt, BOOL1, int, &[], eval::bool_to_int),
    core("bool.not", "", CoreOp::BoolNot, BOOL1, bool, &[], eval::bool_not),
    core("float.add", "a+b", CoreOp::FloatAdd, NUM2, float, &[], |_, a| eval::float2(a, |a, b| a + b)),
    core("float.sub", "a-b", CoreOp::FloatSub, NUM2, float, &[], |_, a| eval::float2(a, |a, b| a - b)),
    core("float.mul", "a*b", CoreOp::FloatMul, NUM2, float, &[], |_, a| eval::float2(a, |a, b| a * b)),
    core("int.truediv", "a/b", CoreOp::IntTrueDiv, INT2, float, DIVISION, eval::int_truediv),
    core("float.div", "a/b", CoreOp::FloatDiv, NUM2, float, ZERO_DIVISION, eval::float_div),
    core("float.neg", "-a", CoreOp::FloatNeg, FLOAT1, float, &[], |_, a| eval::float1(a, |a| -a)),
    core("float.abs", "abs", CoreOp::FloatAbs, FLOAT1, float, &[], |_, a| eval::float1(a, f64::abs)),
    core("math.sqrt", "math.sqrt", CoreOp::FloatSqrt, &[p("_x", Kind::Number)], float, VALUE, eval::float_sqrt),
    core("str.eq", "a==b", CoreOp::StrEq, &[p("_a", Kind::Str), p("_b", Kind::Str)], bool, &[], eval::str_eq),
    core("str.len", "len", CoreOp::StrLen, STR1, int, &[], eval::str_len),
    core("str.byte_len", "", CoreOp::StrByteLen, STR1, int, &[], eval::str_byte_len),
    with_effect(
        core("list.len", "len", CoreOp::ListLen, &[p("_x", Kind::List)], int, &[], eval::list_len),
        Effect::Read,
        false,
    ),
    with_effect(
        core(
            "list.get",
            "a[b]",
            CoreOp::ListGet,
            &[p("_x", Kind::List), p("_i", Kind::Int)],
            element,
            INDEX,
            eval::list_get,
        ),
        Effect::Read,
        false,
    ),
    with_effect(
        core(
            "list.get_unchecked",
            "",
            CoreOp::ListGetUnchecked,
            &[p("_x", Kind::List), p("_i", Kind::Int)],
            element,
            &[],
            eval::list_get,
        ),
        Effect::Read,
        false,
    ),
    with_effect(
        core(
            "list.set",
            "a[b]=c",
            CoreOp::ListSet,
            &[p("_x", Kind::List), p("_i", Kind::Int), p("_v", Kind::Any)],
            none,
            INDEX,
            eval::list_set,
        ),
        Effect::Write,
        false,
    ),
    with_effect(
        core(
            "list.append",
            ".append",
            CoreOp::ListAppend,
            &[p("_x", Kind::List), p("_v", Kind::Any)],
            none,
            &[],
            eval::list_append,
        ),
        Effect::Write,
        true,
    ),
    with_effect(
        core("list.pop", ".pop", CoreOp::ListPop, &[p("_x", Kind::List)], element, INDEX, eval::list_pop),
        Effect::Write,
        false,
    ),
    with_effect(
        core(
            "list.slice",
            "a[b:c]",
            CoreOp::ListSlice,
            &[
                p("_x", Kind::List),
                Param { default: Some(Default::Int(0)), ..p("_start", Kind::Index) },
                Param { default: Some(Default::Int(i64::MAX)), ..p("_stop", Kind::Index) },
            ],
            first,
            &[],
            eval::list_slice,
        ),
        Effect::Alloc,
        true,
    ),
    core("dict.find", "", CoreOp::DictFind, &[p("_d", Kind::Any), p("_key", Kind::Any)], int, &[], eval::dict_find),
    core(
        "dict.value",
        "",
        CoreOp::DictValue,
        &[p("_d", Kind::Any), p("_at", Kind::Int)],
        dict_value,
        &[],
        eval::dict_value,
    ),
    with_effect(core("result.reject", "", CoreOp::Reject, &[p("_type", Kind::Str), p("_value", Kind::Any)], none, &[], eval::reject), Effect::Pure, true),
    core("exc.message", "str", CoreOp::ExcMessage, &[p("_e", Kind::Exc)], str, &[], eval::exc_message),
];

/// Every core operation.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    CORE.iter().chain(&INT_COMPARISONS).chain(&FLOAT_COMPARISONS)
}
