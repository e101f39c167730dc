//! `cargo xtask dist`: a folder that runs from anywhere, and an archive of it.
//!
//! ```text
//! exuvia-VERSION-TARGET/
//!   bin/exuvia                      the command, stripped
//!   lib/libexuvia_cpython.so        what runs CPython; the command looks for it in ../lib
//!   share/man/man1/exuvia.1
//!   share/completions/              for bash, zsh and fish
//!   share/exuvia/                   the functions and the query of the demo
//!   LICENSE, README.md
//! ```

use crate::{cargo, root, succeed};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the folder and its archive, and runs what is in the archive somewhere else.
///
/// # Errors
/// What cannot be built, written or run.
pub fn run() -> Result<()> {
    succeed(cargo().args(["build", "--release", "--bin", "exuvia"]))?;
    let target = target_folder()?;
    let name = format!("exuvia-{}-{}", env!("CARGO_PKG_VERSION"), host()?);
    let folder = target.join("dist").join(&name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    for part in ["bin", "lib", "share/man/man1", "share/completions", "share/exuvia"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let release = target.join("release");
    let command = folder.join("bin/exuvia");
    copy(&release.join("exuvia"), &command)?;
    let library = format!("{}exuvia_cpython{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    copy(&release.join("deps").join(&library), &folder.join("lib").join(&library))?;
    for file in [&command, &folder.join("lib").join(&library)] {
        // A file with symbols is larger, and serves as well.
        if succeed(Command::new("strip").arg("-x").arg(file)).is_err() {
            eprintln!("notice: {} is not stripped", file.display());
        }
    }
    write(&folder.join("share/man/man1/exuvia.1"), &output(&command, &["man"])?)?;
    for (shell, file) in [("bash", "exuvia.bash"), ("zsh", "_exuvia"), ("fish", "exuvia.fish")] {
        write(&folder.join("share/completions").join(file), &output(&command, &["completions", shell])?)?;
    }
    for file in ["LICENSE", "README.md"] {
        copy(&root().join(file), &folder.join(file))?;
    }
    for file in ["udfs/zillow.py", "sql/zillow_z1.sql"] {
        let path = root().join(file);
        copy(&path, &folder.join("share/exuvia").join(path.file_name().unwrap_or_default()))?;
    }
    let archive = target.join("dist").join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    succeed(tar.arg("-czf").arg(&archive).arg("-C").arg(target.join("dist")).arg(&name))?;
    try_elsewhere(&archive, &name)?;
    println!("{} ({} MB)", archive.display(), std::fs::metadata(&archive)?.len() >> 20);
    Ok(())
}

/// Unpacks the archive where nothing else is, and runs a function natively and one in CPython.
fn try_elsewhere(archive: &Path, name: &str) -> Result<()> {
    let elsewhere = std::env::temp_dir().join(format!("exuvia-dist-{}", std::process::id()));
    std::fs::create_dir_all(&elsewhere)?;
    let tried = (|| {
        succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&elsewhere))?;
        let sql = "CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return x * 2';
             CREATE FUNCTION checksum(t TEXT) RETURNS TEXT LANGUAGE python AS 'import zlib
return str(zlib.crc32(t.encode()))';
             SELECT twice(value) AS a, checksum('x' || value) AS b FROM generate_series(21, 21);";
        let python = crate::python::environment()?;
        let mut command = Command::new(elsewhere.join(name).join("bin/exuvia"));
        command.args(["--format", "csv", "-c", sql]).current_dir(&elsewhere).env("EXUVIA_PYTHON", python);
        let ran = command.output()?;
        let printed = String::from_utf8_lossy(&ran.stdout);
        if !ran.status.success() || !printed.starts_with("a,b\n42,") {
            bail!("the unpacked command fails: {printed}{}", String::from_utf8_lossy(&ran.stderr));
        }
        Ok(())
    })();
    std::fs::remove_dir_all(&elsewhere)?;
    tried
}

fn target_folder() -> Result<PathBuf> {
    let metadata = cargo().args(["metadata", "--format-version", "1", "--no-deps"]).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    metadata["target_directory"].as_str().map(PathBuf::from).context("cargo names no target folder")
}

/// The target for which is built, as `x86_64-unknown-linux-gnu`.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("-vV").current_dir(root()).output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    said.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_string).context("rustc names no host")
}

fn output(command: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let ran = Command::new(command).args(args).output()?;
    if !ran.status.success() {
        bail!("{} {} fails", command.display(), args.join(" "));
    }
    Ok(ran.stdout)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
