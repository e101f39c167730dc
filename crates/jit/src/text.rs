//! Utf8 and LargeUtf8 results, row by row: texts one after the other, and offsets.

use crate::RunError;
use arrow::array::{ArrayRef, GenericStringArray, OffsetSizeTrait};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use exuvia_ir::MAX_RESULT_BYTES;
use std::sync::Arc;

/// What native code writes results to.
#[derive(Debug)]
pub(crate) struct Text<O> {
    /// The number of the chunk's first row.
    base: usize,
    rows: usize,
    bytes: Vec<u8>,
    /// Whether a text was left out, since there would be too much.
    full: bool,
    /// Where each row begins, and behind them the end of the last one.
    offsets: Vec<O>,
    /// Results of rows that came after later ones.
    late: Vec<(usize, String)>,
    late_bytes: usize,
}

impl<O: OffsetSizeTrait> Text<O> {
    /// Results for `rows` rows.
    pub fn new(rows: usize) -> Text<O> {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(O::usize_as(0));
        Text { base: 0, rows, bytes: Vec::new(), full: false, offsets, late: Vec::new(), late_bytes: 0 }
    }

    /// Says which row of the batch the chunk begins with.
    pub fn begin_chunk(&mut self, base: usize) {
        self.base = base;
    }

    #[inline]
    fn append(&mut self, row: usize, text: &[u8]) {
        // Rows without text were not reported; they are empty.
        while self.offsets.len() <= row {
            self.offsets.push(O::usize_as(self.bytes.len()));
        }
        match self.bytes.len() + text.len() <= MAX_RESULT_BYTES {
            true => self.bytes.extend_from_slice(text),
            false => self.full = true,
        }
        self.offsets.push(O::usize_as(self.bytes.len()));
    }

    /// Sets the result of a row that has none yet, in any order.
    pub fn set(&mut self, row: usize, text: &str) {
        self.late_bytes += text.len();
        match self.late_bytes <= MAX_RESULT_BYTES {
            true => self.late.push((row, text.to_string())),
            false => self.full = true,
        }
    }

    /// Whether there was more text than a batch may have.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Forgets the text of the rows from `row` on.
    pub fn forget_from(&mut self, row: usize) {
        self.offsets.truncate(row + 1);
        self.bytes.truncate(self.offsets.last().map_or(0, |end| end.as_usize()));
    }

    /// Drops the rows from `rows` on, which have no text.
    pub fn truncate(&mut self, rows: usize) {
        self.rows = rows;
    }

    /// The results.
    pub fn finish(mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, RunError> {
        if self.full {
            return Err(RunError::OutputTooLarge);
        }
        self.offsets.resize(self.rows + 1, O::usize_as(self.bytes.len()));
        if !self.late.is_empty() {
            self.merge();
            if self.bytes.len() > MAX_RESULT_BYTES {
                return Err(RunError::OutputTooLarge);
            }
        }
        // SAFETY: offsets rise from 0 to the length of `bytes`, and every row's text is a
        // whole `str`.
        let array = unsafe {
            let offsets = OffsetBuffer::new_unchecked(ScalarBuffer::from(self.offsets));
            GenericStringArray::<O>::new_unchecked(offsets, Buffer::from_vec(self.bytes), nulls)
        };
        Ok(Arc::new(array))
    }

    /// Puts the late texts where they belong.
    fn merge(&mut self) {
        self.late.sort_by_key(|(row, _)| *row);
        let more: usize = self.late.iter().map(|(_, text)| text.len()).sum();
        let mut merged = Vec::with_capacity(self.bytes.len() + more);
        let (mut copied, mut added) = (0, 0);
        let mut next = self.late.iter().peekable();
        for row in 0..self.rows {
            let end = self.offsets[row + 1].as_usize();
            if let Some((_, text)) = next.next_if(|(at, _)| *at == row) {
                // The row has no text yet, so it ends where the text before it ends.
                merged.extend_from_slice(&self.bytes[copied..end]);
                copied = end;
                merged.extend_from_slice(text.as_bytes());
                added += text.len();
            }
            self.offsets[row + 1] = O::usize_as(end + added);
        }
        merged.extend_from_slice(&self.bytes[copied..]);
        self.bytes = merged;
    }
}

/// Writes a result; called by native code.
pub(crate) extern "C" fn emit<O: OffsetSizeTrait>(sink: *mut Text<O>, row: u64, ptr: *const u8, len: u64) {
    // SAFETY: native code passes the sink that `Kernel::run` lent it and the words of a
    // live string.
    let (sink, text) = unsafe { (&mut *sink, std::slice::from_raw_parts(ptr, len as usize)) };
    sink.append(sink.base + row as usize, text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};

    #[test]
    fn keeps_row_order() {
        let mut text = Text::<i32>::new(6);
        text.append(1, b"one");
        text.append(4, b"four");
        text.set(5, "five");
        text.set(0, "zero");
        text.set(3, "three");
        let array = text.finish(None).unwrap();
        array.to_data().validate_full().unwrap();
        let values: Vec<_> = array.as_string::<i32>().iter().map(Option::unwrap).collect();
        assert_eq!(values, ["zero", "one", "", "three", "four", "five"]);
    }

    #[test]
    fn forgets() {
        let mut text = Text::<i64>::new(4);
        text.append(0, b"zero");
        text.append(2, b"two");
        text.forget_from(1);
        text.append(3, b"three");
        let array = text.finish(None).unwrap();
        let values: Vec<_> = array.as_string::<i64>().iter().map(Option::unwrap).collect();
        assert_eq!(values, ["zero", "", "", "three"]);
    }
}
