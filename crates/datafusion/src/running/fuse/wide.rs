//! Fewer rows a batch where rows are wide.
//!
//! DataFusion reads files in batches of so many rows, whatever these take. 8,192 arrays of a thousand floats are
//! 64 MiB: no cache holds them, the reader of lists copies them while they grow, and what calls make of them is as
//! large again. A scan below calls reads about [`BATCH`] instead, as far as it is known what a row takes.

use super::operator::PythonExec;
use super::round_robin;
use crate::planning::barrier::calls_python;
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;

/// The bytes of a batch: a part of what a core's own cache holds, and so many that what a batch costs besides does
/// not count.
pub(super) const BATCH: usize = 1 << 20;

/// The rows that a batch has at least: what a row takes is an estimate.
const LEAST_ROWS: usize = 128;

/// A node that makes calls over a scan of wide rows, with fewer of these a batch.
pub(super) fn narrowed(
    plan: &Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let calls = match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => projection.expr().iter().any(|column| calls_python(&column.expr)),
        None => match plan.downcast_ref::<FilterExec>() {
            Some(filter) => calls_python(filter.predicate()),
            None => plan.is::<PythonExec>(),
        },
    };
    if calls { below(plan, config.execution.batch_size.into()) } else { Ok(None) }
}

/// The same over a scan with fewer rows a batch, if one is directly below, or below a node that deals out its rows.
fn below(plan: &Arc<dyn ExecutionPlan>, batch_size: usize) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let [input] = plan.children()[..] else { return Ok(None) };
    let input = if let Some(scan) = input.downcast_ref::<DataSourceExec>() {
        scan_of(scan, batch_size)?
    } else if round_robin(input).is_some() {
        below(input, batch_size)?
    } else {
        None
    };
    input.map(|input| replace_children_if_necessary(Arc::clone(plan), vec![input])).transpose()
}

fn scan_of(scan: &DataSourceExec, batch_size: usize) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(config) = scan.data_source().downcast_ref::<FileScanConfig>() else { return Ok(None) };
    let read = scan.data_source().partition_statistics(None)?;
    let files = config.file_groups.iter().flat_map(|group| group.files());
    let bytes = files.map(|file| match &file.range {
        Some(range) => u64::try_from(range.end - range.start).unwrap_or(0),
        None => file.object_meta.size,
    });
    let Some(width) = width(&read, &config.statistics(), bytes.sum()) else { return Ok(None) };
    let most = config.batch_size.unwrap_or(batch_size);
    let rows = (BATCH / width.max(1)).max(LEAST_ROWS);
    if rows > most / 2 {
        return Ok(None);
    }
    let config = FileScanConfigBuilder::from(config.clone()).with_batch_size(Some(rows)).build();
    Ok(Some(Arc::new(scan.clone().with_data_source(Arc::new(config)))))
}

/// About how many bytes a row of the columns takes that are read, of a table whose files have so many bytes. Of
/// lists and structs Parquet's statistics do not say it: they are all that the files hold besides, in equal parts.
fn width(read: &Statistics, table: &Statistics, bytes: u64) -> Option<usize> {
    let rows = *table.num_rows.get_value().filter(|rows| **rows > 0)?;
    let known = |statistics: &Statistics| -> usize {
        let sizes = statistics.column_statistics.iter().filter_map(|column| column.byte_size.get_value());
        sizes.fold(0, |sum, size| sum.saturating_add(*size))
    };
    let unknown = |statistics: &Statistics| {
        statistics.column_statistics.iter().filter(|column| column.byte_size == Precision::Absent).count()
    };
    let rest = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(known(table));
    let each = rest.checked_div(unknown(table)).unwrap_or(0);
    Some(known(read).saturating_add(each.saturating_mul(unknown(read))) / rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::ColumnStatistics;

    /// Statistics of so many rows whose columns take these bytes.
    fn of(rows: Precision<usize>, columns: &[Option<usize>]) -> Statistics {
        let column = |bytes: &Option<usize>| {
            let bytes = bytes.map_or(Precision::Absent, Precision::Inexact);
            ColumnStatistics::new_unknown().with_byte_size(bytes)
        };
        Statistics { num_rows: rows, column_statistics: columns.iter().map(column).collect(), ..Statistics::default() }
    }

    #[test]
    fn lists_are_what_the_files_hold_besides() {
        let rows = Precision::Exact(100);
        let table = of(rows, &[Some(800), None, None, Some(1_200)]);
        let width = |columns: &[Option<usize>]| width(&of(rows, columns), &table, 202_000);
        assert_eq!(width(&[Some(800)]), Some(8));
        assert_eq!(width(&[None]), Some(1_000));
        assert_eq!(width(&[None, Some(1_200), None]), Some(2_012));
        assert_eq!(width(&[]), Some(0));
    }

    #[test]
    fn compressed_files_and_missing_statistics_are_no_error() {
        let rows = Precision::Exact(100);
        // Less than what its columns take.
        assert_eq!(width(&of(rows, &[None]), &of(rows, &[Some(5_000), None]), 1_000), Some(0));
        let none = of(Precision::Absent, &[None]);
        assert_eq!(width(&none, &none, 1_000), None);
        let empty = of(Precision::Exact(0), &[None]);
        assert_eq!(width(&empty, &empty, 1_000), None);
    }
}
