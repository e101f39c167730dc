//! The command without a terminal: what it prints, where, and how it exits.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn exuvia(args: &[&str], input: &str) -> Output {
    exuvia_with(&[], args, input)
}

fn exuvia_with(variables: &[(&str, &str)], args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_exuvia"))
        .args(args)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

fn out(args: &[&str]) -> String {
    let output = exuvia(args, "");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{err}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn err(args: &[&str]) -> String {
    let output = exuvia(args, "");
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file for tests");
    path
}

const QUERY: &str = "SELECT * FROM (VALUES (1, 'a;b'), (NULL, 'c')) AS t(x, y) ORDER BY y";

#[test]
fn results_have_formats() {
    assert_eq!(
        out(&["-c", QUERY]),
        "+------+-----+\n| x    | y   |\n+------+-----+\n| 1    | a;b |\n| NULL | c   |\n+------+-----+\n"
    );
    assert_eq!(out(&["-c", QUERY, "--format", "csv"]), "x,y\n1,a;b\n,c\n");
    assert_eq!(out(&["-c", QUERY, "--format", "tsv"]), "x\ty\n1\ta;b\n\tc\n");
    assert_eq!(out(&["-c", QUERY, "--format", "json"]), "[{\"x\":1,\"y\":\"a;b\"},{\"x\":null,\"y\":\"c\"}]\n");
    assert_eq!(out(&["-c", QUERY, "--format", "ndjson"]), "{\"x\":1,\"y\":\"a;b\"}\n{\"x\":null,\"y\":\"c\"}\n");
    assert_eq!(out(&["-c", "SELECT 1 AS x WHERE false", "--format", "csv"]), "x\n");
    // NULL, an empty text and what has no number are different things in each.
    let odd = "SELECT * FROM (VALUES (CAST('nan' AS DOUBLE), '', NULL), (CAST('-inf' AS DOUBLE), NULL, 'a,\"b\"'), \
               (NULL, ' ', E'c\nd'), (0.5, 'é', '')) AS t(x, y, \"z,\")";
    assert_eq!(
        out(&["-c", odd, "--format", "csv"]),
        "x,y,\"z,\"\nNaN,\"\",\n-inf,,\"a,\"\"b\"\"\"\n, ,\"c\nd\"\n0.5,é,\"\"\n"
    );
    assert_eq!(
        out(&["-c", odd, "--format", "ndjson"]),
        "{\"x\":\"NaN\",\"y\":\"\",\"z,\":null}\n{\"x\":\"-Infinity\",\"y\":null,\"z,\":\"a,\\\"b\\\"\"}\n\
         {\"x\":null,\"y\":\" \",\"z,\":\"c\\nd\"}\n{\"x\":0.5,\"y\":\"é\",\"z,\":\"\"}\n"
    );
    let nested = "SELECT NULL AS n, [1, NULL] AS l";
    assert_eq!(out(&["-c", nested, "--format", "csv"]), "n,l\n,\"[1, NULL]\"\n");
    let nested = "SELECT [CAST('inf' AS REAL), NULL, 1.5] AS x, struct(CAST('nan' AS DOUBLE) AS y) AS s";
    assert_eq!(out(&["-c", nested, "--format", "ndjson"]), "{\"x\":[\"Infinity\",null,1.5],\"s\":{\"y\":\"NaN\"}}\n");
    // What no calendar has is an error in each, never a text that says so.
    let beyond = "SELECT arrow_cast(9223372036854775807, 'Timestamp(Second, None)') AS t";
    for format in ["csv", "json", "ndjson"] {
        assert!(err(&["-c", beyond, "--format", format]).contains("9223372036854775807"), "{format}");
    }
    assert_eq!(out(&["-c", "SELECT 1 AS x WHERE false", "--format", "json"]), "[]\n");
    assert!(
        out(&["-c", "SELECT value FROM range(10)", "--maxrows", "3"])
            .ends_with("… 7 rows more; --maxrows 0 shows them\n")
    );
}

#[test]
fn inputs_run_in_their_order() {
    let first = file("first.sql", "CREATE TABLE t AS VALUES (1);\nSELECT * FROM t");
    let first = first.to_str().expect("UTF-8");
    assert_eq!(
        out(&["-f", first, "-c", "INSERT INTO t VALUES (2)", "-c", "SELECT * FROM t", "--format", "csv"]),
        "column1\n1\ncolumn1\n1\n2\n",
        "the number of rows that were inserted is for people"
    );
    assert!(out(&["-f", first, "-c", "INSERT INTO t VALUES (2)"]).contains("| count |"));
    let piped = exuvia(&["--format", "csv"], "SELECT 1 AS x; -- a comment; here\nSELECT 2 AS y;");
    assert_eq!(String::from_utf8_lossy(&piped.stdout), "x\n1\ny\n2\n");
    // Files and statements as they are, standard input in between, a byte order mark, blanks in a path.
    let spaced = file("two words.sql", "\u{feff}SELECT 3 AS z");
    let spaced = spaced.to_str().expect("UTF-8");
    let mixed =
        exuvia(&["SELECT 1 AS x", "-f", "-", spaced, "-c", "-- y\nSELECT 4 AS w", "--format", "csv"], "SELECT 2 AS y");
    assert_eq!(String::from_utf8_lossy(&mixed.stdout), "x\n1\ny\n2\nz\n3\nw\n4\n");
    assert_eq!(out(&["--format", "csv", "-c", &format!("\\i {spaced}")]), "z\n3\n");
    assert!(err(&["nowhere.sql"]).starts_with("error: cannot read nowhere.sql"));
    // What is SQL without a blank, and what begins with a comment.
    for sql in
        ["SELECT*FROM(VALUES(1))AS\"t\"(\"x\")", "SELECT(1)\"x\"", "-- one\nSELECT 1 AS x", "--one\nSELECT 1 AS x"]
    {
        assert_eq!(out(&["--format", "csv", sql]), "x\n1\n", "{sql}");
    }
    assert_eq!(out(&["", ";"]), "");
    assert!(err(&["select;"]).contains("the end"));
    assert!(!exuvia(&["--nothing"], "").status.success());
    let quoted = "CREATE TABLE \"a b\" AS VALUES (1)";
    assert!(out(&["-c", quoted, "-c", "\\d \"a b\""]).contains("column1"));
    assert!(out(&["-c", quoted, "-c", "\\dt \"a b\""]).contains("a b"));
    assert!(err(&["-c", quoted, "-c", "\\d a b"]).contains("usage: \\d [TABLE]"));
    // What COPY cannot write fails, and says what can.
    let here = file("no_folder", "");
    let below = format!("COPY (SELECT 1) TO '{}/x.csv'", here.display());
    assert!(err(&["-c", &below]).contains("no_folder is no folder"));
    let nested = format!("COPY (SELECT [1] AS c) TO '{}'", here.with_file_name("nested.csv").display());
    assert!(err(&["-c", &nested]).contains("exuvia --format csv writes it as text"));
}

#[test]
fn scripts_have_backslash_commands() {
    let create = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python OPTIONS (on_error 'null', timeout '2s') \
                  AS $$\n    return x + 1\n$$;\n";
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a result.csv");
    let script = format!(
        "{create}\\format csv\n\\echo from here\nSELECT f(1) AS x;\n\\x\n\\maxrows 1\nSELECT value AS v FROM range(3);\n\
         \\format csv\n\\o '{}'\nSELECT f(2) AS x;\n\\o\n\\sf f\n\\q\nSELECT nothing;",
        target.display()
    );
    let output = exuvia(&["-f", "-"], &script);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "format is expanded\n");
    let shown = String::from_utf8_lossy(&output.stdout);
    let wanted = "from here\nx\n2\n-[ row 1 ]---\nv | 0\n… 2 rows more; --maxrows 0 shows them\nCREATE OR REPLACE FUNCTION f(x BIGINT) \
                  RETURNS BIGINT STRICT LANGUAGE python OPTIONS (on_error 'null', timeout '2s') AS $$\nreturn x + 1\n$$;\n";
    assert_eq!(shown, wanted);
    assert_eq!(std::fs::read_to_string(target).expect("the result"), "x\n3\n");
    let named = "CREATE FUNCTION \"F a\"() RETURNS BIGINT LANGUAGE python AS $$ return 1 $$";
    assert!(
        out(&["-c", named, "-c", "\\sf \"F a\""]).starts_with("CREATE OR REPLACE FUNCTION \"F a\"() RETURNS BIGINT")
    );
    assert!(err(&["-c", named, "-c", "\\sf f a"]).contains("there is no Python function f a"));
    let failed = exuvia(&["-f", "-"], "SELECT 1;\n\\dump lifted");
    assert_eq!(
        String::from_utf8_lossy(&failed.stderr),
        "error: usage: \\dump STAGE FUNCTION\n  in standard input:2: \\dump lifted\n"
    );
    assert_eq!(failed.status.code(), Some(1));
    let itself = file("itself.sql", "");
    std::fs::write(&itself, format!("\\i {}\n", itself.display())).expect("a file for tests");
    assert!(err(&["-f", itself.to_str().expect("UTF-8")]).contains("files that run files are 50 deep"));
    assert!(err(&["-c", ".tables"]).contains("syntax error"));
    assert!(err(&["-c", "\\dv"]).contains("\\d lists the tables"));
    // What a file has wrong names the file.
    let ragged = file("ragged.csv", "a,b\n1,2\n3\n");
    let name = ragged.to_str().expect("UTF-8");
    for read in
        ["SELECT * FROM '{}'", "EXPLAIN SELECT 1 FROM '{}'", "CREATE EXTERNAL TABLE a STORED AS CSV LOCATION '{}'"]
    {
        let said = err(&["-c", &read.replace("{}", name)]);
        assert!(said.contains("unequal lengths") && said.contains(&format!("in the file {name}")), "{said}");
    }
    // Of several statements the one that failed is named.
    assert!(
        err(&["-c", "SELECT 1; SELECT CAST('x' AS INT) FROM\n range(1)"])
            .contains("in the statement SELECT CAST('x' AS INT) FROM …")
    );
}

#[test]
fn an_editor_changes_the_last_statement() {
    let edited = |editor: &str, script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exuvia"));
        command.args(["--format", "csv", "-c", script]).env("EDITOR", editor).env_remove("VISUAL");
        command.output().expect("it ends")
    };
    let output = edited("sed -i.old s/1/2/", "SELECT 1 AS x; \\e");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n1\nx\n2\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "SELECT 2 AS x;\n");
    let spaced = file("to edit.sql", "SELECT 1 AS y");
    let output = edited("sed -i.old s/1/3/", &format!("\\e {}", spaced.display()));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "y\n3\n");
    assert!(spaced.exists());
    for unsaved in ["SELECT 1 AS x; \\e".to_string(), format!("SELECT 1 AS x; \\e {}", spaced.display())] {
        let output = edited("true", &unsaved);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n1\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "nothing was saved, and nothing is run\n");
        assert!(output.status.success());
    }
    let output = edited("touch -d 2001-01-01", "SELECT 1 AS x; \\e");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n1\nx\n1\n", "it was saved as it is");
    let output = edited("false", "SELECT 1 AS x; \\e");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing is run"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_system_gets_a_manual_and_completions() {
    assert!(out(&["man"]).contains(".TH exuvia 1"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&["completions", shell]).contains("maxrows"), "{shell}");
    }
}

