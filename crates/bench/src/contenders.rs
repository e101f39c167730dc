//! Who runs on the Rust side.

use crate::programs::{self, Program};
use crate::rust_peers::Taking;
use crate::udfs::{self, Suite};
use crate::{placement, rust_peers, tables};
use anyhow::{Context, Result, bail};
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::MemTable;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use exuvia::ExuviaSession;
use exuvia::engine::Settings;
use futures::TryStreamExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

/// The contenders with their tables.
pub struct Contenders {
    columns: Vec<(String, Vec<String>)>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    runtime: Runtime,
    datafusion: SessionContext,
    exuvia: ExuviaSession,
    /// A session that neither inlines nor fuses.
    unplaced: ExuviaSession,
    /// A session that lifts nothing: its functions run in CPython.
    python: ExuviaSession,
}

impl Contenders {
    /// Reads the tables of a folder. Queries have so many threads and partitions.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn new(folder: &Path, suite: &Suite, threads: usize) -> Result<Contenders> {
        let (schema, batches) = tables::load(&folder.join(suite.table))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
        let datafusion = SessionContext::new_with_config(config(threads));
        let exuvia = ExuviaSession::new_with_config(config(threads));
        let unplaced = ExuviaSession::new_with_config(config(threads));
        let python = ExuviaSession::new_with_config(config(threads));
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        runtime.block_on(async {
            placement::prepare(folder, rows).await?;
            unplaced.sql("SET exuvia.inline = off; SET exuvia.fuse = off").await?.collect().await?;
            python.sql("SET exuvia.lift = 'off'").await?.collect().await?;
            for context in [&datafusion, exuvia.context(), unplaced.context(), python.context()] {
                register(context, folder, &schema, &batches).await?;
            }
            for session in [&exuvia, &unplaced, &python] {
                session.load_functions(suite.path)?;
                session.sql(EMPTY).await?.collect().await?;
                placement::define(session).await?;
            }
            anyhow::Ok(())
        })?;
        Ok(Contenders { columns: suite.columns()?, schema, batches, runtime, datafusion, exuvia, unplaced, python })
    }

    /// Runs something once: the seconds that it took and its result.
    ///
    /// # Errors
    /// If there is no such thing or it fails.
    pub fn run(&self, what: &str, by: &str) -> Result<(f64, Vec<RecordBatch>)> {
        if let Some(query) = placement::QUERIES.iter().find(|query| query.name == what) {
            return match by {
                "exuvia" => self.query(self.exuvia.context(), query.sql),
                "exuvia unplaced" => self.query(self.unplaced.context(), query.sql),
                "exuvia python" => self.query(self.python.context(), query.sql),
                "datafusion sql" => self.query(&self.datafusion, query.by_hand),
                "rust" => self.query_by_hand(what),
                _ => bail!("no contender {by} for {what}"),
            };
        }
        match (what, by) {
            ("z1", "exuvia unplaced") => self.python_query(&self.unplaced, what),
            ("z1", "datafusion sql") => self.query(&self.datafusion, &programs::z1_by_hand()),
            ("scan", "datafusion sql") => self.scan(),
            (_, "datafusion sql") => {
                let sql = format!("SELECT {} AS result FROM memory", Program::named(what)?.sql);
                self.query(&self.datafusion, &sql)
            }
            ("z1", "rust") => self.query_by_hand(what),
            (_, "rust") => self.by_hand(what),
            ("empty", "exuvia direct") => self.empty_directly(),
            (_, "exuvia") => self.python_query(&self.exuvia, what),
            (_, "exuvia python") => self.python_query(&self.python, what),
            (_, by) => bail!("no contender {by} for {what}"),
        }
    }

    fn query(&self, context: &SessionContext, sql: &str) -> Result<(f64, Vec<RecordBatch>)> {
        self.runtime.block_on(async {
            let start = Instant::now();
            let batches = context.sql(sql).await?.collect().await?;
            Ok((start.elapsed().as_secs_f64(), batches))
        })
    }

    /// The columns that a function is called with.
    fn columns_of(&self, what: &str) -> Result<&[String]> {
        let found = self.columns.iter().find(|(name, _)| name == what);
        Ok(&found.with_context(|| format!("no function {what}"))?.1)
    }

    fn python_query(&self, session: &ExuviaSession, what: &str) -> Result<(f64, Vec<RecordBatch>)> {
        let sql = match what {
            "z1" => programs::Z1.to_string(),
            "empty" => "SELECT nothing(rate) AS result FROM memory".to_string(),
            _ => format!("SELECT {what}({}) AS result FROM memory", self.columns_of(what)?.join(", ")),
        };
        self.runtime.block_on(async {
            let start = Instant::now();
            let batches = session.sql(&sql).await?.collect().await?;
            Ok((start.elapsed().as_secs_f64(), batches))
        })
    }

    /// Reads the columns of Z1 from Parquet and drops them: the share of the query that
    /// nobody can take away.
    fn scan(&self) -> Result<(f64, Vec<RecordBatch>)> {
        self.runtime.block_on(async {
            let start = Instant::now();
            let sql = "SELECT title, address, city, state, postal_code, price, facts_and_features, url FROM listings";
            let mut stream = self.datafusion.sql(sql).await?.execute_stream().await?;
            while stream.try_next().await?.is_some() {}
            Ok((start.elapsed().as_secs_f64(), vec![]))
        })
    }

    /// The empty function on every batch, called as the plugin calls it: without the plan
    /// of a query around it, which costs the same for any number of rows.
    fn empty_directly(&self) -> Result<(f64, Vec<RecordBatch>)> {
        let settings = Settings::default();
        let function = udfs::define("nothing(x BIGINT) RETURNS BIGINT", "return x", &settings)?;
        let column = self.schema.index_of("rate")?;
        udfs::call(&function, &[Arc::clone(self.batches[0].column(column))], self.batches[0].num_rows(), &settings)?;
        let start = Instant::now();
        let mut results = Vec::with_capacity(self.batches.len());
        for batch in &self.batches {
            results.push(udfs::call(&function, &[Arc::clone(batch.column(column))], batch.num_rows(), &settings)?);
        }
        Ok((start.elapsed().as_secs_f64(), vec![]))
    }

    /// A whole query in Rust over DataFusion's scan.
    fn query_by_hand(&self, what: &str) -> Result<(f64, Vec<RecordBatch>)> {
        self.runtime.block_on(async {
            let start = Instant::now();
            let bad =
                self.datafusion.sql("SELECT arrow_cast(ip, 'Utf8') AS ip FROM bad_addresses").await?.collect().await?;
            let bad = rust_peers::BadAddresses::new(bad.first().context("no bad addresses")?)?;
            let sql = match what {
                "z1" => "SELECT title, address, city, state, postal_code, price, facts_and_features, url FROM listings",
                "logs by split" | "logs by find" | "logs by match" => "SELECT line FROM logs",
                _ => bail!("nobody wrote {what} in Rust"),
            };
            let (bad, what) = (Arc::new(bad), what.to_string());
            let mut partitions = tokio::task::JoinSet::new();
            for mut stream in self.datafusion.sql(sql).await?.execute_stream_partitioned().await? {
                let (bad, what) = (Arc::clone(&bad), what.clone());
                partitions.spawn(async move {
                    let mut results = Vec::new();
                    while let Some(batch) = stream.try_next().await? {
                        results.push(match what.as_str() {
                            "z1" => rust_peers::z1(&batch)?,
                            "logs by split" => rust_peers::logs(&batch, Taking::Split, &bad)?,
                            "logs by find" => rust_peers::logs(&batch, Taking::Find, &bad)?,
                            _ => rust_peers::logs(&batch, Taking::Match, &bad)?,
                        });
                    }
                    anyhow::Ok(results)
                });
            }
            let mut results = Vec::new();
            while let Some(partition) = partitions.join_next().await {
                results.extend(partition??);
            }
            Ok((start.elapsed().as_secs_f64(), results))
        })
    }

    fn by_hand(&self, what: &str) -> Result<(f64, Vec<RecordBatch>)> {
        let columns = match what {
            "copy" => vec!["rate".to_string()],
            _ => self.columns_of(what)?.to_vec(),
        };
        let columns: Result<Vec<usize>, _> = columns.iter().map(|name| self.schema.index_of(name)).collect();
        let columns = columns?;
        let start = Instant::now();
        let mut results = Vec::with_capacity(self.batches.len());
        for batch in &self.batches {
            let args: Vec<_> = columns.iter().map(|column| Arc::clone(batch.column(*column))).collect();
            results.push(match what {
                "copy" => Arc::new(rust_peers::copy(args[0].as_primitive_opt().context("not BIGINT")?)),
                _ => rust_peers::run(what, &args)?,
            });
        }
        let seconds = start.elapsed().as_secs_f64();
        let batches: Result<Vec<RecordBatch>> =
            results.into_iter().map(|result| Ok(RecordBatch::try_from_iter([("result", result)])?)).collect();
        Ok((seconds, batches?))
    }
}

