//! What runs them: operators and functions.

pub(crate) mod bytes;
pub(crate) mod function;
pub(crate) mod fuse;
pub(crate) mod routines;
pub(crate) mod slice;
