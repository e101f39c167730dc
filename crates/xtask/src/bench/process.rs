//! A process that answers measurements, one line of JSON each way.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running process. It ends when it is dropped.
pub(super) struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process on some cores and waits until it has read its tables.
    ///
    /// `taskset` is part of every Linux; where there is none the process runs unpinned.
    pub(super) fn start(program: &Path, args: &[&str], cores: &[usize]) -> Result<Process> {
        let pinned = super::machine::can_pin();
        let mut command = if pinned { Command::new("taskset") } else { Command::new(program) };
        if pinned {
            let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
            command.args(["-c", &cores.join(",")]).arg(program);
        }
        // Every library that has threads of its own is told to have one.
        for name in ["POLARS_MAX_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"] {
            command.env(name, "1");
        }
        let mut child = command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let requests = child.stdin.take().context("no pipe to the process")?;
        let answers = BufReader::new(child.stdout.take().context("no pipe from the process")?);
        let mut process = Process { child, requests, answers };
        process.answer()?;
        Ok(process)
    }

    /// Has a contender run once; its seconds, or why it cannot.
    pub(super) fn time(&mut self, what: &str, by: &str) -> Result<Result<f64, String>> {
        let answer = self.ask(&json!({"what": what, "by": by}))?;
        Ok(seconds(&answer))
    }

    /// Asks and waits for the answer.
    pub(super) fn ask(&mut self, request: &Value) -> Result<Value> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            bail!("the benchmark's process ended: {status}");
        }
        serde_json::from_str(&line).with_context(|| format!("the process answered {line:?}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn seconds(answer: &Value) -> Result<f64, String> {
    match answer.get("error").and_then(Value::as_str) {
        // Where the project lies is nobody's concern.
        Some(error) => Err(error.replace(&format!("{}/", crate::root().display()), "")),
        None => answer.get("seconds").and_then(Value::as_f64).ok_or_else(|| format!("answered {answer}")),
    }
}