#[test]
fn an_error_ends_with_status_one_on_standard_error() {
    assert_eq!(err(&["-c", "SELECT 1 AS x; SELECT y"]).lines().next(), Some("error: No field named y."));
    let quoted = err(&["-c", "SELECT upper(\"it's\")"]);
    assert_eq!(quoted.lines().last(), Some("  hint: \"it's\" is the name of a column; a text is 'it''s'"));
    let wrong = file(
        "wrong.sql",
        "SELECT 1;\n\nCREATE FUNCTION f(x BIGINT) RETURNS BIGINT\n  LANGUAGE python AS $$\n    return y\n$$;\nSELECT f(1);",
    );
    let path = wrong.to_str().expect("UTF-8").to_string();
    let output = exuvia(&["-f", &path, "-c", "SELECT 2"], "");
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8_lossy(&output.stderr).replace(&path, "wrong.sql");
    assert!(shown.starts_with("error: wrong.sql:"), "{shown}");
    assert!(shown.contains("NameError: name 'y' is not defined"), "{shown}");
    assert!(shown.contains("5 | return y") || shown.contains("5 |     return y"), "{shown}");
    // What comes after is not run.
    assert!(!String::from_utf8_lossy(&output.stdout).contains('2'));
    assert!(err(&["-f", "/nowhere.sql"]).starts_with("error: cannot read /nowhere.sql"));
}

