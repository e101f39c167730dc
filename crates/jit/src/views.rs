//! The string results of a kernel, row by row.
//!
//! A Utf8View result of more than twelve bytes shares the buffer it lies in (an
//! argument's or a constant's) where there is one, else its text is appended to a block
//! of our own. Shared buffers stay alive as long as the result, so at the end the
//! result is copied compactly if less than a quarter of the shared bytes is referred to.
//! Utf8 and LargeUtf8 results are appended one after the other.

use crate::RunError;
use arrow::array::{ArrayRef, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::sync::Arc;

/// The longest text that stands within its view.
pub(crate) const INLINE: usize = 12;
/// The size of a block of text of our own; longer texts get a block for themselves.
const BLOCK: usize = 64 << 10;
/// Shared bytes below which nobody minds.
const NEGLIGIBLE: usize = 64 << 10;

/// What native code writes string results to.
#[derive(Debug)]
pub(crate) struct Strings {
    /// The row number of the chunk's first row.
    pub base: usize,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Views(Views),
    /// Text in order, and where each row begins.
    Text {
        bytes: Vec<u8>,
        ends: Vec<u64>,
        late: Vec<(usize, String)>,
    },
}

#[derive(Debug, Default)]
struct Views {
    views: Vec<u128>,
    shared: Vec<Shared>,
    /// The position in `shared` of the last hit: rows take from the same buffer in runs.
    last: usize,
    buffers: Vec<Buffer>,
    block: Vec<u8>,
    /// The index in `buffers` that `block` will have.
    block_index: Option<usize>,
    too_large: bool,
}

/// A buffer that results may point to.
#[derive(Debug)]
struct Shared {
    start: usize,
    end: usize,
    buffer: Buffer,
    index: Option<u32>,
    used: usize,
}

impl Strings {
    /// Results for `rows` rows as views; views may point into `shared`.
    pub fn views(rows: usize, shared: impl Iterator<Item = Buffer>) -> Strings {
        let mut shared: Vec<Shared> = shared
            .map(|buffer| {
                let start = buffer.as_ptr() as usize;
                Shared { start, end: start + buffer.len(), buffer, index: None, used: 0 }
            })
            .collect();
        shared.sort_by_key(|shared| shared.start);
        let views = Views { views: vec![0; rows], shared, ..Views::default() };
        Strings { base: 0, sink: Sink::Views(views) }
    }

    /// Results for `rows` rows as one text.
    pub fn text(rows: usize) -> Strings {
        let sink = Sink::Text { bytes: Vec::new(), ends: Vec::with_capacity(rows), late: Vec::new() };
        Strings { base: 0, sink }
    }

    /// Writes the result of the row at `row` of the chunk.
    pub fn emit(&mut self, row: usize, text: &[u8]) {
        let row = self.base + row;
        match &mut self.sink {
            Sink::Views(views) => views.emit(row, text),
            Sink::Text { bytes, ends, .. } => {
                // Rows without text were not reported; they are empty.
                ends.resize(row, bytes.len() as u64);
                bytes.extend_from_slice(text);
                ends.push(bytes.len() as u64);
            }
        }
    }

    /// Forgets the text of the rows from `row` on.
    pub fn forget_from(&mut self, row: usize) {
        match &mut self.sink {
            Sink::Views(views) => views.views[row..].fill(0),
            Sink::Text { bytes, ends, .. } => {
                ends.truncate(row);
                bytes.truncate(ends.last().map_or(0, |end| *end as usize));
            }
        }
    }

    /// Sets the result of a row that has none yet, in any order.
    pub fn set(&mut self, row: usize, text: &str) {
        match &mut self.sink {
            Sink::Views(views) => views.emit(row, text.as_bytes()),
            Sink::Text { late, .. } => late.push((row, text.to_string())),
        }
    }

    /// The results as views.
    pub fn finish_views(self, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef, RunError> {
        match self.sink {
            Sink::Views(views) => views.finish(nulls),
            Sink::Text { .. } => finish_text::<i32>(self.sink, rows, None)
                .map(|array| Arc::new(StringViewArray::from(&array)) as ArrayRef),
        }
    }

    /// The results as one text with offsets.
    pub fn finish_text<O: OffsetSizeTrait>(self, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef, RunError> {
        finish_text::<O>(self.sink, rows, nulls).map(|array| Arc::new(array) as ArrayRef)
    }
}

fn finish_text<O: OffsetSizeTrait>(
    sink: Sink,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<GenericStringArray<O>, RunError> {
    let Sink::Text { mut bytes, mut ends, mut late } = sink else {
        return Err(RunError::Argument("views asked for as text".to_string()));
    };
    ends.resize(rows, bytes.len() as u64);
    if !late.is_empty() {
        late.sort_by_key(|(row, _)| *row);
        let mut merged = Vec::with_capacity(bytes.len() + late.iter().map(|(_, text)| text.len()).sum::<usize>());
        let mut copied = 0;
        let mut added = 0;
        let mut next = late.iter().peekable();
        for (row, end) in ends.iter_mut().enumerate() {
            if let Some((_, text)) = next.next_if(|(at, _)| *at == row) {
                // The row has no text yet, so its end is where the text before it ends.
                merged.extend_from_slice(&bytes[copied..*end as usize]);
                copied = *end as usize;
                merged.extend_from_slice(text.as_bytes());
                added += text.len() as u64;
            }
            *end += added;
        }
        merged.extend_from_slice(&bytes[copied..]);
        bytes = merged;
    }
    if O::from_usize(bytes.len()).is_none() {
        return Err(RunError::OutputTooLarge);
    }
    let offsets: Vec<O> = std::iter::once(0).chain(ends).map(|end| O::usize_as(end as usize)).collect();
    // SAFETY: offsets rise from 0 to the length of `bytes`, and every row's text is a
    // whole `str`.
    unsafe {
        let offsets = OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets));
        Ok(GenericStringArray::<O>::new_unchecked(offsets, Buffer::from_vec(bytes), nulls))
    }
}

impl Views {
    #[inline]
    fn emit(&mut self, row: usize, text: &[u8]) {
        let view = if text.len() <= INLINE {
            inline_view(text)
        } else if text.len() <= i32::MAX as usize {
            self.long(text)
        } else {
            self.too_large = true;
            0
        };
        if let Some(slot) = self.views.get_mut(row) {
            *slot = view;
        }
    }

    fn long(&mut self, text: &[u8]) -> u128 {
        let start = text.as_ptr() as usize;
        let end = start + text.len();
        let within = |shared: &Shared| start >= shared.start && end <= shared.end;
        if !self.shared.get(self.last).is_some_and(within) {
            let after = self.shared.partition_point(|shared| shared.start <= start);
            self.last = after.wrapping_sub(1);
        }
        if let Some(shared) = self.shared.get_mut(self.last)
            && within(shared)
            // The offset of a view is a signed 32-bit number.
            && end - shared.start <= i32::MAX as usize
        {
            let index = *shared.index.get_or_insert_with(|| {
                self.buffers.push(shared.buffer.clone());
                self.buffers.len() as u32 - 1
            });
            shared.used += text.len();
            return long_view(text, index, (start - shared.start) as u32);
        }
        self.copy(text)
    }

    /// Appends the text to a block of our own.
    fn copy(&mut self, text: &[u8]) -> u128 {
        if self.block.len() + text.len() > self.block.capacity() {
            self.flush();
            self.block = Vec::with_capacity(BLOCK.max(text.len()));
        }
        let index = *self.block_index.get_or_insert_with(|| {
            // The place is taken now and filled when the block is full.
            self.buffers.push(Buffer::from_vec(Vec::<u8>::new()));
            self.buffers.len() - 1
        });
        let offset = self.block.len() as u32;
        self.block.extend_from_slice(text);
        long_view(text, index as u32, offset)
    }

    fn flush(&mut self) {
        if let Some(index) = self.block_index.take() {
            self.buffers[index] = Buffer::from_vec(std::mem::take(&mut self.block));
        }
    }

    fn finish(mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, RunError> {
        if self.too_large {
            return Err(RunError::OutputTooLarge);
        }
        self.flush();
        let (used, held) = self
            .shared
            .iter()
            .filter(|shared| shared.index.is_some())
            .fold((0, 0), |(used, held), shared| (used + shared.used, held + shared.buffer.len()));
        // SAFETY: every view is either inline and zero-padded, or lies within the buffer
        // that it names; the text is a whole `str`.
        let array = unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(self.views), self.buffers, nulls) };
        Ok(if held > NEGLIGIBLE && used < held / 4 { Arc::new(array.gc()) } else { Arc::new(array) })
    }
}

/// The view of a text of at most [`INLINE`] bytes: its length, the text, zeros.
#[inline]
fn inline_view(text: &[u8]) -> u128 {
    let len = text.len();
    let word = |at: usize| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&text[at..at + 4]);
        u64::from(u32::from_le_bytes(bytes))
    };
    // Overlapping reads instead of a copy of unknown length.
    let (low, high) = match len {
        0 => (0, 0),
        1..4 => {
            let byte = |at: usize| u64::from(text[at]) << (8 * at);
            (byte(0) | byte(len / 2) | byte(len - 1), 0)
        }
        4..8 => (word(0) | word(len - 4) << (8 * (len - 4)), 0),
        _ => (word(0) | word(4) << 32, word(len - 4) >> (8 * (12 - len))),
    };
    len as u128 | u128::from(low) << 32 | u128::from(high) << 96
}

