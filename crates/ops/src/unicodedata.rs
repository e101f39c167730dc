//! The module `unicodedata`: categories, combining classes and normal forms.
//!
//! Normal forms are those of the crate `unicode-normalization`, whose version of Unicode is newer
//! than CPython's. Unicode's stability policy fixes the normal forms of what is assigned, so both
//! agree on every text of such characters (UAX #15, section 3); a text with a character that
//! CPython's version does not assign leaves native code.

use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::op;
use crate::text::Str;
use crate::unicode;
use exuvia_ir::ExcKind::{TypeError, ValueError};
use exuvia_ir::Raise;
use unicode_normalization::{IsNormalized, UnicodeNormalization};

/// Every operation.
pub static OPS: &[&OpDef] = &[&category::DEF, &combining::DEF, &normalize::DEF, &is_normalized::DEF];

/// A normal form.
#[derive(Clone, Copy)]
enum Form {
    Nfc,
    Nfkc,
    Nfd,
    Nfkd,
}

impl Form {
    fn named(cx: &mut Cx, name: &str) -> KernelResult<Form> {
        match name {
            "NFC" => Ok(Form::Nfc),
            "NFKC" => Ok(Form::Nfkc),
            "NFD" => Ok(Form::Nfd),
            "NFKD" => Ok(Form::Nfkd),
            _ => Err(cx.raise(ValueError, || "invalid normalization form".into())),
        }
    }

    /// The form into which a text must be brought; `None` where it is in it, as is seen at a glance.
    fn wanted(cx: &mut Cx, name: Str<'_>, text: Str<'_>) -> KernelResult<Option<Form>> {
        let text = text.as_str();
        // CPython asks for the form of a text that is not empty (Modules/unicodedata.c).
        if text.is_empty() {
            return Ok(None);
        }
        let form = Form::named(cx, name.as_str())?;
        if text.is_ascii() {
            return Ok(None);
        }
        known(text)?;
        Ok((!form.is_plain(text)).then_some(form))
    }

    /// Whether the text is in this form, as far as that is seen at a glance.
    fn is_plain(self, text: &str) -> bool {
        let quick = match self {
            Form::Nfc => unicode_normalization::is_nfc_quick(text.chars()),
            Form::Nfkc => unicode_normalization::is_nfkc_quick(text.chars()),
            Form::Nfd => unicode_normalization::is_nfd_quick(text.chars()),
            Form::Nfkd => unicode_normalization::is_nfkd_quick(text.chars()),
        };
        quick == IsNormalized::Yes
    }

    /// The text in this form.
    fn of<'a>(self, cx: &mut Cx, text: &str) -> KernelResult<Str<'a>> {
        match self {
            Form::Nfc => write(cx, text.len(), text.nfc()),
            Form::Nfkc => write(cx, text.len(), text.nfkc()),
            Form::Nfd => write(cx, text.len(), text.nfd()),
            Form::Nfkd => write(cx, text.len(), text.nfkd()),
        }
    }
}

/// The text of some characters.
fn write<'a>(cx: &mut Cx, capacity: usize, chars: impl Iterator<Item = char>) -> KernelResult<Str<'a>> {
    let mut out = cx.text(capacity)?;
    for (at, ch) in chars.enumerate() {
        if at % 0x1_0000 == 0 && out.interrupted() {
            return Err(Raise::Interrupted);
        }
        out.push(ch)?;
    }
    Ok(out.finish())
}

/// The only character of a text.
fn one(cx: &mut Cx, text: &str, function: &str) -> KernelResult<char> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(ch), None) => Ok(ch),
        _ => Err(cx.raise(TypeError, || format!("{function}() argument must be a unicode character, not str"))),
    }
}

/// Whether every character is one that both versions of Unicode know.
fn known(text: &str) -> KernelResult<()> {
    match text.chars().all(|ch| ch.is_ascii() || unicode::is_assigned(ch)) {
        true => Ok(()),
        false => Err(Raise::Bailout("a character that Unicode 14 does not assign")),
    }
}

op! {
    /// The general category of a character.
    ///
    /// >>> unicodedata.category("é")
    /// 'Ll'
    category = "unicodedata.category" "unicodedata.category"
    Pure fn (cx, _chr: str) -> str fallible [TypeError] {
        Ok(Str::with_ascii(unicode::category(one(cx, _chr.as_str(), "category")?), true))
    }
}

op! {
    /// The canonical combining class of a character, 0 where it does not combine.
    ///
    /// >>> unicodedata.combining("\u0301")
    /// 230
    combining = "unicodedata.combining" "unicodedata.combining"
    Pure fn (cx, _chr: str) -> int fallible [TypeError] {
        Ok(unicode::combining(one(cx, _chr.as_str(), "combining")?) as i64)
    }
}

op! {
    /// The text in a normal form: NFC, NFKC, NFD or NFKD.
    ///
    /// >>> unicodedata.normalize("NFKC", "ﬁancé")
    /// 'fiancé'
    normalize = "unicodedata.normalize" "unicodedata.normalize"
    Pure fn (cx, _form: str, _unistr: str) -> str fallible [ValueError] bails Operands {
        match Form::wanted(cx, _form, _unistr)? {
            Some(form) => form.of(cx, _unistr.as_str()),
            None => Ok(_unistr),
        }
    }
}

op! {
    /// Whether the text is in a normal form.
    ///
    /// >>> unicodedata.is_normalized("NFC", "é")
    /// True
    is_normalized = "unicodedata.is_normalized" "unicodedata.is_normalized"
    Pure fn (cx, _form: str, _unistr: str) -> bool fallible [ValueError] bails Operands {
        match Form::wanted(cx, _form, _unistr)? {
            Some(form) => Ok(form.of(cx, _unistr.as_str())?.as_str() == _unistr.as_str()),
            None => Ok(true),
        }
    }
}
