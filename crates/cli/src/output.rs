//! Results as text.
//!
//! Tables need all rows to find the columns' widths. The other formats are written batch by
//! batch, with a header once.
//!
//! In CSV a NULL is nothing and an empty text is `""`, as PostgreSQL writes them. JSON has no
//! numbers for NaN and the infinities: they are the texts `"NaN"`, `"Infinity"` and
//! `"-Infinity"`, and `null` is NULL alone.

use crate::table::{write_expanded, write_table};
use clap::ValueEnum;
use datafusion::arrow::array::{Array, AsArray, Float16Array, Float32Array, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::Writer as JsonWriter;
use datafusion::arrow::json::writer::{
    Encoder, EncoderFactory, EncoderOptions, JsonArray, LineDelimited, NullableEncoder, WriterBuilder, make_encoder,
};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::io::Write;
use std::sync::{Arc, LazyLock};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table with lines.
    Table,
    /// A line for each column of each row.
    Expanded,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// One JSON array of objects.
    Json,
    /// One JSON object a line.
    Ndjson,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

/// How much of a result a table shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Rows; `None` for all.
    pub(crate) rows: Option<usize>,
    /// Columns of a screen; `None` for any.
    pub(crate) width: Option<usize>,
}

/// Writes the batches of one result.
pub(crate) struct Printer<'a, W: Write> {
    sink: Sink<'a, W>,
}

/// The bytes of rows of which one table is made, since a column is as wide as its widest cell; more
/// rows are another table.
const MOST_HELD: usize = 64 << 20;

