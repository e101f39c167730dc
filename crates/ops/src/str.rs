//! Operations on strings, by family.
//!
//! Parts of a string are views of its bytes; what is built is built in the row's arena.
//! Every kernel is right for any text and has a path for ASCII, which it takes where the
//! text is known to be ASCII or where looking is cheaper than decoding. Names that begin
//! with an underscore are parameters without a name in Python.

mod affix;
mod case;
mod classify;
mod join;
mod needle;
mod place;
mod replace;
mod search;
mod slice;
mod split;
mod strip;

pub use place::FEW;
pub(crate) use slice::ascii_char;
pub use slice::{NO_BOUND, stepped};

use crate::def::OpDef;
use exuvia_ir::{ExcKind, Object, Raise};

/// What CPython says of an argument that it passes on as a C int.
const TOO_LARGE_FOR_INT: &str = "Python int too large to convert to C int";

/// The outcome of an operation with an operand for a C int where the kernel has none.
fn big_c_int(args: &[Object]) -> Result<Object, Raise> {
    if crate::adapt::take::any_big(args) {
        return Err(Raise::new(ExcKind::OverflowError, TOO_LARGE_FOR_INT));
    }
    Err(Raise::ROW_MEMORY)
}

/// Every operation on strings.
pub static OPS: &[&OpDef] = &[
    &search::str_find::DEF,
    &search::str_rfind::DEF,
    &search::str_index::DEF,
    &search::str_rindex::DEF,
    &search::str_contains::DEF,
    &search::str_count::DEF,
    &search::str_startswith::DEF,
    &search::str_endswith::DEF,
    &search::str_removeprefix::DEF,
    &search::str_removesuffix::DEF,
    &slice::str_get::DEF,
    &slice::str_slice::DEF,
    &slice::str_slice_step::DEF,
    &slice::char_at_byte::DEF,
    &slice::next_byte::DEF,
    &place::place_find::DEF,
    &place::place_rfind::DEF,
    &place::place_index::DEF,
    &place::place_rindex::DEF,
    &place::place_count::DEF,
    &place::place_startswith::DEF,
    &place::place_endswith::DEF,
    &place::place_slice::DEF,
    &place::place_get::DEF,
    &place::place_step::DEF,
    &place::place_reach::DEF,
    &slice::str_ord::DEF,
    &slice::str_chr::DEF,
    &split::str_split_words::DEF,
    &split::str_split::DEF,
    &split::str_rsplit_words::DEF,
    &split::str_rsplit::DEF,
    &split::str_splitlines::DEF,
    &strip::str_strip::DEF,
    &strip::str_lstrip::DEF,
    &strip::str_rstrip::DEF,
    &strip::str_strip_chars::DEF,
    &strip::str_lstrip_chars::DEF,
    &strip::str_rstrip_chars::DEF,
    &join::str_concat::DEF,
    &join::str_repeat::DEF,
    &join::str_repeated::DEF,
    &join::str_join::DEF,
    &join::str_lt::DEF,
    &join::str_le::DEF,
    &join::str_gt::DEF,
    &join::str_ge::DEF,
    &replace::str_replace::DEF,
    &replace::str_expandtabs::DEF,
    &replace::str_translate::DEF,
    &case::str_lower::DEF,
    &case::str_upper::DEF,
    &case::str_capitalize::DEF,
    &case::str_title::DEF,
    &case::str_swapcase::DEF,
    &case::str_casefold::DEF,
    &affix::str_zfill::DEF,
    &affix::str_ljust::DEF,
    &affix::str_rjust::DEF,
    &affix::str_center::DEF,
    &classify::str_isalpha::DEF,
    &classify::str_isdigit::DEF,
    &classify::str_isdecimal::DEF,
    &classify::str_isnumeric::DEF,
    &classify::str_isalnum::DEF,
    &classify::str_isspace::DEF,
    &classify::str_isupper::DEF,
    &classify::str_islower::DEF,
    &classify::str_istitle::DEF,
    &classify::str_isprintable::DEF,
    &classify::str_isascii::DEF,
    &classify::str_isidentifier::DEF,
];