#[test]
fn python_files_declare_functions() {
    let udfs = file("cli_udfs.py", "# sql: double(x BIGINT) RETURNS BIGINT\ndef double(x):\n    return x * 2\n");
    let marked = file("cli_marked.py", "\u{feff}# sql: triple(x BIGINT) RETURNS BIGINT\ntriple = lambda x: x * 3\n");
    let marked = marked.to_str().expect("UTF-8");
    assert_eq!(out(&["--udfs", marked, "-c", "SELECT triple(2) AS x", "--format", "csv"]), "x\n6\n");
    let udfs = udfs.to_str().expect("UTF-8");
    assert_eq!(out(&["--udfs", udfs, "--format", "csv", "-c", "SELECT double(21) AS x"]), "x\n42\n");
    let none = file("cli_no_udfs.py", "def double(x):\n    return x * 2\n");
    let none = none.to_str().expect("UTF-8");
    assert!(err(&["--udfs", none, "-c", "SELECT 1"]).starts_with(&format!("error: {none} declares no function: ")));
    assert!(err(&["--udfs", "/nowhere", "-c", "SELECT 1"]).starts_with("error: cannot read /nowhere"));
}

/// A store of local files would try without end to make one there.
#[cfg(target_os = "linux")]
#[test]
fn copying_to_where_no_file_can_be_is_an_error() {
    for target in ["/proc/rows.csv", "/proc/none/rows.csv"] {
        let error = err(&["-c", &format!("COPY (SELECT 1 AS a) TO '{target}' STORED AS CSV")]);
        assert!(error.contains(&format!("cannot write to {target}: ")), "{error}");
    }
}

