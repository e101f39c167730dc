//! The questions: `isalpha` and its family.

use super::split::{is_ascii_space, scan};
use crate::op;
use crate::text::Str;
use crate::unicode;

/// Whether there are characters and all of them have a property.
#[inline]
fn all(s: Str<'_>, ascii: impl Fn(u8) -> bool, other: impl Fn(char) -> bool) -> bool {
    s.byte_len() > 0 && none_fails(s, ascii, other)
}

/// Whether all characters, if any, have a property.
#[inline]
fn none_fails(s: Str<'_>, ascii: impl Fn(u8) -> bool, other: impl Fn(char) -> bool) -> bool {
    scan(s, 0, |byte| !ascii(byte), |ch| !other(ch)) == s.byte_len()
}

/// What case a character has, as `isupper`, `islower` and `istitle` look at it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
    Title,
    Without,
}

fn case(ch: char) -> Case {
    if ch.is_ascii() {
        return match ch {
            'A'..='Z' => Case::Upper,
            'a'..='z' => Case::Lower,
            _ => Case::Without,
        };
    }
    if unicode::is_upper(ch) {
        Case::Upper
    } else if unicode::is_lower(ch) {
        Case::Lower
    } else if unicode::is_title(ch) {
        Case::Title
    } else {
        Case::Without
    }
}

/// Whether some character has the wanted case and none another.
fn only_case(s: Str<'_>, wanted: Case) -> bool {
    let mut found = false;
    for ch in s.as_str().chars() {
        let case = case(ch);
        if case != Case::Without && case != wanted {
            return false;
        }
        found |= case == wanted;
    }
    found
}

op! {
    /// Whether there are characters and all are letters.
    ///
    /// >>> "naïve".isalpha()
    /// True
    str_isalpha = "str.isalpha" ".isalpha"
    Pure fn (cx, _s: str) -> bool { all(_s, |byte| byte.is_ascii_alphabetic(), unicode::is_alpha) }
}

op! {
    /// Whether there are characters and all are digits, superscript ones included.
    ///
    /// >>> "12²".isdigit()
    /// True
    str_isdigit = "str.isdigit" ".isdigit"
    Pure fn (cx, _s: str) -> bool { all(_s, |byte| byte.is_ascii_digit(), unicode::is_digit) }
}

op! {
    /// Whether there are characters and all are decimal digits of some script.
    ///
    /// >>> "12²".isdecimal()
    /// False
    str_isdecimal = "str.isdecimal" ".isdecimal"
    Pure fn (cx, _s: str) -> bool { all(_s, |byte| byte.is_ascii_digit(), unicode::is_decimal) }
}

op! {
    /// Whether there are characters and all have a numeric value.
    ///
    /// >>> "½".isnumeric()
    /// True
    str_isnumeric = "str.isnumeric" ".isnumeric"
    Pure fn (cx, _s: str) -> bool { all(_s, |byte| byte.is_ascii_digit(), unicode::is_numeric) }
}

op! {
    /// Whether there are characters and all are letters or have a numeric value.
    ///
    /// >>> "a1".isalnum()
    /// True
    str_isalnum = "str.isalnum" ".isalnum"
    Pure fn (cx, _s: str) -> bool { all(_s, |byte| byte.is_ascii_alphanumeric(), unicode::is_alnum) }
}

op! {
    /// Whether there are characters and all are whitespace.
    ///
    /// >>> " \t\x1f".isspace()
    /// True
    str_isspace = "str.isspace" ".isspace"
    Pure fn (cx, _s: str) -> bool { all(_s, is_ascii_space, unicode::is_space) }
}

op! {
    /// Whether there are cased characters and all of them are in upper case.
    ///
    /// >>> "A-1".isupper()
    /// True
    str_isupper = "str.isupper" ".isupper"
    Pure fn (cx, _s: str) -> bool { only_case(_s, Case::Upper) }
}

op! {
    /// Whether there are cased characters and all of them are in lower case.
    ///
    /// >>> "a-1".islower()
    /// True
    str_islower = "str.islower" ".islower"
    Pure fn (cx, _s: str) -> bool { only_case(_s, Case::Lower) }
}

op! {
    /// Whether there are cased characters and each run of them begins with an upper or
    /// title case one and goes on with lower case.
    ///
    /// >>> "Ab Cd".istitle()
    /// True
    str_istitle = "str.istitle" ".istitle"
    Pure fn (cx, _s: str) -> bool {
        let (mut found, mut inside) = (false, false);
        for ch in _s.as_str().chars() {
            let case = case(ch);
            let wrong = match case {
                Case::Upper | Case::Title => inside,
                Case::Lower => !inside,
                Case::Without => false,
            };
            if wrong {
                return false;
            }
            inside = case != Case::Without;
            found |= inside;
        }
        found
    }
}

op! {
    /// Whether `repr` would show all characters, if any, as they are.
    ///
    /// >>> "a\n".isprintable()
    /// False
    str_isprintable = "str.isprintable" ".isprintable"
    Pure fn (cx, _s: str) -> bool { none_fails(_s, |byte| matches!(byte, b' '..=b'~'), unicode::is_printable) }
}

op! {
    /// Whether all characters, if any, are ASCII.
    ///
    /// >>> "é".isascii()
    /// False
    str_isascii = "str.isascii" ".isascii"
    Pure fn (cx, _s: str) -> bool { _s.is_ascii() }
}

op! {
    /// Whether the string is a name by Python's grammar; keywords are.
    ///
    /// >>> "_x1".isidentifier()
    /// True
    str_isidentifier = "str.isidentifier" ".isidentifier"
    Pure fn (cx, _s: str) -> bool {
        let mut chars = _s.as_str().chars();
        chars.next().is_some_and(unicode::is_xid_start) && chars.all(unicode::is_xid_continue)
    }
}
