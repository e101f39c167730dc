//! Lists, tuples, dicts, sets and texts: while lifting, and as run-time values.

pub(crate) mod choice;
pub(crate) mod constant_sets;
pub(crate) mod containers;
pub(crate) mod copies;
pub(crate) mod documents;
pub(crate) mod lists;
pub(crate) mod member_sets;
pub(crate) mod numbered;
pub(crate) mod sets;
pub(crate) mod shaped;
pub(crate) mod sorting;
pub(crate) mod tables;
pub(crate) mod texts;
pub(crate) mod values;
