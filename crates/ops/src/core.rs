//! The closed core: instructions that every back end knows how to emit.
//!
//! Integer instructions here compute with unbounded integers; a native back end uses
//! 64 bits and leaves the fast path where a result does not fit. Here is which instructions there are, and
//! what passes ask of them; their definitions as operations are `table.rs`, their meaning is `eval.rs`.

mod eval;
mod table;

pub use eval::{float_equal, float_near};
pub(crate) use eval::{nearest_float, nearest_quotient, nearest_wide_quotient};
pub use table::all;

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

impl Cmp {
    /// Whether it holds between two values.
    #[must_use]
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::Gt => a > b,
            Cmp::Ge => a >= b,
        }
    }

    /// All of them.
    pub const ALL: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];

    /// What the names of the operations that compare end with.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cmp::Eq => "eq",
            Cmp::Ne => "ne",
            Cmp::Lt => "lt",
            Cmp::Le => "le",
            Cmp::Gt => "gt",
            Cmp::Ge => "ge",
        }
    }

    /// The comparison of an int with a float that an operation is, and which of its operands is the int.
    #[must_use]
    pub fn of_int_and_float(operation: &str) -> Option<(usize, Cmp)> {
        let (class, name) = operation.split_once('.')?;
        let int = ["int_float", "float_int"].iter().position(|known| *known == class)?;
        Some((int, Cmp::ALL.into_iter().find(|cmp| cmp.name() == name)?))
    }

    /// What holds between `b` and `a` where this holds between `a` and `b`.
    #[must_use]
    pub fn mirrored(self) -> Cmp {
        match self {
            Cmp::Eq => Cmp::Eq,
            Cmp::Ne => Cmp::Ne,
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
        }
    }
}

/// What IEEE 754 says of floats where Python's operations raise or give ints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ieee {
    /// Quotient.
    Div,
    /// Square root.
    Sqrt,
    /// The greatest whole float that is not greater.
    Floor,
    /// The least whole float that is not less.
    Ceil,
    /// The whole float next to it towards zero.
    Trunc,
    /// The nearest whole float, ties to even.
    Nearest,
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
    /// Operation of floats that raises nothing.
    Ieee(Ieee),
    /// Comparison of two floats.
    FloatCmp(Cmp),
    /// Equality of two strings.
    StrEq,
    /// Inequality of two strings.
    StrNe,
    /// Length of a string in code points.
    StrLen,
    /// Length of a string in bytes of its UTF-8.
    StrByteLen,
    /// The number of elements of a list.
    ListLen,
    /// Whether two lists are one object.
    ListIs,
    /// A number that no other list of a row has.
    ListIdentity,
    /// Element of a list by an index that may be negative; raises `IndexError`.
    ListGet,
    /// Element of a list by an index known to lie within it.
    ListGetUnchecked,
    /// Replaces an element; raises `IndexError`.
    ListSet,
    /// Appends an element.
    ListAppend,
    /// Makes room for so many elements more.
    ListReserve,
    /// Appends the elements of another list of the same type, which may be the list itself, so many times.
    ListExtend,
    /// Removes the last element and returns it; raises `IndexError`.
    ListPop,
    /// Moves the elements from one index to another by so many places, within themselves. Raises `IndexError`.
    ListRotate,
    /// Turns the order of the elements from one index to another round. Raises `IndexError`.
    ListReverse,
    /// Removes the elements at whose positions another list has -1.
    ListCompact,
    /// Sorts elements by keys.
    ListSortBy,
    /// A new list of the elements from one index to another, clamped as slices are.
    ListSlice,
    /// A new list of so many elements from one index on, by a step, all within the list.
    ListStride,
    /// A new list of the elements of two.
    ListConcat,
    /// The position of a key among those of a dict that is made at run time.
    HashFind,
    /// The position of a member in the table of a set that is made at run time.
    SetFind,
    /// The position of a key in a constant dict or set, or -1.
    DictFind,
    /// The value of a constant dict at a position from [`CoreOp::DictFind`].
    DictValue,
    /// The message of a caught exception, `str(e)`. Native code bails out.
    ExcMessage,
    /// The number of a caught exception's class.
    ExcCode,
    /// Fails because the handler returned a value (the second operand) that the SQL type
    /// (the first, its name) cannot hold. Native code bails out.
    Reject,
    /// The operand, an int that must have no more than 64 bits; bails out if it has more.
    IntFits,
}

impl CoreOp {
    /// Whether it gives a new list of elements of lists that it is given.
    #[must_use]
    pub fn copies_lists(self) -> bool {
        matches!(self, CoreOp::ListSlice | CoreOp::ListStride | CoreOp::ListConcat)
    }

    /// Whether it takes the longer the more elements or characters its operands have.
    #[must_use]
    pub fn looks_through(self) -> bool {
        use CoreOp::{
            DictFind, HashFind, ListCompact, ListExtend, ListReserve, ListReverse, ListRotate, ListSortBy, SetFind,
            StrEq, StrLen, StrNe,
        };
        let of_texts = matches!(self, StrEq | StrNe | StrLen | DictFind | HashFind | SetFind);
        let moves = matches!(self, ListReserve | ListExtend | ListRotate | ListReverse | ListCompact | ListSortBy);
        of_texts || moves || self.copies_lists()
    }

    /// Whether it is an instruction of the machine that never leaves, whatever it is given, so that it may be
    /// done where nobody needs it.
    #[must_use]
    pub fn only_computes(self) -> bool {
        use CoreOp::{
            BoolAnd, BoolNot, BoolOr, BoolToInt, BoolXor, FloatAbs, FloatCmp, FloatNeg, FloatTruth, IntCmp, IntTruth,
        };
        let of_bools = matches!(self, BoolToInt | BoolAnd | BoolOr | BoolXor | BoolNot);
        let of_floats = matches!(self, FloatNeg | FloatAbs | FloatCmp(_) | FloatTruth);
        of_bools || of_floats || self.is_bitwise() || matches!(self, IntCmp(_) | IntTruth)
    }

    /// Whether ints of 64 bits can give one that needs more.
    #[must_use]
    pub fn may_outgrow(self) -> bool {
        use CoreOp::{IntAbs, IntAdd, IntFloorDiv, IntMul, IntNeg, IntShl, IntSub};
        matches!(self, IntAdd | IntSub | IntMul | IntFloorDiv | IntNeg | IntAbs | IntShl)
    }

    /// Whether it is one of those of a ring, which remainders keep: a sum's is that of the sum of the
    /// remainders.
    #[must_use]
    pub fn is_ring(self) -> bool {
        matches!(self, CoreOp::IntAdd | CoreOp::IntSub | CoreOp::IntMul | CoreOp::IntNeg)
    }

    /// Whether each bit of its result depends on the same bits of its operands alone.
    #[must_use]
    pub fn is_bitwise(self) -> bool {
        matches!(self, CoreOp::IntAnd | CoreOp::IntOr | CoreOp::IntXor | CoreOp::IntInvert)
    }

    /// Whether it makes of ints an int that may need as many bits as they do.
    #[must_use]
    pub fn gives_int_of_ints(self) -> bool {
        use CoreOp::{Identity, IntAbs, IntFloorDiv, IntMod, IntShl, IntShr};
        let other = matches!(self, IntAbs | IntFloorDiv | IntMod | IntShl | IntShr | Identity);
        self.is_ring() || self.is_bitwise() || other
    }
}
