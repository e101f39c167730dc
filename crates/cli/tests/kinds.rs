//! Functions of every kind, as people write them, judged by CPython: `tests/kinds` has them and
//! what they give without any engine.

#![cfg(feature = "python")]

use std::path::Path;
use std::process::Command;

/// Runs a comparison of `tests/kinds` under settings of execution.
fn compare(settings: &[(&str, &str)]) {
    assert!(passed("tests/kinds", settings) > 80);
}

/// Runs the `compare.py` of a folder with the command: how many comparisons were right. None may
/// be wrong.
fn passed(folder: &str, settings: &[(&str, &str)]) -> usize {
    passed_by(folder, "compare.py", settings)
}

/// As [`passed`], by another script.
fn passed_by(folder: &str, script: &str, settings: &[(&str, &str)]) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let mut command = Command::new(python);
    command.current_dir(&folder).arg(script).arg(env!("CARGO_BIN_EXE_exuvia"));
    for (name, value) in settings {
        command.env(name, value);
    }
    let output = command.output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines().filter(|line| line.starts_with("skipped")).for_each(|line| println!("{line}"));
    let last = said.lines().last().unwrap_or_default();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    last.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// How many of the nine settings of execution gave for each SQL type what plain Python gives.
fn settings(script: &str) -> usize {
    passed_by("tests/kinds/matrix", script, &[])
}

#[test]
fn every_type_through_tables_under_every_setting() {
    assert_eq!(settings("tables.py"), 9);
}

#[test]
fn every_type_through_columns_under_every_setting() {
    assert_eq!(settings("columns.py"), 9);
}

#[test]
fn every_type_in_arrays_under_every_setting() {
    assert_eq!(settings("arrays.py"), 9);
}

#[test]
fn every_type_through_generators_under_every_setting() {
    assert_eq!(settings("generators.py"), 9);
}

#[test]
fn every_type_through_aggregates_under_every_setting() {
    assert_eq!(settings("aggregates.py"), 9);
}

#[test]
fn what_depends_on_an_order_is_flagged() {
    assert!(settings("orders.py") > 140);
}

/// Models of xgboost and lightgbm: none where neither is installed.
#[test]
fn boosters_serve_what_they_predict() {
    assert!([0, 4, 6, 10].contains(&passed_by("tests/kinds", "boosters.py", &[])));
}

/// The pipelines of `cargo xtask bench tpcxai`, at a small scale.
#[test]
fn pipelines_serve_what_pandas_serves() {
    assert_eq!(passed("benchmarks/tpcxai", &[]), 7);
}

#[test]
fn elementwise_column_functions_are_native() {
    assert!(passed_by("tests/kinds", "elementwise.py", &[]) >= 316);
}

#[test]
fn functions_of_arrays_are_native() {
    assert!(passed_by("tests/kinds", "arrays.py", &[]) >= 487);
}

#[test]
fn functions_of_two_dimensions_are_native() {
    assert!(passed_by("tests/kinds", "grids.py", &[]) >= 410);
}

#[test]
fn modules_leave_behind_what_they_do_in_cpython() {
    assert_eq!(passed_by("tests/kinds", "modules.py", &[]), 82);
}

#[test]
fn numpy_in_row_functions_is_native() {
    assert!(passed_by("tests/kinds", "scalars.py", &[]) >= 88);
}

#[test]
fn one_partition() {
    compare(&[("DATAFUSION_EXECUTION_TARGET_PARTITIONS", "1")]);
}

#[test]
fn many_partitions_and_small_batches() {
    compare(&[("DATAFUSION_EXECUTION_TARGET_PARTITIONS", "8"), ("DATAFUSION_EXECUTION_BATCH_SIZE", "3")]);
}
