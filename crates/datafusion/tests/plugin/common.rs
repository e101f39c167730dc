//! What the tests of the plugin share.

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::SessionConfig;
use exuvia::{ExuviaOptions, ExuviaSession, message};

/// A fresh session.
pub fn session() -> ExuviaSession {
    let config = SessionConfig::new().with_information_schema(true);
    ExuviaSession::new_with_config(config.with_option_extension(ExuviaOptions::default().with_faults()))
}

/// Runs statements that must succeed.
pub async fn run(session: &ExuviaSession, sql: &str) -> Vec<RecordBatch> {
    match try_run(session, sql).await {
        Ok(batches) => batches,
        Err(error) => panic!("{sql}\n{error}"),
    }
}

/// Writes a query's rows into a Parquet file with row groups of so many, as table `p`. The
/// file lives as long as the folder that is returned.
pub async fn parquet(session: &ExuviaSession, query: &str, row_group: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.parquet");
    let file = file.display();
    let options = format!("STORED AS PARQUET OPTIONS (max_row_group_size {row_group})");
    run(session, &format!("COPY ({query}) TO '{file}' {options}")).await;
    run(session, &format!("CREATE EXTERNAL TABLE p STORED AS PARQUET LOCATION '{file}'")).await;
    folder
}

/// Runs statements; an error as a person reads it.
pub async fn try_run(session: &ExuviaSession, sql: &str) -> Result<Vec<RecordBatch>, String> {
    let frame = session.sql(sql).await.map_err(|error| message(&error))?;
    frame.collect().await.map_err(|error| message(&error))
}

/// The message with which statements fail.
pub async fn fails(session: &ExuviaSession, sql: &str) -> String {
    match try_run(session, sql).await {
        Ok(_) => panic!("does not fail: {sql}"),
        Err(message) => message,
    }
}

/// The rows of a query, sorted, as text.
pub async fn rows(session: &ExuviaSession, sql: &str) -> String {
    let mut lines = vec![];
    for batch in run(session, sql).await {
        let options = FormatOptions::new().with_null("NULL");
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).expect("a type that prints"))
            .collect();
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            lines.push(values.join(" | "));
        }
    }
    lines.sort();
    lines.join("\n")
}

/// The physical plan of a query, as EXPLAIN shows it.
pub async fn physical(session: &ExuviaSession, sql: &str) -> String {
    for batch in run(session, &format!("EXPLAIN {sql}")).await {
        let (kinds, plans) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
        for (kind, plan) in kinds.iter().zip(plans) {
            if kind == Some("physical_plan") {
                return plan.unwrap_or_default().trim_end().to_string();
            }
        }
    }
    String::new()
}
