//! What defining large functions takes, in units of work and in time.

use super::{Options, machine};
use crate::{cargo, root};
use anyhow::{Context, Result, bail};

/// Runs the example that measures it and keeps its table.
///
/// # Errors
/// If it cannot be built or run, or the table cannot be written.
pub(super) fn run(options: &Options) -> Result<()> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "exuvia-testing", "--example", "compile"]);
    let output = command.stderr(std::process::Stdio::inherit()).output().context("cargo cannot be run")?;
    if !output.status.success() {
        bail!("the example ended with {}", output.status);
    }
    let table = String::from_utf8(output.stdout)?;
    println!("{table}");
    if options.publish {
        let text = format!(
            "# Defining large functions\n\nWritten by `{}`; do not edit.\n\nMachine: {}. Programs of \
             `crates/testing/src/large.rs`: the work in units that do not depend on the machine, which the tests bound, where the \
             function runs, and the seconds that CREATE FUNCTION takes of lifting, optimising and compiling for arguments that can \
             be NULL and for those that cannot; more than a second is what CPython takes to run a module of which lifting stopped \
             short (E009). Beyond the bounds a function runs on the rung below \
             ([operators.md](../../docs/operators.md)).\n\n{table}",
            options.command,
            machine::describe()
        );
        let file = root().join("benchmarks/results/compile.md");
        std::fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}
