//! What fails, ends, and what is left afterwards.

use super::with_tables;
use crate::common::{fails, rows, run, try_run};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use exuvia::{ExuviaBuilder, ExuviaOptions, ExuviaSession, message};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FOREVER: &str = "CREATE FUNCTION spin(t TABLE) RETURNS TABLE (a BIGINT) LANGUAGE python AS $$
while True:
    pass
return 1
$$;
CREATE FUNCTION spin_rows(n BIGINT) RETURNS SETOF BIGINT LANGUAGE python AS $$
while True:
    if n > 99: yield n
$$;
CREATE FUNCTION spin_column(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import numpy as np
def spin_column(n: np.ndarray):
    len(n)
    while True:
        pass
$$;
CREATE FUNCTION spin_group(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
class spin_group:
    def accumulate(self, n):
        pass
    def finish(self):
        while True:
            pass
$$";

const QUERIES: [&str; 5] = [
    "SELECT * FROM spin(TABLE t)",
    "SELECT * FROM spin_rows(1)",
    "SELECT * FROM t, LATERAL spin_rows(t.id)",
    "SELECT spin_column(id) FROM t",
    "SELECT spin_group(id) FROM t",
];

#[tokio::test(flavor = "multi_thread")]
async fn time_is_limited() {
    let session = with_tables().await;
    run(&session, FOREVER).await;
    run(&session, "SET exuvia.timeout = '200ms'").await;
    for query in QUERIES {
        let start = Instant::now();
        let said = fails(&session, query).await;
        assert!(said.starts_with("ran out of its time\n  in function spin"), "{query}: {said}");
        assert!(start.elapsed() < Duration::from_secs(20), "{query}");
    }
    run(&session, "SET exuvia.timeout = 'off'; DROP FUNCTION spin_rows; SET exuvia.timeout = '2min'").await;
    run(
        &session,
        "CREATE FUNCTION spin_rows(n BIGINT) RETURNS SETOF BIGINT LANGUAGE python OPTIONS (timeout '200ms') AS $$
while True:
    if n > 99: yield n
$$",
    )
    .await;
    assert!(fails(&session, QUERIES[1]).await.starts_with("ran out of its time"));
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_cancelled_and_dropped() {
    let session = with_tables().await;
    run(&session, FOREVER).await;
    for query in QUERIES {
        let canceller = session.clone();
        let running = session.clone();
        let task = tokio::spawn(async move { running.sql(query).await?.collect().await });
        tokio::time::sleep(Duration::from_millis(400)).await;
        canceller.cancel();
        let ended = tokio::time::timeout(Duration::from_secs(20), task).await.expect("ends in time").expect("no panic");
        let said = message(&ended.expect_err("cancelled"));
        assert!(said.starts_with("cancelled\n  in function spin"), "{query}: {said}");
        // A query that is dropped leaves nothing behind that would keep Python busy.
        if !query.contains("spin_group") {
            let dropped = async { session.sql(query).await?.collect().await };
            assert!(tokio::time::timeout(Duration::from_millis(300), dropped).await.is_err());
        }
    }
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn exceptions_name_function_line_and_arguments() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION late(n BIGINT) RETURNS TABLE (m BIGINT) LANGUAGE python AS $$
def late(n):
    yield n
    raise KeyError(n)
$$;
CREATE FUNCTION parts(t TABLE) RETURNS TABLE (id BIGINT) LANGUAGE python AS $$
def parts(t):
    yield t
    yield t['nothing']
$$",
    )
    .await;
    assert_eq!(
        fails(&session, "SELECT * FROM t, LATERAL late(t.id) WHERE id = 3").await,
        "KeyError: 3\n  in function late, line 4\n  |\n4 |     raise KeyError(n)\n  called with n = 3"
    );
    let said = fails(&session, "SELECT * FROM parts(TABLE t)").await;
    assert!(said.starts_with("KeyError: 'nothing'\n  in function parts, line 9"), "{said}");
    // Nothing half done is left in a table.
    run(&session, "CREATE TABLE made (id BIGINT)").await;
    assert!(try_run(&session, "INSERT INTO made SELECT * FROM parts(TABLE t)").await.is_err());
    assert_eq!(rows(&session, "SELECT count(*) FROM made").await, "0");
    // An error of an input is that of the query.
    run(&session, "CREATE FUNCTION whole(t TABLE) RETURNS TABLE (n BIGINT) LANGUAGE python AS $$ return len(t) $$")
        .await;
    let said = fails(&session, "SELECT * FROM whole((SELECT 1 / (id - 1) AS q FROM t))").await;
    assert!(said.to_lowercase().contains("divide by zero"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_are_charged_to_the_pool() {
    let runtime =
        RuntimeEnvBuilder::new().with_memory_pool(Arc::new(GreedyMemoryPool::new(1 << 20))).build_arc().unwrap();
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(SessionConfig::new().with_target_partitions(1))
        .with_runtime_env(runtime)
        .with_exuvia()
        .build();
    let session = ExuviaSession::from(SessionContext::new_with_state(state));
    run(
        &session,
        "CREATE FUNCTION whole(t TABLE) RETURNS TABLE (n BIGINT) LANGUAGE python AS $$ return len(t) $$;
         CREATE FUNCTION same(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import pandas as pd
def same(x: pd.Series):
    return x
$$;
         CREATE FUNCTION held(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (kind 'aggregate') AS $$ return len(x) $$",
    )
    .await;
    let numbers = |rows: usize| format!("(SELECT value AS x FROM generate_series(1, {rows}))");
    assert_eq!(rows(&session, &format!("SELECT * FROM whole({})", numbers(1000))).await, "1000");
    for query in [
        format!("SELECT * FROM whole({})", numbers(1_000_000)),
        format!("SELECT max(same(x)) FROM {}", numbers(1_000_000)),
        format!("SELECT held(x) FROM {}", numbers(1_000_000)),
    ] {
        let said = fails(&session, &query).await;
        assert!(said.contains("memory") || said.contains("Resources exhausted"), "{query}: {said}");
    }
    // What failed has given its memory back.
    assert_eq!(rows(&session, &format!("SELECT * FROM whole({})", numbers(1000))).await, "1000");
}

#[tokio::test(flavor = "multi_thread")]
async fn prints_and_warnings_go_to_the_sink() {
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    let options = ExuviaOptions::default().with_print(move |text| sink.lock().unwrap().push_str(text));
    let session = ExuviaSession::new_with_config(SessionConfig::new().with_option_extension(options));
    run(
        &session,
        "CREATE FUNCTION loud(t TABLE) RETURNS TABLE (n BIGINT) LANGUAGE python AS $$
import warnings
def loud(t):
    print('rows:', len(t))
    warnings.warn('careful')
    return len(t)
$$;
CREATE TABLE t AS VALUES (1)",
    )
    .await;
    assert_eq!(rows(&session, "SELECT * FROM loud(TABLE t)").await, "1");
    let printed = printed.lock().unwrap().clone();
    assert!(printed.starts_with("rows: 1\n") && printed.contains("UserWarning: careful"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_may_be_replaced_and_dropped_while_they_run() {
    let session = with_tables().await;
    let define = |result: i64| {
        format!(
            "CREATE OR REPLACE FUNCTION slow(t TABLE) RETURNS TABLE (n BIGINT) LANGUAGE python AS $$
import time
def slow(t):
    time.sleep(0.3)
    return {result}
$$"
        )
    };
    run(&session, &define(1)).await;
    let running = session.clone();
    let task = tokio::spawn(async move { rows(&running, "SELECT * FROM slow(TABLE t)").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    run(&session, &define(2)).await;
    assert_eq!(task.await.unwrap(), "1");
    assert_eq!(rows(&session, "SELECT * FROM slow(TABLE t)").await, "2");
    run(&session, "DROP FUNCTION slow").await;
    assert!(fails(&session, "SELECT * FROM slow(TABLE t)").await.contains("slow"));
    // A name serves one kind at a time.
    run(&session, &define(3)).await;
    run(&session, "CREATE OR REPLACE FUNCTION slow(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$").await;
    assert_eq!(rows(&session, "SELECT slow(4)").await, "4");
    assert!(try_run(&session, "SELECT * FROM slow(TABLE t)").await.is_err());
    run(&session, "DROP FUNCTION slow").await;
}

/// pyarrow can be told not to check what an array is made of. What it then holds is read by nobody.
#[tokio::test(flavor = "multi_thread")]
async fn results_that_are_no_valid_arrow_data_are_refused() {
    let session = with_tables().await;
    let arrays = [
        "pa.array([b'caf\\xe9', b'ok']).view(pa.string())",
        "pa.array([b'a\\xff', b'b'], pa.binary()).cast(pa.string(), safe=False)",
        "pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 99999, 2], 'i4')), pa.py_buffer(b'ab')])",
        "pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(np.array([100, 0, 7, 9999999] * 2, 'i4')), \
         pa.py_buffer(b'ab')])",
    ];
    for array in arrays {
        let table = format!(
            "CREATE OR REPLACE FUNCTION made(t TABLE) RETURNS TABLE (v TEXT) LANGUAGE python AS $$
import numpy as np
import pyarrow as pa
def made(t):
    return pa.table({{'v': {array}}})
$$;
CREATE OR REPLACE FUNCTION column_made(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
import numpy as np
import pandas as pd
import pyarrow as pa
def column_made(n: pd.Series):
    return {array}
$$"
        );
        run(&session, &table).await;
        for query in [
            "SELECT upper(v), reverse(v) FROM made(TABLE t)",
            "SELECT v FROM made(TABLE t)",
            "SELECT column_made(value) FROM range(2)",
        ] {
            let said = fails(&session, query).await;
            assert!(said.contains("nvalid") || said.contains("references buffer"), "{array}, {query}: {said}");
        }
    }
}

/// What an object of the module is made of is looked at where CPython does, when it is made.
#[tokio::test(flavor = "multi_thread")]
async fn a_format_that_struct_refuses_is_refused_at_create() {
    let session = with_tables().await;
    for (format, said) in [("{}", "bad char in struct format"), ("<3", "repeat count given without format specifier")] {
        let create = format!(
            "CREATE FUNCTION f(b BYTEA) RETURNS TEXT LANGUAGE python AS $$
import struct
HEAD = struct.Struct('{format}')
def f(b):
    return str(HEAD.unpack(b))
$$"
        );
        let error = fails(&session, &create).await;
        assert!(error.contains(said), "{format}: {error}");
    }
}
