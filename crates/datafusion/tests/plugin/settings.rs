//! SET, SHOW and RESET of what begins with `exuvia.`.

use crate::common::{fails, rows, run, session};
use datafusion::prelude::SessionConfig;
use expect_test::expect;
use exuvia::{ExuviaOptions, ExuviaSession};

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_shown_and_set() {
    let session = session();
    run(&session, "SET exuvia.native = off; SET exuvia.timeout = '1500ms'; SET exuvia.row_memory = '1MB'").await;
    run(&session, "SET exuvia.fault = 'guards'").await;
    expect![[r#"
        exuvia.device | any
        exuvia.exact | bounded
        exuvia.fault | guards
        exuvia.fuse | on
        exuvia.inline | on
        exuvia.interpreter | auto
        exuvia.lift | on
        exuvia.memoize | on
        exuvia.native | off
        exuvia.offload | auto
        exuvia.optimize | on
        exuvia.python_memory | auto
        exuvia.row_memory | 1048576
        exuvia.timeout | 1500ms
        exuvia.worker_memory | off"#]]
    .assert_eq(
        &rows(&session, "SELECT name, value FROM information_schema.df_settings WHERE name LIKE 'exuvia.%'").await,
    );
    assert_eq!(rows(&session, "SHOW exuvia.native").await, "exuvia.native | off");
    assert!(rows(&session, "SHOW ALL").await.contains("exuvia.lift | on"));
    run(&session, "RESET exuvia.native; RESET exuvia.timeout; RESET Exuvia.row_memory; RESET exuvia.fault").await;
    expect![[r#"
        exuvia.device | any
        exuvia.exact | bounded
        exuvia.fault | off
        exuvia.fuse | on
        exuvia.inline | on
        exuvia.interpreter | auto
        exuvia.lift | on
        exuvia.memoize | on
        exuvia.native | on
        exuvia.offload | auto
        exuvia.optimize | on
        exuvia.python_memory | auto
        exuvia.row_memory | 268435456
        exuvia.timeout | off
        exuvia.worker_memory | off"#]]
    .assert_eq(
        &rows(&session, "SELECT name, value FROM information_schema.df_settings WHERE name LIKE 'exuvia.%'").await,
    );
    expect!["there is no setting exuvia.speed"].assert_eq(&fails(&session, "RESET exuvia.speed").await);
    run(&session, "SET exuvia.native = off; SET datafusion.execution.batch_size = 7; SET exuvia.interpreter = off")
        .await;
    run(&session, "RESET ALL").await;
    assert_eq!(rows(&session, "SHOW exuvia.native").await, "exuvia.native | on");
    assert_eq!(rows(&session, "SHOW datafusion.execution.batch_size").await, "datafusion.execution.batch_size | 8192");
    assert_eq!(rows(&session, "SHOW exuvia.interpreter").await, "exuvia.interpreter | off");
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_are_off_where_the_host_says_so() {
    let config = SessionConfig::new()
        .with_information_schema(true)
        .with_option_extension(ExuviaOptions::default().without_devices());
    let session = ExuviaSession::new_with_config(config);
    expect!["exuvia.offload is off in this session and cannot be switched on"]
        .assert_eq(&fails(&session, "SET exuvia.offload = force").await);
    run(&session, "SET exuvia.offload = off; RESET exuvia.offload; SET exuvia.device = 'H100'").await;
    assert_eq!(rows(&session, "SHOW exuvia.offload").await, "exuvia.offload | off");
    assert_eq!(rows(&session, "SHOW exuvia.device").await, "exuvia.device | H100");
    expect!["exuvia.offload is 'auto', 'off' or 'force', not 'always'"]
        .assert_eq(&fails(&session, "SET exuvia.offload = always").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_values_are_refused() {
    let session = session();
    expect!["exuvia.native is on or off, not 'maybe'"].assert_eq(&fails(&session, "SET exuvia.native = 'maybe'").await);
    expect!["exuvia.timeout is a time such as 30s or off, not 'soon'"]
        .assert_eq(&fails(&session, "SET exuvia.timeout = 'soon'").await);
    expect!["there is no setting exuvia.speed"].assert_eq(&fails(&session, "SET exuvia.speed = 1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_interpreter_is_only_switched_off() {
    let session = session();
    run(&session, "SET exuvia.interpreter = 'off'").await;
    let refused = "exuvia.interpreter is off in this session and cannot be switched on";
    assert_eq!(fails(&session, "SET exuvia.interpreter = 'auto'").await, refused);
    assert_eq!(fails(&session, "RESET exuvia.interpreter").await, refused);
    assert_eq!(rows(&session, "SHOW exuvia.interpreter").await, "exuvia.interpreter | off");

    let trusted = SessionConfig::new()
        .with_information_schema(true)
        .with_option_extension(ExuviaOptions::default().without_interpreter());
    let session = ExuviaSession::new_with_config(trusted);
    assert_eq!(fails(&session, "SET exuvia.interpreter = 'auto'").await, refused);
    run(&session, "RESET exuvia.interpreter").await;
    assert_eq!(rows(&session, "SHOW exuvia.interpreter").await, "exuvia.interpreter | off");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_interpreter_what_needs_one_is_refused() {
    let session = session();
    run(&session, "SET exuvia.interpreter = 'off'").await;
    run(&session, "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x + 1 $$").await;
    assert_eq!(rows(&session, "SELECT f(1)").await, "2");
    let error = fails(
        &session,
        "CREATE FUNCTION g(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
           import subprocess
           return len(subprocess.run(['true']).args)
         $$",
    )
    .await;
    assert!(error.starts_with("cannot create function g: it cannot be lifted (E"), "{error}");
    assert!(error.contains("subprocess"), "{error}");
}
