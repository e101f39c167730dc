//! Why something is not lifted. Not an error: the function goes to CPython, and EXPLAIN
//! shows the code, the reason and the line.

use exuvia_ir::Span;

/// A reason with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Bailout {
    /// The kind of the reason.
    pub code: Code,
    /// What exactly, for people.
    pub detail: String,
    /// Where in the source.
    pub span: Span,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $code:literal $title:literal;)*) => {
        /// The kinds of reasons. Codes are stable: they are never given another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[doc = $doc])* $variant),* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The stable code, such as `E001`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Code::$variant => $code),* }
            }

            /// A short name.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),* }
            }

            /// What it means and what to do about it.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Code::$variant => concat!($($doc, "\n"),*)),* }
            }
        }
    };
}

codes! {
    /// The statement is not among those that are lifted: `async with`, `global`, a
    /// class with a metaclass or a built-in one among several bases, and their like.
    Statement = "E001" "unsupported statement";
    /// The expression is not among those that are lifted: complex numbers, `await` and their like.
    Expression = "E002" "unsupported expression";
    /// The module is not one that is lifted; its functions run in CPython.
    Import = "E003" "unsupported module";
    /// The function or method is not among the operations that are lifted.
    Callee = "E004" "unsupported function";
    /// The operation is lifted, but not for operands of these types.
    Operands = "E005" "unsupported operand types";
    /// A function, module, iterator or class is used as a run-time value, such as one that is
    /// returned, or an iterator is in a variable that is read at several places.
    StaticValue = "E006" "static value at run time";
    /// A container or an object of the module is changed by a function, or a container or object
    /// in a way that is not lifted. In CPython the next row sees such a change; that holds for one
    /// that only the row chooses too: `ROWS[k % 2].append(x)`.
    Mutation = "E007" "a constant changed, or a change that is not lifted";
    /// A variable holds values on two paths that have no common representation.
    Join = "E008" "no common type";
    /// The function is larger than what is lifted in bounded time.
    Budget = "E009" "too large";
    /// The call passes arguments in a way that is not lifted, such as `**kwargs`.
    Arguments = "E010" "unsupported arguments";
    /// The handler is decorated, a generator or a coroutine.
    Handler = "E011" "unsupported kind of function";
    /// The SQL type of a parameter or of the result has no lifted counterpart yet.
    SqlType = "E012" "unsupported SQL type";
    /// The module's top level does more than compute constants.
    ModuleBody = "E013" "module body is not constant";
    /// A set is iterated whose order is not the same in every process.
    SetOrder = "E014" "order of a set";
    /// The type of a recursive function's result could not be found.
    Recursion = "E015" "type of a recursion";
    /// The function reads the clock, random numbers or other outside state.
    Volatile = "E016" "outside state";
}

impl Bailout {
    /// A reason.
    #[must_use]
    pub fn new(code: Code, span: Span, detail: impl Into<String>) -> Bailout {
        Bailout { code, detail: detail.into(), span }
    }
}

impl std::fmt::Display for Bailout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.code.code(), self.code.title(), self.detail)
    }
}
