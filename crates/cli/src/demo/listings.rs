//! The demonstration's table.

use anyhow::{Context, Result};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use exuvia_datagen::{Listings, listings_schema};
use indicatif::ProgressBar;
use std::fs::File;
use std::path::{Path, PathBuf};

const SEED: u64 = 1;
const BATCH: usize = 8192;
const ROW_GROUP: usize = 250_000;

/// The table of that many rows as a Parquet file, generated if it is not there.
pub(super) fn parquet(folder: &Path, rows: usize) -> Result<PathBuf> {
    let path = folder.join(format!("listings-{SEED}-{rows}.parquet"));
    if path.exists() {
        return Ok(path);
    }
    let bar = ProgressBar::new(rows as u64).with_style(super::progress::style()?).with_message("generate listings");
    // Under another name until it is whole: an interrupted run leaves no half table.
    let partial = folder.join(format!("listings-{}.partial", std::process::id()));
    let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .build();
    let mut writer = ArrowWriter::try_new(file, listings_schema(), Some(properties))?;
    for batch in Listings::new(SEED, rows, BATCH) {
        writer.write(&batch)?;
        bar.inc(batch.num_rows() as u64);
    }
    writer.close()?;
    std::fs::rename(&partial, &path)?;
    bar.finish_and_clear();
    Ok(path)
}
