//! Finds a Python and the libraries that lead to it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The oldest Python that the library can use.
const OLDEST: (u32, u32) = (3, 11);

/// How to get a Python, at the end of an error.
const HINT: &str = "install Python 3.11, or set EXUVIA_PYTHON to the executable of one";

/// A Python on this machine.
#[derive(Clone, Debug)]
pub struct Python {
    /// Its executable; that of the virtual environment if it is in one.
    pub executable: String,
    /// Its version.
    pub version: (u32, u32, u32),
    /// Places where its shared library may be, likeliest first.
    pub libraries: Vec<PathBuf>,
}

/// Prints a line for each field of [`Python`]. A Python that was moved after it was built
/// still names the place where it was built, so that its own place is tried, too.
const PROBE: &str = "\
import os, sys, sysconfig
print(sys.executable)
print(*sys.version_info[:3])
v = sysconfig.get_config_var
names = [n for n in (v('INSTSONAME'), v('LDLIBRARY')) if n and ('.so' in n or '.dylib' in n)]
if v('PYTHONFRAMEWORKPREFIX'):
    names = [v('LDLIBRARY')]
    folders = [v('PYTHONFRAMEWORKPREFIX')]
else:
    folders = [v('LIBDIR'), os.path.join(v('LIBDIR') or '', v('MULTIARCH') or ''), os.path.join(sys.base_prefix, 'lib')]
for folder in folders:
    for name in names:
        if folder:
            print(os.path.join(folder, name))
";

/// The Python to use.
///
/// # Errors
/// That there is none, or none that serves.
pub fn python() -> Result<Python, String> {
    if let Some(executable) = env::var_os("EXUVIA_PYTHON").filter(|value| !value.is_empty()) {
        let shown = executable.to_string_lossy().into_owned();
        return probe(Path::new(&executable))
            .map_err(|error| format!("EXUVIA_PYTHON names {shown}, which cannot be used: {error}; {HINT}"));
    }
    let environment = env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin/python"));
    let named = [PathBuf::from("python3.11"), PathBuf::from("python3")];
    let mut refused = Vec::new();
    for executable in environment.into_iter().chain(named) {
        match probe(&executable) {
            Ok(python) => return Ok(python),
            Err(error) => refused.push(format!("{}: {error}", executable.display())),
        }
    }
    Err(format!("no usable Python was found ({}); {HINT}", refused.join("; ")))
}

/// The time that a Python may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that Ctrl-C in this one's terminal is not for.
pub fn apart(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// What a program prints; one that takes too long is ended.
fn answer(command: &mut Command) -> std::io::Result<Output> {
    let mut child = apart(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let end = Instant::now() + PATIENCE;
    // It prints less than a pipe holds, so that nobody need read meanwhile.
    while child.try_wait()?.is_none() {
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output()
}

fn probe(executable: &Path) -> Result<Python, String> {
    // Isolated, so that a file in the working folder cannot pose as a module.
    let output =
        answer(Command::new(executable).args(["-I", "-S", "-c", PROBE])).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "not found".to_string(),
            std::io::ErrorKind::TimedOut => format!("it did not answer within {} s", PATIENCE.as_secs()),
            _ => error.to_string(),
        })?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed");
        return Err(last.trim().to_string());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let python = (|| {
        let executable = lines.next()?.to_string();
        let mut numbers = lines.next()?.split(' ').map(|number| number.parse::<u32>().ok());
        let version = (numbers.next()??, numbers.next()??, numbers.next()??);
        let mut libraries: Vec<PathBuf> = lines.by_ref().map(PathBuf::from).collect();
        libraries.dedup();
        Some(Python { executable, version, libraries })
    })()
    .ok_or_else(|| "it does not answer like Python".to_string())?;
    let (major, minor, micro) = python.version;
    if (major, minor) < OLDEST {
        return Err(format!(
            "it is Python {major}.{minor}.{micro}, and {}.{} is the oldest that serves",
            OLDEST.0, OLDEST.1
        ));
    }
    Ok(python)
}

/// The library `exuvia_cpython`.
///
/// # Errors
/// That it is in none of the places where cargo puts it.
pub fn our_library() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os("EXUVIA_CPYTHON_LIBRARY").filter(|value| !value.is_empty()) {
        let path = PathBuf::from(path);
        return match path.is_file() {
            true => Ok(path),
            false => Err(format!("EXUVIA_CPYTHON_LIBRARY names {}, which is no file", path.display())),
        };
    }
    let name = format!("{}exuvia_cpython{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let executable = env::current_exe().map_err(|error| error.to_string())?;
    let folder = executable.parent().unwrap_or(Path::new("."));
    // Binaries stand beside `deps`, tests in it, examples and doctests beside it.
    let places = [folder.join("deps"), folder.to_path_buf(), folder.join("../deps"), folder.join("../lib")];
    places.iter().map(|place| place.join(&name)).find(|path| path.is_file()).ok_or_else(|| {
        format!(
            "{name}, through which Python is reached, is neither beside {} nor in {}: install the whole folder that `cargo xtask dist` makes, build it with `cargo build -p exuvia-cpython`, or set EXUVIA_CPYTHON_LIBRARY to it",
            executable.display(),
            folder.join("../lib").display()
        )
    })
}
