//! The walk over statements and expressions: order, scopes, joins, loops, `try`, and the protocols by which values are operated on.

pub(crate) mod assign;
pub(crate) mod comprehensions;
pub(crate) mod conditions;
pub(crate) mod convert;
pub(crate) mod describe;
pub(crate) mod exceptions;
pub(crate) mod expr;
pub(crate) mod generator;
pub(crate) mod items;
pub(crate) mod iterate;
pub(crate) mod join;
pub(crate) mod leave;
pub(crate) mod lifter;
pub(crate) mod loops;
pub(crate) mod operate;
pub(crate) mod protocol;
pub(crate) mod raising;
pub(crate) mod reversal;
pub(crate) mod stmt;
pub(crate) mod templates;
pub(crate) mod variables;
