//! One conversion of `%` formatting (Objects/unicodeobject.c, unicode_format_arg).
//!
//! The first operand is the text of one conversion, such as `%-5.2f`; who has a whole
//! format string takes it apart. A text that is not one conversion bails out, since the
//! message would name a place in the whole string; so does one with `*` or a name.

use super::float::{self, Style};
use super::scratch::Scratch;
use crate::adapt::take;
use crate::cx::{Cx, KernelResult};
use crate::float::Repr;
use crate::int::{Digits, big, decimal_text};
use crate::op;
use crate::text::Str;
use exuvia_ir::ExcKind::{OverflowError, TypeError};
use exuvia_ir::{Object, Raise};
use num_bigint::{BigInt, Sign};

const MALFORMED: Raise = Raise::Bailout("not one conversion of a format string");

#[derive(Clone, Copy, Debug)]
struct Conversion {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    code: u8,
}

impl Conversion {
    fn parse(text: &str) -> KernelResult<Conversion> {
        let [b'%', bytes @ ..] = text.as_bytes() else { return Err(MALFORMED) };
        let mut conversion = Conversion {
            left: false,
            plus: false,
            blank: false,
            alternate: false,
            zero: false,
            width: 0,
            precision: None,
            code: 0,
        };
        let mut at = 0;
        while let Some(flag) = bytes.get(at) {
            match flag {
                b'-' => conversion.left = true,
                b'+' => conversion.plus = true,
                b' ' => conversion.blank = true,
                b'#' => conversion.alternate = true,
                b'0' => conversion.zero = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut value = 0usize;
            while let Some(digit @ b'0'..=b'9') = bytes.get(*at) {
                value = value * 10 + usize::from(digit - b'0');
                *at += 1;
                if value > 1 << 20 {
                    return Err(Raise::Bailout("a width or precision beyond any use"));
                }
            }
            Ok(value)
        };
        conversion.width = number(&mut at)?;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            conversion.precision = Some(number(&mut at)?);
        }
        // C's length modifiers are taken and ignored.
        if matches!(bytes.get(at), Some(b'h' | b'l' | b'L')) {
            at += 1;
        }
        match &bytes[at.min(bytes.len())..] {
            [code] if b"diuoxXeEfFgGcrsa".contains(code) => Ok(Conversion { code: *code, ..conversion }),
            _ => Err(MALFORMED),
        }
    }

