//! Escapes of `urllib.parse`: `%` and two hexadecimal digits for a byte of UTF-8.

use crate::def::OpDef;
use crate::op;

/// Every operation of addresses.
pub static OPS: &[&OpDef] = &[&url_quote::DEF, &url_unquote::DEF];

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Whether a byte stands for itself whatever else may (RFC 3986, unreserved characters).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-~".contains(&byte)
}

op! {
    /// `urllib.parse.quote`: the text with escapes for what is neither unreserved nor one of some ASCII
    /// characters.
    url_quote = "url.quote" ""
    Pure fn (cx, s: str, _safe: str) -> str fallible {
        let safe = _safe.as_bytes();
        let stays = |byte: u8| is_unreserved(byte) || (byte.is_ascii() && safe.contains(&byte));
        if s.as_bytes().iter().all(|byte| stays(*byte)) {
            return Ok(s);
        }
        let mut out = cx.text(s.byte_len() + 32)?;
        for byte in s.as_bytes() {
            let escape = [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            let written = if stays(*byte) { std::slice::from_ref(byte) } else { &escape };
            // What is written is ASCII.
            out.push_str(std::str::from_utf8(written).unwrap_or_default())?;
        }
        Ok(out.finish())
    }
}

op! {
    /// `urllib.parse.unquote`: the text with characters for escapes, U+FFFD for bytes that are none of UTF-8.
    url_unquote = "url.unquote" ""
    Pure fn (cx, s: str) -> str fallible {
        if !s.as_bytes().contains(&b'%') {
            return Ok(s);
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let mut bytes = Vec::with_capacity(s.byte_len());
        let mut rest = s.as_bytes();
        while let Some((first, others)) = rest.split_first() {
            rest = others;
            let escaped = match others {
                [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
                _ => None,
            };
            bytes.push(match escaped {
                Some((high, low)) => {
                    rest = &others[2..];
                    (high * 16 + low) as u8
                }
                None => *first,
            });
        }
        cx.store(&String::from_utf8_lossy(&bytes))
    }
}
