//! Results as a table with lines: each cell as wide as its column, whatever is in it, or as the
//! screen allows; or as a line for each column.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::io::{Read, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns on a screen that a cell keeps where a table is too wide for it.
const LEAST: usize = 8;

/// How far lines are filled with blanks where no screen says how wide a table may be: longer ones stand out
/// to the right. One line of a megabyte would make the others as long.
const MOST_FILLED: usize = 2_000;

/// Writes the table of some batches, with a line end behind it. What it says of a cell is made
/// twice, to measure it and to write it, so that no more than the cells of a row is held. Where
/// `screen` says how wide it may be, long cells are cropped, and where that is not enough the
/// columns in the middle are left out; how many those are is returned.
pub(crate) fn write_table(
    out: &mut impl Write,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    screen: Option<usize>,
) -> anyhow::Result<usize> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut widths: Vec<usize> = names.iter().map(|name| width(name)).collect();
    each_row(batches, &mut |cells| {
        for (widest, cell) in widths.iter_mut().zip(cells) {
            *widest = width(cell).max(*widest);
        }
        Ok(())
    })?;
    let (columns, left_out) = fit(&widths, screen);
    let rule = columns.iter().map(|column| format!("+{}", "-".repeat(column.filled() + 2))).collect::<String>() + "+";
    writeln!(out, "{rule}")?;
    write_row(out, &names, &columns)?;
    writeln!(out, "{rule}")?;
    each_row(batches, &mut |cells| write_row(out, cells, &columns))?;
    writeln!(out, "{rule}")?;
    Ok(left_out)
}

/// A column of a table as it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// A column of the result, and how wide it is.
    Of(usize, usize),
    /// Those that are left out.
    Gap,
}

impl Column {
    fn width(self) -> usize {
        match self {
            Column::Of(_, width) => width,
            Column::Gap => 1,
        }
    }

    /// How wide its shorter lines are made.
    fn filled(self) -> usize {
        self.width().min(MOST_FILLED)
    }
}

/// The columns that fit on a screen, and how many do not.
fn fit(widths: &[usize], screen: Option<usize>) -> (Vec<Column>, usize) {
    let all = || widths.iter().enumerate().map(|(at, &width)| Column::Of(at, width));
    let taken = |widths: &mut dyn Iterator<Item = usize>| widths.map(|width| width + 3).sum::<usize>() + 1;
    let Some(screen) = screen.filter(|&screen| taken(&mut widths.iter().copied()) > screen) else {
        return (all().collect(), 0);
    };
    // The widest that a cell may be.
    let capped = |cap: usize| widths.iter().map(move |&width| width.min(cap));
    let widest = widths.iter().copied().max().unwrap_or(0).min(screen);
    if taken(&mut capped(LEAST)) <= screen {
        let (mut fits, mut not) = (LEAST, widest + 1);
        while fits + 1 < not {
            let cap = fits.midpoint(not);
            if taken(&mut capped(cap)) <= screen { fits = cap } else { not = cap }
        }
        return (capped(fits).enumerate().map(|(at, width)| Column::Of(at, width)).collect(), 0);
    }
    let capped: Vec<usize> = capped(LEAST).collect();
    // Columns are taken from both ends, the first ones first.
    let (mut left, mut right) = (0, capped.len());
    let mut room = screen.saturating_sub(1 + 4);
    while left < right {
        let at = if left <= capped.len() - right { left } else { right - 1 };
        match room.checked_sub(capped[at] + 3) {
            Some(rest) => room = rest,
            None if left > 0 => break,
            // One is shown on any screen.
            None => room = 0,
        }
        if at == left { left += 1 } else { right -= 1 }
    }
    let of = |at: usize| Column::Of(at, capped[at]);
    let columns = (0..left).map(of).chain([Column::Gap]).chain((right..capped.len()).map(of));
    (columns.collect(), right - left)
}

