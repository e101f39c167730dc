//! The Python of the tests: a virtual environment of CPython 3.11 with pinned packages.

use crate::{root, succeed};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes `.venv` if it is missing or out of date, and gives its interpreter.
///
/// # Errors
/// Where there is no CPython 3.11 or a package cannot be installed.
pub fn environment() -> anyhow::Result<PathBuf> {
    let base = find()?;
    let folder = root().join(".venv");
    let python = folder.join("bin/python");
    let requirements = std::fs::read_to_string(root().join("tests/requirements.txt"))?;
    // The stamp is written last, so that an interrupted installation is begun again.
    let stamp = format!("{}\n{requirements}", base.display());
    let stamp_file = folder.join("exuvia-stamp");
    if std::fs::read_to_string(&stamp_file).is_ok_and(|found| found == stamp) && python.exists() {
        return Ok(python);
    }
    let packages = requirements.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let mut make = Command::new(&base);
    make.args(["-m", "venv", "--clear"]);
    if !packages {
        // Distributions split ensurepip off; without packages there is no need of pip.
        make.arg("--without-pip");
    }
    succeed(make.arg(&folder))?;
    if packages {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        succeed(install.arg(root().join("tests/requirements.txt")))?;
    }
    std::fs::write(stamp_file, stamp)?;
    Ok(python)
}

/// The variables that lead the tests of devices to the OpenCL drivers of `tests/drivers.txt`, which are
/// installed into `.venv` if they can be; none where they cannot. No other test finds them.
///
/// # Errors
/// Where the environment cannot be written.
pub fn drivers() -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let python = environment()?;
    let folder = root().join(".venv");
    let site = folder.join("lib/python3.11/site-packages/pyopencl");
    let stamp = std::fs::read_to_string(root().join("tests/drivers.txt"))?;
    let stamp_file = folder.join("drivers-stamp");
    if std::fs::read_to_string(&stamp_file).ok().as_deref() != Some(&stamp) {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"]);
        if let Err(error) = succeed(install.arg(root().join("tests/drivers.txt"))) {
            eprintln!("no OpenCL drivers, so that nothing of devices is tested: {error:#}");
        }
        std::fs::write(&stamp_file, stamp)?;
    }
    let libraries = site.join(".libs");
    let named = |start: &str| {
        let files = std::fs::read_dir(&libraries).into_iter().flatten().flatten().map(|file| file.path());
        let is = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
        files.filter(is).find(|path| path.extension().is_none_or(|ending| ending != "icd"))
    };
    let (Some(loader), Some(pocl)) = (named("libOpenCL"), named("libpocl")) else { return Ok(vec![]) };
    // The loader reads which drivers there are from files of a folder.
    let vendors = folder.join("opencl");
    std::fs::create_dir_all(&vendors)?;
    std::fs::write(vendors.join("pocl.icd"), format!("{}\n", pocl.display()))?;
    if let Some(simulator) = named("liboclgrind") {
        std::fs::write(vendors.join("oclgrind.icd"), format!("{}\n", simulator.display()))?;
    }
    // The loader was built to find its home by the last.
    Ok(vec![("EXUVIA_TEST_OPENCL", loader), ("EXUVIA_TEST_VENDORS", vendors), ("EXUVIA_TEST_HOME", site)])
}

/// A CPython 3.11: `EXUVIA_PYTHON`, else `python3.11` or `python3` of the path.
fn find() -> anyhow::Result<PathBuf> {
    if let Ok(python) = std::env::var("EXUVIA_PYTHON") {
        return executable(&python).with_context(|| format!("EXUVIA_PYTHON={python} is no CPython 3.11"));
    }
    let mut found = ["python3.11", "python3", "python"].into_iter().filter_map(|name| executable(name).ok());
    match found.next() {
        Some(python) => Ok(python),
        None => bail!("the tests need CPython 3.11; install it or name it in EXUVIA_PYTHON"),
    }
}

/// The real executable behind a name, where it is CPython 3.11. A virtual environment's
/// interpreter leads to that of its base, since `.venv` may be what is being made.
fn executable(python: &str) -> anyhow::Result<PathBuf> {
    let program = "import sys\n\
        assert sys.version_info[:2] == (3, 11) and sys.implementation.name == 'cpython'\n\
        print(getattr(sys, '_base_executable', None) or sys.executable)";
    let output = Command::new(python).args(["-c", program]).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(Path::new(String::from_utf8(output.stdout)?.trim()).to_path_buf())
}
