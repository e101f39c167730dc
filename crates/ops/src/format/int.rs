//! Ints in every presentation.

use super::float;
use super::layout::{self, Number};
use super::spec::{self, Separator, Spec};
use crate::adapt::take;
use crate::cx::{Cx, KernelResult};
use crate::int::{Digits, big, decimal_text};
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::OverflowError;
use exuvia_ir::{Object, Raise};
use num_bigint::{BigInt, Sign};

/// Base, prefix, and whether in upper case, of an integer presentation.
fn radix(code: char) -> Option<(u32, &'static str, bool)> {
    Some(match code {
        '\0' | 'd' | 'n' => (10, "", false),
        'b' => (2, "0b", false),
        'o' => (8, "0o", false),
        'x' => (16, "0x", false),
        'X' => (16, "0X", true),
        _ => return None,
    })
}

/// What is checked before an integer presentation (format_long_internal).
fn check(cx: &Cx, spec: &Spec) -> KernelResult<()> {
    if spec.precision.is_some() {
        return Err(spec::raise(cx, "Precision not allowed in integer format specifier"));
    }
    if spec.no_negative_zero {
        return Err(spec::raise(cx, "Negative zero coercion (z) not allowed in integer format specifier"));
    }
    if spec.code == 'c' && spec.sign != 0 {
        return Err(spec::raise(cx, "Sign not allowed with integer format specifier 'c'"));
    }
    if spec.code == 'c' && spec.alternate {
        return Err(spec::raise(cx, "Alternate form (#) not allowed with integer format specifier 'c'"));
    }
    Ok(())
}

fn is_float_code(code: char) -> bool {
    matches!(code, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%')
}

/// An int of 64 bits by a specification; `type_name` is `int` or `bool`.
pub(super) fn render<'a>(cx: &mut Cx, value: i64, spec: &Spec, type_name: &str) -> KernelResult<Str<'a>> {
    if is_float_code(spec.code) {
        return float::render(cx, value as f64, spec, type_name);
    }
    if spec.code == 'c' {
        check(cx, spec)?;
        let Some(point) = u32::try_from(value).ok().filter(|point| *point < 0x11_0000) else {
            return Err(cx.raise(OverflowError, || "%c arg not in range(0x110000)".into()));
        };
        let ch = char::from_u32(point).ok_or_else(|| Raise::bailout("a lone surrogate"))?;
        let mut buffer = [0; 4];
        let number = Number { negative: false, prefix: "", digits: ch.encode_utf8(&mut buffer), rest: "" };
        return layout::number(cx, &Spec { separator: Separator::None, ..*spec }, number);
    }
    let Some((base, prefix, upper)) = radix(spec.code) else {
        return Err(spec::unknown_code(cx, spec.code, type_name));
    };
    check(cx, spec)?;
    let mut digits = Digits::new(value.unsigned_abs(), u64::from(base));
    if upper {
        digits.make_upper();
    }
    let prefix = if spec.alternate { prefix } else { "" };
    layout::number(cx, spec, Number { negative: value < 0, prefix, digits: digits.as_str(), rest: "" })
}

fn render_big<'a>(cx: &mut Cx, value: &BigInt, spec: &Spec) -> KernelResult<Str<'a>> {
    if is_float_code(spec.code) {
        let Some(value) = crate::core::nearest_float(value) else {
            return Err(cx.raise(OverflowError, || "int too large to convert to float".into()));
        };
        return float::render(cx, value, spec, "int");
    }
    if spec.code == 'c' {
        check(cx, spec)?;
        if value.bits() < 63 {
            return Err(Raise::Bailout("a lone surrogate"));
        }
        return Err(cx.raise(OverflowError, || "Python int too large to convert to C long".into()));
    }
    let Some((base, prefix, upper)) = radix(spec.code) else {
        return Err(spec::unknown_code(cx, spec.code, "int"));
    };
    check(cx, spec)?;
    let magnitude = BigInt::from(value.magnitude().clone());
    let mut digits = if base == 10 { decimal_text(&magnitude)? } else { magnitude.to_str_radix(base) };
    if upper {
        digits.make_ascii_uppercase();
    }
    let prefix = if spec.alternate { prefix } else { "" };
    layout::number(cx, spec, Number { negative: value.sign() == Sign::Minus, prefix, digits: &digits, rest: "" })
}

fn big_format(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let text = take::str(&args[1])?;
    let value = big(&args[0])?;
    let spec = spec::parse(cx, text.as_str(), b'>', 'd', "int")?;
    render_big(cx, &value, &spec).map(|text| Object::str(text.as_str()))
}

/// The field of a specification that asks for decimal digits in a field of few places, and
/// whether that is filled with zeros: `5`, `02`, `08d`.
pub(super) fn decimal_field(spec: &[u8]) -> Option<(usize, bool)> {
    let spec = spec.strip_suffix(b"d").unwrap_or(spec);
    let (zeros, width) = match spec {
        [b'0', width @ ..] => (true, width),
        width => (false, width),
    };
    let digit = |byte: u8| (byte.is_ascii_digit()).then(|| usize::from(byte - b'0'));
    let width = match width {
        [one] => digit(*one)?,
        [ten, one] => digit(*ten)? * 10 + digit(*one)?,
        _ => return None,
    };
    (width <= Digits::WIDEST).then_some((width, zeros))
}

op! {
    /// The int by a format specification.
    ///
    /// >>> format(-1234567, "+_d")
    /// '-1_234_567'
    int_format = "int.format" "format"
    Pure fn (cx, _value: int, _spec: str = Str("")) -> str fallible [ValueError, OverflowError] bails Operands {
        if let Some((width, zeros)) = decimal_field(_spec.as_bytes()) {
            return cx.store(Digits::in_field(_value, width, zeros).as_str());
        }
        let spec = spec::parse(cx, _spec.as_str(), b'>', 'd', "int")?;
        render(cx, _value, &spec, "int")
    }
    big big_format
}