    /// A text in its field, cut to the precision.
    fn text<'a>(&self, cx: &mut Cx, text: Str<'_>) -> KernelResult<Str<'a>> {
        let cut = match self.precision {
            Some(precision) if precision < text.byte_len() => text.slice_bytes(0, text.byte_offset(precision)),
            _ => text,
        };
        self.field(cx, cut.as_str(), cut.char_len())
    }

    fn field<'a>(&self, cx: &mut Cx, text: &str, len: usize) -> KernelResult<Str<'a>> {
        let padding = self.width.saturating_sub(len);
        let mut out = cx.text(text.len() + padding)?;
        out.push_repeated(" ", if self.left { 0 } else { padding })?;
        out.push_str(text)?;
        out.push_repeated(" ", if self.left { padding } else { 0 })?;
        Ok(out.finish())
    }

    /// A number in its field: with its sign, and zeros behind it where they are asked for.
    fn number<'a>(&self, cx: &mut Cx, negative: bool, prefix: &str, digits: &str) -> KernelResult<Str<'a>> {
        let sign = match (negative, self.plus, self.blank) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        };
        let len = sign.len() + prefix.len() + digits.len();
        let padding = self.width.saturating_sub(len);
        let (before, zeros, behind) = match (self.left, self.zero) {
            (true, _) => (0, 0, padding),
            (false, true) => (0, padding, 0),
            (false, false) => (padding, 0, 0),
        };
        let mut out = cx.text(len + padding)?;
        out.push_repeated(" ", before)?;
        out.push_str(sign)?;
        out.push_str(prefix)?;
        out.push_repeated("0", zeros)?;
        out.push_str(digits)?;
        out.push_repeated(" ", behind)?;
        Ok(out.finish_as(true))
    }

    fn float<'a>(&self, cx: &mut Cx, value: f64) -> KernelResult<Str<'a>> {
        let style = Style {
            code: self.code.to_ascii_lowercase(),
            precision: self.precision.unwrap_or(6),
            alternate: self.alternate,
            point_zero: false,
        };
        let mut text = float::digits(value.abs(), style);
        if self.code.is_ascii_uppercase() {
            text.make_upper();
        }
        let negative = value.is_sign_negative() && !value.is_nan();
        self.number(cx, negative, "", std::str::from_utf8(text.as_bytes()).unwrap_or(""))
    }

    /// Base, prefix of the alternate form.
    fn radix(&self) -> (u32, &'static str) {
        let (base, prefix) = match self.code {
            b'o' => (8, "0o"),
            b'x' => (16, "0x"),
            b'X' => (16, "0X"),
            _ => (10, ""),
        };
        (base, if self.alternate { prefix } else { "" })
    }

    /// An integer by the digits of its magnitude.
    fn int<'a>(&self, cx: &mut Cx, negative: bool, digits: &str) -> KernelResult<Str<'a>> {
        let mut text = Scratch::new();
        text.push_zeros(self.precision.unwrap_or(0).saturating_sub(digits.len()));
        text.push(digits.as_bytes());
        if self.code == b'X' {
            text.make_upper();
        }
        self.number(cx, negative, self.radix().1, std::str::from_utf8(text.as_bytes()).unwrap_or(""))
    }

    fn small<'a>(&self, cx: &mut Cx, value: i64) -> KernelResult<Str<'a>> {
        let digits = Digits::new(value.unsigned_abs(), u64::from(self.radix().0));
        self.int(cx, value < 0, digits.as_str())
    }

    fn character<'a>(&self, cx: &mut Cx, value: i64) -> KernelResult<Str<'a>> {
        let Some(point) = u32::try_from(value).ok().filter(|point| *point < 0x11_0000) else {
            return Err(cx.raise(OverflowError, || "%c arg not in range(0x110000)".into()));
        };
        let ch = char::from_u32(point).ok_or_else(|| Raise::bailout("a lone surrogate"))?;
        self.field(cx, ch.encode_utf8(&mut [0; 4]), 1)
    }

    /// The exception for a value that the conversion does not take.
    fn refuse(&self, cx: &Cx, type_name: &str) -> Raise {
        let code = char::from(self.code);
        cx.raise(TypeError, || match self.code {
            b'd' | b'i' | b'u' => format!("%{code} format: a real number is required, not {type_name}"),
            b'o' | b'x' | b'X' => format!("%{code} format: an integer is required, not {type_name}"),
            b'c' => "%c requires int or char".to_string(),
            _ => format!("must be real number, not {type_name}"),
        })
    }

    fn is_text(&self) -> bool {
        matches!(self.code, b's' | b'r' | b'a')
    }

    fn is_float(&self) -> bool {
        matches!(self.code.to_ascii_lowercase(), b'e' | b'f' | b'g')
    }
}

/// The field of a conversion such as `%05d`.
fn decimal_field(spec: Str<'_>) -> Option<(usize, bool)> {
    spec.as_bytes().strip_prefix(b"%").filter(|rest| rest.ends_with(b"d")).and_then(super::int::decimal_field)
}

fn int<'a>(cx: &mut Cx, spec: Str<'_>, value: i64) -> KernelResult<Str<'a>> {
    if let Some((width, zeros)) = decimal_field(spec) {
        return cx.store(Digits::in_field(value, width, zeros).as_str());
    }
    let conversion = Conversion::parse(spec.as_str())?;
    match conversion.code {
        b'c' => conversion.character(cx, value),
        _ if conversion.is_text() => conversion.text(cx, Str::with_ascii(Digits::decimal(value).as_str(), true)),
        _ if conversion.is_float() => conversion.float(cx, value as f64),
        _ => conversion.small(cx, value),
    }
}

