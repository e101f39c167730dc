//! Joins the small batches that filters leave.
//!
//! As DataFusion's coalescer, and by bytes: texts may be so long that a batch of the usual number of rows
//! takes gigabytes.

use super::wide;
use crate::column_bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::BatchCoalescer;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;

/// The bytes of a result from which on the next batches have fewer rows, and which wait at most to be
/// joined with others.
pub(super) const LARGE: usize = 64 << 20;

/// Batches that are being joined.
pub(super) struct Gather {
    inner: BatchCoalescer,
    /// A batch that need not be joined with others.
    whole: Option<RecordBatch>,
    /// The rows from which on a batch is one of those.
    enough: usize,
    /// The rows that may still come.
    left: usize,
    /// The bytes of the rows that wait for others.
    waiting: usize,
}

impl Gather {
    /// Makes batches of so many rows, `fetch` rows in all.
    pub fn new(schema: SchemaRef, batch_size: usize, fetch: Option<usize>) -> Gather {
        let enough = batch_size / 2;
        let inner = BatchCoalescer::new(schema, batch_size).with_biggest_coalesce_batch_size(Some(enough));
        Gather { inner, whole: None, enough, left: fetch.unwrap_or(usize::MAX), waiting: 0 }
    }

    /// Takes a batch of so many [`bytes`], after all that is complete was taken; gives whether that was the
    /// last one. A batch that is large enough is joined with no others.
    pub fn push(&mut self, batch: RecordBatch, bytes: usize) -> Result<bool> {
        let batch = if batch.num_rows() > self.left { batch.slice(0, self.left) } else { batch };
        self.left -= batch.num_rows();
        let is_enough = bytes >= wide::BATCH / 2;
        if self.inner.is_empty() && (is_enough || batch.num_rows() >= self.enough) {
            self.whole = Some(batch);
            return Ok(self.left == 0);
        }
        if is_enough || self.waiting + bytes > LARGE {
            self.finish()?;
        }
        self.inner.push_batch(batch)?;
        if is_enough {
            self.finish()?;
            return Ok(self.left == 0);
        }
        self.waiting = match self.inner.get_buffered_rows() {
            0 => 0,
            _ if self.inner.has_completed_batch() => bytes,
            _ => self.waiting + bytes,
        };
        Ok(self.left == 0)
    }

    /// Makes a batch of what waits.
    pub fn finish(&mut self) -> Result<()> {
        self.waiting = 0;
        Ok(self.inner.finish_buffered_batch()?)
    }

    /// The next batch that is complete.
    pub fn next(&mut self) -> Option<RecordBatch> {
        self.whole.take().or_else(|| self.inner.next_completed_batch())
    }
}

/// The bytes that the rows of a batch take, without what they share with others.
pub(super) fn bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(column_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::StringViewArray;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;

    fn rows(batch: &Option<RecordBatch>) -> usize {
        batch.as_ref().map_or(0, RecordBatch::num_rows)
    }

    #[test]
    fn batches_are_bounded_by_rows_and_by_bytes() {
        let schema = Arc::new(Schema::new(vec![Field::new("s", DataType::Utf8View, true)]));
        let batch = |text: &str, rows: usize| {
            let column = StringViewArray::from_iter_values(std::iter::repeat_n(text, rows));
            RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(column)]).unwrap()
        };
        let mut gather = Gather::new(Arc::clone(&schema), 100, Some(500));
        let push = |gather: &mut Gather, batch: RecordBatch| {
            let bytes = bytes(&batch);
            gather.push(batch, bytes).unwrap()
        };
        for _ in 0..4 {
            assert!(!push(&mut gather, batch("short", 30)));
        }
        assert_eq!((rows(&gather.next()), rows(&gather.next())), (100, 0));
        // What waits does not wait for large ones, nor do these for others.
        let long = "x".repeat(20 << 20);
        let mut made = vec![];
        for _ in 0..8 {
            assert!(!push(&mut gather, batch(&long, 1)));
            while let Some(batch) = gather.next() {
                assert!(bytes(&batch) <= LARGE, "{}", bytes(&batch));
                made.push(batch.num_rows());
            }
        }
        assert_eq!(made, [20, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert!(push(&mut gather, batch("last", 400)));
        gather.finish().unwrap();
        let rest: usize = std::iter::from_fn(|| gather.next()).map(|batch| batch.num_rows()).sum();
        assert_eq!(100 + 28 + rest, 500);
    }
}
