//! Running statements: one after the other, each result printed, Ctrl-C ends the query.

use crate::args::Args;
use crate::command;
use crate::output::{Format, Printer};
use anyhow::{Context, anyhow};
use datafusion::common::DataFusionError;
use datafusion::dataframe::DataFrame;
use datafusion::prelude::SessionConfig;
use exuvia::{ExuviaOptions, ExuviaSession, Script, Statement, message};
use futures::StreamExt;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long a cancelled query may go on until the program ends, or the shell tells that it does.
const PATIENCE: Duration = Duration::from_secs(1);

/// The exit status of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// A statement failed; it was reported.
#[derive(Debug)]
pub(crate) struct Failed;

/// What runs statements.
pub(crate) struct Runner {
    pub(crate) session: ExuviaSession,
    runtime: Runtime,
    format: Format,
    most: Option<usize>,
    /// Whether the time of each query is told.
    pub(crate) timing: bool,
    /// Whether the session's warning was shown.
    warned: Cell<bool>,
    /// Whether a query is waited for, which Ctrl-C cancels; what else goes on, such as printing
    /// a result, it ends with the program.
    waiting: Arc<AtomicBool>,
    cancelled: Cell<bool>,
    interactive: bool,
}

impl Runner {
    pub(crate) fn new(args: &Args, interactive: bool) -> anyhow::Result<Runner> {
        // Standard output is for results. Nobody is left to be told when standard error is gone.
        let print = |text: &str| drop(std::io::stderr().write_all(text.as_bytes()));
        let mut options = ExuviaOptions::default().with_print(print);
        if args.no_interpreter {
            options = options.without_interpreter();
        }
        if let Some(memory) = &args.worker {
            let bytes = exuvia::parse_bytes(memory);
            if bytes.is_none() && memory != "off" {
                anyhow::bail!("--worker takes a number of bytes such as 4GB, not {memory}");
            }
            options = options.with_worker(bytes);
        }
        if let Some(time) = &args.timeout {
            let time = exuvia::parse_duration(time)
                .ok_or_else(|| anyhow!("--timeout takes a time such as 30s, not {time}"))?;
            options = options.with_timeout(Some(time));
        }
        let config = SessionConfig::from_env()
            .map_err(|error| anyhow!("{}", message(&error)))?
            .with_information_schema(true)
            .with_option_extension(options);
        // A worker more than cores: one may be held by a function that is interpreted.
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let waiting = Arc::new(AtomicBool::new(false));
        if !interactive {
            let waiting = Arc::clone(&waiting);
            // On a thread and a runtime of its own: queries may hold all others.
            let own = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            std::thread::spawn(move || {
                own.block_on(async {
                    if tokio::signal::ctrl_c().await.is_ok() {
                        if waiting.load(Ordering::Relaxed) {
                            tokio::time::sleep(2 * PATIENCE).await;
                        }
                        std::process::exit(INTERRUPTED);
                    }
                });
            });
        }
        let session = ExuviaSession::new_with_config(config).enable_url_table();
        for model in &args.models {
            let (name, path) = model.split_once('=').ok_or_else(|| anyhow!("--model is NAME=FILE, not {model}"))?;
            session.register_model(name, path);
        }
        for path in &args.udfs {
            session.load_functions(path).map_err(|error| anyhow!("{}", message(&error)))?;
        }
        let most = args.maxrows.or(interactive.then_some(100)).filter(|&most| most > 0);
        Ok(Runner {
            session,
            runtime,
            format: args.format,
            most,
            timing: interactive && !args.quiet,
            warned: Cell::new(args.quiet),
            waiting,
            cancelled: Cell::new(false),
            interactive,
        })
    }

    /// Runs the statements of a file up to the first that fails.
    pub(crate) fn file(&mut self, path: &Path) -> Result<(), Failed> {
        let read = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        match read {
            Ok(text) => self.script(Some(&path.display().to_string()), &text),
            Err(error) => {
                report(&format!("{error:#}"));
                Err(Failed)
            }
        }
    }

    /// Runs the statements of a text up to the first that fails. `name` is where the text
    /// comes from, for errors.
    pub(crate) fn script(&mut self, name: Option<&str>, text: &str) -> Result<(), Failed> {
        if text.trim_start().starts_with('\\') {
            return command::run(self, text.trim()).map(|_| ());
        }
        for statement in &Script::cut(text).statements {
            if let Err(error) = self.statement(statement) {
                let place = name.map(|name| format!("{name}:{}: ", statement.line())).unwrap_or_default();
                report(&format!("{place}{error}"));
                return Err(Failed);
            }
        }
        Ok(())
    }