#[test]
fn files_are_tables() {
    let csv = file("cities.csv", "name,people\nUlm,126000\nBonn,330000\n");
    let csv = csv.to_str().expect("UTF-8");
    let query = format!("SELECT max(people) AS most FROM '{csv}'");
    assert_eq!(out(&["-c", &query, "--format", "csv"]), "most\n330000\n");
    let external =
        format!("CREATE EXTERNAL TABLE c STORED AS CSV LOCATION '{csv}' OPTIONS ('format.has_header' 'true')");
    assert_eq!(out(&["-c", &external, "-c", "SELECT count(*) AS n FROM c", "--format", "csv"]), "n\n2\n");
    let json = file("cities.json", "{\"name\":\"Ulm\",\"people\":126000}\n");
    let query = format!("SELECT people FROM '{}'", json.display());
    assert_eq!(out(&["-c", &query, "--format", "csv"]), "people\n126000\n");
    let parquet = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cities.parquet");
    let copy = format!("COPY (SELECT * FROM '{csv}') TO '{}'", parquet.display());
    let query = format!("SELECT sum(people) AS s FROM '{}'", parquet.display());
    assert_eq!(out(&["-c", &copy, "-c", &query, "--format", "csv"]), "s\n456000\n");
    for (ending, text) in [
        ("tsv", "name\tpeople\nUlm\t126000\nBonn\t330000\n"),
        ("ndjson", "{\"name\":\"Ulm\",\"people\":126000}\n{\"name\":\"Bonn\",\"people\":330000}\n"),
        ("jsonl", "{\"name\":\"Ulm\",\"people\":126000}\n{\"name\":\"Bonn\",\"people\":330000}\n"),
    ] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("towns.{ending}"));
        let path = path.display().to_string();
        let copy = format!("COPY (SELECT * FROM '{csv}') TO '{path}'");
        let query = format!("SELECT people FROM '{path}' WHERE name = 'Bonn'");
        assert_eq!(out(&["-c", &copy, "-c", &query, "--format", "csv"]), "people\n330000\n", "{ending}");
        assert_eq!(std::fs::read_to_string(&path).expect("it was written"), text);
    }
}

#[test]
fn a_copy_that_fails_leaves_what_was_there() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copied");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    let kept = folder.join("kept.csv");
    std::fs::write(&kept, "a\n1\n").expect("a file");
    let create = "CREATE FUNCTION f(a BIGINT) RETURNS BIGINT LANGUAGE python AS 'return 10 // a'";
    for target in [&kept, &folder.join("new.csv")] {
        let copy = format!("COPY (SELECT f(column1) FROM (VALUES (5), (0))) TO '{}'", target.display());
        assert!(err(&["-c", create, "-c", &copy]).contains("ZeroDivisionError"));
    }
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "a\n1\n");
    let names: Vec<_> =
        std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["kept.csv"]);
    let copy = format!("COPY (SELECT 2 AS a) TO '{}'", kept.display());
    out(&["-c", &copy]);
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "a\n2\n");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
}

