//! What a benchmark needs before it starts: the binary, the Python peers, the table.

use crate::{cargo, root, succeed};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The places of a benchmark.
pub(super) struct Setup {
    /// The workspace.
    pub(super) root: PathBuf,
    /// The Rust side.
    pub(super) binary: PathBuf,
    /// The peers' Python.
    pub(super) python: PathBuf,
    /// Cargo's target folder, for tables and what is compared.
    pub(super) target: PathBuf,
}

impl Setup {
    /// Builds the Rust side and makes the peers' virtual environment, both in the target
    /// folder, if they are not there.
    pub(super) fn new() -> Result<Setup> {
        let root = root().canonicalize()?;
        // Without `-p`, so that the dependencies have the features that the command
        // `exuvia` is built with and are not built twice.
        succeed(cargo().args(["build", "--release", "--bin", "exuvia-bench"]))?;
        let metadata = cargo()
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .output()
            .context("cannot run cargo metadata")?;
        let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
        let target = metadata.get("target_directory").and_then(|value| value.as_str()).context("no target folder")?;
        let target = PathBuf::from(target);
        let python = peers(&root, &target)?;
        Ok(Setup { binary: target.join("release/exuvia-bench"), root, python, target })
    }

    /// The folder of a table of that many rows, which is made if it is not there.
    pub(super) fn table(&self, rows: usize) -> Result<PathBuf> {
        let folder = self.target.join("bench-data").join(rows.to_string());
        succeed(Command::new(&self.binary).arg("prepare").arg(&folder).arg(rows.to_string()))?;
        Ok(folder)
    }

    /// The file of a result that is compared.
    pub(super) fn compared(&self) -> PathBuf {
        self.target.join("bench-data/compare.arrow")
    }

    /// Where results are published.
    pub(super) fn results(&self) -> Result<PathBuf> {
        let folder = self.root.join("benchmarks/results");
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// The names and versions of the peers.
    pub(super) fn versions(&self) -> Result<Vec<String>> {
        let text = std::fs::read_to_string(self.root.join("benchmarks/requirements.txt"))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(lines.map(|line| line.replace("==", " ")).collect())
    }
}

/// The Python of the peers' virtual environment, which is made anew when the pinned
/// packages change.
fn peers(root: &Path, target: &Path) -> Result<PathBuf> {
    let folder = target.join("bench-venv");
    let python = folder.join("bin/python");
    let wanted = std::fs::read_to_string(root.join("benchmarks/requirements.txt"))?;
    let stamp = folder.join("requirements.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    println!("installing the peers into {}", folder.display());
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let requirements = root.join("benchmarks/requirements.txt");
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))?;
    std::fs::write(stamp, wanted)?;
    Ok(python)
}
