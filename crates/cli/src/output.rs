//! Results as text.
//!
//! Tables need all rows to find the columns' widths. The other formats are written batch by
//! batch by Arrow's writers, with a header once.

use clap::ValueEnum;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::json::Writer as JsonWriter;
use datafusion::arrow::json::writer::{JsonArray, LineDelimited, WriterBuilder as JsonWriterBuilder};
use datafusion::arrow::util::display::FormatOptions;
use datafusion::arrow::util::pretty::pretty_format_batches_with_options;
use std::io::Write;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table with lines.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// One JSON array of objects.
    Json,
    /// One JSON object a line.
    Ndjson,
}

/// Writes the batches of one result.
pub(crate) struct Printer<'a, W: Write> {
    sink: Sink<'a, W>,
}

enum Sink<'a, W: Write> {
    Table {
        out: &'a mut W,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        kept: usize,
        seen: usize,
        most: Option<usize>,
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
    /// Begins a result of columns `schema`. A table shows `most` rows.
    pub(crate) fn new(format: Format, out: &'a mut W, schema: SchemaRef, most: Option<usize>) -> Self {
        // A NULL is a key with the value null: a reader then sees every column of a row.
        let json = || JsonWriterBuilder::new().with_explicit_nulls(true);
        let sink = match format {
            Format::Table => Sink::Table { out, schema, batches: vec![], kept: 0, seen: 0, most },
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
            Sink::Table { batches, kept, seen, most, .. } => {
                *seen += batch.num_rows();
                let room = most.map_or(batch.num_rows(), |most| (most - *kept).min(batch.num_rows()));
                if room > 0 {
                    *kept += room;
                    batches.push(batch.slice(0, room));
                }
            }
            Sink::Csv { out, delimiter, begun, .. } => {
                csv(out, *delimiter, !*begun).write(batch)?;
                *begun = true;
            }
            Sink::Json(writer) => writer.write(batch)?,
            Sink::Ndjson(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// Ends the result.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.sink {
            Sink::Table { out, schema, mut batches, kept, seen, .. } => {
                if batches.is_empty() {
                    batches.push(RecordBatch::new_empty(schema));
                }
                let options = FormatOptions::new().with_null("NULL");
                writeln!(out, "{}", pretty_format_batches_with_options(&batches, &options)?)?;
                if seen > kept {
                    writeln!(out, "… {} rows more; --maxrows shows them", seen - kept)?;
                }
            }
            Sink::Csv { out, delimiter, begun, schema } => {
                if !begun {
                    csv(out, delimiter, true).write(&RecordBatch::new_empty(schema))?;
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

fn csv<W: Write>(out: W, delimiter: u8, header: bool) -> datafusion::arrow::csv::Writer<W> {
    WriterBuilder::new().with_header(header).with_delimiter(delimiter).build(out)
}
