//! How one operation is defined.
//!
//! An [`OpDef`] says everything about an operation in one place: its name, how Python
//! spells it, its types, what it raises, its documentation with an example, and its
//! body. The [`op!`](crate::op!) macro makes one from a Rust function and generates the
//! two adapters by which it is called: from native code (words in registers, a status
//! as result, unwinding caught) and from the evaluator and the folder (boxed objects).

use crate::core::CoreOp;
use crate::cx::Cx;
use crate::math::strip::Strip;
use exuvia_ir::{ExcKind, Object, Raise, Type};

/// An operation.
#[derive(Debug)]
pub struct OpDef {
    /// Its unique name in the IR, such as `str.find`.
    pub name: &'static str,
    /// How Python spells it; the lifter finds operations by this. Several operations may
    /// share a spelling: the first whose parameters accept the arguments is taken.
    /// `.find` is a method, `len` a function, `math.sqrt` a function of a module, `a+b`
    /// a binary operator, `-a` a unary one, `a<b` a comparison, `a[b]` indexing; empty:
    /// only reached through other code.
    pub spelling: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The type of the result, from those of the arguments. Called only with arguments
    /// that the parameters accept.
    pub result: fn(&[Type]) -> Type,
    /// The exceptions that it may raise.
    pub raises: &'static [ExcKind],
    /// Why it may bail out besides.
    pub bails: Bails,
    /// What it does to memory.
    pub effect: Effect,
    /// What gives its result, an int, modulo its last operand, which is above zero: for results of any
    /// length a word is enough. Its other operands are those of this operation, then the ints beside it.
    pub residue: Option<(&'static OpDef, &'static [i64])>,
    /// What it does, for people; lines that begin with `>>>` are an example, the line
    /// after each the `repr` of its value, both checked against CPython.
    pub doc: &'static str,
    /// How native code does it.
    pub body: Body,
    /// How the evaluator and the folder do it.
    pub eval: fn(&mut Cx, &[Object]) -> Result<Object, Raise>,
    /// How many of it are computed at once, if that takes less than one after the other.
    pub strip: Option<&'static Strip>,
}

/// A parameter of an operation.
#[derive(Debug)]
pub struct Param {
    /// Its name. Keyword arguments match it unless it begins with an underscore.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// The value where the call gives none.
    pub default: Option<Default>,
    /// Whether only a keyword gives it. Such parameters stand last.
    pub keyword_only: bool,
}

/// A default of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// An integer.
    Int(i64),
    /// A bool.
    Bool(bool),
    /// A string.
    Str(&'static str),
    /// A float.
    Float(f64),
    /// `None`: the parameter is of [`Kind::None`].
    None,
}

impl Default {
    /// The default as an object.
    #[must_use]
    pub fn object(self) -> Object {
        match self {
            Default::Int(value) => Object::int(value),
            Default::Bool(value) => Object::Bool(value),
            Default::Str(text) => Object::str(text),
            Default::Float(value) => Object::Float(value),
            Default::None => Object::None,
        }
    }
}

/// What a parameter accepts, and how it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `bool`; one word.
    Bool,
    /// An `int`, also a `bool` where Python counts it as one; one word, 64 bits. The
    /// evaluator bails out for larger ones.
    Int,
    /// An `int` that is clamped to 64 bits, as slice bounds are, or `None` for the
    /// parameter's default; one word.
    Index,
    /// A `float`; one floating-point word.
    Float,
    /// A `float`, or an `int` or `bool` that is converted as Python's `float()` does.
    Number,
    /// A `str`; two words (see [`crate::text::Str`]).
    Str,
    /// A `list[str]`; one word, a pointer to a [`crate::list::RawList`].
    StrList,
    /// Any type; only operations with [`Body::Core`] have such parameters.
    Any,
    /// Any type, also a union, in which something is looked for. Only for [`Body::Core`].
    Key,
    /// `None`; no word.
    None,
    /// A `list[int]`; one word, a pointer to a [`crate::list::RawList`].
    IntList,
    /// A `list[float]`; one word, a pointer to a [`crate::list::RawList`].
    FloatList,
    /// A compiled pattern; one word, its address.
    Pattern,
    /// A list of any element type; one word. Only for [`Body::Core`].
    List,
    /// A list whose elements have one order ([`crate::sort::order_of`]); one word. Only for [`Body::Core`].
    OrderedList,
    /// A list whose elements are told apart in one way ([`crate::sort::key_order_of`]); one word. Only for
    /// [`Body::Core`].
    KeyList,
    /// A caught exception. Only for [`Body::Core`].
    Exc,
}

