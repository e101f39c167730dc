//! The scripts of `sql/*.slt`, each in a session of its own with the functions of `udfs/`.
//!
//! They are in the format of sqllogictest. `SLT_COMPLETE=1` writes what was found into them.

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::SessionConfig;
use exuvia::{ExuviaOptions, ExuviaSession, message};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An error in the words that a user reads.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failure(String);

struct Database(ExuviaSession);

#[async_trait]
impl AsyncDB for Database {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let failure = |error: datafusion::common::DataFusionError| Failure(message(&error));
        let frame = self.0.sql(sql).await.map_err(failure)?;
        let columns = frame.schema().fields().len();
        let batches = frame.collect().await.map_err(failure)?;
        if columns == 0 {
            return Ok(DBOutput::StatementComplete(0));
        }
        let rows = rows(&batches)?;
        Ok(DBOutput::Rows { types: vec![DefaultColumnType::Any; columns], rows })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &'static str {
        "exuvia"
    }

    async fn sleep(time: Duration) {
        tokio::time::sleep(time).await;
    }
}

fn rows(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>, Failure> {
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = vec![];
    for batch in batches {
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|error| Failure(error.to_string()))?;
        for row in 0..batch.num_rows() {
            let shown = columns.iter().map(|column| match column.value(row).to_string() {
                text if text.is_empty() => "(empty)".to_string(),
                // A row is a line of values without blanks.
                text => text.replace([' ', '\n'], "_"),
            });
            rows.push(shown.collect());
        }
    }
    Ok(rows)
}

/// A session whose scripts may inject faults.
fn session() -> ExuviaSession {
    let config = SessionConfig::new().with_information_schema(true);
    ExuviaSession::new_with_config(config.with_option_extension(ExuviaOptions::default().with_faults()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_say_what_happens() {
    let folder = root().join("sql");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder sql").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "slt"));
    files.sort();
    assert!(!files.is_empty());
    let complete = std::env::var_os("SLT_COMPLETE").is_some();
    let mut failures = vec![];
    for file in files {
        let mut runner = Runner::new(|| async {
            let session = session();
            session.load_functions(root().join("udfs")).map_err(|error| Failure(message(&error)))?;
            Ok(Database(session))
        });
        if complete {
            runner
                .update_test_file(
                    &file,
                    " ",
                    sqllogictest::default_validator,
                    sqllogictest::default_normalizer,
                    sqllogictest::default_column_validator,
                )
                .await
                .expect("the file is written");
        } else if let Err(error) = runner.run_file_async(&file).await {
            failures.push(error.to_string());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// What no setting changes: where calls run, and where in the plan they stand.
const SETTINGS: &[&str] = &[
    "exuvia.inline = off",
    "exuvia.fuse = off",
    "exuvia.native = off",
    "exuvia.fault = guards",
    "exuvia.fault = memoize",
    "exuvia.fault = loops",
    "exuvia.lift = off",
    "datafusion.execution.batch_size = 2",
    "datafusion.execution.target_partitions = 1",
    "datafusion.optimizer.max_passes = 1",
];

#[tokio::test(flavor = "multi_thread")]
async fn queries_give_the_same_under_every_setting() {
    let mut failures = vec![];
    let both = ["sql/queries.slt", "sql/library.slt"].map(|file| root().join(file));
    for (setting, file) in SETTINGS.iter().flat_map(|setting| both.iter().map(move |file| (setting, file))) {
        if *setting == "exuvia.lift = off" && cfg!(not(feature = "python")) {
            continue;
        }
        let mut runner = Runner::new(|| async {
            let session = session();
            let set = session.sql(&format!("SET {setting}")).await.map_err(|error| Failure(message(&error)))?;
            set.collect().await.map_err(|error| Failure(message(&error)))?;
            Ok(Database(session))
        });
        if let Err(error) = runner.run_file_async(file).await {
            failures.push(format!("{setting}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
