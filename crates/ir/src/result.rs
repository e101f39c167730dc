//! The text of the error for a result that the declared SQL type cannot hold: the same
//! whichever rung finds it.

/// The most characters of a value's `repr` that an error shows.
const SHOWN: usize = 100;

/// The bytes of text that a column of results of one batch may have. Whoever runs batches
/// may divide one that has more.
pub const MAX_RESULT_BYTES: usize = 512 << 20;

/// The error for a batch whose results have more.
#[must_use]
pub fn results_too_large() -> String {
    format!(
        "the results of one batch take more than {} MiB; a smaller datafusion.execution.batch_size makes smaller batches",
        MAX_RESULT_BYTES >> 20
    )
}

/// A float as a result of SQL. NaNs differ by their bits, of which Python shows nothing and
/// which differ from one way of computing to another, but by which Arrow sorts them: every
/// one becomes the same.
#[must_use]
pub fn result_float(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

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
