//! The definitions of the core's operations: a row for each.

use super::{Cmp, CoreOp, Ieee, eval};
use crate::cx::Cx;
use crate::def::{Bails, Body, Default, Effect, Kind, OpDef, Param};
use exuvia_ir::{ExcKind, Object, Raise, Type};

const fn p(name: &'static str, kind: Kind) -> Param {
    Param { name, kind, default: None, keyword_only: false }
}

const INT1: &[Param] = &[p("_a", Kind::Int)];
const INT2: &[Param] = &[p("_a", Kind::Int), p("_b", Kind::Int)];
const BOOL1: &[Param] = &[p("_a", Kind::Bool)];
const BOOL2: &[Param] = &[p("_a", Kind::Bool), p("_b", Kind::Bool)];
const STR2: &[Param] = &[p("_a", Kind::Str), p("_b", Kind::Str)];
const STR1: &[Param] = &[p("_s", Kind::Str)];
const INT_NONE: &[Param] = &[p("_a", Kind::Int), p("ndigits", Kind::None)];
const LIST1: &[Param] = &[p("_x", Kind::List)];
const NUM1: &[Param] = &[p("_a", Kind::Number)];
const FLOAT1: &[Param] = &[p("_a", Kind::Float)];
/// Arithmetic with a float converts the other operand; two ints never come here because
/// the int operations stand before these in the table.
const NUM2: &[Param] = &[p("_a", Kind::Number), p("_b", Kind::Number)];
const FLOAT2: &[Param] = &[p("_a", Kind::Float), p("_b", Kind::Float)];

/// A core operation that neither bails out nor touches memory.
#[expect(clippy::too_many_arguments, reason = "one argument a field: a row of a table")]
const fn core(
    name: &'static str,
    spelling: &'static str,
    doc: &'static str,
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
        bails: Bails::Never,
        effect: Effect::Pure,
        residue: None,
        doc,
        body: Body::Core(op),
        eval,
        strip: None,
    }
}

const fn find(
    name: &'static str,
    doc: &'static str,
    op: CoreOp,
    eval: fn(&mut Cx, &[Object]) -> Result<Object, Raise>,
) -> OpDef {
    const PARAMS: &[Param] = &[
        p("_index", Kind::IntList),
        p("_hashes", Kind::IntList),
        p("_keys", Kind::KeyList),
        p("_key", Kind::Key),
        p("_hash", Kind::Int),
    ];
    with_effect(core(name, "", doc, op, PARAMS, int, &[], eval), Effect::Read, Bails::Never)
}

const fn ieee(
    name: &'static str,
    doc: &'static str,
    op: Ieee,
    eval: fn(&mut Cx, &[Object]) -> Result<Object, Raise>,
) -> OpDef {
    core(name, "", doc, CoreOp::Ieee(op), FLOAT1, float, &[], eval)
}

const fn with_effect(mut def: OpDef, effect: Effect, bails: Bails) -> OpDef {
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
    ($prefix:literal $op:ident $params:ident $eval:ident $($name:literal $spelling:literal $cmp:ident $doc:literal),*) => {
        [$(core(concat!($prefix, $name), $spelling, $doc, CoreOp::$op(Cmp::$cmp), $params, bool, &[], |_, a| {
            eval::$eval(Cmp::$cmp, a)
        })),*]
    };
}

static INT_COMPARISONS: [OpDef; 6] = comparisons! {
    "int" IntCmp INT2 int_cmp
    ".eq" "a==b" Eq "Whether the ints are equal.\n\n>>> 2 == 3\nFalse",
    ".ne" "a!=b" Ne "Whether the ints differ.\n\n>>> 2 != 3\nTrue",
    ".lt" "a<b" Lt "Whether the first int is less.\n\n>>> 2 < 3\nTrue",
    ".le" "a<=b" Le "Whether the first int is not greater.\n\n>>> 3 <= 3\nTrue",
    ".gt" "a>b" Gt "Whether the first int is greater.\n\n>>> 2 > 3\nFalse",
    ".ge" "a>=b" Ge "Whether the first int is not less.\n\n>>> 2 >= 3\nFalse"
};
static FLOAT_COMPARISONS: [OpDef; 6] = comparisons! {
    "float" FloatCmp FLOAT2 float_cmp
    ".eq" "a==b" Eq "Whether the floats are equal; NaN equals nothing.\n\n>>> 0.0 == -0.0\nTrue",
    ".ne" "a!=b" Ne "Whether the floats differ.\n\n>>> 1.5 != 1.5\nFalse",
    ".lt" "a<b" Lt "Whether the first float is less.\n\n>>> 1.5 < 2.5\nTrue",
    ".le" "a<=b" Le "Whether the first float is less or equal.\n\n>>> 2.5 <= 2.5\nTrue",
    ".gt" "a>b" Gt "Whether the first float is greater.\n\n>>> 1.5 > 2.5\nFalse",
    ".ge" "a>=b" Ge "Whether the first float is greater or equal.\n\n>>> 1.5 >= 2.5\nFalse"
};