#[test]
fn a_table_alone_is_selected() {
    let script = "CREATE TABLE t AS VALUES (1, 2); FROM t; CREATE TABLE z AS FROM t; FROM z";
    assert_eq!(out(&["-c", script, "--format", "csv"]), "column1,column2\n1,2\ncolumn1,column2\n1,2\n");
}

#[test]
fn switches_take_what_they_become() {
    let (lines, table) = ("-[ row 1 ]", "+---+");
    for (switch, expected) in
        [("\\x", lines), ("\\x on", lines), ("\\x on\n\\x on", lines), ("\\x on\n\\x off", table), ("\\x\n\\x", table)]
    {
        let printed = out(&["-c", &format!("{switch}\nSELECT 1 AS x;")]);
        assert!(printed.starts_with(expected), "{switch}: {printed}");
    }
    assert!(err(&["-c", "\\timing maybe"]).contains("usage: \\timing [on|off]"));
}

#[test]
fn tables_are_listed_by_schema_and_name() {
    let made = "CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 1 AS x; CREATE TABLE u AS SELECT 2 AS y;";
    let listed = |command: &str| out(&["--format", "csv", "-c", made, "-c", command]);
    assert_eq!(listed("\\dt s.*").lines().skip(1).collect::<Vec<_>>(), ["s,t,BASE TABLE"]);
    assert_eq!(listed("\\d public.*").lines().skip(1).collect::<Vec<_>>(), ["public,u,BASE TABLE"]);
    assert!(err(&["-c", "\\format xml"]).contains("there are table, expanded, csv"));
}

#[test]
fn what_follows_the_end_of_a_text_is_left() {
    assert_eq!(out(&["--format", "csv", "-c", "SELECT 1 AS x; \\q\nSELECT 2 AS y"]), "x\n1\n");
}

#[test]
fn backslash_commands_work_in_batches() {
    let create = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x + 1 $$";
    let listed = out(&["-c", create, "-c", "\\df", "--format", "csv"]);
    assert!(listed.contains("f,f(x BIGINT) RETURNS BIGINT,immutable,native,0,"), "{listed}");
    assert_eq!(out(&["-c", create, "-c", "\\dump source f"]).trim(), "return x + 1");
    for stage in ["lifted", "optimized", "lowered", "machine"] {
        assert!(!out(&["-c", create, "-c", &format!("\\dump {stage} f")]).trim().is_empty(), "{stage}");
    }
    assert!(out(&["-c", "CREATE TABLE t AS VALUES (1)", "-c", "\\d"]).contains("| public       | t "));
    assert!(out(&["-c", "CREATE TABLE t AS VALUES (1)", "-c", "\\d t"]).contains("column1"));
    let two = "CREATE TABLE sales_1 AS VALUES (1); CREATE TABLE sale AS VALUES (1)";
    let listed = out(&["-c", two, "-c", "\\dt SALES_*", "--format", "tsv"]);
    assert_eq!(listed.lines().skip(1).collect::<Vec<_>>(), ["public\tsales_1\tBASE TABLE"]);
    assert_eq!(out(&["-c", create, "-c", "\\df g*", "--format", "csv"]).lines().count(), 1);
    assert_eq!(err(&["-c", "\\dump lifted"]), "error: usage: \\dump STAGE FUNCTION\n");
    assert!(err(&["-c", "\\nothing"]).starts_with("error: there is no command \\nothing"));
}

#[test]
fn a_session_without_interpreter_says_so() {
    let create =
        "CREATE FUNCTION f() RETURNS BIGINT LANGUAGE python AS $$\nimport socket\nreturn len(socket.gethostname())\n$$";
    let shown = err(&["--no-interpreter", "-c", create]);
    assert!(shown.contains("it cannot be lifted"), "{shown}");
    assert!(shown.contains("CPython is off"), "{shown}");
}

#[test]
#[cfg(feature = "python")]
fn what_functions_print_is_not_among_the_results() {
    let create = "CREATE FUNCTION loud(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
        import threading
        print('x is', x)
        thread = threading.Thread(target=print, args=('from a thread',))
        thread.start()
        thread.join()
        return x * 2
      $$";
    let output = exuvia(&["-c", create, "-c", "SELECT loud(21) AS x", "--format", "csv"], "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n42\n");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("x is 21\n") && err.contains("from a thread\n"), "{err}");
    assert!(output.status.success());
}