/// The view of a longer text: length, first four bytes, buffer, offset.
fn long_view(text: &[u8], buffer: u32, offset: u32) -> u128 {
    let mut prefix = [0; 4];
    prefix.copy_from_slice(&text[..4]);
    text.len() as u128
        | u128::from(u32::from_le_bytes(prefix)) << 32
        | u128::from(buffer) << 64
        | u128::from(offset) << 96
}

/// Writes a string result; called by native code.
pub(crate) extern "C" fn emit_str(strings: *mut Strings, row: u64, ptr: *const u8, len: u64) {
    // SAFETY: native code passes the sink that `Kernel::run` lent it and the words of a
    // live string.
    let (strings, text) = unsafe { (&mut *strings, std::slice::from_raw_parts(ptr, len as usize)) };
    strings.emit(row as usize, text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};

    #[test]
    fn inline_views_equal_arrows() {
        let text = "abcdefghijkl";
        for len in 0..=12 {
            let array = StringViewArray::from_iter_values([&text[..len]]);
            assert_eq!(inline_view(&text.as_bytes()[..len]), array.views()[0], "{len}");
        }
    }

    #[test]
    fn shares_copies_and_fills_in() {
        let input = Buffer::from(b"a text that is long enough to share, twice over".as_slice());
        let mut strings = Strings::views(5, std::iter::once(input.clone()));
        strings.emit(0, &input[2..22]);
        strings.emit(1, b"short");
        strings.emit(2, "not within the input buffer".as_bytes());
        strings.set(4, "filled in later, and long");
        let array = strings.finish_views(5, None).unwrap();
        let array = array.as_string_view();
        assert_eq!(array.value(0), "text that is long en");
        assert_eq!(array.value(1), "short");
        assert_eq!(array.value(2), "not within the input buffer");
        assert_eq!(array.value(3), "");
        assert_eq!(array.value(4), "filled in later, and long");
        assert_eq!(array.data_buffers()[0].as_ptr(), input.as_ptr());
        array.to_data().validate_full().unwrap();
    }

    #[test]
    fn compacts_what_pins_too_much() {
        let input = Buffer::from(vec![b'x'; 1 << 20]);
        let mut strings = Strings::views(2, std::iter::once(input.clone()));
        strings.emit(0, &input[100..150]);
        let array = strings.finish_views(2, None).unwrap();
        assert_eq!(array.as_string_view().value(0), "x".repeat(50));
        assert!(array.as_string_view().data_buffers().iter().all(|buffer| buffer.len() < 100));
    }

    #[test]
    fn text_keeps_row_order() {
        let mut strings = Strings::text(6);
        strings.emit(1, b"one");
        strings.emit(4, b"four");
        strings.set(5, "five");
        strings.set(0, "zero");
        strings.set(3, "three");
        let array = strings.finish_text::<i32>(6, None).unwrap();
        array.to_data().validate_full().unwrap();
        let values: Vec<_> = array.as_string::<i32>().iter().map(Option::unwrap).collect();
        assert_eq!(values, ["zero", "one", "", "three", "four", "five"]);
    }
}
