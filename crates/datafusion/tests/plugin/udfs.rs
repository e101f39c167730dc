//! Python files that declare their functions.

use crate::common::{rows, session};
use expect_test::expect;
use exuvia::message;
use std::path::Path;

fn file(name: &str, text: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("udfs");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file for tests");
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_share_their_module() {
    let path = file(
        "shared.py",
        "RATE = 3\n\ndef helper(x):\n    return x * RATE\n\n# sql: first(x BIGINT)\n#   RETURNS BIGINT STRICT\n\
         def first(x):\n    return helper(x)\n\n\n# sql: second(x BIGINT DEFAULT 2) RETURNS TEXT OPTIONS (on_error 'null')\n\
         def other_name(x):\n    return str(helper(x))\n",
    );
    let session = session();
    assert_eq!(session.load_functions(&path).expect("loads"), ["first", "second"]);
    assert_eq!(
        rows(&session, "SELECT first(column1), second(column1), second() FROM (VALUES (5))").await,
        "15 | 15 | 6"
    );
    // Loading again replaces.
    session.load_functions(&path).expect("loads again");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_shown_in_their_file() {
    let path = file("wrong.py", "A = 1\n\n# sql: f(x BIGINT) RETURNS BIGNIT\ndef f(x):\n    return x\n");
    let error = message(&session().load_functions(&path).expect_err("no type"));
    expect![[r#"
        wrong.py: cannot create function f: RETURNS: the type BIGNIT is not supported; did you mean BIGINT?
          |
        3 | # sql: f(x BIGINT) RETURNS BIGNIT
          |                            ^^^^^^"#]]
    .assert_eq(error.rsplit_once("udfs/").map_or(&error, |(_, rest)| rest));
    let error = message(&session().load_functions("/nowhere.py").expect_err("no file"));
    expect!["cannot read /nowhere.py: No such file or directory (os error 2)"].assert_eq(&error);
}