    /// Runs a statement and prints its rows; an error as a person reads it.
    pub(crate) fn statement(&self, statement: &Statement<'_>) -> Result<(), String> {
        let start = Instant::now();
        let planned = self.interruptible(|| async { self.session.statement(statement).await });
        let rows = planned.and_then(|frame| self.print(frame));
        if !self.warned.get()
            && let Some(warning) = self.session.warning()
        {
            eprintln!("warning: {warning}");
            self.warned.set(true);
        }
        let rows = rows?;
        if self.timing {
            let rows = rows.map(|rows| format!("{rows} row{}, ", if rows == 1 { "" } else { "s" }));
            eprintln!("{}{:.3} s", rows.unwrap_or_default(), start.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Prints the rows of a query, if it has columns, and counts them.
    fn print(&self, frame: DataFrame) -> Result<Option<usize>, String> {
        if frame.schema().fields().is_empty() {
            return self.interruptible(|| async { frame.collect().await }).map(|_| None);
        }
        let mut stream = self.interruptible(|| async { frame.execute_stream().await })?;
        let mut out = std::io::BufWriter::new(std::io::stdout());
        let mut printer = Printer::new(self.format, &mut out, stream.schema(), self.most);
        let mut rows = 0;
        let printed = loop {
            let next = self.interruptible(|| async { stream.next().await.transpose() });
            match next {
                Ok(Some(batch)) => {
                    rows += batch.num_rows();
                    if let Err(error) = printer.write(&batch) {
                        break Err(error.to_string());
                    }
                }
                Ok(None) => break printer.finish().map_err(|error| error.to_string()),
                Err(error) => break Err(error),
            }
        };
        // A reader that went away, as `head` does, wanted no more.
        let flushed = out.flush();
        printed?;
        match flushed {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.to_string()),
            _ => Ok(Some(rows)),
        }
    }

    /// The status of a program whose script has failed.
    pub(crate) fn failure(&self) -> i32 {
        if self.cancelled.get() { INTERRUPTED } else { 1 }
    }

    /// Waits for a part of a query. Ctrl-C cancels the session's queries, which ends it;
    /// what does not end soon, as a call into C in a Python function, ends with the program: in
    /// the shell by a second one.
    fn interruptible<T, F>(&self, part: impl FnOnce() -> F) -> Result<T, String>
    where
        F: Future<Output = Result<T, DataFusionError>>,
    {
        self.waiting.store(true, Ordering::Relaxed);
        let result = self.wait(part);
        self.waiting.store(false, Ordering::Relaxed);
        result
    }

    fn wait<T, F>(&self, part: impl FnOnce() -> F) -> Result<T, String>
    where
        F: Future<Output = Result<T, DataFusionError>>,
    {
        self.runtime.block_on(async {
            // The part is polled on this thread and may block it, so the signal is awaited
            // on another.
            let session = self.session.clone();
            let interactive = self.interactive;
            let (interrupted, on_interrupt) = tokio::sync::oneshot::channel();
            let waiter = tokio::spawn(async move {
                if tokio::signal::ctrl_c().await.is_ok() {
                    session.cancel();
                    let _ = interrupted.send(());
                    let again = tokio::signal::ctrl_c();
                    if tokio::time::timeout(PATIENCE, again).await.is_err() && interactive {
                        eprintln!("waiting for a call that cannot be interrupted; Ctrl-C again ends the program");
                        let _ = tokio::signal::ctrl_c().await;
                    }
                    std::process::exit(INTERRUPTED);
                }
                // Dropped with the task otherwise, which leaves the receiver pending below.
            });
            let result = tokio::select! {
                result = part() => result.map_err(|error| message(&error)),
                Ok(()) = on_interrupt => {
                    self.cancelled.set(true);
                    Err("cancelled".to_string())
                }
            };
            waiter.abort();
            result
        })
    }
}

/// Shows an error on standard error.
pub(crate) fn report(text: &str) {
    let mut err = std::io::stderr();
    let colour = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let label = if colour { "\x1b[31merror\x1b[0m" } else { "error" };
    // Nobody is left to be told when standard error is gone.
    let _ = writeln!(err, "{label}: {text}");
}
