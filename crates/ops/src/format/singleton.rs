//! `True`, `False` and `None` by a format specification.

use super::{int, spec};
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::TypeError;

op! {
    /// The bool: its name without a specification, else as an int.
    ///
    /// >>> format(True, "d")
    /// '1'
    bool_format = "bool.format" "format"
    Pure fn (cx, _value: bool, _spec: str = Str("")) -> str fallible [ValueError, OverflowError] bails Operands {
        if _spec.byte_len() == 0 {
            return Ok(Str::with_ascii(if _value { "True" } else { "False" }, true));
        }
        let spec = spec::parse(cx, _spec.as_str(), b'>', 'd', "bool")?;
        int::render(cx, i64::from(_value), &spec, "bool")
    }
}

op! {
    /// `None`, which takes no specification.
    ///
    /// >>> format(None)
    /// 'None'
    none_format = "none.format" "format"
    Pure fn (cx, _value: none, _spec: str = Str("")) -> str fallible [TypeError] bails Operands {
        if _spec.byte_len() == 0 {
            return Ok(Str::with_ascii("None", true));
        }
        Err(cx.raise(TypeError, || "unsupported format string passed to NoneType.__format__".into()))
    }
}
