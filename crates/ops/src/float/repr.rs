//! The shortest text that reads back as the same float: `repr` and `str`.

use crate::cx::{Cx, KernelResult};
use crate::op;
use crate::text::Str;

/// A text of a float on the stack; the longest is `-1.7976931348623157e+308`.
#[derive(Debug)]
pub(crate) struct Repr {
    buffer: [u8; 32],
    len: usize,
}

impl Repr {
    /// `repr(value)` (Python/pystrtod.c, PyOS_double_to_string with 'r').
    pub(crate) fn new(value: f64) -> Repr {
        let mut repr = Repr { buffer: [0; 32], len: 0 };
        if value.is_nan() {
            repr.push(b"nan");
            return repr;
        }
        if value.is_sign_negative() {
            repr.push(b"-");
        }
        if value.is_infinite() {
            repr.push(b"inf");
            return repr;
        }
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value.abs()).as_bytes();
        let exponent = text.iter().position(|byte| *byte == b'e');
        match exponent {
            // ryu writes numbers from 1e-5 on without exponent, CPython from 1e-4 on.
            None if text.starts_with(b"0.0000") => repr.push_small(&text[6..]),
            None => repr.push(text),
            Some(at) => {
                repr.push(&text[..at]);
                let (sign, digits) = match &text[at + 1..] {
                    [b'-', digits @ ..] => (b"e-", digits),
                    digits => (b"e+", digits),
                };
                repr.push(sign);
                // CPython writes at least two digits of the exponent.
                repr.push(if digits.len() == 1 { b"0" } else { b"" });
                repr.push(digits);
            }
        }
        repr
    }

    /// A number below 1e-4 from the digits behind `0.0000`.
    fn push_small(&mut self, digits: &[u8]) {
        let (first, rest) = digits.split_at(1);
        self.push(first);
        if !rest.is_empty() {
            self.push(b".");
            self.push(rest);
        }
        self.push(b"e-05");
    }

    fn push(&mut self, bytes: &[u8]) {
        self.buffer[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.buffer[..self.len]).unwrap_or("")
    }
}

/// `repr(value)`.
#[must_use]
pub fn repr(value: f64) -> String {
    Repr::new(value).as_str().to_string()
}

fn store<'a>(cx: &mut Cx, value: f64) -> KernelResult<Str<'a>> {
    let repr = Repr::new(value);
    let mut out = cx.text(repr.len)?;
    out.push_str(repr.as_str())?;
    Ok(out.finish_as(true))
}

op! {
    /// The shortest decimal text that reads back as the same float.
    ///
    /// >>> str(1e22)
    /// '1e+22'
    float_str = "float.str" "str"
    Pure fn (cx, _x: float) -> str fallible { store(cx, _x) }
}

op! {
    /// The shortest decimal text that reads back as the same float.
    ///
    /// >>> repr(0.1)
    /// '0.1'
    float_repr = "float.repr" "repr"
    Pure fn (cx, _x: float) -> str fallible { store(cx, _x) }
}
