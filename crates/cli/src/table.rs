//! Results as a table with lines: each cell as wide as its column, whatever is in it.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::io::{Read, Write};
use unicode_width::UnicodeWidthStr;

/// Writes the table of some batches, with a line end behind it. What it says of a cell is made
/// twice, to measure it and to write it, so that no more than the cells of a row is held.
pub(crate) fn write_table(out: &mut impl Write, schema: &SchemaRef, batches: &[RecordBatch]) -> anyhow::Result<()> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut widths: Vec<usize> = names.iter().map(|name| width(name)).collect();
    each_row(batches, &mut |cells| {
        for (widest, cell) in widths.iter_mut().zip(cells) {
            *widest = width(cell).max(*widest);
        }
        Ok(())
    })?;
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect::<String>() + "+";
    writeln!(out, "{rule}")?;
    write_row(out, &names, &widths)?;
    writeln!(out, "{rule}")?;
    each_row(batches, &mut |cells| write_row(out, cells, &widths))?;
    writeln!(out, "{rule}")?;
    Ok(())
}

/// The columns on a screen that a cell takes.
fn width(cell: &str) -> usize {
    cell.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// Gives the cells of each row.
fn each_row(batches: &[RecordBatch], f: &mut dyn FnMut(&[String]) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let options = FormatOptions::new().with_null("NULL");
    let mut cells = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            cells.clear();
            for column in &columns {
                cells.push(column.value(row).try_to_string()?);
            }
            f(&cells)?;
        }
    }
    Ok(())
}

/// Writes a row, of as many lines as its cells have at most.
fn write_row(out: &mut impl Write, row: &[String], widths: &[usize]) -> anyhow::Result<()> {
    let mut cells: Vec<_> = row.iter().map(|cell| cell.split('\n').fuse()).collect();
    loop {
        let lines: Vec<Option<&str>> = cells.iter_mut().map(Iterator::next).collect();
        if lines.iter().all(Option::is_none) {
            return Ok(());
        }
        for (line, width) in lines.into_iter().zip(widths) {
            let line = line.unwrap_or("");
            let padding = (width - line.width()) as u64 + 1;
            write!(out, "| {line}")?;
            std::io::copy(&mut std::io::repeat(b' ').take(padding), out)?;
        }
        writeln!(out, "|")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int64Array, StringArray};
    use std::sync::Arc;

    fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> String {
        let mut out = Vec::new();
        write_table(&mut out, schema, batches).expect("a table");
        String::from_utf8(out).expect("text")
    }

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
+-----------+--------+
";
        assert_eq!(table(&batch.schema(), std::slice::from_ref(&batch)), wanted);
        let empty = "+---+--------+\n| t | number |\n+---+--------+\n+---+--------+\n";
        assert_eq!(table(&batch.schema(), &[]), empty);
    }

    #[test]
    fn long_cells_take_no_longer_than_their_text() {
        let texts = StringArray::from(vec!["ab, ".repeat(500_000)]);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _)]).expect("a column");
        assert_eq!(table(&batch.schema(), &[batch]).lines().count(), 5);
    }
}
