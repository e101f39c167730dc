//! Utf8View results, row by row.
//!
//! A result of more than twelve bytes shares the buffer it lies in (an argument's or a
//! constant's) where there is one, else its text is appended to a block of our own.
//! Shared buffers stay alive as long as the result. That is no worse than passing the
//! argument on, if the result keeps most of the argument's text; it is, if a short part
//! of long texts is kept. So at the end the result is copied compactly if it refers to
//! less than a quarter of the bytes of the arguments that it shares.

use crate::RunError;
use arrow::array::{ArrayRef, StringViewArray};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use exuvia_ir::MAX_RESULT_BYTES;
use std::sync::Arc;

/// The longest text that stands within its view.
pub(crate) const INLINE: usize = 12;
/// The size of a block of text of our own; longer texts get a block for themselves.
const BLOCK: usize = 64 << 10;
/// Shared bytes below which nobody minds.
const NEGLIGIBLE: usize = 64 << 10;

/// What native code writes Utf8View results to.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// The number of the chunk's first row.
    base: usize,
    views: Vec<u128>,
    shared: Vec<Shared>,
    /// The position in `shared` of the last hit: rows take from the same buffer in runs.
    last: usize,
    buffers: Vec<Buffer>,
    block: Vec<u8>,
    /// The index in `buffers` that `block` will have.
    block_index: Option<usize>,
    /// The bytes of text in blocks of our own.
    copied: usize,
    too_large: bool,
}

/// A buffer that results may point to.
#[derive(Debug)]
pub(crate) struct Shared {
    start: usize,
    end: usize,
    buffer: Buffer,
    /// The argument whose text it holds; none for a constant.
    argument: Option<usize>,
    /// Its index among the buffers of the result, once it is one.
    index: Option<u32>,
    /// The bytes that results refer to.
    used: usize,
}

impl Shared {
    /// A buffer of an argument, or of a constant.
    pub fn new(buffer: Buffer, argument: Option<usize>) -> Shared {
        let start = buffer.as_ptr() as usize;
        Shared { start, end: start + buffer.len(), buffer, argument, index: None, used: 0 }
    }
}

impl Views {
    /// Results for `rows` rows; views may point into `shared`.
    pub fn new(rows: usize, mut shared: Vec<Shared>) -> Views {
        shared.sort_by_key(|shared| shared.start);
        Views { views: vec![0; rows], shared, ..Views::default() }
    }

    /// Says which row of the batch the chunk begins with.
    pub fn begin_chunk(&mut self, base: usize) {
        self.base = base;
    }

    /// Writes the result of a row of the batch.
    #[inline]
    pub fn set(&mut self, row: usize, text: &[u8]) {
        let view = if text.len() <= INLINE { inline_view(text) } else { self.long(text) };
        if let Some(slot) = self.views.get_mut(row) {
            *slot = view;
        }
    }

    /// Adds a text behind the others, which shares no buffer.
    pub fn push(&mut self, text: &[u8]) {
        let view = if text.len() <= INLINE { inline_view(text) } else { self.own(text) };
        self.views.push(view);
    }

    /// Whether there was more text than a batch may have.
    pub fn is_full(&self) -> bool {
        self.too_large
    }

    /// Forgets the text of the rows from `row` on.
    pub fn forget_from(&mut self, row: usize) {
        self.views[row..].fill(0);
    }

    /// Drops the rows from `rows` on, which have no text.
    pub fn truncate(&mut self, rows: usize) {
        self.views.truncate(rows);
    }

    /// Makes room for `rows` rows.
    pub fn grow(&mut self, rows: usize) {
        self.views.resize(rows, 0);
    }

    #[inline]
    fn long(&mut self, text: &[u8]) -> u128 {
        let start = text.as_ptr() as usize;
        let end = start + text.len();
        if let Some(shared) = self.shared.get_mut(self.last)
            && start >= shared.start
            && end <= shared.end
            && let Some(index) = shared.index
        {
            shared.used += text.len();
            return long_view(text, index, (start - shared.start) as u32);
        }
        self.first_in_buffer(text)
    }

