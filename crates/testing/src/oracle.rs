//! CPython 3.11, asked what a function gives for each row.
//!
//! A child process runs `oracle.py` and answers one JSON line per function. It hashes
//! strings with seed 0, as the engine's level of semantics does.

use crate::case::Case;
use crate::value::{Value, text_of};
use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// What CPython gives for a row.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A value, and its `repr`.
    Value(Value, String),
    /// An exception.
    Raise {
        /// The name of its class.
        class: String,
        /// `str(exception)`.
        message: String,
        /// Whether it is an `Exception`, which `on_error 'null'` covers.
        exception: bool,
        /// The innermost line of the body, from 1; 0 if none is known.
        line: u32,
    },
    /// Nothing that could be compared: time or memory ran out.
    Skip,
}

/// The child process.
#[derive(Debug)]
pub struct Oracle {
    child: Child,
    requests: ChildStdin,
    /// The lines that it writes.
    answers: Receiver<String>,
    /// The time of a row.
    pub limit: Duration,
}

/// The time that an answer may take besides that of its rows: a single call into C, or `yield from` of
/// a long range, nothing interrupts, and the process is replaced.
const PATIENCE: Duration = Duration::from_secs(30);

impl Oracle {
    /// Starts the Python that `EXUVIA_PYTHON` names, else `python3`.
    ///
    /// # Errors
    /// Where there is none or it is not 3.11.
    pub fn start() -> anyhow::Result<Oracle> {
        let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
        let mut child = Command::new(&python)
            .args(["-B", "-X", "utf8", "-c", include_str!("oracle.py")])
            .env("PYTHONHASHSEED", "0")
            .env_remove("PYTHONINTMAXSTRDIGITS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {python}; EXUVIA_PYTHON names a Python 3.11"))?;
        let requests = child.stdin.take().context("no standard input")?;
        let lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        let (told, answers) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| told.send(line)));
        let mut oracle = Oracle { child, requests, answers, limit: Duration::from_secs(2) };
        let hello = oracle.read(PATIENCE)?.context("it does not answer")?;
        match hello.get("error").and_then(Json::as_str) {
            Some(error) => bail!("{python}: {error}"),
            None => Ok(oracle),
        }
    }

    /// Runs a case on rows.
    ///
    /// # Errors
    /// Where the function cannot be defined, or the process is gone.
    pub fn run(&mut self, case: &Case, rows: &[Vec<Value>]) -> anyhow::Result<Vec<Outcome>> {
        let params: Vec<&str> = case.signature.params.iter().map(|(name, _)| name.as_str()).collect();
        self.request(
            json!({
                "source": case.source,
                "name": case.signature.name,
                "params": params,
                "handler": case.handler,
                "strict": case.strict,
            }),
            rows,
        )
    }

    /// Runs a function `f` on rows of any values.
    ///
    /// # Errors
    /// Where the function cannot be defined, or the process is gone.
    pub fn call(&mut self, source: &str, rows: &[Vec<Value>]) -> anyhow::Result<Vec<Outcome>> {
        self.request(json!({ "source": source, "name": "f", "params": [], "strict": false }), rows)
    }

    fn request(&mut self, mut request: Json, rows: &[Vec<Value>]) -> anyhow::Result<Vec<Outcome>> {
        request["seconds"] = json!(self.limit.as_secs_f64());
        request["rows"] = rows.iter().map(|row| row.iter().map(Value::to_oracle).collect::<Json>()).collect();
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let rows_time = self.limit.saturating_mul(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let Some(answer) = self.read(rows_time.saturating_add(PATIENCE))? else {
            let limit = self.limit;
            *self = Oracle::start()?;
            self.limit = limit;
            return Ok(vec![Outcome::Skip; rows.len()]);
        };
        if let Some(error) = answer.get("error").and_then(Json::as_str) {
            bail!("CPython refuses the function: {error}");
        }
        answer.get("rows").and_then(Json::as_array).context("no rows")?.iter().map(outcome).collect()
    }

    /// An answer; `None` if it takes longer.
    fn read(&mut self, time: Duration) -> anyhow::Result<Option<Json>> {
        match self.answers.recv_timeout(time) {
            Ok(line) => Ok(Some(serde_json::from_str(&line)?)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("the oracle ended: {:?}", self.child.wait()),
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // The child may sit in a long computation; nobody waits for its answer any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn outcome(json: &Json) -> anyhow::Result<Outcome> {
    if json.get("skip").is_some() {
        return Ok(Outcome::Skip);
    }
    if let Some(class) = json.get("class").and_then(Json::as_str) {
        return Ok(Outcome::Raise {
            class: class.to_string(),
            message: json.get("message").map(text_of).unwrap_or_default(),
            exception: json.get("exception").and_then(Json::as_bool).unwrap_or(true),
            line: json.get("line").and_then(Json::as_u64).unwrap_or(0) as u32,
        });
    }
    let value = Value::from_oracle(json.get("value").context("no value")?)?;
    Ok(Outcome::Value(value, json.get("repr").map(text_of).unwrap_or_default()))
}
