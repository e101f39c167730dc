//! Character properties of the Unicode version of the semantic level (CPython 3.11:
//! Unicode 14).

/// `str.isprintable` of one character.
#[must_use]
pub fn is_printable(ch: char) -> bool {
    !ch.is_control()
}
