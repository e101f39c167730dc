//! Files that are read and written by their names: `FROM 'a.tsv'`, `COPY t TO 'a.ndjson'`.
//!
//! DataFusion knows the formats, but by one name each.

use datafusion::catalog::Session;
use datafusion::common::{GetExt, Result};
use datafusion::datasource::file_format::csv::CsvFormatFactory;
use datafusion::datasource::file_format::json::JsonFormatFactory;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use exuvia::ExuviaSession;
use std::collections::HashMap;
use std::sync::Arc;

/// Makes a session know formats by further endings of files' names.
pub(crate) fn register(session: &ExuviaSession) -> Result<()> {
    let csv: Arc<dyn FileFormatFactory> = Arc::new(CsvFormatFactory::new());
    let json: Arc<dyn FileFormatFactory> = Arc::new(JsonFormatFactory::new());
    let state = session.context().state_ref();
    let mut state = state.write();
    for (ending, format, option) in
        [("tsv", csv, Some(("format.delimiter", "\t"))), ("ndjson", Arc::clone(&json), None), ("jsonl", json, None)]
    {
        state.register_file_format(Arc::new(Named { ending, format, option }), true)?;
    }
    Ok(())
}

/// A format by another ending.
#[derive(Debug)]
struct Named {
    ending: &'static str,
    format: Arc<dyn FileFormatFactory>,
    /// What it is given that nobody says.
    option: Option<(&'static str, &'static str)>,
}

impl GetExt for Named {
    fn get_ext(&self) -> String {
        self.ending.to_string()
    }
}

impl FileFormatFactory for Named {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let mut options = options.clone();
        if let Some((key, value)) = self.option {
            options.entry(key.to_string()).or_insert_with(|| value.to_string());
        }
        self.format.create(state, &options)
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        self.format.default()
    }
}
