//! Results as a table with lines: each cell as wide as its column, whatever is in it.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The table of some batches, without a line end behind it.
pub(crate) fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<String, ArrowError> {
    let options = FormatOptions::new().with_null("NULL");
    let mut rows: Vec<Vec<String>> = vec![schema.fields().iter().map(|field| field.name().clone()).collect()];
    for batch in batches {
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|column| column.value(row).try_to_string()).collect::<Result<_, _>>()?);
        }
    }
    let mut widths = vec![0; schema.fields().len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0).max(*width);
        }
    }
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect::<String>() + "+";
    let mut out = rule.clone();
    for (at, row) in rows.iter().enumerate() {
        add_row(&mut out, row, &widths);
        if at == 0 {
            out.push('\n');
            out.push_str(&rule);
        }
    }
    out.push('\n');
    out.push_str(&rule);
    Ok(out)
}

/// Adds a row, of as many lines as its cells have at most.
fn add_row(out: &mut String, row: &[String], widths: &[usize]) {
    let mut cells: Vec<_> = row.iter().map(|cell| cell.split('\n').fuse()).collect();
    loop {
        let lines: Vec<Option<&str>> = cells.iter_mut().map(Iterator::next).collect();
        if lines.iter().all(Option::is_none) {
            return;
        }
        out.push('\n');
        for (line, width) in lines.into_iter().zip(widths) {
            let line = line.unwrap_or("");
            // A write into memory cannot fail.
            let _ = write!(out, "| {line}{} ", " ".repeat(width - line.width()));
        }
        out.push('|');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn cells_are_as_wide_as_their_columns() {
        let texts = StringArray::from(vec![Some("é\nlong line"), None, Some("日本")]);
        let numbers = Int64Array::from(vec![1, -22, 333]);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _), ("number", Arc::new(numbers) as _)]);
        let batch = batch.expect("columns of one length");
        let wanted = "\
+-----------+--------+
| t         | number |
+-----------+--------+
| é         | 1      |
| long line |        |
| NULL      | -22    |
| 日本      | 333    |
+-----------+--------+";
        assert_eq!(table(&batch.schema(), std::slice::from_ref(&batch)).expect("a table"), wanted);
        let empty = "+---+--------+\n| t | number |\n+---+--------+\n+---+--------+";
        assert_eq!(table(&batch.schema(), &[]).expect("a table"), empty);
    }

    #[test]
    fn long_cells_take_no_longer_than_their_text() {
        let texts = StringArray::from(vec!["ab, ".repeat(500_000)]);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _)]).expect("a column");
        assert_eq!(table(&batch.schema(), &[batch]).expect("a table").lines().count(), 5);
    }
}
