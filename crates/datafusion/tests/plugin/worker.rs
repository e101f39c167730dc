//! CPython in a process of the session's own.

use crate::common::{fails, rows, run, session};
use datafusion::prelude::SessionConfig;
use exuvia::{ExuviaOptions, ExuviaSession};

const FUNCTIONS: &str = "
CREATE FUNCTION leave(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import os
if n > 2:
    os._exit(3)
return n
$$;
CREATE FUNCTION crash(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import ctypes
return ctypes.string_at(0) and n
$$;
CREATE FUNCTION forked(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import os, time
if os.fork() == 0:
    time.sleep(5)
    os._exit(0)
return os._exit(1)
$$;
CREATE FUNCTION starts(n BIGINT) RETURNS BIGINT VOLATILE LANGUAGE python AS $$
import subprocess
return subprocess.Popen(['sleep', '100']).pid
$$;
CREATE FUNCTION large(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import os
return len(os.sep * n)
$$;
CREATE FUNCTION pid() RETURNS BIGINT VOLATILE LANGUAGE python AS $$
import os
return os.getpid()
$$;
CREATE FUNCTION doubled(t TABLE) RETURNS TABLE (n BIGINT, m BIGINT) LANGUAGE python AS $$
import pandas as pd
def doubled(t):
    return t.assign(m=t.n * 2)
$$;
CREATE FUNCTION shared(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import builtins
builtins.seen = getattr(builtins, 'seen', 0) + n
return builtins.seen
$$;
CREATE TABLE t AS VALUES (1), (2), (3)";

fn own(memory: Option<usize>) -> ExuviaSession {
    let options = ExuviaOptions::default().with_worker(memory);
    ExuviaSession::new_with_config(SessionConfig::new().with_information_schema(true).with_option_extension(options))
}

/// A worker that was stopped reads nothing: requests that its pipe does not hold keep their time.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_reads_nothing_keeps_the_time() {
    let session = own(None);
    run(&session, FUNCTIONS).await;
    let pid = rows(&session, "SELECT pid()").await;
    let stopped = std::process::Command::new("kill").args(["-STOP", &pid]).status().unwrap();
    assert!(stopped.success());
    run(&session, "SET exuvia.timeout = '1s'").await;
    let long = "CREATE TABLE long AS SELECT value AS n, repeat('x', 100) AS s FROM generate_series(1, 20000)";
    run(&session, long).await;
    let start = std::time::Instant::now();
    let error = fails(&session, "SELECT max(leave(n - 20000)), max(large(length(s))) FROM long").await;
    assert!(error.contains("ran out of its time"), "{error}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    run(&session, "RESET exuvia.timeout").await;
    assert_ne!(rows(&session, "SELECT pid()").await, pid);
}

/// A call that breaks the pipe of its process costs no other call: what the process does not read any more is
/// asked of another.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_reads_no_more_is_another_one_for_the_next_call() {
    let session = own(None);
    run(&session, FUNCTIONS).await;
    let breaks = "CREATE FUNCTION breaks(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import os
for i in range(20):
    try:
        os.set_blocking(i, False)
        os.read(i, 100000)
    except OSError:
        pass
return n
$$";
    run(&session, breaks).await;
    let pid = rows(&session, "SELECT pid()").await;
    assert_eq!(rows(&session, "SELECT breaks(7)").await, "7");
    assert_eq!(rows(&session, "SELECT shared(3)").await, "3");
    assert_eq!(rows(&session, "SELECT m FROM doubled((SELECT 4 AS n))").await, "8");
    assert_ne!(rows(&session, "SELECT pid()").await, pid);
}

/// What ends the process ends the query; the next one runs in another process.
#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_ends_the_process_fails_its_query_only() {
    let session = own(None);
    run(&session, FUNCTIONS).await;
    let first = rows(&session, "SELECT pid()").await;
    assert_ne!(first, std::process::id().to_string());
    for sql in ["SELECT leave(column1) FROM t", "SELECT crash(column1) FROM t", "SELECT forked(column1) FROM t"] {
        let error = fails(&session, sql).await;
        assert!(error.contains("Python") && error.contains("ended"), "{error}");
        assert_eq!(rows(&session, "SELECT leave(column1) FROM t WHERE column1 < 3").await, "1\n2");
    }
    assert_ne!(rows(&session, "SELECT pid()").await, first);
    assert_eq!(
        rows(&session, "SELECT * FROM doubled((SELECT column1 AS n FROM t ORDER BY n))").await,
        "1 | 2\n2 | 4\n3 | 6"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn its_memory_is_limited() {
    let session = own(Some(3 << 30));
    run(&session, FUNCTIONS).await;
    assert_eq!(rows(&session, "SELECT large(column1) FROM t").await, "1\n2\n3");
    let error = fails(&session, "SELECT large(column1 * 10000000000) FROM t").await;
    assert!(error.contains("MemoryError"), "{error}");
    assert_eq!(rows(&session, "SELECT large(column1) FROM t").await, "1\n2\n3");
    for loosened in
        ["SET exuvia.worker_memory = '4GB'", "SET exuvia.worker_memory = off", "SET exuvia.interpreter = auto"]
    {
        fails(&session, loosened).await;
    }
}

/// Sessions share nothing, and what a session has changed in this process stays there.
#[tokio::test(flavor = "multi_thread")]
async fn each_session_has_its_own() {
    let (one, other) = (own(None), own(None));
    run(&one, FUNCTIONS).await;
    run(&other, FUNCTIONS).await;
    assert_eq!(rows(&one, "SELECT shared(5)").await, "5");
    assert_eq!(rows(&other, "SELECT shared(7)").await, "7");
    assert_ne!(rows(&one, "SELECT pid()").await, rows(&other, "SELECT pid()").await);
    // A function that was defined in this process is defined again in the worker.
    let session = session();
    run(
        &session,
        "CREATE FUNCTION where_am_i() RETURNS BIGINT VOLATILE LANGUAGE python AS $$
import os
return os.getpid()
$$",
    )
    .await;
    assert_eq!(rows(&session, "SELECT where_am_i()").await, std::process::id().to_string());
    run(&session, "SET exuvia.interpreter = worker").await;
    assert_ne!(rows(&session, "SELECT where_am_i()").await, std::process::id().to_string());
}

/// What a function starts ends with the worker.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn processes_of_a_function_end_with_the_worker() {
    let session = own(None);
    run(&session, FUNCTIONS).await;
    let mut pids = Vec::new();
    let alive = |pid: &str| {
        let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
        // One that nobody has waited for is there as a zombie.
        !state.stdout.is_empty() && !state.stdout.starts_with(b"Z")
    };
    for ends in ["SELECT leave(3)", "SELECT 1"] {
        let pid = rows(&session, "SELECT starts(1)").await;
        assert!(alive(&pid), "{pid}");
        pids.push(pid);
        let _ = session.sql(ends).await.unwrap().collect().await;
    }
    drop(session);
    for pid in pids {
        let gone = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            !alive(&pid)
        });
        assert!(gone, "{pid} goes on");
    }
}
