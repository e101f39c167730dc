//! What a user declares about a function.

use arrow::datatypes::DataType;
pub use exuvia_lift::ColumnForm;
use std::time::Duration;

/// A function as `CREATE FUNCTION` declares it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name in SQL.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Parameter>,
    /// The declared type of the result.
    pub returns: DataType,
    /// The body, dedented: statements with a top-level `return`, or a module.
    pub source: String,
    /// The handler named by `OPTIONS (handler '…')`.
    pub handler: Option<String>,
    /// The line of the SQL script on which the body's first line stands, from 1; what
    /// errors show is counted from it.
    pub first_line: u32,
    /// Whether NULL in any argument gives NULL without a call.
    pub strict: bool,
    /// What was declared; `None` where it is to be inferred.
    pub volatility: Option<Volatility>,
    /// What becomes of a row whose call raises.
    pub on_error: OnError,
    /// Whether CPython may run it.
    pub interpreter: Interpreter,
    /// The time that one batch may take.
    pub timeout: Option<Duration>,
    /// The fitted models that the module finds as its globals: names and paths. A function
    /// that has any runs in CPython.
    pub models: Vec<(String, String)>,
    /// What the handler of an elementwise column function takes each column as; empty for a row
    /// function.
    pub columns: Vec<ColumnForm>,
    /// Whether the result, a list, is a whole column, in which NaN of a Series is NULL.
    pub whole: bool,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in SQL.
    pub name: String,
    /// Its declared type.
    pub ty: DataType,
}

/// When a function's results may differ for the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// Never.
    Immutable,
    /// Not within one query.
    Stable,
    /// At any call.
    Volatile,
}

/// What becomes of a row whose call raises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The query fails.
    #[default]
    Raise,
    /// Where the exception is an `Exception` the result is NULL.
    Null,
}

/// Whether CPython may run a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpreter {
    /// Where nothing else can.
    #[default]
    Auto,
    /// Never: what cannot be lifted is refused.
    Off,
}