impl Kind {
    /// Whether an argument of that type is accepted, after at most a conversion of `bool`
    /// to `int` or (for [`Kind::Number`]) to `float`.
    #[must_use]
    pub fn accepts(self, ty: &Type) -> bool {
        match self {
            Kind::Bool => *ty == Type::Bool,
            Kind::Int | Kind::Index => matches!(ty, Type::Int | Type::Bool),
            Kind::Float => *ty == Type::Float,
            Kind::Number => matches!(ty, Type::Float | Type::Int | Type::Bool),
            Kind::Str => *ty == Type::Str,
            Kind::StrList => *ty == Type::list(Type::Str),
            Kind::IntList => *ty == Type::list(Type::Int),
            Kind::FloatList => *ty == Type::list(Type::Float),
            Kind::List => matches!(ty, Type::List(_)),
            Kind::KeyList => matches!(ty, Type::List(element) if crate::sort::key_order_of(element).is_some()),
            Kind::Key => !matches!(ty, Type::Never | Type::Unbound),
            Kind::OrderedList => matches!(ty, Type::List(element) if crate::sort::order_of(element).is_some()),
            Kind::Exc => *ty == Type::Exc,
            Kind::Pattern => matches!(ty, Type::Pattern(_)),
            Kind::None => *ty == Type::None,
            Kind::Any => !matches!(ty, Type::Union(_) | Type::Never | Type::Unbound),
        }
    }

    /// The type to which an accepted argument is converted before the operation;
    /// `None` where it stays as it is.
    #[must_use]
    pub fn converts_to(self, ty: &Type) -> Option<Type> {
        let wanted = match self {
            Kind::Int | Kind::Index => Type::Int,
            Kind::Number => Type::Float,
            Kind::Bool
            | Kind::Float
            | Kind::Str
            | Kind::StrList
            | Kind::IntList
            | Kind::Pattern
            | Kind::FloatList
            | Kind::Any
            | Kind::None
            | Kind::List
            | Kind::OrderedList
            | Kind::KeyList
            | Kind::Key
            | Kind::Exc => return None,
        };
        (*ty != wanted).then_some(wanted)
    }
}

/// What an operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: the same operands give the same value.
    Pure,
    /// Makes a new object; two results are not interchangeable, an unused one may go.
    Alloc,
    /// Reads a mutable object.
    Read,
    /// Puts other elements into the places of a mutable object, which keeps its length and its memory.
    Store,
    /// Changes a mutable object in any way.
    Write,
}

impl Effect {
    /// Whether it changes a mutable object.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Effect::Store | Effect::Write)
    }
}

/// Why native code may leave the row at an operation for the rung below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bails {
    /// It gives its value or raises.
    Never,
    /// The row's memory is full.
    Memory,
    /// A number lies beyond what native code computes with, such as an int of 65 bits.
    Range,
    /// CPython must read these operands, such as a text for which its matcher alone is exact.
    Operands,
}

