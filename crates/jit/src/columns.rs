//! The arguments of a batch as native code reads them.
//!
//! Numbers are loaded from Arrow's buffers by their width, booleans and validity from
//! bitmaps. Strings of every layout are decoded a chunk of rows at a time into pairs of
//! words (see [`exuvia_ops::text::Str`]), so that one compiled loop serves all layouts.

use crate::items::Items;
use crate::{CompileError, RunError, border};
use arrow::array::{Array, ArrayRef, AsArray, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::compute::CastOptions;
use arrow::datatypes::DataType;
use exuvia_ir::{Raise, Type};
use exuvia_ops::adapt::{Pair, call_fallible};
use exuvia_ops::cx::{Cx, KernelResult};
use exuvia_ops::list::RawList;
use exuvia_ops::text::ASCII_BIT;
use std::sync::Arc;

/// The rows that native code runs in one call: few enough that the decoded strings stay
/// in the fastest caches, a multiple of 8 so that a bitmap's bit offset stays.
pub(crate) const CHUNK: usize = 2048;
/// The rows of a batch's first chunk where results may be large.
pub(crate) const FIRST_CHUNK: usize = 32;

/// The validity of rows without NULLs.
static ALL_VALID: [u8; CHUNK / 8] = [0xFF; CHUNK / 8];

/// Where the text of a NULL points.
static EMPTY: [u8; 1] = [0];

/// How a parameter of that SQL type is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// An integer of 1, 2, 4 or 8 bytes.
    Int { bytes: u8, signed: bool },
    /// A float of 4 bytes.
    Float32,
    /// A float of 8 bytes.
    Float64,
    /// A bit.
    Bool,
    /// A pair of words.
    Str,
    /// The address of a list that is made for the row.
    List,
    /// The address of the header of a list whose elements lie where they are.
    Borrowed,
}

impl Loaded {
    /// How values of an Arrow type are loaded.
    pub fn of(ty: &DataType) -> Result<Loaded, CompileError> {
        Ok(match &border::layout(ty) {
            DataType::Int8 => Loaded::Int { bytes: 1, signed: true },
            DataType::Int16 => Loaded::Int { bytes: 2, signed: true },
            DataType::Int32 => Loaded::Int { bytes: 4, signed: true },
            DataType::Int64 => Loaded::Int { bytes: 8, signed: true },
            DataType::UInt8 => Loaded::Int { bytes: 1, signed: false },
            DataType::UInt16 => Loaded::Int { bytes: 2, signed: false },
            DataType::UInt32 => Loaded::Int { bytes: 4, signed: false },
            DataType::UInt64 => Loaded::Int { bytes: 8, signed: false },
            DataType::Float32 => Loaded::Float32,
            DataType::Float64 => Loaded::Float64,
            DataType::Boolean => Loaded::Bool,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Loaded::Str,
            DataType::List(_) => Loaded::List,
            DataType::Dictionary(_, values) if Loaded::of(values)? == Loaded::Str => Loaded::Str,
            other => return Err(CompileError::unsupported(format!("an argument of type {other}"))),
        })
    }

    /// The type of the loaded value in the IR; `None` for lists, whose elements may be of several.
    pub fn scalar(self) -> Option<Type> {
        Some(match self {
            Loaded::Int { .. } => Type::Int,
            Loaded::Float32 | Loaded::Float64 => Type::Float,
            Loaded::Bool => Type::Bool,
            Loaded::Str => Type::Str,
            Loaded::List | Loaded::Borrowed => return None,
        })
    }
}

/// Whether the elements of a list type become slots of native code for a whole batch, or are such.
pub(crate) fn holds_slots(list: &DataType) -> bool {
    let DataType::List(field) = list else { return false };
    match Loaded::of(field.data_type()) {
        // Some of eight bytes without a sign are no ints of native code.
        Ok(Loaded::Int { bytes, signed }) => signed || bytes < 8,
        Ok(Loaded::Float32 | Loaded::Float64 | Loaded::Str) => true,
        _ => false,
    }
}

/// One argument for one chunk, as native code reads it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Argument {
    /// The first row's value; for a bool the byte of its bit, for a list where it begins.
    pub values: *const u8,
    /// For a bool the position of the first row's bit in that byte.
    pub bit: u64,
    /// The byte of the first row's validity bit.
    pub validity: *const u8,
    /// The position of that bit.
    pub validity_bit: u64,
    /// The [`Column`], whose texts are decoded row by row.
    pub column: *mut Column,
    /// What the lists hold, as far as they may lie where they are.
    pub words: *const u64,
}