/// A Python that says that it is 3.12.
#[cfg(unix)]
#[test]
#[cfg(feature = "python")]
fn another_python_is_warned_of_once() {
    use std::os::unix::fs::PermissionsExt;
    let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3.11".to_string());
    let other = file("other-python.sh", &format!("#!/bin/sh\n'{python}' \"$@\" | sed 's/^3 11 [0-9]*$/3 12 1/'\n"));
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).expect("a script");
    let create = "CREATE FUNCTION host() RETURNS BIGINT LANGUAGE python AS $$
        import socket
        return len(socket.gethostname())
      $$";
    let output = Command::new(env!("CARGO_BIN_EXE_exuvia"))
        .env("EXUVIA_PYTHON", &other)
        .args(["-c", create, "-c", "SELECT host() > 0 AS x", "-c", "SELECT reason FROM exuvia.functions"])
        .output()
        .expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let warning =
        "Python 3.12.1 was found, but native code follows Python 3.11: messages and Unicode tables may differ";
    assert_eq!(err, format!("warning: {warning}\n"));
    assert!(out.contains(warning), "{out}");
}

/// A call into C is not broken: Ctrl-C ends the program.
#[cfg(unix)]
#[test]
#[cfg(feature = "python")]
fn ctrl_c_ends_a_call_that_cannot_be_broken() {
    use std::io::{BufRead, BufReader};
    let nap = "CREATE FUNCTION nap(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
        import time
        time.sleep(x)
        return x
      $$";
    let quick = "CREATE FUNCTION tell(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
        import socket
        print('ready')
        return x
      $$";
    let mut child = Command::new(env!("CARGO_BIN_EXE_exuvia"))
        .args(["-c", nap, "-c", quick, "-c", "SELECT nap(tell(column1) + 600) FROM (VALUES (1))"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map(|line| line.expect("UTF-8"));
    let interrupt = |child: &std::process::Child| {
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
    };
    assert_eq!(lines.next().as_deref(), Some("ready"));
    // What the row prints is told when it ends, so nothing says that it sleeps.
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

/// Ctrl-C ends a query that looks at nothing, and the printing of a result, with the program.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_queries_without_functions_and_printing() {
    use std::time::{Duration, Instant};
    let join =
        "SELECT count(*) FROM generate_series(1, 1000000) AS x(a), generate_series(1, 1000000) AS y(b) WHERE a + b = 7";
    let rows = "SELECT value, 'x' || value FROM generate_series(1, 3000000)";
    for query in [join, rows] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_exuvia"))
            .args(["-c", query])
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(Duration::from_millis(1500));
        let start = Instant::now();
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{query}");
        assert!(start.elapsed() < Duration::from_secs(10), "{query}: {:?}", start.elapsed());
    }
}

/// Ctrl-C between two statements, or while one is made that nothing waits for, ends the script.
#[cfg(unix)]
#[test]
fn ctrl_c_is_not_lost_between_statements() {
    let body: String = (0..100).map(|n| format!("    if x == {n}:\n        y = x * {n}\n")).collect();
    let create = |n: usize| {
        format!(
            "CREATE FUNCTION f{n}(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$\n    y = 0\n{body}    return y\n$$;\n"
        )
    };
    let script: String = std::iter::once("SELECT 'begun';\n".to_string()).chain((0..2000).map(create)).collect();
    let file = std::env::temp_dir().join(format!("exuvia-creates-{}.sql", std::process::id()));
    std::fs::write(&file, &script).expect("the script is written");
    for millis in [700, 1100] {
        let child = Command::new(env!("CARGO_BIN_EXE_exuvia"))
            .arg("-f")
            .arg(&file)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(std::time::Duration::from_millis(millis));
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::remove_file(&file).expect("the script was there");
}

/// Output that nobody reads, or that takes none, is no reason to panic.
#[cfg(target_os = "linux")]
#[test]
fn outputs_that_take_nothing() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let run = |args: &[&str], out: Stdio, err: Stdio| {
        Command::new(env!("CARGO_BIN_EXE_exuvia")).args(args).stdout(out).stderr(err).output().expect("it runs")
    };
    let help = run(&["-c", "\\h"], full().into(), Stdio::piped());
    assert_eq!(help.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&help.stderr).starts_with("error: No space left"));
    assert_eq!(run(&["-c", "\\timing"], Stdio::null(), full().into()).status.code(), Some(0));
    // A reader that ends at once.
    let mut rows = Command::new(env!("CARGO_BIN_EXE_exuvia"))
        .args(["--format", "csv", "-c", "SELECT value FROM generate_series(1, 1000000)"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(rows.stdout.take());
    let ended = rows.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), &ended.stderr[..]), (Some(0), &b""[..]));
}