/// An integer of any size.
fn big_value(cx: &mut Cx, conversion: &Conversion, value: &BigInt) -> KernelResult<Object> {
    let text = match conversion.code {
        b'c' if value.bits() < 63 => return Err(Raise::Bailout("a lone surrogate")),
        b'c' => return Err(cx.raise(OverflowError, || "%c arg not in range(0x110000)".into())),
        _ if conversion.is_text() => conversion.text(cx, Str::with_ascii(&decimal_text(value)?, true))?,
        _ if conversion.is_float() => {
            let Some(value) = crate::core::nearest_float(value) else {
                return Err(cx.raise(OverflowError, || "int too large to convert to float".into()));
            };
            conversion.float(cx, value)?
        }
        _ => {
            let magnitude = BigInt::from(value.magnitude().clone());
            let base = conversion.radix().0;
            let digits = if base == 10 { decimal_text(&magnitude)? } else { magnitude.to_str_radix(base) };
            conversion.int(cx, value.sign() == Sign::Minus, &digits)?
        }
    };
    Ok(Object::str(text.as_str()))
}

fn big_int(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let conversion = Conversion::parse(take::str(&args[0])?.as_str())?;
    big_value(cx, &conversion, &big(&args[1])?)
}

fn big_float(cx: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let conversion = Conversion::parse(take::str(&args[0])?.as_str())?;
    let value = take::float(&args[1])?;
    if !matches!(conversion.code, b'd' | b'i' | b'u') {
        return Err(Raise::ROW_MEMORY);
    }
    let whole = crate::float::big_of_float(cx, value.trunc())?;
    big_value(cx, &conversion, &big(&whole)?)
}

op! {
    /// An int by one conversion.
    ///
    /// >>> "%05d" % 42
    /// '00042'
    percent_int = "percent.int" ""
    Pure fn (cx, _spec: str, _value: int) -> str fallible [ValueError, OverflowError] bails Operands { int(cx, _spec, _value) }
    big big_int
}

op! {
    /// A float by one conversion.
    ///
    /// >>> "%.2f" % 2.5
    /// '2.50'
    percent_float = "percent.float" ""
    Pure fn (cx, _spec: str, _value: float) -> str fallible [ValueError, OverflowError, TypeError] bails Operands {
        if let Some((width, zeros)) = decimal_field(_spec) {
            let whole = crate::float::trunc(cx, _value.trunc())?;
            return cx.store(Digits::in_field(whole, width, zeros).as_str());
        }
        let conversion = Conversion::parse(_spec.as_str())?;
        match conversion.code {
            _ if conversion.is_text() => conversion.text(cx, Str::with_ascii(Repr::new(_value).as_str(), true)),
            _ if conversion.is_float() => conversion.float(cx, _value),
            b'd' | b'i' | b'u' => {
                let whole = crate::float::trunc(cx, _value.trunc())?;
                conversion.small(cx, whole)
            }
            _ => Err(conversion.refuse(cx, "float")),
        }
    }
    big big_float
}

op! {
    /// A string by one conversion.
    ///
    /// >>> "%-6s|" % "abc"
    /// 'abc   |'
    percent_str = "percent.str" ""
    Pure fn (cx, _spec: str, _value: str) -> str fallible [TypeError] bails Operands {
        let conversion = Conversion::parse(_spec.as_str())?;
        match conversion.code {
            b's' => conversion.text(cx, _value),
            b'r' => conversion.text(cx, Str::new(&crate::text_repr::repr(_value.as_str()))),
            b'a' => conversion.text(cx, Str::new(&crate::text_repr::ascii(_value.as_str()))),
            b'c' if _value.char_len() == 1 => conversion.field(cx, _value.as_str(), 1),
            _ => Err(conversion.refuse(cx, "str")),
        }
    }
}

op! {
    /// A bool by one conversion: its name, or a number.
    ///
    /// >>> "%s %d" % (True, True)
    /// 'True 1'
    percent_bool = "percent.bool" ""
    Pure fn (cx, _spec: str, _value: bool) -> str fallible [ValueError, OverflowError] bails Operands {
        let conversion = Conversion::parse(_spec.as_str())?;
        if conversion.is_text() {
            return conversion.text(cx, Str::with_ascii(if _value { "True" } else { "False" }, true));
        }
        int(cx, _spec, i64::from(_value))
    }
}

op! {
    /// `None` by one conversion.
    ///
    /// >>> "%s" % None
    /// 'None'
    percent_none = "percent.none" ""
    Pure fn (cx, _spec: str, _value: none) -> str fallible [TypeError] bails Operands {
        let conversion = Conversion::parse(_spec.as_str())?;
        if conversion.is_text() {
            return conversion.text(cx, Str::with_ascii("None", true));
        }
        Err(conversion.refuse(cx, "NoneType"))
    }
}