/// Writes a line for each column of each row.
pub(crate) fn write_expanded(
    out: &mut impl Write,
    schema: &SchemaRef,
    batch: &RecordBatch,
    before: usize,
) -> anyhow::Result<()> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut row = before;
    each_row(std::slice::from_ref(batch), &mut |cells| {
        row += 1;
        let title = format!("-[ row {row} ]");
        writeln!(out, "{title}{}", "-".repeat((widest + 12).saturating_sub(title.len())))?;
        for (name, cell) in names.iter().zip(cells) {
            for (at, line) in cell.split('\n').enumerate() {
                let name = if at == 0 { name } else { "" };
                writeln!(out, "{name}{} | {line}", " ".repeat(widest - width(name)))?;
            }
        }
        Ok(())
    })
}

/// The columns on a screen that a cell takes.
fn width(cell: &str) -> usize {
    cell.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// As much of a line as has room, with a mark where that is not all.
fn cropped(line: &str, most: usize) -> (&str, &'static str) {
    if line.width() <= most {
        return (line, "");
    }
    let mut taken = 0;
    for (at, c) in line.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken + 1 > most {
            return (&line[..at], "…");
        }
    }
    (line, "")
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
fn write_row(out: &mut impl Write, row: &[String], columns: &[Column]) -> anyhow::Result<()> {
    let shown = columns.iter().map(|column| match column {
        Column::Of(at, _) => row[*at].as_str(),
        Column::Gap => "…",
    });
    let mut cells: Vec<_> = shown.map(|cell| cell.split('\n').fuse()).collect();
    loop {
        let lines: Vec<Option<&str>> = cells.iter_mut().map(Iterator::next).collect();
        if lines.iter().all(Option::is_none) {
            return Ok(());
        }
        for (line, column) in lines.into_iter().zip(columns) {
            let (line, mark) = cropped(line.unwrap_or(""), column.width());
            let padding = column.filled().saturating_sub(line.width() + mark.width()) as u64 + 1;
            write!(out, "| {line}{mark}")?;
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
        write_table(&mut out, schema, batches, None).expect("a table");
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
        let mut out = Vec::new();
        write_expanded(&mut out, &batch.schema(), &batch.slice(0, 2), 4).expect("lines");
        let wanted = "\
-[ row 5 ]--------
t      | é
       | long line
number | 1
-[ row 6 ]--------
t      | NULL
number | -22
";
        assert_eq!(String::from_utf8(out).expect("text"), wanted);
    }

    #[test]
    fn one_long_line_makes_the_others_no_longer() {
        let text = format!("{}{}", "x".repeat(1_000_000), "\nshort".repeat(1_000));
        let texts = StringArray::from(vec![text.as_str()]);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _)]).expect("a column");
        let printed = table(&batch.schema(), std::slice::from_ref(&batch));
        assert!(printed.len() < 4_000_000, "{} bytes", printed.len());
        assert!(printed.contains(&text[..1_000_000]));
    }

    #[test]
    fn wide_tables_are_cropped() {
        let texts = StringArray::from(vec!["a long text of words", "日本語日本語日本語"]);
        let columns = (0..6).map(|at| (format!("column {at}"), Arc::new(texts.clone()) as _));
        let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
        for screen in [1, 10, 20, 40, 65, 70, 100, 138, 139, 500] {
            let mut out = Vec::new();
            let left_out = write_table(&mut out, &batch.schema(), std::slice::from_ref(&batch), Some(screen));
            let text = String::from_utf8(out).expect("text");
            let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
            assert!(widest <= screen.max(LEAST + 8), "{screen}\n{text}");
            assert_eq!(left_out.expect("a table") > 0, screen < 67, "{screen}\n{text}");
            assert_eq!(text.contains('…'), screen < 139, "{screen}\n{text}");
        }
    }

    #[test]
    fn long_cells_take_no_longer_than_their_text() {
        let texts = StringArray::from(vec!["ab, ".repeat(500_000)]);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _)]).expect("a column");
        assert_eq!(table(&batch.schema(), &[batch]).lines().count(), 5);
    }
}
