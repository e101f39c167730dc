//! Operations on strings, by family.

mod search;

use crate::def::OpDef;

/// Every operation on strings.
pub static OPS: &[&OpDef] = &[&search::str_find::DEF];
