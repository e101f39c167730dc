//! The syntax tree, how it is read from a source, and what is known of it before anything is lifted.

pub(crate) mod annotation;
pub(crate) mod appending;
pub mod ast;
pub(crate) mod footprint;
pub(crate) mod indents;
pub(crate) mod liveness;
pub(crate) mod managers;
pub(crate) mod names;
pub(crate) mod nesting;
pub mod parse;
pub(crate) mod patterns;
pub(crate) mod reach;
pub(crate) mod scope;
pub(crate) mod source;
pub mod standard;
pub(crate) mod syntax;