/// A function that does nothing, for the price of a call; inlined it would be none.
const EMPTY: &str =
    "CREATE FUNCTION nothing(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (inline 'off') AS $$ return x $$";

/// A partition for each thread.
pub(crate) fn config(threads: usize) -> SessionConfig {
    SessionConfig::new().with_target_partitions(threads)
}

async fn register(context: &SessionContext, folder: &Path, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<()> {
    placement::register(context, folder).await?;
    let memory = MemTable::try_new(Arc::clone(schema), vec![batches.to_vec()])?;
    context.register_table("memory", Arc::new(memory))?;
    Ok(())
}

/// Registers the Parquet file as `listings`.
pub(crate) async fn register_listings(context: &SessionContext, folder: &Path) -> Result<()> {
    let path = folder.join("listings.parquet");
    let path = path.to_str().context("the folder's name is not UTF-8")?;
    Ok(context.register_parquet("listings", path, ParquetReadOptions::default()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::util::pretty::pretty_format_batches;

    /// The rows as text, in order.
    fn rows(batches: &[RecordBatch]) -> Vec<String> {
        let batches: Vec<RecordBatch> = batches.iter().filter(|batch| batch.num_rows() > 0).cloned().collect();
        let text = pretty_format_batches(&batches).unwrap().to_string();
        // Widths differ with the rows of a batch.
        let cells = |line: &str| line.split('|').map(str::trim).collect::<Vec<_>>().join("|");
        let mut lines: Vec<String> = text.lines().filter(|line| !line.starts_with('+')).map(cells).collect();
        lines.sort();
        lines
    }

    #[test]
    fn queries_by_hand_give_what_the_functions_give() {
        std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
        let folder = std::env::temp_dir().join(format!("exuvia-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        tables::prepare(&folder, 1, 6000).unwrap();
        let contenders = Contenders::new(&folder, &Suite::named("zillow").unwrap(), 2).unwrap();
        for query in ["z1", "logs by split", "logs by find", "logs by match"] {
            let (_, expected) = contenders.run(query, "exuvia unplaced").unwrap();
            let expected = rows(&expected);
            assert!(expected.len() > 100, "{query}: {}", expected.len());
            for by in ["rust", "exuvia"] {
                let (_, found) = contenders.run(query, by).unwrap();
                assert_eq!(rows(&found), expected, "{query} by {by}");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
