//! Reading a format specification (Python/formatter_unicode.c,
//! parse_internal_render_format_spec).

use crate::cx::{Cx, KernelResult};
use crate::unicode;
use exuvia_ir::ExcKind::ValueError;
use exuvia_ir::Raise;

/// A format specification.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub fill: char,
    pub align: u8,
    pub alternate: bool,
    pub no_negative_zero: bool,
    /// `+`, `-`, a space, or 0 for none.
    pub sign: u8,
    pub width: usize,
    pub separator: Separator,
    pub precision: Option<usize>,
    /// The presentation type.
    pub code: char,
}

/// What stands between groups of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    None,
    Comma,
    Underscore,
    /// An underscore after four digits, of a base that is a power of two.
    UnderscoreFour,
}

/// Numbers in a specification fit in a `Py_ssize_t`; widths and precisions beyond this
/// leave the row to CPython, which then runs out of memory, or not.
const MAX_SIZE: usize = 1 << 24;

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.text.chars();
        let ch = chars.next()?;
        self.text = chars.as_str();
        Some(ch)
    }

    fn take_if(&mut self, wanted: char) -> bool {
        let found = self.text.starts_with(wanted);
        if found {
            self.text = &self.text[wanted.len_utf8()..];
        }
        found
    }

    /// A number in decimal digits of any script, or `None` where there is none.
    fn number(&mut self, cx: &Cx) -> KernelResult<Option<usize>> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(unicode::decimal) {
            let before = number.unwrap_or(0i64);
            let next = before.checked_mul(10).and_then(|tens| tens.checked_add(i64::from(digit)));
            number = Some(next.ok_or_else(|| raise(cx, "Too many decimal digits in format string"))?);
            self.take();
        }
        Ok(number.map(|number| number as usize))
    }
}

/// A `ValueError`.
pub(super) fn raise(cx: &Cx, message: &str) -> Raise {
    cx.raise(ValueError, || message.to_string())
}

fn is_align(ch: char) -> bool {
    matches!(ch, '<' | '>' | '=' | '^')
}

/// Whether the character is shown as itself in a message.
fn is_shown(ch: char) -> bool {
    matches!(ch, '!'..='\x7f')
}

/// A character as CPython's messages show it.
fn quoted(ch: char) -> String {
    if is_shown(ch) { format!("'{ch}'") } else { format!("'\\x{:x}'", ch as u32) }
}

/// The exception for a presentation type that a type of values does not have.
pub(super) fn unknown_code(cx: &Cx, code: char, type_name: &str) -> Raise {
    cx.raise(ValueError, || format!("Unknown format code {} for object of type '{type_name}'", quoted(code)))
}

/// Reads a specification of the usual kind: zero flag, width, comma, precision, code.
#[inline]
fn usual(text: &str, plain: &Spec) -> Option<Spec> {
    let mut spec = *plain;
    let bytes = text.as_bytes();
    let mut at = 0;
    if bytes.first() == Some(&b'0') {
        spec.fill = '0';
        spec.align = if spec.align == b'>' { b'=' } else { spec.align };
        at = 1;
    }
    let number = |at: &mut usize| {
        let (start, mut value) = (*at, 0);
        while let Some(digit @ b'0'..=b'9') = bytes.get(*at) {
            value = value * 10 + usize::from(digit - b'0');
            *at += 1;
            // Longer numbers have limits to check.
            if *at - start > 3 {
                return None;
            }
        }
        Some((value, *at > start))
    };
    spec.width = number(&mut at)?.0;
    if bytes.get(at) == Some(&b',') {
        spec.separator = Separator::Comma;
        at += 1;
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        let (precision, given) = number(&mut at)?;
        spec.precision = given.then_some(precision);
        spec.precision?;
    }
    match &bytes[at..] {
        [] if spec.separator == Separator::None => Some(spec),
        [code] if spec.separator == Separator::Comma && !matches!(code, b'd' | b'f') => None,
        [code] if code.is_ascii_alphabetic() && *code != b'z' => Some(Spec { code: char::from(*code), ..spec }),
        _ => None,
    }
}