/// How native code does an operation.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A closed instruction that every back end knows.
    Core(CoreOp),
    /// A function to call. If it [can fail](OpDef::can_fail) the result is a
    /// pair of words: for a string, pointer and meta, a null pointer meaning that meta
    /// is a status; else status and value (a float as its bits). Otherwise the result is
    /// the plain value: a byte for a bool, a word, a float, the two words of a string.
    /// The first argument is the address of the [`Cx`].
    Kernel {
        /// The address of the function.
        address: fn() -> *const u8,
        /// Calls that function with its operands as words, one after the other as they
        /// lie in memory (a string takes two, a float is its bits, `None` takes none).
        /// The result: for an operation that can fail the pair that it returns, else the
        /// two words of a string, or zero and the word.
        ///
        /// # Safety
        /// The words must be those of live operands of the parameters' kinds, the first
        /// argument a context that nothing else uses during the call.
        invoke: unsafe fn(*mut Cx, &[u64]) -> crate::adapt::Pair,
        /// The kind of the result.
        result: Kind,
    },
}

impl OpDef {
    /// The text of the exception that it raises for these operands.
    ///
    /// # Errors
    /// It raises none, or leaves.
    pub fn message(&self, cx: &mut Cx, args: &[Object]) -> Result<String, Raise> {
        match cx.with_messages(|cx| (self.eval)(cx, args)) {
            Err(Raise::Exception { kind, args }) => Ok(crate::show::message(kind, &args)),
            Err(other) => Err(other),
            Ok(_) => Err(Raise::Bailout("an operation that raises nothing is asked what it says")),
        }
    }

    /// Whether it has another outcome than a value.
    #[must_use]
    pub fn can_fail(&self) -> bool {
        self.bails != Bails::Never || !self.raises.is_empty()
    }

    /// How many arguments a call may give by position.
    #[must_use]
    pub fn positional(&self) -> usize {
        self.params.iter().filter(|param| !param.keyword_only).count()
    }

    /// Whether the operation takes arguments of those types, in order, with defaults for
    /// what is missing at the end.
    #[must_use]
    pub fn accepts(&self, args: &[Type]) -> bool {
        args.len() <= self.params.len()
            && args.iter().zip(self.params).all(|(ty, param)| {
                param.kind.accepts(ty) || (param.kind == Kind::Index && param.default.is_some() && *ty == Type::None)
            })
            && self.params[args.len()..].iter().all(|param| param.default.is_some())
            && !self.mistakes_key(args)
    }

    /// Whether the operation looks for a key, and that is of another type than the keys among which it looks.
    #[must_use]
    pub fn mistakes_key(&self, args: &[Type]) -> bool {
        let Body::Core(CoreOp::HashFind | CoreOp::SetFind) = self.body else { return false };
        let [_, _, Type::List(element), key, ..] = args else { return true };
        let is_one = key.alternatives().iter().all(|ty| element.alternatives().contains(ty));
        !(is_one || **element == Type::Never && crate::sort::key_order_of(key).is_some())
    }
}

/// The statuses that native code returns besides 0 for success and the codes of
/// [`ExcKind`].
pub mod status {
    /// The row needs a more general rung.
    pub const BAILOUT: u64 = 1000;
    /// The query was cancelled or ran out of its time.
    pub const INTERRUPTED: u64 = 1001;
    /// The row needs more memory than this rung gives to one.
    pub const ROW_MEMORY: u64 = 1002;
    /// The row leaves the evaluator too: only CPython can finish it.
    pub const LEAVE: u64 = 1003;

    /// The status of a raise.
    #[must_use]
    pub fn of(raise: &exuvia_ir::Raise) -> u64 {
        match raise {
            exuvia_ir::Raise::Exception { kind, .. } => *kind as u64,
            // The evaluator makes the message.
            raise if *raise == exuvia_ir::Raise::ROW_MEMORY => ROW_MEMORY,
            exuvia_ir::Raise::Result(_) | exuvia_ir::Raise::Bailout(_) => BAILOUT,
            exuvia_ir::Raise::Interrupted => INTERRUPTED,
        }
    }
}