/// An argument of a batch.
#[derive(Debug)]
pub(crate) struct Column {
    /// Keeps what `layout` points into; also what `texts` hands out.
    array: ArrayRef,
    nulls: Option<NullBuffer>,
    layout: Layout,
    /// The decoded strings of the current chunk.
    pairs: Vec<[u64; 2]>,
    /// The bytes of all texts decoded so far, except those within their views.
    text_bytes: usize,
    /// Whether texts are decoded only where native code asks for them.
    by_row: bool,
    /// Whether texts are marked that are ASCII.
    flagged: bool,
    /// The first row of the current chunk.
    start: usize,
}

#[derive(Debug)]
enum Layout {
    Fixed {
        base: *const u8,
        width: usize,
    },
    Bits {
        base: *const u8,
        bit: usize,
    },
    Offsets32,
    Offsets64,
    Views {
        buffers: Vec<*const u8>,
    },
    Lists(OffsetBuffer<i32>, Items),
    /// Nobody looks at the values.
    Unneeded,
}

/// What native code looks at of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Whether it looks at the values at all.
    pub needed: bool,
    /// Whether it does so only for some rows.
    pub by_row: bool,
    /// Whether texts are marked that are ASCII.
    pub flagged: bool,
}

impl Reading {
    /// Everything.
    #[cfg(test)]
    const ALL: Reading = Reading { needed: true, by_row: false, flagged: true };
}

impl Column {
    /// An argument that the kernel was compiled for as `declared`; its values are looked
    /// at only if they are needed.
    pub fn new(
        array: &ArrayRef,
        declared: &DataType,
        (loaded, ty): (Loaded, &Type),
        Reading { needed, by_row, flagged }: Reading,
    ) -> Result<Column, RunError> {
        if matches!(loaded, Loaded::List | Loaded::Borrowed) {
            return Column::of_lists(array, declared, (loaded, ty), needed);
        }
        let array = match needed || array.data_type() != declared {
            true => plain(&border::load(array), &border::layout(declared), loaded)?,
            false => Arc::clone(array),
        };
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        let layout = match array.data_type() {
            _ if !needed => Layout::Unneeded,
            DataType::Utf8 => Layout::Offsets32,
            DataType::LargeUtf8 => Layout::Offsets64,
            DataType::Utf8View => {
                Layout::Views { buffers: array.as_string_view().data_buffers().iter().map(Buffer::as_ptr).collect() }
            }
            DataType::Boolean => {
                let bits = array.as_boolean().values();
                Layout::Bits { base: bits.values().as_ptr(), bit: bits.offset() }
            }
            _ => {
                let data = array.to_data();
                let width = match loaded {
                    Loaded::Int { bytes, .. } => usize::from(bytes),
                    Loaded::Float32 => 4,
                    Loaded::Float64 => 8,
                    Loaded::Bool | Loaded::Str | Loaded::List | Loaded::Borrowed => {
                        return Err(RunError::Argument(format!("{} for {declared}", array.data_type())));
                    }
                };
                let base = data.buffers()[0].as_ptr().wrapping_add(data.offset() * width);
                Layout::Fixed { base, width }
            }
        };
        let pairs = if needed && loaded == Loaded::Str { vec![[0; 2]; CHUNK.min(array.len())] } else { Vec::new() };
        Ok(Column { array, nulls, layout, pairs, text_bytes: 0, by_row, flagged, start: 0 })
    }

    fn of_lists(
        array: &ArrayRef,
        declared: &DataType,
        (loaded, ty): (Loaded, &Type),
        needed: bool,
    ) -> Result<Column, RunError> {
        let element = ty.alternatives().iter().find_map(|ty| match ty {
            Type::List(element) => Some(element),
            _ => None,
        });
        let layout = match (needed, element) {
            (true, Some(element)) => {
                let (offsets, items) = crate::items::list_of(array, declared, element)?;
                if loaded == Loaded::Borrowed && items.words().is_none() {
                    return Err(RunError::Argument(format!("{declared} has no words")));
                }
                Layout::Lists(offsets, items)
            }
            _ => Layout::Unneeded,
        };
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let (array, pairs) = (Arc::clone(array), Vec::new());
        Ok(Column { array, nulls, layout, pairs, text_bytes: 0, by_row: false, flagged: true, start: 0 })
    }

