//! The operations: what Python's built-ins mean, defined once each.
//!
//! An operation's name, types, exceptions, documentation and body stand in one place
//! ([`def::OpDef`]); the lifter finds it by its Python spelling, the folder and the
//! evaluator run it on boxed objects, native code calls the same Rust function with
//! words in registers. What can be said in Python is said in Python: the prelude
//! ([`prelude`]) is lifted like user code.
//!
//! The crate needs neither Arrow nor Cranelift nor a Python interpreter.

pub mod adapt;
pub mod attributes;
pub mod bytes;
pub mod classes;
pub mod constants;
pub mod containers;
pub mod core;
pub mod counter;
pub mod cx;
pub mod date;
pub mod decimal;
pub mod def;
pub mod float;
pub mod format;
pub mod hash;
pub mod html;
pub mod int;
pub mod json;
pub mod list;
pub mod math;
pub mod memo;
mod op;
pub mod operands;
pub mod own_hash;
pub mod pattern;
mod places;
pub mod prelude;
pub mod re;
pub mod runtime;
pub mod show;
pub mod sort;
pub mod statistics;
pub mod str;
pub mod text;
pub mod text_repr;
pub mod tiles;
pub mod ufunc;
pub mod unicode;
pub mod unicodedata;
pub mod url;

use classes::ValueClass;
use def::OpDef;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The classes of the standard library whose objects are values.
pub static CLASSES: &[&ValueClass] = &[&bytes::CLASS, &date::DATE, &date::TIMEDELTA, &date::DATETIME, &date::TIME];

/// Every operation, in the order in which overloads are tried.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    // Those of bools stand before those of ints, which take bools too.
    let families = [
        text_repr::OPS,
        str::OPS,
        int::OPS,
        float::OPS,
        math::OPS,
        format::OPS,
        sort::OPS,
        containers::OPS,
        pattern::OPS,
        date::OPS,
        hash::OPS,
        own_hash::OPS,
        bytes::OPS,
        unicodedata::OPS,
        url::OPS,
        decimal::OPS,
        html::OPS,
        json::OPS,
        statistics::OPS,
        ufunc::OPS,
        memo::OPS,
    ];
    core::all().chain(families.into_iter().flatten().copied())
}

/// The operation of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static OpDef> {
    static TABLE: OnceLock<HashMap<&'static str, &'static OpDef>> = OnceLock::new();
    TABLE.get_or_init(|| all().map(|def| (def.name, def)).collect()).get(name).copied()
}

/// The operations with that Python spelling, in the order in which they are tried.
#[must_use]
pub fn by_spelling(spelling: &str) -> &'static [&'static OpDef] {
    static TABLE: OnceLock<HashMap<&'static str, Vec<&'static OpDef>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: HashMap<&'static str, Vec<&'static OpDef>> = HashMap::new();
        for def in all().filter(|def| !def.spelling.is_empty()) {
            table.entry(def.spelling).or_default().push(def);
        }
        table
    });
    table.get(spelling).map_or(&[], Vec::as_slice)
}