    #[cold]
    fn first_in_buffer(&mut self, text: &[u8]) -> u128 {
        let start = text.as_ptr() as usize;
        let end = start + text.len();
        let at = self.shared.partition_point(|shared| shared.start <= start).wrapping_sub(1);
        if let Some(shared) = self.shared.get_mut(at)
            && end <= shared.end
            // The offset of a view is a signed 32-bit number.
            && shared.end - shared.start <= i32::MAX as usize
        {
            let index = *shared.index.get_or_insert_with(|| {
                self.buffers.push(shared.buffer.clone());
                self.buffers.len() as u32 - 1
            });
            shared.used += text.len();
            self.last = at;
            return long_view(text, index, (start - shared.start) as u32);
        }
        self.own(text)
    }

    /// Appends the text to a block of our own.
    fn own(&mut self, text: &[u8]) -> u128 {
        self.copied += text.len();
        if self.copied > MAX_RESULT_BYTES {
            self.too_large = true;
            return 0;
        }
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

    /// The results. `offered` are the bytes of text of each argument's rows.
    pub fn finish(mut self, nulls: Option<NullBuffer>, offered: &[usize]) -> Result<ArrayRef, RunError> {
        if self.too_large {
            return Err(RunError::OutputTooLarge);
        }
        self.flush();
        let mut used = vec![0; offered.len()];
        for shared in self.shared.iter().filter(|shared| shared.index.is_some()) {
            if let Some(used) = shared.argument.and_then(|argument| used.get_mut(argument)) {
                *used += shared.used;
            }
        }
        let (used, kept) = used
            .iter()
            .zip(offered)
            .filter(|(used, _)| **used > 0)
            .fold((0, 0), |(all_used, all_kept), (used, offered)| (all_used + used, all_kept + offered));
        // SAFETY: every view is either inline and zero-padded, or lies within the buffer
        // that it names; the text is a whole `str`.
        let array = unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(self.views), self.buffers, nulls) };
        Ok(if kept > NEGLIGIBLE && used < kept / 4 { Arc::new(array.gc()) } else { Arc::new(array) })
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

/// Writes a result; called by native code.
pub(crate) extern "C" fn emit(views: *mut Views, row: u64, ptr: *const u8, len: u64) {
    // SAFETY: native code passes the sink that `Kernel::run` lent it and the words of a
    // live string.
    let (views, text) = unsafe { (&mut *views, std::slice::from_raw_parts(ptr, len as usize)) };
    views.set(views.base + row as usize, text);
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
        let mut views = Views::new(6, vec![Shared::new(input.clone(), Some(0))]);
        views.set(0, &input[2..22]);
        views.set(1, b"short");
        views.set(2, "not within the input buffer".as_bytes());
        views.set(3, &input[1..23]);
        views.set(5, b"filled in later, and long");
        let array = views.finish(None, &[47]).unwrap();
        array.to_data().validate_full().unwrap();
        let array = array.as_string_view();
        let values: Vec<_> = array.iter().map(Option::unwrap).collect();
        let expected = [
            "text that is long en",
            "short",
            "not within the input buffer",
            " text that is long eno",
            "",
            "filled in later, and long",
        ];
        assert_eq!(values, expected);
        assert_eq!(array.data_buffers()[0].as_ptr(), input.as_ptr());
    }

    #[test]
    fn compacts_what_pins_too_much() {
        let input = Buffer::from(vec![b'x'; 1 << 20]);
        for (offered, compacted) in [(1 << 20, true), (180, false)] {
            let mut views = Views::new(2, vec![Shared::new(input.clone(), Some(0))]);
            views.set(0, &input[100..150]);
            let array = views.finish(None, &[offered]).unwrap();
            let array = array.as_string_view();
            assert_eq!(array.value(0), "x".repeat(50));
            assert_eq!(array.data_buffers().iter().all(|buffer| buffer.len() < 100), compacted);
        }
    }
}
