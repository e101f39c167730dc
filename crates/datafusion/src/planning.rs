//! How a plan comes to have calls of Python in it: arguments, rules of the planner, EXPLAIN.

pub(crate) mod arguments;
pub(crate) mod barrier;
pub(crate) mod coerce;
pub(crate) mod depth;
pub(crate) mod explain;
pub(crate) mod extension;
pub(crate) mod inline;
pub(crate) mod leaves;
pub(crate) mod maps;
pub(crate) mod operands;
pub(crate) mod outline;
pub(crate) mod query;
