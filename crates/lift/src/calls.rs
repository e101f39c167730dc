//! Calls: of functions written in Python, of methods and built-in functions, and what becomes of them.

pub(crate) mod attribute;
pub(crate) mod built_ins;
pub(crate) mod call;
pub(crate) mod construct;
pub(crate) mod intrinsic;
pub(crate) mod keep;
pub(crate) mod memo;
pub(crate) mod methods;
pub(crate) mod returns;
pub(crate) mod sees;
pub(crate) mod specialise;
pub(crate) mod spread;
pub(crate) mod together;