/// A library that panics on a damaged file fails the statement.
#[test]
fn a_damaged_file_is_an_error() {
    let file = std::env::temp_dir().join(format!("exuvia-damaged-{}.parquet", std::process::id()));
    let mut bytes = b"PAR1".to_vec();
    bytes.extend([0; 40]);
    bytes.extend([0xff, 0xff, 0xff, 0x7f]);
    bytes.extend(b"PAR1");
    std::fs::write(&file, bytes).expect("the file is written");
    let output = Command::new(env!("CARGO_BIN_EXE_exuvia"))
        .env_remove("RUST_BACKTRACE")
        .args(["-c", &format!("SELECT * FROM '{}'", file.display())])
        .output()
        .expect("it runs");
    std::fs::remove_file(&file).expect("the file was there");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
}

/// Threads that functions leave behind may be in a library whose destructors run at the end of a process.
#[test]
#[cfg(feature = "python")]
fn threads_that_are_left_do_not_crash_the_end() {
    let script = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import threading
import pyarrow as pa
import pyarrow.compute as pc
def work():
    a = pa.array(range(100000))
    while True:
        pc.sort_indices(a)
def f(x):
    threading.Thread(target=work, daemon=True).start()
    return x
$$;
SELECT f(1);";
    for _ in 0..3 {
        let output = exuvia(&["--format", "csv"], script);
        assert!(output.status.success(), "{:?}", output.status);
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().last(), Some("1"));
    }
}

/// Python's objects have a limit in the process itself: what grows ends with MemoryError where
/// it grows, also in blocks that are small, and what runs next has the memory again.
#[test]
#[cfg(all(feature = "python", target_os = "linux"))]
fn what_grows_in_python_ends() {
    let script = "
SET exuvia.lift = off;
CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
BODY
$$;
SET exuvia.python_memory = '200MB';
SELECT f(column1) FROM (VALUES (1));";
    let growing = [
        ("s = []\nwhile x:\n    s.append((x, len(s)))\nreturn 0", 3),
        ("s = 'ab'\nwhile x:\n    s = s + s\nreturn 0", 3),
        ("s = None\nwhile x:\n    s = (s,) + (0,) * 100\nreturn 0", 3),
        ("s = {}\nwhile x:\n    s[len(s)] = {len(s)}\nreturn 0", 3),
        ("return len([0] * (x * 10 ** 9))", 1),
        ("import re\nreturn len(re.split('', 'a' * (x * 10 ** 9)))", 2),
    ];
    for (body, line) in growing {
        let output = exuvia(&[], &script.replace("BODY", body));
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains(&format!("MemoryError\n  in function f, line {}", line + 3)), "{body}: {err}");
    }
    let caught = "
try:
    return len([0] * (x * 10 ** 9))
except MemoryError:
    return len([0] * (x * 10 ** 7))";
    let output = exuvia(&["--format", "csv", "--quiet"], &script.replace("BODY", caught));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("10000000\n"), "{output:?}");
    for wrong in ["'1MB'", "'much'"] {
        assert!(err(&["-c", &format!("SET exuvia.python_memory = {wrong}")]).contains("exuvia.python_memory"));
    }
}

/// What the environment tells CPython does not tell it from native code.
#[test]
#[cfg(feature = "python")]
fn answers_do_not_depend_on_the_environment() {
    let script = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (on_error 'null') AS $$
assert x > 5
return int('9' * x) % 7
$$;
CREATE TABLE t AS SELECT * FROM (VALUES (3), (6), (1000), (5000)) AS v(x);
SELECT f(x) FROM t;
SET exuvia.lift = off;
SELECT f(x) FROM t;";
    for (name, value) in [("PYTHONOPTIMIZE", "2"), ("PYTHONINTMAXSTRDIGITS", "0"), ("PYTHONINTMAXSTRDIGITS", "700")] {
        let output = exuvia_with(&[(name, value)], &["--format", "csv"], script);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let answers: Vec<&str> = text.lines().filter(|line| !line.starts_with("f(")).collect();
        assert_eq!(answers.len(), 8, "{text}");
        assert_eq!(answers[..4], answers[4..], "{name}={value}");
    }
}
