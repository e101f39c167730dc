//! The table of the benchmarks as files, written once and read by every process.

use crate::programs::{DERIVED, Program};
use crate::rust_peers;
use anyhow::{Context, Result};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::ipc::{reader::FileReader, writer::FileWriter};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use exuvia_datagen::{Listings, Orders, Records};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows of a batch in memory: DataFusion's default.
const BATCH: usize = 8192;
/// Rows of a Parquet row group: of the order of 100 MB of text.
const ROW_GROUP: usize = 250_000;

/// Writes `listings.parquet`, `listings.arrow` with the derived columns besides, and
/// `records.arrow` and `orders.arrow`, if they are not there for that seed and number of rows.
///
/// # Errors
/// If they cannot be written.
pub fn prepare(folder: &Path, seed: u64, rows: usize) -> Result<()> {
    let stamp = format!("listings, seed {seed}, {rows} rows, format 3\n");
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
    let mut listings = Vec::new();
    for batch in Listings::new(seed, rows, BATCH) {
        parquet.write(&batch)?;
        listings.push(with_derived(&batch)?);
    }
    parquet.close()?;
    save(&folder.join("listings.arrow"), &listings)?;
    let records: Result<Vec<RecordBatch>> = Records::new(seed, rows, BATCH).map(|batch| with_views(&batch)).collect();
    save(&folder.join("records.arrow"), &records?)?;
    let orders: Result<Vec<RecordBatch>> = Orders::new(seed, rows, BATCH).map(|batch| with_views(&batch)).collect();
    save(&folder.join("orders.arrow"), &orders?)?;
    Ok(std::fs::write(folder.join("stamp"), stamp)?)
}

/// The batch with text as string views, as DataFusion reads it from Parquet.
fn with_views(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns: Result<Vec<(String, ArrayRef)>> = batch
        .schema()
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| {
            let column = match field.data_type() {
                DataType::Utf8 => cast(column, &DataType::Utf8View)?,
                DataType::List(items) if items.data_type() == &DataType::Utf8 => {
                    cast(column, &DataType::new_list(DataType::Utf8View, true))?
                }
                _ => Arc::clone(column),
            };
            Ok((field.name().clone(), column))
        })
        .collect();
    Ok(RecordBatch::try_from_iter_with_nullable(columns?.into_iter().map(|(name, column)| (name, column, true)))?)
}

/// The batch with the derived columns besides.
fn with_derived(batch: &RecordBatch) -> Result<RecordBatch> {
    let batch = with_views(batch)?;
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| field.name().clone());
    let mut columns: Vec<(String, ArrayRef)> = names.zip(batch.columns().iter().cloned()).collect();
    for (name, function) in DERIVED {
        let args = arguments(Program::named(function)?, &columns)?;
        columns.push((name.to_string(), rust_peers::run(function, &args)?));
    }
    Ok(RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))?)
}

fn arguments(program: &Program, columns: &[(String, ArrayRef)]) -> Result<Vec<ArrayRef>> {
    let find = |name: &&str| columns.iter().find(|(column, _)| column == name).map(|(_, column)| Arc::clone(column));
    program.columns.iter().map(|name| find(name).with_context(|| format!("no column {name}"))).collect()
}

/// The batches of an Arrow file.
///
/// # Errors
/// If the file cannot be read.
pub fn load(path: &Path) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let reader = FileReader::try_new(file, None)?;
    let schema = reader.schema();
    // The reader's columns are slices of one buffer a batch. Copied, they are as an
    // engine's own operators would make them.
    let batches: Result<Vec<RecordBatch>> = reader.map(|batch| compact(&batch?)).collect();
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
