//! Fitted models.

use super::with_tables;
use crate::common::{fails, rows, run};
use std::path::Path;
use std::process::Command;

/// Writes a pickle by the interpreter of the tests.
fn pickle(path: &Path, expression: &str) {
    let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let program = format!("import pickle, sys; pickle.dump({expression}, open(sys.argv[1], 'wb'))");
    let status = Command::new(python).args(["-c", &program]).arg(path).status().expect("Python runs");
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn models_are_globals_of_the_module() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rates.pkl");
    pickle(&path, "{'a': 2.0, 'b': 3.0}");
    let session = with_tables().await;
    let by_path = format!("models 'rates={}'", path.display());
    for (name, signature, body) in [
        ("row_of", "(g TEXT) RETURNS DOUBLE", "return rates.get(g)"),
        ("table_of", "(t TABLE) RETURNS TABLE (r DOUBLE)", "return t['g'].map(rates)"),
    ] {
        run(
            &session,
            &format!("CREATE FUNCTION {name}{signature} LANGUAGE python OPTIONS ({by_path}) AS $$ {body} $$"),
        )
        .await;
    }
    assert_eq!(rows(&session, "SELECT id, row_of(g) FROM t").await, "1 | 2.0\n2 | 3.0\n3 | 2.0\n4 | NULL\n5 | NULL");
    assert_eq!(rows(&session, "SELECT count(r), sum(r) FROM table_of(TABLE t)").await, "3 | 7.0");
    let named = "CREATE FUNCTION f(g TEXT) RETURNS DOUBLE LANGUAGE python OPTIONS (models 'rates') AS $$ return rates.get(g) $$";
    assert!(
        fails(&session, named)
            .await
            .contains("there is no model rates; name its file, as in models 'rates=path.joblib'")
    );
    session.register_model("rates", &path);
    run(&session, named).await;
    assert_eq!(rows(&session, "SELECT f('b')").await, "3.0");
    let missing = "CREATE FUNCTION h(g TEXT) RETURNS DOUBLE LANGUAGE python OPTIONS (models 'm=/nowhere.pkl') AS $$ return 1.0 $$";
    assert!(fails(&session, missing).await.contains("FileNotFoundError"));
}
