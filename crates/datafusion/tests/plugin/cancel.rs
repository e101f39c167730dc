//! Ending calls that would not end.

use crate::common::{fails, rows, run, session};
use datafusion::arrow::array::RecordBatch;
use exuvia::message;
use futures::{StreamExt, TryStreamExt};
use std::time::{Duration, Instant};

const FOREVER: &str = "CREATE FUNCTION forever(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
    while x > 0:
        x = x ^ 3 | 1
    return x
$$;
CREATE TABLE t AS VALUES (1)";

#[tokio::test(flavor = "multi_thread")]
async fn the_session_cancels_its_queries() {
    let session = session();
    run(&session, FOREVER).await;
    let canceller = session.clone();
    let query = tokio::spawn(async move {
        let frame = session.sql("SELECT forever(column1) FROM t").await?;
        frame.collect().await
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    canceller.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(20), query).await.expect("cancelled in time");
    let error = ended.expect("no panic").expect_err("cancelled");
    assert_eq!(message(&error), "cancelled\n  in function forever");
    // The next query is not.
    assert_eq!(rows(&canceller, "SELECT forever(0 * column1) FROM t").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_is_limited_by_setting_and_option() {
    let session = session();
    run(&session, FOREVER).await;
    run(&session, "SET exuvia.timeout = '200ms'").await;
    let start = Instant::now();
    assert_eq!(fails(&session, "SELECT forever(column1) FROM t").await, "ran out of its time\n  in function forever");
    assert!(start.elapsed() < Duration::from_secs(20));
    run(&session, "SET exuvia.timeout = 'off'").await;
    run(
        &session,
        &FOREVER.replace("CREATE TABLE t AS VALUES (1)", "").replace(
            "CREATE FUNCTION forever(x BIGINT) RETURNS BIGINT",
            "CREATE OR REPLACE FUNCTION forever(x BIGINT) RETURNS BIGINT OPTIONS (on_error 'null', timeout '100ms')",
        ),
    )
    .await;
    // Running out of time is no exception that a policy covers.
    assert_eq!(fails(&session, "SELECT forever(column1) FROM t").await, "ran out of its time\n  in function forever");
}

/// Nothing breaks a call into C; whoever waits for it goes on without it.
#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn calls_into_c_are_given_up() {
    let session = session();
    run(
        &session,
        "CREATE FUNCTION nap(x BIGINT) RETURNS BIGINT LANGUAGE python VOLATILE AS $$
             import time
             time.sleep(x)
             return x
         $$;
         CREATE FUNCTION naps(x BIGINT) RETURNS TABLE (a BIGINT) LANGUAGE python OPTIONS (timeout '300ms') AS $$
             import time
             yield 1
             time.sleep(x)
             yield 2
         $$;
         CREATE FUNCTION longest(v BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (kind 'aggregate') AS $$
             import time
             time.sleep(max(v))
             return max(v)
         $$;
         CREATE TABLE t AS VALUES (600)",
    )
    .await;
    let start = Instant::now();
    let naps = fails(&session, "SELECT a FROM naps(600)").await;
    assert_eq!(naps, "ran out of its time\n  in function naps");
    run(&session, "SET exuvia.timeout = '300ms'").await;
    for (sql, name) in [("SELECT nap(column1) FROM t", "nap"), ("SELECT longest(column1) FROM t", "longest")] {
        assert_eq!(fails(&session, sql).await, format!("ran out of its time\n  in function {name}"));
    }
    let module = "CREATE FUNCTION late(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
        import time
        time.sleep(600)
        def late(x):
            return x
    $$";
    assert_eq!(fails(&session, module).await, "cannot create function late: its module ran for more than 300ms");
    run(&session, "RESET exuvia.timeout").await;
    let canceller = session.clone();
    let query = tokio::spawn(async move {
        let frame = session.sql("SELECT nap(column1) FROM t").await?;
        frame.collect().await
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    canceller.cancel();
    let error = query.await.expect("no panic").expect_err("cancelled");
    assert_eq!(message(&error), "cancelled\n  in function nap");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    // Those that were given up have no lock of Python's.
    assert_eq!(rows(&canceller, "SELECT nap(0)").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_never_hangs() {
    let session = session();
    run(&session, FOREVER).await;
    // The call on a literal is tried while planning, given up and left to the query.
    let start = Instant::now();
    run(&session, "EXPLAIN SELECT forever(1)").await;
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_query_ends_its_calls() {
    let session = session();
    run(&session, FOREVER).await;
    // Behind a repartition the call runs in a task of its own.
    run(&session, "SET datafusion.execution.target_partitions = 4").await;
    run(&session, "CREATE TABLE many AS SELECT value AS x FROM range(1, 100000)").await;
    let before = calls(&session).await;
    let query = async {
        let frame = session.sql("SELECT max(forever(x)) FROM many GROUP BY x % 7").await?;
        frame.collect().await
    };
    assert!(tokio::time::timeout(Duration::from_millis(500), query).await.is_err());
    // A worker that still looped would keep this runtime from ending; the counter shows
    // that no further batch was begun.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let after = calls(&session).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(calls(&session).await, after, "{before}");
}

async fn calls(session: &exuvia::ExuviaSession) -> String {
    rows(session, "SELECT fallbacks FROM exuvia.functions").await
}

/// The streams of a result begin one after the other, and one may end before another begins;
/// what feeds them works for all.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_goes_on_until_all_of_its_streams_have_ended() {
    let session = session();
    run(
        &session,
        "SET datafusion.execution.batch_size = 5; SET datafusion.execution.target_partitions = 4;
         SET datafusion.optimizer.hash_join_single_partition_threshold = 0;
         SET datafusion.optimizer.hash_join_single_partition_threshold_rows = 0;
         CREATE TABLE t AS SELECT value AS id FROM generate_series(1, 3000);
         CREATE FUNCTION g(x BIGINT) RETURNS TEXT STRICT LANGUAGE python AS $$ return str(x % 50) $$",
    )
    .await;
    let sql =
        "SELECT q.id, w.c FROM (SELECT id, g(id) AS b FROM t) AS q JOIN (SELECT g(id) AS c FROM t) AS w ON q.b = w.c";
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let partitions = plan.properties().partitioning.partition_count();
    assert!(partitions > 1);
    let mut first = plan.execute(0, session.context().task_ctx()).unwrap();
    first.next().await.expect("a batch").unwrap();
    drop(first);
    tokio::time::sleep(Duration::from_millis(50)).await;
    for partition in 1..partitions {
        let stream = plan.execute(partition, session.context().task_ctx()).unwrap();
        let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
        assert!(!batches.is_empty());
    }
}