    /// The list of a row of the chunk.
    fn list(&self, cx: &mut Cx, row: usize) -> KernelResult<*mut RawList> {
        match &self.layout {
            Layout::Lists(offsets, items) => {
                let row = self.start + row;
                items.list(cx, offsets[row] as usize, offsets[row + 1] as usize)
            }
            _ => Err(Raise::Bailout("a list that nobody needs")),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Which rows are not NULL; `None` if all are.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// The buffers that hold the text of strings longer than a view holds inline.
    pub fn texts(&self) -> Vec<Buffer> {
        match &self.layout {
            Layout::Fixed { .. } | Layout::Bits { .. } | Layout::Lists(..) | Layout::Unneeded => Vec::new(),
            Layout::Offsets32 => vec![self.array.as_string::<i32>().values().clone()],
            Layout::Offsets64 => vec![self.array.as_string::<i64>().values().clone()],
            Layout::Views { .. } => self.array.as_string_view().data_buffers().to_vec(),
        }
    }

    /// The bytes of the texts decoded so far, as far as results can share them.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The argument for the `rows` rows from `start` on, at most [`CHUNK`]. Valid until the next call.
    pub fn chunk(&mut self, start: usize, rows: usize) -> Argument {
        self.start = start;
        if !self.by_row {
            self.decode(0, rows);
        }
        let (values, bit) = match &self.layout {
            Layout::Fixed { base, width } => (base.wrapping_add(start * width), 0),
            Layout::Bits { base, bit } => (base.wrapping_add((bit + start) / 8), (bit + start) % 8),
            Layout::Offsets32 | Layout::Offsets64 | Layout::Views { .. } => (self.pairs.as_ptr().cast(), 0),
            Layout::Lists(offsets, _) => (offsets[start..].as_ptr().cast(), 0),
            Layout::Unneeded => (std::ptr::null(), 0),
        };
        let words = match &self.layout {
            Layout::Lists(_, items) => items.words().map_or(std::ptr::null(), <[u64]>::as_ptr),
            _ => std::ptr::null(),
        };
        let (validity, validity_bit) = bits_from(self.nulls.as_ref(), start);
        Argument { values, bit: bit as u64, validity, validity_bit, column: self, words }
    }

    /// Decodes the texts of so many rows of the chunk from `row` on.
    #[inline]
    fn decode(&mut self, row: usize, rows: usize) {
        self.text_bytes +=
            if self.flagged { self.decode_as::<true>(row, rows) } else { self.decode_as::<false>(row, rows) };
    }

    #[inline]
    fn decode_as<const FLAGGED: bool>(&mut self, row: usize, rows: usize) -> usize {
        let start = self.start + row;
        match &self.layout {
            Layout::Fixed { .. } | Layout::Bits { .. } | Layout::Lists(..) | Layout::Unneeded => 0,
            Layout::Offsets32 => {
                decode_offsets::<i32, FLAGGED>(self.array.as_string(), start, &mut self.pairs[row..row + rows])
            }
            Layout::Offsets64 => {
                decode_offsets::<i64, FLAGGED>(self.array.as_string(), start, &mut self.pairs[row..row + rows])
            }
            Layout::Views { buffers } => {
                let pairs = &mut self.pairs[row..row + rows];
                decode_views::<FLAGGED>(self.array.as_string_view(), buffers, self.nulls.as_ref(), start, pairs)
            }
        }
    }
}

/// Decodes the text of a row; called by native code.
pub(crate) extern "C" fn decode_row(column: *mut Column, row: u64) {
    // SAFETY: native code passes the column that `Kernel::run_loop` lent it for the call,
    // during which nobody else looks at it.
    let column = unsafe { &mut *column };
    column.decode(row as usize, 1);
}

/// The list of a row of the chunk, in the row's arena: status, address. Called by native code.
pub(crate) unsafe extern "C" fn make_list(cx: *mut Cx, column: *const Column, row: u64) -> Pair {
    // SAFETY: native code passes its context, and the column that `Kernel::run_loop` lent it for the
    // call, which nobody changes during this.
    unsafe { call_fallible(cx, |cx| (*column).list(cx, row as usize).map(|list| list as i64)) }
}

/// The byte and the position in it of the validity bit of row `start`.
pub(crate) fn bits_from(nulls: Option<&NullBuffer>, start: usize) -> (*const u8, u64) {
    match nulls {
        None => (ALL_VALID.as_ptr(), 0),
        Some(nulls) => {
            let bit = nulls.offset() + start;
            (nulls.inner().values().as_ptr().wrapping_add(bit / 8), (bit % 8) as u64)
        }
    }
}

/// The array without dictionary, as the type that the kernel loads.
fn plain(array: &ArrayRef, declared: &DataType, loaded: Loaded) -> Result<ArrayRef, RunError> {
    let wanted = match (array.data_type(), loaded) {
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, Loaded::Str) => return Ok(array.clone()),
        (DataType::Dictionary(_, values), _) => (**values).clone(),
        (_, Loaded::Str) => DataType::Utf8,
        (ty, _) if ty == declared => return Ok(array.clone()),
        _ => declared.clone(),
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |array: &ArrayRef, wanted: &DataType| {
        arrow::compute::cast_with_options(array, wanted, &options)
            .map_err(|error| RunError::Argument(error.to_string()))
    };
    // Only another layout of the same type, or NULLs without a type, may come here; any
    // other cast would change values without a sign.
    match array.data_type() {
        DataType::Null => cast(array, &wanted),
        DataType::Dictionary(..) if wanted != *array.data_type() => plain(&cast(array, &wanted)?, declared, loaded),
        other => Err(RunError::Argument(format!("{other} for {declared}"))),
    }
}

/// The position of the first byte from `from` on that is not ASCII; the length if all are.
fn next_non_ascii(bytes: &[u8], from: usize) -> usize {
    const STEP: usize = 64;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let word = |word: &[u8]| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        u64::from_le_bytes(eight) & HIGH_BITS
    };
    let mut at = from;
    // Blocks whose words are joined without a branch compile to vector instructions.
    while let Some(block) = bytes.get(at..at + STEP) {
        if block.chunks_exact(8).fold(0, |all, eight| all | word(eight)) != 0 {
            break;
        }
        at += STEP;
    }
    for eight in bytes[at..].chunks(8) {
        let high = word(eight);
        if high != 0 {
            return at + (high.trailing_zeros() / 8) as usize;
        }
        at += eight.len();
    }
    bytes.len()
}

/// Decodes rows of a string array with offsets. The text of consecutive rows is
/// consecutive, so one scan of the whole says which rows are ASCII, if they are to be `FLAGGED`. Returns the
/// length of all texts.
pub(crate) fn decode_offsets<O: OffsetSizeTrait, const FLAGGED: bool>(
    array: &GenericStringArray<O>,
    start: usize,
    out: &mut [[u64; 2]],
) -> usize {
    let offsets = &array.value_offsets()[start..=start + out.len()];
    let values = array.values().as_slice();
    let limit = offsets[out.len()].as_usize();
    let values = &values[..limit];
    let base = values.as_ptr() as u64;
    let mut bad = if FLAGGED { next_non_ascii(values, offsets[0].as_usize()) } else { 0 };
    for (pair, bounds) in out.iter_mut().zip(offsets.windows(2)) {
        let (from, to) = (bounds[0].as_usize(), bounds[1].as_usize());
        let mut meta = (to - from) as u64;
        if FLAGGED && to <= bad {
            meta |= ASCII_BIT;
        } else if FLAGGED {
            bad = next_non_ascii(values, to);
        }
        *pair = [base + from as u64, meta];
    }
    limit - offsets[0].as_usize()
}

/// Decodes rows of a view array, with a look at whether they are ASCII if they are to be `FLAGGED`. Returns the
/// length of the texts outside their views.
pub(crate) fn decode_views<const FLAGGED: bool>(
    array: &StringViewArray,
    buffers: &[*const u8],
    nulls: Option<&NullBuffer>,
    start: usize,
    out: &mut [[u64; 2]],
) -> usize {
    const HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080;
    let mut long = 0;
    let views = &array.views()[start..start + out.len()];
    for (row, (pair, view)) in out.iter_mut().zip(views).enumerate() {
        // The view of a NULL may be anything.
        if nulls.is_some_and(|nulls| nulls.is_null(start + row)) {
            *pair = [EMPTY.as_ptr() as u64, ASCII_BIT];
            continue;
        }
        let len = *view as u32 as usize;
        let (ptr, ascii) = if len <= crate::views::INLINE {
            // What follows the text within the view is zero.
            let text = std::ptr::from_ref(view).cast::<u8>().wrapping_add(4);
            (text, FLAGGED && (*view >> 32) & HIGH_BITS == 0)
        } else {
            let text = buffers[(*view >> 64) as u32 as usize].wrapping_add((*view >> 96) as u32 as usize);
            long += len;
            // SAFETY: a valid view that is not NULL lies within the buffer that it names.
            (text, FLAGGED && is_ascii(unsafe { std::slice::from_raw_parts(text, len) }))
        };
        let flag = if ascii { ASCII_BIT } else { 0 };
        *pair = [ptr as u64, len as u64 | flag];
    }
    long
}

/// Whether a text of at least eight bytes is ASCII.
#[inline]
fn is_ascii(text: &[u8]) -> bool {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let len = text.len();
    let all = match len {
        8..=16 => word(text, 0) | word(text, len - 8),
        17..=32 => word(text, 0) | word(text, 8) | word(text, len - 16) | word(text, len - 8),
        // Cells are short as a rule and ASCII as a rule: no branch on what is in them.
        33..=256 => (0..len - 32).step_by(32).fold(block(text, len - 32), |all, at| all | block(text, at)),
        _ => return text.is_ascii(),
    };
    all & HIGH_BITS == 0
}

#[inline]
fn word(text: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&text[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// Four words joined.
#[inline]
fn block(text: &[u8], at: usize) -> u64 {
    let text = &text[at..at + 32];
    word(text, 0) | word(text, 8) | word(text, 16) | word(text, 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, LargeStringArray, StringArray};
    use arrow::datatypes::Int32Type;
    use exuvia_ops::text::Str;

    fn decoded(array: &ArrayRef) -> Vec<(String, bool)> {
        let mut column = Column::new(array, array.data_type(), (Loaded::Str, &Type::Str), Reading::ALL).unwrap();
        let mut out = Vec::new();
        let mut start = 0;
        while start < array.len() {
            let rows = CHUNK.min(array.len() - start);
            column.chunk(start, rows);
            for pair in &column.pairs[..rows] {
                // SAFETY: the pairs describe texts of `array`, which is alive.
                let text = unsafe { Str::from_words(pair[0] as *const u8, pair[1]) };
                out.push((text.as_str().to_string(), text.known_ascii()));
            }
            start += rows;
        }
        out
    }

    #[test]
    fn every_layout_gives_text_and_flag() {
        let texts: Vec<Option<String>> = (0..5000)
            .map(|at| match at % 7 {
                0 => None,
                1 => Some(String::new()),
                2 => Some(format!("straße {at}")),
                3 => Some(format!("a text of more than twelve bytes {at}")),
                4 => Some("日本".to_string()),
                _ => Some(format!("{at}")),
            })
            .collect();
        let arrays: [ArrayRef; 4] = [
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from_iter(texts.clone())),
            Arc::new(texts.iter().map(|text| text.as_deref()).collect::<DictionaryArray<Int32Type>>()),
        ];
        for array in arrays {
            for (from, len) in [(0, 5000), (3, 4000), (2999, 2001), (5000, 0)] {
                let sliced = array.slice(from, len);
                for ((text, ascii), expected) in decoded(&sliced).into_iter().zip(&texts[from..from + len]) {
                    let expected = expected.as_deref().unwrap_or("");
                    assert_eq!(text, expected, "{}", array.data_type());
                    assert_eq!(ascii, expected.is_ascii(), "{text} {}", array.data_type());
                }
            }
        }
    }

    #[test]
    fn ascii_of_every_length() {
        for len in (8..140).chain(250..260) {
            let mut text = vec![b'x'; len];
            assert!(is_ascii(&text));
            for at in 0..len {
                text[at] = 0xC3;
                assert!(!is_ascii(&text), "{len} {at}");
                assert_eq!(next_non_ascii(&text, 0), at);
                text[at] = b'x';
            }
            assert_eq!(next_non_ascii(&text, 3), len);
        }
    }
}
