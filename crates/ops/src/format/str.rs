//! Strings by a format specification.

use super::spec::{self, Separator, Spec};
use crate::cx::{Cx, KernelResult};
use crate::op;
use crate::text::Str;

/// The string, cut to a precision, in its field (format_string_internal).
pub(super) fn render<'a>(cx: &mut Cx, text: Str<'a>, spec: &Spec) -> KernelResult<Str<'a>> {
    if spec.sign == b' ' {
        return Err(spec::raise(cx, "Space not allowed in string format specifier"));
    }
    if spec.sign != 0 {
        return Err(spec::raise(cx, "Sign not allowed in string format specifier"));
    }
    if spec.no_negative_zero {
        return Err(spec::raise(cx, "Negative zero coercion (z) not allowed in string format specifier"));
    }
    if spec.alternate {
        return Err(spec::raise(cx, "Alternate form (#) not allowed in string format specifier"));
    }
    if spec.align == b'=' {
        return Err(spec::raise(cx, "'=' alignment not allowed in string format specifier"));
    }
    debug_assert_eq!(spec.separator, Separator::None, "refused for the type 's'");
    let cut = match spec.precision {
        Some(precision) if precision < text.byte_len() => text.slice_bytes(0, text.byte_offset(precision)),
        _ => text,
    };
    let padding = if spec.width == 0 { 0 } else { spec.width.saturating_sub(cut.char_len()) };
    if padding == 0 {
        return Ok(cut);
    }
    let (left, right) = match spec.align {
        b'>' => (padding, 0),
        b'^' => (padding / 2, padding - padding / 2),
        _ => (0, padding),
    };
    let mut buffer = [0; 4];
    let fill: &str = spec.fill.encode_utf8(&mut buffer);
    let mut out = cx.text(cut.byte_len() + padding * fill.len())?;
    out.push_repeated(fill, left)?;
    out.push_str(cut.as_str())?;
    out.push_repeated(fill, right)?;
    Ok(out.finish())
}

op! {
    /// The string by a format specification.
    ///
    /// >>> format("abc", "*^7")
    /// '**abc**'
    str_format = "str.format_spec" "format"
    Pure fn (cx, _value: str, _spec: str = Str("")) -> str fallible [ValueError] bails Operands {
        if _spec.byte_len() == 0 {
            return Ok(_value);
        }
        let spec = spec::parse(cx, _spec.as_str(), b'<', 's', "str")?;
        if spec.code != 's' {
            return Err(spec::unknown_code(cx, spec.code, "str"));
        }
        render(cx, _value, &spec)
    }
}