/// The operations of the core but comparisons.
static CORE: &[OpDef] = &[
    core("int.add", "a+b", "The sum.\n\n>>> 2 + 3\n5", CoreOp::IntAdd, INT2, int, &[], |_, a| {
        eval::int2(a, |a, b| a + b)
    }),
    core("int.sub", "a-b", "The difference.\n\n>>> 2 - 3\n-1", CoreOp::IntSub, INT2, int, &[], |_, a| {
        eval::int2(a, |a, b| a - b)
    }),
    core(
        "int.mul",
        "a*b",
        "The product.\n\n>>> 2**40 * 2**40\n1208925819614629174706176",
        CoreOp::IntMul,
        INT2,
        int,
        &[],
        eval::int_mul,
    ),
    core(
        "int.floordiv",
        "a//b",
        "The floor of the quotient.\n\n>>> -7 // 2\n-4",
        CoreOp::IntFloorDiv,
        INT2,
        int,
        ZERO_DIVISION,
        eval::int_floordiv,
    ),
    core(
        "int.mod",
        "a%b",
        "The remainder, with the sign of the divisor.\n\n>>> -7 % 3\n2",
        CoreOp::IntMod,
        INT2,
        int,
        ZERO_DIVISION,
        eval::int_mod,
    ),
    // Those of two bools stand before those of ints, which take bools too.
    core(
        "bool.and",
        "a&b",
        "Whether both hold.\n\n>>> True & False\nFalse",
        CoreOp::BoolAnd,
        BOOL2,
        bool,
        &[],
        |_, a| eval::bool2(a, |a, b| a & b),
    ),
    core("bool.or", "a|b", "Whether one holds.\n\n>>> True | False\nTrue", CoreOp::BoolOr, BOOL2, bool, &[], |_, a| {
        eval::bool2(a, |a, b| a | b)
    }),
    core(
        "bool.xor",
        "a^b",
        "Whether exactly one holds.\n\n>>> True ^ True\nFalse",
        CoreOp::BoolXor,
        BOOL2,
        bool,
        &[],
        |_, a| eval::bool2(a, |a, b| a ^ b),
    ),
    core("int.and", "a&b", "The bits that both have.\n\n>>> 12 & 10\n8", CoreOp::IntAnd, INT2, int, &[], |_, a| {
        eval::int2(a, |a, b| a & b)
    }),
    core("int.or", "a|b", "The bits that one has.\n\n>>> 12 | 10\n14", CoreOp::IntOr, INT2, int, &[], |_, a| {
        eval::int2(a, |a, b| a | b)
    }),
    core(
        "int.xor",
        "a^b",
        "The bits that exactly one has.\n\n>>> 12 ^ 10\n6",
        CoreOp::IntXor,
        INT2,
        int,
        &[],
        |_, a| eval::int2(a, |a, b| a ^ b),
    ),
    core(
        "int.shl",
        "a<<b",
        "The product with a power of two.\n\n>>> 3 << 70\n3541774862152233910272",
        CoreOp::IntShl,
        INT2,
        int,
        SHIFT,
        eval::int_shl,
    ),
    core(
        "int.shr",
        "a>>b",
        "The floor of the quotient by a power of two.\n\n>>> -5 >> 1\n-3",
        CoreOp::IntShr,
        INT2,
        int,
        VALUE,
        eval::int_shr,
    ),
    core(
        "int.neg",
        "-a",
        "The negation.\n\n>>> -(2**63)\n-9223372036854775808",
        CoreOp::IntNeg,
        INT1,
        int,
        &[],
        |_, a| eval::int1(a, |a| -a),
    ),
    core("int.invert", "~a", "All bits turned: `-x - 1`.\n\n>>> ~5\n-6", CoreOp::IntInvert, INT1, int, &[], |_, a| {
        eval::int1(a, |a| -a - 1)
    }),
    core("int.pos", "+a", "The number itself.\n\n>>> +True\n1", CoreOp::Identity, INT1, int, &[], eval::identity),
    core(
        "float.pos",
        "+a",
        "The number itself.\n\n>>> +1.5\n1.5",
        CoreOp::Identity,
        FLOAT1,
        float,
        &[],
        eval::identity,
    ),
    core(
        "int.int",
        "int",
        "The int itself; a bool as an int.\n\n>>> int(True)\n1",
        CoreOp::Identity,
        INT1,
        int,
        &[],
        eval::identity,
    ),
    core(
        "float.float",
        "float",
        "The nearest float.\n\n>>> float(3)\n3.0",
        CoreOp::Identity,
        NUM1,
        float,
        &[],
        eval::identity,
    ),
    core("str.str", "str", "The string itself.\n\n>>> str('a')\n'a'", CoreOp::Identity, STR1, str, &[], eval::identity),
    core(
        "bool.bool",
        "bool",
        "The bool itself.\n\n>>> bool(True)\nTrue",
        CoreOp::Identity,
        BOOL1,
        bool,
        &[],
        eval::identity,
    ),
    core(
        "int.bool",
        "bool",
        "Whether it is not zero.\n\n>>> bool(0)\nFalse",
        CoreOp::IntTruth,
        INT1,
        bool,
        &[],
        eval::int_truth,
    ),
    core(
        "float.bool",
        "bool",
        "Whether it is not zero; NaN is true.\n\n>>> bool(-0.0)\nFalse",
        CoreOp::FloatTruth,
        FLOAT1,
        bool,
        &[],
        eval::float_truth,
    ),
    core(
        "str.bool",
        "bool",
        "Whether it is not empty.\n\n>>> bool('')\nFalse",
        CoreOp::StrTruth,
        STR1,
        bool,
        &[],
        eval::str_truth,
    ),
    with_effect(
        core(
            "list.bool",
            "bool",
            "Whether it is not empty.\n\n>>> bool([0])\nTrue",
            CoreOp::ListTruth,
            LIST1,
            bool,
            &[],
            eval::list_truth,
        ),
        Effect::Read,
        Bails::Never,
    ),
    core(
        "bool.truth",
        "truth",
        "The bool itself.\n\n>>> bool(True)\nTrue",
        CoreOp::Identity,
        BOOL1,
        bool,
        &[],
        eval::identity,
    ),
    core(
        "int.truth",
        "truth",
        "Whether it is not zero.\n\n>>> bool(2)\nTrue",
        CoreOp::IntTruth,
        INT1,
        bool,
        &[],
        eval::int_truth,
    ),
    core(
        "float.truth",
        "truth",
        "Whether it is not zero; NaN is true.\n\n>>> bool(0.5)\nTrue",
        CoreOp::FloatTruth,
        FLOAT1,
        bool,
        &[],
        eval::float_truth,
    ),
    core(
        "str.truth",
        "truth",
        "Whether it is not empty.\n\n>>> bool(' ')\nTrue",
        CoreOp::StrTruth,
        STR1,
        bool,
        &[],
        eval::str_truth,
    ),
    with_effect(
        core(
            "list.truth",
            "truth",
            "Whether it is not empty.\n\n>>> bool([])\nFalse",
            CoreOp::ListTruth,
            LIST1,
            bool,
            &[],
            eval::list_truth,
        ),
        Effect::Read,
        Bails::Never,
    ),
    core("int.round", "round", "The int itself.\n\n>>> round(5)\n5", CoreOp::Identity, INT1, int, &[], eval::identity),
    core(
        "int.round_none",
        "round",
        "The int itself.\n\n>>> round(5, None)\n5",
        CoreOp::Identity,
        INT_NONE,
        int,
        &[],
        eval::identity,
    ),
    core(
        "int.floor",
        "math.floor",
        "The int itself.\n\n>>> math.floor(5)\n5",
        CoreOp::Identity,
        INT1,
        int,
        &[],
        eval::identity,
    ),
    core(
        "int.ceil",
        "math.ceil",
        "The int itself.\n\n>>> math.ceil(5)\n5",
        CoreOp::Identity,
        INT1,
        int,
        &[],
        eval::identity,
    ),
    core(
        "int.trunc",
        "math.trunc",
        "The int itself.\n\n>>> math.trunc(5)\n5",
        CoreOp::Identity,
        INT1,
        int,
        &[],
        eval::identity,
    ),
    core("int.abs", "abs", "The absolute value.\n\n>>> abs(-5)\n5", CoreOp::IntAbs, INT1, int, &[], |_, a| {
        eval::int1(a, |a| if a.sign() == num_bigint::Sign::Minus { -a } else { a })
    }),
    core(
        "int.to_float",
        "",
        "The nearest float, ties to even.",
        CoreOp::IntToFloat,
        INT1,
        float,
        OVERFLOW,
        eval::int_to_float,
    ),
    core("bool.to_int", "", "0 or 1.", CoreOp::BoolToInt, BOOL1, int, &[], eval::bool_to_int),
    core("bool.not", "", "The opposite.", CoreOp::BoolNot, BOOL1, bool, &[], eval::bool_not),
    core(
        "float.add",
        "a+b",
        "The sum.\n\n>>> 0.1 + 0.2\n0.30000000000000004",
        CoreOp::FloatAdd,
        NUM2,
        float,
        &[],
        |_, a| eval::float2(a, |a, b| a + b),
    ),
    core("float.sub", "a-b", "The difference.\n\n>>> 1 - 0.5\n0.5", CoreOp::FloatSub, NUM2, float, &[], |_, a| {
        eval::float2(a, |a, b| a - b)
    }),
    core("float.mul", "a*b", "The product.\n\n>>> 1.5 * 2\n3.0", CoreOp::FloatMul, NUM2, float, &[], |_, a| {
        eval::float2(a, |a, b| a * b)
    }),
    core(
        "int.truediv",
        "a/b",
        "The quotient, correctly rounded.\n\n>>> 7 / 2\n3.5",
        CoreOp::IntTrueDiv,
        INT2,
        float,
        DIVISION,
        eval::int_truediv,
    ),
    core(
        "float.div",
        "a/b",
        "The quotient.\n\n>>> 1 / 0.5\n2.0",
        CoreOp::FloatDiv,
        NUM2,
        float,
        ZERO_DIVISION,
        eval::float_div,
    ),
    core("float.neg", "-a", "The negation.\n\n>>> -0.0\n-0.0", CoreOp::FloatNeg, FLOAT1, float, &[], |_, a| {
        eval::float1(a, |a| -a)
    }),
    core(
        "float.abs",
        "abs",
        "The absolute value.\n\n>>> abs(-1.5)\n1.5",
        CoreOp::FloatAbs,
        FLOAT1,
        float,
        &[],
        |_, a| eval::float1(a, f64::abs),
    ),
    core(
        "math.sqrt",
        "math.sqrt",
        "The square root.\n\n>>> math.sqrt(2)\n1.4142135623730951",
        CoreOp::FloatSqrt,
        &[p("_x", Kind::Number)],
        float,
        VALUE,
        eval::float_sqrt,
    ),
    core(
        "ieee.div",
        "",
        "The quotient; infinite or NaN by zero.",
        CoreOp::Ieee(Ieee::Div),
        FLOAT2,
        float,
        &[],
        |_, a| eval::float2(a, |a, b| a / b),
    ),
    ieee("ieee.sqrt", "The square root, NaN of a negative float.", Ieee::Sqrt, |_, a| eval::float1(a, f64::sqrt)),
    ieee("ieee.floor", "The greatest whole float that is not greater.", Ieee::Floor, |_, a| {
        eval::float1(a, f64::floor)
    }),
    ieee("ieee.ceil", "The least whole float that is not less.", Ieee::Ceil, |_, a| eval::float1(a, f64::ceil)),
    ieee("ieee.trunc", "The whole float next to it towards zero.", Ieee::Trunc, |_, a| eval::float1(a, f64::trunc)),
    ieee("ieee.nearest", "The nearest whole float, ties to even.", Ieee::Nearest, |_, a| {
        eval::float1(a, f64::round_ties_even)
    }),
    core(
        "str.eq",
        "a==b",
        "Whether the strings are equal.\n\n>>> 'a' == 'A'\nFalse",
        CoreOp::StrEq,
        STR2,
        bool,
        &[],
        eval::str_eq,
    ),
    core(
        "str.ne",
        "a!=b",
        "Whether the strings differ.\n\n>>> 'a' != 'A'\nTrue",
        CoreOp::StrNe,
        STR2,
        bool,
        &[],
        eval::str_ne,
    ),
    core(
        "str.len",
        "len",
        "The number of code points.\n\n>>> len('naïve')\n5",
        CoreOp::StrLen,
        STR1,
        int,
        &[],
        eval::str_len,
    ),
    core("str.byte_len", "", "The number of bytes in UTF-8.", CoreOp::StrByteLen, STR1, int, &[], eval::str_byte_len),
    with_effect(
        core(
            "list.len",
            "len",
            "The number of elements.\n\n>>> len([1, 2])\n2",
            CoreOp::ListLen,
            &[p("_x", Kind::List)],
            int,
            &[],
            eval::list_len,
        ),
        Effect::Read,
        Bails::Never,
    ),
    core(
        "list.is",
        "",
        "Whether the lists are one object.",
        CoreOp::ListIs,
        &[p("_x", Kind::List), p("_y", Kind::List)],
        bool,
        &[],
        eval::list_is,
    ),
    core(
        "list.identity",
        "",
        "A number that no other list has as long as this one exists: its address.",
        CoreOp::ListIdentity,
        &[p("_x", Kind::List)],
        int,
        &[],
        eval::list_identity,
    ),
    with_effect(
        core(
            "list.get",
            "a[b]",
            "The element at an index, which may be negative.\n\n>>> [1, 2, 3][-1]\n3",
            CoreOp::ListGet,
            &[p("_x", Kind::List), p("_i", Kind::Int)],
            element,
            INDEX,
            eval::list_get,
        ),
        Effect::Read,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.get_unchecked",
            "",
            "The element at an index that is known to be within the list.",
            CoreOp::ListGetUnchecked,
            &[p("_x", Kind::List), p("_i", Kind::Int)],
            element,
            &[],
            eval::list_get,
        ),
        Effect::Read,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.set",
            "a[b]=c",
            "Replaces the element at an index, which may be negative.",
            CoreOp::ListSet,
            &[p("_x", Kind::List), p("_i", Kind::Int), p("_v", Kind::Any)],
            none,
            INDEX,
            eval::list_set,
        ),
        Effect::Store,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.append",
            ".append",
            "Appends an element.",
            CoreOp::ListAppend,
            &[p("_x", Kind::List), p("_v", Kind::Any)],
            none,
            &[],
            eval::list_append,
        ),
        Effect::Write,
        Bails::Memory,
    ),
    with_effect(
        core(
            "list.reserve",
            "",
            "Makes room for so many elements more, where there is memory for them.",
            CoreOp::ListReserve,
            &[p("_x", Kind::List), p("_n", Kind::Int)],
            none,
            &[],
            eval::list_reserve,
        ),
        Effect::Write,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.extend",
            "",
            "Appends the elements that another list of the same type has now, so many times; not at all below one.",
            CoreOp::ListExtend,
            &[p("_x", Kind::List), p("_other", Kind::List), p("_times", Kind::Int)],
            none,
            &[],
            eval::list_extend,
        ),
        Effect::Write,
        Bails::Memory,
    ),
    with_effect(
        core(
            "list.pop",
            ".pop",
            "Removes the last element and returns it.\n\n>>> [1, 2].pop()\n2",
            CoreOp::ListPop,
            &[p("_x", Kind::List)],
            element,
            INDEX,
            eval::list_pop,
        ),
        Effect::Write,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.rotate",
            "",
            "Moves the elements from one index to another, both included, to the left by so many places; those that \
             leave at the one end enter at the other.",
            CoreOp::ListRotate,
            &[p("_x", Kind::List), p("_first", Kind::Int), p("_last", Kind::Int), p("_by", Kind::Int)],
            none,
            INDEX,
            eval::list_rotate,
        ),
        Effect::Store,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.reverse",
            "",
            "Turns the order of the elements from one index to another round, both included.",
            CoreOp::ListReverse,
            &[p("_x", Kind::List), p("_first", Kind::Int), p("_last", Kind::Int)],
            none,
            INDEX,
            eval::list_reverse,
        ),
        Effect::Store,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.compact",
            "",
            "Removes the elements at whose positions a list of hashes, which may be the list itself, has -1.",
            CoreOp::ListCompact,
            &[p("_x", Kind::List), p("_hashes", Kind::IntList)],
            none,
            &[],
            eval::list_compact,
        ),
        Effect::Write,
        Bails::Never,
    ),
    with_effect(
        core(
            "list.sort_by",
            "",
            "Puts the elements in the order of the keys at their positions, of which there may be fewer: those of equal \
             keys stay in their order, also in the reverse. The keys may be the list itself, and stay as they are if not. \
             With NaN the order depends on how CPython happens to compare: it bails out.",
            CoreOp::ListSortBy,
            &[p("_x", Kind::List), p("_keys", Kind::OrderedList), p("_reverse", Kind::Bool)],
            none,
            &[],
            eval::list_sort_by,
        ),
        Effect::Store,
        Bails::Operands,
    ),
    find(
        "hash.find",
        "The position of the entry of a key in a table that `hash.table` or `hash.grown` made: where the hashes have its \
         hash and the keys have it. Where there is none, -1 less the place for it in the table.",
        CoreOp::HashFind,
        eval::hash_find,
    ),
    find(
        "set.find",
        "As `hash.find`, in a table that `set.table` made, in the order in which CPython looks (set_add_entry); the place \
         is the last one on the way that a member was removed from, or the free one at its end.",
        CoreOp::SetFind,
        eval::set_find,
    ),
    with_effect(
        core(
            "list.stride",
            "",
            "A new list of so many elements from an index on, by a step; all must lie within the list.",
            CoreOp::ListStride,
            &[p("_x", Kind::List), p("_start", Kind::Int), p("_step", Kind::Int), p("_count", Kind::Int)],
            first,
            &[],
            eval::list_stride,
        ),
        Effect::Alloc,
        Bails::Memory,
    ),
    with_effect(
        core(
            "list.concat",
            "",
            "A new list of the elements of two of the same type.",
            CoreOp::ListConcat,
            &[p("_x", Kind::List), p("_other", Kind::List)],
            first,
            &[],
            eval::list_concat,
        ),
        Effect::Alloc,
        Bails::Memory,
    ),
    with_effect(
        core(
            "list.slice",
            "a[b:c]",
            "A new list of the elements between two indices, clamped to the list.\n\n>>> [1, 2, 3][1:]\n[2, 3]",
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
        Bails::Memory,
    ),
    core(
        "dict.find",
        "",
        "The position of a key, or -1.",
        CoreOp::DictFind,
        &[p("_d", Kind::Any), p("_key", Kind::Any)],
        int,
        &[],
        eval::dict_find,
    ),
    core(
        "dict.value",
        "",
        "The value at a position.",
        CoreOp::DictValue,
        &[p("_d", Kind::Any), p("_at", Kind::Int)],
        dict_value,
        &[],
        eval::dict_value,
    ),
    with_effect(
        core(
            "result.reject",
            "",
            "Reports a result that the SQL type cannot hold.",
            CoreOp::Reject,
            &[p("_type", Kind::Str), p("_value", Kind::Any)],
            none,
            &[],
            eval::reject,
        ),
        Effect::Pure,
        Bails::Operands,
    ),
    with_effect(
        core(
            "int.fits",
            "",
            "The int itself, if it has no more than 64 bits.",
            CoreOp::IntFits,
            INT1,
            int,
            &[],
            eval::int_fits,
        ),
        Effect::Pure,
        Bails::Range,
    ),
    core(
        "exc.code",
        "",
        "The number of a caught exception's class.",
        CoreOp::ExcCode,
        &[p("_e", Kind::Exc)],
        int,
        &[],
        eval::exc_code,
    ),
    core(
        "exc.message",
        "str",
        "The text of a caught exception.\n\n>>> str(ValueError('no'))\n'no'",
        CoreOp::ExcMessage,
        &[p("_e", Kind::Exc)],
        str,
        &[],
        eval::exc_message,
    ),
];

/// Every core operation.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    CORE.iter().chain(&INT_COMPARISONS).chain(&FLOAT_COMPARISONS)
}
