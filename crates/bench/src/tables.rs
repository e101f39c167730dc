//! The table of the benchmarks as files, written once and read by every process.

use crate::programs::{DERIVED, Program};
use crate::rust_peers;
use anyhow::{Context, Result};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::ipc::{reader::FileReader, writer::FileWriter};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use exuvia_datagen::Listings;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows of a batch in memory: DataFusion's default.
const BATCH: usize = 8192;
/// Rows of a Parquet row group: of the order of 100 MB of text.
const ROW_GROUP: usize = 250_000;

/// Writes `listings.parquet`, and `listings.arrow` with the derived columns besides, if
/// they are not there for that seed and number of rows.
///
/// # Errors
/// If they cannot be written.
pub fn prepare(folder: &Path, seed: u64, rows: usize) -> Result<()> {
    let stamp = format!("listings, seed {seed}, {rows} rows, format 1\n");
    if std::fs::read_to_string(folder.join("stamp")).is_ok_and(|there| there == stamp) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .build();
    let file = File::create(folder.join("listings.parquet"))?;
    let mut parquet = ArrowWriter::try_new(file, exuvia_datagen::listings_schema(), Some(properties))?;
    let mut arrow = None;
    for batch in Listings::new(seed, rows, BATCH) {
        parquet.write(&batch)?;
        let batch = with_derived(&batch)?;
        let writer = match &mut arrow {
            Some(writer) => writer,
            none => none.insert(FileWriter::try_new(File::create(folder.join("listings.arrow"))?, &batch.schema())?),
        };
        writer.write(&batch)?;
    }
    parquet.close()?;
    if let Some(mut arrow) = arrow {
        arrow.finish()?;
    }
    Ok(std::fs::write(folder.join("stamp"), stamp)?)
}

/// The batch with text as string views and the derived columns.
fn with_derived(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let column = match field.data_type() {
            DataType::Utf8 => cast(column, &DataType::Utf8View)?,
            _ => Arc::clone(column),
        };
        columns.push((field.name().clone(), column));
    }
    for (name, function) in DERIVED {
        let args = arguments(Program::named(function)?, &columns)?;
        columns.push((name.to_string(), rust_peers::run(function, &args)?));
    }
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(name, column.data_type().clone(), true)).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn arguments(program: &Program, columns: &[(String, ArrayRef)]) -> Result<Vec<ArrayRef>> {
    let find = |name: &&str| columns.iter().find(|(column, _)| column == name).map(|(_, column)| Arc::clone(column));
    program.columns.iter().map(|name| find(name).with_context(|| format!("no column {name}"))).collect()
}

/// The batches of `listings.arrow`.
///
/// # Errors
/// If the file cannot be read.
pub fn load(folder: &Path) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let path = folder.join("listings.arrow");
    let file = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    let reader = FileReader::try_new(file, None)?;
    let schema = reader.schema();
    // The reader's columns are slices of one buffer a batch. Copied, they are as an
    // engine's own operators would make them.
    let batches: Result<Vec<RecordBatch>> = reader.map(|batch| Ok(compact(&batch?)?)).collect();
    Ok((schema, batches?))
}

fn compact(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns: Result<Vec<ArrayRef>> = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::Utf8View => Ok(cast(&cast(column, &DataType::Utf8)?, &DataType::Utf8View)?),
            _ => Ok(Arc::clone(column)),
        })
        .collect();
    Ok(RecordBatch::try_new(batch.schema(), columns?)?)
}

/// Writes a result to be compared.
///
/// # Errors
/// If it cannot be written.
pub fn save(path: &Path, batches: &[RecordBatch]) -> Result<()> {
    let schema = batches.first().context("a result has at least one batch")?.schema();
    let mut writer = FileWriter::try_new(File::create(path)?, &schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.finish()?)
}
