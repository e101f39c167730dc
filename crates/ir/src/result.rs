//! The text of the error for a result that the declared SQL type cannot hold: the same
//! whichever rung finds it.

/// The most characters of a value's `repr` that an error shows.
const SHOWN: usize = 100;

/// The error for a value, given by its `repr` and the name of its class.
#[must_use]
pub fn result_error(repr: &str, type_name: &str, sql_type: &str) -> String {
    let mut shown: String = repr.chars().take(SHOWN).collect();
    if shown.len() < repr.len() {
        shown.push_str("...");
    }
    format!("returned {shown} of type {type_name}, which {sql_type} cannot hold")
}

/// What stands for the `repr` of a value whose `repr()` raises, in the words of Python's
/// `traceback` module; an int of over 4,300 digits is such a value.
#[must_use]
pub fn unprintable(type_name: &str) -> String {
    format!("<unprintable {type_name} object>")
}
