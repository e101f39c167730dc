//! `cargo xtask test`: every test, with and without the features that are on by default.

use crate::{cargo, python, succeed};
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// How many tests passed, failed and were ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Tally {
    /// Adds what a line `test result: ok. 3 passed; 0 failed; 1 ignored; …` says.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for count in counts.split(';') {
            let Some((number, what)) = count.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

/// The integration tests of what the features change.
const CHANGED_BY_FEATURES: &[&str] =
    &["batch", "cases", "interpreter_process", "kinds", "pages", "plugin", "recorded", "refusals", "rungs", "slt"];

/// The arguments that build and test the project without its default features.
pub fn without_default_features() -> Vec<&'static str> {
    let mut args = vec!["--no-default-features", "--lib", "--bins"];
    args.extend(CHANGED_BY_FEATURES.iter().flat_map(|test| ["--test", test]));
    args
}

/// Runs every test; `args` go to `cargo test`.
///
/// # Errors
/// Where one fails.
pub fn run(args: &[String]) -> anyhow::Result<()> {
    let python = python::environment()?;
    let drivers = python::drivers()?;
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    // Without its default features the project must build and pass as well. The whole
    // workspace is built both times, so that Cargo gives the dependencies one set of
    // features and builds them once. What no feature changes is tested once, and of the cases a share.
    for (features, share) in [(&[][..], "1"), (&without_default_features(), "4")] {
        let mut command = cargo();
        command.args(["test", "--workspace", "--no-fail-fast"]).args(features).args(args);
        command.env("EXUVIA_PYTHON", &python).envs(drivers.iter().map(|(name, path)| (name, path)));
        command.env("EXUVIA_SHARE", share);
        if let Err(error) = count(&mut command, &mut tally) {
            failures.push(error);
        }
        if !args.is_empty() {
            break;
        }
    }
    for failure in &failures {
        eprintln!("error: {failure:#}");
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; {} ignored",
        if failures.is_empty() { "ok" } else { "FAILED" },
        tally.passed,
        tally.failed,
        tally.ignored
    );
    if failures.is_empty() { Ok(()) } else { bail!("tests failed") }
}

/// Writes `tests/pins.json` anew.
///
/// # Errors
/// Where the case files cannot be read.
pub fn write_pins() -> anyhow::Result<()> {
    let mut command = cargo();
    command.args(["test", "--quiet", "--package", "exuvia-testing", "--test", "cases"]);
    succeed(command.env("EXUVIA_PINS", "write").env("EXUVIA_PYTHON", python::environment()?))
}

/// Runs a command, passing its output on and counting the tests that it tells of.
fn count(command: &mut Command, tally: &mut Tally) -> anyhow::Result<()> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("+ {shown}");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {shown}"))?;
    let output = child.stdout.take().context("no standard output")?;
    let mut stdout = std::io::stdout().lock();
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        writeln!(stdout, "{line}")?;
        tally.add(&line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{shown} failed: {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_are_counted() {
        let mut tally = Tally::default();
        tally.add("running 3 tests");
        tally.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tally.add("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 9 filtered out");
        assert_eq!(tally, Tally { passed: 5, failed: 4, ignored: 1 });
    }
}
