//! Formatting: `format()` and f-strings' mini-language, and one conversion of `%`.
//!
//! `spec` reads a specification, `layout` puts sign, prefix, padding and separators
//! around digits, and a file for each type of value says what CPython checks for it.
//! [`template`] takes whole templates apart.

mod float;
mod int;
mod layout;
mod percent;
mod scratch;
mod singleton;
mod spec;
mod str;
pub mod template;

use crate::def::OpDef;

/// Every operation of formatting.
pub static OPS: &[&OpDef] = &[
    // A bool counts as an int, so its operations stand first.
    &singleton::bool_format::DEF,
    &singleton::none_format::DEF,
    &int::int_format::DEF,
    &float::float_format::DEF,
    &str::str_format::DEF,
    &percent::percent_bool::DEF,
    &percent::percent_none::DEF,
    &percent::percent_int::DEF,
    &percent::percent_float::DEF,
    &percent::percent_str::DEF,
];
