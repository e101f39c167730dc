//! Classes and their objects: while lifting, where they escape, and where paths meet.

pub(crate) mod boxes;
pub(crate) mod class;
pub(crate) mod class_statement;
pub(crate) mod classes;
pub(crate) mod enums;
pub(crate) mod escape;
pub(crate) mod fields;
pub(crate) mod flags;
pub(crate) mod heap;
pub(crate) mod merge;
pub(crate) mod restrict;