enum Sink<'a, W: Write> {
    Table {
        out: &'a mut W,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        /// The bytes of those batches.
        held: usize,
        kept: usize,
        seen: usize,
        extent: Extent,
        /// Columns that had no room.
        left_out: usize,
    },
    Expanded {
        out: &'a mut W,
        schema: SchemaRef,
        seen: usize,
        extent: Extent,
    },
    Csv {
        out: &'a mut W,
        delimiter: u8,
        schema: SchemaRef,
        begun: bool,
    },
    Json(JsonWriter<&'a mut W, JsonArray>),
    Ndjson(JsonWriter<&'a mut W, LineDelimited>),
}

impl<'a, W: Write> Printer<'a, W> {
    /// Begins a result of columns `schema`.
    pub(crate) fn new(format: Format, out: &'a mut W, schema: SchemaRef, extent: Extent) -> Self {
        // A NULL is a key with the value null: a reader then sees every column of a row.
        let json = || WriterBuilder::new().with_explicit_nulls(true).with_encoder_factory(Arc::new(Floats));
        let sink = match format {
            Format::Table => {
                Sink::Table { out, schema, batches: vec![], held: 0, kept: 0, seen: 0, extent, left_out: 0 }
            }
            Format::Expanded => Sink::Expanded { out, schema, seen: 0, extent },
            Format::Csv => Sink::Csv { out, delimiter: b',', schema, begun: false },
            Format::Tsv => Sink::Csv { out, delimiter: b'\t', schema, begun: false },
            Format::Json => Sink::Json(json().build(out)),
            Format::Ndjson => Sink::Ndjson(json().build(out)),
        };
        Printer { sink }
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        match &mut self.sink {
            Sink::Table { out, schema, batches, held, kept, seen, extent, left_out } => {
                *seen += batch.num_rows();
                let room = extent.rows.map_or(batch.num_rows(), |most| (most - *kept).min(batch.num_rows()));
                if room > 0 {
                    *kept += room;
                    let batch = batch.slice(0, room);
                    *held += batch.columns().iter().map(exuvia::column_bytes).sum::<usize>();
                    batches.push(batch);
                    if *held > MOST_HELD {
                        *left_out = write_table(out, schema, batches, extent.width)?.max(*left_out);
                        batches.clear();
                        *held = 0;
                    }
                }
            }
            Sink::Expanded { out, schema, seen, extent } => {
                let room = extent.rows.map_or(usize::MAX, |most| most.saturating_sub(*seen)).min(batch.num_rows());
                write_expanded(out, schema, &batch.slice(0, room), *seen)?;
                *seen += batch.num_rows();
            }
            Sink::Csv { out, delimiter, begun, .. } => {
                if !std::mem::replace(begun, true) {
                    write_header(out, *delimiter, &batch.schema())?;
                }
                write_rows(out, *delimiter, batch)?;
            }
            Sink::Json(writer) => writer.write(batch)?,
            Sink::Ndjson(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// Ends the result.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.sink {
            Sink::Table { out, schema, batches, kept, seen, extent, mut left_out, .. } => {
                if !batches.is_empty() || kept == 0 {
                    left_out = write_table(out, &schema, &batches, extent.width)?.max(left_out);
                }
                rows_more(out, seen, kept, extent)?;
                if left_out > 0 {
                    let s = if left_out == 1 { "" } else { "s" };
                    writeln!(out, "… {left_out} column{s} more; \\x shows them")?;
                }
            }
            Sink::Expanded { out, seen, extent, .. } => {
                rows_more(out, seen, extent.rows.unwrap_or(usize::MAX), extent)?;
            }
            Sink::Csv { out, delimiter, begun, schema } => {
                if !begun {
                    write_header(out, delimiter, &schema)?;
                }
            }
            Sink::Json(mut writer) => {
                writer.finish()?;
                writeln!(writer.into_inner())?;
            }
            Sink::Ndjson(mut writer) => writer.finish()?,
        }
        Ok(())
    }
}

/// Says that more rows were seen than shown.
fn rows_more(out: &mut impl Write, seen: usize, shown: usize, extent: Extent) -> std::io::Result<()> {
    let how = if extent.width.is_some() { "\\maxrows 0" } else { "--maxrows 0" };
    match seen.saturating_sub(shown) {
        0 => Ok(()),
        1 => writeln!(out, "… 1 row more; {how} shows it"),
        more => writeln!(out, "… {more} rows more; {how} shows them"),
    }
}

/// The names of the columns as a line of CSV.
fn write_header(out: &mut impl Write, delimiter: u8, schema: &SchemaRef) -> anyhow::Result<()> {
    let mut line = String::new();
    for (at, field) in schema.fields().iter().enumerate() {
        add_field(&mut line, at, delimiter, field.name());
    }
    line.push('\n');
    Ok(out.write_all(line.as_bytes())?)
}

/// The rows of a batch as lines of CSV (RFC 4180, with one kind of line end).
fn write_rows(out: &mut impl Write, delimiter: u8, batch: &RecordBatch) -> anyhow::Result<()> {
    // Within lists and structs a NULL must be told by a word.
    let options = FormatOptions::default().with_null("NULL");
    let nulls: Vec<_> = batch.columns().iter().map(|column| column.logical_nulls()).collect();
    let columns: Vec<ArrayFormatter<'_>> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options)).collect::<Result<_, _>>()?;
    let (mut line, mut text) = (String::new(), String::new());
    for row in 0..batch.num_rows() {
        line.clear();
        for (at, (nulls, shown)) in nulls.iter().zip(&columns).enumerate() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                if at > 0 {
                    line.push(char::from(delimiter));
                }
                continue;
            }
            text.clear();
            shown.value(row).write(&mut text)?;
            add_field(&mut line, at, delimiter, &text);
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Adds a text to a line, in quotes where it would be read as something else.
fn add_field(line: &mut String, at: usize, delimiter: u8, text: &str) {
    let delimiter = char::from(delimiter);
    if at > 0 {
        line.push(delimiter);
    }
    if text.is_empty() || text.contains([delimiter, '"', '\r', '\n']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

/// Writes floats that JSON has no numbers for as texts, and refuses times that have no text.
#[derive(Debug)]
struct Floats;

impl EncoderFactory for Floats {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        static FINITE: LazyLock<EncoderOptions> = LazyLock::new(EncoderOptions::default);
        let values = match array.data_type() {
            DataType::Float64 => Values::Double(array.as_primitive()),
            DataType::Float32 => Values::Single(array.as_primitive()),
            DataType::Float16 => Values::Half(array.as_primitive()),
            kind => {
                if kind.is_temporal() {
                    can_be_shown(array)?;
                }
                return Ok(None);
            }
        };
        let finite = make_encoder(field, array, &FINITE)?;
        Ok(Some(NullableEncoder::new(Box::new(Float { values, finite }), array.nulls().cloned())))
    }
}

/// Refuses what has no text, such as a timestamp beyond the calendar: an encoder has no way to
/// fail, and would write the error as if it were the value.
fn can_be_shown(array: &dyn Array) -> Result<(), ArrowError> {
    let options = FormatOptions::default();
    let shown = ArrayFormatter::try_new(array, &options)?;
    let mut text = String::new();
    for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
        text.clear();
        shown.value(row).write(&mut text)?;
    }
    Ok(())
}

struct Float<'a> {
    values: Values<'a>,
    finite: NullableEncoder<'a>,
}

enum Values<'a> {
    Double(&'a Float64Array),
    Single(&'a Float32Array),
    Half(&'a Float16Array),
}

impl Encoder for Float<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let value = match self.values {
            Values::Double(values) => values.value(row),
            Values::Single(values) => values.value(row).into(),
            Values::Half(values) => values.value(row).to_f64(),
        };
        match value {
            value if value.is_finite() => self.finite.encode(row, out),
            value if value.is_nan() => out.extend(b"\"NaN\""),
            value if value > 0.0 => out.extend(b"\"Infinity\""),
            _ => out.extend(b"\"-Infinity\""),
        }
    }
}
