//! A CPython process that answers a line with a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running CPython.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts the CPython that `EXUVIA_PYTHON` names, or `python3`, with a script; `None`, with
    /// a message, where it is not one of the semantic level.
    pub fn start(script: &str) -> Option<Process> {
        let program = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
        let version = Command::new(&program).args(["-c", "import sys; print(*sys.version_info[:2])"]).output();
        if !version.as_ref().is_ok_and(|output| output.stdout.starts_with(b"3 11")) {
            eprintln!("skipped: {program} is not CPython 3.11 (set EXUVIA_PYTHON to one)");
            return None;
        }
        let mut child = Command::new(&program)
            .args(["-S", "-c", script])
            .env("PYTHONIOENCODING", "utf-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(Process { child, stdin, stdout })
    }

    /// The answer to a line.
    pub fn ask(&mut self, line: &str) -> String {
        writeln!(self.stdin.as_mut().expect("open"), "{line}").expect("python reads");
        let mut reply = String::new();
        self.stdout.read_line(&mut reply).expect("python answers");
        reply
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