/// Reads a specification. `align` and `code` are those of the type of the value where
/// nothing is given; a number's `code` may be NUL for its own way.
pub(super) fn parse(cx: &Cx, text: &str, align: u8, code: char, type_name: &str) -> KernelResult<Spec> {
    let mut spec = Spec {
        fill: ' ',
        align,
        alternate: false,
        no_negative_zero: false,
        sign: 0,
        width: 0,
        separator: Separator::None,
        precision: None,
        code,
    };
    if let Some(spec) = usual(text, &spec) {
        return Ok(spec);
    }
    // NUL stands for "no code given" below; a NUL that is given is CPython's to refuse.
    if text.ends_with('\0') {
        return Err(Raise::Bailout("NUL in a format specification"));
    }
    let mut reader = Reader { text };
    let (mut fill_given, mut align_given) = (false, false);
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    if let (Some(fill), Some(align)) = (first, second)
        && is_align(align)
    {
        spec.fill = fill;
        spec.align = align as u8;
        (fill_given, align_given) = (true, true);
        reader.text = chars.as_str();
    } else if let Some(align) = first
        && is_align(align)
    {
        spec.align = align as u8;
        align_given = true;
        reader.take();
    }
    if let Some(sign @ (' ' | '+' | '-')) = reader.peek() {
        spec.sign = sign as u8;
        reader.take();
    }
    spec.no_negative_zero = reader.take_if('z');
    spec.alternate = reader.take_if('#');
    if !fill_given && reader.take_if('0') {
        spec.fill = '0';
        // Numbers are filled behind their sign; a string's zeros stand where its padding
        // does.
        if !align_given && align == b'>' {
            spec.align = b'=';
        }
    }
    let width = reader.number(cx)?;
    if reader.take_if(',') {
        spec.separator = Separator::Comma;
    }
    if reader.take_if('_') {
        if spec.separator != Separator::None {
            return Err(raise(cx, "Cannot specify both ',' and '_'."));
        }
        spec.separator = Separator::Underscore;
    }
    if spec.separator == Separator::Underscore && reader.peek() == Some(',') {
        return Err(raise(cx, "Cannot specify both ',' and '_'."));
    }
    if reader.take_if('.') {
        spec.precision = reader.number(cx)?;
        if spec.precision.is_none() {
            return Err(raise(cx, "Format specifier missing precision"));
        }
    }
    if let Some(code) = reader.take() {
        if !reader.text.is_empty() {
            let message = || format!("Invalid format specifier '{text}' for object of type '{type_name}'");
            return Err(cx.raise(ValueError, message));
        }
        spec.code = code;
    }
    if spec.separator != Separator::None {
        check_separator(cx, &mut spec)?;
    }
    spec.width = width.unwrap_or(0);
    if spec.width > MAX_SIZE || spec.precision.is_some_and(|precision| precision > MAX_SIZE) {
        return oversized(cx, &spec);
    }
    Ok(spec)
}

/// A precision beyond a C int is an error for numbers; what else is too large is not ours
/// to try.
fn oversized(cx: &Cx, spec: &Spec) -> KernelResult<Spec> {
    let number = matches!(spec.code, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' | 'n' | '\0');
    if number && spec.precision.is_some_and(|precision| precision > i32::MAX as usize) {
        return Err(raise(cx, "precision too big"));
    }
    Err(Raise::Bailout("a width or precision beyond any use"))
}

fn check_separator(cx: &Cx, spec: &mut Spec) -> KernelResult<()> {
    match spec.code {
        'd' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F' | '\0' => Ok(()),
        'b' | 'o' | 'x' | 'X' if spec.separator == Separator::Underscore => {
            spec.separator = Separator::UnderscoreFour;
            Ok(())
        }
        code => {
            let separator = if spec.separator == Separator::Comma { ',' } else { '_' };
            Err(cx.raise(ValueError, || format!("Cannot specify '{separator}' with {}.", quoted(code))))
        }
    }
}
