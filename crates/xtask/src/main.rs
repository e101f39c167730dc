//! The project's automation: `cargo xtask COMMAND`.

mod bench;
mod check;
mod dialect;
mod dist;
mod docs;
mod edges;
mod python;
mod spread;
mod test;

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask COMMAND

  test [ARGS]   make .venv with the packages of tests/requirements.txt and run every test;
                ARGS go to cargo test
  check         format, clippy, documentation, dependency edges, generated pages, tests
  docs          write the generated pages of docs/
  pins          write tests/pins.json anew
  dist          make a folder that runs from anywhere, and an archive of it
  bench NAME    run a benchmark";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> anyhow::Result<()> {
    let rest = args.get(1..).unwrap_or_default();
    match args.first().map(String::as_str) {
        Some("test") => test::run(rest),
        Some("check") => check::run(),
        Some("docs") => docs::write(),
        Some("pins") => test::write_pins(),
        Some("dist") => dist::run(),
        Some("bench") => bench::run(rest),
        Some("help" | "-h" | "--help") => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!(USAGE),
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).unwrap_or(Path::new(".")).to_path_buf()
}

/// Cargo, at the root of the repository, in the toolchain that runs this.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command and fails where it fails.
fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("+ {shown}");
    let status = command.status().with_context(|| format!("cannot run {shown}"))?;
    if !status.success() {
        bail!("{shown} failed: {status}");
    }
    Ok(())
}
